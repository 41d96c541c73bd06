"""A set in pieces in object storage, by ``pyarrow.fs``: the objects have the names of the files of a directory.

What is put is put under new names, but for the list of pieces and the lock. The list is put last, as one object, so that a
reader has the old one or the new one. Nothing that is read is trusted: names and sizes are checked before anything is fetched,
and the sets themselves check what is in them.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import shutil
import socket
import tempfile
import time
import warnings
from dataclasses import dataclass
from typing import Any, Iterable

from ._cache import BYTES, Cache
from ._directory import LIMIT, LOCK, NAME, is_of_run
from ._errors import SetError
from ._set import Set

_BLOCK = 8 << 20
"""Bytes that are read or written at a time."""

_SET_LIMIT = 16 << 20
"""Bytes of the file ``set``."""

_RUN = re.compile(r"([0-9a-f]{32}\.keys) ([1-9]\d{0,18})(?: ([0-9a-f]{32}\.times))?")
_FILE = re.compile(r"[0-9a-f]{32}\.(?:keys|times)")

_MOST_RUNS = 9


@dataclass
class Listed:
    """What the file ``set`` of a set says, and the sizes of the other files."""

    text: bytes
    sizes: dict[str, int]

    @classmethod
    def of(cls, text: bytes) -> Listed:
        """Reads the lines of runs; whether the text is right is for the set to say."""
        sizes = {}
        lines = text[: 1 << 16].decode("utf-8", "replace").split("\n")[3 : 3 + _MOST_RUNS]
        for run in filter(None, map(_RUN.fullmatch, lines)):
            count = int(run[2])
            sizes[run[1]] = _size(count, 16)
            if run[3]:
                sizes[run[3]] = _size(count, 4)
        return cls(text, sizes)

    @property
    def size(self) -> int:
        """Bytes of all files."""
        return len(self.text) + sum(self.sizes.values())


def _size(count: int, width: int) -> int:
    """The size of a file of so many items: a header of a block, the items, and a checksum for each block of them."""
    items = count * width
    return 4096 + items + 8 * -(-items // 4096)


class Objects:
    """The objects of a set in pieces. One run at a time has the lock, an object with a token."""

    def __init__(self, filesystem: Any, path: str, shown: str, cache: str | os.PathLike[str] | None = None, cache_bytes: int = BYTES):
        self.filesystem, self.path, self.shown = filesystem, path.rstrip("/"), shown
        self.cache = Cache(cache, cache_bytes)
        self._listed: dict[str, Listed] = {}
        self._token = self._text = b""

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_listed": {}, "_token": b"", "_text": b""}

    def make(self, text: bytes) -> None:
        """Puts this list of pieces, where there is no object yet."""
        from pyarrow.fs import FileSelector

        if self.filesystem.get_file_info(FileSelector(self.path, allow_not_found=True)):
            raise FileExistsError(f"{self.shown} is not empty")
        self.write(text)
        if self.read() != text:
            raise FileExistsError(f"{self.shown}: another set was made at the same moment")

    def read(self) -> bytes:
        """The list of pieces."""
        return self._get(NAME, LIMIT)

    def write(self, text: bytes) -> None:
        """Puts the list of pieces as one object."""
        self._put(NAME, text)

    def check(self, names: list[list[str]], meaning: list[str], keywords: dict[str, Any]) -> None:
        """Fails if the keys have another meaning than that of the keywords; no piece is fetched for that."""
        expected = meaning_of(keywords, meaning[0].removeprefix("hash "))
        if meaning != expected:
            ours, theirs = ([f"`{fact}`" for fact in one if fact not in other] for one, other in [(meaning, expected), (expected, meaning)])
            raise SetError(
                f"{self.shown}: its keys were made with {', '.join(ours) or 'less'}, not with {', '.join(theirs) or 'less'}",
                "differs",
                self.shown,
            )

    def open(self, names: list[str], keywords: dict[str, Any]) -> list[Set]:
        """The sets with these names, fetched unless they are in the cache."""
        listed = [self._listed_of(name) for name in names]
        size = sum(each.size for each in listed)
        if size > self.cache.limit:
            raise ValueError(
                f"{self.shown}: the sets of a piece have {size} bytes, and the cache may have {self.cache.limit}: give a larger "
                "cache_bytes, or make more pieces"
            )
        return [self._open(name, each, keywords) for name, each in zip(names, listed)]

    def _listed_of(self, name: str) -> Listed:
        if name not in self._listed:
            try:
                self._listed[name] = Listed.of(self._get(f"{name}/set", _SET_LIMIT))
            except FileNotFoundError:
                what = "is not a key set, or no longer: sets that were merged are removed some time later"
                raise SetError(f"{self._shown(name)} {what}", "not-a-set", self._shown(name)) from None
        return self._listed[name]

    def _open(self, name: str, listed: Listed, keywords: dict[str, Any]) -> Set:
        last = None
        for _ in range(3):
            place = self.cache.entry(listed.text, listed.size, lambda made: self._fetch(name, listed, made))
            try:
                return Set.open(place, **keywords)
            except SetError as error:
                last = error
                if error.kind == "differs":
                    break
                # Damaged on this machine, or removed by another process before it was opened.
                self.cache.drop(place)
        message = str(last).replace(place, self._shown(name))
        raise SetError(message, last.kind, last.path.replace(place, self._shown(name))) from None

    def _fetch(self, name: str, listed: Listed, made: str) -> None:
        """Copies all files but ``set`` to a directory."""
        for file, size in listed.sizes.items():
            got = 0
            try:
                with self._reading(f"{name}/{file}") as source, open(os.path.join(made, file), "xb") as target:
                    # A byte more than there should be is enough to know.
                    while got <= size and (block := source.read(min(_BLOCK, size + 1 - got))):
                        got += target.write(block)
            except FileNotFoundError:
                raise SetError(f"{self._shown(name)}/{file} is missing", "damaged", self._shown(name)) from None
            if got != size:
                what = f"has {'more than' if got > size else 'only'} {min(got, size)} bytes of {size}"
                raise SetError(f"{self._shown(name)}/{file} {what}", "damaged", self._shown(name))

    def begin(self, run: str) -> bytes:
        """Takes the lock for a run; returns the list of pieces.

        pyarrow cannot put an object only if there is none. So the token is read again at once, and before the run ends.
        """
        held = self._lock()
        if held is not None:
            raise RuntimeError(
                f"{self._shown(LOCK)} exists ({_holder(held)}): another run adds to this set, or was killed; if there is none, "
                "remove the object, or call SetPieces.unlock"
            )
        who = {"run": run, "token": os.urandom(16).hex(), "host": socket.gethostname(), "since": time.strftime("%FT%TZ", time.gmtime())}
        self._token = json.dumps(who).encode()
        try:
            self._put(LOCK, self._token)
            self._expect_lock()
            self._text = self.read()
        except BaseException:
            self.end()
            raise
        return self._text

    def commit(self, text: bytes) -> None:
        """Puts the list of pieces, if the lock is still that of this run and the list is still the one that it began with."""
        self._expect_lock()
        if self.read() != self._text:
            raise RuntimeError(f"{self._shown(NAME)} was changed by another run; nothing was added: run again")
        try:
            self.write(text)
        except Exception:
            # It may be there although the answer was lost.
            with contextlib.suppress(Exception):
                if self.read() == text:
                    return
            raise
        if self.read() != text:
            raise RuntimeError(f"{self._shown(NAME)} was changed by another run at the same moment, which does not have the new keys: run again")

    def end(self) -> None:
        """Removes the lock if it is that of this run, and what this run has on this machine."""
        token, self._token, self._text = self._token, b"", b""
        self.cache.clear()
        try:
            if token and self._lock() == token:
                self.unlock()
        except Exception as error:
            warnings.warn(f"{self._shown(LOCK)} could not be removed ({error}); SetPieces.unlock removes it", stacklevel=2)

    def unlock(self) -> None:
        """Removes the lock, whoever has it."""
        self.filesystem.delete_file(self._path(LOCK))

    def is_locked(self) -> bool:
        """Whether somebody has the lock."""
        return self._lock() is not None

    def _lock(self) -> bytes | None:
        try:
            return self._get(LOCK, 1 << 16)
        except FileNotFoundError:
            return None

    def _expect_lock(self) -> None:
        held = self._lock()
        if held != self._token:
            now = "is gone" if held is None else f"is that of another run ({_holder(held)})"
            raise RuntimeError(f"{self._shown(LOCK)} {now}; nothing was added: run again")

    def new_path(self, run: str, name: str) -> str:
        """Where this machine makes a set of a run."""
        return os.path.join(self.cache.drafts(), name)

    def keep(self, run: str, path: str) -> str:
        """Puts the set that was made at a path; returns its name."""
        if not os.path.isabs(path):
            # It was put by the machine that made it.
            return path
        name = f"{run}/{os.path.basename(path)}"
        # Its list last, as in a directory.
        for file in [*sorted(filter(_FILE.fullmatch, os.listdir(path))), "set"]:
            with open(os.path.join(path, file), "rb") as source:
                size = os.fstat(source.fileno()).st_size
                with self.filesystem.open_output_stream(self._path(f"{name}/{file}"), compression=None) as target:
                    while block := source.read(_BLOCK):
                        target.write(block)
            put = self.filesystem.get_file_info(self._path(f"{name}/{file}")).size
            if put != size:
                raise OSError(f"{self._shown(name)}/{file} has {put} bytes of {size} after it was put")
        shutil.rmtree(path)
        return name

    def others(self, named: set[str]) -> list[str]:
        """The sets of runs and of ``uriscan set split`` that are not among those that are named."""
        found = {f"{run}/{name}" for run, name in self._below() if name.endswith(".set")}
        return sorted(found - named)

    def remove(self, names: Iterable[str]) -> None:
        """Removes these sets."""
        names = set(names)
        stay = {run for run, name in self._below() if f"{run}/{name}" not in names}
        runs = {name.partition("/")[0] for name in names}
        for whole in sorted(runs - stay) + sorted(name for name in names if name.partition("/")[0] in stay):
            self.filesystem.delete_dir(self._path(whole))

    def _below(self) -> set[tuple[str, str]]:
        """The runs with objects, and the sets of each."""
        from pyarrow.fs import FileSelector, FileType

        found = set()
        for info in self.filesystem.get_file_info(FileSelector(self.path, recursive=True, allow_not_found=True)):
            parts = info.path[len(self.path) :].strip("/").split("/")
            if info.type == FileType.File and len(parts) > 2 and is_of_run(parts[0]):
                found.add((parts[0], parts[1]))
        return found

    def _path(self, name: str) -> str:
        return f"{self.path}/{name}"

    def _shown(self, name: str) -> str:
        return f"{self.shown}/{name}"

    def _reading(self, name: str) -> Any:
        return self.filesystem.open_input_stream(self._path(name), compression=None)

    def _get(self, name: str, limit: int) -> bytes:
        """A whole object, of which no more is read than the limit."""
        text = b""
        with self._reading(name) as file:
            while len(text) <= limit and (block := file.read(limit + 1 - len(text))):
                text += block
        if len(text) > limit:
            raise ValueError(f"{self._shown(name)} has more than {limit} bytes")
        return text

    def _put(self, name: str, text: bytes) -> None:
        file = self.filesystem.open_output_stream(self._path(name), compression=None)
        try:
            try:
                file.write(text)
            finally:
                file.close()
        except BaseException:
            # Its end may put the object nevertheless: now, not later.
            del file
            raise


def _holder(text: bytes) -> str:
    """Who has put a lock, as far as it says so."""
    try:
        known = json.loads(text)
        return ", ".join(f"{name} {known[name]}"[:200] for name in ("run", "host", "since") if isinstance(known.get(name), str))
    except (ValueError, AttributeError, RecursionError):
        return "of nobody known"


def meaning_of(keywords: dict[str, Any], hash: Any) -> list[str]:
    """What keys mean that are made with these keywords, fact by fact."""
    with tempfile.TemporaryDirectory() as scratch:
        return Set.create(os.path.join(scratch, "model.set"), hash=hash, **keywords).meaning.splitlines()


def found_at(
    path: str | os.PathLike[str], filesystem: Any, cache: str | os.PathLike[str] | None, cache_bytes: int
) -> Objects | str:
    """The objects at a URI, or at a path of a file system of pyarrow; the path, if that is one of this machine."""
    if filesystem is None and "://" not in os.fspath(path):
        return os.path.abspath(path)
    try:
        import pyarrow.fs as fs
    except ImportError as error:
        raise ImportError("a set in object storage needs pyarrow: pip install pyarrow") from error
    shown = path = os.fspath(path)
    if filesystem is None:
        scheme, _, rest = path.partition("://")
        # As Hadoop's file systems, and so Spark, call it.
        scheme = "s3" if scheme in ("s3a", "s3n") else scheme
        filesystem, path = fs.FileSystem.from_uri(f"{scheme}://{rest}")
        # Without what may be secret in a URI.
        shown = f"{scheme}://{path}"
    while isinstance(filesystem, fs.SubTreeFileSystem):
        filesystem, path = filesystem.base_fs, f"{filesystem.base_path.rstrip('/')}/{path.lstrip('/')}"
    if isinstance(filesystem, fs.LocalFileSystem):
        return os.path.abspath(path)
    if filesystem.type_name == "hdfs":
        raise ValueError(f"{shown} is not object storage: there a file is seen before it is whole")
    return Objects(filesystem, path, shown.rstrip("/"), cache, cache_bytes)
