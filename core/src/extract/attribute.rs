//! Which attributes of which elements hold links, and their values.

use std::borrow::Cow;

use super::Context;

/// The kind of link that the attribute of this name holds, if any; a `content` counts only if its
/// element is a refresh.
///
/// An element has one counted attribute of each kind, except for `srcset` and `imagesrcset`, which
/// no element has both.
pub(super) fn context(tag: &[u8], attribute: &[u8]) -> Option<Context> {
    let is = |name: &[u8]| attribute.eq_ignore_ascii_case(name);
    let of = |name: &[u8]| tag.eq_ignore_ascii_case(name);
    match attribute.len() {
        3 if is(b"src") => Some(Context::Src),
        4 if is(b"href") => Some(Context::Href),
        4 if is(b"cite") => Some(Context::Cite),
        4 if is(b"data") && of(b"object") => Some(Context::Data),
        6 if is(b"srcset") && !of(b"link") => Some(Context::Srcset),
        6 if is(b"action") && of(b"form") => Some(Context::Action),
        6 if is(b"poster") => Some(Context::Poster),
        7 if is(b"content") && of(b"meta") => Some(Context::Refresh),
        8 if is(b"longdesc") => Some(Context::Longdesc),
        10 if is(b"formaction") => Some(Context::Formaction),
        10 if is(b"background") => Some(Context::Background),
        11 if is(b"imagesrcset") && of(b"link") => Some(Context::Srcset),
        _ => None,
    }
}

/// Whether the attribute of this name holds a link, or decides whether another one does.
pub(super) fn matters(tag: &[u8], attribute: &[u8]) -> bool {
    context(tag, attribute).is_some() || attribute.eq_ignore_ascii_case(b"http-equiv")
}

/// The value of an attribute with its character references decoded.
pub(super) fn decoded(typed: &[u8]) -> Cow<'_, [u8]> {
    const AMPERSAND: &[u8] = b"&amp;";
    if memchr::memchr(b'&', typed).is_none() {
        return Cow::Borrowed(typed);
    }
    // Nearly all of them are this one, between the parameters of a query.
    if !memchr::memchr_iter(b'&', typed).all(|at| typed[at..].starts_with(AMPERSAND)) {
        return htmlize::unescape_bytes_in(typed, htmlize::Context::Attribute);
    }
    let mut out = Vec::with_capacity(typed.len());
    let mut rest = typed;
    while let Some(at) = memchr::memchr(b'&', rest) {
        out.extend_from_slice(&rest[..=at]);
        rest = &rest[at + AMPERSAND.len()..];
    }
    out.extend_from_slice(rest);
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::decoded;

    #[test]
    fn character_references_are_those_of_attributes() {
        for typed in [
            "/a",
            "/a?b&amp;c",
            "&amp;",
            "&amp;&amp;x",
            "&amp;amp;",
            "?a&b",
            "?a&amp;b&c",
            "&amp",
            "?a&amp=b",
            "&ampx",
            "&#38;&lt;",
            "&AMP;",
            "&",
        ] {
            let slow = htmlize::unescape_bytes_in(typed.as_bytes(), htmlize::Context::Attribute);
            assert_eq!(decoded(typed.as_bytes()), slow, "{typed}");
        }
    }
}
