//! Deduplication, column after column.

use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::ArrayRef;
use arrow_schema::DataType;
use pyo3::prelude::*;

use crate::column::Column;
use crate::form::Form;
use crate::{errors, watch};

/// Tells which values are the first of their class, over as many columns as come.
#[pyclass(frozen, module = "uriscan._uriscan")]
#[derive(Debug)]
pub(crate) struct Firsts(Mutex<uriscan_arrow::Firsts>);

#[pymethods]
impl Firsts {
    #[new]
    fn new(form: &Bound<'_, Form>) -> Firsts {
        Firsts(Mutex::new(uriscan_arrow::Firsts::new(form.get().columns().clone())))
    }

    fn mark(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        let chunks = column.get().chunks();
        let (mut row, mut made) = (0, Vec::with_capacity(chunks.len()));
        let failed = watch::locked(py, &self.0, |firsts, stop| {
            firsts.stop(stop.clone());
            for chunk in chunks {
                match firsts.mark(chunk) {
                    Ok(marks) => made.push(Arc::new(marks) as ArrayRef),
                    Err(error) => return Some(error),
                }
                row += chunk.len();
            }
            None
        })?;
        match failed {
            Some(error) => Err(errors::of_column(py, error, row)),
            None => Ok(Column::new(&DataType::Boolean, made)),
        }
    }

    fn __len__(&self, py: Python<'_>) -> usize {
        py.detach(|| self.0.lock().unwrap_or_else(PoisonError::into_inner).classes())
    }
}
