//! Errors of tables.

use std::{fmt, io};

use arrow_schema::ArrowError;
use parquet::errors::ParquetError;

use crate::arrow::ColumnError;
use crate::escape::counted;
use crate::pipeline;
use crate::set::SetError;
use crate::survivors::StoreError;
use crate::uri::UriError;

/// Why a table could not be read, processed or written.
#[derive(Debug)]
#[non_exhaustive]
pub enum TableError {
    /// It could not be read, or its format is another one.
    Read {
        /// Its name.
        table: String,
        /// What is wrong.
        what: String,
    },
    /// There is no such column.
    Column {
        /// The name of the table.
        table: String,
        /// The requested column.
        column: String,
        /// The columns it has.
        columns: Vec<String>,
    },
    /// No line of a table of JSON lines has such a member.
    Member {
        /// The name of the table.
        table: String,
        /// The requested member, or the path to it.
        member: String,
    },
    /// It already has a column with the name of one that is to be added; [`super::Job::into`] gives that another one.
    Exists {
        /// The name of the table.
        table: String,
        /// The line of JSON, counted from 1, if a member of it has the name.
        line: Option<u64>,
        /// The name of the column.
        name: String,
    },
    /// Its columns are not those of the first table.
    Columns {
        /// Its name.
        table: String,
        /// What is different.
        what: String,
    },
    /// A column of a file has the name of one that directories name.
    Partition {
        /// The name of the table.
        table: String,
        /// The column.
        column: String,
        /// The directories.
        place: String,
    },
    /// The values of columns would become too many directories.
    Partitions {
        /// The columns.
        columns: String,
        /// The most directories that there may be.
        most: usize,
    },
    /// A malformed line or row of a text table.
    Line {
        /// The name of the table.
        table: String,
        /// The line, counted from 1.
        line: u64,
        /// What is wrong with it.
        what: String,
    },
    /// A row without a valid URI under [`crate::arrow::OnInvalid::Fail`].
    Invalid {
        /// The name of the table.
        table: String,
        /// The row, counted from 1, without a header.
        row: u64,
        /// What is wrong.
        error: UriError,
    },
    /// The column could not be processed.
    Work(ColumnError),
    /// The format cannot represent the results.
    Format(String),
    /// What exceeds the memory limit could not be spilled, or not be read back.
    Spill(pipeline::Error),
    /// The set on disk could not be read or written.
    Set(SetError),
    /// Results could not be written.
    Write(io::Error),
    /// Another thread ended the run ([`super::Job::stop`]).
    Stopped,
}

/// What is wrong with tables without a header and without rows.
pub(super) const NO_ROWS: &str = "the number of columns is unknown, as there are no rows";

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Read { table, what } => write!(f, "{table}: {what}"),
            TableError::Column { table, column, columns } => {
                let names = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
                let names = names.escape_debug();
                write!(f, "{table}: there is no column {column}; there are: {names}")
            }
            TableError::Member { table, member } => {
                write!(f, "{table}: no line has a member {member}")
            }
            TableError::Exists { table, line: None, name } => {
                write!(f, "{table}: a column {name} already exists")
            }
            TableError::Exists { table, line: Some(line), name } => {
                write!(f, "{table}:{line}: a member {name} already exists")
            }
            TableError::Columns { table, what } => write!(f, "{table}: {what}"),
            TableError::Partition { table, column, place } => {
                write!(f, "{table}: column {column} is in the file and in {place}")
            }
            TableError::Partitions { columns, most } => {
                write!(f, "{columns}: more than {}", counted(*most as u64, "partition"))
            }
            TableError::Line { table, line, what } => write!(f, "{table}:{line}: {what}"),
            TableError::Invalid { table, row, error } => write!(f, "{table}: row {row}: {error}"),
            TableError::Work(error) => error.fmt(f),
            TableError::Format(what) => f.write_str(what),
            TableError::Spill(error) => error.fmt(f),
            TableError::Set(error) => error.fmt(f),
            TableError::Write(error) => write!(f, "cannot write: {error}"),
            TableError::Stopped => f.write_str("the run was stopped"),
        }
    }
}

impl std::error::Error for TableError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            TableError::Invalid { error, .. } => Some(error),
            TableError::Write(error) => Some(error),
            TableError::Work(error) => error.source(),
            TableError::Spill(error) => error.source(),
            TableError::Set(error) => error.source(),
            TableError::Read { .. }
            | TableError::Column { .. }
            | TableError::Member { .. }
            | TableError::Exists { .. }
            | TableError::Columns { .. }
            | TableError::Partition { .. }
            | TableError::Partitions { .. }
            | TableError::Line { .. }
            | TableError::Format(_)
            | TableError::Stopped => None,
        }
    }
}

impl From<ColumnError> for TableError {
    fn from(error: ColumnError) -> TableError {
        TableError::Work(error)
    }
}

impl From<StoreError> for TableError {
    fn from(error: StoreError) -> TableError {
        match error {
            StoreError::Write(error) => TableError::Write(error),
            StoreError::Set(error) => TableError::Set(error),
            error @ StoreError::Spill { .. } => TableError::Spill(error.into()),
        }
    }
}

/// The error for a table called `table` that cannot be read.
pub(super) fn unread(table: &str, what: impl fmt::Display) -> TableError {
    TableError::Read { table: table.to_owned(), what: what.to_string() }
}

impl From<ArrowError> for TableError {
    fn from(error: ArrowError) -> TableError {
        TableError::Format(error.to_string())
    }
}

impl From<ParquetError> for TableError {
    fn from(error: ParquetError) -> TableError {
        TableError::Format(error.to_string())
    }
}
