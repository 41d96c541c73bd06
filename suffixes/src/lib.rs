//! Where the public suffix and the registrable domain of a host begin, by the Public Suffix List.
//!
//! The list (<https://publicsuffix.org/list/>, Mozilla Public License 2.0) is `list.txt`, which `scripts/suffix-list` writes. The
//! compiler makes a hash table of it.

mod label;
mod table;

use label::{Labels, Long, Short, hash};
use table::{EXCEPTION, LONGER, RULE, WILDCARD};

/// The list.
pub const VERSION: &str = "psl 2.1.247";

/// The ends of a host that the list defines, as offsets of bytes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends {
    /// Where the public suffix begins.
    pub suffix: usize,
    /// Where the registrable domain begins: the suffix and the label before it. `None` for a host that is a suffix.
    pub domain: Option<usize>,
    /// Whether the list has the suffix. A top-level domain that it does not have is one, too.
    pub is_known: bool,
    /// Whether there is a percent sign in the host.
    pub has_percent: bool,
}

/// The ends of `host`, which is not an address; `None` if it has none, as an empty host. Letters may be in any case.
///
/// The public suffix is the longest name that a rule fits, but an exception comes before all others; without any it is the last
/// label. A final dot is a part of it.
///
/// ```
/// let ends = uriscan_suffixes::ends(b"www.Example.co.uk").unwrap();
/// assert_eq!((ends.suffix, ends.domain, ends.is_known), (12, Some(4), true));
/// ```
pub fn ends(host: &[u8]) -> Option<Ends> {
    let name = host.strip_suffix(b".").unwrap_or(host);
    let found = match Short::new(name) {
        Some(name) => ends_of(&name),
        None => ends_of(&Long(name)),
    };
    (found.suffix < host.len()).then_some(found)
}

/// Where the public suffix of `host` begins, which is not empty, without a final dot and not an address; what [`ends`] finds, in less
/// time. There is a registrable domain if that is not among the first two bytes.
///
/// ```
/// assert_eq!(uriscan_suffixes::suffix_start(b"example.co.uk"), 8);
/// ```
pub fn suffix_start(host: &[u8]) -> usize {
    match Short::new(host) {
        Some(name) => suffix(&name).0,
        None => suffix(&Long(host)).0,
    }
}

/// [`ends`] of a name without a final dot.
#[inline(always)]
fn ends_of(name: &impl Labels) -> Ends {
    let (suffix, is_known) = suffix(name);
    let before = suffix.checked_sub(1).filter(|&dot| dot > 0);
    let domain = before.map(|dot| name.start(dot));
    Ends { suffix, domain, is_known, has_percent: name.has_percent() }
}

