"""Functions with fixed keywords, for callers that pass one value at a time."""

from __future__ import annotations

import functools
from typing import Any

from . import _kinds, _uriscan
from ._options import Equivalence, KeyHash, OnInvalid, Unpack, form, shown


class Normalizer(_uriscan.One):
    """:func:`uriscan.normalize` with fixed keywords: called with one ``str`` after the other, it takes a fraction of the time.

    >>> clean = Normalizer(preset="crawl")
    >>> clean("HTTP://h/?utm_source=x#y")
    'http://h/'
    >>> clean(["http://h", None])
    ['http://h/', None]
    """

    _keywords: dict[str, Any]

    def __new__(cls, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> Normalizer:
        made = form(on_invalid=on_invalid, **equivalence)
        self = super().__new__(cls, made, False, functools.partial(_kinds.answer, kernel=made.normalize))
        self._keywords = {"on_invalid": on_invalid, **equivalence}
        return self

    def __repr__(self) -> str:
        return f"uriscan.{type(self).__name__}{shown(self._keywords)}"

    def __reduce__(self) -> Any:
        return _again, (type(self), self._keywords)


class Key(_uriscan.One):
    """:func:`uriscan.key` with fixed keywords.

    >>> fingerprint = Key(hash="sha256")
    >>> fingerprint("HTTP://h") == fingerprint("http://h/")
    True
    """

    _keywords: dict[str, Any]

    def __new__(
        cls, *, hash: KeyHash = "blake3", on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]
    ) -> Key:
        made = form(on_invalid=on_invalid, **equivalence).hashed(hash)
        self = super().__new__(cls, made, True, functools.partial(_kinds.answer, kernel=made.key))
        self._keywords = {"hash": hash, "on_invalid": on_invalid, **equivalence}
        return self

    def __repr__(self) -> str:
        return f"uriscan.{type(self).__name__}{shown(self._keywords)}"

    def __reduce__(self) -> Any:
        return _again, (type(self), self._keywords)


def _again(kind: Any, keywords: dict[str, Any]) -> Any:
    """What was pickled: the keywords, which make the same."""
    return kind(**keywords)


# Modules ask for one value with the same keywords again and again.
@functools.lru_cache(maxsize=64)
def _settled(kind: Any, keywords: tuple[tuple[str, Any], ...]) -> Any:
    return kind(**dict(keywords))


def settled(kind: Any, **keywords: Any) -> Any:
    """``kind`` with these keywords, made once."""
    items = ((name, tuple(value) if isinstance(value, (list, set, frozenset)) else value) for name, value in keywords.items())
    return _settled(kind, tuple(sorted(items)))
