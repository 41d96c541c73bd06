//! Work on all threads of the current rayon pool.
//!
//! Rayon is generic over the work it runs, so each kind of work compiles some 10 KB of it. Here
//! work is passed by reference to a trait object, so that this code exists once. The price is an
//! indirect call for each item, and items are chunks, partitions or parts of files.

use std::sync::{Mutex, PoisonError};
#[cfg(not(fuzzing))]
use std::thread::Builder;

use rayon::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuildError, ThreadPoolBuilder};

/// Calls `work` for each of `items`, with its index.
pub fn each<T: Send>(items: &mut [T], work: impl Fn(usize, &mut T) + Sync) {
    // Each is taken once, so no lock is ever contended.
    let items: Vec<Mutex<&mut T>> = items.iter_mut().map(Mutex::new).collect();
    for_numbers(items.len(), &|i| {
        work(i, &mut items[i].lock().unwrap_or_else(PoisonError::into_inner));
    });
}

/// Maps `items` with `make`, in order. Each is passed by value, so that it may be freed early.
pub fn map<T: Send, U: Send>(
    items: impl IntoIterator<Item = T>,
    make: impl Fn(T) -> U + Sync,
) -> Vec<U> {
    let mut places: Vec<(Option<T>, Option<U>)> =
        items.into_iter().map(|item| (Some(item), None)).collect();
    each(&mut places, |_, (item, made)| *made = item.take().map(&make));
    places.into_iter().filter_map(|(_, made)| made).collect()
}

/// Runs both, at the same time if a thread is free.
pub fn both<A: Send, B: Send>(
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    let (mut a, mut b) = (None, None);
    let (mut one, mut other) = (Some(one), Some(other));
    join(&mut || a = one.take().map(|one| one()), &mut || b = other.take().map(|other| other()));
    (a.expect("it was done"), b.expect("it was done"))
}

/// Runs `work` on a pool of `count` new threads, one per core if it is 0. They have ended when this returns, so a run
/// leaves no threads behind.
#[cfg(not(fuzzing))]
pub fn on_new<R: Send>(
    count: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<R, ThreadPoolBuildError> {
    let mut started = Vec::new();
    let pool = ThreadPoolBuilder::new()
        .num_threads(count)
        .spawn_handler(|thread| {
            let name = format!("uriscan-{}", thread.index());
            started.push(Builder::new().name(name).spawn(|| thread.run())?);
            Ok(())
        })
        .build()?;
    let result = on(&pool, work);
    // The pool ends its threads, but does not wait for them.
    drop(pool);
    for thread in started {
        let _ = thread.join();
    }
    Ok(result)
}

/// Runs `work` on a pool of `count` threads, which are kept for the next run: a fuzz target makes thousands of runs in
/// a second, and to start threads takes longer than most of them. A single thread is the current one.
#[cfg(fuzzing)]
pub fn on_new<R: Send>(
    count: usize,
    work: impl FnOnce() -> R + Send,
) -> Result<R, ThreadPoolBuildError> {
    use std::cell::RefCell;
    use std::collections::BTreeMap;
    use std::rc::Rc;

    thread_local!(static POOLS: RefCell<BTreeMap<usize, Rc<ThreadPool>>> = RefCell::default());
    let kept = POOLS.with_borrow(|pools| pools.get(&count).cloned());
    let pool = match kept {
        Some(pool) => pool,
        None => {
            let builder = ThreadPoolBuilder::new().num_threads(count);
            let builder = if count == 1 { builder.use_current_thread() } else { builder };
            let pool = Rc::new(builder.build()?);
            POOLS.with_borrow_mut(|pools| pools.insert(count, Rc::clone(&pool)));
            pool
        }
    };
    Ok(on(&pool, work))
}

/// Runs `work` on the threads of `pool`.
fn on<R: Send>(pool: &ThreadPool, work: impl FnOnce() -> R + Send) -> R {
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
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::Duration;

    use super::*;

    #[test]
    fn every_item_is_processed_once_in_its_position() {
        on_new(3, || {
            for count in [0, 1, 2, 1000] {
                let mut items = map(0..count, |i| i);
                each(&mut items, |i, item| *item += i);
                assert!(items.iter().copied().eq((0..count).map(|i| 2 * i)), "{count}");
            }
            assert_eq!(both(rayon::current_num_threads, || "other"), (3, "other"));
        })
        .unwrap();
    }

    /// Counts the threads that have ended.
    struct Ended(&'static AtomicUsize);

    impl Drop for Ended {
        fn drop(&mut self) {
            // Late enough to fail if nobody waits.
            std::thread::sleep(Duration::from_millis(20));
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    #[test]
    fn no_thread_is_left_behind() {
        static ENDED: AtomicUsize = AtomicUsize::new(0);
        thread_local!(static AT_END: Ended = const { Ended(&ENDED) });
        on_new(2, || rayon::broadcast(|_| AT_END.with(|_| ()))).unwrap();
        assert_eq!(ENDED.load(Ordering::Relaxed), 2);
    }
}
