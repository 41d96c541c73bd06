//! Zeroed memory that grows where it is.

use bytemuck::Pod;
use memmap2::{Advice, MmapMut, MmapOptions};

/// The size of a huge page on most systems.
pub(super) const HUGE_PAGE: usize = 2 << 20;

/// Slots of so many bytes have a map of their own, which goes back to the system at once: an allocator keeps what was freed
/// for a while, and of all partitions, which grow together, that would be as much again as they hold. Maps of
/// partitions lie side by side, so that they have huge pages in common: without them nearly every insertion waits for a
/// translation of its address.
pub(super) const MAPPED: usize = 128 << 10;

/// Slots of so many bytes are whole numbers of huge pages, and grow where they are.
pub(super) const HUGE: usize = 2 * HUGE_PAGE;

/// Address space set aside for slots that grow where they are: fresh memory is dear, and
/// what has been touched stays in use. Those that outgrow it move to twice the room.
const RESERVE: usize = 1 << 30;

/// Zeroed memory for slots.
pub(super) enum Slots<T> {
    Small(Vec<T>),
    /// A map, and how many slots at its front are in use; no other byte of it has been written to.
    Mapped(MmapMut, usize),
}

impl<T: Pod> Slots<T> {
    /// At least `count` slots, which can grow where they are if they are many.
    pub(super) fn zeroed(count: usize) -> Slots<T> {
        let bytes = whole_bytes::<T>(count);
        if bytes < MAPPED {
            return Slots::Small(vec![T::zeroed(); count]);
        }
        let room = if bytes >= HUGE { RESERVE.max(2 * bytes) } else { bytes };
        match map(room, bytes) {
            Some(map) => {
                // Advice only: without huge pages the slots work the same, slower.
                #[cfg(target_os = "linux")]
                let _ = map.advise(Advice::HugePage);
                Slots::Mapped(map, bytes / size_of::<T>())
            }
            None => Slots::Small(vec![T::zeroed(); count]),
        }
    }

    /// [`Slots::zeroed`] for slots that grow step by step, where they are from the beginning. Whether they are to fill many huge pages
    /// or not, they have some once they fill one.
    #[cfg(feature = "bulk")]
    pub(super) fn growing(count: usize, is_large: bool) -> Slots<T> {
        let bytes = count * size_of::<T>();
        if bytes < MAPPED && !is_large {
            return Slots::Small(vec![T::zeroed(); count]);
        }
        match map(RESERVE.max(2 * bytes), bytes) {
            Some(map) => {
                #[cfg(target_os = "linux")]
                {
                    let start = if is_large { 0 } else { HUGE_PAGE.min(map.len()) };
                    let _ = map.advise_range(Advice::HugePage, start, map.len() - start);
                }
                Slots::Mapped(map, count)
            }
            None => Slots::Small(vec![T::zeroed(); count]),
        }
    }

    /// Makes them at least `count`, the new ones zero, without moving those that are there; says
    /// whether that could be done.
    pub(super) fn extend(&mut self, count: usize) -> bool {
        let count = whole_bytes::<T>(count) / size_of::<T>();
        match self {
            Slots::Mapped(map, in_use) if count * size_of::<T>() <= map.len() => {
                *in_use = count;
                true
            }
            _ => false,
        }
    }

    #[inline(always)]
    pub(super) fn get(&self) -> &[T] {
        match self {
            Slots::Small(slots) => slots,
            Slots::Mapped(map, count) => bytemuck::cast_slice(&map[..count * size_of::<T>()]),
        }
    }

    #[inline(always)]
    pub(super) fn get_mut(&mut self) -> &mut [T] {
        match self {
            Slots::Small(slots) => slots,
            Slots::Mapped(map, count) => {
                bytemuck::cast_slice_mut(&mut map[..*count * size_of::<T>()])
            }
        }
    }
}

/// A map of `room` bytes, or of `bytes` where address space is rationed.
fn map(room: usize, bytes: usize) -> Option<MmapMut> {
    let map = |len| MmapOptions::new().len(len).no_reserve_swap().map_anon();
    [room, bytes].into_iter().flat_map(map).next()
}

/// Bytes for at least `count` slots: many are a whole number of huge pages.
pub(super) fn whole_bytes<T>(count: usize) -> usize {
    let bytes = count * size_of::<T>();
    if bytes >= HUGE { bytes.next_multiple_of(HUGE_PAGE) } else { bytes }
}
