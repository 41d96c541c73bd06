//! The rules: names, meanings, versions, order.

named! {
    /// A rule beyond the RFC. The order of the variants is the order in which they are applied.
    ///
    /// ```
    /// use uriscan::rules::Rule;
    /// assert_eq!(Rule::from_name("sort-query"), Some(Rule::SortQuery));
    /// assert!(Rule::Fragment < Rule::SortQuery);
    /// ```
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    #[non_exhaustive]
    pub enum Rule {
        Fragment = "fragment",
        Anchor = "anchor",
        Userinfo = "userinfo",
        Https = "https",
        HostDot = "host-dot",
        Www = "www",
        HostAlias = "host-alias",
        PathDecode = "path-decode",
        SessionId = "session-id",
        DuplicateSlash = "duplicate-slash",
        PathCase = "path-case",
        PathPrefix = "path-prefix",
        IndexPage = "index-page",
        Extension = "extension",
        TrailingSlash = "trailing-slash",
        ParamCase = "param-case",
        KeepParam = "keep-param",
        DropParam = "drop-param",
        AllowParam = "allow-param",
        EmptyParam = "empty-param",
        SortQuery = "sort-query",
        EmptyQuery = "empty-query",
    }
}

/// Whether a rule has an argument, the `ARG` of `NAME=ARG`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// No argument.
    None,
    /// A required glob.
    Glob,
    /// An optional list separated by commas, with a default.
    List,
    /// Optional characters, with a default.
    Chars,
    /// A required list of paths separated by commas.
    Paths,
    /// A host, which only a rule file gives.
    Host,
}

impl Argument {
    /// What follows the name of a rule where it is typed: `=GLOB`, or `[=LIST]` where it is optional; empty without argument.
    pub const fn usage(self) -> &'static str {
        match self {
            Argument::None | Argument::Host => "",
            Argument::Glob => "=GLOB",
            Argument::List => "[=LIST]",
            Argument::Chars => "[=CHARS]",
            Argument::Paths => "=PATHS",
        }
    }

    /// Its kind, in lower case; `None` without argument.
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Argument::None => None,
            Argument::Glob => Some("glob"),
            Argument::List => Some("list"),
            Argument::Chars => Some("chars"),
            Argument::Paths => Some("paths"),
            Argument::Host => Some("host"),
        }
    }
}

impl Rule {
    /// What the rule does, in one sentence.
    pub const fn meaning(self) -> &'static str {
        match self {
            Rule::Fragment => {
                "The fragment and its # are dropped, in every scheme: they are not part of what is retrieved (6.1)."
            }
            Rule::Anchor => {
                "The fragment and its # are dropped, in every scheme, unless it is a route of a script: #/ or #! and what follows."
            }
            Rule::Userinfo => "The userinfo and its @ are dropped.",
            Rule::Https => {
                "http becomes https, port 80 becomes port 443, and any other port stays; http on port 443 is not changed."
            }
            Rule::HostDot => {
                "A single dot after the last label of a host is dropped, unless that label begins with a digit."
            }
            Rule::Www => {
                "Labels www at the start of a host are dropped, as long as more than a public suffix remains."
            }
            Rule::HostAlias => "A host becomes the host that a rule file names for it.",
            Rule::PathDecode => {
                "Encoded characters of the list become the characters themselves in the path."
            }
            Rule::SessionId => {
                "Session ids are dropped: ;jsessionid=, cookieless (S(...)) segments, and parameters of known names and shapes."
            }
            Rule::DuplicateSlash => "Several slashes in a row in a path become one.",
            Rule::PathCase => "Letters of the path become lower case.",
            Rule::PathPrefix => {
                "A prefix of the path is dropped, as long as the path begins with one of the list."
            }
            Rule::IndexPage => {
                "A last segment that is in the list is dropped; its directory remains."
            }
            Rule::Extension => {
                "An extension of the last segment that is in the list is dropped with its dot, unless nothing, a dot segment or parameters would be left."
            }
            Rule::TrailingSlash => {
                "A single slash at the end of a path is dropped, unless it is the whole path."
            }
            Rule::ParamCase => "Letters of the names of parameters become lower case.",
            Rule::KeepParam => "Parameters are dropped unless a keep-param matches their name.",
            Rule::DropParam => "Parameters whose name matches are dropped.",
            Rule::AllowParam => {
                "Parameters whose name matches are kept, whatever earlier rules say."
            }
            Rule::EmptyParam => {
                "Parameters without a byte are dropped, and with them needless &; not those with a name and no value."
            }
            Rule::SortQuery => {
                "Parameters are sorted by the bytes of their names; those with the same name keep their order."
            }
            Rule::EmptyQuery => "An empty query and its ? are dropped.",
        }
    }

    /// The argument after the name.
    pub const fn argument(self) -> Argument {
        match self {
            Rule::KeepParam | Rule::DropParam | Rule::AllowParam => Argument::Glob,
            Rule::IndexPage | Rule::Extension => Argument::List,
            Rule::PathDecode => Argument::Chars,
            Rule::PathPrefix => Argument::Paths,
            Rule::HostAlias => Argument::Host,
            _ => Argument::None,
        }
    }

    /// Incremented when the effect of the rule changes, and with it the keys.
    pub const fn version(self) -> u32 {
        match self {
            // 2: no names that others use too; `cfid` and `cftoken` only in pairs; `sid` on pages
            // of phpBB.
            Rule::SessionId => 2,
            _ => 1,
        }
    }
}

