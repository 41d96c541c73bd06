//! The jobs that write rows of text tables with more columns: what is wrong with the URI of each, or the links in its text.
//!
//! A row passes as the bytes it was; the fields that are added follow its own.

use std::sync::Arc;

use crate::io::{Chunk, Source};
use crate::pipeline::engine::driver::{End, Job, Reading, run};
use crate::pipeline::engine::fields::{Fields, RowFields};
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::rows::{RowOptions, RowRun};
use crate::pipeline::engine::scan::KeyedRecords;
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::source::links::ExtractOptions;
use crate::pipeline::{Equivalence, Error, OnInvalid, Report, Settings, Sinks};
use uriscan_core::chunk::{Padded, Span};
use uriscan_core::extract::{Extractor, Format, Links};
use uriscan_core::index::{Index, Record};
use uriscan_core::row;
use uriscan_core::simd::{Isa, Kernels};
use uriscan_core::uri::bulk::parse_record;

/// Writes the rows of `sources`, text tables of CSV, TSV or JSON lines, with what is wrong with the URI of each: the kind of the
/// fault, `uri_error`, and its offset in the URI, `uri_error_at`, which are null where it is a URI-reference, or there is none.
///
/// Rows are otherwise read and written as by [`crate::pipeline::dedup_rows`]. Those without a URI are kept with
/// [`uriscan_core::row::TextTable::keeps_blank`]. [`Report::invalid`] counts the faults.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{RowOptions, Settings, Sinks, check_rows}};
/// use uriscan::row::{TextFormat, TextTable};
/// let rows = Source::new("rows", &b"id,url\r\n1,\"http://h\"\r\n2,a b\r\n"[..]);
/// let (table, mut out) = (TextTable::new(TextFormat::Csv, "url"), Vec::new());
/// let (rows, by) = (vec![rows], RowOptions::new(table));
/// let report = check_rows(rows, &by, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"id,url,uri_error,uri_error_at\r\n1,\"http://h\",,\r\n2,a b,space,1\r\n");
/// assert_eq!((report.records, report.invalid.total()), (2, 1));
/// ```
///
/// # Errors
/// See [`Error`]; also if the table has such a column already, or is of another format.
pub fn check_rows(
    sources: Vec<Source>,
    rows: &RowOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    run_added(Faults, sources, rows, settings, sinks)
}

/// Writes the rows of `sources`, tables of JSON lines, with the links in the text of a member of each, `uri_links`: a list,
/// null where the member is.
///
/// Rows are otherwise read and written as by [`crate::pipeline::dedup_rows`].
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{ExtractOptions, RowOptions, Settings, Sinks, extract_rows}};
/// use uriscan::row::{TextFormat, TextTable};
/// let rows = Source::new("rows", &b"{\"t\":\"see http://h/\"}\n"[..]);
/// let (table, mut out) = (TextTable::new(TextFormat::Jsonl, "t"), Vec::new());
/// let (rows, by, options) = (vec![rows], RowOptions::new(table), ExtractOptions::default());
/// extract_rows(rows, &by, &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"{\"t\":\"see http://h/\",\"uri_links\":[\"http://h/\"]}\n");
/// ```
///
/// # Errors
/// See [`Error`]; also if the table has such a member already, or is of another format.
pub fn extract_rows(
    sources: Vec<Source>,
    rows: &RowOptions,
    options: &ExtractOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let extractor = Extractor::new(options.extractor.clone());
    let usual = if options.extractor.is_of_logs() { Format::Clf } else { Format::Text };
    let format = options.format.unwrap_or(usual);
    let adds = FoundLinks { kernels: settings.kernels, extractor, format };
    run_added(adds, sources, rows, settings, sinks)
}

fn run_added<A: Adds + Send>(
    adds: A,
    sources: Vec<Source>,
    rows: &RowOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let fields = rows.fields(A::names(rows.adds.as_deref()), &sources)?;
    if A::HAS_LISTS && !fields.may_be_lists() {
        return Err(RowOptions::cannot_hold(&rows.table, &sources));
    }
    let fields = Arc::new(fields);
    let names = sources.iter().map(|source| source.name.clone()).collect();
    let settings = Settings { record_end: b'\n', redact: false, ..settings.within_limits() };
    let mut rows = RowRun::new((rows, &Equivalence::default()), names, false, settings.max_record);
    rows.finder.added = Some(Arc::clone(&fields));
    run(&mut AddedRows { adds, rows, fields }, sources, &settings, sinks)
}

