//! Evidence of several hosts of a site, added up where that of each alone is too little.
//!
//! The hosts are those of one registrable domain, so one owner by the public suffix list. A hypothesis is accepted on the hosts that
//! say something for it if their groups together prove it, and none of the hosts of the site contradicts it. It is a rule of the whole
//! domain, also for hosts that are not seen here, only if the hosts prove it, too: then the unit is a host.

use std::collections::BTreeMap;

use super::Proof;
use super::edit::Edit;
use super::forms::Trial;
use super::host::Host;
use super::search::{Hypothesis, Pool};
use uriscan_core::key::Hasher;

/// Hypotheses that are tried, those with the most support first.
const MOST: usize = 32;

/// Accepts on several of `hosts` what they prove together; for the whole site if that `may_be_wide`.
pub(super) fn pool(hosts: &mut [Host<'_>], may_be_wide: bool, proof: &Proof, hasher: &Hasher) {
    for edits in candidates(hosts, proof) {
        let tried: Vec<Option<Hypothesis>> = hosts
            .iter()
            .map(|host| {
                let is_new = !host.rules.edits().any(|edit| edits.contains(edit));
                is_new.then(|| host.rules.tried(&edits, &host.forms, proof, hasher))
            })
            .collect();
        let open = || tried.iter().flatten();
        if open().any(|tried| proof.is_contradicted(&tried.trial)) {
            continue;
        }
        let mut sum = Trial::default();
        open().for_each(|tried| sum.sum(&tried.trial));
        let speaking = open().filter(|tried| tried.trial.right > 0).count() as u64;
        if speaking < 2 || !proof.is_rule(&edits, &sum) {
            continue;
        }
        // It has a number for groups of all hosts, and each host gets a copy.
        sum.silent = Vec::new();
        let is_there = |host: &&Host<'_>| {
            edits.iter().all(|edit| host.rules.edits().any(|known| known == edit))
        };
        let right = speaking + hosts.iter().filter(is_there).count() as u64;
        let is_wide = may_be_wide && proof.is_given(&Trial { right, ..Trial::default() });
        let example = open().find_map(|tried| tried.example.clone());
        for (host, tried) in hosts.iter_mut().zip(&tried) {
            let Some(tried) = tried else { continue };
            let is_shown = tried.trial.right > 0;
            if !is_shown && !is_wide {
                continue;
            }
            let pool = Some(Pool { hosts: speaking, is_wide, is_shown });
            let (edits, trial, example) = (edits.clone(), sum.clone(), example.clone());
            host.accept(Hypothesis { edits, trial, example, pool, ..Default::default() }, hasher);
        }
    }
}

/// What was rejected on several hosts and could be proven by all together, in the order in which it is tried.
fn candidates(hosts: &[Host<'_>], proof: &Proof) -> Vec<Vec<Edit>> {
    let mut sums: BTreeMap<&[Edit], (Trial, u64)> = BTreeMap::new();
    for tried in hosts.iter().flat_map(|host| &host.rules.rejected) {
        if tried.trial.right > 0 && !proof.is_contradicted(&tried.trial) {
            let (sum, count) = sums.entry(&tried.edits).or_default();
            sum.sum(&tried.trial);
            *count += 1;
        }
    }
    let mut found: Vec<(&[Edit], Trial)> = sums
        .into_iter()
        .filter(|(_, (sum, count))| *count > 1 && proof.is_given(sum))
        .map(|(edits, (sum, _))| (edits, sum))
        .collect();
    found.sort_by(|a, b| (b.1.right, a.0).cmp(&(a.1.right, b.0)));
    found.truncate(MOST);
    found.sort_by(|a, b| (a.0.len(), a.0).cmp(&(b.0.len(), b.0)));
    found.into_iter().map(|(edits, _)| edits.to_vec()).collect()
}
