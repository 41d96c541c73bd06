//! The output of `--version`: the version, and the backends of this machine.

use uriscan::key::PublicHash;
use uriscan::{Backend, Kernels};

use crate::environment::{BACKEND_VARIABLE, Environment};

/// The text after the program's name.
pub(crate) fn long(environment: &Environment) -> String {
    let chosen = match environment.kernels(None) {
        Ok(kernels) if environment.backend.is_some() => {
            format!("{} (by {BACKEND_VARIABLE})", kernels.backend().name())
        }
        Ok(kernels) => kernels.backend().name().to_owned(),
        Err(failure) => format!("none ({failure})"),
    };
    let names = |is_wanted: fn(Backend) -> bool| {
        let names: Vec<&str> =
            Backend::ALL.into_iter().filter(|&b| is_wanted(b)).map(Backend::name).collect();
        if names.is_empty() { "none".to_owned() } else { names.join(", ") }
    };
    debug_assert_eq!(
        Kernels::available().count(),
        names(Backend::is_available).split(", ").count()
    );
    format!(
        "{version}\nbackend: {chosen}\navailable: {available}\nnot available: {missing}\n\
         hash: {hash}\ntarget: {arch}-{os}",
        version = env!("CARGO_PKG_VERSION"),
        available = names(Backend::is_available),
        missing = names(|backend| !backend.is_available()),
        hash = PublicHash::ALL.map(PublicHash::name).join(", "),
        arch = std::env::consts::ARCH,
        os = std::env::consts::OS,
    )
}
