//! Texts in the place of a secret that hide one or name one: masks of logs (`***`, `[REDACTED]`), variables of templates
//! (`${TOKEN}`, `{api_key}`), and words of examples (`YOUR_API_KEY`). They are masked as secrets are, and not reported.

use std::borrow::Cow;

use super::names::{is_secret_name, without_triplets};
use super::shape;

/// Longer texts are taken for secrets.
const LONGEST: usize = 64;

/// Bytes of a text with its percent-encodings, and how often they are decoded: nested ones are encoded again.
const LONGEST_ENCODED: usize = 512;
const MOST_LAYERS: usize = 4;

/// Words that are written for a secret, or if there is none, in lower case.
const WORDS: [&str; 18] = [
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
    "yes",
    "no",
    "on",
    "off",
];

/// What people write before the name of a secret that others have to put there; the first ones in lower case, too.
const OF_EXAMPLES: [&str; 11] = [
    "your", "insert", "replace", "enter", "my", "change", "demo", "dummy", "example", "sample",
    "fake",
];
const IN_ANY_CASE: usize = 4;

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

/// The same of variables that are the names of secrets: passwords may begin with these, too.
const AROUND_NAMES: [(&str, &str); 6] =
    [("$", ""), ("%", "%"), ("__", "__"), ("@", "@"), ("%(", ")s"), ("@{", "}")];

/// Whether `value`, in whatever layers of percent-encoding, is a placeholder. If part of it may be a secret, it is not
/// (`${TOKEN:-...}`, `abc***`).
pub(super) fn is_placeholder(value: &[u8]) -> bool {
    if !may_be_one(value) {
        return false;
    }
    let value = decoded_fully(value);
    value.len() <= LONGEST
        && (is_masked_token(&value)
            || is_of_amazon(&value)
            || (is_mask(&value) || is_word(&value) || is_of_example(&value) || is_variable(&value))
                && !shape::may_hold(&value))
}

/// A quick test: words and names have no digits unless something is before them. Most secrets have.
fn may_be_one(value: &[u8]) -> bool {
    let begins_word = value.first().is_some_and(u8::is_ascii_alphanumeric);
    let has = |is_one: fn(&u8) -> bool| value.iter().fold(false, |has, byte| has | is_one(byte));
    value.len() <= LONGEST_ENCODED
        && (!begins_word
            || !has(u8::is_ascii_digit)
            || has(|&byte| byte == b'%')
            || is_of_amazon(value))
}

/// `text` without its percent-encodings.
fn decoded_fully(text: &[u8]) -> Cow<'_, [u8]> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..MOST_LAYERS {
        let Cow::Owned(decoded) = without_triplets(&text) else { break };
        text = Cow::Owned(decoded);
    }
    text
}

/// Whether `text` is one character over and over again: any number of `*`, three or more of others that masks are made of. A link that is
/// cut before a brace ends with the `$` or `%` before it.
fn is_mask(text: &[u8]) -> bool {
    let text = text.strip_prefix(b":").unwrap_or(text);
    let is_of = |character: &str| text.chunks(character.len()).all(|it| it == character.as_bytes());
    let Some(&first) = text.first() else { return false };
    let is_usual = first == b'*' || b"xX.-_#?".contains(&first) && text.len() > 2;
    is_usual && text.iter().all(|byte| byte.eq_ignore_ascii_case(&first))
        || ["\u{2022}", "\u{2026}"].into_iter().any(is_of)
        || matches!(text, b"$" | b"%")
}

/// Whether `text` is a mask after the beginning of a token: `ghp_xxxxxxxx`.
fn is_masked_token(text: &[u8]) -> bool {
    let is_beginning = |byte: &u8| byte.is_ascii_alphabetic() || b"_-".contains(byte);
    let end = text.iter().rposition(|byte| b"_-".contains(byte)).map_or(0, |at| at + 1);
    let (beginning, rest) = text.split_at(end);
    (1..12).contains(&end) && beginning.iter().all(is_beginning) && rest.len() > 3 && is_mask(rest)
}

/// Whether `text` is a key in the documentation of Amazon: `AKIAIOSFODNN7EXAMPLE`.
fn is_of_amazon(text: &[u8]) -> bool {
    text.len() == 20 && text.ends_with(b"EXAMPLE") && text.iter().all(u8::is_ascii_alphanumeric)
        || text == b"wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"
}

fn is_word(text: &[u8]) -> bool {
    WORDS.iter().any(|word| text.eq_ignore_ascii_case(word.as_bytes()))
}

