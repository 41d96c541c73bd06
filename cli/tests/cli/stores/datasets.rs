//! Datasets in object stores: prefixes and patterns of tables.

use super::server::{Fault, Server};
use super::{command, run};
use crate::run::{Place, finish};

fn crawl() -> Server {
    let server = Server::start();
    for (name, text) in [
        ("b/crawl/", ""),
        ("b/crawl/dt=1/", ""),
        ("b/crawl/dt=1/a.csv", "url\nhttp://a\n"),
        ("b/crawl/dt=1/b.csv", "url\nhttp://b\n"),
        ("b/crawl/dt=1/notes.txt", "nothing\n"),
        ("b/crawl/dt=2/a.csv/", ""),
        ("b/crawl/dt=2/a.csv/part.csv", "url\nhttp://c\n"),
        ("b/crawl/_SUCCESS", ""),
        ("b/crawl/_temporary/0.json", "{}"),
        ("b/crawl/.part.csv.crc", "x"),
        ("b/crawl.csv", "url\nhttp://no\n"),
        ("b/crawling/a.csv", "url\nhttp://no\n"),
    ] {
        server.put(name, text);
    }
    server
}

/// The arguments of a run over `input` that writes the columns of files only.
fn dedup<'a>(input: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["dedup", "--column", "url", "--no-hive", input], more].concat()
}

#[test]
fn prefixes_and_patterns_stand_for_their_tables() {
    let server = crawl();
    let all = "url\nhttp://a\nhttp://b\nhttp://c\n";
    for input in [
        "crawl/",
        "crawl",
        "crawl/dt=*/",
        "crawl/dt=*",
        "crawl/**/*.csv",
        "c*l/**",
        "crawl/dt=[0-9]/*",
    ] {
        let input = format!("s3://b/{input}");
        assert_eq!(run(&server, &dedup(&input, &[])).quiet(), all, "{input}");
    }
    let one = run(&server, &dedup("s3://b/crawl/dt=[2-9]", &[])).quiet();
    assert_eq!(one, "url\nhttp://c\n");
    let top = ["top", "--by", "host", "--column", "url", "s3://b/crawl/dt=1", "--to", "tsv"];
    assert_eq!(run(&server, &top).quiet().lines().count(), 3, "a header and two hosts");
    // Only names that can match are listed, and what was listed is not asked for again.
    let before = server.log().len();
    run(&server, &dedup("s3://b/crawl/dt=1/*.csv", &[])).quiet();
    let log = &server.log()[before..];
    let listings: Vec<&str> =
        log.iter().map(|seen| &*seen.target).filter(|it| it.contains("list-type")).collect();
    assert_eq!(listings.len(), 2, "two pages: {listings:?}");
    assert!(listings.iter().all(|it| it.contains("prefix=crawl%2Fdt%3D1%2F")), "{listings:?}");
    let heads = log.iter().filter(|seen| seen.method == "HEAD").map(|seen| &seen.target);
    assert_eq!(heads.collect::<Vec<_>>(), ["/b/crawl/dt=1/*.csv?"]);
}

#[test]
fn directories_of_objects_are_columns() {
    let server = crawl();
    server.put("b/crawl/dt=a%2Fb/lang=__HIVE_DEFAULT_PARTITION__/x.csv", "n,url\n1,http://d\n");
    let args = |input| ["dedup", "--column", "url", input];
    let all = "url,n,dt,lang\nhttp://a,,1,\nhttp://b,,1,\nhttp://c,,2,\nhttp://d,1,a/b,\n";
    assert_eq!(run(&server, &args("s3://b/crawl/")).quiet(), all);
    // The part of a pattern without special characters names no column.
    assert_eq!(run(&server, &args("s3://b/crawl/dt=1/*")).quiet(), "url\nhttp://a\nhttp://b\n");
    server.put("b/crawl/dt=2/dt=3/x.csv", "url\nhttp://e\n");
    let message = run(&server, &args("s3://b/crawl/")).refused();
    assert!(message.contains("the directory dt=3 names a column for the second time"), "{message}");
}

