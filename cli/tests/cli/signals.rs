//! A run that is ended by a signal leaves the old files and nothing else.

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::changes::{self, CHANGES, again, is_old_or_new, leftovers, outputs, put_back};
use crate::run::{Place, finish};
use crate::sets::uris;

/// Names and contents of all files below `directory`, but for locks.
fn everything(directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.insert(path.clone(), None);
            found.extend(everything(&path));
        } else if !path.ends_with("lock") {
            let bytes = fs::read(&path).unwrap();
            found.insert(path, Some(bytes));
        }
    }
    found
}

fn send(signal: &str, child: &Child) {
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-s", signal, &pid]).status().unwrap().success());
}

/// Names and numbers of the signals that end a run. One that is ignored where the tests run, as by `nohup`, is ignored by
/// the runs that they start.
fn signals() -> Vec<(&'static str, i32)> {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let ignored = ignored.and_then(|set| u64::from_str_radix(set.trim(), 16).ok()).unwrap_or(0);
    let all = [("INT", 2), ("TERM", 15), ("HUP", 1)];
    all.into_iter().filter(|(_, number)| ignored >> (number - 1) & 1 == 0).collect()
}

/// All that writes, and waits for the end of standard input.
const COMMANDS: &[&[&str]] = &[
    &["dedup", "-o", "out"],
    &["dedup", "-o", "new"],
    &["dedup", "-o", "out", "--dupes", "dupes", "--clusters", "new", "--rejects", "bad"],
    &["dedup", "--count", "-o", "out"],
    &["dedup", "--approx", "0.01", "-o", "out"],
    &["dedup", "--seen", "s.set", "--update", "-o", "out"],
    &["dedup", "--seen", "new.set", "--update", "-o", "out"],
    &["normalize", "-o", "out", "--rejects", "new"],
    &["key", "-o", "out"],
    &["parse", "-o", "out"],
    &["check", "-o", "out"],
    &["census", "-o", "out"],
    &["audit", "--to", "sarif", "-o", "out"],
    &["explain", "-o", "out"],
    &["resolve", "--base", "http://h/", "-o", "out"],
    &["extract", "-o", "out"],
    &["set", "create", "new.set"],
    &["set", "create", "--first-seen", "new.set"],
    &["set", "add", "s.set"],
    &["set", "has", "s.set", "-o", "out"],
    &["set", "import", "new.set", "--like", "s.set"],
    &["dedup", "--column", "1", "--from", "csv", "-o", "out", "--to", "csv"],
    &[
        "dedup",
        "--column",
        "1",
        "--from",
        "csv",
        "-o",
        "parts",
        "--to",
        "csv",
        "--rows-per-file",
        "50",
    ],
    &[
        "dedup",
        "--column",
        "1",
        "--from",
        "csv",
        "-o",
        "empty/",
        "--to",
        "parquet",
        "--dupes",
        "d.parquet",
    ],
];

fn place() -> Place {
    let place = Place::new(&[("out", "old"), ("dupes", "old"), ("bad", "old")]);
    fs::create_dir(place.path("empty")).unwrap();
    place.run(&["set", "create", "s.set"], &uris(0..100)).quiet();
    place
}

/// Starts a run that has read `input` and waits for more, as long as the pipe is open.
fn start(place: &Place, args: &[&str], input: &str) -> (Child, ChildStdin) {
    let mut command = place.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    // A run that refused to go on would have closed the pipe.
    stdin.write_all(input.as_bytes()).unwrap();
    (child, stdin)
}

#[test]
fn nothing_is_left_whatever_was_being_written() {
    let place = place();
    let before = everything(&place.path(""));
    let lines = uris(0..20_000);
    let keys = "0123456789abcdef0123456789abcdef\n".repeat(2000);
    for args in COMMANDS {
        for (i, (signal, number)) in signals().into_iter().enumerate() {
            let input = if args.contains(&"import") { &keys } else { &lines };
            let (mut child, _stdin) = start(&place, args, input);
            sleep(Duration::from_millis(10 * i as u64));
            send(signal, &child);
            let status = child.wait().unwrap();
            assert_eq!(status.signal(), Some(number), "{args:?} {status}");
            assert!(
                everything(&place.path("")) == before,
                "{args:?} {signal}: {:?}",
                place.names()
            );
        }
    }
    // What was being made can be made.
    place.run(&["set", "create", "new.set"], "http://h/\n").quiet();
    place.run(&["set", "verify", "s.set"], "").quiet();
}

