//! Canonical forms, the levels 6.2.2 and 6.2.3 of the ladder.

pub use uriscan_core::normalize::{Level, Normalizer, Options, UnknownLevel};
