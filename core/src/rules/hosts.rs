//! Which rules apply to a host: exact names, sites, patterns.

use core::fmt;
use std::collections::HashSet;

use super::glob::Glob;
use super::lookup::{Buckets, Loose};

/// A set of hosts, as written in a rules file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum HostPattern {
    /// `host.example`: this host.
    Exact(Vec<u8>),
    /// `site:example.com`: all hosts with this registrable domain.
    Site(Vec<u8>),
    /// `*.example.*`: all hosts that match.
    Glob(Vec<u8>, Glob),
}

/// Version of the public suffix list, which defines registrable domains.
pub use uriscan_suffixes::VERSION as PUBLIC_SUFFIX_VERSION;

impl HostPattern {
    /// Parses `text`. Letters are lower-cased and a final dot is dropped, as in a host that is
    /// looked up.
    pub(super) fn new(text: &str) -> Result<HostPattern, String> {
        let lower = text.to_ascii_lowercase();
        let (is_site, name) = match lower.strip_prefix("site:") {
            Some(name) => (true, name),
            None => (false, &*lower),
        };
        let name = name.strip_suffix('.').unwrap_or(name);
        if let Some(odd) =
            name.chars().find(|&c| !(is_allowed(c) || c == ':' && name.starts_with('[')))
        {
            return Err(match odd {
                '\u{80}'.. => format!("`{text}`: write a host beyond ASCII as A-labels (xn--…)"),
                ':' => {
                    format!("`{text}`: a host without port; rules do not look at ports")
                }
                _ => format!("`{text}`: a host cannot hold {odd:?}"),
            });
        }
        let is_glob = name.contains(['*', '?']);
        if name.is_empty() || name == "*" {
            return Err(format!(
                "`{text}`: name some hosts; a rule without `hosts` applies to all hosts"
            ));
        }
        if is_site {
            return match registrable_domain(name.as_bytes()) {
                Some(site) if site == name.as_bytes() => Ok(HostPattern::Site(site.to_vec())),
                _ if is_glob => Err(format!("`{text}`: a site cannot be a pattern")),
                Some(site) => Err(format!(
                    "`{text}`: the registrable domain is `{}`; for fewer hosts, write `{name}` and `*.{name}`",
                    String::from_utf8_lossy(site)
                )),
                None => Err(format!(
                    "`{text}` is a public suffix, an address or percent-encoded, not a site"
                )),
            };
        }
        if is_glob {
            let glob = Glob::new(name.as_bytes()).map_err(|error| error.message().to_owned())?;
            return Ok(HostPattern::Glob(name.into(), glob));
        }
        Ok(HostPattern::Exact(name.into()))
    }

    /// Whether it matches `host`, which is in lower case and has no final dot.
    pub(super) fn matches(&self, host: &[u8]) -> bool {
        match self {
            HostPattern::Exact(name) => name == host,
            HostPattern::Site(site) => {
                let before = host.len().checked_sub(site.len()).map(|at| &host[..at]);
                host.ends_with(site)
                    && before.is_some_and(|before| before.last().is_none_or(|&byte| byte == b'.'))
                    && registrable_domain(host) == Some(site)
            }
            HostPattern::Glob(_, glob) => glob.matches(host),
        }
    }

    /// The last two labels of all hosts that match, if they are the same.
    fn base(&self) -> Option<Vec<u8>> {
        match self {
            HostPattern::Exact(name) | HostPattern::Site(name) => Some(base(name).to_vec()),
            HostPattern::Glob(_, glob) => {
                let tail = glob.tail();
                let dots = tail.iter().filter(|&&byte| byte == b'.').count();
                (dots >= 2).then(|| base(&tail).to_vec())
            }
        }
    }
}

impl fmt::Display for HostPattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, name) = match self {
            HostPattern::Exact(name) | HostPattern::Glob(name, _) => ("", name),
            HostPattern::Site(name) => ("site:", name),
        };
        write!(f, "{kind}{}", String::from_utf8_lossy(name))
    }
}

