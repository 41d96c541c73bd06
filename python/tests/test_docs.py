"""The examples of README.md, and docstrings that explain every keyword. Examples of docstrings run by `--doctest-modules`."""

import doctest
import inspect
import re
import typing
from pathlib import Path

import pytest

import uriscan
from uriscan import _options

README = Path(__file__).resolve().parents[1] / "README.md"


def sections():
    """The parts of the README. What needs an engine is for the full run."""
    for section in re.split(r"^(?=## )", README.read_text("utf-8"), flags=re.M):
        has_engine = re.search(r">>> import .*\b(duckdb|polars)\b", section)
        yield pytest.param(section, id=section.partition("\n")[0], marks=[pytest.mark.full] if has_engine else [])


@pytest.mark.parametrize("section", list(sections()))
def test_examples_of_the_readme(section):
    found = doctest.DocTestParser().get_doctest(section, {"uriscan": uriscan}, "README.md", str(README), 0)
    assert doctest.DocTestRunner().run(found).failed == 0


@pytest.mark.parametrize("name", [name for name in uriscan.__all__ if inspect.isroutine(getattr(uriscan, name))])
def test_every_keyword_is_explained(name):
    function = getattr(uriscan, name)
    text = inspect.cleandoc(function.__doc__).partition("Args:\n")[2].partition("\n\n")[0]
    explained = [one.strip("* ") for names in re.findall(r"^    (\S[^:]*): .", text, re.M) for one in names.split(",")]
    assert sorted(explained) == sorted(inspect.signature(function).parameters)


def test_keywords_of_equivalence_are_the_options_of_the_library():
    options = {name: (kind, values) for name, kind, values in uriscan._uriscan.options()}
    assert list(options) == [*_options.Equivalence.__annotations__, "hash", "on_invalid"]
    hints = typing.get_type_hints(_options.Equivalence)
    for name, (kind, values) in options.items():
        hint = {"hash": _options.KeyHash, "on_invalid": _options.OnInvalid}.get(name) or hints[name]
        known = [value for each in (hint, *typing.get_args(hint)) for value in typing.get_args(each) if isinstance(value, str)]
        assert known == (values if kind == "text" and name != "preset" else []), name
        assert (hint is bool) == (kind == "flag")
    for old in "without_rules", "packs", "ignore_fragment", "hash":
        with pytest.raises(TypeError, match=f"there is no keyword '{old}' here"):
            uriscan.normalize([], **{old: ["x"]})
    for wrong in "null", "pass ", "":
        with pytest.raises(ValueError, match="there are pass, drop, error"):
            uriscan.normalize([], on_invalid=wrong)


def test_every_keyword_of_equivalence_is_explained():
    explained = re.findall(r'^    (\w+): [^\n]*\n    """\w', inspect.getsource(_options.Equivalence), re.M)
    assert explained == list(_options.Equivalence.__annotations__)
