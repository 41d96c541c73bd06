//! A file that replaces another never grants more access than the old one.

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::path::Path;
use std::process::Command;

use crate::run::{Place, finish};

/// Users and groups that need not exist.
const USER: u32 = 61_001;
const OTHER: u32 = 61_002;

const LIST: &str = "a:1\na:1\nno uri\n";

/// All bits of the mode.
fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o7777
}

fn set_mode(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
}

fn owner(path: &Path) -> (u32, u32) {
    let metadata = fs::metadata(path).unwrap();
    (metadata.uid(), metadata.gid())
}

/// Whether this test may give files away; says so if not.
fn is_root() -> bool {
    let is_root = fs::metadata("/proc/self").is_ok_and(|it| it.uid() == 0);
    if !is_root {
        eprintln!("skipped: only root can give files to others");
    }
    is_root
}

/// The program as run by [`USER`] with the group of the same number; `None` where that cannot be.
fn by_user(place: &Place, args: &[&str]) -> Option<Command> {
    let has_setpriv = Command::new("setpriv").arg("--version").output().is_ok();
    if !is_root() || !has_setpriv {
        eprintln!("skipped: needs root and setpriv");
        return None;
    }
    // Those above the program are closed to others in some places.
    let copy = place.path("program");
    // Another process writes it: one that another test starts meanwhile would have it open for writing, and it could not be run.
    let copied = Command::new("cp").arg(env!("CARGO_BIN_EXE_uriscan")).arg(&copy).status();
    assert!(copied.unwrap().success());
    set_mode(&copy, 0o755);
    set_mode(&place.path(""), 0o777);
    let mut command = Command::new("setpriv");
    command.args(["--reuid", &USER.to_string(), "--regid", &USER.to_string(), "--clear-groups"]);
    command.arg(&copy).args(args).current_dir(place.path(""));
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    Some(command)
}

