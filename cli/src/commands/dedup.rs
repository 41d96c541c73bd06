//! The plan of `uriscan dedup`.

use uriscan::key::Hasher;
use uriscan::pipeline::{ClassOptions, ClassRows, DedupOptions, Emit, Keep, Select};

use crate::args;
use crate::config::{Config, Job, LinkUse, SideFiles};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{memory_limit, on_invalid, side_file};
use crate::sets::settings::{Source, Typed, settings};
use crate::sides;

impl args::Dedup {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Config, Failure> {
        let has_tables = self.has_tables();
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let hash = self.hash.map(args::Hash::public);
        let extract = self.from.extract;
        let typed = Typed { equivalence: &self.equivalence, profile: &self.profile, hash, extract };
        let source = match (&self.seen, self.update) {
            (None, _) => Source::Options,
            (Some(path), true) => Source::SetIfAny(path),
            (Some(path), false) => Source::Set { path, advice: "add --update to create it" },
        };
        let (equivalence, key_hash) = settings(source, &typed)?;
        let side = SideFiles {
            dupes: side_file("--dupes", self.classes.dupes.clone())?,
            clusters: side_file("--clusters", self.classes.clusters.clone())?,
            ..SideFiles::default()
        };
        let rows = sides::rows(&side)?;
        let has_keys = matches!(self.emit, args::Emit::Key)
            || self.seen.is_some()
            || rows.dupes
            || rows.clusters;
        if hash.is_some() && !has_keys {
            let what = "requires --emit key, --seen, or --dupes or --clusters as a table";
            return Err(Failure::at("--hash", what));
        }
        let options = DedupOptions::default()
            .equivalence(equivalence.clone())
            .emit(match self.emit {
                args::Emit::Original => Emit::Original,
                args::Emit::Normalized => Emit::Normalized,
                args::Emit::Key => Emit::Key,
            })
            .on_invalid(on_invalid)
            .hasher(Hasher::random())
            .hash(key_hash)
            .limit(memory_limit(&self.memory, &self.common, environment))
            .approximate(self.approx);
        let limit = options.limit.clone();
        let is_told = self.classes.dupes.is_some() || self.classes.clusters.is_some();
        if is_told && equivalence.profile.is_some() {
            let what =
                "--dupes and --clusters report rungs and rules, which a profile does not have";
            let set = self.seen.iter().filter(|_| self.profile.profile.is_none());
            let set = set.map(|path| format!("the profile of {}", path.display())).next();
            return Err(Failure::at(set.as_deref().unwrap_or("--profile"), what));
        }
        if self.classes.keep.column.is_some() && !has_tables {
            return Err(Failure::at("--keep", "min:COLUMN and max:COLUMN require --column"));
        }
        let strict = self.invalid.strictness.strict;
        let job = dedup_job(options, &self.classes, rows);
        let mut config = Config::of_job(job, rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        config.side = SideFiles { rejects: config.side.rejects, ..side };
        config
            .with_seen(self.seen, self.update)?
            .with_evidence(&self.equivalence)?
            .redacting(self.redaction.redact)
            .reading(&self.from, LinkUse::of_settings(&equivalence, &self.equivalence.mending))?
            .with_report(self.page, limit, environment)
    }
}

/// Plain deduplication, or whole classes if an option needs them.
fn dedup_job(dedup: DedupOptions, typed: &args::Classes, rows: ClassRows) -> Job {
    let args::Classes { count, repeated, unique, keep, dupes, clusters } = typed;
    let asks = *count || *repeated || *unique || dupes.is_some() || clusters.is_some();
    if !asks && keep.keep == args::Keep::First {
        return Job::Dedup(dedup);
    }
    Job::Classes(
        ClassOptions::default()
            .dedup(dedup)
            .keep(match keep.keep {
                args::Keep::First => Keep::First,
                args::Keep::Last => Keep::Last,
                args::Keep::Shortest => Keep::Shortest,
                args::Keep::Https => Keep::Https,
                args::Keep::Min => Keep::Min,
                args::Keep::Max => Keep::Max,
            })
            .select(match (repeated, unique) {
                (true, _) => Select::Repeated,
                (_, true) => Select::Unique,
                (false, false) => Select::All,
            })
            .count(*count)
            .rows(rows),
    )
}
