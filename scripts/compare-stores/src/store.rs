//! What is asked of every store.

use rayon::prelude::*;

/// An error ends the comparison, whatever it is.
pub(crate) type Outcome<T> = Result<T, Box<dyn std::error::Error + Send + Sync>>;

/// Memory that stores with a cache of their own may use for it.
pub(crate) const CACHE: usize = 1 << 30;

/// A set of keys on disk. What is done runs on the current rayon pool.
pub(crate) trait Store {
    /// Puts keys, in no order and all different, into the set, which is empty. Then they are on the disk.
    fn load(&mut self, keys: Vec<u128>) -> Outcome<()>;

    /// As [`Store::load`], when there are keys already.
    fn add(&mut self, keys: Vec<u128>) -> Outcome<()>;

    /// How many of `keys` it holds.
    fn count(&self, keys: &[u128]) -> Outcome<usize>;

    /// Whether [`Store::count`] sorts what is asked for, so that nobody else need.
    fn sorts(&self) -> bool {
        false
    }

    /// Number of keys.
    fn len(&self) -> Outcome<u64>;
}

/// The keys in rising order.
pub(crate) fn sorted(mut keys: Vec<u128>) -> Vec<u128> {
    keys.par_sort_unstable();
    keys
}

/// The sum of `count` over parts of `keys`, one for each thread.
pub(crate) fn count_in_parts(
    keys: &[u128],
    count: impl Fn(&[u128]) -> Outcome<usize> + Sync + Send,
) -> Outcome<usize> {
    let part = keys.len().div_ceil(rayon::current_num_threads()).max(1);
    keys.par_chunks(part).map(count).sum()
}
