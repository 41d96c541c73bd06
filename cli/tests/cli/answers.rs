//! `parse`, `check` and `census` as commands; what they answer is tested with the library.

use std::fs;

use serde_json::{Value, json};

use crate::run::{Place, run};

const MIXED: &str = "http://u@h:8/p?q#\n\n//[::1]\nno uri\na:%zz\n";

#[test]
fn parse_gives_a_json_object_per_record() {
    let rows = run(["parse"], MIXED).quiet();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(
        rows,
        [
            json!({
                "line": 1, "scheme": "http", "authority": "u@h:8", "userinfo": "u", "host": "h",
                "port": "8", "path": "/p", "query": "q", "fragment": "", "host_kind": "reg-name",
                "domain": null, "suffix": "h", "params": [["q", null]],
            }),
            json!({
                "line": 3, "scheme": null, "authority": "[::1]", "userinfo": null, "host": "[::1]",
                "port": null, "path": "", "query": null, "fragment": null, "host_kind": "ipv6",
                "domain": null, "suffix": null, "params": null,
            }),
            json!({ "line": 4, "error": { "kind": "space", "at": 2 } }),
            json!({ "line": 5, "error": { "kind": "percent", "at": 2 } }),
        ]
    );
    assert_eq!(run(["parse", "--to", "jsonl"], MIXED).stdout, run(["parse"], MIXED).stdout);
}

#[test]
fn parse_gives_tables_and_templates() {
    let table = run(["parse", "--to", "tsv"], MIXED).quiet();
    let rows: Vec<Vec<&str>> = table.lines().map(|row| row.split('\t').collect()).collect();
    assert_eq!((rows.len(), rows[0][0], rows[1][1]), (5, "line", "http"));
    assert!(rows.iter().all(|row| row.len() == rows[0].len()), "{table}");
    let pairs = run(["parse", "-g", r"{host}\t{path}"], MIXED);
    assert_eq!(pairs.text(), "h\t/p\n[::1]\t\n");
    let hosts = run(["parse", "-0", "--template", "{host}"], "a://x\0b://y\nz\0c://z").quiet();
    assert_eq!(hosts, "x\0z\0");
    let message = run(["parse", "-g", "{hots}"], MIXED).refused();
    assert!(message.contains("'hots'") && message.contains("host_kind"), "{message}");
    assert_eq!(run(["parse", "-g", "{host}", "--to", "tsv"], MIXED).code, 2);
}

#[test]
fn a_template_says_how_many_records_have_no_row() {
    let ran = run(["parse", "-g", "{host}"], "http://a/1\nhttp://h/a b\nhttp://b/2\n");
    assert_eq!((ran.code, ran.text()), (0, "a\nb\n"));
    assert_eq!(
        ran.stderr,
        "uriscan: 1 of 3 records is invalid and was skipped (space 1); `uriscan check` shows where\n"
    );
    for rows in ["jsonl", "tsv"] {
        let ran = run(["parse", "--to", rows], "http://a/1\nhttp://h/a b\n").quiet();
        assert_eq!(ran.lines().count(), 2 + usize::from(rows == "tsv"));
    }
}

#[test]
fn parse_counts_what_it_writes() {
    let counts = |args: &[&str]| {
        let ran = run([&["parse", "--stats=json", "--strict"], args].concat(), MIXED);
        assert_eq!(ran.code, 1, "some are invalid, and strict");
        let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
        ["records", "written", "dropped", "invalid", "blank"]
            .map(|name| stats[name].as_u64().unwrap())
    };
    assert_eq!(counts(&[]), [4, 4, 0, 2, 1]);
    assert_eq!(counts(&["-g", "{host}"]), [4, 2, 2, 2, 1]);
    assert_eq!(run(["parse"], MIXED).code, 0);
}

#[test]
fn check_fails_when_something_is_invalid() {
    assert_eq!(run(["check"], "a:\n../b\n\n").quiet(), "");
    let ran = run(["check"], MIXED);
    assert_eq!((ran.code, ran.stderr.as_str()), (1, ""));
    let lines: Vec<&str> = ran.text().lines().collect();
    assert_eq!(lines.len(), 6);
    assert!(lines[0].starts_with("-:4:3: space: ") && lines[3].starts_with("-:5:3: percent: "));
    assert_eq!((lines[1], lines[2]), ("  no uri", "    ^"));
}

