//! URIs inside of structs, objects and lists, and values that are not text where URIs are expected.

use std::fs::File;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, RecordBatch, StringArray, StructArray};
use arrow_schema::{DataType, Field};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::run::Place;

/// Lines with URIs in `page.url` and `links`.
const LINES: &str = r#"{"id":1,"page":{"url":"http://h","n":1},"links":["http://a","http://b"]}
{"id":2,"page":{"url":"HTTP://h/","n":2},"links":["HTTP://A/"]}
{"id":3,"page":null,"links":[]}
{"id":4,"page":{"url":"http://i/","n":3},"links":null}
"#;

fn lines_of(numbers: &[usize]) -> String {
    let lines: Vec<&str> = LINES.lines().collect();
    numbers.iter().map(|number| format!("{}\n", lines[number - 1])).collect()
}

#[test]
fn a_path_selects_members_of_json_lines() {
    let place = Place::new(&[("in.jsonl", LINES)]);
    let run = |args: &[&str]| place.run(&[args, &["in.jsonl"]].concat(), "").quiet();
    for more in [&[][..], &["--max-memory", "64M"], &["-j", "1", "--no-uri", "drop"]] {
        let args = [&["dedup", "--column", "page.url"], more].concat();
        assert_eq!(run(&args), lines_of(&[1, 4]), "{more:?}");
    }
    assert_eq!(run(&["dedup", "--column", "page.url", "-d"]), lines_of(&[1]));
    assert_eq!(run(&["dedup", "--column", "page.url", "--no-uri", "keep"]), lines_of(&[1, 3, 4]));
    assert_eq!(run(&["dedup", "--column", "links.1"]), lines_of(&[1]));
    assert_eq!(run(&["dedup", "--column", "links.2"]), lines_of(&[1]));
    let made = run(&["normalize", "--column", "page.url"]);
    let forms: Vec<_> =
        made.lines().map(|line| line.rsplit("\"uri_normalized\":").next()).collect();
    assert_eq!(forms, ["\"http://h/\"}", "\"http://h/\"}", "null}", "\"http://i/\"}"].map(Some));
    let message = place.run(&["dedup", "--column", "page.u", "in.jsonl"], "").refused();
    let advice = "column page.url has URLs: use --column page.url";
    assert_eq!(message, format!("uriscan: in.jsonl: no line has a member page.u; {advice}"));
}

#[test]
fn the_same_path_selects_fields_of_tables() {
    let place = Place::new(&[("in.jsonl", LINES)]);
    for name in ["t.parquet", "t.arrow", "t.arrows"] {
        let args = ["normalize", "--column", "page.url", "in.jsonl", "-o", name];
        assert_eq!(place.run(&args, "").quiet(), "");
        for more in [&[][..], &["--max-memory", "64M"], &["--sort-by", "surt"]] {
            let args = [&["dedup", "--to", "jsonl", "--column", "page.url", name], more].concat();
            let rows = place.run(&args, "").quiet();
            let ids: Vec<_> = rows.lines().map(|line| line.split(',').next()).collect();
            assert_eq!(ids, [Some("{\"id\":1"), Some("{\"id\":4")], "{name} {more:?}");
        }
        let args = ["key", "--as", "surt", "--to", "jsonl", "--column", "links.1", name];
        let rows = place.run(&args, "").quiet();
        let forms: Vec<_> = rows.lines().map(|line| line.rsplit("\"surt\":").next()).collect();
        assert_eq!(forms, ["\"a)/\"}", "\"a)/\"}", "null}", "null}"].map(Some), "{rows}");
        for (column, what) in [
            ("page", "; its fields are page.url, page.n"),
            ("links", "; links.1 is the first value of each list"),
            ("page.n", "column page.n is Int64; text or bytes expected"),
            (
                "page.x",
                "there is no column page.x; there are: id, page, links, uri_normalized; column page.url has URLs: use --column page.url",
            ),
        ] {
            let message = place.run(&["dedup", "--column", column, name, "-o", "o"], "").refused();
            assert!(message.ends_with(what), "{message}");
        }
    }
}

