"""The results that scripts/bench, scripts/check-instructions and scripts/record-speed keep: benches/results.jsonl, a JSON
object a line.

Every line says when, where and of what it was measured: `date`, `commit`, `cpu`, `cores`, `isa` (the widest instruction
set of the CPU) and `rustc`. What was measured is in `instructions` (of a loop: instructions and mispredicted branches per
record, by the backend avx2) or in `benches` (of a bench: the median in nanoseconds per record),
or in `speed` (whole programs side by side, as scripts/draw-speed draws them).
"""

import datetime
import json
import os
import pathlib
import platform
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "benches/results.jsonl"


def output_of(*command):
    """What `command` prints, or "?" when it cannot be run."""
    try:
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        return "?"


def cpu_model():
    """The name of the CPU as the system reports it."""
    try:
        found = re.search(r"^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        if found:
            return found[1]
    except OSError:
        pass
    return platform.processor() or platform.machine()


def isa():
    """The widest instruction set of the CPU among those that backends use."""
    try:
        flags = set(re.search(r"^flags\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1].split())
    except (OSError, TypeError):
        flags = set()
    names = {"avx512vbmi": "avx512vbmi", "avx512bw": "avx512", "avx2": "avx2", "ssse3": "ssse3"}
    return next((name for flag, name in names.items() if flag in flags), platform.machine())


def rustc():
    """The version of the compiler, without its date."""
    return " ".join(output_of("rustc", "--version").split()[:2])


def commit():
    """The commit that is checked out, and whether something differs from it besides the results."""
    changed = output_of("git", "status", "--porcelain", "--", ".", f":!{FILE.relative_to(ROOT)}")
    return output_of("git", "rev-parse", "--short=12", "HEAD") + (" and changes" if changed else "")


def append(**measured):
    """Adds a line to the file."""
    line = {
        "date": datetime.date.today().isoformat(),
        "commit": commit(),
        "cpu": cpu_model(),
        "cores": os.cpu_count(),
        "isa": isa(),
        "rustc": rustc(),
        **measured,
    }
    with FILE.open("a", encoding="utf-8") as file:
        file.write(json.dumps(line) + "\n")


def last(kind):
    """The last line with a member `kind`, or None."""
    if not FILE.exists():
        return None
    lines = [json.loads(line) for line in FILE.read_text("utf-8").splitlines()]
    return next((line for line in reversed(lines) if kind in line), None)
