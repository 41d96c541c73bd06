//! The same bytes for every backend, number of threads and chunk size, on every corpus.

use std::fs;
use std::path::{Path, PathBuf};

use uriscan::Kernels;

use crate::run::{Ran, run};

const BASE: &str = "http://example.com/a/b?q";

/// The lists in `corpora/`, when the package has them.
fn corpora() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("../corpora")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut lists: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    lists.sort();
    lists
}

/// Runs `command` on `text`; gives its results and the files that its options `side` are for.
fn answers(command: &[&str], text: &[u8], side: &[(&str, PathBuf)], how: &[&str]) -> Vec<Vec<u8>> {
    let side_args = side.iter().flat_map(|(option, path)| [*option, path.to_str().unwrap()]);
    let args: Vec<&str> =
        command.iter().copied().chain(side_args).chain(how.iter().copied()).collect();
    let Ran { code, stdout, stderr } = run(&args, text);
    let is_fine = code == 0 || (code == 1 && ["check", "set"].contains(&command[0]));
    assert!(is_fine && stderr.is_empty(), "{args:?}: {stderr}");
    let files = side.iter().map(|(_, path)| fs::read(path).unwrap());
    std::iter::once(stdout).chain(files).collect()
}

/// Evidence about a list: of every three of its URIs the first stands for the second, and that for the third.
fn chains(text: &[u8]) -> String {
    let forms = run(["dedup", "--emit", "normalized", "--on-invalid", "drop"], text).quiet();
    let forms: Vec<&str> = forms.lines().collect();
    let rows = forms.chunks_exact(3).flat_map(|uris| [(uris[0], uris[1]), (uris[1], uris[2])]);
    rows.map(|(from, to)| format!("{from}\t{to}\n")).collect()
}

#[test]
fn output_depends_on_the_input_only() {
    let directory = tempfile::tempdir().unwrap();
    let evidence = directory.path().join("evidence.tsv");
    let evidence = evidence.to_str().unwrap();
    let seen = directory.path().join("seen.set");
    let seen = seen.to_str().unwrap();
    let commands: [(&[&str], &[&str]); 52] = [
        (&["dedup"], &["--rejects"]),
        (&["dedup", "--rung", "syntax", "--emit", "key", "--ignore-fragment"], &[]),
        (&["dedup", "-c"], &["--rejects", "--dupes", "--clusters"]),
        (&["dedup", "-d", "--keep", "shortest", "--emit", "normalized"], &["--clusters"]),
        (&["dedup", "-c", "--keep", "min"], &["--dupes"]),
        (&["dedup", "--verify", "--keep", "max"], &["--rejects"]),
        (&["normalize"], &["--rejects"]),
        (&["parse"], &[]),
        (&["check"], &[]),
        (&["audit", "--fail-on", "never"], &[]),
        (&["audit", "--fail-on", "never", "--format", "sarif", "--ignore", "invalid"], &[]),
        (&["dedup", "--redact"], &["--rejects"]),
        (&["dedup", "--redact", "-c"], &["--rejects", "--dupes", "--clusters"]),
        (&["census"], &[]),
        (&["top", "--by", "param", "-n", "0"], &[]),
        (&["top", "--by", "domain", "--distinct", "--format", "tsv"], &["--rejects"]),
        (&["explain"], &[]),
        (&["explain", "--format", "jsonl", "--pairs"], &[]),
        (&["dedup", "--preset", "log", "--emit", "normalized"], &["--rejects"]),
        (&["dedup", "--preset", "crawl", "--keep", "https"], &["--dupes", "--clusters"]),
        (&["key", "--preset", "crawl"], &[]),
        (&["key", "--as", "ssurt"], &["--rejects"]),
        (&["dedup", "--profile", "whatwg", "--emit", "normalized"], &["--rejects"]),
        (&["key", "--profile", "w3lib"], &[]),
        (&["key", "--as", "surt:ia"], &[]),
        (&["census", "--preset", "log"], &[]),
        (&["resolve", "--base", BASE, "--same-document", "drop"], &["--rejects"]),
        (&["resolve", "--suffix-scheme", "https"], &["--rejects"]),
        (&["dedup", "--base", BASE, "--lenient-scheme"], &["--rejects"]),
        (&["census", "--base", BASE], &[]),
        (&["extract", "-nbH", "--context", "--iri"], &[]),
        (&["extract", "--jsonl", "--unwrap", "--scheme", "any"], &[]),
        (&["extract", "--format", "csv", "-nb"], &[]),
        (&["extract", "--format", "markdown", "--context"], &[]),
        (&["extract", "--format", "clf", "-n"], &[]),
        (&["dedup", "--extract", "--refang", "--email"], &["--rejects"]),
        (&["dedup", "--iri", "--repair", "--emit", "normalized"], &["--rejects"]),
        (&["parse", "--grammar", "rfc2396"], &[]),
        (&["check", "--differ"], &[]),
        (&["normalize", "--grammar", "rfc2396+2732"], &["--rejects"]),
        (&["resolve", "--grammar", "rfc2396", "--base", BASE], &["--rejects"]),
        (&["key", "--grammar", "rfc2396"], &["--rejects"]),
        (&["key", "--iri", "--repair"], &["--rejects"]),
        (&["census", "--iri", "--repair"], &[]),
        (&["parse", "--iri", "--repair"], &[]),
        (&["check", "--iri", "--repair", "--format", "jsonl"], &[]),
        (&["dedup", "--rung", "protocol", "--aliases", evidence], &["--rejects"]),
        (&["normalize", "--rung", "protocol", "--aliases", evidence, "--repair"], &[]),
        (&["key", "--rung", "protocol", "--aliases", evidence], &[]),
        (&["dedup", "--seen", seen], &["--rejects"]),
        (&["set", "has", seen], &["--rejects"]),
        (&["set", "has", "-v", seen, "--on-invalid", "drop"], &[]),
    ];
    for path in corpora() {
        let text = fs::read(&path).unwrap();
        fs::write(evidence, chains(&text)).unwrap();
        let _ = fs::remove_dir_all(seen);
        // Every other line, for what is seen to be something and not everything.
        let half: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').step_by(2).collect();
        run(["set", "create", seen], half.concat()).quiet();
        for (command, side) in commands {
            let side: Vec<(&str, PathBuf)> =
                side.iter().map(|option| (*option, directory.path().join(&option[2..]))).collect();
            let expected = answers(command, &text, &side, &["-j1", "--backend", "scalar"]);
            let may_be_empty = ["check", "set"].contains(&command[0]) || command.contains(&"-d");
            assert!(may_be_empty || !expected[0].is_empty(), "{}", path.display());
            for kernels in Kernels::available() {
                for threads in ["1", "2", "8"] {
                    for chunk in ["64", "4096", "256K"] {
                        let backend = kernels.backend().name();
                        let how = ["--backend", backend, "-j", threads, "--chunk-size", chunk];
                        let found = answers(command, &text, &side, &how);
                        assert!(found == expected, "{command:?} {} {how:?}", path.display());
                    }
                }
            }
        }
    }
}
