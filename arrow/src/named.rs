//! Columns by the names of options, as SQL engines and Python pass them.

use core::fmt;
use std::collections::HashMap;
use std::sync::Arc;

use super::{Columns, OnInvalid};
use uriscan_bulk::pipeline::Equivalence;
use uriscan_core::context::Context;
use uriscan_core::key::PublicHash;
use uriscan_core::normalize::{Level, Options};
use uriscan_core::profile::Profile;
use uriscan_core::repair::{Repair, Repairs};
use uriscan_core::resolve::{self, BaseUri, Suffix};
use uriscan_core::rules::{Preset, Rule, RuleSet, RulesFile};

/// The value of an option that is given by its name.
///
/// ```
/// use uriscan_arrow::OptionValue;
/// assert_eq!(OptionValue::from("syntax"), OptionValue::Text("syntax".to_owned()));
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum OptionValue {
    /// On or off.
    Flag(bool),
    /// A text; for an option that takes a list, a list of one.
    Text(String),
    /// Texts.
    List(Vec<String>),
}

impl From<bool> for OptionValue {
    fn from(value: bool) -> OptionValue {
        OptionValue::Flag(value)
    }
}

impl From<&str> for OptionValue {
    fn from(value: &str) -> OptionValue {
        OptionValue::Text(value.to_owned())
    }
}

impl From<Vec<String>> for OptionValue {
    fn from(value: Vec<String>) -> OptionValue {
        OptionValue::List(value)
    }
}

/// An option that does not exist, or cannot have that value. Its text names what there is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OptionError(String);

impl fmt::Display for OptionError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for OptionError {}

/// What is not known by its name: the names that are.
fn named<T>(
    option: &str,
    name: &str,
    found: Option<T>,
    names: impl IntoIterator<Item = impl AsRef<str>>,
) -> Result<T, OptionError> {
    found.ok_or_else(|| {
        let names: Vec<_> = names.into_iter().collect();
        let names: Vec<&str> = names.iter().map(AsRef::as_ref).collect();
        OptionError(format!("{option}={name:?}: there are {}", names.join(", ")))
    })
}

fn wrong(option: &str, error: impl fmt::Display) -> OptionError {
    OptionError(format!("{option}: {error}"))
}

/// Options by their names, each with a value of its kind.
#[derive(Default)]
struct Named<'a>(HashMap<&'a str, OptionValue>);

/// An option that has one name in the program (with `-` for `_`), in Python and in SQL; see [`Columns::OPTIONS`].
///
/// ```
/// use uriscan_arrow::{Columns, OptionKind};
/// let option = Columns::OPTIONS.iter().find(|option| option.name == "on_invalid").unwrap();
/// assert_eq!(option.flag(), "on-invalid");
/// assert_eq!((option.kind, option.values()), (OptionKind::Text, vec!["pass", "drop", "error"]));
/// ```
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct NamedOption {
    /// Its name.
    pub name: &'static str,
    /// What its value is.
    pub kind: OptionKind,
    values: Values,
}

/// The names that values have; none where they are not from a list.
type Values = fn() -> Vec<&'static str>;

/// What the value of an option is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionKind {
    /// On or off.
    Flag,
    /// A text.
    Text,
    /// Texts; the program takes the option several times.
    List,
}

impl NamedOption {
    const fn new(name: &'static str, kind: OptionKind, values: Values) -> NamedOption {
        NamedOption { name, kind, values }
    }

    /// The option of the program, without the two hyphens before it.
    pub fn flag(&self) -> String {
        self.name.replace('_', "-")
    }

    /// The values that it can have; empty if these are not from a list.
    pub fn values(&self) -> Vec<&'static str> {
        (self.values)()
    }

    /// `value`, if this option can have it; a text is a list of one.
    fn of_kind(&self, value: OptionValue) -> Result<OptionValue, OptionError> {
        let what = match (self.kind, value) {
            (OptionKind::Flag, value @ OptionValue::Flag(_))
            | (OptionKind::Text, value @ OptionValue::Text(_))
            | (OptionKind::List, value @ OptionValue::List(_)) => return Ok(value),
            (OptionKind::List, OptionValue::Text(text)) => return Ok(vec![text].into()),
            (OptionKind::Flag, _) => "true or false",
            (OptionKind::Text, _) => "a text",
            (OptionKind::List, _) => "a list of texts",
        };
        Err(OptionError(format!("{} is {what}", self.name)))
    }

    /// `found`, what the value `name` represents, or an error with the values that there are.
    fn known<T>(&self, name: &str, found: Option<T>) -> Result<T, OptionError> {
        named(self.name, name, found, self.values())
    }
}

