"""Tables in files: read, worked on in parts, and written, without taking more memory than a part."""

from __future__ import annotations

import inspect
import os
import re
import tempfile
from typing import Any, Callable, Literal, Sequence, TypedDict

from . import _uriscan
from ._classes import selection
from ._errors import SetError
from ._files import Inputs, Path, drafts, is_directory, named, refuse_inputs
from ._links import DEFAULTS as LINKS
from ._links import Links, find
from ._options import Equivalence, F, KeyHash, OnInvalid, Unpack, form, keywords, names, text

Totals = dict[str, Any]
TableFormat = Literal["parquet", "arrow", "arrow-stream", "csv", "tsv", "jsonl"]
SurtForm = Literal["ssurt", "surt:cdxj", "surt:ia", "surt"]
Progress = Callable[[int], Any]


class Files(TypedDict, total=False):
    """How tables are read and written; :func:`dedup_parquet` explains all of these keywords."""

    into: str | None
    from_: TableFormat | None
    to: TableFormat | None
    hive: bool
    progress: Progress | None


class Rows(Files, total=False):
    """Of functions that write a row for each row."""

    temp_dir: Path | None
    sort_by: SurtForm | None
    no_uri: Literal["keep", "drop"]


class Valid(Rows, Equivalence, total=False):
    """Of functions that compute canonical forms, which invalid values do not have."""

    rejects: Path | None
    on_invalid: OnInvalid


_FILES: dict[str, Any] = {"into": None, "from_": None, "to": None, "hive": True, "progress": None}
_ROWS: dict[str, Any] = {**_FILES, "temp_dir": None, "sort_by": None, "no_uri": "keep"}
_VALID: dict[str, Any] = {**_ROWS, "rejects": None, "on_invalid": "pass"}


class ExtractOptions(Files, Links, total=False):
    """Of :func:`extract_parquet`."""


