"""Sets on disk."""

import copy
import datetime
import filecmp
import os
import pickle
import time

import pyarrow
import pytest
from conftest import values

import uriscan
from uriscan import Set


def test_what_is_added_is_there(tmp_path):
    given = [value for value in values(31, 500)]
    seen = Set.create(tmp_path / "seen")
    assert len(seen) == 0 and seen.contains(["http://h/"]) == [False]
    keys = {uriscan.key(value) for value in given if value is not None}
    assert seen.add(given) == len(keys) == len(seen)
    assert seen.add(given) == 0
    asked = given + ["http://not.there/", None]
    assert seen.contains(asked) == [None if value is None else value != "http://not.there/" for value in asked]
    again = Set.open(str(tmp_path / "seen"))
    assert again.contains(pyarrow.array(given)).to_pylist() == [value and True if value != "" else True for value in given]
    again.hold()
    assert "HTTP://h" in again or uriscan.key("HTTP://h") not in keys
    assert again.verify() == [] and len(again) == len(keys)
    assert again.file_bytes > 0 and again.path == str(tmp_path / "seen")
    assert "level scheme" in again.meaning


def test_keys(tmp_path):
    one, other = Set.create(tmp_path / "one"), Set.create(tmp_path / "other")
    given = pyarrow.array(["http://a/", None, "http://b/", "HTTP://a"])
    assert (one.add(given), other.add_keys(uriscan.key(given))) == (2, 2)
    assert one.contains_keys(uriscan.key(given)).to_pylist() == [True, None, True, True]
    one.compact(), other.compact()
    assert files(one) == files(other)
    with pytest.raises(TypeError, match="column of keys"):
        one.add_keys(given)


def test_what_is_too_long_has_a_key_that_no_set_has(tmp_path):
    seen = Set.create(tmp_path / "seen")
    zeros = uriscan.key(b"http://h/" + b"x" * (64 << 20))
    assert zeros == bytes(16) and uriscan.key(["http://h/" + "x" * (64 << 20)], on_invalid="drop") == [None]
    assert seen.add_keys([zeros, uriscan.key("http://h/"), None]) == 1
    assert seen.contains_keys([zeros, uriscan.key("http://h/")]) == [False, True]
    assert seen.verify() == []


def files(one):
    """Names and bytes of all files of a set."""
    names = sorted(os.listdir(one.path))
    return [(name, open(os.path.join(one.path, name), "rb").read()) for name in names]


def test_merge_is_the_same_in_any_order(tmp_path):
    parts = []
    for number in range(3):
        parts.append(Set.create(tmp_path / f"part-{number}"))
        parts[-1].add([f"http://h/{at}" for at in range(number * 50, number * 50 + 100)])
    one = Set.merge(tmp_path / "one", parts)
    other = Set.merge(tmp_path / "other", reversed(parts))
    assert len(one) == len(other) == 200
    compare = filecmp.dircmp(one.path, other.path)
    assert not compare.diff_files and not compare.left_only and not compare.right_only
    assert len(Set.intersection(tmp_path / "common", parts[:2])) == 50
    assert len(Set.difference(tmp_path / "difference", parts)) == 50
    assert one.contains("http://h/199") and not one.contains("http://h/200")
    with pytest.raises(ValueError):
        Set.merge(tmp_path / "none", [])


def test_hash(tmp_path):
    given = ["http://a/", "HTTP://b", "no URI"]
    one = Set.create(tmp_path / "one")
    other = Set.create(tmp_path / "other", hash="sha256")
    assert (one.hash, other.hash) == ("blake3", "sha256")
    assert (one.add(given), other.add(given)) == (3, 3)
    # Opened without a word about the hash.
    other = Set.open(tmp_path / "other")
    assert other.hash == "sha256" and "hash sha256" in other.meaning
    assert other.contains(given) == [True] * 3 and "http://b/" in other
    keys = {name: uriscan.key(pyarrow.array(given), hash=name) for name in ("blake3", "sha256")}
    assert other.contains_keys(keys["sha256"]).to_pylist() == [True] * 3
    assert other.contains_keys(keys["blake3"]).to_pylist() == [False] * 3
    assert (one.add_keys(keys["blake3"]), other.add_keys(keys["sha256"])) == (0, 0)
    for combine in Set.merge, Set.difference, Set.intersection:
        with pytest.raises(uriscan.SetError, match="hash") as caught:
            combine(tmp_path / "both", [one, other])
        assert caught.value.kind == "differs"
    with pytest.raises(ValueError, match="there are blake3, sha256"):
        Set.create(tmp_path / "third", hash="md5")
    with pytest.raises(TypeError):
        Set.create(tmp_path / "third", seed=1)


