//! Where results go is decided by what a name leads to, not by how it is spelt: descriptors are written to as they were
//! opened, and files are replaced.

use std::fs;
use std::os::unix::fs::{MetadataExt, symlink};
use std::process::{Command, Stdio};

use crate::run::{Place, Ran, finish};

const LIST: &str = "a:1\na:1\na:2\n";
const DONE: &str = "a:1\na:2\n";

/// Runs `script` with the program as `$0`.
fn shell(place: &Place, script: &str) -> Ran {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_uriscan")]).current_dir(place.path(""));
    finish(pipes(command), "")
}

fn pipes(mut command: Command) -> Command {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn files_are_replaced_however_their_names_are_spelt() {
    let place = Place::in_memory(&[("in", LIST), ("old", "old")]);
    symlink("/proc/self/cwd", place.path("here")).unwrap();
    fs::create_dir(place.path("fd")).unwrap();
    let absolute = place.path("").canonicalize().unwrap();
    let absolute = absolute.to_str().unwrap();
    let in_root = format!("/proc/self/root{absolute}/old");
    for name in [
        &format!("{absolute}/old"),
        "/proc/self/cwd/old",
        "/proc/thread-self/cwd/old",
        "/proc/self/task/../cwd/old",
        &in_root,
        "here/old",
        "/dev/fd/../cwd/old",
        "fd/1",
        "fd/../old",
    ] {
        let path = place.path(if name == "fd/1" { name } else { "old" });
        fs::write(&path, "old").unwrap();
        let before = fs::metadata(&path).unwrap().ino();
        place.run(&["dedup", "in", "-o", name], "").quiet();
        assert_eq!(fs::read_to_string(&path).unwrap(), DONE, "{name}");
        assert_ne!(fs::metadata(&path).unwrap().ino(), before, "{name}");
        place.run(&["dedup", "in", "--dupes", name], "");
        assert_eq!(fs::read_to_string(&path).unwrap(), "a:1\ta:1\tstring\n", "{name}");
    }
    for new in ["/proc/self/cwd/new", &format!("/proc/self/root{absolute}/new")] {
        place.run(&["dedup", "in", "-o", new], "").quiet();
        assert_eq!(place.read("new"), DONE, "{new}");
        fs::remove_file(place.path("new")).unwrap();
    }
}

#[test]
fn an_input_is_known_by_all_of_these_names() {
    let place = Place::in_memory(&[("in", LIST)]);
    let absolute = place.path("in").canonicalize().unwrap();
    let absolute = absolute.to_str().unwrap();
    for name in [absolute, "/proc/self/cwd/in", &format!("/proc/self/root{absolute}")] {
        let message = place.run(&["dedup", "in", "--dupes", name], "").refused();
        assert!(message.contains("is the input"), "{message}");
        let message = place.run(&["key", "in", "-o", name], "").refused();
        assert!(message.contains("is the input"), "{message}");
        assert_eq!(place.read("in"), LIST);
        // Its records may replace it.
        place.run(&["dedup", "in", "-o", name], "").quiet();
        assert_eq!(place.read("in"), DONE);
        fs::write(place.path("in"), LIST).unwrap();
    }
    for script in [
        "\"$0\" dedup in -o /dev/fd/3 3<>in",
        "\"$0\" dedup in -o /proc/self/fd/3 3>>in",
        "\"$0\" dedup in -o /dev/stdout >>in",
        "\"$0\" dedup in -o /dev/stderr 2>>in; tail -n 1 in",
        "\"$0\" dedup in --dupes /dev/fd/3 3>>in",
        "\"$0\" dedup - in -o /dev/fd/0 0<>in",
    ] {
        let ran = shell(&place, script);
        let is_refused = ran.code == 2 || script.contains("tail");
        assert!(is_refused, "{script}: {ran:?}");
        assert!(place.read("in").starts_with(LIST), "{script}");
        assert!(!place.read("in")[LIST.len()..].contains("a:1\na:2"), "{script}");
        fs::write(place.path("in"), LIST).unwrap();
    }
}

#[test]
fn a_descriptor_is_written_to_as_it_was_opened() {
    let place = Place::new(&[("in", LIST)]);
    symlink("/dev/stdout", place.path("out")).unwrap();
    symlink("/proc/self/fd", place.path("descriptors")).unwrap();
    symlink("/dev/fd/3", place.path("three")).unwrap();
    let around = format!("before\n{DONE}after\n");
    for name in
        ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "/proc/thread-self/fd/1", "out", "-"]
    {
        for redirection in [">", ">>"] {
            let _ = fs::remove_file(place.path("file"));
            let script = format!(
                "{{ echo before; \"$0\" dedup in -o {name}; echo after; }} {redirection} file"
            );
            shell(&place, &script).quiet();
            assert_eq!(place.read("file"), around, "{name} {redirection}");
        }
    }
    for name in
        ["/dev/fd/3", "/proc/self/fd/3", "descriptors/3", "three", "/proc/self/task/../fd/3"]
    {
        for redirection in ["3>", "3>>", "3<>"] {
            let _ = fs::remove_file(place.path("file"));
            let script = format!(
                "exec {redirection} file; echo before >&3; \"$0\" dedup in -o {name}; echo after >&3"
            );
            shell(&place, &script).quiet();
            assert_eq!(place.read("file"), around, "{name} {redirection}");
        }
        let piped = format!("{{ \"$0\" dedup in -o {name}; }} 3>&1 >/dev/null | cat");
        assert_eq!(shell(&place, &piped).quiet(), DONE, "{name}");
    }
    for option in ["--dupes", "--rejects", "--clusters", "--report"] {
        let script =
            format!("exec 3>file; echo before >&3; \"$0\" dedup in {option} /dev/fd/3 >/dev/null");
        shell(&place, &script).quiet();
        assert!(place.read("file").starts_with("before\n"), "{option}");
    }
    let ran = shell(&place, "\"$0\" dedup in -o /dev/stderr");
    assert_eq!((ran.code, ran.stderr.as_str(), ran.text()), (0, DONE, ""));
}

