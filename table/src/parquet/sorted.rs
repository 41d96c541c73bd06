//! The order of rows that Parquet files declare. It is kept in the metadata of the columns while rows are in memory, and declared again
//! where rows stay in their order.
//!
//! Rows that are written together come from row groups of one file that follow each other ([`super::groups`]). So the order within
//! the groups of a file is that of its rows if the first column does not go back from group to group, which its statistics say.

use std::collections::hash_map::RandomState;
use std::hash::{BuildHasher, Hasher};
use std::sync::{Arc, OnceLock};

use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ArrowReaderOptions};
use parquet::basic::{ConvertedType, LogicalType};
use parquet::errors::ParquetError;
use parquet::file::metadata::{ParquetMetaData, RowGroupMetaData, SortingColumn};
use parquet::file::statistics::Statistics;
use parquet::schema::types::{ColumnDescriptor, SchemaDescriptor};

/// The name of this metadata. No file has it: it is another one in every process, and is never written.
fn name() -> &'static str {
    static NAME: OnceLock<String> = OnceLock::new();
    NAME.get_or_init(|| format!("uriscan.sorted:{:x}", RandomState::new().build_hasher().finish()))
}

/// Between columns, and between what is noted of one.
const COLUMN_END: char = '\u{1E}';
const PART_END: char = '\u{1F}';

/// `metadata` with a note of the order of its rows, if they have one. Fails if the columns cannot be read so.
pub(crate) fn read(metadata: ArrowReaderMetadata) -> Result<ArrowReaderMetadata, ParquetError> {
    let Some(note) = noted(metadata.metadata(), metadata.schema()) else { return Ok(metadata) };
    let mut schema = metadata.schema().as_ref().clone();
    schema.metadata.insert(name().to_owned(), note);
    let options = ArrowReaderOptions::new().with_schema(Arc::new(schema));
    ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)
}

/// The order that all row groups of a file declare, if all of its rows have it, for columns that are read as those of `schema`: the
/// columns up to the first one that is not at the top.
fn noted(metadata: &ParquetMetaData, schema: &Schema) -> Option<String> {
    let groups = metadata.row_groups();
    let declared = groups.first()?.sorting_columns()?;
    if !groups.iter().all(|group| group.sorting_columns() == Some(declared)) {
        return None;
    }
    let columns = metadata.file_metadata().schema_descr();
    let first = usize::try_from(declared.first()?.column_idx).ok()?;
    if groups.len() > 1 && first >= columns.num_columns() {
        return None;
    }
    let is_only = declared.len() == 1;
    let in_order = |pair: &[RowGroupMetaData]| {
        follows((&pair[0], &pair[1]), (first, columns), declared[0].descending, is_only)
    };
    if !groups.windows(2).all(in_order) {
        return None;
    }
    let note = |sorting: &SortingColumn| {
        let column = usize::try_from(sorting.column_idx).ok()?;
        let parts = (column < columns.num_columns()).then(|| columns.column(column))?;
        let [name] = parts.path().parts() else { return None };
        let data_type = schema.field_with_name(name).ok()?.data_type();
        let is_plain = !name.contains([COLUMN_END, PART_END]);
        is_plain.then(|| part(sorting, name, data_type))
    };
    let notes: Vec<String> = declared.iter().map_while(note).collect();
    (!notes.is_empty()).then(|| notes.join(&COLUMN_END.to_string()))
}

/// What is noted of a column: how it is sorted, its type, which has an order of its own, and its name.
fn part(sorting: &SortingColumn, name: &str, data_type: &DataType) -> String {
    let order = if sorting.descending { "descending" } else { "ascending" };
    let nulls = if sorting.nulls_first { "first" } else { "last" };
    format!("{order}{PART_END}{nulls}{PART_END}{data_type:?}{PART_END}{name}")
}

/// The order that is noted in the metadata of `schema`, of `columns` as they are written: those up to the first one that is not there
/// any more, or of another type.
pub(crate) fn declared(schema: &Schema, columns: &SchemaDescriptor) -> Option<Vec<SortingColumn>> {
    let sorting = |noted: &str| {
        let mut parts = noted.splitn(4, PART_END);
        let (order, nulls) = (parts.next()?, parts.next()?);
        let (data_type, name) = (parts.next()?, parts.next()?);
        let is_same = format!("{:?}", schema.field_with_name(name).ok()?.data_type()) == data_type;
        let place = columns.columns().iter().position(|it| it.path().parts() == [name]);
        Some(SortingColumn {
            column_idx: i32::try_from(place.filter(|_| is_same)?).ok()?,
            descending: order == "descending",
            nulls_first: nulls == "first",
        })
    };
    let noted = schema.metadata().get(name())?;
    let all: Vec<SortingColumn> = noted.split(COLUMN_END).map_while(sorting).collect();
    (!all.is_empty()).then_some(all)
}