/// The options, in the order of [`Columns::OPTIONS`].
mod option {
    use super::OptionKind::{Flag, List, Text};
    use super::{Level, NamedOption as New, POLICIES, Profile, PublicHash, Repair, Rule};

    pub(super) const LEVEL: New = New::new("level", Text, || Level::ALL.map(Level::name).to_vec());
    pub(super) const DROP_FRAGMENT: New = New::new("drop_fragment", Flag, Vec::new);
    pub(super) const PRESET: New = New::new("preset", Text, || super::PRESETS.to_vec());
    pub(super) const RULE: New = New::new("rule", List, || Rule::ALL.map(Rule::name).to_vec());
    pub(super) const RULES: New = New::new("rules", List, Vec::new);
    pub(super) const NO_RULE: New =
        New::new("no_rule", List, || Rule::ALL.map(Rule::name).to_vec());
    pub(super) const IRI: New = New::new("iri", Flag, Vec::new);
    pub(super) const REPAIR: New = New::new("repair", List, || {
        let others = Repair::ALL.into_iter().filter(|&repair| repair != Repair::Iri);
        ["all"].into_iter().chain(others.map(Repair::name)).collect()
    });
    pub(super) const BASE: New = New::new("base", Text, Vec::new);
    pub(super) const LENIENT_SCHEME: New = New::new("lenient_scheme", Flag, Vec::new);
    pub(super) const SUFFIX_SCHEME: New = New::new("suffix_scheme", Text, Vec::new);
    pub(super) const PROFILE: New =
        New::new("profile", Text, || Profile::ALL.map(Profile::name).to_vec());
    pub(super) const HASH: New =
        New::new("hash", Text, || PublicHash::ALL.map(PublicHash::name).to_vec());
    pub(super) const ON_INVALID: New =
        New::new("on_invalid", Text, || POLICIES.map(|(name, _)| name).to_vec());
}

const PRESETS: [&str; 3] = ["rfc", "crawl", "log"];

/// What becomes of invalid values. A column has a null for a value that is dropped.
const POLICIES: [(&str, OnInvalid); 3] =
    [("pass", OnInvalid::Pass), ("drop", OnInvalid::Null), ("error", OnInvalid::Fail)];

impl Columns {
    /// The options that [`Columns::from_options`] takes: the one table of which the keywords of Python and the options of SQL are
    /// made, and which the options of the program are checked against. The program has more: what it reads from files
    /// (`--aliases`, and the level `protocol`, which needs them), and earlier versions of presets (`crawl@1`).
    pub const OPTIONS: [NamedOption; 14] = [
        option::LEVEL,
        option::DROP_FRAGMENT,
        option::PRESET,
        option::RULE,
        option::RULES,
        option::NO_RULE,
        option::IRI,
        option::REPAIR,
        option::BASE,
        option::LENIENT_SCHEME,
        option::SUFFIX_SCHEME,
        option::PROFILE,
        option::HASH,
        option::ON_INVALID,
    ];

    /// Columns under options given by their names, which are those of [`Columns::OPTIONS`]. `rules` are built-in rules files, or what
    /// `read_rules` gives for a name.
    ///
    /// ```
    /// use arrow_array::{StringArray, cast::AsArray};
    /// use uriscan_arrow::Columns;
    /// let no_file = |name: &str| Err(format!("there is no built-in rules file {name}"));
    /// let options = [("preset", "crawl".into()), ("on_invalid", "drop".into())];
    /// let columns = Columns::from_options(options, no_file).unwrap();
    /// let forms = columns.normalize(&StringArray::from(vec!["http://H/?utm_source=x#y"])).unwrap();
    /// assert_eq!(forms.as_string::<i32>().value(0), "http://h/");
    ///
    /// let error = Columns::from_options([("level", "host".into())], no_file).unwrap_err();
    /// assert_eq!(error.to_string(), r#"level="host": there are string, syntax, scheme"#);
    /// ```
    ///
    /// # Errors
    /// An option that does not exist or is given twice, a value that it cannot have, or options that contradict each other.
    pub fn from_options<'a>(
        options: impl IntoIterator<Item = (&'a str, OptionValue)>,
        read_rules: impl Fn(&str) -> Result<RulesFile, String>,
    ) -> Result<Columns, OptionError> {
        let mut named = Named::default();
        for (name, value) in options {
            let Some(option) = Columns::OPTIONS.iter().find(|option| option.name == name) else {
                let names = Columns::OPTIONS.map(|option| option.name).join(", ");
                return Err(OptionError(format!("there is no option {name}; there are {names}")));
            };
            if named.0.contains_key(name) {
                return Err(OptionError(format!("{name} is given twice")));
            }
            named.0.insert(name, option.of_kind(value)?);
        }
        named.columns(&read_rules)
    }
}

