//! Hosts that mislead people or programs (RFC 3986 section 7.6).

use core::ops::Range;
use idna::AsciiDenyList;
use idna::uts46::{DnsLength, Hyphens, Uts46};
use std::borrow::Cow;
use std::sync::OnceLock;
use unicode_security::GeneralSecurityProfile;
use unicode_security::confusable_detection::skeleton;
use unicode_security::mixed_script::AugmentedScriptSet;

use super::{Detail, Found, Rule, RuleSet, decoded};
use crate::grammar::SchemeFacts;
use crate::grammar::class::{ALPHA, DIGIT};
use crate::index::low_bits;
use crate::normalize::{LONGEST_NAME, Level, has_long_name, normalize_exact};
use crate::simd::{BLOCK, Isa};
use crate::uri::{Components, HostKind, host_of, split};

/// Top-level domains that make a user name look like a host; so do those of two letters.
const DOMAINS: &[&[u8]] = &[
    b"com", b"net", b"org", b"edu", b"gov", b"mil", b"int", b"info", b"biz", b"app", b"dev",
    b"bank", b"shop", b"online", b"site", b"cloud", b"xyz", b"top", b"example", b"test",
];

/// Checks `userinfo`, which starts at byte `start` of the record.
pub(super) fn check_userinfo(userinfo: &[u8], start: usize, found: &mut Found<'_>) {
    let name_end = memchr::memchr(b':', userinfo).unwrap_or(userinfo.len());
    if reads_like_a_host(&decoded(&userinfo[..name_end])) {
        found.add(Rule::MisleadingUserinfo, start..start + name_end, Detail::None);
    }
}

/// Whether `name`, a decoded user name, begins like a host, and the rest, if any, looks like a URI.
fn reads_like_a_host(name: &[u8]) -> bool {
    let name = name.strip_prefix(b"//").unwrap_or(name);
    let is_in_host = |byte: &u8| ALPHA.or(DIGIT).has(*byte) || b".-".contains(byte);
    let end = name.iter().position(|byte| !is_in_host(byte)).unwrap_or(name.len());
    let host = name[..end].to_ascii_lowercase();
    if host.starts_with(b"www.") && host.len() > 4 {
        return true;
    }
    let host = host.strip_suffix(b".").unwrap_or(&host);
    let mut labels = host.rsplit(|&byte| byte == b'.');
    let top = labels.next().unwrap_or(b"");
    let has_more = labels.next().is_some_and(|label| !label.is_empty());
    let is_top = DOMAINS.contains(&top) || top.len() == 2 && top.iter().all(|&b| ALPHA.has(b));
    has_more && (is_top || crate::uri::parse_ipv4(host).is_some())
}

/// Checks the letters of the host `name`, which starts at byte `start` of the record.
pub(super) fn check_name(
    name: &[u8],
    start: usize,
    facts: Option<&SchemeFacts>,
    found: &mut Found<'_>,
) {
    let may_be_a_name = facts.is_none_or(|facts| facts.dns_host);
    if !may_be_a_name || name.starts_with(b"[") || !is_international(name) {
        return;
    }
    let range = start..start + name.len();
    let once = decoded(name);
    if !is_international(&once) {
        return;
    }
    if once.len() > LONGEST_NAME {
        return found.add(Rule::InvalidIdna, range, Detail::None);
    }
    let (unicode, is_fine) = to_unicode(&once);
    if !is_fine {
        found.add(Rule::InvalidIdna, range.clone(), Detail::None);
    }
    let mut twin = String::new();
    // All labels must look alike, or the others give the name away: no ASCII name ends in a
    // Cyrillic domain.
    let mut is_twin = !unicode.is_ascii();
    for label in unicode.split('.') {
        if !label.is_ascii() {
            for (rule, is_found) in [
                (Rule::MixedScript, mixes_scripts(label)),
                (Rule::RestrictedLetter, is_restricted(label)),
            ] {
                if is_found {
                    found.add(rule, range.clone(), Detail::Name(shown(label).into()));
                }
            }
            let ascii = ascii_twin(label);
            is_twin &= ascii.is_some();
            twin += &ascii.unwrap_or_default();
        } else {
            twin += label;
        }
        twin.push('.');
    }
    if is_twin {
        twin.pop();
        found.add(Rule::Confusable, range, Detail::Name(shown(&twin).into()));
    }
}

