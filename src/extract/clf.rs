//! Links of an access log in the Common or Combined Log Format, as written by Apache and nginx:
//!
//! ```text
//! host ident user [time] "request" status bytes "referer" "user agent"
//! ```
//!
//! or in a [`LogFormat`].

use core::ops::Range;

use super::Links;
use super::log::{Entry, Field, Log, Origin, is_scheme};
use super::log_format::{LogFormat, Value, quote_end};
use crate::chunk::{Padded, Span};
use crate::index::{Bits, low_bits};
use crate::simd::{BLOCK, Isa, Task};

/// Number of bytes whose marks are collected at a time.
const WINDOW: usize = 32 << 10;

/// Appends the links of the entries of a log, line by line.
///
/// A line that is not an entry is searched as text, unless fields were selected.
pub(crate) fn entries(entries: &Entries<'_>, links: &mut Links) {
    let (text, kernels) = (entries.log.text(), entries.log.kernels());
    let content = text.content();
    let mut marks = Vec::new();
    let mut start = 0;
    while start < content.len() && !links.is_full(start) {
        let window = Span { start: start as u32, end: content.len().min(start + WINDOW) as u32 };
        marks.clear();
        kernels.run(Marks(text, window, &mut marks));
        let (mut line, mut first) = (start, 0);
        for (i, &mark) in marks.iter().enumerate() {
            if content[mark as usize] == b'\n' {
                entries.line(Span { start: line as u32, end: mark }, &marks[first..i], links);
                (line, first) = (mark as usize + 1, i + 1);
            }
        }
        if line == start {
            // A line longer than the window, or a last one without an end.
            let rest = &content[start..];
            let end = memchr::memchr(b'\n', rest).map_or(content.len(), |at| start + at);
            entries.line(Span { start: start as u32, end: end as u32 }, &[], links);
            line = end + 1;
        }
        start = line;
    }
}

/// Collects the offsets of the bytes of a span that separate the fields of an entry, and of line
/// ends.
struct Marks<'a>(Padded<'a>, Span, &'a mut Vec<u32>);

impl Task for Marks<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Marks(text, span, marks) = self;
        for at in (span.start..span.end).step_by(BLOCK) {
            let block = text.block(at as usize);
            let equal = |byte| isa.equal(block, byte);
            let found = equal(b'"') | equal(b'\n') | equal(b'[') | equal(b'\\');
            let found = found & low_bits((span.end - at) as usize);
            marks.extend(Bits(found).map(|bit| at + bit));
        }
    }
}

/// A log, and the format of its entries.
pub(crate) struct Entries<'a> {
    log: Log<'a>,
    log_format: Option<&'a LogFormat>,
}

impl<'a> Entries<'a> {
    /// The entries of `log` in the Common or Combined Log Format, or in `log_format`.
    pub(crate) fn new(log: Log<'a>, log_format: Option<&'a LogFormat>) -> Entries<'a> {
        Entries { log, log_format }
    }

    /// Adds the links of the line at `line`, which holds `marks`; `[]` if they were not collected.
    fn line(&self, line: Span, marks: &[u32], links: &mut Links) {
        let content = self.log.text().content();
        let fields = match self.log_format {
            Some(log_format) => Fields::by_pattern(log_format, line.of(content)),
            None => fields(line, content, marks),
        };
        match fields {
            Some(fields) => self.log.take(line.start, fields.entry(line.of(content)), links),
            None => self.log.take_other(line, links),
        }
    }
}

/// The ranges of the fields of an entry in its line, without their quotes.
#[derive(Debug, Default, PartialEq, Eq)]
struct Fields {
    target: Option<Range<usize>>,
    /// The query, if the target does not have it.
    query: Option<Range<usize>>,
    scheme: Option<Range<usize>>,
    host: Option<Range<usize>>,
    port: Option<Range<usize>>,
    /// Whether the port of the server is that of `https`.
    is_tls: bool,
    referer: Option<Range<usize>>,
    agent: Option<Range<usize>>,
}

