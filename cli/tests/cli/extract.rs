//! `extract`: what is found, where it is said to be, and what happens to files that cannot be read.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::run::{Place, finish, program, run};

const TEXT: &str = "See (http://h/a), or\nmailto:joe@h.example.\n\nhttp://h/a http://h/b|\n";

#[test]
fn links_are_written_one_per_line() {
    let links = "http://h/a\nmailto:joe@h.example\nhttp://h/a\nhttp://h/b\n";
    assert_eq!(run(["extract"], TEXT).quiet(), links);
    assert_eq!(run(["extract", "-"], TEXT).quiet(), links);
    assert_eq!(
        run(["extract", "-0"], "http://h/a\n\0http://h/b").quiet(),
        "http://h/a\0http://h/b\0"
    );
    assert_eq!(run(["extract"], "").quiet(), "");
    assert_eq!(run(["extract", "--scheme", "mailto"], TEXT).quiet(), "mailto:joe@h.example\n");
    assert_eq!(run(["extract", "--scheme", "any"], "note:this").quiet(), "note:this\n");
    assert!(run(["extract", "--scheme", "http,"], TEXT).refused().contains("--scheme"));
}

#[test]
fn places_stand_before_the_link_as_grep_has_it() {
    let found = run(["extract", "-Hnb", "--context"], TEXT).quiet();
    assert_eq!(
        found,
        "-:1:5:text:http://h/a\n-:2:21:text:mailto:joe@h.example\n-:4:44:text:http://h/a\n-:4:55:text:http://h/b\n"
    );
    let rows = run(["extract", "--jsonl"], TEXT).quiet();
    let rows: Vec<Value> = rows.lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let row = json!({ "file": "-", "line": 4, "byte": 55, "context": "text", "uri": "http://h/b" });
    assert_eq!((rows.len(), &rows[3]), (4, &row));
    assert_eq!(run(["extract", "-c"], TEXT).quiet(), "4\n");
    assert_eq!(run(["extract", "-cH"], TEXT).quiet(), "-:4\n");
}

/// A directory with files of all sorts.
fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let put = |name: &str, text: &[u8]| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    };
    put("b.txt", b"http://h/b");
    put("a/deep.txt", b"http://h/deep");
    put(".hidden", b"http://h/hidden");
    put("binary", b"\0http://h/binary");
    directory
}

fn in_tree(directory: &Path, args: &[&str]) -> crate::run::Ran {
    let mut command = program(args);
    command.current_dir(directory);
    finish(command, "")
}

#[test]
fn directories_are_walked_in_the_order_of_names() {
    let tree = tree();
    let found = |args: &[&str]| in_tree(tree.path(), args).quiet();
    assert_eq!(found(&["extract", "."]), "http://h/deep\nhttp://h/b\n");
    let all = "http://h/hidden\nhttp://h/deep\nhttp://h/b\nhttp://h/binary\n";
    assert_eq!(found(&["extract", "--hidden", "-a", "."]), all);
    assert_eq!(found(&["extract", "binary"]), "http://h/binary\n", "named files are always read");
    assert_eq!(found(&["extract", "-cH", "a", "b.txt"]), "a/deep.txt:1\nb.txt:1\n");
    assert_eq!(found(&["dedup", "--extract", ".", "b.txt"]), "http://h/deep\nhttp://h/b\n");
    let ran = in_tree(tree.path(), &["extract", ".", "--stats"]);
    assert!(ran.stderr.contains("files skipped"), "{}", ran.stderr);
}

#[test]
fn many_files_are_read_in_their_order() {
    let directory = tempfile::tempdir().unwrap();
    let (mut expected, mut list) = (String::new(), String::new());
    for i in 0..300 {
        // Some are empty, some pages, some longer than a chunk.
        let (name, lines) = (format!("{i:03}"), [3, 0, 1, 40, 2000, 1][i % 6]);
        let mut text = if i % 6 == 2 { "<!doctype html>".to_owned() } else { String::new() };
        for line in 0..lines {
            let uri = format!("http://h/{i}/{line}");
            text += &if i % 6 == 2 { format!("<a href={uri}>") } else { format!("{uri}\n") };
            expected += &format!("{name}:{uri}\n");
        }
        fs::write(directory.path().join(&name), text).unwrap();
        list += &format!("{name}\n");
        if i == 100 {
            list += "missing\n";
        }
    }
    let dotted: String = expected.lines().map(|line| format!("./{line}\n")).collect();
    for jobs in ["1", "2", "7"] {
        for chunk in ["1000", "128K"] {
            let args = ["extract", "-H", "-j", jobs, "--chunk-size", chunk, "."];
            let found = in_tree(directory.path(), &args).quiet();
            assert_eq!(found, dotted);
            let mut command =
                program(["extract", "-H", "-j", jobs, "--chunk-size", chunk, "--files-from", "-"]);
            command.current_dir(directory.path());
            let ran = finish(command, &list);
            assert_eq!((ran.text(), ran.code), (&expected[..], 2), "{}", ran.stderr);
            assert!(ran.stderr.contains("missing: "), "{}", ran.stderr);
            let args = ["dedup", "--extract", "-j", jobs, "--chunk-size", chunk, "."];
            let found = in_tree(directory.path(), &args).quiet();
            let uris: String = expected
                .lines()
                .map(|line| format!("{}\n", line.split_once(':').unwrap().1))
                .collect();
            assert_eq!(found, uris);
        }
    }
}

#[test]
fn files_can_be_named_in_a_list() {
    let tree = tree();
    let mut command = program(["extract", "--files-from", "-"]);
    command.current_dir(tree.path());
    assert_eq!(finish(command, "b.txt\na/deep.txt\n").quiet(), "http://h/b\nhttp://h/deep\n");
    fs::write(tree.path().join("list"), "b.txt\0").unwrap();
    let found = in_tree(tree.path(), &["extract", "-0", "--files-from", "list", "a"]).quiet();
    assert_eq!(found, "http://h/deep\0http://h/b\0");
    let message = in_tree(tree.path(), &["extract", "--files-from", "-", "-"]).refused();
    assert!(message.contains("standard input"), "{message}");
    let message = in_tree(tree.path(), &["extract", "--files-from", "missing"]).refused();
    assert!(message.contains("missing"), "{message}");
}

