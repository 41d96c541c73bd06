//! Which columns of a table hold URLs, for hints.

use arrow_schema::{DataType, Field};

use super::input::Input;
use super::reader::Opened;
use crate::job::Job;
use crate::job::target::{Target, item_of_type};
use uriscan_arrow::{each_value, is_text, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_core::uri::parse;

/// Values of each column that are examined.
const VALUES: usize = 1 << 10;

/// The columns of text of `input`, and the paths to text within structs and lists, most of whose first values are URLs:
/// absolute, with an authority. The column of URIs of `job` decides nothing here.
///
/// ```
/// use uriscan_arrow::Columns;
/// use uriscan_table::{Input, Job, TableFormat, Task, columns_of_urls};
///
/// let csv = "id,page,name\n1,http://h/1,a\n2,http://h/2,b\n";
/// let input = Input::stream("list", TableFormat::Csv, csv.as_bytes());
/// let job = Job::new("id", Task::Copy, Columns::default(), TableFormat::Csv);
/// assert_eq!(columns_of_urls(input, &job).unwrap(), ["page"]);
/// ```
///
/// # Errors
/// If it cannot be read.
pub fn columns_of_urls(input: Input, job: &Job) -> Result<Vec<String>, Error> {
    // Of a column of URIs the type would be given.
    let job = Job { column: String::new(), batch_rows: VALUES, ..job.clone() };
    let table = input.name().to_owned();
    let (schema, batch) = Opened::open(input, &job)?.sample(VALUES)?;
    let Some(batch) = batch else { return Ok(Vec::new()) };
    let mut paths = Vec::new();
    for field in schema.fields() {
        texts(field.name().clone(), field, &mut paths);
    }
    let mut found = Vec::new();
    for path in paths {
        // Of columns with the same name there is none to choose.
        let Ok(target) = Target::find(&table, &schema, &path) else { continue };
        let values = spelled_out(&target.values(&batch)?)?;
        let (mut known, mut urls) = (0, 0);
        for value in each_value(&values).flatten() {
            known += 1;
            urls += usize::from(is_url(value));
        }
        if 2 * urls > known {
            found.push(path);
        }
    }
    Ok(found)
}

/// Appends the path of `field`, which is `path`, if it is text, or the paths to the text within it.
fn texts(path: String, field: &Field, paths: &mut Vec<String>) {
    match field.data_type() {
        of if is_text(of) => paths.push(path),
        DataType::Struct(fields) => {
            fields.iter().for_each(|field| texts(format!("{path}.{}", field.name()), field, paths));
        }
        of => {
            if let Some(item) = item_of_type(of) {
                texts(format!("{path}.1"), item, paths);
            }
        }
    }
}

/// Whether `value` is a URI with a scheme and an authority.
fn is_url(value: &[u8]) -> bool {
    parse(value.trim_ascii()).is_ok_and(|parts| parts.is_uri() && parts.authority_start != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{TableFormat, Task};
    use uriscan_arrow::Columns;

    #[test]
    fn paths_lead_to_urls_within_values() {
        let lines = r#"{"id":1,"page":{"name":"a","url":"http://h/1"},"links":["http://h/2","x"],"more":[{"u":"http://h/3"}]}"#;
        let job = Job::new("page", Task::Copy, Columns::default(), TableFormat::Parquet);
        let input = Input::stream("t", TableFormat::Jsonl, lines.as_bytes());
        assert_eq!(columns_of_urls(input, &job).unwrap(), ["page.url", "links.1", "more.1.u"]);
    }
}
