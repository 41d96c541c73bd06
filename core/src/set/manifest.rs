//! The file that describes a set: its meaning, and the runs that belong to it. Replacing it
//! replaces the set.
//!
//! ```text
//! uriscan set 2
//! first-seen no
//! runs 1
//! 6f1c0d2a9b3e44556f1c0d2a9b3e4455.keys 1000000
//! hash blake3
//! grammar RFC-3986 1
//! level scheme
//! fragment kept
//! rule https 1
//! | rules = ["https"]
//! check 0123456789abcdef
//! ```
//!
//! The runs, with the number of keys of each, are followed by the [`Meaning`]: facts, and the text of
//! the rules, if there are any, each line after a bar. Nothing relies on that text: who makes rules of it
//! compares them with the facts. `check` is XXH3-64 of everything before it. In a set with `first-seen yes` the name
//! of a run's file of times follows its number of keys.
//!
//! Each content has exactly one text, and any other text is damage: names of files have the form
//! that writers use, no name occurs twice, and numbers have no leading zeros. While a set is being
//! created, before there is a content, the file holds [`names::BEGUN`].

use std::io::{self, Write};
use std::path::Path;

use xxhash_rust::xxh3::xxh3_64;

use super::Meaning;
use super::directory::vacancy;
use super::error::{At, Fault, SetError};
use super::file::{self, is_absence};
use super::names;
use uriscan_files::sync_directory;

/// The first line of this version, and the start of the first line of any version.
const FIRST_LINE: &str = "uriscan set 2";
const ANY_FIRST_LINE: &str = "uriscan set ";

/// Size limit in bytes. User-defined rules are part of a meaning and account for most of it.
const LIMIT: usize = 16 << 20;

/// Maximum number of runs in a set.
pub(super) const MAX_RUNS: usize = 9;

/// The second line: whether times are recorded.
const FIRST_SEEN: [&str; 2] = ["first-seen no", "first-seen yes"];

/// The start of a meaning.
const MEANING: &str = "hash ";

/// The entry of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Listed {
    /// The name of the file of keys.
    pub(super) keys: String,
    pub(super) len: u64,
    /// The name of the file of its times, in a set that records them.
    pub(super) times: Option<String>,
}

/// The content of the file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Manifest {
    /// Whether the times at which keys were first seen are recorded.
    pub(super) is_dated: bool,
    pub(super) runs: Vec<Listed>,
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
        text += &self.meaning.to_text();
        let check = xxh3_64(text.as_bytes());
        text + &format!("check {check:016x}\n")
    }

    /// Parses the text of a set; the error is the reason and its position.
    fn from_text(text: &str) -> Result<Manifest, (&'static str, usize)> {
        let checked = text.strip_suffix('\n').and_then(|it| it.rsplit_once("\ncheck "));
        let (body, check) = checked.ok_or(("it ends too early", text.len()))?;
        let end = body.len() + 1;
        if format!("{:016x}", xxh3_64(&text.as_bytes()[..end])) != check {
            return Err(("its checksum is wrong", end));
        }
        let mut lines = Lines { text: &text[..end], at: 0 };
        if lines.next() != Some(FIRST_LINE) {
            return Err(("it does not begin like a set", 0));
        }
        let is_dated = match lines.next() {
            Some(line) if line == FIRST_SEEN[0] => false,
            Some(line) if line == FIRST_SEEN[1] => true,
            _ => return Err(("the line on the times of keys is missing", FIRST_LINE.len() + 1)),
        };
        let at = lines.at;
        let count = lines.next().and_then(|line| line.strip_prefix("runs ")?.parse().ok());
        let count: usize = count.ok_or(("the number of runs is missing", at))?;
        if count > MAX_RUNS {
            return Err(("it has too many runs", at));
        }
        let mut runs: Vec<Listed> = Vec::new();
        for _ in 0..count {
            let at = lines.at;
            let listed = lines.next().and_then(|line| Listed::from_line(line, is_dated));
            let listed = listed.ok_or(("this line is not that of a run", at))?;
            let is_same = |it: &Listed| it.keys == listed.keys || it.is_timed_by(&listed);
            if runs.iter().any(is_same) {
                return Err(("this line repeats a file of another line", at));
            }
            runs.push(listed);
        }
        let facts = Some(&lines.text[lines.at..]).filter(|facts| facts.starts_with(MEANING));
        let meaning = facts.and_then(Meaning::from_text);
        let meaning = meaning.ok_or(("the meaning of its keys is unknown", lines.at))?;
        let manifest = Manifest { is_dated, runs, meaning };
        if manifest.to_text() != text {
            return Err(("it is not in canonical form", 0));
        }
        Ok(manifest)
    }

    /// Reads the manifest of the set in `directory`.
    pub(super) fn read(directory: &Path) -> Result<Manifest, SetError> {
        let path = directory.join(names::MANIFEST);
        let file = match file::open(&path) {
            Ok(file) => file,
            Err(SetError { fault: Fault::Io(error), .. }) if is_absence(&error) => {
                return Err(vacancy(directory, None));
            }
            // Other directories have subdirectories of this name, too.
            Err(error @ SetError { fault: Fault::NotRegular, .. }) => {
                let found = vacancy(directory, None);
                return Err(if found.is_damage() { error } else { found });
            }
            Err(error) => return Err(error),
        };
        let damaged = |what, at| SetError::damaged(&path, what, at as u64);
        let text = file::read_up_to(file, LIMIT as u64 + 1).at(&path)?;
        if text.len() > LIMIT {
            return Err(damaged("it is longer than allowed", LIMIT));
        }
        let text = str::from_utf8(&text)
            .map_err(|error| damaged("it is not UTF-8", error.valid_up_to()))?;
        if names::BEGUN.starts_with(text) {
            return Err(vacancy(directory, Some(text)));
        }
        let first = text.lines().next().unwrap_or_default();
        match first.strip_prefix(ANY_FIRST_LINE) {
            // All else is that of this version.
            Some(_)
                if Manifest::from_text(&text.replacen(first, FIRST_LINE, 1)).is_ok()
                    && first != FIRST_LINE =>
            {
                Err(damaged("it does not begin like a set", 0))
            }
            Some(version) if first != FIRST_LINE && version.parse::<u32>().is_ok() => {
                Err(SetError::new(directory, Fault::Version(version.to_owned())))
            }
            Some(_) => Manifest::from_text(text).map_err(|(what, at)| damaged(what, at)),
            None => Err(damaged("it does not begin like a set", 0)),
        }
    }

    /// Replaces the manifest of the set in `directory` atomically: at every moment, even if the
    /// system crashes, either the old or the new one exists. All files that it names must be on
    /// disk.
    ///
    /// # Errors
    /// If it cannot be written; the old one then stays.
    pub(super) fn replace(&self, directory: &Path) -> Result<(), SetError> {
        let text = self.to_text();
        if text.len() > LIMIT || !self.meaning.fits() {
            let what = "the meaning of the keys is too long for a set";
            return Err(SetError::new(directory, Fault::Io(io::Error::other(what))));
        }
        put(directory, &text)
    }
}

