//! The examples in help texts print what the help says.

use std::path::Path;
use std::process::Command;

use crate::run::{Place, run};

/// The commands of a help text, each with what it prints, and nothing after the first example that prints nothing.
fn examples(help: &str) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut is_open = false;
    for line in help.lines() {
        if let Some(command) = line.strip_prefix("  $ ") {
            found.push((command.to_owned(), String::new()));
            is_open = true;
        } else if let (true, Some(printed)) = (is_open, line.strip_prefix("  ")) {
            let (_, expected) = found.last_mut().unwrap();
            *expected += &format!("{printed}\n");
        } else {
            is_open = false;
        }
    }
    found
}

fn commands() -> Vec<String> {
    let top = run(["--help"], "").quiet();
    let lines = top.lines().skip_while(|line| *line != "Commands:").skip(1);
    lines
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn examples_print_what_the_help_says() {
    let programs = Path::new(env!("CARGO_BIN_EXE_uriscan")).parent().unwrap().to_owned();
    let others = std::env::var_os("PATH").unwrap_or_default();
    let path = [programs].into_iter().chain(std::env::split_paths(&others));
    let path = std::env::join_paths(path).unwrap();
    let commands = commands();
    assert!(commands.len() >= 13, "{commands:?}");
    for command in commands.iter().map(String::as_str).chain([""]) {
        let args: Vec<&str> = [command, "--help"].into_iter().filter(|it| !it.is_empty()).collect();
        let help = run(args, "").quiet();
        assert!(help.contains("Exit codes:"), "{command}");
        let examples = examples(&help);
        assert!(!examples.is_empty(), "{command}");
        let place = Place::new(&[]);
        for (line, expected) in examples {
            let mut shell = Command::new("sh");
            shell.args(["-c", &line]).current_dir(place.path("")).env("PATH", &path);
            let output = shell.output().unwrap();
            let found = String::from_utf8(output.stdout).unwrap();
            assert_eq!((found, output.stderr.len()), (expected, 0), "{command}: $ {line}");
        }
    }
}
