//! One line out per line in, in order: normalized forms and keys.

use super::driver::{Job, Slot, Worker, push_record, record_at, run};
use super::{Equivalence, Error, OnInvalid, Report, Settings, Sinks};
use crate::io::{Chunk, Source};
use crate::key::Hasher;
use crate::simd::Isa;
use crate::surt;

/// Writes the canonical form of every record; a blank line stays a blank line.
///
/// A record that is no URI is written as it is under [`OnInvalid::Pass`]; under the other
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

/// Writes the key of every record as 32 hexadecimal digits; a blank line stays a blank line.
///
/// Equal keys stand for records that are equal at the rung. A record that is no URI has the
/// key of its bytes under [`OnInvalid::Pass`]; one too long to be judged has
/// a key of zeros, which no other record has.
///
/// # Errors
/// See [`Error`].
pub fn keys(
    sources: Vec<Source>,
    equivalence: &Equivalence,
    hasher: Hasher,
    on_invalid: OnInvalid,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let &Settings { record_end, redact, .. } = settings;
    let form = Form::Key(equivalence.hasher(hasher));
    let mut job = Map { equivalence, on_invalid, record_end, redact, form };
    run(&mut job, sources, settings, sinks)
}

/// Writes the sort-friendly form of the canonical form of every record; a blank line stays a blank line.
///
/// A record that is no URI is written as it is under [`OnInvalid::Pass`].
///
/// ```
/// use uriscan::pipeline::{Equivalence, OnInvalid, Settings, Sinks, surts};
/// use uriscan::{io::Source, surt::Form};
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

/// The line for the key of a record too long to be judged.
pub(super) fn unjudged_key(record_end: u8) -> Vec<u8> {
    let mut line = vec![b'0'; 32];
    line.push(record_end);
    line
}

/// What is written for a record.
#[derive(Clone, Copy)]
enum Form {
    Canonical,
    Key(Hasher),
    Surt(surt::Form),
}

struct Map<'a> {
    equivalence: &'a Equivalence,
    on_invalid: OnInvalid,
    record_end: u8,
    redact: bool,
    form: Form,
}

impl Job for Map<'_> {
    type Rows = ();

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<()>) {
        let Worker { index, scratch, .. } = worker;
        let text = slot.chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        slot.out.reserve(text.len() + 1);
        let mut surts = surt::Scratch::default();
        for span in index.spans() {
            let (span, record) = record_at(text, index, span);
            if record.is_empty() {
                slot.report.blank += 1;
                slot.out.push(self.record_end);
                continue;
            }
            slot.report.records += 1;
            // What has no canonical form stands for itself.
            let mut is_form = true;
            let bytes = match self.equivalence.canonical(isa, record, scratch) {
                Ok(bytes) => bytes,
                Err(error) => {
                    slot.report.invalid.add(error.kind);
                    is_form = false;
                    match self.on_invalid {
                        OnInvalid::Pass => record.bytes(),
                        OnInvalid::Drop => continue,
                        OnInvalid::Divert => {
                            push_record(record.bytes(), self.redact, &mut slot.rejects);
                            slot.rejects.push(self.record_end);
                            continue;
                        }
                        OnInvalid::Fail => {
                            slot.stop = Some((span, error));
                            break;
                        }
                    }
                }
            };
            slot.report.written += 1;
            match self.form {
                Form::Canonical if is_form => {
                    push_record(self.equivalence.shown(bytes), self.redact, &mut slot.out);
                }
                Form::Surt(form) if is_form => {
                    let shown = self.equivalence.shown(bytes);
                    surt::write(shown, form, &mut surts, &mut slot.out);
                }
                Form::Canonical | Form::Surt(_) => {
                    push_record(bytes, self.redact, &mut slot.out);
                }
                Form::Key(hasher) if is_form => {
                    self.equivalence.key(hasher, bytes).write_hex(&mut slot.out);
                }
                Form::Key(hasher) => hasher.key(bytes).write_hex(&mut slot.out),
            }
            slot.out.push(self.record_end);
        }
    }

    fn on_invalid(&self) -> OnInvalid {
        self.on_invalid
    }

    fn long_record_row(&self, _chunk: &Chunk) -> Option<Vec<u8>> {
        matches!(self.form, Form::Key(_)).then(|| unjudged_key(self.record_end))
    }
}
