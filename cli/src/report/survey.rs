//! What a report shows beyond the results of its command: further passes over the same input, within the memory limit.

use std::io::{Write, sink};

use uriscan::io::{ReadError, Source};
use uriscan::normalize::{Level, Options};
use uriscan::pipeline::{
    self, By, Census, ClassOptions, DedupOptions, Equivalence, Error, MemoryLimit, OnInvalid,
    Report, Settings, Sinks, Top, TopOptions,
};

use super::merges::{Largest, Lines, Merges};

/// Rows of the tables of hosts and so on.
const ROWS: usize = 15;

/// A step of the ladder, and how many records are distinct there.
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) distinct: u64,
    pub(super) adds: &'static str,
}

/// What the passes found.
pub(super) struct Survey {
    /// Parts of URIs, lengths, faults.
    pub(super) top: Top,
    /// The first step is that of all records.
    pub(super) ladder: Vec<Step>,
    pub(super) merges: Option<Merges>,
    pub(super) largest: Option<Largest>,
}

/// What the command compares, and within which limits.
pub(super) struct Passes<'p> {
    pub(super) equivalence: &'p Equivalence,
    pub(super) on_invalid: OnInvalid,
    pub(super) limit: Option<MemoryLimit>,
    pub(super) settings: Settings,
    /// Whether the command merges records.
    pub(super) merges: bool,
    /// Whether sources that cannot be read are skipped.
    pub(super) skips: bool,
    /// The counts of `census`, which has made them already.
    pub(super) census: Option<&'p Census>,
}

impl Passes<'_> {
    fn skip<'a>(&self, skip: &'a mut (dyn FnMut(&ReadError) + Send)) -> Skip<'a> {
        self.skips.then_some(skip)
    }
}

/// Surveys the sources that `open` gives anew for each pass.
///
/// # Errors
/// When one cannot be read again, or what exceeds the limit cannot be spilled.
pub(super) fn survey(
    passes: &Passes<'_>,
    report: &Report,
    open: &mut dyn FnMut() -> Result<Vec<Source>, Error>,
) -> Result<Survey, Error> {
    let options = TopOptions::default()
        .by(By::PLAIN.to_vec())
        // Parts are those of forms by the RFC, whatever the command compares by.
        .equivalence(passes.equivalence.clone().profile(None).aliases(None))
        .most(ROWS)
        .details(true)
        .limit(passes.limit.clone());
    let settings = &passes.settings;
    let mut skip = pass_over;
    let top = masked_top(passes, &options, open)?;
    if !passes.merges {
        return Ok(Survey { top, ladder: Vec::new(), merges: None, largest: None });
    }
    let ladder = match passes.census {
        Some(census) => of_census(census),
        None if passes.equivalence.profile.is_some() => Vec::new(),
        None => ladder(passes, report, open)?,
    };
    if passes.equivalence.aliases.is_some() {
        return Ok(Survey { top, ladder, merges: None, largest: None });
    }
    let dedup = dedup_options(passes, passes.equivalence.clone());
    let options = ClassOptions::default().dedup(dedup).count(true);
    let (mut merges, mut largest) = (Merges::default(), Largest::default());
    let has_levels = passes.equivalence.profile.is_none();
    let end = settings.record_end;
    let mut lines = Lines::new(end, |line: &[u8]| largest.add(line));
    let mut dupes = Lines::new(end, |line: &[u8]| merges.add(line, passes.equivalence));
    let mut both = sinks(&mut lines, passes.skip(&mut skip));
    if has_levels {
        both = both.dupes(&mut dupes);
    }
    pipeline::classes(open()?, &options, settings, &mut both)?;
    Ok(Survey { top, ladder, merges: has_levels.then_some(merges), largest: Some(largest) })
}

/// The counts of `options`, of records with their secrets masked: what is split first may be part of a secret.
///
/// # Errors
/// See [`survey`].
pub(super) fn masked_top(
    passes: &Passes<'_>,
    options: &TopOptions,
    open: &mut dyn FnMut() -> Result<Vec<Source>, Error>,
) -> Result<Top, Error> {
    let mut skip = pass_over;
    let mut out = sink();
    let mut sinks = sinks(&mut out, passes.skip(&mut skip));
    pipeline::top(open()?, options, &passes.settings.redact(true), &mut sinks)
}

/// Sinks for a pass; `skip` is called for sources that cannot be read, which the command has reported.
fn sinks<'a>(out: &'a mut (dyn Write + Send), skip: Skip<'a>) -> Sinks<'a> {
    let mut sinks = Sinks::new(out);
    sinks.unread = skip;
    sinks
}

type Skip<'a> = Option<&'a mut (dyn FnMut(&ReadError) + Send)>;

/// Says nothing.
fn pass_over(_: &ReadError) {}

fn dedup_options(passes: &Passes<'_>, equivalence: Equivalence) -> DedupOptions {
    let on_invalid = match passes.on_invalid {
        OnInvalid::Divert => OnInvalid::Drop,
        other => other,
    };
    DedupOptions::default()
        .equivalence(equivalence)
        .on_invalid(on_invalid)
        .limit(passes.limit.clone())
}

fn adds(level: Level) -> &'static str {
    match level {
        Level::String => "the same bytes (RFC 3986, 6.2.1)",
        Level::Syntax => "case, percent-encoding, dot segments (6.2.2)",
        Level::Scheme => "ports, empty paths, IP addresses, DNS names (6.2.3)",
    }
}

const RULES: &str = "rules beyond the RFC";
const ALIASES: &str = "redirects and other aliases (6.2.4)";

fn records(distinct: u64) -> Step {
    Step { name: "records", distinct, adds: "as they were read" }
}

fn of_census(census: &Census) -> Vec<Step> {
    let mut steps = vec![records(census.records)];
    for of in &census.levels {
        steps.push(Step { name: of.level.name(), distinct: of.distinct, adds: adds(of.level) });
    }
    let rules = census.rules.map(|of| Step { name: "rules", distinct: of.distinct, adds: RULES });
    steps.extend(rules);
    steps
}

/// The steps up to that of the passes, by a deduplication at each.
fn ladder(
    passes: &Passes<'_>,
    report: &Report,
    open: &mut dyn FnMut() -> Result<Vec<Source>, Error>,
) -> Result<Vec<Step>, Error> {
    let mut steps = vec![records(report.records)];
    let Equivalence { normalize, rules, aliases, .. } = passes.equivalence;
    let mut count = |equivalence: Equivalence, name, adds| {
        let options = dedup_options(passes, equivalence);
        let (mut out, mut skip) = (sink(), pass_over);
        let mut sinks = sinks(&mut out, passes.skip(&mut skip));
        let found = pipeline::dedup(open()?, &options, &passes.settings, &mut sinks)?;
        steps.push(Step { name, distinct: found.written, adds });
        Ok::<(), Error>(())
    };
    for level in Level::ALL.into_iter().filter(|&level| level <= normalize.level) {
        let options = Options::new(level).drop_fragment(normalize.drop_fragment);
        let equivalence = passes.equivalence.clone().normalize(options).rules(None).aliases(None);
        count(equivalence, level.name(), adds(level))?;
    }
    if rules.is_some() {
        count(passes.equivalence.clone().aliases(None), "rules", RULES)?;
    }
    if aliases.is_some() {
        count(passes.equivalence.clone(), "protocol", ALIASES)?;
    }
    Ok(steps)
}
