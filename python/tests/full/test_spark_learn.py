"""`uriscan.spark.learn` makes the file that is learned on one machine."""

import pyarrow as pa
import pytest
from clusters import session
from learning import SITES, hostile, rows

import uriscan

uris = pytest.importorskip("uriscan.spark", reason="PySpark is not installed")


def test_the_file_is_that_of_one_machine():
    made = rows()
    urls, same, canonical, redirect = (list(column) for column in zip(*made))
    expected = uriscan.learn(urls, same, canonical=canonical, redirect=redirect)
    assert expected.sites_with_rules == len(SITES)
    with session("local[2]", 0) as spark:
        frame = spark.createDataFrame(made, "url string, same string, canonical string, redirect string")
        for partitions in (1, 7):
            parts = frame.repartition(partitions)
            found = uris.learn(parts, "url", same="same", canonical="canonical", redirect="redirect")
            assert found == expected
        assert uris.learn(frame, "url", redirect="redirect") == uriscan.learn(urls, redirect=redirect)
        assert uris.learn(frame.limit(0), "url", same="same") == uriscan.learn([], [])
        with pytest.raises(ValueError, match="precision=2"):
            uris.learn(frame, "url", same="same", precision=2)
        with pytest.raises(TypeError, match="of type int"):
            uris.learn(frame.selectExpr("1 as url", "same"), "url", same="same")
        _hostile_rows(spark)
        _a_site_that_is_too_large(spark)


def _hostile_rows(spark):
    loose = {"precision": 0.5, "confidence": 0.5, "min_pages": 2}
    made = hostile()
    columns = [pa.array(column, pa.binary()) for column in zip(*made)]
    expected = uriscan.learn(columns[0], columns[1], canonical=columns[2], redirect=columns[3], **loose)
    assert expected.rules > 5 and expected.invalid > 100
    names = "url binary, same binary, canonical binary, redirect binary"
    for frame in (spark.createDataFrame(made, names), spark.createDataFrame(made[::-1], names).repartition(5)):
        assert uris.learn(frame, "url", same="same", canonical="canonical", redirect="redirect", **loose) == expected


def _a_site_that_is_too_large(spark):
    """An eighth of 64 MiB has no room for its rows, so that each of its tasks has a sample, and the same."""
    long = "x" * 2000
    made = [(f"http://large.example/{long}/{page}{query}", page) for page in range(2500) for query in ("", "?ref=x")]
    made += [(f"http://small.example/{page}{query}", page) for page in range(80) for query in ("", "?ref=x")]
    urls, same = (list(column) for column in zip(*made))
    expected = uriscan.learn(urls, same, max_memory="64M")
    assert expected.rules == 2 and "sample" in expected.text
    frame = spark.createDataFrame(made, "url string, same int")
    assert uris.learn(frame.repartition(3), "url", same="same", max_memory="64M") == expected
