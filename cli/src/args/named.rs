//! Values with names that completions offer, whatever else is accepted.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};

/// Values of the library, each with its name and what help says of it; the first one is the default.
pub(crate) type Choices<T> = &'static [(T, &'static str, &'static str)];

/// The names of `choices` as help lists them.
pub(super) fn listed<T>(choices: Choices<T>) -> impl Iterator<Item = PossibleValue> {
    choices.iter().map(|(_, name, help)| {
        let value = PossibleValue::new(*name);
        if help.is_empty() { value } else { value.help(*help) }
    })
}

/// The one of `choices` called `name`.
pub(super) fn chosen<T: Clone>(choices: Choices<T>, name: &str) -> Option<T> {
    choices.iter().find(|(_, known, _)| *known == name).map(|(value, ..)| value.clone())
}

/// One of `choices`.
pub(super) fn choice<T: Clone + Send + Sync>(
    choices: Choices<T>,
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(listed(choices));
    names.try_map(|name| chosen(choices, &name).ok_or("unknown value"))
}

/// A parser that also knows names to offer.
#[derive(Clone)]
pub(super) struct Named<P> {
    inner: P,
    names: Vec<&'static str>,
}

/// Text, with these names on offer.
pub(super) fn suggested(names: impl IntoIterator<Item = &'static str>) -> Named<StringValueParser> {
    named(StringValueParser::new(), names)
}

/// What `inner` accepts, with these names on offer.
pub(super) fn named<P: TypedValueParser>(
    inner: P,
    names: impl IntoIterator<Item = &'static str>,
) -> Named<P> {
    Named { inner, names: names.into_iter().collect() }
}

impl<P: TypedValueParser> TypedValueParser for Named<P> {
    type Value = P::Value;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        typed: &OsStr,
    ) -> Result<P::Value, clap::Error> {
        self.inner.parse_ref(command, arg, typed)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        Some(Box::new(self.names.iter().map(|&name| PossibleValue::new(name))))
    }
}
