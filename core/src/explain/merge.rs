//! What beyond the options would make two URIs equivalent: higher levels, rules, rules files and presets, found by applying them.
//!
//! A rule with an argument is tried with what the two URIs hold: the names of parameters that differ, the prefix that
//! one path has before the other, the page that one has after it. Not tried are `keep-param` and `allow-param`, whose
//! effect `drop-param` has, and `host-alias`, which would merge any two hosts.

use core::fmt;
use std::collections::BTreeMap;
use std::sync::LazyLock;

use crate::normalize::{Level, Options, normalize_exact};
use crate::repair::{Repair, Repairs};
use crate::resolve::Suffix;
use crate::rules::{Preset, Rule, RuleSet, RulesFile, Scratch};
use crate::uri::split;

/// Most parameters that are tried for a rule of their own.
const MOST_PARAMS: usize = 16;

/// Something that would make two URIs equivalent. It is shown as the options of the program that turn it on.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Merger {
    /// A higher level.
    Level(Level),
    /// Rules as on a command line, all of which are needed.
    Rules(Vec<String>),
    /// A built-in rules file.
    RulesFile(&'static str),
    /// A preset.
    Preset(String),
    /// Repairs of records that are not URIs, or of character references, which merge only together.
    Repairs(Repairs),
    /// A scheme for records without one.
    Suffix(Suffix),
    /// A base for relative references: this one, which has no quote, or the one that they have.
    Base(Option<String>),
    /// Several of these, which merge only together.
    All(Vec<Merger>),
}

impl fmt::Display for Merger {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Merger::Level(level) => write!(f, "--level {level}"),
            Merger::Rules(rules) => {
                let options: Vec<String> =
                    rules.iter().map(|rule| format!("--rule {rule}")).collect();
                f.write_str(&options.join(" "))
            }
            Merger::RulesFile(name) => write!(f, "--rules {name}"),
            Merger::Preset(name) => write!(f, "--preset {name}"),
            Merger::Repairs(repairs) => {
                let named = Repair::ALL.into_iter().filter(|&repair| repairs.has(repair));
                let (iri, others): (Vec<_>, Vec<_>) = named.partition(|&it| it == Repair::Iri);
                let others: Vec<&str> = others.into_iter().map(Repair::name).collect();
                let iri = iri.first().map(|_| "--iri".to_owned());
                let others = (!others.is_empty()).then(|| format!("--repair={}", others.join(",")));
                f.write_str(&iri.into_iter().chain(others).collect::<Vec<_>>().join(" "))
            }
            Merger::Suffix(suffix) => write!(f, "--suffix-scheme {}", suffix.scheme()),
            Merger::Base(None) => f.write_str("--base URL"),
            Merger::Base(Some(base)) => match base.bytes().all(is_typed_as_is) {
                true => write!(f, "--base {base}"),
                false => write!(f, "--base '{base}'"),
            },
            Merger::All(mergers) => {
                let mergers: Vec<String> = mergers.iter().map(ToString::to_string).collect();
                f.write_str(&mergers.join(" "))
            }
        }
    }
}

/// Whether a shell takes `byte` as it is.
fn is_typed_as_is(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-._~:/%@,+=".contains(&byte)
}

/// What would merge `a` and `b`, which differ under `options` and `rules`: of higher levels the lowest; each rule that
/// is enough alone, else a minimal set of rules; rules files; presets; if none of these is enough, the lowest of the higher
/// levels with which one of them is. Empty if one of the two is not a URI, or if nothing does. Rules are applied after
/// `rules`, to the forms of the level.
///
/// `explain_pair` of the crate for jobs also tries repairs, a scheme and a base.
///
/// ```
/// use uriscan::explain::mergers;
/// use uriscan::normalize::{Options, Level};
/// let found = |a: &str, b: &str, level| {
///     let found = mergers(a.as_bytes(), b.as_bytes(), Options::new(level), None);
///     found.iter().map(ToString::to_string).collect::<Vec<_>>()
/// };
/// assert_eq!(found("http://h/a/", "http://h/a", Level::Scheme), ["--rule trailing-slash", "--preset log"]);
/// assert_eq!(found("http://h/en/a", "http://h/a", Level::Scheme), ["--rule path-prefix=/en"]);
/// assert_eq!(found("http://h/en/a", "http://H/a", Level::String), ["--level syntax --rule path-prefix=/en"]);
/// assert_eq!(found("http://h/a", "http://h/b", Level::Scheme), [""; 0]);
/// ```
pub fn mergers(a: &[u8], b: &[u8], options: Options, rules: Option<&RuleSet>) -> Vec<Merger> {
    let form = |text: &[u8], level| {
        let mut form = Vec::new();
        normalize_exact(text, level, options.drop_fragment, &mut form).ok()?;
        Some(match rules {
            Some(rules) => apply(rules, &form),
            None => form,
        })
    };
    let forms = |level| Some((form(a, level)?, form(b, level)?));
    let higher = || Level::ALL.into_iter().filter(|&level| level > options.level);
    let level =
        higher().find(|&level| forms(level).is_some_and(|(a, b)| a == b)).map(Merger::Level);
    let mut found: Vec<Merger> = level.into_iter().collect();
    found.extend(forms(options.level).map_or_else(Vec::new, beyond));
    if found.is_empty() {
        let mut by_both = higher().map(|level| {
            let beyond = forms(level).map_or_else(Vec::new, beyond).into_iter();
            beyond.map(|merger| Merger::All(vec![Merger::Level(level), merger])).collect::<Vec<_>>()
        });
        found = by_both.find(|found| !found.is_empty()).unwrap_or_default();
    }
    found
}

