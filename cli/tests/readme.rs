//! The session in README.md: every command is run, and says what is printed there.
//!
//! (Its Rust example is a documentation test of the crate.)
#![cfg(unix)]

use std::env;
use std::fs;
use std::path::Path;
use std::process::Command;

/// A command with its continuation lines, and the lines printed below it.
#[derive(Default)]
struct Step {
    command: String,
    printed: Vec<String>,
}

/// The steps of all `console` blocks of `text`, in order.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let mut is_inside = false;
    for line in text.lines() {
        if let Some(language) = line.strip_prefix("```") {
            is_inside = language == "console";
        } else if !is_inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), printed: Vec::new() });
        } else {
            let step = steps.last_mut().expect("a block begins with a command");
            match line.strip_prefix("> ") {
                Some(more) => step.command += &format!("\n{more}"),
                None => step.printed.push(line.to_owned()),
            }
        }
    }
    steps
}

/// A line without what differs between machines and runs: the backend and the time.
fn stable(line: &str) -> &str {
    let end = line.find(", backend ").or_else(|| line.find("  in ")).unwrap_or(line.len());
    &line[..end]
}

fn run(command: &str, directory: &Path) -> Vec<String> {
    let programs = Path::new(env!("CARGO_BIN_EXE_uriscan")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&others))).unwrap();
    let ran = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(directory)
        .env("PATH", path)
        .output()
        .unwrap();
    String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect()
}

#[test]
fn the_session_is_what_really_happens() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let directory = tempfile::tempdir().unwrap();
    fs::create_dir(directory.path().join("corpora")).unwrap();
    fs::copy(root.join("corpora/messy.txt"), directory.path().join("corpora/messy.txt")).unwrap();
    let steps = steps(&fs::read_to_string(root.join("README.md")).unwrap());
    assert!(steps.len() >= 10, "{} commands", steps.len());
    for Step { command, printed } in steps {
        let found = run(&command, directory.path());
        let found: Vec<&str> = found.iter().map(|line| stable(line)).collect();
        let printed: Vec<&str> = printed.iter().map(|line| stable(line)).collect();
        assert_eq!(found, printed, "$ {command}");
    }
}
