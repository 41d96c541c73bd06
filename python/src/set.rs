//! Sets of keys on disk.

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, BooleanArray, UInt32Array};
use arrow_schema::DataType;
use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use uriscan::key::Key;
use uriscan::set::{self, Loader, Meaning, SetError, SetWriter, Timestamp};
use uriscan_bulk::pipeline::Seen;

use crate::column::Column;
use crate::form::Form;
use crate::{errors, watch};

/// A set of keys on disk, as it was when it was opened.
#[pyclass(frozen, module = "uriscan._uriscan")]
#[derive(Debug)]
pub(crate) struct KeySet(set::KeySet);

/// Does `work` on the pool.
fn done<T: Send>(py: Python<'_>, work: impl FnOnce() -> Result<T, SetError> + Send) -> PyResult<T> {
    watch::install(py, |_| work())?.map_err(|error| errors::of_set(py, &error))
}

/// Begins an empty set at `path`.
fn begin(path: &Path, meaning: Meaning, first_seen: bool) -> Result<SetWriter, SetError> {
    match first_seen {
        true => SetWriter::create_dated(path, meaning),
        false => SetWriter::create(path, meaning),
    }
}

/// The keys of a column of them, with `None` where there is none.
fn keys(column: &Column) -> PyResult<Vec<Option<Key>>> {
    let wrong = |what: &dyn Display| {
        PyTypeError::new_err(format!("a column of keys is needed, not one of {what}"))
    };
    let key = |key: [u8; 16]| {
        // No value has a key of zeros but one too long to be judged, which belongs to no set.
        let key = Key(u128::from_be_bytes(key));
        (key.0 != Key::VACANT).then_some(key)
    };
    match column.data_type() {
        DataType::FixedSizeBinary(16) => {
            let chunks = column.chunks().iter();
            let values = chunks.flat_map(|chunk| chunk.as_fixed_size_binary().iter());
            Ok(values.map(|value| key(value?.try_into().ok()?)).collect())
        }
        // Keys in a list.
        DataType::LargeBinary => {
            let chunks = column.chunks().iter();
            let values = chunks.flat_map(|chunk| chunk.as_binary::<i64>().iter());
            let of = |value: Option<&[u8]>| match value.map(TryInto::try_into) {
                None => Ok(None),
                Some(Ok(value)) => Ok(key(value)),
                Some(Err(_)) => Err(wrong(&"bytes that are not 16")),
            };
            values.map(of).collect()
        }
        other => Err(wrong(other)),
    }
}

#[pymethods]
impl KeySet {
    #[staticmethod]
    fn create(
        py: Python<'_>,
        path: PathBuf,
        form: &Bound<'_, Form>,
        first_seen: bool,
    ) -> PyResult<KeySet> {
        let meaning = form.get().meaning();
        done(py, || {
            begin(&path, meaning, first_seen)?.commit()?;
            set::KeySet::open(&path).map(KeySet)
        })
    }

    #[staticmethod]
    fn open(py: Python<'_>, path: PathBuf) -> PyResult<KeySet> {
        done(py, || set::KeySet::open(&path).map(KeySet))
    }

    /// Makes a set at `path` of what `sets` hold: `how` is `all`, `difference` or `common`.
    #[staticmethod]
    fn combine(
        py: Python<'_>,
        path: PathBuf,
        sets: Vec<Bound<'_, KeySet>>,
        how: &str,
    ) -> PyResult<KeySet> {
        let fill = match how {
            "all" => SetWriter::fill_with_all,
            "difference" => SetWriter::fill_with_difference,
            _ => SetWriter::fill_with_common,
        };
        let first = sets.first().ok_or_else(|| PyValueError::new_err("no set is given"))?;
        let first = &first.get().0;
        let (meaning, first_seen) = (first.meaning().clone(), first.is_dated());
        let paths: Vec<PathBuf> =
            sets.iter().map(|set| set.get().0.directory().to_owned()).collect();
        done(py, || {
            let sets =
                paths.iter().map(|path| set::KeySet::open(path)).collect::<Result<Vec<_>, _>>()?;
            fill(&mut begin(&path, meaning, first_seen)?, &sets)?;
            set::KeySet::open(&path).map(KeySet)
        })
    }

    /// Fails unless its keys are those of `form`.
    fn expect(&self, py: Python<'_>, form: &Bound<'_, Form>) -> PyResult<()> {
        self.0.expect(&form.get().meaning()).map_err(|error| errors::of_set(py, &error))
    }

    /// Takes runs into memory as long as they are no more than `bytes` together.
    fn held(&self, py: Python<'_>, bytes: u64) -> PyResult<KeySet> {
        let path = self.0.directory();
        done(py, || {
            let mut set = set::KeySet::open(path)?;
            set.hold(bytes);
            Ok(KeySet(set))
        })
    }

    fn contains(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        let column = column.get();
        let asked = keys(column)?;
        let found = done(py, || {
            let keys: Vec<Key> = asked.iter().copied().flatten().collect();
            self.0.contains(&keys)
        })?;
        let mut found = found.into_iter();
        let is_in = asked.iter().map(|key| key.is_some() && found.next().unwrap_or_default());
        let is_in = BooleanArray::from(is_in.collect::<Vec<bool>>());
        let nulls = column.together().map_err(crate::capsule::refused)?.logical_nulls();
        let is_in = BooleanArray::new(is_in.values().clone(), nulls);
        Ok(Column::of_array(Arc::new(is_in) as ArrayRef))
    }