#[test]
fn at_any_moment_all_files_are_old_or_all_are_new() {
    let lines = uris((0..60_000).map(|i| i % 40_000));
    let place = Place::new(&[("in", &lines)]);
    let args = ["dedup", "in", "-o", "out", "--dupes", "dupes", "--clusters", "clusters"];
    let names = ["out", "dupes", "clusters"];
    let started = Instant::now();
    place.run(&args, "").quiet();
    let whole = started.elapsed();
    let new = names.map(|name| place.read(name));
    let signals = signals();
    for i in 0..30 {
        names.iter().for_each(|name| fs::write(place.path(name), "old").unwrap());
        let (signal, number) = signals[i % signals.len()];
        let mut child = place.command(&args).spawn().unwrap();
        sleep(whole.mul_f64(i as f64 / 25.0));
        // It may have ended.
        let _ = Command::new("kill").args(["-s", signal, &child.id().to_string()]).output();
        let status = child.wait().unwrap();
        let found = names.map(|name| place.read(name));
        match status.signal() {
            None => assert!(status.success() && found == new, "{status}"),
            Some(found_number) => {
                assert_eq!(found_number, number);
                assert!(found == ["old"; 3] || found == new, "run {i}");
            }
        }
        assert_eq!(place.names(), ["clusters", "dupes", "in", "out"], "run {i}");
    }
}

#[test]
fn whatever_is_changed_is_old_or_new_at_any_moment() {
    let signals = signals();
    for change in CHANGES {
        let (place, before) = changes::place(change, 30_000);
        let directory = place.path("");
        let old = outputs(change, &directory);
        let started = Instant::now();
        place.run(change.args, "").quiet();
        let whole = started.elapsed();
        let new = outputs(change, &directory);
        for i in 0..8 {
            put_back(&directory, &before);
            let (signal, number) = signals[i % signals.len()];
            let label = format!("{} {signal} {i}", change.what);
            let mut child = place.command(change.args).spawn().unwrap();
            sleep(whole.mul_f64((i + 1) as f64 / 9.0));
            // It may have ended.
            let _ = Command::new("kill").args(["-s", signal, &child.id().to_string()]).output();
            let status = child.wait().unwrap();
            let found = outputs(change, &directory);
            match status.signal() {
                None => assert!(status.success() && found == new, "{label}: {status}"),
                Some(found) => assert_eq!(found, number, "{label}"),
            }
            assert!(is_old_or_new(&found, &old, &new), "{label}");
            let left = leftovers(change, &directory, &before);
            assert!(left.is_empty(), "{label}: {left:?}");
            again(change, &place, &new, found == new, &label);
        }
    }
}

/// Starts a run of `args` that stops while it gives its first file a name, as long as there is a file `stall`.
fn stalled(place: &Place, args: &[&str]) -> Child {
    let stall = place.path("stall");
    let mut command = place.command(args);
    command.env("URISCAN_FAULTS", format!("stall:{}", stall.display()));
    let mut child = command.spawn().unwrap();
    let started = Instant::now();
    while !stall.exists() {
        assert!(child.try_wait().unwrap().is_none() && started.elapsed().as_secs() < 60);
        sleep(Duration::from_millis(5));
    }
    child
}

#[test]
fn a_signal_waits_for_files_to_be_put_in_place_and_a_second_one_does_not() {
    for (i, args) in [
        &["dedup", "in", "--dupes", "dupes", "-o", "out"][..],
        &["set", "add", "s.set", "in"],
        &["dedup", "--seen", "s.set", "--update", "in", "-o", "out"],
    ]
    .into_iter()
    .enumerate()
    {
        let place = place();
        fs::write(place.path("in"), uris(50..200)).unwrap();
        let before = everything(&place.path(""));
        let (signal, number) = signals()[i % signals().len()];
        let mut child = stalled(&place, args);
        send(signal, &child);
        sleep(Duration::from_millis(100));
        assert!(child.try_wait().unwrap().is_none(), "{args:?}: it does not wait");
        fs::remove_file(place.path("stall")).unwrap();
        // Or it was done before the signal came through.
        let status = child.wait().unwrap();
        assert!(status.success() || status.signal() == Some(number), "{args:?}: {status}");
        assert!(
            !place.names().iter().any(|name| name.ends_with(".partial")),
            "{:?}",
            place.names()
        );
        assert!(everything(&place.path("")) != before, "{args:?}: nothing was put in place");

        let place = self::place();
        fs::write(place.path("in"), uris(50..200)).unwrap();
        let mut child = stalled(&place, args);
        send(signal, &child);
        sleep(Duration::from_millis(50));
        send(signal, &child);
        // It would stop for ever.
        assert_eq!(child.wait().unwrap().signal(), Some(number), "{args:?}");
        fs::remove_file(place.path("stall")).unwrap();
        place.run(args, "").quiet();
    }
}

