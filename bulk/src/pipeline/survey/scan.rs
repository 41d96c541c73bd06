//! Counts the records of a chunk.
//!
//! Records that are canonical as they stand are counted where they are. The forms of all others are computed again,
//! many at a time, and indexed together.

use super::counter::{Buffers, RecordCounter, add_to_group};
use super::part::{Part, VALUE_END, WINDOW};
use super::{Panel, Survey};
use crate::io::read::origins::RecordOrigin;
use crate::pipeline::compare::equivalence;
use crate::top_k::Counts;
use uriscan_core::chunk::{Padded, PaddedBuf, Prefix, Span};
use uriscan_core::index::{Index, Record, trim};
use uriscan_core::normalize::{FormBuffer, Split};
use uriscan_core::simd::{Isa, Task};

/// Bytes of forms that are counted before more are made: with a base each may be much longer than its record.
const MOST_BYTES: usize = 1 << 20;

/// What a thread keeps for surveys from chunk to chunk.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct Scratch {
    index: Index,
    split: Split,
    spans: Vec<Span>,
    forms: Forms,
    buffers: Buffers,
}

/// Canonical forms that are made again, each with a record end.
#[derive(Debug, Default)]
struct Forms {
    scratch: equivalence::Scratch,
    text: Vec<u8>,
    index: Index,
    /// The numbers of their records.
    owners: Vec<u32>,
}

/// The origins of the records of a chunk that are kept, and the line that it began with and its number of lines when all were there.
type Kept<'a> = (&'a [RecordOrigin], (u64, u64));

/// Counts the records of a chunk, `text` from the offset `byte` of its source on, which its job has scanned up to `end`; if
/// they are only those that are kept, with what is known of the others.
#[inline(always)]
pub(in crate::pipeline) fn count_chunk<I: Isa>(
    isa: I,
    survey: &Survey,
    ((text, byte, end), kept): ((Padded<'_>, u64, usize), Option<Kept<'_>>),
    record_end: u8,
    scratch: &mut Scratch,
    part: &mut Part,
) {
    if !part.values.is_used {
        let positions = match kept {
            Some((origins, (line, _))) => Positions::Kept { origins, line },
            None => Positions::Lines { byte, lines: part.lines },
        };
        let records = Records { text, record_end, end, positions };
        isa.call(CountRecords { survey, records, scratch, part });
        if let Some((_, (_, lines))) = kept {
            part.lines = if end == text.len() { lines } else { 0 };
        }
        return;
    }
    let seen = &text.content()[..end];
    part.lines += memchr::memchr_iter(record_end, seen).count() as u64;
    count_values(isa, survey, scratch, part);
}

/// Counts the values that have been handed over to `part`.
#[inline(always)]
fn count_values<I: Isa>(isa: I, survey: &Survey, scratch: &mut Scratch, part: &mut Part) {
    let values: PaddedBuf = part.values.take();
    let positions = std::mem::take(&mut part.values.positions);
    let (text, lines) = (values.padded(), part.lines);
    let positions = Positions::Values(&positions);
    let records = Records { text, record_end: VALUE_END, end: text.len(), positions };
    isa.call(CountRecords { survey, records, scratch, part });
    // Only the lines of a chunk are counted.
    part.lines = lines;
}

/// Counts the values that have been handed over to a part.
pub(super) struct CountValues<'a> {
    pub(super) survey: &'a Survey,
    pub(super) part: &'a mut Part,
}

impl Task for CountValues<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        count_values(isa, self.survey, &mut Scratch::default(), self.part);
    }
}

/// Records one after the other.
#[derive(Clone, Copy)]
struct Records<'a> {
    text: Padded<'a>,
    record_end: u8,
    /// Those that begin before this offset.
    end: usize,
    positions: Positions<'a>,
}

