//! Recognizes session ids in paths and queries.

use super::parts::is_dot_segment;
use super::query::any_param;
use crate::grammar::byte_words;

/// The first two letters of all names for which [`is_param`] may be true, in lower case.
pub(super) const PARAM_STARTS: [[u8; 2]; 8] =
    [*b"ph", *b"js", *b"as", *b"cf", *b"si", *b"os", *b"xt", *b"ze"];

/// Whether the parameter `name` with `value` is a session id. `page` is the last segment of the
/// path, and `has_pair` is whether the query [has a pair of ColdFusion](has_coldfusion_pair).
///
/// Only what a single system writes is recognized: its name, compared case-insensitively, with the
/// value that it generates. `session_id` and the like prove nothing: the programme of a conference
/// has sessions too, and a UUID or another random value in them is as often the id of a page.
pub(super) fn is_param(
    name: &[u8],
    value: &[u8],
    page: &[u8],
    has_pair: impl FnOnce() -> bool,
) -> bool {
    let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
    // All names begin with one of these letters; most others are rejected here.
    match name.first().map(u8::to_ascii_lowercase) {
        Some(b'p') => {
            is(b"phpsessid")
                && (22..=256).contains(&value.len())
                && value.iter().all(|byte| is_alnum(byte) || b",-".contains(byte))
        }
        Some(b'j') => is(b"jsessionid") && is_servlet_id(value),
        Some(b'a') => {
            // ASPSESSIONID and eight letters.
            name.len() == 20
                && name[..12].eq_ignore_ascii_case(b"aspsessionid")
                && name[12..].iter().all(u8::is_ascii_alphabetic)
                && value.len() >= 20
                && value.iter().all(u8::is_ascii_uppercase)
        }
        Some(b'c') => (is_cfid(name, value) || is_cftoken(name, value)) && has_pair(),
        Some(b's') => name == b"sid" && is_md5(value) && PHPBB.contains(&page),
        // osCommerce, xt:Commerce, Zen Cart.
        Some(b'o') => is(b"oscsid") && is_token(value),
        Some(b'x') => is(b"xtcsid") && is_token(value),
        Some(b'z') => is(b"zenid") && is_token(value),
        _ => false,
    }
}

/// Pages of phpBB that hardly any other system has. It adds `sid=` and an MD5 to each of its links.
const PHPBB: [&[u8]; 9] = byte_words(
    "viewtopic.php viewforum.php viewonline.php memberlist.php groupcp.php posting.php privmsg.php \
     ucp.php mcp.php",
);

/// Whether `query` holds both `cfid` and `cftoken` with values of ColdFusion, which writes them as
/// a pair. Alone, either may mean anything.
pub(super) fn has_coldfusion_pair(query: &[u8]) -> bool {
    let has = |is_it: fn(&[u8], &[u8]) -> bool| {
        any_param(query, |start, name_end, end| {
            is_it(&query[start..name_end], query.get(name_end + 1..end).unwrap_or_default())
        })
    };
    has(is_cfid) && has(is_cftoken)
}

pub(super) fn is_cfid(name: &[u8], value: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"cfid") && !value.is_empty() && value.iter().all(is_alnum_or_dash)
}

pub(super) fn is_cftoken(name: &[u8], value: &[u8]) -> bool {
    name.eq_ignore_ascii_case(b"cftoken") && value.len() >= 8 && value.iter().all(is_alnum_or_dash)
}

/// Whether `value` looks random: 16 letters and digits or more that alternate between the two at
/// least four times. Numbers and words, with or without a year, do not.
fn is_token(value: &[u8]) -> bool {
    let changes =
        value.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    value.len() >= 16 && value.iter().all(is_alnum) && changes.count() >= 4
}

