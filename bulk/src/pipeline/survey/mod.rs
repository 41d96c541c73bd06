//! A survey of the records of a run: what they are made of, and what of them is equivalent, for a report about the run.
//!
//! It is made in the run itself: the driver shows it each chunk after the job has scanned it (`scan`), in parallel, and
//! adds up what was found in input order. Jobs whose records are not the lines of their chunks hand them over
//! ([`Part::push`]). What a survey finds depends on the input and its options only, and its memory is limited: counts
//! of texts are those of [`crate::top_k::Frequent`], groups are looked at as a [`Sample`].

mod counter;
mod overview;
mod part;
mod sample;
mod scan;
#[cfg(test)]
mod tests;
mod traps;

use super::Equivalence;
use super::Keep;
use crate::io::Shape;
use crate::top_k::{Counts, Frequent, Recent};
pub use overview::{
    Fault, FindingExample, Frequency, Groups, LargestOf, Lengths, MergeLevel, MergeStep, Overview,
    Trap,
};
pub(crate) use part::Part;
use part::Piece;
use sample::Sample;
pub(super) use scan::{Scratch, count_chunk};
use uriscan_core::key::Hasher;
use uriscan_core::rules::ends;
use uriscan_core::simd::Kernels;
use uriscan_core::threads;
use uriscan_core::uri::{UriError, UriErrorKind};

/// The parts of URIs that are counted as texts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Panel {
    Scheme,
    Host,
    Param,
    /// Canonical forms, of some records.
    Form,
}

impl Panel {
    const COUNT: usize = 4;
}

/// What a survey counts.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct SurveyOptions {
    /// What canonical forms are, of which parts are counted. Parts are those of a record's own form, which aliases do
    /// not change; under a profile, of its form by RFC 3986.
    pub equivalence: Equivalence,
    /// Whether invalid records are compared by their bytes, and are groups, too.
    pub keeps_invalid: bool,
    /// Whether groups of equivalent records are looked at. With aliases, only if these have been read with their targets.
    pub merges: bool,
    /// Which record of a group is kept; the others are compared with it.
    pub keep: Keep,
    /// Values of each part, and groups, that are returned.
    pub most: usize,
    /// Bytes of memory that it may take, about.
    pub bytes: usize,
    /// The hash for keys; no result depends on its secrets.
    pub hasher: Hasher,
}

setters! { SurveyOptions
    { equivalence: Equivalence, keeps_invalid: bool, merges: bool, keep: Keep, most: usize, bytes: usize }
}

impl Default for SurveyOptions {
    fn default() -> SurveyOptions {
        SurveyOptions {
            equivalence: Equivalence::default(),
            keeps_invalid: true,
            merges: false,
            keep: Keep::First,
            most: 15,
            bytes: 24 << 20,
            hasher: Hasher::random(),
        }
    }
}

/// A survey of the records of a run, as an output of it: [`super::Sinks::survey`].
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{DedupOptions, Settings, Sinks, Survey, SurveyOptions, dedup}};
/// let list = Source::new("list", &b"http://a.example/x\nHTTP://A.example:80/x\nhttp://b.example/\nno uri\n"[..]);
/// let mut survey = Survey::new(SurveyOptions::default().merges(true));
/// let mut out = std::io::sink();
/// let mut sinks = Sinks::new(&mut out).survey(&mut survey);
/// dedup(vec![list], &DedupOptions::default(), &Settings::default(), &mut sinks).unwrap();
/// let found = survey.finish();
/// assert_eq!((found.counted, found.invalid.total()), (3, 1));
/// assert_eq!(found.hosts.rows[0], (b"a.example".to_vec(), 2));
/// let groups = found.groups.unwrap();
/// assert_eq!((groups.duplicates, groups.same, groups.steps.len()), (1, 0, 3));
/// ```
#[derive(Debug)]
pub struct Survey {
    options: SurveyOptions,
    /// The equivalence of the forms whose parts are counted.
    of_parts: Equivalence,
    /// Whether groups have other forms.
    has_own_forms: bool,
    counts: [Frequent; Panel::COUNT],
    domains: Frequent,
    sample: Option<Sample>,
    found: Overview,
    /// Bytes of the input so far, and the window that they end in.
    bytes: u64,
    window: u64,
    /// The source that is read, and its lines so far.
    lines: (usize, u64),
}

