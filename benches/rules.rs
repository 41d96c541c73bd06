//! Floor 5: the cost of rules on top of deduplication, and their speed alone.
//!
//! `crawl` and `log` are the newest presets. `elsewhere` has rules for 300 hosts, none of them in the text; `large` has 300
//! hosts of the text and 3,000 patterns for all hosts; `sites` has a `[[site]]` for each of 1,000 hosts, as many of the text
//! as it has. The limits, relative to `plain`: `crawl` 1.5, `large` 1.3, `elsewhere` 1.05.

use std::collections::{BTreeMap, HashSet};
use std::fmt::Write;
use std::io;
use std::sync::Arc;

use criterion::Criterion;
use uriscan::key::Hasher;
use uriscan::normalize::{Normalizer, Options};
use uriscan::rules::{Preset, RuleSet, RulesFile, Scratch};
use uriscan::uri::split;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{DedupOptions, Equivalence, Report, Settings, Sinks, dedup};

use crate::corpus::{Corpus, is_timed};

/// Size of the text in bytes.
const BYTES: usize = 32 << 20;

/// Numbers of hosts with rules of their own, and of patterns for all hosts.
const HOSTS: usize = 300;
const PATTERNS: usize = 3000;

/// Number of hosts with a `[[site]]`.
const SITES: usize = 1000;

/// Canonical forms of the records that are URIs.
fn forms(corpus: &Corpus) -> Vec<Vec<u8>> {
    let mut normalizer = Normalizer::new(Options::default());
    corpus.lines().filter_map(|line| normalizer.normalize(line).ok().map(<[u8]>::to_vec)).collect()
}

/// The `most` most frequent hosts in `forms`.
fn frequent_hosts(forms: &[Vec<u8>], most: usize) -> Vec<String> {
    let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
    for form in forms.iter().filter(|form| form.starts_with(b"http")) {
        let authority = split(form).authority.unwrap_or_default();
        if !authority.is_empty() && !authority.iter().any(|byte| b"@:[%".contains(byte)) {
            *counts.entry(authority).or_default() += 1;
        }
    }
    let mut hosts: Vec<(usize, &[u8])> = counts.into_iter().map(|(host, n)| (n, host)).collect();
    hosts.sort_unstable_by(|a, b| b.cmp(a));
    hosts.iter().take(most).map(|(_, host)| String::from_utf8_lossy(host).into_owned()).collect()
}

/// A rules file with rules for each of `hosts`, every third for its subdomains.
fn pack_for(hosts: &[String], patterns: usize) -> String {
    let mut text = String::from("[[param]]\ndrop = [\"utm_*\", \"ref\"");
    for i in 0..patterns {
        let name = ["param", "x_", "campaign", "src", "t"][i % 5];
        let star = if i % 4 == 0 { "*" } else { "" };
        let _ = write!(text, ", \"{name}{i}{star}\"");
    }
    text.push_str("]\n");
    for (i, host) in hosts.iter().enumerate() {
        let pattern = if i % 3 == 0 { format!("*.{host}") } else { host.clone() };
        let _ = write!(
            text,
            "[[param]]\nhosts = [\"{pattern}\", \"{host}\"]\ndrop = [\"page\", \"s*\"]\nallow = [\"ref\"]\n"
        );
    }
    text
}

/// A file with a `[[site]]` for each of `hosts`, and for others up to [`SITES`]: all of them have one host for two, and one
/// of several rules.
fn sites_for(mut hosts: Vec<String>) -> String {
    let names: HashSet<String> = hosts.iter().cloned().collect();
    hosts.extend((hosts.len()..SITES).map(|i| format!("host{i}.elsewhere.example")));
    let mut text = String::new();
    for (i, host) in hosts.iter().enumerate() {
        let rules = ["'path-case'", "'fragment'", "'trailing-slash', 'index-page'", ""][i % 4];
        let other = format!("old.{host}");
        let old = if names.contains(&other) { host } else { &other };
        let _ = write!(
            text,
            "[[site]]\nhosts = ['{host}', '{old}']\nhost = '{host}'\nrules = [{rules}]\ndrop = ['page', 's*']\n"
        );
    }
    text
}

