//! Files with types that Arrow does not hold come back as they were.

use std::fs::File;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::types::TimestampMicrosecondType;
use arrow_array::{ArrayRef, Date64Array, RecordBatch, StringArray};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::column::writer::ColumnWriter;
use parquet::data_type::{ByteArray, FixedLenByteArray, Int96};
use parquet::file::properties::WriterProperties;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::file::writer::SerializedFileWriter;
use parquet::schema::{parser::parse_message_type, printer::print_schema};

use super::*;
use crate::{Input, Job, TableFormat, Task, run};
use uriscan_arrow::Columns;
use uriscan_bulk::error::Error;

/// Writes two rows, the second of which is as the first in the column of URLs.
fn write(path: &Path, columns: &str, metadata: Option<Vec<parquet::file::metadata::KeyValue>>) {
    let text = format!("message spark_schema {{ {columns} required binary url (STRING); }}");
    write_root(path, parse_message_type(&text).unwrap(), metadata);
}

/// [`write`], of columns below `root`.
fn write_root(path: &Path, root: Type, metadata: Option<Vec<parquet::file::metadata::KeyValue>>) {
    let root = Arc::new(root);
    let columns = SchemaDescriptor::new(Arc::clone(&root));
    let mut columns = columns.columns().iter();
    let properties = WriterProperties::builder().set_key_value_metadata(metadata).build();
    let file = File::create(path).unwrap();
    let mut file = SerializedFileWriter::new(file, root, Arc::new(properties)).unwrap();
    let mut group = file.next_row_group().unwrap();
    while let Some(mut column) = group.next_column().unwrap() {
        let of = columns.next().unwrap();
        let (levels, repeated) = (vec![of.max_def_level(); 2], vec![0; 2]);
        let (levels, repeated) =
            (Some(&levels[..]), (of.max_rep_level() > 0).then_some(&repeated[..]));
        match column.untyped() {
            ColumnWriter::Int32ColumnWriter(it) => it.write_batch(&[1, 2], levels, repeated),
            ColumnWriter::Int64ColumnWriter(it) => it.write_batch(&[3, 4], levels, repeated),
            ColumnWriter::Int96ColumnWriter(it) => {
                let day = |days: u32, nanoseconds: u64| {
                    let mut value = Int96::new();
                    value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, days);
                    value
                };
                // 9999-12-31 and 1970-01-02T00:00:01.
                let values = [day(5_373_484, 0), day(2_440_589, 1_000_000_000)];
                it.write_batch(&values, levels, repeated)
            }
            ColumnWriter::ByteArrayColumnWriter(it) => {
                let value = if of.name() == "url" { &b"http://h"[..] } else { b"[1]" };
                it.write_batch(&[ByteArray::from(value), ByteArray::from(value)], levels, repeated)
            }
            ColumnWriter::FixedLenByteArrayColumnWriter(it) => {
                let value = |byte| {
                    FixedLenByteArray::from(vec![byte; usize::try_from(of.type_length()).unwrap()])
                };
                it.write_batch(&[value(7), value(8)], levels, repeated)
            }
            _ => panic!("a type without a value here"),
        }
        .unwrap();
        column.close().unwrap();
    }
    group.close().unwrap();
    file.close().unwrap();
}

/// The columns of the file at `path` in the words of Parquet, and its first row.
fn read_back(path: &Path) -> (String, RecordBatch) {
    let file = File::open(path).unwrap();
    let metadata = ArrowReaderMetadata::load(&file, Default::default()).unwrap();
    let mut text = Vec::new();
    print_schema(&mut text, metadata.metadata().file_metadata().schema());
    let metadata = read(metadata).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
    let batch = reader.build().unwrap().next().unwrap().unwrap();
    (String::from_utf8(text).unwrap(), batch.slice(0, 1))
}

/// Deduplicates the files at `paths` to `to`.
fn dedup(paths: &[&Path], to: &Path) -> Result<(), Error> {
    let job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Parquet);
    let inputs = paths.iter().map(|path| Input::file(*path, None)).collect();
    run(inputs, &job, &mut File::create(to).unwrap(), None).map(drop)
}

