//! Texts in the place of a secret that hide one or name one: masks of logs (`***`, `[REDACTED]`), variables of templates
//! (`${TOKEN}`, `{api_key}`), and words of examples (`YOUR_API_KEY`). They are masked as secrets are, and not reported.

use super::names::without_triplets;

/// Longer texts are taken for secrets.
const LONGEST: usize = 64;

/// Words that are written for a secret, or if there is none, in lower case.
const WORDS: [&str; 14] = [
    "redacted",
    "masked",
    "hidden",
    "removed",
    "filtered",
    "scrubbed",
    "omitted",
    "sanitized",
    "null",
    "none",
    "nil",
    "undefined",
    "true",
    "false",
];

/// What templates write around the name of a variable, and people around a word.
const AROUND: [(&str, &str); 9] = [
    ("${", "}"),
    ("$[", "]"),
    ("$(", ")"),
    ("#{", "}"),
    ("%{", "}"),
    ("<%=", "%>"),
    ("{", "}"),
    ("<", ">"),
    ("[", "]"),
];

/// The same of variables whose names are in upper case: passwords may begin with these, too.
const AROUND_UPPER: [(&str, &str); 3] = [("$", ""), ("%", "%"), ("__", "__")];

/// Whether `value`, perhaps percent-encoded once, is a placeholder. A value with more than two digits is none, nor one with more
/// than a name or a word: part of it may be a secret (`${TOKEN:-...}`, `abc***`).
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    if value.len() > 3 * LONGEST {
        return false;
    }
    let value = without_triplets(value);
    value.len() <= LONGEST
        && (is_mask(&value)
            || is_masked_token(&value)
            || is_word(&value)
            || is_of_example(&value)
            || is_variable(&value))
}

/// Whether `text` is one character over and over again: any number of `*`, three or more of others that masks are made of.
fn is_mask(text: &[u8]) -> bool {
    const BULLET: &[u8] = "\u{2022}".as_bytes();
    if !text.is_empty()
        && text.len().is_multiple_of(BULLET.len())
        && text.chunks(BULLET.len()).all(|it| it == BULLET)
    {
        return true;
    }
    let Some(&first) = text.first() else { return false };
    let is_usual = first == b'*' || b"xX.-_#?".contains(&first) && text.len() > 2;
    is_usual && text.iter().all(|&byte| byte == first)
}

/// Whether `text` is a mask after the beginning of a token: `ghp_xxxxxxxx`.
fn is_masked_token(text: &[u8]) -> bool {
    let is_beginning = |byte: &u8| byte.is_ascii_alphabetic() || b"_-".contains(byte);
    let end = text.iter().rposition(|byte| b"_-".contains(byte)).map_or(0, |at| at + 1);
    let (beginning, rest) = text.split_at(end);
    (1..12).contains(&end) && beginning.iter().all(is_beginning) && rest.len() > 3 && is_mask(rest)
}

fn is_word(text: &[u8]) -> bool {
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether `text` says whose secret belongs there: `YOUR_API_KEY`, `your-token`.
fn is_of_example(text: &[u8]) -> bool {
    let Some((your, rest)) = text.split_first_chunk::<4>() else { return false };
    let is_apart = |byte: &u8| b"_- +".contains(byte);
    let is_upper = text.iter().all(|byte| byte.is_ascii_uppercase() || is_apart(byte));
    your.eq_ignore_ascii_case(b"your")
        && rest.iter().all(|byte| byte.is_ascii_alphabetic() || is_apart(byte))
        && (rest.first().is_some_and(is_apart) || is_upper && !rest.is_empty())
}

/// Whether `text` is a variable of a template, or a word with something around it: `{{ token }}`, `<password>`, `%s`, `{0}`.
fn is_variable(text: &[u8]) -> bool {
    if matches!(text, b"%s" | b"%d" | b"%v" | b"%@" | b"{}" | [b'{', b'0'..=b'9', b'}']) {
        return true;
    }
    let mut name = text;
    while let Some(inner) = within(name, &AROUND) {
        name = inner.trim_ascii();
    }
    let is_upper = |name: &[u8]| name.len() > 2 && !name.iter().any(u8::is_ascii_lowercase);
    name.len() < text.len() && (is_name(name) || is_mask(name))
        || within(text, &AROUND_UPPER).is_some_and(|name| is_upper(name) && is_name(name))
}

/// What is within one of these pairs.
fn within<'t>(text: &'t [u8], around: &[(&str, &str)]) -> Option<&'t [u8]> {
    around.iter().find_map(|(before, after)| {
        text.strip_prefix(before.as_bytes())?.strip_suffix(after.as_bytes())
    })
}

