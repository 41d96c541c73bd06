//! Parts of hosts, which are found without the rest of a canonical form, and without writing most forms down.

use super::By;
use super::job::{ChunkCounts, Count};
use crate::pipeline::engine::invalid::{InvalidAction, Policy};
use crate::pipeline::engine::work::{ChunkWork, Worker, record_at};
use crate::top_k::Texts;
use uriscan_core::chunk::{Padded, Prefix};
use uriscan_core::index::{Index, Record};
use uriscan_core::key::Hasher;
use uriscan_core::normalize::{self, HostBuffer};
use uriscan_core::simd::{Isa, Task};
use uriscan_core::uri::bulk::parse_record;

/// Bytes of forms that are written down before their hosts are counted: with a base each may be much longer than its record.
const MOST_BYTES: usize = 1 << 20;

/// Where the parts of the host of a record are counted.
struct Counted<'a> {
    by: &'a [By],
    hasher: &'a Hasher,
    texts: &'a mut [Texts],
}

impl<'a> Counted<'a> {
    /// Counts the parts of the hosts of `forms`, each with a record end, which are those of the records `numbers`, and
    /// clears both.
    #[inline(always)]
    fn add_all<I: Isa>(
        &mut self,
        isa: I,
        numbers: &mut Vec<u32>,
        forms: &mut Vec<u8>,
        index: &mut Index,
        record_end: u8,
    ) {
        isa.call(OfForms { counted: self, numbers, forms, index, record_end });
    }

    /// Counts the parts of `host`, that of the record with this number.
    #[inline(always)]
    fn add<I: Isa>(&mut self, isa: I, number: usize, host: Prefix<'_>) {
        for (by, texts) in self.by.iter().zip(&mut *self.texts) {
            if let Some(part) = by.of_host(host.bytes()) {
                let start = part.as_ptr().addr() - host.bytes().as_ptr().addr();
                let prefix = Prefix::new(&host.slack()[start..], part.len());
                let text = texts.number(self.hasher.secret_key_by(isa, prefix), part);
                texts.set(number, text);
            }
        }
    }
}

/// [`Counted::add_all`].
struct OfForms<'c, 'a> {
    counted: &'c mut Counted<'a>,
    numbers: &'c mut Vec<u32>,
    forms: &'c mut Vec<u8>,
    index: &'c mut Index,
    record_end: u8,
}

impl Task for OfForms<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let OfForms { counted, numbers, forms, index, record_end } = self;
        let len = forms.len();
        forms.resize(Padded::needed(len), 0);
        let text = Padded::new(forms, len).expect("there is padding");
        index.build_with(isa, text, record_end);
        for (&number, span) in numbers.iter().zip(index.spans()) {
            let record = Record::new(text, index, span);
            let form = record.bytes();
            if form.is_empty() {
                continue;
            }
            let Ok(parts) = parse_record(isa, record) else { continue };
            if parts.host(form).is_some() {
                let (start, end) = (parts.host_start as usize, parts.host_end as usize);
                let host = Prefix::new(&record.padded().padded()[start..], end - start);
                counted.add(isa, number as usize, host);
            }
        }
        numbers.clear();
        forms.clear();
    }
}

impl Count<'_> {
    pub(super) fn is_of_hosts(&self) -> bool {
        !self.options.masked && !self.redact && self.options.by.iter().all(|by| by.is_of_host())
    }

    /// Counts the parts of the hosts of the canonical forms of the records of the chunk in `work`, as
    /// [`Count::count_forms`] does.
    #[inline(always)]
    pub(super) fn count_hosts<I: Isa>(
        &self,
        isa: I,
        worker: &mut Worker,
        work: &mut ChunkWork<ChunkCounts>,
    ) {
        let Worker { index, split, spans, scratch, forms, form_index, others, .. } = worker;
        let ChunkWork { chunk, rows: found, rejects, report, stop, .. } = work;
        let &Count { options, record_end, redact, .. } = self;
        let equivalence = &options.equivalence;
        let text = chunk.text.padded();
        let is_form = equivalence.is_form_only() && equivalence.aliases.is_none();
        match is_form {
            true => split.split(isa, text, index, spans, true),
            false => split.none_unchanged(spans.len()),
        }
        let is_usual = is_form && equivalence.has_usual_forms();
        let policy = Policy { on_invalid: options.on_invalid, record_end, redact };
        found.texts.iter_mut().for_each(|texts| texts.resize(spans.len()));
        let (by, hasher) = (&options.by[..], &options.hasher);
        let mut counted = Counted { by, hasher, texts: &mut found.texts };
        let mut room = HostBuffer::default();
        let mut end = spans.len();
        forms.clear();
        others.clear();
        for seen in split.others() {
            let number = seen.number() as usize;
            let whole = spans[number];
            if is_usual {
                let bytes = &text.padded()[whole.start as usize..];
                if let Some(host) = seen.host(isa, bytes, whole.len(), &mut room) {
                    found.counted += 1;
                    counted.add(isa, number, host);
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
                    found.counted += 1;
                    forms.extend_from_slice(equivalence.aliased(form.bytes()));
                    forms.push(record_end);
                    others.push(seen.number());
                    if forms.len() > MOST_BYTES {
                        counted.add_all(isa, others, forms, form_index, record_end);
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
        counted.add_all(isa, others, forms, form_index, record_end);
        for &number in split.unchanged() {
            let number = number as usize;
            if number >= end {
                break;
            }
            found.counted += 1;
            let start = spans[number].start as usize;
            counted.add(isa, number, normalize::host_of_unchanged(isa, text, index, start));
        }
        for (texts, absent) in found.texts.iter_mut().zip(&mut found.absent) {
            *absent = found.counted - texts.close() as u64;
        }
        report.records = (end as u64 - report.blank) + u64::from(stop.is_some());
    }
}
