//! Directories that are not sets, sets with files that sets do not have, and files of killed
//! writers.

use std::fs;
use std::path::Path;

use super::{add, files, key, made, meaning};
use crate::set::{Fault, KeySet, SetError, SetWriter, verify};

/// Every file below `directory`, with its content; for links and directories, their kind.
fn everything(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut all = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let kind = fs::symlink_metadata(&path).unwrap().file_type();
        let name = path.display().to_string();
        if kind.is_dir() {
            all.extend(everything(&path));
            all.push((name, b"a directory".to_vec()));
        } else if kind.is_file() {
            all.push((name, fs::read(&path).unwrap()));
        } else {
            all.push((name, b"something else".to_vec()));
        }
    }
    all.sort();
    all
}

fn fault(result: Result<impl Sized, SetError>) -> Fault {
    match result {
        Ok(_) => panic!("this must be rejected"),
        Err(error) => error.fault,
    }
}

/// Names that resemble those of sets, but belong to other files.
const OTHERS: [&str; 10] = [
    "mine.keys",
    "00ff.keys",
    "mine.times",
    "mine.partial",
    "new-x.partial",
    "new-abcdefg.partial",
    "old-abcdef.partial",
    "set-abc-ef.partial",
    "000000000000000000000000000000AB.keys",
    "000000000000000000000000000000ab.keys.old",
];

#[test]
fn files_of_killed_writers_are_removed_and_nothing_else() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..100));
    for name in OTHERS {
        fs::write(path.join(name), name).unwrap();
    }
    // Named like files of sets, but not such files.
    for name in ["set-aaaaaa.partial", "0123456789abcdef0123456789abcdef.keys"] {
        fs::create_dir(path.join(name)).unwrap();
    }
    let expected = everything(&path);

    let digits = "0123456789abcdef";
    fs::write(path.join("new-a1B2c3.partial"), "half").unwrap();
    fs::write(path.join("set-a1B2c3.partial"), "half").unwrap();
    fs::write(path.join(format!("{digits}00000000000000ff.keys")), "in no set").unwrap();
    fs::write(path.join(format!("{digits}00000000000000ff.times")), "in no set").unwrap();
    assert_eq!(KeySet::open(&path).unwrap().len(), 100);
    drop(SetWriter::open(&path).unwrap());
    assert!(everything(&path) == expected);
}

#[test]
fn a_set_whose_creation_was_interrupted_is_created_again() {
    let directory = tempfile::tempdir().unwrap();
    // The state after a kill at each moment.
    let left: [&[(&str, &str)]; 5] = [
        &[],
        &[("lock", "")],
        &[("lock", ""), ("set", "")],
        &[("lock", ""), ("set", "uriscan set 2\nbe")],
        &[
            ("lock", ""),
            ("set", "uriscan set 2\nbegun\n"),
            ("new-a1B2c3.partial", "half"),
            ("set-a1B2c3.partial", "half"),
            ("0123456789abcdef0123456789abcdef.keys", "a run"),
        ],
    ];
    for (i, files) in left.into_iter().enumerate() {
        let path = directory.path().join(i.to_string());
        fs::create_dir(&path).unwrap();
        for (name, content) in files {
            fs::write(path.join(name), content).unwrap();
        }
        let is_begun = i > 0;
        let is_empty = |fault| matches!(fault, Fault::Empty { is_begun: it } if it == is_begun);
        assert!(is_empty(fault(KeySet::open(&path))), "{i}");
        assert!(is_empty(fault(SetWriter::open(&path))), "{i}");
        assert!(is_empty(fault(verify(&path))), "{i}");
        drop(SetWriter::create(&path, meaning()).unwrap());
        assert!(!path.exists(), "{i}: nothing remains of the failed creation");
        fs::create_dir(&path).unwrap();
        for (name, content) in files {
            fs::write(path.join(name), content).unwrap();
        }
        assert_eq!(made(&path, 0..3).len(), 3, "{i}");
        assert_eq!(super::files(&path).len(), 2, "{i}");
    }
    // Only one process creates it.
    let path = directory.path().join("busy");
    let writer = SetWriter::create(&path, meaning()).unwrap();
    assert!(matches!(fault(KeySet::open(&path)), Fault::Empty { is_begun: true }));
    assert!(matches!(fault(SetWriter::create(&path, meaning())), Fault::Busy));
    // Files that others put there meanwhile stay.
    fs::write(path.join("mine.keys"), "").unwrap();
    drop(writer);
    assert_eq!(everything(&path).len(), 1);
}

