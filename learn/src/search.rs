//! Rules for the URLs of one host: hypotheses from URLs with the same content, each tried on all URLs, one after the other, until
//! none is left that adds something.

use std::collections::{BTreeMap, BTreeSet};

use super::Proof;
use super::difference::between;
use super::edit::{Edit, rules_of};
use super::forms::{Content, Forms, Trial, Url};
use super::page;
use super::undo::undone;
use super::within;
use uriscan_core::key::Hasher;
use uriscan_core::rules::Scratch;

/// Edits that are right or wrong together, and what counts for and against them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hypothesis {
    pub(super) edits: Vec<Edit>,
    pub(super) trial: Trial,
    /// URLs of the input, which other rules may have changed before.
    pub(super) example: Option<(Vec<u8>, Vec<u8>)>,
    pub(super) counterexample: Option<(Vec<u8>, Vec<u8>)>,
    /// Where to fetch one more page that would say something.
    pub(super) fetch: Fetches,
    /// The site declares it.
    pub(super) is_declared: bool,
    /// The hosts whose evidence was added up, as that of each alone is too little, if so.
    pub(super) pool: Option<Pool>,
}

/// Hosts of a site whose evidence was added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pool {
    /// Those that say something.
    pub(super) hosts: u64,
    /// There are so many of them that it holds for all hosts of the site.
    pub(super) is_wide: bool,
    /// This host is one of those that say something.
    pub(super) is_shown: bool,
}

/// What was found for a host.
#[derive(Clone, Debug, Default)]
pub(super) struct HostRules {
    /// In the order in which they were found.
    pub(super) accepted: Vec<Hypothesis>,
    /// What had some support, and was not proven.
    pub(super) rejected: Vec<Hypothesis>,
}

/// Hypotheses that are counted for a host.
const MOST_COUNTED: usize = 1 << 16;

/// Hypotheses that are tried for a host, those with the most support first.
const MOST: usize = 256;

/// Pairs of URLs with the same content that are looked at, for each content.
const MOST_PAIRS: usize = 64;

/// Rules for a host: with each, all URLs are looked at again.
const MOST_RULES: usize = 100;

/// Passes through the hypotheses.
const MOST_PASSES: usize = 16;

/// URLs to fetch that are kept for a hypothesis, their bytes, and forms that are looked at for more of them.
const MOST_FETCHES: usize = 400;
const MOST_FETCH_BYTES: usize = 64 << 10;
const MOST_TURNED: usize = 10_000;

/// Groups that are right at least before URLs are made up, to be fetched.
const LEAST_TURNED: u64 = 5;

/// URLs to fetch, as many as are kept.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fetches {
    pub(super) urls: Vec<Vec<u8>>,
    /// Those that are not in the input.
    made: Vec<Vec<u8>>,
    room: usize,
}

impl Fetches {
    /// None so far; none are kept if `proof` wants none.
    pub(super) fn new(proof: &Proof) -> Fetches {
        let room = if proof.wants_fetches { MOST_FETCH_BYTES } else { 0 };
        Fetches { room, ..Fetches::default() }
    }

    fn is_full(&self) -> bool {
        self.room == 0 || self.urls.len() + self.made.len() >= MOST_FETCHES
    }

    /// Adds `url`, which the input has or not, if there is room.
    pub(super) fn push(&mut self, url: &[u8], is_seen: bool) {
        if !self.is_full() && !page::is_action(url) {
            self.room = self.room.saturating_sub(url.len());
            if is_seen { &mut self.urls } else { &mut self.made }.push(url.to_vec());
        }
    }

    /// Adds those that are not in the input to the others if `right` groups speak for what they are of. Where few do, it is likely that
    /// there is nothing to fetch under them.
    fn settle(&mut self, right: u64) {
        let made = std::mem::take(&mut self.made);
        self.urls.extend(made.into_iter().filter(|_| right >= LEAST_TURNED));
    }
}

impl HostRules {
    /// All edits that were accepted.
    pub(super) fn edits(&self) -> impl Iterator<Item = &Edit> {
        self.accepted.iter().flat_map(|found| &found.edits)
    }

