"""What is wrong is said in the user's words: no names of internals, and the keyword that it is about."""

import pyarrow
import pytest

import uriscan

INTERNAL = ["Form", "Asked", "Find", "capsule", "One(", "Firsts", "KeySet", "__new__", "_uriscan", "instance of", "partial"]

WRONG = [
    (lambda: uriscan.normalize([1]), "row 0: str or None is needed, not int"),
    (lambda: uriscan.normalize(5), "a column, a list or one str is needed, not int"),
    (lambda: uriscan.normalize(pyarrow.array([1])), "text or bytes"),
    (lambda: uriscan.normalize(pyarrow.table({"a": ["x"], "b": ["y"]})), "a table of 2 columns: choose one"),
    (lambda: uriscan.normalize("x", level=5), "level is a str, not int"),
    (lambda: uriscan.normalize(["x"], level=None), "level is a str, not None"),
    (lambda: uriscan.normalize(["x"], rule="www"), "rule is a list of names, not one"),
    (lambda: uriscan.normalize(["x"], rule=[1]), "rule is a list of names, and 1 is not a str"),
    (lambda: uriscan.normalize(["x"], rules=5), "rules is a list of names, not int"),
    (lambda: uriscan.normalize(["x"], drop_fragment="yes"), "drop_fragment is True or False, not str"),
    (lambda: uriscan.key("x", seed=1), "there is no keyword 'seed' here"),
    (lambda: uriscan.key(["x"], hash=5), "hash is a str, not int"),
    (lambda: uriscan.surt(["x"], form=5), "form is a str, not int"),
    (lambda: uriscan.Normalizer(levels="x"), "there is no keyword 'levels' here"),
    (lambda: uriscan.resolve(["x"], 5), "base is a str or a column, not int"),
    (lambda: uriscan.resolve(["x"], None), "base is a str or a column, not NoneType"),
    (lambda: uriscan.dedup("http://h/"), "a column or a list is needed, not one str"),
    (lambda: uriscan.is_first(b"http://h/"), "a column or a list is needed, not one bytes"),
    (lambda: uriscan.dedup(["x"], keep=5), "keep is a str, not int"),
    (lambda: uriscan.audit("x", select=[1]), "select is a list of names, and 1 is not a str"),
    (lambda: uriscan.extract("x", format=5), "format is a str, not int"),
    (lambda: uriscan.set_threads(-1), "threads=-1: from 0 to 4096 are possible"),
    (lambda: uriscan.set_threads(10**6), "threads=1000000: from 0 to 4096 are possible"),
    (lambda: uriscan.dedup_parquet(5, "x.parquet", column="url"), "inputs is a path or a list of paths, not int"),
    (lambda: uriscan.dedup(["x"], keep="best"), "keep=\"best\": there are first"),
]


@pytest.mark.parametrize("wrong", range(len(WRONG)))
def test_messages(wrong):
    call, message = WRONG[wrong]
    with pytest.raises((TypeError, ValueError)) as error:
        call()
    assert message in str(error.value)
    assert not [name for name in INTERNAL if name in str(error.value)]


def test_public_names():
    for name in uriscan.__all__:
        value = getattr(uriscan, name)
        if isinstance(value, type) or callable(value):
            assert getattr(value, "__module__", "uriscan") in ("uriscan", None, "uriscan._uriscan"), name
    assert uriscan.UriError.__module__ == uriscan.Set.__module__ == uriscan.dedup.__module__ == "uriscan"
    assert repr(uriscan.Normalizer(preset="crawl")) == "uriscan.Normalizer(preset='crawl')"
    assert repr(uriscan.Deduplicator()) == "<uriscan.Deduplicator(): 0 groups>"
