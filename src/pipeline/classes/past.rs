//! Classes that earlier runs have seen, by a set of keys on disk.

use std::sync::{Mutex, PoisonError};

use super::Select;
use super::shelf::Shelf;
use crate::key::{Hasher, Key};
use crate::pipeline::Seen;
use crate::set::{KeySet, Loader, SetError};

/// What earlier runs have seen.
pub(super) struct Past<'s> {
    set: &'s KeySet,
    /// Takes the keys of classes that are written.
    new_keys: Option<Mutex<&'s mut Loader>>,
    select: Select,
    /// Of the run, which public keys come from.
    hasher: Hasher,
}

impl<'s> Past<'s> {
    pub(super) fn new(seen: Seen<'s>, select: Select, hasher: Hasher) -> Past<'s> {
        Past { set: seen.set, new_keys: seen.new_keys.map(Mutex::new), select, hasher }
    }

    /// Marks the classes on `shelf`, which is sealed, that were seen, and gives their number; `keys` are the keys of all
    /// classes.
    pub(super) fn see(&self, keys: &[Key], shelf: &mut Shelf) -> Result<u64, SetError> {
        let public = keys.iter().map(|&key| self.hasher.public(key));
        let mut asked: Vec<(Key, usize)> = public.zip(0..).collect();
        let mut seen = 0;
        self.set.find(&mut asked, |class| {
            shelf.mark_seen(class as u32);
            seen += 1;
        })?;
        drop(asked);
        if let Some(new_keys) = &self.new_keys {
            let is_written = |class: u32| {
                let count = shelf.count(class);
                count > 0 && self.select.has(count)
            };
            let written = keys.iter().zip(0..).filter(|&(_, class)| is_written(class));
            let mut new_keys = new_keys.lock().unwrap_or_else(PoisonError::into_inner);
            new_keys.push_alone(written.map(|(&key, _)| self.hasher.public(key)))?;
        }
        Ok(seen)
    }
}
