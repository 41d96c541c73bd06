//! Tags of the keys of a run, in memory: of nearly every key that is not in the run, they say so.
//!
//! Keys are hashes. Their leading bits select a group of [`SAME`] keys or so, and the 16 bits that follow are the tag of a key. A
//! look-up compares a window of tags, which takes two or three cache lines, of a memory an eighth as large as the keys. One key in
//! two thousand finds its tag by chance; only keys whose tag is there have to be looked up among the keys.

use std::ops::Range;

use memmap2::{MmapMut, MmapOptions};

use crate::key::Key;
use crate::simd::prefetch;

/// Keys in a group, on average.
const SAME: u64 = 28;

/// Tags that are compared: those of nearly any group, and some after it.
const WINDOW: usize = 48;

/// Size of a key in bytes.
const KEY: usize = size_of::<u128>();

/// Size of a tag in bytes.
const TAG: usize = size_of::<u16>();

/// Size of the start of a group in bytes.
const START: usize = size_of::<u32>();

/// Look-ups between asking for the start of a group and asking for its tags, and between that and reading them.
const LOOK_AHEAD: usize = 12;

/// The tags of all keys of a run.
#[derive(Debug)]
pub(super) struct Tags {
    /// The number of keys before each group, and of all, as 32 bits; then the tags of all keys, in their order, and a window of zeros.
    memory: MmapMut,
    groups: u64,
}

/// A key that may be in the run.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) key: u128,
    /// The number of the query.
    pub(super) number: usize,
    /// All keys of the run before this one are below it.
    pub(super) from: u32,
}

/// A part of the tags that is still to be filled in.
pub(super) struct Part<'t> {
    tags: &'t mut [u16],
    /// Number of keys before it.
    first: usize,
    groups: u64,
}

/// What is known of a part of a run that was read.
#[derive(Debug)]
pub(super) struct Filled {
    pub(super) first: u128,
    pub(super) last: u128,
    pub(super) keys: usize,
    /// The number of keys of the run before each group after that of the first key, if tags were filled in. Within a byte of keys
    /// there are as many keys as the header says, so that these are hardly more than there are groups in all parts together.
    pub(super) starts: Vec<u32>,
}

/// Zeroed memory; `None` where there is not enough.
pub(super) fn zeroed(bytes: u64) -> Option<MmapMut> {
    MmapOptions::new().len(usize::try_from(bytes).ok()?).map_anon().ok()
}

fn groups_for(keys: u64) -> u64 {
    keys.div_ceil(SAME).max(1)
}

impl Tags {
    /// Memory for the tags of `keys` keys, before its [parts](Tags::parts) are filled in and [joined](Tags::join). `None` if the
    /// keys cannot be counted in 32 bits, or if there is not enough memory.
    pub(super) fn new(keys: u64) -> Option<Tags> {
        u32::try_from(keys).ok()?;
        let memory = zeroed(Tags::bytes_for(keys))?;
        // Advice only: without huge pages, each look-up takes longer.
        #[cfg(target_os = "linux")]
        let _ = memory.advise(memmap2::Advice::HugePage);
        Some(Tags { memory, groups: groups_for(keys) })
    }

    /// Bytes of memory for `keys` keys.
    pub(super) fn bytes_for(keys: u64) -> u64 {
        (groups_for(keys) + 1) * START as u64 + (keys + WINDOW as u64) * TAG as u64
    }

