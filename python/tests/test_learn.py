"""Rules are those that the program learns from the same rows."""

import os
import subprocess
from pathlib import Path

import pytest
from learning import SITES, hostile, rows

import uriscan
from uriscan._learn import Learning

PROGRAM = os.environ.get("URISCAN_PROGRAM") or Path(__file__).resolve().parents[2] / "target" / "debug" / "uriscan"
needs_program = pytest.mark.skipif(not os.path.exists(PROGRAM), reason="there is no program to compare with; URISCAN_PROGRAM names one")


def learned(made, **keywords):
    urls, same, canonical, redirect = zip(*made)
    return uriscan.learn(list(urls), list(same), canonical=list(canonical), redirect=list(redirect), **keywords)


NUMBERS = ["urls", "pages", "right", "wrong", "precision", "recall", "lost", "saved", "possible"]


def of_program(made, tmp_path, *options):
    path = tmp_path / "rows.csv"
    # CSV has the same empty field for null and for an empty text.
    lines = [",".join(value or "" for value in row) for row in made]
    path.write_text("\n".join(["url,same,canonical,redirect", *lines, ""]), "utf-8")
    columns = ["--column", "url", "--same", "same", "--canonical", "canonical", "--redirect", "redirect"]
    done = subprocess.run([PROGRAM, "learn", "rows.csv", *columns, *options], capture_output=True, cwd=tmp_path, check=True)
    return done.stdout.decode()


@needs_program
def test_the_file_is_that_of_the_program(tmp_path):
    made = rows()
    found = learned(made, name="rows.csv")
    assert found.text == of_program(made, tmp_path)
    assert found.sites == len(SITES) and found.sites_with_rules == len(SITES) and found.wrong == 0
    strict = learned(made, precision=0.5, min_pages=3, confidence=0.9, date="2026-11-27", max_memory="64M", temp_dir=tmp_path, name="rows.csv")
    options = ["--precision", "0.5", "--min-pages", "3", "--confidence", "0.9", "--date", "2026-11-27"]
    assert strict.text == of_program(made, tmp_path, *options)


def test_the_order_of_rows_does_not_matter():
    assert learned(rows(seed=1)).text == learned(rows(seed=2)).text


LOOSE = {"precision": 0.5, "confidence": 0.5, "min_pages": 2}
"""Much is a rule then, and much is a comment."""


@needs_program
def test_hostile_rows_are_those_of_the_program(tmp_path):
    pa = pytest.importorskip("pyarrow")
    pq = pytest.importorskip("pyarrow.parquet")
    names, columns = ["url", "same", "canonical", "redirect"], [pa.array(column, pa.binary()) for column in zip(*hostile())]
    pq.write_table(pa.table(dict(zip(names, columns))), tmp_path / "rows.parquet")
    options = ["--precision", "0.5", "--confidence", "0.5", "--min-pages", "2", "--column", "url"]
    options += [word for name in names[1:] for word in (f"--{name}", name)]
    done = subprocess.run([PROGRAM, "learn", "rows.parquet", *options], capture_output=True, cwd=tmp_path, check=True)
    found = uriscan.learn(columns[0], columns[1], canonical=columns[2], redirect=columns[3], name="rows.parquet", **LOOSE)
    assert found.text.encode() == done.stdout
    assert found.rules > 5 and found.invalid > 100


@pytest.mark.parametrize("seed", range(3))
def test_sites_that_are_learned_apart_make_the_same_file(seed):
    made = hostile(seed=seed)

    def part(some):
        learning = Learning(*LOOSE.values(), None, None, None)
        url, *others = ([row[field] for row in some] for field in range(4))
        # A list without a value is one of text.
        learning.add(url, [column if any(column) else None for column in others])
        return learning

    whole = part(made)
    pa = pytest.importorskip("pyarrow")
    apart = {}
    for site, row in zip(pa.array(whole.sites([row[0] for row in made])).to_pylist(), made):
        apart.setdefault(site or row[0], []).append(row)
    parts = [part(some).finish() for some in apart.values() if some[0][0] is not None]
    found = whole.together(parts, ["rows"])
    assert found == whole.together([whole.finish()], ["rows"])
    assert found.sites > 10 and found.rules > 5


def test_what_has_no_digest_says_nothing():
    urls = [f"http://h.example/p{page}{query}" for page in range(80) for query in ("", "?ref=x")]
    found = uriscan.learn(urls, [None] * len(urls))
    assert (found.telling, found.rules, found.rows) == (0, 0, len(urls))
    assert found == uriscan.learn(urls, [""] * len(urls)) == uriscan.learn(urls)


