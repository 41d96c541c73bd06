//! RFC 2396, the grammar before RFC 3986: its classes, parser, canonical forms and resolution, and where the two
//! grammars differ.
//!
//! Nothing that reads RFC 3986 knows it.

pub mod differ;
mod fast;
mod grammar;
mod normalize;
mod parse;
mod resolve;

pub use fast::{canonical_by, parse_by};
pub use grammar::{Grammar, Legacy, UnknownGrammar};
pub use normalize::normalize_rfc2396;
pub use parse::{LegacyAuthority, LegacyComponents, LegacyForm, parse_rfc2396};
pub use resolve::{LegacyBase, LegacyTarget};
