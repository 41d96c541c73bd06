//! Properties of every canonical form: idempotence, re-parsing, nesting, agreement with 5.2.4.

use proptest::prelude::*;
use uriscan::normalize::Level;
use uriscan::uri::{HostKind, parse};
use uriscan_core::grammar::scheme::known_schemes;
use uriscan_core::normalize::normalize_exact;

fn normalized(text: &[u8], level: Level, drop_fragment: bool) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    normalize_exact(text, level, drop_fragment, &mut out).ok()?;
    Some(out)
}

/// RFC 3986 section 5.2.4, sentence by sentence, on two strings.
fn remove_dot_segments_to_the_letter(path: &str) -> String {
    let mut input = path.to_owned();
    let mut output = String::new();
    while !input.is_empty() {
        if input.starts_with("../") {
            input.replace_range(..3, "");
        } else if input.starts_with("./") {
            input.replace_range(..2, "");
        } else if input.starts_with("/./") {
            input.replace_range(..3, "/");
        } else if input == "/." {
            input = "/".to_owned();
        } else if input.starts_with("/../") || input == "/.." {
            let prefix = if input == "/.." { 3 } else { 4 };
            input.replace_range(..prefix, "/");
            output.truncate(output.rfind('/').unwrap_or(0));
        } else if input == "." || input == ".." {
            input.clear();
        } else {
            let from = usize::from(input.starts_with('/'));
            let end = input[from..].find('/').map_or(input.len(), |slash| from + slash);
            output.push_str(&input[..end]);
            input.replace_range(..end, "");
        }
    }
    output
}

