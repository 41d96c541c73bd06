//! The non-validating split of RFC 3986 Appendix B, and its inverse (section 5.3).
//!
//! ```text
//! ^(([^:/?#]+):)?(//([^/?#]*))?([^?#]*)(\?([^#]*))?(#(.*))?
//!  12            3  4          5       6  7        8 9
//! ```
//!
//! Every byte string has exactly one such split. It does not validate (its scheme may be `1 a`),
//! and agrees with [`parse`](super::parse) wherever that accepts.

use memchr::{memchr, memchr2, memchr3};

/// The five components of a reference: the groups 2, 4, 5, 7 and 9 of Appendix B's expression;
/// `None` is undefined, which is not the same as empty.
///
/// ```
/// use uriscan::uri::split;
/// let reference = b"http://www.ics.uci.edu/pub/ietf/uri/#Related";
/// let parts = split(reference);
/// assert_eq!(parts.scheme, Some(&b"http"[..]));
/// assert_eq!(parts.authority, Some(&b"www.ics.uci.edu"[..]));
/// assert_eq!(parts.path, b"/pub/ietf/uri/");
/// assert_eq!(parts.query, None);
/// assert_eq!(parts.fragment, Some(&b"Related"[..]));
/// assert_eq!(parts.recompose(), reference);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Split<'t> {
    /// `$2`, without its `:`.
    pub scheme: Option<&'t [u8]>,
    /// `$4`, without its `//`.
    pub authority: Option<&'t [u8]>,
    /// `$5`; always defined, possibly empty.
    pub path: &'t [u8],
    /// `$7`, without its `?`.
    pub query: Option<&'t [u8]>,
    /// `$9`, without its `#`.
    pub fragment: Option<&'t [u8]>,
}

/// Splits any bytes into the five components of Appendix B. Linear in the length, never allocates,
/// never fails.
pub fn split(text: &[u8]) -> Split<'_> {
    let (scheme, authority, rest) = split_head(text);

    // ([^?#]*)
    let (path, mut rest) = cut(rest, memchr2(b'?', b'#', rest));

    // (\?([^#]*))?
    let mut query = None;
    if let Some(after) = rest.strip_prefix(b"?") {
        let (run, after) = cut(after, memchr(b'#', after));
        query = Some(run);
        rest = after;
    }

    // (#(.*))?  where "." is any byte
    let fragment = rest.strip_prefix(b"#");

    Split { scheme, authority, path, query, fragment }
}

/// What is before the path of `text`, and the rest.
type Head<'t> = (Option<&'t [u8]>, Option<&'t [u8]>, &'t [u8]);

/// The scheme and the authority of [`split`], and what follows them.
#[inline]
pub(crate) fn split_head(text: &[u8]) -> Head<'_> {
    let mut rest = text;

    // (([^:/?#]+):)?
    let mut scheme = None;
    let is_stop = |byte: &u8| matches!(byte, b':' | b'/' | b'?' | b'#');
    if let Some(end @ 1..) = rest.iter().position(is_stop)
        && rest[end] == b':'
    {
        scheme = Some(&rest[..end]);
        rest = &rest[end + 1..];
    }

    // (//([^/?#]*))?
    let mut authority = None;
    if let Some(after) = rest.strip_prefix(b"//") {
        let (run, after) = cut(after, memchr3(b'/', b'?', b'#', after));
        authority = Some(run);
        rest = after;
    }
    (scheme, authority, rest)
}

/// What is before the offset `at` of `text`, and the rest; without it all of `text`.
#[inline(always)]
fn cut(text: &[u8], at: Option<usize>) -> (&[u8], &[u8]) {
    text.split_at(at.unwrap_or(text.len()))
}

impl Split<'_> {
    /// Appends the reference that these components form (section 5.3) to `out`.
    pub fn recompose_into(&self, out: &mut Vec<u8>) {
        if let Some(scheme) = self.scheme {
            out.extend_from_slice(scheme);
            out.push(b':');
        }
        if let Some(authority) = self.authority {
            out.extend_from_slice(b"//");
            out.extend_from_slice(authority);
        }
        out.extend_from_slice(self.path);
        if let Some(query) = self.query {
            out.push(b'?');
            out.extend_from_slice(query);
        }
        if let Some(fragment) = self.fragment {
            out.push(b'#');
            out.extend_from_slice(fragment);
        }
    }

    /// The reference that these components form (section 5.3); the inverse of [`split`].
    pub fn recompose(&self) -> Vec<u8> {
        let mut out = Vec::new();
        self.recompose_into(&mut out);
        out
    }
}

