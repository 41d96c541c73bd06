//! References with masked secrets (RFC 3986 section 7.5).

use core::ops::Range;

use super::marks::{TOKENS, begin};
use super::secret::MASK;
use super::{names, search, shape, triplet};
use crate::chunk::Prefix;
use crate::grammar::class::{ByteClass, UNRESERVED};
use crate::index::{Bits, low_bits};
use crate::simd::table::{NibbleTables, nibble_tables};
use crate::simd::{BLOCK, Isa, Task};

/// Appends `text` to `out` with every secret replaced by [`MASK`]; returns the number of secrets.
///
/// Masked are:
/// - passwords in a userinfo, and user names without one, which may be keys: after any scheme and
///   slashes or backslashes, also in a path, a parameter or a fragment;
/// - the values of parameters whose names are those of secrets ([`super::SECRET_NAMES`],
///   [`super::SECRET_NAME_ENDS`]), and of members of JSON;
/// - `code` and `state` if a query or fragment holds both: the answer of an OAuth server;
/// - tokens that are known by how they begin ([`super::TOKEN_BEGINNINGS`]);
/// - all of these percent-encoded, in any number of layers.
///
/// A reference stays a reference: the same components are defined, and their other bytes are
/// unchanged. A text that is not a URI-reference is masked too. The result is masked again until nothing
/// changes, at most eight times in all; time is linear in the text.
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

/// [`redact_into`] for a text after which bytes may be read: faster.
#[inline(always)]
pub fn redact_by<I: Isa>(isa: I, text: Prefix<'_>, out: &mut Vec<u8>) -> u32 {
    if isa.call(MayHold(text)) {
        return mask_into(text.bytes(), out);
    }
    out.extend_from_slice(text.bytes());
    0
}

/// Most times that a text is masked.
const MOST_PASSES: usize = 8;

/// [`redact_into`] without the quick test for anything to mask.
fn mask_into(text: &[u8], out: &mut Vec<u8>) -> u32 {
    let start = out.len();
    let count = mask_once_into(text, out);
    if count == 0 {
        return 0;
    }
    // Without what is masked, the rest may read differently: of `//http%3A%3Aname:%2F@` the password is masked, and then there
    // is not an encoded slash before the `@` any more.
    for _ in 1..MOST_PASSES {
        let masked = out.split_off(start);
        mask_once_into(&masked, out);
        if out[start..] == masked {
            break;
        }
    }
    count
}

fn mask_once_into(text: &[u8], out: &mut Vec<u8>) -> u32 {
    let mut copied = 0;
    let mut count = 0;
    search::each(text, |secret, _| {
        out.extend_from_slice(&text[copied..secret.start]);
        out.extend_from_slice(MASK);
        copied = secret.end;
        count += 1;
    });
    out.extend_from_slice(&text[copied..]);
    count
}

/// Calls `each` for the ranges of `text` that are masked, in order.
pub fn each_secret(text: &[u8], mut each: impl FnMut(Range<usize>)) {
    search::each(text, |secret, _| each(secret));
}

/// Whether there is something to mask in `text`.
pub(super) fn holds_secret(text: &[u8]) -> bool {
    let mut holds = false;
    if may_hold_secret(text) {
        search::each(text, |_, _| holds = true);
    }
    holds
}

/// Whether there may be something to mask: an `@`, a quote, or an `=` after a possible name of a
/// secret, any of them perhaps encoded; or a token. Most records have none.
pub(super) fn may_hold_secret(text: &[u8]) -> bool {
    memchr::memchr3_iter(b'@', b'=', b'%', text)
        .any(|at| text[at] != b'=' || names::may_be_secret(text, at))
        || memchr::memchr2(b'"', b'\'', text).is_some()
        || shape::may_hold(text)
}

/// [`may_hold_secret`] by masks, and with a closer look at percent signs.
struct MayHold<'a>(Prefix<'a>);

impl Task for MayHold<'_> {
    type Output = bool;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> bool {
        static ALWAYS: NibbleTables = nibble_tables(ByteClass::of(b"@\"'"));
        let (text, slack) = (self.0.bytes(), self.0.slack());
        // The last block that is looked at begins two bytes after another.
        if slack.len() < text.len() + BLOCK + 2 {
            return may_hold_secret(text);
        }
        // Searched for once: candidates for tokens may be many.
        let mut is_encoded = None;
        for at in (0..text.len()).step_by(BLOCK) {
            let [block, second, third] =
                [0, 1, 2].map(|more| slack[at + more..].first_chunk().expect("there is room"));
            let inside = low_bits(text.len() - at);
            let places = |mask: u64| Bits(mask & inside).map(move |bit| at + bit as usize);
            let has_one = isa.members(block, &ALWAYS) & inside != 0
                || places(isa.equal(block, b'=')).any(|at| names::may_be_secret(text, at))
                || places(isa.equal(block, b'%'))
                    .any(|at| triplet(text, at).is_none_or(|byte| is_of_secret(text, at, byte)))
                || places(begin(isa, [block, second, third], &TOKENS)).any(|at| {
                    shape::may_begin(&text[at..]) && {
                        let find = || memchr::memchr(b'%', text).is_some();
                        shape::may_begin_at(text, at, *is_encoded.get_or_insert_with(find))
                    }
                });
            if has_one {
                return true;
            }
        }
        false
    }
}

