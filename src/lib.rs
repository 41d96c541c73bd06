//! Parses, normalizes and deduplicates URIs in bulk, exactly as RFC 3986 defines equivalence.
//!
//! ```
//! use uriscan::Uri;
//!
//! # fn main() -> Result<(), uriscan::UriError> {
//! // Parse.
//! let uri = Uri::parse("HTTP://Example.COM:80/%7Ebob/./x")?;
//! assert_eq!((uri.host(), uri.path()), (Some("Example.COM"), "/%7Ebob/./x"));
//!
//! // Normalize.
//! assert_eq!(uriscan::normalize("HTTP://Example.COM:80/%7Ebob/./x")?, "http://example.com/~bob/x");
//!
//! // Resolve.
//! assert_eq!(uri.resolve("y")?.as_str(), "HTTP://Example.COM:80/%7Ebob/y");
//! # Ok(())
//! # }
//! ```
//!
//! Deduplicate, one by one or a whole stream, in parallel (feature `bulk`, which is on by default):
//!
#![cfg_attr(feature = "bulk", doc = "```")]
#![cfg_attr(not(feature = "bulk"), doc = "```ignore")]
//! use uriscan::{Deduplicator, Equivalence};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut seen = Deduplicator::default();
//! let first: Vec<_> = ["http://h", "HTTP://H:80/", "http://h/x"].into_iter().filter(|url| seen.insert(url)).collect();
//! assert_eq!(first, ["http://h", "http://h/x"]);
//!
//! let mut out = Vec::new();
//! let report = uriscan::dedup(&b"http://h\nHTTP://H:80/\nhttp://h/x\n"[..], &mut out)?;
//! assert_eq!((&out[..], report.duplicates), (&b"http://h\nhttp://h/x\n"[..], 1));
//!
//! // When are two equivalent, and why?
//! let equivalence = Equivalence::default();
//! assert!(equivalence.is_equal("http://h", "HTTP://H:80/")?);
//! assert!(equivalence.explain("http://h", "HTTP://H:80/")?.contains("scheme-case"));
//! # Ok(())
//! # }
//! ```
//!
//! Results do not depend on the CPU, the number of threads or the sizes of pieces. SIMD kernels classify the bytes, and most
//! URIs are found to be canonical without being parsed byte by byte.
//!
//! # Where to start
//!
//! | to | use |
//! | --- | --- |
//! | parse one reference, or learn why it is invalid | [`Uri`] |
//! | parse many in one text, to offsets | [`uri::Parser`] |
//! | normalize one URI; many, one by one | [`normalize()`]; [`normalize::Normalizer`] |
//! | resolve references against a base URI | [`Uri::resolve`], [`resolve::Resolver`] |
//! | find the first URI of each group of equivalent ones | `Deduplicator`, `SetDeduplicator` on disk, `dedup()` (feature `bulk`) |
//! | say which URIs are equivalent: level, rules, profile | `Equivalence` (feature `bulk`) |
//! | map an IRI to a URI, repair invalid input | [`repair::repair`] |
//! | hash canonical forms | `key::Hasher` (secret, for one run), `key::PublicHasher` (reproducible; feature `keys`) |
//! | keep keys on disk between runs | `set::KeySet` (feature `bulk`) |
//! | treat more URIs as equivalent than the RFC does | `rules::RuleSet` (feature `bulk`) |
//! | explain a canonical form, or why two URIs differ | `explain` (feature `bulk`) |
//! | report suspicious URIs (RFC 3986, section 7) | `audit::audit` (feature `bulk`) |
//! | the shape of a URI, to count and to sample by | `shape::shape` (feature `bulk`) |
//! | find URIs in text, pages and logs | `extract::Finder` (feature `bulk`) |
//! | process files as the program does | `pipeline` (feature `bulk`) |
//! | learn rules from evidence of equal pages | `learn::learn` (feature `bulk`) |
//! | process Arrow arrays | `arrow::Columns` (feature `arrow`) |
//! | process Parquet, Arrow, CSV and JSON files | `table::run` (feature `tables`) |
//!
//! The library never prints, never exits the process and never reads the environment.
//!
//! # Terms
//!
//! Components have the names that RFC 3986 gives them. A *record* is the bytes of one URI: a line without its end and
//! without white space around it. A *chunk* is a piece of the input that one thread works on: whole records. A *level* is a
//! step of the comparison ladder of RFC 3986, section 6.2 ([`normalize::Level`]). The *canonical form* of a URI represents
//! its equivalence class at a level; its *key* is a 128-bit hash of that form. A *backend* is the code for one instruction
//! set ([`Backend`]).
//!
//! # Features
//!
//! A feature adds modules, and changes no result of the others. Always available, with one crate below them (`memchr`): [`Uri`],
//! [`normalize()`], and the modules [`uri`], [`normalize`](mod@normalize), [`resolve`], [`repair`] and [`surt`].
//!
//! | feature | adds | default |
//! | --- | --- | --- |
//! | `idna` | the tables for names of hosts that are not ASCII. Without it a URI with such a host is an error at level `scheme`, and repairs leave it encoded | yes |
//! | `keys` | `key` | yes |
//! | `bulk` | `Equivalence`, `Deduplicator`, `dedup()`; `pipeline` and `io` with decompression, `set`, `rules`, `explain`, `audit`, `shape`, `extract`, `profile`; `serde` for [`Uri`]; `idna` and `keys` | yes |
//! | `arrow` | `arrow`, and `bulk` | |
//! | `tables` | `table`, and `arrow` | |
//!
//! `fault-injection` is for the tests of this repository: calls of the system can be made to fail.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Without the upper floors, some internal items of the lower ones have no caller. The lints stay on for the full build.
#![cfg_attr(not(feature = "tables"), allow(dead_code, unused_imports))]

