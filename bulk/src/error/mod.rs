//! Why a run ended before it was done; one type for lists, tables, columns and sets.

use std::fmt;
use std::io;
use std::path::Path;

use crate::io::ReadError;
use crate::survivors::StoreError;
use uriscan_core::set::SetError;
use uriscan_core::uri::UriError;

named! {
    /// What ended a run.
    ///
    /// ```
    /// assert_eq!(uriscan::ErrorKind::Write.name(), "write");
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
    #[non_exhaustive]
    pub enum ErrorKind {
        /// A source could not be opened or read, or its format is another one.
        Read = "read",
        /// A result could not be written.
        Write = "write",
        /// What exceeds the memory limit could not be spilled, or not be read back.
        Spill = "spill",
        /// What cannot be spilled exceeds the memory limit.
        Memory = "memory",
        /// The threads could not be started.
        Threads = "threads",
        /// A set on disk could not be read or written: [`Error::set`] says why.
        Set = "set",
        /// An invalid record, where these end the run: [`Error::uri`] says why.
        Invalid = "invalid",
        /// A row of a text table that does not fit; [`uriscan_core::row::OnBadRow`] names what goes on after it.
        Row = "row",
        /// A row of a text table that cannot be passed over, since where the next one begins is unknown.
        LongRow = "long-row",
        /// There is no such column, or no line of JSON has such a member: [`Error::column`] names it.
        NoColumn = "no-column",
        /// A column that is to be added is there already.
        ColumnExists = "column-exists",
        /// Tables of one run differ in their columns.
        Columns = "columns",
        /// A column is in a file and in the names of its directories.
        Partition = "partition",
        /// The values of columns would become too many directories.
        Partitions = "partitions",
        /// A column does not hold text.
        ColumnType = "column-type",
        /// Columns that belong together differ in length.
        Lengths = "lengths",
        /// An array has more text than its offsets can address.
        TooLarge = "too-large",
        /// A format cannot hold the results, or what is asked for cannot be had there.
        Unsupported = "unsupported",
        /// Another thread ended the run.
        Stopped = "stopped",
    }
}

/// Why a run ended before it was done: a [kind](Error::kind), where, and a text that a person can act on.
///
/// ```
/// use uriscan_bulk::{ErrorKind, pipeline};
/// let settings = pipeline::Settings::default();
/// let options = pipeline::DedupOptions::default().on_invalid(pipeline::OnInvalid::Fail);
/// let list = uriscan_bulk::io::Source::new("list", &b"http://h/\nhttp://h/%\n"[..]);
/// let mut out = Vec::new();
/// let mut sinks = pipeline::Sinks::new(&mut out);
/// let error = pipeline::dedup(vec![list], &options, &settings, &mut sinks).unwrap_err();
/// assert_eq!((error.kind(), error.source_name(), error.line()), (ErrorKind::Invalid, Some("list"), Some(2)));
/// assert_eq!(error.uri().map(|error| error.at), Some(9));
/// ```
#[derive(Debug)]
pub struct Error(Box<Inner>);

#[derive(Debug)]
struct Inner {
    kind: ErrorKind,
    /// The name of the source or table, or the path of a directory.
    name: Option<String>,
    place: Place,
    /// The column that was asked for, and those that there are.
    column: Option<(String, Vec<String>)>,
    cause: Cause,
}

#[derive(Clone, Copy, Debug)]
enum Place {
    Unknown,
    Line(u64),
    Row(u64),
}

#[derive(Debug)]
enum Cause {
    Text(String),
    /// What could not be done, and what the system said.
    System(&'static str, io::Error),
    /// An invalid record, and the byte of the source at which it begins, where that is known.
    Uri(UriError, Option<u64>),
    Set(SetError),
}

impl Error {
    /// What ended the run.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The name of the source or table concerned, or the path of the directory for spilling.
    pub fn source_name(&self) -> Option<&str> {
        self.0.name.as_deref()
    }

    /// The line at which the record or row begins, counted from 1.
    pub fn line(&self) -> Option<u64> {
        match self.0.place {
            Place::Line(line) => Some(line),
            _ => None,
        }
    }

