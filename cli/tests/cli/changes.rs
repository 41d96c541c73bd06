//! Changes that the program makes on the disk, each of which comes as a whole or not at all.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use uriscan::set::{KeySet, SetError};

use crate::run::Place;
use crate::sets::uris;

/// Names and contents of all files below a directory, and names of directories.
pub(crate) type Files = BTreeMap<PathBuf, Option<Vec<u8>>>;

/// What is in `directory`.
pub(crate) fn files_in(directory: &Path) -> Files {
    let mut found = Files::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(&next).unwrap() {
            let path = entry.unwrap().path();
            let name = path.strip_prefix(directory).unwrap().to_owned();
            let bytes = path.is_file().then(|| fs::read(&path).unwrap());
            left.extend(bytes.is_none().then_some(path));
            found.insert(name, bytes);
        }
    }
    found
}

/// Makes `files` all that is in `directory`. Files that are what they should be are not touched and stay as old as they
/// are.
pub(crate) fn put_back(directory: &Path, files: &Files) {
    let found = files_in(directory);
    // What is in a directory comes after it.
    for (name, bytes) in found.iter().rev().filter(|(name, bytes)| files.get(*name) != Some(bytes))
    {
        let path = directory.join(name);
        if bytes.is_none() { fs::remove_dir(path) } else { fs::remove_file(path) }.unwrap();
    }
    for (name, bytes) in files.iter().filter(|(name, bytes)| found.get(*name) != Some(bytes)) {
        let path = directory.join(name);
        match bytes {
            None => fs::create_dir(path).unwrap(),
            Some(bytes) => fs::write(path, bytes).unwrap(),
        }
    }
}

/// Something that the program changes.
pub(crate) struct Change {
    pub(crate) what: &'static str,
    /// What is done before.
    pub(crate) before: &'static [&'static [&'static str]],
    pub(crate) args: &'static [&'static str],
    /// The files and sets that are written, in the order in which they are put in place.
    pub(crate) outputs: &'static [&'static str],
}

const NONE: Change = Change { what: "", before: &[], args: &[], outputs: &[] };

/// Changes of outputs and sets.
pub(crate) const CHANGES: &[Change] = &[
    Change {
        what: "a new file",
        args: &["normalize", "in", "-o", "new"],
        outputs: &["new"],
        ..NONE
    },
    Change {
        what: "a file in place",
        args: &["dedup", "in", "-o", "in"],
        outputs: &["in"],
        ..NONE
    },
    Change {
        what: "side files",
        args: &[
            "dedup",
            "in",
            "--rejects",
            "bad",
            "--dupes",
            "dupes",
            "--clusters",
            "new",
            "-o",
            "out",
        ],
        outputs: &["bad", "dupes", "new", "out"],
        ..NONE
    },
    Change {
        what: "results and a set",
        before: &[&["set", "create", "s.set", "other"]],
        args: &["dedup", "--seen", "s.set", "--update", "in", "-o", "out"],
        outputs: &["out", "s.set"],
    },
    Change {
        what: "a new set",
        args: &["set", "create", "--first-seen", "--at", "2026-03-01", "new.set", "in"],
        outputs: &["new.set"],
        ..NONE
    },
    Change {
        what: "a larger set",
        before: &[&["set", "create", "s.set", "other"]],
        args: &["set", "add", "s.set", "in"],
        outputs: &["s.set"],
    },
    Change {
        what: "a set of sets",
        before: &[&["set", "create", "a.set", "other"], &["set", "create", "b.set", "in"]],
        args: &["set", "merge", "-o", "new.set", "a.set", "b.set"],
        outputs: &["new.set"],
    },
    Change {
        what: "a compact set",
        before: &[&["set", "create", "s.set", "other"], &["set", "add", "s.set", "in"]],
        args: &["set", "compact", "s.set"],
        outputs: &["s.set"],
    },
    Change {
        what: "a text of a set",
        before: &[&["set", "create", "s.set", "other"]],
        args: &["set", "export", "s.set", "-o", "out"],
        outputs: &["out"],
    },
    Change {
        what: "a sorted table",
        args: &[
            "dedup",
            "--column",
            "1",
            "--from",
            "csv",
            "table",
            "--sort-by",
            "surt",
            "--to",
            "parquet",
            "--temp-dir",
            "aside",
            "-o",
            "out",
        ],
        outputs: &["out"],
        ..NONE
    },
    Change {
        what: "tables of classes",
        args: &["dedup", "in", "--dupes", "d.parquet", "--clusters", "c.csv", "-o", "out"],
        outputs: &["d.parquet", "c.csv", "out"],
        ..NONE
    },
    Change {
        what: "a new directory",
        args: &[
            "dedup",
            "--column",
            "url",
            "rows.csv",
            "--rows-per-file",
            "2",
            "--dupes",
            "dupes",
            "-o",
            "parts",
        ],
        outputs: &["dupes", "parts"],
        ..NONE
    },
    Change {
        what: "partitions",
        args: &[
            "normalize",
            "--column",
            "url",
            "rows.csv",
            "--partition-by",
            "lang",
            "--to",
            "parquet",
            "-o",
            "parts",
        ],
        outputs: &["parts"],
        ..NONE
    },
    Change {
        what: "an empty directory",
        args: &["key", "--column", "url", "rows.csv", "--rows-per-file", "3", "-o", "empty"],
        outputs: &["empty"],
        ..NONE
    },
    Change {
        what: "partitions of an empty directory",
        args: &[
            "dedup",
            "--column",
            "url",
            "rows.csv",
            "--partition-by",
            "lang",
            "--dupes",
            "dupes",
            "-o",
            "empty/",
        ],
        outputs: &["dupes", "empty"],
        ..NONE
    },
];

