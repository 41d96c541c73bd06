"""Spark starts, and every function of `uriscan.spark` works once: `scripts/test-python --smoke-spark`."""

import pytest
from clusters import session

import uriscan

uris = pytest.importorskip("uriscan.spark", reason="PySpark is not installed")

URLS = ["HTTP://h", "http://h/", "no URI", None, "http://i/?a#x", "see"]


def test_spark(tmp_path):
    with session("local[1]", 0) as spark:
        spark.createDataFrame([(row, url) for row, url in enumerate(URLS)], "n int, url string").coalesce(1).write.parquet(f"{tmp_path}/in")
        rows = spark.read.parquet(f"{tmp_path}/in")
        kept = sorted(row.n for row in uris.dedup(rows, "url").collect())
        assert kept == [row for row, is_first in enumerate(uriscan.is_first(URLS)) if is_first]
        made = uris.key(uris.normalize(rows, "url", into="form"), "url").sort("n").collect()
        assert [row.form for row in made] == uriscan.normalize(URLS)
        assert [row.uri_key and bytes(row.uri_key) for row in made] == uriscan.key(URLS)
        assert [row.link for row in uris.extract(rows, "url", scheme="any").sort("n").collect()] == [
            link for links in uriscan.extract(URLS, scheme="any") for link in links or []
        ]
        assert uris.learn(rows, "url", same="n") == uriscan.learn(URLS, list(range(len(URLS))))
        seen = uriscan.SetPieces.create(tmp_path / "seen", bits=1)
        assert uris.add(rows, "url", seen.path) == len(kept)
        assert uris.dedup(rows, "url", seen=seen.path).count() == 0
