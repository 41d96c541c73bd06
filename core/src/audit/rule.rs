//! The rules of the audit: their names, the paragraphs of RFC 3986 section 7 on which they are
//! based, and the behaviour of a system that dereferences the URI.

use core::fmt;

named! {
    /// The severity of a finding. The names are SARIF's levels.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[repr(u8)]
    pub enum Severity {
        /// Worth knowing; ordinary data has it too.
        Note = "note",
        /// Unusual, and harmful if the next system is careless.
        Warning = "warning",
        /// Rarely without intent, or an exposed secret.
        Error = "error",
    }
}

impl Severity {
    /// The next lower severity; a note stays a note.
    pub(super) const fn lower(self) -> Severity {
        match self {
            Severity::Error => Severity::Warning,
            _ => Severity::Note,
        }
    }
}

macro_rules! rules {
    ($($variant:ident, $name:literal, $section:literal, $severity:ident, $title:literal, $consequence:literal;)*) => {
        /// A rule of the audit. The order is that of the sections of RFC 3986 and of listings.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        #[repr(u8)]
        pub enum Rule {
            $(#[doc = concat!("`", $name, "` (", $section, "): ", $title, ".")] $variant,)*
        }

        impl Rule {
            /// All rules, in order.
            pub const ALL: &[Rule] = &[$(Rule::$variant),*];

            /// The stable name used in output and options.
            pub const fn name(self) -> &'static str {
                match self { $(Rule::$variant => $name),* }
            }

            /// The section of RFC 3986, such as `7.4`.
            pub const fn section(self) -> &'static str {
                match self { $(Rule::$variant => $section),* }
            }

            /// The severity of a finding; a query is free text more often than a path, so a finding
            /// in one may be less severe.
            pub const fn severity(self) -> Severity {
                match self { $(Rule::$variant => Severity::$severity),* }
            }

            /// The finding, in a few words.
            pub const fn title(self) -> &'static str {
                match self { $(Rule::$variant => $title),* }
            }

            /// The behaviour of a dereferencing system, in one sentence.
            pub const fn consequence(self) -> &'static str {
                match self { $(Rule::$variant => $consequence),* }
            }
        }
    };
}

