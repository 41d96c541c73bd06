//! The plan of `uriscan audit`.

use uriscan::audit::{RuleSet, Severity};
use uriscan::pipeline::{AuditFormat, AuditOptions, Entities};

use crate::args;
use crate::config::{Config, Job, LinkUse};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::report_format;

impl args::Audit {
    /// What is to be done.
    ///
    /// # Errors
    /// When options contradict each other or name what does not exist.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let job = match (self.list_rules, self.redact) {
            (true, _) => Job::ListRules,
            (false, true) => Job::Redact,
            (false, false) => audit_job(&self, report_format(self.to.as_deref(), &self.table)?),
        };
        let config = Config::of_job(job, None, self.common, false, environment)?
            .reading_typed(&self.typed)?;
        let links = LinkUse {
            base: None,
            accepts_iris: self.iri,
            entities: Entities::Keep,
            has_places: true,
        };
        let mut config = config.reporting_on(&self.from, links)?;
        config.settings = config.settings.has_context(self.context);
        config.with_report(self.page, None, environment)
    }
}

fn audit_job(typed: &args::Audit, format: args::AuditFormat) -> Job {
    let all_of = |sets: &[RuleSet]| sets.iter().fold(RuleSet::none(), |all, &set| all.or(set));
    let selected = if typed.select.is_empty() { RuleSet::all() } else { all_of(&typed.select) };
    let format = match format {
        args::AuditFormat::Text => AuditFormat::Text,
        args::AuditFormat::Jsonl => AuditFormat::Jsonl,
        args::AuditFormat::Sarif => AuditFormat::Sarif,
    };
    let fail_on = match typed.fail_on {
        args::FailOn::Note => Some(Severity::Note),
        args::FailOn::Warning => Some(Severity::Warning),
        args::FailOn::Error => Some(Severity::Error),
        args::FailOn::Never => None,
    };
    let asks_for_notes = !typed.select.is_empty() || fail_on == Some(Severity::Note);
    let least = if asks_for_notes { Severity::Note } else { Severity::Warning };
    let least = typed.severity.unwrap_or(least);
    // What fails the run is found, whether it is printed or not.
    let least_found = fail_on.map_or(least, |fail_on| least.min(fail_on));
    let rules = selected.without(all_of(&typed.ignore)).at_least(least_found);
    let options = AuditOptions::default().rules(rules).format(format).least_written(least);
    Job::Audit(options, fail_on)
}
