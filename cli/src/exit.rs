//! How a run ends: 0 done, 1 some records were invalid or an audit found something, 2 could not do the job.

use std::process::ExitCode;

use uriscan::io::escaped;
use uriscan::set::SetError;

/// How a run that could do its job ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    Done,
    /// Some records were invalid, or there were findings, and the command was to say so.
    SomeInvalid,
    /// Some of the input could not be read, which has been told; the rest is done.
    SomeUnread,
    /// The reader of the output went away before the end, as `head` does: it has what it wanted.
    ReaderGone,
}

/// Why the job could not be done, in one line for people.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Failure(String);

impl Failure {
    pub(crate) fn new(what: impl Into<String>) -> Failure {
        Failure(what.into())
    }

    /// A failure at a file, or at whatever else has a name.
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

/// The exit code, after a word on standard error when there is something to say.
pub(crate) fn code(result: Result<Outcome, Failure>) -> ExitCode {
    match result {
        Ok(Outcome::Done | Outcome::ReaderGone) => ExitCode::SUCCESS,
        Ok(Outcome::SomeInvalid) => ExitCode::from(1),
        Ok(Outcome::SomeUnread) => ExitCode::from(2),
        Err(failure) => {
            tell(format_args!("uriscan: {failure}"));
            ExitCode::from(2)
        }
    }
}

/// Prints a line on standard error. When nobody is there to read it, that is no failure.
///
/// Names and messages in it may come from anywhere: a terminal gets escapes for what it would act on ([`escaped`]), and the line
/// stays one.
pub(crate) fn tell(line: std::fmt::Arguments<'_>) {
    write_error(&format!("{}\n", escaped(&line.to_string())));
}

/// Prints the lines of `text`, each as [`tell`] does.
pub(crate) fn tell_lines(text: &str) {
    write_error(&escaped_lines(text));
}

/// The lines of `text`, each with escapes for what a terminal would act on.
pub(crate) fn escaped_lines(text: &str) -> String {
    text.split_terminator('\n').map(|line| format!("{}\n", escaped(line))).collect()
}

fn write_error(text: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(text.as_bytes());
}