impl Named<'_> {
    fn flag(&self, name: &str) -> bool {
        self.0.get(name) == Some(&OptionValue::Flag(true))
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.0.get(name)? {
            OptionValue::Text(text) => Some(text),
            _ => None,
        }
    }

    fn list(&self, name: &str) -> &[String] {
        match self.0.get(name) {
            Some(OptionValue::List(list)) => list,
            _ => &[],
        }
    }

    /// What the text of `option` represents, as `find` knows it.
    fn known<T>(
        &self,
        option: &NamedOption,
        find: impl Fn(&str) -> Option<T>,
    ) -> Result<Option<T>, OptionError> {
        self.text(option.name).map(|text| option.known(text, find(text))).transpose()
    }

    fn columns(
        &self,
        read_rules: &dyn Fn(&str) -> Result<RulesFile, String>,
    ) -> Result<Columns, OptionError> {
        let level = self.known(&option::LEVEL, Level::from_name)?.unwrap_or_default();
        let profile = self.known(&option::PROFILE, Profile::from_name)?;
        let hash = self.known(&option::HASH, PublicHash::from_name)?.unwrap_or_default();
        let policy = |text: &str| Some(POLICIES.into_iter().find(|(name, _)| *name == text)?.1);
        let on_invalid = self.known(&option::ON_INVALID, policy)?.unwrap_or_default();
        if let (Some(profile), Some(other)) = (profile, self.beside_profile(level)) {
            let what =
                format!("profile={:?} has forms of its own: {other} has no effect", profile.name());
            return Err(OptionError(what));
        }
        let rules = self.rule_set(read_rules)?;
        let context = match (self.text("base"), self.text("suffix_scheme")) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                return Err(OptionError("either base or suffix_scheme, not both".to_owned()));
            }
            (Some(base), None) => {
                let lenient_scheme = self.flag("lenient_scheme");
                let options = resolve::Options::default().lenient_scheme(lenient_scheme);
                let base = BaseUri::new(base.as_bytes())
                    .map_err(|error| OptionError(format!("the base is not a URI: {error}")))?;
                Some(Context::Base { base, options })
            }
            (None, Some(scheme)) => {
                let suffix = Suffix::new(scheme).map_err(|error| wrong("suffix_scheme", error))?;
                Some(Context::Suffix(suffix))
            }
        };
        let equivalence = Equivalence::default()
            .context(context)
            .normalize(Options::new(level).drop_fragment(self.flag("drop_fragment")))
            .rules(rules)
            .repairs(repairs(self.flag("iri"), self.list("repair"))?)
            .profile(profile);
        Ok(Columns::new(equivalence).hash(hash).on_invalid(on_invalid))
    }

    /// An option that means nothing under a profile, if one was given.
    fn beside_profile(&self, level: Level) -> Option<&'static str> {
        let is_given = |name: &&str| match self.0.get(*name) {
            None | Some(OptionValue::Flag(false)) => false,
            Some(OptionValue::List(list)) => !list.is_empty(),
            Some(_) => *name != option::LEVEL.name || level != Level::default(),
        };
        let names = Columns::OPTIONS.map(|option| option.name).into_iter();
        names.take_while(|name| *name != option::PROFILE.name).find(is_given)
    }

    fn rule_set(
        &self,
        read_rules: &dyn Fn(&str) -> Result<RulesFile, String>,
    ) -> Result<Option<Arc<RuleSet>>, OptionError> {
        let mut builder = RuleSet::builder();
        if let Some(preset) = self.known(&option::PRESET, Preset::from_name)? {
            builder.preset(&preset).map_err(|error| wrong("preset", error))?;
        }
        for name in self.list("rules") {
            let rules_file = RulesFile::built_in(name).map_or_else(|| read_rules(name), Ok);
            builder.rules_file(&rules_file.map_err(|error| wrong("rules", error))?);
        }
        for name in self.list("no_rule") {
            let rule = option::NO_RULE.known(name, Rule::from_name(name))?;
            if !builder.without(rule) {
                let text = format!("no_rule={name:?}: the preset has no such rule");
                return Err(OptionError(text));
            }
        }
        for rule in self.list("rule") {
            builder.rule(rule).map_err(|error| wrong("rule", error))?;
        }
        let rules = builder.build().map_err(|error| wrong("rules", error))?;
        Ok((!rules.is_empty()).then(|| Arc::new(rules)))
    }
}

