"""The same dataset deduplicated by each engine, side by side: the same keys, the same rows, and the times.

    python benches/engines.py TABLES [--column url] [--rounds 3] [--only NAME,...]

TABLES is a directory of Parquet files with a column `id` that is different in every row and rises from row to row. Of each class
the first row is kept. Every engine gives the ids that it kept and their keys; both are compared, as BLAKE3 of what is sorted, with
those of the program, and a difference ends the run. An engine that is not there is left out, with the reason.

`URISCAN_PROGRAM` names the program, `URISCAN_DUCKDB` the extension for DuckDB (`engines/duckdb/package`), `URISCAN_DATAFUSION` the
example `dedup` of `engines/datafusion`, since DataFusion's Python package cannot load functions in Rust; the others are Python
packages. Engines for which URLs have to be read from files are timed with reading; all are.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any, Callable, Iterator

import blake3
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import uriscan

Found = tuple[pa.Array, pa.Array]
"""The ids of the rows that are kept, and their keys."""


class Missing(Exception):
    """Why an engine is left out."""


def files(tables: str) -> list[str]:
    """The files of the dataset, in order."""
    return sorted(map(str, pathlib.Path(tables).glob("*.parquet")))


def program(tables: str, column: str) -> Callable[[], Found]:
    """The program: two commands."""
    path = os.environ.get("URISCAN_PROGRAM")
    if not path:
        raise Missing("URISCAN_PROGRAM does not name the program")

    def run() -> Found:
        with tempfile.TemporaryDirectory() as place:
            kept, keys = f"{place}/kept.parquet", f"{place}/keys.parquet"
            subprocess.run([path, "dedup", "-q", "--column", column, "-o", kept, *files(tables)], check=True)
            subprocess.run([path, "key", "-q", "--column", column, "-o", keys, kept], check=True)
            table = pq.read_table(keys, columns=["id", "uri_key"]).combine_chunks()
            return table["id"].combine_chunks(), table["uri_key"].combine_chunks()

    return run


def wheel(tables: str, column: str) -> Callable[[], Found]:
    """The package on columns of pyarrow."""

    def run() -> Found:
        table = pa.concat_tables([pq.read_table(path, columns=["id", column]) for path in files(tables)])
        table = table.filter(uriscan.is_first(table[column])).combine_chunks()
        return table["id"].combine_chunks(), uriscan.key(table[column]).combine_chunks()

    return run


def polars(tables: str, column: str) -> Callable[[], Found]:
    """The namespace of the package in Polars."""
    try:
        import polars as pl

        import uriscan.polars  # noqa: F401
    except ImportError as error:
        raise Missing(str(error)) from error

    def run() -> Found:
        url = pl.col(column).uri
        frame = pl.read_parquet(files(tables), columns=["id", column]).filter(url.is_first())
        frame = frame.select("id", key=url.key())
        return frame["id"].to_arrow(), frame["key"].to_arrow()

    return run


def duckdb(tables: str, column: str) -> Callable[[], Found]:
    """The extension for DuckDB."""
    extension = os.environ.get("URISCAN_DUCKDB")
    if not extension:
        raise Missing("URISCAN_DUCKDB does not name the extension")
    try:
        import duckdb as engine
    except ImportError as error:
        raise Missing(str(error)) from error
    sql = engine.connect(config={"allow_unsigned_extensions": "true"})
    sql.execute(f"LOAD '{extension}'")

    def run() -> Found:
        query = f"""SELECT min(id) AS id, lpad(lower(hex(uri_key("{column}"))), 32, '0') AS key
            FROM read_parquet({files(tables)}) WHERE trim("{column}"::VARCHAR) <> '' GROUP BY ALL"""
        table = sql.execute(query).to_arrow_table().combine_chunks()
        raw = bytes.fromhex("".join(table["key"].to_pylist()))
        keys = pa.Array.from_buffers(pa.binary(16), len(table), [None, pa.py_buffer(raw)])
        return table["id"].combine_chunks(), keys

    return run


def datafusion(tables: str, column: str) -> Callable[[], Found]:
    """The functions for DataFusion, in a process of their own."""
    path = os.environ.get("URISCAN_DATAFUSION")
    if not path:
        raise Missing("URISCAN_DATAFUSION does not name the example dedup of engines/datafusion")

    def run() -> Found:
        with tempfile.TemporaryDirectory() as place:
            kept = f"{place}/kept.parquet"
            subprocess.run([path, column, kept, *files(tables)], check=True)
            table = pq.read_table(kept).combine_chunks()
            return table["id"].combine_chunks(), table["key"].combine_chunks()

    return run


def datafusion_python(tables: str, column: str) -> Callable[[], Found]:
    """The package as a function of DataFusion's package for Python."""
    try:
        import datafusion as engine
    except ImportError as error:
        raise Missing(str(error)) from error
    text, of_keys = pa.string_view(), pa.binary(16)
    session = engine.SessionContext()
    session.register_udf(engine.udf(uriscan.key, [text], of_keys, "immutable", name="uri_key"))
    session.register_parquet("pages", str(pathlib.Path(tables)))

    def run() -> Found:
        query = f"""SELECT min(id) AS id, uri_key("{column}") AS key
            FROM pages WHERE trim("{column}") <> '' GROUP BY 2"""
        table = pa.Table.from_batches(session.sql(query).collect()).combine_chunks()
        return table["id"].combine_chunks(), table["key"].combine_chunks()

    return run


