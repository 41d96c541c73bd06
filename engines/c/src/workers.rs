//! Buffers for the threads that call at the same time, so that one handle serves all of them.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError, TryLockError};

use uriscan_arrow::{Columns, Single};

/// Threads that work at the same time; more of them wait.
const SLOTS: usize = 64;

/// Buffers that have grown with a text of more bytes are not kept.
const LONG: usize = 1 << 20;

/// Settings, and buffers for work under them.
pub(crate) struct Workers {
    columns: Columns,
    slots: [Slot; SLOTS],
}

/// Buffers; none before the first work in it, and after a panic. In cache lines that no other slot is in.
#[repr(align(128))]
struct Slot(Mutex<Option<Box<Single>>>);

impl Workers {
    pub(crate) fn new(columns: Columns) -> Workers {
        Workers { columns, slots: [const { Slot(Mutex::new(None)) }; SLOTS] }
    }

    pub(crate) fn columns(&self) -> &Columns {
        &self.columns
    }

    /// Does `work` on a text of `length` bytes with buffers that no other thread has at this time.
    #[inline]
    pub(crate) fn with<T>(&self, length: usize, work: impl FnOnce(&mut Single) -> T) -> T {
        let mut slot = self.slot();
        let taken = slot.take();
        let mut single = taken.unwrap_or_else(|| Box::new(Single::new(self.columns.clone())));
        let result = work(&mut single);
        if length <= LONG {
            *slot = Some(single);
        }
        result
    }

    /// A slot that no other thread has: that of this thread, if it can be.
    fn slot(&self) -> MutexGuard<'_, Option<Box<Single>>> {
        let first = number_of_thread();
        for i in first..first + SLOTS {
            match self.slots[i % SLOTS].0.try_lock() {
                Ok(slot) => return slot,
                // Nothing is in a slot while somebody works with what was.
                Err(TryLockError::Poisoned(slot)) => return slot.into_inner(),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        self.slots[first % SLOTS].0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Threads are numbered as they come.
#[inline]
fn number_of_thread() -> usize {
    static NEXT: AtomicUsize = AtomicUsize::new(0);
    thread_local!(static NUMBER: Cell<usize> = const { Cell::new(usize::MAX) });
    NUMBER.with(|number| {
        if number.get() == usize::MAX {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed) % SLOTS);
        }
        number.get()
    })
}
