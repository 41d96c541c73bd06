//! `uriscan top`.

use uriscan::Error;
use uriscan::extract::{Context, ExtractorOptions};
use uriscan_bulk::pipeline::{self, By, Equivalence, MemoryLimit, OnInvalid, TopOptions};

use crate::args::{self, ReportFile, TopFormat};
use crate::bar::View;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::{Failure, eprint_line};
use crate::job::{Aliased, Done, Job, RowsAre, Run, Writes};
use crate::options::{equivalence, memory_limit, on_invalid};
use crate::plan::Plan;
use crate::top::{self, NO_SITE};

impl args::Top {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let has_column = self.table.column.is_some();
        if has_column && (rejects.is_some() || self.common.input.null) {
            return Err(Failure::at(
                "--column",
                "--rejects and -0 work with lines, not with tables",
            ));
        }
        self.check_log_part()?;
        let options = TopOptions::default()
            .by(vec![self.by])
            .equivalence(equivalence(&self.equivalence)?)
            .on_invalid(on_invalid)
            .most(if self.limit == 0 { usize::MAX } else { self.limit })
            .distinct(self.distinct)
            .masked(self.page.report.is_some())
            .limit(memory_limit(&self.memory, &self.common, environment));
        let limit = options.limit.clone();
        let strict = self.invalid.strictness.strict;
        let job = Top { options, view: View::new(self.to, &self.common, environment) };
        let mut plan = Plan::of_job(Box::new(job), rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?
            .with_evidence(&self.equivalence)?
            .reading(&self.links, LinkUse::of_equivalence(&self.equivalence))?;
        if let Some(documents) = &mut plan.documents {
            select_entries(self.by, &self.page, &mut documents.options.extractor);
        }
        plan.with_report(self.page, limit.as_ref())
    }

    /// # Errors
    /// When a part of entries is counted, and an option is given that has no use then.
    fn check_log_part(&self) -> Result<(), Failure> {
        if self.by.log_part().is_none() {
            return Ok(());
        }
        let find = &self.links.find;
        let what = if !self.links.extract {
            "requires --extract, which reads the entries of a log"
        } else if !matches!(find.from.as_deref(), None | Some("auto" | "clf" | "w3c")) {
            "counts entries of logs; omit --from"
        } else if find.log_field.iter().any(|field| *field != Context::Target) {
            "counts entries, whatever fields they have; omit --log-field"
        } else if self.distinct {
            "counts entries, which have no equivalent ones; omit --distinct"
        } else if self.page.report.is_some() {
            "counts entries, and --report is about URIs; omit one of them"
        } else {
            return Ok(());
        };
        Err(Failure::at(format_args!("--by {}", self.by), what))
    }
}

/// Makes `extractor` find the parts of entries that are counted, or of selected entries the targets.
fn select_entries(by: By, page: &ReportFile, extractor: &mut ExtractorOptions) {
    extractor.log_part = by.log_part();
    if extractor.log_fields.is_empty() && !extractor.requests.is_empty() {
        extractor.log_fields = vec![Context::Target];
    }
    // What is counted does not depend on the host.
    let is_apart = matches!(
        by,
        By::WholePath | By::Path(_) | By::Extension | By::Param | By::Url | By::Shape { .. }
    );
    if is_apart && extractor.is_of_logs() && page.report.is_none() {
        extractor.base.get_or_insert_with(|| NO_SITE.into());
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
        sinks.out.write_all(text.as_bytes()).map_err(Error::write)?;
        if let Some(what) = top::repeating(&counts) {
            eprint_line(format_args!("uriscan: {what}"));
        }
        if let Some(what) = top::inexact(&counts) {
            eprint_line(format_args!("uriscan: {what}"));
        }
        Ok(Done { report: counts.report, top: Some(counts), ..Done::default() })
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

    fn rows_are(&self) -> RowsAre {
        RowsAre::Read
    }

    fn limit(&self) -> Option<&MemoryLimit> {
        self.options.limit.as_ref()
    }

    fn is_distinct(&self) -> bool {
        self.options.distinct
    }
}
