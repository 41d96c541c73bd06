"""One set of layouts of files: the program, the wheel, and Ray and Spark where they are installed, read the same rows and columns."""

import importlib.util
import json
import os
import subprocess
import sys

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import uriscan

URLS = ["HTTP://h", "http://h/", "http://i", None]

# The files of each layout with their columns, and what is read of it.
LAYOUTS = {
    "directory": ({"dt=1/a.parquet": {}, "dt=2/b.parquet": {}, "dt=2/x.d/c.parquet": {}}, ""),
    "pattern": ({"dt=1/a.parquet": {}, "dt=2/b.parquet": {}}, "*/*.parquet"),
    "one-partition": ({"dt=1/a.parquet": {}, "dt=2/b.parquet": {}}, "dt=2"),
    "partitions": ({"dt=1/a.parquet": {}, "dt=2/b.parquet": {}, "dt=31/b.parquet": {}}, "dt=?"),
    "any-depth": ({"a.parquet": {}, "x/k=a%2Fb/c.parquet": {}}, "**/*.parquet"),
    "null-partition": ({"k=__HIVE_DEFAULT_PARTITION__/a.parquet": {}, "k=b/c.parquet": {}}, ""),
    "two-keys": ({"y=2026/m=1/a.parquet": {}, "y=2026/m=2/b.parquet": {}, "z=1/c.parquet": {}}, ""),
    "hidden": ({"a.parquet": {}, ".b.parquet": {}, "_temporary/c.parquet": {}, "_k=1/d.parquet": {}}, ""),
    "other-names": ({"a.parquet": {}, "note.txt": {}, "_SUCCESS": {}}, ""),
    "one-file": ({"dt=1/a.parquet": {}}, "dt=1/a.parquet"),
    "more-columns": ({"a.parquet": {}, "b.parquet": {"w": pa.array([1, 2, 3, 4])}}, ""),
    "wider": ({"a.parquet": {"w": pa.array([1] * 4, pa.int32())}, "b.parquet": {"w": pa.array([1 << 40] * 4)}}, ""),
    "nulls": ({"a.parquet": {}, "b.parquet": {"url": pa.nulls(4)}}, ""),
    "empty": ({"a.parquet": {}, "b.parquet": None}, ""),
    "odd-keys": ({"a b=%3D%25/é=ü/a.parquet": {}, "a b=c/é=__HIVE_DEFAULT_PARTITION__/b.parquet": {}}, ""),
}

# What Spark itself refuses: **, directories of different keys, files of other kinds, and columns whose types differ; and what it leaves
# out: files beside directories of partitions.
REFUSED_BY_SPARK = ["any-depth", "two-keys", "other-names", "wider", "nulls"]
LEFT_OUT_BY_SPARK = ["hidden"]

# Columns that rows are compared by, too: of files, of directories, and of some files only.
FLOATS = pa.array([float("nan"), -0.0, 0.0, None])
WITH = {
    "directory": ["dt"],
    "two-keys": ["y", "z"],
    "more-columns": ["w"],
    "wider": ["w", "n"],
    "floats": ["x"],
}
LAYOUTS["floats"] = ({"a.parquet": {"x": FLOATS}, "b.parquet": {"x": FLOATS.take([2, 1, 3, 0])}, "c.parquet": {}}, "")


def write(root, files):
    for number, (name, columns) in enumerate(files.items()):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if columns is None or not name.endswith(".parquet"):
            path.write_bytes(b"" if columns is None else b"text")
            continue
        urls = [url and f"{url}{number if at == 2 else ''}" for at, url in enumerate(URLS)]
        pq.write_table(pa.table({"url": pa.array(urls), "n": [number * 10 + at for at in range(4)], **columns}), path)


def by_program(inputs, to):
    if "URISCAN_PROGRAM" not in os.environ:
        pytest.skip("URISCAN_PROGRAM does not name the program")
    run = [os.environ["URISCAN_PROGRAM"], "dedup", "--column", "url", *inputs, "-o", to]
    subprocess.run(run, check=True, capture_output=True)
    return pq.ParquetFile(to).read()


def by_wheel(inputs, to):
    uriscan.dedup_parquet(inputs, to, column="url")
    return pq.ParquetFile(to).read()


