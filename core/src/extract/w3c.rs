//! Logs in the Extended Log File Format of the W3C, which IIS, CloudFront and NetScaler write:
//!
//! ```text
//! #Fields: date time cs-method cs-uri-stem cs-uri-query cs(Host)
//! 2026-03-01 10:00:00 GET /a x=1 shop.example
//! ```
//!
//! The last directive before an entry names its fields. Entries are separated by tabs if they have
//! any, and by white space otherwise.

use core::ops::Range;
use std::borrow::Cow;

use super::columns::without_doubled_quotes;
use super::log::{Entry, Field, Log, Origin, is_log, is_remark, is_scheme};
use super::request::Request;
use super::{Links, sniff};
use crate::chunk::Span;

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    /// The path without the query.
    Stem,
    Query,
    /// The target, with its query.
    Uri,
    Host,
    Port,
    Scheme,
    /// The port of the server, of which 443 shows the scheme.
    ServerPort,
    Referer,
    Agent,
    Status,
    Method,
    Date,
    /// The time of the day.
    Clock,
}

/// The number of [`NAMES`].
const COUNT: usize = 24;

/// The names of the fields that matter; of several for one thing, the first with a value is used.
static NAMES: [(&[u8], Role); COUNT] = [
    (b"cs-uri-stem", Role::Stem),
    (b"cs-uri-path", Role::Stem),
    (b"cs-uri-query", Role::Query),
    (b"cs-uri", Role::Uri),
    // The name of a distribution of CloudFront is in cs(Host).
    (b"x-host-header", Role::Host),
    (b"cs(host)", Role::Host),
    (b"cs-host", Role::Host),
    (b"cs-uri-host", Role::Host),
    (b"cs-uri-port", Role::Port),
    (b"cs(x-forwarded-proto)", Role::Scheme),
    (b"x-forwarded-proto", Role::Scheme),
    (b"cs-uri-scheme", Role::Scheme),
    (b"cs-protocol", Role::Scheme),
    (b"s-port", Role::ServerPort),
    (b"cs(referer)", Role::Referer),
    (b"cs(referrer)", Role::Referer),
    (b"cs-referer", Role::Referer),
    (b"cs-referrer", Role::Referer),
    (b"cs(user-agent)", Role::Agent),
    (b"cs-user-agent", Role::Agent),
    (b"sc-status", Role::Status),
    (b"cs-method", Role::Method),
    (b"date", Role::Date),
    (b"time", Role::Clock),
];

/// The position of a field that an entry does not have.
const ABSENT: u16 = u16::MAX;

/// The fields of the entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// The number of fields; zero before the first directive.
    count: u16,
    /// Where the fields of [`NAMES`] are.
    at: [u16; COUNT],
    /// Whether values are percent-encoded once more, as in logs of CloudFront.
    is_coded: bool,
    /// The day that the last directive `#Date` names, for entries that have only a time.
    date: Option<[u8; DATE]>,
}

/// Bytes of a date: `2026-03-01`.
const DATE: usize = 10;

impl Default for Layout {
    fn default() -> Layout {
        Layout { count: 0, at: [ABSENT; COUNT], is_coded: false, date: None }
    }
}

/// The names of the directives.
const FIELDS: &[u8] = b"#Fields:";
const DATES: &[u8] = b"#Date:";

/// What follows the `name` of a directive in `line`, if it is that one.
fn after_name<'t>(line: &'t [u8], name: &[u8]) -> Option<&'t [u8]> {
    let (typed, rest) = line.split_at_checked(name.len())?;
    typed.eq_ignore_ascii_case(name).then_some(rest)
}