rules! {
    Invalid, "invalid", "4.1", Note,
        "not a URI-reference",
        "parsers repair it in different ways and may disagree about every component";
    PortOtherProtocol, "port-other-protocol", "7.2", Warning,
        "well-known port of another protocol",
        "a client sends the bytes of this protocol to a server of another one, which may read them as commands";
    PortWellKnown, "port-well-known", "7.2", Note,
        "well-known port that is not known to be this protocol's",
        "a client connects to a port that is reserved for another service";
    PortOverflow, "port-overflow", "7.2", Warning,
        "port above 65535",
        "a client that truncates it to 16 bits connects to another port; others reject it";
    EncodedLineBreak, "encoded-line-break", "7.2", Error,
        "encoded CR or LF",
        "a system that decodes it before sending ends the line there and sends the rest as another command or header";
    EncodedControl, "encoded-control", "7.2", Warning,
        "encoded control character",
        "a system that decodes it before sending passes a protocol or a terminal a byte that it acts upon";
    EncodedDelimiter, "encoded-delimiter", "7.2", Warning,
        "encoded delimiter in the host",
        "a system that decodes before splitting ends the host there and may connect to another one";
    EncodedNul, "encoded-nul", "7.3", Error,
        "encoded NUL",
        "a system whose strings end at NUL drops the rest, after a filter has checked the whole";
    EncodedSlash, "encoded-slash", "7.3", Note,
        "encoded slash in the path",
        "a server that decodes before splitting sees one more segment; others reject the request";
    EncodedBackslash, "encoded-backslash", "7.3", Warning,
        "encoded backslash in the path",
        "a server with a Windows file system reads it as a slash";
    Backslash, "backslash", "7.3", Warning,
        "backslash",
        "browsers read it as a slash, so that host and path may end elsewhere than for a filter";
    EncodedDot, "encoded-dot", "7.3", Warning,
        "dot segment with encoded dots",
        "a system that normalizes goes up the path; a filter that looks for the bytes '..' does not see it";
    Traversal, "traversal", "7.3", Error,
        "path goes up after decoding",
        "a server that decodes and then opens a file leaves the directory it serves";
    TraversalQuery, "traversal-query", "7.3", Warning,
        "parameter goes up a path",
        "an application that uses the value as a file name, or compares its beginning, may leave a directory";
    AboveRoot, "above-root", "7.3", Note,
        "dot segments lead above the root",
        "clients stop at the root (5.2.4); a server that opens files by the raw path goes higher";
    DeviceName, "device-name", "7.3", Note,
        "name of a device",
        "a Windows file system opens the device instead of a file, and may hang";
    DoubleEncoding, "double-encoding", "7.3", Warning,
        "doubly encoded text",
        "a system that decodes twice sees other bytes than a filter that decoded once";
    OverlongUtf8, "overlong-utf8", "7.3", Error,
        "overlong UTF-8",
        "a lax decoder reads an ASCII character, such as a slash, that filters do not see";
    EncodedHost, "encoded-host", "7.3", Warning,
        "needlessly encoded characters in the host",
        "a client decodes them and connects; a filter that compares the bytes sees another name";
    Entity, "entity", "7.3", Warning,
        "character reference of HTML",
        "it was copied from a page without decoding; a system that decodes it sees other parameters, and one that does not takes what follows &# for a fragment";
    RareIpv4, "rare-ipv4", "7.4", Warning,
        "IPv4 address in a rare form",
        "inet_aton and browsers read it as an address; the grammar and most filters read it as a name";
    AddressLoopback, "address-loopback", "7.4", Warning,
        "loopback address",
        "a server that fetches it talks to itself";
    AddressPrivate, "address-private", "7.4", Warning,
        "private address",
        "a server that fetches it reaches into its own network";
    AddressLinkLocal, "address-link-local", "7.4", Warning,
        "link-local address",
        "a server that fetches it reaches its local link, where cloud providers serve credentials";
    AddressSpecial, "address-special", "7.4", Note,
        "address of no public host",
        "a client reaches its own host or nothing at all";
    Password, "password", "7.5", Error,
        "password in the userinfo",
        "clients display, store, log and forward it";
    UserName, "user-name", "7.5", Note,
        "user name in the userinfo",
        "clients display, store, log and forward it; some drop it, some reject the URI";
    SecretParameter, "secret-parameter", "7.5", Error,
        "parameter that looks like a secret",
        "servers and proxies log it, browsers store it and send it in the Referer header";
    Secret, "secret", "7.5", Error,
        "secret within a component",
        "servers and proxies log it, browsers store it and send it in the Referer header";
    MisleadingUserinfo, "misleading-userinfo", "7.6", Error,
        "userinfo that looks like a host",
        "people read the userinfo as the host; the client connects to the host after the '@'";
    MixedScript, "mixed-script", "7.6", Warning,
        "label of the host mixes scripts",
        "people read one script; the client connects to a name with letters of another";
    RestrictedLetter, "restricted-letter", "7.6", Note,
        "letter that names seldom hold",
        "few people can tell it from others; registries reject most such names (UTS 39)";
    Confusable, "confusable", "7.6", Error,
        "host that looks like another one",
        "people read the ASCII name; the client connects to the other host";
    InvalidIdna, "invalid-idna", "7.6", Note,
        "host that IDNA refuses",
        "browsers reject it; other clients look it up in the DNS unchanged";
    HostWhatwg, "host-whatwg", "7.6", Error,
        "browsers see another host",
        "a filter that follows RFC 3986 sees one host; a client that follows the WHATWG URL standard connects to another";
    HostRfc2396, "host-rfc2396", "7.6", Note,
        "RFC 2396 sees no host",
        "systems that follow the older grammar, such as java.net.URI, see a registry-based name and no host";
}

impl Rule {
    /// The rule with this `id`, or `None`.
    ///
    /// ```
    /// use uriscan::audit::Rule;
    /// assert_eq!(Rule::from_name("rare-ipv4"), Some(Rule::RareIpv4));
    /// assert_eq!(Rule::RareIpv4.section(), "7.4");
    /// ```
    pub fn from_name(name: &str) -> Option<Rule> {
        Rule::ALL.iter().copied().find(|rule| rule.name() == name)
    }

