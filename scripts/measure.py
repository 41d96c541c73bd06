#!/usr/bin/env python3
"""The harness of all that is measured and compared here: interleaved rounds, answers, one table, one record.

    scripts/measure.py [--rounds 5] COMMAND...     compares commands of the shell, such as two builds or two options:

    scripts/measure.py 'uriscan dedup list.txt' 'uriscan dedup -c list.txt' 'wc -l list.txt'

A round runs every program once, in turn, so that a slow moment of the machine affects all alike; medians count, and ratios
are to the first program of a group. One untimed round comes first: it brings the files into the page cache and counts the
lines that come out, which must be those that are expected, if they are known, and the same for all programs to which the same
lines are equal. Timed rounds write to /dev/null. Seconds are wall clock of the whole process; CPU and peak memory are those of
wait4(2); a peak that is not above that of the harness is unknown (-).

The record is benches/results.jsonl, a JSON object a line. Every line says when, where and of what it was measured: `date`,
`commit`, `cpu`, `isa` (the widest instruction set of the CPU), `cores`, `rustc`. What was measured is in `instructions` (of a loop:
instructions and mispredicted branches per record, by the backend avx2), in `benches` (of a bench: the median in nanoseconds per
record), or in `speed` (programs side by side, which scripts/draw-speed draws).
"""

import argparse
import contextlib
import datetime
import importlib.metadata
import json
import os
import pathlib
import platform
import re
import resource
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "benches/results.jsonl"
TARGET = pathlib.Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).absolute()
URISCAN = TARGET / "release/uriscan"
PEERS = TARGET / "release/peers"


# ---- the machine, and what is built on it


