//! The job: a task, its column, and its options.

pub(crate) mod keys;
pub(crate) mod rank;
pub(crate) mod row_filter;
pub(crate) mod target;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use arrow_schema::{DataType, Field};

use crate::unit::BATCH_ROWS;
use crate::{Dialect, TableFormat};
use rank::KeepRow;
use uriscan_arrow::{COMPONENTS, Columns};
use uriscan_bulk::pipeline::{MemoryLimit, Select};
use uriscan_core::audit::RuleSet;
use uriscan_core::extract::{Extractor, Filter, Format};
use uriscan_core::surt;

/// A task, its column, and its options.
///
/// ```
/// use uriscan_arrow::Columns;
/// use uriscan_table::{Form, Input, Job, TableFormat, Task, run};
/// let to = TableFormat::Csv;
/// let job = Job::new("url", Task::Form(Form::Normalized), Columns::default(), to).drops_invalid(true);
/// let list = Input::stream("list", TableFormat::Csv, &b"url\nHTTP://h/\nno uri\n"[..]);
/// let mut out = Vec::new();
/// run(vec![list], &job, &mut out, None).unwrap();
/// assert_eq!(out, b"url,uri_normalized\nHTTP://h/,http://h/\n");
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Job {
    /// The column of URIs: its name; or, if no column has that name, its number from 1, or a path into nested values:
    /// `page.url` is a field of structs or a member of objects, `links.1` the first value of lists.
    pub column: String,
    /// The task.
    pub task: Task,
    /// Equivalence, hashes and other options of the task.
    pub columns: Columns,
    /// Omit rows whose URI is invalid, overriding `columns`; [`uriscan_bulk::pipeline::Sinks::rejects`] receives them.
    pub drops_invalid: bool,
    /// Omit rows of text that do not fit: of CSV and TSV with more or fewer fields than the header, or a stray quote, lines that are
    /// not JSON objects, and text that is not UTF-8. [`uriscan_bulk::pipeline::Sinks::rejects`] receives them, and those of
    /// `drops_invalid`, as objects of JSON with source, line, reason and row; until then, what is too much to be held is in an
    /// unnamed file in this directory.
    ///
    /// ```
    /// use uriscan_arrow::Columns;
    /// use uriscan_table::{Input, Job, TableFormat, Task, run};
    /// let job = Job::new("url", Task::Copy, Columns::default(), TableFormat::Jsonl);
    /// let job = job.skips_bad_rows(std::env::temp_dir());
    /// let list = Input::stream("list", TableFormat::Csv, &b"id,url\n1\n2,http://h\n"[..]);
    /// let mut out = Vec::new();
    /// let report = run(vec![list], &job, &mut out, None).unwrap();
    /// assert_eq!(out, b"{\"id\":\"2\",\"url\":\"http://h\"}\n");
    /// assert_eq!(report.bad_rows, 1);
    /// ```
    pub skips_bad_rows: Option<PathBuf>,
    /// Read only the rows whose URI it keeps, as [`uriscan_bulk::pipeline::records_of`] does; others, and rows without a URI, are
    /// omitted, and rows are numbered without them.
    pub filter: Option<Filter>,
    /// Keep rows without a URI: null, and for `dedup` also white space only.
    pub keeps_blank: bool,
    /// For [`Task::Dedup`]: the highest probability, between 0 and 1, with which a new URI may be mistaken for a seen one; keys
    /// then take an eighth of the memory, and `limit` does not apply.
    pub approximate: Option<f64>,
    /// The format to write.
    pub to: TableFormat,
    /// The dialect of CSV and TSV, in tables that are read and in those that are written.
    pub dialect: Dialect,
    /// For [`Task::Dedup`] and [`Task::Classes`]: columns whose values must be equal, too, for rows to be equivalent, named as
    /// [`Job::column`] is. Null is equal to null, NaN to NaN, and -0.0 to 0.0; text is compared by its bytes. Other tasks
    /// ignore them, and a set on disk has no keys of such rows.
    ///
    /// ```
    /// use uriscan_arrow::Columns;
    /// use uriscan_table::{Input, Job, TableFormat, Task, run};
    /// let job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Csv);
    /// let job = job.with(["lang".to_owned()]);
    /// let csv = "url,lang\nhttp://h,de\nHTTP://h/,en\nhttp://h/,de\n";
    /// let mut out = Vec::new();
    /// run(vec![Input::stream("list", TableFormat::Csv, csv.as_bytes())], &job, &mut out, None).unwrap();
    /// assert_eq!(out, b"url,lang\nhttp://h,de\nHTTP://h/,en\n");
    /// ```
    pub with: Vec<String>,
    /// The name of the column that the task adds, instead of the one that is said there; where it adds several, what their names
    /// begin with, in the place of `uri`. A task that adds none ignores it.
    ///
    /// ```
    /// use uriscan_arrow::Columns;
    /// use uriscan_table::{Form, Input, Job, TableFormat, Task, run};
    /// let task = Task::Form(Form::Normalized);
    /// let job = Job::new("url", task, Columns::default(), TableFormat::Csv).into("form".to_owned());
    /// let list = Input::stream("list", TableFormat::Csv, &b"url\nHTTP://h\n"[..]);
    /// let mut out = Vec::new();
    /// run(vec![list], &job, &mut out, None).unwrap();
    /// assert_eq!(out, b"url,form\nHTTP://h,http://h/\n");
    /// ```
    pub into: Option<String>,
    /// Write rows in another order than that of the input.
    pub sort_by: Option<SortBy>,
    /// The memory that the keys of [`Task::Dedup`] and the classes of [`Task::Classes`] may use; `None` for no limit. What
    /// exceeds it spills to disk, and the tables are read a second time; the results are the same. Rows that are being read
    /// and written do not count.
    pub limit: Option<MemoryLimit>,
    /// Ends the run with [`uriscan_bulk::ErrorKind::Stopped`] soon after another thread sets it.
    ///
    /// ```
    /// use std::sync::{Arc, atomic::AtomicBool};
    /// use uriscan_arrow::Columns;
    /// use uriscan::ErrorKind;
    /// use uriscan_table::{Input, Job, TableFormat, Task, run};
    /// let stop = Arc::new(AtomicBool::new(true));
    /// let job = Job::new("url", Task::Copy, Columns::default(), TableFormat::Csv).stop(stop);
    /// let list = Input::stream("list", TableFormat::Csv, &b"url\nhttp://h/\n"[..]);
    /// let error = run(vec![list], &job, &mut Vec::new(), None).unwrap_err();
    /// assert_eq!(error.kind(), ErrorKind::Stopped);
    /// ```
    pub stop: Option<Arc<AtomicBool>>,
    /// Rows of the batches in which text is read.
    pub(crate) batch_rows: usize,
}

