//! Learning rules from columns.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::{Array, ArrayRef};
use arrow_cast::cast;
use arrow_schema::{ArrowError, DataType};
use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use uriscan::rules::RuleSet;
use uriscan::trimmed;
use uriscan_bulk::pipeline::MemoryLimit;
use uriscan_learn::{self as learn, Findings, LearnOptions};

use crate::column::Column;
use crate::form::read_rules;
use crate::texts::{is_binary, spelled_out, value};
use crate::{errors, watch};

/// Learns from the rows of columns.
#[pyclass(frozen, module = "uriscan._uriscan")]
#[derive(Debug)]
pub(crate) struct Learner(Mutex<Option<learn::Learner>>);

/// When a rule is proven, and what the file says of its day.
#[derive(Debug, FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Proof {
    precision: f64,
    confidence: f64,
    min_pages: u64,
    date: Option<String>,
}

impl Proof {
    fn options(&self) -> LearnOptions {
        let Proof { precision, confidence, min_pages, ref date } = *self;
        LearnOptions::default()
            .precision(precision)
            .confidence(confidence)
            .min_pages(min_pages)
            .date(date.clone())
    }
}

fn is_text(data_type: &DataType) -> bool {
    match data_type {
        DataType::Dictionary(_, values) => is_text(values),
        DataType::Utf8 | DataType::LargeUtf8 | DataType::Utf8View | DataType::Null => true,
        other => is_binary(other),
    }
}

/// `array` as text without a dictionary: numbers and the like as they are written.
fn text_of(array: &ArrayRef) -> Result<ArrayRef, ArrowError> {
    let array = spelled_out(array)?;
    if is_text(array.data_type()) { Ok(array) } else { cast(&array, &DataType::Utf8) }
}

/// Rows of columns of text.
struct Rows {
    /// URLs, digests, canonical URLs and targets of redirects.
    arrays: Vec<Option<ArrayRef>>,
    len: usize,
}

impl Rows {
    fn new(urls: &Bound<'_, Column>, others: [Option<Bound<'_, Column>>; 3]) -> PyResult<Rows> {
        if !is_text(urls.get().data_type()) {
            let what = format!("URLs are text, not {}", urls.get().data_type());
            return Err(PyTypeError::new_err(what));
        }
        let columns = [Some(urls.clone())].into_iter().chain(others);
        let array = |column: Option<Bound<'_, Column>>| {
            let text = column.map(|column| text_of(&column.get().together()?)).transpose();
            text.map_err(|error| PyTypeError::new_err(error.to_string()))
        };
        let arrays = columns.map(array).collect::<PyResult<Vec<_>>>()?;
        let len = urls.get().len();
        if arrays.iter().flatten().any(|array| array.len() != len) {
            return Err(PyValueError::new_err("the columns have different numbers of rows"));
        }
        Ok(Rows { arrays, len })
    }

    /// Calls `add` for each row.
    fn each(
        &self,
        mut add: impl FnMut([&[u8]; 4]) -> Result<(), uriscan::Error>,
    ) -> Result<(), uriscan::Error> {
        let of = |column: usize, row: usize| {
            let array = self.arrays[column].as_ref();
            array.and_then(|array| value(array, row)).unwrap_or_default()
        };
        // White space is a part of bytes, and not of text.
        let is_bytes = self.arrays[1].as_ref().is_some_and(|array| is_binary(array.data_type()));
        (0..self.len).try_for_each(|row| {
            let same = if is_bytes { of(1, row) } else { trimmed(of(1, row)) };
            add([of(0, row), same, of(2, row), of(3, row)])
        })
    }
}

fn failed(py: Python<'_>, error: uriscan::Error) -> PyErr {
    errors::of_column(py, error, 0)
}

#[pymethods]
impl Learner {
    /// A limit is one of bytes, and where rows beyond it go.
    #[new]
    fn new(proof: Proof, limit: Option<(usize, PathBuf)>) -> Learner {
        let limit = limit.map(|(bytes, directory)| MemoryLimit::new(bytes, directory));
        Learner(Mutex::new(Some(learn::Learner::new(&proof.options().limit(limit)))))
    }

