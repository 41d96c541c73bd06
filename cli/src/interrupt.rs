//! Signals that end the program: it leaves nothing behind, and a shell sees the exit code 128 + n.
//!
//! On Linux, files in progress have no names and go with the process. What has a name for a moment, or on other
//! systems, is [registered](Leftover) here and removed by a thread that waits for signals. Names change only while
//! [`hold`] is held, so a signal never comes between two renames that belong together.

use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(unix)]
use uriscan_files as files;

/// Locked while files get their names, and sets change.
pub(crate) static GATE: Mutex<()> = Mutex::new(());

/// What is to be removed, each with a number.
static LEFTOVERS: Mutex<(u64, Vec<(u64, Leftover)>)> = Mutex::new((0, Vec::new()));

/// Something that must not outlive the run.
pub(crate) enum Leftover {
    /// A file with a temporary name.
    File(PathBuf),
    /// A set that is being made or written to.
    Set(PathBuf),
    /// A directory of results with a temporary name.
    #[cfg(feature = "full")]
    Directory(PathBuf),
    /// Objects that are being written: what aborts them.
    Objects(Box<dyn Fn() + Send>),
}

/// Removes a [`Leftover`] from the register when it is dropped.
#[derive(Debug)]
pub(crate) struct Registered(u64);

impl Leftover {
    /// Has a signal remove it from now on.
    pub(crate) fn register(self) -> Registered {
        let mut leftovers = locked(&LEFTOVERS);
        leftovers.0 += 1;
        let number = leftovers.0;
        leftovers.1.push((number, self));
        Registered(number)
    }

    #[cfg(unix)]
    fn remove(&self) {
        match self {
            // It may be gone already.
            Leftover::File(path) => drop(files::remove(path)),
            Leftover::Set(path) => uriscan::set::abandon(path),
            #[cfg(feature = "full")]
            Leftover::Directory(path) => files::remove_all(path),
            Leftover::Objects(cancel) => cancel(),
        }
    }
}

impl Drop for Registered {
    fn drop(&mut self) {
        locked(&LEFTOVERS).1.retain(|(number, _)| *number != self.0);
    }
}

/// Keeps signals from ending the process until the guard is dropped.
pub(crate) fn hold() -> MutexGuard<'static, ()> {
    locked(&GATE)
}

fn locked<T>(mutex: &'static Mutex<T>) -> MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to handle SIGINT, SIGTERM and SIGHUP, unless they are ignored, as `nohup` does. Makes SIGXFSZ an error of the
/// write that exceeds the limit.
///
/// A second signal ends the process at once, even while a set is being written.
#[cfg(unix)]
pub(crate) fn watch() {
    use std::sync::Arc;
    use std::sync::atomic::AtomicBool;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGXFSZ};
    use signal_hook::iterator::Signals;
    use signal_hook::{flag, low_level};

    // A handler of any kind makes the write fail with EFBIG.
    let _ = flag::register(SIGXFSZ, Arc::default());
    let ignored = ignored_signals();
    let is_ignored = |signal: &i32| ignored & (1 << (signal - 1)) != 0;
    let wanted: Vec<i32> =
        [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|it| !is_ignored(it)).collect();
    let Ok(mut signals) = Signals::new(&wanted) else { return };
    let is_second = Arc::new(AtomicBool::new(false));
    for &signal in &wanted {
        // In this order: the first signal sets what the second one finds set.
        let _ = flag::register_conditional_default(signal, is_second.clone());
        let _ = flag::register(signal, is_second.clone());
    }
    let wait = move || {
        let Some(signal) = signals.forever().next() else { return };
        let _held = hold();
        // Held to the end, so that no thread goes on after its work was removed.
        let leftovers = locked(&LEFTOVERS);
        leftovers.1.iter().for_each(|(_, leftover)| leftover.remove());
        let _ = low_level::emulate_default_handler(signal);
        std::process::exit(128 + signal);
    };
    // Without the thread the first signal would be lost, but then nothing else could start either.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

#[cfg(not(unix))]
pub(crate) fn watch() {}

/// The signals that whoever started the process has it ignore: bit n - 1 is signal n.
#[cfg(unix)]
fn ignored_signals() -> u64 {
    let status = files::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
}
