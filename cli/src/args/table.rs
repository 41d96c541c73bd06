//! Options for tables.

use clap::{Args, ValueEnum};
use uriscan::row::OnBadRow;
use uriscan::surt::Form;

use super::groups::amount_in;
use super::named::{Choices, choice};
use super::number::{ANY, SOME, number};

/// The heading of the options for tables.
pub(super) const TABLES: &str = match cfg!(feature = "full") {
    true => "Tables",
    false => {
        "Tables (without `--features full` only CSV, TSV and JSON lines, by census, check, dedup, extract, learn, set and top)"
    }
};

/// Options for tables: one column holds the URIs, and the other columns are preserved.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = TABLES)]
#[command(group = clap::ArgGroup::new("columns").multiple(true))]
pub(crate) struct TableChoice {
    /// Read tables, with the URIs in COLUMN: its name, or its number from 1
    ///
    /// Or a path, such as page.url. The other columns are preserved. `uriscan help tables` explains --into, --delimiter,
    /// --sort-by, --partition-by and the other options of tables.
    #[arg(long, value_name = "COLUMN", group = "columns")]
    pub(crate) column: Option<String>,

    /// Call the column that is added NAME; where there are several, NAME_scheme and so on (parse), NAME and NAME_at (check)
    ///
    /// So that what a run wrote can be read by another. A column of that name in the input is an error.
    #[arg(long, value_name = "NAME", value_parser = column_name, requires = "column")]
    pub(crate) into: Option<String>,

    /// Do not read columns from the names of directories
    ///
    /// Below a directory, or below the part of a pattern that has no special characters, directories such as
    /// dt=2026-11-20 add a column dt of text after those of the files. Names and values are percent-decoded;
    /// __HIVE_DEFAULT_PARTITION__ is null. A column of that name in a file is an error.
    #[arg(long, requires = "column")]
    pub(crate) no_hive: bool,

    /// Sort the rows by the sort-friendly forms of their URIs: surt, surt:cdxj, surt:ia or ssurt
    ///
    /// This puts the URIs of a host together, and the hosts of a domain, as in the index of a web archive. See `key --as` for
    /// the forms. Rows with equal forms keep their order; rows without a URI are last. The table is sorted on disk, in
    /// $TMPDIR or else beside the output.
    #[arg(long, value_name = "FORM", value_parser = sort_form, requires = "column")]
    pub(crate) sort_by: Option<Form>,

    /// Keep or drop rows without a URI: null, and for dedup white space alone [default: drop for dedup, keep otherwise]
    ///
    /// They are counted as blank lines in either case.
    #[arg(long, value_name = "POLICY", value_enum, requires = "column")]
    pub(crate) no_uri: Option<NoUri>,

    /// Write a directory of files with at most so many rows each, called part-00000.parquet and so on
    ///
    /// -o names the directory, which must be new or empty; it appears when all files are whole. `-o DIR/`, with a slash at
    /// the end, writes one file there. With object stores, -o also takes a prefix without objects, such as s3://bucket/out/.
    #[arg(long, value_name = "N")]
    #[arg(value_parser = number::<u64>(SOME), allow_negative_numbers = true)]
    #[arg(requires_all = ["column", "output"])]
    pub(crate) rows_per_file: Option<u64>,

    /// Write a directory of files of about this size each, such as 512M
    ///
    /// A file ends with the row group, or the lines, that make it so long.
    #[arg(long, value_name = "SIZE")]
    #[arg(value_parser = file_size, allow_negative_numbers = true)]
    #[arg(requires_all = ["column", "output"])]
    pub(crate) bytes_per_file: Option<u64>,

    /// Write a directory with a directory NAME=VALUE for each value of these columns, as Hive, Spark and DuckDB read them
    ///
    /// The columns are not in the files. `domain` is the registrable domain of the canonical URL, unless a column has that
    /// name. Values are percent-encoded; __HIVE_DEFAULT_PARTITION__ has the rows without one.
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = column_name)]
    #[arg(requires_all = ["column", "output"])]
    pub(crate) partition_by: Vec<String>,

    /// The most directories that --partition-by may make; more are an error
    #[arg(long, value_name = "N", default_value_t = 10_000, requires = "partition_by")]
    #[arg(value_parser = number::<usize>(ANY), allow_negative_numbers = true)]
    pub(crate) max_partitions: usize,

    #[command(flatten)]
    pub(crate) dialect: Dialect,
}

