//! Access logs in a custom format, given by a pattern in the syntax of nginx (`log_format`) or
//! Apache (`LogFormat`).

use core::ops::Range;

use super::log::is_host;
use crate::grammar::class::{ALPHA, DIGIT};

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
    /// The scheme that a proxy forwards.
    Forwarded,
    Referer,
    Agent,
    /// No links.
    Other,
    /// `$is_args`: a `?` or nothing. This and the next two only occur while a pattern is read.
    Mark,
    /// A target and `$is_args`.
    Marked,
    /// A query with its `?`.
    MarkedQuery,
}

impl Value {
    /// The value of this one and `next`, between which nothing stands; `None` if the boundary between them cannot be found.
    fn with(self, next: Value) -> Option<Value> {
        Some(match (self, next) {
            (Value::Other, Value::Other) => Value::Other,
            (Value::Target, Value::Mark) => Value::Marked,
            (Value::Marked, Value::Query) => Value::Joined,
            (Value::Mark, Value::Query) => Value::Query,
            (Value::Target, Value::MarkedQuery) => Value::Target,
            _ => return None,
        })
    }

    /// Whether a target that begins with a slash shows where this ends.
    fn ends_at_slash(self) -> bool {
        matches!(self, Value::Host | Value::Port | Value::Scheme | Value::Forwarded | Value::Other)
    }

    /// The value when the whole pattern is read.
    fn whole(self) -> Value {
        match self {
            Value::Mark => Value::Other,
            Value::Marked => Value::Target,
            Value::MarkedQuery => Value::Query,
            value => value,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(Vec<u8>),
    /// Several if nothing stands between them: each is followed by a target, and ends at its slash.
    Values(Vec<Value>),
}

/// A pattern of the lines of an access log.
///
/// `$name` and `${name}` are variables of nginx, `%h`, `%>s` and `%{Name}i` those of Apache, and
/// all other text is literal; `\"` is a quote and `%%` a percent sign. A variable extends to the
/// first occurrence of the literal after it; inside quotes, to the first quote without a backslash
/// before it. Of variables without a literal between them, `$host$request_uri` ends at the first slash,
/// and `%U%q` and `$uri$is_args$args` are a path with its query.
///
/// ```
/// use uriscan::extract::LogFormat;
/// assert!(LogFormat::new(r#"$remote_addr [$time_local] "$request" $status "$http_referer""#).is_ok());
/// assert!(LogFormat::new(r#"%h %l %u %t \"%r\" %>s %b \"%{Referer}i\""#).is_ok());
/// assert_eq!(LogFormat::new("no variables").unwrap_err(), "it names no request, path or referrer");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogFormat {
    parts: Vec<Part>,
}

/// The ranges of the fields of an entry in its line: for each [`Value`] except [`Value::Other`],
/// the first field with it that is not empty.
pub(crate) type Fields = [Option<Range<usize>>; Value::Other as usize];

impl LogFormat {
    /// Parses the pattern `typed`.
    ///
    /// # Errors
    /// A sentence if it is invalid or has no field that may hold a link.
    pub fn new(typed: &str) -> Result<LogFormat, String> {
        let mut parts: Vec<Part> = Vec::new();
        let (mut before, mut rest) = (&b""[..], typed.as_bytes());
        while let Some((part, tail)) = next_part(rest)? {
            let typed = &rest[..rest.len() - tail.len()];
            match (parts.last_mut(), part) {
                (Some(Part::Literal(text)), Part::Literal(more)) => text.extend(more),
                (Some(Part::Values(values)), Part::Values(next)) => {
                    push(values, next[0]).ok_or_else(|| {
                        let [a, b] = [before, typed].map(String::from_utf8_lossy);
                        format!("nothing separates {a} from {b}, so where {a} ends is unknown")
                    })?;
                }
                (_, part) => parts.push(part),
            }
            (before, rest) = (typed, tail);
        }
        for i in 0..parts.len() {
            let is_of_host = i > 1
                && parts[i - 1] == Part::Literal(b":".to_vec())
                && matches!(&parts[i - 2], Part::Values(values) if values.last() == Some(&Value::Host));
            if let Part::Values(values) = &mut parts[i] {
                values.iter_mut().for_each(|value| *value = value.whole());
                if values[0] == Value::Port && !is_of_host {
                    values[0] = Value::ServerPort;
                }
            }
        }
        let is_link = |value: &Value| {
            let links =
                [Value::Request, Value::Target, Value::Joined, Value::Referer, Value::Agent];
            links.contains(value)
        };
        if !parts.iter().any(|part| matches!(part, Part::Values(all) if all.iter().any(is_link))) {
            return Err("it names no request, path or referrer".to_owned());
        }
        Ok(LogFormat { parts })
    }

