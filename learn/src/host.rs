//! Hosts of a site, those that were found to be the same as one, and the rules for each.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use super::Proof;
use super::edit::{Edit, rules_of};
use super::forms::{Content, Forms, Url};
use super::page;
use super::search::{Fetches, HostRules, Hypothesis};
use uriscan_core::key::Hasher;
use uriscan_core::rules::{Scratch, host_in};
use uriscan_core::uri::split;

/// A host with those that become it, and what was found for it.
#[derive(Debug, Default)]
pub(super) struct Host<'u> {
    pub(super) name: Vec<u8>,
    /// Other names, and why they are the same.
    pub(super) aliases: Vec<(Vec<u8>, Hypothesis)>,
    /// All URLs, under its name.
    urls: Urls<'u>,
    /// Rules that go with an alias.
    seed: Vec<Hypothesis>,
    declared: BTreeSet<Vec<Edit>>,
    /// Most of its URLs redirect to other hosts.
    leads_away: bool,
    pub(super) rules: HostRules,
    pub(super) forms: Forms<'u>,
}

/// The edits that hosts declare to be right, by name: hypotheses as others are.
pub(super) type Declared = BTreeMap<Vec<u8>, BTreeSet<Vec<Edit>>>;

/// URLs under the name of their host, their content, and the URLs of the input that they were.
type Urls<'u> = Vec<(Cow<'u, [u8]>, Content, &'u [u8])>;

/// The name that would stay, the one that would become it, and what speaks for that.
pub(super) type OpenAlias = (Vec<u8>, Vec<u8>, Hypothesis);

/// Hosts of a site that are learned from: those with the most URLs. Each takes some 5 KB, whatever the memory limit is.
pub(super) const MOST_HOSTS: usize = if cfg!(test) { 8 } else { 10_000 };

/// Pairs of hosts that are tried in a round, those with the most common content first, and rounds.
const MOST_PAIRS: usize = 64;
const MOST_ROUNDS: usize = 8;

