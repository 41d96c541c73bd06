//! Cuts the power after every call of the program: whatever of the calls so far has reached the disk, its files are the
//! old ones or the new ones, whole, and the next run succeeds.
//!
//! The program records its calls. A model of the disk keeps what is safe (bytes of files that were synced, names in
//! directories that were synced) apart from what is pending, and makes states of any of that: none, all, each alone,
//! all but each, all up to each, the last write cut in half; pending names in all combinations, if they are few.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use uriscan_files::faults::Event;

use crate::changes::{
    CHANGES, Change, Files, Output, again, is_old_or_new, outputs, place, put_back,
};
use crate::faults::{LINES, run};
use crate::run::Place;

/// A change of a file that may not be on the disk yet.
#[derive(Clone, Debug)]
enum Pending {
    Wrote(u64, Vec<u8>),
    Resized(u64),
}

impl Pending {
    fn apply(&self, bytes: &mut Vec<u8>) {
        match self {
            Pending::Resized(len) => bytes.resize(*len as usize, 0),
            Pending::Wrote(at, written) => {
                let end = *at as usize + written.len();
                bytes.resize(bytes.len().max(end), 0);
                bytes[*at as usize..end].copy_from_slice(written);
            }
        }
    }

    fn half(&self) -> Pending {
        match self {
            Pending::Wrote(at, bytes) => Pending::Wrote(*at, bytes[..bytes.len() / 2].to_vec()),
            other => other.clone(),
        }
    }
}

/// A file: what is on the disk, and what may be.
#[derive(Clone, Debug, Default)]
struct Inode {
    safe: Vec<u8>,
    pending: Vec<Pending>,
}

/// What a name represents.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    File(usize),
    Directory,
}

/// A change of names that comes as a whole.
#[derive(Clone, Debug)]
struct Naming {
    directory: PathBuf,
    gone: Option<PathBuf>,
    new: Option<(PathBuf, Entry)>,
}

impl Naming {
    fn apply(&self, names: &mut BTreeMap<PathBuf, Entry>) {
        if let Some(gone) = &self.gone {
            names.remove(gone);
        }
        if let Some((name, entry)) = &self.new {
            names.insert(name.clone(), *entry);
        }
        // What is in a directory comes with it.
        if let (Some(gone), Some((name, Entry::Directory))) = (&self.gone, &self.new) {
            let within = names.keys().filter(|path| path.starts_with(gone));
            for path in within.cloned().collect::<Vec<_>>() {
                let entry = names.remove(&path).unwrap();
                names.insert(name.join(path.strip_prefix(gone).unwrap()), entry);
            }
        }
    }
}

/// The model of a directory on a disk. Names are relative to it.
struct Disk {
    root: PathBuf,
    inodes: Vec<Inode>,
    /// The file that has a number now.
    numbers: HashMap<u64, usize>,
    safe: BTreeMap<PathBuf, Entry>,
    pending: Vec<Naming>,
    /// With all that is pending.
    names: BTreeMap<PathBuf, Entry>,
}

impl Disk {
    fn new(root: &Path, files: &Files) -> Disk {
        let mut inodes = Vec::new();
        let mut safe = BTreeMap::new();
        for (name, bytes) in files {
            let entry = bytes.as_ref().map_or(Entry::Directory, |bytes| {
                inodes.push(Inode { safe: bytes.clone(), pending: Vec::new() });
                Entry::File(inodes.len() - 1)
            });
            safe.insert(name.clone(), entry);
        }
        let (root, names) = (root.to_owned(), safe.clone());
        Disk { root, inodes, numbers: HashMap::new(), safe, pending: Vec::new(), names }
    }

    /// The name of `path`, if it is on this disk.
    fn name(&self, path: &Path) -> Option<PathBuf> {
        path.strip_prefix(&self.root).ok().map(|name| name.components().collect())
    }

    fn rename(&mut self, gone: Option<PathBuf>, new: Option<(PathBuf, Entry)>) {
        let name = gone.as_ref().or(new.as_ref().map(|(name, _)| name)).unwrap();
        let naming = Naming { directory: name.parent().unwrap().to_owned(), gone, new };
        naming.apply(&mut self.names);
        self.pending.push(naming);
    }

    fn make(&mut self, number: u64) -> usize {
        self.inodes.push(Inode::default());
        self.numbers.insert(number, self.inodes.len() - 1);
        self.inodes.len() - 1
    }

    /// Adds a pending change of the file with this number, if it is on this disk.
    fn change(&mut self, number: u64, pending: Pending) {
        if let Some(&file) = self.numbers.get(&number) {
            self.inodes[file].pending.push(pending);
        }
    }

