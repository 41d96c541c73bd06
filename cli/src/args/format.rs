//! The names of formats: `--from` for the input, `--to` for the output, of links, tables and reports alike.

use clap::ValueEnum;
use clap::builder::PossibleValuesParser;
use uriscan::extract::Format;

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

/// The names for `--to` of commands that write reports as `T`, or tables.
pub(super) fn report_names<T: ValueEnum>() -> PossibleValuesParser {
    let reports = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let reports: Vec<_> = reports.collect();
    let names: Vec<String> = reports.iter().map(|value| value.get_name().to_owned()).collect();
    let tables =
        TABLE_FORMATS.into_iter().filter(|name| !names.iter().any(|report| report == name));
    let tables: Vec<_> = tables.map(clap::builder::PossibleValue::new).collect();
    PossibleValuesParser::new(reports.into_iter().chain(tables))
}

/// The formats of reports as `T`, for a message.
pub(crate) fn names_of<T: ValueEnum>() -> String {
    let values = T::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    values.map(|value| value.get_name().to_owned()).collect::<Vec<_>>().join(", ")
}
