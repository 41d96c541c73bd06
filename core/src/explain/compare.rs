//! Compares two URIs: the level at which they are equivalent, and the rules that are necessary for it.

use super::difference::{Difference, components_spelled_differently, differences};
use super::step::{self, STEPS, Step};
use super::take::steps_of;
use super::trace::Taken;
use crate::chunk::PaddedBuf;
use crate::normalize::{Level, Normalizer, Options};
use crate::rules::{Rule, RuleSet, Rules, Scratch, Subsets, rules_of_differences};
use crate::simd::Kernels;
use crate::uri::parse;

/// The result of comparing two URIs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// They are equivalent.
    Equivalent {
        /// The lowest level at which they are equivalent, with the rules among the steps.
        level: Level,
        /// The steps that make them equivalent, in order. Of the level, those that change a component which the two
        /// spell differently. Then a minimal set of rules: without one of them the two differ at the level of the
        /// options; [`Step::level`] is `None` for them. Empty if their bytes are equal.
        steps: Vec<&'static Step>,
    },
    /// They are not equivalent at any level up to that of the options.
    Different {
        /// Where they differ, one entry for each component that differs, in the order of the
        /// components; never empty. `at` holds offsets in the two inputs.
        differences: Vec<Difference>,
    },
}

/// Compares two URIs up to the level of `options`; nothing is trimmed.
///
/// Bytes that are not a URI are equivalent only to the same bytes.
///
/// ```
/// use uriscan::explain::{Comparison, Reason, compare};
/// use uriscan::normalize::{Options, Level};
/// let options = Options::default();
/// match compare(b"http://h:80/%7e", b"HTTP://h/%7e", options) {
///     Comparison::Equivalent { level, steps } => {
///         assert_eq!(level, Level::Scheme);
///         assert_eq!(steps.iter().map(|step| step.name).collect::<Vec<_>>(), ["scheme-case", "default-port"]);
///     }
///     Comparison::Different { .. } => unreachable!(),
/// }
/// match compare(b"http://h:80/?a&b", b"http://h/?b&a", options) {
///     Comparison::Different { differences } => {
///         assert_eq!((differences[0].reason, differences[0].at), (Reason::QueryOrder, [13, 10]));
///     }
///     Comparison::Equivalent { .. } => unreachable!(),
/// }
/// ```
pub fn compare(a: &[u8], b: &[u8], options: Options) -> Comparison {
    compare_with_rules(a, b, options, None)
}

/// [`compare`], with rules beyond the RFC, which are applied to the form of each level. Only rules that are necessary
/// are among the steps, after those of the level.
///
/// ```
/// use uriscan::explain::{Comparison, compare_with_rules};
/// use uriscan::normalize::Options;
/// use uriscan::rules::RuleSet;
/// let mut builder = RuleSet::builder();
/// for rule in ["www", "index-page", "trailing-slash"] {
///     builder.rule(rule).unwrap();
/// }
/// let rules = builder.build().unwrap();
/// let (a, b) = (b"HTTP://www.example.com/index.html", b"http://example.com/index.html");
/// let compared = compare_with_rules(a, b, Options::default(), Some(&rules));
/// let Comparison::Equivalent { level, steps } = compared else { unreachable!() };
/// let names: Vec<_> = steps.iter().map(|step| step.name).collect();
/// assert_eq!((level.name(), &names[..]), ("syntax", &["scheme-case", "www"][..]));
/// ```
///
/// Takes time like [`explain_with_rules`](super::explain_with_rules). For many pairs there is a [`Comparer`].
pub fn compare_with_rules(
    a: &[u8],
    b: &[u8],
    options: Options,
    rules: Option<&RuleSet>,
) -> Comparison {
    Comparer::new(options, rules).compare(a, b)
}

