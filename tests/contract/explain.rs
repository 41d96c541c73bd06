//! Tests `explain` and `compare`: a table of pairs with the level and the rules, or the byte and the
//! reason, as a person would give them; and properties that check every explanation against the
//! reference path.

use proptest::prelude::*;
use uriscan::explain::{
    Comparison, Reason, STEPS, compare, compare_with_rules, explain, explain_with_rules,
};
use uriscan::normalize::{Level, Options};
use uriscan::rules::{RuleSet, Scratch};
use uriscan_core::normalize::normalize_exact;

const SCHEME: Options = Options::new(Level::Scheme);

/// Pairs that are equivalent: the level and the rules, in the order in which they apply.
const ONE: &[(&str, &str, &str, &str)] = &[
    // string
    ("http://h/", "http://h/", "string", ""),
    ("no uri", "no uri", "string", ""),
    ("../relative", "../relative", "string", ""),
    ("http://H:80/%7e", "http://H:80/%7e", "string", ""),
    // syntax: case
    ("http://h/", "HTTP://h/", "syntax", "scheme-case"),
    ("hTTp://h/", "HttP://h/", "syntax", "scheme-case"),
    ("FOO:a", "foo:a", "syntax", "scheme-case"),
    ("X-y+Z.1:a", "x-Y+z.1:a", "syntax", "scheme-case"),
    ("http://Example.COM/", "http://example.com/", "syntax", "host-case"),
    ("foo://HOST", "foo://host", "syntax", "host-case"),
    ("http://u@H/", "http://u@h/", "syntax", "host-case"),
    ("http://[2001:DB8::1]/", "http://[2001:db8::1]/", "syntax", "host-case"),
    ("http://[V1.A]/", "http://[v1.a]/", "syntax", "host-case"),
    ("HTTP://H/a", "http://h/a", "syntax", "scheme-case host-case"),
    ("FILE:///A", "file:///A", "syntax", "scheme-case"),
    ("URN:isbn:1", "urn:isbn:1", "syntax", "scheme-case"),
    // syntax: triplets
    ("http://h/%7Ebob", "http://h/~bob", "syntax", "triplet-decode"),
    ("http://h/%7ebob", "http://h/%7Ebob", "syntax", "triplet-decode"),
    ("http://h/%41%42", "http://h/AB", "syntax", "triplet-decode"),
    ("http://h/a%2Db", "http://h/a-b", "syntax", "triplet-decode"),
    ("http://h/a%2eb", "http://h/a.b", "syntax", "triplet-decode"),
    ("http://h/a%5Fb", "http://h/a_b", "syntax", "triplet-decode"),
    ("http://h/%30", "http://h/0", "syntax", "triplet-decode"),
    ("http://h/?q=%7e", "http://h/?q=~", "syntax", "triplet-decode"),
    ("http://h/#%61", "http://h/#a", "syntax", "triplet-decode"),
    ("http://%61@h/", "http://a@h/", "syntax", "triplet-decode"),
    ("http://%68/", "http://h/", "syntax", "triplet-decode"),
    ("http://%48/", "http://h/", "syntax", "triplet-decode host-case"),
    ("http://ex%41mple/", "http://example/", "syntax", "triplet-decode host-case"),
    ("http://%31.2.3.4/", "http://1.2.3.4/", "syntax", "triplet-decode"),
    ("http://h/%c3%a9", "http://h/%C3%A9", "syntax", "triplet-case"),
    ("http://h/%2f", "http://h/%2F", "syntax", "triplet-case"),
    ("http://h/?%3d", "http://h/?%3D", "syntax", "triplet-case"),
    ("http://h/#%3f", "http://h/#%3F", "syntax", "triplet-case"),
    ("http://a%3ab@h/", "http://a%3Ab@h/", "syntax", "triplet-case"),
    ("foo://a%2fb/", "foo://a%2Fb/", "syntax", "triplet-case"),
    ("foo://a%2fB/", "foo://a%2Fb/", "syntax", "triplet-case host-case"),
    ("http://h/%7e%2f", "http://h/~%2F", "syntax", "triplet-decode triplet-case"),
    ("http://h/%25%34%31", "http://h/%2541", "syntax", "triplet-decode"),
    ("mailto:%61@b.c", "mailto:a@b.c", "syntax", "triplet-decode"),
    // syntax: dot segments
    ("http://h/a/../b", "http://h/b", "syntax", "dot-segments"),
    ("http://h/./a", "http://h/a", "syntax", "dot-segments"),
    ("http://h/a/.", "http://h/a/", "syntax", "dot-segments"),
    ("http://h/a/..", "http://h/", "syntax", "dot-segments"),
    ("http://h/../a", "http://h/a", "syntax", "dot-segments"),
    ("http://h/..", "http://h/", "syntax", "dot-segments"),
    ("http://h/a/b/../../c", "http://h/c", "syntax", "dot-segments"),
    ("http://h/a//../b", "http://h/a/b", "syntax", "dot-segments"),
    ("http://h/a/./b?q", "http://h/a/b?q", "syntax", "dot-segments"),
    ("http://h/%2e%2e/a", "http://h/a", "syntax", "triplet-decode dot-segments"),
    ("http://h/a/%2E", "http://h/a/", "syntax", "triplet-decode dot-segments"),
    ("foo:/a/../b", "foo:/b", "syntax", "dot-segments"),
    ("urn:/x:a/../b", "urn:/b", "syntax", "dot-segments"),
    ("foo:a/%2e%2e/b", "foo:a/../b", "syntax", "triplet-decode"),
    ("foo:/a/..//b", "foo:/.//b", "syntax", "dot-segments"),
    ("http://h/a/../b", "http://h/c/../b", "syntax", "dot-segments"),
    ("http://h/x/../%7e", "http://h/~", "syntax", "triplet-decode dot-segments"),
    ("HTTP://H/a/../b", "http://h/b", "syntax", "scheme-case host-case dot-segments"),
    // scheme: ports
    ("http://h:80/", "http://h/", "scheme", "default-port"),
    ("https://h:443/", "https://h/", "scheme", "default-port"),
    ("ftp://h:21/", "ftp://h/", "scheme", "default-port"),
    ("ws://h:80/", "ws://h/", "scheme", "default-port"),
    ("ldap://h:389/", "ldap://h/", "scheme", "default-port"),
    ("ssh://u@h:22/", "ssh://u@h/", "scheme", "default-port"),
    ("http://h:0080/", "http://h/", "scheme", "default-port"),
    ("http://h:0080/", "http://h:80/", "scheme", "default-port"),
    ("http://h:/", "http://h/", "scheme", "empty-port"),
    ("foo://h:/", "foo://h/", "scheme", "empty-port"),
    ("http://h:/", "http://h:80/", "scheme", "empty-port default-port"),
    ("http://h:081/", "http://h:81/", "scheme", "port-zeros"),
    ("foo://h:00/", "foo://h:0/", "scheme", "port-zeros"),
    ("foo://h:0001/", "foo://h:1/", "scheme", "port-zeros"),
    ("http://H:80/", "http://h/", "scheme", "host-case default-port"),
    ("HTTP://h:80/%7e", "http://h/%7e", "scheme", "scheme-case default-port"),
    // scheme: empty paths
    ("http://h", "http://h/", "scheme", "empty-path"),
    ("foo://h", "foo://h/", "scheme", "empty-path"),
    ("http://h?q", "http://h/?q", "scheme", "empty-path"),
    ("http://h#f", "http://h/#f", "scheme", "empty-path"),
    ("http://h:80", "http://h/", "scheme", "default-port empty-path"),
    ("http://h", "http://h/.", "scheme", "dot-segments empty-path"),
    ("http://h", "http://h/a/..", "scheme", "dot-segments empty-path"),
    (
        "HTTP://Example.COM:80",
        "http://example.com/",
        "scheme",
        "scheme-case host-case default-port empty-path",
    ),
    // scheme: hosts
    ("http://[2001:db8:0:0::1]/", "http://[2001:db8::1]/", "scheme", "ipv6"),
    ("http://[2001:DB8:0:0::1]/", "http://[2001:db8::1]/", "scheme", "host-case ipv6"),
    ("http://[::ffff:102:304]/", "http://[::ffff:1.2.3.4]/", "scheme", "ipv6"),
    ("foo://[0:0:0:0:0:0:0:1]/", "foo://[::1]/", "scheme", "ipv6"),
    ("http://b%C3%BCcher.de/", "http://xn--bcher-kva.de/", "scheme", "idna"),
    ("http://b%c3%bccher.de/", "http://xn--bcher-kva.de/", "scheme", "triplet-case idna"),
    ("http://bücher.de/", "http://xn--bcher-kva.de/", "scheme", "utf8-host idna"),
    ("http://bücher.de/", "http://b%C3%BCcher.de/", "scheme", "utf8-host idna"),
    ("http://BÜCHER.de/", "http://bücher.de/", "scheme", "utf8-host host-case idna"),
    (
        "http://u@bücher.de:80/",
        "http://u@xn--bcher-kva.de/",
        "scheme",
        "utf8-host idna default-port",
    ),
    ("file://localhost/x", "file:///x", "scheme", "default-host"),
    ("file://LOCALHOST/x", "file:///x", "scheme", "host-case default-host"),
    ("file://localhost:/x", "file:///x", "scheme", "empty-port default-host"),
    ("file://local%68ost/x", "file:///x", "scheme", "triplet-decode default-host"),
    // scheme: paths of single schemes
    ("mailto:Joe@Example.COM", "mailto:Joe@example.com", "scheme", "mailto-domain"),
    ("mailto:a@B,c@D", "mailto:a@b,c@d", "scheme", "mailto-domain"),
    ("urn:ISBN:1", "urn:isbn:1", "scheme", "urn-nid"),
    ("URN:ISBN:a%2c", "urn:isbn:a%2C", "scheme", "scheme-case triplet-case urn-nid"),
];

