"""The Arrow PyCapsule interface, in and out, and that nothing is copied on the way."""

import gc

import pyarrow
import pytest

import uriscan


def addresses(array):
    """Where the buffers of a pyarrow array or chunked array lie."""
    chunks = array.chunks if isinstance(array, pyarrow.ChunkedArray) else [array]
    return [[buffer and buffer.address for buffer in chunk.buffers()] for chunk in chunks]


def through(given):
    """What pyarrow sees of ``given`` after it went through a column of ours."""
    return pyarrow.chunked_array(uriscan.Column(given))


URLS = [f"http://example.com/{number}" for number in range(1000)] + [None]


@pytest.mark.parametrize("text", [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()], ids=str)
def test_pyarrow_is_not_copied(text):
    array = pyarrow.array(URLS, text)
    assert addresses(through(array)) == addresses(array)
    assert addresses(pyarrow.array(uriscan.Column(array))) == addresses(array)
    # A slice is the same buffers.
    part = through(array[100:200])
    assert part.to_pylist() == URLS[100:200]
    assert addresses(part)[0][-1] == addresses(array)[0][-1]
    chunked = pyarrow.chunked_array([array, array[:10]])
    assert addresses(through(chunked))[0] == addresses(array)[0]


def test_answers_are_not_copied():
    keys = uriscan.key(uriscan.Column(URLS))
    assert addresses(pyarrow.array(keys)) == addresses(pyarrow.array(keys))
    assert addresses(pyarrow.chunked_array(keys)) == addresses(pyarrow.chunked_array(keys))


def test_takers_of_pyarrow():
    column = uriscan.normalize(uriscan.Column(["HTTP://h", None]))
    assert pyarrow.array(column).to_pylist() == ["http://h/", None]
    parts = uriscan.parse(uriscan.Column(["http://h:80/", "a b"]))
    assert pyarrow.table(parts[:1])["port"].to_pylist() == ["80"]
    assert pyarrow.table({"url": column})["url"].to_pylist() == ["http://h/", None]


def test_several_chunks_as_one_array():
    column = uriscan.Column(pyarrow.chunked_array([["a:b"], ["c:d", None]]))
    assert column.num_chunks == 2
    array = pyarrow.array(column)
    assert isinstance(array, pyarrow.Array) and array.to_pylist() == ["a:b", "c:d", None]


def test_types_are_told():
    column = uriscan.key(uriscan.Column(URLS))
    assert pyarrow.field(column).type == pyarrow.binary(16) if hasattr(pyarrow, "field") else True
    assert column.type == "FixedSizeBinary(16)"
    assert (len(column), column.null_count) == (1001, 1)


def test_rows():
    column = uriscan.Column(pyarrow.chunked_array([["a:b"], [], ["c:d", None]], pyarrow.string()))
    assert [column[0], column[1], column[2], column[-1], column[-3]] == ["a:b", "c:d", None, None, "a:b"]
    assert list(column) == column.to_pylist() == ["a:b", "c:d", None]
    assert column[1:].to_pylist() == ["c:d", None] and column[5:].to_pylist() == []
    for row in 3, -4:
        with pytest.raises(IndexError):
            column[row]
    with pytest.raises(ValueError):
        column[::2]
    assert repr(column) == "<uriscan.Column: 3 rows of Utf8 in 3 chunks>"


def test_capsules_are_taken_once():
    class Once:
        def __init__(self):
            self.capsules = pyarrow.array(URLS).__arrow_c_array__()

        def __arrow_c_array__(self, requested_schema=None):
            return self.capsules

    once = Once()
    assert len(uriscan.Column(once)) == 1001
    with pytest.raises(ValueError, match="taken"):
        uriscan.Column(once)


def test_what_is_not_a_capsule():
    class Wrong:
        def __init__(self, answer):
            self.answer = answer

        def __arrow_c_array__(self, requested_schema=None):
            return self.answer

    schema, array = pyarrow.array(URLS).__arrow_c_array__()
    for answer in None, (1, 2), (array, schema):
        with pytest.raises((TypeError, ValueError)):
            uriscan.Column(Wrong(answer))


def test_a_stream_that_breaks_off():
    def batches():
        yield pyarrow.record_batch({"url": ["http://h/"]})
        raise RuntimeError("no more of this")

    reader = pyarrow.RecordBatchReader.from_batches(pyarrow.schema([("url", pyarrow.string())]), batches())
    with pytest.raises(ValueError, match="no more of this"):
        uriscan.Column(reader)


def test_buffers_live_as_long_as_needed():
    before = pyarrow.total_allocated_bytes()
    array = pyarrow.array([f"http://h/{number}" for number in range(100_000)])
    column = uriscan.Column(array)
    del array
    gc.collect()
    assert column[99_999] == "http://h/99999"
    forms = uriscan.normalize(column)
    del column
    gc.collect()
    assert pyarrow.total_allocated_bytes() <= before
    arrow = pyarrow.array(forms)
    del forms
    gc.collect()
    assert arrow[99_999].as_py() == "http://h/99999"


def test_unread_capsules_are_released():
    column = uriscan.Column(URLS)
    for _ in range(1000):
        column.__arrow_c_array__(), column.__arrow_c_stream__(), column.__arrow_c_schema__()
