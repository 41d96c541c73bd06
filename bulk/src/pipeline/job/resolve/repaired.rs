//! Targets of references that repairs make valid.

use std::borrow::Cow;

use super::rows::{Text, fields_of, placed};
use super::{Against, ResolveOptions};
use crate::pipeline::Report;
use uriscan_core::context::Context;
use uriscan_core::repair::{Repairs, repair_in};
use uriscan_core::resolve::BaseUri;
use uriscan_core::uri::{UriError, UriErrorKind};

/// Appends the target of `row`, a record without its end, repaired as far as it needs it, to `out`; returns whether it is
/// a reference to the base itself. What is repaired is counted in `report`. On error `out` is as it was.
///
/// # Errors
/// What is wrong with the reference or its base, if repairs do not correct it, at its position in the row, or in the
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
            (Cow::Borrowed(context), Text { bytes: Cow::Borrowed(row.trim_ascii()), at: Some(0) })
        }
        Against::Fields { fields, options } => {
            let [base, reference] = fields_of(fields, row)?;
            let parsed = repaired(None, &base.bytes, repairs, &mut is_changed)
                .and_then(|text| BaseUri::new(&text));
            let base = parsed.map_err(|error| placed(error, base.at))?;
            (Cow::Owned(Context::Base { base, options: *options }), reference)
        }
    };
    let start = out.len();
    let target = repaired(Some(&context), &reference.bytes, repairs, &mut is_changed)
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
