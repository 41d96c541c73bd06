//! Values with names that completions offer, whatever else is accepted.

use std::ffi::OsStr;

use clap::builder::{PossibleValue, StringValueParser, TypedValueParser};

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
