//! What comes from outside: names that a terminal would act on, URLs for files, input that is not a list, outputs that are inputs.

use std::fs;
#[cfg(unix)]
use std::fs::File;

use serde_json::Value;

use crate::run::{Place, run};

const CLEAR: &str = "\x1b[2J\u{202e}";

#[cfg(unix)]
#[test]
fn names_reach_the_terminal_with_escapes() {
    let shown = r"\x1b[2J\u{202e}";
    let name = format!("a{CLEAR}\n.txt");
    let place = Place::new(&[(&name, "a b\n"), ("good", "http://o/\n")]);
    let missing = format!("no{CLEAR}\nfile");
    let message = place.run(&["dedup", &missing], "").refused();
    assert!(message.starts_with(&format!(r"uriscan: no{shown}\nfile: ")), "{message}");
    // By a job that stops, one that reports, and one that goes on.
    let message = place.run(&["normalize", "--on-invalid", "error", &name], "").refused();
    assert!(message.contains(&format!(r"a{shown}\n.txt:1: space")), "{message}");
    let ran = place.run(&["check", &name], "");
    assert!(!ran.text().contains('\x1b') && ran.text().contains(r"\x1b[2J"), "{}", ran.text());
    let ran = place.run(&["extract", &missing, "good"], "");
    assert_eq!((ran.code, ran.text()), (2, "http://o/\n"));
    assert!(ran.stderr.starts_with(&format!(r"uriscan: no{shown}\nfile: ")), "{}", ran.stderr);
    // Options that are typed.
    let message = run(["audit", "--redact", "-o", &format!("no{CLEAR}/x")], "x:\n").refused();
    assert!(!message.contains('\x1b') && message.contains(shown), "{message}");
}

#[test]
fn rule_files_and_sets_are_shown_with_escapes_and_written_as_they_are() {
    let place = Place::new(&[]);
    let rules_file = r#"
        name = "p"
        [[unit]]
        drop = ["x"]
    "#;
    fs::write(place.path("broken\u{1b}[2J.toml"), rules_file.replace("[[unit]]", "[[unit"))
        .unwrap();
    let message = place.run(&["rules", "--rules", "broken\u{1b}[2J.toml"], "").refused();
    assert!(message.contains(r"broken\x1b[2J.toml") && !message.contains('\x1b'), "{message}");
    let set = "set\u{1b}[2J";
    place.run(&["set", "create", set], "x:1\n").quiet();
    let text = place.run(&["set", "stats", set], "").quiet();
    assert!(text.starts_with("set\\x1b[2J\n"), "{text}");
    let json = place.run(&["set", "stats", "--to", "json", set], "").quiet();
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["set"], set);
}

#[test]
fn input_that_is_not_a_list_is_reported_once_and_how_to_read_it() {
    let log = "h - - [10/Oct/2000:13:55:36 -0700] \"GET http://h/ HTTP/1.0\" 200 1\n".repeat(3);
    for (name, text, what) in [
        ("t", "1,http://h/\n2,http://i/\n", "CSV. Try `uriscan COMMAND --extract --from csv"),
        ("t.log", &*log, "an access log. Try `uriscan COMMAND --extract"),
        (
            "t.html",
            "<!doctype html>\n<a href=http://h/>\n</a>\n",
            "HTML. Try `uriscan COMMAND --extract --base URL",
        ),
        ("t.json", "{\"page\": [\"http://h/\"]}\n", "JSON. Try `uriscan COMMAND --extract"),
        ("t.bin", "\x7fELF\0\0 a\n\0 b\n", "binary data. Try `uriscan COMMAND --extract"),
    ] {
        let place = Place::new(&[(name, text)]);
        for command in ["dedup", "normalize", "census"] {
            for (args, input, name) in [(&[command, name][..], "", name), (&[command], text, "-")] {
                let ran = place.run(args, input);
                let what = what.replace("COMMAND", command);
                let typed = if name == "-" { String::new() } else { format!(" {name}") };
                let hint = format!(
                    "uriscan: most of {name} is not a list of URIs; it looks like {what}{typed}`\n"
                );
                assert!(ran.stderr.starts_with(&hint), "{command}: {}", ran.stderr);
                assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{}", ran.stderr);
            }
            assert_eq!(place.run(&[command, "-q", name], "").stderr, "");
            let ran = place.run(&[command, "--stats=json", name], "");
            assert!(serde_json::from_str::<Value>(&ran.stderr).is_ok(), "{}", ran.stderr);
        }
    }
    // What the hint says works.
    let place = Place::new(&[("nginx.log", &*log), ("l.csv", "id,url\n1,http://h/\n2,http://h\n")]);
    let ran = place.run(&["top", "--by", "host", "nginx.log"], "");
    assert!(
        ran.stderr.ends_with("Try `uriscan top --extract --by host nginx.log`\n"),
        "{}",
        ran.stderr
    );
    place.run(&["top", "--extract", "--by", "host", "nginx.log"], "").quiet();
    // A table gets one that names a column, also where its lines are URIs.
    for text in ["id,url\n1,http://h/\n2,http://i/\n", "url,id\nhttp://h/,1\nhttp://i/,2\n"] {
        let place = Place::new(&[("l.csv", text)]);
        for command in ["dedup", "normalize", "key", "parse", "check", "audit"] {
            let stderr = place.run(&[command, "l.csv"], "").stderr;
            // Findings are lists, which CSV does not hold.
            let how = if command == "audit" { "--extract --link-column" } else { "--column" };
            let hint = format!("Try `uriscan {command} {how} url l.csv`\n");
            assert!(stderr.contains("CSV with the columns ") && stderr.contains(&hint), "{stderr}");
            assert!(!place.run(&[command, "-q", "l.csv"], "").stderr.contains("Try"));
        }
    }
    // Rows and columns are not lists.
    let rows = "{\"b\":\"http://h/\",\"reference\":\"a b\"}\n";
    let ran = run(["resolve", "--base-column", "b", "--from", "jsonl"], rows);
    assert!(ran.stderr.starts_with("uriscan: 1 of 1 row has no target"), "{}", ran.stderr);
    assert_eq!(ran.text(), rows);
    let ran = run(["resolve", "--base-column", "b", "--from", "jsonl", "-q"], rows);
    assert_eq!((&*ran.stderr, ran.text()), ("", rows));
    let ran = run(["resolve", "--base-column", "1"], "a b\tc\nd e\tf\n");
    assert!(ran.stderr.starts_with("uriscan: 2 of 2 rows have no target"), "{}", ran.stderr);
    let rows = "{\"page\":\"http://x/\",\"href\":\"a\"}\n";
    let args =
        ["resolve", "--base-column", "page", "--reference-column", "link", "--from", "jsonl"];
    let ran = run(args, rows);
    assert_eq!((ran.code, ran.text()), (0, rows));
    assert!(ran.stderr.contains("-:1: no text in member link; its members are href, page"));
    let ran = place.run(&["top", "--by", "host", "--column", "id", "l.csv"], "");
    let hint = "uriscan: most values of column id of l.csv are not URIs; column url has URLs. Try --column url";
    assert!(ran.code == 0 && ran.stderr.starts_with(hint), "{}", ran.stderr);
    let ran = place.run(&["census", "l.csv"], "");
    let hint = "Try `uriscan census --column url l.csv`\n";
    assert!(ran.stderr.ends_with(hint), "{}", ran.stderr);
    place.run(&["census", "--column", "url", "l.csv"], "").quiet();
    // A list with some faults, and faults that look like nothing.
    let list = "http://h/\nhttp://i/\na,b c\nc,d e\n";
    assert_eq!(run(["normalize"], list).quiet(), list);
    let ran = run(["normalize"], "a b\nc d\n");
    let reported =
        "uriscan: 2 of 2 records are not URIs, the first at -:1:2 (space); see `uriscan check`\n";
    assert_eq!((&*ran.stderr, ran.text()), (reported, "a b\nc d\n"));
    assert_eq!(run(["normalize", "-q"], "a b\nc d\n").quiet(), "a b\nc d\n");
}

