//! One value at a time: for callers that have a `str` and want one back, a million times.

use std::sync::{Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use uriscan::Error;
use uriscan_arrow::Single;

use crate::errors;
use crate::form::Form;

/// Computes the form or the key of one `str` or `bytes`; anything else goes to `rest`.
#[pyclass(frozen, subclass, module = "uriscan._uriscan")]
pub(crate) struct One {
    // The buffers. The lock is never waited for: Python runs one thread at a time here.
    single: Mutex<Single>,
    wants_key: bool,
    rest: Py<PyAny>,
}

#[pymethods]
impl One {
    #[new]
    fn new(form: &Bound<'_, Form>, wants_key: bool, rest: Py<PyAny>) -> One {
        let single = Mutex::new(Single::new(form.get().columns().clone()));
        One { single, wants_key, rest }
    }

    fn __call__<'py>(&self, given: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = given.py();
        if let Ok(text) = given.cast::<PyString>() {
            return self.of(py, given, text.to_str()?.as_bytes(), |form| {
                let form = core::str::from_utf8(form)
                    .map_err(|error| PyValueError::new_err(error.to_string()))?;
                Ok(PyString::new(py, form).into_any())
            });
        }
        if let Ok(bytes) = given.cast::<PyBytes>() {
            return self
                .of(py, given, bytes.as_bytes(), |form| Ok(PyBytes::new(py, form).into_any()));
        }
        self.rest.bind(py).call1((given,))
    }
}

impl One {
    fn of<'py>(
        &self,
        py: Python<'py>,
        given: &Bound<'py, PyAny>,
        value: &[u8],
        made: impl FnOnce(&[u8]) -> PyResult<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let refused = |error| errors::of_column(py, Error::invalid_row(0, error), 0);
        let mut single = self.single.lock().unwrap_or_else(PoisonError::into_inner);
        let none = || Ok(py.None().into_bound(py));
        if self.wants_key {
            let key = single.key(value).map_err(refused)?;
            let bytes = |key: uriscan::key::Key| PyBytes::new(py, &key.0.to_be_bytes()).into_any();
            return key.map_or_else(none, |key| Ok(bytes(key)));
        }
        match single.normalize(value).map_err(refused)? {
            Some(form) if form == value => Ok(given.clone()),
            Some(form) => made(form),
            None => none(),
        }
    }
}
