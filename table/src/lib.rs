//! Tables in, tables out: one column holds URIs, the other columns are preserved.
//!
//! The jobs of [`uriscan_bulk::pipeline`], applied to the rows of Parquet, Arrow, CSV and JSON lines by the kernels of
//! [`uriscan_arrow`]. Rows keep their order unless [`SortBy`] requests another. A table is read, processed and written in units
//! of some hundred thousand rows (for Parquet: row groups), one for each thread, so memory does not grow with its length,
//! except for the keys of `dedup`, which [`Job::limit`] limits.
//!
//! ```
//! use uriscan_arrow::Columns;
//! use uriscan_table::{Input, Job, TableFormat, Task, run};
//!
//! let csv = "id,url\n1,http://h\n2,HTTP://h/\n3,http://h/x\n";
//! let job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Csv);
//! let mut out = Vec::new();
//! let inputs = vec![Input::stream("list", TableFormat::Csv, csv.as_bytes())];
//! let report = run(inputs, &job, &mut out, None).unwrap();
//! assert_eq!(out, b"id,url\n1,http://h\n3,http://h/x\n");
//! assert_eq!((report.records, report.written, report.duplicates), (3, 2, 1));
//! ```

#[macro_use]
extern crate uriscan_core;

pub mod dataset;
mod dialect;
mod format;
mod ipc;
mod job;
mod parquet;
mod read;
mod run;
mod text;
mod unit;
mod work;
mod write;

pub use dialect::{Dialect, Quote};
pub use format::TableFormat;
pub use job::rank::KeepRow;
pub use job::{ByClass, Form, Job, SortBy, Task};
pub use parquet::decoding::is_decoding;
pub use read::hint::columns_of_urls;
pub use read::input::Input;
pub use read::notes::Notes;
pub use run::{run, run_to_files, run_with};
pub use work::class_table::ClassTable;
pub use work::list::{column_source, fields_source, pair_source};
pub use write::parts::{Folder, Layout, PartFile};

/// What is wrong with tables without a header and without rows.
const NO_ROWS: &str = "the number of columns is unknown, as there are no rows";
