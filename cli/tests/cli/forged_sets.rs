//! Directories that are not sets, and sets that somebody made to mislead: refused by every command, and nothing is touched.

use std::fs;

use crate::run::Place;
use crate::sets::{files, uris};

/// All that reads or changes the set `s.set`, by the records of the file `in`.
const ALL_COMMANDS: [&[&str]; 12] = [
    &["dedup", "--seen", "s.set", "in"],
    &["dedup", "--seen", "s.set", "--update", "in"],
    &["set", "has", "s.set", "in"],
    &["set", "add", "s.set", "in"],
    &["set", "merge", "-o", "t.set", "s.set"],
    &["set", "merge", "-o", "t.set", "o.set", "s.set"],
    &["set", "intersect", "-o", "t.set", "s.set", "s.set"],
    &["set", "diff", "-o", "t.set", "s.set", "o.set"],
    &["set", "diff", "-o", "t.set", "o.set", "s.set"],
    &["set", "export", "s.set", "-o", "keys"],
    &["set", "export", "s.set"],
    &["set", "import", "s.set", "given"],
];

/// Replaces the manifest of `s.set` by what `change` makes of it, with the checksum that it ought to have.
fn change_manifest(place: &Place, change: impl FnOnce(&str) -> String) {
    let path = place.path("s.set/set");
    let text = change(&fs::read_to_string(&path).unwrap());
    let body = &text[..text.rfind("check ").unwrap()];
    let check = xxhash_rust::xxh3::xxh3_64(body.as_bytes());
    fs::write(path, format!("{body}check {check:016x}\n")).unwrap();
}

