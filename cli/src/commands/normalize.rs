//! `uriscan normalize`.

use uriscan::Error;
use uriscan::key::Hasher;
use uriscan_bulk::pipeline::{self, Equivalence, OnInvalid};

use crate::args;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{AliasUse, Done, Job, Run, Runner, Writes};
use crate::options::{by_profile, equivalence_by, on_invalid};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, Form, TableUse, Task};

impl args::Normalize {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let equivalence = equivalence_by(self.grammar.grammar, &self.equivalence)?;
        let equivalence = by_profile(equivalence, &self.profile)?;
        let job = Job { is_in_place: true, ..of_forms("normalize", equivalence, on_invalid) };
        let strict = self.invalid.strictness.strict;
        let plan =
            Plan::of_job((job, Box::new(Normalize)), rejects, self.common, strict, environment)?
                .reading_typed(&self.typed)?;
        plan.with_evidence(&self.equivalence)?
            .redacting(self.redaction.redact)
            .reading(&self.from, LinkUse::of_equivalence(&self.equivalence))
    }
}

/// A job that writes a form of each record by `equivalence`.
pub(super) fn of_forms(name: &'static str, equivalence: Equivalence, on_invalid: OnInvalid) -> Job {
    Job {
        name,
        writes: Writes::Records,
        equivalence,
        compares: true,
        aliases: Some(AliasUse { hasher: Hasher::random(), keeps: true }),
        on_invalid: Some(on_invalid),
        ..Job::default()
    }
}

struct Normalize;

impl Runner for Normalize {
    fn run(&self, Run { job, sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let on_invalid = job.on_invalid.unwrap_or_default();
        Ok(pipeline::normalize(sources, &job.equivalence, on_invalid, settings, sinks)?.into())
    }

    #[cfg(feature = "full")]
    fn row_job(&self, job: &Job, _: &TableUse) -> Result<(Task, Columns), Failure> {
        Ok((Task::Form(Form::Normalized), Columns::new(job.equivalence.clone())))
    }
}
