//! Names of parameters that suggest that their values are secret (RFC 3986 section 7.5).

use std::borrow::Cow;

use super::{Rule, Severity, decoded};
use crate::grammar::class::{ALPHA, ByteClass};
use crate::grammar::words;

/// Names of parameters that hold secrets, as they are compared: in lower case, letters only.
/// Digits at the end are dropped, and so are brackets at the end with what is in them.
pub const NAMES: &[&str] = &words::<29>(
    "pass passw pw psw csrf xsrf tokenid tokenaccess auth authorization bearer sid session \
     phpsessid sig otp pin cvv ssn awsaccesskeyid googleaccessid authcode authorizationcode \
     codeverifier devicecode usercode oauthverifier clientassertion samlresponse",
);

/// Of all these names, those whose values end by themselves, in the same spelling, and how such names end.
const SESSIONS: [&str; 5] = ["sid", "session", "phpsessid", "csrf", "xsrf"];
const SESSION_ENDS: [&str; 3] = ["sessionid", "csrftoken", "xsrftoken"];

/// Of these names, those of a place in a list that is read page by page: it opens nothing by itself.
const PLACES: [&str; 8] = [
    "pagetoken",
    "nextpagetoken",
    "nexttoken",
    "continuationtoken",
    "resumptiontoken",
    "cursortoken",
    "synctoken",
    "nextsynctoken",
];

/// Names of parameters that together are the answer of an OAuth server (RFC 6749 section 4.1.2).
/// Alone, either may mean anything, such as the code of a country or the state of a form.
const OAUTH_ANSWER: [&str; 2] = ["code", "state"];

/// Suffixes of names of parameters that hold secrets: `old_password`, `csrf-token`,
/// `X-Amz-Signature`.
pub const ENDS: &[&str] = &words::<34>(
    "password passwords passwordconfirm passwordconfirmation passwordnew passwordold \
     passwordcurrent passwordagain passwordrepeat passwordvalue dbpass ftppass userpass passwd pwd \
     passphrase passcode secret token tokenhint tokenvalue secretvalue secretkeybase apikey \
     accesskey secretkey subscriptionkey privatekey authkey signature sessionid credential \
     credentials jwt",
);

/// Notes in `found` which parameter of an OAuth answer `name` is, if it is one.
pub(super) fn note_oauth_answer(name: &[u8], found: &mut [bool; 2]) {
    for (known, found) in OAUTH_ANSWER.iter().zip(found) {
        *found |= name.eq_ignore_ascii_case(known.as_bytes());
    }
}

/// Whether `name` is that of a parameter of an OAuth answer.
pub(super) fn is_of_oauth_answer(name: &[u8]) -> bool {
    OAUTH_ANSWER.iter().any(|known| name.eq_ignore_ascii_case(known.as_bytes()))
}

/// How severe it is that the parameter `name`, which looks like that of a secret, has a value.
pub(super) fn severity(name: &[u8]) -> Severity {
    let name = without_triplets(name);
    let squashed = Squashed::of(secret_word(&name, is_known).unwrap_or(&name));
    let text = squashed.text();
    let is_one = |known: &&str| squashed.is_whole && known.as_bytes() == text;
    let ends_with = |end: &&str| text.ends_with(end.as_bytes());
    let severity = Rule::SecretParameter.severity();
    if PLACES.iter().any(is_one) {
        severity.lower().lower()
    } else if SESSIONS.iter().any(is_one) || SESSION_ENDS.iter().any(ends_with) {
        severity.lower()
    } else {
        severity
    }
}

/// `name`, decoded once.
pub(super) fn without_triplets(name: &[u8]) -> Cow<'_, [u8]> {
    match memchr::memchr(b'%', name) {
        Some(_) => Cow::Owned(decoded(name)),
        None => Cow::Borrowed(name),
    }
}

/// Whether `name` looks like that of a secret.
///
/// Triplets are decoded; case, and bytes that are not letters or digits, do not matter: `API-Key`,
/// `api_key` and `user[apikey]` are equivalent, and so are `apikey2`, `apikey[0]` and `apikey[new]`.
pub(super) fn is_secret_name(name: &[u8]) -> bool {
    secret_word(&without_triplets(name), is_known).is_some()
}

/// The part of `name`, which is decoded, for which `is_secret` is true: all but a number at its end, or brackets.
fn secret_word(mut name: &[u8], is_secret: fn(&[u8]) -> bool) -> Option<&[u8]> {
    // What separates the number does not matter either.
    let is_number = |byte: &u8| byte.is_ascii_digit() || !byte.is_ascii_alphanumeric();
    loop {
        let last = name.iter().rposition(|byte| !is_number(byte))?;
        let (word, number) = name.split_at(last + 1);
        if is_secret(word) {
            return Some(word);
        }
        // `user[password][new]`, from the right.
        memchr::memchr(b']', number)?;
        name = &word[..memchr::memrchr(b'[', word)?];
    }
}