#[cfg(unix)]
#[test]
fn standard_output_that_is_an_input_is_refused() {
    let list = "HTTP://h/1\nHTTP://h/2\n";
    let place = Place::new(&[("g", list), ("other", "http://o/\n"), ("empty", "")]);
    let append = |name: &str| File::options().append(true).open(place.path(name)).unwrap();
    for args in
        [&["normalize", "g"][..], &["dedup", "other", "g"], &["extract", "g"], &["census", "./g"]]
    {
        let mut command = place.command(args);
        let output = command.stdout(append("g")).output().unwrap();
        let message = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{args:?}: {message}");
        assert!(message.contains("is both an input and standard output"), "{message}");
        assert_eq!(place.read("g"), list, "{args:?}");
    }
    // Standard input may be that file, too.
    let mut command = place.command(&["normalize"]);
    command.stdin(File::open(place.path("g")).unwrap()).stdout(append("g"));
    assert_eq!((command.output().unwrap().status.code(), place.read("g")), (Some(2), list.into()));
    // What is empty gives nothing, unless another input comes first.
    let mut command = place.command(&["normalize", "empty"]);
    assert_eq!(command.stdout(append("empty")).output().unwrap().status.code(), Some(0));
    let mut command = place.command(&["normalize", "other", "empty"]);
    assert_eq!(command.stdout(append("empty")).output().unwrap().status.code(), Some(2));
    assert_eq!(place.read("empty"), "");
    // Below a directory it is passed over; another file is fine.
    let mut command = place.command(&["extract", "."]);
    assert_eq!(command.stdout(append("empty")).output().unwrap().status.code(), Some(0));
    assert_eq!(place.read("empty"), list.to_owned() + "http://o/\n");
    place.run(&["normalize", "g", "-o", "g"], "").quiet();
    assert_eq!(place.read("g"), "http://h/1\nhttp://h/2\n");
}

#[test]
fn redaction_looks_into_parameters_and_says_what_it_masks() {
    let list = "http://joe@h/?redirect=https%3A%2F%2Fo%2F%3Ftoken%3Dabc%26x%3D1\nhttp://h/cb?code=1&state=2\n";
    let masked = "http://***@h/?redirect=https%3A%2F%2Fo%2F%3Ftoken%3D***%26x%3D1\nhttp://h/cb?code=***&state=***\n";
    assert_eq!(run(["audit", "--redact"], list).quiet(), masked);
    assert_eq!(run(["normalize", "--redact"], list).quiet(), masked);
    let rules = run(["audit", "--list-rules"], "").quiet();
    for word in
        ["--redact writes *** instead of", "user names", "apikey", "phpsessid", "code and state"]
    {
        assert!(rules.contains(word), "{word}: {rules}");
    }
}
