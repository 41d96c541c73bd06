//! The header has what the library exports, and nothing else.

use std::collections::BTreeMap;
use std::path::Path;

/// Numbers of parameters of functions, by name: of each `uriscan_NAME(...)` that `is_declared` by what precedes it.
fn functions(text: &str, is_declared: impl Fn(&str) -> bool) -> BTreeMap<String, usize> {
    let mut found = BTreeMap::new();
    for (start, _) in text.match_indices("uriscan_") {
        let rest = &text[start..];
        let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(rest.len());
        if rest[end..].starts_with('(') && is_declared(&text[..start]) {
            let list = rest[end + 1..].split(')').next().unwrap().trim();
            let list = list.trim_end_matches(',');
            let count = if list.is_empty() || list == "void" { 0 } else { list.split(',').count() };
            found.insert(rest[..end].to_owned(), count);
        }
    }
    found
}

#[test]
fn every_exported_function_is_declared_and_every_declared_one_exported() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut exported = BTreeMap::new();
    for file in std::fs::read_dir(root.join("src")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        let found = functions(&text, |before| before.ends_with("extern \"C\" fn "));
        assert_eq!(text.matches("#[unsafe(no_mangle)]").count(), found.len());
        exported.extend(found);
    }
    let header = std::fs::read_to_string(root.join("include/uriscan.h")).unwrap();
    let is_declared = |before: &str| {
        let line = before.rsplit('\n').next().unwrap();
        ["int32_t ", "void ", "size_t ", "const char *"].contains(&line)
            || line.starts_with("uriscan_") && line.ends_with(" *")
    };
    assert_eq!(functions(&header, is_declared), exported);
    assert!(!exported.is_empty());
}

#[test]
fn every_constant_of_the_header_has_its_value() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let header = std::fs::read_to_string(root.join("include/uriscan.h")).unwrap();
    let defined: Vec<_> = header
        .lines()
        .filter_map(|line| line.strip_prefix("#define URISCAN_")?.split_once(' '))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut public = Vec::new();
    for file in std::fs::read_dir(root.join("src")).unwrap() {
        let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in text.lines().filter_map(|line| line.strip_prefix("pub const URISCAN_")) {
            let (name, value) = line.split_once(": ").unwrap();
            let value = value.split_once(" = ").unwrap().1.trim_end_matches(';');
            let value = if value == "usize::MAX" { "SIZE_MAX" } else { value };
            public.push((name.to_owned(), value.to_owned()));
        }
    }
    let sorted = |mut all: Vec<(String, String)>| {
        all.sort();
        all
    };
    assert_eq!(sorted(defined), sorted(public));
}

/// The cbindgen that made the header; others write it in other ways.
const CBINDGEN: &str = "cbindgen 0.29.";

/// Where cbindgen is installed, the header is what it makes.
#[test]
fn the_header_is_what_cbindgen_makes() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let version = std::process::Command::new("cbindgen").arg("--version").output();
    if !version.is_ok_and(|version| version.stdout.starts_with(CBINDGEN.as_bytes())) {
        eprintln!("skipped: cargo install cbindgen --version '^0.29'");
        return;
    }
    let made = std::process::Command::new("cbindgen")
        .args(["--quiet", "--config", "cbindgen.toml", "."])
        .current_dir(root)
        .output()
        .unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let header = std::fs::read_to_string(root.join("include/uriscan.h")).unwrap();
    let made = String::from_utf8(made.stdout).unwrap();
    assert!(
        made == header,
        "run: cd engines/c && cbindgen --config cbindgen.toml -o include/uriscan.h ."
    );
}
