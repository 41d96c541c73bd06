//! Tests equivalence at each level, by tables of exact forms, of pairs that must be equivalent and
//! of pairs that must not.

use uriscan::normalize::Level;
use uriscan::uri::UriErrorKind;
use uriscan_core::normalize::normalize_exact;

fn normalized(text: &str, level: Level) -> String {
    let mut out = Vec::new();
    normalize_exact(text.as_bytes(), level, false, &mut out)
        .unwrap_or_else(|error| panic!("{text}: {error}"));
    String::from_utf8(out).unwrap()
}

/// The lowest level at which the two are equivalent, if any.
fn first_equal(left: &str, right: &str) -> Option<Level> {
    Level::ALL.into_iter().find(|&level| normalized(left, level) == normalized(right, level))
}

/// Reference, form at `syntax`, form at `scheme`.
const FORMS: &[(&str, &str, &str)] = &[
    // RFC 3986 section 6.2.2
    (
        "eXAMPLE://a/./b/../b/%63/%7bfoo%7d",
        "example://a/b/c/%7Bfoo%7D",
        "example://a/b/c/%7Bfoo%7D",
    ),
    ("HTTP://www.EXAMPLE.com/", "http://www.example.com/", "http://www.example.com/"),
    // 6.2.3
    ("http://example.com", "http://example.com", "http://example.com/"),
    ("http://example.com/", "http://example.com/", "http://example.com/"),
    ("http://example.com:/", "http://example.com:/", "http://example.com/"),
    ("http://example.com:80/", "http://example.com:80/", "http://example.com/"),
    ("mailto:Joe@Example.COM", "mailto:Joe@Example.COM", "mailto:Joe@example.com"),
    // 1.1.2
    (
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
    ),
    (
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
    ),
    (
        "news:comp.infosystems.www.servers.unix",
        "news:comp.infosystems.www.servers.unix",
        "news:comp.infosystems.www.servers.unix",
    ),
    ("tel:+1-816-555-1212", "tel:+1-816-555-1212", "tel:+1-816-555-1212"),
    ("telnet://192.0.2.16:80/", "telnet://192.0.2.16:80/", "telnet://192.0.2.16:80/"),
    (
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
    ),
    // 5.2.4
    ("x:/a/b/c/./../../g", "x:/a/g", "x:/a/g"),
    ("http://h/a/..", "http://h/", "http://h/"),
    ("http://h/..", "http://h/", "http://h/"),
    ("http://h/.", "http://h/", "http://h/"),
    ("http://h/a/./", "http://h/a/", "http://h/a/"),
    ("http://h/a//../b", "http://h/a/b", "http://h/a/b"),
    ("http://h/.//b", "http://h//b", "http://h//b"),
    ("http://h/%2e%2E/%2e/a", "http://h/a", "http://h/a"),
    ("http://h/a%2f../b", "http://h/a%2F../b", "http://h/a%2F../b"),
    ("http://h/...", "http://h/...", "http://h/..."),
    ("http://h/a?/../b#/./c", "http://h/a?/../b#/./c", "http://h/a?/../b#/./c"),
    // A path never becomes an authority.
    ("foo:/.//b", "foo:/.//b", "foo:/.//b"),
    ("foo:/..//b", "foo:/.//b", "foo:/.//b"),
    ("foo:/a/..//b", "foo:/.//b", "foo:/.//b"),
    ("foo:/.//", "foo:/.//", "foo:/.//"),
    ("foo:/%2E//b", "foo:/.//b", "foo:/.//b"),
    ("foo:/./b", "foo:/b", "foo:/b"),
    // Rootless paths keep their dot segments, also those that decoding produces.
    ("x:mid/content=5/../6", "x:mid/content=5/../6", "x:mid/content=5/../6"),
    ("foo:a/../b", "foo:a/../b", "foo:a/../b"),
    ("foo:a/..//b", "foo:a/..//b", "foo:a/..//b"),
    ("foo:.///b", "foo:.///b", "foo:.///b"),
    ("foo:../b", "foo:../b", "foo:../b"),
    ("foo:./b:c", "foo:./b:c", "foo:./b:c"),
    ("foo:./x", "foo:./x", "foo:./x"),
    ("foo:.", "foo:.", "foo:."),
    ("foo:..", "foo:..", "foo:.."),
    ("foo:a/..", "foo:a/..", "foo:a/.."),
    ("foo:%2e%2E/x", "foo:../x", "foo:../x"),
    ("foo:a/%2e%2e/x", "foo:a/../x", "foo:a/../x"),
    ("foo:%2E", "foo:.", "foo:."),
    ("urn:isbn:0451450523/../x", "urn:isbn:0451450523/../x", "urn:isbn:0451450523/../x"),
    ("URN:IETF:rfc/./%7e", "urn:IETF:rfc/./~", "urn:ietf:rfc/./~"),
    ("data:text/plain,foo/../bar", "data:text/plain,foo/../bar", "data:text/plain,foo/../bar"),
    ("blob:https://h/../x", "blob:https://h/../x", "blob:https://h/../x"),
    ("mailto:../A@B.c", "mailto:../A@B.c", "mailto:../A@b.c"),
    ("http:a/../b", "http:a/../b", "http:a/../b"),
    ("http:a/../b?/../c#/./d", "http:a/../b?/../c#/./d", "http:a/../b?/../c#/./d"),
    // Paths that begin with `/` do not, whatever the scheme.
    ("urn:/a/../b", "urn:/b", "urn:/b"),
    ("data:/a/./b", "data:/a/b", "data:/a/b"),
    // Percent-encoding is decoded once.
    ("http://h/%25%34%31", "http://h/%2541", "http://h/%2541"),
    ("http://h/%2541", "http://h/%2541", "http://h/%2541"),
    ("http://h/%7e%41%2d%5f?%7e#%7e", "http://h/~A-_?~#~", "http://h/~A-_?~#~"),
    ("http://%75%40:%70@h/", "http://u%40:p@h/", "http://u%40:p@h/"),
    ("http://h/%c3%a9", "http://h/%C3%A9", "http://h/%C3%A9"),
    // Host
    ("http://%45X/", "http://ex/", "http://ex/"),
    ("http://%31.2.3.4/", "http://1.2.3.4/", "http://1.2.3.4/"),
    ("http://a%2fB/", "http://a%2Fb/", "http://a%2Fb/"),
    ("http://[V1.X]/", "http://[v1.x]/", "http://[v1.x]/"),
    ("http://[2001:DB8:0:0:0:0:0:1]/", "http://[2001:db8:0:0:0:0:0:1]/", "http://[2001:db8::1]/"),
    ("http://[::ffff:1.2.3.4]/", "http://[::ffff:1.2.3.4]/", "http://[::ffff:1.2.3.4]/"),
    ("foo://[::FFFF:102:304]", "foo://[::ffff:102:304]", "foo://[::ffff:1.2.3.4]/"),
    ("http://B%C3%9Ccher.de/", "http://b%C3%9Ccher.de/", "http://xn--bcher-kva.de/"),
    ("foo://B%C3%9Ccher.de/", "foo://b%C3%9Ccher.de/", "foo://b%C3%9Ccher.de/"),
    ("http://a%20%C3%BC/", "http://a%20%C3%BC/", "http://a%20%C3%BC/"),
    ("http://%EF%BC%91.2.3.4/", "http://%EF%BC%91.2.3.4/", "http://%EF%BC%91.2.3.4/"),
    ("http://%C2%AD/", "http://%C2%AD/", "http://%C2%AD/"),
    ("http://XN--BCHER-KVA.de/", "http://xn--bcher-kva.de/", "http://xn--bcher-kva.de/"),
    // Port
    ("http://h:0080/", "http://h:0080/", "http://h/"),
    ("http://h:4294967376/", "http://h:4294967376/", "http://h:4294967376/"),
    ("http://h:00/", "http://h:00/", "http://h:0/"),
    ("http://h:00443/", "http://h:00443/", "http://h:443/"),
    ("foo://h:/", "foo://h:/", "foo://h/"),
    ("foo://h:0080/", "foo://h:0080/", "foo://h:80/"),
    ("foo://:", "foo://:", "foo:///"),
    // Empty path
    ("foo://h", "foo://h", "foo://h/"),
    ("foo://", "foo://", "foo:///"),
    ("http://h?q", "http://h?q", "http://h/?q"),
    ("http://h#f", "http://h#f", "http://h/#f"),
    ("pop://h", "pop://h", "pop://h"),
    ("foo:", "foo:", "foo:"),
    // Default host
    ("file://localhost/etc", "file://localhost/etc", "file:///etc"),
    ("FILE://LOCAL%48OST:/etc", "file://localhost:/etc", "file:///etc"),
    ("file://localhost", "file://localhost", "file:///"),
    ("file://u@localhost/x", "file://u@localhost/x", "file://u@localhost/x"),
    ("file://@localhost/x", "file://@localhost/x", "file://@localhost/x"),
    ("file://localhost:1/x", "file://localhost:1/x", "file://localhost:1/x"),
    ("file://localhost//x", "file://localhost//x", "file:////x"),
    ("file:/x", "file:/x", "file:///x"),
    ("file:/.//x", "file:/.//x", "file:////x"),
    ("file:/a/..//x", "file:/.//x", "file:////x"),
    ("file:x/y", "file:x/y", "file:x/y"),
    // Paths with case-insensitive parts
    ("mailto:A@B.C,D@E.F?to=G@H.I", "mailto:A@B.C,D@E.F?to=G@H.I", "mailto:A@b.c,D@e.f?to=G@H.I"),
    ("mailto:%41@%42.c", "mailto:A@B.c", "mailto:A@b.c"),
    ("mailto://U@H.X/P@Q", "mailto://U@h.x/P@Q", "mailto://U@h.x/P@Q"),
    ("URN:ISBN:X%2a", "urn:ISBN:X%2A", "urn:isbn:X%2A"),
    // Delimiters stay
    ("http://h/?", "http://h/?", "http://h/?"),
    ("http://h/#", "http://h/#", "http://h/#"),
    ("http://@h/", "http://@h/", "http://@h/"),
    ("http://:@h/", "http://:@h/", "http://:@h/"),
    ("http://h/?a+b=%2B;%26&&", "http://h/?a+b=%2B;%26&&", "http://h/?a+b=%2B;%26&&"),
];