    /// The row: of a table counted from 1, without a header; of an array, which has no name, counted from 0.
    pub fn row(&self) -> Option<u64> {
        match self.0.place {
            Place::Row(row) => Some(row),
            _ => None,
        }
    }

    /// The byte of the source at which the invalid record begins, counted from 0.
    pub fn byte(&self) -> Option<u64> {
        match self.0.cause {
            Cause::Uri(_, byte) => byte,
            _ => None,
        }
    }

    /// What is wrong with the invalid record, at a byte that is counted from the first one that is not white space.
    pub fn uri(&self) -> Option<UriError> {
        match self.0.cause {
            Cause::Uri(error, _) => Some(error),
            _ => None,
        }
    }

    /// What is wrong with the set.
    pub fn set(&self) -> Option<&SetError> {
        match &self.0.cause {
            Cause::Set(error) => Some(error),
            _ => None,
        }
    }

    /// The column, or the member of JSON lines, that is missing.
    pub fn column(&self) -> Option<&str> {
        self.0.column.as_ref().map(|(column, _)| &column[..])
    }

    /// The columns that there are in place of the missing one, where they are known.
    pub fn columns(&self) -> &[String] {
        self.0.column.as_ref().map_or(&[], |(_, columns)| columns)
    }

    /// What the system said, or this error if it was not the system.
    pub fn into_io(self) -> io::Error {
        match *self.0 {
            Inner { cause: Cause::System(_, error), .. } => error,
            inner => io::Error::other(Error(Box::new(inner))),
        }
    }

    /// The same of the source called `name`.
    pub fn of_source(mut self, name: impl Into<String>) -> Error {
        self.0.name = Some(name.into());
        self
    }

    /// A result could not be written, for this reason.
    #[cold]
    pub fn write(error: io::Error) -> Error {
        Error::new(ErrorKind::Write, Cause::System("cannot write: ", error))
    }

    /// The value in row `row` of an array, counted from 0, is invalid.
    pub fn invalid_row(row: u64, error: UriError) -> Error {
        Error::new(ErrorKind::Invalid, Cause::Uri(error, None)).in_row(row)
    }

    /// Columns of these lengths belong together.
    pub fn lengths(one: usize, other: usize) -> Error {
        Error::text(ErrorKind::Lengths, format!("the columns differ in length: {one} and {other}"))
    }

    /// An array has more text than its offsets can address.
    pub fn too_large() -> Error {
        Error::text(
            ErrorKind::TooLarge,
            "more than 2 GiB of text in one array; cast the column to large_string, or work in smaller batches",
        )
    }

    /// Another thread ended the run.
    pub fn stopped() -> Error {
        Error::text(ErrorKind::Stopped, "the run was stopped")
    }

    fn new(kind: ErrorKind, cause: Cause) -> Error {
        let place = Place::Unknown;
        Error(Box::new(Inner { kind, name: None, place, column: None, cause }))
    }

    /// An error of this `kind` with a text.
    #[cold]
    pub fn text(kind: ErrorKind, text: impl Into<String>) -> Error {
        Error::new(kind, Cause::Text(text.into()))
    }

    /// The format cannot hold the results, or what is asked for cannot be had.
    pub fn unsupported(what: impl Into<String>) -> Error {
        Error::text(ErrorKind::Unsupported, what)
    }

    /// The same at this line.
    pub fn in_line(mut self, line: u64) -> Error {
        self.0.place = Place::Line(line);
        self
    }

    /// The same in this row.
    pub fn in_row(mut self, row: u64) -> Error {
        self.0.place = Place::Row(row);
        self
    }

    /// The table or source called `name` cannot be read: `what` is wrong.
    #[cold]
    pub fn read(name: &str, what: impl fmt::Display) -> Error {
        Error::text(ErrorKind::Read, what.to_string()).of_source(name)
    }

    /// A record that begins at `line` and at `byte` of the source is invalid.
    #[cold]
    pub(crate) fn invalid(source: &str, (line, byte): (u64, u64), error: UriError) -> Error {
        let cause = Cause::Uri(error, Some(byte));
        Error::new(ErrorKind::Invalid, cause).of_source(source).in_line(line)
    }

