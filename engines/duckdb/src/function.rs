//! The functions, and what a call of one computes.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use uriscan::Error;
use uriscan::{resolve, surt};
use uriscan_arrow::{COMPONENTS, Columns, OnInvalid, OptionValue, is_part};
use uriscan_bulk::io::Selector;

use crate::vector::{Input, Output};

/// A function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Normalize,
    Key,
    KeyInt,
    Surt,
    Valid,
    Parse,
    Part,
    Domain,
    Resolve,
}

/// The type of a parameter or of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    Text,
    /// Text that need not be UTF-8.
    Bytes,
    /// A struct of options.
    Options,
    /// An unsigned number of 128 bits.
    Number,
    Boolean,
    /// A struct of texts, those of [`COMPONENTS`].
    Parts,
    /// The same of bytes.
    BytesParts,
}

impl Type {
    /// The type where texts are bytes.
    fn of_bytes(self) -> Type {
        match self {
            Type::Text => Type::Bytes,
            Type::Parts => Type::BytesParts,
            other => other,
        }
    }
}

impl Kind {
    pub(crate) const ALL: [Kind; 9] = [
        Kind::Normalize,
        Kind::Key,
        Kind::KeyInt,
        Kind::Surt,
        Kind::Valid,
        Kind::Parse,
        Kind::Part,
        Kind::Domain,
        Kind::Resolve,
    ];

    pub(crate) fn name(self) -> &'static core::ffi::CStr {
        match self {
            Kind::Normalize => c"uri_normalize",
            Kind::Key => c"uri_key",
            Kind::KeyInt => c"uri_key_int",
            Kind::Surt => c"uri_surt",
            Kind::Valid => c"uri_valid",
            Kind::Parse => c"uri_parse",
            Kind::Part => c"uri_part",
            Kind::Domain => c"uri_domain",
            Kind::Resolve => c"uri_resolve",
        }
    }

    /// The number of parameters that a call must have. All functions take options after them.
    fn required(self) -> usize {
        match self {
            Kind::Part | Kind::Resolve => 2,
            _ => 1,
        }
    }

    /// The parameters of each form of the function, without options, and its result: for texts, and for bytes, which give
    /// bytes. The target of a reference of bytes, or to a base of bytes, is bytes.
    pub(crate) fn forms(self) -> Vec<(Vec<Type>, Type)> {
        let (text, result) = (Type::Text, self.result());
        let bytes = text.of_bytes();
        let of_bytes = result.of_bytes();
        match self {
            // The name of a part is text.
            Kind::Part => vec![(vec![text, text], result), (vec![bytes, text], of_bytes)],
            Kind::Resolve => vec![
                (vec![text, text], result),
                (vec![bytes, bytes], of_bytes),
                (vec![bytes, text], of_bytes),
                (vec![text, bytes], of_bytes),
            ],
            _ => vec![(vec![text], result), (vec![bytes], of_bytes)],
        }
    }

    fn result(self) -> Type {
        match self {
            Kind::Key => Type::Bytes,
            Kind::KeyInt => Type::Number,
            Kind::Valid => Type::Boolean,
            Kind::Parse => Type::Parts,
            _ => Type::Text,
        }
    }
}

/// A function with what its calls have in common.
pub(crate) struct Function {
    kind: Kind,
    made: Mutex<HashMap<Options, Arc<Call>>>,
}

/// The options of a call, by name.
type Options = Vec<(String, OptionValue)>;

/// What is computed under some options.
struct Call {
    columns: Columns,
    form: surt::Form,
    relative: bool,
    lenient_scheme: bool,
}

/// Sets of options that are remembered for a function.
const REMEMBERED: usize = 64;

/// Bytes of text that are worked on at a time: less than what kernels would share among threads, as DuckDB has its own.
const BYTES: usize = 120 << 10;

impl Function {
    pub(crate) fn new(kind: Kind) -> Function {
        Function { kind, made: Mutex::default() }
    }

