//! Which path handles a record, and that its components and hints are those of the reference path.

use proptest::prelude::*;

use super::*;
use crate::chunk::PaddedBuf;
use crate::index::Index;
use crate::simd::{Kernels, Task};
use crate::uri::dots::has_dot_segment;
use crate::uri::strict::parse;

/// The path that handles a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Path {
    Plain,
    Scan,
    Relative,
    Reference,
}

/// The hints for normalization.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Hints {
    upper_head: bool,
    work: bool,
    encoded_dot: bool,
    dots: bool,
}

type Found = (Path, Option<Components>, Option<Hints>);

struct Read<'a>(Record<'a>);

impl Task for Read<'_> {
    type Output = Found;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Found {
        let record = self.0;
        let hints = |upper_head, triplets: Triplets, dots| {
            Some(Hints { upper_head, work: triplets.work, encoded_dot: triplets.dot, dots })
        };
        if let Some(plain) = plain(isa, record) {
            let components = plain.components(isa, record);
            return (Path::Plain, Some(components), hints(plain.upper_head, plain.triplets, false));
        }
        if let Some(scan) = scan(isa, record) {
            let hints = hints(scan.upper_head, scan.triplets, scan.dots);
            return (Path::Scan, Some(scan.components), hints);
        }
        match relative(isa, record) {
            Some(relative) => (Path::Relative, Some(relative.components), None),
            None => (Path::Reference, None, None),
        }
    }
}

/// Byte by byte, from the components of the reference path.
fn expected_hints(text: &[u8], components: &Components) -> Hints {
    let digit = |byte: u8| (byte as char).to_digit(16).map(|digit| digit as u8);
    let triplets = || {
        text.windows(3).filter(|part| part[0] == b'%').map(|part| {
            let value = digit(part[1]).unwrap() << 4 | digit(part[2]).unwrap();
            (value, part[1..].iter().any(u8::is_ascii_lowercase))
        })
    };
    let path = &text[components.path_start as usize..components.path_end as usize];
    Hints {
        upper_head: text[..components.path_start as usize].iter().any(u8::is_ascii_uppercase),
        work: triplets().any(|(value, is_lower)| is_lower || UNRESERVED.has(value)),
        encoded_dot: triplets().any(|(value, _)| value == b'.'),
        dots: has_dot_segment(path),
    }
}

/// Checks what the fast paths find on every backend, and returns which of them handles `text`.
#[track_caller]
fn path_of(text: &[u8]) -> Path {
    let mut index = Index::new();
    let mut paths = Kernels::available().map(|kernels| {
        let buf = PaddedBuf::from_content(text);
        let record = index.only_record(kernels, buf.padded());
        let (path, components, hints) = kernels.run(Read(record));
        let shown = text.escape_ascii();
        if let Some(components) = components {
            assert_eq!(Ok(components), parse(text), "{shown} {:?}", kernels.backend());
            if path != Path::Relative {
                let expected = Some(expected_hints(text, &components));
                assert_eq!(hints, expected, "{shown} {:?}", kernels.backend());
            }
        }
        path
    });
    let path = paths.next().expect("the scalar backend");
    assert!(paths.all(|other| other == path), "{}", text.escape_ascii());
    path
}

/// `start`, then `x` up to `len` bytes with `end`, then `end`.
fn filled(start: &str, end: &str, len: usize) -> Vec<u8> {
    let fill = "x".repeat(len - start.len() - end.len());
    format!("{start}{fill}{end}").into_bytes()
}

#[test]
fn plain_records_are_read_off_the_index() {
    for text in [
        "http://h",
        "HTTPS://H",
        "http://h/",
        "https://Example.com:8042/over/there?name=ferret",
        "http://h:/",
        "http://h?q",
        "http://1.2.3.4/",
        "http://",
        "https://",
        "http://h/%7e%C3%a9?%2E",
        "http://h/a.b/c:d@e?f/g?h",
        "http:///x",
    ] {
        assert_eq!(path_of(text.as_bytes()), Path::Plain, "{text}");
    }
    for len in [62, 63, 64, 65, 66, 126, 127, 128, 129, 130, 191, 192, 193, 300] {
        for end in ["?q", "%41", "%2e", "/Z", "?", "%c3%A9"] {
            let text = filled("http://h/", end, len);
            assert_eq!(path_of(&text), Path::Plain, "{}", text.escape_ascii());
        }
    }
    assert_eq!(path_of(&filled("http://", "", 64)), Path::Plain);
    assert_eq!(path_of(&filled("http://", "/", 64)), Path::Plain);
    assert_eq!(path_of(&filled("http://", ":80", 64)), Path::Plain);
}

