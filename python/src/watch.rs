//! Long work on another thread, while Python can interrupt it.

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Once};
use std::thread;
use std::time::Duration;

use pyo3::prelude::*;

use crate::pool;

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

    /// Whether the work is to end.
    pub(crate) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
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

/// Does `work` on the pool and on a thread of its own; returns its result, or what has interrupted it.
///
/// # Errors
/// Those of signals, such as `KeyboardInterrupt`, and of `progress`.
pub(crate) fn watched<T: Send>(
    py: Python<'_>,
    watch: &Watch,
    progress: Option<Bound<'_, PyAny>>,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    hide_panics_of_decoders();
    let pool = pool::current(py)?;
    let progress = progress.map(Bound::unbind);
    let (done, interrupt) = py.detach(|| {
        thread::scope(|scope| {
            let (end, ended) = mpsc::channel();
            let work = scope.spawn(move || {
                let done = pool.install(work);
                drop(end);
                done
            });
            let interrupt = watch.wait(&ended, progress.as_ref());
            (work.join(), interrupt)
        })
    });
    match interrupt {
        Some(error) => Err(error),
        None => Ok(done.unwrap_or_else(|panic| resume_unwind(panic))),
    }
}

/// Suppresses the messages of panics in decoders, which become errors.
fn hide_panics_of_decoders() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let default = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if !uriscan::table::is_decoding() {
                default(panic);
            }
        }));
    });
}