    /// The fields of `line`, or `None` if it is not such an entry.
    pub(crate) fn fields(&self, line: &[u8]) -> Option<Fields> {
        let mut fields = Fields::default();
        let (mut at, mut is_quoted) = (0, false);
        for (i, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(text) => {
                    at += line.get(at..)?.starts_with(text).then_some(text.len())?;
                    is_quoted = text.ends_with(b"\"");
                }
                Part::Values(values) => {
                    let end = match self.parts.get(i + 1) {
                        Some(Part::Literal(next)) if is_quoted && next[0] == b'"' => {
                            quote_end(line, at)?
                        }
                        Some(Part::Literal(next)) => {
                            let from = at + bracketed(values[0], &line[at..]);
                            from + memchr::memmem::find(&line[from..], next)?
                        }
                        _ => line.len(),
                    };
                    set(values, line, at..end, &mut fields)?;
                    at = end;
                }
            }
        }
        (at == line.len()).then_some(fields)
    }
}

/// Adds `next` to the values before it; `None` if where those end cannot be found.
fn push(values: &mut Vec<Value>, next: Value) -> Option<()> {
    let last = values.last_mut()?;
    if next == Value::Target && last.ends_at_slash() {
        values.push(next);
    } else {
        *last = last.with(next)?;
    }
    Some(())
}

/// Sets the fields for `values`, which are in `range` of `line`.
fn set(values: &[Value], line: &[u8], range: Range<usize>, fields: &mut Fields) -> Option<()> {
    let mut at = range.start;
    for (i, &value) in values.iter().enumerate() {
        let text = &line[at..range.end];
        let end = match values.get(i + 1).and_then(|_| memchr::memchr(b'/', text)) {
            // In absolute-form; where it begins is unknown.
            Some(slash) if text[..slash].ends_with(b":") && text[slash..].starts_with(b"//") => {
                return None;
            }
            Some(slash) => at + slash,
            None => range.end,
        };
        if let Some(field) = fields.get_mut(value as usize) {
            // Of several, the first that is there.
            let is_set = field.clone().is_some_and(|at| match value {
                Value::Host => is_host(&line[at]),
                _ => !matches!(&line[at], b"" | b"-"),
            });
            if !is_set {
                *field = Some(at..end);
            }
        }
        at = end;
    }
    Some(())
}

/// The length of what is in brackets at the start of `text`: a time, which is a field of another kind
/// and holds spaces, or an IPv6 address, which holds colons.
fn bracketed(value: Value, text: &[u8]) -> usize {
    if !matches!(value, Value::Other | Value::Host) || !text.starts_with(b"[") {
        return 0;
    }
    memchr::memchr(b']', text).map_or(0, |at| at + 1)
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

type Next<'t> = Option<(Part, &'t [u8])>;

/// The first part of `rest`, and the text after it.
fn next_part(rest: &[u8]) -> Result<Next<'_>, String> {
    let literal = |byte: u8, tail| Ok(Some((Part::Literal(vec![byte]), tail)));
    match rest {
        [] => Ok(None),
        [b'\\', byte @ (b'"' | b'\'' | b'\\' | b'$' | b'%'), tail @ ..] => literal(*byte, tail),
        [b'\\', b't', tail @ ..] => literal(b'\t', tail),
        [b'%', b'%', tail @ ..] => literal(b'%', tail),
        [b'$', b'{', tail @ ..] => {
            let end = memchr::memchr(b'}', tail).ok_or("a ${ has no }")?;
            Ok(Some((Part::Values(vec![of_nginx(&tail[..end])]), &tail[end + 1..])))
        }
        [b'$', tail @ ..] => {
            let is_name = |byte: &u8| ALPHA.has(*byte) || DIGIT.has(*byte) || *byte == b'_';
            let end = tail.iter().position(|byte| !is_name(byte)).unwrap_or(tail.len());
            if end == 0 {
                return Err("a $ is not followed by a name".to_owned());
            }
            Ok(Some((Part::Values(vec![of_nginx(&tail[..end])]), &tail[end..])))
        }
        [b'%', tail @ ..] => directive(tail).map(Some),
        [byte, tail @ ..] => literal(*byte, tail),
    }
}

/// The variable of nginx with this `name`.
fn of_nginx(name: &[u8]) -> Value {
    match name {
        b"request" => Value::Request,
        b"request_uri" | b"uri" | b"document_uri" => Value::Target,
        b"args" | b"query_string" => Value::Query,
        b"is_args" => Value::Mark,
        b"host" | b"http_host" | b"server_name" => Value::Host,
        b"server_port" => Value::Port,
        b"scheme" => Value::Scheme,
        b"http_x_forwarded_proto" => Value::Forwarded,
        b"http_referer" => Value::Referer,
        b"http_user_agent" => Value::Agent,
        _ => Value::Other,
    }
}

