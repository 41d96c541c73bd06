//! Counts the distinct forms of records at each level of the ladder, with one set of keys for all of them.
//!
//! A form is noted with the levels at which it represents a record. A record that no level changes, as most are, has one
//! form on all of them; one that is changed has its own bytes at the level of strings and another form above. As many
//! records are distinct at a level as there are forms that have been noted there.

use super::CensusOptions;
use crate::error::Error;
use crate::io::{Chunk, Shape, Source};
use crate::pipeline::compare::equivalence::{Scratch, decoded, repaired_target};
use crate::pipeline::engine::driver::{End, Job, Reading};
use crate::pipeline::engine::forecast::Forecast;
use crate::pipeline::engine::invalid::LongRecord;
use crate::pipeline::engine::work::{ChunkWork, Worker, record_at};
use crate::pipeline::{Equivalence, OnInvalid, Report, Settings, Sinks};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::dedup::{Rows, TaggedSet};
use uriscan_core::index::{Record, low_bits};
use uriscan_core::key::Key;
use uriscan_core::normalize::{FormBuffer, Level, Options, canonical, normalize_exact};
use uriscan_core::repair::Repair;
use uriscan_core::rules;
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

/// The number of the rules among the levels: it follows that of the highest level.
pub(super) const RULES: usize = Level::ALL.len();

/// A set of levels, a bit for each.
type Levels = u8;

const fn only(level: Level) -> Levels {
    1 << level as u8
}

const RULES_LEVEL: Levels = 1 << RULES;
const BELOW_SCHEME: Levels = only(Level::String) | only(Level::Syntax);
// Each level is a mark of a key.
const _: () = assert!(RULES < TaggedSet::MARKS as usize);
const ALL: Levels = BELOW_SCHEME | only(Level::Scheme) | RULES_LEVEL;

/// The forms of the records of a chunk: the key of each, and the levels at which it represents a record.
#[derive(Debug, Default)]
pub(super) struct Forms {
    rows: Rows,
    levels: Vec<Levels>,
}

impl Forms {
    fn clear(&mut self) {
        self.rows.clear();
        self.levels.clear();
    }

    #[inline(always)]
    fn push(&mut self, key: Key, levels: Levels) {
        self.rows.push(key);
        self.levels.push(levels);
    }
}

pub(super) struct Count {
    options: CensusOptions,
    /// The rules alone.
    ruling: Equivalence,
    record_end: u8,
    forecast: Forecast,
    forms: TaggedSet,
    /// Number of records that are distinct at each level, and by the rules; once all is read.
    pub(super) distinct: [u64; TaggedSet::MARKS as usize],
}

impl Count {
    pub(super) fn new(options: &CensusOptions, settings: &Settings, sources: &[Source]) -> Count {
        Count {
            options: options.clone(),
            ruling: Equivalence::default().rules(options.rules.clone()),
            record_end: settings.record_end,
            forecast: Forecast::new(sources),
            forms: TaggedSet::default(),
            distinct: Default::default(),
        }
    }

    /// How records are normalized up to `level`.
    fn at(&self, level: Level) -> Options {
        Options::new(level).drop_fragment(self.options.drop_fragment)
    }

