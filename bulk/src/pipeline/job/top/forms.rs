//! The canonical forms of the records of a chunk, which are counted many at a time.

use super::job::{ChunkCounts, Count};
use crate::pipeline::engine::invalid::{InvalidAction, Policy, push_record_by};
use crate::pipeline::engine::work::{ChunkWork, Worker, push_rest, record_at};
use uriscan_core::normalize::FormBuffer;
use uriscan_core::simd::Isa;

/// Bytes of forms that are counted before more are made: with a base each may be much longer than its record.
const MOST_BYTES: usize = 1 << 20;

impl Count<'_> {
    /// Counts the parts of the canonical forms of the records of the chunk in `work`, many at a time; records that have none
    /// are counted.
    #[inline(always)]
    pub(super) fn count_forms<I: Isa>(
        &self,
        isa: I,
        worker: &mut Worker,
        work: &mut ChunkWork<ChunkCounts>,
    ) {
        let Worker { index, split, spans, scratch, forms, form_index, .. } = worker;
        let ChunkWork { chunk, rows, rejects, report, stop, .. } = work;
        let &Count { options, record_end, redact, .. } = self;
        let equivalence = &options.equivalence;
        let text = chunk.text.padded();
        forms.clear();
        // Those that are canonical as they stand are copied with those around them.
        let copies = !redact && equivalence.is_form_only() && equivalence.aliases.is_none();
        match copies {
            true => split.split(isa, text, index, spans, false),
            false => split.none_unchanged(spans.len()),
        }
        let is_usual = copies && equivalence.has_usual_forms();
        let policy = Policy { on_invalid: options.on_invalid, record_end, redact };
        let mut room: FormBuffer = [0; _];
        let (mut copied, mut end) = (0, spans.len());
        for seen in split.others() {
            let number = seen.number() as usize;
            let whole = spans[number];
            if copies {
                forms.extend_from_slice(&text.content()[copied..whole.start as usize]);
                copied = text.len().min(whole.end as usize + 1);
            }
            if is_usual {
                let bytes = &text.padded()[whole.start as usize..];
                if let Some(form) = equivalence.usual_form(isa, seen, bytes, whole.len(), &mut room)
                {
                    forms.extend_from_slice(form.bytes());
                    forms.push(record_end);
                    continue;
                }
            }
            let (span, record) = record_at(text, index, whole);
            if record.is_empty() {
                report.blank += 1;
                continue;
            }
            match equivalence.canonical_by(isa, record, scratch) {
                Ok(form) => {
                    // Masked before it is split: part of a secret is not known as one.
                    push_record_by(isa, equivalence.aliased_prefix(form), redact, forms);
                    forms.push(record_end);
                    if forms.len() > MOST_BYTES {
                        rows.count(isa, (form_index, forms), options, record_end);
                    }
                }
                Err(error) => {
                    let fate = policy.apply(record.bytes(), (span, error), report, rejects, stop);
                    if let InvalidAction::Stop = fate {
                        end = number;
                        break;
                    }
                }
            }
        }
        if copies && stop.is_none() {
            push_rest(&text.content()[copied..], record_end, forms);
        }
        rows.count(isa, (form_index, forms), options, record_end);
        report.records = (end as u64 - report.blank) + u64::from(stop.is_some());
    }
}
