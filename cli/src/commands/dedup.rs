//! `uriscan dedup`.

use std::num::NonZeroU32;

use uriscan::Error;
use uriscan::key::{Hasher, PublicHash};
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::{
    self, ByShape, ClassOptions, ClassRows, DedupOptions, Emit, Equivalence, Keep, MemoryLimit,
    OnInvalid, Select, SurveyOptions,
};

use crate::args;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{Aliased, Done, Job, RowsAre, Run, Writes};
use crate::options::{memory_limit, on_invalid, side_file};
use crate::plan::Plan;
use crate::sets::records::SetAtWork;
use crate::sets::settings::{Source, Typed, settings};
use crate::side_outputs::{self, SideFiles};
#[cfg(feature = "full")]
use crate::tables::{ByClass, Columns, TableUse, Task};

impl args::Dedup {
    /// The plan of the command.
    ///
    /// # Errors
    /// When options contradict each other or a name is unknown.
    pub(super) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let has_tables = self.has_tables();
        let by_shape = self.by_shape()?;
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
        let rows = side_outputs::rows(&side)?;
        let has_keys = self.seen.is_some() || rows.dupes || rows.clusters;
        if hash.is_some() && !has_keys {
            let what = "requires --seen, or --dupes or --clusters as a table";
            return Err(Failure::at("--hash", what));
        }
        let options = DedupOptions::default()
            .equivalence(equivalence.clone())
            .emit(match self.emit {
                args::Emit::Original => Emit::Original,
                args::Emit::Normalized => Emit::Normalized,
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
                "--dupes and --clusters report levels and rules, which a profile does not have";
            let set = self.seen.iter().filter(|_| self.profile.profile.is_none());
            let set = set.map(|path| format!("the profile of {}", path.display())).next();
            return Err(Failure::at(set.as_deref().unwrap_or("--profile"), what));
        }
        if self.classes.keep.column.is_some() && !has_tables {
            return Err(Failure::at("--keep", "min:COLUMN and max:COLUMN require --column"));
        }
        let strict = self.invalid.strictness.strict;
        let job = Box::new(Dedup {
            options,
            with: self.with,
            keeps_by_column: self.classes.keep.column.is_some(),
            by_class: by_class(&self.classes, rows),
            by_shape,
        });
        let mut plan = Plan::of_job(job, rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        plan.side = SideFiles { rejects: plan.side.rejects, ..side };
        plan.with_seen(self.seen, self.update)?
            .with_evidence(&self.equivalence)?
            .redacting(self.redaction.redact)
            .reading(&self.from, LinkUse::of_settings(&equivalence, &self.equivalence.repairs))?
            .with_report(self.page, limit.as_ref())
    }
}

impl args::Dedup {
    /// How many records of each shape are kept, if that is what is asked for.
    ///
    /// # Errors
    /// When an option is given that is about equivalent records.
    fn by_shape(&self) -> Result<Option<ByShape>, Failure> {
        let Some(by) = self.sample.by else { return Ok(None) };
        let args::Classes { count, repeated, unique, keep, dupes, clusters } = &self.classes;
        let is_of_groups = *count || *repeated || *unique || dupes.is_some() || clusters.is_some();
        let what = if self.seen.is_some() {
            "does not work with --seen: keys in a set are those of URIs, not of shapes; use --seen in an earlier run"
        } else if is_of_groups || keep.keep != args::Keep::First || keep.column.is_some() {
            "does not work with -c, -d, -u, --keep, --dupes and --clusters, which are about equivalent URIs; `top --by shape` counts shapes"
        } else if !self.with.is_empty() {
            "does not work with --with, which compares rows by more than their URIs"
        } else if self.approx.is_some() {
            "does not work with --approx, which loses URIs by chance"
        } else if self.profile.profile.is_some() {
            "does not work with --profile: its forms need not be URIs, which have a shape"
        } else if self.equivalence.aliases.is_some() {
            "does not work with --aliases; use it in an earlier run"
        } else if self.page.report.is_some() {
            "does not work with --report, which is about equivalent URIs; `top --by shape` has a report"
        } else {
            let most = self.sample.keep_n.unwrap_or(NonZeroU32::MIN);
            let slugs = by == args::SampleBy::ShapeSlugs;
            return Ok(Some(ByShape::default().most(most).slugs(slugs)));
        };
        Err(Failure::at("--by", what))
    }
}

/// How whole classes are treated, if an option needs them.
fn by_class(typed: &args::Classes, rows: ClassRows) -> Option<ClassOptions> {
    let args::Classes { count, repeated, unique, keep, dupes, clusters } = typed;
    let asks = *count || *repeated || *unique || dupes.is_some() || clusters.is_some();
    if !asks && keep.keep == args::Keep::First {
        return None;
    }
    let keep = match keep.keep {
        args::Keep::First => Keep::First,
        args::Keep::Last => Keep::Last,
        args::Keep::Shortest => Keep::Shortest,
        args::Keep::Https => Keep::Https,
        args::Keep::Min => Keep::Min,
        args::Keep::Max => Keep::Max,
    };
    let select = match (repeated, unique) {
        (true, _) => Select::Repeated,
        (_, true) => Select::Unique,
        (false, false) => Select::All,
    };
    Some(ClassOptions::default().keep(keep).select(select).count(*count).rows(rows))
}

/// Writes a record of each class.
#[derive(Debug)]
struct Dedup {
    options: DedupOptions,
    /// Columns of tables that are compared, too.
    with: Vec<String>,
    /// How whole classes are treated, where not the first record of each is written. Its own `dedup` is not used.
    by_class: Option<ClassOptions>,
    /// Whether another column decides which row of a class is kept.
    keeps_by_column: bool,
    /// How many records of each shape are kept, instead of one of each class.
    by_shape: Option<ByShape>,
}

impl Dedup {
    fn has_counts(&self) -> bool {
        self.by_class.as_ref().is_some_and(|by| by.count)
    }
}

impl Job for Dedup {
    fn name(&self) -> &'static str {
        "dedup"
    }

