//! Rows of text tables as records: where chunks of them are cut, which rows they have, and what becomes of rows that do
//! not fit.

use std::io;
use std::sync::{Arc, OnceLock};

use super::fields::RowFields;
use crate::io::read::cut::Cut;
use crate::io::{Chunk, Shape, Source, write::json};
use crate::pipeline::engine::numbered::SortedBy;
use crate::pipeline::engine::scan;
use crate::pipeline::engine::work::ChunkWork;
use crate::pipeline::survey::Part;
use crate::pipeline::{
    DedupOptions, Equivalence, Error, ErrorKind, Keep, OnInvalid, Report, Settings,
};
use uriscan_core::extract::{Filter, Filtered, Kind};
use uriscan_core::key::Hasher;
use uriscan_core::row::{self, FoundRows, HEADER_BYTES, Layout, OnBadRow, PassedRow, TextTable};
use uriscan_core::simd::Isa;

/// The byte order mark of UTF-8, which the reader takes off.
const MARK: &[u8] = b"\xEF\xBB\xBF";

/// Text tables whose rows are records, and which of them are read.
///
/// ```
/// use uriscan_bulk::pipeline::RowOptions;
/// use uriscan::row::{TextFormat, TextTable};
/// let options = RowOptions::new(TextTable::new(TextFormat::Jsonl, "url"));
/// assert!(options.filter.is_none());
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct RowOptions {
    /// The tables, and their column of URIs.
    pub table: TextTable,
    /// Read only the rows whose URI it keeps, as [`crate::pipeline::records_of`] does; others, and rows without a URI,
    /// are omitted.
    pub filter: Option<Filter>,
    /// The name of the column that is added, if one is; of two, that of the first, and the beginning of the other.
    pub adds: Option<String>,
}

setters! { RowOptions into { filter: Option<Filter>, adds: Option<String> } }

impl RowOptions {
    /// All rows of `table`.
    pub fn new(table: TextTable) -> RowOptions {
        RowOptions { table, filter: None, adds: None }
    }

    /// Ensures that a run that keeps rows by `keep` can look at the other columns of the tables `sources` that it
    /// names; not at those that are compared, if keys `are_of_uris`: of a set, or of shapes.
    ///
    /// # Errors
    /// If keys of URIs would be compared with those of whole rows, or no order decides.
    pub(crate) fn require_fit(
        &self,
        are_of_uris: bool,
        keep: Keep,
        sources: &[Source],
    ) -> Result<(), Error> {
        let what = match &self.table {
            table if are_of_uris && !table.with.is_empty() => {
                "keys of a set, and of shapes, are those of URIs, without other columns"
            }
            table if table.keep_by.is_some() && !matches!(keep, Keep::Min | Keep::Max) => {
                "a column decides only which row with the least or greatest value is kept"
            }
            _ => return Ok(()),
        };
        Err(Error::read(first_name(sources), what))
    }

    /// The fields called `names` that are added to the rows of `sources`.
    ///
    /// # Errors
    /// If their format cannot hold them.
    pub(crate) fn fields(
        &self,
        names: Vec<String>,
        sources: &[Source],
    ) -> Result<RowFields, Error> {
        RowFields::new(&self.table, names).ok_or_else(|| Self::cannot_hold(&self.table, sources))
    }

    /// The error where rows of `table`, which `sources` are, cannot have such columns.
    pub(crate) fn cannot_hold(table: &TextTable, sources: &[Source]) -> Error {
        let what = format!("{} cannot hold such columns", table.format.name());
        Error::unsupported(what).of_source(first_name(sources))
    }

    /// The run over rows of `sources` that are compared as `by` says, and its settings.
    pub(crate) fn run(
        &self,
        sources: &[Source],
        by: &DedupOptions,
        settings: &Settings,
    ) -> (Settings, RowRun) {
        let names = sources.iter().map(|source| source.name.clone()).collect();
        let settings = Settings { record_end: b'\n', redact: false, ..settings.within_limits() };
        let has_rejects = by.on_invalid == OnInvalid::Divert;
        (settings, RowRun::new((self, &by.equivalence), names, has_rejects, settings.max_record))
    }
}