#[test]
fn what_cannot_be_read_is_reported_and_the_rest_goes_on() {
    let tree = tree();
    for args in [&["extract", "missing", "b.txt"][..], &["dedup", "--extract", "missing", "b.txt"]]
    {
        let ran = in_tree(tree.path(), args);
        assert_eq!((ran.code, ran.text()), (2, "http://h/b\n"), "{args:?}");
        assert!(ran.stderr.starts_with("uriscan: missing: "), "{}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
    }
}

#[test]
fn options_of_the_search_need_a_search() {
    let message = run(["dedup", "--unwrap"], "").refused();
    assert!(message.contains("--extract"), "{message}");
    let text = "<http://h/\na> http://h/b HTTP://h/b";
    assert_eq!(run(["dedup", "--extract", "--unwrap"], text).quiet(), "http://h/a\nhttp://h/b\n");
    let normal = run(["normalize", "--extract"], "x (HTTP://H:80) y").quiet();
    assert_eq!(normal, "http://h/\n");
    let key = run(["key", "--extract"], "x (http://h/) y").quiet();
    assert_eq!(key, run(["key"], "http://h/\n").quiet());
}

mod compressed {
    use std::io::Write;
    use std::process::{Command, Stdio};

    use super::*;

    /// `text` as the program `with` packs it; `None` where it is not installed.
    fn packed(with: &str, text: &[u8]) -> Option<Vec<u8>> {
        let mut command = Command::new(with);
        command.arg("-c").stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().ok()?;
        let mut stdin = child.stdin.take()?;
        let text = text.to_vec();
        let feeder = std::thread::spawn(move || stdin.write_all(&text));
        let output = child.wait_with_output().ok()?;
        feeder.join().unwrap().ok()?;
        Some(output.stdout)
    }

    #[test]
    fn input_is_read_as_what_it_holds_by_every_command() {
        let text: Vec<u8> =
            (0..20_000).flat_map(|i| format!("http://h/{i}\n").into_bytes()).collect();
        let mut seen = 0;
        for with in ["gzip", "zstd", "bzip2", "xz", "lz4"] {
            let Some(mut data) = packed(with, &text) else { continue };
            seen += 1;
            data.extend(packed(with, b"http://h/last\n").unwrap());
            let whole = [&text[..], b"http://h/last\n"].concat();
            for command in ["extract", "dedup", "normalize", "parse", "census"] {
                let expected = run([command], &whole).stdout;
                assert!(run([command], &data).stdout == expected, "{with} {command}");
                let expected = run([command, "--chunk-size", "64"], &data).stdout == expected;
                assert!(expected, "{with} {command}");
            }
        }
        assert!(seen > 0, "gzip at least is everywhere");
    }

    #[test]
    fn a_truncated_file_gives_what_it_has() {
        let directory = tempfile::tempdir().unwrap();
        let text: Vec<u8> =
            (0..200_000).flat_map(|i| format!("http://h/{i}\n").into_bytes()).collect();
        let data = packed("gzip", &text).unwrap();
        let path = directory.path().join("half.gz");
        fs::write(&path, &data[..data.len() / 2]).unwrap();
        let name = path.to_str().unwrap();
        for command in ["extract", "dedup", "normalize"] {
            let ran = run([command, name], "");
            assert_eq!(ran.code, 2, "{command}");
            let expected = format!(
                "uriscan: {name}: gzip data is truncated at byte {}, byte ",
                data.len() / 2
            );
            assert!(ran.stderr.starts_with(&expected), "{}", ran.stderr);
            assert!(ran.stdout.len() > 100_000 && text.starts_with(&ran.stdout), "{command}");
            assert_eq!(ran.stdout.last(), Some(&b'\n'), "{command}: half a URI is none");
        }
        let ran = run(["extract", name, "-"], "http://h/after");
        assert!(ran.code == 2 && ran.text().ends_with("\nhttp://h/after\n"), "the rest goes on");
    }
}

/// Inputs of every format, large enough for several chunks.
fn documents() -> Vec<(&'static str, Vec<u8>)> {
    let many = |one: &dyn Fn(usize) -> String| (0..300).map(one).collect::<String>().into_bytes();
    let page = |i: usize| {
        format!("<a href='/p{i}?a&amp;b'>x</a><!-- <a href=no> -->\n<img src=http://i/{i}>\n")
    };
    let html = [&b"<!doctype html>\n"[..], &many(&page)].concat();
    let warc = many(&|i| {
        let body = format!("HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n{}", page(i));
        let fields = format!(
            "WARC-Type: response\r\nWARC-Target-URI: http://h{i}/\r\nContent-Type: application/http"
        );
        format!("WARC/1.1\r\n{fields}\r\nContent-Length: {}\r\n\r\n{body}\r\n\r\n", body.len())
    });
    let json = many(&|i| {
        format!("{{\"url\":\"http:\\/\\/h\\/{i}\",\"x\":[\"see http://j/{i}, http://k/\"]}}\n")
    });
    let clf = many(&|i| {
        format!(
            "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET /t{i} HTTP/1.0\" 200 1 \"http://r/{i}\" \"b (+http://bot/)\"\n"
        )
    });
    let letter = |i: usize| {
        format!(
            "Subject: {i}\nMIME-Version: 1.0\nList-Help: <http://l/{i}>\nContent-Transfer-Encoding: quoted-printable\n\nhttp://h/=\n{i}\n\n"
        )
    };
    let mbox = many(&|i| format!("From a@h Mon Sep 17 00:00:00 2001\n{}", letter(i)));
    let parts = many(&|i| format!("--b\nContent-Type: message/rfc822\n\n{}", letter(i)));
    let eml = [
        &b"Message-ID: <a@b>\nMIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=b\n\n"[..],
        &parts,
        b"--b--\n",
    ]
    .concat();
    vec![("html", html), ("warc", warc), ("json", json), ("clf", clf), ("mbox", mbox), ("eml", eml)]
}

#[test]
fn formats_are_distinguished_by_content_and_read_alike_however_they_are_cut() {
    for (name, text) in documents() {
        let args = ["extract", "--base", "http://base/", "-nb", "--context"];
        let expected =
            run([&args[..], &["-j1", "--backend", "scalar", "--from", name]].concat(), &text);
        let expected = expected.quiet();
        assert!(expected.lines().count() >= 300, "{name}: {expected}");
        for kernels in uriscan::Kernels::available() {
            for chunk in ["64", "4096", "256K"] {
                let how = ["--backend", kernels.backend().name(), "-j", "3", "--chunk-size", chunk];
                let found = run([&args[..], &how].concat(), &text).quiet();
                assert!(found == expected, "{name} {how:?}");
            }
        }
    }
    let message = run(["extract", "--from", "pdf"], "");
    assert!(message.code == 2 && message.stderr.contains("html"), "{}", message.stderr);
    assert!(run(["extract", "--base", "x"], "").refused().contains("scheme"));
}

#[test]
fn a_file_gives_what_a_stream_gives() {
    let directory = tempfile::tempdir().unwrap();
    for (name, text) in documents() {
        // Large for the smallest chunk, with a line in it that is longer than several of them.
        let long = format!("http://long/{}\n", "x".repeat(9000));
        let text =
            if name == "clf" { [&text[..], long.as_bytes(), &text].concat() } else { text.clone() };
        fs::write(directory.path().join("a"), &text).unwrap();
        let args = ["extract", "--base", "http://base/", "-b", "--context"];
        let expected = run(args, &text).quiet();
        for (chunk, jobs) in [("64", "1"), ("900", "2"), ("4096", "3"), ("256K", "2")] {
            let args = [&args[..], &["--chunk-size", chunk, "-j", jobs, "a"]].concat();
            assert!(in_tree(directory.path(), &args).quiet() == expected, "{name} {chunk}");
        }
    }
}

#[test]
fn what_is_left_out_is_reported() {
    let ran = run(["extract", "--from", "html"], "<a href=x><a href=http://h/>");
    assert_eq!((ran.code, ran.text()), (0, "http://h/\n"));
    assert!(
        ran.stderr.contains("1 relative reference without a base was skipped"),
        "{}",
        ran.stderr
    );
    assert_eq!(run(["extract", "-q", "--from", "html"], "<a href=x>").quiet(), "");
    let ran = run(
        ["extract", "--from", "warc"],
        "garbage\r\nWARC/1.0\r\nContent-Length: 0\r\n\r\n\r\n\r\n",
    );
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("1 part of an archive is not a record"), "{}", ran.stderr);
    // Also where a list is made of it.
    let page = "<a href=x><a href=http://h><a href=http://h/>";
    let list = run(["dedup", "--extract", "--from", "html"], page);
    assert_eq!((list.code, list.text()), (0, "http://h\n"));
    assert!(
        list.stderr.contains("1 relative reference without a base was skipped"),
        "{}",
        list.stderr
    );
    let based = ["dedup", "--extract", "--from", "html", "--base", "http://b/"];
    assert_eq!(run(based, page).quiet(), "http://b/x\nhttp://h\n");
}

