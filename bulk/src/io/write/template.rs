//! Rows in a user-defined format: `{host}\t{path}`.

use core::fmt;

use super::diagnostic::Position;
use super::row::{Field, Row, push_decimal};
use super::selector::Selector;

/// A line of text with placeholders for the fields of a reference.
///
/// `{host}` is replaced by the [`Field`] of that name, `{query:q}` by a parameter, `{segment:2}` by a segment
/// ([`Selector`]), or by nothing if it is undefined. `\t`,
/// `\n`, `\0` and `\\` are tab, line feed, NUL and backslash; `{{` and `}}` are braces.
///
/// ```
/// use uriscan_bulk::io::Template;
/// assert!(Template::new(r"{host}\t{path}").is_ok());
/// let error = Template::new("{host} {hots}").unwrap_err();
/// assert_eq!(error.at, 7);
/// assert!(error.to_string().starts_with("unknown field 'hots' at byte 7 of the template"));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Template {
    pieces: Vec<Piece>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Piece {
    Text(Vec<u8>),
    Part(Selector),
}

/// The text is not a template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TemplateError {
    /// Offset in bytes of the fault in the text, counted from 0.
    pub at: usize,
    /// The fault.
    pub kind: TemplateErrorKind,
}

/// A fault of a template.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TemplateErrorKind {
    /// The braces do not contain the name of a field or of another [`Selector`].
    UnknownField(String),
    /// `{` without a `}` after it.
    Unclosed,
    /// `}` without a `{` before it.
    Unopened,
    /// `\` before another character than `t`, `n`, `0` and `\`, or at the end.
    UnknownEscape,
}

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// The first fault from the left, at its brace, backslash, or the `{` before the unknown name.
    pub fn new(text: &str) -> Result<Template, TemplateError> {
        let mut pieces = Vec::new();
        let mut literal = Vec::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            let fault = |kind| Err(TemplateError { at, kind });
            match (byte, bytes.get(at + 1)) {
                (b'\\', Some(next)) => {
                    literal.push(match next {
                        b't' => b'\t',
                        b'n' => b'\n',
                        b'0' => 0,
                        b'\\' => b'\\',
                        _ => return fault(TemplateErrorKind::UnknownEscape),
                    });
                    at += 2;
                }
                (b'\\', None) => return fault(TemplateErrorKind::UnknownEscape),
                (b'{', Some(b'{')) | (b'}', Some(b'}')) => {
                    literal.push(byte);
                    at += 2;
                }
                (b'}', _) => return fault(TemplateErrorKind::Unopened),
                (b'{', _) => {
                    let Some(len) = text[at + 1..].find('}') else {
                        return fault(TemplateErrorKind::Unclosed);
                    };
                    let name = &text[at + 1..at + 1 + len];
                    let Some(part) = Selector::new(name) else {
                        return fault(TemplateErrorKind::UnknownField(name.to_owned()));
                    };
                    if !literal.is_empty() {
                        pieces.push(Piece::Text(core::mem::take(&mut literal)));
                    }
                    pieces.push(Piece::Part(part));
                    at += len + 2;
                }
                _ => {
                    literal.push(byte);
                    at += 1;
                }
            }
        }
        if !literal.is_empty() {
            pieces.push(Piece::Text(literal));
        }
        Ok(Template { pieces })
    }

    /// Appends the template, filled in from `row` at `position`, without a line end.
    #[inline]
    pub(crate) fn fill(&self, position: Position<'_>, row: &Row<'_>, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            let part = match piece {
                Piece::Text(text) => {
                    out.extend_from_slice(text);
                    continue;
                }
                Piece::Part(part) => part,
            };
            match part.field() {
                Some(Field::File) => out.extend_from_slice(position.source.as_bytes()),
                Some(Field::Column) => push_decimal(position.column(0), out),
                Some(Field::Context) => {
                    let context = position.link().map_or("", |(_, context)| context.name());
                    out.extend_from_slice(context.as_bytes());
                }
                _ => {
                    // What is undefined is empty.
                    let _ = part.push(row, out);
                }
            }
        }
    }
}

impl core::str::FromStr for Template {
    type Err = TemplateError;

    fn from_str(text: &str) -> Result<Template, TemplateError> {
        Template::new(text)
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = self.at;
        match &self.kind {
            TemplateErrorKind::UnknownField(name) => {
                let names = Field::ALL.map(Field::name).join(", ");
                write!(
                    f,
                    "unknown field '{}' at byte {at} of the template; the fields are {names}, {}",
                    name.escape_debug(),
                    Selector::OTHERS
                )
            }
            TemplateErrorKind::Unclosed => {
                write!(
                    f,
                    "no '}}' follows the '{{' at byte {at} of the template; write {{{{ for a brace"
                )
            }
            TemplateErrorKind::Unopened => {
                write!(
                    f,
                    "no '{{' precedes the '}}' at byte {at} of the template; write }}}} for a brace"
                )
            }
            TemplateErrorKind::UnknownEscape => write!(
                f,
                "unknown escape at byte {at} of the template; the escapes are \\t, \\n, \\0 and \\\\"
            ),
        }
    }
}

impl core::error::Error for TemplateError {}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::uri::parse;

    fn filled(template: &str, reference: &str) -> String {
        let text = reference.as_bytes();
        let row = Row::new(12, text, parse(text).unwrap());
        let mut out = Vec::new();
        Template::new(template).unwrap().fill(Position::new("list", 12), &row, &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn fields_escapes_and_braces_are_filled_in() {
        let full = "https://u@[::1]:80/p?q#f";
        for (template, expected) in [
            ("", ""),
            ("{host}", "[::1]"),
            (r"{host}\t{path}", "[::1]\t/p"),
            ("{file}:{line}:{column}{context}", "list:12:1"),
            (r"{line}\n{scheme}\0\\", "12\nhttps\0\\"),
            ("{{{port}}}", "{80}"),
            ("}}{{", "}{"),
            ("{query:q}|{query:x}|{segment:1}|{segment:2}", "||p|"),
            ("{domain}{suffix}|{params}", r#"|[["q",null]]"#),
            ("é{query}é", "éqé"),
            (
                "{line}|{scheme}|{authority}|{userinfo}|{host}|{port}|{path}|{query}|{fragment}|{host_kind}",
                "12|https|u@[::1]:80|u|[::1]|80|/p|q|f|ipv6",
            ),
        ] {
            assert_eq!(filled(template, full), expected, "{template}");
        }
        assert_eq!(filled("<{scheme}{query}{host_kind}>", "a"), "<>");
    }

    #[test]
    fn faults_have_a_kind_and_a_position() {
        use TemplateErrorKind::*;
        for (template, at, kind) in [
            ("{", 0, Unclosed),
            ("a{host", 1, Unclosed),
            ("}", 0, Unopened),
            ("{host}}", 6, Unopened),
            ("{}", 0, UnknownField(String::new())),
            ("{host}{uri}", 6, UnknownField("uri".to_owned())),
            ("{ho{st}", 0, UnknownField("ho{st".to_owned())),
            (r"a\x", 1, UnknownEscape),
            (r"\é", 0, UnknownEscape),
            ("\\", 0, UnknownEscape),
        ] {
            let error = Template::new(template).unwrap_err();
            assert_eq!(error, TemplateError { at, kind }, "{template}");
            assert!(error.to_string().contains(&format!("at byte {at} of")), "{error}");
        }
        let message = Template::new("{x}").unwrap_err().to_string();
        assert!(Field::ALL.iter().all(|field| message.contains(field.name())), "{message}");
    }
}
