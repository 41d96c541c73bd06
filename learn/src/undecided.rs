//! Which URLs to fetch to decide what is not decided.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::Proof;
use super::write::Rule;
use uriscan_files::escape::escaped_bytes;

/// Lines of a URL, the number of hypotheses that it says something about, and these, with tabs between them: for each of the `open`
/// rules that may be proven as many as are needed, if so many are known. Those that say most are chosen first.
pub(super) fn lines(open: &[Rule], proof: &Proof) -> String {
    let needed = |rule: &Rule| proof.needed(&rule.hypothesis.trial);
    let undecided: Vec<(&Rule, u64)> =
        open.iter().filter_map(|rule| Some((rule, needed(rule)?))).collect();
    let mut by_url: BTreeMap<&[u8], Vec<usize>> = BTreeMap::new();
    for (i, (rule, _)) in undecided.iter().enumerate() {
        let urls: BTreeSet<&[u8]> = rule.hypothesis.fetch.urls.iter().map(|url| &url[..]).collect();
        urls.into_iter().for_each(|url| by_url.entry(url).or_default().push(i));
    }
    let mut urls: Vec<(&[u8], Vec<usize>)> = by_url.into_iter().collect();
    // In the order of their names where they say as much.
    urls.sort_by_key(|(_, rules)| std::cmp::Reverse(rules.len()));
    let mut left: Vec<u64> = undecided.iter().map(|(_, needed)| *needed).collect();
    let mut out = String::new();
    for (url, rules) in urls {
        if rules.iter().all(|&rule| left[rule] == 0) {
            continue;
        }
        rules.iter().for_each(|&rule| left[rule] = left[rule].saturating_sub(1));
        let name = |&rule: &usize| {
            let rule = undecided[rule].0;
            format!("{}: {}", escaped_bytes(&rule.host), rule.masked_name())
        };
        let names = rules.iter().map(name).collect::<Vec<_>>().join("; ");
        // A canonical URL is ASCII.
        let _ = writeln!(out, "{}\t{}\t{names}", String::from_utf8_lossy(url), rules.len());
    }
    out
}