def output_of(*command):
    """What `command` prints, or "?" if it cannot be run."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "?"


def of_cpu(field):
    """A field of /proc/cpuinfo, or an empty string."""
    with contextlib.suppress(OSError):
        found = re.search(rf"^{field}\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        return found[1] if found else ""
    return ""


def isa():
    """The widest instruction set of the CPU among those that backends use."""
    flags = of_cpu("flags").split()
    names = {"avx512vbmi": "avx512vbmi", "avx2": "avx2", "ssse3": "ssse3"}
    return next((name for flag, name in names.items() if flag in flags), platform.machine())


def cores():
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()


def rustc():
    """The version of the compiler, without its date."""
    return " ".join(output_of("rustc", "--version").split()[:2])


def commit():
    """The commit that is checked out, and whether something differs from it besides the results."""
    changed = output_of("git", "status", "--porcelain", "--", ".", f":!{FILE.relative_to(ROOT)}")
    return output_of("git", "rev-parse", "--short=12", "HEAD") + (" and changes" if changed else "")


def machine():
    """When, where and of what something is measured: the head of a line of the record."""
    return {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "cpu": of_cpu("model name") or platform.processor() or platform.machine(),
        "cores": cores(),
        "isa": isa(),
        "rustc": rustc(),
    }


def machine_line():
    """The same in one line, with memory and load."""
    ram = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    is_ = machine()
    return (f"{is_['cpu']} ({is_['isa']}), {is_['cores']} cores, {ram:.0f} GiB, load {os.getloadavg()[0]:.1f} before; "
            f"{is_['rustc']}; commit {is_['commit']}; {is_['date']}")  # fmt: skip


def build():
    """Builds the program as it is released; its path."""
    subprocess.run(["cargo", "build", "--release", "--locked", "--quiet", "-p", "uriscan-cli"], cwd=ROOT, check=True)
    return URISCAN


def build_peers():
    """Builds the peers with link-time optimization, which is without effect on the program; that of C++ if there is a compiler."""
    command = ["cargo", "build", "--release", "--locked", "--quiet", "--manifest-path", ROOT / "scripts/compare/Cargo.toml"]
    command += ["--target-dir", TARGET, "--config", 'profile.release.lto="fat"', "--config", "profile.release.codegen-units=1"]
    subprocess.run(command + (["--features", "ada"] if shutil.which("c++") else []), check=True)


def corpus(path, *arguments):
    """Writes a corpus to `path` by scripts/gen-corpus unless it is there; the counts known from how it is made."""
    counts = pathlib.Path(f"{path}.json")
    if not counts.exists():
        subprocess.run([ROOT / "scripts/gen-corpus", *arguments, "-o", path, "--expect", counts], check=True)
    return json.loads(counts.read_text())


def with_packages(*packages):
    """Runs this script again with a Python that has the packages, installed into the target directory as far as possible."""
    import venv  # Only here: what is imported adds to the least peak that can be measured.

    home = TARGET / "measure"
    if os.path.realpath(sys.prefix) != os.path.realpath(home):
        if not (home / "bin/python").exists():
            venv.create(home, with_pip=True)
        os.execv(home / "bin/python", [home / "bin/python", *sys.argv])
    missing = [name for name in packages if not version(name)]
    if missing:
        subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", *missing], check=False)


def version(package):
    """The version of a Python package, or None."""
    with contextlib.suppress(importlib.metadata.PackageNotFoundError):
        return importlib.metadata.version(package)


# ---- rounds


class Row:
    """What was measured: of a program, or of a step in a process.

    `means` says which lines are equal to it: rows of the same meaning must have the same `answer`. `records` and `bytes` are the
    size of the input, `more` further columns.
    """

    def __init__(self, name, means="", group="", answer=None, wall=(), cpu=(), peak=(), records=None, bytes=None, more=()):
        self.name, self.means, self.group, self.answer = name, means, group, answer
        self.wall, self.cpu, self.peak = list(wall), list(cpu), list(peak)
        self.records, self.bytes, self.more = records, bytes, dict(more)

    def cost(self):
        """Seconds, or seconds per record."""
        return statistics.median(self.wall) / (self.records or 1)

    def record(self):
        """The row in the record: the arguments of `Row` that are not empty."""
        names = ("name", "means", "group", "answer", "wall", "cpu", "peak", "records", "bytes", "more")
        found = {name: getattr(self, name) for name in names if getattr(self, name) not in (None, "", [], {})}
        return {name: [round(one, 4) for one in value] if isinstance(value, list) else value for name, value in found.items()}


class Program(Row):
    """A program to run: its command, the answer that is known, why it cannot run here, and a short name to choose it by."""

    def __init__(self, name, command, means="", key=None, expected=None, missing=None, **rest):
        super().__init__(name, means, **rest)
        self.command, self.key, self.expected, self.missing = command, key or name, expected, missing


def run(program, is_counted):
    """One run: seconds, CPU seconds, peak bytes (0: unknown), and the number of lines that come out, if they are counted.

    The locale is the one in which sort, awk and grep compare bytes.
    """
    environment = dict(os.environ, LC_ALL="C", PYTHONIOENCODING="utf-8:surrogateescape")
    stdout = subprocess.PIPE if is_counted else subprocess.DEVNULL
    lines, piece = 0, bytearray(1 << 16)
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = subprocess.Popen(program.command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=errors, env=environment)
        while is_counted and (got := child.stdout.raw.readinto(piece)):
            lines += piece.count(b"\n", 0, got)
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        errors.seek(0)
        text = errors.read().decode(errors="replace")
    if child.returncode != 0:
        sys.exit(f"{program.name} ended with {child.returncode}: {text.strip()[-500:]}")
    reported = re.findall(r"^distinct (\d+)$", text, re.MULTILINE)
    answer = lines if is_counted else program.answer
    if reported and int(reported[-1]) != answer:
        sys.exit(f"{program.name} reports {reported[-1]} distinct lines, and not {answer}")
    # The peak survives exec: a child's that is not above the size of this process has no meaning.
    is_known = usage.ru_maxrss > resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return seconds, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024 if is_known else 0, answer


def interleave(programs, rounds):
    """Runs the programs in turn, without those that are missing; gives the others."""
    for program in programs:
        if program.missing:
            print(f"skipped {program.name}: {program.missing}", file=sys.stderr)
    programs = [program for program in programs if not program.missing]
    for program in programs:
        *_, program.answer = run(program, True)
        if program.expected not in (None, program.answer):
            sys.exit(f"{program.name} writes {program.answer} lines, and not {program.expected}")
    for _ in range(rounds):
        for program in programs:
            wall, cpu, peak, _ = run(program, False)
            for values, value in (program.wall, wall), (program.cpu, cpu), (program.peak, peak):
                values.append(value)
    return programs


def by_peers(*arguments):
    """The rows that the peers print, which interleave by themselves and check their answers."""
    rows = {}
    ran = subprocess.run([PEERS, *map(str, arguments)], stdout=subprocess.PIPE, check=True)
    for line in map(json.loads, ran.stdout.splitlines()):
        row = rows.setdefault((line["group"], line["name"]), Row(line["name"], group=line["group"], answer=line["answer"]))
        row.wall.append(line["wall"])
        row.cpu.append(line["cpu"])
        row.records, row.bytes = line.get("records"), line.get("bytes")
        if "stored" in line:
            row.more["bytes/record stored"] = f"{line['stored'] / line['answer']:.2f}"
    return sorted(rows.values(), key=lambda row: [group for group, _ in rows].index(row.group))


def disagreements(rows):
    """Sentences: meanings of "equal" by which rows of a group have different answers."""
    groups = {}
    for row in rows:
        if row.means and row.answer is not None:
            groups.setdefault((row.group, row.means), []).append(row)
    return [f"{means}: " + ", ".join(f"{row.name} {row.answer}" for row in alike)
            for (_, means), alike in groups.items() if len({row.answer for row in alike}) > 1]  # fmt: skip


# ---- the table and the record


def short(value):
    """A number with three significant digits."""
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}" if value >= 0.001 else f"{value:.2e}"


def cells(row, base):
    """The columns of a row by their names."""
    wall = statistics.median(row.wall)
    found = {"group": row.group, "program": f"`{row.name}`".replace("|", "\\|"), '"equal" means': row.means, "median s": short(wall)}
    if len(row.wall) > 1:
        found |= {"min": short(min(row.wall)), "max": short(max(row.wall))}
    if row.cpu:
        found["CPU s"] = short(statistics.median(row.cpu))
    if base:
        found["ratio"] = short(row.cost() / base.cost())
    if row.bytes:
        found["GB/s"] = short(row.bytes / wall / 1e9)
    if row.records:
        found["ns/record"] = short(1e9 * row.cost())
    if row.peak:
        found["peak MB"] = f"{statistics.median(row.peak) / 1e6:.0f}" if min(row.peak) else "-"
    if row.answer is not None:
        found["answer"] = f"{row.answer:,}"
    return found | row.more


def markdown(found):
    """A Markdown table of rows, each a dictionary of columns, without columns that are empty. Columns of words are on the left."""
    columns = list(dict.fromkeys(name for row in found for name in row if any(row.get(name) for row in found)))
    is_text = lambda name: not any(re.match(r"[+-]?[\d.]", row.get(name, "")) for row in found)
    lines = [" | ".join(columns), " | ".join("---" if is_text(name) else "---:" for name in columns)]
    lines += [" | ".join(row.get(name, "") for name in columns) for row in found]
    return "\n".join(f"| {line} |" for line in lines)


def table(rows, has_ratios=True):
    """The table of `rows`."""
    bases = {}
    for row in rows:
        bases.setdefault(row.group, row)
    return markdown([cells(row, bases[row.group] if has_ratios else None) for row in rows])


def append(**measured):
    """Adds a line to the record."""
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(machine() | measured) + "\n")


def last(kind):
    """The last line of the record with a member `kind`, or None."""
    lines = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()] if FILE.exists() else []
    return next((line for line in reversed(lines) if kind in line), None)


# ---- scripts


@contextlib.contextmanager
def section(title):
    """Prints what is done, and how long it took."""
    start = time.monotonic()
    print(f"\n== {title}", file=sys.stderr, flush=True)
    yield
    sys.stdout.flush()
    print(f"== {title}: {time.monotonic() - start:.1f} s", file=sys.stderr, flush=True)


def main(work):
    """Runs a script, prints how long it took, and exits with what `work` returns."""
    start = time.monotonic()
    try:
        sys.exit(work())
    except KeyboardInterrupt:
        sys.exit(130)
    finally:
        sys.stdout.flush()
        print(f"== total: {time.monotonic() - start:.1f} s", file=sys.stderr)


def parser(doc, **rest):
    """A parser of arguments with the text of a script as its help."""
    return argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter, **rest)


def compare_commands():
    arguments = parser(__doc__)
    arguments.add_argument("command", nargs="+", metavar="COMMAND")
    arguments.add_argument("--rounds", type=int, default=5)
    args = arguments.parse_args()
    print(f"{machine_line()}; {args.rounds} rounds\n", flush=True)
    rows = interleave([Program(command, ["sh", "-c", command]) for command in args.command], args.rounds)
    print(table(rows))


if __name__ == "__main__":
    main(compare_commands)
