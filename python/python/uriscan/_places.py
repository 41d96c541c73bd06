"""Places of rows, as numbers that rise from row to row of the input, and which of them are kept.

A place has the number of the file in its upper bits, and below it the number of the row in the file or, where that is not
known, the byte at which the block begins that a task reads, and the number of the row in the block: a row takes a byte at
least, so it is below the first one of the next block.
"""

from __future__ import annotations

import os
from typing import Any, Iterable, Iterator

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

FILE_BITS = 40
"""Bits of a place below those of the file's number."""

PAGE_BITS = 20
"""Places whose upper bits are the same are kept in a page, which has this many bits."""


class Counter:
    """Gives places to the rows of a task, which come in the order of their blocks."""

    def __init__(self, names: pa.Array) -> None:
        self.names = names
        self._block: tuple[int, int] | None = None
        self._row = 0

    def of_rows(self, file: pa.Array, row: pa.Array) -> np.ndarray:
        """The places of rows whose numbers in their files are known."""
        return (self._files(file) << FILE_BITS) | _numbers(row)

    def of_blocks(self, file: pa.Array, start: pa.Array) -> np.ndarray:
        """The places of the next rows, from the byte at which the block of each begins."""
        files, starts = self._files(file), _numbers(start)
        if not len(files):
            return files
        begins = np.flatnonzero((files[1:] != files[:-1]) | (starts[1:] != starts[:-1])) + 1
        begins = np.concatenate([[0], begins])
        lengths = np.diff(np.append(begins, len(files)))
        rows = np.arange(len(files)) - np.repeat(begins, lengths)
        if (int(files[0]), int(starts[0])) == self._block:
            rows[: lengths[0]] += self._row
        self._block = (int(files[-1]), int(starts[-1]))
        self._row = int(rows[-1]) + 1
        return (files << FILE_BITS) | (starts + rows)

    def _files(self, file: pa.Array) -> np.ndarray:
        found = pc.index_in(file, value_set=self.names)
        if found.null_count:
            name = file.filter(found.is_null())[0].as_py()
            raise ValueError(f"{name} is not among the files that were there when the rows were read first")
        return _numbers(found.cast(pa.int64()))


def _numbers(column: pa.Array) -> np.ndarray:
    return column.to_numpy(zero_copy_only=False).astype(np.int64, copy=False)


def page(places: Any) -> bytes:
    """A page: the bits of these places, compressed."""
    bits = np.zeros(1 << PAGE_BITS, dtype=bool)
    bits[np.asarray(places) & ((1 << PAGE_BITS) - 1)] = True
    return pa.compress(np.packbits(bits).tobytes(), codec="zstd", asbytes=True)


class Kept:
    """The places that are kept, in pages: in memory, or in files of a directory."""

    def __init__(self, pages: Iterable[tuple[int, bytes]] | str) -> None:
        self._directory = pages if isinstance(pages, str) else None
        self._pages = {} if isinstance(pages, str) else dict(pages)
        self._open: tuple[int, np.ndarray] | None = None

    def has(self, places: np.ndarray) -> np.ndarray:
        """Whether each place, in rising order for the most part, is kept."""
        found = np.zeros(len(places), dtype=bool)
        pages = places >> PAGE_BITS
        for number in np.unique(pages):
            bits = self._bits(int(number))
            if bits is not None:
                here = pages == number
                found[here] = bits[places[here] & ((1 << PAGE_BITS) - 1)]
        return found

    def _bits(self, number: int) -> np.ndarray | None:
        if self._open is None or self._open[0] != number:
            packed = self._pages.get(number) if self._directory is None else _read(self._directory, number)
            if packed is None:
                return None
            size = (1 << PAGE_BITS) // 8
            raw = pa.decompress(packed, decompressed_size=size, codec="zstd", asbytes=True)
            self._open = number, np.unpackbits(np.frombuffer(raw, np.uint8)).astype(bool)
        return self._open[1]


def _read(directory: str, number: int) -> bytes | None:
    try:
        with open(os.path.join(directory, f"{number:x}"), "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def write(pages: Iterator[pa.RecordBatch], directory: str) -> Iterator[pa.RecordBatch]:
    """Writes pages to files of a directory; a task that is tried again writes the same. Gives their numbers."""
    for batch in pages:
        for number, bits in zip(batch["page"].to_pylist(), batch["bits"].to_pylist()):
            path = os.path.join(directory, f"{number:x}")
            temporary = f"{path}-{os.urandom(6).hex()}"
            with open(temporary, "xb") as file:
                file.write(bits)
            os.replace(temporary, path)
        yield batch.select(["page"])


def packed(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """Pages of the places of batches, which are sorted by page."""
    number, held = None, []
    for batch in batches:
        places = _numbers(batch["place"])
        for part in np.split(places, np.flatnonzero(np.diff(places >> PAGE_BITS)) + 1):
            if not len(part):
                continue
            of_part = int(part[0]) >> PAGE_BITS
            if number is not None and of_part != number:
                yield _row(number, held)
                held = []
            number = of_part
            held.append(part)
    if number is not None:
        yield _row(number, held)


def _row(number: int, held: list[np.ndarray]) -> pa.RecordBatch:
    bits = page(np.concatenate(held))
    return pa.RecordBatch.from_arrays(
        [pa.array([number], pa.int64()), pa.array([bits], pa.binary())], ["page", "bits"]
    )
