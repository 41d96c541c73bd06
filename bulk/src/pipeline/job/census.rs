//! How many records there are, how many distinct ones at each level, and what each level merges.

use serde::{Serialize, Serializer};

use std::sync::Arc;

mod job;

use crate::io::Source;
use crate::pipeline::engine::driver::run;
use crate::pipeline::{Error, Invalid, Report, Settings, Sinks};
use job::{Count, RULES};
use uriscan_core::context::Context;
use uriscan_core::extract::Filtered;
use uriscan_core::key::Hasher;
use uriscan_core::normalize::Level;
use uriscan_core::repair::Repairs;
use uriscan_core::rules::RuleSet;
use uriscan_core::uri::UriErrorKind;

/// When two records are equivalent.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{CensusOptions, Settings, Sinks, census}};
/// let list = Source::new("list", &b"http://h/#a\nhttp://h/#b\n"[..]);
/// let options = CensusOptions::default().drop_fragment(true);
/// let found = census(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut std::io::sink())).unwrap();
/// assert_eq!(found.levels[0].distinct, 1);
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct CensusOptions {
    /// What references are resolved against before they are compared, as in
    /// [`crate::pipeline::Equivalence::context`].
    pub context: Option<Context>,
    /// Drop the fragment of every URI, as in [`Options::drop_fragment`](uriscan_core::normalize::Options::drop_fragment).
    pub drop_fragment: bool,
    /// Rules beyond the RFC, counted on top of the highest level.
    pub rules: Option<Arc<RuleSet>>,
    /// Repairs of records that are not URIs, as in [`crate::pipeline::Equivalence::repairs`].
    pub repairs: Repairs,
    /// The hash for keys.
    pub hasher: Hasher,
}

impl Default for CensusOptions {
    fn default() -> CensusOptions {
        CensusOptions {
            context: None,
            drop_fragment: false,
            rules: None,
            repairs: Repairs::default(),
            hasher: Hasher::random(),
        }
    }
}

setters! { CensusOptions
    { drop_fragment: bool, repairs: Repairs, hasher: Hasher }
    into { context: Option<Context>, rules: Option<Arc<RuleSet>> }
}

/// What a level of the ladder does to the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct LevelCensus {
    /// The level.
    #[serde(serialize_with = "by_name")]
    pub level: Level,
    /// Classes of equal records; what [`crate::pipeline::dedup()`] writes at this level.
    pub distinct: u64,
    /// Classes of the level below that are equivalent here; at the lowest level, records that
    /// repeat another.
    pub merges: u64,
}

/// What rules beyond the RFC do to the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct RulesCensus {
    /// Classes of equal records; what [`crate::pipeline::dedup()`] writes at level `scheme` under the rules.
    pub distinct: u64,
    /// Classes of the level `scheme` that are equivalent under the rules.
    pub merges: u64,
}

/// The outcome of [`census`]. Serializes to
/// `{"bytes":…,"records":…,"blank":…,"levels":[{"level":"string","distinct":…,"merges":…},…],"invalid":{"space":…}}`,
/// all three levels, and of the kinds those that occurred; with rules also `"rules":{"distinct":…,"merges":…}`
/// before `invalid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[non_exhaustive]
pub struct Census {
    /// Bytes read, without byte order marks.
    pub bytes: u64,
    /// Records that are not blank.
    pub records: u64,
    /// Blank lines.
    pub blank: u64,
    /// Each level, lowest first.
    pub levels: [LevelCensus; Level::ALL.len()],
    /// The rules, if there are some.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<RulesCensus>,
    /// Records that are not URIs by the strict grammar, by kind; a relative reference is
    /// [`UriErrorKind::Relative`]. Each is a class by its bytes. A host in raw UTF-8 counts here
    /// although the level `scheme` has a canonical form for it.
    #[serde(serialize_with = "by_kind")]
    pub invalid: Invalid,
    /// Records that are URIs as repaired only. No member of the object.
    #[serde(skip)]
    pub repaired: u64,
    /// Records that a filter did not keep. No member of the object.
    #[serde(skip)]
    pub filtered: Filtered,
}

fn by_name<S: Serializer>(level: &Level, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(level.name())
}

fn by_kind<S: Serializer>(invalid: &Invalid, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_map(invalid.iter().map(|(kind, count)| (kind.name(), count)))
}

/// Counts the classes of the records of `sources` at every level, in one pass.
///
/// Nothing is written to [`Sinks::out`]. Memory: a set of the
/// keys of all forms on all levels, some 20 to 40 bytes each; a record that is canonical as it stands has one form.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{CensusOptions, Settings, Sinks, census}};
/// let list = Source::new("list", &b"http://h/\nhttp://h/\nHTTP://h/\nhttp://h:80\nno uri\n"[..]);
/// let (options, mut nowhere) = (CensusOptions::default(), std::io::sink());
/// let found = census(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut nowhere)).unwrap();
/// assert_eq!(found.records, 5);
/// assert_eq!(found.levels.map(|level| level.distinct), [4, 3, 2]);
/// assert_eq!(found.levels.map(|level| level.merges), [1, 1, 1]);
/// assert_eq!(found.invalid.total(), 1);
/// ```
///
/// # Errors
/// See [`Error`].
pub fn census(
    sources: Vec<Source>,
    options: &CensusOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Census, Error> {
    let mut job = Count::new(options, settings, &sources);
    let report = run(&mut job, sources, settings, sinks)?;
    // An overlong record has no key and is equivalent to no other.
    let overlong = report.invalid.of(UriErrorKind::TooLong);
    let mut below = report.records;
    let mut level = |i: usize| {
        let distinct = job.distinct[i] + overlong;
        let merges = below - distinct;
        below = distinct;
        (distinct, merges)
    };
    let levels = [0, 1, 2].map(|i| {
        let (distinct, merges) = level(i);
        LevelCensus { level: Level::ALL[i], distinct, merges }
    });
    let rules = options.rules.is_some().then(|| {
        let (distinct, merges) = level(RULES);
        RulesCensus { distinct, merges }
    });
    let Report { bytes, records, blank, invalid, repaired, filtered, .. } = report;
    Ok(Census { bytes, records, blank, levels, rules, invalid, repaired, filtered })
}