#[test]
fn a_directory_with_other_files_is_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let names = ["new-a1B2c3.partial", "0123456789abcdef0123456789abcdef.keys", "mine"];
    for name in names.into_iter().chain(OTHERS) {
        for beside in [None, Some(("lock", "")), Some(("set", "")), Some(("set", "uriscan"))] {
            fs::create_dir(&path).unwrap();
            fs::write(path.join(name), "precious").unwrap();
            if let Some((name, content)) = beside {
                fs::write(path.join(name), content).unwrap();
            }
            let before = everything(&path);
            let refused = fault(SetWriter::create(&path, meaning()));
            assert!(matches!(refused, Fault::NotEmpty), "{name} {beside:?}: {refused:?}");
            assert!(SetWriter::open(&path).is_err());
            assert!(everything(&path) == before, "{name} {beside:?}");
            fs::remove_dir_all(&path).unwrap();
        }
    }
    // Nor is a lock with content.
    fs::create_dir(&path).unwrap();
    fs::write(path.join("lock"), "mine").unwrap();
    assert!(matches!(fault(SetWriter::create(&path, meaning())), Fault::NotEmpty));
    // Nor a file `set` of something else.
    fs::remove_file(path.join("lock")).unwrap();
    fs::write(path.join("set"), "mine").unwrap();
    assert!(matches!(fault(SetWriter::create(&path, meaning())), Fault::Exists));
    assert_eq!(everything(&path).len(), 1);
    // Nor a file.
    assert!(matches!(fault(SetWriter::create(&path.join("set"), meaning())), Fault::Exists));
}

#[test]
fn what_is_not_a_set_is_called_what_it_is() {
    let directory = tempfile::tempdir().unwrap();
    let at = |name: &str| directory.path().join(name);
    fs::write(at("file"), "http://a/\n").unwrap();
    for (name, files) in [
        ("other", &["notes", "mine.keys"][..]),
        ("sub", &["set/x"]),
        ("empty-file", &["set", "notes"]),
    ] {
        for file in files {
            let path = at(name).join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, "").unwrap();
        }
    }
    fs::create_dir(at("empty")).unwrap();
    for (name, expected, is_vacant) in [
        ("nothing", "does not exist", true),
        ("file/nothing", "Not a directory", false),
        ("empty", "is an empty directory, not a key set", true),
        ("file", "not a key set: it is a file", false),
        ("other", "not a key set: this directory holds other files", false),
        ("sub", "not a key set: this directory holds other files", false),
        ("empty-file", "not a key set: this directory holds other files", false),
    ] {
        for error in [
            KeySet::open(&at(name)).unwrap_err(),
            SetWriter::open(&at(name)).unwrap_err(),
            verify(&at(name)).unwrap_err(),
        ] {
            assert!(error.to_string().contains(expected), "{name}: {error}");
            assert_eq!((error.is_vacant(), error.is_damage()), (is_vacant, false), "{name}");
        }
    }
}

