//! Links of documents, and filters, in commands that read lists: the answers are those of simple programs.

use std::fs;

use serde_json::{Value, json};

use crate::run::{Place, Ran, run};

const PAGE: &str =
    "<!doctype html>\n<p><a href='b c.html'>x</a>\n  <a href=\"http://u:p@h/%zz\">y</a>\n";

fn page() -> Place {
    Place::new(&[("a.html", PAGE), ("notes.txt", "ok http://h/ok and\n(http://0x7f.1/x)\n")])
}

fn rows(ran: &Ran) -> Vec<Value> {
    ran.text().lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

#[test]
fn check_names_the_place_of_a_link() {
    let place = page();
    let ran = place.run(&["check", "--extract", "a.html", "notes.txt"], "");
    let expected = "a.html:3:25: percent: '%' is not followed by two hexadecimal digits\n  http://u:p@h/%zz\n               ^\n";
    assert_eq!((ran.code, ran.text()), (1, expected));
    let ran = place.run(&["check", "--extract", "--context", "--base", "http://h/", "a.html"], "");
    assert!(ran.text().starts_with("a.html:3:25: percent: "), "{}", ran.text());
    assert!(ran.text().contains("digits (in href)\n"), "{}", ran.text());
    let ran = place.run(&["check", "--extract", "--to", "jsonl", "a.html", "notes.txt"], "");
    let expected = [
        json!({"file": "a.html", "line": 3, "column": 12, "context": "href", "kind": null,
            "error": {"kind": "percent", "at": 13}}),
        json!({"file": "notes.txt", "line": 1, "column": 4, "context": "text",
            "kind": "absolute-uri", "error": null}),
        json!({"file": "notes.txt", "line": 2, "column": 2, "context": "text",
            "kind": "absolute-uri", "error": null}),
    ];
    assert_eq!(rows(&ran), expected);
}

#[test]
fn a_link_that_was_made_has_the_column_of_its_source() {
    let place = Place::new(&[("a.html", "<p>\n<a href='http://h/&#x7b;a&#x7d;'>\n")]);
    let ran = place.run(&["check", "--extract", "--from", "html", "a.html"], "");
    assert!(ran.text().starts_with("a.html:2:10: ") || ran.code == 0, "{}", ran.text());
    let place = Place::new(&[("a.jsonl", "{\"u\":\"http:\\/\\/h\\/a b\"}\n")]);
    let args = ["check", "--extract", "--from", "json", "--link-column", "u", "a.jsonl"];
    let ran = place.run(&args, "");
    let (code, first) = (ran.code, ran.text().lines().next().unwrap_or_default());
    assert!(code == 0 || first.starts_with("a.jsonl:1:7: "), "{first}");
}

#[test]
fn audit_names_the_place_of_a_link() {
    let place = page();
    let ran = place.run(&["audit", "--extract", "a.html", "notes.txt"], "");
    let found: Vec<&str> =
        ran.text().lines().map(|line| line.split(": ").next().unwrap()).collect();
    assert!(found.contains(&"notes.txt:2:9-14") && found.contains(&"a.html:3:21"), "{found:?}");
    let ran =
        place.run(&["audit", "--extract", "--context", "--select", "rare-ipv4", "notes.txt"], "");
    assert!(ran.text().ends_with("(in text)\n"), "{}", ran.text());
    let ran = place
        .run(&["audit", "--extract", "--to", "jsonl", "--select", "rare-ipv4", "notes.txt"], "");
    let row = &rows(&ran)[0];
    assert_eq!(
        (&row["source"], &row["line"], &row["column"]),
        (&json!("notes.txt"), &json!(2), &json!(2))
    );
    assert_eq!((&row["context"], &row["start"]), (&json!("text"), &json!(7)));
    let ran = place
        .run(&["audit", "--extract", "--to", "sarif", "--select", "rare-ipv4", "notes.txt"], "");
    let log: Value = serde_json::from_str(ran.text()).unwrap();
    let region = &log["runs"][0]["results"][0]["locations"][0]["physicalLocation"]["region"];
    assert_eq!(region["startLine"], 2);
    let byte = usize::try_from(region["byteOffset"].as_u64().unwrap()).unwrap();
    assert_eq!(&place.read("notes.txt")[byte..byte + 6], "0x7f.1");
}

#[test]
fn parse_and_census_read_links() {
    let place = page();
    let ran = place.run(&["parse", "--extract", "notes.txt"], "");
    let row = &rows(&ran)[1];
    assert_eq!(
        (&row["file"], &row["line"], &row["column"]),
        (&json!("notes.txt"), &json!(2), &json!(2))
    );
    assert_eq!((&row["context"], &row["host"]), (&json!("text"), &json!("0x7f.1")));
    let tsv = place.run(&["parse", "--extract", "--to", "tsv", "notes.txt"], "").quiet();
    let cells: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(cells[0][..5], ["file", "line", "column", "context", "scheme"]);
    assert_eq!(cells[1][..5], ["notes.txt", "1", "4", "text", "http"]);
    assert!(cells.iter().all(|row| row.len() == cells[0].len()));
    let args = ["parse", "--extract", "-g", "{file}:{line}:{column}:{context} {path}", "notes.txt"];
    assert_eq!(place.run(&args, "").quiet(), "notes.txt:1:4:text /ok\nnotes.txt:2:2:text /x\n");
    let list = run(["parse", "-g", "{file}:{line}:{column}{context}"], "http://h\n\n  a\n").quiet();
    assert_eq!(list, "-:1:1\n-:3:3\n");
    let census = place.run(&["census", "--extract", "--to", "json", "a.html", "notes.txt"], "");
    assert_eq!(serde_json::from_str::<Value>(census.text()).unwrap()["records"], 3);
    let census = place.run(
        &["census", "--extract", "--base", "http://h/", "--to", "json", "a.html", "notes.txt"],
        "",
    );
    assert_eq!(serde_json::from_str::<Value>(census.text()).unwrap()["records"], 4);
}

#[test]
fn places_do_not_depend_on_how_the_input_is_cut() {
    let mut text = String::new();
    for i in 0..3000 {
        text += &format!("{}see http://h/{i} or http://h/{i}%zz, and\n", " ".repeat(i % 17));
    }
    let place = Place::new(&[("a.txt", &text)]);
    let found = |args: &[&str]| {
        place.run(&[&["check", "--extract", "--to", "jsonl", "a.txt"], args].concat(), "").stdout
    };
    let expected = found(&[]);
    for (i, row) in String::from_utf8(expected.clone()).unwrap().lines().enumerate() {
        let row: Value = serde_json::from_str(row).unwrap();
        let line = text.lines().nth(i / 2).unwrap();
        let column = line.match_indices("http").nth(i % 2).unwrap().0 + 1;
        assert_eq!(
            (row["line"].as_u64(), row["column"].as_u64()),
            (Some(i as u64 / 2 + 1), Some(column as u64))
        );
    }
    for cut in [&["-j1", "--chunk-size", "64"][..], &["-j4", "--chunk-size", "1K"], &["-j3"]] {
        assert!(found(cut) == expected, "{cut:?}");
    }
}

/// URIs of many hosts and schemes, with white space, blank lines and invalid records.
fn list() -> Vec<String> {
    let hosts = [
        "h.example",
        "H.Example",
        "www.h.example",
        "i.example:8080",
        "u@i.example",
        "[::1]",
        "x.h.example.org",
    ];
    let paths = ["", "/", "/a.png", "/b?c", "#f", "/%zz", "/a b"];
    let schemes = ["http", "HTTPS", "ftp"];
    let mut list = Vec::new();
    for i in 0..600 {
        let uri = format!("{}://{}{}", schemes[i % 3], hosts[i % 7], paths[i / 7 % 7]);
        list.push(match i % 11 {
            0 => String::new(),
            1 => format!("  {uri}\t"),
            2 => "mailto:joe@h.example".to_owned(),
            3 => "/relative".to_owned(),
            _ => uri,
        });
    }
    list
}

/// The host of a record, in lower case, by looking at it from left to right.
fn host(record: &str) -> Option<String> {
    let rest = record.split_once("://")?.1;
    let authority = rest.split(['/', '?', '#']).next()?;
    let after = authority.rsplit('@').next()?;
    let host = match after.find(']') {
        Some(end) => &after[..=end],
        None => after.split(':').next()?,
    };
    Some(host.to_lowercase())
}

type Twin = fn(&str) -> bool;

/// Filters, each with the same condition in plain words.
fn filters() -> Vec<(Vec<&'static str>, Twin)> {
    vec![
        (vec!["--host", "h.example"], |uri| host(uri).as_deref() == Some("h.example")),
        (vec!["--host", "[::1],i.example"], |uri| {
            host(uri).is_some_and(|host| host == "[::1]" || host == "i.example")
        }),
        (vec!["--domain", "h.example"], |uri| {
            host(uri).is_some_and(|host| host == "h.example" || host.ends_with(".h.example"))
        }),
        (vec!["--scheme", "https,mailto"], |uri| {
            uri.to_lowercase().starts_with("https:") || uri.starts_with("mailto:")
        }),
        (vec!["--match", r"\.png$", "--host", "h.example"], |uri| {
            uri.ends_with(".png") && host(uri).as_deref() == Some("h.example")
        }),
        (vec!["--not-host", "h.example", "--not-scheme", "ftp"], |uri| {
            host(uri).as_deref() != Some("h.example") && !uri.starts_with("ftp:")
        }),
        (vec!["--not-domain", "example", "--not-match", "rel"], |uri| {
            !host(uri).is_some_and(|host| host.ends_with(".example")) && !uri.contains("rel")
        }),
    ]
}

#[test]
fn filtered_lists_are_those_of_a_simple_program() {
    let list = list();
    let whole = list.join("\n");
    for (args, keeps) in filters() {
        let kept = list.iter().filter(|line| !line.trim().is_empty() && keeps(line.trim()));
        let kept: String = kept.map(|line| format!("{line}\n")).collect();
        assert!(!kept.is_empty() && kept.len() < whole.len() - 100, "{args:?}");
        for command in [
            &["dedup"][..],
            &["dedup", "-c"],
            &["dedup", "--level", "string", "-j1", "--chunk-size", "256"],
            &["dedup", "--max-memory", "64M", "--on-invalid", "drop"],
            &["normalize"],
            &["normalize", "--on-invalid", "drop", "--chunk-size", "64"],
            &["key"],
            &["census", "--to", "json"],
            &["parse", "-g", "{host}{path}"],
            &["audit", "--redact"],
        ] {
            let filtered = run([command, &args].concat(), &whole);
            let expected = run(command, &kept);
            let parts = |ran: &Ran| (ran.code, ran.text().to_owned());
            let (found, expected) = (parts(&filtered), parts(&expected));
            // What is read is counted in the census.
            let is_census = command[0] == "census";
            let of = |text: &str| match text.split_once(",\"records\"") {
                Some((_, rest)) if is_census => rest.to_owned(),
                _ => text.to_owned(),
            };
            assert_eq!(
                (found.0, of(&found.1)),
                (expected.0, of(&expected.1)),
                "{command:?} {args:?}"
            );
        }
        // Lines are those of the whole list.
        let rows = run([&["parse"], &args[..]].concat(), &whole);
        let lines = rows
            .text()
            .lines()
            .map(|row| serde_json::from_str::<Value>(row).unwrap()["line"].clone());
        let expected = list
            .iter()
            .enumerate()
            .filter(|(_, line)| !line.trim().is_empty() && keeps(line.trim()));
        let expected: Vec<Value> = expected.map(|(i, _)| json!(i + 1)).collect();
        assert_eq!(lines.collect::<Vec<_>>(), expected, "{args:?}");
    }
}

#[test]
fn filters_see_targets_and_repairs() {
    let list = "/a\nhttp://i/\n//h/b\nhttp:\\\\h\\c\n";
    let found = run(["normalize", "--base", "http://h/", "--host", "h"], list).quiet();
    assert_eq!(found, "http://h/a\nhttp://h/b\n");
    let found = run(["normalize", "--repair", "--host", "h"], list).quiet();
    assert_eq!(found, "http://h/c\n//h/b\n".lines().rev().collect::<Vec<_>>().join("\n") + "\n");
}

#[test]
fn the_summary_counts_what_a_filter_drops() {
    let list = "http://h/\nhttp://i/\n\nhttp://h\n";
    let ran = run(["dedup", "--host", "h", "--stats=json"], list);
    let summary: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&summary["records"], &summary["filtered"]), (&json!(2), &json!(1)));
    let ran = run(["dedup", "--host", "h", "--stats"], list);
    assert!(
        ran.stderr.contains("filtered") && ran.stderr.contains("not selected"),
        "{}",
        ran.stderr
    );
    // Without a filter the fields are those they always were.
    let ran = run(["dedup", "--stats=json"], list);
    assert!(!ran.stderr.contains("filtered"), "{}", ran.stderr);
}

