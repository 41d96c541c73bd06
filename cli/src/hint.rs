//! The hint that is printed if most of the input is not a list of URIs: what it looks like, and the command that reads it.

use std::io::{Cursor, Read};
use std::path::Path;

use uriscan::extract::Format;
use uriscan::internals::files::File;
use uriscan::io::compress::decompressed;
use uriscan::io::escaped;

use crate::args;
use crate::exit::shown_name;

/// Bytes of an input that are examined.
const HEAD_BYTES: u64 = 8 << 10;

/// The hint about the file at `path`, if it looks like something else than a list: most of its records are not URIs if
/// `is_odd`, or it is a table anyway.
pub(crate) fn of_file(path: &Path, is_odd: bool) -> Option<String> {
    advice(&head_of(file(path)?)?, &path.display().to_string(), is_odd, &Call::of_process())
}

/// The hint about standard input, which began with `head`.
pub(crate) fn of_stdin(head: &[u8], is_odd: bool) -> Option<String> {
    advice(&head_of(Cursor::new(head.to_vec()))?, "-", is_odd, &Call::of_process())
}

/// The hint about the file at `path` whose secrets are masked, if it is binary data, in which none is found.
pub(crate) fn of_masked_file(path: &Path) -> Option<String> {
    of_masked_head(&head_of(file(path)?)?, &path.display().to_string())
}

/// The same about standard input, which began with `head`.
pub(crate) fn of_masked_stdin(head: &[u8]) -> Option<String> {
    of_masked_head(&head_of(Cursor::new(head.to_vec()))?, "-")
}

fn file(path: &Path) -> Option<File> {
    // A pipe cannot be read again.
    path.metadata().ok().filter(std::fs::Metadata::is_file)?;
    File::open(path).ok()
}

fn head_of(stream: impl Read + Send + 'static) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    // On error, what was read so far is enough.
    let _ = decompressed(Box::new(stream)).ok()?.take(HEAD_BYTES).read_to_end(&mut head);
    Some(head)
}

fn of_masked_head(head: &[u8], name: &str) -> Option<String> {
    is_binary(head).then(|| {
        format!("{name} looks like binary data, such as UTF-16; secrets in it may not be masked")
    })
}

/// The hint about the input of `call` with this `name`, which begins with `head`.
fn advice(head: &[u8], name: &str, is_odd: bool, call: &Call) -> Option<String> {
    let header = Header::of(head, name).filter(|header| is_odd || header.urls.is_some());
    if let Some((header, options)) =
        header.and_then(|it| it.options(name, call).map(|how| (it, how)))
    {
        let how = call.with(&options);
        let what = header.shown();
        return Some(match is_odd {
            true => {
                format!("most of {name} is not a list of URIs; it looks like {what}. Try `{how}`")
            }
            false => format!("{name} looks like {what}, and was read as lines. Try `{how}`"),
        });
    }
    let (what, from) = look(head, name).filter(|_| is_odd)?;
    let needs_base = what == "HTML" && !call.has("--base");
    let how = if call.takes("extract") {
        let mut options = vec!["--extract".to_owned()];
        options.extend(from.map(|from| format!("--from {from}")));
        options.extend((needs_base && call.takes("base")).then(|| "--base URL".to_owned()));
        call.with(&options)
    } else {
        let from = from.map_or(String::new(), |from| format!(" --from {from}"));
        let base = if needs_base { " --base URL" } else { "" };
        format!("uriscan extract{from}{base} {}", typed(name))
    };
    Some(format!("most of {name} is not a list of URIs; it looks like {what}. Try `{how}`"))
}

/// The command as it was typed.
struct Call {
    /// The words of its name, such as `set add`.
    words: Vec<String>,
    /// The arguments after them.
    rest: Vec<String>,
}

impl Call {
    fn of_process() -> Call {
        let args = std::env::args_os().skip(1).map(|arg| arg.to_string_lossy().into_owned());
        Call::of(args.collect())
    }

    fn of(mut args: Vec<String>) -> Call {
        let words = if args.first().is_some_and(|word| word == "set") { 2 } else { 1 };
        let rest = args.split_off(words.min(args.len()));
        Call { words: args, rest }
    }

    /// Whether the command has an option of this name.
    fn takes(&self, option: &str) -> bool {
        let all = args::definition();
        let command = self.words.iter().try_fold(&all, |all, word| all.find_subcommand(word));
        command.is_some_and(|command| {
            command.get_arguments().any(|argument| argument.get_long() == Some(option))
        })
    }

    /// Whether `option` was typed.
    fn has(&self, option: &str) -> bool {
        self.rest.iter().any(|arg| {
            arg.strip_prefix(option).is_some_and(|rest| rest.is_empty() || rest.starts_with('='))
        })
    }