/// Text composed of parts on which the levels act, valid more often than not.
fn uri() -> impl Strategy<Value = String> {
    let names =
        known_schemes().iter().map(|facts| facts.name).chain(["foo", "X-y"]).collect::<Vec<_>>();
    let scheme = (prop::sample::select(names), any::<bool>())
        .prop_map(|(name, upper)| if upper { name.to_ascii_uppercase() } else { name.to_owned() });
    let host = prop_oneof![
        "[aB.%]{0,1}(%4[15]|%2[Ee]|%C3%9C|%c3%bc|%EF%BC%A1|%E3%80%82|%2F|[a-dA-D.!_~-]){0,5}",
        "(localhost|LocalHost|local%48ost|1\\.2\\.3\\.4|%31\\.2\\.3\\.4|xn--[a-z0-9]{0,5})",
        "\\[(::|::1|[0fF]{0,2}1:0:0:2::|2001:DB8::0:1|::ffff:1\\.2\\.3\\.4|V[1f]\\.[aA:]{1,3})\\]",
        "[a-cüßÄ日本。Ａ１]{1,4}",
    ];
    let authority = ("((%41|[aB:!]){0,3}@)?", host, "(:(0{0,2}(80|443|21|[0-9]{0,11}))?)?")
        .prop_map(|(userinfo, host, port)| format!("//{userinfo}{host}{port}"));
    let segments = prop::collection::vec(
        "(\\.|%2[eE]){0,3}|[aB@,:]{0,3}|a%2[fF]\\.\\.|%25%34%31|%[46]1|%[cC]3%[aA]9|[IU]:x",
        0..7,
    );
    let tail = "(\\?(%3[aA]|%7e|[aB/?&+]){0,3})?(#(%3[aA]|%7e|[aB/?]){0,3})?";
    (scheme, prop::option::of(authority), any::<bool>(), segments, tail).prop_map(
        |(scheme, authority, rooted, segments, tail)| {
            let slash = if rooted { "/" } else { "" };
            format!("{scheme}:{}{slash}{}{tail}", authority.unwrap_or_default(), segments.join("/"))
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    #[test]
    fn twice_changes_nothing(text in uri()) {
        for level in Level::ALL {
            if let Some(once) = normalized(text.as_bytes(), level, false) {
                let twice = normalized(&once, level, false);
                prop_assert_eq!(
                    twice.as_deref().map(String::from_utf8_lossy),
                    Some(String::from_utf8_lossy(&once)),
                    "{} at {}", text, level
                );
            }
        }
    }

    #[test]
    fn the_form_of_the_level_above_is_a_function_of_the_one_below(text in uri()) {
        if let Some(syntax) = normalized(text.as_bytes(), Level::Syntax, false) {
            let direct = normalized(text.as_bytes(), Level::Scheme, false).unwrap();
            let over_syntax = normalized(&syntax, Level::Scheme, false).unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&direct), String::from_utf8_lossy(&over_syntax), "{}", text);
        }
    }

    #[test]
    fn the_form_parses_to_the_same_components(text in uri()) {
        let text = text.as_bytes();
        let Ok(before) = parse(text) else { return Ok(()) };
        for level in Level::ALL {
            let form = normalized(text, level, false).unwrap();
            let after = parse(&form).unwrap();
            let shown = String::from_utf8_lossy(&form);
            prop_assert!(after.scheme(&form).unwrap().eq_ignore_ascii_case(before.scheme(text).unwrap()));
            // No authority is an empty one in `file:/x` (RFC 8089).
            let is_local = level == Level::Scheme && form.starts_with(b"file:///");
            let has_authority = before.authority(text).is_some() || is_local;
            prop_assert_eq!(after.authority(&form).is_some(), has_authority, "{}", shown);
            prop_assert_eq!(after.userinfo(&form).is_some(), before.userinfo(text).is_some(), "{}", shown);
            prop_assert_eq!(after.query(&form).is_some(), before.query(text).is_some(), "{}", shown);
            prop_assert_eq!(after.fragment(&form).is_some(), before.fragment(text).is_some(), "{}", shown);
            // Encoded digits are digits (2.3): only they can change the kind of host.
            if after.host_kind != before.host_kind && before.authority_start != 0 {
                prop_assert_eq!((before.host_kind, after.host_kind), (HostKind::RegName, HostKind::Ipv4));
                prop_assert!(before.host(text).unwrap().contains(&b'%'));
            }
            if level < Level::Scheme {
                prop_assert_eq!(after.port(&form), before.port(text), "{}", shown);
            } else if let Some(port) = after.port(&form) {
                prop_assert!(!port.is_empty() && (port == b"0" || port[0] != b'0'), "{}", shown);
            }
        }
    }

    #[test]
    fn a_dropped_fragment_is_a_cut_at_its_delimiter(text in uri()) {
        for level in Level::ALL {
            let whole = normalized(text.as_bytes(), level, false);
            let cut = whole.map(|form| form.split(|&byte| byte == b'#').next().unwrap().to_vec());
            prop_assert_eq!(normalized(text.as_bytes(), level, true), cut);
        }
    }

    #[test]
    fn errors_are_those_of_the_parser(text in "(http:)?//[a%4:@/?#ü \\[\\]]{0,8}") {
        let mut out = b"kept".to_vec();
        let result = normalize_exact(text.as_bytes(), Level::Syntax, false, &mut out);
        match parse(text.as_bytes()) {
            Err(error) => prop_assert_eq!(result, Err(error)),
            Ok(parts) => prop_assert_eq!(result.is_ok(), parts.is_uri()),
        }
        prop_assert_eq!(result.is_err(), out == b"kept");
    }

    #[test]
    fn any_bytes_are_normalized_or_rejected(bytes in prop::collection::vec(any::<u8>(), 0..40)) {
        let text = [b"http://", &bytes[..]].concat();
        for level in Level::ALL {
            if let Some(form) = normalized(&text, level, false) {
                prop_assert!(parse(&form).is_ok());
            }
        }
    }

    #[test]
    fn utf8_in_a_host_is_its_encoded_form(host in "[a-cA-Züßςé日本。Ａ１\u{ad}\u{200d}-]{1,6}", tail in "(:80)?(/%7ea)?") {
        let encoded: String = host
            .chars()
            .map(|c| {
                if c.is_ascii() {
                    return c.to_string();
                }
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().map(|byte| format!("%{byte:02x}")).collect()
            })
            .collect();
        let raw = normalized(format!("http://{host}{tail}").as_bytes(), Level::Scheme, false);
        let other = normalized(format!("http://{encoded}{tail}").as_bytes(), Level::Scheme, false).unwrap();
        match raw {
            Some(form) => prop_assert_eq!(form, other),
            // Not a DNS name: raw is an error, encoded stays encoded.
            None => prop_assert!(other.windows(2).any(|pair| pair[0] == b'%' && pair[1] >= b'8')),
        }
    }

    #[test]
    fn rooted_paths_follow_5_2_4_and_others_keep_dot_segments(path in "(/?(\\.{0,3}|%2[eE]%2e|a|b)){0,9}/?", authority in any::<bool>()) {
        let prefix = if authority { "x://h" } else { "x:" };
        if (authority && !path.is_empty() && !path.starts_with('/')) || (!authority && path.starts_with("//")) {
            return Ok(());
        }
        let decoded = path.replace("%2e", ".").replace("%2E", ".");
        let is_rooted = decoded.starts_with('/');
        let mut expected =
            if is_rooted { remove_dot_segments_to_the_letter(&decoded) } else { decoded };
        if !authority && expected.starts_with("//") {
            expected.insert_str(0, "/.");
        }
        let form = normalized(format!("{prefix}{path}").as_bytes(), Level::Syntax, false).unwrap();
        prop_assert_eq!(String::from_utf8(form).unwrap(), format!("{prefix}{expected}"));
    }

    /// Two rootless paths are equivalent at `syntax` exactly if they are equal with normalized
    /// triplets: nothing else is done to them.
    #[test]
    fn rootless_paths_are_equivalent_by_triplets_alone(
        scheme in "foo|data|blob|tel|http",
        paths in prop::collection::vec("(a|b|\\.|%2e|%2E|%61|%2f){1,2}(/(a|\\.{1,2}|%2e)){0,3}", 2),
    ) {
        let forms: Vec<Vec<u8>> = paths
            .iter()
            .map(|path| normalized(format!("{scheme}:{path}").as_bytes(), Level::Syntax, false).unwrap())
            .collect();
        let plain = |path: &str| {
            path.replace("%2e", ".").replace("%2E", ".").replace("%61", "a").replace("%2f", "%2F")
        };
        prop_assert_eq!(forms[0] == forms[1], plain(&paths[0]) == plain(&paths[1]));
        for (path, form) in paths.iter().zip(&forms) {
            prop_assert_eq!(String::from_utf8_lossy(form), format!("{scheme}:{}", plain(path)));
            // Dot segments make no two different paths equivalent, not even at the level above.
            let top = normalized(form, Level::Scheme, false).unwrap();
            prop_assert_eq!(String::from_utf8_lossy(&top), String::from_utf8_lossy(form));
        }
    }
}

#[test]
fn the_letter_of_5_2_4_gives_the_examples_of_5_2_4() {
    assert_eq!(remove_dot_segments_to_the_letter("/a/b/c/./../../g"), "/a/g");
    assert_eq!(remove_dot_segments_to_the_letter("mid/content=5/../6"), "mid/6");
}
