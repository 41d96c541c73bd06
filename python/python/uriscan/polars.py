"""For Polars: importing this module gives expressions, series, frames and lazy frames the namespace ``uri``.

>>> import polars as pl
>>> import uriscan.polars
>>> frame = pl.DataFrame({"url": ["HTTP://h", "http://h/", "no URI"]})
>>> frame.select(pl.col("url").uri.normalize()).to_series().to_list()
['http://h/', 'http://h/', 'no URI']
>>> frame["url"].uri.is_valid().to_list()
[True, True, False]
>>> frame.lazy().uri.dedup("url").collect().height
2

Text stays text, ``Binary`` stays ``Binary``, and what is ``Categorical`` or an ``Enum`` becomes text.
"""

from __future__ import annotations

from typing import Any, Callable, TypeVar

import polars as pl

import uriscan
from uriscan._classes import Keep

_COMPONENTS = (
    "scheme", "authority", "userinfo", "host", "port", "path", "query", "fragment", "host_kind",
    "domain", "suffix", "params"
)  # fmt: skip

_FINDING = {
    **{name: pl.String for name in ("rule", "severity", "section", "message", "consequence")},
    **{name: pl.UInt32 for name in ("start", "end", "count")},
}

Frame = TypeVar("Frame", pl.DataFrame, pl.LazyFrame)


def _text(series: pl.Series) -> pl.Series:
    """The series, without a dictionary, and of a type."""
    return series.cast(pl.String) if series.dtype in (pl.Categorical, pl.Enum, pl.Null) else series


def _made(function: Callable[..., Any], series: pl.Series, dtype: Any, keywords: dict[str, Any]) -> pl.Series:
    """What ``function`` makes of the series, as this type."""
    made = function(_text(series), **keywords)
    return made if made.dtype == dtype else made.cast(dtype)


class _Functions:
    """The functions of :mod:`uriscan`, with the same keywords."""

    def _of(self, function: Callable[..., Any], dtype: Any, keywords: dict[str, Any]) -> Any:
        raise NotImplementedError

    def normalize(self, **keywords: Any) -> Any:
        """:func:`uriscan.normalize`."""
        return self._of(uriscan.normalize, None, keywords)

    def surt(self, **keywords: Any) -> Any:
        """:func:`uriscan.surt`."""
        return self._of(uriscan.surt, None, keywords)

    def key(self, **keywords: Any) -> Any:
        """:func:`uriscan.key`, as binary."""
        return self._of(uriscan.key, pl.Binary, keywords)

    def parse(self, **keywords: Any) -> Any:
        """:func:`uriscan.parse`, as text."""
        parts = pl.Struct({name: pl.String for name in _COMPONENTS})
        return self._of(uriscan.parse, parts, keywords)

    def resolve(self, base: str, **keywords: Any) -> Any:
        """:func:`uriscan.resolve` against one base."""
        return self._of(uriscan.resolve, None, {"base": base, **keywords})

    def check(self, **keywords: Any) -> Any:
        """:func:`uriscan.check`."""
        return self._of(uriscan.check, pl.Struct({"kind": pl.String, "at": pl.UInt32}), keywords)

    def is_valid(self, **keywords: Any) -> Any:
        """:func:`uriscan.is_valid`."""
        return self._of(uriscan.is_valid, pl.Boolean, keywords)

    def extract(self, **keywords: Any) -> Any:
        """:func:`uriscan.extract`, as lists of text."""
        return self._of(uriscan.extract, pl.List(pl.String), keywords)

    def changes(self, **keywords: Any) -> Any:
        """:func:`uriscan.changes`."""
        return self._of(uriscan.changes, pl.UInt64, keywords)

    def part(self, name: str, **keywords: Any) -> Any:
        """:func:`uriscan.part`."""
        return self._of(uriscan.part, None, {"name": name, **keywords})

    def params(self, **keywords: Any) -> Any:
        """:func:`uriscan.params`, as lists of structs of text."""
        param = pl.Struct({"name": pl.String, "value": pl.String})
        return self._of(uriscan.params, pl.List(param), keywords)

    def audit(self, **keywords: Any) -> Any:
        """:func:`uriscan.audit`, as lists."""
        finding = pl.Struct(_FINDING) if keywords.get("details") else pl.String
        return self._of(uriscan.audit, pl.List(finding), keywords)

    def groups(self, **keywords: Any) -> Any:
        """:func:`uriscan.groups`, of all rows."""
        return self._of(uriscan.groups, pl.UInt64, keywords)

    def is_first(self, **keywords: Any) -> Any:
        """:func:`uriscan.is_first`, of all rows."""
        return self._of(uriscan.is_first, pl.Boolean, keywords)


