//! How a run ends: exit codes 0 (done), 1 (invalid records or findings) and 2 (error), and messages.

use std::process::ExitCode;

use uriscan::io::escaped;
use uriscan::set::SetError;

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
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Failure {
        Failure::new(error.to_string())
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
        Ok(Outcome::Done | Outcome::ReaderGone) => ExitCode::SUCCESS,
        Ok(Outcome::SomeInvalid) => ExitCode::from(1),
        Ok(Outcome::SomeUnread) => ExitCode::from(2),
        Err(failure) => {
            eprint_line(format_args!("uriscan: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Prints a line to standard error, ignoring errors.
///
/// Names and messages may come from outside, so control characters are [`escaped`] and the line remains one line.
pub(crate) fn eprint_line(line: std::fmt::Arguments<'_>) {
    write_error(&format!("{}\n", escaped(&line.to_string())));
}

/// Prints the lines of `text`, each as [`eprint_line`] does.
pub(crate) fn eprint_lines(text: &str) {
    write_error(&escaped_lines(text));
}

/// The lines of `text` with control characters escaped.
pub(crate) fn escaped_lines(text: &str) -> String {
    text.split_terminator('\n').map(|line| format!("{}\n", escaped(line))).collect()
}

fn write_error(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}
