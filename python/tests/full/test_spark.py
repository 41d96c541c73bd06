"""`uriscan.spark` on two executors, each a process of its own, against the program on the same input.

Skipped without Java or PySpark. `URISCAN_PROGRAM` names the program; `URISCAN_SPARK_LINES` makes the input larger than
the sample that stands in the repository (some millions of lines take minutes).
"""

import os
import subprocess
import time
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest
from clusters import executors, session, skip
from stores import s3

import uriscan

uris = pytest.importorskip("uriscan.spark", reason="PySpark is not installed")

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session", name="program")
def _program():
    path = os.environ.get("URISCAN_PROGRAM")
    if not path:
        skip("URISCAN_PROGRAM does not name the program to compare with; scripts/test-python does")
    return path


@pytest.fixture(scope="module", name="spark")
def _spark():
    with session("local-cluster[2,1,1024]", **{"spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1"}) as spark:
        yield spark


@pytest.fixture(scope="session", name="inputs")
def _inputs(program, tmp_path_factory):
    """Some files with lines of all sorts, in the order of their names."""
    directory = tmp_path_factory.mktemp("inputs")
    samples = [ROOT / "corpora" / name for name in ("messy.txt", "plain.txt", "hostile.txt")]
    lines = b"".join(sample.read_bytes() for sample in samples).splitlines(keepends=True)
    count = int(os.environ.get("URISCAN_SPARK_LINES", "0"))
    if count:
        made = directory / "made"
        command = [os.environ["URISCAN_GEN_CORPUS"], "--lines", str(count), "--seed", "3", "-o", str(made)]
        subprocess.run(command, check=True)
        lines = made.read_bytes().splitlines(keepends=True)
        made.unlink()
    third = len(lines) // 3
    hostile = [b"\n", b"  \n", b" http://h/ \r\n", b"HTTP://h\r\n", b"http://h/\xff\n", b"a\rb\n", b"/relative\n"]
    parts = [lines[:third] + hostile, hostile + lines[third : 2 * third], lines[2 * third :] + hostile]
    paths = []
    for number, part in enumerate(parts):
        paths.append(directory / f"part-{number}.txt")
        paths[-1].write_bytes(b"".join(part))
    return [str(path) for path in paths]


@pytest.fixture(scope="session", name="expected")
def _expected(program, inputs):
    """What the program keeps."""
    done = subprocess.run([program, "dedup", *inputs], check=True, capture_output=True)
    return done.stdout


def column(output, name):
    """A column of the written files, in the order of their names."""
    paths = sorted(Path(output).glob("part-*.parquet"))
    return pyarrow.concat_tables([pyarrow.parquet.read_table(path, columns=[name]) for path in paths])[name]


def written(rows, output):
    """The directory that `rows` are written to."""
    rows.write.parquet(str(output))
    return output


@pytest.fixture(scope="session", name="tables")
def _tables(inputs, tmp_path_factory):
    """The same rows in Parquet files, some of them null, with a number and a nested column."""
    directory = tmp_path_factory.mktemp("ta bles")
    for path in inputs:
        urls = [line.strip(b" \t\r") or None for line in Path(path).read_bytes().split(b"\n")]
        more = {"n": range(len(urls)), "page": [{"size": [n, n % 7]} for n in range(len(urls))]}
        table = pyarrow.table({"url": pyarrow.array(urls, pyarrow.binary()), **more})
        pyarrow.parquet.write_table(table, directory / f"{Path(path).stem}.parquet", row_group_size=1000)
    return directory


@pytest.fixture(scope="session", name="firsts")
def _firsts(tables):
    """The rows that are first, of the files in the order of their names."""
    whole = pyarrow.concat_tables([pyarrow.parquet.read_table(path) for path in sorted(tables.iterdir())])
    return whole.filter(uriscan.is_first(whole["url"]))