#[test]
fn an_archive_that_breaks_off_is_reported() {
    let record = |length: usize| {
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n\r\n"
        )
    };
    let page = "<a href=http://h/>";
    let whole = record(page.len()) + page + "\r\n\r\n";
    for end in ["", "\r\n\r\n"] {
        let last = record(page.len()) + page + end;
        let ran = run(["extract"], whole.clone() + &last);
        assert_eq!((ran.code, ran.text(), &*ran.stderr), (0, "http://h/\nhttp://h/\n", ""));
    }
    for command in [&["extract"][..], &["normalize", "--extract"]] {
        for chunk in ["64", "256K"] {
            let cut = whole.clone() + &record(1000) + page;
            let ran = run([command, &["--chunk-size", chunk]].concat(), cut);
            assert_eq!((ran.code, ran.text()), (2, "http://h/\nhttp://h/\n"), "{command:?}");
            assert!(ran.stderr.contains("1 part of an archive is not a record"), "{}", ran.stderr);
        }
    }
}

#[test]
fn lines_of_json_and_logs_end_in_line_feeds_whatever_ends_records() {
    let json = "{\"a\":\"http://h/1\"}\n{\"a\":\"http://h/2\"}\n";
    let entry = |i: usize| {
        format!("h - - [10/Oct/2000:13:55:36 -0700] \"GET http://h/{i} HTTP/1.0\" 200 1\n")
    };
    for text in [json.to_owned(), entry(1) + &entry(2)] {
        for chunk in ["1", "256K"] {
            let found = run(["extract", "-0n", "--chunk-size", chunk], &text).quiet();
            assert_eq!(found, "1:http://h/1\x002:http://h/2\0");
        }
    }
}

#[test]
fn tables_have_columns_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let table = "id,url\n1,\"http://h/a\nb\"\n2,HTTP://h/\"c\"\n3,http://h/d\n";
    fs::write(directory.path().join("a.csv"), table).unwrap();
    fs::write(directory.path().join("b.csv"), "x,y\n1,http://h/no\n").unwrap();
    let found = in_tree(directory.path(), &["extract", "--link-column", "url", "a.csv"]).quiet();
    assert_eq!(found, "http://h/a\nHTTP://h/%22c%22\nhttp://h/d\n");
    for chunk in ["1", "7", "64"] {
        let args = ["extract", "--link-column", "url", "--chunk-size", chunk, "-n", "a.csv"];
        let found = in_tree(directory.path(), &args).quiet();
        assert_eq!(found, "2:http://h/a\n4:HTTP://h/%22c%22\n5:http://h/d\n");
    }
    let ran = in_tree(directory.path(), &["extract", "--link-column", "url", "b.csv", "a.csv"]);
    assert_eq!((ran.code, ran.text()), (2, found.as_str()));
    assert!(ran.stderr.contains("b.csv: its first row has no column 'url'"), "{}", ran.stderr);
}

#[test]
fn selected_columns_are_never_ignored() {
    let place = Place::new(&[
        ("t", "a,b\nhttp://x/1,http://h/1\n"),
        ("tabs", "a\tb\nhttp://x/2\thttp://h/2\n"),
        ("one", "b\nhttp://h/3\n"),
        ("semi", "a;b\nhttp://x/1;http://h/1\n"),
        ("list", "http://x/4\n"),
        ("page.html", "<a href=http://x/5>"),
        ("blank", "\n"),
    ]);
    for start in [&["extract"][..], &["dedup", "--extract"], &["normalize", "--extract"]] {
        let run = |rest: &[&str]| place.run(&[start, rest].concat(), "");
        for (name, url) in [
            ("t", "http://h/1\n"),
            ("tabs", "http://h/2\n"),
            ("one", "http://h/3\n"),
            ("semi", "http://h/1\n"),
        ] {
            assert_eq!(run(&["--link-column", "b", name]).quiet(), url);
        }
        for (column, name, what) in [
            ("c", "t", "--from csv, tsv or json"),
            ("2", "t", "--from csv, tsv or json"),
            ("b", "list", "--from csv, tsv or json"),
            ("b", "page.html", "is read as html, which has no columns"),
        ] {
            let ran = run(&["--link-column", column, name]);
            assert_eq!((ran.code, ran.text()), (2, ""), "{name}");
            assert!(ran.stderr.contains(&format!("{name}: ")), "{}", ran.stderr);
            assert!(ran.stderr.contains(what), "{}", ran.stderr);
        }
        // Of many, the others are read.
        let ran = run(&["--link-column", "b", "blank", "list", "t"]);
        assert_eq!((ran.code, ran.text()), (2, "http://h/1\n"), "{}", ran.stderr);
    }
    let ran = place.run(&["extract", "--link-column", "b"], "a,b\nhttp://x/1,http://h/1\n");
    assert_eq!(ran.quiet(), "http://h/1\n");
}

