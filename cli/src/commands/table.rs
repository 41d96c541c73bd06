//! The plan for tables, which several commands share.

use std::path::PathBuf;

use crate::args::{Command, TableChoice};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::job::RowsAre;
use crate::options::list_from;
use crate::plan::{Plan, RowUse};
use crate::rows;
use crate::tables::{Column, TableUse};

pub(super) struct Typed {
    choice: Option<TableChoice>,
    /// The values of `--from` and `--to`.
    formats: [Option<String>; 2],
    temp_dir: Option<PathBuf>,
    keep_column: Option<String>,
}

impl Typed {
    pub(super) fn of(command: &mut Command) -> Typed {
        let (choice, formats) = match command.reading() {
            Some((choice, find, to)) => (Some(choice), [find.from.clone(), to.cloned()]),
            None => (None, [None, None]),
        };
        let (temp_dir, keep_column) = match command {
            Command::Dedup(it) => (it.memory.temp_dir.clone(), it.classes.keep.column.clone()),
            _ => (None, None),
        };
        Typed { choice, formats, temp_dir, keep_column }
    }

    /// Adds the tables that are read, if they are requested: their rows, their columns, or one of these.
    pub(super) fn add_to(
        mut self,
        plan: &mut Plan,
        environment: &Environment,
    ) -> Result<(), Failure> {
        let rows = match &self.choice {
            Some(choice) => {
                rows::options(plan, (choice, self.keep_column.as_ref()), &self.formats)?
            }
            None => None,
        };
        let has_policy = |choice: &TableChoice| choice.column.is_none() || choice.no_uri.is_some();
        if plan.job.name == "dedup" && !self.choice.as_ref().is_none_or(has_policy) {
            plan.omits_blank = Some("; --no-uri keep writes them");
        }
        // Only the URIs of a column are read.
        let is_list = plan.job.rows_are == RowsAre::Read;
        let column = self.choice.as_ref().and_then(|choice| choice.column.as_ref());
        if let (true, Some(column)) = (is_list, column) {
            // No value of a table has to be cut at a NUL, while a line feed may be in a value that repairs mend.
            plan.settings = plan.settings.record_end(b'\0');
            if rows.is_none() {
                plan.column = Some(Column::new(column, self.formats[0].as_deref())?);
            } else if cfg!(feature = "full") {
                // For hints; what is written is not a table.
                self.formats[1] = None;
                plan.table = self.plan(plan, environment)?;
            }
        } else if rows.is_none() || cfg!(feature = "full") {
            // A program without tables of columns needs none for rows.
            plan.table = self.plan(plan, environment)?;
        }
        match rows {
            Some(options) => {
                // Links are found in the values then, and not in the files.
                plan.documents = None;
                plan.rows = Some(RowUse { options, is_list, table: plan.table.take() });
                Ok(())
            }
            None => plan.write_to_directory(),
        }
    }

    /// The plan for tables that are read as columns, if they are requested.
    fn plan(mut self, plan: &Plan, environment: &Environment) -> Result<Option<TableUse>, Failure> {
        let (output, has_links) = (&plan.output, plan.documents.is_some());
        // Fields are rows only.
        self.formats[0].take_if(|from| *from == "fields");
        let is_column = self.choice.as_ref().is_some_and(|choice| choice.column.is_some());
        if is_column && self.formats[0].as_deref().is_none_or(|from| from == "auto") {
            let found = rows::of_stdin(&plan.inputs).map(|format| format.name().to_owned());
            self.formats[0] = found.or(self.formats[0].take());
        }
        let Typed { choice, formats, temp_dir, keep_column, .. } = self;
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
