//! Rules of single sites: which of them apply to a host, and which host it becomes.

use std::collections::{HashMap, HashSet};
use std::fmt::Write;
use std::sync::Arc;

use super::hosts::{HostPattern, Hosts};
use super::param::Place;
use super::parts::{folded, has_needless_dot, www_len};
use super::rule::{Rule, Rules};
use super::scope::Scope;

/// A `[[site]]` of a rule file.
#[derive(Clone, Debug)]
pub(super) struct Site {
    pub(super) hosts: Vec<HostPattern>,
    pub(super) except: Vec<HostPattern>,
    /// The host that represents the others; it is one of `hosts`.
    pub(super) host: Option<Vec<u8>>,
    /// Rules that are on there.
    pub(super) on: Scope,
    /// Rules that are off there.
    pub(super) off: Rules,
    pub(super) why: Option<Arc<str>>,
    pub(super) place: Place,
}

/// The rules of a site, as a rule file gives them.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SiteRules {
    /// The hosts that belong to the site: names, `site:` and a registrable domain, patterns.
    pub hosts: Vec<String>,
    /// Hosts that are excepted.
    pub except: Vec<String>,
    /// The host that the others become.
    pub host: Option<String>,
    /// Rules that are on there, as they are typed, in the order in which they are applied; without those for parameters.
    pub rules: Vec<String>,
    /// Rules that are off there.
    pub without: Rules,
    /// What they are for, in the author's words.
    pub why: Option<Arc<str>>,
    /// Where they were written.
    pub place: Place,
}

/// The sites of a rule set. Of several that match a host all apply, in order: a later one overrides.
#[derive(Clone, Debug)]
pub(super) struct Sites {
    pub(super) list: Vec<Site>,
    /// The rules for all hosts, before [`Scope::settle`].
    pub(super) written: Scope,
    /// The rules on hosts that no other site matches, for each of them.
    scopes: Vec<Scope>,
    hosts: Hosts<u32>,
    except: Vec<Option<Box<Hosts<()>>>>,
}

/// Buffers of [`Sites::settle`].
#[derive(Clone, Debug, Default)]
pub(super) struct Buffers {
    found: Vec<u32>,
    scope: Scope,
}

/// A host under the rules.
pub(super) struct Settled<'a> {
    pub(super) host: &'a [u8],
    /// The rules that changed it.
    pub(super) fired: Rules,
    /// The rules for the rest of the URI, which are those of the final host.
    pub(super) scope: &'a Scope,
}

/// Bytes of the rules of all sites.
const MOST_BYTES: usize = 64 << 20;

/// Times that a host may change before it stays: it loses `www.`, and another takes its place. Building refuses others.
pub(super) const MOST_CHANGES: usize = 4;

