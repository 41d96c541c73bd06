"""The pages of docs/python are those of the docstrings; their examples run with the other documents."""

import importlib.util
import pathlib
import re

import uriscan

PROGRAM = pathlib.Path(__file__).resolve().parents[1] / "docs.py"


def module():
    spec = importlib.util.spec_from_file_location("docs", PROGRAM)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


def test_pages_are_those_of_the_docstrings():
    assert module().main(["--check"]) == 0, "run python/docs.py"


def test_every_keyword_is_explained():
    docs = module()
    for name in docs.pages():
        value = getattr(uriscan, name)
        if callable(value) and not isinstance(value, type):
            listed = re.findall(r"^- `([^`]+)`: .", docs.page(name).partition("**Raises**")[0], re.M)
            explained = {each.strip("* ") for names in listed for each in names.split(",")}
            assert explained == set(docs.inspect.signature(value).parameters), name
    text = docs.equivalence()
    from uriscan import _options

    assert all(f"- `{keyword}`: " in text for keyword in _options.Equivalence.__annotations__)
