//! Tables to be read: where they are, and what is known of them before they are opened.

use std::fmt;
use std::io::Read;
use std::path::PathBuf;
use std::sync::Arc;

use super::notes::Notes;
use crate::TableFormat;
use crate::dataset::{Partition, Plan};
use crate::parquet::footer::Footer;
use crate::text::fitting::Omitted;
use crate::text::members::Members;
use uriscan_bulk::io::read::part::RereadableFile;
use uriscan_files::Stored;

/// A table to be read.
pub struct Input {
    pub(crate) name: String,
    pub(crate) format: Option<TableFormat>,
    pub(crate) from: From,
    pub(crate) columns: OfColumns,
    pub(crate) footer: Footer,
    pub(crate) notes: Notes,
    pub(crate) omitted: Option<Omitted>,
}

/// The columns of a table, as far as they are not its own.
#[derive(Clone, Default)]
pub(crate) struct OfColumns {
    /// The members of all files of JSON lines, where they become columns.
    pub(crate) members: Option<Arc<Members>>,
    /// The columns in the names of its directories.
    pub(crate) partition: Arc<Partition>,
    /// The names of these columns, in all tables.
    pub(crate) keys: Arc<[String]>,
    /// The columns of all tables.
    pub(crate) plan: Option<Arc<Plan>>,
}

pub(crate) enum From {
    File(PathBuf),
    Stored(Arc<dyn Stored>),
    Stream(Box<dyn Read + Send>),
}

impl Input {
    /// The file at `path`; without a format, it is detected from the name or the first bytes.
    pub fn file(path: impl Into<PathBuf>, format: Option<TableFormat>) -> Input {
        let path = path.into();
        Input {
            name: path.display().to_string(),
            format,
            from: From::File(path),
            columns: OfColumns::default(),
            footer: Footer::default(),
            notes: Notes::default(),
            omitted: None,
        }
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
        let (name, from) = (stored.name().to_owned(), From::Stored(stored));
        let (columns, footer, notes) = (OfColumns::default(), Footer::default(), Notes::default());
        Input { name, format, from, columns, footer, notes, omitted: None }
    }

    /// The bytes of `reader`, called `name` in messages. Parquet and Arrow files cannot be read from a stream.
    pub fn stream(
        name: impl Into<String>,
        format: impl Into<Option<TableFormat>>,
        reader: impl Read + Send + 'static,
    ) -> Input {
        let from = From::Stream(Box::new(reader));
        let (name, format) = (name.into(), format.into());
        let (columns, footer, notes) = (OfColumns::default(), Footer::default(), Notes::default());
        Input { name, format, from, columns, footer, notes, omitted: None }
    }

    /// Puts the rows of it that do not fit into `omitted`, when it is read.
    pub(crate) fn omit_to(&mut self, omitted: Option<&Omitted>) {
        self.omitted = omitted.cloned();
    }

    /// The name in messages.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The same table, to be opened once more, if it can be read twice.
    pub(crate) fn reopened(&self) -> Option<Input> {
        let from = match &self.from {
            From::File(path) => {
                RereadableFile::at(path)?;
                From::File(path.clone())
            }
            From::Stored(stored) => From::Stored(stored.clone()),
            From::Stream(_) => return None,
        };
        let (name, footer) = (self.name.clone(), self.footer.clone());
        let (columns, notes) = (self.columns.clone(), self.notes.clone());
        Some(Input { name, format: self.format, from, columns, footer, notes, omitted: None })
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
