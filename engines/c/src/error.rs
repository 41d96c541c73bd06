//! Errors as values: a code that each function returns, and a handle that has the details.

use core::ffi::c_char;
use std::{fmt, slice};

use uriscan::set::SetError;
use uriscan::trimmed;
use uriscan::uri::{UriError, UriErrorKind};

use crate::border::{Buffer, call, free, handle};

/// It is done.
pub const URISCAN_OK: i32 = 0;
/// The text is not valid: `uriscan_error_kind` and `uriscan_error_position` say what is wrong, and where.
pub const URISCAN_INVALID: i32 = 1;
/// The same, of the base URI.
pub const URISCAN_INVALID_BASE: i32 = 2;
/// There is no result: the text is invalid, and the equivalence has `on_invalid=drop`.
pub const URISCAN_DROPPED: i32 = 3;
/// The buffer is too small. Nothing was written to it; the length says how many bytes are needed.
pub const URISCAN_TOO_SMALL: i32 = 4;
/// A mistake of the caller: a pointer is NULL that may not be, offsets fall, a set that is only read is written to.
pub const URISCAN_ARGUMENT: i32 = 5;
/// An option does not exist, or cannot have its value. The text names what there is.
pub const URISCAN_OPTION: i32 = 6;
/// A set on disk cannot be opened, read or written. The text names the file and the cause.
pub const URISCAN_SET: i32 = 7;
/// A fault in uriscan itself. The handle can be used further; please report the text.
pub const URISCAN_PANIC: i32 = 8;

/// No position, row or component. In the header by `cbindgen.toml`: cbindgen has no name for the largest `size_t`.
pub const URISCAN_NONE: usize = usize::MAX;

/// Why a call failed.
pub(crate) enum Failure {
    /// The text (`row` of several) is invalid.
    Invalid {
        kind: UriErrorKind,
        at: usize,
        row: Option<usize>,
    },
    InvalidBase {
        kind: UriErrorKind,
        at: usize,
    },
    Dropped,
    TooSmall,
    Argument(&'static str),
    Option(String),
    Set(SetError),
    Panic(String),
}

impl Failure {
    /// `error` of `text`, of which white space was trimmed first.
    pub(crate) fn invalid(error: UriError, text: &[u8]) -> Failure {
        Failure::Invalid { kind: error.kind, at: leading(text) + error.at as usize, row: None }
    }

    /// The same of a base.
    pub(crate) fn invalid_base(error: UriError, base: &[u8]) -> Failure {
        Failure::InvalidBase { kind: error.kind, at: leading(base) + error.at as usize }
    }

    /// The same, of text number `row`.
    pub(crate) fn in_row(self, row: usize) -> Failure {
        match self {
            Failure::Invalid { kind, at, .. } => Failure::Invalid { kind, at, row: Some(row) },
            other => other,
        }
    }

    pub(crate) fn status(&self) -> i32 {
        match self {
            Failure::Invalid { .. } => URISCAN_INVALID,
            Failure::InvalidBase { .. } => URISCAN_INVALID_BASE,
            Failure::Dropped => URISCAN_DROPPED,
            Failure::TooSmall => URISCAN_TOO_SMALL,
            Failure::Argument(_) => URISCAN_ARGUMENT,
            Failure::Option(_) => URISCAN_OPTION,
            Failure::Set(_) => URISCAN_SET,
            Failure::Panic(_) => URISCAN_PANIC,
        }
    }

    fn kind(&self) -> Option<(UriErrorKind, usize)> {
        match *self {
            Failure::Invalid { kind, at, .. } | Failure::InvalidBase { kind, at } => {
                Some((kind, at))
            }
            _ => None,
        }
    }
}

impl From<SetError> for Failure {
    fn from(error: SetError) -> Failure {
        Failure::Set(error)
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::Invalid { kind, at, row } => {
                if let Some(row) = row {
                    write!(f, "text {row}: ")?;
                }
                write!(f, "{kind} at byte {at}: {}", kind.message())
            }
            Failure::InvalidBase { kind, at } => {
                write!(f, "the base is not a valid URI: {kind} at byte {at}: {}", kind.message())
            }
            Failure::Dropped => {
                f.write_str("the text is invalid, and dropped because of on_invalid=drop")
            }
            Failure::TooSmall => f.write_str("the buffer is too small"),
            Failure::Argument(what) => f.write_str(what),
            Failure::Option(what) => f.write_str(what),
            Failure::Set(error) => error.fmt(f),
            Failure::Panic(what) => write!(f, "a fault in uriscan: {what}"),
        }
    }
}

