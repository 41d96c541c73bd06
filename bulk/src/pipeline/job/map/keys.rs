//! The public keys of a chunk, which are computed when all its canonical forms are known.

use super::Map;
use crate::pipeline::engine::invalid::{InvalidAction, Policy};
use crate::pipeline::engine::work::{ChunkWork, Worker, record_at};
use crate::pipeline::{Pending, Scratch};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::key::{Key, PublicHasher};
use uriscan_core::normalize::FormBuffer;
use uriscan_core::simd::Isa;

const LINE: usize = 33;

impl Map<'_> {
    /// Writes the keys by `hasher` of the records of the chunk in `work`.
    #[inline(always)]
    pub(super) fn write_keys<I: Isa>(
        &self,
        isa: I,
        hasher: &PublicHasher,
        worker: &mut Worker,
        work: &mut ChunkWork<()>,
    ) {
        let Worker { index, split, spans, scratch, pending, holes, .. } = worker;
        let ChunkWork { chunk, out, rejects, report, stop, room, .. } = work;
        let &Map { equivalence, on_invalid, record_end, redact, .. } = self;
        let text = chunk.text.padded();
        index.build_with(isa, text, record_end);
        spans.clear();
        spans.extend(index.spans());
        match equivalence.keeps_canonical() {
            true => {
                split.split(isa, text, index, spans, true);
                equivalence.look_at(isa, text, scratch);
            }
            false => split.none_unchanged(spans.len()),
        }
        pending.clear();
        pending.resize(spans.len());
        self.set_unchanged(isa, (text, spans), split.unchanged(), (pending, scratch));
        let has_common = equivalence.has_usual_forms();
        let policy = Policy { on_invalid, record_end, redact };
        let mut form_room: FormBuffer = [0; _];
        let mut end = spans.len();
        holes.clear();
        for seen in split.others() {
            let number = seen.number() as usize;
            let whole = spans[number];
            let lines = LINE * (number - holes.len()) + report.blank as usize;
            if room.is_full(out.len() + pending.copied_bytes() + lines, whole.start as usize) {
                end = number;
                break;
            }
            if has_common {
                let bytes = &text.padded()[whole.start as usize..];
                if let Some(form) =
                    equivalence.usual_form(isa, seen, bytes, whole.len(), &mut form_room)
                {
                    let form = equivalence.ruled(isa, (text, whole), form, scratch);
                    pending.set(number, text, equivalence.aliased_prefix(form));
                    continue;
                }
            }
            let (span, record) = record_at(text, index, whole);
            if record.is_empty() {
                report.blank += 1;
                holes.push(seen.number());
                continue;
            }
            match equivalence.canonical_by(isa, record, scratch) {
                Ok(form) => pending.set(number, text, equivalence.aliased_prefix(form)),
                Err(error) => {
                    match policy.apply(record.bytes(), (span, error), report, rejects, stop) {
                        InvalidAction::Keep => pending.set(number, text, record.padded().into()),
                        InvalidAction::Omit => holes.push(seen.number()),
                        InvalidAction::Stop => {
                            end = number;
                            break;
                        }
                    }
                }
            }
        }
        pending.resize(end);
        pending.remove(holes);
        report.records = (end as u64 - report.blank) + u64::from(stop.is_some());
        report.written += pending.len() as u64;
        let is_blank = |number: u32| record_at(text, index, spans[number as usize]).1.is_empty();
        write(pending.keys(isa, hasher, text), holes, is_blank, record_end, out);
    }

    /// Sets the forms of the records of these `numbers`, which are canonical as they stand.
    #[inline(always)]
    fn set_unchanged<I: Isa>(
        &self,
        isa: I,
        (text, spans): (Padded<'_>, &[Span]),
        numbers: &[u32],
        (pending, scratch): (&mut Pending, &mut Scratch),
    ) {
        let equivalence = self.equivalence;
        for &number in numbers {
            let span = spans[number as usize];
            if equivalence.is_form_only() && equivalence.aliases.is_none() {
                pending.set_in_text(number as usize, span);
                continue;
            }
            let form = Prefix::new(&text.padded()[span.start as usize..], span.len());
            let form = equivalence.ruled(isa, (text, span), form, scratch);
            pending.set(number as usize, text, equivalence.aliased_prefix(form));
        }
    }
}

/// Appends a line for each of `keys`, and for each of the records `holes`, which have none, a blank line where one was.
fn write(
    keys: &[Key],
    holes: &[u32],
    is_blank: impl Fn(u32) -> bool,
    record_end: u8,
    out: &mut Vec<u8>,
) {
    out.reserve(LINE * keys.len() + holes.len());
    let mut rest = keys;
    for (before, &hole) in holes.iter().enumerate() {
        let written = keys.len() - rest.len();
        let (run, after) = rest.split_at(hole as usize - before - written);
        push_lines(run, record_end, out);
        if is_blank(hole) {
            out.push(record_end);
        }
        rest = after;
    }
    push_lines(rest, record_end, out);
}

#[inline(always)]
fn push_lines(keys: &[Key], record_end: u8, out: &mut Vec<u8>) {
    for key in keys {
        let mut line = [record_end; LINE];
        line[..LINE - 1].copy_from_slice(key.hex().as_flattened());
        out.extend_from_slice(&line);
    }
}
