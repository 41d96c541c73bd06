//! Which rules are necessary to make two URIs equivalent.

use std::sync::Arc;

use crate::normalize::{Options, normalize_exact};
use crate::rules::{Rule, RuleSet, Rules, Scratch};

/// What makes two URIs equivalent: a level, and rules.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) texts: [&'a [u8]; 2],
    pub(super) options: Options,
    pub(super) rules: Option<&'a RuleSet>,
}

/// The rules without any of which `a` and `b`, which are equivalent under `options` and `rules`, would differ: what is
/// left when each that can be spared is omitted, one after the other in the order in which they are applied. `None` if
/// `a` and `b` are not equivalent.
///
/// [`Options::drop_fragment`] counts as the rule `fragment`. Rules that change neither of the two are omitted first.
/// `allow-param` only keeps parameters: it is never omitted and never named.
pub fn necessary_rules(
    a: &[u8],
    b: &[u8],
    options: Options,
    rules: Option<&RuleSet>,
) -> Option<Rules> {
    Pair { texts: [a, b], options, rules }.necessary()
}

impl Pair<'_> {
    /// All rules that are on.
    fn all(&self) -> Rules {
        let mut all = self.rules.map_or(Rules::default(), RuleSet::rules);
        if self.options.drop_fragment {
            all.add(Rule::Fragment);
        }
        all
    }

    /// The options and rules of which `kept` are left.
    pub(super) fn only(&self, kept: Rules) -> (Options, Option<Arc<RuleSet>>) {
        let drop_fragment = self.options.drop_fragment && kept.has(Rule::Fragment);
        let options = Options { drop_fragment, ..self.options };
        let rules = self.rules.filter(|_| !kept.is_empty()).and_then(|rules| {
            let [a, b] = self.texts.map(|text| form(text, options, None).0);
            rules.only(kept, [&a, &b])
        });
        (options, rules)
    }

    /// Whether the two are equivalent if only the rules of `kept` are on.
    pub(super) fn are_equivalent(&self, kept: Rules) -> bool {
        let (options, rules) = self.only(kept);
        let [a, b] = self.texts.map(|text| form(text, options, rules.as_deref()).0);
        a == b
    }

    /// See [`necessary_rules`].
    pub(super) fn necessary(&self) -> Option<Rules> {
        if self.texts[0] == self.texts[1] || self.are_equivalent(Rules::default()) {
            return Some(Rules::default());
        }
        let [a, b] = self.texts.map(|text| form(text, self.options, self.rules));
        if a.0 != b.0 {
            return None;
        }
        // Most rules change neither, and need not be tried one by one.
        let mut kept = a.1.union(b.1);
        if self.options.drop_fragment {
            kept.add(Rule::Fragment);
        }
        if !self.are_equivalent(kept) {
            kept = self.all();
        }
        // A rule may be needed only because of another that turns out to be superfluous.
        loop {
            let before = kept;
            for rule in before.iter() {
                let fewer = kept.without(Rules::of(&[rule]));
                if self.are_equivalent(fewer) {
                    kept = fewer;
                }
            }
            if kept == before {
                return Some(kept.without(Rules::of(&[Rule::AllowParam])));
            }
        }
    }
}

/// The form of `text` under `options` and `rules`, or its own bytes if it has none, and the rules that change it.
fn form(text: &[u8], options: Options, rules: Option<&RuleSet>) -> (Vec<u8>, Rules) {
    let mut form = Vec::new();
    if normalize_exact(text, options.level, options.drop_fragment, &mut form).is_err() {
        // Equivalent only to the same bytes, which are not the canonical form of anything else.
        return (text.to_vec(), Rules::default());
    }
    let Some(rules) = rules else { return (form, Rules::default()) };
    let mut scratch = Scratch::default();
    let (form, changed) = rules.apply(&form, &mut scratch);
    (form.to_vec(), changed)
}