def rows(table):
    """Rows as texts, as types of columns may be other ones."""
    shown = [{name: None if value is None else str(value) for name, value in row.items()} for row in table.to_pylist()]
    return table.column_names, shown


@pytest.mark.parametrize("name", LAYOUTS)
def test_program_and_wheel_read_the_same(tmp_path, name):
    files, path = LAYOUTS[name]
    write(tmp_path / "data", files)
    inputs = [str(tmp_path / "data" / path)]
    expected = by_program(inputs, tmp_path / "program.parquet")
    made = by_wheel(inputs, tmp_path / "wheel.parquet")
    # As texts: NaN is not equal to itself.
    assert made.schema.equals(expected.schema) and rows(made) == rows(expected)
    # A directory of results has the rows of a file.
    uriscan.dedup_parquet(inputs, f"{tmp_path}/parts/", column="url", to="parquet")
    assert os.listdir(tmp_path / "parts") == ["part-00000.parquet"]
    assert rows(pq.ParquetFile(tmp_path / "parts" / "part-00000.parquet").read()) == rows(expected)


@pytest.mark.skipif(importlib.util.find_spec("ray") is None, reason="Ray is not installed")
def test_ray_reads_the_same(tmp_path):
    os.environ["RAY_USAGE_STATS_ENABLED"] = os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    import ray
    import uriscan.ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    try:
        for name, (files, path) in LAYOUTS.items():
            write(tmp_path / name, files)
            inputs = str(tmp_path / name / path)
            expected = by_wheel(inputs, tmp_path / f"{name}.parquet")
            kept = uriscan.ray.dedup(inputs, column="url", place="place", parts=2)
            made = pa.concat_tables(kept.iter_batches(batch_format="pyarrow", batch_size=None)).sort_by("place")
            assert rows(made.drop_columns("place")) == rows(expected), name
        for name, columns in WITH.items():
            inputs = str(tmp_path / name / LAYOUTS[name][1])
            uriscan.dedup_parquet(inputs, tmp_path / "with.parquet", column="url", with_columns=columns)
            kept = uriscan.ray.dedup(inputs, column="url", with_columns=columns, place="place", parts=2)
            made = pa.concat_tables(kept.iter_batches(batch_format="pyarrow", batch_size=None)).sort_by("place")
            assert rows(made.drop_columns("place")) == rows(pq.ParquetFile(tmp_path / "with.parquet").read()), name
        with pytest.raises(ValueError, match="with_columns: there is no column nope; there are: url, n"):
            uriscan.ray.dedup(str(tmp_path / "nulls"), column="url", with_columns=["nope"])
        with pytest.raises(ValueError, match="there is no column nope; there are: url, n"):
            uriscan.ray.dedup(str(tmp_path / "nulls"), column="nope")
        with pytest.raises(FileNotFoundError, match="no table was found"):
            uriscan.ray.dedup(str(tmp_path / "no*"), column="url")
        (tmp_path / "nulls" / "_delta_log").mkdir()
        (tmp_path / "nulls" / "_delta_log" / "0.json").write_text("{}")
        with pytest.raises(ValueError, match="nulls: is a table of Delta Lake"):
            uriscan.ray.dedup(str(tmp_path / "nulls"), column="url")
    finally:
        ray.shutdown()


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="Spark is not installed")
def test_spark_reads_the_same(tmp_path):
    from pyspark.sql import SparkSession

    import uriscan.spark

    # Its workers are of this environment.
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false").getOrCreate()
    try:
        for name, (files, path) in LAYOUTS.items():
            write(tmp_path / name, files)
            inputs = str(tmp_path / name / path)
            expected = by_wheel(inputs, tmp_path / f"{name}.parquet")
            read = session.read.option("mergeSchema", "true")
            # Of a pattern, Spark finds the partitions from where it is told that they begin.
            if "*" in path or "?" in path:
                read = read.option("basePath", str(tmp_path / name))
            if name in REFUSED_BY_SPARK:
                with pytest.raises(Exception, match=r"PATH_NOT_FOUND|CONFLICTING_|CANNOT_"):
                    read.parquet(inputs)
                continue
            made = uriscan.spark.dedup(read.parquet(inputs), "url").orderBy("n").collect()
            shown = [{key: None if value is None else str(value) for key, value in row.asDict().items()} for row in made]
            by_number = sorted(rows(expected)[1], key=lambda row: int(row["n"]))
            assert (shown == by_number) == (name not in LEFT_OUT_BY_SPARK), name
        numbers = lambda kept: sorted(row.n for row in kept.collect())  # noqa: E731
        for name, columns in [("partitions", ["dt"]), ("floats", ["x"]), ("more-columns", ["w"])]:
            write(tmp_path / name, LAYOUTS[name][0])
            read = session.read.option("mergeSchema", "true").parquet(str(tmp_path / name))
            for keep, by in [("first", None), ("last", None), ("max", "n")]:
                made = uriscan.spark.dedup(read, "url", with_columns=columns, keep=keep, by=by)
                to, which = tmp_path / "with.parquet", f"{keep}:{by}" if by else keep
                uriscan.dedup_parquet(str(tmp_path / name), to, column="url", with_columns=columns, keep=which)
                assert numbers(made) == sorted(pq.ParquetFile(to).read()["n"].to_pylist()), (name, keep)
        with pytest.raises(ValueError, match="omit with_columns, or the set"):
            uriscan.spark.dedup(read, "url", with_columns=["n"], seen="no/set")
        dotted = session.createDataFrame([("HTTP://h", 1)], ["page.url", "n"])
        assert uriscan.spark.normalize(dotted, "`page.url`").collect()[0].asDict() == {"page.url": "http://h/", "n": 1}
        nested = session.sql("select named_struct('url', 'HTTP://h', 'n', 1) as page, 2 as `a``b`")
        made = uriscan.spark.normalize(nested, "page.url").collect()[0].asDict(recursive=True)
        assert made == {"page": {"url": "http://h/", "n": 1}, "a`b": 2}
        back = session.sql("select 'HTTP://h' as `a``.b`")
        assert uriscan.spark.normalize(back, "`a``.b`").collect()[0].asDict() == {"a`.b": "http://h/"}
        both = uriscan.spark.normalize(dotted, "`page.url`", into="form").columns
        assert both == ["page.url", "n", "form"]
    finally:
        session.stop()


