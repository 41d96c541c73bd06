//! The columns of several files as those of one table: by name, in types that hold the values of all.

use std::collections::HashSet;
use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray, new_null_array};
use arrow_schema::{DataType, Field, FieldRef, Metadata, Schema, SchemaRef};

use super::hive::{DEFAULT_PARTITION, Partition};
use super::widen::{joined, joined_field, widened};
use crate::NO_ROWS;
use crate::job::{keys, target::Target};
use crate::parquet::metadata::{keep_common, remove_of_columns};
use crate::text::jsonl;
use uriscan_bulk::error::Error;
use uriscan_bulk::error::ErrorKind;
use uriscan_files::escape::counted;

/// The columns of a dataset, and where its URIs are.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) schema: SchemaRef,
    pub(crate) target: Target,
    /// The columns of files; those after them are in the names of directories.
    of_files: usize,
    /// The name of the first file.
    first: String,
    is_strict: bool,
}

/// A file of a dataset: its name, its columns, and those in the names of its directories.
pub(crate) type File<'f> = (&'f str, &'f SchemaRef, &'f Partition);

/// The columns of the files so far.
pub(crate) struct Merge<'j> {
    /// The column of URIs, as it was requested.
    column: &'j str,
    others: &'j [&'j str],
    /// The columns in the names of directories.
    keys: &'j [String],
    /// Whether files must have the same columns, because these have no names.
    is_strict: bool,
    files: u64,
    first: Option<(String, SchemaRef)>,
    /// The metadata that all files have.
    metadata: Metadata,
    fields: Vec<Known>,
}

struct Known {
    field: FieldRef,
    /// The file that it has its type from.
    from: String,
    files: u64,
    /// What its keys mean, the first file that says so, and whether all files with the column do.
    meaning: Option<String>,
    described_by: String,
    is_described: bool,
}

