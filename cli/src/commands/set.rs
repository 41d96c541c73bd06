//! The commands of `uriscan set` that read URIs.

use uriscan::Error;
use uriscan_bulk::pipeline::{self, MemberOptions};

use crate::args;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Done, Job, RowsAre, Run, Runner, Writes};
use crate::options::on_invalid;
use crate::plan::Plan;
use crate::sets::records::{SetDoes, SetUse};
use crate::sets::settings::{Source, Typed, settings};
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::SetCommand {
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let filled = |filling: args::Filling| {
            let args::Filling { records, input, work, reporting } = filling;
            let destination = args::Destination { output: None };
            (records, args::Common { input, destination, work, reporting })
        };
        let used = |path, does| SetUse { path, does, first_seen: false, at: None };
        let (name, set, hash, selection, (records, common)) = match self {
            args::SetCommand::Create(args::Create { set, hash, first_seen, at, filling }) => {
                let set = SetUse { first_seen, at, ..used(set, SetDoes::Create) };
                ("set create", set, Some(hash), None, filled(filling))
            }
            args::SetCommand::Add(args::Add { set, at, filling }) => {
                let set = SetUse { first_seen: at.is_some(), at, ..used(set, SetDoes::Add) };
                ("set add", set, None, None, filled(filling))
            }
            args::SetCommand::Remove(args::Remove { set, keys: _, filling }) => {
                ("set remove", used(set, SetDoes::Remove), None, None, filled(filling))
            }
            args::SetCommand::Has(args::Has { set, invert_match, first_seen, records, common }) => {
                let set = SetUse { first_seen, ..used(set, SetDoes::Ask) };
                let selection = match (first_seen, invert_match) {
                    (true, _) => Selection::FirstSeen,
                    (_, true) => Selection::NotIn,
                    (_, false) => Selection::In,
                };
                ("set has", set, None, Some(selection), (records, common))
            }
            // `sets::run` runs the others.
            _ => return Err(Failure::new("reads no records")),
        };
        let has_column = records.table.column.is_some();
        if has_column && common.input.null {
            return Err(Failure::at("--column", "-0 works with lines, not with tables"));
        }
        let (on_invalid, rejects) = on_invalid(&records.invalid)?;
        let extract = records.from.extract;
        let typed =
            Typed { equivalence: &records.equivalence, profile: &records.profile, hash, extract };
        let source = match set.does {
            SetDoes::Create => Source::Options,
            _ => Source::Set { path: &set.path, advice: "`uriscan set create` creates it" },
        };
        let (equivalence, hash) = settings(source, &typed)?;
        let links = LinkUse::of_settings(&equivalence, &records.equivalence.repairs);
        let is_extended = selection == Some(Selection::FirstSeen);
        let job = Job {
            name,
            writes: if selection.is_some() { Writes::Records } else { Writes::Answers },
            equivalence: equivalence.clone(),
            compares: true,
            on_invalid: Some(on_invalid),
            set_hash: Some(hash),
            hash: Some(hash),
            rows_are: match selection {
                None => RowsAre::Read,
                Some(_) => RowsAre::Kept { is_extended },
            },
            is_in_place: selection.is_some(),
            ..Job::default()
        };
        let strict = records.invalid.strictness.strict;
        let runner = Box::new(OfSet(selection));
        let mut plan = Plan::of_job((job, runner), rejects, common, strict, environment)?
            .reading_typed(&records.typed)?;
        plan.set = Some(set);
        // They are not in the set either.
        let may_be_missed = selection == Some(Selection::NotIn) && has_column;
        plan.omits_blank = may_be_missed.then_some("");
        plan.with_evidence(&records.equivalence)?.reading(&records.from, links)
    }
}

/// Which records `set has` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selection {
    In,
    NotIn,
    /// Those in the set, with the time at which they were first seen.
    FirstSeen,
}

/// Collects keys to add to a set or to remove from it, or writes the records that it has or lacks.
struct OfSet(Option<Selection>);

impl Runner for OfSet {
    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error> {
        let Run { job, sources, rows, set, settings, sinks } = run;
        let Some(set) = set else { return Ok(Done::default()) };
        let options = &MemberOptions::default()
            .equivalence(job.equivalence.clone())
            .hash(job.hash.unwrap_or_default())
            .on_invalid(job.on_invalid.unwrap_or_default());
        let report = match (self.0, set.loader()) {
            (None, None) => return Ok(Done::default()),
            (None, Some(loader)) => {
                return Ok(pipeline::collect(sources, options, loader, settings, sinks)?.into());
            }
            (Some(selection), _) => {
                let (set, is_in) = (set.set(), selection == Selection::In);
                match (selection, rows) {
                    (Selection::FirstSeen, None) => {
                        pipeline::first_seen(sources, options, set, settings, sinks)?
                    }
                    (Selection::FirstSeen, Some(by)) => {
                        pipeline::first_seen_rows(sources, by, options, set, settings, sinks)?
                    }
                    (_, None) => pipeline::members(sources, options, set, is_in, settings, sinks)?,
                    (_, Some(by)) => {
                        pipeline::member_rows(sources, by, options, set, is_in, settings, sinks)?
                    }
                }
            }
        };
        Ok(Done { report, is_fine: Some(report.written > 0), ..Done::default() })
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &Job, _: &TableUse) -> Result<(Task, Columns), Failure> {
        let what = "this command writes rows of CSV, TSV, JSON lines and fields, in their format; `dedup --seen SET` writes the rows of \
                    other tables that are not in the set";
        Err(Failure::at("--column", what))
    }
}
