//! Tables that are read, or refused by name: of nulls, of no bytes, streams, arrays, unions, those with a log.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::{
    ArrayRef, FixedSizeBinaryArray, Int32Array, NullArray, RecordBatch, StringArray, UnionArray,
};
use arrow_ipc::writer::{FileWriter, StreamWriter};
use arrow_schema::{DataType, Field, UnionFields};
use parquet::arrow::ArrowWriter;

use crate::run::{Place, run};

fn urls() -> ArrayRef {
    Arc::new(StringArray::from(vec![Some("HTTP://h"), Some("http://h/"), Some("http://i")]))
}

fn batch(columns: &[(&str, ArrayRef)]) -> RecordBatch {
    let columns = columns.iter().map(|(name, column)| (*name, column.clone(), true));
    RecordBatch::try_from_iter_with_nullable(columns).unwrap()
}

fn write_parquet(place: &Place, name: &str, batch: &RecordBatch) {
    let file = File::create(place.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(batch).unwrap();
    writer.close().unwrap();
}

fn write_arrow(place: &Place, name: &str, batch: &RecordBatch) {
    let file = File::create(place.path(name)).unwrap();
    let mut writer = FileWriter::try_new(file, &batch.schema()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
}

#[test]
fn a_column_of_nulls_only_has_no_urls() {
    let place = Place::new(&[]);
    fs::create_dir(place.path("t")).unwrap();
    write_parquet(&place, "t/a.parquet", &batch(&[("url", urls())]));
    write_parquet(&place, "t/b.parquet", &batch(&[("url", Arc::new(NullArray::new(2)))]));
    let expected =
        "url,uri_normalized\nHTTP://h,http://h/\nhttp://h/,http://h/\nhttp://i,http://i/\n,\n,\n";
    let of = |args: &[&str]| place.run(args, "").quiet();
    assert_eq!(of(&["normalize", "--column", "url", "t", "--to", "csv"]), expected);
    let alone = ["--column", "url", "t/b.parquet", "--to", "jsonl"];
    assert_eq!(of(&[&["dedup"][..], &alone].concat()), "");
    for command in ["normalize", "key", "parse", "check", "audit"] {
        assert_eq!(of(&[&[command][..], &alone].concat()).lines().count(), 2, "{command}");
    }
    let classes = ["dedup", "-c", "--keep", "last", "--column", "url", "t", "--to", "csv"];
    assert_eq!(of(&classes), "url,uri_count\nhttp://h/,2\nhttp://i,1\n");
}

#[test]
fn a_file_without_a_byte_is_a_table_without_rows() {
    let place =
        Place::new(&[("l.csv", "url,n\nhttp://h,1\n"), ("l.jsonl", "{\"url\":\"http://h\"}\n")]);
    fs::create_dir(place.path("t")).unwrap();
    write_parquet(&place, "t/b.parquet", &batch(&[("url", urls())]));
    fs::write(place.path("t/c.csv"), b"").unwrap();
    assert_eq!(place.run(&["dedup", "--column", "url", "t/c.csv"], "").quiet(), "");
    for name in ["a.parquet", "c.parquet", "c.jsonl", "c.arrow", "c.arrows"] {
        let path = format!("t/{name}");
        fs::write(place.path(&path), b"").unwrap();
        let ran = place.run(&["dedup", "--column", "url", &path, "--to", "csv"], "");
        assert_eq!((ran.code, &ran.stdout[..]), (0, &b"url\n"[..]), "{name}");
    }
    let ran = place.run(&["dedup", "--column", "url", "t", "--to", "csv"], "");
    assert_eq!((ran.code, &ran.stdout[..]), (0, &b"url\nHTTP://h\nhttp://i\n"[..]));
    for (with, expected) in
        [("l.csv", "url,n\nhttp://h,1\n"), ("l.jsonl", "{\"url\":\"http://h\"}\n")]
    {
        for inputs in [["t/c.csv", with], [with, "t/c.csv"], ["t/c.jsonl", with]] {
            let to = with.split_once('.').unwrap().1;
            let args = [&["dedup", "--column", "url", "--to", to][..], &inputs].concat();
            assert_eq!(place.run(&args, "").quiet(), expected, "{inputs:?}");
        }
    }
}

#[test]
fn a_stream_of_arrow_is_read_whatever_its_name_is() {
    let place = Place::new(&[]);
    let file = File::create(place.path("t.arrow")).unwrap();
    let mut writer = StreamWriter::try_new(file, &batch(&[("url", urls())]).schema()).unwrap();
    writer.write(&batch(&[("url", urls())])).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let args = ["dedup", "-c", "--keep", "last", "--column", "url", "t.arrow", "--to", "csv"];
    assert_eq!(place.run(&args, "").quiet(), "url,uri_count\nhttp://h/,2\nhttp://i,1\n");
    fs::copy(place.path("t.arrow"), place.path("t.feather")).unwrap();
    let args = ["dedup", "--column", "url", "t.feather", "t.arrow", "-o", "out.arrow"];
    assert_eq!(place.run(&args, "").quiet(), "");
    assert!(fs::read(place.path("out.arrow")).unwrap().starts_with(b"ARROW1"));
}

#[test]
fn an_array_of_json_is_read_as_its_values() {
    let array = "[\n  {\"url\": \"HTTP://h\",\n   \"n\": [1, 2]},\n  {\"url\": \"http://h/\", \"n\": []},\n  {\"url\": \"],[\"}\n]\n";
    let place = Place::new(&[
        ("a.json", array),
        ("b", array),
        ("cut.json", &array[..40]),
        ("e.json", "[]"),
    ]);
    let lines = "{\"url\": \"HTTP://h\",    \"n\": [1, 2]}\n{\"url\": \"],[\"}\n";
    assert_eq!(place.run(&["dedup", "--column", "url", "a.json"], "").quiet(), lines);
    let args = ["dedup", "-c", "--column", "url", "a.json", "-o", "out.parquet"];
    assert_eq!(place.run(&args, "").quiet(), "");
    let args = ["dedup", "--column", "url", "out.parquet", "--to", "jsonl"];
    let expected = "{\"url\":\"HTTP://h\",\"n\":[1,2],\"uri_count\":2}\n{\"url\":\"],[\",\"n\":null,\"uri_count\":1}\n";
    assert_eq!(place.run(&args, "").quiet(), expected);
    for to in ["jsonl", "csv"] {
        let message =
            place.run(&["dedup", "--column", "url", "cut.json", "--to", to], "").refused();
        assert!(message.contains("the array of JSON has no end"), "{message}");
    }
    assert_eq!(place.run(&["dedup", "--column", "url", "e.json"], "").quiet(), "");
}

#[test]
fn types_that_a_format_cannot_hold_are_named() {
    let fields = UnionFields::try_new(
        [0, 1],
        [Field::new("n", DataType::Int32, true), Field::new("s", DataType::Utf8, true)],
    )
    .unwrap();
    let members: Vec<ArrayRef> = vec![
        Arc::new(Int32Array::from(vec![1, 2, 3])),
        Arc::new(StringArray::from(vec!["a", "b", "c"])),
    ];
    let union = UnionArray::try_new(fields, vec![0, 1, 0].into(), None, members).unwrap();
    let empty = FixedSizeBinaryArray::try_from_sparse_iter_with_size(
        [None, Some(b""), None].into_iter(),
        0,
    );
    let place = Place::new(&[]);
    write_arrow(&place, "union.arrow", &batch(&[("url", urls()), ("x", Arc::new(union))]));
    write_arrow(&place, "empty.arrow", &batch(&[("url", urls()), ("x", Arc::new(empty.unwrap()))]));
    for (name, to) in [("union", "parquet"), ("union", "jsonl"), ("empty", "parquet")] {
        let input = format!("{name}.arrow");
        let message =
            place.run(&["dedup", "--column", "url", &input, "--to", to, "-o", "out"], "").refused();
        assert!(message.contains(&format!("{to} cannot hold column x, which is ")), "{message}");
    }
    for name in ["union.arrow", "empty.arrow"] {
        let args = ["dedup", "--column", "url", name, "-o", "out.arrow"];
        assert_eq!(place.run(&args, "").quiet(), "");
    }
}

#[test]
fn tables_with_a_log_are_refused_and_their_files_are_not() {
    for (log, what) in [
        ("_delta_log/0.json", "t: is a table of Delta Lake, "),
        ("metadata/v1.metadata.json", "t: is a table of Iceberg, "),
        (".hoodie/hoodie.properties", "t: is a table of Hudi, "),
    ] {
        let place = Place::new(&[]);
        fs::create_dir_all(place.path(&format!("t/{log}")).parent().unwrap()).unwrap();
        fs::write(place.path(&format!("t/{log}")), "{}").unwrap();
        fs::create_dir(place.path("t/dt=1")).unwrap();
        fs::write(place.path("t/dt=1/a.csv"), "url\nhttp://h\n").unwrap();
        for input in ["t", "t/", ".", "t/*/*.csv", "**/*.csv", "t/dt=1", "t/dt=*"] {
            let message = place.run(&["dedup", "--column", "url", input], "").refused();
            assert!(message.contains(what), "{input}: {message}");
        }
        let args = ["dedup", "--column", "url", "t/dt=1/a.csv"];
        assert_eq!(place.run(&args, "").quiet(), "url\nhttp://h\n");
    }
}

#[test]
fn lines_of_json_on_a_pipe_are_known_by_their_first_byte_to_every_command() {
    let lines = " {\"url\":\"http://h\"}\n{\"url\":\"HTTP://h/\"}\n";
    for args in [
        &["dedup"][..],
        &["dedup", "-c"],
        &["dedup", "--with", "url"],
        &["normalize"],
        &["key"],
        &["parse"],
        &["audit"],
        &["check"],
        &["check", "--into", "e"],
        &["extract"],
        &["top"],
        &["census"],
    ] {
        let of = |more: &[&str]| {
            let ran = run([args, &["--column", "url"], more].concat(), lines);
            (ran.code, ran.stdout)
        };
        let found = of(&[]);
        assert!(found.0 == 0 && !found.1.is_empty(), "{args:?}");
        assert!(found == of(&["--from", "jsonl"]), "{args:?}");
    }
    let csv = run(["normalize", "--column", "url"], "url\nhttp://h\n").refused();
    assert!(csv.contains("the format of the table is unknown"), "{csv}");
}

#[test]
fn lines_of_json_that_stay_so_are_refused_beside_other_formats() {
    let place =
        Place::new(&[("a.jsonl", "{\"url\":\"http://a\"}\n"), ("b.csv", "url\nhttp://b\n")]);
    for command in ["dedup", "normalize"] {
        let ran = place.run(&[command, "--column", "url", "a.jsonl", "b.csv"], "");
        let what = "b.csv: it and a.jsonl are of two formats";
        assert!(ran.code == 2 && ran.stderr.contains(what), "{}", ran.stderr);
        assert!(ran.stderr.contains("choose another format for the output"), "{}", ran.stderr);
        let args = [command, "--column", "url", "a.jsonl", "b.csv", "--to", "csv"];
        assert_eq!(place.run(&args, "").quiet().lines().count(), 3);
    }
}

#[test]
fn a_first_row_that_was_taken_for_a_header_is_reported_for_csv_and_tsv_alone() {
    let place = Place::new(&[
        ("t.csv", "1,http://a.com\n2,http://a.com/\n"),
        ("t.tsv", "a.com\t1\nb.com\t2\n"),
        ("f.txt", "http://a.com/ 1\nhttp://b.com/ 2\n"),
        (
            "l.jsonl",
            "{\"2\":\"http://a/\",\"3\":\"http://b/\"}\n{\"2\":\"http://c/\",\"3\":\"http://d/\"}\n",
        ),
        ("named.csv", "id,url\n1,http://a.com/\n"),
    ]);
    let reported =
        |args: &[&str]| place.run(args, "").stderr.contains("--no-header reads it as a row");
    for command in ["dedup", "normalize", "check", "top"] {
        assert!(reported(&[command, "--column", "2", "t.csv"]), "{command}");
        assert!(reported(&[command, "--column", "1", "t.tsv"]), "{command}");
        assert!(!reported(&[command, "--column", "2", "--no-header", "t.csv"]), "{command}");
        assert!(!reported(&[command, "-q", "--column", "2", "t.csv"]), "{command}");
        assert!(!reported(&[command, "--column", "2", "l.jsonl"]), "{command}");
        assert!(!reported(&[command, "--column", "2", "named.csv"]), "{command}");
    }
    assert!(!reported(&["dedup", "--column", "1", "--from", "fields", "f.txt"]));
    // What it says works.
    let args = ["dedup", "--column", "2", "--no-header", "t.csv"];
    assert_eq!(place.run(&args, "").quiet(), "1,http://a.com\n");
}
