//! Progress on standard error: a bar on a terminal, lines elsewhere.

use std::fs::TryLockError;
use std::time::{Duration, Instant};

use indicatif::{DecimalBytes, ProgressBar, ProgressDrawTarget, ProgressStyle};
use uriscan_files::File;

use crate::exit::eprint_line;

/// A shorter run shows nothing, unless it is asked for at once.
pub(crate) const PATIENCE: Duration = Duration::from_millis(500);

/// Time between two lines, and between two attempts to take the terminal.
const PERIOD: Duration = Duration::from_secs(10);
const RETRY: Duration = Duration::from_secs(1);

/// The bytes read so far.
pub(crate) struct Progress {
    command: &'static str,
    total_bytes: Option<u64>,
    started: Instant,
    /// When something may be shown next.
    next: Instant,
    bar: ProgressBar,
    /// The terminal, while this process shows its bar on it.
    terminal: Option<Terminal>,
}

impl Progress {
    /// A run of `command` that begins now and reads `total_bytes`, if known; something is shown `after` some time.
    pub(crate) fn new(
        command: &'static str,
        after: Duration,
        total_bytes: Option<u64>,
    ) -> Progress {
        let template = match total_bytes {
            Some(_) => {
                "{prefix}: {wide_bar} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left"
            }
            None => "{prefix}: {spinner} {decimal_bytes}, {decimal_bytes_per_sec}",
        };
        // The templates are constants and valid; the default is never used.
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        // Hidden at first, but counting from the start, so that the first rates are right.
        let bar = ProgressBar::with_draw_target(total_bytes, ProgressDrawTarget::hidden());
        let bar = bar.with_style(style).with_prefix(format!("uriscan {command}"));
        let started = Instant::now();
        Progress { command, total_bytes, started, next: started + after, bar, terminal: None }
    }

    pub(crate) fn update(&mut self, bytes: u64) {
        self.bar.set_position(bytes);
        let now = Instant::now();
        if self.terminal.is_some() || now < self.next {
            return;
        }
        if ProgressDrawTarget::stderr().is_hidden() {
            self.next = now + PERIOD;
            return self.print(bytes);
        }
        self.next = now + RETRY;
        self.terminal = Terminal::take();
        if self.terminal.is_some() {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Prints a line about the `bytes` read so far.
    fn print(&self, bytes: u64) {
        let seconds = self.started.elapsed().as_secs_f64().max(1e-3);
        let total =
            self.total_bytes.map_or(String::new(), |total| format!(" of {}", DecimalBytes(total)));
        eprint_line(format_args!(
            "uriscan {}: {}{total}, {}/s",
            self.command,
            DecimalBytes(bytes),
            DecimalBytes((bytes as f64 / seconds) as u64)
        ));
    }

    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}

/// The right to draw on the terminal, which one process has at a time: in a pipeline of several, one bar is shown.
struct Terminal {
    /// Locked until it is closed; none where a terminal cannot be locked.
    _file: Option<File>,
}

impl Terminal {
    /// Takes the terminal of standard error, unless another process has it.
    fn take() -> Option<Terminal> {
        // Opened once more, since processes that share an open file share its locks.
        match File::open("/proc/self/fd/2") {
            Err(_) => Some(Terminal { _file: None }),
            Ok(file) => match file.try_lock() {
                Ok(()) => Some(Terminal { _file: Some(file) }),
                Err(TryLockError::WouldBlock) => None,
                Err(TryLockError::Error(_)) => Some(Terminal { _file: None }),
            },
        }
    }
}
