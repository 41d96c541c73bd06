//! The plan of `uriscan extract`.

use std::path::PathBuf;

use uriscan::pipeline::{LinkFormat, LinkShape};

use crate::args;
use crate::config::{Config, Documents, Job};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::filters;
use crate::options::{extract_options, link_base};
use crate::output::Destination;

impl args::Extract {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(mut self, environment: &Environment) -> Result<Config, Failure> {
        match (&self.table.column, self.find.from.is_some(), self.column_format.take()) {
            (None, true, Some(_)) => {
                return Err(Failure::at("--column-format", "requires --column; use --from"));
            }
            // `--from` is the format of the table.
            (Some(_), _, values) => self.find.from = values,
            (None, false, values) => self.find.from = values,
            (None, true, None) => {}
        }
        let mut options = extract_options(&self.find, self.iri)?;
        options.extractor.base = link_base(self.base.as_deref())?;
        self.jsonl |= self.table.column.is_none() && self.to.as_deref() == Some("jsonl");
        if let (None, Some(to), false) = (&self.table.column, &self.to, self.jsonl) {
            let what = "links are written as lines or jsonl; --column NAME reads and writes tables";
            return Err(Failure::at(format_args!("--to {to}"), what));
        }
        let format = link_format(&self, environment);
        let job = Job::Extract(options.clone(), format);
        let has_files = self.walk.files_from.is_some();
        let no_files = has_files && self.common.input.files.is_empty();
        if no_files {
            // Only the files of the list; without this, standard input would be read.
            self.common.input.files = vec![PathBuf::from("-")];
        }
        let mut config = Config::of_job(job, None, self.common, false, environment)?;
        if no_files {
            config.inputs.clear();
        }
        // Only the summary shows the number.
        config.job = Job::Extract(options.clone().count_invalid(config.summary.is_some()), format);
        config.evidence.extend(self.walk.files_from.clone());
        config.evidence.extend(filters::paths(&self.find.filters).cloned());
        config.documents = Some(Documents { options, walk: self.walk, index: self.find.index });
        config.reading_typed(&self.typed)?.with_report(self.page, None, environment)
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
