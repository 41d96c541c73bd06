//! `uriscan`: a SIMD-accelerated bulk URI scanner.

#![deny(unsafe_code)]

pub mod grammar;
pub mod uri;
