//! Positions that rise, read window by window.

use super::aside::Aside;
use super::numbers::{Numbers, Reading};
use crate::pipeline::Error;

/// Streams of positions, brought together.
#[derive(Debug)]
pub(super) struct Positions {
    streams: Vec<Stream>,
    /// Where the next window begins.
    at: u64,
}

/// Positions that rise.
#[derive(Debug)]
struct Stream {
    reading: Reading,
    /// The next one.
    next: Option<u64>,
}

/// A bit for each place of a window, the lowest of each word first.
#[derive(Debug, Default)]
pub(super) struct Marks(Vec<u64>);

impl Marks {
    pub(super) fn words(&self) -> &[u64] {
        &self.0
    }

    pub(super) fn clear(&mut self) {
        self.0.clear();
    }
}

impl Positions {
    /// The positions of all `streams`, each written as distances, the first from 0.
    pub(super) fn new(streams: Vec<Numbers>) -> Positions {
        let stream = |numbers: Numbers| Stream { reading: numbers.read(), next: Some(0) };
        Positions { streams: streams.into_iter().map(stream).collect(), at: 0 }
    }

    /// Reads the first ones, which are in `file`; needed before the first window.
    pub(super) fn begin(&mut self, file: &Aside) -> Result<(), Error> {
        self.streams.iter_mut().try_for_each(|stream| stream.advance(0, file))
    }

    /// Marks the positions in the next window, of `len` places.
    pub(super) fn mark(
        &mut self,
        len: usize,
        marks: &mut Marks,
        file: &Aside,
    ) -> Result<(), Error> {
        marks.0.clear();
        marks.0.resize(len.div_ceil(64), 0);
        let end = self.at + len as u64;
        for stream in &mut self.streams {
            while let Some(next) = stream.next.filter(|&next| next < end) {
                let at = (next - self.at) as usize;
                marks.0[at / 64] |= 1 << (at % 64);
                stream.advance(next, file)?;
            }
        }
        self.at = end;
        Ok(())
    }
}

impl Stream {
    /// Goes on to the position behind `before`, or to the first one, whose distance is from 0.
    #[inline]
    fn advance(&mut self, before: u64, file: &Aside) -> Result<(), Error> {
        self.next = self.reading.next(file)?.map(|distance| before + distance);
        Ok(())
    }
}
