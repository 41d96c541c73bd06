"""The exceptions of the package."""

from __future__ import annotations

import re

_TEXT = re.compile(r"\brow (?P<row>\d+): (?P<kind>[a-z-]+) at byte (?P<at>\d+)")


class UriError(ValueError):
    """An invalid value, under ``on_invalid="error"``. It is a ``ValueError``.

    It has ``kind``, what is wrong, as in :func:`uriscan.check`; ``at``, the byte it is about, counted from 0 at the first
    one that is not white space; and ``row``, the row of the value, counted from 0.

    >>> import uriscan
    >>> try:
    ...     uriscan.normalize(["http://h/", "http://h/a b"], on_invalid="error")
    ... except uriscan.UriError as error:
    ...     print(error.kind, error.at, error.row)
    space 10 1
    """

    kind: str
    """What is wrong: ``space``, ``percent``, ``relative`` and so on, as in :func:`uriscan.check`."""
    at: int
    """The byte it is about, counted from 0 at the first one that is not white space."""
    row: int
    """The row of the value, counted from 0."""

    def __init__(self, message: str, kind: str = "", at: int = 0, row: int = 0) -> None:
        if not kind and (known := _TEXT.search(message)):
            # Engines that catch an exception and raise it anew have its text only.
            kind, at, row = known["kind"], int(known["at"]), int(known["row"])
        super().__init__(message, kind, at, row)
        self.kind, self.at, self.row = kind, at, row

    def __str__(self) -> str:
        return str(self.args[0])


class InternalError(ValueError):
    """A column that is damaged: its offsets, or the keys of its dictionary, lead out of it. Or a fault of uriscan, which should be
    reported. It is a ``ValueError``."""


class SetError(Exception):
    """A set on disk that cannot be used as was asked.

    It has ``path``, the file or the directory of the set, and ``kind``: ``io``, ``not-a-set``, ``exists``, ``not-empty``,
    ``not-regular``, ``version``, ``damaged``, ``differs`` or ``busy``.

    >>> import uriscan
    >>> try:
    ...     uriscan.Set.open("/no/such/set")
    ... except uriscan.SetError as error:
    ...     print(error.kind, error.path)
    not-a-set /no/such/set
    """

    kind: str
    """``io``, ``not-a-set``, ``exists``, ``not-empty``, ``not-regular``, ``version``, ``damaged``, ``differs`` or ``busy``."""
    path: str
    """The file, or the directory of the set."""

    def __init__(self, message: str, kind: str = "", path: object = "") -> None:
        super().__init__(message, kind, str(path))
        self.kind, self.path = kind, str(path)

    def __str__(self) -> str:
        return str(self.args[0])
