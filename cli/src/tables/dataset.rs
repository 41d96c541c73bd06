//! Directories, prefixes and patterns among the inputs: the tables that they represent.

use std::path::{Path, PathBuf};

use uriscan_table::dataset::{Found, Selection};

use crate::exit::Failure;
use crate::hint;
use crate::inputs::Input;
use crate::plan::{FoundTables, Plan};
use crate::remote::{self, FoundBelow};

/// Puts the tables below directories and prefixes, and those that patterns select, in their places.
pub(crate) fn find(plan: &mut Plan) -> Result<(), Failure> {
    let has_format = match (&plan.table, &plan.column) {
        (Some(table), _) => table.from.is_some(),
        (None, column) => column.as_ref().is_some_and(|column| column.format.is_some()),
    };
    let (mut inputs, mut tables) = (Vec::new(), FoundTables::default());
    for input in std::mem::take(&mut plan.inputs) {
        let Some(found) = found(&input, has_format)? else {
            inputs.push(input);
            tables.below.push(None);
            continue;
        };
        tables.skipped += found.skipped;
        for (table, below) in found.tables {
            inputs.push(table);
            tables.below.push(Some(below));
        }
    }
    plan.inputs = inputs;
    plan.found = tables.below.iter().any(Option::is_some).then_some(tables);
    Ok(())
}

/// The tables that `input` represents; `None` if it is one itself.
fn found(input: &Input, has_format: bool) -> Result<Option<FoundBelow<Input>>, Failure> {
    let (name, found) = match input {
        Input::File(path) => {
            let Some(selection) = selection(path, has_format) else { return Ok(None) };
            let Found { files, skipped, .. } =
                selection.files().map_err(|error| Failure::new(error.to_string()))?;
            let input = |below: &PathBuf| Input::File(selection.root().join(below));
            let tables = files.into_iter().map(|file| (input(&file.below), file.below)).collect();
            (path.display().to_string(), FoundBelow { tables, skipped })
        }
        Input::Remote(url) => {
            let Some(found) = remote::found(url, has_format)? else { return Ok(None) };
            let FoundBelow { tables, skipped } = found;
            let tables = tables.into_iter().map(|(url, below)| (Input::Remote(url), below));
            (url.to_string(), FoundBelow { tables: tables.collect(), skipped })
        }
        Input::Stdin | Input::Typed(_) => return Ok(None),
    };
    match found.tables.is_empty() {
        true => Err(Failure::at(name, nothing(found.skipped, has_format))),
        false => Ok(Some(found)),
    }
}

/// What `path` selects, if it is not a file.
fn selection(path: &Path, has_format: bool) -> Option<Selection> {
    Selection::of_path(path, has_format).filter(|_| path.is_dir() || !hint::is_url(path))
}

/// The message where there are no tables, although so many names were left out.
fn nothing(skipped: u64, has_format: bool) -> String {
    let by_name = match has_format {
        true => "",
        false => " and files with no name of a table (--from FORMAT reads files of any name)",
    };
    match skipped {
        0 => "no table was found".to_owned(),
        _ => format!(
            "no table was found; {skipped} left out: names with . or _ at the start{by_name}"
        ),
    }
}
