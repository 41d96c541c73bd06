//! `--on-invalid`, `--rejects` and `--strict`.

use std::fs;

use crate::run::{program, run};

const MIXED: &str = "http://h/\nno uri\nhttp://h\n../relative\nno uri\nhttp://h/%zz\n";

#[test]
fn invalid_records_are_kept_by_default() {
    let kept = "http://h/\nno uri\n../relative\nhttp://h/%zz\n";
    assert_eq!(run(["dedup", "-q"], MIXED).quiet(), kept, "equal by their bytes");
    assert_eq!(run(["dedup", "-q", "--on-invalid", "pass"], MIXED).quiet(), kept);
    let lines = run(["normalize", "-q"], MIXED).quiet();
    assert_eq!(lines, MIXED.replace("http://h\n", "http://h/\n"));
}

#[test]
fn they_can_be_left_out() {
    assert_eq!(run(["dedup", "-q", "--on-invalid", "drop"], MIXED).quiet(), "http://h/\n");
    let lines = run(["normalize", "-q", "--on-invalid", "drop"], MIXED).quiet();
    assert_eq!(lines, "http://h/\nhttp://h/\n");
    assert_eq!(run(["key", "--on-invalid", "drop"], MIXED).quiet().lines().count(), 2);
}

#[test]
fn they_can_stop_the_work() {
    for command in ["dedup", "normalize", "key"] {
        let ran = run([command, "--on-invalid", "error", "-o", "-"], MIXED);
        assert_eq!((ran.code, ran.text().lines().count()), (2, 1), "what came before stays");
        let expected = "uriscan: -:2: space at column 3 (byte 12): ";
        assert!(ran.stderr.starts_with(expected), "{}", ran.stderr);
        assert!(ran.stderr.contains("--on-invalid pass"), "says what to do: {}", ran.stderr);
        assert_eq!(ran.stderr.lines().count(), 1);
    }
    assert_eq!(run(["dedup", "-q", "--on-invalid", "error"], "a:\nb:\n").quiet(), "a:\nb:\n");
}

#[test]
fn they_can_go_to_a_file() {
    let directory = tempfile::tempdir().unwrap();
    let rejects = directory.path().join("bad.txt");
    fs::write(&rejects, "old").unwrap();
    for (command, results) in [("dedup", 1), ("normalize", 2), ("key", 2)] {
        let mut args = program([command, "-q", "--rejects"]);
        args.arg(&rejects);
        let ran = crate::run::finish(args, MIXED);
        assert_eq!(ran.quiet().lines().count(), results, "{command}");
        let expected = "no uri\n../relative\nno uri\nhttp://h/%zz\n";
        assert_eq!(fs::read_to_string(&rejects).unwrap(), expected, "{command}");
    }
}

#[test]
fn a_policy_that_does_not_exist_is_an_error() {
    let directory = tempfile::tempdir().unwrap();
    for (typed, advice) in [
        ("skip", "did you mean drop?"),
        ("fial", "did you mean error?"),
        ("bad.txt", "use --rejects bad.txt"),
    ] {
        let mut command = program(["dedup", "--on-invalid", typed]);
        command.current_dir(directory.path());
        let ran = crate::run::finish(command, MIXED);
        assert_eq!((ran.code, ran.text()), (2, ""));
        assert!(ran.stderr.contains(advice), "{}", ran.stderr);
    }
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn values_that_do_not_exist_are_answered_with_the_nearest_one() {
    for (args, expected) in [
        (&["top", "--by", "hots"][..], "did you mean host?"),
        (&["top", "--by", "urls"], "did you mean url?"),
        (&["dedup", "--profile", "scrapy"], "that of scrapy is w3lib"),
        (&["dedup", "--profile", "w3libs"], "did you mean w3lib?"),
        (&["dedup", "--repair=spaces"], "did you mean space?"),
        (&["audit", "--select", "pasword"], "did you mean password?"),
    ] {
        let ran = crate::run::finish(program(args.iter().copied()), MIXED);
        assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(expected), "{}", ran.stderr);
    }
}

#[test]
fn rejects_are_dropped_from_the_results_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    for (policy, code) in [("drop", 0), ("pass", 2), ("error", 2)] {
        let mut command = program(["dedup", "--on-invalid", policy, "--rejects", "drop"]);
        command.current_dir(directory.path());
        assert_eq!(crate::run::finish(command, MIXED).code, code, "{policy}");
    }
    let rejects = fs::read_to_string(directory.path().join("drop")).unwrap();
    assert_eq!(rejects.lines().count(), 4);
}

#[test]
fn rejects_never_mix_with_results() {
    let message = run(["dedup", "-q", "--rejects", "-"], MIXED).refused();
    assert!(message.contains("name a file"), "{message}");
    let directory = tempfile::tempdir().unwrap();
    let mut command = program(["dedup", "-o", "x", "--rejects", "./x"]);
    command.current_dir(directory.path());
    let message = crate::run::finish(command, MIXED).refused();
    assert!(message.contains("both results and invalid records"), "{message}");
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn strict_is_exit_code_1_with_all_results() {
    for policy in ["pass", "drop"] {
        let lenient = run(["dedup", "-q", "--on-invalid", policy], MIXED);
        let strict = run(["dedup", "-q", "--strict", "--on-invalid", policy], MIXED);
        assert_eq!((lenient.code, strict.code), (0, 1));
        assert_eq!(lenient.stdout, strict.stdout);
        assert_eq!(strict.stderr, "");
    }
    assert_eq!(run(["normalize", "-q", "--strict"], MIXED).code, 1);
    assert_eq!(run(["key", "--strict"], MIXED).code, 1);
    assert_eq!(run(["dedup", "-q", "--strict"], "a:\n").quiet(), "a:\n");
}

#[test]
fn relative_references_are_named_with_what_completes_them() {
    // `check` takes relative references, so it is not where they are shown.
    let only = run(["dedup"], "http://h/\nhttp://h/b\nexample.com/a\n").stderr;
    assert_eq!(
        only,
        "uriscan: 1 of 3 records is invalid and was kept (relative 1); --base or --suffix-scheme completes relative ones, \
         --on-invalid drop omits them\n"
    );
    let both = run(["dedup"], "http://h/\nhttp://h/b\na b\nexample.com/a\n").stderr;
    assert!(both.contains("; `uriscan check` shows where, --base or --suffix-scheme completes"));
    let none = run(["dedup"], "http://h/\na b\n").stderr;
    assert!(none.ends_with("; `uriscan check` shows where, --on-invalid drop omits them\n"));
    let with = run(["dedup", "--suffix-scheme=http"], "http://h/\nexample.com/a\n/a\n").stderr;
    assert!(with.ends_with("kept (relative 1); --on-invalid drop omits them\n"), "{with}");
}