/// `schema` without a note, for rows that are put in another order or joined to other groups.
pub(crate) fn without(schema: &Schema) -> Schema {
    let mut metadata = schema.metadata().clone();
    metadata.remove(name());
    Schema::new_with_metadata(schema.fields().clone(), metadata)
}

/// Whether the rows of the second group follow those of the first in the order of a column; values at the border may be equal if it is the
/// only one that is sorted.
fn follows(
    (one, next): (&RowGroupMetaData, &RowGroupMetaData),
    (column, columns): (usize, &SchemaDescriptor),
    is_descending: bool,
    is_only: bool,
) -> bool {
    let statistics = |group: &RowGroupMetaData| group.columns().get(column)?.statistics().cloned();
    let (Some(one), Some(next)) = (statistics(one), statistics(next)) else { return false };
    // Where nulls are, is not known.
    if [&one, &next].iter().any(|it| it.null_count_opt() != Some(0)) {
        return false;
    }
    let (low, high) = if is_descending { (&next, &one) } else { (&one, &next) };
    let column = columns.column(column);
    let (Some(greatest), Some(least)) = (bound(low, true, &column), bound(high, false, &column))
    else {
        return false;
    };
    greatest < least || is_only && greatest == least
}

/// A bound of values, which compares with others of the same column.
#[derive(PartialEq, PartialOrd)]
enum Bound {
    Whole(i64),
    Real(f64),
    Bytes(Vec<u8>),
}