/// The characters of a host in canonical form, and `*` and `?`.
fn is_allowed(c: char) -> bool {
    c.is_ascii_alphanumeric() || "-._~%!$&'()*+,;=?[]".contains(c)
}

/// The last two labels of a host without final dot, or all of it.
#[inline]
fn base(host: &[u8]) -> &[u8] {
    let dot = memchr::memrchr(b'.', host).and_then(|last| memchr::memrchr(b'.', &host[..last]));
    &host[dot.map_or(0, |dot| dot + 1)..]
}

/// The public suffix of `host` with one more label; `None` for an address. `host` is in lower case,
/// without final dot.
pub(super) fn registrable_domain(host: &[u8]) -> Option<&[u8]> {
    let ends = uriscan_suffixes::ends(host).filter(|ends| has_names(host, ends))?;
    ends.domain.filter(|_| !is_address(host)).map(|start| &host[start..])
}

/// Whether the public suffix of `host` and its domain are without percent-encodings, which may be any name.
pub(super) fn has_names(host: &[u8], ends: &uriscan_suffixes::Ends) -> bool {
    !(ends.has_percent && host[ends.domain.unwrap_or(ends.suffix)..].contains(&b'%'))
}

/// Whether `host` is an address: it ends in digits, or is an IP literal.
pub(super) fn is_address(host: &[u8]) -> bool {
    let mut last = host.iter().rev().take_while(|&&byte| byte != b'.');
    last.all(u8::is_ascii_digit) || host.starts_with(b"[")
}

/// Patterns with a value each, for looking up many hosts: what a host costs does not depend on how many there are, even
/// if all of them are below one public suffix.
#[derive(Clone, Debug)]
pub(super) struct Hosts<T> {
    exact: Buckets<(Vec<u8>, T)>,
    /// By registrable domain.
    sites: Buckets<(Vec<u8>, T)>,
    /// Patterns that match only hosts with one of the bases.
    based: Loose<T>,
    /// The bases of those and of sites.
    bases: Buckets<()>,
    /// Patterns without a common base.
    loose: Loose<T>,
    has_loose: bool,
    /// How the bases end.
    ends: Ends,
}

/// An approximate set of the endings of some names: bits under hashes of the last eight bytes, or
/// of the last four of shorter names.
#[derive(Clone, Debug)]
struct Ends {
    long: [u64; 64],
    short: [u64; 64],
    /// There are names shorter than four bytes.
    has_tiny: bool,
}

impl Default for Ends {
    fn default() -> Ends {
        Ends { long: [0; 64], short: [0; 64], has_tiny: false }
    }
}

impl Ends {
    fn add(&mut self, name: &[u8]) {
        let (bits, (word, bit)) = match (name.last_chunk(), name.last_chunk()) {
            (Some(last), _) => (&mut self.long, place(u64::from_le_bytes(*last))),
            (_, Some(last)) => (&mut self.short, place(u32::from_le_bytes(*last).into())),
            _ => {
                self.has_tiny = true;
                return;
            }
        };
        bits[word] |= bit;
    }

    /// Whether `name`, in any case, may end in one of the names.
    #[inline]
    fn may_end(&self, name: &[u8]) -> bool {
        let (Some(long), Some(short)) = (name.last_chunk(), name.last_chunk()) else { return true };
        let has = |bits: &[u64; 64], (word, bit): (usize, u64)| bits[word] & bit != 0;
        self.has_tiny
            || has(&self.long, place(u64::from_le_bytes(*long)))
            || has(&self.short, place(u32::from_le_bytes(*short).into()))
    }
}

/// The word and the bit for these bytes, ignoring the case of letters.
#[inline]
fn place(bytes: u64) -> (usize, u64) {
    let hash = (bytes | 0x2020_2020_2020_2020).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 52;
    (hash as usize / 64, 1 << (hash % 64))
}

