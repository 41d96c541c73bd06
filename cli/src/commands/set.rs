//! The commands of `uriscan set` that read URIs.

use uriscan::Error;
use uriscan::key::PublicHash;
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::{self, Equivalence, MemberOptions, OnInvalid};

use crate::args;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Done, Job, RowsAre, Run, Writes};
use crate::options::on_invalid;
use crate::plan::Plan;
use crate::sets::records::{SetDoes, SetUse};
use crate::sets::settings::{Source, Typed, settings};
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

impl args::SetCommand {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let filled = |filling: args::Filling| {
            let args::Filling { records, input, work, reporting } = filling;
            let destination = args::Destination { output: None };
            (records, args::Common { input, destination, work, reporting })
        };
        let used = |path, does| SetUse { path, does, first_seen: false, at: None };
        let (set, hash, selection, (records, common)) = match self {
            args::SetCommand::Create(args::Create { set, hash, first_seen, at, filling }) => {
                let set = SetUse { first_seen, at, ..used(set, SetDoes::Create) };
                (set, Some(hash.public()), None, filled(filling))
            }
            args::SetCommand::Add(args::Add { set, at, filling }) => {
                let set = SetUse { first_seen: at.is_some(), at, ..used(set, SetDoes::Add) };
                (set, None, None, filled(filling))
            }
            args::SetCommand::Remove(args::Remove { set, keys: _, filling }) => {
                (used(set, SetDoes::Remove), None, None, filled(filling))
            }
            args::SetCommand::Has(args::Has { set, invert_match, first_seen, records, common }) => {
                let set = SetUse { first_seen, ..used(set, SetDoes::Ask) };
                let selection = match (first_seen, invert_match) {
                    (true, _) => Selection::FirstSeen,
                    (_, true) => Selection::NotIn,
                    (_, false) => Selection::In,
                };
                (set, None, Some(selection), (records, common))
            }
            // `sets::run` runs the others.
            _ => return Err(Failure::new("reads no records")),
        };
        if records.table.column.is_some() && common.input.null {
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
        let options = MemberOptions::default()
            .equivalence(equivalence.clone())
            .hash(hash)
            .on_invalid(on_invalid);
        let job = Box::new(OfSet { options, does: set.does, selection });
        let strict = records.invalid.strictness.strict;
        let mut plan = Plan::of_job(job, rejects, common, strict, environment)?
            .reading_typed(&records.typed)?;
        plan.set = Some(set);
        plan.with_evidence(&records.equivalence)?.reading(
            &records.from,
            LinkUse::of_settings(&equivalence, &records.equivalence.repairs),
        )
    }
}

/// Which records `set has` writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Selection {
    /// Those in the set.
    In,
    /// Those not in the set.
    NotIn,
    /// Those in the set, with the time at which they were first seen.
    FirstSeen,
}

/// Collects keys to add to a set or to remove from it, or writes the records that it has or lacks.
#[derive(Debug)]
struct OfSet {
    options: MemberOptions,
    does: SetDoes,
    /// What is written; nothing if keys are collected.
    selection: Option<Selection>,
}

impl Job for OfSet {
    fn name(&self) -> &'static str {
        match (self.selection, self.does) {
            (Some(_), _) => "set has",
            (None, SetDoes::Remove) => "set remove",
            (None, SetDoes::Create) => "set create",
            (None, _) => "set add",
        }
    }

    fn writes(&self) -> Writes {
        if self.selection.is_some() { Writes::Records } else { Writes::Answers }
    }

    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error> {
        let Run { sources, rows, set, settings, sinks } = run;
        let (options, Some(set)) = (&self.options, set) else { return Ok(Done::default()) };
        let report = match (self.selection, set.loader()) {
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

    fn equivalence(&self) -> Option<&Equivalence> {
        Some(&self.options.equivalence)
    }

    fn equivalence_mut(&mut self) -> Option<&mut Equivalence> {
        Some(&mut self.options.equivalence)
    }

    fn on_invalid(&self) -> Option<OnInvalid> {
        Some(self.options.on_invalid)
    }

    fn meaning(&self) -> Option<Meaning> {
        Some(self.options.equivalence.meaning(self.options.hash))
    }

    fn hash(&self, _: bool) -> Option<PublicHash> {
        Some(self.options.hash)
    }

    fn rows_are(&self) -> RowsAre {
        match self.selection {
            None => RowsAre::Read,
            Some(selection) => RowsAre::Kept { is_extended: selection == Selection::FirstSeen },
        }
    }

    fn is_in_place(&self) -> bool {
        self.selection.is_some()
    }

    #[cfg(feature = "full")]
    fn row_job(&self, _: &TableUse) -> Result<(Task, Columns), Failure> {
        let what = "this command writes rows of CSV, TSV, JSON lines and fields, in their format; `dedup --seen SET` writes the rows of \
                    other tables that are not in the set";
        Err(Failure::at("--column", what))
    }
}
