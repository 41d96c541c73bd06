"""Rules that data prove: from rows that say which URLs are the same page to a rules file."""

from __future__ import annotations

import os
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Sequence, overload

from . import _uriscan
from ._kinds import column as _column
from ._tables import memory_bytes


@dataclass(frozen=True)
class Learned:
    """What :func:`learn` found: a rules file, and its numbers."""

    text: str
    """The rules file, with the proof beside each rule."""
    rows: int
    """Rows with a URL."""
    invalid: int
    """Those whose URL is invalid."""
    telling: int
    """Those that say which content a page has."""
    sites: int
    """Sites with rows."""
    sites_with_rules: int
    """Those that got rules."""
    rules: int
    """Rules that are written."""
    held_back: int
    """Pages that were held back, to measure the rules on."""
    right: int
    """Groups of these that the rules join rightly."""
    wrong: int
    """Groups of these that are different pages."""
    lost: int
    """Pages of these that the rules lose."""
    saved: int
    """Fetches of these that the rules save."""
    possible: int
    """Fetches of these that the best rules would save."""

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the rules file to ``path``, for ``rules=`` here and ``--rules`` of the program."""
        Path(path).write_bytes(self.text.encode())


@dataclass(frozen=True)
class Measured:
    """How good rules are: what :func:`learn` says with ``test``."""

    text: str
    """The table of ``uriscan learn --test``, as TSV: a row for each site about which there is something to say, and ``*`` for all."""
    rows: int
    """Rows with a URL."""
    invalid: int
    """Those whose URL is invalid."""
    telling: int
    """Those that say which content a page has."""
    sites: int
    """Sites with rows."""
    sampled: int
    """Those that exceed the memory limit: a sample of their pages was tested."""
    urls: int
    """URLs whose content is known."""
    pages: int
    """Their pages."""
    right: int
    """Groups that the rules join rightly."""
    wrong: int
    """Groups that are different pages."""
    lost: int
    """Pages that the rules lose."""
    saved: int
    """Fetches that the rules save."""
    possible: int
    """Fetches that the best rules would save."""

    @property
    def precision(self) -> float | None:
        """The share of groups that are right; ``None`` if there are none."""
        groups = self.right + self.wrong
        return self.right / groups if groups else None

    @property
    def recall(self) -> float | None:
        """The share of the possible fetches that are saved without losing a page; ``None`` if there are none."""
        return (self.saved - self.lost) / self.possible if self.possible else None


@overload
def learn(
    urls: Any,
    same: Any = None,
    *,
    canonical: Any = None,
    redirect: Any = None,
    precision: float = 0.95,
    confidence: float = 0.95,
    min_pages: int = 20,
    date: str | None = None,
    test: None = None,
    max_memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    name: str | Sequence[str] = "columns",
) -> Learned: ...
@overload
def learn(
    urls: Any,
    same: Any = None,
    *,
    canonical: Any = None,
    redirect: Any = None,
    test: str | os.PathLike[str],
    max_memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
) -> Measured: ...
def learn(
    urls: Any,
    same: Any = None,
    *,
    canonical: Any = None,
    redirect: Any = None,
    precision: float = 0.95,
    confidence: float = 0.95,
    min_pages: int = 20,
    date: str | None = None,
    test: str | os.PathLike[str] | None = None,
    max_memory: int | str | None = None,
    temp_dir: str | os.PathLike[str] | None = None,
    name: str | Sequence[str] = "columns",
) -> Learned | Measured:
    """Rules for the sites of ``urls``, found from evidence which URLs are the same page; ``uriscan learn`` writes the same file.

    Args:
        urls: A column or a list.
        same: A column whose equal values say that pages are the same, such as a digest of the content. ``None`` says nothing.
        canonical: A column with the URL that a page names as its canonical one.
        redirect: A column with the URL that a URL redirects to.
        precision: The share of the joined groups that must be one page, at the lower bound.
        confidence: The confidence of that bound.
        min_pages: The least number of groups that say something about a rule.
        date: A day that the file names; by default none, so that the same rows give the same file.
        test: Tests the rules of this file on the columns instead of learning, as ``uriscan learn --test`` does. The proof and
            ``date`` are for learning only.
        max_memory: Bytes, or a text such as ``"2G"``; what exceeds it spills to disk, and of sites that exceed an eighth of it
            alone, pages are sampled.
        temp_dir: The directory for what spills.
        name: What the file says the rows are from.

    Returns:
        The text of a rules file, and its numbers: :class:`Learned`. With ``test`` a table, and its numbers: :class:`Measured`.

    Raises:
        TypeError, ValueError: For columns of different lengths or without text, values that a keyword cannot have, and a file to test
            that has no rules or cannot be read.

    >>> pages = [f"http://h.example/p{i}" for i in range(100)]
    >>> found = learn(pages + [page + "?ref=x" for page in pages], 2 * [str(i) for i in range(100)])
    >>> found.rules, found.wrong
    (1, 0)
    >>> print(found.text[-46:].rstrip())
    [[site]]
    hosts = ["h.example"]
    drop = ["ref"]
    """
    learning = Learning(precision, confidence, min_pages, date, max_memory, temp_dir)
    if test is not None:
        if learning.proof != Learning(0.95, 0.95, 20, None, None, None).proof:
            raise ValueError("test: precision, confidence, min_pages and date are for learning; omit them")
        tester = _uriscan.Tester(os.fspath(test), learning.limit)
        tester.add(_texts(urls), [None if other is None else _texts(other) for other in (same, canonical, redirect)])
        text, numbers = tester.finish()
        return Measured(text, *numbers)
    learning.add(urls, [same, canonical, redirect])
    return learning.together([learning.finish()], [name] if isinstance(name, str) else list(name))


class Learning:
    """Rows are added, perhaps in several processes, each with those of other sites; the parts are put together."""

    def __init__(
        self,
        precision: float,
        confidence: float,
        min_pages: int,
        date: str | None,
        max_memory: int | str | None,
        temp_dir: str | os.PathLike[str] | None,
    ) -> None:
        for name, share in (("precision", precision), ("confidence", confidence)):
            if not 0 <= share < 1:
                raise ValueError(f"{name}={share}: a number from 0 to below 1 is expected")
        if min_pages < 0:
            raise ValueError(f"min_pages={min_pages}: a number from 0 on is expected")
        self.proof = {"precision": float(precision), "confidence": float(confidence), "min_pages": min_pages, "date": date}
        self.memory = memory_bytes(max_memory)
        self.temp_dir = None if temp_dir is None else os.fspath(temp_dir)
        self._made: Any = None

    @property
    def _learner(self) -> Any:
        """The one of this process."""
        if self._made is None:
            self._made = _uriscan.Learner(self.proof, self.limit)
        return self._made

    @property
    def limit(self) -> tuple[int, str] | None:
        """The limit of this process: bytes, and where rows beyond it go."""
        # Where nothing is said, each machine has a directory of its own.
        return None if self.memory is None else (self.memory, self.temp_dir or tempfile.gettempdir())

    def add(self, urls: Any, others: Sequence[Any]) -> None:
        """Adds rows: URLs, and columns of digests, canonical URLs and targets of redirects, or ``None``."""
        self._learner.add(_texts(urls), [None if other is None else _texts(other) for other in others])

    def sites(self, urls: Any) -> _uriscan.Column:
        """The site of each URL, all of whose rows belong to one process; null for what has none, and may be anywhere."""
        return self._learner.sites(_texts(urls))

    def finish(self) -> bytes:
        """What the rows say."""
        return self._learner.finish()

    def together(self, parts: Sequence[bytes], names: Sequence[str]) -> Learned:
        """The file of what ``parts`` say."""
        text, numbers = _uriscan.rules_file(list(parts), list(names), self.proof)
        return Learned(text, *numbers)


def _texts(values: Any) -> _uriscan.Column:
    """``values`` as a column."""
    if type(values).__module__ == "numpy":
        values = values.tolist()
    if isinstance(values, list):
        values = [value if value is None or isinstance(value, (str, bytes)) else str(value) for value in values]
    return values if isinstance(values, _uriscan.Column) else _column(values)
