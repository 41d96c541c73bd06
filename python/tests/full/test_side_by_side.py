"""The scripts of `docs/engines`, on a few rows: all of them keep the same rows and give the same keys."""

import importlib.util
import json
import os
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
ENGINES = ROOT / "docs" / "engines"


def load(name):
    """A module of that directory."""
    spec = importlib.util.spec_from_file_location(name, ENGINES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module", name="engines")
def _engines():
    return load("side_by_side")


@pytest.fixture(scope="module", name="tables")
def _tables(tmp_path_factory):
    tables = tmp_path_factory.mktemp("engines") / "tables"
    load("dataset").write(str(ROOT / "corpora" / "messy.txt"), str(tables), 2)
    return str(tables)


def test_engines_agree(engines, tables, capsys):
    assert engines.main([tables, "--rounds", "1"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^\d{3,} rows are kept by each; BLAKE3 of their ids [0-9a-f]{16}, of their keys [0-9a-f]{16}$", shown, re.M)
    left_out = set(re.findall(r"^(\w+): left out", shown, re.M))
    # What `scripts/test-python` installs, and what the environment names.
    assert left_out <= {"program", "duckdb", "datafusion_rust", "spark", "ray"}
    for name, variable in {"program": "URISCAN_PROGRAM", "duckdb": "URISCAN_DUCKDB", "datafusion_rust": "URISCAN_DATAFUSION"}.items():
        assert variable not in os.environ or name not in left_out
    for name, module in {"spark": "pyspark", "ray": "ray"}.items():
        assert importlib.util.find_spec(module) is None or name not in left_out
    assert len(re.findall(r"^\S.* s +\d+\.\d$", shown, re.M)) == len(engines.NEEDS) - len(left_out)


def test_every_script_is_listed(engines):
    names = {path.stem.removeprefix("with_") for path in ENGINES.glob("with_*.py")}
    assert names == set(engines.NEEDS)
    listed = re.findall(r"\((with_\w+)\.py\)", (ENGINES / "README.md").read_text("utf-8"))
    assert sorted(listed) == sorted(f"with_{name}" for name in names)


def test_a_difference_is_an_error(engines, tables, capsys, monkeypatch):
    whole = engines.run

    def run(name, given):
        found = whole("pyarrow", given)
        return {**found, "ids": "0" * 16} if name == "polars" else found

    monkeypatch.setattr(engines, "run", run)
    assert engines.main([tables, "--rounds", "1", "--only", "pyarrow,polars"]) == 1
    assert "polars differs" in capsys.readouterr().err
    assert engines.main([tables, "--only", "none"]) == 2


def test_digests_are_those_of_the_bytes(capsys, monkeypatch):
    monkeypatch.syspath_prepend(str(ENGINES))
    import pyarrow as pa

    agree = load("agree")
    orders = [([3, 1], [b"b" * 16, b"a" * 16]), ([1, 3], [b"a" * 16, b"b" * 16]), ([1, 3], [b"a" * 16, b"c" * 16])]
    for ids, keys in orders:
        agree.report("one", pa.chunked_array([ids[:1], ids[1:]]), pa.array(keys, pa.binary(16)), 0.5)
    one, same, other = map(json.loads, capsys.readouterr().out.splitlines())
    assert one == same and one["rows"] == 2
    assert other["ids"] == one["ids"] and other["keys"] != one["keys"]
