//! `uriscan top`.

use std::collections::BTreeMap;

use crate::run::{Place, program, run};

const LIST: &str = "http://A.example/x?p=1&q\nhttp://a.example:80/y?p&p=2\nhttps://b.co.uk/x.HTML\nmailto:a@b\nno uri\n";

#[test]
fn counts_are_sorted_and_absent_parts_have_a_row() {
    let rows = |by: &str| {
        let found = run(["top", "--by", by, "--to", "tsv"], LIST).quiet();
        found.lines().skip(1).map(|line| line.replace('\t', " ")).collect::<Vec<_>>()
    };
    assert_eq!(
        rows("host"),
        ["a.example 2 0.500000 0", "\\N 1 0.250000 0", "b.co.uk 1 0.250000 0"]
    );
    assert_eq!(rows("param"), ["\\N 2 0.500000 0", "p 2 0.500000 0", "q 1 0.250000 0"]);
    assert_eq!(rows("extension")[1], "html 1 0.250000 0");
    assert_eq!(rows("suffix"), ["example 2 0.500000 0", "\\N 1 0.250000 0", "co.uk 1 0.250000 0"]);
    assert_eq!(rows("scheme")[0], "http 2 0.500000 0");
    assert_eq!(rows("path:1").len(), 4);
    assert_eq!(rows("label:1")[1], "\\N 1 0.250000 0");
}

#[test]
fn formats_agree() {
    let jsonl = run(["top", "--to", "jsonl", "-n", "2"], LIST).quiet();
    assert_eq!(
        jsonl,
        "{\"by\":\"host\",\"value\":\"a.example\",\"count\":2,\"share\":0.5,\"error\":0}\n\
         {\"by\":\"host\",\"value\":null,\"count\":1,\"share\":0.25,\"error\":0}\n"
    );
    let text = run(["top", "-n", "2"], LIST).quiet();
    assert_eq!(
        text,
        "     count     share  host\n         2   50.00 %  a.example\n         1   25.00 %  (no host)\n\n  \
         4 URIs, 2 different values; 1 more row with -n 0; 1 invalid record\n"
    );
}

#[test]
fn counts_equal_those_of_the_parts_of_canonical_forms() {
    let list: String = (0..3_000)
        .map(|i| format!("HTTP://{}.Example.org:{}/%7e{i}\n", i * i % 97, 79 + i % 3))
        .collect();
    let forms = run(["normalize"], &list).quiet();
    for (by, field) in [("host", "{host}"), ("port", "{port}")] {
        let mut expected: BTreeMap<String, u64> = BTreeMap::new();
        for value in run(["parse", "-g", field], &forms).quiet().lines() {
            *expected.entry(value.to_owned()).or_default() += 1;
        }
        let found = run(["top", "--by", by, "-n", "0", "--to", "tsv"], &list).quiet();
        let found: BTreeMap<String, u64> = found
            .lines()
            .skip(1)
            .map(|line| {
                let cells: Vec<&str> = line.split('\t').collect();
                (cells[0].replace("\\N", ""), cells[1].parse().unwrap())
            })
            .collect();
        assert_eq!(found, expected);
    }
}

#[test]
fn distinct_counts_what_dedup_keeps() {
    let list = "http://h\nhttp://h/\nhttp://h/#f\nhttp://i/\n";
    let counts = |args: &[&str]| {
        let args = ["top", "--to", "tsv"].iter().chain(args).copied();
        let found = run(args, list).quiet();
        found
            .lines()
            .skip(1)
            .map(|line| line.split('\t').nth(1).unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(counts(&[]), ["3", "1"]);
    assert_eq!(counts(&["--distinct"]), ["2", "1"]);
    assert_eq!(counts(&["--distinct", "--level", "string"]), ["3", "1"]);
    assert_eq!(counts(&["--distinct", "--drop-fragment"]), ["1", "1"]);
}

#[test]
fn counts_that_are_not_exact_have_a_bound() {
    let mut list: String = (0..200_000).map(|i| format!("http://h{i}/\n")).collect();
    list += &"http://often/\n".repeat(1_000);
    let args = ["top", "-n", "1", "--to", "tsv", "--max-memory", "64M"];
    let found = run(args, &list);
    assert_eq!(found.code, 0);
    assert!(found.stderr.contains("counts are too high by ") && found.stderr.lines().count() == 1);
    let cells: Vec<&str> = found.text().lines().nth(1).unwrap().split('\t').collect();
    let (count, error): (u64, u64) = (cells[1].parse().unwrap(), cells[3].parse().unwrap());
    assert_eq!(cells[0], "often");
    assert!(count >= 1_000 && count - error <= 1_000 && error > 0, "{count} {error}");
    let text = run(&args[..3], &list).quiet();
    assert!(text.contains("     1,000    0.50 %  often\n"), "{text}");
}

#[test]
fn links_and_columns_are_lists() {
    let place = Place::new(&[
        ("page.html", "<a href='http://x/1'><a href='http://x/2'><a href='http://y/'>"),
        ("list.csv", "id,url\n1,http://x/\n2,\n3,\"HTTP://x/\n\"\n4,\"a\nb\"\n"),
    ]);
    let first = |args: &[&str]| {
        let ran = place.run(args, "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        ran.text().lines().nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(first(&["top", "--extract", "--to", "tsv", "page.html"]), "x\t2\t0.666667\t0");
    assert_eq!(
        first(&["top", "--extract", "--from", "text", "page.html"]),
        "         2   66.67 %  x"
    );
    assert_eq!(first(&["top", "--column", "url", "--to", "tsv", "list.csv"]), "x\t2\t1.000000\t0");
    let stats = place.run(&["top", "--column", "2", "--stats=json", "list.csv"], "").stderr;
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!(
        (&stats["records"], &stats["blank"], &stats["invalid"]),
        (&3.into(), &1.into(), &1.into())
    );
    let error = place.run(&["top", "--column", "nope", "list.csv"], "").stderr;
    assert!(error.contains("list.csv: there is no column nope"), "{error}");
}

#[test]
fn contradictions_are_refused() {
    for args in [
        &["top", "--from", "csv"][..],
        &["top", "--column", "a", "-0"],
        &["top", "--column", "a", "--rejects", "r"],
        &["top", "--extract", "--from", "parquet"],
        &["top", "--link-column", "a"],
    ] {
        run(args, "").refused();
    }
    assert_eq!(program(["top", "--by", "paths"]).output().unwrap().status.code(), Some(2));
}

#[test]
fn invalid_records_are_not_counted_and_the_run_says_so() {
    let list = "http://a/1\nhttp://h/a b\nhttp://b/2\n";
    let ran = run(["top", "--by", "host", "--to", "tsv"], list);
    assert_eq!(
        ran.stderr,
        "uriscan: 1 of 3 records is invalid and was skipped (space 1); `uriscan check` shows where\n"
    );
    let log =
        "192.0.2.1 - - [01/Jan/2026:00:00:00 +0000] \"GET /a%zz HTTP/1.1\" 200 1 \"-\" \"-\"\n";
    let ran = run(["top", "--extract", "--log-field", "target", "--base", "http://h/"], log);
    assert!(!ran.stderr.contains("relative"), "{}", ran.stderr);
    assert!(ran.stderr.contains("options that choose links shows where"), "{}", ran.stderr);
    for chosen in [["--on-invalid", "drop"], ["--rejects", "/dev/null"]] {
        run([&["top", "--by", "host", "--to", "tsv"][..], &chosen].concat(), list).quiet();
    }
}
