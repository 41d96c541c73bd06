//! Turns a source into a source of records that any job reads as a list: the links in it, the records that a filter
//! keeps, or the URIs in the rows of a table.

mod columns;

use std::io::{self, Read};
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use columns::{Column, Runs};

use super::batches::{PART_BYTES, share};
use super::lines::Lines;
use super::links::{Entities, ExtractOptions, count_faults, cut, long_fault, of_chunk};
use super::rows::{OfLists, RowRun};
use super::value::push_value;
use super::{Equivalence, Report, RowOptions, Settings};
use crate::chunk::Span;
use crate::extract::{Extractor, Fault, Filter, Filtered, Links, Room};
use crate::grammar::has_reference;
use crate::index::trim;
use crate::io::places::{Place, Places};
use crate::io::reader::Next;
use crate::io::{Chunk, ChunkReader, ReadError, Shape, Source};
use crate::repair::decode;
use crate::row::{self, TextTable};
use crate::simd::{Isa, Task};
use crate::threads;
use crate::uri::ErrorKind;

/// What lists of links ([`links_of`]) omit.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Skipped {
    /// The totals, as [`super::extract()`] counts them.
    pub report: Report,
    /// The first bodies in archives that could not, or not wholly, be decoded, and the first documents that
    /// could not be parsed: twenty at most.
    pub faults: Vec<ReadError>,
    /// Records that a filter does not keep ([`records_of`], [`values_of`]).
    pub filtered: Filtered,
    /// The objects in the lists of values, which are one table; and of other columns.
    members: OfLists,
    more: Vec<OfLists>,
}

/// The links of `source` as a list, one per record, for any other job.
///
/// The list is produced while it is read, from several chunks at a time; nothing is stored on disk. Lines and offsets that a job
/// reports are those of the list, unless [`ExtractOptions::has_places`]: then [`super::check()`], [`super::parse()`] and
/// [`super::audit()`] name the line and the column in the source, and what the link was found in. When the list has been read, `skipped` counts what it omits, as
/// [`super::extract()`] does; several lists may share it.
///
/// ```
/// use uriscan::{io::Source, pipeline::{DedupOptions, ExtractOptions, Settings, Sinks, dedup, links_of}};
/// let settings = Settings::default();
/// let skipped = Default::default();
/// let text = Source::new("a", &b"http://h/ and HTTP://h and (http://h/x)\n"[..]);
/// let list = links_of(text, &ExtractOptions::default(), &settings, &skipped);
/// let mut out = Vec::new();
/// dedup(vec![list], &DedupOptions::default(), &settings, &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h/\nhttp://h/x\n");
/// assert_eq!(skipped.lock().unwrap().report.invalid.total(), 0);
/// ```
pub fn links_of(
    source: Source,
    options: &ExtractOptions,
    settings: &Settings,
    skipped: &Arc<Mutex<Skipped>>,
) -> Source {
    let extractor = Box::new(Extractor::new(options.extractor.clone()));
    let content = Content::Links(extractor, options.entities);
    let places = options.has_places.then(|| Places::new(true));
    let cut = cut(options, settings.record_end);
    list_of(source, content, places, settings, skipped, |reader| reader.cut_by(cut))
}

