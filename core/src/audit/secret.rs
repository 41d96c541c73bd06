//! Sensitive information (RFC 3986 section 7.5): passwords, and parameters whose names suggest that
//! their values are secret.

use core::ops::Range;

use super::{Detail, Found, Rule, Severity, decoded, shape};
use crate::grammar::class::{ALPHA, ByteClass};
use crate::grammar::words;

/// Replaces a secret: bytes that a userinfo, a path, a query and a fragment may all hold.
pub const MASK: &[u8] = b"***";

/// Why a text is taken for a secret.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// It follows the name of a user.
    Password,
    /// The name of a user without a password: it may be a key.
    UserName,
    /// It has the name of a secret, as a parameter or a member of JSON.
    Value,
    /// It begins as tokens do.
    Token,
}

impl Kind {
    /// How severe a finding is that no other rule reports: as is known how surely it is a secret.
    pub(super) const fn severity(self) -> Severity {
        match self {
            Kind::Password | Kind::Token => Severity::Error,
            Kind::Value => Severity::Warning,
            Kind::UserName => Severity::Note,
        }
    }
}

/// Names of parameters that hold secrets, as they are compared: in lower case, letters only.
/// Digits at the end are dropped, and so are brackets at the end with what is in them.
pub const NAMES: &[&str] = &words::<29>(
    "pass passw pw psw csrf xsrf tokenid tokenaccess auth authorization bearer sid session \
     phpsessid sig otp pin cvv ssn awsaccesskeyid googleaccessid authcode authorizationcode \
     codeverifier devicecode usercode oauthverifier clientassertion samlresponse",
);

/// Of all these names, those of session ids, in the same spelling, and how such names end: a session ends by itself.
const SESSIONS: [&str; 3] = ["sid", "session", "phpsessid"];
const SESSION_END: &str = "sessionid";

/// Names of parameters that together are the answer of an OAuth server (RFC 6749 section 4.1.2).
/// Alone, either may mean anything, such as the code of a country or the state of a form.
const OAUTH_ANSWER: [&[u8]; 2] = [b"code", b"state"];

/// Notes in `found` which parameter of an OAuth answer `name` is, if it is one.
pub(super) fn note_oauth_answer(name: &[u8], found: &mut [bool; 2]) {
    for (known, found) in OAUTH_ANSWER.iter().zip(found) {
        *found |= name.eq_ignore_ascii_case(known);
    }
}

/// Whether `name` is that of a parameter of an OAuth answer.
pub(super) fn is_of_oauth_answer(name: &[u8]) -> bool {
    OAUTH_ANSWER.iter().any(|known| name.eq_ignore_ascii_case(known))
}

/// Suffixes of names of parameters that hold secrets: `old_password`, `csrf-token`,
/// `X-Amz-Signature`.
pub const ENDS: &[&str] = &words::<34>(
    "password passwords passwordconfirm passwordconfirmation passwordnew passwordold \
     passwordcurrent passwordagain passwordrepeat passwordvalue dbpass ftppass userpass passwd pwd \
     passphrase passcode secret token tokenhint tokenvalue secretvalue secretkeybase apikey \
     accesskey secretkey subscriptionkey privatekey authkey signature sessionid credential \
     credentials jwt",
);

/// The component that holds the parameters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// A segment: parameters follow a `;` or `&`.
    Path,
    /// A query: parameters are separated by `&`, `;` or `?`. Also a fragment, in which some
    /// protocols pass tokens.
    Query,
}

/// Whether the user name of `userinfo` is a token, with or without a password.
pub(super) fn is_token(userinfo: &[u8]) -> bool {
    let name_len = memchr::memchr(b':', userinfo).unwrap_or(userinfo.len());
    shape::is_user_name(&userinfo[..name_len])
}

/// The range within `userinfo` that is secret: all of it if the user name is a token, with or
/// without a password; otherwise the part after the first `:`.
fn of_userinfo(userinfo: &[u8]) -> Option<Range<usize>> {
    let name_len = memchr::memchr(b':', userinfo).unwrap_or(userinfo.len());
    if is_token(userinfo) {
        return Some(0..userinfo.len());
    }
    (name_len + 1 < userinfo.len()).then(|| name_len + 1..userinfo.len())
}

