//! Rule sets with some of the rules of another: what the others leave undone shows what they are for.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError};

use super::fast::{FRAGMENT, HEAD, PATH, QUERY};
use super::hosts::Hosts;
use super::param::Unit;
use super::parts::{folded, host_of};
use super::rule::{Rule, Rules};
use super::set::{Builder, Made, Parts, RuleSet};
use super::site::{Site, add_www};
use crate::chunk::Prefix;
use crate::simd::{Isa, Kernels, Task};
use crate::uri::cuts::{Cuts, web_authority};

/// Room for smaller rule sets that a rule set keeps, in bytes; [`MOST_KEPT`] are kept whatever they take.
const ROOM: usize = 16 << 20;
const MOST_KEPT: usize = 32;

/// The same for those that a thread keeps. It keeps none that takes more than an eighth of it: there may be many threads.
const ROOM_OF_THREAD: usize = 4 << 20;

/// The rule sets that have some of the rules of another, for one pair of URIs after the other.
#[derive(Debug)]
pub(crate) struct Subsets<'r> {
    all: &'r RuleSet,
    is_same_everywhere: bool,
    are_independent: bool,
    /// By the rules and the authorities of a pair; the same for all pairs if the rules are for all hosts.
    made: Made<Vec<u8>>,
    /// The last one that was not among them.
    last: Option<Arc<RuleSet>>,
    /// Rules and authorities.
    name: Vec<u8>,
}

impl<'r> Subsets<'r> {
    pub(crate) fn new(all: &'r RuleSet) -> Subsets<'r> {
        Subsets {
            all,
            is_same_everywhere: all.is_same_everywhere(),
            are_independent: all.are_independent(),
            made: Made::default(),
            last: None,
            name: Vec::new(),
        }
    }

    /// The rule set with all rules.
    pub(crate) fn all(&self) -> &'r RuleSet {
        self.all
    }

    /// Whether rules that leave a form as it is have no part in what the others make of it.
    pub(crate) fn are_independent(&self) -> bool {
        self.are_independent
    }

    /// Whether what each of `rules`, some of [independent](Subsets::are_independent) ones, makes of a part of a form does not depend on
    /// another part: not on the page, nor on what a table is for.
    pub(crate) fn act_by_part(&self, rules: Rules) -> bool {
        !rules.has(Rule::SessionId) && self.is_same_everywhere && !self.all.params.has_conditions()
    }

    /// The rule set that has only the rules of `kept`, with all their arguments, for URIs with the hosts of `forms`; `None`
    /// if it cannot be built. `allow-param`, which merges nothing, remains.
    pub(crate) fn only(&mut self, kept: Rules, forms: [&[u8]; 2]) -> Option<&RuleSet> {
        self.name.clear();
        self.name.extend_from_slice(&kept.bits().to_ne_bytes());
        if !self.is_same_everywhere {
            for form in forms {
                self.name.extend_from_slice(authority(form).unwrap_or_default());
                // No authority has one.
                self.name.push(b'/');
            }
        }
        if !self.made.0.contains_key(&self.name) {
            self.last = self.all.only(kept, forms);
            let bytes = self.name.len() + bytes_of(self.last.as_ref());
            if bytes > ROOM_OF_THREAD / 8 {
                return self.last.as_deref();
            }
            if self.made.1 + bytes > ROOM_OF_THREAD {
                self.made = Made::default();
            }
            self.made.1 += bytes;
            self.made.0.insert(self.name.clone(), self.last.clone());
        }
        self.made.0.get(&self.name)?.as_deref()
    }
}

/// For each part of the forms `a` and `b` the rules that may change it, if they differ in it: no other rule does. If one of the two
/// is not the form of a web URI, all rules may change each.
pub(crate) fn rules_of_differences(kernels: Kernels, a: Prefix<'_>, b: Prefix<'_>) -> [Rules; 7] {
    const HTTPS: Rules = Rules::of(&[Rule::Https]);
    const USERINFO: Rules = Rules::of(&[Rule::Userinfo]);
    const HOST: Rules = HEAD.without(HTTPS).without(USERINFO);
    // A fragment may be the route of a page with a query of its own.
    const OF_PARTS: [Rules; 7] = [HTTPS, USERINFO, HOST, HTTPS, PATH, QUERY, FRAGMENT.union(QUERY)];
    let Some([of_a, of_b]) = kernels.run(PartsOf([a, b])) else {
        return [Rules::of(&Rule::ALL); 7];
    };
    let mut found = OF_PARTS;
    for (i, rules) in found.iter_mut().enumerate() {
        if a.bytes()[of_a[i]..of_a[i + 1]] == b.bytes()[of_b[i]..of_b[i + 1]] {
            *rules = Rules::default();
        }
    }
    found
}

