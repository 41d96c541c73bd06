use super::*;
use crate::uri::split;

type Text<'t> = Option<&'t str>;

/// `(reference, scheme, userinfo, host, port, path, query, fragment)`
type Row<'t> = (&'t str, Text<'t>, Text<'t>, Text<'t>, Text<'t>, &'t str, Text<'t>, Text<'t>);

#[rustfmt::skip]
const ROWS: &[Row<'_>] = &[
    // 1.1.2
    ("ftp://ftp.is.co.za/rfc/rfc1808.txt", Some("ftp"), None, Some("ftp.is.co.za"), None, "/rfc/rfc1808.txt", None, None),
    ("http://www.ietf.org/rfc/rfc2396.txt", Some("http"), None, Some("www.ietf.org"), None, "/rfc/rfc2396.txt", None, None),
    ("ldap://[2001:db8::7]/c=GB?objectClass?one", Some("ldap"), None, Some("[2001:db8::7]"), None, "/c=GB", Some("objectClass?one"), None),
    ("mailto:John.Doe@example.com", Some("mailto"), None, None, None, "John.Doe@example.com", None, None),
    ("news:comp.infosystems.www.servers.unix", Some("news"), None, None, None, "comp.infosystems.www.servers.unix", None, None),
    ("tel:+1-816-555-1212", Some("tel"), None, None, None, "+1-816-555-1212", None, None),
    ("telnet://192.0.2.16:80/", Some("telnet"), None, Some("192.0.2.16"), Some("80"), "/", None, None),
    ("urn:oasis:names:specification:docbook:dtd:xml:4.1.2", Some("urn"), None, None, None, "oasis:names:specification:docbook:dtd:xml:4.1.2", None, None),
    // 3
    ("foo://example.com:8042/over/there?name=ferret#nose", Some("foo"), None, Some("example.com"), Some("8042"), "/over/there", Some("name=ferret"), Some("nose")),
    ("urn:example:animal:ferret:nose", Some("urn"), None, None, None, "example:animal:ferret:nose", None, None),
    ("foo://info.example.com?fred", Some("foo"), None, Some("info.example.com"), None, "", Some("fred"), None),
    // 7.6: all of the host-like part is userinfo
    ("ftp://cnn.example.com&story=breaking_news@10.0.0.1/top_story.htm", Some("ftp"), Some("cnn.example.com&story=breaking_news"), Some("10.0.0.1"), None, "/top_story.htm", None, None),
    // undefined and empty stay apart
    ("", None, None, None, None, "", None, None),
    ("?", None, None, None, None, "", Some(""), None),
    ("#", None, None, None, None, "", None, Some("")),
    ("?#", None, None, None, None, "", Some(""), Some("")),
    ("//", None, None, Some(""), None, "", None, None),
    ("//@", None, Some(""), Some(""), None, "", None, None),
    ("//:", None, None, Some(""), Some(""), "", None, None),
    ("//@:", None, Some(""), Some(""), Some(""), "", None, None),
    ("//:@:?", None, Some(":"), Some(""), Some(""), "", Some(""), None),
    ("a:", Some("a"), None, None, None, "", None, None),
    ("http://h/?", Some("http"), None, Some("h"), None, "/", Some(""), None),
    ("http://h/#", Some("http"), None, Some("h"), None, "/", None, Some("")),
    ("http://@h/", Some("http"), Some(""), Some("h"), None, "/", None, None),
    ("file:///etc", Some("file"), None, Some(""), None, "/etc", None, None),
    // ports are text of any length
    ("http://h:0080/", Some("http"), None, Some("h"), Some("0080"), "/", None, None),
    ("http://h:4294967376/", Some("http"), None, Some("h"), Some("4294967376"), "/", None, None),
    ("//[::1]:443", None, None, Some("[::1]"), Some("443"), "", None, None),
    // the five path rules: abempty, absolute, noscheme, rootless, empty
    ("//h/a//b/", None, None, Some("h"), None, "/a//b/", None, None),
    ("//h//", None, None, Some("h"), None, "//", None, None),
    ("/", None, None, None, None, "/", None, None),
    ("/a//b:c", None, None, None, None, "/a//b:c", None, None),
    ("a:/.//b", Some("a"), None, None, None, "/.//b", None, None),
    ("a/b:c", None, None, None, None, "a/b:c", None, None),
    ("@/b", None, None, None, None, "@/b", None, None),
    ("./a:b", None, None, None, None, "./a:b", None, None),
    ("%41/b:c", None, None, None, None, "%41/b:c", None, None),
    ("a::b", Some("a"), None, None, None, ":b", None, None),
    ("a:b//c", Some("a"), None, None, None, "b//c", None, None),
    // delimiters that are data further right
    ("?x:y", None, None, None, None, "", Some("x:y"), None),
    ("#a:b", None, None, None, None, "", None, Some("a:b")),
    ("?a?b/c@d", None, None, None, None, "", Some("a?b/c@d"), None),
    ("#a?b/c", None, None, None, None, "", None, Some("a?b/c")),
    ("//h?a@b", None, None, Some("h"), None, "", Some("a@b"), None),
    ("//h#a@b:c", None, None, Some("h"), None, "", None, Some("a@b:c")),
    ("//h/a@b:c", None, None, Some("h"), None, "/a@b:c", None, None),
    ("//a:b:c@h", None, Some("a:b:c"), Some("h"), None, "", None, None),
    ("//a:x@h:1", None, Some("a:x"), Some("h"), Some("1"), "", None, None),
    // encoded delimiters are data
    ("//a%40b@h%3A1/%2F%3F%23?%23#%23", None, Some("a%40b"), Some("h%3A1"), None, "/%2F%3F%23", Some("%23"), Some("%23")),
    ("%25%34%31", None, None, None, None, "%25%34%31", None, None),
    ("//u@[v1.a:b]:8?q", None, Some("u"), Some("[v1.a:b]"), Some("8"), "", Some("q"), None),
    ("A+-.0:", Some("A+-.0"), None, None, None, "", None, None),
];

