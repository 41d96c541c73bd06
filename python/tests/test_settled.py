"""Functions with their keywords settled, engines, and what is sent to other processes."""

import multiprocessing
import pickle
import threading

import duckdb
import numpy
import pandas
import polars
import pyarrow
import pyarrow.compute
import pytest
from conftest import values

import uriscan
import uriscan.engines
import uriscan.pandas  # noqa: F401  gives series the accessor
import uriscan.polars  # noqa: F401  gives series and frames the namespace

KEYWORDS = [
    {}, {"rung": "string"}, {"preset": "crawl"}, {"drop_fragment": True}, {"profile": "whatwg"}, {"on_invalid": "null"},
    {"base": "http://base.example/a/b"}, {"rules": ["fragment"]}, {"repair": ["all"]},
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


def test_what_is_no_single_value_is_a_column():
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
        uriscan.Normalizer(rungs="x")
    with pytest.raises(ValueError, match="rung"):
        uriscan.Key(rung="x")


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


def test_polars_of_every_type():
    given = ["HTTP://h", None, "a b", "HTTP://h"]
    forms = ["http://h/", None, "a b", "http://h/"]
    text = polars.Series("url", given)
    frame = polars.DataFrame({
        "text": text,
        "binary": text.cast(polars.Binary),
        "categorical": text.cast(polars.Categorical),
        "enum": text.cast(polars.Enum(["HTTP://h", "a b"])),
    })
    for lazy in [False, True]:
        rows = frame.lazy() if lazy else frame
        made = rows.select(polars.all().uri.normalize())
        made = made.collect() if lazy else made
        assert made["text"].to_list() == made["categorical"].to_list() == made["enum"].to_list() == forms
        assert made["binary"].to_list() == [form and form.encode() for form in forms]
        assert made.dtypes == [polars.String, polars.Binary, polars.String, polars.String]
    for name in frame.columns:
        assert frame[name].uri.key().to_list() == uriscan.key(given)
        assert frame.select(polars.col(name).uri.key()).to_series().to_list() == uriscan.key(given)
        assert frame[name].uri.is_first().to_list() == [True, None, True, False]
        assert frame[name].uri.parse().struct.field("host").to_list() == ["h", None, None, "h"]
        parts = frame.select(polars.col(name).uri.parse()).unnest(name)
        assert parts["host"].to_list() == ["h", None, None, "h"]
        assert frame.uri.dedup(name).height == frame.lazy().uri.dedup(name).collect().height == 2
        assert frame[name].uri.resolve("http://h/").dtype == (polars.Binary if name == "binary" else polars.String)
        assert frame[name].uri.check().to_list()[2]["kind"] == "space"


def test_polars_refuses_what_is_wrong():
    url = polars.col("url")
    for build in [
        lambda: url.uri.normalize(rungs="x"), lambda: url.uri.normalize(rung="x"), lambda: url.uri.parse(rung="syntax"),
        lambda: url.uri.is_first(preset="x"), lambda: url.uri.extract(format="x"), lambda: url.uri.resolve("no base"),
    ]:  # fmt: skip
        with pytest.raises((TypeError, ValueError)):
            build()
    frame = polars.DataFrame({"url": ["http://h/", "a b"]})
    with pytest.raises(uriscan.UriError, match="row 1: space"):
        frame.select(url.uri.normalize(on_invalid="error"))
    for call in [
        lambda: frame["url"].uri.normalize(on_invalid="error"),
        lambda: frame.select(url.uri.key(on_invalid="error")),
        lambda: frame.lazy().select(url.uri.key(on_invalid="error")).collect(),
        lambda: frame.lazy().select(url.uri.normalize(on_invalid="error")).collect(engine="streaming"),
        lambda: frame.lazy().filter(url.uri.is_first(on_invalid="error")).collect(),
    ]:
        with pytest.raises(uriscan.UriError) as error:
            call()
        # Polars makes some of its errors anew from their text.
        assert (error.value.kind, error.value.at, error.value.row) == ("space", 1, 1)


def test_polars_without_a_type():
    nothing = polars.Series("url", [None, None])
    assert nothing.dtype == polars.Null
    assert uriscan.normalize(nothing).to_list() == nothing.uri.normalize().to_list() == [None, None]
    made = polars.DataFrame({"url": nothing}).select(polars.col("url").uri.key())
    assert made["url"].to_list() == [None, None] and made["url"].dtype == polars.Binary
    assert uriscan.dedup(nothing).len() == 0


def test_pandas():
    series = pandas.Series(["HTTP://h", None, "a b"], index=[3, 1, 2], name="url")
    forms = series.uri.normalize()
    assert forms.index.tolist() == [3, 1, 2] and forms.name == "url"
    assert forms[3] == "http://h/" and pandas.isna(forms[1])
    parts = series.uri.parse()
    assert parts["host"][3] == "h" and parts.index.tolist() == [3, 1, 2]
    assert pandas.isna(parts["host"][2])
    assert series.uri.dedup().tolist() == ["HTTP://h", "a b"]
    assert uriscan.change_names(series.uri.changes()[3]) == ["scheme-case", "empty-path"]
    frame = pandas.DataFrame({"url": ["HTTP://h", None, "http://h/"], "n": [0, 1, 2]})
    assert frame.uri.dedup("url")["n"].tolist() == [0]


def test_numpy_in_numpy_out():
    texts = numpy.array(["HTTP://h", "http://h/", "x"])
    forms = uriscan.normalize(texts)
    assert forms.dtype.kind == "U" and forms.tolist() == ["http://h/", "http://h/", "x"]
    assert uriscan.is_first(texts).tolist() == [True, False, True]
    assert uriscan.is_valid(texts).dtype == bool
    assert uriscan.dedup(texts).tolist() == ["HTTP://h", "x"]
    objects = numpy.array(["HTTP://h", None], dtype=object)
    assert uriscan.normalize(objects).tolist() == ["http://h/", None]
    assert uriscan.key(objects).tolist() == [uriscan.key("http://h/"), None]
    assert uriscan.parse(objects)[0]["host"] == "h"


def test_run_ends():
    runs = pyarrow.RunEndEncodedArray.from_arrays([2, 3], pyarrow.array(["HTTP://h", "x"]))
    assert uriscan.normalize(runs).to_pylist() == ["http://h/", "http://h/", "x"]
    chunked = pyarrow.chunked_array([runs, runs])
    assert uriscan.is_first(chunked).to_pylist() == [True, False, True, False, False, False]
    for whole in pyarrow.table({"url": runs}), pyarrow.record_batch({"url": runs}):
        assert uriscan.normalize(whole).to_pylist() == ["http://h/", "http://h/", "x"]
    series = pandas.Series(pandas.arrays.ArrowExtensionArray(runs), index=[3, 1, 2])
    assert series.uri.is_valid().to_dict() == {3: True, 1: True, 2: False}


def test_functions_of_engines():
    connection = uriscan.engines.duckdb(duckdb.connect(), preset="crawl")
    row = connection.sql(
        "select uri_normalize(u), uri_key(u), uri_valid(u), uri_host(u), uri_domain(u), uri_surt(u) "
        "from (values ('HTTP://www.bbc.co.uk/#x')) t(u)"
    ).fetchall()[0]
    url = "HTTP://www.bbc.co.uk/#x"
    assert row == (
        uriscan.normalize(url, preset="crawl"), uriscan.key(url, preset="crawl"), True, "www.bbc.co.uk", "bbc.co.uk",
        uriscan.surt(url, preset="crawl"),
    )  # fmt: skip
    with pytest.raises(TypeError):
        uriscan.engines.duckdb(duckdb.connect(), presets="crawl")
    # A second call replaces the functions.
    assert uriscan.engines.duckdb(connection) is connection
    assert connection.sql("select uri_normalize('HTTP://h#x'), uri_key(null)").fetchall() == [("http://h/#x", None)]


def test_version():
    assert uriscan.__version__.count(".") == 2