/// Compares pairs of URIs under the same options and rules; what it makes for one pair serves the next ones.
///
/// ```
/// use uriscan::explain::Comparer;
/// use uriscan::normalize::Options;
/// use uriscan::rules::{Rule, RuleSet};
/// let mut builder = RuleSet::builder();
/// for rule in ["www", "index-page", "trailing-slash"] {
///     builder.rule(rule).unwrap();
/// }
/// let rules = builder.build().unwrap();
/// let mut comparer = Comparer::new(Options::default(), Some(&rules));
/// let found = comparer.necessary(b"http://www.h.example/a/", b"http://h.example/a").unwrap();
/// assert_eq!(found.iter().collect::<Vec<_>>(), [Rule::Www, Rule::TrailingSlash]);
/// assert_eq!(comparer.necessary(b"http://h.example/b", b"http://h.example/a"), None);
/// ```
#[derive(Debug)]
pub struct Comparer<'r> {
    options: Options,
    subsets: Option<Subsets<'r>>,
    kernels: Kernels,
    normalizer: Normalizer,
    /// The forms of the pair with its fragments, and without them.
    forms: [Forms; 2],
    scratch: [Scratch; 2],
    taken: Taken,
}

/// The forms of a pair before rules.
#[derive(Debug, Default)]
struct Forms {
    /// That of the forms; `None` if they are those of another pair.
    level: Option<Level>,
    /// Of a text without a form, its own bytes: they are the form of nothing else.
    texts: [PaddedBuf; 2],
    has_form: [bool; 2],
}

