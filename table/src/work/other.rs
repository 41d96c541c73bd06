//! Other columns than that of the URIs: those that rows are compared by, and the one that decides which row is kept.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::Schema;

use crate::job::target::Target;
use crate::text::jsonl;
use uriscan_arrow::spelled_out;
use uriscan_bulk::error::Error;

/// A column, a part of one, or a member of lines.
pub(crate) enum OtherColumn {
    Column(Target),
    /// Of JSON lines that are written unchanged.
    Member {
        /// Its name, or a path to it.
        name: String,
        /// Whether a line has it; `None` before the first line.
        is_there: Option<bool>,
    },
}

impl OtherColumn {
    /// What is called `name` in the table `table` with the columns of `schema`. Fails if there is no such column. Whether there
    /// is such a member is known at the end ([`OtherColumn::missing`]).
    pub(crate) fn locate(name: &str, table: &str, schema: &Schema) -> Result<OtherColumn, Error> {
        Ok(match jsonl::is_of_lines(schema) {
            true => OtherColumn::Member { name: name.to_owned(), is_there: None },
            false => OtherColumn::Column(Target::locate(table, schema, name)?),
        })
    }

    /// The member, if there were lines and none of them had it.
    pub(crate) fn missing(&self) -> Option<&str> {
        match self {
            OtherColumn::Member { name, is_there: Some(false) } => Some(name),
            _ => None,
        }
    }

    /// The values in `batch`, which so many rows of the table with this name precede, no dictionary; members as texts that
    /// `read` makes of what is written. Fails if a line has a member twice, or `read` fails, with the reason.
    pub(crate) fn values(
        &mut self,
        place: (&str, u64),
        batch: &RecordBatch,
        read: fn(&str) -> Result<String, &'static str>,
    ) -> Result<ArrayRef, Error> {
        match self {
            OtherColumn::Column(target) => Ok(spelled_out(&target.values(batch)?)?),
            OtherColumn::Member { name, is_there } => {
                let (values, is_here) = jsonl::members(place, batch, name, read)?;
                *is_there = Some(is_here || *is_there == Some(true));
                Ok(Arc::new(values))
            }
        }
    }
}
