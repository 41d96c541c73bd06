//! The values of filters: what a link must have, or must not have.

use core::fmt;
use core::net::{Ipv4Addr, Ipv6Addr};

use regex::bytes::Regex;

use super::host::comparable;
use super::patterns::literal;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Property(pub(super) Kind);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Scheme(String),
    Host(String),
    Domain(String),
    Pattern(String),
}

/// The longest name of the DNS, in bytes (RFC 1035, section 2.3.4).
pub(super) const LONGEST: usize = 255;

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
        if literal(pattern).is_some() {
            return Ok(Property(Kind::Pattern(pattern.to_owned())));
        }
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
        return Err("an address with a zone, which URLs do not have".to_owned());
    }
    let odd = name.chars().find(|&c| {
        c.is_control() || c.is_whitespace() || "/:@?#*[]\\<>\"^`{|}!$&'()+,;=".contains(c)
    });
    match odd {
        Some('/') => {
            return Err(
                "a host has no path; networks such as 10.0.0.0/8 are not supported".to_owned()
            );
        }
        Some(':') => return Err("write the host without its port".to_owned()),
        Some('@') => return Err("write the host without the user before @".to_owned()),
        Some('*' | '?') => {
            return Err("a host, not a pattern; a regular expression can match the URI".to_owned());
        }
        Some(c) => return Err(format!("a host cannot contain {c:?}")),
        None => {}
    }
    let name = comparable(name.as_bytes());
    if !name.is_ascii() || name.contains(|c: char| c == '%' || c.is_control()) {
        return Err("not a valid DNS name".to_owned());
    }
    is_possible(&name)?;
    match name.len() {
        0 => Err("the name is empty".to_owned()),
        1..=LONGEST => Ok(name),
        _ => Err(format!("a host has at most {LONGEST} bytes")),
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
            Err("it ends in a number but is not an IPv4 address; networks are not supported"
                .to_owned())
        }
        false => Ok(()),
    }
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
    fn values_that_no_link_can_have_are_refused_with_the_reason() {
        for (name, why) in [
            ("http://h/", "a URL"),
            ("h/x", "no path"),
            ("10.0.0.0/8", "networks"),
            ("h:80", "without its port"),
            ("u@h", "the user before @"),
            ("w*.example", "not a pattern"),
            ("a b", "a host cannot contain ' '"),
            ("", "empty"),
            (".", "empty"),
            ("[::1", "a host cannot contain '['"),
            ("a..b", "a label of the name is empty"),
            ("1,a.example", "a host cannot contain ','"),
            ("+.a.example", "a host cannot contain '+'"),
            ("1.1", "ends in a number"),
            ("10.0.0.0-10.0.0.9", "ends in a number"),
            ("fe80::1%lo0", "with a zone"),
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
}