#[test]
fn a_pattern_makes_a_log_of_any_file() {
    let log = "h.example \"GET /a HTTP/1.1\"\nhttp://other/\n";
    let args = ["extract", "--log-format", r#"$host "$request""#, "--log-field", "request"];
    let ran = run(args, log);
    assert_eq!((ran.code, ran.text()), (0, "http://h.example/a\n"));
    assert!(ran.stderr.contains("1 line is not an entry of a log"), "{}", ran.stderr);
    assert_eq!(run(&args[..3], log).quiet(), "http://h.example/a\nhttp://other/\n");
    let ran = run(["extract", "--log-format", "$host"], log);
    assert_eq!((ran.code, ran.text()), (2, ""));
    assert!(ran.stderr.contains("it names no request"), "{}", ran.stderr);
}

#[test]
fn a_format_of_logs_has_a_name() {
    let caddy =
        r#"{"request":{"method":"GET","host":"h.example","uri":"/a","tls":{}},"status":200}"#;
    let alb = r#"http 2018-07-02T22:23:00Z app/x 192.0.2.1:1 - 0 0 0 200 200 34 366 "GET http://h.example:80/ HTTP/1.1" "x" - -"#;
    let w3c = "#Fields: cs-host cs-uri-stem\nh.example /b";
    for (log, name, expected) in [
        (caddy, "caddy", "https://h.example/a\n"),
        (alb, "alb", "http://h.example:80/\n"),
        (w3c, "w3c", "http://h.example/b\n"),
        (w3c, "iis", "http://h.example/b\n"),
    ] {
        let log = format!("{log}\n");
        let field = ["--log-field", "target"];
        for format in [&["--log-format", name][..], &["--log-format", "auto"], &[]] {
            assert_eq!(run([&["extract"], format].concat(), &log).quiet(), expected, "{format:?}");
            let args = [&["extract"], format, &field].concat();
            assert_eq!(run(args, &log).quiet(), expected, "{format:?}");
        }
    }
    let args = ["extract", "--link-column", "request.uri", "--base", "http://b.example"];
    assert_eq!(run(args, caddy).quiet(), "http://b.example/a\n");
    let ran = run(["extract", "--log-format", "cady"], caddy);
    assert_eq!((ran.code, ran.text()), (2, ""));
    assert!(ran.stderr.contains("unknown format"), "{}", ran.stderr);
    let cut = format!("{caddy}\n{}", &caddy[..60]);
    let ran = run(["extract"], &cut);
    assert_eq!(ran.text(), "https://h.example/a\n");
    assert!(!ran.stderr.is_empty(), "what breaks off is reported");
}

#[test]
fn rules_that_relative_references_do_not_feel_are_reported() {
    let entry = |target: &str| {
        format!("1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.0\" 200 1\n")
    };
    let log = ["/a?utm_source=x", "/a", "http://h/?b"].map(entry).concat();
    let field = ["--extract", "--log-field", "target"];
    for (args, hint) in [
        (&["dedup", "--preset", "log"][..], "2 of 3 records are relative references"),
        (&["normalize", "--rule", "sort-query"], "2 of 3 records are relative references"),
        (&["census", "--preset", "crawl"], "2 of 3 records are relative references"),
        (&["dedup"], ""),
        (&["dedup", "--preset", "rfc"], ""),
        (&["dedup", "--preset", "log", "--base", "http://h/"], ""),
    ] {
        let ran = run([args, &field].concat(), &log);
        assert_eq!(ran.code, 0);
        assert_eq!(ran.stderr.is_empty(), hint.is_empty(), "{args:?}: {}", ran.stderr);
        assert!(ran.stderr.contains(hint), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn entries_without_a_target_are_counted_where_targets_are_selected() {
    let entry = |request: &str| {
        format!(
            "1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"{request}\" 200 1 \"http://r/\" \"x\"\n"
        )
    };
    let none = ["OPTIONS * HTTP/1.0", "CONNECT h:443 HTTP/1.1", "-", "\\x16\\x03\\x01"].map(entry);
    let log = none.concat() + &entry("GET /a HTTP/1.0");
    let target = ["--log-field", "target"];
    for command in ["extract", "dedup --extract", "check --extract", "census --extract"] {
        let command: Vec<&str> = command.split(' ').collect();
        let ran = run([&command[..], &target].concat(), &log);
        assert_eq!(ran.code, 0, "{command:?}");
        let hint = "4 entries of logs have no target that is a path or a URL, as OPTIONS * and CONNECT host:443";
        assert!(ran.stderr.contains(hint), "{command:?}: {}", ran.stderr);
    }
    let as_json = |request: &str| {
        format!("{{\"remote_addr\":\"1.2.3.4\",\"request\":\"{request}\",\"status\":200}}\n")
    };
    let as_json = as_json("OPTIONS * HTTP/1.1") + &as_json("GET /a HTTP/1.1");
    let ran = run([&["extract"][..], &target].concat(), &as_json);
    assert_eq!((ran.code, ran.text()), (0, "/a\n"));
    assert!(ran.stderr.contains("1 entry of a log has no target"), "{}", ran.stderr);
    // Without that choice all links of a line are found.
    assert!(!run(["extract"], &log).stderr.contains("no target"));
}

#[test]
fn targets_that_are_skipped_without_a_base_are_counted() {
    let entry = |target: &str| {
        format!("1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] \"GET {target} HTTP/1.0\" 200 1\n")
    };
    let log = ["/a", "/b", "http://h/%"].map(entry).concat();
    let args = ["top", "--by", "host", "--extract", "--log-field", "target"];
    let ran = run(args, &log);
    assert!(ran.text().contains("3 invalid records"), "{}", ran.text());
    let hint = "3 of 3 records are invalid and were skipped (percent 1, relative 2)";
    assert!(ran.stderr.contains(hint), "{}", ran.stderr);
    assert!(ran.stderr.contains("--base URL completes relative ones"), "{}", ran.stderr);
    let completed = run([&args[..], &["--base", "http://h/"]].concat(), &log);
    assert!(completed.stderr.contains("1 of 3 records is invalid"), "{}", completed.stderr);
}

#[test]
fn a_field_chooses_a_log_whatever_its_first_line() {
    let entry =
        r#"1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 1 "http://r/" "x""#;
    for before in
        ["", "# c\n", "==> a.log <==\n", "\n", "<html>\n", "{\"a\":\n", "see http://t/\nx\nx\n"]
    {
        let log = format!("{before}{entry}\n");
        for (args, expected) in [
            (&["--log-field", "target"][..], "/a\n"),
            (&["--log-field", "target", "--base", "https://h.example/x"], "https://h.example/a\n"),
            (&["--log-field", "referrer"], "http://r/\n"),
            (&["--log-field", "target,referer", "--from", "auto"], "/a\nhttp://r/\n"),
        ] {
            let ran = run([&["extract"], args].concat(), &log);
            assert_eq!((ran.code, ran.text()), (0, expected), "{before}");
            let others = before.lines().filter(|line| !is_remark(line)).count();
            assert_eq!(ran.stderr.is_empty(), others == 0, "{before} {}", ran.stderr);
        }
    }
}

#[test]
fn fields_of_a_log_apply_up_to_the_next_directive_however_it_is_read() {
    let rows = |range: std::ops::Range<usize>, order: fn(usize) -> String| {
        range.map(order).collect::<String>()
    };
    let log = [
        "#Version: 1.0\n#Fields: cs-method cs-uri-stem cs-host\n",
        &rows(0..40, |i| format!("GET /{i} a.example\n")),
        "#Fields: cs-host x cs-uri-stem\n",
        &rows(40..80, |i| format!("b.example GET /{i}\n")),
    ]
    .concat();
    let expected: String = (0..80)
        .map(|i| {
            format!("{}:http://{}.example/{i}\n", i + 3 + i / 40, if i < 40 { "a" } else { "b" })
        })
        .collect();
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("u_ex.log"), &log).unwrap();
    for chunk in ["1", "7", "64", "1000", "1M"] {
        for from in ["auto", "w3c"] {
            let args = ["extract", "-n", "--from", from, "--chunk-size", chunk, "u_ex.log"];
            assert_eq!(in_tree(directory.path(), &args).quiet(), expected, "{chunk} {from}");
        }
        let args = ["extract", "--log-field", "target", "--chunk-size", chunk, "u_ex.log"];
        assert_eq!(in_tree(directory.path(), &args).quiet().lines().count(), 80, "{chunk}");
    }
    let cut = &log[log.find("GET /20").unwrap()..];
    let ran = run(["extract", "--from", "w3c"], cut);
    assert_eq!((ran.code, ran.text().lines().count()), (0, 40));
    assert!(ran.stderr.contains("20 lines of logs have no #Fields line"), "{}", ran.stderr);
}

/// Whether a line is about a log, and not of it.
fn is_remark(line: &str) -> bool {
    line.is_empty() || line.starts_with('#') || line.starts_with("==> ")
}

#[test]
fn an_archive_goes_on_behind_what_is_not_a_record() {
    let record = |url: &str| {
        format!(
            "WARC/1.0\r\nWARC-Type: resource\r\nWARC-Target-URI: {url}\r\nContent-Type: text/plain\r\nContent-Length: 0\r\n\r\n\r\n\r\n"
        )
    };
    for garbage in
        ["", "x", "\nWARC", "WARC/1.0\r\nContent-Length: -1\r\n\r\n", "WARC/1.0\r\nno\r\n\r\n"]
    {
        let long = garbage.repeat(1000);
        for between in [garbage, &long] {
            let archive = format!("{}{between}\n{}", record("http://h/a"), record("http://h/b"));
            for chunk in ["1", "100", "128K"] {
                let args = ["extract", "--warc-field", "target", "--chunk-size", chunk];
                assert_eq!(
                    run(args, &archive).text(),
                    "http://h/a\nhttp://h/b\n",
                    "{garbage:?} {chunk}"
                );
            }
        }
    }
}

/// An archive of responses about `http://h/0` and so on, with these codings and bodies; each links to `http://o/`.
fn coded_archive(bodies: &[(&str, &[u8])]) -> (Vec<u8>, Vec<usize>) {
    let (mut archive, mut starts) = (Vec::new(), Vec::new());
    for (i, (coding, body)) in bodies.iter().enumerate() {
        let head = format!(
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: {coding}\r\n\r\n"
        );
        starts.push(archive.len());
        archive.extend(format!(
            "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/{i}\r\nContent-Type: application/http\r\nContent-Length: {}\r\n\r\n",
            head.len() + body.len()
        ).into_bytes());
        archive.extend(head.as_bytes());
        archive.extend(*body);
        archive.extend(b"\r\n\r\n");
    }
    (archive, starts)
}

#[test]
fn bodies_that_cannot_be_decoded_are_reported_with_their_places() {
    let page = b"<a href=http://o/>";
    let (archive, starts) = coded_archive(&[
        ("br", b"garbage"),
        ("identity", page),
        ("zstd", b"\x28\xB5\x2F\xFD garbage"),
        ("deflate", b"http://no/ garbage"),
        ("gzip", b"\x1f\x8b\x08 garbage"),
        ("br", page),
        ("gzip", b"garbage"),
        ("", page),
    ]);
    let reported: Vec<String> = [(0, "br"), (2, "zstd"), (3, "deflate"), (4, "gzip"), (6, "gzip")]
        .map(|(i, coding)| {
            format!(
                "uriscan: -: record at byte {} (http://h/{i}): its body, Content-Encoding {coding}, cannot be decoded and was skipped",
                starts[i]
            )
        })
        .to_vec();
    let all =
        "uriscan: 5 bodies in archives were skipped: their Content-Encoding cannot be decoded";
    for command in [&["extract"][..], &["normalize", "--extract"]] {
        for how in [&["--chunk-size", "64"][..], &["--chunk-size", "512", "-j3"], &[]] {
            let ran = run([command, how].concat(), &archive);
            assert_eq!(
                (ran.code, ran.text()),
                (2, "http://o/\n".repeat(3).as_str()),
                "{command:?}"
            );
            let mut lines: Vec<&str> = ran.stderr.lines().collect();
            assert_eq!(lines.pop(), Some(all), "{}", ran.stderr);
            assert_eq!(lines, reported, "{how:?}");
        }
    }
    // The first twenty are told one by one, and all are counted.
    let (archive, _) = coded_archive(&[("br", &b"\x1b[2Jgarbage"[..]); 50]);
    let ran = run(["extract"], &archive);
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 21), "{}", ran.stderr);
    assert!(ran.stderr.contains("50 bodies in archives were skipped"), "{}", ran.stderr);
}

#[test]
fn a_target_in_a_message_is_escaped() {
    let archive = "WARC/1.0\r\nWARC-Type: response\r\nWARC-Target-URI: http://h/\x1b[2J\r\nContent-Type: application/http\r\nContent-Length: 68\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Encoding: br\r\n\r\nx\r\n\r\n";
    let ran = run(["extract"], archive);
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert!(
        ran.stderr.contains(r"(http://h/\x1b[2J): its body") && !ran.stderr.contains('\x1b'),
        "{}",
        ran.stderr
    );
}

#[test]
fn a_document_with_too_many_marks_is_searched_as_text_and_reported() {
    let text = "[x](/y) <http://h/>\n".to_owned() + &"[a](".repeat(2 << 20);
    let place = crate::run::Place::new(&[("a.md", &text), ("b.md", "[x](http://h/b)\n")]);
    let ran = place.run(&["extract", "a.md", "b.md"], "");
    assert_eq!((ran.code, ran.text()), (2, "http://h/\nhttp://h/b\n"), "{}", ran.stderr);
    assert!(
        ran.stderr.starts_with("uriscan: a.md: has 4194309 marks of Markdown"),
        "{}",
        ran.stderr
    );
    assert!(
        ran.stderr.contains(
            "1 document was not searched as a whole: it is too long, or has too many marks"
        ),
        "{}",
        ran.stderr
    );
}

#[test]
fn links_of_sitemaps_are_shown_with_their_details() {
    let text = "<urlset><url><loc>http://h/1</loc><lastmod>2020-01-01</lastmod><priority>0.5</priority></url>\n<url><image:loc>http://h/2</image:loc></url></urlset>";
    let ran = run(["extract", "-n", "--context"], text);
    assert_eq!(ran.quiet(), "1:loc;lastmod=2020-01-01;priority=0.5:http://h/1\n2:loc:http://h/2\n");
    let rows = run(["extract", "--jsonl"], text).quiet();
    let first: Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    let expected = json!({
        "file": "-", "line": 1, "byte": 18, "context": "loc", "element": "loc", "lastmod": "2020-01-01",
        "priority": "0.5", "uri": "http://h/1",
    });
    assert_eq!(first, expected);
    let icon = run(["extract", "--context"], "<feed><icon>http://h/i</icon></feed>");
    assert_eq!(icon.quiet(), "image;element=icon:http://h/i\n");
}

#[test]
fn types_of_records_are_those_of_the_standard() {
    let of = |name: &str| run(["extract", "--from", "warc", "--warc-type", name], "");
    assert_eq!(of("Response,resource").quiet(), "");
    for (typed, meant) in [("responses", "response"), ("info", "warcinfo"), ("Visit", "revisit")] {
        let ran = of(typed);
        let message = format!("did you mean {meant}? The types are response, ");
        assert!(ran.code == 2 && ran.stderr.contains(&message), "{}", ran.stderr);
    }
}

#[test]
fn parts_of_messages_with_faults_are_reported_and_searched() {
    let mail = "From a@h Mon Sep 17 00:00:00 2001
Content-Transfer-Encoding: base64

aHR0cDovL2gvMQo=
-- http://h/2
From a@h Mon Sep 17 00:00:00 2001

http://h/3
";
    let ran = run(["extract", "--from", "mbox"], mail);
    assert_eq!((ran.code, ran.text()), (2, "http://h/1\nhttp://h/2\nhttp://h/3\n"));
    let expected = "uriscan: -: byte 86: is not base64; the rest of the part was searched as text
uriscan: 1 part of a message or response is not in its encoding, nested too deep or cut off, and was searched as far as possible
";
    assert_eq!(ran.stderr, expected);
    let list = run(["dedup", "--extract", "--from", "mbox"], mail);
    assert_eq!((list.code, list.text()), (2, ran.text()), "{}", list.stderr);
    assert!(list.stderr.contains("byte 86: is not base64"), "{}", list.stderr);
}

#[test]
fn pages_are_recognized_by_name_and_by_first_tag() {
    let directory = tempfile::tempdir().unwrap();
    let link = "<a href='b.html?a&amp;b'>x</a>";
    let page = |name: &str, text: &[u8]| {
        fs::write(directory.path().join(name), text).unwrap();
        in_tree(directory.path(), &["extract", "--base", "http://h/", name]).quiet()
    };
    let expected = "http://h/b.html?a&b\n";
    for name in ["a.html", "a.HTM", "a.xhtml", "a.xht", "a.shtml"] {
        assert_eq!(page(name, link.as_bytes()), expected, "{name}");
        assert_eq!(page(name, format!("Hello {link}").as_bytes()), expected, "{name}");
    }
    for before in ["<!-- c -->", "<p>", "<div class=x>", "<?xml version='1.0'?>\n<html>", "\n"] {
        assert_eq!(page("a", format!("{before}{link}").as_bytes()), expected, "{before}");
        assert_eq!(page("a", format!("\u{FEFF}{before}{link}").as_bytes()), expected, "{before}");
    }
    // Most documents of Markdown on the web begin with a tag or a comment.
    for before in ["<!-- c -->", "<p align=center>"] {
        let text = format!("{before}\n\n[x](b.html?a&b)\n");
        assert_eq!(page("a.md", text.as_bytes()), expected, "{before}");
    }
}

#[test]
fn pages_in_utf_16_have_the_positions_of_their_files() {
    let directory = tempfile::tempdir().unwrap();
    let text = "\u{FEFF}<p>\u{4E2D}\u{1F600}\n<a href='\u{E9}'>x</a>\n<a href=http://i/>";
    let little: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
    let big: Vec<u8> = text.encode_utf16().flat_map(u16::to_be_bytes).collect();
    fs::write(directory.path().join("little"), little).unwrap();
    fs::write(directory.path().join("big.html"), big).unwrap();
    fs::write(directory.path().join("noise"), b"\xFF\xFE\0\x01 http://no/").unwrap();
    let args = ["extract", "--base", "http://h/", "-Hnb", "."];
    let found = in_tree(directory.path(), &args).quiet();
    let expected = ["./big.html", "./little"]
        .map(|name| format!("{name}:2:34:http://h/%C3%A9\n{name}:3:68:http://i/\n"));
    assert_eq!(found, expected.concat());
}

#[test]
fn files_below_a_directory_have_bases_of_their_own() {
    let directory = tempfile::tempdir().unwrap();
    let put = |name: &str| {
        let path = directory.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, "<a href=b.html><a href='?x'><a href=/r>").unwrap();
    };
    ["site/index.html", "site/sub/c.html", "site/sub/a b%.html"].iter().for_each(|name| put(name));
    let based = |args: &[&str]| {
        let args = [&["extract", "--base", "http://h/m/"], args].concat();
        in_tree(directory.path(), &args).quiet().replace("http://h/", "").replace('\n', " ")
    };
    let (root, below) = ("m/b.html m/index.html?x r ", "m/sub/b.html m/sub/c.html?x r ");
    let coded = "m/sub/b.html m/sub/a%20b%25.html?x r ";
    assert_eq!(based(&["site"]), [root, coded, below].concat());
    assert_eq!(based(&["site/"]), [root, coded, below].concat());
    assert_eq!(based(&["site/sub"]), [coded, below].concat().replace("sub/", ""));
    // A file given by name, also in a list, has the base as it is.
    let named = "m/b.html m/?x r ";
    assert_eq!(based(&["site/sub/c.html"]), named);
    fs::write(directory.path().join("list"), "site/sub/c.html\n").unwrap();
    assert_eq!(based(&["--files-from", "list"]), named);
    let indexed = based(&["--index", "index.html,c.html", "site"]);
    assert_eq!(indexed, [named, coded, &below.replace("c.html", "")].concat());
    let args = ["dedup", "--extract", "--base", "http://h/m/", "--index", "index.html", "site"];
    let found = in_tree(directory.path(), &args).quiet();
    assert!(found.starts_with("http://h/m/b.html\nhttp://h/m/?x\n"), "{found}");
    assert!(found.contains("http://h/m/sub/c.html?x\n"), "{found}");
    let ran = run(["extract", "--index", "x"], "");
    assert!(ran.code == 2 && ran.stderr.contains("--base"), "{}", ran.stderr);
}

