#!/usr/bin/env python3
"""Times programs that deduplicate a list of URIs, interleaved, and prints a Markdown table.

A round runs every program once, A B C D, then A B C D again, so that a slow moment of the machine
affects all alike. Before the timed rounds each program runs once untimed with its output lines
counted: this brings FILE into the page cache and determines the result, which a program that reports
its own count must repeat in every round. Timed runs write to /dev/null. Seconds are wall clock of
the whole process; memory is the peak resident size from wait4(2).

Programs with the same definition of equality must report the same number; otherwise the exit code is 1.
A program that is missing is skipped with a message; one that fails is skipped too, and the exit
code is 2. Only the standard library is used, and as little of it as possible: a child's peak
starts at the size of this process, so smaller ones are shown as "<".
"""

import argparse
import hashlib
import json
import os
import resource
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
URISCAN = os.path.join(ROOT, "target", "release", "uriscan")
PEERS = os.path.join(ROOT, "scripts", "compare-peers", "target", "release", "peers")
ADA = os.path.join(ROOT, "scripts", "compare-peers", "ada", "target", "release", "peer-ada")
TEMP = tempfile.gettempdir()


class Peer:
    """One program: its name in the table, what is "same" to it, and its command line.

    `missing` is why it cannot run here, or None. Peers with the same `key` must agree on the
    count, unless the list holds something of `upset_by` (names from SIGNS): then this one cuts
    lines by a rule of its own.
    """

    def __init__(self, name, key, command, missing=None, upset_by=()):
        self.name, self.key, self.command, self.missing = name, key, command, missing
        self.upset_by = set(upset_by)
        # A note below the table.
        self.note = None
        self.seconds, self.peaks, self.distinct = [], [], None


CR, SPACE, EMPTY, NUL, DELIMITER, MARK = SIGNS = (
    "CR", "white space around lines", "empty lines", "NUL", "the byte 01", "a byte order mark")
FOUND_BY = {
    CR: (b"\r",),
    SPACE: tuple(p for w in (b" ", b"\t", b"\x0b", b"\x0c") for p in (b"\n" + w, w + b"\n")),
    EMPTY: (b"\n\n",),
    NUL: (b"\0",),
    DELIMITER: (b"\x01",),
}


class Survey:
    """One pass over FILE: its size, its hash, and what could set byte-wise peers apart."""

    def __init__(self, path):
        self.bytes, self.lines, self.utf8, self.odd = 0, 0, True, set()
        digest, before, cut = hashlib.sha256(), b"\n", b""
        with open(path, "rb") as file:
            # Small chunks: the peak of this process hides that of its children.
            while chunk := file.read(1 << 16):
                if self.bytes == 0 and chunk.startswith(b"\xef\xbb\xbf"):
                    self.odd.add(MARK)
                self.bytes += len(chunk)
                self.lines += chunk.count(b"\n")
                digest.update(chunk)
                # With the byte before, so that no pair is missed between two chunks.
                seen = before + chunk
                for sign, marks in FOUND_BY.items():
                    if sign not in self.odd and any(mark in seen for mark in marks):
                        self.odd.add(sign)
                before = chunk[-1:]
                if self.utf8 and (cut or not chunk.isascii()):
                    self.utf8, cut = utf8_so_far(cut + chunk)
        self.utf8 = self.utf8 and not cut
        # A last line without LF.
        self.lines += before != b"\n"
        if before in (b" ", b"\t", b"\x0b", b"\x0c"):
            self.odd.add(SPACE)
        self.sha256 = digest.hexdigest()


def utf8_so_far(text):
    """Whether `text` is UTF-8 up to a cut character at its end, and that character's bytes."""
    try:
        text.decode()
    except UnicodeDecodeError as error:
        cut = error.reason == "unexpected end of data"
        return cut, text[error.start :] if cut else b""
    return True, b""


def quoted(text):
    """An SQL string."""
    return "'" + text.replace("'", "''") + "'"


