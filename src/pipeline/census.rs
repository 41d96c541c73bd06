//! How many records there are, how many distinct ones at each rung, and what each rung merges.

use serde::ser::{Serialize, SerializeMap, Serializer};

use std::sync::Arc;

use super::driver::{Job, run};
use super::equivalence::{Scratch, mended};
use super::forecast::Forecast;
use super::invalid::LongRecord;
use super::slot::{Slot, Worker, record_at};
use super::{Error, Invalid, OnInvalid, Report, Settings, Sinks};
use crate::chunk::Prefix;
use crate::dedup::{Rows, Set};
use crate::index::Record;
use crate::io::{Chunk, Shape, Source};
use crate::key::{Hasher, Key};
use crate::normalize::{self, Options, Rung, canonical, normalize_exact};
use crate::repair::{Repair, Repairs};
use crate::resolve::Context;
use crate::rules::{self, RuleSet};
use crate::simd::Isa;
use crate::uri::{ErrorKind, UriError};

/// When two records are equivalent.
///
/// ```
/// use uriscan::{io::Source, pipeline::{CensusOptions, Settings, census}};
/// let list = Source::new("list", &b"http://h/#a\nhttp://h/#b\n"[..]);
/// let options = CensusOptions::default().drop_fragment(true);
/// let found = census(vec![list], &options, &Settings::default(), None).unwrap();
/// assert_eq!(found.rungs[0].distinct, 1);
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct CensusOptions {
    /// What references are resolved against before they are compared, as in
    /// [`super::Equivalence::context`].
    pub context: Option<Context>,
    /// Drop the fragment of every URI, as in [`Options::drop_fragment`].
    pub drop_fragment: bool,
    /// Rules beyond the RFC, counted on top of the highest rung.
    pub rules: Option<Arc<RuleSet>>,
    /// Repairs of records that are not URIs, as in [`super::Equivalence::repairs`].
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

impl CensusOptions {
    /// Sets what references are resolved against before they are compared.
    pub fn context(mut self, context: impl Into<Option<Context>>) -> CensusOptions {
        self.context = context.into();
        self
    }

    /// Sets whether the fragment of every URI is dropped.
    pub fn drop_fragment(mut self, drop_fragment: bool) -> CensusOptions {
        self.drop_fragment = drop_fragment;
        self
    }

    /// Sets the rules beyond the RFC.
    pub fn rules(mut self, rules: impl Into<Option<Arc<RuleSet>>>) -> CensusOptions {
        self.rules = rules.into();
        self
    }

    /// Sets how invalid records may be repaired.
    pub fn repairs(mut self, repairs: Repairs) -> CensusOptions {
        self.repairs = repairs;
        self
    }

    /// Sets the hasher for keys; by default a random one.
    pub fn hasher(mut self, hasher: Hasher) -> CensusOptions {
        self.hasher = hasher;
        self
    }
}

/// What a rung of the ladder does to the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RungCensus {
    /// The rung.
    pub rung: Rung,
    /// Classes of equal records; what [`super::dedup()`] writes at this rung.
    pub distinct: u64,
    /// Classes of the rung below that are equivalent here; at the lowest rung, records that
    /// repeat another.
    pub merges: u64,
}

/// What rules beyond the RFC do to the records.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[non_exhaustive]
pub struct RulesCensus {
    /// Classes of equal records; what [`super::dedup()`] writes at rung `scheme` under the rules.
    pub distinct: u64,
    /// Classes of the rung `scheme` that are equivalent under the rules.
    pub merges: u64,
}

/// The outcome of [`census`]. Serializes to
/// `{"bytes":…,"records":…,"blank":…,"rungs":[{"rung":"string","distinct":…,"merges":…},…],"invalid":{"space":…}}`,
/// all three rungs, and of the kinds those that occurred; with rules also `"rules":{"distinct":…,"merges":…}`
/// before `invalid`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Census {
    /// Bytes read, without byte order marks.
    pub bytes: u64,
    /// Records that are not blank.
    pub records: u64,
    /// Blank lines.
    pub blank: u64,
    /// Each rung, lowest first.
    pub rungs: [RungCensus; Rung::ALL.len()],
    /// The rules, if there are some.
    pub rules: Option<RulesCensus>,
    /// Records that are not URIs by the strict grammar, by kind; a relative reference is
    /// [`ErrorKind::Relative`]. Each is a class by its bytes. A host in raw UTF-8 counts here
    /// although the rung `scheme` has a canonical form for it.
    pub invalid: Invalid,
    /// Records that are URIs as repaired only. No member of the object.
    pub repaired: u64,
}

impl Serialize for RungCensus {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(Some(3))?;
        map.serialize_entry("rung", self.rung.name())?;
        map.serialize_entry("distinct", &self.distinct)?;
        map.serialize_entry("merges", &self.merges)?;
        map.end()
    }
}