fn repairs(iri: bool, names: &[String]) -> Result<Repairs, OptionError> {
    let mut repairs = Repairs::default();
    if iri {
        repairs = repairs.with(Repair::Iri);
    }
    for name in names {
        repairs = match name.as_str() {
            "all" => repairs.or(Repairs::usual()),
            name => {
                let found = Repair::from_name(name).filter(|&repair| repair != Repair::Iri);
                repairs.with(option::REPAIR.known(name, found)?)
            }
        };
    }
    Ok(repairs)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(options: &[(&str, OptionValue)]) -> Result<Columns, String> {
        let no_file = |name: &str| Err(format!("there is no built-in rules file {name}"));
        Columns::from_options(options.iter().cloned(), no_file).map_err(|error| error.to_string())
    }

    #[test]
    fn every_option_can_be_given() {
        for NamedOption { name, kind, .. } in Columns::OPTIONS {
            let value: OptionValue = match name {
                _ if kind == OptionKind::Flag => true.into(),
                "level" => "syntax".into(),
                "preset" => "log".into(),
                "rule" => vec!["fragment".to_owned()].into(),
                "no_rule" => continue,
                "rules" => "tracking".into(),
                "repair" => "all".into(),
                "base" => "http://h/".into(),
                "suffix_scheme" => "https".into(),
                "profile" => "whatwg".into(),
                "hash" => "sha256".into(),
                "on_invalid" => "error".into(),
                other => panic!("no value for {other}"),
            };
            if let Err(error) = made(&[(name, value)]) {
                panic!("{name}: {error}");
            }
        }
        let with_preset = [("preset", "crawl".into()), ("no_rule", "session-id".into())];
        assert!(made(&with_preset).is_ok());
        let presets: Vec<String> = Preset::newest().into_iter().map(|preset| preset.name).collect();
        assert_eq!(option::PRESET.values(), presets);
    }

    #[test]
    fn options_are_those_of_the_setters() {
        let columns = made(&[
            ("level", "syntax".into()),
            ("drop_fragment", true.into()),
            ("base", "http://h/a".into()),
            ("lenient_scheme", true.into()),
            ("hash", "sha256".into()),
            ("on_invalid", "drop".into()),
        ])
        .unwrap();
        let context = Context::Base {
            base: BaseUri::new(b"http://h/a").unwrap(),
            options: resolve::Options::default().lenient_scheme(true),
        };
        let equivalence = Equivalence::default()
            .normalize(Options::new(Level::Syntax).drop_fragment(true))
            .context(Some(context));
        assert_eq!(
            columns.equivalence.meaning(columns.hash),
            equivalence.meaning(PublicHash::Sha256)
        );
        assert_eq!(columns.on_invalid, OnInvalid::Null);
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (options, expected) in [
            (&[("levels", "scheme".into())][..], "there is no option levels; there are level, "),
            (&[("level", true.into())], "level is a text"),
            (&[("rule", true.into())], "rule is a list of texts"),
            (&[("drop_fragment", "yes".into())], "drop_fragment is true or false"),
            (&[("profile", "chrome".into())], "profile=\"chrome\": there are "),
            (
                &[("profile", "surt".into()), ("drop_fragment", true.into())],
                "profile=\"surt\" has forms of its own: drop_fragment has no effect",
            ),
            (&[("hash", "md5".into())], "hash=\"md5\": there are blake3, sha256"),
            (&[("on_invalid", "null".into())], "on_invalid=\"null\": there are pass, drop, error"),
            (&[("preset", "all".into())], "preset=\"all\": there are "),
            (&[("rules", "mine".into())], "rules: there is no built-in rules file mine"),
            (&[("rule", "nothing".into())], "rule: "),
            (&[("no_rule", "fragment".into())], "no_rule=\"fragment\": the preset has no"),
            (&[("base", "a".into())], "the base is not a URI: "),
            (&[("suffix_scheme", "".into())], "suffix_scheme: "),
            (
                &[("base", "http://h/".into()), ("suffix_scheme", "https".into())],
                "either base or suffix_scheme",
            ),
            (&[("level", "scheme".into()), ("level", "syntax".into())], "level is given twice"),
        ] {
            let error = made(options).map(drop).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
