//! The meaning of the keys of a set: the hash, and all settings that decide which records are
//! equivalent.

use std::collections::HashSet;

use super::error::Difference;
use crate::key::PublicHash;

/// Bytes of the text of rules: what a file of rules may have. Compiled, they take up to a hundred times as many.
const MOST_RULES: usize = 4 << 20;

/// Begins each line of the text of rules.
const RULES: &str = "| ";

/// The meaning of keys, one fact per line: the hash, followed by the caller's facts. Keys with
/// different meanings are not comparable, and sets of them cannot be combined.
///
/// Rules may come with it as text from which they can be made again. It says nothing beyond the facts, and does not count
/// when meanings are compared.
///
/// ```
/// use uriscan::key::PublicHash;
/// use uriscan::set::Meaning;
/// let scheme = Meaning::new(PublicHash::Blake3, "level scheme\n");
/// let syntax = Meaning::new(PublicHash::Blake3, "level syntax\n");
/// assert_eq!(scheme.as_str(), "hash blake3\nlevel scheme\n");
/// assert_eq!(scheme.difference(&scheme), None);
/// let found = scheme.difference(&syntax).unwrap();
/// assert_eq!((found.set, found.requested), (vec!["level scheme".to_owned()], vec!["level syntax".to_owned()]));
/// ```
#[derive(Clone, Debug)]
pub struct Meaning {
    facts: String,
    /// The text of the rules; lines that each end in a line feed.
    rules: Option<String>,
}

impl PartialEq for Meaning {
    fn eq(&self, other: &Meaning) -> bool {
        self.facts == other.facts
    }
}

impl Eq for Meaning {}

impl Meaning {
    /// The meaning of keys by `hash` under `facts`, each of which ends in a line feed.
    pub fn new(hash: PublicHash, facts: &str) -> Meaning {
        Meaning { facts: format!("hash {hash}\n{facts}"), rules: None }
    }

    /// The same with the text of the rules, if there are any.
    #[must_use]
    pub fn with_rules(self, text: &str) -> Meaning {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        Meaning { rules: (!text.is_empty()).then(|| format!("{text}{end}")), ..self }
    }

    /// Parses the result of [`Meaning::to_text`]; `None` if `text` is not one.
    pub fn from_text(text: &str) -> Option<Meaning> {
        let of_rules =
            if text.starts_with(RULES) { Some(0) } else { text.find("\n| ").map(|at| at + 1) };
        let (facts, text) = text.split_at(of_rules.unwrap_or(text.len()));
        let is_whole = facts.ends_with('\n') && facts.lines().all(|line| line.contains(' '));
        let mut rules = String::new();
        for line in text.split_inclusive('\n') {
            rules += line.strip_prefix(RULES).filter(|line| line.ends_with('\n'))?;
        }
        let rules = of_rules.map(|_| rules);
        let meaning = Meaning { facts: facts.to_owned(), rules };
        PublicHash::from_name(meaning.fact("hash")?)?;
        (is_whole && meaning.fits()).then_some(meaning)
    }

    /// Whether the text of the rules is short enough for a set.
    pub(super) fn fits(&self) -> bool {
        self.rules.as_ref().is_none_or(|rules| rules.len() <= MOST_RULES)
    }

    /// The facts, line by line.
    pub fn as_str(&self) -> &str {
        &self.facts
    }

    /// The text of the rules, if it comes with them.
    pub fn rules(&self) -> Option<&str> {
        self.rules.as_deref()
    }

    /// The facts, and the text of the rules: each of its lines after a bar and a space.
    pub fn to_text(&self) -> String {
        let rules = self.rules().unwrap_or_default().split_inclusive('\n');
        rules.fold(self.facts.clone(), |text, line| text + RULES + line)
    }

    /// Takes the text of the rules of `other`, which has the same facts, if that is the one to keep: of several texts the
    /// least is, so that the order of sets that are combined does not matter.
    pub(super) fn prefer(&mut self, other: &Meaning) {
        if other.rules.is_some() && (self.rules.is_none() || other.rules < self.rules) {
            self.rules.clone_from(&other.rules);
        }
    }

    /// The hash of the keys.
    pub fn hash(&self) -> PublicHash {
        self.fact("hash").and_then(PublicHash::from_name).unwrap_or_default()
    }

    /// The text after `name` in the first line that begins with it.
    pub fn fact(&self, name: &str) -> Option<&str> {
        self.facts.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '))
    }

    /// The facts in which the meaning of a set differs from the requested one, if there are any.
    pub fn difference(&self, requested: &Meaning) -> Option<Difference> {
        let only = |one: &Meaning, other: &Meaning| -> Vec<String> {
            let others: HashSet<&str> = other.facts.lines().collect();
            let is_missing = |line: &&str| !others.contains(line);
            one.facts.lines().filter(is_missing).map(str::to_owned).collect()
        };
        let (set, other) = (only(self, requested), only(requested, self));
        (self != requested).then_some(Difference { set, requested: other })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meaning(rules: &str) -> Meaning {
        Meaning::new(PublicHash::Blake3, "level scheme\nrule www 1\n").with_rules(rules)
    }

    #[test]
    fn facts_and_rules_are_read_as_they_are_written() {
        for rules in ["", "a", "a\n", "\n", "a\n\n| b\n# c", "a\r\n", "é = '\u{2028}'\n"] {
            let text = meaning(rules).to_text();
            let read = Meaning::from_text(&text).unwrap();
            assert_eq!(read.rules(), meaning(rules).rules(), "{rules:?}");
            assert_eq!((read.to_text(), &read), (text, &meaning("other")), "{rules:?}");
        }
        for text in [
            "",
            "level scheme\n",
            "| a\n",
            "hash blake3\nlevel\n",
            "hash blake3\nlevel scheme",
            "hash blake4\nlevel scheme\n",
            "hash blake3\n| a",
            "hash blake3\n|a\n| b\n",
            "hash blake3\n| a\nlevel scheme\n",
            "hash blake3\n| a\n\n",
        ] {
            assert_eq!(Meaning::from_text(text), None, "{text:?}");
        }
    }

    #[test]
    fn rules_that_are_too_long_are_not_stored() {
        let longest = meaning(&"x".repeat(MOST_RULES - 1));
        assert!(longest.fits() && Meaning::from_text(&longest.to_text()).is_some());
        let longer = meaning(&"x".repeat(MOST_RULES));
        assert!(!longer.fits() && Meaning::from_text(&longer.to_text()).is_none());
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("s");
        let error = crate::set::SetWriter::create(&path, longer).unwrap_err().to_string();
        assert!(error.contains("more than 4 MiB") && !path.exists(), "{error}");
    }

    #[test]
    fn the_text_that_is_kept_does_not_depend_on_the_order() {
        let texts = ["b", "", "a", "c"].map(meaning);
        for first in &texts {
            let mut kept = first.clone();
            texts.iter().for_each(|other| kept.prefer(other));
            assert_eq!(kept.rules(), Some("a\n"));
        }
    }
}
