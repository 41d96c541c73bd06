"""``python -m uriscan``: the same bytes as the program writes."""

import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import polars
import pytest
from conftest import values

import uriscan

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("URISCAN_PROGRAM") or ROOT / "target" / "debug" / "uriscan"


def run(*arguments, given=b"", cwd=None, program=None):
    command = [program] if program else [sys.executable, "-m", "uriscan"]
    done = subprocess.run([*command, *map(str, arguments)], input=given, capture_output=True, cwd=cwd, timeout=120)
    return done.returncode, done.stdout, done.stderr.decode()


LINES = b"HTTP://Example.com:80/%7Ebob\nhttp://example.com/~bob\n\nno URI\nhttp://u:p@h/?utm_source=x\n//h/x\n"


def test_commands():
    assert run("normalize", given=LINES)[:2] == (
        0, b"http://example.com/~bob\nhttp://example.com/~bob\n\nno URI\nhttp://u:p@h/?utm_source=x\n//h/x\n",
    )  # fmt: skip
    assert run("normalize", "-e", "HTTP://h", "--preset", "crawl", "-e", "http://h/?utm_source=x")[1] == b"http://h/\n" * 2
    assert run("key", "-e", "HTTP://h")[1] == uriscan.key("http://h/").hex().encode() + b"\n"
    assert run("key", "--as", "surt", "-e", "http://www.h.de/")[1] == b"de,h,www)/\n"
    assert run("dedup", "-c", given=LINES)[1].splitlines()[0].split() == [b"2", b"HTTP://Example.com:80/%7Ebob"]
    assert json.loads(run("parse", "-e", "http://h:80/")[1])["port"] == "80"
    code, out, _ = run("check", given=LINES)
    assert code == 1 and out.startswith(b"-:4:3: space")
    code, out, _ = run("audit", "--select", "7.5", given=LINES)
    assert code == 1 and b"password" in out and b"rare" not in out
    assert run("audit", "-e", "http://h/")[:2] == (0, b"")
    assert run("extract", given=b"see http://a/ and (http://b/).")[1] == b"http://a/\nhttp://b/\n"
    assert run("extract", "--base", "http://h/", given=b"<!doctype html><a href=x>")[1] == b"http://h/x\n"
    assert run("explain", "http://h", "HTTP://h/")[1].endswith(b"equivalent at rung scheme: scheme-case, empty-path\n")
    assert json.loads(run("explain", "http://h", "--format", "jsonl")[1])["canonical"] == "http://h/"
    assert run("--version")[1].decode().startswith(f"uriscan {uriscan.__version__}")


def test_files(tmp_path):
    (tmp_path / "a.txt").write_bytes(LINES)
    (tmp_path / "b.txt.gz").write_bytes(gzip.compress(b"http://new/\nHTTP://H/\n"))
    code, out, err = run(
        "dedup", "a.txt", "b.txt.gz", "-o", "a.txt", "--rejects", "bad", "--dupes", "dupes", "--seen", "s", "--update", cwd=tmp_path
    )
    assert (code, out, err) == (0, b"", "")
    assert (tmp_path / "a.txt").read_text().split() == [
        "HTTP://Example.com:80/%7Ebob", "http://u:p@h/?utm_source=x", "http://new/", "HTTP://H/",
    ]  # fmt: skip
    assert (tmp_path / "bad").read_text() == "no URI\n//h/x\n"
    assert (tmp_path / "dupes").read_text() == "http://example.com/~bob\tHTTP://Example.com:80/%7Ebob\tscheme\n"
    assert len(uriscan.Set.open(tmp_path / "s")) == 4
    assert run("dedup", "a.txt", "--seen", "s", cwd=tmp_path)[:2] == (0, b"")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.txt", "b.txt.gz", "bad", "dupes", "s"]


def test_tables(tmp_path):
    polars.DataFrame({"url": ["HTTP://h", "http://h/", "http://i/"], "n": [1, 2, 3]}).write_parquet(tmp_path / "a.parquet")
    assert run("dedup", "--column", "url", "a.parquet", "-o", "b.csv", "--keep", "max:n", cwd=tmp_path) == (0, b"", "")
    assert (tmp_path / "b.csv").read_text() == "url,n\nhttp://h/,2\nhttp://i/,3\n"
    for command in "normalize", "key", "parse", "check", "audit":
        assert run(command, "--column", "url", "a.parquet", "-o", f"{command}.jsonl", cwd=tmp_path) == (0, b"", "")
        assert len((tmp_path / f"{command}.jsonl").read_text().splitlines()) == 3
    code, _, err = run("dedup", "--column", "link", "a.parquet", "-o", "b.csv", cwd=tmp_path)
    assert code == 2 and err == "uriscan: a.parquet: there is no column link; there are: url, n\n"


