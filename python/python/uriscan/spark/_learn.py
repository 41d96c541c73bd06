"""Rules that data prove, learned on all machines."""

from __future__ import annotations

import os
from typing import Iterator, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from .._keys import one_thread
from .._learn import Learned, Learning


def learn(
    rows: DataFrame,
    url: str,
    same: str | None = None,
    *,
    canonical: str | None = None,
    redirect: str | None = None,
    precision: float = 0.95,
    confidence: float = 0.95,
    min_pages: int = 20,
    date: str | None = None,
    max_memory: int | str = "1G",
    temp_dir: str | os.PathLike[str] | None = None,
    name: str | Sequence[str] = "columns",
) -> Learned:
    """Rules for the sites of a column of URLs; ``same``, ``canonical`` and ``redirect`` name the columns with the evidence. See
    :func:`uriscan.learn`, which makes the same file of the same rows with the same ``max_memory``.

    Each row is moved once, so that all rows of a site, which makes rules for itself only, are in one task. That holds an eighth of
    ``max_memory`` in memory, and spills more than that to ``temp_dir`` of its machine; of a site that exceeds this alone, pages
    are sampled, and the file says so. The driver gets the parts of the file.
    """
    learning = Learning(precision, confidence, min_pages, date, max_memory, temp_dir)
    kind = rows.select(url).schema[0].dataType
    if not isinstance(kind, (T.StringType, T.BinaryType)):
        raise TypeError(f"column {url} is of type {kind.simpleString()}, not string or binary")

    def site(urls: pa.Array) -> pa.Array:
        one_thread()
        return pa.array(learning.sites(urls)).cast(pa.binary())

    def part(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        one_thread()
        has_rows = False
        for batch in batches:
            has_rows |= batch.num_rows > 0
            others = iter(batch.columns[1:])
            learning.add(batch.column(0), [None if column is None else next(others) for column in evidence])
        if has_rows:
            yield pa.record_batch([pa.array([learning.finish()], pa.binary())], ["part"])

    evidence = (same, canonical, redirect)
    columns = [F.col(column) for column in (url, *evidence) if column is not None]
    named = [column.alias(f"c{number}") for number, column in enumerate(columns)]
    # What has no site is a row to count, wherever it is.
    where = F.coalesce(F.arrow_udf(site, "binary")(F.col("c0")), F.col("c0").cast("binary"))
    moved = rows.select(*named).where("c0 is not null").withColumn("site", where).repartition("site").drop("site")
    parts = [bytes(row.part) for row in moved.mapInArrow(part, "part binary").collect()]
    return learning.together(parts, [name] if isinstance(name, str) else list(name))
