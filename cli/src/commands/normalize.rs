//! The plan of `uriscan normalize`.

use crate::args;
use crate::config::{Config, Job, LinkUse};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{by_profile, equivalence_by, on_invalid};

impl args::Normalize {
    /// What is to be done.
    ///
    /// # Errors
    /// When options contradict each other or name what does not exist.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let equivalence = equivalence_by(self.grammar.grammar, &self.equivalence)?;
        let equivalence = by_profile(equivalence, &self.profile)?;
        let job = Job::Normalize { equivalence, on_invalid };
        let strict = self.invalid.strictness.strict;
        let config = Config::of_job(job, rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        config
            .with_evidence(&self.equivalence)?
            .redacting(self.redaction.redact)
            .reading(&self.from, LinkUse::of_equivalence(&self.equivalence))
    }
}
