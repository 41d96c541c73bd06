//! Resolution by RFC 2396, section 5.2, where it differs from RFC 3986.
//!
//! - A reference without path, scheme, authority and query, such as `#s` or the empty one, is a
//!   reference to the current document (step 2), by its form, not by comparison. Its target is the
//!   base, with the fragment of the reference.
//! - A query alone replaces the last segment too: `?y` against `http://a/b/c` is `http://a/b/?y`.
//! - A reference with a scheme is the target, unchanged (step 3); one with an authority or an
//!   absolute path keeps its path unchanged (steps 4 and 5): dot segments have a meaning in
//!   relative paths only.
//! - `..` with nothing to step back over stay (step 6g): `../../g` against `http://a/b` is
//!   `http://a/../../g`.
//!
//! Two exceptions prevent a change of meaning. Step 6a "failed to account for a base URI with no
//! path" (RFC 3986, D.2): `g` against `http://a` is `http://a/g` here, not `http://ag`. And `/.`
//! stays in front of a path without authority that would otherwise begin with `//`.

use super::{Legacy, LegacyComponents, LegacyForm, parse_rfc2396};
use crate::uri::{UriError, UriErrorKind};

/// A base URI by RFC 2396.
///
/// ```
/// use uriscan::rfc2396::Legacy;
/// use uriscan::rfc2396::{LegacyBase, LegacyTarget};
/// let base = LegacyBase::new(b"http://a/b/c/d;p?q", Legacy::default()).unwrap();
/// let mut out = Vec::new();
/// assert_eq!(base.resolve_into(b"../../../g", false, &mut out), Ok(LegacyTarget::Uri));
/// assert_eq!(out, b"http://a/../g");
/// assert_eq!(base.resolve_into(b"#s", false, &mut Vec::new()), Ok(LegacyTarget::CurrentDocument));
/// ```
#[derive(Clone, Debug)]
pub struct LegacyBase {
    /// The bytes without the fragment.
    text: Vec<u8>,
    parts: LegacyComponents,
    legacy: Legacy,
}

/// The kind of the target of a reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LegacyTarget {
    /// A URI of its own.
    Uri,
    /// A reference to the current document (4.2).
    CurrentDocument,
}

impl LegacyBase {
    /// Parses `text` as a base URI, without its fragment and `#`.
    ///
    /// # Errors
    /// Those of [`parse_rfc2396`]; [`UriErrorKind::Relative`] at byte 0 if `text` has no scheme.
    pub fn new(text: &[u8], legacy: Legacy) -> Result<LegacyBase, UriError> {
        let parts = parse_rfc2396(text, legacy)?;
        if !parts.is_absolute() {
            return Err(UriError { kind: UriErrorKind::Relative, at: 0 });
        }
        let parts = LegacyComponents { len: parts.query_end, ..parts };
        Ok(LegacyBase { text: text[..parts.len as usize].to_vec(), parts, legacy })
    }

    /// The base URI, without a fragment.
    pub fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Appends the target of `reference` to `out`; that of a reference to the current document is
    /// the base with the fragment of the reference.
    ///
    /// With `lenient_scheme` the scheme of a reference is ignored if it is that of the base, in any
    /// case, and the base is hierarchical (step 3).
    ///
    /// # Errors
    /// Those of [`parse_rfc2396`]; [`UriErrorKind::Relative`] at byte 0 for a relative reference if
    /// the base is opaque (section 5). `out` is unchanged then.
    pub fn resolve_into(
        &self,
        reference: &[u8],
        lenient_scheme: bool,
        out: &mut Vec<u8>,
    ) -> Result<LegacyTarget, UriError> {
        let mut reference = reference;
        let mut parts = parse_rfc2396(reference, self.legacy)?;
        let is_opaque = self.parts.form == LegacyForm::OpaquePart;
        let base_scheme = &self.text[..self.parts.scheme_end as usize];
        if let Some(scheme) = parts.scheme(reference) {
            let rest = &reference[scheme.len() + 1..];
            let is_loophole =
                lenient_scheme && !is_opaque && scheme.eq_ignore_ascii_case(base_scheme);
            match parse_rfc2396(rest, self.legacy) {
                // A text with a colon in its first segment is not a relative reference without the
                // scheme.
                Ok(relative) if is_loophole && !relative.is_absolute() => {
                    (reference, parts) = (rest, relative);
                }
                _ => {
                    out.extend_from_slice(reference);
                    return Ok(LegacyTarget::Uri);
                }
            }
        }
        let fragment = &reference[parts.query_end as usize..];
        if parts.form == LegacyForm::Empty && parts.query(reference).is_none() {
            out.extend_from_slice(&self.text);
            out.extend_from_slice(fragment);
            return Ok(LegacyTarget::CurrentDocument);
        }
        if is_opaque {
            return Err(UriError { kind: UriErrorKind::Relative, at: 0 });
        }
        match parts.form {
            LegacyForm::NetPath => {
                out.extend_from_slice(base_scheme);
                out.push(b':');
                out.extend_from_slice(reference);
            }
            LegacyForm::AbsPath => {
                out.extend_from_slice(&self.text[..self.parts.path_start as usize]);
                out.extend_from_slice(reference);
            }
            _ => self.merge_into(parts.path(reference), &reference[parts.path_end as usize..], out),
        }
        Ok(LegacyTarget::Uri)
    }

    /// Step 6, for a relative path; `rest` is what follows it, query and fragment.
    fn merge_into(&self, path: &[u8], rest: &[u8], out: &mut Vec<u8>) {
        out.extend_from_slice(&self.text[..self.parts.path_start as usize]);
        let start = out.len();
        let base_path = self.parts.path(&self.text);
        // a), b)
        let directory = memchr::memrchr(b'/', base_path).map_or(0, |slash| slash + 1);
        out.extend_from_slice(&base_path[..directory]);
        if directory == 0 {
            out.push(b'/');
        }
        out.extend_from_slice(path);
        crate::uri::dots::remove_dot_segments_of_rfc2396(out, start);
        if self.parts.authority_start == 0 {
            crate::uri::dots::guard_against_authority(out, start);
        }
        out.extend_from_slice(rest);
    }
}