#[test]
fn no_output_keeps_bits_that_give_the_rights_of_its_owner() {
    let place = Place::new(&[("in", LIST)]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    for (args, name) in [
        (&["dedup", "in", "-o", "v"][..], "v"),
        (&["dedup", "in", "--dupes", "v"], "v"),
        (&["dedup", "in", "--clusters", "v"], "v"),
        (&["dedup", "in", "--rejects", "v"], "v"),
        (&["dedup", "in", "--report", "v", "-o", "o"], "v"),
        (&["dedup", "in", "--dupes", "v.parquet", "-o", "o"], "v.parquet"),
        (&["set", "export", "s.set", "-o", "v"], "v"),
        (&["rules", "-o", "v"], "v"),
        (&["explain", "a:1", "A:1", "-o", "v"], "v"),
        (&["dedup", "v", "-o", "v"], "v"),
    ] {
        for bits in [0o6755, 0o4711, 0o2770, 0o1666, 0o640] {
            let path = place.path(name);
            fs::write(&path, LIST).unwrap();
            set_mode(&path, bits);
            assert_eq!(place.run(args, "").code, 0, "{args:?}");
            assert_eq!(mode(&path), bits & 0o777, "{args:?} {bits:o}");
        }
    }
}

#[test]
fn a_file_stays_with_its_owner_and_its_group() {
    if !is_root() {
        return;
    }
    let place = Place::new(&[("in", LIST), ("v", "old")]);
    let path = place.path("v");
    chown(&path, Some(USER), Some(OTHER)).unwrap();
    set_mode(&path, 0o6755);
    std::os::unix::fs::symlink("v", place.path("link")).unwrap();
    for name in ["v", "./v", "link"] {
        assert_eq!(place.run(&["dedup", "in", "-o", name], "").code, 0);
        assert_eq!((owner(&path), mode(&path)), ((USER, OTHER), 0o755), "{name}");
    }
    // In place of itself, and where files need names while they are written.
    for plan in ["", "no-unnamed"] {
        set_mode(&path, 0o4640);
        let mut command = place.command(&["dedup", "v", "-o", "v"]);
        if !plan.is_empty() {
            command.env("URISCAN_FAULTS", plan);
        }
        assert_eq!(finish(command, "").code, 0);
        assert_eq!((owner(&path), mode(&path)), ((USER, OTHER), 0o640), "{plan}");
    }
}

#[test]
fn a_group_that_cannot_be_kept_is_allowed_nothing() {
    for (old, new) in [(0o666, 0o606), (0o662, 0o602), (0o667, 0o606), (0o2676, 0o606)] {
        let place = Place::new(&[("in", LIST), ("v", "old")]);
        let Some(command) = by_user(&place, &["dedup", "in", "-o", "v"]) else { return };
        let path = place.path("v");
        chown(&path, Some(OTHER), Some(OTHER)).unwrap();
        set_mode(&path, old);
        let ran = finish(command, "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert_eq!((owner(&path), mode(&path)), ((USER, USER), new), "{old:o}");
    }
}

#[test]
fn what_others_were_allowed_does_not_extend_to_a_group_that_was_denied_it() {
    let place = Place::new(&[("in", LIST), ("v", "old")]);
    let Some(command) = by_user(&place, &["dedup", "in", "-o", "v"]) else { return };
    let path = place.path("v");
    chown(&path, Some(USER), Some(OTHER)).unwrap();
    set_mode(&path, 0o604);
    assert_eq!(finish(command, "").code, 0);
    assert_eq!((owner(&path), mode(&path)), ((USER, USER), 0o600));
}

#[test]
fn new_files_and_directories_obey_the_umask() {
    for (umask, file, directory) in
        [("077", 0o600, 0o700), ("022", 0o644, 0o755), ("000", 0o666, 0o777), ("027", 0o640, 0o750)]
    {
        let place = Place::new(&[("in", LIST), ("t.csv", "url,n\na:1,1\n")]);
        let shell = |args: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", &format!("umask {umask}; exec \"$0\" {args}")]);
            command.arg(env!("CARGO_BIN_EXE_uriscan")).current_dir(place.path(""));
            command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
            assert_eq!(finish(command, "").code, 0, "{args}");
        };
        shell("dedup in -o new --dupes dupes --rejects bad");
        assert_eq!(["new", "dupes", "bad"].map(|name| mode(&place.path(name))), [file; 3]);
        shell("dedup --column url t.csv --partition-by n -o parts");
        let made = ["parts", "parts/n=1"].map(|name| mode(&place.path(name)));
        assert_eq!(made, [directory; 2], "{umask}");
        assert_eq!(mode(&place.path("parts/n=1/part-00000.csv")), file, "{umask}");
    }
}

#[test]
fn an_empty_directory_is_replaced_by_one_with_its_access() {
    for (old, new) in [(0o700, 0o700), (0o1777, 0o1777), (0o4755, 0o755), (0o2750, 0o2750)] {
        let place = Place::new(&[("t.csv", "url,n\na:1,1\n")]);
        let path = place.path("parts");
        fs::create_dir(&path).unwrap();
        let owned = if is_root() { (USER, OTHER) } else { owner(&path) };
        if is_root() {
            chown(&path, Some(USER), Some(OTHER)).unwrap();
        }
        set_mode(&path, old);
        let args = ["dedup", "--column", "url", "t.csv", "--partition-by", "n", "-o", "parts"];
        place.run(&args, "").quiet();
        assert_eq!((mode(&path), owner(&path)), (new, owned), "{old:o}");
        let file = owner(&path.join("n=1/part-00000.csv"));
        assert!(old & 0o2000 == 0 || file.1 == owned.1, "the directory gives its group");
    }
}