impl Serialize for Census {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        struct ByKind<'a>(&'a Invalid);
        impl Serialize for ByKind<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.iter().map(|(kind, count)| (kind.name(), count)))
            }
        }
        let mut map = serializer.serialize_map(Some(5 + usize::from(self.rules.is_some())))?;
        map.serialize_entry("bytes", &self.bytes)?;
        map.serialize_entry("records", &self.records)?;
        map.serialize_entry("blank", &self.blank)?;
        map.serialize_entry("rungs", &self.rungs)?;
        if let Some(rules) = &self.rules {
            map.serialize_entry("rules", rules)?;
        }
        map.serialize_entry("invalid", &ByKind(&self.invalid))?;
        map.end()
    }
}

/// Counts the classes of the records of `sources` at every rung, in one pass.
///
/// `progress` receives the number of bytes read so far, as [`Sinks::progress`] does. Memory: three sets
/// of keys, so about three times what [`super::dedup()`] takes.
///
/// ```
/// use uriscan::{io::Source, pipeline::{CensusOptions, Settings, census}};
/// let list = Source::new("list", &b"http://h/\nhttp://h/\nHTTP://h/\nhttp://h:80\nno uri\n"[..]);
/// let found = census(vec![list], &CensusOptions::default(), &Settings::default(), None).unwrap();
/// assert_eq!(found.records, 5);
/// assert_eq!(found.rungs.map(|rung| rung.distinct), [4, 3, 2]);
/// assert_eq!(found.rungs.map(|rung| rung.merges), [1, 1, 1]);
/// assert_eq!(found.invalid.total(), 1);
/// ```
///
/// # Errors
/// See [`Error`].
pub fn census(
    sources: Vec<Source>,
    options: &CensusOptions,
    settings: &Settings,
    progress: Option<&mut (dyn FnMut(u64) + Send)>,
) -> Result<Census, Error> {
    let levels = Rung::ALL.len() + usize::from(options.rules.is_some());
    let mut job = Count {
        options: options.clone(),
        record_end: settings.record_end,
        forecast: Forecast::new(&sources),
        sets: (0..levels).map(|_| Set::new()).collect(),
    };
    let mut nowhere = std::io::sink();
    // The cast lets the borrow end here, which it could not inside the `Option`.
    let progress = progress.map(|progress| progress as &mut (dyn FnMut(u64) + Send));
    let mut sinks = Sinks { progress, ..Sinks::new(&mut nowhere) };
    let report = run(&mut job, sources, settings, &mut sinks)?;
    // An overlong record has no key and is equivalent to no other.
    let overlong = report.invalid.of(ErrorKind::TooLong);
    let mut below = report.records;
    let mut level = |set: &Set| {
        let distinct = set.len() as u64 + overlong;
        let merges = below - distinct;
        below = distinct;
        (distinct, merges)
    };
    let rungs = [0, 1, 2].map(|i| {
        let (distinct, merges) = level(&job.sets[i]);
        RungCensus { rung: Rung::ALL[i], distinct, merges }
    });
    let rules = job.sets.get(Rung::ALL.len()).map(|set| {
        let (distinct, merges) = level(set);
        RulesCensus { distinct, merges }
    });
    let Report { bytes, records, blank, invalid, repaired, .. } = report;
    Ok(Census { bytes, records, blank, rungs, rules, invalid, repaired })
}

/// The rungs, and the rules on top of them.
const LEVELS: usize = Rung::ALL.len() + 1;

struct Count {
    options: CensusOptions,
    record_end: u8,
    forecast: Forecast,
    /// The keys at each rung, and under the rules if there are some.
    sets: Vec<Set>,
}

