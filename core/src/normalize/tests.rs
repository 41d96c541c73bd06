//! Tests the fast path against the reference path.

use proptest::prelude::*;

use super::*;
use crate::chunk::PaddedBuf;
use crate::uri::UriErrorKind;

fn exact(text: &[u8], options: Options) -> Result<Vec<u8>, UriError> {
    let mut out = Vec::new();
    normalize_exact(text, options.level, options.drop_fragment, &mut out).map(|()| out)
}

fn all_options() -> impl Iterator<Item = Options> {
    Level::ALL
        .into_iter()
        .flat_map(|level| [false, true].map(|drop_fragment| Options { level, drop_fragment }))
}

/// The results of the fast path alone for every line of `text`: `None` where it leaves the record
/// to the reference path.
fn by_fast_path(text: &[u8], options: Options, kernels: Kernels) -> Vec<Option<Vec<u8>>> {
    struct Lines<'a>(Padded<'a>, Options);
    impl Task for Lines<'_> {
        type Output = Vec<Option<Vec<u8>>>;
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Self::Output {
            let mut index = Index::new();
            index.build_with(isa, self.0, b'\n');
            let mut scratch = Vec::new();
            let mut found = Vec::new();
            for span in index.spans().filter(|span| !span.is_empty()) {
                let record = Record::new(self.0, &index, span);
                let form = fast::canonical(isa, self.1, record, &mut scratch);
                found.push(form.map(|form| match form {
                    Canonical::InPlace(len) => record.bytes()[..len].to_vec(),
                    Canonical::InScratch(len) => scratch[..len].to_vec(),
                }));
            }
            found
        }
    }
    use crate::chunk::Padded;
    let buf = PaddedBuf::from_content(text);
    kernels.run(Lines(buf.padded(), options))
}

/// Checks every line of `text` under every option and backend; returns the share of lines that the
/// fast path handled.
fn check(text: &[u8]) -> f64 {
    let (mut taken, mut all) = (0, 0);
    for options in all_options() {
        let expected: Vec<_> = text
            .split(|&byte| byte == b'\n')
            .filter(|line| !line.is_empty())
            .map(|line| (line, exact(line, options)))
            .collect();
        for kernels in Kernels::available() {
            let found = by_fast_path(text, options, kernels);
            assert_eq!(found.len(), expected.len());
            for ((line, expected), found) in expected.iter().zip(found) {
                all += 1;
                let Some(found) = found else { continue };
                taken += 1;
                let shown = String::from_utf8_lossy(line);
                assert_eq!(
                    expected.as_ref().map(|form| String::from_utf8_lossy(form)),
                    Ok(String::from_utf8_lossy(&found)),
                    "{shown} {options:?} {:?}",
                    kernels.backend()
                );
            }
        }
    }
    f64::from(taken) / f64::from(all)
}

#[test]
fn the_fast_path_handles_common_input_as_the_reference_path_does() {
    let lines = b"http://h\nhttp://h/\nHTTPS://EXAMPLE.com:443/A/b?c#d\nhttp://h:80\nhttp://h:/\n\
        https://h:8080/x/../y/./z/..\nhttp://h/%7euser/%2fx%C3%a9\nftp://f/%2e%2e/x\nhttp://h?\nhttp://h#\n\
        http://1.2.3.4:80/?a=/../b\nfoo://x//y/..//z\nfoo:/a/b\nfoo:\nhttp://a-b.c/\nhttp://xn--A.b/\nhttp://XN--bcher-kva.example/\nhttp://h/a%2E/b\n\
        foo:a/../b\nfoo:..\nfoo:.\ndata:%2e%2e/%7e/./x?q#f\nblob:https://h/../x\ntel:1/%2E/2\n\
        http://h/..\nhttp://h/.\nhttp://h/..a/.b/...\nhttp://h/?a#b?c/../d\nws://H\nhttp://h/@x:y\n";
    assert_eq!(check(lines), 1.0);
}

#[test]
fn the_fast_path_leaves_rare_input_to_the_reference_path() {
    for line in [
        &b"http://u@h/"[..],
        b"http://[::1]/",
        b"http://h/ ",
        b"http://h%41/",
        b"http://h/%4",
        b"//h/x",
        b"x/y",
        b"http://h/#a#b",
        b"http://h:8x/",
        b"file://localhost/x",
        b"mailto:A@B",
        b"urn:X:y",
        b"http://h/\xFF",
        b"http://h:0081/",
        b"1a:b",
        b"foo:/a/../b",
        b"foo:/%2e",
        b":",
        b"%",
    ] {
        let found = by_fast_path(line, Options::default(), Kernels::detect());
        assert_eq!(found, [None], "{}", String::from_utf8_lossy(line));
    }
}