/// Equivalent pairs, and the lowest level that makes them so.
const MUST_MATCH: &[(Level, &str, &str)] = &[
    (Level::String, "http://h/a", "http://h/a"),
    (Level::Syntax, "HTTP://h/", "http://h/"),
    (Level::Syntax, "http://H/", "http://h/"),
    (Level::Syntax, "http://%68/", "http://H/"),
    (Level::Syntax, "http://%48/", "http://h/"),
    (Level::Syntax, "http://h%2d%2E/", "http://h-./"),
    (Level::Syntax, "http://h/%7Ea", "http://h/~a"),
    (Level::Syntax, "http://h/%3a", "http://h/%3A"),
    (Level::Syntax, "http://%61@h/", "http://a@h/"),
    (Level::Syntax, "http://h/?%61", "http://h/?a"),
    (Level::Syntax, "http://h/#%61", "http://h/#a"),
    (Level::Syntax, "http://h/a/../b", "http://h/b"),
    (Level::Syntax, "http://h/../b", "http://h/b"),
    (Level::Syntax, "http://h/%2E%2e/b", "http://h/b"),
    (Level::Syntax, "http://h/a/.", "http://h/a/"),
    (Level::Syntax, "http://[2001:DB8::A]/", "http://[2001:db8::a]/"),
    (Level::Syntax, "http://[V1F.AB:C]/", "http://[v1f.ab:c]/"),
    (Level::Syntax, "foo:/a/..//b", "foo:/.//b"),
    (Level::Syntax, "foo:/a/../b", "foo:/b"),
    (Level::Syntax, "foo:a/%2e%2E/b", "foo:a/../b"),
    (Level::Syntax, "urn:x:/%2e/b", "urn:x:/./b"),
    (Level::Syntax, "urn:x:%61", "urn:x:a"),
    (Level::Syntax, "mailto:%61@b", "mailto:a@b"),
    (Level::Scheme, "http://h", "http://h/"),
    (Level::Scheme, "http://h:", "http://h:80/"),
    (Level::Scheme, "http://h:80", "http://h:0080"),
    (Level::Scheme, "http://h:000443/", "http://h:443/"),
    (Level::Scheme, "https://h:443/", "https://h/"),
    (Level::Scheme, "ws://h:80?q", "ws://h/?q"),
    (Level::Scheme, "wss://h:443/c", "wss://h/c"),
    (Level::Scheme, "ftp://h:21/f", "ftp://h/f"),
    (Level::Scheme, "sftp://h:22/f", "sftp://h/f"),
    (Level::Scheme, "ldap://h:389/f", "ldap://h/f"),
    (Level::Scheme, "ldaps://h:636/f", "ldaps://h/f"),
    (Level::Scheme, "rtsp://h:554/f", "rtsp://h/f"),
    (Level::Scheme, "rtsps://h:322/f", "rtsps://h/f"),
    (Level::Scheme, "nntp://h:119/g", "nntp://h/g"),
    (Level::Scheme, "imap://h:143/", "imap://h"),
    (Level::Scheme, "telnet://h:23/", "telnet://h"),
    (Level::Scheme, "git://h:9418/r", "git://h/r"),
    (Level::Scheme, "svn://h:3690/r", "svn://h/r"),
    (Level::Scheme, "unknown://h:/", "unknown://h"),
    (Level::Scheme, "http://@h:80", "http://@h/"),
    (Level::Scheme, "file://localhost/x", "file:///x"),
    (Level::Scheme, "file://LOCALHOST", "file:///"),
    (Level::Scheme, "file:/x", "file:///x"),
    (Level::Scheme, "FILE:/", "file://localhost"),
    (Level::Scheme, "file:/a/../%78?q#f", "file://localhost/x?q#f"),
    (Level::Scheme, "file:/.//x", "file:////x"),
    (Level::Scheme, "file:/c:/x", "file:///c:/x"),
    (Level::Scheme, "mailto:Joe@EXAMPLE.com", "mailto:Joe@example.COM"),
    (Level::Scheme, "mailto:a@B,c@D", "mailto:a@b,c@d"),
    (Level::Scheme, "mailto:a@%C3%BC.DE", "mailto:a@%c3%bc.de"),
    (Level::Scheme, "mailto:a@%5BIPv6:2001:DB8::1%5D", "mailto:a@%5bIPv6:2001:db8::1%5d"),
    (Level::Scheme, "mailto:a@B%2ec", "mailto:a@b.c"),
    (Level::Scheme, "urn:ISBN:0451450523", "URN:isbn:0451450523"),
    (Level::Scheme, "http://[2001:db8:0:0::1]/", "http://[2001:0db8::0001]/"),
    (Level::Scheme, "http://[::ffff:7f00:1]/", "http://[::FFFF:127.0.0.1]/"),
    (Level::Scheme, "http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/"),
    (Level::Scheme, "http://B%C3%9CCHER.de/", "http://b%c3%bccher.DE"),
    (Level::Scheme, "http://e%EF%BC%A1%E3%80%82de/", "http://ea.de/"),
];

