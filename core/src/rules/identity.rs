//! The meaning of a key, as one number.

use core::fmt;

use super::set::RuleSet;
use crate::normalize::Options;
use crate::rfc2396::Grammar;

/// Incremented when equivalence at a level changes: the grammar, the facts about schemes, the
/// mapping of DNS names.
///
/// 2: rootless paths keep their dot segments; `mailto:` domains are lowered only where they are domains.
pub const GRAMMAR_VERSION: u32 = 2;

/// The hash of all settings that decide which records are equivalent: level, grammar, rules and
/// versions.
///
/// Keys with different identities are not comparable, so the identity is stored wherever keys are.
///
/// ```
/// use uriscan::normalize::Options;
/// use uriscan::rules::{Identity, RuleSet};
/// let mut builder = RuleSet::builder();
/// builder.rule("www").unwrap();
/// let rules = builder.build().unwrap();
/// let plain = Identity::new(Options::default(), None);
/// assert_ne!(plain, Identity::new(Options::default(), Some(&rules)));
/// assert_eq!(plain.to_string().len(), 32);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Identity(pub u128);

impl Identity {
    /// The identity of canonical forms under `options` and `rules`, for URIs by RFC 3986. No rules
    /// and an empty rule set are the same.
    pub fn new(options: Options, rules: Option<&RuleSet>) -> Identity {
        Identity::of_text(&Identity::text(Grammar::Rfc3986, options, rules))
    }

    /// The identity of `text`: [`Identity::text`] followed by lines for the other settings.
    pub fn of_text(text: &str) -> Identity {
        let hash = blake3::hash(text.as_bytes());
        Identity(u128::from_be_bytes(*hash.as_bytes().first_chunk().expect("a hash of 32 bytes")))
    }

    /// The text that is hashed: one setting per line.
    pub fn text(grammar: Grammar, options: Options, rules: Option<&RuleSet>) -> String {
        let fragment = if options.drop_fragment { "dropped" } else { "kept" };
        let level = options.level;
        let mut text =
            format!("grammar {grammar} {GRAMMAR_VERSION}\nlevel {level}\nfragment {fragment}\n");
        if let Some(rules) = rules {
            rules.describe(&mut text);
        }
        text
    }
}

impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}