/// Finds the [parts](Cuts::parts) of the forms of two web URIs; none if one of them is not.
struct PartsOf<'a>([Prefix<'a>; 2]);

impl Task for PartsOf<'_> {
    type Output = Option<[[usize; 8]; 2]>;
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let [a, b] = self.0;
        let (of_a, of_b) = (web_authority(a.bytes())?, web_authority(b.bytes())?);
        Some([Cuts::find_by(isa, a, of_a).parts(), Cuts::find_by(isa, b, of_b).parts()])
    }
}

/// Bytes that a rule set takes, about.
fn bytes_of(made: Option<&Arc<RuleSet>>) -> usize {
    /// A table for parameters of all hosts has 4 KiB for the first letters of names.
    const LEAST: usize = 24 << 10;
    /// A pattern, a host: each is there several times, in the order of the rules and in tables.
    const EACH: usize = 512;
    let Some(made) = made else { return LEAST };
    let of_sites = made.written.iter().map(|it| 1 + it.hosts.len() + it.except.len());
    let of_units = made.written_units.iter().map(|it| 1 + it.hosts.len() + it.except.len());
    let count = made.patterns.len() + of_sites.sum::<usize>() + of_units.sum::<usize>();
    // Of all sites and of each, as written and settled.
    let lists = made.sites.written.bytes() * (2 + 2 * made.written.len());
    let of_each: usize = made.written.iter().map(|site| 2 * site.on.bytes()).sum();
    LEAST + EACH * count + lists + of_each
}

impl RuleSet {
    /// See [`Subsets::are_independent`].
    ///
    /// `keep-param` protects parameters from `drop-param`; pages and extensions are compared as `path-case` and
    /// `path-decode` would leave them, and hosts of sites and of tables as the rules for hosts would.
    fn are_independent(&self) -> bool {
        let with_lists = Rules::of(&[Rule::KeepParam, Rule::PathDecode, Rule::PathCase]);
        let of_hosts = Rules::of(&[Rule::HostDot, Rule::Www, Rule::HostAlias]);
        let is_about_hosts = !self.is_same_everywhere() && self.rules.has_any(of_hosts);
        !self.rules.has_any(with_lists) && !is_about_hosts
    }

    /// Whether all rules are for all hosts.
    fn is_same_everywhere(&self) -> bool {
        self.written.is_empty()
            && self.units.iter().all(|(unit, _)| unit.hosts.is_empty() && unit.except.is_empty())
    }

    /// See [`Subsets::only`]; made once for all pairs with the same sites and tables.
    fn only(&self, kept: Rules, forms: [&[u8]; 2]) -> Option<Arc<RuleSet>> {
        let mut kept = kept;
        kept.add(Rule::AllowParam);
        let (sites, units) = self.parts_for(forms);
        let parts = (kept, sites, units);
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = made.0.get(&parts) {
            return known.clone();
        }
        let built = self.build_only(&parts).map(Arc::new);
        let bytes = bytes_of(built.as_ref());
        if made.0.len() >= MOST_KEPT && made.1 + bytes > ROOM {
            *made = Made::default();
        }
        made.1 += bytes;
        made.0.insert(parts, built.clone());
        built
    }

    /// The sites and the tables for parameters, by number, that matter for URIs with the hosts of `forms`.
    fn parts_for(&self, forms: [&[u8]; 2]) -> (Vec<usize>, Vec<usize>) {
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
        (sites, units)
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

/// The authority of a web URI.
fn authority(form: &[u8]) -> Option<&[u8]> {
    let start = web_authority(form)?;
    let end = memchr::memchr3(b'/', b'?', b'#', &form[start..]).map_or(form.len(), |at| start + at);
    Some(&form[start..end])
}

/// The host of a web URI as it is looked up.
fn host(form: &[u8]) -> Option<Vec<u8>> {
    Some(folded(host_of(authority(form)?)).into_owned())
}
