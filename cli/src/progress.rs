//! A bar on standard error for work that takes its time.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Work that is done sooner than this needs no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// How far the reading has come; shown once the work has lasted a moment.
pub(crate) struct Progress {
    started: Instant,
    bar: ProgressBar,
    is_shown: bool,
}

impl Progress {
    /// Work that begins now, on `total_bytes` if their number is known.
    pub(crate) fn new(total_bytes: Option<u64>) -> Progress {
        let template = match total_bytes {
            Some(_) => {
                "{wide_bar} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left"
            }
            None => "{spinner} {decimal_bytes}, {decimal_bytes_per_sec}",
        };
        // The templates are constants; should one be wrong, the style of the crate will do.
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        // Hidden, but counting from the start, or the first rates would be nonsense.
        let bar = ProgressBar::with_draw_target(total_bytes, ProgressDrawTarget::hidden());
        Progress { started: Instant::now(), bar: bar.with_style(style), is_shown: false }
    }

    /// Tells that `bytes` were read so far.
    pub(crate) fn update(&mut self, bytes: u64) {
        if !self.is_shown && self.started.elapsed() >= PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_shown = true;
        }
        self.bar.set_position(bytes);
    }

    /// Takes the bar away.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