#[test]
fn valid_references_have_their_components() {
    for &(text, scheme, userinfo, host, port, path, query, fragment) in ROWS {
        let bytes = text.as_bytes();
        let c = parse(bytes).unwrap_or_else(|error| panic!("{text:?}: {error}"));
        assert_eq!(c.scheme(bytes), scheme.map(str::as_bytes), "scheme of {text:?}");
        assert_eq!(c.userinfo(bytes), userinfo.map(str::as_bytes), "userinfo of {text:?}");
        assert_eq!(c.host(bytes), host.map(str::as_bytes), "host of {text:?}");
        assert_eq!(c.port(bytes), port.map(str::as_bytes), "port of {text:?}");
        assert_eq!(c.path(bytes), path.as_bytes(), "path of {text:?}");
        assert_eq!(c.query(bytes), query.map(str::as_bytes), "query of {text:?}");
        assert_eq!(c.fragment(bytes), fragment.map(str::as_bytes), "fragment of {text:?}");
        assert_eq!(c.authority(bytes), split(bytes).authority, "authority of {text:?}");
        assert_eq!(c.is_uri(), scheme.is_some(), "{text:?}");
        assert_eq!(c.is_absolute_uri(), scheme.is_some() && fragment.is_none(), "{text:?}");
        assert_eq!(c.host_kind == HostKind::None, host.is_none(), "{text:?}");
    }
}

#[test]
fn hosts_have_their_kind() {
    let rows = [
        ("a", HostKind::None),
        ("//", HostKind::RegName),
        ("//h", HostKind::RegName),
        ("//1.2.3.4", HostKind::Ipv4),
        ("//u@1.2.3.4:1", HostKind::Ipv4),
        ("//1.2.3.256", HostKind::RegName),
        ("//1.2.3.4a", HostKind::RegName),
        ("//[::ffff:1.2.3.4]", HostKind::Ipv6),
        ("//u@[::]:1/", HostKind::Ipv6),
        ("//[v1.x]", HostKind::IpFuture),
        ("//[V1.x]", HostKind::IpFuture),
    ];
    for (text, kind) in rows {
        assert_eq!(parse(text.as_bytes()).map(|c| c.host_kind), Ok(kind), "{text:?}");
    }
}

#[track_caller]
fn fails(text: impl AsRef<[u8]>, kind: UriErrorKind, at: u32) {
    let text = text.as_ref();
    assert_eq!(parse(text), Err(UriError { kind, at }), "{:?}", text.escape_ascii().to_string());
}

