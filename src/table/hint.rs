//! Which columns of a table hold URLs, for hints.

use super::TableError;
use super::job::Job;
use super::read::{Input, Reader};
use crate::arrow::{each_value, is_text, spelled_out};
use crate::uri::parse;

/// Values of each column that are examined.
const VALUES: usize = 1 << 10;

/// The columns of text of `input`, most of whose first values are URLs: absolute, with an authority. The columns of
/// `job` decide nothing here, but it has to have that of URIs.
///
/// ```
/// use uriscan::arrow::Columns;
/// use uriscan::table::{Input, Job, TableFormat, Task, columns_of_urls};
///
/// let csv = "id,page,name\n1,http://h/1,a\n2,http://h/2,b\n";
/// let input = Input::stream("list", TableFormat::Csv, csv.as_bytes());
/// let job = Job::new("id", Task::Copy, Columns::default(), TableFormat::Csv);
/// assert_eq!(columns_of_urls(input, &job).unwrap(), ["page"]);
/// ```
///
/// # Errors
/// If it cannot be read.
pub fn columns_of_urls(input: Input, job: &Job) -> Result<Vec<String>, TableError> {
    let mut reader = Reader::open(input, job)?;
    let schema = reader.schema();
    let units = reader.next_unit()?;
    let Some(batch) = units.iter().flatten().find(|batch| batch.num_rows() > 0) else {
        return Ok(Vec::new());
    };
    let mut names = Vec::new();
    for (field, column) in schema.fields().iter().zip(batch.columns()) {
        if !is_text(field.data_type()) {
            continue;
        }
        let values = spelled_out(&column.slice(0, column.len().min(VALUES)))?;
        let (mut known, mut urls) = (0, 0);
        for value in each_value(&values).flatten() {
            known += 1;
            urls += usize::from(is_url(value));
        }
        if 2 * urls > known {
            names.push(field.name().clone());
        }
    }
    Ok(names)
}

/// Whether `value` is a URI with a scheme and an authority.
fn is_url(value: &[u8]) -> bool {
    parse(value.trim_ascii()).is_ok_and(|parts| parts.is_uri() && parts.authority_start != 0)
}
