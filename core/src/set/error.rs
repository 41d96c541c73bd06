//! Errors of sets.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error, and the file or directory concerned.
#[derive(Debug)]
#[non_exhaustive]
pub struct SetError {
    /// The file, or the directory of the set.
    pub path: PathBuf,
    /// The cause.
    pub fault: Fault,
}

/// The cause of an error of a set.
#[derive(Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A file could not be read or written.
    Io(io::Error),
    /// Nothing is there.
    Absent,
    /// The directory is empty, or the run that had begun to create a set in it did not complete it: a set can be created there.
    Empty {
        /// Whether a run had begun.
        is_begun: bool,
    },
    /// Something is there that is not a set.
    NotASet {
        /// What it is.
        what: &'static str,
    },
    /// A set, or something else, exists already.
    Exists,
    /// The directory holds other files and no set, so no set is created in it.
    NotEmpty,
    /// A file of the set is a symbolic link, a directory, a pipe or a device.
    NotRegular,
    /// The set has a format that this version does not support.
    Version(String),
    /// A file is not as it was written.
    Damaged {
        /// What is wrong.
        what: &'static str,
        /// Offset in the file at which the damage begins.
        at: u64,
    },
    /// The keys have another meaning.
    Differs(Difference),
    /// Another process is writing to the set.
    Busy,
}

/// The facts in which the meanings of two sets of keys differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Difference {
    /// The facts of the set that the requested meaning lacks.
    pub set: Vec<String>,
    /// The requested facts that the set lacks.
    pub requested: Vec<String>,
}

impl SetError {
    pub(super) fn new(path: &Path, fault: Fault) -> SetError {
        SetError { path: path.to_owned(), fault }
    }

    /// Whether there is no set, and one can be created: nothing is there, or an empty directory, or what a killed run had begun.
    pub fn is_vacant(&self) -> bool {
        matches!(self.fault, Fault::Absent | Fault::Empty { .. })
    }

    /// Whether the set was looked at and is not as it was written. Other errors say nothing about that.
    pub fn is_damage(&self) -> bool {
        matches!(self.fault, Fault::Damaged { .. } | Fault::NotRegular)
    }

    pub(super) fn damaged(path: &Path, what: &'static str, at: u64) -> SetError {
        SetError::new(path, Fault::Damaged { what, at })
    }
}

/// Adds the path to an input or output error.
pub(super) trait At<T> {
    fn at(self, path: &Path) -> Result<T, SetError>;
}

impl<T> At<T> for io::Result<T> {
    fn at(self, path: &Path) -> Result<T, SetError> {
        self.map_err(|error| SetError::new(path, Fault::Io(error)))
    }
}

impl fmt::Display for SetError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.path.display())?;
        match &self.fault {
            Fault::Io(error) => error.fmt(f),
            Fault::Absent => f.write_str("does not exist"),
            Fault::Empty { is_begun: true } => {
                f.write_str("is empty: the run that was to create this set did not complete it")
            }
            Fault::Empty { is_begun: false } => f.write_str("is an empty directory, not a key set"),
            Fault::NotASet { what } => write!(f, "not a key set: {what}"),
            Fault::Exists => f.write_str("already exists"),
            Fault::NotEmpty => f.write_str(
                "this directory holds other files and is not a set; a set is created in a new or an empty directory",
            ),
            Fault::NotRegular => f.write_str(
                "not a regular file; a set has no symbolic links, pipes, devices or directories among its files",
            ),
            Fault::Version(version) => {
                write!(f, "a set of format {version}, which this version does not support")
            }
            Fault::Damaged { what, at } => write!(
                f,
                "damaged at byte {at}: {what}; restore the set from a copy, or create it again from its list"
            ),
            Fault::Differs(difference) => difference.fmt(f),
            Fault::Busy => f.write_str("another process is writing to this set, or this one already has it open"),
        }
    }
}

