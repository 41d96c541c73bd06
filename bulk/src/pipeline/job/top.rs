//! How many records have each host, domain, parameter and so on.

mod buffers;
mod by;
mod distinct;
mod forms;
mod hosts;
mod job;
#[cfg(test)]
mod tests;

use crate::io::Source;
use crate::pipeline::engine::driver::run;
use crate::pipeline::engine::limit::within;
use crate::pipeline::{
    DedupOptions, Equivalence, Error, MemoryLimit, OnInvalid, Report, Settings, Sinks,
};
use crate::top_k::{TextCount, TopTexts};
pub use by::{By, UnknownPart};
use distinct::with_distinct;
use job::Count;
use uriscan_core::key::Hasher;

/// What is counted.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{By, Settings, Sinks, TopOptions, top}};
/// let list = Source::new("list", &b"http://A.example/1\nhttp://a.example:80/2\nhttp://b.example/\n"[..]);
/// let options = TopOptions::default().by(vec![By::Host]);
/// let found = top(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut std::io::sink())).unwrap();
/// let rows = &found.tables[0].rows;
/// assert_eq!((rows[0].value.as_deref(), rows[0].count), (Some(&b"a.example"[..]), 2));
/// assert_eq!((rows[1].value.as_deref(), rows[1].count), (Some(&b"b.example"[..]), 1));
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct TopOptions {
    /// The parts to count, each for itself. Values are those of the canonical forms.
    pub by: Vec<By>,
    /// What canonical forms are, and for `distinct` which records are equivalent.
    pub equivalence: Equivalence,
    /// What becomes of invalid records. They have no parts; under [`OnInvalid::Pass`] they are counted as invalid, no more.
    pub on_invalid: OnInvalid,
    /// How many values of each part are returned.
    pub most: usize,
    /// Count one record of each class of equivalent ones.
    pub distinct: bool,
    /// Also count the values of records with their secrets masked, for [`Top::masked`].
    pub masked: bool,
    /// The memory limit; `None` for no limit.
    pub limit: Option<MemoryLimit>,
    /// The hash for keys; no result depends on its secrets.
    pub hasher: Hasher,
}

impl Default for TopOptions {
    fn default() -> TopOptions {
        TopOptions {
            by: vec![By::Host],
            equivalence: Equivalence::default(),
            on_invalid: OnInvalid::default(),
            most: usize::MAX,
            distinct: false,
            masked: false,
            limit: None,
            hasher: Hasher::random(),
        }
    }
}

setters! { TopOptions
    {
        by: Vec<By>, equivalence: Equivalence, on_invalid: OnInvalid, most: usize, distinct: bool,
        masked: bool,
    }
    into { limit: Option<MemoryLimit> }
}

impl TopOptions {
    fn parts(&self) -> usize {
        self.by.len() * (1 + usize::from(self.masked))
    }
}

/// A value and how many records have it.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopRow {
    /// The value; `None` for records without this part.
    pub value: Option<Vec<u8>>,
    /// How many records have it: this many, or up to `error` fewer.
    pub count: u64,
    /// 0 unless there was no room for all values.
    pub error: u64,
}

/// The counts of one part.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TopTable {
    /// The part.
    pub by: By,
    /// By count, the highest first, then by value; records without the part precede values with the same count.
    pub rows: Vec<TopRow>,
    /// The number of different values; `None` if there was no room to know it.
    pub distinct: Option<u64>,
    /// A value that is not known occurs this often at most; 0 if all values are known.
    pub error: u64,
}

/// The outcome of [`top()`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Top {
    /// A table for each part.
    pub tables: Vec<TopTable>,
    /// Records that have a canonical form, or with [`TopOptions::distinct`] classes of them: the whole of all shares.
    pub counted: u64,
    /// The same of records with their secrets masked, if asked for: a part of a secret is not known as one.
    pub masked: Vec<TopTable>,
    /// Totals; nothing is written.
    pub report: Report,
}

