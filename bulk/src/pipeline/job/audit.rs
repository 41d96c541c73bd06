//! What section 7 of RFC 3986 warns of in each record; and records with their secrets masked.

use std::io::{self, Write};

use super::row_job::Positions;
use crate::io::read::origins::RecordOrigin;
use crate::io::write::diagnostic::Position;
use crate::io::{Chunk, Shape, Source, write::finding};
use crate::pipeline::engine::driver::{Job, Reading, run};
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::work::{ChunkWork, Worker, record_at};
use crate::pipeline::{Error, OnInvalid, Report, Settings, Sinks};
use uriscan_core::audit::{
    Finding, Hint, Rule, RuleSet, Severity, audit_with, oversized, quiet, redact_by,
};
use uriscan_core::chunk::Span;
use uriscan_core::index::trim;
use uriscan_core::simd::Isa;

/// What an audit writes for each finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AuditFormat {
    /// One line: `list.txt:3:8-13: warning: rare-ipv4 (7.4): IPv4 address in a rare form: 127.0.0.1: …`.
    /// Columns count bytes of the line from 1, the last one included.
    #[default]
    Text,
    /// A JSON object with `source`, `line` (from 1), `start` and `end` (bytes from the start of the
    /// record, from 0, the end not included), `rule`, `severity`, `section`, `message`,
    /// `consequence`, `count`, `address` (or `null`), and `text`, the bytes in question (`null`
    /// for a secret).
    Jsonl,
    /// A log in SARIF 2.1.0, the form that CI systems read.
    Sarif,
}

/// Which rules are checked, and how findings are reported.
///
/// ```
/// use uriscan_bulk::pipeline::{AuditFormat, AuditOptions};
/// let options = AuditOptions::default().format(AuditFormat::Sarif);
/// assert_eq!(options.format, AuditFormat::Sarif);
/// ```
#[derive(Clone, Copy, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct AuditOptions {
    /// The rules.
    pub rules: RuleSet,
    /// The form of the findings.
    pub format: AuditFormat,
    /// Findings below this severity are counted, but not written; `None` writes all that the rules report.
    pub least_written: Option<Severity>,
}

setters! { AuditOptions { rules: RuleSet, format: AuditFormat } into { least_written: Option<Severity> } }

impl AuditOptions {
    fn writes(&self, severity: Severity) -> bool {
        self.least_written.is_none_or(|least| severity >= least)
    }
}

/// Findings by rule and severity; adds up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FindingCounts([[u64; Severity::ALL.len()]; Rule::ALL.len()]);

impl Default for FindingCounts {
    fn default() -> FindingCounts {
        FindingCounts([[0; Severity::ALL.len()]; Rule::ALL.len()])
    }
}

impl FindingCounts {
    /// The number of findings of `rule`.
    pub fn of(&self, rule: Rule) -> u64 {
        self.0[rule as usize].iter().sum()
    }

    /// The number of findings of `rule` that have `severity`.
    pub fn of_severity(&self, rule: Rule, severity: Severity) -> u64 {
        self.0[rule as usize][severity as usize]
    }

    /// The number of findings of `severity` and above.
    pub fn at_least(&self, severity: Severity) -> u64 {
        self.0.iter().flat_map(|counts| &counts[severity as usize..]).sum()
    }

    /// Those of `severity` and above only.
    #[must_use]
    pub fn from_severity(mut self, severity: Severity) -> FindingCounts {
        self.0.iter_mut().for_each(|counts| counts[..severity as usize].fill(0));
        self
    }

    /// The number of all findings.
    pub fn total(&self) -> u64 {
        self.at_least(Severity::Note)
    }

    fn add(&mut self, finding: &Finding) {
        self.0[finding.rule as usize][finding.severity as usize] += 1;
    }

    fn add_all(&mut self, other: &FindingCounts) {
        for (sum, count) in self.0.iter_mut().flatten().zip(other.0.iter().flatten()) {
            *sum += count;
        }
    }
}

