//! Answers that say success and are none: nothing is taken as listed, read or written that was not.

use super::server::{Fault, Server};
use super::{command, list, run};
use crate::run::finish;

/// A bucket with seven tables, which are listed in three pages.
fn bucket() -> Server {
    let server = Server::start();
    for n in 0..7 {
        server.put(&format!("b/in/{n}.csv"), format!("url\nhttp://h/{n}\n"));
    }
    server
}

/// A page of a listing with this after the names of the first two tables.
fn page(rest: &str) -> Fault {
    let names = (0..2).map(|n| {
        format!("<Contents><Key>in/{n}.csv</Key><LastModified>2026-11-23T10:00:00.250Z</LastModified><Size>15</Size></Contents>")
    });
    let names: String = names.collect();
    Fault::Instead(200, Vec::new(), format!("<ListBucketResult>{names}{rest}</ListBucketResult>"))
}

fn answer(status: u16, body: &str) -> Fault {
    Fault::Instead(status, Vec::new(), body.to_owned())
}

const TOKEN: &str = "<NextContinuationToken>in/1.csv</NextContinuationToken>";

#[test]
fn a_listing_that_is_none_is_an_error() {
    for (fault, what) in [
        (answer(200, "<Error><Code>InternalError</Code></Error>"), "sent no page of a listing"),
        (answer(200, "<html><body>Please log in</body></html>"), "sent no page of a listing"),
        (answer(200, "<!DOCTYPE html>\n<html><br></html>"), "sent no page of a listing"),
        (answer(200, ""), "sent no page of a listing"),
        (answer(200, "{}"), "sent no page of a listing"),
        (answer(200, "<ListBucketResult><IsTruncated>false</IsTruncated>"), "it breaks off"),
        (answer(202, ""), "did not say that it is done (HTTP status 202)"),
        (answer(204, ""), "did not say that it is done (HTTP status 204)"),
        (answer(206, "<ListBucketResult/>"), "did not say that it is done (HTTP status 206)"),
        (page("<IsTruncated>true</IsTruncated>"), "the server did not say where"),
        (page("<IsTruncated>true</IsTruncated><NextContinuationToken/>"), "did not say where"),
        (page(""), "does not say whether it is the last one"),
        (page("<IsTruncated>false</IsTruncated><KeyCount>3</KeyCount>"), "announced 3 names"),
    ] {
        for service in ["s3", "gs"] {
            for number in 0..2 {
                let server = bucket();
                server.fail("GET", "list-type=2", number..number + 1, fault.clone());
                for input in ["in/", "in/*.csv"] {
                    let input = format!("{service}://b/{input}");
                    let args = ["dedup", "--column", "url", &input, "-o", "s3://b/out.csv"];
                    let message = run(&server, &args).refused();
                    assert!(
                        message.contains(what) && message.contains(&input),
                        "{message}, not {what}"
                    );
                    assert_eq!(server.get("b/out.csv"), None);
                    // The next listing is the second to go wrong.
                    let server = &server;
                    server.fail("GET", "list-type=2", number..number + 1, fault.clone());
                }
                let refused = run(&server, &["dedup", &format!("{service}://b/in/")]).refused();
                assert!(refused.contains(what), "{refused}");
            }
        }
    }
}

#[test]
fn a_listing_that_never_ends_is_an_error() {
    let server = bucket();
    let again = page(&format!("<IsTruncated>true</IsTruncated>{TOKEN}"));
    server.fail("GET", "list-type=2", 0..usize::MAX, again);
    let refused = run(&server, &["dedup", "s3://b/in/"]).refused();
    assert!(refused.contains("the same page again and again"), "{refused}");
    assert!(server.log().len() < 5);
}

#[test]
fn a_key_that_is_listed_twice_is_read_once() {
    for service in ["s3", "gs"] {
        let input = format!("{service}://b/in/");
        for (args, read) in [
            (&["normalize", "--column", "url", "--to", "jsonl"][..], &["0", "1", "2", "6"][..]),
            (&["extract"], &["0", "1", "2", "6"]),
        ] {
            let server = bucket();
            // The second page has two names of the first one once more, and leads to the same third one.
            let second = page(
                "<IsTruncated>true</IsTruncated><NextContinuationToken>in/5.csv</NextContinuationToken>",
            );
            server.fail("GET", "continuation-token", 0..1, second);
            let found = run(&server, &[args, &[&input]].concat()).quiet();
            let paths = found.lines().filter_map(|row| row.split("http://h/").nth(1));
            let paths: Vec<&str> = paths.map(|path| &path[..1]).collect();
            assert_eq!(paths, read, "{service} {args:?}: {found}");
        }
    }
}

#[test]
fn an_upload_that_is_only_accepted_is_none() {
    for service in ["s3", "gs"] {
        for status in [202, 203, 205, 206] {
            let server = Server::start();
            server.put("b/list", list(10));
            let tag = Fault::Instead(status, vec![("ETag", "\"x\"")], String::new());
            server.fail("PUT", "/b/out", 0..9, tag);
            let out = format!("{service}://b/out");
            let message = run(&server, &["normalize", "s3://b/list", "-o", &out]).refused();
            let what =
                format!("{out}: the server did not say that it is done (HTTP status {status})");
            assert!(message.contains(&what), "{message}");
            assert_eq!(server.log().iter().filter(|seen| seen.method == "PUT").count(), 1);
        }
    }
    // A part of a large one.
    let server = Server::start();
    server.put("b/list", list(320_000));
    let tag = Fault::Instead(202, vec![("ETag", "\"x\"")], String::new());
    server.fail("PUT", "partNumber=2", 0..9, tag);
    let message = run(&server, &["normalize", "s3://b/list", "-o", "s3://b/out"]).refused();
    assert!(message.contains("s3://b/out: the server did not say that it is done"), "{message}");
    assert_eq!((server.get("b/out"), server.open_uploads()), (None, 0));
}

