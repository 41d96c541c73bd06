//! Entries of logs whose lines are JSON objects: a table names the members that hold the parts of a request.

use core::ops::Range;
use std::collections::HashMap;
use std::sync::LazyLock;

use super::json::{is_name, string_end};
use super::log_fields::{Escapes, Fields, Found, Value, is_target};
use super::log_pattern::{Names, VARIABLES};

/// A program that writes such logs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writer {
    Envoy,
    Traefik,
    Caddy,
    Cloudflare,
    Nginx,
}

/// The members that matter for each [`Writer`], by their path; of several for one value, the best come first.
static MEMBERS: [&[&[Names]]; 5] =
    [&[ENVOY], &[TRAEFIK], &[CADDY], &[CLOUDFLARE], &[&VARIABLES, NGINX]];

const CADDY: &[Names] = &[
    (Value::Host, "request.host"),
    (Value::Target, "request.uri"),
    (Value::Forwarded, "request.headers.X-Forwarded-Proto"),
    (Value::Tls, "request.tls"),
    (Value::Referer, "request.headers.Referer"),
    (Value::Agent, "request.headers.User-Agent"),
    (Value::Method, "request.method"),
    (Value::Status, "status"),
    (Value::Time, "ts time timestamp"),
];

const TRAEFIK: &[Names] = &[
    (Value::Host, "RequestAddr RequestHost"),
    (Value::Port, "RequestPort"),
    (Value::Target, "RequestPath"),
    (Value::Forwarded, "request_X-Forwarded-Proto"),
    (Value::Scheme, "RequestScheme"),
    (Value::Tls, "TLSVersion"),
    (Value::Referer, "request_Referer"),
    (Value::Agent, "request_User-Agent"),
    (Value::Method, "RequestMethod"),
    (Value::Status, "DownstreamStatus"),
    (Value::Time, "StartUTC time"),
];

const CLOUDFLARE: &[Names] = &[
    (Value::Host, "ClientRequestHost"),
    (Value::Target, "ClientRequestURI ClientRequestPath"),
    (Value::Query, "ClientRequestQuery"),
    (Value::Scheme, "ClientRequestScheme"),
    (Value::Tls, "ClientSSLProtocol"),
    (Value::Referer, "ClientRequestReferer"),
    (Value::Agent, "ClientRequestUserAgent"),
    (Value::Method, "ClientRequestMethod"),
    (Value::Status, "EdgeResponseStatus"),
    (Value::Time, "EdgeStartTimestamp EdgeEndTimestamp Datetime"),
];

/// The names of the formatters in the documents of Envoy and Istio, in the usual spellings.
const ENVOY: &[Names] = &[
    (Value::Host, ":authority authority"),
    (Value::Target, "x_envoy_original_path x-envoy-original-path :path path"),
    (Value::Forwarded, "x_forwarded_proto x-forwarded-proto"),
    (Value::Scheme, ":scheme scheme"),
    (Value::Tls, "downstream_tls_version"),
    (Value::Referer, "referer referrer"),
    (Value::Agent, "user_agent user-agent"),
    (Value::Method, ":method method"),
    (Value::Status, "response_code"),
    (Value::Time, "start_time @timestamp timestamp time"),
];

/// Usual names besides those of the variables of nginx.
const NGINX: &[Names] = &[
    (Value::Referer, "http_referrer referer referrer"),
    (Value::Agent, "user_agent agent"),
    (Value::Method, "method"),
    (Value::Time, "@timestamp timestamp time ts"),
];

/// A member that matters to a writer.
struct Member {
    writer: usize,
    path: &'static str,
    /// Less for those that are better.
    rank: usize,
    value: Value,
}

/// All of them, by the last name of their paths.
static BY_NAME: LazyLock<HashMap<&'static [u8], Vec<Member>>> = LazyLock::new(|| {
    let mut found: HashMap<&[u8], Vec<Member>> = HashMap::new();
    for (writer, tables) in MEMBERS.iter().enumerate() {
        let kept =
            tables.iter().flat_map(|table| table.iter()).filter(|(value, _)| is_kept(*value));
        let all = kept.flat_map(|&(value, paths)| paths.split(' ').map(move |path| (path, value)));
        for (rank, (path, value)) in all.enumerate() {
            let last = path.rsplit('.').next().unwrap_or(path);
            found.entry(last.as_bytes()).or_default().push(Member { writer, path, rank, value });
        }
    }
    found
});

/// Whether [`Found`] has a field for `value`.
fn is_kept(value: Value) -> bool {
    (value as usize) < Value::Other as usize
}

/// The members in which programs that collect logs keep the line that was written.
const WRAPPERS: [&str; 4] = ["log", "message", "MESSAGE", "msg"];