#[test]
fn a_struct_that_is_null_has_no_uri() {
    let place = Place::new(&[]);
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["http://h", "http://i", "http://h/"]));
    let fields = vec![Field::new("url", DataType::Utf8, true)];
    let pages = StructArray::new(fields.into(), vec![urls], Some(vec![true, false, true].into()));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("page", Arc::new(pages) as ArrayRef, true)]);
    let batch = batch.unwrap();
    let file = File::create(place.path("in.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let args =
        ["dedup", "--column", "page.url", "--no-uri", "keep", "in.parquet", "-o", "out.parquet"];
    assert_eq!(place.run(&args, "").quiet(), "");
    let file = File::open(place.path("out.parquet")).unwrap();
    let mut reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap().build().unwrap();
    let rows = reader.next().unwrap().unwrap();
    assert_eq!(rows.schema(), batch.schema());
    let pages = rows.column(0).as_struct();
    assert_eq!((pages.len(), pages.is_null(1)), (2, true));
    assert_eq!(pages.column(0).as_string::<i32>().value(0), "http://h");
}

#[test]
fn a_member_of_that_very_name_comes_first() {
    let lines = "{\"p.u\":\"http://h\",\"p\":{\"u\":\"http://i\"}}\n{\"p.u\":\"http://h/\",\"p\":{\"u\":\"http://j\"}}\n";
    let place = Place::new(&[("in.jsonl", lines), ("in.csv", "p,p.u\nx,http://h\ny,http://h/\n")]);
    for (name, to) in [("in.jsonl", "jsonl"), ("in.jsonl", "parquet"), ("in.csv", "csv")] {
        let args = ["dedup", "--column", "p.u", name, "--to", to, "-o", "o", "--stats=json"];
        let stats = place.run(&args, "").stderr;
        assert!(stats.contains("\"duplicates\":1"), "{stats}");
    }
}

/// A number is text as in CSV, so `on-invalid` decides about it, and not the first of them about the run.
#[test]
fn values_of_other_types_are_records_by_their_text() {
    let lines = "{\"url\":\"http://h\"}\n{\"url\":7}\n{\"url\":null}\n{\"url\":7.50}\n{\"url\":true}\n{\"url\":7}\n{\"id\":1}\n";
    let place = Place::new(&[("in.jsonl", lines)]);
    let args = ["dedup", "--column", "url", "in.jsonl", "--stats=json"];
    for (to, expected) in [
        ("jsonl", "{\"url\":\"http://h\"}\n{\"url\":7}\n{\"url\":7.50}\n{\"url\":true}\n"),
        ("csv", "url,id\nhttp://h,\n7,\n7.50,\ntrue,\n"),
    ] {
        let ran = place.run(&[&args[..], &["--to", to]].concat(), "");
        assert_eq!(ran.text(), expected);
        let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        let of = |name: &str| stats[name].as_u64().unwrap();
        let counts = (of("records"), of("blank"), of("duplicates"), of("invalid"));
        assert_eq!((ran.code, counts), (0, (5, 2, 1, 4)), "{to}");
        let args = ["dedup", "--column", "url", "in.jsonl", "--to", to, "--on-invalid", "drop"];
        assert_eq!(place.run(&args, "").quiet().lines().count(), 1 + usize::from(to == "csv"));
        let args = ["dedup", "--column", "url", "in.jsonl", "--to", to, "--on-invalid", "error"];
        let ran = place.run(&args, "");
        assert_eq!(ran.code, 2);
        let place_of = if to == "jsonl" { "in.jsonl:2" } else { "in.jsonl: row 2" };
        let what = format!("uriscan: {place_of}: relative");
        assert!(ran.stderr.starts_with(&what), "{}", ran.stderr);
        let nested = lines.replace("{\"url\"", "{\"p\":{\"url\"").replace("}\n", "}}\n");
        let nested = nested.replace("{\"id\":1}}", "{\"id\":1}");
        let args = [
            "dedup",
            "--column",
            "p.url",
            "--from",
            "jsonl",
            "--to",
            to.replace("csv", "arrow").as_str(),
            "-o",
            "out",
            "--stats=json",
        ]
        .map(str::to_owned);
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let stats = place.run(&args, &nested).stderr;
        assert!(stats.contains("\"duplicates\":1"), "{stats}");
    }
    let place = Place::new(&[("in.jsonl", "{\"url\":\"http://h\"}\n{\"url\":{\"x\":1}}\n")]);
    let args = ["dedup", "--column", "url", "in.jsonl"];
    assert_eq!(place.run(&args, "").quiet(), place.read("in.jsonl"));
    let message = place.run(&[&args[..], &["--to", "csv"]].concat(), "").refused();
    assert_eq!(
        message,
        "uriscan: in.jsonl:2: the member url is an object here and a string before; lines that stay JSON lines (jsonl) keep both"
    );
}
