"""The functions in DuckDB give what the Python wheel gives, which has tests of its own."""

import os
import pathlib
import re
import threading

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import uriscan

ROOT = pathlib.Path(__file__).resolve().parents[3]
EXTENSION = os.environ.get("URISCAN_DUCKDB", ROOT / "engines" / "duckdb" / "target" / "uriscan.duckdb_extension")


def connect(path=":memory:", **config):
    connection = duckdb.connect(path, config={"allow_unsigned_extensions": "true", **config})
    connection.execute(f"load '{EXTENSION}'")
    return connection


@pytest.fixture(scope="module")
def sql():
    return connect()


def one(sql, query, *parameters):
    """The value of a query that has one."""
    return sql.execute("select " + query, parameters).fetchall()[0][0]


def texts():
    """URIs and what is none: of all kinds, short and long, more than DuckDB's vectors hold."""
    kinds = [
        "HTTP://User@Example.COM:80/a/./b/../%7e?q=%c3%a9#F", "http://h", "", "a b", "//h/x", "mailto:A@B.example", "urn:X:y",
        "http://[::1]:8080/", "http://b\u00fccher.example/\u00e9", "twelve-bytes", "thirteen-byte", "x" * 3000, "http://h/\x00",
        "https://www.bbc.co.uk/?utm_source=x&id=1", None, "http://h/%zz", "http://1.2.3.4/", "  http://h/  ", "file:///etc/x",
    ]
    return [kind if kind is None or i % 3 else f"{kind}/{i}" for i in range(1_000) for kind in kinds]


def column(sql, query, values, kind=pa.string()):
    """The results of a query over a table of these values, in order."""
    table = pa.table({"i": range(len(values)), "url": pa.array(values, kind)})
    sql.register("given", table)
    try:
        return [row[0] for row in sql.execute(f"select {query} from given order by i").fetchall()]
    finally:
        sql.unregister("given")


def blobs():
    """The bytes of the texts, and some that are not text."""
    bytes_of = [text if text is None else text.encode() for text in texts()]
    noise = [b"HTTP://h/\xff%7e", b"\xc3", b"http://\xff.example/", b"\x00\xff", b"http://h/?\xfe#\xfe", b"\xff" * 100]
    return bytes_of + noise * 20


OPTIONS = [
    {}, {"level": "syntax"}, {"level": "string"}, {"preset": "crawl"}, {"drop_fragment": True}, {"profile": "whatwg"},
    {"base": "http://base.example/a/b"}, {"on_invalid": "drop"}, {"rule": ["fragment", "drop-param=utm_*"]},
    {"preset": "crawl", "no_rule": ["session-id"]}, {"suffix_scheme": "https"}, {"repair": ["all"]},
]


def literal(options):
    """Options as SQL."""
    if not options:
        return ""
    def value(it):
        return str(it).lower() if isinstance(it, bool) else repr(it)
    return ", {" + ", ".join(f"'{name}': {value(it)}" for name, it in options.items()) + "}"


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_forms_and_keys_are_those_of_the_wheel(sql, options):
    values = texts()
    forms = uriscan.normalize(pa.array(values), **options).to_pylist()
    assert column(sql, f"uri_normalize(url{literal(options)})", values) == forms
    keys = uriscan.key(pa.array(values), **options).to_pylist()
    numbers = [None if key is None else int.from_bytes(key, "big") for key in keys]
    assert column(sql, f"uri_key(url{literal(options)})", values) == keys
    assert column(sql, f"uri_key_int(url{literal(options)})", values) == numbers


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_forms_and_keys_of_bytes_are_those_of_the_wheel(sql, options):
    values = blobs()
    forms = uriscan.normalize(pa.array(values, pa.binary()), **options).to_pylist()
    assert column(sql, f"uri_normalize(url{literal(options)})", values, pa.binary()) == forms
    keys = uriscan.key(pa.array(values, pa.binary()), **options).to_pylist()
    numbers = [None if key is None else int.from_bytes(key, "big") for key in keys]
    assert column(sql, f"uri_key(url{literal(options)})", values, pa.binary()) == keys
    assert column(sql, f"uri_key_int(url{literal(options)})", values, pa.binary()) == numbers