/// Whether `name`, which ends with a letter, is in [`NAMES`] or ends with one of [`ENDS`].
fn is_known(name: &[u8]) -> bool {
    if let Some(&last) = name.last_chunk::<3>()
        && last.iter().all(u8::is_ascii_alphanumeric)
        && !ends_some_name(last)
    {
        return false;
    }
    let squashed = Squashed::of(name);
    let is_all = |known: &Known| squashed.is_whole && squashed.text().len() == known.text.len();
    squashed.ends().any(|known| match known.role {
        Role::Name => is_all(known),
        Role::End => true,
        Role::Answer => false,
    })
}

/// Whether `name`, which ends with a letter, ends with a text of [`KNOWN`].
fn may_be_known(name: &[u8]) -> bool {
    Squashed::of(name).ends().next().is_some()
}

/// Bytes of a name that are looked at: the longest name is short, and the bytes before it do not matter.
const LONGEST_NAME: usize = 24;

/// The last letters and digits of a name, in lower case and without what separates them.
struct Squashed {
    /// They are its last bytes; zeros precede them.
    bytes: [u8; LONGEST_NAME],
    start: usize,
    /// Whether these are all.
    is_whole: bool,
}

impl Squashed {
    fn of(name: &[u8]) -> Squashed {
        let mut squashed =
            Squashed { bytes: [0; LONGEST_NAME], start: LONGEST_NAME, is_whole: true };
        for &byte in name.iter().rev().filter(|byte| byte.is_ascii_alphanumeric()) {
            if squashed.start == 0 {
                squashed.is_whole = false;
                break;
            }
            squashed.start -= 1;
            squashed.bytes[squashed.start] = byte.to_ascii_lowercase();
        }
        squashed
    }

    fn text(&self) -> &[u8] {
        &self.bytes[self.start..]
    }

    /// The known names and ends that this ends with.
    fn ends(&self) -> impl Iterator<Item = &'static Known> {
        let [.., last] = self.bytes;
        let (tail, text) = (tail_of(&self.bytes), self.text());
        KNOWN.ending_in(last).iter().filter(move |known| {
            (tail ^ known.tail) & known.mask == 0
                && (known.text.len() <= TAIL || text.ends_with(known.text))
        })
    }
}

/// How a [`Known`] text makes a name one of interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// As all of it: [`NAMES`].
    Name,
    /// As its end: [`ENDS`].
    End,
    /// As all of it, beside another one: [`OAUTH_ANSWER`].
    Answer,
}

/// A name, or what names end with.
#[derive(Clone, Copy)]
struct Known {
    text: &'static [u8],
    role: Role,
    /// Its last bytes, and which of them there are.
    tail: u64,
    mask: u64,
}

/// Bytes that are compared at once.
const TAIL: usize = 8;

/// The last eight bytes of `bytes`; zeros precede those of a shorter text.
const fn tail_of(bytes: &[u8]) -> u64 {
    let mut tail = [0; TAIL];
    let mut i = 1;
    while i <= TAIL && i <= bytes.len() {
        tail[TAIL - i] = bytes[bytes.len() - i];
        i += 1;
    }
    u64::from_be_bytes(tail)
}

impl Known {
    const fn new(text: &'static str, role: Role) -> Known {
        let text = text.as_bytes();
        let mask = if text.len() < TAIL { (1 << (8 * text.len())) - 1 } else { u64::MAX };
        Known { text, role, tail: tail_of(text), mask }
    }
}

/// All of them by their last letter.
static KNOWN: ByLetter = ByLetter::new();

const COUNT: usize = NAMES.len() + ENDS.len() + OAUTH_ANSWER.len();

struct ByLetter {
    all: [Known; COUNT],
    /// Where those begin whose last byte has these low five bits.
    starts: [usize; 33],
}

impl ByLetter {
    const fn new() -> ByLetter {
        let mut found = ByLetter { all: [Known::new("", Role::Name); COUNT], starts: [0; 33] };
        let lists = [(NAMES, Role::Name), (ENDS, Role::End), (&OAUTH_ANSWER, Role::Answer)];
        let (mut letter, mut count) = (0, 0);
        while letter < 32 {
            let mut list = 0;
            while list < lists.len() {
                let (texts, role) = lists[list];
                let mut row = 0;
                while row < texts.len() {
                    let known = Known::new(texts[row], role);
                    if known.tail as usize & 31 == letter {
                        found.all[count] = known;
                        count += 1;
                    }
                    row += 1;
                }
                list += 1;
            }
            letter += 1;
            found.starts[letter] = count;
        }
        found
    }

    fn ending_in(&self, byte: u8) -> &[Known] {
        let letter = usize::from(byte & 31);
        &self.all[self.starts[letter]..self.starts[letter + 1]]
    }
}

