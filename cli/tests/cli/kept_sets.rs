//! Sets that people keep: damage, what is not a set, keys that are removed, and times.

use std::fs;

use crate::run::Place;
use crate::sets::{files, uris};

#[test]
fn every_kind_of_damage_is_an_answer_of_verify() {
    let place = Place::new(&[("in", &uris(0..3000))]);
    let create = ["set", "create", "--first-seen", "--at", "2026-03-01", "s.set", "in"];
    place.run(&create, "").quiet();
    place.run(&["set", "add", "s.set"], "http://another/\n").quiet();
    let whole = files(&place.path("s.set"));
    let verify = |what: &str| {
        let ran = place.run(&["set", "verify", "s.set"], "");
        assert_eq!((ran.code, ran.text()), (1, ""), "{what}: {}", ran.stderr);
        assert!(
            ran.stderr.lines().all(|line| line.starts_with("uriscan: s.set/")),
            "{}",
            ran.stderr
        );
        ran.stderr
    };
    for (name, bytes) in &whole {
        let file = place.path("s.set").join(name);
        for len in [0, 1, 13, 16, 20, 4096, bytes.len() / 2, bytes.len() - 1] {
            fs::write(&file, &bytes[..len.min(bytes.len() - 1)]).unwrap();
            verify(&format!("{name} ends at {len}"));
        }
        for at in [0, 12, 14, 40, 5000, bytes.len() - 1] {
            let mut flipped = bytes.clone();
            flipped[at.min(bytes.len() - 1)] ^= 1;
            fs::write(&file, flipped).unwrap();
            verify(&format!("{name} is changed at {at}"));
        }
        for text in [&b"mine"[..], b"\xff\xfe", &[0; 5000]] {
            fs::write(&file, text).unwrap();
            verify(&format!("{name} is another file"));
        }
        fs::remove_file(&file).unwrap();
        let reported = verify(&format!("{name} is missing"));
        assert!(
            reported
                .contains(&format!("{name}: damaged at byte 0: this file of the set is missing"))
        );
        fs::create_dir(&file).unwrap();
        assert!(verify("a directory").contains("not a regular file"));
        fs::remove_dir(&file).unwrap();
        fs::write(&file, bytes).unwrap();
    }
    // All of it is reported, not the first alone.
    for (name, bytes) in whole.iter().filter(|(name, _)| name != "set") {
        fs::write(place.path("s.set").join(name), &bytes[1..]).unwrap();
    }
    assert_eq!(verify("all runs").lines().count(), 2);
    for (name, bytes) in &whole {
        fs::write(place.path("s.set").join(name), bytes).unwrap();
    }
    place.run(&["set", "verify", "s.set"], "").quiet();
}

#[test]
fn verify_cannot_answer_where_it_cannot_look() {
    let place = Place::new(&[("file", "http://a/\n")]);
    fs::create_dir_all(place.path("other/set")).unwrap();
    fs::create_dir(place.path("empty")).unwrap();
    for (name, expected) in [
        ("nothing", "nothing: does not exist"),
        ("file", "file: not a key set: it is a file"),
        ("empty", "empty: is an empty directory, not a key set"),
        ("other", "other: not a key set: this directory holds other files"),
        (".", ".: not a key set: this directory holds other files"),
    ] {
        let message = place.run(&["set", "verify", name], "").refused();
        assert!(message.contains(expected), "{message}");
    }
}

