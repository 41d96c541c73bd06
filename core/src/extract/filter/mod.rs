//! Selects links by scheme, host, domain and pattern.

mod cause;
mod host;
mod limits;
mod list;
mod names;
mod patterns;
mod property;

use std::sync::{Arc, OnceLock};

use aho_corasick::{AhoCorasick, Input};

use crate::chunk::Prefix;
use crate::simd::Isa;

pub use cause::{Cause, Filtered};
use host::{Host, comparable, host, is_address, without_dots};
pub use limits::Limit;
use limits::Limits;
pub use list::List;
use list::Values;
use names::Names;
use patterns::Patterns;
pub use property::Property;
use property::{Kind, LONGEST};

/// Which of the links found are kept: those that have one of the required properties of each kind,
/// and none of the excluded ones.
///
/// A link costs one look-up for its scheme and one for each label of its host, however many names there are, a search for
/// all patterns without special characters, and, of more than five hundred others, one for what they need, which tells the
/// hundreds that are tried.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Filter {
    only: Arc<Properties>,
    not: Arc<Properties>,
    limits: Limits,
}

/// Properties by kind.
#[derive(Clone, Debug, Default)]
struct Properties {
    schemes: Names,
    hosts: Names,
    domains: Names,
    patterns: Vec<String>,
    /// All of the patterns, once they are needed.
    any_pattern: OnceLock<Patterns>,
}

impl Properties {
    fn add(&mut self, property: Property) {
        match property.0 {
            Kind::Scheme(name) => self.schemes.insert(name.as_bytes()),
            Kind::Host(name) => self.hosts.insert(name.as_bytes()),
            Kind::Domain(name) => self.domains.insert(name.as_bytes()),
            Kind::Pattern(pattern) => {
                self.patterns.push(pattern);
                self.any_pattern = OnceLock::new();
            }
        }
    }

    fn extend(&mut self, list: List) {
        match list.values {
            Values::Hosts => self.hosts.extend(list.names),
            Values::Domains => self.domains.extend(list.names),
            Values::Patterns => {
                self.patterns.extend(list.patterns);
                self.any_pattern = OnceLock::new();
            }
        }
    }

    fn is_empty(&self) -> bool {
        self.has_no_hosts() && self.schemes.is_empty() && self.patterns.is_empty()
    }

    fn has_no_hosts(&self) -> bool {
        self.hosts.is_empty() && self.domains.is_empty()
    }

    fn has_scheme(&self, uri: &[u8]) -> bool {
        // No name is longer than the longest one.
        let start = &uri[..uri.len().min(self.schemes.longest() + 1)];
        let Some(colon) = memchr::memchr(b':', start) else { return false };
        self.schemes.contains(&start[..colon].to_ascii_lowercase())
    }

    fn has_host(&self, host: Option<Host<'_>>) -> bool {
        host.is_some_and(|host| self.hosts.contains_host(host))
    }

    fn has_domain(&self, host: Option<Host<'_>>) -> bool {
        host.is_some_and(|host| match is_address(host.name) {
            true => self.domains.contains(host.name),
            false => self.domains.contains_a_parent(host),
        })
    }

    fn has_pattern(&self, uri: &[u8]) -> bool {
        !self.patterns.is_empty() && self.all_patterns().is_match(uri)
    }

    fn all_patterns(&self) -> &Patterns {
        let all = || Patterns::new(&self.patterns, usize::MAX).expect("each of them was compiled");
        self.any_pattern.get_or_init(all)
    }
}

/// The texts by which a [`Filter`] decides ([`Filter::by_texts`]), to be searched in many records at once.
#[derive(Clone, Copy, Debug)]
pub struct Texts<'f> {
    automaton: &'f AhoCorasick,
    of_others: Option<Cause>,
}

impl Texts<'_> {
    /// Where the first of them after `from` begins in `text`, in the first record that has one.
    pub fn find(&self, text: &[u8], from: usize) -> Option<usize> {
        self.automaton.find(Input::new(text).span(from..text.len())).map(|found| found.start())
    }

    /// Why records in which none of them is are not kept; `None` if they are.
    pub fn cause_of_others(self) -> Option<Cause> {
        self.of_others
    }
}

/// Bytes of memory that all patterns together take at most, before a search.
const MOST_OF_PATTERNS: usize = 64 << 20;

impl Filter {
    /// Requires `property`, or another one of its kind.
    pub fn only(mut self, property: Property) -> Filter {
        Arc::make_mut(&mut self.only).add(property);
        self
    }