/// The day that `line` names, if it is that directive.
fn date_of(line: &[u8]) -> Option<[u8; DATE]> {
    let date = *after_name(line, DATES)?.trim_ascii_start().first_chunk()?;
    let is_date = date.iter().enumerate().all(|(i, byte)| match i {
        4 | 7 => *byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    is_date.then_some(date)
}

impl Layout {
    /// The layout of what follows `line`, if it is a directive that changes it.
    fn with_directive(self, line: &[u8]) -> Option<Layout> {
        match date_of(line) {
            Some(date) => Some(Layout { date: Some(date), ..self }),
            None => Layout::of_directive(line).map(|layout| Layout { date: self.date, ..layout }),
        }
    }

    /// The layout that `line` defines, if it is the directive that names fields.
    fn of_directive(line: &[u8]) -> Option<Layout> {
        let names = after_name(line, FIELDS)?;
        let mut layout = Layout::default();
        for name in names.split(u8::is_ascii_whitespace).filter(|name| !name.is_empty()) {
            let at = layout.count;
            // More fields than can be counted are none of a log.
            layout.count = at.checked_add(1).filter(|&count| count < ABSENT)?;
            let is_name = |known: &(&[u8], Role)| known.0.eq_ignore_ascii_case(name);
            if let Some(known) = NAMES.iter().position(is_name)
                && layout.at[known] == ABSENT
            {
                layout.at[known] = at;
            }
            layout.is_coded |= name.starts_with(b"x-edge-");
        }
        Some(layout)
    }

    /// The layout of what follows `text`, whose own layout begins with this one.
    pub(crate) fn after(self, text: &[u8]) -> Layout {
        let (mut end, mut fields, mut date) = (text.len(), None, None);
        while fields.is_none() || date.is_none() {
            let Some(at) = memchr::memrchr(b'#', &text[..end]) else { break };
            if at == 0 || text[at - 1] == b'\n' {
                let line = &text[at..];
                let len = memchr::memchr(b'\n', line).unwrap_or(line.len());
                date = date.or_else(|| date_of(&line[..len]));
                fields = fields.or_else(|| Layout::of_directive(&line[..len]));
            }
            end = at;
        }
        Layout { date: date.or(self.date), ..fields.unwrap_or(self) }
    }

    /// Whether a field for a link is among them.
    fn has_links(&self) -> bool {
        let is_fact = |role| matches!(role, Role::Status | Role::Method | Role::Date | Role::Clock);
        NAMES.iter().zip(&self.at).any(|(name, &at)| at != ABSENT && !is_fact(name.1))
    }

    /// What the `cells` of `line` say about its request.
    fn request<'t>(&self, line: &'t [u8], cells: &[Range<u32>]) -> Request<'t> {
        let of = |role| self.values(line, cells, role).next().map(|field| &line[field.at]);
        let date = of(Role::Date).or_else(|| self.date.as_ref().map(|date| &date[..]));
        let time = date.zip(of(Role::Clock)).map(|(date, time)| [date, b" ", time].concat());
        Request::of(of(Role::Status), of(Role::Method), time.as_deref())
    }

    /// The entry `line`; `None` if it does not have these fields.
    fn entry<'t>(&self, line: &'t [u8], cells: &mut Vec<Range<u32>>) -> Option<Entry<'t>> {
        cells.clear();
        split(line, cells);
        if cells.len() != usize::from(self.count) {
            return None;
        }
        let field = |role: Role| self.values(line, cells, role).next();
        let bytes = |role: Role| field(role).map(|field| &line[field.at]);
        // `HTTP/1.1` is a protocol, but not a scheme.
        let mut schemes = self.values(line, cells, Role::Scheme).map(|field| &line[field.at]);
        let is_tls = bytes(Role::ServerPort) == Some(&b"443"[..]);
        let scheme = schemes.find(|scheme| is_scheme(scheme)).or(is_tls.then_some(&b"https"[..]));
        let target = match (field(Role::Stem), field(Role::Query)) {
            (Some(stem), Some(query)) => Some(joined(stem, &query.text)),
            (stem, _) => stem.or_else(|| field(Role::Uri)),
        };
        Some(Entry {
            target,
            origin: Origin { scheme, host: bytes(Role::Host), port: bytes(Role::Port) },
            referer: field(Role::Referer),
            agent: field(Role::Agent),
        })
    }

    /// The values with this `role`, of the `cells` of `line`.
    fn values<'a, 't>(
        &'a self,
        line: &'t [u8],
        cells: &'a [Range<u32>],
        role: Role,
    ) -> impl Iterator<Item = Field<'t>> + use<'a, 't> {
        let positions = NAMES.iter().zip(&self.at).filter(move |(name, _)| name.1 == role);
        let cells = positions.filter_map(move |(_, &at)| cells.get(usize::from(at)));
        cells.filter_map(move |cell| self.field(line, cell))
    }

    /// The value at `cell` of `line`, if there is one.
    fn field<'t>(&self, line: &'t [u8], cell: &Range<u32>) -> Option<Field<'t>> {
        let at = cell.start as usize..cell.end as usize;
        let raw = &line[at.clone()];
        if matches!(raw, b"" | b"-") {
            return None;
        }
        let is_quoted = at.start > 0 && line[at.start - 1] == b'"';
        let text = match (self.is_coded, is_quoted) {
            (true, _) => decoded(raw),
            (false, true) if memchr::memchr(b'"', raw).is_some() => {
                without_doubled_quotes(raw).into()
            }
            (false, _) => raw.into(),
        };
        Some(Field { at, text })
    }
}

/// The target of `stem` and `query`.
fn joined<'t>(stem: Field<'_>, query: &[u8]) -> Field<'t> {
    let mark: &[u8] = if query.starts_with(b"?") { b"" } else { b"?" };
    let text = [&stem.text[..], mark, query].concat();
    Field { at: stem.at, text: text.into() }
}

