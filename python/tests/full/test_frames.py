"""Series and frames of Polars and pandas, and arrays of numpy."""

import numpy
import pandas
import polars
import pyarrow
import pytest
from conftest import one_by_one, values
from test_capsules import URLS, addresses, through

import uriscan
import uriscan.pandas  # noqa: F401  gives series the accessor
import uriscan.polars  # noqa: F401  gives series and frames the namespace
from uriscan import _kinds


def test_polars_is_not_copied():
    series = polars.concat([polars.Series(URLS), polars.Series(URLS[:50])], rechunk=False)
    ours = through(series)
    assert ours.num_chunks == 2 and ours.type == pyarrow.string_view()
    assert addresses(ours) == addresses(pyarrow.chunked_array(series))


def test_pandas_is_not_copied():
    array = pyarrow.chunked_array([URLS])
    series = pandas.Series(pandas.arrays.ArrowExtensionArray(array))
    assert addresses(through(_kinds.column(series))) == addresses(array)


def test_columns_of_polars(function):
    given = values(8, 150)
    series = polars.Series("url", given, polars.String)
    made = function(series)
    assert isinstance(made, polars.Series) and made.name == "url"
    assert made.to_list() == one_by_one(function, given)
    several = polars.concat([series[:40], series[40:41], series[41:]], rechunk=False)
    assert several.n_chunks() == 3
    assert function(several).to_list() == one_by_one(function, given)
    assert function(series[30:60]).to_list() == one_by_one(function, given[30:60])
    categories = series.cast(polars.Categorical)
    assert function(categories).to_list() == one_by_one(function, given)


def test_columns_of_pandas(function):
    given = values(9, 60)
    expected = one_by_one(function, given)
    index = range(100, 160)
    for dtype in pandas.ArrowDtype(pyarrow.string()), "string[pyarrow]", object:
        series = pandas.Series(given, index=index, name="url", dtype=dtype)
        made = function(series)
        assert isinstance(made, pandas.Series)
        assert (made.name, list(made.index)) == ("url", list(index))
        assert made.array.__arrow_array__().to_pylist() == expected


def test_frames_keep_any_row():
    given = {"u": ["http://h", None, "https://i/", "http://h/", "HTTP://h"], "n": range(5)}
    for keep, rows in [("first", [0, 2]), ("last", [2, 4]), ("max", [2, 3]), ("shortest", [0, 2])]:
        assert pandas.DataFrame(given).uri.dedup("u", keep=keep)["n"].tolist() == rows
        frame = polars.DataFrame(given)
        assert frame.uri.dedup("u", keep=keep)["n"].to_list() == rows
        assert frame.lazy().uri.dedup("u", keep=keep).collect()["n"].to_list() == rows


def test_audit_and_params():
    given = ["http://u:p@h/?a=1", None, "http://h/"]
    frame = polars.DataFrame({"url": given})
    made = frame.lazy().select(
        polars.col("url").uri.params().alias("params"),
        polars.col("url").uri.audit().alias("names"),
        polars.col("url").uri.audit(details=True).alias("findings"),
    ).collect()  # fmt: skip
    assert made["params"].to_list() == [[{"name": "a", "value": "1"}], None, None]
    assert made["names"].to_list() == [["password", "user-name"], None, []]
    assert {finding["rule"] for finding in made["findings"][0]} == {"password", "user-name"}
    series = pandas.Series(given, index=[5, 6, 7])
    assert series.uri.audit().index.tolist() == [5, 6, 7]
    assert list(series.uri.audit(select=["password"])[5]) == ["password"]


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
        lambda: url.uri.normalize(levels="x"), lambda: url.uri.normalize(level="x"), lambda: url.uri.parse(level="syntax"),
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
    # Bytes are objects: as an array of bytes they would lose zeros at their ends.
    keys = uriscan.key(texts)
    assert keys.dtype == object and keys.tolist() == uriscan.key(texts.tolist())
    objects = numpy.array(["HTTP://h", None], dtype=object)
    assert uriscan.normalize(objects).tolist() == ["http://h/", None]
    assert uriscan.key(objects).tolist() == [uriscan.key("http://h/"), None]
    assert uriscan.parse(objects)[0]["host"] == "h"


