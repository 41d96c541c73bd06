"""``uriscan.extract`` finds and keeps what ``uriscan extract`` does under the options of the same names."""

import os
import pathlib
import subprocess
import typing

import pyarrow
import pyarrow.parquet
import pytest

import uriscan
from uriscan import _links

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("URISCAN_PROGRAM") or ROOT / "target" / "debug" / "uriscan"

TEXT = """See http://a.example/x, https://www.b.test/y.png and ftp://c.b.test/z;
http://a.example/1,http://b.test/2 foo:bar hxxp://bad[.]example/ mailto:joe@h.example joe@i.example
www.example.com/w http://b\u00fccher.example/\u00fc HTTP://A.EXAMPLE/upper.PNG <http://wrapped.exam
  ple/x>
"""
PAGE = """<!doctype html><title>t</title><style>a { background: url(s.png) }</style>
<meta property="og:image" content="/m.png"><a href="a?b" data-next="/n/x" style="background:url('t.png')">x</a>
<script type="application/ld+json">{"@context": "https://schema.org", "url": "https://ld.example/x"}</script>
"""
LOG = """h.example 10.0.0.1 [10/Oct/2000:13:55:36 -0700] "GET /x?y HTTP/1.0" 200 "http://from.example/r" "Bot (+http://bot.example/)"
no entry, but http://text.example/
i.test 10.0.0.1 [10/Oct/2000:13:55:36 -0700] "GET http://proxied.example/ HTTP/1.0" 200 "-" "-"
"""
NGINX = '$host $remote_addr [$time_local] "$request" $status "$http_referer" "$http_user_agent"'
APACHE = r"%v %h %t \"%r\" %>s \"%{Referer}i\" \"%{User-Agent}i\""


def warc():
    """An archive of a page, a text and a record of another type."""
    made = b""
    for kind, uri, media, body in [
        ("response", "http://r.example/", "text/html", b"<a href=/in>x</a>"),
        ("response", "http://t.example/", "text/plain", b"see http://plain.example/"),
        ("metadata", "http://m.example/", "text/plain", b"see http://meta.example/"),
    ]:
        if kind == "response":
            body = f"HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n\r\n".encode() + body
            media = "application/http; msgtype=response"
        head = f"WARC/1.0\r\nWARC-Type: {kind}\r\nWARC-Target-URI: {uri}\r\nContent-Type: {media}\r\nContent-Length: {len(body)}\r\n\r\n"
        made += head.encode() + body + b"\r\n\r\n"
    return made.decode()


CASES = [
    (TEXT, "text", {}),
    (TEXT, "text", {"scheme": "any"}),
    (TEXT, "text", {"scheme": ["HTTP", "ftp"]}),
    (TEXT, "text", {"scheme": "mailto"}),
    (TEXT, "text", {"host": "a.example"}),
    (TEXT, "text", {"host": ["A.example", "www.b.test"]}),
    (TEXT, "text", {"domain": "b.test"}),
    (TEXT, "text", {"domain": ["b.test", "b\u00fccher.example"], "unicode": True}),
    (TEXT, "text", {"domain": "b.test", "host": "c.b.test", "not_scheme": "http"}),
    (TEXT, "text", {"match": r"(?i)\.png$"}),
    (TEXT, "text", {"match": [r"\.png$", "x$"], "not_match": "^https"}),
    (TEXT, "text", {"not_host": ["a.example", "b.test"]}),
    (TEXT, "text", {"not_domain": "test", "not_scheme": ["mailto", "https"]}),
    (TEXT, "text", {"unsplit": True}),
    ("http://h/a/b/a/b http://h/a/b/c http://h/?a&b&c http://h/x", "text", {"max_repeats": 1, "max_segments": 2, "max_params": 2}),
    ("http://h/ http://h/abc", "text", {"max_length": 9}),
    (TEXT, "text", {"unwrap": True, "bare_hosts": True, "email": True, "refang": True, "not_match": "joe"}),
    (PAGE, "html", {"base": "http://base.example/d/"}),
    (PAGE, "html", {"base": "http://base.example/d/", "also": "css"}),
    (PAGE, "html", {"base": "http://base.example/d/", "also": ["json-ld", "meta"]}),
    (PAGE, "html", {"base": "http://base.example/d/", "also": ["css", "json-ld", "meta", "data"], "not_host": "ld.example"}),
    (LOG, "text", {"log_format": NGINX}),
    (LOG, "clf", {"log_format": APACHE, "log_field": ["target", "agent"]}),
    (LOG, "clf", {"log_format": NGINX, "log_field": "referer"}),
    (LOG, "text", {"log_field": "agent"}),
    (LOG, "clf", {"log_format": NGINX, "status": 200, "log_field": "target"}),
    (LOG, "clf", {"log_format": NGINX, "status": ["4xx", "500-599"]}),
    (LOG, "clf", {"log_format": NGINX, "method": ["get", "HEAD"], "since": "2000-10-10", "until": "2000-10-10T20:55:37Z"}),
    (LOG, "clf", {"log_format": NGINX, "since": "2000-10-10T20:55:37Z"}),
    (LOG, "clf", {"log_format": '$id $remote_addr [$time_local] "$request" $rest', "base": "https://base.example"}),
    (LOG, "clf", {"log_format": NGINX, "domain": "example", "not_domain": "bot.example"}),
    (warc(), "warc", {}),
    (warc(), "warc", {"warc_field": "target"}),
    (warc(), "warc", {"warc_type": "Response", "mime": "text/*"}),
    (warc(), "warc", {"warc_type": ["response", "metadata"], "mime": ["text/html", "text/plain"], "not_host": "plain.example"}),
    ("a,b\nhttp://a/,http://b/\n", "csv", {"fields": ["b"]}),
    ("a;b\nhttp://a/;http://b/,c\n", "csv", {"fields": ["b"], "delimiter": ";"}),
]


