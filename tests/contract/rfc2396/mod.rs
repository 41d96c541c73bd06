//! Tests the parser of RFC 2396 against an independent transcription of its Appendix A.

mod resolution;
mod rules;

use crate::appendix_a::at::{Rule, matches_variant};
use proptest::prelude::*;
use rules::*;
use uriscan::rfc2396::Legacy;
use uriscan::uri::UriErrorKind;
use uriscan_core::rfc2396::parse_rfc2396;
use uriscan_core::rfc2396::{LegacyAuthority, LegacyComponents};

const BOTH: [Legacy; 2] = [Legacy { has_rfc2732: false }, Legacy { has_rfc2732: true }];

/// Why the parser and the transcription disagree about `text`, if they do.
fn disagreement(text: &[u8], legacy: Legacy) -> Option<String> {
    let shown = format!("{} {legacy:?}", text.escape_ascii());
    let matches = |rule: Rule, text: &[u8]| matches_variant(legacy.has_rfc2732, rule, text);
    let c = match parse_rfc2396(text, legacy) {
        Ok(c) => c,
        Err(error) => {
            assert!(error.at as usize <= text.len());
            return matches(uri_reference, text).then(|| format!("{shown}: refused: {error}"));
        }
    };
    if !matches(uri_reference, text) {
        return Some(format!("{shown}: taken for a reference"));
    }
    let holds = |rule: Rule, part: Option<&[u8]>| part.is_none_or(|part| matches(rule, part));
    let authority_is = |rule: Rule| c.authority(text).is_some_and(|part| matches(rule, part));
    let host_is = |rule: Rule| c.host(text).is_some_and(|part| matches(rule, part));
    let hierarchy =
        &text[if c.scheme_end == 0 { 0 } else { c.scheme_end as usize + 1 }..c.query_end as usize];
    let checks = [
        ("scheme", holds(scheme, c.scheme(text))),
        ("absoluteURI", c.is_absolute() == matches(absolute_uri, &text[..c.query_end as usize])),
        (
            "opaque_part",
            c.opaque_part(text).is_some() == (c.is_absolute() && matches(opaque_part, hierarchy)),
        ),
        ("opaque_part's text", c.opaque_part(text).is_none_or(|part| part == hierarchy)),
        ("net_path", holds(net_path, c.net_path(text))),
        // "The authority component wins" (4.3).
        ("net_path or not", c.net_path(text).is_some() == hierarchy.starts_with(b"//")),
        ("abs_path", holds(abs_path, c.abs_path(text))),
        ("rel_path", holds(rel_path, c.rel_path(text))),
        ("server or reg_name", c.server(text).is_some() == authority_is(server)),
        ("reg_name", holds(reg_name, c.reg_name(text))),
        ("userinfo", holds(userinfo, c.userinfo(text))),
        ("hostname", (c.authority == LegacyAuthority::Hostname) == host_is(hostname)),
        ("IPv4address", (c.authority == LegacyAuthority::Ipv4) == host_is(ipv4address)),
        ("ipv6reference", (c.authority == LegacyAuthority::Ipv6) == host_is(ipv6reference)),
        ("toplabel", holds(toplabel, c.toplabel(text))),
        ("port", holds(port, c.port(text))),
        ("query", holds(query, c.query(text))),
        ("fragment", holds(fragment, c.fragment(text))),
        ("segments", c.segments(text).all(|part| matches(segment, part))),
        ("recomposed", recomposed(text, &c) == text),
    ];
    let failed = checks.into_iter().find(|&(_, holds)| !holds);
    failed.map(|(name, _)| format!("{shown}: {name} of {c:?}"))
}

/// The reference recomposed from its components, down to the smallest.
fn recomposed(text: &[u8], c: &LegacyComponents) -> Vec<u8> {
    let mut out = Vec::new();
    let mut push = |before: &[u8], part: Option<&[u8]>, after: &[u8]| {
        if let Some(part) = part {
            out.extend([before, part, after].concat());
        }
    };
    push(b"", c.scheme(text), b":");
    if c.server(text).is_some() {
        push(b"//", Some(b""), b"");
        push(b"", c.userinfo(text), b"@");
        push(b"", c.host(text), b"");
        push(b":", c.port(text), b"");
    }
    push(b"//", c.reg_name(text), b"");
    push(b"", c.opaque_part(text), b"");
    let segments = c.segments(text).collect::<Vec<_>>().join(&b'/');
    push(b"/", c.abs_path(text).map(|_| &segments[..]), b"");
    push(b"", c.rel_path(text).map(|_| &segments[..]), b"");
    push(b"?", c.query(text), b"");
    push(b"#", c.fragment(text), b"");
    out
}