/// Pairs that are equivalent at no level.
const MUST_DIFFER: &[(&str, &str)] = &[
    // Reserved characters, encoded or not
    ("http://h/a%2Fb", "http://h/a/b"),
    ("http://h/a%3Fb", "http://h/a?b"),
    ("http://h/a%23b", "http://h/a#b"),
    ("http://h/a%40b", "http://h/a@b"),
    ("http://h/a%3Ab", "http://h/a:b"),
    ("http://h/a%3Bb", "http://h/a;b"),
    ("http://h/a%2Cb", "http://h/a,b"),
    ("http://h/%5Ba%5D", "http://h/a"),
    ("http://h/?a%26b", "http://h/?a&b"),
    ("http://h/?a%3Db", "http://h/?a=b"),
    ("http://h/?a%2Bb", "http://h/?a+b"),
    ("http://h/?a%20b", "http://h/?a+b"),
    ("http://h/?a%2Fb", "http://h/?a/b"),
    ("http://a%3Ab@h/", "http://a:b@h/"),
    ("http://a%40b@h/", "http://a%2540b@h/"),
    ("http://a!b/", "http://a%21b/"),
    ("http://a&b/", "http://a%26b/"),
    ("http://a%2Eb%3A80/", "http://a.b:80/"),
    // Decoded once
    ("http://h/%2541", "http://h/A"),
    ("http://h/%2541", "http://h/%41"),
    ("http://h/%25%34%31", "http://h/A"),
    ("http://h/a%252e%252e/b", "http://h/b"),
    ("http://h/%00", "http://h/"),
    // Case, where it is significant
    ("http://h/A", "http://h/a"),
    ("http://h/?A", "http://h/?a"),
    ("http://h/#A", "http://h/#a"),
    ("http://U@h/", "http://u@h/"),
    ("mailto:Joe@example.com", "mailto:joe@example.com"),
    ("urn:isbn:A", "urn:isbn:a"),
    ("tel:A", "tel:a"),
    ("sip:a@B", "sip:A@B"),
    ("data:,A", "data:,a"),
    // Delimiters of empty components
    ("http://h/?", "http://h/"),
    ("http://h/#", "http://h/"),
    ("http://h/?#", "http://h/?"),
    ("http://h/?#", "http://h/#"),
    ("http://@h/", "http://h/"),
    ("http://:@h/", "http://@h/"),
    ("http://u:@h/", "http://u@h/"),
    ("foo:///", "foo:/"),
    ("foo://", "foo:"),
    ("file:/x", "file:x"),
    ("file:/x", "file:/X"),
    ("file:/x", "file://x"),
    ("foo:/x", "foo:///x"),
    // Order, slashes, segments
    ("http://h/?a&b", "http://h/?b&a"),
    ("http://h/a", "http://h/a/"),
    ("http://h/a//b", "http://h/a/b"),
    ("http://h//", "http://h/"),
    ("http://h/a%2f../b", "http://h/b"),
    ("http://h/a/..%2fb", "http://h/b"),
    ("http://h/...", "http://h/"),
    ("http://h/a?../b", "http://h/b"),
    ("http://h/a;x/../b", "http://h/a;x"),
    ("http://h/a.", "http://h/a"),
    ("foo:/.//b", "foo://b"),
    ("foo:/.//b", "foo:/b"),
    ("foo:/a/..//b", "foo://b"),
    ("foo:a", "foo:/a"),
    // Dot segments of rootless paths
    ("foo:a/../b", "foo:/b"),
    ("foo:a/../b", "foo:c/../b"),
    ("foo:./a", "foo:a"),
    ("foo:../a", "foo:a"),
    ("foo:a/.", "foo:a/"),
    ("foo:a/..", "foo:"),
    ("foo:.", "foo:"),
    ("foo:%2e%2e/x", "foo:x"),
    ("urn:isbn:0451450523/../x", "urn:ietf:rfc:2648/../x"),
    ("urn:isbn:0451450523/../x", "urn:/x"),
    ("data:text/plain,foo/../bar", "data:text/html,%3Ch1%3E/../bar"),
    ("blob:https://h/../x", "blob:https://x"),
    ("blob:https://h/a/../x", "blob:https://h/x"),
    ("tel:1/../2", "tel:3/../2"),
    ("http:a/../b", "http:/b"),
    // Ports
    ("http://h:443/", "http://h/"),
    ("https://h:80/", "https://h/"),
    ("http://h:4294967376/", "http://h/"),
    ("http://h:4294967376/", "http://h:80/"),
    ("http://h:65616/", "http://h/"),
    ("http://h:0/", "http://h/"),
    ("http://h:800/", "http://h:80/"),
    ("unknown://h:80/", "unknown://h/"),
    ("smb://h:445/", "smb://h/"),
    ("irc://h:194/", "irc://h/"),
    ("sip:a@h:5060", "sip:a@h"),
    // Hosts
    ("http://h./", "http://h/"),
    ("http://www.h/", "http://h/"),
    ("http:///x", "http://localhost/x"),
    ("ftp://localhost/x", "ftp:///x"),
    ("file://host/x", "file:///x"),
    ("file://u@localhost/x", "file:///x"),
    ("file://@localhost/x", "file:///x"),
    ("file://localhost:80/x", "file:///x"),
    ("http://127.0.0.1/", "http://127.1/"),
    ("http://127.0.0.1/", "http://[::ffff:127.0.0.1]/"),
    ("http://127.0.0.01/", "http://127.0.0.1/"),
    ("http://%EF%BC%91.2.3.4/", "http://1.2.3.4/"),
    ("http://[::1]/", "http://[v1.::1]/"),
    ("http://%5B%3A%3A1%5D/", "http://[::1]/"),
    ("foo://b%C3%BCcher.de/", "foo://xn--bcher-kva.de/"),
    ("foo://b%C3%BCcher.de/", "foo://B%C3%9CCHER.de/"),
    ("http://fa%C3%9F.de/", "http://fass.de/"),
    ("http://a%2F%C3%BC/", "http://a/%C3%BC/"),
    ("http://%E2%84%80.de/", "http://a/c.de/"),
    // Paths of schemes with special parts
    ("mailto:a%40B", "mailto:a@b"),
    ("mailto:A@b@c", "mailto:a@b@c"),
    ("mailto:a@b/C", "mailto:a@b/c"),
    ("mailto:a@B/c", "mailto:a@b/c"),
    ("mailto:a@b:C", "mailto:a@b:c"),
    ("mailto:a@b%2FC", "mailto:a@b%2Fc"),
    ("mailto:a@B.", "mailto:a@b."),
    ("mailto:a@%5BX:Y%5D", "mailto:a@%5BX:y%5D"),
    ("mailto:a@b%20C", "mailto:a@b%20c"),
    ("mailto:a@b?subject=X", "mailto:a@b?subject=x"),
    ("mailto:a@b?to=C@D", "mailto:a@b?to=C@d"),
    ("mailto:a@b%2cA@b", "mailto:a@b,A@b"),
    ("urn:isbn:x%2D", "urn:isbn:X-"),
    ("http:a@B", "http:a@b"),
    ("pop://h", "pop://h/"),
    // Schemes and fragments
    ("http://h/", "https://h/"),
    ("http://h/#a", "http://h/"),
];