/// The records of the list `source` that `filter` keeps, as a list for any other job.
///
/// What is filtered is the record as `equivalence` reads it: resolved against its base, and repaired. Blank lines are
/// omitted. [`super::check()`], [`super::parse()`] and [`super::audit()`] name the lines and columns of `source`; other
/// jobs those of the list. A record that is too long to be parsed has no property that the filter knows. `skipped`
/// counts what the list omits.
///
/// ```
/// use uriscan::extract::{Filter, Property};
/// use uriscan::io::Source;
/// use uriscan::pipeline::{Equivalence, OnInvalid, Settings, Sinks, normalize, records_of};
/// let (settings, skipped) = (Settings::default(), Default::default());
/// let list = Source::new("a", &b"http://h\nHTTP://i\n"[..]);
/// let filter = Filter::default().only(Property::host("i").unwrap());
/// let kept = records_of(list, &filter, &Equivalence::default(), &settings, &skipped);
/// let mut out = Vec::new();
/// let mut sinks = Sinks::new(&mut out);
/// normalize(vec![kept], &Equivalence::default(), OnInvalid::Pass, &settings, &mut sinks).unwrap();
/// assert_eq!(out, b"http://i/\n");
/// assert_eq!(skipped.lock().unwrap().filtered.total(), 1);
/// ```
pub fn records_of(
    source: Source,
    filter: &Filter,
    equivalence: &Equivalence,
    settings: &Settings,
    skipped: &Arc<Mutex<Skipped>>,
) -> Source {
    let is_read = equivalence.context.is_some() || !equivalence.repairs.is_empty();
    let equivalence = is_read.then(|| equivalence.clone());
    let content = Content::Kept(Box::new((filter.clone(), equivalence)));
    list_of(source, content, Some(Places::new(false)), settings, skipped, |_| {})
}

/// The URIs of the rows of `source`, which is a text table, as a list for any other job. `skipped` counts the rows that do
/// not fit, and those that a filter does not keep; lists that share it are one table, of which a row must have the member. All are
/// made before one is read.
///
/// Rows without a URI are blank lines, unless there is a filter, which reads URIs as `equivalence` does. Rows that do not fit
/// are omitted or end the run ([`crate::row::OnBadRow`]). A [`Settings::record_end`] within a value becomes another control character, so a
/// value is one record in any case; NUL is the best choice.
///
/// ```
/// use uriscan::io::Source;
/// use uriscan::pipeline::{By, RowOptions, Settings, Sinks, TopOptions, top, values_of};
/// use uriscan::row::{TextFormat, TextTable};
/// let (settings, skipped) = (Settings::default().record_end(b'\0'), Default::default());
/// let rows = Source::new("rows", &b"id,url\n1,http://h\n2,\"HTTP://H:80/\"\n"[..]);
/// let rows_of = RowOptions::new(TextTable::new(TextFormat::Csv, "url"));
/// let list = values_of(rows, &rows_of, &Default::default(), &settings, &skipped);
/// let mut nowhere = std::io::sink();
/// let options = TopOptions::default().by(vec![By::Host]);
/// let found = top(vec![list], &options, &settings, &mut Sinks::new(&mut nowhere)).unwrap();
/// assert_eq!(found.tables[0].rows[0].count, 2);
/// ```
pub fn values_of(
    source: Source,
    rows: &RowOptions,
    equivalence: &Equivalence,
    settings: &Settings,
    skipped: &Arc<Mutex<Skipped>>,
) -> Source {
    let names = vec![source.name.clone()];
    skipped.lock().unwrap_or_else(PoisonError::into_inner).members.begin(&source.name);
    let longest = settings.within_limits().max_record;
    let run = RowRun::new((rows, equivalence), names, false, longest);
    let runs = Runs { first: run, others: Vec::new() };
    let (cut, content) = (runs.cut(), Content::Values(Box::new(runs)));
    list_of(source, content, None, settings, skipped, |reader| reader.cut_by(cut))
}

