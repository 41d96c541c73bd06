//! One site: its rows become URLs with content, then rules, which are checked together, and then a part of a rules file.

use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::bound::least;
use super::contents::{Contents, Evidence, NONE, unite};
use super::edit::{Edit, NO_RULES};
use super::findings::OfSite;
use super::forms::{Content, Forms, Url};
use super::host::{self, Declared, Host, OpenAlias};
use super::pool::pool;
use super::record::{Row, label_of_url};
use super::score::Score;
use super::search::Hypothesis;
use super::undecided;
use super::write::{self, About, Rule};
use super::{Proof, page};
use uriscan_core::key::Hasher;
use uriscan_core::rules::{RuleSet, RulesFile, Scratch, registrable_domain};
use uriscan_core::uri::split;

/// The URLs of a site, sorted, and their content.
#[derive(Debug)]
pub(super) struct Site<'t> {
    pub(super) name: &'t [u8],
    pub(super) urls: Vec<&'t [u8]>,
    pub(super) contents: Contents,
    /// The parameters that hosts declare to be without meaning.
    declared: Declared,
    /// Whether all rows of the site are there, and not only a sample.
    pub(super) is_whole: bool,
}

/// URLs that belong together are not held back if they are more than this share of all: the rest would be another site.
const LARGE_SHARE: usize = 50;

/// A host with so many URLs or more that has one content under this share of them serves one page for everything.
const LEAST_URLS: usize = 20;

