//! Seen keys in memory. They are secret: no input can be made that merges by them what is not equivalent.

use std::collections::HashSet;
use std::hash::BuildHasherDefault;
use std::sync::{Mutex, MutexGuard, PoisonError};

use uriscan::key::{Hasher, Key};

/// Threads rarely wait for each other in so many parts.
const SHARDS: usize = 64;

/// Keys, which are evenly distributed: their own bits place them.
#[derive(Default)]
struct Keys(HashSet<u128, BuildHasherDefault<OwnBits>>);

/// The low bits of a key.
#[derive(Default)]
struct OwnBits(u64);

impl std::hash::Hasher for OwnBits {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        // Keys are written as numbers.
        bytes.iter().for_each(|&byte| self.0 = self.0.rotate_left(8) ^ u64::from(byte));
    }

    fn write_u128(&mut self, key: u128) {
        self.0 = key as u64;
    }
}

/// A set in memory.
pub(crate) struct Memory {
    hasher: Hasher,
    shards: Box<[Mutex<Keys>]>,
}

impl Memory {
    pub(crate) fn new() -> Memory {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Memory { hasher: Hasher::random(), shards }
    }

    /// The key of a canonical form.
    pub(crate) fn key(&self, form: &[u8]) -> Key {
        self.hasher.key(form)
    }

    /// The part that `key` belongs to. Its leading bits choose it; within the part the others place it.
    fn shard(&self, key: Key) -> MutexGuard<'_, Keys> {
        let shard = (key.0 >> (u128::BITS - SHARDS.trailing_zeros())) as usize;
        // A set of keys is whole after every insertion.
        self.shards[shard].lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether `key` was not there. It is now.
    pub(crate) fn insert(&self, key: Key) -> bool {
        self.shard(key).0.insert(key.0)
    }

    pub(crate) fn contains(&self, key: Key) -> bool {
        self.shard(key).0.contains(&key.0)
    }

    pub(crate) fn len(&self) -> u64 {
        let len =
            |shard: &Mutex<Keys>| shard.lock().unwrap_or_else(PoisonError::into_inner).0.len();
        self.shards.iter().map(|shard| len(shard) as u64).sum()
    }
}