#[test]
fn a_missing_set_is_called_missing_and_what_creates_it_is_named() {
    let place = Place::new(&[("in", "http://a/\n"), ("t.csv", "url\nhttp://a/\n")]);
    fs::create_dir(place.path("empty")).unwrap();
    fs::create_dir(place.path("begun")).unwrap();
    fs::write(place.path("begun/lock"), "").unwrap();
    fs::write(place.path("begun/set"), "uriscan set 2\nbegun\n").unwrap();
    let states = [
        ("no.set", "no.set: does not exist"),
        ("empty", "empty: is an empty directory, not a key set"),
        ("begun", "begun: is empty: the run that was to create this set did not complete it"),
    ];
    for (name, state) in states {
        for args in [
            &["dedup", "--seen", name, "in"][..],
            &["dedup", "-c", "--seen", name, "in"],
            &["dedup", "--column", "url", "--seen", name, "t.csv"],
        ] {
            let message = place.run(args, "").refused();
            assert_eq!(message, format!("uriscan: {state}; add --update to create it"), "{args:?}");
        }
        for args in [
            &["set", "has", name, "in"][..],
            &["set", "add", name, "in"],
            &["set", "remove", name, "in"],
            &["set", "stats", name],
            &["set", "prune", "--older-than", "1d", name],
        ] {
            let message = place.run(args, "").refused();
            let expected = format!("uriscan: {state}; `uriscan set create` creates it");
            assert_eq!(message, expected, "{args:?}");
        }
    }
    // It is not damaged either, and goes on.
    let verify = place.run(&["set", "verify", "begun"], "");
    assert_eq!((verify.code, verify.text()), (0, ""));
    assert!(verify.stderr.contains("begun: is empty: the run"), "{}", verify.stderr);
    for (name, _) in states {
        let ran = place.run(&["dedup", "--seen", name, "--update", "in"], "");
        assert_eq!(ran.quiet(), "http://a/\n");
        assert_eq!(place.run(&["dedup", "--seen", name, "in"], "").quiet(), "");
    }
    // What is something else stays as it is.
    let message = place.run(&["dedup", "--seen", "in", "--update", "in"], "").refused();
    assert!(
        message.ends_with("in: not a key set: it is a file, and a set is a directory"),
        "{message}"
    );
    assert_eq!(place.read("in"), "http://a/\n");
}

#[test]
fn removed_uris_are_new_again() {
    let list = "http://a/\nhttp://b/\nhttp://c/\na b\n";
    let place =
        Place::new(&[("in", list), ("gone", "HTTP://B:80\nhttp://nobody/\nHTTP://b\na b\n")]);
    place.run(&["dedup", "--seen", "s.set", "--update", "in"], "").quiet();
    let removed = place.run(&["set", "remove", "s.set", "gone"], "").quiet();
    assert_eq!(removed, "removed 2 of 3 keys; 2 left\n");
    let new = place.run(&["dedup", "--seen", "s.set", "--update", "in"], "").quiet();
    assert_eq!(new, "http://b/\na b\n");
    place.run(&["set", "verify", "s.set"], "").quiet();
    // From the command line, from standard input, and as links of a page.
    for (args, input, expected) in [
        (&["-e", "http://a", "-e", "http://b"][..], "", "removed 2 of 2 keys; 2 left\n"),
        (&[], "HTTP://A/\n", "removed 0 of 1 key; 2 left\n"),
        (&["--extract"], "<a href='http://c'>c</a>", "removed 1 of 1 key; 1 left\n"),
        (&["--on-invalid", "drop"], "a b\n", "removed 0 of 0 keys; 1 left\n"),
        (&[], "", "removed 0 of 0 keys; 1 left\n"),
    ] {
        let ran = place.run(&[&["set", "remove", "s.set"], args].concat(), input);
        assert_eq!(ran.quiet(), expected, "{args:?}");
    }
    let summary = ["set", "remove", "s.set", "--stats=json", "in"];
    let ran = place.run(&summary, "");
    let json: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&json["command"], &json["set_removed"]), (&"set remove".into(), &1.into()));
    assert_eq!((&json["set_keys"], &json["set_added"]), (&0.into(), &serde_json::Value::Null));
    place.run(&["set", "verify", "s.set"], "").quiet();
    assert!(place.run(&["set", "stats", "s.set"], "").quiet().contains("keys   0\n"));
}

#[test]
fn keys_are_removed_as_they_are_written() {
    let place = Place::new(&[]);
    for (name, more) in [("s.set", &[][..]), ("dated.set", &["--first-seen"][..])] {
        place.run(&[&["set", "create", name], more].concat(), &uris(0..100)).quiet();
    }
    place.run(&["set", "create", "other.set", "--level", "syntax"], &uris(0..10)).quiet();
    place.run(&["set", "create", "half.set", "--first-seen"], &uris(50..150)).quiet();
    let remove = |args: &[&str], input: &str| {
        place.run(&[&["set", "remove", "--keys"], args].concat(), input)
    };
    let keys = place.run(&["key"], &uris(0..3)).quiet();
    assert_eq!(remove(&["s.set"], &keys).quiet(), "removed 3 of 3 keys; 97 left\n");
    let keys = place.run(&["set", "export", "half.set", "-o", "half"], "").quiet();
    assert_eq!(keys, "");
    for set in ["s.set", "dated.set"] {
        assert!(
            remove(&[set, "half"], "").quiet().starts_with("removed 50 of 100 keys; "),
            "{set}"
        );
    }
    let other = place.run(&["set", "export", "other.set"], "").quiet();
    for (input, what) in [
        (&*other, "level"),
        ("http://a/\n", "-:1: expected a key of 32 hexadecimal digits"),
        ("# keys 2\n00000000000000000000000000000001\n", "it declares 2"),
    ] {
        let before = files(&place.path("s.set"));
        let message = remove(&["s.set"], input).refused();
        assert!(message.contains(what), "{message}");
        assert!(files(&place.path("s.set")) == before);
    }
    for more in [&["--level", "syntax"][..], &["-e", "a:b"], &["--extract"], &["--stats"]] {
        let message = remove(&[&["s.set"], more].concat(), "").stderr;
        assert!(message.contains("cannot be used with"), "{message}");
    }
}