/// Where the public suffix of `name` begins, and whether a rule says so.
#[inline(always)]
fn suffix(name: &impl Labels) -> (usize, bool) {
    let all = name.bytes();
    let (mut end, mut of_name) = (all.len(), 0);
    let (mut last, mut suffix, mut is_any) = (None, None, false);
    loop {
        // From the end, so that each name has the hash of the shorter one in it, and one label more.
        let start = name.start(end);
        of_name = hash(of_name, name.tail(start, end), end - start);
        let rules = table::rules_of(of_name, name.tail(start, all.len()), &all[start..]);
        if rules & EXCEPTION != 0 {
            return (end + 1, true);
        }
        if is_any || rules & RULE != 0 {
            suffix = Some(start);
        }
        last = last.or(Some(start));
        is_any = rules & WILDCARD != 0;
        if rules & LONGER == 0 || start == 0 {
            return (suffix.or(last).unwrap_or(start), suffix.is_some());
        }
        end = start - 1;
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::sync::LazyLock;

    use super::*;

    static RULES: LazyLock<HashSet<&str>> = LazyLock::new(|| table::LIST.lines().collect());

    /// The ends of `host` as the list defines them: of all rules that match, an exception, or else the one with the most labels.
    fn by_the_definition(host: &str) -> Option<Ends> {
        let name = host.strip_suffix('.').unwrap_or(host);
        let starts = |text: &str| -> Vec<usize> {
            [0].into_iter().chain(text.match_indices('.').map(|(dot, _)| dot + 1)).collect()
        };
        let has = |rule: String| RULES.contains(&*rule);
        let below = |at: usize| name[at..].find('.').map(|dot| at + dot + 1);
        let all = starts(name);
        let exception = all.iter().find(|&&at| has(format!("!{}", &name[at..])));
        let matching = all.iter().find(|&&at| {
            has(name[at..].into()) || below(at).is_some_and(|it| has(format!("*.{}", &name[it..])))
        });
        let found = exception.map(|&at| below(at).unwrap()).or(matching.copied());
        let suffix = found.unwrap_or(*all.last().unwrap());
        if suffix == name.len() && name.len() == host.len() {
            return None;
        }
        let before = all.iter().rfind(|&&at| at < suffix && suffix > 1);
        let (domain, is_known) = (before.copied(), found.is_some());
        Some(Ends { suffix, domain, is_known, has_percent: host.contains('%') })
    }

    fn rules_of(name: &str) -> u8 {
        let labels = name.match_indices('.').map(|(dot, _)| dot).rev();
        let (ends, name) = ([name.len()].into_iter().chain(labels), Long(name.as_bytes()));
        let hash = ends.fold(0, |rest, end| {
            let start = name.start(end);
            hash(rest, name.tail(start, end), end - start)
        });
        table::rules_of(hash, name.tail(0, name.0.len()), name.0)
    }

    /// Checks the ends of `host`, also against those that the crate of the list finds. That one overlooks a wildcard beside
    /// a name with rules of its own: by `*.run.app` the name `mtls.run.app` is a suffix, although there is `*.mtls.run.app`.
    fn check(host: &str) {
        let bytes = host.as_bytes();
        let expected = by_the_definition(host);
        assert_eq!(ends(bytes), expected, "{host:?}");
        assert_eq!(ends(&bytes.to_ascii_uppercase()), expected, "{host:?}");
        let found = psl::suffix(bytes).map(|suffix| bytes.len() - suffix.as_bytes().len());
        let name = host.strip_suffix('.').unwrap_or(host);
        let is_overlooked = || {
            let below = name.split_once('.').map_or("", |(_, below)| below);
            RULES.contains(&*format!("*.{below}")) && rules_of(name) & (RULE | LONGER) == LONGER
        };
        assert!(found == expected.map(|ends| ends.suffix) || is_overlooked(), "{host:?} {found:?}");
    }

    #[test]
    fn ends_of_odd_hosts_are_those_of_the_definition() {
        let odd = [
            "", ".", "..", "a..", ".a", "..a", "a..b", ".com", "..com", "a..com", "com..", "com.",
            "co.uk",
        ];
        let rare = [
            "kobe.jp",
            "city.kobe.jp",
            "x.city.kobe.jp",
            "a.b.kobe.jp",
            "www.ck",
            "x.ck",
            "github.io",
            "a.unknown",
            "x",
        ];
        for tail in odd.iter().chain(&rare) {
            let long = "long-label-of-23-bytes.".repeat(5);
            let heads =
                ["", "a", "%61", "a.", ".", "b.a.", "..", "www.example.", &long, &long[22..]];
            for head in heads.into_iter().chain((50..70).map(|len| &long[..len])) {
                check(&format!("{head}{tail}"));
            }
        }
    }

    #[test]
    fn every_rule_is_that_of_the_definition() {
        assert!(RULES.len() > 10_000);
        for rule in &*RULES {
            let name = rule.trim_start_matches(['*', '.', '!']);
            for head in ["", "a.", "b.a.", ".", "www.", "-"] {
                for end in ["", ".", "x"] {
                    check(&format!("{head}{name}{end}"));
                }
            }
            check(name.strip_prefix(|_: char| true).unwrap());
        }
    }

    #[test]
    fn the_version_is_that_of_the_crate_of_the_list() {
        let version = VERSION.strip_prefix("psl ").unwrap();
        assert!(include_str!("../Cargo.toml").contains(&format!("\"={version}\"")));
    }

    #[test]
    fn a_wildcard_holds_beside_a_name_with_rules_of_its_own() {
        for name in ["mtls.run.app", "svc.firenet.ch", "r.cloud.int.apple", "teams.replit.dev"] {
            let expected = Ends { suffix: 0, domain: None, is_known: true, has_percent: false };
            assert_eq!(ends(name.as_bytes()), Some(expected), "{name}");
        }
    }
}
