//! Tests section 5 by its examples, and against a literal transcription of 5.2.2 to 5.2.4 and 5.3.

use uriscan::Kernels;
use uriscan::resolve::{BaseUri, Options, Resolver};
use uriscan::uri::{UriErrorKind, parse, split};

mod transcribed;

use transcribed::{remove_dot_segments, transcribed};

const BASE: &str = "http://a/b/c/d;p?q";

fn resolver(base: &str) -> Resolver {
    Resolver::new(BaseUri::new(base.as_bytes()).unwrap(), Options::default())
}

fn resolved(base: &str, reference: &str) -> String {
    let target = resolver(base).resolve(reference.as_bytes()).unwrap().to_vec();
    String::from_utf8(target).unwrap()
}

/// 5.4.1
const NORMAL: [(&str, &str); 23] = [
    ("g:h", "g:h"),
    ("g", "http://a/b/c/g"),
    ("./g", "http://a/b/c/g"),
    ("g/", "http://a/b/c/g/"),
    ("/g", "http://a/g"),
    ("//g", "http://g"),
    ("?y", "http://a/b/c/d;p?y"),
    ("g?y", "http://a/b/c/g?y"),
    ("#s", "http://a/b/c/d;p?q#s"),
    ("g#s", "http://a/b/c/g#s"),
    ("g?y#s", "http://a/b/c/g?y#s"),
    (";x", "http://a/b/c/;x"),
    ("g;x", "http://a/b/c/g;x"),
    ("g;x?y#s", "http://a/b/c/g;x?y#s"),
    ("", "http://a/b/c/d;p?q"),
    (".", "http://a/b/c/"),
    ("./", "http://a/b/c/"),
    ("..", "http://a/b/"),
    ("../", "http://a/b/"),
    ("../g", "http://a/b/g"),
    ("../..", "http://a/"),
    ("../../", "http://a/"),
    ("../../g", "http://a/g"),
];

/// 5.4.2, the last example as strict parsers resolve it.
const ABNORMAL: [(&str, &str); 19] = [
    ("../../../g", "http://a/g"),
    ("../../../../g", "http://a/g"),
    ("/./g", "http://a/g"),
    ("/../g", "http://a/g"),
    ("g.", "http://a/b/c/g."),
    (".g", "http://a/b/c/.g"),
    ("g..", "http://a/b/c/g.."),
    ("..g", "http://a/b/c/..g"),
    ("./../g", "http://a/b/g"),
    ("./g/.", "http://a/b/c/g/"),
    ("g/./h", "http://a/b/c/g/h"),
    ("g/../h", "http://a/b/c/h"),
    ("g;x=1/./y", "http://a/b/c/g;x=1/y"),
    ("g;x=1/../y", "http://a/b/c/y"),
    ("g?y/./x", "http://a/b/c/g?y/./x"),
    ("g?y/../x", "http://a/b/c/g?y/../x"),
    ("g#s/./x", "http://a/b/c/g#s/./x"),
    ("g#s/../x", "http://a/b/c/g#s/../x"),
    ("http:g", "http:g"),
];

#[test]
fn the_42_examples_of_section_5_4() {
    assert_eq!(NORMAL.len() + ABNORMAL.len(), 42);
    for kernels in Kernels::available() {
        let base = BaseUri::new(BASE.as_bytes()).unwrap();
        let mut resolver = Resolver::with_kernels(base, Options::default(), kernels);
        for (reference, target) in NORMAL.into_iter().chain(ABNORMAL) {
            let found = resolver.resolve(reference.as_bytes()).unwrap();
            assert_eq!(String::from_utf8_lossy(found), target, "{reference:?}");
            assert_eq!(transcribed(BASE, reference, true).unwrap(), target, "{reference:?}");
        }
    }
}

#[test]
fn a_lenient_parser_ignores_the_scheme_of_the_base() {
    let base = BaseUri::new(BASE.as_bytes()).unwrap();
    let mut resolver = Resolver::new(base, Options::default().lenient_scheme(true));
    for (reference, target) in [
        ("http:g", "http://a/b/c/g"),
        ("HTTP:../g", "http://a/b/g"),
        ("http:", "http://a/b/c/d;p?q"),
        ("http:?y", "http://a/b/c/d;p?y"),
        ("http://h/./x", "http://h/x"),
        ("https:g", "https:g"),
    ] {
        let found = resolver.resolve(reference.as_bytes()).unwrap();
        assert_eq!(String::from_utf8_lossy(found), target, "{reference:?}");
    }
}

