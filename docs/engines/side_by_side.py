"""Runs the script of each engine on the same dataset, compares what they found, and prints their times.

    python docs/engines/side_by_side.py TABLES [--rounds 3] [--only NAME,...]

Of each group the first row is kept. Rounds are interleaved, each script runs in a process of its own, and the time is that of the cell
between its clocks: reading the files is part of it, starting a session is not. If what is kept, or a key, differs from what the
first one found, that is an error. An engine that is not installed is left out, with the reason.
"""

import argparse
import importlib.util
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent

NEEDS = {
    "program": ("URISCAN_PROGRAM",),
    "pyarrow": ("pyarrow",),
    "polars": ("polars",),
    "duckdb": ("duckdb", "URISCAN_DUCKDB"),
    "datafusion": ("datafusion",),
    "datafusion_rust": ("URISCAN_DATAFUSION",),
    "spark": ("pyspark",),
    "ray": ("ray",),
}
"""The packages and variables that the script `with_NAME.py` needs."""


def missing(name: str) -> str | None:
    """Why an engine cannot run, or None."""
    for need in NEEDS[name]:
        if need.isupper() and need not in os.environ:
            if need == "URISCAN_PROGRAM" and shutil.which("uriscan"):
                continue
            return f"{need} is not set"
        if not need.isupper() and importlib.util.find_spec(need) is None:
            return f"the package {need} is not installed"
    return None


def run(name: str, tables: str) -> dict[str, str | float]:
    """What the script of an engine reports."""
    env = {**os.environ, "URISCAN_TABLES": tables}
    done = subprocess.run([sys.executable, HERE / f"with_{name}.py"], env=env, stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def main(given: list[str]) -> int:
    """Compares, then prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tables", metavar="TABLES", help="a directory that dataset.py wrote")
    parser.add_argument("--rounds", type=int, default=3, metavar="N", help="how often each script runs (default: 3)")
    parser.add_argument("--only", default="", metavar="NAME,...", help=f"some of: {', '.join(NEEDS)}")
    typed = parser.parse_args(given)
    names = [name for name in NEEDS if not typed.only or name in typed.only.split(",")]
    for name in names:
        if why := missing(name):
            print(f"{name}: left out, {why}")
    names = [name for name in names if missing(name) is None]
    times: dict[str, list[float]] = {}
    expected = None
    for _ in range(typed.rounds):
        for name in names:
            found = run(name, typed.tables)
            times.setdefault(found.pop("engine"), []).append(found.pop("seconds"))
            expected = expected or found
            if found != expected:
                print(f"{name} differs: {found} instead of {expected}", file=sys.stderr)
                return 1
    if expected is None:
        print("no engine is there", file=sys.stderr)
        return 2
    print(f"{expected['rows']} rows are kept by each; BLAKE3 of their ids {expected['ids']}, of their keys {expected['keys']}")
    least = min(map(statistics.median, times.values()))
    for engine, each in sorted(times.items(), key=lambda item: statistics.median(item[1])):
        median = statistics.median(each)
        print(f"{engine:21}{median:8.2f} s{median / least:7.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