setters! { Job
    { drops_invalid: bool, dialect: Dialect, keeps_blank: bool }
    into {
        skips_bad_rows: Option<PathBuf>, filter: Option<Filter>, approximate: Option<f64>, into: Option<String>, sort_by: Option<SortBy>,
        limit: Option<MemoryLimit>, stop: Option<Arc<AtomicBool>>, with: Vec<String>,
    }
}

impl Job {
    /// A job that omits nothing but duplicates, and for `dedup` rows without a URI.
    pub fn new(column: impl Into<String>, task: Task, columns: Columns, to: TableFormat) -> Job {
        Job {
            column: column.into(),
            keeps_blank: !matches!(task, Task::Dedup | Task::Classes(_)),
            task,
            columns,
            drops_invalid: false,
            skips_bad_rows: None,
            filter: None,
            approximate: None,
            to,
            dialect: Dialect::default(),
            with: Vec::new(),
            into: None,
            sort_by: None,
            limit: None,
            stop: None,
            batch_rows: BATCH_ROWS,
        }
    }
}

impl Job {
    /// The column that decides which row of a group is kept, if it is not that of the URIs.
    pub(crate) fn deciding(&self) -> Option<&str> {
        match &self.task {
            Task::Classes(by) => by.keep.column(),
            _ => None,
        }
    }

    /// The columns that the job names, each once, but for that of the URIs.
    pub(crate) fn other_columns(&self) -> Vec<&str> {
        let mut named = Vec::new();
        for name in self.with.iter().map(String::as_str).chain(self.deciding()) {
            if name != self.column && !named.contains(&name) {
                named.push(name);
            }
        }
        named
    }

