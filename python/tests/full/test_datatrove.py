"""The example for datatrove, run by its local executor in a process of its own."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import values

import uriscan

pytest.importorskip("datatrove", reason="datatrove is not installed: pip install -r python/requirements-full.txt")

EXAMPLE = pathlib.Path(__file__).resolve().parents[2] / "examples" / "datatrove_urls.py"
TASKS = 3

PIPELINE = """
import json, sys
from datatrove.data import Document
from datatrove.executor import LocalPipelineExecutor
from datatrove_urls import UrlDedup, UrlKeys, remember

urls, keywords, tasks = json.load(open("urls.json")), json.loads(sys.argv[1]), int(sys.argv[2])

def read(data, rank, world_size):
    share = len(urls) // world_size
    for row in range(rank * share, len(urls) if rank == world_size - 1 else (rank + 1) * share):
        yield Document(text="text", id=str(row), metadata={} if urls[row] is None else {"url": urls[row]})

def write(data, rank, world_size):
    with open(f"kept-{rank}.json", "w") as file:
        json.dump([int(document.id) for document in data], file)

def execute(steps):
    LocalPipelineExecutor(steps, tasks=tasks, workers=1, logging_dir="logs", skip_completed=False).run()

execute([read, UrlKeys("keys", batch_size=70, **keywords)])
execute([read, UrlDedup("keys", seen="seen.set", batch_size=110, **keywords), write])
remember("keys", "seen.set", **keywords)
"""


@pytest.mark.parametrize("keywords", [{}, {"preset": "crawl"}], ids=str)
def test_one_document_of_every_url(tmp_path, keywords):
    expected = uriscan.Deduplicator(**keywords)
    for run in range(2):
        urls = values(101 + run, 900)
        (tmp_path / "urls.json").write_text(json.dumps(urls))
        done = subprocess.run(
            [sys.executable, "-c", PIPELINE, json.dumps(keywords), str(TASKS)], cwd=tmp_path, capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": str(EXAMPLE.parent)}, timeout=300,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr[-3000:]
        kept = [row for rank in range(TASKS) for row in json.loads((tmp_path / f"kept-{rank}.json").read_text())]
        assert kept == [row for row, first in enumerate(expected.is_first(urls)) if first is not False]
    assert len(uriscan.Set.open(tmp_path / "seen.set", **keywords)) == len(expected)
    assert sorted(path.name for path in (tmp_path / "keys").iterdir()) == ["00000.set", "00001.set", "00002.set"]