/// The greatest value, or the least one, if values of the column are compared as their bounds are.
fn bound(statistics: &Statistics, is_greatest: bool, column: &ColumnDescriptor) -> Option<Bound> {
    let is_text = matches!(
        column.logical_type_ref(),
        None | Some(LogicalType::String | LogicalType::Json | LogicalType::Enum)
    );
    let is_signed = match column.logical_type_ref() {
        Some(LogicalType::Integer(integer)) => integer.is_signed,
        _ => !matches!(
            column.converted_type(),
            ConvertedType::UINT_8
                | ConvertedType::UINT_16
                | ConvertedType::UINT_32
                | ConvertedType::UINT_64
        ),
    };
    let is_bytes = matches!(column.converted_type(), ConvertedType::NONE | ConvertedType::UTF8);
    macro_rules! bound {
        ($values:expr) => {
            *(if is_greatest { $values.max_opt() } else { $values.min_opt() })?
        };
    }
    Some(match statistics {
        Statistics::Int32(values) if is_signed => Bound::Whole(bound!(values).into()),
        Statistics::Int64(values) if is_signed => Bound::Whole(bound!(values)),
        Statistics::Float(values) => Bound::Real(bound!(values).into()),
        Statistics::Double(values) => Bound::Real(bound!(values)),
        Statistics::ByteArray(_) if is_text && is_bytes => {
            let bytes =
                if is_greatest { statistics.max_bytes_opt() } else { statistics.min_bytes_opt() };
            Bound::Bytes(bytes?.to_vec())
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use arrow_array::{ArrayRef, Int64Array, RecordBatch, StringArray};
    use parquet::arrow::ArrowWriter;
    use parquet::file::properties::WriterProperties;

    use super::*;
    use crate::{Form, Input, Job, SortBy, TableFormat, Task, run};
    use uriscan_arrow::Columns;

    type Rows = (Vec<Option<i64>>, Vec<&'static str>);

    const URL: SortingColumn =
        SortingColumn { column_idx: 1, descending: false, nulls_first: true };
    const DAY: SortingColumn =
        SortingColumn { column_idx: 0, descending: false, nulls_first: false };

    /// A file of row groups of two rows, that says to be sorted so.
    fn file((days, urls): Rows, sorted: &[SortingColumn]) -> tempfile::NamedTempFile {
        let file = tempfile::Builder::new().suffix(".parquet").tempfile().unwrap();
        let days: ArrayRef = Arc::new(Int64Array::from(days));
        let urls: ArrayRef = Arc::new(StringArray::from(urls));
        let batch =
            RecordBatch::try_from_iter_with_nullable([("day", days, true), ("url", urls, true)])
                .unwrap();
        let properties = WriterProperties::builder()
            .set_max_row_group_row_count(Some(2))
            .set_sorting_columns((!sorted.is_empty()).then(|| sorted.to_vec()))
            .build();
        let mut writer =
            ArrowWriter::try_new(file.reopen().unwrap(), batch.schema(), Some(properties)).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        file
    }

    /// The order that the results of a task on `files` declare, in all groups.
    fn declared_by(files: &[&tempfile::NamedTempFile], job: &Job) -> Vec<SortingColumn> {
        let inputs =
            files.iter().map(|file| Input::file(file.path(), Some(TableFormat::Parquet))).collect();
        let mut out = Vec::new();
        run(inputs, job, &mut out, None).unwrap();
        let metadata =
            ArrowReaderMetadata::load(&bytes::Bytes::from(out), Default::default()).unwrap();
        let names = metadata.schema().metadata();
        assert!(names.keys().all(|name| !name.contains("sorted")), "{names:?}");
        let groups = metadata.metadata().row_groups();
        let first = groups[0].sorting_columns().cloned().unwrap_or_default();
        assert!(groups.iter().all(|it| it.sorting_columns().cloned().unwrap_or_default() == first));
        first
    }

    fn job(task: Task) -> Job {
        Job::new("url", task, Columns::default(), TableFormat::Parquet)
    }

    #[test]
    fn an_order_is_declared_where_all_rows_have_it() {
        let urls = vec!["http://a", "HTTP://A", "http://b", "http://c", "http://d"];
        let days = |days: [i64; 5]| days.map(Some).to_vec();
        let rising = (days([1, 2, 3, 4, 5]), urls.clone());
        for (rows, sorted, declared) in [
            (rising.clone(), &[DAY][..], &[DAY][..]),
            (rising.clone(), &[DAY, URL], &[DAY, URL]),
            (rising.clone(), &[], &[]),
            ((days([1, 2, 2, 4, 4]), urls.clone()), &[DAY], &[DAY]),
            // Where groups meet, the second column may go back.
            ((days([1, 2, 2, 4, 4]), urls.clone()), &[DAY, URL], &[]),
            // Sorted within groups only, and groups may be written as one.
            ((days([1, 9, 2, 8, 3]), urls.clone()), &[DAY], &[]),
            (
                (days([5, 4, 3, 2, 1]), urls.clone()),
                &[SortingColumn { descending: true, ..DAY }],
                &[SortingColumn { descending: true, ..DAY }],
            ),
            ((vec![Some(1), Some(2), Some(3), None, None], urls.clone()), &[DAY], &[]),
            (
                (
                    days([1, 1, 1, 1, 1]),
                    vec!["http://a", "http://b", "http://c", "http://d", "http://e"],
                ),
                &[URL],
                &[URL],
            ),
        ] {
            let file = file(rows.clone(), sorted);
            assert_eq!(declared_by(&[&file], &job(Task::Dedup)), declared, "{rows:?} {sorted:?}");
            assert_eq!(declared_by(&[&file], &job(Task::Form(Form::Normalized))), declared);
        }
    }

    #[test]
    fn another_order_or_another_file_without_one_ends_it() {
        let rows: Rows =
            (vec![Some(1), Some(2), Some(3)], vec!["http://a", "http://b", "http://c"]);
        let (sorted, plain) = (file(rows.clone(), &[DAY]), file(rows.clone(), &[]));
        let other = file(rows, &[URL]);
        assert_eq!(declared_by(&[&sorted, &sorted], &job(Task::Copy)), [DAY]);
        assert_eq!(declared_by(&[&sorted, &plain], &job(Task::Copy)), []);
        assert_eq!(declared_by(&[&plain, &sorted], &job(Task::Copy)), []);
        assert_eq!(declared_by(&[&sorted, &other], &job(Task::Copy)), []);
        let by = SortBy::new(uriscan_core::surt::Form::Cdxj, std::env::temp_dir());
        assert_eq!(declared_by(&[&sorted], &job(Task::Copy).sort_by(by)), []);
    }
}