    /// Whether the finding is a secret, which no output may show.
    pub const fn is_secret(self) -> bool {
        matches!(self, Rule::Password | Rule::SecretParameter | Rule::Secret)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A set of rules, and the least severity of the findings that are reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RuleSet {
    rules: u64,
    least: Severity,
}

const _: () = assert!(Rule::ALL.len() <= 64);

impl Default for RuleSet {
    fn default() -> RuleSet {
        RuleSet::all()
    }
}

impl RuleSet {
    /// Every rule, at any severity.
    pub const fn all() -> RuleSet {
        RuleSet { rules: !0 >> (64 - Rule::ALL.len()), least: Severity::Note }
    }

    /// No rule.
    pub const fn none() -> RuleSet {
        RuleSet { rules: 0, least: Severity::Note }
    }

    /// The same rules, which report only findings of `least` and above.
    ///
    /// ```
    /// use uriscan::audit::{RuleSet, Severity, audit};
    /// let mut findings = Vec::new();
    /// audit(b"http://u@0x7f.1/", RuleSet::all().at_least(Severity::Error), &mut findings);
    /// assert!(findings.iter().all(|finding| finding.severity == Severity::Error));
    /// ```
    #[must_use]
    pub const fn at_least(self, least: Severity) -> RuleSet {
        RuleSet { least, ..self }
    }

    /// Whether a finding of `rule` with `severity` is reported.
    #[inline]
    pub const fn reports(self, rule: Rule, severity: Severity) -> bool {
        self.has(rule) && severity as u8 >= self.least as u8
    }

    /// Whether `rule` is in the set.
    #[inline]
    pub const fn has(self, rule: Rule) -> bool {
        self.rules >> rule as u32 & 1 != 0
    }

    /// Whether one of the rules of `other` is in the set.
    #[inline]
    pub const fn has_any(self, other: RuleSet) -> bool {
        self.rules & other.rules != 0
    }

    /// The set with `rule` added.
    #[must_use]
    pub const fn with(self, rule: Rule) -> RuleSet {
        RuleSet { rules: self.rules | 1 << rule as u32, ..self }
    }

    /// The union of the two sets, with the least severity of this one.
    #[must_use]
    pub const fn or(self, other: RuleSet) -> RuleSet {
        RuleSet { rules: self.rules | other.rules, ..self }
    }

    /// The rules of this set that are not in `other`.
    #[must_use]
    pub const fn without(self, other: RuleSet) -> RuleSet {
        RuleSet { rules: self.rules & !other.rules, ..self }
    }

    /// The rules with this `name`: one by its name, all of a section (`7.4`), or `all`.
    ///
    /// ```
    /// use uriscan::audit::{Rule, RuleSet};
    /// assert!(RuleSet::named("7.5").unwrap().has(Rule::Password));
    /// assert_eq!(RuleSet::named("backslash"), Some(RuleSet::none().with(Rule::Backslash)));
    /// assert_eq!(RuleSet::named("7.9"), None);
    /// ```
    pub fn named(name: &str) -> Option<RuleSet> {
        let is_meant = |rule: &Rule| name == "all" || rule.name() == name || rule.section() == name;
        let set = Rule::ALL.iter().filter(|rule| is_meant(rule));
        let set = set.fold(RuleSet::none(), |set, &rule| set.with(rule));
        (set != RuleSet::none()).then_some(set)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_stable_words_and_unique() {
        for (i, &rule) in Rule::ALL.iter().enumerate() {
            assert_eq!(rule as usize, i);
            assert_eq!(Rule::from_name(rule.name()), Some(rule));
            assert!(
                rule.name()
                    .bytes()
                    .all(|b| b == b'-' || b.is_ascii_lowercase() || b.is_ascii_digit())
            );
            assert!(rule.section() == "4.1" || rule.section().starts_with("7."), "{rule}");
            assert!(!rule.title().is_empty() && !rule.consequence().ends_with('.'), "{rule}");
        }
        assert!(Rule::ALL.is_sorted_by_key(|rule| rule.section()));
    }

    #[test]
    fn sets_hold_the_added_rules() {
        let all = RuleSet::all();
        assert!(Rule::ALL.iter().all(|&rule| all.has(rule) && !RuleSet::none().has(rule)));
        let some = RuleSet::named("7.2").unwrap();
        assert!(some.has(Rule::PortOverflow) && !some.has(Rule::Backslash));
        assert!(!all.without(some).has(Rule::PortOverflow) && all.without(some).or(some) == all);
        assert!(all.has_any(some) && !some.has_any(all.without(some)));
        assert_eq!(RuleSet::named("all"), Some(all));
        assert_eq!(RuleSet::named(""), None);
    }
}
