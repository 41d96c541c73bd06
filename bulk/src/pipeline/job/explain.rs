//! Explanations, record by record or pair by pair.

use crate::io::write::explanation::{Compared, Explained, json, pair_json, pair_text, text};
use crate::io::write::json as rows;
use crate::io::write::paint::Paint;
use crate::io::write::row::push_decimal;
use crate::io::{Chunk, Source};
use crate::pipeline::compare::mergers::mergers_of;
use crate::pipeline::engine::driver::{Job, Reading, run};
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::work::{ChunkWork, Worker, record_at};
use crate::pipeline::{Equivalence, Error, OnInvalid, Report, Settings, Sinks};
use uriscan_core::explain::{Comparison, Explanation, compare_with_rules, explain_with_rules};
use uriscan_core::index::trimmed;
use uriscan_core::simd::Isa;
use uriscan_core::uri::{UriError, UriErrorKind, parse};

/// The form in which explanations are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExplainFormat {
    /// Lines for people.
    Text {
        /// With the escapes that make a terminal show colours.
        has_colour: bool,
    },
    /// One JSON object for each URI, or pair of them.
    Jsonl,
}

/// What to explain, and in which form.
///
/// ```
/// use uriscan_bulk::pipeline::{ExplainFormat, ExplainOptions, explain_one};
/// let options = ExplainOptions::new(ExplainFormat::Jsonl);
/// let mut out = Vec::new();
/// explain_one(b"HTTP://h/", &options, &mut out).unwrap();
/// assert!(out.starts_with(b"{"));
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct ExplainOptions {
    /// When two records are equivalent.
    pub equivalence: Equivalence,
    /// A record is two URIs with a tab between, to be compared; what follows another tab is ignored. The same text twice and a last
    /// field are two URIs, too, if the text has tabs. A record without a tab, or with nothing after it, is one URI.
    pub has_pairs: bool,
    /// The form.
    pub format: ExplainFormat,
}

setters! { ExplainOptions { equivalence: Equivalence, has_pairs: bool } }

impl ExplainOptions {
    /// Explanations in `format`: of single URIs, by the default equivalence.
    pub fn new(format: ExplainFormat) -> ExplainOptions {
        ExplainOptions { equivalence: Equivalence::default(), has_pairs: false, format }
    }
}

/// Writes an explanation of every record.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{ExplainFormat, ExplainOptions, Settings, Sinks, explain};
/// let format = ExplainFormat::Text { has_colour: false };
/// let options = ExplainOptions::new(format).has_pairs(true);
/// let pairs = Source::new("pairs", &b"http://a/\t\tseen\nhttp://h/\thttp://h\n"[..]);
/// let mut out = Vec::new();
/// explain(vec![pairs], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// let lines = String::from_utf8(out).unwrap();
/// assert!(lines.starts_with("http://a/\n"), "{lines}");
/// assert!(lines.ends_with("equivalent at level scheme: empty-path\n"));
/// ```
///
/// # Errors
/// See [`Error`].
pub fn explain(
    sources: Vec<Source>,
    options: &ExplainOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let mut job = Explain { options, record_end: settings.record_end };
    run(&mut job, sources, settings, sinks)
}

/// Appends an explanation of `uri`, without the white space around it, to `out`.
///
/// # Errors
/// The fault for which `uri` has no canonical form. It has been written like any explanation.
pub fn explain_one(
    uri: &[u8],
    options: &ExplainOptions,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    push_one(None, uri, options, out)
}

/// Appends an explanation of two URIs, without the white space around them, and a comparison to `out`; returns whether they
/// are equivalent.
///
/// # Errors
/// As [`explain_one`], for the first of the two that has a fault.
pub fn explain_pair(
    a: &[u8],
    b: &[u8],
    options: &ExplainOptions,
    out: &mut Vec<u8>,
) -> Result<bool, UriError> {
    push_pair(None, [a, b], options, out)
}

fn fault(explained: &Result<Explanation, UriError>) -> Result<(), UriError> {
    explained.as_ref().map(|_| ()).map_err(|&error| error)
}

fn push_one(
    line: Option<u64>,
    uri: &[u8],
    options: &ExplainOptions,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    let Equivalence { normalize, rules, .. } = &options.equivalence;
    let record = trimmed(uri);
    let uri = &options.equivalence.target(record);
    let result = &explain_with_rules(uri, *normalize, rules.as_deref());
    let explained = Explained { record, uri, result };
    match options.format {
        ExplainFormat::Text { has_colour } => text(explained, Paint { is_on: has_colour }, out),
        ExplainFormat::Jsonl => json(line, explained, out),
    }
    fault(result)
}

