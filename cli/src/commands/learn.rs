//! `uriscan learn`.

use std::sync::{Arc, PoisonError};

use uriscan::Error;
use uriscan::rules::{RuleSet, RulesFile};
use uriscan_bulk::pipeline::fields_of;
use uriscan_learn::{self as learn, LearnOptions, Read};

use crate::args::{self, TableChoice};
use crate::environment::Environment;
use crate::exit::{Failure, eprint_line};
use crate::job::{Done, Job, RowsAre, Run, Runner};
use crate::lists::SkippedSoFar;
use crate::options::{memory_limit, side_file};
use crate::output::Content;
use crate::plan::{Plan, RowUse};
use crate::rows;
use crate::rule_choice;
use crate::summary::counted;
use crate::tables::Column;

impl args::Learn {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        if self.common.input.null {
            let what = "rows are lines; omit it";
            return Err(Failure::at("-0", what));
        }
        let more = [&self.same, &self.canonical, &self.redirect];
        if self.column.is_some() && more.iter().all(|column| column.is_none()) {
            let what = "names the URLs; add --same, --canonical or --redirect for the column that says which pages are the same";
            return Err(Failure::at("--column", what));
        }
        let options = LearnOptions::default()
            .precision(self.precision)
            .confidence(self.confidence)
            .min_pages(self.min_pages)
            .date(self.date.clone())
            .repairs(self.repairs.chosen())
            .limit(memory_limit(&self.memory, &self.common, environment));
        let columns = more.map(Clone::clone);
        let tested = match &self.test {
            None => None,
            Some(path) => Some(rule_choice::of_file(path)?),
        };
        let (skipped, is_quiet) = (Arc::default(), self.common.reporting.quiet);
        let job = Job {
            name: "learn",
            skips_invalid: true,
            rows_are: RowsAre::Read,
            limit: options.limit.clone(),
            lacks_report: true,
            ..Job::default()
        };
        let runner = Learn { options, tested, columns: columns.clone(), skipped, is_quiet };
        let strict = self.strictness.strict;
        let mut plan =
            Plan::of_job((job, Box::new(runner)), None, self.common, strict, environment)?;
        plan.evidence.extend(rule_choice::files(&self.test));
        plan.add_side_file(Content::Undecided, side_file("--undecided", self.undecided)?);
        let Some(column) = self.column else { return Ok(plan) };
        let dialect = self.dialect;
        let choice =
            TableChoice { column: Some(column.clone()), dialect, ..TableChoice::default() };
        let formats = [self.from, None];
        match rows::options(&plan, (&choice, None), &formats)? {
            Some(options) => plan.rows = Some(RowUse { options, is_list: false, table: None }),
            None => {
                let [from, _] = &formats;
                plan.column = Some(Column::with_fields(&column, columns, from.as_deref())?);
            }
        }
        Ok(plan)
    }
}

struct Learn {
    options: LearnOptions,
    /// The rules that are tested instead.
    tested: Option<Arc<RuleSet>>,
    /// The columns of digests, canonical URLs and targets of redirects.
    columns: [Option<String>; 3],
    /// What was skipped in tables.
    skipped: SkippedSoFar,
    is_quiet: bool,
}

impl Learn {
    /// Prints that no row says which pages are the same, if so, and why.
    fn print_telling(&self, &Read { report, telling, derived, .. }: &Read) {
        if telling == 0 && !self.is_quiet {
            let why = match self.columns.iter().flatten().next() {
                None if report.records == 0 && derived > 0 => {
                    "the archives have no responses; WET has only their text, and WAT metadata, which is not read: name the WARC files of \
                     which they were made, or the index of these"
                }
                _ if report.records == 0 => "the input has no rows",
                Some(_) => "the columns that are named have no value in any row",
                None => {
                    "a row is a URL, a tab and a digest of its content; --column and --same name the columns of a table"
                }
            };
            let what = "no row says which pages are the same, so that nothing can be proven";
            eprint_line(format_args!("uriscan: {what}: {why}"));
        }
    }
}

/// Prints that access logs say nothing, if there are `entries` of them.
fn print_log_entries(entries: u64) {
    if entries > 0 {
        let lines = counted(entries, "line is", "lines are");
        eprint_line(format_args!(
            "uriscan: {lines} of an access log, which has neither digests nor the target of a redirect (Location), so that nothing can \
             be learned from it; log URL and Location ($sent_http_location of nginx), and name them by --column and --redirect"
        ));
    }
}

impl Runner for Learn {
    fn run(&self, Run { sources, rows, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let sources = match rows {
            None => sources,
            Some(rows) => {
                let more = self.columns.each_ref().map(Option::as_deref);
                let fields = |source| fields_of(source, rows, &more, settings, &self.skipped);
                sources.into_iter().map(fields).collect()
            }
        };
        let (mut read, learned) = match &self.tested {
            Some(rules) => {
                let tested = learn::test(sources, rules, &self.options, settings, sinks)?;
                if tested.sampled > 0 {
                    let sites = counted(tested.sampled, "site exceeds", "sites exceed");
                    eprint_line(format_args!(
                        "uriscan: {sites} the memory limit: only a sample of the pages was tested"
                    ));
                }
                (tested.read, None)
            }
            None => {
                let learned = learn::learn(sources, &self.options, settings, sinks)?;
                if learned.bytes > RulesFile::MOST_BYTES {
                    let what = "uriscan: --rules does not read the file, as it has more than 64 MiB; learn from fewer sites at a time";
                    eprint_line(format_args!("{what}"));
                }
                if learned.undecided_left_out > 0 {
                    let sites = counted(learned.undecided_left_out, "site", "sites");
                    let what = "URLs to fetch were left out, as there are more than 16 MiB of them: first those that decide least";
                    eprint_line(format_args!("uriscan: --undecided: of {sites} {what}"));
                }
                (learned.read, Some(learned))
            }
        };
        print_log_entries(read.log_entries);
        self.print_telling(&read);
        let skipped = self.skipped.lock().unwrap_or_else(PoisonError::into_inner);
        read.report.bad_rows += skipped.report.bad_rows;
        Ok(Done { report: read.report, learned, ..Done::default() })
    }
}
