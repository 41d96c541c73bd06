"""Expressions for Polars: importing this module gives every expression the namespace ``uri``.

>>> import polars as pl
>>> import uriscan.polars
>>> frame = pl.DataFrame({"url": ["HTTP://h", "http://h/", "no URI"]})
>>> frame.select(pl.col("url").uri.normalize()).to_series().to_list()
['http://h/', 'http://h/', 'no URI']
>>> frame.filter(pl.col("url").uri.is_first()).height
2
"""

from __future__ import annotations

from typing import Any, Callable

import polars as pl

import uriscan

_COMPONENTS = (
    "scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment", "host_kind",
    "domain", "suffix", "params"
)  # fmt: skip


@pl.api.register_expr_namespace("uri")
class Uri:
    """The functions of :mod:`uriscan` on an expression of strings, with the same keywords."""

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def _of(self, function: Callable[..., Any], dtype: Any, keywords: dict[str, Any]) -> pl.Expr:
        # What only looks at a row may be asked in parts; what is first may not.
        alone = function is not uriscan.is_first
        return self._expression.map_batches(
            lambda series: function(series, **keywords),
            return_dtype=dtype,
            is_elementwise=alone,
        )

    def normalize(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.normalize`."""
        return self._of(uriscan.normalize, pl.String, keywords)

    def surt(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.surt`."""
        return self._of(uriscan.surt, pl.String, keywords)

    def key(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.key`, as binary."""
        return self._of(uriscan.key, pl.Binary, keywords)

    def parse(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.parse`."""
        parts = pl.Struct({name: pl.String for name in _COMPONENTS})
        return self._of(uriscan.parse, parts, keywords)

    def resolve(self, base: str, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.resolve` against one base."""
        return self._of(uriscan.resolve, pl.String, {"base": base, **keywords})

    def check(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.check`."""
        return self._of(uriscan.check, pl.Struct({"kind": pl.String, "at": pl.UInt32}), keywords)

    def is_valid(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.is_valid`."""
        return self._of(uriscan.is_valid, pl.Boolean, keywords)

    def extract(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.extract`."""
        return self._of(uriscan.extract, pl.List(pl.String), keywords)

    def changes(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.changes`."""
        return self._of(uriscan.changes, pl.UInt64, keywords)

    def is_first(self, **keywords: Any) -> pl.Expr:
        """:func:`uriscan.is_first`, of all rows."""
        return self._of(uriscan.is_first, pl.Boolean, keywords)