    /// Follows a call.
    fn follow(&mut self, event: Event) {
        match event {
            Event::Opened(number, path) => {
                self.numbers.remove(&number);
                let Some(name) = self.name(&path) else { return };
                match self.names.get(&name) {
                    Some(&Entry::File(file)) => {
                        self.numbers.insert(number, file);
                    }
                    Some(Entry::Directory) => {}
                    None => {
                        let file = self.make(number);
                        self.rename(None, Some((name, Entry::File(file))));
                    }
                }
            }
            Event::Made(number) => {
                self.make(number);
            }
            Event::Wrote(number, at, bytes) => self.change(number, Pending::Wrote(at, bytes)),
            Event::Resized(number, len) => self.change(number, Pending::Resized(len)),
            Event::Synced(number) => {
                if let Some(&file) = self.numbers.get(&number) {
                    let Inode { safe, pending } = &mut self.inodes[file];
                    pending.drain(..).for_each(|pending| pending.apply(safe));
                }
            }
            Event::SyncedDirectory(path) => {
                let Some(directory) = self.name(&path) else { return };
                let (synced, pending) =
                    self.pending.drain(..).partition(|naming| naming.directory == directory);
                self.pending = pending;
                let synced: Vec<Naming> = synced;
                synced.iter().for_each(|naming| naming.apply(&mut self.safe));
            }
            Event::Linked(number, path) => {
                if let (Some(name), Some(&file)) = (self.name(&path), self.numbers.get(&number)) {
                    self.rename(None, Some((name, Entry::File(file))));
                }
            }
            Event::Renamed(from, to) => {
                if let (Some(from), Some(to)) = (self.name(&from), self.name(&to)) {
                    let entry = self.names[&from];
                    self.rename(Some(from), Some((to, entry)));
                }
            }
            Event::Removed(path) | Event::RemovedDirectory(path) => {
                if let Some(name) = self.name(&path) {
                    self.rename(Some(name), None);
                }
            }
            Event::CreatedDirectory(path) => {
                if let Some(name) = self.name(&path) {
                    self.rename(None, Some((name, Entry::Directory)));
                }
            }
        }
    }

    /// Calls `found` with what may be there after the power was cut.
    fn each_state(&self, found: &mut dyn FnMut(Files)) {
        let writes: usize = self.inodes.iter().map(|inode| inode.pending.len()).sum();
        for names in choices(self.pending.len()) {
            let mut entries = self.safe.clone();
            let chosen = self.pending.iter().enumerate().filter(|(at, _)| names(*at));
            chosen.for_each(|(_, naming)| naming.apply(&mut entries));
            for (cut, bytes) in (0..=writes).flat_map(|cut| [(cut, true), (cut, false)]) {
                // All before `cut`, and then the next one in half, or all but the next one.
                let takes = |at: usize| if bytes { at < cut } else { at != cut };
                let alone = |at: usize| at == cut;
                found(self.files(&entries, &takes, bytes.then_some(cut)));
                if !bytes {
                    found(self.files(&entries, &alone, None));
                }
            }
        }
    }

    /// The files that `names` represent, with the pending writes that `takes` says, and half of the one at `half`.
    fn files(
        &self,
        names: &BTreeMap<PathBuf, Entry>,
        takes: &dyn Fn(usize) -> bool,
        half: Option<usize>,
    ) -> Files {
        let mut first = 0;
        let mut contents = Vec::with_capacity(self.inodes.len());
        for Inode { safe, pending } in &self.inodes {
            let mut bytes = safe.clone();
            for (at, pending) in (first..).zip(pending) {
                if takes(at) {
                    pending.apply(&mut bytes);
                } else if half == Some(at) {
                    pending.half().apply(&mut bytes);
                }
            }
            first += pending.len();
            contents.push(bytes);
        }
        let is_there = |name: &Path| {
            let mut above = name.ancestors().skip(1).filter(|above| !above.as_os_str().is_empty());
            above.all(|above| names.get(above) == Some(&Entry::Directory))
        };
        let there = names.iter().filter(|(name, _)| is_there(name));
        there
            .map(|(name, entry)| match entry {
                Entry::Directory => (name.clone(), None),
                Entry::File(file) => (name.clone(), Some(contents[*file].clone())),
            })
            .collect()
    }
}

