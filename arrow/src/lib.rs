//! Kernels on Arrow arrays.
//!
//! [`Columns`] does with the values of an array of text what the jobs of [`uriscan_bulk::pipeline`] do
//! with the lines of files: the same code, the same results, on all threads of the current rayon
//! pool. Values are indexed in place, about 128 KiB at a time. Input is copied only where it is not
//! contiguous (views) or lies at the very end of a buffer.
//!
//! | input | output |
//! | --- | --- |
//! | `Utf8`, `LargeUtf8`, `Utf8View`, `Binary`, `LargeBinary`, `BinaryView` | text of the same type |
//! | a dictionary of one of these | from [`Columns::normalize`] and other kernels that return text: a dictionary with each value once; otherwise as for the plain array |
//!
//! A value is a record: ASCII white space around it is not part of it (RFC 3986 Appendix C). An
//! empty value, unlike a blank line, is a record too: the empty reference (4.2), which is not a
//! URI. Null stays null.
//!
//! ```
//! use arrow_array::{Array, StringArray, cast::AsArray};
//! use uriscan_arrow::Columns;
//!
//! let urls = StringArray::from(vec![Some("HTTP://Example.com:80"), None, Some("http://example.com/")]);
//! let columns = Columns::default();
//! let forms = columns.normalize(&urls).unwrap();
//! assert_eq!(forms.as_string::<i32>().value(0), "http://example.com/");
//! let keys = columns.key(&urls).unwrap();
//! let keys = keys.as_fixed_size_binary();
//! assert!(keys.value(0) == keys.value(2) && keys.is_null(1));
//! ```

#[macro_use]
extern crate uriscan_core;

mod canonical;
mod column;
mod dictionary;
mod findings;
mod firsts;
mod gather;
mod links;
mod lists;
mod named;
mod parts;
mod pieces;
mod single;
mod steps;
mod target;
mod text;

use column::Column;
use dictionary::{text_to_other, text_to_text};

pub use dictionary::spelled_out;
pub use firsts::Firsts;
pub use firsts::Keyed;
pub use gather::gather;
pub use named::{NamedOption, OptionError, OptionKind, OptionValue};
pub use parts::{COMPONENTS, is_part};
pub use single::Single;
pub use steps::step_names;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use arrow_array::Array;
use arrow_schema::DataType;

use uriscan_bulk::error::{Error, ErrorKind};
use uriscan_bulk::pipeline::{Equivalence, Invalid};
use uriscan_core::key::{Hasher, PublicHash};
use uriscan_core::simd::Kernels;
use uriscan_core::uri::UriError;

/// How kernels that need a URI treat a value that is not one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnInvalid {
    /// Keep it: its own bytes are its form, and its key is computed from them. A result that it
    /// cannot have (components, explanations) is null.
    #[default]
    Pass,
    /// Return null for it.
    Null,
    /// Fail with [`ErrorKind::Invalid`] for the first invalid value.
    Fail,
}

/// Kernels on columns of text, and their settings.
///
/// ```
/// use uriscan_arrow::{Columns, OnInvalid};
/// use uriscan::key::PublicHash;
/// let columns = Columns::default().hash(PublicHash::Sha256).on_invalid(OnInvalid::Null);
/// assert_eq!(columns.on_invalid, OnInvalid::Null);
/// ```
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct Columns {
    /// When two values are equivalent.
    pub equivalence: Equivalence,
    /// The hash for columns of keys.
    pub hash: PublicHash,
    /// Computes the keys that are held in memory.
    pub hasher: Hasher,
    /// How values that are not URIs are treated.
    pub on_invalid: OnInvalid,
    /// The SIMD backend.
    pub kernels: Kernels,
    /// Set by another thread, ends a call early with [`ErrorKind::Stopped`].
    pub stop: Option<Arc<AtomicBool>>,
}

impl Default for Columns {
    fn default() -> Columns {
        Columns::new(Equivalence::default())
    }
}

setters! { Columns {
    equivalence: Equivalence, hash: PublicHash, hasher: Hasher, on_invalid: OnInvalid,
    kernels: Kernels, stop: Option<Arc<AtomicBool>>,
} }

impl Columns {
    /// Columns under `equivalence`, which keep values that are not URIs ([`OnInvalid::Pass`]).
    pub fn new(equivalence: Equivalence) -> Columns {
        Columns {
            equivalence,
            hash: PublicHash::default(),
            hasher: Hasher::random(),
            on_invalid: OnInvalid::default(),
            kernels: Kernels::detect(),
            stop: None,
        }
    }
}

impl Columns {
    /// Whether the call is to end early.
    fn is_stopped(&self) -> bool {
        self.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed))
    }
}

/// The error for a column of `data_type`, which is not text.
fn wrong_type(data_type: &DataType) -> Error {
    let what = format!("a column of text or bytes is needed, not one of {data_type}");
    Error::text(ErrorKind::ColumnType, what)
}

/// The values that are invalid.
#[derive(Clone, Copy, Default)]
struct Faults {
    /// The row of the first one, and what is wrong with it.
    first: Option<(usize, UriError)>,
    counts: Invalid,
}

impl Faults {
    #[inline]
    fn add(&mut self, row: usize, error: UriError) {
        self.first = self.first.or(Some((row, error)));
        self.counts.add(error.kind);
    }
}

/// Sums the faults of all pieces, or returns the first one if it ends the call.
fn collect(on_invalid: OnInvalid, pieces: impl Iterator<Item = Faults>) -> Result<Invalid, Error> {
    let mut counts = Invalid::default();
    for faults in pieces {
        match faults.first {
            Some((row, error)) if on_invalid == OnInvalid::Fail => {
                return Err(Error::invalid_row(row as u64, error));
            }
            _ => faults.counts.iter().for_each(|(kind, count)| counts.add_many(kind, count)),
        }
    }
    Ok(counts)
}

/// Whether values of this type, or dictionaries of them, are text or bytes.
pub fn is_text(data_type: &DataType) -> bool {
    use DataType::*;
    match data_type {
        Dictionary(_, value) => is_text(value),
        other => {
            matches!(other, Utf8 | LargeUtf8 | Utf8View | Binary | LargeBinary | BinaryView)
        }
    }
}

/// The values of an array of text that is not a dictionary, in order; of other arrays, empty ones.
pub fn each_value(array: &dyn Array) -> impl Iterator<Item = Option<&[u8]>> {
    let column = Column::new(array).ok();
    let value = move |row| column.as_ref().map_or(&b""[..], |column| column.value(row));
    (0..array.len()).map(move |row| array.is_valid(row).then(|| value(row)))
}