/// Checks `userinfo`, which starts at byte `start` of the record.
pub(super) fn check_userinfo(userinfo: &[u8], start: usize, found: &mut Found<'_>) {
    let secret = of_userinfo(userinfo);
    let name_end = secret.clone().map_or_else(
        || memchr::memchr(b':', userinfo).unwrap_or(userinfo.len()),
        |secret| secret.start.saturating_sub(1),
    );
    found.secrets.push(start..start + userinfo.len());
    if name_end > 0 {
        found.add(Rule::UserName, start..start + name_end, Detail::None);
    }
    if let Some(secret) = secret {
        found.add(Rule::Password, start + secret.start..start + secret.end, Detail::None);
    }
}

/// Calls `each` with the name of every secret parameter in `text` and the range of its value, which
/// is not empty.
pub(super) fn each_parameter<'t>(
    text: &'t [u8],
    part: Part,
    mut each: impl FnMut(&'t [u8], Range<usize>),
) {
    // What separates names, and what ends values: a `?` in a query is part of a value, though
    // another query may begin after it, and so is a second `#`, in texts that are not URIs.
    let (delimiters, ends) = match part {
        Part::Path => (ByteClass::of(b"/;&"), ByteClass::of(b"/;&")),
        Part::Query => (ByteClass::of(b"&;?#"), ByteClass::of(b"&;")),
    };
    // Everything before this offset is done.
    let mut done = 0;
    // Where the last value ends; others may begin in it, and end there too.
    let mut end = None;
    for equals in memchr::memchr_iter(b'=', text) {
        let before = text[done..equals].iter().rposition(|&byte| delimiters.has(byte));
        // Text between two `=` without a delimiter is a value; only the first one ends a name.
        let is_first = done == 0 || before.is_some();
        let name_start = before.map_or(done, |delimiter| done + delimiter + 1);
        done = equals + 1;
        // The first part of a path is not a parameter, nor is the text after a slash.
        let is_parameter = part == Part::Query || name_start > 0 && text[name_start - 1] != b'/';
        let name = &text[name_start..equals];
        // In a path, other bytes end the name of a parameter.
        let may_be = part == Part::Path || may_be_secret(text, equals);
        if is_first && is_parameter && may_be && is_secret_name(name) {
            let value_end = end.filter(|&end| end >= done).unwrap_or_else(|| {
                let len = text[done..].iter().position(|&byte| ends.has(byte));
                len.map_or(text.len(), |len| done + len)
            });
            end = Some(value_end);
            if value_end > done {
                each(name, done..value_end);
            }
        }
    }
}

/// Checks the parameters of `text`, a component that starts at byte `start` of the record.
pub(super) fn check_parameters(text: &[u8], start: usize, part: Part, found: &mut Found<'_>) {
    each_parameter(text, part, |name, value| {
        // Long enough for all meaningful names.
        const SHOWN: usize = 200;
        let severity = Rule::SecretParameter.severity();
        let severity = if is_session_name(name) { severity.lower() } else { severity };
        let name = &name[name.len().saturating_sub(SHOWN)..];
        let name = String::from_utf8_lossy(name).into_owned().into_boxed_str();
        let range = start + value.start..start + value.end;
        found.secrets.push(range.clone());
        found.add_as(Rule::SecretParameter, severity, range, Detail::Name(name));
    });
}

/// Whether `name`, which looks like that of a secret, is that of a session id.
fn is_session_name(name: &[u8]) -> bool {
    let name = decoded(name);
    let name: Vec<u8> = secret_word(&name)
        .unwrap_or(&name)
        .iter()
        .filter(|byte| byte.is_ascii_alphanumeric())
        .map(u8::to_ascii_lowercase)
        .collect();
    SESSIONS.iter().any(|known| known.as_bytes() == name) || name.ends_with(SESSION_END.as_bytes())
}

/// Whether `name` looks like that of a secret.
///
/// Triplets are decoded; case, and bytes that are not letters or digits, do not matter: `API-Key`,
/// `api_key` and `user[apikey]` are equivalent, and so are `apikey2`, `apikey[0]` and `apikey[new]`.
pub(super) fn is_secret_name(name: &[u8]) -> bool {
    let once;
    let name = if memchr::memchr(b'%', name).is_some() {
        once = decoded(name);
        &once
    } else {
        name
    };
    secret_word(name).is_some()
}

