//! Values of a column of text.

use arrow_array::ArrayRef;

use uriscan_arrow::{each_value, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_core::index::trimmed;

/// Which rows of `array` have no URI: null, or white space only.
pub(crate) fn blank(array: &ArrayRef) -> Result<Vec<bool>, Error> {
    let values = spelled_out(array)?;
    Ok(each_value(&values).map(|value| trimmed(value.unwrap_or_default()).is_empty()).collect())
}
