//! What differs between commands: what each does with the records of a run.

use std::fmt::Debug;

use uriscan::Error;
use uriscan::key::{Hasher, PublicHash};
use uriscan::repair::Repairs;
use uriscan::set::Meaning;
use uriscan_bulk::io::{Fields, Source};
use uriscan_bulk::learn::Learned;
use uriscan_bulk::pipeline::{
    ByShape, Census, Equivalence, FindingCounts, MemoryLimit, OnInvalid, Overview, Report,
    RowOptions, Settings, Sinks, SurveyOptions, Top,
};

#[cfg(feature = "full")]
use crate::exit::Failure;
use crate::sets::records::SetAtWork;
#[cfg(feature = "full")]
use crate::tables::{Columns, TableUse, Task};

/// Why some options of a command do not work with tables.
#[cfg(feature = "full")]
pub(crate) const NOT_FOR_TABLES: &str = "--template, --grammar, --differ, --iri, --repair and --redact of this command work with \
     lines, not with tables; omit them, or give a list";

/// The work of a command, in the library's terms. Each command has its own, beside its plan in [`crate::commands`].
pub(crate) trait Job: Debug {
    /// The name of the command.
    fn name(&self) -> &'static str;

    /// What the command writes.
    fn writes(&self) -> Writes;

    /// Does the work.
    ///
    /// # Errors
    /// When something cannot be read or written, or invalid records end the run.
    fn run(&self, run: Run<'_, '_>) -> Result<Done, Error>;

    /// What is written if nothing is read at all.
    fn answer(&self) -> Option<&str> {
        None
    }

    /// What makes records equivalent, where the command compares or rewrites them.
    fn equivalence(&self) -> Option<&Equivalence> {
        None
    }

    /// The same, to change it.
    fn equivalence_mut(&mut self) -> Option<&mut Equivalence> {
        None
    }

    /// What happens to invalid records, where the command can drop them.
    fn on_invalid(&self) -> Option<OnInvalid> {
        None
    }

    /// Whether invalid records are always skipped.
    fn skips_invalid(&self) -> bool {
        false
    }

    /// How records are read before they are filtered: their base, and repairs.
    fn read_as(&self) -> Equivalence {
        self.equivalence().cloned().unwrap_or_default()
    }

    /// The repairs of records, where the command has them.
    fn repairs_mut(&mut self) -> Option<&mut Repairs> {
        self.equivalence_mut().map(|equivalence| &mut equivalence.repairs)
    }

    /// What aliases are added to, where the command takes them.
    fn aliased(&mut self) -> Option<Aliased<'_>> {
        None
    }

    /// What keys in a set mean, where the command can use one.
    fn meaning(&self) -> Option<Meaning> {
        None
    }

    /// The memory limit of the command.
    fn limit(&self) -> Option<&MemoryLimit> {
        None
    }

    /// How many records of each shape are kept, where the command samples.
    fn by_shape(&self) -> Option<ByShape> {
        None
    }

    /// The rate of new records that may be dropped.
    fn approximate(&self) -> Option<f64> {
        None
    }

    /// The columns of tables whose values must be equal, too.
    fn with(&self) -> &[String] {
        &[]
    }

    /// The hash of the keys that are written, to the output or to a set if the run `has_set`.
    fn hash(&self, _has_set: bool) -> Option<PublicHash> {
        None
    }

    /// Where the records have their URIs, if they are rows with a base and a reference.
    fn fields(&self) -> Option<&Fields> {
        None
    }

    /// Whether records are pairs of URIs, which tables have too.
    fn has_pairs(&self) -> bool {
        false
    }

    /// How the command reads rows of text tables.
    fn rows_are(&self) -> RowsAre {
        RowsAre::Columns
    }

    /// Whether the results are records of the input, so that they may replace it.
    fn is_in_place(&self) -> bool {
        false
    }

    /// Whether the records are text in which secrets are masked, and are not parsed.
    fn is_masking(&self) -> bool {
        false
    }

    /// Whether the command itself filters records.
    fn has_filter(&self) -> bool {
        false
    }

    /// Whether two grammars are compared.
    fn compares_grammars(&self) -> bool {
        false
    }

    /// Whether there can be a page about the run.
    fn has_report(&self) -> bool {
        true
    }

    /// What the page about the run looks at.
    fn surveyed(&self) -> SurveyOptions {
        SurveyOptions::default().equivalence(self.read_as())
    }

    /// Whether one record of each group is counted.
    fn is_distinct(&self) -> bool {
        false
    }

    /// The same work for the rows of tables.
    ///
    /// # Errors
    /// When an option does not work with tables.
    #[cfg(feature = "full")]
    fn row_job(&self, _table: &TableUse) -> Result<(Task, Columns), Failure> {
        Err(Failure::at("--column", NOT_FOR_TABLES))
    }
}

/// What a job works on, and where its results go.
pub(crate) struct Run<'r, 's> {
    pub(crate) sources: Vec<Source>,
    /// The tables that the sources are, if the records are rows of text tables.
    pub(crate) rows: Option<&'r RowOptions>,
    /// The set of the run, if there is one.
    pub(crate) set: Option<&'r mut SetAtWork>,
    pub(crate) settings: &'r Settings,
    pub(crate) sinks: &'r mut Sinks<'s>,
}

/// What a command writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Writes {
    /// One record of each class, or of some classes.
    Survivors,
    /// One line for each record.
    Records,
    /// A report about the records.
    Answers,
    /// Links, which are the records.
    Links,
}

/// How a command reads rows of text tables, and what it writes of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowsAre {
    /// As columns; it never reads them as rows.
    Columns,
    /// As records; it writes some of them, unchanged, or with what it has found of each: the size of its group, a time.
    Kept { is_extended: bool },
    /// As records; it writes all of them, with more columns.
    Extended,
    /// As the places of URIs; it writes no rows.
    Read,
}

/// What aliases are added to.
pub(crate) struct Aliased<'a> {
    pub(crate) equivalence: &'a mut Equivalence,
    pub(crate) hasher: Hasher,
    /// Whether the targets themselves are needed, and not only compared.
    pub(crate) keeps: bool,
}

/// The result of a job.
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
    /// What was learned.
    pub(crate) learned: Option<Learned>,
    /// Whether the exit code is 0, if not the number of invalid records decides that.
    pub(crate) is_fine: Option<bool>,
}

impl From<Report> for Done {
    fn from(report: Report) -> Done {
        Done { report, ..Done::default() }
    }
}

/// A text that a command writes without reading anything.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) command: &'static str,
    pub(crate) text: String,
}

impl Job for Answer {
    fn name(&self) -> &'static str {
        self.command
    }

    fn writes(&self) -> Writes {
        Writes::Answers
    }

    fn run(&self, _: Run<'_, '_>) -> Result<Done, Error> {
        Ok(Done::default())
    }

    fn answer(&self) -> Option<&str> {
        Some(&self.text)
    }

    fn has_report(&self) -> bool {
        false
    }
}
