//! Batches of rows, and how many of them are read and written at a time.

use arrow_array::{Array, ArrayRef, RecordBatch};

/// Rows of a batch, where that is for us to say.
pub(super) const BATCH_ROWS: usize = if cfg!(test) { 1 << 10 } else { 1 << 16 };

/// Rows of a unit, about: what is read or written by one thread at a time.
pub(super) const UNIT_ROWS: usize = if cfg!(test) { 3 << 10 } else { 1 << 18 };

/// Approximate size of such a unit in bytes, where batches have many.
pub(super) const UNIT_BYTES: usize = if cfg!(test) { 1 << 20 } else { 256 << 20 };

/// Approximate size of a batch of lines in bytes.
pub(super) const BATCH_BYTES: usize = if cfg!(test) { 1 << 18 } else { 64 << 20 };

/// Some batches, one after the other.
pub(super) type Unit = Vec<RecordBatch>;

/// Bytes of the values of `batch`, however they are held.
pub(super) fn bytes_of(batch: &RecordBatch) -> usize {
    let of_column = |column: &ArrayRef| column.to_data().get_slice_memory_size().unwrap_or(0);
    batch.columns().iter().map(of_column).sum()
}
