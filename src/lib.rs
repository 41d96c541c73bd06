//! Parses, normalizes and deduplicates URIs in bulk, exactly as RFC 3986 defines equivalence.
//!
//! Input is text by the gigabyte, one URI per line. SIMD kernels classify the bytes, and most URIs are found to be
//! canonical without being parsed byte by byte. Results do not depend on the CPU, the number of threads or the chunk size.
//!
//! ```
//! use std::collections::HashSet;
//!
//! use uriscan::key::Hasher;
//! use uriscan::normalize::{Normalizer, Options};
//! use uriscan::uri;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Parse.
//! let text = b"HTTP://Example.COM:80/%7Ebob/./x";
//! let parts = uri::parse(text)?;
//! assert_eq!((parts.host(text), parts.path(text)), (Some(&b"Example.COM"[..]), &b"/%7Ebob/./x"[..]));
//!
//! // Normalize.
//! let mut normalizer = Normalizer::new(Options::default());
//! assert_eq!(normalizer.normalize(text)?, b"http://example.com/~bob/x");
//!
//! // Deduplicate: equivalent URIs have the same key.
//! let (hasher, mut seen, mut first) = (Hasher::random(), HashSet::new(), Vec::new());
//! for uri in ["http://h", "HTTP://H:80/", "http://h/x"] {
//!     if seen.insert(hasher.key(normalizer.normalize(uri.as_bytes())?)) {
//!         first.push(uri);
//!     }
//! }
//! assert_eq!(first, ["http://h", "http://h/x"]);
//! # Ok(())
//! # }
//! ```
//!
//! With the feature `bulk`, the same for files and streams, in parallel:
//!
#![cfg_attr(feature = "bulk", doc = "```")]
#![cfg_attr(not(feature = "bulk"), doc = "```ignore")]
//! use uriscan::io::Source;
//! use uriscan::pipeline::{DedupOptions, Settings, Sinks, dedup};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let list = Source::new("list", &b"http://h\nHTTP://H:80/\nhttp://h/x\n"[..]);
//! let mut out = Vec::new();
//! let report = dedup(vec![list], &DedupOptions::default(), &Settings::default(), &mut Sinks::new(&mut out))?;
//! assert_eq!((&out[..], report.duplicates), (&b"http://h\nhttp://h/x\n"[..], 1));
//! # Ok(())
//! # }
//! ```
//!
//! # Where to start
//!
//! | to | use |
//! | --- | --- |
//! | parse one reference, or learn why it is invalid | [`uri::parse`] |
//! | parse many in one text | [`uri::Parser`] |
//! | normalize URIs one by one | [`normalize::Normalizer`] |
//! | resolve references against a base URI | [`resolve::Resolver`] |
//! | map an IRI to a URI, repair invalid input | [`repair::repair`] |
//! | hash canonical forms | [`key::Hasher`] (secret, for one run), [`key::PublicHasher`] (reproducible) |
//! | keep keys on disk between runs | `set::KeySet` (feature `bulk`) |
//! | treat more URIs as equivalent than the RFC does | `rules::RuleSet` (feature `bulk`) |
//! | explain a canonical form, or why two URIs differ | `explain` (feature `bulk`) |
//! | report suspicious URIs (RFC 3986, section 7) | `audit::audit` (feature `bulk`) |
//! | find URIs in text, pages and logs | `extract::Finder` (feature `bulk`) |
//! | process files as the program does | `pipeline` (feature `bulk`) |
//! | process Arrow arrays | `arrow::Columns` (feature `arrow`) |
//! | process Parquet, Arrow, CSV and JSON files | `table::run` (feature `tables`) |
//! | read and write objects of S3, Google Cloud Storage and Azure | `remote::Client` (feature `object-store`) |
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
//! A feature adds modules, and changes no result of the others. Always available: [`grammar`], [`uri`], [`normalize`],
//! [`resolve`], [`repair`], [`surt`], [`key`], [`alias`] and [`dedup`].
//!
//! | feature | adds | default |
//! | --- | --- | --- |
//! | `bulk` | `pipeline` and `io` with decompression, `set`, `rules`, `explain`, `audit`, `extract`, `profile` | yes |
//! | `arrow` | `arrow`, and `bulk` | |
//! | `tables` | `table`, and `arrow` | |
//! | `object-store` | `remote`, and `bulk` | |
//!
//! `fault-injection` is for the tests of this repository: calls of the system can be made to fail.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]
// Without the upper floors, some internal items of the lower ones have no caller. The lints stay on for the full build.
#![cfg_attr(not(feature = "tables"), allow(dead_code, unused_imports))]

#[macro_use]
mod macros;

pub mod alias;
#[cfg(feature = "arrow")]
pub mod arrow;
#[cfg(feature = "bulk")]
pub mod audit;
mod chunk;
pub mod dedup;
#[cfg(feature = "bulk")]
pub mod explain;
#[cfg(feature = "bulk")]
pub mod extract;
#[cfg(feature = "bulk")]
mod files;
pub mod grammar;
mod index;
#[cfg(feature = "bulk")]
pub mod io;
pub mod key;
pub mod normalize;
#[cfg(feature = "bulk")]
pub mod pipeline;
#[cfg(feature = "bulk")]
pub mod profile;
#[cfg(feature = "object-store")]
pub mod remote;
pub mod repair;
pub mod resolve;
#[cfg(feature = "bulk")]
pub mod row;
#[cfg(feature = "bulk")]
pub mod rules;
#[cfg(feature = "bulk")]
pub mod set;
#[cfg(feature = "bulk")]
mod shown;
mod simd;
pub mod surt;
#[cfg(feature = "bulk")]
mod survivors;
#[cfg(feature = "tables")]
pub mod table;
#[cfg(feature = "bulk")]
mod tally;
mod threads;
#[cfg(feature = "bulk")]
mod time;
pub mod uri;

pub use chunk::{Padded, PaddedBuf, Span};
pub use simd::{Backend, Kernels};

/// What the program, the benches, the fuzz targets and the tools of this repository use from below. No part of the
/// public API: it changes without notice.
#[doc(hidden)]
pub mod internals {
    /// Padded buffers.
    pub mod chunk {
        pub use crate::chunk::*;
    }
    /// Files.
    #[cfg(feature = "bulk")]
    pub mod files {
        pub use crate::files::*;
    }
    /// The delimiter index of a chunk.
    pub mod index {
        pub use crate::index::*;
    }
    /// Instruction sets.
    pub mod simd {
        pub use crate::simd::*;
    }
}

/// The examples of the README, to be tested with those of the documentation.
#[cfg(all(doctest, feature = "bulk"))]
#[doc = include_str!("../README.md")]
pub struct Readme;
