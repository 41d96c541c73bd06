//! `uriscan extract`.

use std::path::PathBuf;

use uriscan::Error;
#[cfg(feature = "full")]
use uriscan::extract::{Extractor, Format};
use uriscan_bulk::pipeline::{self, ExtractOptions, LinkFormat, LinkShape};

use crate::args;
use crate::documents::Documents;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::filters;
use crate::job::{Done, Job, RowsAre, Run, Runner, Writes};
use crate::options::{extract_options, link_base};
use crate::output::{Destination, is_jsonl};
use crate::plan::{Plan, Reporting};
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::Extract {
    pub(super) fn plan(mut self, environment: &Environment) -> Result<Plan, Failure> {
        match (&self.table.column, self.find.from.is_some(), self.column_format.take()) {
            (None, true, Some(_)) => {
                return Err(Failure::at("--column-format", "requires --column; use --from"));
            }
            // `--from` is the format of the table.
            (Some(_), _, values) => self.find.from = values,
            (None, false, values) => self.find.from = values,
            (None, true, None) => {}
        }
        let mut options = extract_options(&self.find, self.unicode)?;
        options.extractor.base = link_base(self.base.as_deref())?;
        let has_columns = self.with_filename || self.line_number || self.byte_offset;
        let is_plain = !(self.count || has_columns || self.context);
        self.jsonl |= self.table.column.is_none()
            && match (&self.to, &self.common.destination.output) {
                (Some(to), _) => to == "jsonl",
                (None, Some(path)) => is_plain && is_jsonl(path),
                (None, None) => false,
            };
        if let (None, Some(to), false) = (&self.table.column, &self.to, self.jsonl) {
            let what = "links are written as lines or jsonl; --column NAME reads and writes tables";
            return Err(Failure::at(format_args!("--to {to}"), what));
        }
        let format = link_format(&self, environment);
        let walks = self.walk.files_from.is_some() || self.walk.hidden || self.walk.text;
        // Only the summary and the page show the number of invalid links.
        let summary = Reporting::summary(&self.common.reporting, environment);
        let is_shown = summary.is_some() || self.page.report.is_some();
        let counting = options.clone().count_invalid(is_shown);
        let extractor = &options.extractor;
        let is_plain = format == LinkFormat::default() && !walks;
        let job = Job {
            name: "extract",
            writes: Writes::Links,
            has_filter: !extractor.filter.is_empty() || !extractor.requests.is_empty(),
            rows_are: if is_plain { RowsAre::Extended } else { RowsAre::Columns },
            ..Job::default()
        };
        let runner = Box::new(Extract {
            options: counting,
            format,
            #[cfg(feature = "full")]
            walks,
        });
        let has_files = self.walk.files_from.is_some();
        let no_files = has_files && self.common.input.files.is_empty();
        if no_files {
            // Only the files of the list; without this, standard input would be read.
            self.common.input.files = vec![PathBuf::from("-")];
        }
        let mut plan = Plan::of_job((job, runner), None, self.common, false, environment)?;
        if no_files {
            plan.inputs.clear();
        }
        plan.evidence.extend(self.walk.files_from.clone());
        plan.evidence.extend(filters::paths(&self.find.filters).cloned());
        plan.documents = Some(Documents { options, walk: self.walk, index: self.find.index });
        plan.reading_typed(&self.typed)?.with_report(self.page)
    }
}

fn link_format(typed: &args::Extract, environment: &Environment) -> LinkFormat {
    let output = Destination::of_option(typed.common.destination.output.clone());
    let is_shown = environment.stdout_is_terminal && output == Destination::Stdout;
    LinkFormat::default()
        .shape(match (typed.jsonl, typed.count) {
            (true, _) => LinkShape::Jsonl,
            (_, true) => LinkShape::Count,
            _ => LinkShape::Line,
        })
        .with_filename(typed.with_filename)
        .escapes_names(typed.with_filename && is_shown)
        .line_number(typed.line_number)
        .byte_offset(typed.byte_offset)
        .context(typed.context)
}

struct Extract {
    options: ExtractOptions,
    format: LinkFormat,
    /// Whether other files than those that were named are asked for.
    #[cfg(feature = "full")]
    walks: bool,
}

impl Runner for Extract {
    fn run(&self, Run { sources, rows, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        if let Some(rows) = rows {
            let options = &self.options;
            return Ok(pipeline::extract_rows(sources, rows, options, settings, sinks)?.into());
        }
        Ok(pipeline::extract(sources, &self.options, self.format, settings, sinks)?.into())
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &Job, _: &TableUse) -> Result<(Task, Columns), Failure> {
        let refuse = |what| Err(Failure::at("--column", what));
        if self.format != LinkFormat::default() {
            return refuse(
                "-H, -n, -b, -c, --context and --jsonl work with files of text, not with tables",
            );
        }
        if self.walks {
            return refuse(
                "--files-from, --hidden and -a work with files of text, not with tables",
            );
        }
        let ExtractOptions { extractor, format, .. } = &self.options;
        let usual = if extractor.is_of_logs() { Format::Clf } else { Format::Text };
        let extractor = Box::new(Extractor::new(extractor.clone()));
        Ok((Task::Extract(extractor, format.unwrap_or(usual)), Columns::default()))
    }
}
