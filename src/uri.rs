//! One reference: its components as offsets, strict validation, errors.

pub use uriscan_core::uri::{
    Components, Grammar, HostKind, Legacy, Parsed, Parser, Split, UnknownGrammar, UriError,
    UriErrorKind, host_kind, parse, split,
};
