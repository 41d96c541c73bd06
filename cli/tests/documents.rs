//! The documents: every console example is run and prints what is written there, links lead somewhere, pictures show the
//! recorded figures, and README.md and ARCHITECTURE.md stay short.
//!
//! A `console` block holds commands (`$ command`, continued by `> more`), each followed by what it prints on standard
//! output and standard error. A line `...` represents any number of lines, `...` at the end of a line for the rest of
//! it. What follows `, backend ` or `  in ` on a line differs between machines and is not compared. The blocks of one
//! document share a directory, in order, with `corpora/` in it. A block marked `console full` is run
//! only by a program with that feature.
//!
//! (The README's Rust example is a documentation test of the library.)
#![cfg(unix)]

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ELISION: &str = "...";

/// A command with its continuation lines, and the lines printed below it.
#[derive(Debug, Default, PartialEq)]
struct Step {
    command: String,
    printed: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

/// The Markdown files of the repository's root and of docs/.
fn documents() -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    let mut folders = vec![root.join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    for name in ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "SECURITY.md"] {
        found.extend(Some(root.join(name)).filter(|path| path.exists()));
    }
    found.sort();
    found
}

/// Whether this build can run a block with this info string.
fn is_run(info: &str) -> bool {
    let mut words = info.split_whitespace();
    words.next() == Some("console")
        && words.all(|needed| match needed {
            "full" => cfg!(feature = "full"),
            _ => panic!("unknown requirement of an example: {needed}"),
        })
}