    /// Finds the rules of `urls` on one host, beyond those of `seed`. What is `declared` is tried, too.
    pub(super) fn find(
        urls: &[Url<'_, '_>],
        (seed, declared): (Vec<Hypothesis>, &BTreeSet<Vec<Edit>>),
        proof: &Proof,
        hasher: &Hasher,
    ) -> HostRules {
        let mut found = HostRules { accepted: seed, rejected: Vec::new() };
        let mut rejected: BTreeMap<Vec<Edit>, Hypothesis> = BTreeMap::new();
        let mut forms = found.forms(urls, hasher);
        for _ in 0..MOST_PASSES {
            let before = found.accepted.len();
            for edits in candidates(&forms, declared) {
                let known: BTreeSet<&Edit> = found.edits().collect();
                if edits.iter().any(|edit| known.contains(edit)) {
                    continue;
                }
                if found.accepted.len() >= MOST_RULES {
                    break;
                }
                let mut tried = found.tried(&edits, &forms, proof, hasher);
                tried.is_declared = declared.contains(&edits);
                if proof.is_rule(&tried.edits, &tried.trial) {
                    found.accepted.push(tried);
                    rejected.remove(&edits);
                    forms = found.forms(urls, hasher);
                } else {
                    rejected.insert(edits, tried);
                }
            }
            if found.accepted.len() == before {
                break;
            }
        }
        let open = rejected.values().map(|tried| (&tried.edits[..], &tried.trial));
        for edits in within::contradicted(open, proof) {
            let known: Vec<Edit> = found.edits().cloned().collect();
            // Of overlapping parts the later ones have nothing left to join.
            let room = MOST_RULES.saturating_sub(found.accepted.len());
            for part in within::parts(&known, &edits, &forms, proof, hasher).into_iter().take(room)
            {
                let tried = found.tried(&[part], &forms, proof, hasher);
                if proof.is_rule(&tried.edits, &tried.trial) {
                    found.accepted.push(tried);
                    forms = found.forms(urls, hasher);
                }
            }
        }
        let known: BTreeSet<Edit> = found.edits().cloned().collect();
        let is_open = |tried: &Hypothesis| {
            // Of two URLs of one page that differ in many ways, little can be said.
            let is_chance = tried.trial.right == 1 && tried.edits.len() > 2;
            let is_reported = tried.trial.right > 0 && !is_chance || tried.is_declared;
            is_reported && !tried.edits.iter().any(|edit| known.contains(edit))
        };
        found.rejected = rejected.into_values().filter(is_open).collect();
        found.accepted.iter_mut().for_each(|accepted| accepted.fetch = Fetches::default());
        for open in &mut found.rejected {
            let needed = proof.needed(&open.trial).and_then(|needed| usize::try_from(needed).ok());
            open.fetch.urls.truncate(needed.unwrap_or(0));
            open.fetch.urls.shrink_to_fit();
        }
        found
    }

    /// The forms of `urls` under the rules that were accepted.
    pub(super) fn forms<'u>(&self, urls: &[Url<'_, 'u>], hasher: &Hasher) -> Forms<'u> {
        let (rules, mut scratch) = (rules_of(self.edits()), Scratch::default());
        Forms::new(urls.iter().copied(), hasher, |url, out| {
            out.extend_from_slice(rules.apply(url, &mut scratch).0);
        })
    }

    /// Counts what `edits` join beyond the rules that were accepted.
    pub(super) fn tried(
        &self,
        edits: &[Edit],
        forms: &Forms<'_>,
        proof: &Proof,
        hasher: &Hasher,
    ) -> Hypothesis {
        let (rules, mut scratch) = (rules_of(self.edits().chain(edits)), Scratch::default());
        let mut fetch = Fetches::new(proof);
        let trial = forms.trial(
            hasher,
            |form, out| out.extend_from_slice(rules.apply(form, &mut scratch).0),
            &|_| true,
            &mut |url, is_seen| fetch.push(url, is_seen),
        );
        let mut tried = Hypothesis::new(edits.to_vec(), trial, forms, fetch);
        if let Some((one, other)) = tried.trial.example {
            let sample = [forms.get(one), forms.get(other)];
            let undone = |url: &[u8]| {
                let two = sample.map(|sample| undone(edits, url, sample));
                two.into_iter().flatten().find(|made| rules.apply(made, &mut scratch).0 == url)
            };
            tried.add_fetches(forms, hasher, undone);
        }
        tried
    }
}

