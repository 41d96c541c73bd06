//! Dropped records and classes as tables: what their lines say, in columns.

use std::collections::HashMap;
use std::fs;

use arrow_array::Array;
use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_schema::DataType;
use serde_json::{Value, json};

use crate::run::Place;
use crate::tables;

/// URIs of some classes, in several spellings; some are invalid, some not UTF-8, some need quotes.
fn urls() -> Vec<Vec<u8>> {
    let spelled = |i: u32| {
        let host = i * 7_919 % 97;
        match i % 7 {
            0 => format!("HTTPS://H{host}"),
            1 => format!("https://h{host}:443/"),
            2 => format!("http://h{host}/%7E"),
            3 => format!("http://h{host}:80/~"),
            4 => format!("http://h{host}/a,b;'c'"),
            _ => format!("no \"URI\", {}", host % 50),
        }
    };
    let mut urls: Vec<Vec<u8>> = (0..2_000).map(|i| spelled(i).into_bytes()).collect();
    let bytes = [&b"http://h/\xFF"[..], b"\xC3"].into_iter().cycle().take(9);
    urls.extend(bytes.map(<[u8]>::to_vec));
    urls
}

/// Two lists, and a table of the first one.
fn place() -> Place {
    let place = Place::new(&[]);
    let lines = |urls: &[Vec<u8>]| [urls.join(&b'\n'), b"\n".to_vec()].concat();
    let urls = urls();
    fs::write(place.path("a"), lines(&urls)).unwrap();
    fs::write(place.path("b"), lines(&urls[100..120])).unwrap();
    let is_text = |url: &&Vec<u8>| std::str::from_utf8(url).is_ok();
    let rows = urls.iter().filter(is_text).map(|url| {
        let url = String::from_utf8(url.clone()).unwrap().replace('"', "\"\"");
        format!("\"{url}\"\n")
    });
    fs::write(place.path("in.csv"), format!("url\n{}", rows.collect::<String>())).unwrap();
    place
}

const INPUTS: [&[&str]; 2] = [&["a", "b"], &["--column", "url", "in.csv", "-o", "rest"]];

const OPTIONS: [&[&str]; 5] = [
    &[],
    &["-d", "--keep", "shortest"],
    &["-u", "--on-invalid", "drop"],
    &["--max-memory", "64M", "--keep", "last", "--temp-dir", "."],
    &["--preset", "crawl", "--level", "syntax"],
];

fn dedup(place: &Place, input: &[&str], options: &[&str], side: [&str; 2]) {
    let args = [&["dedup"], input, options, &side].concat();
    let ran = place.run(&args, "");
    assert_eq!((ran.code, ran.reported().as_str()), (0, ""), "{args:?}");
}

/// The rows of the table called `name`, as the program reads them.
fn rows(place: &Place, name: &str) -> Vec<Value> {
    let args = ["normalize", "--column", "uri", name, "--to", "jsonl", "--no-uri", "keep"];
    let from = if name.ends_with("sv") { &["-o", "back.jsonl"][..] } else { &[] };
    let ran = place.run(&[&args, from].concat(), "");
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    let text = if from.is_empty() { ran.text().to_owned() } else { place.read("back.jsonl") };
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The bytes of `name` in `row`, which may be in hexadecimal.
fn bytes(row: &Value, name: &str, hex: &str) -> Vec<u8> {
    let digits = |text: &str| {
        let byte = |at| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
        (0..text.len()).step_by(2).map(byte).collect()
    };
    match (&row[name], &row[hex]) {
        (Value::String(text), Value::Null) => text.clone().into_bytes(),
        (Value::Null, Value::String(text)) => digits(text),
        (Value::Null, Value::Null) => Vec::new(),
        other => panic!("{other:?}"),
    }
}

/// The keys of `records`, as `uriscan key` computes them.
fn keys(place: &Place, records: &[Vec<u8>], options: &[&str]) -> Vec<String> {
    let of_key = options.iter().position(|option| *option == "--preset");
    let options = of_key.map_or(&[][..], |at| &options[at..at + 4]);
    let mut input = records.join(&b'\n');
    input.push(b'\n');
    let ran = crate::run::finish(place.command(&[&["key"], options].concat()), input);
    ran.text().lines().map(str::to_owned).collect()
}

#[test]
fn tables_of_duplicates_have_what_the_lines_say() {
    let place = place();
    for (input, options) in INPUTS.into_iter().flat_map(|input| OPTIONS.map(|it| (input, it))) {
        dedup(&place, input, options, ["--dupes", "dupes"]);
        let lines = fs::read(place.path("dupes")).unwrap();
        let lines: Vec<Vec<Vec<u8>>> = lines
            .strip_suffix(b"\n")
            .unwrap()
            .split(|&byte| byte == b'\n')
            .map(|line| line.split(|&byte| byte == b'\t').map(<[u8]>::to_vec).collect())
            .collect();
        let records: Vec<Vec<u8>> = lines.iter().map(|line| line[0].clone()).collect();
        let keys = keys(&place, &records, options);
        let mut first = None;
        for end in ["parquet", "arrow", "arrows", "csv", "jsonl"] {
            let name = format!("dupes.{end}");
            dedup(&place, input, options, ["--dupes", &name]);
            let rows = rows(&place, &name);
            let label = format!("{input:?} {options:?} {end}");
            let found: Vec<Vec<Vec<u8>>> = rows
                .iter()
                .map(|row| {
                    let level = row["level"].as_str().unwrap().as_bytes().to_vec();
                    let survivor = bytes(row, "kept", "kept_hex");
                    vec![bytes(row, "uri", "hex"), survivor, level]
                })
                .collect();
            assert!(found == lines, "{label}");
            let found: Vec<&str> =
                rows.iter().map(|row| row["uri_key"].as_str().unwrap()).collect();
            assert!(found == keys, "{label}");
            let lines: Vec<(String, String)> = rows
                .iter()
                .map(|row| {
                    let number = row["line"].to_string().replace('"', "");
                    (row["source"].as_str().unwrap().to_owned(), number)
                })
                .collect();
            assert_eq!(first.get_or_insert(lines.clone()), &lines, "{label}");
        }
    }
}

#[test]
fn places_are_those_of_the_records() {
    let place = place();
    dedup(&place, INPUTS[0], &[], ["--dupes", "dupes.jsonl"]);
    let lists: HashMap<&str, Vec<Vec<u8>>> = ["a", "b"]
        .into_iter()
        .map(|name| {
            let list = fs::read(place.path(name)).unwrap();
            (name, list.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect())
        })
        .collect();
    let text = place.read("dupes.jsonl");
    assert!(text.lines().count() > 1_000);
    for row in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        let list = &lists[row["source"].as_str().unwrap()];
        let record = &list[row["line"].as_u64().unwrap() as usize - 1];
        assert_eq!(*record, bytes(&row, "uri", "hex"));
    }
}