/// Where the records are in the source.
#[derive(Clone, Copy)]
enum Positions<'a> {
    /// They are the lines of a chunk that begins at `byte`, of which `lines` have been counted.
    Lines { byte: u64, lines: u64 },
    /// They come from these origins, in a chunk that begins at `line`.
    Kept { origins: &'a [RecordOrigin], line: u64 },
    /// The offset and the line of each.
    Values(&'a [(u64, u64)]),
}

impl Positions<'_> {
    /// The offset in the source of the record of this number, which begins at `start`.
    #[inline(always)]
    fn byte(self, number: usize, start: u32) -> u64 {
        match self {
            Positions::Lines { byte, .. } => byte + u64::from(start),
            Positions::Kept { origins, .. } => origins[number].byte,
            Positions::Values(positions) => positions[number].0,
        }
    }

    fn line(self, number: usize) -> u64 {
        match self {
            Positions::Lines { lines, .. } => lines + number as u64,
            Positions::Kept { origins, line } => origins[number].line - line,
            Positions::Values(positions) => positions[number].1,
        }
    }
}

/// Counts records, in a function of its own.
struct CountRecords<'a> {
    survey: &'a Survey,
    records: Records<'a>,
    scratch: &'a mut Scratch,
    part: &'a mut Part,
}

impl Task for CountRecords<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let CountRecords { survey, records, scratch, part } = self;
        let Records { text, record_end, end, .. } = records;
        let Scratch { index, split, spans, .. } = &mut *scratch;
        index.build_with(isa, text, record_end);
        spans.clear();
        spans.extend(index.spans().take_while(|span| (span.start as usize) < end));
        match survey.of_parts.is_form_only() {
            true => split.split(isa, text, index, spans, true),
            false => split.none_unchanged(spans.len()),
        }
        let count = spans.len();
        let (mut from, mut unchanged, mut others) = (0, 0, 0);
        while from < count {
            let (window, to) = window_at(part, &scratch.spans, records.positions, from);
            let in_window = |number: u32| (number as usize) < to;
            let more = scratch.split.unchanged()[unchanged..].partition_point(|&it| in_window(it));
            let rest = &scratch.split.others()[others..];
            let more_others = rest.partition_point(|seen| in_window(seen.number()));
            let ranges = (unchanged..unchanged + more, others..others + more_others);
            count_window(isa, survey, records, scratch, (window, part), ranges);
            (from, unchanged, others) = (to, unchanged + more, others + more_others);
        }
        if survey.has_own_forms && survey.sample.is_some() {
            count_groups(isa, survey, records, scratch, part);
        }
        part.lines += count as u64;
    }
}

/// The window of the record number `from`, and the number of the first record after it that is in another one.
fn window_at(part: &Part, spans: &[Span], positions: Positions<'_>, from: usize) -> (u64, usize) {
    let of = |number: usize| {
        part.start.wrapping_add(positions.byte(number, spans[number].start)) / WINDOW
    };
    let window = of(from);
    if of(spans.len() - 1) == window {
        return (window, spans.len());
    }
    let len = spans[from..].iter().enumerate().take_while(|&(i, _)| of(from + i) == window).count();
    (window, from + len)
}

type Numbers = core::ops::Range<usize>;

