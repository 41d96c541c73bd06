//! `uriscan census`.

use uriscan::Error;
use uriscan::key::Hasher;
use uriscan::normalize::Options;
use uriscan::repair::Repairs;
use uriscan::rfc2396::Grammar;
use uriscan_bulk::pipeline::{self, CensusOptions, Equivalence, Report, SurveyOptions};

use crate::args::{self, CensusFormat};
use crate::bar::View;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Done, Job, RowsAre, Run, Writes};
use crate::options::context;
use crate::plan::Plan;
use crate::{rule_choice, table};

impl args::Census {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let options = CensusOptions::default()
            .context(context(Grammar::Rfc3986, &self.references, self.repairs.chosen())?)
            .drop_fragment(self.drop_fragment)
            .repairs(self.repairs.chosen())
            .rules(rule_choice::rule_set(&self.rules)?)
            .hasher(Hasher::random());
        let strict = self.strictness.strict;
        if self.table.column.is_some() && self.common.input.null {
            return Err(Failure::at("--column", "-0 works with lines, not with tables"));
        }
        let job = Census { options, view: View::new(self.to, &self.common, environment) };
        let mut plan = Plan::of_job(Box::new(job), None, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        plan.evidence.extend(rule_choice::files(&self.rules));
        plan.reading(&self.from, LinkUse::of(&self.repairs, &self.references))?
            .with_report(self.page, None)
    }
}

/// Counts distinct records on each level.
#[derive(Debug)]
struct Census {
    options: CensusOptions,
    view: View<CensusFormat>,
}

impl Job for Census {
    fn name(&self) -> &'static str {
        "census"
    }

    fn writes(&self) -> Writes {
        Writes::Answers
    }

    fn run(&self, Run { sources, settings, sinks, .. }: Run<'_, '_>) -> Result<Done, Error> {
        let census = pipeline::census(sources, &self.options, settings, sinks)?;
        let text = match self.view.format {
            CensusFormat::Table => table::of_census(&census, self.view.has_bars),
            CensusFormat::Json => {
                serde_json::to_string(&census).map_err(|error| Error::write(error.into()))? + "\n"
            }
        };
        sinks.out.write_all(text.as_bytes()).map_err(Error::write)?;
        let mut report = Report::default();
        (report.bytes, report.records, report.blank) = (census.bytes, census.records, census.blank);
        (report.invalid, report.repaired) = (census.invalid, census.repaired);
        Ok(Done { report, census: Some(census), ..Done::default() })
    }

    fn read_as(&self) -> Equivalence {
        let CensusOptions { repairs, context, .. } = &self.options;
        Equivalence::default().repairs(*repairs).context(context.clone())
    }

    fn rows_are(&self) -> RowsAre {
        RowsAre::Read
    }

    fn repairs_mut(&mut self) -> Option<&mut Repairs> {
        Some(&mut self.options.repairs)
    }

    fn surveyed(&self) -> SurveyOptions {
        let CensusOptions { drop_fragment, context, rules, repairs, .. } = &self.options;
        let equivalence = Equivalence::from(Options::default().drop_fragment(*drop_fragment))
            .context(context.clone())
            .rules(rules.clone())
            .repairs(*repairs);
        SurveyOptions::default().equivalence(equivalence).merges(true)
    }
}
