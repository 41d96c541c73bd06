//! One target out per reference in, in order (RFC 3986 section 5).

mod repaired;
mod rfc2396;
mod rows;

use crate::io::{Chunk, Fields, Source};
use crate::pipeline::engine::driver::{Job, Reading, run};
use crate::pipeline::engine::invalid::{InvalidAction, LongRecord, Policy};
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::{Error, OnInvalid, Report, Settings, Sinks};
use rfc2396::LegacyRows;
use rows::{Columns, Members};
use uriscan_core::chunk::{Padded, Span};
use uriscan_core::context::Context;
use uriscan_core::extract::Filter;
use uriscan_core::index::{Index, Record, trim};
use uriscan_core::repair::{Repair, Repairs};
use uriscan_core::resolve::{Options, append_target, append_target_here};
use uriscan_core::rfc2396::{Legacy, LegacyTarget};
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

/// What references are resolved against.
#[derive(Clone, Debug)]
pub enum Against {
    /// The same for all records, each of which is a reference.
    Context(Context),
    /// Every record is a row with a base and a reference of its own.
    Fields {
        /// Where they stand.
        fields: Fields,
        /// How references are read.
        options: Options,
    },
    /// The same by RFC 2396.
    LegacyFields {
        /// Where they stand.
        fields: Fields,
        /// The variant of the grammar.
        legacy: Legacy,
        /// As [`Options::lenient_scheme`].
        lenient_scheme: bool,
    },
}

/// What becomes of same-document references (4.4).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SameDocument {
    /// They are written as all others.
    #[default]
    Keep,
    /// They are left out.
    Drop,
}

/// What is resolved and what is written.
///
/// ```
/// use uriscan_bulk::pipeline::{Against, OnInvalid, ResolveOptions};
/// use uriscan::resolve::{BaseUri, Context};
/// let base = BaseUri::new(b"http://a/b/c/d;p?q").unwrap();
/// let against = Against::Context(Context::from(base));
/// let options = ResolveOptions::new(against).on_invalid(OnInvalid::Drop);
/// assert_eq!(options.on_invalid, OnInvalid::Drop);
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct ResolveOptions {
    /// What references are resolved against.
    pub against: Against,
    /// What becomes of references to the base itself; there are none without a base.
    pub same_document: SameDocument,
    /// What becomes of records that have no target.
    pub on_invalid: OnInvalid,
    /// Repairs of references, and of bases in rows, that are not URIs; for RFC 3986 only. The target is that of what is
    /// repaired.
    pub repairs: Repairs,
    /// Which targets are written, and which records that have none; the others are counted ([`Report::filtered`]).
    pub filter: Filter,
}

setters! { ResolveOptions
    { same_document: SameDocument, on_invalid: OnInvalid, repairs: Repairs, filter: Filter }
}

impl ResolveOptions {
    /// Resolution against `against`, which keeps same-document references and invalid records.
    pub fn new(against: Against) -> ResolveOptions {
        ResolveOptions {
            against,
            same_document: SameDocument::default(),
            on_invalid: OnInvalid::default(),
            repairs: Repairs::default(),
            filter: Filter::default(),
        }
    }
}

/// Writes the target of every record; a blank line stays a blank line.
///
/// A record that is not a reference, or a row whose base is not a URI, is written as it is under
/// [`OnInvalid::Pass`]; under the other policies its line is missing. An error in a row counts its
/// position from the start of the row; in a member of JSON that holds escapes, it is the start itself.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{Against, ResolveOptions, SameDocument, Settings, Sinks, resolve};
/// use uriscan::resolve::{BaseUri, Context};
/// let base = BaseUri::new(b"http://a/b/c/d;p?q").unwrap();
/// let against = Against::Context(Context::from(base));
/// let options = ResolveOptions::new(against).same_document(SameDocument::Drop);
/// let list = Source::new("list", &b"../g\n#s\nhttp://h/./x\n"[..]);
/// let mut out = Vec::new();
/// let report = resolve(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://a/b/g\nhttp://h/x\n");
/// assert_eq!((report.records, report.written, report.same_document), (3, 2, 1));
/// ```
///
/// # Errors
/// See [`Error`].
pub fn resolve(
    sources: Vec<Source>,
    options: &ResolveOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let mut job = Resolve { options, record_end: settings.record_end };
    run(&mut job, sources, settings, sinks)
}

struct Resolve<'a> {
    options: &'a ResolveOptions,
    record_end: u8,
}

/// Readers of rows with a base and a reference of their own. Reusable.
#[derive(Default)]
struct Readers<'a> {
    columns: Columns<'a>,
    members: Members,
    legacy: LegacyRows,
}