/// The rows of `source`, which is a text table, as lines of fields with a tab between them: the URI, and the values of the columns
/// `more`, where `None` is an empty field. A tab or a line end within a value becomes another control character.
///
/// Otherwise it is as [`values_of`]: rows without a URI are blank lines.
///
/// ```
/// use std::io::Read;
/// use uriscan::io::Source;
/// use uriscan::pipeline::{RowOptions, Settings, fields_of};
/// use uriscan::row::{TextFormat, TextTable};
/// let rows = Source::new("rows", &b"{\"url\":\"http://h\",\"sum\":7}\n{\"url\":\"http://i\"}\n"[..]);
/// let rows_of = RowOptions::new(TextTable::new(TextFormat::Jsonl, "url"));
/// let list = fields_of(rows, &rows_of, &[Some("sum"), None], &Settings::default(), &Default::default());
/// let mut text = String::new();
/// (list.open)().unwrap().read_to_string(&mut text).unwrap();
/// assert_eq!(text, "http://h\t7\t\nhttp://i\t\t\n");
/// ```
pub fn fields_of(
    source: Source,
    rows: &RowOptions,
    more: &[Option<&str>],
    settings: &Settings,
    skipped: &Arc<Mutex<Skipped>>,
) -> Source {
    let longest = settings.within_limits().max_record;
    let mut members = skipped.lock().unwrap_or_else(PoisonError::into_inner);
    members.members.begin(&source.name);
    members.more.resize_with(more.len(), OfLists::default);
    members.more.iter_mut().for_each(|of_column| of_column.begin(&source.name));
    drop(members);
    let run = |column: &str, keeps_blank: bool| {
        let mut table = TextTable { keeps_blank, ..rows.table.clone() };
        column.clone_into(&mut table.column);
        let names = vec![source.name.clone()];
        let options = RowOptions::new(table);
        RowRun::new((&options, &Equivalence::default()), names, false, longest)
    };
    let first = run(&rows.table.column, false);
    let others = more.iter().map(|column| column.map(|column| run(column, true))).collect();
    let runs = Runs { first, others };
    let settings = Settings { record_end: b'\n', ..*settings };
    let cut = runs.cut();
    let content = Content::Values(Box::new(runs));
    list_of(source, content, None, &settings, skipped, |reader| reader.cut_by(cut))
}

/// A list of this `content` of `source`, whose reader `prepare` may change.
fn list_of(
    source: Source,
    content: Content,
    places: Option<Places>,
    settings: &Settings,
    skipped: &Arc<Mutex<Skipped>>,
    prepare: impl FnOnce(&mut ChunkReader) + Send + 'static,
) -> Source {
    let skipped = Arc::clone(skipped);
    let (name, settings, text_only) = (source.name.clone(), *settings, false);
    // Many lists are begun side by side then.
    let (early, wait) = (source.early, source.wait.clone());
    let noted = places.clone();
    let is_ahead = Arc::new(AtomicBool::new(false));
    let read_ahead = Arc::clone(&is_ahead);
    let open = move || {
        let Settings { record_end, chunk_bytes, max_record, .. } = settings;
        let record_end = if matches!(content, Content::Values(_)) { b'\n' } else { record_end };
        let mut reader = ChunkReader::new(vec![source], record_end, chunk_bytes, max_record);
        if noted.is_some() {
            reader.count_lines();
        }
        prepare(&mut reader);
        let (parts, given) = (Vec::new(), (0, 0));
        let (filled, failed, places) = (0, None, noted);
        let list = List {
            reader,
            settings,
            content,
            places,
            parts,
            filled,
            failed,
            skipped,
            given,
            is_ahead,
            counted: [0; 3],
        };
        Ok(Box::new(list) as Box<dyn Read + Send>)
    };
    let (open, path, base, read_ahead) = (Box::new(open), None, None, Some(read_ahead));
    Source { name, bytes: None, open, text_only, path, wait, base, early, read_ahead, places }
}

/// What a list is made of.
enum Content {
    /// The links in the source.
    Links(Box<Extractor>, Entities),
    /// Its records that a filter keeps, as an equivalence reads them.
    Kept(Box<(Filter, Option<Equivalence>)>),
    /// The URIs in the rows of the table that it is, and other columns.
    Values(Box<Runs>),
}

/// A list that is produced while it is read, from several chunks at a time.
struct List {
    reader: ChunkReader,
    settings: Settings,
    content: Content,
    /// Where to note where its records come from.
    places: Option<Places>,
    parts: Vec<Part>,
    /// The number of parts that are in use.
    filled: usize,
    /// The error that follows them, if reading failed.
    failed: Option<io::Error>,
    skipped: Arc<Mutex<Skipped>>,
    /// What was read: the number of parts, and of bytes of the next one.
    given: (usize, usize),
    /// Whether it is read before its turn.
    is_ahead: Arc<AtomicBool>,
    /// How many sources the reader had skipped as binary, misjudged, and found not to be archives, when that was counted.
    counted: [u64; 3],
}

