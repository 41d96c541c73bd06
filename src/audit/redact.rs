//! References with masked secrets (RFC 3986 section 7.5).

use core::ops::Range;

use super::exact::by_appendix_b;
use super::secret::{self, Part};
use super::{decoded, triplet};
use crate::grammar::class::{ALPHA, SCHEME};
use crate::uri::{Components, parse};

/// Replaces a secret: bytes that a userinfo, a path, a query and a fragment may all hold.
pub const MASK: &[u8] = b"***";

/// Appends `text` to `out` with every secret replaced by [`MASK`]; returns the number of secrets.
///
/// Masked are:
/// - the findings of [`super::Rule::Password`] and [`super::Rule::SecretParameter`];
/// - user names without a password, which may be keys;
/// - `code` and `state` if a query or fragment holds both: the answer of an OAuth server;
/// - all of these in the values of parameters, percent-encoded or not: one level deep, as in
///   `?next=https%3A%2F%2Fh%2F%3Ftoken%3D1`.
///
/// A reference stays a reference: the same components are defined, and their other bytes are
/// unchanged. A text that is not a URI-reference is masked too, as Appendix B splits it. The
/// operation is idempotent.
///
/// ```
/// use uriscan::audit::redact_into;
/// let mut out = Vec::new();
/// assert_eq!(redact_into(b"ftp://joe:s3cret@h/x?a=1&api_key=123#access_token=4", &mut out), 3);
/// assert_eq!(out, b"ftp://joe:***@h/x?a=1&api_key=***#access_token=***");
/// ```
pub fn redact_into(text: &[u8], out: &mut Vec<u8>) -> u32 {
    if !may_hold_secret(text) {
        out.extend_from_slice(text);
        return 0;
    }
    mask_into(text, out)
}

/// [`redact_into`] without the quick test for anything to mask.
fn mask_into(text: &[u8], out: &mut Vec<u8>) -> u32 {
    let mut copied = 0;
    let mut count = 0;
    each_masked(text, |secret| {
        out.extend_from_slice(&text[copied..secret.start]);
        out.extend_from_slice(MASK);
        copied = secret.end;
        count += 1;
    });
    out.extend_from_slice(&text[copied..]);
    count
}

/// Calls `each` for the ranges of `text` that are secret, in order: those that are masked, except
/// user names without a password.
pub(crate) fn each_secret(text: &[u8], each: impl FnMut(Range<usize>)) {
    each_range(text, secret::of_userinfo, each);
}

/// Calls `each` for the ranges of `text` that are masked, in order.
fn each_masked(text: &[u8], each: impl FnMut(Range<usize>)) {
    each_range(text, secret::masked_in_userinfo, each);
}

/// Finds the secret in a userinfo.
type OfUserinfo = fn(&[u8]) -> Option<Range<usize>>;

fn each_range(text: &[u8], of_userinfo: OfUserinfo, mut each: impl FnMut(Range<usize>)) {
    // Callers that use offsets have rejected texts that are too long for them.
    let parts = parse(text).unwrap_or_else(|_| by_appendix_b(text));
    in_userinfo(text, &parts, of_userinfo, &mut each);
    in_components(text, &parts, Part::Path, &mut |component, start, part| {
        in_component(component, part, |range, is_secret| {
            let range = start + range.start..start + range.end;
            if is_secret {
                each(range);
            } else {
                in_value(&text[range.clone()], range.start, of_userinfo, &mut each);
            }
        });
    });
}

/// The secret of a userinfo.
fn in_userinfo(
    text: &[u8],
    parts: &Components,
    of_userinfo: OfUserinfo,
    each: &mut impl FnMut(Range<usize>),
) {
    if let Some(userinfo) = parts.userinfo(text) {
        let start = parts.authority_start as usize;
        if let Some(range) = of_userinfo(userinfo) {
            each(start + range.start..start + range.end);
        }
    }
}

/// Calls `each` for the components that have parameters, with their start and syntax; the path as
/// `path`.
fn in_components(
    text: &[u8],
    parts: &Components,
    path: Part,
    each: &mut impl FnMut(&[u8], usize, Part),
) {
    let components = [
        (Some(parts.path(text)), parts.path_start as usize, path),
        (parts.query(text), parts.path_end as usize + 1, Part::Query),
        (parts.fragment(text), parts.query_end as usize + 1, Part::Query),
    ];
    for (component, start, part) in components {
        if let Some(component) = component {
            each(component, start, part);
        }
    }
}