#[test]
fn exact_forms() {
    for &(text, syntax, scheme) in FORMS {
        assert_eq!(normalized(text, Level::String), text);
        assert_eq!(normalized(text, Level::Syntax), syntax, "{text} at syntax");
        assert_eq!(normalized(text, Level::Scheme), scheme, "{text} at scheme");
        assert_eq!(normalized(syntax, Level::Syntax), syntax, "{text} twice");
        assert_eq!(normalized(scheme, Level::Scheme), scheme, "{text} twice");
    }
}

#[test]
fn pairs_that_must_match() {
    for &(level, left, right) in MUST_MATCH {
        assert_eq!(first_equal(left, right), Some(level), "{left} and {right}");
        assert_eq!(
            normalized(left, Level::Scheme),
            normalized(right, Level::Scheme),
            "the ladder nests"
        );
    }
}

#[test]
fn pairs_that_must_differ() {
    for &(left, right) in MUST_DIFFER {
        assert_eq!(first_equal(left, right), None, "{left} and {right}");
    }
}

#[test]
fn four_http_forms_are_one_class() {
    let forms = [
        "http://example.com",
        "http://example.com/",
        "http://example.com:/",
        "http://example.com:80/",
    ];
    for form in forms {
        assert_eq!(normalized(form, Level::Scheme), "http://example.com/");
    }
}

