//! What is written for the records of a chunk that are the first of their classes.

use std::io::Write;

use crate::pipeline::engine::batches::PART_BYTES;
use crate::pipeline::engine::invalid::{LongRecord, push_record_by};
use crate::pipeline::engine::long::long_record_key;
use crate::pipeline::engine::scan::KeyedRecords;
use crate::pipeline::engine::work::{OutputRoom, Worker};
use crate::pipeline::{DedupOptions, Emit, Error, Settings};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::index::Record;
use uriscan_core::row::PassedRow;
use uriscan_core::simd::{Isa, Task};

/// Appends what is written for those records of `found`, which are in `text`, that are the first of their classes; gives their
/// number. Canonical forms are appended as far as there is `room`, which gets the row of the next one.
#[inline(always)]
pub(crate) fn write_firsts<I: Isa>(
    isa: I,
    options: &DedupOptions,
    settings: &Settings,
    worker: &mut Worker,
    (text, found): (Padded<'_>, &KeyedRecords),
    (room, out): (&mut OutputRoom, &mut Vec<u8>),
) -> u64 {
    let &Settings { record_end, redact, .. } = settings;
    let KeyedRecords { spans, rows, .. } = found;
    let firsts = spans.iter().enumerate().filter(|&(row, _)| rows.is_first(row));
    let mut written = 0;
    room.next = spans.len();
    match options.emit {
        Emit::Original if redact => {
            for (_, &span) in firsts {
                let record = Prefix::new(&text.padded()[span.start as usize..], span.len());
                push_record_by(isa, record, true, out);
                out.push(record_end);
                written += 1;
            }
        }
        Emit::Original => {
            written = copy_firsts(isa, text, found, record_end, out);
        }
        Emit::Key => {
            for (row, _) in firsts {
                options.hasher.public_by(isa, rows.key(row)).write_hex(out);
                out.push(record_end);
                written += 1;
            }
        }
        Emit::Normalized => {
            written = firsts.count() as u64;
            room.next = 0;
            write_forms(isa, options, settings, worker, (text, found), (room, out));
        }
    }
    written
}

/// Appends the canonical forms of first records, from the row `next` of `room` on, as far as there is room; that row is
/// the one after them then.
#[inline(always)]
pub(crate) fn write_forms<I: Isa>(
    isa: I,
    options: &DedupOptions,
    &Settings { record_end, redact, .. }: &Settings,
    worker: &mut Worker,
    (text, KeyedRecords { spans, rows, .. }): (Padded<'_>, &KeyedRecords),
    (room, out): (&mut OutputRoom, &mut Vec<u8>),
) {
    worker.index.build_with(isa, text, record_end);
    while room.next < spans.len() && out.len() <= room.most {
        if rows.is_first(room.next) {
            let record = Record::new(text, &worker.index, spans[room.next]);
            let form = options.equivalence.form(isa, record, &mut worker.scratch);
            let shown = form.map(|form| options.equivalence.aliased(form).into());
            push_record_by(isa, shown.unwrap_or(record.padded().into()), redact, out);
            out.push(record_end);
        }
        room.next += 1;
    }
}

/// Writes the forms for which the output of the chunk had no room, after `next` of `room`.
pub(crate) fn write_rest(
    options: &DedupOptions,
    settings: &Settings,
    text: Padded<'_>,
    found: &KeyedRecords,
    next: usize,
    out: &mut dyn Write,
) -> Result<(), Error> {
    struct Part<'a>(
        &'a DedupOptions,
        &'a Settings,
        Padded<'a>,
        &'a KeyedRecords,
        &'a mut OutputRoom,
        Vec<u8>,
    );
    impl Task for Part<'_> {
        type Output = Vec<u8>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Vec<u8> {
            let Part(options, settings, text, found, room, mut out) = self;
            let mut worker = Worker::default();
            write_forms(isa, options, settings, &mut worker, (text, found), (room, &mut out));
            out
        }
    }
    let mut room = OutputRoom { most: PART_BYTES, next, ..OutputRoom::default() };
    let mut lines = Vec::new();
    while room.next < found.spans.len() {
        lines.clear();
        let part = Part(options, settings, text, found, &mut room, lines);
        lines = settings.kernels.run(part);
        out.write_all(&lines).map_err(Error::write)?;
    }
    Ok(())
}

/// What is written for a record that is too long to be parsed.
pub(crate) fn long_first(emit: Emit, settings: &Settings) -> LongRecord {
    match emit {
        Emit::Key => LongRecord::Row(long_record_key(settings.record_end)),
        Emit::Original | Emit::Normalized => LongRecord::as_is(),
    }
}

/// Appends the lines of `text` at the places in `found` that are the first of their class to `out`; gives their number.
#[inline(always)]
pub(crate) fn copy_firsts<I: Isa>(
    isa: I,
    text: Padded<'_>,
    found: &KeyedRecords,
    record_end: u8,
    out: &mut Vec<u8>,
) -> u64 {
    isa.call(CopyFirsts(text, found, record_end, out))
}

struct CopyFirsts<'a>(Padded<'a>, &'a KeyedRecords, u8, &'a mut Vec<u8>);

impl Task for CopyFirsts<'_> {
    type Output = u64;
    #[inline(always)]
    fn run<I: Isa>(self, _isa: I) -> u64 {
        let CopyFirsts(text, found, record_end, out) = self;
        let KeyedRecords { rows, table, .. } = found;
        let lines = found.written().iter().enumerate();
        let lines = lines.map(|(row, &span)| (span, rows.is_first(row)));
        if table.passed.is_empty() {
            return copy_lines(text, lines, record_end, out);
        }
        copy_lines(text, merged(lines, &table.passed), record_end, out) - table.passed.len() as u64
    }
}

/// `lines`, and among them, in the order of the text, those that are `passed` on in any case.
fn merged(
    lines: impl Iterator<Item = (Span, bool)>,
    passed: &[PassedRow],
) -> impl Iterator<Item = (Span, bool)> {
    let (mut lines, mut passed) = (lines.peekable(), passed.iter().peekable());
    std::iter::from_fn(move || match (lines.peek(), passed.peek()) {
        (Some(&(line, _)), Some(other)) if line.start < other.row.start => lines.next(),
        (_, Some(_)) => passed.next().map(|other| (other.row, true)),
        (_, None) => lines.next(),
    })
}

/// Appends those of `lines`, places in `text`, that are to be kept; gives their number.
///
/// Whether a line is kept cannot be foreseen, so every line is copied, 128 bytes of it without
/// asking, and the next one is written over it unless it is kept.
#[inline(always)]
fn copy_lines(
    text: Padded<'_>,
    lines: impl Iterator<Item = (Span, bool)>,
    record_end: u8,
    out: &mut Vec<u8>,
) -> u64 {
    const ROOM: usize = 128;
    // A last line without an end gets one.
    out.reserve(text.len() + 1 + ROOM);
    let bytes = text.padded();
    let (mut at, mut count) = (out.len(), 0);
    for (span, keep) in lines {
        let (start, len) = (span.start as usize, span.len());
        out.truncate(at);
        out.extend_from_slice(&bytes[start..][..ROOM]);
        if len >= ROOM {
            out.extend_from_slice(&bytes[start + ROOM..=start + len]);
        }
        out[at + len] = record_end;
        at += if keep { len + 1 } else { 0 };
        count += u64::from(keep);
    }
    out.truncate(at);
    count
}