/// Whether `value` is 32 hexadecimal digits in lower case.
fn is_md5(value: &[u8]) -> bool {
    value.len() == 32 && value.iter().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// Whether `value` is written by a servlet container after `jsessionid=`: an id, and perhaps the
/// name of a node. In a path, it removes that before an application sees the path.
fn is_servlet_id(value: &[u8]) -> bool {
    value.len() >= 8 && value.iter().all(|byte| is_alnum(byte) || b"-._~!:*".contains(byte))
}

fn is_alnum(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_alnum_or_dash(byte: &u8) -> bool {
    is_alnum(byte) || *byte == b'-'
}

/// Whether `part`, which is between two `;` of a segment or after the last one, is a session id.
pub(super) fn is_path_param(part: &[u8]) -> bool {
    const NAME: &[u8] = b"jsessionid=";
    part.len() > NAME.len()
        && part[..NAME.len()].eq_ignore_ascii_case(NAME)
        && is_servlet_id(&part[NAME.len()..])
}

/// Whether a segment is a cookieless id of ASP.NET: `(S(token))`, also with `A`, `F` and `X` beside
/// it. The token of a session has 24 letters and digits; the tickets of the other two are longer.
pub(super) fn is_cookieless(segment: &[u8]) -> bool {
    let Some(mut rest) = segment.strip_prefix(b"(").and_then(|rest| rest.strip_suffix(b")")) else {
        return false;
    };
    let mut has_token = false;
    while let [kind, b'(', more @ ..] = rest {
        let Some(end) = more.iter().position(|&byte| byte == b')') else { return false };
        let (value, after) = (&more[..end], &more[end + 1..]);
        let is_value = value.iter().all(|byte| is_alnum_or_dash(byte) || *byte == b'_');
        match kind {
            b'S' if value.len() == 24 && value.iter().all(is_alnum) => has_token = true,
            b'A' | b'F' if is_value && value.len() >= 20 => has_token = true,
            b'X' if value == b"1" => {}
            _ => return false,
        }
        rest = after;
    }
    has_token && rest.is_empty()
}

/// Appends `path` without its session ids to `out`; returns whether there were any.
///
/// A segment keeps its other content. A cookieless segment is dropped with the `/` after it, and
/// stays if none follows. An id stays if the segment would become a dot segment without it.
pub(super) fn strip_path(path: &[u8], out: &mut Vec<u8>) -> bool {
    let len = out.len();
    let mut segments = path.split(|&byte| byte == b'/').peekable();
    while let Some(segment) = segments.next() {
        let start = out.len();
        let mut parts = segment.split(|&byte| byte == b';');
        out.extend_from_slice(parts.next().unwrap_or_default());
        for part in parts.filter(|part| !is_path_param(part)) {
            out.push(b';');
            out.extend_from_slice(part);
        }
        if is_dot_segment(&out[start..]) {
            out.truncate(start);
            out.extend_from_slice(segment);
        }
        if segments.peek().is_some() {
            if is_cookieless(&out[start..]) {
                out.truncate(start);
            } else {
                out.push(b'/');
            }
        }
    }
    out.len() - len != path.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    const MD5: &str = "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e";

    #[test]
    fn parameters_are_recognized_by_name_and_shape() {
        for (name, value) in [
            ("PHPSESSID", MD5),
            ("phpsessid", "q1w2e3r4t5y6u7i8o9p0a1s2d3"),
            ("jsessionid", "1A2B3C4D5E6F.node1"),
            ("ASPSESSIONIDQQABCDEF", "ABCDEFGHIJKLMNOPQRSTUVWX"),
            ("osCsid", "k3j4h5g6f7d8s9a0q1w2e3"),
            ("XTCsid", MD5),
            ("zenid", MD5),
        ] {
            let is_id = is_param(name.as_bytes(), value.as_bytes(), b"a", || unreachable!());
            assert!(is_id, "{name}={value}");
        }
        for (name, value) in [
            ("PHPSESSID", "short"),
            ("PHPSESSID", ""),
            ("PHPSESSID", "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8_"),
            ("oscsid", "12345"),
            ("oscsid", "1234567890123456"),
            ("oscsid", "marketing2020campaign"),
            ("zenid", "123e4567-e89b-12d3-a456-426614174000"),
            ("s", MD5),
            ("sids", MD5),
            ("id", MD5),
            ("ASPSESSIONID", "ABCDEFGHIJKLMNOPQRSTUVWX"),
            ("ASPSESSIONIDQQABCDE1", "ABCDEFGHIJKLMNOPQRSTUVWX"),
            ("jsessionid", "a b"),
            ("", MD5),
        ] {
            let is_id = is_param(name.as_bytes(), value.as_bytes(), b"viewtopic.php", || true);
            assert!(!is_id, "{name}={value}");
        }
        // Names that may mean the session of a conference, a seller, a story.
        for name in ["sessionid", "session_id", "session-id", "sessid", "sid", "SID"] {
            for value in [MD5, "123e4567-e89b-12d3-a456-426614174000", "5f3a9c2e1b7d4a6f8c0e9b2d"] {
                let is_id = is_param(name.as_bytes(), value.as_bytes(), b"index.php", || true);
                assert!(!is_id, "{name}={value}");
            }
        }
    }

    #[test]
    fn sid_is_a_session_on_pages_of_phpbb() {
        let is_id = |value: &str, page: &str| {
            is_param(b"sid", value.as_bytes(), page.as_bytes(), || unreachable!())
        };
        assert!(PHPBB.iter().all(|page| is_id(MD5, str::from_utf8(page).unwrap())));
        for page in
            ["", "index.php", "viewtopic", "xviewtopic.php", "viewtopic.php;x", "Viewtopic.php"]
        {
            assert!(!is_id(MD5, page), "{page}");
        }
        for value in
            ["", "3", &MD5[1..], &MD5.to_uppercase(), "123e4567-e89b-12d3-a456-426614174000"]
        {
            assert!(!is_id(value, "viewtopic.php"), "{value}");
        }
    }

    #[test]
    fn cfid_and_cftoken_are_ids_together() {
        for (query, expected) in [
            ("CFID=12&CFTOKEN=34567890", true),
            ("cftoken=4c1c8f5ae1f5-1234ABCD&a=1&cfid=d5ed1cd1-12", true),
            ("cfid=12", false),
            ("cftoken=34567890", false),
            ("cfid=&cftoken=34567890", false),
            ("cfid=12&cftoken=345", false),
            ("cfid=1_2&cftoken=34567890", false),
            ("cfid&cftoken", false),
            ("xcfid=12&cftoken=34567890", false),
            ("", false),
        ] {
            assert_eq!(has_coldfusion_pair(query.as_bytes()), expected, "{query}");
        }
        for (name, value) in [("CFID", "12"), ("cftoken", "34567890")] {
            for has_pair in [false, true] {
                let is_id = is_param(name.as_bytes(), value.as_bytes(), b"", || has_pair);
                assert_eq!(is_id, has_pair, "{name}");
            }
        }
        assert!(!is_param(b"cfid", b"", b"", || true));
    }

    #[test]
    fn paths_lose_session_ids_and_nothing_else() {
        const S: &str = "(S(abcdefghij0123456789abcd))";
        for (path, expected) in [
            ("/a;jsessionid=1A2B3C4D", "/a"),
            ("/a;JSESSIONID=1A2B3C4D!-123!456/b", "/a/b"),
            ("/a;v=1;jsessionid=1A2B3C4D;w=2", "/a;v=1;w=2"),
            ("/;jsessionid=1A2B3C4D", "/"),
            ("/.;jsessionid=1A2B3C4D/x", "/.;jsessionid=1A2B3C4D/x"),
            ("/a;jsessionid=", "/a;jsessionid="),
            ("/a;xjsessionid=1A2B3C4D", "/a;xjsessionid=1A2B3C4D"),
            ("/jsessionid=1A2B3C4D", "/jsessionid=1A2B3C4D"),
            (&format!("/app/{S}/x"), "/app/x"),
            (&format!("/{S}/{S}/"), "/"),
            (&format!("/{S};jsessionid=1A2B3C4D/x"), "/x"),
            (&format!("/app/{S}"), &format!("/app/{S}")),
            ("/(S(short))/x", "/(S(short))/x"),
            ("/(S(abcdefghij0123456789abc))/x", "/(S(abcdefghij0123456789abc))/x"),
            ("/(S(abcdefghij0123456789abcde))/x", "/(S(abcdefghij0123456789abcde))/x"),
            ("/(S(abcdefghij-0123456789abc))/x", "/(S(abcdefghij-0123456789abc))/x"),
            ("/(F(abcdefghij-0123456789abcde))/x", "/x"),
            ("/(X(1)S(abcdefghij0123456789abcd))/x", "/x"),
            ("/(X(1))/x", "/(X(1))/x"),
            ("/(S(abcdefghij0123456789abcd)/x", "/(S(abcdefghij0123456789abcd)/x"),
            ("", ""),
            ("//", "//"),
        ] {
            let mut out = b"kept".to_vec();
            let changed = strip_path(path.as_bytes(), &mut out);
            assert_eq!(String::from_utf8_lossy(&out[4..]), expected, "{path}");
            assert_eq!(changed, path != expected, "{path}");
        }
    }
}