@pytest.mark.parametrize("log", ["_delta_log/0.json", "metadata/v1.metadata.json", ".hoodie/hoodie.properties"])
def test_tables_with_a_log_are_refused(tmp_path, log):
    write(tmp_path / "t", {"dt=1/a.parquet": {}})
    (tmp_path / "t" / log).parent.mkdir()
    (tmp_path / "t" / log).write_text("{}")
    for path in ["", "*/*.parquet", "dt=1", "dt=1/*"]:
        with pytest.raises(ValueError, match="t: is a table of "):
            uriscan.dedup_parquet(tmp_path / "t" / path, tmp_path / "o.parquet", column="url")
    # A file that is named is read.
    assert uriscan.dedup_parquet(tmp_path / "t/dt=1/a.parquet", tmp_path / "o.parquet", column="url")["written"] == 2


def test_a_column_in_a_file_and_in_a_directory_is_an_error(tmp_path):
    write(tmp_path, {"n=1/a.parquet": {}})
    with pytest.raises(ValueError, match="column n is in the file and in the directory n=1; hive=False"):
        uriscan.dedup_parquet(tmp_path, tmp_path / "o.parquet", column="url")
    assert uriscan.dedup_parquet(tmp_path, tmp_path / "o.parquet", column="url", hive=False)["written"] == 2


def test_a_directory_of_results_is_whole_or_not_there(tmp_path):
    write(tmp_path / "in", {"a.parquet": {}})
    source, to = tmp_path / "in", tmp_path / "out"
    with pytest.raises(ValueError, match="no column nope"):
        uriscan.dedup_parquet(source, f"{to}/", column="nope")
    assert os.listdir(tmp_path) == ["in"]
    to.mkdir()
    uriscan.dedup_parquet(source, to, column="url", to="jsonl", dupes=tmp_path / "dupes.tsv")
    assert [json.loads(line)["n"] for line in open(to / "part-00000.jsonl")] == [0, 2]
    with pytest.raises(ValueError, match="is not empty"):
        uriscan.dedup_parquet(source, to, column="url")
    (tmp_path / "file").write_text("x")
    with pytest.raises(ValueError, match="is a file"):
        uriscan.dedup_parquet(source, f"{tmp_path}/file/", column="url")
    assert sorted(os.listdir(tmp_path)) == ["dupes.tsv", "file", "in", "out"]