/// The message for a list of 400 records on a web server whose answer number `number` is `fault`.
fn refused_page(is_plain: bool, number: usize, fault: Fault) -> String {
    let server = Server::start();
    server.put("list", list(400));
    if is_plain {
        server.be_plain();
    }
    server.fail("GET", "/list", number..99, fault);
    let message = finish(command(&server, 1, &["normalize", &server.url("/list")]), "");
    // What came before may have been written.
    assert_eq!(message.code, 2, "{}", message.stderr);
    assert!(message.stderr.contains("/list: "), "{}", message.stderr);
    message.stderr
}

#[test]
fn only_the_whole_file_or_the_part_that_was_asked_for_is_taken() {
    let part = |status, range, body: &str| {
        let headers = vec![("Content-Range", range), ("ETag", "\"x\"")];
        Fault::Instead(status, headers, body.to_owned())
    };
    let of_status = |status| Fault::Instead(status, Vec::new(), "http://h/1\n".to_owned());
    for is_plain in [false, true] {
        for number in 0..2 {
            for status in [201, 202, 203, 204] {
                let message = refused_page(is_plain, number, of_status(status));
                let what = format!("did not send the file (HTTP status {status})");
                assert!(number == 1 && !is_plain || message.contains(&what), "{message}");
            }
        }
        // An unrequested part, or a different one.
        for range in [
            "bytes 0-0/0",
            "bytes 0-9/10",
            "bytes 1-1/10",
            "bytes 5-0/10",
            "bytes 0-0",
            "bytes */10",
            "bytes 0-0/18446744073709551616",
            "bytes 0-99999999999999999999/10",
            "items 0-0/10",
            "",
        ] {
            let message = refused_page(is_plain, 0, part(206, range, "http://h/1"));
            assert!(message.contains("another part of the file"), "{range}: {message}");
        }
        refused_page(is_plain, 1, part(206, "bytes 0-9/10", "http://h/1"));
    }
    // Without marks the file is requested as a whole: no part of it is expected then.
    let message = refused_page(true, 1, part(206, "bytes 0-9/10", "http://h/1"));
    assert!(message.contains("did not send the file (HTTP status 206)"), "{message}");
    // With them, parts are.
    let size = list(400).len();
    for range in [
        format!("bytes 1-{}/{size}", size - 1),
        format!("bytes 0-{size}/{}", size + 1),
        format!("bytes 0-{}/*", size - 1),
    ] {
        let range: &'static str = range.leak();
        let message = refused_page(false, 1, part(206, range, &list(400)));
        assert!(message.contains("another part") || message.contains("changed"), "{message}");
    }
}

#[test]
fn an_announced_length_holds_for_the_next_answer() {
    let text = list(400);
    for (first, second, what) in [
        // The second answer has no length: its end is that of the connection.
        (
            vec![("Content-Length", "25600")],
            &text[..12_800],
            "announced 25600 bytes and sent 12800",
        ),
        (vec![("Content-Length", "100")], &text[..], "announced 100 bytes and sent more than 100"),
    ] {
        assert_eq!(text.len(), 25_600);
        let server = Server::start();
        server.be_plain();
        server.put("list", text.as_bytes());
        let length: usize = first[0].1.parse().unwrap();
        server.fail("GET", "/list", 0..1, Fault::Instead(200, first, "x".repeat(length)));
        server.fail("GET", "/list", 1..9, Fault::Instead(200, Vec::new(), second.to_owned()));
        let ran = finish(command(&server, 1, &["normalize", &server.url("/list")]), "");
        assert!(ran.code == 2 && ran.stderr.contains(what), "{}", ran.stderr);
    }
    // A page that is made anew may have another length, which its own answer announces.
    let server = Server::start();
    let answer = |text: &str| Fault::Instead(200, Vec::new(), text.to_owned());
    server.fail("GET", "/page", 0..1, answer("http://h/first\n"));
    server.fail("GET", "/page", 1..9, answer("http://h/2\n"));
    assert_eq!(run(&server, &["normalize", &server.url("/page")]).quiet(), "http://h/2\n");
}

#[test]
fn of_what_a_store_says_only_a_code_is_shown() {
    let body =
        format!("<Error><Code>InternalError</Code><x>{}</x></Error>", "HIDDEN ".repeat(170_000));
    let (small, in_parts) = (list(1), list(290_000));
    for (method, part, status, text) in [
        ("GET", "", 400, &small),
        ("GET", "", 403, &small),
        ("PUT", "", 400, &small),
        ("POST", "uploadId=", 200, &in_parts),
    ] {
        let server = Server::start();
        server.put("b/in", &**text);
        server.fail(method, part, 0..100, answer(status, &body));
        let ran = finish(command(&server, 1, &["normalize", "s3://b/in", "-o", "s3://b/out"]), "");
        assert_eq!((ran.code, server.get("b/out")), (2, None), "{method} {status}");
        let is_short = ran.stderr.len() < 500 && ran.stderr.contains("InternalError");
        assert!(
            is_short && !ran.stderr.contains("HIDDEN"),
            "{method} {status}: {:.500}",
            ran.stderr
        );
    }
}