    /// Adds the forms of `record` to `forms`; gives what is wrong with it by the strict grammar.
    #[inline(always)]
    fn add_record<I: Isa>(
        &self,
        isa: I,
        record: Record<'_>,
        scratch: &mut Scratch,
        forms: &mut Forms,
    ) -> Option<UriError> {
        let CensusOptions { drop_fragment, ref rules, ref hasher, .. } = self.options;
        let Scratch { target, form, rules: rules_scratch, repaired, .. } = scratch;
        if self.options.repairs.change_valid(record.bytes()) {
            let found =
                decoded(self.options.context.as_ref(), self.options.repairs, record.bytes());
            return self.add_target(record.bytes(), found, rules_scratch, repaired, forms);
        }
        let record = match &self.options.context {
            Some(context) => context.target(isa, record, target),
            None => record,
        };
        // The highest level refuses nothing that a lower one takes.
        let scheme = match canonical(isa, self.at(Level::Scheme), record, form) {
            Ok(form) => form,
            Err(error) => {
                return self.add_repaired(record.bytes(), error, rules_scratch, repaired, forms);
            }
        };
        let scheme_key = hasher.secret_key_by(isa, scheme);
        let rules_key = match rules {
            Some(rules) if rules.may_touch(isa, record) => {
                hasher.secret_key_by(isa, rules.apply_by(isa, scheme, rules_scratch).0)
            }
            _ => scheme_key,
        };
        // In a valid URI the first `#` begins the fragment.
        let end = if drop_fragment { memchr::memchr(b'#', record.bytes()) } else { None };
        let string = record.prefix(end.unwrap_or(record.len()));
        let mut levels = only(Level::Scheme);
        let mut error = None;
        if core::ptr::eq(scheme.bytes(), string.bytes()) {
            // A form of the highest level is in the form of the levels below: what they would change (upper
            // case in a head, triplets, dot segments) it has not, or the highest level, which does all that
            // they do, would change it again. So where it left the record alone, they do too.
            levels |= BELOW_SCHEME;
        } else if is_scheme_form_by_syntax(isa, record) {
            levels |= only(Level::Syntax);
            forms.push(hasher.secret_key_by(isa, string), only(Level::String));
        } else {
            match canonical(isa, self.at(Level::Syntax), record, form) {
                Ok(form) => {
                    forms.push(hasher.secret_key_by(isa, form), only(Level::Syntax));
                    forms.push(hasher.secret_key_by(isa, string), only(Level::String));
                }
                Err(error) if self.options.repairs.has(Repair::Iri) => {
                    let bytes = record.bytes();
                    return self.add_repaired(bytes, error, rules_scratch, repaired, forms);
                }
                // A host in raw UTF-8: no URI, but the highest level knows what it represents.
                Err(of_syntax) => {
                    forms.push(hasher.secret_key_by(isa, record.padded().into()), BELOW_SCHEME);
                    error = Some(of_syntax);
                }
            }
        }
        if rules_key == scheme_key {
            levels |= RULES_LEVEL;
        } else {
            forms.push(rules_key, RULES_LEVEL);
        }
        forms.push(scheme_key, levels);
        error
    }

