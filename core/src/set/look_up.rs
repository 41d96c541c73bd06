//! Look-ups of many keys in a run, in no order, by what of it is held in memory.
//!
//! Few look-ups read blocks. Once there are so many that it takes as long to read the whole run, that is done, and the [tags](Tags)
//! of its keys are held; blocks are then read only for keys whose tag is found: those that are in the run, and one in two thousand that
//! is not. Once enough tags are found, the keys are held too.

use std::sync::atomic::Ordering;

use memmap2::MmapMut;

use super::cursor::{Cursor, search_from};
use super::error::SetError;
use super::held::{Held, May};
use super::run::{BLOCK_KEYS, KEY, Run, key_at};
use super::tags::{Candidate, Filled, Tags, zeroed};
use crate::key::Key;
use crate::simd::prefetch;
use crate::threads;

/// Bytes that are read at once: whole blocks of a file, which stay in the cache of a core while tags are made of them.
pub(super) const PART: usize = 1 << 18;

/// Blocks per look-up below which it pays to load all of them: to read a block for one key takes as long as to load a few.
const WORTH: u64 = 4;

/// Keys between asking for one and comparing it.
const LOOK_AHEAD: usize = 12;

impl Run {
    /// Lets tags be held if they take no more than `bytes` of memory, once so many keys are looked up that it pays; returns what
    /// is left.
    pub(super) fn hold_tags(&mut self, bytes: u64) -> u64 {
        let left = bytes.checked_sub(Tags::bytes_for(self.len()));
        self.held.may = if left.is_some() { May::Tags } else { May::Nothing };
        left.unwrap_or(bytes)
    }

    /// The same for keys, which tags go with.
    pub(super) fn hold_keys(&mut self, bytes: u64) -> u64 {
        match bytes.checked_sub(self.len() * KEY as u64) {
            Some(left) if self.held.may == May::Tags => {
                self.held.may = May::Keys;
                left
            }
            _ => bytes,
        }
    }

    fn tags(&self) -> Option<&Tags> {
        self.held.tags.get()?.as_ref()
    }

    /// Whether look-ups in any order are as fast as in that of keys, or will be when many were there.
    pub(super) fn is_held(&self) -> bool {
        self.tags().is_some() && (self.held.may == May::Keys || self.resident().is_some())
    }

    /// Whether keys were looked up.
    pub(super) fn was_tried(&self) -> bool {
        self.held.made.load(Ordering::Relaxed) > 0
    }

    /// Loads what may be held, if with `count` more look-ups there are enough to pay for it. A run of 2^32 keys and more stays on
    /// disk. Runs on the current rayon pool.
    pub(super) fn expect(&self, count: u64) -> Result<(), SetError> {
        let Held { tags, keys, may, expected, made, there } = &self.held;
        let worth = self.blocks() / WORTH;
        let expected = count.saturating_add(expected.fetch_add(count, Ordering::Relaxed));
        if *may == May::Nothing || expected < worth {
            return Ok(());
        }
        let [made, there] = [made, there].map(|count| count.load(Ordering::Relaxed));
        let more = u128::from(count) * u128::from(there) / u128::from(made.max(1));
        let with_keys = *may == May::Keys && u128::from(there) + more >= u128::from(worth);
        let is_missing = [tags.get().is_none(), with_keys && keys.get().is_none()];
        if is_missing != [false; 2] {
            self.load(is_missing)?;
        }
        Ok(())
    }

    /// Loads tags, or keys, or both.
    pub(super) fn load(&self, [with_tags, with_keys]: [bool; 2]) -> Result<(), SetError> {
        let mut tags = if with_tags { Tags::new(self.len()) } else { None };
        let mut keys = if with_keys { zeroed(self.len() * KEY as u64) } else { None };
        let parts = match (&tags, &keys) {
            (None, None) => Vec::new(),
            _ => self.read_parts(tags.as_mut(), keys.as_mut())?,
        };
        // Each part rises; so all do if none begins at or below the end of the one before it.
        if let Some(i) = parts.windows(2).position(|parts| parts[0].last >= parts[1].first) {
            return Err(self.falls(parts[..=i].iter().map(|part| part.keys as u64).sum()));
        }
        if let Some(tags) = &mut tags {
            tags.join(&parts);
        }
        // If another thread was faster, what it has stays.
        if with_tags {
            let _ = self.held.tags.set(tags);
        }
        if with_keys {
            let _ = self.held.keys.set(keys);
        }
        Ok(())
    }

