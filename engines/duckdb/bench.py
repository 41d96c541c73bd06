#!/usr/bin/env python3
"""Times the functions in DuckDB against the same kernels on a column of Arrow, and against a Python UDF.

    target/python/venv/bin/python engines/duckdb/bench.py LIST [ROUNDS]

Both get the same column from memory and use one thread, then two; rounds are interleaved, and medians are printed. What DuckDB
takes to read the column without a function is timed too, and not subtracted. Results are compared before anything is timed.
"""

import pathlib
import statistics
import sys
import time

import duckdb
import pyarrow as pa

import uriscan

EXTENSION = pathlib.Path(__file__).resolve().parent / "target" / "uriscan.duckdb_extension"


def timed(work):
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def main():
    path, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    lines = pathlib.Path(path).read_bytes().decode("utf-8", "replace").splitlines()
    urls = pa.array(lines)
    print(f"duckdb {duckdb.__version__}, {len(urls):,} URLs, {rounds} rounds")
    for threads in [1, 2]:
        sql = duckdb.connect(config={"allow_unsigned_extensions": "true", "threads": str(threads)})
        sql.execute(f"load '{EXTENSION}'")
        table = pa.table({"url": urls})
        sql.register("given", table)
        sql.execute("create table urls as select url from given")
        sql.create_function("udf_normalize", lambda x: uriscan.normalize(x), [duckdb.sqltypes.VARCHAR],
                            duckdb.sqltypes.VARCHAR, type="arrow")
        uriscan.set_threads(threads)
        assert sql.execute("select bit_xor(uri_key_int(url)) from urls").fetchall()[0][0] == xor(uriscan.key(urls))

        def query(expression):
            return lambda: sql.execute(f"select count({expression}) from urls").fetchall()

        tasks = {
            "normalize, column": lambda: uriscan.normalize(urls),
            "normalize, DuckDB": query("uri_normalize(url)"),
            "normalize, Python UDF in DuckDB": query("udf_normalize(url)"),
            "key, column": lambda: uriscan.key(urls),
            "key, DuckDB": query("uri_key_int(url)"),
            "parse, column": lambda: uriscan.parse(urls),
            "parse, DuckDB": query("uri_parse(url)"),
            "one part, DuckDB": query("uri_part(url, 'host')"),
            "domain, DuckDB": query("uri_domain(url)"),
            "reading alone, DuckDB": query("url || ''"),
        }
        times = {name: [] for name in tasks}
        for _ in range(rounds):
            for name, work in tasks.items():
                times[name].append(timed(work))
        for name, seconds in times.items():
            middle = statistics.median(seconds)
            base = times.get(name.split(",")[0] + ", column")
            ratio = f"{statistics.median(a / b for a, b in zip(seconds, base)):.2f}" if base else ""
            print(f"{threads} threads  {name:34} {middle / len(urls) * 1e9:7.0f} ns a URL  {ratio}")


def xor(keys):
    result = 0
    for key in keys.to_pylist():
        result ^= int.from_bytes(key, "big")
    return result


if __name__ == "__main__":
    main()