/// The number of names in the longest path.
const DEEPEST: usize = 3;

/// The value of a member.
pub(super) enum Raw {
    /// A string, without its quotes.
    Text(Range<usize>),
    /// A number or a literal name.
    Scalar(Range<usize>),
    Object,
}

/// Whether `line` is an object from its first to its last byte.
fn is_object(line: &[u8]) -> bool {
    let line = line.trim_ascii();
    // It may be an element of an array.
    let line = line.strip_suffix(b",").unwrap_or(line);
    line.starts_with(b"{") && line.ends_with(b"}")
}

/// The length of the object that `line` begins with and of what separates it from another one; `None` if none follows.
pub(crate) fn before_another(line: &[u8]) -> Option<usize> {
    let mut at = line.len() - line.trim_ascii_start().len();
    if line.get(at) != Some(&b'{') {
        return None;
    }
    let mut depth = 0usize;
    loop {
        at += memchr::memchr3(b'"', b'{', b'}', line.get(at..)?)?;
        match line[at] {
            b'"' => at = string_end(line, at + 1).0,
            b'{' => depth += 1,
            _ => depth -= 1,
        }
        at += 1;
        if depth == 0 {
            let rest = line.get(at..)?;
            let next = rest.iter().position(|byte| !b", \t\r".contains(byte))?;
            return (rest[next] == b'{').then_some(at + next);
        }
    }
}

/// The length of what precedes an object at the end of `line`: `<13>Oct 11 22:14:15 host app: ` of syslog, or `name  | ` of
/// Docker Compose. `None` if nothing does, or there is no object.
pub(crate) fn after_prefix(line: &[u8]) -> Option<usize> {
    let end = line.trim_ascii_end();
    let at = memchr::memchr(b'{', end.strip_suffix(b"}")?)?;
    let before = line[..at].strip_suffix(b" ")?;
    (before.ends_with(b":") || before.ends_with(b"|")).then_some(at)
}

/// An object, with the fields that it has for each writer.
pub(crate) struct Object {
    found: [Found; MEMBERS.len()],
}

impl Object {
    /// The object `line`; `None` if it is not one.
    pub(crate) fn read(line: &[u8]) -> Option<Object> {
        const NONE: [usize; Value::Other as usize] = [usize::MAX; Value::Other as usize];
        let mut found: [Found; MEMBERS.len()] = Default::default();
        let mut ranks = [NONE; MEMBERS.len()];
        walk(line, |path, raw| {
            let Some(members) = path.last().and_then(|last| BY_NAME.get(last)) else { return };
            for member in members.iter().filter(|member| is_path(member.path, path)) {
                let range = match &raw {
                    Raw::Text(range) | Raw::Scalar(range) => range.clone(),
                    Raw::Object if member.value == Value::Tls => 0..1,
                    Raw::Object => continue,
                };
                let is_value = !matches!(&line[range.clone()], b"" | b"-" | b"null");
                let rank = &mut ranks[member.writer][member.value as usize];
                if is_value && member.rank < *rank {
                    *rank = member.rank;
                    found[member.writer][member.value as usize] = Some(range);
                }
            }
        })?;
        Some(Object { found })
    }

    /// The fields of the object, `line`, if it is an entry of `writer`. It must have a target and a status or a method, and
    /// unless `is_certain`, a host or the whole request.
    pub(crate) fn entry(
        &self,
        line: &[u8],
        writer: Writer,
        is_certain: bool,
    ) -> Option<(Fields, &Found)> {
        let found = &self.found[writer as usize];
        let has = |value: Value| found[value as usize].is_some();
        let is_reported = || has(Value::Status) || has(Value::Method);
        let is_entry = has(Value::Request)
            || has(Value::Target) && is_reported() && (is_certain || has(Value::Host));
        if !is_entry {
            return None;
        }
        let fields = Fields::of_values(line, found);
        let is_like = |at: &Range<usize>| is_target(&Escapes::Json.undone(&line[at.clone()]));
        fields.target.as_ref().is_some_and(is_like).then_some((fields, found))
    }
}

/// Whether the names of `path` are those of `name`, which are separated by dots.
fn is_path(name: &str, path: &[&[u8]]) -> bool {
    let Some((last, outer)) = path.split_last() else { return false };
    let name = name.as_bytes();
    let Some(before) = name.strip_suffix(*last) else { return false };
    match before {
        [] => outer.is_empty(),
        [before @ .., b'.'] => before.split(|&byte| byte == b'.').eq(outer.iter().copied()),
        _ => false,
    }
}

