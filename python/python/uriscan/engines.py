"""Functions for SQL: of DuckDB, and of PyArrow's compute functions.

>>> import duckdb
>>> import uriscan.engines
>>> connection = uriscan.engines.duckdb(duckdb.connect(), preset="crawl")
>>> connection.sql("select uri_normalize('HTTP://h/?utm_source=x')").fetchall()
[('http://h/',)]

DuckDB has an extension, too, whose functions need no Python and take less time: ``engines/duckdb`` in the repository. Its
``uri_key_int`` gives the same keys as numbers.
"""

from __future__ import annotations

import contextlib
from typing import Any

import uriscan

_TEXT = ("uri_normalize", "uri_surt")


def _functions(keywords: dict[str, Any]) -> dict[str, Any]:
    """The functions by their names, with their keywords."""

    def part(name: str) -> Any:
        import pyarrow.compute

        return lambda urls: pyarrow.compute.struct_field(uriscan.parse(urls), [name])

    # Keywords that there are not are refused here.
    uriscan.normalize([], **keywords)
    return {
        "uri_normalize": lambda urls: uriscan.normalize(urls, **keywords),
        "uri_surt": lambda urls: uriscan.surt(urls, **keywords),
        "uri_key": lambda urls: uriscan.key(urls, **keywords),
        "uri_valid": lambda urls: uriscan.is_valid(urls),
        "uri_host": part("host"),
        "uri_domain": part("domain"),
    }


def duckdb(connection: Any, **keywords: Any) -> Any:
    """Gives a connection the functions ``uri_normalize``, ``uri_surt``, ``uri_key``, ``uri_valid``, ``uri_host`` and
    ``uri_domain``, under these keywords, also in the place of those of an earlier call; gives the connection back."""
    import duckdb as module

    results = {"uri_key": "BLOB", "uri_valid": "BOOLEAN"}
    for name, function in _functions(keywords).items():
        result = results.get(name, "VARCHAR")
        with contextlib.suppress(module.InvalidInputException):
            connection.remove_function(name)
        connection.create_function(
            name, function, ["VARCHAR"], result, type="arrow", null_handling="special"
        )
    return connection


def pyarrow(**keywords: Any) -> list[str]:
    """Registers the same functions, under these keywords, with PyArrow, once in a process; gives their names. They take columns of
    the type ``string``.

    >>> import pyarrow.compute
    >>> uriscan.engines.pyarrow()[0]
    'uri_normalize'
    >>> pyarrow.compute.call_function("uri_normalize", [pyarrow.array(["HTTP://h", None])]).to_pylist()
    ['http://h/', None]
    """
    import pyarrow as pa
    import pyarrow.compute

    results = {"uri_key": pa.binary(16), "uri_valid": pa.bool_()}
    functions = _functions(keywords)
    for name, function in functions.items():
        doc = {"summary": f"{name} of uriscan", "description": "See uriscan.engines."}

        def call(context: Any, urls: Any, function: Any = function) -> Any:
            # A single value comes as a scalar.
            if isinstance(urls, pa.Scalar):
                return function(pa.array([urls.as_py()], pa.string()))[0]
            return function(urls)

        result = results.get(name, pa.string())
        pyarrow.compute.register_scalar_function(call, name, doc, {"url": pa.string()}, result)
    return list(functions)
