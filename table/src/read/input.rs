//! Tables to be read: where they are, and what is known of them before they are opened.

use std::fmt;
use std::io::{self, Read};
use std::path::PathBuf;
use std::sync::Arc;

use super::notes::Notes;
use super::ranged::Rereadable;
use crate::TableFormat;
use crate::dataset::{Partition, Plan};
use crate::parquet::footer::Footer;
use crate::text::fitting::Omitted;
use crate::text::members::Members;
use uriscan_bulk::io::read::part::RereadableFile;
use uriscan_files::{File, Stored};

/// A table to be read.
pub struct Input {
    pub(crate) name: String,
    pub(crate) format: Option<TableFormat>,
    pub(crate) from: From,
    pub(crate) columns: OfColumns,
    pub(crate) notes: Notes,
    pub(crate) omitted: Option<Omitted>,
}

/// What is known of a table: columns that are not its own, and its footer, if it is kept.
#[derive(Clone, Default)]
pub(crate) struct OfColumns {
    /// The members of all files of JSON lines, where they become columns.
    pub(crate) members: Option<Arc<Members>>,
    /// The columns in the names of its directories.
    pub(crate) partition: Arc<Partition>,
    /// The names of these columns, in all tables.
    pub(crate) keys: Arc<[String]>,
    pub(crate) plan: Option<Arc<Plan>>,
    pub(crate) footer: Footer,
}

pub(crate) enum From {
    File(PathBuf),
    Stored(Arc<dyn Stored>),
    Stream(Box<dyn Read + Send>),
}

impl From {
    /// The format by the name of what is called `name` in messages.
    pub(crate) fn format(&self, name: &str) -> Option<TableFormat> {
        match self {
            From::File(path) => TableFormat::of_path(path),
            // The query is not shown.
            From::Stored(_) => {
                TableFormat::of_path(name.strip_suffix("?...").unwrap_or(name).as_ref())
            }
            From::Stream(_) => None,
        }
    }

    /// How to read it once more, if that is possible.
    pub(crate) fn rereadable(&self) -> Option<Rereadable> {
        match self {
            From::File(path) => RereadableFile::at(path).map(Rereadable::File),
            From::Stored(stored) => Some(Rereadable::Stored(stored.clone())),
            From::Stream(_) => None,
        }
    }

    /// Whether it is known not to have a byte.
    pub(crate) fn is_void(&self) -> bool {
        match self {
            From::File(path) => path.metadata().is_ok_and(|it| it.is_file() && it.len() == 0),
            From::Stored(stored) => stored.bytes() == Some(0),
            From::Stream(_) => false,
        }
    }

    pub(crate) fn stream(self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            From::File(path) => Ok(Box::new(File::open(&path)?)),
            From::Stored(stored) => stored.stream(),
            From::Stream(stream) => Ok(stream),
        }
    }
}

impl Input {
    fn new(name: String, format: Option<TableFormat>, from: From) -> Input {
        let (columns, notes) = (OfColumns::default(), Notes::default());
        Input { name, format, from, columns, notes, omitted: None }
    }

    /// The table at a place that it can be read from more than once.
    pub(crate) fn again(place: &Rereadable, format: Option<TableFormat>) -> Input {
        match place {
            Rereadable::File(file) => Input::file(file.path(), format),
            Rereadable::Stored(stored) => Input::stored(stored.clone(), format),
        }
    }

    /// The file at `path`; without a format, it is detected from the name or the first bytes.
    pub fn file(path: impl Into<PathBuf>, format: Option<TableFormat>) -> Input {
        let path = path.into();
        Input::new(path.display().to_string(), format, From::File(path))
    }

    /// Puts what is to be said of it into `notes`.
    #[must_use]
    pub fn notes(mut self, notes: &Notes) -> Input {
        self.notes = notes.clone();
        self
    }

    /// Adds columns, which are in the names of its directories, after those of the table.
    ///
    /// ```
    /// use uriscan_arrow::Columns;
    /// use uriscan_table::{Input, Job, TableFormat, Task, dataset::Partition, run};
    ///
    /// let input = Input::stream("list", TableFormat::Csv, &b"url\nhttp://h\n"[..]);
    /// let input = input.partition(Partition::of_path("dt=1/list.csv".as_ref()).unwrap());
    /// let job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Csv);
    /// let mut out = Vec::new();
    /// run(vec![input], &job, &mut out, None).unwrap();
    /// assert_eq!(out, b"url,dt\nhttp://h,1\n");
    /// ```
    #[must_use]
    pub fn partition(mut self, partition: Partition) -> Input {
        self.columns.partition = Arc::new(partition);
        self
    }

    /// What is `stored` elsewhere than in a file; without a format, it is detected from the name or the first bytes.
    pub fn stored(stored: Arc<dyn Stored>, format: Option<TableFormat>) -> Input {
        Input::new(stored.name().to_owned(), format, From::Stored(stored))
    }

    /// The bytes of `reader`, called `name` in messages. Parquet and Arrow files cannot be read from a stream.
    pub fn stream(
        name: impl Into<String>,
        format: impl Into<Option<TableFormat>>,
        reader: impl Read + Send + 'static,
    ) -> Input {
        Input::new(name.into(), format.into(), From::Stream(Box::new(reader)))
    }

    /// Puts the rows of it that do not fit into `omitted`, when it is read.
    pub(crate) fn omit_to(&mut self, omitted: Option<&Omitted>) {
        self.omitted = omitted.cloned();
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The same table, to be opened once more, if it can be read twice.
    pub(crate) fn reopened(&self) -> Option<Input> {
        let again = Input::again(&self.from.rereadable()?, self.format);
        Some(Input { columns: self.columns.clone(), notes: self.notes.clone(), ..again })
    }

    /// Whether it is not a file, and opening it waits for answers.
    pub(crate) fn is_stored(&self) -> bool {
        matches!(self.from, From::Stored(_))
    }
}

impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Input").field("name", &self.name).finish_non_exhaustive()
    }
}
