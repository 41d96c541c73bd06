//! Tables, to a program that is built without the feature `full`: whoever asks for one is told what it lacks.

use std::convert::Infallible;
use std::io;
use std::marker::PhantomData;
use std::path::{Path, PathBuf};

use uriscan::Error;
use uriscan::set::Meaning;
use uriscan_bulk::pipeline::{ClassRow, Report, Sinks, TakeRows};

use crate::args::TableChoice;
use crate::environment::Environment;
use crate::exit::{Failure, Stop};
use crate::inputs::{self, Input, Inputs};
use crate::output::{Destination, Output, has_columns, is_directory, is_packed};
use crate::plan::Plan;
use crate::rows;
use crate::sets::records::SetAtWork;

const ABSENT: &str = "this program has no tables of columns: rows of CSV, TSV and JSON lines stay as they are, with `census`, `check`, `dedup`, `extract`, `learn`, `set` and `top`; Parquet, Arrow, other formats than that of the input, sorted rows and several files as output are in the one that `cargo install --path cli --features full` builds";

/// Why a name of a table is refused for what is written, or read, as lines.
const NO_DUPES: &str = "is the name of a table, and this program writes duplicates as lines of text: end it in .txt or .tsv; the program that `cargo install --path cli --features full` builds writes tables";
const NO_CLUSTERS: &str = "is the name of a table, and this program writes groups as JSON lines: end it in .jsonl; the program that `cargo install --path cli --features full` builds writes tables";
const NO_PAIRS: &str = "is the name of a table, and this program reads pairs from lines of text, with a tab between two; the program that `cargo install --path cli --features full` builds reads tables";

/// What pages of help about tables end with.
pub(crate) const HELP_NOTE: &str = "
This program reads rows of CSV, TSV and JSON lines only, by census, check,
dedup, extract, learn, set and top, and writes them in the same format. The one
that does all this is built by `cargo install --path cli --features full`.
";

/// What a table in the place of a list needs.
pub(crate) const NO_COLUMN: &str = ABSENT;

#[derive(Clone, Debug)]
pub(crate) enum TableUse {}

impl TableUse {
    pub(crate) fn new(
        choice: TableChoice,
        _: String,
        [_, to]: [Option<String>; 2],
        _: (Option<PathBuf>, Option<String>),
        (output, _): (&Destination, &Environment),
    ) -> Result<TableUse, Failure> {
        // Rows of the format of the input do not come here.
        let is_table = |path: &&Path| rows::is_table(path) || is_directory(path);
        let output = output.path().filter(is_table);
        let needs_columns = [
            (choice.sort_by.is_some(), "--sort-by"),
            (!choice.partition_by.is_empty(), "--partition-by"),
            (choice.rows_per_file.is_some(), "--rows-per-file"),
            (choice.bytes_per_file.is_some(), "--bytes-per-file"),
        ];
        let option = needs_columns.into_iter().find(|(is_given, _)| *is_given);
        Err(match (option, output, to) {
            (Some((_, option)), ..) => Failure::at(option, ABSENT),
            (None, Some(path), _) => Failure::at(path.display(), ABSENT),
            (None, None, Some(to)) => Failure::at(format_args!("--to {to}"), ABSENT),
            (None, None, None) => Failure::at("--column", ABSENT),
        })
    }

    pub(crate) fn has_files(&self) -> bool {
        match *self {}
    }

    pub(crate) fn temp_dir(&self) -> &Path {
        match *self {}
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Column {}

impl Column {
    pub(crate) fn new(_: &str, _: Option<&str>) -> Result<Column, Failure> {
        Err(Failure::at("--column", ABSENT))
    }

    pub(crate) fn with_fields(
        _: &str,
        _: [Option<String>; 3],
        _: Option<&str>,
    ) -> Result<Column, Failure> {
        Err(Failure::at("--column", ABSENT))
    }
}

pub(crate) enum Work {}

impl Work {
    pub(crate) fn run(
        self,
        _: &Plan,
        _: Option<&mut SetAtWork>,
        _: Option<&mut Folder>,
        _: Sinks<'_>,
    ) -> Result<Report, Stop> {
        match self {}
    }
}

pub(crate) fn open(_: &Plan, table: &TableUse) -> Result<(Work, Option<u64>), Failure> {
    match *table {}
}

pub(crate) fn other_place(_: &Error, _: &Plan, table: &TableUse) -> Option<String> {
    match *table {}
}

pub(crate) fn other_column(_: &Plan, table: &TableUse) -> Option<String> {
    match *table {}
}

pub(crate) fn header_separator(table: &TableUse, _: &Path) -> Option<u8> {
    match *table {}
}

pub(crate) fn column_of(table: &TableUse) -> &str {
    match *table {}
}

pub(crate) fn print_notes() {}

pub(crate) fn find(_: &mut Plan) -> Result<(), Failure> {
    Ok(())
}

pub(crate) fn open_column(_: &Plan, column: &Column) -> Result<Inputs, Failure> {
    match *column {}
}

/// The pairs of `plan`, which are lines.
pub(crate) fn open_pairs(plan: &Plan) -> Result<Inputs, Failure> {
    for path in plan.inputs.iter().filter_map(Input::path) {
        refuse(path, &["jsonl", "ndjson"], NO_PAIRS)
            .map_err(|why| Failure::at(path.display(), why))?;
    }
    inputs::open(&plan.inputs)
}

pub(crate) enum Folder {}

pub(crate) fn open_folder(_: &Destination, _: &Path) -> Result<Option<Folder>, Failure> {
    Ok(None)
}

impl Folder {
    pub(crate) fn finish(&self) -> io::Result<()> {
        match *self {}
    }

    pub(crate) fn put(self, _: bool) -> io::Result<()> {
        match self {}
    }
}

pub(crate) struct ClassTable<'a>(Infallible, PhantomData<&'a mut Output>);

impl<'a> ClassTable<'a> {
    /// Nothing, for lines, among them TSV; an error for the name of a table.
    pub(crate) fn format_of_dupes(path: &Path) -> Result<Option<Infallible>, &'static str> {
        refuse(path, &["jsonl", "ndjson", "json"], NO_DUPES)
    }

    /// Nothing, for JSON lines; an error for the name of a table.
    pub(crate) fn format_of_clusters(path: &Path) -> Result<Option<Infallible>, &'static str> {
        refuse(path, &["tsv", "tab"], NO_CLUSTERS)
    }

    pub(crate) fn of_dupes(
        _: &'a mut Output,
        format: Infallible,
        _: &Meaning,
    ) -> Result<ClassTable<'a>, Error> {
        match format {}
    }

    pub(crate) fn of_clusters(
        _: &'a mut Output,
        format: Infallible,
        _: &Meaning,
    ) -> Result<ClassTable<'a>, Error> {
        match format {}
    }

    pub(crate) fn finish(self) -> Result<(), Error> {
        match self.0 {}
    }
}

impl TakeRows for ClassTable<'_> {
    fn take(&mut self, _: &ClassRow<'_>) -> io::Result<()> {
        match self.0 {}
    }
}

/// Refuses, because of `why`, a name of a table in a format that has columns, and one that ends like one of `others`.
fn refuse(
    path: &Path,
    others: &[&str],
    why: &'static str,
) -> Result<Option<Infallible>, &'static str> {
    let path = if is_packed(path) { &path.with_extension("") } else { path };
    let end = path.extension().and_then(|end| end.to_str()).unwrap_or_default();
    let end = end.to_ascii_lowercase();
    let is_table = has_columns(path) || end == "csv" || others.contains(&&*end);
    if is_table { Err(why) } else { Ok(None) }
}
