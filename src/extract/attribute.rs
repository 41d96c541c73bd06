//! Which attributes of which elements hold links.

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
