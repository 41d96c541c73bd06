//! What a source holds, told by its name where its content cannot tell, and by its content otherwise.

/// The kinds of sources that links are extracted from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Format {
    /// Running text, lists, logs: anything in which a link is surrounded by what ends it.
    #[default]
    Text,
    /// An HTML document: the references in attributes.
    Html,
    /// JSON texts, one per line or any other way: the links in all strings, or the values of some members.
    Json,
    /// An access log in the Common or Combined Log Format.
    Clf,
    /// A WARC archive.
    Warc,
}

impl Format {
    /// All of them.
    pub const ALL: [Format; 5] =
        [Format::Text, Format::Html, Format::Json, Format::Clf, Format::Warc];

    /// The byte at which a line of such a source ends, where records end at `record_end`: only text goes by that.
    pub(crate) fn line_end(self, record_end: u8) -> u8 {
        if self == Format::Text { record_end } else { b'\n' }
    }

    /// The stable name used for options and in machine output.
    pub const fn name(self) -> &'static str {
        match self {
            Format::Text => "text",
            Format::Html => "html",
            Format::Json => "json",
            Format::Clf => "clf",
            Format::Warc => "warc",
        }
    }

    /// The format called `name`, or `None`.
    pub fn from_name(name: &str) -> Option<Format> {
        Format::ALL.into_iter().find(|format| format.name() == name)
    }

    /// The format of a source that begins with `head`, some thousand bytes of it.
    ///
    /// ```
    /// use uriscan::extract::Format;
    /// assert_eq!(Format::of_head(b" <!doctype html><p>"), Format::Html);
    /// assert_eq!(Format::of_head(b"{\"url\":\"http://h/\"}\n"), Format::Json);
    /// assert_eq!(Format::of_head(b"http://h/\n"), Format::Text);
    /// ```
    pub fn of_head(head: &[u8]) -> Format {
        if head.starts_with(b"WARC/1.") {
            return Format::Warc;
        }
        let start = head.iter().position(|byte| !byte.is_ascii_whitespace()).unwrap_or(head.len());
        let text = &head[start..];
        let begins = |word: &[u8]| {
            text.len() > word.len()
                && text[..word.len()].eq_ignore_ascii_case(word)
                && !text[word.len()].is_ascii_alphanumeric()
        };
        let tags: [&[u8]; 5] = [b"<!doctype html", b"<html", b"<head", b"<body", b"<title"];
        if tags.iter().any(|tag| begins(tag)) {
            return Format::Html;
        }
        let line = &text[..memchr::memchr(b'\n', text).unwrap_or(text.len())];
        match text {
            [b'{', ..] | [b'[', b'"' | b'{', ..] if is_json(line) => Format::Json,
            _ if super::clf::is_entry(line) => Format::Clf,
            _ => Format::Text,
        }
    }
}

/// Whether `line` may be the first line of JSON: an opening brace and nothing or a member behind it.
fn is_json(line: &[u8]) -> bool {
    let rest = line[1..].trim_ascii();
    matches!(rest.first(), None | Some(b'"' | b'{' | b'}' | b'[' | b']'))
}
