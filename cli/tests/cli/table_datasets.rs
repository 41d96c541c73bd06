//! Datasets: directories and patterns of tables.

use std::fs;

use crate::run::Place;

/// A place with these tables, below directories.
fn place(files: &[(&str, &str)]) -> Place {
    let place = Place::new(&[]);
    for (name, text) in files {
        let path = place.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}

fn crawl() -> Place {
    place(&[
        ("crawl/dt=2/a.csv", "url\nhttp://c\n"),
        ("crawl/dt=1/b.csv", "url\nhttp://b\n"),
        ("crawl/dt=1/a.csv", "url\nhttp://a\n"),
        ("crawl/dt=1/notes.txt", "nothing\n"),
        ("crawl/_SUCCESS", ""),
        ("crawl/_delta_log/0.json", "{}"),
        ("crawl/.part.csv.crc", "x"),
    ])
}

/// The arguments of a run over `input` that writes the column of URIs only.
fn dedup<'a>(input: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["dedup", "--column", "url", input], more].concat()
}

#[test]
fn directories_and_patterns_stand_for_their_tables() {
    let place = crawl();
    for input in ["crawl", "crawl/", "crawl/dt=*/", "crawl/**/*.csv", "c*/*/?.csv", "**"] {
        let written = place.run(&dedup(input, &[]), "").quiet();
        assert_eq!(written, "url\nhttp://a\nhttp://b\nhttp://c\n", "{input}");
    }
    assert_eq!(place.run(&dedup("crawl/dt=[2-9]", &[]), "").quiet(), "url\nhttp://c\n");
    let top = ["top", "--by", "host", "--column", "url", "crawl/dt=1", "--to", "tsv"];
    assert_eq!(place.run(&top, "").quiet().lines().count(), 3, "a header and two hosts");
}

#[test]
fn the_summary_counts_what_was_left_out() {
    let place = crawl();
    let ran = place.run(&dedup("crawl", &["--stats-format", "json"]), "");
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((stats["files"].as_u64(), stats["files_skipped"].as_u64()), (Some(3), Some(4)));
    let ran = place.run(&dedup("crawl", &["--stats"]), "");
    let line = ran.stderr.lines().find(|line| line.contains("files")).unwrap();
    assert!(line.ends_with("3  found; 4 left out, hidden or not a table by name"), "{line}");
    // Named files are not counted.
    let ran = place.run(&dedup("crawl/dt=2/a.csv", &["--stats"]), "");
    assert!(!ran.stderr.contains("files"), "{}", ran.stderr);
}

#[test]
fn a_dataset_without_tables_is_an_error_that_names_it() {
    let place = crawl();
    fs::create_dir(place.path("empty")).unwrap();
    for (input, what) in [
        ("empty", "no table was found"),
        ("crawl/*.parquet", "no table was found"),
        ("none/*.csv", "no table was found"),
        ("crawl/*", "no table was found; 3 left out: names with . or _ at the start and files"),
    ] {
        for dt in ["dt=1", "dt=2"].iter().filter(|_| input == "crawl/*") {
            fs::remove_dir_all(place.path(&format!("crawl/{dt}"))).unwrap();
        }
        let message = place.run(&dedup(input, &[]), "").refused();
        assert!(message.starts_with(&format!("uriscan: {input}: {what}")), "{message}");
    }
}

#[test]
fn a_format_reads_files_of_any_name() {
    let place = place(&[("t/000000_0", "url\nhttp://a\n"), ("t/_x", "url\nhttp://b\n")]);
    let message = place.run(&dedup("t", &[]), "").refused();
    assert!(message.contains("--from FORMAT"), "{message}");
    let written = place.run(&dedup("t", &["--from", "csv"]), "").quiet();
    assert_eq!(written, "url\nhttp://a\n");
}

#[test]
fn a_file_that_is_called_like_a_pattern_is_a_file() {
    let place = place(&[("a[1].csv", "url\nhttp://a\n"), ("a1.csv", "url\nhttp://b\n")]);
    assert_eq!(place.run(&dedup("a[1].csv", &[]), "").quiet(), "url\nhttp://a\n");
    assert_eq!(place.run(&dedup("a[1-9].csv", &[]), "").quiet(), "url\nhttp://b\n");
    let url = place.run(&dedup("http://h/?a=*", &["--to", "csv"]), "").refused();
    assert!(url.contains("is a URL, not a file"), "{url}");
}

#[test]
fn results_are_not_found_as_input() {
    let place = crawl();
    let args = dedup("crawl", &["-o", "crawl/dt=1/a.csv"]);
    let message = place.run(&args, "").refused();
    assert!(message.contains("is the input"), "{message}");
    assert_eq!(place.read("crawl/dt=1/a.csv"), "url\nhttp://a\n");
    // A new file is not there yet when the directory is read.
    assert_eq!(place.run(&dedup("crawl", &["-o", "crawl/new.csv"]), "").quiet(), "");
    assert_eq!(place.read("crawl/new.csv"), "url\nhttp://a\nhttp://b\nhttp://c\n");
}
