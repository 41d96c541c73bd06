//! The meaning of the keys of a set: the hash, and all settings that decide which records are
//! equivalent.

use super::error::Difference;
use crate::key::PublicHash;

/// The meaning of keys, one fact per line: the hash, followed by the caller's facts. Keys with
/// different meanings are not comparable, and sets of them cannot be combined.
///
/// ```
/// use uriscan::key::PublicHash;
/// use uriscan::set::Meaning;
/// let scheme = Meaning::new(PublicHash::Blake3, "rung scheme\n");
/// let syntax = Meaning::new(PublicHash::Blake3, "rung syntax\n");
/// assert_eq!(scheme.as_str(), "hash blake3\nrung scheme\n");
/// assert_eq!(scheme.difference(&scheme), None);
/// let found = scheme.difference(&syntax).unwrap();
/// assert_eq!((found.set, found.requested), (vec!["rung scheme".to_owned()], vec!["rung syntax".to_owned()]));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning(String);

impl Meaning {
    /// The meaning of keys by `hash` under `facts`, each of which ends in a line feed.
    pub fn new(hash: PublicHash, facts: &str) -> Meaning {
        Meaning(format!("hash {hash}\n{facts}"))
    }

    /// Parses the result of [`Meaning::as_str`]; `None` if `text` is not one.
    pub fn from_text(text: &str) -> Option<Meaning> {
        let meaning = Meaning(text.to_owned());
        let is_whole = text.ends_with('\n') && text.lines().all(|line| line.contains(' '));
        PublicHash::from_name(meaning.fact("hash")?)?;
        is_whole.then_some(meaning)
    }

    /// The lines.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hash of the keys.
    pub fn hash(&self) -> PublicHash {
        self.fact("hash").and_then(PublicHash::from_name).unwrap_or_default()
    }

    /// The text after `name` in the first line that begins with it.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    }

    /// The facts in which the meaning of a set differs from the requested one, if there are any.
    pub fn difference(&self, requested: &Meaning) -> Option<Difference> {
        let only = |one: &Meaning, other: &Meaning| -> Vec<String> {
            let is_missing = |line: &&str| !other.0.lines().any(|it| it == *line);
            one.0.lines().filter(is_missing).map(str::to_owned).collect()
        };
        let (set, other) = (only(self, requested), only(requested, self));
        (self != requested).then_some(Difference { set, requested: other })
    }
}
