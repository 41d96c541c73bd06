//! The plan of `uriscan explain`.

use uriscan::pipeline::{ExplainFormat, ExplainOptions};

use crate::args;
use crate::config::{Config, Job};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::equivalence;
use crate::output::is_dash;

impl args::Explain {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let is_on_terminal = environment.stdout_is_terminal
            && self.destination.output.as_deref().is_none_or(is_dash);
        let has_colour = match self.color {
            args::Color::Always => true,
            args::Color::Never => false,
            args::Color::Auto => is_on_terminal && environment.has_colour,
        };
        let options = ExplainOptions::new(match self.format {
            args::ExplainFormat::Text => ExplainFormat::Text { has_colour },
            args::ExplainFormat::Jsonl => ExplainFormat::Jsonl,
        })
        .equivalence(equivalence(&self.equivalence)?)
        .has_pairs(self.pairs);
        let uris: Vec<Vec<u8>> =
            self.uris.iter().map(|uri| uri.as_encoded_bytes().to_vec()).collect();
        let args::Reporting { stats, stats_format, .. } = self.reporting;
        let has_typed = !uris.is_empty();
        let common = args::Common {
            input: args::Input { files: self.file, null: self.null },
            destination: self.destination,
            work: self.work,
            reporting: self.reporting,
        };
        let job = Job::Explain(options, uris);
        let strict = self.strictness.strict;
        let mut config = Config::of_job(job, None, common, strict, environment)?
            .with_evidence(&self.equivalence)?;
        // A pair of URIs.
        config.settings.max_record = 2 * uriscan::explain::LONGEST + 1;
        if has_typed {
            // No input is read, and a summary is printed only on request.
            (config.inputs, config.has_hint) = (Vec::new(), false);
            config.summary = config.summary.filter(|_| stats || stats_format.is_some());
        }
        Ok(config)
    }
}
