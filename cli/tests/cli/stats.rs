//! The summary: its numbers add up, and it stays off standard output.

use std::fs;

use serde_json::Value;

use crate::run::{Place, finish, program, run};

const MIXED: &str =
    "http://h/\nno uri\nhttp://h\n\n../relative\nno uri\nhttp://h/%zz\n \nhttp://h/x#f\n";

fn number(stats: &Value, name: &str) -> u64 {
    stats[name].as_u64().unwrap_or_else(|| panic!("{name} in {stats}"))
}

#[test]
fn json_adds_up() {
    let directory = tempfile::tempdir().unwrap();
    let rejects = directory.path().join("bad");
    let rejects = rejects.to_str().unwrap();
    for command in ["dedup", "normalize", "key"] {
        for [option, policy] in
            [["--on-invalid", "pass"], ["--on-invalid", "drop"], ["--rejects", rejects]]
        {
            let ran = run([command, "--stats=json", option, policy], MIXED);
            assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{}", ran.stderr);
            let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
            let lines = ran.text().lines().filter(|line| !line.is_empty()).count() as u64;
            assert_eq!(number(&stats, "written"), lines, "{command} {policy}");
            assert_eq!(number(&stats, "records"), 7);
            assert_eq!(number(&stats, "blank"), 2);
            assert_eq!(number(&stats, "bytes"), MIXED.len() as u64);
            let sum = ["written", "duplicates", "dropped"].map(|name| number(&stats, name));
            assert_eq!(sum.iter().sum::<u64>(), 7, "{stats}");
            let duplicates = match (command, policy) {
                ("dedup", "pass") => 2,
                ("dedup", _) => 1,
                _ => 0,
            };
            assert_eq!(number(&stats, "duplicates"), duplicates, "{command} {policy}");
            assert_eq!(number(&stats, "dropped"), if policy == "pass" { 0 } else { 4 });
            assert_eq!(number(&stats, "invalid"), 4);
            let kinds = stats["invalid_by_kind"].as_object().unwrap();
            assert_eq!(kinds.len(), uriscan::uri::UriErrorKind::ALL.len());
            assert_eq!(kinds.values().map(|count| count.as_u64().unwrap()).sum::<u64>(), 4);
            assert_eq!(
                ["space", "relative", "percent"].map(|kind| kinds[kind].as_u64().unwrap()),
                [2, 1, 1]
            );
            assert_eq!(stats["command"], command);
            assert_eq!(stats["level"], "scheme");
            assert!(stats["seconds"].as_f64().unwrap() > 0.0);
            assert!(stats["bytes_per_second"].as_f64().unwrap() > 0.0);
            assert_eq!(stats["distinct"].is_null(), command != "dedup");
        }
    }
    assert_eq!(fs::read_to_string(rejects).unwrap().lines().count(), 4);
}

#[test]
fn json_says_how_it_was_done() {
    let args = ["key", "--stats=json", "-j", "3", "--backend", "scalar"];
    let stats: Value = serde_json::from_str(&run(args, "a:\n").stderr).unwrap();
    assert_eq!((&stats["threads"], &stats["backend"]), (&3.into(), &"scalar".into()));
    assert_eq!((&stats["hash"], stats.get("seed")), (&"blake3".into(), None));
    let ran = run(["dedup", "--stats=json", "--drop-fragment"], "a:\n");
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(stats["hash"].is_null(), "no keys left the program");
    assert_eq!(stats["drop_fragment"], true);
    assert!(number(&stats, "threads") >= 1);
}

#[test]
fn text_is_for_people() {
    let ran = run(["dedup", "--stats", "-j", "2", "--backend", "scalar"], MIXED);
    assert_eq!(ran.text(), run(["dedup", "-q"], MIXED).quiet());
    let rows: Vec<Vec<&str>> =
        ran.stderr.lines().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(rows[0].join(" "), "uriscan dedup: level scheme, backend scalar, 2 threads");
    for row in [
        "records 7",
        "distinct 5 written",
        "duplicates 2 28.57 %",
        "invalid 4 kept",
        "space 2",
        "percent 1",
        "relative 1",
        "blank lines 2",
    ] {
        assert!(rows.iter().any(|found| found.join(" ") == row), "{row} in {}", ran.stderr);
    }
    assert!(ran.stderr.contains("MB/s") && ran.stderr.contains("M records/s"));
    assert_eq!(run(["dedup", "--stats"], "").stderr.lines().count(), 8);
}

#[test]
fn nothing_is_said_unless_asked_or_on_a_terminal() {
    assert_eq!(run(["dedup"], "a:\n\nA:\n").stderr, "");
    assert_eq!(run(["dedup", "--quiet"], MIXED).stderr, "");
}