/// A place in which `change` can be made with a list of so many lines, and what is in it.
pub(crate) fn place(change: &Change, lines: u32) -> (Place, Files) {
    let lines = uris((0..lines).map(|i| i % (2 * lines / 3))) + "no uri\n";
    let table: String = (0..40).map(|i| format!("http://host{}.example/,{i}\n", i % 30)).collect();
    let place = Place::in_memory(&[
        ("in", &lines),
        ("other", &uris(60..90)),
        ("table", &format!("url,number\n{table}")),
        ("out", "old\n"),
        ("dupes", "old\n"),
        (
            "rows.csv",
            "url,lang\nhttp://a,de\nHTTP://a/,de\nhttp://b,en\nhttp://c,de\nhttp://d,en\n",
        ),
    ]);
    fs::create_dir(place.path("aside")).unwrap();
    fs::create_dir(place.path("empty")).unwrap();
    for args in change.before {
        place.run(args, "").quiet();
    }
    let files = files_in(&place.path(""));
    (place, files)
}

/// The bytes of a file, the names and bytes of all files in a directory, or the keys of a set and the lengths of its runs; `None` if there is nothing.
pub(crate) type Output = Option<Vec<u8>>;

/// What the outputs of a change are, in their order.
pub(crate) fn outputs(change: &Change, directory: &Path) -> Vec<Output> {
    change.outputs.iter().map(|name| output(&directory.join(name))).collect()
}

#[track_caller]
fn output(path: &Path) -> Output {
    if !path.to_str().unwrap().ends_with(".set") {
        return if path.is_dir() {
            Some(format!("{:?}", files_in(path)).into())
        } else {
            fs::read(path).ok()
        };
    }
    let set = match KeySet::open(path) {
        Err(error) if error.is_vacant() => return None,
        set => set.unwrap(),
    };
    assert!(set.verify().unwrap().is_empty());
    let mut keys = Vec::new();
    let all: Result<(), SetError> = set.each_key(|part| {
        keys.extend(part.flat_map(|key| key.0.to_be_bytes()));
        Ok(())
    });
    all.unwrap();
    keys.extend(set.run_lengths().flat_map(|run| run.to_be_bytes()));
    Some(keys)
}

/// Names below `directory` that were not there before and belong to no output.
pub(crate) fn leftovers(change: &Change, directory: &Path, before: &Files) -> Vec<PathBuf> {
    let belongs = |name: &PathBuf| {
        let is_hidden = name.iter().any(|part| part.to_str().unwrap().starts_with('.'));
        let mut plain = change.outputs.iter().filter(|output| !output.ends_with(".set"));
        if !is_hidden && plain.any(|output| name.starts_with(output)) {
            return true;
        }
        let mut outputs = change.outputs.iter().filter(|output| name.starts_with(output));
        match name.parent().filter(|set| !set.as_os_str().is_empty()) {
            None => outputs.next().is_some(),
            Some(set) => {
                let manifest = fs::read_to_string(directory.join(set).join("set"));
                let name = name.file_name().unwrap().to_str().unwrap();
                let is_named = manifest.is_ok_and(|manifest| manifest.contains(name));
                outputs.next().is_some() && (["lock", "set"].contains(&name) || is_named)
            }
        }
    };
    let names = files_in(directory).into_keys();
    names.filter(|name| !before.contains_key(name) && !belongs(name)).collect()
}

/// Whether some of the outputs are new and the following ones are old, as they are put in place in their order.
pub(crate) fn is_old_or_new(found: &[Output], old: &[Output], new: &[Output]) -> bool {
    (0..=found.len()).any(|at| found[..at] == new[..at] && found[at..] == old[at..])
}

/// The run after one that failed, which may have done all or some of it.
pub(crate) fn again(change: &Change, place: &Place, new: &[Output], is_new: bool, label: &str) {
    let ran = place.run(change.args, "");
    let exists = is_new && ran.stderr.contains("already exists");
    if ran.stderr.contains("is not empty; name a new directory") {
        // Results are there, at least some, each of them whole.
        let found = outputs(change, &place.path(""));
        let has_results = found.iter().zip(new).any(|(found, new)| found.is_some() && found == new);
        assert!(ran.code == 2 && has_results, "{label}: the next run: {}", ran.stderr);
        return;
    }
    assert!(ran.code == 0 || exists, "{label}: the next run: {}", ran.stderr);
    // What was done is not done again.
    assert!(is_new || outputs(change, &place.path("")) == new, "{label}: the next run");
}
