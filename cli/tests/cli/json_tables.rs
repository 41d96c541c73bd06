//! JSON lines as tables of other formats.

use std::fs::File;

use arrow_schema::{DataType, Field};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::run::Place;

const LINES: &str = concat!(
    "{\"url\":\"http://h\",\"n\":1,\"f\":1,\"ok\":null,\"big\":1}\n",
    "\n",
    " {\"n\":-2,\"url\":\"HTTP://h:80\",\"f\":1.5,\"ok\":true,\"tags\":[],\"big\":18446744073709551615}\r\n",
    "{\"url\":\"http://i\",\"at\":{\"day\":\"x\",\"hours\":[1,2]},\"tags\":[\"a\",null],\"none\":null}\n",
    "{}",
);

#[test]
fn members_become_columns_of_their_types() {
    let place = Place::new(&[("in.jsonl", LINES)]);
    let read = |args: &[&str], input: &str| {
        let more = ["normalize", "--column", "url", "-o", "out.parquet"];
        assert_eq!(place.run(&[&more[..], args].concat(), input).quiet(), "");
        let file = File::open(place.path("out.parquet")).unwrap();
        ParquetRecordBatchReaderBuilder::try_new(file).unwrap()
    };
    let list = |item| DataType::List(Field::new_list_field(item, true).into());
    let at = vec![
        Field::new("day", DataType::Utf8, true),
        Field::new("hours", list(DataType::Int64), true),
    ];
    let expected = [
        ("url", DataType::Utf8),
        ("n", DataType::Int64),
        ("f", DataType::Float64),
        ("ok", DataType::Boolean),
        ("big", DataType::UInt64),
        ("tags", list(DataType::Utf8)),
        ("at", DataType::Struct(at.into())),
        ("none", DataType::Utf8),
        ("uri_normalized", DataType::Utf8),
    ];
    for (args, input) in [(&["in.jsonl"][..], ""), (&["--from", "jsonl"], LINES)] {
        let reader = read(args, input);
        let fields = reader.schema().fields().iter();
        let found: Vec<_> = fields.map(|field| (field.name().clone(), field.data_type())).collect();
        let expected = expected.each_ref().map(|(name, kind)| (name.to_string(), kind));
        assert_eq!(found, expected);
        assert_eq!(
            reader.build().unwrap().map(|batch| batch.unwrap().num_rows()).sum::<usize>(),
            4
        );
    }
    assert_eq!(
        place.run(&["dedup", "--column", "url", "out.parquet", "--to", "jsonl"], "").quiet(),
        concat!(
            "{\"url\":\"http://h\",\"n\":1,\"f\":1.0,\"ok\":null,\"big\":1,\"tags\":null,\"at\":null,\"none\":null,\"uri_normalized\":\"http://h/\"}\n",
            "{\"url\":\"http://i\",\"n\":null,\"f\":null,\"ok\":null,\"big\":null,\"tags\":[\"a\",null],\"at\":{\"day\":\"x\",\"hours\":[1,2]},\"none\":null,\"uri_normalized\":\"http://i/\"}\n",
        )
    );
    let flat = "{\"url\":\"http://h\",\"n\":1}\n{\"url\":\"http://h/\"}\n{\"url\":\"http://i\",\"f\":1.5e30}\n";
    let csv = ["dedup", "--column", "url", "--from", "jsonl", "--to", "csv"];
    assert_eq!(place.run(&csv, flat).quiet(), "url,n,f\nhttp://h,1,\nhttp://i,,1.5e30\n");
}

#[test]
fn several_files_share_their_members() {
    let place = Place::new(&[
        ("a.jsonl", "{\"url\":\"http://h\"}\n"),
        ("b.jsonl", "{\"url\":\"http://i\",\"x\":1}\n"),
        ("c.jsonl", "{\"x\":0.5,\"y\":2}\n"),
    ]);
    let args = ["normalize", "--column", "url", "--to", "csv", "a.jsonl", "b.jsonl", "c.jsonl"];
    assert_eq!(
        place.run(&args, "").quiet(),
        "url,x,y,uri_normalized\nhttp://h,,,http://h/\nhttp://i,1.0,,http://i/\n,0.5,2,\n"
    );
    // What comes from a pipe is held against what the files tell.
    let args = ["dedup", "--column", "url", "--to", "csv", "--from", "jsonl", "a.jsonl", "-"];
    assert_eq!(place.run(&args, "{\"url\":\"http://j\"}").quiet(), "url\nhttp://h\nhttp://j\n");
    let args = [&args[..], &["-o", "out.csv"]].concat();
    let message = place.run(&args, "{}\n{\"z\":1}").refused();
    assert_eq!(message, "uriscan: -:2: the member z is not in the lines that define the columns");
}

