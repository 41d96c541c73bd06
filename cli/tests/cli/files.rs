//! Inputs and outputs: files, standard streams, failures half-way.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};

use crate::run::{Place, finish};

#[test]
fn several_files_are_one_list_in_their_order() {
    // The first has no line end at its end, the second a mark at its start.
    let place = Place::new(&[("a", "a:1\na:2"), ("b", "\u{FEFF}a:3\na:1\n"), ("empty", "")]);
    assert_eq!(place.run(&["dedup", "a", "b", "empty"], "").quiet(), "a:1\na:2\na:3\n");
    assert_eq!(place.run(&["dedup", "b", "empty", "a"], "").quiet(), "a:3\na:1\na:2\n");
    assert_eq!(place.run(&["dedup", "b", "-", "a"], "x:\n").quiet(), "a:3\na:1\nx:\na:2\n");
    assert_eq!(place.run(&["dedup", "-"], "x:\n").quiet(), "x:\n");
    let message = place.run(&["dedup", "-", "a", "-"], "x:\n").refused();
    assert!(message.contains("only once"), "{message}");
}

#[test]
fn what_cannot_be_read_is_noticed_before_anything_is_done() {
    let place = Place::new(&[("good", "a:\n"), ("out", "old")]);
    fs::create_dir(place.path("directory")).unwrap();
    for (wrong, what) in [("missing", "No such file"), ("directory", "is a directory")] {
        let message = place.run(&["dedup", "good", wrong, "-o", "out"], "").refused();
        assert!(message.starts_with(&format!("uriscan: {wrong}: ")), "{message}");
        assert!(message.contains(what), "{message}");
        assert_eq!(place.read("out"), "old");
        place.run(&["dedup", "good", wrong], "").refused();
    }
    assert_eq!(place.names(), ["directory", "good", "out"]);
}

#[test]
fn a_file_takes_the_results() {
    let place = Place::new(&[("in", "a:1\na:1\n"), ("old", "old")]);
    for name in ["new", "old", "./in"] {
        assert_eq!(place.run(&["dedup", "in", "-o", name], "").quiet(), "");
        assert_eq!(place.read(name), "a:1\n", "{name}");
    }
    assert_eq!(place.run(&["dedup", "in", "--output", "-"], "").quiet(), "a:1\n");
    assert_eq!(place.names(), ["in", "new", "old"]);
}

#[test]
fn an_input_can_be_the_output() {
    let text: String = (0..20_000).map(|i| format!("http://h/{}\n", i % 5000)).collect();
    let place = Place::new(&[("list", &text)]);
    // Chunks so small that the first results are written long before the end is read.
    place.run(&["dedup", "--chunk-size", "64", "list", "-o", "list"], "").quiet();
    assert_eq!(place.read("list"), text[..text.len() / 4]);
    fs::write(place.path("list"), "a:\nno uri\n").unwrap();
    let rejects = ["dedup", "list", "-o", "out", "--rejects", "list"];
    assert!(place.run(&rejects, "").refused().contains("list: is the input"));
    assert_eq!(place.read("list"), "a:\nno uri\n");
}

#[test]
fn a_failure_leaves_the_old_file() {
    let text = "http://h/\n".repeat(50_000) + "no uri\n";
    let place = Place::new(&[("in", &text), ("out", "old"), ("bad", "old")]);
    let args = ["normalize", "--chunk-size", "4K", "in", "--on-invalid", "error", "-o", "out"];
    let message = place.run(&args, "").refused();
    assert!(message.contains("in:50001: space at column 3 (byte 500002)"), "{message}");
    assert_eq!(place.read("out"), "old");
    // A file that goes away between the look at it and its turn cannot be had portably;
    // a rejects file that cannot be made can.
    let args = ["dedup", "in", "-o", "out", "--rejects", "nowhere/bad"];
    let message = place.run(&args, "").refused();
    assert!(message.starts_with("uriscan: nowhere/bad: "), "{message}");
    let args = ["dedup", "in", "--rejects", "bad", "-o", "nowhere/out"];
    let message = place.run(&args, "").refused();
    assert!(message.starts_with("uriscan: nowhere/out: "), "{message}");
    assert_eq!((place.read("out"), place.read("bad")), ("old".into(), "old".into()));
    assert_eq!(place.names(), ["bad", "in", "out"], "nothing is left aside");
}

#[test]
fn an_output_needs_a_directory() {
    let place = Place::new(&[("in", "a:1\n")]);
    let message = place.run(&["dedup", "in", "-o", "nowhere/out"], "").refused();
    assert!(message.contains("nowhere/out: there is no directory nowhere"), "{message}");
}

