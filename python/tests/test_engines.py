"""Inside other engines: functions of DuckDB's SQL, expressions of Polars."""

import duckdb
import polars
import pyarrow
import pytest
from conftest import values

import uriscan
import uriscan.polars  # noqa: F401  gives expressions the namespace


@pytest.fixture(name="connection")
def _connection():
    connection = duckdb.connect()
    functions = [
        ("uri_normalize", lambda urls: uriscan.normalize(urls), "VARCHAR"),
        ("uri_key", lambda urls: uriscan.key(urls), "BLOB"),
        ("uri_valid", lambda urls: uriscan.is_valid(urls), "BOOLEAN"),
        ("uri_host", lambda urls: uriscan.parse(urls).combine_chunks().field("host"), "VARCHAR"),
    ]
    for name, function, result in functions:
        connection.create_function(name, function, ["VARCHAR"], result, type="arrow", null_handling="special")
    yield connection
    connection.close()


def test_functions_in_sql(connection):
    given = values(41, 5000)
    connection.register("urls", pyarrow.table({"url": pyarrow.array(given, pyarrow.string()), "n": range(5000)}))
    rows = connection.sql(
        "select url, uri_normalize(url), uri_key(url), uri_valid(url), uri_host(url) from urls order by n"
    ).fetchall()
    alone = {}
    for value, *answers in rows:
        if value not in alone:
            parts = None if value is None else uriscan.parse(value)
            alone[value] = [None] * 4 if value is None else [
                uriscan.normalize(value),
                uriscan.key(value),
                uriscan.is_valid(value),
                parts and parts["host"],
            ]
        assert answers == alone[value]
    assert [row[0] for row in rows] == given


def test_distinct_in_sql(connection):
    given = [value for value in values(42, 3000) if value and value.strip()]
    connection.register("urls", pyarrow.table({"url": pyarrow.array(given), "n": range(len(given))}))
    kept = connection.sql(
        "select arg_min(url, n) as url from urls group by uri_key(url) order by min(n)"
    ).fetchall()
    assert [url for (url,) in kept] == uriscan.dedup(given)


def test_expressions():
    given = values(43, 500)
    frame = polars.DataFrame({"url": polars.Series(given, dtype=polars.String)})
    url = polars.col("url")
    made = frame.lazy().select(
        url.uri.normalize().alias("form"),
        url.uri.key().alias("key"),
        url.uri.key(hash="sha256").alias("sha256"),
        url.uri.surt().alias("surt"),
        url.uri.parse().struct.field("host").alias("host"),
        url.uri.resolve("http://b/").alias("target"),
        url.uri.check().struct.field("kind").alias("kind"),
        url.uri.is_valid(relative=True).alias("valid"),
        url.uri.extract().list.len().alias("links"),
        url.uri.changes().alias("changes"),
        url.uri.is_first().alias("first"),
    )
    schema = made.collect_schema()
    made = made.collect()
    assert made.schema == schema
    assert made["form"].to_list() == uriscan.normalize(given)
    assert made["key"].to_list() == uriscan.key(given)
    assert made["sha256"].to_list() == uriscan.key(given, hash="sha256")
    assert made["surt"].to_list() == uriscan.surt(given)
    assert made["host"].to_list() == [parts and parts["host"] for parts in uriscan.parse(given)]
    assert made["target"].to_list() == uriscan.resolve(given, "http://b/")
    assert made["kind"].to_list() == [wrong and wrong["kind"] for wrong in uriscan.check(given)]
    assert made["valid"].to_list() == uriscan.is_valid(given, relative=True)
    assert made["changes"].to_list() == uriscan.changes(given)
    assert made["first"].to_list() == uriscan.is_first(given)
    assert frame.filter(url.uri.is_first())["url"].to_list() == uriscan.dedup(given)