def test_two_executors(spark):
    """Two tasks that wait for each other run in two executors, which are processes of their own."""

    def process(_):
        from pyspark import BarrierTaskContext

        BarrierTaskContext.get().barrier()
        yield os.getppid()  # of the worker: the process that one executor forks its workers from

    processes = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(process).collect()
    assert len(executors(spark)) == len(set(processes)) == 2


def test_text_in_order_is_what_the_program_writes(spark, inputs, expected, tmp_path):
    rows = spark.read.text(inputs, lineSep="\n")
    assert rows.rdd.getNumPartitions() > 3
    output = written(uris.dedup(rows, "value", order=True), tmp_path / "kept")
    text = column(output, "value").cast(pyarrow.binary())
    kept = uriscan.normalize(text, level="string")
    assert b"".join(value + b"\n" for value in kept.to_pylist()) == expected


def test_rows_of_files_keep_all_columns(spark, tables, firsts, tmp_path):
    rows = spark.read.parquet(str(tables))
    kept = uris.dedup(rows, "url")
    assert kept.columns == ["url", "n", "page"]
    assert sorted(row.n for row in kept.collect()) == sorted(firsts["n"].to_pylist())
    found = {bytes(row.url): (row.n, row.page.size) for row in kept.collect()}
    assert found == {row["url"]: (row["n"], row["page"]["size"]) for row in firsts.to_pylist()}
    # Only the column and the places are read of the rows at first, and nothing but places moves afterwards.
    plan = kept._jdf.queryExecution().toString()
    assert "Exchange" not in plan and "ArrowEvalPython" in plan
    scratch = tmp_path / "scratch"
    again = uris.dedup(rows, "url", scratch=str(scratch))
    assert sorted(row.n for row in again.collect()) == sorted(firsts["n"].to_pylist())
    assert len(list(scratch.iterdir())) == 3
    # What is done to the rows later changes nothing.
    some = kept.where("n % 3 = 0").select("n")
    assert sorted(row.n for row in some.collect()) == sorted(n for n in firsts["n"].to_pylist() if n % 3 == 0)


def test_rows_are_filtered_before(spark, tables, tmp_path):
    rows = spark.read.parquet(str(tables)).where("n % 2 = 1").select("n", "url")
    whole = pyarrow.concat_tables([pyarrow.parquet.read_table(path) for path in sorted(tables.iterdir())])
    whole = whole.filter(pyarrow.compute.equal(pyarrow.compute.bit_wise_and(whole["n"], 1), 1))
    expected = whole.filter(uriscan.is_first(whole["url"], preset="crawl"))["n"].to_pylist()
    for ordered in False, True:
        kept = [row.n for row in uris.dedup(rows, "url", order=ordered, preset="crawl").collect()]
        assert (kept if ordered else sorted(kept)) == (expected if ordered else sorted(expected))


def test_what_is_not_a_file_is_moved_once(spark, tables, firsts):
    rows = spark.read.parquet(str(tables))
    joined = rows.join(spark.range(3).withColumnRenamed("id", "i"))
    kept = uris.dedup(joined, "url")
    assert kept.columns == ["url", "n", "page", "i"]
    keys = uriscan.key([bytes(row.url) for row in kept.select("url").collect()])
    assert sorted(keys) == sorted(uriscan.key(firsts["url"].to_pylist()))
    made = spark.createDataFrame([("http://h", 1), ("HTTP://H:80/", 2), (None, 3), (" ", 4)], "url string, n int")
    assert [tuple(row) for row in uris.dedup(made, "url", order=True).collect()] == [("http://h", 1)]