/// Finds the rows of chunks.
#[derive(Clone, Debug)]
pub(crate) struct RowFinder {
    table: Arc<TextTable>,
    /// That of the first source, once it is known.
    layout: Arc<OnceLock<Layout>>,
    filter: Option<Arc<(Filter, Option<Equivalence>)>>,
    /// Whether the first source is read from its beginning, and whether its header is written as a row.
    begins: bool,
    writes_header: bool,
    /// Whether no values of other columns are looked for, since they are known.
    skips_others: bool,
    /// Whether no row but the header is written that is in no group.
    passes_none: bool,
    /// The columns that are added.
    pub(crate) added: Option<Arc<RowFields>>,
}

impl RowFinder {
    fn new(options: &RowOptions, equivalence: &Equivalence) -> RowFinder {
        let RowOptions { table, filter, .. } = options;
        let is_read = equivalence.context.is_some() || !equivalence.repairs.is_empty();
        let equivalence = is_read.then(|| equivalence.clone());
        let mut table = table.clone();
        // A filter keeps no row without a URI.
        table.keeps_blank &= filter.is_none();
        RowFinder {
            table: Arc::new(table),
            layout: Arc::default(),
            filter: filter.clone().map(|filter| Arc::new((filter, equivalence))),
            begins: true,
            writes_header: false,
            skips_others: false,
            passes_none: false,
            added: None,
        }
    }

    /// Whether rows without a URI are omitted, and others that a filter does not keep.
    pub(crate) fn has_filter(&self) -> bool {
        self.filter.is_some()
    }

    /// Where chunks of such tables are cut.
    pub(crate) fn cut(&self) -> Box<dyn Cut> {
        Box::new(TableCut { finder: self.clone(), begun: 0 })
    }

    /// Whether `chunk` is the beginning of a source.
    fn is_first(&self, chunk: &Chunk) -> bool {
        let mark = if chunk.kind.has_mark { MARK.len() as u64 } else { 0 };
        chunk.byte == mark && (chunk.source > 0 || self.begins)
    }

    /// Whether the rows of `chunk` are lines, and only those are written whose places are known.
    pub(crate) fn knows_lines_of(&self, chunk: &Chunk) -> bool {
        let quote = self.table.separators().and_then(|separators| separators.quote);
        let has = |quote| memchr::memchr(quote, chunk.text.padded().content()).is_some();
        self.passes_none && !self.is_first(chunk) && !quote.is_some_and(has)
    }

    /// Replaces `found` by the rows of `chunk`, whose text grows by the values that have to be decoded; returns what a
    /// filter does not keep.
    #[inline(always)]
    pub(crate) fn find<I: Isa>(
        &self,
        isa: I,
        chunk: &mut Chunk,
        found: &mut FoundRows,
    ) -> Filtered {
        let unknown = Layout::default();
        let layout = self.layout.get().unwrap_or(&unknown);
        let mut filtered = Filtered::default();
        let mut keeps = |uri: &[u8]| {
            let Some(filter) = &self.filter else { return true };
            let cause = match &filter.1 {
                None => filter.0.cause(uri),
                Some(equivalence) => filter.0.cause(&equivalence.target(uri)),
            };
            cause.into_iter().for_each(|cause| filtered.add(cause));
            cause.is_none()
        };
        let how = (layout, self.is_first(chunk));
        found.takes_blank &= self.filter.is_none();
        self.table.find(isa, how, &mut chunk.text, &mut keeps, found);
        let content = chunk.text.padded().content();
        if let Some(added) = &self.added {
            self.table.refuse_members(content, added.names(), found);
        }
        if !self.skips_others {
            self.table.find_others(isa, layout, content, found);
        }
        if let Some(header) = found.header.filter(|_| chunk.source == 0 && self.writes_header) {
            found.passed.insert(0, PassedRow { row: header, fits: true });
        }
        filtered
    }
}

/// The objects in the rows of several lists, which are one table.
#[derive(Debug, Default)]
pub(crate) struct OfLists {
    /// The name of the first one.
    first: String,
    /// How many have not ended.
    left: usize,
    /// The objects of those that have, and how many lack the member.
    rows: u64,
    missing: u64,
}

impl OfLists {
    /// Adds a list of this `name`.
    pub(crate) fn begin(&mut self, name: &str) {
        self.left += 1;
        if self.first.is_empty() {
            name.clone_into(&mut self.first);
        }
    }

