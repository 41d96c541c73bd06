"""URIs in bulk, by RFC 3986: normalize, key, parse, resolve, check, extract, deduplicate.

Every function takes a column: of pyarrow, Polars, pandas or DuckDB, or anything else that hands out Arrow data
(``__arrow_c_array__``, ``__arrow_c_stream__``), and works on it where it lies, on all cores, while other threads run
Python. What comes in is what goes out: a Polars series gives a Polars series. A list gives a list, and one ``str``
gives one answer.

>>> import uriscan
>>> uriscan.normalize("HTTP://Example.com:80/%7Ebob/./x")
'http://example.com/~bob/x'
>>> uriscan.dedup(["http://h", "HTTP://H:80/", "http://h/x", None])
['http://h', 'http://h/x']

A value is a record: white space around it is not part of it. ``None`` stays ``None``. Keywords, the same for all functions,
define when two values are equivalent (see :class:`uriscan.Deduplicator`).
"""

from __future__ import annotations

from typing import Any, Literal

from . import _kinds, _uriscan
from ._classes import census, clusters, dedup, groups
from ._dedup import Deduplicator
from ._errors import InternalError, SetError, UriError
from ._explain import AUDIT_RULES, audit, explain
from ._learn import Learned, Measured, learn
from ._links import DEFAULTS as _LINKS
from ._links import Links
from ._links import find as _find
from ._options import Equivalence, KeyHash, OnInvalid, Unpack
from ._options import form as _form
from ._options import keywords as _keywords
from ._options import text as _text
from ._pieces import SetPieces
from ._set import Adding, Set
from ._single import Key, Normalizer
from ._single import settled as _settled
from ._tables import (
    audit_parquet,
    check_parquet,
    dedup_parquet,
    extract_parquet,
    key_parquet,
    normalize_parquet,
    parse_parquet,
)
from ._uriscan import Column, __version__, set_threads, threads

__all__ = [
    "AUDIT_RULES",
    "Adding",
    "CHANGES",
    "Column",
    "Deduplicator",
    "InternalError",
    "Key",
    "Learned",
    "Measured",
    "Normalizer",
    "Set",
    "SetError",
    "SetPieces",
    "UriError",
    "__version__",
    "audit",
    "audit_parquet",
    "census",
    "change_names",
    "changes",
    "check",
    "check_parquet",
    "clusters",
    "dedup",
    "dedup_parquet",
    "explain",
    "extract",
    "extract_parquet",
    "groups",
    "is_first",
    "is_valid",
    "key",
    "key_parquet",
    "key_context",
    "learn",
    "normalize",
    "normalize_parquet",
    "params",
    "parse",
    "parse_parquet",
    "part",
    "resolve",
    "set_threads",
    "surt",
    "threads",
]

CHANGES: tuple[str, ...] = tuple(_uriscan.step_names())
"""The names of the bits of :func:`changes`; the first one is that of bit 0."""