/// Calls `each` for the ranges of the values of parameters in `component`, and whether they are
/// secret.
fn in_component(component: &[u8], part: Part, mut each: impl FnMut(Range<usize>, bool)) {
    let mut has_answer = None;
    secret::each_pair(component, part, |name, value| {
        let is_of_answer = part == Part::Query && secret::is_of_oauth_answer(name);
        let is_secret = secret::is_secret_name(name)
            || is_of_answer
                && *has_answer.get_or_insert_with(|| secret::has_oauth_answer(component, part));
        each(value, is_secret);
    });
}

/// Calls `each` for the ranges of secrets in `value`, the value of a parameter, which begins at
/// byte `start`: decoded once, it may be a reference, or hold parameters.
fn in_value(
    value: &[u8],
    start: usize,
    of_userinfo: OfUserinfo,
    each: &mut impl FnMut(Range<usize>),
) {
    // It can hold neither a userinfo nor a parameter.
    if memchr::memchr3(b'%', b'@', b'=', value).is_none() {
        return;
    }
    let text = decoded(value);
    let mut place = Place { value, raw: 0, decoded: 0 };
    let mut each = |range: Range<usize>| {
        let from = place.of(range.start);
        each(start + from..start + place.of(range.end));
    };
    let parts = by_appendix_b(&text);
    // The text before the first `:` may be a parameter, too.
    let is_reference = parts.scheme(&text).is_some_and(|scheme| {
        scheme.first().is_some_and(|&byte| ALPHA.has(byte))
            && scheme.iter().all(|&byte| SCHEME.has(byte))
    });
    let is_list = parts.scheme(&text).is_some() && !is_reference;
    if !is_list {
        in_userinfo(&text, &parts, of_userinfo, &mut each);
    }
    let mut in_text = |component: &[u8], at: usize, part| {
        in_component(component, part, |range, is_secret| {
            if is_secret {
                each(at + range.start..at + range.end);
            }
        });
    };
    if is_list {
        return in_text(&text, 0, Part::Query);
    }
    let is_rooted = is_reference || parts.authority_start > 0 || text.first() == Some(&b'/');
    let path = if is_rooted { Part::Path } else { Part::Query };
    in_components(&text, &parts, path, &mut in_text);
}

/// Maps a byte of the decoded value to the byte of the value that it comes from; offsets must rise.
struct Place<'v> {
    value: &'v [u8],
    raw: usize,
    decoded: usize,
}

impl Place<'_> {
    fn of(&mut self, at: usize) -> usize {
        while self.decoded < at {
            self.raw += if triplet(self.value, self.raw).is_some() { 3 } else { 1 };
            self.decoded += 1;
        }
        self.raw
    }
}

