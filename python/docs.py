"""Writes docs/python/ from the docstrings of the package: a page for each public function and class, and an index.

    python python/docs.py            write the pages
    python python/docs.py --check    fail if they are not what it would write

Docstrings have the sections `Args:`, `Returns:` and `Raises:`, and examples that run in the tests.
"""

from __future__ import annotations

import inspect
import re
import sys
import textwrap
from pathlib import Path

import uriscan
from uriscan import _options

PAGES = Path(__file__).resolve().parents[1] / "docs" / "python"

GROUPS = {
    "One value or a column": [
        "normalize", "key", "key_context", "surt", "parse", "params", "resolve", "check", "is_valid", "extract", "Normalizer", "Key",
    ],
    "Equivalence": ["dedup", "is_first", "classes", "clusters", "census", "Deduplicator"],
    "Why": ["explain", "changes", "change_names", "audit"],
    "Sets on disk": ["Set", "Adding", "SetPieces"],
    "Tables in files": [name for name in sorted(uriscan.__all__) if name.endswith("_parquet")],
    "Errors, columns, threads": ["UriError", "SetError", "Column", "threads", "set_threads"],
}  # fmt: skip

NOTE = "<!-- Written by python/docs.py from the docstrings of the package. -->\n\n"


def plain(text: str) -> str:
    """Docstrings' marks for code and references as Markdown."""
    text = re.sub(r":(?:func|class|meth|data|mod):`(?:uriscan\.)?([\w.]+)`", reference, text)
    return text.replace("``", "`")


def reference(match: re.Match[str]) -> str:
    name = match[1]
    page = name.partition(".")[0]
    return f"[`{name}`]({page}.md)" if page in pages() else f"`{name}`"


def pages() -> set[str]:
    return {name for names in GROUPS.values() for name in names}


def sections(docstring: str) -> dict[str, str]:
    """The parts of a docstring by their titles; the text before all of them, and the examples."""
    found: dict[str, list[str]] = {"": []}
    title = ""
    for line in docstring.splitlines():
        if re.fullmatch(r"(Args|Returns|Raises):", line):
            title = line[:-1]
        elif line.startswith(">>> ") and title != "":
            title = "Examples"
        elif title in ("Args", "Returns", "Raises") and line and not line.startswith(" "):
            title = ""
        found.setdefault(title, []).append(line)
    return {name: "\n".join(lines).strip("\n") for name, lines in found.items()}


def items(text: str) -> str:
    """`name: what it is` lines as a list."""
    made: list[str] = []
    for line in textwrap.dedent(text.partition("\n")[2]).splitlines():
        name, sign, rest = line.partition(": ")
        if sign and not line.startswith(" "):
            made.append(f"- `{name}`: {rest}")
        elif line.strip():
            made.append(f"  {line.strip()}")
    return "\n".join(made)


def with_examples(text: str) -> str:
    """Prose with its examples as blocks of code."""
    made = []
    for part in re.split(r"\n\s*\n", text):
        if part.startswith(">>> "):
            made.append(f"```python\n{part.rstrip()}\n\n```")
        elif part.strip():
            made.append(plain(part.strip("\n")))
    return "\n\n".join(made)


def body(docstring: str) -> str:
    parts = sections(inspect.cleandoc(docstring))
    made = [with_examples(parts[""])]
    if "Args" in parts:
        made.append("**Arguments**\n\n" + plain(items(parts["Args"])))
    if "Returns" in parts:
        made.append("**Returns** " + plain(textwrap.dedent(parts["Returns"].partition("\n")[2]).strip()))
    if "Raises" in parts:
        made.append("**Raises**\n\n" + plain(items(parts["Raises"])))
    if "Examples" in parts:
        made.append(with_examples(parts["Examples"]))
    return "\n\n".join(part for part in made if part)


def signature(name: str, function: object) -> str:
    """How it is called, without types."""
    try:
        found = inspect.signature(function)
    except ValueError:
        return name
    made = []
    for parameter in found.parameters.values():
        if parameter.name in ("self", "cls"):
            continue
        made.append(str(parameter.replace(annotation=inspect.Parameter.empty)).replace("'", '"').replace(" = ", "="))
    text = f"{name}({', '.join(keyword_only(found, made))})"
    return text if len(text) <= 110 else "\n".join([f"{name}(", *(f"    {line}," for line in keyword_only(found, made)), ")"])


