//! How often objects of datasets are requested.

use std::collections::BTreeMap;
use std::ops::Range;

use super::run;
use super::server::{Fault, Seen, Server};
use super::tables::table;
use crate::run::Place;

/// The requests that `args` lead to, which succeed and print `expected` lines.
fn requests(server: &Server, args: &[&str], expected: usize) -> Vec<Seen> {
    let before = server.log().len();
    assert_eq!(run(server, args).quiet().lines().count(), expected, "{args:?}");
    server.log().split_off(before)
}

fn heads(log: &[Seen]) -> Vec<&str> {
    log.iter().filter(|seen| seen.method == "HEAD").map(|seen| &*seen.target).collect()
}

/// The ranges that were requested of each object.
fn ranges(log: &[Seen]) -> BTreeMap<&str, Vec<Range<usize>>> {
    let mut ranges: BTreeMap<_, Vec<_>> = BTreeMap::new();
    for Seen { target, range, .. } in log {
        let Some(range) = range else { continue };
        let (start, last) = range["bytes=".len()..].split_once('-').unwrap();
        let range = start.parse().unwrap()..last.parse::<usize>().unwrap() + 1;
        ranges.entry(&**target).or_default().push(range);
    }
    ranges
}

#[test]
fn what_a_listing_says_is_not_asked_for_again() {
    let server = Server::start();
    for n in 0..20 {
        server.put(&format!("b/in/{n:02}.csv"), format!("url\nhttp://h/{n}\n"));
        server.put(&format!("b/lists/{n:02}"), format!("http://h/{n}\n"));
    }
    for other in [false, true] {
        if other {
            server.list_other_etags();
        }
        for service in ["s3", "gs"].into_iter().filter(|service| !other || *service == "gs") {
            let folder = format!("{service}://b/in/");
            let log = requests(&server, &["dedup", "--column", "url", &folder], 21);
            assert!(heads(&log).is_empty(), "{service}: {log:?}");
            let pattern = format!("{service}://b/in/*.csv");
            let log = requests(&server, &["dedup", "--column", "url", &pattern], 21);
            assert_eq!(heads(&log), ["/b/in/*.csv?"], "{service}");
            let log = requests(&server, &["dedup", &format!("{service}://b/lists/")], 20);
            assert!(heads(&log).is_empty(), "{service}: {log:?}");
            assert!(log.len() == 20 + 7, "{service}: seven pages, and each object once: {log:?}");
        }
    }
}

#[test]
fn an_object_that_is_replaced_after_it_was_listed_is_an_error() {
    for (service, lists_other_etags) in [("s3", false), ("gs", false), ("gs", true)] {
        for new in ["url\nhttp://x\n", "url\nhttp://longer\n"] {
            let server = Server::start();
            server.put("b/in/a.csv", "url\nhttp://a\n");
            server.put("b/in/b.csv", "url\nhttp://b\n");
            if lists_other_etags {
                server.list_other_etags();
            }
            // Before the first request of it.
            server.fail("GET", "/b/in/b.csv", 0..1, Fault::Replaced(new.into()));
            let folder = format!("{service}://b/in/");
            let args = ["dedup", "--column", "url", &folder, "-o", "s3://b/out.csv"];
            let message = run(&server, &args).refused();
            assert!(
                message.contains("/b/in/b.csv") && message.contains("changed while it was read"),
                "{message}"
            );
            assert_eq!(server.get("b/out.csv"), None);
            // One that is removed.
            server.fail("GET", "/b/in/a.csv", 0..9, Fault::Status(404, "NoSuchKey"));
            let message = run(&server, &args).refused();
            let expected =
                format!("uriscan: {service}://b/in/a.csv: there is no such object, or no such");
            assert!(message.starts_with(&expected), "{message}");
        }
    }
    // Between two requests of it.
    let (server, place) = (Server::start(), Place::new(&[]));
    let mut bytes = table(&place, "in.parquet", 400);
    server.put("b/in/a.parquet", bytes.clone());
    bytes[1_000] ^= 1;
    server.fail("GET", "/b/in/a.parquet", 1..2, Fault::Replaced(bytes));
    server.list_other_etags();
    let args = ["dedup", "--column", "url", "gs://b/in/", "-o", "gs://b/out.csv"];
    assert!(run(&server, &args).refused().contains("changed while it was read"));
    // Before the first request, which is beyond the end of the new one.
    server.fail("GET", "/b/in/a.parquet", 0..1, Fault::Replaced(b"short".to_vec()));
    assert!(run(&server, &args).refused().contains("changed while it was read"));
}