/// The columns and the first row of a file with `columns`, before and after `dedup`.
fn around(columns: &str) -> [(String, RecordBatch); 2] {
    let dir = tempfile::tempdir().unwrap();
    let [from, to] = ["from.parquet", "to.parquet"].map(|name| dir.path().join(name));
    write(&from, columns, None);
    dedup(&[&from], &to).unwrap();
    [read_back(&from), read_back(&to)]
}

#[test]
fn what_arrow_does_not_hold_is_written_as_it_was_read() {
    let columns = "
        optional fixed_len_byte_array(12) span (INTERVAL);
        required fixed_len_byte_array(12) bytes;
        optional fixed_len_byte_array(16) id (UUID);
        optional int32 clock (TIME(MILLIS,true));
        optional int64 clock_us (TIME(MICROS,true));
        optional int64 local (TIME(NANOS,false));
        optional binary kind (ENUM);
        optional binary json (JSON);
        optional binary bson (BSON);
        optional binary shape (GEOMETRY);
        optional group part {
            optional fixed_len_byte_array(12) span (INTERVAL);
            optional binary json (JSON);
        }
        optional group spans (LIST) {
            repeated group list {
                optional fixed_len_byte_array(12) element (INTERVAL);
            }
        }";
    let [before, after] = around(columns);
    let types = |text: &str| text.lines().skip(1).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(types(&before.0), types(&after.0));
    // Without the types, which have the names of the items of lists.
    let values = |batch: &RecordBatch| format!("{:?}", batch.columns());
    assert_eq!(values(&before.1), values(&after.1));
    let spans = after.1.column(0).as_fixed_size_binary();
    assert_eq!(spans.value(0), [7; 12]);
}

#[test]
fn int96_is_microseconds_in_utc_also_after_2262_and_in_lists() {
    let columns = "
        optional int96 at;
        optional group all (LIST) {
            repeated group list {
                optional group element { optional int96 at; }
            }
        }";
    let [_, (types, row)] = around(columns);
    assert_eq!(types.matches("INT64 at (TIMESTAMP(MICROS,true))").count(), 2, "{types}");
    let last = 253_402_214_400_000_000_i64;
    assert_eq!(row.column(0).as_primitive::<TimestampMicrosecondType>().values(), &[last]);
    let all = row.column(1).as_list::<i32>().values().slice(0, 1);
    let all = all.as_struct().column(0).clone();
    assert_eq!(all.as_primitive::<TimestampMicrosecondType>().values(), &[last]);
}

#[test]
fn notes_of_several_files_are_unified() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b, to] = ["a.parquet", "b.parquet", "to.parquet"].map(|name| dir.path().join(name));
    write(&a, "optional binary x (JSON);", None);
    write(&b, "optional binary y (ENUM); optional binary x (JSON);", None);
    dedup(&[&a, &b], &to).unwrap();
    let (types, _) = read_back(&to);
    assert!(types.contains("x (JSON)") && types.contains("y (ENUM)"), "{types}");
}

#[test]
fn metadata_of_files_is_kept_where_it_is_still_true() {
    let dir = tempfile::tempdir().unwrap();
    let [a, b, to] = ["a.parquet", "b.parquet", "to.parquet"].map(|name| dir.path().join(name));
    let pair = |name: &str, value: &str| {
        parquet::file::metadata::KeyValue::new(name.to_owned(), value.to_owned())
    };
    let spark = "org.apache.spark.sql.parquet.row.metadata";
    let of = |own: &str| Some(vec![pair("geo", "{}"), pair(spark, "{}"), pair("own", own)]);
    write(&a, "", of("1"));
    write(&b, "", of("2"));
    let names = |inputs: &[&Path], task: Task| {
        let job = Job::new("url", task, Columns::default(), TableFormat::Parquet);
        let inputs = inputs.iter().map(|path| Input::file(*path, None)).collect();
        run(inputs, &job, &mut File::create(&to).unwrap(), None).unwrap();
        let file = SerializedFileReader::new(File::open(&to).unwrap()).unwrap();
        let all = file.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let names = all.into_iter().map(|pair| pair.key);
        names.filter(|name| name != "ARROW:schema").collect::<Vec<_>>()
    };
    assert_eq!(names(&[&a], Task::Dedup), ["geo", spark, "own"]);
    assert_eq!(names(&[&a, &b], Task::Dedup), ["geo", spark]);
    assert_eq!(names(&[&a], Task::Form(crate::Form::Normalized)), ["geo", "own"]);
}