    fn writes(&self) -> Writes {
        Writes::Survivors
    }

    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error> {
        let Run { sources, rows, set, settings, sinks } = run;
        let options = &self.options;
        if let Some(by) = self.by_shape {
            return Ok(
                pipeline::dedup_by_shape(sources, rows, by, options, settings, sinks)?.into()
            );
        }
        let by_class = self.by_class.clone().map(|classes| classes.dedup(options.clone()));
        if let Some(rows) = rows {
            let seen = set.map(SetAtWork::seen);
            return Ok(match by_class {
                None => pipeline::dedup_rows(sources, rows, options, seen, settings, sinks)?.into(),
                Some(by) => pipeline::class_rows(sources, rows, &by, seen, settings, sinks)?.into(),
            });
        }
        let report = match (by_class, set) {
            (None, None) => pipeline::dedup(sources, options, settings, sinks)?,
            (None, Some(set)) => {
                pipeline::dedup_unseen(sources, options, set.seen(), settings, sinks)?
            }
            (Some(classes), None) => pipeline::classes(sources, &classes, settings, sinks)?,
            (Some(classes), Some(set)) => {
                pipeline::classes_unseen(sources, &classes, set.seen(), settings, sinks)?
            }
        };
        Ok(report.into())
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

    fn aliased(&mut self) -> Option<Aliased<'_>> {
        if self.by_class.is_some() {
            return None;
        }
        let DedupOptions { equivalence, hasher, emit, .. } = &mut self.options;
        let keeps = *emit != Emit::Original;
        Some(Aliased { equivalence, hasher: hasher.clone(), keeps })
    }

    fn meaning(&self) -> Option<Meaning> {
        Some(self.options.equivalence.meaning(self.options.hash))
    }

    fn limit(&self) -> Option<&MemoryLimit> {
        self.options.limit.as_ref()
    }

    fn by_shape(&self) -> Option<ByShape> {
        self.by_shape
    }

    fn approximate(&self) -> Option<f64> {
        self.options.approximate
    }

    fn with(&self) -> &[String] {
        &self.with
    }

    fn has_report(&self) -> bool {
        self.with.is_empty()
    }

    fn hash(&self, has_set: bool) -> Option<PublicHash> {
        has_set.then_some(self.options.hash)
    }

    fn rows_are(&self) -> RowsAre {
        match self.options.emit {
            Emit::Original => RowsAre::Kept { is_extended: self.has_counts() },
            _ => RowsAre::Columns,
        }
    }

    fn is_in_place(&self) -> bool {
        !self.has_counts()
    }

    fn surveyed(&self) -> SurveyOptions {
        let DedupOptions { equivalence, on_invalid, .. } = &self.options;
        let options = SurveyOptions::default().equivalence(equivalence.clone());
        // A survey sees URIs only: where another column decides, it compares with the first one.
        let by_uri = self.by_class.as_ref().filter(|_| !self.keeps_by_column);
        let keep = by_uri.map_or(Keep::First, |by| by.keep);
        options.keeps_invalid(*on_invalid == OnInvalid::Pass).merges(true).keep(keep)
    }

    #[cfg(feature = "full")]
    fn row_job(&self, table: &TableUse) -> Result<(Task, Columns), Failure> {
        let DedupOptions { equivalence, emit, hasher, hash, .. } = &self.options;
        if self.by_shape.is_some() {
            let what = "works with lists and with rows of CSV, TSV and JSON lines that are written as they are, not with other tables; add the shape as a column, or give a list";
            return Err(Failure::at("--by", what));
        }
        if *emit != Emit::Original {
            let what = "--emit works with lines, not with tables; `normalize` adds a column";
            return Err(Failure::at("--column", what));
        }
        let mut columns = Columns::new(equivalence.clone());
        (columns.hasher, columns.hash) = (hasher.clone(), *hash);
        let Some(ClassOptions { keep, select, count, rows, .. }) = self.by_class else {
            return Ok((Task::Dedup, columns));
        };
        let by = ByClass::new(table.keep_row(keep), table.temp_dir().to_owned());
        Ok((Task::Classes(by.select(select).count(count).rows(rows)), columns))
    }
}
