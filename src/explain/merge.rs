//! What beyond the options would make two URIs equivalent: higher rungs, rules, packs and presets, found by applying them.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::normalize::{Options, Rung, normalize_exact};
use crate::rules::{Pack, Preset, Rule, RuleSet, Scratch};

/// Most parameters that are tried for a rule of their own.
const MOST_PARAMS: usize = 16;

/// Something that would make two URIs equivalent. It is shown as the options of the program that turn it on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Merger {
    /// A higher rung.
    Rung(Rung),
    /// Rules as on a command line, all of which are needed.
    Rules(Vec<String>),
    /// A built-in pack.
    Pack(&'static str),
    /// A preset.
    Preset(String),
}

impl fmt::Display for Merger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Merger::Rung(rung) => write!(f, "--rung {rung}"),
            Merger::Rules(rules) => {
                let options: Vec<String> =
                    rules.iter().map(|rule| format!("--rule {rule}")).collect();
                f.write_str(&options.join(" "))
            }
            Merger::Pack(name) => write!(f, "--rules {name}"),
            Merger::Preset(name) => write!(f, "--preset {name}"),
        }
    }
}

/// What would merge `a` and `b`, which differ under `options` and `rules`: of higher rungs the lowest; each rule that is enough
/// alone, else a set of rules none of which can be spared; packs; presets. Empty if one of them is no URI, or if nothing
/// does. Rules are applied after `rules`, to the forms of the options' rung.
///
/// ```
/// use uriscan::explain::mergers;
/// use uriscan::normalize::Options;
/// let found = |a: &str, b: &str| {
///     let found = mergers(a.as_bytes(), b.as_bytes(), Options::default(), None);
///     found.iter().map(ToString::to_string).collect::<Vec<_>>()
/// };
/// assert_eq!(found("http://h/a/", "http://h/a"), ["--rule trailing-slash", "--preset log"]);
/// assert_eq!(found("http://h/a", "http://h/b"), [""; 0]);
/// ```
pub fn mergers(a: &[u8], b: &[u8], options: Options, rules: Option<&RuleSet>) -> Vec<Merger> {
    let form = |text: &[u8], rung| {
        let mut form = Vec::new();
        normalize_exact(text, rung, options.drop_fragment, &mut form).ok()?;
        Some(match rules {
            Some(rules) => apply(rules, &form),
            None => form,
        })
    };
    let forms = |rung| Some((form(a, rung)?, form(b, rung)?));
    let higher = Rung::ALL.into_iter().filter(|&rung| rung > options.rung);
    let mut higher = higher.filter(|&rung| forms(rung).is_some_and(|(a, b)| a == b));
    let mut found: Vec<Merger> = higher.next().map(Merger::Rung).into_iter().collect();
    let Some((a, b)) = forms(options.rung) else { return Vec::new() };
    let merges = |rules: &RuleSet| apply(rules, &a) == apply(rules, &b);
    found.extend(by_rules(&a, &b, merges));
    let packs = Pack::built_in_names().zip(&*PACKS);
    found.extend(packs.filter(|(_, rules)| merges(rules)).map(|(name, _)| Merger::Pack(name)));
    let presets = PRESETS.iter().filter(|(_, rules)| merges(rules));
    found.extend(presets.map(|(name, _)| Merger::Preset(name.clone())));
    found
}

/// The rules of each built-in pack, in the order of their names.
static PACKS: LazyLock<Vec<RuleSet>> = LazyLock::new(|| {
    let pack = |name| {
        let mut builder = RuleSet::builder();
        builder.pack(&Pack::built_in(name).expect("its name is listed"));
        builder.build().expect("built-in packs are tested")
    };
    Pack::built_in_names().map(pack).collect()
});

static PRESETS: LazyLock<Vec<(String, RuleSet)>> = LazyLock::new(|| {
    let preset = |preset: Preset| {
        let mut builder = RuleSet::builder();
        builder.preset(&preset).expect("built-in presets are tested");
        (preset.name, builder.build().expect("built-in presets are tested"))
    };
    Preset::newest().into_iter().map(preset).collect()
});

fn apply(rules: &RuleSet, form: &[u8]) -> Vec<u8> {
    rules.apply(form, &mut Scratch::default()).0.to_vec()
}

/// The rules of these names; `None` if one cannot be typed so.
fn rule_set(names: &[String]) -> Option<RuleSet> {
    let mut builder = RuleSet::builder();
    names.iter().try_for_each(|name| builder.rule(name)).ok()?;
    builder.build().ok()
}

/// The rules that merge the forms `a` and `b`.
fn by_rules(a: &[u8], b: &[u8], merges: impl Fn(&RuleSet) -> bool) -> Vec<Merger> {
    let do_merge = |names: &[String]| rule_set(names).is_some_and(|rules| merges(&rules));
    let plain = Rule::ALL.into_iter().filter(|rule| rule_set(&[rule.name().to_owned()]).is_some());
    let mut names: Vec<String> = plain.map(|rule| rule.name().to_owned()).collect();
    names.extend(params(a, b).into_iter().map(|name| format!("drop-param={name}")));
    let alone: Vec<String> =
        names.iter().filter(|name| do_merge(core::slice::from_ref(*name))).cloned().collect();
    if !alone.is_empty() {
        return alone.into_iter().map(|name| Merger::Rules(vec![name])).collect();
    }
    if !do_merge(&names) {
        return Vec::new();
    }
    let mut at = 0;
    while at < names.len() {
        let name = names.remove(at);
        if !do_merge(&names) {
            names.insert(at, name);
            at += 1;
        }
    }
    vec![Merger::Rules(names)]
}

/// The names of parameters whose values in the two forms differ, if they are few and can be typed as they are.
fn params(a: &[u8], b: &[u8]) -> Vec<String> {
    let values = |form: &[u8]| {
        let end = memchr::memchr(b'#', form).unwrap_or(form.len());
        let query = memchr::memchr(b'?', &form[..end]).map_or(&[][..], |at| &form[at + 1..end]);
        let mut values = BTreeMap::<Vec<u8>, Vec<Vec<u8>>>::new();
        for param in query.split(|&byte| byte == b'&').filter(|param| !param.is_empty()) {
            let name = param.split(|&byte| byte == b'=').next().unwrap_or_default();
            values.entry(name.to_vec()).or_default().push(param.to_vec());
        }
        values
    };
    let (a, b) = (values(a), values(b));
    let mut names: Vec<&Vec<u8>> =
        a.keys().chain(b.keys()).filter(|&name| a.get(name) != b.get(name)).collect();
    names.sort();
    names.dedup();
    let is_plain = |name: &[u8]| {
        !name.is_empty()
            && name.iter().all(|byte| byte.is_ascii_alphanumeric() || b"-._~[]%".contains(byte))
    };
    if names.len() > MOST_PARAMS || !names.iter().all(|name| is_plain(name)) {
        return Vec::new();
    }
    names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}
