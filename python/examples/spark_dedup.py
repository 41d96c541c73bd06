"""Deduplicate URIs on a Spark cluster: the first of every class, as `uriscan dedup` keeps it on one machine.

    spark-submit spark_dedup.py --output kept s3a://crawl/frontier-*.txt
    spark-submit spark_dedup.py --from parquet --column url --output kept s3a://crawl/pages/
    spark-submit spark_dedup.py --sets /shared/sets --output seen.set s3a://crawl/frontier-*.txt

Every executor needs `pip install uriscan pyarrow`. Spark moves the rows, this package tells which of them are one:

1. the input is read as bytes, each row with its place: its file, in the order of file names, and where in it;
2. `mapInArrow` adds to every row its key and its canonical form, a batch at a time, and leaves blank rows out;
3. of the rows with the same key, the one that stands first is kept (`--keep first`, a shuffle of what is left after
   each task has kept one row a key), or whichever comes first (`--keep any`, `dropDuplicates`);
4. what is kept is written as Parquet with the columns `url`, `form` and `key`, in the order of the input.

With `--sets`, no rows are moved: every task writes its keys to a set of its own in a directory that all machines see,
and the driver merges them to one set, which `uriscan dedup --seen` and `uriscan.Set` take.

A byte order mark at the beginning of a file is part of its first row here; the program leaves it out.
"""

from __future__ import annotations

import argparse
import shutil
import sys
import time
from pathlib import Path
from typing import Any, Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc
from pyspark import TaskContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import uriscan

PLACE = ("file", "block", "row")
"""The columns by which rows are in the order of the input."""

ROWS = "url binary, form binary, key binary, file int, block long, row long"


def one_thread() -> None:
    """Spark runs a task for every core: the wheel needs no more threads than that."""
    if uriscan.threads() != 1:
        uriscan.set_threads(1)


