"""The Spark example on two executors, each a process of its own, against the program on the same input.

Skipped without Java or PySpark. `URISCAN_PROGRAM` names the program; `URISCAN_SPARK_LINES` makes the input larger than
the sample that stands in the repository (some millions of lines take minutes).
"""

import os
import shutil
import subprocess
import sys
import time
import warnings
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import uriscan

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"

pytestmark = pytest.mark.spark


def skip(why):
    """Skips with a message that cannot be overlooked."""
    warnings.warn(f"THE SPARK EXAMPLE IS NOT TESTED: {why}", stacklevel=2)
    pytest.skip(why)


@pytest.fixture(scope="session", name="program")
def _program():
    path = os.environ.get("URISCAN_PROGRAM")
    if not path:
        skip("URISCAN_PROGRAM does not name the program to compare with; scripts/test-python does")
    return path


def executors(spark):
    """The names of the executors that have told the driver of themselves."""
    known = spark.sparkContext._jsc.sc().statusStore().executorList(True)
    return {known.apply(at).id() for at in range(known.size())} - {"driver"}


def await_executors(spark, count, limit=300):
    """Waits for ``count`` executors: a session is there before its processes are, by seconds on a busy machine."""
    end = time.monotonic() + limit
    while len(executors(spark)) < count:
        if time.monotonic() > end:
            pytest.fail(f"only {executors(spark)} of {count} executors came within {limit} seconds")
        time.sleep(0.1)


@pytest.fixture(scope="session", name="spark")
def _spark():
    if shutil.which("java") is None:
        skip("there is no Java; PySpark needs 17 or newer")
    try:
        import pyspark
    except ImportError:
        skip("PySpark is not installed: pip install -r python/requirements-spark.txt")
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    sys.path.insert(0, str(EXAMPLES))
    from pyspark.sql import SparkSession

    spark = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executorEnv.PYTHONPATH", str(EXAMPLES))
        .config("spark.executorEnv.SPARK_LOCAL_IP", "127.0.0.1")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.sql.files.maxPartitionBytes", os.environ.get("URISCAN_SPARK_SPLIT", "40k"))
        .config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536")
        .getOrCreate()
    )
    spark.sparkContext.setLogLevel("ERROR")
    await_executors(spark, 2)
    yield spark
    spark.stop()


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
    tables = [pyarrow.parquet.read_table(path, columns=[name]) for path in paths]
    return pyarrow.concat_tables(tables)[name]


def lines(output, name="url"):
    return b"".join(value + b"\n" for value in column(output, name).to_pylist())


def report(job, before):
    """Says how the time of the tasks is shared."""
    tasks, wheel = job.task_seconds() - before, job.seconds.value
    print(f"\ntasks {tasks:.1f} s, of which {wheel:.1f} s in uriscan ({100 * wheel / tasks:.0f} %)")


def test_two_executors(spark):
    """Two tasks that wait for each other run in two executors, which are processes of their own."""

    def process(_):
        from pyspark import BarrierTaskContext

        BarrierTaskContext.get().barrier()
        yield os.getppid()  # of the worker: the process that one executor forks its workers from

    processes = spark.sparkContext.parallelize(range(2), 2).barrier().mapPartitions(process).collect()
    assert len(executors(spark)) == len(set(processes)) == 2


def test_text(spark, inputs, expected, tmp_path, capsys):
    import spark_dedup

    job = spark_dedup.DedupJob(spark)
    rows = job.text(inputs)
    assert rows.rdd.getNumPartitions() > 3
    before = job.task_seconds()
    job.write(job.first(job.keyed(rows)), str(tmp_path / "kept"))
    with capsys.disabled():
        report(job, before)
    assert lines(tmp_path / "kept") == expected
    urls, keys = column(tmp_path / "kept", "url"), column(tmp_path / "kept", "key")
    assert uriscan.key(urls).cast(pyarrow.binary()).equals(keys)
    assert uriscan.normalize(urls).equals(column(tmp_path / "kept", "form"))


def test_any(spark, inputs, expected, tmp_path):
    import spark_dedup

    job = spark_dedup.DedupJob(spark)
    job.write(job.any(job.keyed(job.text(inputs))), str(tmp_path / "kept"))
    keys = sorted(column(tmp_path / "kept", "key").to_pylist())
    assert keys == sorted(uriscan.key(expected.split(b"\n")[:-1]))


def test_parquet(spark, program, inputs, tmp_path):
    import spark_dedup

    for path in inputs:
        urls = [line.strip(b" \t\r") or None for line in Path(path).read_bytes().split(b"\n")]
        table = pyarrow.table({"url": pyarrow.array(urls, pyarrow.binary()), "n": range(len(urls))})
        name = Path(path).stem + ".parquet"
        pyarrow.parquet.write_table(table, tmp_path / name, row_group_size=1000)
    job = spark_dedup.DedupJob(spark, {"preset": "crawl"})
    rows = job.parquet([str(tmp_path / "part-*.parquet")], "url")
    job.write(job.first(job.keyed(rows)), str(tmp_path / "kept"))
    done = subprocess.run([program, "dedup", "--preset", "crawl", *inputs], check=True, capture_output=True)
    assert lines(tmp_path / "kept") == done.stdout


def test_sets(spark, program, inputs, tmp_path):
    import spark_dedup

    job = spark_dedup.DedupJob(spark)
    merged = job.sets(job.text(inputs), str(tmp_path / "parts"), str(tmp_path / "merged"))
    assert merged.verify() == [] and not list((tmp_path / "parts").iterdir())
    subprocess.run([program, "set", "create", str(tmp_path / "one"), *inputs], check=True, capture_output=True)
    subprocess.run([program, "set", "compact", str(tmp_path / "one")], check=True)
    files = {path.name: path.read_bytes() for path in (tmp_path / "one").iterdir()}
    assert files == {path.name: path.read_bytes() for path in (tmp_path / "merged").iterdir()}
