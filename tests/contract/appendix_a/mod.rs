//! Tests the strict parser against an independent transcription of RFC 3986 Appendix A.

pub(crate) mod at;
mod rules;

use at::{Rule, matches_variant};
use proptest::prelude::*;
use rules::*;
use uriscan::uri::{Components, HostKind, parse};

fn matches(rule: Rule, text: &[u8]) -> bool {
    matches_variant(false, rule, text)
}

/// Why the parser and the transcription disagree about `text`, if they do.
fn disagreement(text: &[u8]) -> Option<String> {
    let shown = text.escape_ascii();
    let c = match parse(text) {
        Ok(c) => c,
        Err(error) => {
            return matches(uri_reference, text).then(|| format!("{shown}: refused: {error}"));
        }
    };
    let claims = [
        ("URI-reference", uri_reference as Rule, true),
        ("URI", uri, c.is_uri()),
        ("absolute-URI", absolute_uri, c.is_absolute_uri()),
        ("relative-ref", relative_ref, !c.is_uri()),
    ];
    for (name, rule, claimed) in claims {
        if matches(rule, text) != claimed {
            return Some(format!("{shown}: {name}, says the parser: {claimed}"));
        }
    }
    component_disagreement(text, &c).map(|name| format!("{shown}: {name} of {c:?}"))
}

/// The first component that does not match its own rule.
fn component_disagreement(text: &[u8], c: &Components) -> Option<&'static str> {
    let holds = |rule: Rule, component: Option<&[u8]>| component.is_none_or(|t| matches(rule, t));
    // First match wins among the alternatives of host.
    let kind = c.host(text).map_or(HostKind::None, |host| match host {
        [b'[', literal @ .., b']'] if matches(ipv6address, literal) => HostKind::Ipv6,
        [b'[', literal @ .., b']'] if matches(ipvfuture, literal) => HostKind::IpFuture,
        _ if matches(ipv4address, host) => HostKind::Ipv4,
        _ => HostKind::RegName,
    });
    let checks = [
        ("scheme", holds(scheme, c.scheme(text))),
        ("authority", holds(authority, c.authority(text))),
        ("userinfo", holds(userinfo, c.userinfo(text))),
        ("host", holds(host, c.host(text))),
        ("host kind", kind == c.host_kind),
        ("port", holds(port, c.port(text))),
        ("path", matches(path, c.path(text))),
        ("query", holds(query, c.query(text))),
        ("fragment", holds(fragment, c.fragment(text))),
    ];
    checks.into_iter().find(|&(_, holds)| !holds).map(|(name, _)| name)
}

#[track_caller]
fn agree(text: &[u8]) {
    if let Some(difference) = disagreement(text) {
        panic!("{difference}");
    }
}

/// Tests the transcription itself, on references whose status the RFC states.
#[test]
fn the_transcription_matches_the_examples_of_the_rfc() {
    for text in VALID {
        assert!(matches(uri_reference, text.as_bytes()), "{text}");
    }
    for text in INVALID {
        assert!(!matches(uri_reference, text.as_bytes()), "{text}");
    }
    assert!(matches(uri, b"a:b#c") && !matches(absolute_uri, b"a:b#c"));
    assert!(matches(relative_ref, b"//a/b") && !matches(uri, b"//a/b"));
}

#[test]
fn listed_references_are_classified_alike() {
    for text in VALID.iter().chain(INVALID) {
        agree(text.as_bytes());
    }
}