#[test]
fn the_example_of_appendix_b() {
    let text = b"http://www.ics.uci.edu/pub/ietf/uri/#Related";
    let parts = parse(text).unwrap();
    assert_eq!(parts.scheme(text), Some(&b"http"[..]));
    assert_eq!(parts.authority(text), Some(&b"www.ics.uci.edu"[..]));
    assert_eq!(parts.path(text), b"/pub/ietf/uri/");
    assert_eq!((parts.query(text), parts.fragment(text)), (None, Some(&b"Related"[..])));
    assert_eq!(resolved("http://h/", std::str::from_utf8(text).unwrap()).as_bytes(), text);
}

#[test]
fn a_path_never_becomes_an_authority() {
    for (base, reference, target) in [
        ("foo:/a", ".//b", "foo:/.//b"),
        ("foo:/a", "/.//b", "foo:/.//b"),
        ("foo:/a", "..//b", "foo:/.//b"),
        ("foo:/a/b", "../..//c", "foo:/.//c"),
        ("foo:a", "foo:/.//b", "foo:/.//b"),
        ("foo:/.//a/b", "c", "foo:/.//a/c"),
        ("foo:/.//a/b", "../c", "foo:/.//c"),
        ("foo:/.//a", "", "foo:/.//a"),
        ("foo://h/a", ".//b", "foo://h//b"),
        ("foo://h", ".//b", "foo://h//b"),
    ] {
        assert_eq!(resolved(base, reference), target, "{base} {reference}");
        let mut resolver = resolver(base);
        let bytes = target.as_bytes();
        let parts = parse(bytes).unwrap();
        let base_parts = parse(base.as_bytes()).unwrap();
        assert_eq!(parts.authority(bytes), base_parts.authority(base.as_bytes()));
        assert_eq!(resolver.resolve(bytes), Ok(bytes), "a target is its own target");
    }
}

#[test]
fn a_base_is_absolute_and_its_fragment_is_stripped() {
    assert_eq!(resolved("http://a/b#f", ""), "http://a/b");
    assert_eq!(resolved("http://a/b#f/x", "c"), "http://a/c");
    assert_eq!(resolved("http://a/b?q#f", "#g"), "http://a/b?q#g");
    assert_eq!(resolved("foo:?q#", ""), "foo:?q");
    for (base, kind, at) in [
        ("", UriErrorKind::Relative, 0),
        ("//a/b", UriErrorKind::Relative, 0),
        ("a/b", UriErrorKind::Relative, 0),
        ("http://a b", UriErrorKind::Space, 8),
        ("1:b", UriErrorKind::Scheme, 0),
    ] {
        let error = BaseUri::new(base.as_bytes()).unwrap_err();
        assert_eq!((error.kind, error.at), (kind, at), "{base}");
    }
}

#[test]
fn same_document_references_are_recognized_by_their_bytes() {
    let mut resolver = resolver("http://a/b?q#f");
    for (reference, is_same) in [
        ("", true),
        ("#", true),
        ("#x", true),
        ("b?q", true),
        ("?q#x", true),
        ("//a/b?q", true),
        ("HTTP://a/b?q", false),
        ("b", false),
        ("b?q2", false),
        ("?", false),
    ] {
        let target = resolver.resolve(reference.as_bytes()).unwrap().to_vec();
        assert_eq!(resolver.is_same_document(&target), is_same, "{reference:?}");
    }
}

