//! Deduplication of columns, array after array.

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{Array, BooleanArray};
use rayon::prelude::*;

use super::canonical::{Keys, KeysOfPiece};
use super::column::Column;
use super::pieces::each_piece;
use super::text::Validity;
use super::{ColumnError, Columns, judge};
use crate::dedup::{Rows, Set};
use crate::key::Key;
use crate::pipeline::Invalid;

/// Tells which values are the first of their class, over as many arrays as come.
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
    /// Nothing seen so far; keys are made as by `columns`.
    pub fn new(columns: Columns) -> Firsts {
        Firsts { columns, set: Set::new() }
    }

    /// Number of classes seen so far. Values too long to be judged belong to none.
    pub fn classes(&self) -> usize {
        self.set.len()
    }

    /// For every value, whether it is the first of its class in this array and all before; null where it is null or
    /// nothing but white space, as blank lines are passed over, and for invalid values under [`super::OnInvalid::Null`]. A value too long to be judged is always the first.
    ///
    /// # Errors
    /// See [`ColumnError`]; then nothing of this array has been seen.
    pub fn mark(&mut self, values: &dyn Array) -> Result<BooleanArray, ColumnError> {
        self.mark_counting(values).map(|(marks, _)| marks)
    }

    /// [`Firsts::mark`], and how many values are invalid.
    pub(crate) fn mark_counting(
        &mut self,
        values: &dyn Array,
    ) -> Result<(BooleanArray, Invalid), ColumnError> {
        let values = super::spelled_out(values)?;
        let column = Column::new(&values)?;
        let hasher = self.columns.equivalence.hasher(self.columns.hasher);
        let work = Keys { columns: &self.columns, hasher, takes_empty: false };
        let mut pieces = each_piece(self.columns.kernels, &column, &work);
        let invalid = judge(self.columns.on_invalid, pieces.iter().map(|piece| piece.faults))?;
        let rows: Vec<Rows> = pieces.par_iter().map(rows_of).collect();
        self.set.insert(&rows.iter().collect::<Vec<_>>());
        let mut bits = BooleanBufferBuilder::new(column.len());
        for (piece, rows) in pieces.iter().zip(&rows) {
            let mut next = 0;
            for key in &piece.keys {
                let has_key = *key != [0; 16];
                bits.append(!has_key || rows.is_first(next));
                next += usize::from(has_key);
            }
        }
        let nulls = Validity::join(pieces.iter_mut().map(|piece| &mut piece.validity));
        Ok((BooleanArray::new(bits.finish(), nulls), invalid))
    }
}

/// The keys of a piece, ready for the set; those of zeros, which stand for none, left out.
fn rows_of(piece: &KeysOfPiece) -> Rows {
    let mut rows = Rows::default();
    for key in piece.keys.iter().filter(|key| **key != [0; 16]) {
        rows.push(Key(u128::from_be_bytes(*key)));
    }
    rows.partition();
    rows
}
