"""Deduplication of DataFrames. Of Parquet files keys and places are moved, not rows; of all else each row once, by its key."""

from __future__ import annotations

import re
from typing import Any, Iterator, Sequence, Tuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql import types as T

from .._pieces import SetPieces, is_in
from .._keys import alone, apart, keyed, keyed_places, one_thread, whole
from .._places import PAGE_BITS, Counter, Kept, packed, write

KEEPS = ("first", "last", "min", "max")

MOST_PAGES = 1 << 30
"""Bytes of pages that every executor is sent, enough for some 8 billion rows; of more, rows are moved instead."""


# Types whose values Arrow sorts as Spark does.
_ORDERED_BY_ARROW = (
    T.NumericType, T.BooleanType, T.BinaryType, T.CharType, T.VarcharType, T.DateType, T.TimestampType, T.TimestampNTZType,
    T.TimeType, T.DayTimeIntervalType,
)  # fmt: skip


class TooManyPages(Exception):
    """The places that are kept take more than :data:`MOST_PAGES`."""


class Job:
    """The deduplication of one DataFrame."""

    def __init__(
        self, rows: DataFrame, column: str, keep: str, by: str | None, equivalence: dict[str, Any], others: Sequence[str]
    ) -> None:
        if keep not in KEEPS:
            raise ValueError(f"keep is one of {', '.join(KEEPS)}, not {keep!r}")
        if (by is not None) != (keep in ("min", "max")):
            raise ValueError("by is the column whose least or greatest value keep='min' or keep='max' keeps")
        kind = rows.select(column).schema[0].dataType
        if not isinstance(kind, (T.StringType, T.BinaryType)):
            raise TypeError(f"column {column} is of type {kind.simpleString()}, not string or binary")
        of_by = None if by is None else rows.select(by).schema[0].dataType
        if by is not None and not isinstance(of_by, T.AtomicType):
            raise TypeError(f"the values of column {by} have no order")
        self.rows, self.keep, self.of_by, self.equivalence = rows, keep, of_by, equivalence
        self.by: list[Column] = [] if by is None else [_numbers(F.col(by), of_by)]
        self.by_arrow = of_by is None or _is_ordered_by_arrow(of_by)
        self.url = F.col(column).cast("binary")
        for name in others:
            of_other = rows.select(name).schema[0].dataType
            if not isinstance(of_other, T.AtomicType):
                raise TypeError(f"with_columns: column {name} is of type {of_other.simpleString()}, whose values are not compared")
        # Spark groups null with null, NaN with NaN, and both zeros.
        self.others = {f"with{number}": F.col(name) for number, name in enumerate(others)}
        self.files = _files_of(rows)

    def has_numbers(self) -> bool:
        """Whether the rows are those of Parquet files, each with a number, and all that is needed of them can be moved without the
        rows."""
        # Spark gives no Arrow array of them.
        has_arrow = not isinstance(self.of_by, T.YearMonthIntervalType)
        return self.files is not None and has_arrow and _is_parquet(self.rows, self.files)

    def of_parquet(self, seen: SetPieces | None, scratch: str | None) -> DataFrame:
        """The rows of Parquet files that are kept, in the order in which Spark reads them. One column is read now, and of the
        rows what is asked for whenever they are."""
        names = self.rows.sparkSession.sparkContext.broadcast(self.files)
        equivalence, hash, keep, by_arrow = self.equivalence, _hash_of(seen), self.keep, self.by_arrow

        def keys(batches: Iterator[Any]) -> Iterator[Any]:
            counter = Counter(pa.array(names.value))
            place_of = lambda row: counter.of_rows(row["file"], row["at"])  # noqa: E731
            return keyed_places(batches, equivalence, hash, place_of, keep, by_arrow)

        file, at = F.col("_metadata.file_path"), F.col("_metadata.row_index")
        by = [each.alias("by") for each in self.by]
        read = self.rows.select(self.url.alias("url"), file.alias("file"), at.alias("at"), *by)
        made = "high long, low long, place long"
        if self.of_by is not None:
            made += f", by {self.of_by.simpleString()}"
        kept = self._of_each_key(read.mapInArrow(keys, made), seen, F.col("place"), "place")
        pages = kept.select("place").withColumn("page", F.shiftright("place", PAGE_BITS))
        pages = pages.repartition("page").sortWithinPartitions("page").mapInArrow(packed, "page long, bits binary")
        taken: Any = None
        if scratch is None:
            taken = self.rows.sparkSession.sparkContext.broadcast(_collected(pages))
        else:
            pages.mapInArrow(lambda each: write(each, scratch), "page long").count()

        def is_kept(columns: Iterator[Tuple[pa.Array, pa.Array]]) -> Iterator[pa.Array]:
            counter, kept = Counter(pa.array(names.value)), Kept(scratch or taken.value)
            for file, at in columns:
                yield pa.array(kept.has(counter.of_rows(file, at)))

        return self.rows.where(F.arrow_udf(is_kept, "boolean")(file, at))

    def of_rows(self, seen: SetPieces | None, order: bool) -> DataFrame:
        """The rows that are kept, each moved once; the rows are read whenever those are asked for."""
        equivalence, hash, files, keep = self.equivalence, _hash_of(seen), self.files, self.keep
        # Rows of one group may differ in other columns.
        by_arrow = self.by_arrow and not self.others
        names = None if files is None else self.rows.sparkSession.sparkContext.broadcast(files)

        def identity(columns: Iterator[Tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
            one_thread()
            counter = None if names is None else Counter(pa.array(names.value))
            for url, file, at, *by in columns:
                place = at if counter is None else pa.array(counter.of_blocks(file, at))
                is_record, high, low = keyed(url, equivalence, hash)
                high, low = apart(high, low, place.filter(is_record))
                if by_arrow:
                    is_record, high, low = alone(is_record, high, low, place, keep, *by)
                fields = [_spread(each, is_record) for each in (high, low)]
                yield pa.StructArray.from_arrays([*fields, place], ["high", "low", "place"])

        if files is None:
            of_file, at = F.lit(None).cast("string"), F.monotonically_increasing_id()
        else:
            of_file, at = F.col("_metadata.file_path"), F.col("_metadata.file_block_start")
        # Of a file that several tasks share, each counts the rows of its block, whatever is done with them later.
        identified = F.arrow_udf(identity, "high long, low long, place long").asNondeterministic()
        all_of_it = F.struct(*[F.col(f"`{name}`") for name in self.rows.columns]).alias("row")
        named = identified(self.url, of_file, at, *(self.by if by_arrow else [])).alias("identity")
        by = [each.alias("by") for each in self.by]
        others = [each.alias(name) for name, each in self.others.items()]
        read = self.rows.select(all_of_it, named, *by, *others).where("identity.high is not null")
        read = read.select("row", "identity.*", *(["by"] if by else []), *self.others)
        kept = self._of_each_key(read, seen, F.struct("place", "row"), "first")
        kept = kept.select("first.*")
        if order:
            kept = kept.orderBy("place")
        return kept.select("row.*")

    def _of_each_key(self, read: DataFrame, seen: SetPieces | None, value: Column, name: str) -> DataFrame:
        """Of the rows with the same key the ``value`` of the one that is kept, and the keys, unless they are in ``seen``."""
        keys = ["high", "low", *self.others]
        if seen is not None:
            # Grouped where the pieces are looked into, so that keys are moved once.
            read = read.withColumn("piece", piece_of(seen.bits)).repartition("piece")
            keys = ["piece", *keys]
        # Of several rows with the least value the first.
        backwards = F.negative(F.col("place"))
        best = {
            "first": lambda: F.min_by(value, "place"),
            "last": lambda: F.max_by(value, "place"),
            "min": lambda: F.min_by(value, F.struct(F.col("by").isNull(), "by", "place")),
            "max": lambda: F.max_by(value, F.struct(F.col("by").isNotNull(), "by", backwards)),
        }[self.keep]
        if name == "place" and self.keep in ("first", "last"):
            best = {"first": lambda: F.min("place"), "last": lambda: F.max("place")}[self.keep]
        kept = read.groupBy(*keys).agg(best().alias(name))
        return kept if seen is None else unseen(kept, seen)


def _numbers(values: Column, kind: T.DataType | None) -> Column:
    """The values, with null in place of NaN: the program orders both so, while for Spark NaN is greater than any number."""
    return F.when(~F.isnan(values), values) if isinstance(kind, (T.FloatType, T.DoubleType)) else values


def _is_ordered_by_arrow(kind: T.DataType) -> bool:
    """Whether Arrow sorts values of this type as Spark does: not text with a collation, nor intervals of months, which Spark cannot
    give to Arrow."""
    if isinstance(kind, T.StringType):
        return kind.isUTF8BinaryCollation()
    return isinstance(kind, _ORDERED_BY_ARROW)


def _hash_of(seen: SetPieces | None) -> str:
    return "blake3" if seen is None else seen.hash


def piece_of(bits: int) -> Column:
    """The number of the piece of a key."""
    return F.shiftrightunsigned("high", 64 - bits) if bits else F.lit(0).cast("long")


def unseen(keys: DataFrame, seen: SetPieces) -> DataFrame:
    """The rows with keys that are not in ``seen``, whose pieces are together."""

    def new(halves: Iterator[Tuple[pa.Array, pa.Array, pa.Array]]) -> Iterator[pa.Array]:
        one_thread()
        for piece, high, low in halves:
            yield pc.invert(is_in(seen, piece, whole(high, low)))

    return keys.where(F.arrow_udf(new, "boolean")("piece", "high", "low"))


def _spread(values: pa.Array, mask: pa.Array) -> pa.Array:
    """The values where ``mask`` is true, and null elsewhere."""
    at = pc.subtract(pc.cumulative_sum(mask.cast(pa.int64())), 1)
    return values.take(pc.if_else(mask, at, pa.scalar(None, pa.int64())))


def _collected(pages: DataFrame) -> list[tuple[int, bytes]]:
    """The pages, all of which every task gets."""
    held, size = [], 0
    for row in pages.toLocalIterator():
        held.append((row.page, bytes(row.bits)))
        size += len(held[-1][1]) + 64
        if size > MOST_PAGES:
            raise TooManyPages
    return held


_PLAIN = {"Project", "Filter", "SubqueryAlias", "LogicalRelation"}
"""What may be done to the rows of files so that each is still the row with its number."""


def _files_of(rows: DataFrame) -> list[str] | None:
    """The names of the files that the rows are read from, in order; ``None`` if each row is not one of a file."""
    try:
        plan = rows._jdf.queryExecution().analyzed()
    except (AttributeError, NotImplementedError):
        # A session on another machine.
        return None
    while True:
        if plan.getClass().getSimpleName() not in _PLAIN or not plan.deterministic():
            return None
        children = plan.children()
        if children.size() == 0:
            break
        plan = children.apply(0)
    names = rows.inputFiles()
    # As in `_metadata.file_path`.
    return sorted(re.sub(r"^(\w+):///(?=[^/])", r"\1:/", name) for name in names) or None


def _is_parquet(rows: DataFrame, files: list[str]) -> bool:
    """Whether all of the rows, which are those of ``files``, have numbers, each its own."""
    plan = rows._jdf.queryExecution().analyzed()
    while plan.children().size():
        plan = plan.children().apply(0)
    relation = plan.relation()
    if relation.fileFormat().getClass().getSimpleName() != "ParquetFileFormat":
        return False
    # A file that several of the given paths lead to is read as often.
    read = relation.location().inputFiles()
    return len(read) <= len(files) or len(set(read)) == len(read)

