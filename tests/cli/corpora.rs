//! The same bytes for every backend, number of threads and chunk size, on every corpus.

use std::fs;
use std::path::{Path, PathBuf};

use uriscan::simd::Kernels;

use crate::run::{Ran, run};

const BASE: &str = "http://example.com/a/b?q";

/// The lists in `corpora/`, when the package has them.
fn corpora() -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    let mut lists: Vec<PathBuf> =
        paths.filter(|path| path.extension().is_some_and(|end| end == "txt")).collect();
    lists.sort();
    lists
}

/// Results and rejects of a run.
type Answers = (Vec<u8>, Vec<u8>);

fn answers(command: &[&str], text: &[u8], rejects: Option<&Path>, how: &[&str]) -> Answers {
    let put_aside = rejects.map(|path| ["--on-invalid", path.to_str().unwrap()]);
    let args = [command, put_aside.as_ref().map_or(&[], |args| &args[..]), how].concat();
    let Ran { code, stdout, stderr } = run(&args, text);
    let is_fine = code == 0 || (code == 1 && command[0] == "check");
    assert!(is_fine && stderr.is_empty(), "{args:?}: {stderr}");
    (stdout, rejects.map(|path| fs::read(path).unwrap()).unwrap_or_default())
}

#[test]
fn output_depends_on_the_input_only() {
    let directory = tempfile::tempdir().unwrap();
    let rejects = directory.path().join("bad");
    let commands: [(&[&str], bool); 16] = [
        (&["dedup"], true),
        (
            &["dedup", "--rung", "syntax", "--emit", "key", "--seed", "1", "--ignore-fragment"],
            false,
        ),
        (&["normalize"], true),
        (&["parse"], false),
        (&["check"], false),
        (&["audit", "--fail-on", "never"], false),
        (&["audit", "--fail-on", "never", "--format", "sarif", "--ignore", "invalid"], false),
        (&["dedup", "--redact"], true),
        (&["census"], false),
        (&["dedup", "--preset", "log", "--emit", "normalized"], true),
        (&["key", "--seed", "1", "--preset", "crawl"], false),
        (&["census", "--preset", "log"], false),
        (&["resolve", "--base", BASE, "--same-document", "drop"], true),
        (&["resolve", "--suffix-scheme", "https"], true),
        (&["dedup", "--base", BASE, "--lenient-scheme"], true),
        (&["census", "--base", BASE], false),
    ];
    for path in corpora() {
        let text = fs::read(&path).unwrap();
        for (command, has_rejects) in commands {
            let rejects = has_rejects.then_some(&*rejects);
            let expected = answers(command, &text, rejects, &["-j1", "--backend", "scalar"]);
            assert!(command[0] == "check" || !expected.0.is_empty(), "{}", path.display());
            for kernels in Kernels::available() {
                for threads in ["1", "2", "8"] {
                    for chunk in ["64", "4096", "256K"] {
                        let backend = kernels.backend().name();
                        let how = ["--backend", backend, "-j", threads, "--chunk-size", chunk];
                        let found = answers(command, &text, rejects, &how);
                        assert!(found == expected, "{command:?} {} {how:?}", path.display());
                    }
                }
            }
        }
    }
}
