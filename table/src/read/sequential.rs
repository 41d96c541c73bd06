//! Tables that are read from front to back.

use std::fmt;
use std::io::{self, BufReader, Read};

use arrow_schema::SchemaRef;

use crate::TableFormat;
use crate::job::Job;
use crate::read::notes::Notes;
use crate::read::rows::{Rows, stream_rows};
use crate::text::fitting::{Fitting, Omitted};
use crate::text::json_array::ArrayLines;
use crate::text::jsonl::Lines;
use crate::text::members::{Members, Records};
use crate::text::separated::Separated;
use uriscan_bulk::error::Error;
use uriscan_bulk::io::read::compress::decompressed;

/// Bytes from which the format of a table, and the members of its lines, are detected.
const HEAD_BYTES: u64 = 1 << 20;

/// A table that is read from front to back, decompressed.
pub(crate) struct Text {
    /// Its first bytes.
    pub(crate) head: Vec<u8>,
    is_all: bool,
    pub(crate) all: Box<dyn Read + Send>,
}

impl Text {
    pub(crate) fn open(stream: impl Read + Send + 'static, name: &str) -> Result<Text, Error> {
        let mut stream =
            decompressed(Box::new(stream)).map_err(|error| Error::read(name, error))?;
        let mut head = Vec::new();
        let mut start = stream.by_ref().take(HEAD_BYTES);
        start.read_to_end(&mut head).map_err(|error| Error::read(name, error))?;
        let is_all = (head.len() as u64) < HEAD_BYTES;
        // A byte order mark is not part of the first name.
        if head.starts_with(b"\xEF\xBB\xBF") {
            head.drain(..3);
        }
        let all = Box::new(io::Cursor::new(head.clone()).chain(stream));
        Ok(Text { head, is_all, all })
    }

    /// JSON lines; of an array, its values.
    pub(crate) fn json_lines(self) -> Text {
        if !self.head.trim_ascii_start().starts_with(b"[") {
            return self;
        }
        // An array is cut off at the end of the first bytes: what is whole are its lines before that.
        let mut lines = ArrayLines::new(&self.head[..]);
        let mut head = Vec::new();
        let _ = lines.read_to_end(&mut head);
        Text { head, is_all: self.is_all, all: Box::new(ArrayLines::new(BufReader::new(self.all))) }
    }

    /// The same without the rows that do not fit, if `job` omits them; it is of this format, and called `name`.
    pub(crate) fn fitting(
        self,
        of: (TableFormat, &str),
        job: &Job,
        omitted: Option<Omitted>,
    ) -> Result<Text, Error> {
        if job.skips_bad_rows.is_none() {
            return Ok(self);
        }
        let (format, name) = of;
        let mut fitting = Fitting::new(self.all, (format, name), job, omitted)?;
        let mut head = Vec::new();
        let mut start = fitting.by_ref().take(HEAD_BYTES);
        start.read_to_end(&mut head).map_err(|error| Error::read(name, error))?;
        let is_all = (head.len() as u64) < HEAD_BYTES;
        let all = Box::new(io::Cursor::new(head.clone()).chain(fitting));
        Ok(Text { head, is_all, all })
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.head.is_empty()
    }

    /// The members of the lines among the first bytes.
    fn members(&self, name: &str, job: &Job) -> Result<Members, Error> {
        let is_all = self.is_all;
        let whole = self.head.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let mut members = Members::new(&job.column);
        members.learn(if is_all { &self.head[..] } else { &self.head[..whole] }, name)?;
        Ok(members)
    }

    /// The rows; `known` are the members of JSON lines, and whether this table was among the files they were learned from. The
    /// lines must not have members that are called as one of `keys`, which are added to them.
    pub(crate) fn rows(
        self,
        format: TableFormat,
        name: &str,
        (job, omitted, notes): (&Job, Option<Omitted>, &Notes),
        (known, keys): (Option<(&Members, bool)>, &[String]),
    ) -> Result<(SchemaRef, Rows), Error> {
        let fault = |error: &dyn fmt::Display| Error::read(name, error);
        match format {
            TableFormat::Csv | TableFormat::Tsv => {
                let text = self.fitting((format, name), job, omitted)?;
                let rows = Separated::new(text.all, (job.dialect, format), name, job.batch_rows)?;
                Ok((rows.schema(), Rows::Batches(Box::new(rows))))
            }
            TableFormat::ArrowStream => stream_rows(self.all, name, notes),
            TableFormat::Jsonl if job.to != TableFormat::Jsonl => {
                let text = self.json_lines().fitting((format, name), job, omitted)?;
                let (members, is_known) = match known {
                    Some((members, is_known)) => (members.clone(), is_known),
                    None => (text.members(name, job)?, false),
                };
                let schema = members.schema();
                let lines = BufReader::new(text.all);
                let records = Records::new(lines, name, members, is_known, job.batch_rows)?;
                Ok((schema, Rows::Batches(Box::new(records))))
            }
            TableFormat::Jsonl => {
                let text = self.json_lines().fitting((format, name), job, omitted)?;
                let lines = BufReader::new(text.all);
                let lines = Lines::new(lines, (job, keys), name, job.batch_rows);
                Ok((lines.schema(), Rows::Lines(Box::new(lines))))
            }
            TableFormat::Parquet | TableFormat::Arrow => Err(fault(&format_args!(
                "{} can be read from files only, not from pipes",
                format.name()
            ))),
        }
    }
}
