//! Classes of rows: counts, and which row is kept.

use std::collections::BTreeMap;
use std::fs::File;
use std::sync::Arc;

use arrow_array::{ArrayRef, Float64Array, RecordBatch, StringArray, TimestampSecondArray};
use parquet::arrow::ArrowWriter;
use serde_json::Value;

use crate::run::Place;

/// URIs of some classes, in several spellings.
fn urls(count: u32) -> Vec<String> {
    (0..count)
        .map(|i| {
            let host = i * 7_919 % 1_009;
            match i % 5 {
                0 => format!("HTTPS://H{host}"),
                1 => format!("https://h{host}:443/"),
                2 => format!("http://h{host}/%7E"),
                3 => format!("http://h{host}:80/~"),
                _ => format!("no URI {}", host % 100),
            }
        })
        .collect()
}

#[test]
fn rows_are_those_that_lines_are() {
    let urls = urls(20_000);
    let lines: String = urls.iter().map(|url| format!("{url}\n")).collect();
    let place = Place::new(&[("in.csv", &format!("url\n{lines}"))]);
    for args in [
        &["-c"][..],
        &["-d"],
        &["-u", "--on-invalid", "drop"],
        &["-c", "--keep", "last"],
        &["-dc", "--keep", "shortest"],
        &["--keep", "https", "--rule", "https"],
        &["--keep", "min"],
        &["--keep", "max", "-c"],
    ] {
        let stats = ["--stats=json"];
        let expected = place.run(&[&["dedup"], args, &stats].concat(), &lines);
        let rows: String = expected
            .text()
            .lines()
            .map(|line| match args.iter().any(|arg| arg.contains('c') && !arg.contains("--")) {
                true => {
                    let (count, url) = line.trim_start().split_once(' ').unwrap();
                    format!("{url},{count}\n")
                }
                false => format!("{line}\n"),
            })
            .collect();
        let numbers = |stderr: &str| {
            let stats: Value = serde_json::from_str(stderr).unwrap();
            ["records", "written", "withheld", "duplicates", "dropped", "invalid"]
                .map(|name| stats[name].as_u64())
        };
        let table = ["dedup", "--column", "url", "--from", "csv", "--to", "csv", "--temp-dir", "."];
        for (name, input) in [("in.csv", String::new()), ("-", format!("url\n{lines}"))] {
            let ran = place.run(&[&table[..], args, &stats, &[name]].concat(), &input);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            assert!(ran.text().split_once('\n').unwrap().1 == rows, "{args:?} {name}");
            assert_eq!(numbers(&ran.stderr), numbers(&expected.stderr), "{args:?} {name}");
        }
    }
    assert_eq!(place.names(), ["in.csv"]);
}

#[test]
fn a_column_decides_which_row_is_kept() {
    let urls = urls(5_000);
    let seconds: Vec<Option<i64>> =
        (0..5_000).map(|i| (i % 7 != 0).then_some(i * 7_901 % 2_003 - 900)).collect();
    let floats = seconds.iter().map(|second| match second {
        Some(900) => Some(f64::NAN),
        second => second.map(|second| second as f64 / 8.0),
    });
    let floats: Vec<Option<f64>> = floats.collect();
    let texts = seconds.iter().map(|second| second.map(|second| format!("{:05}", second + 1_000)));
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("url", Arc::new(StringArray::from(urls.clone()))),
        ("at", Arc::new(TimestampSecondArray::from(seconds.clone()))),
        ("score", Arc::new(Float64Array::from(floats.clone()))),
        ("text", Arc::new(texts.collect::<StringArray>())),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    );
    let batch = batch.unwrap();
    let place = Place::new(&[]);
    let file = File::create(place.path("in.parquet")).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let forms =
        place.run(&["normalize"], &urls.iter().map(|url| format!("{url}\n")).collect::<String>());
    let forms: Vec<String> = forms.text().lines().map(str::to_owned).collect();

    // The plain oracle: the first row of the best value, in the order of rows.
    let expected = |ranks: &dyn Fn(usize) -> Option<f64>| {
        let mut kept: BTreeMap<&str, (usize, u32)> = BTreeMap::new();
        for (row, form) in forms.iter().enumerate() {
            let class = kept.entry(form).or_insert((row, 0));
            class.1 += 1;
            let is_better = match (ranks(row), ranks(class.0)) {
                (Some(new), Some(old)) => new > old,
                (new, old) => new.is_some() && old.is_none(),
            };
            if is_better {
                class.0 = row;
            }
        }
        let mut rows: Vec<(usize, u32)> = kept.into_values().collect();
        rows.sort_unstable();
        let rows = rows.into_iter().map(|(row, count)| format!("{},{count}\n", urls[row]));
        rows.collect::<String>()
    };
    for (keep, sign) in [("max", 1.0), ("min", -1.0)] {
        for column in ["at", "score", "text"] {
            let rank = |row: usize| match column {
                "score" => floats[row].filter(|value| !value.is_nan()).map(|value| value * sign),
                _ => seconds[row].map(|second| second as f64 * sign),
            };
            let keep = format!("{keep}:{column}");
            let args =
                ["dedup", "-qc", "--column", "url", "--keep", &keep, "in.parquet", "--to", "csv"];
            let ran = place.run(&args, "");
            let text = ran.quiet();
            let rows = text.lines().skip(1).map(|line| {
                let (url, rest) = line.split_once(',').unwrap();
                format!("{url},{}\n", rest.rsplit_once(',').unwrap().1)
            });
            assert!(rows.collect::<String>() == expected(&rank), "{keep}");
        }
    }
}

