//! When two values are equivalent, and all that is done with columns under it.

use std::collections::BTreeMap;
use std::path::Path;

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rayon::prelude::*;
use uriscan::Error;
use uriscan::extract::Extractor;
use uriscan::key::PublicHash;
use uriscan::resolve;
use uriscan::rules::RulesFile;
use uriscan::set::Meaning;
use uriscan::surt;
use uriscan_arrow::{COMPONENTS, Columns, OnInvalid, OptionKind, OptionValue, is_part};
use uriscan_bulk::io::Selector;
use uriscan_bulk::pipeline::{
    ExplainFormat, ExplainOptions, Keep, Select, explain_one, explain_pair,
};

use crate::arguments::{base_uri, named, wrong};
use crate::classes::Classes;
use crate::column::Column;
use crate::find::Find;
use crate::{capsule, errors, findings, params, texts, watch};

/// Bytes of a column that take no time.
const SHORT: usize = 1 << 20;

/// What makes two values equivalent, the hash of keys, and what becomes of invalid values.
#[pyclass(frozen, module = "uriscan._uriscan")]
#[derive(Clone, Debug)]
pub(crate) struct Form(Columns);

/// The options of the library: the name of each, whether it is a `flag`, a `text` or a `list`, and the values that it can have, if
/// these are from a list.
#[pyfunction]
pub(crate) fn options() -> Vec<(&'static str, &'static str, Vec<&'static str>)> {
    let kind = |kind| match kind {
        OptionKind::Flag => "flag",
        OptionKind::Text => "text",
        OptionKind::List => "list",
    };
    Columns::OPTIONS.map(|option| (option.name, kind(option.kind), option.values())).to_vec()
}

/// The rules file in the file of that name.
pub(crate) fn read_rules(name: &str) -> Result<RulesFile, String> {
    let read = RulesFile::read(Path::new(name)).map_err(|error| error.to_string());
    read.map(|(rules_file, _)| rules_file)
}

impl Form {
    pub(crate) fn columns(&self) -> &Columns {
        &self.0
    }

    pub(crate) fn meaning(&self) -> Meaning {
        self.0.equivalence.meaning(self.0.hash)
    }

    /// `kernel` of every chunk of `column`, on all threads.
    fn each(
        &self,
        py: Python<'_>,
        column: &Column,
        kernel: impl Fn(&Columns, &ArrayRef) -> Result<ArrayRef, Error> + Sync,
    ) -> PyResult<Column> {
        let made: Vec<_> = match column.chunks() {
            // One value is no work for other threads, unless it is a long document.
            [one] if one.len() <= 1 && one.get_buffer_memory_size() < SHORT => {
                vec![watch::caught(py, || Ok(py.detach(|| kernel(&self.0, one))))?]
            }
            several => watch::install(py, |stop| {
                let columns = self.0.clone().stop(Some(stop.clone()));
                several.par_iter().map(|chunk| kernel(&columns, chunk)).collect()
            })?,
        };
        let mut row = 0;
        let mut chunks = Vec::with_capacity(made.len());
        for (made, given) in made.into_iter().zip(column.chunks()) {
            chunks.push(made.map_err(|error| errors::of_column(py, error, row))?);
            row += given.len();
        }
        Ok(Column::new(&DataType::Null, chunks))
    }
}

#[pymethods]
impl Form {
    /// Under keywords that are options of the library; what is missing or `None` is as by default.
    #[new]
    #[pyo3(signature = (**options))]
    fn new(options: Option<&Bound<'_, PyDict>>) -> PyResult<Form> {
        let mut named = Vec::new();
        for (name, value) in options.into_iter().flatten() {
            let name: String = name.extract()?;
            let known = Columns::OPTIONS.into_iter().find(|option| option.name == name);
            let known = known.filter(|option| option.name != "hash").ok_or_else(|| {
                PyTypeError::new_err(format!("there is no keyword {name:?} here"))
            })?;
            if !value.is_none() {
                named.push((
                    known.name,
                    match known.kind {
                        OptionKind::Flag => OptionValue::Flag(value.extract()?),
                        OptionKind::Text => OptionValue::Text(value.extract()?),
                        OptionKind::List => OptionValue::List(value.extract()?),
                    },
                ));
            }
        }
        Columns::from_options(named, read_rules).map(Form).map_err(wrong)
    }

