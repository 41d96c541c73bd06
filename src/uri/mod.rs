//! Floor 3: one reference: its components as offsets, strict validation, errors.

pub mod bulk;
pub mod components;
pub(crate) mod dots;
pub mod error;
pub(crate) mod fast;
pub mod host;
pub(crate) mod relative;
pub mod split;
pub mod strict;

pub use bulk::{Parsed, Parser};
pub use components::{Components, HostKind};
pub use error::{ErrorKind, UriError};
pub use host::{host_kind, is_ip_future, parse_ipv4, parse_ipv6};
pub use split::{Split, split};
pub use strict::parse;
