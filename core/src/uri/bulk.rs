//! Many references at once: every record of a text, indexed together, parsed one by one.
//!
//! The fast path reads the components off the class masks of the index. Records that it does not
//! handle (see `uri/fast.rs`) go to [`super::parse`], which also reports every error. The results
//! are those of [`super::parse`], on every backend.

use super::{Components, UriError, fast, strict};
use crate::chunk::Padded;
use crate::index::{Index, Record, trim};
use crate::simd::{Isa, Kernels, Task};

/// A record of a text and the result of [`super::parse`] for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Parsed<'t> {
    /// Its line, counted from 0; blank lines count.
    pub line: usize,
    /// Offset in bytes of its line in the text.
    pub line_start: usize,
    /// Offset in bytes of its first byte in the text: greater than `line_start` after leading white
    /// space.
    pub start: usize,
    /// Its bytes, without white space around them. Never empty.
    pub bytes: &'t [u8],
    /// Its components, or the first fault; offsets count from the first byte of `bytes`.
    pub result: Result<Components, UriError>,
}

/// Parses texts of many records; owns the buffers for that.
///
/// ```
/// use uriscan::PaddedBuf;
/// use uriscan::uri::Parser;
///
/// let text = PaddedBuf::from_content(b"http://a/b?c\n\n  //d/e\nnot a reference\n");
/// let mut hosts = Vec::new();
/// let lines = Parser::new().parse_each(text.padded(), b'\n', |record| match record.result {
///     Ok(parts) => hosts.push(parts.host(record.bytes).unwrap_or(b"").to_vec()),
///     Err(error) => assert_eq!((record.line, error.to_string().as_str()), (3, "space at byte 3: a URI may not hold spaces; write %20")),
/// });
/// assert_eq!(lines, 4);
/// assert_eq!(hosts, [b"a", b"d"]);
/// ```
#[derive(Clone, Debug)]
pub struct Parser {
    kernels: Kernels,
    index: Index,
}

impl Default for Parser {
    fn default() -> Parser {
        Parser::new()
    }
}

impl Parser {
    /// Creates a parser with the best backend of this CPU.
    pub fn new() -> Parser {
        Parser::with_kernels(Kernels::detect())
    }

    /// Creates a parser with the given backend; the results are the same.
    pub fn with_kernels(kernels: Kernels) -> Parser {
        Parser { kernels, index: Index::new() }
    }

    /// Calls `each` for every record of `text`, in order, and returns the number of lines.
    ///
    /// Records end at each byte `record_end` (LF or NUL) and at the end of the text. ASCII white
    /// space around a record is not part of it (Appendix C). A line of white space only is blank:
    /// it is counted and skipped. Linear in the length of `text`; `each` is called from within the
    /// loop, where a small closure costs next to nothing. The text may be of any length; a line
    /// longer than `u32::MAX` bytes is [`TooLong`](super::UriErrorKind::TooLong).
    pub fn parse_each<F: FnMut(Parsed<'_>)>(
        &mut self,
        text: Padded<'_>,
        record_end: u8,
        mut each: F,
    ) -> usize {
        struct Each<'a, 't, F>(&'a mut Index, Padded<'t>, u8, F);
        impl<F: FnMut(Parsed<'_>)> Task for Each<'_, '_, F> {
            type Output = usize;
            #[inline(always)]
            fn run<I: Isa>(self, isa: I) -> usize {
                let mut each = self.3;
                parse_each_with(isa, self.0, self.1, self.2, |found| {
                    each(found);
                    true
                })
            }
        }
        let (mut at, mut lines) = (0, 0);
        while at < text.len() {
            let len = window_len(&text.content()[at..], record_end);
            let mut placed = |found: Parsed<'_>| {
                let (line, line_start) = (lines + found.line, at + found.line_start);
                each(Parsed { line, line_start, start: at + found.start, ..found });
            };
            let in_window = if u32::try_from(len).is_ok() {
                let window = text.part(at, len);
                self.kernels.run(Each(&mut self.index, window, record_end, placed))
            } else {
                let bytes = &text.content()[at..at + len];
                let result = strict::parse(bytes);
                placed(Parsed { line: 0, line_start: 0, start: 0, bytes, result });
                1
            };
            (at, lines) = (at + len, lines + in_window);
        }
        lines
    }
}