    /// The same with public keys by `hash`. It is not among the keywords of [`Form::new`], as most functions have no use
    /// for it and are to refuse it.
    fn hashed(&self, hash: &str) -> PyResult<Form> {
        let names = PublicHash::ALL.map(PublicHash::name);
        let hash = named("hash", hash, PublicHash::from_name(hash), names)?;
        Ok(Form(self.0.clone().hash(hash)))
    }

    /// What is mixed into public keys, if anything is.
    #[getter]
    fn key_context(&self) -> Option<String> {
        self.0.equivalence.key_context()
    }

    fn normalize(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        self.each(py, column.get(), |columns, chunk| columns.normalize(chunk))
    }

    fn surt(&self, py: Python<'_>, column: &Bound<'_, Column>, form: &str) -> PyResult<Column> {
        let form = surt_form("form", form)?;
        self.each(py, column.get(), |columns, chunk| columns.surt(chunk, form))
    }

    fn key(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        self.each(py, column.get(), |columns, chunk| columns.key(chunk))
    }

    fn parse(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        self.each(py, column.get(), |columns, chunk| columns.parse(chunk))
    }

    fn changes(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        self.each(py, column.get(), |columns, chunk| columns.changes(chunk))
    }

    fn check(
        &self,
        py: Python<'_>,
        column: &Bound<'_, Column>,
        relative: bool,
    ) -> PyResult<Column> {
        self.each(py, column.get(), |columns, chunk| columns.check(chunk, relative))
    }

    fn is_valid(
        &self,
        py: Python<'_>,
        column: &Bound<'_, Column>,
        relative: bool,
    ) -> PyResult<Column> {
        self.each(py, column.get(), |columns, chunk| columns.is_valid(chunk, relative))
    }

    fn resolve(
        &self,
        py: Python<'_>,
        column: &Bound<'_, Column>,
        base: &str,
        lenient_scheme: bool,
    ) -> PyResult<Column> {
        let base = base_uri(base)?;
        let options = resolve::Options::default().lenient_scheme(lenient_scheme);
        self.each(py, column.get(), |columns, chunk| columns.resolve(chunk, &base, options))
    }

    /// Against the base in the same row.
    fn resolve_each(
        &self,
        py: Python<'_>,
        column: &Bound<'_, Column>,
        bases: &Bound<'_, Column>,
        lenient_scheme: bool,
    ) -> PyResult<Column> {
        let (column, bases) = (column.get(), bases.get());
        if column.len() != bases.len() {
            let error = Error::lengths(column.len(), bases.len());
            return Err(errors::of_column(py, error, 0));
        }
        let bases = bases.together().map_err(capsule::refused)?;
        let options = resolve::Options::default().lenient_scheme(lenient_scheme);
        let (mut row, mut made) = (0, Vec::new());
        for chunk in column.chunks() {
            let bases = bases.slice(row, chunk.len());
            let targets = watch::install(py, |stop| {
                let columns = self.0.clone().stop(Some(stop.clone()));
                columns.resolve_each(chunk, &bases, options)
            })?;
            made.push(targets.map_err(|error| errors::of_column(py, error, row))?);
            row += chunk.len();
        }
        Ok(Column::new(&DataType::Null, made))
    }

    fn extract(&self, py: Python<'_>, column: &Bound<'_, Column>, find: Find) -> PyResult<Column> {
        let (options, format) = find.options()?;
        let extractor = Extractor::new(options);
        self.each(py, column.get(), |columns, chunk| columns.extract(chunk, &extractor, format))
    }

    /// The names of the rules of the audit that report something, or with `details` all that they report.
    fn audit(
        &self,
        py: Python<'_>,
        column: &Bound<'_, Column>,
        select: Vec<String>,
        ignore: Vec<String>,
        details: bool,
    ) -> PyResult<Column> {
        let rules = findings::rules(&select, &ignore)?;
        self.each(py, column.get(), |columns, chunk| match details {
            true => findings::of(columns, chunk, rules),
            false => columns.audit(chunk, rules),
        })
    }

    fn part(&self, py: Python<'_>, column: &Bound<'_, Column>, name: &str) -> PyResult<Column> {
        if !is_part(name) {
            let names = COMPONENTS.join(", ");
            let what = format!("part={name:?}: there are {names}, {}", Selector::OTHERS);
            return Err(PyValueError::new_err(what));
        }
        self.each(py, column.get(), |columns, chunk| {
            let parts = columns.parse_some(chunk, &[name])?;
            Ok(parts.as_struct().column(0).clone())
        })
    }

