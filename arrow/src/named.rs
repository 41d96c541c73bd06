//! Columns by the names of options, as SQL engines and Python pass them.

use core::fmt;
use std::sync::Arc;

use super::{Columns, OnInvalid};
use uriscan_bulk::pipeline::Equivalence;
use uriscan_core::context::Context;
use uriscan_core::key::PublicHash;
use uriscan_core::normalize::{Level, Options};
use uriscan_core::profile::Profile;
use uriscan_core::repair::{Repair, Repairs};
use uriscan_core::resolve::{self, BaseUri, Suffix};
use uriscan_core::rules::{Pack, Preset, Rule, RuleSet};

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

/// Options as they come in, until all are known.
#[derive(Default)]
struct Named {
    level: Level,
    drop_fragment: bool,
    preset: Option<String>,
    rule: Vec<String>,
    rules: Vec<String>,
    no_rule: Vec<String>,
    iri: bool,
    repair: Vec<String>,
    base: Option<String>,
    lenient_scheme: bool,
    suffix_scheme: Option<String>,
    profile: Option<Profile>,
    hash: PublicHash,
    on_invalid: OnInvalid,
}

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

/// The names of the presets.
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

    /// Columns under options given by their names, which are those of [`Columns::OPTIONS`]. `rules` are built-in packs, or what
    /// `read_pack` gives for a name.
    ///
    /// ```
    /// use arrow_array::{StringArray, cast::AsArray};
    /// use uriscan_arrow::Columns;
    /// let no_pack = |name: &str| Err(format!("there is no built-in rules file {name}"));
    /// let options = [("preset", "crawl".into()), ("on_invalid", "drop".into())];
    /// let columns = Columns::from_options(options, no_pack).unwrap();
    /// let forms = columns.normalize(&StringArray::from(vec!["http://H/?utm_source=x#y"])).unwrap();
    /// assert_eq!(forms.as_string::<i32>().value(0), "http://h/");
    ///
    /// let error = Columns::from_options([("level", "host".into())], no_pack).unwrap_err();
    /// assert_eq!(error.to_string(), r#"level="host": there are string, syntax, scheme"#);
    /// ```
    ///
    /// # Errors
    /// An option that does not exist or is given twice, a value that it cannot have, or options that contradict each other.
    pub fn from_options<'a>(
        options: impl IntoIterator<Item = (&'a str, OptionValue)>,
        read_pack: impl Fn(&str) -> Result<Pack, String>,
    ) -> Result<Columns, OptionError> {
        let mut named = Named::default();
        let mut given = Vec::new();
        for (name, value) in options {
            if given.contains(&name) {
                return Err(OptionError(format!("{name} is given twice")));
            }
            given.push(name);
            named.set(name, value)?;
        }
        named.columns(&read_pack)
    }
}

impl Named {
    fn set(&mut self, name: &str, value: OptionValue) -> Result<(), OptionError> {
        match name {
            "drop_fragment" => self.drop_fragment = flag(name, &value)?,
            "iri" => self.iri = flag(name, &value)?,
            "lenient_scheme" => self.lenient_scheme = flag(name, &value)?,
            "rule" => self.rule = list(name, value)?,
            "rules" => self.rules = list(name, value)?,
            "no_rule" => self.no_rule = list(name, value)?,
            "repair" => self.repair = list(name, value)?,
            "preset" => self.preset = Some(text(name, value)?),
            "base" => self.base = Some(text(name, value)?),
            "suffix_scheme" => self.suffix_scheme = Some(text(name, value)?),
            "level" => {
                let text = text(name, value)?;
                self.level = option::LEVEL.known(&text, Level::from_name(&text))?;
            }
            "profile" => {
                let text = text(name, value)?;
                self.profile = Some(option::PROFILE.known(&text, Profile::from_name(&text))?);
            }
            "hash" => {
                let text = text(name, value)?;
                self.hash = option::HASH.known(&text, PublicHash::from_name(&text))?;
            }
            "on_invalid" => {
                let text = text(name, value)?;
                let found = POLICIES.into_iter().find(|(known, _)| *known == text);
                self.on_invalid =
                    option::ON_INVALID.known(&text, found.map(|(_, policy)| policy))?;
            }
            _ => {
                let names = Columns::OPTIONS.map(|option| option.name).join(", ");
                return Err(OptionError(format!("there is no option {name}; there are {names}")));
            }
        }
        Ok(())
    }

