//! Directories and patterns among the inputs: the tables that they stand for.

use std::path::Path;

use uriscan::table::dataset::{Found, Selection};

use super::failure::failure;
use crate::config::{Config, FoundTables};
use crate::exit::Failure;
use crate::hint;
use crate::inputs::Input;

/// `config` with the tables below directories and those that patterns select, instead of these.
///
/// # Errors
/// When a directory cannot be read, or there are no tables.
pub(crate) fn with_found(config: &Config) -> Result<Config, Failure> {
    let mut config = config.clone();
    let has_format = match (&config.table, &config.column) {
        (Some(table), _) => table.from.is_some(),
        (None, Some(column)) => column.format.is_some(),
        (None, None) => return Ok(config),
    };
    let (mut inputs, mut tables) = (Vec::new(), FoundTables::default());
    for input in std::mem::take(&mut config.inputs) {
        let selection = input.path().and_then(|path| selection(path, has_format));
        let (Some(selection), Some(path)) = (selection, input.path()) else {
            inputs.push(input);
            tables.below.push(None);
            continue;
        };
        let Found { files, skipped, .. } = selection.files().map_err(failure)?;
        if files.is_empty() {
            return Err(Failure::at(path.display(), nothing(skipped, has_format)));
        }
        tables.skipped += skipped;
        for file in files {
            inputs.push(Input::File(selection.root().join(&file.below)));
            tables.below.push(Some(file.below));
        }
    }
    config.inputs = inputs;
    config.found = tables.below.iter().any(Option::is_some).then_some(tables);
    Ok(config)
}

/// What `path` selects, if it is no file.
fn selection(path: &Path, has_format: bool) -> Option<Selection> {
    if path.is_dir() {
        return Some(Selection::of_directory(path, has_format));
    }
    let is_file = path.symlink_metadata().is_ok();
    let pattern = path.to_str().filter(|_| !is_file && !hint::is_url(path))?;
    Selection::of_pattern(pattern, has_format)
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
