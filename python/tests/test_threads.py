"""While a column is worked on, other threads run Python; after a fork everything works as before."""

import multiprocessing
import threading
import time

import pyarrow
import pytest

import uriscan

URLS = pyarrow.array([f"HTTP://Example.com:80/%7E{number}/./x" for number in range(20_000)])

WORK = {
    "key": lambda: uriscan.key(URLS),
    "normalize": lambda: uriscan.normalize(URLS),
    "parse": lambda: uriscan.parse(URLS),
    "changes": lambda: uriscan.changes(URLS[:5_000]),
    "extract": lambda: uriscan.extract(URLS),
    "dedup": lambda: uriscan.is_first(URLS),
}


@pytest.mark.parametrize("work", WORK)
def test_other_threads_go_on(work):
    # One thread, so that the work takes its time.
    uriscan.set_threads(1)
    times = []
    ready = threading.Event()

    def run():
        ready.set()
        for _ in range(3):
            times.append(time.perf_counter())
            WORK[work]()
            times.append(time.perf_counter())

    thread = threading.Thread(target=run)
    ticks = []
    thread.start()
    ready.wait()
    while thread.is_alive():
        ticks.append(time.perf_counter())
        time.sleep(0)
    uriscan.set_threads(0)
    # Were the interpreter held, there would be a tick or two at the borders of each stretch of work.
    within = [sum(start < tick < end for tick in ticks) for start, end in zip(times[::2], times[1::2])]
    assert max(within) > 10, within


def answer(_):
    return uriscan.normalize(URLS)[-1].as_py()


def test_after_a_fork():
    expected = answer(0)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map_async(answer, range(4)).get(timeout=60) == [expected] * 4
    assert answer(0) == expected


def test_many_threads_at_once():
    expected = uriscan.normalize(URLS).to_pylist()[-1]
    seen = uriscan.Deduplicator()
    answers = []

    def run():
        answers.append(uriscan.normalize(URLS)[-1].as_py())
        seen.is_first(URLS)

    threads = [threading.Thread(target=run) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [expected] * 4
    assert len(seen) == len(URLS)
