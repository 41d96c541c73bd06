//! The aliases of `--rung protocol`, read before the run; faults in them are reported.

use std::sync::Arc;

use uriscan::io::Source;
use uriscan::key::Hasher;
use uriscan::pipeline::{AliasFault, Aliases, Emit, Equivalence};

use crate::config::{Config, Job};
use crate::exit::{Failure, eprint_line};
use crate::inputs;

/// Faults of one kind that are reported row by row; further ones are counted.
const TOLD: u64 = 20;

/// `config` with its aliases, if it has any.
///
/// # Errors
/// When the file cannot be read.
pub(crate) fn read(config: &Config) -> Result<Config, Failure> {
    let mut config = config.clone();
    let Some(path) = &config.aliases else { return Ok(config) };
    if inputs::look(path)?.is_none() {
        let what = "is not a regular file; aliases may be read twice, so a pipe does not work; write it to a file first";
        return Err(Failure::at(path.display(), what));
    }
    // Whether the targets themselves are needed, and not only compared.
    let has_set = config.set.is_some();
    let (equivalence, hasher, keeps): (&mut Equivalence, Hasher, bool) = match &mut config.job {
        Job::Dedup(dedup) => {
            let keeps = has_set || dedup.emit != Emit::Original;
            (&mut dedup.equivalence, dedup.hasher.clone(), keeps)
        }
        Job::Top(options, _) => (&mut options.equivalence, options.hasher.clone(), true),
        Job::Normalize { equivalence, .. } | Job::Key { equivalence, .. } => {
            (equivalence, Hasher::random(), true)
        }
        _ => return Ok(config),
    };
    let name = path.display();
    let mut counts = [0u64; AliasFault::ALL.len()];
    let mut report_fault = |fault: AliasFault, line: u64| {
        counts[fault as usize] += 1;
        if counts[fault as usize] <= TOLD {
            eprint_line(format_args!(
                "uriscan: {name}:{line}: {}: {}",
                fault.name(),
                fault.message()
            ));
        }
    };
    let open = || Source::file(path);
    let settings = &config.settings;
    let aliases = Aliases::read(&open, equivalence, hasher, keeps, settings, &mut report_fault)
        .map_err(|error| Failure::new(error.to_string()))?;
    for fault in AliasFault::ALL {
        let count = counts[fault as usize];
        if count > TOLD {
            eprint_line(format_args!("uriscan: {name}: {}: {count} rows in total", fault.name()));
        }
    }
    equivalence.aliases = Some(Arc::new(aliases));
    Ok(config)
}
