//! What arguments of several functions have in common.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use uriscan::resolve::BaseUri;

/// A `ValueError` that says what is wrong with an argument.
pub(crate) fn wrong(what: impl ToString) -> PyErr {
    PyValueError::new_err(what.to_string())
}

/// What `from_name` gives for `name`, or an error that lists all names.
pub(crate) fn named<T>(
    option: &str,
    name: &str,
    found: Option<T>,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> PyResult<T> {
    found.ok_or_else(|| {
        let names: Vec<_> = names.into_iter().collect();
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        wrong(format!("{option}={name:?}: there are {}", names.join(", ")))
    })
}

/// The base URI that an argument gives.
pub(crate) fn base_uri(base: &str) -> PyResult<BaseUri> {
    BaseUri::new(base.as_bytes()).map_err(|error| wrong(format!("the base is not a URI: {error}")))
}