/// The range of the line that a program that collects logs kept in `line`, as it is written there.
pub(crate) fn wrapped(line: &[u8]) -> Option<Range<usize>> {
    let mut found = None;
    walk(line, |path, raw| {
        if let ([name], Raw::Text(range)) = (path, raw)
            && found.is_none()
            && WRAPPERS.iter().any(|known| known.as_bytes() == *name)
        {
            found = Some(range);
        }
    })?;
    found
}

/// Calls `visit` with the path and the value of each member of the object `line`; a value in an array is one of the member
/// that has the array. `None` if the line is not an object, or a string in it does not end.
pub(super) fn walk<'t>(line: &'t [u8], mut visit: impl FnMut(&[&'t [u8]], Raw)) -> Option<()> {
    if !is_object(line) {
        return None;
    }
    let (mut names, mut depth, mut at) = ([&b""[..]; DEEPEST], 0usize, 0);
    while let Some(&byte) = line.get(at) {
        let is_seen = (1..=DEEPEST).contains(&depth);
        let start = at;
        at += 1;
        match byte {
            b'"' => {
                let end = string_end(line, at).0;
                if end >= line.len() {
                    return None;
                }
                if is_seen && is_name(line, end + 1) {
                    names[depth - 1] = &line[at..end];
                } else if is_seen {
                    visit(&names[..depth], Raw::Text(at..end));
                }
                at = end + 1;
            }
            b'{' => {
                if is_seen {
                    visit(&names[..depth], Raw::Object);
                }
                depth += 1;
                if depth <= DEEPEST {
                    names[depth - 1] = b"";
                }
            }
            b'}' => depth = depth.saturating_sub(1),
            b'0'..=b'9' | b'-' | b'a'..=b'z' => {
                let is_end = |byte: &u8| b",]} \t\r".contains(byte);
                let len = line[at..].iter().position(is_end).unwrap_or(line.len() - at);
                at += len;
                if is_seen {
                    visit(&names[..depth], Raw::Scalar(start..at));
                }
            }
            _ => {}
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_found_by_their_path() {
        let line =
            br#"{"a":"1","b":{"c":["2",{"d":3}],"e":{"f":{"g":"no"}}},"h":null,"i":{},"j":-4.5}"#;
        let mut found = Vec::new();
        walk(line, |path, raw| {
            let path: Vec<_> = path.iter().map(|name| String::from_utf8_lossy(name)).collect();
            let value = match raw {
                Raw::Text(range) | Raw::Scalar(range) => String::from_utf8_lossy(&line[range]),
                Raw::Object => "{".into(),
            };
            found.push(format!("{}={value}", path.join(".")));
        });
        let expected = [
            "a=1", "b={", "b.c=2", "b.c={", "b.c.d=3", "b.e={", "b.e.f={", "h=null", "i={",
            "j=-4.5",
        ];
        assert_eq!(found, expected);
        for open in ["", "[]", "{\"a\":1", "{\"a\":\"x}", "x {}"] {
            assert!(walk(open.as_bytes(), |_, _| ()).is_none(), "{open}");
        }
    }

    #[test]
    fn objects_on_a_line_are_parted() {
        for (line, expected) in [
            (r#"{"a":"}{"}{"b":1}"#, Some(10)),
            (r#" {"a":{}} , {"b":1}"#, Some(12)),
            (r#"{"a":1}"#, None),
            (r#"{"a":1},"#, None),
            (r#"{"a":1} x {"#, None),
            (r#"{"a":"\"}{"}"#, None),
            (r#"{"a":{"#, None),
            (r#"{"a"#, None),
            ("x {}{}", None),
            ("}{", None),
            ("", None),
        ] {
            assert_eq!(before_another(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn an_object_may_follow_a_colon_or_a_bar() {
        for (line, expected) in [
            (r#"<13>Oct 11 22:14:15 host app: {"a":1}"#, Some(30)),
            ("web-1  | {}\r", Some(9)),
            ("host app[1]: {\"a\":{}}", Some(13)),
            ("{\"a\": {}}", None),
            (": {", None),
            (":{}", None),
            (" {}", None),
            ("x {}", None),
            (": {} x", None),
            ("}", None),
            ("", None),
        ] {
            assert_eq!(after_prefix(line.as_bytes()), expected, "{line}");
        }
    }

    #[test]
    fn a_path_is_the_names_from_the_outermost_object() {
        assert!(is_path("a", &[b"a"]) && is_path("a.b", &[b"a", b"b"]));
        for path in
            [&[&b"b"[..]][..], &[b"a"], &[b"x", b"b"], &[b"x", b"a", b"b"], &[b"a.b", b""], &[]]
        {
            assert!(!is_path("a.b", path), "{path:?}");
        }
    }
}