/// Every string of up to five bytes over one byte of each kind that the grammar distinguishes.
#[test]
fn all_short_strings_are_classified_alike() {
    let alphabet = b"a1:/?#[]@%. !";
    let mut text = Vec::new();
    for length in 0..=5u32 {
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

/// Every byte in every part, so that no class is a byte too wide or too narrow.
#[test]
fn every_byte_in_every_part_is_classified_alike() {
    let frames = [
        "_",
        "_:",
        "a_:b",
        "a_",
        "a_/b",
        "//_@h",
        "//_",
        "//h:_",
        "//[v1._]",
        "//[v_.a]",
        "//[_::]",
        "//[::1]_",
        "/_",
        "a:_",
        "?_",
        "#_",
        "%_1",
        "%1_",
        "//h%_a",
        "//1.2.3._",
        "//[::1.2.3._]",
    ];
    for frame in frames {
        let (before, after) = frame.split_once('_').unwrap();
        for byte in 0..=255u8 {
            agree(&[before.as_bytes(), &[byte], after.as_bytes()].concat());
        }
    }
}

const VALID: &[&str] = &[
    "ftp://ftp.is.co.za/rfc/rfc1808.txt",
    "http://www.ietf.org/rfc/rfc2396.txt",
    "ldap://[2001:db8::7]/c=GB?objectClass?one",
    "mailto:John.Doe@example.com",
    "news:comp.infosystems.www.servers.unix",
    "tel:+1-816-555-1212",
    "telnet://192.0.2.16:80/",
    "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
    "foo://example.com:8042/over/there?name=ferret#nose",
    "foo://info.example.com?fred",
    "http://www.ics.uci.edu/pub/ietf/uri/#Related",
    "eXAMPLE://a/./b/../b/%63/%7bfoo%7d",
    "file://localhost/etc/fstab",
    "http://u:p@[::ffff:192.0.2.33]:8080/a;b=1,2/%2E?q=1",
    "//[v1.fe80::a+en1]/",
    "//[V1.x]",
    "//1:2:3@[1:2:3:4:5:6:7::]:",
    "../../g;x=1/./y?a/../b#s/../x",
    "a/b:c",
    "?x:y",
    "#a:b",
    "",
];

const INVALID: &[&str] = &[
    "1a:b",
    ":x",
    "a_b:c",
    "%41:b",
    "a b",
    "//[v1.%41]",
    "//[::1%25eth0]",
    "//a@b@c",
    "//h:8a",
    "//[::1",
    "//[::1]a",
    "##",
    "a:[b]",
    "%4",
    "//[1:2:3:4:5:6:7:8::]",
    "//[1.2.3.4]",
];

/// A byte of the alphabet of random references: mostly delimiters.
fn delimiter_heavy() -> impl Strategy<Value = u8> {
    prop_oneof![
        8 => prop::sample::select(&b":/?#[]@%"[..]),
        4 => prop::sample::select(&b"aAfFgv019.-+"[..]),
        1 => prop::sample::select(&b"!$&'()*,;=_~ \"<\x7f\0\xe9\xff"[..]),
    ]
}

/// One change to a text: what, where (as a share of the length), and with which byte.
fn mutation() -> impl Strategy<Value = (u8, prop::sample::Index, u8)> {
    (0..4u8, any::<prop::sample::Index>(), prop_oneof![4 => delimiter_heavy(), 1 => any::<u8>()])
}

fn mutate(text: &mut Vec<u8>, (what, place, byte): (u8, prop::sample::Index, u8)) {
    let at = place.index(text.len() + 1);
    match what {
        0 => text.insert(at, byte),
        _ if at == text.len() => {}
        1 => {
            text.remove(at);
        }
        2 => text[at] = byte,
        // Joins two parts of the text that are apart.
        _ => text.truncate(at),
    }
}

/// Authorities, with the addresses that a random walk would never reach.
fn nearly_an_authority() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop::sample::select(
        &[
            "[", "]", "::", ":", "1:2", "fffF", "1.2.3.4", "255", "256", ".", "v1.", "@", "a",
            "%41", "0",
        ][..],
    );
    proptest::collection::vec(piece, 0..14)
        .prop_map(|pieces| [&b"//"[..], pieces.concat().as_bytes()].concat())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn random_strings_are_classified_alike(
        text in proptest::collection::vec(delimiter_heavy(), 0..=12),
    ) {
        prop_assert_eq!(disagreement(&text), None);
    }

    #[test]
    fn mutated_references_are_classified_alike(
        seed in prop::sample::select(VALID),
        mutations in proptest::collection::vec(mutation(), 0..4),
    ) {
        let mut text = seed.as_bytes().to_vec();
        for mutation in mutations {
            mutate(&mut text, mutation);
        }
        prop_assert_eq!(disagreement(&text), None);
    }

    #[test]
    fn random_authorities_are_classified_alike(text in nearly_an_authority()) {
        prop_assert_eq!(disagreement(&text), None);
    }
}
