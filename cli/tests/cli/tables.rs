//! Tables: one column of URIs, the others carried along, in every format.

use std::fs::{self, File};
use std::sync::Arc;

use arrow_array::builder::{ListBuilder, StringBuilder};
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, Int64Array, RecordBatch, StringArray, StringViewArray};
use arrow_schema::SchemaRef;
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::file::properties::WriterProperties;

use crate::run::{Place, run};

const FORMATS: [&str; 6] = ["parquet", "arrow", "arrow-stream", "csv", "tsv", "jsonl"];

/// Writes a table of Parquet with few rows in a row group.
pub(crate) fn write(place: &Place, name: &str, columns: Vec<(&str, ArrayRef)>) -> SchemaRef {
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    );
    let batch = batch.unwrap();
    let properties = WriterProperties::builder().set_max_row_group_row_count(Some(7)).build();
    let file = File::create(place.path(name)).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    batch.schema()
}

/// All rows of a table of Parquet.
pub(crate) fn read(place: &Place, name: &str) -> RecordBatch {
    let file = File::open(place.path(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let schema = reader.schema().clone();
    let batches: Vec<RecordBatch> = reader.build().unwrap().map(Result::unwrap).collect();
    arrow_select::concat::concat_batches(&schema, &batches).unwrap()
}

pub(crate) fn texts(batch: &RecordBatch, name: &str) -> Vec<Option<String>> {
    let column = batch.column_by_name(name).unwrap_or_else(|| panic!("{:?}", batch.schema()));
    column.as_string::<i32>().iter().map(|text| text.map(str::to_owned)).collect()
}

const URLS: [Option<&str>; 10] = [
    Some("http://h"),
    Some("HTTP://H/"),
    None,
    Some("http://h/%7Ex"),
    Some("a b"),
    Some(""),
    Some("http://h/~x"),
    Some("a b"),
    Some("/rel"),
    Some(" http://h/y\t"),
];

fn table(place: &Place, name: &str) -> SchemaRef {
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..URLS.len() as i64));
    let mut tags = ListBuilder::new(StringBuilder::new());
    for i in 0..URLS.len() {
        tags.append_value((0..i % 3).map(|tag| Some(tag.to_string())));
    }
    let urls: ArrayRef = Arc::new(StringArray::from(URLS.to_vec()));
    write(place, name, vec![("id", ids), ("url", urls), ("tags", Arc::new(tags.finish()))])
}

#[test]
fn dedup_keeps_whole_rows_and_their_types() {
    let place = Place::new(&[]);
    let schema = table(&place, "in.parquet");
    for threads in ["1", "3"] {
        let args = ["dedup", "-j", threads, "--column", "url", "in.parquet", "-o", "out.parquet"];
        assert_eq!(place.run(&args, "").quiet(), "");
        let rows = read(&place, "out.parquet");
        assert_eq!(rows.schema().fields(), schema.fields());
        let ids = rows.column(0).as_primitive::<arrow_array::types::Int64Type>();
        assert_eq!(ids.values(), &[0, 3, 4, 8, 9]);
        assert_eq!(rows.column(2).as_list::<i32>().value_length(2), 1);
    }
    let ran =
        place.run(&["dedup", "--column", "2", "in.parquet", "-o", "o.parquet", "--stats=json"], "");
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    let of = |name: &str| stats[name].as_u64().unwrap();
    assert_eq!((of("records"), of("written"), of("duplicates"), of("blank")), (8, 5, 3, 2));
    assert_eq!((of("invalid"), &stats["invalid_by_kind"]["space"]), (3, &serde_json::json!(2)));
}

