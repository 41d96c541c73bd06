"""Adding keys to a set in pieces."""

from __future__ import annotations

from typing import Any, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from .._options import Equivalence, OnInvalid, Unpack
from .._options import form as _form
from .._pieces import SetPieces, is_in
from .._set import Adding, Set
from ._dedup import piece_of
from .._keys import distinct, keyed, one_thread, whole

_MEMORY = 32 << 20
"""Bytes of memory for the new keys of a piece; more are sorted on disk."""


def add(
    rows: DataFrame,
    column: str,
    seen: str | SetPieces,
    *,
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> int:
    """Adds the keys of a column to ``seen``, a directory of :class:`uriscan.SetPieces` which all machines see, a URI of one in object
    storage, or one that is open; gives the number of those that were not in it.

    All are added in one step, at the end: a job that fails adds nothing, and what is done twice, by tasks that are tried
    again, is added once. One job at a time adds to a set; others read it as it was when they began.
    """
    keywords: dict[str, Any] = {"on_invalid": on_invalid, **equivalence}
    _form(**keywords)
    pieces = SetPieces._of(seen, keywords)
    hash = pieces.hash

    def keys(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        one_thread()
        for batch in batches:
            _, high, low = keyed(batch["url"], keywords, hash)
            # Of a large group not all rows are moved to one machine.
            yield from distinct(high, low)

    with pieces.adding() as run:

        def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            one_thread()
            made: dict[int, Set] = {}
            adding: dict[int, Adding] = {}
            for batch in batches:
                of_batch = whole(batch["high"], batch["low"])
                is_new = pc.invert(is_in(run.pieces, batch["piece"], of_batch))
                of_batch, numbers = of_batch.filter(is_new), batch["piece"].filter(is_new)
                for number in pc.unique(numbers).to_pylist():
                    if number not in made:
                        made[number] = run.create(number)
                        adding[number] = made[number].adding(memory=_MEMORY)
                    adding[number].add_keys(of_batch.filter(pc.equal(numbers, number)))
            for more in adding.values():
                with more:
                    pass
            rows = [(number, run.put(part), len(part)) for number, part in made.items()]
            schema = pa.schema([("piece", pa.int64()), ("name", pa.string()), ("keys", pa.int64())])
            yield pa.RecordBatch.from_pylist([dict(zip(schema.names, row)) for row in rows], schema)

        read = rows.select(F.col(column).cast("binary").alias("url")).mapInArrow(keys, "high long, low long")
        read = read.withColumn("piece", piece_of(pieces.bits)).repartition("piece")
        made = read.dropDuplicates(["piece", "high", "low"]).mapInArrow(write, "piece long, name string, keys long").collect()
        for part in made:
            run.take(part.piece, part.name)
    return sum(part.keys for part in made)