#[test]
fn a_fragment_is_dropped_with_its_delimiter_and_nothing_else() {
    let cases = [
        ("http://H#A", "http://H", "http://h", "http://h/"),
        ("http://h/?#", "http://h/?", "http://h/?", "http://h/?"),
        ("http://h/?a#b?c", "http://h/?a", "http://h/?a", "http://h/?a"),
        ("urn:X:y", "urn:X:y", "urn:X:y", "urn:x:y"),
    ];
    for (text, string, syntax, scheme) in cases {
        for (level, expected) in Level::ALL.into_iter().zip([string, syntax, scheme]) {
            let mut out = Vec::new();
            normalize_exact(text.as_bytes(), level, true, &mut out).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected, "{text} at {level}");
        }
    }
}

#[test]
fn invalid_input_is_an_error_and_leaves_the_output_unchanged() {
    let cases = [
        ("", UriErrorKind::Relative, 0),
        ("//h/a", UriErrorKind::Relative, 0),
        ("../a", UriErrorKind::Relative, 0),
        ("#a", UriErrorKind::Relative, 0),
        ("http://h/%4", UriErrorKind::Percent, 9),
        ("http://h/a b", UriErrorKind::Space, 10),
        ("http://h/#a#b", UriErrorKind::Delimiter, 11),
        ("http://h:8a/", UriErrorKind::Port, 10),
    ];
    for (text, kind, at) in cases {
        for level in Level::ALL {
            for drop_fragment in [false, true] {
                let mut out = b"kept".to_vec();
                let error =
                    normalize_exact(text.as_bytes(), level, drop_fragment, &mut out).unwrap_err();
                assert_eq!((error.kind, error.at), (kind, at), "{text:?}");
                assert_eq!(out, b"kept");
            }
        }
    }
}

