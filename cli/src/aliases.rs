//! The aliases of `--level protocol`, read before the run; faults in them are reported.

use std::sync::Arc;

use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{AliasFault, Aliases};

use crate::exit::{Failure, eprint_line};
use crate::inputs;
use crate::output::Content;
use crate::plan::Plan;

/// Faults of one kind that are reported row by row; further ones are counted.
const TOLD: u64 = 20;

/// Reads the aliases of `plan`, if it has any.
pub(crate) fn read(plan: &mut Plan) -> Result<(), Failure> {
    let Some(path) = &plan.aliases else { return Ok(()) };
    if inputs::look(path)?.is_none() {
        let what = "is not a regular file; aliases may be read twice, so a pipe does not work; write it to a file first";
        return Err(Failure::at(path.display(), what));
    }
    let (equivalence, Some(use_of_them)) = (&mut plan.job.equivalence, &plan.job.aliases) else {
        return Ok(());
    };
    // A report shows groups by their canonical forms.
    let keeps = use_of_them.keeps || plan.set.is_some() || plan.side.contains_key(&Content::Report);
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
    let settings = &plan.settings;
    let aliases = Aliases::read(
        &open,
        equivalence,
        use_of_them.hasher.clone(),
        keeps,
        settings,
        &mut report_fault,
    )
    .map_err(|error| Failure::new(error.to_string()))?;
    for fault in AliasFault::ALL {
        let count = counts[fault as usize];
        if count > TOLD {
            eprint_line(format_args!("uriscan: {name}: {}: {count} rows in total", fault.name()));
        }
    }
    equivalence.aliases = Some(Arc::new(aliases));
    Ok(())
}
