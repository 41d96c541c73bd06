//! Text tables whose rows are records: which calls read tables so, and what to do about errors in them.

use std::io::{self, IsTerminal};
use std::path::Path;

use uriscan::row::{OnBadRow, TextFormat, TextTable};
use uriscan::{Error, ErrorKind};
use uriscan_bulk::pipeline::RowOptions;

use crate::args::{self, Dialect, Quote, TableChoice};
use crate::exit::{Failure, Stop};
use crate::hint::Beginning;
use crate::inputs::{Input, first_of_stdin};
use crate::job::{RowsAre, Writes};
use crate::output::{Destination, NOT_COMPRESSED, has_columns, is_directory, is_packed};
use crate::plan::Plan;
use crate::tables;

/// How `plan` reads tables as rows, of which the values of `keep_by` decide which ones are kept; `None` if it does not, but as columns.
pub(crate) fn options(
    plan: &Plan,
    (choice, keep_by): (&TableChoice, Option<&String>),
    formats: &[Option<String>; 2],
) -> Result<Option<RowOptions>, Failure> {
    let Some(column) = &choice.column else { return Ok(None) };
    let Dialect { on_bad_row, no_header, delimiter, quote } = choice.dialect;
    let is_list = plan.job.rows_are == RowsAre::Read;
    if is_list && on_bad_row == Some(OnBadRow::Pass) {
        let what = "this command writes no rows; --on-bad-row skip omits them";
        return Err(Failure::at("--on-bad-row pass", what));
    }
    if !HAS_COLUMNS && !is_list {
        refuse_lists(plan)?;
    }
    let format = match needs_columns(plan, choice) {
        false => format_of(plan, formats, !HAS_COLUMNS || on_bad_row == Some(OnBadRow::Pass))?,
        true => None,
    };
    let as_columns = || {
        if on_bad_row == Some(OnBadRow::Pass) {
            return Err(Failure::at("--on-bad-row pass", FOR_ROWS));
        }
        let for_rows = [
            (is_list && on_bad_row.is_some(), "--on-bad-row"),
            (formats[0].as_deref() == Some("fields"), "--from fields"),
            (is_list && no_header, "--no-header"),
            (is_list && delimiter.is_some(), "--delimiter"),
            (is_list && quote.is_some(), "--quote"),
        ];
        match for_rows.into_iter().find(|(is_given, _)| *is_given) {
            Some((_, option)) => Err(Failure::at(option, FOR_ROWS)),
            None => Ok(None),
        }
    };
    let Some(format) = format else { return as_columns() };
    let table = TextTable::new(format, column)
        .delimiter(delimiter)
        .quote(quote.map(|quote| match quote {
            Quote::Char(quote) => Some(quote),
            Quote::None => None,
        }))
        .has_header(!no_header)
        .keeps_blank(match plan.job.rows_are {
            RowsAre::Extended => choice.no_uri != Some(args::NoUri::Drop),
            _ => choice.no_uri == Some(args::NoUri::Keep),
        })
        .on_bad_row(on_bad_row.unwrap_or_default())
        .with(plan.job.with.clone())
        .keep_by(keep_by.cloned());
    table.check().map_err(|what| Failure::at("--delimiter, --quote", what))?;
    let options = RowOptions::new(table).filter(plan.filter.clone()).adds(choice.into.clone());
    match is_same_table(plan, &options.table) {
        true => Ok(Some(options)),
        false => as_columns(),
    }
}

const FOR_ROWS: &str = "works where rows of CSV, TSV, JSON lines or fields stay as they are: with `census`, `top`, `set`, and with \
     `dedup`, `check` and `extract` if the output has the format of the input, from files that are named (no directories, no JSON \
     arrays), without --sort-by and several files as output; `check` and -c need names of columns, which fields do not \
     have. --on-bad-row skip works also where a table of text becomes another table";

/// Whether tables are read as columns, whatever their format: columns are added, rows sorted, or results several files; or the option is
/// for lists, which the reader of columns says.
fn needs_columns(plan: &Plan, choice: &TableChoice) -> bool {
    match plan.job.rows_are {
        RowsAre::Columns => return true,
        RowsAre::Read => return false,
        // Without a column that is added, none can have a name.
        RowsAre::Kept { is_extended: false } if choice.into.is_some() => return true,
        RowsAre::Kept { .. } | RowsAre::Extended => {}
    }
    let is_cut = choice.rows_per_file.is_some()
        || choice.bytes_per_file.is_some()
        || !choice.partition_by.is_empty();
    choice.sort_by.is_some() || is_cut || refuse_lists(plan).is_err()
}