/// Runs are given so little memory that they cannot begin, and then a little more until they can do their job.
#[cfg(target_os = "linux")]
#[test]
fn nothing_is_left_where_memory_is_short() {
    let lines = uris((0..60_000).map(|i| i % 50_000));
    let place = Place::new(&[("in", &lines), ("out", "old")]);
    place.run(&["set", "create", "s.set"], &uris(0..100)).quiet();
    let before = everything(&place.path(""));
    for args in [
        "dedup in -o out --dupes new --clusters other",
        "dedup --seen s.set --update in -o out",
        "set create new.set in",
        "set add s.set in",
    ] {
        let mut is_done = false;
        let mut limit = 20_000;
        while !is_done {
            let script = format!("ulimit -v {limit}; exec \"$0\" {args} -j2");
            let status = shell(&place, &script).stderr(Stdio::null()).status().unwrap();
            is_done = status.success();
            if !is_done {
                let mut found = everything(&place.path(""));
                // No handler runs when an allocation fails: what was begun is there, and the next run replaces it.
                found.remove(&place.path("new.set"));
                found.remove(&place.path("new.set/set"));
                assert!(found == before, "{limit} {args} {status}: {:?}", found.keys());
            }
            limit += limit / 8;
            assert!(limit < 1 << 26, "{args}: never enough");
        }
        for name in ["out", "new", "other"] {
            let _ = fs::remove_file(place.path(name));
        }
        let _ = fs::remove_dir_all(place.path("new.set"));
        let _ = fs::remove_dir_all(place.path("s.set"));
        fs::write(place.path("out"), "old").unwrap();
        place.run(&["set", "create", "s.set"], &uris(0..100)).quiet();
    }
}

#[test]
fn nothing_is_left_by_a_kill_where_files_need_no_names() {
    let place = place();
    let before = everything(&place.path(""));
    let lines = uris(0..20_000);
    let has_names =
        |args: &&&[&str]| ["new.set", "parts", "empty/"].iter().any(|name| args.contains(name));
    for args in COMMANDS.iter().filter(|args| !has_names(args)) {
        let (mut child, _stdin) = start(&place, args, &lines);
        sleep(Duration::from_millis(20));
        if place.names().iter().any(|name| name.ends_with(".partial")) {
            // The file system has no unnamed files.
            child.kill().unwrap();
            child.wait().unwrap();
            return;
        }
        child.kill().unwrap();
        assert_eq!(child.wait().unwrap().signal(), Some(9));
        assert!(everything(&place.path("")) == before, "{args:?}: {:?}", place.names());
    }
}

/// Runs `script` with the program as `$0`.
fn shell(place: &Place, script: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", script, env!("CARGO_BIN_EXE_uriscan")]);
    command.current_dir(place.path("")).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

#[test]
fn a_shell_sees_128_and_the_number() {
    let place = place();
    // A shell has its jobs in the background ignore SIGINT.
    for (signal, number) in signals().into_iter().filter(|(signal, _)| *signal != "INT") {
        let script = format!(
            "mkfifo fifo; \"$0\" dedup fifo -o out & exec 3>fifo; echo http://h/ >&3; sleep 0.2\n\
             kill -s {signal} $!; wait $!; echo $?; rm fifo"
        );
        let ran = finish(shell(&place, &script), "");
        assert_eq!(ran.text(), format!("{}\n", 128 + number), "{}", ran.stderr);
        assert_eq!(place.read("out"), "old");
    }
}

#[test]
fn a_signal_that_is_ignored_stays_ignored() {
    let place = place();
    let script = "trap '' HUP INT; exec \"$0\" dedup -o new";
    let mut command = shell(&place, script);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(b"http://h/\n").unwrap();
    sleep(Duration::from_millis(200));
    if cfg!(target_os = "linux") {
        send("HUP", &child);
        send("INT", &child);
    }
    sleep(Duration::from_millis(50));
    drop(stdin);
    assert!(child.wait().unwrap().success());
    assert_eq!(place.read("new"), "http://h/\n");
}

#[test]
fn a_limit_of_file_sizes_is_an_error_of_writing() {
    let place = place();
    fs::write(place.path("in"), uris(0..50_000)).unwrap();
    for args in ["dedup in -o out", "dedup in -o new --dupes dupes", "normalize in -o out"] {
        let ran = finish(shell(&place, &format!("ulimit -f 8; exec \"$0\" {args}")), "");
        assert_eq!((ran.code, ran.text()), (2, ""), "{}", ran.stderr);
        assert!(ran.stderr.contains("File too large"), "{}", ran.stderr);
        assert_eq!([place.read("out"), place.read("dupes")], ["old", "old"]);
        assert!(!place.path("new").exists());
    }
    let names = place.names();
    assert!(!names.iter().any(|name| name.ends_with(".partial")), "{names:?}");
}