/// Whether `text` may be the name of a variable, or of a secret in words: `secrets.GITHUB_TOKEN`, `your password`.
fn is_name(text: &[u8]) -> bool {
    let is_first = |&byte: &u8| byte.is_ascii_alphabetic() || byte == b'_';
    let is_of_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"_.- ".contains(byte);
    text.first().is_some_and(is_first)
        && text.iter().all(is_of_name)
        && text.iter().filter(|byte| byte.is_ascii_digit()).count() < 3
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masks_variables_and_words_of_examples_are_placeholders() {
        for value in [
            "*",
            "***",
            "********",
            "xxx",
            "XXXXXXXX",
            "...",
            "____",
            "%E2%80%A2%E2%80%A2",
            "%2A%2A%2A",
            "REDACTED",
            "[REDACTED]",
            "<redacted>",
            "[FILTERED]",
            "%5BFILTERED%5D",
            "Masked",
            "null",
            "undefined",
            "false",
            "${TOKEN}",
            "%24%7BTOKEN%7D",
            "{token}",
            "{{token}}",
            "{{ token }}",
            "%7B%7Bapi_key%7D%7D",
            "<token>",
            "%3Cyour-token%3E",
            "${{ secrets.GITHUB_TOKEN }}",
            "#{token}",
            "$(TOKEN)",
            "%{token}",
            "%TOKEN%",
            "__TOKEN__",
            "<%= token %>",
            "$TOKEN",
            "$API_KEY_2",
            "%25TOKEN%25",
            "<xxxx>",
            "[***]",
            "<your password>",
            "{}",
            "{0}",
            "%s",
            "%25s",
            "YOUR_API_KEY",
            "YOURAPIKEY",
            "your-token",
            "Your_Token",
            "YOUR+KEY+HERE",
            "your%20key",
            "ghp_xxxxxxxxxxxxxxxxxxxx",
            "sk-XXXX",
            "sk-proj-****",
            "xoxb-xxxxxxxx",
        ] {
            assert!(is_placeholder(value.as_bytes()), "{value}");
        }
    }

    #[test]
    fn what_may_hold_a_secret_is_not_a_placeholder() {
        for value in [
            "",
            "x",
            "xx",
            "..",
            "abc***",
            "***abc",
            "xxxy",
            "password",
            "changeme",
            "secret",
            "redacted1",
            "nullx",
            "truefalse",
            "${TOKEN:-s3cret}",
            "{token",
            "token}",
            "<a>b",
            "{a1b2c3}",
            "<0f3b9>",
            "[]",
            "{ }",
            "$ecret",
            "$To",
            "${",
            "{{}}",
            "yourself",
            "yourmom",
            "your_key1",
            "YOUR",
            "%TOKEN",
            "__",
            "@",
            "%%",
            "%token%",
            "ghp_0123456789abcdef",
            "ghp_xxx1",
            "a1_xxxx",
            "averylongbeginning-xxxx",
            "%257Btoken%257D",
            "{a}{b}:c",
            "${A}s3cret",
            "[a]:b",
            "(secret)",
            "@secret@",
            "__secret__",
        ] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
        assert!(!is_placeholder("*".repeat(65).as_bytes()));
        assert!(!is_placeholder("%2A".repeat(1 << 20).as_bytes()));
    }
}
