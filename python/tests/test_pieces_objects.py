"""Sets in pieces in object storage: in memory, where requests fail on demand, and in the S3 of moto."""

import json
import os
import pickle
import subprocess
import threading
import warnings

import pyarrow.fs as fs
import pytest
from stores import Memory, s3
from test_pieces import KEYS, add

import uriscan
from uriscan import _cache, _directory

LIST, LOCK = "bucket/seen/pieces.json", "bucket/seen/pieces.lock"


def known(seen, keys=KEYS):
    return [key for key in keys if seen.contains_keys(seen.piece_of(key), [key]) == [True]]


def named(seen):
    return sorted(name for names in seen.names for name in names)


@pytest.fixture(name="memory")
def _memory():
    return Memory()


@pytest.fixture(name="opened")
def _opened(memory, tmp_path):
    """A function that opens the set again."""
    given = {"filesystem": fs.PyFileSystem(memory), "cache": tmp_path / "cache"}
    uriscan.SetPieces.create("bucket/seen", bits=2, **given)
    return lambda **more: uriscan.SetPieces.open("bucket/seen", **{**given, **more})


@pytest.fixture(name="seen")
def _seen(opened):
    seen = opened()
    add(seen, KEYS[:20])
    add(seen, KEYS[12:])
    return seen


def entries(tmp_path):
    return sorted(name for name in os.listdir(tmp_path / "cache") if name != "lock")


def test_it_is_what_a_directory_is(seen, opened, memory, tmp_path):
    assert known(seen) == known(opened()) == known(pickle.loads(pickle.dumps(seen))) == KEYS
    assert known(seen, [b"\x00" * 16, b"\xff" * 16]) == [] and len(seen.names[1]) == 2
    assert LOCK not in memory.objects and not seen.is_locked()
    # Nothing of what was made stays on this machine but what was fetched.
    assert not any(name.startswith("new-") for name in entries(tmp_path))
    # A plain copy is a directory of the same.
    for name, data in memory.objects.items():
        path = tmp_path / "copy" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    copy = uriscan.SetPieces.open(tmp_path / "copy/bucket/seen")
    assert copy.names == seen.names and known(copy) == KEYS
    assert len(seen.merge(tmp_path / "merged")) == len(KEYS)
    if "URISCAN_PROGRAM" in os.environ:
        merge = [os.environ["URISCAN_PROGRAM"], "set", "merge", "-o", tmp_path / "of-program", copy.path]
        subprocess.run(merge, check=True, capture_output=True)
        files = {path.name: path.read_bytes() for path in (tmp_path / "merged").iterdir()}
        assert files == {path.name: path.read_bytes() for path in (tmp_path / "of-program").iterdir()}


def test_there_is_nothing_where_one_is_made(seen, memory, tmp_path):
    given = {"filesystem": fs.PyFileSystem(memory), "cache": tmp_path / "cache"}
    for path in "bucket/seen", "bucket/seen/", "bucket":
        with pytest.raises(FileExistsError, match="not empty"):
            uriscan.SetPieces.create(path, **given)
    for path in "bucket/se", "none/seen":
        with pytest.raises(FileNotFoundError):
            uriscan.SetPieces.open(path, **given)


def test_compact(seen, opened, memory):
    reader, other = opened(), pickle.loads(pickle.dumps(seen))
    assert known(reader, KEYS[:2]) == KEYS[:2]
    before = named(seen)
    seen.compact()
    assert {len(names) for names in seen.names} == {1}
    # Jobs that began before read on, until the next one.
    assert known(reader) == known(other) == known(seen) == known(opened()) == KEYS
    merged = sorted(set(before) - set(named(seen)))
    assert seen.leftovers() == merged and len(merged) > 3
    opened().compact()
    assert seen.leftovers() == [] and known(opened()) == KEYS
    assert {name.split("/", 2)[2].rpartition("/")[0] for name in memory.objects} == {"", *named(seen)}
    # Of a set that was not fetched.
    with pytest.raises(uriscan.SetError, match="bucket/seen/run-.* is not a key set, or no longer"):
        known(pickle.loads(pickle.dumps(reader)))