/// The records of a chunk.
#[derive(Default)]
struct Part {
    chunk: Chunk,
    links: Links,
    /// The number of the next link; those before it are in `out`, or have been read.
    next: usize,
    out: Vec<u8>,
    /// A place for each line of `out`.
    places: Vec<Place>,
    filtered: Filtered,
    /// The rows, if they are those of a table.
    rows: row::Found,
    others: Vec<Column>,
}

impl Read for List {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        loop {
            let (number, byte) = &mut self.given;
            if *number == self.filled {
                if !self.fill()? {
                    return Ok(0);
                }
                continue;
            }
            let part = &mut self.parts[*number];
            if let Some(places) = &self.places
                && !part.places.is_empty()
            {
                places.push(std::mem::take(&mut part.places));
            }
            let left = &part.out[*byte..];
            if left.is_empty() {
                let number = *number;
                let has_more = self.go_on(number)?;
                self.given = (number + usize::from(!has_more), 0);
                continue;
            }
            let count = out.len().min(left.len());
            out[..count].copy_from_slice(&left[..count]);
            *byte += count;
            return Ok(count);
        }
    }
}

impl List {
    /// Fills the next parts, twice as many as the last time up to a bound, because most sources are small; `false` at the end.
    fn fill(&mut self) -> io::Result<bool> {
        if let Some(error) = self.failed.take() {
            return Err(error);
        }
        let most = (2 * self.filled).clamp(1, 4 * rayon::current_num_threads());
        self.parts.resize_with(self.parts.len().max(most), Part::default);
        (self.filled, self.given) = (0, (0, 0));
        self.reader.begin_batch();
        while self.filled < most {
            // What is there is passed on before anything waits.
            let may_wait = self.filled == 0;
            match self.reader.fill_next(&mut self.parts[self.filled].chunk, may_wait) {
                Ok(Next::Chunk) => self.filled += 1,
                Ok(Next::End | Next::NotReady) => break,
                Err(fault) => {
                    self.failed = Some(fault.error);
                    break;
                }
            }
        }
        let (settings, content) = (&self.settings, &self.content);
        let parts = &mut self.parts[..self.filled];
        let has_places = self.places.is_some();
        let share = share(parts.len());
        threads::each(parts, |_, part| match content {
            Content::Links(extractor, entities) => {
                let room = Room { bytes: share, of_link: 1, is_alone: false, left: None };
                let how = (has_places, *entities);
                settings.kernels.run(Fill { settings, extractor, part, room, how });
            }
            Content::Kept(by) => part.keep(&by.0, by.1.as_ref(), settings.record_end),
            Content::Values(runs) => {
                let record_end = settings.record_end;
                settings.kernels.run(FillValues { runs, part, record_end });
            }
        });
        self.account_rows();
        for part in &self.parts[..self.filled] {
            self.count_skipped(part);
        }
        self.count_sources();
        match self.failed.take() {
            Some(error) if self.filled == 0 => Err(error),
            failed => {
                self.failed = failed;
                Ok(self.filled > 0)
            }
        }
    }

    /// Makes the next records of the part of this number, those that had no room; `false` if there are none.
    fn go_on(&mut self, number: usize) -> io::Result<bool> {
        let (settings, has_places) = (&self.settings, self.places.is_some());
        let part = &mut self.parts[number];
        let entities = match &self.content {
            Content::Links(_, entities) => *entities,
            Content::Kept(_) | Content::Values(_) => Entities::default(),
        };
        let how = (has_places, entities);
        if part.next < part.links.len() {
            part.take_links(settings.record_end, how);
            return Ok(true);
        }
        let (Content::Links(extractor, _), Some(at)) = (&self.content, part.links.left()) else {
            if part.out.capacity() > PART_BYTES {
                (part.links, part.out) = Default::default();
            }
            return Ok(false);
        };
        if self.is_ahead.load(Ordering::Relaxed) {
            // What takes much memory waits for its turn.
            return Err(io::ErrorKind::WouldBlock.into());
        }
        part.chunk.remove_front(at as usize, settings.record_end);
        let room = Room { bytes: PART_BYTES, of_link: 1, is_alone: true, left: None };
        settings.kernels.run(Fill { settings, extractor, part, room, how });
        self.count_skipped(&self.parts[number]);
        Ok(true)
    }