    /// When every key was first seen, in seconds since 1970; null where it is not in the set, or null.
    fn first_seen(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<Column> {
        let asked = keys(column.get())?;
        let mut times = vec![None; asked.len()];
        done(py, || {
            self.0.expect_dated(true)?;
            let mut keys: Vec<(Key, usize)> =
                asked.iter().zip(0..).filter_map(|(key, row)| Some(((*key)?, row))).collect();
            self.0.find_dated(&mut keys, |row, time| times[row] = Some(time.0))
        })?;
        Ok(Column::of_array(Arc::new(UInt32Array::from(times)) as ArrayRef))
    }

    /// Opens it to write; `memory` bytes are for keys on their way into it, which were first seen `at` that second, or now.
    fn adding(&self, py: Python<'_>, memory: usize, at: Option<u32>) -> PyResult<Adding> {
        let (path, meaning) = (self.0.directory(), self.0.meaning());
        done(py, || {
            let writer = SetWriter::open(path)?;
            writer.set().expect(meaning)?;
            let loader = match at.map(Timestamp) {
                None => writer.loader(memory)?,
                Some(at) => {
                    writer.set().expect_dated(true)?;
                    writer.loader_at(memory, at)?
                }
            };
            Ok(Adding(Mutex::new(Some((writer, loader)))))
        })
    }

    fn compact(&self, py: Python<'_>) -> PyResult<()> {
        let path = self.0.directory();
        done(py, || SetWriter::open(path)?.compact())
    }

    fn verify(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let damages = done(py, || self.0.verify())?;
        Ok(damages.iter().map(ToString::to_string).collect())
    }

    fn __len__(&self) -> usize {
        self.0.len() as usize
    }

    #[getter]
    fn path(&self) -> PathBuf {
        self.0.directory().to_owned()
    }

    #[getter]
    fn meaning(&self) -> &str {
        self.0.meaning().as_str()
    }

    #[getter]
    fn hash(&self) -> &'static str {
        self.0.meaning().hash().name()
    }

    #[getter]
    fn keeps_first_seen(&self) -> bool {
        self.0.is_dated()
    }

    #[getter]
    fn file_bytes(&self) -> u64 {
        self.0.file_bytes()
    }
}

/// Keys on their way into a set; no other writer is let in before `commit` or `close`.
#[pyclass(frozen, module = "uriscan._uriscan")]
#[derive(Debug)]
pub(crate) struct Adding(pub(crate) Mutex<Option<(SetWriter, Loader)>>);

impl Adding {
    fn take(&self) -> PyResult<(SetWriter, Loader)> {
        let taken = self.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        taken.ok_or_else(closed)
    }
}

fn closed() -> PyErr {
    PyValueError::new_err("nothing can be added any more: it was committed or closed")
}

/// Bytes of keys of a set that are held in memory for look-ups, and of keys on their way into one.
const HOLD_BYTES: u64 = 512 << 20;
const LOAD_BYTES: usize = 256 << 20;

/// The set of a run.
pub(crate) enum SetAtWork {
    Read(set::KeySet),
    Write(SetWriter, Loader),
}

impl SetAtWork {
    /// Opens the set at `path`, if there is one; to `update` it, it is made where there is none, and goes away again unless
    /// keys are added.
    pub(crate) fn open(
        path: Option<&Path>,
        update: bool,
        memory: Option<usize>,
        meaning: &Meaning,
    ) -> Result<Option<SetAtWork>, SetError> {
        let Some(path) = path else { return Ok(None) };
        let hold = memory.map_or(HOLD_BYTES, |limit| HOLD_BYTES.min(limit as u64 / 4));
        let load = memory.map_or(LOAD_BYTES, |limit| LOAD_BYTES.min(limit / 8));
        if !update {
            let mut set = set::KeySet::open(path)?;
            set.expect(meaning)?;
            set.hold(hold);
            return Ok(Some(SetAtWork::Read(set)));
        }
        let mut writer = match SetWriter::open(path) {
            Err(error) if error.is_vacant() => SetWriter::create(path, meaning.clone())?,
            writer => writer?,
        };
        writer.set().expect(meaning)?;
        writer.set_mut().hold(hold);
        let loader = writer.loader(load)?;
        Ok(Some(SetAtWork::Write(writer, loader)))
    }

    /// The set, for deduplication.
    pub(crate) fn seen(&mut self) -> Seen<'_> {
        match self {
            SetAtWork::Read(set) => Seen::new(set),
            SetAtWork::Write(writer, loader) => Seen::new(writer.set()).new_keys(loader),
        }
    }
}

#[pymethods]
impl Adding {
    fn push(&self, py: Python<'_>, column: &Bound<'_, Column>) -> PyResult<()> {
        let keys = keys(column.get())?;
        let pushed = watch::locked(py, &self.0, |open, _| {
            open.as_mut().map(|(_, loader)| loader.push(keys.into_iter().flatten()))
        })?;
        pushed.ok_or_else(closed)?.map_err(|error| errors::of_set(py, &error))
    }

    /// Adds the keys; gives the number of those that were not there.
    fn commit(&self, py: Python<'_>) -> PyResult<u64> {
        let (mut writer, loader) = self.take()?;
        done(py, || writer.add(loader))
    }

    /// Adds nothing.
    fn close(&self) {
        drop(self.take());
    }
}
