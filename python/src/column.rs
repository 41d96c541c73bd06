//! A column of a table: arrays of one type, one after the other.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, StringArray, new_empty_array};
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyCapsule, PyList, PySlice, PyTuple};

use crate::{capsule, damage, errors, value, watch};

/// A column that any Arrow library takes without copying (`__arrow_c_array__`, `__arrow_c_stream__`): `pyarrow.array(column)`,
/// `polars.Series(column)`. It is what functions give for what is of no known library, such as a relation of DuckDB.
///
/// `Column(values)` makes one of anything that hands out Arrow data, or of a list. It has a length, rows (`column[3]`) and
/// slices.
#[pyclass(frozen, sequence, module = "uriscan")]
#[derive(Clone, Debug)]
pub(crate) struct Column {
    chunks: Vec<ArrayRef>,
    len: usize,
}

impl Column {
    /// A column of `chunks`; of no rows of `data_type` if there are none.
    pub(crate) fn new(data_type: &DataType, mut chunks: Vec<ArrayRef>) -> Column {
        if chunks.is_empty() {
            chunks.push(new_empty_array(data_type));
        }
        let len = chunks.iter().map(|chunk| chunk.len()).sum();
        Column { chunks, len }
    }

    pub(crate) fn of_array(array: ArrayRef) -> Column {
        Column { len: array.len(), chunks: vec![array] }
    }

    pub(crate) fn data_type(&self) -> &DataType {
        self.chunks[0].data_type()
    }

    pub(crate) fn chunks(&self) -> &[ArrayRef] {
        &self.chunks
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// All rows in one array; copied if there are several.
    pub(crate) fn together(&self) -> Result<ArrayRef, ArrowError> {
        match &self.chunks[..] {
            [one] => Ok(one.clone()),
            several => {
                let several: Vec<&dyn Array> = several.iter().map(AsRef::as_ref).collect();
                arrow_select::concat::concat(&several)
            }
        }
    }

    /// The rows from `start` to before `end`, not copied.
    fn rows(&self, start: usize, end: usize) -> Column {
        let mut first = 0;
        let mut chunks = Vec::new();
        for chunk in &self.chunks {
            let (from, to) = (start.max(first), end.min(first + chunk.len()));
            if from < to {
                chunks.push(chunk.slice(from - first, to - from));
            }
            first += chunk.len();
        }
        Column::new(self.data_type(), chunks)
    }

    /// The chunk that holds `row`, and where in it.
    fn place(&self, mut row: usize) -> Option<(&dyn Array, usize)> {
        for chunk in &self.chunks {
            if row < chunk.len() {
                return Some((chunk, row));
            }
            row -= chunk.len();
        }
        None
    }

    fn from_any(given: &Bound<'_, PyAny>) -> PyResult<Column> {
        watch::caught(given.py(), || Column::taken(given))
    }

    fn taken(given: &Bound<'_, PyAny>) -> PyResult<Column> {
        if let Ok(column) = given.cast::<Column>() {
            return Ok(column.get().clone());
        }
        if let Some(stream) = given.getattr_opt("__arrow_c_stream__")? {
            let capsule = stream.call0()?;
            let mut reader = capsule::take_stream(capsule.cast::<PyCapsule>()?)?;
            // Who gives the stream may have to run Python on other threads for it.
            let data_type = arrow_array::ArrayReader::field(&reader).data_type().clone();
            let mut chunks = Vec::new();
            while let Some(chunk) = given.py().detach(|| reader.next()) {
                given.py().check_signals()?;
                chunks.push(chunk.map_err(capsule::refused)?);
            }
            return whole(given.py(), Column::new(&data_type, chunks));
        }
        if let Some(array) = given.getattr_opt("__arrow_c_array__")? {
            let capsules = array.call0()?;
            let capsules = capsules.cast::<PyTuple>()?;
            let (schema, array) = (capsules.get_item(0)?, capsules.get_item(1)?);
            let array =
                capsule::take_array(schema.cast::<PyCapsule>()?, array.cast::<PyCapsule>()?)?;
            return whole(given.py(), Column::of_array(array));
        }
        value::array_of(given).map(Column::of_array)
    }
}

/// The column, unless it is damaged.
fn whole(py: Python<'_>, column: Column) -> PyResult<Column> {
    let checked = column.chunks.iter().try_for_each(|chunk| damage::check(chunk));
    match checked {
        Ok(()) => of_chunks(column),
        Err(what) => Err(errors::damaged(py, what)),
    }
}

/// The only column of a table that has one; nulls of no type as nulls of text.
fn of_chunks(column: Column) -> PyResult<Column> {
    let members = match column.data_type() {
        DataType::Struct(members) => members.len(),
        DataType::Null => {
            let nulls = |chunk: &ArrayRef| Arc::new(StringArray::new_null(chunk.len())) as ArrayRef;
            return Ok(Column::new(&DataType::Utf8, column.chunks.iter().map(nulls).collect()));
        }
        _ => return Ok(column),
    };
    if members != 1 {
        let message = format!("a table of {members} columns: choose one of them");
        return Err(PyTypeError::new_err(message));
    }
    let only = |chunk: &ArrayRef| chunk.as_struct().column(0).clone();
    of_chunks(Column::new(&DataType::Null, column.chunks.iter().map(only).collect()))
}

#[pymethods]
impl Column {
    #[new]
    fn py_new(given: &Bound<'_, PyAny>) -> PyResult<Column> {
        Column::from_any(given)
    }