    /// Counts the rows of tables, and ends the list before those of a part with one that ends the run.
    fn account_rows(&mut self) {
        let Content::Values(runs) = &mut self.content else { return };
        let Runs { first: run, others } = &mut **runs;
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = Ok(());
        let parts = self.parts[..self.filled].iter_mut().enumerate();
        for (i, Part { chunk, rows, others: others_of, .. }) in parts {
            let (report, mut rejects) = (&mut skipped.report, Vec::new());
            done = run.account_chunk(chunk, rows, report, &mut rejects);
            if done.is_err() {
                self.filled = i;
                break;
            }
            for (run, column) in others.iter_mut().zip(others_of) {
                run.iter_mut().for_each(|run| run.count(&column.found));
            }
        }
        if self.filled == 0 && self.failed.is_none() && done.is_ok() {
            done = run.require_member_of(&mut skipped.members);
            for (run, of_column) in others.iter_mut().zip(&mut skipped.more) {
                let Some(run) = run.as_mut().filter(|_| done.is_ok()) else { continue };
                done = run.require_member_of(of_column);
            }
        }
        if let Err(error) = done {
            self.failed = Some(error.into());
        }
    }

    /// Counts what the reader found out about sources since the last time.
    fn count_sources(&mut self) {
        let doubtful = self.reader.doubtful();
        let found = [self.reader.binary(), doubtful.misjudged, doubtful.not_archives];
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.report.binary += found[0] - self.counted[0];
        skipped.report.misjudged += found[1] - self.counted[1];
        skipped.report.not_archives += found[2] - self.counted[2];
        self.counted = found;
    }

    /// Counts what the list omits of a part.
    fn count_skipped(&self, part: &Part) {
        let mut sum = Report::default();
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        skipped.filtered += part.filtered;
        if !matches!(self.content, Content::Links(..)) {
            return;
        }
        count_faults(&part.links, &mut sum);
        let faults = part.links.faults().iter().map(|fault| fault.message(part.chunk.byte));
        for what in faults.chain(long_fault(&part.chunk, &self.settings)) {
            if skipped.faults.len() < Fault::MOST {
                let source = self.reader.source_name(part.chunk.source).to_owned();
                let error = io::Error::other(what);
                skipped.faults.push(ReadError { source, error });
            }
        }
        let is_long = part.chunk.shape == Shape::LongFirst;
        sum.invalid.add_many(ErrorKind::TooLong, u64::from(is_long));
        skipped.report += &sum;
    }
}

/// Makes the list of the links of a chunk.
struct Fill<'a> {
    settings: &'a Settings,
    extractor: &'a Extractor,
    part: &'a mut Part,
    room: Room,
    /// Whether places are noted, and which links are decoded.
    how: (bool, Entities),
}

impl Task for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Fill { settings, extractor, part, room, how } = self;
        let Part { chunk, links, next, .. } = &mut *part;
        links.clear();
        *next = 0;
        if chunk.shape == Shape::Records {
            of_chunk(isa, settings.kernels, extractor, chunk, room, links);
        }
        part.take_links(settings.record_end, how);
    }
}

/// Makes the list of the URIs of the rows of a chunk, and of the values of other columns.
struct FillValues<'a> {
    runs: &'a Runs,
    part: &'a mut Part,
    record_end: u8,
}

impl Task for FillValues<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let FillValues { runs, part, record_end } = self;
        let Part { chunk, out, rows, others, filtered, .. } = part;
        let finder = &runs.first.finder;
        out.clear();
        rows.clear();
        *filtered = Filtered::default();
        if chunk.shape != Shape::Records {
            return;
        }
        let len = chunk.text.padded().len();
        others.resize_with(runs.others.len(), Column::default);
        for (column, run) in others.iter_mut().zip(&runs.others) {
            column.clear();
            if let Some(run) = run {
                column.fill(isa, &run.finder, chunk, len);
            }
        }
        *filtered = finder.find(isa, chunk, rows);
        let text = chunk.text.padded().content();
        let mut at = vec![0; others.len()];
        for (row, value) in rows.rows.iter().zip(&rows.values) {
            let ended_by = if others.is_empty() { record_end } else { b'\t' };
            push_value(value.of(text), record_end, ended_by, out);
            for (i, (column, at)) in (1..).zip(others.iter().zip(&mut at)) {
                let ended_by = if i < others.len() { b'\t' } else { record_end };
                push_value(column.value(row.start, at), record_end, ended_by, out);
            }
        }
        if !finder.has_filter() {
            out.extend(std::iter::repeat_n(record_end, rows.blank as usize));
        }
        chunk.text.set_len(len);
    }
}