def test_parts_of_bytes_are_those_of_the_wheel(sql):
    values = blobs()
    array = pa.array(values, pa.binary())
    parts = uriscan.parse(array).to_pylist()
    assert column(sql, "uri_parse(url)", values, pa.binary()) == parts
    for name in next(part for part in parts if part is not None):
        expected = [None if part is None else part[name] for part in parts]
        assert column(sql, f"uri_part(url, '{name}')", values, pa.binary()) == expected
    domains = [None if part is None else part["domain"] for part in parts]
    assert column(sql, "uri_domain(url)", values, pa.binary()) == domains
    assert column(sql, "uri_valid(url)", values, pa.binary()) == uriscan.is_valid(array).to_pylist()
    assert column(sql, "uri_surt(url)", values, pa.binary()) == uriscan.surt(array).to_pylist()


def test_targets_of_bytes_are_those_of_the_wheel(sql):
    values, base = blobs(), "http://base.example/a/b?c"
    expected = uriscan.resolve(pa.array(values, pa.binary()), base, on_invalid="drop").to_pylist()
    for shown in [f"'{base}'", f"'{base}'::blob"]:
        assert column(sql, f"uri_resolve(url, {shown})", values, pa.binary()) == expected
    assert one(sql, "uri_resolve('g', 'http://h/a'::blob)") == b"http://h/g"


def test_bytes_give_bytes(sql):
    url = "'HTTP://h'::blob"
    for query, kind in [
        (f"uri_normalize({url})", "BLOB"), (f"uri_surt({url})", "BLOB"), (f"uri_part({url}, 'host')", "BLOB"),
        (f"uri_domain({url})", "BLOB"), (f"uri_resolve({url}, {url})", "BLOB"), (f"uri_key({url})", "BLOB"),
        (f"uri_key_int({url})", "UHUGEINT"),
        (f"uri_parse({url}).host", "BLOB"), ("uri_normalize('HTTP://h')", "VARCHAR"), ("uri_parse('HTTP://h').host", "VARCHAR"),
        ("uri_resolve('g', 'http://h')", "VARCHAR"), (f"uri_valid({url})", "BOOLEAN"),
    ]:
        assert one(sql, f"typeof({query})") == kind, query
    assert one(sql, "uri_key('HTTP://h'::blob) = uri_key('http://h/')")
    # DuckDB chooses for a null without a type.
    for query in ["uri_normalize(null)", "uri_part(null, 'host')", "uri_part('http://h', null)", "uri_resolve(null, null)"]:
        assert one(sql, query) is None
    assert one(sql, "typeof(uri_normalize(null::varchar))") == "VARCHAR"
    assert one(sql, "uri_normalize(?)", b"HTTP://h/\xff") == uriscan.normalize(b"HTTP://h/\xff")
    assert one(sql, "uri_normalize(?)", "HTTP://h") == "http://h/"
    assert one(sql, "uri_normalize(?)", None) is None


def test_keys_by_sha256(sql):
    expected = uriscan.key("http://h/", hash="sha256")
    assert one(sql, "uri_key('HTTP://H', {'hash': 'sha256'})") == expected
    assert one(sql, "uri_key_int('HTTP://H', {'hash': 'sha256'})") == int.from_bytes(expected, "big")


def test_a_key_is_written_as_it_is_elsewhere(sql):
    assert one(sql, "lower(hex(uri_key('http://h/')))") == uriscan.key("http://h/").hex()
    assert one(sql, "lpad(lower(hex(uri_key_int('http://h/'))), 32, '0')") == uriscan.key("http://h/").hex()
    assert one(sql, "typeof(uri_key('x')) || typeof(uri_key_int('x'))") == "BLOBUHUGEINT"
    assert one(sql, "uri_key(null::varchar)") is None


def test_keys_join_with_those_of_a_file(sql, tmp_path):
    urls = pa.table({"url": ["http://h/", "http://i/"]})
    pq.write_table(urls.append_column("uri_key", uriscan.key(urls["url"])), tmp_path / "keys.parquet")
    query = f"select url from '{tmp_path}/keys.parquet' where uri_key = uri_key('HTTP://h')"
    assert sql.execute(query).fetchall() == [("http://h/",)]


def test_parts_are_those_of_the_wheel(sql):
    values = texts()
    parts = uriscan.parse(pa.array(values)).to_pylist()
    assert column(sql, "uri_parse(url)", values) == parts
    for name in next(part for part in parts if part is not None):
        expected = [None if part is None else part[name] for part in parts]
        assert column(sql, f"uri_part(url, '{name}')", values) == expected


