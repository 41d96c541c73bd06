//! Sets on disk: what was seen by earlier runs, sets made of sets, and what becomes of them when a run is killed.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::run::{Place, finish, program};

/// Lines of URIs, each in one of two spellings.
pub(crate) fn uris(numbers: impl IntoIterator<Item = u32>) -> String {
    let line = |i: u32| match i % 3 {
        0 => format!("HTTP://Host{i}.example:80/%7ea\n"),
        _ => format!("http://host{i}.example/~a\n"),
    };
    numbers.into_iter().map(line).collect()
}

/// Names and contents of the files of a set, but for the lock.
pub(crate) fn files(set: &Path) -> Vec<(String, Vec<u8>)> {
    let entries = fs::read_dir(set).unwrap().map(|entry| entry.unwrap());
    let mut files: Vec<_> = entries
        .filter(|entry| entry.file_name() != "lock")
        .map(|entry| (entry.file_name().into_string().unwrap(), fs::read(entry.path()).unwrap()))
        .collect();
    files.sort();
    files
}

#[test]
fn what_an_earlier_run_has_written_is_not_written_again() {
    let place = Place::new(&[("a", &uris(0..500)), ("b", &uris(300..900)), ("c", "http://new/\n")]);
    let at_once = place.run(&["dedup", "a", "b", "c"], "").quiet();
    let seen = ["--seen", "s.set"];
    let run = |more: &[&str]| place.run(&[&["dedup"], &seen[..], more].concat(), "").quiet();
    // A set that is asked for has to be there, one to be filled need not.
    let message = place.run(&["dedup", "--seen", "s.set", "a"], "").refused();
    assert!(message.contains("s.set: does not exist; add --update"), "{message}");
    let mut one_by_one = run(&["--update", "a"]);
    assert_eq!(run(&["a"]), "");
    assert_eq!(run(&["b"]), run(&["b"]), "nothing is added unless asked for");
    one_by_one += &run(&["--update", "b"]);
    one_by_one += &run(&["--update", "a", "c", "b"]);
    assert_eq!(one_by_one, at_once);
    // The other spelling of each is seen too.
    let other: String = (0..900).map(|i| format!("http://HOST{i}.example/%7Ea\n")).collect();
    fs::write(place.path("d"), other).unwrap();
    assert_eq!(run(&["d"]), "");
    place.run(&["set", "verify", "s.set"], "").quiet();
    // Records that are not URIs are seen by their bytes.
    assert_eq!(
        place.run(&["dedup", "-q", "--seen", "s.set", "--update"], "a b\n").quiet(),
        "a b\n"
    );
    assert_eq!(place.run(&["dedup", "-q", "--seen", "s.set"], "a b\na  b\n").quiet(), "a  b\n");
}

#[test]
fn a_run_that_fails_leaves_the_set_as_it_was() {
    let place = Place::new(&[("a", &uris(0..50)), ("bad", "http://x/\na b\nhttp://y/\n")]);
    place.run(&["dedup", "--seen", "s.set", "--update", "a"], "").quiet();
    let before = files(&place.path("s.set"));
    let failing: [&[&str]; 3] = [
        &["dedup", "--seen", "s.set", "--update", "--on-invalid", "error", "bad"],
        &["set", "add", "--on-invalid", "error", "s.set", "bad"],
        &["dedup", "--seen", "s.set", "--update", "bad", "missing"],
    ];
    for args in failing {
        assert_eq!(place.run(args, "").code, 2, "{args:?}");
        assert!(files(&place.path("s.set")) == before, "{args:?}");
    }
    // Nothing is left of a set that did not come to be.
    let args = ["set", "create", "--on-invalid", "error", "t.set", "bad"];
    assert_eq!(place.run(&args, "").code, 2);
    assert_eq!(place.names(), ["a", "bad", "s.set"]);
}