def test_another_meaning(seen, opened, memory):
    memory.hook = lambda what, name: pytest.fail(name) if name.endswith(".keys") else None
    with pytest.raises(uriscan.SetError, match="made with `level scheme`, not with `level syntax`") as found:
        opened(level="syntax")
    assert found.value.kind == "differs"


def test_one_run_at_a_time(seen, opened):
    with seen.adding() as run, pytest.raises(RuntimeError, match=f"pieces.lock exists .run {run.name}, host .*another run adds"):
        opened().compact()
    assert not seen.is_locked() and known(opened()) == KEYS
    # That of a run that was killed.
    opened().adding().__enter__()
    assert seen.is_locked()
    with pytest.raises(RuntimeError, match="SetPieces.unlock"):
        seen.compact()
    seen.unlock()
    seen.compact()


def test_the_run_that_loses_adds_nothing(seen, opened, memory):
    one, other = opened(), opened()
    # Its lock was taken for that of a killed run.
    with pytest.raises(RuntimeError, match="is that of another run .*nothing was added"):
        with one.adding():
            one.unlock()
            run = other.adding()
            run.__enter__()
            with pytest.raises(RuntimeError, match="exists"):
                add(opened(), [b"\x77" * 16])
    assert other.is_locked()
    run.take(0, run.put(run.create(0)))
    run.__exit__(None, None, None)
    assert not other.is_locked() and len(opened().names[0]) == 2
    with pytest.raises(RuntimeError, match="pieces.lock is gone; nothing was added"):
        with one.adding():
            one.unlock()
    # And the other has ended before.
    with pytest.raises(RuntimeError, match="pieces.json was changed by another run; nothing was added"):
        with one.adding():
            token = memory.objects.pop(LOCK)
            add(opened(), [b"\x66" * 16])
            memory.objects[LOCK] = token
    assert not other.is_locked() and known(opened(), [b"\x66" * 16])
    assert one.names == seen.names or known(one) == KEYS


