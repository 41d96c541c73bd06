//! The files of a set, changed and given correct checksums again: results are right or errors, a
//! set that is made from them is intact or is not made, and no other file is touched.

#[path = "../../tests/bulk/sets/files.rs"]
mod files;
#[path = "../../tests/bulk/sets/mutation.rs"]
mod mutation;
#[path = "../../tests/bulk/sets/plain.rs"]
mod plain;

/// The changes.
pub fn check(data: &[u8]) {
    mutation::check(data);
}
