//! The options for tables, and what they mean.

use std::path::{Path, PathBuf};

use uriscan_bulk::pipeline::Keep;
use uriscan_table::{self, Dialect, KeepRow, Layout, TableFormat};

use crate::args::{Quote, TABLE_FORMATS, TableChoice};
use crate::environment::Environment;
use crate::exit::Failure;
use crate::options::temp_dir_beside;
use crate::output::{Destination, is_directory};

/// What pages of help about tables end with: nothing is missing.
pub(crate) const HELP_NOTE: &str = "";

/// What a table in the place of a list needs.
pub(crate) const NO_COLUMN: &str = "commands that read tables need --column, its column of URIs";

#[derive(Clone, Debug)]
pub(crate) struct TableUse {
    pub(super) choice: TableChoice,
    pub(super) column: String,
    /// The formats to read and to write, if they were given.
    pub(super) from: Option<TableFormat>,
    pub(super) to: Option<TableFormat>,
    /// Directory for rows that spill to disk.
    pub(super) temp_dir: PathBuf,
    /// The column by which `dedup` keeps rows.
    pub(super) keep_column: Option<String>,
    /// How results are cut into the files of a directory, if they are.
    pub(super) layout: Option<Layout>,
}

impl TableUse {
    /// The plan for tables with the URIs in `column`, read and written in these `formats`.
    pub(crate) fn new(
        choice: TableChoice,
        column: String,
        formats: [Option<String>; 2],
        (temp_dir, keep_column): (Option<PathBuf>, Option<String>),
        (output, environment): (&Destination, &Environment),
    ) -> Result<TableUse, Failure> {
        let [from, to] = formats;
        let to = to.map(|name| format("--to", &name)).transpose()?;
        let from = from.filter(|name| name != "auto").map(|name| format("--from", &name));
        let from = from.transpose()?;
        let temp_dir = temp_dir.unwrap_or_else(|| temp_dir_beside(output, environment));
        let is_directory = match output {
            Destination::File(path) => is_directory(path),
            Destination::Remote(url) => url.is_folder(),
            _ => false,
        };
        let layout = layout(&choice).or_else(|| is_directory.then(Layout::default));
        Ok(TableUse { choice, column, from, to, temp_dir, keep_column, layout })
    }

    pub(crate) fn has_files(&self) -> bool {
        self.layout.is_some()
    }

    /// Directory for rows that spill to disk.
    pub(crate) fn temp_dir(&self) -> &Path {
        &self.temp_dir
    }

    /// Which row of a class is kept: by `keep`, or by a column if one was named.
    pub(crate) fn keep_row(&self, keep: Keep) -> KeepRow {
        match (&self.keep_column, keep) {
            (Some(column), Keep::Min) => KeepRow::Least(column.clone()),
            (Some(column), _) => KeepRow::Greatest(column.clone()),
            (None, keep) => KeepRow::Uri(keep),
        }
    }

    pub(super) fn dialect(&self) -> Dialect {
        let mut dialect = Dialect::default().has_header(!self.choice.dialect.no_header);
        if let Some(delimiter) = self.choice.dialect.delimiter {
            dialect = dialect.delimiter(delimiter);
        }
        match self.choice.dialect.quote {
            Some(Quote::Char(quote)) => dialect.quote(quote),
            Some(Quote::None) => dialect.quote(uriscan_table::Quote::None),
            None => dialect,
        }
    }
}

/// A column that is read as a list.
#[derive(Clone, Debug)]
pub(crate) struct Column {
    pub(super) name: String,
    pub(super) format: Option<TableFormat>,
    /// The columns that are read beside it, where each has its place.
    pub(super) fields: Option<[Option<String>; 3]>,
}

impl Column {
    /// The column of this name, in tables of the format called `from`.
    pub(crate) fn new(name: &str, from: Option<&str>) -> Result<Column, Failure> {
        let from = from.filter(|name| *name != "auto");
        let format = from.map(|name| format("--from", name)).transpose()?;
        Ok(Column { name: name.to_owned(), format, fields: None })
    }

    /// The column of this name, and columns beside it, as the fields of lines.
    pub(crate) fn with_fields(
        name: &str,
        fields: [Option<String>; 3],
        from: Option<&str>,
    ) -> Result<Column, Failure> {
        Ok(Column { fields: Some(fields), ..Column::new(name, from)? })
    }
}

fn format(option: &str, name: &str) -> Result<TableFormat, Failure> {
    TableFormat::from_name(name).ok_or_else(|| {
        let what = format!("the formats of tables (--column) are {}", TABLE_FORMATS.join(", "));
        Failure::at(format_args!("{option} {name}"), what)
    })
}

/// How the results are cut into files, if an option says so.
fn layout(choice: &TableChoice) -> Option<Layout> {
    let is_cut = choice.rows_per_file.is_some() || choice.bytes_per_file.is_some();
    let layout = Layout::default().rows(choice.rows_per_file).bytes(choice.bytes_per_file);
    let layout = layout.partition_by(choice.partition_by.clone());
    (is_cut || !choice.partition_by.is_empty())
        .then(|| layout.most_partitions(choice.max_partitions))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_options_name_all_formats_of_tables() {
        assert_eq!(TABLE_FORMATS, TableFormat::ALL.map(TableFormat::name));
    }
}