impl Part {
    /// Makes lines of the next links, and notes the places of these.
    fn take_links(&mut self, record_end: u8, (has_places, entities): (bool, Entities)) {
        let Part { chunk, links, next, out, .. } = self;
        let first = *next;
        out.clear();
        for (link, uri) in links.iter(chunk.text.padded().content()).skip(first) {
            if out.len() > PART_BYTES {
                break;
            }
            match entities.are_decoded_in(link.context) {
                true => out.extend_from_slice(&decode(uri)),
                false => out.extend_from_slice(uri),
            }
            out.push(record_end);
            *next += 1;
        }
        if has_places {
            self.note_links(first..self.next, record_end, entities);
        }
    }

    /// Notes the places of the links with these numbers.
    fn note_links(&mut self, numbers: Range<usize>, record_end: u8, entities: Entities) {
        let Part { chunk, links, places, .. } = self;
        let text = chunk.text.padded().content();
        let line_end = chunk.kind.format.line_end(record_end);
        let mut lines = Lines::new(text, chunk.line, line_end);
        for (link, uri) in links.iter(text).take(numbers.end).skip(numbers.start) {
            let start = link.span.start as usize;
            let (line, line_start) = lines.of(start);
            let is_decoded = entities.are_decoded_in(link.context) && has_reference(uri);
            let place = Place {
                line,
                indent: (start - line_start) as u64,
                byte: chunk.byte + start as u64,
                context: Some(link.context),
                is_literal: !is_decoded && link.span.of(text) == uri,
            };
            // A value that is taken whole may have line ends.
            let lines = 1 + memchr::memchr_iter(record_end, uri).count();
            places.extend(std::iter::repeat_n(place, lines));
        }
    }

    /// Lists the records that `filter` keeps, as `equivalence` reads them, with their places.
    fn keep(&mut self, filter: &Filter, equivalence: Option<&Equivalence>, record_end: u8) {
        let Part { chunk, out, places, filtered, .. } = self;
        out.clear();
        *filtered = Filtered::default();
        let padded = chunk.text.padded();
        let text = padded.content();
        let place = |line, start: u32, record: u32| Place {
            line,
            indent: u64::from(record - start),
            byte: chunk.byte + u64::from(record),
            context: None,
            is_literal: true,
        };
        if chunk.shape != Shape::Records {
            match filter.cause_of_overlong() {
                None => {
                    out.extend_from_slice(text);
                    let ends = memchr::memchr_iter(record_end, text).count();
                    places.extend(std::iter::repeat_n(place(chunk.line, 0, 0), ends));
                }
                Some(cause) if chunk.shape == Shape::LongFirst => filtered.add(cause),
                Some(_) => {}
            }
            return;
        }
        let (mut line, mut start) = (chunk.line, 0);
        while start < text.len() {
            let end =
                memchr::memchr(record_end, &text[start..]).map_or(text.len(), |at| start + at);
            let span = trim(padded.padded(), Span { start: start as u32, end: end as u32 });
            let record = span.of(text);
            let cause = match equivalence {
                _ if record.is_empty() => None,
                None => filter.cause(record),
                Some(equivalence) => filter.cause(&equivalence.target(record)),
            };
            match cause {
                Some(cause) => filtered.add(cause),
                None if record.is_empty() => {}
                None => {
                    out.extend_from_slice(record);
                    out.push(record_end);
                    places.push(place(line, start as u32, span.start));
                }
            }
            (line, start) = (line + 1, end + 1);
        }
    }
}
