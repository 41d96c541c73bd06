//! JSON lines as rows, with a column for each member.

use std::io::BufRead;

use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;

use super::Members;
use crate::text::line::LineReader;
use crate::unit::{BATCH_BYTES, batch_rows};
use uriscan_bulk::error::Error;

/// Reads lines to batches of rows, with a column for each member.
pub(crate) struct Records<R> {
    lines: LineReader<R>,
    table: String,
    members: Members,
    /// Whether `members` were learned from all of these lines, and not only from the first.
    is_known: bool,
    decoder: Decoder,
    rows: usize,
}

impl<R: BufRead> Records<R> {
    /// Lines of `reader`, a table called `table` with these members, in batches of `rows`, or of fewer if these exceed
    /// [`BATCH_BYTES`]. With `is_known`, the members were [learned](Members::learn) from all of these lines.
    pub(crate) fn new(
        reader: R,
        table: &str,
        members: Members,
        is_known: bool,
        rows: usize,
    ) -> Result<Records<R>, Error> {
        let rows = batch_rows(members.count(), rows);
        let builder = ReaderBuilder::new(members.schema()).with_strict_mode(true);
        // Numbers become text in the column of URIs only: elsewhere, the members have been compared with their types.
        let builder = builder.with_coerce_primitive(true);
        // One more than needed, so that the decoder never completes a batch by itself.
        let decoder = builder.with_batch_size(rows + 1).build_decoder()?;
        let (lines, table) = (LineReader::new(reader, table), table.to_owned());
        Ok(Records { lines, table, members, is_known, decoder, rows })
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, Error> {
        let first = self.lines.number() + 1;
        let (mut rows, mut bytes) = (0, 0);
        while rows < self.rows && bytes < BATCH_BYTES {
            let Some(line) = self.lines.next()? else { break };
            rows += 1;
            bytes += line.len();
            let is_fit = if self.is_known { Ok(()) } else { self.members.look(line, true) };
            let decoded = is_fit.and_then(|()| {
                self.decoder.decode(line.as_bytes()).map_err(|error| error.to_string())
            });
            decoded.map_err(|what| self.lines.wrong(what))?;
        }
        self.decoder.flush().map_err(|error| {
            let what = format!("lines {first} to {}: {error}", self.lines.number());
            Error::read(&self.table, what)
        })
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Result<RecordBatch, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}
