"""``python -m uriscan``: the most used commands of the program ``uriscan``, for those who have only the wheel.

It has ``normalize``, ``key``, ``dedup``, ``parse``, ``check``, ``audit``, ``extract`` and ``explain``; on lists, a URI a line, and with
``--column`` on tables. Options have the names that the program gives them, and results are the same bytes. What it does
not have: the other commands, directories, the links in documents and filters for commands other than ``extract``,
checkpoints, aliases, reports, progress and colours.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import tempfile
from typing import Any, Callable, NoReturn

import uriscan
from uriscan import _tables, _uriscan
from uriscan._links import find
from uriscan._options import form

_SURT = ("surt", "surt:cdxj", "surt:ia", "ssurt")


# Options of extract that name several things, with commas between or one after the other.
_LISTS = {
    "log_field": "search only these fields of access logs: target, referer, agent",
    "also": "read further parts of pages: css, json-ld, meta, data",
    "warc_type": "read only records of these types in archives",
    "mime": "read only records of these media types in archives",
    "host": "keep only URIs with these hosts",
    "domain": "keep only URIs whose host is one of these domains or below it",
    "match": "keep only URIs in which this regular expression matches; repeatable",
    "not_scheme": "drop URIs with these schemes",
    "not_host": "drop URIs with these hosts",
    "not_domain": "drop URIs whose host is one of these domains or below it",
    "not_match": "drop URIs in which this regular expression matches; repeatable",
}


class _Names(argparse.Action):
    """Adds the names between commas to those of the option that were given before."""

    def __call__(self, parser: Any, namespace: argparse.Namespace, values: Any, option_string: str | None = None) -> None:
        setattr(namespace, self.dest, [*getattr(namespace, self.dest), *values.split(",")])


class _Parser(argparse.ArgumentParser):
    """Says what is wrong as the program does."""

    def error(self, message: str) -> NoReturn:
        print(f"uriscan: {message}\nTry '{self.prog} --help'.", file=sys.stderr)
        raise SystemExit(2)


def _command(commands: Any, name: str, what: str, *, has_files: bool = True) -> argparse.ArgumentParser:
    made = commands.add_parser(name, help=what, description=what, allow_abbrev=False)
    if has_files:
        made.add_argument("files", nargs="*", metavar="FILE", help="files to read; standard input without any, or for -")
        made.add_argument("-0", "--null", action="store_true", help="records end in NUL instead of LF")
        made.add_argument("-o", "--output", metavar="FILE", default="-", help="the file to write, - for standard output")
        made.add_argument("-j", "--threads", type=int, default=0, metavar="N", help="number of threads; 0 for one per core")
        if name in ("normalize", "key", "dedup", "parse"):
            made.add_argument("--strict", action="store_true", help="exit with code 1 if there are invalid records")
        if name != "dedup":
            made.add_argument("-e", "--uri", action="append", metavar="URI", help="a record, instead of files")
    return made


def _add_equivalence(command: argparse.ArgumentParser) -> None:
    group = command.add_argument_group("equivalence")
    group.add_argument("--rung", choices=["string", "syntax", "scheme"], default="scheme", help="the rung of the ladder (6.2)")
    group.add_argument("--ignore-fragment", action="store_true", help="drop the fragment")
    group.add_argument("--base", metavar="URI", help="resolve references against this URI first")
    group.add_argument("--lenient-scheme", action="store_true", help="read http:g as g under a base with that scheme")
    group.add_argument("--suffix-scheme", metavar="SCHEME", help="complete www.example.com/x with this scheme")
    group.add_argument("--profile", metavar="NAME", help="follow another system: whatwg, w3lib, crawler-commons, surt")
    group.add_argument("--preset", metavar="NAME", help="a bundle of rules beyond the RFC: rfc, crawl or log")
    group.add_argument("--rule", action="append", default=[], metavar="RULE", help="a rule beyond the RFC; repeatable")
    group.add_argument("--no-rule", action="append", default=[], metavar="NAME", help="disable a rule of the preset; repeatable")
    group.add_argument("--rules", action="append", default=[], metavar="FILE", help="rules for parameters; repeatable")


def _add_repairs(command: argparse.ArgumentParser) -> None:
    command.add_argument("--iri", action="store_true", help="accept IRIs")
    command.add_argument("--repair", metavar="NAME,...", help="repair invalid records: by all repairs, or those named")


def _add_invalid(command: argparse.ArgumentParser) -> None:
    command.add_argument("--on-invalid", choices=["pass", "drop", "error"], default="pass", help="what to do with invalid records")
    command.add_argument("--rejects", metavar="FILE", help="write invalid records to FILE")


def _add_table(command: argparse.ArgumentParser, *, has_to: bool = True, has_from: bool = True) -> None:
    group = command.add_argument_group("tables")
    group.add_argument("--column", metavar="COLUMN", help="read tables instead of lines, with the URIs in COLUMN; needs -o")
    if has_from:
        group.add_argument("--from", dest="from_", metavar="FORMAT", help="parquet, arrow, arrow-stream, csv, tsv or jsonl")
    if has_to:
        group.add_argument("--to", metavar="FORMAT", help="the format of the output, by default that of its name")
    group.add_argument("--sort-by", choices=_SURT, metavar="FORM", help="sort the rows by surt, surt:cdxj, surt:ia or ssurt")
    group.add_argument("--no-uri", choices=["keep", "drop"], help="keep or drop rows without a URI")


def _parser() -> argparse.ArgumentParser:
    parser = _Parser(
        prog="python -m uriscan",
        allow_abbrev=False,
        description="URIs in bulk, by RFC 3986. The program uriscan has more commands and options; these have its names.",
        epilog="Exit codes: 0 done, 1 check found invalid records, audit has findings, or --strict; 2 error.",
    )
    parser.add_argument("-V", "--version", action="version", version=f"uriscan {uriscan.__version__} (Python package)")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND", parser_class=_Parser)

    normalize = _command(commands, "normalize", "Write the canonical form of every record")
    key = _command(commands, "key", "Write the key of every record")
    key.add_argument("--as", dest="form", choices=["hex", "url", *_SURT], default="hex", metavar="FORM", help="hex, url or a sort-friendly form")
    key.add_argument("--hash", choices=["blake3", "sha256"], default="blake3", help="the hash of keys")
    dedup = _command(commands, "dedup", "Keep the first record of each equivalence class, in input order")
    dedup.add_argument("-c", "--count", action="store_true", help="write the size of its class before each record")
    dedup.add_argument("-d", "--repeated", action="store_true", help="only classes of two records or more")
    dedup.add_argument("-u", "--unique", action="store_true", help="only classes of one record")
    dedup.add_argument("--keep", default="first", metavar="WHICH", help="first, last, shortest, https, min or max; of tables also min:COLUMN, max:COLUMN")
    dedup.add_argument("--verify", action="store_true", help="compare canonical forms where two keys are equal")
    dedup.add_argument("--dupes", metavar="FILE", help="write dropped duplicates to FILE, as a table if its name says so")
    dedup.add_argument("--clusters", metavar="FILE", help="write each class to FILE as a JSON line, or as a table if its name says so")
    dedup.add_argument("--seen", metavar="SET", help="also drop URIs whose keys are in this set")
    dedup.add_argument("--update", action="store_true", help="add the written URIs to the set")
    dedup.add_argument("--hash", choices=["blake3", "sha256"], help="the hash of a set that is created")
    dedup.add_argument("--approx", type=float, metavar="RATE", help="an eighth of the memory, and this share of URIs may be lost")
    dedup.add_argument("--max-memory", metavar="SIZE", help="spill to disk what exceeds this, such as 2G")
    dedup.add_argument("--temp-dir", metavar="DIR", help="the directory for what spills")
    for command in normalize, key, dedup:
        _add_equivalence(command)
        _add_repairs(command)
        _add_invalid(command)
        _add_table(command)
    parse = _command(commands, "parse", "Split every record into its components")
    parse.add_argument("--to", metavar="FORMAT", help="jsonl (default) or tsv; of tables the format of the output")
    check = _command(commands, "check", "Report the records that are not URIs or relative references")
    check.add_argument("--to", metavar="FORMAT", help="text (default) or jsonl; of tables the format of the output")
    for command in parse, check:
        _add_repairs(command)
        _add_table(command, has_to=False)
    audit = _command(commands, "audit", "Find security problems of URIs (RFC 3986, section 7)")
    audit.add_argument("--select", metavar="RULE,...", help="apply these rules only: names, sections such as 7.4, or all")
    audit.add_argument("--ignore", metavar="RULE,...", help="do not apply these rules")
    audit.add_argument("--to", metavar="FORMAT", help="text (default), jsonl or sarif; of tables the format of the output")
    _add_table(audit, has_to=False)
    extract = _command(commands, "extract", "Find URIs in text, logs, pages and archives")
    extract.add_argument("--from", dest="from_", default=None, metavar="FORMAT", help="auto (default), text, html, json, clf, warc and so on")
    extract.add_argument("--link-column", action=_Names, default=[], metavar="NAME", help="search only these members or columns of JSON, CSV and TSV")
    extract.add_argument("--scheme", metavar="LIST|any", help="schemes to find, separated by commas, or any")
    extract.add_argument("--base", metavar="URI", help="the base of relative references")
    extract.add_argument("--log-format", metavar="PATTERN", help="format of access logs, as in nginx or Apache")
    extract.add_argument("--warc-field", metavar="FIELD", help="target: the URIs of the records of archives")
    for name, what in _LISTS.items():
        action: Any = "append" if name in ("match", "not_match") else _Names
        extract.add_argument(f"--{name.replace('_', '-')}", action=action, default=[], metavar="NAME", help=what)
    for name in "iri", "unwrap", "refang", "www", "email", "unsplit":
        extract.add_argument(f"--{name}", action="store_true")
    explain = _command(commands, "explain", "Explain the canonical form of a URI, and why two are equivalent or not", has_files=False)
    explain.add_argument("uris", nargs="+", metavar="URI", help="one URI, or two to compare")
    explain.add_argument("--format", choices=["text", "jsonl"], default="text", help="the format of the output")
    _add_equivalence(explain)
    _add_repairs(explain)
    return parser


def _names(names: str | None) -> list[str]:
    return names.split(",") if names else []


def _keywords(given: argparse.Namespace) -> dict[str, Any]:
    """The keywords of the package for the options of a command."""
    repair = _names(getattr(given, "repair", None)) + (["iri"] if getattr(given, "iri", False) else [])
    if not hasattr(given, "rung"):
        return {"repair": repair}
    return {
        "rung": given.rung, "drop_fragment": given.ignore_fragment, "base": given.base, "lenient_scheme": given.lenient_scheme,
        "suffix_scheme": given.suffix_scheme, "profile": given.profile, "preset": given.preset, "rules": given.rule,
        "without_rules": given.no_rule, "packs": given.rules, "repair": repair,
    }  # fmt: skip


def _links(given: argparse.Namespace, format: str) -> dict[str, Any]:
    scheme = given.scheme if given.scheme in (None, "any") else _names(given.scheme)
    # The program ignores a pattern beside any other format.
    log_format = None if given.from_ == "text" else given.log_format
    same = ["iri", "unwrap", "refang", "www", "email", "unsplit", "base", "warc_field", *_LISTS]
    return {
        "format": format, "scheme": scheme, "fields": given.link_column, "log_format": log_format,
        **{name: getattr(given, name) for name in same},
    }  # fmt: skip


def _table(given: argparse.Namespace) -> dict[str, Any]:
    """Does a command with tables; gives the totals."""
    if given.output == "-":
        raise ValueError("--column needs -o FILE here; the program uriscan also writes tables to standard output")
    if not given.files or given.null or getattr(given, "uri", None):
        raise ValueError("--column reads files; -0 and -e are for lines")
    function: Callable[..., dict[str, Any]] = getattr(uriscan, f"{given.command}_parquet")
    keywords: dict[str, Any] = {"column": given.column, "to": given.to, "from_": given.from_}
    keywords.update(sort_by=given.sort_by, **({"no_uri": given.no_uri} if given.no_uri else {}))
    if given.command == "audit":
        keywords.update(select=_names(given.select), ignore=_names(given.ignore))
    if given.command in ("normalize", "key", "dedup"):
        keywords.update(_keywords(given), on_invalid=given.on_invalid, rejects=given.rejects)
    elif _keywords(given)["repair"]:
        raise ValueError("--iri and --repair of this command work with lines, not with tables")
    if given.command == "key":
        if given.form != "hex":
            raise ValueError("--as works with lines here; the program uriscan also adds such columns to tables")
        keywords["hash"] = given.hash
    if given.command == "dedup":
        names = "count repeated unique keep verify dupes clusters seen update hash approx max_memory temp_dir"
        keywords.update({name: getattr(given, name) for name in names.split()})
    uriscan.set_threads(given.threads)
    return function(given.files, given.output, **keywords)


def _lines(given: argparse.Namespace) -> dict[str, Any]:
    """Does a command with lists; gives the totals."""
    hash = getattr(given, "hash", None)
    seen = getattr(given, "seen", None)
    if getattr(given, "update", False) and seen is None:
        raise ValueError("--update needs --seen SET")
    hash = hash or _tables.hash_of_set(seen, getattr(given, "update", False))
    end = b"\0" if given.null else b"\n"
    typed = getattr(given, "uri", None)
    formats = {"parse": ["jsonl", "tsv"], "check": ["text", "jsonl"], "audit": ["text", "jsonl", "sarif"]}
    known = formats.get(given.command)
    if known and given.to not in (None, *known):
        raise ValueError(f"--to {given.to}: there are {', '.join(known)}")
    asked: dict[str, Any] = {
        "command": given.command, "inputs": given.files or ([] if typed else ["-"]), "is_null": given.null, "threads": given.threads,
        "typed": b"".join(os.fsencode(uri) + end for uri in typed) if typed else None,
        "on_invalid": getattr(given, "on_invalid", "pass"), "keep": getattr(given, "keep", "first"),
        "select": _tables.selection(getattr(given, "repeated", False), getattr(given, "unique", False)),
        "count": getattr(given, "count", False), "verify": getattr(given, "verify", False), "approx": getattr(given, "approx", None),
        "seen": seen, "update": getattr(given, "update", False), "memory": _tables.memory_bytes(getattr(given, "max_memory", None)),
        "temp_dir": getattr(given, "temp_dir", None) or tempfile.gettempdir(),
        "form": given.form if given.command == "key" else getattr(given, "to", None),
        "audit_select": _names(getattr(given, "select", None)), "audit_ignore": _names(getattr(given, "ignore", None)),
        "detects_format": False, "dupes_name": getattr(given, "dupes", None), "clusters_name": getattr(given, "clusters", None),
    }  # fmt: skip
    links = None
    if given.command == "extract":
        format = given.from_ or "auto"
        # With a pattern it is a log, whatever it looks like.
        asked["detects_format"] = format == "auto" and given.log_format is None
        links = find(**_links(given, "text" if format == "auto" else format))
    for path in asked["inputs"]:
        if path != "-":
            with open(path, "rb"):
                pass
    made = form(**_keywords(given)).hashed(hash)
    names = ("output", "rejects", "dupes", "clusters")
    outputs = {name: getattr(given, name, None) for name in names}
    outputs["output"] = None if given.output == "-" else given.output
    adding = None
    with _tables.drafts(outputs) as drafts:
        totals, adding = _uriscan.run_lines(made, {**asked, **{name: drafts.get(name) for name in names}}, links)
    if adding is not None:
        adding.commit()
    return totals


def _explain(given: argparse.Namespace) -> int:
    if len(given.uris) > 2:
        raise ValueError("one URI, or two to compare")
    explain: Callable[..., Any] = uriscan.explain
    why = explain(*map(os.fsencode, given.uris), format="dict" if given.format == "jsonl" else "text", **_keywords(given))
    print(why if isinstance(why, str) else json.dumps(why, ensure_ascii=False, separators=(",", ":")))
    return 0


def _interrupted(number: int, _: object) -> None:
    """Ends the process at once, as the program does, and leaves no drafts."""
    _tables.remove_drafts()
    os._exit(128 + number)


def main(arguments: list[str] | None = None) -> int:
    """Does the command that is typed; returns the exit code."""
    typed = sys.argv[1:] if arguments is None else arguments
    # Its value is optional, and only after an equals sign: what follows it is a file.
    given = _parser().parse_args(["--repair=all" if word == "--repair" else word for word in typed])
    signal.signal(signal.SIGINT, _interrupted)
    signal.signal(signal.SIGTERM, _interrupted)
    try:
        if given.command == "explain":
            return _explain(given)
        totals = _table(given) if getattr(given, "column", None) else _lines(given)
    except BrokenPipeError:
        # Who reads has seen enough.
        return 0
    except (OSError, ValueError, TypeError, uriscan.SetError) as error:
        print(f"uriscan: {error}", file=sys.stderr)
        return 2
    if given.command == "audit":
        return int(totals.get("findings", 0) > 0)
    is_strict = getattr(given, "strict", given.command == "check" and not given.column)
    return int(is_strict and bool(totals["invalid"]))


if __name__ == "__main__":
    raise SystemExit(main())
