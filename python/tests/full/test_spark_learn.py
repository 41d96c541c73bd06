"""`uriscan.spark.learn` makes the file that is learned on one machine."""

import pytest
from clusters import session
from learning import SITES, rows

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