/// Whether there may be something to mask: an `@`, or an `=` after a possible name of a secret,
/// decoded or not. Most records have neither.
fn may_hold_secret(text: &[u8]) -> bool {
    memchr::memchr3_iter(b'@', b'=', b'%', text)
        .any(|at| text[at] != b'=' || secret::may_be_secret(text, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn redacted(text: &str) -> String {
        let mut out = Vec::new();
        redact_into(text.as_bytes(), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn secrets_are_masked_and_nothing_else() {
        for (text, expected) in [
            ("http://h/a?b=c#d", "http://h/a?b=c#d"),
            ("http://u:p@h/", "http://u:***@h/"),
            // A user name without a password.
            ("http://u:@h/", "http://***:@h/"),
            ("http://u@h/", "http://***@h/"),
            ("http://@h/", "http://@h/"),
            ("http://:@h/", "http://:@h/"),
            ("mailto:u@h", "mailto:u@h"),
            // Names of OAuth and SAML; a code alone may be that of a country.
            ("http://h/?code=de", "http://h/?code=de"),
            ("http://h/?state=ny&q=code", "http://h/?state=ny&q=code"),
            ("http://h/?state=xyz&a=b&CODE=abc", "http://h/?state=***&a=b&CODE=***"),
            ("http://h/?state=xyz#code=abc", "http://h/?state=xyz#code=abc"),
            ("http://h/#code=abc&state=xyz", "http://h/#code=***&state=***"),
            (
                "http://h/?code_verifier=a&SAMLResponse=b",
                "http://h/?code_verifier=***&SAMLResponse=***",
            ),
            // One level down.
            (
                "http://h/?redirect=https%3A%2F%2Fo%2F%3Fa%3D1%26token%3Dabc%26b%3D2&c=d",
                "http://h/?redirect=https%3A%2F%2Fo%2F%3Fa%3D1%26token%3D***%26b%3D2&c=d",
            ),
            (
                "http://h/?u=http%3a%2f%2fjoe%3apw%40o%2f",
                "http://h/?u=http%3a%2f%2fjoe%3a***%40o%2f",
            ),
            ("http://h/?u=http://joe:pw@o/&x", "http://h/?u=http://joe:***@o/&x"),
            ("http://h/?u=%2F%2Fkey%40o", "http://h/?u=%2F%2F***%40o"),
            ("http://h/?d=a%3Db%26pwd%3Dx%20y%26c", "http://h/?d=a%3Db%26pwd%3D***%26c"),
            ("http://h/?d=pwd%3Dx:y", "http://h/?d=pwd%3D***"),
            ("http://h/?d=t%6Fken%3Dx%23y", "http://h/?d=t%6Fken%3D***%23y"),
            ("http://h/?d=%74oken%3Dx", "http://h/?d=%74oken%3D***"),
            (
                "http://h/?d=%2Fcb%3Fcode%3Da%26state%3Db",
                "http://h/?d=%2Fcb%3Fcode%3D***%26state%3D***",
            ),
            ("http://h/?d=%2Fcb%3Fcode%3Da", "http://h/?d=%2Fcb%3Fcode%3Da"),
            ("#next=%2Fx%23access_token%3D1", "#next=%2Fx%23access_token%3D***"),
            // Nothing is masked two levels down, nor inside a value that is masked as a whole.
            ("http://h/?a=b%253Dc%2526token%253Dx", "http://h/?a=b%253Dc%2526token%253Dx"),
            ("http://h/?token=a%3Dtoken%3Db", "http://h/?token=***"),
            ("http://h/?q=token%20x&r=1%3D2", "http://h/?q=token%20x&r=1%3D2"),
            ("http://:p@h/", "http://:***@h/"),
            ("http://ghp_0123456789abcdef@h/", "http://***@h/"),
            ("//u:p:q@h:8/", "//u:***@h:8/"),
            ("http://h/?token=", "http://h/?token="),
            ("http://h/?token", "http://h/?token"),
            ("http://h/?token=a=b;pwd=x&y", "http://h/?token=***;pwd=***&y"),
            ("http://h/a;jsessionid=1/b;c=2", "http://h/a;jsessionid=***/b;c=2"),
            ("http://h/a&token=1/b/token=2", "http://h/a&token=***/b/token=2"),
            ("http://ghp_0123456789abcdef:x-oauth-basic@h/", "http://***@h/"),
            ("#a#sid=1", "#a#sid=***"),
            ("http://h/#!/x?access_token=1&a", "http://h/#!/x?access_token=***&a"),
            ("mailto:a@h?password=1", "mailto:a@h?password=***"),
            // Not URI-references, but masked all the same.
            ("http://u:p q@h/?sid=ä ö", "http://u:***@h/?sid=***"),
            ("http://u:p@x@h/", "http://u:***@h/"),
            ("", ""),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
            assert_eq!(redacted(expected), expected, "{text}");
        }
    }

    #[test]
    fn the_quick_test_misses_no_secret() {
        for name in secret::NAMES.iter().chain(secret::ENDS) {
            for cut in 0..=name.len() {
                for mark in ["", "/", "&", ";", "-", "%", "%2d", "?", "#", "%70"] {
                    for before in ["/a?", "/a;", "/a;b/", "/a?x&", "/a#", "//h/a?b#c?", ""] {
                        let (front, back) = name.split_at(cut);
                        let text = format!("{before}{front}{mark}{back}=1");
                        let mut looked = Vec::new();
                        let mut masked = Vec::new();
                        let counts = [
                            redact_into(text.as_bytes(), &mut looked),
                            mask_into(text.as_bytes(), &mut masked),
                        ];
                        assert_eq!((&looked, counts[0]), (&masked, counts[1]), "{text}");
                    }
                }
            }
        }
    }
}
