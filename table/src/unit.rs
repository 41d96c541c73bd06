//! Batches of rows, and how many of them are read and written at a time.

use arrow_array::{Array, ArrayRef, RecordBatch};

/// Rows of a batch, where the format does not decide it.
pub(crate) const BATCH_ROWS: usize = if cfg!(test) { 1 << 10 } else { 1 << 16 };

/// Approximate number of rows of a unit: what one thread reads or writes at a time.
pub(crate) const UNIT_ROWS: usize = if cfg!(test) { 3 << 10 } else { 1 << 18 };

/// Approximate size of a unit in bytes, where rows are long.
pub(crate) const UNIT_BYTES: usize = if cfg!(test) { 1 << 20 } else { 256 << 20 };

/// Approximate size of a batch of lines in bytes.
pub(crate) const BATCH_BYTES: usize = if cfg!(test) { 1 << 18 } else { 64 << 20 };

/// Columns of the widest table whose columns are built: each takes memory in every batch, whatever it has.
pub(crate) const MOST_COLUMNS: usize = if cfg!(test) { 1 << 10 } else { 1 << 14 };

/// Values in a batch and in a unit, about, however many columns they are in: an absent one takes memory too.
const BATCH_CELLS: usize = 8 << 20;
pub(crate) const UNIT_CELLS: usize = 32 << 20;

/// Rows of a batch of so many `columns`, at most `rows`.
pub(crate) fn batch_rows(columns: usize, rows: usize) -> usize {
    rows.min(BATCH_CELLS / columns.max(1)).max(1)
}

pub(crate) type Unit = Vec<RecordBatch>;

/// Bytes of the values of `batch`, whatever their layout.
pub(crate) fn bytes_of(batch: &RecordBatch) -> usize {
    let of_column = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
    batch.columns().iter().map(of_column).sum()
}