    /// Adds `form`, which the record at `span` of the text has on these `levels`, and by rules what they make of it.
    #[inline(always)]
    fn add_form<I: Isa>(
        &self,
        isa: I,
        (text, span): (Padded<'_>, Span),
        (form, levels): (Prefix<'_>, Levels),
        scratch: &mut Scratch,
        forms: &mut Forms,
    ) {
        let Count { options: CensusOptions { hasher, .. }, ruling, .. } = self;
        let key = hasher.secret_key_by(isa, form);
        if ruling.touches((text, span), scratch) {
            let by_rules = ruling.ruled(isa, (text, span), form, scratch);
            let key_by_rules = hasher.secret_key_by(isa, by_rules);
            if key_by_rules != key {
                forms.push(key_by_rules, RULES_LEVEL);
                return forms.push(key, levels);
            }
        }
        forms.push(key, levels | RULES_LEVEL);
    }

    /// Adds the forms of a record that is not a URI because of `error`: those of what repairs make of it, or else its
    /// bytes. Gives what is wrong with it then.
    #[cold]
    fn add_repaired(
        &self,
        bytes: &[u8],
        error: UriError,
        scratch: &mut rules::Scratch,
        repaired: &mut u64,
        forms: &mut Forms,
    ) -> Option<UriError> {
        let target =
            repaired_target(self.options.context.as_ref(), self.options.repairs, error, bytes);
        let found = target.map(|target| (target, true));
        self.add_target(bytes, found, scratch, repaired, forms)
    }

    /// Adds the forms of the record `bytes`, those of the target `found`, which is counted if it is repaired, or else its
    /// bytes. Gives what is wrong with it then.
    #[cold]
    fn add_target(
        &self,
        bytes: &[u8],
        found: Result<(Vec<u8>, bool), UriError>,
        scratch: &mut rules::Scratch,
        repaired: &mut u64,
        forms: &mut Forms,
    ) -> Option<UriError> {
        let CensusOptions { ref rules, ref hasher, .. } = self.options;
        let by_level = found.and_then(|(target, is_repaired)| {
            let mut by_level = [const { Vec::new() }; Level::ALL.len()];
            for (form, level) in by_level.iter_mut().zip(Level::ALL) {
                normalize_exact(&target, level, self.options.drop_fragment, form)?;
            }
            Ok((by_level, is_repaired))
        });
        let (by_level, is_repaired) = match by_level {
            Ok(by_level) => by_level,
            Err(error) => {
                forms.push(hasher.key(bytes), ALL);
                return Some(error);
            }
        };
        for (form, level) in by_level.iter().zip(Level::ALL) {
            forms.push(hasher.key(form), only(level));
        }
        let highest = &by_level[RULES - 1];
        let by_rules = rules.as_ref().map_or(&highest[..], |rules| rules.apply(highest, scratch).0);
        forms.push(hasher.key(by_rules), RULES_LEVEL);
        *repaired += u64::from(is_repaired);
        None
    }
}

/// Whether the level `scheme` does nothing to `record`, which is a URI, that the level `syntax` does not: its scheme is `http` or
/// `https`, its authority, of which all is in the first 64 bytes, has no user information, port, brackets or percent-encodings,
/// and its path is not empty. Says no of others for which that holds.
#[inline(always)]
fn is_scheme_form_by_syntax<I: Isa>(isa: I, record: Record<'_>) -> bool {
    const HTTPS: u64 = u64::from_le_bytes(*b"https://");
    const HTTP: u64 = u64::from_le_bytes(*b"\0http://");
    const LOWER: u64 = u64::from_le_bytes([b' '; 8]);
    let block = record.block(0);
    // In a URI, only letters are changed by this bit: `:` and `/` have it.
    let head = u64::from_le_bytes(*block.first_chunk().expect("a block has 8 bytes")) | LOWER;
    let is_https = head == HTTPS;
    let is_http = head << 8 == HTTP;
    let head_end = 7 + u32::from(is_https);
    let window = record.window(isa, 0);
    let rest = low_bits(record.len()) & (!0 << head_end);
    let stops = (window.slash | window.question) & rest;
    let path = stops & stops.wrapping_neg();
    let marks = window.look | isa.equal(block, b':') | isa.equal(block, b'@');
    let is_plain = marks & rest & path.wrapping_sub(1) == 0;
    (is_http | is_https) & is_plain & (window.slash & path != 0)
}

impl Job for Count {
    type Rows = Forms;

    fn reading(&self) -> Reading {
        Reading::without_text()
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<Forms>) {
        let Worker { index, split, spans, scratch, .. } = worker;
        let ChunkWork { chunk, rows: forms, report, .. } = work;
        let text = chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        spans.clear();
        spans.extend(index.spans());
        let is_plain = self.options.context.is_none() && !self.options.repairs.has(Repair::Entity);
        if is_plain {
            split.split(isa, text, index, spans, true);
            self.ruling.look_at(isa, text, scratch);
        } else {
            split.none_unchanged(spans.len());
        }
        forms.clear();
        for &number in split.unchanged() {
            let span = spans[number as usize];
            let form = Prefix::new(&text.padded()[span.start as usize..], span.len());
            let levels = BELOW_SCHEME | only(Level::Scheme);
            self.add_form(isa, (text, span), (form, levels), scratch, forms);
        }
        let mut room: FormBuffer = [0; _];
        for seen in split.others() {
            let span = spans[seen.number() as usize];
            let string = Prefix::new(&text.padded()[span.start as usize..], span.len());
            // That form keeps the fragment.
            if !self.options.drop_fragment
                && let Some(form) = seen.canonical(isa, string.slack(), span.len(), &mut room)
                && is_scheme_form_by_syntax(isa, Record::new(text, index, span))
            {
                let levels = only(Level::Syntax) | only(Level::Scheme);
                self.add_form(isa, (text, span), (form, levels), scratch, forms);
                forms.push(self.options.hasher.secret_key_by(isa, string), only(Level::String));
                continue;
            }
            let (_, record) = record_at(text, index, span);
            if record.is_empty() {
                report.blank += 1;
            } else if let Some(error) = self.add_record(isa, record, scratch, forms) {
                report.invalid.add(error.kind);
            }
        }
        report.records = spans.len() as u64 - report.blank;
        forms.rows.partition();
    }

    fn commit(&mut self, batch: &mut [ChunkWork<Forms>]) -> Result<(), Error> {
        // A piece of a long record has not been scanned: its work holds no rows, or old ones.
        let scanned = batch.iter().filter(|work| work.chunk.shape == Shape::Records);
        let chunks: Vec<(&Rows, &[Levels])> =
            scanned.map(|work| (&work.rows.rows, &work.rows.levels[..])).collect();
        self.forms.expect(self.forecast.expected(self.forms.number_of_keys()));
        self.forms.insert(&chunks);
        self.forecast.add(batch.iter().map(|work| work.report.bytes).sum());
        Ok(())
    }

    fn on_invalid(&self) -> OnInvalid {
        OnInvalid::Pass
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        LongRecord::Row(Vec::new())
    }

    fn finish(&mut self, _: End<'_>, _: &mut Report, _: &mut Sinks<'_>) -> Result<(), Error> {
        self.distinct = self.forms.counts();
        Ok(())
    }
}