#[test]
fn faults_of_schemes_are_reported_where_they_are() {
    fails(":", UriErrorKind::Scheme, 0);
    fails(":x", UriErrorKind::Scheme, 0);
    fails("://h/", UriErrorKind::Scheme, 0);
    fails("1a:b", UriErrorKind::Scheme, 0);
    fails("+a:b", UriErrorKind::Scheme, 0);
    fails("a_b:c", UriErrorKind::Scheme, 1);
    fails("1a_b:c", UriErrorKind::Scheme, 0);
    fails("a@b:c", UriErrorKind::Scheme, 1);
    fails("%41:b", UriErrorKind::Scheme, 0);
    fails("a%41:b", UriErrorKind::Scheme, 1);
    fails("192.168.0.1:80/a b", UriErrorKind::Scheme, 0);
}

#[test]
fn a_byte_no_segment_may_hold_comes_before_the_colon() {
    fails("a b:c", UriErrorKind::Space, 1);
    fails("1 b:c", UriErrorKind::Space, 1);
    fails("a_\tb:c", UriErrorKind::Control, 2);
    fails("%4:c", UriErrorKind::Percent, 0);
    fails("a[b:c", UriErrorKind::Bracket, 1);
    fails("caf\u{e9}:c", UriErrorKind::NonAscii, 3);
    fails("\"a:b\"", UriErrorKind::Byte, 0);
    // … but not after it.
    fails("a_b:c d", UriErrorKind::Scheme, 1);
}

#[test]
fn broken_percent_encodings_are_reported_where_they_begin() {
    for text in ["%", "%4", "%4g", "%g4", "%%41", "%\u{e9}", "%4#", "%4/41", "%-1"] {
        fails(text, UriErrorKind::Percent, 0);
        fails(format!("a:{text}"), UriErrorKind::Percent, 2);
        fails(format!("//{text}@h"), UriErrorKind::Percent, 2);
        fails(format!("//{text}:1"), UriErrorKind::Percent, 2);
        fails(format!("//h/{text}"), UriErrorKind::Percent, 4);
        fails(format!("?{text}"), UriErrorKind::Percent, 1);
        fails(format!("#{text}"), UriErrorKind::Percent, 1);
    }
    fails("%41%42%4", UriErrorKind::Percent, 6);
    fails("//h%4:1", UriErrorKind::Percent, 3);
    fails("//u%4@h", UriErrorKind::Percent, 3);
}

#[test]
fn invalid_bytes_are_reported_by_their_class() {
    let rows: &[(UriErrorKind, &[u8])] = &[
        (UriErrorKind::Space, b" "),
        (UriErrorKind::Control, b"\0\t\n\r\x1f\x7f"),
        (UriErrorKind::NonAscii, b"\x80\xa0\xc3\xff"),
        (UriErrorKind::Byte, b"\"<>\\^`{|}"),
        (UriErrorKind::Bracket, b"[]"),
    ];
    for &(kind, bytes) in rows {
        for &byte in bytes {
            for (before, after) in [
                ("", ""),
                ("a", "/b"),
                ("//u", "@h"),
                ("//h", "/"),
                ("a:", "b"),
                ("?a", ""),
                ("#", "a"),
            ] {
                let text = [before.as_bytes(), &[byte], after.as_bytes()].concat();
                fails(text, kind, u32::try_from(before.len()).unwrap());
            }
        }
    }
}

#[test]
fn misplaced_brackets_are_reported_where_they_are() {
    fails("a:[b]", UriErrorKind::Bracket, 2);
    fails("//h[::1]", UriErrorKind::Bracket, 3);
    fails("//h]", UriErrorKind::Bracket, 3);
    fails("//[::1]@h", UriErrorKind::Bracket, 2);
    fails("//u@h/[", UriErrorKind::Bracket, 6);
}

#[test]
fn misplaced_delimiters_are_reported_where_they_are() {
    fails("##", UriErrorKind::Delimiter, 1);
    fails("a:b?c#d#", UriErrorKind::Delimiter, 7);
    fails("//a@b@c", UriErrorKind::Delimiter, 5);
    fails("//@@", UriErrorKind::Delimiter, 3);
    fails("//a@b:8@c", UriErrorKind::Delimiter, 7);
    fails("//a@[::1]@c", UriErrorKind::Delimiter, 9);
    fails("//a@[::1]:@c", UriErrorKind::Delimiter, 10);
}

