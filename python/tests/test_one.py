"""Single values, keywords and errors."""

import pickle

import pytest

import uriscan


def test_answers_of_one():
    assert uriscan.normalize("HTTP://h") == "http://h/"
    assert uriscan.normalize(b"HTTP://h") == b"http://h/"
    assert uriscan.normalize(" HTTP://h\n") == "http://h/"
    assert uriscan.key("HTTP://h") == uriscan.key(b"http://h/")
    assert uriscan.parse("/x?y")["query"] == "y"
    assert uriscan.check("http://h/") is None
    assert uriscan.is_valid("") is False and uriscan.is_valid("", relative=True) is True
    assert uriscan.surt("http://www.example.com/Goo?b&a", form="surt:ia") == "com,example)/goo?a&b"
    assert uriscan.change_names(uriscan.changes("HTTP://h")) == ["scheme-case", "empty-path"]


def test_keywords():
    assert uriscan.normalize("HTTP://h", level="string") == "HTTP://h"
    assert uriscan.normalize("HTTP://h:80", level="syntax") == "http://h:80"
    assert uriscan.normalize("http://h/#f", drop_fragment=True) == "http://h/"
    assert uriscan.normalize("http://www.example.com/?b&a", rule=["www", "sort-query"]) == "http://example.com/?a&b"
    assert uriscan.normalize("http://h/?utm_source=x", rules=["tracking"]) == "http://h/"
    assert uriscan.normalize("http://h/?b&a", preset="log") == "https://h/?a&b"
    assert uriscan.normalize("http://h/?b&a", preset="log", no_rule=["sort-query"]) == "https://h/?b&a"
    assert uriscan.normalize("http://h/a b", repair=["space"]) == "http://h/a%20b"
    assert uriscan.normalize("x", base="http://h/a/") == "http://h/a/x"
    assert uriscan.normalize("http:x", base="http://h/a/", lenient_scheme=True) == "http://h/a/x"
    assert uriscan.normalize("www.example.com/x", suffix_scheme="https") == "https://www.example.com/x"
    assert uriscan.normalize("http://h/a b", profile="whatwg") == "http://h/a%20b"


def test_a_pack_of_ones_own(tmp_path):
    pack = tmp_path / "mine.toml"
    pack.write_text('name = "mine"\nversion = 1\n[[param]]\ndrop = ["ref"]\n')
    assert uriscan.normalize("http://h/?ref=1&x", rules=[str(pack)]) == "http://h/?x"
    pack.write_text('name = "mine"\nversion = 2\n[[param]]\ndrop = ["x"]\n')
    assert uriscan.normalize("http://h/?ref=1&x", rules=[str(pack)]) == "http://h/?ref=1"


@pytest.mark.parametrize(
    "keywords",
    [
        {"level": "protocol"},
        {"preset": "none"},
        {"rule": ["no-such-rule"]},
        {"no_rule": ["www"]},
        {"rules": ["/no/such/pack.toml"]},
        {"repair": ["everything"]},
        {"base": "/relative"},
        {"base": "http://h/", "suffix_scheme": "http"},
        {"suffix_scheme": "no scheme"},
        {"profile": "mine"},
        {"on_invalid": "ignore"},
    ],
    ids=str,
)
def test_wrong_keywords(keywords):
    with pytest.raises(ValueError):
        uriscan.normalize("http://h/", **keywords)


def test_unknown_keywords():
    with pytest.raises(TypeError):
        uriscan.normalize("http://h/", levels="scheme")
    with pytest.raises(TypeError, match="list of names"):
        uriscan.normalize("http://h/", rule="www")
    with pytest.raises(TypeError, match="list of names"):
        uriscan.extract("x", fields="http")
    with pytest.raises(ValueError):
        uriscan.extract("x", format="pdf")
    with pytest.raises(ValueError):
        uriscan.surt("http://h/", form="sorted")


def test_changes_of_what_has_no_steps():
    with pytest.raises(ValueError, match="levels and rules"):
        uriscan.changes("http://h/", profile="whatwg")


def test_invalid_values():
    given = ["http://h/", "http://h/a b", None, "/x"]
    assert uriscan.normalize(given) == given
    assert uriscan.normalize(given, on_invalid="drop") == ["http://h/", None, None, None]
    assert uriscan.key(given, on_invalid="drop")[1:] == [None, None, None]
    for function in uriscan.normalize, uriscan.key, uriscan.surt, uriscan.parse, uriscan.changes, uriscan.dedup:
        with pytest.raises(uriscan.UriError) as caught:
            function(given, on_invalid="error")
        error = caught.value
        assert (error.kind, error.at, error.row) == ("space", 10, 1)
        assert str(error).startswith("row 1: space at byte 10")
        assert isinstance(error, ValueError)


def test_rows_of_errors_count_over_chunks():
    import pyarrow

    column = pyarrow.chunked_array([["http://h/"] * 70, [], ["http://h/"] * 5 + ["a b", "c d"]], pyarrow.string())
    for function in (
        uriscan.normalize,
        uriscan.dedup,
        lambda given, **keywords: uriscan.resolve(given, ["http://b/"] * 77, **keywords),
    ):
        with pytest.raises(uriscan.UriError) as caught:
            function(column, on_invalid="error")
        assert caught.value.row == 75


def test_errors_can_be_sent_elsewhere():
    with pytest.raises(uriscan.UriError) as caught:
        uriscan.normalize("a b", on_invalid="error")
    again = pickle.loads(pickle.dumps(caught.value))
    assert (again.kind, again.at, again.row, str(again)) == ("space", 1, 0, str(caught.value))


def test_extract():
    text = "mail joe@example.org, www.example.com, hxxp://e[.]example/ and http://a.example/."
    assert uriscan.extract(text, scheme=["http"]) == ["http://a.example/"]
    everything = uriscan.extract(text, bare_hosts=True, email=True, refang=True)
    assert everything == ["mailto:joe@example.org", "http://www.example.com", "http://e.example/", "http://a.example/"]
    assert uriscan.extract("http://a/ ftp://b/", scheme=["ftp"]) == ["ftp://b/"]
    assert uriscan.extract('{"u":"http://a/","v":"http://b/"}', format="json", fields=["v"]) == ["http://b/"]
