"""Functions with their keywords settled, and what is sent to other processes."""

import multiprocessing
import pickle
import threading

import pyarrow
import pyarrow.compute
import pytest
from conftest import values

import uriscan

KEYWORDS = [
    {}, {"level": "string"}, {"preset": "crawl"}, {"drop_fragment": True}, {"profile": "whatwg"}, {"on_invalid": "drop"},
    {"base": "http://base.example/a/b"}, {"rule": ["fragment"]}, {"repair": ["all"]},
]  # fmt: skip


@pytest.mark.parametrize("keywords", KEYWORDS, ids=str)
def test_one_value_is_a_column_of_one(keywords):
    clean, fingerprint = uriscan.Normalizer(**keywords), uriscan.Key(**keywords)
    for value in set(values(71, 2000)) - {None}:
        column = pyarrow.array([value], pyarrow.string())
        assert clean(value) == uriscan.normalize(column, **keywords)[0].as_py()
        assert fingerprint(value) == uriscan.key(column, **keywords)[0].as_py()
        assert uriscan.normalize(value, **keywords) == clean(value)
        assert uriscan.key(value, **keywords) == fingerprint(value)


def test_what_is_not_a_single_value_is_a_column():
    clean = uriscan.Normalizer()
    assert clean(["HTTP://h", None]) == ["http://h/", None]
    assert clean(b"HTTP://h") == b"http://h/"
    assert clean(pyarrow.array(["HTTP://h"])).to_pylist() == ["http://h/"]
    with pytest.raises(TypeError):
        clean(5)


def test_errors_of_one():
    clean = uriscan.Normalizer(on_invalid="error")
    with pytest.raises(uriscan.UriError) as error:
        clean("http://h/a b")
    assert (error.value.kind, error.value.at, error.value.row) == ("space", 10, 0)
    with pytest.raises(UnicodeEncodeError):
        clean("\ud800")
    with pytest.raises(TypeError):
        uriscan.Normalizer(levels="x")
    with pytest.raises(ValueError, match="level"):
        uriscan.Key(level="x")


def test_many_threads_share_one():
    clean = uriscan.Normalizer()
    wrong = []

    def work(i):
        for j in range(2000):
            if clean(f"HTTP://h/{i}/%7e{j}") != f"http://h/{i}/~{j}":
                wrong.append((i, j))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def _in_another_process(made):
    return made("HTTP://h/?utm_source=x")


def test_they_are_sent_to_other_processes():
    clean = uriscan.Normalizer(preset="crawl")
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(_in_another_process, [clean]) == ["http://h/"]
    assert pickle.loads(pickle.dumps(uriscan.Key(hash="sha256")))("x") == uriscan.key("x", hash="sha256")
    seen = pickle.loads(pickle.dumps(uriscan.Deduplicator(preset="crawl")))
    assert seen.dedup(["http://h/#a", "http://h/#b"]) == ["http://h/#a"]
    with pytest.raises(TypeError, match="use a Set"):
        pickle.dumps(seen)


def test_a_set_is_sent_as_its_place(tmp_path):
    seen = uriscan.Set.create(tmp_path / "seen.set", preset="crawl")
    seen.add(["http://h/#a"])
    again = pickle.loads(pickle.dumps(seen))
    assert "http://h/#b" in again and again.meaning == seen.meaning
    again.add(["http://i/"])
    seen.refresh()
    assert "http://i/" in seen


def test_run_ends():
    runs = pyarrow.RunEndEncodedArray.from_arrays([2, 3], pyarrow.array(["HTTP://h", "x"]))
    assert uriscan.normalize(runs).to_pylist() == ["http://h/", "http://h/", "x"]
    chunked = pyarrow.chunked_array([runs, runs])
    assert uriscan.is_first(chunked).to_pylist() == [True, False, True, False, False, False]
    for whole in pyarrow.table({"url": runs}), pyarrow.record_batch({"url": runs}):
        assert uriscan.normalize(whole).to_pylist() == ["http://h/", "http://h/", "x"]


def test_version():
    assert uriscan.__version__.count(".") == 2