/// Counts the records of `ranges` of those that are unchanged and of the others, which are in one window.
#[inline(always)]
fn count_window<I: Isa>(
    isa: I,
    survey: &Survey,
    records: Records<'_>,
    scratch: &mut Scratch,
    (window, part): (u64, &mut Part),
    (unchanged, others): (Numbers, Numbers),
) {
    let Scratch { index, split, spans, forms, buffers } = scratch;
    let Records { text, record_end, positions, .. } = records;
    buffers.recent.iter_mut().for_each(Counts::forget);
    part.piece(window);
    let mut counter = RecordCounter::new(survey, part, buffers);
    for &number in &split.unchanged()[unchanged] {
        let span = spans[number as usize];
        counter.part.lengths.add(span.len());
        let byte = positions.byte(number as usize, span.start);
        let record = Record::new(text, index, span);
        counter.count_record(isa, record, record.bytes(), byte);
    }
    let equivalence = &survey.of_parts;
    let is_usual = equivalence.is_form_only() && equivalence.has_usual_forms();
    let mut room: FormBuffer = [0; _];
    forms.text.clear();
    forms.owners.clear();
    let texts = Texts { records, spans: &*spans };
    for seen in &split.others()[others] {
        let number = seen.number();
        let whole = spans[number as usize];
        if is_usual {
            let bytes = &text.padded()[whole.start as usize..];
            if let Some(form) = equivalence.usual_form(isa, seen, bytes, whole.len(), &mut room) {
                counter.part.lengths.add(whole.len());
                forms.push(form, number, record_end);
                continue;
            }
        }
        let span = trim(text.padded(), whole);
        if span.is_empty() {
            continue;
        }
        let record = Record::new(text, index, span);
        counter.part.lengths.add(span.len());
        let Forms { scratch, text: made, owners, .. } = &mut *forms;
        match equivalence.canonical_by(isa, record, scratch) {
            Ok(form) => {
                made.extend_from_slice(form.bytes());
                made.push(record_end);
                owners.push(number);
                if made.len() > MOST_BYTES {
                    count_forms(isa, &mut counter, forms, record_end, texts);
                }
            }
            Err(error) => {
                let byte = positions.byte(number as usize, whole.start);
                counter.count_invalid(record.bytes(), positions.line(number as usize), byte, error);
            }
        }
    }
    count_forms(isa, &mut counter, forms, record_end, texts);
    counter.end();
}

impl Forms {
    /// Adds the form of the record of this number.
    #[inline(always)]
    fn push(&mut self, form: Prefix<'_>, number: u32, record_end: u8) {
        form.append_to(&mut self.text);
        self.text.push(record_end);
        self.owners.push(number);
    }
}

/// Adds records to their groups under an equivalence that has other forms than those whose parts are counted.
#[inline(never)]
fn count_groups<I: Isa>(
    isa: I,
    survey: &Survey,
    records: Records<'_>,
    scratch: &mut Scratch,
    part: &mut Part,
) {
    let Scratch { index, spans, forms: Forms { scratch, .. }, buffers, .. } = scratch;
    let Records { text, positions, .. } = records;
    let equivalence = &survey.options.equivalence;
    buffers.recent.iter_mut().for_each(Counts::forget);
    for (number, &whole) in spans.iter().enumerate() {
        let span = trim(text.padded(), whole);
        if span.is_empty() {
            continue;
        }
        let record = Record::new(text, index, span);
        let byte = positions.byte(number, whole.start);
        let form = equivalence.canonical_by(isa, record, scratch);
        if form.is_err() && !survey.options.keeps_invalid {
            continue;
        }
        let form = form.map_or(record.bytes(), |form| equivalence.aliased(form.bytes()));
        let position = part.start.wrapping_add(byte);
        let piece = part.piece_of(position / WINDOW);
        add_to_group(survey, piece, &mut buffers.recent, form, record.bytes(), position);
    }
    part.pieces_mut()
        .for_each(|piece| piece.counts[Panel::Form as usize].partition(&survey.options.hasher));
}

/// The texts of records by their numbers.
#[derive(Clone, Copy)]
struct Texts<'a> {
    records: Records<'a>,
    spans: &'a [Span],
}

impl<'a> Texts<'a> {
    #[inline(always)]
    fn of(self, number: u32) -> (&'a [u8], u64) {
        let whole = self.spans[number as usize];
        let text = self.records.text.padded();
        let byte = self.records.positions.byte(number as usize, whole.start);
        (trim(text, whole).of(text), byte)
    }
}

/// Counts `forms` with `counter`, and clears them.
#[inline(always)]
fn count_forms<I: Isa>(
    isa: I,
    counter: &mut RecordCounter<'_>,
    Forms { text: made, index, owners, .. }: &mut Forms,
    record_end: u8,
    texts: Texts<'_>,
) {
    let len = made.len();
    made.resize(Padded::needed(len), 0);
    let text = Padded::new(made, len).expect("there is padding");
    index.build_with(isa, text, record_end);
    for (span, &owner) in index.spans().zip(&*owners) {
        let (raw, byte) = texts.of(owner);
        counter.count_record(isa, Record::new(text, index, span), raw, byte);
    }
    owners.clear();
    made.clear();
}
