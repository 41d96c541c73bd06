//! Work on other threads, while Python can interrupt it, and whose panics become exceptions.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, Once, PoisonError};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;
use pyo3::sync::MutexExt;

use crate::{errors, pool};

/// How often Python looks for signals, and progress is reported.
const PAUSE: Duration = Duration::from_millis(50);

/// What the work and the thread that waits for it share.
#[derive(Default)]
pub(crate) struct Watch {
    /// Set when the work is to end early.
    pub(crate) stop: Arc<AtomicBool>,
    read: AtomicU64,
}

impl Watch {
    /// Reports the number of bytes that have been read.
    pub(crate) fn read(&self, bytes: u64) {
        self.read.store(bytes, Ordering::Relaxed);
    }

    /// Waits until `ended` is closed; ends the work on a signal, and on an error of `progress`.
    fn wait(&self, ended: &mpsc::Receiver<()>, progress: Option<&Py<PyAny>>) -> Option<PyErr> {
        let mut reported = 0;
        let mut interrupt = None;
        loop {
            let is_over = ended.recv_timeout(PAUSE) != Err(RecvTimeoutError::Timeout);
            if interrupt.is_none() {
                let bytes = self.read.load(Ordering::Relaxed);
                let call = |py: Python<'_>| {
                    py.check_signals()?;
                    match progress {
                        Some(progress) if bytes != reported => {
                            progress.call1(py, (bytes,)).map(drop)
                        }
                        _ => Ok(()),
                    }
                };
                interrupt = Python::attach(call).err();
                reported = bytes;
                if interrupt.is_some() {
                    self.stop.store(true, Ordering::Relaxed);
                }
            }
            if is_over {
                return interrupt;
            }
        }
    }
}

/// Does `work` on the pool, while Python can interrupt it; returns its result, or what has interrupted it. A panic is an exception.
///
/// # Errors
/// Those of signals, such as `KeyboardInterrupt`, and of `progress`.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    hide_panics();
    let pool = pool::current(py)?;
    let progress = progress.map(Bound::unbind);
    let (done, interrupt) = py.detach(|| {
        let mut done = None;
        let interrupt = pool.in_place_scope(|scope| {
            let (end, ended) = mpsc::channel();
            let done = &mut done;
            scope.spawn(move |_| {
                *done = Some(catch_unwind(AssertUnwindSafe(work)));
                drop(end);
            });
            watch.wait(&ended, progress.as_ref())
        });
        (done, interrupt)
    });
    match (interrupt, done) {
        (Some(error), _) => Err(error),
        (None, Some(Ok(done))) => Ok(done),
        (None, Some(Err(panic))) => Err(errors::of_panic(py, &*panic)),
        (None, None) => Err(errors::of_panic(py, &"the work was not done")),
    }
}

/// Does `work` on the pool, while other threads may run Python, and Python may interrupt it by the flag it is given. It must not wait
/// for a lock: a thread of the pool that waits for others does other work meanwhile, such as what needs the lock that it holds.
/// For that there is [`locked`].
///
/// # Errors
/// As [`pool::set`]; signals, and panics.
pub(crate) fn install<T: Send>(
    py: Python<'_>,
    work: impl FnOnce(&Arc<AtomicBool>) -> T + Send,
) -> PyResult<T> {
    let watch = Watch::default();
    watched(py, &watch, None, || work(&watch.stop))
}

/// Does `work` on the pool with what is behind `lock`, as [`install`]; waits for the lock on the thread that calls.
///
/// # Errors
/// As [`install`].
pub(crate) fn locked<S: Send, T: Send>(
    py: Python<'_>,
    lock: &Mutex<S>,
    work: impl FnOnce(&mut S, &Arc<AtomicBool>) -> T + Send,
) -> PyResult<T> {
    let mut state = lock.lock_py_attached(py).unwrap_or_else(PoisonError::into_inner);
    let state: &mut S = &mut state;
    install(py, |stop| work(state, stop))
}

/// Does `work` on this thread; a panic is an exception.
///
/// # Errors
/// Those of `work`.
pub(crate) fn caught<T>(py: Python<'_>, work: impl FnOnce() -> PyResult<T>) -> PyResult<T> {
    hide_panics();
    let before = IS_CAUGHT.replace(true);
    let done = catch_unwind(AssertUnwindSafe(work));
    IS_CAUGHT.set(before);
    done.unwrap_or_else(|panic| Err(errors::of_panic(py, &*panic)))
}

thread_local! {
    /// Whether a panic of this thread becomes an exception.
    static IS_CAUGHT: Cell<bool> = const { Cell::new(false) };
}

/// Suppresses the messages of panics that become errors: in decoders, on the threads of the pool, and in [`caught`].
fn hide_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            let is_of_pool =
                thread::current().name().is_some_and(|name| name.starts_with(pool::NAME));
            if !uriscan_table::is_decoding() && !is_of_pool && !IS_CAUGHT.get() {
                default(panic);
            }
        }));
    });
}