#[test]
fn sets_are_made_of_sets() {
    let place = Place::new(&[]);
    let quiet = |args: &[&str], input: &str| place.run(args, input).quiet();
    quiet(&["set", "create", "whole.set"], &uris(0..4000));
    let shards: Vec<String> = (0..8u32).map(|i| format!("shard-{i}.set")).collect();
    for (i, shard) in (0..8).zip(&shards) {
        quiet(&["set", "create", shard], &uris((0..4000).filter(|n| n % 8 == i || n % 5 == i)));
    }
    let names: Vec<&str> = shards.iter().map(String::as_str).collect();
    let backwards: Vec<&str> = names.iter().rev().copied().collect();
    quiet(&[&["set", "merge", "-o", "one.set"], &names[..]].concat(), "");
    quiet(&[&["set", "merge", "-o", "two.set"], &backwards[..3]].concat(), "");
    quiet(&[&["set", "merge", "-o", "three.set", "two.set"], &backwards[2..]].concat(), "");
    // Key by key, in many small runs.
    quiet(&["set", "create", "grown.set"], "");
    for part in 0..20 {
        quiet(&["set", "add", "grown.set"], &uris(part * 200..part * 200 + 250));
    }
    quiet(&["set", "diff", "-o", "rest.set", "grown.set", "whole.set"], "");
    assert!(quiet(&["set", "stats", "rest.set"], "").contains("keys   50\n"));
    quiet(&["set", "intersect", "-o", "both.set", "grown.set", "whole.set"], "");
    let text = quiet(&["set", "export", "whole.set"], "");
    assert_eq!(text.lines().filter(|line| line.len() == 32).count(), 4000);
    quiet(&["set", "import", "imported.set"], &text);
    let cut = &text[..text.len() - 33];
    let message = place.run(&["set", "import", "cut.set"], cut).refused();
    assert!(message.contains("with 3999 keys; it declares 4000"), "{message}");
    assert!(!place.path("cut.set").exists());
    let keys: Vec<&str> = text.lines().filter(|line| !line.starts_with('#')).collect();
    quiet(&["set", "import", "--like", "whole.set", "like.set"], &keys.join("\r\n"));
    let expected = files(&place.path("whole.set"));
    for name in ["one.set", "three.set", "both.set", "imported.set", "like.set"] {
        assert!(files(&place.path(name)) == expected, "{name}");
    }
    // What `key` writes are the keys of a set.
    let keys = quiet(&["key"], &uris(0..4000));
    quiet(&["set", "import", "--like", "whole.set", "keyed.set"], &keys);
    assert!(files(&place.path("keyed.set")) == expected);
    quiet(&["set", "compact", "grown.set"], "");
    quiet(&["set", "merge", "-o", "four.set", "whole.set", "rest.set"], "");
    assert!(files(&place.path("grown.set")) == files(&place.path("four.set")));
}

#[test]
fn sets_are_cut_into_pieces_and_made_whole() {
    let place = Place::new(&[("broken.json", "{}")]);
    let quiet = |args: &[&str], input: &str| place.run(args, input).quiet();
    quiet(&["set", "create", "whole.set"], &uris(0..600));
    let dated = ["set", "create", "--first-seen", "--at", "2026-03-01", "dated.set"];
    quiet(&dated, &uris(0..300));
    quiet(&["set", "add", "--at", "2026-04-01", "dated.set"], &uris(200..600));
    quiet(&["set", "compact", "dated.set"], "");
    for (set, bits) in [("whole.set", 0), ("whole.set", 3), ("whole.set", 8), ("dated.set", 5)] {
        let (pieces, again) = (format!("{bits}.pieces"), format!("{bits}-{set}"));
        quiet(&["set", "split", "--bits", &bits.to_string(), "-o", &pieces, set], "");
        let list = fs::read_to_string(place.path(&format!("{pieces}/pieces.json"))).unwrap();
        let list: serde_json::Value = serde_json::from_str(&list).unwrap();
        let names = list["pieces"].as_array().unwrap();
        assert_eq!(names.len(), 1 << bits);
        for (number, name) in names.iter().enumerate().step_by(names.len().div_ceil(8)) {
            let path = format!("{pieces}/{}", name[0].as_str().unwrap());
            let text = quiet(&["set", "export", &path], "");
            for key in text.lines().filter(|line| !line.starts_with('#')) {
                let start = u32::from_str_radix(&key[..4], 16).unwrap();
                assert_eq!((start >> (16 - bits)) as usize, number, "{key}");
            }
        }
        quiet(&["set", "merge", "-o", &again, &pieces], "");
        assert!(files(&place.path(&again)) == files(&place.path(set)), "{set} {bits}");
    }
    let message = place.run(&["set", "split", "-o", "3.pieces", "whole.set"], "").refused();
    assert!(message.contains("3.pieces"), "{message}");
    fs::rename(place.path("broken.json"), place.path("3.pieces/pieces.json")).unwrap();
    let message = place.run(&["set", "merge", "-o", "new.set", "3.pieces"], "").refused();
    assert!(message.contains("is not a list of pieces"), "{message}");
    assert!(!place.path("new.set").exists());
}