def test_rules_are_used_as_they_were_written(tmp_path):
    learned(rows()).save(tmp_path / "rules.toml")
    urls = ["http://shop.example/p1?ref=x", "http://shop.example/p1", "http://shop.example/p1?page=1"]
    assert uriscan.dedup(urls, rules=[str(tmp_path / "rules.toml")]) == [urls[0], urls[2]]


def measured(made, rules, **keywords):
    urls, same, canonical, redirect = zip(*made)
    return uriscan.learn(list(urls), list(same), canonical=list(canonical), redirect=list(redirect), test=rules, **keywords)


@needs_program
@pytest.mark.parametrize("wrong", [False, True])
def test_rules_are_tested_with_the_numbers_of_the_program(tmp_path, wrong):
    learned(rows(seed=1)).save(tmp_path / "rules.toml")
    made = rows(pages=120, seed=2)
    if wrong:
        made += [(f"http://shop.example/v{page}?v={number}", f"{page} {number}", None, None) for page in range(9) for number in range(3)]
        (tmp_path / "rules.toml").write_text('[[site]]\nhosts = ["shop.example"]\ndrop = ["ref", "v"]\n')
    found = measured(made, tmp_path / "rules.toml")
    assert found.text == of_program(made, tmp_path, "--test", "rules.toml")
    assert measured(made, str(tmp_path / "rules.toml"), max_memory="64M", temp_dir=tmp_path) == found
    site, *numbers = found.text.splitlines()[-1].split("\t")
    shown = [getattr(found, name) for name in NUMBERS]
    assert site == "*" and numbers == [f"{it:.4f}" if isinstance(it, float) else str(it) for it in shown]
    assert (found.rows, found.sites, found.sampled) == (learned(made).rows, len(SITES), 0)
    assert (found.wrong > 0, found.lost > 0) == (wrong, wrong)


def test_rules_are_tested_on_nothing(tmp_path):
    (tmp_path / "rules.toml").write_text('rules = ["www"]\n')
    found = uriscan.learn([], test=tmp_path / "rules.toml")
    assert (found.rows, found.urls, found.precision, found.recall) == (0, 0, None, None)
    assert len(found.text.splitlines()) == 2


def test_what_cannot_be_tested_is_refused(tmp_path):
    (tmp_path / "rules.toml").write_text('rules = ["www"]\n')
    (tmp_path / "bad.toml").write_text("[[site]]")
    rules = tmp_path / "rules.toml"
    for keywords, message in [
        ({"test": tmp_path / "bad.toml"}, "bad.toml:1:1: "),
        ({"test": tmp_path / "none.toml"}, "none.toml: "),
        ({"test": rules, "precision": 0.5}, "omit them"),
        ({"test": rules, "date": "2026-11-27"}, "omit them"),
        ({"test": rules, "same": ["1", "2"]}, "different numbers of rows"),
    ]:
        with pytest.raises(ValueError, match=message):
            uriscan.learn(["http://h/"], **keywords)


def test_columns_of_any_type_are_evidence():
    pa = pytest.importorskip("pyarrow")
    urls = [f"http://h.example/p{page}{query}" for page in range(80) for query in ("", "?ref=x")]
    numbers = [page for page in range(80) for _ in range(2)]
    expected = uriscan.learn(urls, [str(number) for number in numbers])
    assert expected.rules == 1
    for same in (
        numbers,
        pa.array(numbers),
        pa.array(numbers, pa.int8()),
        pa.array([str(number) for number in numbers]).dictionary_encode(),
        pa.chunked_array([pa.array(numbers[:7]), pa.array(numbers[7:])]),
        pa.array([bytes([number, 0]) for number in numbers]),
    ):
        assert uriscan.learn(pa.array(urls), same) == expected


@pytest.mark.parametrize(
    "wrong, message",
    [
        ({"precision": 1.0}, "precision=1.0"),
        ({"confidence": -0.1}, "confidence=-0.1"),
        ({"min_pages": -1}, "min_pages=-1"),
        ({"max_memory": "1M"}, "64M or more"),
        ({"same": ["1", "2"]}, "different numbers of rows"),
    ],
)
def test_what_cannot_be_is_refused(wrong, message):
    with pytest.raises(ValueError, match=message):
        uriscan.learn(["http://h"], **wrong)


def test_urls_are_text():
    for urls in (7, "http://h", [7.5]):
        with pytest.raises(TypeError):
            uriscan.learn(urls if not isinstance(urls, list) else pytest.importorskip("pyarrow").array(urls))


def test_nothing_is_learned_from_nothing():
    assert uriscan.learn([]).rows == 0
    assert uriscan.learn(["http://h/", None]).rules == 0