/// Pairs that are never equivalent: the reason, and a `^` where the first component that differs
/// diverges.
const NEVER: &[(&str, &str, &str)] = &[
    // reserved characters
    ("http://h/a^%2Fb", "http://h/a^/b", "reserved"),
    ("http://h/a^%2fb", "http://h/a^/b", "reserved"),
    ("http://h/a^%2F", "http://h/a^/", "reserved"),
    ("http://h/^%3A", "http://h/^:", "reserved"),
    ("http://h/^%40", "http://h/^@", "reserved"),
    ("http://h/^%3B", "http://h/^;", "reserved"),
    ("http://h/^%2C", "http://h/^,", "reserved"),
    ("http://h/^%24", "http://h/^$", "reserved"),
    ("http://h/?a^%26b", "http://h/?a^&b", "reserved"),
    ("http://h/?a^%3D1", "http://h/?a^=1", "reserved"),
    ("http://h/?a^%2Bb", "http://h/?a^+b", "reserved"),
    ("http://h/?^%3F", "http://h/?^?", "reserved"),
    ("http://h/#^%2F", "http://h/#^/", "reserved"),
    ("http://u^%3Ap@h/", "http://u^:p@h/", "reserved"),
    ("http://h^%21/", "http://h^!/", "reserved"),
    ("http://h/%7Ea^%2Fb", "http://h/~a^/b", "reserved"),
    // double encoding
    ("http://h/^%2541", "http://h/^A", "double-encoding"),
    ("http://h/^%2541", "http://h/^%41", "double-encoding"),
    ("http://h/%2^52F", "http://h/%2^F", "double-encoding"),
    ("http://h/?q=%2^520", "http://h/?q=%2^0", "double-encoding"),
    ("http://h/^%252F", "http://h/^/", "double-encoding"),
    ("http://h/#^%257e", "http://h/#^~", "double-encoding"),
    // case
    ("http://h/^A", "http://h/^a", "case"),
    ("http://h/a/^B/c", "http://h/a/^b/c", "case"),
    ("http://h/^%41", "http://h/^a", "case"),
    ("http://h/?^Q=1", "http://h/?^q=1", "case"),
    ("http://h/#^A", "http://h/#^a", "case"),
    ("http://^U@h/", "http://^u@h/", "case"),
    ("urn:isbn:^X", "urn:isbn:^x", "case"),
    ("mailto:^Joe@h", "mailto:^joe@h", "case"),
    ("data:,^A", "data:,^a", "case"),
    // plus and space
    ("http://h/?a^+b", "http://h/?a^%20b", "plus-space"),
    ("http://h/a^+b", "http://h/a^%20b", "plus-space"),
    // schemes
    ("http^://h/", "http^s://h/", "https"),
    ("HTTP^://h:80/", "http^s://h/", "https"),
    ("ws^://h/", "ws^s://h/", "scheme"),
    ("^http://h/", "^ftp://h/", "scheme"),
    ("^foo:a", "^bar:a", "scheme"),
    ("http^://h/", "http^x://h/", "scheme"),
    // authorities
    ("foo:^/a", "foo:^///a", "authority"),
    ("http:^/h", "http:^//h", "authority"),
    ("urn:^a", "urn:^//a", "authority"),
    // userinfos
    ("http://^h/", "http://^@h/", "empty-userinfo"),
    ("http://^a@h/", "http://^b@h/", "userinfo"),
    ("http://^h/", "http://^u@h/", "userinfo"),
    ("http://a^@h/", "http://a^:p@h/", "userinfo"),
    ("http://a^@h/", "http://a^:@h/", "userinfo"),
    // hosts
    ("http://h^/", "http://h^./", "host-dot"),
    ("http://example.com^", "http://example.com^.:80/", "host-dot"),
    ("http://^h/", "http://^www.h/", "www"),
    ("http://w^.org/", "http://w^ww.w.org/", "www"),
    ("http://^a/", "http://^b/", "host"),
    ("http://a^.b/", "http://a^b/", "host"),
    ("http://127.0.0.^1/", "http://127.0.0.^2/", "host"),
    ("http://^localhost/", "http://^127.0.0.1/", "host"),
    ("http://^127.0.0.1/", "http://^0x7f.0.0.1/", "host"),
    ("http://[::^1]/", "http://[::^2]/", "host"),
    ("http://^1.2.3.4/", "http://^[::ffff:1.2.3.4]/", "host"),
    ("http://^ä.de/", "http://^a.de/", "host"),
    ("http://^h/", "http://^m.h/", "host"),
    ("ftp://^localhost/", "ftp://^/", "host"),
    // ports
    ("http://h^/", "http://h^:8080/", "port"),
    ("http://h:8^1/", "http://h:8^2/", "port"),
    ("https://h^/", "https://h^:80/", "port"),
    ("http://h^:4294967376/", "http://h^:80/", "port"),
    ("foo://h^:80/", "foo://h^/", "port"),
    ("irc://h^:6667/", "irc://h^/", "port"),
    // paths
    ("http://h/a^", "http://h/a^/", "trailing-slash"),
    ("http://h/a^?q", "http://h/a^/?q", "trailing-slash"),
    ("http://h/a/b^#f", "http://h/a/b^/#f", "trailing-slash"),
    ("http://h/^", "http://h/^/", "trailing-slash"),
    ("http://h/x/../a^", "http://h/a^/", "trailing-slash"),
    ("http://h/^a", "http://h/^/a", "duplicate-slash"),
    ("http://h/a/^b", "http://h/a/^/b", "duplicate-slash"),
    // dot segments of rootless paths
    ("foo:^a/../b", "foo:^/b", "rootless-dots"),
    ("foo:^./b", "foo:^b", "rootless-dots"),
    ("foo:^%2E/b", "foo:^b", "rootless-dots"),
    ("foo:a/^.", "foo:a/^", "rootless-dots"),
    ("urn:x:^a/../b", "urn:x:^b", "path"),
    ("urn:isbn:^a/../b", "urn:isbn:^c/../b", "rootless-dots"),
    ("blob:https://h/^../x", "blob:https://h/^x", "path"),
    ("http://h/a/^b", "http://h/a/^//b", "duplicate-slash"),
    ("http://h/^", "http://h/^index.html", "index-page"),
    ("http://h^", "http://h/^index.html", "index-page"),
    ("http://h/a/^", "http://h/a/^index.php", "index-page"),
    ("http://h/a/^?q", "http://h/a/^Default.aspx?q", "index-page"),
    ("http://h/^a", "http://h/^b", "path"),
    ("http://h/a^", "http://h/a^b", "path"),
    ("http://h/a^", "http://h/a^;v=1", "path"),
    ("http://h/a^;jsessionid=1", "http://h/a^", "path"),
    ("sip:a@h^", "sip:a@h^:5060", "path"),
    ("urn:a:^b", "urn:a:^c", "path"),
    ("mailto:a@b.^c", "mailto:a@b.^d", "path"),
    // queries
    ("http://h/?^a=1&b=2", "http://h/?^b=2&a=1", "query-order"),
    ("http://h/?a=1&^b=2&c=3", "http://h/?a=1&^c=3&b=2", "query-order"),
    ("HTTP://h:80?^a&b", "http://h/?^b&a", "query-order"),
    ("http://h/^", "http://h/^?", "empty-query"),
    ("http://h^", "http://h/^?", "empty-query"),
    ("http://h/a^#f", "http://h/a^?#f", "empty-query"),
    ("http://h/?^a", "http://h/?^b", "query"),
    ("http://h/^", "http://h/^?q", "query"),
    ("http://h/?a=1^", "http://h/?a=1^&utm_source=x", "query"),
    ("http://h/?a^", "http://h/?a^=", "query"),
    ("http://h/?a^", "http://h/?a^&", "query"),
    // fragments
    ("http://h/^", "http://h/^#", "empty-fragment"),
    ("http://h/?q^", "http://h/?q^#", "empty-fragment"),
    ("http://h/^", "http://h/^#f", "fragment"),
    ("http://h/#^a", "http://h/#^b", "fragment"),
    // not URIs
    ("http://h/^ x", "http://h/^%20x", "invalid"),
    ("/a^", "/a^/", "invalid"),
    ("http://h/%^zz", "http://h/%^25zz", "invalid"),
    ("http://h/^é", "http://h/^%C3%A9", "invalid"),
];

