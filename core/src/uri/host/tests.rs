use std::net::{Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;

/// Each of the nine alternatives of `IPv6address`, least and most groups, `ls32` both ways.
const NINE_FORMS: &[&[&str]] = &[
    &["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:1.2.3.4", "0001:ABCD:abcd:0:00:000:0000:ffff"],
    &["::2:3:4:5:6:7:8", "::2:3:4:5:6:1.2.3.4"],
    &["::3:4:5:6:7:8", "1::3:4:5:6:7:8", "::3:4:5:6:1.2.3.4", "1::3:4:5:6:1.2.3.4"],
    &["::4:5:6:7:8", "1::4:5:6:7:8", "1:2::4:5:6:7:8", "1:2::4:5:6:1.2.3.4"],
    &["::5:6:7:8", "1::5:6:7:8", "1:2:3::5:6:7:8", "1:2:3::5:6:1.2.3.4"],
    &["::6:7:8", "1::6:7:8", "1:2:3:4::6:7:8", "1:2:3:4::6:1.2.3.4"],
    &["::7:8", "1::7:8", "1:2:3:4:5::7:8", "::1.2.3.4", "1:2:3:4:5::1.2.3.4"],
    &["::8", "1::8", "1:2:3:4:5:6::8"],
    &["::", "1::", "1:2:3:4:5:6:7::"],
];

const NO_IPV6: &[&str] = &[
    "",
    ":",
    ":::",
    "1",
    "1:",
    ":1",
    "1:2:3:4:5:6:7",
    "1:2:3:4:5:6:7:",
    ":1:2:3:4:5:6:7:8",
    "1:2:3:4:5:6:7:8:",
    "1:2:3:4:5:6:7:8:9",
    "1:2:3:4:5:6:7:8::",
    "::1:2:3:4:5:6:7:8",
    "1:2:3:4::5:6:7:8",
    "1::2::3",
    "1:::2",
    "::1:",
    "::12345",
    "00001::",
    "::g",
    "::-1",
    "::+1",
    "::1 ",
    " ::1",
    "::1%25eth0",
    "::1%eth0",
    "[::1]",
    // The IPv4 part is the end of the address and counts as two groups.
    "1.2.3.4",
    "1.2.3.4::",
    "::1.2.3.4:5",
    "::1.2.3.4.5",
    "1:2:3:4:5:1.2.3.4",
    "1:2:3:4:5:6:7:1.2.3.4",
    "1:2:3:4:5:6::1.2.3.4",
    "::2:3:4:5:6:7:1.2.3.4",
    "::1.2.3",
    "::1.2.3.256",
    "::01.2.3.4",
    "::.1.2.3",
];

#[test]
fn all_nine_forms_of_ipv6_are_addresses() {
    for text in NINE_FORMS.iter().copied().flatten() {
        let std: Ipv6Addr = text.parse().unwrap();
        assert_eq!(parse_ipv6(text.as_bytes()), Some(std.segments()), "{text}");
    }
}

#[test]
fn near_misses_are_not_ipv6_addresses() {
    for text in NO_IPV6 {
        assert_eq!(parse_ipv6(text.as_bytes()), None, "{text}");
    }
}

/// `::` in place of `zeros` groups, at every position: one or more is an address, none is not.
#[test]
fn double_colon_represents_at_least_one_group() {
    for before in 0..=8usize {
        for after in 0..=8 {
            let groups = |n: usize| vec!["a"; n].join(":");
            let text = format!("{}::{}", groups(before), groups(after));
            let parsed = parse_ipv6(text.as_bytes());
            assert_eq!(parsed.is_some(), before + after <= 7, "{text}");
            if let Some(parsed) = parsed {
                for (i, group) in parsed.into_iter().enumerate() {
                    let written = i < before || i >= 8 - after;
                    assert_eq!(group, if written { 0xa } else { 0 }, "{text} group {i}");
                }
            }
        }
    }
}

#[test]
fn an_octet_of_an_ipv4_address_is_0_to_255_without_leading_zeros() {
    for number in 0..=1000u32 {
        let text = format!("{number}.0.0.{number}");
        let expected = u8::try_from(number).ok().map(|octet| [octet, 0, 0, octet]);
        assert_eq!(parse_ipv4(text.as_bytes()), expected, "{text}");
        let padded = format!("0{number}.0.0.1");
        assert_eq!(parse_ipv4(padded.as_bytes()), None, "{padded}");
    }
    for text in ["", ".", "1.2.3", "1.2.3.", ".1.2.3", "1.2.3.4.", "1.2.3.4.5", "1..2.3", "1.2.3.a"]
    {
        assert_eq!(parse_ipv4(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn ip_future_has_a_version_and_an_address() {
    for text in ["v1.x", "V1.x", "vF.:", "v00ff.a-._~!$&'()*+,;=:b", "v1.v1.x", "v1.."] {
        assert!(is_ip_future(text.as_bytes()), "{text}");
    }
    for text in ["", "v", "v1", "v1.", "v.x", "vg.x", "1.x", "x1.x", "v1.%41", "v1.a@b", "v1.a/b"] {
        assert!(!is_ip_future(text.as_bytes()), "{text}");
    }
    assert!(!is_ip_future(b"v1.\xC3\xA9"));
}

#[test]
fn the_first_alternative_of_host_wins() {
    let rows: &[(&str, Option<HostKind>)] = &[
        ("", Some(HostKind::RegName)),
        ("a", Some(HostKind::RegName)),
        ("1.2.3.4", Some(HostKind::Ipv4)),
        ("255.255.255.255", Some(HostKind::Ipv4)),
        ("0.0.0.0", Some(HostKind::Ipv4)),
        ("256.2.3.4", Some(HostKind::RegName)),
        ("1.2.3.04", Some(HostKind::RegName)),
        ("1.2.3", Some(HostKind::RegName)),
        ("1.2.3.4.", Some(HostKind::RegName)),
        ("1.2.3.4.5", Some(HostKind::RegName)),
        ("%31.2.3.4", Some(HostKind::RegName)),
        ("a%4", None),
        ("a%4g", None),
        ("a:b", None),
        ("a@b", None),
        ("[::1]", Some(HostKind::Ipv6)),
        ("[::ffff:1.2.3.4]", Some(HostKind::Ipv6)),
        ("[v1.x]", Some(HostKind::IpFuture)),
        ("[V1.x]", Some(HostKind::IpFuture)),
        ("[1.2.3.4]", None),
        ("[a]", None),
        ("[]", None),
        ("[", None),
        ("]", None),
        ("[::1", None),
        ("::1", None),
        ("[::1]a", None),
        ("[[::1]]", None),
    ];
    for &(text, expected) in rows {
        assert_eq!(host_kind(text.as_bytes()), expected, "{text}");
    }
}

/// Parts that form addresses and near misses.
fn nearly_an_address() -> impl Strategy<Value = String> {
    let piece = prop_oneof![
        4 => "[0-9a-fA-F]{1,4}",
        2 => "[0-9]{1,3}",
        1 => "[0-9a-g]{5}",
        4 => Just(":".to_owned()),
        2 => Just("::".to_owned()),
        2 => Just(".".to_owned()),
        1 => Just("1.2.3.4".to_owned()),
        1 => Just("0".to_owned()),
    ];
    let loose = proptest::collection::vec(piece, 0..17).prop_map(|pieces| pieces.concat());
    // Groups and separators in turn, so that a good share are addresses.
    let group = prop_oneof![12 => "[0-9a-fA-F]{1,4}", 1 => Just(String::new())];
    let even = (proptest::collection::vec(group, 1..10), prop::bool::ANY).prop_map(
        |(groups, ipv4_at_the_end)| {
            let tail = if ipv4_at_the_end { ":192.0.2.33" } else { "" };
            groups.join(":") + tail
        },
    );
    prop_oneof![loose, even]
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 20_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    /// The standard library accepts exactly the language of `IPv6address`: no zone, at most
    /// four digits a group, `::` for at least one group. No difference is known.
    #[test]
    fn ipv6_agrees_with_the_standard_library(text in nearly_an_address()) {
        let std = text.parse::<Ipv6Addr>().ok().map(|address| address.segments());
        prop_assert_eq!(parse_ipv6(text.as_bytes()), std);
    }

    /// The standard library rejects leading zeros just as `dec-octet` does. No difference is known.
    #[test]
    fn ipv4_agrees_with_the_standard_library(text in "([0-9]{1,4}[.]){2,4}[0-9]{0,3}|[0-9.]{0,16}") {
        let std = text.parse::<Ipv4Addr>().ok().map(|address| address.octets());
        prop_assert_eq!(parse_ipv4(text.as_bytes()), std);
    }

    /// Whatever the standard library prints is read back as the same address.
    #[test]
    fn printed_addresses_are_read_back(groups: [u16; 8], zeros: u8, octets: [u8; 4]) {
        let groups: [u16; 8] =
            std::array::from_fn(|i| if zeros >> i & 1 == 1 { 0 } else { groups[i] });
        let text = Ipv6Addr::from(groups).to_string();
        prop_assert_eq!(parse_ipv6(text.as_bytes()), Some(groups));
        let text = Ipv4Addr::from(octets).to_string();
        prop_assert_eq!(parse_ipv4(text.as_bytes()), Some(octets));
    }
}
