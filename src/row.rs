//! Rows of text tables as records. A row is the bytes that are written, and the value of one of its columns is the
//! URI that is compared.

pub use uriscan_core::row::{OnBadRow, TextFormat, TextTable, other_delimiter};