impl<'r> Comparer<'r> {
    /// One that compares up to the level of `options`, by `rules` on top.
    pub fn new(options: Options, rules: Option<&'r RuleSet>) -> Comparer<'r> {
        Comparer {
            options,
            subsets: rules.map(Subsets::new),
            kernels: Kernels::detect(),
            normalizer: Normalizer::new(options),
            forms: Default::default(),
            scratch: Default::default(),
            taken: Taken::default(),
        }
    }

    /// Compares `a` and `b` as [`compare_with_rules`] does.
    pub fn compare(&mut self, a: &[u8], b: &[u8]) -> Comparison {
        match self.merged_by(a, b) {
            Some((level, steps)) => Comparison::Equivalent { level, steps },
            None => {
                let rules = self.subsets.as_ref().map(Subsets::all);
                Comparison::Different { differences: differences(a, b, self.options, rules) }
            }
        }
    }

    /// The level and the steps of [`Comparison::Equivalent`]; `None` if `a` and `b` differ, without the reasons.
    pub fn merged_by(&mut self, a: &[u8], b: &[u8]) -> Option<(Level, Vec<&'static Step>)> {
        // Rules see the forms of a level, so two URIs may be equivalent at a lower level and not at that
        // of the options: only the latter counts.
        let kept = self.necessary(a, b)?;
        let highest = self.options.level;
        let mut lower = Level::ALL.into_iter().filter(|&level| level < highest);
        if kept.is_empty() && a != b {
            // By their bytes they differ.
            lower.next();
        }
        // What is canonical is so on each level.
        let level = match self.are_canonical([a, b]) {
            true => lower.next(),
            false => lower.find(|&level| self.are_equivalent([a, b], level, kept)),
        };
        let level = level.unwrap_or(highest);
        let mut steps = self.steps_at(a, b, level);
        let of_rule = |rule| match rule {
            Rule::Fragment if self.options.drop_fragment => &step::FRAGMENT,
            rule => step::of_rule(rule),
        };
        steps.extend(kept.iter().map(of_rule));
        Some((level, steps))
    }

    /// A minimal set of rules under which `a` and `b` are equivalent: without one of them they differ. It is what is left
    /// when each rule that can be spared is omitted, one after the other in the order in which they are applied. `None` if
    /// `a` and `b` are not equivalent under the options and all rules.
    ///
    /// [`Options::drop_fragment`] counts as the rule `fragment`. Rules that change neither of the two are omitted first.
    /// `allow-param` only keeps parameters: it is never omitted and never named.
    pub fn necessary(&mut self, a: &[u8], b: &[u8]) -> Option<Rules> {
        self.forms.iter_mut().for_each(|forms| forms.level = None);
        let (texts, level) = ([a, b], self.options.level);
        if a == b || self.are_equivalent(texts, level, Rules::default()) {
            return Some(Rules::default());
        }
        // Most rules change neither, and need not be tried one by one.
        let mut kept = self.changing(texts)?;
        let suffice = self.subsets.as_ref().is_none_or(Subsets::are_independent);
        let parts = self.forms[0].rules_of_differences(self.kernels);
        if suffice {
            // Rules about what the two do not differ in do the same to both.
            let about = parts.iter().fold(Rules::default(), |all, part| all.union(*part));
            let fewer = kept.without(Rules::of(&Rule::ALL).without(about));
            let is_less = fewer != kept && !fewer.is_empty();
            let is_known = self.subsets.as_ref().is_none_or(|it| it.act_by_part(fewer));
            if is_less && (is_known || self.are_equivalent(texts, level, fewer)) {
                kept = fewer;
            }
        } else if !self.are_equivalent(texts, level, kept) {
            kept = self.all();
        }
        // A rule may be needed only because of another that turns out to be superfluous.
        loop {
            let before = kept;
            for rule in before.iter() {
                let fewer = kept.without(Rules::of(&[rule]));
                // That none is not enough is known, nor is it without all that may change a part in which the two differ.
                let is_needed =
                    parts.iter().any(|part| kept.has_any(*part) && !fewer.has_any(*part));
                if !fewer.is_empty() && !is_needed && self.are_equivalent(texts, level, fewer) {
                    kept = fewer;
                }
            }
            if kept == before {
                return Some(kept.without(Rules::of(&[Rule::AllowParam])));
            }
        }
    }

    /// All rules that are on.
    fn all(&self) -> Rules {
        let mut all = self.subsets.as_ref().map_or(Rules::default(), |it| it.all().rules());
        if self.options.drop_fragment {
            all.add(Rule::Fragment);
        }
        all
    }

    /// The rules that change one of the two, if they make them equal.
    fn changing(&mut self, texts: [&[u8]; 2]) -> Option<Rules> {
        let drop_fragment = self.options.drop_fragment;
        self.find_forms(texts, self.options.level, drop_fragment);
        let Comparer { forms, scratch, subsets, kernels, .. } = self;
        let rules = subsets.as_ref().map(Subsets::all);
        let forms = &forms[usize::from(drop_fragment)];
        let [(a, by_a), (b, by_b)] = forms.under(*kernels, rules, scratch);
        let mut rules = by_a.union(by_b);
        if drop_fragment {
            rules.add(Rule::Fragment);
        }
        (a == b).then_some(rules)
    }

    /// Whether the two are equivalent at `level` if only the rules of `kept` are on.
    fn are_equivalent(&mut self, texts: [&[u8]; 2], level: Level, kept: Rules) -> bool {
        let drop_fragment = self.options.drop_fragment && kept.has(Rule::Fragment);
        self.find_forms(texts, level, drop_fragment);
        let Comparer { forms, scratch, subsets, kernels, .. } = self;
        let forms = &forms[usize::from(drop_fragment)];
        let subsets = subsets.as_mut().filter(|_| !kept.is_empty());
        let rules = subsets.and_then(|it| it.only(kept, forms.bytes()));
        let [(a, _), (b, _)] = forms.under(*kernels, rules, scratch);
        a == b
    }

    /// Whether both are known to be their own forms at the level of the options, with their fragments.
    fn are_canonical(&self, texts: [&[u8]; 2]) -> bool {
        let forms = &self.forms[0];
        let is_known = forms.level == Some(self.options.level) && forms.has_form == [true; 2];
        is_known && forms.bytes() == texts
    }

    /// Ensures that the forms of the two at `level` are those of `forms`.
    fn find_forms(&mut self, texts: [&[u8]; 2], level: Level, drop_fragment: bool) {
        let forms = &mut self.forms[usize::from(drop_fragment)];
        if forms.level.replace(level) == Some(level) {
            return;
        }
        self.normalizer.set_options(Options { level, drop_fragment });
        for (i, text) in texts.into_iter().enumerate() {
            let form = self.normalizer.normalize(text);
            forms.has_form[i] = form.is_ok();
            forms.texts[i].set(form.unwrap_or(text));
        }
    }

    /// Of the steps that make of `a` and `b` their forms at `level`, those that change a component which the two spell
    /// differently, in order; rules are not among them.
    pub fn steps_at(&mut self, a: &[u8], b: &[u8], level: Level) -> Vec<&'static Step> {
        if level == Level::String || a == b {
            return Vec::new();
        }
        let [a, b] = [a, b].map(|text| (text, parse(text)));
        let differs = components_spelled_differently((a.0, &a.1), (b.0, &b.1));
        let mut found = 0_u64;
        for text in [a, b] {
            for &(step, component) in steps_of(text, (level, differs), &mut self.taken) {
                if differs.has(component) {
                    let number = STEPS.iter().position(|known| std::ptr::eq(*known, step));
                    found |= number.map_or(0, |number| 1 << number);
                }
            }
        }
        STEPS.iter().zip(0..).filter(|(_, i)| found >> i & 1 == 1).map(|(step, _)| *step).collect()
    }
}