impl<'t> Site<'t> {
    /// The site of `rows`, in any order.
    pub(super) fn new(
        name: &'t [u8],
        mut rows: Vec<Row<'t>>,
        is_whole: bool,
        hasher: &Hasher,
    ) -> Site<'t> {
        rows.sort_unstable();
        let mut urls: Vec<&[u8]> = Vec::new();
        let mut evidence = Vec::with_capacity(rows.len());
        let mut declared = Declared::new();
        for Row { url, same, names, leads, is_declared } in rows {
            if is_declared {
                let of_host = declared.entry(host::name_of(url).to_vec()).or_default();
                of_host.extend(declared_in(url));
                while of_host.len() > MOST_DECLARED {
                    of_host.pop_last();
                }
                continue;
            }
            if urls.last() != Some(&url) {
                urls.push(url);
            }
            evidence.push(Evidence { url: urls.len() as u32 - 1, same, names, leads });
        }
        let contents = Contents::new(&urls, evidence, |url| label_of_url(hasher, url));
        Site { name, urls, contents, declared, is_whole }
    }

    /// Which URLs are held back: those with the same content, or the same path, are together.
    fn held_back(&self) -> Vec<bool> {
        let paths = self.urls.iter().map(|url| page::whole_number(url));
        let mut labels: Vec<(u64, u32)> = paths.zip(0..).collect();
        labels.sort_unstable();
        let by_path = unite(self.urls.len(), &labels);
        // Numbers of contents, and those of paths.
        let contents = self.contents.of.iter().zip(0..).filter(|(content, _)| **content != NONE);
        labels = contents.map(|(&content, url)| (u64::from(content), url)).collect();
        let paths = by_path.iter().zip(0..);
        labels.extend(paths.map(|(&path, url)| (1 << 32 | u64::from(path), url)));
        labels.sort_unstable();
        let together = unite(self.urls.len(), &labels);
        let mut counts = vec![0usize; self.urls.len()];
        together.iter().for_each(|&first| counts[first as usize] += 1);
        let is_held_back = |&first: &u32| {
            let is_small = counts[first as usize] * LARGE_SHARE <= self.urls.len();
            is_small && page::is_held_back(self.urls[first as usize])
        };
        together.iter().map(is_held_back).collect()
    }

    /// Hosts that serve one page for everything, in the order of their names.
    fn uniform(&self) -> Vec<&'t [u8]> {
        let mut counts: Vec<(&[u8], [usize; 2])> = Vec::new();
        let mut by_host: Vec<(&[u8], bool)> = Vec::new();
        for (i, url) in self.urls.iter().enumerate() {
            let is_shared = self.contents.is_shared[i];
            if is_shared || self.contents.of[i] != NONE {
                by_host.push((host::name_of(url), is_shared));
            }
        }
        by_host.sort_unstable();
        for group in by_host.chunk_by(|a, b| a.0 == b.0) {
            let shared = group.iter().filter(|(_, is_shared)| *is_shared).count();
            counts.push((group[0].0, [group.len(), shared]));
        }
        let is_uniform = |[all, shared]: [usize; 2]| all >= LEAST_URLS && shared * 2 > all;
        counts.into_iter().filter(|(_, counts)| is_uniform(*counts)).map(|(name, _)| name).collect()
    }

    /// Hosts with servers on several ports, in the order of their names: a rule applies to all of them. A share of `1 - precision` of
    /// their URLs may have other ports than the rest.
    fn ported(&self, precision: f64) -> Vec<&'t [u8]> {
        let mut counts: BTreeMap<&[u8], BTreeMap<&[u8], usize>> = BTreeMap::new();
        // Few sites have any.
        let has_port = self.urls.iter().any(|url| !host::port_of(url).is_empty());
        for &url in self.urls.iter().filter(|_| has_port) {
            *counts
                .entry(host::name_of(url))
                .or_default()
                .entry(host::port_of(url))
                .or_default() += 1;
        }
        let is_ported = |ports: &BTreeMap<&[u8], usize>| {
            let (all, most) = (ports.values().sum::<usize>(), ports.values().max().copied());
            (all - most.unwrap_or(all)) as f64 > (1.0 - precision) * all as f64
        };
        counts.into_iter().filter(|(_, ports)| is_ported(ports)).map(|(name, _)| name).collect()
    }

    /// Hosts of which more than half of the URLs redirect to another host, in the order of their names: another one is their name.
    fn leading_away(&self) -> Vec<&'t [u8]> {
        let mut counts: BTreeMap<&[u8], usize> = BTreeMap::new();
        let host = |url: u32| host::name_of(self.urls[url as usize]);
        let mut redirects = self.contents.redirects.clone();
        redirects.dedup_by_key(|(url, _)| *url);
        for (url, _) in redirects.into_iter().filter(|&(url, target)| host(url) != host(target)) {
            *counts.entry(host(url)).or_default() += 1;
        }
        let mut all: BTreeMap<&[u8], usize> = BTreeMap::new();
        for url in self.urls.iter().filter(|_| !counts.is_empty()) {
            *all.entry(host::name_of(url)).or_default() += 1;
        }
        counts.retain(|name, count| *count * 2 > all[name]);
        counts.into_keys().collect()
    }

    /// Hosts beyond [`host::MOST_HOSTS`], in the order of their names.
    fn left_out(&self) -> Vec<&'t [u8]> {
        let mut names: Vec<&[u8]> = self.urls.iter().map(|url| host::name_of(url)).collect();
        names.sort_unstable();
        let counted = names.chunk_by(|a, b| a == b);
        let mut counted: Vec<_> = counted.map(|same| (Reverse(same.len()), same[0])).collect();
        counted.sort_unstable();
        let mut found: Vec<&[u8]> =
            counted.into_iter().skip(host::MOST_HOSTS).map(|(_, name)| name).collect();
        found.sort_unstable();
        found
    }

    /// Whether a rule for all of its hosts is one for what is known: all rows are there, it is a registrable domain, and rules may name
    /// each host.
    fn may_have_wide_rules(&self) -> bool {
        self.is_whole
            && registrable_domain(self.name) == Some(self.name)
            && self.urls.iter().all(|url| is_plain(host::name_of(url)))
    }

    /// How good `rules` are on its URLs.
    pub(super) fn score(&self, rules: &RuleSet, hasher: &Hasher) -> Score {
        let urls = self.urls.iter().zip(&self.contents.of);
        Score::of(rules, urls.map(|(url, content)| (*url, *content)), hasher)
    }

    /// Finds its rules.
    pub(super) fn learn(&self, proof: &Proof, hasher: &Hasher) -> OfSite {
        let held_back = self.held_back();
        let (uniform, ported) = (self.uniform(), self.ported(proof.precision));
        let left_out = self.left_out();
        let has_rules = |url: &[u8]| {
            let name = host::name_of(url);
            let is_in = |hosts: &[&[u8]]| hosts.binary_search(&name).is_ok();
            is_plain(name) && !is_in(&uniform) && !is_in(&ported) && !is_in(&left_out)
        };
        let Contents { of: contents, is_shared, leads_nowhere, is_volatile, .. } = &self.contents;
        let of = |i: usize| match is_volatile[i] {
            true => (self.urls[i], Content::Mixed),
            false => (self.urls[i], Content::of(contents[i], is_shared[i] || leads_nowhere[i])),
        };
        let shown = (0..self.urls.len()).filter(|&i| !held_back[i] && has_rules(self.urls[i]));
        let shown: Vec<(&[u8], Content)> = shown.map(of).collect();
        let known = (&self.declared, &self.leading_away()[..]);
        let (mut hosts, rejected) = host::find(&shown, known, proof, hasher);
        let may_be_wide = self.may_have_wide_rules() && uniform.is_empty() && left_out.is_empty();
        pool(&mut hosts, may_be_wide, proof, hasher);
        let mut rules = written(&hosts);
        let taken_back = take_back(&mut rules, &shown, proof, hasher);
        // A rule for all hosts that is not right on all is one for those that it was seen on.
        let is_taken = |rule: &Rule| {
            let edits = &rule.hypothesis.edits;
            taken_back
                .iter()
                .any(|it| it.hypothesis.pool.is_some() && it.hypothesis.edits == *edits)
        };
        rules.retain(|rule| {
            rule.hypothesis.pool.is_none_or(|pool| pool.is_shown || !is_taken(rule))
        });
        let held = (0..self.urls.len()).filter(|&i| held_back[i]);
        let held = held.map(|i| (self.urls[i], contents[i]));
        let held_back = Score::of(&compile(rules.iter()), held, hasher);
        let open = open(&hosts, rejected);
        let about = About {
            name: self.name,
            urls: self.urls.len() as u64,
            volatile: self.contents.volatile,
            shared: self.contents.shared_urls,
            is_whole: self.is_whole,
            uniform: &uniform,
            ported: &ported,
            left_out: left_out.len() as u64,
        };
        let [text, open_text] = write::site(&about, (&rules, &taken_back, &open), proof);
        let undecided = match proof.wants_fetches {
            true => undecided::lines(&open, proof),
            false => String::new(),
        };
        let (name, rules) = (String::from_utf8_lossy(self.name), write::tables_of(&rules) as u64);
        let name = name.into_owned();
        OfSite { name, text, open_text, rules, held_back, undecided, is_cut: false }
    }
}

