//! Tokens that are recognized by how they look, wherever they are: those of well-known services, and JSON Web Tokens.

use super::triplet;
use crate::grammar::class::{ALPHA, ByteClass, DIGIT};
use crate::index::Bits;

/// How tokens of one kind begin, and what follows.
struct Shape {
    beginning: &'static str,
    rest: Rest,
}

/// What follows the beginning of a token.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rest {
    /// Letters, digits, `_` and `-`.
    Word,
    /// These and dots.
    Dotted,
    /// A word that is not made of words of a language ([`is_random`]), since the beginning occurs in others.
    Random,
    /// Capital letters and digits.
    Capitals,
}

/// The beginnings of tokens that are masked wherever they are.
pub const SHAPES: [&str; COUNT] = beginnings();

const COUNT: usize = KNOWN.len();

const KNOWN: [Shape; 26] = [
    Shape { beginning: "ghp_", rest: Rest::Word },
    Shape { beginning: "gho_", rest: Rest::Word },
    Shape { beginning: "ghs_", rest: Rest::Word },
    Shape { beginning: "ghu_", rest: Rest::Word },
    Shape { beginning: "ghr_", rest: Rest::Word },
    Shape { beginning: "github_pat_", rest: Rest::Word },
    Shape { beginning: "glpat-", rest: Rest::Word },
    Shape { beginning: "xoxa-", rest: Rest::Word },
    Shape { beginning: "xoxb-", rest: Rest::Word },
    Shape { beginning: "xoxe-", rest: Rest::Word },
    Shape { beginning: "xoxp-", rest: Rest::Word },
    Shape { beginning: "xoxr-", rest: Rest::Word },
    Shape { beginning: "xoxs-", rest: Rest::Word },
    Shape { beginning: "sk_live_", rest: Rest::Word },
    Shape { beginning: "sk_test_", rest: Rest::Word },
    Shape { beginning: "rk_live_", rest: Rest::Word },
    Shape { beginning: "rk_test_", rest: Rest::Word },
    Shape { beginning: "sk-", rest: Rest::Random },
    Shape { beginning: "npm_", rest: Rest::Random },
    Shape { beginning: "pypi-", rest: Rest::Random },
    Shape { beginning: "hf_", rest: Rest::Random },
    Shape { beginning: "AIza", rest: Rest::Word },
    Shape { beginning: "AKIA", rest: Rest::Capitals },
    Shape { beginning: "ASIA", rest: Rest::Capitals },
    Shape { beginning: "ya29.", rest: Rest::Dotted },
    Shape { beginning: "eyJ", rest: Rest::Dotted },
];

const fn beginnings() -> [&'static str; COUNT] {
    let mut found = [""; COUNT];
    let mut at = 0;
    while at < COUNT {
        found[at] = KNOWN[at].beginning;
        at += 1;
    }
    found
}

/// Bytes of a token at least.
const SHORTEST: usize = 16;

const PLAIN: ByteClass = ALPHA.or(DIGIT);
const WORD: ByteClass = PLAIN.or(ByteClass::of(b"_-"));

/// Whether the byte `before` a token sets it apart from what precedes it.
fn is_boundary(before: Option<&u8>) -> bool {
    before.is_none_or(|&byte| !PLAIN.has(byte))
}

/// The end of the token that begins at `at` of `text`.
#[inline]
pub(super) fn end_of(text: &[u8], at: usize) -> Option<usize> {
    if may_begin(&text[at..]) { end_of_likely(text, at) } else { None }
}

/// [`end_of`] where the first three bytes are those of a token.
#[inline(never)]
fn end_of_likely(text: &[u8], at: usize) -> Option<usize> {
    let rest = &text[at..];
    if !is_boundary(at.checked_sub(1).map(|before| &text[before])) {
        return None;
    }
    let shape = KNOWN.iter().find(|shape| rest.starts_with(shape.beginning.as_bytes()))?;
    let begun = shape.beginning.len();
    if shape.rest == Rest::Random && !is_random(&rest[begun..]) {
        return None;
    }
    let class = match shape.rest {
        Rest::Word | Rest::Random => WORD,
        Rest::Dotted => WORD.or(ByteClass::of(b".")),
        Rest::Capitals => DIGIT.or(ByteClass::range(b'A', b'Z')),
    };
    let len = rest[begun..].iter().position(|&byte| !class.has(byte));
    let len = len.map_or(rest.len(), |len| begun + len);
    // Not the beginning of a longer word.
    let is_whole = rest.get(len).is_none_or(|&byte| !WORD.has(byte));
    (len >= SHORTEST && is_whole).then_some(at + len)
}