#[test]
fn utf8_in_the_host_of_a_dns_scheme_is_treated_as_encoded() {
    let cases = [
        ("http://bücher.de/", "http://xn--bcher-kva.de/"),
        ("HTTP://BÜCHER.de:80?q#f", "http://xn--bcher-kva.de/?q#f"),
        ("http://u@b%C3%BCcher-bücher:8080/a/../b", "http://u@xn--bcher-bcher-thbg:8080/b"),
        ("ftp://日本語。jp", "ftp://xn--wgv71a119e.jp/"),
        ("file://ｌｏｃａｌｈｏｓｔ/x", "file:///x"),
    ];
    for (text, expected) in cases {
        assert_eq!(normalized(text, Level::Scheme), expected);
        for level in [Level::String, Level::Syntax] {
            let error =
                normalize_exact(text.as_bytes(), level, false, &mut Vec::new()).unwrap_err();
            assert_eq!(error.kind, UriErrorKind::NonAscii, "{text} at {level}");
        }
    }
}

#[test]
fn other_non_ascii_bytes_are_an_error_at_the_first_of_them() {
    let cases: &[(&[u8], u32)] = &[
        ("http://h/ü".as_bytes(), 9),
        ("http://ü/ü".as_bytes(), 7),
        ("http://ü/ ".as_bytes(), 7),
        ("http://ü@h/".as_bytes(), 7),
        ("http://ü@ü/".as_bytes(), 7),
        ("http://h:ü/".as_bytes(), 9),
        ("http://[ü]/".as_bytes(), 7),
        ("foo://ü/".as_bytes(), 6),
        ("http:ü".as_bytes(), 5),
        ("http://a%20ü/".as_bytes(), 11),
        ("http://a%zzü/".as_bytes(), 8),
        ("http://１.2.3.4/".as_bytes(), 7),
        (b"http://h\xFF/", 8),
        (b"http://h\xC3%BC/", 8),
        (b"//h\xC3\xBC/", 3),
    ];
    for &(text, at) in cases {
        let mut out = b"kept".to_vec();
        let error = normalize_exact(text, Level::Scheme, false, &mut out).unwrap_err();
        let shown = String::from_utf8_lossy(text);
        assert_eq!((error.kind, error.at), (expected_kind(text), at), "{shown}");
        assert_eq!(out, b"kept", "{shown}");
    }
}

