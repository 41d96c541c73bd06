//! Tests the fast path against the reference path.

use proptest::prelude::*;

use super::*;
use crate::chunk::Padded;
use crate::uri::dots::has_dot_segment;
use crate::uri::{parse, relative::relative};

/// The results of the fast path alone for every line of `text`: `None` where it leaves the record
/// to the reference path.
fn by_fast_path(base: &BaseUri, text: &[u8], kernels: Kernels) -> Vec<Option<Vec<u8>>> {
    struct Lines<'a>(&'a BaseUri, Padded<'a>);
    impl Task for Lines<'_> {
        type Output = Vec<Option<Vec<u8>>>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Self::Output {
            let mut index = Index::new();
            index.build_with(isa, self.1, b'\n');
            let mut found = Vec::new();
            for span in index.spans() {
                let record = Record::new(self.1, &index, span);
                let mut out = b"kept".to_vec();
                let answer = fast::append_target(isa, &self.0.view(), record, &mut out);
                let target = out.strip_prefix(b"kept").unwrap().to_vec();
                assert!(answer.is_some() || target.is_empty());
                if let Some(relative) = relative(isa, record) {
                    let parts = parse(record.bytes()).expect("the fast path takes valid records");
                    assert_eq!(relative.components, parts);
                    assert_eq!(relative.dots, has_dot_segment(parts.path(record.bytes())));
                }
                found.push(answer.map(|()| target));
            }
            found
        }
    }
    let buf = PaddedBuf::from_content(text);
    kernels.run(Lines(base, buf.padded()))
}

fn exact(base: &BaseUri, reference: &[u8]) -> Result<Vec<u8>, UriError> {
    let mut out = Vec::new();
    exact::resolve_exact(&base.view(), reference, false, &mut out).map(|()| {
        let mut by_delimiters = Vec::new();
        exact::resolve_any(base.as_bytes(), reference, &mut by_delimiters);
        assert_eq!(by_delimiters, out, "validation changes nothing");
        out
    })
}

const BASES: &[&str] = &[
    "http://a/b/c/d;p?q",
    "http://a",
    "http://a?q",
    "http://u@[::1]:8/x/",
    "https://very.long.host.example/with/a/rather/long/path/that/fills/more/than/one/block/of/bytes/index.html?and=query",
    "http://a/b/../c/./d",
    "foo:/a",
    "foo:",
    "foo:?q",
    "foo:a/b",
    "foo:a",
    "foo:/.//b/c",
    "mailto:joe@example.com",
];

/// Checks every line of `text` against every base on every backend; returns the share of valid
/// relative references that the fast path handled.
fn check(text: &[u8]) -> f64 {
    let (mut taken, mut all) = (0, 0);
    for base in BASES {
        let base = BaseUri::new(base.as_bytes()).unwrap();
        let lines: Vec<&[u8]> = text.split(|&byte| byte == b'\n').collect();
        for kernels in Kernels::available() {
            let found = by_fast_path(&base, text, kernels);
            for (line, found) in lines.iter().zip(found) {
                let expected = exact(&base, line);
                let mut resolver =
                    Resolver::with_kernels(base.clone(), Options::default(), kernels);
                assert_eq!(resolver.resolve(line).map(<[u8]>::to_vec), expected);
                all += u32::from(parse(line).is_ok_and(|parts| !parts.is_uri()));
                let Some(found) = found else { continue };
                taken += 1;
                assert_eq!(
                    expected.as_deref().map(String::from_utf8_lossy),
                    Ok(String::from_utf8_lossy(&found)),
                    "{:?} against {:?} {:?}",
                    String::from_utf8_lossy(line),
                    String::from_utf8_lossy(base.as_bytes()),
                    kernels.backend()
                );
            }
        }
    }
    f64::from(taken) / f64::from(all.max(1))
}

#[test]
fn the_fast_path_handles_common_input_as_the_reference_path_does() {
    let lines = b"g\n./g\ng/\n/g\n//g\n?y\ng?y\n#s\ng#s\ng?y#s\n;x\n.\n..\n../\n../g\n../../../g\n/./g\n/../g\n\
        g.\n..g\n./../g\ng/../h\ng?y/../x\ng#s/../x\n//h:80/a/../b\n//1.2.3.4?q\n/%7Ea?b=%2f#%41\n/a.b/c\nimages/logo.png\n\n/";
    assert!(check(lines) > 0.75, "{}", check(lines));
}

#[test]
fn the_fast_path_leaves_rare_input_to_the_reference_path() {
    let base = BaseUri::new(b"http://a/b").unwrap();
    for line in [
        &b"a:b"[..],
        b"//u@h/",
        b"//[::1]/",
        b"//h%41/",
        b"/a b",
        b"/%4",
        b"#a#b",
        b":",
        b"//h:8x",
        b"1:b",
    ] {
        assert_eq!(by_fast_path(&base, line, Kernels::detect()), [None], "{}", line.escape_ascii());
    }
}

#[test]
fn paths_agree_at_every_alignment_and_length() {
    let mut text = Vec::new();
    for pad in 0..150 {
        for core in [
            "", "/", "../", "?", "#", "//h", "/a/", "a/../", "%41", "..", "./.", "/%4", "a:",
            "//h:8",
        ] {
            text.extend(core.as_bytes());
            text.extend(vec![b'x'; pad]);
            text.push(b'\n');
            text.extend(core.as_bytes());
            text.extend(vec![b'/'; pad % 3]);
            text.extend(vec![b'y'; pad]);
            text.extend(b"/../%c3%a9/.\n");
            text.extend(vec![b'.'; pad]);
            text.extend(core.as_bytes());
            text.push(b'\n');
        }
    }
    assert!(check(&text) > 0.4);
}

#[test]
fn bytes_after_the_record_are_not_read() {
    let base = BaseUri::new(b"http://a/b").unwrap();
    for (text, after) in
        [("%4", "1"), ("a", ":b"), ("/", "/h"), ("/a/.", "."), ("/a/..", "x"), ("a", "#b#c")]
    {
        let mut buf = PaddedBuf::from_content(format!("{text}{after}").as_bytes());
        buf.set_len(text.len());
        let mut resolver = Resolver::new(base.clone(), Options::default());
        resolver.resolve(format!("{text}{after}").as_bytes()).ok();
        let found = resolver.resolve(text.as_bytes()).map(<[u8]>::to_vec);
        assert_eq!(found, exact(&base, text.as_bytes()), "{text}");
    }
}

fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "http:",
        "//",
        "/",
        "/",
        "/.",
        "/..",
        "./",
        "../",
        ".",
        "..",
        "?",
        "#",
        ":",
        ":80",
        "@",
        "h",
        ".com",
        "%7e",
        "%",
        "%2e",
        "[::1]",
        "a",
        "Z;=",
        " ",
        "\u{e9}",
        "1.2.3.4",
        "abcdefghijklmnopqrstuvwxyz/longer/than/most",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn paths_agree_on_any_text(records in prop::collection::vec(prop::collection::vec(piece(), 0..10), 1..8)) {
        let lines: Vec<String> = records.into_iter().map(|pieces| pieces.concat()).collect();
        check(lines.join("\n").as_bytes());
    }
}
