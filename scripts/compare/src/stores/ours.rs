//! `uriscan::set`.

use std::path::Path;

use uriscan::key::{Key, PublicHash};
use uriscan::set::{Meaning, SetWriter};

use super::Store;
use crate::rounds::Outcome;

/// Memory for sorting, as in the program.
const MEMORY: usize = 256 << 20;

/// A set on disk, open for writing.
pub(super) struct Ours(SetWriter);

impl Ours {
    pub(super) fn create(directory: &Path) -> Outcome<Ours> {
        let meaning = Meaning::new(PublicHash::Blake3, "");
        Ok(Ours(SetWriter::create(&directory.join("keys.set"), meaning)?))
    }
}

impl Store for Ours {
    fn load(&mut self, keys: Vec<u128>) -> Outcome<()> {
        self.add(keys)
    }

    fn add(&mut self, keys: Vec<u128>) -> Outcome<()> {
        let mut loader = self.0.loader(MEMORY)?;
        loader.push(keys.into_iter().map(Key))?;
        self.0.add(loader)?;
        Ok(())
    }

    fn count(&self, keys: &[u128]) -> Outcome<usize> {
        let keys: Vec<Key> = keys.iter().copied().map(Key).collect();
        Ok(self.0.set().contains(&keys)?.into_iter().filter(|&is_there| is_there).count())
    }

    fn sorts(&self) -> bool {
        true
    }

    fn len(&self) -> Outcome<u64> {
        Ok(self.0.set().len())
    }
}
