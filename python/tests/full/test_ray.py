"""`uriscan.ray` on two workers, against the wheel on all rows at once.

Skipped without Ray. `URISCAN_RAY_LINES` makes the input larger than the
sample that stands in the repository.
"""

import logging
import os
import warnings
from pathlib import Path

import pyarrow
import pyarrow.compute
import pyarrow.fs
import pyarrow.parquet
import pytest
from stores import s3

import uriscan

ROOT = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module", name="engine")
def _engine():
    # Ray would send home how it is used, and look for `uv` among the processes above.
    os.environ["RAY_USAGE_STATS_ENABLED"] = os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    try:
        import ray
        import ray.data
    except ImportError:
        why = "Ray is not installed: pip install -r python/requirements-full.txt"
        warnings.warn(f"RAY IS NOT TESTED: {why}", stacklevel=2)
        pytest.skip(why)
    import uriscan.ray

    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield uriscan.ray
    ray.shutdown()


@pytest.fixture(scope="module", name="parts")
def _parts():
    """The lines of some files."""
    samples = [ROOT / "corpora" / name for name in ("messy.txt", "plain.txt", "hostile.txt")]
    # At LF only, as lone CRs are in there.
    rows = [row + b"\n" for row in b"".join(sample.read_bytes() for sample in samples).split(b"\n")]
    count = int(os.environ.get("URISCAN_RAY_LINES", "0"))
    if count:
        rows = [b"HTTP://h%d.example:80/%%7e%d\n" % (i * 7919 % 5003, i % (count // 3)) for i in range(count)]
    third = len(rows) // 3
    odd = [b"\n", b"  \n", b" http://h/ \r\n", b"HTTP://h\r\n", b"http://h/\xff\n", b"a\rb\n", b"/relative\n"]
    return [[b"\xef\xbb\xbfhttp://h\n"] + rows[:third] + odd, odd + rows[third : 2 * third], rows[2 * third :] + odd + [b"last"]]


def expected(parts, **equivalence):
    """What the wheel keeps of all rows."""
    rows = [row.removesuffix(b"\n") for part in parts for row in part]
    rows[0] = rows[0].removeprefix(b"\xef\xbb\xbf")
    kept = uriscan.dedup(pyarrow.array(rows, pyarrow.large_binary()), **equivalence)
    return uriscan.normalize(kept, level="string")


def rows_of(kept):
    """All rows, sorted by their places."""
    return pyarrow.concat_tables(kept.iter_batches(batch_format="pyarrow", batch_size=None)).sort_by("place")


def test_pieces_are_all_lines_once(engine, tmp_path):
    text = b"\xef\xbb\xbfa\n\nbcd\n" + b"x" * 40 + b"\n\n\nlast"
    (tmp_path / "text").write_bytes(text)
    store = pyarrow.fs.LocalFileSystem()
    for size in range(1, 70):
        found = {}
        for piece in engine.pieces(store, 0, str(tmp_path / "text"), None, size):
            rows, places = piece.rows(store, None)
            found.update(zip(places.tolist(), rows.to_pylist(), strict=True))
        assert list(found) == sorted(found) and b"".join(found.values()) == text[3:], size
        assert all(row.endswith(b"\n") for row in list(found.values())[:-1])


def test_files_are_found(engine, tmp_path):
    for name in ("a/x.parquet", "a/_SUCCESS", "a/.hidden", "b/c/y.parquet", "z.parquet"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()

    def found(*given):
        return [path.removeprefix(f"{tmp_path}/") for path in engine._files([str(tmp_path / each) for each in given], None)[0]]

    assert found("a", "z.parquet") == ["a/x.parquet", "z.parquet"]
    assert found("*/*.parquet") == ["a/x.parquet"]
    assert found("**/*.parquet") == found("") == ["a/x.parquet", "b/c/y.parquet", "z.parquet"]
    assert engine._files([f"file://{tmp_path}/?.parquet"], None)[0] == [f"{tmp_path}/z.parquet"]
    with pytest.raises(FileNotFoundError, match="none"):
        found("none*")


def test_text(engine, parts, tmp_path):
    for number, part in enumerate(parts):
        (tmp_path / f"part-{number}.txt").write_bytes(b"".join(part))
    size = int(os.environ.get("URISCAN_RAY_PIECE", "40000"))
    kept = engine.dedup(str(tmp_path / "part-*.txt"), piece_bytes=size, parts=4, place="place")
    assert rows_of(kept)["url"].combine_chunks().equals(expected(parts))


@pytest.fixture(scope="module", name="tables")
def _tables(parts, tmp_path_factory):
    """The same in Parquet files with other columns."""
    directory = tmp_path_factory.mktemp("tables")
    for number, part in enumerate(parts):
        urls = [row.removesuffix(b"\n") or None for row in part]
        urls[0] = urls[0] and urls[0].removeprefix(b"\xef\xbb\xbf")
        more = {"n": range(len(urls)), "page": [{"size": [n]} for n in range(len(urls))]}
        table = pyarrow.table({**more, "url": pyarrow.array(urls, pyarrow.binary())})
        pyarrow.parquet.write_table(table, directory / f"part-{number}.parquet", row_group_size=1000)
    return directory


def test_parquet_keeps_all_columns(engine, parts, tables, tmp_path):
    engine.dedup(f"{tables}/*.parquet", column="url", preset="crawl", parts=4).write_parquet(str(tmp_path / "kept"))
    kept = pyarrow.parquet.read_table(tmp_path / "kept")
    whole = pyarrow.concat_tables([pyarrow.parquet.read_table(path) for path in sorted(tables.iterdir())])
    wanted = whole.filter(uriscan.is_first(whole["url"], preset="crawl"))
    assert sorted(kept.column_names) == ["n", "page", "url"]
    rows = lambda table: [(row["url"], row["n"], list(row["page"]["size"])) for row in table.to_pylist()]  # noqa: E731
    assert sorted(rows(kept)) == sorted(rows(wanted)) and len(wanted) > 100
    urls = pyarrow.compute.cast(kept["url"], pyarrow.large_binary()).combine_chunks()
    assert sorted(uriscan.normalize(urls, level="string").to_pylist()) == sorted(expected(parts, preset="crawl").to_pylist())


def test_the_last_and_what_was_seen(engine, tables, tmp_path):
    whole = pyarrow.concat_tables([pyarrow.parquet.read_table(path) for path in sorted(tables.iterdir())])
    urls = whole["url"].to_pylist()
    seen = uriscan.SetPieces.create(tmp_path / "seen", bits=3)
    known = set(uriscan.key([url for url in urls[::7] if url and url.strip()]))
    with seen.adding() as run:
        for number in range(8):
            part = run.create(number)
            part.add_keys([key for key in known if seen.piece_of(key) == number])
            run.take(number, part.path)
    kept = rows_of(engine.dedup(str(tables), column="url", keep="last", seen=seen.path, place="place", parts=3))
    # Of the rows backwards the first.
    wanted = uriscan.dedup(urls[::-1])[::-1]
    wanted = [url for url, key in zip(wanted, uriscan.key(wanted), strict=True) if key not in known]
    assert kept["url"].to_pylist() == wanted and len(wanted) > 100


def test_what_was_seen_is_in_object_storage(engine, tables, tmp_path):
    whole = pyarrow.concat_tables([pyarrow.parquet.read_table(path) for path in sorted(tables.iterdir())])
    urls = [url for url in whole["url"].to_pylist() if url and url.strip()]
    with s3() as (end, _):
        seen = uriscan.SetPieces.create(f"s3://testing:testing@bucket/seen{end}", bits=1, cache=tmp_path / "cache")
        known = set(uriscan.key(urls[::5]))
        with seen.adding() as run:
            for number in range(2):
                part = run.create(number)
                part.add_keys([key for key in known if seen.piece_of(key) == number])
                run.take(number, run.put(part))
        kept = rows_of(engine.dedup(str(tables), column="url", seen=seen, place="place", parts=2))
        wanted = [url for url in uriscan.dedup(urls) if uriscan.key(url) not in known]
        assert kept["url"].to_pylist() == wanted and len(wanted) > 100
        assert len(list((tmp_path / "cache").glob("*/*.keys"))) == 2


def test_wrong_arguments(engine, tables):
    for raises, keywords in [
        (ValueError, {"keep": "min"}),
        (ValueError, {"parts": 0}),
        (ValueError, {"level": "top"}),
        (FileNotFoundError, {"seen": "/no/such/set"}),
    ]:
        with pytest.raises(raises):
            engine.dedup(str(tables), column="url", **keywords)