/// An error if an option is given that works with lists, and not with tables.
pub(crate) fn refuse_lists(plan: &Plan) -> Result<(), Failure> {
    let what = if plan.aliases.is_some() {
        "--aliases works with lines, not with tables; omit it, or give a list"
    } else if plan.settings.redact || plan.settings.record_end == 0 {
        "--redact and -0 work with lines, not with tables; omit them"
    } else if plan.documents.is_some() && plan.job.writes != Writes::Links {
        "--extract makes lists, not tables; `uriscan extract --column` adds a column of links"
    } else {
        return Ok(());
    };
    Err(Failure::at("--column", what))
}

/// The format of all inputs and of the output, if it is one and has rows. That tables have rows is certain if `is_certain`.
fn format_of(
    plan: &Plan,
    [from, to]: &[Option<String>; 2],
    is_certain: bool,
) -> Result<Option<TextFormat>, Failure> {
    let from = from.as_deref().filter(|from| *from != "auto");
    let mut format = None;
    for input in &plan.inputs {
        let found = match input {
            // A directory, or a pattern.
            Input::File(path) if HAS_COLUMNS && !is_file(path) => return Ok(None),
            Input::Typed(_) | Input::Remote(_) => return Ok(None),
            _ if from.is_some() => from.and_then(TextFormat::from_name),
            Input::File(path) => of_path(path).or_else(|| of_content(beginning(path))),
            Input::Stdin => of_content(first_of_stdin()),
        };
        match (found, format) {
            (None, _) if from.is_none() && is_certain && !input.path().is_some_and(is_table) => {
                let what =
                    "the format of the table is unknown; --from csv, tsv, jsonl or fields names it";
                return Err(Failure::at("--column", what));
            }
            (None, _) => return Ok(None),
            (Some(found), None) => format = Some(found),
            (Some(found), Some(before)) if found == before => {}
            (Some(_), Some(_)) => return Ok(None),
        }
    }
    if plan.job.rows_are == RowsAre::Read {
        return Ok(format);
    }
    let to = match (to, &plan.output) {
        (Some(to), _) => TextFormat::from_name(to),
        (None, Destination::Stdout) => format,
        (None, Destination::File(path)) if is_packed(path) => {
            return Err(Failure::at(path.display(), NOT_COMPRESSED));
        }
        (None, Destination::File(path)) if is_table(path) => of_path(path),
        (None, Destination::File(_)) => format,
        (None, _) => None,
    };
    if HAS_COLUMNS && matches!(&plan.output, Destination::File(path) if is_directory(path)) {
        return Ok(None);
    }
    Ok(format.filter(|format| to == Some(*format) && can_hold(plan, *format)))
}

/// Whether rows of this `format` can have the columns that are added, if some are.
fn can_hold(plan: &Plan, format: TextFormat) -> bool {
    match plan.job.rows_are {
        RowsAre::Extended | RowsAre::Kept { is_extended: true } => format != TextFormat::Fields,
        _ => true,
    }
}

/// Whether this program reads tables as columns, too.
const HAS_COLUMNS: bool = cfg!(feature = "full");

/// Whether `path` is something to read, and no directory or pattern.
fn is_file(path: &Path) -> bool {
    path.exists() && !path.is_dir()
}

/// The first byte of the file at `path` that is not white space.
fn beginning(path: &Path) -> Option<u8> {
    Beginning::of_file(path, b'\n')?.first_byte()
}

/// The format of what begins with the byte `first`, if that identifies it.
fn of_content(first: Option<u8>) -> Option<TextFormat> {
    (first == Some(b'{')).then_some(TextFormat::Jsonl)
}

/// The format of standard input, if that is all of `inputs` and identifies it.
pub(crate) fn of_stdin(inputs: &[Input]) -> Option<TextFormat> {
    let is_read = *inputs == [Input::Stdin] && !io::stdin().is_terminal();
    is_read.then(first_of_stdin).and_then(of_content)
}

/// The text format that the name of a file says.
fn of_path(path: &Path) -> Option<TextFormat> {
    const PACKED: [&str; 5] = [".gz", ".zst", ".bz2", ".xz", ".lz4"];
    let name = path.file_name()?.to_str()?.to_ascii_lowercase();
    let name = PACKED.iter().find_map(|end| name.strip_suffix(end)).unwrap_or(&name);
    Some(match name.rsplit_once('.')?.1 {
        "csv" => TextFormat::Csv,
        "tsv" | "tab" => TextFormat::Tsv,
        "jsonl" | "ndjson" | "json" => TextFormat::Jsonl,
        _ => return None,
    })
}

