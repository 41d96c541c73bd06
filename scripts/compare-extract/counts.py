#!/usr/bin/env python3
"""Compares the links that uriscan finds in pages, text and archives with those of independent extractors.

  counts.py html PAGE...     attributes that hold references, by lxml and by html5lib (which build the tree)
  counts.py warc ARCHIVE     URIs of records and links of pages, by warcio and lxml
  counts.py text FILE...     by the expression https?://[^\\s"<>]+ without trailing punctuation

Prints the number of equal links and every class of difference, with examples. Needs the Python packages lxml, html5lib
and warcio, as far as they are used. It is a report, not a test: the differences need to be reviewed.
"""

import collections
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
URISCAN = os.environ.get("URISCAN", os.path.join(ROOT, "target", "release", "uriscan"))
# Attributes with one reference each; the others (srcset, refresh) are parsed further.
ANY = {"href", "src", "cite", "poster", "background", "longdesc", "formaction"}
SOME = {("form", "action"), ("object", "data")}


def rows(*args, data=None):
    command = [URISCAN, "extract", "--jsonl", "-q", *args]
    done = subprocess.run(command, input=data, stdout=subprocess.PIPE, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_link(tag, name):
    return tag != "base" and (name in ANY or (tag, name) in SOME)


def by_tree(root):
    found = collections.Counter()
    for element in root.iter():
        if isinstance(element.tag, str):
            tag = element.tag.rsplit("}", 1)[-1].lower()
            for name in element.attrib:
                name = name.rsplit("}", 1)[-1].lower()
                found[name] += is_link(tag, name)
    return +found


def by_uriscan(data):
    found = rows("--from", "html", "--base", "http://base/", "-", data=data)
    return collections.Counter(row["context"] for row in found if row["context"] not in ("srcset", "refresh"))


def html(paths):
    import html5lib
    import lxml.html

    totals = collections.defaultdict(collections.Counter)
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        ours = by_uriscan(data)
        trees = {"html5lib": lambda: html5lib.parse(data, treebuilder="etree", namespaceHTMLElements=False),
                 "lxml": lambda: lxml.html.fromstring(data)}
        totals["uriscan"] += ours
        for name, parse in trees.items():
            theirs = by_tree(parse())
            totals[name] += theirs
            if theirs != ours:
                more, less = dict(ours - theirs), dict(theirs - ours)
                print(f"{path}: uriscan has {more} that {name} has not, and lacks {less}")
    for name, counts in totals.items():
        print(f"{name}: {sum(counts.values())} in {len(paths)} pages: {dict(sorted(counts.items()))}")


def warc(path):
    import lxml.html
    from warcio.archiveiterator import ArchiveIterator

    targets, links = [], 0
    with open(path, "rb") as file:
        for record in ArchiveIterator(file):
            target = record.rec_headers.get_header("WARC-Target-URI")
            if target:
                targets.append(target)
            if record.rec_type == "response" and "html" in (record.http_headers.get_header("Content-Type") or ""):
                page = record.content_stream().read()
                if page.strip():
                    links += sum(by_tree(lxml.html.fromstring(page)).values())
    ours = [row["uri"] for row in rows("--warc-field", "target", path)]
    print(f"URIs of records: warcio {len(targets)}, uriscan {len(ours)}, the same: {targets == ours}")
    ours = [row for row in rows(path) if row["context"] not in ("srcset", "refresh", "text")]
    print(f"links of pages: warcio and lxml {links}, uriscan {len(ours)}")


def text(paths):
    classes, examples, same, total = collections.Counter(), {}, 0, 0
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        theirs = {}
        for match in re.finditer(rb"https?://[^\s\"<>]+", data):
            theirs[match.start()] = match.group()
        ours = {row["byte"]: row["uri"].encode() for row in rows("--scheme", "http,https", "--from", "text", path)}
        reach = 0
        for at in sorted(theirs.keys() | ours.keys()):
            total += 1
            left, right = theirs.get(at), ours.get(at)
            is_inside, reach = at < reach, max(reach, at + len(right or b""))
            if left == right:
                same += 1
                continue
            if right is None:
                kind = "inside of another one" if is_inside else "no host behind it"
            elif left is None:
                kind = "only uriscan (letters in upper case, or inside of another one)"
            else:
                behind = left[len(right):len(right) + 1]
                kind = f"ends before {behind!r}" if left.startswith(right) else "other"
            classes[kind] += 1
            examples.setdefault(kind, (left, right))
    print(f"{total} places, {same} the same")
    for kind, count in classes.most_common():
        left, right = examples[kind]
        print(f"{count}\t{kind}\t{left!r:.100}\t{right!r:.100}")


def main():
    kinds = {"html": html, "warc": lambda paths: warc(*paths), "text": text}
    if len(sys.argv) < 3 or sys.argv[1] not in kinds:
        sys.exit(__doc__)
    kinds[sys.argv[1]](sys.argv[2:])


if __name__ == "__main__":
    main()
