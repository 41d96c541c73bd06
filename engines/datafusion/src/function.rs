//! The functions, as DataFusion calls them.

use std::collections::HashMap;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::{Arc, Mutex, PoisonError};

use arrow::datatypes::{DataType, Field, Fields};
use datafusion_common::{Result, exec_datafusion_err, exec_err, plan_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, Volatility,
};
use uriscan_arrow::{COMPONENTS, OptionValue};

use crate::bridge::{to_datafusion, to_uriscan};
use crate::call::Call;
use crate::kind::Kind;
use crate::options::{Options, constant_text, options};
use crate::parsed;

/// All functions of this crate, to be registered.
///
/// ```
/// let names: Vec<String> =
///     uriscan_datafusion::functions().iter().map(|function| function.name().to_owned()).collect();
/// assert_eq!(
///     names,
///     [
///         "uri_normalize", "uri_key", "uri_surt", "uri_valid", "uri_parse", "uri_part", "uri_domain",
///         "uri_resolve",
///     ]
/// );
/// ```
pub fn functions() -> Vec<ScalarUDF> {
    Kind::ALL.into_iter().map(|kind| ScalarUDF::from(Function::new(kind))).collect()
}

/// Sets of options that are remembered for a function.
const REMEMBERED: usize = 64;

struct Function {
    kind: Kind,
    signature: Signature,
    /// What was made for options, which are the same from batch to batch.
    made: Mutex<HashMap<Options, Arc<Call>>>,
}

impl Function {
    fn new(kind: Kind) -> Function {
        let signature = Signature::user_defined(Volatility::Immutable);
        Function { kind, signature, made: Mutex::default() }
    }

    /// The options in the arguments after the texts that a call must have.
    fn options(&self, rest: &[ColumnarValue]) -> Result<Options> {
        let Some(first) = rest.first() else { return Ok(Vec::new()) };
        if !is_text(&first.data_type()) {
            return options(first);
        }
        let mut found = Vec::new();
        for (name, value) in self.kind.positional().iter().zip(rest) {
            let text = constant_text(value, name)?;
            found.extend(text.map(|text| ((*name).to_owned(), OptionValue::Text(text))));
        }
        Ok(found)
    }

    fn call(&self, options: Options) -> Result<Arc<Call>, String> {
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

    fn run(&self, args: &ScalarFunctionArgs) -> Result<arrow::array::ArrayRef> {
        let (given, rest) = args.args.split_at(self.kind.texts());
        let wrong = |error: String| exec_datafusion_err!("{error}");
        let call = self.call(self.options(rest)?).map_err(wrong)?;
        let given_texts = given[0].to_array(args.number_rows)?;
        let texts = to_uriscan(&given_texts)?;
        let made = match self.kind {
            Kind::Resolve => {
                let bases = to_uriscan(&given[1].to_array(args.number_rows)?)?;
                call.run(&texts, Some(&bases), None)
            }
            Kind::Part => {
                let name = constant_text(&given[1], "the name of the part")?;
                call.run(&texts, None, name.as_deref())
            }
            Kind::Parse => {
                let parse = || to_datafusion(&call.run(&texts, None, None).map_err(wrong)?);
                return parsed::once(&given_texts, &call, parse);
            }
            _ => call.run(&texts, None, None),
        };
        to_datafusion(&made.map_err(wrong)?)
    }
}

// DataFusion compares functions: those of one kind are the same, whatever they remember.
impl PartialEq for Function {
    fn eq(&self, other: &Function) -> bool {
        self.kind == other.kind
    }
}

impl Eq for Function {}

impl Hash for Function {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.kind.hash(state);
    }
}

impl fmt::Debug for Function {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Function").field("kind", &self.kind).finish_non_exhaustive()
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn coerce_types(&self, types: &[DataType]) -> Result<Vec<DataType>> {
        let (name, texts) = (self.kind.name(), self.kind.texts());
        if types.len() < texts {
            return plan_err!("{name} takes {texts} texts");
        }
        let (given, rest) = types.split_at(texts);
        let mut coerced = given.iter().map(|of| text_type(name, of)).collect::<Result<Vec<_>>>()?;
        match rest {
            [] => {}
            [DataType::Struct(_) | DataType::Null] => coerced.extend_from_slice(rest),
            _ if rest.len() <= self.kind.positional().len() && rest.iter().all(is_text) => {
                coerced.extend_from_slice(rest);
            }
            [_] => return plan_err!("{name}: options are a struct, such as {{'level': 'syntax'}}"),
            _ => return plan_err!("{name} takes {texts} texts and options"),
        }
        // Two arrays of one kernel are of one type.
        if self.kind == Kind::Resolve {
            coerced[1] = coerced[0].clone();
        }
        Ok(coerced)
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match self.kind {
            Kind::Key => DataType::FixedSizeBinary(16),
            Kind::Valid => DataType::Boolean,
            Kind::Parse => {
                let field = |name: &&str| Field::new(*name, types[0].clone(), true);
                DataType::Struct(COMPONENTS.iter().map(field).collect::<Fields>())
            }
            _ => types[0].clone(),
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        match self.run(&args) {
            Ok(made) => Ok(ColumnarValue::Array(made)),
            Err(error) => exec_err!("{}: {}", self.kind.name(), error.message()),
        }
    }
}

fn is_text(of: &DataType) -> bool {
    matches!(of, DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View)
}

/// The type of text that an argument of this type is read as.
fn text_type(name: &str, of: &DataType) -> Result<DataType> {
    match of {
        DataType::Null => Ok(DataType::Utf8),
        DataType::Dictionary(_, values) => text_type(name, values),
        _ if is_text(of) => Ok(of.clone()),
        _ => plan_err!("{name} takes texts, not {of}"),
    }
}