/// Bytes of white space at the start of `text`.
pub(crate) fn leading(text: &[u8]) -> usize {
    let is_white = |byte| trimmed(slice::from_ref(byte)).is_empty();
    text.iter().position(|byte| !is_white(byte)).unwrap_or(text.len())
}

/// What the last call that failed had to say. To be used by one thread at a time; calls that succeed leave it as it is.
#[derive(Default)]
pub struct UriscanError(Option<Failure>);

impl UriscanError {
    pub(crate) fn set(&mut self, failure: Failure) {
        self.0 = Some(failure);
    }
}

/// Makes an error handle, to be passed to other functions. `uriscan_error_free` frees it. All functions take NULL in its
/// place, from callers that need no details.
#[unsafe(no_mangle)]
pub extern "C" fn uriscan_error_new() -> *mut UriscanError {
    Box::into_raw(Box::default())
}

/// Frees the handle; NULL is allowed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_free(error: *mut UriscanError) {
    // SAFETY: it is what `uriscan_error_new` gave, or NULL.
    unsafe { free(error) }
}

/// The code of the last failure; `URISCAN_OK` if there was none, and for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_status(error: *const UriscanError) -> i32 {
    // SAFETY: see the text of the crate.
    unsafe { failure(error) }.map_or(URISCAN_OK, Failure::status)
}

/// The byte of the text, or of the base, at which it is invalid, counted from 0; `URISCAN_NONE` after other failures. Under a
/// base or repairs it counts in the text that they make.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_position(error: *const UriscanError) -> usize {
    // SAFETY: see the text of the crate.
    unsafe { failure(error) }.and_then(Failure::kind).map_or(URISCAN_NONE, |(_, at)| at)
}

/// Which one of several texts is invalid, counted from 0; `URISCAN_NONE` after other failures.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_row(error: *const UriscanError) -> usize {
    // SAFETY: see the text of the crate.
    match unsafe { failure(error) } {
        Some(Failure::Invalid { row: Some(row), .. }) => *row,
        _ => URISCAN_NONE,
    }
}

/// Writes the kind of what is invalid, such as `percent`: the names of `uriscan check`. Of other failures it is empty.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_kind(
    error: *const UriscanError,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let (error, buffer) = unsafe { (handle(error)?, Buffer::new(buffer, capacity, length)?) };
        let kind = error.0.as_ref().and_then(Failure::kind);
        buffer.put(kind.map_or("", |(kind, _)| kind.name()).as_bytes())
    };
    // SAFETY: NULL is allowed.
    unsafe { call(core::ptr::null_mut(), work) }
}

/// Writes a sentence in UTF-8 that says what is wrong; it is empty if nothing failed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn uriscan_error_text(
    error: *const UriscanError,
    buffer: *mut c_char,
    capacity: usize,
    length: *mut usize,
) -> i32 {
    let work = || {
        // SAFETY: see the text of the crate.
        let (error, buffer) = unsafe { (handle(error)?, Buffer::new(buffer, capacity, length)?) };
        let text = error.0.as_ref().map_or_else(String::new, ToString::to_string);
        buffer.put(text.as_bytes())
    };
    // SAFETY: NULL is allowed.
    unsafe { call(core::ptr::null_mut(), work) }
}

/// The failure of a handle.
///
/// # Safety
/// It is NULL or a handle.
unsafe fn failure<'a>(error: *const UriscanError) -> Option<&'a Failure> {
    // SAFETY: as the caller promises.
    unsafe { error.as_ref() }?.0.as_ref()
}
