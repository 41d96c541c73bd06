//! Finds the links of a chunk, and turns any source into a source of links.

use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError};

use super::{Report, Settings};
use crate::extract::warc::{self, Extent};
use crate::extract::{
    Extractor, ExtractorOptions, Fault, Format, Kind, Links, last_row_end, mail, wrapped_cut,
};
use crate::io::reader::{Cut, Next};
use crate::io::{Chunk, ChunkReader, ReadError, Shape, Source};
use crate::simd::{Isa, Kernels, Task};
use crate::threads;
use crate::uri::ErrorKind;

pub(super) use crate::io::found::Found;

/// Which links are searched for, and in which formats.
///
/// ```
/// use uriscan::{extract::{ExtractorOptions, Format}, pipeline::ExtractOptions};
/// let extractor = ExtractorOptions::default().warc_targets(true);
/// let options = ExtractOptions::default().extractor(extractor).format(Format::Warc);
/// assert_eq!(options.format, Some(Format::Warc));
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ExtractOptions {
    /// Which links are searched for.
    pub extractor: ExtractorOptions,
    /// The format of the sources; `None` to detect it from their content and names ([`Format::of_source`]).
    pub format: Option<Format>,
    /// Whether links that are written although they are not valid are counted in [`Report::invalid`], which takes
    /// time for each link.
    pub count_invalid: bool,
}

impl ExtractOptions {
    /// Sets which links are found.
    pub fn extractor(mut self, extractor: ExtractorOptions) -> ExtractOptions {
        self.extractor = extractor;
        self
    }

    /// Sets the format of all sources; `None` to detect it.
    pub fn format(mut self, format: impl Into<Option<Format>>) -> ExtractOptions {
        self.format = format.into();
        self
    }

    /// Sets whether links that are not valid are counted.
    pub fn count_invalid(mut self, count_invalid: bool) -> ExtractOptions {
        self.count_invalid = count_invalid;
        self
    }
}

/// Appends the links of `chunk` to `links`.
#[inline(always)]
pub(super) fn of_chunk<I: Isa>(
    isa: I,
    kernels: Kernels,
    extractor: &Extractor,
    chunk: &Chunk,
    links: &mut Links,
) {
    let base = chunk.base.as_deref().or(extractor.options().base.as_deref());
    extractor.extract_in(isa, kernels, chunk.kind, chunk.text.padded(), base, links);
}

/// Counts what was omitted from `links`.
pub(super) fn count_faults(links: &Links, report: &mut Report) {
    report.invalid.add_many(ErrorKind::Relative, links.relative());
    report.invalid.add_many(ErrorKind::TooLong, links.lost());
    report.broken += links.broken();
    report.partial += links.partial();
    report.undecoded += links.undecoded();
    report.unparsed += links.unparsed();
    report.malformed += links.malformed();
    report.miscoded += links.miscoded();
}

/// Describes the document or message that begins in `chunk` if it is longer than the limit. Lines of text are only
/// counted.
pub(super) fn long_fault(chunk: &Chunk, settings: &Settings) -> Option<String> {
    let is_named = chunk.shape == Shape::LongFirst && chunk.kind.format != Format::Text;
    is_named.then(|| {
        let most = match settings.max_record {
            bytes if bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
            bytes => format!("{bytes} bytes"),
        };
        format!("record at byte {}: has more than {most} and was skipped", chunk.byte)
    })
}

/// Where the records of sources of any kind end.
pub(super) fn cut(options: &ExtractOptions, record_end: u8) -> Box<dyn Cut> {
    Box::new(Documents {
        record_end,
        unwrap: options.extractor.find.unwrap,
        typed: options.format,
        fields: options.extractor.fields.clone(),
        format: Format::Text,
        rest: Rest::Garbage,
        ends_line: false,
    })
}

struct Documents {
    record_end: u8,
    unwrap: bool,
    /// The format of all sources, if it is not detected.
    typed: Option<Format>,
    /// The columns of tables that are wanted.
    fields: Vec<String>,
    /// That of the current source.
    format: Format,
    /// The rest of an overlong record of an archive.
    rest: Rest,
    /// Whether the last part of a mailbox ended a line.
    ends_line: bool,
}

/// The part of an archive that belongs to no searched record.
enum Rest {
    /// This many bytes.
    Bytes(usize),
    /// Everything before the next line that begins a record.
    Garbage,
}

impl Documents {
    /// The last line end at which no link can be open.
    fn last_line(&self, content: &[u8], record_end: u8) -> Option<usize> {
        let mut end = content.len();
        loop {
            end = memchr::memrchr(record_end, &content[..end])? + 1;
            match self.unwrap.then(|| wrapped_cut(content, end)).flatten() {
                None => return Some(end),
                Some(start) => end = start,
            }
        }
    }

    /// The end of the last whole record of an archive.
    fn last_archived(&mut self, content: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < content.len() {
            let (next, rest) = match warc::extent(&content[at..]) {
                Extent::Record(record) => {
                    let end = at.saturating_add(record.end());
                    (Some(end), Rest::Bytes(end.saturating_sub(content.len())))
                }
                Extent::Open => (None, Rest::Garbage),
                Extent::Broken => (warc::next_record(content, at), Rest::Garbage),
            };
            match next.filter(|&next| next <= content.len()) {
                Some(next) => at = next,
                None => {
                    self.rest = rest;
                    break;
                }
            }
        }
        (at > 0).then_some(at)
    }
}

impl Cut for Documents {
    fn needs_head(&self) -> bool {
        self.typed.is_none()
    }

    fn begin(&mut self, name: &str, head: &[u8]) -> io::Result<Kind> {
        self.format = self.typed.unwrap_or_else(|| Format::of_source(name, head));
        Kind::new(self.format, &self.fields, head)
            .map_err(|what| io::Error::new(io::ErrorKind::InvalidData, what))
    }

