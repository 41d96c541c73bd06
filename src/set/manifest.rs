//! The file that says what a set is: its meaning, and which runs belong to it. Whoever replaces it, replaces the
//! set.
//!
//! ```text
//! uriscan set 2
//! first-seen no
//! runs 1
//! 6f1c0d2a9b3e44556f1c0d2a9b3e4455.keys 1000000
//! hash blake3
//! grammar RFC-3986 1
//! rung scheme
//! fragment kept
//! check 0123456789abcdef
//! ```
//!
//! After the runs, with the number of keys of each, there may be a `note`, and then the [`Meaning`]; `check` is XXH3-64 of
//! all before it. In a set with `first-seen yes` the name of the file of the times of a run follows its number of keys.
//!
//! There is one text for what it says, and any other is damage: names of files are of the form that writers give, no name
//! is there twice, and numbers have no zeros in front. While a set is being made, and before it has anything to say, the
//! file says [`BEGUN`].

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Meaning;
use super::error::{At, Fault, SetError};
use super::file::{self, is_absence};
use super::names;
use crate::draft::Draft;

/// The first line of this version, and what it begins with in any.
const FIRST_LINE: &str = "uriscan set 2";
const ANY_FIRST_LINE: &str = "uriscan set ";

/// What it says while a set is being made.
pub(super) const BEGUN: &str = "uriscan set 2\nbegun\n";

/// Bytes that it has at the most. Rules of the user's own are part of a meaning and take most of it.
const LIMIT: usize = 16 << 20;

/// Runs of a set.
pub(super) const MAX_RUNS: usize = 9;

/// Whether times are kept, which the second line says.
const FIRST_SEEN: [&str; 2] = ["first-seen no", "first-seen yes"];

const NOTE: &str = "note ";

/// What a meaning begins with.
const MEANING: &str = "hash ";

/// The hash of the keys of older sets.
const OLD_HASH: &str = "xxh3-128";

/// Whether `text` is that of a set of the format before this one. Sets with times had the first line of this one then, but
/// did not say `first-seen`.
fn is_old(text: &str) -> bool {
    let mut lines = text.lines();
    let (first, second) = (lines.next().unwrap_or_default(), lines.next().unwrap_or_default());
    first == "uriscan set 1"
        || first == FIRST_LINE && second.starts_with("runs ")
        || is_old_meaning(text)
}

/// Whether one of the lines of `facts` says that keys are made with the hash of older sets, for which anybody can find
/// two URIs with one key.
///
/// ```
/// assert!(!uriscan::set::is_old_meaning("rung scheme\n"));
/// ```
pub fn is_old_meaning(facts: &str) -> bool {
    let mut hashes = facts.lines().filter_map(|line| line.strip_prefix("hash "));
    hashes.any(|hash| hash == OLD_HASH)
}

/// What it says of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// The name of the file of keys.
    pub(super) keys: String,
    pub(super) len: u64,
    /// The name of the file of their times, in a set that tells them.
    pub(super) times: Option<String>,
}

/// What it says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// Whether it is told when keys were first seen.
    pub(super) is_dated: bool,
    pub(super) runs: Vec<Listed>,
    /// One line that says something about the set to whoever wrote it.
    pub(super) note: Option<String>,
    pub(super) meaning: Meaning,
}

impl Manifest {
    fn to_text(&self) -> String {
        let first_seen = FIRST_SEEN[usize::from(self.is_dated)];
        let mut text = format!("{FIRST_LINE}\n{first_seen}\nruns {}\n", self.runs.len());
        for Listed { keys, len, times } in &self.runs {
            text += &format!("{keys} {len}");
            if let Some(times) = times {
                text += &format!(" {times}");
            }
            text.push('\n');
        }
        if let Some(note) = &self.note {
            text += &format!("{NOTE}{note}\n");
        }
        text += self.meaning.as_str();
        let check = xxh3_64(text.as_bytes());
        text + &format!("check {check:016x}\n")
    }

    /// What the text of a set says, or what is wrong with it and where.
    fn from_text(text: &str) -> Result<Manifest, (&'static str, usize)> {
        let checked = text.strip_suffix('\n').and_then(|it| it.rsplit_once("\ncheck "));
        let (body, check) = checked.ok_or(("it ends too early", text.len()))?;
        let end = body.len() + 1;
        if format!("{:016x}", xxh3_64(&text.as_bytes()[..end])) != check {
            return Err(("its checksum is another", end));
        }
        let mut lines = Lines { text: &text[..end], at: 0 };
        if lines.next() != Some(FIRST_LINE) {
            return Err(("it does not begin as a set does", 0));
        }
        let is_dated = match lines.next() {
            Some(line) if line == FIRST_SEEN[0] => false,
            Some(line) if line == FIRST_SEEN[1] => true,
            _ => return Err(("it does not say whether keys have times", FIRST_LINE.len() + 1)),
        };
        let at = lines.at;
        let count = lines.next().and_then(|line| line.strip_prefix("runs ")?.parse().ok());
        let count: usize = count.ok_or(("it does not say how many runs there are", at))?;
        if count > MAX_RUNS {
            return Err(("it has more runs than a set can have", at));
        }
        let mut runs: Vec<Listed> = Vec::new();
        for _ in 0..count {
            let at = lines.at;
            let listed = lines.next().and_then(|line| Listed::from_line(line, is_dated));
            let listed = listed.ok_or(("this line is not that of a run", at))?;
            let is_same = |it: &Listed| it.keys == listed.keys || it.is_timed_by(&listed);
            if runs.iter().any(is_same) {
                return Err(("this line has a file that another has too", at));
            }
            runs.push(listed);
        }
        let mut rest = lines;
        let note = rest.next().and_then(|line| line.strip_prefix(NOTE)).map(str::to_owned);
        let lines = if note.is_some() { rest } else { lines };
        let facts = Some(&lines.text[lines.at..]).filter(|facts| facts.starts_with(MEANING));
        let meaning = facts.and_then(Meaning::from_text);
        let meaning = meaning.ok_or(("what its keys mean is not known here", lines.at))?;
        let manifest = Manifest { is_dated, runs, note, meaning };
        if manifest.to_text() != text {
            return Err(("it is not written as sets are", 0));
        }
        Ok(manifest)
    }

