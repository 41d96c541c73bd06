"""Files of functions on tables: those that are named, and those that are written, whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
from typing import Iterator, Sequence

from . import _uriscan

Path = str | os.PathLike[str]
Inputs = Path | Sequence[Path]


def named(inputs: Inputs, any_name: bool) -> list[tuple[str, str | None]]:
    """The named files, which can all be opened, and those of datasets with their paths below the root.

    Args:
        any_name: Whether files below directories, and those that patterns select, need not have the names of tables.
    """
    if not (isinstance(inputs, (str, os.PathLike)) or hasattr(inputs, "__iter__")):
        raise TypeError(f"inputs is a path or a list of paths, not {type(inputs).__name__}")
    named = [inputs] if isinstance(inputs, (str, os.PathLike)) else list(inputs)
    files: list[tuple[str, str | None]] = []
    for path in [os.fspath(path) for path in named]:
        found = _uriscan.find_tables(path, any_name)
        files += [(path, None)] if found is None else [(os.fspath(file), os.fspath(below)) for file, below in found]
    if not files:
        raise ValueError("no input is given")
    for path, _ in files:
        with open(path, "rb"):
            pass
    return files


def is_directory(path: Path) -> bool:
    """Whether results go to a directory: one that is there, or one by its name."""
    return os.path.isdir(path) or os.fspath(path).endswith(("/", os.sep))


def refuse_inputs(files: list[str], outputs: dict[str, Path | None]) -> None:
    """Raises an error if one of ``outputs``, which are not results, would replace one of ``files``."""
    there = {name: os.stat(path) for name, path in outputs.items() if path is not None and os.path.isfile(path)}
    if not there:
        return
    inputs = {(found.st_dev, found.st_ino) for found in map(os.stat, files)}
    for name, found in there.items():
        if (found.st_dev, found.st_ino) in inputs:
            raise ValueError(f"{name}: {os.fspath(outputs[name])} is an input; name another file")


@contextlib.contextmanager
def drafts(paths: dict[str, Path | None]) -> Iterator[dict[str, str]]:
    """Files to write instead of those at ``paths``, whose places they take when the block ends well."""
    made: dict[str, tuple[str, str]] = {}
    try:
        for name, path in paths.items():
            if path is None:
                continue
            place = os.path.realpath(path)
            if name == "output" and is_directory(path):
                made[name] = place, _draft_directory(place, path)
                continue
            if os.path.exists(place) and not os.path.isfile(place):
                raise ValueError(f"{name}: {os.fspath(path)} is not a regular file")
            if place in (other for other, _ in made.values()):
                raise ValueError(f"{name}: {os.fspath(path)} is named twice")
            directory, base = os.path.split(place)
            draft = os.path.join(directory, f".{base}-{secrets.token_hex(4)}.partial")
            try:
                os.close(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666))
            except OSError as error:
                # Nobody has heard of the name of the draft.
                raise OSError(error.errno, error.strerror, os.fspath(path)) from None
            made[name] = place, draft
            if os.path.exists(place):
                shutil.copymode(place, draft)
        yield {name: draft for name, (_, draft) in made.items()}
        for place, draft in made.values():
            if os.path.isdir(draft):
                _sync(draft)
                # A directory takes the place of one that is empty only.
                os.rename(draft, place)
            else:
                os.replace(draft, place)
            _sync(os.path.dirname(place))
    finally:
        for _, draft in made.values():
            if os.path.isdir(draft):
                shutil.rmtree(draft, ignore_errors=True)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(draft)


def _draft_directory(place: str, path: Path) -> str:
    """A directory to be filled instead of that at ``place``, which was called ``path``."""
    if os.path.exists(place) and not os.path.isdir(place):
        raise ValueError(f"output: {os.fspath(path)} is a file; the output must be a directory")
    if os.path.isdir(place) and os.listdir(place):
        raise ValueError(f"output: {os.fspath(path)} is not empty; name a new directory, or remove what is in it")
    directory, base = os.path.split(place)
    draft = os.path.join(directory, f".{base}-{secrets.token_hex(4)}.partial")
    try:
        os.mkdir(draft)
    except OSError as error:
        raise OSError(error.errno, error.strerror, os.fspath(path)) from None
    if os.path.isdir(place):
        shutil.copymode(place, draft)
    return draft


def _sync(directory: str) -> None:
    """Waits until the names in the directory are on the disk."""
    if os.name != "posix":
        return
    opened = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
