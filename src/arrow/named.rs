//! Columns by the names of options, as SQL engines and Python pass them.

use core::fmt;
use std::sync::Arc;

use super::{Columns, OnInvalid};
use crate::key::PublicHash;
use crate::normalize::{Options, Rung};
use crate::pipeline::Equivalence;
use crate::profile::Profile;
use crate::repair::{Repair, Repairs};
use crate::resolve::{self, BaseUri, Context, Suffix};
use crate::rules::{Pack, Preset, Rule, RuleSet};

/// The value of an option that is given by its name.
///
/// ```
/// use uriscan::arrow::OptionValue;
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
    rung: Rung,
    drop_fragment: bool,
    preset: Option<String>,
    rules: Vec<String>,
    without_rules: Vec<String>,
    packs: Vec<String>,
    repair: Vec<String>,
    base: Option<String>,
    lenient_scheme: bool,
    suffix_scheme: Option<String>,
    profile: Option<Profile>,
    hash: PublicHash,
    on_invalid: OnInvalid,
}

impl Columns {
    /// The names that [`Columns::from_options`] takes.
    pub const OPTIONS: [&str; 13] = [
        "rung",
        "drop_fragment",
        "preset",
        "rules",
        "without_rules",
        "packs",
        "repair",
        "base",
        "lenient_scheme",
        "suffix_scheme",
        "profile",
        "hash",
        "on_invalid",
    ];

    /// Columns under options given by their names, those of the keywords in Python and of the
    /// options of the program: `rung`, `drop_fragment`, `preset`, `rules`, `without_rules`, `packs`
    /// (built-in ones, or what `read_pack` gives for a name), `repair`, `base`, `lenient_scheme`,
    /// `suffix_scheme`, `profile`, `hash` (`blake3` or `sha256`) and `on_invalid` (`pass`, `null` or
    /// `error`).
    ///
    /// ```
    /// use arrow_array::{StringArray, cast::AsArray};
    /// use uriscan::arrow::Columns;
    /// let no_pack = |name: &str| Err(format!("there is no pack {name}"));
    /// let options = [("preset", "crawl".into()), ("on_invalid", "null".into())];
    /// let columns = Columns::from_options(options, no_pack).unwrap();
    /// let forms = columns.normalize(&StringArray::from(vec!["http://H/?utm_source=x#y"])).unwrap();
    /// assert_eq!(forms.as_string::<i32>().value(0), "http://h/");
    ///
    /// let error = Columns::from_options([("rung", "host".into())], no_pack).unwrap_err();
    /// assert_eq!(error.to_string(), r#"rung="host": there are string, syntax, scheme"#);
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
            "lenient_scheme" => self.lenient_scheme = flag(name, &value)?,
            "rules" => self.rules = list(name, value)?,
            "without_rules" => self.without_rules = list(name, value)?,
            "packs" => self.packs = list(name, value)?,
            "repair" => self.repair = list(name, value)?,
            "preset" => self.preset = Some(text(name, value)?),
            "base" => self.base = Some(text(name, value)?),
            "suffix_scheme" => self.suffix_scheme = Some(text(name, value)?),
            "rung" => {
                let text = text(name, value)?;
                let names = Rung::ALL.map(Rung::name);
                self.rung = named(name, &text, Rung::from_name(&text), names)?;
            }
            "profile" => {
                let text = text(name, value)?;
                let names = Profile::ALL.map(Profile::name);
                self.profile = Some(named(name, &text, Profile::from_name(&text), names)?);
            }
            "hash" => {
                let text = text(name, value)?;
                let names = PublicHash::ALL.map(PublicHash::name);
                self.hash = named(name, &text, PublicHash::from_name(&text), names)?;
            }
            "on_invalid" => {
                let text = text(name, value)?;
                let found = match &text[..] {
                    "pass" => Some(OnInvalid::Pass),
                    "null" => Some(OnInvalid::Null),
                    "error" => Some(OnInvalid::Fail),
                    _ => None,
                };
                self.on_invalid = named(name, &text, found, ["pass", "null", "error"])?;
            }
            _ => {
                let names = Columns::OPTIONS.join(", ");
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
                    .map_err(|error| OptionError(format!("the base is no URI: {error}")))?;
                Some(Context::Base { base, options })
            }
            (None, Some(scheme)) => {
                let suffix = Suffix::new(scheme).map_err(|error| wrong("suffix_scheme", error))?;
                Some(Context::Suffix(suffix))
            }
        };
        let equivalence = Equivalence::default()
            .context(context)
            .normalize(Options::new(self.rung).drop_fragment(self.drop_fragment))
            .rules(rules)
            .repairs(repairs(&self.repair)?)
            .profile(self.profile);
        Ok(Columns::new(equivalence).hash(self.hash).on_invalid(self.on_invalid))
    }

    /// An option that means nothing under a profile, if one was given.
    fn beside_profile(&self) -> Option<&'static str> {
        let given = [
            ("rung", self.rung != Rung::default()),
            ("drop_fragment", self.drop_fragment),
            ("preset", self.preset.is_some()),
            ("rules", !self.rules.is_empty()),
            ("without_rules", !self.without_rules.is_empty()),
            ("packs", !self.packs.is_empty()),
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
            let names = Preset::newest().into_iter().map(|preset| preset.name);
            let preset = named("preset", name, Preset::from_name(name), names)?;
            builder.preset(&preset).map_err(|error| wrong("preset", error))?;
        }
        for name in &self.packs {
            let pack = Pack::built_in(name).map_or_else(|| read_pack(name), Ok);
            builder.pack(&pack.map_err(|error| wrong("packs", error))?);
        }
        for name in &self.without_rules {
            let names = Rule::ALL.into_iter().map(Rule::name);
            let rule = named("without_rules", name, Rule::from_name(name), names)?;
            if !builder.without(rule) {
                let text = format!("without_rules={name:?}: the preset has no such rule");
                return Err(OptionError(text));
            }
        }
        for rule in &self.rules {
            builder.rule(rule).map_err(|error| wrong("rules", error))?;
        }
        let rules = builder.build().map_err(|error| wrong("rules", error))?;
        Ok((!rules.is_empty()).then(|| Arc::new(rules)))
    }
}