impl Hosts<()> {
    /// Those that are excepted, if there are some.
    pub(super) fn excepted(patterns: &[HostPattern]) -> Option<Box<Hosts<()>>> {
        let all = patterns.iter().map(|host| (host.clone(), ()));
        (!patterns.is_empty()).then(|| Box::new(Hosts::new(all)))
    }

    /// Whether one of them matches `host`, as for [`Hosts::each_match`].
    #[inline]
    pub(super) fn has(&self, host: &[u8]) -> bool {
        let mut is_there = false;
        self.each_match(host, |()| is_there = true);
        is_there
    }
}

impl<T: Copy> Hosts<T> {
    pub(super) fn new(patterns: impl IntoIterator<Item = (HostPattern, T)>) -> Hosts<T> {
        let [mut exact, mut sites] = [const { Vec::new() }; 2];
        let [mut based, mut loose] = [const { Vec::new() }; 2];
        let (mut ends, mut bases) = (Ends::default(), HashSet::new());
        for (pattern, value) in patterns {
            let base = pattern.base();
            if let Some(base) = &base {
                ends.add(base);
            }
            match pattern {
                HostPattern::Exact(name) => {
                    exact.push((name.clone(), (name, value)));
                    continue;
                }
                HostPattern::Site(site) => sites.push((site.clone(), (site, value))),
                HostPattern::Glob(_, glob) if base.is_some() => based.push((glob, value)),
                HostPattern::Glob(_, glob) => loose.push((glob, value)),
            }
            bases.extend(base);
        }
        Hosts {
            exact: Buckets::new(exact),
            sites: Buckets::new(sites),
            based: Loose::new(based),
            bases: Buckets::new(bases.into_iter().map(|base| (base, ()))),
            has_loose: !loose.is_empty(),
            loose: Loose::new(loose),
            ends,
        }
    }

    /// Whether a pattern may match the host of `authority`, a canonical one, in any case: a quick
    /// test of its end. May return a false `true`.
    #[inline]
    pub(super) fn may_match(&self, authority: &[u8]) -> bool {
        // Ports, addresses and final dots need a closer look.
        let is_name = authority
            .last()
            .is_some_and(|byte| !byte.is_ascii_digit() && !matches!(byte, b':' | b']' | b'.'));
        self.has_loose || !is_name || self.ends.may_end(authority)
    }

