//! One line out per line in, in order: normalized forms and keys.

mod keys;

use crate::io::{Chunk, Source};
use crate::pipeline::engine::driver::{Job, Reading, run};
use crate::pipeline::engine::invalid::{InvalidAction, LongRecord, Policy, push_record_by};
use crate::pipeline::engine::long::long_record_key;
use crate::pipeline::engine::work::{ChunkWork, Worker, push_rest, record_at};
use crate::pipeline::{Equivalence, Error, OnInvalid, Report, Scratch, Settings, Sinks};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::index::Record;
use uriscan_core::key::{PublicHash, PublicHasher};
use uriscan_core::normalize::FormBuffer;
use uriscan_core::simd::{BLOCK, Isa};
use uriscan_core::surt;

/// Writes the canonical form of every record; a blank line stays a blank line.
///
/// A record that is not a URI is written unchanged under [`OnInvalid::Pass`]; under the other
/// policies its line is missing.
///
/// # Errors
/// See [`Error`].
pub fn normalize(
    sources: Vec<Source>,
    equivalence: &Equivalence,
    on_invalid: OnInvalid,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let &Settings { record_end, redact, .. } = settings;
    let mut job = Map { equivalence, on_invalid, record_end, redact, form: Form::Canonical };
    run(&mut job, sources, settings, sinks)
}

/// Writes the public key by `hash` of every record as 32 hexadecimal digits; a blank line stays a blank line.
///
/// Equal keys represent records that are equal at the level. A record that is not a URI has the
/// key of its bytes under [`OnInvalid::Pass`]; an overlong one has
/// a key of zeros, which no other record has.
///
/// # Errors
/// See [`Error`].
pub fn keys(
    sources: Vec<Source>,
    equivalence: &Equivalence,
    hash: PublicHash,
    on_invalid: OnInvalid,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let &Settings { record_end, redact, .. } = settings;
    equivalence.require_targets()?;
    let form = Form::Key(equivalence.public_hasher(hash));
    let mut job = Map { equivalence, on_invalid, record_end, redact, form };
    run(&mut job, sources, settings, sinks)
}

/// Writes the sort-friendly form of the canonical form of every record; a blank line stays a blank line.
///
/// A record that is not a URI is written unchanged under [`OnInvalid::Pass`].
///
/// ```
/// use uriscan_bulk::pipeline::{Equivalence, OnInvalid, Settings, Sinks, surts};
/// use uriscan_bulk::io::Source;
/// use uriscan::surt::Form;
/// let list = Source::new("list", &b"http://www.Example.com/a\n"[..]);
/// let (equivalence, mut out) = (Equivalence::default(), Vec::new());
/// let mut sinks = Sinks::new(&mut out);
/// surts(vec![list], &equivalence, Form::Cdxj, OnInvalid::Pass, &Settings::default(), &mut sinks).unwrap();
/// assert_eq!(out, b"com,example,www)/a\n");
/// ```
///
/// # Errors
/// See [`Error`].
pub fn surts(
    sources: Vec<Source>,
    equivalence: &Equivalence,
    form: surt::Form,
    on_invalid: OnInvalid,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let &Settings { record_end, redact, .. } = settings;
    let mut job = Map { equivalence, on_invalid, record_end, redact, form: Form::Surt(form) };
    run(&mut job, sources, settings, sinks)
}

/// What is written for a record.
#[derive(Clone)]
enum Form {
    Canonical,
    Key(PublicHasher),
    Surt(surt::Form),
}

struct Map<'a> {
    equivalence: &'a Equivalence,
    on_invalid: OnInvalid,
    record_end: u8,
    redact: bool,
    form: Form,
}

impl Map<'_> {
    /// Whether the line of a record that is canonical as it stands, and that no rule may change, is copied with those around it.
    fn copies_unchanged(&self) -> bool {
        matches!(self.form, Form::Canonical)
            && !self.redact
            && self.equivalence.keeps_canonical()
            && self.equivalence.aliases.is_none()
    }
}

/// Appends a form of at most 128 bytes and `record_end`, all that may be read of it at once, which is faster.
#[inline(always)]
fn push_short(form: Prefix<'_>, record_end: u8, out: &mut Vec<u8>) {
    let end = out.len() + form.len();
    out.extend_from_slice(&form.slack()[..2 * BLOCK]);
    out.truncate(end);
    out.push(record_end);
}

