//! The native half of the Python package `uriscan`: columns in, columns out. Its interface is
//! `python/uriscan/_uriscan.pyi`; users see `python/uriscan/__init__.py` only.

mod arguments;
mod capsule;
mod classes;
mod column;
mod damage;
mod datasets;
mod errors;
mod find;
mod findings;
mod firsts;
mod form;
mod learn;
mod output;
mod params;
mod pool;
mod set;
mod side_outputs;
mod single;
mod tables;
mod texts;
mod value;
mod watch;

use pyo3::prelude::*;

/// Columns in, columns out.
#[pymodule]
mod _uriscan {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::column::Column;
    #[pymodule_export]
    use crate::firsts::Firsts;
    #[pymodule_export]
    use crate::form::{Form, options};
    #[pymodule_export]
    use crate::learn::{Learner, Tester, rules_file};
    #[pymodule_export]
    use crate::set::{Adding, KeySet};
    #[pymodule_export]
    use crate::single::One;

    #[pymodule_export]
    use crate::datasets::{directory_columns, find_tables, format_of, listed_tables};
    #[pymodule_export]
    use crate::tables::run_tables;

    /// The names of the bits of `Form.changes`.
    #[pyfunction]
    fn step_names() -> Vec<&'static str> {
        uriscan_arrow::step_names()
    }

    /// The rules of the audit: name, section, severity, title and consequence of each.
    #[pyfunction]
    fn audit_rules() -> Vec<[&'static str; 5]> {
        let row = |rule: &uriscan::audit::Rule| {
            [rule.name(), rule.section(), rule.severity().name(), rule.title(), rule.consequence()]
        };
        uriscan::audit::Rule::ALL.iter().map(row).collect()
    }

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }

    /// The number of threads that work on columns: as many as there are cores unless set_threads() was called.
    #[pyfunction]
    fn threads(py: Python<'_>) -> PyResult<usize> {
        crate::pool::threads(py)
    }

    /// Sets the number of threads that work on columns from now on.
    ///
    /// Args:
    ///     threads: Their number; 0 for as many as there are cores.
    #[pyfunction]
    fn set_threads(py: Python<'_>, threads: i64) -> PyResult<()> {
        match usize::try_from(threads) {
            Ok(threads @ 0..=crate::pool::MOST) => crate::pool::set(py, threads),
            _ => {
                let what =
                    format!("threads={threads}: from 0 to {} are possible", crate::pool::MOST);
                Err(pyo3::exceptions::PyValueError::new_err(what))
            }
        }
    }
}