def duckdb_peer(path, survey):
    """DISTINCT over whole lines: one column, a delimiter that never occurs, no quoting."""
    upset_by = {CR, NUL, DELIMITER, MARK}
    # Only UTF-8 goes in as text; Latin-1 maps every byte to a character of its own, so that
    # distinct lines stay distinct.
    encoding = "" if survey.utf8 else ", encoding='latin-1'"
    # The progress bar would go to standard output, among the lines.
    sql = (
        f"SET threads=2; SET enable_progress_bar=false; SET preserve_insertion_order=false; "
        f"SET temp_directory={quoted(TEMP)}; "
        f"COPY (SELECT DISTINCT line FROM read_csv({quoted(path)}, columns={{'line': 'VARCHAR'}}, "
        "auto_detect=false, header=false, delim='\x01', quote='', escape='', comment='', "
        f"strict_mode=false, max_line_size=20000000{encoding})) "
        "TO '/dev/stdout' (FORMAT csv, HEADER false, DELIMITER '\x01', QUOTE '', ESCAPE '');"
    )
    cli = shutil.which("duckdb")
    if cli:
        return Peer("duckdb", "bytes", [cli, "-c", sql], None, upset_by)
    script = (
        "import duckdb, sys\n"
        "count = duckdb.connect().execute(sys.argv[1]).fetchone()[0]\n"
        "print('distinct', count, file=sys.stderr)\n"
    )
    missing = None
    for _ in range(2):
        # The second time the module's files are in the page cache, as in the timed rounds.
        start = time.perf_counter()
        probe = subprocess.run([sys.executable, "-c", "import duckdb; duckdb.connect()"],
                               stderr=subprocess.DEVNULL)
        seconds = time.perf_counter() - start
    if probe.returncode != 0:
        missing = "neither a duckdb program nor a duckdb module for Python"
    peer = Peer("duckdb", "bytes", [sys.executable, "-c", script, sql], missing, upset_by)
    peer.note = f"duckdb runs as a Python module: some {seconds:.2f} s of its time is starting it."
    return peer


def uriscan_missing():
    """Why uriscan cannot be timed, or None: it must keep one of two equal lines."""
    if not os.access(URISCAN, os.X_OK):
        return "not built"
    with tempfile.NamedTemporaryFile(suffix=".txt") as two:
        two.write(b"http://a/\nhttp://a/\n")
        two.flush()
        probe = subprocess.run([URISCAN, "dedup", two.name], capture_output=True)
    if probe.returncode == 0 and probe.stdout == b"http://a/\n":
        return None
    return "the program has no working `dedup` yet"


def peers(path, survey):
    """Every program there is, in the order of a round."""
    ours = uriscan_missing()
    theirs = None if os.access(PEERS, os.X_OK) else "not built"
    awk = shutil.which("mawk") or shutil.which("gawk") or shutil.which("awk")
    awk_name = os.path.basename(awk) if awk else "awk"
    scheme, syntax = "RFC 3986, 6.2.3", "RFC 3986, 6.2.2 + default ports"
    fluent = Peer("fluent-rayon", syntax, [PEERS, "fluent-rayon", "-j", "2", path], theirs)
    fluent.note = "fluent-rayon does not keep the order of the list."
    # Another reading of the standard: the counts may differ by a few.
    missing = None if os.access(ADA, os.X_OK) else "not built, as that needs a C++ compiler"
    ada = Peer("ada", "WHATWG by ada-url", [ADA, "-j", "2", path], missing)
    ada.note = "ada does not keep the order of the list."
    return [
        Peer("uriscan-j2", scheme, [URISCAN, "dedup", "-j2", path], ours),
        Peer("uriscan-j1", scheme, [URISCAN, "dedup", "-j1", path], ours),
        Peer("uriscan-string", "bytes", [URISCAN, "dedup", "-j2", "--rung", "string", path], ours,
             {CR, SPACE, EMPTY, MARK}),
        Peer("wc", "-", ["wc", "-l", path]),
        fluent,
        Peer("uriscan-whatwg", "WHATWG", [URISCAN, "dedup", "-j2", "--profile", "whatwg", path], ours),
        Peer("url-set", "WHATWG", [PEERS, "url-set", path], theirs),
        ada,
        Peer("sort", "bytes", ["sort", "-u", "--parallel=2", "-T", TEMP, path]),
        Peer(awk_name, "bytes", [awk, "!s[$0]++", path], None if awk else "no awk here", {NUL}),
        duckdb_peer(path, survey),
    ]


class Failed(Exception):
    """A program did not do its job; the text says which and how."""


