"""`uriscan.spark.dedup` with the least or greatest value of a column, on two executors, of rows of files and of rows that are moved, which
come in many batches: what is merged before it is moved changes nothing. The oracles are Spark's own order, the package on one machine,
and a sort in Python."""

import datetime
import decimal
import math
import random

import pyarrow
import pyarrow.compute
import pyarrow.parquet
import pytest
from clusters import session

import uriscan
from uriscan import _keys

uris = pytest.importorskip("uriscan.spark", reason="PySpark is not installed")

ROWS = 600

DAY = datetime.datetime(2026, 11, 24)

VALUES = {
    "i": (pyarrow.int8(), [-3, 0, 7]),
    "long": (pyarrow.int64(), [-(2**63), -1, 2**63 - 1]),
    "float": (pyarrow.float32(), [-math.inf, -0.0, 0.0, 1.5, math.inf, math.nan]),
    "double": (pyarrow.float64(), [-1.0, -0.0, 0.0, 5e-324, math.nan, math.inf]),
    "decimal": (pyarrow.decimal128(20, 2), [decimal.Decimal(text) for text in ("-1.50", "0", "9.99", "10.00")]),
    "bool": (pyarrow.bool_(), [False, True]),
    # Bytes decide: upper case is first, and what is beyond 16 bits of UTF-16 is last.
    "text": (pyarrow.string(), ["", "B", "a", "ab", "é", "\ufffd", "\U0001f600"]),
    "bytes": (pyarrow.binary(), [b"", b"\0", b"a", b"\x80", b"\xff\xff"]),
    "date": (pyarrow.date32(), [datetime.date(1, 1, 1), datetime.date(1969, 12, 31), datetime.date(2026, 11, 24)]),
    "instant": (pyarrow.timestamp("us", "UTC"), [DAY + datetime.timedelta(microseconds=n) for n in (-1, 0, 1)]),
    "clock": (pyarrow.timestamp("us"), [DAY + datetime.timedelta(microseconds=n) for n in (-1, 0, 1)]),
    "nothing": (pyarrow.int32(), [None]),
}


@pytest.fixture(scope="module", name="whole")
def _whole():
    """Rows of 40 classes, some of which have a hundred rows, with a column of every type, in which every seventh value is null."""
    chance = random.Random(22)
    columns = {"url": [], "n": list(range(ROWS))}
    for _ in range(ROWS):
        host = min(chance.randrange(40), chance.randrange(40))
        spelled = [f"http://h{host}", f"HTTP://h{host}:80/", f"http://H{host}/./"]
        columns["url"].append(chance.choice(spelled) if chance.random() < 0.97 else chance.choice([None, " "]))
    arrays = {"url": pyarrow.array(columns["url"]), "n": pyarrow.array(columns["n"], pyarrow.int64())}
    for name, (kind, values) in VALUES.items():
        arrays[name] = pyarrow.array([chance.choice(values) if chance.random() < 6 / 7 else None for _ in range(ROWS)], kind)
    return pyarrow.table(arrays)


