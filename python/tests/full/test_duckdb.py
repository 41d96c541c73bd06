"""Relations of DuckDB as columns, and functions of its SQL."""

import duckdb
import pyarrow
import pytest
from conftest import values

import uriscan
import uriscan.engines


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


def test_duckdb_is_taken_batch_by_batch():
    connection = duckdb.connect()
    relation = connection.sql("select 'http://h/' || i as url from range(300000) t(i)")
    column = uriscan.Column(relation)
    assert len(column) == 300_000
    assert column[299_999] == "http://h/299999"
    assert len(uriscan.dedup(column)) == 300_000


def test_columns_of_duckdb(function):
    given = values(10, 5000)
    table = pyarrow.table({"url": pyarrow.array(given, pyarrow.string()), "n": range(5000)})
    connection = duckdb.connect()
    connection.register("urls", table)
    relation = connection.sql("select url from urls order by n")
    made = function(relation)
    assert isinstance(made, uriscan.Column)
    alone = {value: function(value) for value in set(given) - {None}} | {None: None}
    assert made.to_pylist() == [alone[value] for value in given]


def test_functions_of_engines():
    connection = uriscan.engines.duckdb(duckdb.connect(), preset="crawl")
    row = connection.sql(
        "select uri_normalize(u), uri_key(u), uri_valid(u), uri_host(u), uri_domain(u), uri_surt(u) "
        "from (values ('HTTP://www.bbc.co.uk/#x')) t(u)"
    ).fetchall()[0]
    url = "HTTP://www.bbc.co.uk/#x"
    assert row == (
        uriscan.normalize(url, preset="crawl"), uriscan.key(url, preset="crawl"), True, "www.bbc.co.uk", "bbc.co.uk",
        uriscan.surt(url, preset="crawl"),
    )  # fmt: skip
    with pytest.raises(TypeError):
        uriscan.engines.duckdb(duckdb.connect(), presets="crawl")
    # A second call replaces the functions.
    assert uriscan.engines.duckdb(connection) is connection
    assert connection.sql("select uri_normalize('HTTP://h#x'), uri_key(null)").fetchall() == [("http://h/#x", None)]


def test_answers_are_taken():
    column = uriscan.normalize(uriscan.Column(["HTTP://h", None]))
    assert duckdb.connect().from_arrow(pyarrow.table({"url": column})).fetchall() == [("http://h/",), (None,)]
