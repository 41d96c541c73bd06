//! Deduplication of columns, array after array.

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{Array, BooleanArray};
#[cfg(feature = "parquet")]
use arrow_buffer::BooleanBuffer;
use arrow_buffer::NullBuffer;
use rayon::prelude::*;

use super::canonical::{By, Keys, KeysOfPiece};
use super::column::Column;
use super::pieces::each_piece;
use super::text::Validity;
use super::{ColumnError, Columns, collect};
use crate::dedup::{Rows, Set};
use crate::key::Key;
use crate::pipeline::Invalid;
#[cfg(feature = "parquet")]
use crate::pipeline::{Error, RowsAside};

/// Marks the values that are the first of their class, over any number of arrays.
///
/// ```
/// use arrow_array::{BooleanArray, StringArray};
/// use uriscan::arrow::{Columns, Firsts};
/// let mut firsts = Firsts::new(Columns::default());
/// let one = StringArray::from(vec![Some("http://h"), Some("HTTP://H/"), None]);
/// assert_eq!(firsts.mark(&one).unwrap(), BooleanArray::from(vec![Some(true), Some(false), None]));
/// let other = StringArray::from(vec!["http://h:80", "http://i"]);
/// assert_eq!(firsts.mark(&other).unwrap(), BooleanArray::from(vec![false, true]));
/// assert_eq!(firsts.classes(), 2);
/// ```
#[derive(Debug)]
pub struct Firsts {
    columns: Columns,
    set: Set,
}

impl Firsts {
    /// Creates a set that has seen nothing; `columns` computes the keys.
    pub fn new(columns: Columns) -> Firsts {
        Firsts { columns, set: Set::new() }
    }

    /// Number of classes seen so far. Values over the size limit belong to none.
    pub fn classes(&self) -> usize {
        self.set.len()
    }

    /// Returns, for every value, whether it is the first of its class in this array and all arrays
    /// before. The result is null for nulls, for values of white space only (like blank lines, they
    /// are skipped), and for invalid values under [`super::OnInvalid::Null`]. A value over the size
    /// limit always counts as the first of its class.
    ///
    /// # Errors
    /// See [`ColumnError`]. On error, no value of this array counts as seen.
    pub fn mark(&mut self, values: &dyn Array) -> Result<BooleanArray, ColumnError> {
        self.mark_counting(values).map(|(marks, _)| marks)
    }

    /// [`Firsts::mark`], with the number of invalid values.
    pub(crate) fn mark_counting(
        &mut self,
        values: &dyn Array,
    ) -> Result<(BooleanArray, Invalid), ColumnError> {
        let mut keyed = self.keyed(values)?;
        Ok((self.insert(&mut keyed), keyed.invalid))
    }

    /// The keys of `values`.
    pub(crate) fn keyed(&self, values: &dyn Array) -> Result<Keyed, ColumnError> {
        let values = super::spelled_out(values)?;
        let column = Column::new(&values)?;
        let hasher = self.columns.equivalence.run_hasher(&self.columns.hasher, None);
        let work = Keys { columns: &self.columns, by: By::Run(hasher), takes_empty: false };
        let pieces = each_piece(self.columns.kernels, &column, &work);
        let invalid = collect(self.columns.on_invalid, pieces.iter().map(|piece| piece.faults))?;
        let rows = pieces.par_iter().map(rows_of).collect();
        Ok(Keyed { pieces, rows, invalid, len: column.len() })
    }

    /// The result of [`Firsts::mark`] for `keyed`.
    pub(crate) fn insert(&mut self, keyed: &mut Keyed) -> BooleanArray {
        self.set.insert(&keyed.rows.iter().collect::<Vec<_>>());
        let mut bits = BooleanBufferBuilder::new(keyed.len);
        for (piece, rows) in keyed.pieces.iter().zip(&keyed.rows) {
            let mut next = 0;
            for key in &piece.keys {
                let has_key = *key != [0; 16];
                bits.append(!has_key || rows.is_first(next));
                next += usize::from(has_key);
            }
        }
        BooleanArray::new(bits.finish(), keyed.nulls())
    }
}

/// The keys of an array.
pub(crate) struct Keyed {
    pieces: Vec<KeysOfPiece>,
    rows: Vec<Rows>,
    /// How many values are invalid.
    pub(crate) invalid: Invalid,
    len: usize,
}

impl Keyed {
    /// The values that are null or treated as null. May be called once.
    fn nulls(&mut self) -> Option<NullBuffer> {
        Validity::join(self.pieces.iter_mut().map(|piece| &mut piece.validity))
    }
}

#[cfg(feature = "parquet")]
impl Keyed {
    /// The keys, piece by piece.
    pub(crate) fn rows(&self) -> Vec<&Rows> {
        self.rows.iter().collect()
    }

    /// For each piece, the rows of the array that its keys belong to; the rows over the size limit,
    /// which have no key and are classes of their own; and which rows are null or treated as null.
    /// May be called once.
    pub(crate) fn places(&mut self) -> (Vec<Vec<usize>>, Vec<usize>, Option<NullBuffer>) {
        let nulls = self.nulls();
        let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let (mut places, mut alone) = (Vec::with_capacity(self.pieces.len()), Vec::new());
        let mut start = 0;
        for piece in &self.pieces {
            let mut of_piece = Vec::with_capacity(piece.keys.len());
            for (row, key) in (start..).zip(&piece.keys) {
                if *key != [0; 16] {
                    of_piece.push(row);
                } else if !is_null(row) {
                    alone.push(row);
                }
            }
            start += piece.keys.len();
            places.push(of_piece);
        }
        (places, alone, nulls)
    }
}

#[cfg(feature = "parquet")]
impl Firsts {
    /// Whether `keyed` can be inserted while the keys take at most `bytes`.
    pub(crate) fn has_room(&mut self, keyed: &Keyed, bytes: usize) -> bool {
        self.set.limit_to(bytes);
        self.set.fits(&keyed.rows())
    }

    /// Spills the rows of `keyed` whose keys are not known yet; the first value has the number
    /// `start`. The result marks no value as first, and has the nulls of [`Firsts::mark`].
    pub(crate) fn put_aside(
        &self,
        keyed: &mut Keyed,
        aside: &mut RowsAside,
        start: u64,
    ) -> Result<BooleanArray, Error> {
        let (places, alone, nulls) = keyed.places();
        alone.into_iter().try_for_each(|row| aside.keep(start + row as u64))?;
        aside.take(&self.set, &keyed.rows(), |piece, row| start + places[piece][row] as u64)?;
        Ok(BooleanArray::new(BooleanBuffer::new_unset(keyed.len), nulls))
    }
}

/// The keys of a piece, ready for the set, without those of zeros, which are not keys.
fn rows_of(piece: &KeysOfPiece) -> Rows {
    let mut rows = Rows::default();
    for key in piece.keys.iter().filter(|key| **key != [0; 16]) {
        rows.push(Key(u128::from_be_bytes(*key)));
    }
    rows.partition();
    rows
}
