//! One line out per line in, in order: normalized forms and keys.

use super::driver::{Job, Slot, Worker, record_at, run};
use super::{Error, OnInvalid, Report, Settings, Sinks};
use crate::io::{Chunk, Source};
use crate::key::Hasher;
use crate::normalize::{Options, canonical};
use crate::simd::Isa;

/// Writes the canonical form of every record; a blank line stays a blank line.
///
/// A record that is no URI is written as it is under [`OnInvalid::Pass`]; under the other
/// policies its line is missing.
///
/// # Errors
/// See [`Error`].
pub fn normalize(
    sources: Vec<Source>,
    options: Options,
    on_invalid: OnInvalid,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let form = |bytes: &[u8], out: &mut Vec<u8>| out.extend_from_slice(bytes);
    let mut job = Map { options, on_invalid, record_end: settings.record_end, form, long: None };
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
    options: Options,
    hasher: Hasher,
    on_invalid: OnInvalid,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Result<Report, Error> {
    let form = move |bytes: &[u8], out: &mut Vec<u8>| hasher.key(bytes).write_hex(out);
    let record_end = settings.record_end;
    let long = Some(unjudged_key(record_end));
    let mut job = Map { options, on_invalid, record_end, form, long };
    run(&mut job, sources, settings, sinks)
}

/// The line for the key of a record too long to be judged.
pub(super) fn unjudged_key(record_end: u8) -> Vec<u8> {
    let mut line = vec![b'0'; 32];
    line.push(record_end);
    line
}

struct Map<F> {
    options: Options,
    on_invalid: OnInvalid,
    record_end: u8,
    /// Appends what is written for the canonical form of a record.
    form: F,
    long: Option<Vec<u8>>,
}

impl<F: Fn(&[u8], &mut Vec<u8>) + Sync> Job for Map<F> {
    type Rows = ();

    #[inline(always)]
    fn scan<I: Isa>(&self, isa: I, worker: &mut Worker, slot: &mut Slot<()>) {
        let Worker { index, scratch } = worker;
        let text = slot.chunk.text.padded();
        index.build_with(isa, text, self.record_end);
        slot.out.reserve(text.len() + 1);
        for span in index.spans() {
            let (span, record) = record_at(text, index, span);
            if record.is_empty() {
                slot.report.blank += 1;
                slot.out.push(self.record_end);
                continue;
            }
            slot.report.records += 1;
            let bytes = match canonical(isa, self.options, record, scratch) {
                Ok(bytes) => bytes,
                Err(error) => {
                    slot.report.invalid.add(error.kind);
                    match self.on_invalid {
                        OnInvalid::Pass => record.bytes(),
                        OnInvalid::Drop => continue,
                        OnInvalid::Divert => {
                            slot.rejects.extend_from_slice(record.bytes());
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
            (self.form)(bytes, &mut slot.out);
            slot.out.push(self.record_end);
        }
    }

    fn on_invalid(&self) -> OnInvalid {
        self.on_invalid
    }

    fn long_record_row(&self, _chunk: &Chunk) -> Option<Vec<u8>> {
        self.long.clone()
    }
}
