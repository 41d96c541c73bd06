//! Rows of sources, read in parallel and put by site.

use super::LearnOptions;
use super::cut::ArchivesAndLines;
use super::fields::Legend;
use super::record::{Line, Reader, Row};
use super::store::Store;
use uriscan_bulk::error::Error;
use uriscan_bulk::io::{Chunk, ChunkReader, Shape, Source};
use uriscan_bulk::pipeline::{Report, Settings, Sinks};
use uriscan_core::extract::warc::{Archived, archived_pages};
use uriscan_core::extract::{Format, clf};
use uriscan_core::key::Hasher;
use uriscan_core::rules::{RuleSet, Scratch};
use uriscan_core::simd::Kernels;
use uriscan_core::threads;
use uriscan_core::uri::UriErrorKind;

counts! {
    /// What was read.
    #[derive(Clone, Copy, Debug, Default)]
    #[non_exhaustive]
    pub struct Read {
        /// Totals of it.
        pub report: Report,
        /// Sites with rows.
        pub sites: u64,
        /// URIs that rules do not change: of other schemes, and records about something that is not a page.
        pub others: u64,
        /// Rows that say which content a page has: by a digest, a canonical link or a redirect.
        pub telling: u64,
        /// Invalid rows that are entries of an access log, which does not have the target of a redirect.
        pub log_entries: u64,
        /// Records of archives with text or metadata that was made of responses (WET, WAT), which are not read.
        pub derived: u64,
    }
}

/// How rows are read and put together.
pub(super) struct How<'r> {
    pub(super) options: &'r LearnOptions,
    pub(super) hasher: &'r Hasher,
    /// Those by whose forms they are put together, instead of their URLs.
    pub(super) rules: Option<&'r RuleSet>,
}

/// What is read at the same time.
struct Part {
    chunk: Chunk,
    /// That of the lines before the chunk, in the same source.
    legend: Option<Legend>,
    reader: Reader,
    found: Found,
}

/// The legends of indexes, across chunks.
#[derive(Default)]
struct Legends {
    source: usize,
    last: Option<Legend>,
}

impl Legends {
    /// That of the lines before `chunk`, which is the next one.
    fn before(&mut self, chunk: &Chunk) -> Option<Legend> {
        if self.source != chunk.source {
            *self = Legends { source: chunk.source, last: None };
        }
        let before = self.last;
        if chunk.shape == Shape::Records && chunk.kind.format != Format::Warc {
            self.last = Legend::last_in(chunk.text.padded().content()).or(before);
        }
        before
    }
}

/// What is in a chunk.
#[derive(Debug, Default)]
pub(super) struct Found {
    rows: Vec<u8>,
    read: Read,
    scratch: Scratch,
}

impl Part {
    fn new(how: &How<'_>, kernels: Kernels) -> Part {
        let reader = Reader::new(how.hasher.clone(), how.options.repairs, kernels);
        Part { chunk: Chunk::default(), legend: None, reader, found: Found::default() }
    }

    /// Reads the rows of the chunk.
    fn read(&mut self, how: &How<'_>) {
        let Part { chunk, legend, reader, found } = self;
        let text = chunk.text.padded();
        found.read.report.bytes = text.len() as u64;
        if chunk.shape != Shape::Records {
            if chunk.shape == Shape::LongFirst {
                found.read.report.records += 1;
                found.read.report.invalid.add(UriErrorKind::TooLong);
            }
        } else if chunk.kind.format == Format::Warc {
            let broken = archived_pages(text.content(), &mut |archived| {
                let page = match archived {
                    Archived::Page(page) => page,
                    Archived::Other => return found.take(&Line::Other, how),
                    Archived::Derived => return found.read.derived += 1,
                };
                found.take(&reader.read_archived(page), how);
                for names in &page.clean {
                    found.add(&reader.read_declared(page.url, names), how);
                }
            });
            found.read.report.omitted.broken += broken;
        } else {
            for line in text.content().split_inclusive(|&byte| byte == b'\n') {
                match line.trim_ascii() {
                    b"" => found.read.report.blank += 1,
                    // A tab at the end is before an empty field.
                    trimmed => {
                        *legend = Legend::of(line).or(*legend);
                        let row = reader.read(line, legend.as_ref());
                        let is_invalid = matches!(row, Line::Invalid(_));
                        found.read.log_entries += u64::from(is_invalid && is_of_log(trimmed));
                        found.take(&row, how);
                    }
                }
            }
        }
        found.read.report.repaired += std::mem::take(&mut reader.repaired);
    }
}

