//! How a run ends: exit codes 0 (done), 1 (invalid records or findings) and 2 (error), and messages.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use uriscan::audit::redact_into;
use uriscan::set::SetError;
use uriscan::{Error, ErrorKind};
use uriscan_bulk::io::escaped;

/// How a run without an error ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// There were invalid records or findings, and the exit code reports them.
    SomeInvalid,
    /// Some of the input could not be read, which was reported; the rest is done.
    SomeUnread,
    /// The reader of the output went away before the end, as `head` does.
    ReaderGone,
}

impl Outcome {
    pub(crate) fn code(self) -> u8 {
        match self {
            Outcome::Done | Outcome::ReaderGone => 0,
            Outcome::SomeInvalid => 1,
            Outcome::SomeUnread => 2,
        }
    }
}

/// An error message, one line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Failure {
        Failure(what.into())
    }

    /// An error with the name of a file or option.
    pub(crate) fn at(name: impl std::fmt::Display, what: impl std::fmt::Display) -> Failure {
        Failure(format!("{name}: {what}"))
    }

    /// The failure for `error`; `advice` follows where a set can be created.
    pub(crate) fn of_set(error: &SetError, advice: &str) -> Failure {
        match error.is_vacant() {
            true => Failure(format!("{error}; {advice}")),
            false => Failure(error.to_string()),
        }
    }
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Failure {
        Failure::of_set(&error, "`uriscan set create` creates it")
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// The exit code; prints the error, if any.
pub(crate) fn code(result: Result<Outcome, Failure>) -> ExitCode {
    match result {
        Ok(outcome) => ExitCode::from(outcome.code()),
        Err(failure) => {
            eprint_line(format_args!("uriscan: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Prints a line to standard error, ignoring errors.
///
/// Names and messages may come from outside, so it is [`shown`], and remains one line.
pub(crate) fn eprint_line(line: std::fmt::Arguments<'_>) {
    write_error(&format!("{}\n", shown(&line.to_string())));
}

/// Prints the lines of `text`, each as [`eprint_line`] does.
pub(crate) fn eprint_lines(text: &str) {
    let lines = text.split_terminator('\n').map(|line| format!("{}\n", shown(line)));
    write_error(&lines.collect::<String>());
}

/// The lines of `text` with control characters escaped.
pub(crate) fn escaped_lines(text: &str) -> String {
    text.split_terminator('\n').map(|line| format!("{}\n", escaped(line))).collect()
}

/// `text` as messages show it: control characters are [`escaped`], and the secrets of URLs masked.
pub(crate) fn shown(text: &str) -> String {
    shown_beside(text, std::env::args_os())
}

/// [`shown`], where the command line was `typed`: what was typed may have the spaces and quotes that end a URL in a text.
fn shown_beside(text: &str, typed: impl Iterator<Item = OsString>) -> String {
    let mut text = text.to_owned();
    for argument in typed {
        let argument = argument.to_string_lossy();
        let value = argument.split_once('=').map_or("", |(_, value)| value);
        let short = argument.strip_prefix('-').and_then(|rest| rest.get(1..)).unwrap_or_default();
        for typed in [&argument, value, short] {
            if masked_name(typed) == typed {
                continue;
            }
            // Messages also name its directories, and paths without empty parts.
            for name in Path::new(typed).ancestors().map(Path::to_string_lossy) {
                let masked = masked_name(&name);
                if masked != name {
                    let plain = |path: &str| Path::new(path).components().collect::<PathBuf>();
                    let plain = |path: &str| plain(path).display().to_string();
                    for (from, to) in [(&*name, &masked), (&plain(&name), &plain(&masked))] {
                        text = text.replace(from, to).replace(&escaped(from).to_string(), to);
                    }
                }
            }
        }
    }
    let text = &text;
    // A name, which may have spaces, is followed by a colon.
    let parts: Vec<String> = text.split(": ").map(shown_part).collect();
    escaped(&parts.join(": ")).to_string()
}

/// A part of a message, which is a name or text with names, without the secrets of URLs.
fn shown_part(text: &str) -> String {
    let is_name = |(scheme, _): (&str, &str)| scheme.chars().all(char::is_alphanumeric);
    if text.split_once("://").is_some_and(is_name) {
        return masked_url(text);
    }
    // An apostrophe may be one of a password.
    let is_end = |c: char| c.is_whitespace() || "\"`<>".contains(c);
    let words = text.split_inclusive(is_end).map(|word| {
        let end = word.trim_end_matches(|c| is_end(c) || "':;,.)".contains(c)).len();
        let (url, rest) = word.split_at(end);
        masked_url(url) + rest
    });
    words.collect()
}

/// A name, or what was typed, as messages show it: it is [`shown`], and may have spaces.
pub(crate) fn shown_name(name: &str) -> String {
    escaped(&masked_name(name)).to_string()
}

/// An argument of the command line, as [`shown_name`]; of an option with a value, the value for itself. What is typed as a parameter,
/// such as `token=abc` for `--match`, is masked as one.
pub(crate) fn shown_argument(typed: &str) -> String {
    let (option, value) = match typed.split_once('=') {
        Some((option, value)) if option.starts_with("--") => (format!("{option}="), value),
        _ => (String::new(), typed),
    };
    let shown = shown_name(value);
    // A path may have folders that are named so.
    let is_parameter = |(name, _): (&str, &str)| !name.contains(['/', '\\', '.', ':']);
    if !value.split_once('=').is_some_and(is_parameter) {
        return option + &shown;
    }
    let mut masked = Vec::new();
    redact_into(format!("?{shown}").as_bytes(), &mut masked);
    option + &String::from_utf8_lossy(&masked[1..])
}

/// [`masked_url`] of all of `name`, in which spaces and quotes are characters like others, as a password may have them.
fn masked_name(name: &str) -> String {
    const ENDS: &str = " \t\r\n\"'<>";
    // Private-use characters replace them.
    const FIRST: u32 = 0xF_0000;
    let stand_in = |c: char| ENDS.find(c).and_then(|at| char::from_u32(FIRST + at as u32));
    let own = |c: char| ENDS.chars().find(|&end| stand_in(end) == Some(c));
    let masked = masked_url(&name.chars().map(|c| stand_in(c).unwrap_or(c)).collect::<String>());
    masked.chars().map(|c| own(c).unwrap_or(c)).collect()
}

/// `name` without user information, query, fragment and other secrets if it is or has a URL. Objects of stores have no query, and the
/// container of Azure is where others have a user.
fn masked_url(name: &str) -> String {
    const STORES: [&str; 5] = ["s3", "gs", "az", "abfs", "abfss"];
    // Those of browsers need no slashes.
    const SPECIAL: [&str; 5] = ["http:", "https:", "ftp:", "ws:", "wss:"];
    let lower = name.to_ascii_lowercase();
    let is_url = name.split(':').skip(1).any(|rest| rest.starts_with(['/', '\\', '%']))
        || ["%3a", "//", "\\\\"].iter().chain(&SPECIAL).any(|part| lower.contains(part));
    let scheme = name.split("://").next().unwrap_or_default();
    // A reference to be resolved may have a query, too.
    if !is_url && !name.contains('?') {
        return name.to_owned();
    }
    if STORES.iter().any(|store| store.eq_ignore_ascii_case(scheme)) {
        return masked_object(name);
    }
    let mut masked = Vec::with_capacity(name.len());
    redact_into(name.as_bytes(), &mut masked);
    let masked = String::from_utf8_lossy(&masked);
    if !is_url {
        return masked.into_owned();
    }
    // A query and a fragment may be keys as a whole.
    let shown = masked.find(['?', '#']).map_or(masked.len(), |at| at + 1);
    match masked.len() > shown {
        true => format!("{}...", &masked[..shown]),
        false => masked.into_owned(),
    }
}

/// `name`, the URL of an object, with its password and its query masked. Such a URL is invalid, but is printed.
fn masked_object(name: &str) -> String {
    // A `?` may be a part of a pattern.
    let is_query = |rest: &str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && !"-_.".contains(c));
        end.is_some_and(|end| rest[end..].starts_with('='))
    };
    let cut = name.split_once('?').filter(|(_, rest)| is_query(rest));
    let (plain, query) = cut.map_or((name, ""), |(plain, _)| (plain, "?..."));
    let start = plain.find("://").map_or(0, |at| at + 3);
    let end = plain[start..].find('/').map_or(plain.len(), |at| start + at);
    let bucket = &plain[start..end];
    match bucket.rfind('@').and_then(|at| Some((at, bucket[..at].find(':')?))) {
        Some((at, colon)) => {
            format!("{}***{}{query}", &plain[..start + colon + 1], &plain[start + at..])
        }
        None => format!("{plain}{query}"),
    }
}

fn write_error(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}

/// Why a run ends before it is done.
pub(crate) enum Stop {
    /// An output cannot be written.
    Unwritten(io::Error),
    Failed(Failure),
}

impl From<io::Error> for Stop {
    fn from(error: io::Error) -> Stop {
        Stop::Unwritten(error)
    }
}

impl From<SetError> for Stop {
    fn from(error: SetError) -> Stop {
        Stop::Failed(error.into())
    }
}

impl From<Failure> for Stop {
    fn from(failure: Failure) -> Stop {
        Stop::Failed(failure)
    }
}

impl From<Error> for Stop {
    fn from(error: Error) -> Stop {
        match (error.kind(), advice(error.kind())) {
            (ErrorKind::Write, _) => Stop::Unwritten(error.into_io()),
            (_, Some(advice)) => Stop::Failed(Failure::new(format!("{error}; {advice}"))),
            (_, None) => Stop::Failed(Failure::new(error.to_string())),
        }
    }
}

/// What to do about an error of this kind, where that is the same for all commands.
fn advice(kind: ErrorKind) -> Option<&'static str> {
    Some(match kind {
        ErrorKind::Invalid => "use --on-invalid pass or drop, or --rejects FILE, to continue",
        ErrorKind::Spill => "--temp-dir names another directory",
        ErrorKind::Partition => "--no-hive takes that of the file",
        ErrorKind::Partitions => "--max-partitions allows more",
        ErrorKind::ColumnExists => "--into NAME gives the new one another name",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_the_command_line_are_masked() {
        for (typed, expected) in [
            ("token=abc", "token=***"),
            ("--match=token=abc", "--match=token=***"),
            ("a=b&api_key=c", "a=b&api_key=***"),
            ("a=b", "a=b"),
            ("--match", "--match"),
            ("http://u:S@h/?token=abc", "http://u:***@h/?..."),
            // Folders and files may be named so.
            ("lists/session=5/part.txt", "lists/session=5/part.txt"),
            ("--output=lists/session=5/x", "--output=lists/session=5/x"),
        ] {
            assert_eq!(shown_argument(typed), expected);
        }
    }

    #[test]
    fn messages_show_no_secrets_of_urls() {
        for (text, expected) in [
            ("http://u:S@h/x: not found", "http://u:***@h/x: not found"),
            ("cannot read http://u:S@h/x?sig=S: a; b", "cannot read http://u:***@h/x?...: a; b"),
            ("`https://S@h?S` and 'ftp://u:S@h/'", "`https://***@h?...` and 'ftp://u:***@h/'"),
            ("http:/u:S@h/a and http:\\\\u:S@h", "http:/u:***@h/a and http:\\\\u:***@h"),
            ("--seen=http://u:S@h/x", "--seen=http://u:***@h/x"),
            ("h/http%3A%2F%2Fu%3AS%40h", "h/http%3A%2F%2Fu%3A***%40h"),
            ("a/http://u:S@h/#token=S", "a/http://u:***@h/#..."),
            ("https://h/x#S: not found", "https://h/x#...: not found"),
            ("https://h/x?#S", "https://h/x?..."),
            ("http://h/#S?a", "http://h/#..."),
            ("https://h/x#...: not found", "https://h/x#...: not found"),
            ("{\"name\":\"http://u:S@h/\",\"b\":1}", "{\"name\":\"http://u:***@h/\",\"b\":1}"),
            ("http://h/x?...: not found", "http://h/x?...: not found"),
            ("http:u:S@h/: not found", "http:u:***@h/: not found"),
            ("//u:S@h/: not found", "//u:***@h/: not found"),
            ("s3://b/k?X-Amz-Signature=S: not found", "s3://b/k?...: not found"),
            ("--base a?token=S&b=1: what", "--base a?token=***&b=1: what"),
            ("az://u:S@c/k: not found", "az://u:***@c/k: not found"),
            ("abfss://c@a/k: not found", "abfss://c@a/k: not found"),
            ("http://u:S@h/x?... and http://u:S@h/?S", "http://u:***@h/x?..."),
            ("a\x1b[2J\u{9b}b\u{202e}", "a\\x1b[2J\\u{9b}b\\u{202e}"),
        ] {
            assert_eq!(shown(text), expected);
            assert!(!text.contains("S@") || !shown(text).contains('S'), "{text}");
        }
        assert_eq!(shown_name("--a=http://u:S@h/a\x07?S b"), "--a=http://u:***@h/a\\x07?...");
        let typed = ["uriscan", "--seen=http://u:S 'S@h/a", "-ohttp:u:\"S S@h/b/c"];
        for (text, expected) in [
            ("http://u:S 'S@h/a/set: not found", "http://u:***@h/a/set: not found"),
            ("there is no directory http://u:S 'S@h", "there is no directory http://u:***@h"),
            ("there is no directory http:/u:S 'S@h", "there is no directory http:/u:***@h"),
            ("`http:u:\"S S@h/b` is x", "`http:u:***@h/b` is x"),
        ] {
            assert_eq!(shown_beside(text, typed.iter().map(OsString::from)), expected);
        }
        let failure = Failure::at("http://u:S S@h/a?S b", "what").to_string();
        assert_eq!(shown(&format!("uriscan: {failure}")), "uriscan: http://u:***@h/a?...: what");
    }

    #[test]
    fn messages_show_all_else() {
        for text in [
            "",
            "no such file: /a b/c?d=e: x@y",
            "12:30: a:b@c",
            "mailto:a@b git@h:p",
            "a//b:c@d and ./a b: c@d",
            "s3://b/a?.parquet and abfss://c@a.dfs.core.windows.net/k?: x",
            "http://h/a: try https://h/b.",
            "token=1; use --token 'x'",
        ] {
            assert_eq!(shown(text), text);
        }
    }
}
