"""What deduplication in Spark moves and costs, by row: bytes shuffled, time of tasks, CPU of the JVM.

    python benches/spark_moves.py TABLES [COLUMN [BY]]

TABLES is a directory of Parquet files with URLs in the column `url` and other columns. Compares `uriscan.spark.dedup`, the same
with each row moved once (as for what is not read from Parquet files), and Spark's own `dropDuplicates`, for which only equal
bytes are equal. With the column BY, compares instead which row is kept, the first or that with the greatest value in BY, of rows
of files and of rows that are moved, alone and with a set of a tenth of the rows. Two executors with a core each; counts are
asserted.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import time
from typing import Any, Callable

import pyspark
from pyspark.sql import DataFrame, SparkSession

import uriscan
import uriscan.spark as uris


def session() -> SparkSession:
    """Two executors on this machine, each a process of its own."""
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["SPARK_HOME"] = os.path.dirname(pyspark.__file__)
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local-cluster[2,1,2048]")
    for name, value in {
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": "8",
        "spark.sql.execution.arrow.maxRecordsPerBatch": "65536",
    }.items():
        builder = builder.config(name, value)
    spark = builder.getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def totals(spark: SparkSession) -> dict[str, float]:
    """The sums over all stages so far; a stage is there from its end on."""
    gateway, none = spark.sparkContext._gateway, spark._jvm.java.util.ArrayList()
    quantiles = gateway.new_array(gateway.jvm.double, 0)
    store = spark.sparkContext._jsc.sc().statusStore()
    stages = store.stageList(none, False, False, quantiles, none)
    found = {"moved": 0.0, "tasks": 0.0, "jvm": 0.0}
    for at in range(stages.size()):
        stage = stages.apply(at)
        found["moved"] += stage.shuffleWriteBytes()
        found["tasks"] += stage.executorRunTime() / 1e3
        found["jvm"] += stage.executorCpuTime() / 1e9
    return found


def measure(spark: SparkSession, name: str, rows: int, run: Callable[[], Any]) -> Any:
    """Prints what `run` takes, by row."""
    before, start = totals(spark), time.perf_counter()
    answer = run()
    elapsed = time.perf_counter() - start
    # The store hears of the last stage a moment later.
    time.sleep(2)
    after = totals(spark)
    each = {key: after[key] - before[key] for key in after}
    print(
        f"{name:32} {each['moved'] / rows:7.1f} B moved a row, tasks {1e6 * each['tasks'] / rows:6.2f} µs, "
        f"JVM {1e6 * each['jvm'] / rows:6.2f} µs, {elapsed:6.1f} s",
        flush=True,
    )
    return answer


def write(rows: DataFrame) -> None:
    """Reads all of the rows and keeps nothing."""
    rows.write.mode("overwrite").format("noop").save()


def compare(spark: SparkSession, rows: DataFrame, column: str, count: int) -> None:
    """Measures ways to keep the first row, in turns."""
    for _ in range(3):
        measure(spark, "uriscan.spark.dedup", count, lambda: write(uris.dedup(rows, column)))
        moved = rows.union(rows.limit(0))  # No longer the rows of files.
        measure(spark, "each row moved once", count, lambda: write(uris.dedup(moved, column)))
        measure(spark, "dropDuplicates, equal bytes", count, lambda: write(rows.dropDuplicates([column])))


def compare_by(spark: SparkSession, rows: DataFrame, column: str, by: str, count: int, whole: int) -> None:
    """Measures which row is kept, in turns."""
    moved = rows.union(rows.limit(0))
    with tempfile.TemporaryDirectory() as directory:
        seen = uriscan.SetPieces.create(os.path.join(directory, "seen"), bits=4).path
        known = uris.add(rows.sample(0.1, seed=1), column, seen)
        for turn in range(3):
            for source, kept_of in ("files", rows), ("moved", moved):
                for pieces in None, seen:
                    for keep in "first", "max":
                        kept = lambda: uris.dedup(kept_of, column, keep=keep, by=by if keep == "max" else None, seen=pieces)  # noqa: B023, E731
                        if turn == 0:
                            assert kept().count() == whole - (known if pieces else 0)
                        name = f"{source}, {keep}" + (", seen" if pieces else "")
                        measure(spark, name, count, lambda: write(kept()))  # noqa: B023


def main(tables: str, column: str = "url", by: str | None = None) -> None:
    """Measures in turns."""
    spark = session()
    rows = spark.read.parquet(tables)
    count = rows.count()
    whole = uriscan.is_first([row[0] for row in rows.select(column).toLocalIterator()]).count(True)
    print(f"{count} rows, {whole} classes, columns {', '.join(rows.columns)}; uriscan {uriscan.__version__}")
    assert uris.dedup(rows, column).count() == whole
    if by is None:
        compare(spark, rows, column, count)
    else:
        compare_by(spark, rows, column, by, count, whole)
    print(f"peak of the driver {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10} MB")
    spark.stop()


if __name__ == "__main__":
    main(*sys.argv[1:])
