//! Defanged schemes and delimiters (`hxxp`, `[.]`), and what they are written for.

use crate::grammar::has_prefix;

/// Defanged schemes, and the real ones.
pub(super) const DEFANGED: [(&[u8], &[u8]); 6] = [
    (b"hxxps", b"https"),
    (b"hxxp", b"http"),
    (b"https", b"https"),
    (b"http", b"http"),
    (b"fxp", b"ftp"),
    (b"ftp", b"ftp"),
];

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

/// Whether `text` begins with a defanged delimiter.
pub(super) fn is_hidden(text: &[u8]) -> bool {
    HIDDEN.iter().any(|(typed, _)| text.starts_with(typed))
}

/// Whether [`refang`] would change `link`.
pub(super) fn is_defanged(link: &[u8]) -> bool {
    let mut meant = Vec::with_capacity(link.len());
    refang(link, &mut meant);
    meant != link
}

/// Appends the original form of the defanged `link`.
pub(super) fn refang(link: &[u8], out: &mut Vec<u8>) {
    let mut rest = link;
    for (typed, meant) in DEFANGED {
        if typed != meant && link.len() > typed.len() && has_prefix(link, typed) {
            out.extend_from_slice(meant);
            rest = &link[typed.len()..];
            break;
        }
    }
    restore(rest, out);
}

/// Appends `rest` with its delimiters restored.
pub(super) fn restore(mut rest: &[u8], out: &mut Vec<u8>) {
    while let Some(&byte) = rest.first() {
        match HIDDEN.iter().find(|(typed, _)| rest.starts_with(typed)) {
            Some((typed, meant)) => {
                out.extend_from_slice(meant);
                rest = &rest[typed.len()..];
            }
            None => {
                out.push(byte);
                rest = &rest[1..];
            }
        }
    }
}

/// The defanged dot that `text` begins with.
pub(super) fn hidden_dot(text: &[u8]) -> Option<&'static [u8]> {
    HIDDEN.iter().find(|(typed, meant)| *meant == b"." && text.starts_with(typed)).map(|it| it.0)
}