#[test]
fn the_tables_of_a_directory_of_the_disk_give_the_same() {
    let (server, place) = (crawl(), Place::new(&[]));
    for (name, text) in [
        ("crawl/dt=1/a.csv", "url\nhttp://a\n"),
        ("crawl/dt=1/b.csv", "url\nhttp://b\n"),
        ("crawl/dt=1/notes.txt", "nothing\n"),
        ("crawl/dt=2/a.csv/part.csv", "url\nhttp://c\n"),
        ("crawl/_SUCCESS", ""),
        ("crawl/_temporary/0.json", "{}"),
        ("crawl/.part.csv.crc", "x"),
    ] {
        let path = place.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    for input in ["crawl/", "crawl/*/*.csv", "crawl/_*/*", "crawl/*", "crawl/x*", "crawl/dt=1/n*"] {
        for more in [&["--to", "csv"][..], &["--to", "csv", "--from", "csv", "--keep", "last"]] {
            let args = [&["dedup", "--column", "url"], more].concat();
            let local = place.run(&[&args[..], &[input]].concat(), "");
            let stored = run(&server, &[&args[..], &[&format!("s3://b/{input}")]].concat());
            let named = local.stderr.replace("crawl/", "s3://b/crawl/");
            assert_eq!(
                (stored.code, stored.stderr.clone()),
                (local.code, named),
                "{args:?} {input}"
            );
            assert_eq!(stored.text(), local.text(), "{args:?} {input}");
        }
    }
}

#[test]
fn an_object_that_is_called_like_a_pattern_is_an_object() {
    let server = Server::start();
    server.put("b/a[1].csv", "url\nhttp://a\n");
    server.put("b/a1.csv", "url\nhttp://b\n");
    assert_eq!(run(&server, &dedup("s3://b/a[1].csv", &[])).quiet(), "url\nhttp://a\n");
    assert_eq!(run(&server, &dedup("s3://b/a[1-9].csv", &[])).quiet(), "url\nhttp://b\n");
    server.put("b/x*/c.csv", "url\nhttp://c\n");
    server.put("b/xy/d.csv", "url\nhttp://d\n");
    assert_eq!(run(&server, &dedup("s3://b/x*/", &[])).quiet(), "url\nhttp://c\n");
    assert_eq!(run(&server, &dedup("s3://b/x[y]/", &[])).quiet(), "url\nhttp://d\n");
    // Lists are not selected by patterns, as those of files are not.
    let message = run(&server, &["dedup", "s3://b/a*.csv"]).refused();
    assert!(
        message.contains("s3://b/a*.csv: there is no such object")
            && message.ends_with("; patterns select tables, not lists"),
        "{message}"
    );
}

#[test]
fn results_are_not_found_as_input() {
    let server = crawl();
    let args = dedup("s3://b/crawl/", &["-o", "s3://b/crawl/dt=1/a.csv"]);
    let message = run(&server, &args).refused();
    assert!(message.contains("s3://b/crawl/dt=1/a.csv: is the input"), "{message}");
    assert_eq!(server.get("b/crawl/dt=1/a.csv").unwrap(), b"url\nhttp://a\n");
    let args = dedup("s3://b/crawl/", &["-o", "s3://b/crawl/new.csv"]);
    assert_eq!(run(&server, &args).quiet(), "");
}

#[test]
fn an_object_of_a_dataset_is_the_one_that_was_listed() {
    let server = crawl();
    let other = b"url\nhttp://other\n".to_vec();
    server.fail("GET", "/b/crawl/dt=1/b.csv", 0..1, Fault::Replaced(other));
    let message = run(&server, &dedup("s3://b/crawl/", &["-o", "s3://b/out.csv"])).refused();
    assert!(
        message.contains("s3://b/crawl/dt=1/b.csv")
            && message.contains("changed while it was read"),
        "{message}"
    );
    assert_eq!(server.get("b/out.csv"), None);
}

#[test]
fn a_listing_that_fails_is_repeated_or_an_error() {
    for fault in [Fault::Status(503, "SlowDown"), Fault::CutAfter(20)] {
        let server = crawl();
        server.fail("GET", "list-type", 1..3, fault.clone());
        let found = run(&server, &dedup("s3://b/crawl/", &[])).quiet();
        assert_eq!(found, "url\nhttp://a\nhttp://b\nhttp://c\n", "{fault:?}");
        server.fail("GET", "list-type", 0..99, fault);
        let mut command = command(&server, 2, &dedup("s3://b/crawl/", &["-o", "s3://b/out.csv"]));
        command.env("AWS_READ_TIMEOUT", "1s");
        let message = finish(command, "").refused();
        assert!(message.starts_with("uriscan: s3://b/crawl/: the "), "{message}");
        assert_eq!(server.get("b/out.csv"), None);
    }
    let server = crawl();
    server.fail("GET", "list-type", 0..99, Fault::Status(403, "AccessDenied"));
    let message = run(&server, &dedup("s3://b/crawl/", &[])).refused();
    assert!(message.starts_with("uriscan: s3://b/crawl/: access denied"), "{message}");
}