@pytest.mark.parametrize("step", ["write", "put"])
def test_two_that_begin_at_once(seen, opened, memory, step):
    """Both have seen no lock; the one whose lock is put first loses."""
    both, results = threading.Barrier(2, timeout=30), []

    def wait(what, name):
        if (what, name) == (step, LOCK):
            both.wait()

    memory.hook = wait

    def run(number):
        try:
            add(opened(), [bytes([number]) * 16])
            results.append(number)
        except RuntimeError as error:
            results.append(str(error))

    threads = [threading.Thread(target=run, args=(number,)) for number in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    memory.hook = lambda what, name: None
    numbers = [each for each in results if isinstance(each, int)]
    errors = [each for each in results if isinstance(each, str)]
    assert len(errors) >= 1 and all("another run" in error or "is gone" in error for error in errors), results
    # What was reported as added is in it, and nothing else is.
    assert known(opened(), [b"\x01" * 16, b"\x02" * 16]) == [bytes([number]) * 16 for number in sorted(numbers)]
    assert not opened().is_locked()


def test_a_list_that_was_replaced_meanwhile(seen, opened, memory):
    def late(what, name):
        if (what, name) == ("read", LIST) and memory.objects[LIST] != before and not late.done:
            late.done = True
            memory.objects[LIST] = before

    late.done, before = False, memory.objects[LIST]
    memory.hook = late
    with pytest.raises(RuntimeError, match="at the same moment, which does not have the new keys"):
        add(seen, [b"\x55" * 16])
    assert late.done and not opened().is_locked()


def test_each_request_may_fail(seen, opened, memory):
    """A run whose request fails leaves the list that was there, or the new one, and no lock."""
    new, before, number = b"\x33" * 16, dict(memory.objects), 0
    while True:
        memory.objects, seen = dict(before), opened()
        made = []

        def fail(what, name):
            made.append((what, name))
            if len(made) == number + 1:
                raise OSError(f"no {what} of {name}")

        memory.hook = fail
        failed = None
        with warnings.catch_warnings(record=True) as warned:
            warnings.simplefilter("always")
            try:
                add(seen, [new])
            except OSError as error:
                failed = str(error)
        memory.hook = lambda what, name: None
        if len(made) <= number:
            break
        is_added = json.loads(memory.objects[LIST]) != json.loads(before[LIST])
        last = [at for at, each in enumerate(made) if each == ("put", LIST)]
        assert is_added == bool(last and number > last[0]), (number, made[number])
        assert failed is None or f"no {made[number][0]} of" in failed
        # It stays where it could not be removed.
        stays = LOCK in memory.objects
        assert [f"no {made[number][0]} of {LOCK}" in str(each.message) for each in warned] == [True] * stays
        memory.objects.pop(LOCK, None)
        assert failed or is_added
        assert known(opened(), [*KEYS, new]) == ([*KEYS, new] if is_added else KEYS)
        # And the next run adds it.
        add(opened(), [new])
        assert known(opened(), [new]) == [new]
        number += 1
    assert number > 12 and known(opened(), [new]) == [new]


def test_an_answer_that_is_lost(seen, opened, memory):
    """The list is there, though its put failed."""

    def lose(what, name):
        if (what, name) == ("answer", LIST):
            raise OSError("lost")

    memory.hook = lose
    add(seen, [b"\x22" * 16])
    assert known(opened(), [b"\x22" * 16]) and not seen.is_locked()


def test_what_a_dead_run_left(seen, opened, memory):
    with pytest.raises(KeyError), seen.adding() as run:
        made = run.create(0)
        made.add_keys([KEYS[0]])
        name = run.put(made)
        assert not os.path.exists(made.path)
        raise KeyError
    assert opened().leftovers() == [name] and name not in named(opened())
    # Part of a set, as its upload did not end.
    del memory.objects[f"bucket/seen/{name}/set"]
    memory.objects["bucket/seen/notes/x.set/set"] = b"not ours"
    memory.objects[f"bucket/seen/{named(seen)[0].partition('/')[0]}/000-0.set/0.keys"] = b"x"
    assert len(opened().leftovers()) == 2
    opened().compact()
    assert not any(run.name in each or each.endswith("/000-0.set/0.keys") for each in memory.objects)
    assert "bucket/seen/notes/x.set/set" in memory.objects and known(opened()) == KEYS


HOSTILE = [
    lambda known: known.update(format="uriscan set pieces 2"),
    lambda known: known.pop("pieces"),
    lambda known: known.update(bits=3),
    lambda known: known.update(bits=-1),
    lambda known: known.update(bits=True),
    lambda known: known.update(bits="2"),
    lambda known: known.update(bits=60),
    lambda known: known.update(meaning=[]),
    lambda known: known.update(meaning=[1]),
    lambda known: known.update(pieces=4),
    lambda known: known.update(pieces=["ab", "c", "d", "e"]),
]
NAMES = [
    "../x", "/etc/x", "a/../../x", "", "a//b", "./a", "a\\b", "C:x", "a/\0", "a/\n", 7, None, ["a"], "run/..", "s3://other/x"
]  # fmt: skip


def test_a_hostile_list(seen, opened, memory, tmp_path):
    text = memory.objects[LIST]
    changes = [*HOSTILE, *[lambda known, name=name: known["pieces"][3].append(name) for name in NAMES]]
    for change in changes:
        listed = json.loads(text)
        change(listed)
        memory.objects[LIST] = json.dumps(listed).encode()
        (tmp_path / "pieces.json").write_bytes(memory.objects[LIST])
        for open_it in opened, lambda: uriscan.SetPieces.open(tmp_path):
            with pytest.raises(ValueError, match="is not a list of pieces|not below it"):
                open_it()
        with pytest.raises(ValueError), seen.adding():
            pass
        assert LOCK not in memory.objects


def test_a_list_that_is_cut_or_too_long(seen, opened, memory, monkeypatch):
    text = memory.objects[LIST]
    for wrong in b"", text[:-2], text[: len(text) // 2], b"[" * 100_000, b"\xff" + text:
        memory.objects[LIST] = wrong
        with pytest.raises(ValueError, match="not a list of pieces"):
            opened()
    memory.objects[LIST] = text + b" " * 1000
    monkeypatch.setattr("uriscan._objects.LIMIT", len(text))
    with pytest.raises(ValueError, match="more than"):
        opened()
    assert _directory.LIMIT > len(text)


def test_objects_that_are_cut_are_errors(seen, opened, memory, tmp_path):
    before = dict(memory.objects)
    for name, data in before.items():
        if name == LIST:
            continue
        for wrong in (None, b"", data[: len(data) // 2], data[:-1], data + b"x", b"x" * len(data)):
            memory.objects = dict(before)
            memory.objects.pop(name)
            if wrong is not None:
                memory.objects[name] = wrong
            seen = opened(cache=tmp_path / f"cache-{os.urandom(4).hex()}")
            with pytest.raises((uriscan.SetError, ValueError), match="bucket/seen/run-"):
                known(seen)
    assert len(before) == 1 + 2 * len(named(seen)) > 10


def test_sizes_that_are_claimed(seen, opened, memory):
    for name in [name for name in memory.objects if name.endswith("/set")]:
        text = memory.objects[name].decode()
        line = next(line for line in text.splitlines() if ".keys" in line)
        memory.objects[name] = text.replace(line, line.split(" ")[0] + " 999999999999999999").encode()
    with pytest.raises(ValueError, match="the cache may have .*cache_bytes, or make more pieces"):
        known(opened())


def test_the_cache_stays_below_its_limit(seen, opened, memory, tmp_path):
    one = max(sum(len(data) for name, data in memory.objects.items() if each in name) for each in named(seen))
    both = opened(cache_bytes=2 * one)

    def size():
        """Of what is in it, and of what the names say."""
        found = list((tmp_path / "cache").glob("*/*"))
        assert sum(int(name.rpartition("-")[2]) for name in entries(tmp_path)) == sum(path.stat().st_size for path in found)
        return sum(path.stat().st_size for path in found)

    for _ in range(2):
        assert known(both) == KEYS and 0 < size() <= 2 * one and len(entries(tmp_path)) == 2
    with pytest.raises(ValueError, match="give a larger cache_bytes"):
        known(opened(cache_bytes=one))
    # With room for all, each is fetched once.
    large = opened()
    assert known(large) == KEYS and len(entries(tmp_path)) == len(named(seen))
    memory.hook = lambda what, name: pytest.fail(f"{what} {name}") if name.endswith(".keys") else None
    assert known(large) == known(opened()) == KEYS


def test_what_is_damaged_in_the_cache_is_fetched_again(seen, opened, tmp_path):
    assert known(seen) == KEYS
    for number, name in enumerate(entries(tmp_path)):
        for path in (tmp_path / "cache" / name).iterdir():
            if number % 2:
                path.unlink()
            else:
                os.truncate(path, path.stat().st_size // 2)
    assert known(opened()) == KEYS


def test_what_dead_processes_left_in_the_cache(seen, opened, tmp_path):
    cache = tmp_path / "cache"
    for name in f"new-{'1' * 16}-5000000000000", f"old-{'2' * 16}-0", "notes":
        (cache / name).mkdir()
    living = _cache.Cache(cache)
    made = os.path.basename(living.drafts())
    assert known(opened()) == KEYS
    assert "notes" in entries(tmp_path) and made in entries(tmp_path)
    assert not any("1" * 16 in name or "2" * 16 in name for name in entries(tmp_path))
    del living
    assert made not in entries(tmp_path)


def test_nobody_else_may_write_to_the_cache(seen, opened, tmp_path):
    (tmp_path / "open").mkdir()
    os.chmod(tmp_path / "open", 0o777)
    os.symlink(tmp_path / "cache", tmp_path / "link")
    for path in "open", "link":
        with pytest.raises(PermissionError, match="give another cache"):
            known(opened(cache=tmp_path / path))


def test_file_systems_of_this_machine_are_directories(tmp_path):
    """And are as they were: an object of pyarrow's local file system is seen before it is whole."""
    seen = uriscan.SetPieces.create(f"file://{tmp_path}/a", bits=1)
    below = fs.SubTreeFileSystem(str(tmp_path), fs.LocalFileSystem())
    for again in (
        uriscan.SetPieces.open(tmp_path / "a"),
        uriscan.SetPieces.open(str(tmp_path / "a"), filesystem=fs.LocalFileSystem()),
        uriscan.SetPieces.open("a", filesystem=below),
    ):
        assert again == seen and again.path == str(tmp_path / "a") and again.leftovers() == []
    with seen.adding():
        assert seen.is_locked()
        seen.unlock()
        (tmp_path / "a" / "pieces.lock").touch()
    with pytest.raises(ValueError, match="not below"), seen.adding() as run:
        run.take(0, "../x")


@pytest.fixture(scope="module", name="server")
def _server():
    with s3() as found:
        yield found


@pytest.mark.full
def test_in_s3(server, tmp_path):
    """The same by a URI, whose secrets no message has."""
    end, store = server
    uri = f"s3://testing:testing@bucket/in/seen{end}"
    given = {"cache": tmp_path / "cache"}
    seen = uriscan.SetPieces.create(uri, bits=2, **given)
    assert seen.path == uri and "testing" not in repr(seen) and "s3://bucket/in/seen" in repr(seen)
    add(seen, KEYS[:20])
    add(seen, KEYS[12:])
    again = uriscan.SetPieces.open(uri.replace("s3:", "s3a:"), **given)
    assert known(again) == known(uriscan.SetPieces.open("bucket/in/seen", filesystem=store, **given)) == KEYS
    with pytest.raises(FileExistsError):
        uriscan.SetPieces.create(uri)
    with pytest.raises(FileNotFoundError):
        uriscan.SetPieces.open(f"s3://testing:testing@bucket/none{end}")
    # Two writers, one of which loses.
    with pytest.raises(RuntimeError, match="s3://bucket/in/seen/pieces.lock exists") as found, seen.adding():
        add(again, [b"\x44" * 16])
    assert "testing" not in str(found.value)
    with pytest.raises(RuntimeError, match="pieces.json was changed by another run; nothing was added"), seen.adding():
        with store.open_input_stream("bucket/in/seen/pieces.lock") as file:
            token = file.read()
        seen.unlock()
        add(again, [b"\x44" * 16])
        with store.open_output_stream("bucket/in/seen/pieces.lock") as file:
            file.write(token)
    assert not again.is_locked() and known(again, [b"\x44" * 16])
    with pytest.raises(KeyError), seen.adding() as run:
        left = run.put(run.create(1))
        raise KeyError
    assert again.leftovers() == [left]
    again.compact()
    again.compact()
    assert again.leftovers() == [] and {len(names) for names in again.names} == {1}
    files = [info.path for info in store.get_file_info(fs.FileSelector("bucket/in/seen", recursive=True)) if info.is_file]
    assert len(files) == 1 + 2 * len(again.names), files
    assert known(pickle.loads(pickle.dumps(uriscan.SetPieces.open(uri, **given)))) == KEYS


@pytest.mark.full
def test_an_object_of_several_parts(server, tmp_path):
    _, store = server
    seen = uriscan.SetPieces.create("bucket/large", bits=0, filesystem=store, cache=tmp_path / "cache")
    keys = [number.to_bytes(16, "big") for number in range(3, 3 << 20, 3)]
    add(seen, keys)
    again = uriscan.SetPieces.open("bucket/large", filesystem=store, cache=tmp_path / "cache")
    assert all(again.contains_keys(0, keys)) and not any(again.contains_keys(0, [number.to_bytes(16, "big") for number in (1, 2, 5)]))
