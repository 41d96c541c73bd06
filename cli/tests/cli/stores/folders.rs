//! Results in objects below a prefix.

use std::collections::BTreeMap;
use std::time::Duration;

use super::server::{Fault, Server};
use super::{command, list, run};
use crate::run::Place;

/// A table of so many rows, about 60 bytes each, in two languages and many domains.
fn table(rows: usize) -> String {
    let mut text = "url,lang\n".to_owned();
    for i in 0..rows {
        let (domain, lang) = (i * 7 % 101, ["de", "a/b"][i % 2]);
        text += &format!("http://www.h{domain}.co.uk/some/rather/long/path/{i:08},{lang}\n");
    }
    text
}

/// The files below `directory`.
fn files(place: &Place, directory: &str) -> BTreeMap<String, Vec<u8>> {
    let root = place.path(directory);
    let (mut files, mut left) = (BTreeMap::new(), vec![root.clone()]);
    while let Some(at) = left.pop() {
        for entry in std::fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let below = path.strip_prefix(&root).unwrap().components();
            let names: Vec<&str> = below.map(|name| name.as_os_str().to_str().unwrap()).collect();
            files.insert(names.join("/"), std::fs::read(&path).unwrap());
        }
    }
    files
}

#[test]
fn the_objects_are_the_files_of_a_directory() {
    let place = Place::new(&[("in.csv", &table(3_000))]);
    let input = place.path("in.csv").display().to_string();
    let server = Server::start();
    for (number, more) in [
        &["--rows-per-file", "1000"][..],
        &["--rows-per-file", "700", "--to", "parquet"],
        &["--bytes-per-file", "50000"],
        &["--partition-by", "lang,domain"],
        &["--partition-by", "lang", "--to", "arrow", "--rows-per-file", "600"],
        &["--to", "jsonl"],
    ]
    .into_iter()
    .enumerate()
    {
        let args = [&["normalize", "--column", "url", &input], more].concat();
        let name = format!("out{number}");
        place.run(&[&args[..], &["-o", &format!("{name}/")]].concat(), "").quiet();
        let url = format!("s3://b/{name}");
        // Without the slash, options say that there are several files.
        let url = if number == 5 { url + "/" } else { url };
        assert_eq!(run(&server, &[&args[..], &["-o", &url]].concat()).quiet(), "", "{more:?}");
        let found = server.below(&format!("b/{name}/"));
        assert!(found == files(&place, &name), "{more:?}: {:?}", found.keys());
        assert!(!found.is_empty());
    }
    assert_eq!(server.open_uploads(), 0);
    // What was written is a dataset, whose directories are columns.
    let args = ["dedup", "--column", "url", "--sort-by", "surt", "--to", "csv"];
    let again = run(&server, &[&args[..], &["s3://b/out3/"]].concat()).quiet();
    assert!(again == place.run(&[&args[..], &["out3/"]].concat(), "").quiet());
    assert!(again.starts_with("url,uri_normalized,lang,domain\n"), "{}", &again[..60]);
}

#[test]
fn a_prefix_that_is_not_empty_is_refused() {
    let server = Server::start();
    server.put("b/in.csv", "url\nhttp://h\n");
    server.put("b/full/x/y", "old");
    server.put("b/marked/", "");
    server.put("b/file", "old");
    let out = |url: &str| {
        run(
            &server,
            &["dedup", "--column", "url", "s3://b/in.csv", "--rows-per-file", "1", "-o", url],
        )
    };
    assert_eq!(
        out("s3://b/full").refused(),
        "uriscan: s3://b/full/: is not empty; name a new prefix, or remove the objects below it"
    );
    assert!(out("s3://b/").refused().contains("s3://b/: is not empty"));
    assert_eq!(
        out("s3://b/file").refused(),
        "uriscan: s3://b/file: is an object; a prefix takes the results"
    );
    let refused = out(&server.url("/out/")).refused();
    assert!(refused.contains("files of web servers can only be read"), "{refused}");
    assert_eq!(out("s3://b/marked/").quiet(), "");
    assert_eq!(server.get("b/marked/part-00000.csv").unwrap(), b"url\nhttp://h\n");
    assert_eq!(server.below("b/full/").len() + server.below("b/file").len(), 2);
}

/// A table whose first 300,000 rows are more than a part.
fn large() -> String {
    "url\n".to_owned() + &list(400_000)
}

const TWO_FILES: [&str; 5] = ["normalize", "--column", "url", "--rows-per-file", "300000"];

