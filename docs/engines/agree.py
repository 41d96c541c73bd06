"""What the engines have to agree on: which rows are kept, and their keys."""

import json
from typing import Any

import blake3
import pyarrow as pa
import pyarrow.compute as pc


def report(engine: str, ids: Any, keys: Any, seconds: float) -> None:
    """Prints, as a line of JSON, how many rows an engine kept, a BLAKE3 of their sorted ids and one of their sorted keys.

    Args:
        engine: its name.
        ids: the column `id` of the rows that were kept, of pyarrow, in any order.
        keys: their keys of 16 bytes, in any order.
        seconds: how long it took.
    """
    ids, keys = whole(ids).cast(pa.int64()), whole(keys).cast(pa.binary(16))
    ids, keys = ids.take(pc.sort_indices(ids)), keys.take(pc.sort_indices(keys))
    found = {"engine": engine, "rows": len(ids), "ids": digest(ids, 8), "keys": digest(keys, 16), "seconds": round(seconds, 3)}
    print(json.dumps(found), flush=True)


def whole(values: Any) -> pa.Array:
    """One array in place of chunks."""
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def digest(values: pa.Array, width: int) -> str:
    """The BLAKE3, as 16 digits, of values that are `width` bytes wide and none of which is null."""
    assert values.null_count == 0, "a null"
    start = values.offset * width
    return blake3.blake3(memoryview(values.buffers()[1])[start : start + len(values) * width]).hexdigest()[:16]
