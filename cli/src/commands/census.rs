//! The plan of `uriscan census`.

use uriscan::grammar::Grammar;
use uriscan::key::Hasher;
use uriscan::pipeline::CensusOptions;

use crate::args;
use crate::config::{Config, Job, LinkUse, View};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::context;
use crate::rule_choice;

impl args::Census {
    /// What is to be done.
    ///
    /// # Errors
    /// When options contradict each other or name what does not exist.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let options = CensusOptions::default()
            .context(context(Grammar::Rfc3986, &self.references, self.mending.repairs())?)
            .drop_fragment(self.ignore_fragment)
            .repairs(self.mending.repairs())
            .rules(rule_choice::rule_set(&self.rules)?)
            .hasher(Hasher::random());
        let strict = self.strictness.strict;
        let job = Job::Census(options, View::new(self.to, &self.common, environment));
        let mut config = Config::of_job(job, None, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        config.evidence.extend(rule_choice::files(&self.rules));
        config.reading(&self.from, LinkUse::of(&self.mending, &self.references))?.with_report(
            self.page,
            None,
            environment,
        )
    }
}