#[test]
fn paths_agree_on_long_records_and_long_ports() {
    let mut text = Vec::new();
    for len in (100..700).step_by(7) {
        // What is the same everywhere would not show which bytes were copied.
        let tail: String = (0..len).map(|i| char::from(b'a' + (i % 23) as u8)).collect();
        text.extend(format!("http://H/{tail}\nhttp://h/%7E{tail}%7E{tail}\n").bytes());
    }
    assert_eq!(check(&text), 1.0);
    for digits in 1..20 {
        let port = format!("{:0>digits$}", 80);
        check(
            format!("http://h:{port}/\nfoo://h:{port}/\nhttp://h:9{port}/\nws://h:{port}1")
                .as_bytes(),
        );
    }
}

#[test]
fn canonical_records_are_not_copied() {
    for text in ["http://h/", "https://h/a?b#c", "foo:a/../b", "http://h:8080/%20", "x://y/"] {
        let mut normalizer = Normalizer::new(Options::default());
        assert_eq!(normalizer.normalize(text.as_bytes()).unwrap(), text.as_bytes());
        assert!(normalizer.scratch.fast.is_empty(), "{text}");
    }
}

#[test]
fn paths_agree_at_every_alignment_and_length() {
    let mut text = Vec::new();
    for pad in 0..150 {
        for core in [
            "http://H.com:80/%7E/./x/../y?q#f",
            "https://h",
            "http://h.example/a%2fb%41",
            "http://h/a/..",
            "http://h/..",
            "http://h/%zz",
            "http://h/a#b#c",
            "data:text/plain,%2e%2e/./x",
        ] {
            text.extend(core.as_bytes());
            text.extend(vec![b'x'; pad]);
            text.push(b'\n');
            text.extend(core.as_bytes());
            text.push(b'/');
            text.extend(vec![b'y'; pad]);
            text.extend(b"/../%c3%a9/.\n");
        }
        text.extend(b"http://");
        text.extend(vec![b'a'; pad]);
        text.extend(b":80/\n");
    }
    assert!(check(&text) > 0.5);
}

#[test]
fn one_by_one_gives_the_same_results_and_errors() {
    let mut normalizer = Normalizer::new(Options::default());
    assert_eq!(normalizer.normalize(b"HTTP://H").unwrap(), b"http://h/");
    assert_eq!(
        normalizer.normalize(b"a b").unwrap_err(),
        UriError { kind: UriErrorKind::Space, at: 1 }
    );
    assert_eq!(normalizer.normalize(b"a/b").unwrap_err().kind, UriErrorKind::Relative);
    assert_eq!(normalizer.normalize(b"").unwrap_err().kind, UriErrorKind::Relative);
    assert_eq!(normalizer.would_change(b"http://h/"), Ok(false));
    assert_eq!(normalizer.would_change(b"http://h:80/"), Ok(true));
    // A line end inside is a byte like any other here.
    assert_eq!(
        normalizer.normalize(b"http://h/\nx").unwrap_err(),
        UriError { kind: UriErrorKind::Control, at: 9 }
    );
}

#[test]
fn a_uri_beyond_32_bits_is_rejected_before_it_is_read() {
    // Zeroed memory that is never touched, so that it costs none.
    let uri = vec![0; u32::MAX as usize + 1];
    let error = Normalizer::new(Options::default()).normalize(&uri).unwrap_err();
    assert_eq!(error, UriError { kind: UriErrorKind::TooLong, at: u32::MAX });
}

/// Parts that combine to something close to a URI.
fn piece() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec![
        "http://",
        "https://",
        "HTTP://",
        "ftp://",
        "foo:",
        "data:",
        "//",
        "/",
        "/",
        "/.",
        "/..",
        "/./",
        "/../",
        "?",
        "#",
        ":",
        ":80",
        ":443",
        ":080",
        "@",
        "h",
        "Ex",
        ".com",
        ".",
        "..",
        "%7e",
        "%2F",
        "%2e",
        "%C3%A9",
        "%c3",
        "%",
        "%4",
        "a",
        "Z",
        "-",
        "--",
        "xn--",
        "[::1]",
        "&=+;",
        "~",
        " ",
        "\u{e9}",
        "1.2.3.4",
        "localhost",
        "file://",
        "abcdefghijklmnopqrstuvwxyz",
        "path/to/some/longer/place/index.html",
    ])
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn paths_agree_on_any_text(records in prop::collection::vec(prop::collection::vec(piece(), 1..14), 1..8)) {
        let lines: Vec<String> = records.into_iter().map(|pieces| pieces.concat()).collect();
        check(lines.join("\n").as_bytes());
    }

    #[test]
    fn paths_agree_on_absolute_uris(tails in prop::collection::vec(prop::collection::vec(piece(), 0..14), 1..8)) {
        let lines: Vec<String> = tails.into_iter().map(|pieces| format!("http://h/{}", pieces.concat())).collect();
        check(lines.join("\n").as_bytes());
    }
}