/// The part of `name`, which is decoded, that looks like the name of a secret: all but a number at its end, or brackets.
fn secret_word(mut name: &[u8]) -> Option<&[u8]> {
    // What separates the number does not matter either.
    let is_number = |byte: &u8| byte.is_ascii_digit() || !byte.is_ascii_alphanumeric();
    loop {
        let last = name.iter().rposition(|byte| !is_number(byte))?;
        let (word, number) = name.split_at(last + 1);
        if is_known(word) {
            return Some(word);
        }
        // `user[password][new]`, from the right.
        memchr::memchr(b']', number)?;
        name = &word[..memchr::memrchr(b'[', word)?];
    }
}

/// Bytes of a name that are looked at: the longest name is short, and the bytes before it do not matter.
const LONGEST_NAME: usize = 24;

/// Whether `name`, which ends with a letter, is in [`NAMES`] or ends with one of [`ENDS`].
fn is_known(name: &[u8]) -> bool {
    if let Some(&last) = name.last_chunk::<3>()
        && last.iter().all(u8::is_ascii_alphanumeric)
        && !ends_some_name(last)
    {
        return false;
    }
    let mut squashed = [0u8; LONGEST_NAME];
    let mut at = LONGEST_NAME;
    let mut is_whole = true;
    for &byte in name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric()) {
        if at == 0 {
            is_whole = false;
            break;
        }
        at -= 1;
        squashed[at] = byte.to_ascii_lowercase();
    }
    let squashed = &squashed[at..];
    // Few of them end with the same letters.
    let Some(&last) = squashed.last_chunk::<3>() else { return is_whole && squashed == b"pw" };
    let is_same = |name: &&&str| name.as_bytes().last_chunk::<3>() == Some(&last);
    is_whole && NAMES.iter().filter(is_same).any(|known| known.as_bytes() == squashed)
        || ENDS.iter().filter(is_same).any(|end| squashed.ends_with(end.as_bytes()))
}

/// Whether the parameter with its `=` at `equals` of `text` may be secret, by the last bytes of its
/// name. Errs on the safe side only.
///
/// Not inlined: inside the loop over the `=` of a block it compiles to ten times the instructions.
#[inline(never)]
pub(super) fn may_be_secret(text: &[u8], equals: usize) -> bool {
    let Some(last) = text[..equals].last_chunk::<5>() else { return true };
    let &[.., a, b, c] = last;
    // Not `/`, which ends a name in a path only.
    let ends_name = |byte: u8| IN_NAME[usize::from(byte)] == 2;
    let is_plain = |byte: u8| IN_NAME[usize::from(byte)] == 0;
    // Without branches, since the outcome is unpredictable.
    let is_too_short = ends_name(c) | ends_name(b);
    let is_pw = [b | 0x20, c | 0x20] == *b"pw";
    let [y, z, ..] = last.map(|byte| byte == b'%');
    let is_encoded = y | z | (a == b'%') | (b == b'%') | (c == b'%');
    let is_strange = is_encoded | !(is_plain(a) & is_plain(b) & is_plain(c));
    let is_known = ends_some_name([a, b, c]);
    !is_too_short & if ends_name(a) { is_pw | is_encoded } else { is_strange | is_known }
}

/// Whether the name of a secret, or of a parameter of an OAuth answer, may end before the `=` at `equals` of `text`: looks at more than the last letters. Errs on the safe side only.
pub(super) fn may_end_name(text: &[u8], equals: usize) -> bool {
    let mut squashed = [0u8; LONGEST_NAME];
    let mut at = LONGEST_NAME;
    let start = text[..equals].iter().rposition(|byte| b"&;?#=".contains(byte));
    let name = &text[start.map_or(0, |before| before + 1)..equals];
    if let [.., b'%', _, _] = name {
        // Brackets, most likely.
        let name = decoded(name);
        let is_simple = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~$[]".contains(byte);
        return !name.iter().all(is_simple) || is_secret_name(&name) || is_of_oauth_answer(&name);
    }
    for &byte in name.iter().rev() {
        if byte.is_ascii_alphabetic() && at > 0 {
            at -= 1;
            squashed[at] = byte.to_ascii_lowercase();
        } else if at == 0 {
            break;
        } else if byte.is_ascii_digit() || byte == b'%' || at == LONGEST_NAME {
            // A number, what is encoded, or brackets at the end.
            return true;
        }
    }
    let squashed = &squashed[at..];
    let names = NAMES.iter().chain(ENDS).map(|name| name.as_bytes());
    names.chain(OAUTH_ANSWER).any(|name| squashed.ends_with(name))
}

