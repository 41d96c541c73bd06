//! The same bytes for every backend, number of threads and chunk size, on every corpus: a test for each command.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use uriscan::Kernels;

use crate::run::{Place, Ran, finish, run};

const BASE: &str = "http://example.com/a/b?q";

/// Evidence, and a set of what was seen, in the directory of each run.
const EVIDENCE: &str = "evidence.tsv";
const SEEN: &str = "seen.set";

const THREADS: [&str; 3] = ["1", "2", "8"];
const CHUNKS: [&str; 3] = ["64", "4096", "256K"];

/// Arguments, and options with the names of side files.
type Command = (&'static [&'static str], &'static [&'static str]);

/// Which threads and chunks, by their places in [`THREADS`] and [`CHUNKS`], a list and a backend are tried with.
type Combinations = fn(list: usize, backend: usize) -> Vec<(usize, usize)>;

/// All.
fn every(_: usize, _: usize) -> Vec<(usize, usize)> {
    (0..9).map(|i| (i / 3, i % 3)).collect()
}

/// One, so that each value meets each value of every other kind, if there are three lists and three backends or more.
fn by_pairs(list: usize, backend: usize) -> Vec<(usize, usize)> {
    vec![((list + backend) % 3, (list + 2 * backend) % 3)]
}

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

/// Runs a command on `text`; gives its results and its side files.
fn answers(place: &Place, (args, sides): Command, text: &[u8], how: &[&str]) -> Vec<Vec<u8>> {
    let side_args = sides.iter().flat_map(|option| [*option, &option[2..]]);
    let args: Vec<&str> =
        args.iter().copied().chain(side_args).chain(how.iter().copied()).chain(["-q"]).collect();
    let Ran { code, stdout, stderr } = finish(place.command(&args), text);
    let is_fine = code == 0 || (code == 1 && ["check", "set"].contains(&args[0]));
    assert!(is_fine && stderr.is_empty(), "{args:?}: {stderr}");
    let files = sides.iter().map(|option| fs::read(place.path(&option[2..])).unwrap());
    std::iter::once(stdout).chain(files).collect()
}

/// Evidence about a list: of every three of its URIs the first is an alias of the second, and that of the third.
fn chains(text: &[u8]) -> String {
    let forms = run(["dedup", "--emit", "normalized", "--on-invalid", "drop"], text).quiet();
    let forms: Vec<&str> = forms.lines().collect();
    let rows = forms.chunks_exact(3).flat_map(|uris| [(uris[0], uris[1]), (uris[1], uris[2])]);
    rows.map(|(from, to)| format!("{from}\t{to}\n")).collect()
}

/// A place with what a command may need for `text`.
fn place(text: &[u8]) -> Place {
    let place = Place::new(&[(EVIDENCE, &chains(text))]);
    // Every other line, for what is seen to be something and not everything.
    let half: Vec<&[u8]> = text.split_inclusive(|&byte| byte == b'\n').step_by(2).collect();
    finish(place.command(&["set", "create", "-q", SEEN]), half.concat()).quiet();
    place
}

fn output_depends_on_the_input_only(commands: &[Command], combinations: Combinations) {
    for (list, path) in corpora().iter().enumerate() {
        let text = fs::read(path).unwrap();
        let place = place(&text);
        for &command in commands {
            let expected = answers(&place, command, &text, &["-j1", "--backend", "scalar"]);
            let args = command.0;
            let may_be_empty = ["check", "set"].contains(&args[0]) || args.contains(&"-d");
            assert!(may_be_empty || !expected[0].is_empty(), "{}", path.display());
            for (backend, kernels) in Kernels::available().enumerate() {
                for (threads, chunk) in combinations(list, backend) {
                    let (threads, chunk) = (THREADS[threads], CHUNKS[chunk]);
                    let backend = kernels.backend().name();
                    let how = ["--backend", backend, "-j", threads, "--chunk-size", chunk];
                    let found = answers(&place, command, &text, &how);
                    assert!(found == expected, "{args:?} {} {how:?}", path.display());
                }
            }
        }
    }
}

#[test]
fn pairs_are_enough() {
    let mut met = HashSet::new();
    for (list, backend) in (0..9).map(|i| (i / 3, i % 3)) {
        for (threads, chunk) in by_pairs(list, backend) {
            let values = [list, backend, threads, chunk];
            for (a, b) in [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)] {
                met.insert((a, b, values[a], values[b]));
            }
        }
    }
    assert_eq!(met.len(), 6 * 9);
}

/// Makes two tests of each list of commands.
macro_rules! matrix {
    ($($name:ident $commands:expr;)*) => {
        $(
            #[test]
            fn $name() {
                output_depends_on_the_input_only(&$commands, by_pairs);
            }
        )*

        mod full {
            use super::{BASE, EVIDENCE, SEEN, every, output_depends_on_the_input_only};

            $(
                #[test]
                fn $name() {
                    output_depends_on_the_input_only(&$commands, every);
                }
            )*
        }
    };
}