impl Sites {
    /// Compiles the sites of `list`, on top of the rules for all hosts: as they were `written`, and settled.
    ///
    /// # Errors
    /// With the place of a site whose `host` would not stay.
    pub(super) fn new(
        mut list: Vec<Site>,
        written: &Scope,
        global: &Scope,
    ) -> Result<Sites, (Place, String)> {
        let bytes = |site: &Site| written.bytes() + site.on.bytes();
        if let Some(site) = list.first()
            && list.iter().map(bytes).sum::<usize>() > MOST_BYTES
        {
            let why = "all sites together take more than 64 MiB: they repeat the lists of the rules for all hosts";
            return Err((site.place.clone(), why.to_owned()));
        }
        for site in &mut list {
            let (rules, off) = (site.on.rules, site.off);
            add_www(&mut site.hosts, global.rules, rules, off);
            add_www(&mut site.except, global.rules, rules, off);
        }
        let scopes = list.iter().map(|site| {
            let mut scope = written.clone();
            site.apply_to(&mut scope);
            scope.settle();
            scope
        });
        let hosts = |site: &Site, i: u32| site.hosts.clone().into_iter().map(move |host| (host, i));
        let mut sites = Sites {
            written: written.clone(),
            scopes: scopes.collect(),
            hosts: Hosts::new(list.iter().zip(0..).flat_map(|(site, i)| hosts(site, i))),
            except: list.iter().map(|site| Hosts::excepted(&site.except)).collect(),
            list,
        };
        // Many sites may name the same host, which all of them match.
        let mut finals: HashMap<Vec<u8>, Vec<u8>> = HashMap::new();
        for i in 0..sites.list.len() {
            let Some(host) = sites.list[i].host.take() else { continue };
            let last = finals
                .entry(host)
                .or_insert_with_key(|host| host[sites.www_len(global, host)..].to_vec());
            sites.list[i].host = Some(last.clone());
        }
        let (mut checked, mut found) = (HashSet::new(), Vec::new());
        for site in &sites.list {
            let Some(host) = site.host.as_deref().filter(|&host| checked.insert(host)) else {
                continue;
            };
            let (settled, _) = sites.settle_host(global, host, &mut found);
            if settled != host {
                let [from, to] = [host, settled].map(String::from_utf8_lossy);
                let by = sites.replacing(host).map_or(String::new(), |by| format!(" at {by}"));
                let why = format!(
                    "[[site]] with host `{from}`: this host would become `{to}` by the [[site]]{by}"
                );
                return Err((site.place.clone(), why));
            }
        }
        Ok(sites)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether a site may match the host of `authority`, with or without `www.`: a quick test, which may return a false
    /// `true`.
    #[inline]
    pub(super) fn may_match(&self, authority: &[u8]) -> bool {
        self.hosts.may_match(authority)
    }

    /// Sets `found` to the sites that match `host`, which is in lower case and has no final dot.
    fn matching(&self, host: &[u8], found: &mut Vec<u32>) {
        found.clear();
        self.hosts.each_match(host, |i| found.push(i));
        found.sort_unstable();
        found.dedup();
        let except = |i: u32| self.except[i as usize].as_ref();
        found.retain(|&i| !except(i).is_some_and(|except| except.has(host)));
    }

    /// The place of the site that makes another host of `host`.
    fn replacing(&self, host: &[u8]) -> Option<&Place> {
        let mut found = Vec::new();
        self.matching(&folded(host), &mut found);
        let mut sites = found.iter().rev().map(|&i| &self.list[i as usize]);
        sites.find(|site| site.host.is_some()).map(|site| &site.place)
    }

    /// Calls `found` with each site whose hosts `host` is one of, whatever its exceptions; some more than once.
    pub(super) fn each_of_host(&self, host: &[u8], found: impl FnMut(u32)) {
        self.hosts.each_match(host, found);
    }

    /// Bytes of the labels `www` that rules drop from `host`, which is in lower case and has no final dot.
    fn www_len(&self, global: &Scope, host: &[u8]) -> usize {
        let mut found = Vec::new();
        self.matching(host, &mut found);
        if self.rules_of(&found, global).has(Rule::Www) { www_len(host) } else { 0 }
    }

    /// Makes of an exact name the one that is left of the host where rules drop `www.`.
    pub(super) fn drop_www(&self, global: &Scope, host: &mut HostPattern) {
        if let HostPattern::Exact(name) = host {
            name.drain(..self.www_len(global, name));
        }
    }

    fn rules_of(&self, found: &[u32], global: &Scope) -> Rules {
        found.iter().fold(global.rules, |rules, &i| {
            let site = &self.list[i as usize];
            rules.union(site.on.rules).without(site.off)
        })
    }

    /// Changes `host` until the rules of the sites that it then belongs to leave it as it is; these are in `found` then.
    /// Returns it, and the rules that changed it.
    fn settle_host<'a>(
        &'a self,
        global: &Scope,
        mut host: &'a [u8],
        found: &mut Vec<u32>,
    ) -> (&'a [u8], Rules) {
        let mut fired = Rules::default();
        for _ in 0..MOST_CHANGES {
            let before = host;
            self.matching(&folded(host), found);
            let rules = self.rules_of(found, global);
            if rules.has(Rule::HostDot) && has_needless_dot(host) {
                host = &host[..host.len() - 1];
                fired.add(Rule::HostDot);
            }
            if rules.has(Rule::Www) && www_len(host) > 0 {
                host = &host[www_len(host)..];
                fired.add(Rule::Www);
            }
            let alias = found.iter().rev().find_map(|&i| self.list[i as usize].host.as_deref());
            if let Some(alias) = alias.filter(|&alias| alias != &*folded(host)) {
                host = alias;
                fired.add(Rule::HostAlias);
            }
            if host == before {
                break;
            }
        }
        (host, fired)
    }

    /// The host that `host` becomes, and the rules of the sites that it then belongs to.
    pub(super) fn settle<'a>(
        &'a self,
        global: &'a Scope,
        host: &'a [u8],
        buffers: &'a mut Buffers,
    ) -> Settled<'a> {
        let Buffers { found, scope } = buffers;
        let (host, fired) = self.settle_host(global, host, found);
        let scope = match **found {
            [] => global,
            [i] => &self.scopes[i as usize],
            _ => {
                scope.clone_from(&self.written);
                found.iter().for_each(|&i| self.list[i as usize].apply_to(scope));
                scope.settle();
                scope
            }
        };
        Settled { host, fired, scope }
    }
}

