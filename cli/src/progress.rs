//! A progress bar on standard error.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A shorter run shows no bar.
const PATIENCE: Duration = Duration::from_millis(500);

/// The bytes read so far; shown after [`PATIENCE`].
pub(crate) struct Progress {
    started: Instant,
    bar: ProgressBar,
    is_shown: bool,
}

impl Progress {
    /// A run that begins now and reads `total_bytes`, if known.
    pub(crate) fn new(total_bytes: Option<u64>) -> Progress {
        let template = match total_bytes {
            Some(_) => {
                "{wide_bar} {decimal_bytes} of {decimal_total_bytes}, {decimal_bytes_per_sec}, {eta} left"
            }
            None => "{spinner} {decimal_bytes}, {decimal_bytes_per_sec}",
        };
        // The templates are constants and valid; the default is never used.
        let style = ProgressStyle::with_template(template);
        let style = style.unwrap_or_else(|_| ProgressStyle::default_bar());
        // Hidden at first, but counting from the start, so that the first rates are right.
        let bar = ProgressBar::with_draw_target(total_bytes, ProgressDrawTarget::hidden());
        Progress { started: Instant::now(), bar: bar.with_style(style), is_shown: false }
    }

    /// Sets the number of bytes read so far.
    pub(crate) fn update(&mut self, bytes: u64) {
        if !self.is_shown && self.started.elapsed() >= PATIENCE {
            self.bar.set_draw_target(ProgressDrawTarget::stderr());
            self.is_shown = true;
        }
        self.bar.set_position(bytes);
    }

    /// Removes the bar.
    pub(crate) fn finish(self) {
        self.bar.finish_and_clear();
    }
}