#[test]
fn commands_add_columns_with_plain_names() {
    let place = Place::new(&[]);
    table(&place, "in.parquet");
    let made = |args: &[&str]| {
        let ran = place
            .run(&[args, &["--column", "url", "in.parquet", "-o", "out.parquet"]].concat(), "");
        assert!(ran.code < 2 && ran.reported().is_empty(), "{}", ran.stderr);
        let rows = read(&place, "out.parquet");
        assert_eq!(texts(&rows, "url"), URLS.map(|url| url.map(str::to_owned)), "{args:?}");
        rows
    };
    let some = |texts: [&str; 3]| texts.map(|text| Some(text.to_owned()));
    let forms = texts(&made(&["normalize"]), "uri_normalized");
    assert_eq!(forms[..2], some(["http://h/", "http://h/", ""])[..2]);
    assert_eq!((&forms[2], &forms[3..6]), (&None, &some(["http://h/~x", "a b", ""])[..]));
    assert_eq!(texts(&made(&["key", "--as", "surt"]), "surt")[9].as_deref(), Some("h)/y"));
    let parts = made(&["parse"]);
    assert_eq!(texts(&parts, "uri_scheme")[1].as_deref(), Some("HTTP"));
    assert_eq!(
        (&texts(&parts, "uri_path")[8], &texts(&parts, "uri_path")[4]),
        (&Some("/rel".to_owned()), &None)
    );
    let faults = made(&["check"]);
    assert_eq!(texts(&faults, "uri_error")[4].as_deref(), Some("space"));
    assert_eq!(faults.column_by_name("uri_error_at").unwrap().null_count(), 8);
    let found = made(&["audit", "--severity", "note"]);
    let found = found.column_by_name("uri_findings").unwrap().as_list::<i32>();
    assert_eq!((found.value_length(0), found.value_length(4), found.is_null(2)), (0, 1, true));
    let links = made(&["extract"]);
    let links = links.column_by_name("uri_links").unwrap().as_list::<i32>().value(9);
    assert_eq!(links.as_string::<i32>(), &StringArray::from(vec!["http://h/y"]));
}

#[test]
fn keys_are_those_of_lines() {
    let place = Place::new(&[("in.csv", "url\nhttp://h\nhttp://h/x\nno URI\n")]);
    let table = place.run(&["key", "--column", "url", "in.csv"], "").quiet();
    let lines = place.run(&["key"], "http://h\nhttp://h/x\nno URI\n").quiet();
    let keys: Vec<&str> =
        table.lines().skip(1).map(|row| row.rsplit_once(',').unwrap().1).collect();
    assert_eq!(keys, lines.lines().collect::<Vec<_>>());
}

#[test]
fn a_table_goes_through_every_format_and_comes_back() {
    let urls: Vec<String> = (0..5_000)
        .map(|i| match i % 4 {
            0 => format!("HTTP://h{}:80/a,\"b\"", i / 3),
            1 => format!("http://h/{}\\n\tx", i % 700),
            2 => format!("http://h/%7e{}", i % 900),
            _ => format!("no URI {}", i % 50),
        })
        .collect();
    let place = Place::new(&[]);
    let column: ArrayRef = Arc::new(StringArray::from(urls.clone()));
    let ids: ArrayRef =
        Arc::new(StringArray::from_iter_values((0..urls.len()).map(|i| i.to_string())));
    write(&place, "t.parquet", vec![("n", ids), ("url", column)]);
    let lines: String = urls.iter().map(|url| format!("{url}\n")).collect();
    let expected = place.run(&["dedup", "-q"], &lines).quiet();
    for one in FORMATS.iter().filter(|format| **format != "jsonl") {
        for other in FORMATS.iter() {
            let run = |from: &str, input: &str, to: &str, output: &str| {
                let formats = ["--from", from, "--to", to, "--quote", "\""];
                let args =
                    [&["dedup", "-q", "--column", "url"][..], &formats, &[input, "-o", output]];
                place.run(&args.concat(), "").quiet();
            };
            run("parquet", "t.parquet", one, "one");
            run(one, "one", other, "other");
            if *other == "jsonl" {
                run("jsonl", "other", "jsonl", "last");
                let text = place.read("last");
                let url = |line: &str| {
                    let row: serde_json::Value = serde_json::from_str(line).unwrap();
                    row["url"].as_str().unwrap().to_owned() + "\n"
                };
                assert_eq!(text.lines().map(url).collect::<String>(), expected, "{one} {other}");
                continue;
            }
            run(other, "other", "parquet", "last");
            let found = texts(&read(&place, "last"), "url");
            let found: String = found.into_iter().flatten().map(|url| url + "\n").collect();
            assert_eq!(found, expected, "{one} {other}");
        }
    }
}