/// How rows of text tables are read.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = TABLES)]
pub(crate) struct Dialect {
    /// What to do with rows that do not fit: wrong number of fields, stray quotes, not JSON [default: error]
    ///
    /// Pass is for rows that stay as they are. --rejects FILE, if there is one, receives them as JSON.
    #[arg(long, value_name = "POLICY", value_parser = choice(ON_BAD_ROW), requires = "column")]
    pub(crate) on_bad_row: Option<OnBadRow>,

    /// The tables of CSV and TSV have no header: name the columns by their numbers
    ///
    /// The output has none either. In other formats the columns are called column_1, column_2 and so on.
    #[arg(long, requires = "column")]
    pub(crate) no_header: bool,

    /// Read and write CSV with CHAR between fields: an ASCII character, or `tab` [default: ,]
    ///
    /// With --link-column it is by default the one in the first row: a comma, a semicolon, a tab or a bar.
    #[arg(long, value_name = "CHAR", value_parser = delimiter, requires = "columns")]
    pub(crate) delimiter: Option<u8>,

    /// Read and write CSV and TSV with CHAR around fields that need it, or with `none` without quotes [default: \"; in TSV none]
    ///
    /// A quote inside such a field is doubled. Without quotes, text with a delimiter or a line end cannot be written.
    #[arg(long, value_name = "CHAR", value_parser = quote, requires = "column")]
    pub(crate) quote: Option<Quote>,
}

/// The column of commands that only read its URIs.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = TABLES)]
#[command(group = clap::ArgGroup::new("columns").multiple(true))]
pub(crate) struct ColumnChoice {
    /// Read tables, with the URIs in COLUMN: its name, or its number from 1
    ///
    /// A path leads into nested values, such as page.url. Rows without a URI are counted as blank lines. Each file has its own header.
    #[arg(long, value_name = "COLUMN", conflicts_with = "extract", group = "columns")]
    pub(crate) column: Option<String>,

    #[command(flatten)]
    pub(crate) dialect: Dialect,
}

impl From<ColumnChoice> for TableChoice {
    fn from(ColumnChoice { column, dialect }: ColumnChoice) -> TableChoice {
        TableChoice { column, dialect, ..TableChoice::default() }
    }
}

/// The quotes of CSV and TSV.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Quote {
    Char(u8),
    None,
}

/// The policies for rows that do not fit.
const ON_BAD_ROW: Choices<OnBadRow> = &[
    (OnBadRow::Fail, "error", "Stop at the first one, with its file and line"),
    (OnBadRow::Skip, "skip", "Omit them, and report how many there were"),
    (OnBadRow::Pass, "pass", "Write them as they are, and report how many there were"),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum NoUri {
    /// Write them at their position; they belong to no group
    Keep,
    /// Omit them
    Drop,
}

pub(super) fn delimiter(typed: &str) -> Result<u8, String> {
    match typed {
        "tab" | "\\t" => Ok(b'\t'),
        _ => character(typed).ok_or_else(|| "an ASCII character or `tab` is expected".to_owned()),
    }
}

fn quote(typed: &str) -> Result<Quote, String> {
    match typed {
        "none" => Ok(Quote::None),
        _ => character(typed)
            .map(Quote::Char)
            .ok_or_else(|| "an ASCII character or `none` is expected".to_owned()),
    }
}

pub(super) fn column_name(typed: &str) -> Result<String, String> {
    let name = (!typed.is_empty()).then(|| typed.to_owned());
    name.ok_or_else(|| "the name of a column is expected".to_owned())
}

fn file_size(typed: &str) -> Result<u64, String> {
    let what = "a size of files is a number of bytes from 1 on, such as 512M or 2G";
    amount_in(typed, 1..=u64::MAX, what)
}

fn character(typed: &str) -> Option<u8> {
    let [byte] = *typed.as_bytes() else { return None };
    byte.is_ascii().then_some(byte)
}

fn sort_form(typed: &str) -> Result<Form, String> {
    Form::from_name(typed).ok_or_else(|| {
        let names: Vec<&str> = Form::ALL.iter().map(|form| form.name()).collect();
        format!("the forms are surt, {}", names.join(", "))
    })
}