matrix! {
    dedup [
        (&["dedup"], &["--rejects", "--dupes"]),
        (&["dedup", "--level", "syntax", "--emit", "normalized", "--drop-fragment"], &[]),
        (&["dedup", "-c"], &["--rejects", "--dupes", "--clusters"]),
        (&["dedup", "-d", "--keep", "shortest", "--emit", "normalized"], &["--clusters"]),
        (&["dedup", "-c", "--keep", "min"], &["--dupes"]),
        (&["dedup", "--keep", "max"], &["--rejects"]),
        (&["dedup", "--redact"], &["--rejects", "--dupes"]),
        (&["dedup", "--redact", "-c"], &["--rejects", "--dupes", "--clusters"]),
        (&["dedup", "--preset", "log", "--emit", "normalized"], &["--rejects", "--dupes"]),
        (&["dedup", "--preset", "crawl", "--keep", "https"], &["--dupes", "--clusters"]),
        (&["dedup", "--profile", "whatwg", "--emit", "normalized"], &["--rejects"]),
        (&["dedup", "--base", BASE, "--lenient-scheme"], &["--rejects"]),
        (&["dedup", "--extract", "--refang", "--email"], &["--rejects"]),
        (&["dedup", "--iri", "--repair=all,entity", "--emit", "normalized"], &["--rejects"]),
        (&["dedup", "--level", "protocol", "--aliases", EVIDENCE], &["--rejects"]),
        (&["dedup", "--seen", SEEN], &["--rejects"]),
        (&["dedup", "--by", "shape"], &["--rejects"]),
        (&["dedup", "--by", "shape:slugs", "--keep-n", "3", "--emit", "normalized"], &["--rejects"]),
    ];
    normalize [
        (&["normalize"], &["--rejects"]),
        (&["normalize", "--grammar", "rfc2396+2732"], &["--rejects"]),
        (&["normalize", "--level", "protocol", "--aliases", EVIDENCE, "--repair"], &[]),
    ];
    parse [
        (&["parse"], &[]),
        (&["parse", "--grammar", "rfc2396"], &[]),
        (&["parse", "--iri", "--repair"], &[]),
        (&["parse", "-g", "{shape}"], &[]),
    ];
    check [
        (&["check"], &[]),
        (&["check", "--differ"], &[]),
        (&["check", "--iri", "--repair", "--to", "jsonl"], &[]),
    ];
    audit [
        (&["audit", "--fail-on", "never"], &[]),
        (&["audit", "--fail-on", "never", "--to", "sarif", "--ignore", "invalid"], &[]),
    ];
    census [
        (&["census"], &[]),
        (&["census", "--preset", "log"], &[]),
        (&["census", "--base", BASE], &[]),
        (&["census", "--iri", "--repair=all,entity"], &[]),
    ];
    top [
        (&["top", "--by", "param", "-n", "0"], &[]),
        (&["top", "--by", "domain", "--distinct", "--to", "tsv"], &["--rejects"]),
        (&["top", "--by", "day", "--extract"], &[]),
        (&["top", "--by", "shape", "-n", "0"], &[]),
    ];
    explain [
        (&["explain"], &[]),
        (&["explain", "--to", "jsonl", "--pairs"], &[]),
    ];
    key [
        (&["key", "--preset", "crawl"], &[]),
        (&["key", "--as", "ssurt"], &["--rejects"]),
        (&["key", "--profile", "w3lib"], &[]),
        (&["key", "--as", "surt:ia"], &[]),
        (&["key", "--grammar", "rfc2396"], &["--rejects"]),
        (&["key", "--iri", "--repair"], &["--rejects"]),
        (&["key", "--level", "protocol", "--aliases", EVIDENCE], &[]),
    ];
    learn [
        (&["learn", "--min-pages", "0", "--precision", "0"], &["--undecided"]),
    ];
    resolve [
        (&["resolve", "--base", BASE, "--same-document", "drop", "--repair"], &["--rejects"]),
        (&["resolve", "--suffix-scheme", "https"], &["--rejects"]),
        (&["resolve", "--grammar", "rfc2396", "--base", BASE], &["--rejects"]),
    ];
    extract [
        (&["extract", "-nbH", "--context", "--unicode"], &[]),
        (&["extract", "--jsonl", "--unwrap", "--scheme", "any", "--max-repeats", "1"], &[]),
        (&["extract", "--from", "csv", "-nb"], &[]),
        (&["extract", "--from", "markdown", "--context"], &[]),
        (&["extract", "--from", "clf", "-n"], &[]),
        (&["extract", "--from", "clf", "--jsonl"], &[]),
    ];
    set [
        (&["set", "has", SEEN], &["--rejects"]),
        (&["set", "has", "-v", SEEN, "--on-invalid", "drop"], &[]),
    ];
}