#[track_caller]
fn agree(text: &[u8]) {
    for legacy in BOTH {
        if let Some(difference) = disagreement(text, legacy) {
            panic!("{difference}");
        }
    }
}

/// Texts that a rule accepts, and texts that it rejects.
type Table<'t> = (&'t str, Rule, &'t [&'t str], &'t [&'t str]);

/// From the text of sections 2 and 3: every production, with texts that it accepts and texts that
/// it rejects.
#[rustfmt::skip]
const PRODUCTIONS: &[Table<'_>] = &[
    ("absoluteURI", absolute_uri, &["a:b", "http://h", "a:/", "mailto:x@y", "a:?x", "news:a/b"], &["a:", "a", "//h", ":b", "1:b", "a:#f"]),
    ("hier_part", hier_part, &["//h", "//h/p?q", "/p", "/", "//", "//?q", "/?"], &["", "p", "?q"]),
    ("net_path", net_path, &["//", "//h", "//h/", "//a_b", "///p"], &["/p", "//h?q", "h"]),
    ("abs_path", abs_path, &["/", "/a/b", "//", "/a;p/b;q=1;r"], &["", "a", "/a?b", "/a#b"]),
    ("opaque_part", opaque_part, &["a", "?a", "a?b/c", ";", "%41/", "*"], &["", "/a", "a#b", "a[b", "%4"]),
    ("scheme", scheme, &["a", "Z39.50s", "a+b-c.d"], &["", "1a", "+a", "a_b", "a%41"]),
    ("authority", authority, &["", "h", "a_b", "u@h:80", "h:8x", "u@v@w", "%41"], &["h/", "[::1]", "h?", "a b"]),
    ("reg_name", reg_name, &["a", "a_b", "$,;:@&=+", "%20"], &["", "a/b", "[a]", "a?"]),
    ("server", server, &["", "h", "u@h", "u:p@h:80", "@h", "h:", "1.2.3.4:80"], &["a_b", "u@", ":80", "h:8x", "u@v@w", "1.2.3", "-h", "h-", "%41"]),
    ("userinfo", userinfo, &["", "u", "u:p", ";:&=+$,", "%40"], &["u@", "u/", "u?"]),
    ("hostport", hostport, &["h", "h:", "h:80", "1.2.3.4:80"], &["", ":80", "h:a", "h:80:80"]),
    ("hostname", hostname, &["h", "a.b", "a.b.", "1.b", "a-b.c-d", "9a.b", "a.b9"], &["", ".", "a..b", ".a", "a.9b", "a.9", "-a", "a-", "a_b", "a.b.."]),
    ("toplabel", toplabel, &["a", "a1", "a-1", "Ab"], &["", "1", "1a", "a-", "-a", "a.b"]),
    ("domainlabel", domainlabel, &["a", "1", "1a", "a-b", "a--b"], &["", "-", "a-", "-a", "a_b"]),
    ("IPv4address", ipv4address, &["1.2.3.4", "0.0.0.0", "999.1.1.1", "01.02.03.04"], &["1.2.3", "1.2.3.4.5", "1.2.3.a", "1..3.4", "1.2.3.4."]),
    ("port", port, &["", "80", "0080", "99999999999"], &["8x", "-1", "+1"]),
    ("path_segments", path_segments, &["", "a", "a/b", "/", "a;p/b"], &["a?", "a#", "a b"]),
    ("segment", segment, &["", "a", "a;p", ";", ";;", "a;p=1;q", ":@&=+$,"], &["a/b", "a?", "a["]),
    ("param", param, &["", "p", "p=1", ":@&=+$,"], &["p;q", "p/q"]),
    ("pchar", pchar, &["a", "%41", ":", "@", "&", "=", "+", "$", ",", "~", "!", "*", "'", "(", ")"], &["", ";", "/", "?", "#", "[", "%4", "%4g", " "]),
    ("query", query, &["", "a=b", "?/;:@", "*'()!~"], &["#", "[", "a b", "%"]),
    ("uric", uric, &["a", ";", "/", "?", ":", "@", "&", "=", "+", "$", ",", "-", "_", ".", "!", "~", "*", "'", "(", ")", "%0a"], &["", "#", "%", "<", ">", "\"", "{", "}", "|", "\\", "^", "[", "]", "`", " "]),
];

