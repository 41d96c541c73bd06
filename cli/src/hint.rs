//! The hint that is printed if most of the input is not a list of URIs: what it looks like, and the command that reads it.

use std::io::{Cursor, Read};
use std::path::Path;

use uriscan::extract::Format;
use uriscan::internals::files::File;
use uriscan::io::compress::decompressed;
use uriscan::io::escaped;

/// Bytes of an input that are examined.
const HEAD_BYTES: u64 = 8 << 10;

/// A hint about the file at `path`, if it looks like something else than a list.
pub(crate) fn of_file(path: &Path) -> Option<String> {
    // A pipe cannot be read again.
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    let file = File::open(path).ok()?;
    of_stream(file, &path.display().to_string())
}

/// A hint about standard input, which began with `head`.
pub(crate) fn of_stdin(head: &[u8]) -> Option<String> {
    of_stream(Cursor::new(head.to_vec()), "-")
}

fn of_stream(stream: impl Read + Send + 'static, name: &str) -> Option<String> {
    let mut head = Vec::new();
    // On error, what was read so far is enough.
    let _ = decompressed(Box::new(stream)).ok()?.take(HEAD_BYTES).read_to_end(&mut head);
    let (what, how) = look(&head, name)?;
    let typed = typed(name);
    Some(format!(
        "most of {name} is not a list of URIs; it looks like {what}. Try `uriscan extract{how} {typed}`"
    ))
}

/// The name of a file or a column as it is typed to a shell; `NAME` for one that a message cannot show as it is.
pub(crate) fn typed(name: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    let is_shown = escaped(name).to_string() == name && !name.contains(char::REPLACEMENT_CHARACTER);
    let before = if name.starts_with('-') && name != "-" { "./" } else { "" };
    match name {
        _ if !is_shown => "NAME".to_owned(),
        name if name.chars().all(is_plain) => format!("{before}{name}"),
        name => format!("{before}'{}'", name.replace('\'', r"'\''")),
    }
}

/// What an input that begins with `head` looks like, and the options to read it.
fn look(head: &[u8], name: &str) -> Option<(&'static str, &'static str)> {
    Some(match Format::of_source(name, head) {
        Format::Html => ("HTML", " --from html --base URL"),
        Format::Json => ("JSON", " --from json"),
        Format::Clf => ("an access log", " --from clf"),
        Format::Warc => ("a web archive", " --from warc"),
        Format::Xml => ("a sitemap or a feed", " --from xml"),
        Format::Har => ("an HTTP archive", " --from har"),
        Format::Eml => ("a message", " --from eml"),
        Format::Mbox => ("a mailbox", " --from mbox"),
        Format::Cdxj => ("an index of web archives", " --from cdxj"),
        Format::Markdown => ("Markdown", " --from markdown"),
        _ if is_binary(head) => ("binary data", ""),
        Format::Csv => ("CSV", " --from csv"),
        Format::Tsv => ("TSV", " --from tsv"),
        _ if is_separated(head, b',') => ("CSV", " --from csv"),
        _ if is_separated(head, b'\t') => ("TSV", " --from tsv"),
        _ => return None,
    })
}

/// Whether `head` has a NUL and a tenth of it is control characters: a list may have a NUL in one of its records.
fn is_binary(head: &[u8]) -> bool {
    let is_control = |byte: &&u8| byte.is_ascii_control() && !byte.is_ascii_whitespace();
    head.contains(&0) && 10 * head.iter().filter(is_control).count() >= head.len()
}

/// Whether the first lines of `head` have the same number of fields, and more than one, separated by `separator`.
fn is_separated(head: &[u8], separator: u8) -> bool {
    const LINES: usize = 8;
    let whole = head.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
    let lines = head[..whole].split(|&byte| byte == b'\n').filter(|line| !line.is_empty());
    let separators = |line: &[u8]| {
        let mut in_quotes = false;
        let outside = line.iter().filter(|&&byte| {
            in_quotes ^= byte == b'"';
            byte == separator && !in_quotes
        });
        outside.count()
    };
    let counts: Vec<usize> = lines.take(LINES).map(separators).collect();
    counts.len() > 1 && counts[0] > 0 && counts.iter().all(|&count| count == counts[0])
}

/// Whether `path` looks like a URL.
pub(crate) fn is_url(path: &Path) -> bool {
    let bytes = path.as_os_str().as_encoded_bytes();
    let scheme = bytes.windows(3).position(|part| part == b"://").map(|end| &bytes[..end]);
    scheme.is_some_and(|scheme| {
        scheme.first().is_some_and(u8::is_ascii_alphabetic)
            && scheme.iter().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(byte))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_like_something_is_named() {
        for (head, name, expected) in [
            (&b"id,url\n1,http://h/\n2,\"http://h/,\"\n"[..], "-", Some("CSV")),
            (b"id\turl\n1\thttp://h/\n", "-", Some("TSV")),
            (b"a b c\nd e\n", "x.csv", Some("CSV")),
            (b"<!doctype html>\n<p>\n", "-", Some("HTML")),
            (b"{\"a\":1}\n", "-", Some("JSON")),
            (
                b"h - - [10/Oct/2000:13:55:36 -0700] \"GET /i HTTP/1.0\" 200 1\n",
                "-",
                Some("an access log"),
            ),
            (b"\x7fELF\0\0\n", "-", Some("binary data")),
            (b"WARC/1.0\r\n", "-", Some("a web archive")),
            (b"http://h/\n\0\nhttp://h/a b\n", "-", None),
            (b"a,b\nc\n", "-", None),
            (b"a,b\n", "-", None),
            (b"no uri\nno uri\n", "-", None),
            (b"", "-", None),
        ] {
            assert_eq!(look(head, name).map(|found| found.0), expected, "{}", head.escape_ascii());
        }
    }

    #[test]
    fn names_are_quoted_for_a_shell() {
        for (name, expected) in [
            ("-", "-"),
            ("a/b-1.csv", "a/b-1.csv"),
            ("été.csv", "été.csv"),
            ("a b.csv", "'a b.csv'"),
            ("a'b.csv", r"'a'\''b.csv'"),
            ("$(x)", "'$(x)'"),
            ("`x`;y", "'`x`;y'"),
            ("~a", "'~a'"),
            ("-a b", "./'-a b'"),
            ("-o", "./-o"),
            ("a\nb", "NAME"),
            ("a\u{202e}b", "NAME"),
            ("a\u{fffd}", "NAME"),
        ] {
            assert_eq!(typed(name), expected);
        }
    }

    #[test]
    fn urls_are_no_paths() {
        for url in ["http://h/", "HTTPS://h", "s3://bucket/key", "git+ssh://h"] {
            assert!(is_url(Path::new(url)), "{url}");
        }
        for path in ["a/b", "/a://b", "http:/h", "://h", "C:\\a", "a b://c", ""] {
            assert!(!is_url(Path::new(path)), "{path}");
        }
    }
}