/// Whether `text` says which secret belongs there: `YOUR_API_KEY`, `your-token`, `TOKEN`.
fn is_of_example(text: &[u8]) -> bool {
    let is_upper = !text.iter().any(u8::is_ascii_lowercase);
    let is_one = |(number, word): (usize, &&str)| {
        let (first, rest) = text.split_at_checked(word.len())?;
        let is_it =
            first.eq_ignore_ascii_case(word.as_bytes()) && (is_upper || number < IN_ANY_CASE);
        let is_apart = rest.first().is_some_and(|byte| b"_- +".contains(byte));
        is_it.then_some(is_apart || is_upper && is_of_secret(rest))
    };
    let begins = OF_EXAMPLES.iter().enumerate().any(|word| is_one(word) == Some(true));
    let is_letter = |byte: &u8| byte.is_ascii_alphabetic() || b"_- +".contains(byte);
    let is_bare = || is_upper && (is_secret_name(text) || text.ends_with(b"HERE"));
    text.iter().all(is_letter) && has_short_words(text) && (begins || is_bare())
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
    // In a shell, what follows a minus is the value.
    let has_default = text.starts_with(b"$") && name.contains(&b'-');
    let is_constant = |name: &[u8]| {
        name.contains(&b'_') && name.iter().all(|&byte| byte == b'_' || byte.is_ascii_uppercase())
    };
    let of_secret = |name: &[u8]| is_name(name) && (is_of_secret(name) || is_constant(name));
    name.len() < text.len() && !has_default && (is_name(name) || is_mask(name))
        || within(text, &AROUND_NAMES).is_some_and(of_secret)
}

/// What is within one of these pairs.
fn within<'t>(text: &'t [u8], around: &[(&str, &str)]) -> Option<&'t [u8]> {
    around.iter().find_map(|(before, after)| {
        text.strip_prefix(before.as_bytes())?.strip_suffix(after.as_bytes())
    })
}

/// Whether `text` may be the name of a variable, or of a secret in words: `secrets.GITHUB_TOKEN`, `your password`. In names, digits do not
/// stand between letters of either case.
fn is_name(text: &[u8]) -> bool {
    let is_first = |&byte: &u8| byte.is_ascii_alphabetic() || byte == b'_';
    let digits = text.iter().filter(|byte| byte.is_ascii_digit()).count();
    let is_mixed =
        text.iter().any(u8::is_ascii_lowercase) && text.iter().any(u8::is_ascii_uppercase);
    text.first().is_some_and(is_first)
        && text.iter().all(|byte| byte.is_ascii_alphanumeric() || b"_.- ".contains(byte))
        && has_short_words(text)
        && (digits == 0 || digits < 3 && !is_mixed)
}

/// Whether `text` has few words, none of them long or a number with the base of 16.
fn has_short_words(text: &[u8]) -> bool {
    const LONGEST: usize = 24;
    const SHORTEST_NUMBER: usize = 8;
    let words = || text.split(|byte| b"_.- +".contains(byte)).filter(|word| !word.is_empty());
    let is_number =
        |word: &[u8]| word.len() >= SHORTEST_NUMBER && word.iter().all(u8::is_ascii_hexdigit);
    words().count() < 5 && words().all(|word| word.len() <= LONGEST && !is_number(word))
}

/// Whether `name` is that of a secret or of a user.
fn is_of_secret(name: &[u8]) -> bool {
    const OTHERS: [&str; 6] = ["key", "user", "username", "login", "id", "here"];
    let last = name.rsplit(|byte| b"_- +".contains(byte)).next().unwrap_or_default();
    is_secret_name(name) || OTHERS.iter().any(|other| last.eq_ignore_ascii_case(other.as_bytes()))
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
            "AKIAIOSFODNN7EXAMPLE",
            "%2524%257BTOKEN%257D",
            "$",
            ":*****",
            "\u{2026}",
            "xXxX",
            "no",
            "TOKEN",
            "API_KEY",
            "API-KEY-HERE",
            "REPLACE_ME",
            "INSERT_TOKEN_HERE",
            "MY_TOKEN",
            "DEMO_KEY",
            "enter_your_key",
            "$dandelion_secret",
            "$user",
            "$pass",
            "%(password)s",
            "@{token}",
            "%API_KEY%",
            "@token@",
            "{apiKey}",
            "<personalAccessToken>",
            "{{s3_secret}}",
            "[API KEY]",
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
            "ghp_0123456789abcdef",
            "ghp_xxx1",
            "a1_xxxx",
            "averylongbeginning-xxxx",
            "{a}{b}:c",
            "${A}s3cret",
            "[a]:b",
            "(secret)",
            "{hf_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGh}",
            "<ghp_abcdefghijklmnop>",
            "$ASIAABCDEFGHIJKLMNOP",
            "${TOKEN-SEcretpass}",
            "$(cat /run/secrets/tok)",
            "{KJhgfdsaQWERtyuiopZXcvbnm}",
            "[correct.horse.battery.staple.five]",
            "{Zk39fjLq}",
            "your-real-passphrase-is-horse",
            "YOURHIGHNESS",
            "$HUNTER22",
            "$UPERMAN",
            "myToken",
            "2",
            "pass",
            "PAS5WORD",
            "***;S3CRET",
            "ghp_AbCdEfGhIjKlMnOpQrStUvWxYzAbCdEfGhEXAMPLE",
            "correct-horse-battery-EXAMPLE",
            "S3CRETq7S3CRETq7EXAMPLE",
            "$S3CRET_Q7",
            "$some_words",
            "<DeadBeef>",
            "{DEADBEEFCAFE}",
            "{abcdefabcdefabcdefabcdef}",
            "MONKEY-ID",
            "YOUR-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        ] {
            assert!(!is_placeholder(value.as_bytes()), "{value}");
        }
        assert!(!is_placeholder("*".repeat(65).as_bytes()));
        assert!(!is_placeholder("%2A".repeat(1 << 20).as_bytes()));
    }
}
