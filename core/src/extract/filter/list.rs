//! Files of values: hosts, domains or patterns, one a line.

use core::net::IpAddr;

use super::names::Gathered;
use super::property::{Kind, LONGEST, Property};
use crate::grammar::words;

/// What the lines of a file are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Values {
    Hosts,
    Domains,
    Patterns,
}

/// The values of a file for a [`Filter`](super::Filter): hosts, domains or patterns, one a line.
///
/// With `#` begins a comment. Hosts and domains may be those of a hosts file (`0.0.0.0 name`), and domains those of rules
/// of ad blockers (`||name^`).
///
/// ```
/// use uriscan::extract::{Filter, List};
/// let mut list = List::domains();
/// let (bytes, lines) = list.add_plain_lines(b"spam.example\nb.example\n# a comment\n");
/// assert_eq!((bytes, lines), (23, 2));
/// list.add_line("||ads.example^").unwrap();
/// assert!(list.add_line("10.0.0.0/8").unwrap_err().contains("networks"));
/// let filter = Filter::default().not_list(list);
/// assert!(!filter.keeps(b"http://x.ads.example/") && filter.keeps(b"http://h/"));
/// ```
#[derive(Clone, Debug)]
pub struct List {
    pub(super) values: Values,
    pub(super) names: Gathered,
    pub(super) patterns: Vec<String>,
}

impl List {
    fn of(values: Values) -> List {
        List { values, names: Gathered::default(), patterns: Vec::new() }
    }

    /// An empty list of hosts, as [`Property::host`] reads them.
    pub fn hosts() -> List {
        List::of(Values::Hosts)
    }

    /// An empty list of domains, as [`Property::domain`] reads them.
    pub fn domains() -> List {
        List::of(Values::Domains)
    }

    /// An empty list of regular expressions, as [`Property::pattern`] reads them.
    pub fn patterns() -> List {
        List::of(Values::Patterns)
    }

    /// Whether it has no value.
    pub fn is_empty(&self) -> bool {
        self.names.is_empty() && self.patterns.is_empty()
    }

    /// Adds the lines at the start of `text` that are names as most are, which takes a fraction of the time of
    /// [`List::add_line`]: lines with an end, of ASCII letters, digits, `-`, `_` and single dots, at the start of which may
    /// be the address of a hosts file. Returns their bytes and their number.
    pub fn add_plain_lines(&mut self, text: &[u8]) -> (usize, u64) {
        let (mut taken, mut lines) = (0, 0);
        if self.values == Values::Patterns {
            return (taken, lines);
        }
        while let Some(len) = memchr::memchr(b'\n', &text[taken..]) {
            let line = &text[taken..taken + len];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let Some(Plain { name, has_upper, has_dot }) = plain_name(line, self.values) else {
                break;
            };
            match has_upper {
                true => self.names.push_lower(name, has_dot),
                false => self.names.push(name, has_dot),
            }
            (taken, lines) = (taken + len + 1, lines + 1);
        }
        (taken, lines)
    }

    /// Adds the values of a line: none of a comment, and several of a line of a hosts file.
    ///
    /// # Errors
    /// A sentence if a value is one that no URI has, or the line is not of the supported forms.
    pub fn add_line(&mut self, line: &str) -> Result<(), String> {
        let line = line.trim();
        if self.values == Values::Patterns {
            return self.add_pattern(line);
        }
        if line.starts_with('!') || line.starts_with('[') && line.contains("Adblock") {
            return Ok(());
        }
        if let Some(mut names) = of_resolver(line) {
            return names.try_for_each(|name| self.add_whole_domain(name));
        }
        let may_be_rule = line.starts_with(['#', '|', '@']) || line.contains("##");
        if may_be_rule && let Some(name) = of_rule(line)? {
            return self.add_whole_domain(name);
        }
        let mut fields = line.split('#').next().unwrap_or_default().split_whitespace();
        match (fields.next(), fields.next()) {
            (None, _) => Ok(()),
            (Some(name), None) => self.add_name(name),
            (Some(first), Some(second)) if is_address(first) => {
                let mut names = core::iter::once(second).chain(fields);
                names.try_for_each(|name| if is_own(name) { Ok(()) } else { self.add_name(name) })
            }
            _ => Err("not of a known list: expected one value a line, `0.0.0.0 name`, `||name^`, \
                     `address=/name/` or `local-zone: \"name\" type`"
                .to_owned()),
        }
    }

