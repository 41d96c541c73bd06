"""Tables in files: the same as with columns in memory, and nothing half done."""

import datetime
import inspect
import json
import os
import signal
import subprocess
import threading
import time

import pyarrow
import pyarrow.csv
import pyarrow.feather
import pyarrow.json
import pyarrow.parquet
import pytest
from conftest import values

import uriscan

BLANK = " \t\n\x0b\x0c\r"


@pytest.fixture(name="table")
def _table():
    urls = values(51, 1500)
    rows = range(len(urls))
    return pyarrow.table({
        "n": pyarrow.array(rows, pyarrow.int32()),
        "url": pyarrow.array(urls, pyarrow.large_string()),
        "day": [datetime.date(2026, 1, 1) + datetime.timedelta(days=row * 7 % 50) for row in rows],
        "tags": [["a", "b"][: row % 3] for row in rows],
    })  # fmt: skip


@pytest.fixture(name="path")
def _path(table, tmp_path):
    path = tmp_path / "urls.parquet"
    pyarrow.parquet.write_table(table, path, row_group_size=400)
    return path


def left(directory):
    return sorted(path.name for path in directory.iterdir())


@pytest.mark.parametrize("keywords", [{}, {"level": "string"}, {"preset": "crawl"}, {"profile": "whatwg"}], ids=str)
def test_dedup(table, path, tmp_path, keywords):
    out = tmp_path / "out.parquet"
    totals = uriscan.dedup_parquet(path, out, column="url", **keywords)
    expected = table.filter(uriscan.is_first(table["url"], **keywords))
    made = pyarrow.parquet.read_table(out)
    assert made.equals(expected) and made.schema.types == table.schema.types
    assert totals["written"] == len(expected) and totals["records"] == totals["written"] + totals["duplicates"]
    assert left(tmp_path) == ["out.parquet", "urls.parquet"]


def test_survivors_and_counts(table, path, tmp_path):
    out = tmp_path / "out.arrow"
    totals = uriscan.dedup_parquet(
        path, str(out), column="url", keep="shortest", count=True, repeated=True, dupes=tmp_path / "dupes",
        clusters=tmp_path / "clusters",
    )  # fmt: skip
    made = pyarrow.ipc.open_file(out).read_all()
    kept, counts = uriscan.dedup(table["url"], keep="shortest", count=True, repeated=True)
    assert made["url"].to_pylist() == kept.to_pylist()
    assert made["uri_count"].to_pylist() == counts.to_pylist()
    assert totals["withheld"] == len(uriscan.dedup(table["url"], unique=True))
    clusters = [json.loads(line) for line in (tmp_path / "clusters").read_text().splitlines()]
    assert [cluster["count"] for cluster in clusters] == counts.to_pylist()
    assert len((tmp_path / "dupes").read_bytes().split(b"\n")) > 10
    uriscan.dedup_parquet(path, tmp_path / "latest.parquet", column="url", keep="max:day")
    latest = pyarrow.parquet.read_table(tmp_path / "latest.parquet")
    rows = table.append_column("class", uriscan.groups(table["url"])).to_pylist()
    best = {}
    for row in rows:
        if row["class"] is not None and (row["class"] not in best or row["day"] > best[row["class"]]["day"]):
            best[row["class"]] = row
    assert latest["n"].to_pylist() == sorted(row["n"] for row in best.values())


SIDES = {
    "dupes": ["parquet", "pq", "arrow", "arrows", "csv", "jsonl", "tsv", "txt"],
    "clusters": ["parquet", "feather", "csv", "tsv", "jsonl", "json"],
}
LINES = {"dupes": ["tsv", "txt"], "clusters": ["jsonl", "json"]}