/// Number of bytes indexed at a time: the index, which is as large, should stay in the cache.
const WINDOW: usize = 128 << 10;

/// The length of the whole lines at the start of `text` that are processed together: at least one.
fn window_len(text: &[u8], record_end: u8) -> usize {
    if text.len() <= WINDOW {
        return text.len();
    }
    let within = memchr::memrchr(record_end, &text[..WINDOW]);
    let end = within.or_else(|| memchr::memchr(record_end, &text[WINDOW..]).map(|at| WINDOW + at));
    end.map_or(text.len(), |end| end + 1)
}

/// [`Parser::parse_each`] inside a task that already runs on `isa`; overwrites `index`. Ends before a record for which
/// `each` returns false, and returns the number of lines before it.
#[inline(always)]
pub fn parse_each_with<I: Isa, F: FnMut(Parsed<'_>) -> bool>(
    isa: I,
    index: &mut Index,
    text: Padded<'_>,
    record_end: u8,
    mut each: F,
) -> usize {
    index.build_with(isa, text, record_end);
    let mut lines = 0;
    for whole in index.spans() {
        let line = lines;
        lines += 1;
        let span = trim(text.padded(), whole);
        if span.is_empty() {
            continue;
        }
        let record = Record::new(text, index, span);
        let goes_on = each(Parsed {
            line,
            line_start: whole.start as usize,
            start: span.start as usize,
            bytes: record.bytes(),
            result: parse_here(isa, record),
        });
        if !goes_on {
            return line;
        }
    }
    lines
}

/// The result of [`super::parse`] for a record that is not empty, by the fast path if possible. Not inlined.
#[inline(always)]
pub fn parse_record<I: Isa>(isa: I, record: Record<'_>) -> Result<Components, UriError> {
    isa.call(ParseRecord(record))
}

/// [`parse_record`].
struct ParseRecord<'a>(Record<'a>);

impl Task for ParseRecord<'_> {
    type Output = Result<Components, UriError>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        parse_here(isa, self.0)
    }
}

