//! The reference path of resolution: sections 5.2.2 to 5.2.4 and 5.3, component by component.

use super::base::Base;
#[cfg(any(test, feature = "bulk"))]
use crate::grammar::class::{ALPHA, SCHEME};
use crate::uri::dots::{guard_against_authority, remove_dot_segments};
#[cfg(any(test, feature = "bulk"))]
use crate::uri::split;
use crate::uri::{Components, Split, UriError, strict};

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
    let base = components(base.parts(), base.bytes());
    target_into(&base, &components(&parts, reference), lenient_scheme, out);
    Ok(())
}

/// Appends the target of `reference` to `out`, by the delimiters alone: both `reference` and `base`
/// may hold bytes that the grammar does not allow. For what is valid, the result is that of
/// [`resolve_exact`].
#[cfg(any(test, feature = "bulk"))]
pub(crate) fn resolve_any(base: &[u8], reference: &[u8], out: &mut Vec<u8>) {
    let mut parts = split(reference);
    if parts.scheme.is_some_and(|scheme| !is_scheme(scheme)) {
        // The beginning of a path, such as `1:a`.
        let len = reference.iter().position(|byte| b"?#".contains(byte));
        parts.path = &reference[..len.unwrap_or(reference.len())];
        (parts.scheme, parts.authority) = (None, None);
    }
    target_into(&split(base), &parts, false, out);
}

#[cfg(any(test, feature = "bulk"))]
fn is_scheme(text: &[u8]) -> bool {
    ALPHA.has(text[0]) && text.iter().all(|&byte| SCHEME.has(byte))
}

fn components<'t>(parts: &Components, text: &'t [u8]) -> Split<'t> {
    Split {
        scheme: parts.scheme(text),
        authority: parts.authority(text),
        path: parts.path(text),
        query: parts.query(text),
        fragment: parts.fragment(text),
    }
}

/// Appends the target of a reference with these `parts` to `out`.
fn target_into(base: &Split<'_>, parts: &Split<'_>, lenient_scheme: bool, out: &mut Vec<u8>) {
    let base_scheme = base.scheme.unwrap_or_default();
    let scheme =
        parts.scheme.filter(|scheme| !(lenient_scheme && scheme.eq_ignore_ascii_case(base_scheme)));
    let path = parts.path;

    out.extend_from_slice(scheme.unwrap_or(base_scheme));
    out.push(b':');
    // The authority of the reference, even if undefined, unless both it and the scheme are those of
    // the base.
    let is_inherited = scheme.is_none() && parts.authority.is_none();
    let authority = if is_inherited { base.authority } else { parts.authority };
    if let Some(authority) = authority {
        out.extend_from_slice(b"//");
        out.extend_from_slice(authority);
    }

    let path_start = out.len();
    let mut query = parts.query;
    if is_inherited && path.is_empty() {
        out.extend_from_slice(base.path);
        query = query.or(base.query);
    } else {
        if is_inherited && !path.starts_with(b"/") {
            merge_into(base.authority.is_some(), base.path, out);
        }
        out.extend_from_slice(path);
        remove_dot_segments(out, path_start);
    }
    if authority.is_none() {
        guard_against_authority(out, path_start);
    }
    for (delimiter, component) in [(b'?', query), (b'#', parts.fragment)] {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_a_scheme_begins_a_path() {
        for (reference, expected) in [
            ("foo:x", "foo:x"),
            ("f1+-.:x", "f1+-.:x"),
            ("1a:x", "http://h/p/1a:x"),
            ("a b:x", "http://h/p/a b:x"),
            ("a_b:c?d:e#f", "http://h/p/a_b:c?d:e#f"),
        ] {
            let mut out = Vec::new();
            resolve_any(b"http://h/p/q", reference.as_bytes(), &mut out);
            assert_eq!(out.escape_ascii().to_string(), expected);
        }
    }
}
