"""Deduplicate URIs on a Ray cluster: the first of every class, as `uriscan dedup` keeps it on one machine.

    python ray_dedup.py --output kept frontier-*.txt
    python ray_dedup.py --column url --output kept pages-*.parquet

Every machine needs `pip install uriscan "ray[data]"` and sees the files under the same paths. Ray moves the rows, this
package tells which of them are one:

1. the input is cut into pieces: some megabytes of a text, or a row group of a Parquet file;
2. `map_batches` reads the pieces, leaves out blank rows and those that another one of the piece stands before, and adds
   to every other row its canonical form, its key, and its place, a number that rises from row to row of the input;
3. rows go to parts by the first byte of their keys, and of those with the same key the one of the least place is kept;
4. what is kept is written as Parquet with the columns `url`, `form`, `key` and `place`. Sorted by `place` it is what the
   program writes.
"""

from __future__ import annotations

import argparse
import os
import sys
from typing import Any, Callable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import ray.data

import uriscan

PIECE_BYTES = 16 << 20
"""Bytes of a text that one task reads at a time."""

PARTS = 64
"""Parts in which rows with equal keys are brought together, 256 at the most; each has to fit into the memory of a task."""

FILE_BITS = 40
"""A place is the number of a file, and in this many bits below it the byte or the row in it."""


def pieces(paths: list[str], column: str | None, piece_bytes: int = PIECE_BYTES) -> Iterator[dict[str, Any]]:
    """What a task reads at a time: bytes of a text, or a row group of Parquet and the number of its first row."""
    for number, path in enumerate(paths):
        if column is None:
            size = os.path.getsize(path)
            for start in range(0, size, piece_bytes):
                yield {"file": number, "path": path, "start": start, "end": min(start + piece_bytes, size), "group": -1}
        else:
            metadata, start = pq.ParquetFile(path).metadata, 0
            for group in range(metadata.num_row_groups):
                end = start + metadata.row_group(group).num_rows
                yield {"file": number, "path": path, "start": start, "end": end, "group": group}
                start = end


def lines(path: str, start: int, end: int) -> tuple[pa.Array, np.ndarray]:
    """The lines that begin in these bytes of a file, and where they begin."""
    with open(path, "rb") as file:
        # A line that begins before them is another task's.
        file.seek(max(start - 1, 0))
        if start:
            file.readline()
        begin = file.tell()
        text = file.read(max(end - begin, 0))
        if text and not text.endswith(b"\n"):
            text += file.readline()
    rows = text.split(b"\n")
    if not rows[-1]:
        rows.pop()
    lengths = np.fromiter((len(row) + 1 for row in rows), np.int64, len(rows))
    places = begin + np.cumsum(lengths) - lengths
    if begin == 0 and rows and rows[0].startswith(b"\xef\xbb\xbf"):
        rows[0] = rows[0][3:]
    return pa.array(rows, pa.large_binary()), places


def rows_of(piece: dict[str, Any], column: str | None) -> tuple[pa.Array, np.ndarray]:
    """The values of a piece and their places in the file."""
    if column is None:
        return lines(piece["path"], piece["start"], piece["end"])
    table = pq.ParquetFile(piece["path"]).read_row_group(piece["group"], columns=[column])
    urls = table[column].combine_chunks().cast(pa.large_binary())
    return urls, np.arange(piece["start"], piece["end"])


def keyed(column: str | None, equivalence: dict[str, Any], count: int) -> Callable[[pa.Table], Iterator[pa.Table]]:
    """What makes of pieces the rows that are the first of their class in the piece, for `count` parts."""

    def read(batch: pa.Table) -> Iterator[pa.Table]:
        # Ray runs a task for every core.
        if uriscan.threads() != 1:
            uriscan.set_threads(1)
        for piece in batch.to_pylist():
            urls, places = rows_of(piece, column)
            # Null, which is left out, for what is blank.
            first = uriscan.is_first(urls, **equivalence)
            # At the lowest rung the form of a record is the record, without the white space around it.
            urls = uriscan.normalize(urls.filter(first), rung="string")
            keys = uriscan.key(urls, **equivalence).cast(pa.binary())
            places = pa.array(places + (piece["file"] << FILE_BITS)).filter(first)
            parts = pa.array([key[0] % count for key in keys.to_pylist()], pa.int64())
            forms = uriscan.normalize(urls, **equivalence)
            yield pa.table({"url": urls, "form": forms, "key": keys, "place": places, "part": parts})

    return read


def firsts(part: pa.Table) -> pa.Table:
    """Of the rows of a part, the one of the least place for every key."""
    least = part.group_by("key").aggregate([("place", "min")])["place_min"]
    return part.filter(pc.is_in(part["place"], value_set=least)).drop_columns(["part"])


def dedup(
    paths: list[str],
    column: str | None = None,
    equivalence: dict[str, Any] | None = None,
    piece_bytes: int = PIECE_BYTES,
    parts: int = PARTS,
) -> ray.data.Dataset:
    """The first rows of all classes; `column` is that of Parquet files, and without it lines are read."""
    found = list(pieces(paths, column, piece_bytes))
    rows = ray.data.from_items(found, override_num_blocks=max(len(found), 1))
    rows = rows.map_batches(keyed(column, equivalence or {}, parts), batch_format="pyarrow", batch_size=1)
    return rows.groupby("part", num_partitions=parts).map_groups(firsts, batch_format="pyarrow")


def arguments(given: list[str]) -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description="Deduplicate URIs on a Ray cluster.")
    parser.add_argument("inputs", nargs="+", help="files")
    parser.add_argument("--output", required=True, help="where to write")
    parser.add_argument("--column", help="the files are Parquet, and this column has the URIs")
    parser.add_argument("--parts", type=int, default=PARTS, help="how finely the work is cut, 1 to 256 (default: %(default)s)")
    parser.add_argument("--rung", choices=["string", "syntax", "scheme"], default="scheme")
    parser.add_argument("--preset", help="rules beyond the RFC")
    parser.add_argument("--ignore-fragment", action="store_true")
    return parser.parse_args(given)


def main(given: list[str]) -> None:
    """Does what was typed."""
    typed = arguments(given)
    equivalence = {"rung": typed.rung, "preset": typed.preset, "drop_fragment": typed.ignore_fragment}
    dedup(typed.inputs, typed.column, equivalence, parts=typed.parts).sort("place").write_parquet(typed.output)


if __name__ == "__main__":
    main(sys.argv[1:])