#[test]
fn views_and_several_files_are_one_table() {
    let place = Place::new(&[]);
    let column = |urls: &[&str]| -> Vec<(&'static str, ArrayRef)> {
        vec![("url", Arc::new(StringViewArray::from_iter_values(urls)))]
    };
    write(&place, "a.parquet", column(&["http://h", "http://a-host-with-a-name.example/"]));
    write(
        &place,
        "b.parquet",
        column(&["http://A-host-with-a-name.example", "http://H/", "http://i"]),
    );
    let args = ["dedup", "--column", "url", "a.parquet", "b.parquet", "--to", "csv"];
    let expected = "url\nhttp://h\nhttp://a-host-with-a-name.example/\nhttp://i\n";
    assert_eq!(place.run(&args, "").quiet(), expected);
    let other: Vec<(&str, ArrayRef)> = vec![("url", Arc::new(Int64Array::from(vec![1])))];
    write(&place, "c.parquet", other);
    let message = place
        .run(&["dedup", "--column", "url", "a.parquet", "c.parquet", "-o", "out.csv"], "")
        .refused();
    assert_eq!(message, "uriscan: c.parquet: column url is Int64; text or bytes expected");
    // Before the first row is written.
    let ran = place.run(
        &["dedup", "--column", "url", "a.parquet", "b.parquet", "c.parquet", "--to", "csv"],
        "",
    );
    assert_eq!((ran.code, ran.text()), (2, ""), "{}", ran.stderr);
    assert!(!place.names().contains(&"out.csv".to_owned()));
}

#[test]
fn lines_of_json_stay_as_they_are() {
    let lines = "{\"u\":\"http://h\",\"n\":1.50}\n\n {\"u\": \"HTTP:\\/\\/h\"}\n{\"n\":2,\"u\":null}\n{ }\n{\"u\":\"http://i\", \"z\":[1, {}]}";
    let place = Place::new(&[("in.jsonl", lines)]);
    assert_eq!(
        place.run(&["dedup", "--column", "u", "in.jsonl"], "").quiet(),
        "{\"u\":\"http://h\",\"n\":1.50}\n{\"u\":\"http://i\", \"z\":[1, {}]}\n"
    );
    assert_eq!(
        place.run(&["normalize", "--column", "u", "--from", "jsonl"], lines).quiet(),
        concat!(
            "{\"u\":\"http://h\",\"n\":1.50,\"uri_normalized\":\"http://h/\"}\n",
            "{\"u\": \"HTTP:\\/\\/h\",\"uri_normalized\":\"http://h/\"}\n",
            "{\"n\":2,\"u\":null,\"uri_normalized\":null}\n",
            "{ \"uri_normalized\":null}\n",
            "{\"u\":\"http://i\", \"z\":[1, {}],\"uri_normalized\":\"http://i/\"}\n",
        )
    );
    for (line, what) in [("[1]", "not a JSON object"), ("{", "not a JSON object")] {
        let message = place
            .run(&["dedup", "--column", "u", "--from", "jsonl"], &format!("{{}}\n{line}\n"))
            .refused();
        assert!(message.starts_with(&format!("uriscan: -:2: {what}")), "{message}");
    }
}

#[test]
fn text_tables_have_headers_quotes_and_nulls() {
    let csv = "\u{FEFF}url,x\n\"http://h/a,b\",1\nHTTP://h/,\n,3\n\"http://h/\"\"q\nz\",4\r\nhttp://h,5\n";
    let place = Place::new(&[("in.csv", csv), ("empty.csv", "url,x\n"), ("nothing.csv", "\n")]);
    assert_eq!(
        place.run(&["dedup", "--column", "url", "in.csv"], "").quiet(),
        "\u{FEFF}url,x\n\"http://h/a,b\",1\nHTTP://h/,\n\"http://h/\"\"q\nz\",4\r\n"
    );
    assert_eq!(place.run(&["dedup", "--column", "url", "empty.csv"], "").quiet(), "url,x\n");
    let tsv = place.run(
        &["normalize", "--column", "1", "--from", "tsv", "--to", "tsv"],
        "a\tb\nhttp://h\t1\n",
    );
    assert_eq!(tsv.quiet(), "a\tb\turi_normalized\nhttp://h\t1\thttp://h/\n");
    for (args, what) in [
        (
            ["dedup", "--column", "nope", "in.csv"],
            "in.csv: there is no column nope; there are: url, x",
        ),
        (["dedup", "--column", "3", "in.csv"], "in.csv: there is no column 3"),
        (["dedup", "--column", "1", "nothing.csv"], "nothing.csv: the header, the row with"),
    ] {
        let message = place.run(&args, "").refused();
        assert!(message.contains(what), "{message}");
    }
}