def spawn(peer, stdout, stderr):
    """Starts a program with the locale that makes sort and awk compare bytes."""
    environment = dict(os.environ, LC_ALL="C")
    return subprocess.Popen(peer.command, stdin=subprocess.DEVNULL, stdout=stdout, stderr=stderr,
                            env=environment)


def finish(peer, child, errors):
    """Waits for a program; returns its rusage and the count it reported, or None."""
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    errors.seek(0)
    text = errors.read().decode(errors="replace")
    if child.returncode != 0:
        raise Failed(f"ended with {child.returncode}: {text.strip()[-500:]}")
    words = [line.split() for line in text.splitlines()]
    counts = [int(w[1]) for w in words if len(w) == 2 and w[0] == "distinct" and w[1].isdecimal()]
    return usage, counts[-1] if counts else None


def answer(peer):
    """The untimed run: counts the lines that come out."""
    with tempfile.TemporaryFile() as errors:
        child = spawn(peer, subprocess.PIPE, errors)
        lines = 0
        piece = bytearray(1 << 16)
        with child.stdout as pipe:
            while got := pipe.raw.readinto(piece):
                lines += piece.count(b"\n", 0, got)
        _, reported = finish(peer, child, errors)
    if reported is not None and reported != lines:
        raise Failed(f"reports {reported} distinct but writes {lines} lines")
    return lines


def timed(peer):
    """One timed run: seconds and peak bytes."""
    with tempfile.TemporaryFile() as errors:
        start = time.perf_counter()
        child = spawn(peer, subprocess.DEVNULL, errors)
        usage, reported = finish(peer, child, errors)
        seconds = time.perf_counter() - start
    if reported is not None and reported != peer.distinct:
        raise Failed(f"reports {reported} distinct, {peer.distinct} before")
    peer.seconds.append(seconds)
    peer.peaks.append(usage.ru_maxrss * 1024)


