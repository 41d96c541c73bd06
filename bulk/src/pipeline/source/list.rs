//! Turns a source into a source of records that any job reads as a list: the links in it, or the URIs in the rows of a
//! table.

mod part;

use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use part::{Fill, FillValues, Part};

use super::links::{Entities, ExtractOptions, count_faults, cut};
use crate::io::read::origins::RecordOrigins;
use crate::io::read::reader::Next;
use crate::io::{ChunkReader, ReadError, Shape, Source};
use crate::pipeline::engine::batches::{PART_BYTES, share};
use crate::pipeline::engine::faults::long_fault;
use crate::pipeline::engine::rows::{OfLists, RowRun};
use crate::pipeline::{Equivalence, Report, RowOptions, Settings};
use uriscan_core::extract::{Extractor, Fault, Filtered, Room};
use uriscan_core::threads;
use uriscan_core::uri::UriErrorKind;

/// What lists of links ([`links_of`]) omit.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Skipped {
    /// The totals, as [`crate::pipeline::extract()`] counts them.
    pub report: Report,
    /// The first bodies in archives that could not, or not wholly, be decoded, and the first documents that
    /// could not be parsed: twenty at most.
    pub faults: Vec<ReadError>,
    /// Rows that a filter does not keep ([`values_of`]).
    pub filtered: Filtered,
    /// The objects in the lists of values, which are one table; and of other columns.
    members: OfLists,
    more: Vec<OfLists>,
}

/// The links of `source` as a list, one per record, for any other job.
///
/// The list is produced while it is read, from several chunks at a time; nothing is stored on disk.
/// [`crate::pipeline::check()`], [`crate::pipeline::parse()`] and [`crate::pipeline::audit()`] name the line and the column in
/// the source, and what the link was found in; lines and offsets that other jobs report are those of the list. When the list has been read, `skipped` counts what it omits, as
/// [`crate::pipeline::extract()`] does; several lists may share it.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{DedupOptions, ExtractOptions, Settings, Sinks, dedup, links_of}};
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
    let origins = Some(RecordOrigins::default());
    let cut = cut(options, settings.record_end);
    list_of(source, content, origins, settings, skipped, |reader| reader.cut_by(cut))
}

/// The URIs of the rows of `source`, which is a text table, as a list for any other job. `skipped` counts the rows that
/// do not fit, and those that a filter does not keep; lists that share it are one table, of which a row must have the
/// member. All are made before one is read.
///
/// Rows without a URI are blank lines, unless there is a filter, which reads URIs as `equivalence` does. Rows that do
/// not fit are omitted or end the run ([`uriscan_core::row::OnBadRow`]). A [`Settings::record_end`] within a value
/// becomes another control character, so a value is one record in any case; NUL is the best choice.
///
/// ```
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{By, RowOptions, Settings, Sinks, TopOptions, top, values_of};
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
    let (cut, content) = (run.finder.cut(), Content::Values(Box::new((run, Vec::new()))));
    list_of(source, content, None, settings, skipped, |reader| reader.cut_by(cut))
}

/// The rows of `source`, which is a text table, as lines of fields with a tab between them: the URI, and the values of
/// the columns `more`, where `None` is an empty field. A tab or a line end within a value becomes another control character.
///
/// Otherwise it is as [`values_of`]: rows without a URI are blank lines.
///
/// ```
/// use std::io::Read;
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{RowOptions, Settings, fields_of};
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
    let mut table = rows.table.clone();
    table.with = more.iter().flatten().map(|&name| name.to_owned()).collect();
    let mut members = skipped.lock().unwrap_or_else(PoisonError::into_inner);
    members.members.begin(&source.name);
    members.more.resize_with(table.with.len(), OfLists::default);
    members.more.iter_mut().for_each(|of_column| of_column.begin(&source.name));
    drop(members);
    let names = vec![source.name.clone()];
    let longest = settings.within_limits().max_record;
    let by = (&RowOptions::new(table), &Equivalence::default());
    let run = RowRun::new(by, names, false, longest);
    let settings = Settings { record_end: b'\n', ..*settings };
    let cut = run.finder.cut();
    let content = Content::Values(Box::new((run, more.iter().map(Option::is_some).collect())));
    list_of(source, content, None, &settings, skipped, |reader| reader.cut_by(cut))
}

