//! Text, as an output array.

use std::sync::Arc;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{
    ArrayRef, BinaryArray, BinaryViewArray, LargeBinaryArray, LargeStringArray, StringArray,
    StringViewArray,
};
use arrow_buffer::{Buffer, NullBuffer, OffsetBuffer, ScalarBuffer};
use arrow_schema::ArrowError;
use rayon::prelude::*;

use super::Error;
use super::column::TextType;

/// The values of some rows, contiguous.
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    /// Where each value ends in `bytes`.
    ends: Vec<usize>,
    validity: Validity,
}

impl Text {
    /// No rows, with capacity for `rows` rows and `bytes` bytes.
    pub(super) fn with_capacity(rows: usize, bytes: usize) -> Text {
        Text {
            bytes: Vec::with_capacity(bytes),
            ends: Vec::with_capacity(rows),
            validity: Validity::with_capacity(rows),
        }
    }

    /// Ends a row: its value is what has been appended to `bytes` since the last one.
    #[inline(always)]
    pub(super) fn end_value(&mut self) {
        self.ends.push(self.bytes.len());
        self.validity.push(true);
    }

    #[inline(always)]
    pub(super) fn push(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
        self.end_value();
    }

    #[inline(always)]
    pub(super) fn push_null(&mut self) {
        self.ends.push(self.bytes.len());
        self.validity.push(false);
    }

    #[inline(always)]
    pub(super) fn push_option(&mut self, value: Option<&[u8]>) {
        match value {
            Some(value) => self.push(value),
            None => self.push_null(),
        }
    }
}

/// Which rows are not null.
pub(super) struct Validity {
    bits: BooleanBufferBuilder,
    nulls: usize,
}

impl Validity {
    pub(super) fn with_capacity(rows: usize) -> Validity {
        Validity { bits: BooleanBufferBuilder::new(rows), nulls: 0 }
    }

    #[inline(always)]
    pub(super) fn push(&mut self, is_valid: bool) {
        self.bits.append(is_valid);
        self.nulls += usize::from(!is_valid);
    }

    /// Joins those of all pieces; `None` when no row is null.
    pub(super) fn join<'a>(parts: impl Iterator<Item = &'a mut Validity>) -> Option<NullBuffer> {
        let mut all = Validity::with_capacity(0);
        for part in parts {
            all.nulls += part.nulls;
            all.bits.append_buffer(&part.bits.finish());
        }
        (all.nulls > 0).then(|| NullBuffer::new(all.bits.finish()))
    }
}

/// The array of `pieces`, one after the other.
///
/// # Errors
/// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub(super) fn join(text_type: TextType, mut pieces: Vec<Text>) -> Result<ArrayRef, Error> {
    let nulls = Validity::join(pieces.iter_mut().map(|piece| &mut piece.validity));
    if matches!(text_type, TextType::Utf8View | TextType::BinaryView) {
        return views(text_type, pieces, nulls);
    }
    let (bytes, mut ends) = together(pieces);
    let is_short = matches!(text_type, TextType::Utf8 | TextType::Binary);
    if is_short && i32::try_from(bytes.len()).is_err() {
        return Err(Error::too_large());
    }
    let bytes = Buffer::from_vec(bytes);
    if is_short {
        let ends = ends.iter().map(|&end| end as i32);
        let offsets = core::iter::once(0).chain(ends).collect::<Vec<i32>>();
        let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
        return array(match text_type {
            TextType::Utf8 => StringArray::try_new(offsets, bytes, nulls).map(arc),
            _ => BinaryArray::try_new(offsets, bytes, nulls).map(arc),
        });
    }
    ends.insert(0, 0);
    let offsets = ends.into_iter().map(|end| end as i64).collect::<Vec<i64>>();
    let offsets = OffsetBuffer::new(ScalarBuffer::from(offsets));
    array(match text_type {
        TextType::LargeUtf8 => LargeStringArray::try_new(offsets, bytes, nulls).map(arc),
        _ => LargeBinaryArray::try_new(offsets, bytes, nulls).map(arc),
    })
}

fn arc<A: arrow_array::Array + 'static>(array: A) -> ArrayRef {
    Arc::new(array)
}

/// Arrow validates the array again; the type requires it.
fn array(made: Result<ArrayRef, ArrowError>) -> Result<ArrayRef, Error> {
    made.map_err(Error::from)
}

/// The bytes of all pieces in one buffer, and where each value ends in it.
fn together(mut pieces: Vec<Text>) -> (Vec<u8>, Vec<usize>) {
    if pieces.len() == 1 {
        let piece = pieces.remove(0);
        return (piece.bytes, piece.ends);
    }
    let (bytes, rows): (Vec<_>, Vec<_>) =
        pieces.iter().map(|piece| (piece.bytes.len(), piece.ends.len())).unzip();
    // Zeroed memory is first touched by the threads that fill it.
    let mut all = vec![0; bytes.iter().sum()];
    let mut ends = vec![0; rows.iter().sum()];
    let mut places = Vec::with_capacity(pieces.len());
    let (mut rest, mut ends_rest, mut before) = (&mut all[..], &mut ends[..], 0);
    for piece in &pieces {
        let (place, more) = rest.split_at_mut(piece.bytes.len());
        let (ends_place, more_ends) = ends_rest.split_at_mut(piece.ends.len());
        places.push((piece, place, ends_place, before));
        (rest, ends_rest, before) = (more, more_ends, before + piece.bytes.len());
    }
    places.into_par_iter().for_each(|(piece, place, ends_place, before)| {
        place.copy_from_slice(&piece.bytes);
        for (end, &own) in ends_place.iter_mut().zip(&piece.ends) {
            *end = before + own;
        }
    });
    (all, ends)
}

/// Longest value in bytes that is stored in its view.
const INLINE: usize = 12;

/// An array of views; the bytes of the pieces are not copied.
fn views(
    text_type: TextType,
    pieces: Vec<Text>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Error> {
    let (mut views, mut buffers) = (Vec::new(), Vec::new());
    for piece in pieces {
        // Offsets in a buffer are 32 bits wide and not negative.
        if i32::try_from(piece.bytes.len()).is_err() {
            return Err(Error::too_large());
        }
        let number = buffers.len() as u32;
        let mut start = 0;
        for end in piece.ends {
            views.push(view(&piece.bytes[start..end], number, start as u32));
            start = end;
        }
        buffers.push(Buffer::from_vec(piece.bytes));
    }
    let views = ScalarBuffer::from(views);
    array(match text_type {
        TextType::Utf8View => StringViewArray::try_new(views, buffers, nulls).map(arc),
        _ => BinaryViewArray::try_new(views, buffers, nulls).map(arc),
    })
}

/// The view of `value`, which is at `offset` of buffer `number`: its length, then either all of it,
/// or its first four bytes and its position.
fn view(value: &[u8], number: u32, offset: u32) -> u128 {
    let mut bytes = [0; 16];
    bytes[..4].copy_from_slice(&(value.len() as u32).to_le_bytes());
    if value.len() <= INLINE {
        bytes[4..4 + value.len()].copy_from_slice(value);
    } else {
        bytes[4..8].copy_from_slice(&value[..4]);
        bytes[8..12].copy_from_slice(&number.to_le_bytes());
        bytes[12..].copy_from_slice(&offset.to_le_bytes());
    }
    u128::from_le_bytes(bytes)
}