#[test]
fn counts_are_members_of_json_and_what_cannot_be_is_refused() {
    let place = Place::new(&[
        (
            "in.jsonl",
            "{\"u\":\"http://h\",\"l\":[1]}\n{\"u\":\"http://h/\",\"l\":[]}\n{\"u\":null}\n",
        ),
        ("in.csv", "u,n\nhttp://h,1\n"),
    ]);
    assert_eq!(
        place.run(&["dedup", "-c", "--keep", "last", "--column", "u", "in.jsonl"], "").quiet(),
        "{\"u\":\"http://h/\",\"l\":[],\"uri_count\":2}\n"
    );
    for (args, what) in [
        (&["--keep", "max:n", "--column", "u", "in.jsonl"][..], "in.jsonl: no line has a member n"),
        (&["--keep", "max:l", "--column", "u", "in.jsonl"], "in.jsonl:1: the member l is an array"),
        (
            &["--keep", "max:l", "--column", "u", "in.jsonl", "-o", "x.arrow"],
            "has no order to keep by",
        ),
        (&["--keep", "max:x", "--column", "u", "in.csv"], "there is no column x; there are: u, n"),
        (&["--keep", "max:4", "--column", "u", "in.csv"], "there is no column 4; there are: u, n"),
        (&["--keep", "max:n", "in.csv"], "require --column"),
        (&["--keep", "max:", "--column", "u", "in.csv"], "invalid value 'max:'"),
    ] {
        let ran = place.run(&[&["dedup"], args].concat(), "");
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(what), "{}", ran.stderr);
    }
}

#[test]
fn the_greatest_number_is_kept_in_text_of_every_format() {
    let rows =
        [("9", "a"), ("10", "b"), ("", "c"), ("9007199254740993", "d"), ("9007199254740992", "e")];
    let csv = |end: &str| {
        let row = |(n, id): &(&str, &str)| format!("http://h{end}{n}{end}{id}\n");
        format!("u{end}n{end}id\n") + &rows.iter().map(row).collect::<String>()
    };
    let json = |quote: &str| {
        let row = |(n, id): &(&str, &str)| {
            let n = if n.is_empty() { "null".to_owned() } else { format!("{quote}{n}{quote}") };
            format!("{{\"u\":\"http://h\",\"meta\":{{\"n\":{n}}},\"id\":\"{id}\"}}\n")
        };
        rows.iter().map(row).collect::<String>()
    };
    let (comma, tab, numbers, strings) = (csv(","), csv("\t"), json(""), json("\""));
    let place = Place::new(&[
        ("t.csv", &comma),
        ("t.tsv", &tab),
        ("n.jsonl", &numbers),
        ("s.jsonl", &strings),
    ]);
    // Where there are types, text is text.
    place.run(&["dedup", "--with", "id", "--column", "u", "t.csv", "-o", "t.parquet"], "").quiet();
    let text = place
        .run(&["dedup", "-q", "--keep", "max:n", "--column", "u", "t.parquet", "--to", "csv"], "");
    assert_eq!(text.quiet(), "u,n,id\nhttp://h,9007199254740993,d\n");
    let text = place
        .run(&["dedup", "-q", "--keep", "min:n", "--column", "u", "t.parquet", "--to", "csv"], "");
    assert_eq!(text.quiet(), "u,n,id\nhttp://h,10,b\n");
    for (file, column) in [
        ("t.csv", "n"),
        ("t.csv", "2"),
        ("t.tsv", "n"),
        ("n.jsonl", "meta.n"),
        ("s.jsonl", "meta.n"),
    ] {
        for to in ["csv", "jsonl"] {
            if to == "csv" && file.ends_with("jsonl") {
                continue;
            }
            for (keep, kept) in [("max", "d"), ("min", "a")] {
                let keep = format!("{keep}:{column}");
                let args = ["dedup", "--keep", &keep, "--column", "u", file, "--to", to];
                let ran = place.run(&args, "");
                let out = ran.quiet();
                let last = out.trim_end().trim_end_matches(['}', '"']);
                assert!(last.ends_with(kept), "{keep} {file} {to}: {out}");
            }
        }
    }
}

#[test]
fn files_without_a_byte_have_the_columns_that_are_named() {
    let place = Place::new(&[("e.csv", ""), ("e.jsonl", ""), ("a.csv", "u,n\nhttp://h,1\n")]);
    for file in ["e.csv", "e.jsonl"] {
        for more in
            [&["--with", "n"][..], &["--keep", "max:n"], &["--with", "n,u", "--keep", "min:n"]]
        {
            let args = [&["dedup", "--to", "csv", "--column", "u"], more, &[file]].concat();
            // What stays CSV passes as it is.
            let expected = if file == "e.csv" { "" } else { "u,n\n" };
            assert_eq!(place.run(&args, "").quiet(), expected, "{args:?}");
            let args =
                [&["dedup", "--to", "csv", "--column", "u"], more, &[file, "a.csv"]].concat();
            assert_eq!(place.run(&args, "").quiet(), "u,n\nhttp://h,1\n", "{args:?}");
        }
    }
}