/// Whether `label` has letters of several scripts that are not written together, as UTS #39 has it for names that are
/// highly restrictive: Latin may stand beside the scripts of Chinese, Japanese and Korean. An A-label that does not decode
/// mixes nothing.
fn mixes_scripts(label: &str) -> bool {
    let (mut all, mut but_latin) = (AugmentedScriptSet::default(), AugmentedScriptSet::default());
    for set in label.chars().map(AugmentedScriptSet::for_char) {
        all.intersect_with(set);
        let mut in_latin = AugmentedScriptSet::for_char('a');
        in_latin.intersect_with(set);
        if in_latin.is_empty() {
            but_latin.intersect_with(set);
        }
    }
    let is_cjk = but_latin.jpan || but_latin.hanb || but_latin.kore;
    all.is_empty() && !is_cjk && !is_undecoded(label)
}

/// Whether `label` has a letter that UTS #39 restricts: of historic or little used scripts, or one that is not recommended.
fn is_restricted(label: &str) -> bool {
    let is_restricted =
        |c: char| c.is_alphabetic() && !GeneralSecurityProfile::identifier_allowed(c);
    label.chars().any(is_restricted) && !is_undecoded(label)
}

/// Whether `label` is what is left of an A-label that does not decode.
fn is_undecoded(label: &str) -> bool {
    label.contains(char::REPLACEMENT_CHARACTER)
}

/// `text` with escapes for characters that could mislead again where it is printed.
fn shown(text: &str) -> String {
    let is_letter = |c: char| c.is_ascii_graphic() || c.is_alphanumeric();
    text.chars()
        .map(|c| if is_letter(c) { c.to_string() } else { c.escape_unicode().to_string() })
        .collect()
}

/// Whether a host holds non-ASCII characters, raw, encoded or as an A-label.
fn is_international(name: &[u8]) -> bool {
    let is_a_label = |four: &[u8]| four[2..] == *b"--" && four.eq_ignore_ascii_case(b"xn--");
    name.iter().any(|&byte| byte >= 0x80 || byte == b'%') || name.windows(4).any(is_a_label)
}

/// The name in Unicode, and whether UTS #46 accepts it.
fn to_unicode(name: &[u8]) -> (Cow<'_, str>, bool) {
    let (unicode, fault) = Uts46::new().to_unicode(name, AsciiDenyList::EMPTY, Hyphens::Allow);
    (unicode, fault.is_ok())
}

/// The name in ASCII, if UTS #46 accepts it.
pub(super) fn to_ascii(name: &[u8]) -> Option<String> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    Uts46::new()
        .to_ascii(name, AsciiDenyList::EMPTY, Hyphens::Allow, DnsLength::Ignore)
        .ok()
        .map(Cow::into_owned)
}

/// Whether `name` is `localhost` or a subdomain of it.
pub(super) fn is_localhost(name: &[u8]) -> bool {
    const NAME: &[u8] = b"localhost";
    let Some(split) = name.len().checked_sub(NAME.len()) else { return false };
    name[split..].eq_ignore_ascii_case(NAME) && (split == 0 || name[split - 1] == b'.')
}

/// The letters, digits and hyphen of names, each with its skeleton (UTS #39).
fn ascii_skeletons() -> &'static [(char, String)] {
    static SKELETONS: OnceLock<Vec<(char, String)>> = OnceLock::new();
    SKELETONS.get_or_init(|| {
        let all = ('a'..='z').chain('0'..='9').chain(['-', '_']);
        all.map(|c| (c, skeleton(c.encode_utf8(&mut [0; 4])).collect())).collect()
    })
}

/// The ASCII label that the non-ASCII `label` resembles: each of its characters has the skeleton of
/// an ASCII character.
fn ascii_twin(label: &str) -> Option<String> {
    let twin = |c: char| {
        if c.is_ascii() {
            return Some(c);
        }
        let wanted: String = skeleton(c.encode_utf8(&mut [0; 4])).collect();
        ascii_skeletons().iter().find(|(_, skeleton)| *skeleton == wanted).map(|&(c, _)| c)
    };
    label.chars().map(twin).collect()
}

/// Schemes that have rules of their own in the WHATWG URL standard.
pub(super) const SPECIAL: [&[u8]; 5] = [b"http", b"https", b"ws", b"wss", b"ftp"];

/// Whether `scheme` is one of [`SPECIAL`].
pub(super) fn is_special(scheme: &[u8]) -> bool {
    SPECIAL.iter().any(|name| name.eq_ignore_ascii_case(scheme))
}

