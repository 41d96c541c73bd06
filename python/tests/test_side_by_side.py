"""The comparison of engines, on a few rows: all of them keep the same rows and give the same keys."""

import importlib.util
import os
from pathlib import Path

import pyarrow
import pyarrow.parquet

ROOT = Path(__file__).resolve().parents[2]


def test_engines_agree(tmp_path, capsys):
    spec = importlib.util.spec_from_file_location("engines", ROOT / "python" / "benches" / "engines.py")
    engines = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(engines)
    lines = (ROOT / "corpora" / "messy.txt").read_text("utf-8", "replace").splitlines()
    half = len(lines) // 2
    for number, part in enumerate([lines[:half], lines[half:]]):
        table = pyarrow.table({"id": range(number * half, number * half + len(part)), "url": part})
        pyarrow.parquet.write_table(table, tmp_path / f"{number}.parquet")
    # Spark and Ray have tests of their own.
    assert engines.main([str(tmp_path), "--rounds", "1", "--only", "program,pyarrow,polars,duckdb,datafusion,datafusion.py"]) == 0
    shown = capsys.readouterr().out
    assert "the same of all" in shown
    compared = {line.split()[0] for line in shown.splitlines() if "left out" not in line}
    named = {"program": "URISCAN_PROGRAM", "DuckDB": "URISCAN_DUCKDB", "DataFusion": "URISCAN_DATAFUSION"}
    assert {"pyarrow", "Polars", *(name for name, variable in named.items() if os.environ.get(variable))} <= compared
    # A row more, and they differ.
    engines.ENGINES = {"pyarrow": engines.wheel, "other": lambda *given: lambda: (pyarrow.array([1]), pyarrow.array([b"x" * 16]))}
    assert engines.main([str(tmp_path), "--rounds", "1"]) == 1