    /// Calls `found` with the value of each pattern that matches `host`, for some more than once.
    /// `host` is in lower case and has no final dot.
    #[inline]
    pub(super) fn each_match(&self, host: &[u8], mut found: impl FnMut(T)) {
        let mut each = |names: &Buckets<(Vec<u8>, T)>, name: &[u8]| {
            let equal = names.get(name).filter(|(other, _)| other == name);
            equal.for_each(|(_, value)| found(*value));
        };
        each(&self.exact, host);
        if self.bases.get(base(host)).next().is_some() {
            if let Some(site) = registrable_domain(host) {
                each(&self.sites, site);
            }
            self.based.each_match(host, &mut found);
        }
        if self.has_loose {
            self.loose.each_match(host, found);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::lookup::COMPARED;
    use super::*;

    fn pattern(text: &str) -> HostPattern {
        HostPattern::new(text).unwrap()
    }

    #[test]
    fn hosts_match_exactly_by_site_and_by_pattern() {
        for (text, yes, no) in [
            ("WWW.h.example.", &["www.h.example"][..], &["h.example", "a.www.h.example"][..]),
            (
                "site:example.co.uk",
                &["example.co.uk", "a.b.example.co.uk"],
                &["co.uk", "xexample.co.uk", "example.com"],
            ),
            // A public suffix below a site does not belong to the site.
            ("site:amazonaws.com", &["amazonaws.com"], &["b.s3.amazonaws.com"]),
            ("*.example.*", &["a.example.org", "a.b.example.x.y"], &["example.org", "a.example"]),
            ("localhost", &["localhost"], &["a.localhost"]),
            ("[::1]", &["[::1]"], &["::1"]),
        ] {
            let pattern = pattern(text);
            assert!(yes.iter().all(|host| pattern.matches(host.as_bytes())), "{text}");
            assert!(!no.iter().any(|host| pattern.matches(host.as_bytes())), "{text}");
        }
    }

    #[test]
    fn invalid_hosts_are_rejected_with_a_reason() {
        for (text, why) in [
            ("", "name some hosts"),
            ("*", "name some hosts"),
            ("h:80", "without port"),
            ("bücher.example", "A-labels"),
            ("http://h", "without port"),
            ("h/x", "a host cannot hold"),
            ("site:co.uk", "public suffix"),
            ("site:a.example.com", "registrable domain is `example.com`"),
            ("site:1.2.3.4", "an address or percent-encoded, not a site"),
            ("site:%63o.uk", "an address or percent-encoded, not a site"),
            ("site:*.example.com", "a site cannot be a pattern"),
        ] {
            let error = HostPattern::new(text).unwrap_err();
            assert!(error.contains(why), "{text}: {error}");
        }
    }

    #[test]
    fn compiled_patterns_find_the_same_as_each_alone() {
        let texts = [
            "example.com",
            "site:example.com",
            "*.example.com",
            "*.shop.example.com",
            "*shop*",
            "a.example.com",
            "example.*",
            "site:example.co.uk",
            "*.co.uk",
            "localhost",
            "?.b.c.d",
            "*.c",
            "x*",
            "[::1]",
            "1.2.3.4",
        ];
        let hosts = [
            "example.com",
            "a.example.com",
            "b.shop.example.com",
            "example.org",
            "localhost",
            "c",
            "shop.co.uk",
            "example.co.uk",
            "x.example.co.uk",
            "a.b.c.d",
            "b.c.d",
            "[::1]",
            "1.2.3.4",
            "x",
            "",
            "com",
            "aexample.com",
            "%C3%A9.example.com",
        ];
        let patterns: Vec<HostPattern> = texts.iter().map(|text| pattern(text)).collect();
        for count in 0..=patterns.len() {
            let some = patterns[..count].iter().cloned().zip(0..);
            let compiled = Hosts::new(some.clone());
            for host in hosts {
                let mut found = Vec::new();
                compiled.each_match(host.as_bytes(), |i: u32| found.push(i));
                for authority in
                    [host, &*format!("u:p@{host}"), &*format!("{host}:8"), &*host.to_uppercase()]
                {
                    let may_match = compiled.may_match(authority.as_bytes());
                    assert!(may_match || found.is_empty(), "{authority}");
                }
                found.sort_unstable();
                found.dedup();
                let one_by_one =
                    some.clone().filter(|(pattern, _)| pattern.matches(host.as_bytes()));
                assert_eq!(found, one_by_one.map(|(_, i)| i).collect::<Vec<_>>(), "{host}");
            }
        }
    }

    #[test]
    fn a_host_is_compared_with_few_of_many_patterns_below_one_suffix() {
        const MANY: usize = 20_000;
        let forms: [fn(usize) -> String; 5] = [
            |i| format!("h{i}.co.uk"),
            |i| format!("site:s{i}.co.uk"),
            |i| format!("*.g{i}.co.uk"),
            |i| format!("*m{i}x*.example.co.uk"),
            |i| format!("f{i}x*"),
        ];
        let texts = |i: usize| forms.map(|form| form(i));
        let patterns = (0..MANY / 5).flat_map(texts).map(|text| (pattern(&text), ()));
        let hosts = Hosts::new(patterns);
        COMPARED.set(0);
        let asked = (0..MANY).step_by(97);
        for i in asked.clone() {
            for host in ["h0.co.uk", "a.s0.co.uk", "b.g0.co.uk", "m0x.example.co.uk", "f0x.de"] {
                let (host, mut found) = (host.replace('0', &i.to_string()), 0);
                hosts.each_match(host.as_bytes(), |()| found += 1);
                assert_eq!(found, usize::from(i < MANY / 5), "{host}");
            }
        }
        assert!(COMPARED.get() < 50 * asked.count(), "{}", COMPARED.get());
    }
}
