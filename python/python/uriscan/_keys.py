"""Keys of 16 bytes as two numbers of 64 bits, by which engines group and move rows at less cost than by bytes."""

from __future__ import annotations

from typing import Any, Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import uriscan


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
    # At the lowest rung the form of a record is the record, without the white space around it.
    text = uriscan.normalize(urls, rung="string")
    is_record = pc.fill_null(pc.and_(pc.greater(pc.binary_length(text), 0), keys.is_valid()), False)
    return is_record, *halves(keys.filter(is_record))


def keyed_places(
    batches: Iterator[Any], equivalence: dict[str, Any], hash: Any, place_of: Callable[[Any], Any], keep: str
) -> Iterator[pa.RecordBatch]:
    """Key and place of the records of a task: of those with the same key in a batch, the first or the last alone; all of them,
    with the column ``by``, where that decides which is kept."""
    one_thread()
    for batch in batches:
        places = pa.array(place_of(batch))
        is_record, high, low = keyed(batch["url"], equivalence, hash)
        columns = {"high": high, "low": low, "place": places.filter(is_record)}
        if keep in ("min", "max"):
            yield pa.RecordBatch.from_pydict({**columns, "by": batch["by"].filter(is_record)})
        else:
            yield from best(pa.table(columns), keep).combine_chunks().to_batches()


def best(rows: pa.Table, keep: str) -> pa.Table:
    """Of rows of halves and place with the same key the first or the last."""
    kept = rows.group_by(["high", "low"]).aggregate([("place", {"first": "min", "last": "max"}[keep])])
    return kept.rename_columns(["high", "low", "place"])


def alone(
    is_record: pa.Array, high: pa.Array, low: pa.Array, places: pa.Array, keep: str
) -> tuple[pa.Array, pa.Array, pa.Array]:
    """The mask of records and the halves of their keys, as :func:`keyed` gives them, without records that cannot be kept: of those
    with the same key the first or the last alone remains, so that a large class is not moved to one machine."""
    of_records = places.filter(is_record)
    kept = best(pa.table({"high": high, "low": low, "place": of_records}), keep)["place"]
    is_kept = pc.is_in(of_records, value_set=kept.combine_chunks())
    return pc.is_in(places, value_set=of_records.filter(is_kept)), high.filter(is_kept), low.filter(is_kept)


def distinct(high: pa.Array, low: pa.Array) -> list[pa.RecordBatch]:
    """Batches of the keys of which these are the halves, each once."""
    return pa.table({"high": high, "low": low}).group_by(["high", "low"]).aggregate([]).combine_chunks().to_batches()
