//! What a piece of a URI looks like: a number, a hash, a date and so on.
//!
//! Every kind but an address of mail has a digit, so that nearly all words are done with after one pass over their bytes.

use super::date::is_date;

/// What is known of the bytes of a piece: the union of the [`CLASS`] of each.
pub(super) type ClassSet = u16;

pub(super) const DIGIT: ClassSet = 1;
pub(super) const HEX_LOWER: ClassSet = 1 << 1;
pub(super) const HEX_UPPER: ClassSet = 1 << 2;
pub(super) const LOWER: ClassSet = 1 << 3;
pub(super) const UPPER: ClassSet = 1 << 4;
pub(super) const AT: ClassSet = 1 << 5;
pub(super) const PERCENT: ClassSet = 1 << 6;
pub(super) const OTHER: ClassSet = 1 << 7;
pub(super) const SLASH: ClassSet = 1 << 8;
pub(super) const SEMICOLON: ClassSet = 1 << 9;
pub(super) const AMPERSAND: ClassSet = 1 << 10;
pub(super) const EQUALS: ClassSet = 1 << 11;
const LETTER: ClassSet = HEX_LOWER | HEX_UPPER | LOWER | UPPER;

/// The class of each byte.
pub(super) const CLASS: [ClassSet; 256] = {
    let mut table = [OTHER; 256];
    let mut byte = 0;
    while byte < 256 {
        table[byte] = match byte as u8 {
            b'0'..=b'9' => DIGIT,
            b'a'..=b'f' => HEX_LOWER,
            b'A'..=b'F' => HEX_UPPER,
            b'g'..=b'z' => LOWER,
            b'G'..=b'Z' => UPPER,
            b'@' => AT,
            b'%' => PERCENT,
            b'/' => SLASH,
            b';' => SEMICOLON,
            b'&' => AMPERSAND,
            b'=' => EQUALS,
            _ => OTHER,
        };
        byte += 1;
    }
    table
};

/// What is known of `text`.
pub(super) fn classes_in(text: &[u8]) -> ClassSet {
    text.iter().fold(0, |classes, &byte| classes | CLASS[usize::from(byte)])
}

/// The type that represents `text`, whose bytes are as `classes`, with its braces; `None` if it has none.
#[inline]
pub(super) fn kind_of(text: &[u8], classes: ClassSet) -> Option<&'static [u8]> {
    if classes & (DIGIT | AT) == 0 {
        return None;
    }
    if classes == DIGIT {
        return Some(of_digits(text));
    }
    of_mixed(text, classes)
}

fn of_digits(text: &[u8]) -> &'static [u8] {
    match hash(text.len()) {
        Some(kind) => kind,
        None if is_date(text) => b"{date}",
        None => b"{int}",
    }
}

fn of_mixed(text: &[u8], classes: ClassSet) -> Option<&'static [u8]> {
    let is_hex = classes & !(DIGIT | HEX_LOWER | HEX_UPPER) == 0
        && classes & (HEX_LOWER | HEX_UPPER) != (HEX_LOWER | HEX_UPPER);
    if is_hex && text.len() >= LEAST_HEX {
        return Some(hash(text.len()).unwrap_or(b"{hex}"));
    }
    if classes & AT != 0 {
        return is_email(text).then_some(b"{email}");
    }
    if is_uuid(text) {
        return Some(b"{uuid}");
    }
    if is_date(text) {
        return Some(b"{date}");
    }
    is_token(text, classes).then_some(b"{token}")
}

/// The fewest digits of `{hex}`: of fewer, too many are words and names.
const LEAST_HEX: usize = 8;

/// The type of hexadecimal digits of which there are as many as a usual hash has.
fn hash(len: usize) -> Option<&'static [u8]> {
    Some(match len {
        32 => b"{hex32}",
        40 => b"{hex40}",
        56 => b"{hex56}",
        64 => b"{hex64}",
        96 => b"{hex96}",
        128 => b"{hex128}",
        _ => return None,
    })
}

/// Whether `text` has the groups of a UUID (RFC 9562), in either case.
fn is_uuid(text: &[u8]) -> bool {
    text.len() == 36
        && text.iter().enumerate().all(|(i, byte)| match i {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

/// Whether `text` is an address of mail as people have them: a name, and a domain of two labels or more.
fn is_email(text: &[u8]) -> bool {
    let Some(at) = memchr::memchr(b'@', text) else { return false };
    let (name, domain) = (&text[..at], &text[at + 1..]);
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._%+-".contains(byte);
    let is_label = |label: &[u8]| {
        !label.is_empty() && label.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-')
    };
    let Some(dot) = memchr::memrchr(b'.', domain) else { return false };
    let last = &domain[dot + 1..];
    !name.is_empty()
        && name.iter().all(is_of_name)
        && domain[..dot].split(|&byte| byte == b'.').all(is_label)
        && last.len() >= 2
        && last.iter().all(u8::is_ascii_alphabetic)
}

/// The fewest characters of `{token}`.
const LEAST_TOKEN: usize = 16;

/// Whether `text` looks like random text in one of the alphabets of Base64 and their like, or is a JSON Web Token.
///
/// Letters and digits of words come in runs. Of random text the neighbors are of different kinds (lower case, upper
/// case, digits) more often than not; a fourth of the length is enough here.
fn is_token(text: &[u8], classes: ClassSet) -> bool {
    if text.len() < LEAST_TOKEN || classes & DIGIT == 0 || classes & LETTER == 0 {
        return false;
    }
    let padding = text.iter().rev().take_while(|&&byte| byte == b'=').count();
    let is_jwt = text.starts_with(b"eyJ");
    let (mut dots, mut base64, mut changes, mut before) = (0, 0, 0, 0);
    for &byte in &text[..text.len() - padding] {
        let case = match byte {
            b'0'..=b'9' => 1,
            b'a'..=b'z' => 2,
            b'A'..=b'Z' => 3,
            b'-' | b'_' => 0,
            b'+' | b'/' => {
                base64 += 1;
                0
            }
            b'.' if is_jwt => {
                dots += 1;
                0
            }
            _ => return false,
        };
        changes += usize::from(case != before && case != 0 && before != 0);
        before = case;
    }
    let has_both = classes & (LOWER | HEX_LOWER) != 0 && classes & (UPPER | HEX_UPPER) != 0;
    // Without letters of both kinds, slashes are those of a path.
    let is_base64 = base64 == 0 || text.len().is_multiple_of(4) && has_both;
    padding <= 2 && is_base64 && (dots == 0 || dots == 2) && 4 * changes >= text.len()
}

/// Whether `text` is made of words: three or more, or two of which one is a number, joined by `-`, `_` or `+` each.
pub(super) fn is_slug(text: &[u8]) -> bool {
    let (mut words, mut numbers) = (0, 0);
    for word in text.split(|byte| b"-_+ ".contains(byte)) {
        let is_word = |byte: &u8| byte.is_ascii_alphanumeric() || *byte >= 0x80;
        if word.is_empty() || !word.iter().all(is_word) {
            return false;
        }
        words += 1;
        numbers += usize::from(word.iter().all(u8::is_ascii_digit));
    }
    words >= 3 || words == 2 && numbers >= 1
}
