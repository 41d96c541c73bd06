//! Tests the properties that relate the strict parser, the split of Appendix B, and their
//! documentation, on generated references.

use proptest::prelude::*;
use uriscan::uri::{Components, Split, UriError, UriErrorKind, parse, split};

/// Text composed of parts that matter to the grammar, in any order.
fn reference() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        6 => prop::sample::select(&[":", "/", "?", "#", "//", "@", "[", "]"][..]).prop_map(Vec::from),
        6 => "[a-z]{1,3}|[0-9]{1,3}|[.]{1,2}|[-+_~!$;=]".prop_map(String::into_bytes),
        3 => prop::sample::select(&["http:", "%41", "%2f", "1.2.3.4", "[::1]", "[v1.x]", ":80"][..])
            .prop_map(Vec::from),
        1 => prop::sample::select(&["%", "%4", " ", "\t", "<", "\u{e9}", "\0"][..])
            .prop_map(Vec::from),
        1 => any::<u8>().prop_map(|byte| vec![byte]),
    ];
    proptest::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat())
}

/// The five components of Appendix B as the strict parser sees them.
fn as_split<'t>(c: &Components, text: &'t [u8]) -> Split<'t> {
    Split {
        scheme: c.scheme(text),
        authority: c.authority(text),
        path: c.path(text),
        query: c.query(text),
        fragment: c.fragment(text),
    }
}

/// The authority, recomposed from its parts (3.2).
fn recomposed_authority(c: &Components, text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    if let Some(userinfo) = c.userinfo(text) {
        out.extend_from_slice(userinfo);
        out.push(b'@');
    }
    out.extend_from_slice(c.host(text)?);
    if let Some(port) = c.port(text) {
        out.push(b':');
        out.extend_from_slice(port);
    }
    Some(out)
}

/// Whether the position of `error` agrees with its documentation, as far as the text alone can
/// show.
fn points_well(text: &[u8], error: UriError) -> bool {
    let at = usize::try_from(error.at).unwrap();
    let before = &text[..at];
    let byte = text.get(at).copied();
    // The part before a fault is a reference, or a userinfo before its `@`.
    let fine_before = parse(before).is_ok() || parse(&[before, b"@"].concat()).is_ok();
    let named_by_the_byte = |is: fn(u8) -> bool| fine_before && byte.is_some_and(is);
    match error.kind {
        UriErrorKind::Scheme => {
            // Everything before the colon would be valid in a path, and the part before `at` as a
            // scheme.
            let colon = text.iter().position(|&b| b == b':').unwrap();
            let begun = before.is_empty() || parse(&[before, b":"].concat()).is_ok();
            let refused = byte == Some(b':') || parse(&[&text[..=at], b":"].concat()).is_err();
            at <= colon && parse(&text[..colon]).is_ok() && begun && refused
        }
        UriErrorKind::Percent => {
            let hex = text[at + 1..].iter().take(2).filter(|b| b.is_ascii_hexdigit()).count();
            named_by_the_byte(|b| b == b'%') && hex < 2
        }
        UriErrorKind::Control => named_by_the_byte(|b| b.is_ascii_control()),
        UriErrorKind::Space => named_by_the_byte(|b| b == b' '),
        UriErrorKind::NonAscii => named_by_the_byte(|b| !b.is_ascii()),
        UriErrorKind::Bracket => named_by_the_byte(|b| b == b'[' || b == b']'),
        UriErrorKind::Delimiter => {
            named_by_the_byte(|b| b == b'@' || b == b'#') && before.contains(&text[at])
        }
        UriErrorKind::Byte => named_by_the_byte(|b| b"\"<>\\^`{|}".contains(&b)),
        UriErrorKind::Port => {
            parse(before).is_ok_and(|c| c.port(before).is_some())
                && byte.is_some_and(|b| !b.is_ascii_digit())
        }
        UriErrorKind::IpLiteral => {
            parse(before).is_ok() && (byte == Some(b'[') || before.ends_with(b"]"))
        }
        _ => false,
    }
}

fn check(text: &[u8]) -> Result<(), TestCaseError> {
    let parts = split(text);
    prop_assert_eq!(parts.recompose(), text);
    match parse(text) {
        Ok(c) => {
            prop_assert_eq!(as_split(&c, text), parts);
            let authority = recomposed_authority(&c, text);
            prop_assert_eq!(authority.as_deref(), parts.authority);
        }
        Err(error) => prop_assert!(points_well(text, error), "{}", error),
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 50_000,
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn split_recomposes_and_agrees_and_errors_point(text in reference()) {
        check(&text)?;
    }

    /// A valid reference stays valid, with the same components, when a fragment is appended.
    #[test]
    fn a_fragment_changes_no_other_component(text in reference()) {
        if let Ok(c) = parse(&text) && c.fragment(&text).is_none() {
            let longer = [&text[..], b"#f"].concat();
            let len = c.len + 2;
            let mut expected = c;
            expected.len = len;
            prop_assert_eq!(parse(&longer), Ok(expected));
        }
    }
}
