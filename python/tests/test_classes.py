"""Whole classes: survivors, counts, clusters and the census, against the slow, obvious way."""

import collections

import pyarrow
import pytest
from conftest import values

import uriscan

KEYWORDS = [{}, {"level": "string"}, {"on_invalid": "drop"}, {"preset": "crawl"}, {"drop_fragment": True}, {"profile": "surt"}]
BLANK = " \t\n\x0b\x0c\r"


def expected_classes(given, **keywords):
    """The rows of every class, by the keys of values one by one, in the order of their first rows."""
    found = collections.defaultdict(list)
    for row, value in enumerate(given):
        key = uriscan.key(value, **keywords) if value and value.strip(BLANK) else None
        if key is not None:
            found[key].append(row)
    return list(found.values())


def expected_survivor(given, rows, keep):
    def record(row):
        return given[row].strip(BLANK).encode()

    if keep == "last":
        return rows[-1]
    if keep == "shortest":
        return min(rows, key=lambda row: len(record(row)))
    if keep == "https":
        return next((row for row in rows if record(row)[:6].lower() == b"https:"), rows[0])
    if keep in ("min", "max"):
        wanted = {"min": min, "max": max}[keep](record(row) for row in rows)
        return next(row for row in rows if record(row) == wanted)
    return rows[0]


@pytest.mark.parametrize("keep", ["first", "last", "shortest", "https", "min", "max"])
@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
def test_survivors(keywords, keep):
    given = values(31, 1200) + ["https://h/a b", "HTTP://h/", "https://h/", "HTTPS://H/"]
    classes = expected_classes(given, **keywords)
    survivors = {expected_survivor(given, rows, keep): rows for rows in classes}
    in_order = sorted(survivors)
    assert uriscan.dedup(given, keep=keep, **keywords) == [given[row] for row in in_order]
    kept, counts = uriscan.dedup(given, keep=keep, count=True, **keywords)
    assert kept == [given[row] for row in in_order]
    assert counts == [len(survivors[row]) for row in in_order]
    repeated = [row for row in in_order if len(survivors[row]) > 1]
    assert uriscan.dedup(given, keep=keep, repeated=True, **keywords) == [given[row] for row in repeated]
    unique = [row for row in in_order if len(survivors[row]) == 1]
    assert uriscan.dedup(given, keep=keep, unique=True, **keywords) == [given[row] for row in unique]
    of_rows = {row: survivor for survivor, rows in survivors.items() for row in rows}
    assert uriscan.groups(given, keep=keep, **keywords) == [of_rows.get(row) for row in range(len(given))]


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
def test_clusters(keywords):
    given = values(32, 800)
    found = uriscan.clusters(given, keep="shortest", repeated=True, **keywords)
    classes = [rows for rows in expected_classes(given, **keywords) if len(rows) > 1]
    survivors = sorted((expected_survivor(given, rows, "shortest"), rows) for rows in classes)
    assert [cluster["kept"] for cluster in found] == [given[row] for row, _ in survivors]
    assert [cluster["count"] for cluster in found] == [len(rows) for _, rows in survivors]
    for cluster, (survivor, rows) in zip(found, survivors):
        assert [member["row"] for member in cluster["members"]] == rows
        assert [member["uri"] for member in cluster["members"]] == [given[row] for row in rows]
        for member, row in zip(cluster["members"], rows):
            if "profile" in keywords:
                assert member["level"] is None
            elif "on_invalid" not in keywords:
                assert member["level"] == uriscan.explain(given[row], given[survivor], **keywords)["level"]


def test_levels_without_rules():
    given = ["http://h/#a", "http://h/", "HTTP://h/#a", "http://h#a"]
    for keywords in {"drop_fragment": True}, {"preset": "crawl"}:
        (cluster,) = uriscan.clusters(given, **keywords)
        levels = [member["level"] for member in cluster["members"]]
        assert levels == ["string", "rules", "syntax", "scheme"]
        assert levels == [uriscan.explain(value, given[0], **keywords)["level"] for value in given]
    zeros = ["HTTP://h:080/a", "Http://h:80/a"]
    assert uriscan.clusters(zeros, preset="log")[0]["members"][1]["level"] == "scheme"


def test_kinds():
    given = ["http://h", None, "HTTP://h/", "http://i/"]
    for column in pyarrow.array(given), pyarrow.chunked_array([given[:1], given[1:]]), pyarrow.array(given).dictionary_encode():
        kept, counts = uriscan.dedup(column, keep="last", count=True)
        assert (kept.to_pylist(), counts.to_pylist()) == (["HTTP://h/", "http://i/"], [2, 1])
        assert kept.type == column.type
        clusters = uriscan.clusters(column)
        assert clusters.to_pylist()[0]["members"][1] == {"row": 2, "uri": "HTTP://h/", "level": "scheme"}
    assert uriscan.clusters([]) == [] and uriscan.groups([]) == []
    assert uriscan.dedup([b"http://h", b"\xff", b"http://h/"], count=True) == ([b"http://h", b"\xff"], [2, 1])


def test_what_is_refused():
    with pytest.raises(ValueError, match="keep=.best.: there are first, last"):
        uriscan.dedup(["x"], keep="best")
    with pytest.raises(ValueError, match="either repeated or unique"):
        uriscan.dedup(["x"], repeated=True, unique=True)
    for function in uriscan.clusters, uriscan.groups, lambda given, **keywords: uriscan.dedup(given, keep="last", **keywords):
        with pytest.raises(uriscan.UriError) as error:
            function(["http://h/", "", "a b"], on_invalid="error")
        assert error.value.row == 2
        with pytest.raises(TypeError, match="text or bytes"):
            function(pyarrow.array([1, 2]))


@pytest.mark.parametrize(
    "keywords", [{}, {"drop_fragment": True}, {"preset": "crawl"}, {"base": "http://b/a/"}, {"repair": ["all"]}], ids=str
)
def test_census(keywords):
    given = values(33, 2000)
    found = uriscan.census(given, **keywords)
    plain = {name: value for name, value in keywords.items() if name != "preset"}
    records = sum(bool(value and value.strip(BLANK)) for value in given)
    assert (found["records"], found["blank"]) == (records, len(given) - records)
    below = records
    for level in found["levels"]:
        distinct = len(expected_classes(given, level=level["level"], **plain))
        assert (level["distinct"], level["merges"]) == (distinct, below - distinct)
        below = distinct
    assert ("rules" in found) == ("preset" in keywords)
    if "rules" in found:
        distinct = len(expected_classes(given, **keywords))
        assert found["rules"] == {"distinct": distinct, "merges": below - distinct}
    kinds = collections.Counter(
        uriscan.check(value)["kind"]
        for value in given
        if value and value.strip(BLANK) and uriscan.normalize(value, level="syntax", on_invalid="drop", **plain) is None
    )
    assert found["invalid"] == dict(kinds)
    for wrong in "level", "profile", "on_invalid":
        with pytest.raises(TypeError, match=wrong):
            uriscan.census(given, **{wrong: "string"})
