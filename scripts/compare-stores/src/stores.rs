//! The stores that are compared.

use std::path::Path;

use crate::store::{Outcome, Store};
use crate::{fjall, lmdb, ours, redb};

/// The stores, in the order of a round.
pub(crate) const NAMES: [&str; 4] = ["uriscan", "lmdb", "redb", "fjall"];

/// Makes the empty store called `name` in a directory that is there.
pub(crate) fn create(name: &str, directory: &Path) -> Outcome<Box<dyn Store>> {
    Ok(match name {
        "uriscan" => Box::new(ours::Ours::create(directory)?),
        "lmdb" => Box::new(lmdb::Lmdb::create(directory)?),
        "redb" => Box::new(redb::Redb::create(directory)?),
        "fjall" => Box::new(fjall::Fjall::create(directory)?),
        _ => return Err(format!("no store is called {name}").into()),
    })
}
