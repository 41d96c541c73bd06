//! The environment of the process: variables, machine, terminals.

use std::ffi::OsString;
use std::io::IsTerminal;
use std::path::PathBuf;

use uriscan::{Backend, Kernels};

use crate::exit::Failure;
use crate::memory;

/// The environment variable that holds the default of `--backend`.
pub(crate) const BACKEND_VARIABLE: &str = "URISCAN_BACKEND";

/// The environment of the process: variables, machine, terminals.
#[derive(Clone, Debug)]
pub(crate) struct Environment {
    pub(crate) backend: Option<OsString>,
    pub(crate) cores: usize,
    /// Bytes of memory that the machine or its control group has, if known.
    pub(crate) memory: Option<u64>,
    /// $TMPDIR, and the system's directory for temporary files.
    pub(crate) chosen_temp_dir: Option<PathBuf>,
    pub(crate) system_temp_dir: PathBuf,
    pub(crate) stdin_is_terminal: bool,
    pub(crate) stdout_is_terminal: bool,
    pub(crate) stderr_is_terminal: bool,
    /// Whether colours may be printed to a terminal.
    pub(crate) has_colour: bool,
}

impl Environment {
    pub(crate) fn of_process() -> Environment {
        Environment {
            backend: std::env::var_os(BACKEND_VARIABLE).filter(|name| !name.is_empty()),
            cores: std::thread::available_parallelism().map_or(1, usize::from),
            memory: memory::of_machine(),
            chosen_temp_dir: std::env::var_os("TMPDIR")
                .filter(|dir| !dir.is_empty())
                .map(PathBuf::from),
            system_temp_dir: std::env::temp_dir(),
            stdin_is_terminal: std::io::stdin().is_terminal(),
            stdout_is_terminal: std::io::stdout().is_terminal(),
            stderr_is_terminal: std::io::stderr().is_terminal(),
            has_colour: std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
                && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb"),
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