def normalize(urls: Any, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> Any:
    """The canonical form of every value, as text of the same type.

    Args:
        urls: A column, a list or one ``str``.
        on_invalid: Invalid values are kept as they are (``"pass"``), are ``None`` (``"drop"``), or the first one raises
            :class:`UriError` (``"error"``).
        **equivalence: The canonical form; see :class:`Deduplicator`.

    Returns:
        A column of the kind and type of ``urls``.

    Raises:
        UriError: For an invalid value under ``on_invalid="error"``.
        TypeError, ValueError: For a column that is not text, a keyword that does not exist, or a value that it cannot have.

    >>> normalize(["HTTP://h", "no URI"])
    ['http://h/', 'no URI']
    >>> normalize("no URI", on_invalid="drop")
    >>> normalize("http://www.h/?utm_source=x&id=1", preset="crawl")
    'http://www.h/?id=1'
    >>> normalize("../x?y", base="http://h/a/b/c")
    'http://h/a/x?y'
    """
    if isinstance(urls, (str, bytes)) and "rules" not in equivalence:
        return _settled(Normalizer, on_invalid=on_invalid, **equivalence)(urls)
    return _kinds.answer(urls, _form(on_invalid=on_invalid, **equivalence).normalize)


def key(
    urls: Any,
    *,
    hash: KeyHash = "blake3",
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> Any:
    """The public key of every value: 16 bytes (``fixed_size_binary(16)``), the same for all equivalent values.

    It is the first 16 bytes of the BLAKE3 hash of the canonical form, or of its SHA-256 hash under ``hash="sha256"``:
    the same on every machine and in every version, and the same as ``uriscan key`` prints. Anyone with the hash
    function can reproduce it. With rules, a profile or a base, a text that names them is hashed too; see
    :func:`key_context`. A value of more than 64 MiB has 16 zero bytes, which are in no :class:`Set`.

    Args:
        urls: A column, a list or one ``str``.
        hash: ``"blake3"`` or ``"sha256"``.
        on_invalid: Keys of invalid values are computed from their bytes (``"pass"``), are ``None`` (``"drop"``), or the first
            one raises :class:`UriError` (``"error"``).
        **equivalence: When two values have one key; see :class:`Deduplicator`.

    Returns:
        A column of the kind of ``urls``; of one ``str``, ``bytes``.

    Raises:
        UriError: For an invalid value under ``on_invalid="error"``.
        TypeError, ValueError: For a column that is not text, a keyword that does not exist, or a value that it cannot have.

    >>> import hashlib
    >>> key("HTTP://h").hex()
    '321da390d7e4f84b8dbcef7bedba0df5'
    >>> key("HTTP://h", hash="sha256") == hashlib.sha256(b"http://h/").digest()[:16]
    True
    >>> key("HTTP://h") == key("http://h/") != key("http://h/x")
    True
    """
    _text("hash", hash)
    if isinstance(urls, (str, bytes)) and "rules" not in equivalence:
        return _settled(Key, hash=hash, on_invalid=on_invalid, **equivalence)(urls)
    return _kinds.answer(urls, _form(on_invalid=on_invalid, **equivalence).hashed(hash).key)


def key_context(**equivalence: Unpack[Equivalence]) -> str | None:
    """The text that is mixed into the keys made with these keywords; ``None`` where keys are plain hashes.

    Rules, a profile, a base and a suffix scheme have one, so that their keys never match those with another meaning.
    Under ``"blake3"`` it is the context string of BLAKE3's ``derive_key`` mode, the canonical form being the key
    material. Under ``"sha256"`` the text, an empty line and the canonical form are hashed.

    Args:
        **equivalence: The keywords of the keys; see :class:`Deduplicator`.

    Returns:
        The text, or ``None``.

    >>> key_context() is None
    True
    >>> print(key_context(profile="surt"))
    uriscan key
    profile surt 3
    >>> import hashlib
    >>> text = key_context(profile="surt") + "\\n\\n" + normalize("http://h/", profile="surt")
    >>> key("http://h/", hash="sha256", profile="surt") == hashlib.sha256(text.encode()).digest()[:16]
    True
    """
    return _form(**equivalence).key_context


def surt(
    urls: Any,
    *,
    form: Literal["ssurt", "surt:cdxj", "surt:ia", "surt"] = "surt",
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> Any:
    """The sort-friendly form of the canonical form of every value, as text of the same type.

    Args:
        urls: A column, a list or one ``str``.
        form: ``"surt"``; ``"surt:cdxj"`` and ``"surt:ia"``, the keys of web archives' indexes; or ``"ssurt"``, which keeps port
            and scheme after the host.
        on_invalid: Invalid values are kept as they are (``"pass"``), are ``None`` (``"drop"``), or the first one raises
            :class:`UriError` (``"error"``).
        **equivalence: The canonical form; see :class:`Deduplicator`.

    Returns:
        A column of the kind and type of ``urls``.

    Raises:
        UriError: For an invalid value under ``on_invalid="error"``.
        TypeError, ValueError: For a column that is not text, a keyword that does not exist, or a value that it cannot have.

    >>> surt("http://www.example.com/a")
    'com,example,www)/a'
    """
    _text("form", form)
    made = _form(on_invalid=on_invalid, **equivalence)
    return _kinds.answer(urls, lambda column: made.surt(column, form))


def parse(urls: Any, *, on_invalid: OnInvalid = "pass") -> Any:
    """The components of every value (RFC 3986 section 3), as a struct of text: ``scheme``, ``authority``, ``userinfo``,
    ``host``, ``port``, ``path``, ``query``, ``fragment``, ``host_kind``, ``domain`` and ``suffix`` (by the
    public suffix list), ``params`` (pairs of name and value, as JSON); of one ``str`` a ``dict``.

    A component that is not there is ``None``, an empty one is empty.

    Args:
        urls: A column, a list or one ``str``. Relative references are as good as URIs.
        on_invalid: For what is neither: ``None`` (``"pass"`` and ``"drop"``), or ``"error"`` to raise :class:`UriError`.

    Returns:
        A struct for each value; of one ``str`` a ``dict``.

    Raises:
        UriError: For an invalid value under ``on_invalid="error"``.
        TypeError, ValueError: For a column that is not text, a keyword that does not exist, or a value that it cannot have.

    >>> parts = parse("http://h:80/a?")
    >>> parts["host"], parts["port"], parts["query"], parts["fragment"]
    ('h', '80', '', None)
    >>> parse(["a b"])
    [None]
    """
    return _kinds.answer(urls, _form(on_invalid=on_invalid).parse)


def part(urls: Any, name: str, *, on_invalid: OnInvalid = "pass") -> Any:
    """One part of every value, as text of the same type: a component, a parameter of the query, a segment of the path, or
    the shape.

    Args:
        urls: A column, a list or one ``str``.
        name: A name of :func:`parse`; ``query:NAME``, the value of the first parameter with this name; ``segment:N``, the
            segment of the path with this number, from 1, or from the end if it is negative. With ``:decoded`` after one of
            these two it is decoded, and ``+`` in a parameter is a space; control characters and what is not UTF-8 stay
            encoded. ``shape`` is the whole value with types in place of numbers, dates, hashes and values; ``shape:slugs``
            also types segments of words. For the shape that equivalent URLs share, take that of :func:`normalize`.
        on_invalid: For invalid values: ``None`` (``"pass"`` and ``"drop"``), or ``"error"`` to raise :class:`UriError`.

    Returns:
        Text, or ``None`` where there is no such part; a parameter without ``=`` is empty.

    Raises:
        UriError: For an invalid value under ``on_invalid="error"``.
        TypeError, ValueError: For a column that is not text, or a part that does not exist.

    >>> part("http://h/a/b?q=x+y%21", "query:q:decoded")
    'x y!'
    >>> part(["http://h/a/b?q=x+y%21", "http://h"], "segment:-1")
    ['b', None]
    >>> part(normalize("HTTP://h:80/user/17?q=cats"), "shape")
    'http://h/user/{int}?q={text}'
    """
    _text("name", name)
    made = _form(on_invalid=on_invalid)
    return _kinds.answer(urls, lambda column: made.part(column, name))


def params(urls: Any, *, on_invalid: OnInvalid = "pass") -> Any:
    """The parameters of the query of every value: a list of structs of ``name`` and ``value``, in order, as they are written.

    The query is split at ``&`` and each part at its first ``=``; nothing is decoded. The ``value`` of a part without ``=``
    is ``None``.

    Args:
        urls: A column, a list or one ``str``.
        on_invalid: For invalid values: ``None`` (``"pass"`` and ``"drop"``), or ``"error"`` to raise :class:`UriError`.

    Returns:
        A list for each value: empty for an empty query, ``None`` where there is no query.

    >>> params("http://h/?a=1&b&a=%20")
    [{'name': 'a', 'value': '1'}, {'name': 'b', 'value': None}, {'name': 'a', 'value': '%20'}]
    >>> params(["http://h/", "http://h/?"])
    [None, []]
    """
    return _kinds.answer(urls, _form(on_invalid=on_invalid).params)


def resolve(
    references: Any, base: Any, *, lenient_scheme: bool = False, on_invalid: OnInvalid = "pass"
) -> Any:
    """The target of every reference (RFC 3986 section 5), against one base, or against the base in the same row.

    Args:
        references: A column, a list or one ``str``.
        base: A URI, or a column of as many.
        lenient_scheme: Read ``http:g`` as ``g`` under a base with that scheme (5.2.2).
        on_invalid: What cannot be resolved is kept as it is (``"pass"``), is ``None`` (``"drop"``), or raises
            :class:`UriError` (``"error"``).

    Returns:
        A column of the kind and type of ``references``.

    Raises:
        UriError: For what cannot be resolved under ``on_invalid="error"``.
        ValueError: For a base that is not a URI, and columns of different lengths.

    >>> resolve("../g?y#s", "http://a/b/c/d;p?q")
    'http://a/b/g?y#s'
    >>> resolve(["x", "x"], ["http://a/b/c", "http://d/"])
    ['http://a/b/x', 'http://d/x']
    """
    made = _form(on_invalid=on_invalid)
    if base is None or isinstance(base, (bytes, int)):
        raise TypeError(f"base is a str or a column, not {type(base).__name__}")
    if isinstance(base, str):
        return _kinds.answer(references, lambda column: made.resolve(column, base, lenient_scheme))
    bases = _kinds.column(base)
    return _kinds.answer(
        references, lambda column: made.resolve_each(column, bases, lenient_scheme)
    )


def check(urls: Any, *, relative: bool = False) -> Any:
    """What is wrong with every value: a struct of its ``kind`` and the byte ``at``; ``None`` where nothing is.

    Args:
        urls: A column, a list or one ``str``.
        relative: Accept relative references too.

    Returns:
        A struct for each value; ``at`` is counted from 0 at the first byte that is not white space.

    >>> check(["http://h/", "http://h/a b", "/x"])
    [None, {'kind': 'space', 'at': 10}, {'kind': 'relative', 'at': 0}]
    """
    return _kinds.answer(urls, lambda column: _form().check(column, relative))


def is_valid(urls: Any, *, relative: bool = False) -> Any:
    """Whether every value is a URI, or with ``relative`` a URI-reference.

    Args:
        urls: A column, a list or one ``str``.
        relative: Accept relative references too.

    Returns:
        A column of bools; ``None`` for ``None``.

    >>> is_valid(["http://h/", "http://h/a b", "/x", None])
    [True, False, False, None]
    >>> is_valid("/x", relative=True)
    True
    """
    return _kinds.answer(urls, lambda column: _form().is_valid(column, relative))


def changes(urls: Any, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> Any:
    """Which steps make the canonical form of every value: a number with a bit for each of :data:`CHANGES`.

    Args:
        urls: A column, a list or one ``str``.
        on_invalid: For invalid values: ``None`` (``"pass"`` and ``"drop"``), or ``"error"`` to raise :class:`UriError`.
        **equivalence: The canonical form; see :class:`Deduplicator`. A base, repairs and a profile have no steps.

    Returns:
        A column of ``uint64``: 0 for a value in canonical form. :func:`change_names` names the bits.

    Raises:
        UriError: For an invalid value under ``on_invalid="error"``.
        ValueError: For a base, repairs and a profile.

    >>> change_names(changes("HTTP://h"))
    ['scheme-case', 'empty-path']
    >>> changes(["http://h/", None])
    [0, None]
    """
    return _kinds.answer(urls, _form(on_invalid=on_invalid, **equivalence).changes)


def change_names(bits: int) -> list[str]:
    """The names of the steps in one value of :func:`changes`.

    Args:
        bits: The value.

    Returns:
        A list of names, of :data:`CHANGES`.

    >>> change_names(0)
    []
    """
    return [name for bit, name in enumerate(CHANGES) if bits >> bit & 1]


@_keywords(Links, **_LINKS)
def extract(
    texts: Any,
    *,
    format: Literal[
        "text", "html", "json", "clf", "w3c", "warc", "markdown", "csv", "tsv", "cdxj", "xml", "markup", "folded", "robots", "css", "har", "eml", "mbox"
    ] = "text",
    **links: Unpack[Links],
) -> Any:
    """The links in every value, which is a document of this format: a list of text.

    The keywords are options of ``uriscan extract``. Those that name several things take one ``str`` or a list.

    Args:
        texts: A column, a list or one ``str``.
        format: The format of the values.
        scheme: The schemes to find, or ``"any"`` for whatever looks like one; by default all before ``://``, and those
            that can be distinguished from prose without it.
        unicode: Find links with non-ASCII characters; otherwise a link ends before them.
        unwrap: Join links in ``< >`` that are broken across lines.
        refang: Find defanged links (``hxxp://e[.]example/``), and restore them.
        bare_hosts: Find hosts without a scheme (``www.example.com/x``).
        email: Find mail addresses.
        unsplit: Read ``http://a/x,http://b/y`` as one link.
        base: The base of relative references in documents that do not state one.
        fields: The members or columns of JSON, CSV and TSV to search (``--link-column``); all by default.
        delimiter: The character between the fields of CSV; by default the one in the first row: ``,``, ``;``, a tab or ``|``.
        log_format: The format of access logs: a name such as ``"alb"`` or ``"caddy"``, or a pattern as in nginx or Apache; it
            implies ``format="clf"``.
        log_field: The fields of access logs to search: ``"target"``, ``"referer"``, ``"agent"``; all by default. It implies
            ``format="clf"``. Without a base, targets are paths.
        status: The statuses of the entries of access logs to read: ``404``, ``"4xx"``, ``"500-599"``. This and the next three
            imply ``format="clf"``, and other lines are skipped.
        method: The methods of the entries of access logs to read, in any case.
        since: Read only entries of access logs at this time or later: ``"2026-03-01"``, ``"2026-03-01T12:00:00Z"``.
        until: Read only entries of access logs before this time.
        also: Further parts of pages to read: ``"css"``, ``"json-ld"``, ``"meta"``, ``"data"``, ``"script"``,
            ``"attributes"``.
        warc_field: ``"target"`` for the URIs of the records of archives instead of the links in them.
        warc_type: The types of the records of archives to read, such as ``"response"``.
        mime: The media types of the records of archives to read, such as ``"text/html"`` or ``"text/*"``.
        host: Keep only links with these hosts.
        domain: Keep only links whose host is one of these domains or below it.
        match: Keep only links in which one of these regular expressions matches, in the syntax of the Rust crate regex.
        not_scheme: Drop links with these schemes.
        not_host: Drop links with these hosts.
        not_domain: Drop links whose host is one of these domains or below it.
        not_match: Drop links in which one of these regular expressions matches.
        max_segments: Drop links with more segments in the path, not counting empty ones.
        max_repeats: Drop links in whose path a segment, or a run of up to 32 segments, occurs more often in a row.
        max_params: Drop links with more parameters in the query, separated by ``&``.
        max_length: Drop links with more bytes.

    Returns:
        A list of text for each value.

    Raises:
        TypeError, ValueError: For a format, field or part that does not exist, a base that is not a URI, and a pattern
            that is invalid.

    >>> extract("see http://a/ and (http://b/).")
    ['http://a/', 'http://b/']
    >>> extract(['<a href="/x">', None], format="html", base="http://h/")
    [['http://h/x'], None]
    >>> extract("http://a.example/ http://b.test/ ftp://b.test/", domain="b.test", not_scheme=["ftp"])
    ['http://b.test/']
    >>> extract('h.example "GET /x HTTP/1.1"', log_format='$host "$request"')
    ['http://h.example/x']
    """
    find = _find(format=format, **links)
    return _kinds.answer(texts, lambda column: _form().extract(column, find))


def is_first(urls: Any, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> Any:
    """Whether every value is the first of its group: what to filter a table by; ``None`` for ``None`` and blanks.

    Args:
        urls: A column or a list.
        on_invalid: See :func:`dedup`.
        **equivalence: When two values are equivalent; see :class:`Deduplicator`.

    Returns:
        A column of bools.

    Raises:
        UriError: For an invalid value under ``on_invalid="error"``.
        TypeError, ValueError: For a column that is not text, a keyword that does not exist, or a value that it cannot have.

    >>> is_first(["http://h", None, "HTTP://H/", "http://i"])
    [True, None, False, True]
    """
    return Deduplicator(on_invalid=on_invalid, **equivalence).is_first(urls)


def _name_as_public() -> None:
    """Lets what is public say so in tracebacks: `uriscan.UriError`."""
    for name in __all__:
        value = globals()[name]
        if getattr(value, "__module__", "").startswith("uriscan._") and callable(value):
            try:
                value.__module__ = "uriscan"
            except (AttributeError, TypeError):
                # Native ones have names of their own.
                pass


_name_as_public()
