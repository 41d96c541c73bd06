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

A value is a record: white space around it is no part of it. ``None`` stays ``None``. What makes two values one is told
by keywords, the same for all functions (see :class:`uriscan.Deduplicator`).
"""

from __future__ import annotations

from typing import Any, Literal, Sequence

from . import _kinds, _uriscan
from ._classes import census, classes, clusters, dedup
from ._dedup import Deduplicator
from ._errors import SetError, UriError
from ._explain import AUDIT_RULES, audit, explain
from ._options import Equivalence, KeyHash, OnInvalid, Unpack
from ._options import find as _find
from ._options import form as _form
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
    "Key",
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
    "classes",
    "clusters",
    "dedup",
    "dedup_parquet",
    "explain",
    "extract",
    "extract_parquet",
    "is_first",
    "is_valid",
    "key",
    "key_parquet",
    "key_context",
    "normalize",
    "normalize_parquet",
    "params",
    "parse",
    "parse_parquet",
    "resolve",
    "set_threads",
    "surt",
    "threads",
]

CHANGES: tuple[str, ...] = tuple(_uriscan.step_names())
"""The names of the bits of :func:`changes`; the first one is that of bit 0."""


def normalize(urls: Any, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> Any:
    """The canonical form of every value, as text of the same type.

    What is no URI stands for itself, or is ``None`` under ``on_invalid="null"``; under ``"error"`` the first one
    raises :class:`UriError`.

    >>> normalize(["HTTP://h", "no URI"])
    ['http://h/', 'no URI']
    >>> normalize("no URI", on_invalid="null")
    >>> normalize("http://www.h/?utm_source=x&id=1", preset="crawl")
    'http://www.h/?id=1'
    >>> normalize("../x?y", base="http://h/a/b/c")
    'http://h/a/x?y'
    """
    if isinstance(urls, (str, bytes)) and "packs" not in equivalence:
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
    function can reproduce it:

    >>> import hashlib
    >>> key("HTTP://h").hex()
    '321da390d7e4f84b8dbcef7bedba0df5'
    >>> key("HTTP://h", hash="sha256") == hashlib.sha256(b"http://h/").digest()[:16]
    True
    >>> key("HTTP://h") == key("http://h/") != key("http://h/x")
    True

    With rules, a profile or a base, a text that names them is hashed too; see :func:`key_context`.
    """
    if isinstance(urls, (str, bytes)) and "packs" not in equivalence:
        return _settled(Key, hash=hash, on_invalid=on_invalid, **equivalence)(urls)
    return _kinds.answer(urls, _form(on_invalid=on_invalid, **equivalence).hashed(hash).key)


def key_context(**equivalence: Unpack[Equivalence]) -> str | None:
    """The text that is mixed into the keys made with these keywords; ``None`` where keys are plain hashes.

    Rules, a profile, a base and a suffix scheme have one, so that their keys never match those with another meaning.
    Under ``"blake3"`` it is the context string of BLAKE3's ``derive_key`` mode, the canonical form being the key
    material. Under ``"sha256"`` the text, an empty line and the canonical form are hashed.

    >>> key_context() is None
    True
    >>> print(key_context(profile="surt"))
    uriscan key
    profile surt 2
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

    >>> surt("http://www.example.com/a")
    'com,example,www)/a'
    """
    made = _form(on_invalid=on_invalid, **equivalence)
    return _kinds.answer(urls, lambda column: made.surt(column, form))


def parse(urls: Any, *, on_invalid: OnInvalid = "pass") -> Any:
    """The components of every value (RFC 3986 section 3), as a struct of text: ``scheme``, ``authority``, ``userinfo``,
    ``host``, ``port``, ``path``, ``query``, ``fragment``, ``host_kind``, ``domain`` and ``suffix`` (by the
    public suffix list), ``params`` (pairs of name and value, as JSON); of one ``str`` a ``dict``.

    A component that is not there is ``None``, an empty one is empty. Relative references are as good as URIs; of what
    is neither the answer is ``None``.

    >>> parts = parse("http://h:80/a?")
    >>> parts["host"], parts["port"], parts["query"], parts["fragment"]
    ('h', '80', '', None)
    >>> parse(["a b"])
    [None]
    """
    return _kinds.answer(urls, _form(on_invalid=on_invalid).parse)