def test_parameters_and_segments_are_those_of_the_wheel(sql):
    given = [*texts(), "http://h/a/b%20c/?q=x+y%C3%A9&q=2&e", "http://h/?%71=%0A%FF", "a/b?q"]
    for name in ["query:q", "query:q:decoded", "query:e", "segment:1", "segment:-1", "segment:2:decoded"]:
        assert column(sql, f"uri_part(url, '{name}')", given) == uriscan.part(given, name), name
    assert one(sql, "uri_part('?q=%FF'::BLOB, 'query:q:decoded')") == b"%FF"


def test_domains(sql):
    for url, expected in [
        ("http://www.bbc.co.uk/x", "bbc.co.uk"), ("http://EXAMPLE.com", "EXAMPLE.com"), ("http://1.2.3.4/", None),
        ("http://co.uk/", None), ("a b", None), ("mailto:a@b.example", None), (None, None),
    ]:
        assert one(sql, "uri_domain(?::varchar)", url) == expected, url


def test_validity_is_that_of_the_wheel(sql):
    values = texts()
    for relative in [False, True]:
        expected = uriscan.is_valid(pa.array(values), relative=relative).to_pylist()
        assert column(sql, f"uri_valid(url, {{'relative': {relative}}})", values) == expected
    assert column(sql, "uri_valid(url)", values) == uriscan.is_valid(pa.array(values)).to_pylist()


@pytest.mark.parametrize("form", ["surt:cdxj", "surt:ia", "ssurt"])
def test_sort_friendly_forms_are_those_of_the_wheel(sql, form):
    values = texts()
    expected = uriscan.surt(pa.array(values), form=form).to_pylist()
    assert column(sql, f"uri_surt(url, {{'form': '{form}'}})", values) == expected


def test_targets(sql):
    values = texts()
    for base in ["http://base.example/a/b?c", "no base", None]:
        shown = "null" if base is None else repr(base)
        found = column(sql, f"uri_resolve(url, {shown}::varchar)", values)
        if base == "http://base.example/a/b?c":
            assert found == uriscan.resolve(pa.array(values), base, on_invalid="drop").to_pylist()
        else:
            assert set(found) == {None}
    assert one(sql, "uri_resolve('http:g', 'http://h/a', {'lenient_scheme': true})") == "http://h/g"
    assert one(sql, "uri_resolve('http:g', 'http://h/a')") == "http:g"


def test_null_options_are_no_options(sql):
    assert one(sql, "uri_normalize('HTTP://h', null)") == "http://h/"
    assert one(sql, "uri_normalize('HTTP://h', {'preset': null, 'rule': null, 'drop_fragment': null})") == "http://h/"
    assert one(sql, "uri_part('http://h', null)") is None


@pytest.mark.parametrize("query, message", [
    ("uri_normalize('x', {'levels': 'x'})", "uri_normalize: there is no option levels; there are level, "),
    ("uri_normalize('x', {'level': 'x'})", 'uri_normalize: level="x": there are string, syntax, scheme'),
    ("uri_normalize('x', {'level': 1})", "level is a text, a boolean or a list of texts"),
    ("uri_normalize('x', {'rule': [1]})", "rule is a list of texts"),
    ("uri_normalize('x', {'rule': ['fragment', null]})", "without nulls"),
    ("uri_normalize('x', 'syntax')", "options are a struct, such as {'level': 'syntax'}"),
    ("uri_normalize('x', {'rules': '/etc/passwd'})", "there is no built-in rules file /etc/passwd"),
    ("uri_part('x', 'segment:0')", "uri_part: there is no part segment:0; there are scheme, "),
    ("uri_part('x', 'hosts')", "uri_part: there is no part hosts; there are scheme, "),
    ("uri_surt('x', {'form': 'x'})", "there are ssurt, surt:cdxj, surt:ia"),
    ("uri_valid('x', {'level': 'syntax'})", "uri_valid: there is no option level"),
    ("uri_key('a b', {'on_invalid': 'error'})", 'uri_key: "a b": space at byte 1'),
    ("uri_normalize(x, {'level': x}) from (values ('string'), ('syntax')) t(x)", "level must be the same for all rows"),
    ("uri_normalize('x', {'drop_fragment': x}) from (values (true), (false)) t(x)", "must be the same for all rows"),
    ("uri_normalize('x', {'rule': x}) from (values (['fragment']), ([])) t(x)", "must be the same for all rows"),
    ("uri_part(x, x) from (values ('host'), ('port')) t(x)", "must be the same for all rows"),
])
def test_what_is_wrong_is_named(sql, query, message):
    with pytest.raises(duckdb.Error) as error:
        sql.execute("select " + query).fetchall()
    assert message in str(error.value)