    fn add_pattern(&mut self, line: &str) -> Result<(), String> {
        if line.starts_with('|') || line.ends_with('|') {
            return Err("an empty alternative matches every URI; ad-block lists are not patterns"
                .to_owned());
        }
        if !line.is_empty()
            && !line.starts_with('#')
            && let Kind::Pattern(pattern) = Property::pattern(line)?.0
        {
            self.patterns.push(pattern);
        }
        Ok(())
    }

    /// Adds a name that stands in its list for all names below it, too.
    fn add_whole_domain(&mut self, name: &str) -> Result<(), String> {
        if self.values == Values::Hosts {
            let what =
                "a line of such a list is a domain and all below it; use an option for domains";
            return Err(what.to_owned());
        }
        self.add_name(name)
    }

    fn add_name(&mut self, name: &str) -> Result<(), String> {
        let is_host = self.values == Values::Hosts;
        let property = if is_host { Property::host(name) } else { Property::domain(name) }?;
        if let Kind::Host(name) | Kind::Domain(name) = property.0 {
            self.names.push(name.as_bytes(), name.contains('.'));
        }
        Ok(())
    }
}

/// What a byte of a name is, as bits.
const DOT: u8 = 1;
const UPPER: u8 = 2;
const OTHER: u8 = 4;
static BYTES: [u8; 256] = {
    let mut bytes = [OTHER; 256];
    let mut byte = 0;
    while byte < 128 {
        bytes[byte] = match byte as u8 {
            b'.' => DOT,
            b'A'..=b'Z' => UPPER,
            b'a'..=b'z' | b'0'..=b'9' | b'-' | b'_' => 0,
            _ => OTHER,
        };
        byte += 1;
    }
    bytes
};

/// A name as most are.
struct Plain<'a> {
    name: &'a [u8],
    has_upper: bool,
    has_dot: bool,
}

/// The name in a `line` that has nothing else, or is one of a hosts file or of an ad blocker: one that [`List::add_line`]
/// would add, too.
#[inline]
fn plain_name(line: &[u8], values: Values) -> Option<Plain<'_>> {
    let (name, has_address) = match line {
        [b'0', b'.', b'0', b'.', b'0', b'.', b'0', b' ', name @ ..]
        | [b'1', b'2', b'7', b'.', b'0', b'.', b'0', b'.', b'1', b' ', name @ ..] => (name, true),
        [b'|', b'|', name @ .., b'^'] if values == Values::Domains => (name, false),
        line => (line, false),
    };
    // A dot may be neither first nor last nor after another.
    let (mut seen, mut before) = (0, DOT);
    for &byte in name {
        let class = BYTES[usize::from(byte)];
        seen |= class | ((class & before & DOT) * OTHER);
        before = class;
    }
    let has_dot = seen & DOT != 0;
    // Numbers may be addresses, and names without a dot those of the machine itself.
    let is_odd = seen & OTHER != 0
        || before & DOT != 0
        || name.len() > LONGEST
        || name.last().is_some_and(u8::is_ascii_digit)
        || has_address && (!has_dot || name.eq_ignore_ascii_case(b"localhost.localdomain"));
    (!is_odd).then_some(Plain { name, has_upper: seen & UPPER != 0, has_dot })
}

/// The name in a rule `||name^` of an ad blocker; `None` for a line that is not a rule.
///
/// # Errors
/// For other rules.
fn of_rule(line: &str) -> Result<Option<&str>, String> {
    const UNKNOWN: &str = "not a host: of the rules of ad blockers, only ||name^ is supported";
    // `## a comment` and `####`, but neither `##.name` nor `#@#.name` nor `host##.name`, which select parts of pages.
    let selects = |rest: &str| rest.starts_with(|c: char| c.is_alphabetic() || ".[*".contains(c));
    let mut words = line.split_whitespace();
    let is_selector = |word: &str| {
        ["##", "#@#"]
            .iter()
            .any(|sign| word.split_once(sign).is_some_and(|(_, rest)| selects(rest)))
    };
    if line.starts_with("@@") || words.any(is_selector) {
        return Err(UNKNOWN.to_owned());
    }
    let Some(rule) = line.strip_prefix("||") else { return Ok(None) };
    let rule = rule.split(" #").next().unwrap_or_default().trim_end();
    rule.strip_suffix('^').map(Some).ok_or_else(|| UNKNOWN.to_owned())
}

