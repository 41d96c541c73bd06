//! Access logs in a custom format, given by a pattern in the syntax of nginx (`log_format`) or
//! Apache (`LogFormat`).

use core::ops::Range;

use crate::grammar::class::{ALPHA, DIGIT};

/// The content of a field of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value {
    /// `METHOD target HTTP/1.1`.
    Request,
    /// The path, with or without the query.
    Target,
    Host,
    Scheme,
    Referer,
    Agent,
    /// No links.
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Part {
    Literal(Vec<u8>),
    Value(Value),
}

/// A pattern of the lines of an access log.
///
/// `$name` and `${name}` are variables of nginx, `%h`, `%>s` and `%{Name}i` those of Apache, and
/// all other text is literal; `\"` is a quote and `%%` a percent sign. A variable extends to the
/// first occurrence of the literal after it; inside quotes, to the first quote without a backslash
/// before it.
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
/// the first field with it.
pub(crate) type Fields = [Option<Range<usize>>; Value::Other as usize];

impl LogFormat {
    /// Parses the pattern `typed`.
    ///
    /// # Errors
    /// A sentence if it is invalid or has no field that may hold a link.
    pub fn new(typed: &str) -> Result<LogFormat, String> {
        let mut parts = Vec::new();
        let mut rest = typed.as_bytes();
        while let Some((part, tail)) = next_part(rest)? {
            match (parts.last_mut(), part) {
                (Some(Part::Literal(before)), Part::Literal(text)) => before.extend(text),
                // The boundary between them is unknown: `%U%q` is a path with its query.
                (Some(Part::Value(_)), Part::Value(_)) => {}
                (_, part) => parts.push(part),
            }
            rest = tail;
        }
        let is_link = |part: &Part| {
            matches!(
                part,
                Part::Value(Value::Request | Value::Target | Value::Referer | Value::Agent)
            )
        };
        if !parts.iter().any(is_link) {
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
                Part::Value(value) => {
                    let end = match self.parts.get(i + 1) {
                        Some(Part::Literal(next)) if is_quoted && next[0] == b'"' => {
                            quote_end(line, at)?
                        }
                        Some(Part::Literal(next)) => {
                            let from = at + bracketed(*value, &line[at..]);
                            from + memchr::memmem::find(&line[from..], next)?
                        }
                        _ => line.len(),
                    };
                    if let Some(field) = fields.get_mut(*value as usize) {
                        field.get_or_insert(at..end);
                    }
                    at = end;
                }
            }
        }
        (at == line.len()).then_some(fields)
    }
}

/// The length of the time in brackets at the start of `text`, a field of another kind: it holds
/// spaces.
fn bracketed(value: Value, text: &[u8]) -> usize {
    if value != Value::Other || !text.starts_with(b"[") {
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
            Ok(Some((Part::Value(of_nginx(&tail[..end])), &tail[end + 1..])))
        }
        [b'$', tail @ ..] => {
            let is_name = |byte: &u8| ALPHA.has(*byte) || DIGIT.has(*byte) || *byte == b'_';
            let end = tail.iter().position(|byte| !is_name(byte)).unwrap_or(tail.len());
            if end == 0 {
                return Err("a $ is not followed by a name".to_owned());
            }
            Ok(Some((Part::Value(of_nginx(&tail[..end])), &tail[end..])))
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
        b"host" | b"http_host" | b"server_name" => Value::Host,
        b"scheme" => Value::Scheme,
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
        b'v' | b'V' => Value::Host,
        b'i' if is(b"host") => Value::Host,
        b'i' if is(b"referer") => Value::Referer,
        b'i' if is(b"user-agent") => Value::Agent,
        // `%^ti` and the like.
        b'^' => return Ok((Part::Value(Value::Other), tail.get(2..).unwrap_or_default())),
        letter if ALPHA.has(letter) => Value::Other,
        _ => return Err("a % is not followed by a letter".to_owned()),
    };
    Ok((Part::Value(value), tail))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(format: &str, line: &str) -> Option<Vec<(Value, String)>> {
        let all = [
            Value::Request,
            Value::Target,
            Value::Host,
            Value::Scheme,
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
        let expected = [(Value::Target, "/a?b"), (Value::Host, "v"), (Value::Referer, "http://r/")];
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
        ] {
            assert_eq!(LogFormat::new(typed).unwrap_err(), message, "{typed}");
        }
    }
}