@keywords(Valid, **{**_VALID, "no_uri": "drop"})
def dedup_parquet(
    inputs: Inputs,
    output: Path,
    *,
    column: str,
    keep: str = "first",
    count: bool = False,
    repeated: bool = False,
    unique: bool = False,
    with_columns: Sequence[str] = (),
    seen: Path | None = None,
    update: bool = False,
    dupes: Path | None = None,
    clusters: Path | None = None,
    approx: float | None = None,
    max_memory: int | str | None = None,
    hash: KeyHash | None = None,
    **options: Unpack[Valid],
) -> Totals:
    """Writes one row of every group, with all its columns and in the order of the input: ``uriscan dedup --column``.

    Args:
        inputs: Parquet files, or files of other formats by their names (``.arrow``, ``.csv``, ``.tsv``, ``.jsonl``, text
            also compressed); a path, a directory, a pattern such as ``"crawl/**/*.parquet"``, or a list of these. They are
            one table, as for the program: columns are unified by name, names that begin with ``.`` or ``_`` are skipped, and a
            table of Delta Lake, Iceberg or Hudi is refused.
        output: The file to write; it may be one of the inputs. With ``/`` at its end, or if it is there, a directory to be
            filled (``part-00000.parquet``). It changes only when everything has been written.
        column: The column of URIs: its name, its number from 1, or a path such as ``page.url``.
        keep: Which row of a group: as in :func:`dedup`, or ``"min:COLUMN"`` or ``"max:COLUMN"`` for the first with the
            least or greatest value there, a column that is named as ``column`` is. Text is compared by its bytes; in CSV, TSV and
            JSON lines, text that is a decimal number is compared as that number and is less than other text. Null, NaN and, in these formats,
            empty text come last.
        count: Add a column ``uri_count``: the rows of each group, as ``int64``.
        repeated: Only groups of two rows or more.
        unique: Only groups of one row.
        with_columns: Columns whose values must be equal, too, for rows to be of one group: null is equal to null, NaN to NaN, and
            -0.0 to 0.0. There is no set of keys of such rows, so that ``seen`` is refused.
        seen: A set (:class:`Set`): rows with a key in it are dropped too.
        update: Add the keys of the rows that are written to the set, which is created if it does not exist.
        dupes: A file for the dropped duplicates: the value, the value that is kept and the level, with tabs between; or a table with a row
            for each if the name says so (``.parquet``, ``.arrow``, ``.csv``, ``.jsonl``), as of ``uriscan dedup --dupes``.
        clusters: A file for the groups with all members, a JSON object for each; or a table with a row for each member
            (``.parquet``, ``.arrow``, ``.csv``, ``.tsv``).
        rejects: A file for the rows whose value is not a URI, in the format of the output; they are dropped.
        approx: Take an eighth of the memory, and lose at most this share of distinct URIs.
        max_memory: Bytes, or a text such as ``"2G"``; what exceeds it spills to disk.
        temp_dir: The directory for what spills.
        hash: The hash of a set that is created, and of the keys in tables of duplicates and of groups; otherwise that of the set.
        sort_by: Sort the rows by this sort-friendly form of their URIs.
        no_uri: Whether rows without a URI (null or blank) are kept.
        on_invalid: Invalid values are compared by their bytes (``"pass"``), their rows are dropped (``"drop"``), or the
            first one raises :class:`UriError` (``"error"``).
        into: The name of the column that is added, instead of ``uri_count``; one that the input has is an error.
        from_: The format of the inputs, instead of what their names and first bytes say.
        to: The format of the output, instead of what its name says.
        hive: Whether the directories ``name=value`` of a dataset are columns.
        progress: Called now and then with the number of bytes read so far.
        **equivalence: When two values are equivalent; see :class:`Deduplicator`.

    Returns:
        Totals: ``records`` (rows with a URI), ``written``, ``duplicates``, ``blank``, ``invalid`` (by kind), ``seen``,
        ``withheld``, ``repaired``, ``bytes``, ``spilled``; with ``update`` also ``added``.

    Raises:
        OSError: If a file cannot be read or written.
        ValueError: If a file is not such a table, or has no such column.
        UriError: For an invalid value under ``on_invalid="error"``.
        SetError: If the set cannot be used.

    >>> import os, tempfile
    >>> place = tempfile.TemporaryDirectory()
    >>> table, new = (os.path.join(place.name, name) for name in ["urls.csv", "new.parquet"])
    >>> _ = open(table, "w").write("id,url\\n1,http://h\\n2,HTTP://h/\\n3,http://h/x\\n")
    >>> totals = dedup_parquet(table, new, column="url", count=True)
    >>> totals["records"], totals["written"], totals["duplicates"]
    (3, 2, 1)
    >>> import pyarrow.parquet
    >>> pyarrow.parquet.read_table(new).to_pylist()
    [{'id': '1', 'url': 'http://h', 'uri_count': 2}, {'id': '3', 'url': 'http://h/x', 'uri_count': 1}]
    >>> place.cleanup()
    """
    if update and seen is None:
        raise ValueError("update: there is no set to update; seen names it")
    with_columns = names("with_columns", with_columns)
    if with_columns and seen is not None:
        raise ValueError("seen: the keys in a set are those of values alone: omit with_columns, or the set")
    whole = [repeated, unique, count, keep != "first", dupes, clusters]
    if approx is not None:
        if not (isinstance(approx, float) and 1e-9 <= approx <= 0.5):
            raise ValueError("approx: a rate is a number from 1e-9 to 0.5, such as 0.001")
        if any(whole) or seen is not None or max_memory is not None:
            raise ValueError("approx holds no groups: omit keep, count, repeated, unique, dupes, clusters, seen and max_memory")
    if options.get("profile") is not None and (dupes is not None or clusters is not None):
        raise ValueError("profile: dupes and clusters report levels and rules, which a profile does not have")
    hash = hash or _hash_of_set(seen, update)
    text("keep", keep)
    asked = {
        "keep": keep, "select": selection(repeated, unique), "count": count, "approx": approx,
        "memory": memory_bytes(max_memory), "with_columns": with_columns, "seen": None if seen is None else os.fspath(seen), "update": update,
    }  # fmt: skip
    others = {"dupes": dupes, "clusters": clusters}
    return _run("dedup", inputs, output, column, {"no_uri": "drop", **options}, asked, others=others, hash=hash)


_SHARED = """\
Args:
    {names}: See :func:`dedup_parquet`.
{own}
Returns:
    Totals, as :func:`dedup_parquet`.

Raises:
    {errors}: As :func:`dedup_parquet`.

>>> import os, tempfile
>>> place = tempfile.TemporaryDirectory()
>>> table, new = (os.path.join(place.name, name) for name in ["table.csv", "new.jsonl"])
>>> _ = open(table, "w").write("url\\n{row}\\n")
>>> _ = {function}(table, new, column="url")
>>> print(open(new).read(), end="")
{{"url":"{row}",{made}}}
>>> place.cleanup()
"""


