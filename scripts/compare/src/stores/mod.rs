//! Embedded stores as sets of 128-bit keys, compared with `uriscan::set`.
//!
//! | step | what is timed |
//! | --- | --- |
//! | load | keys in no order, until they are on the disk. Stores that are faster with sorted keys get them sorted, and the sorting counts |
//! | has | look-ups of a batch, half of its keys present, warm; sorted first, which counts too |
//! | has-mixed | the same in no order. uriscan sorts by itself: both are the same call for it |
//! | add | keys that are not there yet, in no order, until they are on the disk; three times in a round |
//! | has-added | as `has`, when these keys are there as well |
//!
//! RocksDB is left out: its C++ sources take longer to compile than all the rest.

mod fjall;
mod keys;
mod lmdb;
mod ours;
mod redb;
mod steps;

use std::path::Path;

use rayon::prelude::*;

use crate::rounds::Outcome;
pub(crate) use steps::Sizes;

/// The stores, in the order of a round.
const NAMES: [&str; 4] = ["uriscan", "lmdb", "redb", "fjall"];

/// Memory that stores with a cache of their own may use for it.
const CACHE: usize = 1 << 30;

/// A set of keys on disk. What is done runs on the current rayon pool.
trait Store {
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
fn sorted(mut keys: Vec<u128>) -> Vec<u128> {
    keys.par_sort_unstable();
    keys
}

/// The sum of `count` over parts of `keys`, one for each thread.
fn count_in_parts(
    keys: &[u128],
    count: impl Fn(&[u128]) -> Outcome<usize> + Sync + Send,
) -> Outcome<usize> {
    let part = keys.len().div_ceil(rayon::current_num_threads()).max(1);
    keys.par_chunks(part).map(count).sum()
}

/// Makes the empty store called `name` in a directory that is there.
fn create(name: &str, directory: &Path) -> Outcome<Box<dyn Store>> {
    Ok(match name {
        "uriscan" => Box::new(ours::Ours::create(directory)?),
        "lmdb" => Box::new(lmdb::Lmdb::create(directory)?),
        "redb" => Box::new(redb::Redb::create(directory)?),
        "fjall" => Box::new(fjall::Fjall::create(directory)?),
        _ => return Err(format!("no store {name:?}; there are: {}", NAMES.join(", ")).into()),
    })
}

/// Takes the stores called `names` (if there are none, all) through all steps in each round, below `directory`.
///
/// # Errors
/// If a store fails, or gives a wrong answer.
pub(crate) fn run(
    directory: &Path,
    names: &[String],
    sizes: &Sizes,
    rounds: usize,
    threads: usize,
) -> Outcome<()> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build()?;
    let names = if names.is_empty() { NAMES.map(String::from).to_vec() } else { names.to_vec() };
    for round in 1..=rounds {
        for name in &names {
            eprintln!("round {round}: {name}");
            let place = tempfile::Builder::new().prefix("stores-").tempdir_in(directory)?;
            let done = pool.install(|| steps::run_round(name, place.path(), sizes));
            done.map_err(|error| format!("{name}: {error}"))?;
        }
    }
    Ok(())
}
