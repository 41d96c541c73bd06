//! Tests that the rules that are named as those that make two URIs equivalent are enough, and that none can be spared: against rule
//! sets written out with only these rules.

use std::sync::LazyLock;

use proptest::prelude::*;
use uriscan::explain::{Comparison, compare_with_rules};
use uriscan::normalize::{Level, Options};
use uriscan::rules::{Preset, Rule, RuleSet, Rules, RulesFile, Scratch};
use uriscan_core::normalize::normalize_exact;

use super::rules_properties::{RULES, uri};

static TRACKING: LazyLock<RulesFile> = LazyLock::new(|| RulesFile::built_in("tracking").unwrap());

/// A file of rules for all hosts and for some, of which only the rules of `kept` are left.
fn file(kept: Rules) -> String {
    let mut text = String::new();
    let mut table = |head: &str, lists: &[(Rule, &str)]| {
        let lists: Vec<&str> =
            lists.iter().filter(|(rule, _)| kept.has(*rule)).map(|(_, list)| *list).collect();
        if !lists.is_empty() {
            text += &format!("{head}\n{}\n", lists.join("\n"));
        }
    };
    use Rule::{AllowParam, DropParam, HostAlias, KeepParam};
    table("[[param]]", &[(DropParam, "drop = ['utm_*', 'ref', 'a']")]);
    table(
        "[[param]]\nhosts = ['site:example.com', '*.h']\nexcept = ['b.example.com']",
        &[(KeepParam, "keep = ['b', 'si?']"), (AllowParam, "allow = ['r*']")],
    );
    table(
        "[[param]]\nhosts = ['www.example.com', 'localhost']",
        &[(AllowParam, "allow = ['a', '*b*']"), (DropParam, "drop = ['b']")],
    );
    table("[[param]]\nexcept = ['site:example.co.uk']", &[(DropParam, "drop = ['*c*']")]);
    table(
        "[[param]]\npaths = ['/a', '/B']\ngiven = ['a', 'b=1', 'c']",
        &[(DropParam, "drop = ['*']")],
    );
    // A rule that is off elsewhere is off in the smaller set, too.
    let mut site = |hosts: &str, host: &str, rules: &[(Rule, &str)], without: &str| {
        let rules: Vec<&str> =
            rules.iter().filter(|(rule, _)| kept.has(*rule)).map(|(_, rule)| *rule).collect();
        text += &format!(
            "[[site]]\nhosts = [{hosts}]\nrules = [{}]\nwithout = [{without}]\n",
            rules.join(", ")
        );
        if kept.has(HostAlias) && !host.is_empty() {
            text += &format!("host = '{host}'\n");
        }
    };
    site(
        "'a.h', 'site:example.com', 'www.example.com'",
        "www.example.com",
        &[
            (Rule::PathCase, "'path-case'"),
            (Rule::PathPrefix, "'path-prefix=/a,/B'"),
            (Rule::Userinfo, "'userinfo'"),
        ],
        "'fragment', 'index-page'",
    );
    site(
        "'h', '*.h', 'www.h'",
        "",
        &[(Rule::Www, "'www'"), (Rule::TrailingSlash, "'trailing-slash'")],
        "'host-dot'",
    );
    text
}

