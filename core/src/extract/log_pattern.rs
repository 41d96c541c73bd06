//! Patterns of the entries of a log, in the syntax of nginx (`log_format`) or Apache (`LogFormat`).

use core::ops::Range;

use super::log::is_host;
use super::log_fields::{Found, SEARCHED, Value, quote_end};
use crate::grammar::class::{ALPHA, DIGIT};
use crate::time::Timestamp;

impl Value {
    /// The value of this one and `next`, between which nothing stands; `None` if the boundary between them cannot be found.
    fn with(self, next: Value) -> Option<Value> {
        Some(match (self, next) {
            (one, other) if one.is_apart() && other.is_apart() => Value::Other,
            (Value::Target, Value::Mark) => Value::Marked,
            (Value::Marked, Value::Query) => Value::Joined,
            (Value::Mark, Value::Query) => Value::Query,
            (Value::Target, Value::MarkedQuery) => Value::Target,
            _ => return None,
        })
    }

    /// Whether a target that begins with a slash shows where this ends.
    fn ends_at_slash(self) -> bool {
        matches!(self, Value::Host | Value::Port | Value::Scheme | Value::Forwarded)
            || self.is_apart()
    }

    /// Whether this is not a part of a link.
    fn is_apart(self) -> bool {
        matches!(self, Value::Tls | Value::Method | Value::Status | Value::Time | Value::Other)
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
    /// White space, at least one byte.
    Spaces,
    /// Several if nothing stands between them: each is followed by a target, and ends at its slash.
    Values(Vec<Value>),
}

/// A pattern of entries.
///
/// A variable extends to the first occurrence of the literal after it; inside quotes, to the first quote without a backslash
/// before it, or to the end of a line that was cut. Of variables without a literal between them, `$host$request_uri` ends at
/// the first slash, and `%U%q` and `$uri$is_args$args` are a path with its query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pattern {
    parts: Vec<Part>,
}

impl Pattern {
    /// Parses the pattern `typed`.
    ///
    /// # Errors
    /// A sentence if it is invalid or has no field that may hold a link.
    pub(crate) fn new(typed: &str) -> Result<Pattern, String> {
        let mut parts: Vec<Part> = Vec::new();
        let typed = by_words(typed);
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
        let is_link = |value: &Value| SEARCHED.contains(value);
        if !parts.iter().any(|part| matches!(part, Part::Values(all) if all.iter().any(is_link))) {
            return Err("it names no request, path or referrer".to_owned());
        }
        Ok(Pattern { parts })
    }

