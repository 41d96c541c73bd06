//! What the keys of a set mean: the hash and all that decides which records are one.

use super::error::Difference;
use crate::key::PublicHash;

/// What keys mean, one fact a line: the hash, then whatever the caller says. Keys of two meanings
/// say nothing about each other, and sets of them do not mix.
///
/// ```
/// use uriscan::key::PublicHash;
/// use uriscan::set::Meaning;
/// let scheme = Meaning::new(PublicHash::Blake3, "rung scheme\n");
/// let syntax = Meaning::new(PublicHash::Blake3, "rung syntax\n");
/// assert_eq!(scheme.as_str(), "hash blake3\nrung scheme\n");
/// assert_eq!(scheme.difference(&scheme), None);
/// let found = scheme.difference(&syntax).unwrap();
/// assert_eq!((found.set.as_deref(), found.asked.as_deref()), (Some("rung scheme"), Some("rung syntax")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning(String);

impl Meaning {
    /// The meaning of keys by `hash` under `facts`, each ended by a line feed.
    pub fn new(hash: PublicHash, facts: &str) -> Meaning {
        Meaning(format!("hash {hash}\n{facts}"))
    }

    /// The meaning that [`Meaning::as_str`] gave; `None` if these are not its lines.
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

    /// The hash that makes the keys.
    pub fn hash(&self) -> PublicHash {
        self.fact("hash").and_then(PublicHash::from_name).unwrap_or_default()
    }

    /// What follows `name` in the first line that begins with it.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    }

    /// The first fact in which the meaning of a set and the one `asked` for differ.
    pub fn difference(&self, asked: &Meaning) -> Option<Difference> {
        let only = |one: &Meaning, other: &Meaning| {
            one.0.lines().find(|line| !other.0.lines().any(|it| it == *line)).map(str::to_owned)
        };
        let (set, other) = (only(self, asked), only(asked, self));
        (self != asked).then_some(Difference { set, asked: other })
    }
}