#[test]
fn links_that_check_refuses_are_counted() {
    let page =
        "<p><a href='?a[]=1'><a href='x?100%'><a href='p#a#b'><a href=fine><a href='http://h:x/'>";
    let ran = run(["extract", "--base", "http://h/", "--stats=json"], page);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    let checked = run(["check", "--stats=json"], &ran.stdout);
    let expected: Value = serde_json::from_str(&checked.stderr).unwrap();
    assert_eq!((&stats["written"], &stats["records"]), (&json!(5), &json!(5)));
    assert_eq!((&stats["dropped"], &stats["invalid"]), (&json!(0), &json!(4)));
    assert_eq!(stats["invalid_by_kind"], expected["invalid_by_kind"]);
    let ran = run(["extract", "--from", "html", "--stats"], page);
    assert!(ran.stderr.contains("4 relative references without a base"), "{}", ran.stderr);
}

#[test]
fn links_are_selected() {
    let text = "http://a.example/x ftp://a.example/ https://www.b.example/y.png http://B.example mailto:a@b.example";
    let found = |args: &[&str]| {
        let found = run([&["extract"], args].concat(), text).quiet();
        found.lines().map(str::to_owned).collect::<Vec<_>>().join(" ")
    };
    let (a, ftp) = ("http://a.example/x", "ftp://a.example/");
    let (www, b) = ("https://www.b.example/y.png", "http://B.example");
    assert_eq!(found(&["--host", "A.example,b.example"]), [a, ftp, b].join(" "));
    assert_eq!(found(&["--domain", "b.example"]), [www, b].join(" "));
    assert_eq!(found(&["--domain", "b.example", "--match", r"\.png$"]), www);
    assert_eq!(found(&["--match", "^http:", "--match", "ftp"]), [a, ftp, b].join(" "));
    assert_eq!(found(&["--not-scheme", "mailto,ftp", "--not-match", "x$"]), [www, b].join(" "));
    let not = ["--not-host", "a.example", "--not-domain", "b.example"];
    assert_eq!(found(&not), "mailto:a@b.example");
    assert_eq!(run(["extract", "-c", "--host", "a.example"], text).quiet(), "2\n");
    let args = ["dedup", "--extract", "--host", "a.example", "--scheme", "http"];
    assert_eq!(run(args, text).quiet(), "http://a.example/x\n");
    let wrong = run(["extract", "--match", "("], "");
    assert!(wrong.code == 2 && wrong.stderr.contains("--match"), "{}", wrong.stderr);
    for option in ["--bare-hosts", "--unwrap", "--link-column=a", "--log-field=agent"] {
        assert!(run(["dedup", option], "").refused().contains("--extract"), "{option}");
    }
}