#[test]
fn what_has_no_place_in_a_column_is_an_error() {
    for (line, what) in [
        ("{\"n\":\"1\"}", "the member n is a string here and a number before"),
        ("{\"s\":[\"x\"]}", "the member s is an array here and a string before"),
        ("{\"o\":{\"l\":[1,true]}}", "the member o.l is true or false here and a number before"),
        ("{\"o\":{\"l\":[[1]]}}", "the member o.l is an array here and a number before"),
        ("{\"o\":1}", "the member o is a number here and an object before"),
        (
            "{\"n\":9007199254740993}\n{\"n\":0.5}",
            "the member n has fractions and integers beyond 2^53",
        ),
        (
            "{\"n\":9223372036854775808}\n{\"n\":-1}",
            "the member n has negative numbers and numbers beyond 2^63",
        ),
        ("{\"s\":\"x\",\"s\":\"y\"}", "the member s occurs twice"),
        (
            "{\"s\":\"1\",\"n\":-9223372036854775809}",
            "the member n is an integer that does not fit 64 bits",
        ),
        (
            "{\"n\":0.12345678901234567890123}",
            "the member n has more digits than a 64-bit float holds; jsonl keeps them",
        ),
        ("{\"o\":{\"l\":[99999999999999.999]}}", "the member o.l has more digits"),
        ("{\"n\":1e-400}", "the member n has more digits"),
        ("{\"n\":1e999}", "not a JSON object: number out of range"),
        ("[1]", "not a JSON object"),
        ("{\"n\":1} {\"n\":2}", "not a JSON object"),
        ("{\"s\":\"\\ud800\"}", "not a JSON object"),
    ] {
        let first = "{\"url\":\"http://h\",\"n\":1,\"s\":\"x\",\"o\":{\"l\":[1]}}\n";
        let place = Place::new(&[("in.jsonl", &format!("{first}{line}\n"))]);
        let number = 1 + line.lines().count();
        let args = ["dedup", "--column", "url", "in.jsonl", "-o", "out.parquet"];
        let message = place.run(&args, "").refused();
        assert!(message.starts_with(&format!("uriscan: in.jsonl:{number}: {what}")), "{message}");
        assert_eq!(place.names(), ["in.jsonl"]);
    }
    let place = Place::new(&[("in.jsonl", "{\"url\":\"http://h\",\"o\":{}}\n")]);
    let message = place.run(&["dedup", "--column", "u", "in.jsonl", "-o", "o.arrow"], "").refused();
    assert_eq!(message, "uriscan: in.jsonl: there is no column u; there are: url, o");
    let message =
        place.run(&["dedup", "--column", "url", "in.jsonl", "-o", "o.parquet"], "").refused();
    assert!(
        message.contains("parquet cannot hold column o, an object without members"),
        "{message}"
    );
}

#[test]
fn late_members_are_found_in_files_and_refused_from_pipes() {
    let mut text: String = (0..40_000)
        .map(|i| format!("{{\"url\":\"http://h/{i}\",\"n\":{i},\"none\":null,\"l\":[]}}\n"))
        .collect();
    assert!(text.len() > 2 << 20);
    for (line, what) in [
        ("{\"late\":1}", "the member late is not in the lines that define the columns"),
        ("{\"none\":1}", "the member none is a number here, and null in the lines"),
        ("{\"l\":[{\"x\":1}]}", "the member l is an object here, and null in the lines"),
        ("{\"n\":0.5}", "the member n does not fit its column, which is of Int64"),
        ("{\"none\":\"text\",\"l\":[\"text\"]}", ""),
    ] {
        let len = text.len();
        text.push_str(line);
        let place = Place::new(&[("in.jsonl", &text)]);
        let args = ["dedup", "--column", "url", "--from", "jsonl", "-o", "out.arrow"];
        assert_eq!(place.run(&[&args[..], &["in.jsonl"]].concat(), "").quiet(), "");
        let ran = place.run(&args, &text);
        if what.is_empty() {
            assert_eq!(ran.quiet(), "");
        } else {
            let message = ran.refused();
            assert!(message.starts_with(&format!("uriscan: -:40001: {what}")), "{message}");
        }
        text.truncate(len);
    }
}