#[test]
fn seen_records_are_distinguished_from_duplicates() {
    let directory = tempfile::tempdir().unwrap();
    let set = directory.path().join("seen.set");
    let set = set.to_str().unwrap();
    run(["set", "create", set], "http://h/\nhttp://i/\n").quiet();
    let list = "http://h\nHTTP://h/\nhttp://x/\nhttp://x\n";
    for more in [&[][..], &["--keep", "last"]] {
        let args = [&["dedup", "--seen", set, "--stats=json"], more].concat();
        let stats: Value = serde_json::from_str(&run(args, list).stderr).unwrap();
        let found = ["written", "duplicates", "seen"].map(|name| number(&stats, name));
        assert_eq!(found, [1, 3, 1], "{more:?}");
        let args = [&["dedup", "--seen", set, "--stats"], more].concat();
        let text = run(args, list).stderr;
        let row = format!("\n  already seen{:>17}  distinct URIs", 1);
        assert!(text.contains(&row), "{text}");
    }
    let ran = run(["dedup", "--stats=json"], list);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(stats["seen"].is_null());
    assert!(!run(["dedup", "--stats"], list).stderr.contains("already seen"));
}

#[test]
fn a_run_that_failed_has_no_summary() {
    let args = ["dedup", "--stats=json", "--on-invalid", "error"];
    let ran = run(args, MIXED);
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1));
    assert!(ran.stderr.starts_with("uriscan: -:2: "), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn nobody_to_tell_is_not_a_failure() {
    let mut command = program(["dedup", "--stats"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stderr(writer);
    assert_eq!(finish(command, "a:\n").quiet(), "a:\n");
}

fn account(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.read(name)).unwrap()
}

#[test]
fn a_file_has_the_summary_of_a_run_and_how_it_was_called() {
    let place = Place::new(&[("list", MIXED), ("a b", "http://h/\n")]);
    let args = ["dedup", "--stats-file", "s.json", "--redact", "list", "a b"];
    let ran = place.run(&args, "");
    assert_eq!(ran.code, 0);
    let stats = account(&place, "s.json");
    assert_eq!((&stats["command"], number(&stats, "exit_code")), (&"dedup".into(), 0));
    assert_eq!(number(&stats, "records"), 8);
    assert_eq!(stats["options"].as_array().unwrap().last().unwrap(), "a b");
    assert_eq!(stats["started"].as_str().unwrap().len(), "2026-03-01T12:00:00Z".len());
    let fields = stats.as_object().unwrap();
    assert!(fields.values().all(|value| !value.is_null()), "{stats}");
    assert!(!fields.contains_key("error") && !fields.contains_key("findings"), "{stats}");
    // Of every command that reads records, and a set has two words.
    for args in [
        &["check", "list"][..],
        &["census", "list"],
        &["top", "list"],
        &["extract", "list"],
        &["audit", "list"],
        &["parse", "list"],
        &["resolve", "--base", "http://h/", "list"],
        &["explain", "-f", "list"],
        &["set", "create", "new.set", "list"],
        &["set", "has", "new.set", "list"],
    ] {
        let ran = place.run(&[args, &["--stats-file", "s.json"]].concat(), "");
        let stats = account(&place, "s.json");
        assert_eq!(number(&stats, "exit_code"), u64::try_from(ran.code).unwrap(), "{args:?}");
        let command = stats["command"].as_str().unwrap();
        assert!(args.join(" ").starts_with(command) && stats["version"].is_string(), "{stats}");
    }
}

#[test]
fn a_file_is_written_when_a_run_fails_too() {
    let place = Place::new(&[("list", MIXED)]);
    for (args, what) in [
        (&["dedup", "--on-invalid", "error", "list"][..], "list:2: "),
        (&["dedup", "missing"], "missing: "),
        (&["dedup", "list", "-o", "no/where"], "no/where: "),
        (&["dedup", "--preset", "none-such", "list"], "none-such"),
        (&["dedup", "--seen", "missing.set", "list"], "missing.set"),
        // Arguments that are wrong, and names with secrets.
        (&["dedup", "--no-such-option"], "--no-such-option"),
        (&["dedup", "list", "--seen", "/no/http://u:secret@h/x"], "http://u:***@h/x"),
    ] {
        place.run(&["dedup", "--stats-file", "s.json"], "a:\n").quiet();
        let ran = place.run(&[args, &["--stats-file", "s.json"]].concat(), "");
        assert_eq!(ran.code, 2, "{args:?}");
        let stats = account(&place, "s.json");
        assert_eq!((number(&stats, "exit_code"), &stats["command"]), (2, &"dedup".into()));
        assert!(stats["error"].as_str().unwrap().contains(what), "{stats}");
        assert!(stats.get("records").is_none() && !stats.to_string().contains("secret"), "{stats}");
    }
    let ran = place.run(&["dedup", "--strict", "--stats-file", "s.json", "list"], "");
    assert_eq!((ran.code, number(&account(&place, "s.json"), "exit_code")), (1, 1));
    let ran = place.run(&["extract", "--stats-file", "s.json", "list", "missing"], "");
    let stats = account(&place, "s.json");
    assert_eq!((ran.code, number(&stats, "exit_code")), (2, 2));
    assert!(stats["error"].is_string() && number(&stats, "records") > 0, "{stats}");
}

#[test]
fn a_file_of_something_else_is_never_replaced() {
    let place = Place::new(&[("list", MIXED), ("other.json", "{\"a\":1}\n"), ("empty", "")]);
    let before = place.names();
    for args in [
        &["dedup", "--stats-file", "list", "list"][..],
        &["dedup", "--stats-file", "list"],
        &["dedup", "--stats-file", "list", "--no-such-option"],
        &["dedup", "--stats-file", "list", "missing"],
        &["dedup", "--stats-file", "other.json", "list"],
        &["dedup", "--stats-file", "-", "list"],
        &["dedup", "--stats-file", "new", "-o", "./new", "list"],
        &["dedup", "--stats-file", "new", "--dupes", "new", "list"],
        &["dedup", "--stats-file", "no/where", "list"],
        &["dedup", "--stats-file", "empty", "empty"],
    ] {
        let ran = place.run(args, "");
        assert_eq!(ran.code, 2, "{args:?}: {}", ran.stderr);
        assert!(place.read("list") == MIXED && place.read("other.json") == "{\"a\":1}\n");
        assert_eq!((place.read("empty").as_str(), place.names()), ("", before.clone()), "{args:?}");
    }
    place.run(&["dedup", "--stats-file", "empty"], "a:\n").quiet();
    place.run(&["dedup", "--stats-file", "/dev/null"], "a:\n").quiet();
    assert_eq!(number(&account(&place, "empty"), "records"), 1);
}

#[test]
fn a_run_with_invalid_records_ends_with_a_line_about_them() {
    let line =
        "uriscan: 3 of 6 records are invalid and were kept (percent 1, space 1, relative 1); ";
    let mixed = MIXED.replacen("no uri\n", "", 1);
    for args in [&["dedup"][..], &["normalize"], &["key"], &["dedup", "-c"]] {
        let ran = run(args, &mixed);
        assert!(ran.stderr.starts_with(line), "{args:?}: {}", ran.stderr);
        assert_eq!((ran.code, ran.stderr.lines().count()), (0, 1), "{args:?}: {}", ran.stderr);
        run([args, &["-q"]].concat(), &mixed).quiet();
    }
    // Whoever says what becomes of them knows, and so do summaries and commands that report each.
    for args in [
        &["dedup", "--on-invalid", "drop"][..],
        &["dedup", "--on-invalid", "pass"],
        &["dedup", "--stats=json"],
        &["dedup", "--stats"],
        &["check"],
        &["parse"],
        &["census"],
    ] {
        let ran = run(args, &mixed);
        assert!(!ran.stderr.contains("were kept"), "{args:?}: {}", ran.stderr);
    }
    let one = run(["dedup"], "a:\nb c\n");
    assert!(one.stderr.starts_with("uriscan: 1 of 2 records is invalid and was kept (space 1)"));
    run(["dedup"], "a:\n\n").quiet();
}

#[test]
fn bytes_a_second_are_shown_where_all_that_is_read_is_counted() {
    for (args, is_all) in [
        (&["dedup"][..], true),
        (&["extract"], true),
        (&["dedup", "--extract"], false),
        (&["dedup", "--match", "h"], true),
        (&["dedup", "--column", "1", "--from", "tsv", "--no-header"], true),
    ] {
        let text = run([args, &["--stats"]].concat(), "http://h/\n").stderr;
        assert_eq!(text.contains("MB/s"), is_all, "{text}");
        assert!(text.contains("M records/s"), "{text}");
        let json = run([args, &["--stats=json"]].concat(), "http://h/\n").stderr;
        let stats: Value = serde_json::from_str(&json).unwrap();
        assert_eq!(stats["bytes_per_second"].is_number(), is_all, "{args:?}: {stats}");
        assert!(number(&stats, "bytes") > 0, "{stats}");
    }
}
