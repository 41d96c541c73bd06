//! The lower half of `uriscan`: bytes, URIs, keys and links. It reads and writes no files in bulk.
//!
//! Use the crate `uriscan`, which passes on the names that others need. All other public items are for the crates of
//! the repository, its tests and its benches, and change without notice.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
mod macros;

#[cfg(feature = "keys")]
pub mod alias;
#[cfg(feature = "bulk")]
pub mod audit;
pub mod chunk;
pub mod context;
#[cfg(feature = "keys")]
pub mod dedup;
#[cfg(feature = "bulk")]
pub mod explain;
#[cfg(feature = "bulk")]
pub mod extract;
pub mod grammar;
pub mod index;
#[cfg(feature = "keys")]
pub mod key;
pub mod normalize;
#[cfg(feature = "bulk")]
pub mod profile;
pub mod repair;
pub mod resolve;
pub mod rfc2396;
#[cfg(feature = "bulk")]
pub mod row;
#[cfg(feature = "bulk")]
pub mod rules;
#[cfg(feature = "bulk")]
pub mod set;
#[cfg(feature = "bulk")]
pub mod shape;
pub mod simd;
pub mod single;
pub mod surt;
#[cfg(feature = "keys")]
pub mod threads;
#[cfg(feature = "bulk")]
pub mod time;
pub mod uri;

pub use chunk::{Padded, PaddedBuf, Span};
pub use index::trimmed;
pub use simd::{Backend, Kernels};
pub use single::{Uri, normalize};
pub use uri::{UriError, UriErrorKind};
