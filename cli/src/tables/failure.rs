//! Errors of jobs on tables, with advice.

use uriscan::table::TableError;

use crate::exit::Failure;

/// The failure of a run because of `error`.
pub(super) fn failure(error: TableError) -> Failure {
    match error {
        error @ TableError::Invalid { .. } => Failure::new(format!(
            "{error}; use --on-invalid pass or drop, or --rejects FILE, to continue"
        )),
        error @ TableError::Spill(_) => {
            Failure::new(format!("{error}; --temp-dir names another directory"))
        }
        error @ TableError::Partition { .. } => {
            Failure::new(format!("{error}; --no-hive takes that of the file"))
        }
        error @ TableError::Exists { .. } => {
            Failure::new(format!("{error}; --into NAME gives the new one another name"))
        }
        error @ TableError::Partitions { .. } => {
            Failure::new(format!("{error}; --max-partitions allows more"))
        }
        error => Failure::new(error.to_string()),
    }
}

/// Suppresses the messages of panics in decoders, which become errors.
pub(super) fn hide_panics_of_decoders() {
    let default = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if !uriscan::table::is_decoding() {
            default(panic);
        }
    }));
}