#[test]
fn filtered_tables_are_those_of_a_simple_program() {
    let list = list();
    let csv = |rows: &mut dyn Iterator<Item = (usize, &String)>| {
        let rows = rows.map(|(i, uri)| format!("{i},\"{uri}\"\n")).collect::<String>();
        format!("id,url\n{rows}")
    };
    let place = Place::new(&[("all.csv", &csv(&mut list.iter().enumerate()))]);
    let parquet = ["normalize", "--column", "url", "all.csv", "-o", "all.parquet"];
    place.run(&parquet, "").quiet();
    for (args, keeps) in filters() {
        let mut kept = list.iter().enumerate();
        let kept =
            csv(&mut kept.by_ref().filter(|(_, uri)| !uri.trim().is_empty() && keeps(uri.trim())));
        fs::write(place.path("kept.csv"), kept).unwrap();
        place.run(&["normalize", "--column", "url", "kept.csv", "-o", "kept.parquet"], "").quiet();
        for command in [
            &["dedup"][..],
            &["dedup", "--keep", "last", "-c"],
            &["dedup", "-d"],
            &["key"],
            &["parse"],
            &["check"],
        ] {
            for end in ["csv", "parquet"] {
                let read = |name: &str, args: &[&str]| {
                    let name = format!("{name}.{end}");
                    let table = ["--column", "url", "--to", "csv", &name];
                    let ran = place.run(&[command, &table, args].concat(), "");
                    (ran.code, ran.stdout, ran.stderr)
                };
                assert_eq!(read("all", &args), read("kept", &[]), "{command:?} {args:?} {end}");
            }
        }
    }
}