fn push_pair(
    line: Option<u64>,
    [a, b]: [&[u8]; 2],
    options: &ExplainOptions,
    out: &mut Vec<u8>,
) -> Result<bool, UriError> {
    let Equivalence { normalize, rules, .. } = &options.equivalence;
    let records = [a, b].map(trimmed);
    let [a, b] = records;
    let (a, b) = (&*options.equivalence.target(a), &*options.equivalence.target(b));
    let rules = rules.as_deref();
    let explain = |uri| explain_with_rules(uri, *normalize, rules);
    let (of_a, of_b) = (&explain(a), &explain(b));
    let comparison = compare_with_rules(a, b, *normalize, rules);
    let are_one = matches!(comparison, Comparison::Equivalent { .. });
    let mergers = match are_one {
        true => Vec::new(),
        false => mergers_of(records[0], records[1], &options.equivalence),
    };
    let a = Explained { record: records[0], uri: a, result: of_a };
    let b = Explained { record: records[1], uri: b, result: of_b };
    let compared = Compared { a, b, comparison: &comparison, mergers: &mergers };
    match options.format {
        ExplainFormat::Text { has_colour } => {
            pair_text(compared, Paint { is_on: has_colour }, out);
        }
        ExplainFormat::Jsonl => pair_json(line, compared, out),
    }
    fault(of_a).and(fault(of_b))?;
    Ok(are_one)
}

struct Explain<'a> {
    options: &'a ExplainOptions,
    record_end: u8,
}

impl Explain<'_> {
    fn push(&self, line: u64, record: &[u8], out: &mut Vec<u8>) -> Result<(), UriError> {
        match pair_of(record).filter(|_| self.options.has_pairs) {
            // What was dropped for a set has no survivor.
            Some([a, b""]) => push_one(Some(line), a, self.options, out),
            Some(pair) => push_pair(Some(line), pair, self.options, out).map(|_| ()),
            None => push_one(Some(line), record, self.options, out),
        }
    }
}

/// The two URIs of a record with a tab. An invalid one may hold tabs: it is written twice then, before one more field, or
/// once, before an empty field and `seen`; two URIs before these are a pair.
fn pair_of(record: &[u8]) -> Option<[&[u8]; 2]> {
    let is_uri = |text: &[u8]| parse(trimmed(text)).is_ok_and(|parts| parts.is_uri());
    if let Some(a) = record.strip_suffix(b"\t\tseen")
        && !a.split(|&byte| byte == b'\t').take(2).all(is_uri)
    {
        return Some([a, b""]);
    }
    if let Some(last) = memchr::memrchr(b'\t', record) {
        let (a, b) = record[..last].split_at(last / 2);
        if b.strip_prefix(b"\t") == Some(a) {
            return Some([a, a]);
        }
    }
    let mut fields = record.split(|&byte| byte == b'\t');
    Some([fields.next()?, fields.next()?])
}

impl Job for Explain<'_> {
    type Rows = ();

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<()>) {
        let index = &mut worker.index;
        let ChunkWork { chunk, out, report, room, origins, .. } = work;
        let text = chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        for (number, span) in index.spans().enumerate() {
            let line = origins.get(number).map_or(chunk.line + number as u64, |from| from.line);
            if room.is_full(out.len(), span.start as usize) {
                break;
            }
            let (_, record) = record_at(text, index, span);
            if record.is_empty() {
                report.blank += 1;
                continue;
            }
            report.records += 1;
            if let Err(error) = self.push(line, record.bytes(), out) {
                report.invalid.add(error.kind);
            }
        }
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Pass
    }

    fn reading(&self) -> Reading {
        Reading::with_lines()
    }

    fn long_record(&self, chunk: &Chunk) -> LongRecord {
        let error = UriError::new(UriErrorKind::TooLong, usize::MAX);
        let mut row = Vec::new();
        match self.options.format {
            ExplainFormat::Text { .. } => {
                row.extend_from_slice(b"line ");
                push_decimal(chunk.line, &mut row);
                let message = [": ", error.kind.name(), ": ", error.kind.message(), "\n"];
                message.iter().for_each(|text| row.extend_from_slice(text.as_bytes()));
            }
            ExplainFormat::Jsonl => rows::error_row(chunk.line, error, &mut row),
        }
        LongRecord::Row(row)
    }
}

impl Equivalence {
    /// Why `a` and `b` are equivalent, or what would make them so, in lines for people: what `uriscan explain A B` prints.
    ///
    /// ```
    /// let text = uriscan::Equivalence::default().explain("HTTP://h/", "http://h")?;
    /// assert!(text.contains("scheme-case") && text.contains("\nequivalent"), "{text}");
    /// # Ok::<(), uriscan::UriError>(())
    /// ```
    ///
    /// # Errors
    /// As [`Equivalence::is_equal`].
    pub fn explain<A, B>(&self, a: &A, b: &B) -> Result<String, UriError>
    where
        A: AsRef<[u8]> + ?Sized,
        B: AsRef<[u8]> + ?Sized,
    {
        let options = ExplainOptions::new(ExplainFormat::Text { has_colour: false });
        let mut text = Vec::new();
        explain_pair(a.as_ref(), b.as_ref(), &options.equivalence(self.clone()), &mut text)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