def test_duplicates_and_classes_of_lists_as_tables(tmp_path):
    (tmp_path / "a.txt").write_bytes(LINES)
    code, out, err = run(
        "dedup", "a.txt", "-o", "b", "--dupes", "dupes.parquet", "--clusters", "clusters.csv", "--hash", "sha256", cwd=tmp_path
    )
    assert (code, out, err) == (0, b"", "")
    (dupe,) = polars.read_parquet(tmp_path / "dupes.parquet").to_dicts()
    assert (dupe["line"], dupe["uri"]) == (2, "http://example.com/~bob")
    assert uriscan.key("http://example.com/~bob", hash="sha256") in dupe.values()
    assert len(polars.read_csv(tmp_path / "clusters.csv")) == 5
    # Without a table's name, and of no duplicates.
    arguments = ["dedup", "-o", "b", "--dupes", "none.arrow", "--clusters", "lines"]
    assert run(*arguments, given=b"http://h\n", cwd=tmp_path) == (0, b"", "")
    assert polars.read_ipc(tmp_path / "none.arrow").height == 0
    assert len((tmp_path / "lines").read_text().splitlines()) == 1


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["normalize", "/no/such/file"], "No such file or directory: '/no/such/file'"),
        (["normalize", "--rung", "protocol"], "invalid choice: 'protocol'"),
        (["normalize", "--pres", "crawl"], "unrecognized arguments"),
        (["normalize", "--preset", "none"], 'preset="none": there are'),
        (["dedup", "--update"], "--update needs --seen"),
        (["dedup", "--keep", "best"], 'keep="best": there are first'),
        (["dedup", "-d", "-u"], "either repeated or unique"),
        (["dedup", "--dupes", "d.csv.gz"], "d.csv.gz: "),
        (["dedup", "--seen", "/no/such/set"], "/no/such/set"),
        (["dedup", "--column", "url", "x.csv"], "--column needs -o"),
        (["parse", "--to", "xml"], "there are jsonl, tsv"),
        (["normalize", "--on-invalid", "error", "-e", "a b"], "space at column 2 (byte 1)"),
        (["explain", "a", "b", "c"], "one URI, or two"),
        ([], "required"),
    ],
    ids=str,
)
def test_errors(arguments, message):
    code, out, err = run(*arguments)
    assert (code, out) == (2, b"") and err.startswith("uriscan: ") and message in err, err


def test_a_reader_that_goes_away(tmp_path):
    (tmp_path / "a.txt").write_text("".join(f"http://h/{row}\n" for row in range(300_000)))
    command = f"{sys.executable} -m uriscan normalize a.txt | head -1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", command], cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert (done.stdout, done.stderr) == ("http://h/0\n0\n", "")


@pytest.mark.skipif(os.name != "posix", reason="signals are sent as on Unix")
def test_an_interrupt_leaves_nothing(tmp_path):
    command = [sys.executable, "-m", "uriscan", "dedup", "-o", "out", "--seen", "s", "--update"]
    child = subprocess.Popen(command, cwd=tmp_path, stdin=subprocess.PIPE)
    child.stdin.write(LINES)
    child.stdin.flush()
    until = time.monotonic() + 60
    while not list(tmp_path.glob(".out-*")) and time.monotonic() < until:
        time.sleep(0.05)
    child.send_signal(signal.SIGINT)
    assert child.wait(60) == 128 + signal.SIGINT
    assert not list(tmp_path.glob(".out-*")) and not (tmp_path / "out").exists()
    assert run("dedup", "--seen", "s", "--update", cwd=tmp_path, given=LINES)[0] == 0


@pytest.mark.skipif(not os.path.exists(PROGRAM), reason="there is no program to compare with; URISCAN_PROGRAM names one")
def test_against_the_program(tmp_path):
    lines = [value.replace("\n", " ") for value in values(61, 2000) if value is not None]
    (tmp_path / "list").write_text("\n".join(lines))
    for arguments in [
        "normalize", "normalize --preset crawl --rule www --no-rule session-id", "normalize --base http://b/a/ --repair --iri",
        "normalize --profile whatwg -0", "normalize --on-invalid drop --rung syntax", "key", "key --hash sha256",
        "key --as surt:ia", "key --as url", "dedup", "dedup -c", "dedup -d --keep shortest", "dedup -u", "dedup --rung string",
        "dedup --verify --keep max", "parse", "parse --to tsv --repair=space", "check", "check --to jsonl", "audit",
        "audit --to jsonl --ignore 7.2", "audit --to sarif", "extract", "extract --www --email --scheme any", "extract --from html --base http://h/",
        "extract --domain example.com,h --not-match x$ --not-match y --match ^h", "extract --not-host h --not-scheme ftp,urn --unsplit",
        "extract --log-format $host:$request --log-field target", "extract --from text --log-format $host:$request",
        "normalize --strict", "parse --strict",
    ]:  # fmt: skip
        expected = run(*arguments.split(), "list", "-q", cwd=tmp_path, program=PROGRAM)
        assert run(*arguments.split(), "list", cwd=tmp_path)[:2] == expected[:2], arguments
    for names in ["d.parquet c.parquet", "d.arrow c.tsv", "d.csv c.csv", "d.jsonl c.arrow", "d.tsv c.jsonl"]:
        dupes, clusters = names.split()
        made = []
        for program in PROGRAM, None:
            arguments = ["dedup", "list", "-o", "out", "--dupes", dupes, "--clusters", clusters, "--rung", "syntax"]
            assert run(*arguments, *(["-q"] if program else []), cwd=tmp_path, program=program)[0] == 0
            made.append([(tmp_path / name).read_bytes() for name in (dupes, clusters)])
        assert made[0] == made[1], names
    for arguments in ["http://h/%7e HTTP://H/~", "x", "http://h/?a#x http://h/?b"]:
        for more in [], ["--format", "jsonl"]:
            expected = run("explain", *arguments.split(), *more, program=PROGRAM)
            assert run("explain", *arguments.split(), *more)[:2] == expected[:2]
