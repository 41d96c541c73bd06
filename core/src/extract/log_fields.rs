//! Where the fields of an entry are in its line.

use core::ops::Range;
use std::borrow::Cow;

use super::json;
use super::log::{Entry, Field, Origin, is_scheme};
use super::reference::scheme;
use super::request::Request;

/// The content of a field of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// `METHOD target HTTP/1.1`.
    Request,
    /// The path, with or without the query.
    Target,
    /// A path and `$is_args$args`: without a query, nginx writes `-` for the latter.
    Joined,
    /// The query, with or without its `?`.
    Query,
    Host,
    /// The port of that host.
    Port,
    /// A port that is not a part of the URL, but may show its scheme.
    ServerPort,
    Scheme,
    /// A sign of TLS, such as its version; `-`, `off` or nothing without.
    Tls,
    /// The scheme that a proxy forwards.
    Forwarded,
    Referer,
    Agent,
    Method,
    Status,
    Time,
    /// No links.
    Other,
    /// `$is_args`: a `?` or nothing. This and the next two only occur while a pattern is read.
    Mark,
    /// A target and `$is_args`.
    Marked,
    /// A query with its `?`.
    MarkedQuery,
}

/// The ranges of the fields of an entry in its line: for each [`Value`] except [`Value::Other`], the first field with it that
/// is not empty.
pub(crate) type Found = [Option<Range<usize>>; Value::Other as usize];

/// The values that are searched for links of their own.
pub(crate) const SEARCHED: [Value; 5] =
    [Value::Request, Value::Target, Value::Joined, Value::Referer, Value::Agent];

/// How what a URI cannot hold is written in a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Escapes {
    /// Not at all, as is known of this line.
    None,
    /// As `\xhh`, `\"` and `\\`.
    Bytes,
    Json,
}

/// The ranges of the fields that may hold links, without their quotes.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Fields {
    pub(crate) target: Option<Range<usize>>,
    /// The query, if the target does not have it.
    pub(crate) query: Option<Range<usize>>,
    pub(crate) scheme: Option<Range<usize>>,
    pub(crate) host: Option<Range<usize>>,
    pub(crate) port: Option<Range<usize>>,
    /// Whether the port of the server is that of `https`.
    pub(crate) is_tls: bool,
    pub(crate) referer: Option<Range<usize>>,
    pub(crate) agent: Option<Range<usize>>,
}

impl Fields {
    /// Those of `line`, in which `found` are.
    pub(crate) fn of_values(line: &[u8], found: &Found) -> Fields {
        let of = |value: Value| found[value as usize].clone();
        let request = of(Value::Request).and_then(|at| target(line, (at.start, at.end)));
        let is_dash = |at: &Range<usize>| {
            line[at.clone()].ends_with(b"-") && memchr::memchr(b'?', &line[at.clone()]).is_none()
        };
        let joined = of(Value::Joined).map(|at| at.start..at.end - usize::from(is_dash(&at)));
        let mut schemes = [of(Value::Forwarded), of(Value::Scheme)].into_iter().flatten();
        Fields {
            target: request.or(joined).or_else(|| of(Value::Target)),
            query: of(Value::Query),
            scheme: schemes.find(|at| is_scheme(&line[at.clone()])),
            host: of(Value::Host),
            port: of(Value::Port),
            is_tls: of(Value::ServerPort).is_some_and(|at| line[at] == *b"443")
                || of(Value::Tls).is_some_and(|at| is_tls(&line[at])),
            referer: of(Value::Referer),
            agent: of(Value::Agent),
        }
    }

    /// Whether these fields of `line`, in which `found` are, look like those of a request: a line that is not an entry may have
    /// the form of one.
    pub(crate) fn is_request(&self, line: &[u8], found: &Found) -> bool {
        let of = |value: Value| found[value as usize].clone();
        let is_status = |text: &[u8]| {
            let digits = text.strip_prefix(b"-").unwrap_or(text);
            digits.len() <= 3 && digits.iter().all(u8::is_ascii_digit)
        };
        let is_method = |text: &[u8]| {
            text.iter().all(|&byte| byte.is_ascii_uppercase() || b"-_".contains(&byte))
        };
        let request = of(Value::Request).map(|at| &line[at]);
        let first = request.and_then(|request| request.split(|&byte| byte == b' ').next());
        let method = of(Value::Method).map(|at| &line[at]).or(first);
        of(Value::Status).is_some_and(|at| is_status(&line[at]))
            && method.is_some_and(is_method)
            && self.target.clone().is_some_and(|at| is_target(&line[at]))
    }

