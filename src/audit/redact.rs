//! References with their secrets masked (RFC 3986 section 7.5).

use core::ops::Range;

use super::exact::by_appendix_b;
use super::secret::{self, Part};
use crate::uri::parse;

/// What stands in the place of a secret: bytes that a userinfo, a path, a query and a fragment may all hold.
pub const MASK: &[u8] = b"***";

/// Appends `text` to `out` with [`MASK`] for every secret that [`super::Rule::Password`] and
/// [`super::Rule::SecretParameter`] find; gives their number.
///
/// A reference stays one: the same components are defined, and the rest of their bytes is the same.
/// What is no URI-reference is masked too, as Appendix B splits it. Doing it twice changes nothing more.
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

/// [`redact_into`] without the quick look at whether there is anything to mask.
fn mask_into(text: &[u8], out: &mut Vec<u8>) -> u32 {
    let mut copied = 0;
    let mut count = 0;
    each_secret(text, |secret| {
        out.extend_from_slice(&text[copied..secret.start]);
        out.extend_from_slice(MASK);
        copied = secret.end;
        count += 1;
    });
    out.extend_from_slice(&text[copied..]);
    count
}

/// Hands `each` the ranges of `text` that are secret, in their order.
pub(crate) fn each_secret(text: &[u8], mut each: impl FnMut(Range<usize>)) {
    // A text too long for offsets has been refused by whoever counts in them.
    let parts = parse(text).unwrap_or_else(|_| by_appendix_b(text));
    if let Some(userinfo) = parts.userinfo(text) {
        let start = parts.authority_start as usize;
        if let Some(range) = secret::of_userinfo(userinfo) {
            each(start + range.start..start + range.end);
        }
    }
    let components = [
        (Some(parts.path(text)), parts.path_start as usize, Part::Path),
        (parts.query(text), parts.path_end as usize + 1, Part::Query),
        (parts.fragment(text), parts.query_end as usize + 1, Part::Query),
    ];
    for (component, start, part) in components {
        let Some(component) = component else { continue };
        secret::each_parameter(component, part, |_, value| {
            each(start + value.start..start + value.end);
        });
    }
}

/// Whether something may have to be masked: there is an `@`, or an `=` behind what may be the name of a
/// secret, or might be if its triplets were decoded. Most records have nothing of the kind.
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
            ("http://u:@h/", "http://u:@h/"),
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
            // No URI-references: masked all the same.
            ("http://u:p q@h/?sid=ä ö", "http://u:***@h/?sid=***"),
            ("http://u:p@x@h/", "http://u:***@h/"),
            ("", ""),
        ] {
            assert_eq!(redacted(text), expected, "{text}");
            assert_eq!(redacted(expected), expected, "{text}");
        }
    }

    #[test]
    fn the_quick_look_misses_no_secret() {
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
