//! The steps from a URI to its canonical form, each with a stable name.

use std::sync::LazyLock;

use crate::normalize::Level;
use crate::rules::Rule;

/// One kind of change.
#[derive(Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Step {
    /// The stable name, for machine output.
    pub name: &'static str,
    /// The level of the step; `None` for a rule beyond the ladder, and for an alias.
    pub level: Option<Level>,
    /// The specification.
    pub source: &'static str,
    /// The effect, in a few words.
    pub meaning: &'static str,
}

macro_rules! steps {
    ($($id:ident $name:literal $level:expr, $source:literal, $meaning:literal;)*) => {
        $(
            #[doc = concat!("`", $name, "`: ", $meaning, ".")]
            pub(crate) static $id: Step =
                Step { name: $name, level: $level, source: $source, meaning: $meaning };
        )*

        /// The steps of the ladder, in order, and the fragment that may be dropped.
        pub static STEPS: &[&Step] = &[$(&$id),*];
    };
}

/// `alias`: a row of a file of aliases, the level `protocol`. It is not a change of a text, so it is not in [`STEPS`].
pub static ALIAS: Step = Step {
    name: "alias",
    level: None,
    source: "RFC 3986 section 6.2.4",
    meaning: "a row of --aliases maps one of them to the other, or both to the same URI",
};

const SYNTAX: Option<Level> = Some(Level::Syntax);
const SCHEME: Option<Level> = Some(Level::Scheme);

steps! {
    UTF8_HOST "utf8-host" SCHEME, "RFC 3986 section 3.2.2", "UTF-8 in the host is percent-encoded";
    SCHEME_CASE "scheme-case" SYNTAX, "RFC 3986 section 6.2.2.1", "the scheme is case-insensitive";
    TRIPLET_DECODE "triplet-decode" SYNTAX, "RFC 3986 section 6.2.2.2",
        "an unreserved character needs no encoding";
    TRIPLET_CASE "triplet-case" SYNTAX, "RFC 3986 section 6.2.2.1",
        "the digits of a triplet are case-insensitive";
    HOST_CASE "host-case" SYNTAX, "RFC 3986 section 6.2.2.1", "the host is case-insensitive";
    DOT_SEGMENTS "dot-segments" SYNTAX, "RFC 3986 section 6.2.2.3",
        "`.` and `..` are removed from a path that begins with `/` (5.2.4)";
    IPV6 "ipv6" SCHEME, "RFC 5952 section 4", "an IPv6 address has one canonical form";
    IDNA "idna" SCHEME, "UTS #46; RFC 3986 section 3.2.2", "a DNS name is written in A-labels";
    EMPTY_PORT "empty-port" SCHEME, "RFC 3986 section 6.2.3", "an empty port is equivalent to no port";
    PORT_ZEROS "port-zeros" SCHEME, "RFC 3986 section 3.2.3",
        "a port is a number: leading zeros do not matter";
    DEFAULT_PORT "default-port" SCHEME, "RFC 3986 section 6.2.3",
        "the default port of the scheme is equivalent to no port";
    DEFAULT_HOST "default-host" SCHEME, "RFC 3986 sections 3.2.2 and 6.2.3",
        "the default host of the scheme, and no authority, are equivalent to an empty host";
    EMPTY_PATH "empty-path" SCHEME, "RFC 3986 section 6.2.3", "an empty path after a host is `/`";
    MAILTO_DOMAIN "mailto-domain" SCHEME, "RFC 6068 section 2",
        "a domain name or address in a mail address is case-insensitive";
    URN_NID "urn-nid" SCHEME, "RFC 8141 section 3.1", "the namespace of a URN is case-insensitive";
    FRAGMENT "fragment" None, "RFC 3986 section 6.1", "the fragment is dropped on request";
}

/// The step of a rule beyond the RFC.
pub fn of_rule(rule: Rule) -> &'static Step {
    static STEPS: LazyLock<Vec<Step>> = LazyLock::new(|| {
        let step = |rule: &Rule| Step {
            name: rule.name(),
            level: None,
            source: "rules beyond the RFC",
            meaning: rule.meaning(),
        };
        Rule::ALL.iter().map(step).collect()
    });
    let number = Rule::ALL.iter().position(|known| *known == rule);
    number.and_then(|number| STEPS.get(number)).unwrap_or(&FRAGMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_distinct_and_tidy() {
        let names: std::collections::BTreeSet<&str> = STEPS.iter().map(|step| step.name).collect();
        assert_eq!(names.len(), STEPS.len());
        let is_tidy = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        assert!(names.iter().all(|name| name.bytes().all(is_tidy)));
    }
}