    /// Reads that of the set in `directory`.
    ///
    /// # Errors
    /// When there is none, it cannot be read, is damaged, or of another version.
    pub(super) fn read(directory: &Path) -> Result<Manifest, SetError> {
        let path = directory.join(names::MANIFEST);
        let file = match file::open(&path) {
            Ok(file) => file,
            Err(SetError { fault: Fault::Io(error), .. }) if is_absence(&error) => {
                return Err(match fs::metadata(directory) {
                    Err(error) if error.kind() != io::ErrorKind::NotFound => {
                        SetError::new(directory, Fault::Io(error))
                    }
                    _ => SetError::new(directory, Fault::NotASet),
                });
            }
            Err(error) => return Err(error),
        };
        let damaged = |what, at| SetError::damaged(&path, what, at as u64);
        let text = file::read_up_to(file, LIMIT as u64 + 1).at(&path)?;
        if text.len() > LIMIT {
            return Err(damaged("it goes on for longer than that of a set can", LIMIT));
        }
        let text = str::from_utf8(&text)
            .map_err(|error| damaged("it is not UTF-8", error.valid_up_to()))?;
        if BEGUN.starts_with(text) {
            return Err(SetError::new(directory, Fault::NotASet));
        }
        if is_old(text) {
            return Err(SetError::new(directory, Fault::Outdated));
        }
        let first = text.lines().next().unwrap_or_default();
        match first.strip_prefix(ANY_FIRST_LINE) {
            Some(version) if first != FIRST_LINE && version.parse::<u32>().is_ok() => {
                Err(SetError::new(directory, Fault::Version(version.to_owned())))
            }
            Some(_) => Manifest::from_text(text).map_err(|(what, at)| damaged(what, at)),
            None => Err(damaged("it does not begin as a set does", 0)),
        }
    }

    /// Makes it that of the set in `directory`: at every moment, also if the system stops, the old one or
    /// this one is there. What it names has to be on the disk.
    ///
    /// # Errors
    /// When it cannot be written; then the old one stays.
    pub(super) fn replace(&self, directory: &Path) -> Result<(), SetError> {
        let text = self.to_text();
        if text.len() > LIMIT {
            let what = "what the keys of a set mean is longer than a set can say";
            return Err(SetError::new(directory, Fault::Io(io::Error::other(what))));
        }
        put(directory, &text)
    }
}

impl Listed {
    /// What the line of a run says; `None` where names are not of the form that writers give, or there is no key.
    fn from_line(line: &str, is_dated: bool) -> Option<Listed> {
        let mut words = line.split(' ');
        let (keys, len) = (words.next()?, words.next()?.parse().ok()?);
        let times = words.next();
        let is_listed = names::is_of_digest(keys, names::KEYS)
            && times.is_none_or(|times| names::is_of_digest(times, names::TIMES))
            && times.is_some() == is_dated
            && len > 0
            && words.next().is_none();
        let listed = Listed { keys: keys.to_owned(), len, times: times.map(str::to_owned) };
        is_listed.then_some(listed)
    }

    /// Whether `other` has the same file of times.
    fn is_timed_by(&self, other: &Listed) -> bool {
        self.times.is_some() && self.times == other.times
    }
}

/// Lines of a text, each ended by a line feed.
#[derive(Clone, Copy)]
struct Lines<'a> {
    text: &'a str,
    /// Where the next one begins.
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (line, _) = self.text[self.at..].split_once('\n')?;
        self.at += line.len() + 1;
        Some(line)
    }
}

/// Makes the set in `directory` one that has been begun: from now on there is none.
///
/// # Errors
/// When that cannot be written; then the old one stays.
pub(super) fn put_begun(directory: &Path) -> Result<(), SetError> {
    put(directory, BEGUN)
}