def _adds_columns(kind: Any, defaults: dict[str, Any], row: str, made: str) -> Callable[[F], F]:
    """For functions that add columns to a table: what all of them take, return and raise is in :data:`_SHARED`.

    Completes the signature by the keywords of ``kind``, and the docstring, which has what is special about a function, by the
    rest and an example: ``row`` becomes ``made``.
    """

    def completed(function: F) -> F:
        function = keywords(kind, **defaults)(function)
        what, _, own = inspect.cleandoc(function.__doc__ or "").partition("Args:\n")
        explained = {name.strip("* ") for names in re.findall(r"^    (\S[^:]*): ", own, re.M) for name in names.split(",")}
        function.__doc__ = f"{what.rstrip()}\n\n" + _SHARED.format(
            names=", ".join(name for name in inspect.signature(function).parameters if name not in explained),
            own=f"{own}\n" if own else "",
            errors="OSError, ValueError, UriError" if "on_invalid" in defaults else "OSError, ValueError",
            function=function.__name__,
            row=row,
            made=made,
        )
        return function

    return completed


@_adds_columns(Valid, _VALID, "HTTP://h", '"uri_normalized":"http://h/"')
def normalize_parquet(inputs: Inputs, output: Path, *, column: str, **options: Unpack[Valid]) -> Totals:
    """Adds a column ``uri_normalized``, the canonical form of every value: ``uriscan normalize --column``.

    Args:
        **equivalence: The canonical form; see :class:`Deduplicator`.
    """
    return _run("normalize", inputs, output, column, {**options})


@_adds_columns(Valid, _VALID, "HTTP://h", '"uri_key":"321da390d7e4f84b8dbcef7bedba0df5"')
def key_parquet(
    inputs: Inputs, output: Path, *, column: str, hash: KeyHash = "blake3", **options: Unpack[Valid]
) -> Totals:
    """Adds a column ``uri_key``, the key of every value (:func:`key`): ``uriscan key --column``.

    Keys are 16 bytes; in formats of text they are hexadecimal.

    Args:
        hash: The hash of the keys.
        **equivalence: When two values have one key; see :class:`Deduplicator`.
    """
    return _run("key", inputs, output, column, {**options}, hash=hash)


@_adds_columns(
    Rows,
    _ROWS,
    "mailto:x",
    '"uri_scheme":"mailto","uri_authority":null,"uri_userinfo":null,"uri_host":null,"uri_port":null,"uri_path":"x","uri_query":null,'
    '"uri_fragment":null,"uri_host_kind":null,"uri_domain":null,"uri_suffix":null,"uri_params":null',
)
def parse_parquet(inputs: Inputs, output: Path, *, column: str, **options: Unpack[Rows]) -> Totals:
    """Adds the components of every value (:func:`parse`) as columns ``uri_scheme``, ``uri_host`` and so on: ``uriscan
    parse --column``.

    Args:
        into: What the names of the columns begin with, instead of ``uri``.
    """
    return _run("parse", inputs, output, column, _only(_ROWS, options))


@_adds_columns(Rows, _ROWS, "a b", '"uri_error":"space","uri_error_at":1')
def check_parquet(inputs: Inputs, output: Path, *, column: str, **options: Unpack[Rows]) -> Totals:
    """Adds what is wrong with every value and where, as ``uri_error`` and ``uri_error_at``; null for a URI-reference:
    ``uriscan check --column``.

    Args:
        into: The name of the first of these columns, instead of ``uri_error``; that of the other one is the same with ``_at``.
    """
    return _run("check", inputs, output, column, _only(_ROWS, options))


@_adds_columns(Rows, _ROWS, "http://u:p@h/", '"uri_findings":["password","user-name"]')
def audit_parquet(
    inputs: Inputs,
    output: Path,
    *,
    column: str,
    select: Sequence[str] = (),
    ignore: Sequence[str] = (),
    **options: Unpack[Rows],
) -> Totals:
    """Adds a column ``uri_findings``: for every value a list of the names of the rules of :func:`audit` that report
    something: ``uriscan audit --column``.

    Args:
        select, ignore: See :func:`audit`.
    """
    asked = {"audit_select": names("select", select), "audit_ignore": names("ignore", ignore)}
    return _run("audit", inputs, output, column, _only(_ROWS, options), asked)


@_adds_columns(ExtractOptions, {**_FILES, **LINKS}, "see http://a/.", '"uri_links":["http://a/"]')
def extract_parquet(
    inputs: Inputs, output: Path, *, column: str, format: str = "text", **options: Unpack[ExtractOptions]
) -> Totals:
    """Adds a column ``uri_links``: the links in every value, which is a document: ``uriscan extract --column``.

    Args:
        format, scheme, unicode, unwrap, refang, bare_hosts, email, unsplit, base, fields, delimiter: See :func:`extract`.
        log_format, log_field, status, method, since, until, also, warc_field, warc_type, mime: What is read in logs, pages and archives; see :func:`extract`.
        host, domain, match, not_scheme, not_host, not_domain, not_match: Which links are kept; see :func:`extract`.
        max_segments, max_repeats, max_params, max_length: Limits of what is kept; see :func:`extract`.
    """
    given: dict[str, Any] = {**options}
    files = {name: given.pop(name) for name in _FILES if name in given}
    return _run("extract", inputs, output, column, files, links=find(format=format, **given))