#[test]
fn records_of_archives_are_selected() {
    let record = |kind: &str, media: &str, block: &str| {
        let fields = format!(
            "WARC-Type: {kind}\r\nWARC-Target-URI: http://{kind}/\r\nContent-Type: {media}"
        );
        format!("WARC/1.0\r\n{fields}\r\nContent-Length: {}\r\n\r\n{block}\r\n\r\n", block.len())
    };
    let http =
        |media: &str| format!("HTTP/1.1 200 OK\r\nContent-Type: {media}\r\n\r\n<a href={media}>");
    let archive = record("request", "application/http", "GET / HTTP/1.1\r\n\r\n")
        + &record("response", "application/http; msgtype=response", &http("text/html; charset=x"))
        + &record("response", "application/http", &http("application/xhtml+xml"))
        + &record("resource", "Text/HTML", "<a href=r>");
    let found = |args: &[&str]| run([&["extract"], args].concat(), &archive).quiet();
    let (html, xhtml) = ("http://response/text/html;\n", "http://response/application/xhtml+xml\n");
    let resource = "http://resource/r\n";
    assert_eq!(found(&[]), [html, xhtml, resource].concat());
    assert_eq!(found(&["--warc-type", "Response"]), [html, xhtml].concat());
    assert_eq!(found(&["--mime", "text/html"]), [html, resource].concat());
    assert_eq!(found(&["--mime", "text/*,application/*", "--warc-type", "resource"]), resource);
    let targets = ["--warc-field", "target", "--warc-type", "response", "--mime", "text/html"];
    assert_eq!(found(&targets), "http://response/\n");
}

