//! Deduplicates Parquet tables in SQL: of each class of URIs the row with the least `id`, and its key.
//!
//! ```text
//! cargo run --release --example dedup -- COLUMN OUTPUT.parquet INPUT.parquet...
//! ```
//!
//! `docs/engines` compares its result with those of other engines.

use std::env;
use std::process::ExitCode;

use datafusion::dataframe::DataFrameWriteOptions;
use datafusion::error::Result;
use datafusion::prelude::{ParquetReadOptions, SessionContext};

#[tokio::main]
async fn main() -> Result<ExitCode> {
    let given: Vec<String> = env::args().skip(1).collect();
    let [column, output, inputs @ ..] = &given[..] else {
        eprintln!("usage: dedup COLUMN OUTPUT.parquet INPUT.parquet...");
        return Ok(ExitCode::from(2));
    };
    dedup(column, output, inputs.to_vec()).await?;
    Ok(ExitCode::SUCCESS)
}

async fn dedup(column: &str, output: &str, inputs: Vec<String>) -> Result<()> {
    let context = SessionContext::new();
    for function in uriscan_datafusion::functions() {
        context.register_udf(function);
    }
    let rows = context.read_parquet(inputs, ParquetReadOptions::default()).await?;
    context.register_table("rows", rows.into_view())?;
    let column = column.replace('"', "\"\"");
    // At the lowest level the form is the text without the white space around it: blanks are not records.
    let query = format!(
        "SELECT min(id) AS id, key FROM (SELECT id, uri_key(\"{column}\") AS key FROM rows
            WHERE uri_normalize(\"{column}\", {{'level': 'string'}}) <> '')
        GROUP BY key"
    );
    let kept = context.sql(&query).await?;
    let options = DataFrameWriteOptions::new().with_single_file_output(true);
    kept.write_parquet(output, options, None).await?;
    Ok(())
}