/// The byte of the mark, and the text without it.
fn unmarked(text: &str) -> (usize, String) {
    (text.find('^').unwrap(), text.replacen('^', "", 1))
}

#[test]
fn equivalent_pairs_have_the_expected_rules() {
    for &(a, b, level, rules) in ONE {
        for (a, b) in [(a, b), (b, a)] {
            let Comparison::Equivalent { level: found, steps } =
                compare(a.as_bytes(), b.as_bytes(), SCHEME)
            else {
                panic!("{a} {b}");
            };
            let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
            assert_eq!((found.name(), names.join(" ").as_str()), (level, rules), "{a} {b}");
        }
    }
}

#[test]
fn different_pairs_have_the_expected_position_and_reason() {
    for &(a, b, reason) in NEVER {
        let ((at_a, a), (at_b, b)) = (unmarked(a), unmarked(b));
        for (a, b, at) in [(&a, &b, [at_a, at_b]), (&b, &a, [at_b, at_a])] {
            let Comparison::Different { differences } = compare(a.as_bytes(), b.as_bytes(), SCHEME)
            else {
                panic!("{a} {b}");
            };
            assert_eq!((differences[0].reason.name(), differences[0].at), (reason, at), "{a} {b}");
        }
    }
}

#[test]
fn the_tables_are_long_and_complete() {
    assert!(ONE.len() + NEVER.len() >= 200, "{} and {}", ONE.len(), NEVER.len());
    for step in STEPS.iter().filter(|step| step.level.is_some()) {
        assert!(
            ONE.iter().any(|pair| pair.3.split(' ').any(|rule| rule == step.name)),
            "{}",
            step.name
        );
    }
    for reason in Reason::ALL {
        // At the highest level there is none above.
        if reason == Reason::HigherLevel {
            continue;
        }
        assert!(NEVER.iter().any(|pair| pair.2 == reason.name()), "{}", reason.name());
        assert!(!reason.message().is_empty());
    }
}