impl Fields {
    /// The fields of `line` if it is an entry in this format.
    fn by_pattern(log_format: &LogFormat, line: &[u8]) -> Option<Fields> {
        let fields = log_format.fields(line)?;
        let of = |value: Value| fields[value as usize].clone();
        let request = of(Value::Request).and_then(|at| target(line, (at.start, at.end)));
        let is_dash = |at: &Range<usize>| {
            line[at.clone()].ends_with(b"-") && memchr::memchr(b'?', &line[at.clone()]).is_none()
        };
        let joined = of(Value::Joined).map(|at| at.start..at.end - usize::from(is_dash(&at)));
        let mut schemes = [of(Value::Forwarded), of(Value::Scheme)].into_iter().flatten();
        Some(Fields {
            target: request.or(joined).or_else(|| of(Value::Target)),
            query: of(Value::Query),
            scheme: schemes.find(|at| is_scheme(&line[at.clone()])),
            host: of(Value::Host),
            port: of(Value::Port),
            is_tls: of(Value::ServerPort).is_some_and(|at| line[at] == *b"443"),
            referer: of(Value::Referer),
            agent: of(Value::Agent),
        })
    }

    /// The entry of these fields of `line`.
    fn entry(self, line: &[u8]) -> Entry<'_> {
        let escaped = |at: Range<usize>| Field { text: unescaped(&line[at.clone()]), at };
        let plain = |at: Range<usize>| Field { text: (&line[at.clone()]).into(), at };
        let bytes = |at: Option<Range<usize>>| at.map(|at| &line[at]);
        let tls = self.is_tls.then_some(&b"https"[..]);
        let query = bytes(self.query).filter(|query| !matches!(*query, b"" | b"-" | b"?"));
        let mut target = self.target.map(escaped);
        if let (Some(target), Some(query)) = (&mut target, query)
            && memchr::memchr(b'?', &target.text).is_none()
        {
            let query = unescaped(query.strip_prefix(b"?").unwrap_or(query));
            target.text = [&target.text[..], b"?", &query].concat().into();
        }
        Entry {
            target,
            origin: Origin {
                scheme: bytes(self.scheme).or(tls),
                host: bytes(self.host),
                port: bytes(self.port),
            },
            referer: self.referer.map(escaped),
            agent: self.agent.map(plain),
        }
    }
}

/// Whether `line` is an entry.
pub(crate) fn is_entry(line: &[u8]) -> bool {
    fields_of_any(line).is_some()
}

/// The fields of the line at `line` of `text`, with the [`Marks`] of the line.
fn fields(line: Span, text: &[u8], marks: &[u32]) -> Option<Fields> {
    by_marks(line, text, marks).or_else(|| fields_of_any(line.of(text)))
}

/// [`fields_of_any`] for the usual line: one opening bracket, two or six quotes, none of them
/// escaped.
fn by_marks(line: Span, text: &[u8], marks: &[u32]) -> Option<Fields> {
    let (&bracket, quotes) = marks.split_first()?;
    let quotes = if quotes.len() == 2 { quotes } else { quotes.get(..6)? };
    let is = |mark: &u32, byte: u8| text[*mark as usize] == byte;
    if !is(&bracket, b'[') || !quotes.iter().all(|quote| is(quote, b'"')) {
        return None;
    }
    let at = |mark: u32| (mark - line.start) as usize;
    let line = line.of(text);
    let (bracket, request) = (at(bracket), (at(quotes[0]) + 1, at(quotes[1])));
    // `[time] "`, with no other `]` before, and `- -` before it.
    let time = &line[bracket..request.0 - 1];
    let is_time = memchr::memchr(b']', time) == Some(time.len().wrapping_sub(2))
        && time.last() == Some(&b' ')
        && time[1].is_ascii_digit()
        && (time.get(12) == Some(&b':') || time.contains(&b':'));
    let is_plain = bracket > 5 && line[0] != b' ' && line[..bracket].ends_with(b" - - ");
    if !is_time || !is_plain || !is_status(&line[request.1 + 1..]) {
        return None;
    }
    let between = |i: usize| Some(at(*quotes.get(i)?) + 1..at(*quotes.get(i + 1)?));
    let target = target(line, request);
    Some(Fields { target, referer: between(2), agent: between(4), ..Fields::default() })
}

/// Whether `rest`, the text after the request, begins with a status.
fn is_status(rest: &[u8]) -> bool {
    matches!(rest, [b' ', a, b, c, ..] if [a, b, c].iter().all(|b| b.is_ascii_digit()))
}