    /// The parts, of `keys` keys each.
    pub(super) fn parts(&mut self, keys: usize) -> impl Iterator<Item = Part<'_>> {
        let groups = self.groups;
        let (_, tags) = self.memory.split_at_mut((groups as usize + 1) * START);
        let tags: &mut [u16] = bytemuck::cast_slice_mut(tags);
        let count = tags.len() - WINDOW;
        let parts = tags[..count].chunks_mut(keys).zip((0..).step_by(keys));
        parts.map(move |(tags, first)| Part { tags, first, groups })
    }

    /// Fills in the starts of groups, given all parts.
    pub(super) fn join(&mut self, parts: &[Filled]) {
        let groups = self.groups;
        let (starts, _) = self.memory.split_at_mut((groups as usize + 1) * START);
        let starts: &mut [u32] = bytemuck::cast_slice_mut(starts);
        // From group `next` on, none of the parts so far has keys.
        let (mut next, mut count) = (0, 0);
        for part in parts {
            let begun = place(part.first, groups).0 + 1;
            let end = begun + part.starts.len();
            starts[next..begun].fill(count);
            starts[begun..end].copy_from_slice(&part.starts);
            (next, count) = (end, count + part.keys as u32);
        }
        starts[next..].fill(count);
    }

    /// Those of the queries, which are keys and numbers, that may be in the run.
    pub(super) fn candidates(&self, queries: &[(Key, usize)]) -> Vec<Candidate> {
        let groups = self.groups;
        let (starts, tags) = self.memory.split_at((groups as usize + 1) * START);
        let (starts, tags): (&[u32], &[u16]) =
            (bytemuck::cast_slice(starts), bytemuck::cast_slice(tags));
        let mut candidates = Vec::new();
        for (at, &(key, number)) in queries.iter().enumerate() {
            if let Some(&(key, _)) = queries.get(at + 2 * LOOK_AHEAD) {
                prefetch(starts, place(key.0, groups).0);
            }
            if let Some(&(key, _)) = queries.get(at + LOOK_AHEAD) {
                let start = starts[place(key.0, groups).0] as usize;
                prefetch(tags, start);
                prefetch(tags, start + 64 / TAG);
                prefetch(tags, start + WINDOW - 1);
            }
            let (group, tag) = place(key.0, groups);
            let Range { start, end } = starts[group] as usize..starts[group + 1] as usize;
            // One group in thousands is larger than the window, unless a file was made for it.
            if end - start > WINDOW || has(&tags[start..], tag) {
                let below = tags[start..end].partition_point(|&other| other < tag);
                if tags[start..end].get(below) == Some(&tag) {
                    let from = (start + below) as u32;
                    candidates.push(Candidate { key: key.0, number, from });
                }
            }
        }
        candidates
    }
}

impl Part<'_> {
    /// Fills in the tags of the keys `bytes`, which rise, and returns the starts of groups among them.
    pub(super) fn fill(self, bytes: &[u8]) -> Vec<u32> {
        let (mut starts, mut last) = (Vec::new(), None);
        for ((i, tag), key) in (self.first..).zip(self.tags).zip(bytes.as_chunks::<KEY>().0) {
            let (group, of_key) = place(u128::from_be_bytes(*key), self.groups);
            *tag = of_key;
            let last = last.get_or_insert(group);
            if *last != group {
                starts.extend((*last..group).map(|_| i as u32));
                *last = group;
            }
        }
        starts
    }
}

/// Whether `tag` is in the window at the beginning of `tags`.
#[inline(always)]
fn has(tags: &[u16], tag: u16) -> bool {
    let Some(window) = tags.first_chunk::<WINDOW>() else { return true };
    // Where it stands cannot be foreseen: all are compared.
    window.iter().fold(0, |found, &other| found | u16::from(other == tag)) != 0
}

/// The group and the tag of `key`, of so many groups. Both together rise with keys.
#[inline(always)]
fn place(key: u128, groups: u64) -> (usize, u16) {
    let scaled = u128::from((key >> 64) as u64) * u128::from(groups);
    ((scaled >> 64) as usize, (scaled >> 48) as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_keys_are_candidates_and_hardly_any_other() {
        let key_of = |i: u128| i.wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835);
        for count in [0, 1, 27, 28, 29, 1000, 300_000] {
            let mut keys: Vec<u128> = (0..count).map(key_of).collect();
            keys.sort_unstable();
            let mut tags = Tags::new(count as u64).unwrap();
            assert_eq!(tags.memory.len() as u64, Tags::bytes_for(count as u64));
            let filled: Vec<Filled> = tags
                .parts(1000)
                .zip(keys.chunks(1000))
                .map(|(part, keys)| {
                    let bytes: Vec<u8> = keys.iter().flat_map(|key| key.to_be_bytes()).collect();
                    let starts = part.fill(&bytes);
                    Filled { first: keys[0], last: keys[keys.len() - 1], keys: keys.len(), starts }
                })
                .collect();
            tags.join(&filled);
            let queries: Vec<_> = (0..2 * count).map(|i| Key(key_of(i))).zip(0..).collect();
            let candidates = tags.candidates(&queries);
            let there = candidates.iter().filter(|candidate| {
                let &&Candidate { key, number, from } = candidate;
                assert_eq!(key, key_of(number as u128));
                let below = keys.partition_point(|&other| other < key);
                assert!(from as usize <= below);
                (number as u128) < count
            });
            assert_eq!(there.count(), count as usize, "{count}");
            assert!(candidates.len() <= count as usize + count as usize / 500, "{count}");
        }
    }
}