/// Writes what `options.rules` find in the records of `sources`, in order; returns the totals of the run, in
/// which `written` counts the records with findings that are written, and all findings by rule. Those of a record come in the order of their
/// severity, errors first.
///
/// A record that is not a URI-reference is counted as invalid, and audited as Appendix B splits it. One
/// that is too long is a finding of [`Rule::Invalid`].
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{AuditOptions, Settings, Sinks, audit}};
/// let list = Source::new("list", &b"http://h/a\nhttp://0x7f.1/\n"[..]);
/// let mut out = Vec::new();
/// let (report, counts) =
///     audit(vec![list], &AuditOptions::default(), &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!((report.records, counts.of(uriscan::audit::Rule::RareIpv4)), (2, 1));
/// assert!(out.starts_with(b"list:2:8-13: error: host-whatwg (7.6): browsers see another host: "));
/// ```
///
/// # Errors
/// See [`Error`].
pub fn audit(
    sources: Vec<Source>,
    options: &AuditOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<(Report, FindingCounts), Error> {
    let mut job = Audit {
        options: *options,
        positions: Positions::new(&sources, settings),
        record_end: settings.record_end,
        max_record: settings.max_record,
        counts: FindingCounts::default(),
    };
    let report = if options.format == AuditFormat::Sarif {
        sinks.out.write_all(finding::sarif_head().as_bytes()).map_err(Error::write)?;
        let mut out = FirstWithoutComma { out: &mut *sinks.out, has_begun: false };
        // The cast lets the borrow end here, which it could not inside the `Option`.
        let progress =
            sinks.progress.as_mut().map(|progress| &mut **progress as &mut (dyn FnMut(u64) + Send));
        let survey = sinks.survey.as_deref_mut();
        let mut inner = Sinks { progress, survey, ..Sinks::new(&mut out) };
        let report = run(&mut job, sources, settings, &mut inner)?;
        sinks.out.write_all(finding::SARIF_TAIL.as_bytes()).map_err(Error::write)?;
        sinks.out.flush().map_err(Error::write)?;
        report
    } else {
        run(&mut job, sources, settings, sinks)?
    };
    Ok((report, job.counts))
}

/// Removes the comma before the first element of a list.
struct FirstWithoutComma<'a> {
    out: &'a mut (dyn Write + Send),
    has_begun: bool,
}

impl Write for FirstWithoutComma<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.has_begun || bytes.is_empty() {
            return self.out.write(bytes);
        }
        self.has_begun = true;
        self.out.write_all(&bytes[1..])?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

struct Audit {
    options: AuditOptions,
    positions: Positions,
    record_end: u8,
    max_record: usize,
    counts: FindingCounts,
}

/// What is kept of a chunk.
#[derive(Debug, Default)]
struct Findings {
    /// The records that need a closer look.
    loud: Vec<Loud>,
    /// The findings of one record after the other.
    buffer: Vec<Finding>,
    counts: FindingCounts,
}

/// A record that is not quiet.
#[derive(Clone, Copy, Debug)]
struct Loud {
    /// Lines before it in the chunk.
    lines: u32,
    /// Offset of its line in the chunk.
    line_start: u32,
    span: Span,
    hint: Hint,
}

impl Audit {
    /// Whether a record that is too long is a finding.
    fn reports_long(&self) -> bool {
        let Finding { rule, severity, .. } = oversized(self.max_record);
        self.options.rules.reports(rule, severity)
    }

    /// Audits a record of the chunk.
    #[inline(never)]
    fn look(&self, loud: Loud, origins: &[RecordOrigin], work: &mut ChunkWork<Findings>) {
        let ChunkWork { chunk, rows, out, report, survey, lines_before, .. } = work;
        let text = chunk.text.padded().content();
        let Loud { lines, line_start, span, hint } = loud;
        let record = span.of(text);
        if let Some(error) = audit_with(hint, record, self.options.rules, &mut rows.buffer) {
            report.invalid.add(error.kind);
        }
        if rows.buffer.is_empty() {
            return;
        }
        rows.buffer.sort_by_key(|finding| core::cmp::Reverse(finding.severity));
        let start = self.positions.of(chunk, origins);
        let position = start.of_record(lines.into(), (span.start - line_start).into());
        let whole = &text[line_start as usize..span.end as usize];
        let writes = |finding: &Finding| self.options.writes(finding.severity);
        report.written += u64::from(rows.buffer.iter().any(writes));
        for finding in &rows.buffer {
            rows.counts.add(finding);
            if !writes(finding) {
                continue;
            }
            if let Some(part) = survey {
                let line = match (origins.get(lines as usize), *lines_before) {
                    (Some(origin), Some((first, _))) => origin.line - first,
                    _ => lines.into(),
                };
                part.finding(line, record, finding);
            }
            let byte = chunk.byte + u64::from(span.start);
            self.write(position, whole, record, byte, finding, out);
        }
    }