    fn last_end(&mut self, content: &[u8]) -> Option<usize> {
        match self.format {
            Format::Text
            | Format::Json
            | Format::Clf
            | Format::Tsv
            | Format::Cdxj
            | Format::Robots => self.last_line(content, self.format.line_end(self.record_end)),
            Format::Warc => self.last_archived(content),
            Format::Csv => last_row_end(content, b','),
            Format::Mbox => {
                self.ends_line = content.last() == Some(&b'\n');
                mail::last_message(content)
            }
            // A document is one record.
            Format::Html
            | Format::Markdown
            | Format::Xml
            | Format::Css
            | Format::Eml
            | Format::Har => None,
        }
    }

    fn long_end(&mut self, content: &[u8]) -> Option<usize> {
        match self.format {
            Format::Html
            | Format::Markdown
            | Format::Xml
            | Format::Css
            | Format::Eml
            | Format::Har => None,
            Format::Mbox => {
                let ends_line = content.last() == Some(&b'\n');
                mail::message_end(content, core::mem::replace(&mut self.ends_line, ends_line))
            }
            Format::Text
            | Format::Json
            | Format::Clf
            | Format::Tsv
            | Format::Cdxj
            | Format::Robots
            | Format::Csv => {
                memchr::memchr(self.format.line_end(self.record_end), content).map(|at| at + 1)
            }
            Format::Warc => match &mut self.rest {
                Rest::Bytes(count) if *count > content.len() => {
                    *count -= content.len();
                    None
                }
                Rest::Bytes(count) => Some(*count),
                Rest::Garbage => warc::garbage_end(content),
            },
        }
    }

    fn line_end(&self) -> Option<u8> {
        let is_of_lines = match self.format {
            Format::Text => !self.unwrap,
            Format::Json | Format::Clf | Format::Tsv | Format::Cdxj | Format::Robots => true,
            _ => false,
        };
        is_of_lines.then(|| self.format.line_end(self.record_end))
    }

    fn fault_end(&mut self, content: &[u8]) -> Option<usize> {
        match self.format {
            // Its links before the fault are whole.
            Format::Html | Format::Xml | Format::Css => Some(content.len()),
            _ => self.last_end(content),
        }
    }
}

/// What lists of links ([`links_of`]) omit.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Skipped {
    /// The totals, as [`super::extract()`] counts them.
    pub report: Report,
    /// The first bodies in archives that could not, or not wholly, be decoded, and the first documents that
    /// could not be parsed: twenty at most.
    pub faults: Vec<ReadError>,
}

/// The links of `source` as a list, one per record, for any other job.
///
/// The list is produced while it is read, from several chunks at a time; nothing is stored on disk. Lines and offsets that a job
/// reports are those of the list, not of the source. When the list has been read, `skipped` counts what it omits, as
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
    let skipped = Arc::clone(skipped);
    let (name, settings, text_only) = (source.name.clone(), *settings, false);
    // Many lists are begun side by side then.
    let (early, wait) = (source.early, source.wait.clone());
    let extractor = Extractor::new(options.extractor.clone());
    let cut = cut(options, settings.record_end);
    let open = move || {
        let Settings { record_end, chunk_bytes, max_record, .. } = settings;
        let mut reader = ChunkReader::new(vec![source], record_end, chunk_bytes, max_record);
        reader.cut_by(cut);
        let (parts, given) = (Vec::new(), (0, 0));
        let list =
            List { reader, settings, extractor, parts, filled: 0, failed: None, skipped, given };
        Ok(Box::new(list) as Box<dyn Read + Send>)
    };
    let (open, path, base) = (Box::new(open), None, None);
    Source { name, bytes: None, open, text_only, path, wait, base, early }
}

/// A list of links that is produced while it is read, from several chunks at a time.
struct List {
    reader: ChunkReader,
    settings: Settings,
    extractor: Extractor,
    parts: Vec<Part>,
    /// The number of parts that are in use.
    filled: usize,
    /// The error that follows them, if reading failed.
    failed: Option<io::Error>,
    skipped: Arc<Mutex<Skipped>>,
    /// What was read: the number of parts, and of bytes of the next one.
    given: (usize, usize),
}

/// The links of a chunk.
#[derive(Default)]
struct Part {
    chunk: Chunk,
    links: Links,
    out: Vec<u8>,
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
            let left = &self.parts[*number].out[*byte..];
            if left.is_empty() {
                (*number, *byte) = (*number + 1, 0);
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
        let (settings, extractor) = (&self.settings, &self.extractor);
        let parts = &mut self.parts[..self.filled];
        threads::each(parts, |_, part| settings.kernels.run(Fill(settings, extractor, part)));
        self.count_skipped();
        match self.failed.take() {
            Some(error) if self.filled == 0 => Err(error),
            failed => {
                self.failed = failed;
                Ok(self.filled > 0)
            }
        }
    }

    /// Counts what the list omits.
    fn count_skipped(&self) {
        let mut sum = Report::default();
        let mut skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        for part in &self.parts[..self.filled] {
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
        }
        skipped.report += &sum;
    }
}

/// Makes the list of a chunk.
struct Fill<'a>(&'a Settings, &'a Extractor, &'a mut Part);

impl Task for Fill<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Fill(settings, extractor, Part { chunk, links, out }) = self;
        out.clear();
        links.clear();
        if chunk.shape == Shape::Records {
            of_chunk(isa, settings.kernels, extractor, chunk, links);
        }
        for (_, uri) in links.iter(chunk.text.padded().content()) {
            out.extend_from_slice(uri);
            out.push(settings.record_end);
        }
    }
}
