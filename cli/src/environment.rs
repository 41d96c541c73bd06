//! The environment of the process: variables, machine, terminals.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use uriscan::{Backend, Kernels};

use crate::args::When;
use crate::exit::Failure;
use crate::memory;
use crate::output::Destination;

/// The environment variable that holds the default of `--backend`.
pub(crate) const BACKEND_VARIABLE: &str = "URISCAN_BACKEND";

#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) backend: Option<OsString>,
    pub(crate) cores: usize,
    /// Bytes of memory that the machine or its control group has, if known.
    pub(crate) memory: Option<u64>,
    /// Bytes of a memory limit that are for keys, so that tests reach it with small inputs.
    pub(crate) key_bytes: Option<usize>,
    /// $TMPDIR, and the system's directory for temporary files.
    pub(crate) chosen_temp_dir: Option<PathBuf>,
    pub(crate) system_temp_dir: PathBuf,
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    /// Whether colours are printed to a terminal, and whether to anything else.
    pub(crate) has_colour: [bool; 2],
}

/// What URISCAN_KEY_BYTES says, in builds for tests.
fn key_bytes() -> Option<usize> {
    let variable = cfg!(feature = "fault-injection").then(|| std::env::var("URISCAN_KEY_BYTES"));
    variable?.ok()?.parse().ok()
}

impl Environment {
    pub(crate) fn of_process() -> Environment {
        Environment {
            backend: std::env::var_os(BACKEND_VARIABLE).filter(|name| !name.is_empty()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory::of_machine(),
            key_bytes: key_bytes(),
            chosen_temp_dir: std::env::var_os("TMPDIR")
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from),
            system_temp_dir: std::env::temp_dir(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            has_colour: colours(|name| std::env::var_os(name).unwrap_or_default()),
        }
    }

    /// Whether results are coloured that go to `output`, given the value of `--color`.
    pub(crate) fn colours(&self, typed: When, output: &Destination) -> bool {
        let is_terminal = self.stdout_is_terminal && *output == Destination::Stdout;
        match typed {
            When::Always => true,
            When::Never => false,
            When::Auto => self.has_colour[usize::from(!is_terminal)],
        }
    }

    /// The backend to use, given the value of `--backend`.
    pub(crate) fn kernels(&self, typed: Option<OsString>) -> Result<Kernels, Failure> {
        let (name, origin) = match (typed, &self.backend) {
            (Some(name), _) => (name, "--backend"),
            (None, Some(name)) => (name.clone(), BACKEND_VARIABLE),
            (None, None) => return Ok(Kernels::detect()),
        };
        if name == "auto" {
            return Ok(Kernels::detect());
        }
        let backend = name.to_str().and_then(Backend::from_name);
        backend.and_then(Kernels::with).ok_or_else(|| {
            let name = name.display();
            let why = if backend.is_some() { "not available here" } else { "unknown backend" };
            let available: Vec<&str> = Kernels::available().map(|k| k.backend().name()).collect();
            let choice = available.join(", ");
            Failure::at(format_args!("{origin} {name}"), format_args!("{why}; use auto, {choice}"))
        })
    }
}

/// Whether colours are printed to a terminal, and whether to anything else, by the variables that `value` returns; one that
/// is not set is empty.
fn colours(value: impl Fn(&str) -> OsString) -> [bool; 2] {
    let forced = value("CLICOLOR_FORCE");
    if !value("NO_COLOR").is_empty() {
        [false; 2]
    } else if !forced.is_empty() && forced != "0" {
        [true; 2]
    } else {
        [value("TERM") != "dumb" && value("CLICOLOR") != "0", false]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_decide_about_colours() {
        for (set, expected) in [
            (&[][..], [true, false]),
            (&[("NO_COLOR", "1")], [false, false]),
            (&[("NO_COLOR", "")], [true, false]),
            (&[("CLICOLOR_FORCE", "1")], [true, true]),
            (&[("CLICOLOR_FORCE", "0")], [true, false]),
            (&[("CLICOLOR", "0")], [false, false]),
            (&[("CLICOLOR", "0"), ("CLICOLOR_FORCE", "1")], [true, true]),
            (&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], [false, false]),
            (&[("TERM", "dumb")], [false, false]),
            (&[("TERM", "xterm")], [true, false]),
        ] {
            let value = |name: &str| {
                let found = set.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value)).unwrap_or_default()
            };
            assert_eq!(colours(value), expected, "{set:?}");
        }
    }
}