    /// The entry of these fields of `line`.
    pub(crate) fn entry(self, line: &[u8], escapes: Escapes) -> Entry<'_> {
        let escaped = |at: Range<usize>| Field { text: escapes.undone(&line[at.clone()]), at };
        let plain = |at: Range<usize>| Field { text: (&line[at.clone()]).into(), at };
        let bytes = |at: Option<Range<usize>>| at.map(|at| &line[at]);
        let tls = self.is_tls.then_some(&b"https"[..]);
        let query = bytes(self.query).filter(|query| !matches!(*query, b"" | b"-" | b"?"));
        let mut target = self.target.map(escaped);
        if let (Some(target), Some(query)) = (&mut target, query)
            && memchr::memchr(b'?', &target.text).is_none()
        {
            let query = escapes.undone(query.strip_prefix(b"?").unwrap_or(query));
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
            agent: match escapes {
                Escapes::None | Escapes::Bytes => self.agent.map(plain),
                Escapes::Json => self.agent.map(escaped),
            },
        }
    }
}

/// The ranges of the status, method and time of an entry in its line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Facts {
    pub(crate) status: Option<Range<usize>>,
    /// That of the method, or of the whole request.
    pub(crate) method: Option<Range<usize>>,
    pub(crate) time: Option<Range<usize>>,
}

impl Facts {
    /// Those among `found`.
    pub(crate) fn of_values(found: &Found) -> Facts {
        let of = |value: Value| found[value as usize].clone();
        let method = of(Value::Method).or_else(|| of(Value::Request));
        Facts { status: of(Value::Status), method, time: of(Value::Time) }
    }

    /// What these fields of `line` say.
    pub(crate) fn request<'t>(&self, line: &'t [u8], escapes: Escapes) -> Request<'t> {
        let of = |at: &Option<Range<usize>>| at.clone().map(|at| &line[at]);
        let time = of(&self.time).map(|text| escapes.undone(text));
        Request::of(of(&self.status), of(&self.method), time.as_deref())
    }
}

/// Whether `text` is in one of the forms of the target of a request (RFC 9112 section 3.2).
pub(crate) fn is_target(text: &[u8]) -> bool {
    let is_absolute =
        || scheme(text).is_some_and(|scheme| text[scheme.len()..].starts_with(b"://"));
    text.starts_with(b"/")
        || is_absolute()
        || !text.is_empty() && !text.iter().any(|&byte| byte == b'/' || byte.is_ascii_whitespace())
}

/// Whether `text` shows that a connection has TLS.
fn is_tls(text: &[u8]) -> bool {
    !matches!(text, b"" | b"0" | b"off" | b"false" | b"null") && text[0] != b'-'
}

impl Escapes {
    /// `field` without its escapes.
    pub(crate) fn undone(self, field: &[u8]) -> Cow<'_, [u8]> {
        match self {
            Escapes::None => field.into(),
            Escapes::Bytes => unescaped(field),
            Escapes::Json if memchr::memchr(b'\\', field).is_none() => field.into(),
            Escapes::Json => json::decoded(field),
        }
    }
}

/// The range of the target in the request `METHOD target HTTP/1.1`.
pub(crate) fn target(line: &[u8], (start, end): (usize, usize)) -> Option<Range<usize>> {
    let from = start + memchr::memchr(b' ', &line[start..end])? + 1;
    let mut to = memchr::memrchr(b' ', &line[from..end]).map_or(end, |at| from + at);
    // A load balancer of Amazon writes `- http://h:80- -` for a request that it cannot read.
    if line[start] == b'-' && line[from..to].ends_with(b"-") && to - from > 1 {
        to -= 1;
    }
    (from < to).then_some(from..to)
}

/// `field` with `\xhh`, `\"` and `\\` unescaped.
fn unescaped(field: &[u8]) -> Cow<'_, [u8]> {
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

/// The end of the quoted field that begins at `from`; quotes in it are escaped with a backslash.
pub(crate) fn quote_end(line: &[u8], mut from: usize) -> Option<usize> {
    loop {
        from += memchr::memchr2(b'"', b'\\', line.get(from..)?)?;
        if line[from] == b'"' {
            return Some(from);
        }
        from += 2;
    }
}