impl Difference {
    /// The settings that differ, in words, where the sets are called `one` and `other`.
    ///
    /// ```
    /// use uriscan::key::PublicHash;
    /// use uriscan::set::Meaning;
    /// let meaning = |facts: &str| Meaning::new(PublicHash::Blake3, facts);
    /// let (one, other) = (meaning("level scheme\nrule www 1\n"), meaning("level syntax\n"));
    /// let difference = one.difference(&other).unwrap();
    /// let words = "level: scheme in a.set, syntax in b.set; rule www: in a.set only";
    /// assert_eq!(difference.between("a.set", "b.set"), words);
    /// ```
    pub fn between(&self, one: &str, other: &str) -> String {
        // All facts of a rules file of patterns would fill pages.
        const MOST: usize = 5;
        let mut found = Vec::new();
        for fact in &self.set {
            let name = setting(fact);
            found.push(match self.requested.iter().find(|it| setting(it) == name) {
                Some(differs) => {
                    let [own, differs] = [fact, differs].map(|fact| fact[name.len()..].trim());
                    format!("{name}: {own} in {one}, {differs} in {other}")
                }
                None => format!("{}: in {one} only", words(fact)),
            });
        }
        let is_pair = |fact: &String| self.set.iter().any(|it| setting(it) == setting(fact));
        for fact in self.requested.iter().filter(|fact| !is_pair(fact)) {
            found.push(format!("{}: in {other} only", words(fact)));
        }
        let more = found.len().saturating_sub(MOST);
        found.truncate(MOST);
        if more > 0 {
            found.push(format!("{more} more"));
        }
        if found.is_empty() { "the order of the settings".to_owned() } else { found.join("; ") }
    }
}

/// What the fact is about: of facts about the same, a meaning has one.
fn setting(fact: &str) -> &str {
    let words = match fact.split(' ').next().unwrap_or_default() {
        "rule" => 2,
        "drop" | "keep" | "repair" | "site" => return fact,
        _ => 1,
    };
    let end = fact.match_indices(' ').nth(words - 1).map_or(fact.len(), |(at, _)| at);
    &fact[..end]
}

/// A fact without what says only that it is the present version.
fn words(fact: &str) -> &str {
    if fact.starts_with("rule ") { setting(fact) } else { fact }
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.set[..], &self.requested[..]) {
            ([], [times]) if times == FIRST_SEEN => f.write_str(
                "does not record when its keys were first seen (--first-seen); `uriscan set touch` lets it record that",
            ),
            ([times], []) if times == FIRST_SEEN => {
                f.write_str("records when its keys were first seen (--first-seen), and the others do not")
            }
            _ => {
                let words = self.between("the set", "what is requested");
                write!(f, "its keys have another meaning: {words}")
            }
        }
    }
}

/// The fact of a set that records when its keys were first seen.
pub(super) const FIRST_SEEN: &str = "first-seen";

impl std::error::Error for SetError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.fault {
            Fault::Io(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::key::PublicHash;
    use crate::set::Meaning;

    #[test]
    fn settings_of_which_there_are_several_are_named_one_by_one() {
        let meaning = |facts: &str| Meaning::new(PublicHash::Blake3, facts);
        let between = |a: &str, b: &str| {
            let difference = meaning(a).difference(&meaning(b)).unwrap();
            difference.between("a", "b")
        };
        for (a, b, expected) in [
            (
                "site on x\nsite rule www 1\n",
                "site on y\nsite rule www 1\n",
                "site on x: in a only; site on y: in b only",
            ),
            ("drop x\ndrop y\n", "drop x\ndrop z\n", "drop y: in a only; drop z: in b only"),
            (
                "repair space\n",
                "repair percent\n",
                "repair space: in a only; repair percent: in b only",
            ),
            ("level scheme\n", "level syntax\n", "level: scheme in a, syntax in b"),
        ] {
            assert_eq!(between(a, b), expected);
        }
    }
}