#[test]
fn faults_of_ports_are_reported_where_they_are() {
    fails("//h:a", UriErrorKind::Port, 4);
    fails("//h:80a/", UriErrorKind::Port, 6);
    fails("//h:80:90", UriErrorKind::Port, 6);
    fails("//h: 80", UriErrorKind::Port, 4);
    fails("//h:%38", UriErrorKind::Port, 4);
    fails("//h:-1", UriErrorKind::Port, 4);
    fails("//[::1]:x", UriErrorKind::Port, 8);
    fails("//u@h:8[@c", UriErrorKind::Port, 7);
    fails("//::1", UriErrorKind::Port, 3);
}

#[test]
fn faults_of_ip_literals_are_reported_where_they_are() {
    for literal in [
        "[",
        "[]",
        "[::1",
        "[v1.%41]",
        "[::1%25eth0]",
        "[1.2.3.4]",
        "[:::]",
        "[v1.]",
        "[a]",
        "[::1 ]",
    ] {
        fails(format!("//{literal}"), UriErrorKind::IpLiteral, 2);
        fails(format!("http://u@{literal}:80/"), UriErrorKind::IpLiteral, 9);
    }
    fails("//[::1/]", UriErrorKind::IpLiteral, 2);
    fails("//[::1]a", UriErrorKind::IpLiteral, 7);
    fails("//[::1]]", UriErrorKind::IpLiteral, 7);
    fails("//[::1] ", UriErrorKind::IpLiteral, 7);
    fails("//[::1]%41:80", UriErrorKind::IpLiteral, 7);
    fails("//[[::1]]", UriErrorKind::IpLiteral, 2);
}

#[test]
fn the_first_fault_in_reading_order_is_reported() {
    fails("a b[c%", UriErrorKind::Space, 1);
    fails("//u^@h^:x", UriErrorKind::Byte, 3);
    fails("//u@h^:x/ ", UriErrorKind::Byte, 5);
    fails("//u@h:x/ ", UriErrorKind::Port, 6);
    fails("//[::1]x:y", UriErrorKind::IpLiteral, 7);
    fails("//[x]y", UriErrorKind::IpLiteral, 2);
    fails("//h/ ?%#^", UriErrorKind::Space, 4);
    fails("//h/?%#^", UriErrorKind::Percent, 5);
    fails("//h/?#^#", UriErrorKind::Byte, 6);
}

#[test]
fn texts_beyond_32_bit_offsets_are_too_long() {
    let limit = usize::try_from(u32::MAX).unwrap();
    assert_eq!(checked_len(limit), Ok(u32::MAX));
    #[cfg(target_pointer_width = "64")]
    assert_eq!(checked_len(limit + 1), Err(UriError { kind: UriErrorKind::TooLong, at: u32::MAX }));
}

/// Each of these would be slow for a parser that looks back or searches again.
#[test]
fn hostile_texts_take_linear_time() {
    let million = 1 << 20;
    assert!(parse(&b"%41".repeat(million)).is_ok());
    assert!(parse(&b"/..".repeat(million)).is_ok());
    assert!(parse(&[b"a:".as_slice(), &b":".repeat(million)].concat()).is_ok());
    fails([b"//".as_slice(), &b"@".repeat(million)].concat(), UriErrorKind::Delimiter, 3);
    fails([b"//".as_slice(), &b"[".repeat(million)].concat(), UriErrorKind::IpLiteral, 2);
    let groups = [b"//[".as_slice(), &b"1:".repeat(million), b"]"].concat();
    fails(groups, UriErrorKind::IpLiteral, 2);
    fails(b"%".repeat(million), UriErrorKind::Percent, 0);
    let late = u32::try_from(million).unwrap();
    fails([&b"a".repeat(million)[..], b" "].concat(), UriErrorKind::Space, late);
    fails([&b"_".repeat(million)[..], b":"].concat(), UriErrorKind::Scheme, 0);
}

#[test]
fn class_bits_are_the_grammar_classes() {
    for byte in 0..=255u8 {
        assert_eq!(is_in(byte, IN_PATH), PATH.has(byte));
        assert_eq!(is_in(byte, IN_USERINFO), USERINFO.has(byte));
        assert_eq!(is_in(byte, ENDS_AUTHORITY), b"/?#".contains(&byte));
    }
}