    /// What exceeds the memory limit could not be spilled to `dir`.
    #[cold]
    pub(crate) fn spill(dir: &Path, error: io::Error) -> Error {
        let cause = Cause::System("cannot spill to disk: ", error);
        Error::new(ErrorKind::Spill, cause).of_source(dir.display().to_string())
    }

    #[cold]
    #[doc(hidden)]
    pub fn threads(error: rayon::ThreadPoolBuildError) -> Error {
        let cause = Cause::System("cannot start the threads: ", io::Error::other(error));
        Error::new(ErrorKind::Threads, cause)
    }

    /// The table has `what` already, a column or a member.
    pub fn exists(table: &str, what: impl fmt::Display) -> Error {
        Error::text(ErrorKind::ColumnExists, format!("a {what} already exists")).of_source(table)
    }

    /// No line of the source has `member`.
    pub fn no_member(source: &str, member: &str) -> Error {
        let text = format!("no line has a member {member}");
        Error::text(ErrorKind::NoColumn, text).of_source(source).with_column(member, Vec::new())
    }

    /// The table has `columns`, and `column` is not one of them.
    pub fn no_column(table: &str, column: &str, columns: Vec<String>) -> Error {
        let names = if columns.is_empty() { "none".to_owned() } else { columns.join(", ") };
        let text = format!("there is no column {column}; there are: {}", names.escape_debug());
        Error::text(ErrorKind::NoColumn, text).of_source(table).with_column(column, columns)
    }

    /// The columns of the table are not those of the others, or not what is needed.
    pub fn columns_of(table: &str, what: impl Into<String>) -> Error {
        Error::text(ErrorKind::Columns, what).of_source(table)
    }

    fn with_column(mut self, column: &str, columns: Vec<String>) -> Error {
        self.0.column = Some((column.to_owned(), columns));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Inner { name, place, cause, .. } = &*self.0;
        match (name, place) {
            (Some(name), Place::Unknown) => write!(f, "{name}: ")?,
            (Some(name), Place::Line(line)) => write!(f, "{name}:{line}: ")?,
            (Some(name), Place::Row(row)) => write!(f, "{name}: row {row}: ")?,
            (None, Place::Unknown) => {}
            (None, Place::Line(line)) => write!(f, "line {line}: ")?,
            (None, Place::Row(row)) => write!(f, "row {row}: ")?,
        }
        match cause {
            Cause::Text(text) => f.write_str(text),
            Cause::System(what, error) => write!(f, "{what}{error}"),
            Cause::Set(error) => error.fmt(f),
            Cause::Uri(error, None) => error.fmt(f),
            Cause::Uri(error, Some(byte)) => {
                let at = u64::from(error.at);
                let (kind, message) = (error.kind, error.kind.message());
                write!(f, "{kind} at column {} (byte {}): {message}", at + 1, byte + at)
            }
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.0.cause {
            Cause::Text(_) => None,
            Cause::System(_, error) => Some(error),
            Cause::Set(error) => error.source(),
            Cause::Uri(error, _) => Some(error),
        }
    }
}

impl From<SetError> for Error {
    fn from(error: SetError) -> Error {
        Error::new(ErrorKind::Set, Cause::Set(error))
    }
}

impl From<ReadError> for Error {
    fn from(ReadError { source, error }: ReadError) -> Error {
        // That of a row, or the like, in a table that was read as a list.
        error.downcast().unwrap_or_else(|error| {
            Error::new(ErrorKind::Read, Cause::System("", error)).of_source(source)
        })
    }
}

impl From<StoreError> for Error {
    fn from(error: StoreError) -> Error {
        match error {
            StoreError::Spill { dir, error } => Error::spill(&dir, error),
            StoreError::Set(error) => error.into(),
            StoreError::Write(error) => Error::write(error),
        }
    }
}

impl From<Error> for io::Error {
    fn from(error: Error) -> io::Error {
        io::Error::other(error)
    }
}

#[cfg(feature = "arrow")]
impl From<arrow_schema::ArrowError> for Error {
    fn from(error: arrow_schema::ArrowError) -> Error {
        Error::unsupported(error.to_string())
    }
}

#[cfg(feature = "tables")]
impl From<parquet::errors::ParquetError> for Error {
    fn from(error: parquet::errors::ParquetError) -> Error {
        Error::unsupported(error.to_string())
    }
}