    /// Ends a list with so many rows, of which so many lack the member; returns whether it is the last one, and no row
    /// had it.
    fn end(&mut self, rows: u64, missing: u64) -> bool {
        self.left = self.left.saturating_sub(1);
        self.rows += rows;
        self.missing += missing;
        self.left == 0 && self.rows > 0 && self.missing >= self.rows
    }
}

/// The rows of a run.
#[derive(Debug)]
pub(crate) struct RowRun {
    pub(crate) finder: RowFinder,
    names: Vec<String>,
    /// Whether rejects are received: then those of rows that do not fit are JSON, and so are all others.
    has_rejects: bool,
    /// The source that is read, and its lines so far.
    lines: (usize, u64),
    /// The objects so far, and those that lack the member.
    rows: u64,
    missing: u64,
    /// Of those with a URI, how many have been looked at for other columns, and how many lack each of these.
    others: (u64, Vec<u64>),
    /// Whether all of them have been counted.
    is_over: bool,
    /// Where the first row is, in which source and at which byte.
    first: Option<(usize, u64)>,
    /// Whether there were rows, other than the header, that are written and in no group.
    passes: bool,
    /// Bytes of the longest row.
    longest: usize,
    /// The offset in its chunk of the invalid row that ends the run.
    stop: Option<u64>,
    /// Makes keys of those of URIs and the values of other columns, if these are compared. It has secrets of its own:
    /// keys of URIs, which are hashed, depend on those of the run.
    joins: Option<Arc<Hasher>>,
}

impl RowRun {
    /// Rows of the sources called `names`, filtered as an equivalence reads them.
    pub(crate) fn new(
        (options, equivalence): (&RowOptions, &Equivalence),
        names: Vec<String>,
        has_rejects: bool,
        longest: usize,
    ) -> RowRun {
        let finder = RowFinder::new(options, equivalence);
        let (lines, first) = ((0, 0), None);
        let has_with = !finder.table.with.is_empty();
        RowRun {
            finder,
            names,
            has_rejects,
            lines,
            rows: 0,
            missing: 0,
            others: Default::default(),
            joins: has_with.then(|| Arc::new(Hasher::random())),
            is_over: false,
            first,
            passes: false,
            longest,
            stop: None,
        }
    }

    /// Whether rejects are objects of JSON that say where a row was and what is wrong with it, and not rows.
    pub(crate) fn explains_rejects(&self) -> bool {
        self.has_rejects && self.finder.table.on_bad_row != OnBadRow::Fail
    }

    /// What finds the rows of the part of the sources that begins at `start`, in which source and at which byte, when they are read
    /// again.
    pub(crate) fn of_part(&self, start: (usize, u64)) -> RowFinder {
        // What follows a mark is the beginning, too.
        let begins = start.1 <= MARK.len() as u64;
        // What does not fit because of them is written only if it is passed on.
        let skips_others = self.finder.table.on_bad_row != OnBadRow::Pass;
        let (writes_header, passes_none) = (self.first == Some(start), !self.passes);
        RowFinder { begins, writes_header, skips_others, passes_none, ..self.finder.clone() }
    }

    /// Where the first row is, in which source and at which byte; where all begins if there is none.
    pub(crate) fn start(&self) -> (usize, u64) {
        self.first.unwrap_or_default()
    }