@pytest.mark.skipif("URISCAN_PROGRAM" not in os.environ, reason="URISCAN_PROGRAM names no program to compare with")
@pytest.mark.parametrize("side", SIDES)
@pytest.mark.parametrize("seen", [pytest.param(False, marks=pytest.mark.full), True])
def test_dupes_and_clusters_are_those_of_the_program(table, path, tmp_path, monkeypatch, side, seen):
    monkeypatch.chdir(tmp_path)
    pyarrow.parquet.write_table(table.slice(0, 300), "other.parquet")
    if seen:
        uriscan.dedup_parquet("other.parquet", "x.parquet", column="url", preset="crawl", seen="s.set", update=True, hash="sha256")
    for end in SIDES[side]:
        for keywords, options in [
            ({}, []),
            ({"keep": "last", "count": True, "on_invalid": "drop"}, ["--keep", "last", "-c", "--on-invalid", "drop"]),
            ({"repeated": True, "max_memory": "64M"}, ["-d", "--max-memory", "64M"]),
            ({"keep": "max:n", "hash": "sha256"}, ["--keep", "max:n", *([] if end in LINES[side] and not seen else ["--hash", "sha256"])]),
        ]:
            keywords = {"preset": "crawl", **keywords, **({"seen": "s.set"} if seen else {})}
            options = ["--preset", "crawl", *options, *(["--seen", "s.set"] if seen else [])]
            ours, theirs = f"ours.{end}", f"theirs.{end}"
            inputs = [path.name, "other.parquet"]
            uriscan.dedup_parquet(inputs, "a.parquet", column="url", **keywords, **{side: ours})
            command = [os.environ["URISCAN_PROGRAM"], "dedup", "--column", "url", *inputs, "-o", "b.parquet", f"--{side}", theirs, *options]
            subprocess.run(command, check=True, stderr=subprocess.DEVNULL)
            assert (tmp_path / ours).read_bytes() == (tmp_path / theirs).read_bytes(), (end, keywords)
            assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
            assert (tmp_path / ours).stat().st_size > 100


def test_tables_of_duplicates(table, path, tmp_path):
    dupes, clusters = tmp_path / "dupes.parquet", tmp_path / "clusters.arrow"
    totals = uriscan.dedup_parquet(path, tmp_path / "out.parquet", column="url", dupes=dupes, clusters=clusters)
    rows = pyarrow.parquet.read_table(dupes)
    assert rows.column_names == ["source", "line", "uri", "hex", "kept", "kept_hex", "level", "uri_key"]
    assert len(rows) == totals["duplicates"] > 100
    assert set(rows["source"].to_pylist()) == {str(path)}
    urls = table["url"].to_pylist()
    assert rows["uri"].to_pylist() == [urls[line - 1].strip(BLANK) for line in rows["line"].to_pylist()]
    assert rows["uri_key"].to_pylist() == uriscan.key(rows["uri"].to_pylist()) == uriscan.key(rows["kept"].to_pylist())
    members = pyarrow.ipc.open_file(clusters).read_all()
    assert len(members) == totals["records"] and sum(members["count"].to_pylist()) >= len(members)
    # Nothing is dropped: a table without rows.
    (tmp_path / "one.csv").write_text("url\nhttp://h\n")
    uriscan.dedup_parquet(tmp_path / "one.csv", tmp_path / "out.csv", column="url", dupes=dupes)
    nothing = pyarrow.parquet.read_table(dupes)
    assert nothing.column_names == rows.column_names and nothing.num_rows == 0


def test_side_files_replace_no_input(path, tmp_path):
    (tmp_path / "link.parquet").symlink_to(path)
    os.link(path, tmp_path / "hard.parquet")
    before, old = left(tmp_path), path.read_bytes()
    for name in "urls.parquet", "link.parquet", "hard.parquet":
        for side in "dupes", "clusters", "rejects":
            with pytest.raises(ValueError, match=f"{side}: .*{name} is an input; name another file"):
                uriscan.dedup_parquet(path, tmp_path / "out.parquet", column="url", **{side: tmp_path / name})
    for side, name in ("dupes", "d.csv.gz"), ("clusters", "c.tsv.zst"), ("dupes", "d.parquet.gz"):
        with pytest.raises(ValueError, match=f"{name}: tables are not written compressed"):
            uriscan.dedup_parquet(path, tmp_path / "out.parquet", column="url", **{side: tmp_path / name})
    with pytest.raises(ValueError, match="a profile does not have"):
        uriscan.dedup_parquet(path, tmp_path / "out.parquet", column="url", profile="whatwg", dupes=tmp_path / "d")
    with pytest.raises(uriscan.UriError):
        uriscan.dedup_parquet(path, tmp_path / "out.parquet", column="url", on_invalid="error", dupes=tmp_path / "d.parquet")
    assert left(tmp_path) == before and path.read_bytes() == old


