//! Deduplication of columns, array after array.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_array::builder::BooleanBufferBuilder;
use arrow_array::{Array, BooleanArray};
use arrow_buffer::NullBuffer;
use rayon::prelude::*;

use super::canonical::{By, Keys, KeysOfPiece};
use super::column::Column;
use super::pieces::each_piece;
use super::text::Validity;
use super::{Columns, Error, collect};
use uriscan_bulk::pipeline::Invalid;
use uriscan_core::dedup::{Rows, Set};
use uriscan_core::key::{Hasher, Key};

/// Marks the values that are the first of their class, over any number of arrays.
///
/// ```
/// use arrow_array::{BooleanArray, StringArray};
/// use uriscan_arrow::{Columns, Firsts};
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

    /// Ends calls early with [`ErrorKind::Stopped`](crate::ErrorKind::Stopped) once `stop` is set by another thread.
    pub fn stop(&mut self, stop: Arc<AtomicBool>) {
        self.columns.stop = Some(stop);
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
    /// See [`Error`]. On error, no value of this array counts as seen.
    pub fn mark(&mut self, values: &dyn Array) -> Result<BooleanArray, Error> {
        let hasher = self.columns.equivalence.run_hasher(&self.columns.hasher, None);
        let mut keyed = self.columns.keyed(values, &hasher)?;
        self.set.insert(&keyed.rows());
        Ok(keyed.firsts())
    }
}

impl Columns {
    /// The keys of `values` by `hasher`, one that [`uriscan_bulk::pipeline::Equivalence::run_hasher`] gave.
    pub fn keyed(&self, values: &dyn Array, hasher: &Hasher) -> Result<Keyed, Error> {
        let values = super::spelled_out(values)?;
        let column = Column::new(&values)?;
        let by = match hasher.public_hasher() {
            None => By::Run(hasher.clone()),
            Some(public) => By::Public(public.clone()),
        };
        let work = Keys { columns: self, by, takes_empty: false };
        let pieces = each_piece(self, &column, &work)?;
        let invalid = collect(self.on_invalid, pieces.iter().map(|piece| piece.faults))?;
        let rows = pieces.par_iter().map(|piece| rows_of(piece, hasher)).collect();
        Ok(Keyed { pieces, rows, invalid, len: column.len() })
    }
}

/// The keys of an array.
pub struct Keyed {
    pieces: Vec<KeysOfPiece>,
    rows: Vec<Rows>,
    /// How many values are invalid.
    pub invalid: Invalid,
    len: usize,
}

impl Keyed {
    /// The keys, piece by piece.
    pub fn rows(&self) -> Vec<&Rows> {
        self.rows.iter().collect()
    }

    /// What [`Firsts::mark`] says, once it is known of [`Keyed::rows`] which are first. May be called once.
    pub fn firsts(&mut self) -> BooleanArray {
        let mut bits = BooleanBufferBuilder::new(self.len);
        for (piece, rows) in self.pieces.iter().zip(&self.rows) {
            let mut next = 0;
            for key in &piece.keys {
                let has_key = *key != [0; 16];
                bits.append(!has_key || rows.is_first(next));
                next += usize::from(has_key);
            }
        }
        BooleanArray::new(bits.finish(), self.nulls())
    }

    /// The values that are null, or passed over as if they were. May be called once.
    fn nulls(&mut self) -> Option<NullBuffer> {
        Validity::join(self.pieces.iter_mut().map(|piece| &mut piece.validity))
    }

    /// Makes each key one by `hasher` of itself and what `push` appends for its row of the array.
    pub fn join(&mut self, push: &(dyn Fn(usize, &mut Vec<u8>) + Sync), hasher: &Hasher) {
        let starts = self.pieces.iter().scan(0, |rows, piece| {
            let start = *rows;
            *rows += piece.keys.len();
            Some(start)
        });
        let starts: Vec<usize> = starts.collect();
        let work = self.rows.par_iter_mut().zip(&self.pieces).zip(starts);
        work.for_each(|((rows, piece), start)| {
            let (mut joined, mut bytes, mut next) = (Rows::default(), Vec::new(), 0);
            let keyed = (start..).zip(&piece.keys).filter(|(_, key)| **key != [0; 16]);
            for (row, _) in keyed {
                bytes.clear();
                bytes.extend_from_slice(&rows.key(next).0.to_le_bytes());
                push(row, &mut bytes);
                joined.push(hasher.key(&bytes));
                next += 1;
            }
            joined.partition();
            *rows = joined;
        });
    }

    /// Of each piece, the rows of the array that its keys belong to; rows without a key that are too long to be parsed, and so classes
    /// of their own; and which rows are null, or passed over as if they were. May be called once.
    pub fn positions(&mut self) -> (Vec<Vec<usize>>, Vec<usize>, Option<NullBuffer>) {
        let nulls = self.nulls();
        let is_null = |row| nulls.as_ref().is_some_and(|nulls| nulls.is_null(row));
        let mut start = 0;
        let starts = self.pieces.iter().map(|piece| {
            start += piece.keys.len();
            start - piece.keys.len()
        });
        let starts: Vec<usize> = starts.collect();
        let of_pieces = self.pieces.par_iter().zip(starts).map(|(piece, start)| {
            let (mut of_piece, mut alone) = (Vec::with_capacity(piece.keys.len()), Vec::new());
            for (row, key) in (start..).zip(&piece.keys) {
                if *key != [0; 16] {
                    of_piece.push(row);
                } else if !is_null(row) {
                    alone.push(row);
                }
            }
            (of_piece, alone)
        });
        let (positions, alone): (Vec<Vec<usize>>, Vec<Vec<usize>>) = of_pieces.unzip();
        let alone = alone.concat();
        (positions, alone, nulls)
    }
}

/// The keys of a piece, ready for the set; those of zeros, which represent none, left out.
fn rows_of(piece: &KeysOfPiece, hasher: &Hasher) -> Rows {
    let is_public = hasher.public_hasher().is_some();
    let mut rows = Rows::default();
    for key in piece.keys.iter().filter(|key| **key != [0; 16]) {
        let key = Key(u128::from_be_bytes(*key));
        rows.push(if is_public { hasher.place(key) } else { key });
    }
    rows.partition();
    rows
}