@pytest.fixture(scope="module", name="tables")
def _tables(whole, tmp_path_factory):
    directory = tmp_path_factory.mktemp("tables")
    for part in range(3):
        path = directory / f"part-{part}.parquet"
        pyarrow.parquet.write_table(whole.slice(part * ROWS // 3, ROWS // 3), path, row_group_size=50)
    return directory


@pytest.fixture(scope="module", name="spark")
def _spark():
    # A task gets its rows in many batches.
    config = {"spark.executorEnv.SPARK_LOCAL_IP": "127.0.0.1", "spark.sql.execution.arrow.maxRecordsPerBatch": "31"}
    with session("local-cluster[2,1,1024]", **config) as spark:
        yield spark


def numbers(values):
    """The values, with null in place of NaN."""
    if not pyarrow.types.is_floating(values.type):
        return values
    return pyarrow.compute.if_else(pyarrow.compute.is_nan(values), pyarrow.scalar(None, values.type), values)


def expected(whole, name, keep):
    """The rows that are kept: null and NaN are last, zeros are equal, and of equal values the first is kept."""
    kept, values = {}, numbers(whole[name]).to_pylist()
    if name == "text":
        values = [value if value is None else value.encode() for value in values]
    known = sorted({value for value in values if value is not None})
    for row, (of, value) in enumerate(zip(uriscan.groups(whole["url"]).to_pylist(), values)):
        if of is None:
            continue
        at = 0 if value is None else known.index(value)
        rank = (value is None, -at if keep == "max" else at, row)
        kept[of] = min(kept.get(of, rank), rank)
    return sorted(rank[-1] for rank in kept.values())


def rows_of(frame):
    return sorted(row.n for row in frame.select("n").collect())


def moved(rows):
    """The same rows in their order, which are no longer those of files."""
    return rows.orderBy("n")


def test_what_is_merged_is_what_spark_would_keep(spark, whole, tables):
    """Of every type, for which Spark orders rows itself."""
    from pyspark.sql import functions as F

    rows = spark.read.parquet(str(tables)).withColumn("host", F.expr("n % 9"))
    rank = {"min": F.min_by, "max": F.max_by}
    value = {name: f"if(isnan({name}), null, {name})" if name in ("float", "double") else name for name in VALUES}
    found = rows.groupBy("host").agg(*[
        rank[keep]("n", F.struct(F.expr(f"{value[name]} is {'not ' * (keep == 'max')}null"), F.expr(value[name]), F.expr("-n" if keep == "max" else "n"))).alias(f"{keep} {name}")
        for keep in rank for name in VALUES
    ]).orderBy("host").toArrow()  # fmt: skip
    host = pyarrow.array([row % 9 for row in range(ROWS)])
    for name in VALUES:
        for keep in rank:
            keyed = pyarrow.table({"high": host, "low": host, "place": whole["n"], "by": numbers(whole[name])})
            kept = _keys.best(keyed, keep).sort_by("high")
            assert kept["place"].to_pylist() == found[f"{keep} {name}"].to_pylist(), (name, keep)
            assert kept.column_names == keyed.column_names


@pytest.mark.parametrize("keep", ["first", "last", "min", "max"])
def test_a_task_merges_what_it_holds(whole, monkeypatch, keep):
    """And moves the rest in parts, of which the same rows are kept."""
    rows = whole.select(["url", "n"]).rename_columns(["url", "place"]).append_column("by", numbers(whole["double"]))
    counts = []
    for held in 16 << 20, 1_000, 0:
        monkeypatch.setattr(_keys, "HELD", held)
        parts = list(_keys.keyed_places(iter(rows.to_batches(max_chunksize=20)), {}, "blake3", lambda batch: batch["place"], keep))
        kept = _keys.best(pyarrow.Table.from_batches(parts), keep)["place"].to_pylist()
        classes = uriscan.groups(whole["url"], keep=keep if keep in ("first", "last") else "first").to_pylist()
        assert sorted(kept) == (expected(whole, "double", keep) if keep in ("min", "max") else sorted(set(classes) - {None}))
        counts.append(sum(map(len, parts)))
    assert counts[0] == len(kept) < counts[1] < counts[2] < len(rows)


@pytest.mark.parametrize("keep", ["min", "max"])
def test_rows_are_those_of_one_machine(spark, whole, tables, tmp_path, keep):
    rows = spark.read.parquet(str(tables))
    for name in "decimal", "instant", "text", "double":
        output = tmp_path / f"{name}.parquet"
        uriscan.dedup_parquet(sorted(map(str, tables.iterdir())), output, column="url", keep=f"{keep}:{name}")
        alone = sorted(pyarrow.parquet.read_table(output)["n"].to_pylist())
        assert rows_of(uris.dedup(rows, "url", keep=keep, by=name)) == expected(whole, name, keep), name
        assert alone == expected(whole, name, keep), name
    for name in "double", "bytes":
        kept = [row.n for row in uris.dedup(moved(rows), "url", keep=keep, by=name, order=True).collect()]
        assert kept == expected(whole, name, keep), name


def test_intervals(spark, whole, tables):
    from pyspark.sql import functions as F

    rows = spark.read.parquet(str(tables))
    for made in "make_dt_interval(0, 0, i)", "make_ym_interval(0, i)":
        with_intervals = rows.withColumn("of", F.expr(made))
        for frame in with_intervals, moved(with_intervals):
            assert rows_of(uris.dedup(frame, "url", keep="max", by="of")) == expected(whole, "i", "max"), made


def test_a_field_of_a_struct(spark, whole, tables):
    from pyspark.sql import functions as F

    rows = spark.read.parquet(str(tables)).select("url", "n", F.struct("long").alias("meta"))
    for frame in rows, moved(rows):
        assert rows_of(uris.dedup(frame, "url", keep="max", by="meta.long")) == expected(whole, "long", "max")


def test_files_that_are_named_twice(spark, tables):
    """Spark reads them twice; of both readings one row is kept."""
    one = sorted(tables.iterdir())[0]
    alone = rows_of(uris.dedup(spark.read.parquet(str(one)), "url"))
    assert rows_of(uris.dedup(spark.read.parquet(str(one), str(one)), "url")) == alone
    both = rows_of(uris.dedup(spark.read.parquet(str(tables), str(one)), "url"))
    assert both == rows_of(uris.dedup(spark.read.parquet(str(tables)), "url"))


def test_text_with_a_collation(spark, whole, tables):
    """Which has an order that is not that of its bytes: nothing is merged before it is moved."""
    rows = spark.read.parquet(str(tables)).selectExpr("url", "n", "text collate UTF8_LCASE as text")
    lower = whole.set_column(whole.column_names.index("text"), "text", pyarrow.compute.utf8_lower(whole["text"]))
    for frame in rows, moved(rows):
        assert rows_of(uris.dedup(frame, "url", keep="min", by="text")) == expected(lower, "text", "min")


@pytest.mark.parametrize("keep", ["min", "max"])
def test_with_a_set(spark, whole, tables, tmp_path, keep):
    """What is kept of the classes that are not in the set is what would be kept without."""
    rows = spark.read.parquet(str(tables))
    seen = uriscan.SetPieces.create(tmp_path / "seen", bits=2).path
    uris.add(rows.where("n % 10 = 0"), "url", seen)
    classes = uriscan.groups(whole["url"]).to_pylist()
    known = {of for row, of in enumerate(classes) if row % 10 == 0 and of is not None}
    for frame in rows, moved(rows):
        kept = uris.dedup(frame, "url", keep=keep, by="double", seen=seen)
        assert rows_of(kept) == [row for row in expected(whole, "double", keep) if classes[row] not in known]
