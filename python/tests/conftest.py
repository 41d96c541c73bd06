"""What the tests share: the two tiers, values of all sorts, and the functions that are tested on them."""

import random
from pathlib import Path

import pytest

import uriscan

FULL = Path(__file__).parent / "full"


def pytest_ignore_collect(collection_path, config):
    """Modules of `full` are not imported where they are not wanted: the packages that they need may be missing."""
    return True if collection_path == FULL and config.option.markexpr == "not full" else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    for item in items:
        if FULL in item.path.parents:
            item.add_marker(pytest.mark.full)


# One of each sort, among them those that fast roads hand on.
VALUES = [
    "http://example.com/",
    "HTTP://Example.COM:80/%7Ebob/./x",
    "http://example.com:080/a/../b?q=1&a=2#frag",
    "https://www.example.com/?utm_source=x&id=1",
    "https://user:pw@h:443/%e4%bd%a0",
    "http://[2001:DB8::0:1]:8080/",
    "http://bücher.example/ü",
    "mailto:Joe@EXAMPLE.com",
    "urn:ISBN:0-395-36341-1",
    "file://localhost/etc",
    "a:/.//b",
    "//h/path",
    "../up",
    "?q",
    "#f",
    "",
    " ",
    "  http://h/  ",
    "http://h/a b",
    "http://h/%zz",
    "http://h:port/",
    "http://[::1/",
    "http://h/\u0007",
    "line\nfeed",
    "http://h/\nhttp://i/",
    "你好",
    None,
    "x" * 300,
    "http://h/" + "a/../" * 60,
    "http://long.example/" + "p" * 5000,
]


def values(seed, count):
    """``count`` values, some of them made of parts at random; the same for the same ``seed``."""
    chance = random.Random(seed)
    parts = ["http", "HTTP", "ftp", ":", "//", "h", "H.example", "%7e", "%2F", "..", ".", "/", "?", "#", "@", ":80", " ", "é"]
    made = []
    for _ in range(count):
        if chance.random() < 0.5:
            made.append(chance.choice(VALUES))
        else:
            made.append("".join(chance.choices(parts, k=chance.randrange(12))))
    return made


FUNCTIONS = {
    "normalize": uriscan.normalize,
    "normalize-null": lambda given: uriscan.normalize(given, on_invalid="drop"),
    "normalize-crawl": lambda given: uriscan.normalize(given, preset="crawl"),
    "normalize-base": lambda given: uriscan.normalize(given, base="http://base/a/b"),
    "normalize-repair": lambda given: uriscan.normalize(given, repair=["all"], iri=True),
    "key": uriscan.key,
    "key-sha256": lambda given: uriscan.key(given, hash="sha256", level="syntax", on_invalid="drop"),
    "key-whatwg": lambda given: uriscan.key(given, profile="whatwg"),
    "surt": uriscan.surt,
    "parse": uriscan.parse,
    "part-query": lambda given: uriscan.part(given, "query:a:decoded"),
    "part-segment": lambda given: uriscan.part(given, "segment:-1"),
    "check": uriscan.check,
    "is-valid": uriscan.is_valid,
    "is-valid-relative": lambda given: uriscan.is_valid(given, relative=True),
    "changes": uriscan.changes,
    "extract": lambda given: uriscan.extract(given, bare_hosts=True, email=True),
    "extract-html": lambda given: uriscan.extract(given, format="html", base="http://base/"),
    "resolve": lambda given: uriscan.resolve(given, "http://base/a/b?q"),
}


@pytest.fixture(params=FUNCTIONS, name="function")
def _function(request):
    """A function of a column, or of one value."""
    return FUNCTIONS[request.param]


def one_by_one(function, given):
    """What ``function`` says of each value alone."""
    return [None if value is None else function(value) for value in given]