def spark(tables: str, column: str) -> Callable[[], Found]:
    """`uriscan.spark`, on threads of one process."""
    try:
        from pyspark.sql import SparkSession

        import uriscan.spark as uris
    except ImportError as error:
        raise Missing(str(error)) from error
    os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")
    os.environ["PYSPARK_PYTHON"] = os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    builder = SparkSession.builder.master("local[2]").config("spark.ui.enabled", "false")
    builder = builder.config("spark.sql.shuffle.partitions", "8").config("spark.driver.memory", "3g")
    session = builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", "65536").getOrCreate()
    session.sparkContext.setLogLevel("ERROR")

    def run() -> Found:
        kept = uris.dedup(session.read.parquet(*files(tables)), column)
        table = uris.key(kept, column).select("id", "uri_key").toArrow().combine_chunks()
        return table["id"].combine_chunks(), table["uri_key"].combine_chunks()

    return run


def ray(tables: str, column: str) -> Callable[[], Found]:
    """`uriscan.ray`, on two workers."""
    os.environ["RAY_USAGE_STATS_ENABLED"] = os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    try:
        import uriscan.ray as engine
    except ImportError as error:
        raise Missing(str(error)) from error
    engine.ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=1 << 30)
    engine.ray.data.DataContext.get_current().enable_progress_bars = False

    def run() -> Found:
        kept = engine.dedup(files(tables), column=column, parts=8)
        table = pa.concat_tables(kept.iter_batches(batch_format="pyarrow", batch_size=None)).combine_chunks()
        return table["id"].combine_chunks(), uriscan.key(table[column]).combine_chunks()

    return run


ENGINES = {
    "program": program,
    "pyarrow": wheel,
    "Polars": polars,
    "DuckDB": duckdb,
    "DataFusion": datafusion,
    "DataFusion.py": datafusion_python,
    "Spark": spark,
    "Ray": ray,
}


def digests(found: Found) -> tuple[int, str, str]:
    """The number of rows, and what ids and keys have in common however they are sorted."""
    ids, keys = (_whole(each) for each in found)
    ids, keys = ids.take(pc.sort_indices(ids)), keys.cast(pa.binary()).cast(pa.large_binary())
    keys = keys.take(pc.sort_indices(keys))
    of_ids = blake3.blake3(b"".join(str(value).encode() + b"\n" for value in ids.to_pylist())).hexdigest()
    return len(ids), of_ids[:16], blake3.blake3(b"".join(keys.to_pylist())).hexdigest()[:16]


def _whole(values: Any) -> pa.Array:
    return values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values


def ready(only: list[str], tables: str, column: str) -> Iterator[tuple[str, Callable[[], Found]]]:
    """The engines that are there."""
    for name, make in ENGINES.items():
        if only and name.lower() not in only:
            continue
        try:
            yield name, make(tables, column)
        except Missing as why:
            print(f"{name:13} left out: {why}")


def main(given: list[str]) -> int:
    """Compares, then prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", metavar="TABLES")
    parser.add_argument("--column", default="url")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="", metavar="NAME,...")
    typed = parser.parse_args(given)
    engines = dict(ready([name.lower() for name in typed.only.split(",") if name], typed.tables, typed.column))
    rows = sum(pq.ParquetFile(path).metadata.num_rows for path in files(typed.tables))
    expected, times = None, {name: [] for name in engines}
    for _ in range(typed.rounds):
        for name, run in engines.items():
            start = time.perf_counter()
            found = run()
            times[name].append(time.perf_counter() - start)
            known = digests(found)
            expected = expected or known
            if known != expected:
                print(f"{name} differs: {known} instead of {expected}", file=sys.stderr)
                return 1
    assert expected is not None, "no engine is there"
    print(f"{rows} rows, {expected[0]} kept; ids {expected[1]}, keys {expected[2]}: the same of all")
    least = min(statistics.median(each) for each in times.values())
    for name, each in times.items():
        median = statistics.median(each)
        print(f"{name:13} {median:8.2f} s  {median / least:6.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
