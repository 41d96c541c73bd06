"""The extension loads, and every function works once: `scripts/test-duckdb --smoke`. It needs no Python package of uriscan."""

import os

import duckdb
import pytest

CALLS = [
    ("uri_normalize('HTTP://h')", "http://h/"),
    ("uri_normalize('http://h/?utm_source=x', {'preset': 'crawl'})", "http://h/"),
    ("uri_key('HTTP://h')", bytes.fromhex("321da390d7e4f84b8dbcef7bedba0df5")),
    ("uri_key_int('HTTP://h')", 0x321DA390D7E4F84B8DBCEF7BEDBA0DF5),
    ("uri_surt('http://www.example.com/a', {'form': 'ssurt'})", "com,example,www,//http:/a"),
    ("uri_valid('a b')", False),
    ("uri_parse('http://h:80/').port", "80"),
    ("uri_part('http://h/?q', 'query')", "q"),
    ("uri_domain('http://www.bbc.co.uk/')", "bbc.co.uk"),
    ("uri_resolve('../x', 'http://h/a/b')", "http://h/x"),
    ("uri_normalize(null)", None),
]


def test_every_function():
    connection = duckdb.connect(config={"allow_unsigned_extensions": "true"})
    connection.execute(f"load '{os.environ['URISCAN_DUCKDB']}'")
    for call, answer in CALLS:
        assert connection.execute(f"select {call}").fetchall() == [(answer,)], call
    with pytest.raises(duckdb.Error, match="levels"):
        connection.execute("select uri_normalize('x', {'levels': 'syntax'})")