impl Count {
    /// The keys of a record at each level, and what is wrong with it by the strict grammar.
    #[inline(always)]
    fn keys<I: Isa>(
        &self,
        isa: I,
        record: Record<'_>,
        scratch: &mut Scratch,
    ) -> ([Key; LEVELS], Option<UriError>) {
        let CensusOptions { drop_fragment, ref rules, ref hasher, .. } = self.options;
        let Scratch { target, form, rules: rules_scratch, repaired, .. } = scratch;
        let record = match &self.options.context {
            Some(context) => context.place(isa, record, target),
            None => record,
        };
        let bytes = record.bytes();
        let options = Options { rung: Rung::Scheme, drop_fragment };
        // The highest rung refuses nothing that a lower one takes.
        let scheme = match canonical(isa, options, record, form) {
            Ok(form) => form,
            Err(error) => {
                let (keys, error) = self.keys_mended(bytes, error, rules_scratch);
                *repaired += u64::from(error.is_none());
                return (keys, error);
            }
        };
        let scheme_key = hasher.secret_key_by(isa, scheme);
        let rules_key = match rules {
            Some(rules) if rules.may_touch(isa, record) => {
                hasher.secret_key_by(isa, rules.apply(scheme.bytes(), rules_scratch).0.into())
            }
            _ => scheme_key,
        };
        // In a valid URI the first `#` begins the fragment.
        let string_len = if drop_fragment { memchr::memchr(b'#', bytes) } else { None };
        let string = &bytes[..string_len.unwrap_or(bytes.len())];
        // A form of the highest rung is in the form of the rungs below: what they would change (upper
        // case in a head, triplets, dot segments) it has not, or the highest rung, which does all that
        // they do, would change it again. So where it left the record alone, they do too.
        if scheme.bytes() == string {
            return ([scheme_key, scheme_key, scheme_key, rules_key], None);
        }
        match self.keys_below(isa, record, string, form) {
            (_, Some(error)) if self.options.repairs.has(Repair::Iri) => {
                let (keys, error) = self.keys_mended(bytes, error, rules_scratch);
                *repaired += u64::from(error.is_none());
                (keys, error)
            }
            ([string, syntax], error) => ([string, syntax, scheme_key, rules_key], error),
        }
    }

    /// The keys of a record that is not a URI because of `error`: those of what repairs make of it, or of its bytes.
    #[cold]
    fn keys_mended(
        &self,
        bytes: &[u8],
        error: UriError,
        scratch: &mut rules::Scratch,
    ) -> ([Key; LEVELS], Option<UriError>) {
        let CensusOptions { drop_fragment, ref rules, ref hasher, repairs, ref context } =
            self.options;
        let unmended = ([hasher.key(bytes); LEVELS], Some(error));
        let Ok(repaired) = mended(context.as_ref(), repairs, error, bytes) else {
            return unmended;
        };
        let mut keys = unmended.0;
        let mut form = Vec::new();
        for (key, rung) in keys.iter_mut().zip(Rung::ALL) {
            form.clear();
            if normalize_exact(&repaired, rung, drop_fragment, &mut form).is_err() {
                return unmended;
            }
            *key = hasher.key(&form);
        }
        keys[LEVELS - 1] = match rules {
            None => hasher.key(&form),
            Some(rules) => hasher.key(rules.apply(&form, scratch).0),
        };
        (keys, None)
    }

    /// The keys at the rungs below, for a record that is not in canonical form.
    #[inline(always)]
    fn keys_below<I: Isa>(
        &self,
        isa: I,
        record: Record<'_>,
        string: &[u8],
        form: &mut normalize::Scratch,
    ) -> ([Key; 2], Option<UriError>) {
        let CensusOptions { drop_fragment, ref hasher, .. } = self.options;
        let options = Options { rung: Rung::Syntax, drop_fragment };
        match canonical(isa, options, record, form) {
            Ok(form) => {
                let string = Prefix::new(record.padded().padded(), string.len());
                ([hasher.secret_key_by(isa, string), hasher.secret_key_by(isa, form)], None)
            }
            // A host in raw UTF-8: no URI, but the highest rung knows what it represents.
            Err(error) => {
                let key = hasher.secret_key_by(isa, record.padded().into());
                ([key, key], Some(error))
            }
        }
    }
}

impl Job for Count {
    type Rows = [Rows; LEVELS];

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<Self::Rows>) {
        let Worker { index, scratch, .. } = worker;
        let text = slot.chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        slot.rows.iter_mut().for_each(Rows::clear);
        for span in index.spans() {
            let (_, record) = record_at(text, index, span);
            if record.is_empty() {
                slot.report.blank += 1;
                continue;
            }
            slot.report.records += 1;
            let (keys, error) = self.keys(isa, record, scratch);
            // No rows for rules that are not there.
            for (rows, key) in slot.rows[..self.sets.len()].iter_mut().zip(keys) {
                rows.push(key);
            }
            if let Some(error) = error {
                slot.report.invalid.add(error.kind);
            }
        }
        slot.rows.iter_mut().for_each(Rows::partition);
    }

    fn commit(&mut self, slots: &mut [Slot<Self::Rows>]) -> Result<(), Error> {
        for (i, set) in self.sets.iter_mut().enumerate() {
            // A piece of a long record has not been scanned: its slot holds no rows, or old ones.
            let scanned = slots.iter().filter(|slot| slot.chunk.shape == Shape::Records);
            let rows: Vec<&Rows> = scanned.map(|slot| &slot.rows[i]).collect();
            set.expect(self.forecast.expected(set.len()));
            set.insert(&rows);
        }
        self.forecast.add(slots.iter().map(|slot| slot.report.bytes).sum());
        Ok(())
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Pass
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        LongRecord::Row(Vec::new())
    }
}