impl<'j> Merge<'j> {
    /// Nothing yet, for a job that names a `column` of URIs and `others`.
    pub(crate) fn new(
        (column, others): (&'j str, &'j [&'j str]),
        keys: &'j [String],
        is_strict: bool,
    ) -> Merge<'j> {
        let (first, metadata, fields) = (None, Metadata::default(), Vec::new());
        Merge { column, others, keys, is_strict, files: 0, first, metadata, fields }
    }

    /// Adds the columns of a file. Fails if they cannot be unified with those of the others.
    pub(crate) fn add(&mut self, file: File<'_>) -> Result<(), Error> {
        let (name, schema, partition) = file;
        let is_key = |field: &&FieldRef| self.keys.contains(field.name());
        if let Some(field) = schema.fields().iter().find(is_key) {
            let column = field.name().clone();
            let own = partition.columns().find(|(key, _)| *key == column);
            let place = match own {
                Some((_, value)) => {
                    format!("the directory {column}={}", value.unwrap_or(DEFAULT_PARTITION))
                }
                None => format!("a directory {column}=... of another file"),
            };
            let what = format!("column {column} is in the file and in {place}");
            return Err(Error::text(ErrorKind::Partition, what).of_source(name));
        }
        self.files += 1;
        let Some((first, columns)) = &self.first else {
            self.fields = schema.fields().iter().map(|it| Known::new(it, schema, name)).collect();
            self.first = Some((name.to_owned(), schema.clone()));
            self.metadata = schema.metadata().clone();
            return Ok(());
        };
        keep_common(&mut self.metadata, schema.metadata());
        if names_and_types(columns) == names_and_types(schema) {
            let mut fields = self.fields.iter_mut().zip(schema.fields());
            return fields.try_for_each(|(known, field)| known.add(field, schema, name));
        }
        refuse_unnamed((first, columns), (name, schema), self.is_strict)?;
        self.refuse_without_column(name, schema)?;
        for field in schema.fields() {
            match self.fields.iter_mut().find(|known| known.field.name() == field.name()) {
                Some(known) => known.add(field, schema, name)?,
                None => self.fields.push(Known::new(field, schema, name)),
            }
        }
        Ok(())
    }

    /// Fails if the file does not have the column of URIs of the first one.
    fn refuse_without_column(&self, name: &str, schema: &Schema) -> Result<(), Error> {
        let Some((first, columns)) = &self.first else { return Ok(()) };
        let of_first = Target::find(first, columns, self.column)?;
        let column = columns.field(of_first.column).name();
        let is_number = *column != self.column && self.column.parse::<usize>().is_ok();
        let column = if is_number { column } else { self.column };
        Target::find(name, schema, column).map(drop)
    }

    /// The columns of all files. Fails if there is no column of URIs.
    pub(crate) fn finish(mut self) -> Result<Plan, Error> {
        if self.first.is_none() && self.is_strict {
            return Err(Error::unsupported(NO_ROWS));
        }
        let (first, schema) = self.first.take().unwrap_or_else(|| {
            // Files without a byte have no rows, and no columns but those that are named.
            let is_other = |name: &&&str| !self.keys.iter().any(|key| key == **name);
            let named = [&self.column].into_iter().chain(self.others.iter().filter(is_other));
            let fields = named.map(|&name| Field::new(name, DataType::Utf8, true));
            let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
            self.fields = schema.fields().iter().map(|it| Known::new(it, &schema, "")).collect();
            (String::new(), schema)
        });
        let of_files = self.fields.len();
        // What only some files say about their keys is not known of all.
        let mut metadata = self.metadata;
        metadata.remove(keys::OF_FILE);
        let described = |known: &&Known| known.is_described && known.field.name() == keys::COLUMN;
        let meaning = self.fields.iter().find(described).and_then(|known| known.meaning.clone());
        metadata.extend(meaning.map(|meaning| (keys::OF_FILE.to_owned(), meaning)));
        let fields = self.fields.into_iter().map(|Known { field, files, is_described, .. }| {
            let field = if is_described { field } else { keys::without(&field) };
            match files == self.files || field.is_nullable() {
                true => field,
                false => Arc::new(field.as_ref().clone().with_nullable(true)),
            }
        });
        let key = |name: &String| Arc::new(Field::new(name, DataType::Utf8, true));
        let fields: Vec<FieldRef> = fields.chain(self.keys.iter().map(key)).collect();
        if schema.fields()[..] != fields[..] {
            remove_of_columns(&mut metadata);
        }
        let schema = match schema.fields()[..] == fields[..] && *schema.metadata() == metadata {
            true => schema,
            false => Arc::new(Schema::new_with_metadata(fields, metadata)),
        };
        let target = Target::find(&first, &schema, self.column)?;
        Ok(Plan { schema, target, of_files, first, is_strict: self.is_strict })
    }
}

impl Known {
    /// The column `field` of a file called `name`, with the columns of `schema`.
    fn new(field: &FieldRef, schema: &Schema, name: &str) -> Known {
        let meaning = keys::meaning(schema, field).map(str::to_owned);
        let (from, described_by) = (name.to_owned(), name.to_owned());
        let is_described = meaning.is_some();
        Known { field: field.clone(), from, files: 1, meaning, described_by, is_described }
    }