def keyword_only(found: inspect.Signature, made: list[str]) -> list[str]:
    """Puts the star where keywords begin."""
    kinds = [parameter.kind for parameter in found.parameters.values() if parameter.name not in ("self", "cls")]
    if inspect.Parameter.KEYWORD_ONLY not in kinds:
        return made
    first = kinds.index(inspect.Parameter.KEYWORD_ONLY)
    return [*made[:first], "*", *made[first:]]


def imported(text: str) -> str:
    """A page whose first example imports what all of them use."""
    code = " ".join(re.findall(r"^(?:>>>|\.\.\.) .*$", text, re.M))
    code = re.sub(r"\buriscan\.\w+", "", code)
    names = sorted(name for name in uriscan.__all__ if re.search(rf"(?<![\w.\"']){name}\b", code))
    if not names:
        return text
    return text.replace("```python\n", f"```python\n>>> from uriscan import {', '.join(names)}\n", 1)


# Nobody makes them by calling the class.
MADE_ELSEWHERE = {"Set", "Adding", "SetPieces", "UriError", "SetError", "Column"}


def page(name: str) -> str:
    """The page of a public name."""
    value = getattr(uriscan, name)
    call = f"class uriscan.{name}" if name in MADE_ELSEWHERE else signature(f"uriscan.{name}", value)
    made = [f"# {name}", f"```text\n{call}\n```", body(inspect.getdoc(value) or "")]
    if inspect.isclass(value):
        # Those of native classes have no order.
        members = sorted(vars(value).items()) if value is uriscan.Column else vars(value).items()
        for member, of in members:
            inner = of.__func__ if isinstance(of, (classmethod, staticmethod)) else of
            text = inspect.getdoc(inner)
            is_value = isinstance(inner, property) or inspect.isgetsetdescriptor(inner)
            if member.startswith("_") or not text or not (callable(inner) or is_value):
                continue
            heading = f"## {member}\n\n"
            if callable(inner):
                heading += f"```text\n{signature(f'{name}.{member}', inner)}\n```\n\n"
            made.append(heading + body(text))
    return NOTE + imported("\n\n".join(made)) + "\n"


def equivalence() -> str:
    """The page of the keywords that functions share."""
    source = inspect.getsource(_options.Equivalence)
    found = re.findall(r"^    (\w+): [^\n]*\n    \"\"\"(.*?)\"\"\"", source, re.M | re.S)
    lines = [f"- `{name}`: {plain(' '.join(text.split()))}" for name, text in found]
    text = "When two values are equivalent: keywords that all functions which compare values take, as `**equivalence`."
    return NOTE + f"# Equivalence\n\n{text}\n\n" + "\n".join(lines) + "\n"


def index() -> str:
    made = [
        "# The Python package, function by function\n\nThe [README](../../python/README.md) shows what it is for. The keywords "
        "that say when two values are equivalent are on a [page of their own](equivalence.md)."
    ]
    for group, names in GROUPS.items():
        lines = []
        for name in names:
            first = inspect.getdoc(getattr(uriscan, name)).partition("\n\n")[0]
            first = re.split(r"(?<=[^.])\. |[:;] ", " ".join(first.split()) + " ")[0].strip().rstrip(".")
            lines.append(f"- [`{name}`]({name}.md): {plain(first)}")
        made.append(f"## {group}\n\n" + "\n".join(lines))
    return NOTE + "\n\n".join(made) + "\n"


def everything() -> dict[str, str]:
    """All pages by their names."""
    constants = {"AUDIT_RULES", "CHANGES", "__version__"}
    missing = set(uriscan.__all__) - pages() - constants
    if missing:
        raise SystemExit(f"python/docs.py: in no group: {', '.join(sorted(missing))}")
    made = {f"{name}.md": page(name) for name in sorted(pages())}
    return {"README.md": index(), "equivalence.md": equivalence(), **made}


def main(arguments: list[str]) -> int:
    wanted = everything()
    if "--check" in arguments:
        there = {path.name: path.read_text() for path in PAGES.glob("*.md")}
        wrong = sorted(name for name in wanted.keys() | there.keys() if wanted.get(name) != there.get(name))
        if wrong:
            print(f"docs/python: {', '.join(wrong)}: not what python/docs.py writes", file=sys.stderr)
        return int(bool(wrong))
    PAGES.mkdir(parents=True, exist_ok=True)
    for path in PAGES.glob("*.md"):
        path.unlink()
    for name, text in wanted.items():
        (PAGES / name).write_text(text)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
