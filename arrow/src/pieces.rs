//! Splits columns into pieces that threads process one at a time.

use core::ops::Range;

use rayon::prelude::*;

use super::column::Column;
use super::{Columns, Error};
pub(crate) use uriscan_bulk::pipeline::{Scratch, Settings};
use uriscan_core::chunk::{Padded, PaddedBuf, Span};
use uriscan_core::index::{Index, Record, trim};
use uriscan_core::simd::{Isa, Kernels, Task};

/// Approximate size of a piece in bytes: with its index, it fits the cache.
const BYTES: usize = 128 << 10;

const ROWS: usize = 1 << 14;

/// Size limit of a value, as in the pipeline.
pub(super) const MAX_VALUE: usize = 64 << 20;
const _: () = assert!(MAX_VALUE <= Settings::MAX_RECORD);

#[derive(Clone, Copy, Debug)]
pub(super) enum Row<'a> {
    Null,
    /// A value without the white space around it; it may be empty.
    Value(Record<'a>),
    /// A value over the size limit, with the white space around it.
    TooLong(&'a [u8]),
}

/// Some rows of a column: their bytes, contiguous and indexed.
pub(super) struct Piece<'a> {
    pub(super) text: Padded<'a>,
    index: &'a Index,
    spans: &'a [Place],
    column: &'a Column<'a>,
    pub(super) rows: Range<usize>,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Null,
    At(Span),
    TooLong,
}

impl<'a> Piece<'a> {
    /// The bytes of all values within the size limit.
    pub(super) fn text(&self) -> Padded<'a> {
        self.text
    }

    /// Length in bytes of all values.
    pub(super) fn bytes(&self) -> usize {
        self.text.len()
    }

    #[inline(always)]
    pub(super) fn iter(&self) -> impl ExactSizeIterator<Item = Row<'a>> {
        let &Piece { text, index, spans, column, .. } = self;
        let first = self.rows.start;
        spans.iter().enumerate().map(move |(i, place)| match *place {
            Place::Null => Row::Null,
            Place::At(span) if span.is_empty() => Row::Value(Record::new(text, index, span)),
            Place::At(span) => Row::Value(Record::new(text, index, trim(text.padded(), span))),
            Place::TooLong => Row::TooLong(column.value(first + i)),
        })
    }
}

/// Work done on every piece.
pub(super) trait Work: Sync {
    type Output: Send;

    /// A column of as many rows that is read alongside; its bytes count towards the size of pieces.
    fn beside(&self) -> Option<&Column<'_>> {
        None
    }

    /// Processes a piece; runs on many threads at once.
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, scratch: &mut Scratch) -> Self::Output;
}

/// Buffers that a thread reuses from piece to piece.
#[derive(Default)]
struct Worker {
    index: Index,
    spans: Vec<Place>,
    /// The bytes of a piece that is not contiguous, or not followed by padding.
    gathered: PaddedBuf,
    scratch: Scratch,
}

/// Runs `work` on all pieces of `column`, on the threads of the current pool. Returns the results
/// in the order of the rows. Fails with [`ErrorKind::Stopped`](crate::ErrorKind::Stopped).
pub(super) fn each_piece<W: Work>(
    columns: &Columns,
    column: &Column<'_>,
    work: &W,
) -> Result<Vec<W::Output>, Error> {
    let pieces = cut(column, work.beside());
    let one = |worker: &mut Worker, rows| match columns.is_stopped() {
        true => Err(Error::stopped()),
        false => Ok(worker.work(columns.kernels, column, rows, work)),
    };
    match pieces.len() {
        // Too little work to share with other threads.
        0 | 1 => {
            let mut worker = Worker::default();
            pieces.into_iter().map(|rows| one(&mut worker, rows)).collect()
        }
        _ => pieces.into_par_iter().map_init(Worker::default, one).collect(),
    }
}

