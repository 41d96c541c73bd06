"""Sets in pieces, for many machines: each piece has the keys that begin with the same bits."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import tempfile
from dataclasses import dataclass, field
from typing import Any

from ._options import Equivalence, KeyHash, OnInvalid, Unpack
from ._set import Set

FORMAT = "uriscan set pieces 1"
NAME = "pieces.json"
LOCK = "pieces.lock"
MOST_BITS = 12


@dataclass
class SetPieces:
    """A set of keys, cut into sets by the first bits of the keys, in a directory that all machines see.

    ``uriscan set split`` makes such a directory of one set, ``uriscan set merge`` makes one set of it. A run adds sets beside
    those that are there (:meth:`commit`): either all of them are part of the whole, or none is.

    >>> import tempfile, os
    >>> place = tempfile.TemporaryDirectory()
    >>> seen = SetPieces.create(os.path.join(place.name, "seen"), bits=2)
    >>> len(seen), seen.sets(3)
    (4, [])
    >>> with seen.adding() as run:
    ...     part = run.create(3)
    ...     added = part.add_keys([b"\\xff" * 16])
    ...     run.take(3, part.path)
    >>> SetPieces.open(seen.path).contains_keys(3, [b"\\xff" * 16, b"\\xfe" * 16])
    [True, False]
    >>> place.cleanup()
    """

    path: str
    """The directory."""
    bits: int
    """The number of leading bits of a key that are the number of its piece."""
    meaning: list[str]
    """What the keys mean, fact by fact."""
    names: list[list[str]]
    """The sets of each piece, relative to the directory."""
    keywords: dict[str, Any] = field(default_factory=dict)
    """The keywords that the sets are opened with."""
    _opened: dict[int, list[Set]] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def create(
        cls,
        path: str | os.PathLike[str],
        *,
        bits: int = 8,
        hash: KeyHash = "blake3",
        on_invalid: OnInvalid = "pass",
        **equivalence: Unpack[Equivalence],
    ) -> SetPieces:
        """Makes an empty one in the directory ``path``, which must not be there, with 2 to the power of ``bits`` pieces."""
        if not 0 <= bits <= MOST_BITS:
            raise ValueError(f"bits are 0 to {MOST_BITS}, not {bits}")
        path = os.path.abspath(path)
        keywords: dict[str, Any] = {"on_invalid": on_invalid, **equivalence}
        with tempfile.TemporaryDirectory() as scratch:
            model = Set.create(os.path.join(scratch, "model.set"), hash=hash, **keywords)
            meaning = model.meaning.splitlines()
        os.mkdir(path)
        made = cls(path, bits, meaning, [[] for _ in range(1 << bits)], keywords)
        made._write()
        return made

    @classmethod
    def open(
        cls, path: str | os.PathLike[str], *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]
    ) -> SetPieces:
        """Opens the one in the directory ``path``, made with the same keywords."""
        path = os.path.abspath(path)
        with open(os.path.join(path, NAME), encoding="utf-8") as file:
            known = json.load(file)
        is_ours = isinstance(known, dict) and known.get("format") == FORMAT
        if not is_ours or len(known["pieces"]) != 1 << known["bits"]:
            raise ValueError(f"{path}: {NAME} is not a list of pieces ({FORMAT})")
        for name in (name for names in known["pieces"] for name in names):
            if os.path.isabs(name) or ".." in name.split("/"):
                raise ValueError(f"{path}: {NAME} names {name!r}, which is not below it")
        keywords: dict[str, Any] = {"on_invalid": on_invalid, **equivalence}
        opened = cls(path, known["bits"], known["meaning"], known["pieces"], keywords)
        some = next((piece for piece, names in enumerate(opened.names) if names), None)
        if some is not None:
            # Fails if its keys have another meaning.
            opened.sets(some)
        return opened

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
            paths = [os.path.join(self.path, name) for name in self.names[piece]]
            self._opened = {piece: [Set.open(path, **self.keywords) for path in paths]}
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
        """Makes one set of all in the directory ``path``."""
        sets = [each for piece in range(len(self)) for each in self.sets(piece)]
        if not sets:
            raise ValueError(f"{self.path} has no sets yet")
        return Set.merge(path, sets)

    def compact(self) -> None:
        """Makes one set of those of each piece.

        Jobs that read it meanwhile read on: the sets that were merged are removed by the next :meth:`compact`, together with what
        failed runs have left. So a job may not take longer than until the second one. Like a run, it holds the lock.
        """
        with self.adding() as run:
            self._remove_unnamed()
            names = list(self.names)
            for piece, of_piece in enumerate(self.names):
                if len(of_piece) > 1:
                    path = run.path(piece)
                    Set.merge(path, self.sets(piece))
                    names[piece] = [os.path.relpath(path, self.path)]
            self.names = names

    def _remove_unnamed(self) -> None:
        """Removes the sets of runs and of ``uriscan set split`` that are part of no piece."""
        named = {name for names in self.names for name in names}
        for directory in os.listdir(self.path):
            if not directory.startswith("run-") and directory != "base":
                continue
            for name in os.listdir(os.path.join(self.path, directory)):
                if name.endswith(".set") and f"{directory}/{name}" not in named:
                    shutil.rmtree(os.path.join(self.path, directory, name))
            with contextlib.suppress(OSError):
                # Not while something is in it.
                os.rmdir(os.path.join(self.path, directory))

    def _write(self) -> None:
        known = {"format": FORMAT, "bits": self.bits, "meaning": self.meaning, "pieces": self.names}
        temporary = os.path.join(self.path, f".{NAME}-{os.urandom(6).hex()}")
        with open(temporary, "x", encoding="utf-8") as file:
            json.dump(known, file)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, os.path.join(self.path, NAME))
        directory = os.open(self.path, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


class Run:
    """Sets on their way into :class:`SetPieces`. What tasks make that are not taken is never part of it.

    A run holds the lock of the directory from its beginning to its end; it can be pickled, and then only makes sets.
    """

    def __init__(self, pieces: SetPieces) -> None:
        self.pieces = pieces
        self.name = f"run-{os.urandom(8).hex()}"
        self._taken: list[tuple[int, str]] = []

    def create(self, piece: int) -> Set:
        """Makes an empty set for new keys of a piece; on any machine, and more than once where work is done again."""
        made = Set.create(self.path(piece), hash=self.pieces.hash, **self.pieces.keywords)
        if made.meaning.splitlines() != self.pieces.meaning:
            raise ValueError(f"{self.pieces.path} has keys of another meaning: {'; '.join(self.pieces.meaning)}")
        return made

    def path(self, piece: int) -> str:
        """A new path for a set of a piece, whose directory is there."""
        directory = os.path.join(self.pieces.path, self.name)
        os.makedirs(directory, exist_ok=True)
        return os.path.join(directory, f"{piece:03x}-{os.urandom(6).hex()}.set")

    def take(self, piece: int, path: str) -> None:
        """Makes a set that :meth:`create` has made part of the whole, when the block ends well."""
        self._taken.append((piece, os.path.relpath(path, self.pieces.path)))

    def __enter__(self) -> Run:
        lock = os.path.join(self.pieces.path, LOCK)
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        except FileExistsError:
            raise RuntimeError(
                f"{lock} exists: another run adds to this set, or was killed; remove the file if there is none"
            ) from None
        try:
            # What others have added since it was opened.
            self.pieces.names = SetPieces.open(self.pieces.path, **self.pieces.keywords).names
            self.pieces._opened = {}
        except BaseException:
            os.unlink(lock)
            raise
        return self

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        try:
            if kind is None:
                for piece, name in self._taken:
                    self.pieces.names[piece].append(name)
                self.pieces._write()
                self.pieces._opened = {}
        finally:
            os.unlink(os.path.join(self.pieces.path, LOCK))


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