def test_columns_are_added(table, path, tmp_path):
    def made(function, **keywords):
        function(path, tmp_path / "out.parquet", column="url", **keywords)
        return pyarrow.parquet.read_table(tmp_path / "out.parquet")

    url = table["url"]
    assert made(uriscan.normalize_parquet, preset="crawl")["uri_normalized"] == uriscan.normalize(url, preset="crawl")
    assert made(uriscan.key_parquet, hash="sha256")["uri_key"].to_pylist() == uriscan.key(url, hash="sha256").to_pylist()
    parts = made(uriscan.parse_parquet)
    assert parts["uri_host"].to_pylist() == [part and part["host"] for part in uriscan.parse(url).to_pylist()]
    assert made(uriscan.check_parquet)["uri_error"].to_pylist() == [
        fault and fault["kind"] for fault in uriscan.check(url, relative=True).to_pylist()
    ]
    assert made(uriscan.audit_parquet, select=["7.5"])["uri_findings"].to_pylist() == uriscan.audit(url, select=["7.5"]).to_pylist()
    assert made(uriscan.extract_parquet, bare_hosts=True)["uri_links"].to_pylist() == uriscan.extract(url, bare_hosts=True).to_pylist()


def test_formats_are_those_of_the_names(tmp_path):
    table = pyarrow.table({"id": ["1", "2", "3"], "url": ["HTTP://h", "http://h/", "http://i/"]})
    pyarrow.csv.write_csv(table, tmp_path / "a.csv")
    (tmp_path / "a.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in table.to_pylist()))
    pyarrow.feather.write_feather(table, tmp_path / "a.arrow", compression="uncompressed")
    for given in "a.csv", "a.jsonl", "a.arrow":
        for out in "b.csv", "b.tsv", "b.jsonl", "b.arrow", "b.parquet":
            assert uriscan.dedup_parquet(tmp_path / given, tmp_path / out, column="url")["written"] == 2
        assert pyarrow.csv.read_csv(tmp_path / "b.csv")["url"].to_pylist() == ["HTTP://h", "http://i/"]
        tabs = pyarrow.csv.ParseOptions(delimiter="\t")
        assert pyarrow.csv.read_csv(tmp_path / "b.tsv", parse_options=tabs)["id"].to_pylist() == [1, 3]
        assert pyarrow.json.read_json(tmp_path / "b.jsonl")["url"].to_pylist() == ["HTTP://h", "http://i/"]
        assert pyarrow.feather.read_table(tmp_path / "b.arrow")["url"].to_pylist() == ["HTTP://h", "http://i/"]
    uriscan.dedup_parquet(tmp_path / "a.csv", tmp_path / "plain", column="2", to="jsonl")
    assert (tmp_path / "plain").read_text().startswith('{"id":"1","url":"HTTP://h"}')
    with pytest.raises(ValueError, match="name it with to"):
        (tmp_path / "plain2").write_text("url\nhttp://h/\n")
        uriscan.dedup_parquet(tmp_path / "plain2", tmp_path / "x", column="url")
    with pytest.raises(ValueError, match='to="xlsx": there are parquet, arrow'):
        uriscan.dedup_parquet(tmp_path / "a.csv", tmp_path / "x", column="url", to="xlsx")


def test_many_files_and_patterns(table, tmp_path):
    for part in range(3):
        pyarrow.parquet.write_table(table.slice(part * 500, 500), tmp_path / f"part-{part}.parquet")
    uriscan.dedup_parquet(f"{tmp_path}/part-*.parquet", tmp_path / "out.parquet", column="url")
    expected = table.filter(uriscan.is_first(table["url"]))
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet").equals(expected)
    with pytest.raises(FileNotFoundError, match="no table was found"):
        uriscan.dedup_parquet(f"{tmp_path}/none-*.parquet", tmp_path / "out.parquet", column="url")


def test_a_set_from_run_to_run(table, tmp_path):
    path, out, seen = tmp_path / "urls.parquet", tmp_path / "new.parquet", tmp_path / "seen.set"
    expected = uriscan.Deduplicator(preset="crawl")
    for part in range(3):
        pyarrow.parquet.write_table(table.slice(part * 500, 500), path)
        totals = uriscan.dedup_parquet(path, out, column="url", preset="crawl", seen=seen, update=True)
        rows = table.slice(part * 500, 500)
        assert pyarrow.parquet.read_table(out).equals(rows.filter(expected.is_first(rows["url"])))
        assert totals["added"] == totals["written"]
    assert len(uriscan.Set.open(seen, preset="crawl")) == len(expected)
    again = uriscan.dedup_parquet(path, out, column="url", preset="crawl", seen=seen)
    assert again["written"] == 0 and "added" not in again
    with pytest.raises(uriscan.SetError) as error:
        uriscan.dedup_parquet(path, out, column="url", seen=seen)
    assert error.value.kind == "differs"
    with pytest.raises(uriscan.SetError) as error:
        uriscan.dedup_parquet(path, out, column="url", seen=tmp_path / "none.set")
    assert error.value.kind == "not-a-set"
    assert left(tmp_path) == ["new.parquet", "seen.set", "urls.parquet"]


def test_invalid_values(table, path, tmp_path):
    out, rejects = tmp_path / "out.parquet", tmp_path / "rejects.parquet"
    url = table["url"]
    totals = uriscan.normalize_parquet(path, out, column="url", rejects=rejects)
    forms = uriscan.normalize(url, on_invalid="drop").to_pylist()
    assert pyarrow.parquet.read_table(rejects)["n"].to_pylist() == [
        row for row, form in enumerate(forms) if form is None and url[row].as_py() is not None
    ]
    assert sum(totals["invalid"].values()) == len(pyarrow.parquet.read_table(rejects))
    dropped = uriscan.normalize_parquet(path, out, column="url", on_invalid="drop", no_uri="drop")
    made = pyarrow.parquet.read_table(out)["uri_normalized"].to_pylist()
    assert made == [form for form in forms if form is not None] and dropped["written"] == len(made)
    out.unlink()
    with pytest.raises(uriscan.UriError) as error:
        uriscan.normalize_parquet(path, out, column="url", on_invalid="error")
    with pytest.raises(uriscan.UriError) as of_column:
        uriscan.normalize(url, on_invalid="error")
    assert (error.value.kind, error.value.at, error.value.row) == (of_column.value.kind, of_column.value.at, of_column.value.row)
    assert str(path) in str(error.value) and not out.exists()


def test_errors_name_the_file_and_the_column(path, tmp_path):
    out = tmp_path / "out.parquet"
    out.write_text("old")

    def fails(kind, match, given=path, to=out, **keywords):
        with pytest.raises(kind, match=match) as error:
            uriscan.dedup_parquet(given, to, **{"column": "url", **keywords})
        assert out.read_text() == "old" and left(tmp_path) == before, error
        return error.value

    (tmp_path / "damaged.parquet").write_bytes(b"PAR1 no table PAR1")
    pyarrow.parquet.write_table(pyarrow.table({"url": ["x"], "n": ["y"]}), tmp_path / "other.parquet")
    before = left(tmp_path)
    assert fails(FileNotFoundError, "none.parquet", tmp_path / "none.parquet").filename == str(tmp_path / "none.parquet")
    fails(ValueError, "urls.parquet: there is no column link; there are: n, url, day, tags", column="link")
    fails(ValueError, "column n is Int32; text or bytes expected", column="n")
    fails(ValueError, "damaged.parquet", tmp_path / "damaged.parquet")
    fails(ValueError, "other.parquet: column n is Utf8, and Int32 in .*urls.parquet", [path, tmp_path / "other.parquet"])
    fails(FileNotFoundError, "no/where", to=tmp_path / "no" / "where.parquet")
    fails(ValueError, "not a regular file", to="/dev/null")
    fails(ValueError, "named twice", dupes=out)
    # The tables of a directory are one table.
    fails(ValueError, "damaged.parquet", tmp_path)
    fails(ValueError, "keep=\"best\": there are first, .*min:COLUMN", keep="best")
    fails(ValueError, "no order to keep by", keep="max:tags")
    fails(ValueError, "no set to update", update=True)
    fails(ValueError, "approx holds no groups", approx=0.01, count=True)
    fails(ValueError, "64M or more", max_memory="1M")
    fails(ValueError, "on_invalid='null': there are pass, drop, error", on_invalid="null")
    fails(ValueError, "no_uri='maybe'", no_uri="maybe")
    fails(TypeError, "keep is a str, not int", keep=5)
    fails(TypeError, "levels", levels="x")
    fails(ValueError, "no input", given=[])
    fails(ValueError, "count=True adds, and nothing is counted", into="n2", repeated=True)
    fails(ValueError, "into: the name of a column is not empty", into="", count=True)
    fails(TypeError, "into is a str, not int", into=5, count=True)
    with pytest.raises(ValueError, match="a column uri_key already exists; into= gives the new one another name"):
        uriscan.key_parquet(path, tmp_path / "key.parquet", column="url")
        uriscan.key_parquet(tmp_path / "key.parquet", tmp_path / "key2.parquet", column="url")


def test_what_was_written_is_read_and_added_to_again(path, tmp_path):
    for function, made in [
        (uriscan.normalize_parquet, ["x"]), (uriscan.key_parquet, ["x"]), (uriscan.check_parquet, ["x", "x_at"]),
        (uriscan.audit_parquet, ["x"]), (uriscan.extract_parquet, ["x"]), (uriscan.parse_parquet, None),
        (lambda *paths, **keywords: uriscan.dedup_parquet(*paths, count=True, **keywords), ["x"]),
    ]:  # fmt: skip
        first, second = tmp_path / "first.parquet", tmp_path / "second.parquet"
        function(path, first, column="url")
        function(first, second, column="url", into="x")
        before, after = (pyarrow.parquet.read_schema(each).names for each in (first, second))
        assert after[: len(before)] == before
        assert all(name.startswith("x_") for name in after[len(before) :]) if made is None else after[len(before) :] == made
        added = (pyarrow.parquet.read_table(second).column(at) for at in (len(before) - 1, -1))
        assert next(added).type == next(added).type


def test_rows_are_compared_by_other_columns_too(table, path, tmp_path):
    out = tmp_path / "out.parquet"
    totals = uriscan.dedup_parquet(path, out, column="url", with_columns=["day"], count=True)
    rows = table.append_column("class", uriscan.groups(table["url"])).to_pylist()
    expected = {}
    for row in rows:
        if row["class"] is not None:
            expected.setdefault((row["class"], row["day"]), []).append(row["n"])
    made = pyarrow.parquet.read_table(out)
    assert made["n"].to_pylist() == [numbers[0] for numbers in expected.values()]
    assert made["uri_count"].to_pylist() == [len(numbers) for numbers in expected.values()]
    assert totals["written"] == len(expected)
    for wrong, kind in [({"with_columns": "day"}, TypeError), ({"with_columns": ["x"]}, ValueError)]:
        with pytest.raises(kind):
            uriscan.dedup_parquet(path, out, column="url", **wrong)
    with pytest.raises(ValueError, match="omit with_columns"):
        uriscan.dedup_parquet(path, out, column="url", with_columns=["day"], seen=tmp_path / "s.set", update=True)


def test_counts_are_signed(path, tmp_path):
    uriscan.dedup_parquet(path, tmp_path / "out.parquet", column="url", count=True)
    assert pyarrow.parquet.read_schema(tmp_path / "out.parquet").field("uri_count").type == pyarrow.int64()
    urls = pyarrow.array(["http://h", "HTTP://h"])
    assert uriscan.dedup(urls, count=True)[1].type == pyarrow.int64()
    assert uriscan.clusters(urls).type.field("count").type == pyarrow.int64()


def test_in_place_and_through_links(table, path, tmp_path):
    link = tmp_path / "link.parquet"
    link.symlink_to(path)
    os.chmod(path, 0o640)
    uriscan.dedup_parquet(link, link, column="url")
    assert link.is_symlink() and path.stat().st_mode & 0o777 == 0o640
    assert pyarrow.parquet.read_table(path).equals(table.filter(uriscan.is_first(table["url"])))


def test_less_memory_and_fewer_guarantees(path, tmp_path):
    exact = uriscan.dedup_parquet(path, tmp_path / "a.parquet", column="url")
    limited = uriscan.dedup_parquet(path, tmp_path / "b.parquet", column="url", max_memory="64M", temp_dir=tmp_path)
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert limited["written"] == exact["written"]
    rough = uriscan.dedup_parquet(path, tmp_path / "b.parquet", column="url", approx=0.01)
    assert exact["written"] * 0.9 < rough["written"] <= exact["written"]
    uriscan.normalize_parquet(path, tmp_path / "b.parquet", column="url", sort_by="surt", no_uri="drop")
    forms = uriscan.surt(pyarrow.parquet.read_table(tmp_path / "b.parquet")["url"]).to_pylist()
    assert [form.encode() for form in forms] == sorted(form.encode() for form in forms)


@pytest.fixture(name="large")
def _large(tmp_path):
    path = tmp_path / "large.csv"
    with open(path, "w") as file:
        file.write("url\n")
        for start in range(0, 200_000, 1000):
            file.write("".join(f"HTTP://h{row}.example/%7ea\n" for row in range(start, start + 1000)))
    return path


def test_progress(large, tmp_path):
    with open(large, "r+") as file:
        file.truncate(400_000)
    reported = []
    uriscan.dedup_parquet(large, tmp_path / "out.csv", column="url", progress=reported.append)
    assert reported == sorted(reported) and 0 < reported[-1] <= large.stat().st_size

    def enough(read):
        raise RuntimeError("enough")

    (tmp_path / "out.csv").unlink()
    with pytest.raises(RuntimeError, match="enough"):
        uriscan.dedup_parquet(large, tmp_path / "out.csv", column="url", seen=tmp_path / "s", update=True, progress=enough)
    assert left(tmp_path) == ["large.csv"]


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
def test_an_interrupt_ends_it(large, tmp_path):
    begun = time.monotonic()
    timer = threading.Timer(0.1, os.kill, (os.getpid(), signal.SIGINT))
    # A shell makes what it runs in the background ignore the signal.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    with pytest.raises(KeyboardInterrupt):
        timer.start()
        for _ in range(20):
            uriscan.dedup_parquet([large] * 60, tmp_path / "out.csv", column="url", count=True)
    assert time.monotonic() - begun < 20
    assert left(tmp_path) == ["large.csv"]


def test_other_threads_run_meanwhile(large, tmp_path):
    done = []
    worker = threading.Thread(
        target=lambda: done.append(uriscan.dedup_parquet(large, tmp_path / "out.csv", column="url")["written"])
    )
    worker.start()
    counted = 0
    while worker.is_alive():
        counted += 1
    assert done == [200_000] and counted > 1000


@pytest.mark.parametrize("name", [name for name in uriscan.__all__ if name.endswith("_parquet")])
def test_the_keywords_that_help_lists_are_those_there_are(name, tmp_path):
    function = getattr(uriscan, name)
    (tmp_path / "a.csv").write_text("u\nHTTP://h\n\"\"\nno URI\n")
    parameters = inspect.signature(function).parameters.values()
    usual = {one.name: one.default for one in parameters if one.default is not one.empty}
    assert {"from_", "to", "progress"} <= usual.keys()
    plain = function(tmp_path / "a.csv", tmp_path / "plain.jsonl", column="u")
    assert function(tmp_path / "a.csv", tmp_path / "usual.jsonl", column="u", **usual) == plain
    assert (tmp_path / "plain.jsonl").read_bytes() == (tmp_path / "usual.jsonl").read_bytes()
    has_equivalence = any(one.kind is one.VAR_KEYWORD for one in parameters)
    for keyword in "level", "rejects", "sort_by", "host":
        if keyword in usual or (keyword == "level" and has_equivalence):
            continue
        with pytest.raises(TypeError, match=f"there is no keyword '{keyword}' here"):
            function(tmp_path / "a.csv", tmp_path / "b.jsonl", column="u", **{keyword: None})
    assert not (tmp_path / "b.jsonl").exists()
