//! Rows with a base of their own, resolved by RFC 2396.

use super::rows::{fields_of, placed};
use crate::io::Fields;
use uriscan_core::rfc2396::{Legacy, LegacyBase, LegacyTarget};
use uriscan_core::uri::UriError;

/// Rows, one after the other.
#[derive(Default)]
pub(super) struct LegacyRows {
    /// The base of the row before, which is often that of the next, as it was written and parsed.
    last: Option<(Vec<u8>, LegacyBase)>,
}

impl LegacyRows {
    /// Appends the target of `row` to `out`, which is unchanged when there is none; an error counts from the
    /// start of the row.
    pub(super) fn resolve_into(
        &mut self,
        (row, fields): (&[u8], &Fields),
        (legacy, lenient_scheme): (Legacy, bool),
        out: &mut Vec<u8>,
    ) -> Result<LegacyTarget, UriError> {
        let [base, reference] = fields_of(fields, row)?;
        let is_last = |(text, _): &(Vec<u8>, LegacyBase)| text[..] == *base.bytes;
        let (_, parsed) = match self.last.take().filter(is_last) {
            Some(last) => self.last.insert(last),
            None => {
                let parsed = LegacyBase::new(&base.bytes, legacy);
                let parsed = parsed.map_err(|error| placed(error, base.at))?;
                self.last.insert((base.bytes.into_owned(), parsed))
            }
        };
        let target = parsed.resolve_into(&reference.bytes, lenient_scheme, out);
        target.map_err(|error| placed(error, reference.at))
    }
}
