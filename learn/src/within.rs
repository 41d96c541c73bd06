//! Parameters that mean nothing in a part of a host: below a first segment, or beside another parameter.
//!
//! A hypothesis that is wrong on the host as a whole may be right there: a host has several programs, and a program may look at a
//! parameter only if another one says so. Where that could be is seen from the groups that the hypothesis joins.

use std::collections::HashMap;

use super::Proof;
use super::edit::{Edit, rules_of};
use super::forms::{Forms, Trial};
use uriscan_core::key::Hasher;
use uriscan_core::rules::Scratch;
use uriscan_core::uri::split;

/// Hypotheses whose groups are looked at, those with the most support first.
const MOST_LOOKED_AT: usize = 16;

/// Parameters of a URL that could be the reason.
const MOST_IN_QUERY: usize = 16;

/// The parts of a host, as they are in URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part<'t> {
    Segment(&'t [u8]),
    Param(&'t [u8]),
}

/// Those of `rejected` that are about parameters, have enough support, and are contradicted.
pub(super) fn contradicted<'h>(
    rejected: impl Iterator<Item = (&'h [Edit], &'h Trial)>,
    proof: &Proof,
) -> Vec<Vec<Edit>> {
    let is_param = |edit: &Edit| matches!(edit, Edit::Param(_));
    let mut found: Vec<(&[Edit], &Trial)> = rejected
        .filter(|(edits, trial)| edits.iter().all(is_param) && has_enough(trial, proof))
        .filter(|(_, trial)| proof.needed(trial).is_none())
        .collect();
    found.sort_by(|a, b| (b.1.right, a.0).cmp(&(a.1.right, b.0)));
    found.into_iter().take(MOST_LOOKED_AT).map(|(edits, _)| edits.to_vec()).collect()
}

/// Whether the groups that are right could be proof, if they were alone.
fn has_enough(trial: &Trial, proof: &Proof) -> bool {
    proof.is_given(&Trial { right: trial.right, ..Trial::default() })
}

/// The parts of the host in which dropping the parameters of `edits` is right, beyond what is `known`; those with the most support first.
pub(super) fn parts(
    known: &[Edit],
    edits: &[Edit],
    forms: &Forms<'_>,
    proof: &Proof,
    hasher: &Hasher,
) -> Vec<Edit> {
    let names: Vec<Vec<u8>> = edits
        .iter()
        .filter_map(|edit| match edit {
            Edit::Param(name) => Some(name.clone()),
            _ => None,
        })
        .collect();
    let (rules, mut scratch) = (rules_of(known.iter().chain(edits)), Scratch::default());
    let groups = forms.joined(hasher, |form, out| {
        out.extend_from_slice(rules.apply(form, &mut scratch).0);
    });
    let groups: Vec<(&[u32], Trial)> =
        groups.iter().map(|group| (&group[..], forms.trial_of(group))).collect();
    // First how often each is right, so that values which are new on each page take no room afterwards.
    let mut right: HashMap<Part<'_>, u64> = HashMap::new();
    for (group, trial) in groups.iter().filter(|(_, trial)| trial.right > 0) {
        each_part(forms.get(group[0]), &names, |part| {
            *right.entry(part).or_default() += trial.right;
        });
    }
    right.retain(|_, &mut right| has_enough(&Trial { right, ..Trial::default() }, proof));
    let mut trials: HashMap<Part<'_>, Trial> = HashMap::new();
    for (group, trial) in &groups {
        each_part(forms.get(group[0]), &names, |part| {
            if right.contains_key(&part) {
                trials.entry(part).or_default().sum(trial);
            }
        });
    }
    let mut proven: Vec<(Part<'_>, u64)> = trials
        .into_iter()
        .filter(|(_, trial)| proof.is_given(trial))
        .map(|(part, trial)| (part, trial.right))
        .collect();
    proven.sort_unstable_by(|a, b| (b.1, a.0).cmp(&(a.1, b.0)));
    let edit = |(part, _): (Part<'_>, u64)| match part {
        Part::Segment(segment) => Edit::below(segment, names.clone()),
        Part::Param(param) => Edit::given(param, names.clone()),
    };
    proven.into_iter().filter_map(edit).collect()
}

/// Calls `found` with the first segment of `url`, if it has more, and with each of its parameters but those of `names`: what all URLs
/// share that differ in these.
fn each_part<'t>(url: &'t [u8], names: &[Vec<u8>], mut found: impl FnMut(Part<'t>)) {
    let parts = split(url);
    let rest = parts.path.strip_prefix(b"/").unwrap_or_default();
    if let Some(end) = memchr::memchr(b'/', rest).filter(|&end| end > 0) {
        found(Part::Segment(&rest[..end]));
    }
    let query = parts.query.unwrap_or_default();
    let mut params: Vec<&[u8]> = query
        .split(|&byte| byte == b'&')
        .take(MOST_IN_QUERY)
        .filter(|param| {
            let name = param.split(|&byte| byte == b'=').next().unwrap_or_default();
            !param.is_empty() && !names.iter().any(|it| it == name)
        })
        .collect();
    // One that is there twice is one.
    params.sort_unstable();
    params.dedup();
    params.into_iter().for_each(|param| found(Part::Param(param)));
}