fn compile(text: &str) -> Arc<RuleSet> {
    let mut builder = RuleSet::builder();
    builder.rules_file(
        &RulesFile::parse(text, "bench", &mut |_, _| Err(String::new())).expect("a rules file"),
    );
    Arc::new(builder.build().expect("a rule set"))
}

fn rule_sets(forms: &[Vec<u8>]) -> Vec<(&'static str, Option<Arc<RuleSet>>)> {
    let preset = |name| {
        let mut builder = RuleSet::builder();
        builder.preset(&Preset::from_name(name).expect("a preset")).expect("its rules");
        Arc::new(builder.build().expect("a rule set"))
    };
    let elsewhere: Vec<String> =
        (0..HOSTS).map(|i| format!("host{i}.elsewhere{i}.example")).collect();
    // Without rules for all hosts: only the hosts are looked up.
    let only_hosts = pack_for(&elsewhere, 0);
    let only_hosts = only_hosts.split_once("]\n[[param]]\nhosts").expect("two tables").1;
    vec![
        ("plain", None),
        ("crawl", Some(preset("crawl"))),
        ("log", Some(preset("log"))),
        ("elsewhere", Some(compile(&format!("[[param]]\nhosts{only_hosts}")))),
        ("large", Some(compile(&pack_for(&frequent_hosts(forms, HOSTS), PATTERNS)))),
        ("sites", Some(compile(&sites_for(frequent_hosts(forms, SITES))))),
    ]
}

fn run(text: &Arc<[u8]>, rules: Option<&Arc<RuleSet>>) -> Report {
    let mut source = Source::new("corpus", io::Cursor::new(Arc::clone(text)));
    source.bytes = Some(text.len() as u64);
    let equivalence = Equivalence::default().rules(rules.cloned());
    let options = DedupOptions::default().equivalence(equivalence).hasher(Hasher::random());
    let settings = Settings::default().threads(1);
    dedup(vec![source], &options, &settings, &mut Sinks::new(&mut io::sink()))
        .expect("nothing here can fail")
}

/// Number of bytes of all forms under the rules.
fn apply_all(rules: &RuleSet, forms: &[Vec<u8>], scratch: &mut Scratch) -> usize {
    forms.iter().map(|form| rules.apply(form, scratch).0.len()).sum()
}

/// The number of classes under the rules, by the reference path, one edit at a time, if nothing is
/// timed.
fn classes(rules: Option<&RuleSet>, forms: &[Vec<u8>]) -> usize {
    let mut scratch = Scratch::default();
    let form = |form: &Vec<u8>| match rules {
        None => form.clone(),
        Some(rules) if is_timed() => rules.apply(form, &mut scratch).0.to_vec(),
        Some(rules) => {
            let mut text = form.clone();
            for step in rules.steps(form) {
                text.splice(step.range, step.to);
            }
            text
        }
    };
    forms.iter().map(form).collect::<HashSet<Vec<u8>>>().len()
}

pub(crate) fn rules(criterion: &mut Criterion) {
    let corpus = Corpus::generate("mixed", BYTES);
    let forms = forms(&corpus);
    let text: Arc<[u8]> = corpus.bytes().into();
    let sets = rule_sets(&forms);
    let mut group = criterion.benchmark_group("rules");
    group.throughput(corpus.throughput());
    let plain = run(&text, None);
    for (name, rules) in &sets {
        let report = run(&text, rules.as_ref());
        // Rules do not apply to invalid records.
        let others = classes(None, &forms) as u64;
        let expected = plain.written - others + classes(rules.as_deref(), &forms) as u64;
        assert_eq!(report.written, expected, "{name}");
        // The small corpus of a test may hold nothing that a rule merges.
        if is_timed() {
            let changes_nothing = matches!(*name, "plain" | "elsewhere");
            assert_eq!(report.written == plain.written, changes_nothing, "{name}");
        }
        group.bench_function(format!("dedup-j1/{name}"), |bencher| {
            bencher.iter(|| run(&text, rules.as_ref()));
        });
    }
    let mut scratch = Scratch::default();
    for (name, rules) in sets.iter().filter_map(|(name, rules)| Some((name, rules.as_ref()?))) {
        group.bench_function(format!("apply/{name}"), |bencher| {
            bencher.iter(|| apply_all(rules, &forms, &mut scratch));
        });
    }
    group.finish();
}