impl Survey {
    /// A survey without records.
    pub fn new(options: SurveyOptions) -> Survey {
        let equivalence = options.equivalence.clone();
        let has_aliases = equivalence.aliases.is_some();
        let has_targets = equivalence.aliases.as_ref().is_none_or(|aliases| aliases.has_targets());
        let of_parts = equivalence.profile(None).aliases(None);
        let share = |part: usize| options.bytes / part;
        Survey {
            has_own_forms: options.equivalence.profile.is_some() || has_aliases,
            counts: [share(32), share(3), share(12), share(12)].map(Frequent::new),
            domains: Frequent::new(share(6)),
            sample: (options.merges && has_targets).then(|| Sample::new(share(4))),
            found: Overview::default(),
            of_parts,
            options,
            bytes: 0,
            window: 0,
            lines: (0, 0),
        }
    }

    /// Makes `part` ready for a chunk of so many bytes, which comes next, at the offset `byte` of its source.
    pub(super) fn begin(&mut self, part: &mut Part, byte: u64, len: usize) {
        part.begin(self.bytes.wrapping_sub(byte));
        self.bytes += len as u64;
    }

    /// Adds what was found in chunks, in their order: the source of each, its shape and its part; `name` gives the
    /// names of sources.
    pub(super) fn commit(
        &mut self,
        mut chunks: Vec<(usize, Shape, &mut Part)>,
        name: impl Fn(usize) -> String,
    ) {
        for (source, shape, part) in &mut chunks {
            if self.lines.0 != *source {
                self.lines = (*source, 0);
            }
            match shape {
                Shape::LongFirst => part.fault(0, &[], UriError::new(UriErrorKind::TooLong, 0)),
                Shape::LongLast => part.lines = 1,
                Shape::Records | Shape::LongRest => {}
            }
            self.take(part, || name(*source), self.lines.1);
            self.lines.1 += part.lines;
        }
        self.add_pieces(chunks.iter().flat_map(|(_, _, part)| part.pieces()));
    }

    /// Adds what was found in `part`, which `lines` lines of its source precede.
    fn take(&mut self, part: &mut Part, name: impl Fn() -> String, lines: u64) {
        let found = &mut self.found;
        found.counted += part.counted;
        found.absent_hosts += part.absent_hosts;
        part.invalid.iter().for_each(|(kind, count)| found.invalid.add_many(kind, count));
        found.lengths.merge(&part.lengths);
        found.repeating += part.repeating;
        for (sum, count) in found.depths.iter_mut().zip(part.depths) {
            *sum += count;
        }
        for fault in part.faults.drain(..) {
            if Fault::is_wanted(&found.faults, fault.error.kind) {
                found.faults.push(Fault { source: name(), line: lines + fault.line, ..fault });
            }
        }
        for example in part.findings.drain(..) {
            if FindingExample::is_wanted(&found.findings, example.rule) {
                let (source, line) = (name(), lines + example.line);
                found.findings.push(FindingExample { source, line, ..example });
            }
        }
    }

    /// Looks at `values` of the table called `name`, each with the number of rows before it, which `rows` rows precede.
    pub fn count_values<'v>(
        &mut self,
        kernels: Kernels,
        (name, rows): (&str, u64),
        values: impl Iterator<Item = (u64, &'v [u8])>,
    ) {
        /// Bytes of values that are counted by a thread at a time, about.
        const BYTES: u64 = 128 << 10;
        let mut parts: Vec<Box<Part>> = Vec::new();
        let mut end = 0;
        for (row, value) in values {
            if parts.is_empty() || self.bytes >= end {
                parts.push(Box::default());
                parts.last_mut().into_iter().for_each(|part| part.take_values());
                end = self.bytes + BYTES;
            }
            parts.last_mut().into_iter().for_each(|part| part.push(value, self.bytes, row));
            self.bytes += value.len() as u64 + 1;
        }
        let survey = &*self;
        threads::each(&mut parts, |_, part| kernels.run(scan::CountValues { survey, part }));
        for part in &mut parts {
            self.take(part, || name.to_owned(), rows);
        }
        self.add_pieces(parts.iter().flat_map(|part| part.pieces()));
    }

