//! The compiled patterns of a rule set: first the host, then the names.

use std::collections::HashMap;

use super::glob::Glob;
use super::hosts::{HostPattern, Hosts};
use super::names::{Action, Entry, Names};
use super::param::{Named, Unit};
use super::when::When;

/// A pattern that contradicts an earlier one for the same names on the same hosts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Override {
    /// The stronger one: its index in [`RuleSet::patterns`](super::RuleSet::patterns).
    pub by: usize,
    /// The index of the overridden one.
    pub of: usize,
}

/// All patterns, grouped by the hosts to which they apply.
#[derive(Clone, Debug)]
pub(super) struct Params {
    groups: Vec<Group>,
    /// Groups that apply to all hosts, with exceptions.
    global: Vec<u32>,
    /// Groups that apply to some hosts.
    hosts: Hosts<u32>,
    needs_host: bool,
    /// Whether some groups apply to some paths or queries only.
    has_conditions: bool,
    /// The patterns of all groups.
    anywhere: Names,
}

#[derive(Clone, Debug)]
struct Group {
    names: Names,
    when: When,
    except: Option<Box<Hosts<()>>>,
}

impl Params {
    /// Compiles `units`, each with its patterns from weak to strong, and returns the patterns that
    /// override an earlier one.
    pub(super) fn new(units: &[(Unit, Vec<(Action, Named)>)]) -> (Params, Vec<Override>) {
        type Place<'u> = (&'u [HostPattern], &'u [HostPattern], &'u When);
        let mut numbers: HashMap<Place<'_>, usize> = HashMap::new();
        // Of each group one of its units, and the patterns of all.
        let mut gathered: Vec<(&Unit, Vec<(Glob, Entry)>)> = Vec::new();
        let mut latest: HashMap<(usize, &Glob), Entry> = HashMap::new();
        let mut overrides = Vec::new();
        let mut order = 0;
        for (unit, by_strength) in units {
            let place = (&unit.hosts[..], &unit.except[..], &unit.when);
            let number = *numbers.entry(place).or_insert_with(|| {
                gathered.push((unit, Vec::new()));
                gathered.len() - 1
            });
            for (action, named) in by_strength {
                let entry = Entry { order, action: *action };
                if let Some(before) = latest.insert((number, &named.glob), entry)
                    && before.action != *action
                {
                    overrides.push(Override { by: order as usize, of: before.order as usize });
                }
                gathered[number].1.push((named.glob.clone(), entry));
                order += 1;
            }
        }
        let mut hosts = Vec::new();
        let mut global = Vec::new();
        for (number, (unit, _)) in (0..).zip(&gathered) {
            if unit.hosts.is_empty() {
                global.push(number);
            }
            hosts.extend(unit.hosts.iter().map(|host| (host.clone(), number)));
        }
        // Each of them once; their actions do not matter here.
        let patterns = gathered.iter().flat_map(|(_, patterns)| patterns);
        let all: HashMap<Glob, Entry> = patterns.cloned().collect();
        let all = all.into_iter().collect();
        let groups: Vec<Group> = gathered
            .into_iter()
            .map(|(unit, patterns)| Group {
                names: match unit.hosts.is_empty() {
                    true => Names::new(patterns),
                    false => Names::of_hosts(patterns),
                },
                when: unit.when.clone(),
                except: Hosts::excepted(&unit.except),
            })
            .collect();
        let has_conditions = groups.iter().any(|group| !group.when.is_always());
        let needs_host = !hosts.is_empty() || groups.iter().any(|group| group.except.is_some());
        let hosts = Hosts::new(hosts);
        let anywhere = Names::new(all);
        (Params { groups, global, hosts, needs_host, has_conditions, anywhere }, overrides)
    }

    /// Whether [`Params::groups`] uses the host.
    #[inline]
    pub(super) fn needs_host(&self) -> bool {
        self.needs_host
    }

    /// Whether some patterns apply to some paths or queries only.
    pub(super) fn has_conditions(&self) -> bool {
        self.has_conditions
    }

    /// Whether some patterns apply to all hosts, possibly with exceptions.
    #[inline]
    pub(super) fn is_global(&self) -> bool {
        !self.global.is_empty()
    }

    /// Whether a pattern matches `name` on any host.
    #[inline]
    pub(super) fn may_match(&self, name: &[u8]) -> bool {
        self.anywhere.action(name).is_some()
    }

    /// Whether a pattern may apply to the host of `authority`: a quick test, which may return a
    /// false `true`.
    #[inline]
    pub(super) fn may_hold(&self, authority: &[u8]) -> bool {
        self.is_global() || self.hosts.may_match(authority)
    }

    /// Sets `found` to the groups that apply to `host`, which is in lower case and has no final
    /// dot, `path` and `query`.
    #[inline]
    pub(super) fn groups(&self, host: &[u8], path: &[u8], query: &[u8], found: &mut Vec<u32>) {
        self.groups_of(host, found);
        if self.has_conditions {
            found.retain(|&number| self.groups[number as usize].when.holds(path, query));
        }
    }

    /// Sets `found` to the groups that apply to `host`, at least to some paths and queries.
    #[inline]
    fn groups_of(&self, host: &[u8], found: &mut Vec<u32>) {
        found.clear();
        found.extend_from_slice(&self.global);
        if !self.needs_host {
            return;
        }
        if self.hosts.may_match(host) {
            self.hosts.each_match(host, |number| found.push(number));
            found.sort_unstable();
            found.dedup();
        }
        let except = |number: u32| self.groups[number as usize].except.as_ref();
        found.retain(|&number| !except(number).is_some_and(|except| except.has(host)));
    }

    /// The entry of the strongest pattern of `groups` that matches `name`.
    #[inline]
    pub(super) fn action(&self, groups: &[u32], name: &[u8]) -> Option<Entry> {
        groups.iter().filter_map(|&number| self.groups[number as usize].names.action(name)).max()
    }
}
