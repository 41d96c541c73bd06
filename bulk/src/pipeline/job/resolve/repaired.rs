//! Targets of references that repairs make valid.

use std::borrow::Cow;

use super::rows::{placed, trimmed};
use super::{Against, ResolveOptions};
use crate::io::Fields;
use crate::io::write::fields::{columns, members};
use crate::pipeline::Report;
use uriscan_core::chunk::Span;
use uriscan_core::context::Context;
use uriscan_core::repair::{Repairs, repair_in};
use uriscan_core::resolve::BaseUri;
use uriscan_core::uri::{UriError, UriErrorKind};

/// Appends the target of `row`, a record without its end, repaired as far as it needs it, to `out`; returns whether it is
/// a reference to the base itself. What is repaired is counted in `report`. On error `out` is as it was.
///
/// # Errors
/// What is wrong with the reference or its base, if repairs do not mend it, at its position in the row, or in the
/// reference if that is all of the row; any grammar other than RFC 3986.
#[cold]
#[inline(never)]
pub(super) fn resolve_into(
    options: &ResolveOptions,
    row: &[u8],
    report: &mut Report,
    out: &mut Vec<u8>,
) -> Result<bool, UriError> {
    let repairs = options.repairs;
    let mut is_changed = false;
    let (context, reference) = match &options.against {
        Against::Context(Context::Legacy { .. }) | Against::LegacyFields { .. } => {
            return Err(UriError::new(UriErrorKind::Field, 0));
        }
        Against::Context(context) => {
            (Cow::Borrowed(context), Field { text: Cow::Borrowed(row.trim_ascii()), at: Some(0) })
        }
        Against::Fields { fields, options } => {
            let [base, reference] = of_row(fields, row)?;
            let parsed = repaired(None, &base.text, repairs, &mut is_changed)
                .and_then(|text| BaseUri::new(&text));
            let base = parsed.map_err(|error| placed(error, base.at))?;
            (Cow::Owned(Context::Base { base, options: *options }), reference)
        }
    };
    let start = out.len();
    let target = repaired(Some(&context), &reference.text, repairs, &mut is_changed)
        .and_then(|text| context.append_target(&text, out));
    if let Err(error) = target {
        out.truncate(start);
        return Err(placed(error, reference.at));
    }
    report.repaired += u64::from(is_changed);
    Ok(match &*context {
        Context::Base { base, .. } => base.view().is_same_document(&out[start..]),
        _ => false,
    })
}

/// A field without white space around it, and where it begins in the row, as far as that is known.
struct Field<'r> {
    text: Cow<'r, [u8]>,
    at: Option<u32>,
}

/// The base and the reference of `row`.
fn of_row<'r>(fields: &Fields, row: &'r [u8]) -> Result<[Field<'r>; 2], UriError> {
    match fields {
        Fields::Tsv { base, reference } => {
            let whole = Span { start: 0, end: row.len() as u32 };
            let (base, reference) = columns(row, whole, *base, *reference)?;
            Ok([base, reference].map(|span| {
                let text = span.of(row).trim_ascii_start();
                let at = Some(span.end - text.len() as u32);
                Field { text: Cow::Borrowed(text.trim_ascii_end()), at }
            }))
        }
        Fields::Jsonl { base, reference } => {
            let (base, reference) = members(row, base, reference)?;
            Ok([base, reference].map(|member| {
                let (text, at) = trimmed(&member);
                Field { text: Cow::Owned(text.to_vec()), at }
            }))
        }
    }
}

/// `text`, a reference in `context`, as repaired; sets `is_changed` if that is not `text`.
fn repaired(
    context: Option<&Context>,
    text: &[u8],
    repairs: Repairs,
    is_changed: &mut bool,
) -> Result<Vec<u8>, UriError> {
    let mut out = Vec::with_capacity(text.len());
    *is_changed |= !repair_in(context, text, repairs, &mut out)?.is_empty();
    Ok(out)
}