/// [`parse_record`], inlined into the caller, for the loop over all records.
#[inline(always)]
fn parse_here<I: Isa>(isa: I, record: Record<'_>) -> Result<Components, UriError> {
    match fast::components(isa, record) {
        Some(components) => Ok(components),
        None => strict::parse(record.bytes()),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::PaddedBuf;
    use crate::grammar::class::WHITE_SPACE;
    use crate::uri::parse;

    type Found = (usize, usize, usize, Vec<u8>, Result<Components, UriError>);

    fn by_parser(text: Padded<'_>, record_end: u8, kernels: Kernels) -> (usize, Vec<Found>) {
        let mut found = Vec::new();
        let lines = Parser::with_kernels(kernels).parse_each(text, record_end, |r| {
            found.push((r.line, r.line_start, r.start, r.bytes.to_vec(), r.result));
        });
        (lines, found)
    }

    /// The plain oracle: split, trim, [`parse`].
    fn one_by_one(text: &[u8], record_end: u8) -> (usize, Vec<Found>) {
        let mut lines: Vec<&[u8]> = text.split(|&byte| byte == record_end).collect();
        if lines.last().is_some_and(|line| line.is_empty()) {
            lines.pop();
        }
        let mut at = 0;
        let mut found = Vec::new();
        for (i, line) in lines.iter().enumerate() {
            let is_text = |byte: &u8| !WHITE_SPACE.has(*byte);
            if let Some(first) = line.iter().position(is_text) {
                let last = line.iter().rposition(is_text).unwrap();
                let bytes = &line[first..=last];
                found.push((i, at, at + first, bytes.to_vec(), parse(bytes)));
            }
            at += line.len() + 1;
        }
        (lines.len(), found)
    }

    /// Compares under every backend; `after` fills the padding after the content.
    fn check(text: &[u8], after: u8) {
        let mut bytes = text.to_vec();
        bytes.resize(Padded::needed(text.len()), after);
        let padded = Padded::new(&bytes, text.len()).unwrap();
        for record_end in [b'\n', 0] {
            let expected = one_by_one(text, record_end);
            for kernels in Kernels::available() {
                let found = by_parser(padded, record_end, kernels);
                assert_eq!(found, expected, "{:?} {}", kernels.backend(), text.escape_ascii());
            }
        }
    }

    const REFERENCES: &[&str] = &[
        "https://user@example.com:8042/over/there?name=ferret#nose",
        "ftp://ftp.is.co.za/rfc/rfc1808.txt",
        "ldap://[2001:db8::7]/c=GB?objectClass?one",
        "mailto:John.Doe@example.com",
        "urn:oasis:names:specification:docbook:dtd:xml:4.1.2",
        "HTTP://h:/%41%zz",
        "http://h/%4",
        "http://h/%",
        "http:",
        "http:/",
        "http://",
        "https:/",
        "https://",
        "news:",
        "news:/",
        "a://",
        "a",
        "",
        "?#",
        "//h:99999999999",
        "//1.2.3.4:x",
        "http://h/a b",
        "http://h\u{e9}/",
        "http://a@b@c/",
        "http://h/#a#b",
        "  \t http://h/ \r",
        "\u{1}",
    ];

    #[test]
    fn agrees_with_parse_at_every_shift_and_whatever_follows() {
        for (i, reference) in REFERENCES.iter().enumerate() {
            for shift in [0, 1, 50, 63, 64, 65] {
                let text = format!("{}\n{reference}", "x".repeat(shift));
                for after in *b"/1:\n#%a" {
                    check(text.as_bytes(), after);
                    check(reference.as_bytes(), after);
                }
            }
            let list = REFERENCES[i..].join("\n");
            check(list.as_bytes(), b'f');
        }
    }

    #[test]
    fn what_follows_is_not_read_even_where_it_would_complete_the_record() {
        for (text, after) in [
            ("http://h/%4", "1"),
            ("http:", "//h/"),
            ("https:/", "/"),
            ("news:", "//h"),
            ("a:/", "/"),
        ] {
            let mut buf = PaddedBuf::from_content(format!("{text}{after}").as_bytes());
            buf.set_len(text.len());
            for kernels in Kernels::available() {
                assert_eq!(
                    by_parser(buf.padded(), b'\n', kernels),
                    one_by_one(text.as_bytes(), b'\n')
                );
            }
        }
    }

    #[test]
    fn a_long_text_is_parsed_window_by_window() {
        let mut text = REFERENCES.join("\n").repeat(2 * WINDOW / 400).into_bytes();
        text.extend(vec![b'x'; 3 * WINDOW]);
        text.extend(b"\n\nhttp://h/%4");
        assert!(text.len() > 4 * WINDOW);
        check(&text, b'1');
        // The last window ends at each position in a block, and so does its padding.
        for len in 0..=130 {
            let mut text = vec![b'\n'; WINDOW + 1];
            text.extend(format!("http://h/{}%4", "x".repeat(len)).as_bytes());
            check(&text, b'1');
        }
    }

    proptest! {
        #[test]
        fn agrees_with_parse_on_any_text(
            text in "([a-zA-Z]{0,6}(:|://|//|)[a-zA-Z0-9.:@\\[\\]%-]{0,70}[/a-z.?#%0-9 \u{e9}\\x00]{0,80}[\r]?\n?){0,5}",
            after in any::<u8>(),
        ) {
            check(text.as_bytes(), after);
        }
    }
}
