//! Floor 3: one reference: its components as offsets, strict validation, errors.

pub mod components;
pub mod error;

pub use components::{Components, HostKind};
pub use error::{ErrorKind, UriError};
