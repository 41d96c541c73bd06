//! Rule sets with some of the rules of another: what the others leave undone shows what they are for.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use super::hosts::Hosts;
use super::param::Unit;
use super::parts::{folded, host_of, web_authority};
use super::rule::{Rule, Rules};
use super::set::{Builder, Parts, RuleSet};
use super::site::{Site, add_www};

/// Smaller rule sets that are kept for the next pair of URIs; few pairs need other rules than those before.
const MOST_KEPT: usize = 32;

impl RuleSet {
    /// The rule set that has only the rules of `kept`, with all their arguments, for URIs with the hosts of `forms`; `None`
    /// if it cannot be built. `allow-param`, which merges nothing, remains.
    pub(crate) fn only(&self, kept: Rules, forms: [&[u8]; 2]) -> Option<Arc<RuleSet>> {
        let mut kept = kept;
        kept.add(Rule::AllowParam);
        let hosts = self.hosts_of(forms);
        let mut sites = BTreeSet::new();
        hosts
            .iter()
            .for_each(|host| self.sites.each_of_host(host, |i| _ = sites.insert(i as usize)));
        let sites: Vec<usize> = sites.into_iter().collect();
        let (of_all, by_host) = self.tables.get_or_init(|| tables(&self.written_units));
        let mut units: BTreeSet<usize> = of_all.iter().copied().collect();
        hosts.iter().for_each(|host| by_host.each_match(host, |i| _ = units.insert(i as usize)));
        let is_on = |site: usize| sites.binary_search(&site).is_ok();
        let units = units.into_iter().filter(|&i| self.written_units[i].site.is_none_or(is_on));
        let units = units.collect();
        let parts = (kept, sites, units);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.get(&parts) {
            return known.clone();
        }
        if made.len() >= MOST_KEPT {
            made.clear();
        }
        let built = self.build_only(&parts).map(Arc::new);
        made.insert(parts, built.clone());
        built
    }

    fn build_only(&self, (kept, sites, units): &Parts) -> Option<RuleSet> {
        let others = Rules::of(&Rule::ALL).without(*kept);
        let params = [Rule::KeepParam, Rule::DropParam, Rule::AllowParam];
        let mut scope = self.sites.written.clone();
        // Those for parameters come with their patterns.
        scope.remove(others.union(Rules::of(&params)));
        let site = |&i: &usize| {
            let mut site: Site = self.written[i].clone();
            site.on.remove(others);
            site.host = site.host.filter(|_| kept.has(Rule::HostAlias));
            site
        };
        let unit = |&i: &usize| {
            let mut unit = self.written_units[i].clone();
            unit.patterns.retain(|named| kept.has(named.list));
            unit.site = unit.site.and_then(|site| sites.binary_search(&site).ok());
            unit
        };
        let units = units.iter().map(unit).filter(|unit| !unit.patterns.is_empty()).collect();
        Builder::of_parts(scope, units, sites.iter().map(site).collect()).build().ok()
    }

    /// The hosts of `forms` and all that rules may make of them, with and without `www.`: more do no harm.
    fn hosts_of(&self, forms: [&[u8]; 2]) -> BTreeSet<Vec<u8>> {
        let mut hosts = BTreeSet::new();
        if self.written.is_empty() && self.written_units.iter().all(|unit| unit.hosts.is_empty()) {
            return hosts;
        }
        let mut more: Vec<Vec<u8>> = forms.into_iter().filter_map(host).collect();
        while let Some(host) = more.pop() {
            let mut rest = &host[..];
            let mut all = vec![[b"www.", rest].concat(), rest.to_vec()];
            while let Some(short) = rest.strip_prefix(b"www.") {
                all.push(short.to_vec());
                rest = short;
            }
            for host in all {
                if !hosts.contains(&host) {
                    let alias = |i: u32| self.written[i as usize].host.clone();
                    self.sites.each_of_host(&host, |i| more.extend(alias(i)));
                    hosts.insert(host);
                }
            }
        }
        hosts
    }
}

/// The tables for all hosts, by number, and those for single ones under the names that these have with and without `www.`.
fn tables(units: &[Unit]) -> (Vec<usize>, Hosts<u32>) {
    let of_all = (0..units.len()).filter(|&i| units[i].hosts.is_empty()).collect();
    let named = |(unit, i): (&Unit, u32)| {
        let mut hosts = unit.hosts.clone();
        add_www(&mut hosts, Rules::of(&[Rule::Www]), Rules::default(), Rules::default());
        hosts.into_iter().map(move |host| (host, i))
    };
    (of_all, Hosts::new(units.iter().zip(0..).flat_map(named)))
}

/// The host of a web URI as it is looked up.
fn host(form: &[u8]) -> Option<Vec<u8>> {
    let start = web_authority(form)?;
    let end = memchr::memchr3(b'/', b'?', b'#', &form[start..]).map_or(form.len(), |at| start + at);
    Some(folded(host_of(&form[start..end])).into_owned())
}