#[test]
fn what_is_not_text_is_an_invalid_record_of_some_kind() {
    let invalid = "{\"page\":{\"url\":\"HTTP://h\"}}\n{\"page\":[\"http://h\"]}\n{\"page\":7}\n{\"page\":{}}\n";
    let valid = "{\"page\":\"http://h/\"}\n";
    let place = Place::new(&[("in.jsonl", &format!("{invalid}{valid}"))]);
    let column = ["--column", "page", "in.jsonl"];
    for repair in [None, Some("--repair")] {
        let args = ["dedup", "--stats=json", "--rejects", "rejects", "-o", "out"];
        let ran = place.run(&[&args[..], repair.as_slice(), &column].concat(), "");
        let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!((ran.code, &stats["invalid"]), (0, &4.into()), "{stats}");
        assert_eq!(
            (place.read("out"), place.read("rejects")),
            (valid.to_owned(), invalid.to_owned())
        );
        if repair.is_none() {
            let kinds = serde_json::json!({"bracket": 1, "byte": 2, "relative": 1});
            let found = stats["invalid_by_kind"].as_object().unwrap().iter();
            let found =
                found.filter(|(_, count)| **count != 0).map(|(k, v)| (k.clone(), v.clone()));
            assert_eq!(serde_json::Value::Object(found.collect()), kinds);
        }
    }
    let rows = place.run(&[&["check"][..], &column].concat(), "").text().to_owned();
    assert!(rows.starts_with("{\"page\":{\"url\":\"HTTP://h\"},\"uri_error\":\"byte\""), "{rows}");
}

#[test]
fn lines_without_text_are_reported_with_their_place() {
    let bad = b"{\"url\":\"http://h\"}\n\n {\"url\":\"http://h/\xFF\"}\n";
    let twice = b"{\"url\":\"http://h\",\"url\":\"http://i\"}\n";
    for (text, what) in [
        (&bad[..], "in.jsonl:3: invalid UTF-8 at column 19"),
        (b"{\"url\":\n", "in.jsonl:1: not a JSON object: EOF while parsing a value at column 7"),
        (twice, "in.jsonl:1: the member url occurs twice"),
    ] {
        let place = Place::new(&[]);
        std::fs::write(place.path("in.jsonl"), text).unwrap();
        for to in ["csv", "parquet"] {
            let args = ["dedup", "--column", "url", "in.jsonl", "--to", to, "-o", "out"];
            let message = place.run(&args, "").refused();
            assert!(message.starts_with(&format!("uriscan: {what}")), "{message}");
        }
    }
}

#[test]
fn a_line_has_64_mib_and_no_more() {
    let line = |bytes: usize| format!("{{\"url\":\"{}\"}}", "x".repeat(bytes - 10));
    let place = Place::new(&[("in.jsonl", &format!("{{}}\n{}\n{{}}", line(64 << 20)))]);
    let args = ["dedup", "--column", "url", "in.jsonl", "--stats=json"];
    assert!(place.run(&args, "").stderr.contains("\"records\":1"));
    std::fs::write(place.path("in.jsonl"), format!("{{}}\n{}\n{{}}", line((64 << 20) + 1)))
        .unwrap();
    for to in ["jsonl", "parquet"] {
        let args = ["dedup", "--column", "url", "in.jsonl", "--to", to, "-o", "out"];
        let message = place.run(&args, "").refused();
        assert_eq!(message, "uriscan: in.jsonl:2: the line has more than 64 MiB");
    }
}

#[test]
fn objects_where_urls_are_expected_name_the_path_to_them() {
    let place = Place::new(&[("in.jsonl", "{\"page\":{\"id\":1,\"url\":\"http://h/\"}}\n")]);
    let ran = place.run(&["dedup", "--column", "page", "in.jsonl"], "");
    let advice = "most values of column page of in.jsonl are not URIs; column page.url has URLs. Try --column page.url\n";
    assert!(ran.code == 0 && ran.stderr.ends_with(advice), "{}", ran.stderr);
}

#[test]
fn a_missing_column_names_the_path_to_urls_within_others() {
    let lines = "{\"id\":1,\"page\":{\"title\":\"a\",\"url\":\"http://h/\"}}\n";
    let place =
        Place::new(&[("in.jsonl", lines), ("plain.jsonl", "{\"id\":1,\"page\":{\"n\":2}}\n")]);
    let copy = ["dedup", "--column", "page.url", "in.jsonl", "-o"];
    for name in ["in.parquet", "in.arrow"] {
        place.run(&[&copy[..], &[name]].concat(), "").quiet();
    }
    for name in ["in.jsonl", "in.parquet", "in.arrow"] {
        for to in ["jsonl", "parquet"] {
            let args = ["dedup", "--column", "url", name, "--to", to, "-o", "out"];
            let message = place.run(&args, "").refused();
            let advice = "; column page.url has URLs: use --column page.url";
            assert!(message.ends_with(advice), "{name} {to}: {message}");
            assert!(message.starts_with(&format!("uriscan: {name}: ")), "{message}");
        }
    }
    let message = place.run(&["dedup", "--column", "url", "plain.jsonl"], "").refused();
    assert_eq!(
        message,
        "uriscan: plain.jsonl: no line has a member url; the first line has: id, page"
    );
}
