//! The inputs that earlier campaigns kept, on a stable compiler.

use std::fs;
use std::path::Path;

use super::TARGETS;

/// The inputs in a file of one a line, as [`slice::escape_ascii`] writes them.
fn inputs(text: &str) -> Vec<Vec<u8>> {
    text.lines().map(unescaped).collect()
}

fn unescaped(line: &str) -> Vec<u8> {
    let mut bytes = line.bytes();
    let mut out = Vec::new();
    while let Some(byte) = bytes.next() {
        if byte != b'\\' {
            out.push(byte);
            continue;
        }
        let mut next = || bytes.next().expect("an escape is whole");
        out.push(match next() {
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'x' => {
                let digits = [next(), next()];
                let digits = str::from_utf8(&digits).expect("digits");
                u8::from_str_radix(digits, 16).expect("digits")
            }
            other => other,
        });
    }
    out
}

#[test]
fn escapes_are_undone() {
    let all: Vec<u8> = (0..=255).collect();
    assert_eq!(unescaped(&all.escape_ascii().to_string()), all);
}

#[test]
fn inputs_that_were_kept_pass() {
    let seeds = Path::new(env!("CARGO_MANIFEST_DIR")).join("seeds");
    let mut files: Vec<String> = fs::read_dir(&seeds)
        .expect("the directory of inputs")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("a name"))
        .collect();
    files.sort();
    let expected: Vec<String> = TARGETS.iter().map(|(name, _)| format!("{name}.txt")).collect();
    assert_eq!(files, expected, "a file for each target");
    let mut failed = Vec::new();
    for (name, check) in TARGETS {
        let text = fs::read_to_string(seeds.join(format!("{name}.txt"))).expect("inputs");
        let inputs = inputs(&text);
        assert!(inputs.len() >= 10, "{name}: only {} inputs", inputs.len());
        for input in inputs {
            let result = std::panic::catch_unwind(|| check(&input));
            if result.is_err() {
                failed.push(format!("{name}: {}", input.escape_ascii()));
            }
        }
    }
    assert!(failed.is_empty(), "{} fail:\n{}", failed.len(), failed.join("\n"));
}