#[test]
fn faults_that_pass_leave_whole_objects() {
    let server = Server::start();
    let place = Place::new(&[("in.csv", &large())]);
    let input = place.path("in.csv").display().to_string();
    let local = [&TWO_FILES[..], &[&input, "-o", "out"]].concat();
    place.run(&local, "").quiet();
    for fault in [
        Fault::Status(503, "SlowDown"),
        Fault::Status(500, "InternalError"),
        Fault::CutAfter(5),
        Fault::Slow(Duration::from_millis(200)),
    ] {
        server.clear();
        server.fail("PUT", "/b/out/", 0..2, fault.clone());
        server.fail("POST", "/b/out/", 0..1, fault.clone());
        server.fail("GET", "list-type", 0..1, fault.clone());
        let args = [&TWO_FILES[..], &[&input, "-o", "s3://b/out/"]].concat();
        assert_eq!(run(&server, &args).quiet(), "", "{fault:?}");
        assert!(server.below("b/out/") == files(&place, "out"), "{fault:?}");
        // An upload that was begun twice, because the first answer was cut, is not an object.
        assert!(server.open_uploads() <= usize::from(fault == Fault::CutAfter(5)), "{fault:?}");
    }
    assert!(server.log().iter().any(|seen| seen.target.contains("partNumber=1")));
}

#[test]
fn all_objects_appear_or_none() {
    let place = Place::new(&[("in.csv", &large()), ("small.csv", &table(3_000))]);
    let (large, small) = (place.path("in.csv"), place.path("small.csv"));
    let (large, small) = (large.to_str().unwrap(), small.to_str().unwrap());
    let domains = ["normalize", "--column", "url", "--partition-by", "domain"];
    for (args, method, part, fault, what) in [
        // Of many objects one is refused: the others are removed again.
        (
            &domains[..],
            "PUT",
            "h7.co.uk",
            403,
            "s3://b/out/: domain=h7.co.uk/part-00000.csv: access denied",
        ),
        (
            &domains,
            "PUT",
            "h9.co.uk",
            503,
            "s3://b/out/: domain=h9.co.uk/part-00000.csv: the server is busy",
        ),
        // A part, and its being put together.
        (&TWO_FILES, "PUT", "partNumber=1", 403, "s3://b/out/: part-00000.csv: access denied"),
        (&TWO_FILES, "POST", "uploadId=", 403, "s3://b/out/: part-00000.csv: access denied"),
        (&TWO_FILES, "POST", "uploads", 403, "s3://b/out/: part-00000.csv: access denied"),
    ] {
        let server = Server::start();
        server.fail(method, part, 0..99, Fault::Status(fault, "AccessDenied"));
        let input = if args.contains(&"--partition-by") { small } else { large };
        let failed = run(&server, &[args, &[input, "-o", "s3://b/out/"]].concat()).refused();
        assert!(failed.contains(what), "{failed}");
        assert_eq!(server.below("b/").keys().collect::<Vec<_>>(), Vec::<&String>::new(), "{what}");
        assert_eq!(server.open_uploads(), 0, "{what}");
    }
    // What cannot be removed is counted.
    let server = Server::start();
    server.fail("PUT", "h7.co.uk", 0..99, Fault::Status(403, "AccessDenied"));
    server.fail("POST", "?delete", 0..999, Fault::Status(403, "AccessDenied"));
    let failed = run(&server, &[&domains[..], &[small, "-o", "s3://b/out/"]].concat()).refused();
    let left = server.below("b/").len();
    assert!(
        failed.ends_with(&format!("; {left} of the other objects could not be removed")),
        "{failed}"
    );
    // A run that fails for another reason puts nothing there.
    let server = Server::start();
    server.put("b/in.csv", large_with_end());
    let args = [&TWO_FILES[..], &["--on-invalid", "error", "s3://b/in.csv", "-o", "s3://b/out/"]];
    assert!(run(&server, &args.concat()).refused().contains("s3://b/in.csv"));
    assert!(server.log().iter().any(|seen| seen.target.contains("partNumber=1")));
    assert_eq!((server.below("b/out/").len(), server.open_uploads()), (0, 0));
}

/// [`large`] with an invalid row at its end.
fn large_with_end() -> String {
    large() + &list(600_000) + "no uri\n"
}

#[cfg(unix)]
#[test]
fn a_signal_aborts_all_uploads() {
    use std::io::Write;
    use std::process::{Command, Stdio};
    use std::time::Instant;
    let server = Server::start();
    let args = [&TWO_FILES[..], &["--from", "csv", "-o", "s3://b/out/"]].concat();
    let mut child = command(&server, 3, &args).stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all((large() + &list(600_000)).as_bytes()).unwrap();
    let until = Instant::now() + Duration::from_secs(60);
    while server.open_uploads() == 0 {
        assert!(Instant::now() < until, "no upload was begun");
        std::thread::sleep(Duration::from_millis(20));
    }
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", "TERM", &pid]).status().unwrap().success());
    assert!(!child.wait().unwrap().success());
    drop(stdin);
    assert_eq!((server.below("b/").len(), server.open_uploads()), (0, 0));
}
