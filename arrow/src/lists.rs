//! Lists of text, as an output array.

use std::sync::Arc;

use arrow_array::{ArrayRef, ListArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::{DataType, Field};

use super::Error;
use super::text::{self, Text, Validity};

pub(super) struct List {
    texts: Text,
    /// How many texts each row has.
    counts: Vec<usize>,
    validity: Validity,
}

impl List {
    pub(super) fn with_capacity(rows: usize) -> List {
        let (texts, validity) = (Text::with_capacity(0, 0), Validity::with_capacity(rows));
        List { texts, counts: Vec::with_capacity(rows), validity }
    }

    pub(super) fn push<'t>(&mut self, texts: impl Iterator<Item = &'t [u8]>) {
        let mut count = 0;
        for text in texts {
            self.texts.push(text);
            count += 1;
        }
        self.counts.push(count);
        self.validity.push(true);
    }

    pub(super) fn push_null(&mut self) {
        self.counts.push(0);
        self.validity.push(false);
    }
}

/// The array of `pieces`, one after the other. Fails with [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
pub(super) fn join(text_type: &DataType, mut pieces: Vec<List>) -> Result<ArrayRef, Error> {
    let nulls = Validity::join(pieces.iter_mut().map(|piece| &mut piece.validity));
    let (mut ends, mut texts, mut count) = (vec![0], Vec::new(), 0);
    for piece in pieces {
        for found in piece.counts {
            count += found;
            ends.push(i32::try_from(count).map_err(|_| Error::too_large())?);
        }
        texts.push(piece.texts);
    }
    let field = Arc::new(Field::new_list_field(text_type.clone(), true));
    let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
    Ok(Arc::new(ListArray::try_new(field, offsets, text::join(text_type, texts)?, nulls)?))
}
