"""URIs in Ray: :func:`dedup` on files of any file system that pyarrow knows.

Every machine needs ``pip install uriscan "ray[data]"``. Results are those of the program on one machine.

    import uriscan.ray
    uriscan.ray.dedup("s3://crawl/pages/*.parquet", column="url").write_parquet("s3://crawl/distinct")
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any, Iterator, Literal, Sequence

try:
    import ray.data
except ImportError as error:
    raise ImportError('uriscan.ray needs Ray: pip install "ray[data]"') from error

import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.fs
import pyarrow.parquet as pq

import uriscan

from . import _uriscan
from ._keys import best, comparable, keyed_places, one_thread, whole
from ._options import Equivalence, OnInvalid, Unpack, names
from ._options import form as _form
from ._pieces import SetPieces, is_in
from ._places import FILE_BITS, PAGE_BITS, Kept, page

__all__ = ["dedup"]

PIECE_BYTES = 16 << 20
"""Bytes of a text that one task reads at a time."""


def dedup(
    inputs: str | Sequence[str],
    *,
    column: str | None = None,
    keep: Literal["first", "last"] = "first",
    with_columns: Sequence[str] = (),
    seen: str | SetPieces | None = None,
    place: str | None = None,
    parts: int = 64,
    piece_bytes: int = PIECE_BYTES,
    filesystem: pyarrow.fs.FileSystem | None = None,
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> ray.data.Dataset:
    """The rows of files that are the first, or the last, of their group: with all columns of Parquet files, whose ``column``
    has the URLs; without it the lines of text, as the column ``url``, without the white space around them.

    ``inputs`` are paths or URIs of files, directories and patterns (``*``, ``?``, ``**``), on one file system, and select what
    they do for the program: names that begin with ``.`` or ``_``, and those that are not of tables, are skipped; directories
    ``name=value`` below what is named are columns of text; columns are unified by name; and a table of Delta Lake, Iceberg or
    Hudi is refused. Rows are in the order of the names of files and of the rows in them if they are sorted by the column that
    is added as ``place``, ``int64``, which no file may have.

    ``with_columns`` are other columns whose values must be equal, too, for rows to be of one group, as in
    :func:`uriscan.dedup_parquet`; they are moved, too.

    Keys and places are moved, 24 bytes a row, in ``parts`` by ranges of keys, each of which fits into the memory of a task; then
    files are read again, which must not have changed, and tasks keep their rows. ``seen`` is a directory of
    :class:`uriscan.SetPieces` that all machines see, a URI of one in object storage, or one that is open; what is in it is
    dropped.
    """
    if keep not in ("first", "last"):
        raise ValueError(f"keep is first or last, not {keep!r}")
    if parts < 1:
        raise ValueError("parts are 1 or more")
    keywords: dict[str, Any] = {"on_invalid": on_invalid, **equivalence}
    _form(**keywords)
    known = None if seen is None else SetPieces._of(seen, keywords)
    hash = "blake3" if known is None else known.hash
    paths, store = _files([inputs] if isinstance(inputs, str) else list(inputs), filesystem, column is None)
    found = [piece for number, path in enumerate(paths) for piece in pieces(store, number, path, column, piece_bytes)]
    schema = None if column is None else _columns(store, paths, column)
    others = names("with_columns", with_columns)
    if others and seen is not None:
        raise ValueError("seen: the keys in a set are those of values alone: omit with_columns, or the set")
    for name in others:
        if schema is None or name not in schema.names:
            there = "url" if schema is None else ", ".join(schema.names)
            raise ValueError(f"with_columns: there is no column {name}; there are: {there}")
        comparable(pa.array([], schema.field(name).type))
    compared = [f"with{number}" for number in range(len(others))]
    if place is not None and place in (["url"] if schema is None else schema.names):
        raise ValueError(f"a column {place} already exists; place= gives the new one another name")

    def keys(batch: pa.Table) -> Iterator[pa.Table]:
        for row in batch.to_pylist():
            urls, places = Piece(**row).rows(store, column)
            rows = pa.table({"url": urls, "place": pa.array(places)})
            if schema is not None and others:
                of_file = Piece(**row).others(store, column, pa.schema([schema.field(name) for name in others]), paths[row["path"]])
                for name, values in zip(compared, of_file.columns):
                    rows = rows.append_column(name, values)
            rows = rows.combine_chunks().to_batches()
            for made in keyed_places(iter(rows), keywords, hash, lambda each: each["place"], keep, others=compared):
                yield pa.table(made).append_column("part", pa.array(_range_of(made["high"], parts)))

    def kept(part: pa.Table) -> pa.Table:
        one_thread()
        rows = best(part, keep)
        if known is not None and len(rows):
            rows = rows.combine_chunks()
            of_rows = whole(rows["high"].combine_chunks(), rows["low"].combine_chunks())
            numbers = pa.array(_range_of(rows["high"], len(known)))
            rows = rows.filter(pa.compute.invert(is_in(known, numbers, of_rows)))
        places = rows["place"].to_numpy()
        return pa.table({"page": places >> PAGE_BITS, "place": places})

    def packed(of_page: pa.Table) -> pa.Table:
        bits = [page(of_page["place"].to_numpy())] if len(of_page) else []
        return pa.table({"page": of_page["page"].slice(0, len(bits)), "bits": pa.array(bits, pa.binary())})

    work = ray.data.from_items([vars(piece) for piece in found], override_num_blocks=max(len(found), 1))
    rows = work.map_batches(keys, batch_format="pyarrow", batch_size=1)
    places = rows.groupby("part", num_partitions=parts).map_groups(kept, batch_format="pyarrow")
    pages = places.groupby("page", num_partitions=parts).map_groups(packed, batch_format="pyarrow")
    wanted = ray.put([(row["page"], row["bits"]) for row in pages.iter_rows()])

    def read(batch: pa.Table) -> Iterator[pa.Table]:
        one_thread()
        held = Kept(ray.get(wanted))
        for row in batch.to_pylist():
            table, places = Piece(**row).table(store, column)
            if schema is not None:
                table = _fitted(table, schema, paths[row["path"]])
            mask = held.has(places)
            if place is not None:
                table = table.append_column(place, pa.array(places))
            yield table.filter(pa.array(mask))

    return work.map_batches(read, batch_format="pyarrow", batch_size=1)


@dataclass
class Piece:
    """What a task reads at a time: bytes of a text, or a row group of Parquet and the number of its first row."""

    file: int
    path: str
    start: int
    end: int
    group: int = -1

    def rows(self, store: pyarrow.fs.FileSystem, column: str | None) -> tuple[pa.Array, np.ndarray]:
        """The URLs, and their places."""
        if column is None:
            return self._lines(store)
        with store.open_input_file(self.path) as file:
            table = pq.ParquetFile(file).read_row_group(self.group, columns=[column])
        urls = table.column(0).combine_chunks()
        return _joined(urls).cast(pa.large_binary()), self._numbers()

    def others(self, store: pyarrow.fs.FileSystem, column: str | None, schema: pa.Schema, below: str | None) -> pa.Table:
        """The columns of ``schema``, as those of all files."""
        with store.open_input_file(self.path) as file:
            read = pq.ParquetFile(file)
            there = [name for name in [column, *schema.names] if name in read.schema_arrow.names]
            return _fitted(read.read_row_group(self.group, columns=there), schema, below)

    def table(self, store: pyarrow.fs.FileSystem, column: str | None) -> tuple[pa.Table, np.ndarray]:
        """All columns, and the places."""
        if column is None:
            urls, places = self._lines(store)
            # At the lowest level the form of a record is the record, without the white space around it.
            return pa.table({"url": uriscan.normalize(urls, level="string")}), places
        with store.open_input_file(self.path) as file:
            return pq.ParquetFile(file).read_row_group(self.group), self._numbers()

    def _numbers(self) -> np.ndarray:
        return np.arange(self.start, self.end) + (self.file << FILE_BITS)

    def _lines(self, store: pyarrow.fs.FileSystem) -> tuple[pa.Array, np.ndarray]:
        """The lines that begin in these bytes, with their ends, which are white space; their places are those of their bytes."""
        with store.open_input_file(self.path) as file:
            size = file.size()
            # A line that begins before them is another task's.
            begin = self.start if self.start == 0 else _after_line(file, self.start - 1, size)
            file.seek(begin)
            text = file.read(max(self.end - begin, 0))
            if text and not text.endswith(b"\n") and begin + len(text) < size:
                last = _after_line(file, begin + len(text), size)
                file.seek(begin + len(text))
                text += file.read(last - begin - len(text))
        ends = np.flatnonzero(np.frombuffer(text, np.uint8) == 10) + 1
        if text and not text.endswith(b"\n"):
            ends = np.append(ends, len(text))
        offsets = np.concatenate([[0], ends]).astype(np.int64)
        places = offsets[:-1] + begin + (self.file << FILE_BITS)
        if begin == 0 and text.startswith(b"\xef\xbb\xbf"):
            offsets[0] = 3
        buffers = [None, pa.py_buffer(offsets.tobytes()), pa.py_buffer(text)]
        return pa.Array.from_buffers(pa.large_binary(), len(ends), buffers), places


def pieces(
    store: pyarrow.fs.FileSystem, number: int, path: str, column: str | None, piece_bytes: int
) -> Iterator[Piece]:
    """The pieces of a file."""
    if column is None:
        size = store.get_file_info(path).size
        for start in range(0, size, piece_bytes):
            yield Piece(number, path, start, min(start + piece_bytes, size))
        return
    with store.open_input_file(path) as file:
        if file.size() == 0:
            return
        metadata, start = pq.ParquetFile(file).metadata, 0
    for group in range(metadata.num_row_groups):
        end = start + metadata.row_group(group).num_rows
        yield Piece(number, path, start, end, group)
        start = end


def _after_line(file: Any, at: int, size: int) -> int:
    """The byte after the first LF from `at` on, or the size."""
    while at < size:
        file.seek(at)
        text = file.read(1 << 16)
        found = text.find(b"\n")
        if found >= 0:
            return at + found + 1
        at += len(text)
    return size


def _joined(values: Any) -> pa.Array:
    """One array, also of a column in several."""
    return pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values


def _range_of(high: Any, count: int) -> np.ndarray:
    """Which of so many ranges of keys each is in, from the upper half of it."""
    upper = np.asarray(high).astype(np.int64).view(np.uint64) >> np.uint64(32)
    return ((upper * np.uint64(count)) >> np.uint64(32)).astype(np.int64)


def _files(
    inputs: list[str], filesystem: pyarrow.fs.FileSystem | None, any_name: bool
) -> tuple[dict[str, str | None], pyarrow.fs.FileSystem]:
    """The files that are named, each once and in order, with their paths below the root of their dataset; and where they are."""
    if not inputs:
        raise ValueError("no input")
    found: dict[str, str | None] = {}
    store = filesystem
    for given in inputs:
        path = given
        if filesystem is None:
            parts = given.split("/") if "://" in given else os.path.abspath(given).split("/")
            plain = _plain(parts)
            # What is a pattern is not part of the URI: a question mark has another meaning there.
            of_path, base = pyarrow.fs.FileSystem.from_uri("/".join(parts[:plain]) or "/")
            path = "/".join([base.rstrip("/"), *parts[plain:]])
            if store is not None and of_path != store:
                raise ValueError(f"{given} is on another file system than {inputs[0]}")
            store = of_path
        for file, below in _named(store, path, any_name):
            found.setdefault(file, below)
    for file in found if not any_name else ():
        if _uriscan.format_of(file) not in ("parquet", None):
            raise ValueError(f"{file} is not a Parquet file; uriscan.ray reads no other tables")
    return {file: found[file] for file in sorted(found, key=lambda file: file.split("/"))}, store


def _plain(parts: list[str]) -> int:
    """The number of leading parts of a path that are not patterns."""
    return next((at for at, part in enumerate(parts) if any(mark in part for mark in "*?[")), len(parts))


def _named(store: Any, path: str, any_name: bool) -> list[tuple[str, str | None]]:
    """The files at a path: that one, those below it, or those that match, the latter with their paths below the root."""
    info = store.get_file_info(path)
    if info.type == pyarrow.fs.FileType.File:
        return [(path, None)]
    parts = path.split("/")
    plain = len(parts) if info.type == pyarrow.fs.FileType.Directory else _plain(parts)
    base, pattern = "/".join(parts[:plain]), "/".join(parts[plain:])
    selector = pyarrow.fs.FileSelector(base or "/", recursive=True, allow_not_found=True)
    files = [info.path for info in store.get_file_info(selector) if info.type == pyarrow.fs.FileType.File]
    below = {file[len(base) :].strip("/"): file for file in files}
    return [(below[name], name) for name in _uriscan.listed_tables(base, pattern, list(below), any_name)]


def _columns(store: pyarrow.fs.FileSystem, paths: dict[str, str | None], column: str) -> pa.Schema:
    """The columns of all files, by name, and then those in the names of directories."""
    schemas, keys = [], {}
    for path, below in paths.items():
        with store.open_input_file(path) as file:
            # A file without a byte has no rows.
            schema = pq.ParquetFile(file).schema_arrow if file.size() else pa.schema([])
        if len(schema) and column not in schema.names:
            raise ValueError(f"{path}: there is no column {column}; there are: {', '.join(schema.names)}")
        schemas.append(schema)
        keys.update(_uriscan.directory_columns(below or ""))
    for path, schema in zip(paths, schemas):
        if both := [name for name in schema.names if name in keys]:
            raise ValueError(f"{path}: column {both[0]} is in the file and in the name of a directory")
    files = pa.unify_schemas(schemas, promote_options="permissive")
    return pa.schema([*files, *(pa.field(name, pa.string()) for name in keys)])


def _fitted(table: pa.Table, schema: pa.Schema, below: str | None) -> pa.Table:
    """The rows of a file with the columns of all files; what does not fit their types exactly is an error."""
    values = dict(_uriscan.directory_columns(below or ""))
    columns = []
    for field in schema:
        if field.name in table.column_names:
            columns.append(table[field.name].cast(field.type))
        else:
            value = pa.scalar(values.get(field.name), field.type)
            columns.append(pa.repeat(value, len(table)))
    return pa.table(columns, schema=schema)
