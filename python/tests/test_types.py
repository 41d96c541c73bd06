"""Tables of every column type, as pyarrow, Polars, DuckDB and Spark write them: what goes in comes out, for each of them."""

import datetime as dt
import decimal
import importlib.util
import os
import sys
import uuid

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import uriscan

# The second is the first one in another spelling; its row is omitted.
URLS = ["http://h/1", "HTTP://h/1", "http://h/2", "http://h/3"]
KEPT = [0, 2, 3]

DAY, TIME = dt.date(9999, 12, 31), dt.datetime(1816, 3, 29, 5, 6, 7, 8)
TINY = decimal.Decimal("-0.1")


def columns():
    """The columns of each type that Parquet holds for Arrow, each with a value, another one, and null."""
    numbers = [pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8(), pa.uint16(), pa.uint32(), pa.uint64()]
    made = {f"number {kind}": pa.array([1, None, 127, 0], kind) for kind in numbers}
    made |= {f"float {kind}": pa.array([1.5, None, float("inf"), -0.0], kind) for kind in [pa.float32(), pa.float64()]}
    made["half"] = pa.array([1.5, None, 2.5, 0.0], pa.float32()).cast(pa.float16())
    made["bool"] = pa.array([True, None, False, True])
    made |= {f"text {kind}": pa.array(["a\0é", None, "", "z"], kind) for kind in [pa.string(), pa.large_string(), pa.string_view()]}
    made |= {f"bytes {kind}": pa.array([b"\xff", None, b"", b"z"], kind) for kind in [pa.binary(), pa.large_binary(), pa.binary_view()]}
    made["fixed"] = pa.array([b"abc", None, b"\0\0\0", b"xyz"], pa.binary(3))
    for kind in [pa.decimal32(9, 2), pa.decimal64(18, 2), pa.decimal128(38, 2), pa.decimal256(76, 2)]:
        made[f"decimal {kind}"] = pa.array([TINY, None, decimal.Decimal("9999999.99"), decimal.Decimal(0)], kind)
    made |= {f"day {kind}": pa.array([DAY, None, dt.date(1, 1, 1), DAY], kind) for kind in [pa.date32(), pa.date64()]}
    for unit in ["s", "ms", "us", "ns"]:
        for zone in [None, "UTC", "Europe/Paris", "+05:30"]:
            values = [1, None, -1, 0] if unit == "ns" else [TIME, None, dt.datetime(2026, 3, 1), TIME]
            made[f"time {unit} {zone}"] = pa.array(values, pa.timestamp(unit, tz=zone))
        made[f"span {unit}"] = pa.array([1, None, -1, 0], pa.duration(unit))
    for kind in [pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns")]:
        made[f"clock {kind}"] = pa.array([1, None, 86_399, 0], kind)
    made["list"] = pa.array([[1, None], None, [], [2]], pa.list_(pa.int32()))
    made["large list"] = pa.array([["a"], None, [], [None]], pa.large_list(pa.string()))
    made["fixed list"] = pa.array([[1, 2], [0, 0], [3, None], [5, 6]], pa.list_(pa.int16(), 2))
    made["struct"] = pa.array([{"a": 1, "b": {"c": "x"}}, None, {"a": None, "b": None}, {"a": 2, "b": {"c": None}}])
    made["map"] = pa.array([[("k", 1)], None, [], [("a", None)]], pa.map_(pa.string(), pa.int64()))
    made["lists of lists"] = pa.array([[[1], []], None, [None], []], pa.list_(pa.list_(pa.int8())))
    made["lists of structs"] = pa.array([[{"a": "x"}], None, [], [None]])
    made["dictionary"] = pa.array(["a", None, "b", "a"]).dictionary_encode()
    made["dictionary of bytes"] = pa.array([b"a", None, b"b", b"a"]).dictionary_encode()
    made["null"] = pa.nulls(4)
    made["json"] = pa.array(['{"a":1}', None, "[]", "1"], pa.json_())
    made["uuid"] = pa.array([uuid.UUID(int=1).bytes, None, uuid.UUID(int=2).bytes, uuid.UUID(int=3).bytes], pa.uuid())
    return made


def deduplicated(tmp_path):
    uriscan.dedup_parquet(str(tmp_path / "in.parquet"), tmp_path / "out.parquet", column="url")
    return tmp_path / "out.parquet"


def values(column):
    """The values of a column; of times, which Python rounds, their numbers."""
    of = column.type
    is_time = pa.types.is_timestamp(of) or pa.types.is_duration(of) or pa.types.is_time(of)
    return list(map(str, column.cast(pa.int64() if of.bit_width == 64 else pa.int32()).to_pylist() if is_time else column.to_pylist()))


def test_of_pyarrow(tmp_path):
    made = columns()
    assert len(made) >= 60
    table = pa.table({"url": URLS, **made})
    pq.write_table(table, tmp_path / "in.parquet", version="2.6")
    as_read = pq.read_table(tmp_path / "in.parquet")
    found = pq.read_table(deduplicated(tmp_path))
    for name in as_read.column_names:
        # Parquet has no seconds: their zone is UTC then, as the documents say.
        is_named = name in ["time s Europe/Paris", "time s +05:30"]
        assert is_named or found[name].type == as_read[name].type, name
        assert values(found[name]) == [values(as_read[name])[row] for row in KEPT], name
    annotations = [pq.ParquetFile(tmp_path / name).schema for name in ["in.parquet", "out.parquet"]]
    for at in range(len(annotations[0])):
        before, after = (schema.column(at) for schema in annotations)
        assert str(before.logical_type) == str(after.logical_type), before.path


def test_of_polars(tmp_path):
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(
        {
            "url": URLS,
            "categories": polars.Series(["a", None, "b", "a"], dtype=polars.Categorical),
            "enum": polars.Series(["a", None, "b", "a"], dtype=polars.Enum(["b", "a"])),
            "decimal": polars.Series([TINY, None, TINY, TINY], dtype=polars.Decimal(20, 3)),
            "array": polars.Series([[1, 2], None, [3, 4], [5, 6]], dtype=polars.Array(polars.Int64, 2)),
            "list": polars.Series([[1], None, [], [None]], dtype=polars.List(polars.UInt8)),
            "struct": [{"a": 1}, None, {"a": None}, {"a": 2}],
            "time": [dt.time(1, 2, 3), None, dt.time(0), dt.time(23)],
            "span": [dt.timedelta(microseconds=1), None, dt.timedelta(days=-1), dt.timedelta()],
            "zoned": polars.Series([TIME, None, TIME, TIME]).dt.replace_time_zone("Europe/Paris"),
            "nanoseconds": polars.Series([1, None, -1, 0]).cast(polars.Datetime("ns")),
            "bytes": [b"\xff", None, b"", b"z"],
            "day": [DAY, None, DAY, DAY],
            "null": [None] * 4,
        }
    )
    frame.write_parquet(tmp_path / "in.parquet")
    expected = polars.read_parquet(tmp_path / "in.parquet")[KEPT]
    found = polars.read_parquet(deduplicated(tmp_path))
    for name in expected.columns:
        assert found[name].to_list() == expected[name].to_list(), name
        assert found[name].dtype == expected[name].dtype or name == "enum", name


def test_of_duckdb(tmp_path):
    duckdb = pytest.importorskip("duckdb")
    kinds = {
        "tinyint": "1",
        "usmallint": "65535",
        "uinteger": "1",
        "ubigint": "18446744073709551615",
        "double": "'NaN'",
        "float": "1.5",
        "decimal(38,10)": "-0.1",
        "varchar": "'é'",
        "blob": r"'\xff'",
        "boolean": "true",
        "date": "'9999-12-31'",
        "time": "'01:02:03'",
        "timestamp": "'1816-03-29 05:06:07'",
        "timestamp_s": "'1816-03-29 05:06:07'",
        "timestamp_ms": "'1816-03-29 05:06:07.008'",
        "timestamp_ns": "'2026-03-01 00:00:00.000000001'",
        "timestamptz": "'2026-03-01 00:00:00+05:30'",
        "interval": "'3 months 2 days 1 second'",
        "uuid": "'00000000-0000-0000-0000-000000000001'",
        "json": """'{"a":1}'""",
        "integer[]": "[1, null]",
        "integer[2]": "[1, 2]",
        "struct(a integer, b varchar)": "{'a': 1, 'b': 'x'}",
        "map(varchar, integer)": "map {'k': 1}",
    }
    named = ", ".join(f"case when n = 1 then null else {value}::{kind} end as c{at}" for at, (kind, value) in enumerate(kinds.items()))
    urls = ", ".join(f"({n}, '{url}')" for n, url in enumerate(URLS))
    duckdb.sql(f"copy (select url, n, {named} from (values {urls}) t(n, url) order by n) to '{tmp_path}/in.parquet'")
    out = deduplicated(tmp_path)
    read = lambda path: duckdb.sql(f"select * from '{path}' where n <> 1 order by n")  # noqa: E731
    before, after = read(tmp_path / "in.parquet"), read(out)
    assert before.types == after.types
    assert [list(map(str, row)) for row in after.fetchall()] == [list(map(str, row)) for row in before.fetchall()]


@pytest.mark.skipif(importlib.util.find_spec("pyspark") is None, reason="Spark is not installed")
def test_of_spark(tmp_path):
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    session = SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false").getOrCreate()
    kinds = {
        "tinyint": "1",
        "smallint": "1",
        "bigint": "1",
        "float": "1.5",
        "double": "double('nan')",
        "decimal(38,10)": "-0.1",
        "string": "'é'",
        "binary": "x'ff'",
        "boolean": "true",
        "date": "date'9999-12-31'",
        "timestamp": "timestamp'1900-03-29 05:06:07.000008'",
        "timestamp_ntz": "timestamp_ntz'9999-12-31 05:06:07'",
        "array<int>": "array(1, null)",
        "map<string, int>": "map('k', 1)",
        "struct<a: int, b: array<string>>": "named_struct('a', 1, 'b', array('x', null))",
    }
    named = ", ".join(f"if(n = 1, null, cast({value} as {kind})) as c{at}" for at, (kind, value) in enumerate(kinds.items()))
    urls = ", ".join(f"({n}, '{url}')" for n, url in enumerate(URLS))
    for form in ["TIMESTAMP_MICROS", "INT96"]:
        session.conf.set("spark.sql.parquet.outputTimestampType", form)
        rows = session.sql(f"select url, n, {named} from values {urls} as t(n, url) order by n")
        rows.coalesce(1).write.mode("overwrite").parquet(str(tmp_path / "in"))
        out = tmp_path / f"{form}.parquet"
        uriscan.dedup_parquet(str(tmp_path / "in"), out, column="url")
        before = session.read.parquet(str(tmp_path / "in")).where("n <> 1").orderBy("n")
        after = session.read.parquet(str(out)).orderBy("n")
        assert after.schema.simpleString() == before.schema.simpleString(), form
        assert list(map(str, after.collect())) == list(map(str, before.collect())), form


def test_others_read_what_is_written_as_what_was_read(tmp_path):
    table = pa.table({"url": URLS, **columns()})
    pq.write_table(table, tmp_path / "in.parquet", version="2.6")
    out = deduplicated(tmp_path)
    if importlib.util.find_spec("duckdb") is not None:
        import duckdb

        before, after = (duckdb.sql(f"select * from '{path}'") for path in [tmp_path / "in.parquet", out])
        names = [name for name, kind in zip(before.columns, before.types) if "DECIMAL" not in str(kind)]
        kinds = lambda read: [(name, str(kind)) for name, kind in zip(read.columns, read.types) if name in names]  # noqa: E731
        assert kinds(after) == kinds(before)
        rows = [row for at, row in enumerate(before.fetchall()) if at in KEPT]
        assert list(map(str, after.fetchall())) == list(map(str, rows))
    if importlib.util.find_spec("polars") is not None:
        import polars

        # It has no maps, half floats, zones that are offsets and so many digits.
        others = ["map", "half", "+05:30", "decimal256", "time s Europe/Paris"]
        names = [name for name in table.column_names if not any(other in name for other in others)]
        pq.write_table(table.select(names), tmp_path / "in.parquet", version="2.6")
        before, after = (polars.read_parquet(path) for path in [tmp_path / "in.parquet", deduplicated(tmp_path)])
        assert str(after.rows()) == str([before.row(row) for row in KEPT])
