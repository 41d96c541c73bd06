"""The Ray example on two workers, against the wheel on all rows at once.

Skipped without Ray, which `scripts/test-python` does not install. `URISCAN_RAY_LINES` makes the input larger than the
sample that stands in the repository.
"""

import logging
import os
import sys
import warnings
from pathlib import Path

import pyarrow
import pyarrow.parquet
import pytest

import uriscan

ROOT = Path(__file__).resolve().parents[2]
EXAMPLES = ROOT / "python" / "examples"


@pytest.fixture(scope="module", name="example")
def _example():
    # Ray would send home how it is used, and look for `uv` among the processes above.
    os.environ["RAY_USAGE_STATS_ENABLED"] = os.environ["RAY_ENABLE_UV_RUN_RUNTIME_ENV"] = "0"
    os.environ["PYTHONPATH"] = os.pathsep.join([str(EXAMPLES), os.environ.get("PYTHONPATH", "")])
    try:
        import ray
        import ray.data
    except ImportError:
        why = "Ray is not installed: pip install -r python/requirements-ray.txt"
        warnings.warn(f"THE RAY EXAMPLE IS NOT TESTED: {why}", stacklevel=2)
        pytest.skip(why)
    sys.path.insert(0, str(EXAMPLES))
    import ray_dedup

    logging.getLogger("ray.data").setLevel(logging.WARNING)
    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, object_store_memory=200 << 20)
    ray.data.DataContext.get_current().enable_progress_bars = False
    yield ray_dedup
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
    return uriscan.normalize(kept, rung="string")


def check(kept, wanted, **equivalence):
    kept = pyarrow.concat_tables(batch for batch in kept.iter_batches(batch_format="pyarrow", batch_size=None))
    kept = kept.sort_by("place").combine_chunks()
    urls = kept["url"].combine_chunks()
    assert urls.equals(wanted)
    assert uriscan.key(urls, **equivalence).cast(pyarrow.binary()).equals(kept["key"].combine_chunks())
    assert uriscan.normalize(urls, **equivalence).equals(kept["form"].combine_chunks())


def test_pieces_are_all_lines_once(tmp_path):
    pytest.importorskip("ray.data")
    sys.path.insert(0, str(EXAMPLES))
    import ray_dedup

    text = b"\xef\xbb\xbfa\n\nbcd\n" + b"x" * 40 + b"\n\n\nlast"
    (tmp_path / "text").write_bytes(text)
    for size in range(1, 70):
        found = {}
        for piece in ray_dedup.pieces([str(tmp_path / "text")], None, size):
            rows, places = ray_dedup.rows_of(piece, None)
            found.update(zip(places.tolist(), rows.to_pylist(), strict=True))
        assert list(found) == sorted(found) and list(found.values()) == text[3:].split(b"\n"), size


def test_text(example, parts, tmp_path):
    paths = []
    for number, part in enumerate(parts):
        paths.append(str(tmp_path / f"part-{number}.txt"))
        Path(paths[-1]).write_bytes(b"".join(part))
    piece_bytes = int(os.environ.get("URISCAN_RAY_PIECE", "40000"))
    assert len(list(example.pieces(paths, None, piece_bytes))) > 3
    check(example.dedup(paths, piece_bytes=piece_bytes, parts=4), expected(parts))


def test_parquet(example, parts, tmp_path):
    paths = []
    for number, part in enumerate(parts):
        urls = [row.removesuffix(b"\n") or None for row in part]
        urls[0] = urls[0] and urls[0].removeprefix(b"\xef\xbb\xbf")
        table = pyarrow.table({"n": range(len(urls)), "url": pyarrow.array(urls, pyarrow.binary())})
        paths.append(str(tmp_path / f"part-{number}.parquet"))
        pyarrow.parquet.write_table(table, paths[-1], row_group_size=1000)
    example.main(["--column", "url", "--preset", "crawl", "--parts", "4", "--output", str(tmp_path / "kept"), *paths])
    kept = example.ray.data.read_parquet(str(tmp_path / "kept"))
    check(kept, expected(parts, preset="crawl"), preset="crawl")