/// Checks which host other grammars see.
pub(super) fn check_grammars(
    text: &[u8],
    parts: &Components,
    is_valid: bool,
    found: &mut Found<'_>,
) {
    const BOTH: RuleSet = RuleSet::none().with(Rule::HostWhatwg).with(Rule::HostRfc2396);
    if !found.rules.has_any(BOTH) {
        return;
    }
    // All grammars agree on an ordinary name in an authority, even if invalid bytes follow it.
    let has_userinfo = parts.host_start != parts.authority_start;
    if (is_valid || !has_userinfo) && parts.host(text).is_some_and(is_ordinary) {
        return;
    }
    found.next_component();
    let start = if parts.authority_start == 0 { parts.path_start } else { parts.host_start };
    let range = start as usize..(parts.host_end.max(start)) as usize;
    if parts.scheme(text).is_some_and(is_special)
        && !(is_valid && is_same_in_browsers(text, parts))
        && let Some(theirs) = host_by_whatwg(text, parts, is_valid)
    {
        let ours = host_by_rfc3986(text, parts, is_valid);
        if ours.as_deref() != Some(theirs.as_bytes()) {
            found.add(Rule::HostWhatwg, range.clone(), Detail::Name(theirs.into()));
        }
    }
    if is_valid
        && let Some(authority) = parts.authority(text)
        && matches!(parts.host_kind, HostKind::RegName)
        && !is_server(authority)
    {
        found.add(Rule::HostRfc2396, range, Detail::None);
    }
}

/// Whether browsers certainly see the same host in the valid `text`, if they accept it: an IPv4 address, or one name.
fn is_same_in_browsers(text: &[u8], parts: &Components) -> bool {
    parts.host_kind == HostKind::Ipv4 || parts.host(text).is_some_and(is_one_name)
}

/// Whether browsers certainly see the same name in the valid host `name`, if they accept the URL:
/// one of letters, digits, `_` and `-`, encoded or not, whose last label begins with a
/// letter. An A-label must be that of the letters that it encodes.
fn is_one_name(name: &[u8]) -> bool {
    let once = if name.contains(&b'%') { Cow::Owned(decoded(name)) } else { Cow::Borrowed(name) };
    let is_label = |label: &[u8]| {
        let is_in_label = |&byte: &u8| ALPHA.or(DIGIT).has(byte) || b"-_".contains(&byte);
        !label.is_empty() && label.iter().all(is_in_label)
    };
    let top = once.rsplit(|&byte| byte == b'.').next().unwrap_or(b"");
    let is_kept =
        || to_ascii(&once).is_some_and(|ascii| ascii.as_bytes().eq_ignore_ascii_case(&once));
    top.first().is_some_and(|&byte| ALPHA.has(byte))
        && once.split(|&byte| byte == b'.').all(is_label)
        // Two hyphens in a row may belong to an A-label.
        && (!once.windows(2).any(|two| two == b"--") || is_kept())
}

/// The host by RFC 3986, in a form that is comparable with [`host_by_whatwg`].
fn host_by_rfc3986(text: &[u8], parts: &Components, is_valid: bool) -> Option<Vec<u8>> {
    let mut form = Vec::new();
    if is_valid && normalize_exact(text, Level::Scheme, false, &mut form).is_ok() {
        return Some(as_browsers_write(host_of(split(&form).authority?)));
    }
    let host = parts.host(text)?;
    // Browsers map non-ASCII characters; this does not make another host.
    Some(to_ascii(host).map_or_else(|| host.to_ascii_lowercase(), String::into_bytes))
}

/// `host` with an IPv6 literal as browsers write it: mapped addresses in hexadecimal.
fn as_browsers_write(host: &[u8]) -> Vec<u8> {
    let literal = host.strip_prefix(b"[").and_then(|host| host.strip_suffix(b"]"));
    match literal.and_then(crate::uri::parse_ipv6) {
        Some(groups) => url::Host::<&str>::Ipv6(groups.into()).to_string().into_bytes(),
        None => host.to_vec(),
    }
}

/// The host by the WHATWG URL standard; `None` if it rejects the URL.
fn host_by_whatwg(text: &[u8], parts: &Components, is_valid: bool) -> Option<String> {
    // What follows an authority that has a host does not matter.
    let has_host = is_valid && parts.host_start < parts.host_end;
    let text = if has_host { &text[..parts.path_start as usize] } else { text };
    let text = str::from_utf8(text).ok().filter(|text| !has_long_name(text.as_bytes()))?;
    url::Url::parse(text).ok()?.host_str().map(str::to_owned)
}

