//! Reads sources into chunks that end at record ends, whatever they are compressed with, or packed in.

pub mod compress;
pub(crate) mod container;
pub mod cut;
pub(crate) mod deferred;
pub(crate) mod keeper;
pub(crate) mod origins;
pub mod part;
pub(crate) mod prefetch;
pub(crate) mod reader;
pub(crate) mod ready;
pub(crate) mod source;
pub(crate) mod utf16;
