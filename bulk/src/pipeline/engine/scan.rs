//! The keys of a chunk: the scan of all jobs that compare records.

use std::sync::Arc;

use super::invalid::{InvalidAction, Policy, reason};
use super::pending::Pending;
use super::work::{ChunkWork, Worker, record_at};
use crate::pipeline::{DedupOptions, Report};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::dedup::{Rows, remove_at};
use uriscan_core::key::{Hasher, Key, PublicHasher};
use uriscan_core::normalize::{FormBuffer, Level, Options};
use uriscan_core::row;
use uriscan_core::simd::{Isa, Task};
use uriscan_core::uri::UriError;

/// The records of a chunk that have a key.
#[derive(Debug, Default)]
pub(crate) struct KeyedRecords {
    pub(crate) spans: Vec<Span>,
    pub(crate) rows: Rows,
    /// The keys of the records, where those of `rows` are keys of their shapes, and both are needed.
    pub(crate) keys: Vec<Key>,
    /// The rows whose values these are, if the records are rows of a table.
    pub(crate) table: row::FoundRows,
    pub(crate) is_table: bool,
    /// Whether invalid ones are noted among the rows of the table, and omitted.
    pub(crate) explains: bool,
    /// Makes keys of those of URIs and the values of other columns, if these are compared.
    pub(crate) joins: Option<Arc<Hasher>>,
    /// Whether each record is its own canonical form, if `notes_canonical`.
    pub(crate) are_canonical: Vec<bool>,
    pub(crate) notes_canonical: bool,
}

impl KeyedRecords {
    /// The bytes that are written for each record.
    pub(crate) fn written(&self) -> &[Span] {
        if self.is_table { &self.table.rows } else { &self.spans }
    }

    pub(crate) fn clear(&mut self) {
        self.spans.clear();
        self.rows.clear();
        self.keys.clear();
        self.table.clear();
    }

    /// Makes the keys depend on the values of other columns.
    #[cold]
    fn join(&mut self, hasher: &Hasher) {
        let mut bytes = Vec::new();
        for row in 0..self.rows.len() {
            bytes.clear();
            bytes.extend_from_slice(&self.rows.key(row).0.to_le_bytes());
            bytes.extend_from_slice(self.table.others.compared(row));
            self.rows.set_key(row, hasher.key(&bytes));
        }
    }
}

impl AsMut<KeyedRecords> for KeyedRecords {
    fn as_mut(&mut self) -> &mut KeyedRecords {
        self
    }
}

/// Finds the keys of all records of the chunk in `work`. `redact` says whether secrets are masked in what is turned
/// away.
#[inline(always)]
pub(crate) fn scan_keys<I: Isa, R: AsMut<KeyedRecords>>(
    isa: I,
    options: &DedupOptions,
    (record_end, redact): (u8, bool),
    worker: &mut Worker,
    work: &mut ChunkWork<R>,
) {
    let ChunkWork { chunk, rows, rejects, report, stop, .. } = work;
    let (text, found) = (chunk.text.padded(), rows.as_mut());
    found.spans.clear();
    found.rows.clear();
    let scan = Scan { options, record_end, redact, text, worker, found, rejects, report, stop };
    match (options.hasher.public_hasher(), scan.found.notes_canonical) {
        (None, false) => isa.call(ScanFor::<false, false>(scan)),
        (None, true) => isa.call(ScanFor::<false, true>(scan)),
        (Some(_), false) => isa.call(ScanFor::<true, false>(scan)),
        (Some(_), true) => isa.call(ScanFor::<true, true>(scan)),
    }
    if let Some(hasher) = found.joins.clone() {
        found.join(&hasher);
    }
    found.rows.partition();
}

/// Finds the keys of a chunk: the one loop of all jobs that compare by keys, so that it is compiled once for each
/// backend and kind of keys.
struct Scan<'a> {
    options: &'a DedupOptions,
    record_end: u8,
    redact: bool,
    text: Padded<'a>,
    worker: &'a mut Worker,
    found: &'a mut KeyedRecords,
    rejects: &'a mut Vec<u8>,
    report: &'a mut Report,
    stop: &'a mut Option<(Span, UriError)>,
}

/// [`Scan`] without the code that it does not need: public keys do if they are `PUBLIC`, and `NOTES` says whether the scan notes
/// which records are canonical.
struct ScanFor<'a, const PUBLIC: bool, const NOTES: bool>(Scan<'a>);

impl<const PUBLIC: bool, const NOTES: bool> Task for ScanFor<'_, PUBLIC, NOTES> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        self.0.run::<I, PUBLIC, NOTES>(isa);
    }
}