    /// Adds rows of columns of text: URLs, digests, canonical URLs and targets of redirects, the same number of each.
    fn add(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, Column>,
        others: [Option<Bound<'_, Column>>; 3],
    ) -> PyResult<()> {
        let rows = Rows::new(urls, others)?;
        let added = watch::locked(py, &self.0, |learner, _| {
            let Some(learner) = learner else { return Ok(()) };
            rows.each(|[url, same, canonical, redirect]| {
                learner.add(url, same, canonical, redirect)
            })
        })?;
        added.map_err(|error| failed(py, error))
    }

    /// The site of each URL, all of whose rows belong to one learner, as bytes; null for what has none and may be anywhere.
    fn sites(&self, py: Python<'_>, urls: &Bound<'_, Column>) -> PyResult<Column> {
        let wrong = |error: ArrowError| PyTypeError::new_err(error.to_string());
        let urls = text_of(&urls.get().together().map_err(wrong)?).map_err(wrong)?;
        let sites = watch::locked(py, &self.0, |learner, _| {
            let mut sites = LargeBinaryBuilder::new();
            for row in 0..urls.len() {
                let url = value(&urls, row);
                let learner = learner.as_mut();
                sites.append_option(learner.zip(url).and_then(|(learner, url)| learner.site(url)));
            }
            sites.finish()
        })?;
        Ok(Column::of_array(Arc::new(sites)))
    }

    /// What the rows say, to be joined with what others say about other sites. There is nothing to be added after that.
    fn finish<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let found = watch::locked(py, &self.0, |learner, _| {
            learner.take().map(|learner| learner.finish().map(|found| found.to_bytes()))
        })?;
        let found = found.ok_or_else(|| PyRuntimeError::new_err("it is finished already"))?;
        Ok(PyBytes::new(py, &found.map_err(|error| failed(py, error))?))
    }
}

/// Tests rules on the rows of columns.
#[pyclass(frozen, module = "uriscan._uriscan")]
#[derive(Debug)]
pub(crate) struct Tester(Mutex<Option<learn::Tester>>);

#[pymethods]
impl Tester {
    /// The rules are those of the file called `rules`. A limit is one of bytes, and where rows beyond it go.
    #[new]
    fn new(rules: &str, limit: Option<(usize, PathBuf)>) -> PyResult<Tester> {
        let limit = limit.map(|(bytes, directory)| MemoryLimit::new(bytes, directory));
        let mut builder = RuleSet::builder();
        builder.rules_file(&read_rules(rules).map_err(PyValueError::new_err)?);
        let rules = builder.build().map_err(|error| PyValueError::new_err(error.to_string()))?;
        let tester = learn::Tester::new(rules, &LearnOptions::default().limit(limit));
        Ok(Tester(Mutex::new(Some(tester))))
    }

    /// Adds rows, as a learner does.
    fn add(
        &self,
        py: Python<'_>,
        urls: &Bound<'_, Column>,
        others: [Option<Bound<'_, Column>>; 3],
    ) -> PyResult<()> {
        let rows = Rows::new(urls, others)?;
        let added = watch::locked(py, &self.0, |tester, _| {
            let Some(tester) = tester else { return Ok(()) };
            rows.each(|[url, same, canonical, redirect]| tester.add(url, same, canonical, redirect))
        })?;
        added.map_err(|error| failed(py, error))
    }

    /// The table of sites, and the numbers of all: rows, invalid rows, rows with evidence, sites, those that were sampled;
    /// URLs, pages, groups joined rightly and wrongly, pages lost, fetches saved and possible.
    fn finish(&self, py: Python<'_>) -> PyResult<(String, [u64; 12])> {
        let mut table = Vec::new();
        let tested = watch::locked(py, &self.0, |tester, _| {
            tester.take().map(|tester| tester.finish(&mut table))
        })?;
        let tested = tested.ok_or_else(|| PyRuntimeError::new_err("it is finished already"))?;
        let tested = tested.map_err(|error| failed(py, error))?;
        let score = tested.score;
        let numbers = [
            tested.read.report.records,
            tested.read.report.invalid.total(),
            tested.read.telling,
            tested.read.sites,
            tested.sampled,
            score.urls,
            score.pages,
            score.right,
            score.wrong,
            score.lost,
            score.saved,
            score.possible,
        ];
        Ok((String::from_utf8_lossy(&table).into_owned(), numbers))
    }
}

/// The rules file of what was found, and its numbers: rows, invalid rows, rows with evidence, sites, sites with rules, rules; of the
/// pages that were held back their number, groups joined rightly and wrongly, pages lost, fetches saved and possible.
#[pyfunction]
pub(crate) fn rules_file(
    py: Python<'_>,
    parts: Vec<Vec<u8>>,
    names: Vec<String>,
    proof: Proof,
) -> PyResult<(String, [u64; 12])> {
    let mut all = Findings::default();
    for part in parts {
        let found = Findings::from_bytes(&part);
        all.add(found.ok_or_else(|| {
            PyRuntimeError::new_err("the workers have another version of uriscan")
        })?);
    }
    let mut text = Vec::new();
    let learned = all.to_file(&names, &proof.options(), &mut text);
    let learned = learned.map_err(|error| failed(py, error))?;
    let held = learned.held_back;
    let numbers = [
        learned.read.report.records,
        learned.read.report.invalid.total(),
        learned.read.telling,
        learned.read.sites,
        learned.sites_with_rules,
        learned.rules,
        held.pages,
        held.right,
        held.wrong,
        held.lost,
        held.saved,
        held.possible,
    ];
    Ok((String::from_utf8_lossy(&text).into_owned(), numbers))
}
