//! `uriscan explain`.

use std::path::Path;

use uriscan::Error;
use uriscan_bulk::pipeline::{self, ExplainFormat, ExplainOptions, Report, Sinks};

use crate::args;
use crate::environment::Environment;
use crate::exit::{Failure, eprint_line};
use crate::hint;
use crate::job::{Done, Job, Run, Runner};
use crate::options::{answer_format, equivalence};
use crate::output::Destination;
use crate::plan::Plan;

impl args::Explain {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let output = Destination::of_option(self.destination.output.clone());
        let has_colour = environment.colours(self.reporting.color, &output);
        let options = ExplainOptions::new(match answer_format(self.to, &self.destination)? {
            args::ExplainFormat::Text => ExplainFormat::Text { has_colour },
            args::ExplainFormat::Jsonl => ExplainFormat::Jsonl,
        })
        .has_pairs(self.pairs);
        let uris: Vec<Vec<u8>> =
            self.uris.iter().chain(&self.uri).map(|uri| uri.as_encoded_bytes().to_vec()).collect();
        let has_typed = !uris.is_empty();
        let file = self.uris.iter().map(Path::new).find(|uri| uri.is_file()).map(Path::to_owned);
        let common = args::Common {
            input: args::Input { files: self.file, null: self.null },
            destination: self.destination,
            work: self.work,
            reporting: self.reporting,
        };
        let job = Job {
            name: "explain",
            equivalence: equivalence(&self.equivalence)?,
            compares: true,
            has_pairs: self.pairs && !has_typed,
            ..Job::default()
        };
        let runner = Box::new(Explain { options, uris });
        let strict = self.strictness.strict;
        let mut plan = Plan::of_job((job, runner), None, common, strict, environment)?
            .with_evidence(&self.equivalence)?;
        // A pair of URIs.
        plan.settings.max_record = 2 * uriscan::explain::LONGEST + 1;
        if has_typed {
            plan = plan.without_files();
        }
        if let Some(file) = file.filter(|_| plan.reporting.has_hints()) {
            let file = hint::typed(&file.display().to_string());
            eprint_line(format_args!(
                "uriscan: {file} is a file; it is explained as a reference, and its lines by -f {file}"
            ));
        }
        Ok(plan)
    }
}

struct Explain {
    /// Without the equivalence, which is that of the job.
    options: ExplainOptions,
    /// The URIs of the command line, if there are any.
    uris: Vec<Vec<u8>>,
}

impl Runner for Explain {
    fn run(&self, Run { job, sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let options = self.options.clone().equivalence(job.equivalence.clone());
        match self.uris.is_empty() {
            true => Ok(pipeline::explain(sources, &options, settings, sinks)?.into()),
            false => self.run_typed(&options, sinks),
        }
    }
}

impl Explain {
    /// Explains the URIs of the command line; two are compared, and the exit code is 1 if they differ.
    fn run_typed(&self, options: &ExplainOptions, sinks: &mut Sinks<'_>) -> Result<Done, Error> {
        let mut report = Report::default();
        report.records = self.uris.len() as u64;
        report.bytes = self.uris.iter().map(|uri| uri.len() as u64).sum();
        let mut out = Vec::new();
        let mut are_equivalent = true;
        match &*self.uris {
            [a, b] => {
                let compared = pipeline::explain_pair(a, b, options, &mut out);
                are_equivalent = compared.unwrap_or_else(|error| {
                    report.invalid.add(error.kind);
                    a == b
                });
            }
            uris => {
                for uri in uris {
                    let explained = pipeline::explain_one(uri, options, &mut out);
                    explained.unwrap_or_else(|error| report.invalid.add(error.kind));
                }
            }
        }
        sinks.out.write_all(&out).map_err(Error::write)?;
        Ok(Done { report, is_fine: (!are_equivalent).then_some(false), ..Done::default() })
    }
}