    /// The command with more `options`.
    fn with(&self, options: &[String]) -> String {
        /// Longer calls, such as those with many files, are cut.
        const LONGEST: usize = 400;
        let mut text = format!("uriscan {} {}", self.words.join(" "), options.join(" "));
        for arg in &self.rest {
            if text.len() + arg.len() > LONGEST {
                return text + " ...";
            }
            text += " ";
            text += &quoted(&shown_name(arg));
        }
        text
    }
}

/// The name of a file or a column as it is typed to a shell; `NAME` for one that a message cannot show as it is.
pub(crate) fn typed(name: &str) -> String {
    let text = quoted(name);
    if name.starts_with('-') && name != "-" && text != "NAME" { format!("./{text}") } else { text }
}

/// An argument as it is typed to a shell.
fn quoted(arg: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "/._-+,:@%=".contains(c);
    let is_shown = escaped(arg).to_string() == arg && !arg.contains(char::REPLACEMENT_CHARACTER);
    match arg {
        _ if !is_shown => "NAME".to_owned(),
        arg if !arg.is_empty() && arg.chars().all(is_plain) => arg.to_owned(),
        arg => format!("'{}'", arg.replace('\'', r"'\''")),
    }
}

/// What an input that begins with `head` looks like, and the format to name, if it is not detected.
fn look(head: &[u8], name: &str) -> Option<(&'static str, Option<&'static str>)> {
    Some(match Format::of_source(name, head) {
        Format::Html => ("HTML", None),
        Format::Json => ("JSON", None),
        Format::Clf => ("an access log", None),
        Format::Warc => ("a web archive", None),
        Format::Xml => ("a sitemap or a feed", None),
        Format::Har => ("an HTTP archive", None),
        Format::Eml => ("a message", None),
        Format::Mbox => ("a mailbox", None),
        Format::Cdxj => ("an index of web archives", None),
        Format::Markdown => ("Markdown", None),
        _ if is_binary(head) => ("binary data", None),
        Format::Csv => ("CSV", None),
        Format::Tsv => ("TSV", None),
        _ if is_separated(head, b',') => ("CSV", Some("csv")),
        _ if is_separated(head, b'\t') => ("TSV", Some("tsv")),
        _ => return None,
    })
}

/// The first line of a table of CSV or TSV, which names its columns.
struct Header {
    format: &'static str,
    names: Vec<String>,
    /// The column that has a URL in the next line.
    urls: Option<String>,
}

impl Header {
    /// The header of the input with this `name` that begins with `head`, if it has one.
    fn of(head: &[u8], name: &str) -> Option<Header> {
        let text = str::from_utf8(head.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(head));
        // The last character may be cut.
        let text = text.or_else(|error| str::from_utf8(&head[..error.valid_up_to()])).ok()?;
        let (format, separator) = match Format::of_source(name, head) {
            Format::Csv => ("CSV", b','),
            Format::Tsv => ("TSV", b'\t'),
            Format::Text if is_separated(head, b',') => ("CSV", b','),
            Format::Text if is_separated(head, b'\t') => ("TSV", b'\t'),
            _ => return None,
        };
        let mut lines = text.lines();
        let names = fields(lines.next()?, separator);
        let is_name = |name: &String| {
            let is_usual = |c: char| c.is_alphanumeric() || " _-.,()#".contains(c);
            name.contains(char::is_alphabetic) && name.chars().all(is_usual)
        };
        if !names.iter().all(is_name) {
            return None;
        }
        let row = fields(lines.next()?, separator);
        let urls = row.iter().position(|field| field.contains("://"));
        let urls = urls.and_then(|at| names.get(at)).cloned();
        Some(Header { format, names, urls })
    }

    /// The options of `call` that read the column of URLs, of the input with this `name`.
    fn options(&self, name: &str, call: &Call) -> Option<Vec<String>> {
        let column = self.urls.as_deref().map_or_else(|| "NAME".to_owned(), typed);
        let from = self.format.to_ascii_lowercase();
        // What tables do not have: whose findings are lists, which CSV cannot hold, and what is for lines.
        const OF_LINES: [&str; 9] = [
            "-0",
            "--null",
            "--emit",
            "--aliases",
            "--differ",
            "--iri",
            "-g",
            "--template",
            "--redact",
        ];
        let is_of_lines = call.words == ["audit"] || OF_LINES.iter().any(|option| call.has(option));
        let mut options =
            vec![if call.takes("column") && !(is_of_lines && call.takes("link-column")) {
                format!("--column {column}")
            } else if call.takes("link-column") {
                format!("--extract --link-column {column}")
            } else {
                return None;
            }];
        if !name.to_ascii_lowercase().contains(&format!(".{from}")) {
            options.push(format!("--from {from}"));
        }
        Some(options)
    }

    /// What it is, with the names of its columns.
    fn shown(&self) -> String {
        const MOST: usize = 12;
        let names = &self.names[..self.names.len().min(MOST)];
        let more = if self.names.len() > MOST { ", ..." } else { "" };
        let columns = if self.names.len() == 1 { "column" } else { "columns" };
        format!("{} with the {columns} {}{more}", self.format, names.join(", "))
    }
}

