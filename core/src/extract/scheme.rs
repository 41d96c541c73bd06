//! Finds the `:` in running text that end a scheme, and where the scheme begins.

use crate::grammar::class::{ALPHA, DIGIT, SCHEME, UNRESERVED, URI_BYTE};
use crate::grammar::{ByteClass, scheme_facts};

/// The schemes of the links to find.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Schemes {
    /// Any scheme before `://`. Without an authority only schemes whose links are distinguishable
    /// from prose: `mailto`, `urn`, `tel`, `sms`, `news`, `data`, `magnet`, `doi`, `sip`, `sips`,
    /// `xmpp`, `geo`, `cid`, `mid`, `acct`, `tag` and `ark`, each only if the rest fits the scheme.
    #[default]
    Known,
    /// Anything that looks like a scheme of two letters or more. Finds `note:this` in prose.
    Any,
    /// These, in lower case, without `:`.
    List(Vec<String>),
}

impl Schemes {
    /// Whether only some schemes are allowed.
    pub(crate) fn is_list(&self) -> bool {
        matches!(self, Schemes::List(_))
    }

    /// Whether `scheme`, in any case, is allowed before `://`.
    pub(crate) fn allows(&self, scheme: &[u8]) -> bool {
        match self {
            Schemes::Known | Schemes::Any => true,
            Schemes::List(names) => {
                names.iter().any(|name| name.as_bytes().eq_ignore_ascii_case(scheme))
            }
        }
    }

    /// Whether `scheme`, in any case, is allowed before `rest` without an authority.
    fn allows_opaque(&self, scheme: &[u8], rest: &[u8]) -> bool {
        let Some(&first) = rest.first() else { return false };
        match self {
            Schemes::Known => is_distinct_from_prose(scheme, rest),
            Schemes::Any => {
                scheme.len() > 1 && OPAQUE_START.has(first) && !scheme.eq_ignore_ascii_case(b"url")
            }
            // Selected by name: the rest is not checked.
            Schemes::List(_) => self.allows(scheme) && OPAQUE_START.has(first),
        }
    }
}

/// The bytes that may follow `://`: the first byte of a host or user information in practice.
pub(super) const HOST_START: ByteClass =
    UNRESERVED.without(ByteClass::of(b".")).or(ByteClass::of(b"%[$@"));
/// The bytes that may follow the `:` of a scheme without authority.
const OPAQUE_START: ByteClass = URI_BYTE.without(ByteClass::of(b".,:;!'()[]"));
/// Schemes that are found even if a word directly precedes them, as in `\nhttp://` or `seehttp://`.
const STICKY: [&[u8]; 3] = [b"https", b"http", b"ftp"];
/// The schemes that [`Schemes::Known`] finds without an authority.
const OPAQUE: [&[u8]; 17] = [
    b"mailto", b"urn", b"tel", b"sms", b"news", b"data", b"magnet", b"doi", b"sip", b"sips",
    b"xmpp", b"geo", b"cid", b"mid", b"acct", b"tag", b"ark",
];
/// Number of bytes after a scheme without authority that are examined to distinguish it from prose.
const LOOK_AHEAD: usize = 256;

/// Where a link with its `:` at `colon` may begin: the offset of its scheme, and the offset after
/// the `:` or `://`. Bytes before `floor` do not belong to it; `text` ends where the search ends.
#[inline(never)]
pub(crate) fn start(
    schemes: &Schemes,
    unicode: bool,
    text: &[u8],
    floor: usize,
    colon: usize,
) -> Option<(usize, usize)> {
    let rest = &text[colon + 1..];
    if let Some(start) = common_start(&text[floor..colon], rest) {
        let scheme = &text[floor + start..colon];
        return schemes.allows(scheme).then_some((floor + start, colon + 3));
    }
    let run = run_before(text, floor, colon)?;
    if let Some(after) = rest.strip_prefix(b"//") {
        let scheme = before_authority(schemes, &text[run..colon])?;
        let is_start = match *after.first()? {
            b'/' => !needs_host(scheme),
            b':' => is_userinfo(after),
            byte => HOST_START.has(byte) || (unicode && byte >= 0x80),
        };
        return is_start.then_some((colon - scheme.len(), colon + 3));
    }
    if schemes.allows_opaque(&text[run..colon], rest) {
        return Some((run, colon + 1));
    }
    // An escaped line end or tab before it: "\nmailto:a@b".
    let is_escaped = run > floor && text[run - 1] == b'\\' && b"nrt".contains(&text[run]);
    let run = run + 1;
    (is_escaped && run < colon && schemes.allows_opaque(&text[run..colon], rest))
        .then_some((run, colon + 1))
}