/// Appends the ranges of the fields of `line` to `cells`.
///
/// Between white space, a field may be in quotes.
fn split(line: &[u8], cells: &mut Vec<Range<u32>>) {
    let mut push = |start: usize, end: usize| cells.push(start as u32..end as u32);
    if memchr::memchr(b'\t', line).is_some() {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        let mut start = 0;
        for end in memchr::memchr_iter(b'\t', line).chain([line.len()]) {
            push(start, end);
            start = end + 1;
        }
        return;
    }
    let (mut at, mut has_quotes) = (0, true);
    while let Some(skipped) = line[at..].iter().position(|byte| !byte.is_ascii_whitespace()) {
        at += skipped;
        if line[at] == b'"' && has_quotes {
            match quoted_end(line, at + 1) {
                Some(end) if line.get(end + 1).is_none_or(u8::is_ascii_whitespace) => {
                    push(at + 1, end);
                    at = end + 1;
                    continue;
                }
                // Each quote is read once.
                end => has_quotes = end.is_some(),
            }
        }
        let rest = &line[at..];
        let end = at + memchr::memchr3(b' ', b'\r', b'\x0C', rest).unwrap_or(rest.len());
        push(at, end);
        at = end;
    }
}

/// The end of the quoted text that begins at `from`; a doubled quote is a part of it.
fn quoted_end(line: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let quote = from + memchr::memchr(b'"', line.get(from..)?)?;
        if line.get(quote + 1) != Some(&b'"') {
            return Some(quote);
        }
        from = quote + 2;
    }
}

/// `raw` without the encoding that CloudFront adds: `%`, `[`, `]`, `'`, `~` and the bytes that no URI
/// may hold are written as `%25`, `%5B`... What a URI needs encoded stays so.
fn decoded(raw: &[u8]) -> Cow<'_, [u8]> {
    if memchr::memchr(b'%', raw).is_none() {
        return raw.into();
    }
    let mut out = Vec::with_capacity(raw.len());
    let mut rest = raw;
    while let Some(at) = memchr::memchr(b'%', rest) {
        out.extend_from_slice(&rest[..at]);
        let byte = match &rest[at + 1..] {
            [b'2', b'5', a, b, ..] if a.is_ascii_hexdigit() && b.is_ascii_hexdigit() => b'%',
            [b'5', b'B' | b'b', ..] => b'[',
            [b'5', b'D' | b'd', ..] => b']',
            [b'2', b'7', ..] => b'\'',
            [b'7', b'E' | b'e', ..] => b'~',
            _ => {
                out.push(b'%');
                rest = &rest[at + 1..];
                continue;
            }
        };
        out.push(byte);
        rest = &rest[at + 3..];
    }
    out.extend_from_slice(rest);
    out.into()
}

/// Appends the links of the entries of `log`, the first of which have this `layout`, line by line.
///
/// Lines that are not entries are searched as text unless fields were selected, and so are entries
/// whose layout is unknown.
pub(crate) fn lines(log: &Log<'_>, mut layout: Layout, links: &mut Links) {
    let content = log.text.content();
    let (mut cells, mut start) = (Vec::new(), 0);
    while start < content.len() && !links.is_full(start) {
        let end = memchr::memchr(b'\n', &content[start..]).map_or(content.len(), |at| start + at);
        let line = &content[start..end];
        let span = Span { start: start as u32, end: end as u32 };
        start = end + 1;
        if let Some(next) = layout.with_directive(line) {
            layout = next;
        } else if is_remark(line) {
            log.take_other(span, links);
        } else if layout.count == 0 {
            links.omitted.unnamed += 1;
            if log.has_others() {
                log.take_text(span, links);
            }
        } else if let Some(entry) = layout.entry(line, &mut cells) {
            log.take_entry(span, entry, || layout.request(line, &cells), links, |_| ());
        } else {
            log.take_other(span, links);
        }
    }
}

/// Whether a source that begins with `head` is such a log: a directive names its fields, or it was
/// cut and half of its lines begin with a date and a time, and have a method before a path.
pub(crate) fn is_w3c(head: &[u8]) -> bool {
    let lines = || sniff::lines(head).map(|line| line.strip_suffix(b"\n").unwrap_or(line));
    lines().filter_map(Layout::of_directive).any(|layout| layout.has_links())
        || is_log(head, is_row)
}

