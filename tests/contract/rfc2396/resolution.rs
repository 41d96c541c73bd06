//! Tests section 5.2 of RFC 2396 by the examples of its appendix C, and against its steps on
//! strings.

use proptest::prelude::*;
use uriscan::rfc2396::Legacy;
use uriscan::rfc2396::{LegacyBase, LegacyTarget};
use uriscan::uri::UriErrorKind;
use uriscan_core::rfc2396::parse_rfc2396;

const BASE: &str = "http://a/b/c/d;p?q";

fn resolved(base: &str, reference: &str, lenient: bool) -> Option<(String, LegacyTarget)> {
    let base = LegacyBase::new(base.as_bytes(), Legacy::default()).unwrap();
    let mut out = b"kept".to_vec();
    let target = base.resolve_into(reference.as_bytes(), lenient, &mut out);
    let text = String::from_utf8(out).unwrap().strip_prefix("kept").unwrap().to_owned();
    assert!(target.is_ok() || text.is_empty());
    Some((text, target.ok()?))
}

/// C.1 and C.2; `(current document)` as written there.
#[rustfmt::skip]
const EXAMPLES: [(&str, &str); 42] = [
    ("g:h", "g:h"), ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"),
    ("//g", "http://g"), ("?y", "http://a/b/c/?y"), ("g?y", "http://a/b/c/g?y"), ("#s", "(current document)#s"),
    ("g#s", "http://a/b/c/g#s"), ("g?y#s", "http://a/b/c/g?y#s"), (";x", "http://a/b/c/;x"), ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"), (".", "http://a/b/c/"), ("./", "http://a/b/c/"), ("..", "http://a/b/"),
    ("../", "http://a/b/"), ("../g", "http://a/b/g"), ("../..", "http://a/"), ("../../", "http://a/"), ("../../g", "http://a/g"),
    ("", "(current document)"), ("../../../g", "http://a/../g"), ("../../../../g", "http://a/../../g"), ("/./g", "http://a/./g"),
    ("/../g", "http://a/../g"), ("g.", "http://a/b/c/g."), (".g", "http://a/b/c/.g"), ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"), ("./../g", "http://a/b/g"), ("./g/.", "http://a/b/c/g/"), ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"), ("g;x=1/./y", "http://a/b/c/g;x=1/y"), ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"), ("g?y/../x", "http://a/b/c/g?y/../x"), ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"), ("http:g", "http:g"),
];

#[test]
fn a_base_keeps_its_bytes() {
    let base = LegacyBase::new(BASE.as_bytes(), Legacy::default()).unwrap();
    assert_eq!(base.as_bytes(), BASE.as_bytes());
}

#[test]
fn the_examples_of_appendix_c() {
    for (reference, expected) in EXAMPLES {
        let (text, target) = resolved(BASE, reference, false).unwrap();
        let shown = match target {
            LegacyTarget::Uri => text,
            LegacyTarget::CurrentDocument => {
                "(current document)".to_owned() + text.strip_prefix(BASE).unwrap()
            }
        };
        assert_eq!(shown, expected, "{reference:?}");
    }
    assert_eq!(resolved(BASE, "http:g", true).unwrap().0, "http://a/b/c/g");
}

#[test]
fn a_base_determines_what_can_be_resolved() {
    // D.2 of RFC 3986: step 6a "failed to account for a base URI with no path".
    assert_eq!(resolved("http://a", "g", false).unwrap().0, "http://a/g");
    assert_eq!(resolved("http://a?q", "../g", false).unwrap().0, "http://a/../g");
    // Relative references need a hierarchical base; others do not.
    assert_eq!(resolved("mailto:a@b", "g", false), None);
    assert_eq!(resolved("mailto:a@b", "http://h", false).unwrap().0, "http://h");
    let (text, target) = resolved("mailto:a@b#f", "#s", false).unwrap();
    assert_eq!((&text[..], target), ("mailto:a@b#s", LegacyTarget::CurrentDocument));
    // A path never becomes an authority.
    assert_eq!(resolved("foo:/a", ".//b", false).unwrap().0, "foo:/.//b");
    for (base, kind) in [
        ("//a", UriErrorKind::Relative),
        ("a:", UriErrorKind::NoPath),
        ("a b", UriErrorKind::Space),
    ] {
        assert_eq!(LegacyBase::new(base.as_bytes(), Legacy::default()).unwrap_err().kind, kind);
    }
}

/// Steps c) to g) of 5.2, 6 on a buffer that begins with `/`, one removal at a time.
fn steps_c_to_g(buffer: &str) -> String {
    let mut segments: Vec<&str> = buffer[1..].split('/').collect();
    // c) and d): a "." at the end leaves the "/" before it.
    let last = segments.len() - 1;
    let mut kept: Vec<&str> = Vec::new();
    for (i, segment) in segments.iter().enumerate() {
        match (*segment, i == last) {
            (".", true) => kept.push(""),
            (".", false) => {}
            (other, _) => kept.push(other),
        }
    }
    segments = kept;
    // e) and f): the leftmost "<segment>/..", again and again.
    while let Some(at) =
        (1..segments.len()).find(|&i| segments[i] == ".." && segments[i - 1] != "..")
    {
        if at + 1 == segments.len() {
            segments[at] = "";
            segments.remove(at - 1);
        } else {
            segments.drain(at - 1..=at);
        }
    }
    "/".to_owned() + &segments.join("/")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn relative_paths_are_merged_step_by_step(
        base in "(/[a-c.]{0,3}){1,4}",
        reference in "(\\.\\./|\\./|a/|/|\\.\\.|\\.|b|c\\.){1,6}",
    ) {
        let is_relative = !reference.starts_with('/');
        prop_assume!(is_relative && parse_rfc2396(reference.as_bytes(), Legacy::default()).is_ok());
        let directory = &base[..=base.rfind('/').unwrap()];
        let expected = format!("http://h{}", steps_c_to_g(&format!("{directory}{reference}")));
        let found = resolved(&format!("http://h{base}?q"), &reference, false).unwrap();
        prop_assert_eq!(found, (expected, LegacyTarget::Uri));
    }
}
