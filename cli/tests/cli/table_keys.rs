//! Columns of keys, which say what they mean.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::{ArrayRef, FixedSizeBinaryArray, StringArray};
use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::run::Place;
use crate::tables::write;

const COLUMN: [&str; 2] = ["--column", "url"];

/// What the file says to programs that know no Arrow, and its columns.
fn metadata(place: &Place, name: &str) -> (Option<String>, SchemaRef) {
    let file = File::open(place.path(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let pairs = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let of_file = pairs.iter().find(|pair| pair.key == "uriscan.uri_key");
    (of_file.and_then(|pair| pair.value.clone()), reader.schema().clone())
}

fn of_column(schema: &SchemaRef) -> Option<&str> {
    schema.field_with_name("uri_key").unwrap().metadata().get("uriscan.key").map(String::as_str)
}

fn keyed(place: &Place, more: &[&str], out: &str) {
    let args = [&["key", "in.csv", "-o", out], &COLUMN[..], more].concat();
    assert_eq!(place.run(&args, "").quiet(), "");
}

#[test]
fn keys_say_what_they_mean() {
    let place = Place::new(&[("in.csv", "url\nHTTP://h:80\nhttp://h/\n")]);
    keyed(&place, &[], "a.parquet");
    let (of_file, schema) = metadata(&place, "a.parquet");
    let meaning = of_file.unwrap();
    assert!(
        meaning.starts_with("hash blake3\n") && meaning.contains("\nlevel scheme\n"),
        "{meaning}"
    );
    assert_eq!(of_column(&schema), Some(&*meaning));
    // There is no seed in it.
    keyed(&place, &[], "b.parquet");
    assert_eq!(
        fs::read(place.path("a.parquet")).unwrap(),
        fs::read(place.path("b.parquet")).unwrap()
    );
    // It passes through other commands and through Arrow.
    for name in ["c.arrow", "d.parquet"] {
        let from = if name == "c.arrow" { "a.parquet" } else { "c.arrow" };
        let args = [&["dedup", from, "-o", name], &COLUMN[..]].concat();
        assert_eq!(place.run(&args, "").quiet(), "");
    }
    let (of_file, schema) = metadata(&place, "d.parquet");
    assert_eq!((of_file.as_deref(), of_column(&schema)), (Some(&*meaning), Some(&*meaning)));
    keyed(&place, &["--hash", "sha256", "--level", "syntax"], "e.parquet");
    let other = metadata(&place, "e.parquet").0.unwrap();
    assert!(other.starts_with("hash sha256\n") && other.contains("\nlevel syntax\n"), "{other}");
}

#[test]
fn keys_that_mean_something_else_are_not_mixed() {
    let place = Place::new(&[("in.csv", "url\nHTTP://h:80\nhttp://h/\n")]);
    keyed(&place, &[], "a.parquet");
    keyed(&place, &["--level", "syntax"], "b.parquet");
    let keys: ArrayRef =
        Arc::new(FixedSizeBinaryArray::try_from_iter([[0u8; 16]].into_iter()).unwrap());
    let url: ArrayRef = Arc::new(StringArray::from(vec!["http://x"]));
    write(&place, "bare.parquet", vec![("url", url), ("uri_key", keys)]);
    let dedup = |inputs: &[&str]| {
        let args = [&["dedup", "-o", "out.parquet"], &COLUMN[..], inputs].concat();
        place.run(&args, "")
    };
    for inputs in [&["a.parquet", "b.parquet"][..], &["a.parquet", "bare.parquet", "b.parquet"]] {
        assert_eq!(
            dedup(inputs).refused(),
            "uriscan: b.parquet: the keys in column uri_key have another meaning than those in a.parquet: `level syntax` here, `level scheme` there"
        );
    }
    assert_eq!(dedup(&["a.parquet", "a.parquet"]).quiet(), "");
    assert!(metadata(&place, "out.parquet").0.is_some());
    // Of keys that say nothing, nothing is known.
    for inputs in [&["a.parquet", "bare.parquet"], &["bare.parquet", "a.parquet"]] {
        assert_eq!(dedup(inputs).quiet(), "");
        let (of_file, schema) = metadata(&place, "out.parquet");
        assert_eq!((of_file, of_column(&schema)), (None, None));
    }
}