#[test]
fn what_was_first_seen_long_ago_is_pruned() {
    let place = Place::new(&[("old", &uris(0..40)), ("new", &uris(40..100))]);
    let create = ["set", "create", "--first-seen", "--at", "2026-03-01", "s.set", "old"];
    place.run(&create, "").quiet();
    place.run(&["set", "add", "--at", "2026-03-02", "s.set", "new"], "").quiet();
    place.run(&["set", "add", "s.set"], "http://today/\n").quiet();
    let prune = |age: &str| place.run(&["set", "prune", "s.set", "--older-than", age], "");
    let reported = |count: &str, time: &str, left: u64| {
        format!("removed {count} first seen before {time}; {left} left\n")
    };
    let text = prune("2026-03-01").quiet();
    assert_eq!(text, reported("0 keys", "2026-03-01T00:00:00Z", 101), "that time itself stays");
    assert!(prune("100y").quiet().starts_with("removed 0 keys "));
    let text = prune("2026-03-01T00:00:01Z").quiet();
    assert_eq!(text, reported("40 keys", "2026-03-01T00:00:01Z", 61));
    assert_eq!(place.run(&["dedup", "--seen", "s.set", "old", "new"], "").quiet(), uris(0..40));
    let text = prune("36h").quiet();
    assert!(text.starts_with("removed 60 keys first seen before ") && text.ends_with("; 1 left\n"));
    place.run(&["set", "verify", "s.set"], "").quiet();
    for age in ["30", "1m", "tomorrow", "2099-01-01", "-1d", ""] {
        assert_eq!(prune(age).code, 2, "{age}");
    }
    assert_eq!(place.run(&["set", "prune", "s.set"], "").code, 2);
    let left = place.run(&["set", "has", "s.set"], "http://today/\n").quiet();
    assert_eq!(left, "http://today/\n");
}

#[test]
fn a_set_without_times_is_given_some() {
    let place = Place::new(&[("in", &uris(0..40))]);
    place.run(&["dedup", "--seen", "s.set", "--update", "in"], "").quiet();
    let prune = |age: &str| place.run(&["set", "prune", "s.set", "--older-than", age], "");
    let message = prune("0d").refused();
    assert!(
        message.contains("s.set: does not record when") && message.contains("`uriscan set touch`")
    );
    let message = place.run(&["set", "has", "--first-seen", "s.set", "in"], "").refused();
    assert!(message.contains("`uriscan set touch`"), "{message}");
    place.run(&["set", "touch", "s.set"], "").quiet();
    assert!(prune("1d").quiet().starts_with("removed 0 keys"), "they count as seen now");
    let seen = place.run(&["set", "has", "--first-seen", "s.set", "in"], "").quiet();
    assert_eq!(seen.lines().count(), 40);
    place.run(&["set", "verify", "s.set"], "").quiet();
    let message = place.run(&["set", "touch", "s.set", "--at", "2026-03-01"], "").refused();
    assert!(message.contains("s.set: already records when its keys were first seen"), "{message}");
    // At a time, with later keys at theirs.
    place.run(&["set", "create", "t.set", "in"], "").quiet();
    place.run(&["set", "touch", "t.set", "--at", "2026-03-01"], "").quiet();
    place.run(&["dedup", "--seen", "t.set", "--update"], "http://new/\n").quiet();
    let args = ["set", "prune", "--older-than", "1d", "t.set"];
    assert!(place.run(&args, "").quiet().starts_with("removed 40 keys "));
    // A set with times and one that got them are combined.
    place.run(&["set", "merge", "-o", "u.set", "s.set", "t.set"], "").quiet();
    assert!(place.run(&["set", "stats", "u.set"], "").quiet().contains("keys   41\n"));
}