/// Whether the canonical form of `record` is its own bytes.
#[inline(always)]
fn is_own(form: &[u8], record: &[u8]) -> bool {
    core::ptr::eq(form, record) || form == record
}

impl Scan<'_> {
    #[inline(always)]
    fn run<I: Isa, const PUBLIC: bool, const NOTES: bool>(mut self, isa: I) {
        let KeyedRecords { spans, rows, table, is_table, are_canonical, .. } = &mut *self.found;
        let Worker { index, split, pending, scratch, .. } = &mut *self.worker;
        index.build_with(isa, self.text, self.record_end);
        match is_table {
            false => spans.extend(index.spans()),
            true => spans.extend(&table.values),
        }
        let count = spans.len();
        if self.options.equivalence.keeps_canonical() {
            split.split(isa, self.text, index, spans, true);
            self.options.equivalence.look_at(isa, self.text, scratch);
        } else {
            split.none_unchanged(count);
        }
        if PUBLIC {
            pending.clear();
            pending.resize(count);
        } else {
            rows.resize(count);
        }
        if NOTES {
            are_canonical.clear();
            are_canonical.resize(count, false);
        }
        self.unchanged::<I, PUBLIC, NOTES>(isa);
        self.common::<I, PUBLIC, NOTES>(isa);
        let end = self.others::<I, PUBLIC, NOTES>(isa);
        let Scan { options, text, worker: Worker { pending, holes, .. }, found, report, .. } = self;
        let KeyedRecords { spans, rows, table, are_canonical, .. } = found;
        report.records = (end - report.blank) + u64::from(end < count as u64);
        spans.truncate(end as usize);
        remove_at(spans, holes);
        if NOTES {
            are_canonical.truncate(end as usize);
            remove_at(are_canonical, holes);
        }
        table.rows.truncate(end as usize);
        remove_at(&mut table.rows, holes);
        for values in table.others.of_rows() {
            values.truncate(end as usize);
            remove_at(values, holes);
        }
        match options.hasher.public_hasher() {
            Some(public) if PUBLIC => {
                pending.resize(end as usize);
                pending.remove(holes);
                isa.call(HashPending { pending, public, hasher: &options.hasher, text, rows });
            }
            _ => {
                rows.resize(end as usize);
                rows.remove(holes);
            }
        }
    }

    /// Finds the keys of the records that are canonical as they stand.
    #[inline(always)]
    fn unchanged<I: Isa, const PUBLIC: bool, const NOTES: bool>(&mut self, isa: I) {
        let Scan { options, text, worker, found, .. } = self;
        let KeyedRecords { spans, rows, are_canonical, .. } = &mut **found;
        let DedupOptions { equivalence, hasher, .. } = options;
        let Worker { split, scratch, pending, .. } = &mut **worker;
        for &number in split.unchanged() {
            let number = number as usize;
            let span = spans[number];
            let form = Prefix::new(&text.padded()[span.start as usize..], span.len());
            let form = equivalence.ruled(isa, (*text, span), form, scratch);
            if NOTES {
                are_canonical[number] = is_own(form.bytes(), span.of(text.content()));
            }
            if !PUBLIC {
                rows.set_key(number, equivalence.key_by(isa, hasher, form));
            } else if equivalence.is_form_only() && equivalence.aliases.is_none() {
                pending.set_in_text(number, span);
            } else {
                pending.set(number, *text, equivalence.aliased_prefix(form));
            }
        }
    }

    /// Finds the keys of the records that need the usual changes; notes the others.
    #[inline(always)]
    fn common<I: Isa, const PUBLIC: bool, const NOTES: bool>(&mut self, isa: I) {
        let Scan { options, text, worker, found, .. } = self;
        let KeyedRecords { spans, rows, are_canonical, .. } = &mut **found;
        let DedupOptions { equivalence, hasher, .. } = options;
        let Worker { split, scratch, pending, others, .. } = &mut **worker;
        others.clear();
        if equivalence.is_plain() && equivalence.normalize == Options::new(Level::String) {
            return self.as_they_are::<I, PUBLIC, NOTES>(isa);
        }
        if !equivalence.has_usual_forms() {
            others.extend(split.others().iter().map(|seen| seen.number()));
            return;
        }
        let mut room: FormBuffer = [0; _];
        for seen in split.others() {
            let number = seen.number() as usize;
            let span = spans[number];
            let bytes = &text.padded()[span.start as usize..];
            let Some(form) = equivalence.usual_form(isa, seen, bytes, span.len(), &mut room) else {
                others.push(seen.number());
                continue;
            };
            let form = equivalence.ruled(isa, (*text, span), form, scratch);
            if NOTES {
                are_canonical[number] = is_own(form.bytes(), span.of(text.content()));
            }
            if !PUBLIC {
                rows.set_key(number, equivalence.key_by(isa, hasher, form));
            } else {
                pending.set(number, *text, equivalence.aliased_prefix(form));
            }
        }
    }

    /// Finds the keys of the records that would need the usual changes, which are compared without; notes the others.
    #[inline(always)]
    fn as_they_are<I: Isa, const PUBLIC: bool, const NOTES: bool>(&mut self, isa: I) {
        let Scan { options, text, worker, found, .. } = self;
        let KeyedRecords { spans, rows, are_canonical, .. } = &mut **found;
        let DedupOptions { equivalence, hasher, .. } = options;
        let Worker { split, scratch, pending, others, .. } = &mut **worker;
        for seen in split.others() {
            let number = seen.number() as usize;
            let span = spans[number];
            let bytes = &text.padded()[span.start as usize..];
            if !seen.has_form(isa, bytes, span.len()) {
                others.push(seen.number());
                continue;
            }
            let form = Prefix::new(bytes, span.len());
            let form = equivalence.ruled(isa, (*text, span), form, scratch);
            if NOTES {
                are_canonical[number] = is_own(form.bytes(), span.of(text.content()));
            }
            if !PUBLIC {
                rows.set_key(number, equivalence.key_by(isa, hasher, form));
            } else {
                pending.set(number, *text, equivalence.aliased_prefix(form));
            }
        }
    }

    /// Finds the keys of all other records; gives the number of records before the end.
    #[inline(always)]
    fn others<I: Isa, const PUBLIC: bool, const NOTES: bool>(&mut self, isa: I) -> u64 {
        let Scan { options, record_end, redact, text, worker, found, rejects, report, stop } = self;
        let Worker { index, others, scratch, pending, holes, .. } = &mut **worker;
        let KeyedRecords { spans, rows, table, is_table, explains, are_canonical, .. } =
            &mut **found;
        let &DedupOptions { ref equivalence, ref hasher, on_invalid, .. } = *options;
        let policy = Policy { on_invalid, record_end: *record_end, redact: *redact };
        holes.clear();
        for &number in others.iter() {
            let row = number as usize;
            let (span, record) = record_at(*text, index, spans[row]);
            spans[row] = span;
            if record.is_empty() {
                report.blank += 1;
                holes.push(number);
                continue;
            }
            let form = equivalence.canonical_by(isa, record, scratch);
            if NOTES {
                // A record without a form is compared as it is.
                are_canonical[row] =
                    form.as_ref().map_or(true, |form| is_own(form.bytes(), record.bytes()));
            }
            match form {
                Ok(form) if PUBLIC => pending.set(row, *text, equivalence.aliased_prefix(form)),
                Ok(form) => rows.set_key(row, equivalence.key_by(isa, hasher, form)),
                Err(error) if *explains => {
                    let (_, (row, error)) = row_at(text.content(), (table.rows[row], span), error);
                    report.invalid.add(error.kind);
                    table.invalid.push((row, reason(error).into()));
                    holes.push(number);
                }
                Err(error) => {
                    let (bytes, at) = match is_table {
                        false => (record.bytes(), (span, error)),
                        true => row_at(text.content(), (table.rows[row], span), error),
                    };
                    match policy.apply(bytes, at, report, rejects, stop) {
                        InvalidAction::Keep if PUBLIC => {
                            pending.set(row, *text, record.padded().into());
                        }
                        InvalidAction::Keep => {
                            let form = record.padded().into();
                            rows.set_key(row, hasher.secret_key_by(isa, form));
                        }
                        InvalidAction::Omit => holes.push(number),
                        InvalidAction::Stop => return u64::from(number),
                    }
                }
            }
        }
        spans.len() as u64
    }
}

/// The bytes of the `row` of a table, and its place with what is wrong with its `value`.
#[cold]
pub fn row_at(
    text: &[u8],
    (row, value): (Span, Span),
    error: UriError,
) -> (&[u8], (Span, UriError)) {
    // A value that had to be decoded is not in its row.
    let indent = if value.end <= row.end { value.start.saturating_sub(row.start) } else { 0 };
    (row.of(text), (row, UriError::new(error.kind, (error.at + indent) as usize)))
}

/// Makes rows of the public keys of what waits, in a function of its own.
struct HashPending<'a> {
    pending: &'a mut Pending,
    public: &'a PublicHasher,
    hasher: &'a Hasher,
    text: Padded<'a>,
    rows: &'a mut Rows,
}

impl Task for HashPending<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let HashPending { pending, public, hasher, text, rows } = self;
        for &key in pending.keys(isa, public, text) {
            rows.push(hasher.place_by(isa, key));
        }
    }
}