/// A preset, or rules as typed.
#[derive(Clone, Debug)]
enum Chosen {
    Preset(&'static str),
    Typed(Vec<&'static str>),
}

/// The rules that are chosen, of which only those of `kept` are left, and `allow-param`.
fn rule_set(chosen: &Chosen, kept: Rules) -> RuleSet {
    let mut builder = RuleSet::builder();
    let mut kept = kept;
    kept.add(Rule::AllowParam);
    let mut add = |typed: &str| {
        if kept.has(Rule::from_name(typed.split('=').next().unwrap()).unwrap()) {
            builder.rule(typed).unwrap();
        }
    };
    match chosen {
        Chosen::Preset(name) => {
            let preset = Preset::from_name(name).unwrap();
            preset.rules.iter().for_each(|rule| add(rule));
            if kept.has(Rule::DropParam) {
                assert_eq!(preset.rules_files, ["tracking"]);
                builder.rules_file(&TRACKING);
            }
        }
        Chosen::Typed(typed) => {
            let is_rule = |typed: &&&str| !FILES.contains(typed);
            typed.iter().filter(is_rule).for_each(|typed| add(typed));
            if let Some(name) = FILES.iter().find(|name| typed.contains(name)) {
                // In one of the two no rule depends on what another leaves as it is.
                let dependent = [Rule::KeepParam, Rule::HostAlias, Rule::Www, Rule::PathCase];
                let independent = kept.without(Rules::of(&dependent));
                let text = file(if *name == "file" { kept } else { independent });
                builder.rules_file(
                    &RulesFile::parse(&text, "file", &mut |_, _| Err(String::new())).unwrap(),
                );
            }
        }
    }
    builder.build().unwrap()
}

/// Names of files beside rules as typed.
const FILES: [&str; 2] = ["file", "independent file"];

/// Rules as typed, and [`file`].
fn chosen() -> impl Strategy<Value = Chosen> {
    let typed = [&RULES[..], &FILES].concat();
    prop_oneof![
        prop::sample::select(vec!["crawl", "log", "crawl@1", "log@1"]).prop_map(Chosen::Preset),
        prop::sample::subsequence(typed.clone(), 1..typed.len()).prop_map(Chosen::Typed),
        prop::sample::subsequence(typed, 1..4).prop_map(Chosen::Typed),
        prop::sample::select(&FILES[..]).prop_map(|name| Chosen::Typed(vec![name])),
    ]
}

fn form(text: &[u8], options: Options, rules: &RuleSet) -> Option<Vec<u8>> {
    let mut form = Vec::new();
    normalize_exact(text, options.level, options.drop_fragment, &mut form).ok()?;
    Some(rules.apply(&form, &mut Scratch::default()).0.to_vec())
}

/// Whether `a` and `b` are equivalent under the rules of `kept` alone.
fn are_equivalent([a, b]: [&[u8]; 2], options: Options, chosen: &Chosen, kept: Rules) -> bool {
    let drop_fragment = options.drop_fragment && kept.has(Rule::Fragment);
    let (options, rules) = (options.drop_fragment(drop_fragment), rule_set(chosen, kept));
    form(a, options, &rules) == form(b, options, &rules)
}

/// What [`Comparer::necessary`] says it finds, by rule sets that are written out.
fn necessary(
    pair: [&[u8]; 2],
    options: Options,
    chosen: &Chosen,
    rules: &RuleSet,
) -> Option<Rules> {
    let all = Rules::of(&Rule::ALL);
    let is_enough = |kept| are_equivalent(pair, options, chosen, kept);
    if pair[0] == pair[1] || is_enough(Rules::default()) {
        return Some(Rules::default());
    }
    let mut kept = Rules::of(if options.drop_fragment { &[Rule::Fragment] } else { &[] });
    for text in pair {
        let mut form = Vec::new();
        normalize_exact(text, options.level, options.drop_fragment, &mut form).ok()?;
        kept = kept.union(rules.apply(&form, &mut Scratch::default()).1);
    }
    kept = if is_enough(kept) { kept } else { all };
    if !is_enough(kept) {
        return None;
    }
    loop {
        let before = kept;
        for rule in before.iter() {
            let fewer = kept.without(Rules::of(&[rule]));
            kept = if is_enough(fewer) { fewer } else { kept };
        }
        if kept == before {
            return Some(kept.without(Rules::of(&[Rule::AllowParam])));
        }
    }
}

/// The rules among the steps that make `a` and `b` equivalent, and the level; `None` if they are not.
fn named(pair: [&[u8]; 2], options: Options, rules: &RuleSet) -> Option<(Rules, Level)> {
    match compare_with_rules(pair[0], pair[1], options, Some(rules)) {
        Comparison::Different { .. } => None,
        Comparison::Equivalent { level, steps } => {
            let mut named = Rules::default();
            let rules = steps.iter().filter(|step| step.level.is_none());
            rules.for_each(|step| named.add(Rule::from_name(step.name).unwrap()));
            Some((named, level))
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    #[test]
    fn the_rules_that_are_named_are_enough_and_none_can_be_spared(
        a in uri(),
        other in uri(),
        chosen in chosen(),
        some in prop::sample::subsequence(Rule::ALL.to_vec(), 0..=Rule::ALL.len()),
        is_other in prop::bool::weighted(0.1),
        drop_fragment in prop::bool::weighted(0.2),
        level in prop::sample::select(vec![Level::String, Level::Syntax, Level::Scheme]),
    ) {
        let options = Options::new(level).drop_fragment(drop_fragment);
        let rules = rule_set(&chosen, Rules::of(&Rule::ALL));
        // Some of the rules make of a URI one that is equivalent under all.
        let b = match form(a.as_bytes(), options, &rule_set(&chosen, Rules::of(&some))) {
            Some(form) if !is_other => form,
            _ => other.into_bytes(),
        };
        let pair = [a.as_bytes(), &b];
        let found = named(pair, options, &rules);
        let shown = format!("{a} {} {found:?}", String::from_utf8_lossy(&b));
        let expected = necessary(pair, options, &chosen, &rules);
        prop_assert_eq!(found.map(|(named, _)| named), expected, "{}", shown);
        let Some((named, level)) = found else { return Ok(()) };
        if pair[0] == pair[1] {
            prop_assert!(named.is_empty() && level == Level::String);
            return Ok(());
        }
        prop_assert!(are_equivalent(pair, options, &chosen, named), "{}", shown);
        for rule in named.iter() {
            let fewer = named.without(Rules::of(&[rule]));
            prop_assert!(!are_equivalent(pair, options, &chosen, fewer), "{} {}", shown, rule);
        }
        if are_equivalent(pair, options, &chosen, Rules::default()) {
            prop_assert!(named.is_empty(), "{}", shown);
        }
        // The level is the lowest at which these rules are enough.
        let lower = Level::ALL.into_iter().filter(|lower| *lower < level);
        for lower in lower {
            let below = options.level(lower);
            let is_form = form(a.as_bytes(), below, &rules).is_some();
            prop_assert!(!is_form || !are_equivalent(pair, below, &chosen, named), "{}", shown);
        }
        // The order of the two does not matter.
        prop_assert_eq!(self::named([pair[1], pair[0]], options, &rules), Some((named, level)));
    }
}

#[test]
fn rules_that_are_not_necessary_are_not_named() {
    for (a, b, names) in [
        ("http://h.de/a/index.html", "http://h.de/a/", "index-page"),
        ("http://h.de/a/index.html", "http://h.de/a/index.html/", "trailing-slash"),
        ("http://h.de/a/index.html", "http://h.de/a", "index-page trailing-slash"),
        ("http://www.h.de/a/", "http://h.de/a/", "www"),
        ("HTTP://WWW.h.de:80/%7e", "http://h.de/~", "www"),
        ("http://u@h.de/?utm_source=x&b&a#x", "http://u@h.de/?b&a#x", "drop-param"),
        (
            "http://u@h.de/?utm_source=x&b&a#x",
            "http://u@H.de/?a&b#y",
            "anchor drop-param sort-query",
        ),
        ("http://h.de:80/a//b", "https://h.de/a/b/", "https duplicate-slash trailing-slash"),
        ("HTTP://www.h.de/a/?b&a", "http://www.H.de:/a/?b&a", ""),
    ] {
        let rules = rule_set(&Chosen::Preset("log"), Rules::of(&Rule::ALL));
        let found = named([a.as_bytes(), b.as_bytes()], Options::default(), &rules);
        let found: Vec<&str> = found.unwrap().0.iter().map(Rule::name).collect();
        assert_eq!(found.join(" "), names, "{a} {b}");
    }
}

#[test]
fn a_fragment_that_is_dropped_counts_as_its_rule() {
    for (a, b, names) in [
        ("http://h/?utm_a=1#/x", "http://h/?utm_a=1#/x?utm_source=1", "drop-param"),
        ("http://h/?utm_a=1#x", "http://h/#y", "fragment drop-param"),
        ("http://h/?utm_a=1#x", "http://h/#x", "drop-param"),
        ("http://www.h/#x", "http://www.h/#y", "fragment"),
        ("http://h/?utm_a=1#/x", "http://h/", "fragment drop-param"),
    ] {
        let rules = |names: &[&str]| {
            let mut builder = RuleSet::builder();
            names.iter().for_each(|name| builder.rule(name).unwrap());
            builder.build().unwrap()
        };
        let both = ["www", "drop-param=utm_*", "fragment"];
        for (options, rules) in [
            (Options::default(), rules(&both)),
            (Options::default().drop_fragment(true), rules(&both[..2])),
        ] {
            let found = named([a.as_bytes(), b.as_bytes()], options, &rules);
            let found: Vec<&str> = found.unwrap().0.iter().map(Rule::name).collect();
            assert_eq!(found.join(" "), names, "{a} {b}");
        }
    }
}
