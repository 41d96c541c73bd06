//! Parquet: its footer, row groups and pages, whose claims are checked before memory is allocated.

pub(crate) mod annotations;
pub(crate) mod content;
pub(crate) mod decoding;
pub(crate) mod encrypted;
pub(crate) mod footer;
pub(crate) mod groups;
pub(crate) mod lengths;
pub(crate) mod metadata;
pub(crate) mod pages;
pub(crate) mod sorted;
pub(crate) mod stored;
pub(crate) mod unpack;
pub(crate) mod zones;