/// Whether `line` looks like an entry, whatever its layout.
fn is_row(line: &[u8]) -> bool {
    let is_like = |(byte, like): (&u8, &u8)| match like {
        b'0' => byte.is_ascii_digit(),
        b' ' => matches!(byte, b' ' | b'\t'),
        like => byte == like,
    };
    const TIME: &[u8] = b"0000-00-00 00:00:00";
    if line.len() < TIME.len() || !line.iter().zip(TIME).all(is_like) {
        return false;
    }
    let mut cells = Vec::new();
    split(line, &mut cells);
    let cell = |range: &Range<u32>| &line[range.start as usize..range.end as usize];
    let is_request = |pair: [&[u8]; 2]| METHODS.contains(&pair[0]) && pair[1].starts_with(b"/");
    // A host may stand between the two.
    cells.len() >= 8
        && cells.windows(3).any(|three| {
            let [a, b, c] = [cell(&three[0]), cell(&three[1]), cell(&three[2])];
            is_request([a, b]) || is_request([a, c])
        })
}

/// Methods of requests.
const METHODS: [&[u8]; 8] =
    [b"GET", b"HEAD", b"POST", b"PUT", b"DELETE", b"OPTIONS", b"PATCH", b"PROPFIND"];

#[cfg(test)]
mod tests {
    use super::*;

    fn cells(line: &str) -> Vec<&str> {
        let mut found = Vec::new();
        split(line.as_bytes(), &mut found);
        found.iter().map(|cell| &line[cell.start as usize..cell.end as usize]).collect()
    }

    #[test]
    fn fields_are_between_tabs_or_white_space() {
        assert_eq!(cells("a b  c \r"), ["a", "b", "c"]);
        assert_eq!(cells("a\tb c\t\t\r"), ["a", "b c", "", ""]);
        assert_eq!(cells(r#""a b" c "d ""e""" f""#), ["a b", "c", r#"d ""e"""#, "f\""]);
        assert_eq!(cells(r#""a b"c "d"#), ["\"a", "b\"c", "\"d"]);
        assert_eq!(cells(r#""" "#), [""]);
        assert_eq!(without_doubled_quotes(br#"d ""e"""#), br#"d "e""#);
        assert_eq!(without_doubled_quotes(br#""""""#), br#""""#);
    }

    #[test]
    fn cloudfront_encodes_once_more() {
        for (raw, plain) in [
            ("/a%2520b", "/a%20b"),
            ("/a%20b", "/a%20b"),
            ("/100%25", "/100%25"),
            ("/a%252Fb%2Fc", "/a%2Fb%2Fc"),
            ("a%5B%5D=%255B%7e%27%", "a[]=%5B~'%"),
            ("%2525", "%25"),
            ("%2525252", "%25252"),
            ("%25%32", "%25%32"),
        ] {
            let found = decoded(raw.as_bytes());
            assert_eq!(String::from_utf8_lossy(&found), plain, "{raw}");
        }
    }

    #[test]
    fn the_last_directive_applies_to_what_follows() {
        let of = |line: &str| Layout::of_directive(line.as_bytes()).unwrap();
        let first = of("#Fields: cs-uri-stem x");
        let second = of("#fields: x cs-uri-stem");
        assert_ne!(first, second);
        for (text, expected) in [
            ("/a 1\n", first),
            ("#Fields: x cs-uri-stem", second),
            ("/a 1\n#Fields: x cs-uri-stem\n1 /b#c\n# d\n#", second),
            ("#Fields: x cs-uri-stem\n#Fields: cs-uri-stem x\n", first),
            ("/a #Fields: x cs-uri-stem\n", first),
        ] {
            assert_eq!(first.after(text.as_bytes()), expected, "{text}");
        }
        assert!(Layout::of_directive(b"#Field: cs-uri-stem").is_none());
        // The fields and the day are named apart.
        let day = |text: &str| first.after(text.as_bytes()).date.map(|date| date.to_vec());
        for (text, expected) in [
            ("#Date: 2026-03-01 10:00:00\n/a 1\n", Some("2026-03-01")),
            ("#date:2026-03-01\n#Fields: x cs-uri-stem\n", Some("2026-03-01")),
            ("#Fields: x\n#Date: 2026-03-01\n#Date: 2026-03-02\n", Some("2026-03-02")),
            ("#Date: today\n", None),
            ("#Date: 2026-03-0\n", None),
            ("x #Date: 2026-03-01\n", None),
        ] {
            assert_eq!(day(text), expected.map(|day| day.as_bytes().to_vec()), "{text}");
        }
        assert_eq!(first.after(b"#Date: 2026-03-01\n").count, first.count);
        assert_eq!(first.after(b"#Date: 2026-03-01\n#Fields: a b c\n").count, 3);
        assert_eq!(first.after(b"#Fields: a b c\n#Date: 2026-03-01\n").count, 3);
    }
}
