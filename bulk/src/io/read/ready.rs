//! Whether more of a source can be read without waiting, so that what is done is passed on while a producer pauses.

use std::sync::Arc;
use std::time::{Duration, Instant};

/// Waits until more of a source can be read, or its end, but no longer than the time given; says whether it can.
pub type Wait = Arc<dyn Fn(Duration) -> bool + Send + Sync>;

/// How long a batch waits in all for a producer that pauses. A pause in a full pipe is shorter, so it is filled and
/// emptied as fast as ever; a person does not notice it.
const BATCH_WAIT: Duration = Duration::from_millis(10);

/// The time that is left to wait in a batch.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct WaitBudget(Duration);

impl WaitBudget {
    /// That of a new batch.
    pub(crate) fn new() -> WaitBudget {
        WaitBudget(BATCH_WAIT)
    }

    /// Whether `wait` says that there is more, before this runs out.
    pub(crate) fn is_ready(&mut self, wait: &Wait) -> bool {
        if wait(Duration::ZERO) {
            return true;
        }
        if self.0.is_zero() {
            return false;
        }
        let start = Instant::now();
        let is_ready = wait(self.0);
        self.0 = self.0.saturating_sub(start.elapsed());
        is_ready
    }
}

/// Waits for `file`: a pipe, a terminal or a socket. A regular file can always be read.
///
/// ```
/// use std::time::Duration;
/// use uriscan_bulk::io::readable;
/// let (reader, writer) = std::io::pipe()?;
/// let wait = readable(reader);
/// assert!(!wait(Duration::ZERO));
/// drop(writer);
/// assert!(wait(Duration::ZERO), "its end can be read");
/// # Ok::<(), std::io::Error>(())
/// ```
#[cfg(unix)]
pub fn readable(file: impl std::os::fd::AsFd + Send + Sync + 'static) -> Wait {
    use rustix::event::{PollFd, PollFlags, Timespec, poll};
    Arc::new(move |time: Duration| {
        let mut polled = [PollFd::new(&file, PollFlags::IN)];
        let time = Timespec { tv_sec: time.as_secs() as _, tv_nsec: time.subsec_nanos() as _ };
        // An error is for whoever reads.
        poll(&mut polled, Some(&time)).map_or(true, |count| count > 0)
    })
}
