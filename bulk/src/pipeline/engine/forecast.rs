//! Estimates of the size of the rest of the input.

use crate::io::Source;

/// Estimates the number of classes in the end from the share of the input that is processed.
#[derive(Debug, Default)]
pub(crate) struct Forecast {
    /// Bytes of all sources, if known.
    total_bytes: Option<u64>,
    processed_bytes: u64,
}

impl Forecast {
    /// A forecast for `sources`.
    pub(crate) fn new(sources: &[Source]) -> Forecast {
        Forecast {
            total_bytes: sources.iter().map(|source| source.bytes).sum(),
            processed_bytes: 0,
        }
    }

    /// Adds a batch of `bytes` that is processed.
    pub(crate) fn add(&mut self, bytes: u64) {
        self.processed_bytes += bytes;
    }

    /// Bytes that remain, if known.
    pub(crate) fn rest(&self) -> Option<u64> {
        self.total_bytes.map(|total| total.saturating_sub(self.processed_bytes))
    }

    /// The number of classes in the end if there are `classes` now, as if new ones kept coming at the
    /// rate seen so far; 0 if unknown.
    pub(crate) fn expected(&self, classes: usize) -> u64 {
        match self.total_bytes {
            Some(total) if self.processed_bytes > 0 => {
                (classes as f64 * (total as f64 / self.processed_bytes as f64)) as u64
            }
            _ => 0,
        }
    }
}
