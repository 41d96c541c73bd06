//! Objects of object stores, and files of web servers, as inputs and outputs.
//!
//! An argument that begins with the scheme of one is taken as its URL, unless a file has that name. A program that is built
//! without the feature `full` has no such [`Url`]s: there the argument is the name of a file, and if that does not
//! exist, the message says what is missing.

#[cfg(not(feature = "full"))]
mod absent;
#[cfg(feature = "full")]
mod present;

#[cfg(not(feature = "full"))]
use std::path::Path;
#[cfg(feature = "full")]
use std::path::PathBuf;

#[cfg(not(feature = "full"))]
pub(crate) use absent::{Cancel, Upload, Url, create, listed, open};
#[cfg(feature = "full")]
pub(crate) use present::{
    Cancel, Group, GroupCancel, GroupObject, Upload, Url, create, create_group, found, listed, open,
};

/// The tables that an argument stands for.
#[cfg(feature = "full")]
pub(crate) struct FoundBelow<T> {
    /// Each with its path below the argument.
    pub(crate) tables: Vec<(T, PathBuf)>,
    /// Names that were left out.
    pub(crate) skipped: u64,
}

/// What a program without object stores says of their URLs.
#[cfg(not(feature = "full"))]
pub(crate) const WITHOUT_STORES: &str = "this program is built without object stores; install it with \
     `cargo install --path cli --features full`, or copy the object to a file";

/// Whether `path` is the URL of an object of a store.
#[cfg(not(feature = "full"))]
pub(crate) fn is_object(path: &Path) -> bool {
    const SCHEMES: [&str; 5] = ["s3://", "gs://", "az://", "abfs://", "abfss://"];
    let text = path.to_string_lossy();
    let begins =
        |scheme: &&str| text.get(..scheme.len()).is_some_and(|it| it.eq_ignore_ascii_case(scheme));
    SCHEMES.iter().any(begins)
}
