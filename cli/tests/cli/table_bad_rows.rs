//! Rows that do not fit, where a table is converted, sorted or given a column.

use crate::run::Place;

const CSV: &str =
    "url,n\nhttp://h/1,1,2\nhttp://h/2,3\nhttp://%zz,1\n\"http://h/3\"x,2\nHTTP://h/2,5\n";

#[test]
fn rows_that_do_not_fit_are_skipped_in_every_command_that_makes_columns_of_text() {
    let place = Place::new(&[("t.csv", CSV), ("u.csv", "url,n\nhttp://h/9,9\n")]);
    for (args, expected) in [
        (
            &["normalize"][..],
            "url,n,uri_normalized\nhttp://h/2,3,http://h/2\nHTTP://h/2,5,http://h/2\n",
        ),
        (&["dedup", "--sort-by", "ssurt"], "url,n\nhttp://h/2,3\n"),
        (&["dedup", "--to", "jsonl"], "{\"url\":\"http://h/2\",\"n\":\"3\"}\n"),
        (
            &["dedup", "-c", "--keep", "max:n", "--sort-by", "surt"],
            "url,n,uri_count\nHTTP://h/2,5,2\n",
        ),
    ] {
        let more = ["--column", "url", "--on-bad-row", "skip", "--rejects", "bad", "t.csv"];
        let ran = place.run(&[args, &more].concat(), "");
        assert_eq!(
            (ran.code, &*String::from_utf8_lossy(&ran.stdout)),
            (0, expected),
            "{args:?}: {}",
            ran.stderr
        );
        let reported = "uriscan: 3 rows that do not fit, or whose URI is invalid, were written to the rejects\n";
        assert_eq!(ran.stderr, reported, "{args:?}");
        let bad = place.read("bad");
        let lines: Vec<&str> = bad.lines().map(|line| &line[..27]).collect();
        let line = |line: u32| format!("{{\"source\":\"t.csv\",\"line\":{line},");
        assert_eq!(lines, [line(2), line(4), line(5)], "{args:?}");
    }
    let args =
        ["parse", "--column", "url", "--on-bad-row", "skip", "t.csv", "u.csv", "-o", "p.jsonl"];
    let ran = place.run(&args, "");
    assert_eq!(ran.stderr, "uriscan: 2 rows that do not fit were skipped\n");
    assert_eq!(place.read("p.jsonl").lines().count(), 4);
}

#[test]
fn rejects_are_the_same_where_rows_pass_and_where_they_become_columns() {
    let place = Place::new(&[("t.csv", CSV)]);
    let args = ["dedup", "--column", "url", "--on-bad-row", "skip", "--rejects"];
    for end in [&["passed", "t.csv"][..], &["columns", "t.csv", "-o", "o.parquet"]] {
        place.run(&[&args[..], end].concat(), "");
    }
    assert_eq!(place.read("passed"), place.read("columns"));
    assert_eq!(place.read("passed").lines().count(), 3);
}

#[test]
fn without_the_option_the_first_row_that_does_not_fit_is_named_with_what_helps() {
    let place = Place::new(&[("t.csv", CSV)]);
    let ran = place.run(&["normalize", "--column", "url", "t.csv"], "");
    let message =
        "uriscan: t.csv:2: expected 2 fields, found 3; --on-bad-row skip omits such rows\n";
    assert_eq!((ran.code, &*ran.stderr), (2, message));
    let message =
        place.run(&["normalize", "--column", "url", "--on-bad-row", "pass", "t.csv"], "").refused();
    assert!(message.starts_with("uriscan: --on-bad-row pass: works where rows"), "{message}");
}

#[test]
fn a_table_with_typed_columns_has_no_rows_that_do_not_fit() {
    let place = Place::new(&[("t.csv", CSV)]);
    let skip = ["dedup", "--column", "url", "--on-bad-row", "skip"];
    place.run(&[&skip[..], &["t.csv", "-o", "o.parquet"]].concat(), "");
    let message = place.run(&[&skip[..], &["o.parquet"]].concat(), "").refused();
    assert!(message.contains("has columns with types"), "{message}");
}

#[test]
fn lists_and_objects_are_json_in_csv_and_tsv() {
    let lines = "{\"url\":\"http://h\",\"o\":{\"a\":\"x\\ty\"},\"l\":[1,null]}\n{\"url\":\"http://i\",\"l\":[]}\n";
    let place = Place::new(&[("t.jsonl", lines)]);
    let as_text = |to| place.run(&["dedup", "--column", "url", "t.jsonl", "--to", to], "").quiet();
    assert_eq!(
        as_text("csv"),
        "url,o,l\nhttp://h,\"{\"\"a\"\":\"\"x\\ty\"\"}\",\"[1,null]\"\nhttp://i,,[]\n"
    );
    assert_eq!(
        as_text("tsv"),
        "url\to\tl\nhttp://h\t{\"a\":\"x\\ty\"}\t[1,null]\nhttp://i\t\t[]\n"
    );
    let place = Place::new(&[("t.csv", "url\nhttp://u:p@h\n")]);
    let rows = place.run(&["audit", "--column", "url", "t.csv"], "").quiet();
    assert_eq!(rows, "url,uri_findings\nhttp://u:p@h,\"[\"\"password\"\"]\"\n");
    let rows = place.run(&["extract", "--column", "url", "t.csv"], "").quiet();
    assert_eq!(rows, "url,uri_links\nhttp://u:p@h,\"[\"\"http://u:p@h\"\"]\"\n");
}