#[test]
fn rules_beyond_the_ladder_are_steps_too() {
    let mut builder = RuleSet::builder();
    for rule in ["https", "www", "trailing-slash", "sort-query", "drop-param=utm_*", "fragment"] {
        builder.rule(rule).unwrap();
    }
    let rules = builder.build().unwrap();
    let cases = [
        ("http://h/a", "https://h/a", "string", "https"),
        ("http://h.de/a", "http://www.h.de/a", "string", "www"),
        ("http://h/a/", "http://h/a", "string", "trailing-slash"),
        ("http://h/?b&a", "http://h/?a&b", "string", "sort-query"),
        ("http://h/?utm_source=x&q", "http://h/?q", "string", "drop-param"),
        ("http://h/#f", "http://h/", "string", "fragment"),
        (
            "HTTP://h:80/a?utm_x=1#f",
            "https://h/a",
            "scheme",
            "scheme-case default-port https drop-param fragment",
        ),
    ];
    for (a, b, level, expected) in cases {
        for (a, b) in [(a.as_bytes(), b.as_bytes()), (b.as_bytes(), a.as_bytes())] {
            let Comparison::Equivalent { level: found, steps } =
                compare_with_rules(a, b, SCHEME, Some(&rules))
            else {
                panic!("{expected}");
            };
            let mut names: Vec<&str> = steps.iter().map(|step| step.name).collect();
            let mut expected: Vec<&str> = expected.split(' ').collect();
            names.sort();
            expected.sort();
            assert_eq!((found.name(), names), (level, expected));
            assert!(matches!(compare(a, b, SCHEME), Comparison::Different { .. }));
            for text in [a, b] {
                let explanation = explain_with_rules(text, SCHEME, Some(&rules)).unwrap();
                let mut form = Vec::new();
                normalize_exact(text, Level::Scheme, false, &mut form).unwrap();
                assert_eq!(explanation.canonical, rules.apply(&form, &mut Scratch::default()).0);
            }
        }
    }
}