#[test]
fn compressed_text_is_read_as_what_it_holds() {
    let place = Place::new(&[]);
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    std::io::Write::write_all(&mut packer, b"url\nhttp://h\nhttp://h/\n").unwrap();
    fs::write(place.path("in.csv.gz"), packer.finish().unwrap()).unwrap();
    assert_eq!(
        place.run(&["dedup", "--column", "url", "in.csv.gz"], "").quiet(),
        "url\nhttp://h\n"
    );
    let message =
        place.run(&["dedup", "--column", "url", "in.csv.gz", "-o", "out.csv.gz"], "").refused();
    assert!(message.contains("not written compressed"), "{message}");
}

#[test]
fn what_is_invalid_is_passed_on_left_out_or_reported() {
    let place = Place::new(&[("in.csv", "url\nhttp://h\na b\nhttp://h/\na b\n")]);
    let run = |command: &str, policy: &str| {
        place.run(&[command, "--column", "url", "--on-invalid", policy, "in.csv"], "")
    };
    assert_eq!(run("dedup", "pass").quiet(), "url\nhttp://h\na b\n");
    assert_eq!(run("dedup", "drop").quiet(), "url\nhttp://h\n");
    assert_eq!(
        run("normalize", "drop").quiet(),
        "url,uri_normalized\nhttp://h,http://h/\nhttp://h/,http://h/\n"
    );
    let message = place
        .run(&["dedup", "--column", "url", "--on-invalid", "error", "in.csv", "-o", "out.csv"], "")
        .refused();
    assert!(message.starts_with("uriscan: in.csv:3: space at column 2"), "{message}");
    assert_eq!(place.names(), ["in.csv"]);
    let ran = place.run(&["check", "--column", "url", "in.csv"], "");
    assert_eq!(
        (ran.code, ran.text()),
        (1, "url,uri_error,uri_error_at\nhttp://h,,\na b,space,1\nhttp://h/,,\na b,space,1\n")
    );
}

#[test]
fn what_tables_cannot_do_is_refused() {
    let place = Place::new(&[
        ("in.csv", "url\nhttp://h\n"),
        ("in.txt", "http://h\n"),
        ("in.jsonl", "{\"url\":\"a:\"}\n"),
    ]);
    table(&place, "in.parquet");
    for (args, what) in [
        (&["dedup", "-0", "--column", "url", "in.csv"][..], "work with lines"),
        (&["parse", "-g", "{host}", "--column", "url", "in.csv"], "work with lines"),
        (&["audit", "--fail-on", "error", "--column", "url", "in.jsonl"], "have no exit code"),
        (&["extract", "-n", "--column", "url", "in.jsonl"], "work with files of text"),
        (&["extract", "--hidden", "--column", "url", "in.jsonl"], "work with files of text"),
        (
            &["dedup", "--column", "url", "in.txt", "--to", "csv"],
            "in.txt: neither its name nor its first bytes",
        ),
        (
            &["dedup", "--column", "url", "in.txt"],
            "the format of the table is unknown; name it with --from, and with --to if the output has another",
        ),
        (
            &["dedup", "--column", "id", "in.parquet"],
            "in.parquet: column id is Int64; text or bytes expected",
        ),
    ] {
        let ran = place.run(args, "");
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(what), "{args:?}: {}", ran.stderr);
    }
    let message = place.run(&["dedup", "--column", "url", "--from", "parquet"], "PAR1").refused();
    assert!(message.contains("can be read from files only"), "{message}");
    fs::write(place.path("cut.parquet"), &fs::read(place.path("in.parquet")).unwrap()[..200])
        .unwrap();
    let message = place.run(&["dedup", "--column", "url", "cut.parquet"], "").refused();
    assert!(message.starts_with("uriscan: cut.parquet: "), "{message}");
    let again = ["normalize", "--column", "url", "in.parquet", "-o", "n.parquet"];
    place.run(&again, "").quiet();
    let message =
        place.run(&["normalize", "--column", "url", "n.parquet", "-o", "m.parquet"], "").refused();
    assert!(message.contains("a column uri_normalized already exists"), "{message}");
}