impl Map<'_> {
    /// Appends what rules make of `form`, that of the record at `span` of the text. Not inlined: the loop over records would be slower
    /// by a twentieth.
    #[inline(never)]
    fn push_ruled<I: Isa>(
        &self,
        isa: I,
        (text, span): (Padded<'_>, Span),
        form: Prefix<'_>,
        scratch: &mut Scratch,
        out: &mut Vec<u8>,
    ) {
        self.equivalence.ruled(isa, (text, span), form, scratch).append_to(out);
        out.push(self.record_end);
    }

    /// Appends what is asked for of a `record`, whose canonical bytes are its form unless it is invalid.
    #[inline(always)]
    fn push_form<I: Isa>(
        &self,
        isa: I,
        record: Record<'_>,
        (bytes, is_form): (Prefix<'_>, bool),
        surts: &mut surt::Scratch,
        out: &mut Vec<u8>,
    ) {
        match &self.form {
            Form::Canonical if is_form => {
                push_record_by(isa, self.equivalence.aliased_prefix(bytes), self.redact, out);
            }
            &Form::Surt(form) if is_form => {
                surt::write_by(isa, self.equivalence.aliased_prefix(bytes), form, surts, out);
            }
            // Of some indexes, invalid records have forms as well.
            &Form::Surt(form)
                if surt::write_invalid(
                    record.bytes(),
                    form,
                    self.equivalence.normalize,
                    surts,
                    out,
                ) => {}
            Form::Canonical | Form::Surt(_) | Form::Key(_) => {
                push_record_by(isa, bytes, self.redact, out);
            }
        }
    }
}

impl Job for Map<'_> {
    type Rows = ();

    fn reading(&self) -> Reading {
        Reading::without_text()
    }

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, work: &mut ChunkWork<()>) {
        if let Form::Key(hasher) = &self.form {
            return self.write_keys(isa, hasher, worker, work);
        }
        let Worker { index, split, spans, scratch, .. } = worker;
        let text = work.chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        spans.clear();
        spans.extend(index.spans());
        let copies_unchanged = self.copies_unchanged();
        let has_common = copies_unchanged && self.equivalence.has_usual_forms();
        let mut room: FormBuffer = [0; _];
        if copies_unchanged {
            split.split(isa, text, index, spans, false);
            if self.equivalence.rules.is_some() {
                self.equivalence.look_at(isa, text, scratch);
                split.set_apart(|number| {
                    self.equivalence.touches((text, spans[number as usize]), scratch)
                });
            }
        } else {
            split.none_unchanged(spans.len());
        }
        work.out.reserve(text.len() + 1);
        let mut surts = surt::Scratch::default();
        let &Map { on_invalid, record_end, redact, .. } = self;
        let policy = Policy { on_invalid, record_end, redact };
        // Lines before this offset have been written, and records before `end`.
        let (mut copied, mut end, mut unchanged) = (0, spans.len(), split.unchanged().len());
        for (i, seen) in split.others().iter().enumerate() {
            let number = seen.number();
            let whole = spans[number as usize];
            if work.room.is_full(work.out.len(), whole.start as usize) {
                (end, unchanged) = (number as usize, number as usize - i);
                if copies_unchanged {
                    work.out.extend_from_slice(&text.content()[copied..whole.start as usize]);
                }
                break;
            }
            if copies_unchanged {
                work.out.extend_from_slice(&text.content()[copied..whole.start as usize]);
                copied = text.len().min(whole.end as usize + 1);
            }
            if has_common {
                let bytes = &text.padded()[whole.start as usize..];
                if let Some(form) =
                    self.equivalence.usual_form(isa, seen, bytes, whole.len(), &mut room)
                {
                    if self.equivalence.rules.is_none() {
                        push_short(form, record_end, &mut work.out);
                    } else {
                        self.push_ruled(isa, (text, whole), form, scratch, &mut work.out);
                    }
                    work.report.written += 1;
                    continue;
                }
            }
            let (span, record) = record_at(text, index, whole);
            if record.is_empty() {
                work.report.blank += 1;
                work.out.push(self.record_end);
                continue;
            }
            // What has no canonical form represents itself.
            let mut is_form = true;
            let bytes = match self.equivalence.canonical_by(isa, record, scratch) {
                Ok(form) => form,
                Err(error) => {
                    is_form = false;
                    let ChunkWork { report, rejects, stop, .. } = work;
                    match policy.apply(record.bytes(), (span, error), report, rejects, stop) {
                        InvalidAction::Keep => record.padded().into(),
                        InvalidAction::Omit => continue,
                        InvalidAction::Stop => {
                            end = number as usize;
                            unchanged = end - i;
                            break;
                        }
                    }
                }
            };
            work.report.written += 1;
            self.push_form(isa, record, (bytes, is_form), &mut surts, &mut work.out);
            work.out.push(self.record_end);
        }
        if copies_unchanged && end == spans.len() {
            push_rest(&text.content()[copied..], record_end, &mut work.out);
        }
        work.report.records = (end as u64 - work.report.blank) + u64::from(work.stop.is_some());
        work.report.written += unchanged as u64;
    }

    fn on_invalid(&self) -> OnInvalid {
        self.on_invalid
    }

    fn long_record(&self, _chunk: &Chunk) -> LongRecord {
        match self.form {
            Form::Key(_) => LongRecord::Row(long_record_key(self.record_end)),
            _ => LongRecord::as_is(),
        }
    }
}