/// For each byte: 0 for a letter, 2 for a byte that ends the name of a parameter, 1 for all others, also
/// digits, which may number a name.
static IN_NAME: [u8; 256] = {
    let mut table = [1; 256];
    let (plain, delimiter) = (ALPHA.table(), ByteClass::of(b"&;?#").table());
    let mut byte = 0;
    while byte < 256 {
        if plain[byte] {
            table[byte] = 0;
        } else if delimiter[byte] {
            table[byte] = 2;
        }
        byte += 1;
    }
    table
};

/// Whether the name of a secret ends at the `=` at `equals` of `text`, a URI; `in_path` is true
/// inside the path. A parameter without a value is not a secret.
pub(super) fn follows_secret_name(text: &[u8], equals: usize, in_path: bool) -> bool {
    if matches!(text.get(equals + 1), None | Some(b'&' | b';')) {
        return false;
    }
    let delimiters = if in_path { &b"&;=/"[..] } else { &b"&;?#="[..] };
    let start = text[..equals].iter().rposition(|byte| delimiters.contains(byte));
    match start {
        // No parameter follows a slash, and only the first `=` ends a name.
        Some(at) if b"/=".contains(&text[at]) => false,
        Some(at) => is_secret_name(&text[at + 1..equals]),
        None => true,
    }
}

/// Whether a name in [`NAMES`] or [`ENDS`] ends in these three letters, in any case; may return
/// true for other bytes.
#[inline(always)]
fn ends_some_name([a, b, c]: [u8; 3]) -> bool {
    let bit = usize::from(a & 31) << 10 | usize::from(b & 31) << 5 | usize::from(c & 31);
    LAST_THREE[bit / 64] >> (bit % 64) & 1 != 0
}

/// One bit for each last three letters of a name in [`NAMES`] and [`ENDS`], five bits of each letter.
static LAST_THREE: [u64; 512] = last_three();

