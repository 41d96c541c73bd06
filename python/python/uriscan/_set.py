"""Sets of keys on disk."""

from __future__ import annotations

import os
from datetime import datetime
from types import TracebackType
from typing import Any, Iterable

from . import _kinds, _uriscan
from ._options import Equivalence, KeyHash, OnInvalid, Unpack, form

Path = str | os.PathLike[str]

_MEMORY = 256 << 20


class Set:
    """A set of keys on disk: what ``uriscan set`` makes and takes. It lasts from run to run, and merges.

    A set knows which keywords its keys were made with, and refuses others. It is seen as it was when it was opened or
    last written by this object.

    >>> import tempfile, os
    >>> place = tempfile.TemporaryDirectory()
    >>> seen = Set.create(os.path.join(place.name, "seen.set"))
    >>> seen.add(["http://h/", "HTTP://h", "http://i/"])
    2
    >>> seen.contains(["http://i", "http://j", None])
    [True, False, None]
    >>> len(seen), "http://h" in seen
    (2, True)
    >>> place.cleanup()
    """

    def __init__(self, keys: _uriscan.KeySet, made: _uriscan.Form, keywords: dict[str, Any]) -> None:
        """Not to be called; see :meth:`create` and :meth:`open`."""
        self._keys, self._form, self._keywords = keys, made, keywords

    def __reduce__(self) -> Any:
        # Its directory, where it is opened again.
        return _again, (os.path.abspath(self.path), self._keywords)

    @classmethod
    def create(
        cls,
        path: Path,
        *,
        hash: KeyHash = "blake3",
        first_seen: bool = False,
        on_invalid: OnInvalid = "pass",
        **equivalence: Unpack[Equivalence],
    ) -> Set:
        """Makes an empty set in the directory ``path``, which must not be there, or be empty.

        Args:
            path: The directory.
            hash: The hash of its keys, which are those of :func:`uriscan.key`.
            first_seen: Keep when each key came; see :meth:`first_seen`.
            on_invalid: See :func:`uriscan.key`.
            **equivalence: When two values are equivalent; see :class:`uriscan.Deduplicator`.

        Raises:
            SetError: If there is something already, or the set cannot be written.
        """
        keywords = {"on_invalid": on_invalid, **equivalence}
        made = form(**keywords).hashed(hash)
        return cls(_uriscan.KeySet.create(os.fspath(path), made, first_seen), made, keywords)

    @classmethod
    def open(
        cls, path: Path, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]
    ) -> Set:
        """Opens the set in the directory ``path``, made with the same keywords; the hash is taken from it.

        Raises:
            SetError: If it is not a set, or was made with other keywords.
        """
        keys = _uriscan.KeySet.open(os.fspath(path))
        keywords = {"on_invalid": on_invalid, **equivalence}
        made = form(**keywords).hashed(keys.hash)
        keys.expect(made)
        return cls(keys, made, keywords)

    @classmethod
    def merge(cls, path: Path, sets: Iterable[Set]) -> Set:
        """Makes a set of what ``sets`` hold together. Its files are the same in whatever order they are given."""
        return cls._combined(path, sets, "all")

    @classmethod
    def difference(cls, path: Path, sets: Iterable[Set]) -> Set:
        """Makes a set of what the first of ``sets`` holds and no other does."""
        return cls._combined(path, sets, "difference")

    @classmethod
    def intersection(cls, path: Path, sets: Iterable[Set]) -> Set:
        """Makes a set of what all of ``sets`` hold."""
        return cls._combined(path, sets, "common")

    @classmethod
    def _combined(cls, path: Path, sets: Iterable[Set], how: str) -> Set:
        sets = list(sets)
        if not sets:
            raise ValueError("no set is given")
        keys = _uriscan.KeySet.combine(os.fspath(path), [each._keys for each in sets], how)
        return cls(keys, sets[0]._form, sets[0]._keywords)

    def add(self, urls: Any, *, memory: int = _MEMORY, at: datetime | int | None = None) -> int:
        """Adds the values of a column; gives the number of those that were not there.

        Every call writes files: for many columns, see :meth:`adding`.
        """
        with self.adding(memory=memory, at=at) as more:
            more.add(urls)
        return more.added

    def adding(self, *, memory: int = _MEMORY, at: datetime | int | None = None) -> Adding:
        """Adds the values of many columns: all of them when the block ends well, none when it does not.

        Meanwhile nobody else may write. Keys take up to ``memory`` bytes; more are sorted on disk. In a set that keeps
        it, the values were first seen ``at`` that time, a ``datetime`` or seconds since 1970, or now; an earlier time
        that it has stays.

        >>> import tempfile, os
        >>> place = tempfile.TemporaryDirectory()
        >>> seen = Set.create(os.path.join(place.name, "seen.set"))
        >>> with seen.adding() as more:
        ...     for batch in ["http://a/", "http://b/"], ["http://a"]:
        ...         more.add(batch)
        >>> more.added
        2
        >>> place.cleanup()
        """
        return Adding(self, memory, at)

    def add_keys(self, keys: Any, *, memory: int = _MEMORY, at: datetime | int | None = None) -> int:
        """Adds keys that :func:`uriscan.key` made with the keywords and the hash of the set; returns the number of new ones.

        ``None`` and a key of 16 zero bytes are skipped: the latter is what :func:`uriscan.key` gives for any value of more than
        64 MiB, which no set has.
        """
        with self.adding(memory=memory, at=at) as more:
            more.add_keys(keys)
        return more.added

    def contains(self, urls: Any) -> Any:
        """Whether every value is in the set; ``None`` where it is ``None``."""
        return _kinds.answer(urls, lambda column: self._keys.contains(self._form.key(column)))

    def contains_keys(self, keys: Any) -> Any:
        """Whether every key is in the set; ``None`` where it is ``None``. A key of 16 zero bytes is in none."""
        return _kinds.answer(keys, self._keys.contains)

    def first_seen(self, urls: Any) -> Any:
        """When every value was first seen, in seconds since 1970; ``None`` where it is not in the set.

        >>> import tempfile, os
        >>> place = tempfile.TemporaryDirectory()
        >>> seen = Set.create(os.path.join(place.name, "seen.set"), first_seen=True)
        >>> seen.add(["http://a/"], at=1_772_323_200), seen.add(["HTTP://a", "http://b/"], at=1_772_409_600)
        (1, 1)
        >>> seen.first_seen(["http://a", "http://b", "http://c"])
        [1772323200, 1772409600, None]
        >>> place.cleanup()
        """
        return _kinds.answer(urls, lambda column: self._keys.first_seen(self._form.key(column)))

    def __contains__(self, url: str) -> bool:
        return bool(self.contains(url))

    def hold(self, memory: int = 512 << 20) -> None:
        """Takes keys into memory if they are no more than so many bytes: look-ups of few are several times as fast."""
        self._keys = self._keys.held(memory)

    def refresh(self) -> None:
        """Sees what others have added."""
        self._keys = _uriscan.KeySet.open(self.path)

    def compact(self) -> None:
        """Makes one file of all, so that sets with the same keys have the same bytes."""
        self._keys.compact()
        self.refresh()

    def verify(self) -> list[str]:
        """Reads everything and returns what is damaged."""
        return self._keys.verify()

    def __len__(self) -> int:
        return len(self._keys)

    def __repr__(self) -> str:
        return f"<uriscan.Set: {len(self)} keys in {self.path}>"

    @property
    def path(self) -> str:
        """Where it is."""
        return os.fspath(self._keys.path)

    @property
    def meaning(self) -> str:
        """What its keys mean, one fact a line."""
        return self._keys.meaning

    @property
    def hash(self) -> KeyHash:
        """The hash of its keys: ``"blake3"`` or ``"sha256"``."""
        return self._keys.hash

    @property
    def keeps_first_seen(self) -> bool:
        """Whether it keeps when each key came."""
        return self._keys.keeps_first_seen

    @property
    def file_bytes(self) -> int:
        """Bytes on disk."""
        return self._keys.file_bytes


