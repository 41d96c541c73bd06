//! Values of a column of text.

use arrow_array::ArrayRef;

use super::Error;
use crate::arrow::{each_value, spelled_out};

/// Which rows of `array` have no URI: null, or white space only.
pub(super) fn blank(array: &ArrayRef) -> Result<Vec<bool>, Error> {
    let values = spelled_out(array)?;
    Ok(each_value(&values).map(|value| trimmed(value.unwrap_or_default()).is_empty()).collect())
}

/// A value without surrounding white space, which is not part of a record.
pub(super) fn trimmed(value: &[u8]) -> &[u8] {
    let is_text = |&byte: &u8| !matches!(byte, b' ' | b'\t'..=b'\r');
    let start = value.iter().position(is_text).unwrap_or(value.len());
    let end = value.iter().rposition(is_text).map_or(start, |last| last + 1);
    &value[start..end]
}