/// A fault before the first non-ASCII byte is reported instead.
fn expected_kind(text: &[u8]) -> UriErrorKind {
    match text {
        b"http://h:\xC3\xBC/" => UriErrorKind::Port,
        b"http://[\xC3\xBC]/" => UriErrorKind::IpLiteral,
        b"http://a%zz\xC3\xBC/" => UriErrorKind::Percent,
        _ => UriErrorKind::NonAscii,
    }
}

#[test]
fn hostile_records_are_normalized_in_linear_time() {
    // Quadratic time would be minutes here, not milliseconds.
    let cases = [
        ("http://".to_owned() + &"%C3%BC".repeat(300_000) + "/", true),
        ("http://".to_owned() + &"%C3%BC.".repeat(300_000) + "/", true),
        ("http://a".to_owned() + &"%CC%81".repeat(300_000) + "/", true),
        ("http://".to_owned() + &"ü".repeat(300_000), false),
        ("http://h".to_owned() + &"/a/..".repeat(300_000), true),
        ("http://h/".to_owned() + &"%2e%2e/".repeat(300_000), true),
        ("foo:a".to_owned() + &"/a/%2e%2e".repeat(300_000), true),
        ("http://h:".to_owned() + &"0".repeat(1_000_000), true),
        ("mailto:".to_owned() + &"a@B,".repeat(300_000), true),
        ("urn:".to_owned() + &"A".repeat(1_000_000), true),
    ];
    for (text, valid) in cases {
        let mut out = Vec::new();
        let result = normalize_exact(text.as_bytes(), Level::Scheme, false, &mut out);
        assert_eq!(result.is_ok(), valid, "{}", &text[..20]);
    }
}