#[test]
fn every_component_that_differs_is_reported() {
    let Comparison::Different { differences } =
        compare(b"http://h/a?x=1&y", b"https://www.h/a/?y&x=1#f", SCHEME)
    else {
        panic!();
    };
    let explanation: Vec<_> =
        differences.iter().map(|difference| (difference.reason, difference.at)).collect();
    let expected = [
        (Reason::Https, [4, 4]),
        (Reason::Www, [7, 8]),
        (Reason::TrailingSlash, [10, 15]),
        (Reason::QueryOrder, [11, 17]),
        (Reason::Fragment, [16, 22]),
    ];
    assert_eq!(explanation, expected);
}

#[test]
fn a_lower_level_uses_no_higher_one() {
    let syntax = SCHEME.level(Level::Syntax);
    let found = compare(b"http://h:80/", b"http://h/", syntax);
    let Comparison::Different { differences } = found else { panic!("{found:?}") };
    assert_eq!((differences[0].reason, differences[0].at), (Reason::HigherLevel, [8, 8]));
    // Differences that no level removes are reported for parts that no level changes.
    let found = compare(b"http://h:80/a", b"http://h/A", syntax);
    let Comparison::Different { differences } = found else { panic!("{found:?}") };
    let reasons: Vec<Reason> = differences.iter().map(|difference| difference.reason).collect();
    assert_eq!(reasons, [Reason::HigherLevel, Reason::Case]);
    let dropping = SCHEME.drop_fragment(true);
    let Comparison::Equivalent { level, steps } = compare(b"http://h/#a", b"http://h/", dropping)
    else {
        panic!()
    };
    let names: Vec<&str> = steps.iter().map(|step| step.name).collect();
    assert_eq!((level, &names[..]), (Level::String, &["fragment"][..]));
}