/// Splits the rows of `column` into pieces of about [`BYTES`], counting those of the column read
/// alongside.
fn cut(column: &Column<'_>, beside: Option<&Column<'_>>) -> Vec<Range<usize>> {
    let mut pieces = Vec::new();
    let (mut start, mut bytes) = (0, 0);
    for row in 0..column.len() {
        let len = column.value_len(row) + beside.map_or(0, |beside| beside.value_len(row));
        let is_full = bytes + len > BYTES || row - start == ROWS;
        if is_full && row > start {
            pieces.push(start..row);
            (start, bytes) = (row, 0);
        }
        bytes += len;
    }
    if start < column.len() {
        pieces.push(start..column.len());
    }
    pieces
}

impl Worker {
    fn work<W: Work>(
        &mut self,
        kernels: Kernels,
        column: &Column<'_>,
        rows: Range<usize>,
        work: &W,
    ) -> W::Output {
        struct One<'a, W> {
            piece: (Padded<'a>, &'a [Place], &'a Column<'a>, Range<usize>),
            index: &'a mut Index,
            scratch: &'a mut Scratch,
            work: &'a W,
        }
        impl<W: Work> Task for One<'_, W> {
            type Output = W::Output;
            #[inline(always)]
            fn run<I: Isa>(self, isa: I) -> W::Output {
                let One { piece: (text, spans, column, rows), index, scratch, work } = self;
                // Values may hold line feeds, so the column defines where records end, not the
                // index.
                index.build_with(isa, text, b'\n');
                work.run(isa, &Piece { text, index, spans, column, rows }, scratch)
            }
        }
        let text = place(column, &rows, &mut self.spans, &mut self.gathered);
        kernels.run(One {
            piece: (text, &self.spans, column, rows),
            index: &mut self.index,
            scratch: &mut self.scratch,
            work,
        })
    }
}

/// The rows of a piece in the column that is read alongside. Reusable.
#[derive(Default)]
pub(super) struct Companion {
    index: Index,
    places: Vec<Place>,
    gathered: PaddedBuf,
}

impl Companion {
    #[inline(always)]
    pub(super) fn piece<'a, I: Isa>(
        &'a mut self,
        isa: I,
        column: &'a Column<'_>,
        rows: Range<usize>,
    ) -> Piece<'a> {
        let text = place(column, &rows, &mut self.places, &mut self.gathered);
        self.index.build_with(isa, text, b'\n');
        Piece { text, index: &self.index, spans: &self.places, column, rows }
    }
}

/// The bytes of `rows` with their padding: in place if they are contiguous and padded, otherwise
/// copied to `gathered`. Sets `places` to the position of each row in them.
fn place<'a>(
    column: &'a Column<'_>,
    rows: &Range<usize>,
    places: &mut Vec<Place>,
    gathered: &'a mut PaddedBuf,
) -> Padded<'a> {
    places.clear();
    let mut end = 0;
    // Such a value is alone in its piece.
    if rows.len() == 1 && column.value_len(rows.start) > MAX_VALUE {
        places.push(if column.is_null(rows.start) { Place::Null } else { Place::TooLong });
        gathered.set(b"");
        return gathered.padded();
    }
    places.extend(rows.clone().map(|row| {
        // A piece of several rows is short, and so is a value within the limit.
        let span = Span { start: end, end: end + column.value_len(row) as u32 };
        end = span.end;
        if column.is_null(row) { Place::Null } else { Place::At(span) }
    }));
    if let Some((bytes, range)) = column.stretch(rows.clone()) {
        if let Some(text) = Padded::new(&bytes[range.start..], range.len()) {
            return text;
        }
        gathered.set(&bytes[range]);
        return gathered.padded();
    }
    gathered.reserve(end as usize);
    let mut room = gathered.room();
    for row in rows.clone() {
        let value = column.value(row);
        let (place, rest) = room.split_at_mut(value.len());
        place.copy_from_slice(value);
        room = rest;
    }
    gathered.set_len(end as usize);
    gathered.padded()
}