    /// Computes the results of all rows of `input` and writes them to `output`.
    ///
    /// # Errors
    /// Options that are wrong or differ from row to row, or an invalid value under `on_invalid: 'error'`.
    pub(crate) fn call(&self, input: &[Input<'_>], output: Output<'_>) -> Result<(), String> {
        let name = || self.kind.name().to_string_lossy();
        self.rows(input, output).map_err(|error| format!("{}: {error}", name()))
    }

    fn rows(&self, input: &[Input<'_>], output: Output<'_>) -> Result<(), String> {
        let (texts, rest) = input.split_first().ok_or("no argument")?;
        let options = match rest.get(self.kind.required() - 1) {
            Some(options) => options.options()?,
            None => Vec::new(),
        };
        let call = self.made(options)?;
        if self.kind == Kind::Resolve {
            let bases = rest[0].arrays(usize::MAX);
            // One array each, since nothing limits their size but 2 GiB.
            let references = texts.arrays(usize::MAX);
            let ([references], [bases]) = (&references[..], &bases[..]) else {
                return if texts.rows() == 0 {
                    Ok(())
                } else {
                    Err(Error::too_large().to_string())
                };
            };
            return output.write(0, &call.resolve(references, bases)?);
        }
        let part = match self.kind {
            Kind::Part => rest[0].constant("the name of the part")?,
            Kind::Domain => Some("domain".to_owned()),
            _ => None,
        };
        if let Some(name) = part.as_ref().filter(|name| !is_part(name)) {
            let names = COMPONENTS.join(", ");
            return Err(format!(
                "there is no part {name}; there are {names}, {}",
                Selector::OTHERS
            ));
        }
        let mut start = 0;
        for array in texts.arrays(BYTES) {
            let made = call.make(self.kind, &array, part.as_deref())?;
            output.write(start, &made)?;
            start += array.len();
        }
        Ok(())
    }

    /// What was made for these options, or is made now.
    fn made(&self, options: Vec<(String, OptionValue)>) -> Result<Arc<Call>, String> {
        let lock = || self.made.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(call) = lock().get(&options) {
            return Ok(Arc::clone(call));
        }
        let call = Arc::new(Call::new(self.kind, &options)?);
        let mut made = lock();
        if made.len() >= REMEMBERED {
            made.clear();
        }
        made.insert(options, Arc::clone(&call));
        Ok(call)
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
    let value = texts.as_binary::<i32>().value(row as usize);
    let shown = &value[..value.len().min(200)];
    format!("\"{}\": {error}", shown.escape_ascii())
}

impl Call {
    fn new(kind: Kind, options: &[(String, OptionValue)]) -> Result<Call, String> {
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
        let takes_others = !matches!(kind, Kind::Valid | Kind::Resolve);
        if let Some((name, _)) = others.first().filter(|_| !takes_others) {
            return Err(format!("there is no option {name}"));
        }
        let no_pack = |name: &str| Err(format!("there is no built-in rules file {name}"));
        let columns = Columns::from_options(others, no_pack).map_err(|error| error.to_string())?;
        // A target that there is none of is null, as in the other engines.
        let columns =
            if kind == Kind::Resolve { columns.on_invalid(OnInvalid::Null) } else { columns };
        Ok(Call { columns, form, relative, lenient_scheme })
    }

    fn make(&self, kind: Kind, texts: &dyn Array, part: Option<&str>) -> Result<ArrayRef, String> {
        let columns = &self.columns;
        let made = match kind {
            Kind::Normalize => columns.normalize(texts),
            Kind::Key | Kind::KeyInt => columns.key(texts),
            Kind::Surt => columns.surt(texts, self.form),
            Kind::Valid => columns.is_valid(texts, self.relative),
            Kind::Parse => columns.parse(texts),
            Kind::Part | Kind::Domain => match part {
                Some(part) => columns
                    .parse_some(texts, &[part])
                    .map(|parts| parts.as_struct().column(0).clone()),
                None => return Ok(arrow_array::new_null_array(texts.data_type(), texts.len())),
            },
            Kind::Resolve => return Err("takes two texts".to_owned()),
        };
        made.map_err(|error| message(error, texts))
    }

    fn resolve(&self, references: &dyn Array, bases: &dyn Array) -> Result<ArrayRef, String> {
        let options = resolve::Options::default().lenient_scheme(self.lenient_scheme);
        let made = self.columns.resolve_each(references, bases, options);
        made.map_err(|error| error.to_string())
    }
}