/// One change: the rule, the bytes of the input, before and after.
type Row = (&'static str, usize, usize, &'static str, &'static str);

#[test]
fn changes_have_the_expected_bytes() {
    let cases: &[(&str, &[Row])] = &[
        ("http://h/", &[]),
        (
            "HTTP://Example.COM:80/a/../%7Ebob",
            &[
                ("scheme-case", 0, 4, "HTTP", "http"),
                ("triplet-decode", 27, 30, "%7E", "~"),
                ("host-case", 7, 18, "Example.COM", "example.com"),
                ("dot-segments", 21, 26, "/a/..", ""),
                ("default-port", 18, 21, ":80", ""),
            ],
        ),
        ("http://h", &[("empty-path", 8, 8, "", "/")]),
        ("http://h:?q", &[("empty-port", 8, 9, ":", ""), ("empty-path", 9, 9, "", "/")]),
        ("http://h:080081/", &[("port-zeros", 8, 15, ":080081", ":80081")]),
        (
            "http://h/%2e%2E/x",
            &[
                ("triplet-decode", 9, 12, "%2e", "."),
                ("triplet-decode", 12, 15, "%2E", "."),
                ("dot-segments", 8, 15, "/..", ""),
            ],
        ),
        ("http://h/a/b/./c", &[("dot-segments", 12, 14, "/.", "")]),
        ("http://h/a/..", &[("dot-segments", 8, 13, "/a/..", "/")]),
        (
            "http://h/%c3%a9",
            &[("triplet-case", 9, 12, "%c3", "%C3"), ("triplet-case", 12, 15, "%a9", "%A9")],
        ),
        ("file://localhost/x", &[("default-host", 7, 16, "localhost", "")]),
        (
            "http://bücher.de/",
            &[
                ("utf8-host", 7, 17, "bücher.de", "b%C3%BCcher.de"),
                ("idna", 7, 17, "b%C3%BCcher.de", "xn--bcher-kva.de"),
            ],
        ),
        (
            "http://[2001:DB8:0::1]/",
            &[
                ("host-case", 7, 22, "[2001:DB8:0::1]", "[2001:db8:0::1]"),
                ("ipv6", 7, 22, "[2001:db8:0::1]", "[2001:db8::1]"),
            ],
        ),
        ("mailto:A@B", &[("mailto-domain", 7, 10, "A@B", "A@b")]),
        ("urn:ISBN:1", &[("urn-nid", 4, 10, "ISBN:1", "isbn:1")]),
    ];
    for (uri, expected) in cases {
        let explanation = explain(uri.as_bytes(), SCHEME).unwrap();
        let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
        let rows: Vec<_> = explanation
            .changes
            .iter()
            .map(|c| (c.step.name, c.start, c.end, text(&c.before), text(&c.after)))
            .collect();
        let expected: Vec<_> = expected
            .iter()
            .map(|&(rule, start, end, b, a)| (rule, start, end, b.to_owned(), a.to_owned()))
            .collect();
        assert_eq!(rows, expected, "{uri}");
    }
}

#[test]
fn a_long_record_is_explained_in_linear_time() {
    let uri = "http://h/".to_owned() + &"%7e%2f".repeat(60_000) + &"/a/..".repeat(60_000);
    let explanation = explain(uri.as_bytes(), SCHEME).unwrap();
    assert_eq!(explanation.changes.len(), 120_001);
}

/// Text composed of parts on which the steps act, valid more often than not.
fn uri() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["http", "HTTPS", "file", "mailto", "URN", "foo", "pop"]);
    let host = prop::sample::select(vec![
        "h",
        "H",
        "%48",
        "a%2fB",
        "localhost",
        "LocalHost",
        "b%c3%bccher",
        "bücher",
        "ＡＢ",
        "日本",
        "%31.2.3.4",
        "[::0:1]",
        "[V1.A]",
        "",
        "h.",
        "www.h",
    ]);
    let authority = ("((%41|[aB:!]){0,2}@)?", host, "(:(0{0,2}(80|443|[0-9]{0,4}))?)?")
        .prop_map(|(userinfo, host, port)| format!("//{userinfo}{host}{port}"));
    let segments =
        prop::collection::vec("(\\.|%2[eE]){0,3}|[aB@,:+]{0,3}|a%2[fF]|%25%34%31|[IU]:x", 0..5);
    let tail = "(\\?(%3[aA]|%7e|[aB/?&+]|%20){0,4})?(#(%3[aA]|%7e|[aB]){0,2})?";
    (scheme, prop::option::of(authority), any::<bool>(), segments, tail).prop_map(
        |(scheme, authority, rooted, segments, tail)| {
            let slash = if rooted { "/" } else { "" };
            format!("{scheme}:{}{slash}{}{tail}", authority.unwrap_or_default(), segments.join("/"))
        },
    )
}

