"""Sets in pieces on one machine: what is merged stays readable, and what is left over goes away."""

import os
import pickle
from pathlib import Path

import pytest

import uriscan

KEYS = [bytes([first]) + b"\x01" * 15 for first in range(0, 256, 8)]


def add(seen, keys):
    """A run that adds these keys, a set for each piece."""
    with seen.adding() as run:
        of_piece = {}
        for key in keys:
            of_piece.setdefault(seen.piece_of(key), []).append(key)
        for piece, some in of_piece.items():
            made = run.create(piece)
            made.add_keys(some)
            run.take(piece, made.path)


def known(seen, keys=KEYS):
    return [key for key in keys if seen.contains_keys(seen.piece_of(key), [key]) == [True]]


def sets(seen):
    """The sets on disk."""
    return sorted(str(path.relative_to(seen.path)) for path in Path(seen.path).glob("*/*.set"))


@pytest.fixture(name="seen")
def _seen(tmp_path):
    seen = uriscan.SetPieces.create(tmp_path / "seen", bits=2)
    add(seen, KEYS[:20])
    add(seen, KEYS[12:])
    return seen


def test_jobs_that_read_go_on(seen):
    # One has opened sets of a piece, the other none yet.
    reader, other = uriscan.SetPieces.open(seen.path), pickle.loads(pickle.dumps(seen))
    assert reader.contains_keys(0, KEYS[:2]) == [True, True]
    seen.compact()
    assert {len(names) for names in seen.names} == {1}
    assert known(reader) == known(other) == known(seen) == known(uriscan.SetPieces.open(seen.path)) == KEYS
    # New ones do not need what was merged, and the next one removes it.
    before = sets(seen)
    uriscan.SetPieces.open(seen.path).compact()
    named = sorted(name for names in seen.names for name in names)
    assert sets(seen) == named and len(named) < len(before)
    assert known(uriscan.SetPieces.open(seen.path)) == KEYS
    with pytest.raises(uriscan.SetError, match="does not exist"):
        known(pickle.loads(pickle.dumps(reader)))


def test_what_failed_runs_left_is_removed(seen):
    with pytest.raises(KeyError), seen.adding() as run:
        run.create(0).add_keys([KEYS[0]])
        raise KeyError
    seen.compact()
    assert run.name not in os.listdir(seen.path) and known(seen) == KEYS


def test_pieces_of_the_program_are_merged(seen, tmp_path):
    """Of a directory that has sets of the program's names too."""
    whole = seen.merge(tmp_path / "whole")
    split = uriscan.SetPieces.create(tmp_path / "split", bits=2)
    base = tmp_path / "split" / "base"
    base.mkdir()
    for piece in range(4):
        uriscan.Set.merge(base / f"{piece}.set", seen.sets(piece))
        split.names[piece] = [f"base/{piece}.set"]
    split._write()
    add(split, [b"\x01" * 16])
    split.compact()
    split.compact()
    assert sets(split) == sorted(name for names in split.names for name in names) and len(split.names[0]) == 1
    assert len(split.merge(tmp_path / "again")) == len(whole) + 1


def test_runs_exclude_each_other(seen):
    with seen.adding(), pytest.raises(RuntimeError, match="another run adds"):
        uriscan.SetPieces.open(seen.path).compact()
    # One that fails changes nothing.
    names = [list(names) for names in seen.names]
    os.rename(Path(seen.path) / seen.names[2][0], Path(seen.path) / "gone.set")
    with pytest.raises(uriscan.SetError):
        seen.compact()
    assert not (Path(seen.path) / "pieces.lock").exists()
    os.rename(Path(seen.path) / "gone.set", Path(seen.path) / names[2][0])
    assert uriscan.SetPieces.open(seen.path).names == names and known(uriscan.SetPieces.open(seen.path)) == KEYS