/// The directive of Apache after a `%`, and the text after it.
fn directive(text: &[u8]) -> Result<(Part, &[u8]), String> {
    // Modifiers: which request is meant, and for which statuses it is logged.
    let skipped = text.iter().take_while(|&&byte| b"<>!,0123456789".contains(&byte)).count();
    let mut rest = &text[skipped..];
    let mut argument = &b""[..];
    if let [b'{', tail @ ..] = rest {
        let end = memchr::memchr(b'}', tail).ok_or("a %{ has no }")?;
        (argument, rest) = (&tail[..end], &tail[end + 1..]);
    }
    let is = |name: &[u8]| argument.eq_ignore_ascii_case(name);
    let (&letter, tail) = rest.split_first().ok_or("a % is not followed by a letter")?;
    let value = match letter {
        b'r' => Value::Request,
        b'U' => Value::Target,
        b'q' => Value::MarkedQuery,
        b'v' | b'V' => Value::Host,
        // That of the client is not a part of the URL.
        b'p' if !is(b"remote") => Value::Port,
        b'i' if is(b"x-forwarded-proto") => Value::Forwarded,
        b'i' if is(b"host") => Value::Host,
        b'i' if is(b"referer") => Value::Referer,
        b'i' if is(b"user-agent") => Value::Agent,
        // `%^ti` and the like.
        b'^' => return Ok((Part::Values(vec![Value::Other]), tail.get(2..).unwrap_or_default())),
        letter if ALPHA.has(letter) => Value::Other,
        _ => return Err("a % is not followed by a letter".to_owned()),
    };
    Ok((Part::Values(vec![value]), tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(format: &str, line: &str) -> Option<Vec<(Value, String)>> {
        let all = [
            Value::Request,
            Value::Target,
            Value::Joined,
            Value::Query,
            Value::Host,
            Value::Port,
            Value::ServerPort,
            Value::Scheme,
            Value::Forwarded,
            Value::Referer,
            Value::Agent,
        ];
        let fields = LogFormat::new(format).unwrap().fields(line.as_bytes())?;
        let found = all.into_iter().zip(fields);
        Some(found.filter_map(|(value, at)| Some((value, line[at?].to_owned()))).collect())
    }

    #[test]
    fn fields_are_found_by_the_pattern() {
        let nginx = r#"$host $remote_addr [$time_local] "$request" $status "$http_referer" "${http_user_agent}""#;
        let line =
            r#"h.example 1.2.3.4 [1/Jan/2020:00:00:00 +0000] "GET /a\"b HTTP/1.1" 200 "-" "x y""#;
        let found = shown(nginx, line).unwrap();
        let expected = [
            (Value::Request, r#"GET /a\"b HTTP/1.1"#),
            (Value::Host, "h.example"),
            (Value::Referer, "-"),
            (Value::Agent, "x y"),
        ];
        assert_eq!(found, expected.map(|(value, text)| (value, text.to_owned())));
        let apache = r#"%v:%p %h %t \"%m %U%q\" %>s %{Referer}i|%^ti"#;
        let found = shown(apache, r#"v:80 1.1.1.1 [x "y] "GET /a?b" 200 http://r/|-"#).unwrap();
        let expected = [
            (Value::Target, "/a?b"),
            (Value::Host, "v"),
            (Value::Port, "80"),
            (Value::Referer, "http://r/"),
        ];
        assert_eq!(found, expected.map(|(value, text)| (value, text.to_owned())));
    }

    #[test]
    fn a_line_of_another_form_is_not_an_entry() {
        for line in ["", "a", "a \"b", "a \"b\" c", "a \"b\" 1 x\n"] {
            assert_eq!(shown(r#"$host "$request" 1"#, line), None, "{line}");
        }
    }

    #[test]
    fn invalid_patterns_are_reported() {
        for (typed, message) in [
            ("$", "a $ is not followed by a name"),
            ("${request", "a ${ has no }"),
            ("%{Referer", "a %{ has no }"),
            ("%r %", "a % is not followed by a letter"),
            ("%r % x", "a % is not followed by a letter"),
            ("%h", "it names no request, path or referrer"),
            ("$args", "it names no request, path or referrer"),
            (
                "$scheme$host $uri",
                "nothing separates $scheme from $host, so where $scheme ends is unknown",
            ),
            ("$uri$args", "nothing separates $uri from $args, so where $uri ends is unknown"),
            ("%r%{Referer}i", "nothing separates %r from %{Referer}i, so where %r ends is unknown"),
        ] {
            assert_eq!(LogFormat::new(typed).unwrap_err(), message, "{typed}");
        }
    }
}
