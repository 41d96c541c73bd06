#!/usr/bin/env python3
"""Times programs and libraries that extract links from text, pages and archives, interleaved.

Inputs are read from DIRECTORY, if they exist:

  access.log   an access log in the Combined format; access.log.gz is made from it
  prose.txt    text with few links
  links.txt    text with many links
  pages/       HTML pages
  sitemaps/    sitemaps
  w.warc(.gz)  an archive by another writer, such as Python's warcio

A round runs every program once, A B C D, then A B C D again, so that a slow moment of the machine
affects all alike; the first round is not counted. Programs write to /dev/null. Wall clock and the
time of all cores are shown, since the machine may be busy. Libraries run on one thread, in memory,
in a program of their own (`peers`). rg, and FastWARC for the Python that runs this, are skipped
with a message if they are missing.
"""

import argparse
import glob
import gzip
import importlib.util
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
URISCAN = os.path.join(ROOT, "target", "release", "uriscan")
PEERS = os.path.join(ROOT, "scripts", "compare-extract", "target", "release", "peers")
PATTERN = r'https?://[^\s"<>]+'
# Typical use of FastWARC: every response, with its payload read.
FASTWARC = """
import sys
from fastwarc.warc import ArchiveIterator, WarcRecordType
count = 0
with open(sys.argv[1], "rb") as file:
    for record in ArchiveIterator(file, record_types=WarcRecordType.response, parse_http=True):
        count += len(record.reader.read())
"""


def cores():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def run(command):
    before, start = cores(), time.perf_counter()
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    if done.returncode:
        sys.exit(f"{command[0]}: {done.stderr.decode(errors='replace').strip()}")
    return time.perf_counter() - start, cores() - before


def compare(title, peers, runs):
    """Prints a table of `peers`, (name, command); ratios are to the last one's."""
    times = [[] for _ in peers]
    for i in range(runs + 1):
        for found, (_, command) in zip(times, peers):
            taken = run(command)
            if i:
                found.append(taken)
    rows = [[statistics.median(column) for column in zip(*found)] for found in times]
    print(f"\n{title}\n\n| program | wall, s | cores, s | wall of the last |\n| --- | ---: | ---: | ---: |")
    for (name, _), (wall, cpu) in zip(peers, rows):
        print(f"| {name} | {wall:.3f} | {cpu:.3f} | {wall / rows[-1][0]:.2f} |")
    sys.stdout.flush()


def libraries(title, kind, files, runs):
    print(f"\n{title}, libraries on one thread\n")
    sys.stdout.flush()
    subprocess.run([PEERS, kind, *files, str(runs)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("directory")
    parser.add_argument("runs", nargs="?", type=int, default=5)
    args = parser.parse_args()
    at = lambda *names: os.path.join(args.directory, *names)
    there = lambda name: os.path.exists(at(name))
    uriscan = lambda *rest: [URISCAN, "extract", "-j2", *rest]
    rg = lambda name: [("rg -oN", ["rg", "-oN", PATTERN, at(name)])] if shutil.which("rg") else []
    for name in ("access.log", "prose.txt", "links.txt"):
        if there(name):
            text = ("uriscan --from text", uriscan("--from", "text", at(name)))
            peers = [("uriscan", uriscan(at(name))), text, ("wc -l", ["wc", "-l", at(name)])]
            compare(name, peers + rg(name), args.runs)
            libraries(name, "text", [at(name)], args.runs)
    if there("access.log"):
        packed = at("access.log.gz")
        if not os.path.exists(packed):
            with open(at("access.log"), "rb") as plain, gzip.open(packed, "wb", 6) as out:
                shutil.copyfileobj(plain, out, 1 << 20)
        peers = [("uriscan", uriscan("--from", "text", packed)), ("inflate", [PEERS, "inflate", packed, "0"])]
        compare("access.log.gz", peers, args.runs)
    if there("pages"):
        compare("pages", [("uriscan", uriscan("--base", "http://h/", at("pages")))] + rg("pages"), args.runs)
        pages = glob.glob(at("pages", "**", "*.html"), recursive=True)
        libraries("pages", "html", sorted(pages)[:5000], args.runs)
    if there("sitemaps"):
        compare("sitemaps", [("uriscan", uriscan(at("sitemaps")))] + rg("sitemaps"), args.runs)
        libraries("sitemaps", "xml", sorted(glob.glob(at("sitemaps", "*.xml"))), args.runs)
    has_fastwarc = importlib.util.find_spec("fastwarc")
    for name in ("w.warc", "w.warc.gz"):
        if there(name):
            peers = [("uriscan", uriscan(at(name)))]
            peers.append(("uriscan --warc-field target", uriscan("--warc-field", "target", at(name))))
            if has_fastwarc:
                peers.append(("FastWARC, responses read", [sys.executable, "-c", FASTWARC, at(name)]))
            compare(name, peers, args.runs)
    for name, found in (("rg", shutil.which("rg")), ("FastWARC", has_fastwarc)):
        if not found:
            print(f"\n{name} is not there and was left out.")


if __name__ == "__main__":
    main()