#[test]
fn targets_of_logs_need_a_base_with_an_authority() {
    let line = "1.1.1.1 - - [10/Oct/2000:13:55:36 -0700] \"GET //a HTTP/1.0\" 200 1 \"-\" \"-\"\n";
    let extract = |base: &str| run(["extract", "--from", "clf", "--base", base], line);
    assert_eq!(extract("http://h/b/c").text(), "http://h//a\n");
    assert_eq!(extract("file:///b").text(), "file:////a\n");
    let ran = extract("urn:x");
    let message = "uriscan: 1 relative reference was skipped: --base has no authority, which targets of access logs need\n";
    assert_eq!((ran.text(), &*ran.stderr), ("", message));
}

#[test]
fn rows_before_a_stray_quote_are_searched() {
    let place = crate::run::Place::new(&[]);
    let rows: String = (0..9_000).map(|n| format!("http://h/{n},\"a, \"\"b\"\"\"\n")).collect();
    for (more, what) in [
        (
            "http://a/,\"oops\nhttp://b/,1\nhttp://c/,\"2\"\n",
            "line 9004: the closing quote of a field",
        ),
        ("http://a/,\"oops\nhttp://b/,1\n", "a quote is never closed"),
        ("\"http://a/\"x,1\nhttp://b/,1\n", "line 9002: the closing quote of a field"),
        ("\"http://a/\" ,1\n", "line 9002: the closing quote of a field"),
        ("http://a/,\"", "a quote is never closed"),
    ] {
        fs::write(place.path("t.csv"), format!("url,note\n{rows}{more}")).unwrap();
        for threads in ["-j1", "-j4"] {
            let ran = place.run(&["extract", "--link-column", "url", threads, "t.csv"], "");
            assert_eq!(
                (ran.code, ran.text().lines().count()),
                (2, 9_000),
                "{more}: {}",
                ran.stderr
            );
            assert!(ran.stderr.starts_with(&format!("uriscan: t.csv: {what}")), "{}", ran.stderr);
        }
        // Where all of the table is searched, it makes no difference what is a field.
        let found = place.run(&["extract", "t.csv"], "").quiet();
        assert_eq!(found.lines().count(), 9_000 + more.matches("http").count());
    }
}