def _only(known: dict[str, Any], options: Any) -> dict[str, Any]:
    """``options``, if all of them are known."""
    for name in options:
        if name not in known:
            raise TypeError(f"there is no keyword {name!r} here; there are also {', '.join(known)}")
    return dict(options)


def _hash_of_set(seen: Path | None, update: bool) -> KeyHash:
    """The hash of the set, if there is one."""
    try:
        return _uriscan.KeySet.open(os.fspath(seen)).hash if seen is not None else "blake3"
    except SetError as error:
        if update and error.kind == "not-a-set":
            return "blake3"
        raise


def memory_bytes(memory: int | str | None) -> int | None:
    """The bytes of a memory limit."""
    if memory is None or isinstance(memory, int):
        count = memory
    else:
        digits, unit = memory.removesuffix("i"), 1
        if digits[-1:].upper() in {"K", "M", "G"}:
            digits, unit = digits[:-1], 1024 ** (1 + "KMG".index(digits[-1].upper()))
        count = int(digits) * unit if digits.isdecimal() else 0
    if count is not None and count < 64 << 20:
        raise ValueError("max_memory: a memory limit is 64M or more, such as 512M or 4G")
    return count


def _name(path: Path | None) -> str | None:
    return None if path is None else os.fspath(path)


# What a task does not say otherwise.
_ASKED: dict[str, Any] = {
    "keep": "first", "select": "all", "count": False, "approx": None, "seen": None, "update": False, "memory": None,
    "with_columns": [], "audit_select": [], "audit_ignore": [],
}  # fmt: skip


def _run(
    task: str,
    inputs: Inputs,
    output: Path,
    column: str,
    options: dict[str, Any],
    asked: dict[str, Any] | None = None,
    *,
    others: dict[str, Path | None] | None = None,
    hash: KeyHash = "blake3",
    links: dict[str, Any] | None = None,
) -> Totals:
    """Runs a task on tables.

    Args:
        options: The keywords of :class:`Valid`; those of equivalence need not be complete.
        asked: What the task has besides, by the names of the native half.
        others: Files that are written besides the output and the rejects.
    """
    given = {name: options.pop(name, default) for name, default in _VALID.items()}
    on_invalid, rejects, no_uri = given["on_invalid"], given["rejects"], given["no_uri"]
    for name in "sort_by", "into", "from_", "to":
        text(name, given[name])
    if given["into"] == "":
        raise ValueError("into: the name of a column is not empty")
    if on_invalid not in ("pass", "drop", "error"):
        raise ValueError(f"on_invalid={on_invalid!r}: there are pass, drop, error")
    if on_invalid == "error" and rejects is not None:
        raise ValueError("rejects takes the rows that on_invalid='error' would stop at: omit one of them")
    if no_uri not in ("keep", "drop"):
        raise ValueError(f"no_uri={no_uri!r}: there are keep, drop")
    found, besides = named(inputs, given["from_"] is not None), {"rejects": rejects, **(others or {})}
    files = [path for path, _ in found]
    refuse_inputs(files, besides)
    settled = form(on_invalid="error" if on_invalid == "error" else "pass", **options).hashed(hash)
    asked = {
        **_ASKED, **(asked or {}), "task": task, "column": str(column), "inputs": files, "output_name": os.fspath(output),
        "below": [below if given["hive"] else None for _, below in found], "is_directory": is_directory(output),
        "temp_dir": os.fspath(given["temp_dir"] or tempfile.gettempdir()), "sort_by": given["sort_by"], "into": given["into"],
        "input_format": given["from_"], "output_format": given["to"], "drops_invalid": on_invalid == "drop" or rejects is not None,
        # Documents are not URIs.
        "keeps_no_uri": None if task == "extract" else no_uri == "keep",
        "dupes_name": _name(besides.get("dupes")), "clusters_name": _name(besides.get("clusters")),
    }  # fmt: skip
    adding = None
    try:
        # The results come last: whoever sees them finds the rest in place.
        with drafts({**besides, "output": output}) as made:
            written = {name: made.get(name) for name in ("output", "rejects", "dupes", "clusters")}
            totals, adding = _uriscan.run_tables(settled, {**asked, **written}, links, given["progress"])
    except BaseException:
        if adding is not None:
            adding.close()
        raise
    # The results are in place before the set says that they were seen.
    if adding is not None:
        totals["added"] = adding.commit()
    return totals
