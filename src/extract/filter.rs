//! Selects links by scheme, host, domain and pattern.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, OnceLock};

use regex::bytes::{Regex, RegexSet, RegexSetBuilder};

use super::names::Names;
use crate::normalize::dns_to_ascii;
use crate::normalize::percent::push_triplet;
use crate::uri::split;

/// A property of a link.
///
/// ```
/// use uriscan::extract::{Filter, Property};
/// let filter = Filter::default()
///     .only(Property::domain("*.example.com").unwrap())
///     .not(Property::pattern(r"\.png$").unwrap());
/// assert!(filter.keeps(b"http://www.EXAMPLE.com/a"));
/// assert!(!filter.keeps(b"http://example.com/a.png"));
/// assert!(!filter.keeps(b"http://example.org/"));
/// assert!(Property::host("http://example.com/").is_err());
/// ```
#[derive(Clone, Debug)]
pub struct Property(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Scheme(String),
    Host(String),
    Domain(String),
    Pattern(String),
}

/// The longest name of the DNS, in bytes (RFC 1035, section 2.3.4).
const LONGEST: usize = 255;

impl Property {
    /// The scheme is `name`, in any case; `http:` and `http://` are read as `http`.
    ///
    /// # Errors
    /// A sentence if no scheme has this name (section 3.1).
    pub fn scheme(name: &str) -> Result<Property, String> {
        let name = name.strip_suffix("://").or(name.strip_suffix(':')).unwrap_or(name);
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        if !name.starts_with(|first: char| first.is_ascii_alphabetic())
            || !name.bytes().all(is_allowed)
        {
            return Err("not a scheme: a letter, then letters, digits, + - and .".to_owned());
        }
        Ok(Property(Kind::Scheme(name.to_ascii_lowercase())))
    }

    /// The host is `name`, in any case; a name beyond ASCII equals its A-labels, and an IPv6 address, with brackets or
    /// without, all its spellings.
    ///
    /// # Errors
    /// A sentence if no host has this name, such as that of a URL.
    pub fn host(name: &str) -> Result<Property, String> {
        if name.starts_with("*.") || name.starts_with('.') {
            return Err(format!(
                "this is a domain; all hosts of {} are selected by domain",
                below(name)
            ));
        }
        Ok(Property(Kind::Host(checked(name)?)))
    }

    /// The host is `name` or a name below it: with a registrable domain (`example.com`), all hosts of one owner. `*.name`
    /// and `.name` mean the same. An address has no names below it.
    ///
    /// # Errors
    /// As for [`Property::host`].
    pub fn domain(name: &str) -> Result<Property, String> {
        Ok(Property(Kind::Domain(checked(below(name))?)))
    }

    /// The regular expression `pattern` matches somewhere in the link, as it is written.
    ///
    /// # Errors
    /// A sentence if it is not a regular expression, or too large.
    pub fn pattern(pattern: &str) -> Result<Property, String> {
        Regex::new(pattern).map_err(|error| {
            // A message of several lines ends in this.
            let message = error.to_string();
            message.rsplit("error: ").next().unwrap_or_default().trim().to_owned()
        })?;
        Ok(Property(Kind::Pattern(pattern.to_owned())))
    }
}

/// The name of a domain without the signs for "and all below it".
fn below(name: &str) -> &str {
    name.strip_prefix("*.").or(name.strip_prefix('.')).unwrap_or(name)
}

/// `name` in the form in which hosts are compared.
fn checked(name: &str) -> Result<String, String> {
    let is_usual = |&byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'-' | b'_');
    if (1..=LONGEST).contains(&name.len()) && name.as_bytes().iter().all(is_usual) {
        let name = name.strip_suffix('.').filter(|rest| !rest.is_empty()).unwrap_or(name);
        is_possible(name)?;
        return match name {
            "." => Err("the name is empty".to_owned()),
            name => Ok(name.to_ascii_lowercase()),
        };
    }
    if let Ok(address) = name.parse::<Ipv6Addr>() {
        return Ok(format!("[{address}]"));
    }
    if name.contains("://") {
        return Err("this is a URL; write its host alone".to_owned());
    }
    if let Some(address) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        let is_future = address.starts_with(['v', 'V']) && address.contains('.');
        return match address.parse::<Ipv6Addr>() {
            Ok(address) => Ok(format!("[{address}]")),
            Err(_) if is_future => Ok(name.to_ascii_lowercase()),
            Err(_) => Err("not an IPv6 address".to_owned()),
        };
    }
    if name.contains('%') && name.contains(':') {
        return Err("an address of this machine's network; no URL has its zone".to_owned());
    }
    let odd = name.chars().find(|&c| {
        c.is_control() || c.is_whitespace() || "/:@?#*[]\\<>\"^`{|}!$&'()+,;=".contains(c)
    });
    match odd {
        Some('/') => return Err("a host has no path, and networks are not known".to_owned()),
        Some(':') => return Err("write the host without its port".to_owned()),
        Some('@') => return Err("write the host without the user before @".to_owned()),
        Some('*' | '?') => {
            return Err("a host, not a pattern; a regular expression can match the URI".to_owned());
        }
        Some(c) => return Err(format!("no host has {c:?}")),
        None => {}
    }
    let name = comparable(name.as_bytes());
    if !name.is_ascii() || name.contains(|c: char| c == '%' || c.is_control()) {
        return Err("no name of the DNS has these characters".to_owned());
    }
    is_possible(&name)?;
    match name.len() {
        0 => Err("the name is empty".to_owned()),
        1..=LONGEST => Ok(name),
        _ => Err(format!("no host has more than {LONGEST} bytes")),
    }
}