    /// Appends `finding`, in `record`, which begins at `byte` of its source and ends the text `line`.
    fn write(
        &self,
        position: Position<'_>,
        line: &[u8],
        record: &[u8],
        byte: u64,
        found: &Finding,
        out: &mut Vec<u8>,
    ) {
        match self.options.format {
            AuditFormat::Text => finding::text(position, found, out),
            AuditFormat::Jsonl => finding::jsonl(position, record, found, out),
            AuditFormat::Sarif => {
                let line = (self.record_end == b'\n').then_some(line);
                finding::sarif(position, line, byte, found, out);
            }
        }
    }
}

impl Job for Audit {
    type Rows = Findings;

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<Findings>) {
        work.rows.counts = FindingCounts::default();
        let text = work.chunk.text.padded();
        worker.index.build_with(isa, text, self.record_end);
        worker.marks.find(isa, text);
        let mut records = 0;
        // Noted first and looked at later, so that this loop stays small.
        let mut loud = core::mem::take(&mut work.rows.loud);
        loud.clear();
        for (i, whole) in worker.index.spans().enumerate() {
            let (span, record) = record_at(text, &worker.index, whole);
            if record.is_empty() {
                continue;
            }
            records += 1;
            if let Some(hint) = quiet::screen(isa, record, &mut worker.marks) {
                loud.push(Loud { lines: i as u32, line_start: whole.start, span, hint });
            }
        }
        work.report.records = records;
        work.report.blank = worker.index.record_count() as u64 - records;
        let origins = self.positions.take_origins(work);
        for &record in &loud {
            if work.room.is_full(work.out.len(), record.line_start as usize) {
                let (lines, text) = (record.lines as usize, work.chunk.text.padded());
                let is_blank = |&whole: &Span| trim(text.padded(), whole).is_empty();
                let blank = worker.index.spans().take(lines).filter(is_blank).count();
                (work.report.blank, work.report.records) = (blank as u64, (lines - blank) as u64);
                break;
            }
            self.look(record, &origins, work);
        }
        work.rows.loud = loud;
        if work.room.cut.is_some() || work.is_filtered {
            work.origins = origins;
        }
    }

    fn commit(&mut self, batch: &mut [ChunkWork<Findings>]) -> Result<(), Error> {
        let too_long = oversized(self.max_record);
        for work in batch {
            match work.chunk.shape {
                Shape::Records => self.counts.add_all(&work.rows.counts),
                Shape::LongFirst if self.reports_long() => {
                    self.counts.add(&too_long);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn reading(&self) -> Reading {
        Reading::with_lines()
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Pass
    }

    fn long_record(&self, chunk: &Chunk) -> LongRecord {
        let mut row = Vec::new();
        let too_long = oversized(self.max_record);
        if self.reports_long() && self.options.writes(too_long.severity) {
            let start = self.positions.of(chunk, &[]);
            let position = Position { is_piece: true, has_context: false, ..start };
            let text = chunk.text.padded().content();
            self.write(position, text, &[], chunk.byte, &too_long, &mut row);
        }
        LongRecord::Row(row)
    }
}

/// Writes every record of `sources` with its secrets masked ([`redact_by`]); a blank line stays a blank line.
///
/// In the report, `written` counts records. An overlong one is omitted, and counted as
/// invalid, since a secret in it could not be found.
///
/// # Errors
/// See [`Error`].
pub fn redact(
    sources: Vec<Source>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run(&mut Redact { record_end: settings.record_end }, sources, settings, sinks)
}

struct Redact {
    record_end: u8,
}

impl Job for Redact {
    type Rows = ();

    fn reading(&self) -> Reading {
        Reading::without_text()
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<()>) {
        let text = work.chunk.text.padded();
        worker.index.build_with(isa, text, self.record_end);
        work.out.reserve(text.len() + 1);
        for span in worker.index.spans() {
            let (_, record) = record_at(text, &worker.index, span);
            if record.is_empty() {
                work.report.blank += 1;
            } else {
                work.report.records += 1;
                redact_by(isa, record.padded().into(), &mut work.out);
            }
            work.out.push(self.record_end);
        }
        work.report.written = work.report.records;
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Drop
    }
}
