//! The reference path of resolution: sections 5.2.2 to 5.2.4 and 5.3, component by component.

use super::base::Base;
use crate::uri::dots::{guard_against_authority, remove_dot_segments};
use crate::uri::{Components, UriError, strict};

/// Appends the target of `reference` to `out`, which keeps its content.
///
/// With `lenient_scheme` the scheme of a reference is ignored if it is that of the base, in any
/// case (5.2.2: "a non-strict parser").
///
/// # Errors
/// Those of [`strict::parse`]; `out` is unchanged then.
pub(crate) fn resolve_exact(
    base: &Base<'_>,
    reference: &[u8],
    lenient_scheme: bool,
    out: &mut Vec<u8>,
) -> Result<(), UriError> {
    let parts = strict::parse(reference)?;
    target_into(base, reference, &parts, lenient_scheme, out);
    Ok(())
}

/// [`resolve_exact`] for a reference whose components are `parts`.
fn target_into(
    base: &Base<'_>,
    reference: &[u8],
    parts: &Components,
    lenient_scheme: bool,
    out: &mut Vec<u8>,
) {
    let (base_text, base) = (base.bytes(), base.parts());
    let base_scheme = &base_text[..base.scheme_end as usize];
    let scheme = parts
        .scheme(reference)
        .filter(|scheme| !(lenient_scheme && scheme.eq_ignore_ascii_case(base_scheme)));
    let path = parts.path(reference);

    out.extend_from_slice(scheme.unwrap_or(base_scheme));
    out.push(b':');
    // The authority of the reference, even if undefined, unless both it and the scheme are those of
    // the base.
    let is_inherited = scheme.is_none() && parts.authority(reference).is_none();
    let authority =
        if is_inherited { base.authority(base_text) } else { parts.authority(reference) };
    if let Some(authority) = authority {
        out.extend_from_slice(b"//");
        out.extend_from_slice(authority);
    }

    let path_start = out.len();
    let mut query = parts.query(reference);
    if is_inherited && path.is_empty() {
        out.extend_from_slice(base.path(base_text));
        query = query.or(base.query(base_text));
    } else {
        if is_inherited && !path.starts_with(b"/") {
            merge_into(base.authority_start != 0, base.path(base_text), out);
        }
        out.extend_from_slice(path);
        remove_dot_segments(out, path_start);
    }
    if authority.is_none() {
        guard_against_authority(out, path_start);
    }
    for (delimiter, component) in [(b'?', query), (b'#', parts.fragment(reference))] {
        if let Some(component) = component {
            out.push(delimiter);
            out.extend_from_slice(component);
        }
    }
}

/// Appends the part of the base that 5.2.3 puts before a relative path.
fn merge_into(has_authority: bool, base_path: &[u8], out: &mut Vec<u8>) {
    if has_authority && base_path.is_empty() {
        out.push(b'/');
    } else {
        let directory = memchr::memrchr(b'/', base_path).map_or(0, |slash| slash + 1);
        out.extend_from_slice(&base_path[..directory]);
    }
}
