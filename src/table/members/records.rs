//! JSON lines as rows with a column a member.

use std::io::BufRead;

use arrow_array::RecordBatch;
use arrow_json::ReaderBuilder;
use arrow_json::reader::Decoder;

use super::Members;
use crate::table::TableError;
use crate::table::error::unread;

/// Reads lines to batches of rows, a column a member.
pub(in crate::table) struct Records<R> {
    reader: R,
    table: String,
    members: Members,
    /// Whether `members` tell of these lines, and not only of some before.
    is_known: bool,
    decoder: Decoder,
    rows: usize,
    /// Of the last line that was read, from 1.
    line: u64,
    buffer: String,
    is_done: bool,
}

impl<R: BufRead> Records<R> {
    /// Lines of `reader`, a table called `table` with these members, in batches of `rows`. `is_known` says that all of them have been
    /// [learnt](Members::learn) from.
    pub(in crate::table) fn new(
        reader: R,
        table: &str,
        members: Members,
        is_known: bool,
        rows: usize,
    ) -> Result<Records<R>, TableError> {
        let builder = ReaderBuilder::new(members.schema()).with_strict_mode(true);
        // One more than there will be, so that it never stops before it is told to.
        let decoder = builder.with_batch_size(rows + 1).build_decoder()?;
        let (table, buffer) = (table.to_owned(), String::new());
        Ok(Records {
            reader,
            table,
            members,
            is_known,
            decoder,
            rows,
            line: 0,
            buffer,
            is_done: false,
        })
    }

    fn batch(&mut self) -> Result<Option<RecordBatch>, TableError> {
        let first = self.line + 1;
        let mut rows = 0;
        while rows < self.rows && !self.is_done {
            self.buffer.clear();
            let read = self.reader.read_line(&mut self.buffer);
            self.is_done = read.map_err(|error| unread(&self.table, error))? == 0;
            self.line += u64::from(!self.is_done);
            let line = self.buffer.trim_ascii();
            if line.is_empty() {
                continue;
            }
            let told = |what| TableError::Line { table: self.table.clone(), line: self.line, what };
            if !self.is_known {
                self.members.check(line).map_err(told)?;
            }
            self.decoder.decode(line.as_bytes()).map_err(|error| told(error.to_string()))?;
            rows += 1;
        }
        let batch = self.decoder.flush().map_err(|error| {
            let what = format!("lines {first} to {}: {error}", self.line);
            unread(&self.table, what)
        })?;
        Ok(batch)
    }
}

impl<R: BufRead> Iterator for Records<R> {
    type Item = Result<RecordBatch, TableError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.batch().transpose()
    }
}
