//! `uriscan dedup`.

use std::num::NonZeroU32;

use uriscan::Error;
use uriscan::key::Hasher;
use uriscan_bulk::pipeline::{
    self, ByShape, ClassOptions, DedupOptions, Emit, Keep, OnInvalid, Select, SurveyOptions,
};

use crate::args;
use crate::documents::LinkUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::{AliasUse, Done, Job, RowsAre, Run, Runner, Writes};
use crate::options::{memory_limit, on_invalid, side_file};
use crate::output::Content;
use crate::plan::Plan;
use crate::sets::records::{SetAtWork, SetDoes, SetUse};
use crate::sets::settings::{Source, Typed, settings};
use crate::side_outputs::{self, SideFiles};
#[cfg(feature = "full")]
use crate::tables::{ByClass, Columns, TableUse, Task};

impl args::Dedup {
    pub(crate) fn plan(self, environment: &Environment) -> Result<Plan, Failure> {
        let by_shape = self.by_shape()?;
        let (on_invalid, rejects) = on_invalid(&self.invalid)?;
        let hash = self.hash;
        let extract = self.from.extract;
        let typed = Typed { equivalence: &self.equivalence, profile: &self.profile, hash, extract };
        let source = match (&self.seen, self.update) {
            (None, _) => Source::Options,
            (Some(path), true) => Source::SetIfAny(path),
            (Some(path), false) => Source::Set { path, advice: "add --update to create it" },
        };
        let (equivalence, key_hash) = settings(source, &typed)?;
        let mut side = SideFiles::new();
        for (content, option, path) in [
            (Content::Dupes, "--dupes", &self.classes.dupes),
            (Content::Clusters, "--clusters", &self.classes.clusters),
        ] {
            side.extend(side_file(option, path.clone())?.map(|path| (content, path)));
        }
        let has_keys = side_outputs::has_table(&side)? || self.seen.is_some();
        if hash.is_some() && !has_keys {
            let what = "requires --seen, or --dupes or --clusters as a table";
            return Err(Failure::at("--hash", what));
        }
        let options = DedupOptions::default()
            .emit(self.emit)
            .on_invalid(on_invalid)
            .hasher(Hasher::random())
            .hash(key_hash)
            .limit(memory_limit(&self.memory, &self.common, environment))
            .approximate(self.approx);
        let is_reported = self.classes.dupes.is_some() || self.classes.clusters.is_some();
        if is_reported && equivalence.profile.is_some() {
            let what =
                "--dupes and --clusters report levels and rules, which a profile does not have";
            let set = self.seen.iter().filter(|_| self.profile.profile.is_none());
            let set = set.map(|path| format!("the profile of {}", path.display())).next();
            return Err(Failure::at(set.as_deref().unwrap_or("--profile"), what));
        }
        if self.classes.keep.column.is_some() && self.table.column.is_none() {
            return Err(Failure::at("--keep", "min:COLUMN and max:COLUMN require --column"));
        }
        let strict = self.invalid.strictness.strict;
        let by_class = by_class(&self.classes);
        let links = LinkUse::of_settings(&equivalence, &self.equivalence.repairs);
        let job = Job {
            equivalence: equivalence.clone(),
            by_shape,
            hash: self.seen.is_some().then_some(key_hash),
            lacks_report: !self.with.is_empty(),
            with: self.with,
            ..job(&options, by_class.as_ref(), self.classes.keep.column.is_some())
        };
        let runner = Box::new(Dedup { options, by_class });
        let mut plan = Plan::of_job((job, runner), rejects, self.common, strict, environment)?
            .reading_typed(&self.typed)?;
        plan.side.extend(side);
        let does = if self.update { SetDoes::AskAndAdd } else { SetDoes::Ask };
        plan.set = self.seen.map(|path| SetUse { path, does, first_seen: false, at: None });
        plan.with_evidence(&self.equivalence)?
            .redacting(self.redaction.redact)
            .reading(&self.from, links)?
            .with_report(self.page)
    }

