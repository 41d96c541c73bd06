//! `--stats-file`: the summary as JSON in a file, however a run ends, for those who watch runs.
//!
//! The file is replaced as a whole at the very end, and only if it is one of these: a list that was named by mistake stays as
//! it was. Nothing is written where paths conflict, or after a signal.

use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde_json::{Map, Value, json};
use uriscan::set::Timestamp;
use uriscan_files::File;

use crate::exit::{Failure, Outcome, eprint_lines, shown, shown_argument};
use crate::options::side_file;
use crate::output::{Destination, write_text};

/// A longer file is not a summary.
const LONGEST: u64 = 1 << 20;

/// What a run leaves for the file.
#[derive(Debug, Default)]
pub(crate) struct Account {
    path: Option<PathBuf>,
    started: Option<Timestamp>,
    /// The summary of a run that was done.
    pub(crate) summary: Option<Map<String, Value>>,
    /// The file may be an input or another output, and is not written.
    pub(crate) has_conflict: bool,
}

impl Account {
    /// For a run whose account goes to `path`, if there is one.
    pub(crate) fn open(path: Option<PathBuf>) -> Result<Account, Failure> {
        let path = side_file("--stats-file", path)?;
        if let Some(path) = &path {
            refuse_foreign(path)?;
        }
        let started = path.is_some().then(|| Timestamp::of(SystemTime::now()));
        Ok(Account { path, started, ..Account::default() })
    }

    /// Writes the file of a run with the command line `args` that ended as `result`.
    pub(crate) fn write(
        self,
        args: &[OsString],
        result: &Result<Outcome, Failure>,
    ) -> Result<(), Failure> {
        let error = match result {
            Err(failure) => Some(shown(&failure.to_string())),
            Ok(Outcome::SomeUnread) => {
                Some("some of the input could not be read: see standard error".to_owned())
            }
            Ok(_) => None,
        };
        let exit_code = result.as_ref().map_or(2, |outcome| outcome.code());
        let Some(path) = self.path.filter(|_| !self.has_conflict) else { return Ok(()) };
        let options: Vec<String> =
            args.iter().skip(1).map(|arg| shown_argument(&arg.to_string_lossy())).collect();
        let own = json!({ "command": command(&options), "version": env!("CARGO_PKG_VERSION") });
        let mut fields = self.summary.or(own.as_object().cloned()).unwrap_or_default();
        fields.insert("started".to_owned(), json!(self.started.map(|time| time.to_string())));
        fields.insert("exit_code".to_owned(), json!(exit_code));
        fields.insert("options".to_owned(), json!(options));
        if let Some(error) = error {
            fields.insert("error".to_owned(), json!(error));
        }
        write_text(&format!("{}\n", Value::Object(fields)), &Destination::named(path)).map(|_| ())
    }
}

/// The file that arguments name which are wrong, so that nothing else knows it.
fn path_in(args: &[OsString]) -> Option<PathBuf> {
    let option = "--stats-file";
    let at = args.iter().position(|arg| arg.to_string_lossy().starts_with(option))?;
    match args[at].to_str()?.strip_prefix(option)? {
        "" => args
            .get(at + 1)
            .filter(|arg| !arg.to_string_lossy().starts_with('-'))
            .map(PathBuf::from),
        rest => rest.strip_prefix('=').map(PathBuf::from),
    }
}

/// Writes the account of a run that ends since its arguments are wrong.
pub(crate) fn of_refused(args: &[OsString], error: &clap::Error) {
    let Some(path) = path_in(args).filter(|_| error.use_stderr()) else { return };
    let text = error.to_string();
    let first = text.lines().next().unwrap_or_default();
    let first = first.strip_prefix("error: ").unwrap_or(first).to_owned();
    let written =
        Account::open(Some(path)).and_then(|it| it.write(args, &Err(Failure::new(first))));
    if let Err(failure) = written {
        eprint_lines(&format!("uriscan: {failure}"));
    }
}

/// The command, which for sets has two words.
fn command(options: &[String]) -> String {
    match options {
        [set, word, ..] if set == "set" => format!("{set} {word}"),
        [word, ..] => word.clone(),
        [] => String::new(),
    }
}

/// An error if the file at `path` exists and is not a summary.
fn refuse_foreign(path: &Path) -> Result<(), Failure> {
    let len = match path.metadata() {
        Ok(metadata) if metadata.is_file() => metadata.len(),
        _ => return Ok(()),
    };
    let is_summary = || {
        let mut text = Vec::new();
        File::open(path).ok()?.read_to_end(&mut text).ok()?;
        let fields: Map<String, Value> = serde_json::from_slice(&text).ok()?;
        Some(fields.contains_key("exit_code") && fields.contains_key("options"))
    };
    if len == 0 || len <= LONGEST && is_summary() == Some(true) {
        return Ok(());
    }
    let what = "already exists and is not a summary; name another file for --stats-file";
    Err(Failure::at(path.display(), what))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wrong_arguments_name_a_file_as_right_ones_do() {
        for (typed, expected) in [
            ("dedup --stats-file a.json --wrong", Some("a.json")),
            ("dedup --stats-file=a.json --wrong", Some("a.json")),
            ("dedup --stats-file --wrong", None),
            ("dedup --stats-files=a", None),
            ("dedup --wrong --stats-file", None),
            ("dedup --stats=json", None),
        ] {
            let args: Vec<OsString> = typed.split(' ').map(OsString::from).collect();
            assert_eq!(path_in(&args), expected.map(PathBuf::from), "{typed}");
        }
    }
}