impl Hypothesis {
    pub(super) fn new(
        edits: Vec<Edit>,
        trial: Trial,
        forms: &Forms<'_>,
        mut fetch: Fetches,
    ) -> Hypothesis {
        fetch.settle(trial.right);
        let pair = |(a, b): (u32, u32)| (forms.seen(a).to_vec(), forms.seen(b).to_vec());
        let (example, counterexample) = (trial.example.map(pair), trial.counterexample.map(pair));
        Hypothesis { edits, trial, example, counterexample, fetch, ..Hypothesis::default() }
    }

    /// Adds URLs to fetch, which are not among `forms` and which `undone` makes of forms with known content. Where little speaks for the
    /// hypothesis, it is likely that there is nothing to fetch under these.
    pub(super) fn add_fetches(
        &mut self,
        forms: &Forms<'_>,
        hasher: &Hasher,
        mut undone: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) {
        for (number, content) in (0..).zip(&forms.content).take(MOST_TURNED) {
            if self.fetch.is_full() || self.trial.right < LEAST_TURNED {
                return;
            }
            if matches!(content, Content::One(_)) {
                let made = undone(forms.get(number));
                let made = made.filter(|made| forms.find(made, hasher).is_none());
                made.iter().for_each(|made| self.fetch.push(made, true));
            }
        }
    }
}

/// The edits that occur between forms with the same content: those of pairs, and each alone, and those that are `declared`, in the
/// order in which they are tried.
fn candidates(forms: &Forms<'_>, declared: &BTreeSet<Vec<Edit>>) -> Vec<Vec<Edit>> {
    let mut by_content: Vec<(u32, u32)> = Vec::new();
    for (number, content) in (0..).zip(&forms.content) {
        if let Content::One(content) = content {
            by_content.push((*content, number));
        }
    }
    by_content.sort_unstable();
    let (mut counts, mut least): (BTreeMap<Vec<Edit>, u64>, u64) = (BTreeMap::new(), 0);
    for group in by_content.chunk_by(|a, b| a.0 == b.0) {
        let mut of_page: BTreeSet<Vec<Edit>> = BTreeSet::new();
        for (a, b) in pairs(group) {
            let Some(edits) = between(forms.get(a), forms.get(b)) else { continue };
            of_page.extend(edits.iter().map(|edit| vec![edit.clone()]));
            let is_of_query = |edit: &Edit| matches!(edit, Edit::Param(_) | Edit::AnyParam);
            if edits.iter().all(is_of_query) {
                of_page.insert(vec![Edit::AnyParam]);
            }
            of_page.insert(edits);
        }
        of_page.into_iter().for_each(|edits| *counts.entry(edits).or_default() += 1);
        while counts.len() > MOST_COUNTED {
            // Of names that are new on each page, none can be proven.
            least += 1;
            counts.retain(|_, count| *count > least);
        }
    }
    let mut counted: Vec<(Vec<Edit>, u64)> = counts.into_iter().collect();
    counted.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
    counted.truncate(MOST);
    let mut all: Vec<Vec<Edit>> = counted.into_iter().map(|(edits, _)| edits).collect();
    all.extend(declared.iter().cloned());
    all.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    all.dedup();
    all
}

/// Pairs of the forms in `group`, which are sorted: neighbors differ in little, and each differs from the first.
fn pairs(group: &[(u32, u32)]) -> impl Iterator<Item = (u32, u32)> {
    let neighbors = group.windows(2).map(|two| (two[0].1, two[1].1)).take(MOST_PAIRS);
    let others = group.iter().skip(2).map(|other| (group[0].1, other.1)).take(MOST_PAIRS);
    neighbors.chain(others)
}
