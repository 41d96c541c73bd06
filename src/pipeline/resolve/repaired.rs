//! Targets of references that repairs make valid.

use std::borrow::Cow;

use super::{Against, ResolveOptions};
use crate::chunk::Span;
use crate::io::Fields;
use crate::io::fields::{columns, members};
use crate::pipeline::Report;
use crate::repair::{Repairs, repair};
use crate::resolve::{BaseUri, Context};
use crate::uri::{ErrorKind, UriError};

/// Appends the target of `row`, a record without its end, repaired as far as it needs it, to `out`; returns whether it is
/// a reference to the base itself. What is repaired is counted in `report`. On error `out` is as it was.
///
/// # Errors
/// What is wrong with the reference or its base, if repairs do not mend it; any grammar other than RFC 3986.
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
            return Err(UriError::new(ErrorKind::Field, 0));
        }
        Against::Context(context) => (Cow::Borrowed(context), Cow::Borrowed(row)),
        Against::Fields { fields, options } => {
            let [base, reference] = of_row(fields, row)?;
            let base = BaseUri::new(&repaired(base.trim_ascii(), repairs, &mut is_changed)?)?;
            (Cow::Owned(Context::Base { base, options: *options }), reference)
        }
    };
    let reference = repaired(reference.trim_ascii(), repairs, &mut is_changed)?;
    let start = out.len();
    if let Err(error) = context.append_target(&reference, out) {
        out.truncate(start);
        return Err(error);
    }
    report.repaired += u64::from(is_changed);
    Ok(match &*context {
        Context::Base { base, .. } => base.view().is_same_document(&out[start..]),
        _ => false,
    })
}

/// The base and the reference of `row`.
fn of_row<'r>(fields: &Fields, row: &'r [u8]) -> Result<[Cow<'r, [u8]>; 2], UriError> {
    let bytes = |text: Cow<'r, str>| match text {
        Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes()),
        Cow::Owned(text) => Cow::Owned(text.into_bytes()),
    };
    match fields {
        Fields::Tsv { base, reference } => {
            let whole = Span { start: 0, end: row.len() as u32 };
            let (base, reference) = columns(row, whole, *base, *reference)?;
            Ok([Cow::Borrowed(base.of(row)), Cow::Borrowed(reference.of(row))])
        }
        Fields::Jsonl { base, reference } => {
            let (base, reference) = members(row, base, reference)?;
            Ok([bytes(base.text), bytes(reference.text)])
        }
    }
}

/// `text` as repaired; sets `is_changed` if that is not `text`.
fn repaired(text: &[u8], repairs: Repairs, is_changed: &mut bool) -> Result<Vec<u8>, UriError> {
    let mut out = Vec::with_capacity(text.len());
    *is_changed |= !repair(text, repairs, &mut out)?.is_empty();
    Ok(out)
}
