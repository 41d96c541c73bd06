"""Explanations, the audit and the parameters of queries."""

import pyarrow
import pytest
from conftest import values

import uriscan


def test_an_explanation_ends_in_the_form():
    for value in set(values(41, 600)) - {None}:
        why = uriscan.explain(value)
        form = uriscan.normalize(value, on_invalid="drop")
        if form is None:
            assert why["error"]["kind"] == uriscan.check(value)["kind"]
        else:
            assert why["canonical"] == form
            names = {change["rule"] for change in why["changes"]}
            assert names == set(uriscan.change_names(uriscan.changes(value)))


def test_two_values():
    why = uriscan.explain("http://h/%7e#x", b"http://H/~", drop_fragment=True)
    assert (why["level"], why["rules"], why["partings"]) == ("rules", ["triplet-decode", "host-case", "fragment"], [])
    why = uriscan.explain("http://h/a", "https://h/a")
    assert why["level"] is None and why["partings"][0]["reason"] == "https"
    assert uriscan.explain("x", "http://b/x", base="http://b/")["level"] == "string"
    assert uriscan.explain("http://h/?utm_source=x", "http://h/", preset="crawl")["level"] == "rules"
    assert "not equivalent by RFC 3986" in uriscan.explain("http://h/a", "http://h/b", format="text")
    assert uriscan.explain(b"http://h/\xff")["uri"] is None


def test_what_cannot_be_explained():
    with pytest.raises(ValueError, match="profile"):
        uriscan.explain("http://h/", profile="whatwg")
    with pytest.raises(TypeError, match="clusters"):
        uriscan.explain(["http://h/"])
    with pytest.raises(ValueError, match="format='html': there are dict, text"):
        uriscan.explain("http://h/", format="html")
    with pytest.raises(TypeError):
        uriscan.explain("http://h/", levels="x")


RISKS = ["http://h/", "http://u:p@h/", None, " http://0x7f.1/ ", "", "http://h/?a=../../x&token=abc", "a b"]


def test_audit_details_are_those_of_the_names():
    for given in RISKS, values(42, 400), pyarrow.array(RISKS).dictionary_encode(), pyarrow.array(RISKS, pyarrow.string_view()):
        plain = uriscan.audit(given)
        details = uriscan.audit(given, details=True)
        if not isinstance(given, list):
            plain, details, given = plain.to_pylist(), details.to_pylist(), given.to_pylist()
        order = [rule["rule"] for rule in uriscan.AUDIT_RULES]
        for value, names, findings in zip(given, plain, details):
            assert (value is None) == (names is None) == (findings is None)
            if value is None:
                continue
            assert names == sorted({finding["rule"] for finding in findings}, key=order.index)
            length = len(value.strip(" \t\n\x0b\x0c\r").encode())
            for finding in findings:
                assert 0 <= finding["start"] <= finding["end"] <= length and finding["count"] >= 1
                assert finding["severity"] in ("note", "warning", "error")


def test_audit_rules_are_selected():
    url = "http://u:p@0x7f.1/"
    everything = uriscan.audit(url)
    assert "password" in everything and "rare-ipv4" in everything
    assert uriscan.audit(url, select=["7.5"]) == ["password", "user-name"]
    assert uriscan.audit(url, ignore=["7.5"]) == [name for name in everything if name not in ("password", "user-name")]
    assert uriscan.audit(url, select=["password"], ignore=["all"]) == []
    finding = uriscan.audit(" " + url, select=["rare-ipv4"], details=True)[0]
    assert (url[finding["start"] : finding["end"]], finding["section"]) == ("0x7f.1", "7.4")
    with pytest.raises(ValueError, match='select="passwords": there are all'):
        uriscan.audit(url, select=["passwords"])
    with pytest.raises(TypeError, match="list of names"):
        uriscan.audit(url, ignore="password")
    assert len({rule["rule"] for rule in uriscan.AUDIT_RULES}) == len(uriscan.AUDIT_RULES) > 30


def test_params():
    def expected(value):
        query = uriscan.parse(value)["query"] if uriscan.check(value, relative=True) is None else None
        if not query:
            return None if query is None else []
        halves = [part.partition("=") for part in query.split("&")]
        return [{"name": name, "value": value if sign else None} for name, sign, value in halves]

    given = [value for value in values(43, 500) if value is not None]
    given += ["http://h/?&&=&a==b&", "?x", "http://h/?a=%26&%3d"]
    assert uriscan.params(given) == [expected(value) for value in given]
    assert uriscan.params(b"?a=1") == [{"name": b"a", "value": b"1"}]
    with pytest.raises(uriscan.UriError):
        uriscan.params(["a b"], on_invalid="error")


def test_parts():
    url = "http://h/a/b%20c/?q=x+y%C3%A9&q=2&e"
    for name, expected in [
        ("host", "h"),
        ("fragment", None),
        ("params", '[["q","x+y%C3%A9"],["q","2"],["e",null]]'),
        ("query:q", "x+y%C3%A9"),
        ("query:q:decoded", "x y\u00e9"),
        ("query:e", ""),
        ("query:n", None),
        ("segment:2", "b%20c"),
        ("segment:2:decoded", "b c"),
        ("segment:-1", ""),
        ("segment:4", None),
    ]:
        assert uriscan.part(url, name) == expected, name
        assert uriscan.part([url, None, "a b"], name) == [expected, None, None], name
    assert uriscan.part(b"?q=%FF", "query:q:decoded") == b"%FF"
    for name in ["hots", "query:", "segment:0", "line"]:
        with pytest.raises(ValueError, match="there are scheme"):
            uriscan.part(url, name)
    with pytest.raises(TypeError):
        uriscan.part(url, 5)
    with pytest.raises(uriscan.UriError):
        uriscan.part(["a b"], "host", on_invalid="error")


def test_every_format_of_documents_is_known():
    with pytest.raises(ValueError) as error:
        uriscan.extract("x", format="none")
    import typing

    formats = typing.get_args(typing.get_type_hints(uriscan.extract)["format"])
    assert str(error.value).endswith(", ".join(formats))