/// Whether the triplet at `at`, which encodes `byte`, may be part of what is searched for secrets.
pub(super) fn is_of_secret(text: &[u8], at: usize, byte: u8) -> bool {
    match byte {
        b'@' | b'"' | b'\'' | b'=' => true,
        b'%' => encodes_twice(text, at),
        // The end of a name is found by its `=`.
        byte => UNRESERVED.has(byte) && shape::may_have_encoded(text, at),
    }
}

/// Whether the percent sign that the triplet at `at` encodes may encode something: one that begins no triplet is free text.
pub(super) fn encodes_twice(text: &[u8], at: usize) -> bool {
    matches!(text.get(at + 3), Some(b'%' | b'0'..=b'9' | b'a'..=b'f' | b'A'..=b'F'))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::Kernels;

    struct Redact<'a>(Prefix<'a>, &'a mut Vec<u8>);

    impl Task for Redact<'_> {
        type Output = u32;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> u32 {
            redact_by(isa, self.0, self.1)
        }
    }

    /// Asserts that no test leaves a secret in `text`.
    fn assert_masked(text: &str) {
        let mut expected = b"kept".to_vec();
        let count = mask_into(text.as_bytes(), &mut expected);
        let mut out = b"kept".to_vec();
        assert_eq!(redact_into(text.as_bytes(), &mut out), count, "{text}");
        assert_eq!(out, expected, "{text}");
        // Bytes after the text do not matter, even if they are a secret.
        for after in ["", "=@\"%3Dghp_0123456789abcdef"] {
            let after = if after.is_empty() { after.to_owned() } else { after.repeat(8) };
            let slack = format!("{text}{after}");
            for kernels in Kernels::available() {
                let mut out = b"kept".to_vec();
                let prefix = Prefix::new(slack.as_bytes(), text.len());
                assert_eq!(kernels.run(Redact(prefix, &mut out)), count, "{text}");
                assert_eq!(out, expected, "{text}");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn no_quick_test_misses_a_secret_whatever_is_encoded(
            parts in proptest::collection::vec(
                prop_oneof![
                    prop::sample::select(&[
                        "http://h/", "//", "?", "&", "=", "/", ":", "@", "#", ";", "%", "\"", "'", "{", "}", "u:p@h", "token=x",
                        "pw=x", "code=a", "state=b", "ghp_0123456789abcdef", "sk-a1b2c3d4e5f6a1b2", "eyJhbGciOiJIUzI1NiJ9",
                        "a", "1", "-", "\\", "%3D", "%40", "%3A%2F%2F", "%253D", "%67hp_0123456789abcdef", "%5f", "%%34",
                    ][..]).prop_map(str::to_owned),
                    "[a-z0-9]{0,60}",
                ],
                0..12,
            ),
            encoded in proptest::collection::vec(any::<prop::sample::Index>(), 0..6),
        ) {
            let mut text = parts.concat();
            for at in encoded {
                if !text.is_empty() {
                    let at = at.index(text.len());
                    text.replace_range(at..=at, &format!("%{:02X}", text.as_bytes()[at]));
                }
            }
            assert_masked(&text);
        }
    }

    #[test]
    fn a_record_of_a_megabyte_takes_linear_time() {
        for part in ["ghp", "AIz", "sk-", "ghp_", "AKIA_", "=", "%41", "%25", ".aspx", "a@"] {
            let text = part.repeat((1 << 20) / part.len()) + &" ".repeat(2 * BLOCK);
            let prefix = Prefix::new(text.as_bytes(), text.len() - 2 * BLOCK);
            Kernels::detect().run(Redact(prefix, &mut Vec::new()));
        }
    }

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
            // Two levels down, and inside a value that is masked as a whole.
            ("http://h/?a=b%253Dc%2526token%253Dx", "http://h/?a=b%253Dc%2526token%253D***"),
            ("http://h/?token=a%3Dtoken%3Db", "http://h/?token=***"),
            ("http://h/?q=token%20x&r=1%3D2", "http://h/?q=token%20x&r=1%3D2"),
            ("http://:p@h/", "http://:***@h/"),
            ("http://ghp_0123456789abcdef@h/", "http://***@h/"),
            ("//u:p:q@h:8/", "//u:***@h:8/"),
            // The mask of the password leaves an encoded user name with one.
            ("//http%3A%3Az:%2F@", "//***@"),
            ("//http%3A%3Az:%2F@h/?token=1", "//***@h/?token=***"),
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
        for name in names::NAMES.iter().chain(names::ENDS) {
            for cut in 0..=name.len() {
                for mark in ["", "/", "&", ";", "-", "%", "%2d", "?", "#", "%70"] {
                    for before in ["/a?", "/a;", "/a;b/", "/a?x&", "/a#", "//h/a?b#c?", ""] {
                        let (front, back) = name.split_at(cut);
                        assert_masked(&format!("{before}{front}{mark}{back}=1"));
                    }
                }
            }
        }
    }
}
