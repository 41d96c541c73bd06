//! The names of formats: `--from` for the input, `--to` for the output, of links, tables and reports alike.

use clap::builder::{PossibleValue, PossibleValuesParser};
use uriscan::extract::Format;

use super::named::{Choices, listed};

/// The formats of tables.
pub(crate) const TABLE_FORMATS: [&str; 6] =
    ["parquet", "arrow", "arrow-stream", "csv", "tsv", "jsonl"];

/// The names for `--from`.
pub(super) fn input_names() -> PossibleValuesParser {
    let links = Format::ALL.map(Format::name);
    let tables = TABLE_FORMATS.into_iter().filter(move |name| !links.contains(name));
    let rows = std::iter::once("fields");
    PossibleValuesParser::new(std::iter::once("auto").chain(links).chain(tables).chain(rows))
}

/// The names for `--to` of commands that write lists or tables.
pub(super) fn table_names() -> PossibleValuesParser {
    PossibleValuesParser::new(TABLE_FORMATS)
}

/// The names for `--to` of commands that write `reports`, or tables.
pub(super) fn report_names<T>(reports: Choices<T>) -> PossibleValuesParser {
    let is_other = |name: &&str| reports.iter().all(|(_, report, _)| report != name);
    let tables = TABLE_FORMATS.into_iter().filter(is_other).map(PossibleValue::new);
    PossibleValuesParser::new(listed(reports).chain(tables))
}