#[test]
fn a_descriptor_that_is_not_open_for_writing_takes_no_results() {
    let place = Place::new(&[("in", LIST), ("file", "old\n")]);
    let before = place.names();
    for script in [
        "\"$0\" dedup in -o /dev/fd/3 3<file",
        "\"$0\" dedup in -o /proc/self/fd/3 3<file",
        "\"$0\" dedup in --dupes /dev/fd/3 3<file",
        "\"$0\" dedup in -o /dev/stdin <file",
        "\"$0\" dedup in -o /dev/fd/9",
        "\"$0\" dedup in -o /proc/self/fd/987654",
        "\"$0\" dedup in -o /proc/self/fd/x",
        "\"$0\" dedup in -o /proc/self/fd/01",
        "\"$0\" dedup in -o /dev/fd/3 3<.",
    ] {
        let ran = shell(&place, script);
        assert_eq!((ran.code, ran.text()), (2, ""), "{script}: {}", ran.stderr);
        assert!(ran.stderr.starts_with("uriscan: /"), "{script}: {}", ran.stderr);
        assert_eq!(
            (place.read("file").as_str(), place.names()),
            ("old\n", before.clone()),
            "{script}"
        );
    }
}

#[test]
fn what_is_below_a_directory_that_is_open_is_a_file() {
    let place = Place::new(&[("in", LIST), ("1", "old")]);
    shell(&place, "\"$0\" dedup in -o /dev/fd/3/1 3<.").quiet();
    assert_eq!(place.read("1"), DONE);
}

#[test]
fn a_descriptor_of_another_process_is_appended_to_or_refused() {
    let place = Place::new(&[("in", LIST)]);
    let script = |redirection: &str| {
        format!(
            "echo before > file; sleep 30 {redirection} file & \
             \"$0\" dedup in -o /proc/$!/fd/1; code=$?; kill $!; exit $code"
        )
    };
    shell(&place, &script(">>")).quiet();
    assert_eq!(place.read("file"), format!("before\n{DONE}"));
    // Its own writes would go over the results.
    let ran = shell(&place, &script("1<>"));
    assert!(ran.code == 2 && ran.stderr.contains("another process"), "{ran:?}");
    assert_eq!(place.read("file"), "before\n");
    let ran = shell(&place, &script("</dev/null 1<"));
    assert!(ran.code == 2 && ran.stderr.contains("not open for writing"), "{ran:?}");
    let piped = "{ sleep 30 & \"$0\" dedup in -o /proc/$!/fd/1; kill $!; } | cat";
    assert_eq!(shell(&place, piped).quiet(), DONE);
}