/// Counts how many records of `sources` have each value of some parts: hosts, domains, parameters and so on.
///
/// Counts are exact. Under a memory limit they are exact as long as there is room for all values; from then on the values
/// with the lowest counts make room for new ones (Space-Saving), and each count has a bound of its error. Every value that
/// occurs more often than [`TopTable::error`] is known. The result does not depend on the number of threads or the size of
/// chunks in any case.
///
/// Of access logs, [`By::Log`] counts entries by what [`links_of`](crate::pipeline::links_of) lists of them:
///
/// ```
/// use uriscan::extract::{ExtractorOptions, LogPart};
/// use uriscan_bulk::io::Source;
/// use uriscan_bulk::pipeline::{By, ExtractOptions, Settings, Sinks, TopOptions, links_of, top};
/// let log = b"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /a HTTP/1.0\" 200 5\n";
/// let extractor = ExtractorOptions::default().log_part(LogPart::Day);
/// let (options, settings) = (ExtractOptions::default().extractor(extractor), Settings::default());
/// let days = links_of(Source::new("a", &log[..]), &options, &settings, &Default::default());
/// let by = TopOptions::default().by(vec![By::Log(LogPart::Day)]);
/// let found = top(vec![days], &by, &settings, &mut Sinks::new(&mut std::io::sink())).unwrap();
/// assert_eq!(found.tables[0].rows[0].value.as_deref(), Some(&b"2000-10-10"[..]));
/// ```
///
/// Nothing is written to [`Sinks::out`]. With [`Settings::redact`], values are those of records with their secrets masked;
/// records are compared as they are.
///
/// # Errors
/// See [`Error`].
pub fn top(
    sources: Vec<Source>,
    options: &TopOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Top, Error> {
    let settings = &match &options.limit {
        Some(limit) => within(limit, settings, options.parts()),
        None => *settings,
    };
    let bytes = options.limit.as_ref().map(|limit| limit.set_bytes.unwrap_or(limit.bytes / 4));
    if !options.distinct {
        return count(sources, options, bytes, settings, sinks);
    }
    // Half of the memory for keys, a quarter for counts, and the rest for all else.
    let half = |limit: &MemoryLimit| MemoryLimit { bytes: limit.bytes / 2, ..limit.clone() };
    let dedup = DedupOptions::default()
        .equivalence(options.equivalence.clone())
        .on_invalid(options.on_invalid)
        .hasher(options.hasher.clone())
        .limit(options.limit.as_ref().map(half));
    let counted = TopOptions { on_invalid: OnInvalid::Pass, ..options.clone() };
    let (found, report) = with_distinct(sources, &dedup, settings, sinks, |distinct| {
        let mut nowhere = std::io::sink();
        count(vec![distinct], &counted, bytes, settings, &mut Sinks::new(&mut nowhere))
    })?;
    Ok(Top { report: Report { written: 0, ..report }, ..found })
}

/// [`top()`] of all records.
fn count(
    sources: Vec<Source>,
    options: &TopOptions,
    bytes: Option<usize>,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Top, Error> {
    let mut job = Count::new(options, bytes, settings);
    let report = run(&mut job, sources, settings, sinks)?;
    let Count { counts, absent, counted, .. } = job;
    let table = |((&by, counts), absent): ((&By, crate::top_k::TopK), u64)| {
        let TopTexts { texts, distinct, error } = counts.most(options.most);
        let mut rows: Vec<TopRow> = texts
            .into_iter()
            .map(|TextCount { text, count, error }| TopRow { value: Some(text), count, error })
            .collect();
        if absent > 0 {
            let at = rows.partition_point(|row| row.count > absent);
            rows.insert(at, TopRow { value: None, count: absent, error: 0 });
            rows.truncate(options.most);
        }
        TopTable { by, rows, distinct, error }
    };
    let all = options.by.iter().cycle().zip(counts).zip(absent).map(table);
    let mut tables: Vec<TopTable> = all.collect();
    let masked = tables.split_off(options.by.len());
    Ok(Top { tables, masked, counted, report: Report { written: 0, ..report } })
}
