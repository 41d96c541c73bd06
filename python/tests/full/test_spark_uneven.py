"""`uriscan.spark` where some tasks are slow, so that Spark runs copies of them, and where one host and one class have most of the
rows: results are those of one machine."""

import os
import random
import sys
import time
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest
from clusters import session, skip, two_hosts

import uriscan

uris = pytest.importorskip("uriscan.spark", reason="PySpark is not installed")

LONG = 300
"""Seconds that a slow task takes unless a copy of it is done first: longer than a test."""


@pytest.fixture(scope="module", name="spark")
def _spark(tmp_path_factory):
    if not sys.platform.startswith("linux"):
        skip("only Linux has the addresses of two hosts on one machine")
    config = {
        "spark.executor.memory": "768m",
        # Only what is much slower than the others is run again, and not what has just begun.
        "spark.speculation": "true",
        "spark.speculation.interval": "100ms",
        "spark.speculation.quantile": "0.3",
        "spark.speculation.multiplier": "2",
        "spark.speculation.minTaskRuntime": "3s",
        "spark.speculation.efficiency.enabled": "false",
        # A stage of one task has none to compare it with.
        "spark.sql.adaptive.coalescePartitions.enabled": "false",
    }
    with two_hosts(tmp_path_factory.mktemp("cluster")) as address, session(address, **config) as spark:
        yield spark


@pytest.fixture(scope="module", name="whole")
def _whole():
    """Rows of which nine in ten are of one host, and almost half are of one class, which is spelled in many ways."""
    chance = random.Random(21)
    spelled = ["HTTP://big.example", "http://BIG.example:80/", "http://big.example/./", "http://big.example/%2e/", "http://big.example:/x/.."]
    urls = []
    for row in range(12_000):
        kind = chance.random()
        if kind < 0.45:
            urls.append(chance.choice(spelled))
        elif kind < 0.9:
            urls.append(f"http://big.example/{chance.randrange(6_000)}")
        elif kind < 0.99:
            urls.append(f"http://host-{chance.randrange(600)}.example/{row % 3}")
        else:
            urls.append(chance.choice([None, "", " ", "no URI", "//x"]))
    times = [chance.randrange(1000) for _ in urls]
    return pyarrow.table({"url": urls, "n": range(len(urls)), "time": times})


@pytest.fixture(scope="module", name="tables")
def _tables(whole, tmp_path_factory):
    directory = tmp_path_factory.mktemp("tables")
    for part in range(4):
        pyarrow.parquet.write_table(whole.slice(part * 3_000, 3_000), directory / f"part-{part}.parquet", row_group_size=1_500)
    return str(directory)


@pytest.fixture(scope="module", name="firsts")
def _firsts(whole):
    return whole.filter(uriscan.is_first(whole["url"]))


