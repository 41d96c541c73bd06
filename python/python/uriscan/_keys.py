"""Keys of 16 bytes as two numbers of 64 bits, by which engines group and move rows at less cost than by bytes."""

from __future__ import annotations

import hashlib
import struct
from typing import Any, Callable, Iterator, Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import uriscan


HELD = 16 << 20
"""Bytes of the rows in which a task looks for those with the same key before they are moved."""


def one_thread() -> None:
    """Engines run a task for every core: the wheel needs no more threads than that."""
    if uriscan.threads() != 1:
        uriscan.set_threads(1)


def halves(keys: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The upper and the lower half of each of the keys, none of which is missing."""
    raw = np.frombuffer(keys.buffers()[1], dtype=">i8", count=2 * (len(keys) + keys.offset))
    words = raw.reshape(-1, 2)[keys.offset :].astype(np.int64)
    return pa.array(words[:, 0]), pa.array(words[:, 1])


def whole(high: pa.Array, low: pa.Array) -> pa.Array:
    """The keys of which these are the halves."""
    words = np.stack([np.asarray(high), np.asarray(low)], axis=1).astype(">i8")
    return pa.Array.from_buffers(pa.binary(16), len(words), [None, pa.py_buffer(words.tobytes())])


def keyed(urls: pa.Array, equivalence: dict[str, Any], hash: Any) -> tuple[pa.Array, pa.Array, pa.Array]:
    """Which values are records, as a mask, and the halves of their keys: what is null, blank or refused is none."""
    keys = uriscan.key(urls, hash=hash, **equivalence)
    # At the lowest level the form of a record is the record, without the white space around it.
    text = uriscan.normalize(urls, level="string")
    is_record = pc.fill_null(pc.and_(pc.greater(pc.binary_length(text), 0), keys.is_valid()), False)
    return is_record, *halves(keys.filter(is_record))


def apart(high: pa.Array, low: pa.Array, places: pa.Array) -> tuple[pa.Array, pa.Array]:
    """The halves of the keys of records at these places, with a key of its own for each value over 64 MiB, as the program has it: all
    of them have zeros, and one would represent the others. It is made of the place, so that it is the same when a task is tried again
    whose places are the same: always of files, of all else if the rows come in the same order."""
    is_long = np.flatnonzero((np.asarray(high) == 0) & (np.asarray(low) == 0))
    if not len(is_long):
        return high, low
    words = np.stack([np.asarray(high), np.asarray(low)])
    for row in is_long:
        place = struct.pack(">q", places[int(row)].as_py())
        words[:, row] = struct.unpack(">qq", hashlib.blake2b(place, digest_size=16, person=b"uriscan long").digest())
    return pa.array(words[0]), pa.array(words[1])


def comparable(values: Any) -> Any:
    """The same values of a column, of which those are equal in Arrow's groups that are to the program: all NaN, and both zeros."""
    if pa.types.is_nested(values.type):
        raise TypeError(f"values of the type {values.type} are not compared; a column of text, bytes, numbers, dates or times is")
    if pa.types.is_dictionary(values.type):
        values = values.cast(values.type.value_type)
    if pa.types.is_float16(values.type):
        values = values.cast(pa.float32())
    if pa.types.is_floating(values.type):
        return pc.if_else(pc.is_nan(values), pa.scalar(float("nan"), values.type), pc.add(values, pa.scalar(0.0, values.type)))
    views = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}
    return values.cast(views[values.type]) if values.type in views else values


def keyed_places(
    batches: Iterator[Any],
    equivalence: dict[str, Any],
    hash: Any,
    place_of: Callable[[Any], Any],
    keep: str,
    by_arrow: bool = True,
    others: Sequence[str] = (),
) -> Iterator[pa.RecordBatch]:
    """Key and place of the records of a task, with the column ``by`` if that decides which is kept, and the columns ``others``, which are
    part of the key: of those with the same key, as long as they fit into :data:`HELD`, the one that is kept; or all of them if the
    order of ``by`` is not Arrow's."""
    one_thread()
    held: list[pa.Table] = []
    size = 0
    for batch in batches:
        places = pa.array(place_of(batch))
        is_record, high, low = keyed(batch["url"], equivalence, hash)
        places = places.filter(is_record)
        high, low = apart(high, low, places)
        columns = {"high": high, "low": low, "place": places}
        if keep in ("min", "max"):
            columns["by"] = batch["by"].filter(is_record)
        columns.update((name, comparable(batch[name]).filter(is_record)) for name in others)
        rows = pa.table(columns)
        if not by_arrow:
            yield from rows.to_batches()
            continue
        held.append(best(rows, keep))
        # A table of few rows takes more than they do.
        size += max(held[-1].nbytes, 4096)
        if size > HELD:
            rows = best(pa.concat_tables(held), keep)
            # Rows of which most remain would be compared again and again for little.
            held = [rows] if rows.nbytes < HELD // 2 else []
            size = sum(rows.nbytes for rows in held)
            if not held:
                yield from rows.combine_chunks().to_batches()
    if held:
        rows = held[0] if len(held) == 1 else best(pa.concat_tables(held), keep)
        yield from rows.combine_chunks().to_batches()


def best(rows: pa.Table, keep: str) -> pa.Table:
    """Of rows of halves and place with the same key, in all columns but these two, the first or the last; or the one whose ``by``, which
    has no NaN, is least or greatest, of several such the first."""
    keys = [name for name in rows.column_names if name not in ("place", "by")]
    if keep in ("first", "last"):
        kept = rows.group_by(keys).aggregate([("place", {"first": "min", "last": "max"}[keep])])
        return kept.rename_columns([*keys, "place"])
    order = _order(rows, keep)
    ranks = np.empty_like(order)
    ranks[order] = np.arange(len(order))
    ranked = rows.select(keys).append_column("rank", pa.array(ranks))
    kept = ranked.group_by(keys).aggregate([("rank", "min")])
    return rows.take(order[kept["rank_min"].to_numpy()])


def _order(rows: pa.Table, keep: str) -> np.ndarray:
    """The numbers of rows, from the one to keep of all: null is last, which is what Arrow does."""
    keys = [("by", {"min": "ascending", "max": "descending"}[keep]), ("place", "ascending")]
    return np.asarray(pc.sort_indices(rows, sort_keys=keys)).astype(np.int64)


def alone(
    is_record: pa.Array, high: pa.Array, low: pa.Array, places: pa.Array, keep: str, by: pa.Array | None = None
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """The mask of records and the halves of their keys, as :func:`keyed` gives them, without records that cannot be kept: of those
    with the same key the best one alone remains, so that a large group is not moved to one machine."""
    of_records = places.filter(is_record)
    columns = {"high": high, "low": low, "place": of_records}
    if by is not None:
        columns["by"] = by.filter(is_record)
    kept = best(pa.table(columns), keep)["place"]
    is_kept = pc.is_in(of_records, value_set=kept.combine_chunks())
    return pc.is_in(places, value_set=of_records.filter(is_kept)), high.filter(is_kept), low.filter(is_kept)


def distinct(high: pa.Array, low: pa.Array) -> list[pa.RecordBatch]:
    """Batches of the keys of which these are the halves, each once."""
    return pa.table({"high": high, "low": low}).group_by(["high", "low"]).aggregate([]).combine_chunks().to_batches()