/// The rule `NAME`, and the argument of `NAME=ARG`.
pub(super) fn typed_rule(typed: &str) -> Result<(Rule, Option<&str>), String> {
    let (name, argument) =
        typed.split_once('=').map_or((typed, None), |(name, argument)| (name, Some(argument)));
    Ok((Rule::from_name(name).ok_or_else(|| unknown_rule(name))?, argument))
}

fn unknown_rule(name: &str) -> String {
    let names: Vec<&str> = Rule::ALL.into_iter().map(Rule::name).collect();
    format!("unknown rule `{name}`; the rules are {}", names.join(", "))
}

/// A set of rules: those that are enabled, or those that changed something.
///
/// ```
/// use uriscan::rules::{Rules, Rule};
/// let mut fired = Rules::default();
/// fired.add(Rule::Www);
/// assert!(fired.has(Rule::Www) && !fired.is_empty());
/// assert_eq!(fired.iter().collect::<Vec<_>>(), [Rule::Www]);
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rules(u32);

impl Rules {
    /// The set without those of `rules`.
    #[must_use]
    pub const fn without(self, rules: Rules) -> Rules {
        Rules(self.0 & !rules.0)
    }

    /// Whether one of `rules` is in the set.
    #[inline]
    pub fn has_any(self, rules: Rules) -> bool {
        self.0 & rules.0 != 0
    }

    /// A bit for each rule of the set.
    pub(super) const fn bits(self) -> u32 {
        self.0
    }

    /// The union of the two sets.
    #[must_use]
    #[inline]
    pub const fn union(self, rules: Rules) -> Rules {
        Rules(self.0 | rules.0)
    }

    /// The set of `rules`.
    pub const fn of(rules: &[Rule]) -> Rules {
        let (mut bits, mut i) = (0, 0);
        while i < rules.len() {
            bits |= 1 << rules[i] as u32;
            i += 1;
        }
        Rules(bits)
    }

    /// Adds `rule`.
    #[inline]
    pub fn add(&mut self, rule: Rule) {
        self.0 |= 1 << rule as u32;
    }

    /// Whether `rule` is in the set.
    #[inline]
    pub fn has(self, rule: Rule) -> bool {
        self.0 >> rule as u32 & 1 != 0
    }

    /// Whether the set is empty.
    #[inline]
    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// The rules, in the order in which they are applied.
    pub fn iter(self) -> impl Iterator<Item = Rule> {
        Rule::ALL.into_iter().filter(move |&rule| self.has(rule))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_round_trip_and_the_list_is_in_order() {
        for (i, rule) in Rule::ALL.into_iter().enumerate() {
            assert_eq!(rule as usize, i);
            assert_eq!(Rule::from_name(rule.name()), Some(rule));
            assert!(rule.meaning().ends_with('.') && rule.meaning().matches(". ").count() == 0);
        }
        assert_eq!(Rule::from_name("Www"), None);
    }
}
