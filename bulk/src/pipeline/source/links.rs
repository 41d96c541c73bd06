//! Finds the links of a chunk, and where sources of any kind may be cut into chunks.

use std::io;

use crate::io::Chunk;
use crate::io::read::cut::{Cut, HEAD_BYTES, Misread};
use crate::pipeline::Report;
use uriscan_core::extract::quotes::{AFTER_QUOTE, Quotes};
use uriscan_core::extract::warc::{self, Extent};
use uriscan_core::extract::{
    Context, Extractor, ExtractorOptions, Format, Kind, Links, Room, Separator, Splits,
    last_folded_end, last_row_end, last_token_end, mail, wrapped_cut,
};
use uriscan_core::simd::{Isa, Kernels};
use uriscan_core::uri::UriErrorKind;

pub(crate) use crate::io::write::link_row::LinkRow;

/// Which links of lists ([`crate::pipeline::links_of`]) have their character references decoded
/// ([`uriscan_core::repair::Repair::Entity`]). Those of pages, feeds and Markdown are decoded when they are read, and
/// never again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Entities {
    /// None.
    #[default]
    Keep,
    /// Those in running text.
    Text,
    /// All.
    All,
}

impl Entities {
    /// Whether links of this kind are decoded.
    pub(crate) fn are_decoded_in(self, context: Context) -> bool {
        match self {
            Entities::Keep => false,
            Entities::Text => context == Context::Text,
            Entities::All => !context.is_of_markup(),
        }
    }
}

/// Which links are searched for, and in which formats.
///
/// ```
/// use uriscan::extract::{ExtractorOptions, Format};
/// use uriscan_bulk::pipeline::ExtractOptions;
/// let extractor = ExtractorOptions::default().warc_targets(true);
/// let options = ExtractOptions::default().extractor(extractor).format(Format::Warc);
/// assert_eq!(options.format, Some(Format::Warc));
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
#[non_exhaustive]
pub struct ExtractOptions {
    /// Which links are searched for.
    pub extractor: ExtractorOptions,
    /// The format of the sources; `None` to detect it from their content and names ([`Format::of_source`]), among those
    /// of logs if the options select what only those have ([`ExtractorOptions::is_of_logs`]).
    pub format: Option<Format>,
    /// Whether links that are written although they are not valid are counted in [`Report::invalid`], which takes
    /// time for each link.
    pub count_invalid: bool,
    /// Which links of lists of links ([`crate::pipeline::links_of`]) are decoded.
    pub entities: Entities,
}

setters! { ExtractOptions
    { extractor: ExtractorOptions, count_invalid: bool, entities: Entities }
    into { format: Option<Format> }
}

/// Replaces `links` with those of `chunk`; leaves the rest of it when they take `room`.
#[inline(always)]
pub(crate) fn of_chunk<I: Isa>(
    isa: I,
    kernels: Kernels,
    extractor: &Extractor,
    chunk: &Chunk,
    room: Room,
    links: &mut Links,
) {
    links.clear();
    links.give_room(room);
    let base = chunk.base.as_deref().or(extractor.options().base.as_deref());
    let first_part = chunk.is_long && chunk.kind.format != Format::Text;
    links.set_cut(chunk.is_cut || first_part);
    extractor.extract_in(isa, kernels, chunk.kind, chunk.text.padded(), base, links);
    if first_part && links.left().is_none() {
        let rest = chunk.kind.format != Format::Warc;
        links.count_long(chunk.text.padded().len() as u32, rest);
    }
    if chunk.is_cut && links.left().is_none() {
        links.drop_cut(chunk.text.padded().content(), chunk.kind.format.has_parts());
    }
}

/// Counts what was omitted from `links`.
pub(crate) fn count_faults(links: &Links, report: &mut Report) {
    report.invalid.add_many(UriErrorKind::Relative, links.relative());
    report.filtered += &links.filtered();
    report.omitted += links.omitted();
}

/// Where the records of sources of any kind end.
pub fn cut(options: &ExtractOptions, record_end: u8) -> Box<dyn Cut> {
    Box::new(Documents {
        record_end,
        unwrap: options.extractor.find.unwrap,
        typed: options.format,
        is_log: options.extractor.is_of_logs(),
        fields: options.extractor.fields.clone(),
        delimiter: options.extractor.delimiter,
        separator: Separator::default(),
        format: Format::Text,
        splits: Splits::None,
        rest: Rest::Garbage,
        ends_line: false,
        early: None,
        selects_records: options.extractor.selects_records(),
        misread: Misread::default(),
        quotes: None,
        line: 1,
    })
}

