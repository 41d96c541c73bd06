//! `uriscan top`.

use uriscan::pipeline::{self, Equivalence, Error, MemoryLimit, OnInvalid, TopOptions};

use crate::args::{self, TopFormat};
use crate::bar::View;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::{Failure, eprint_line};
use crate::job::{Aliased, Done, Job, Run, Writes};
use crate::options::{equivalence, list_from, memory_limit, on_invalid};
use crate::plan::Plan;
use crate::tables::Column;
use crate::top;

impl args::Top {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let column = match (&self.column, &self.links.find.from) {
            (Some(column), from) => Some(Column::new(column, from.as_deref())?),
            (None, Some(from)) if !self.links.extract => return Err(list_from(from)),
            (None, _) => None,
        };
        if column.is_some() && (rejects.is_some() || self.common.input.null) {
            return Err(Failure::at(
                "--column",
                "--rejects and -0 work with lines, not with tables",
            ));
        }
        let options = TopOptions::default()
            .by(vec![self.by])
            .equivalence(equivalence(&self.equivalence)?)
            .on_invalid(on_invalid)
            .most(if self.limit == 0 { usize::MAX } else { self.limit })
            .distinct(self.distinct)
            .limit(memory_limit(&self.memory, &self.common, environment));
        let limit = options.limit.clone();
        let strict = self.invalid.strictness.strict;
        let job = Top { options, view: View::new(self.to, &self.common, environment) };
        let mut plan = Plan::of_job(Box::new(job), rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?
            .with_evidence(&self.equivalence)?
            .reading(&self.links, LinkUse::of_equivalence(&self.equivalence))?;
        if column.is_some() {
            // No value of a table has to be cut at a NUL, while a line feed may be in a value that repairs mend.
            plan.settings = plan.settings.record_end(b'\0');
        }
        plan.column = column;
        plan.with_report(self.page, limit, environment)
    }
}

/// Counts the most frequent values.
#[derive(Debug)]
struct Top {
    options: TopOptions,
    view: View<TopFormat>,
}

impl Job for Top {
    fn name(&self) -> &'static str {
        "top"
    }

    fn writes(&self) -> Writes {
        Writes::Answers
    }

    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let counts = pipeline::top(sources, &self.options, settings, sinks)?;
        let text = top::of_top(&counts, self.view, self.options.distinct);
        sinks.out.write_all(text.as_bytes()).map_err(Error::Write)?;
        if let Some(what) = top::inexact(&counts) {
            eprint_line(format_args!("uriscan: {what}"));
        }
        Ok(counts.report.into())
    }

    fn equivalence(&self) -> Option<&Equivalence> {
        Some(&self.options.equivalence)
    }

    fn equivalence_mut(&mut self) -> Option<&mut Equivalence> {
        Some(&mut self.options.equivalence)
    }

    fn on_invalid(&self) -> Option<OnInvalid> {
        Some(self.options.on_invalid)
    }

    fn aliased(&mut self) -> Option<Aliased<'_>> {
        let TopOptions { equivalence, hasher, .. } = &mut self.options;
        Some(Aliased { equivalence, hasher: hasher.clone(), keeps: true })
    }

    fn limit(&self) -> Option<&MemoryLimit> {
        self.options.limit.as_ref()
    }

    fn top(&self) -> Option<&TopOptions> {
        Some(&self.options)
    }
}
