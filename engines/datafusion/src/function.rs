//! The functions.

use arrow::datatypes::DataType;
use arrow_array::cast::AsArray;
use datafusion_common::{DataFusionError, Result, ScalarValue, exec_err};
use datafusion_expr::{
    ColumnarValue, ScalarFunctionArgs, ScalarUDF, ScalarUDFImpl, Signature, TypeSignature,
    Volatility,
};
use uriscan::arrow::{COMPONENTS, Columns, OnInvalid};
use uriscan::key::PublicHash;
use uriscan::normalize::{Options, Rung};
use uriscan::pipeline::Equivalence;
use uriscan::resolve;

use crate::bridge::{to_datafusion, to_uriscan};

/// All functions of this crate, to be registered.
///
/// ```
/// let names: Vec<String> =
///     uriscan_datafusion::functions().iter().map(|function| function.name().to_owned()).collect();
/// assert_eq!(names, ["uri_normalize", "uri_key", "uri_part", "uri_resolve", "uri_valid"]);
/// ```
pub fn functions() -> Vec<ScalarUDF> {
    Kind::ALL.into_iter().map(|kind| ScalarUDF::from(Function::new(kind))).collect()
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Kind {
    Normalize,
    Key,
    Part,
    Resolve,
    Valid,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Normalize, Kind::Key, Kind::Part, Kind::Resolve, Kind::Valid];

    fn name(self) -> &'static str {
        match self {
            Kind::Normalize => "uri_normalize",
            Kind::Key => "uri_key",
            Kind::Part => "uri_part",
            Kind::Resolve => "uri_resolve",
            Kind::Valid => "uri_valid",
        }
    }
}

#[derive(Debug, PartialEq, Eq, Hash)]
struct Function {
    kind: Kind,
    signature: Signature,
}

impl Function {
    fn new(kind: Kind) -> Function {
        // All arguments come as text of one type.
        let counts: &[usize] = match kind {
            Kind::Normalize => &[1, 2],
            Kind::Key => &[1, 2, 3],
            Kind::Part | Kind::Resolve => &[2],
            Kind::Valid => &[1],
        };
        let texts = counts.iter().map(|&count| TypeSignature::String(count)).collect();
        Function { kind, signature: Signature::one_of(texts, Volatility::Immutable) }
    }
}

impl ScalarUDFImpl for Function {
    fn name(&self) -> &str {
        self.kind.name()
    }

    fn signature(&self) -> &Signature {
        &self.signature
    }

    fn return_type(&self, types: &[DataType]) -> Result<DataType> {
        Ok(match self.kind {
            Kind::Normalize | Kind::Part | Kind::Resolve => types[0].clone(),
            Kind::Key => DataType::FixedSizeBinary(16),
            Kind::Valid => DataType::Boolean,
        })
    }

    fn invoke_with_args(&self, args: ScalarFunctionArgs) -> Result<ColumnarValue> {
        let texts = to_uriscan(&args.args[0].to_array(args.number_rows)?)?;
        let second = args.args.get(1);
        let mut columns = Columns::default();
        let made = match self.kind {
            Kind::Normalize | Kind::Key => {
                if let Some(rung) = second {
                    let normalize = Options::new(rung_of(rung)?);
                    columns.equivalence = Equivalence::from(normalize);
                }
                if let Some(hash) = args.args.get(2) {
                    columns.hash = hash_of(hash)?;
                }
                match self.kind {
                    Kind::Key => columns.key(&texts),
                    _ => columns.normalize(&texts),
                }
            }
            Kind::Part => {
                let name = constant(second)?;
                let Some(at) = COMPONENTS.iter().position(|known| *known == name) else {
                    return exec_err!(
                        "uri_part: there is no {name}; there are {}",
                        COMPONENTS.join(", ")
                    );
                };
                columns.parse(&texts).map(|parts| {
                    let parts = parts.as_struct();
                    // A part of what is no reference is null, as all its parts are.
                    parts.column(at).clone()
                })
            }
            Kind::Resolve => {
                columns.on_invalid = OnInvalid::Null;
                let bases = to_uriscan(&args.args[1].to_array(args.number_rows)?)?;
                columns.resolve_each(&texts, &bases, resolve::Options::default())
            }
            Kind::Valid => columns.is_valid(&texts, false),
        };
        let made = made.map_err(|error| DataFusionError::External(error.into()))?;
        Ok(ColumnarValue::Array(to_datafusion(&made)?))
    }
}

/// The text of an argument that is the same for all rows.
fn constant(argument: Option<&ColumnarValue>) -> Result<String> {
    match argument {
        Some(ColumnarValue::Scalar(
            ScalarValue::Utf8(Some(text))
            | ScalarValue::LargeUtf8(Some(text))
            | ScalarValue::Utf8View(Some(text)),
        )) => Ok(text.clone()),
        _ => exec_err!("all arguments but the first must be constant texts"),
    }
}

fn rung_of(argument: &ColumnarValue) -> Result<Rung> {
    match &constant(Some(argument))?[..] {
        "string" => Ok(Rung::String),
        "syntax" => Ok(Rung::Syntax),
        "scheme" => Ok(Rung::Scheme),
        other => exec_err!("there is no rung {other}; there are string, syntax and scheme"),
    }
}

fn hash_of(argument: &ColumnarValue) -> Result<PublicHash> {
    let name = constant(Some(argument))?;
    let names = PublicHash::ALL.map(PublicHash::name).join(" and ");
    match PublicHash::from_name(&name) {
        Some(hash) => Ok(hash),
        None => exec_err!("there is no hash {name}; there are {names}"),
    }
}
