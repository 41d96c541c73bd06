//! The plan of `uriscan explain`.

use uriscan::pipeline::{ExplainFormat, ExplainOptions};

use crate::args;
use crate::config::{Config, Job};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::equivalence;
use crate::output::Destination;

impl args::Explain {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
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
            config = config.without_files();
        }
        Ok(config)
    }
}