impl Found {
    /// Counts a record and adds its row.
    pub(super) fn take(&mut self, line: &Line<'_>, how: &How<'_>) {
        self.read.report.records += 1;
        match line {
            Line::Row(..) => self.add(line, how),
            Line::Invalid(kind) => self.read.report.invalid.add(*kind),
            Line::Other => self.read.others += 1,
        }
    }

    /// The bytes of its rows.
    pub(super) fn rows_bytes(&self) -> usize {
        self.rows.len()
    }

    /// Puts its rows into `store`, adds its counts to `read`, and forgets both.
    pub(super) fn move_to(&mut self, store: &mut Store, read: &mut Read) -> Result<(), Error> {
        *read += &std::mem::take(&mut self.read);
        store.push(&self.rows)?;
        self.rows.clear();
        Ok(())
    }

    /// Adds its row, if it is one.
    fn add(&mut self, line: &Line<'_>, how: &How<'_>) {
        let Line::Row(row, targets) = line else { return };
        self.read.telling += u64::from(row.same | row.names | row.leads != 0);
        let targets = targets.iter().flatten().map(|url| Row { url, ..Row::default() });
        for row in std::iter::once(*row).chain(targets) {
            let form = match how.rules {
                None => row.url,
                Some(rules) => rules.apply(row.url, &mut self.scratch).0,
            };
            Store::encode(how.hasher, &row, form, &mut self.rows);
        }
    }
}

/// Puts the rows of `sources` into `store`. Returns why a source could not be read to its end, and none after it, if so: then the rows
/// before are there.
pub(super) fn fill(
    sources: Vec<Source>,
    store: &mut Store,
    how: &How<'_>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
    read: &mut Read,
) -> Result<Option<Error>, Error> {
    let Settings { chunk_bytes, max_record, kernels, .. } = *settings;
    let mut chunks = ChunkReader::new(sources, b'\n', chunk_bytes, max_record);
    chunks.cut_by(Box::new(ArchivesAndLines::new()));
    let count = 4 * rayon::current_num_threads();
    let mut parts: Vec<Part> = (0..count).map(|_| Part::new(how, kernels)).collect();
    // Of records far longer than a chunk, such as films in archives, one is held at a time.
    let (budget, usual) = (count * chunk_bytes, 2 * chunk_bytes);
    let (mut fault, mut legends) = (None, Legends::default());
    while fault.is_none() {
        let (mut filled, mut bytes) = (0, 0);
        while filled < parts.len() && bytes <= budget {
            match (chunks.fill(&mut parts[filled].chunk), &mut sinks.unread) {
                (Ok(true), _) => {
                    bytes += parts[filled].chunk.text.padded().len();
                    parts[filled].legend = legends.before(&parts[filled].chunk);
                    filled += 1;
                }
                (Ok(false), _) => break,
                (Err(error), Some(unread)) => unread(&error),
                (Err(error), None) => {
                    fault = Some(Error::from(error));
                    break;
                }
            }
        }
        if filled == 0 {
            break;
        }
        threads::each(&mut parts[..filled], |_, part| part.read(how));
        for Part { found, chunk, .. } in &mut parts[..filled] {
            found.move_to(store, read)?;
            if chunk.text.capacity() > usual {
                chunks.take_back(&mut chunk.text, 2 * max_record);
            }
        }
        if let Some(progress) = &mut sinks.progress {
            progress(read.report.bytes);
        }
    }
    Ok(fault)
}

/// Whether a line is one of an access log.
fn is_of_log(line: &[u8]) -> bool {
    clf::is_entry(line) || line.starts_with(b"#Fields:")
}