impl Resolve<'_> {
    /// Appends the target of the record on `line`, which is `trimmed`, to `out`; what the error is about, and whether the target is
    /// the base itself.
    #[inline(always)]
    fn target<'a, I: Isa>(
        &self,
        isa: I,
        (text, index): (Padded<'a>, &'a Index),
        (line, trimmed): (Span, Span),
        Readers { columns, members, legacy }: &mut Readers<'a>,
        out: &mut Vec<u8>,
    ) -> (Span, Result<bool, UriError>) {
        let start = out.len();
        let row = without_return(text, line);
        match &self.options.against {
            Against::Context(Context::Base { base, options }) => {
                let (base, reference) = (base.view(), Record::new(text, index, trimmed));
                let target = append_target_here(isa, &base, *options, reference, out);
                (trimmed, target.map(|()| base.is_same_document(&out[start..])))
            }
            Against::Context(Context::Legacy { base, lenient_scheme }) => {
                let reference = trimmed.of(text.padded());
                let target = base.resolve_into(reference, *lenient_scheme, out);
                (trimmed, target.map(|target| target == LegacyTarget::CurrentDocument))
            }
            Against::Context(Context::Suffix(suffix)) => {
                let target = suffix.complete_into(trimmed.of(text.padded()), out);
                (trimmed, target.map(|()| false))
            }
            Against::Fields { fields, options } => {
                let read = match fields {
                    Fields::Tsv { base, reference } => {
                        columns.row(isa, text, index, row, (*base, *reference))
                    }
                    Fields::Jsonl { base, reference } => {
                        members.row(isa, row.of(text.padded()), (base, reference))
                    }
                };
                let target = read.and_then(|read| {
                    append_target(isa, &read.base, *options, read.reference, out)
                        .map(|()| read.base.is_same_document(&out[start..]))
                        .map_err(|error| read.placed(error))
                });
                (row, target)
            }
            Against::LegacyFields { fields, legacy: grammar, lenient_scheme } => {
                let how = (*grammar, *lenient_scheme);
                let target = legacy.resolve_into((row.of(text.padded()), fields), how, out);
                (row, target.map(|target| target == LegacyTarget::CurrentDocument))
            }
        }
    }
}

impl Job for Resolve<'_> {
    type Rows = ();

    fn reading(&self) -> Reading {
        Reading::without_text()
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<()>) {
        let index = &mut worker.index;
        let ChunkWork { chunk, out, report, rejects, stop, room, .. } = work;
        let text = chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        let index = &*index;
        out.reserve(2 * text.len() + 1);
        let mut readers = Readers::default();
        let same_document = self.options.same_document;
        let repairs = self.options.repairs;
        let decodes = repairs.has(Repair::Entity);
        let filter = Some(&self.options.filter).filter(|filter| !filter.is_empty());
        let (on_invalid, record_end) = (self.options.on_invalid, self.record_end);
        let policy = Policy { on_invalid, record_end, redact: false };
        for line in index.spans() {
            if room.is_full(out.len(), line.start as usize) {
                break;
            }
            let trimmed = trim(text.padded(), line);
            if trimmed.is_empty() {
                report.blank += 1;
                out.push(self.record_end);
                continue;
            }
            report.records += 1;
            let start = out.len();
            let repaired = report.repaired;
            let (span, resolved) = if decodes && repairs.change_valid(trimmed.of(text.padded())) {
                let row = without_return(text, line).of(text.padded());
                (trimmed, repaired::resolve_into(self.options, row, report, out))
            } else {
                self.target(isa, (text, index), (line, trimmed), &mut readers, out)
            };
            let resolved = match resolved {
                Err(_) if !repairs.is_empty() => {
                    out.truncate(start);
                    let row = without_return(text, line).of(text.padded());
                    repaired::resolve_into(self.options, row, report, out)
                }
                resolved => resolved,
            };
            if let Some(filter) = filter {
                let target = if resolved.is_ok() { &out[start..] } else { span.of(text.padded()) };
                if let Some(cause) = filter.cause(target) {
                    (report.records, report.repaired) = (report.records - 1, repaired);
                    report.filtered.add(cause);
                    out.truncate(start);
                    continue;
                }
            }
            match resolved {
                Ok(is_same_document) => {
                    report.same_document += u64::from(is_same_document);
                    if is_same_document && same_document == SameDocument::Drop {
                        out.truncate(start);
                        continue;
                    }
                }
                Err(error) => {
                    let record = span.of(text.padded());
                    match policy.apply(record, (span, error), report, rejects, stop) {
                        InvalidAction::Keep => out.extend_from_slice(record),
                        InvalidAction::Omit => continue,
                        InvalidAction::Stop => break,
                    }
                }
            }
            report.written += 1;
            out.push(self.record_end);
        }
    }

    fn on_invalid(&self) -> OnInvalid {
        self.options.on_invalid
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        let filter = &self.options.filter;
        let cause = if filter.is_empty() { None } else { filter.cause_of_overlong() };
        cause.map_or_else(LongRecord::as_is, LongRecord::Filtered)
    }
}

/// A line of a file with CRLF ends, without the CR; a row is not trimmed, as its fields at either end may be
/// empty.
fn without_return(text: Padded<'_>, line: Span) -> Span {
    let has_return = line.of(text.padded()).last() == Some(&b'\r');
    Span { end: line.end - u32::from(has_return), ..line }
}