def keyed(files: list[str], equivalence: dict[str, Any], seconds: Any) -> Callable[..., Any]:
    """What adds form and key to batches of `url`, the name of its `file`, `block` and `row`."""
    names = pa.array(files)

    def add(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        one_thread()
        for batch in batches:
            before = time.perf_counter()
            # At the lowest rung the form of a record is the record, without the white space around it.
            urls = uriscan.normalize(batch["url"], rung="string")
            forms = uriscan.normalize(urls, **equivalence)
            keys = uriscan.key(urls, **equivalence).cast(pa.binary())
            seconds.add(time.perf_counter() - before)
            file = pc.index_in(batch["file"], value_set=names)
            if file.null_count:
                raise ValueError("rows of a file that is not among the inputs")
            made = pa.RecordBatch.from_arrays(
                [urls, forms, keys, file, batch["block"], batch["row"]],
                ["url", "form", "key", *PLACE],
            )
            yield made.filter(pc.greater(pc.binary_length(urls), 0))

    return add


class DedupJob:
    """One run: what is read, what makes two records one, what is written."""

    def __init__(self, spark: SparkSession, equivalence: dict[str, Any] | None = None) -> None:
        self.spark = spark
        self.equivalence = equivalence or {}
        self.seconds = spark.sparkContext.accumulator(0.0)
        self.files: list[str] = []

    def _named(self, inputs: list[str]) -> None:
        """Learns the names of the files, in order; nothing is read of them."""
        files = self.spark.read.format("binaryFile").load(inputs)
        self.files = sorted(row[0] for row in files.select("_metadata.file_path").collect())

    def text(self, inputs: list[str]) -> DataFrame:
        """The lines of files, as bytes; lines end in LF, and a CR before it is white space."""
        self._named(inputs)
        return self.spark.read.text(inputs, lineSep="\n").select(
            F.col("value").cast("binary").alias("url"),
            F.col("_metadata.file_path").alias("file"),
            # Of a file that several tasks share, each reads blocks, and counts its rows upwards.
            F.col("_metadata.file_block_start").alias("block"),
            F.monotonically_increasing_id().alias("row"),
        )

    def parquet(self, inputs: list[str], column: str) -> DataFrame:
        """A column of Parquet files, as bytes."""
        self._named(inputs)
        rows = self.spark.read.parquet(*inputs).select(
            F.col(column).cast("binary").alias("url"),
            F.col("_metadata.file_path").alias("file"),
            F.lit(0).cast("long").alias("block"),
            F.col("_metadata.row_index").alias("row"),
        )
        return rows.where(F.col("url").isNotNull())

    def keyed(self, rows: DataFrame) -> DataFrame:
        """The rows with form, key and place."""
        return rows.mapInArrow(keyed(self.files, self.equivalence, self.seconds), ROWS)

    def first(self, keyed: DataFrame) -> DataFrame:
        """Of the rows with the same key the one that stands first, in the order of the input."""
        rows = F.struct(*PLACE, "url", "form")
        kept = keyed.groupBy("key").agg(F.min(rows).alias("first")).select("key", "first.*")
        return kept.orderBy(*PLACE)

    def any(self, keyed: DataFrame) -> DataFrame:
        """Of the rows with the same key the one that Spark comes across first, in the order of the input."""
        return keyed.dropDuplicates(["key"]).orderBy(*PLACE)

    def write(self, kept: DataFrame, output: str) -> None:
        """Writes what is kept as Parquet; the files in the order of their names are in the order of the input."""
        kept.select("url", "form", "key").write.mode("errorifexists").option(
            "compression", "zstd"
        ).parquet(output)

    def sets(self, rows: DataFrame, directory: str, output: str) -> uriscan.Set:
        """Makes one set of the keys of all rows; `directory` is for those of the tasks."""
        equivalence, seconds = self.equivalence, self.seconds

        def write(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            one_thread()
            task = TaskContext.get()
            # What an attempt that was killed has left is in no row that comes back.
            path = Path(directory, f"{task.partitionId():06}-{task.taskAttemptId()}.set")
            keys = uriscan.Set.create(path, **equivalence)
            with keys.adding() as more:
                for batch in batches:
                    before = time.perf_counter()
                    urls = uriscan.normalize(batch["url"], rung="string")
                    more.add(urls.filter(pc.greater(pc.binary_length(urls), 0)))
                    seconds.add(time.perf_counter() - before)
            yield pa.RecordBatch.from_pydict({"path": [str(path)]})

        Path(directory).mkdir(parents=True, exist_ok=True)
        paths = rows.select("url").mapInArrow(write, "path string").collect()
        parts = [uriscan.Set.open(row.path, **equivalence) for row in paths]
        merged = uriscan.Set.merge(output, parts)
        for part in parts:
            shutil.rmtree(part.path)
        return merged

    def task_seconds(self) -> float:
        """How long all tasks of this session have taken so far, in seconds."""
        executors = self.spark.sparkContext._jsc.sc().statusStore().executorList(False)
        return sum(executors.apply(at).totalDuration() for at in range(executors.size())) / 1000


def arguments(given: list[str]) -> argparse.Namespace:
    """What was typed."""
    parser = argparse.ArgumentParser(description="Deduplicate URIs on a Spark cluster.")
    parser.add_argument("inputs", nargs="+", help="files, directories or patterns of them")
    parser.add_argument("--output", required=True, help="where to write; must not be there")
    parser.add_argument("--from", dest="kind", choices=["text", "parquet"], default="text")
    parser.add_argument("--column", default="url", help="of Parquet, the column with the URIs")
    parser.add_argument("--keep", choices=["first", "any"], default="first")
    parser.add_argument("--sets", help="make a set of keys instead, by way of this directory")
    parser.add_argument("--rung", choices=["string", "syntax", "scheme"], default="scheme")
    parser.add_argument("--preset", help="rules beyond the RFC")
    parser.add_argument("--ignore-fragment", action="store_true")
    return parser.parse_args(given)


def main(given: list[str]) -> None:
    """Does what was typed."""
    typed = arguments(given)
    spark = SparkSession.builder.appName("uriscan dedup").getOrCreate()
    spark.conf.set("spark.sql.execution.arrow.maxRecordsPerBatch", 1 << 16)
    job = DedupJob(
        spark, {"rung": typed.rung, "preset": typed.preset, "drop_fragment": typed.ignore_fragment}
    )
    before = time.perf_counter()
    rows = job.text(typed.inputs) if typed.kind == "text" else job.parquet(typed.inputs, typed.column)
    if typed.sets:
        print(f"{len(job.sets(rows, typed.sets, typed.output))} keys in {typed.output}", file=sys.stderr)
    else:
        keep = job.first if typed.keep == "first" else job.any
        job.write(keep(job.keyed(rows)), typed.output)
    wheel, tasks = job.seconds.value, job.task_seconds()
    print(
        f"{time.perf_counter() - before:.1f} s; tasks {tasks:.1f} s, of which {wheel:.1f} s in uriscan "
        f"({100 * wheel / max(tasks, 1e-9):.0f} %)",
        file=sys.stderr,
    )
    spark.stop()


if __name__ == "__main__":
    main(sys.argv[1:])