    fn __len__(&self) -> usize {
        self.len
    }

    fn __getitem__<'py>(
        &self,
        py: Python<'py>,
        at: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if let Ok(slice) = at.cast::<PySlice>() {
            let range = slice.indices(self.len as isize)?;
            if range.step != 1 {
                return Err(PyValueError::new_err("slices go forward, one row after the other"));
            }
            let start = range.start as usize;
            let rows = self.rows(start, start + range.slicelength);
            return Ok(rows.into_pyobject(py)?.into_any());
        }
        let row: isize = at.extract()?;
        let row = if row < 0 { row + self.len as isize } else { row };
        let place = usize::try_from(row).ok().and_then(|row| self.place(row));
        let (chunk, row) = place.ok_or_else(|| PyIndexError::new_err("there is no such row"))?;
        watch::caught(py, || value::to_python(py, chunk, row))
    }

    fn __repr__(&self) -> String {
        let Column { chunks, len } = self;
        format!("<uriscan.Column: {len} rows of {} in {} chunks>", self.data_type(), chunks.len())
    }

    /// The name of its type.
    #[getter]
    fn r#type(&self) -> String {
        self.data_type().to_string()
    }

    /// The number of rows that are null.
    #[getter]
    fn null_count(&self) -> usize {
        self.chunks.iter().map(|chunk| chunk.logical_null_count()).sum()
    }

    /// The number of rows that are true, of a column of bools.
    #[getter]
    fn true_count(&self) -> usize {
        let count = |chunk: &ArrayRef| chunk.as_boolean_opt().map_or(0, BooleanArray::true_count);
        self.chunks.iter().map(count).sum()
    }

    /// The number of arrays that it consists of.
    #[getter]
    fn num_chunks(&self) -> usize {
        self.chunks.len()
    }

    /// Its values as a list.
    fn to_pylist<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyList>> {
        let all = PyList::empty(py);
        let rows = self.chunks.iter().flat_map(|it| (0..it.len()).map(move |row| (it, row)));
        watch::caught(py, || {
            for (at, (chunk, row)) in rows.enumerate() {
                if at % value::ROWS == 0 {
                    py.check_signals()?;
                }
                all.append(value::to_python(py, chunk, row)?)?;
            }
            Ok(all)
        })
    }

    /// The rows for which `mask`, a column of bools, is true.
    fn filter(&self, py: Python<'_>, mask: &Bound<'_, Column>) -> PyResult<Column> {
        let mask = mask.get();
        if *mask.data_type() != DataType::Boolean || mask.len != self.len {
            return Err(PyValueError::new_err("one bool for each row is needed"));
        }
        watch::install(py, |_| {
            let mask = mask.together()?;
            let mut first = 0;
            let kept = |chunk: &ArrayRef| {
                let part: BooleanArray = mask.as_boolean().slice(first, chunk.len());
                first += chunk.len();
                arrow_select::filter::filter(chunk, &part)
            };
            let chunks = self.chunks.iter().map(kept).collect::<Result<Vec<_>, _>>()?;
            Ok(Column::new(self.data_type(), chunks))
        })?
        .map_err(capsule::refused)
    }

    /// Whether each row is true here and not true in `other`; null where it is here. Both are of bools.
    #[pyo3(name = "_and_not")]
    fn and_not(&self, other: &Bound<'_, Column>) -> PyResult<Column> {
        let bools = |column: &Column| column.together().map_err(capsule::refused);
        let (these, those) = (bools(self)?, bools(other.get())?);
        match (these.as_boolean_opt(), those.as_boolean_opt()) {
            (Some(these), Some(those)) if these.len() == those.len() => {
                let left = these.iter().zip(those);
                let left = left.map(|(this, that)| this.map(|this| this && that != Some(true)));
                Ok(Column::of_array(Arc::new(left.collect::<BooleanArray>())))
            }
            _ => Err(PyValueError::new_err("two columns of bools of one length are needed")),
        }
    }

    fn __arrow_c_schema__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyCapsule>> {
        capsule::give_schema(py, self.data_type())
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_array__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<(Bound<'py, PyCapsule>, Bound<'py, PyCapsule>)> {
        // Another type is the reader's to make; the interface allows that.
        let _ = requested_schema;
        let array = py.detach(|| self.together()).map_err(capsule::refused)?;
        Ok((capsule::give_schema(py, self.data_type())?, capsule::give_array(py, &array)?))
    }

    #[pyo3(signature = (requested_schema=None))]
    fn __arrow_c_stream__<'py>(
        &self,
        py: Python<'py>,
        requested_schema: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyCapsule>> {
        let _ = requested_schema;
        capsule::give_stream(py, self.data_type(), &self.chunks)
    }
}
