//! The plan for tables, which several commands share.

use std::path::PathBuf;

use uriscan::table::Layout;

use crate::args::{Command, TableChoice};
use crate::config::TableUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::{list_from, table_format, temp_dir_beside};
use crate::output::Destination;

/// The options for tables.
pub(super) struct Typed {
    choice: Option<TableChoice>,
    /// The values of `--from` and `--to`.
    formats: [Option<String>; 2],
    temp_dir: Option<PathBuf>,
    keep_column: Option<String>,
}

impl Typed {
    pub(super) fn of(command: &Command) -> Typed {
        let choice = command.table().cloned();
        let formats = command.formats().map(|typed| typed.cloned());
        match command {
            Command::Dedup(typed) => Typed {
                choice,
                formats,
                temp_dir: typed.memory.temp_dir.clone(),
                keep_column: typed.classes.keep.column.clone(),
            },
            _ => Typed { choice, formats, temp_dir: None, keep_column: None },
        }
    }

    /// The plan for tables, if they are requested.
    ///
    /// # Errors
    /// When `--from` or `--to` names no format of tables, or `--from` is given for lists.
    pub(super) fn plan(
        self,
        output: &Destination,
        has_links: bool,
        environment: &Environment,
    ) -> Result<Option<TableUse>, Failure> {
        let Typed { choice, formats: [from, to], temp_dir, keep_column } = self;
        let column = choice.as_ref().and_then(|choice| choice.column.clone());
        let (Some(choice), Some(column)) = (choice, column) else {
            return match from {
                Some(from) if !has_links => Err(list_from(&from)),
                _ => Ok(None),
            };
        };
        let from = from.filter(|name| name != "auto").map(|name| table_format("--from", &name));
        let to = to.map(|name| table_format("--to", &name)).transpose()?;
        let from = from.transpose()?;
        let temp_dir = temp_dir.unwrap_or_else(|| temp_dir_beside(output, environment));
        let is_directory = match output {
            Destination::File(path) => {
                path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/")
            }
            Destination::Remote(url) => url.is_folder(),
            _ => false,
        };
        let layout = choice.layout().or_else(|| is_directory.then(Layout::default));
        Ok(Some(TableUse { choice, column, from, to, temp_dir, keep_column, layout }))
    }
}