/// Whether the parameter with its `=` at `equals` of `text` may be secret, by the last bytes of its
/// name. Errs on the safe side only.
///
/// Not inlined: inside the loop over the `=` of a block it compiles to ten times the instructions.
#[inline(never)]
pub(super) fn may_be_secret(text: &[u8], equals: usize) -> bool {
    let Some(mut last) = text[..equals].last_chunk::<5>() else { return true };
    // A short number at the end does not matter.
    if let Some(&[.., tens, ones]) = text[..equals].last_chunk::<7>()
        && ones.is_ascii_digit()
    {
        let digits = 1 + usize::from(tens.is_ascii_digit());
        last = text[..equals - digits].last_chunk::<5>().unwrap_or(last);
    }
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

/// Whether the name of a secret, or of a parameter of an OAuth answer, may end before the `=` at `equals` of `text`: looks at more
/// than the last letters, and at the end only, since it is not known here where the name begins. Errs on the safe side only.
#[inline(never)]
pub(super) fn may_end_name(text: &[u8], equals: usize) -> bool {
    let start = text[..equals].iter().rposition(|byte| b"&;?#=".contains(byte));
    let name = &text[start.map_or(0, |before| before + 1)..equals];
    if memchr::memchr(b'%', name).is_none() {
        return secret_word(name, may_be_known).is_some();
    }
    // Brackets, most likely.
    let name = decoded(name);
    let is_simple = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~$[]".contains(byte);
    !name.iter().all(is_simple) || secret_word(&name, may_be_known).is_some()
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
        for harmless in [
            "h/?id=",
            "h/?utm=",
            "//h/?q=",
            "h/x&a=",
            "?page=",
            "?utm_source=",
            "?year=",
            "//h/?a&page2=",
            "//h/?a&page12=",
            "//h/?a&k1=",
            "//h/?a&17=",
            "//h/?a;x3=",
        ] {
            assert!(!may_be_secret(harmless.as_bytes(), harmless.len() - 1), "{harmless}");
        }
    }

    /// [`is_known`] by the lists themselves.
    fn is_known_slowly(name: &[u8]) -> bool {
        let squashed: Vec<u8> = name
            .iter()
            .filter(|byte| byte.is_ascii_alphanumeric())
            .map(u8::to_ascii_lowercase)
            .collect();
        NAMES.iter().any(|known| squashed == known.as_bytes())
            || ENDS.iter().any(|end| squashed.ends_with(end.as_bytes()))
    }

    #[test]
    fn every_name_is_in_the_table_once() {
        let lists = NAMES.iter().chain(ENDS).chain(&OAUTH_ANSWER);
        for name in lists {
            let found = KNOWN.all.iter().filter(|known| known.text == name.as_bytes());
            assert_eq!(found.count(), 1, "{name}");
        }
    }

    #[test]
    fn what_is_no_name_of_a_secret_with_a_number_or_brackets_is_known() {
        for (name, may_be) in [
            ("page2", false),
            ("a[0]", false),
            ("ids[]", false),
            ("filter[name][2]", false),
            ("x1y", false),
            ("user%5Bname%5D", false),
            ("pass2", true),
            ("my_tokens.token-12", true),
            ("a[token][0]", true),
            ("user%5Bpassword%5D", true),
            ("a/pin[x]", true),
            ("code7", true),
            ("a b%2Fpage", true),
            ("tok%2565n", true),
        ] {
            let text = format!("http://h/?x&{name}=");
            assert_eq!(may_end_name(text.as_bytes(), text.len() - 1), may_be, "{name}");
        }
    }

    proptest! {
        #[test]
        fn the_test_of_the_end_of_a_name_misses_no_secret(
            before in r"(&|[?]|[ab/.,:%_\[]|%2F|%25|tok){0,6}",
            name in r"(pass|word|token|s|sid|PIN|code|x|[-_.2\[\]]|%5B|%5d|%31|%65|12|%2531){1,6}",
        ) {
            let text = format!("http://h/{before}{name}=1");
            let equals = text.len() - 2;
            let is_one = |name: &[u8]| is_secret_name(name) || is_of_oauth_answer(name);
            // Wherever the name begins.
            let is_name = (equals - name.len()..=equals).any(|at| is_one(&text.as_bytes()[at..equals]));
            prop_assert!(!is_name || may_end_name(text.as_bytes(), equals), "{}", text);
            if is_secret_name(name.as_bytes()) {
                prop_assert!(may_be_secret(text.as_bytes(), equals), "{}", text);
            }
        }

        #[test]
        fn the_table_finds_what_the_lists_have(
            name in "(pass|word|s|token|access|id|session|php|secret|key|x|[-_.2A-Z]|[a-z]{1,9}){0,5}[a-zA-Z]",
            known in proptest::sample::select(KNOWN.all.iter().map(|known| known.text).collect::<Vec<_>>()),
            before in "[a-zA-Z_.-]{0,24}",
        ) {
            prop_assert_eq!(is_known(name.as_bytes()), is_known_slowly(name.as_bytes()));
            let name = [before.as_bytes(), known].concat();
            prop_assert_eq!(is_known(&name), is_known_slowly(&name));
        }
    }
}