#[test]
fn notes_that_do_not_fit_a_column_have_no_effect() {
    let column = |text: &str| {
        let root = parse_message_type(&format!("message m {{ {text} }}")).unwrap();
        root.get_fields()[0].clone()
    };
    for (of, note) in [
        ("optional int32 a;", "json"),
        ("optional binary a;", "interval"),
        ("optional fixed_len_byte_array(12) a;", "uuid"),
        ("optional fixed_len_byte_array(16) a;", "interval"),
        ("optional int64 a;", "time-utc"),
        ("optional binary a;", "nothing"),
        ("optional binary a;", ""),
    ] {
        assert_eq!(annotated(&column(of), note), None, "{of} {note}");
    }
    let shape = annotated(&column("optional binary a;"), "geography VINCENTY OGC:CRS84").unwrap();
    let expected = LogicalType::geography(
        Some("OGC:CRS84".to_owned()),
        Some(EdgeInterpolationAlgorithm::VINCENTY),
    );
    assert_eq!(shape.get_basic_info().logical_type_ref(), Some(&expected));
    assert_eq!(noted(&shape).as_deref(), Some("geography VINCENTY OGC:CRS84"));
}

#[test]
fn dates_in_milliseconds_are_dates() {
    let dir = tempfile::tempdir().unwrap();
    let [from, to] = ["from.arrow", "to.parquet"].map(|name| dir.path().join(name));
    let days: ArrayRef = Arc::new(Date64Array::from(vec![Some(86_400_000), None]));
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["http://h/a", "http://h/b"]));
    let batch = RecordBatch::try_from_iter([("day", days.clone()), ("url", urls)]).unwrap();
    let file = File::create(&from).unwrap();
    let mut writer = arrow_ipc::writer::FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(&batch).unwrap();
    writer.finish().unwrap();
    dedup(&[&from], &to).unwrap();
    let (types, row) = read_back(&to);
    assert!(types.contains("OPTIONAL INT32 day (DATE)"), "{types}");
    assert_eq!(row.column(0), &days.slice(0, 1));
}

#[test]
fn variants_stay_variants_also_within_others() {
    let binary = |name: &str| {
        let column = Type::primitive_type_builder(name, Physical::BYTE_ARRAY);
        Arc::new(column.with_repetition(parquet::basic::Repetition::REQUIRED).build().unwrap())
    };
    let group = |name: &str, fields: Vec<TypePtr>, logical: Option<LogicalType>| {
        let group = Type::group_type_builder(name).with_fields(fields).with_logical_type(logical);
        Arc::new(group.with_repetition(parquet::basic::Repetition::OPTIONAL).build().unwrap())
    };
    let variant = |name: &str, version: Option<i8>| {
        let typed = group("typed_value", vec![binary("a")], None);
        let fields = vec![typed, binary("metadata"), binary("value")];
        group(name, fields, Some(LogicalType::variant(version)))
    };
    let outer = group("outer", vec![binary("x"), variant("within", None)], None);
    let plain = group("plain", vec![binary("metadata"), binary("value")], None);
    let url = Type::primitive_type_builder("url", Physical::BYTE_ARRAY)
        .with_repetition(parquet::basic::Repetition::REQUIRED)
        .with_logical_type(Some(LogicalType::String));
    let fields = vec![variant("v", Some(1)), outer, plain, Arc::new(url.build().unwrap())];
    let root = Type::group_type_builder("spark_schema").with_fields(fields).build().unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("in.parquet");
    write_root(&path, root, None);
    let job = Job::new("url", Task::Dedup, Columns::default(), TableFormat::Parquet);
    let mut out = Vec::new();
    run(vec![Input::file(&path, None)], &job, &mut out, None).unwrap();
    let read = SerializedFileReader::new(bytes::Bytes::from(out)).unwrap();
    let mut types = Vec::new();
    print_schema(&mut types, read.metadata().file_metadata().schema());
    let types = String::from_utf8(types).unwrap();
    assert_eq!(types.matches("VARIANT").count(), 2, "{types}");
    assert!(types.contains("v (VARIANT(Some(1)))"), "{types}");
    assert!(types.contains("within (VARIANT(None))"), "{types}");
}