/// The rows that the objects of JSON lines represent.
fn unnested(text: &str) -> Vec<Value> {
    let mut rows = Vec::new();
    for cluster in text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()) {
        for member in cluster["members"].as_array().unwrap() {
            let mut row = member.clone();
            for name in ["kept", "kept_hex", "count"] {
                row[name] = cluster[name].clone();
            }
            row["hex"] = member["hex"].clone();
            row["bytes"] = member["bytes"].clone();
            rows.push(row);
        }
    }
    rows
}

#[test]
fn tables_of_classes_have_a_row_for_each_member() {
    let place = place();
    for (input, options) in INPUTS.into_iter().flat_map(|input| OPTIONS.map(|it| (input, it))) {
        dedup(&place, input, options, ["--clusters", "clusters.jsonl"]);
        let mut expected = unnested(&place.read("clusters.jsonl"));
        let records: Vec<Vec<u8>> = expected.iter().map(|row| bytes(row, "uri", "hex")).collect();
        let keys = keys(&place, &records, options);
        expected.iter_mut().zip(keys).for_each(|(row, key)| row["uri_key"] = json!(key));
        for end in ["parquet", "arrow", "csv", "tsv"] {
            let name = format!("clusters.{end}");
            dedup(&place, input, options, ["--clusters", &name]);
            let mut found = rows(&place, &name);
            for row in &mut found {
                let row = row.as_object_mut().unwrap();
                row.retain(|name, _| name != "uri_normalized");
                if end.ends_with("sv") {
                    for name in ["line", "count"] {
                        row[name] = row[name].as_str().unwrap().parse().unwrap();
                    }
                    let rules = row["rules"].as_str().unwrap_or_default();
                    row["rules"] = rules.split_whitespace().collect();
                }
            }
            assert!(found == expected, "{input:?} {options:?} {end}: {} {}", found[0], expected[0]);
        }
    }
}

#[test]
fn columns_have_types_and_keys_have_a_meaning() {
    let place = place();
    dedup(&place, INPUTS[0], &["--hash", "sha256"], ["--dupes", "d.parquet"]);
    dedup(&place, INPUTS[0], &["--hash", "sha256"], ["--clusters", "c.parquet"]);
    for (name, columns) in [
        ("d.parquet", "source line uri hex kept kept_hex level uri_key"),
        ("c.parquet", "source line uri hex bytes kept kept_hex count level rules uri_key"),
    ] {
        let table = tables::read(&place, name);
        let schema = table.schema();
        let names: Vec<&str> = schema.fields().iter().map(|field| &**field.name()).collect();
        assert_eq!(names.join(" "), columns);
        let key = schema.field_with_name("uri_key").unwrap();
        assert_eq!(key.data_type(), &DataType::FixedSizeBinary(16));
        assert!(key.metadata()["uriscan.key"].contains("sha256"), "{:?}", key.metadata());
        assert!(schema.metadata()["uriscan.uri_key"].contains("sha256"));
        let lines = table.column_by_name("line").unwrap().as_primitive::<Int64Type>();
        assert!(lines.null_count() == 0 && lines.value(0) > 0);
    }
    let table = tables::read(&place, "c.parquet");
    assert!(matches!(table.column_by_name("rules").unwrap().data_type(), DataType::List(_)));
    assert_eq!(table.num_rows(), 2_009 + 20);
}