#[cfg(unix)]
#[test]
fn files_that_are_not_regular_are_rejected() {
    use std::os::unix::fs::symlink;
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mut set = SetWriter::create_dated(&path, meaning()).unwrap();
    add(&mut set, 0..600, 1 << 20);
    drop(set);
    let elsewhere = directory.path().join("elsewhere");
    fs::create_dir(&elsewhere).unwrap();
    let names: Vec<String> = files(&path).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names.len(), 3);
    for name in names.iter().map(String::as_str).chain(["lock"]) {
        let (file, away) = (path.join(name), elsewhere.join(name));
        fs::rename(&file, &away).unwrap();
        let refused = |what: &str| {
            let before = everything(directory.path());
            // A reader needs no lock.
            if name == "lock" {
                KeySet::open(&path).unwrap();
            } else {
                let refused = fault(KeySet::open(&path));
                assert!(matches!(refused, Fault::NotRegular), "{name} {what}: {refused:?}");
            }
            let refused = fault(SetWriter::open(&path));
            assert!(matches!(refused, Fault::NotRegular), "{name} {what}: {refused:?}");
            assert!(SetWriter::create(&path, meaning()).is_err());
            assert!(everything(directory.path()) == before, "{name} {what}");
        };
        for target in [&*away, Path::new("/dev/zero"), Path::new("nowhere"), &*elsewhere] {
            symlink(target, &file).unwrap();
            refused(&format!("to {}", target.display()));
            fs::remove_file(&file).unwrap();
        }
        fs::create_dir(&file).unwrap();
        refused("a directory");
        fs::remove_dir(&file).unwrap();
        use rustix::fs::{CWD, FileType, Mode, mknodat};
        mknodat(CWD, &file, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        refused("a pipe");
        fs::remove_file(&file).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(&file).unwrap();
        refused("a socket");
        fs::remove_file(&file).unwrap();
        fs::rename(&away, &file).unwrap();
    }
    assert_eq!(KeySet::open(&path).unwrap().len(), 600);
    // The directory itself may be a link: that is the user's choice.
    symlink(&path, directory.path().join("link")).unwrap();
    assert!(SetWriter::open(&directory.path().join("link")).is_ok());
}

#[test]
fn a_huge_file_is_not_read_to_its_end() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    drop(made(&path, 0..10));
    let text = fs::read(path.join("set")).unwrap();
    let file = fs::File::options().write(true).open(path.join("set")).unwrap();
    // A sparse file, which takes no space on disk.
    file.set_len(1 << 40).unwrap();
    let refused = fault(KeySet::open(&path));
    assert!(matches!(refused, Fault::Damaged { at: 0x0100_0000, .. }), "{refused:?}");
    drop(file);
    fs::write(path.join("set"), text).unwrap();
    let (name, _) = files(&path).swap_remove(0);
    let file = fs::File::options().write(true).open(path.join(name)).unwrap();
    file.set_len(1 << 40).unwrap();
    assert!(matches!(fault(KeySet::open(&path)), Fault::Damaged { .. }));
}

#[test]
fn sets_of_other_formats_are_rejected_with_their_version() {
    let directory = tempfile::tempdir().unwrap();
    let set = |text: &str| {
        fs::write(directory.path().join("set"), text).unwrap();
        let error = KeySet::open(directory.path()).unwrap_err();
        assert!(SetWriter::open(directory.path()).is_err());
        error
    };
    for other in ["1", "3"] {
        let error = set(&format!("uriscan set {other}\nwhatever\n"));
        assert!(matches!(&error.fault, Fault::Version(version) if version == other), "{error}");
    }
    assert!(matches!(set("whatever").fault, Fault::Damaged { at: 0, .. }));
}

#[test]
fn no_name_leads_out_of_the_directory() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("s");
    let mut set = SetWriter::create(&path, meaning()).unwrap();
    add(&mut set, 0..100, 1 << 20);
    add(&mut set, 100..200, 1 << 20);
    drop(set);
    // A valid run outside the directory.
    //
    let (name, content) = files(&path).swap_remove(0);
    let precious = directory.path().join(&name);
    fs::write(&precious, content).unwrap();
    let text = fs::read_to_string(path.join("set")).unwrap();
    for other in [format!("../{name}"), precious.display().to_string(), format!("./{name}")] {
        let text = text.replace(&name, &other);
        let end = text.rfind("check ").unwrap();
        let check = xxhash_rust::xxh3::xxh3_64(&text.as_bytes()[..end]);
        fs::write(path.join("set"), format!("{}check {check:016x}\n", &text[..end])).unwrap();
        let before = everything(directory.path());
        let error = SetWriter::open(&path).unwrap_err();
        assert!(error.to_string().contains("this line is not that of a run"), "{error}");
        assert!(KeySet::open(&path).is_err());
        assert!(everything(directory.path()) == before);
    }
    fs::write(path.join("set"), text).unwrap();
    let mut set = SetWriter::open(&path).unwrap();
    set.compact().unwrap();
    assert_eq!(set.set().contains(&[key(5), key(500)]).unwrap(), [true, false]);
    assert!(precious.exists());
}