/// The fields of a line, without quotes around them.
fn fields(line: &str, separator: u8) -> Vec<String> {
    let mut in_quotes = false;
    let all = line.split(|c: char| {
        in_quotes ^= c == '"';
        c == char::from(separator) && !in_quotes
    });
    all.map(|field| field.trim().trim_matches('"').replace("\"\"", "\"")).collect()
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

    fn told(head: &str, name: &str, is_odd: bool, typed: &str) -> Option<String> {
        let call = Call::of(typed.split(' ').map(str::to_owned).collect());
        advice(head.as_bytes(), name, is_odd, &call)
    }

    #[test]
    fn a_hint_is_the_command_that_was_typed_with_options_that_it_has() {
        const LOG: &str = "h - - [10/Oct/2000:13:55:36 -0700] \"GET /i HTTP/1.0\" 200 1\n";
        for (head, name, typed, expected) in [
            (LOG, "nginx.log", "top nginx.log", "uriscan top --extract nginx.log"),
            (LOG, "x", "top --by domain x", "uriscan top --extract --by domain x"),
            (LOG, "x", "set add s.set x", "uriscan set add --extract s.set x"),
            (LOG, "-", "dedup", "uriscan dedup --extract"),
            (LOG, "a b", "resolve --base http://h/ ab", "uriscan extract 'a b'"),
            ("<html>\n", "x.html", "check x.html", "uriscan check --extract --base URL x.html"),
            (
                "<html>\n",
                "x",
                "dedup --base=http://h/ x",
                "uriscan dedup --extract --base=http://h/ x",
            ),
            ("1,http://h/\n2,http://i/\n", "x", "dedup x", "uriscan dedup --extract --from csv x"),
            ("id,url\n1,http://h/\n", "x.csv", "dedup x.csv", "uriscan dedup --column url x.csv"),
            ("id,url\n1,http://h/\n", "-", "key -q", "uriscan key --column url --from csv -q"),
            (
                "id\turl\n1\thttp://h/\n",
                "x.tsv.gz",
                "parse x.tsv.gz",
                "uriscan parse --column url x.tsv.gz",
            ),
            (
                "id,url\n1,http://h/\n",
                "x.csv",
                "census x.csv",
                "uriscan census --extract --link-column url x.csv",
            ),
            (
                "id,url\n1,http://h/\n",
                "x.csv",
                "audit x.csv",
                "uriscan audit --extract --link-column url x.csv",
            ),
            (
                "id,url\n1,http://h/\n",
                "x.csv",
                "check --differ x.csv",
                "uriscan check --extract --link-column url --differ x.csv",
            ),
            (
                "id,url\n1,http://h/\n",
                "x.csv",
                "dedup --base http://u:hun'ter2@h/ x.csv",
                "uriscan dedup --column url --base 'http://u:***@h/' x.csv",
            ),
            ("id,path\n1,/a\n", "x.csv", "dedup x.csv", "uriscan dedup --column NAME x.csv"),
            (
                "id,url\n1,http://h/\n",
                "x",
                "resolve --base http://h/ x",
                "uriscan extract --from csv x",
            ),
        ] {
            let told = told(head, name, true, typed).unwrap();
            assert!(told.ends_with(&format!("Try `{expected}`")), "{typed}: {told}");
        }
        let many = format!("top {}", "file ".repeat(1000));
        assert!(told(LOG, "file", true, &many).unwrap().ends_with(" file ...`"));
    }

    #[test]
    fn a_table_that_is_read_as_lines_is_told_with_its_columns() {
        let list = |head, name| told(head, name, false, &format!("dedup {name}"));
        for (head, name, expected) in [
            (
                "url,name\nhttp://h/,a\n",
                "x.csv",
                "x.csv looks like CSV with the columns url, name, and was read as lines. Try `uriscan dedup --column url x.csv`",
            ),
            (
                "\"the url\",\"a,b\"\nhttp://h/,a\n",
                "x",
                "x looks like CSV with the columns the url, a,b, and was read as lines. Try `uriscan dedup --column 'the url' --from csv x`",
            ),
            (
                "url\nhttp://h/\n",
                "x.csv",
                "x.csv looks like CSV with the column url, and was read as lines. Try `uriscan dedup --column url x.csv`",
            ),
        ] {
            assert_eq!(list(head, name).as_deref(), Some(expected));
        }
        for (head, name) in [
            ("http://h/a,b\nhttp://h/c,d\n", "x"),
            ("http://h/a,b\nhttp://h/c,d\n", "x.csv"),
            ("a,b\nc,d\n", "x"),
            ("/a,b\nhttp://h/c,d\n", "x"),
            ("mailto:a,b\nhttp://h/c,d\n", "x.csv"),
            ("url\nhttp://h/\n", "x"),
            ("", "x.csv"),
        ] {
            assert_eq!(list(head, name), None, "{head}");
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
            ("", "''"),
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