/// Whether a host can have this name: its labels are not empty, and where it ends in a number it is an address.
fn is_possible(name: &str) -> Result<(), String> {
    if name.contains("..") || name.len() > 1 && name.starts_with('.') {
        return Err("a label of the name is empty".to_owned());
    }
    let last = name.rsplit('.').next().unwrap_or_default();
    let is_number = !last.is_empty() && last.bytes().all(|byte| byte.is_ascii_digit());
    match is_number && name.parse::<Ipv4Addr>().is_err() {
        true => {
            Err("it ends in a number and is no IPv4 address; networks are not known".to_owned())
        }
        false => Ok(()),
    }
}

impl PartialEq for Property {
    fn eq(&self, other: &Property) -> bool {
        let is_like = core::mem::discriminant(&self.0) == core::mem::discriminant(&other.0);
        is_like && self.to_string() == other.to_string()
    }
}

impl Eq for Property {}

/// Which of the links found are kept: those that have one of the required properties of each kind,
/// and none of the excluded ones.
///
/// A link costs one look-up for its scheme and one for each label of its host, however many names there are, and one
/// search for all patterns.
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Filter {
    only: Arc<Properties>,
    not: Arc<Properties>,
}

/// Properties by kind.
#[derive(Clone, Debug, Default)]
struct Properties {
    schemes: Names,
    hosts: Names,
    domains: Names,
    patterns: Vec<String>,
    /// All of the patterns, once they are needed.
    any_pattern: OnceLock<RegexSet>,
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

    fn has_host(&self, host: Option<&[u8]>) -> bool {
        host.is_some_and(|host| self.hosts.contains(host))
    }

    fn has_domain(&self, host: Option<&[u8]>) -> bool {
        host.is_some_and(|host| match is_address(host) {
            true => self.domains.contains(host),
            false => self.domains.contains_a_parent(host),
        })
    }

    fn has_pattern(&self, uri: &[u8]) -> bool {
        let all = || self.compile(usize::MAX).expect("each of them was compiled");
        !self.patterns.is_empty() && self.any_pattern.get_or_init(all).is_match(uri)
    }

    /// All of the patterns, which take at most `limit` bytes.
    fn compile(&self, limit: usize) -> Result<RegexSet, regex::Error> {
        RegexSetBuilder::new(&self.patterns).size_limit(limit).build()
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

    /// The same filter, whose patterns are compiled now, and not with the first link.
    ///
    /// # Errors
    /// A sentence if all patterns together take more than 64 MiB.
    pub fn compiled(self) -> Result<Filter, String> {
        for side in [&self.only, &self.not] {
            if !side.patterns.is_empty() && side.any_pattern.get().is_none() {
                let set = side.compile(MOST_OF_PATTERNS).map_err(|_| {
                    format!("the patterns take more than {} MiB of memory", MOST_OF_PATTERNS >> 20)
                })?;
                let _ = side.any_pattern.set(set);
            }
        }
        Ok(self)
    }

    /// Whether it keeps all links.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.not.is_empty()
    }

    /// Whether it keeps `uri`.
    pub fn keeps(&self, uri: &[u8]) -> bool {
        if self.only.has_no_hosts() && self.not.has_no_hosts() {
            return self.keeps_with(uri, None);
        }
        let Some(host) = host(uri) else { return self.keeps_with(uri, None) };
        let mut lower = [0; LONGEST];
        let is_usual = |&byte: &u8| byte.is_ascii() && !matches!(byte, b'%' | b'[');
        match lower.get_mut(..host.len()) {
            Some(lower) if host.iter().all(is_usual) => {
                lower.copy_from_slice(host);
                lower.make_ascii_lowercase();
                self.keeps_with(uri, Some(without_dots(lower)))
            }
            _ => self.keeps_with(uri, Some(comparable(host).as_bytes())),
        }
    }

    /// Whether it keeps `uri`, which has this host, in the form in which hosts are compared.
    fn keeps_with(&self, uri: &[u8], host: Option<&[u8]>) -> bool {
        let Filter { only, not } = self;
        (only.schemes.is_empty() || only.has_scheme(uri))
            && (only.hosts.is_empty() || only.has_host(host))
            && (only.domains.is_empty() || only.has_domain(host))
            && (only.patterns.is_empty() || only.has_pattern(uri))
            && !not.has_scheme(uri)
            && !not.has_host(host)
            && !not.has_domain(host)
            && !not.has_pattern(uri)
    }
}

