//! The threads that work on columns.

use std::process;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

/// More threads than any machine has cores would only take memory.
pub(crate) const MOST: usize = 4096;

/// How the names of its threads begin.
pub(crate) const NAME: &str = "uriscan-";

/// The pool of the process with this number.
static POOL: Mutex<Option<(u32, Arc<ThreadPool>)>> = Mutex::new(None);

/// Gives up the pool there is, and makes one of `threads` threads, 0 for as many as there are cores.
///
/// # Errors
/// When the system gives no threads.
pub(crate) fn set(py: Python<'_>, threads: usize) -> PyResult<()> {
    let pool = make(threads)?;
    let old = place(py, Some(pool));
    // Its threads end when the last one who uses it is done.
    drop(old);
    Ok(())
}

/// Number of threads that work on columns.
///
/// # Errors
/// As [`set`].
pub(crate) fn threads(py: Python<'_>) -> PyResult<usize> {
    Ok(current(py)?.current_num_threads())
}

fn make(threads: usize) -> PyResult<Arc<ThreadPool>> {
    let builder = ThreadPoolBuilder::new().num_threads(threads);
    let builder = builder.thread_name(|number| format!("{NAME}{number}"));
    builder.build().map(Arc::new).map_err(|error| PyRuntimeError::new_err(error.to_string()))
}

/// The pool of this process. After a fork the threads of the parent are not there, so a child has a pool of its own.
///
/// # Errors
/// As [`set`].
pub(crate) fn current(py: Python<'_>) -> PyResult<Arc<ThreadPool>> {
    let there = POOL.lock().unwrap_or_else(PoisonError::into_inner).clone();
    match there {
        Some((process, pool)) if process == process::id() => Ok(pool),
        of_parent => {
            // Not dropped: it would wait for threads that there are not.
            std::mem::forget(of_parent);
            let pool = make(0)?;
            std::mem::forget(place(py, Some(pool.clone())));
            Ok(pool)
        }
    }
}

/// Puts `pool` in the place of the one there is. Whoever holds the lock is attached to the interpreter and lets it go
/// before anything else, so that it is free in the child of a fork, which Python makes attached.
fn place(_: Python<'_>, pool: Option<Arc<ThreadPool>>) -> Option<(u32, Arc<ThreadPool>)> {
    let pool = pool.map(|pool| (process::id(), pool));
    std::mem::replace(&mut *POOL.lock().unwrap_or_else(PoisonError::into_inner), pool)
}