fn invalid(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Whether such a source has character references in its links.
fn has_references(format: Format) -> bool {
    matches!(format, Format::Html | Format::Xml | Format::Markup)
}

/// The last place in `content` that is in no link: after white space or a quote, or before a `<`.
fn last_delimiter(content: &[u8]) -> Option<usize> {
    let at = content.iter().rposition(|byte| b" \t\r\n\"<>".contains(byte))?;
    let end = if content[at] == b'<' { at } else { at + 1 };
    (end > 0).then_some(end)
}

/// The beginning of a source whose format was decided by less than all of it.
struct Early {
    name: String,
    /// The bytes that decided.
    len: usize,
    /// What has come so far.
    head: Vec<u8>,
}

struct Documents {
    record_end: u8,
    unwrap: bool,
    /// The format of all sources, if it is not detected.
    typed: Option<Format>,
    /// Whether all sources are logs.
    is_log: bool,
    /// The columns of tables that are wanted.
    fields: Vec<String>,
    /// The byte between those of CSV, if it is known.
    delimiter: Option<u8>,
    /// What is between the fields of the current source, a table.
    separator: Separator,
    /// That of the current source.
    format: Format,
    /// Which of its lines are parts of entries.
    splits: Splits,
    /// The rest of an overlong record of an archive.
    rest: Rest,
    early: Option<Early>,
    /// Whether records of archives are selected.
    selects_records: bool,
    misread: Misread,
    /// Whether the last part of a mailbox ended a line.
    ends_line: bool,
    /// Those of a table of which only some columns are searched: where rows and fields end makes no difference otherwise.
    quotes: Option<Quotes>,
    /// The line of the table that comes next.
    line: u64,
}

/// The part of an archive that belongs to no searched record.
enum Rest {
    /// This many bytes.
    Bytes(usize),
    /// Everything before the next line that begins a record.
    Garbage,
}

impl Documents {
    /// Compares the format with what the first bytes show, once all of them are there.
    fn look_again(&mut self, bytes: &[u8], is_end: bool) {
        let Some(early) = &mut self.early else { return };
        let room = HEAD_BYTES - early.head.len();
        early.head.extend_from_slice(&bytes[..bytes.len().min(room)]);
        if !is_end && early.head.len() < HEAD_BYTES {
            return;
        }
        let shows_more = early.head.len() > early.len;
        if let Some(early) = self.early.take().filter(|_| shows_more) {
            self.misread.misjudged +=
                u64::from(self.detect(&early.name, &early.head) != self.format);
        }
    }

    /// The format of the source `name` that begins with `head`.
    fn detect(&self, name: &str, head: &[u8]) -> Format {
        match self.is_log {
            true => Format::log_of_head(head).unwrap_or(Format::Clf),
            false => match Format::with_fields(name, head, &self.fields) {
                Format::Text | Format::Tsv if self.delimiter.is_some() => Format::Csv,
                format => format,
            },
        }
    }

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
        let mut at = warc::after_ends(content, 0);
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
                Some(next) => at = warc::after_ends(content, next),
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
        // The names of columns are in the first line, feeds begin with their element, and logs of containers show how
        // their lines are split.
        self.typed.is_none_or(|format| {
            matches!(format, Format::Csv | Format::Tsv | Format::Xml | Format::Clf)
        })
    }

    fn begin(&mut self, name: &str, head: &[u8]) -> io::Result<Kind> {
        self.format = match self.typed {
            Some(format) => format.of_kind(head),
            None => self.detect(name, head),
        };
        if let Some(what) = self.format.refusal(&self.fields, head) {
            return Err(invalid(what));
        }
        // What an HTTP archive has are records, too, by their media type.
        let is_archive = matches!(self.format, Format::Warc | Format::Har) || head.is_empty();
        let is_other = self.selects_records && !is_archive;
        self.misread.not_archives += u64::from(is_other);
        let may_change = self.typed.is_none() && head.len() < HEAD_BYTES;
        self.early =
            may_change.then(|| Early { name: name.to_owned(), len: head.len(), head: Vec::new() });
        let kind = Kind::new(self.format, &self.fields, self.delimiter, head).map_err(invalid)?;
        (self.separator, self.splits) = (kind.columns.separator, kind.splits);
        let is_quoted = self.format == Format::Csv && kind.columns.are_selected();
        (self.quotes, self.line) = (is_quoted.then(|| Quotes::new(self.separator.byte, b'"')), 1);
        Ok(kind)
    }

    fn check(&mut self, bytes: &[u8], is_end: bool) -> Result<(), (usize, io::Error)> {
        self.look_again(bytes, is_end);
        let Some(quotes) = &mut self.quotes else { return Ok(()) };
        let taken = quotes.take(bytes);
        let whole = &bytes[..taken.err().unwrap_or(bytes.len())];
        self.line += memchr::memchr_iter(b'\n', whole).count() as u64;
        match taken {
            Err(at) => Err((at, invalid(format!("line {}: {AFTER_QUOTE}", self.line)))),
            Ok(()) if is_end && quotes.is_open() => {
                Err((bytes.len(), invalid("a quote is never closed".to_owned())))
            }
            Ok(()) => Ok(()),
        }
    }

    fn misread(&self) -> Misread {
        self.misread
    }

    fn last_end(&mut self, content: &[u8]) -> Option<usize> {
        match self.format {
            Format::Clf if self.splits != Splits::None => self.splits.last_end(content),
            Format::Text
            | Format::Json
            | Format::Clf
            | Format::W3c
            | Format::Tsv
            | Format::Cdxj
            | Format::Robots => self.last_line(content, self.format.line_end(self.record_end)),
            Format::Warc => self.last_archived(content),
            Format::Csv => last_row_end(content, self.separator),
            Format::Markup => last_token_end(content),
            Format::Folded => last_folded_end(content),
            Format::Mbox => {
                self.ends_line = content.last() == Some(&b'\n');
                mail::last_message(content)
            }
            // A document is one record.
            _ => None,
        }
    }

    fn long_end(&mut self, content: &[u8]) -> Option<usize> {
        match self.format {
            Format::Mbox => {
                let ends_line = content.last() == Some(&b'\n');
                mail::message_end(content, core::mem::replace(&mut self.ends_line, ends_line))
            }
            Format::Text
            | Format::Json
            | Format::Clf
            | Format::W3c
            | Format::Tsv
            | Format::Cdxj
            | Format::Robots
            | Format::Folded
            | Format::Csv => {
                memchr::memchr(self.format.line_end(self.record_end), content).map(|at| at + 1)
            }
            Format::Markup => memchr::memchr(b'<', content),
            Format::Warc => match &mut self.rest {
                Rest::Bytes(count) if *count > content.len() => {
                    *count -= content.len();
                    None
                }
                Rest::Bytes(count) => Some(*count),
                Rest::Garbage => warc::garbage_end(content),
            },
            _ => None,
        }
    }

    fn part_end(&mut self, content: &[u8]) -> Option<usize> {
        // The rest does not show which of its values are selected.
        if !self.fields.is_empty() || self.is_log {
            return None;
        }
        let end = match self.format {
            // The rest is counted from here.
            Format::Warc => Some(content.len()),
            format if has_references(format) => last_token_end(content),
            _ => None,
        };
        let end = end.or_else(|| last_delimiter(content)).unwrap_or(content.len());
        self.ends_line = content[..end].ends_with(b"\n");
        Some(end)
    }

    fn kind_of_parts(&self, kind: Kind) -> Option<Kind> {
        // Nor does that of an archived record show whether it is text.
        if !self.fields.is_empty() || self.is_log || self.format == Format::Warc {
            return None;
        }
        let format = match has_references(self.format) {
            true => Format::Markup,
            false => Format::Text,
        };
        Some(Kind { format, has_mark: kind.has_mark, ..Kind::default() })
    }

    fn line_end(&self) -> Option<u8> {
        let is_of_lines = match self.format {
            Format::Text => !self.unwrap,
            Format::Clf => self.splits == Splits::None,
            Format::Json | Format::Tsv | Format::Cdxj | Format::Robots => true,
            _ => false,
        };
        is_of_lines.then(|| self.format.line_end(self.record_end))
    }

    fn fault_end(&mut self, content: &[u8]) -> Option<usize> {
        // What may be cut off is not taken as a link, except between `<` and `>`.
        let needs_whole = self.quotes.is_some() || self.format == Format::Text && self.unwrap;
        if needs_whole { self.last_end(content) } else { Some(content.len()) }
    }
}