/// Offsets of the start and the end of the host in an authority.
#[inline]
pub fn host_in(authority: &[u8]) -> (usize, usize) {
    let start = memchr::memrchr(b'@', authority).map_or(0, |at| at + 1);
    let host = &authority[start..];
    // Skips the colons inside an IP literal.
    let literal = if host.first() == Some(&b'[') { memchr::memchr(b']', host) } else { None };
    let from = literal.unwrap_or(0);
    let end = memchr::memchr(b':', &host[from..]).map_or(host.len(), |colon| from + colon);
    (start, start + end)
}

/// The host in an authority.
#[inline]
pub fn host_of(authority: &[u8]) -> &[u8] {
    let (start, end) = host_in(authority);
    &authority[start..end]
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `(text, scheme, authority, path, query, fragment)`
    type Row<'t> =
        (&'t str, Option<&'t str>, Option<&'t str>, &'t str, Option<&'t str>, Option<&'t str>);

    const ROWS: &[Row<'_>] = &[
        ("", None, None, "", None, None),
        (":", None, None, ":", None, None),
        ("a:", Some("a"), None, "", None, None),
        ("1 a:b", Some("1 a"), None, "b", None, None),
        ("a:b:c", Some("a"), None, "b:c", None, None),
        ("/a:b", None, None, "/a:b", None, None),
        ("//", None, Some(""), "", None, None),
        ("a:///b", Some("a"), Some(""), "/b", None, None),
        ("//a//b", None, Some("a"), "//b", None, None),
        ("//a?b", None, Some("a"), "", Some("b"), None),
        ("//a#b", None, Some("a"), "", None, Some("b")),
        ("//u@h:1/p?q?r#f?#", None, Some("u@h:1"), "/p", Some("q?r"), Some("f?#")),
        ("?", None, None, "", Some(""), None),
        ("#", None, None, "", None, Some("")),
        ("?#", None, None, "", Some(""), Some("")),
        ("#?", None, None, "", None, Some("?")),
        ("a?b:c", None, None, "a", Some("b:c"), None),
        ("a#\nb", None, None, "a", None, Some("\nb")),
    ];

    #[test]
    fn splitting_agrees_with_the_regular_expression_of_the_rfc() {
        for &(text, scheme, authority, path, query, fragment) in ROWS {
            let expected = Split {
                scheme: scheme.map(str::as_bytes),
                authority: authority.map(str::as_bytes),
                path: path.as_bytes(),
                query: query.map(str::as_bytes),
                fragment: fragment.map(str::as_bytes),
            };
            assert_eq!(split(text.as_bytes()), expected, "{text:?}");
            assert_eq!(expected.recompose(), text.as_bytes(), "{text:?}");
        }
    }

    /// The expression, literally.
    fn simple_split(text: &[u8]) -> Split<'_> {
        fn until<'t>(text: &'t [u8], stops: &[u8]) -> (&'t [u8], &'t [u8]) {
            let end = text.iter().position(|byte| stops.contains(byte)).unwrap_or(text.len());
            text.split_at(end)
        }
        let mut rest = text;
        let (run, after) = until(rest, b":/?#");
        let has_scheme = !run.is_empty() && after.first() == Some(&b':');
        let scheme = has_scheme.then_some(run);
        rest = if has_scheme { &after[1..] } else { rest };
        let mut part = |start: &[u8], stops: &[u8]| {
            let (run, after) = until(rest.strip_prefix(start)?, stops);
            rest = after;
            Some(run)
        };
        Split {
            scheme,
            authority: part(b"//", b"/?#"),
            path: part(b"", b"?#").unwrap_or_default(),
            query: part(b"?", b"#"),
            fragment: part(b"#", b""),
        }
    }

    proptest! {
        #[test]
        fn splitting_agrees_with_a_simple_twin(
            text in "[a:/?#@\\[]{0,12}",
            bytes in proptest::collection::vec(any::<u8>(), 0..200),
        ) {
            prop_assert_eq!(split(text.as_bytes()), simple_split(text.as_bytes()));
            prop_assert_eq!(split(&bytes), simple_split(&bytes));
        }
    }
}
