//! What differs between commands: what each does with the records of a run.

use uriscan::Error;
use uriscan::key::{Hasher, PublicHash};
use uriscan::set::Meaning;
use uriscan_bulk::io::{Fields, Source};
use uriscan_bulk::pipeline::{
    ByShape, Census, Equivalence, FindingCounts, MemoryLimit, OnInvalid, Overview, Report,
    RowOptions, Settings, Sinks, SurveyOptions, Top,
};
use uriscan_learn::Learned;

#[cfg(feature = "full")]
use crate::exit::Failure;
use crate::sets::records::SetAtWork;
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

/// Why some options of a command do not work with tables.
#[cfg(feature = "full")]
pub(crate) const NOT_FOR_TABLES: &str = "--template, --grammar, --differ, --iri, --repair and --redact of this command work with \
     lines, not with tables; omit them, or give a list";

/// What is known of the work of a command before it is done; a command differs from the defaults where it says so. Each
/// has its own, beside its plan in [`crate::commands`].
#[derive(Default)]
pub(crate) struct Job {
    pub(crate) name: &'static str,
    pub(crate) writes: Writes,
    /// What is written if nothing is read at all.
    pub(crate) answer: Option<String>,
    /// How records are read, their base and repairs, and what makes them equivalent.
    pub(crate) equivalence: Equivalence,
    /// Whether records are compared or rewritten by that.
    pub(crate) compares: bool,
    /// How aliases are read, where the command takes them.
    pub(crate) aliases: Option<AliasUse>,
    /// What happens to invalid records, where the command can drop them.
    pub(crate) on_invalid: Option<OnInvalid>,
    /// Whether invalid records are always skipped.
    pub(crate) skips_invalid: bool,
    /// The hash of keys in a set, where the command can use one.
    pub(crate) set_hash: Option<PublicHash>,
    /// The hash of the keys that are written, to the output or to a set.
    pub(crate) hash: Option<PublicHash>,
    pub(crate) limit: Option<MemoryLimit>,
    /// How many records of each shape are kept, where the command samples.
    pub(crate) by_shape: Option<ByShape>,
    /// The rate of new records that may be dropped.
    pub(crate) approximate: Option<f64>,
    /// The columns of tables whose values must be equal, too.
    pub(crate) with: Vec<String>,
    /// Where the records have their URIs, if they are rows with a base and a reference.
    pub(crate) fields: Option<Fields>,
    /// Whether records are pairs of URIs, which tables have too.
    pub(crate) has_pairs: bool,
    pub(crate) rows_are: RowsAre,
    /// Whether the results are records of the input, so that they may replace it.
    pub(crate) is_in_place: bool,
    /// Whether the records are text in which secrets are masked, and are not parsed.
    pub(crate) is_masking: bool,
    /// Whether the command itself filters records.
    pub(crate) has_filter: bool,
    /// Whether two grammars are compared.
    pub(crate) compares_grammars: bool,
    /// Whether one record of each group is counted.
    pub(crate) is_distinct: bool,
    /// Whether there can be no page about the run.
    pub(crate) lacks_report: bool,
    /// What the page about the run looks at; its equivalence is that of the job.
    pub(crate) survey: SurveyOptions,
}

impl Job {
    /// What keys in a set mean, where the command can use one.
    pub(crate) fn meaning(&self) -> Option<Meaning> {
        self.set_hash.map(|hash| self.equivalence.meaning(hash))
    }

    /// Whether the results are lines of a URI or a key each.
    pub(crate) fn writes_list(&self) -> bool {
        match self.writes {
            Writes::Survivors => true,
            Writes::Records => self.compares || self.is_in_place && !self.is_masking,
            Writes::Answers | Writes::Links => false,
        }
    }

    pub(crate) fn surveyed(&self) -> SurveyOptions {
        self.survey.clone().equivalence(self.equivalence.clone())
    }
}

/// What does the work of a command, in the library's terms.
pub(crate) trait Runner {
    /// Does the work on lists and on rows of text tables.
    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error>;

    /// The same work for the rows of tables that are read as columns.
    #[cfg(feature = "full")]
    fn row_job(&self, _job: &Job, _table: &TableUse) -> Result<(Task, Columns), Failure> {
        Err(Failure::at("--column", NOT_FOR_TABLES))
    }
}

/// What a job works on, and where its results go.
pub(crate) struct Run<'r, 's> {
    pub(crate) job: &'r Job,
    pub(crate) sources: Vec<Source>,
    /// The tables that the sources are, if the records are rows of text tables.
    pub(crate) rows: Option<&'r RowOptions>,
    /// The set of the run, if there is one.
    pub(crate) set: Option<&'r mut SetAtWork>,
    pub(crate) settings: &'r Settings,
    pub(crate) sinks: &'r mut Sinks<'s>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Writes {
    /// One record of each class, or of some classes.
    Survivors,
    /// One line for each record.
    Records,
    /// A report about the records.
    #[default]
    Answers,
    /// Links, which are the records.
    Links,
}

/// How a command reads rows of text tables, and what it writes of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum RowsAre {
    /// As columns; it never reads them as rows.
    #[default]
    Columns,
    /// As records; it writes some of them, unchanged, or with what it has found of each: the size of its group, a time.
    Kept { is_extended: bool },
    /// As records; it writes all of them, with more columns.
    Extended,
    /// As the places of URIs; it writes no rows.
    Read,
}

pub(crate) struct AliasUse {
    pub(crate) hasher: Hasher,
    /// Whether the targets themselves are needed, and not only compared.
    pub(crate) keeps: bool,
}

#[derive(Default)]
pub(crate) struct Done {
    pub(crate) report: Report,
    /// The findings of an audit that are written.
    pub(crate) findings: Option<FindingCounts>,
    pub(crate) census: Option<Census>,
    /// The counts of the command, with those of masked records for the page about the run.
    pub(crate) top: Option<Top>,
    /// What the page about the run shows of the records.
    pub(crate) overview: Option<Overview>,
    pub(crate) learned: Option<Learned>,
    /// Whether the exit code is 0, if not the number of invalid records decides that.
    pub(crate) is_fine: Option<bool>,
}

impl From<Report> for Done {
    fn from(report: Report) -> Done {
        Done { report, ..Done::default() }
    }
}

impl<F: Fn(Run<'_, '_>) -> Result<Done, Error>> Runner for F {
    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error> {
        self(run)
    }
}