impl Site {
    /// Appends a description, line by line: sites with the same description do the same.
    pub(super) fn describe(&self, out: &mut String) {
        out.push_str("site");
        self.hosts.iter().for_each(|host| _ = write!(out, " on {host}"));
        self.except.iter().for_each(|host| _ = write!(out, " not on {host}"));
        if let Some(host) = &self.host {
            let _ = write!(out, " host {}", String::from_utf8_lossy(host));
        }
        out.push('\n');
        self.on.describe("site ", out);
        self.off.iter().for_each(|rule| _ = writeln!(out, "site without {rule}"));
    }

    /// Turns rules of `scope` on and off.
    pub(super) fn apply_to(&self, scope: &mut Scope) {
        scope.extend(&self.on);
        scope.remove(self.off);
    }

    /// The site as texts.
    pub(super) fn shown(&self) -> SiteRules {
        let shown = |hosts: &[HostPattern]| hosts.iter().map(ToString::to_string).collect();
        SiteRules {
            hosts: shown(&self.hosts),
            except: shown(&self.except),
            host: self.host.as_ref().map(|host| String::from_utf8_lossy(host).into_owned()),
            rules: self.on.typed(),
            without: self.off,
            why: self.why.clone(),
            place: self.place.clone(),
        }
    }

    /// Whether it matches `host`, which is in lower case and has no final dot: tests each pattern.
    pub(super) fn matches(&self, host: &[u8]) -> bool {
        self.hosts.iter().any(|pattern| pattern.matches(host))
            && !self.except.iter().any(|pattern| pattern.matches(host))
    }
}

/// Adds to the hosts of a site what they are with and without `www.`, where a rule drops that: of all hosts, or of the site, which
/// turns some rules on and others off.
pub(super) fn add_www(hosts: &mut Vec<HostPattern>, global: Rules, on: Rules, off: Rules) {
    if global.union(on).without(off).has(Rule::Www) {
        let more: Vec<_> = hosts.iter().flat_map(other_www).collect();
        let mut known: HashSet<HostPattern> = hosts.iter().cloned().collect();
        hosts.extend(more.into_iter().filter(|host| known.insert(host.clone())));
    }
}

/// An exact name without its `www.`, or else with it, if the rule `www` drops that.
fn other_www(host: &HostPattern) -> Option<HostPattern> {
    let HostPattern::Exact(name) = host else { return None };
    let len = www_len(name);
    let with = [&b"www."[..], name].concat();
    match len {
        0 => (www_len(&with) > 0).then_some(HostPattern::Exact(with)),
        _ => Some(HostPattern::Exact(name[len..].to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::super::lookup::COMPARED;
    use super::super::{RuleSet, RulesFile, Scratch};

    #[test]
    fn each_host_is_checked_against_few_of_many_sites() {
        const MANY: usize = 4000;
        let forms: [fn(usize) -> String; 5] = [
            |i| format!("hosts = ['m.h{i}.co.uk', 'x{i}.co.uk']\nhost = 'h{i}.co.uk'"),
            |i| format!("hosts = ['site:s{i}.github.io']\nhost = 'www.s{i}.github.io'"),
            |i| format!("hosts = ['*.g{i}.shop.example']\nhost = 'a.g{i}.shop.example'"),
            |i| format!("hosts = ['*-e{i}x.shop.example']\nhost = 'a-e{i}x.shop.example'"),
            |i| format!("hosts = ['b{i}.example']\nhost = 'main.example'"),
        ];
        for form in forms {
            let sites = (0..MANY).map(|i| format!("[[site]]\n{}\n", form(i)));
            let text: String = sites.collect();
            let mut builder = RuleSet::builder();
            builder.rules_file(
                &RulesFile::parse(&text, "test", &mut |_, _| Err(String::new())).unwrap(),
            );
            COMPARED.set(0);
            let rules = builder.build().unwrap();
            let mut scratch = Scratch::default();
            let (form, fired) = rules.apply(b"http://x1.co.uk/", &mut scratch);
            assert_eq!(form == b"http://h1.co.uk/", !fired.is_empty());
            assert!(COMPARED.get() < 8 * MANY, "{text:.80}: {}", COMPARED.get());
        }
    }
}