@pytest.mark.parametrize("keep", ["first", "last", "min", "max"])
@pytest.mark.parametrize("cached", [False, True])
def test_which_row_is_kept(spark, tmp_path, keep, cached):
    values = [
        ("http://h", 2, 0), ("HTTP://h/", None, 1), ("http://h:80", 1, 2), ("http://h/", 1, 3), ("http://H", 2, 4),
        ("http://i", None, 5),
    ]  # fmt: skip
    spark.createDataFrame(values, "url string, time int, n int").coalesce(1).write.parquet(str(tmp_path / "t"))
    rows = spark.read.parquet(str(tmp_path / "t"))
    if cached:
        # No longer rows of files.
        rows = rows.limit(100)
    by = "time" if keep in ("min", "max") else None
    kept = uris.dedup(rows, "url", keep=keep, by=by)
    assert sorted(row.n for row in kept.collect()) == [{"first": 0, "last": 4, "min": 2, "max": 0}[keep], 5]


def test_a_set_in_pieces(spark, program, tables, firsts, inputs, tmp_path):
    seen = uriscan.SetPieces.create(tmp_path / "seen", bits=4)
    rows = spark.read.parquet(str(tables))
    some = rows.where("n % 5 = 0")
    assert uris.dedup(some, "url", seen=seen.path).count() == uris.dedup(some, "url").count()
    added = uris.add(some, "url", seen.path)
    assert added == uris.dedup(some, "url").count()
    assert uris.add(some, "url", seen.path) == 0
    known = set(uriscan.key([bytes(row.url) for row in some.where("url is not null").select("url").collect()]))
    for frame in rows, rows.limit(10**6):
        new = [bytes(row.url) for row in uris.dedup(frame, "url", seen=seen.path).select("url").collect()]
        keys = uriscan.key(new)
        assert not known & set(keys)
        assert known | set(keys) == set(uriscan.key(firsts["url"].to_pylist()))
    uris.add(rows, "url", seen.path)
    again = uriscan.SetPieces.open(seen.path)
    assert max(map(len, again.names)) == 2
    again.compact()
    assert {len(names) for names in uriscan.SetPieces.open(seen.path).names} == {1}
    # The program makes one set of them, which is that of the same rows.
    run = lambda *args: subprocess.run([program, *map(str, args)], check=True, capture_output=True)  # noqa: E731
    run("set", "merge", "-o", tmp_path / "merged", seen.path)
    urls = b"".join(url + b"\n" for url in firsts["url"].to_pylist())
    subprocess.run([program, "set", "create", tmp_path / "one"], input=urls, check=True)
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "merged").iterdir()}
    # And cuts it into pieces, in which all rows are.
    run("set", "split", "-o", tmp_path / "split", tmp_path / "merged")
    assert uris.dedup(rows, "url", seen=str(tmp_path / "split")).count() == 0


def test_a_set_in_object_storage(spark, tables, firsts, tmp_path, monkeypatch):
    """Executors fetch pieces to their own cache, and put new sets; only the driver changes the list."""
    rows = spark.read.parquet(str(tables))
    some = rows.where("n % 5 = 0")
    with s3() as (end, store):
        uri, cache = f"s3://testing:testing@bucket/seen{end}", tmp_path / "cache"
        uriscan.SetPieces.create(uri, bits=3)
        seen = uriscan.SetPieces.open(uri, cache=cache)
        added = uris.add(some, "url", seen)
        assert added == uris.dedup(some, "url").count() and uris.add(some, "url", uri) == 0
        known = uriscan.SetPieces.open(uri, cache=cache)
        assert sum(map(len, known.names)) == 8 and not known.is_locked()
        keys = set(uriscan.key([bytes(row.url) for row in some.where("url is not null").select("url").collect()]))
        for frame in rows, rows.limit(10**6):
            new = [bytes(row.url) for row in uris.dedup(frame, "url", seen=known).select("url").collect()]
            assert not keys & set(uriscan.key(new))
            assert keys | set(uriscan.key(new)) == set(uriscan.key(firsts["url"].to_pylist()))
        # What was fetched is there, and nothing else: this process has not looked anything up.
        assert len(list(cache.glob("*/*.keys"))) == 8 and known._opened == {}
        # What the tasks of a job have put that failed is not part of it.
        with monkeypatch.context() as patched, pytest.raises(KeyError):
            patched.setattr(uriscan._pieces.Run, "take", lambda run, piece, name: {}[name])
            uris.add(rows, "url", known)
        again = uriscan.SetPieces.open(uri, cache=cache)
        assert again.names == known.names and len(again.leftovers()) == 8 and not again.is_locked()
        assert uris.add(rows, "url", again) == len(firsts) - added
        again.compact()
        again.compact()
        assert again.leftovers() == []
        with pytest.raises(RuntimeError, match="s3://bucket/seen/pieces.lock exists"), again.adding():
            uris.add(rows, "url", uri)
        assert len(uriscan.SetPieces.open("bucket/seen", filesystem=store).merge(tmp_path / "all")) == len(firsts)
        with pytest.raises(ValueError, match="another meaning"):
            uris.dedup(rows, "url", seen=again, preset="crawl")


