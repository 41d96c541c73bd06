"""Deduplication over many columns."""

from __future__ import annotations

from typing import Any

from . import _kinds, _uriscan
from ._options import Equivalence, OnInvalid, Unpack, form, shown


class Deduplicator:
    """Finds the first value of each group over many columns, such as the batches of a file; it takes 16 bytes a group and more.

    Keywords define when two values are equivalent, as in all functions that compare:

    - ``level``: how far up the ladder of RFC 3986 section 6.2, ``"string"``, ``"syntax"`` or ``"scheme"`` (default);
    - ``drop_fragment``: drop the fragment;
    - ``preset``, ``rule``, ``rules``, ``no_rule``: rules beyond the RFC, as ``uriscan rules`` lists them;
    - ``repair``: how invalid values may be repaired, ``["all"]``, say; ``iri``: IRIs are accepted;
    - ``base``, ``lenient_scheme``, ``suffix_scheme``: what relative references are completed with;
    - ``profile``: another system's equivalence, ``"whatwg"`` or ``"w3lib"``, say;
    - ``on_invalid``: invalid values are compared by their bytes (``"pass"``), skipped (``"drop"``), or raise
      :class:`uriscan.UriError` (``"error"``).

    The keys in memory are not those of :func:`uriscan.key`: they depend on random bytes that never leave the process, so
    nobody can build input in which different values share a key. So a ``Deduplicator`` is pickled and copied only as
    long as it has seen nothing. What is to last, or to be shared with other processes, is a :class:`uriscan.Set`, which is
    pickled as its place: :meth:`Adding.is_first` and :meth:`Adding.dedup` do there what is done here.

    >>> seen = Deduplicator(level="scheme")
    >>> seen.dedup(["http://h", "HTTP://H:80/"])
    ['http://h']
    >>> seen.is_first(["http://h/", "http://i/", None])
    [False, True, None]
    >>> len(seen)
    2
    """

    def __init__(self, *, on_invalid: OnInvalid = "pass", **equivalence: Unpack[Equivalence]) -> None:
        self._keywords = {"on_invalid": on_invalid, **equivalence}
        self._firsts = _uriscan.Firsts(form(**self._keywords))

    def __reduce__(self) -> Any:
        if len(self):
            raise TypeError(
                "a Deduplicator that has seen values cannot be pickled or copied, as its keys are of this process only; "
                "use a Set, whose adding() has is_first() and dedup() too"
            )
        return _again, (self._keywords,)

    def is_first(self, urls: Any) -> Any:
        """Whether every value is the first of its group in all columns so far; ``None`` where it is ``None`` or blank."""
        return _kinds.like(urls, self._firsts.mark(_kinds.column(urls)))

    def dedup(self, urls: Any) -> Any:
        """The values that are the first of their group in all columns so far, as they are and in order."""
        values = _kinds.column(urls)
        return _kinds.rows(urls, values, self._firsts.mark(values))

    def __repr__(self) -> str:
        return f"<uriscan.Deduplicator{shown(self._keywords)}: {len(self)} groups>"

    def __len__(self) -> int:
        """The number of groups so far."""
        return len(self._firsts)


def _again(keywords: dict[str, Any]) -> Deduplicator:
    """What was pickled: the keywords."""
    return Deduplicator(**keywords)
