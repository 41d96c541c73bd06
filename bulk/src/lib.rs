//! Jobs over files and streams of URIs: in parallel, in input order, within a memory limit.
//!
//! [`pipeline`] has a function for each job: it takes sources, options, settings and a writer. [`io`] is what is read
//! and written: files, compression, lines, rows and templates. [`learn`](mod@learn) finds the rules that data prove.
//! What a URI is, and when two are equivalent, is in the crate `uriscan`.
//!
//! What is hidden in the documentation is for the crates for columns and tables, and changes without notice.

#![deny(unsafe_code)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[macro_use]
extern crate uriscan_core;

pub mod error;
pub mod io;
pub mod learn;
pub mod pipeline;
#[doc(hidden)]
pub mod survivors;
mod top_k;

pub use error::{Error, ErrorKind};
