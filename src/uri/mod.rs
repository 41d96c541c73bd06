//! Floor 3: one reference: its components as offsets, strict validation, errors.

mod block;
pub mod bulk;
pub mod components;
pub mod differ;
pub(crate) mod dots;
pub mod error;
pub(crate) mod fast;
pub mod host;
pub(crate) mod relative;
pub mod rfc2396;
pub mod split;
pub mod strict;

pub use bulk::{Parsed, Parser};
pub use components::{Components, HostKind};
pub use differ::{Difference, difference};
pub use error::{UriError, UriErrorKind};
pub use host::{host_kind, is_ip_future, parse_ipv4, parse_ipv6};
pub use rfc2396::{LegacyAuthority, LegacyComponents, LegacyForm, parse_rfc2396};
pub use split::{Split, split};
pub use strict::parse;