/// Whether `authority` is a `server` of RFC 2396 section 3.2.2, and not only a `reg_name`.
fn is_server(authority: &[u8]) -> bool {
    let host = host_of(authority);
    authority.is_empty() || is_hostname(host) || is_ipv4(host)
}

/// `hostname = *( domainlabel "." ) toplabel [ "." ]` of RFC 2396.
fn is_hostname(host: &[u8]) -> bool {
    let alphanum = ALPHA.or(DIGIT);
    let host = host.strip_suffix(b".").unwrap_or(host);
    let is_label = |label: &[u8]| {
        let inner = |&byte: &u8| alphanum.has(byte) || byte == b'-';
        let is_edge = |byte: Option<&u8>| byte.is_some_and(|&byte| alphanum.has(byte));
        is_edge(label.first()) && is_edge(label.last()) && label.iter().all(inner)
    };
    let top = host.rsplit(|&byte| byte == b'.').next().unwrap_or(b"");
    host.split(|&byte| byte == b'.').all(is_label) && top.first().is_some_and(|&b| ALPHA.has(b))
}

/// `IPv4address = 1*digit "." 1*digit "." 1*digit "." 1*digit` of RFC 2396: any numbers.
fn is_ipv4(host: &[u8]) -> bool {
    let is_number = |part: &[u8]| !part.is_empty() && part.iter().all(|&byte| DIGIT.has(byte));
    host.split(|&byte| byte == b'.').count() == 4 && host.split(|&b| b == b'.').all(is_number)
}

/// Whether the host `name` is an ordinary one, on which all grammars agree and which no rule
/// reports: labels of letters, digits and single inner hyphens, the last one beginning with a
/// letter; neither `localhost` nor empty.
pub(super) fn is_ordinary(name: &[u8]) -> bool {
    const ALPHANUM: [bool; 256] = ALPHA.or(DIGIT).table();
    let mut was_letter = false;
    let mut top = 0;
    for (i, &byte) in name.iter().enumerate() {
        let is_letter = ALPHANUM[usize::from(byte)];
        // Two hyphens in a row may belong to an A-label.
        if !is_letter && !(was_letter && (byte == b'.' || byte == b'-')) {
            return false;
        }
        if byte == b'.' {
            top = i + 1;
        }
        was_letter = is_letter;
    }
    was_letter && ALPHA.has(name[top]) && !is_localhost(name)
}

/// [`is_ordinary`] for the name at `name` of `block`, by masks.
#[inline(always)]
pub(super) fn is_ordinary_in<I: Isa>(isa: I, block: &[u8; BLOCK], name: Range<usize>) -> bool {
    let bits = low_bits(name.end) & !low_bits(name.start);
    let letters = isa.letters(block) & bits;
    let (upper_hex, _) = isa.hex_digits(block);
    let alphanum = letters | upper_hex & bits;
    let dots = isa.equal(block, b'.') & bits;
    let inner = dots | isa.equal(block, b'-') & bits;
    let is_between = alphanum << 1 & alphanum >> 1;
    let top = if dots == 0 { name.start } else { 64 - dots.leading_zeros() as usize };
    (alphanum | inner == bits)
        & (inner & !is_between == 0)
        & (letters.checked_shr(top as u32).unwrap_or(0) & 1 != 0)
        && !(ends_like_localhost(block, name.end) && is_localhost(&block[name]))
}

