"""Sets that were fetched, in a directory of this machine that stays below a limit.

An entry is the directory of a set. Its name is a digest of the file ``set``, which names all others by their content, and its
size; so what is in an entry never changes, and processes share it. Names begin with ``new-`` until an entry is whole; the
size in the name is room that is taken from then on. Each process locks those that it makes, so that what a dead one has left
is known and removed.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import stat
import tempfile
import time
import weakref
from typing import Any, Callable, Iterator

try:
    import fcntl
except ImportError:  # There are no such locks on Windows: entries may then be made twice, and the limit passed meanwhile.
    fcntl = None  # type: ignore[assignment]

BYTES = 8 << 30
"""The limit where none is given."""

_ENTRY = re.compile(r"(?:[0-9a-f]{64}|new-[0-9a-f]{16}|old-[0-9a-f]{16})-(\d{1,19})")

_ABANDONED = 24 * 3600
"""Seconds after which a ``new-`` directory is left over, where there are no locks."""


class Cache:
    """A directory with at most so many bytes of sets, of which those used least recently go first.

    Files that a process has open take room on the disk until it closes them.
    """

    def __init__(self, path: str | os.PathLike[str] | None = None, limit: int = BYTES) -> None:
        if path is None:
            path = os.path.join(tempfile.gettempdir(), f"uriscan-{os.getuid() if hasattr(os, 'getuid') else 'cache'}")
        self.path, self.limit = os.path.abspath(path), limit
        self._drafts: str | None = None
        self._release: Any = None

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_drafts": None, "_release": None}

    def entry(self, text: bytes, size: int, fill: Callable[[str], None]) -> str:
        """The directory of the set whose file ``set`` is ``text``: the one that is there, or one that ``fill`` puts ``size`` bytes
        of files into."""
        place = os.path.join(self.path, f"{hashlib.sha256(text).hexdigest()}-{size}")
        with contextlib.suppress(FileNotFoundError):
            os.utime(place)
            return place
        with self._room(size) as made:
            fill(made)
            with open(os.path.join(made, "set"), "xb") as file:
                file.write(text)
            # Another process may have been first.
            with contextlib.suppress(OSError):
                os.rename(made, place)
        return place

    def drop(self, place: str) -> None:
        """Removes an entry."""
        with self._alone():
            self._remove(os.path.basename(place))

    def drafts(self) -> str:
        """A directory for sets that this process makes; :meth:`clear`, or the end of this object, removes it."""
        if self._drafts is None:
            self._drafts, held = self._reserve(0)
            self._release = weakref.finalize(self, _release_of, os.getpid(), self._drafts, held)
        return self._drafts

    def clear(self) -> None:
        """Removes the directory of :meth:`drafts`."""
        if self._release is not None:
            self._release()
        self._drafts = self._release = None

    @contextlib.contextmanager
    def _room(self, size: int) -> Iterator[str]:
        made, held = self._reserve(size)
        try:
            yield made
        finally:
            _release(made, held)

    def _reserve(self, size: int) -> tuple[str, int | None]:
        """A new directory whose files may take so much; waits while others fetch so much that there is no room."""
        if size > self.limit:
            raise ValueError(f"{self.path} may have {self.limit} bytes, and {size} are needed: give a larger cache_bytes")
        self._check()
        while True:
            with self._alone():
                if self._make_room(size):
                    made = os.path.join(self.path, f"new-{os.urandom(8).hex()}-{size}")
                    os.mkdir(made, 0o700)
                    return made, _locked(made)
            time.sleep(0.05)

    def _check(self) -> None:
        """Makes the directory; fails if somebody else could put sets there."""
        os.makedirs(self.path, 0o700, exist_ok=True)
        found = os.lstat(self.path)
        is_ours = not hasattr(os, "getuid") or (found.st_uid == os.getuid() and not found.st_mode & 0o022)
        if not stat.S_ISDIR(found.st_mode) or not is_ours:
            raise PermissionError(f"{self.path} is not a directory of this user that nobody else can write to: give another cache")

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """While no other process counts and removes entries."""
        with open(os.path.join(self.path, "lock"), "ab") as file:
            if fcntl is not None:
                fcntl.flock(file, fcntl.LOCK_EX)
            yield

    def _make_room(self, size: int) -> bool:
        """Removes what is left over, and entries until so much is free; whether it is."""
        whole, taken = [], 0
        for entry in os.scandir(self.path):
            named = _ENTRY.fullmatch(entry.name)
            if named is None:
                continue
            if entry.name.startswith("old-") or entry.name.startswith("new-") and _is_left_over(entry.path):
                shutil.rmtree(entry.path, ignore_errors=True)
                continue
            taken += int(named[1])
            if not entry.name.startswith("new-"):
                whole.append((entry.stat().st_mtime_ns, entry.name, int(named[1])))
        for _, name, of_entry in sorted(whole):
            if taken + size <= self.limit:
                break
            self._remove(name)
            taken -= of_entry
        return taken + size <= self.limit

    def _remove(self, name: str) -> None:
        old = os.path.join(self.path, f"old-{os.urandom(8).hex()}-0")
        with contextlib.suppress(OSError):
            # At once, so that nobody finds half of it.
            os.rename(os.path.join(self.path, name), old)
            shutil.rmtree(old, ignore_errors=True)


def _locked(path: str) -> int | None:
    """A lock on a directory, until it is closed."""
    if fcntl is None:
        return None
    held = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BaseException:
        os.close(held)
        raise
    return held


def _is_left_over(path: str) -> bool:
    """Whether the process that made a directory is gone."""
    if fcntl is None:
        return time.time() - os.stat(path).st_mtime > _ABANDONED
    try:
        os.close(_locked(path) or 0)
    except OSError:
        return False
    return True


def _release_of(process: int, path: str, held: int | None) -> None:
    # Not where a process ends that was forked from that one.
    if os.getpid() == process:
        _release(path, held)


def _release(path: str, held: int | None) -> None:
    shutil.rmtree(path, ignore_errors=True)
    if held is not None:
        os.close(held)
