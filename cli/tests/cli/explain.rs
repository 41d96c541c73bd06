//! `explain` as a command; what it finds is tested with the library.

use std::fs;

use serde_json::{Value, json};

use crate::run::{finish, program, run};

#[test]
fn changes_are_told_in_lines() {
    let told = run(["explain", "HTTP://Example.COM:80/a/../%7Ebob"], "").quiet();
    let expected = "\
HTTP://Example.COM:80/a/../%7Ebob
  syntax  scheme-case     0..4      HTTP -> http
  syntax  triplet-decode  27..30    %7E -> ~
  syntax  host-case       7..18     Example.COM -> example.com
  syntax  dot-segments    21..26    /a/.. -> \"\"
  scheme  default-port    18..21    :80 -> \"\"
  = http://example.com/~bob
";
    assert_eq!(told, expected);
    let told = run(["explain", "http://h/#f", "--ignore-fragment", "--rung", "string"], "").quiet();
    assert_eq!(
        told,
        "http://h/#f\n  rule    fragment        9..11     #f -> \"\"\n  = http://h/\n"
    );
    let three = run(["explain", "a:", "b:", "c:"], "").quiet();
    assert_eq!(three, "a:\n  = a:\nb:\n  = b:\nc:\n  = c:\n");
}

#[test]
fn two_uris_are_compared() {
    let told = run(["explain", "http://h", "HTTP://h:80/"], "").quiet();
    assert!(
        told.ends_with("equivalent at rung scheme: scheme-case, default-port, empty-path\n"),
        "{told}"
    );
    assert!(
        run(["explain", "a:", "a:"], "")
            .quiet()
            .ends_with("equivalent at rung string: the same bytes\n")
    );
    let told = run(["explain", "http://h/?a=1&b=2", "http://h/?b=2&a=1"], "").quiet();
    let expected = "\
never equivalent
  query-order: the order of a query is part of it
    http://h/?a=1&b=2
              ^
    http://h/?b=2&a=1
              ^
";
    assert!(told.ends_with(expected), "{told}");
}

#[test]
fn machines_read_json() {
    let row = |args: &[&str]| -> Value {
        let ran = run([&["explain", "--to", "jsonl"], args].concat(), "").quiet();
        assert_eq!(ran.lines().count(), 1);
        serde_json::from_str(&ran).unwrap()
    };
    let change = |rung: &str,
                  rule: &str,
                  component: &str,
                  start: u32,
                  end: u32,
                  before: &str,
                  after: &str| {
        json!({ "rung": rung, "rule": rule, "component": component, "start": start, "end": end,
            "before": before, "after": after })
    };
    let told = json!({ "uri": "http://H:80/", "canonical": "http://h/", "changes": [
        change("syntax", "host-case", "host", 7, 8, "H", "h"),
        change("scheme", "default-port", "port", 8, 11, ":80", ""),
    ]});
    assert_eq!(row(&["http://H:80/"]), told);
    let plain = json!({ "uri": "http://h/", "canonical": "http://h/", "changes": [] });
    assert_eq!(
        row(&["http://H:80/", "http://h/"]),
        json!({ "a": told, "b": plain, "rung": "scheme", "rules": ["host-case", "default-port"], "partings": [] })
    );
    let parting = json!({ "component": "path", "reason": "trailing-slash", "a": 10, "b": 10,
        "message": "the trailing slash is part of the path" });
    let found = row(&["http://h/a", "http://h/a/"]);
    assert_eq!((&found["rung"], &found["partings"]), (&Value::Null, &json!([parting])));
    let invalid = json!({ "uri": "a b", "error": { "kind": "space", "at": 1 } });
    assert_eq!(row(&["a b"]), invalid);
}

#[test]
fn records_come_from_files_and_standard_input() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("list"), "\n A:%41 \na b\n").unwrap();
    let mut command = program(["explain", "-f", "list", "-f", "-", "--to", "jsonl"]);
    command.current_dir(place.path());
    let rows: Vec<Value> = finish(command, "b:\n")
        .quiet()
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[0]["line"], &rows[0]["canonical"]), (&json!(2), &json!("a:A")));
    assert_eq!((&rows[1]["line"], &rows[1]["error"]["kind"]), (&json!(3), &json!("space")));
    assert_eq!((&rows[2]["line"], &rows[2]["uri"]), (&json!(1), &json!("b:")));
    assert_eq!(run(["explain", "-0"], "A:\0B:\n\0").quiet().lines().count(), 6);
    let strict = run(["explain", "--strict", "a b"], "");
    assert_eq!((strict.code, strict.stderr.as_str()), (1, ""));
    assert!(
        strict.text().contains("  invalid: space: ") && strict.text().ends_with("  a b\n   ^\n")
    );
    assert_eq!(run(["explain", "--strict"], "a b\n").code, 1);
    assert_eq!(run(["explain", "a:", "-f", "list"], "").code, 2);
}

#[test]
fn pairs_are_what_dupes_writes() {
    let place = tempfile::tempdir().unwrap();
    let mut command = program(["dedup", "--dupes", "dupes"]);
    command.current_dir(place.path());
    finish(command, "http://h\nHTTP://h/%7e\nhttp://h:80/\nhttp://h/~\nbad\nbad\n").quiet();
    let mut command = program(["explain", "--pairs", "-f", "dupes", "--to", "jsonl"]);
    command.current_dir(place.path());
    let rows: Vec<Value> =
        finish(command, "").quiet().lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let told: Vec<_> = rows.iter().map(|row| (&row["rung"], &row["rules"])).collect();
    assert_eq!(
        told,
        [
            (&json!("scheme"), &json!(["default-port", "empty-path"])),
            (&json!("syntax"), &json!(["scheme-case", "triplet-decode"])),
            (&json!("string"), &json!([])),
        ]
    );
    let dupes = fs::read_to_string(place.path().join("dupes")).unwrap();
    for (line, row) in dupes.lines().zip(&rows) {
        assert!(line.ends_with(row["rung"].as_str().unwrap()), "{line}");
    }
    assert_eq!(run(["explain", "--pairs"], "a:\n").quiet(), "a:\n  = a:\n");
}

#[test]
fn colours_are_for_those_who_see_them() {
    let args = ["explain", "A:"];
    let plain = run(args, "").quiet();
    assert!(!plain.contains('\x1b'), "no terminal here");
    let coloured = run([&args[..], &["--color", "always"]].concat(), "").quiet();
    assert!(coloured.contains("\x1b[33mscheme-case\x1b[0m"), "{coloured}");
    let bare: String = {
        let mut parts = coloured.split('\x1b');
        let first = parts.next().unwrap().to_owned();
        first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
    };
    assert_eq!(bare, plain);
    let mut command = program([&args[..], &["--color", "always"]].concat());
    command.env("NO_COLOR", "1");
    assert_eq!(finish(command, "").quiet(), coloured, "what is typed counts more");
}

#[test]
fn what_is_no_text_is_told_all_the_same() {
    let row: Value =
        serde_json::from_slice(&run(["explain", "--to", "jsonl"], b"\xFF\x1b\n").stdout).unwrap();
    assert_eq!(
        row,
        json!({ "line": 1, "uri": null, "hex": "ff1b", "error": { "kind": "non-ascii", "at": 0 } })
    );
    let told = run(["explain"], b"\xFF\x1b\n").quiet();
    assert!(told.starts_with("\\xff\\x1b\n  invalid: non-ascii: "), "{told}");
}