const fn last_three() -> [u64; 512] {
    let mut bits = [0u64; 512];
    let lists = [NAMES, ENDS];
    let mut list = 0;
    while list < lists.len() {
        let mut row = 0;
        while row < lists[list].len() {
            let name = lists[list][row].as_bytes();
            if name.len() >= 3 {
                let n = name.len();
                let bit = ((name[n - 3] & 31) as usize) << 10
                    | ((name[n - 2] & 31) as usize) << 5
                    | (name[n - 1] & 31) as usize;
                bits[bit / 64] |= 1 << (bit % 64);
            } else {
                assert!(name.len() == 2 && name[0] == b'p' && name[1] == b'w');
            }
            row += 1;
        }
        list += 1;
    }
    bits
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn names_are_short_and_in_the_compared_form() {
        for name in NAMES.iter().chain(ENDS) {
            let is_compared = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
            assert!(name.len() < 24 && name.bytes().all(is_compared), "{name}");
            assert!(is_secret_name(name.as_bytes()));
        }
    }

    #[test]
    fn secret_names() {
        for name in [
            "password",
            "PASSWORD",
            "user[password]",
            "p%61ssword",
            "old-password",
            "api_key",
            "X-Api-Key",
            "access_token",
            "id.token",
            "sid",
            "PHPSESSID",
            "X-Amz-Signature",
            "client_secret",
            "PW",
            "jwt",
            "session",
            "password[0]",
            "password[new]",
            "password%5Bnew%5D",
            "passwords",
            "passwords[0][value]",
            "user[password][new]",
            "a[token][x][y][2]",
            "user[passwords][2]",
            "token2",
            "token_2",
            "token[]",
            "pin[1]",
            "id_token_hint",
            "a-very-long-name-that-goes-on-and-on-token",
        ] {
            assert!(is_secret_name(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            "id",
            "q",
            "page",
            "passage",
            "tokens",
            "sids",
            "key",
            "author",
            "compass",
            "page2",
            "a[0]",
            "2",
            "tokens[0]",
            "key[new]",
        ] {
            assert!(!is_secret_name(name.as_bytes()), "{name}");
        }
    }

    #[test]
    fn the_test_of_the_last_letters_misses_no_secret() {
        let parts = ["", "x", "x_", "user.", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-"];
        let ends = ["", "]", "_", "-", "2", "12345", "[0]", "[new]", "%5B%5D"];
        for name in NAMES.iter().chain(ENDS) {
            for part in parts {
                for end in ends {
                    for name in [name.to_string(), name.to_uppercase()] {
                        for before in ["?", "?a=b&", "", ";"] {
                            let text = format!("{before}{part}{name}{end}=");
                            let whole = format!("{part}{name}{end}");
                            if is_secret_name(whole.as_bytes()) {
                                assert!(may_be_secret(text.as_bytes(), text.len() - 1), "{text}");
                            }
                        }
                    }
                }
            }
        }
        for harmless in
            ["h/?id=", "h/?utm=", "//h/?q=", "h/x&a=", "?page=", "?utm_source=", "?year="]
        {
            assert!(!may_be_secret(harmless.as_bytes(), harmless.len() - 1), "{harmless}");
        }
    }

    #[test]
    fn values_without_an_end_take_linear_time() {
        // Each value would be searched for its end up to the end of the text.
        for unit in ["#token=", "?token=", "?sid=a"] {
            let text = unit.repeat(200_000);
            let mut count = 0;
            each_parameter(text.as_bytes(), Part::Query, |_, value| {
                count += 1;
                assert_eq!(value.end, text.len());
            });
            assert!(count >= 199_999, "{unit}");
        }
    }

    proptest! {
        #[test]
        fn parameters_are_separated_by_delimiters(text in "([/;&?#=]|token|a|%74oken|sid){0,12}") {
            let text = text.as_bytes();
            for (part, delimiters, ends) in
                [(Part::Path, &b"/;&"[..], &b"/;&"[..]), (Part::Query, b"&;?#", b"&;")]
            {
                let mut expected = Vec::new();
                let mut at = 0;
                for piece in text.split(|byte| delimiters.contains(byte)) {
                    let is_parameter = part == Part::Query || at > 0 && text[at - 1] != b'/';
                    let equals = piece.iter().position(|&byte| byte == b'=');
                    if let Some(equals) = equals
                        && is_parameter
                        && is_secret_name(&piece[..equals])
                    {
                        // A value goes on after `?` and `#`.
                        let start = at + equals + 1;
                        let end = text[start..].iter().position(|byte| ends.contains(byte));
                        let end = end.map_or(text.len(), |len| start + len);
                        if start < end {
                            expected.push((&piece[..equals], start..end));
                        }
                    }
                    at += piece.len() + 1;
                }
                let mut found = Vec::new();
                each_parameter(text, part, |name, value| found.push((name, value)));
                prop_assert_eq!(found, expected);
            }
        }
    }

    #[test]
    fn user_names_that_are_tokens() {
        assert_eq!(of_userinfo(b"ghp_0123456789abcdef"), Some(0..20));
        // Tokens with a fixed password, or as one.
        assert_eq!(of_userinfo(b"ghp_0123456789abcdef:x-oauth-basic"), Some(0..34));
        assert_eq!(of_userinfo(b"glpat-0123456789abcdef:"), Some(0..23));
        assert_eq!(of_userinfo(b"x-access-token:ghs_0123456789abcdef"), Some(15..35));
        assert_eq!(of_userinfo(b"joe"), None);
        assert_eq!(of_userinfo(b"joe:"), None);
        assert_eq!(of_userinfo(b"joe:x"), Some(4..5));
        assert_eq!(of_userinfo(b":x:y"), Some(1..4));
    }
}
