//! Which rows belong to which partition.

use std::collections::HashMap;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, UInt32Array};
use arrow_cast::cast;
use arrow_schema::{DataType, Schema, SchemaRef};
use arrow_select::take::take_record_batch;

use super::layout::Layout;
use crate::dataset::push_directory;
use crate::job::target::{Target, names_of};
use crate::parquet::metadata::remove_of_columns;
use crate::parquet::zones::type_in_utc;
use crate::text::jsonl;
use uriscan_arrow::{Columns, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_bulk::error::ErrorKind;
use uriscan_core::simd::Kernels;
use uriscan_files::escape::counted;

/// The name of the computed column.
const DOMAIN: &str = "domain";

/// The longest name of a file on common systems.
const MOST_NAME_BYTES: usize = 255;

/// Longer ones are not names of the DNS (RFC 1035), and would not fit in the name of a directory.
const MOST_DOMAIN_BYTES: usize = 240;

/// Splits rows by the values of columns.
pub(super) struct Split {
    keys: Vec<Key>,
    names: Vec<String>,
    /// The numbers of the columns that files have.
    kept: Vec<usize>,
    most: usize,
    /// The partitions by the values of their rows, and by their directory.
    by_values: HashMap<Vec<u8>, usize>,
    by_directory: HashMap<String, usize>,
    pub(super) directories: Vec<String>,
}

enum Key {
    Column(usize),
    Domain(Target, Box<Columns>),
}

impl Split {
    /// Splits rows with the columns of `schema`, whose URIs are at `target`. Fails if a column is
    /// missing, or has no values that could be names.
    pub(super) fn new(
        layout: &Layout,
        schema: &Schema,
        target: &Target,
        kernels: Kernels,
    ) -> Result<Split, Error> {
        let mut keys = Vec::new();
        for name in &layout.partition_by {
            keys.push(match schema.index_of(name) {
                Ok(at) => {
                    refuse_type(name, schema.field(at).data_type())?;
                    Key::Column(at)
                }
                Err(_) if name == DOMAIN => {
                    let columns = Columns::default().kernels(kernels);
                    Key::Domain(target.clone(), Box::new(columns))
                }
                Err(_) if jsonl::is_of_lines(schema) => {
                    let what = "JSON lines written as JSON lines have no columns to partition by; write parquet or arrow";
                    return Err(Error::unsupported(what));
                }
                Err(_) => {
                    return Err(Error::no_column("--partition-by", name, names_of(schema)));
                }
            });
        }
        let is_key =
            |at: &usize| keys.iter().any(|key| matches!(key, Key::Column(key) if key == at));
        let kept: Vec<usize> = (0..schema.fields().len()).filter(|at| !is_key(at)).collect();
        if kept.is_empty() {
            let what = "all columns are those of partitions; none is left for the files";
            return Err(Error::unsupported(what));
        }
        Ok(Split {
            keys,
            names: layout.partition_by.clone(),
            kept,
            most: layout.most_partitions,
            by_values: HashMap::new(),
            by_directory: HashMap::new(),
            directories: Vec::new(),
        })
    }

    /// The columns of the files.
    pub(super) fn schema(&self, schema: &Schema) -> Result<SchemaRef, Error> {
        let mut kept = schema.project(&self.kept)?;
        remove_of_columns(&mut kept.metadata);
        Ok(Arc::new(kept))
    }

    /// The rows of `batch`, each part with the number of its partition, in the order in which they first appear. Fails if there
    /// are too many partitions, or one cannot be the name of a directory.
    pub(super) fn parts(
        &mut self,
        batch: &RecordBatch,
    ) -> Result<Vec<(usize, RecordBatch)>, Error> {
        let values =
            self.keys.iter().map(|key| key.values(batch)).collect::<Result<Vec<_>, _>>()?;
        let mut rows: Vec<(usize, Vec<u32>)> = Vec::new();
        let mut place: HashMap<usize, usize> = HashMap::new();
        let (mut text, mut last) = (Vec::new(), None);
        for row in 0..batch.num_rows() {
            let before = std::mem::take(&mut text);
            push_row(&values, row, &mut text);
            let at = match last.filter(|_| before == text) {
                Some(at) => at,
                None => {
                    let partition = self.partition(&text, &values, row)?;
                    *place.entry(partition).or_insert_with(|| {
                        rows.push((partition, Vec::new()));
                        rows.len() - 1
                    })
                }
            };
            last = Some(at);
            // A batch has fewer rows.
            rows[at].1.push(row as u32);
        }
        let kept = batch.project(&self.kept)?;
        let part = |(partition, rows): (usize, Vec<u32>)| match rows.len() == kept.num_rows() {
            true => Ok((partition, kept.clone())),
            false => Ok((partition, take_record_batch(&kept, &UInt32Array::from(rows))?)),
        };
        rows.into_iter().map(part).collect()
    }

    fn partition(
        &mut self,
        text: &[u8],
        values: &[StringArray],
        row: usize,
    ) -> Result<usize, Error> {
        if let Some(&known) = self.by_values.get(text) {
            return Ok(known);
        }
        let mut directory = String::new();
        for (name, values) in self.names.iter().zip(values) {
            let start = directory.len();
            let value = values.is_valid(row).then(|| values.value(row));
            push_directory(name, value, &mut directory);
            if directory.len() - start > MOST_NAME_BYTES {
                let shown: String = value.unwrap_or_default().chars().take(40).collect();
                let what = format!(
                    "column {name} has a value that is too long for the name of a directory: {}...",
                    shown.escape_debug()
                );
                return Err(Error::unsupported(what));
            }
            directory.push('/');
        }
        // Null and empty text are one partition.
        let partition = match self.by_directory.get(&directory) {
            Some(&known) => known,
            None if self.directories.len() == self.most => {
                let columns = self.names.join(", ");
                let what = format!("more than {}", counted(self.most as u64, "partition"));
                return Err(Error::text(ErrorKind::Partitions, what).of_source(columns));
            }
            None => {
                self.directories.push(directory.clone());
                self.by_directory.insert(directory, self.directories.len() - 1);
                self.directories.len() - 1
            }
        };
        self.by_values.insert(text.to_owned(), partition);
        Ok(partition)
    }
}

impl Key {
    fn values(&self, batch: &RecordBatch) -> Result<StringArray, Error> {
        let values: ArrayRef = match self {
            Key::Column(at) => {
                let values = batch.column(*at);
                let of_text = type_in_utc(values.data_type()).map(|to| cast(values, &to));
                cast(of_text.transpose()?.as_ref().unwrap_or(values), &DataType::Utf8)?
            }
            Key::Domain(target, columns) => {
                let values = spelled_out(&target.values(batch)?)?;
                let forms = columns.normalize(&values)?;
                let parts = columns.parse_some(&forms, &[DOMAIN])?;
                let domains = cast(parts.as_struct().column(0), &DataType::Utf8)?;
                let domains = domains.as_string::<i32>().iter();
                let short = |domain: &&str| domain.len() <= MOST_DOMAIN_BYTES;
                Arc::new(domains.map(|domain| domain.filter(short)).collect::<StringArray>())
            }
        };
        Ok(values.as_string::<i32>().clone())
    }
}

/// Appends the values of a row so that no other values give the same bytes.
fn push_row(values: &[StringArray], row: usize, out: &mut Vec<u8>) {
    for values in values {
        match values.is_valid(row) {
            true => {
                let value = values.value(row).as_bytes();
                out.extend_from_slice(&(value.len() as u64 + 1).to_le_bytes());
                out.extend_from_slice(value);
            }
            false => out.extend_from_slice(&[0; 8]),
        }
    }
}

fn refuse_type(name: &str, data_type: &DataType) -> Result<(), Error> {
    use DataType::*;
    match data_type {
        Dictionary(_, value) => refuse_type(name, value),
        Utf8 | LargeUtf8 | Utf8View | Boolean | Date32 | Date64 | Timestamp(..) => Ok(()),
        Decimal128(..) | Decimal256(..) | Null => Ok(()),
        whole if whole.is_integer() => Ok(()),
        other => {
            let what = format!(
                "column {name} is {other}; partitions are named by text, whole numbers, dates and times"
            );
            Err(Error::unsupported(what))
        }
    }
}