@pl.api.register_expr_namespace("uri")
class Uri(_Functions):
    """The functions of :mod:`uriscan` on an expression, with the same keywords.

    Keywords that there are not, or that cannot have that value, are refused when the expression is built.
    """

    def __init__(self, expression: pl.Expr) -> None:
        self._expression = expression

    def _of(self, function: Callable[..., Any], dtype: Any, keywords: dict[str, Any]) -> pl.Expr:
        # Of no values nothing is made, and the keywords are looked at.
        function([], **keywords)

        # What only looks at a row may be asked in parts; what is first may not, and of an error the row counts from the first one.
        alone = function not in (uriscan.is_first, uriscan.groups) and keywords.get("on_invalid") != "error"

        def made(expression: pl.Expr, given: Any) -> pl.Expr:
            result = dtype or (pl.Binary if given == pl.Binary else pl.String)
            return expression.map_batches(
                lambda series: _made(function, series, result, keywords),
                return_dtype=result,
                is_elementwise=alone,
            )

        # In older versions the type of an expression is not known; there it is text.
        if hasattr(self._expression, "pipe_with_dtype"):
            return self._expression.pipe_with_dtype(made)
        return made(self._expression, pl.String)


@pl.api.register_series_namespace("uri")
class UriSeries(_Functions):
    """The functions of :mod:`uriscan` on a series, with the same keywords."""

    def __init__(self, series: pl.Series) -> None:
        self._series = series

    def _of(self, function: Callable[..., Any], dtype: Any, keywords: dict[str, Any]) -> pl.Series:
        result = dtype or (pl.Binary if self._series.dtype == pl.Binary else pl.String)
        return _made(function, self._series, result, keywords)

    def dedup(self, **keywords: Any) -> Any:
        """:func:`uriscan.dedup`."""
        return uriscan.dedup(_text(self._series), **keywords)

    def clusters(self, **keywords: Any) -> pl.Series:
        """:func:`uriscan.clusters`, a row for each group."""
        return uriscan.clusters(_text(self._series), **keywords)

    def census(self, **keywords: Any) -> dict[str, Any]:
        """:func:`uriscan.census`."""
        return uriscan.census(_text(self._series), **keywords)


class _Frames:
    """What is done with the rows of a frame."""

    def __init__(self, frame: Any) -> None:
        self._frame = frame

    def dedup(self, column: str, *, keep: Keep = "first", **keywords: Any) -> Any:
        """One row of every group of values in ``column``, in order; rows without one are dropped. ``keep`` says which, as
        in :func:`uriscan.dedup`."""
        uri = Uri(pl.col(column))
        if keep == "first":
            return self._frame.filter(uri.is_first(**keywords))
        return self._frame.filter(uri.groups(keep=keep, **keywords) == pl.int_range(pl.len()))


pl.api.register_dataframe_namespace("uri")(type("UriFrame", (_Frames,), {"__doc__": "Rows by their URIs."}))
pl.api.register_lazyframe_namespace("uri")(type("UriLazyFrame", (_Frames,), {"__doc__": "Rows by their URIs."}))