impl Forms {
    fn bytes(&self) -> [&[u8]; 2] {
        self.texts.each_ref().map(|text| text.padded().content())
    }

    /// What `rules` make of the two forms, and those that change them.
    fn under<'a>(
        &'a self,
        kernels: Kernels,
        rules: Option<&RuleSet>,
        [a, b]: &'a mut [Scratch; 2],
    ) -> [(&'a [u8], Rules); 2] {
        let apply = |i: usize, scratch: &'a mut Scratch| {
            let form = self.texts[i].padded();
            match rules {
                Some(rules) if self.has_form[i] => rules.apply_with(kernels, form.into(), scratch),
                _ => (form.content(), Rules::default()),
            }
        };
        [apply(0, a), apply(1, b)]
    }

    /// See [`rules_of_differences`].
    fn rules_of_differences(&self, kernels: Kernels) -> [Rules; 7] {
        let [a, b] = self.texts.each_ref().map(|text| text.padded().into());
        rules_of_differences(kernels, a, b)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{Component, explain};
    use super::*;

    /// The components of a URI with their delimiters, by the parts that [`parse`] finds in a text of ASCII.
    fn written(text: &str) -> Vec<(Component, String)> {
        let ascii: String =
            text.bytes().map(|b| if b.is_ascii() { b as char } else { 'x' }).collect();
        let parts = parse(ascii.as_bytes()).unwrap();
        let scheme = parts.scheme_end as usize;
        let authority = (parts.authority_start as usize).max(scheme + 1);
        let ends = [
            (Component::Scheme, scheme),
            (Component::Authority, authority),
            (Component::Userinfo, (parts.host_start as usize).max(authority)),
            (Component::Host, (parts.host_end as usize).max(authority)),
            (Component::Port, parts.path_start as usize),
            (Component::Path, parts.path_end as usize),
            (Component::Query, parts.query_end as usize),
            (Component::Fragment, text.len()),
        ];
        let mut start = 0;
        let part = |(component, end): (Component, usize)| {
            let part = text.as_bytes()[start..end].to_vec();
            start = end;
            (component, format!("{part:?}"))
        };
        ends.map(part).to_vec()
    }

    const URI: &str = "(http|HTTP|file|FILE|mailto|urn|x):(//([uU%41]{0,2}@)?(LOCALHOST|localhost|h|H|[hH%\\.c][a-c2-9.]{0,4}|\\[::0A\\]|ß\\.de|)(:0?(80|81)?)?)?\
                       (/?(\\.|\\.\\.|%2[eE]|%7e|[A-Za-c@])?){0,5}(\\?[a%7eE]{0,3})?(#[a%7e]{0,3})?";

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(1024))]
        #[test]
        fn steps_are_those_of_both_explanations(a in URI, b in URI, levels in 0..3_usize) {
            let level = Level::ALL[levels];
            let pair = [&a, &b].map(|text| explain(text.as_bytes(), Options::new(level)));
            let [Ok(of_a), Ok(of_b)] = &pair else { return Ok(()) };
            let (written_a, written_b) = (written(&a), written(&b));
            let differ = |component| {
                let part = |all: &[(Component, String)]| all.iter().find(|it| it.0 == component).cloned();
                part(&written_a) != part(&written_b)
            };
            let changes = of_a.changes.iter().chain(&of_b.changes);
            let names: Vec<_> =
                changes.filter(|change| differ(change.component)).map(|change| change.step.name).collect();
            let expected: Vec<_> =
                STEPS.iter().map(|step| step.name).filter(|name| names.contains(name)).collect();
            let mut comparer = Comparer::new(Options::new(level), None);
            let found = comparer.steps_at(a.as_bytes(), b.as_bytes(), level);
            let found: Vec<_> = found.iter().map(|step| step.name).collect();
            prop_assert_eq!(found, expected, "{} {} {}", a, b, level);
        }
    }
}