def median(values):
    """The middle value, or the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    return ordered[half] if len(ordered) % 2 else (ordered[half - 1] + ordered[half]) / 2


def first_line(command):
    """What a program says first, or "unknown"."""
    try:
        run = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    except OSError:
        return "unknown"
    return (run.stdout.splitlines() or ["unknown"])[0]


def machine():
    """CPU, cores, compiler, commit and date in one line."""
    cpu = "unknown CPU"
    try:
        with open("/proc/cpuinfo", encoding="utf-8") as info:
            names = [line.split(":", 1)[1] for line in info if line.startswith("model name")]
        cpu = names[0].strip() if names else cpu
    except OSError:
        pass
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    changed = subprocess.run(["git", "status", "--porcelain", "--untracked-files=no"],
                             capture_output=True, cwd=ROOT).stdout
    commit = first_line(["git", "rev-parse", "--short=12", "HEAD"])
    commit += " (changed)" if changed else ""
    load = f"load {os.getloadavg()[0]:.1f} before"
    date = time.strftime("%Y-%m-%d", time.gmtime())
    rustc = first_line(["rustc", "--version"])
    return f"{cpu}, {cores} cores, {load}, {rustc}, commit {commit}, {date}"


def disagreements(ran, survey):
    """Sentences: notions of "same" on which programs disagree. Prints where they agree."""
    found = []
    for peer in ran:
        if peer.upset_by & survey.odd:
            why = ", ".join(sorted(peer.upset_by & survey.odd))
            print(f"\nNot compared: the count of {peer.name}, as the list holds {why}.")
    for key in sorted({peer.key for peer in ran} - {"-"}):
        group = [peer for peer in ran if peer.key == key and not peer.upset_by & survey.odd]
        if len({peer.distinct for peer in group}) > 1:
            found.append(f"{key}: " + ", ".join(f"{peer.name} {peer.distinct}" for peer in group))
        elif len(group) > 1:
            names = ", ".join(peer.name for peer in group)
            print(f"\nAgreed: {names}: {group[0].distinct} distinct ({key}).")
    return found


def table(ran, base):
    """The Markdown table, ratios being medians over the base's median."""
    # ru_maxrss counts in KiB and survives exec: a value not above this size has no meaning.
    floor = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print("| program | same means | median s | min | max | ratio | peak MB | distinct |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    for peer in ran:
        mid, low, high = median(peer.seconds), min(peer.seconds), max(peer.seconds)
        ratio = f"{mid / median(base.seconds):.2f}" if base else "-"
        distinct = "-" if peer.key == "-" else peer.distinct
        peak = median(peer.peaks)
        megabytes = f"{peak / 1e6:.0f}" if peak > floor else f"< {floor / 1e6:.0f}"
        print(f"| {peer.name} | {peer.key} | {mid:.3f} | {low:.3f} | {high:.3f} | {ratio} "
              f"| {megabytes} | {distinct} |")


def arguments():
    """The command line."""
    def names(text):
        return [name for name in text.split(",") if name]

    parser = argparse.ArgumentParser(
        prog="compare-peers.sh", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", metavar="FILE", help="one URI per line, not compressed")
    parser.add_argument("runs", nargs="?", type=int, default=5, metavar="RUNS",
                        help="timed rounds (default 5)")
    parser.add_argument("--only", type=names, default=[], metavar="A,B", help="run no others")
    parser.add_argument("--skip", type=names, default=[], metavar="A,B", help="leave these out")
    parser.add_argument("--base", metavar="NAME", help="ratios are to this one "
                        "(default uriscan-j2, or fluent-rayon without it)")
    parser.add_argument("--json", metavar="OUT", help="also write every single time to OUT")
    parser.add_argument("--list", action="store_true", help="list the programs and stop")
    args = parser.parse_args()
    if not args.list and (args.file is None or not os.path.isfile(args.file)):
        parser.error("FILE is missing or no regular file")
    if args.runs < 1:
        parser.error("RUNS must be at least 1")
    return parser, args


def chosen(parser, args, everyone):
    """The programs to run; says which are left out for want of something."""
    known = {peer.name for peer in everyone}
    for name in args.only + args.skip + ([args.base] if args.base else []):
        if name not in known:
            parser.error(f"no program {name!r}; there are: {', '.join(p.name for p in everyone)}")
    wanted = [peer for peer in everyone
              if (not args.only or peer.name in args.only) and peer.name not in args.skip]
    for peer in wanted:
        if peer.missing:
            print(f"skipped {peer.name}: {peer.missing}", file=sys.stderr)
    return [peer for peer in wanted if not peer.missing]


def main():
    parser, args = arguments()
    if args.list:
        for peer in peers("FILE", Survey(os.devnull)):
            print(f"{peer.name:15} {peer.key:32} {peer.missing or 'ready'}")
        return 0
    path = os.path.abspath(args.file)
    survey = Survey(path)
    ran = chosen(parser, args, peers(path, survey))
    if not ran:
        print("nothing to run", file=sys.stderr)
        return 2
    line = machine()
    print(f"{line}\n\n{os.path.basename(path)}: {survey.lines} lines, {survey.bytes} bytes, "
          f"sha256 {survey.sha256[:16]}; {args.runs} rounds, interleaved\n", flush=True)
    failed = []
    for round in range(args.runs + 1):
        for peer in ran:
            try:
                if round == 0:
                    peer.distinct = answer(peer)
                else:
                    timed(peer)
            except Failed as error:
                failed.append(peer)
                print(f"left out {peer.name}: {error}", file=sys.stderr)
        ran = [peer for peer in ran if peer not in failed]
    if not ran:
        return 2
    by_name = {peer.name: peer for peer in ran}
    base = by_name.get(args.base or "uriscan-j2") or by_name.get("fluent-rayon")
    table(ran, base)
    if base:
        print(f"\nRatios are to {base.name}.")
    for peer in ran:
        if peer.note:
            print(f"\n{peer.note}")
    found = disagreements(ran, survey)
    if args.json:
        rows = [{"program": p.name, "key": p.key, "command": shlex.join(p.command),
                 "distinct": p.distinct, "seconds": p.seconds, "peak_bytes": p.peaks} for p in ran]
        with open(args.json, "w", encoding="utf-8") as out:
            report = {"machine": line, "file": os.path.basename(path), "lines": survey.lines,
                      "bytes": survey.bytes, "sha256": survey.sha256, "programs": rows}
            json.dump(report, out, indent=1)
            out.write("\n")
    for sentence in found:
        print(f"DISAGREE on {sentence}", file=sys.stderr)
    return 2 if failed else 1 if found else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
