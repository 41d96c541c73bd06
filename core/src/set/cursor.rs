//! Looks keys up in a run, in rising order.

use std::ops::Range;

use super::entry::Entry;
use super::error::SetError;
use super::run::{BLOCK_KEYS, KEY, Run, key_at};

/// Number of blocks that are read at once if nearly all of them are needed.
const MANY: u64 = 64;

/// Blocks per looked-up key above which only the block of the key is read.
const SPARSE: u64 = 16;

/// Number of keys after the last one in which the next one is searched without interpolation.
const NEAR: usize = 32;

/// Interpolation steps before bisection takes over, which bounds the search for any distribution of
/// keys.
const GUESSES: u32 = 6;

/// A position in a run that advances as keys are looked up, and the blocks around it.
#[derive(Debug)]
pub(super) struct Cursor<'r> {
    run: &'r Run,
    /// Number of blocks to read at once.
    stride: u64,
    /// Number of blocks by which guesses may be wrong; as many are read in addition at both ends.
    slack: u64,
    /// After the block in which the last key is expected.
    end: u64,
    /// The blocks whose keys are in the window, if any.
    blocks: Range<u64>,
    /// Their bytes, unless the run is in memory.
    bytes: Vec<u8>,
    /// The position of the last key in the window: all keys before it are below that key, if it was
    /// searched in this window.
    at: usize,
    is_placed: bool,
}