#[test]
fn other_names_of_a_file_keep_the_old_content() {
    let place = Place::new(&[("in", LIST), ("v", "old")]);
    fs::hard_link(place.path("v"), place.path("hard")).unwrap();
    set_mode(&place.path("v"), 0o4755);
    assert_eq!(place.run(&["dedup", "in", "-o", "v"], "").code, 0);
    assert_eq!((place.read("v"), place.read("hard")), ("a:1\nno uri\n".into(), "old".into()));
    assert_eq!([mode(&place.path("v")), mode(&place.path("hard"))], [0o755, 0o4755]);
}

#[test]
fn a_file_that_may_not_be_written_to_is_not_replaced() {
    let place = Place::new(&[("in", LIST), ("v", "old")]);
    let Some(command) = by_user(&place, &["dedup", "in", "-o", "v"]) else { return };
    set_mode(&place.path("v"), 0o644);
    let ran = finish(command, "");
    assert_eq!(ran.code, 2, "{}", ran.stderr);
    assert_eq!(place.read("v"), "old");
}

#[test]
fn the_list_of_a_set_stays_as_private_as_it_was() {
    let place = Place::new(&[("in", LIST), ("more", "b:1\n")]);
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    let list = place.path("s.set/set");
    set_mode(&list, 0o6600);
    if is_root() {
        chown(&list, Some(USER), Some(OTHER)).unwrap();
        set_mode(&list, 0o6600);
    }
    let before = owner(&list);
    place.run(&["set", "add", "s.set", "more"], "").quiet();
    assert_eq!((mode(&list), owner(&list)), (0o600, before));
}

#[test]
fn keys_and_times_stay_as_private_as_those_that_they_replace() {
    let place = Place::new(&[("in", LIST), ("more", "b:1\n"), ("page", "c:1\n")]);
    let files = |set: &str| {
        let entries = fs::read_dir(place.path(set)).unwrap();
        let paths = entries.map(|entry| entry.unwrap().path());
        paths.filter(|path| path.extension().is_some()).collect::<Vec<_>>()
    };
    place.run(&["set", "create", "s.set", "in"], "").quiet();
    place
        .run(&["set", "create", "t.set", "in", "--first-seen", "--at", "2020-01-01T00:00:00Z"], "")
        .quiet();
    for (set, bits, change) in [
        ("s.set", 0o600, "set add s.set more"),
        ("s.set", 0o640, "set remove s.set more"),
        ("s.set", 0o600, "dedup --seen s.set --update page"),
        ("s.set", 0o600, "set touch s.set"),
        ("t.set", 0o600, "set add t.set more"),
        ("t.set", 0o600, "set prune t.set --older-than 30d"),
        ("t.set", 0o600, "dedup --seen t.set --update page"),
    ] {
        files(set).iter().for_each(|path| set_mode(path, bits));
        let (before, ran) = (files(set), place.run(&change.split(' ').collect::<Vec<_>>(), ""));
        assert_eq!(ran.code, 0, "{change}: {}", ran.stderr);
        let after = files(set);
        assert_ne!(before, after, "{change}");
        assert!(after.iter().all(|path| mode(path) == bits), "{change}");
    }
    // Those of a set whose list is private are private.
    place.run(&["set", "create", "u.set"], "").quiet();
    set_mode(&place.path("u.set/set"), 0o400);
    place.run(&["set", "add", "u.set", "in"], "").quiet();
    assert_eq!(files("u.set").iter().map(|path| mode(path)).collect::<Vec<_>>(), [0o400]);
}

