//! Text, as an output array.

use std::sync::Arc;

use arrow_array::builder::{BooleanBufferBuilder, make_view};
use arrow_array::types::{
    BinaryType, BinaryViewType, ByteArrayType, ByteViewType, LargeBinaryType, LargeUtf8Type,
    StringViewType, Utf8Type,
};
use arrow_array::{ArrayRef, GenericByteArray, GenericByteViewArray};
use arrow_buffer::{ArrowNativeType, Buffer, NullBuffer, OffsetBuffer};
use arrow_schema::DataType;
use rayon::prelude::*;

use super::Error;

/// The values of some rows, contiguous.
pub(super) struct Text {
    pub(super) bytes: Vec<u8>,
    /// Where each value ends in `bytes`.
    ends: Vec<usize>,
    validity: Validity,
}

impl Text {
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

/// The array of `pieces`, one after the other. Fails with [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub(super) fn join(text_type: &DataType, mut pieces: Vec<Text>) -> Result<ArrayRef, Error> {
    let nulls = Validity::join(pieces.iter_mut().map(|piece| &mut piece.validity));
    match text_type {
        DataType::Utf8View => views::<StringViewType>(pieces, nulls),
        DataType::BinaryView => views::<BinaryViewType>(pieces, nulls),
        DataType::Utf8 => contiguous::<Utf8Type>(pieces, nulls),
        DataType::Binary => contiguous::<BinaryType>(pieces, nulls),
        DataType::LargeUtf8 => contiguous::<LargeUtf8Type>(pieces, nulls),
        _ => contiguous::<LargeBinaryType>(pieces, nulls),
    }
}

/// An array of offsets. Arrow validates it again; the type requires it.
fn contiguous<T: ByteArrayType>(
    pieces: Vec<Text>,
    nulls: Option<NullBuffer>,
) -> Result<ArrayRef, Error> {
    let (bytes, ends) = together(pieces);
    T::Offset::from_usize(bytes.len()).ok_or_else(Error::too_large)?;
    let offsets: Vec<T::Offset> =
        core::iter::once(0).chain(ends).map(T::Offset::usize_as).collect();
    let (offsets, bytes) = (OffsetBuffer::new(offsets.into()), Buffer::from_vec(bytes));
    Ok(Arc::new(GenericByteArray::<T>::try_new(offsets, bytes, nulls)?))
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

/// An array of views; the bytes of the pieces are not copied.
fn views<T: ByteViewType + ?Sized>(
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
            views.push(make_view(&piece.bytes[start..end], number, start as u32));
            start = end;
        }
        buffers.push(Buffer::from_vec(piece.bytes));
    }
    Ok(Arc::new(GenericByteViewArray::<T>::try_new(views.into(), buffers, nulls)?))
}