#[test]
fn what_was_seen_has_no_survivor() {
    let place = place();
    place.run(&["set", "create", "s.set", "b"], "").quiet();
    dedup(&place, INPUTS[0], &["--seen", "s.set"], ["--dupes", "d.csv"]);
    let rows = rows(&place, "d.csv");
    let (seen, rest): (Vec<&Value>, Vec<&Value>) =
        rows.iter().partition(|row| row["level"] == "seen");
    assert!(!seen.is_empty() && seen.iter().all(|row| row["kept"].is_null()));
    assert!(!rest.is_empty());
}

#[test]
fn overlong_records_have_a_length() {
    let long = format!("http://h\nhttp://{}\n", "a".repeat(65 << 20));
    let place = Place::new(&[("in", &long)]);
    let args = ["dedup", "in", "--clusters", "c.parquet", "-o", "out"];
    assert_eq!(place.run(&args, "").code, 0);
    let table = tables::read(&place, "c.parquet");
    let bytes = table.column_by_name("bytes").unwrap().as_primitive::<Int64Type>();
    assert!(bytes.is_null(0) && bytes.value(1) == (65 << 20) + 7, "{bytes:?}");
    for name in ["uri", "kept", "uri_key"] {
        assert!(table.column_by_name(name).unwrap().is_null(1), "{name}");
    }
}

#[test]
fn pairs_in_tables_are_explained_as_in_lines() {
    let place = place();
    dedup(&place, INPUTS[0], &[], ["--dupes", "d.tsv"]);
    let explain = |name: &str| {
        let ran = place.run(&["explain", "--pairs", "--to", "jsonl", "-f", name], "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.text().to_owned()
    };
    let lines = explain("d.tsv");
    for name in ["d.parquet", "d.arrow", "d.csv", "d.jsonl"] {
        dedup(&place, INPUTS[0], &[], ["--dupes", name]);
        assert!(explain(name) == lines, "{name}");
    }
    dedup(&place, INPUTS[0], &[], ["--clusters", "c.parquet"]);
    assert_eq!(explain("c.parquet").lines().count(), 2_029);
    // Two files are one list, whatever they are.
    let args = ["explain", "--pairs", "--to", "jsonl", "-f", "d.tsv", "-f", "d.csv"];
    assert_eq!(place.run(&args, "").text().lines().count(), 2 * lines.lines().count());
    dedup(&place, INPUTS[0], &[], ["--clusters", "c.jsonl"]);
    let refused = place.run(&["explain", "--pairs", "-f", "c.jsonl"], "").refused();
    assert!(refused.contains("uri"), "{refused}");
}

#[test]
fn tables_are_put_in_place_whole() {
    let place = place();
    let same = ["dedup", "a", "--dupes", "d.parquet", "--clusters", "./d.parquet"];
    assert!(place.run(&same, "").refused().contains("cannot take both"));
    for name in ["d.csv.gz", "d.jsonl.zst", "d.parquet.gz"] {
        let refused = place.run(&["dedup", "a", "--dupes", name], "").refused();
        assert!(refused.contains("tables are not written compressed"), "{refused}");
    }
    let whole = ["dedup", "a", "-o", "out", "--dupes", "d.parquet", "--clusters", "c.arrow"];
    place.run(&whole, "").quiet();
    let old = fs::read(place.path("d.parquet")).unwrap();
    // A failed run leaves the old table, and an empty one replaces what is a table of this kind only.
    let failing = ["dedup", "b", "missing", "--dupes", "d.parquet"];
    assert_eq!(place.run(&failing, "").code, 2);
    assert!(fs::read(place.path("d.parquet")).unwrap() == old);
    for (name, args) in [
        ("x.parquet", ["normalize", "--column", "url", "in.csv", "-o", "x.parquet"]),
        ("x.csv", ["normalize", "--column", "url", "in.csv", "-o", "x.csv"]),
    ] {
        place.run(&args, "").quiet();
        let refused = place.run(&["dedup", "--dupes", name], "").refused();
        assert!(refused.contains("stays as it was"), "{refused}");
    }
    for name in ["d.parquet", "c.arrow", "d.csv"] {
        place.run(&["dedup", "a", "-o", "out", "--dupes", name], "").quiet();
        place.run(&["dedup", "--dupes", name], "").quiet();
        assert!(rows(&place, name).is_empty());
    }
}
