//! One reference: its components as offsets, strict validation, errors.

mod block;
pub mod bulk;
pub(crate) mod components;
#[cfg(feature = "bulk")]
pub(crate) mod cuts;
pub(crate) mod dots;
pub(crate) mod error;
pub(crate) mod fast;
pub(crate) mod host;
pub(crate) mod relative;
pub(crate) mod split;
pub(crate) mod strict;

pub use bulk::{Parsed, Parser};
pub use components::{Components, HostKind};
pub use error::{UriError, UriErrorKind};
pub use host::{host_kind, is_ip_future, parse_ipv4, parse_ipv6};
pub use split::{Split, host_in, host_of, split};
pub use strict::parse;
