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
//!
//! Crates beside this one, for many URIs at a time:
//!
//! | to | use |
//! | --- | --- |
//! | process files and streams as the program does | `uriscan-bulk` |
//! | process Arrow arrays | `uriscan-arrow` |
//! | process Parquet, Arrow, CSV and JSON files | `uriscan-table` |
//! | learn rules from evidence of equal pages | `uriscan-learn` |
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
//! A feature adds modules, and changes no result of the others. Always available, with one crate from outside below them
//! (`memchr`): [`Uri`], [`normalize()`], and the modules [`uri`], [`normalize`](mod@normalize), [`resolve`], [`repair`] and [`surt`].
//!
//! | feature | adds | default |
//! | --- | --- | --- |
//! | `idna` | the tables for names of hosts that are not ASCII. Without it a URI with such a host is an error at level `scheme`, and repairs leave it encoded | yes |
//! | `keys` | `key` | yes |
//! | `bulk` | `Equivalence`, `Deduplicator`, `dedup()`; `set`, `rules`, `explain`, `audit`, `shape`, `extract`, `profile`; `serde` for [`Uri`]; `idna` and `keys` | yes |

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(feature = "bulk")]
pub mod audit;
#[cfg(feature = "bulk")]
pub mod explain;
#[cfg(feature = "bulk")]
pub mod extract;
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
pub mod surt;
pub mod uri;

#[cfg(feature = "bulk")]
pub use uriscan_bulk::pipeline::{
    Deduplicator, Equivalence, Report, SetDeduplicator, dedup_text as dedup,
};
#[cfg(feature = "bulk")]
pub use uriscan_bulk::{Error, ErrorKind};
pub use uriscan_core::single::{Uri, normalize};
pub use uriscan_core::{
    Backend, Kernels, Padded, PaddedBuf, Span, UriError, UriErrorKind, trimmed,
};

/// The examples of the README, to be tested with those of the documentation.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../README.md")]
pub struct Readme;

/// Those of the page for Rust programs.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../docs/guide/rust.md")]
pub struct RustGuide;
