"""URIs in Spark: functions on DataFrames.

Every executor needs ``pip install uriscan pyarrow``; PySpark is 4.1 or newer. The keywords are those of
:class:`uriscan.Deduplicator`, and results are those of the program on one machine.

    import uriscan.spark as uris

    pages = spark.read.parquet("s3a://crawl/pages/")
    uris.normalize(pages, "url", into="form")
    uris.dedup(pages, "url").write.parquet("s3a://crawl/distinct/")
    uris.learn(pages, "url", same="digest").save("site-rules.toml")
"""

from __future__ import annotations

import os
import re
from typing import Any, Literal, Sequence

try:
    import pyspark  # noqa: F401
except ImportError as error:
    raise ImportError("uriscan.spark needs PySpark: pip install pyspark pyarrow") from error

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

import uriscan

from .._options import Equivalence, KeyHash, OnInvalid, Unpack, names
from .._options import form as _form
from .._pieces import SetPieces
from .._keys import one_thread
from ._dedup import Job, TooManyPages
from ._learn import learn
from ._seen import add

__all__ = ["add", "dedup", "extract", "key", "learn", "normalize"]


def normalize(
    rows: DataFrame,
    column: str,
    *,
    into: str | None = None,
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> DataFrame:
    """``rows`` with the canonical form of a column, in its place or as the column ``into``, which ``rows`` must not have; see
    :func:`uriscan.normalize`."""
    keywords = _checked(on_invalid=on_invalid, **equivalence)
    kind = rows.select(column).schema[0].dataType.simpleString()

    def form(urls: pa.Array) -> pa.Array:
        one_thread()
        return uriscan.normalize(urls, **keywords)

    made = F.arrow_udf(form, kind)(F.col(column))
    return _replaced(rows, column, made) if into is None else _added(rows, into, made)


def key(
    rows: DataFrame,
    column: str,
    *,
    into: str = "uri_key",
    hash: KeyHash = "blake3",
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> DataFrame:
    """``rows`` with the public key of a column, 16 bytes, as the column ``into``, which ``rows`` must not have; see
    :func:`uriscan.key`."""
    keywords = _checked(on_invalid=on_invalid, **equivalence)

    def of(urls: pa.Array) -> pa.Array:
        one_thread()
        return uriscan.key(urls, hash=hash, **keywords).cast(pa.binary())

    return _added(rows, into, F.arrow_udf(of, "binary")(F.col(column)))


def extract(rows: DataFrame, column: str, *, into: str = "link", **options: Any) -> DataFrame:
    """A row for every link in the documents of a column, with the link as the column ``into``, which ``rows`` must not have;
    the ``options`` are those of :func:`uriscan.extract`."""
    uriscan.extract([], **options)

    def links(texts: pa.Array) -> pa.Array:
        one_thread()
        return uriscan.extract(texts, **options).cast(pa.list_(pa.string()))

    return _added(rows, into, F.explode(F.arrow_udf(links, "array<string>")(F.col(column))))


def dedup(
    rows: DataFrame,
    column: str,
    *,
    keep: Literal["first", "last", "min", "max"] = "first",
    by: str | None = None,
    with_columns: Sequence[str] = (),
    seen: str | SetPieces | None = None,
    order: bool = False,
    scratch: str | None = None,
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> DataFrame:
    """The row of every group of equal values in ``column`` that is kept, with all columns; rows without a value are dropped.

    ``keep`` says which: the ``"first"`` or the ``"last"`` one of the input, or the one with the ``"min"`` or the ``"max"``
    value in the column ``by``, null and NaN being last. The order of the input is that of the names of
    its files and of the rows in them; of what is not read from files, that of Spark's partitions. With ``order`` the result is
    sorted so: it is then what the program writes.

    ``with_columns`` are other columns whose values must be equal, too, for rows to be of one group: null is equal to null, NaN to
    NaN, and -0.0 to 0.0. There is no set of keys of such rows, so that ``seen`` is refused, and each row is moved once.

    ``seen`` is a directory of :class:`uriscan.SetPieces` which all machines see, a URI of one in object storage, or one that is
    open; what is in it is dropped. It does not change: when the result is written, :func:`add` adds its keys.

    Of Parquet files, read and filtered, only keys and places are moved, 24 bytes a row: the column is read once, now, and the
    rows are read when the result is, where each task keeps its own. Their files must not change meanwhile. Which rows are kept
    takes a bit or less a row, which every executor is sent, or, for more than some billion rows, reads from ``scratch``: a
    directory that all machines see, which is made, and can be removed once the result is written. Of all else, and with
    ``order``, each row is moved once.
    """
    keywords = _checked(on_invalid=on_invalid, **equivalence)
    others = names("with_columns", with_columns)
    if others and seen is not None:
        raise ValueError("seen: the keys in a set are those of values alone: omit with_columns, or the set")
    pieces = None if seen is None else SetPieces._of(seen, keywords)
    job = Job(rows, column, keep, by, keywords, others)
    if not order and not others and job.has_numbers():
        try:
            if scratch is not None:
                os.mkdir(scratch)
            return job.of_parquet(pieces, scratch and os.path.abspath(scratch))
        except TooManyPages:
            pass
    return job.of_rows(pieces, order)


def _added(rows: DataFrame, into: str, made: Column) -> DataFrame:
    """``rows`` with ``made`` as the column ``into``, which Spark would replace if it were there already."""
    is_exact = rows.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    for name in rows.columns:
        if name == into or not is_exact and name.lower() == into.lower():
            raise ValueError(f"a column {name} already exists; into= gives the new one another name")
    return rows.select("*", made.alias(into))


def _replaced(rows: DataFrame, column: str, made: Column) -> DataFrame:
    """``rows`` with ``made`` in the place of a column, or of a field of structs, that is named as Spark does: with back-quotes
    around a name that has dots."""
    parts = re.findall(r"`(?:[^`]|``)*`|[^.`]+", column)
    name = parts[0][1:-1].replace("``", "`") if parts[0].startswith("`") else parts[0]
    if len(parts) > 1:
        made = F.col(parts[0]).withField(".".join(parts[1:]), made)
    return rows.withColumn(name, made)


def _checked(**keywords: Any) -> dict[str, Any]:
    """``keywords``, if they are right: here, not in a task."""
    _form(**keywords)
    return keywords