/// Whether the eight bytes before `end` are the last ones of `localhost`, in any case, or others that differ from these in bit 5.
#[inline(always)]
fn ends_like_localhost(block: &[u8; BLOCK], end: usize) -> bool {
    const LOWER: u64 = 0x2020_2020_2020_2020;
    let last = end.checked_sub(8).and_then(|start| block[start..].first_chunk());
    last.is_none_or(|&last| u64::from_le_bytes(last) | LOWER == u64::from_le_bytes(*b"ocalhost"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::simd::{Kernels, Task};

    #[test]
    fn ordinary_hosts() {
        for name in ["h", "example.com", "a-b.c-d.museum", "1st.example", "EXAMPLE.Com", "x.c0m"] {
            assert!(is_ordinary(name.as_bytes()), "{name}");
        }
        for name in [
            "",
            ".",
            "h.",
            ".h",
            "a..b",
            "-a",
            "a-",
            "a-.b",
            "a.-b",
            "a--b",
            "xn--a.b",
            "a_b.c",
            "1.2.3.4",
            "0x7f",
            "a.1",
            "a.0x1",
            "localhost",
            "a.LOCALHOST",
            "a%41",
            "\u{e4}",
            "a~b",
        ] {
            assert!(!is_ordinary(name.as_bytes()), "{name}");
        }
    }

    /// The result by masks for `name` after `before` other bytes.
    fn by_masks(kernels: Kernels, name: &[u8], before: usize) -> bool {
        struct Ask(Box<[u8; BLOCK]>, Range<usize>);
        impl Task for Ask {
            type Output = bool;
            #[inline(always)]
            fn run<I: Isa>(self, isa: I) -> bool {
                is_ordinary_in(isa, &self.0, self.1)
            }
        }
        let mut block = [b'a'; BLOCK];
        block[before..before + name.len()].copy_from_slice(name);
        kernels.run(Ask(Box::new(block), before..before + name.len()))
    }

    proptest! {
        #[test]
        fn masks_recognize_ordinary_hosts(name in "([a-zA-Z0-9.-]{0,8}|[!-~]{0,4}|[a-z]{0,3}\\.?localhos[a-z])", at_end in any::<bool>()) {
            let before = if at_end { BLOCK - name.len() } else { 8 };
            for kernels in Kernels::available() {
                let masks = by_masks(kernels, name.as_bytes(), before);
                prop_assert_eq!(masks, is_ordinary(name.as_bytes()), "{} on {:?}", name, kernels.backend());
            }
        }

        #[test]
        fn browsers_see_the_same_host_where_predicted(
            before in "(|u@|a:b@|1.2.3.4@)",
            name in "(([a-zA-Z0-9_.-]|%4[1-9a]|%3[0-9]|%2[de]|%5f){1,8}\
                |(xn--|Xn--|x%6e--)(bcher-kva|zrich-kva|BCHER-KVA|e1afmkfd|a|80ak6aa92e|[a-z0-9-]{1,6})(|\\.de|\\.xn--p1ai)\
                |[0-9]{1,3}(\\.[0-9]{1,3}){3})",
            after in "(|:|:8|:99999|/|\\?|/ |/\\\\x|#@|/\u{e4}|:8x|\\\\|/x?y#z|)",
        ) {
            let text = format!("http://{before}{name}{after}");
            let parsed = crate::uri::parse(text.as_bytes());
            let whole = host_by_whatwg(text.as_bytes(), &Components::default(), false);
            if let Ok(parts) = &parsed {
                prop_assert_eq!(&host_by_whatwg(text.as_bytes(), parts, true), &whole, "{}", text);
            }
            let is_same = parsed.is_ok_and(|parts| is_same_in_browsers(text.as_bytes(), &parts));
            if is_same || before.is_empty() && is_ordinary(name.as_bytes()) {
                let once = String::from_utf8(decoded(name.as_bytes())).unwrap();
                prop_assert!(whole.is_none_or(|whole| whole == once.to_ascii_lowercase()), "{}", text);
            }
        }
    }

    #[test]
    fn user_names_that_look_like_hosts() {
        for name in [
            "cnn.example.com&story=breaking_news",
            "www.bank",
            "bank.com",
            "bank.com/login",
            "10.0.0.1",
            "bank.co.uk",
            "BANK.COM.",
            "accounts.bank.com%2Flogin",
        ] {
            assert!(reads_like_a_host(&decoded(name.as_bytes())), "{name}");
        }
        for name in ["", "joe", "joe.doe", "joe%40example.com", "j.doe99", ".com", "com", "www."] {
            assert!(!reads_like_a_host(&decoded(name.as_bytes())), "{name}");
        }
    }

    #[test]
    fn servers_of_rfc_2396() {
        for authority in
            ["", "h", "a.b-c.d1", "h.", "u:p@h:80", "h:", "1.2.3.4", "999.1.1.1", "1a.b"]
        {
            assert!(is_server(authority.as_bytes()), "{authority}");
        }
        for authority in
            ["a_b.c", "-a.b", "a-.b", "a.1b", "a..b", "1.2.3", "a%41", "a~b", "u@", ":8"]
        {
            assert!(!is_server(authority.as_bytes()), "{authority}");
        }
    }

    #[test]
    fn twins() {
        assert_eq!(ascii_twin("p\u{430}ypal").as_deref(), Some("paypal"));
        assert_eq!(ascii_twin("\u{430}\u{440}\u{440}\u{4cf}\u{435}").as_deref(), Some("apple"));
        assert_eq!(ascii_twin("b\u{fc}cher"), None);
        assert_eq!(ascii_twin("\u{65e5}\u{672c}"), None);
    }
}