#[test]
fn a_link_that_another_user_has_put_into_a_shared_directory_is_not_followed() {
    if !is_root() {
        return;
    }
    let place = Place::new(&[("in", LIST), ("mine", "mine"), ("t.csv", "url,n\na:1,1\n")]);
    let shared = place.path("shared");
    fs::create_dir(&shared).unwrap();
    fs::create_dir(place.path("empty")).unwrap();
    set_mode(&shared, 0o1777);
    for target in ["mine", "new", "empty"] {
        let link = shared.join(target);
        std::os::unix::fs::symlink(place.path(target), &link).unwrap();
        std::os::unix::fs::lchown(&link, Some(USER), Some(USER)).unwrap();
    }
    std::os::unix::fs::symlink("shared/mine", place.path("own")).unwrap();
    // On the way, by one's own link, by a link in a directory that is not shared, and to a set.
    for (link, target) in [("way", "."), ("keys", "old.set"), ("later", "new.set")] {
        std::os::unix::fs::symlink(place.path(target), shared.join(link)).unwrap();
        std::os::unix::fs::lchown(shared.join(link), Some(USER), Some(USER)).unwrap();
    }
    std::os::unix::fs::symlink("shared/way", place.path("own-way")).unwrap();
    place.run(&["set", "create", "old.set", "in"], "").quiet();
    let before = place.names();
    for args in [
        &["dedup", "in", "-o", "shared/mine"][..],
        &["dedup", "in", "-o", "own"],
        &["dedup", "in", "-o", "shared/new"],
        &["dedup", "in", "--dupes", "shared/mine"],
        &["dedup", "in", "--report", "shared/new"],
        &["dedup", "--column", "url", "t.csv", "--partition-by", "n", "-o", "shared/empty"],
        &["dedup", "--column", "url", "t.csv", "--partition-by", "n", "-o", "shared/new"],
        &["dedup", "in", "-o", "shared/way/mine"],
        &["dedup", "in", "-o", "own-way/mine"],
        &["dedup", "in", "-o", "shared/way/shared/way/new"],
        &["dedup", "in", "-o", "shared/way/fresh"],
        &["dedup", "in", "--clusters", "./shared/../shared/way/fresh"],
        &["dedup", "--column", "url", "t.csv", "--partition-by", "n", "-o", "shared/way/empty"],
        &["set", "create", "shared/later", "in"],
        &["set", "add", "shared/keys", "t.csv"],
        &["set", "compact", "shared/keys"],
        &["set", "create", "shared/way/new.set", "in"],
        &["set", "split", "old.set", "--bits", "1", "-o", "shared/way/pieces"],
        &["set", "split", "old.set", "--bits", "1", "-o", "shared/later"],
        &["man", "shared/way/pages"],
        &["dedup", "--seen", "shared/keys", "--update", "in"],
        &["dedup", "--seen", "shared/later", "--update", "in"],
    ] {
        let ran = place.run(args, "");
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains("another user") || ran.stderr.contains("denied"), "{ran:?}");
        assert_eq!((place.read("mine").as_str(), place.names()), ("mine", before.clone()));
    }
    // One's own links are followed, and those of whom the directory belongs to.
    std::os::unix::fs::lchown(shared.join("mine"), Some(0), Some(0)).unwrap();
    assert_eq!(place.run(&["dedup", "in", "-o", "shared/mine"], "").code, 0);
    assert_ne!(place.read("mine"), "mine");
    std::os::unix::fs::lchown(shared.join("way"), Some(0), Some(0)).unwrap();
    assert_eq!(place.run(&["dedup", "in", "-o", "own-way/shared/way/fresh"], "").code, 0);
    assert!(place.path("fresh").is_file());
    // To read from is another matter.
    assert_eq!(place.run(&["dedup", "--seen", "shared/keys", "in"], "").code, 0);
}

#[test]
fn other_attributes_of_a_file_are_not_kept() {
    let place = Place::new(&[("in", LIST), ("out", "old")]);
    let python = |code: &str| {
        let path = place.path("out");
        let ran = Command::new("python3").args(["-c", code]).arg(path).output();
        ran.is_ok_and(|ran| ran.status.success())
    };
    if !python("import os, sys; os.setxattr(sys.argv[1], 'user.x', b'y')") {
        return;
    }
    place.run(&["dedup", "in", "-o", "out"], "").quiet();
    assert!(python("import os, sys; assert 'user.x' not in os.listxattr(sys.argv[1])"));
}
