//! Errors as values: a code that each function returns, and a handle that has the details.

use std::{fmt, slice};

use uriscan::set::SetError;
use uriscan::trimmed;
use uriscan::uri::{UriError, UriErrorKind};

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

    pub(crate) fn kind(&self) -> Option<(UriErrorKind, usize)> {
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
    /// The last failure, if there was one.
    pub(crate) fn failure(&self) -> Option<&Failure> {
        self.0.as_ref()
    }

    pub(crate) fn set(&mut self, failure: Failure) {
        self.0 = Some(failure);
    }
}