/// The steps of all blocks of `text` that this build can run, in order.
fn steps(text: &str) -> Vec<Step> {
    let mut steps: Vec<Step> = Vec::new();
    let (mut is_inside, mut is_open) = (false, false);
    for line in text.lines() {
        if let Some(info) = line.strip_prefix("```") {
            is_open = !is_open;
            is_inside = is_open && is_run(info);
        } else if !is_inside {
        } else if let Some(command) = line.strip_prefix("$ ") {
            steps.push(Step { command: command.to_owned(), printed: Vec::new() });
        } else {
            let step = steps.last_mut().expect("a block begins with a command");
            match line.strip_prefix("> ") {
                Some(more) if step.printed.is_empty() => step.command += &format!("\n{more}"),
                _ => step.printed.push(line.to_owned()),
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

/// Whether `found` is what was `printed`, where an elision is any lines or the rest of one.
fn agrees(found: &[&str], printed: &[&str]) -> bool {
    match printed {
        [] => found.is_empty(),
        [ELISION, rest @ ..] => (0..=found.len()).any(|from| agrees(&found[from..], rest)),
        [line, rest @ ..] => {
            let is_same = |first: &&str| match line.strip_suffix(ELISION) {
                Some(beginning) => first.starts_with(beginning),
                None => first == line,
            };
            found.first().is_some_and(is_same) && agrees(&found[1..], rest)
        }
    }
}

fn run(command: &str, directory: &Path) -> Vec<String> {
    let programs = Path::new(env!("CARGO_BIN_EXE_uriscan")).parent().unwrap().to_owned();
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([programs].into_iter().chain(env::split_paths(&others))).unwrap();
    let ran = Command::new("sh")
        .args(["-c", &format!("exec 2>&1\n{command}")])
        .current_dir(directory)
        .env("PATH", path)
        .env("LC_ALL", "C")
        .output()
        .unwrap();
    String::from_utf8(ran.stdout).unwrap().lines().map(str::to_owned).collect()
}

/// Runs the steps of a document in a directory of their own; reports those that print something else.
fn failures(document: &Path) -> (usize, String) {
    let directory = tempfile::tempdir().unwrap();
    let corpora = directory.path().join("corpora");
    fs::create_dir(&corpora).unwrap();
    for entry in fs::read_dir(root().join("corpora")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, corpora.join(path.file_name().unwrap())).unwrap();
    }
    let steps = steps(&fs::read_to_string(document).unwrap());
    let mut failed = String::new();
    for Step { command, printed } in &steps {
        let found = run(command, directory.path());
        let lines: Vec<&str> = found.iter().map(|line| stable(line)).collect();
        let expected: Vec<&str> = printed.iter().map(|line| stable(line)).collect();
        if !agrees(&lines, &expected) {
            failed += &format!(
                "{}: $ {command}\nexpected:\n{}\nfound:\n{}\n\n",
                document.display(),
                printed.join("\n"),
                found.join("\n"),
            );
        }
    }
    (steps.len(), failed)
}

#[test]
fn examples_print_what_the_documents_show() {
    let (mut count, mut failed) = (0, String::new());
    for document in documents() {
        let (steps, failures) = failures(&document);
        count += steps;
        failed += &failures;
    }
    assert!(failed.is_empty(), "{failed}");
    assert!(count >= 40, "{count} examples");
}

#[test]
fn examples_are_read_and_compared_as_documented() {
    let text =
        "```console\n$ a <<END\n> b\n> END\nc\n> d\n```\n```sh\n$ e\n```\n```console\n$ f\n```\n";
    let step = |command: &str, printed: &[&str]| Step {
        command: command.to_owned(),
        printed: printed.iter().map(|&line| line.to_owned()).collect(),
    };
    assert_eq!(steps(text), [step("a <<END\nb\nEND", &["c", "> d"]), step("f", &[])]);
    assert!(agrees(&["a", "b", "c", "d"], &["a", ELISION, "d"]));
    assert!(agrees(&["a"], &[ELISION, "a", ELISION]));
    assert!(agrees(&["a: b", "c"], &["a: ...", "c"]));
    assert!(!agrees(&["b: a", "c"], &["a: ...", "c"]));
    assert!(!agrees(&["a", "b"], &["a"]));
    assert!(!agrees(&["a", "b"], &[ELISION, "a"]));
    assert!(!agrees(&[], &["a"]));
    assert_eq!(stable("x, backend avx2, 2 threads"), "x");
}

/// The anchor that a heading gets: lower case, no punctuation, hyphens for spaces.
fn anchor(heading: &str) -> String {
    let kept =
        heading.trim().chars().filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
    kept.map(|c| if c == ' ' { '-' } else { c.to_ascii_lowercase() }).collect()
}

/// The lines of `text` outside fenced blocks.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut is_open = false;
    text.lines().filter(move |line| {
        let is_fence = line.starts_with("```");
        is_open ^= is_fence;
        !is_open && !is_fence
    })
}

fn anchors(text: &str) -> BTreeSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings.map(|line| anchor(line.trim_start_matches('#'))).collect()
}

#[test]
fn links_lead_to_files_and_headings() {
    let mut broken = Vec::new();
    for document in documents() {
        let text = fs::read_to_string(&document).unwrap();
        for line in prose(&text) {
            let inline = line.split("](").skip(1).filter_map(|rest| rest.split(')').next());
            let html = line.split("src").skip(1).filter_map(|rest| rest.split('"').nth(1));
            for target in inline.chain(html).filter(|target| !target.contains("://")) {
                let (file, heading) = target.split_once('#').unwrap_or((target, ""));
                let path = if file.is_empty() {
                    document.clone()
                } else {
                    document.parent().unwrap().join(file)
                };
                let is_found = if heading.is_empty() {
                    path.exists()
                } else {
                    fs::read_to_string(&path).is_ok_and(|text| anchors(&text).contains(heading))
                };
                if !is_found {
                    broken.push(format!("{}: {target}", document.display()));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn readme_and_architecture_stay_short() {
    for name in ["README.md", "ARCHITECTURE.md"] {
        let lines = fs::read_to_string(root().join(name)).unwrap().lines().count();
        assert!(lines <= 250, "{name}: {lines} lines; move details to docs/");
    }
}

#[test]
fn links_are_those_that_python_finds() {
    let Ok(compared) = Command::new("python3")
        .arg(root().join("scripts/compare-links"))
        .args(["mail", "sitemaps", "--files", "60", "--uriscan", env!("CARGO_BIN_EXE_uriscan")])
        .output()
    else {
        eprintln!("skipped: there is no python3");
        return;
    };
    let shown = [compared.stdout, compared.stderr].concat();
    assert!(compared.status.success(), "{}", String::from_utf8_lossy(&shown));
}

#[test]
fn pictures_show_the_recorded_figures() {
    let Ok(checked) =
        Command::new("python3").arg(root().join("scripts/draw-speed")).arg("--check").output()
    else {
        eprintln!("skipped: there is no python3");
        return;
    };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
}

/// What a reader needs whole is explained in one document and one topic; others have a sentence and a link.
#[test]
fn exit_codes_levels_and_rules_are_explained_in_one_place() {
    let root = root();
    let mut texts: Vec<(String, String)> = documents()
        .iter()
        .map(|path| {
            let name = path.strip_prefix(&root).unwrap().display().to_string();
            (name, fs::read_to_string(path).unwrap())
        })
        .collect();
    let directory = tempfile::tempdir().unwrap();
    for call in ["--help", "help exit-codes", "help ladder", "help rules", "help recipes"] {
        let printed = run(&format!("uriscan {call}"), directory.path()).join("\n");
        texts.push((call.to_owned(), printed));
    }
    // What only a whole explanation has.
    for (mark, places) in [
        ("| 128 + n |", &["docs/guide.md"][..]),
        ("128 + N", &["help exit-codes"]),
        ("| `syntax` | 6.2.2 |", &["docs/equivalence.md"]),
        ("needless percent-encoding, dot", &["help ladder"]),
        ("| `host-dot`, `www` |", &["docs/equivalence.md"]),
    ] {
        let found = texts.iter().filter(|(_, text)| text.contains(mark));
        let found: Vec<&str> = found.map(|(name, _)| &**name).collect();
        assert_eq!(found, places, "{mark}");
    }
}

/// What the documents and the topics claim, as far as a command can answer it.
#[test]
fn claims_are_what_the_program_does() {
    let mut texts: Vec<String> =
        documents().iter().map(|it| fs::read_to_string(it).unwrap()).collect();
    let directory = tempfile::tempdir().unwrap();
    let topics = run(
        "uriscan help | sed -n 's/^  \\([a-z-]*\\) .*/uriscan help \\1/p' | sh",
        directory.path(),
    );
    texts.push(topics.join("\n"));
    for text in &texts {
        for (claim, instead) in [
            ("{host}' | sort | uniq -c", "`top` counts hosts"),
            ("can make two URLs share", "it takes 2^64 evaluations"),
            ("Python has no audit", "uriscan.audit"),
            ("--stats-format", "--stats=json"),
        ] {
            assert!(!text.contains(claim), "{claim}: {instead}");
        }
    }
    // The table of exit codes.
    for (command, code) in [
        ("uriscan explain http://a http://b", "1"),
        ("uriscan set verify missing.set", "2"),
        ("echo a b | uriscan check", "1"),
        ("echo a b | uriscan dedup -q", "0"),
        ("echo a b | uriscan dedup -q --strict", "1"),
    ] {
        let line = format!("({command}) > out 2>&1; echo $?");
        assert_eq!(run(&line, directory.path()), [code], "{command}");
    }
}
