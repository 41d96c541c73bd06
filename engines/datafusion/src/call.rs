//! What a call of a function computes under its options.

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, new_null_array};
use uriscan::Error;
use uriscan::{resolve, surt};
use uriscan_arrow::{COMPONENTS, Columns, OnInvalid, OptionValue, is_part};
use uriscan_bulk::io::Selector;

use crate::kind::Kind;

/// A function with its options.
pub(crate) struct Call {
    kind: Kind,
    columns: Columns,
    form: surt::Form,
    relative: bool,
    lenient_scheme: bool,
}

impl Call {
    /// # Errors
    /// An option that the function does not have, or a value that it cannot have.
    pub(crate) fn new(kind: Kind, options: &[(String, OptionValue)]) -> Result<Call, String> {
        let (mut relative, mut lenient_scheme, mut form) = (false, false, surt::Form::Cdxj);
        let mut others = Vec::new();
        for (name, value) in options {
            match (kind, &name[..], value) {
                (Kind::Valid, "relative", OptionValue::Flag(flag)) => relative = *flag,
                (Kind::Resolve, "lenient_scheme", OptionValue::Flag(flag)) => {
                    lenient_scheme = *flag;
                }
                (Kind::Surt, "form", OptionValue::Text(text)) => form = surt_form(text)?,
                _ => others.push((&name[..], value.clone())),
            }
        }
        if let (Kind::Valid | Kind::Resolve, Some((name, _))) = (kind, others.first()) {
            return Err(format!("there is no option {name}"));
        }
        let no_file = |name: &str| Err(format!("there is no built-in rules file {name}"));
        let columns = Columns::from_options(others, no_file).map_err(|error| error.to_string())?;
        // A reference without a target gives null, as in the other engines.
        let columns = match kind {
            Kind::Resolve => columns.on_invalid(OnInvalid::Null),
            _ => columns,
        };
        Ok(Call { kind, columns, form, relative, lenient_scheme })
    }

    /// The results for all rows. `other` is the base of each row, for [`Kind::Resolve`]; `part` the name of a part, for
    /// [`Kind::Part`], or null.
    ///
    /// # Errors
    /// A part that does not exist, or an invalid value under `on_invalid: 'error'`.
    pub(crate) fn run(
        &self,
        texts: &dyn Array,
        other: Option<&dyn Array>,
        part: Option<&str>,
    ) -> Result<ArrayRef, String> {
        let columns = &self.columns;
        let made = match self.kind {
            Kind::Normalize => columns.normalize(texts),
            Kind::Key => columns.key(texts),
            Kind::Surt => columns.surt(texts, self.form),
            Kind::Valid => columns.is_valid(texts, self.relative),
            Kind::Parse => columns.parse(texts),
            Kind::Domain => self.part(texts, "domain"),
            Kind::Part => match part {
                Some(name) if !is_part(name) => {
                    let names = COMPONENTS.join(", ");
                    return Err(format!(
                        "there is no part {name}; there are {names}, {}",
                        Selector::OTHERS
                    ));
                }
                Some(name) => self.part(texts, name),
                None => Ok(new_null_array(texts.data_type(), texts.len())),
            },
            Kind::Resolve => {
                let bases = other.ok_or("takes a reference and a base")?;
                let options = resolve::Options::default().lenient_scheme(self.lenient_scheme);
                columns.resolve_each(texts, bases, options)
            }
        };
        made.map_err(|error| message(error, texts))
    }

    /// One part. A part of what is not a reference is null, as all its parts are.
    fn part(&self, texts: &dyn Array, name: &str) -> Result<ArrayRef, Error> {
        self.columns.parse_some(texts, &[name]).map(|parts| parts.as_struct().column(0).clone())
    }
}

fn surt_form(name: &str) -> Result<surt::Form, String> {
    surt::Form::from_name(name).ok_or_else(|| {
        let names = surt::Form::ALL.map(surt::Form::name).join(", ");
        format!("form={name:?}: there are {names}")
    })
}

/// The text of an error. Which row of a table it was cannot be known here, so the value is shown.
fn message(error: Error, texts: &dyn Array) -> String {
    let (Some(row), Some(error)) = (error.row(), error.uri()) else { return error.to_string() };
    let row = row as usize;
    let value = texts
        .as_string_opt::<i32>()
        .map(|texts| texts.value(row))
        .or_else(|| texts.as_string_opt::<i64>().map(|texts| texts.value(row)))
        .or_else(|| texts.as_string_view_opt().map(|texts| texts.value(row)));
    let bytes = value.unwrap_or_default().as_bytes();
    format!("\"{}\": {error}", bytes[..bytes.len().min(200)].escape_ascii())
}