#[test]
fn what_is_in_a_set_is_reported_as_by_grep() {
    let place = Place::new(&[("in", "http://A/\nhttp://b/\n\n a b \nhttp://c/\nHTTP://a\n")]);
    place.run(&["set", "create", "s.set"], "http://a/\na b\n").quiet();
    let has = |more: &[&str]| place.run(&[&["set", "has", "s.set"], more].concat(), "");
    assert_eq!(has(&["in"]).quiet(), "http://A/\na b\nHTTP://a\n");
    assert_eq!(has(&["-v", "in"]).quiet(), "http://b/\nhttp://c/\n");
    let nothing = place.run(&["set", "has", "s.set"], "http://d/\n");
    assert_eq!((nothing.code, nothing.text(), &*nothing.stderr), (1, "", ""));
}

#[test]
fn keys_of_other_meanings_are_refused_by_name() {
    let place = Place::new(&[("in", "http://a/\n")]);
    place.run(&["set", "create", "s.set", "--rule", "host-dot", "in"], "").quiet();
    let other = ["set", "create", "t.set", "--rule", "host-dot", "--hash", "sha256", "in"];
    place.run(&other, "").quiet();
    let refused = |args: &[&str]| place.run(args, "").refused();
    for (args, what) in [
        (
            &["set", "has", "s.set", "--rule", "www", "in"][..],
            "s.set has rule host-dot and no rule www",
        ),
        (
            &["set", "add", "s.set", "--level", "syntax", "in"],
            "--level syntax: s.set has level scheme",
        ),
        (
            &["dedup", "--seen", "s.set", "--update", "--rule", "https", "in"],
            "--rule https: s.set has rule host-dot and no rule https",
        ),
        (
            &["set", "merge", "-o", "u.set", "s.set", "t.set"],
            "hash: blake3 in s.set, sha256 in t.set",
        ),
        (&["set", "create", "s.set", "in"], "already exists"),
        (&["set", "merge", "-o", "s.set", "t.set"], "already exists"),
        (&["set", "stats", "in"], "not a key set"),
        (&["set", "add", "v.set", "in"], "v.set: does not exist"),
        (&["set", "import", "v.set", "in"], "in:1: the file does not declare what its keys mean"),
        (&["set", "import", "--like", "s.set", "v.set", "in"], "in:1: expected a key of 32"),
    ] {
        let message = refused(args);
        assert!(message.contains(what), "{message}");
    }
    assert_eq!(place.run(&["set", "has", "s.set", "--rule", "host-dot"], "http://a./\n").code, 0);
    assert_eq!(place.names(), ["in", "s.set", "t.set"]);
}

#[test]
fn classes_that_were_seen_are_left_out_whole() {
    let list = "http://a/\nHTTP://b\nhttp://A\nhttp://b/\nhttp://c/\nhttp://a/\n";
    let place = Place::new(&[("in", list)]);
    let run = |args: &[&str]| place.run(&[&["dedup", "--seen", "s.set", "in"], args].concat(), "");
    place.run(&["set", "create", "s.set"], "http://B/\n").quiet();
    let side = ["--dupes", "dupes", "--clusters", "clusters"];
    let counted = run(&[&["-c"], &side[..]].concat()).quiet();
    assert_eq!(counted, "      3 http://a/\n      1 http://c/\n");
    let dupes = "HTTP://b\t\tseen\nhttp://A\thttp://a/\tscheme\nhttp://b/\t\tseen\nhttp://a/\thttp://a/\tstring\n";
    assert_eq!(place.read("dupes"), dupes);
    let clusters = place.read("clusters");
    assert!(clusters.lines().count() == 2 && !clusters.contains("//b"), "{clusters}");
    // What is held back is not added.
    assert_eq!(run(&["-u", "--update"]).quiet(), "http://c/\n");
    assert_eq!(run(&["-u", "--update"]).quiet(), "");
    assert_eq!(run(&["-d", "--keep", "shortest", "--update"]).quiet(), "http://A\n");
    assert_eq!(run(&["-c", "--update"]).quiet(), "");
    let stats = run(&["-c", "--stats=json"]).stderr;
    let stats: serde_json::Value = serde_json::from_str(&stats).unwrap();
    assert_eq!((&stats["duplicates"], &stats["written"]), (&6.into(), &0.into()));
}