def test_expressions():
    given = values(43, 500)
    frame = polars.DataFrame({"url": polars.Series(given, dtype=polars.String)})
    url = polars.col("url")
    made = frame.lazy().select(
        url.uri.normalize().alias("form"),
        url.uri.key().alias("key"),
        url.uri.key(hash="sha256").alias("sha256"),
        url.uri.surt().alias("surt"),
        url.uri.parse().struct.field("host").alias("host"),
        url.uri.resolve("http://b/").alias("target"),
        url.uri.check().struct.field("kind").alias("kind"),
        url.uri.is_valid(relative=True).alias("valid"),
        url.uri.extract().list.len().alias("links"),
        url.uri.changes().alias("changes"),
        url.uri.is_first().alias("first"),
    )
    schema = made.collect_schema()
    made = made.collect()
    assert made.schema == schema
    assert made["form"].to_list() == uriscan.normalize(given)
    assert made["key"].to_list() == uriscan.key(given)
    assert made["sha256"].to_list() == uriscan.key(given, hash="sha256")
    assert made["surt"].to_list() == uriscan.surt(given)
    assert made["host"].to_list() == [parts and parts["host"] for parts in uriscan.parse(given)]
    assert made["target"].to_list() == uriscan.resolve(given, "http://b/")
    assert made["kind"].to_list() == [wrong and wrong["kind"] for wrong in uriscan.check(given)]
    assert made["valid"].to_list() == uriscan.is_valid(given, relative=True)
    assert made["changes"].to_list() == uriscan.changes(given)
    assert made["first"].to_list() == uriscan.is_first(given)
    assert frame.filter(url.uri.is_first())["url"].to_list() == uriscan.dedup(given)


def test_runs_in_a_series():
    runs = pyarrow.RunEndEncodedArray.from_arrays([2, 3], pyarrow.array(["HTTP://h", "x"]))
    series = pandas.Series(pandas.arrays.ArrowExtensionArray(runs), index=[3, 1, 2])
    assert series.uri.is_valid().to_dict() == {3: True, 1: True, 2: False}


def test_classes():
    given = ["http://h", None, "HTTP://h/", "http://i/"]
    series = pandas.Series(given, index=list("abcd"), name="url")
    kept, counts = series.uri.dedup(count=True)
    assert (kept.index.tolist(), counts.index.tolist(), counts.tolist()) == (["a", "d"], ["a", "d"], [2, 1])
    assert series.uri.clusters().index.tolist() == [0, 1]
    assert series.uri.groups().tolist()[2] == 0
    frame = polars.DataFrame({"url": given})
    assert frame.select(polars.col("url").uri.groups()).to_series().to_list() == [0, None, 0, 3]
    assert frame["url"].uri.clusters(unique=True).to_list()[0]["kept"] == "http://i/"


def test_dedup():
    given = ["http://h", None, "HTTP://h/", "http://i/", "http://h"]
    kept = ["http://h", "http://i/"]
    series = uriscan.dedup(polars.Series("url", given))
    assert (series.to_list(), series.name) == (kept, "url")
    for dtype in pandas.ArrowDtype(pyarrow.string()), object:
        series = uriscan.dedup(pandas.Series(given, dtype=dtype, index=list("abcde")))
        assert (list(series), list(series.index)) == (kept, ["a", "d"])


def test_extract():
    text, keywords = "http://a.example/ ftp://c.b.test/z http://b.test/2 http://b.test/y.png", {"domain": "b.test", "not_match": "png"}
    frame = polars.DataFrame({"text": [text, None]})
    found = frame.select(polars.col("text").uri.extract(**keywords))["text"].to_list()
    assert found == [uriscan.extract(text, **keywords), None] == [["ftp://c.b.test/z", "http://b.test/2"], None]


def test_answers_are_taken():
    column = uriscan.normalize(uriscan.Column(["HTTP://h", None]))
    assert polars.Series(column).to_list() == ["http://h/", None]


def test_what_is_wrong_is_said_in_the_words_of_the_keywords():
    with pytest.raises(TypeError, match="there is no keyword 'seed' here"):
        polars.DataFrame({"u": ["x"]}).select(polars.col("u").uri.normalize(seed=1))
    with pytest.raises(ValueError, match='keep="best": there are first'):
        pandas.DataFrame({"u": ["x"]}).uri.dedup("u", keep="best")
    with pytest.raises(TypeError, match="a table of 2 columns: choose one"):
        uriscan.normalize(pandas.DataFrame({"a": ["x"], "b": ["y"]}))


def test_rules_are_learned_from_columns_of_each_library():
    urls = [f"http://h.example/p{page}{query}" for page in range(80) for query in ("", "?ref=x")]
    digests = [page for page in range(80) for _ in range(2)]
    expected = uriscan.learn(urls, digests)
    assert expected.rules == 1
    for made in (polars.Series, pandas.Series, lambda given: pandas.Series(given, dtype="category"), numpy.array):
        assert uriscan.learn(made(urls), made(digests)) == expected