    /// Excludes links with `property`.
    pub fn not(mut self, property: Property) -> Filter {
        Arc::make_mut(&mut self.not).add(property);
        self
    }

    /// Requires one of the values of `list`, or another property of their kind.
    pub fn only_list(mut self, list: List) -> Filter {
        Arc::make_mut(&mut self.only).extend(list);
        self
    }

    /// Excludes links with one of the values of `list`.
    pub fn not_list(mut self, list: List) -> Filter {
        Arc::make_mut(&mut self.not).extend(list);
        self
    }

    /// Excludes links that have more of `limit` than `most`; of two values for it the lower one counts.
    ///
    /// ```
    /// use uriscan::extract::{Cause, Filter, Limit};
    /// let filter = Filter::default().at_most(Limit::Repeats, 2).at_most(Limit::Length, 2000);
    /// assert!(filter.keeps(b"http://h/a/b/a/b"));
    /// assert_eq!(filter.cause(b"http://h/a/b/a/b/a/b"), Some(Cause::MaxRepeats));
    /// ```
    pub fn at_most(mut self, limit: Limit, most: u64) -> Filter {
        self.limits.set(limit, most);
        self
    }

    /// The same filter, whose patterns are compiled now, and not with the first link.
    ///
    /// # Errors
    /// A sentence if all patterns together take more than 64 MiB.
    pub fn compiled(self) -> Result<Filter, String> {
        for side in [&self.only, &self.not] {
            if !side.patterns.is_empty() && side.any_pattern.get().is_none() {
                let set = Patterns::new(&side.patterns, MOST_OF_PATTERNS).ok_or_else(|| {
                    format!("the patterns take more than {} MiB of memory", MOST_OF_PATTERNS >> 20)
                })?;
                let _ = side.any_pattern.set(set);
            }
        }
        Ok(self)
    }

    /// Whether it keeps all links.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.not.is_empty() && self.limits.is_empty()
    }

    /// Whether it keeps `uri`.
    pub fn keeps(&self, uri: &[u8]) -> bool {
        self.cause(uri).is_none()
    }

    /// Why it does not keep `uri`; `None` if it does. Of several causes it is the first of [`Cause::ALL`].
    pub fn cause(&self, uri: &[u8]) -> Option<Cause> {
        self.cause_of_properties(uri).or_else(|| self.cause_of_limits(uri))
    }

    fn cause_of_limits(&self, uri: &[u8]) -> Option<Cause> {
        self.limits.exceeded(uri).map(Cause::of_limit)
    }

    /// [`Filter::cause`] with the instructions of `isa`: faster by what it takes to find the host of most URIs.
    #[inline(always)]
    pub fn cause_by<I: Isa>(&self, isa: I, uri: Prefix<'_>) -> Option<Cause> {
        if self.only.has_no_hosts() && self.not.has_no_hosts() {
            return self.cause(uri.bytes());
        }
        let Some(host) = Host::usual(isa, uri) else { return self.cause(uri.bytes()) };
        let of_properties = self.cause_with(uri.bytes(), Some(host));
        of_properties.or_else(|| self.cause_of_limits(uri.bytes()))
    }

    /// Why it does not keep a record that is too long to be looked at: it lacks every property.
    pub fn cause_of_overlong(&self) -> Option<Cause> {
        let is_limited = self.limits.has(Limit::Length);
        self.cause_of_properties(b"").or(is_limited.then_some(Cause::MaxLength))
    }

    /// The texts by which alone it decides about records with `record_end` between them; `None` if it also decides by something
    /// else, or a text has that byte.
    pub fn by_texts(&self, record_end: u8) -> Option<Texts<'_>> {
        let (only, not) = (&self.only, &self.not);
        let has_names = |side: &Properties| !(side.has_no_hosts() && side.schemes.is_empty());
        if has_names(only) || has_names(not) || !self.limits.is_empty() {
            return None;
        }
        let (side, of_others) = match (only.patterns.is_empty(), not.patterns.is_empty()) {
            (true, false) => (not, None),
            (false, true) => (only, Some(Cause::Match)),
            _ => return None,
        };
        side.all_patterns().texts(record_end).map(|automaton| Texts { automaton, of_others })
    }

    fn cause_of_properties(&self, uri: &[u8]) -> Option<Cause> {
        if self.only.is_empty() && self.not.is_empty() {
            return None;
        }
        if self.only.has_no_hosts() && self.not.has_no_hosts() {
            return self.cause_with(uri, None);
        }
        let Some(host) = host(uri) else { return self.cause_with(uri, None) };
        let mut lower = [0; LONGEST];
        let room = lower.get_mut(..host.len());
        match room.is_some_and(|lower| lower_into(host, lower)) {
            true => self.cause_with(uri, Some(Host::new(without_dots(&lower[..host.len()])))),
            false => self.cause_with(uri, Some(Host::new(comparable(host).as_bytes()))),
        }
    }

    /// Why it does not keep `uri`, which has this host, in the form in which hosts are compared, apart from limits.
    fn cause_with(&self, uri: &[u8], host: Option<Host<'_>>) -> Option<Cause> {
        let Filter { only, not, .. } = self;
        let is_dropped = |cause: &Cause| match cause {
            Cause::Scheme => !only.schemes.is_empty() && !only.has_scheme(uri),
            Cause::Host => !only.hosts.is_empty() && !only.has_host(host),
            Cause::Domain => !only.domains.is_empty() && !only.has_domain(host),
            Cause::Match => !only.patterns.is_empty() && !only.has_pattern(uri),
            Cause::NotScheme => not.has_scheme(uri),
            Cause::NotHost => not.has_host(host),
            Cause::NotDomain => not.has_domain(host),
            Cause::NotMatch => not.has_pattern(uri),
            _ => false,
        };
        let of_not = Cause::NotScheme as usize;
        let first = if only.is_empty() { of_not } else { 0 };
        let end = if not.is_empty() { of_not } else { Cause::PROPERTIES };
        Cause::ALL[first..end].iter().copied().find(is_dropped)
    }
}

