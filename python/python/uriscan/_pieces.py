"""Sets in pieces, for many machines: each piece has the keys that begin with the same bits."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from typing import Any

from ._cache import BYTES
from ._directory import LIMIT, NAME, Directory, is_below
from ._objects import Objects, found_at, meaning_of
from ._options import Equivalence, KeyHash, OnInvalid, Unpack
from ._set import Set

FORMAT = "uriscan set pieces 1"
MOST_BITS = 12


@dataclass
class SetPieces:
    """A set of keys, cut into sets by the first bits of the keys, in a directory that all machines see or in object storage.

    ``uriscan set split`` makes such a directory of one set, ``uriscan set merge`` makes one set of it. A run adds sets beside
    those that are there (:meth:`adding`): either all of them are part of the whole, or none is.

    >>> import tempfile, os
    >>> place = tempfile.TemporaryDirectory()
    >>> seen = SetPieces.create(os.path.join(place.name, "seen"), bits=2)
    >>> len(seen), seen.sets(3)
    (4, [])
    >>> with seen.adding() as run:
    ...     part = run.create(3)
    ...     added = part.add_keys([b"\\xff" * 16])
    ...     run.take(3, run.put(part))
    >>> SetPieces.open(seen.path).contains_keys(3, [b"\\xff" * 16, b"\\xfe" * 16])
    [True, False]
    >>> place.cleanup()

    In object storage it is at a URI such as ``s3://bucket/seen`` or ``gs://bucket/seen``, or at a path of ``filesystem``, a file
    system of pyarrow; the objects have the names of the files of a directory, so a plain copy is one. What is looked up is
    fetched to the directory ``cache`` of each machine, which has at most ``cache_bytes``. The list of what is part of the set is put
    last, as one object. Two runs at a time exclude each other by an object that each reads again before it ends, and by
    comparing the list with the one that it began with: the one that loses raises ``RuntimeError`` and adds nothing. pyarrow cannot
    put an object on a condition, so one window remains: of two runs that both hold a lock, as it was removed by hand or as they
    began at the same moment, one compares the list and then stands still before it puts its own, commonly for a few milliseconds, while
    the other puts its list; then the keys of the other are missing from the set. Object storage has to show at once what was
    put, as S3, GCS and Azure do.
    """

    path: str
    """The directory, or the URI."""
    bits: int
    """The number of leading bits of a key that are the number of its piece."""
    meaning: list[str]
    """What the keys mean, fact by fact."""
    names: list[list[str]]
    """The sets of each piece, relative to the directory."""
    keywords: dict[str, Any] = field(default_factory=dict)
    """The keywords that the sets are opened with."""
    _store: Directory | Objects = field(default=None, repr=False, compare=False)  # type: ignore[assignment]
    _opened: dict[int, list[Set]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        bits: int = 8,
        hash: KeyHash = "blake3",
        filesystem: Any = None,
        cache: str | os.PathLike[str] | None = None,
        cache_bytes: int = BYTES,
        on_invalid: OnInvalid = "pass",
        **equivalence: Unpack[Equivalence],
    ) -> SetPieces:
        """Makes an empty one in the directory ``path``, which must not be there, with 2 to the power of ``bits`` pieces.

        Args:
            path: The directory, or a URI of object storage, below which there must be nothing.
            bits: The number of leading bits of a key that are the number of its piece, at most 12.
            hash: The hash of its keys, which are those of :func:`uriscan.key`.
            filesystem: The file system of pyarrow that ``path`` is of.
            cache: For object storage, the directory of each machine that pieces are fetched to; otherwise one below that for
                temporary files. Nobody else may write to it.
            cache_bytes: What it may have, 8 GiB unless given. Each piece must fit.
            on_invalid: See :func:`uriscan.key`.
            **equivalence: When two values are equivalent; see :class:`uriscan.Deduplicator`.
        """
        if not 0 <= bits <= MOST_BITS:
            raise ValueError(f"bits are 0 to {MOST_BITS}, not {bits}")
        store, path = _stored(path, filesystem, cache, cache_bytes)
        keywords: dict[str, Any] = {"on_invalid": on_invalid, **equivalence}
        made = cls(path, bits, meaning_of(keywords, hash), [[] for _ in range(1 << bits)], keywords, store)
        store.make(made._text(made.names))
        return made

    @classmethod
    def open(
        cls,
        path: str | os.PathLike[str],
        *,
        filesystem: Any = None,
        cache: str | os.PathLike[str] | None = None,
        cache_bytes: int = BYTES,
        on_invalid: OnInvalid = "pass",
        **equivalence: Unpack[Equivalence],
    ) -> SetPieces:
        """Opens the one at ``path``, made with the same keywords; see :meth:`create`."""
        store, path = _stored(path, filesystem, cache, cache_bytes)
        bits, meaning, names = _parsed(store.read(), store.shown)
        keywords: dict[str, Any] = {"on_invalid": on_invalid, **equivalence}
        store.check(names, meaning, keywords)
        return cls(path, bits, meaning, names, keywords, store)

    @classmethod
    def _of(cls, seen: SetPieces | str | os.PathLike[str], keywords: dict[str, Any]) -> SetPieces:
        """The one that a function was given, or that at the path which it was given; fails if its keys have another meaning."""
        if not isinstance(seen, SetPieces):
            return cls.open(seen, **keywords)
        if meaning_of(keywords, seen.hash) != seen.meaning:
            raise ValueError(f"{seen._store.shown} has keys of another meaning: {'; '.join(seen.meaning)}")
        return seen

    def __repr__(self) -> str:
        return f"<uriscan.SetPieces: {len(self)} pieces in {self._store.shown}>"

    @property
    def hash(self) -> Any:
        """The hash of the keys: ``"blake3"`` or ``"sha256"``."""
        return self.meaning[0].removeprefix("hash ")

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_opened": {}}

    def __len__(self) -> int:
        """The number of pieces."""
        return 1 << self.bits

    def piece_of(self, key: bytes) -> int:
        """The number of the piece of a key of 16 bytes."""
        return int.from_bytes(key[:2], "big") >> (16 - self.bits)

    def sets(self, piece: int) -> list[Set]:
        """The sets of a piece; those of the last piece that was asked for stay open."""
        if piece not in self._opened:
            # Those of the one before are closed first, as the room of the cache is for one.
            self._opened = {}
            self._opened = {piece: self._store.open(self.names[piece], self.keywords)}
        return self._opened[piece]

    def contains_keys(self, piece: int, keys: Any) -> Any:
        """Whether each of ``keys``, a list or an array of pyarrow with keys of this piece, is in it."""
        sets = self.sets(piece)
        if not sets:
            import pyarrow as pa

            nothing = [False] * len(keys)
            return nothing if isinstance(keys, list) else pa.array(nothing, pa.bool_())
        found = sets[0].contains_keys(keys)
        for each in sets[1:]:
            more = each.contains_keys(keys)
            import pyarrow.compute as pc

            is_list = isinstance(found, list)
            found = [one or other for one, other in zip(found, more)] if is_list else pc.or_(found, more)
        return found

    def adding(self) -> Run:
        """Begins a run that adds to it."""
        return Run(self)

    def merge(self, path: str | os.PathLike[str]) -> Set:
        """Makes one set of all in the directory ``path``. Of object storage all of it is fetched for that."""
        sets = [each for piece in range(len(self)) for each in self.sets(piece)]
        if not sets:
            raise ValueError(f"{self._store.shown} has no sets yet")
        return Set.merge(path, sets)

    def compact(self) -> None:
        """Makes one set of those of each piece.

        Jobs that read it meanwhile read on: the sets that were merged are removed by the next :meth:`compact`, together with what
        failed runs have left. So a job may not take longer than until the second one. Like a run, it holds the lock.
        """
        with self.adding() as run:
            self._store.remove(self.leftovers())
            for piece, names in enumerate(self.names):
                if len(names) > 1:
                    run._replace(piece, Set.merge(run.path(piece), self.sets(piece)))

    def leftovers(self) -> list[str]:
        """The sets that are part of no piece: those of a run that is on its way or has failed, and those that the last
        :meth:`compact` has merged, which jobs may still read. The next :meth:`compact` removes them.

        In object storage, parts of an object that a killed run was putting are not an object yet: a rule of the bucket removes
        incomplete uploads.
        """
        names = _parsed(self._store.read(), self._store.shown)[2]
        return self._store.others({name for of_piece in names for name in of_piece})

    def is_locked(self) -> bool:
        """Whether a run has the lock, or was killed and has left it."""
        return self._store.is_locked()

    def unlock(self) -> None:
        """Removes the lock of a run that was killed. In object storage a run that is alive then fails at its end."""
        self._store.unlock()

    def _text(self, names: list[list[str]]) -> bytes:
        known = {"format": FORMAT, "bits": self.bits, "meaning": self.meaning, "pieces": names}
        return json.dumps(known).encode() + b"\n"

    def _write(self) -> None:
        self._store.write(self._text(self.names))


def _stored(path: Any, filesystem: Any, cache: Any, cache_bytes: int) -> tuple[Directory | Objects, str]:
    """Where a set in pieces is, and the path that it is opened by again."""
    found = found_at(path, filesystem, cache, cache_bytes)
    return (Directory(found), found) if isinstance(found, str) else (found, os.fspath(path))


def _parsed(text: bytes, shown: str) -> tuple[int, list[str], list[list[str]]]:
    """Bits, meaning and names of a list of pieces, in which nothing is trusted."""

    def are(values: Any, kind: type) -> bool:
        return isinstance(values, list) and all(isinstance(value, kind) for value in values)

    try:
        known = json.loads(text) if len(text) <= LIMIT else None
    except (ValueError, RecursionError):
        known = None
    if not isinstance(known, dict) or known.get("format") != FORMAT:
        raise ValueError(f"{shown}: {NAME} is not a list of pieces ({FORMAT})")
    bits, meaning, names = known.get("bits"), known.get("meaning"), known.get("pieces")
    is_ours = type(bits) is int and 0 <= bits <= MOST_BITS and are(meaning, str) and meaning and are(names, list)
    if not is_ours or len(names) != 1 << bits:
        raise ValueError(f"{shown}: {NAME} is not a list of pieces ({FORMAT})")
    for name in (name for of_piece in names for name in of_piece):
        if not is_below(name):
            raise ValueError(f"{shown}: {NAME} names {name!r}, which is not below it")
    return bits, meaning, names


class Run:
    """Sets on their way into :class:`SetPieces`. What tasks make that are not taken is never part of it.

    A run holds the lock of the set from its beginning to its end; it can be pickled, and then only makes sets.
    """

    def __init__(self, pieces: SetPieces) -> None:
        self.pieces = pieces
        self.name = f"run-{os.urandom(8).hex()}"
        self._names: list[list[str]] = []

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_names": []}

    def create(self, piece: int) -> Set:
        """Makes an empty set for new keys of a piece; on any machine, and more than once where work is done again."""
        made = Set.create(self.path(piece), hash=self.pieces.hash, **self.pieces.keywords)
        if made.meaning.splitlines() != self.pieces.meaning:
            raise ValueError(f"{self.pieces._store.shown} has keys of another meaning: {'; '.join(self.pieces.meaning)}")
        return made

    def path(self, piece: int) -> str:
        """A new path of this machine for a set of a piece, whose directory is there."""
        return self.pieces._store.new_path(self.name, f"{piece:03x}-{os.urandom(6).hex()}.set")

    def put(self, made: Set) -> str:
        """Puts a set that :meth:`create` has made, and that is complete, where all machines see it; returns its name. In object
        storage it is then gone from this machine."""
        return self.pieces._store.keep(self.name, made.path)

    def take(self, piece: int, name: str) -> None:
        """Makes a set part of the whole, when the block ends well: one that :meth:`put` has named, on any machine, or that is at
        a path of this one."""
        name = self.pieces._store.keep(self.name, name)
        if not is_below(name):
            raise ValueError(f"{name!r} is not below {self.pieces._store.shown}")
        self._names[piece].append(name)

    def _replace(self, piece: int, made: Set) -> None:
        """Makes this set all of a piece."""
        self._names[piece] = [self.put(made)]

    def __enter__(self) -> Run:
        store, pieces = self.pieces._store, self.pieces
        text = store.begin(self.name)
        try:
            # What others have added since it was opened.
            bits, meaning, names = _parsed(text, store.shown)
            if (bits, meaning) != (pieces.bits, pieces.meaning):
                raise RuntimeError(f"{store.shown} is another set than when it was opened")
            store.check(names, meaning, pieces.keywords)
            pieces.names, pieces._opened = names, {}
            self._names = [list(of_piece) for of_piece in names]
        except BaseException:
            store.end()
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                self.pieces._store.commit(self.pieces._text(self._names))
                self.pieces.names, self.pieces._opened = self._names, {}
        finally:
            self.pieces._store.end()


def is_in(seen: SetPieces, pieces: Any, keys: Any) -> Any:
    """Whether each of ``keys``, an array of pyarrow whose pieces are these, is in ``seen``."""
    import pyarrow as pa
    import pyarrow.compute as pc

    order = pc.sort_indices(pieces)
    counts = pc.value_counts(pieces.take(order)).to_pylist()
    found, start = [], 0
    for each in counts:
        of_piece = keys.take(order.slice(start, each["counts"]))
        found.append(seen.contains_keys(each["values"], of_piece))
        start += each["counts"]
    back = pc.sort_indices(order)
    return pa.concat_arrays(found).take(back) if found else pa.array([], pa.bool_())
