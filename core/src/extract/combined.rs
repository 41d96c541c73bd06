//! Entries in the Common or Combined Log Format:
//!
//! ```text
//! host ident user [time] "request" status bytes "referer" "user agent"
//! ```
//!
//! The name of the server may precede them, as in `vhost_combined` of Apache (`shop.example:443 host ident...`).

use core::ops::Range;

use super::log_fields::{Escapes, Facts, Fields, quote_end, target};
use crate::chunk::{Padded, Span};
use crate::index::{Bits, low_bits};
use crate::simd::{BLOCK, Isa, Task};

/// Collects the offsets of the bytes of a span that separate the fields of an entry, and of line
/// ends.
pub(crate) struct Marks<'a>(pub(crate) Padded<'a>, pub(crate) Span, pub(crate) &'a mut Vec<u32>);

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

/// [`fields_of_any`] for the usual line: one opening bracket, two or six quotes, none of them
/// escaped. Also gives what may be escaped in it.
pub(crate) fn by_marks(line: Span, text: &[u8], marks: &[u32]) -> Option<(Fields, Escapes)> {
    let (&bracket, quotes) = marks.split_first()?;
    // With no marks but these, no backslash is in the line.
    let escapes = if matches!(quotes.len(), 2 | 6) { Escapes::None } else { Escapes::Bytes };
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
    let (target, host) = (target(line, request), host(&line[..bracket]));
    let (referer, agent) = (between(2), between(4));
    Some((Fields { target, host, referer, agent, ..Fields::default() }, escapes))
}

/// Whether `rest`, the text after the request, begins with a status.
fn is_status(rest: &[u8]) -> bool {
    matches!(rest, [b' ', a, b, c, ..] if [a, b, c].iter().all(|b| b.is_ascii_digit()))
}

/// The fields of `line` if it is an entry, and where its status, method and time are.
pub(crate) fn fields_of_any(line: &[u8]) -> Option<(Fields, Facts)> {
    // `[time] "request" status`
    let mut brackets = memchr::memchr_iter(b'[', line);
    let bracket = brackets.find(|&at| line[..at].ends_with(b" "))?;
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
        // The line may have been cut.
        Some(open..quote_end(line, open).unwrap_or(line.len()))
    };
    let referer = quoted(request.1 + 1);
    let agent = referer.as_ref().and_then(|referer| quoted(referer.end + 1));
    let (target, host) = (target(line, request), host(&line[..bracket]));
    let facts = Facts {
        status: Some(request.1 + 2..request.1 + 5),
        method: Some(request.0..request.1),
        time: Some(bracket..close + 1),
    };
    Some((Fields { target, host, referer, agent, ..Fields::default() }, facts))
}

/// The range of the name of the server, with its port, in what precedes the time: the first of at least four words, before the
/// address of the client. Without a port, it must have a dot.
fn host(before: &[u8]) -> Option<Range<usize>> {
    // Nearly all lines have three words, the last of which are often `- -`.
    let rest = memchr::memchr(b' ', before).map_or(&b""[..], |at| &before[at..]);
    if rest == b" - - " {
        return None;
    }
    let words: [&[u8]; 4] = {
        let mut words = before.split(|&byte| byte == b' ').filter(|word| !word.is_empty());
        [words.next()?, words.next()?, words.next()?, words.next()?]
    };
    let is_last = before.trim_ascii_end().ends_with(words[3]);
    let is_address = |word: &[u8]| {
        core::str::from_utf8(word).is_ok_and(|word| word.parse::<core::net::IpAddr>().is_ok())
    };
    // Of several addresses of a client, each but the last has a comma.
    let has_client = is_address(words[1].strip_suffix(b",").unwrap_or(words[1]));
    let port = memchr::memrchr(b':', words[0]).filter(|_| !is_address(words[0]));
    let is_host = match port {
        Some(at) => {
            let (name, port) = (&words[0][..at], &words[0][at + 1..]);
            let is_port = !port.is_empty() && port.iter().all(u8::is_ascii_digit);
            is_port && is_name(name) && (has_client || is_last && words[1] != b"-")
        }
        None => {
            let last = words[0].rsplit(|&byte| byte == b'.').next().unwrap_or_default();
            // Neither an address nor a time.
            let is_domain =
                last.len() < words[0].len() && last.first().is_some_and(u8::is_ascii_alphabetic);
            has_client && is_domain && is_name(words[0])
        }
    };
    let start = before.iter().position(|&byte| byte != b' ')?;
    is_host.then(|| start..start + words[0].len())
}

/// Whether `word` may be the name of a server, or its address.
fn is_name(word: &[u8]) -> bool {
    let is_address = word.starts_with(b"[") && word.ends_with(b"]");
    let is_part =
        |byte: &u8| byte.is_ascii_alphanumeric() || b".-_".contains(byte) || !byte.is_ascii();
    let is_name = || word[0].is_ascii_alphanumeric() || !word[0].is_ascii();
    is_address || !word.is_empty() && is_name() && word.iter().all(is_part)
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

    #[test]
    fn only_names_of_servers_are_hosts() {
        for (before, expected) in [
            ("shop.example:443 10.0.0.1 - - ", Some("shop.example:443")),
            ("shop.example 10.0.0.1 - - ", Some("shop.example")),
            ("shop.example 10.0.0.2, 10.0.0.1, 127.0.0.1 - - ", Some("shop.example")),
            ("web:8080 client - - ", Some("web:8080")),
            ("[::1]:8443 10.0.0.1 - - ", Some("[::1]:8443")),
            ("m\u{fc}nchen.example 10.0.0.1 - - ", Some("m\u{fc}nchen.example")),
            ("10.0.0.2, 85.181.35.98 - - ", None),
            ("shop.example, 5.6.7.8 - - ", None),
            ("2019-02-12T18:37:43.139620629Z 10.0.0.1 - - ", None),
            ("1549996663.139 10.0.0.1 - - ", None),
            ("shop.example: 10.0.0.1 - - ", None),
            ("\"shop.example\" 10.0.0.1 - - ", None),
            ("-:80 10.0.0.1 - - ", None),
            ("::1 10.0.0.1 - - ", None),
            (":80 10.0.0.1 - - ", None),
        ] {
            let found = host(before.as_bytes()).map(|range| &before[range]);
            assert_eq!(found, expected, "{before}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

        #[test]
        fn marks_agree_with_the_bytes(
            line in r#"(h|h a|\[| )( - - | - u |  -  | - - - )(\[1(:|\]|x){0,3}|\[x)(\] "|\]"| ")(GET /( |\"|\[)?x HTTP/1.1|)"( 200|200| 20x|) 1( "(http://h/|-|a\"b|\[|\\\\)"){0,3}[" \[]?"#,
        ) {
            let (line, span) = (line.as_bytes(), Span { start: 0, end: line.len() as u32 });
            for kernels in Kernels::available() {
                let marks = marks(kernels, line);
                let expected: Vec<u32> = (0..).zip(line).filter(|(_, byte)| b"\"\n[\\".contains(byte)).map(|(at, _)| at).collect();
                prop_assert_eq!(&marks, &expected);
                if let Some((found, escapes)) = by_marks(span, line, &marks) {
                    prop_assert!(escapes == Escapes::Bytes || !line.contains(&b'\\'));
                    prop_assert_eq!(Some(found), fields_of_any(line).map(|(fields, _)| fields));
                }
            }
        }
    }
}