def test_first_seen(tmp_path):
    day = datetime.datetime(2026, 3, 1, tzinfo=datetime.timezone.utc)
    sets = [Set.create(tmp_path / name, first_seen=True) for name in ("a", "b")]
    sets[0].add(["http://a/", "http://b/"], at=day)
    sets[1].add(["http://b/", "http://c/"], at=day + datetime.timedelta(days=1))
    before = int(time.time())
    sets[1].add(["http://d/"])
    first = int(day.timestamp())
    merged = Set.merge(tmp_path / "m", reversed(sets))
    asked = pyarrow.array(["HTTP://c", None, "http://nobody/", "http://b/", "http://d/"])
    *known, today = merged.first_seen(asked).to_pylist()
    assert known == [first + 86400, None, None, first]
    assert before <= today <= time.time()
    assert merged.keeps_first_seen and merged.first_seen("http://a") == first
    plain = Set.create(tmp_path / "plain")
    assert not plain.keeps_first_seen
    for refused in (
        lambda: plain.first_seen(["http://a/"]),
        lambda: plain.add(["http://a/"], at=day),
        lambda: Set.merge(tmp_path / "n", [plain, sets[0]]),
    ):
        with pytest.raises(uriscan.SetError, match="first-seen") as caught:
            refused()
        assert caught.value.kind == "differs"
    with pytest.raises(OverflowError):
        sets[0].add(["http://a/"], at=-1)


def test_many_batches_at_once(tmp_path):
    seen = Set.create(tmp_path / "seen")
    with seen.adding(memory=1 << 16) as more:
        for at in range(0, 20_000, 1000):
            more.add(pyarrow.array([f"http://h/{number}" for number in range(at, at + 1500)]))
    assert more.added == len(seen) == 20_500
    with pytest.raises(ValueError, match="committed"):
        more.add("http://h/")


def test_all_or_nothing(tmp_path):
    seen = Set.create(tmp_path / "seen")
    with pytest.raises(ZeroDivisionError):
        with seen.adding() as more:
            more.add(["http://h/"])
            1 / 0
    assert len(seen) == 0 and len(Set.open(tmp_path / "seen")) == 0
    assert seen.add(["http://h/"]) == 1


def test_others_are_seen_after_a_refresh(tmp_path):
    one = Set.create(tmp_path / "seen")
    Set.open(tmp_path / "seen").add(["http://h/"])
    assert not one.contains("http://h/")
    one.refresh()
    assert one.contains("http://h/")


def test_faults(tmp_path):
    def fault(work):
        with pytest.raises(uriscan.SetError) as caught:
            work()
        return caught.value

    seen = Set.create(tmp_path / "seen", level="syntax", hash="sha256")
    seen.add(["http://h/"])
    assert fault(lambda: Set.create(tmp_path / "seen")).kind == "exists"
    error = fault(lambda: Set.open(tmp_path / "nothing"))
    assert (error.kind, error.path) == ("not-a-set", str(tmp_path / "nothing"))
    error = fault(lambda: Set.open(tmp_path / "seen"))
    assert error.kind == "differs" and "level: syntax in the set" in str(error)
    assert Set.open(tmp_path / "seen", level="syntax").contains("http://h/")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "lock").write_text("not ours")
    assert fault(lambda: Set.create(tmp_path / "mine")).kind == "not-empty"
    assert os.listdir(tmp_path / "mine") == ["lock"]
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "set").symlink_to(tmp_path / "seen" / "set")
    assert fault(lambda: Set.open(tmp_path / "linked")).kind == "not-a-set"
    other = Set.create(tmp_path / "other")
    assert fault(lambda: Set.merge(tmp_path / "both", [seen, other])).kind == "differs"
    with seen.adding():
        assert fault(lambda: seen.add(["http://i/"])).kind == "busy"
    (keys,) = [name for name in os.listdir(tmp_path / "seen") if name.endswith(".keys")]
    path = tmp_path / "seen" / keys
    content = bytearray(path.read_bytes())
    # The first key stands behind a header of 4 KiB.
    content[4096] ^= 1
    path.write_bytes(bytes(content))
    damages = Set.open(tmp_path / "seen", level="syntax").verify()
    assert len(damages) == 1 and "damaged" in damages[0]


@pytest.mark.parametrize("keywords", [{}, {"preset": "crawl"}, {"on_invalid": "drop"}, {"level": "string"}], ids=str)
def test_what_is_new_from_run_to_run(tmp_path, keywords):
    """A set does what a deduplicator does, over many runs, and in another process."""
    given = values(91, 1200)
    seen, one = uriscan.Set.create(tmp_path / "seen.set", **keywords), uriscan.Deduplicator(**keywords)
    for run in range(3):
        with pickle.loads(pickle.dumps(seen)).adding() as more:
            for at in range(run * 400, run * 400 + 400, 130):
                batch = given[at : min(at + 130, run * 400 + 400)]
                expected = one.is_first(batch)
                if at % 3:
                    assert more.is_first(batch) == expected
                else:
                    assert more.dedup(batch) == [value for value, new in zip(batch, expected) if new]
        seen.refresh()
        assert len(seen) == len(one)
    with pytest.raises(RuntimeError), seen.adding() as more:
        assert more.dedup(["http://never.example/"]) == ["http://never.example/"]
        raise RuntimeError
    assert "http://never.example/" not in seen


def test_what_cannot_be_copied(tmp_path):
    seen = uriscan.Set.create(tmp_path / "seen.set")
    with seen.adding() as more:
        for way in pickle.dumps, copy.copy, copy.deepcopy:
            with pytest.raises(TypeError, match="the Set can"):
                way(more)
    one = uriscan.Deduplicator(preset="crawl")
    for way in copy.copy, copy.deepcopy:
        assert way(one).dedup(["http://h/#a", "http://h/"]) == ["http://h/#a"]
        assert "http://h/" not in way(seen)
    one.dedup(["http://h/"])
    for way in pickle.dumps, copy.copy, copy.deepcopy:
        with pytest.raises(TypeError, match="use a Set"):
            way(one)
