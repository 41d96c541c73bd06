//! Tables in a build without them: an error.

use crate::args::{Command, TableChoice};
use crate::config::TableUse;
use crate::environment::Environment;
use crate::exit::Failure;
use crate::inputs::WITHOUT_TABLES;
use crate::options::list_from;
use crate::output::Destination;

/// The first option for tables that was given.
pub(super) struct Typed {
    option: Option<&'static str>,
    from: Option<String>,
}

impl Typed {
    pub(super) fn of(command: &Command) -> Typed {
        let option = command.table().and_then(TableChoice::option);
        Typed { option, from: command.formats()[0].cloned() }
    }

    /// The plan for tables: there is none.
    ///
    /// # Errors
    /// When tables are requested.
    pub(super) fn plan(
        self,
        _: &Destination,
        has_links: bool,
        _: &Environment,
    ) -> Result<Option<TableUse>, Failure> {
        match (self.option, self.from) {
            (Some(option), _) => Err(Failure::at(option, WITHOUT_TABLES)),
            (None, Some(from)) if !has_links => Err(list_from(&from)),
            (None, _) => Ok(None),
        }
    }
}