#[macro_use]
mod macros;

#[cfg(feature = "keys")]
mod alias;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "bulk")]
pub mod audit;
mod chunk;
#[cfg(feature = "keys")]
mod dedup;
#[cfg(feature = "bulk")]
mod error;
#[cfg(feature = "bulk")]
pub mod explain;
#[cfg(feature = "bulk")]
pub mod extract;
mod grammar;
mod index;
#[cfg(feature = "bulk")]
pub mod io;
#[cfg(feature = "keys")]
pub mod key;
#[cfg(feature = "bulk")]
pub mod learn;
pub mod normalize;
#[cfg(feature = "bulk")]
pub mod pipeline;
#[cfg(feature = "bulk")]
pub mod profile;
pub mod repair;
pub mod resolve;
#[cfg(feature = "bulk")]
pub mod row;
#[cfg(feature = "bulk")]
pub mod rules;
#[cfg(feature = "bulk")]
pub mod set;
#[cfg(feature = "bulk")]
pub mod shape;
mod simd;
mod single;
pub mod surt;
#[cfg(feature = "bulk")]
mod survivors;
#[cfg(feature = "tables")]
pub mod table;
#[cfg(feature = "keys")]
mod threads;
#[cfg(feature = "bulk")]
mod time;
#[cfg(feature = "bulk")]
mod top_k;
pub mod uri;

pub use chunk::{Padded, PaddedBuf, Span};
#[cfg(feature = "bulk")]
pub use error::{Error, ErrorKind};
pub use index::trimmed;
#[cfg(feature = "bulk")]
pub use pipeline::{Deduplicator, Equivalence, SetDeduplicator, dedup_text as dedup};
pub use simd::{Backend, Kernels};
pub use single::{Uri, normalize};
pub use uri::{UriError, UriErrorKind};

/// What the benches, the fuzz targets and the tests of this repository use from below. No part of the public API: it
/// changes without notice.
#[doc(hidden)]
pub mod internals {
    /// Redirects and canonical links.
    #[cfg(feature = "keys")]
    pub mod alias {
        pub use crate::alias::*;
    }
    /// Padded buffers.
    pub mod chunk {
        pub use crate::chunk::*;
    }
    /// Sets of keys in memory.
    #[cfg(feature = "keys")]
    pub mod dedup {
        pub use crate::dedup::*;
    }
    /// Classes of bytes and facts about schemes.
    pub mod grammar {
        pub use crate::grammar::*;
    }
    /// The delimiter index of a chunk.
    pub mod index {
        pub use crate::index::*;
    }
    /// The reference path.
    pub mod normalize {
        pub use crate::normalize::exact::normalize_exact;
        pub use crate::normalize::rfc2396::normalize_rfc2396;
    }
    /// Instruction sets.
    pub mod simd {
        pub use crate::simd::*;
    }
    /// Hosts, and the older grammar.
    pub mod uri {
        pub use crate::uri::differ::*;
        pub use crate::uri::host::*;
        pub use crate::uri::rfc2396::*;
    }
}

/// The examples of the README, to be tested with those of the documentation.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// Those of the page for Rust programs.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../docs/guide/rust.md")]
pub struct RustGuide;
