//! Where results go: standard output, or files that change only when all is done.
//!
//! [`Output`] writes one of them, [`commit`] puts all of a run in place together, and [`Claims`] sees to it that none is
//! an input or another output.

mod claims;
mod destination;
#[cfg(feature = "full")]
mod directory;
#[cfg(feature = "full")]
mod folder;
mod identity;
#[cfg(feature = "full")]
mod objects;
mod write;

pub(crate) use claims::{Claims, Content, StdoutFile};
pub(crate) use destination::{Destination, directory_of, is_dash};
#[cfg(feature = "full")]
pub(crate) use destination::{NOT_COMPRESSED, is_packed};
#[cfg(feature = "full")]
pub(crate) use folder::Folder;
pub(crate) use identity::FileId;
pub(crate) use write::{Output, commit, sync, write_text};
