//! Rows with a base of their own, resolved by RFC 2396.

use super::super::resolve::rows::{placed, trimmed};
use crate::io::Fields;
use crate::io::write::fields::{columns, members};
use uriscan_core::chunk::Span;
use uriscan_core::index::trim;
use uriscan_core::rfc2396::Legacy;
use uriscan_core::rfc2396::{LegacyBase, LegacyTarget};
use uriscan_core::uri::UriError;

/// A row, and how it is read.
#[derive(Clone, Copy)]
pub(in crate::pipeline::job) struct LegacyRow<'a> {
    pub(in crate::pipeline::job) fields: &'a Fields,
    pub(in crate::pipeline::job) legacy: Legacy,
    pub(in crate::pipeline::job) lenient_scheme: bool,
    /// The chunk, with the bytes after it.
    pub(in crate::pipeline::job) text: &'a [u8],
    pub(in crate::pipeline::job) line: Span,
}

/// Rows, one after the other.
#[derive(Default)]
pub(in crate::pipeline::job) struct LegacyRows {
    /// The base of the row before, which is often that of the next, as it was written and parsed.
    last: Option<(Vec<u8>, LegacyBase)>,
}

impl LegacyRows {
    /// Appends the target of `row` to `out`, which is unchanged when there is none; an error counts from the
    /// start of the row.
    pub(in crate::pipeline::job) fn resolve_into(
        &mut self,
        row: LegacyRow<'_>,
        out: &mut Vec<u8>,
    ) -> Result<LegacyTarget, UriError> {
        let LegacyRow { text, line, .. } = row;
        match row.fields {
            Fields::Tsv { base, reference } => {
                let (base, reference) = columns(text, line, *base, *reference)?;
                let (base, reference) = (trim(text, base), trim(text, reference));
                let at = |field: Span| Some(field.start - line.start);
                let fields = [(base.of(text), at(base)), (reference.of(text), at(reference))];
                self.target_into(row, fields, out)
            }
            Fields::Jsonl { base, reference } => {
                let (base, reference) = members(line.of(text), base, reference)?;
                self.target_into(row, [trimmed(&base), trimmed(&reference)], out)
            }
        }
    }

    /// [`LegacyRows::resolve_into`], given the base and the reference, and where they begin in the row.
    fn target_into(
        &mut self,
        row: LegacyRow<'_>,
        [(base, base_at), (reference, at)]: [(&[u8], Option<u32>); 2],
        out: &mut Vec<u8>,
    ) -> Result<LegacyTarget, UriError> {
        let is_last = |(text, _): &(Vec<u8>, LegacyBase)| text == base;
        let (_, base) = match self.last.take().filter(is_last) {
            Some(last) => self.last.insert(last),
            None => {
                let parsed = LegacyBase::new(base, row.legacy).map_err(|e| placed(e, base_at))?;
                self.last.insert((base.to_vec(), parsed))
            }
        };
        base.resolve_into(reference, row.lenient_scheme, out).map_err(|error| placed(error, at))
    }
}