/// Whether `host` is an address, below which there are no names.
fn is_address(host: &[u8]) -> bool {
    let is_ipv4 = || str::from_utf8(host).is_ok_and(|host| host.parse::<Ipv4Addr>().is_ok());
    host.starts_with(b"[") || host.last().is_some_and(u8::is_ascii_digit) && is_ipv4()
}

/// `host` without the dots at its end.
fn without_dots(host: &[u8]) -> &[u8] {
    let end = host.iter().rposition(|&byte| byte != b'.').map_or(0, |last| last + 1);
    &host[..end]
}

/// The host of `uri`, as it is written.
fn host(uri: &[u8]) -> Option<&[u8]> {
    let authority = split(uri).authority?;
    let after = memchr::memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    let end = match after.first() {
        Some(b'[') => memchr::memchr(b']', after).map_or(after.len(), |at| at + 1),
        _ => memchr::memchr(b':', after).unwrap_or(after.len()),
    };
    Some(&after[..end])
}

/// `name` in lower case, without the dot of the root, with A-labels for what is not ASCII; an IPv6 address as RFC 5952
/// writes it.
fn comparable(name: &[u8]) -> String {
    if let [b'[', address @ .., b']'] = name {
        let address = str::from_utf8(address).ok().and_then(|it| it.parse::<Ipv6Addr>().ok());
        if let Some(address) = address {
            return format!("[{address}]");
        }
    }
    let plain = unencoded(name);
    let mut out = String::with_capacity(plain.len());
    for label in labels(&plain) {
        if !out.is_empty() {
            out.push('.');
        }
        match label.is_ascii() {
            true => out.push_str(&String::from_utf8_lossy(label).to_ascii_lowercase()),
            false => push_mapped(label, &mut out),
        }
    }
    out.truncate(out.trim_end_matches('.').len());
    out
}

/// The labels of `name`: a dot, or what IDNA maps to one, is between them.
fn labels(name: &[u8]) -> impl Iterator<Item = &[u8]> {
    const DOTS: [&str; 3] = ["\u{3002}", "\u{FF0E}", "\u{FF61}"];
    let mut rest = Some(name);
    core::iter::from_fn(move || {
        let text = rest?;
        let is_dot = |at: usize| DOTS.iter().any(|dot| text[at..].starts_with(dot.as_bytes()));
        let ends = |at: usize| match text[at] {
            b'.' => Some((at, 1)),
            0xE3 | 0xEF if is_dot(at) => Some((at, 3)),
            _ => None,
        };
        let Some((end, len)) = (0..text.len()).find_map(ends) else { return rest.take() };
        rest = Some(&text[end + len..]);
        Some(&text[..end])
    })
}

/// Appends the A-label of `label`, or the label itself if it has none.
fn push_mapped(label: &[u8], out: &mut String) {
    let mut coded = Vec::with_capacity(3 * label.len());
    for &byte in label {
        match byte {
            b'%' | 0x80.. => push_triplet(byte, &mut coded),
            _ => coded.push(byte.to_ascii_lowercase()),
        }
    }
    match dns_to_ascii(&coded) {
        Some(mapped) => out.push_str(&mapped),
        None => out.push_str(&String::from_utf8_lossy(label).to_lowercase()),
    }
}

/// `name` with its triplets decoded.
fn unencoded(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(name.len());
    let mut rest = name;
    while let [first, tail @ ..] = rest {
        let digit = |at: usize| tail.get(at).and_then(|&byte| char::from(byte).to_digit(16));
        match (first, digit(0), digit(1)) {
            (b'%', Some(high), Some(low)) => {
                out.push((high * 16 + low) as u8);
                rest = &tail[2..];
            }
            _ => {
                out.push(*first);
                rest = tail;
            }
        }
    }
    out
}

impl fmt::Display for Property {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Scheme(text) | Kind::Host(text) | Kind::Domain(text) | Kind::Pattern(text) => {
                f.write_str(text)
            }
        }
    }
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
    fn values_that_no_link_can_have_are_refused_with_the_reason() {
        for (name, why) in [
            ("http://h/", "a URL"),
            ("h/x", "no path"),
            ("10.0.0.0/8", "networks"),
            ("h:80", "without its port"),
            ("u@h", "the user before @"),
            ("w*.example", "not a pattern"),
            ("a b", "no host has ' '"),
            ("", "empty"),
            (".", "empty"),
            ("[::1", "no host has '['"),
            ("a..b", "a label of the name is empty"),
            ("1,a.example", "no host has ','"),
            ("+.a.example", "no host has '+'"),
            ("1.1", "ends in a number"),
            ("10.0.0.0-10.0.0.9", "ends in a number"),
            ("fe80::1%lo0", "its zone"),
        ] {
            for found in [Property::host(name), Property::domain(name)] {
                let error = found.unwrap_err();
                assert!(error.contains(why) || name == ".", "{name}: {error}");
            }
        }
        assert!(
            Property::host("*.a.example").unwrap_err().contains("a.example are selected by domain")
        );
        assert!(Property::domain(&"a.".repeat(200)).unwrap_err().contains("255 bytes"));
        for name in ["", "1a", "a/b", "ht tp", "*"] {
            assert!(Property::scheme(name).unwrap_err().contains("not a scheme"), "{name}");
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
