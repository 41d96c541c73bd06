"""Public keys, against BLAKE3 and SHA-256 of other packages."""

import hashlib

import blake3
import pyarrow
import pytest
from conftest import VALUES, values

import uriscan

# Each with the text that is mixed into its keys.
RULES = "uriscan key\ngrammar rfc3986 2\nlevel scheme\nfragment kept\n"
EQUIVALENCES = [
    ({}, None),
    ({"level": "string"}, None),
    ({"level": "syntax"}, None),
    ({"drop_fragment": True}, None),
    ({"repair": ["all"], "iri": True}, None),
    ({"preset": "rfc"}, None),
    ({"rule": ["sort-query"]}, RULES + "rule sort-query 1"),
    ({"profile": "surt"}, "uriscan key\nprofile surt 3"),
    ({"base": "http://base/a/b"}, RULES + "base http://base/a/b"),
    ({"base": "http://base/a/b", "lenient_scheme": True}, RULES + "lenient-base http://base/a/b"),
    ({"suffix_scheme": "https"}, RULES + "suffix-scheme https"),
    # Repairs are in no context.
    ({"rule": ["sort-query"], "repair": ["all"]}, RULES + "rule sort-query 1"),
]


def by_blake3(form, context):
    """What ``b3sum --length 16`` prints, with ``--derive-key`` and the context if there is one."""
    keywords = {} if context is None else {"derive_key_context": context}
    return blake3.blake3(form, **keywords).digest(16)


def by_sha256(form, context):
    return hashlib.sha256(form if context is None else context.encode() + b"\n\n" + form).digest()[:16]


@pytest.mark.parametrize(("keywords", "context"), EQUIVALENCES, ids=str)
def test_keys_are_hashes_of_forms(keywords, context):
    # Forms of every length around the blocks of 64 bytes, and beyond the chunks of 1024 that BLAKE3 makes a tree of.
    lengths = ["http://h/" + "x" * length for length in [*range(270), *range(1010, 1030), 4096, 70_000]]
    given = VALUES + values(51, 500) + lengths
    column = pyarrow.array([value and value.encode() for value in given], pyarrow.binary())
    forms = uriscan.normalize(column, **keywords).to_pylist()
    assert uriscan.key_context(**keywords) == context
    for name, by in ("blake3", by_blake3), ("sha256", by_sha256):
        expected = [None if form is None else by(form, context) for form in forms]
        assert uriscan.key(column, hash=name, **keywords).to_pylist() == expected
    assert uriscan.key(column, **keywords) == uriscan.key(column, hash="blake3", **keywords)


def test_keys_do_not_change():
    # Keys are kept outside: these are what `uriscan key` prints. No package is asked here.
    for keywords, expected in [
        ({}, "321da390d7e4f84b8dbcef7bedba0df5"),
        ({"hash": "sha256"}, "ad8295a7a69d6f00bcbec158f753e931"),
        ({"profile": "surt"}, "ca30b2cd66e902946332136b21470f17"),
        ({"profile": "surt", "hash": "sha256"}, "8b7c535e9ae9a7d0ce7f209c8ee0ab2e"),
    ]:
        assert uriscan.key("HTTP://h", **keywords).hex() == expected


def test_other_meanings_have_other_keys():
    keys = {}
    for keywords, context in EQUIVALENCES:
        for name in "blake3", "sha256":
            keys.setdefault((name, context), set()).add(uriscan.key("http://h/", hash=name, **keywords))
    # One key for each meaning, the same by whatever keywords, and no two meanings with the same key.
    assert all(len(found) == 1 for (_, context), found in keys.items() if context is None or "surt" not in context)
    assert len(set.union(*keys.values())) == len(keys)


def test_contexts():
    crawl = uriscan.key_context(preset="crawl")
    assert crawl.startswith(RULES + "rule ") and not crawl.endswith("\n")
    assert crawl != uriscan.key_context(preset="crawl", level="syntax")
    assert "fragment dropped" in uriscan.key_context(preset="crawl", drop_fragment=True)
    assert uriscan.key_context(preset="crawl", no_rule=["anchor"]) != crawl


def test_wrong_hashes():
    with pytest.raises(ValueError, match="there are blake3, sha256"):
        uriscan.key("http://h/", hash="md5")
    with pytest.raises(TypeError):
        uriscan.key("http://h/", seed=0)
    # They make no public keys.
    for function in uriscan.normalize, uriscan.surt, uriscan.changes, uriscan.is_first:
        with pytest.raises(TypeError):
            function(["http://h/"], hash="sha256")
    with pytest.raises(TypeError):
        uriscan.key_context(hash="sha256")