/// The rules that lead to a host, by number, and the URLs that they lead there.
type OfHost<'u> = (Vec<usize>, Vec<(&'u [u8], Content)>);

/// Takes back, host by host, the weakest of `rules` until those that are left do no harm together to `urls`; returns what was taken.
fn take_back(
    rules: &mut Vec<Rule>,
    urls: &[(&[u8], Content)],
    proof: &Proof,
    hasher: &Hasher,
) -> Vec<Rule> {
    let mut by_host: BTreeMap<Vec<u8>, OfHost<'_>> = BTreeMap::new();
    for (number, rule) in rules.iter().enumerate() {
        let host = rule.becomes.clone().unwrap_or_else(|| rule.host.clone());
        by_host.entry(host).or_default().0.push(number);
    }
    let (compiled, mut scratch) = (compile(rules.iter()), Scratch::default());
    for &(url, content) in urls {
        if let Some(host) = by_host.get_mut(host::name_of(compiled.apply(url, &mut scratch).0)) {
            host.1.push((url, content));
        }
    }
    let bounds: Vec<f64> = rules.iter().map(|rule| proof.bound(&rule.hypothesis.trial)).collect();
    let mut taken = Vec::new();
    for (mut of_host, urls) in by_host.into_values() {
        // The weakest comes last, of several the one that was found last.
        of_host.sort_by(|&a, &b| bounds[b].total_cmp(&bounds[a]));
        let all = urls.iter().map(|&(url, content)| Url { text: url, content, seen: url });
        let all = Forms::new(all, hasher, |url, out| out.extend_from_slice(url));
        let is_enough = |weakest: usize| {
            let left = &of_host[..of_host.len() - weakest];
            let left = || left.iter().map(|&number| &rules[number]);
            left().next().is_none() || are_right(&all, left(), proof, hasher)
        };
        let weakest = fewest(of_host.len(), is_enough);
        taken.extend(of_host[of_host.len() - weakest..].iter().rev().copied());
    }
    let taken_back = taken.iter().map(|&number| rules[number].clone()).collect();
    let mut number = 0..;
    rules.retain(|_| number.next().is_none_or(|number| !taken.contains(&number)));
    taken_back
}

/// The fewest of `all` that are enough: in steps that double, and then by halves, as each try takes time for all URLs. `all` are enough.
fn fewest(all: usize, mut is_enough: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, 0);
    while high < all && !is_enough(high) {
        (low, high) = (high + 1, (2 * high + 1).min(all));
    }
    least(low as u64, high as u64, |some| is_enough(some as usize)) as usize
}

/// Whether all `rules` together do no harm to the URLs `all` of a host. What several hosts prove together is not proven on it alone.
fn are_right<'r>(
    all: &Forms<'_>,
    rules: impl Iterator<Item = &'r Rule> + Clone,
    proof: &Proof,
    hasher: &Hasher,
) -> bool {
    let is_pooled = rules.clone().any(|rule| rule.hypothesis.pool.is_some());
    let rules = compile(rules);
    let mut scratch = Scratch::default();
    let map =
        |url: &[u8], out: &mut Vec<u8>| out.extend_from_slice(rules.apply(url, &mut scratch).0);
    let trial = all.trial(hasher, map, &|_| true, &mut |_, _| {});
    if is_pooled { !proof.is_contradicted(&trial) } else { proof.is_given(&trial) }
}

/// Sets of parameters that are tried because a host declares them, at most.
const MOST_DECLARED: usize = 100;

