//! `uriscan census`.

use uriscan::Error;
use uriscan::key::Hasher;
use uriscan::normalize::Options;
use uriscan::rfc2396::Grammar;
use uriscan_bulk::pipeline::{self, CensusOptions, Equivalence, Report, SurveyOptions};

use crate::args::{self, CensusFormat};
use crate::bar::View;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Done, Job, RowsAre, Run, Runner};
use crate::options::{answer_format, context};
use crate::plan::Plan;
use crate::{rule_choice, table};

impl args::Census {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let equivalence = Equivalence::from(Options::default().drop_fragment(self.drop_fragment))
            .context(context(Grammar::Rfc3986, &self.references, self.repairs.chosen())?)
            .rules(rule_choice::rule_set(&self.rules)?)
            .repairs(self.repairs.chosen());
        let strict = self.strictness.strict;
        if self.table.column.is_some() && self.common.input.null {
            return Err(Failure::at("--column", "-0 works with lines, not with tables"));
        }
        let job = Job {
            name: "census",
            equivalence,
            rows_are: RowsAre::Read,
            survey: SurveyOptions::default().merges(true),
            ..Job::default()
        };
        let to = answer_format(self.to, &self.common.destination)?;
        let runner = Box::new(Census(View::new(to, &self.common, environment)));
        let mut plan = Plan::of_job((job, runner), None, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        plan.evidence.extend(rule_choice::files(&self.rules.rules_files));
        plan.reading(&self.from, LinkUse::of(&self.repairs, &self.references))?
            .with_report(self.page)
    }
}

struct Census(View<CensusFormat>);

impl Runner for Census {
    fn run(&self, Run { job, sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let Equivalence { normalize, context, repairs, rules, .. } = job.equivalence.clone();
        let options = CensusOptions::default()
            .context(context)
            .drop_fragment(normalize.drop_fragment)
            .repairs(repairs)
            .rules(rules)
            .hasher(Hasher::random());
        let census = pipeline::census(sources, &options, settings, sinks)?;
        let text = match self.0.format {
            CensusFormat::Table => table::of_census(&census, self.0.has_bars),
            CensusFormat::Json => {
                serde_json::to_string(&census).map_err(|error| Error::write(error.into()))? + "\n"
            }
        };
        sinks.out.write_all(text.as_bytes()).map_err(Error::write)?;
        let mut report = Report::default();
        (report.bytes, report.records, report.blank) = (census.bytes, census.records, census.blank);
        (report.invalid, report.repaired) = (census.invalid, census.repaired);
        report.filtered = census.filtered;
        Ok(Done { report, census: Some(census), ..Done::default() })
    }
}