/// Which of so many pending names are on the disk: all combinations, or, of many, none, all, each alone, all but each
/// and all up to each.
fn choices(count: usize) -> Vec<Box<dyn Fn(usize) -> bool>> {
    if count <= 6 {
        let choice =
            |set: u32| -> Box<dyn Fn(usize) -> bool> { Box::new(move |at| set >> at & 1 == 1) };
        return (0..1 << count).map(choice).collect();
    }
    let each = |number: usize| -> [Box<dyn Fn(usize) -> bool>; 3] {
        [
            Box::new(move |at| at < number),
            Box::new(move |at| at == number),
            Box::new(move |at| at != number),
        ]
    };
    (0..=count).flat_map(each).collect()
}

/// The calls of a run of `change`.
fn recorded(place: &Place, change: &Change, more: &str) -> Vec<Event> {
    let aside = Place::in_memory(&[]);
    let record = aside.path("record");
    let plan = format!("record:{}{more}", record.display());
    run(place, change.args, &plan).quiet();
    let text = fs::read_to_string(record).unwrap();
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// Makes `change` and cuts the power after each call; returns the numbers of calls and of states. Calls for which
/// `is_made` is false do not reach the disk.
fn survives(change: &Change, more: &str, is_made: fn(&Event) -> bool) -> (usize, usize) {
    let (place, before) = place(change, LINES);
    let directory = place.path("");
    let root = directory.canonicalize().unwrap();
    let old = outputs(change, &directory);
    let events = recorded(&place, change, more);
    let new = outputs(change, &directory);
    assert!(old != new, "{}", change.what);
    let mut disk = Disk::new(&root, &before);
    let (mut seen, mut states) = (HashSet::new(), 0);
    let calls = events.len();
    for (at, event) in events.into_iter().enumerate() {
        let call: String = format!("{event:?}").chars().take(60).collect();
        let label = format!("{}, after call {at}, {call}", change.what);
        if is_made(&event) {
            disk.follow(event);
        }
        disk.each_state(&mut |files| {
            let mut hasher = DefaultHasher::new();
            files.hash(&mut hasher);
            if seen.insert(hasher.finish()) {
                states += 1;
                put_back(&directory, &files);
                look(change, &place, [&old, &new], &label);
            }
        });
    }
    (calls, states)
}

/// Checks the state of a place after the power was cut.
fn look(change: &Change, place: &Place, [old, new]: [&[Output]; 2], label: &str) {
    let found = outputs(change, &place.path(""));
    for (at, name) in change.outputs.iter().enumerate() {
        let is_whole = found[at] == old[at] || found[at] == new[at];
        assert!(is_whole, "{label}: {name} is neither, {:?}", place.names());
    }
    // A set changes after the results are safe.
    let has_set = change.outputs.iter().any(|name| name.ends_with(".set"));
    assert!(!has_set || is_old_or_new(&found, old, new), "{label}: the set was first");
    again(change, place, new, found == new, label);
}

#[test]
fn files_are_old_or_new_when_the_power_was_cut() {
    power_cuts(2);
}

/// Makes each change in one of `step` ways to name new files, of two, in turn.
fn power_cuts(step: usize) {
    let ways = CHANGES.iter().flat_map(|change| ["", " no-unnamed"].map(|more| (change, more)));
    let in_turn = ways.enumerate().filter(|(at, _)| at % step == at / 2 % step);
    for (_, (change, more)) in in_turn {
        let (calls, states) = survives(change, more, |_| true);
        eprintln!("{}{more}: {calls} calls, {states} states", change.what);
    }
}

/// Both ways.
mod full {
    #[test]
    fn files_are_old_or_new_when_the_power_was_cut() {
        super::power_cuts(1);
    }
}

#[test]
fn a_missing_sync_is_noticed() {
    let no_file: fn(&Event) -> bool = |event| !matches!(event, Event::Synced(_));
    let no_directory: fn(&Event) -> bool = |event| !matches!(event, Event::SyncedDirectory(_));
    for (what, is_made) in [
        ("a new file", no_file),
        ("side files", no_file),
        ("results and a set", no_file),
        ("results and a set", no_directory),
        ("a new set", no_file),
        ("a new set", no_directory),
        ("a larger set", no_directory),
        ("a new directory", no_file),
        ("a new directory", no_directory),
        ("partitions", no_directory),
        ("an empty directory", no_file),
        ("an empty directory", no_directory),
        ("partitions of an empty directory", no_directory),
    ] {
        let change = CHANGES.iter().find(|change| change.what == what).unwrap();
        let survived = std::panic::catch_unwind(|| survives(change, "", is_made));
        assert!(survived.is_err(), "{what}: {survived:?}");
    }
}
