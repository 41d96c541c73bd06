//! `uriscan normalize`.

use uriscan::Error;
use uriscan::key::Hasher;
use uriscan_bulk::pipeline::{self, Equivalence, OnInvalid};

use crate::args;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Aliased, Done, Job, Run, Writes};
use crate::options::{by_profile, equivalence_by, on_invalid};
use crate::plan::Plan;
#[cfg(feature = "full")]
use crate::tables::{Columns, Form, TableUse, Task};

impl args::Normalize {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let equivalence = equivalence_by(self.grammar.grammar, &self.equivalence)?;
        let equivalence = by_profile(equivalence, &self.profile)?;
        let job = Normalize { equivalence, on_invalid };
        let strict = self.invalid.strictness.strict;
        let plan = Plan::of_job(Box::new(job), rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        plan.with_evidence(&self.equivalence)?
            .redacting(self.redaction.redact)
            .reading(&self.from, LinkUse::of_equivalence(&self.equivalence))
    }
}

/// Writes canonical forms.
#[derive(Debug)]
struct Normalize {
    equivalence: Equivalence,
    on_invalid: OnInvalid,
}

impl Job for Normalize {
    fn name(&self) -> &'static str {
        "normalize"
    }

    fn writes(&self) -> Writes {
        Writes::Records
    }

    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let Normalize { equivalence, on_invalid } = self;
        Ok(pipeline::normalize(sources, equivalence, *on_invalid, settings, sinks)?.into())
    }

    fn equivalence(&self) -> Option<&Equivalence> {
        Some(&self.equivalence)
    }

    fn equivalence_mut(&mut self) -> Option<&mut Equivalence> {
        Some(&mut self.equivalence)
    }

    fn on_invalid(&self) -> Option<OnInvalid> {
        Some(self.on_invalid)
    }

    fn aliased(&mut self) -> Option<Aliased<'_>> {
        let equivalence = &mut self.equivalence;
        Some(Aliased { equivalence, hasher: Hasher::random(), keeps: true })
    }

    fn is_in_place(&self) -> bool {
        true
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &TableUse) -> Result<(Task, Columns), Failure> {
        Ok((Task::Form(Form::Normalized), Columns::new(self.equivalence.clone())))
    }
}