/// The rules, rules files and presets that merge the forms `a` and `b`.
fn beyond((a, b): (Vec<u8>, Vec<u8>)) -> Vec<Merger> {
    let merges = |rules: &RuleSet| apply(rules, &a) == apply(rules, &b);
    let mut found = by_rules(&a, &b, merges);
    let rules_files = RulesFile::built_in_names().zip(&*RULES_FILES);
    found.extend(
        rules_files.filter(|(_, rules)| merges(rules)).map(|(name, _)| Merger::RulesFile(name)),
    );
    let presets = PRESETS.iter().filter(|(_, rules)| merges(rules));
    found.extend(presets.map(|(name, _)| Merger::Preset(name.clone())));
    found
}

/// The rules of each built-in rules file, in the order of their names.
static RULES_FILES: LazyLock<Vec<RuleSet>> = LazyLock::new(|| {
    let rules_file = |name| {
        let mut builder = RuleSet::builder();
        builder.rules_file(&RulesFile::built_in(name).expect("its name is listed"));
        builder.build().expect("built-in rules files are tested")
    };
    RulesFile::built_in_names().map(rules_file).collect()
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
    let is_rule = |name: &String| rule_set(core::slice::from_ref(name)).is_some();
    let mut names: Vec<String> = Rule::ALL.iter().map(|rule| rule.name().to_owned()).collect();
    names.retain(is_rule);
    // Other rules may bring out what two paths share.
    let by_others = rule_set(&names).map(|rules| [apply(&rules, a), apply(&rules, b)]);
    let of_paths = |find: fn(&[u8], &[u8]) -> Option<String>| {
        find(a, b).or_else(|| by_others.as_ref().and_then(|[a, b]| find(a, b)))
    };
    let prefix = of_paths(prefix).map(|prefix| format!("{}={prefix}", Rule::PathPrefix));
    let page = of_paths(page).map(|page| format!("{}={page}", Rule::IndexPage));
    let params = params(a, b).into_iter().map(|name| format!("{}={name}", Rule::DropParam));
    names.extend(prefix.into_iter().chain(page).chain(params).filter(is_rule));
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
    if names.len() > MOST_PARAMS || !names.iter().all(|name| is_plain(name)) {
        return Vec::new();
    }
    names.into_iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect()
}

/// Whether `name` can be typed as it is.
fn is_plain(name: &[u8]) -> bool {
    let is_plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"-._~[]%/".contains(byte);
    !name.is_empty() && name.iter().all(is_plain)
}

/// What one of the two paths has before all segments of the other, if it can be typed as it is. Before `/` alone it is
/// a path that ends in a slash; another is a [`page`].
fn prefix(a: &[u8], b: &[u8]) -> Option<String> {
    let (a, b) = (split(a).path, split(b).path);
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    let trimmed = |path: &'_ [u8]| path.len() - usize::from(path.ends_with(b"/"));
    let prefix = match short {
        b"/" => long.strip_suffix(b"/"),
        _ => long[..trimmed(long)].strip_suffix(&short[..trimmed(short)]),
    };
    let prefix = prefix.filter(|prefix| short.starts_with(b"/") && is_plain(prefix))?;
    let prefix = String::from_utf8_lossy(prefix);
    Some(prefix.trim_end_matches('/').to_owned()).filter(|prefix| !prefix.is_empty())
}

/// The last segment of one of the two paths, if without it the path would be the other, with or without a slash at the
/// end, if it looks like an index page, and if it can be typed as it is.
fn page(a: &[u8], b: &[u8]) -> Option<String> {
    let (a, b) = (split(a).path, split(b).path);
    let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
    let slash = memchr::memrchr(b'/', long)?;
    let (folder, page) = (&long[..slash], &long[slash + 1..]);
    (folder == short.strip_suffix(b"/").unwrap_or(short) && is_plain(page) && is_page_name(page))
        .then(|| String::from_utf8_lossy(page).into_owned())
}

/// Whether `segment` may name the page that a server shows for a directory: it has the extension of a page, or is a usual name
/// of one. A rule for any other last segment would merge pages with the directories above them.
fn is_page_name(segment: &[u8]) -> bool {
    const NAMES: [&str; 6] = ["index", "default", "home", "main", "start", "welcome"];
    const EXTENSIONS: [&str; 10] =
        ["html", "htm", "shtml", "xhtml", "php", "asp", "aspx", "jsp", "cfm", "cgi"];
    let is_in = |list: &[&str], text: &[u8]| {
        list.iter().any(|name| text.eq_ignore_ascii_case(name.as_bytes()))
    };
    let dot = memchr::memrchr(b'.', segment).filter(|&dot| dot > 0);
    dot.is_some_and(|dot| is_in(&EXTENSIONS, &segment[dot + 1..])) || is_in(&NAMES, segment)
}
