"""A call ends soon after Ctrl-C, and a column that is damaged is an error of ours."""

import subprocess
import sys

import pyarrow as pa
import pytest

import uriscan

CALL = """
import os, signal, sys, threading, time
import pyarrow as pa
import uriscan

# What starts the tests may ignore the signal.
signal.signal(signal.SIGINT, signal.default_int_handler)
uriscan.set_threads(1)
text = pa.array(["http://h%d.example/%%7E/../x?q=%d#f" % (i, i) for i in range(10_000)])
column = pa.chunked_array([text] * 400)
works = {
    "normalize": lambda: uriscan.normalize(column),
    "key": lambda: uriscan.key(column),
    "parse": lambda: uriscan.parse(column),
    "audit": lambda: uriscan.audit(column),
    "is_first": lambda: uriscan.is_first(column),
    "resolve": lambda: uriscan.resolve(column, column),
    "classes": lambda: uriscan.groups(column),
}
sent = []
def send():
    time.sleep(0.3)
    sent.append(True)
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=send).start()
try:
    works[sys.argv[1]]()
except KeyboardInterrupt:
    print("interrupted")
else:
    print("done before" if not sent else "not interrupted")
"""


@pytest.mark.parametrize("name", ["normalize", "key", "parse", "audit", "is_first", "resolve", "classes"])
def test_a_call_ends_after_ctrl_c(name):
    done = subprocess.run([sys.executable, "-c", CALL, name], capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ["interrupted", "done before"]


def damaged():
    """Columns whose offsets or keys lead out of them."""

    def of(kind, offsets, data=b"http://h", rows=2):
        return pa.Array.from_buffers(kind, rows, [None, pa.py_buffer(offsets), pa.py_buffer(data)])

    def words(*numbers, size=4):
        return b"".join(number.to_bytes(size, "little", signed=True) for number in numbers)

    yield of(pa.string(), words(0, 100, 8))
    yield of(pa.string(), words(0, -5, 8))
    yield of(pa.binary(), words(8, 4, 8))
    yield of(pa.large_string(), words(0, 1 << 40, 8, size=8))
    yield of(pa.large_binary(), words(5, 3, 8, size=8))
    values = pa.array(["http://h", "http://i"])
    for keys in [b"\x05\x00", b"\x00\xff"]:
        yield pa.DictionaryArray.from_buffers(pa.dictionary(pa.int8(), pa.string()), 2, [None, pa.py_buffer(keys)], values)


@pytest.mark.parametrize("number", range(7))
def test_a_damaged_column_is_an_error_of_ours(number):
    column = list(damaged())[number]
    functions = [
        uriscan.normalize, uriscan.key, uriscan.parse, uriscan.check, uriscan.is_first, uriscan.groups, uriscan.surt,
        uriscan.extract, uriscan.audit, uriscan.dedup, lambda urls: uriscan.resolve(urls, "http://h/"), uriscan.census,
        lambda urls: uriscan.Column(urls).to_pylist(), lambda urls: uriscan.Column(urls)[1],
    ]  # fmt: skip
    for function in functions:
        with pytest.raises(uriscan.InternalError, match="the column is damaged: .* out of it"):
            function(column)
    # A call that follows works.
    assert uriscan.normalize(pa.array(["HTTP://h"])).to_pylist() == ["http://h/"]


def test_columns_that_are_whole_are_taken():
    text = pa.array(["HTTP://h", None, "http://i.example/longer", ""])
    views = text.cast(pa.string_view())
    for column in [text, text.slice(1, 2), views, views.slice(2), text.dictionary_encode(), text.slice(4)]:
        assert uriscan.normalize(column).to_pylist() == [value and uriscan.normalize(value) for value in column.to_pylist()]
    nulls = pa.DictionaryArray.from_arrays(pa.array([None, 0], pa.int8()), pa.array(["http://h"]))
    assert uriscan.key(nulls).null_count == 1