def options(format, keywords):
    """The options of the program for these keywords."""
    is_log = ("log_format" in keywords or "log_field" in keywords) and format == "text"
    made = [] if is_log else ["--from", format]
    for name, value in keywords.items():
        option = "--link-column" if name == "fields" else f"--{name.replace('_', '-')}"
        if value is True:
            made.append(option)
        elif name in ("match", "not_match") and not isinstance(value, str):
            made += [part for one in value for part in (option, one)]
        else:
            made += [option, str(value) if isinstance(value, (str, int)) else ",".join(value)]
    return made


@pytest.mark.skipif(not os.path.exists(PROGRAM), reason="there is no program to compare with; URISCAN_PROGRAM names one")
@pytest.mark.parametrize("text, format, keywords", CASES, ids=str)
def test_links_are_those_of_the_program(tmp_path, text, format, keywords):
    (tmp_path / "document").write_bytes(text.encode())
    command = [PROGRAM, "extract", "-q", *options(format, keywords), "document"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, check=True, timeout=60)
    assert uriscan.extract(text, format=format, **keywords) == done.stdout.decode().splitlines()


def test_every_keyword_is_compared():
    compared = {name for _, _, keywords in CASES for name in keywords}
    assert compared == set(_links.DEFAULTS)
    assert set(_links.DEFAULTS) == set(_links.Links.__annotations__)
    # What is compared differs from what is found without the keyword.
    for text, format, keywords in CASES:
        plain = {name: value for name, value in keywords.items() if name == "base"}
        if keywords != plain:
            assert uriscan.extract(text, format=format, **keywords) != uriscan.extract(text, format=format, **plain), keywords


def test_tables_take_the_same(tmp_path):
    keywords = {"domain": "b.test", "not_match": "png"}
    expected = uriscan.extract(TEXT, **keywords)
    assert expected == ["ftp://c.b.test/z", "http://b.test/2"]
    pyarrow.parquet.write_table(pyarrow.table({"text": [TEXT, None]}), tmp_path / "in.parquet")
    uriscan.extract_parquet(tmp_path / "in.parquet", tmp_path / "out.parquet", column="text", **keywords)
    assert pyarrow.parquet.read_table(tmp_path / "out.parquet")["uri_links"].to_pylist() == [expected, None]


@pytest.mark.parametrize(
    "keywords, kind, message",
    [
        ({"log_format": "%h"}, ValueError, "log_format: it names no request"),
        ({"log_format": "no variables"}, ValueError, "log_format: unknown format"),
        ({"log_field": "host"}, ValueError, 'log_field="host": there are target, referer, agent'),
        ({"status": 4}, ValueError, 'status="4": write statuses of three digits'),
        ({"status": True}, TypeError, "status is a list of names, not bool"),
        ({"since": "yesterday"}, ValueError, 'since="yesterday": write a time'),
        ({"until": 5}, TypeError, "until is a str, not int"),
        ({"also": ["css", "xml"]}, ValueError, 'also="xml": there are css, json-ld, meta, data'),
        ({"match": "("}, ValueError, 'match="(": unclosed group'),
        ({"not_match": ["x", "["]}, ValueError, 'not_match="[": unclosed character class'),
        ({"warc_field": "host"}, ValueError, 'warc_field="host": there are target'),
        ({"warc_type": "answer"}, ValueError, "warc_type='answer': there are response"),
        ({"scheme": "http://"}, ValueError, "scheme='http://': that is not a scheme"),
        ({"max_repeats": 0}, ValueError, "max_repeats=0: a number from 1"),
        ({"max_segments": -1}, ValueError, "max_segments=-1: a number from 0"),
        ({"max_length": "2K"}, TypeError, "max_length is a number or None, not str"),
        ({"max_params": True}, TypeError, "max_params is a number or None, not bool"),
        ({"hosts": "x"}, TypeError, "there is no keyword 'hosts' here; the keywords are scheme, "),
        ({"host": 5}, TypeError, "host is a list of names, not int"),
        ({"host": [5]}, TypeError, "host is a list of names, and 5 is not a str"),
        ({"log_format": 5}, TypeError, "log_format is a str, not int"),
    ],
    ids=str,
)
def test_what_is_wrong_is_named(tmp_path, keywords, kind, message):
    with pytest.raises(kind) as error:
        uriscan.extract("x", **keywords)
    assert message in str(error.value)
    (tmp_path / "in.csv").write_text("x\n")
    with pytest.raises(kind):
        uriscan.extract_parquet(tmp_path / "in.csv", tmp_path / "out.csv", column="x", **keywords)


def test_help_lists_the_keywords():
    import inspect

    for function in uriscan.extract, uriscan.extract_parquet:
        found = inspect.signature(function).parameters
        assert {name: found[name].default for name in _links.DEFAULTS} == _links.DEFAULTS
        assert not any(one.kind is one.VAR_KEYWORD for one in found.values())
    assert typing.get_type_hints(uriscan.extract)["format"]