def test_a_set_of_another_meaning(spark, tables, tmp_path):
    seen = uriscan.SetPieces.create(tmp_path / "seen", preset="crawl", hash="sha256")
    rows = spark.read.parquet(str(tables))
    uris.add(rows.limit(5), "url", seen.path, preset="crawl")
    with pytest.raises(uriscan.SetError, match="keys were made with"):
        uris.dedup(rows, "url", seen=seen.path)
    whole = uris.dedup(rows, "url", preset="crawl").count()
    assert 0 < uris.dedup(rows, "url", seen=seen.path, preset="crawl").count() < whole
    with pytest.raises(RuntimeError, match="another run adds"), seen.adding():
        uris.add(rows, "url", seen.path, preset="crawl")


def test_columns(spark, tables):
    rows = spark.read.parquet(str(tables)).select("url").where("url is not null").limit(500)
    urls = pyarrow.array([bytes(row.url) for row in rows.collect()], pyarrow.binary())
    forms = uris.normalize(rows, "url", into="form", preset="crawl").collect()
    assert [bytes(row.form) for row in forms] == uriscan.normalize(urls, preset="crawl").to_pylist()
    assert [bytes(row.uri_key) for row in uris.key(rows, "url").collect()] == uriscan.key(urls.to_pylist())
    pages = spark.createDataFrame([(1, "see http://a/ and http://b/."), (2, None), (3, "")], "id int, text string")
    found = [(row.id, row.link) for row in uris.extract(pages, "text").collect()]
    assert found == [(1, "http://a/"), (1, "http://b/")]


def test_wrong_arguments(spark, tables):
    rows = spark.read.parquet(str(tables))
    for raises, keywords in [
        (ValueError, {"keep": "best"}),
        (ValueError, {"keep": "min"}),
        (ValueError, {"by": "n"}),
        (TypeError, {"keep": "min", "by": "page"}),
        (TypeError, {"no_such_option": 1}),
        (ValueError, {"level": "top"}),
    ]:
        with pytest.raises(raises):
            uris.dedup(rows, "url", **keywords)
    with pytest.raises(TypeError, match="bigint"):
        uris.dedup(rows, "n")


def test_an_executor_is_lost(spark, tables, firsts, tmp_path):
    """A task kills the process that runs it, and is done again: results are the same."""
    marker = tmp_path / "killed"

    def kill(batches):
        for batch in batches:
            if not marker.exists():
                marker.touch()
                os.kill(os.getppid(), 9)
                time.sleep(60)
            yield batch

    # The second pass.
    rows = spark.read.parquet(str(tables))
    kept = uris.dedup(rows, "url").select("n").mapInArrow(kill, "n long")
    assert sorted(row.n for row in kept.collect()) == sorted(firsts["n"].to_pylist())
    assert marker.exists()
    marker.unlink()
    seen = uriscan.SetPieces.create(tmp_path / "seen", bits=3)
    assert uris.add(rows.select("url").mapInArrow(kill, "url binary"), "url", seen.path) == len(firsts)
    assert marker.exists() and len(seen.open(seen.path).merge(tmp_path / "all")) == len(firsts)
