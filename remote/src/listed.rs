//! Objects as a store lists them.

use super::location::Location;

/// An object in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Listed {
    /// What names it.
    pub location: Location,
    /// Its length.
    pub bytes: u64,
    /// What the store says of its content, if anything: it changes with the content.
    pub etag: Option<String>,
    /// When it was last modified, in seconds from 1970 on.
    pub(super) modified: i64,
}
