//! The keys of a run in memory, with a table of where those with the same leading bits begin.
//!
//! Keys are hashes, so a few have the same leading bits. A look-up reads one entry of the table and one or two cache lines of
//! keys; both are asked for ahead, since look-ups come in no order and would wait for each of them.

use memmap2::{MmapMut, MmapOptions};

use crate::key::Key;
use crate::simd::prefetch;
use crate::threads;

/// Size of a key in bytes.
const KEY: usize = size_of::<u128>();

/// Bytes that are read at once: whole blocks of a file.
pub(super) const PART: usize = 1 << 20;

/// Most keys with the same leading bits, on average; half as many at least.
const SAME: usize = 8;

/// Keys with the same leading bits above which they are bisected: only in a file that was made for it.
const FEW: usize = 64;

/// Look-ups between asking for an entry of the table and asking for the keys, and between that and reading them.
const LOOK_AHEAD: usize = 12;

/// Shares of the keys that are counted at the same time.
const SHARES: usize = 64;

/// All keys of a run.
#[derive(Debug)]
pub(super) struct Resident {
    /// The keys, as they stand in the file.
    bytes: MmapMut,
    /// The number of keys before those with given leading bits, for each value of these, and of all keys.
    starts: Starts,
    /// How far a key is shifted to leave the leading bits.
    shift: u32,
}

/// Zeroed numbers of 32 bits.
#[derive(Debug)]
struct Starts(MmapMut);

impl Starts {
    #[inline(always)]
    fn get(&self) -> &[u32] {
        bytemuck::cast_slice(&self.0)
    }
}

/// Zeroed memory; `None` where there is not enough, or none is needed.
///
/// Huge pages are not asked for. Look-ups would take less, but loading takes three times as long with them on virtual machines
/// that give what is free back to their host.
fn zeroed(bytes: u64) -> Option<MmapMut> {
    MmapOptions::new().len(usize::try_from(bytes).ok()?).map_anon().ok()
}

impl Resident {
    /// `count` keys, which rise, as `read` reads them: it is given each part of their bytes, with the offset of its first, on
    /// any thread. `None` if there are none, if they cannot be counted in 32 bits, or if memory does not suffice.
    ///
    /// # Errors
    /// Those of `read`; the first part that fails decides.
    pub(super) fn load<E: Send>(
        count: u64,
        read: impl Fn(u64, &mut [u8]) -> Result<(), E> + Sync,
    ) -> Result<Option<Resident>, E> {
        if u32::try_from(count).is_err() {
            return Ok(None);
        }
        let values = (count as usize).div_ceil(SAME).next_power_of_two();
        let starts = zeroed((values as u64 + 1) * size_of::<u32>() as u64);
        let (Some(mut bytes), Some(starts)) = (zeroed(count * KEY as u64), starts) else {
            return Ok(None);
        };
        let parts = bytes.chunks_mut(PART).enumerate();
        let done = threads::map(parts, |(i, part)| read((i * PART) as u64, part));
        done.into_iter().collect::<Result<(), E>>()?;
        let shift = u128::BITS - values.trailing_zeros();
        let mut resident = Resident { bytes, starts: Starts(starts), shift };
        resident.count();
        Ok(Some(resident))
    }

    /// Fills the table of starts.
    fn count(&mut self) {
        let (keys, shift) = (self.bytes.as_chunks::<KEY>().0, self.shift);
        let value = |key: &[u8; KEY]| value_of(u128::from_be_bytes(*key), shift);
        let (first, starts) =
            bytemuck::cast_slice_mut::<u8, u32>(&mut self.starts.0).split_at_mut(1);
        first[0] = 0;
        let values = starts.len().div_ceil(SHARES);
        threads::map(starts.chunks_mut(values).enumerate(), |(share, starts)| {
            let least = share * values;
            let mut before = keys.partition_point(|key| value(key) < least);
            let end = keys.partition_point(|key| value(key) < least + starts.len());
            // The last key of a value decides, as keys rise.
            for i in before..end {
                starts[value(&keys[i]) - least] = i as u32 + 1;
            }
            for start in starts {
                before = before.max(*start as usize);
                *start = before as u32;
            }
        });
    }

    /// Bytes of memory for so many keys.
    pub(super) fn bytes_for(keys: u64) -> u64 {
        let values = keys.div_ceil(SAME as u64).next_power_of_two();
        keys * KEY as u64 + (values + 1) * size_of::<u32>() as u64
    }

    /// The keys, as they stand in the file.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    #[inline(always)]
    fn value(&self, key: u128) -> usize {
        value_of(key, self.shift)
    }

    /// Calls `hit` with the number of each of the keys that is there.
    pub(super) fn find(&self, queries: &[(Key, usize)], hit: &mut impl FnMut(usize)) {
        let starts = self.starts.get();
        for (at, &(key, number)) in queries.iter().enumerate() {
            if let Some((key, _)) = queries.get(at + 2 * LOOK_AHEAD) {
                prefetch(starts, self.value(key.0));
            }
            if let Some((key, _)) = queries.get(at + LOOK_AHEAD) {
                let start = starts[self.value(key.0)] as usize * KEY;
                prefetch(&self.bytes, start);
                prefetch(&self.bytes, start + 64);
            }
            if self.has(key.0) {
                hit(number);
            }
        }
    }

    #[inline(always)]
    fn has(&self, key: u128) -> bool {
        let value = self.value(key);
        let [start, end] = [value, value + 1].map(|value| self.starts.get()[value] as usize);
        let keys = &self.bytes.as_chunks::<KEY>().0[start..end];
        let wanted = key.to_be_bytes();
        if keys.len() > FEW {
            return keys.binary_search(&wanted).is_ok();
        }
        // Where it stands cannot be foreseen: all are compared.
        keys.iter().fold(false, |found, key| found | (*key == wanted))
    }
}

/// The leading bits of `key`, which a shift by `shift` leaves.
#[inline(always)]
fn value_of(key: u128, shift: u32) -> usize {
    // All bits are shifted out where there is but one value.
    key.checked_shr(shift).unwrap_or_default() as usize
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn agrees_with_a_tree_for_any_distribution_of_keys() {
        let spread = |i: u128| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let near = |i: u128| u128::MAX - i;
        let low = |i: u128| i;
        for count in [0, 1, 7, 8, 9, 64, 65, 5000, 70_000] {
            for key_of in [spread as fn(u128) -> u128, near, low] {
                let keys: BTreeSet<u128> = (0..count).map(key_of).collect();
                let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_be_bytes()).collect();
                let read = |at: u64, part: &mut [u8]| {
                    part.copy_from_slice(&bytes[at as usize..][..part.len()]);
                    Ok::<_, ()>(())
                };
                let loaded = Resident::load(count as u64, read).unwrap();
                let Some(resident) = loaded else {
                    assert_eq!(count, 0);
                    continue;
                };
                assert_eq!(
                    (resident.starts.0.len() + resident.bytes.len()) as u64,
                    Resident::bytes_for(count as u64)
                );
                let mut asked: Vec<u128> = (0..2 * count).map(key_of).rev().collect();
                asked.extend([0, 1, u128::MAX, u128::MAX >> 1]);
                let queries: Vec<_> = asked.iter().map(|&key| Key(key)).zip(0..).collect();
                let mut found = vec![false; asked.len()];
                resident.find(&queries, &mut |number| found[number] = true);
                let expected: Vec<bool> = asked.iter().map(|key| keys.contains(key)).collect();
                assert_eq!(found, expected, "{count}");
            }
        }
    }
}