    /// The mark that is written before the first row.
    pub(crate) fn mark(&self) -> &'static [u8] {
        if self.start().1 > 0 { MARK } else { b"" }
    }

    /// Appends that mark to the output of `chunk`, if the first row is in it.
    pub(crate) fn begin(&self, chunk: &Chunk, out: &mut Vec<u8>) {
        if self.start() == (chunk.source, chunk.byte) {
            out.extend_from_slice(self.mark());
        }
    }

    /// Finds the rows of the chunk in `work`, for [`scan::scan_keys`]; returns the length of its text, which has decoded values
    /// after that until [`forget_decoded`].
    #[inline(always)]
    pub(crate) fn find<I: Isa, R: AsMut<scan::KeyedRecords>>(
        &self,
        isa: I,
        work: &mut ChunkWork<R>,
    ) -> usize {
        let len = work.chunk.text.padded().len();
        let (found, explains) = (work.rows.as_mut(), self.explains_rejects());
        found.table.reports_bad = explains;
        (found.is_table, found.explains) = (true, explains);
        found.joins = self.joins.clone();
        work.report.filtered += &self.finder.find(isa, &mut work.chunk, &mut found.table);
        if let Some(part) = &mut work.survey {
            show(&work.chunk, &work.rows.as_mut().table, part);
        }
        len
    }

    /// What decides which row of a class is kept, if not their order.
    pub(crate) fn sorted_by(&self, keep: Keep) -> Option<SortedBy> {
        let has_column = self.finder.table.keep_by.is_some();
        match keep {
            Keep::Min | Keep::Max if has_column => {
                Some(SortedBy::Column { is_least: keep == Keep::Min })
            }
            keep if keep.is_by_position() => None,
            _ => Some(SortedBy::Uri),
        }
    }

    /// The offset in its chunk of the invalid row that ends the run.
    pub(crate) fn stop(&self) -> Option<u64> {
        self.stop
    }

    /// Counts the rows of the next chunks, `batch`, and reports those that do not fit.
    ///
    /// # Errors
    /// [`ErrorKind::Row`] at the first one, if it ends the run.
    pub(crate) fn account<R: AsMut<scan::KeyedRecords>>(
        &mut self,
        batch: &mut [ChunkWork<R>],
    ) -> Result<(), Error> {
        for work in batch {
            let ChunkWork { chunk, rows, report, rejects, stop, .. } = work;
            let found = &mut rows.as_mut().table;
            if let Some((stop, _)) = stop {
                self.stop = Some(u64::from(stop.start));
                // Nothing after it counts.
                found.passed.retain(|passed| passed.row.start < stop.start);
                found.bad.retain(|(row, _)| row.start < stop.start);
            }
            self.account_chunk(chunk, found, report, rejects)?;
        }
        Ok(())
    }

    /// [`RowRun::account`] for the rows that were `found` in `chunk`.
    pub(crate) fn account_chunk(
        &mut self,
        chunk: &Chunk,
        found: &mut FoundRows,
        report: &mut Report,
        rejects: &mut Vec<u8>,
    ) -> Result<(), Error> {
        let source = chunk.source;
        if self.lines.0 != source {
            self.lines = (source, 0);
        }
        if chunk.shape != Shape::Records {
            let most = format!("has more than {} MiB", self.longest >> 20);
            let what = match self.finder.table.separators() {
                None => format!("the line {most}"),
                Some(_) => format!("the row {most}, or a quote in it is never closed"),
            };
            return Err(self.wrong(self.lines.1 + 1, what, false));
        }
        let start = (source, chunk.byte);
        let is_start = *self.first.get_or_insert(start) == start;
        let explains = self.explains_rejects();
        let text = chunk.text.padded().content();
        report.bad_rows += found.bad_rows;
        report.bad_lines += found.bad_lines;
        report.as_text += found.others.as_text;
        found.join_invalid();
        for (row, line, what) in found.reasons(text, self.lines.1 + 1) {
            if self.finder.table.on_bad_row == OnBadRow::Fail {
                return Err(self.wrong(line, what, true));
            }
            if self.has_rejects {
                let row = row.of(text);
                json::reject((&self.names[source], line), &what, row, rejects);
            }
        }
        self.passes |= !found.passed.is_empty();
        if let Some(header) = found.header.filter(|_| is_start) {
            found.passed.insert(0, PassedRow { row: header, fits: true });
            if self.has_rejects && !explains {
                rejects.splice(0..0, [header.of(text), b"\n"].concat());
            }
        }
        self.lines.1 += found.lines;
        self.rows += found.objects;
        self.missing += found.missing;
        let (looked_at, others) = &mut self.others;
        *looked_at += found.others.looked_at;
        others.resize(others.len().max(found.others.missing.len()), 0);
        others.iter_mut().zip(&found.others.missing).for_each(|(all, missing)| *all += missing);
        Ok(())
    }

    #[cold]
    fn wrong(&self, line: u64, what: String, may_be_skipped: bool) -> Error {
        let kind = if may_be_skipped { ErrorKind::Row } else { ErrorKind::LongRow };
        Error::text(kind, what).of_source(self.names[self.lines.0].clone()).in_line(line)
    }

    /// Counts the objects of these rows, which is a list, among those of `all` lists and of `others`, those of other
    /// columns, at its end; and ensures at the end of the last one that there were such members at all.
    ///
    /// # Errors
    /// [`ErrorKind::NoColumn`] if no row had one of them.
    pub(crate) fn require_members_of(
        &mut self,
        all: &mut OfLists,
        others: &mut [OfLists],
    ) -> Result<(), Error> {
        if std::mem::replace(&mut self.is_over, true) {
            return Ok(());
        }
        let table = &self.finder.table;
        let (looked_at, of_others) = &self.others;
        let mut lacking = all.end(self.rows, self.missing).then_some((&*all, &table.column));
        for (number, (of_column, name)) in others.iter_mut().zip(table.others()).enumerate() {
            let missing = of_others.get(number).copied().unwrap_or(0);
            if of_column.end(*looked_at, missing) && lacking.is_none() {
                lacking = Some((of_column, name));
            }
        }
        match lacking {
            None => Ok(()),
            Some((of, member)) => Err(Error::no_member(&of.first, member)),
        }
    }

    /// Ensures that there were such members at all: the sources are one table.
    ///
    /// # Errors
    /// [`ErrorKind::NoColumn`] if no row had one of them.
    pub(crate) fn require_member(&self) -> Result<(), Error> {
        let table = &self.finder.table;
        let (looked_at, others) = &self.others;
        let is_missing = |&(_, missing): &(_, &u64)| *looked_at > 0 && missing >= looked_at;
        let member = match self.rows > 0 && self.missing >= self.rows {
            true => Some(&table.column),
            false => table.others().zip(others).find(is_missing).map(|(name, _)| name),
        };
        let Some(member) = member.cloned() else { return Ok(()) };
        let source = self.names.first().map_or("", |name| name);
        Err(Error::no_member(source, &member))
    }
}

