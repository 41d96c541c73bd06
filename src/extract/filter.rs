//! Selects links by scheme, host, domain and pattern.

use core::fmt;

use regex::bytes::Regex;

use crate::normalize::dns_to_ascii;
use crate::normalize::percent::push_triplet;
use crate::uri::split;

/// A property of a link.
///
/// ```
/// use uriscan::extract::{Filter, Property};
/// let filter = Filter::default()
///     .only(Property::domain("example.com"))
///     .not(Property::pattern(r"\.png$").unwrap());
/// assert!(filter.keeps(b"http://www.EXAMPLE.com/a"));
/// assert!(!filter.keeps(b"http://example.com/a.png"));
/// assert!(!filter.keeps(b"http://example.org/"));
/// ```
#[derive(Clone, Debug)]
pub struct Property(Kind);

#[derive(Clone, Debug)]
enum Kind {
    Scheme(String),
    Host(String),
    Domain(String),
    Pattern(Regex),
}

impl Property {
    /// The scheme is `name`, in any case.
    pub fn scheme(name: &str) -> Property {
        Property(Kind::Scheme(name.to_ascii_lowercase()))
    }

    /// The host is `name`, in any case; a name beyond ASCII equals its A-labels.
    pub fn host(name: &str) -> Property {
        Property(Kind::Host(comparable(name.as_bytes())))
    }

    /// The host is `name` or a name below it: with a registrable domain (`example.com`), all hosts
    /// of one owner.
    pub fn domain(name: &str) -> Property {
        Property(Kind::Domain(comparable(name.as_bytes())))
    }

    /// The regular expression `pattern` matches somewhere in the link, as it is written.
    ///
    /// # Errors
    /// A sentence if it is not a regular expression, or too large.
    pub fn pattern(pattern: &str) -> Result<Property, String> {
        let regex = Regex::new(pattern).map_err(|error| {
            // A message of several lines ends in this.
            let message = error.to_string();
            message.rsplit("error: ").next().unwrap_or_default().trim().to_owned()
        })?;
        Ok(Property(Kind::Pattern(regex)))
    }

    /// Whether `uri` with this host has the property.
    fn is_of(&self, uri: &[u8], host: Option<&str>) -> bool {
        match &self.0 {
            Kind::Scheme(name) => {
                uri.len() > name.len()
                    && uri[name.len()] == b':'
                    && uri[..name.len()].eq_ignore_ascii_case(name.as_bytes())
            }
            Kind::Host(name) => host == Some(name),
            Kind::Domain(name) => host.is_some_and(|host| {
                host.strip_suffix(name.as_str())
                    .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            }),
            Kind::Pattern(regex) => regex.is_match(uri),
        }
    }

    fn is_like(&self, other: &Property) -> bool {
        core::mem::discriminant(&self.0) == core::mem::discriminant(&other.0)
    }
}

impl PartialEq for Property {
    fn eq(&self, other: &Property) -> bool {
        match (&self.0, &other.0) {
            (Kind::Pattern(a), Kind::Pattern(b)) => a.as_str() == b.as_str(),
            (
                Kind::Scheme(a) | Kind::Host(a) | Kind::Domain(a),
                Kind::Scheme(b) | Kind::Host(b) | Kind::Domain(b),
            ) => self.is_like(other) && a == b,
            _ => false,
        }
    }
}

impl Eq for Property {}

/// Which of the links found are kept: those that have one of the required properties of each kind,
/// and none of the excluded ones.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct Filter {
    only: Vec<Property>,
    not: Vec<Property>,
}

impl Filter {
    /// Requires `property`, or another one of its kind.
    pub fn only(mut self, property: Property) -> Filter {
        self.only.push(property);
        self
    }

    /// Excludes links with `property`.
    pub fn not(mut self, property: Property) -> Filter {
        self.not.push(property);
        self
    }

    /// Whether it keeps all links.
    pub fn is_empty(&self) -> bool {
        self.only.is_empty() && self.not.is_empty()
    }

    /// Whether it keeps `uri`.
    pub fn keeps(&self, uri: &[u8]) -> bool {
        let needs_host =
            |property: &Property| matches!(property.0, Kind::Host(_) | Kind::Domain(_));
        let host = match self.only.iter().chain(&self.not).any(needs_host) {
            true => host(uri),
            false => None,
        };
        let has = |property: &Property| property.is_of(uri, host.as_deref());
        // One of each kind.
        let is_wanted = |property: &Property| {
            has(property) || self.only.iter().any(|other| other.is_like(property) && has(other))
        };
        self.only.iter().all(is_wanted) && !self.not.iter().any(has)
    }
}

/// The host of `uri`, in a form that can be compared.
fn host(uri: &[u8]) -> Option<String> {
    let authority = split(uri).authority?;
    let after = memchr::memrchr(b'@', authority).map_or(authority, |at| &authority[at + 1..]);
    let end = match after.first() {
        Some(b'[') => memchr::memchr(b']', after).map_or(after.len(), |at| at + 1),
        _ => memchr::memchr(b':', after).unwrap_or(after.len()),
    };
    Some(comparable(&after[..end]))
}

/// `name` in lower case, without the dot of the root, with A-labels for what is not ASCII.
fn comparable(name: &[u8]) -> String {
    let name = name.strip_suffix(b".").unwrap_or(name);
    let lower = || String::from_utf8_lossy(name).to_ascii_lowercase();
    if name.is_ascii() && memchr::memchr(b'%', name).is_none() {
        return lower();
    }
    let plain = unencoded(name);
    let mut coded = Vec::with_capacity(3 * plain.len());
    for &byte in &plain {
        match byte {
            b'%' => return lower(),
            0x80.. => push_triplet(byte, &mut coded),
            _ => coded.push(byte.to_ascii_lowercase()),
        }
    }
    let is_ascii = memchr::memchr(b'%', &coded).is_none();
    match dns_to_ascii(&coded).filter(|_| !is_ascii) {
        Some(labels) => labels,
        None if is_ascii => String::from_utf8_lossy(&coded).into_owned(),
        None => lower(),
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
            Kind::Scheme(text) | Kind::Host(text) | Kind::Domain(text) => f.write_str(text),
            Kind::Pattern(regex) => f.write_str(regex.as_str()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_property_of_each_kind_is_required() {
        let filter = Filter::default()
            .only(Property::scheme("http"))
            .only(Property::scheme("HTTPS"))
            .only(Property::host("a.example"))
            .only(Property::host("b\u{FC}cher.example"))
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
        let filter = Filter::default().only(Property::domain("Example.com."));
        for (uri, expected) in [
            ("http://example.com", true),
            ("http://a.b.example.com:8/", true),
            ("http://notexample.com/", false),
            ("http://example.com.evil.example/", false),
            ("mailto:joe@example.com", false),
        ] {
            assert_eq!(filter.keeps(uri.as_bytes()), expected, "{uri}");
        }
        let address = Filter::default().only(Property::host("[::1]"));
        assert!(address.keeps(b"http://u@[::1]:80/") && !address.keeps(b"http://[::2]/"));
        let not = Filter::default().not(Property::domain("example.com"));
        assert!(not.keeps(b"http://h/") && !not.keeps(b"http://www.example.com/"));
        assert_eq!(Property::pattern("(").unwrap_err(), "unclosed group");
        assert_ne!(Property::host("a"), Property::domain("a"));
    }
}
