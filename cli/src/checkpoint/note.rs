//! The note in a checkpoint: what the run is, and how far it is.

use std::path::PathBuf;
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Map, Value, json};
use uriscan::key::{PublicHash, PublicHasher};
use uriscan::pipeline::Report;
use uriscan::uri::ErrorKind;

use crate::exit::Failure;

/// An option, and its value.
pub(crate) type Fact = (&'static str, String);

/// An input file.
pub(super) struct Entry {
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    modified: SystemTime,
}

impl Entry {
    /// The file at `path`, of so many `bytes`.
    ///
    /// # Errors
    /// If its time of modification is unknown.
    pub(super) fn new(path: PathBuf, bytes: u64) -> Result<Entry, Failure> {
        let modified = path.metadata().and_then(|metadata| metadata.modified());
        let modified = modified.map_err(|error| Failure::at(path.display(), error))?;
        Ok(Entry { path, bytes, modified })
    }

    /// Digests of its path, and of its size and time: enough to notice a difference.
    fn digest(&self) -> String {
        let short = |text: String| {
            let key = PublicHasher::new(PublicHash::Blake3).key(text.as_bytes());
            format!("{key:x}")[..DIGITS].to_owned()
        };
        let nanos = self.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        short(format!("{:?}", self.path)) + &short(format!("{} {nanos}", self.bytes))
    }
}

/// Hexadecimal digits of a digest.
const DIGITS: usize = 8;

/// Everything that determines the results of a run, except for the meaning of keys.
pub(super) struct Plan {
    facts: Vec<Fact>,
    names: Vec<String>,
    /// The digests of the files.
    digests: Vec<String>,
}

impl Plan {
    pub(super) fn new(facts: Vec<Fact>, entries: &[Entry]) -> Plan {
        let names = entries.iter().map(|entry| entry.path.display().to_string()).collect();
        Plan { facts, names, digests: entries.iter().map(Entry::digest).collect() }
    }

    /// The first difference from the run of `note`, if there is one.
    fn difference(&self, note: &Value) -> Option<String> {
        let (Some(facts), Some(digests)) = (note["options"].as_object(), note["files"].as_array())
        else {
            return Some("another version of uriscan saved it".to_owned());
        };
        for (name, value) in &self.facts {
            match facts.get(*name).and_then(Value::as_str) {
                Some(old) if old == value => {}
                Some(old) => return Some(format!("{name} was {old}, and is {value} now")),
                None => return Some(format!("{name} was not set, and is {value} now")),
            }
        }
        if let Some(gone) = facts.keys().find(|name| !self.facts.iter().any(|it| it.0 == **name)) {
            return Some(format!("{gone} was set, and is not now"));
        }
        for ((digest, name), old) in self.digests.iter().zip(&self.names).zip(digests) {
            let old = old.as_str().unwrap_or_default();
            if digest[..DIGITS] != *old.get(..DIGITS).unwrap_or_default() {
                return Some(format!("it had another file in place of {name}"));
            }
            if digest != old {
                return Some(format!("{name} has changed since"));
            }
        }
        let (count, old) = (self.digests.len(), digests.len());
        (count != old).then(|| format!("the number of its files was {old}, and is {count} now"))
    }
}

/// The progress of a run.
#[derive(Clone, Default)]
pub(super) struct Done {
    /// Files that are done.
    pub(super) files: usize,
    /// Where the results of each group end.
    pub(super) ends: Vec<u64>,
    pub(super) report: Report,
}

impl Done {
    /// Bytes of results.
    pub(super) fn output_bytes(&self) -> u64 {
        self.ends.last().copied().unwrap_or(0)
    }

    /// The note for a run by `plan`.
    pub(super) fn note(&self, plan: &Plan) -> String {
        let Report { bytes, records, blank, written, duplicates, invalid, .. } = self.report;
        let invalid = ErrorKind::ALL.map(|kind| invalid.of(kind));
        let options: Map<String, Value> =
            plan.facts.iter().map(|(name, value)| ((*name).to_owned(), json!(value))).collect();
        json!({
            "options": options,
            "files": plan.digests,
            "done": self.files,
            "ends": self.ends,
            "counts": [bytes, records, blank, written, duplicates],
            "invalid": invalid.as_slice(),
        })
        .to_string()
    }

    /// The progress in `note`, or why it is not that of a run by `plan`.
    pub(super) fn from_note(note: &str, plan: &Plan) -> Result<Done, String> {
        let note: Value = serde_json::from_str(note).map_err(|error| error.to_string())?;
        if let Some(difference) = plan.difference(&note) {
            return Err(difference);
        }
        let found = progress(&note).filter(|done| done.files <= plan.digests.len());
        found.ok_or_else(|| "its note is damaged".to_owned())
    }
}

/// The progress in `note`.
fn progress(note: &Value) -> Option<Done> {
    let count = |i: usize| note["counts"][i].as_u64();
    let mut report = Report::default();
    report.bytes = count(0)?;
    report.records = count(1)?;
    report.blank = count(2)?;
    report.written = count(3)?;
    report.duplicates = count(4)?;
    for (i, kind) in ErrorKind::ALL.into_iter().enumerate() {
        report.invalid.add_many(kind, note["invalid"][i].as_u64()?);
    }
    let files = usize::try_from(note["done"].as_u64()?).ok()?;
    let ends = note["ends"].as_array()?.iter().map(Value::as_u64).collect::<Option<Vec<_>>>()?;
    ends.is_sorted().then_some(Done { files, ends, report })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(facts: &[Fact], files: &[(&str, u64)]) -> Plan {
        let entry = |&(path, bytes): &(&str, u64)| {
            let path = PathBuf::from(path);
            Entry { path, bytes, modified: UNIX_EPOCH }
        };
        Plan::new(facts.to_vec(), &files.iter().map(entry).collect::<Vec<_>>())
    }

    #[test]
    fn the_first_difference_is_named() {
        let fact = |name, value: &str| (name, value.to_owned());
        let facts = [fact("--emit", "original"), fact("-o", "out")];
        let files = [("a", 1), ("b", 2)];
        let done = Done { files: 1, ends: vec![7, 9], report: Report::default() };
        let note = done.note(&plan(&facts, &files));
        let found = Done::from_note(&note, &plan(&facts, &files)).unwrap();
        assert_eq!((found.files, found.output_bytes()), (1, 9));
        for (facts, files, expected) in [
            (
                &[fact("--emit", "key"), fact("-o", "out")][..],
                &files[..],
                "--emit was original, and is key now",
            ),
            (&facts[..1], &files, "-o was set, and is not now"),
            (&[&facts[..], &[fact("-0", "on")]].concat(), &files, "-0 was not set, and is on now"),
            (&facts, &[("a", 1), ("c", 2)], "it had another file in place of c"),
            (&facts, &[("a", 3), ("b", 2)], "a has changed since"),
            (&facts, &files[..1], "the number of its files was 2, and is 1 now"),
            (
                &facts,
                &[("a", 1), ("b", 2), ("c", 3)],
                "the number of its files was 2, and is 3 now",
            ),
        ] {
            let difference = Done::from_note(&note, &plan(facts, files)).err();
            assert_eq!(difference.as_deref(), Some(expected));
        }
        let older = r#"{"order":"00","files":3,"output_bytes":9}"#;
        let difference = Done::from_note(older, &plan(&facts, &files)).err();
        assert_eq!(difference.as_deref(), Some("another version of uriscan saved it"));
    }

    #[test]
    fn a_damaged_note_is_refused() {
        let (facts, files) = ([("-o", "out".to_owned())], [("a", 1)]);
        let plan = plan(&facts, &files);
        let note = Done { files: 1, ends: vec![7], report: Report::default() }.note(&plan);
        for (from, to) in [
            ("\"done\":1", "\"done\":2"),
            ("\"done\":1", "\"done\":-1"),
            ("[7]", "[7,3]"),
            ("[7]", "[\"7\"]"),
            ("\"counts\":[0,0,", "\"counts\":[0,"),
        ] {
            assert!(note.contains(from), "{note}");
            let damaged = note.replace(from, to);
            let error = Done::from_note(&damaged, &plan).err();
            assert_eq!(error.as_deref(), Some("its note is damaged"), "{damaged}");
        }
    }
}