/// The name of the first source, which errors about all of them have.
fn first_name(sources: &[Source]) -> &str {
    sources.first().map_or("", |source| &source.name)
}

/// Counts the rows without a URI of the chunk in `work`, and takes what was decoded off its text of `len` bytes, if it
/// has rows.
#[inline(always)]
pub(crate) fn forget_decoded<R: AsMut<scan::KeyedRecords>>(
    work: &mut ChunkWork<R>,
    len: Option<usize>,
) {
    if let Some(len) = len {
        work.chunk.text.set_len(len);
        work.report.blank += work.rows.as_mut().table.blank;
    }
}

/// Hands the URIs of the rows `found` in `chunk` over to a survey.
#[cold]
fn show(chunk: &Chunk, found: &FoundRows, part: &mut Part) {
    part.take_values();
    let text = chunk.text.padded().content();
    let (mut counted, mut line) = (0, 0);
    for (row, value) in found.rows.iter().zip(&found.values) {
        let start = row.start as usize;
        line += newlines(&text[counted..start]);
        counted = start;
        if *value != row::NULL {
            part.push(value.of(text), chunk.byte + start as u64, line);
        }
    }
}

fn newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
}

/// Where sources of rows are cut.
struct TableCut {
    finder: RowFinder,
    /// How many sources have begun.
    begun: usize,
}

impl Cut for TableCut {
    fn needs_head(&self) -> bool {
        true
    }

    fn has_head(&self, content: &[u8], _record_end: u8) -> bool {
        Layout::is_shown(&self.finder.table, content)
    }

    fn head_bytes(&self) -> usize {
        HEADER_BYTES
    }

    fn begin(&mut self, _name: &str, head: &[u8]) -> io::Result<Kind> {
        self.begun += 1;
        if head.is_empty() {
            // A table without a byte has no rows.
            return Ok(Kind::default());
        }
        // A source that goes on in the middle has been looked at.
        if self.begun > 1 || self.finder.begins {
            let invalid = |what| io::Error::new(io::ErrorKind::InvalidData, what);
            let layout = Layout::of_head(&self.finder.table, head).map_err(invalid)?;
            let added = self.finder.added.as_ref().map_or(&[][..], |added| added.names());
            layout.require_new(added).map_err(invalid)?;
            let first = self.finder.layout.get_or_init(|| layout.clone());
            first.require_same(&layout).map_err(invalid)?;
        }
        Ok(Kind::default())
    }

    fn last_end(&mut self, content: &[u8]) -> Option<usize> {
        self.finder.table.last_end(content)
    }

    fn long_end(&mut self, content: &[u8]) -> Option<usize> {
        memchr::memchr(b'\n', content).map(|at| at + 1)
    }

    fn line_end(&self) -> Option<u8> {
        let quote = self.finder.table.separators().and_then(|separators| separators.quote);
        quote.is_none().then_some(b'\n')
    }
}
