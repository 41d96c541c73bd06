//! Defanged schemes and delimiters (`hxxp`, `[.]`), and what they are written for.

use crate::grammar::has_prefix;
use crate::uri::split::split_head;

/// Schemes that may be defanged, by their name or by brackets after it, and the real ones.
pub(super) const DEFANGED: [(&[u8], &[u8]); 6] = [
    (b"hxxps", b"https"),
    (b"hxxp", b"http"),
    (b"fxp", b"ftp"),
    (b"https", b"https"),
    (b"http", b"http"),
    (b"ftp", b"ftp"),
];

/// The number of those that are defanged by their name, which come first.
const BY_NAME: usize = 3;

/// Defanged delimiters, and the real ones.
pub(super) const HIDDEN: [(&[u8], &[u8]); 11] = [
    (b"[.]", b"."),
    (b"(.)", b"."),
    (b"[dot]", b"."),
    (b"(dot)", b"."),
    (b"[:]", b":"),
    (b"[://]", b"://"),
    (b"[/]", b"/"),
    (b"[@]", b"@"),
    (b"(@)", b"@"),
    (b"[at]", b"@"),
    (b"(at)", b"@"),
];

/// The defanged delimiter that `text` begins with, and the real one.
fn hidden(text: &[u8]) -> Option<&'static (&'static [u8], &'static [u8])> {
    matches!(text, [b'[' | b'(', ..]).then(|| HIDDEN.iter().find(|it| text.starts_with(it.0)))?
}

/// Whether `text` begins with a defanged delimiter.
pub(super) fn is_hidden(text: &[u8]) -> bool {
    hidden(text).is_some()
}

/// The defanged scheme that `link` begins with, before its colon, and the real one.
fn defanged(link: &[u8]) -> Option<&'static (&'static [u8], &'static [u8])> {
    DEFANGED[..BY_NAME].iter().find(|(typed, _)| is_scheme(link, typed))
}

/// Whether `link` begins with the scheme `typed` and a colon, which may be defanged.
fn is_scheme(link: &[u8], typed: &[u8]) -> bool {
    has_prefix(link, typed) && matches!(&link[typed.len()..], [b':', ..] | [b'[', b':', ..])
}

/// Whether scheme or authority of `link` are defanged, or the delimiter between them: in a path, `(at)` may be meant as it is.
pub(super) fn has_defanged_head(link: &[u8]) -> bool {
    let has_hidden =
        |text: &[u8]| memchr::memchr2_iter(b'[', b'(', text).any(|at| is_hidden(&text[at..]));
    let is_bracketed = |typed: &[u8]| is_scheme(link, typed) && link[typed.len()] == b'[';
    defanged(link).is_some()
        || DEFANGED.iter().any(|(typed, _)| is_bracketed(typed))
        || split_head(link).1.is_some_and(has_hidden)
}

/// Whether [`refang`] would change `link`.
pub(super) fn is_defanged(link: &[u8]) -> bool {
    memchr::memchr2_iter(b'[', b'(', link).any(|at| is_hidden(&link[at..]))
        || defanged(link).is_some()
}

/// Appends the original form of the defanged `link`.
pub(super) fn refang(link: &[u8], out: &mut Vec<u8>) {
    let (typed, meant) = defanged(link).copied().unwrap_or_default();
    out.extend_from_slice(meant);
    restore(&link[typed.len()..], out);
}

/// Appends `rest` with its delimiters restored.
pub(super) fn restore(mut rest: &[u8], out: &mut Vec<u8>) {
    while let Some(at) = memchr::memchr2(b'[', b'(', rest) {
        let (before, after) = rest.split_at(at);
        out.extend_from_slice(before);
        let (typed, meant) = hidden(after).copied().unwrap_or((&after[..1], &after[..1]));
        out.extend_from_slice(meant);
        rest = &after[typed.len()..];
    }
    out.extend_from_slice(rest);
}

/// The defanged dot that `text` begins with.
pub(super) fn hidden_dot(text: &[u8]) -> Option<&'static [u8]> {
    hidden(text).filter(|(_, meant)| *meant == b".").map(|it| it.0)
}

/// The defanged dot that `text` ends with.
pub(super) fn hidden_dot_before(text: &[u8]) -> Option<&'static [u8]> {
    let ends = |&(typed, meant): &(&[u8], &[u8])| meant == b"." && text.ends_with(typed);
    HIDDEN.iter().find(|it| ends(it)).map(|it| it.0)
}

/// The defanged `@` that `text` begins with.
pub(super) fn hidden_at(text: &[u8]) -> Option<&'static [u8]> {
    hidden(text).filter(|(_, meant)| *meant == b"@").map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn schemes_that_are_defanged_by_name_come_first() {
        let (by_name, others) = DEFANGED.split_at(BY_NAME);
        assert!(by_name.iter().all(|(typed, meant)| typed != meant));
        assert!(others.iter().all(|(typed, meant)| typed == meant));
    }

    #[test]
    fn heads_are_schemes_and_authorities() {
        for (link, expected) in [
            ("hxxp://evil[.]com/x", true),
            ("HXXPS[:]//evil.com", true),
            ("http[://]evil.com/", true),
            ("//evil(dot)com/", true),
            ("http://evil[.]com/", true),
            ("http://h/a(b)[c](at)", false),
            ("/wiki/Dot_(dot)", false),
            ("hxxp.html", false),
            ("hxxp", false),
            ("http", false),
            ("", false),
        ] {
            assert_eq!(has_defanged_head(link.as_bytes()), expected, "{link}");
        }
    }
}