def test_types_other_than_text_are_refused_when_the_query_is_bound(sql):
    with pytest.raises(duckdb.BinderException):
        sql.execute("select uri_normalize(5)")


def test_queries(sql, tmp_path):
    sql.execute("create or replace table urls as select * from (values ('http://h'), ('HTTP://H:80/'), ('http://h/?b')) t(url)")
    assert sql.execute("select count(distinct uri_key(url)) from urls").fetchall()[0] == (2,)
    kept = sql.execute("select min(url) from urls group by uri_key(url) order by 1").fetchall()
    assert kept == [("HTTP://H:80/",), ("http://h/?b",)]
    path = tmp_path / "keys.parquet"
    sql.execute(f"copy (select *, hex(uri_key(url)) as key from urls) to '{path}'")
    assert sql.execute(f"select count(distinct key) from '{path}'").fetchall()[0] == (2,)
    assert sql.execute("select url from urls where uri_part(url, 'query') is not null").fetchall() == [("http://h/?b",)]
    assert sql.execute("select uri_normalize(url) from urls where false").fetchall() == []


def test_many_rows_on_many_threads():
    count = 300_000
    query = ("select count(distinct uri_key(url)), sum(length(uri_normalize(url))) from "
             "(select 'HTTP://Host' || (i % 1000) || '.example:80/' || (i // 2) as url from range(?) t(i))")
    found = {threads: connect(threads=str(threads)).execute(query, [count]).fetchall()[0] for threads in [1, 2, 8]}
    assert len(set(found.values())) == 1
    # Every i has its own pair of i % 1000 and i // 2.
    assert found[1][0] == count


def test_connections_share_one_extension():
    errors = []

    def work(i):
        try:
            sql = connect()
            for _ in range(50):
                assert one(sql, f"uri_normalize('HTTP://h/{i}#x', {{'drop_fragment': {i % 2 == 0}}})") == (
                    f"http://h/{i}" + ("" if i % 2 == 0 else "#x"))
        except Exception as error:  # noqa: BLE001 - shown below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []


def test_a_read_only_database_can_use_it(tmp_path):
    path = str(tmp_path / "data.duckdb")
    duckdb.connect(path).execute("create table urls as select 'HTTP://h' as url").close()
    assert one(connect(path, access_mode="READ_ONLY"), "uri_normalize(url) from urls") == "http://h/"


def test_hostile_values(sql):
    for length in [0, 1, 11, 12, 13, 4096, 1 << 20]:
        value = "http://h/" + "%7e" * length
        assert one(sql, "uri_normalize(?)", value) == "http://h/" + "~" * length
    # More sets of options than are remembered.
    for i in range(200):
        assert one(sql, f"uri_normalize('x', {{'base': 'http://h/{i}/'}})") == f"http://h/{i}/x"


GUIDE = ROOT / "docs" / "guide" / "sql.md"


def test_the_guide_shows_what_queries_give():
    block = re.search(r"## In DuckDB\n.*?```sql\n(.*?)```", GUIDE.read_text("utf-8"), re.S)[1]
    connection, shown = connect(), 0
    for line in block.splitlines():
        query, _, expected = line.partition("--")
        if not query.startswith("LOAD"):
            rows = connection.execute(query).fetchall()
            shown += bool(expected)
            assert not expected or str(rows[0][0]) == expected.strip(), line
    assert shown > 5


def test_options_are_those_of_the_library_and_of_the_guide(sql):
    values = {
        "base": "http://h/", "suffix_scheme": "https", "rules": ["tracking"], "no_rule": ["session-id"], "rule": ["www"],
    }  # fmt: skip
    listed = re.findall(r"^\| `(\w+)` \| `--([a-z-]+)` \|", GUIDE.read_text("utf-8"), re.M)
    assert listed == [(name, name.replace("_", "-")) for name, _, _ in uriscan._uriscan.options()]
    for name, kind, known in uriscan._uriscan.options():
        usual = True if kind == "flag" else known[:1] if kind == "list" else next(iter(known), None)
        given = {name: values.get(name, usual)}
        if name == "no_rule":
            given["preset"] = "crawl"
        assert one(sql, f"uri_normalize('http://h/'{literal(given)})") == "http://h/"
    for old in "without_rules", "packs", "ignore_fragment":
        with pytest.raises(duckdb.Error, match="there is no option " + old):
            one(sql, f"uri_normalize('http://h/', {{'{old}': ['x']}})")
