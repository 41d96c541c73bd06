//! The examples in C, built against the static library and run. `scripts/test-c` does the same with the other languages.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{DedupOptions, OnInvalid, Settings, Sinks, dedup};

/// What the static library needs of the system; `rustc --print native-static-libs` lists it. Symbols of tests are of no use to it.
const SYSTEM: &[&str] = if cfg!(target_os = "macos") {
    &["-framework", "Security", "-framework", "CoreFoundation"]
} else {
    &["-Wl,--gc-sections,--strip-debug", "-lpthread", "-ldl", "-lm", "-lrt"]
};

/// The example of this name, linked to `library` of this crate; `None` without a compiler.
fn built(name: &str, library: &str, into: &Path) -> Option<PathBuf> {
    if !Command::new("cc").arg("--version").output().is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: there is no C compiler called cc");
        return None;
    }
    let crate_root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let program = into.join(name);
    let library = std::env::current_exe().unwrap().with_file_name(library);
    assert!(library.exists(), "{} is made by cargo build -p uriscan-c", library.display());
    let output = Command::new("cc")
        .args(["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-O1", "-o"])
        .arg(&program)
        .arg("-I")
        .arg(crate_root.join("include"))
        .arg(crate_root.join("examples").join(name).with_extension("c"))
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.parent().unwrap().display()))
        .args(SYSTEM)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(program)
}

fn run(program: &Path, arguments: &[&Path], input: &[u8]) -> Vec<u8> {
    let mut child = Command::new(program)
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let writer = std::thread::spawn(move || stdin.write_all(&input).unwrap());
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    assert!(output.status.success());
    output.stdout
}

/// The lines of a list, without the white space around them.
fn lines(list: &[u8]) -> Vec<&[u8]> {
    let is_white = |byte: &u8| !b" \t\x0b\x0c\r".contains(byte);
    let line = |line| {
        let line: &[u8] = line;
        let end = line.iter().rposition(is_white).map_or(0, |last| last + 1);
        &line[line[..end].iter().position(is_white).unwrap_or(end)..end]
    };
    list.split(|&byte| byte == b'\n').map(line).collect()
}

#[test]
fn deduplication_in_c_keeps_what_the_library_keeps() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = built("dedup", "liburiscan_c.a", directory.path()) else { return };
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora");
    for name in ["hostile.txt", "messy.txt", "plain.txt"] {
        let input = std::fs::read(corpora.join(name)).unwrap();
        // Of a list the library drops a byte order mark; the example reads lines of bytes.
        let input = input.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(&input).to_vec();
        let mut expected = Vec::new();
        let options = DedupOptions::default().on_invalid(OnInvalid::Drop);
        let source = Source::new("list", std::io::Cursor::new(input.clone()));
        dedup(vec![source], &options, &Settings::default(), &mut Sinks::new(&mut expected))
            .unwrap();
        assert!(lines(&run(&program, &[], &input)) == lines(&expected), "{name}");

        // With a set on disk: what one run has written is left out by the next.
        let set = directory.path().join(name);
        assert!(lines(&run(&program, &[&set], &input)) == lines(&expected), "{name}");
        assert!(run(&program, &[&set], &input).is_empty(), "{name}");
    }
}

#[test]
fn the_measurement_in_c_has_the_answers_that_it_expects() {
    let directory = tempfile::tempdir().unwrap();
    let Some(program) = built("bench", "liburiscan_c.a", directory.path()) else { return };
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../corpora");
    let input = std::fs::read(corpora.join("messy.txt")).unwrap();
    let written = String::from_utf8(run(&program, &["2".as_ref()], &input)).unwrap();
    let names: Vec<&str> = written
        .lines()
        .skip(1)
        .filter_map(|line| line.strip_suffix(" ns")?.split(':').next())
        .collect();
    assert_eq!(names, ["normalize", "key", "parse", "set_contains"], "{written}");
}

#[test]
fn the_tour_in_c_writes_what_is_expected_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let library =
        format!("{}uriscan_c{}", std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
    let Some(program) = built("tour", &library, directory.path()) else { return };
    let written = String::from_utf8(run(&program, &[], b"")).unwrap();
    assert_eq!(written, include_str!("../../examples/tour.txt"));
}
