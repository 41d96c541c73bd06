//! Tables in a build without them: an error.

use crate::args::{Command, TableChoice};
use crate::config::TableUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::inputs::WITHOUT_TABLES;
use crate::output::Destination;

/// The first option for tables that was given.
pub(super) struct Typed(Option<&'static str>);

impl Typed {
    pub(super) fn of(command: &Command) -> Typed {
        Typed(command.table().and_then(TableChoice::option))
    }

    /// The plan for tables: there is none.
    ///
    /// # Errors
    /// When tables are requested.
    pub(super) fn plan(
        self,
        _: &Destination,
        _: &Environment,
    ) -> Result<Option<TableUse>, Failure> {
        self.0.map_or(Ok(None), |option| Err(Failure::at(option, WITHOUT_TABLES)))
    }
}