trait Adds: Sync {
    const HAS_LISTS: bool = false;

    /// Their names, if the first is to be called `name`.
    fn names(name: Option<&str>) -> Vec<String>;

    /// Appends the fields of a row whose value is at a span of `text`; of one without a value none is there.
    fn add<I: Isa>(
        &self,
        isa: I,
        index: &Index,
        place: (Padded<'_>, Option<Span>),
        fields: &mut Fields<'_>,
        report: &mut Report,
    );
}

struct Faults;

impl Adds for Faults {
    fn names(name: Option<&str>) -> Vec<String> {
        let name = name.unwrap_or("uri_error");
        vec![name.to_owned(), format!("{name}_at")]
    }

    #[inline(always)]
    fn add<I: Isa>(
        &self,
        isa: I,
        index: &Index,
        (text, value): (Padded<'_>, Option<Span>),
        fields: &mut Fields<'_>,
        report: &mut Report,
    ) {
        let value = value.filter(|value| !value.is_empty());
        let parsed = value.map(|value| parse_record(isa, Record::new(text, index, value)));
        match parsed {
            Some(Err(error)) => {
                report.invalid.add(error.kind);
                fields.text(error.kind.name());
                fields.number(u64::from(error.at));
            }
            Some(Ok(_)) | None => {
                fields.null();
                fields.null();
            }
        }
    }
}

/// The links in texts, which are documents of a format.
struct FoundLinks {
    kernels: Kernels,
    extractor: Extractor,
    format: Format,
}

impl Adds for FoundLinks {
    const HAS_LISTS: bool = true;

    fn names(name: Option<&str>) -> Vec<String> {
        vec![name.unwrap_or("uri_links").to_owned()]
    }

    fn add<I: Isa>(
        &self,
        _isa: I,
        _index: &Index,
        (text, value): (Padded<'_>, Option<Span>),
        fields: &mut Fields<'_>,
        _report: &mut Report,
    ) {
        let Some(value) = value else { return fields.null() };
        let (mut links, text) = (Links::new(), text.part(value.start as usize, value.len()));
        self.extractor.extract(self.kernels, self.format, text, &mut links);
        fields.list(links.iter(text.content()).map(|(_, uri)| uri));
    }
}

struct AddedRows<A> {
    adds: A,
    rows: RowRun,
    fields: Arc<RowFields>,
}

impl<A: Adds> Job for AddedRows<A> {
    type Rows = KeyedRecords;

    fn reading(&self) -> Reading {
        Reading { cut: Some(self.rows.finder.cut()), ..Reading::default() }
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, _worker: &mut Worker, work: &mut ChunkWork<KeyedRecords>) {
        work.rows.table.takes_blank = true;
        // What was decoded stays behind the text until the rows are written.
        self.rows.find(isa, work);
        work.report.blank = work.rows.table.blank;
    }

    fn commit(&mut self, batch: &mut [ChunkWork<KeyedRecords>]) -> Result<(), Error> {
        self.rows.account(batch)
    }

    #[inline(always)]
    fn emit<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<KeyedRecords>) {
        let ChunkWork { chunk, rows: KeyedRecords { table, .. }, out, report, .. } = work;
        let (text, index) = (chunk.text.padded(), &mut worker.index);
        let content = text.content();
        self.rows.begin(chunk, out);
        index.build_with(isa, text, b'\n');
        self.fields.push_rows(table, content, out, |row, out| {
            let value = Some(table.values[row]).filter(|value| *value != row::NULL);
            report.records += u64::from(value.is_some());
            self.fields.push(table.rows[row].of(content), out, |fields| {
                self.adds.add(isa, index, (text, value), fields, report);
            });
        });
        report.written = report.records;
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Pass
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        LongRecord::as_is()
    }

    fn finish(&mut self, _: End<'_>, _: &mut Report, _: &mut Sinks<'_>) -> Result<(), Error> {
        self.rows.require_member()
    }
}