/// Where the scheme that ends at `colon` begins, found in eight bytes at once: only if it is `http`
/// or `https` in lower case, preceded by something that is neither part of a scheme nor before
/// `floor`, and followed by `//` and the beginning of a host. [`start`] then returns the same,
/// wherever such schemes are allowed.
#[inline(always)]
pub(super) fn usual_start(text: &[u8], floor: usize, colon: usize) -> Option<usize> {
    const HTTP: u64 = u64::from_be_bytes(*b"\0\0\0\0http");
    const HTTPS: u64 = u64::from_be_bytes(*b"\0\0\0https");
    if colon < floor + 8 {
        return None;
    }
    let &[b':', b'/', b'/', first] = text[colon..].first_chunk()? else { return None };
    let before = u64::from_be_bytes(*text[..colon].last_chunk()?);
    let len = if before as u32 == HTTP as u32 {
        4
    } else if before & 0xFF_FFFF_FFFF == HTTPS {
        5
    } else {
        return None;
    };
    let before = before >> (8 * len);
    let (left, far_left) = (before as u8, (before >> 8) as u8);
    // A scheme begins with a letter: the `+` in `; +http://` is not part of one, but `git+http` is
    // a scheme.
    let is_free = !SCHEME.has(left) || !ALPHA.has(left) && !SCHEME.has(far_left);
    (is_free && HOST_START.has(first)).then_some(colon - len)
}

/// Whether the adjacent bytes allow a scheme to end at `colon`, for [`Schemes::Known`].
#[inline(always)]
pub(super) fn may_end_at(text: &[u8], colon: usize) -> bool {
    if text[colon + 1..].starts_with(b"//") {
        return true;
    }
    let Some(&[before, last]) = text[..colon].last_chunk() else { return false };
    OPAQUE_ENDS[usize::from(before & 31)] >> (last & 31) & 1 != 0
}

/// Indexed by the low five bits of the last two bytes of a scheme: whether it may be one of
/// [`OPAQUE`].
static OPAQUE_ENDS: [u32; 32] = {
    let mut table = [0; 32];
    let mut i = 0;
    while i < OPAQUE.len() {
        let name = OPAQUE[i];
        table[(name[name.len() - 2] & 31) as usize] |= 1 << (name[name.len() - 1] & 31);
        i += 1;
    }
    table
};

/// Where the scheme begins in `before`, the text before the `:`, in the common case: `http` or
/// `https` in lower case, nothing directly before it, and after `//` the beginning of a host.
#[inline]
fn common_start(before: &[u8], rest: &[u8]) -> Option<usize> {
    let [b'/', b'/', first, ..] = *rest else { return None };
    let len = if before.ends_with(b"http") {
        4
    } else if before.ends_with(b"https") {
        5
    } else {
        return None;
    };
    let start = before.len() - len;
    let is_free = start == 0 || !SCHEME.has(before[start - 1]);
    (is_free && HOST_START.has(first)).then_some(start)
}

/// Where the run of scheme characters before `colon` begins, from a letter on; `None` if it has no
/// letter.
fn run_before(text: &[u8], floor: usize, colon: usize) -> Option<usize> {
    let mut start = colon;
    while start > floor && SCHEME.has(text[start - 1]) {
        start -= 1;
    }
    (start..colon).find(|&at| ALPHA.has(text[at]))
}

/// The suffix of `run` that is the scheme of a link with an authority.
fn before_authority<'t>(schemes: &Schemes, run: &'t [u8]) -> Option<&'t [u8]> {
    let is_named = matches!(schemes, Schemes::List(_)) && schemes.allows(run);
    if is_named || scheme_facts(run).is_some() || *schemes == Schemes::Any {
        return schemes.allows(run).then_some(run);
    }
    for name in STICKY {
        let Some((before, tail)) = run.split_at_checked(run.len().wrapping_sub(name.len())) else {
            continue;
        };
        // `git+https` is a scheme of its own.
        if tail.eq_ignore_ascii_case(name) && before.last() != Some(&b'+') {
            return schemes.allows(tail).then_some(tail);
        }
    }
    schemes.allows(run).then_some(run)
}

/// Whether `rest`, the text after `://`, begins with userinfo that a host follows, as in `:p@h`.
fn is_userinfo(rest: &[u8]) -> bool {
    let rest = within_link(rest);
    let mark = rest.iter().position(|byte| b"/?#@".contains(byte)).map(|at| &rest[at..]);
    matches!(mark, Some([b'@', first, ..]) if HOST_START.has(*first))
}

/// Whether a link of `scheme` without a host does not count.
fn needs_host(scheme: &[u8]) -> bool {
    let names: [&[u8]; 6] = [b"http", b"https", b"ws", b"wss", b"ftp", b"ftps"];
    names.iter().any(|name| name.eq_ignore_ascii_case(scheme))
}

/// The bytes of `rest` that may belong to a link, up to the examined length.
fn within_link(rest: &[u8]) -> &[u8] {
    let rest = &rest[..rest.len().min(LOOK_AHEAD)];
    &rest[..rest.iter().position(|&byte| !URI_BYTE.has(byte)).unwrap_or(rest.len())]
}

