//! Objects of object stores, and files of web servers, as inputs and outputs.
//!
//! An argument that begins with the scheme of one is taken as its URL, unless a file has that name. A program that is built
//! without the feature `object-store` has no such [`Url`]s: there the argument is the name of a file, and if that does not
//! exist, the message says what is missing.

#[cfg(not(feature = "object-store"))]
mod absent;
#[cfg(feature = "object-store")]
mod present;

#[cfg(not(feature = "object-store"))]
use std::path::Path;
#[cfg(feature = "parquet")]
use std::path::PathBuf;

#[cfg(not(feature = "object-store"))]
pub(crate) use absent::{Cancel, Upload, Url, create, listed, open};
#[cfg(all(feature = "parquet", not(feature = "object-store")))]
pub(crate) use absent::{Group, GroupCancel, GroupObject, create_group, found};
#[cfg(feature = "object-store")]
pub(crate) use present::{Cancel, Upload, Url, create, listed, open};
#[cfg(all(feature = "parquet", feature = "object-store"))]
pub(crate) use present::{Group, GroupCancel, GroupObject, create_group, found};

/// The tables that an argument stands for.
#[cfg(feature = "parquet")]
pub(crate) struct FoundBelow<T> {
    /// Each with its path below the argument.
    pub(crate) tables: Vec<(T, PathBuf)>,
    /// Names that were left out.
    pub(crate) skipped: u64,
}

/// What a program without object stores says of their URLs.
#[cfg(not(feature = "object-store"))]
pub(crate) const WITHOUT_STORES: &str = "this program is built without object stores; install it with \
     `cargo install --path cli --features object-store`, or copy the object to a file";

/// Whether `path` is the URL of an object of a store.
#[cfg(not(feature = "object-store"))]
pub(crate) fn is_object(path: &Path) -> bool {
    const SCHEMES: [&str; 5] = ["s3://", "gs://", "az://", "abfs://", "abfss://"];
    let text = path.to_string_lossy();
    let begins =
        |scheme: &&str| text.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    SCHEMES.iter().any(begins)
}