    /// Reads all keys, part by part: fills `tags`, and copies them to `place`.
    fn read_parts(
        &self,
        tags: Option<&mut Tags>,
        place: Option<&mut MmapMut>,
    ) -> Result<Vec<Filled>, SetError> {
        const KEYS: usize = PART / KEY;
        let count = self.len() as usize;
        let mut tags = tags.map(|tags| tags.parts(KEYS));
        let mut places = place.map(|place| place.chunks_mut(PART));
        let parts = (0..count).step_by(KEYS).map(|first| {
            let tags = tags.as_mut().and_then(Iterator::next);
            (first, tags, places.as_mut().and_then(Iterator::next))
        });
        let parts = threads::map(parts, |(first, tags, place)| {
            let mut buffer = Vec::new();
            let bytes = place.unwrap_or_else(|| {
                buffer.resize(PART.min((count - first) * KEY), 0);
                &mut buffer
            });
            self.read_rising(first as u64 / BLOCK_KEYS, bytes)?;
            let (starts, keys) =
                (tags.map(|tags| tags.fill(bytes)).unwrap_or_default(), bytes.len() / KEY);
            Ok(Filled { first: key_at(bytes, 0), last: key_at(bytes, keys - 1), keys, starts })
        });
        parts.into_iter().collect()
    }

    /// Calls `hit` with the number of each of the keys that is there. May sort `queries`.
    pub(super) fn find(
        &self,
        queries: &mut [(Key, usize)],
        mut hit: impl FnMut(usize),
    ) -> Result<(), SetError> {
        // With tags, keys whose tag is found count, whether they are in the run or not: either takes as long.
        let there = match (self.tags(), self.resident()) {
            (Some(tags), Some(keys)) => {
                let candidates = tags.candidates(queries);
                find_resident(keys, &candidates, &mut hit);
                candidates.len() as u64
            }
            (Some(tags), None) => {
                let mut candidates = tags.candidates(queries);
                candidates.sort_unstable_by_key(|candidate| candidate.key);
                self.seek(&candidates, |candidate| (candidate.key, candidate.number), &mut hit)?;
                candidates.len() as u64
            }
            (None, _) => {
                queries.sort_unstable_by_key(|&(key, _)| key);
                let mut there = 0;
                self.seek(queries, |&(key, number)| (key.0, number), &mut |number| {
                    there += 1;
                    hit(number);
                })?;
                there
            }
        };
        self.held.made.fetch_add(queries.len() as u64, Ordering::Relaxed);
        self.held.there.fetch_add(there, Ordering::Relaxed);
        Ok(())
    }

    /// Calls `hit` with the number of each of `queries` that is there; their keys rise.
    fn seek<Q>(
        &self,
        queries: &[Q],
        parts: impl Fn(&Q) -> (u128, usize),
        hit: &mut impl FnMut(usize),
    ) -> Result<(), SetError> {
        let (Some(first), Some(last)) = (queries.first(), queries.last()) else { return Ok(()) };
        let mut cursor = Cursor::new(self, queries.len(), parts(first).0, parts(last).0);
        for query in queries {
            let (key, number) = parts(query);
            if cursor.seek(key)?.1 {
                hit(number);
            }
        }
        Ok(())
    }
}