#[test]
fn rows_are_sorted_by_the_forms_of_their_uris() {
    let urls: Vec<Option<String>> = (0..3_000u32)
        .map(|i| (i % 50 != 7).then(|| format!("http://h{}.example/{}", i * 7919 % 400, i % 3)))
        .collect();
    let column: ArrayRef = Arc::new(StringArray::from(urls.clone()));
    let ids: ArrayRef = Arc::new(Int64Array::from_iter_values(0..urls.len() as i64));
    let place = Place::new(&[]);
    write(&place, "in.parquet", vec![("id", ids), ("url", column)]);
    let args = [
        "key",
        "--as",
        "surt",
        "--column",
        "url",
        "--sort-by",
        "surt",
        "in.parquet",
        "-o",
        "out.parquet",
    ];
    place.run(&args, "").quiet();
    let rows = read(&place, "out.parquet");
    let ids = rows.column(0).as_primitive::<arrow_array::types::Int64Type>();
    let found: Vec<(Option<String>, i64)> =
        texts(&rows, "surt").into_iter().zip(ids.values().iter().copied()).collect();
    let mut expected = found.clone();
    expected.sort_by(|(a, i), (b, j)| (a.is_none(), a, i).cmp(&(b.is_none(), b, j)));
    assert!(found == expected, "not in order");
    let mut ids: Vec<i64> = ids.values().to_vec();
    ids.sort_unstable();
    assert_eq!(ids, (0..3_000).collect::<Vec<_>>());
    let firsts =
        ["dedup", "--column", "url", "--sort-by", "ssurt", "in.parquet", "-o", "firsts.parquet"];
    place.run(&firsts, "").quiet();
    assert_eq!(read(&place, "firsts.parquet").num_rows(), 1_176);
    assert_eq!(place.names(), ["firsts.parquet", "in.parquet", "out.parquet"]);
}

#[test]
fn a_column_without_uris_gets_a_hint_to_one_with_urls() {
    let rows = "1,a b,http://h/1\n2,c d,http://h/2\n3,e,http://h/3\n4,f,x y\n";
    let json = "{\"id\":1,\"name\":\"a b\",\"page\":\"http://h/\"}\n".repeat(3);
    let place = Place::new(&[("in.csv", &format!("id,name,page\n{rows}")), ("in.jsonl", &json)]);
    for name in ["in.csv", "in.jsonl"] {
        for command in ["dedup", "normalize", "key"] {
            let ran = place.run(&[command, "--column", "name", name], "");
            let hint = format!(
                "uriscan: most values of column name of {name} are not URIs; column page has URLs. Try --column page\n"
            );
            assert_eq!((ran.code, &*ran.stderr), (0, &*hint), "{command}");
        }
        place.run(&["dedup", "--column", "page", name], "").quiet();
        place.run(&["dedup", "-q", "--column", "name", name], "").quiet();
    }
    let ran = place.run(&["dedup", "--stats=json", "--column", "name", "in.csv"], "");
    assert_eq!(ran.stderr.lines().count(), 1, "{}", ran.stderr);
    // No other column has URLs.
    let place = Place::new(&[("in.csv", "name,page\na b,x\nc d,y\n")]);
    let ran = place.run(&["dedup", "--column", "name", "in.csv"], "");
    assert_eq!(ran.stderr, "uriscan: 2 of 2 values of column name are not URIs (space: 2)\n");
    // Hosts alone.
    let hosts = "url,n\na.example/x,1\nb.example,2\n";
    for command in ["dedup", "normalize"] {
        let ran = run([command, "--column", "url", "--from", "csv"], hosts);
        let how = format!("uriscan {command} --suffix-scheme https --column url --from csv");
        let hint = format!(
            "(relative: 2). For hosts without a scheme, try `{how}`; for paths, --base URL\n"
        );
        assert!(ran.stderr.ends_with(&hint), "{}", ran.stderr);
    }
}
