//! The plans of those commands of `uriscan set` that read URIs.

use uriscan::pipeline::MemberOptions;

use crate::args;
use crate::config::{Config, Job, LinkUse, Selection, SetDoes, SetUse};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::on_invalid;
use crate::sets::settings::{Source, Typed, settings};

impl args::SetCommand {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let filled = |filling: args::Filling| {
            let args::Filling { records, input, work, reporting } = filling;
            let destination = args::Destination { output: None };
            (records, args::Common { input, destination, work, reporting })
        };
        let used = |path, does| SetUse { path, does, first_seen: false, at: None };
        let (set, hash, asked, (records, common)) = match self {
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
                let asked = match (first_seen, invert_match) {
                    (true, _) => Selection::FirstSeen,
                    (_, true) => Selection::NotIn,
                    (_, false) => Selection::In,
                };
                (set, None, Some(asked), (records, common))
            }
            // `sets::run` runs the others.
            _ => return Err(Failure::new("reads no records")),
        };
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
        let job = match asked {
            None => Job::Collect(options, set.does),
            Some(asked) => Job::Members(options, asked),
        };
        let strict = records.invalid.strictness.strict;
        let mut config = Config::of_job(job, rejects, common, strict, environment)?
            .reading_typed(&records.typed)?;
        config.set = Some(set);
        config.with_evidence(&records.equivalence)?.reading(
            &records.from,
            LinkUse::of_settings(&equivalence, &records.equivalence.mending),
        )
    }
}