/// Finds the rules of all hosts of a site, of which `urls` are sorted, with what they declare, and those that lead away, sorted. Returns the hosts, and the aliases that were tried and not
/// proven.
pub(super) fn find<'u>(
    urls: &[(&'u [u8], Content)],
    (declared, leading_away): (&Declared, &[&[u8]]),
    proof: &Proof,
    hasher: &Hasher,
) -> (Vec<Host<'u>>, Vec<OpenAlias>) {
    let mut by_name: BTreeMap<&[u8], Urls<'u>> = BTreeMap::new();
    for &(url, content) in urls {
        by_name.entry(name_of(url)).or_default().push((Cow::Borrowed(url), content, url));
    }
    let host = |(name, urls): (&[u8], Vec<_>)| {
        let declared = declared.get(name).cloned().unwrap_or_default();
        let leads_away = leading_away.binary_search(&name).is_ok();
        let mut host = Host { name: name.to_vec(), urls, declared, leads_away, ..Host::default() };
        host.find_rules(proof, hasher);
        host
    };
    let mut hosts: Vec<Host<'u>> = by_name.into_iter().map(host).collect();
    let mut rejected = BTreeMap::new();
    for _ in 0..MOST_ROUNDS {
        let found = aliases(&hosts, &mut rejected, proof, hasher);
        if found.is_empty() {
            break;
        }
        let mut left: Vec<Option<Host<'u>>> = hosts.into_iter().map(Some).collect();
        for Alias { kept, merged, alias, seed } in found {
            let Some((mut host, other)) = left[kept].take().zip(left[merged].take()) else {
                continue;
            };
            let names = [host.name.clone(), other.name.clone()];
            rejected.retain(|(a, b), _| !names.contains(a) && !names.contains(b));
            host.take(other, alias, seed);
            host.find_rules(proof, hasher);
            left[kept] = Some(host);
        }
        hosts = left.into_iter().flatten().collect();
    }
    let rejected = rejected.into_iter().map(|((main, name), tried)| (main, name, tried));
    let rejected = rejected.filter(|(.., tried)| tried.trial.right > 0).collect();
    (hosts, rejected)
}

type Rejected = BTreeMap<(Vec<u8>, Vec<u8>), Hypothesis>;

/// Two hosts that are proven to be the same, by number.
struct Alias {
    /// The one whose name stays.
    kept: usize,
    merged: usize,
    alias: Hypothesis,
    /// Rules that go with it.
    seed: Vec<Edit>,
}

/// Pairs of `hosts` that are proven to be the same; no host is in two of them.
fn aliases(
    hosts: &[Host<'_>],
    rejected: &mut Rejected,
    proof: &Proof,
    hasher: &Hasher,
) -> Vec<Alias> {
    let (mut found, mut is_paired) = (Vec::new(), vec![false; hosts.len()]);
    for (one, other) in candidates(hosts) {
        let (kept, merged) = ordered(hosts, one, other);
        let names = (hosts[kept].name.clone(), hosts[merged].name.clone());
        if is_paired[one] || is_paired[other] || rejected.contains_key(&names) {
            continue;
        }
        let tries = [&[][..], &[Edit::Https]];
        let tried = tries.map(|extra| hosts[kept].tried_with(&hosts[merged], extra, proof, hasher));
        match tried.iter().position(|tried| proof.is_given(&tried.trial)) {
            Some(at) => {
                (is_paired[one], is_paired[other]) = (true, true);
                let alias = tried[at].clone();
                let seed = alias.edits.clone();
                found.push(Alias { kept, merged, alias, seed });
            }
            None => {
                let [plain, secure] = tried;
                let is_better = secure.trial.right > plain.trial.right;
                rejected.insert(names, if is_better { secure } else { plain });
            }
        }
    }
    found
}

/// Which of two hosts stays: the one that does not lead away, without `www.`, with more URLs, the shorter name, the first.
fn ordered(hosts: &[Host<'_>], one: usize, other: usize) -> (usize, usize) {
    let rank = |i: usize| {
        let Host { name, urls, leads_away, .. } = &hosts[i];
        (*leads_away, name.starts_with(b"www."), std::cmp::Reverse(urls.len()), name.len(), name)
    };
    let is_www = |a: usize, b: usize| hosts[a].name.strip_prefix(b"www.") == Some(&hosts[b].name);
    let is_led = hosts[one].leads_away != hosts[other].leads_away;
    match (is_www(one, other), is_www(other, one)) {
        (true, _) if !is_led => (other, one),
        (_, true) if !is_led => (one, other),
        _ if rank(one) <= rank(other) => (one, other),
        _ => (other, one),
    }
}

/// Pairs of hosts that have the same content at the same place, by number, those with the most of it first. Rules of one host may not be
/// known for the other one, so a place is what they leave of a path.
fn candidates(hosts: &[Host<'_>]) -> Vec<(usize, usize)> {
    let mut places: Vec<(u32, u64, usize)> = Vec::new();
    for (i, Host { forms, .. }) in hosts.iter().enumerate() {
        for (number, content) in (0..).zip(&forms.content) {
            if let Content::One(content) = content {
                places.push((*content, page::whole_number(forms.get(number)), i));
            }
        }
    }
    places.sort_unstable();
    let mut counts: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for two in places.windows(2) {
        let ((a, b), is_same) =
            ((two[0].2, two[1].2), (two[0].0, two[0].1) == (two[1].0, two[1].1));
        if is_same && a != b {
            *counts.entry((a, b)).or_default() += 1;
        }
    }
    let mut counted: Vec<((usize, usize), u64)> = counts.into_iter().collect();
    counted.sort_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
    counted.truncate(MOST_PAIRS);
    counted.into_iter().map(|(pair, _)| pair).collect()
}

impl<'u> Host<'u> {
    /// Accepts `found`, which was rejected before or not tried.
    pub(super) fn accept(&mut self, found: Hypothesis, hasher: &Hasher) {
        let is_other = |open: &Hypothesis| !open.edits.iter().any(|it| found.edits.contains(it));
        self.rules.rejected.retain(is_other);
        // There may be very many hosts.
        self.rules.accepted.reserve_exact(1);
        self.rules.accepted.push(found);
        self.forms = self.rules.forms(&self.all(), hasher);
    }

    fn find_rules(&mut self, proof: &Proof, hasher: &Hasher) {
        let urls = self.all();
        self.rules = HostRules::find(&urls, (self.seed.clone(), &self.declared), proof, hasher);
        self.forms = self.rules.forms(&self.all(), hasher);
    }

    /// All URLs.
    fn all(&self) -> Vec<Url<'_, 'u>> {
        let all = self.urls.iter();
        all.map(|(text, content, seen)| Url { text, content: *content, seen }).collect()
    }

    /// Counts what is joined if `other` becomes this host, and `extra` rules apply: groups with forms of both say that they are the same.
    fn tried_with(
        &self,
        other: &Host<'_>,
        extra: &[Edit],
        proof: &Proof,
        hasher: &Hasher,
    ) -> Hypothesis {
        let rules = rules_of(self.rules.edits().chain(other.rules.edits()).chain(extra));
        let both = [&self.forms, &other.forms];
        let all = both.into_iter().flat_map(|forms| {
            (0..forms.len() as u32).map(|number| Url {
                text: forms.get(number),
                content: forms.content[number as usize],
                seen: forms.seen(number),
            })
        });
        let forms = Forms::new(all, hasher, |url, out| out.extend_from_slice(url));
        let (mut scratch, mut renamed) = (Scratch::default(), Vec::new());
        let mut fetch = Fetches::new(proof);
        let map = |url: &[u8], out: &mut Vec<u8>| {
            rename(url, &self.name, &mut renamed);
            out.extend_from_slice(rules.apply(&renamed, &mut scratch).0);
        };
        let has_both = |group: &[u32]| {
            let mut hosts = group.iter().map(|&number| name_of(forms.get(number)));
            let first = hosts.next();
            hosts.any(|host| Some(host) != first)
        };
        let trial = forms.trial(hasher, map, &has_both, &mut |url, is_seen| {
            fetch.push(url, is_seen);
        });
        let mut tried = Hypothesis::new(extra.to_vec(), trial, &forms, fetch);
        tried.add_fetches(&forms, hasher, |url| {
            let mut made = Vec::new();
            rename(url, &other.name, &mut made);
            Some(made)
        });
        tried
    }

    /// Makes `other` a name of this host.
    fn take(&mut self, other: Host<'u>, alias: Hypothesis, seed: Vec<Edit>) {
        let mut renamed = Vec::new();
        for (url, content, seen) in other.urls {
            rename(&url, &self.name, &mut renamed);
            self.urls.push((Cow::Owned(renamed.clone()), content, seen));
        }
        // In an order that does not depend on the way to here.
        self.urls.sort_unstable_by(|a, b| (&a.0, a.2).cmp(&(&b.0, b.2)));
        if !seed.is_empty() && !self.rules.edits().any(|edit| seed.contains(edit)) {
            self.seed.push(Hypothesis { edits: seed, ..alias.clone() });
        }
        self.seed.extend(other.seed);
        self.declared.extend(other.declared);
        self.aliases.push((other.name, alias));
        self.aliases.extend(other.aliases);
        self.aliases.sort_unstable_by(|a, b| a.0.cmp(&b.0));
    }
}

/// The name of the host of the canonical `url`.
pub(super) fn name_of(url: &[u8]) -> &[u8] {
    &url[host_range(url)]
}

/// The port that the canonical `url` names; none for that of its scheme.
pub(super) fn port_of(url: &[u8]) -> &[u8] {
    let end = host_range(url).end;
    let rest = url[end..].strip_prefix(b":").unwrap_or_default();
    &rest[..rest.iter().position(|byte| !byte.is_ascii_digit()).unwrap_or(rest.len())]
}

/// Where that is.
fn host_range(url: &[u8]) -> std::ops::Range<usize> {
    let parts = split(url);
    let authority = parts.authority.unwrap_or_default();
    let start = parts.scheme.map_or(0, <[u8]>::len) + "://".len();
    let (from, to) = host_in(authority);
    start + from..start + to
}

/// Makes `out` the `url` with the host `name`.
fn rename(url: &[u8], name: &[u8], out: &mut Vec<u8>) {
    let range = host_range(url);
    out.clear();
    out.extend_from_slice(&url[..range.start]);
    out.extend_from_slice(name);
    out.extend_from_slice(&url[range.end..]);
}