#[test]
fn a_directory_is_not_an_output() {
    let place = Place::new(&[("in", "a:\n")]);
    fs::create_dir(place.path("directory")).unwrap();
    let message = place.run(&["dedup", "in", "-o", "directory"], "").refused();
    assert!(
        message.starts_with("uriscan: directory: ") && message.contains("irectory"),
        "{message}"
    );
}

#[cfg(unix)]
#[test]
fn permissions_and_links_are_kept() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let place = Place::new(&[("in", "a:\n"), ("secret", "old"), ("plain", "")]);
    let mode = |name: &str| fs::metadata(place.path(name)).unwrap().permissions().mode() & 0o777;
    fs::set_permissions(place.path("secret"), fs::Permissions::from_mode(0o640)).unwrap();
    symlink("secret", place.path("link")).unwrap();
    place.run(&["dedup", "in", "-o", "link"], "").quiet();
    assert!(fs::symlink_metadata(place.path("link")).unwrap().is_symlink());
    assert_eq!((place.read("secret"), mode("secret")), ("a:\n".into(), 0o640));
    place.run(&["dedup", "in", "-o", "new"], "").quiet();
    assert_eq!(mode("new"), mode("plain"), "as any new file");
}

#[cfg(unix)]
#[test]
fn devices_and_pipes_are_written_to_as_they_are() {
    use std::os::unix::fs::FileTypeExt;
    let place = Place::new(&[("in", "a:\na:\n")]);
    assert_eq!(place.run(&["dedup", "in", "-o", "/dev/null"], "").quiet(), "");
    assert!(fs::metadata("/dev/null").unwrap().file_type().is_char_device());
    assert_eq!(place.run(&["dedup", "in", "-o", "/dev/stdout"], "").quiet(), "a:\n");
    assert_eq!(place.run(&["dedup", "/dev/stdin"], "b:\nb:\n").quiet(), "b:\n");
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_exit_code_2() {
    let place = Place::new(&[("in", "a:\nno uri\n")]);
    for args in [["-o", "/dev/full"], ["--rejects", "/dev/full"]] {
        let ran = place.run(&[&["dedup", "in"][..], &args].concat(), "");
        assert_eq!(ran.code, 2);
        assert!(ran.stderr.starts_with("uriscan: /dev/full: "), "{}", ran.stderr);
    }
    let mut command = place.command(&["dedup", "in"]);
    command.stdout(fs::OpenOptions::new().write(true).open("/dev/full").unwrap());
    let ran = finish(command, "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.starts_with("uriscan: standard output: "), "{}", ran.stderr);
}

/// Runs on far more than a pipe holds, with a reader that goes away after a line.
fn leave_early(mut command: Command) -> (i32, String) {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "http://h/0\n");
    let output = child.wait_with_output().unwrap();
    (output.status.code().expect("no signal"), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_reader_that_goes_away_is_not_a_failure() {
    let text: String = (0..200_000).map(|i| format!("http://h/{i}\n")).collect();
    let place = Place::new(&[("in", &text), ("bad", "old")]);
    for command in ["dedup", "normalize"] {
        let args = [command, "in", "--stats", "--strict"];
        assert_eq!(leave_early(place.command(&args)), (0, String::new()), "{command}");
    }
    let args = ["parse", "-g", "http://h{path}", "in"];
    assert_eq!(leave_early(place.command(&args)), (0, String::new()));
    leave_early(place.command(&["dedup", "in", "--rejects", "bad"]));
    assert_eq!(place.read("bad"), "old", "the list of invalid records would not be whole");
}

#[test]
fn a_reader_that_was_never_there_is_not_a_failure_either() {
    let place = Place::new(&[]);
    for args in [["dedup", "-q"], ["parse", "-q"], ["parse", "--to=tsv"], ["census", "-q"]] {
        let mut child = place.command(&args).stdin(Stdio::piped()).spawn().unwrap();
        drop(child.stdout.take());
        // So few bytes that they are written at the very end.
        child.stdin.take().unwrap().write_all(b"a:\n").unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0), "{args:?}");
    }
}

#[cfg(unix)]
#[test]
fn a_name_need_not_be_utf_8() {
    use std::os::unix::ffi::OsStrExt;
    let place = Place::new(&[]);
    let name = Path::new(std::ffi::OsStr::from_bytes(b"\xFF-list"));
    fs::write(place.path("").join(name), "a:\n").unwrap();
    let mut command = place.command(&["dedup"]);
    command.arg(name);
    assert_eq!(finish(command, "").quiet(), "a:\n");
}
