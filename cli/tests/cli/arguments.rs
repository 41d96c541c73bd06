//! What is typed: help, version, backends, refusals.

use uriscan::{Backend, Kernels};

use crate::run::{finish, program, run};

const COMMANDS: [&str; 9] =
    ["dedup", "normalize", "key", "parse", "check", "audit", "census", "explain", "extract"];

#[test]
fn help_is_data_and_teaches() {
    let top = run(["--help"], "").quiet();
    for word in COMMANDS.iter().chain(&["Exit codes", "Examples", "help ladder", "URISCAN_BACKEND"])
    {
        assert!(top.contains(word), "{word}");
    }
    for command in COMMANDS {
        let long = run([command, "--help"], "").quiet();
        let short = run([command, "-h"], "").quiet();
        assert!(long.contains("Examples:") && long.contains("--progress"), "{command}");
        assert!(!short.contains("--progress") && short.len() < long.len(), "{command}");
    }
}

#[test]
fn versions_are_short_and_long() {
    let short = run(["-V"], "").quiet();
    assert_eq!(short, format!("uriscan {}\n", env!("CARGO_PKG_VERSION")));
    let long = run(["--version"], "").quiet();
    assert!(long.starts_with(short.trim_end()), "{long}");
    let best = Kernels::detect().backend().name();
    assert!(long.contains(&format!("\nbackend: {best}\n")), "{long}");
    for backend in Backend::ALL {
        assert!(long.contains(backend.name()), "{long}");
    }
    let mut forced = program(["--version"]);
    forced.env("URISCAN_BACKEND", "scalar");
    let long = finish(forced, "").quiet();
    assert!(long.contains("\nbackend: scalar (by URISCAN_BACKEND)\n"), "{long}");
}

#[test]
fn wrong_arguments_are_exit_code_2() {
    for args in [
        &[][..],
        &["frobnicate"],
        &["dedup", "--level", "protocol"],
        &["dedup", "--emit", "all"],
        &["dedup", "--frobnicate"],
        &["dedup", "-j", "x"],
        &["dedup", "-j", "1025"],
        &["dedup", "--chunk-size", "0"],
        &["key", "--hash", "md5"],
        &["key", "--as", "url", "--hash", "sha256"],
        &["dedup", "--hash", "sha256"],
        &["dedup", "--stats=xml"],
    ] {
        let ran = run(args, "a:\n");
        assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}");
        assert!(!ran.stderr.is_empty(), "{args:?}");
    }
}

#[test]
fn a_quiet_run_prints_the_summary_that_is_asked_for_and_nothing_else() {
    let ran = run(["dedup", "-q"], "a:\na:\n");
    assert_eq!((ran.text(), ran.stderr.as_str()), ("a:\n", ""));
    let ran = run(["dedup", "-q", "--stats"], "a:\na:\n");
    assert!(ran.stderr.starts_with("uriscan dedup: level scheme"), "{}", ran.stderr);
    let ran = run(["dedup", "-q", "--stats=json"], "a:\na:\n");
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(stats["records"], 2);
}

/// The backend that a run reports.
fn reported(args: &[&str], variable: Option<&str>) -> String {
    let mut command = program([&["dedup", "--stats=json"], args].concat());
    if let Some(name) = variable {
        command.env("URISCAN_BACKEND", name);
    }
    let ran = finish(command, "a:\n");
    assert_eq!((ran.code, ran.text()), (0, "a:\n"), "{}", ran.stderr);
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    stats["backend"].as_str().unwrap().to_owned()
}

#[test]
fn backends_are_chosen_by_option_then_variable_then_cpu() {
    let best = Kernels::detect().backend().name();
    for kernels in Kernels::available() {
        let name = kernels.backend().name();
        assert_eq!(reported(&["--backend", name], None), name);
        assert_eq!(reported(&[], Some(name)), name);
        assert_eq!(reported(&["--backend", "auto"], Some(name)), best);
        assert_eq!(reported(&["--backend", name], Some("scalar")), name);
    }
    assert_eq!(reported(&[], None), best);
    assert_eq!(reported(&[], Some("")), best, "an empty variable is none");
}

#[test]
fn backends_that_are_not_there_are_refused_with_a_list() {
    let missing = Backend::ALL.into_iter().filter(|backend| !backend.is_available());
    let names = missing.map(Backend::name).chain(["frobnicate", "AVX2", ""]);
    for name in names {
        let message = run(["dedup", "--backend", name], "a:\n").refused();
        for kernels in Kernels::available() {
            assert!(message.contains(kernels.backend().name()), "{message}");
        }
    }
    let mut command = program(["dedup"]);
    command.env("URISCAN_BACKEND", "frobnicate");
    let message = finish(command, "a:\n").refused();
    assert!(message.contains("URISCAN_BACKEND frobnicate: unknown backend"), "{message}");
}

#[test]
fn a_value_that_is_not_a_number_is_refused_with_what_is_expected() {
    for (args, expected) in [
        (&["top", "--limit", "x"][..], "a whole number from 0 on is expected"),
        (&["top", "-n", "-1"], "a whole number from 0 on is expected"),
        (&["top", "-n", "1.5"], "a whole number from 0 on is expected"),
        (&["top", "-n", "20000000000000000000"], "to 18446744073709551615 is expected"),
        (&["dedup", "-j", "2000"], "a whole number from 0 to 1024 is expected"),
        (&["dedup", "-j", "-2"], "a whole number from 0 to 1024 is expected"),
        (&["extract", "--max-expansion", "0"], "a whole number from 1 on is expected"),
        (&["check", "--max-segments", "ten"], "a whole number from 0 on is expected"),
        (&["check", "--max-repeats", "-1"], "a whole number from 1 on is expected"),
        (&["dedup", "--max-memory", "-5"], "a memory limit is 64M or more"),
        (&["dedup", "--approx", "-1"], "a rate is a number from 0.000000001 to 0.5"),
        (&["dedup", "--approx", "-0.1"], "a rate is a number from 0.000000001 to 0.5"),
        (&["learn", "--precision", "-1"], "a number from 0 to below 1 is expected"),
        (&["extract", "--since", "-1"], "write a time from 1970 to 2106"),
        (&["extract", "--status", "-1"], "write statuses of three digits"),
        (&["set", "prune", "s", "--older-than", "-1"], "write an age"),
        (
            &["set", "split", "-o", "sets", "--bits", "13"],
            "a whole number from 0 to 12 is expected",
        ),
    ] {
        let refused = run(args, "");
        assert_eq!(refused.code, 2, "{args:?}");
        assert!(refused.stderr.contains(expected), "{args:?}: {}", refused.stderr);
    }
}