@pytest.fixture(name="once")
def _once(tmp_path):
    """A function that makes the first task slow that calls it in each stage, unless it is a copy."""
    directory = tmp_path / "slow"
    directory.mkdir()

    def slow():
        from pyspark import TaskContext

        task = TaskContext.get()
        if task.attemptNumber() > 0:
            return
        try:
            os.close(os.open(directory / f"stage-{task.stageId()}", os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return
        time.sleep(LONG)

    slow.directory = directory
    return slow


@pytest.fixture(name="tasks")
def _tasks(spark):
    """A function that gives the tasks of the stages since the test began, as Spark knows them."""
    store = spark.sparkContext._jsc.sc().statusStore()

    def stages():
        known = spark.sparkContext._jvm.java.util.ArrayList()
        none = spark.sparkContext._gateway.new_array(spark.sparkContext._jvm.double, 0)
        found = store.stageList(known, False, False, none, known)
        return {(found.apply(at).stageId(), found.apply(at).attemptId()) for at in range(found.size())}

    before = stages()

    def tasks():
        made = []
        for stage, attempt in sorted(stages() - before):
            found = store.taskList(stage, attempt, 10_000)
            made += [(stage, found.apply(at)) for at in range(found.size())]
        return made

    return tasks


def copies(tasks):
    """The stages of which a copy of a task was done before the task itself."""
    return {stage for stage, task in tasks() if task.speculative() and task.status() == "SUCCESS"}


def assert_copied(tasks, once):
    """In every stage that had a slow task, Spark ran a copy of it, whose result was taken; on a busy machine of others too."""
    slow = {int(path.name.removeprefix("stage-")) for path in once.directory.iterdir()}
    assert slow and slow <= copies(tasks)
    return len(slow)


def most_read(tasks):
    """The most records that a task has read of a shuffle."""
    read = [task.taskMetrics().get().shuffleReadMetrics().recordsRead() for _, task in tasks() if task.status() == "SUCCESS"]
    return max(read)


def test_copies_of_tasks_that_read_files(spark, tables, firsts, once, tasks, tmp_path):
    from pyspark.sql import functions as F

    def slowly(column):
        once()
        return pyarrow.array([True] * len(column))

    rows = spark.read.parquet(tables).where(F.arrow_udf(slowly, "boolean")("n"))
    uris.dedup(rows, "url").write.parquet(str(tmp_path / "kept"))
    kept = pyarrow.parquet.read_table(tmp_path / "kept")
    assert sorted(kept["n"].to_pylist()) == firsts["n"].to_pylist()
    # When keys are read, and when rows are.
    assert assert_copied(tasks, once) == 2


def test_copies_of_tasks_that_write_pages(spark, tables, firsts, once, tasks, tmp_path, monkeypatch):
    from uriscan.spark import _dedup

    write = _dedup.write

    def slowly(pages, directory):
        for page in write(pages, directory):
            once()
            yield page

    monkeypatch.setattr(_dedup, "write", slowly)
    kept = uris.dedup(spark.read.parquet(tables), "url", scratch=str(tmp_path / "scratch"))
    assert sorted(row.n for row in kept.collect()) == firsts["n"].to_pylist()
    assert assert_copied(tasks, once) == 1


def test_copies_of_tasks_that_move_rows(spark, tables, firsts, once, tasks):
    def slowly(batches):
        once()
        yield from batches

    rows = spark.read.parquet(tables).mapInArrow(slowly, "url string, n long, time long")
    kept = uris.dedup(rows, "url", keep="min", by="n")
    assert sorted(row.n for row in kept.collect()) == firsts["n"].to_pylist()
    assert assert_copied(tasks, once) == 1


def test_copies_of_tasks_that_write_sets(spark, tables, firsts, once, tasks, tmp_path, monkeypatch):
    from uriscan._pieces import Run

    class SlowRun(Run):
        def create(self, piece):
            made = super().create(piece)
            once()
            return made

    seen = uriscan.SetPieces.create(tmp_path / "seen", bits=4)
    monkeypatch.setattr(uriscan.SetPieces, "adding", lambda pieces: SlowRun(pieces))
    rows = spark.read.parquet(tables)
    assert uris.add(rows, "url", seen.path) == len(firsts)
    assert assert_copied(tasks, once) == 1
    monkeypatch.undo()
    taken = [name for names in uriscan.SetPieces.open(seen.path).names for name in names]
    # What the slow task had begun is beside them, and no part of the whole.
    assert len(taken) == 16 < len(list(Path(seen.path).glob("run-*/*.set")))
    merged = uriscan.SetPieces.open(seen.path).merge(tmp_path / "all")
    assert len(merged) == len(firsts) and all(merged.contains(firsts["url"]).to_pylist())
    assert uris.add(rows, "url", seen.path) == uris.dedup(rows, "url", seen=seen.path).count() == 0


def survivors(whole, keep):
    """The row that is kept of every class."""
    best = {}
    for row, (of, when) in enumerate(zip(uriscan.groups(whole["url"]).to_pylist(), whole["time"].to_pylist())):
        if of is None:
            continue
        rank = {"first": row, "last": -row, "min": (when, row), "max": (-when, row)}[keep]
        best[of] = min(best.get(of, (rank, row)), (rank, row))
    return {of: row for of, (_, row) in best.items()}


@pytest.mark.parametrize("keep", ["first", "last", "min", "max"])
def test_one_large_class(spark, whole, tables, keep):
    by = "time" if keep in ("min", "max") else None
    expected = sorted(survivors(whole, keep).values())
    rows = spark.read.parquet(tables)
    for frame, ordered in (rows, False), (rows, True):
        kept = [row.n for row in uris.dedup(frame, "url", keep=keep, by=by, order=ordered).collect()]
        assert (kept if ordered else sorted(kept)) == expected


@pytest.mark.parametrize("keep", ["first", "min", "max"])
def test_no_task_gets_all_rows_of_a_large_class(spark, whole, tables, firsts, tasks, tmp_path, keep):
    rows = spark.read.parquet(tables)
    half = whole.slice(0, 6_000)
    seen = uriscan.SetPieces.create(tmp_path / "seen", bits=2)
    known = half.filter(uriscan.is_first(half["url"]))
    assert uris.add(rows.where("n < 6000"), "url", seen.path) == len(known)
    # A class is named by its first row.
    new = sorted(row for first, row in survivors(whole, keep).items() if first >= 6_000)
    for ordered in False, True:
        by = None if keep == "first" else "time"
        kept = [row.n for row in uris.dedup(rows, "url", keep=keep, by=by, seen=seen.path, order=ordered).collect()]
        assert sorted(kept) == new
    assert uris.add(rows, "url", seen.path) == len(new)
    # More than four tenths of the rows are of one class; of the others a quarter falls to each of four tasks.
    assert most_read(tasks) < 0.35 * len(whole)