#[test]
fn values_that_are_compared_as_text_are_reported() {
    let place = Place::new(&[(
        "t.csv",
        "url,d,n\nhttp://h,03/02/2026,9\nHTTP://h,01/03/2026,v10\nhttp://i,2026-1-1,n/a\n",
    )]);
    let kept = |column: &str, more: &[&str]| {
        let keep = format!("max:{column}");
        let args = ["dedup", "--column", "url", "--keep", &keep, "t.csv"];
        place.run(&[&args[..], more].concat(), "").stderr
    };
    for more in [&[][..], &["-o", "o.parquet"], &["-o", "o.jsonl"]] {
        assert!(kept("d", more).starts_with("uriscan: 3 values of the column"), "{more:?}");
        assert!(kept("n", more).starts_with("uriscan: 1 value of the column"), "{more:?}");
        assert_eq!(kept("url", &["-q"]), "");
    }
    let args = ["dedup", "--column", "url", "--keep", "max:n", "o.parquet", "-o", "p.parquet"];
    let reported = place.run(&args, "").stderr;
    assert!(
        reported.starts_with("uriscan: 1 value of the column that --keep names is"),
        "{reported}"
    );
}

#[test]
fn no_row_is_lost_where_the_rows_before_it_do_not_fit() {
    let skip = ["dedup", "--column", "url", "--on-bad-row", "skip", "--rejects", "bad"];
    let ran = |text: &str, from: &str, more: &[&str]| {
        let place = Place::new(&[]);
        let args = [&skip[..], &["--from", from], more].concat();
        let ran = place.run(&args, text);
        let text = String::from_utf8_lossy(&ran.stdout).into_owned();
        (ran.code, text, ran.stderr, place.path("bad").exists().then(|| place.read("bad")))
    };
    // Faults of all kinds, in any order.
    let odd = "{\"url\":\"http://h\",\"x\":NaN}\n{\"url\":\n{\"url\":\"http://i\"}\n";
    let (code, out, ..) = ran(odd, "jsonl", &["--to", "csv"]);
    assert_eq!((code, &*out), (0, "url\nhttp://i\n"));
    // Carriage returns alone end no row, and a header that cannot be found is an error as it is for rows.
    for more in [&[][..], &["--to", "jsonl"]] {
        let (code, _, message, _) = ran("url\rhttp://h\ra b\r", "csv", more);
        assert!(code == 2 && message.contains("its first row: a carriage return"), "{message}");
    }
    let lines = format!("{}\n", "[1]").repeat(400_000) + "{\"url\":\"http://h\",\"x\":1}\n";
    let (code, out, ..) = ran(&lines, "jsonl", &["--to", "csv"]);
    assert_eq!((code, &*out), (0, "url,x\nhttp://h,1\n"));
    let (code, out, ..) = ran("[[1,2],{\"url\":\"http://h/1\"}]", "jsonl", &["--to", "csv"]);
    assert_eq!((code, &*out), (0, "url\nhttp://h/1\n"));
    let twice = "{\"url\":\"http://h\",\"n\":2,\"n\":3}\n\u{b}\n{\"url\":\"http://h\",\"n\":1}\n";
    for keep in ["max:n", "first"] {
        let (code, out, ..) =
            ran(twice, "jsonl", &["--keep", keep, "--with", "n", "--sort-by", "surt"]);
        assert_eq!((code, &*out), (0, "{\"url\":\"http://h\",\"n\":1}\n"));
    }
}

#[test]
fn rejects_name_white_space_and_columns_of_the_row() {
    let place = Place::new(&[("t.csv", "n,url\n1,\" \"\n9,http://%zz\n")]);
    let args =
        ["normalize", "--column", "url", "--on-bad-row", "skip", "--rejects", "bad", "t.csv"];
    place.run(&args, "");
    let bad = place.read("bad");
    assert_eq!(bad.lines().count(), 2, "{bad}");
    assert!(bad.contains("percent at column 10"), "{bad}");
    let taken = Place::new(&[(
        "t.jsonl",
        "{\"url\":\"http://h\",\"uri_normalized\":1}\n{\"url\":\"http://i\"}\n",
    )]);
    let args = ["normalize", "--column", "url", "--on-bad-row", "skip", "t.jsonl"];
    let ran = taken.run(&args, "");
    assert_eq!(ran.text(), "{\"url\":\"http://i\",\"uri_normalized\":\"http://i/\"}\n");
    assert_eq!(ran.stderr, "uriscan: 1 row that does not fit was skipped\n");
}