/// Makes `text` that of the file of the set in `directory`.
fn put(directory: &Path, text: &str) -> Result<(), SetError> {
    let draft = Draft::new_in(directory, names::NEW_MANIFEST).at(directory)?;
    draft.file().write_all(text.as_bytes()).at(directory)?;
    draft.file().sync_all().at(directory)?;
    // The runs have their names before a set is made of them.
    sync_directory(directory)?;
    draft.put(&directory.join(names::MANIFEST)).at(directory)?;
    sync_directory(directory)
}

/// Has the names in `directory` written to the disk.
///
/// # Errors
/// When the system cannot.
pub(super) fn sync_directory(directory: &Path) -> Result<(), SetError> {
    // Elsewhere a directory cannot be opened, and its names are as durable as the system makes them.
    if cfg!(unix) {
        File::open(directory).and_then(|directory| directory.sync_all()).at(directory)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::PublicHash;

    /// The manifest of a set with a note, and two runs.
    fn manifest(is_dated: bool) -> Manifest {
        let run = |digest, len| Listed {
            keys: names::of_digest(digest, names::KEYS),
            len,
            times: is_dated.then(|| names::of_digest(digest << 64, names::TIMES)),
        };
        Manifest {
            is_dated,
            runs: vec![run(7, 3), run(u128::MAX, 1)],
            note: Some("{\"done\":3}".to_owned()),
            meaning: Meaning::new(PublicHash::Blake3, "rung scheme\ndrop utm_* on a.b\n"),
        }
    }

    /// `text` with the checksum that it ought to have.
    fn checked(text: &str) -> String {
        let end = text.rfind("check ").unwrap();
        format!("{}check {:016x}\n", &text[..end], xxh3_64(&text.as_bytes()[..end]))
    }

    #[test]
    fn no_byte_of_it_can_change_unseen() {
        for manifest in [false, true].map(manifest) {
            let text = manifest.to_text();
            assert_eq!(Manifest::from_text(&text), Ok(manifest));
            for at in 0..text.len() {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1;
                let read = String::from_utf8(bytes).map(|it| Manifest::from_text(&it));
                assert!(read.is_err() || read.is_ok_and(|it| it.is_err()), "{at}");
                assert!(Manifest::from_text(&text[..at]).is_err(), "{at}");
            }
        }
    }

    #[test]
    fn with_a_right_checksum_it_has_to_be_right_too() {
        let one = "00000000000000000000000000000007.keys 3";
        let two = "ffffffffffffffffffffffffffffffff.keys 1";
        let at_run = "uriscan set 2\nfirst-seen no\nruns 2\n".len();
        for (from, to, expected) in [
            (one, "../other.keys 3", at_run),
            (one, "/etc/00000000000000000000000000000007.keys 3", at_run),
            (one, " 3", at_run),
            (one, "00000000000000000000000000000007.times 3", at_run),
            (one, "00000000000000000000000000000007.keys", at_run),
            (one, "00000000000000000000000000000007.keys 0", at_run),
            (one, "00000000000000000000000000000007.keys -3", at_run),
            (one, "00000000000000000000000000000007.keys 99999999999999999999", at_run),
            (one, "00000000000000000000000000000007.keys 3 ", at_run),
            (one, "0000000000000007.keys 3", at_run),
            (one, "set 3", at_run),
            (two, one, at_run + one.len() + 1),
            ("runs 2", "runs 1", at_run + one.len() + 1),
            ("runs 2", "runs 3", at_run + one.len() + two.len() + 2),
            ("runs 2", "runs 4294967295", at_run - 7),
            ("runs 2", "runs 99999999999999999999999", at_run - 7),
            ("runs 2", "runs -1", at_run - 7),
            ("runs 2", "runs 02", 0),
            ("runs 2", "runs +2", 0),
            ("keys 3", "keys 03", 0),
            ("first-seen no", "first-seen yes", at_run + 1),
            ("first-seen no", "first-seen maybe", 14),
            ("first-seen no\n", "", 14),
            ("set 2", "set 3", 0),
        ] {
            let text = manifest(false).to_text();
            assert!(text.contains(from), "{from}");
            let (_, at) = Manifest::from_text(&checked(&text.replace(from, to))).unwrap_err();
            assert_eq!(at, expected, "{from} {to}");
        }
        // Times have names of their own.
        let text = manifest(true).to_text();
        for name in ["../x.times", "00000000000000000000000000000007.keys", "", "x"] {
            let text = text.replace("00000000000000070000000000000000.times", name);
            assert!(Manifest::from_text(&checked(&text)).is_err(), "{name}");
        }
        let other = names::of_digest(7 << 64, names::TIMES);
        let text = text.replace(&names::of_digest(u128::MAX << 64, names::TIMES), &other);
        let (what, _) = Manifest::from_text(&checked(&text)).unwrap_err();
        assert_eq!(what, "this line has a file that another has too");
    }

    #[test]
    fn sets_of_the_old_format_are_known() {
        assert!(is_old("uriscan set 1\nruns 0\nhash xxh3-128\nseed 0\n"));
        assert!(is_old("uriscan set 2\nruns 0\nhash xxh3-128\nseed 0\n"));
        let now = manifest(false).to_text();
        assert!(!is_old(&now) && !is_old(BEGUN));
        assert!(is_old(&now.replace(PublicHash::Blake3.name(), OLD_HASH)));
    }
}