class Adding:
    """Values on their way into a set; see :meth:`Set.adding`."""

    added: int
    """The number of keys that were not in the set, once the block has ended."""

    def __init__(self, target: Set, memory: int, at: datetime | int | None) -> None:
        self._target = target
        seconds = int(at.timestamp()) if isinstance(at, datetime) else at
        self._adding = target._keys.adding(memory, seconds)
        self._firsts = _uriscan.Firsts(target._form)

    def add(self, urls: Any) -> None:
        """Adds the values of a column."""
        column = _kinds.column([urls] if isinstance(urls, (str, bytes)) else urls)
        self._adding.push(self._target._form.key(column))

    def is_first(self, urls: Any) -> Any:
        """Whether every value is new: neither in the set nor in an earlier row or column of this block; adds those that
        are. ``None`` where it is ``None`` or blank.

        This is what :meth:`Deduplicator.is_first` does, with a memory that lasts from run to run.
        """
        return _kinds.like(urls, self._new(_kinds.column(urls)))

    def dedup(self, urls: Any) -> Any:
        """The values that are new, as they are and in order; adds them.

        >>> import tempfile, os
        >>> place = tempfile.TemporaryDirectory()
        >>> seen = Set.create(os.path.join(place.name, "seen.set"))
        >>> for run in [["http://a", "HTTP://a/"], ["http://b"]], [["http://b/", "http://c"]]:
        ...     with seen.adding() as more:
        ...         print([more.dedup(batch) for batch in run])
        [['http://a'], ['http://b']]
        [['http://c']]
        >>> place.cleanup()
        """
        values = _kinds.column(urls)
        return _kinds.rows(urls, values, self._new(values))

    def _new(self, values: _uriscan.Column) -> _uriscan.Column:
        firsts = self._firsts.mark(values)
        keys = self._target._form.key(values)
        new = firsts._and_not(self._target._keys.contains(keys))
        self._adding.push(keys.filter(new))
        return new

    def __reduce__(self) -> Any:
        raise TypeError("what is on its way into a set cannot be pickled or copied; the Set can")

    def add_keys(self, keys: Any) -> None:
        """Adds keys that :func:`uriscan.key` made with the keywords and the hash of the set; see :meth:`Set.add_keys`."""
        self._adding.push(_kinds.column(keys))

    def __enter__(self) -> Adding:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if kind is None:
            self.added = self._adding.commit()
            self._target.refresh()
        else:
            self._adding.close()


def _again(path: str, keywords: dict[str, Any]) -> Set:
    """What was pickled: the set in this directory."""
    return Set.open(path, **keywords)
