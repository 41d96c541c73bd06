//! Starts the program and takes down what it does.

use std::ffi::OsStr;
use std::io::{ErrorKind, Write};
use std::process::{Command, Stdio};

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

    /// The results of a run that was done and had nothing to say.
    #[track_caller]
    pub(crate) fn quiet(self) -> String {
        assert_eq!((self.code, self.stderr.as_str()), (0, ""), "{:?}", self.text());
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
