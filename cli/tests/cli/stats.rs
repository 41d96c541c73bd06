//! The summary: its numbers add up, and it stays off standard output.

use std::fs;

use serde_json::Value;

use crate::run::{finish, program, run};

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
            let ran = run([command, "--stats-format", "json", option, policy], MIXED);
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
            assert_eq!(kinds.len(), uriscan::uri::ErrorKind::ALL.len());
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
    let args = ["key", "--stats-format", "json", "-j", "3", "--backend", "scalar"];
    let stats: Value = serde_json::from_str(&run(args, "a:\n").stderr).unwrap();
    assert_eq!((&stats["threads"], &stats["backend"]), (&3.into(), &"scalar".into()));
    assert_eq!((&stats["hash"], stats.get("seed")), (&"blake3".into(), None));
    let ran = run(["dedup", "--stats-format", "json", "--drop-fragment"], "a:\n");
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
    assert_eq!(run(["dedup", "--stats-format", "text"], "").stderr.lines().count(), 8);
}

#[test]
fn nothing_is_said_unless_asked_or_on_a_terminal() {
    assert_eq!(run(["dedup"], MIXED.replace("no uri\n", "")).stderr, "");
    assert_eq!(run(["dedup", "--quiet"], MIXED).stderr, "");
}

#[test]
fn seen_records_are_told_from_duplicates() {
    let directory = tempfile::tempdir().unwrap();
    let set = directory.path().join("seen.set");
    let set = set.to_str().unwrap();
    run(["set", "create", set], "http://h/\nhttp://i/\n").quiet();
    let list = "http://h\nHTTP://h/\nhttp://x/\nhttp://x\n";
    for more in [&[][..], &["--keep", "last"]] {
        let args = [&["dedup", "--seen", set, "--stats-format", "json"], more].concat();
        let stats: Value = serde_json::from_str(&run(args, list).stderr).unwrap();
        let found = ["written", "duplicates", "seen"].map(|name| number(&stats, name));
        assert_eq!(found, [1, 3, 1], "{more:?}");
        let args = [&["dedup", "--seen", set, "--stats"], more].concat();
        let text = run(args, list).stderr;
        let row = format!("\n  already seen{:>17}  distinct URIs", 1);
        assert!(text.contains(&row), "{text}");
    }
    let ran = run(["dedup", "--stats-format", "json"], list);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(stats["seen"].is_null());
    assert!(!run(["dedup", "--stats"], list).stderr.contains("already seen"));
}

#[test]
fn a_run_that_failed_has_no_summary() {
    let args = ["dedup", "--stats-format", "json", "--on-invalid", "error"];
    let ran = run(args, MIXED);
    assert_eq!((ran.code, ran.stderr.lines().count()), (2, 1));
    assert!(ran.stderr.starts_with("uriscan: -:2: "), "{}", ran.stderr);
}

#[cfg(unix)]
#[test]
fn nobody_to_tell_is_no_failure() {
    let mut command = program(["dedup", "--stats"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    command.stderr(writer);
    assert_eq!(finish(command, "a:\n").quiet(), "a:\n");
}
