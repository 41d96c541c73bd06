//! `uriscan top`.

use uriscan::Error;
use uriscan::extract::{Context, ExtractorOptions};
use uriscan_bulk::pipeline::{self, By, OnInvalid, TopOptions};

use crate::args::{self, TopFormat};
use crate::bar::View;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::{Failure, eprint_line};
use crate::job::{AliasUse, Done, Job, RowsAre, Run, Runner};
use crate::options::{answer_format, equivalence, memory_limit, on_invalid};
use crate::plan::Plan;
use crate::top::{self, NO_SITE};

impl args::Top {
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
            .on_invalid(on_invalid)
            .most(if self.limit == 0 { usize::MAX } else { self.limit })
            .distinct(self.distinct)
            .masked(self.page.report.is_some())
            .limit(memory_limit(&self.memory, &self.common, environment));
        let strict = self.invalid.strictness.strict;
        let job = Job {
            name: "top",
            equivalence: equivalence(&self.equivalence)?,
            compares: true,
            aliases: Some(AliasUse { hasher: options.hasher.clone(), keeps: true }),
            on_invalid: Some(on_invalid),
            // They have no parts to count.
            skips_invalid: on_invalid == OnInvalid::Pass,
            limit: options.limit.clone(),
            rows_are: RowsAre::Read,
            is_distinct: self.distinct,
            ..Job::default()
        };
        let is_quiet = self.common.reporting.quiet;
        let to = answer_format(self.to, &self.common.destination)?;
        let runner = Top { options, view: View::new(to, &self.common, environment), is_quiet };
        let mut plan =
            Plan::of_job((job, Box::new(runner)), rejects, self.common, strict, environment)?
                .reading_typed(&self.typed)?
                .with_evidence(&self.equivalence)?
                .reading(&self.links, LinkUse::of_equivalence(&self.equivalence))?;
        if let Some(documents) = &mut plan.documents {
            select_entries(self.by, &mut documents.options.extractor);
        }
        plan.with_report(self.page)
    }

    /// An error if a part of entries is counted, and an option is given that has no use then.
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
fn select_entries(by: By, extractor: &mut ExtractorOptions) {
    extractor.log_part = by.log_part();
    if extractor.log_fields.is_empty() && !extractor.requests.is_empty() {
        extractor.log_fields = vec![Context::Target];
    }
    // What is counted does not depend on the host.
    let is_apart = matches!(
        by,
        By::WholePath | By::Path(_) | By::Extension | By::Param | By::Url | By::Shape { .. }
    );
    if is_apart && extractor.is_of_logs() {
        extractor.base.get_or_insert_with(|| NO_SITE.into());
    }
}

struct Top {
    /// Without the equivalence, which is that of the job.
    options: TopOptions,
    view: View<TopFormat>,
    is_quiet: bool,
}

impl Runner for Top {
    fn run(&self, Run { job, sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let options = self.options.clone().equivalence(job.equivalence.clone());
        let counts = pipeline::top(sources, &options, settings, sinks)?;
        let text = top::of_top(&counts, self.view, self.options.distinct);
        sinks.out.write_all(text.as_bytes()).map_err(Error::write)?;
        let repeating = top::repeating(&counts).filter(|_| !self.is_quiet);
        for what in [repeating, top::inexact(&counts)].into_iter().flatten() {
            eprint_line(format_args!("uriscan: {what}"));
        }
        Ok(Done { report: counts.report, top: Some(counts), ..Done::default() })
    }
}