#[test]
fn pipes_and_devices_are_written_to_by_any_name() {
    let place = Place::new(&[("in", LIST)]);
    symlink("/dev/null", place.path("null")).unwrap();
    for name in ["/dev/null", "null", "/proc/self/root/dev/null"] {
        place.run(&["dedup", "in", "-o", name], "").quiet();
    }
    assert!(fs::symlink_metadata(place.path("null")).unwrap().is_symlink());
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
    let ran = place.run(&["dedup", "in", "-o", "/proc/self/root/dev/full"], "");
    assert!(ran.code == 2 && ran.stderr.contains("No space left"), "{}", ran.stderr);
    symlink("fifo", place.path("link")).unwrap();
    for name in ["fifo", "link", "/proc/self/cwd/fifo"] {
        let script = format!("mkfifo fifo; cat fifo & \"$0\" dedup in -o {name}; wait; rm fifo");
        assert_eq!(shell(&place, &script).quiet(), DONE, "{name}");
    }
}

#[test]
fn a_link_to_a_directory_takes_no_results() {
    let place = Place::new(&[("in", LIST)]);
    fs::create_dir(place.path("d")).unwrap();
    symlink("d", place.path("link")).unwrap();
    for name in ["d", "link", "/proc/self/cwd", "/proc/self/cwd/d", "/dev/fd"] {
        let message = place.run(&["dedup", "in", "-o", name], "").refused();
        assert!(message.contains("directory"), "{message}");
    }
    // The files of such a system are not replaced: nothing can be made beside them.
    let message = place.run(&["dedup", "in", "-o", "/proc/self/comm"], "").refused();
    assert!(message.starts_with("uriscan: /proc/self/comm: "), "{message}");
}

#[test]
fn standard_input_has_one_reader() {
    let place = Place::new(&[("list", "http://h/\nhttp://i/\n"), ("t.csv", "u\nhttp://h/\n")]);
    std::os::unix::fs::symlink("/dev/stdin", place.path("link")).unwrap();
    for name in ["/dev/stdin", "/dev/fd/0", "/proc/self/fd/0", "link"] {
        for args in [
            &["dedup", "-", name][..],
            &["dedup", "--not-host-file", name],
            &["dedup", "--host-file", name, "-"],
            &["normalize", "--not-domain-file", name],
            &["extract", "--not-match-file", name],
            &["extract", "--domain-file", name, "-"],
            &["extract", "--files-from", name, "-"],
            &["dedup", "--rules", name],
            &["census", "--rules", name],
            &["top", "--match-file", name],
            &["check", "--host-file", name],
            &["dedup", "--level", "protocol", "--aliases", name],
            &["dedup", "--host-file", name, "--not-host-file", name, "list"],
            &["dedup", "--rules", name, "--host-file", name, "list"],
            &["set", "create", "s.set", "--not-host-file", name],
            &["dedup", "--column", "u", "--from", "csv", "--host-file", name, "-"],
        ] {
            // Names of hosts, which are not rules.
            let ran = place.run(args, "h\n");
            assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}: {}", ran.stderr);
            let is_reported = ran.stderr.contains("read only once");
            assert!(
                is_reported || args.contains(&"--rules") || args.contains(&"--aliases"),
                "{args:?}"
            );
        }
    }
    // A file is opened for each.
    let mut command = place.command(&["dedup", "--not-host-file", "/dev/stdin", "-"]);
    std::fs::write(place.path("hosts"), "i\nh\n").unwrap();
    command.stdin(std::fs::File::open(place.path("hosts")).unwrap());
    assert_eq!(command.output().unwrap().stdout, b"i\nh\n");
    // One reader is enough.
    let one = place.run(&["dedup", "--not-host-file", "/dev/stdin", "list"], "i\n");
    assert_eq!(one.quiet(), "http://h/\n");
    place.run(&["dedup", "/dev/null", "/dev/null"], "").quiet();
}
