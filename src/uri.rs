//! One reference: its components as offsets, strict validation, errors.

pub use uriscan_core::uri::{
    Components, HostKind, Parsed, Parser, Split, UriError, UriErrorKind, host_kind, parse, split,
};