/// A list of this `content` of `source`, whose reader `prepare` may change.
fn list_of(
    source: Source,
    content: Content,
    origins: Option<RecordOrigins>,
    settings: &Settings,
    skipped: &Arc<Mutex<Skipped>>,
    prepare: impl FnOnce(&mut ChunkReader) + Send + 'static,
) -> Source {
    let skipped = Arc::clone(skipped);
    let (name, settings, text_only) = (source.name.clone(), *settings, false);
    // Many lists are begun side by side then.
    let (early, wait) = (source.early, source.wait.clone());
    let noted = origins.clone();
    let is_ahead = Arc::new(AtomicBool::new(false));
    let read_ahead = Arc::clone(&is_ahead);
    let open = move || {
        let Settings { record_end, chunk_bytes, max_record, .. } = settings;
        let record_end = if matches!(content, Content::Values(_)) { b'\n' } else { record_end };
        let mut reader = ChunkReader::new(vec![source], record_end, chunk_bytes, max_record);
        let origins = noted.filter(RecordOrigins::are_asked_for);
        if origins.is_some() {
            reader.count_lines();
        }
        prepare(&mut reader);
        let (parts, given) = (Vec::new(), (0, 0));
        let (filled, failed) = (0, None);
        let list = List {
            reader,
            settings,
            content,
            origins,
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
    let keeper = None;
    Source {
        name,
        bytes: None,
        open,
        text_only,
        path,
        wait,
        base,
        early,
        read_ahead,
        origins,
        keeper,
    }
}

/// What a list is made of.
enum Content {
    /// The links in the source.
    Links(Box<Extractor>, Entities),
    /// The URIs in the rows of the table that it is, and for each field after them whether it is a column.
    Values(Box<(RowRun, Vec<bool>)>),
}

/// A list that is produced while it is read, from several chunks at a time.
struct List {
    reader: ChunkReader,
    settings: Settings,
    content: Content,
    /// Where to note where its records come from.
    origins: Option<RecordOrigins>,
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
            if let Some(origins) = &self.origins
                && !part.origins.is_empty()
            {
                origins.push(std::mem::take(&mut part.origins));
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
        let has_origins = self.origins.is_some();
        let share = share(parts.len());
        threads::each(parts, |_, part| {
            let kept = part.chunk.keep(settings.record_end, None, settings.kernels);
            part.filtered = kept.unwrap_or_default();
            match content {
                Content::Links(extractor, entities) => {
                    let room = Room { bytes: share, of_link: 1, is_alone: false, left: None };
                    let how = (has_origins, *entities);
                    settings.kernels.run(Fill { settings, extractor, part, room, how });
                }
                Content::Values(values) => {
                    let (finder, fields) = (&values.0.finder, &*values.1);
                    let record_end = settings.record_end;
                    settings.kernels.run(FillValues { finder, fields, part, record_end });
                }
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
        let (settings, has_origins) = (&self.settings, self.origins.is_some());
        let part = &mut self.parts[number];
        let entities = match &self.content {
            Content::Links(_, entities) => *entities,
            Content::Values(_) => Entities::default(),
        };
        let how = (has_origins, entities);
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
        let Content::Values(values) = &mut self.content else { return };
        let run = &mut values.0;
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        let mut done = Ok(());
        let parts = self.parts[..self.filled].iter_mut().enumerate();
        for (i, Part { chunk, rows, .. }) in parts {
            let (report, mut rejects) = (&mut skipped.report, Vec::new());
            done = run.account_chunk(chunk, rows, report, &mut rejects);
            if done.is_err() {
                self.filled = i;
                break;
            }
        }
        if self.filled == 0 && self.failed.is_none() && done.is_ok() {
            let Skipped { members, more, .. } = &mut *skipped;
            done = run.require_members_of(members, more);
        }
        if let Err(error) = done {
            self.failed = Some(error.into());
        }
    }

    /// Counts what the reader found out about sources since the last time.
    fn count_sources(&mut self) {
        let misread = self.reader.misread();
        let found = [self.reader.binary(), misread.misjudged, misread.not_archives];
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
        skipped.filtered += &part.filtered;
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
        sum.invalid.add_many(UriErrorKind::TooLong, u64::from(is_long));
        skipped.report += &sum;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pipeline::{CheckFormat, DedupOptions, Sinks, check, dedup};

    #[test]
    fn origins_are_noted_for_jobs_that_name_them_only() {
        let settings = Settings::default();
        let text = b"http://h/ http://i/\nx http://j/\n".as_slice();
        let list = || {
            let options = ExtractOptions::default();
            links_of(Source::new("a", text), &options, &settings, &Arc::default())
        };
        let (of_dedup, of_read, of_check) = (list(), list(), list());
        let noted = [&of_dedup, &of_read, &of_check].map(|list| list.origins.clone().unwrap());
        let (mut out, options) = (Vec::new(), DedupOptions::default());
        dedup(vec![of_dedup], &options, &settings, &mut Sinks::new(&mut out)).unwrap();
        assert!(!out.is_empty());
        (of_read.open)().unwrap().read_to_end(&mut out).unwrap();
        let (format, none) = (CheckFormat::Text, Default::default());
        check(vec![of_check], format, none, &settings, &mut Sinks::new(&mut out)).unwrap();
        assert_eq!(
            noted.map(|origins| (origins.are_asked_for(), origins.left())),
            [(false, 0), (false, 0), (true, 0)]
        );
    }
}