#[test]
fn lines_of_another_format_are_searched_as_text() {
    let urls = "ERROR http://a/1 failed\nhttp://a/2\n[12:30] http://a/3\n[x] http://a/4\n2026-11-25 http://a/5\nnull http://a/6 x\n";
    let cdxj = "com,example)/ 20240101000000 {\"url\": \"http://x/0\"}\n";
    let cdx = "com,example)/ 20240101000000 http://x/0 text/html 200 AAAA - - 1 2 f.warc.gz\n";
    for (first, own) in [
        ("{\"a\":1}\n", ""),
        ("{\n", ""),
        ("[\"x\"]\n", ""),
        ("[{\"u\":\"http://x/0\"}]\n", "http://x/0\n"),
        ("{\"u\":\"http:\\/\\/x\\/0\"}\n", "http://x/0\n"),
        (cdxj, "http://x/0\n"),
        (cdx, "http://x/0\n"),
        (" CDX N b a m s k r M S V g\n", ""),
    ] {
        let text = format!("{first}{urls}");
        let found = run(["extract"], &text);
        let expected: String = (1..7).map(|i| format!("http://a/{i}\n")).collect();
        assert_eq!(found.text(), format!("{own}{expected}"), "{first}");
        assert_eq!((found.code, &*found.stderr), (0, ""), "{first}");
    }
    // Also what follows a value in its line.
    for (line, url) in [
        ("{\"a\":\"b\"} http://j/13", "http://j/13\n"),
        ("\"quoted\" http://b/6", "http://b/6\n"),
        ("{} http://i/12", "http://i/12\n"),
        ("[2026, 1] GET http://l/15", "http://l/15\n"),
        ("{\"a\": true, \"b\": 1e5, \"c\":", ""),
        ("{\"a\": \"http://c/\", \"b\": null", "http://c/\n"),
    ] {
        let found = run(["extract", "--from", "json"], format!("{line}\n{{\"a\":1}}\n"));
        assert_eq!(found.text(), url, "{line}");
    }
    // Where members are selected, only those are searched.
    let chosen = run(["extract", "--link-column", "u"], "{\"u\":\"http://x/0\"}\nhttp://a/1\n");
    assert_eq!(chosen.text(), "http://x/0\n");
    // JSON over several lines is JSON.
    let pretty = "{\n \"u\": [\n  -1.5e3,\n  true, null,\n  \"http:\\/\\/x\\/0\"\n ]\n}\n";
    assert_eq!(run(["extract"], pretty).text(), "http://x/0\n");
}

#[test]
fn json_that_breaks_off_is_reported() {
    for (text, is_cut) in [
        ("{\"u\":\"http://h/\"}\n", false),
        ("{\"u\":\"http://h/\"}", false),
        ("{\"u\":\"http://h/\"} \r\n", false),
        ("\"http://h/\"", false),
        ("[\"http://h/\",{\"a\":\"]\"}]", false),
        ("{\n \"u\": \"http://h/\"\n}", false),
        ("{\n \"u\": [\n  \"http://h/\"]}", false),
        ("12:30 {\"u\":\"http://h/\"}", false),
        ("{\"a\":1}\n{\"u\":\"http://h/", true),
        ("{\"u\":\"http://h/\"", true),
        ("{\"u\":\"http://h/\",", true),
        ("{\"u\":\"http://h/\",\"a\":{\"b\":1}", true),
        ("{\"a\":\"}\",\"u\":\"http://h/\\\"}", true),
        ("[\"http://h/\"", true),
        ("[\"http://h/\",\n", false),
        ("{\n \"u\": \"http://h/\"", true),
        ("{\n \"u\": \"http://h/\",", true),
        ("{\n \"u\":\n  \"http://h/\",", true),
    ] {
        let place = Place::new(&[("a.json", text)]);
        for args in [&["extract", "a.json"][..], &["dedup", "--extract", "a.json"]] {
            let ran = place.run(args, "");
            assert!(ran.text().starts_with("http://h/"), "{text}: {ran:?}");
            let message = format!("a.json: the JSON breaks off at byte {}", text.len());
            assert_eq!(ran.stderr.contains(&message), is_cut, "{text}: {}", ran.stderr);
            assert_eq!(ran.code, if is_cut { 2 } else { 0 }, "{text}");
        }
    }
}