#[test]
fn every_production_accepts_and_rejects_as_specified() {
    for (name, rule, taken, refused) in PRODUCTIONS {
        for text in *taken {
            assert!(matches_variant(false, *rule, text.as_bytes()), "{name} takes {text:?}");
        }
        for text in *refused {
            assert!(!matches_variant(false, *rule, text.as_bytes()), "{name} refuses {text:?}");
        }
    }
}

#[test]
fn the_parser_classifies_every_production_alike_in_every_position() {
    for (_, _, taken, refused) in PRODUCTIONS {
        for text in taken.iter().chain(*refused) {
            for frame in [
                "_", "a:_", "a://_", "//_/p", "//u@_:80", "//_@h", "/_", "a/_", "a:/x/_;p", "?_",
                "a:b?_", "#_",
            ] {
                agree(frame.replace('_', text).as_bytes());
            }
        }
    }
}

/// The components of one reference: (name, value).
type Parts<'t> = &'t [(&'t str, &'t str)];

#[test]
fn components_by_name() {
    let rows: [(&str, Parts<'_>); 8] = [
        (
            "http://u:p@www.example.com.:80/a;x=1;y/b?q#f",
            &[
                ("scheme", "http"),
                ("net_path", "//u:p@www.example.com.:80/a;x=1;y/b"),
                ("abs_path", "/a;x=1;y/b"),
                ("authority", "u:p@www.example.com.:80"),
                ("server", "u:p@www.example.com.:80"),
                ("userinfo", "u:p"),
                ("host", "www.example.com."),
                ("hostname", "www.example.com."),
                ("toplabel", "com"),
                ("port", "80"),
                ("query", "q"),
                ("fragment", "f"),
            ],
        ),
        ("mailto:a@b?subject=x", &[("scheme", "mailto"), ("opaque_part", "a@b?subject=x")]),
        (
            "//a_b/",
            &[("net_path", "//a_b/"), ("abs_path", "/"), ("authority", "a_b"), ("reg_name", "a_b")],
        ),
        (
            "//999.1.1.1",
            &[
                ("net_path", "//999.1.1.1"),
                ("authority", "999.1.1.1"),
                ("server", "999.1.1.1"),
                ("host", "999.1.1.1"),
            ],
        ),
        (
            "file:///x",
            &[
                ("scheme", "file"),
                ("net_path", "///x"),
                ("abs_path", "/x"),
                ("authority", ""),
                ("server", ""),
            ],
        ),
        ("a;b/c?", &[("rel_path", "a;b/c"), ("query", "")]),
        ("?y", &[("query", "y")]),
        ("#", &[("fragment", "")]),
    ];
    for (text, expected) in rows {
        let text = text.as_bytes();
        let c = parse_rfc2396(text, Legacy::default()).unwrap();
        let parts = [
            ("scheme", c.scheme(text)),
            ("opaque_part", c.opaque_part(text)),
            ("net_path", c.net_path(text)),
            ("abs_path", c.abs_path(text)),
            ("rel_path", c.rel_path(text)),
            ("authority", c.authority(text)),
            ("server", c.server(text)),
            ("reg_name", c.reg_name(text)),
            ("userinfo", c.userinfo(text)),
            ("host", c.host(text)),
            ("hostname", c.hostname(text)),
            ("toplabel", c.toplabel(text)),
            ("port", c.port(text)),
            ("query", c.query(text)),
            ("fragment", c.fragment(text)),
        ];
        let found: Vec<_> = parts
            .into_iter()
            .filter_map(|(name, part)| Some((name, std::str::from_utf8(part?).unwrap())))
            .collect();
        let mut expected = expected.to_vec();
        expected.sort_unstable();
        let mut found = found;
        found.sort_unstable();
        assert_eq!(found, expected, "{}", text.escape_ascii());
    }
}

#[test]
fn brackets_are_valid_by_rfc_2732_only() {
    for text in ["http://[::1]/", "http://u@[2001:db8::7]:80/", "a:b[", "/?[", "#]"] {
        assert!(parse_rfc2396(text.as_bytes(), BOTH[0]).is_err(), "{text}");
        assert!(parse_rfc2396(text.as_bytes(), BOTH[1]).is_ok(), "{text}");
    }
    for text in [
        "http://[::1",
        "http://[v1.x]/",
        "http://[::1]x/",
        "/[",
        "a:[",
        "http://a[::1]/",
        "//[1:2]",
    ] {
        assert!(
            BOTH.iter().all(|&legacy| parse_rfc2396(text.as_bytes(), legacy).is_err()),
            "{text}"
        );
        agree(text.as_bytes());
    }
}

/// Every string of up to five bytes over one byte of each kind that the grammar distinguishes.
#[test]
fn all_short_strings_are_classified_alike() {
    let alphabet = b"a1:/?#@%.;-[]_";
    let mut text = Vec::new();
    for length in 0..=4u32 {
        for number in 0..alphabet.len().pow(length) {
            text.clear();
            let mut rest = number;
            for _ in 0..length {
                text.push(alphabet[rest % alphabet.len()]);
                rest /= alphabet.len();
            }
            agree(&text);
        }
    }
}

#[test]
fn every_byte_in_every_part_is_classified_alike() {
    for frame in [
        "_", "_:x", "a_:b", "a:_", "a:b_", "a_/b", "//_@h", "//_", "//h_", "//h:_", "//h.a_", "/_",
        "/a;_", "?_", "#_", "//[_]",
    ] {
        for byte in 0..=255 {
            let (before, after) = frame.split_once('_').unwrap();
            agree(&[before.as_bytes(), &[byte], after.as_bytes()].concat());
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn random_references_are_classified_alike(
        text in "(a|http|1|[a-z+.]{1,3}|)(:|://|//|/|)([a-z0-9.-]{0,6}|[a-z%0-9@:;_\\[\\]]{0,8})(:[0-9]{0,3}|)([/a-z;=.?#%0-9!*'()\\[\\] \u{e9}]{0,12})",
    ) {
        for legacy in BOTH {
            prop_assert_eq!(disagreement(text.as_bytes(), legacy), None);
        }
    }
}

#[test]
fn long_texts_take_linear_time() {
    for piece in ["%41", ";", "a.", "a-", ":", "@", "/", "?", "1.", "[", "%"] {
        for frame in ["", "a:", "//", "//[", "/"] {
            let text = frame.to_owned() + &piece.repeat(300_000);
            for legacy in BOTH {
                let _ = parse_rfc2396(text.as_bytes(), legacy);
            }
        }
    }
}

#[test]
fn the_first_byte_that_no_scheme_may_hold_is_reported() {
    for (text, at) in [("1a:b", 0), ("a;b:c", 1), ("a1;b:c", 2), ("1;b:c", 0), (";:", 0)] {
        let error = parse_rfc2396(text.as_bytes(), Legacy::default()).unwrap_err();
        assert_eq!((error.kind, error.at), (UriErrorKind::Scheme, at), "{text:?}");
    }
}

#[test]
fn the_fault_of_an_authority_is_reported() {
    use UriErrorKind::{Bracket, IpLiteral, Space};
    let [old, with_rfc2732] = BOTH;
    for (legacy, text, kind, at) in [
        (with_rfc2732, "http://[::g]/", IpLiteral, 7),
        (with_rfc2732, "http://u@[::g]/", IpLiteral, 9),
        (with_rfc2732, "http://u[::1]/", Bracket, 8),
        (with_rfc2732, "http://u@h[::1]/", Bracket, 10),
        (with_rfc2732, "http:// [::1]/", Space, 7),
        (with_rfc2732, "http://u@ h/", Space, 9),
        (with_rfc2732, "http://]/", Bracket, 7),
        (old, "http://[::g]/", Bracket, 7),
        (old, "http://u@[::1]/", Bracket, 9),
    ] {
        let error = parse_rfc2396(text.as_bytes(), legacy).unwrap_err();
        assert_eq!((error.kind, error.at), (kind, at), "{text:?}");
    }
}
