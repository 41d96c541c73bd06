//! What the keys of a set mean: the hash and all that decides which records are one.

use super::error::Difference;
use crate::key::Hasher;

/// What keys mean, one fact a line: the hash, its seed, then whatever the caller says. Keys of two meanings
/// say nothing about each other, and sets of them do not mix.
///
/// ```
/// use uriscan::key::Hasher;
/// use uriscan::set::Meaning;
/// let scheme = Meaning::new(Hasher::with_seed(0), "rung scheme\n");
/// let syntax = Meaning::new(Hasher::with_seed(0), "rung syntax\n");
/// assert_eq!(scheme.as_str(), "hash xxh3-128\nseed 0\nrung scheme\n");
/// assert_eq!(scheme.difference(&scheme), None);
/// let found = scheme.difference(&syntax).unwrap();
/// assert_eq!((found.set.as_deref(), found.asked.as_deref()), (Some("rung scheme"), Some("rung syntax")));
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Meaning(String);

impl Meaning {
    /// The meaning of keys by `hasher` of what `facts` tell of, each ended by a line feed.
    pub fn new(hasher: Hasher, facts: &str) -> Meaning {
        Meaning(format!("hash {}\nseed {}\n{facts}", Hasher::NAME, hasher.seed()))
    }

    /// The meaning that [`Meaning::as_str`] gave; `None` if these are not its lines.
    pub fn from_text(text: &str) -> Option<Meaning> {
        let meaning = Meaning(text.to_owned());
        let has_hash = meaning.fact("hash") == Some(Hasher::NAME);
        let is_whole = text.ends_with('\n') && text.lines().all(|line| line.contains(' '));
        (has_hash && is_whole && meaning.fact("seed")?.parse::<u64>().is_ok()).then_some(meaning)
    }

    /// The lines.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The hasher, as it was before rules had their say.
    pub fn hasher(&self) -> Hasher {
        let seed = self.fact("seed").and_then(|seed| seed.parse().ok());
        Hasher::with_seed(seed.unwrap_or_default())
    }

    /// What stands behind `name` in the first line that begins with it.
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
