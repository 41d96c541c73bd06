//! The plan for tables, which several commands share.

use std::path::PathBuf;

use uriscan::pipeline::RowOptions;

use crate::args::{Command, TableChoice};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::list_from;
use crate::output::Destination;
use crate::plan::Plan;
use crate::rows;
use crate::tables::TableUse;

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

    /// How `plan` reads text tables as rows, if it does.
    ///
    /// # Errors
    /// When an option is only for rows, and it does not.
    pub(super) fn rows(&self, plan: &Plan) -> Result<Option<RowOptions>, Failure> {
        let Some(choice) = &self.choice else { return Ok(None) };
        rows::options(plan, (choice, self.keep_column.is_some()), &self.formats)
    }

    /// The plan for tables that are read as columns, if they are requested.
    ///
    /// # Errors
    /// When `--from` or `--to` names no format of tables, or `--from` is given for lists.
    pub(super) fn plan(
        mut self,
        output: &Destination,
        has_links: bool,
        environment: &Environment,
    ) -> Result<Option<TableUse>, Failure> {
        // Fields are rows only.
        self.formats[0].take_if(|from| *from == "fields");
        let Typed { choice, formats, temp_dir, keep_column } = self;
        let column = choice.as_ref().and_then(|choice| choice.column.clone());
        let (Some(choice), Some(column)) = (choice, column) else {
            return match &formats[0] {
                Some(from) if !has_links => Err(list_from(from)),
                _ => Ok(None),
            };
        };
        let places = (temp_dir, keep_column);
        TableUse::new(choice, column, formats, places, (output, environment)).map(Some)
    }
}
