//! Floor 0: work on all threads of the current rayon pool.
//!
//! Rayon is generic over the work it runs, so each kind of work compiles some 10 KB of it. Here
//! work is passed by reference to a trait object, so that this code exists once. The price is an
//! indirect call for each item, and items are chunks, partitions or parts of files.

use std::sync::{Mutex, PoisonError};

use rayon::ThreadPool;
use rayon::prelude::*;

/// Calls `work` for each of `items`, with its index.
pub(crate) fn each<T: Send>(items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    // Each is taken once, so no lock is ever contended.
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    for_numbers(items.len(), &|i| {
        work(i, &mut items[i].lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// Maps `items` with `make`, in order. Each is passed by value, so that it may be freed early.
pub(crate) fn map<T: Send, U: Send>(
    items: impl IntoIterator<Item = T>,
    make: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let mut places: Vec<(Option<T>, Option<U>)> =
        items.into_iter().map(|item| (Some(item), None)).collect();
    each(&mut places, |_, (item, made)| *made = item.take().map(&make));
    places.into_iter().filter_map(|(_, made)| made).collect()
}

/// Runs both, at the same time if a thread is free.
pub(crate) fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = (None, None);
    let (mut one, mut other) = (Some(one), Some(other));
    join(&mut || a = one.take().map(|one| one()), &mut || b = other.take().map(|other| other()));
    (a.expect("it was done"), b.expect("it was done"))
}

/// Runs `work` on the threads of `pool`.
pub(crate) fn on<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
    let mut done = None;
    let mut work = Some(work);
    install(pool, &mut || done = work.take().map(|work| work()));
    done.expect("it was done")
}

#[inline(never)]
fn for_numbers(count: usize, work: &(dyn Fn(usize) + Sync)) {
    (0..count).into_par_iter().for_each(work);
}

#[inline(never)]
fn join(one: &mut (dyn FnMut() + Send), other: &mut (dyn FnMut() + Send)) {
    rayon::join(one, other);
}

#[inline(never)]
fn install(pool: &ThreadPool, work: &mut (dyn FnMut() + Send)) {
    pool.install(work);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_processed_once_in_its_position() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        on(&pool, || {
            for count in [0, 1, 2, 1000] {
                let mut items = map(0..count, |i| i);
                each(&mut items, |i, item| *item += i);
                assert!(items.iter().copied().eq((0..count).map(|i| 2 * i)), "{count}");
            }
            assert_eq!(both(rayon::current_num_threads, || "other"), (3, "other"));
        });
    }
}
