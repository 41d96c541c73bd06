"""What comes in is what goes out: which kind of column was given, and how an answer becomes one of the same kind."""

from __future__ import annotations

from typing import Any, Callable

from ._uriscan import Column


def _library(given: Any) -> str:
    return type(given).__module__.partition(".")[0]


def column(given: Any) -> Column:
    """The given column, its values not copied unless it is a list or a pandas series of Python objects."""
    if isinstance(given, (str, bytes)):
        raise TypeError(f"a column or a list is needed, not one {type(given).__name__}")
    if _library(given) == "pandas" and hasattr(given, "array"):
        array = given.array
        if hasattr(array, "__arrow_array__"):
            return Column(_decoded(array.__arrow_array__()))
        import pyarrow

        return Column(pyarrow.array(given, from_pandas=True))
    if _library(given) == "pyarrow":
        # A table or a batch of one column is that column; of more the native half says what is wrong.
        is_one = getattr(given, "num_columns", None) == 1
        return Column(_decoded(given.column(0) if is_one else given))
    if _library(given) == "polars" and str(getattr(given, "dtype", "")) == "Null":
        # Of its columns without a type the interface of Arrow takes none.
        import polars

        return Column(given.cast(polars.String))
    return Column(given)


def _decoded(given: Any) -> Any:
    """An array of pyarrow without runs, which kernels do not know."""
    if not str(getattr(given, "type", "")).startswith("run_end_encoded"):
        return given
    import pyarrow.compute

    return pyarrow.compute.run_end_decode(given)


def _numpy(given: Any, made: Column) -> Any:
    """``made`` as an array of numpy: of text like the given one if no value is missing, else of objects."""
    import numpy

    values = made.to_pylist()
    if any(value is None for value in values) or not values:
        return numpy.array(values, dtype=object)
    if isinstance(values[0], str):
        return numpy.array(values, dtype=object if given.dtype == object else given.dtype.type)
    if isinstance(values[0], (bool, int)):
        return numpy.array(values)
    whole = numpy.empty(len(values), dtype=object)
    whole[:] = values
    return whole


def like(given: Any, made: Column) -> Any:
    """``made`` as a column of the kind of ``given``, row for row."""
    library = _library(given)
    if isinstance(given, (list, tuple)):
        return made.to_pylist()
    if library == "numpy":
        return _numpy(given, made)
    if library == "pyarrow":
        import pyarrow

        whole = isinstance(given, pyarrow.Array)
        return pyarrow.array(made) if whole else pyarrow.chunked_array(made)
    if library == "polars":
        import polars

        name = given.name if isinstance(given, polars.Series) else ""
        return polars.Series(made).rename(name)
    if library == "pandas":
        import pandas
        import pyarrow

        values = pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array(made))
        return pandas.Series(values, index=getattr(given, "index", None), name=getattr(given, "name", None))
    return made


def anew(given: Any, made: Column) -> Any:
    """``made`` as a column of the kind of ``given``, with rows of its own."""
    if _library(given) == "pandas":
        import pandas
        import pyarrow

        return pandas.Series(pandas.arrays.ArrowExtensionArray(pyarrow.chunked_array(made)))
    return like(given, made)


def rows(given: Any, values: Column, mask: Column) -> Any:
    """The rows of ``given``, whose values these are, for which ``mask`` is true."""
    library = _library(given)
    if isinstance(given, (list, tuple)):
        return [value for value, kept in zip(given, mask.to_pylist()) if kept]
    if library == "pandas" and hasattr(given, "index"):
        return given[like(given, mask).fillna(False).to_numpy(dtype=bool)]
    return like(given, values.filter(mask))


def answer(given: Any, kernel: Callable[[Column], Column]) -> Any:
    """What ``kernel`` makes of a column, or of one ``str`` or ``bytes``."""
    if isinstance(given, (str, bytes)):
        return kernel(Column([given]))[0]
    return like(given, kernel(column(given)))