    /// Adds the values of `field`, which the file called `name` has, with the columns of `schema`.
    fn add(&mut self, field: &FieldRef, schema: &Schema, name: &str) -> Result<(), Error> {
        self.files += 1;
        match (&self.meaning, keys::meaning(schema, field)) {
            (Some(known), Some(other)) if known != other => {
                let before = (self.described_by.as_str(), known.as_str());
                return Err(keys::different(field.name(), (name, other), before));
            }
            (Some(_), Some(_)) => {}
            (None, Some(other)) => {
                (self.meaning, self.described_by) = (Some(other.to_owned()), name.to_owned());
            }
            (_, None) => self.is_described = false,
        }
        if self.field.data_type() == field.data_type()
            && (self.field.is_nullable() || !field.is_nullable())
        {
            return Ok(());
        }
        let Some(wide) = joined_field(&self.field, field) else {
            return Err(different(name, field, (&self.from, self.field.data_type())));
        };
        if wide.data_type() != self.field.data_type() {
            self.from = name.to_owned();
        }
        self.field = wide;
        Ok(())
    }
}

/// The error for the column `field` of the file called `name`; in another file it has another type.
fn different(name: &str, field: &Field, (other, of_other): (&str, &DataType)) -> Error {
    let what = format!(
        "column {} is {}, and {of_other} in {other}; no type holds both without loss",
        field.name(),
        field.data_type()
    );
    Error::columns_of(name, what)
}

/// Fails if files with these columns, which are not the same, cannot be unified because columns have no names of their own.
fn refuse_unnamed(
    (first, columns): (&str, &SchemaRef),
    (name, schema): (&str, &SchemaRef),
    is_strict: bool,
) -> Result<(), Error> {
    if jsonl::is_of_lines(columns) != jsonl::is_of_lines(schema) {
        let what = format!(
            "it and {first} are of two formats, and JSON lines that stay as they are take no other rows: choose another format for the output, such as csv"
        );
        return Err(Error::columns_of(name, what));
    }
    if is_strict || jsonl::is_of_lines(columns) || jsonl::is_of_lines(schema) {
        return refuse_other_columns((first, columns), (name, schema));
    }
    for (name, schema) in [(first, columns), (name, schema)] {
        let mut names = HashSet::new();
        let twice = schema.fields().iter().find(|field| !names.insert(field.name()));
        if let Some(twice) = twice {
            let what =
                format!("has two columns {}, so files that differ cannot be unified", twice.name());
            return Err(Error::columns_of(name, what));
        }
    }
    Ok(())
}

/// Returns an error if the second file does not have the columns of the first.
fn refuse_other_columns(
    (first, columns): (&str, &SchemaRef),
    (name, schema): (&str, &SchemaRef),
) -> Result<(), Error> {
    let (expected, found) = (names_and_types(columns), names_and_types(schema));
    if expected == found {
        return Ok(());
    }
    let different = expected.iter().zip(&found).find(|(one, other)| one != other);
    let what = match different {
        Some((one, other)) => format!("`{other}` where {first} has `{one}`"),
        None => {
            format!("{}, {first} has {}", counted(found.len() as u64, "column"), expected.len())
        }
    };
    Err(Error::columns_of(name, what))
}

fn names_and_types(schema: &SchemaRef) -> Vec<String> {
    let fields = schema.fields().iter();
    fields.map(|field| format!("{} {}", field.name(), field.data_type())).collect()
}

/// How the rows of a file become rows of the dataset.
#[derive(Debug)]
pub(crate) struct Fit {
    schema: SchemaRef,
    columns: Vec<From>,
}

/// Where a column of the dataset comes from.
#[derive(Debug)]
enum From {
    /// The column of the file with this number, widened if need be.
    Column(usize),
    /// The name of a directory.
    Directory(Option<String>),
    Nowhere,
}

impl Plan {
    /// How the rows of a file become rows of the dataset; `None` if they are. Fails if it has other
    /// columns than the files that the plan was made of.
    pub(crate) fn fit(&self, file: File<'_>) -> Result<Option<Fit>, Error> {
        let (name, schema, partition) = file;
        if schema.fields() == self.schema.fields() {
            return Ok(None);
        }
        let (of_files, keys) = self.schema.fields().split_at(self.of_files);
        let mut columns = Vec::with_capacity(self.schema.fields().len());
        let own: Vec<String> = names_and_types(schema);
        let all = names_and_types(&self.schema);
        if own[..] == all[..self.of_files] {
            columns.extend((0..self.of_files).map(From::Column));
        } else {
            let of_files_schema = Arc::new(Schema::new(of_files.to_vec()));
            refuse_unnamed((&self.first, &of_files_schema), (name, schema), self.is_strict)?;
            for field in schema.fields() {
                let Some(known) = of_files.iter().find(|known| known.name() == field.name()) else {
                    let what = format!(
                        "column {} is not among those of the tables before it",
                        field.name()
                    );
                    return Err(Error::columns_of(name, what));
                };
                if joined(known.data_type(), field.data_type()).as_ref() != Some(known.data_type())
                {
                    return Err(different(name, field, (&self.first, known.data_type())));
                }
            }
            let place = |field: &FieldRef| match schema.index_of(field.name()) {
                Ok(at) => From::Column(at),
                Err(_) => From::Nowhere,
            };
            columns.extend(of_files.iter().map(place));
        }
        let value =
            |key: &FieldRef| From::Directory(partition.value(key.name()).map(str::to_owned));
        columns.extend(keys.iter().map(value));
        Ok(Some(Fit { schema: self.schema.clone(), columns }))
    }
}

impl Fit {
    /// The rows of `batch`, of the file called `name`, with the columns of the dataset.
    pub(crate) fn apply(&self, batch: &RecordBatch, name: &str) -> Result<RecordBatch, Error> {
        let rows = batch.num_rows();
        let mut columns: Vec<ArrayRef> = Vec::with_capacity(self.columns.len());
        for (from, field) in self.columns.iter().zip(self.schema.fields()) {
            columns.push(match from {
                From::Column(at) => {
                    widened(batch.column(*at), field.data_type()).map_err(|error| {
                        Error::read(name, format_args!("column {}: {error}", field.name()))
                    })?
                }
                From::Directory(Some(value)) => {
                    Arc::new(StringArray::from_iter_values(std::iter::repeat_n(value, rows)))
                }
                From::Directory(None) | From::Nowhere => new_null_array(field.data_type(), rows),
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(rows));
        let fitted = RecordBatch::try_new_with_options(self.schema.clone(), columns, &options);
        fitted.map_err(|error| Error::read(name, error))
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::{Input, Job, TableFormat, Task, run};
    use super::*;
    use uriscan_arrow::Columns;
    use uriscan_bulk::pipeline::MemoryLimit;

    #[test]
    fn rows_that_spill_or_are_read_again_are_fitted_too() {
        let dir = tempfile::tempdir().unwrap();
        let table = |header: &str, row: fn(usize) -> String| {
            (0..3_000).fold(format!("{header}\n"), |text, i| text + &row(i) + "\n")
        };
        let tables = [
            table("url,n", |i| format!("http://h{},{i}", i % 2_000)),
            table("m,url", |i| format!("{i},HTTP://H{}:80", i + 1_000)),
        ];
        let inputs = |is_stream: bool| -> Vec<Input> {
            let input = |(i, text): (usize, &String)| {
                let path = dir.path().join(format!("{i}.csv"));
                std::fs::write(&path, text).unwrap();
                let stream = std::io::Cursor::new(text.clone());
                let input = match is_stream && i == 0 {
                    true => Input::stream("list", TableFormat::Csv, stream),
                    false => Input::file(path, None),
                };
                input.partition(Partition::of_path(format!("k={i}/x").as_ref()).unwrap())
            };
            tables.iter().enumerate().map(input).collect()
        };
        let mut job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Csv);
        let written = |job: &Job, is_stream: bool| {
            let mut out = Vec::new();
            let report = run(inputs(is_stream), job, &mut out, None).unwrap();
            (String::from_utf8(out).unwrap(), report.spilled > 0)
        };
        let (expected, _) = written(&job, false);
        assert!(expected.starts_with("url,n,m,k\nhttp://h0,0,,0\n"));
        assert!(expected.ends_with("HTTP://H3999:80,,2999,1\n"));
        assert_eq!(expected.lines().count(), 1 + 2_000 + 2_000);
        for is_stream in [false, true] {
            let limit = MemoryLimit::new(1 << 20, dir.path());
            job.limit = Some(limit.set_bytes(0));
            assert!(written(&job, is_stream) == (expected.clone(), true), "{is_stream}");
        }
    }
}
