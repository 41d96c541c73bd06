//! Rows of sources, read in parallel and put by site.

use super::LearnOptions;
use super::cut::ArchivesAndLines;
use super::record::{Line, Reader, Row};
use super::store::Store;
use crate::error::Error;
use crate::extract::warc::{Archived, archived_pages};
use crate::extract::{Format, clf};
use crate::io::{Chunk, ChunkReader, Shape, Source};
use crate::key::Hasher;
use crate::pipeline::{Report, Settings, Sinks};
use crate::rules::{RuleSet, Scratch};
use crate::simd::Kernels;
use crate::threads;
use crate::uri::UriErrorKind;

/// What was read.
#[derive(Clone, Debug, Default)]
pub(super) struct Read {
    pub(super) report: Report,
    pub(super) sites: u64,
    pub(super) others: u64,
    pub(super) telling: u64,
    pub(super) log_entries: u64,
}

impl Read {
    pub(super) fn add(&mut self, other: &Read) {
        self.report += &other.report;
        self.sites += other.sites;
        self.others += other.others;
        self.telling += other.telling;
        self.log_entries += other.log_entries;
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
    reader: Reader,
    found: Found,
}

/// What is in a chunk.
#[derive(Debug, Default)]
pub(super) struct Found {
    rows: Vec<u8>,
    report: Report,
    others: u64,
    telling: u64,
    log_entries: u64,
    scratch: Scratch,
}

impl Part {
    fn new(how: &How<'_>, kernels: Kernels) -> Part {
        let reader = Reader::new(how.hasher.clone(), kernels);
        Part { chunk: Chunk::default(), reader, found: Found::default() }
    }

    /// Reads the rows of the chunk.
    fn read(&mut self, how: &How<'_>) {
        let Part { chunk, reader, found } = self;
        let text = chunk.text.padded();
        found.report.bytes = text.len() as u64;
        if chunk.shape != Shape::Records {
            if chunk.shape == Shape::LongFirst {
                found.report.records += 1;
                found.report.invalid.add(UriErrorKind::TooLong);
            }
        } else if chunk.kind.format == Format::Warc {
            let broken = archived_pages(text.content(), &mut |archived| {
                let Archived::Page(page) = archived else { return found.take(&Line::Other, how) };
                found.take(&reader.read_archived(page), how);
                for names in &page.clean {
                    found.add(&reader.read_declared(page.url, names), how);
                }
            });
            found.report.broken += broken;
        } else {
            for line in text.content().split_inclusive(|&byte| byte == b'\n') {
                match line.trim_ascii() {
                    b"" => found.report.blank += 1,
                    // A tab at the end is before an empty field.
                    trimmed => {
                        let row = reader.read(line);
                        let is_invalid = matches!(row, Line::Invalid(_));
                        found.log_entries += u64::from(is_invalid && is_of_log(trimmed));
                        found.take(&row, how);
                    }
                }
            }
        }
    }
}

impl Found {
    /// Counts a record and adds its row.
    pub(super) fn take(&mut self, line: &Line<'_>, how: &How<'_>) {
        self.report.records += 1;
        match line {
            Line::Row(..) => self.add(line, how),
            Line::Invalid(kind) => self.report.invalid.add(*kind),
            Line::Other => self.others += 1,
        }
    }

    /// The bytes of its rows.
    pub(super) fn rows_bytes(&self) -> usize {
        self.rows.len()
    }

    /// Puts its rows into `store`, adds its counts to `read`, and forgets both.
    pub(super) fn move_to(&mut self, store: &mut Store, read: &mut Read) -> Result<(), Error> {
        let Found { rows, report, others, telling, log_entries, .. } = self;
        read.report += &std::mem::take(report);
        read.others += std::mem::take(others);
        read.telling += std::mem::take(telling);
        read.log_entries += std::mem::take(log_entries);
        store.push(rows)?;
        rows.clear();
        Ok(())
    }

    /// Adds its row, if it is one.
    fn add(&mut self, line: &Line<'_>, how: &How<'_>) {
        let Line::Row(row, targets) = line else { return };
        self.telling += u64::from(row.same | row.names | row.leads != 0);
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

/// Puts the rows of `sources` into `store`.
pub(super) fn fill(
    sources: Vec<Source>,
    store: &mut Store,
    how: &How<'_>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
    read: &mut Read,
) -> Result<(), Error> {
    let Settings { chunk_bytes, max_record, kernels, .. } = *settings;
    let mut chunks = ChunkReader::new(sources, b'\n', chunk_bytes, max_record);
    chunks.cut_by(Box::new(ArchivesAndLines::new()));
    let count = 4 * rayon::current_num_threads();
    let mut parts: Vec<Part> = (0..count).map(|_| Part::new(how, kernels)).collect();
    // Of records far longer than a chunk, such as films in archives, one is held at a time.
    let (budget, usual) = (count * chunk_bytes, 2 * chunk_bytes);
    loop {
        let (mut filled, mut bytes) = (0, 0);
        while filled < parts.len() && bytes <= budget {
            match (chunks.fill(&mut parts[filled].chunk), &mut sinks.unread) {
                (Ok(true), _) => {
                    bytes += parts[filled].chunk.len();
                    filled += 1;
                }
                (Ok(false), _) => break,
                (Err(error), Some(unread)) => unread(&error),
                (Err(error), None) => return Err(error.into()),
            }
        }
        if filled == 0 {
            return Ok(());
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
}

/// Whether a line is one of an access log.
fn is_of_log(line: &[u8]) -> bool {
    clf::is_entry(line) || line.starts_with(b"#Fields:")
}