def params(urls: Any, *, on_invalid: OnInvalid = "pass") -> Any:
    """The parameters of the query of every value: a list of structs of ``name`` and ``value``, in order, as they are written.

    The query is split at ``&`` and each part at its first ``=``; nothing is decoded. The ``value`` of a part without ``=``
    is ``None``.

    Args:
        urls: A column, a list or one ``str``.
        on_invalid: For invalid values: ``None`` (``"pass"`` and ``"null"``), or ``"error"`` to raise :class:`UriError`.

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

    >>> resolve("../g?y#s", "http://a/b/c/d;p?q")
    'http://a/b/g?y#s'
    >>> resolve(["x", "x"], ["http://a/b/c", "http://d/"])
    ['http://a/b/x', 'http://d/x']
    """
    made = _form(on_invalid=on_invalid)
    if isinstance(base, str):
        return _kinds.answer(references, lambda column: made.resolve(column, base, lenient_scheme))
    bases = _kinds.column(base)
    return _kinds.answer(
        references, lambda column: made.resolve_each(column, bases, lenient_scheme)
    )


def check(urls: Any, *, relative: bool = False) -> Any:
    """What is wrong with every value: a struct of its ``kind`` and the byte ``at``; ``None`` where nothing is.

    With ``relative``, relative references are as good as URIs.

    >>> check(["http://h/", "http://h/a b", "/x"])
    [None, {'kind': 'space', 'at': 10}, {'kind': 'relative', 'at': 0}]
    """
    return _kinds.answer(urls, lambda column: _form().check(column, relative))


def is_valid(urls: Any, *, relative: bool = False) -> Any:
    """Whether every value is a URI, or with ``relative`` a URI-reference.

    >>> is_valid(["http://h/", "http://h/a b", "/x", None])
    [True, False, False, None]
    >>> is_valid("/x", relative=True)
    True
    """
    return _kinds.answer(urls, lambda column: _form().is_valid(column, relative))


def changes(urls: Any, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> Any:
    """Which steps make the canonical form of every value: a number with a bit for each of :data:`CHANGES`.

    >>> change_names(changes("HTTP://h"))
    ['scheme-case', 'empty-path']
    >>> changes(["http://h/", None])
    [0, None]
    """
    return _kinds.answer(urls, _form(on_invalid=on_invalid, **equivalence).changes)


def change_names(bits: int) -> list[str]:
    """The names of the steps in one value of :func:`changes`.

    >>> change_names(0)
    []
    """
    return [name for bit, name in enumerate(CHANGES) if bits >> bit & 1]


def extract(
    texts: Any,
    *,
    format: Literal[
        "text", "html", "json", "clf", "warc", "markdown", "csv", "tsv", "cdxj", "xml", "robots", "css", "har", "eml", "mbox"
    ] = "text",
    schemes: Literal["any"] | Sequence[str] | None = None,
    iri: bool = False,
    unwrap: bool = False,
    refang: bool = False,
    www: bool = False,
    email: bool = False,
    base: str | None = None,
    fields: Sequence[str] = (),
) -> Any:
    """The links in every value, which is a document of this format: a list of text.

    The keywords are the options of ``uriscan extract``: the ``schemes`` that are wanted (those that can be told from prose
    unless told), links with characters beyond ASCII (``iri``), broken over lines (``unwrap``), made harmless
    (``refang``), without a scheme (``www``), mail addresses (``email``); the ``base`` of documents that do not say theirs; of
    JSON, CSV and TSV the ``fields`` that are looked into.

    >>> extract("see http://a/ and (http://b/).")
    ['http://a/', 'http://b/']
    >>> extract(['<a href="/x">', None], format="html", base="http://h/")
    [['http://h/x'], None]
    """
    find = _find(
        format=format, schemes=schemes, iri=iri, unwrap=unwrap, refang=refang, www=www, email=email, base=base, fields=fields
    )  # fmt: skip
    return _kinds.answer(texts, lambda column: _form().extract(column, find))


def is_first(urls: Any, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> Any:
    """Whether every value is the first of its class: what to filter a table by; ``None`` for ``None`` and blanks.

    >>> is_first(["http://h", None, "HTTP://H/", "http://i"])
    [True, None, False, True]
    """
    return Deduplicator(on_invalid=on_invalid, **equivalence).is_first(urls)