fn repairs(names: &[String]) -> Result<Repairs, OptionError> {
    let mut repairs = Repairs::default();
    for name in names {
        repairs = match name.as_str() {
            "all" => repairs.or(Repairs::usual()),
            name => {
                let names = Repair::ALL.into_iter().map(Repair::name).chain(["all"]);
                repairs.with(named("repair", name, Repair::from_name(name), names)?)
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
        let no_pack = |name: &str| Err(format!("there is no pack {name}"));
        Columns::from_options(options.iter().cloned(), no_pack).map_err(|error| error.to_string())
    }

    #[test]
    fn every_option_can_be_given() {
        for name in Columns::OPTIONS {
            let value: OptionValue = match name {
                "drop_fragment" | "lenient_scheme" => true.into(),
                "rung" => "syntax".into(),
                "preset" => "log".into(),
                "rules" => vec!["fragment".to_owned()].into(),
                "without_rules" => continue,
                "packs" => "tracking".into(),
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
        let with_preset = [("preset", "crawl".into()), ("without_rules", "session-id".into())];
        assert!(made(&with_preset).is_ok());
    }

    #[test]
    fn options_are_those_of_the_setters() {
        let columns = made(&[
            ("rung", "syntax".into()),
            ("drop_fragment", true.into()),
            ("base", "http://h/a".into()),
            ("lenient_scheme", true.into()),
            ("hash", "sha256".into()),
            ("on_invalid", "null".into()),
        ])
        .unwrap();
        let context = Context::Base {
            base: BaseUri::new(b"http://h/a").unwrap(),
            options: resolve::Options::default().lenient_scheme(true),
        };
        let equivalence = Equivalence::default()
            .normalize(Options::new(Rung::Syntax).drop_fragment(true))
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
            (&[("rungs", "scheme".into())][..], "there is no option rungs; there are rung, "),
            (&[("rung", true.into())], "rung is a text"),
            (&[("rules", true.into())], "rules is a list of texts"),
            (&[("drop_fragment", "yes".into())], "drop_fragment is true or false"),
            (&[("profile", "chrome".into())], "profile=\"chrome\": there are "),
            (
                &[("profile", "surt".into()), ("drop_fragment", true.into())],
                "profile=\"surt\" has forms of its own: drop_fragment has no effect",
            ),
            (&[("hash", "md5".into())], "hash=\"md5\": there are blake3, sha256"),
            (&[("on_invalid", "drop".into())], "on_invalid=\"drop\": there are pass, null, error"),
            (&[("preset", "all".into())], "preset=\"all\": there are "),
            (&[("packs", "mine".into())], "packs: there is no pack mine"),
            (&[("rules", "nothing".into())], "rules: "),
            (
                &[("without_rules", "fragment".into())],
                "without_rules=\"fragment\": the preset has no",
            ),
            (&[("base", "a".into())], "the base is no URI: "),
            (&[("suffix_scheme", "".into())], "suffix_scheme: "),
            (
                &[("base", "http://h/".into()), ("suffix_scheme", "https".into())],
                "either base or suffix_scheme",
            ),
            (&[("rung", "scheme".into()), ("rung", "syntax".into())], "rung is given twice"),
        ] {
            let error = made(options).map(drop).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
    }
}
