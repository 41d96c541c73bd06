"""First values, over one column and many."""

import pyarrow
import pytest
from conftest import values

import uriscan


def firsts(given, **keywords):
    """The slow, obvious way: by the keys one by one."""
    seen, marks = set(), []
    for value in given:
        # Blank values are passed over, like blank lines.
        key = uriscan.key(value, **keywords) if value and value.strip() else None
        marks.append(None if key is None else key not in seen)
        seen.add(key)
    return marks


KEYWORDS = [{}, {"level": "string"}, {"on_invalid": "drop"}, {"preset": "crawl"}, {"drop_fragment": True}, {"profile": "surt"}]


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
def test_against_keys(keywords):
    given = values(21, 3000)
    expected = firsts(given, **keywords)
    kept = [value for value, mark in zip(given, expected) if mark]
    assert uriscan.is_first(given, **keywords) == expected
    assert uriscan.dedup(given, **keywords) == kept
    # Batch by batch it is the same.
    seen, marks, out = uriscan.Deduplicator(**keywords), [], []
    again = uriscan.Deduplicator(**keywords)
    for at in range(0, 3000, 170):
        marks += seen.is_first(pyarrow.array(given[at : at + 170])).to_pylist()
        out += again.dedup(pyarrow.array(given[at : at + 170])).to_pylist()
    assert (marks, out) == (expected, kept)
    assert len(seen) == sum(map(bool, expected))


def test_all_kinds():
    given = ["http://h", None, "HTTP://h/", "http://i/", "http://h"]
    kept = ["http://h", "http://i/"]
    for text in pyarrow.string(), pyarrow.large_string(), pyarrow.string_view():
        array = pyarrow.array(given, text)
        assert uriscan.dedup(array).to_pylist() == kept
        assert uriscan.dedup(pyarrow.chunked_array([array[:2], array[2:]])).to_pylist() == kept
        assert uriscan.dedup(array.dictionary_encode() if text != pyarrow.string_view() else array).to_pylist() == kept
    column = uriscan.dedup(uriscan.Column(given))
    assert column.to_pylist() == kept
    assert uriscan.dedup([]) == []


def test_keys_in_memory_have_no_keywords():
    for keyword in {"hash": "sha256"}, {"seed": 1}:
        for function in uriscan.Deduplicator, lambda **keywords: uriscan.dedup(["http://h/"], **keywords):
            with pytest.raises(TypeError):
                function(**keyword)


def test_tables():
    table = pyarrow.table({"url": ["http://h", "HTTP://h/", None, "http://i"], "n": [1, 2, 3, 4]})
    assert table.filter(uriscan.is_first(table["url"]))["n"].to_pylist() == [1, 4]


def test_nothing_is_seen_of_a_batch_that_fails():
    seen = uriscan.Deduplicator(on_invalid="error")
    with pytest.raises(uriscan.UriError):
        seen.is_first(["http://h/", "a b"])
    assert len(seen) == 0
    assert seen.is_first(["http://h/"]) == [True]
