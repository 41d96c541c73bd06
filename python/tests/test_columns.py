"""Columns of all libraries and shapes give what their values give one by one."""

import pyarrow
import pytest
from conftest import VALUES, one_by_one, values

import uriscan

TEXT = [pyarrow.string(), pyarrow.large_string(), pyarrow.string_view()]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("text", TEXT, ids=str)
def test_arrays(function, text, seed):
    given = values(seed, 200) + VALUES
    made = function(pyarrow.array(given, text))
    assert isinstance(made, pyarrow.Array)
    assert made.to_pylist() == one_by_one(function, given)
    made.validate(full=True)


def test_bytes(function):
    given = [None if value is None else value.encode() for value in VALUES] + [b"http://h/\xff"]
    for binary in pyarrow.binary(), pyarrow.large_binary(), pyarrow.binary_view():
        made = function(pyarrow.array(given, binary))
        assert made.to_pylist() == one_by_one(function, given)


@pytest.mark.parametrize("text", TEXT, ids=str)
def test_slices(function, text):
    given = values(5, 100)
    array = pyarrow.array(given, text)
    for start, end in (0, 0), (0, 7), (3, 4), (13, 77), (99, 100), (100, 100):
        expected = one_by_one(function, given[start:end])
        assert function(array[start:end]).to_pylist() == expected
        column = uriscan.Column(array)[start:end]
        assert function(column).to_pylist() == expected


def test_dictionaries(function):
    given = values(6, 50) * 3
    array = pyarrow.array(given).dictionary_encode()
    assert function(array).to_pylist() == one_by_one(function, given)
    assert function(array[20:60]).to_pylist() == one_by_one(function, given[20:60])


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_chunks(function, size):
    given = values(7, 120)
    chunks = [given[at : at + size] for at in range(0, len(given), size)]
    chunks.insert(1, [])
    column = pyarrow.chunked_array(chunks, pyarrow.string())
    made = function(column)
    assert isinstance(made, pyarrow.ChunkedArray)
    assert made.to_pylist() == one_by_one(function, given)
    made.validate(full=True)


def test_no_rows(function):
    for text in TEXT:
        array = pyarrow.array([], text)
        made = function(array)
        assert len(made) == 0
        assert made.type == function(pyarrow.array(["http://h/"], text)).type
        chunked = function(pyarrow.chunked_array([], text))
        assert (len(chunked), chunked.type) == (0, made.type)
    assert function([]) == []


def test_only_nulls(function):
    for array in pyarrow.nulls(3, pyarrow.string()), pyarrow.nulls(3):
        assert function(array).to_pylist() == [None, None, None]


def test_lists(function):
    assert function(VALUES) == one_by_one(function, VALUES)
    assert function(tuple(VALUES)) == one_by_one(function, VALUES)
    assert function(value for value in VALUES).to_pylist() == one_by_one(function, VALUES)


def test_tables_of_one_column():
    table = pyarrow.table({"url": ["HTTP://h", None]})
    assert uriscan.normalize(table).to_pylist() == ["http://h/", None]
    assert uriscan.normalize(table.to_batches()[0]).to_pylist() == ["http://h/", None]
    two = table.append_column("n", pyarrow.array([1, 2]))
    with pytest.raises(TypeError, match="choose one"):
        uriscan.normalize(two)


def test_many_rows_on_several_threads():
    given = values(11, 20_000)
    alone = {value: uriscan.normalize(value) for value in set(given) - {None}} | {None: None}
    expected = [alone[value] for value in given]
    before = uriscan.threads()
    for threads in 1, 3:
        uriscan.set_threads(threads)
        assert uriscan.threads() == threads
        assert uriscan.normalize(pyarrow.array(given)).to_pylist() == expected
    uriscan.set_threads(before)


def test_bases_row_by_row():
    bases = ["http://a/b/c", "http://d/", None, "no URI", "http://e/f"] * 20
    references = values(12, 100)
    expected = [
        None if base is None or value is None else (value.strip() if base == "no URI" else uriscan.resolve(value, base))
        for value, base in zip(references, bases)
    ]
    chunked = pyarrow.chunked_array([references[:33], references[33:33], references[33:]])
    made = uriscan.resolve(chunked, pyarrow.chunked_array([bases[:50], bases[50:]]))
    assert made.to_pylist() == expected
    with pytest.raises(ValueError, match="differ in length"):
        uriscan.resolve(["x"], ["http://a/", "http://b/"])


def test_what_is_not_a_column():
    with pytest.raises(TypeError, match="text or bytes"):
        uriscan.normalize(pyarrow.array([1, 2]))
    with pytest.raises(TypeError, match="row 1"):
        uriscan.normalize(["http://h/", 1])
    with pytest.raises(TypeError, match="row 1"):
        uriscan.normalize([b"http://h/", "http://h/"])
    with pytest.raises(TypeError):
        uriscan.normalize(7)
    with pytest.raises(UnicodeEncodeError):
        uriscan.normalize("http://h/\ud800")
