//! `dedup -c`, `-d`, `-u`, `--keep`, `--dupes` and `--clusters`; what they find is tested with the library.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::run::{Ran, finish, program, run};

const LIST: &str =
    "http://h/b\nHTTP://H:80\nno uri\nhttp://h\nhttp://h/x\nno uri\nhttp://h/\n\nhttp://h/b\n";

fn rows(text: &str) -> Vec<Value> {
    text.lines().map(|row| serde_json::from_str(row).unwrap()).collect()
}

/// Runs the program in `place`.
#[track_caller]
fn run_in(place: &Path, args: &[&str], input: &str) -> Ran {
    let mut command = program(args);
    command.current_dir(place);
    finish(command, input)
}

#[test]
fn counts_stand_before_the_lines_as_with_uniq() {
    let counted = "      2 http://h/b\n      3 HTTP://H:80\n      2 no uri\n      1 http://h/x\n";
    assert_eq!(run(["dedup", "-c"], LIST).quiet(), counted);
    assert_eq!(run(["dedup", "--count", "--keep", "first"], LIST).quiet(), counted);
    let many = "a:\n".repeat(12_345_678 / 100) + "b:\n";
    assert_eq!(run(["dedup", "-c"], many).quiet(), " 123456 a:\n      1 b:\n");
    assert_eq!(run(["dedup", "-c0"], "a:\0b:\0A:\0").quiet(), "      2 a:\0      1 b:\0");
    assert_eq!(run(["dedup", "-c"], "").quiet(), "");
}

#[test]
fn counts_go_with_every_form() {
    let normalized = run(["dedup", "-c", "--emit", "normalized"], LIST).quiet();
    assert_eq!(
        normalized,
        "      2 http://h/b\n      3 http://h/\n      2 no uri\n      1 http://h/x\n"
    );
}

#[test]
fn repeated_and_unique_are_the_two_halves() {
    assert_eq!(run(["dedup", "-d"], LIST).quiet(), "http://h/b\nHTTP://H:80\nno uri\n");
    assert_eq!(run(["dedup", "-u"], LIST).quiet(), "http://h/x\n");
    assert_eq!(
        run(["dedup", "-dc", "--level", "string"], LIST).quiet(),
        "      2 http://h/b\n      2 no uri\n"
    );
    assert_eq!(run(["dedup", "-cu", "--on-invalid", "drop"], LIST).quiet(), "      1 http://h/x\n");
    assert_eq!(run(["dedup", "--repeated", "--unique"], LIST).code, 2);
}

#[test]
fn the_one_that_is_asked_for_is_kept_at_its_place() {
    let keep = |which| run(["dedup", "--keep", which], LIST).quiet();
    assert_eq!(keep("last"), "http://h/x\nno uri\nhttp://h/\nhttp://h/b\n");
    assert_eq!(keep("shortest"), "http://h/b\nno uri\nhttp://h\nhttp://h/x\n");
    assert_eq!(keep("https"), run(["dedup"], LIST).quiet(), "at no level is http one with https");
    assert_eq!(keep("first"), run(["dedup"], LIST).quiet());
}

#[test]
fn dupes_say_for_which_one_and_why() {
    let place = tempfile::tempdir().unwrap();
    let list = format!("{LIST}tab\there\ntab\there\n");
    let kept = run_in(place.path(), &["dedup", "--dupes", "dupes"], &list).quiet();
    assert_eq!(kept, run(["dedup"], &list).quiet());
    let dupes = fs::read_to_string(place.path().join("dupes")).unwrap();
    let expected = "http://h\tHTTP://H:80\tscheme\n\
                    no uri\tno uri\tstring\n\
                    http://h/\tHTTP://H:80\tscheme\n\
                    http://h/b\thttp://h/b\tstring\n\
                    tab\there\ttab\there\tstring\n";
    assert_eq!(dupes, expected);
    run_in(place.path(), &["dedup", "--dupes", "dupes", "--keep", "last", "-d0"], "a:%41\0A:A\0")
        .quiet();
    assert_eq!(fs::read_to_string(place.path().join("dupes")).unwrap(), "a:%41\tA:A\tsyntax\0");
    run_in(place.path(), &["dedup", "--dupes", "dupes"], "a:\n").quiet();
    assert_eq!(fs::read_to_string(place.path().join("dupes")).unwrap(), "");
}