/// Whether `scheme` is a known scheme without authority and `rest` fits it: prose has `news: none`,
/// `data:` and `tel:` too.
fn is_distinct_from_prose(scheme: &[u8], rest: &[u8]) -> bool {
    let mut lower = [0; 8];
    let Some(lower) = lower.get_mut(..scheme.len()) else { return false };
    lower.copy_from_slice(scheme);
    lower.make_ascii_lowercase();
    let is_link: fn(&[u8]) -> bool = match &*lower {
        b"mailto" | b"cid" | b"mid" | b"acct" => |rest| has(rest, b'@'),
        b"sip" | b"sips" | b"xmpp" => {
            |rest| begins(rest, UNRESERVED) && (has(rest, b'@') || has(rest, b'.'))
        }
        b"news" => |rest| {
            (begins(rest, ALPHA) && has(rest, b'.'))
                || (begins(rest, ALPHA.or(DIGIT)) && has(rest, b'@'))
        },
        b"tel" | b"sms" => {
            |rest| begins(rest, DIGIT) || matches!(rest, [b'+', digit, ..] if DIGIT.has(*digit))
        }
        b"geo" => |rest| (begins(rest, DIGIT) || rest.starts_with(b"-")) && has(rest, b','),
        b"magnet" => |rest| rest.starts_with(b"?") && rest.len() > 1,
        b"doi" => |rest| rest.starts_with(b"10.") && has(rest, b'/'),
        b"ark" => |rest| {
            let name = rest.strip_prefix(b"/").unwrap_or(rest);
            begins(name, DIGIT) && name.contains(&b'/')
        },
        b"urn" => is_urn,
        b"tag" => is_tag,
        b"data" => is_data,
        _ => return false,
    };
    // Tested last, as it reads every byte.
    is_link(within_link(rest))
}

/// Whether `byte` is in `rest`, not first and not last.
fn has(rest: &[u8], byte: u8) -> bool {
    memchr::memchr(byte, rest).is_some_and(|at| at > 0 && at + 1 < rest.len())
}

fn begins(rest: &[u8], class: ByteClass) -> bool {
    rest.first().is_some_and(|&byte| class.has(byte))
}

/// `NID ":" NSS` (RFC 8141 section 2).
fn is_urn(rest: &[u8]) -> bool {
    let Some(colon) = memchr::memchr(b':', rest) else { return false };
    let (nid, nss) = (&rest[..colon], &rest[colon + 1..]);
    let is_name = |byte: &u8| ALPHA.has(*byte) || DIGIT.has(*byte) || *byte == b'-';
    (2..=32).contains(&nid.len()) && nid.iter().all(is_name) && nid[0] != b'-' && !nss.is_empty()
}

/// `authority "," date ":"` (RFC 4151 section 2.1).
fn is_tag(rest: &[u8]) -> bool {
    let Some(comma) = memchr::memchr(b',', rest) else { return false };
    let date = &rest[comma + 1..];
    comma > 0
        && date.len() > 4
        && date[..4].iter().all(|&byte| DIGIT.has(byte))
        && date.contains(&b':')
}

/// `[ mediatype ] [ ";base64" ] "," data` (RFC 2397 section 3).
fn is_data(rest: &[u8]) -> bool {
    const MEDIA: ByteClass = UNRESERVED.or(ByteClass::of(b"!$&+/;=%'*"));
    let Some(comma) = memchr::memchr(b',', rest) else { return false };
    let media = &rest[..comma];
    media.iter().all(|&byte| MEDIA.has(byte))
        && (media.is_empty() || media[0] == b';' || media.contains(&b'/'))
        && comma + 1 < rest.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_known_scheme_is_excluded_by_its_end() {
        // Each is followed by something that fits.
        let rest = ["a@b", "isbn:1", "1", "a.b", ",x", "?x", "10.1/x", "1,2", "12/3", "a,2026:x"];
        let is_known =
            |name: &[u8]| rest.iter().any(|rest| is_distinct_from_prose(name, rest.as_bytes()));
        for name in OPAQUE {
            assert!(is_known(name));
            let text = [name, b":x"].concat();
            assert!(may_end_at(&text, name.len()));
            assert!(may_end_at(&text.to_ascii_uppercase(), name.len()));
        }
        // No other scheme of up to three letters is known.
        for len in 1..=3 {
            for number in 0..26usize.pow(len) {
                let name: Vec<u8> =
                    (0..len).map(|i| b'a' + (number / 26usize.pow(i) % 26) as u8).collect();
                assert_eq!(is_known(&name), OPAQUE.contains(&&name[..]), "{name:?}");
            }
        }
        assert!(may_end_at(b"x://", 1) && may_end_at(b"://", 0));
        assert!(!may_end_at(b"rv:1", 2) && !may_end_at(b":", 0));
    }
}
