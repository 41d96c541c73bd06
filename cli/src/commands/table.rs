//! The plan for tables, which several commands share.

use std::path::PathBuf;

use crate::args::{Command, TableChoice};
use crate::config::TableUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::temp_dir_beside;
use crate::output::Destination;

/// The options for tables.
pub(super) struct Typed {
    choice: Option<TableChoice>,
    temp_dir: Option<PathBuf>,
    keep_column: Option<String>,
}

impl Typed {
    pub(super) fn of(command: &Command) -> Typed {
        let choice = command.table().cloned();
        match command {
            Command::Dedup(typed) => Typed {
                choice,
                temp_dir: typed.memory.temp_dir.clone(),
                keep_column: typed.classes.keep.column.clone(),
            },
            _ => Typed { choice, temp_dir: None, keep_column: None },
        }
    }

    /// The plan for tables, if they are requested.
    ///
    /// # Errors
    /// Never; see the variant for builds without tables.
    pub(super) fn plan(
        self,
        output: &Destination,
        environment: &Environment,
    ) -> Result<Option<TableUse>, Failure> {
        let Typed { choice, temp_dir, keep_column } = self;
        let Some(choice) = choice else { return Ok(None) };
        let Some(column) = choice.column.clone() else { return Ok(None) };
        let temp_dir = temp_dir.unwrap_or_else(|| temp_dir_beside(output, environment));
        Ok(Some(TableUse { choice, column, temp_dir, keep_column }))
    }
}