    fn columns(
        self,
        read_pack: &dyn Fn(&str) -> Result<Pack, String>,
    ) -> Result<Columns, OptionError> {
        if let (Some(profile), Some(other)) = (self.profile, self.beside_profile()) {
            let what =
                format!("profile={:?} has forms of its own: {other} has no effect", profile.name());
            return Err(OptionError(what));
        }
        let rules = self.rule_set(read_pack)?;
        let context = match (&self.base, &self.suffix_scheme) {
            (None, None) => None,
            (Some(_), Some(_)) => {
                return Err(OptionError("either base or suffix_scheme, not both".to_owned()));
            }
            (Some(base), None) => {
                let options = resolve::Options::default().lenient_scheme(self.lenient_scheme);
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
            .normalize(Options::new(self.level).drop_fragment(self.drop_fragment))
            .rules(rules)
            .repairs(repairs(self.iri, &self.repair)?)
            .profile(self.profile);
        Ok(Columns::new(equivalence).hash(self.hash).on_invalid(self.on_invalid))
    }

    /// An option that means nothing under a profile, if one was given.
    fn beside_profile(&self) -> Option<&'static str> {
        let given = [
            ("level", self.level != Level::default()),
            ("drop_fragment", self.drop_fragment),
            ("preset", self.preset.is_some()),
            ("rule", !self.rule.is_empty()),
            ("rules", !self.rules.is_empty()),
            ("no_rule", !self.no_rule.is_empty()),
            ("iri", self.iri),
            ("repair", !self.repair.is_empty()),
            ("base", self.base.is_some()),
            ("lenient_scheme", self.lenient_scheme),
            ("suffix_scheme", self.suffix_scheme.is_some()),
        ];
        given.into_iter().find(|(_, is_given)| *is_given).map(|(name, _)| name)
    }

    fn rule_set(
        &self,
        read_pack: &dyn Fn(&str) -> Result<Pack, String>,
    ) -> Result<Option<Arc<RuleSet>>, OptionError> {
        let mut builder = RuleSet::builder();
        if let Some(name) = &self.preset {
            let preset = option::PRESET.known(name, Preset::from_name(name))?;
            builder.preset(&preset).map_err(|error| wrong("preset", error))?;
        }
        for name in &self.rules {
            let pack = Pack::built_in(name).map_or_else(|| read_pack(name), Ok);
            builder.pack(&pack.map_err(|error| wrong("rules", error))?);
        }
        for name in &self.no_rule {
            let rule = option::NO_RULE.known(name, Rule::from_name(name))?;
            if !builder.without(rule) {
                let text = format!("no_rule={name:?}: the preset has no such rule");
                return Err(OptionError(text));
            }
        }
        for rule in &self.rule {
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

fn flag(name: &str, value: &OptionValue) -> Result<bool, OptionError> {
    match value {
        OptionValue::Flag(value) => Ok(*value),
        _ => Err(OptionError(format!("{name} is true or false"))),
    }
}

fn text(name: &str, value: OptionValue) -> Result<String, OptionError> {
    match value {
        OptionValue::Text(value) => Ok(value),
        _ => Err(OptionError(format!("{name} is a text"))),
    }
}

fn list(name: &str, value: OptionValue) -> Result<Vec<String>, OptionError> {
    match value {
        OptionValue::Text(value) => Ok(vec![value]),
        OptionValue::List(values) => Ok(values),
        OptionValue::Flag(_) => Err(OptionError(format!("{name} is a list of texts"))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(options: &[(&str, OptionValue)]) -> Result<Columns, String> {
        let no_pack = |name: &str| Err(format!("there is no built-in rules file {name}"));
        Columns::from_options(options.iter().cloned(), no_pack).map_err(|error| error.to_string())
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
