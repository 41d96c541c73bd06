"""A set in pieces in a directory of a file system that all machines see."""

from __future__ import annotations

import contextlib
import os
import shutil
from typing import Any, Iterable

from ._set import Set

NAME = "pieces.json"
LOCK = "pieces.lock"

LIMIT = 64 << 20
"""Bytes of a list of pieces."""


def is_below(name: object) -> bool:
    """Whether ``name`` is a path below the directory that it is relative to."""
    if not isinstance(name, str) or not name.isprintable():
        return False
    return not any(part in ("", ".", "..") or "\\" in part or ":" in part for part in name.split("/"))


def is_of_run(directory: str) -> bool:
    """Whether sets in a directory of this name were made by a run, or by ``uriscan set split``."""
    return directory.startswith("run-") or directory == "base"


class Directory:
    """The files of a set in pieces. One run at a time holds the lock, a file that is there as long as it lasts."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = self.shown = os.path.abspath(path)

    def make(self, text: bytes) -> None:
        """Makes the directory, with this list of pieces."""
        os.mkdir(self.path)
        self.write(text)

    def read(self) -> bytes:
        """The list of pieces."""
        with open(os.path.join(self.path, NAME), "rb") as file:
            return file.read(LIMIT + 1)

    def check(self, names: list[list[str]], meaning: list[str], keywords: dict[str, Any]) -> None:
        """Fails if the keys have another meaning than that of the keywords."""
        some = next((of_piece for of_piece in names if of_piece), None)
        if some is not None:
            self.open(some, keywords)

    def open(self, names: list[str], keywords: dict[str, Any]) -> list[Set]:
        """The sets with these names."""
        return [Set.open(os.path.join(self.path, name), **keywords) for name in names]

    def begin(self, run: str) -> bytes:
        """Takes the lock for a run; returns the list of pieces, which nobody else changes from then on."""
        lock = os.path.join(self.path, LOCK)
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            raise RuntimeError(
                f"{lock} exists: another run adds to this set, or was killed; remove the file if there is none"
            ) from None
        try:
            return self.read()
        except BaseException:
            self.end()
            raise

    def commit(self, text: bytes) -> None:
        """Replaces the list of pieces."""
        self.write(text)

    def end(self) -> None:
        """Gives the lock back."""
        self.unlock()

    def unlock(self) -> None:
        """Removes the lock, whoever has it."""
        os.unlink(os.path.join(self.path, LOCK))

    def is_locked(self) -> bool:
        """Whether somebody has the lock."""
        return os.path.exists(os.path.join(self.path, LOCK))

    def new_path(self, run: str, name: str) -> str:
        """Where this machine makes a set of a run; the directory is there."""
        directory = os.path.join(self.path, run)
        os.makedirs(directory, exist_ok=True)
        return os.path.join(directory, name)

    def keep(self, run: str, path: str) -> str:
        """The name of a set that was made at a path."""
        return os.path.relpath(path, self.path) if os.path.isabs(path) else path

    def others(self, named: set[str]) -> list[str]:
        """The sets of runs and of ``uriscan set split`` that are not among those that are named."""
        found = []
        for directory in filter(is_of_run, os.listdir(self.path)):
            for name in os.listdir(os.path.join(self.path, directory)):
                if name.endswith(".set") and f"{directory}/{name}" not in named:
                    found.append(f"{directory}/{name}")
        return sorted(found)

    def remove(self, names: Iterable[str]) -> None:
        """Removes these sets."""
        for name in names:
            shutil.rmtree(os.path.join(self.path, name))
        for directory in filter(is_of_run, os.listdir(self.path)):
            with contextlib.suppress(OSError):
                # Not while something is in it.
                os.rmdir(os.path.join(self.path, directory))

    def write(self, text: bytes) -> None:
        """Replaces the list of pieces in one step."""
        temporary = os.path.join(self.path, f".{NAME}-{os.urandom(6).hex()}")
        with open(temporary, "xb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, os.path.join(self.path, NAME))
        directory = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
