//! Tables in and out.

use clap::Args;
use uriscan::surt::Form;
use uriscan::table::TableFormat;

/// One column of a table holds the URIs; the others are carried along.
#[derive(Clone, Debug, Default, Args)]
#[command(next_help_heading = "Tables")]
pub(crate) struct TableChoice {
    /// Read tables instead of lines, and take the URIs from this column: its name, or its number from 1
    ///
    /// Several files are one table and have the same columns. dedup keeps rows; the other commands add columns:
    /// uri_normalized; uri_key (16 bytes, in text 32 digits), or surt by --as; uri_scheme, uri_host and so on
    /// (parse); uri_error and uri_error_at (check); uri_findings (audit) and uri_links (extract), which are lists. Null
    /// stays null; dedup leaves out rows without a URI, as it does blank lines. dedup -c adds a column uri_count, and --keep
    /// takes min:COLUMN and max:COLUMN too (numbers, dates, times; text and all of CSV by bytes); with -c, -d, -u and --keep tables are read a second time, and
    /// classes are held in memory, whatever they take. The exit
    /// code of audit is 0 whatever it finds. Options that write something else than that are refused.
    #[arg(long, value_name = "COLUMN")]
    pub(crate) column: Option<String>,

    /// What the tables are: parquet, arrow, arrow-stream, csv, tsv or jsonl; told by their names or first bytes
    ///
    /// csv and tsv begin with a header; their columns are text, and an empty field is null. Of jsonl every line is kept as it
    /// is where jsonl is written. Where something else is, every member becomes a column of the type that all its values have: files
    /// are read twice for that, and of a pipe the first MiB tells. What has no place in its column is an error.
    #[arg(long, value_name = "FORMAT", value_parser = format, requires = "column")]
    pub(crate) from: Option<TableFormat>,

    /// What to write; told by the name of the output, or that of the first table
    ///
    /// parquet is compressed with zstd, and so is arrow. csv and tsv hold no lists.
    #[arg(long, value_name = "FORMAT", value_parser = format, requires = "column")]
    pub(crate) to: Option<TableFormat>,

    /// Write the rows in the order of the sort-friendly forms of their URIs: surt, surt:cdxj, surt:ia or ssurt
    ///
    /// So the URIs of a host, and the hosts of a domain, stand together, as in an index that is looked up. `key --as` tells
    /// the forms. Rows of one form keep their order; those without a URI come last. The table is put aside on disk for
    /// that, in $TMPDIR, or else beside the output.
    #[arg(long, value_name = "FORM", value_parser = sort_form, requires = "column")]
    pub(crate) sort_by: Option<Form>,
}

fn sort_form(typed: &str) -> Result<Form, String> {
    Form::from_name(typed).ok_or_else(|| {
        let names: Vec<&str> = Form::ALL.iter().map(|form| form.name()).collect();
        format!("the forms are surt, {}", names.join(", "))
    })
}

fn format(typed: &str) -> Result<TableFormat, String> {
    TableFormat::from_name(typed).ok_or_else(|| {
        let names: Vec<&str> = TableFormat::ALL.iter().map(|format| format.name()).collect();
        format!("the formats are {}", names.join(", "))
    })
}
