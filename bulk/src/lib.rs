//! Jobs over files and streams of URIs: in parallel, in input order, within a memory limit.
//!
//! [`pipeline`] has a function for each job: it takes sources, options, settings and a writer. [`io`] reads files,
//! compressed ones too, and writes lines, rows and templates. The crate `uriscan` defines URIs and their equivalence.
//!
//! Items that the documentation hides are for the crates of columns, tables and learned rules, and change without notice.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
extern crate uriscan_core;

pub mod error;
pub mod io;
pub mod pipeline;
#[doc(hidden)]
pub mod survivors;
mod top_k;

pub use error::{Error, ErrorKind};