/// Writes `host` in lower case to `lower`, which has as many bytes; returns whether it is in the form in which hosts are compared
/// then: without letters beyond ASCII, triplets and brackets.
fn lower_into(host: &[u8], lower: &mut [u8]) -> bool {
    // Without an early end the loop is one over blocks.
    host.iter().zip(lower).fold(true, |is_usual, (&byte, lower)| {
        *lower = byte.to_ascii_lowercase();
        is_usual & byte.is_ascii() & (byte != b'%') & (byte != b'[')
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_property_of_each_kind_is_required() {
        let filter = Filter::default()
            .only(Property::scheme("http").unwrap())
            .only(Property::scheme("HTTPS://").unwrap())
            .only(Property::host("a.example").unwrap())
            .only(Property::host("b\u{FC}cher.example").unwrap())
            .not(Property::pattern("/no").unwrap());
        for (uri, expected) in [
            ("http://a.example/", true),
            ("HTTPS://u@A.Example.:80/x", true),
            ("https://xn--bcher-kva.example", true),
            ("https://b%C3%BCcher.example", true),
            ("ftp://a.example/", false),
            ("http://x.a.example/", false),
            ("http://b.example/?a.example", false),
            ("http:a.example", false),
            ("http://a.example/no", false),
        ] {
            assert_eq!(filter.keeps(uri.as_bytes()), expected, "{uri}");
        }
        assert!(Filter::default().is_empty() && Filter::default().keeps(b"x:"));
    }

    #[test]
    fn a_domain_has_all_names_below_it() {
        let filter = Filter::default().only(Property::domain("Example.com.").unwrap());
        for (uri, expected) in [
            ("http://example.com", true),
            ("http://a.b.example.com:8/", true),
            ("http://notexample.com/", false),
            ("http://example.com.evil.example/", false),
            ("mailto:joe@example.com", false),
        ] {
            assert_eq!(filter.keeps(uri.as_bytes()), expected, "{uri}");
        }
        let address = Filter::default().only(Property::host("[::1]").unwrap());
        assert!(address.keeps(b"http://u@[::1]:80/") && !address.keeps(b"http://[::2]/"));
        let not = Filter::default().not(Property::domain("example.com").unwrap());
        assert!(not.keeps(b"http://h/") && !not.keeps(b"http://www.example.com/"));
        assert_eq!(Property::pattern("(").unwrap_err(), "unclosed group");
        assert_ne!(Property::host("a").unwrap(), Property::domain("a").unwrap());
    }

    #[test]
    fn an_address_equals_its_spellings_and_has_no_names_below_it() {
        for name in ["[::1]", "::1", "[0:0::1]", "0:0:0:0:0:0:0:1"] {
            let filter = Filter::default().not(Property::host(name).unwrap());
            for uri in ["http://[::1]/", "http://[0:0:0:0:0:0:0:1]:8/", "x://u@[0000::0001]"] {
                assert!(!filter.keeps(uri.as_bytes()), "{name} {uri}");
            }
            assert!(filter.keeps(b"http://[::2]/"));
        }
        let filter = Filter::default().only(Property::domain("10.0.1.1").unwrap());
        assert!(filter.keeps(b"http://10.0.1.1/") && !filter.keeps(b"http://x.10.0.1.1.example/"));
    }

    #[test]
    fn other_spellings_of_a_domain_are_known() {
        for name in ["*.spam.example", ".spam.example", "Spam.Example.", "sp%61m.example"] {
            let filter = Filter::default().not(Property::domain(name).unwrap());
            for (uri, expected) in [
                ("http://spam.example/", false),
                ("http://x.y.SPAM.example:8/", false),
                ("http://notspam.example/", true),
                ("http://example/", true),
            ] {
                assert_eq!(filter.keeps(uri.as_bytes()), expected, "{name} {uri}");
            }
        }
    }

    #[test]
    fn many_names_and_patterns_are_found_as_if_each_were_tested() {
        let names: Vec<String> =
            (0..500).map(|i| format!("h{}.d{}.example", i % 7, i * i)).collect();
        let patterns: Vec<String> = (0..40).map(|i| format!("/p{i}$")).collect();
        let mut filter = Filter::default();
        for name in &names[..300] {
            filter = filter.not(Property::domain(name).unwrap());
        }
        for pattern in &patterns {
            filter = filter.not(Property::pattern(pattern).unwrap());
        }
        let compiled = filter.clone().compiled().unwrap();
        for (i, name) in names.iter().enumerate() {
            for host in [name.clone(), format!("x.y.{name}"), format!("x{name}")] {
                for path in [3, 39, 40] {
                    let uri = format!("http://{host}/p{path}");
                    let is_listed = names[..300]
                        .iter()
                        .any(|listed| host == *listed || host.ends_with(&format!(".{listed}")));
                    let expected = !is_listed && path == 40;
                    assert_eq!(filter.keeps(uri.as_bytes()), expected, "{i} {uri}");
                    assert_eq!(compiled.keeps(uri.as_bytes()), expected, "{i} {uri}");
                }
            }
        }
    }

    #[test]
    fn a_domain_is_known_whatever_the_labels_before_it_and_the_dots_after_it() {
        let plain = Filter::default().not(Property::domain("spam.example").unwrap());
        for host in [
            "spam.example%2E",
            "spam.example%2e",
            "spam.example.%2E",
            "spam.example%E3%80%82",
            "spam.example\u{3002}",
            "spam.example..",
            "spam%2Eexample",
            "spam\u{FF0E}example",
            "%FF.sp%61m.example",
            "%25.sp%61m.example",
            "xn--\u{E9}.sp%61m.example",
            "\u{E9}..sp%61m.example",
            "\u{E9}%00.sp%61m.example",
        ] {
            assert!(!plain.keeps(format!("http://{host}/").as_bytes()), "{host}");
        }
        let mapped = Filter::default().not(Property::domain("b\u{FC}cher.example").unwrap());
        let long = format!("{}b\u{FC}cher.example", "a.".repeat(2100));
        for host in [
            "xn--b.b%C3%BCcher.example",
            "xn--a-.b\u{FC}cher.example",
            "a..b\u{FC}cher.example",
            "%FF.b\u{FC}cher.example",
            "\u{5D0}a.b\u{FC}cher.example",
            "b\u{FC}cher.example%2e",
            "B\u{DC}CHER\u{3002}example\u{3002}",
            "xn--bcher-kva.example..",
            &long,
        ] {
            assert!(!mapped.keeps(format!("http://{host}/").as_bytes()), "{host}");
        }
        let address = Filter::default().not(Property::host("127.0.0.1").unwrap());
        for host in ["127.0.0.1%2e", "127.0.0.1.", "\u{FF11}\u{FF12}\u{FF17}.0.0.1"] {
            assert!(!address.keeps(format!("http://{host}/").as_bytes()), "{host}");
        }
        for name in ["[zz]", "[a/b]", "%zz", "256.1.1.1", "..a", "*..a", "\u{202E}a"] {
            assert!(Property::domain(name).is_err(), "{name}");
        }
    }

    #[test]
    fn patterns_that_take_too_much_memory_together_are_refused() {
        let mut filter = Filter::default();
        for i in 0..30 {
            filter = filter.not(Property::pattern(&format!(r"\pL{{30}}\w{{30}}x{i}")).unwrap());
        }
        assert!(filter.compiled().unwrap_err().contains("64 MiB"));
    }
}