    fn params(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        self.each(py, column.get(), |columns, chunk| params::of(columns, chunk))
    }

    /// Explains one value, or two and how they compare, as text or as JSON.
    fn explain(
        &self,
        py: Python<'_>,
        one: &[u8],
        other: Option<&[u8]>,
        is_json: bool,
    ) -> PyResult<Vec<u8>> {
        if self.0.equivalence.profile.is_some() {
            let what = "a profile has no levels and rules that could explain it";
            return Err(PyValueError::new_err(what));
        }
        let format = match is_json {
            true => ExplainFormat::Jsonl,
            false => ExplainFormat::Text { has_colour: false },
        };
        let options = ExplainOptions::new(format).equivalence(self.0.equivalence.clone());
        Ok(py.detach(|| {
            let mut out = Vec::new();
            // What is wrong with a value is explained too.
            let _ = match other {
                Some(other) => explain_pair(one, other, &options, &mut out).map(|_| ()),
                None => explain_one(one, &options, &mut out),
            };
            out
        }))
    }

    /// What is wrong with the values that have no form, and how often.
    fn faults(
        &self,
        py: Python<'_>,
        column: &Bound<'_, Column>,
    ) -> PyResult<BTreeMap<String, usize>> {
        let mut counts = BTreeMap::new();
        for chunk in column.get().chunks() {
            let made = watch::install(py, |stop| {
                let columns = self.0.clone().on_invalid(OnInvalid::Null).stop(Some(stop.clone()));
                let forms = columns.normalize(chunk)?;
                let faults = columns.check(chunk, false)?;
                Ok((forms.logical_nulls(), faults, texts::spelled_out(chunk)?))
            })?;
            let (has_form, faults, values) =
                made.map_err(|error| errors::of_column(py, error, 0))?;
            let kinds = faults.as_struct().column(0).as_string::<i32>();
            for row in 0..chunk.len() {
                let is_record = texts::record(&values, row).is_some_and(|value| !value.is_empty());
                let is_null = has_form.as_ref().is_some_and(|nulls| nulls.is_null(row));
                if is_record && is_null && kinds.is_valid(row) {
                    *counts.entry(kinds.value(row).to_owned()).or_default() += 1;
                }
            }
        }
        Ok(counts)
    }

    /// The classes of a column: `(mask, count, survivor)`, row for row; or of the clusters the only column there is.
    fn classes(
        &self,
        py: Python<'_>,
        column: &Bound<'_, Column>,
        keep: &str,
        select: &str,
        are_clusters: bool,
    ) -> PyResult<Vec<Column>> {
        let (keep, select) = (self::keep("keep", keep)?, self::select(select));
        let column = column.get();
        let made = watch::install(py, |stop| {
            let columns = self.0.clone().stop(Some(stop.clone()));
            let all = column.together()?;
            let classes = Classes::new(&columns, &all, keep, select)?;
            Ok(match are_clusters {
                true => vec![classes.clusters(&columns)?],
                false => vec![classes.mask(), classes.counts(), classes.survivors()],
            })
        })?;
        let made = made.map_err(|error| errors::of_column(py, error, 0))?;
        Ok(made.into_iter().map(Column::of_array).collect())
    }
}

/// Which value of a class is kept, by the names that the program has for it.
pub(crate) const KEEP: [(&str, Keep); 6] = [
    ("first", Keep::First),
    ("last", Keep::Last),
    ("shortest", Keep::Shortest),
    ("https", Keep::Https),
    ("min", Keep::Min),
    ("max", Keep::Max),
];

/// Which value of a class is kept, by the name of `option`.
pub(crate) fn keep(option: &str, name: &str) -> PyResult<Keep> {
    let found = KEEP.into_iter().find(|(known, _)| *known == name).map(|(_, keep)| keep);
    named(option, name, found, KEEP.map(|(name, _)| name))
}

/// The sort-friendly form with the name of `option`.
pub(crate) fn surt_form(option: &str, name: &str) -> PyResult<surt::Form> {
    named(option, name, surt::Form::from_name(name), surt::Form::ALL.map(surt::Form::name))
}

/// Which classes are meant by a name of the Python half of the package.
pub(crate) fn select(name: &str) -> Select {
    match name {
        "repeated" => Select::Repeated,
        "unique" => Select::Unique,
        _ => Select::All,
    }
}