/// Calls `hit` with the number of each of the candidates that is one of `keys`.
fn find_resident(keys: &[u8], candidates: &[Candidate], hit: &mut impl FnMut(usize)) {
    for (at, &Candidate { key, number, from }) in candidates.iter().enumerate() {
        if let Some(next) = candidates.get(at + LOOK_AHEAD) {
            prefetch(keys, next.from as usize * KEY);
        }
        let from = from as usize;
        // Keys with the same tag are rare.
        if key_at(keys, from) == key || search_from(keys, from, key).1 {
            hit(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::ops::Range;

    use super::*;
    use crate::set::run_writer::RunWriter;

    #[test]
    fn agrees_with_a_tree_for_any_distribution_of_keys() {
        let directory = tempfile::tempdir().unwrap();
        let spread = |i: u128| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        let near = |i: u128| u128::MAX - i;
        // Groups of many keys, with few tags or all of them.
        let same_tags = |i: u128| ((i % 40) << 100) | i;
        let many_tags = |i: u128| i << 90;
        for count in [0, 1, 28, 29, 64, 65, 5000, 40_000] {
            for key_of in [spread as fn(u128) -> u128, near, same_tags, many_tags] {
                let keys: BTreeSet<u128> = (0..count).map(key_of).collect();
                let sorted: Vec<u128> = keys.iter().copied().collect();
                let run = || {
                    let mut writer = RunWriter::new(directory.path(), false).unwrap();
                    sorted.chunks(1000).for_each(|keys| writer.push(keys).unwrap());
                    writer.finish(false).unwrap()
                };
                let mut asked: Vec<u128> = (0..2 * count).map(key_of).rev().collect();
                asked.extend([0, 1, u128::MAX, u128::MAX >> 1]);
                let expected: Vec<bool> = asked.iter().map(|key| keys.contains(key)).collect();
                let check = |run: &Run| {
                    let mut queries: Vec<_> = asked.iter().map(|&key| Key(key)).zip(0..).collect();
                    let mut found = vec![false; asked.len()];
                    run.find(&mut queries, |number| found[number] = true).unwrap();
                    assert!(found == expected, "{count}");
                };
                for may in [May::Nothing, May::Tags, May::Keys] {
                    let mut run = run();
                    run.held.may = may;
                    check(&run);
                    run.expect(u64::MAX).unwrap();
                    assert_eq!(run.tags().is_some(), may != May::Nothing);
                    assert_eq!(run.resident().is_some(), may == May::Keys);
                    check(&run);
                }
                for what in [[true, false], [false, true]] {
                    let run = run();
                    run.load(what).unwrap();
                    check(&run);
                    run.load([true, true]).unwrap();
                    check(&run);
                }
            }
        }
    }

    #[test]
    fn keys_are_held_once_many_of_their_tags_are_found() {
        let directory = tempfile::tempdir().unwrap();
        let key_of = |i: u128| i << 106;
        let mut writer = RunWriter::new(directory.path(), false).unwrap();
        // 400 blocks.
        let keys: Vec<u128> = (0..400 * u128::from(BLOCK_KEYS)).map(key_of).collect();
        writer.push(&keys).unwrap();
        let mut run = writer.finish(false).unwrap();
        assert_eq!(run.hold_keys(u64::MAX), u64::MAX, "not without tags");
        assert_eq!(run.hold_tags(10), 10);
        assert_eq!(run.hold_tags(1 << 20), (1 << 20) - Tags::bytes_for(run.len()));
        assert_eq!(run.hold_keys(run.len() * 16), 0);
        let find = |numbers: Range<u128>| {
            // Every other one is there; the others have its tag.
            let mut queries: Vec<_> = numbers.map(|i| Key(key_of(i) + i % 2)).zip(0..).collect();
            run.find(&mut queries, |_| {}).unwrap();
        };
        let holds = || (run.tags().is_some(), run.resident().is_some(), run.is_held());
        run.expect(99).unwrap();
        assert_eq!(holds(), (false, false, false));
        run.expect(1).unwrap();
        assert_eq!(holds(), (true, false, true), "nothing is known to be there");
        find(0..40);
        run.expect(59).unwrap();
        assert_eq!(holds(), (true, false, true));
        run.expect(60).unwrap();
        assert_eq!(holds(), (true, true, true));
    }
}
