//! Several columns of text tables, of which the first has the URIs.

use std::io;

use super::super::rows::{RowFinder, RowRun};
use crate::extract::Kind;
use crate::io::Chunk;
use crate::io::cut::Cut;
use crate::row;
use crate::simd::Isa;

/// Where the columns of tables are.
pub(super) struct Runs {
    /// The URIs.
    pub(super) first: RowRun,
    /// Other columns, which are fields after the URI; an empty field for `None`.
    pub(super) others: Vec<Option<RowRun>>,
}

impl Runs {
    /// Where chunks of such tables are cut.
    pub(super) fn cut(&self) -> Box<dyn Cut> {
        let others = self.others.iter().flatten().map(|run| run.finder.cut());
        Box::new(Columns { first: self.first.finder.cut(), others: others.collect() })
    }
}

/// Cuts tables of which several columns are read, which are all looked for at the beginning.
struct Columns {
    first: Box<dyn Cut>,
    others: Vec<Box<dyn Cut>>,
}

impl Cut for Columns {
    fn needs_head(&self) -> bool {
        self.first.needs_head()
    }

    fn head_bytes(&self) -> usize {
        self.first.head_bytes()
    }

    fn has_head(&self, content: &[u8], record_end: u8) -> bool {
        self.first.has_head(content, record_end)
    }

    fn begin(&mut self, name: &str, head: &[u8]) -> io::Result<Kind> {
        self.others.iter_mut().try_for_each(|other| other.begin(name, head).map(|_| ()))?;
        self.first.begin(name, head)
    }

    fn last_end(&mut self, content: &[u8]) -> Option<usize> {
        self.first.last_end(content)
    }

    fn long_end(&mut self, content: &[u8]) -> Option<usize> {
        self.first.long_end(content)
    }

    fn line_end(&self) -> Option<u8> {
        self.first.line_end()
    }
}

/// The values of a column in a chunk, one for each row that fits.
#[derive(Default)]
pub(super) struct Column {
    pub(super) found: row::Found,
    text: Vec<u8>,
    /// The offset of the row in the chunk, and where in the text its value ends.
    ends: Vec<(u32, usize)>,
}

impl Column {
    pub(super) fn clear(&mut self) {
        self.found.clear();
        self.text.clear();
        self.ends.clear();
    }

    /// Takes the values of a column of `chunk`, whose text has the length `len`.
    #[inline(always)]
    pub(super) fn fill<I: Isa>(
        &mut self,
        isa: I,
        finder: &RowFinder,
        chunk: &mut Chunk,
        len: usize,
    ) {
        let Column { found, text, ends } = self;
        found.takes_blank = true;
        finder.find(isa, chunk, found);
        let content = chunk.text.padded().content();
        for (row, value) in found.rows.iter().zip(&found.values) {
            text.extend_from_slice(if *value == row::NULL { b"" } else { value.of(content) });
            ends.push((row.start, text.len()));
        }
        chunk.text.set_len(len);
    }

    /// The value of the row at this offset; `at` is the number of the next value, for rows in their order.
    pub(super) fn value(&self, row: u32, at: &mut usize) -> &[u8] {
        while self.ends.get(*at).is_some_and(|&(start, _)| start < row) {
            *at += 1;
        }
        match self.ends.get(*at) {
            Some(&(start, end)) if start == row => {
                let before = if *at == 0 { 0 } else { self.ends[*at - 1].1 };
                &self.text[before..end]
            }
            _ => b"",
        }
    }
}