/// Whether the word at the beginning of `text` is random, not a slug of words and numbers: a part of it, between `_` and `-`, is
/// longer than words are, or long with both letters and digits; or letters and digits, or small and capital letters, alternate
/// more often than they do in `iPhone15Pro`. Looks at the first bytes only, since each part may be the beginning of a token.
fn is_random(text: &[u8]) -> bool {
    const LOOKED_AT: usize = 64;
    const LONGEST_WORD: usize = 23;
    const MOST_CHANGES: usize = 2;
    let (mut part, mut has_digit, mut has_letter, mut changes_of_part) = (0, false, false, 0);
    let mut changes = 0;
    let mut before = b'-';
    for &byte in text.iter().take(LOOKED_AT).take_while(|&&byte| WORD.has(byte)) {
        if !PLAIN.has(byte) {
            (part, has_digit, has_letter, changes_of_part) = (0, false, false, 0);
        } else {
            part += 1;
            (has_digit, has_letter) = (has_digit || DIGIT.has(byte), has_letter || ALPHA.has(byte));
            if part > 1 && changes_kind(before, byte) {
                changes_of_part += 1;
                // One is no more than that of `256gb` or `v1`.
                changes += usize::from(changes_of_part > 1);
            }
            if part > LONGEST_WORD
                || part >= SHORTEST && has_digit && has_letter
                || changes > MOST_CHANGES
            {
                return true;
            }
        }
        before = byte;
    }
    false
}

/// Whether a digit follows a letter, or the reverse, or a capital letter a small one.
fn changes_kind(before: u8, after: u8) -> bool {
    DIGIT.has(before) != DIGIT.has(after)
        || before.is_ascii_lowercase() && after.is_ascii_uppercase()
}

/// Whether the user name `name` is a token: it begins like one, whatever follows.
pub(super) fn is_user_name(name: &[u8]) -> bool {
    name.len() >= SHORTEST && SHAPES.iter().any(|begin| name.starts_with(begin.as_bytes()))
}

/// Whether `text` holds a token, if nothing in it is encoded.
pub(super) fn may_hold(text: &[u8]) -> bool {
    text.len() >= SHORTEST && (0..=text.len() - SHORTEST).any(|at| end_of(text, at).is_some())
}

/// Whether `text` begins with the first three bytes of a token.
#[inline(always)]
pub(super) fn may_begin(text: &[u8]) -> bool {
    text.first_chunk().is_some_and(|&first| are_first(first))
}

/// Whether a token may begin `text`: by all bytes of its beginning that may be compared, which are those before a triplet.
#[inline(always)]
pub(super) fn begins(text: &[u8]) -> bool {
    may_begin(text) && begins_likely(text)
}

/// [`begins`] where the first three bytes are those of a token.
#[inline(never)]
fn begins_likely(text: &[u8]) -> bool {
    let Some(&first) = text.first_chunk() else { return false };
    Bits(with_first(first).into()).any(|number| {
        let mut pairs = KNOWN[number as usize].beginning.bytes().zip(text);
        pairs.find(|&(known, &byte)| known != byte).is_none_or(|(_, &byte)| byte == b'%')
    })
}

/// Whether a token may begin at `at` of `text`, where three bytes are those of one. If something in the text `is_encoded`, other
/// bytes of the token may be, and the byte before.
pub(super) fn may_begin_at(text: &[u8], at: usize, is_encoded: bool) -> bool {
    let before = at.checked_sub(1).map(|before| &text[before]);
    let is_after_triplet = || at.checked_sub(3).is_some_and(|start| text[start] == b'%');
    match is_encoded {
        false => end_of(text, at).is_some(),
        true => is_boundary(before) || is_after_triplet(),
    }
}

/// Whether a token may begin with `byte`.
#[inline(always)]
pub(super) fn is_first(byte: u8) -> bool {
    FIRST[usize::from(byte)] != 0
}

#[inline(always)]
fn are_first(bytes: [u8; 3]) -> bool {
    with_first(bytes) != 0
}

/// One bit for each beginning of a token that has these bytes first.
#[inline(always)]
fn with_first([a, b, c]: [u8; 3]) -> u32 {
    FIRST[usize::from(a)] & SECOND[usize::from(b)] & THIRD[usize::from(c)]
}

/// Whether the triplet at `at` of `text` may encode one of the first three bytes of a token.
pub(super) fn may_have_encoded(text: &[u8], at: usize) -> bool {
    let after = |at| match triplet(text, at) {
        Some(byte) => (byte, at + 3),
        None => (text.get(at).copied().unwrap_or(0), at + 1),
    };
    // What looks like a triplet may begin in what precedes the record.
    let before = |at: usize| {
        let plain = at.checked_sub(1).map_or((0, 0), |at| (text[at], at));
        let encoded = at.checked_sub(3).and_then(|start| Some((triplet(text, start)?, start)));
        [plain, encoded.unwrap_or(plain)]
    };
    let (own, next) = after(at);
    let (second, next) = after(next);
    are_first([own, second, after(next).0])
        || before(at).into_iter().any(|(last, previous)| {
            are_first([last, own, second])
                || before(previous).into_iter().any(|(first, _)| are_first([first, last, own]))
        })
}

