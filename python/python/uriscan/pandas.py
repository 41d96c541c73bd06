"""For pandas: importing this module gives series the accessor ``uri``, and frames too.

>>> import pandas as pd
>>> import uriscan.pandas
>>> frame = pd.DataFrame({"url": ["HTTP://h", "http://h/", "no URI"]})
>>> frame["url"].uri.normalize().tolist()
['http://h/', 'http://h/', 'no URI']
>>> frame.uri.dedup("url").index.tolist()
[0, 2]
"""

from __future__ import annotations

from typing import Any

import pandas as pd

import uriscan
from uriscan._classes import Keep


@pd.api.extensions.register_series_accessor("uri")
class UriSeries:
    """The functions of :mod:`uriscan` on a series, with the same keywords. Answers keep its index and its name."""

    def __init__(self, series: pd.Series) -> None:
        self._series = series

    def normalize(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.normalize`."""
        return uriscan.normalize(self._series, **keywords)

    def surt(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.surt`."""
        return uriscan.surt(self._series, **keywords)

    def key(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.key`."""
        return uriscan.key(self._series, **keywords)

    def parse(self, **keywords: Any) -> pd.DataFrame:
        """:func:`uriscan.parse`, as a frame with a column for each component."""
        parts = uriscan.parse(self._series, **keywords)
        array = parts.array.__arrow_array__().combine_chunks()
        columns = zip(array.type, array.flatten())
        made = {field.name: pd.arrays.ArrowExtensionArray(values) for field, values in columns}
        return pd.DataFrame(made, index=self._series.index)

    def resolve(self, base: Any, **keywords: Any) -> pd.Series:
        """:func:`uriscan.resolve`."""
        return uriscan.resolve(self._series, base, **keywords)

    def check(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.check`."""
        return uriscan.check(self._series, **keywords)

    def is_valid(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.is_valid`."""
        return uriscan.is_valid(self._series, **keywords)

    def extract(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.extract`."""
        return uriscan.extract(self._series, **keywords)

    def part(self, name: str, **keywords: Any) -> pd.Series:
        """:func:`uriscan.part`."""
        return uriscan.part(self._series, name, **keywords)

    def params(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.params`."""
        return uriscan.params(self._series, **keywords)

    def audit(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.audit`."""
        return uriscan.audit(self._series, **keywords)

    def changes(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.changes`."""
        return uriscan.changes(self._series, **keywords)

    def groups(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.groups`: positions of rows, not labels."""
        return uriscan.groups(self._series, **keywords)

    def clusters(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.clusters`, a row for each group."""
        return uriscan.clusters(self._series, **keywords)

    def census(self, **keywords: Any) -> dict[str, Any]:
        """:func:`uriscan.census`."""
        return uriscan.census(self._series, **keywords)

    def is_first(self, **keywords: Any) -> pd.Series:
        """:func:`uriscan.is_first`."""
        return uriscan.is_first(self._series, **keywords)

    def dedup(self, **keywords: Any) -> Any:
        """:func:`uriscan.dedup`."""
        return uriscan.dedup(self._series, **keywords)


@pd.api.extensions.register_dataframe_accessor("uri")
class UriFrame:
    """Rows by their URIs."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def dedup(self, column: str, *, keep: Keep = "first", **keywords: Any) -> pd.DataFrame:
        """One row of every group of values in ``column``, in order; rows without one are dropped. ``keep`` says which, as
        in :func:`uriscan.dedup`."""
        survivors = uriscan.groups(self._frame[column], keep=keep, **keywords).to_numpy(dtype=float, na_value=float("nan"))
        return self._frame[survivors == range(len(survivors))]
