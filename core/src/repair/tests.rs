//! Tests each repair by example, and properties for any text.

use proptest::prelude::*;

use super::*;

/// The repairs made: where, and how often.
type Made = Vec<(Repair, u32, u32)>;

fn repaired(text: &str, repairs: Repairs) -> Option<(String, Made)> {
    let mut out = Vec::new();
    let changes = repair(text.as_bytes(), repairs, &mut out).ok()?;
    let changes = changes.iter().map(|change| (change.repair, change.at, change.count)).collect();
    Some((String::from_utf8(out).unwrap(), changes))
}

/// A record, its repaired form, and the repairs: where, and how often.
type Row = (&'static str, &'static str, &'static [(Repair, u32, u32)]);

const ROWS: &[Row] = &[
    ("http://h/a b  c", "http://h/a%20b%20%20c", &[(Repair::Space, 10, 3)]),
    (
        "http://h/a|b?{\"c\"}#<^`>",
        "http://h/a%7Cb?%7B%22c%22%7D#%3C%5E%60%3E",
        &[(Repair::Byte, 10, 9)],
    ),
    ("http:\\\\h\\a?b\\c", "http://h/a?b%5Cc", &[(Repair::Backslash, 5, 4)]),
    ("foo:a\\b", "foo:a%5Cb", &[(Repair::Backslash, 5, 1)]),
    ("http://h/a[1]?b[]=c", "http://h/a%5B1%5D?b%5B%5D=c", &[(Repair::Bracket, 10, 4)]),
    ("http://[::1]/[", "http://[::1]/%5B", &[(Repair::Bracket, 13, 1)]),
    ("http://h/100%?a=%&b=%4", "http://h/100%25?a=%25&b=%254", &[(Repair::Percent, 12, 3)]),
    ("http://h/%41%zz", "http://h/%41%25zz", &[(Repair::Percent, 12, 1)]),
    ("\"http://h/\"", "http://h/", &[(Repair::Quotes, 0, 2)]),
    ("'http://h/'", "http://h/", &[(Repair::Quotes, 0, 2)]),
    ("< URL:http://h/ >", "http://h/", &[(Repair::Quotes, 0, 2)]),
    ("<URL: http://h/a b >", "http://h/a%20b", &[(Repair::Quotes, 0, 2), (Repair::Space, 16, 1)]),
    (
        "http://h/a\tb\r\nc d",
        "http://h/abc%20d",
        &[(Repair::LineBreak, 10, 3), (Repair::Space, 15, 1)],
    ),
    ("ht\ntp://h/", "http://h/", &[(Repair::LineBreak, 2, 1)]),
    ("a b/c", "a%20b/c", &[(Repair::Space, 1, 1)]),
    ("http://u s:p|@h/", "http://u%20s:p%7C@h/", &[(Repair::Space, 8, 1), (Repair::Byte, 12, 1)]),
    ("http://h/a\u{A0}", "http://h/a", &[(Repair::Padding, 10, 2)]),
    ("\u{FEFF}\u{200B}http://h/a", "http://h/a", &[(Repair::Padding, 0, 6)]),
    ("\u{3000} http://h/a \u{2060}\u{202C}", "http://h/a", &[(Repair::Padding, 0, 11)]),
    (
        "\u{A0}\"\u{200B}http://h/a b\u{A0}\"",
        "http://h/a%20b",
        &[(Repair::Padding, 0, 7), (Repair::Quotes, 2, 2), (Repair::Space, 16, 1)],
    ),
    ("\u{200E}a b", "a%20b", &[(Repair::Padding, 0, 3), (Repair::Space, 4, 1)]),
    // Records that stay invalid.
    ("http://h/a\u{A0}b", "", &[]),
    ("http://h/a\u{FE0F}", "", &[]),
    ("\u{A0}\u{200B}", "", &[]),
    ("http://h h/", "", &[]),
    ("http://h/\u{1}", "", &[]),
    ("http://h:x/ ", "", &[]),
    ("http://h/#a#b", "", &[]),
    ("http://[::1/", "", &[]),
    ("1:b", "", &[]),
    ("http://h/é", "", &[]),
];

#[test]
fn each_repair_has_its_effect() {
    for &(text, expected, changes) in ROWS {
        let found = repaired(text, Repairs::usual());
        if expected.is_empty() {
            assert_eq!(found, None, "{text:?}");
        } else {
            assert_eq!(found, Some((expected.to_owned(), changes.to_vec())), "{text:?}");
            // All of them are needed.
            for &(needed, ..) in changes {
                let all = Repair::ALL[2..].iter().filter(|&&repair| repair != needed);
                let others = all.fold(Repairs::default(), |set, &repair| set.with(repair));
                let without = repaired(text, others);
                assert!(without.is_none_or(|(text, _)| text != expected), "{text:?} {needed}");
            }
        }
    }
    for repair in Repair::ALL {
        assert_eq!(Repair::from_name(repair.name()), Some(repair));
        let is_shown = ROWS.iter().any(|row| row.2.iter().any(|change| change.0 == repair));
        assert!(is_shown || repair <= Repair::Entity, "{repair}");
    }
}

#[test]
fn character_references_are_decoded_once_in_valid_records_too() {
    let entity = Repairs::default().with(Repair::Entity);
    let all = entity.or(Repairs::usual());
    for (text, expected, at, count) in [
        ("http://h/?a=1&amp;b=2", "http://h/?a=1&b=2", 13, 5),
        ("http://h/?a=1&#38;b=2&#x26;c", "http://h/?a=1&b=2&c", 13, 11),
        ("http://h/?a&amp;amp;b", "http://h/?a&amp;b", 11, 5),
        ("http://h/?a=&quot;b&lt;&nbsp;", "http://h/?a=%22b%3C%C2%A0", 12, 16),
        ("http://h/&#233;&#x1F600;", "http://h/%C3%A9%F0%9F%98%80", 9, 15),
        ("http://h&sol;100&percnt;/&#37;41", "http://h/100%25/%41", 8, 18),
        ("http&colon;//h/", "http://h/", 4, 7),
        ("http://b&uuml;cher.example/", "http://b%C3%BCcher.example/", 8, 6),
        ("http://h/&bsol;&lsqb;&#10;", "http://h/%5C%5B%0A", 9, 17),
        ("http://h/?a&num;b", "http://h/?a#b", 11, 5),
    ] {
        let found = repaired(text, entity);
        assert_eq!(found, Some((expected.to_owned(), vec![(Repair::Entity, at, count)])), "{text}");
    }
    for (text, expected) in [
        ("&quot;http://h/a b&quot;", "http://h/a%20b"),
        ("http://h/a&nbsp;", "http://h/a"),
        ("&lt;http://h/&#10;a&gt;", "http://h/a"),
        ("http://h/a&#91;0&#93;", "http://h/a%5B0%5D"),
        ("http:&bsol;&#92;h/", "http://h/"),
    ] {
        assert_eq!(repaired(text, all).unwrap().0, expected, "{text}");
    }
    let (text, changes) = repaired("http://h/a&amp;b c&lt;d|e", all).unwrap();
    let places = vec![(Repair::Entity, 10, 9), (Repair::Space, 16, 1), (Repair::Byte, 23, 1)];
    assert_eq!((&*text, changes), ("http://h/a&b%20c%3Cd%7Ce", places));
    // What has no reference, or is not a URI when decoded, stays; and so does all of it without this repair.
    for text in ["http://h/?a&b;c&amp", "http://h/?a#b&num;c", "http://h/?a=1&#0;"] {
        assert_eq!(repaired(text, all), Some((text.to_owned(), Vec::new())), "{text}");
    }
    let valid = "http://h/?a=1&amp;b=2&#38;c";
    assert_eq!(repaired(valid, Repairs::usual()), Some((valid.to_owned(), Vec::new())));
    assert_eq!(&*decode(b"http://h/a b&amp;&quot;&nbsp;"), b"http://h/a b&%22%C2%A0");
}

#[cfg(feature = "idna")]
#[test]
fn iris_become_uris() {
    let iri = Repairs::default().with(Repair::Iri);
    let mapped = |text: &str| repaired(text, iri).map(|found| found.0);
    for (text, expected) in [
        // The examples of RFC 3987 sections 3.1 and 3.2.
        (
            "http://www.example.org/red%09ros\u{e9}#red",
            "http://www.example.org/red%09ros%C3%A9#red",
        ),
        (
            "http://example.com/\u{10300}\u{10301}\u{10302}",
            "http://example.com/%F0%90%8C%80%F0%90%8C%81%F0%90%8C%82",
        ),
        ("http://r\u{e9}sum\u{e9}.example.org", "http://xn--rsum-bpad.example.org"),
        (
            "http://B\u{dc}CHER.example:8/?\u{e9}#\u{e9}",
            "http://xn--bcher-kva.example:8/?%C3%A9#%C3%A9",
        ),
        // Not a DNS name.
        ("foo://b\u{fc}cher/", "foo://b%C3%BCcher/"),
        ("mailto:j\u{f6}@h", "mailto:j%C3%B6@h"),
        ("//u\u{e9}@h/", "//u%C3%A9@h/"),
        // Not normalized: e and a combining accent stay separate.
        ("http://h/e\u{301}", "http://h/e%CC%81"),
        // Private use in a query only.
        ("http://h/?\u{e000}", "http://h/?%EE%80%80"),
    ] {
        assert_eq!(mapped(text).as_deref(), Some(expected), "{text}");
    }
    for text in [
        "http://h/\u{e000}",
        "http://h/\u{202e}a",
        "http://h/\u{80}",
        "http://h/\u{fdd0}",
        "http://h/\u{1fffe}",
        "http://h/é b",
        "http://h%\u{e9}/",
        "http://h%4\u{e9}/",
        "http://h:\u{e9}/",
        "h\u{e9}:b",
    ] {
        assert_eq!(mapped(text), None, "{text}");
    }
    let mut out = Vec::new();
    assert!(repair(b"http://h/\xFF", iri, &mut out).is_err() && out.is_empty());
    let all = iri.or(Repairs::usual());
    assert_eq!(repaired("http://h/é b", all).unwrap().0, "http://h/%C3%A9%20b");
}

#[test]
fn the_fault_that_repairs_leave_is_reported_where_it_is() {
    let iri = Repairs::default().with(Repair::Iri);
    let usual = Repairs::usual();
    let entity = Repairs::default().with(Repair::Entity);
    for (text, repairs, kind, at) in [
        ("http://h/ü b", iri, UriErrorKind::Space, 11),
        ("http://h/ü?é#ö b", iri, UriErrorKind::Space, 17),
        ("http://bücher.de/ b", iri, UriErrorKind::Space, 18),
        ("http://bücher.de:8x/", iri, UriErrorKind::Port, 19),
        ("http://bü cher.de/", iri, UriErrorKind::Space, 10),
        ("http://üü%/x", iri, UriErrorKind::Percent, 11),
        ("http://ü@x@h/", iri, UriErrorKind::Delimiter, 11),
        ("http://h/ü\u{202e}", iri, UriErrorKind::NonAscii, 11),
        ("ü:b", iri, UriErrorKind::NonAscii, 0),
        ("http://h/ü b", usual, UriErrorKind::NonAscii, 9),
        ("http://h/a b|c/ü", usual, UriErrorKind::NonAscii, 15),
        ("\"http://h/a b\\ü\"", usual, UriErrorKind::NonAscii, 14),
        ("http://h/a\tb ü", usual, UriErrorKind::NonAscii, 13),
        ("http:\\\\h\\a b#c#d", usual, UriErrorKind::Delimiter, 14),
        ("a b:c", usual, UriErrorKind::Space, 1),
        ("http://h h/a b", usual, UriErrorKind::Space, 8),
        ("http://h/ü\u{1}", usual.or(iri), UriErrorKind::Control, 11),
        ("http://h/?a&amp;b c", entity, UriErrorKind::Space, 17),
        ("http://h/ ?a&amp;b c", usual.without(Repair::Space), UriErrorKind::Space, 9),
    ] {
        let mut out = b"kept".to_vec();
        let error = repair(text.as_bytes(), repairs, &mut out).unwrap_err();
        assert_eq!((error.kind, error.at, out.len()), (kind, at, 0), "{text}");
    }
    let error = repair(b"http://h/\xC3\xBC\xFF ", iri, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.at), (UriErrorKind::NonAscii, 11));
}