/// For each byte, one bit for each beginning of a token that has it first.
static FIRST: [u32; 256] = bits(0);
/// And second, and third.
static SECOND: [u32; 256] = bits(1);
static THIRD: [u32; 256] = bits(2);

/// The byte in this place of each beginning, of which there are three at least.
pub(super) const fn nth_bytes(place: usize) -> [u8; COUNT] {
    let mut found = [0; COUNT];
    let mut at = 0;
    while at < COUNT {
        found[at] = KNOWN[at].beginning.as_bytes()[place];
        at += 1;
    }
    found
}

const fn bits(place: usize) -> [u32; 256] {
    let mut table = [0; 256];
    let mut at = 0;
    while at < COUNT {
        table[KNOWN[at].beginning.as_bytes()[place] as usize] |= 1 << at;
        at += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    fn token(text: &str) -> Option<&str> {
        (0..text.len()).find_map(|at| Some(&text[at..end_of(text.as_bytes(), at)?]))
    }

    #[test]
    fn tokens_are_recognized_by_their_beginning() {
        for (text, expected) in [
            ("/ghp_0123456789abcdef/x", "ghp_0123456789abcdef"),
            ("ghp_0123456789abcdef.git", "ghp_0123456789abcdef"),
            ("/a_github_pat_11ABCDEFG_0123", "github_pat_11ABCDEFG_0123"),
            ("=glpat-abcdefghij_klm-nop&", "glpat-abcdefghij_klm-nop"),
            ("x/xoxb-12345678901-abc", "xoxb-12345678901-abc"),
            ("sk_live_abcdefgh1", "sk_live_abcdefgh1"),
            ("/sk-0123456789abcdef/", "sk-0123456789abcdef"),
            ("/sk-proj-a_0123456789abcdefgh", "sk-proj-a_0123456789abcdefgh"),
            // Without a digit, or with short parts.
            ("/sk-abcdefghijklmnopqrstuvwx/", "sk-abcdefghijklmnopqrstuvwx"),
            (
                "sk-proj-Ab3-dEfGh_IjK1mNo-PqRs2uVw_XyZ0aBc",
                "sk-proj-Ab3-dEfGh_IjK1mNo-PqRs2uVw_XyZ0aBc",
            ),
            ("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", "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"),
            (
                "npm_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ",
                "npm_abcdefghijklmnopqrstuvwxyzABCDEFGHIJ",
            ),
            ("AIzaRPj6qawRHsa__FfESqsSh-tWkZKsdG1zrSN", "AIzaRPj6qawRHsa__FfESqsSh-tWkZKsdG1zrSN"),
            ("AKIA0123456789ABCDEF", "AKIA0123456789ABCDEF"),
            (
                "k=AIzaSyA0123456789abcdefghijklmnopqrstuvw",
                "AIzaSyA0123456789abcdefghijklmnopqrstuvw",
            ),
            ("/eyJhbGciOiJIUzI1NiJ9.e30.a-b_c/", "eyJhbGciOiJIUzI1NiJ9.e30.a-b_c"),
            ("ya29.a0AfB_byABCDEFGHIJ", "ya29.a0AfB_byABCDEFGHIJ"),
        ] {
            assert_eq!(token(text), Some(expected), "{text}");
            assert!(may_hold(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn words_are_not_tokens() {
        for text in [
            "",
            "sk",
            "/sk-SK/novinky-a-clanky-2024/zoznam",
            "/sk-learn-tutorial-for-beginners-2024-part-1",
            "/sk-novinky-zo-slovenska-a-zo-sveta",
            "/sk-iPhone15Pro-max-256gb-5g-lte-4k-2024",
            "/sk-wh1000xm4-sony-headphones-black",
            "/sk-SK_internationalization-of-things",
            "/npm_config_registry_url_setting_2",
            "/hf_models_overview_and_guide_2024",
            "/pypi-packages-and-how-to-publish-them",
            "/highp_0123456789abcdef",
            "/ghp_short",
            "/AKIAfoo/0123456789abcdef",
            "/ASIA-PACIFIC-REGION-2024",
            "/ASIAN0123456789abcdefgh",
            "/AIza/x",
            "/eyJ.html",
            "/keyJewels0123456789abcdef",
            "/task-0123456789abcdef",
            "/ya29.html",
        ] {
            assert_eq!(token(text), None, "{text}");
            assert!(!may_hold(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn user_names_are_tokens_whatever_follows() {
        assert!(is_user_name(b"ghp_0123456789abcdef") && is_user_name(b"sk-abcdefghijklm%2B"));
        assert!(!is_user_name(b"ghp_0123") && !is_user_name(b"joe-0123456789abcdef"));
    }
}
