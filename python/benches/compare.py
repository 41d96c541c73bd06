"""How fast the wheel makes keys, against the Rust kernel, ada's binding and w3lib; all answers are checked.

    pip install ./python -r python/requirements-bench.txt
    python python/benches/compare.py --lines 10000000

The corpus is that of `scripts/gen-corpus`. Wheel and kernel make the keys of the whole column, in turns; ada and w3lib, which
take one `str` after the other, normalize a sample of it, in the same turns; times are medians, per URL. Both have one thread,
as Python allows no second one; the wheel and the kernel are measured with one thread and with all.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import ada_url
import numpy
import pyarrow as pa
import w3lib.url

import uriscan

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts"))
import measure  # noqa: E402

KERNEL, WHEEL, ADA, W3LIB = "Rust kernel", "wheel", "ada-url", "w3lib"


def built(manifest: Path, example: str) -> str:
    """The example, built for release."""
    command = ["cargo", "build", "--release", "--locked", "--manifest-path", str(manifest), "--example", example]
    subprocess.run(command, check=True)
    target = os.environ.get("CARGO_TARGET_DIR", str(manifest.parent / "target"))
    return str(Path(target, "release", "examples", example))


class Kernel:
    """The process that runs the Rust kernel."""

    def __init__(self, program: str, corpus: str, threads: int) -> None:
        self.process = subprocess.Popen(
            [program, corpus, str(threads)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def run(self) -> tuple[float, int]:
        """Seconds, and the exclusive or of all keys."""
        assert self.process.stdin and self.process.stdout
        print(file=self.process.stdin, flush=True)
        nanoseconds, keys = self.process.stdout.readline().split()
        return int(nanoseconds) / 1e9, int(keys, 16)

    def end(self) -> None:
        """Ends it."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def exclusive_or(keys: pa.FixedSizeBinaryArray) -> int:
    """Of all keys."""
    halves = numpy.frombuffer(keys.buffers()[1], ">u8").reshape(-1, 2)
    high, low = numpy.bitwise_xor.reduce(halves, axis=0)
    return int(high) << 64 | int(low)


def ada(urls: list[str]) -> list[str | None]:
    """The normal form of each, by ada."""
    forms: list[str | None] = []
    for url in urls:
        try:
            forms.append(ada_url.normalize_url(url))
        except ValueError:
            forms.append(None)
    return forms


def canonical(urls: list[str]) -> list[str | None]:
    """The normal form of each, by w3lib."""
    forms: list[str | None] = []
    for url in urls:
        try:
            forms.append(w3lib.url.canonicalize_url(url))
        except ValueError:
            forms.append(None)
    return forms


def timed(work, *given):
    """Seconds, and the answer."""
    start = time.perf_counter()
    answer = work(*given)
    return time.perf_counter() - start, answer


def measured(column: pa.StringArray, corpus: str, program: str, threads: int, typed) -> dict[str, measure.Row]:
    """The times of each turn."""
    kernel = Kernel(program, corpus, threads)
    uriscan.set_threads(threads)
    samples = {ADA: column[: typed.ada_sample].to_pylist(), W3LIB: column[: typed.w3lib_sample].to_pylist()}
    sizes = {WHEEL: len(column), KERNEL: len(column), **{name: len(sample) for name, sample in samples.items()}}
    rows = {name: measure.Row(name, group=f"{threads} threads", records=size) for name, size in sizes.items()}
    for turn in range(typed.turns + 1):
        seconds, expected = kernel.run()
        found, keys = timed(uriscan.key, column)
        assert exclusive_or(keys) == expected, "wheel and kernel make other keys"
        by_ada, ada_forms = timed(ada, samples[ADA])
        by_w3lib, w3lib_forms = timed(canonical, samples[W3LIB])
        if turn == 0:
            # The first turn warms up.
            agree(ADA, ada_forms, samples[ADA], "whatwg")
            agree(W3LIB, w3lib_forms, samples[W3LIB], "w3lib")
            continue
        for name, one in (KERNEL, seconds), (WHEEL, found), (ADA, by_ada), (W3LIB, by_w3lib):
            rows[name].wall.append(one)
    kernel.end()
    return rows


def agree(name: str, forms: list[str | None], urls: list[str], profile: str) -> None:
    """That a peer does what we think it does: our profile of it gives the same forms."""
    ours = uriscan.normalize(urls, profile=profile, on_invalid="drop")
    differ = [(url, form, own) for url, form, own in zip(urls, forms, ours) if form != own]
    print(f"{name}: {len(urls) - len(differ)} of {len(urls)} forms are those of profile {profile}")
    for found in differ[:3]:
        print("   differs:", *map(repr, found))
    assert len(differ) <= len(urls) / 1000, "too many differ"


def main() -> int:
    """Measures, and says whether the bars hold."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--lines", type=int, default=10_000_000)
    parser.add_argument("--corpus", help="a file of URLs, instead of one that is made")
    parser.add_argument("--turns", type=int, default=7)
    parser.add_argument("--ada-sample", type=int, default=200_000)
    parser.add_argument("--w3lib-sample", type=int, default=20_000)
    typed = parser.parse_args()
    program = built(ROOT / "python" / "Cargo.toml", "kernel")
    with tempfile.TemporaryDirectory() as directory:
        corpus = typed.corpus
        if not corpus:
            corpus = os.path.join(directory, "corpus.txt")
            generator = built(ROOT / "Cargo.toml", "gen-corpus")
            made = [generator, "--lines", str(typed.lines), "--seed", "1", "-o", corpus]
            subprocess.run(made, check=True)
        lines = Path(corpus).read_bytes().split(b"\n")[:-1]
        column = pa.array(lines, pa.binary()).cast(pa.string())
        del lines
        print(f"{len(column)} URLs, {column.nbytes / len(column):.0f} bytes each with their offsets")
        print(measure.machine_line())
        held, rows = True, []
        for threads in sorted({1, os.cpu_count() or 1}):
            found = measured(column, corpus, program, threads, typed)
            rows += found.values()
            ratio = {name: row.cost() / found[WHEEL].cost() for name, row in found.items()}
            held &= ratio[KERNEL] >= 0.7
            if threads > 1 or os.cpu_count() == 1:
                held &= ratio[ADA] >= 15 and ratio[W3LIB] >= 100
    print(measure.table(rows))
    print("the bars hold" if held else "A BAR DOES NOT HOLD")
    return 0 if held else 1


if __name__ == "__main__":
    measure.main(main)