#[test]
fn clusters_name_all_members() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("a"), "\u{FEFF}\nhttp://h\nx:\n").unwrap();
    fs::write(place.path().join("b \""), b"\xFF\nHTTP://h/\n\xFF\nhttp://h").unwrap();
    let args = ["dedup", "a", "-", "b \"", "--clusters", "clusters", "-o", "out"];
    run_in(place.path(), &args, "X:\n").quiet();
    let text = fs::read_to_string(place.path().join("clusters")).unwrap();
    let member = |source: &str, line: u32, uri: &str, level: &str, rules: &[&str]| json!({ "source": source, "line": line, "uri": uri, "level": level, "rules": rules });
    let bytes = |line: u32| json!({ "source": "b \"", "line": line, "uri": null, "hex": "ff", "level": "string", "rules": [] });
    let expected = [
        json!({ "kept": "http://h", "count": 3, "members": [
            member("a", 2, "http://h", "string", &[]),
            member("b \"", 2, "HTTP://h/", "scheme", &["scheme-case", "empty-path"]),
            member("b \"", 4, "http://h", "string", &[]),
        ]}),
        json!({ "kept": "x:", "count": 2, "members": [
            member("a", 3, "x:", "string", &[]),
            member("-", 1, "X:", "syntax", &["scheme-case"]),
        ]}),
        json!({ "kept": null, "kept_hex": "ff", "count": 2, "members": [bytes(1), bytes(3)] }),
    ];
    assert_eq!(rows(&text), expected);
    // One for each line of the results.
    run_in(place.path(), &["dedup", "a", "-", "-u", "--clusters", "clusters"], "X:\n").quiet();
    let text = fs::read_to_string(place.path().join("clusters")).unwrap();
    assert_eq!(
        rows(&text),
        [
            json!({ "kept": "http://h", "count": 1, "members": [member("a", 2, "http://h", "string", &[])] })
        ]
    );
}

#[test]
fn totals_add_up() {
    let stats = |args: &[&str]| {
        let ran = run([&["dedup", "--stats=json"], args].concat(), LIST);
        let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
        ["records", "written", "withheld", "duplicates", "dropped", "distinct"]
            .map(|name| stats[name].as_u64().unwrap())
    };
    assert_eq!(stats(&[]), [8, 4, 0, 4, 0, 4]);
    assert_eq!(stats(&["-c"]), [8, 4, 0, 4, 0, 4]);
    assert_eq!(stats(&["-d"]), [8, 3, 1, 4, 0, 4]);
    assert_eq!(stats(&["-u", "--on-invalid", "drop"]), [8, 1, 2, 3, 2, 3]);
    let text = run(["dedup", "-d", "--stats"], LIST).stderr;
    let rows: Vec<String> =
        text.lines().map(|line| line.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
    for row in ["distinct 4", "written 3 75.00 %", "duplicates 4 50.00 %"] {
        assert!(rows.iter().any(|found| found == row), "{row} in {text}");
    }
}

#[test]
fn every_file_is_for_one_thing() {
    let place = tempfile::tempdir().unwrap();
    for (args, holds) in [
        (["--dupes", "x", "--clusters", "./x"], "duplicates and clusters"),
        (["-o", "x", "--clusters", "x"], "results and clusters"),
        (["--rejects", "x", "--dupes", "x"], "invalid records and duplicates"),
    ] {
        let message = run_in(place.path(), &[&["dedup"], &args[..]].concat(), LIST).refused();
        assert!(message.contains(&format!("cannot take both {holds}")), "{message}");
    }
    for option in ["--dupes", "--clusters"] {
        let message = run_in(place.path(), &["dedup", option, "-"], LIST).refused();
        assert!(message.contains("name a file"), "{message}");
        let message = run_in(place.path(), &["dedup", option, "no/where"], LIST).refused();
        assert!(message.starts_with("uriscan: no/where: "), "{message}");
    }
    assert_eq!(fs::read_dir(place.path()).unwrap().count(), 0);
}

#[test]
fn a_run_that_fails_leaves_all_files_as_they_were() {
    let place = tempfile::tempdir().unwrap();
    for name in ["out", "dupes", "clusters"] {
        fs::write(place.path().join(name), "old").unwrap();
    }
    let args = ["dedup", "-c", "-o", "out", "--dupes", "dupes", "--clusters", "clusters"];
    let message =
        run_in(place.path(), &[&args[..], &["--on-invalid", "error"]].concat(), LIST).refused();
    assert!(message.starts_with("uriscan: -:3: space at column 3"), "{message}");
    for name in ["out", "dupes", "clusters"] {
        assert_eq!(fs::read_to_string(place.path().join(name)).unwrap(), "old");
    }
    assert_eq!(run(["dedup", "-c", "--on-invalid", "error"], LIST).refused().lines().count(), 1);
    run_in(place.path(), &args, LIST).quiet();
    let lines = |name: &str| fs::read_to_string(place.path().join(name)).unwrap().lines().count();
    assert_eq!(["out", "dupes", "clusters"].map(lines), [4, 4, 4]);
}