#[cfg(target_os = "linux")]
#[test]
fn there_is_one_writer_at_a_time() {
    let place = Place::new(&[("in", "http://a/\n")]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    let mut command = place.command(&["set", "add", "s.set"]);
    let mut writer = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut input = writer.stdin.take().unwrap();
    input.write_all(b"http://b/\n").unwrap();
    // Nobody else may try for the lock before the first one has it.
    let pid = format!(" {} ", writer.id());
    let has_lock = || fs::read_to_string("/proc/locks").unwrap().contains(&pid);
    let started = Instant::now();
    while !has_lock() {
        assert!(started.elapsed() < Duration::from_secs(60), "the first one never had the lock");
    }
    let message = place.run(&["set", "add", "s.set", "in"], "").refused();
    assert!(message.contains("another process is writing"), "{message}");
    // Readers do not wait.
    assert_eq!(place.run(&["set", "has", "s.set", "in"], "").quiet(), "http://a/\n");
    drop(input);
    assert!(writer.wait().unwrap().success());
    assert_eq!(place.run(&["set", "has", "s.set"], "http://b/\n").quiet(), "http://b/\n");
}

#[test]
fn a_set_tells_since_when_it_knows_a_uri() {
    let place =
        Place::new(&[("old", "http://a/\nhttp://b/\n"), ("new", "HTTP://B:80\nhttp://c/\n")]);
    let create = ["set", "create", "--first-seen", "--at"];
    place.run(&[&create[..], &["2026-03-01", "s.set", "old"]].concat(), "").quiet();
    place.run(&["set", "add", "--at", "2026-03-02T10:00:00Z", "s.set", "new"], "").quiet();
    let since = |set: &str| {
        let asked = "http://c/\nHTTP://A\nhttp://nobody/\nhttp://b/\n";
        place.run(&["set", "has", "--first-seen", set], asked).quiet()
    };
    let expected = "2026-03-02T10:00:00Z\thttp://c/\n2026-03-01T00:00:00Z\tHTTP://A\n\
                    2026-03-01T00:00:00Z\thttp://b/\n";
    assert_eq!(since("s.set"), expected);
    let stats = place.run(&["set", "stats", "s.set"], "").quiet();
    assert!(stats.contains("2026-03-01T00:00:00Z to 2026-03-02T10:00:00Z"), "{stats}");
    let stats = place.run(&["set", "stats", "--to", "json", "s.set"], "").quiet();
    assert!(stats.contains(r#""first_seen":["2026-03-01T00:00:00Z","2026-03-02T10:00:00Z"]"#));

    // Made apart and merged, in either order, the earliest stays.
    place.run(&[&create[..], &["1772323200", "a.set", "old"]].concat(), "").quiet();
    place.run(&[&create[..], &["2026-03-02T10:00:00Z", "b.set", "new"]].concat(), "").quiet();
    for (name, sets) in [("ab.set", ["a.set", "b.set"]), ("ba.set", ["b.set", "a.set"])] {
        place.run(&[&["set", "merge", "-o", name][..], &sets].concat(), "").quiet();
        assert_eq!(since(name), expected);
    }
    assert!(files(&place.path("ab.set")) == files(&place.path("ba.set")));
    place.run(&["set", "intersect", "-o", "i.set", "b.set", "a.set"], "").quiet();
    assert_eq!(since("i.set"), "2026-03-01T00:00:00Z\thttp://b/\n");
    // As text and back.
    place.run(&["set", "export", "ab.set", "-o", "keys"], "").quiet();
    place.run(&["set", "import", "again.set", "keys"], "").quiet();
    assert!(files(&place.path("again.set")) == files(&place.path("ab.set")));
    // What the end of a file was lost of is refused, also in the midst of a time.
    let text = place.read("keys");
    for lost in [1, 2, 11, 21, 30, 54] {
        fs::write(place.path("cut"), &text[..text.len() - lost]).unwrap();
        let ran = place.run(&["set", "import", "cut.set", "cut"], "");
        assert_eq!(ran.code, if lost == 1 { 0 } else { 2 }, "{lost}: {}", ran.stderr);
        let _ = fs::remove_dir_all(place.path("cut.set"));
    }

    // Keys that come without a time are seen when they come, or when that is said.
    let keys = place.run(&["key"], "http://e/\n").quiet();
    let like = ["set", "import", "like.set", "--like", "a.set", "--at", "2026-03-05"];
    place.run(&like, &keys).quiet();
    let reported = place.run(&["set", "has", "--first-seen", "like.set"], "http://e/\n").quiet();
    assert_eq!(reported, "2026-03-05T00:00:00Z\thttp://e/\n");

    // A run of today.
    let written = place.run(&["dedup", "--seen", "s.set", "--update"], "http://c\nhttp://d/\n");
    assert_eq!(written.quiet(), "http://d/\n");
    let today = place.run(&["set", "has", "--first-seen", "s.set"], "http://d/\n").quiet();
    assert!(today.ends_with("Z\thttp://d/\n") && *today > *"2026-03-03", "{today}");

    // Sets that keep no times have none, and do not mix with those that do.
    place.run(&["set", "create", "plain.set", "old"], "").quiet();
    for args in [
        &["set", "has", "--first-seen", "plain.set", "old"][..],
        &["set", "add", "--at", "2026-03-01", "plain.set", "old"],
        &["set", "merge", "-o", "m.set", "plain.set", "a.set"],
        &["set", "merge", "-o", "m.set", "a.set", "plain.set"],
        &["set", "import", "plain.set", "keys"],
    ] {
        let message = place.run(args, "").refused();
        assert!(message.contains(".set ") || message.contains(".set: "), "{message}");
        assert!(
            message.contains("first-seen") && message.contains("`uriscan set touch"),
            "{message}"
        );
    }
    for args in [
        &["set", "create", "--at", "2026-03-01", "m.set", "old"][..],
        &["set", "add", "--at", "2026-02-30", "s.set", "old"],
        &["set", "has", "-v", "--first-seen", "s.set", "old"],
    ] {
        assert_eq!(place.run(args, "").code, 2);
    }
}

#[test]
fn damage_is_reported_and_stops_who_reads() {
    let place = Place::new(&[("in", &uris(0..3000))]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    let (name, bytes) = files(&place.path("s.set")).remove(0);
    assert!(name.ends_with(".keys"));
    let mut flipped = bytes.clone();
    flipped[20_000] ^= 4;
    fs::write(place.path("s.set").join(&name), &flipped).unwrap();
    let verify = place.run(&["set", "verify", "s.set"], "");
    assert_eq!((verify.code, verify.text()), (1, ""));
    assert!(verify.stderr.contains(&format!("{name}: damaged at byte 16384")), "{}", verify.stderr);
    for args in [
        &["dedup", "--seen", "s.set", "in"][..],
        &["set", "has", "s.set", "in"],
        &["set", "merge", "-o", "t.set", "s.set", "s.set"],
        &["set", "add", "s.set", "in"],
    ] {
        let message = place.run(args, "").refused();
        assert!(message.contains("damaged at byte 16384"), "{message}");
    }
    fs::write(place.path("s.set").join(&name), &bytes[..bytes.len() - 1]).unwrap();
    let message = place.run(&["dedup", "--seen", "s.set", "in"], "").refused();
    assert!(message.contains("it ends too early"), "{message}");
    fs::write(place.path("s.set").join(&name), &bytes).unwrap();
    place.run(&["set", "verify", "s.set"], "").quiet();
}

/// A shell that lets the program write files of half a megabyte at the most.
#[cfg(unix)]
#[test]
fn a_full_disk_leaves_the_old_set() {
    let place = Place::new(&[("in", &uris(0..100)), ("much", &uris(100..60_000))]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    let before = files(&place.path("s.set"));
    for args in ["set add s.set much", "dedup --seen s.set --update much", "set create t.set much"]
    {
        let mut shell = std::process::Command::new("sh");
        let binary = env!("CARGO_BIN_EXE_uriscan");
        shell.arg("-c").arg(format!("trap '' XFSZ; ulimit -f 1024; exec '{binary}' {args} | cat"));
        shell.arg("sh").current_dir(place.path(""));
        shell.stdout(Stdio::piped()).stderr(Stdio::piped());
        let ran = finish(shell, "");
        assert!(ran.stderr.contains("File too large"), "{args}: {}", ran.stderr);
        assert!(files(&place.path("s.set")) == before, "{args}");
        assert_eq!(place.names(), ["in", "much", "s.set"], "{args}");
    }
    // There is room again.
    place.run(&["set", "add", "s.set", "much"], "").quiet();
}

/// How often a run is killed: `URISCAN_KILLS`, or a few times.
fn kills() -> u32 {
    std::env::var("URISCAN_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(10)
}

/// Kills `child` after `delay`, unless it comes to its end before; says whether it did its job.
fn kill_after(mut child: Child, delay: Duration) -> bool {
    std::thread::sleep(delay);
    // A child that is done cannot be killed.
    let _ = child.kill();
    child.wait().unwrap().success()
}

#[test]
fn a_set_survives_a_kill_at_any_moment() {
    let update = |place: &Place| {
        let args = ["dedup", "--seen", "s.set", "--update", "in", "-o", "out"];
        program(args).current_dir(place.path("")).spawn().unwrap()
    };
    survives(kills(), &[], update, |place, unseen| {
        // Whatever is in the set was written.
        assert_eq!(place.read("out"), unseen);
    });
}

#[test]
fn a_set_with_times_survives_a_kill_at_any_moment() {
    let dated = ["--first-seen", "--at", "2026-03-01"];
    let update = |place: &Place| {
        let args = ["set", "add", "--at", "2026-03-01", "s.set", "in"];
        program(args).current_dir(place.path("")).spawn().unwrap()
    };
    survives(kills().div_ceil(3), &dated, update, |_, _| {});
}

#[test]
fn a_set_that_loses_keys_survives_a_kill_at_any_moment() {
    let place = Place::new(&[("all", &uris(0..20_000)), ("gone", &uris(5_000..15_000))]);
    place.run(&["set", "create", "whole.set", "all"], "").quiet();
    let lines = |set: &str| place.run(&["set", "export", set], "").quiet().lines().count();
    let sizes = [lines("whole.set"), lines("whole.set") - 10_000];
    let whole = files(&place.path("whole.set"));
    let (mut left, mut delay) = (kills(), Duration::from_millis(1));
    while left > 0 {
        let _ = fs::remove_dir_all(place.path("s.set"));
        fs::create_dir(place.path("s.set")).unwrap();
        for (name, bytes) in &whole {
            fs::write(place.path("s.set").join(name), bytes).unwrap();
        }
        let args = ["set", "remove", "s.set", "gone"];
        let child = program(args).current_dir(place.path("")).spawn().unwrap();
        if kill_after(child, delay) {
            delay = Duration::from_millis(1);
        } else {
            (left, delay) = (left - 1, delay + Duration::from_millis(3));
        }
        place.run(&["set", "verify", "s.set"], "").quiet();
        assert!(sizes.contains(&lines("s.set")), "neither old nor new");
    }
}

#[test]
fn a_loop_over_files_that_is_killed_again_and_again_ends_with_the_same_records() {
    let place = Place::new(&[]);
    let names: Vec<String> = (0..8).map(|i| format!("in-{i}")).collect();
    for (i, name) in (0..).zip(&names) {
        fs::write(place.path(name), uris(i * 700..i * 700 + 1000)).unwrap();
    }
    let all: Vec<&str> = ["dedup"].into_iter().chain(names.iter().map(String::as_str)).collect();
    let expected = place.run(&all, "").quiet();
    let batches = || names.chunks(2).map(|batch| (batch, format!("{}.new", batch[0])));
    let outputs = || batches().map(|(_, output)| output);
    let (mut kills, mut delay, mut state) = (0, 0.001, 0x2545_F491_4F6C_DD1D_u64);
    // As the guide has it.
    'start: loop {
        if let Some(last) = outputs().rfind(|output| place.path(output).exists()) {
            place.run(&["dedup", "--seen", "seen.set", "--update", &last], "").quiet();
        }
        for (batch, output) in batches() {
            if place.path(&output).exists() {
                continue;
            }
            let args = ["dedup", "--seen", "seen.set", "--update", "-o", &output];
            let child = program(args).args(batch).current_dir(place.path("")).spawn().unwrap();
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            let share = (state >> 40) as f64 / (1 << 24) as f64;
            if !kill_after(child, Duration::from_secs_f64(delay * share)) {
                kills += 1;
                delay *= 1.03;
                continue 'start;
            }
        }
        break;
    }
    assert!(outputs().map(|output| place.read(&output)).collect::<String>() == expected);
    assert!(kills > 8, "killed {kills} times only");
}

/// Lets `update` add `in` to `s.set`, a set made with the arguments `made`, and kills it, that often; `look` is given
/// what was not in the set before, whenever it is then.
fn survives(kills: u32, made: &[&str], update: fn(&Place) -> Child, look: fn(&Place, &str)) {
    let place = Place::new(&[]);
    let create = |args: &[&str]| {
        place.run(&[&["set", "create"], made, args].concat(), "").quiet();
    };
    create(&["s.set"]);
    let export = |set: &str| place.run(&["set", "export", set], "").quiet();
    let (mut model, mut round, mut killed, mut done) = (export("s.set"), 0, 0, 0);
    // Kills after which the new set was there.
    let mut renewed = 0;
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    while killed < kills {
        round += 1;
        assert!(round < 40 * kills + 100, "runs are hardly ever killed");
        let new = uris(round * 2000..round * 2000 + 2500);
        fs::write(place.path("in"), &new).unwrap();
        // The set as it would be, by another way.
        let _ = fs::remove_dir_all(place.path("t.set"));
        let _ = fs::remove_dir_all(place.path("u.set"));
        let started = Instant::now();
        create(&["t.set", "in"]);
        // About as long as the run to be killed.
        let length = started.elapsed();
        place.run(&["set", "merge", "-o", "u.set", "s.set", "t.set"], "").quiet();
        let after = export("u.set");
        let unseen = place.run(&["dedup", "--seen", "s.set", "in"], "").quiet();
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        let _ = fs::remove_file(place.path("out"));
        let delay = length.mul_f64(1.2 * (state >> 40) as f64 / (1 << 24) as f64);
        let is_done = kill_after(update(&place), delay);
        *(if is_done { &mut done } else { &mut killed }) += 1;
        place.run(&["set", "verify", "s.set"], "").quiet();
        let found = export("s.set");
        assert!(
            found == after || (found == model && !is_done),
            "kill {killed}: neither old nor new"
        );
        renewed += u32::from(found == after && !is_done);
        if found == after {
            look(&place, &unseen);
        }
        model = found;
    }
    // All but the lock belongs to the set, once somebody has written to it.
    place.run(&["set", "add", "s.set"], "http://the-end/\n").quiet();
    let names: Vec<String> =
        files(&place.path("s.set")).into_iter().map(|(name, _)| name).collect();
    let stays = [".keys", ".times"];
    let stays = |name: &String| name == "set" || stays.iter().any(|end| name.ends_with(end));
    assert!(names.iter().all(stays), "{names:?}");
    eprintln!("killed {killed} times, {renewed} of them too late; came to its end {done} times");
}

#[test]
fn an_earlier_time_replaces_a_later_one() {
    let place = Place::new(&[("old", "http://a/\nhttp://b/\n"), ("new", "http://b/\nhttp://c/\n")]);
    let create = ["set", "create", "--first-seen", "--at", "2026-03-01", "s.set", "old"];
    place.run(&create, "").quiet();
    let since = || {
        let asked = "http://a/\nhttp://b/\nhttp://c/\n";
        let reported = place.run(&["set", "has", "--first-seen", "s.set"], asked).quiet();
        reported.lines().map(|line| line[..10].to_owned()).collect::<Vec<_>>()
    };
    for (time, expected) in [
        ("2026-02-01", ["2026-03-01", "2026-02-01", "2026-02-01"]),
        ("2026-02-15", ["2026-03-01", "2026-02-01", "2026-02-01"]),
        ("2026-01-01", ["2026-03-01", "2026-01-01", "2026-01-01"]),
    ] {
        place.run(&["set", "add", "--at", time, "s.set", "new"], "").quiet();
        assert_eq!(since(), expected, "{time}");
    }
    place.run(&["set", "verify", "s.set"], "");
}