impl<'r> Cursor<'r> {
    /// A cursor for about `count` keys between `first` and `last`.
    pub(super) fn new(run: &'r Run, count: usize, first: u128, last: u128) -> Cursor<'r> {
        let (first, last) = (run.guess(first) / BLOCK_KEYS, run.guess(last) / BLOCK_KEYS);
        let is_sparse = last.saturating_sub(first) > SPARSE * count as u64;
        let (stride, slack) = if is_sparse { (1, 0) } else { (MANY, run.guess_error()) };
        let end = last + 1 + slack;
        let blocks = if run.resident().is_some() { 0..run.blocks() } else { 0..0 };
        Cursor { run, stride, slack, end, blocks, bytes: Vec::new(), at: 0, is_placed: false }
    }

    fn window(&self) -> &[u8] {
        self.run.resident().unwrap_or(&self.bytes)
    }

    /// Returns the number of keys below `key`, and whether the run holds it. The looked-up keys
    /// must rise.
    #[inline]
    pub(super) fn seek(&mut self, key: u128) -> Result<(u64, bool), SetError> {
        let window = self.window();
        // If looked-up keys are denser than those of the run, most have the position of the last
        // one.
        if self.is_placed && key <= key_at(window, self.at) {
            return Ok((self.number(), key == key_at(window, self.at)));
        }
        let count = window.len() / KEY;
        if count > 0 && key <= key_at(window, count - 1) && key >= key_at(window, 0) {
            return Ok(self.seek_here(key));
        }
        self.seek_elsewhere(key)
    }

    /// The number of keys before the current position.
    fn number(&self) -> u64 {
        self.blocks.start * BLOCK_KEYS + self.at as u64
    }

    /// [`Cursor::seek`] for a key between the first and the last one of the window.
    #[inline]
    fn seek_here(&mut self, key: u128) -> (u64, bool) {
        let window = self.window();
        let count = window.len() / KEY;
        let mut from = self.at.min(count - 1);
        let is_near = self.is_placed && key_at(window, (from + NEAR).min(count - 1)) >= key;
        if !is_near {
            let guess = self.run.guess(key).saturating_sub(self.blocks.start * BLOCK_KEYS);
            from = (guess as usize).min(count - 1);
        }
        let (at, is_there) = search_from(window, from, key);
        (self.at, self.is_placed) = (at, true);
        (self.number(), is_there)
    }

    /// [`Cursor::seek`] for a key that is not in the window, if there is one.
    #[cold]
    fn seek_elsewhere(&mut self, key: u128) -> Result<(u64, bool), SetError> {
        // The blocks that may hold the key.
        let (mut low, mut high) = (0, self.run.blocks());
        let mut guess = (self.run.guess(key) / BLOCK_KEYS).saturating_sub(self.slack);
        // The keys adjacent to these blocks, as far as they are known.
        let (mut below, mut above) = (None, None);
        let mut tries = 0;
        loop {
            if !self.blocks.is_empty() {
                let count = self.window().len() / KEY;
                let (first, last) = (key_at(self.window(), 0), key_at(self.window(), count - 1));
                // Keys rise within the window. They must also rise beyond its ends: only then is a
                // key that is between two windows not in the run.
                if below.is_some_and(|below| below >= first)
                    || above.is_some_and(|above| last >= above)
                {
                    let start = self.blocks.start * BLOCK_KEYS;
                    self.blocks = 0..0;
                    return Err(self.run.falls(start));
                }
                if key < first {
                    high = self.blocks.start;
                    above = Some(first);
                    guess = self.blocks.start.saturating_sub(1 + self.blocks_between(key, first));
                } else if key > last {
                    low = self.blocks.end;
                    below = Some(last);
                    guess = self.blocks.end + self.blocks_between(last, key);
                } else {
                    return Ok(self.seek_here(key));
                }
            }
            if low >= high {
                // Between two adjacent keys in two blocks, or outside all of them.
                return Ok(((low * BLOCK_KEYS).min(self.run.len()), false));
            }
            tries += 1;
            if tries > GUESSES {
                guess = low + (high - low) / 2;
            }
            let start = guess.clamp(low, high - 1);
            let end = (start + self.stride).min(self.end.max(start + 1)).min(high);
            self.blocks = start..end;
            self.is_placed = false;
            let mut bytes = std::mem::take(&mut self.bytes);
            let result = self.run.read_again(start..end, &mut bytes);
            self.bytes = bytes;
            if result.is_err() {
                self.blocks = 0..0;
            }
            result?;
        }
    }

    /// Approximate number of whole blocks between two keys, if keys are evenly distributed.
    fn blocks_between(&self, low: u128, high: u128) -> u64 {
        let share = ((high - low) >> 64) as u64;
        ((u128::from(share) * u128::from(self.run.len())) >> 64) as u64 / BLOCK_KEYS
    }
}

/// The number of keys of `bytes` below `key`, and whether it is among them. Searches from number
/// `from` on, in either direction, in steps that double.
#[inline]
pub(super) fn search_from(bytes: &[u8], from: usize, key: u128) -> (usize, bool) {
    let count = bytes.len() / KEY;
    // All keys before `low` are below `key`; none from `high` on is.
    let (mut low, mut high) = (0, count);
    let mut step = 1;
    if key_at(bytes, from) < key {
        low = from + 1;
        while low + step - 1 < count {
            let probe = low + step - 1;
            if key_at(bytes, probe) >= key {
                high = probe;
                break;
            }
            low = probe + 1;
            step *= 2;
        }
    } else {
        high = from;
        while high >= step {
            let probe = high - step;
            if key_at(bytes, probe) < key {
                low = probe + 1;
                break;
            }
            high = probe;
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if key_at(bytes, middle) < key {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    (low, low < count && key_at(bytes, low) == key)
}

/// Keeps those of `entries`, whose keys rise, that `run` holds, or those that it does not hold.
pub(super) fn retain<E: Entry>(
    run: &Run,
    entries: &mut Vec<E>,
    held: bool,
) -> Result<(), SetError> {
    let (Some(first), Some(last)) = (entries.first(), entries.last()) else { return Ok(()) };
    let mut cursor = Cursor::new(run, entries.len(), first.key(), last.key());
    let mut kept = 0;
    for i in 0..entries.len() {
        let (_, is_there) = cursor.seek(entries[i].key())?;
        entries[kept] = entries[i];
        kept += usize::from(is_there == held);
    }
    entries.truncate(kept);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::set::run_writer::RunWriter;
    use std::collections::BTreeSet;

    /// Keys that are evenly distributed, clustered, or all at one end.
    fn keys(count: u64, shape: u32) -> BTreeSet<u128> {
        let mut state = 7u128;
        let mut next = || {
            state = state.wrapping_mul(0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645).wrapping_add(1);
            (state >> 64) ^ (state << 64)
        };
        (0..count)
            .map(|i| match shape {
                0 => next(),
                1 => (next() >> 100) | (u128::from(i % 3) << 100),
                _ => u128::MAX - u128::from(i),
            })
            .collect()
    }

    #[test]
    fn agrees_with_a_tree_for_any_distribution_of_keys() {
        let directory = tempfile::tempdir().unwrap();
        for (count, shape) in
            [(0, 0), (1, 0), (255, 0), (256, 2), (257, 1), (40_000, 0), (40_000, 1), (9_000, 2)]
        {
            let tree = keys(count, shape);
            let sorted: Vec<u128> = tree.iter().copied().collect();
            let mut writer = RunWriter::new(directory.path(), false).unwrap();
            sorted.chunks(1000).for_each(|keys| writer.push(keys).unwrap());
            let run = writer.finish(true).unwrap();
            assert_eq!(run.len(), tree.len() as u64);
            let mut asked: Vec<u128> = sorted
                .iter()
                .flat_map(|&key| [key.saturating_sub(1), key, key.saturating_add(1)])
                .collect();
            asked.extend(keys(300, 0));
            asked.extend([0, 1, u128::MAX, u128::MAX - 1]);
            asked.sort_unstable();
            for resident in [false, true] {
                if resident {
                    run.load([false, true]).unwrap();
                }
                for every in [1, 7, 1000] {
                    let asked: Vec<u128> = asked.iter().copied().step_by(every).collect();
                    let mut cursor =
                        Cursor::new(&run, asked.len(), asked[0], asked[asked.len() - 1]);
                    for &key in &asked {
                        let below = sorted.partition_point(|&it| it < key) as u64;
                        let expected = (below, tree.contains(&key));
                        assert_eq!(cursor.seek(key).unwrap(), expected, "{count} {shape} {key:x}");
                    }
                    for held in [false, true] {
                        let mut kept = asked.clone();
                        retain(&run, &mut kept, held).unwrap();
                        let expected: Vec<u128> = asked
                            .iter()
                            .copied()
                            .filter(|key| tree.contains(key) == held)
                            .collect();
                        assert!(kept == expected);
                    }
                }
            }
        }
    }
}