/// What is between the names of columns in the first line of `table`, if that line has them.
pub(crate) fn header_separator(table: &TextTable) -> Option<u8> {
    match table.format {
        _ if !table.has_header => None,
        TextFormat::Csv => Some(table.delimiter.unwrap_or(b',')),
        TextFormat::Tsv => Some(b'\t'),
        TextFormat::Jsonl | TextFormat::Fields => None,
    }
}

/// Whether the name of a file says that it is a table of any format.
pub(crate) fn is_table(path: &Path) -> bool {
    of_path(path).is_some() || has_columns(path)
}

/// Whether all files are such rows: objects of JSON and no array; tables with one header, if they become one. What cannot be
/// read twice is.
fn is_same_table(plan: &Plan, table: &TextTable) -> bool {
    // A program without tables of columns reads them only so, and the reader says what is wrong.
    if !HAS_COLUMNS {
        return true;
    }
    let files = plan.inputs.iter().filter_map(Input::path);
    let mut beginnings = files.filter_map(|path| Beginning::of_file(path, b'\n'));
    match table.format {
        TextFormat::Jsonl => {
            let is_array = |first: Option<u8>| first == Some(b'[');
            let reads_stdin = plan.inputs.contains(&Input::Stdin);
            !(reads_stdin && is_array(first_of_stdin()))
                && beginnings.all(|it| !is_array(it.first_byte()))
        }
        TextFormat::Fields => true,
        _ if plan.job.rows_are == RowsAre::Read => true,
        TextFormat::Csv | TextFormat::Tsv if plan.inputs.len() < 2 || !table.has_header => true,
        TextFormat::Csv | TextFormat::Tsv => {
            let is_plain = |input: &Input| input.path().is_some_and(Path::is_file);
            if !plan.inputs.iter().all(is_plain) {
                return false;
            }
            // One without a byte has no header.
            let mut beginnings = beginnings.filter(|it| !it.first_line().is_empty());
            let Some(first) = beginnings.next() else { return true };
            // Names may be in quotes or not.
            let header = |it: &Beginning| -> Vec<u8> {
                it.first_line().iter().copied().filter(|byte| *byte != b'"').collect()
            };
            beginnings.all(|it| header(&it) == header(&first))
        }
    }
}

/// Why a run of `plan` ends because of `error`, with what to do about it.
pub(crate) fn stop(error: Error, plan: &Plan) -> Stop {
    match advice(&error, plan) {
        Some(advice) => Stop::Failed(Failure::new(format!("{error}; {advice}"))),
        None => Stop::from(error),
    }
}

/// What to do about `error`, where that depends on the run.
fn advice(error: &Error, plan: &Plan) -> Option<String> {
    let table = plan.table.as_ref().or_else(|| plan.rows.as_ref()?.table.as_ref());
    let may_be_named = plan.rows.is_some() && !plan.job.name.starts_with("set");
    match error.kind() {
        ErrorKind::NoColumn => {
            let other = table.and_then(|table| tables::other_place(error, plan, table));
            other.or_else(|| members(error.source_name()?, plan))
        }
        ErrorKind::Row if !is_taken(error) => Some(on_bad(plan).to_owned()),
        // A column, or a member of a row.
        _ if may_be_named && is_taken(error) => {
            Some("--into NAME gives the new one another name".to_owned())
        }
        _ => None,
    }
}

/// Whether a row has a name that is to be added.
fn is_taken(error: &Error) -> bool {
    error.to_string().ends_with("already exists")
}

/// The names in the first object of the file called `name`, a list of rows.
fn members(name: &str, plan: &Plan) -> Option<String> {
    /// Names that are listed.
    const MOST: usize = 20;
    plan.rows.as_ref()?;
    let mut paths = plan.inputs.iter().filter_map(Input::path);
    let path = paths.find(|path| path.display().to_string() == name && path.is_file())?;
    let beginning = Beginning::of_file(path, b'\n')?;
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_slice(beginning.first_line()).ok()?;
    let names: Vec<String> =
        object.keys().take(MOST).map(|name| name.escape_debug().to_string()).collect();
    (!names.is_empty()).then(|| format!("the first line has: {}", names.join(", ")))
}

/// What goes on after rows that do not fit.
fn on_bad(plan: &Plan) -> &'static str {
    match plan.table.is_some() || matches!(plan.job.rows_are, RowsAre::Read) {
        true => "--on-bad-row skip omits such rows",
        false => "--on-bad-row skip omits such rows, and pass writes them as they are",
    }
}
