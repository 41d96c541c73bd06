//! `uriscan explain`.

use std::path::Path;

use uriscan::Error;
use uriscan_bulk::pipeline::{self, Equivalence, ExplainFormat, ExplainOptions, Report, Sinks};

use crate::args;
use crate::environment::Environment;
use crate::exit::{Failure, eprint_line};
use crate::hint;
use crate::job::{Done, Job, Run, Writes};
use crate::options::equivalence;
use crate::output::Destination;
use crate::plan::Plan;

impl args::Explain {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let output = Destination::of_option(self.destination.output.clone());
        let has_colour = environment.colours(self.reporting.color, &output);
        let options = ExplainOptions::new(match self.to {
            args::ExplainFormat::Text => ExplainFormat::Text { has_colour },
            args::ExplainFormat::Jsonl => ExplainFormat::Jsonl,
        })
        .equivalence(equivalence(&self.equivalence)?)
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
        let job = Explain { options, uris };
        let strict = self.strictness.strict;
        let mut plan = Plan::of_job(Box::new(job), None, common, strict, environment)?
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

/// Explains the steps to canonical forms.
#[derive(Debug)]
struct Explain {
    options: ExplainOptions,
    /// The URIs of the command line, if there are any.
    uris: Vec<Vec<u8>>,
}

impl Job for Explain {
    fn name(&self) -> &'static str {
        "explain"
    }

    fn writes(&self) -> Writes {
        Writes::Answers
    }

    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        match self.uris.is_empty() {
            true => Ok(pipeline::explain(sources, &self.options, settings, sinks)?.into()),
            false => self.run_typed(sinks),
        }
    }

    fn equivalence(&self) -> Option<&Equivalence> {
        Some(&self.options.equivalence)
    }

    // Those of pairs and of the command line are not filtered.
    fn read_as(&self) -> Equivalence {
        Equivalence::default()
    }

    fn has_pairs(&self) -> bool {
        self.options.has_pairs && self.uris.is_empty()
    }
}

impl Explain {
    /// Explains the URIs of the command line; two are compared, and the exit code is 1 if they differ.
    fn run_typed(&self, sinks: &mut Sinks<'_>) -> Result<Done, Error> {
        let mut report = Report::default();
        report.records = self.uris.len() as u64;
        report.bytes = self.uris.iter().map(|uri| uri.len() as u64).sum();
        let mut out = Vec::new();
        let mut are_equivalent = true;
        match &*self.uris {
            [a, b] => {
                let compared = pipeline::explain_pair(a, b, &self.options, &mut out);
                are_equivalent = compared.unwrap_or_else(|error| {
                    report.invalid.add(error.kind);
                    a == b
                });
            }
            uris => {
                for uri in uris {
                    let explained = pipeline::explain_one(uri, &self.options, &mut out);
                    explained.unwrap_or_else(|error| report.invalid.add(error.kind));
                }
            }
        }
        sinks.out.write_all(&out).map_err(Error::write)?;
        Ok(Done { report, is_fine: (!are_equivalent).then_some(false), ..Done::default() })
    }
}