/// The fields of `line` if it is an entry.
fn fields_of_any(line: &[u8]) -> Option<Fields> {
    // `[time] "request" status`
    let bracket = memchr::memchr(b'[', line)?;
    let close = bracket + memchr::memchr(b']', &line[bracket..])?;
    let is_time = line.get(bracket + 1).is_some_and(u8::is_ascii_digit)
        && line[bracket..close].contains(&b':');
    let words = line[..bracket].split(|&byte| byte == b' ').filter(|word| !word.is_empty()).count();
    if !is_time || words < 3 || !line[close..].starts_with(b"] \"") {
        return None;
    }
    let request = (close + 3, quote_end(line, close + 3)?);
    if !is_status(line.get(request.1 + 1..)?) {
        return None;
    }
    let quoted = |from: usize| {
        let open = from + memchr::memchr(b'"', line.get(from..)?)? + 1;
        Some(open..quote_end(line, open)?)
    };
    let referer = quoted(request.1 + 1);
    let agent = referer.as_ref().and_then(|referer| quoted(referer.end + 1));
    Some(Fields { target: target(line, request), referer, agent, ..Fields::default() })
}

/// The range of the target in the request `METHOD target HTTP/1.1`.
fn target(line: &[u8], (start, end): (usize, usize)) -> Option<Range<usize>> {
    let from = start + memchr::memchr(b' ', &line[start..end])? + 1;
    let to = memchr::memrchr(b' ', &line[from..end]).map_or(end, |at| from + at);
    (from < to).then_some(from..to)
}

/// `field` with `\xhh`, `\"` and `\\` unescaped.
fn unescaped(field: &[u8]) -> std::borrow::Cow<'_, [u8]> {
    if memchr::memchr(b'\\', field).is_none() {
        return field.into();
    }
    let mut out = Vec::with_capacity(field.len());
    let mut rest = field;
    while let [first, tail @ ..] = rest {
        let hex = |byte: &u8| char::from(*byte).to_digit(16);
        let byte;
        (rest, byte) = match rest {
            [b'\\', b'x', high, low, tail @ ..] if hex(high).is_some() && hex(low).is_some() => {
                (tail, (hex(high).unwrap_or(0) * 16 + hex(low).unwrap_or(0)) as u8)
            }
            [b'\\', byte @ (b'"' | b'\\'), tail @ ..] => (tail, *byte),
            _ => (tail, *first),
        };
        out.push(byte);
    }
    out.into()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::chunk::PaddedBuf;
    use crate::simd::Kernels;

    fn marks(kernels: Kernels, line: &[u8]) -> Vec<u32> {
        let (buf, mut found) = (PaddedBuf::from_content(line), Vec::new());
        kernels.run(Marks(buf.padded(), Span { start: 0, end: line.len() as u32 }, &mut found));
        found
    }

    #[test]
    fn lines_written_by_servers_are_recognized_by_their_marks() {
        let common = br#"10.0.0.1 - - [17/May/2015:10:05:03 +0000] "GET /a HTTP/1.1" 200 1"#;
        let combined = [&common[..], br#" "http://h/" "Mozilla/5.0 (X; rv:1.9)""#].concat();
        let forwarded = [&combined[..], br#" "10.1.1.1""#].concat();
        for line in [&common[..], &combined, &forwarded] {
            let span = Span { start: 0, end: line.len() as u32 };
            let marks = marks(Kernels::detect(), line);
            assert!(by_marks(span, line, &marks).is_some());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        #[test]
        fn marks_agree_with_the_bytes(
            line in r#"(h|h a|\[| )( - - | - u |  -  | - - - )(\[1(:|\]|x){0,3}|\[x)(\] "|\]"| ")(GET /( |\"|\[)?x HTTP/1.1|)"( 200|200| 20x|) 1( "(http://h/|-|a\"b|\[)"){0,3}[" \[]?"#,
        ) {
            let (line, span) = (line.as_bytes(), Span { start: 0, end: line.len() as u32 });
            for kernels in Kernels::available() {
                let marks = marks(kernels, line);
                let expected: Vec<u32> = (0..).zip(line).filter(|(_, byte)| b"\"\n[\\".contains(byte)).map(|(at, _)| at).collect();
                prop_assert_eq!(&marks, &expected);
                if let Some(found) = by_marks(span, line, &marks) {
                    prop_assert_eq!(Some(found), fields_of_any(line));
                }
            }
        }
    }
}
