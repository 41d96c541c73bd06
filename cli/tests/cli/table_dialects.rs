//! CSV and TSV as they are found: without a header, with other delimiters and quotes.

use crate::run::Place;

#[test]
fn tables_without_a_header_have_numbered_columns() {
    let rows = "1,HTTP://h\n2,http://h/\n3,http://i/\n";
    let place = Place::new(&[("in.csv", rows), ("in.tsv", &rows.replace(',', "\t"))]);
    let args = ["dedup", "--no-header", "--column", "2"];
    let run = |more: &[&str]| place.run(&[&args[..], more].concat(), "").quiet();
    assert_eq!(run(&["in.csv"]), "1,HTTP://h\n3,http://i/\n");
    assert_eq!(run(&["in.tsv"]), "1\tHTTP://h\n3\thttp://i/\n");
    // Several files are one table; by default no row of them is a header.
    assert_eq!(run(&["in.csv", "in.csv"]), "1,HTTP://h\n3,http://i/\n");
    let lines = "{\"column_1\":\"1\",\"column_2\":\"HTTP://h\"}\n{\"column_1\":\"3\",\"column_2\":\"http://i/\"}\n";
    assert_eq!(run(&["in.csv", "--to", "jsonl"]), lines);
    // Those that are read a second time, and those that are sorted.
    assert_eq!(run(&["in.csv", "-c"]), "1,HTTP://h,2\n3,http://i/,1\n");
    assert_eq!(run(&["in.csv", "--keep", "max:column_1"]), "2,http://h/\n3,http://i/\n");
    let args = ["normalize", "--no-header", "--column", "column_2", "--sort-by", "surt", "--from"];
    let ran = place.run(&[&args[..], &["csv"]].concat(), "x,http://i/\ny,http://h\n");
    assert_eq!(ran.quiet(), "y,http://h,http://h/\nx,http://i/,http://i/\n");
    let message = place.run(&[&args[..], &["csv"]].concat(), "").refused();
    assert_eq!(message, "uriscan: the number of columns is unknown, as there are no rows");
}

#[test]
fn delimiters_and_quotes_are_those_of_the_input_and_of_the_output() {
    let place = Place::new(&[
        ("in.csv", "id;url\n'a;''b';http://h\n\"c\";HTTP://h/\n\"d\";http://i/\n"),
        ("tab.csv", "id\turl\n\"1\thttp://h\n"),
        ("in.tsv", "id\turl\n\"1\thttp://h\n"),
    ]);
    let run =
        |args: &[&str]| place.run(&[&["dedup", "--column", "url"], args].concat(), "").quiet();
    let dialect = ["--delimiter", ";", "--quote", "'", "in.csv"];
    assert_eq!(run(&dialect), "id;url\n'a;''b';http://h\n\"d\";http://i/\n");
    let lines = run(&[&dialect[..], &["--to", "jsonl"]].concat());
    assert!(
        lines.starts_with("{\"id\":\"a;'b\",\"url\":\"http://h\"}\n{\"id\":\"\\\"d\\\"\""),
        "{lines}"
    );
    // The delimiter of TSV stays a tab.
    assert!(run(&["in.tsv", "--quote", "none"]).starts_with("id\turl\n\"1\t"));
    for tab in ["tab", "\\t", "\t"] {
        let args = ["tab.csv", "--delimiter", tab, "--quote", "none"];
        assert_eq!(run(&args), place.read("tab.csv"));
    }
}

#[test]
fn what_needs_quotes_is_not_written_without() {
    let run = |column: &str, args: &[&str], input: &str| {
        let place = Place::new(&[]);
        let fixed =
            ["dedup", "--column", column, "--quote", "none", "--to", "csv", "-o", "out.csv"];
        let message = place.run(&[&fixed[..], args].concat(), input).refused();
        assert_eq!(place.names(), [""; 0]);
        message
    };
    let advice = "which needs quotes; write csv, or type --quote '\"'";
    let what = format!("has a delimiter or a line end in a field, {advice}");
    for value in ["a,b", "a\\nb", "a\\rb"] {
        let line = format!("{{\"url\":\"http://h\",\"x\":\"{value}\"}}\n");
        let message = run("url", &["--from", "jsonl"], &line);
        assert_eq!(message, format!("uriscan: column x {what}"));
    }
    let message = run("url", &["--from", "jsonl"], "{\"url\":\"http://h\",\"a,b\":\"\"}\n");
    assert_eq!(message, format!("uriscan: the header {what}"));
    let lines = "{\"url\":\"http://h\"}\n{\"url\":null}\n";
    let message = run("url", &["--from", "jsonl", "--no-uri", "keep"], lines);
    assert_eq!(message, format!("uriscan: column url has an empty row, {advice}"));
}

#[test]
fn tsv_has_no_quotes_unless_they_are_typed() {
    let run = |args: &[&str], input: &str| {
        Place::new(&[]).run(&[&["dedup", "--column", "url", "--from", "tsv"], args].concat(), input)
    };
    let quoted = "url\ttitle\nhttp://h/1\t\"Hello\nhttp://h/2\tWorld\"\nhttp://h/3\t\"a\" b\n";
    assert_eq!(run(&[], quoted).quiet(), quoted, "no row is lost");
    assert_eq!(run(&["--to", "csv"], quoted).quiet().lines().count(), 4);
    let split = "url\ttitle\nhttp://h/1\t\"Hel\tlo\"\n";
    let ran = run(&[], split);
    assert!(ran.code == 2 && ran.stderr.contains("expected 2 fields, found 3"));
    assert_eq!(run(&["--quote", "\""], split).quiet(), split);
}

#[test]
fn dialects_that_cannot_be_are_refused() {
    let place = Place::new(&[("in.csv", "url\nhttp://h\n"), ("in.tsv", "url\nhttp://h\n")]);
    let run = |args: &[&str]| {
        let ran = place.run(&[&["dedup"], args].concat(), "");
        assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}");
        ran.stderr
    };
    for args in [["--delimiter", "ab"], ["--delimiter", "é"], ["--quote", ""], ["--quote", "ab"]] {
        let message = run(&[&args[..], &["--column", "url", "in.csv"]].concat());
        assert!(message.contains("an ASCII character or"), "{message}");
    }
    let message = run(&["--column", "url", "--delimiter", "\"", "in.csv"]);
    assert!(message.contains("two ASCII characters"), "{message}");
    let message = run(&["--column", "url", "--delimiter", ";", "in.tsv"]);
    assert!(message.contains("the delimiter of tsv is a tab"), "{message}");
    for args in [&["--no-header"][..], &["--delimiter", ";"], &["--quote", "'"]] {
        let message = run(&[args, &["in.csv"]].concat());
        assert!(message.contains("--column"), "{message}");
    }
}