    /// The fields of `line`, or `None` if it is not such an entry.
    pub(crate) fn fields(&self, line: &[u8]) -> Option<Found> {
        let mut fields = Found::default();
        let (mut at, mut is_quoted) = (0, false);
        for (i, part) in self.parts.iter().enumerate() {
            match part {
                Part::Literal(text) => {
                    at += line.get(at..)?.starts_with(text).then_some(text.len())?;
                    is_quoted = text.ends_with(b"\"");
                }
                Part::Spaces => {
                    let len = line[at..].iter().take_while(|byte| is_space(byte)).count();
                    at += (len > 0).then_some(len)?;
                    is_quoted = false;
                }
                Part::Values(values) => {
                    let end = match self.parts.get(i + 1) {
                        Some(Part::Literal(next)) if is_quoted && next[0] == b'"' => {
                            let Some(end) = quote_end(line, at) else {
                                // The line was cut; what comes before is whole.
                                has_target(&fields).then_some(())?;
                                set(values, line, at..line.len(), &mut fields)?;
                                return Some(fields);
                            };
                            end
                        }
                        Some(Part::Spaces) => at + line[at..].iter().position(is_space)?,
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

/// Whether the target of the request is in `found`.
fn has_target(found: &Found) -> bool {
    [Value::Request, Value::Joined, Value::Target]
        .iter()
        .any(|&value| found[value as usize].is_some())
}

fn is_space(byte: &u8) -> bool {
    matches!(byte, b' ' | b'\t')
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
fn set(values: &[Value], line: &[u8], range: Range<usize>, fields: &mut Found) -> Option<()> {
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
            // A time may be written in parts: `%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t`.
            let is_rest = |first: usize| {
                value == Value::Time && Timestamp::of_log(&line[first..end]).is_some()
            };
            match field {
                Some(first) if is_set && is_rest(first.start) => first.end = end,
                _ if is_set => {}
                _ => *field = Some(at..end),
            }
        }
        at = end;
    }
    Some(())
}

/// The length of what is in brackets at the start of `text`: a time, which is a field of another kind
/// and holds spaces, or an IPv6 address, which holds colons.
fn bracketed(value: Value, text: &[u8]) -> usize {
    if !(value.is_apart() || value == Value::Host) || !text.starts_with(b"[") {
        return 0;
    }
    memchr::memchr(b']', text).map_or(0, |at| at + 1)
}

/// The pattern `typed` with a variable for each word of the times of Apache: `%{%F}t %{%T}t` for `%{%F %T}t`.
fn by_words(typed: &str) -> String {
    let (mut out, mut rest) = (String::new(), typed);
    while let Some(at) = rest.find(['%', '\\']) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        let argument = tail.strip_prefix("%{").and_then(|tail| tail.split_once('}'));
        if let Some((argument, after)) = argument.filter(|(_, after)| after.starts_with('t')) {
            let words: Vec<String> =
                argument.split(' ').map(|word| format!("%{{{word}}}t")).collect();
            out.push_str(&words.join(" "));
            rest = &after[1..];
        } else {
            // What follows a percent sign or backslash is no longer the beginning of a variable.
            let len = tail.chars().take(2).map(char::len_utf8).sum();
            out.push_str(&tail[..len]);
            rest = &tail[len..];
        }
    }
    out + rest
}

type Next<'t> = Option<(Part, &'t [u8])>;

/// The first part of `rest`, and the text after it.
fn next_part(rest: &[u8]) -> Result<Next<'_>, String> {
    let literal = |byte: u8, tail| Ok(Some((Part::Literal(vec![byte]), tail)));
    match rest {
        [] => Ok(None),
        [b'\\', byte @ (b'"' | b'\'' | b'\\' | b'$' | b'%'), tail @ ..] => literal(*byte, tail),
        [b'\\', b't', tail @ ..] => literal(b'\t', tail),
        [b'\\', b's', tail @ ..] => Ok(Some((Part::Spaces, tail))),
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

/// A value, and the names for it with spaces between them, of which the best come first.
pub(crate) type Names = (Value, &'static str);

/// The variables of nginx that matter.
pub(crate) static VARIABLES: [Names; 14] = [
    (Value::Request, "request"),
    (Value::Target, "request_uri uri document_uri"),
    (Value::Query, "args query_string"),
    (Value::Mark, "is_args"),
    (Value::Host, "http_host host server_name"),
    (Value::Port, "server_port"),
    (Value::Scheme, "scheme"),
    (Value::Forwarded, "http_x_forwarded_proto"),
    (Value::Referer, "http_referer"),
    (Value::Agent, "http_user_agent"),
    (Value::Tls, "https ssl_protocol ssl_cipher"),
    (Value::Method, "request_method"),
    (Value::Status, "status"),
    (Value::Time, "time_local time_iso8601 msec"),
];

/// The variable of nginx with this `name`.
fn of_nginx(name: &[u8]) -> Value {
    let is_name = |known: &str| known.as_bytes() == name;
    let found = VARIABLES.iter().find(|(_, names)| names.split(' ').any(is_name));
    found.map_or(Value::Other, |&(value, _)| value)
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
        b'x' if is(b"ssl_protocol") || is(b"ssl_cipher") => Value::Tls,
        b'e' if is(b"https") => Value::Tls,
        b'm' => Value::Method,
        b's' => Value::Status,
        b't' => Value::Time,
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
            Value::Tls,
            Value::Forwarded,
            Value::Referer,
            Value::Agent,
        ];
        let fields = Pattern::new(format).unwrap().fields(line.as_bytes())?;
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
    fn times_with_spaces_have_a_variable_for_each_word() {
        for (typed, expected) in [
            ("%h %{%F %T}t %r", "%h %{%F}t %{%T}t %r"),
            (
                "[%{%d/%b/%Y %T}t.%{msec_frac}t %{%z}t]",
                "[%{%d/%b/%Y}t %{%T}t.%{msec_frac}t %{%z}t]",
            ),
            ("%t %{a b}i %%{a b}t \\%{a b}t %{a b", "%t %{a b}i %%{a b}t \\%{a b}t %{a b"),
            ("%é %{é é}t%", "%é %{é}t %{é}t%"),
        ] {
            assert_eq!(by_words(typed), expected);
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
            assert_eq!(Pattern::new(typed).unwrap_err(), message, "{typed}");
        }
    }
}