#[test]
fn other_uris_are_scanned() {
    for text in [
        "http://h/#f",
        "http://h#41/",
        "http://h#",
        "HTTP://H/a/./b",
        "http://h/../x",
        "http://h/.hidden",
        "http://h/a/..?q#f",
        "http://h/a?/../b",
        "http://h/a#/../b",
        "ftp://FTP.is.co.za/rfc/rfc1808.txt",
        "ws://h:80",
        "x://1.2.3.4:5/",
        "x:",
        "x:y",
        "x:/",
        "x:/y",
        "x://",
        "x:?q",
        "x:#f",
        "x:.",
        "x:./a",
        "x:..",
        "x:.a/../b",
        "mailto:John.Doe@example.com",
        "tel:+1-816-555-1212",
        "news:comp.infosystems.www.servers.unix",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "a+b-c.d:%7e",
        "http:h",
        "http:/h",
        "https:/",
    ] {
        assert_eq!(path_of(text.as_bytes()), Path::Scan, "{text}");
    }
    for len in [63, 64, 65, 66, 67, 127, 128, 129, 130, 131, 191, 192, 193, 194, 300] {
        for end in
            ["/.", "/..", "/../", "/./b", "/...", "/.?", "/..#", "#f", "?q#f", "#%41", "/.%2e"]
        {
            let text = filled("foo://h/", end, len);
            assert_eq!(path_of(&text), Path::Scan, "{}", text.escape_ascii());
            let text = filled("foo:/a?/../", end, len);
            assert_eq!(path_of(&text), Path::Scan, "{}", text.escape_ascii());
        }
    }
    // Dot segments at the same place of the first two blocks.
    let text = format!("foo://h/{}/./{}/./b", "x".repeat(20), "x".repeat(61));
    assert_eq!(path_of(text.as_bytes()), Path::Scan);
    assert_eq!(path_of(&filled("", ":a", 61)), Path::Scan);
    assert_eq!(path_of(&filled("foo://", "", 64)), Path::Scan);
    assert_eq!(path_of(&filled("foo://", "#", 64)), Path::Scan);
}

#[test]
fn relative_references_have_a_path_of_their_own() {
    for text in [
        "",
        "a",
        "a/b",
        "/",
        "/a",
        "//h",
        "//H:80/a",
        "//h?q",
        "?q",
        "#f",
        ".",
        "../a?b#c",
        "//",
        "a?b:c",
        "a/b:c",
        "%41",
        "/%7e",
        "//1.2.3.4",
    ] {
        assert_eq!(path_of(text.as_bytes()), Path::Relative, "{text}");
    }
    for len in [63, 64, 65, 127, 128, 129, 200] {
        for end in ["/..", "%41", "?q", "#f", "?q#f", "/./"] {
            let text = filled("a/", end, len);
            assert_eq!(path_of(&text), Path::Relative, "{}", text.escape_ascii());
            let text = filled("//h/", end, len);
            assert_eq!(path_of(&text), Path::Relative, "{}", text.escape_ascii());
        }
    }
    assert_eq!(path_of(&filled("", "", 64)), Path::Relative);
    assert_eq!(path_of(&filled("//", "", 64)), Path::Relative);
}

#[test]
fn rare_records_are_left_to_the_reference_path() {
    for text in [
        "http://u@h/",
        "http://[::1]/",
        "http://h%41/",
        "http://h|41/",
        "http://h\u{1}41/",
        "http://h:8x/",
        "http://h:1:2/",
        "http://h/%4",
        "http://h/%zz",
        "http://h/#a#b",
        "http://h/a b",
        "http://h/\u{e9}",
        "ftp://u@h/",
        "//u@h",
        "//h%41/",
        "//h:x",
        "1a:b",
        ":a",
        "a_b:c",
        "a:b%",
        "a%",
        "#a#b",
        "a b",
    ] {
        assert_eq!(path_of(text.as_bytes()), Path::Reference, "{text}");
    }
    for len in [65, 70, 128, 200] {
        for (start, end) in [("http://", "/"), ("ftp://", ""), ("//", "/"), ("", ""), ("", "/")] {
            let text = filled(start, end, len);
            assert_eq!(path_of(&text), Path::Reference, "{}", text.escape_ascii());
        }
        for end in ["%4", "%", "%4g", "#a#b", "\\"] {
            for start in ["http://h/", "foo://h/", "a/"] {
                let text = filled(start, end, len);
                assert_eq!(path_of(&text), Path::Reference, "{}", text.escape_ascii());
            }
        }
    }
    assert_eq!(path_of(&filled("", ":a", 62)), Path::Reference, "a scheme of 60 bytes");
}

proptest! {
    #[test]
    fn components_and_hints_are_those_of_the_reference_path(
        start in "(HTTP://|https://|ftp://|x:|//|)(H|h|1\\.2\\.3\\.4)?(:80)?",
        fill in 0_usize..140,
        end in "([/?]|%2[eE]|%4[1c]|\\.|a|\\./|/\\.\\.?){0,12}(#[a.]?)?",
    ) {
        path_of(format!("{start}/{}{end}", "x".repeat(fill)).as_bytes());
    }
}
