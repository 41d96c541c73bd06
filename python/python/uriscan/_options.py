"""When two values are equivalent: keywords that many functions take."""

from __future__ import annotations

import functools
import inspect
import sys
from typing import TYPE_CHECKING, Any, Callable, Literal, Sequence, TypedDict, TypeVar

from . import _uriscan

# Engines look at the annotations of functions that they are given, so these names are there at run time.
if TYPE_CHECKING:
    from typing_extensions import Unpack as Unpack
elif sys.version_info >= (3, 11):
    from typing import Unpack
else:

    class Unpack:
        """Stands for ``typing.Unpack``."""

        def __class_getitem__(cls, of):
            return Any


OnInvalid = Literal["pass", "drop", "error"]
KeyHash = Literal["blake3", "sha256"]


class Equivalence(TypedDict, total=False):
    """When two values are equivalent; each keyword does what the option of the program does that has its name, with ``-`` for
    ``_``."""

    level: Literal["string", "syntax", "scheme"]
    """How far up the ladder of RFC 3986 section 6.2; ``scheme`` by default."""
    drop_fragment: bool
    """Drop the fragment (6.1)."""
    preset: str | None
    """A bundle of rules beyond the RFC: ``rfc``, ``crawl``, ``log``."""
    rule: Sequence[str]
    """Rules beyond the RFC, each ``NAME`` or ``NAME=ARG``."""
    rules: Sequence[str]
    """Files of rules (TOML), or names of built-in rules files."""
    no_rule: Sequence[str]
    """Rules of the preset that are not wanted."""
    iri: bool
    """Accept IRIs (RFC 3987, 3.1)."""
    repair: Sequence[str]
    """How invalid values may be repaired; ``all`` for all ways but ``entity``, which also changes valid ones."""
    base: str | None
    """The URI that relative references are resolved against first."""
    lenient_scheme: bool
    """Read ``http:g`` as ``g`` under a base with that scheme (5.2.2)."""
    suffix_scheme: str | None
    """Complete ``www.example.com/x`` with this scheme."""
    profile: Literal["whatwg", "w3lib", "crawler-commons", "surt"] | None
    """Another system whose equivalence is used instead of all above."""


@functools.lru_cache(maxsize=64)
def _made(options: tuple[tuple[str, Any], ...]) -> _uriscan.Form:
    return _uriscan.Form(**dict(options))


_KINDS = {name: kind for name, kind, _ in _uriscan.options()}


def form(**options: Any) -> _uriscan.Form:
    """The form under these keywords; made once."""
    for name, value in options.items():
        if name != "on_invalid" and name not in Equivalence.__annotations__:
            there = ", ".join(Equivalence.__annotations__)
            raise TypeError(f"there is no keyword {name!r} here; the keywords of equivalence are {there}")
        if _KINDS[name] == "list":
            if isinstance(value, str):
                raise TypeError(f"{name} is a list of names, not one")
            options[name] = tuple(names(name, value))
        elif _KINDS[name] == "flag":
            if not isinstance(value, bool):
                raise TypeError(f"{name} is True or False, not {type(value).__name__}")
        else:
            text(name, value)
            if value is None and name in ("level", "on_invalid"):
                raise TypeError(f"{name} is a str, not None")
    if options.get("rules"):
        # Files may change.
        return _uriscan.Form(**options)
    return _made(tuple(sorted(options.items())))


def text(name: str, value: Any) -> None:
    """Refuses what is neither text nor missing."""
    if not (value is None or isinstance(value, str)):
        raise TypeError(f"{name} is a str, not {type(value).__name__}")


def names(name: str, values: Any) -> list[str]:
    """A list of names; refuses one alone."""
    if isinstance(values, (str, bytes)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{name} is a list of names, not {type(values).__name__}")
    made = list(values)
    for value in made:
        if not isinstance(value, str):
            raise TypeError(f"{name} is a list of names, and {value!r} is not a str")
    return made


def shown(keywords: dict[str, Any]) -> str:
    """The keywords that are not as by default, as they are typed."""
    usual = {"on_invalid": "pass", "hash": "blake3", "level": "scheme"}
    typed = (f"{name}={value!r}" for name, value in keywords.items() if value != usual.get(name))
    return f"({', '.join(typed)})"


F = TypeVar("F", bound=Callable[..., Any])


def keywords(kind: Any, **defaults: Any) -> Callable[[F], F]:
    """Lists the keywords of a ``TypedDict`` in the signature of a function that takes them as ``**options``.

    ``help`` shows them with their defaults; those of :class:`Equivalence` remain ``**equivalence``. Type checkers read the
    ``TypedDict`` itself.
    """

    def listed(function: F) -> F:
        signature = inspect.signature(function)
        own = [one for one in signature.parameters.values() if one.kind is not inspect.Parameter.VAR_KEYWORD]
        has_equivalence = "level" in kind.__annotations__
        for name, annotation in kind.__annotations__.items():
            if not (has_equivalence and name in Equivalence.__annotations__):
                # As it is written, like those of other parameters.
                written = getattr(annotation, "__forward_arg__", annotation)
                own.append(
                    inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=defaults[name], annotation=written)
                )
        if has_equivalence:
            own.append(inspect.Parameter("equivalence", inspect.Parameter.VAR_KEYWORD, annotation="Unpack[Equivalence]"))
        function.__signature__ = signature.replace(parameters=own)  # type: ignore[attr-defined]
        return function

    return listed
