//! What a session id looks like, in a path and in a query.

use super::parts::is_dot_segment;

/// Whether the parameter `name` with `value` is a session id.
///
/// Names are compared without regard to case. A name that only sessions have is enough together
/// with what its system writes there; of a name that others use too the value must be a
/// [token](is_token).
pub(super) fn is_param(name: &[u8], value: &[u8]) -> bool {
    const GENERIC: [&[u8]; 8] = [
        b"sid",
        b"sessid",
        b"sessionid",
        b"session_id",
        b"session-id",
        b"oscsid",
        b"xtcsid",
        b"zenid",
    ];
    let is = |known: &[u8]| name.eq_ignore_ascii_case(known);
    // All names begin with one of these letters; most others go here.
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
                && value.len() >= 20
                && value.iter().all(u8::is_ascii_uppercase)
        }
        Some(b'c') => {
            (is(b"cfid") && !value.is_empty() && value.iter().all(is_alnum_or_dash))
                || (is(b"cftoken") && value.len() >= 8 && value.iter().all(is_alnum_or_dash))
        }
        Some(b's' | b'o' | b'x' | b'z') => GENERIC.into_iter().any(is) && is_token(value),
        _ => false,
    }
}

/// Whether `value` looks drawn by lot: a UUID, or 16 letters and digits or more that change between
/// the two at least four times. Numbers and words, with or without a year, do not.
fn is_token(value: &[u8]) -> bool {
    let is_uuid = value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        });
    let changes =
        value.windows(2).filter(|pair| pair[0].is_ascii_digit() != pair[1].is_ascii_digit());
    is_uuid || (value.len() >= 16 && value.iter().all(is_alnum) && changes.count() >= 4)
}

/// What a servlet container writes behind `jsessionid=`: an id, and perhaps the name of a node.
fn is_servlet_id(value: &[u8]) -> bool {
    value.len() >= 8 && value.iter().all(|byte| is_alnum(byte) || b"-._~!:*".contains(byte))
}

fn is_alnum(byte: &u8) -> bool {
    byte.is_ascii_alphanumeric()
}

fn is_alnum_or_dash(byte: &u8) -> bool {
    is_alnum(byte) || *byte == b'-'
}

/// Whether `part`, which stands between two `;` of a segment or behind the last one, is a session id.
pub(super) fn is_path_param(part: &[u8]) -> bool {
    const NAME: &[u8] = b"jsessionid=";
    part.len() > NAME.len()
        && part[..NAME.len()].eq_ignore_ascii_case(NAME)
        && is_servlet_id(&part[NAME.len()..])
}

/// Whether a segment is a cookieless id of ASP.NET: `(S(token))`, also with `A`, `F` and `X` beside it.
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
            b'S' | b'A' | b'F' if is_value && value.len() >= 20 => has_token = true,
            b'X' if value == b"1" => {}
            _ => return false,
        }
        rest = after;
    }
    has_token && rest.is_empty()
}

/// Appends `path` without its session ids to `out`; says whether there were some.
///
/// A segment keeps what else it holds. A cookieless segment goes with the `/` behind it, and stays
/// where none follows. An id stays if without it the segment would be a dot segment.
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

    #[test]
    fn parameters_are_known_by_name_and_shape() {
        for (name, value) in [
            ("PHPSESSID", "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e"),
            ("phpsessid", "q1w2e3r4t5y6u7i8o9p0a1s2d3"),
            ("jsessionid", "1A2B3C4D5E6F.node1"),
            ("ASPSESSIONIDQQABCDEF", "ABCDEFGHIJKLMNOPQRSTUVWX"),
            ("CFID", "12345"),
            ("CFTOKEN", "a1b2c3d4e5"),
            ("sid", "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e"),
            ("SessionID", "123e4567-e89b-12d3-a456-426614174000"),
            ("osCsid", "k3j4h5g6f7d8s9a0q1w2e3"),
        ] {
            assert!(is_param(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
        for (name, value) in [
            ("PHPSESSID", "short"),
            ("PHPSESSID", ""),
            ("sid", "12345"),
            ("sid", "1234567890123456"),
            ("sid", "marketing2020campaign"),
            ("sid", "summer-2020-shoes-1-2-3"),
            ("s", "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e"),
            ("sids", "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e"),
            ("id", "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e"),
            ("ASPSESSIONID", "ABCDEFGHIJKLMNOPQRSTUVWX"),
            ("cfid", ""),
            ("jsessionid", "a b"),
            ("", "3d2b0e1c9f8a7b6c5d4e3f2a1b0c9d8e"),
        ] {
            assert!(!is_param(name.as_bytes(), value.as_bytes()), "{name}={value}");
        }
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