    /// Adds `pieces`, window by window.
    fn add_pieces<'p>(&mut self, pieces: impl Iterator<Item = &'p Piece>) {
        let mut same: Vec<&Piece> = Vec::new();
        for piece in pieces {
            if piece.window != self.window {
                self.add_same(&mut same);
                self.end_window();
                self.window = piece.window;
            }
            same.push(piece);
        }
        self.add_same(&mut same);
    }

    /// Adds `pieces` of one window.
    fn add_same(&mut self, pieces: &mut Vec<&Piece>) {
        for (panel, counts) in self.counts.iter_mut().enumerate() {
            let of_panel: Vec<&Counts> = pieces.iter().map(|piece| &piece.counts[panel]).collect();
            counts.add(&of_panel);
        }
        if let Some(sample) = &mut self.sample {
            let keep = self.options.keep;
            pieces.iter().for_each(|piece| {
                piece.candidates.each(|key, rank, text| sample.add((key, rank), text, keep));
            });
        }
        pieces.clear();
    }

    fn end_window(&mut self) {
        if let Some(sample) = &mut self.sample {
            sample.end_window();
        }
        for (panel, counts) in self.counts.iter_mut().enumerate() {
            if panel != Panel::Host as usize {
                counts.end_window(|(), _, _| ());
                continue;
            }
            // What is dropped there is still counted by its domain.
            let mut dropped = counts.end_window(HostCounts::add);
            self.found.absent_domains +=
                HostCounts::add_all(&mut dropped, &mut self.domains, &self.options.hasher);
        }
        self.domains.end_window(|(), _, _| ());
    }

    /// Makes the results of all that was seen, on the current rayon pool.
    pub fn end(&mut self) {
        let mut left = HostCounts::default();
        self.counts[Panel::Host as usize].each(|host, count| left.add(host, count));
        let hasher = &self.options.hasher;
        self.found.absent_domains +=
            HostCounts::add_all(std::slice::from_mut(&mut left), &mut self.domains, hasher);
        let most = self.options.most;
        let [schemes, hosts, params, forms] =
            self.counts.each_ref().map(|counts| counts.most(most));
        let found = &mut self.found;
        let domains = self.domains.most(most);
        (found.schemes, found.hosts) = (schemes.into(), hosts.into());
        (found.domains, found.params) = (domains.into(), params.into());
        let least = part::least_estimate(self.bytes);
        let mut large = forms.texts;
        large.retain(|&(_, count)| count >= least);
        found.groups = self.sample.take().map(|sample| sample.finish(&self.options, large));
    }

    /// What was found.
    pub fn finish(self) -> Overview {
        self.found
    }
}

/// Hosts on their way to the counts of domains.
#[derive(Default)]
struct HostCounts {
    domains: Counts,
    recent: Recent,
    absent: u64,
}

impl HostCounts {
    fn add(&mut self, host: &[u8], count: u64) {
        if self.recent.is_empty() {
            Counts::forget(&mut self.recent);
        }
        match ends(host).domain {
            Some(domain) => self.domains.add(&mut self.recent, domain, count),
            None => self.absent += count,
        }
    }

    /// Adds `all` to `domains`; returns the number of records whose host has none.
    fn add_all(all: &mut [HostCounts], domains: &mut Frequent, hasher: &Hasher) -> u64 {
        threads::each(all, |_, hosts| hosts.domains.partition(hasher));
        domains.add(&all.iter().map(|hosts| &hosts.domains).collect::<Vec<_>>());
        all.iter().map(|hosts| hosts.absent).sum()
    }
}