/// A step of 5.2.4, as in its traces.
type Step = (&'static str, &'static str, &'static str);

#[test]
fn both_traces_of_5_2_4_step_by_step() {
    let traces: [(&str, &[Step], &str, &str); 2] = [
        (
            "/a/b/c/./../../g",
            &[
                ("E", "/a", "/b/c/./../../g"),
                ("E", "/a/b", "/c/./../../g"),
                ("E", "/a/b/c", "/./../../g"),
                ("B", "/a/b/c", "/../../g"),
                ("C", "/a/b", "/../g"),
                ("C", "/a", "/g"),
                ("E", "/a/g", ""),
            ],
            "foo://h/a/b/c/d",
            "./../../g",
        ),
        (
            "mid/content=5/../6",
            &[
                ("E", "mid", "/content=5/../6"),
                ("E", "mid/content=5", "/../6"),
                ("C", "mid", "/6"),
                ("E", "mid/6", ""),
            ],
            "foo:mid/content=5/x",
            "../6",
        ),
    ];
    for (path, expected, base, reference) in traces {
        let mut steps = Vec::new();
        let removed = remove_dot_segments(path, |step, output, input| {
            steps.push((step.to_string(), output.to_owned(), input.to_owned()));
        });
        let steps: Vec<_> = steps.iter().map(|(a, b, c)| (&a[..], &b[..], &c[..])).collect();
        assert_eq!(steps, expected);
        assert_eq!(removed, expected[expected.len() - 1].1);
        // The library on the same merged path.
        assert!(resolved(base, reference).ends_with(&removed));
        assert_eq!(resolved("foo:", &format!("foo:{path}")), format!("foo:{removed}"));
    }
}

/// A sequence of numbers that is the same in every run (splitmix64).
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((z ^ (z >> 31)) % bound as u64) as usize
    }

    fn pick<'t>(&mut self, choices: &[&'t str]) -> &'t str {
        choices[self.below(choices.len())]
    }

    fn path(&mut self, is_absolute: bool) -> String {
        let segments = [
            "a",
            "bc",
            ".",
            "..",
            "",
            "d;p=1",
            "%2e%2e",
            "...",
            ".g",
            "x:y",
            "rather-long-segment-of-many-bytes",
        ];
        let count = self.below(6);
        let path: Vec<&str> = (0..count).map(|_| self.pick(&segments)).collect();
        (if is_absolute { "/" } else { "" }).to_owned() + &path.join("/")
    }

    fn tail(&mut self) -> &'static str {
        self.pick(&["", "", "?", "?q=/../x", "#", "#f/./x", "?q#f", "?a?b#c?d"])
    }

    fn authority(&mut self) -> &'static str {
        self.pick(&["//h", "//", "//u@h:80", "//[::1]", "//h.example:8080", "//192.0.2.1"])
    }

    fn scheme(&mut self) -> &'static str {
        self.pick(&["http:", "https:", "foo:", "urn:", "HTTP:", "a+b.c:"])
    }

    /// A text that begins like a reference of each kind; not always valid.
    fn reference(&mut self) -> String {
        let scheme = if self.below(5) == 0 { self.scheme() } else { "" };
        let has_authority = self.below(4) == 0;
        let authority = if has_authority { self.authority() } else { "" };
        let is_absolute = has_authority || self.below(3) == 0;
        let path = if self.below(6) == 0 { String::new() } else { self.path(is_absolute) };
        format!("{scheme}{authority}{path}{}", self.tail())
    }
}

#[test]
fn a_hundred_thousand_pairs_agree_with_the_transcription() {
    let mut draw = Draw(1);
    let (mut pairs, mut relative) = (0, 0);
    while pairs < 100_000 {
        let base = format!("{}{}", draw.scheme(), {
            let reference = draw.reference();
            reference.split(':').next_back().unwrap_or("").to_owned()
        });
        let Ok(parsed) = BaseUri::new(base.as_bytes()) else { continue };
        let base = std::str::from_utf8(parsed.as_bytes()).unwrap().to_owned();
        let is_strict = draw.below(4) != 0;
        let mut resolver = Resolver::new(parsed, Options::default().lenient_scheme(!is_strict));
        for _ in 0..20 {
            let reference = draw.reference();
            let found = resolver.resolve(reference.as_bytes()).ok().map(<[u8]>::to_vec);
            let found = found.map(|bytes| String::from_utf8(bytes).unwrap());
            assert_eq!(found, transcribed(&base, &reference, is_strict), "{base:?} {reference:?}");
            if let Some(target) = found {
                pairs += 1;
                relative += usize::from(split(reference.as_bytes()).scheme.is_none());
                let parts = parse(target.as_bytes()).unwrap();
                assert!(parts.is_uri(), "{target}");
            }
        }
    }
    assert!(relative > pairs / 2, "{relative} of {pairs}");
}

#[test]
fn hostile_references_take_linear_time() {
    let up = "../".repeat(1 << 19);
    assert_eq!(resolved("http://a/b/c", &up), "http://a/");
    let deep = format!("http://a/{}x", "b/".repeat(1 << 19));
    assert_eq!(resolved(&deep, &(up + "g")), "http://a/g");
    assert_eq!(resolved("foo:/a", &"/..".repeat(1 << 19)), "foo:/");
    let mut one = resolver("http://a/b");
    assert!(one.resolve(&b"%".repeat(1_000_000)).is_err());
    assert!(one.resolve(b"a\0b").is_err() && one.resolve(b"\xFF").is_err());
}