fn options() -> impl Strategy<Value = Options> {
    (prop::sample::select(Level::ALL.to_vec()), any::<bool>())
        .prop_map(|(level, drop_fragment)| Options::new(level).drop_fragment(drop_fragment))
}

/// Rules that affect the same parts as the steps.
fn rules() -> impl Strategy<Value = Option<RuleSet>> {
    let names =
        ["sort-query", "www", "host-dot", "trailing-slash", "duplicate-slash", "empty-query"];
    let some = prop::sample::subsequence(names.to_vec(), 0..names.len());
    some.prop_map(|names| {
        let mut builder = RuleSet::builder();
        names.iter().for_each(|name| builder.rule(name).unwrap());
        (!names.is_empty()).then(|| builder.build().unwrap())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn an_explanation_ends_in_the_result_of_the_reference_path(uri in uri(), options in options()) {
        let uri = uri.as_bytes();
        let mut form = Vec::new();
        match (explain(uri, options), normalize_exact(uri, options.level, options.drop_fragment, &mut form)) {
            (Ok(explanation), Ok(())) => {
                prop_assert_eq!(String::from_utf8_lossy(&explanation.canonical), String::from_utf8_lossy(&form));
                prop_assert_eq!(explanation.changes.is_empty(), form == uri);
                for change in &explanation.changes {
                    prop_assert!(change.start <= change.end && change.end <= uri.len());
                    prop_assert!(change.before != change.after);
                    prop_assert!(change.step.level.is_none_or(|level| level <= options.level));
                }
                // The first change applies to the bytes of the input.
                if let Some(first) = explanation.changes.first() {
                    prop_assert_eq!(&uri[first.start..first.end], &first.before[..]);
                }
            }
            (explanation, judged) => prop_assert_eq!(explanation.err(), judged.err()),
        }
    }

    #[test]
    fn a_comparison_agrees_with_the_forms(a in uri(), b in uri(), same in any::<bool>(), options in options(), rules in rules()) {
        // Any two are rarely equivalent: sometimes take a form of the first.
        let mut form = Vec::new();
        let is_form = same && normalize_exact(a.as_bytes(), Level::Scheme, false, &mut form).is_ok();
        let (a, b) = (a.as_bytes(), if is_form { &form[..] } else { b.as_bytes() });
        let is_one_by = |level: Level, drop_fragment: bool, rules: Option<&RuleSet>| {
            let form = |text: &[u8]| {
                let mut form = Vec::new();
                match normalize_exact(text, level, drop_fragment, &mut form) {
                    Ok(()) => match rules {
                        Some(rules) => rules.apply(&form, &mut Scratch::default()).0.to_vec(),
                        None => form,
                    },
                    Err(_) => text.to_vec(),
                }
            };
            a == b || form(a) == form(b)
        };
        let is_one = |level| is_one_by(level, options.drop_fragment, rules.as_ref());
        match compare_with_rules(a, b, options, rules.as_ref()) {
            Comparison::Equivalent { level, steps } => {
                prop_assert!(level <= options.level && is_one(options.level));
                // The lowest level at which the rules among the steps are enough.
                let mut few = RuleSet::builder();
                let named: Vec<&str> = steps.iter().filter(|step| step.level.is_none()).map(|step| step.name).collect();
                named.iter().for_each(|rule| few.rule(rule).unwrap());
                let few = few.build().unwrap();
                let is_one = |level| is_one_by(level, named.contains(&"fragment"), Some(&few));
                prop_assert!(is_one(level));
                prop_assert!(Level::ALL.into_iter().filter(|below| *below < level).all(|below| !is_one(below)));
                prop_assert_eq!(steps.is_empty(), a == b);
            }
            Comparison::Different { differences } => {
                prop_assert!(!is_one(options.level) && !differences.is_empty());
                for difference in differences {
                    prop_assert!(difference.at[0] <= a.len() && difference.at[1] <= b.len());
                }
            }
        }
    }
}

#[test]
fn an_empty_reference_is_compared_as_any_other() {
    let same = Comparison::Equivalent { level: Level::String, steps: vec![] };
    for options in [SCHEME, SCHEME.level(Level::String)] {
        assert_eq!(compare(b"", b"", options), same);
        for other in ["a", "#", "?", "//h", "http:", "http://h/", "\u{e9}", " "] {
            for (a, b) in [("", other), (other, "")] {
                let found = compare(a.as_bytes(), b.as_bytes(), options);
                assert!(matches!(found, Comparison::Different { .. }), "{a:?} {b:?}");
            }
        }
    }
}