#[test]
fn check_answers_in_json() {
    let ran = run(["check", "--to", "jsonl"], "http://h/\na:#f\n?q\nno uri\n");
    assert_eq!(ran.code, 1);
    let rows: Vec<Value> =
        ran.text().lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    assert_eq!(
        rows,
        [
            json!({ "line": 1, "kind": "absolute-uri", "error": null }),
            json!({ "line": 2, "kind": "uri", "error": null }),
            json!({ "line": 3, "kind": "relative-ref", "error": null }),
            json!({ "line": 4, "kind": null, "error": { "kind": "space", "at": 2 } }),
        ]
    );
    assert_eq!(run(["check", "--to", "jsonl"], "a:\n").code, 0);
}

const LADDER: &str = "http://h/#a\nhttp://h/#a\nHTTP://h/#b\nhttp://h/#b\nhttp://h#b\nno uri\n";

#[test]
fn census_says_what_each_level_merges() {
    let counts = |args: &[&str]| {
        let ran = run([&["census", "--to", "json"], args].concat(), LADDER).quiet();
        assert_eq!(ran.lines().count(), 1);
        let census: Value = serde_json::from_str(&ran).unwrap();
        assert_eq!((&census["records"], &census["invalid"]["space"]), (&json!(6), &json!(1)));
        let levels = census["levels"].as_array().unwrap();
        let levels = levels.iter().map(|level| {
            (level["level"].as_str().unwrap().to_owned(), level["distinct"].as_u64().unwrap())
        });
        for (level, distinct) in levels.clone() {
            let kept = run([&["dedup", "--level", &level], args].concat(), LADDER).quiet();
            assert_eq!(kept.lines().count() as u64, distinct, "{level}");
        }
        levels.map(|level| level.1).collect::<Vec<_>>()
    };
    assert_eq!(counts(&[]), [5, 4, 3]);
    assert_eq!(counts(&["--drop-fragment"]), [4, 3, 2]);
}

#[test]
fn census_is_a_table_for_people() {
    let table = run(["census"], LADDER).quiet();
    let rows: Vec<String> =
        table.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for row in ["string 5 1 16.67 % ", "syntax 4 1 ", "scheme 3 1 ", "records 6", "space 1 "] {
        assert!(rows.iter().any(|found| found.starts_with(row)), "{row} in {table}");
    }
    assert!(table.lines().all(|line| line == line.trim_end()));
    assert!(run(["census"], "").quiet().contains("records"), "nothing to divide by");
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("table");
    assert_eq!(run(["census", "-o", path.to_str().unwrap()], LADDER).quiet(), "");
    assert_eq!(fs::read_to_string(path).unwrap(), table);
    assert_eq!(run(["census", "--strict"], LADDER).code, 1);
}

#[test]
fn answers_are_no_records_in_the_summary() {
    for command in ["check", "census"] {
        let ran = run([command, "--stats=json"], MIXED);
        let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!((&stats["records"], &stats["blank"]), (&json!(4), &json!(1)));
        assert_eq!(stats["bytes"], MIXED.len());
        for name in ["written", "distinct", "duplicates", "dropped", "level", "on_invalid"] {
            assert!(stats[name].is_null(), "{name} in {stats}");
        }
    }
}

#[test]
fn links_and_rules_are_json_lines_by_the_name_of_the_output() {
    let place = Place::new(&[("text", "see http://h/a and http://h/b\n")]);
    let expected = place.run(&["extract", "text", "--to", "jsonl"], "").text().to_owned();
    for name in ["out.jsonl", "OUT.NDJSON", "out.json"] {
        assert_eq!(place.run(&["extract", "text", "-o", name], "").quiet(), "");
        assert_eq!(place.read(name), expected, "{name}");
    }
    // Nothing that was asked for is lost by the name.
    for (option, expected) in [
        ("-c", "2\n"),
        ("-H", "text:http://h/a\ntext:http://h/b\n"),
        ("-n", "1:http://h/a\n1:http://h/b\n"),
        ("-b", "4:http://h/a\n19:http://h/b\n"),
    ] {
        place.run(&["extract", option, "text", "-o", "lines.jsonl"], "").quiet();
        assert_eq!(place.read("lines.jsonl"), expected, "{option}");
    }
    place.run(&["extract", "text", "-o", "links.txt"], "").quiet();
    assert_eq!(place.read("links.txt"), "http://h/a\nhttp://h/b\n");
    for (name, to) in [("r.json", "json"), ("r.txt", "table")] {
        for choice in [&[][..], &["--preset", "log"]] {
            let expected =
                place.run(&[&["rules", "--to", to], choice].concat(), "").text().to_owned();
            place.run(&[&["rules", "-o", name], choice].concat(), "").quiet();
            assert_eq!(place.read(name), expected, "{name}");
        }
    }
}