/// What a row declares: the parameters together, and each alone.
fn declared_in(url: &[u8]) -> Vec<Vec<Edit>> {
    let names = split(url).query.unwrap_or_default().split(|&byte| byte == b'&');
    let mut all: Vec<Edit> = names.filter_map(Edit::param).take(MOST_DECLARED).collect();
    all.sort_unstable();
    all.dedup();
    let mut sets: Vec<Vec<Edit>> = all.iter().map(|edit| vec![edit.clone()]).collect();
    sets.extend((all.len() > 1).then_some(all));
    sets
}

/// Whether a rules file can name this host, and nothing else by it.
fn is_plain(name: &[u8]) -> bool {
    let is_allowed = |byte: &u8| byte.is_ascii_alphanumeric() || b"-_.".contains(byte);
    !name.is_empty() && !name.ends_with(b".") && name.iter().all(is_allowed)
}

/// What was `found` for a host.
fn of_host(host: &Host<'_>, found: &Hypothesis) -> Rule {
    Rule { host: host.name.clone(), becomes: None, hypothesis: found.clone() }
}

/// The rules that were found, in the order of the file.
fn written(hosts: &[Host<'_>]) -> Vec<Rule> {
    let aliases = hosts.iter().flat_map(|host| {
        let rule = |(name, hypothesis): &(Vec<u8>, Hypothesis)| Rule {
            host: name.clone(),
            becomes: Some(host.name.clone()),
            // What goes with it is a rule of its own.
            hypothesis: Hypothesis { edits: Vec::new(), ..hypothesis.clone() },
        };
        host.aliases.iter().map(rule)
    });
    let others =
        hosts.iter().flat_map(|host| host.rules.accepted.iter().map(|found| of_host(host, found)));
    // A rule with a secret, as one beside `token=…`, would give it away.
    aliases.chain(others).filter(|rule| rule.name() == rule.masked_name()).collect()
}

/// What had some support and was not proven.
fn open(hosts: &[Host<'_>], rejected: Vec<OpenAlias>) -> Vec<Rule> {
    let aliases = rejected.into_iter().map(|(main, host, hypothesis)| Rule {
        host,
        becomes: Some(main),
        hypothesis,
    });
    let others =
        hosts.iter().flat_map(|host| host.rules.rejected.iter().map(|found| of_host(host, found)));
    aliases.chain(others).collect()
}

/// The rules as they work in a file; those of a host in one table, or each URL of it would be compared with each table.
fn compile<'r>(rules: impl Iterator<Item = &'r Rule> + Clone) -> Cow<'static, RuleSet> {
    if rules.clone().next().is_none() {
        return Cow::Borrowed(&NO_RULES);
    }
    let rules_file =
        RulesFile::parse(&write::tables(rules), "learned", &mut |_, _| Err(String::new()));
    let mut builder = RuleSet::builder();
    builder.rules_file(&rules_file.expect("what is written can be read"));
    Cow::Owned(builder.build().expect("sites do not replace each other's hosts"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_many_hosts_those_with_the_most_urls_are_learned_from() {
        let of_host = |host: usize, pages: usize| {
            (0..pages).flat_map(move |i| {
                ["", "?x=1"].map(|query| format!("http://h{host:02}.example.com/p{i}{query}"))
            })
        };
        // Of 100 hosts h07 and h50 have the most.
        let pages = |host: usize| if matches!(host, 7 | 50) { 100 } else { 1 };
        let urls: Vec<String> = (0..100).flat_map(|host| of_host(host, pages(host))).collect();
        let same = |url: &str| {
            1 + xxhash_rust::xxh3::xxh3_64(url.split('?').next().unwrap().as_bytes()) / 2
        };
        let rows =
            urls.iter().map(|url| Row { url: url.as_bytes(), same: same(url), ..Row::default() });
        let (hasher, proof) = (Hasher::random(), Proof::of(&Default::default(), false));
        let site = Site::new(b"example.com", rows.collect(), true, &hasher);
        assert_eq!(site.left_out().len(), 92);
        let found = site.learn(&proof, &hasher);
        assert!(
            found.text.contains("# 92 hosts with fewer URLs than 8 others get no rules"),
            "{}",
            found.text
        );
        for (host, is_there) in [("h07", true), ("h50", true), ("site:", false), ("h99", false)] {
            assert_eq!(
                found.text.contains(&format!("\"{host}")),
                is_there,
                "{host}: {}",
                found.text
            );
        }
    }

    #[test]
    fn the_fewest_that_are_enough_are_found_in_few_tries() {
        for all in 0..40 {
            for least in 0..=all {
                let mut tries = 0;
                let found = fewest(all, |some| {
                    tries += 1;
                    some >= least
                });
                assert!(found == least && tries <= 12, "{all} {least} {found} {tries}");
            }
        }
    }
}
