"""The dataset that all engines get: a directory of Parquet files made from URLs, one on a line.

    scripts/gen-corpus --lines 5000000 -o urls.txt
    python docs/engines/dataset.py urls.txt tables

The columns are `id`, which rises from row to row, `url`, `status` and `title`. Bytes that are not UTF-8 become U+FFFD, as a column of
strings cannot hold them.
"""

import argparse
import itertools
import os
import pathlib

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 200_000
"""Rows of a row group."""


def tables() -> str:
    """The directory that `URISCAN_TABLES` names, or `tables`."""
    return os.environ.get("URISCAN_TABLES", "tables")


def files() -> list[str]:
    """The files of the dataset, in order."""
    return sorted(map(str, pathlib.Path(tables()).glob("*.parquet")))


def write(lines: str, directory: str, count: int) -> None:
    """Writes the lines of a file as the rows of `count` files, all but the last of which are equally long."""
    pathlib.Path(directory).mkdir(parents=True)
    with open(lines, "rb") as source:
        total = sum(1 for _ in source)
        source.seek(0)
        each = -(-total // count) or 1
        for first in range(0, max(total, 1), each):
            path = f"{directory}/{first // each:03}.parquet"
            with pq.ParquetWriter(path, table(0, []).schema) as out:
                for start in range(first, min(first + each, total), ROWS):
                    part = itertools.islice(source, min(ROWS, first + each - start))
                    out.write_table(table(start, [line.rstrip(b"\n").decode(errors="replace") for line in part]))


def table(first: int, urls: list[str]) -> pa.Table:
    """Rows of which the first has the number `first`."""
    ids = range(first, first + len(urls))
    columns = {
        "id": pa.array(ids, pa.int64()),
        "url": pa.array(urls, pa.string()),
        "status": pa.array([404 if number % 17 == 0 else 200 for number in ids], pa.int16()),
        "title": pa.array([f"Page {number % 1000}" for number in ids], pa.string()),
    }
    return pa.table(columns)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("lines", metavar="LINES", help="file with one URL a line")
    parser.add_argument("directory", metavar="TABLES", help="directory to write, which must not exist")
    parser.add_argument("--files", type=int, default=8, metavar="N", help="how many files (default: 8)")
    given = parser.parse_args()
    write(given.lines, given.directory, given.files)