/// The names in a line of the settings of dnsmasq (`address=/name/0.0.0.0`) or Unbound (`local-zone: "name" type`, and
/// `server:` without one); `None` for another line.
fn of_resolver(line: &str) -> Option<Box<dyn Iterator<Item = &str> + '_>> {
    if let Some(name) = line.strip_prefix("local-zone:") {
        let name = name.split_whitespace().next().unwrap_or_default();
        return Some(Box::new(core::iter::once(name.trim_matches('"'))));
    }
    if line == "server:" {
        return Some(Box::new(core::iter::empty()));
    }
    let (key, value) = line.split_once("=/")?;
    let (names, _) =
        value.rsplit_once('/').filter(|_| ["address", "server", "local"].contains(&key))?;
    Some(Box::new(names.split('/')))
}

/// Whether `field` is an address, as hosts files write it: with a zone, and 0 for 0.0.0.0.
fn is_address(field: &str) -> bool {
    let address = field.split('%').next().unwrap_or_default();
    field == "0" || address.parse::<IpAddr>().is_ok()
}

/// Whether `name` is one that hosts files give to the machine itself and its network.
fn is_own(name: &str) -> bool {
    const OWN: [&str; 12] = words(
        "localhost localhost.localdomain local broadcasthost 0.0.0.0 ip6-localhost ip6-loopback \
         ip6-localnet ip6-mcastprefix ip6-allnodes ip6-allrouters ip6-allhosts",
    );
    OWN.contains(&name)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn names(list: &List) -> Vec<String> {
        let names = list.names.iter().map(|name| String::from_utf8_lossy(name).into_owned());
        names.collect()
    }

    #[test]
    fn names_as_most_are_end_where_another_line_begins() {
        for (text, taken, found) in [
            ("a.example\nB_-.C\r\n", 17, &["a.example", "b_-.c"][..]),
            ("a.example", 0, &[]),
            ("a\n\nb\n", 2, &["a"]),
            ("0.0.0.0 A.b\n127.0.0.1 c.d\n", 26, &["a.b", "c.d"]),
            ("0.0.0.0 localhost\n", 0, &[]),
            ("127.0.0.1 Localhost.LocalDomain\n", 0, &[]),
            ("0.0.0.0\n", 0, &[]),
            ("1.2.3.4\n", 0, &[]),
            (".a\n", 0, &[]),
            ("a.\n", 0, &[]),
            ("a..b\n", 0, &[]),
            ("a.b # c\n", 0, &[]),
            (" a.b\n", 0, &[]),
            ("a\r\r\n", 0, &[]),
            ("\u{e9}.b\n", 0, &[]),
        ] {
            let mut list = List::hosts();
            assert_eq!(list.add_plain_lines(text.as_bytes()).0, taken, "{text:?}");
            assert_eq!(names(&list), found, "{text:?}");
        }
        let mut list = List::domains();
        assert_eq!(list.add_plain_lines(b"||a.B^\n"), (7, 1));
        assert_eq!(names(&list), ["a.b"]);
        let long = format!("{}b\n", "a.".repeat(128));
        assert_eq!(list.add_plain_lines(long.as_bytes()), (0, 0));
    }

    #[test]
    fn lists_of_resolvers_are_lists_of_domains() {
        for (line, found) in [
            ("address=/ads.example/0.0.0.0", &["ads.example"][..]),
            ("address=/a.example/b.example/", &["a.example", "b.example"]),
            ("server=/a.example/", &["a.example"]),
            ("local=/a.example/", &["a.example"]),
            ("local-zone: \"ads.example\" always_nxdomain", &["ads.example"]),
            ("  local-zone: ads.example. static # ads", &["ads.example"]),
            ("server:", &[]),
        ] {
            let mut list = List::domains();
            assert_eq!(list.add_line(line), Ok(()), "{line}");
            assert_eq!(names(&list), found, "{line}");
            if !found.is_empty() {
                let why = List::hosts().add_line(line).unwrap_err();
                assert!(why.contains("use an option for domains"), "{line}: {why}");
            }
        }
        for line in [
            "local-zone:",
            "address=/#/",
            "address=//0.0.0.0",
            "addn-hosts=/etc/x/y",
            "zone \"a\" {",
        ] {
            let mut list = List::domains();
            assert!(list.add_line(line).is_err() && names(&list).is_empty(), "{line}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn plain_lines_are_what_each_line_alone_is(
            line in "(0\\.0\\.0\\.0 |127\\.0\\.0\\.1 |\\|\\||)([aB1.\\-_*#% ]{0,8}|localhost)(\\^|\r|)",
        ) {
            for empty in [List::hosts, List::domains] {
                let (mut plain, mut alone) = (empty(), empty());
                let text = format!("{line}\n");
                if plain.add_plain_lines(text.as_bytes()).1 > 0 {
                    prop_assert_eq!(alone.add_line(&line), Ok(()));
                    prop_assert_eq!(names(&plain), names(&alone));
                }
            }
        }
    }
}
