"""Why: explanations and the audit."""

from __future__ import annotations

import json
from typing import Any, Literal, Sequence, overload

from . import _kinds, _uriscan
from ._options import Equivalence, Unpack, form, names

AUDIT_RULES: tuple[dict[str, str], ...] = tuple(
    dict(zip(("rule", "section", "severity", "title", "consequence"), row)) for row in _uriscan.audit_rules()
)
"""The rules of :func:`audit`: a ``dict`` of ``rule``, ``section``, ``severity``, ``title`` and ``consequence`` for each."""


def audit(
    urls: Any,
    *,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    details: bool = False,
) -> Any:
    """What may cause harm in every value (RFC 3986 section 7): ports, encodings, addresses, secrets, lookalikes.

    Args:
        urls: A column, a list or one ``str``. Relative references and invalid values are examined too.
        select: Apply these rules only: names of :data:`AUDIT_RULES`, sections such as ``"7.4"``, or ``"all"``.
        ignore: Do not apply these rules.
        details: Return all that is known of each finding instead of the name of its rule.

    Returns:
        For each value a list of the names of the rules that report something, each once; with ``details`` a list of
        structs of ``rule``, ``severity`` (``note``, ``warning`` or ``error``), ``section``, ``message``, ``consequence``,
        ``start``, ``end`` (bytes, counted from the first that is not white space) and ``count``.

    Raises:
        ValueError: For a name of no rule.

    >>> audit(["http://h/", "http://h/%2e%2e/x", None])
    [[], ['encoded-dot', 'above-root'], None]
    >>> [(finding["rule"], finding["start"], finding["end"]) for finding in audit("http://0x7f.1/", select=["7.4"], details=True)]
    [('rare-ipv4', 7, 13), ('address-loopback', 7, 13)]
    """
    wanted, unwanted = names("select", select), names("ignore", ignore)
    made = form()
    return _kinds.answer(
        urls, lambda column: made.audit(column, wanted, unwanted, bool(details))
    )


@overload
def explain(
    a: str | bytes, b: str | bytes | None = ..., *, format: Literal["dict"] = ..., **equivalence: Unpack[Equivalence]
) -> dict[str, Any]: ...
@overload
def explain(
    a: str | bytes, b: str | bytes | None = ..., *, format: Literal["text"], **equivalence: Unpack[Equivalence]
) -> str: ...
def explain(
    a: str | bytes,
    b: str | bytes | None = None,
    *,
    format: Literal["dict", "text"] = "dict",
    **equivalence: Unpack[Equivalence],
) -> Any:
    """How a value becomes its canonical form, step by step; of two values also why they are equivalent, or why not.

    Args:
        a: A value.
        b: Another one to compare it with.
        format: ``"dict"``, or ``"text"`` for people.
        **equivalence: When two values are equivalent; see :class:`Deduplicator`. A profile has no steps.

    Returns:
        Of one value ``uri``, ``changes`` (a list of ``level``, ``rule``, ``component``, ``start``, ``end``, ``before`` and
        ``after``) and ``canonical``, or ``error`` instead of the latter two. Of two, these as ``a`` and ``b``; the lowest
        ``level`` at which they are equivalent (``None`` if they are not); the ``rules`` that make them equivalent; and the
        ``partings``: where they differ for good (``component``, ``a``, ``b``), with a ``reason`` and a ``message``. As
        ``uriscan explain --to jsonl`` prints it.

    Raises:
        ValueError: Under a profile.

    >>> why = explain("http://h:80/%7e", "HTTP://h/%7e")
    >>> why["level"], why["rules"]
    ('scheme', ['scheme-case', 'default-port'])
    >>> why = explain("http://h/?a&b", "http://h/?b&a")
    >>> why["level"], [parting["reason"] for parting in why["partings"]]
    (None, ['query-order'])
    >>> print(explain("HTTP://h", format="text"))
    HTTP://h
      syntax  scheme-case     0..4      HTTP -> http
      scheme  empty-path      8..8      "" -> /
      = http://h/
    """
    if format not in ("dict", "text"):
        raise ValueError(f"format={format!r}: there are dict, text")
    made = form(**equivalence)
    texts = [_bytes(value) for value in (a, b) if value is not None]
    if not texts:
        raise TypeError("a str or bytes is needed, not None")
    out = made.explain(texts[0], texts[1] if len(texts) > 1 else None, format == "dict")
    return json.loads(out) if format == "dict" else out.decode(errors="replace").rstrip("\n")


def _bytes(value: Any) -> bytes:
    if isinstance(value, str):
        return value.encode().strip()
    if isinstance(value, bytes):
        return value.strip()
    raise TypeError(f"a str or bytes is needed, not {type(value).__name__}; clusters() says what is equivalent in a column")