#[test]
fn keys_out_of_order_are_refused_by_all_who_read_them() {
    use xxhash_rust::xxh3::xxh3_64;
    let place = Place::new(&[("in", &uris(0..3000))]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    place.run(&["set", "create", "o.set", "in"], "").quiet();
    let given = place.run(&["set", "export", "s.set"], "").quiet();
    fs::write(place.path("given"), given).unwrap();
    let (name, mut bytes) = files(&place.path("s.set")).remove(0);
    // Two keys change places, and all checksums and names are made right.
    let end = 4096 + 3000 * 16;
    for i in 0..16 {
        bytes.swap(20_000 + i, 20_016 + i);
    }
    let checks: Vec<u8> =
        bytes[4096..end].chunks(4096).flat_map(|block| xxh3_64(block).to_be_bytes()).collect();
    bytes[end..].copy_from_slice(&checks);
    bytes[24..32].copy_from_slice(&xxh3_64(&checks).to_be_bytes());
    let digest = blake3::hash(&bytes[4096..end]);
    bytes[32..48].copy_from_slice(&digest.as_bytes()[..16]);
    let check = xxh3_64(&bytes[..4088]);
    bytes[4088..4096].copy_from_slice(&check.to_be_bytes());
    let new_name = format!("{}.keys", &digest.to_hex()[..32]);
    fs::remove_file(place.path("s.set").join(&name)).unwrap();
    fs::write(place.path("s.set").join(&new_name), bytes).unwrap();
    change_manifest(&place, |text| text.replace(&name, &new_name));

    let expected = format!("{new_name}: damaged at byte 20016: the keys do not rise; restore");
    let before = files(&place.path("s.set"));
    for args in ALL_COMMANDS {
        let ran = place.run(args, "");
        assert!(ran.stderr.contains(&expected), "{args:?}: {}", ran.stderr);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(files(&place.path("s.set")) == before, "{args:?}");
    }
    assert_eq!(place.names(), ["given", "in", "o.set", "s.set"]);
    let verify = place.run(&["set", "verify", "s.set"], "");
    assert!(verify.code == 1 && verify.stderr.contains(&expected), "{}", verify.stderr);
}

#[test]
fn no_manifest_leads_out_of_its_set() {
    let place = Place::new(&[("in", &uris(0..300))]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    place.run(&["set", "create", "o.set", "in"], "").quiet();
    place.run(&["set", "export", "o.set", "-o", "given"], "").quiet();
    place.run(&["set", "add", "s.set"], "http://another/\n").quiet();
    let whole = fs::read_to_string(place.path("s.set/set")).unwrap();
    let (name, run) = files(&place.path("s.set")).remove(0);
    fs::write(place.path(&name), run).unwrap();
    let names = place.names();
    for other in [format!("../{name}"), place.path(&name).display().to_string()] {
        change_manifest(&place, |text| text.replace(&name, &other));
        for args in [&["set", "compact", "s.set"][..]].into_iter().chain(ALL_COMMANDS) {
            let message = place.run(args, "").refused();
            assert!(message.contains("set/set: damaged at byte "), "{message}");
            assert!(message.contains("this line is not that of a run"), "{message}");
        }
        fs::write(place.path("s.set/set"), &whole).unwrap();
    }
    place.run(&["set", "compact", "s.set"], "").quiet();
    assert_eq!(place.names(), names);
}

#[test]
fn a_set_is_made_where_nothing_else_is() {
    let place = Place::new(&[("in", "http://a/\n")]);
    let mine = ["lock", "notes.keys", "notes.times", "notes.partial"];
    fs::create_dir(place.path("s.set")).unwrap();
    for name in mine {
        fs::write(place.path("s.set").join(name), name).unwrap();
    }
    for args in
        [&["set", "create", "s.set", "in"][..], &["dedup", "--seen", "s.set", "--update", "in"]]
    {
        let message = place.run(args, "").refused();
        assert!(message.contains("this directory holds other files"), "{message}");
        assert_eq!(fs::read_dir(place.path("s.set")).unwrap().count(), mine.len());
    }
    // An empty one is as good as none, and so is one that a kill left before there was a set.
    for left in [&[][..], &[("lock", "")], &[("lock", ""), ("set", "uriscan set 2\nbegun\n")]] {
        fs::remove_dir_all(place.path("s.set")).unwrap();
        fs::create_dir(place.path("s.set")).unwrap();
        for (name, text) in left {
            fs::write(place.path("s.set").join(name), text).unwrap();
        }
        place.run(&["set", "create", "s.set", "in"], "").quiet();
        place.run(&["set", "verify", "s.set"], "").quiet();
    }
}

#[test]
fn sets_of_other_formats_are_refused_by_all() {
    let place = Place::new(&[("in", "http://a/\n"), ("given", "")]);
    place.run(&["set", "create", "o.set", "in"], "").quiet();
    fs::create_dir(place.path("s.set")).unwrap();
    fs::write(place.path("s.set/set"), "uriscan set 1\nruns 0\n").unwrap();
    let others =
        [&["set", "compact", "s.set"][..], &["set", "verify", "s.set"], &["set", "stats", "s.set"]];
    for args in others.into_iter().chain(ALL_COMMANDS) {
        if args[1] == "import" {
            continue;
        }
        let message = place.run(args, "").refused();
        let expected = "s.set: a set of format 1, which this version does not support";
        assert!(message.ends_with(expected), "{args:?}: {message}");
    }
}

#[cfg(unix)]
#[test]
fn links_in_a_set_are_refused() {
    let place = Place::new(&[("in", "http://a/\n"), ("given", "")]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    fs::write(place.path("precious"), "precious").unwrap();
    for (name, target) in [("set", "/dev/zero"), ("set", "../precious"), ("lock", "../precious")] {
        let (path, away) = (place.path("s.set").join(name), place.path("away"));
        fs::rename(&path, &away).unwrap();
        std::os::unix::fs::symlink(target, &path).unwrap();
        let message = place.run(&["set", "add", "s.set", "in"], "").refused();
        assert!(message.contains(&format!("s.set/{name}: not a regular file")), "{message}");
        fs::rename(&away, &path).unwrap();
    }
    assert_eq!(place.read("precious"), "precious");
    place.run(&["set", "add", "s.set", "in"], "").quiet();
}