#[cfg(feature = "idna")]
#[test]
fn a_context_gives_a_host_its_scheme() {
    use crate::resolve::{BaseUri, Options, Suffix};
    let base = |uri: &[u8]| Context::Base {
        base: BaseUri::new(uri).unwrap(),
        options: Options::default(),
    };
    let suffix = |scheme| Context::Suffix(Suffix::new(scheme).unwrap());
    let iri = Repairs::default().with(Repair::Iri);
    let in_context = |context: &Context, text: &str| {
        let mut out = Vec::new();
        repair_in(Some(context), text.as_bytes(), iri, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    for (context, text, expected) in [
        (base(b"http://h/"), "//bücher.de/ü", "//xn--bcher-kva.de/%C3%BC"),
        (base(b"HTTPS://h/"), "//u@bücher.de:8/", "//u@xn--bcher-kva.de:8/"),
        (base(b"foo://h/"), "//bücher.de/", "//b%C3%BCcher.de/"),
        (base(b"foo://h/"), "http://bücher.de/", "http://xn--bcher-kva.de/"),
        (base(b"http://h/"), "foo://bücher.de/", "foo://b%C3%BCcher.de/"),
        (base(b"http://h/"), "bücher.de/x", "b%C3%BCcher.de/x"),
        (suffix("https"), "bücher.de/ü", "xn--bcher-kva.de/%C3%BC"),
        (suffix("https"), "b%C3%BCcher.de/ü", "b%C3%BCcher.de/%C3%BC"),
        (suffix("foo"), "bücher.de/x", "b%C3%BCcher.de/x"),
    ] {
        assert_eq!(in_context(&context, text), expected, "{text}");
    }
}

proptest! {
    #[test]
    fn results_are_valid_and_valid_input_is_unchanged(
        text in "[\"'<]?(http|foo|)(:|)(//|\\\\\\\\|)[a-zé@:\\[\\]%. ]{0,10}([/\\\\?#][a-z%|\\[\\]{}\t é\u{202e}0-9]{0,8}){0,4}[\"'>\u{a0}\u{200b}]?(&amp;|&quot;|&#xe9;|&nbsp;)?",
    ) {
        let all = Repairs::usual().with(Repair::Iri);
        let decoding = all.with(Repair::Entity);
        let mut out = Vec::new();
        if let Ok(changes) = repair(text.as_bytes(), decoding, &mut out) {
            prop_assert!(parse(&out).is_ok());
            prop_assert!(changes.iter().all(|change| (change.at as usize) < text.len()));
        }
        match (parse(text.as_bytes()), repair(text.as_bytes(), all, &mut out)) {
            (Ok(_), changes) => {
                prop_assert_eq!(&out, text.as_bytes());
                prop_assert_eq!(changes.unwrap(), []);
            }
            (Err(error), Err(found)) => {
                prop_assert!(out.is_empty() && found.at as usize <= text.len());
                // Nothing may be repaired, so the first fault is left.
                let of_none = repair(text.as_bytes(), Repairs::default(), &mut out);
                prop_assert_eq!(of_none.unwrap_err(), error);
            }
            (Err(_), Ok(changes)) => {
                prop_assert!(parse(&out).is_ok() && !changes.is_empty());
                for change in changes {
                    prop_assert!((change.at as usize) < text.len() && change.count > 0);
                }
            }
        }
    }
}