#[test]
fn an_object_without_bytes_that_is_filled_after_it_was_listed_is_an_error() {
    for service in ["s3", "gs"] {
        let server = Server::start();
        server.put("b/in/a.jsonl", "{\"url\":\"http://a\"}\n");
        server.put("b/in/b.jsonl", "");
        let folder = format!("{service}://b/in/*.jsonl");
        let args = ["dedup", "--column", "url", &folder, "-o", "s3://b/out.csv"];
        run(&server, &args).quiet();
        let expected = server.get("b/out.csv");
        assert_eq!(expected.as_deref(), Some(&b"url\nhttp://a\n"[..]));
        let new = b"{\"url\":\"http://b\"}\n";
        server.fail("HEAD", "/b/in/b.jsonl", 0..1, Fault::Replaced(new.to_vec()));
        let message = run(&server, &args).refused();
        assert!(
            message.contains("/b/in/b.jsonl") && message.contains("changed while it was read"),
            "{message}"
        );
        assert_eq!(server.get("b/out.csv"), expected);
    }
}

#[test]
fn footers_are_requested_once() {
    let (server, place) = (Server::start(), Place::new(&[]));
    let bytes = table(&place, "in.parquet", 400);
    for n in 0..20 {
        server.put(&format!("b/in/{n:02}.parquet"), bytes.clone());
    }
    let footer = bytes.len() - (256 << 10)..bytes.len();
    for (more, reads) in [(&[][..], 1), (&["--keep", "last"], 2), (&["-c"], 2)] {
        for service in ["s3", "gs"] {
            let folder = format!("{service}://b/in/");
            let args = ["dedup", "--column", "url", &folder, "--to", "csv"];
            let log = requests(&server, &[&args[..], more].concat(), 201);
            assert!(heads(&log).is_empty(), "{log:?}");
            let ranges = ranges(&log);
            assert_eq!(ranges.len(), 20, "{ranges:?}");
            for (name, ranges) in ranges {
                let (of_footer, of_rows): (Vec<_>, Vec<_>) =
                    ranges.into_iter().partition(|range| *range == footer);
                assert_eq!((of_footer.len(), of_rows.len()), (1, reads), "{name} {more:?}");
                assert!(of_rows.iter().all(|range| range.start < 100), "{name}: {of_rows:?}");
            }
        }
    }
}

#[test]
fn short_objects_are_requested_once() {
    let (server, place) = (Server::start(), Place::new(&[]));
    let bytes = table(&place, "in.parquet", 40);
    for n in 0..20 {
        server.put(&format!("b/in/{n:02}.parquet"), bytes.clone());
        // Its format is in its first bytes only.
        server.put(&format!("b/any/{n:02}"), bytes.clone());
    }
    for more in [&[][..], &["--keep", "last"]] {
        let args = ["dedup", "--column", "url", "s3://b/in/", "--to", "csv"];
        let log = requests(&server, &[&args[..], more].concat(), 21);
        let found = ranges(&log);
        assert_eq!(found.len(), 20);
        let is_whole = |ranges: &Vec<_>| ranges.len() == 1 && ranges[0] == (0..bytes.len());
        assert!(found.values().all(is_whole), "{found:?}");
    }
    let args = ["dedup", "--column", "url", "--from", "parquet", "s3://b/any/", "--to", "csv"];
    assert!(ranges(&requests(&server, &args, 21)).values().all(|ranges| ranges.len() == 1));
}