#[test]
fn hosts_without_a_scheme_are_named_where_there_are_no_links() {
    let bare = "see example.com/a?token=abc, and www.h.example\n";
    let place = Place::new(&[
        ("bare", bare),
        ("whole", "see http://h.example/, and example.com\n"),
        ("none", "nothing here\n"),
        ("empty", ""),
        ("page", "<p>see example.com</p>\n"),
    ]);
    // In pages they are not searched.
    let page = place.run(&["extract", "page"], "").stderr;
    assert!(page.contains("; --from text --bare-hosts also finds hosts without"), "{page}");
    assert_eq!(
        place.run(&["extract", "--from", "text", "--bare-hosts", "page"], "").quiet(),
        "http://example.com\n"
    );
    let hint = "uriscan: no link was found; --bare-hosts also finds hosts without a scheme, such as example.com\n";
    for args in [
        &["extract", "bare"][..],
        &["dedup", "--extract", "bare"],
        &["normalize", "--extract", "none", "bare"],
        &["top", "--by", "host", "--extract", "bare"],
    ] {
        assert_eq!(place.run(args, "").stderr, hint, "{args:?}");
    }
    for args in [
        &["extract", "-q", "bare"][..],
        &["extract", "--bare-hosts", "bare"],
        &["extract", "--not-host", "example.com", "--bare-hosts", "bare"],
        &["extract", "bare", "whole"],
        &["extract", "none"],
        &["extract", "empty"],
        &["extract", "--from", "json", "--link-column", "url", "empty"],
        &["extract", "--log-format", "combined", "empty"],
    ] {
        assert_eq!(place.run(args, "").stderr, "", "{args:?}");
    }
}