    /// How many records of each shape are kept, if that is what is asked for.
    fn by_shape(&self) -> Result<Option<ByShape>, Failure> {
        let Some(by) = self.sample.by else { return Ok(None) };
        let args::Classes { count, repeated, unique, keep, dupes, clusters } = &self.classes;
        let is_of_groups = *count || *repeated || *unique || dupes.is_some() || clusters.is_some();
        let what = if self.seen.is_some() {
            "does not work with --seen: keys in a set are those of URIs, not of shapes; use --seen in an earlier run"
        } else if is_of_groups || keep.keep != Keep::First || keep.column.is_some() {
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

/// The job of `options`; of classes, another column may decide which row is kept.
fn job(options: &DedupOptions, by_class: Option<&ClassOptions>, keeps_by_column: bool) -> Job {
    let is_original = options.emit == Emit::Original;
    let has_counts = by_class.is_some_and(|by| by.count);
    // A survey sees URIs only: where another column decides, it compares with the first one.
    let keep = by_class.filter(|_| !keeps_by_column).map_or(Keep::First, |by| by.keep);
    let aliases = AliasUse { hasher: options.hasher.clone(), keeps: !is_original };
    Job {
        name: "dedup",
        writes: Writes::Survivors,
        compares: true,
        aliases: by_class.is_none().then_some(aliases),
        on_invalid: Some(options.on_invalid),
        set_hash: Some(options.hash),
        limit: options.limit.clone(),
        approximate: options.approximate,
        rows_are: match is_original {
            true => RowsAre::Kept { is_extended: has_counts },
            false => RowsAre::Columns,
        },
        is_in_place: !has_counts,
        survey: SurveyOptions::default()
            .keeps_invalid(options.on_invalid == OnInvalid::Pass)
            .merges(true)
            .keep(keep),
        ..Job::default()
    }
}

/// How whole classes are treated, if an option needs them.
fn by_class(typed: &args::Classes) -> Option<ClassOptions> {
    let args::Classes { count, repeated, unique, keep, dupes, clusters } = typed;
    let asks = *count || *repeated || *unique || dupes.is_some() || clusters.is_some();
    if !asks && keep.keep == Keep::First {
        return None;
    }
    let select = match (repeated, unique) {
        (true, _) => Select::Repeated,
        (_, true) => Select::Unique,
        (false, false) => Select::All,
    };
    Some(ClassOptions::default().keep(keep.keep).select(select).count(*count))
}

struct Dedup {
    /// Without the equivalence, which is that of the job.
    options: DedupOptions,
    /// How whole classes are treated, where not the first record of each is written. Its own `dedup` is not used.
    by_class: Option<ClassOptions>,
}

impl Runner for Dedup {
    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error> {
        let Run { job, sources, rows, set, settings, sinks } = run;
        let options = &self.options.clone().equivalence(job.equivalence.clone());
        if let Some(by) = job.by_shape {
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

    #[cfg(feature = "full")]
    fn row_job(&self, job: &Job, table: &TableUse) -> Result<(Task, Columns), Failure> {
        let DedupOptions { emit, hasher, hash, .. } = &self.options;
        if job.by_shape.is_some() {
            let what = "works with lists and with rows of CSV, TSV and JSON lines that are written as they are, not with other tables; add the shape as a column, or give a list";
            return Err(Failure::at("--by", what));
        }
        if *emit != Emit::Original {
            let what = "--emit works with lines, not with tables; `normalize` adds a column";
            return Err(Failure::at("--column", what));
        }
        let mut columns = Columns::new(job.equivalence.clone());
        (columns.hasher, columns.hash) = (hasher.clone(), *hash);
        let Some(ClassOptions { keep, select, count, .. }) = self.by_class else {
            return Ok((Task::Dedup, columns));
        };
        let by = ByClass::new(table.keep_row(keep), table.temp_dir().to_owned());
        Ok((Task::Classes(by.select(select).count(count)), columns))
    }
}
