//! Starts the program and takes down what it does.

use std::ffi::OsStr;
use std::fs;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

use tempfile::TempDir;

/// What a run left behind.
#[derive(Debug)]
pub(crate) struct Ran {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    pub(crate) stderr: String,
}

impl Ran {
    /// Standard output, which must be UTF-8.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.stdout).unwrap()
    }

    /// Standard error without the last line of a run that kept invalid records, which `stats.rs` tests.
    pub(crate) fn reported(&self) -> String {
        let is_about_invalid = |line: &&str| {
            line.contains(" kept (") && line.contains("--on-invalid drop omits them")
                || line.contains(" left out; --no-uri keep")
                || line.contains(" skipped (")
        };
        self.stderr.split_inclusive('\n').filter(|line| !is_about_invalid(line)).collect()
    }

    /// The results of a run that was done and had nothing to say, except that it kept invalid records, or omitted rows without a URI.
    #[track_caller]
    pub(crate) fn quiet(self) -> String {
        assert_eq!((self.code, self.reported().as_str()), (0, ""), "{:?}", self.text());
        String::from_utf8(self.stdout).unwrap()
    }

    /// The message of a run that could not do its job: one line, and no results.
    #[track_caller]
    pub(crate) fn refused(self) -> String {
        assert_eq!((self.code, self.text()), (2, ""), "{}", self.stderr);
        let line = self.stderr.strip_suffix('\n').unwrap();
        assert!(line.starts_with("uriscan: ") && !line.contains('\n'), "{line}");
        line.to_owned()
    }
}

/// The program, with nothing in its environment that it would look at.
pub(crate) fn program<S: AsRef<OsStr>>(args: impl IntoIterator<Item = S>) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uriscan"));
    command.args(args).env_remove("URISCAN_BACKEND");
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// Runs the program on `input`.
#[track_caller]
pub(crate) fn run<S: AsRef<OsStr>>(
    args: impl IntoIterator<Item = S>,
    input: impl AsRef<[u8]>,
) -> Ran {
    finish(program(args), input)
}

/// Runs `command` on `input`.
#[track_caller]
pub(crate) fn finish(mut command: Command, input: impl AsRef<[u8]>) -> Ran {
    let input = input.as_ref();
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let output = std::thread::scope(|scope| {
        // From a thread of its own, or both sides could wait for each other.
        scope.spawn(move || match stdin.write_all(input) {
            // A program that refuses its arguments does not read.
            Err(error) if error.kind() != ErrorKind::BrokenPipe => panic!("{error}"),
            _ => drop(stdin),
        });
        child.wait_with_output().unwrap()
    });
    Ran {
        code: output.status.code().expect("no signal"),
        stdout: output.stdout,
        stderr: String::from_utf8(output.stderr).unwrap(),
    }
}

/// A directory in which the program is run.
pub(crate) struct Place(TempDir);

impl Place {
    pub(crate) fn new(files: &[(&str, &str)]) -> Place {
        Place::of(tempfile::tempdir().unwrap(), files)
    }

    /// A directory in memory where the system has one, for files that are synced very often.
    #[cfg(unix)]
    pub(crate) fn in_memory(files: &[(&str, &str)]) -> Place {
        let memory = std::path::Path::new("/dev/shm");
        let directory =
            if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        Place::of(directory.unwrap(), files)
    }

    fn of(directory: TempDir, files: &[(&str, &str)]) -> Place {
        let place = Place(directory);
        files.iter().for_each(|(name, text)| fs::write(place.path(name), text).unwrap());
        place
    }

    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The names of all files, hidden ones included.
    pub(crate) fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = program(args);
        command.current_dir(self.0.path());
        command
    }

    pub(crate) fn run(&self, args: &[&str], input: &str) -> Ran {
        finish(self.command(args), input)
    }
}
