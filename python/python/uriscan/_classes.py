"""Whole groups of a column: which value of each is kept, how many there are, and which."""

from __future__ import annotations

from typing import Any, Literal

from . import _kinds
from ._dedup import Deduplicator
from ._options import Equivalence, OnInvalid, Unpack, form, text
from ._uriscan import Firsts

Keep = Literal["first", "last", "shortest", "https", "min", "max"]


def selection(repeated: bool, unique: bool) -> str:
    """Which groups are meant, by a name that the native half knows."""
    if repeated and unique:
        raise ValueError("either repeated or unique: no group is both")
    return "repeated" if repeated else "unique" if unique else "all"


def dedup(
    urls: Any,
    *,
    keep: Keep = "first",
    count: bool = False,
    repeated: bool = False,
    unique: bool = False,
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> Any:
    """One value of every group as it is, in the order of the column; ``None`` and blanks are dropped.

    Args:
        urls: A column or a list.
        keep: Which value of a group: the ``"first"``, the ``"last"``, the ``"shortest"``, the first with the scheme
            ``"https"``, or the first (``"min"``) or last (``"max"``) in byte order. It keeps its position.
        count: Return a pair: the values, and how many values the group of each has.
        repeated: Only groups of two values or more.
        unique: Only groups of one value.
        on_invalid: Invalid values are compared by their bytes (``"pass"``), dropped (``"drop"``), or raise
            :class:`UriError` (``"error"``).
        **equivalence: When two values are equivalent; see :class:`Deduplicator`.

    Returns:
        A column of the kind and type of ``urls``; with ``count``, a pair of it and a column of ``int64``.

    >>> dedup(["http://h", "HTTP://H/", "http://i"])
    ['http://h', 'http://i']
    >>> dedup(["http://h/", "http://h", "http://i"], keep="shortest", count=True)
    (['http://h', 'http://i'], [2, 1])
    >>> dedup(["http://h", "HTTP://H/", "http://i"], unique=True)
    ['http://i']
    """
    select = selection(repeated, unique)
    if keep == "first" and select == "all" and not count:
        return Deduplicator(on_invalid=on_invalid, **equivalence).dedup(urls)
    text("keep", keep)
    values = _kinds.column(urls)
    made = form(on_invalid=on_invalid, **equivalence)
    mask, counts, _ = made.classes(values, keep, select, False)
    kept = _kinds.rows(urls, values, mask)
    if not count:
        return kept
    return kept, _kinds.like(kept, counts.filter(mask))


def groups(
    urls: Any,
    *,
    keep: Keep = "first",
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> Any:
    """The row of the kept value of the group of every value, counted from 0: equal numbers, equivalent values.

    Args:
        urls: A column or a list.
        keep: Which value of a group is kept; see :func:`dedup`.
        on_invalid: See :func:`dedup`.
        **equivalence: When two values are equivalent; see :class:`Deduplicator`.

    Returns:
        A column of ``uint64``; ``None`` for ``None``, blanks and invalid values that are dropped.

    >>> groups(["http://h", "http://i/", "HTTP://H/", None])
    [0, 1, 0, None]
    >>> groups(["http://h", "http://i/", "HTTP://H/"], keep="last")
    [2, 1, 2]
    """
    text("keep", keep)
    values = _kinds.column(urls)
    _, _, survivors = form(on_invalid=on_invalid, **equivalence).classes(values, keep, "all", False)
    return _kinds.like(urls, survivors)


def clusters(
    urls: Any,
    *,
    keep: Keep = "first",
    repeated: bool = False,
    unique: bool = False,
    on_invalid: OnInvalid = "pass",
    **equivalence: Unpack[Equivalence],
) -> Any:
    """Every group with its members, as ``uriscan dedup --clusters`` writes them.

    Args:
        urls: A column or a list.
        keep: Which value of a group is kept; see :func:`dedup`.
        repeated: Only groups of two values or more.
        unique: Only groups of one value.
        on_invalid: See :func:`dedup`.
        **equivalence: When two values are equivalent; see :class:`Deduplicator`.

    Returns:
        A struct for each group, in the order of the values that are kept: ``kept``, ``count`` and ``members``, a list of the
        ``row`` (from 0), the ``uri`` as it is, and the lowest ``level`` at which it is equivalent to the kept value: ``rules``
        where only rules or ``drop_fragment`` make it so, ``None`` under a profile. :func:`explain` says why.

    >>> for cluster in clusters(["http://h", "http://i/", "HTTP://h/"], repeated=True):
    ...     print(cluster["kept"], cluster["count"])
    ...     print([(member["row"], member["uri"], member["level"]) for member in cluster["members"]])
    http://h 2
    [(0, 'http://h', 'string'), (2, 'HTTP://h/', 'scheme')]
    """
    text("keep", keep)
    made = form(on_invalid=on_invalid, **equivalence)
    found = made.classes(_kinds.column(urls), keep, selection(repeated, unique), True)[0]
    return _kinds.anew(urls, found)


def census(urls: Any, **equivalence: Unpack[Equivalence]) -> dict[str, Any]:
    """How many values are distinct at every level of the ladder, and how many each level merges, before you choose one.

    Args:
        urls: A column, a list or one ``str``.
        **equivalence: All of :class:`Deduplicator` but ``level`` and ``profile``. Rules (``preset``, ``rule``,
            ``rules``) are counted on top of the highest level.

    Returns:
        A ``dict`` like that of ``uriscan census --to json``: ``records``, ``blank`` (with ``None``), ``levels`` (a list
        of ``level``, ``distinct`` and ``merges``), ``rules`` if there are some, and ``invalid``: how many values are not
        URIs, by what is wrong with them.

    Raises:
        TypeError: For ``level`` and ``profile``.

    >>> found = census(["http://h/", "http://h/", "HTTP://h/", "http://h:80", "no URI"])
    >>> [(level["level"], level["distinct"], level["merges"]) for level in found["levels"]]
    [('string', 4, 1), ('syntax', 3, 1), ('scheme', 2, 1)]
    >>> found["records"], found["invalid"]
    (5, {'space': 1})
    """
    for name in "level", "profile", "on_invalid":
        if name in equivalence:
            raise TypeError(f"census() takes no {name}: it counts at every level")
    values = _kinds.column([urls] if isinstance(urls, (str, bytes)) else urls)
    rules = {"preset", "rule", "rules", "no_rule"}
    plain: dict[str, Any] = {name: value for name, value in equivalence.items() if name not in rules}
    marks = Firsts(form(level="string", **plain)).mark(values)
    records = below = len(values) - marks.null_count
    levels = []
    for level in "string", "syntax", "scheme":
        if level != "string":
            marks = Firsts(form(level=level, **plain)).mark(values)
        levels.append({"level": level, "distinct": marks.true_count, "merges": below - marks.true_count})
        below = marks.true_count
    found: dict[str, Any] = {"records": records, "blank": len(values) - records, "levels": levels}
    if any(equivalence.get(name) for name in rules):
        distinct = Firsts(form(**equivalence)).mark(values).true_count
        found["rules"] = {"distinct": distinct, "merges": below - distinct}
    found["invalid"] = form(level="syntax", **plain).faults(values)
    return found