impl Listed {
    /// Parses the line of a run; `None` if a name does not have the form that writers use, or there
    /// are not keys.
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

/// Iterates over lines, each ended by a line feed.
#[derive(Clone, Copy)]
struct Lines<'a> {
    text: &'a str,
    /// Offset of the next one.
    at: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (line, _) = self.text[self.at..].split_once('\n')?;
        self.at += line.len() + 1;
        Some(line)
    }
}

/// Writes `text` to the manifest of the set in `directory`.
fn put(directory: &Path, text: &str) -> Result<(), SetError> {
    let draft = super::directory::draft(directory, names::NEW_MANIFEST)?;
    draft.file().write_all(text.as_bytes()).at(directory)?;
    draft.file().sync_all().at(directory)?;
    // The runs have their names before a set is made of them.
    sync_directory(directory).at(directory)?;
    draft.put(&directory.join(names::MANIFEST)).at(directory)?;
    sync_directory(directory).at(directory)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::PublicHash;

    /// The manifest of a set with two runs.
    fn manifest(is_dated: bool) -> Manifest {
        let run = |digest, len| Listed {
            keys: names::of_digest(digest, names::KEYS),
            len,
            times: is_dated.then(|| names::of_digest(digest << 64, names::TIMES)),
        };
        Manifest {
            is_dated,
            runs: vec![run(7, 3), run(u128::MAX, 1)],
            meaning: Meaning::new(PublicHash::Blake3, "level scheme\ndrop utm_* on a.b\n"),
        }
    }

    /// `text` with its correct checksum.
    fn checked(text: &str) -> String {
        let end = text.rfind("check ").unwrap();
        format!("{}check {:016x}\n", &text[..end], xxh3_64(&text.as_bytes()[..end]))
    }

    #[test]
    fn every_changed_byte_is_detected() {
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
    fn errors_are_found_despite_a_right_checksum() {
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
        // Files of times have names of another form.
        let text = manifest(true).to_text();
        for name in ["../x.times", "00000000000000000000000000000007.keys", "", "x"] {
            let text = text.replace("00000000000000070000000000000000.times", name);
            assert!(Manifest::from_text(&checked(&text)).is_err(), "{name}");
        }
        let other = names::of_digest(7 << 64, names::TIMES);
        let text = text.replace(&names::of_digest(u128::MAX << 64, names::TIMES), &other);
        let (what, _) = Manifest::from_text(&checked(&text)).unwrap_err();
        assert_eq!(what, "this line repeats a file of another line");
    }
}