    /// The columns that the task adds, where the column of URIs has values of the type `text`.
    pub(crate) fn added(&self, text: &DataType) -> Vec<(String, DataType)> {
        let list =
            |item: &DataType| DataType::List(Arc::new(Field::new_list_field(item.clone(), true)));
        let one = |name: &str, of: DataType| {
            vec![(self.into.clone().unwrap_or_else(|| name.to_owned()), of)]
        };
        let first = self.into.as_deref().unwrap_or("uri");
        match &self.task {
            Task::Copy | Task::Dedup => Vec::new(),
            Task::Classes(by) if !by.count => Vec::new(),
            Task::Classes(_) => one("uri_count", DataType::Int64),
            Task::Form(Form::Normalized) => one("uri_normalized", text.clone()),
            Task::Form(Form::Key) => one(keys::COLUMN, DataType::FixedSizeBinary(16)),
            Task::Form(Form::Surt(_)) => one("surt", text.clone()),
            Task::Parse => {
                COMPONENTS.iter().map(|name| (format!("{first}_{name}"), text.clone())).collect()
            }
            Task::Check => {
                let errors = one("uri_error", DataType::Utf8);
                let at = (format!("{}_at", errors[0].0), DataType::UInt32);
                [errors, vec![at]].concat()
            }
            Task::Audit(_) => one("uri_findings", list(&DataType::Utf8)),
            Task::Extract(..) => one("uri_links", list(text)),
        }
    }

    /// Whether the task adds columns, so that [`Job::into`] names something.
    #[must_use]
    pub fn adds_columns(&self) -> bool {
        !self.added(&DataType::Utf8).is_empty()
    }
}

/// What to do with a column of URIs.
#[derive(Clone, Debug)]
pub enum Task {
    /// Write all rows unchanged.
    Copy,
    /// Keep the first row of each class.
    Dedup,
    /// Keep one row of each class, or of some classes, with its count.
    Classes(ByClass),
    /// Add a form of every URI.
    Form(Form),
    /// Add the components of every URI-reference, as columns `uri_scheme` and so on.
    Parse,
    /// Add the error of every value and its position, as the columns `uri_error` and `uri_error_at`; null for a
    /// URI-reference.
    Check,
    /// Add the findings of the audit, as a column `uri_findings` of lists of the names of rules.
    Audit(RuleSet),
    /// Add the links in every value, which is a document of this format and not a URI, as a column `uri_links` of lists.
    Extract(Box<Extractor>, Format),
}

/// A form of a URI.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The canonical form, as a column `uri_normalized`.
    Normalized,
    /// The key, as a column `uri_key`: 16 bytes, in text formats hexadecimal.
    Key,
    /// A sort-friendly form, as a column `surt`.
    Surt(surt::Form),
}

/// Which rows of which classes are written.
///
/// ```
/// use uriscan_arrow::Columns;
/// use uriscan_table::{ByClass, Input, Job, KeepRow, TableFormat, Task, run};
///
/// let keep = KeepRow::Greatest("day".to_owned());
/// let by = ByClass::new(keep, std::env::temp_dir()).count(true);
/// let job = Job::new("url", Task::Classes(by), Columns::default(), TableFormat::Csv);
/// let csv = "day,url\n1,http://h\n2,HTTP://h/\n1,http://i\n";
/// let mut out = Vec::new();
/// run(vec![Input::stream("list", TableFormat::Csv, csv.as_bytes())], &job, &mut out, None).unwrap();
/// assert_eq!(out, b"day,url,uri_count\n2,HTTP://h/,2\n1,http://i,1\n");
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct ByClass {
    /// Which row of a class is kept; it keeps its position.
    pub keep: KeepRow,
    /// Which classes are written.
    pub select: Select,
    /// Add the number of rows of its class to each row, as a column `uri_count` of the type `Int64`.
    pub count: bool,
    /// A directory for the rows of tables that can be read only once; the files are unnamed and vanish with the process.
    pub temp_dir: PathBuf,
}

setters! { ByClass { select: Select, count: bool } }

impl ByClass {
    /// A row of every class, chosen by `keep`, without its count; temporary files in `temp_dir`.
    pub fn new(keep: KeepRow, temp_dir: impl Into<PathBuf>) -> ByClass {
        ByClass { keep, select: Select::default(), count: false, temp_dir: temp_dir.into() }
    }
}

/// How rows are sorted.
///
/// ```
/// use uriscan::surt::Form;
/// use uriscan_table::SortBy;
/// let by = SortBy::new(Form::Ssurt, std::env::temp_dir());
/// assert_eq!(by.form, Form::Ssurt);
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct SortBy {
    /// The form of the URIs to sort by. Null comes last.
    pub form: surt::Form,
    /// A directory for temporary files as large as the table; they are unnamed and vanish with the process.
    pub temp_dir: PathBuf,
}

impl SortBy {
    /// An order by `form`; temporary files in `temp_dir`.
    pub fn new(form: surt::Form, temp_dir: impl Into<PathBuf>) -> SortBy {
        SortBy { form, temp_dir: temp_dir.into() }
    }
}
