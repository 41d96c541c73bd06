//! Counts how often each text occurs, exactly as long as there is room, then by Space-Saving.
//!
//! [`Frequent`] counts texts that come many at a time, in any order, for surveys. What follows is about [`TopK`], which
//! takes them in their order.
//!
//! It knows texts and their order, not what they are. Exact counts are kept in partitions, which take their texts in
//! parallel. When the next batch might exceed the limit, all counts move to a [`SpaceSaving`] table, which takes texts
//! one by one in their order. So the result depends on the texts, their order and the limit, and on nothing else.

mod frequent;
mod space_saving;

use std::cmp::Ordering;

use frequent::RECENT;
pub(crate) use frequent::{Counts, Frequent, MostFrequent, Recent};
use space_saving::{ENTRY, SpaceSaving};
use uriscan_core::chunk::Prefix;
use uriscan_core::dedup::{Classes, HeldTexts, Place, ProbedRun, Rows};
use uriscan_core::key::{Hasher, Key};
use uriscan_core::simd::prefetch;
use uriscan_core::threads;

/// The texts of a chunk, in order. Each is kept once, or a few times if others came between.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    /// The keys of the texts that are kept.
    rows: Rows,
    text: Vec<u8>,
    /// Where each ends in `text`.
    ends: Vec<usize>,
    /// How often each occurs, and where first.
    counts: Vec<(u32, u32)>,
    /// The numbers of the texts, as often as they occur.
    order: Vec<u32>,
    recent: Recent,
    /// Bytes of all occurrences.
    bytes: usize,
}

impl Texts {
    /// The number of no text.
    pub(crate) const NONE: u32 = u32::MAX;

    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.text.clear();
        self.ends.clear();
        self.order.clear();
        Counts::forget(&mut self.recent);
    }

    /// Appends `text`.
    #[inline]
    pub(crate) fn push(&mut self, hasher: &Hasher, text: &[u8]) {
        let number = self.number(hasher.key(text), text);
        self.order.push(number);
    }

    /// The number of `text`, which has this `key`, by which it can be [set](Texts::set) at its place.
    #[inline]
    pub(crate) fn number(&mut self, key: Key, text: &[u8]) -> u32 {
        // The upper half picks the partition. Whoever writes texts that share a place only makes the list longer.
        let place = &mut self.recent[key.0 as usize % RECENT];
        if let Some(number) = place.checked_sub(1)
            && self.rows.key(number as usize) == key
        {
            return number;
        }
        self.rows.push(key);
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
        *place = self.ends.len() as u32;
        *place - 1
    }

    /// Makes room for texts at `count` places; where none is set there is none.
    pub(crate) fn resize(&mut self, count: usize) {
        self.order.clear();
        self.order.resize(count, Texts::NONE);
    }

    /// Sets the number of the text at a place.
    #[inline(always)]
    pub(crate) fn set(&mut self, place: usize, number: u32) {
        self.order[place] = number;
    }

    /// Drops the places without a text; returns how many texts there are.
    pub(crate) fn close(&mut self) -> usize {
        self.order.retain(|&number| number != Texts::NONE);
        self.order.len()
    }

    /// To be called after the last text, and before [`TopK::add`].
    pub(crate) fn partition(&mut self) {
        self.rows.partition();
        self.counts.clear();
        self.counts.resize(self.ends.len(), (0, 0));
        for (place, &number) in self.order.iter().enumerate().rev() {
            let (count, first) = &mut self.counts[number as usize];
            (*count, *first) = (*count + 1, place as u32);
        }
        let bytes =
            |(number, &(count, _)): (usize, &(u32, u32))| count as usize * self.get(number).len();
        self.bytes = self.counts.iter().enumerate().map(bytes).sum();
    }

    #[inline]
    fn get(&self, row: usize) -> &[u8] {
        self.prefix(row).bytes()
    }

    #[inline]
    fn prefix(&self, row: usize) -> Prefix<'_> {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        Prefix::new(&self.text[start..], self.ends[row] - start)
    }

    /// Asks for the beginning of a text.
    #[inline(always)]
    fn prefetch(&self, row: usize) {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        prefetch(&self.text, start);
        prefetch(&self.text, start + 64);
    }
}

/// The counts of a partition, by the numbers of its texts.
#[derive(Debug, Default)]
struct Exact {
    /// How often each text occurs, and the position of the first occurrence among all texts.
    counts: Vec<(u64, u64)>,
    texts: HeldTexts,
    places: Vec<Place>,
}

/// As many texts are asked for before the first of them is read.
const AHEAD: usize = 16;

impl Exact {
    fn text(&self, number: usize) -> &[u8] {
        self.texts.get(self.places[number]).bytes()
    }

    /// Compares two of its texts, or those of others, as [`TopTexts`] sorts them.
    fn order((a, a_number): (&Exact, usize), (b, b_number): (&Exact, usize)) -> Ordering {
        let by_count = b.counts[b_number].0.cmp(&a.counts[a_number].0);
        by_count.then_with(|| a.text(a_number).cmp(b.text(b_number)))
    }

    /// The numbers of its `most` texts that occur most often, and perhaps of some others.
    fn most(&self, most: usize) -> Vec<usize> {
        let order = |&a: &usize, &b: &usize| Exact::order((self, a), (self, b));
        // The first of those that were dropped: `most` texts come before it.
        let (mut kept, mut last) = (Vec::new(), None);
        for number in 0..self.counts.len() {
            if last.is_none_or(|last| order(&number, &last).is_lt()) {
                kept.push(number);
            }
            if kept.len() > most.saturating_mul(2).saturating_add(AHEAD) {
                kept.select_nth_unstable_by(most, order);
                last = Some(kept[most]);
                kept.truncate(most);
            }
        }
        kept
    }

    /// Adds the counts of the rows of `run` in `texts`, the first of which has the position `start`.
    fn add(&mut self, ProbedRun { firsts, further, .. }: ProbedRun<'_>, texts: &Texts, start: u64) {
        let of_row = |row: u32| {
            let (count, first) = texts.counts[row as usize];
            (u64::from(count), start + u64::from(first))
        };
        further.iter().for_each(|&(class, _)| prefetch(&self.counts, class as usize));
        make_room(&mut self.counts, firsts.len());
        make_room(&mut self.places, firsts.len());
        for (at, &row) in firsts.iter().enumerate() {
            if let Some(&next) = firsts.get(at + AHEAD) {
                texts.prefetch(next as usize);
            }
            self.counts.push(of_row(row));
            self.places.push(self.texts.push(texts.prefix(row as usize)));
        }
        for &(class, row) in further {
            let (count, first) = &mut self.counts[class as usize];
            let (more, place) = of_row(row);
            (*count, *first) = (*count + more, place.min(*first));
        }
    }
}

/// Makes room for `more` items; a full list grows fourfold. Unused room takes address space only, and fewer copies than by doubling
/// stay in memory.
fn make_room<T>(list: &mut Vec<T>, more: usize) {
    if list.len() + more > list.capacity() {
        list.reserve_exact(more.max(3 * list.len()));
    }
}

/// A text and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TextCount {
    pub(crate) text: Vec<u8>,
    /// Not less than the true count.
    pub(crate) count: u64,
    /// What `count` is too high by, at most.
    pub(crate) error: u64,
}

/// The most frequent texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TopTexts {
    /// By count, the highest first, then by text.
    pub(crate) texts: Vec<TextCount>,
    /// The number of different texts; `None` if there was no room to know it.
    pub(crate) distinct: Option<u64>,
    /// A text that is not known occurs this often at most; 0 if all are known.
    pub(crate) error: u64,
}

/// Counts texts.
pub(crate) struct TopK {
    state: State,
    /// Bytes of memory that the counts may take; `None` for no limit.
    limit: Option<usize>,
    /// Number of texts so far.
    seen: u64,
}

enum State {
    Exact { classes: Classes<Exact>, bytes: usize },
    Bounded(SpaceSaving),
}

impl TopK {
    /// Counts within `limit` bytes of memory.
    pub(crate) fn new(limit: Option<usize>) -> TopK {
        let state = State::Exact { classes: Classes::new(), bytes: 0 };
        TopK { state, limit, seen: 0 }
    }

    /// Counts the texts of `chunks`, in order, on the current rayon pool.
    pub(crate) fn add(&mut self, chunks: &[&Texts]) {
        let more: usize = chunks.iter().map(|texts| texts.order.len() * ENTRY + texts.bytes).sum();
        let limit = self.limit.unwrap_or(usize::MAX);
        if let State::Exact { classes, bytes } = &mut self.state
            && bytes.saturating_add(more) > limit
        {
            self.state = State::Bounded(bounded(std::mem::take(classes), limit));
        }
        let mut starts = Vec::with_capacity(chunks.len());
        for texts in chunks {
            starts.push(self.seen);
            self.seen += texts.order.len() as u64;
        }
        match &mut self.state {
            State::Exact { classes, bytes } => {
                let rows: Vec<&Rows> = chunks.iter().map(|texts| &texts.rows).collect();
                classes.insert_runs(&rows, |exact, run| {
                    exact.add(run, chunks[run.chunk], starts[run.chunk]);
                });
                let text: u64 = classes.partitions().map(|exact| exact.texts.bytes).sum();
                *bytes = classes.len() * ENTRY + text as usize;
            }
            State::Bounded(table) => {
                for (texts, start) in chunks.iter().zip(starts) {
                    for (position, &row) in (start..).zip(&texts.order) {
                        let row = row as usize;
                        table.add(texts.rows.key(row), texts.get(row), position);
                    }
                }
            }
        }
    }

    /// The `most` texts that occur most often.
    pub(crate) fn most(self, most: usize) -> TopTexts {
        match self.state {
            State::Bounded(table) => table.most(most),
            State::Exact { classes, .. } => {
                let distinct = Some(classes.len() as u64);
                let mut parts: Vec<(&Exact, Vec<usize>)> =
                    classes.partitions().map(|exact| (exact, Vec::new())).collect();
                threads::each(&mut parts, |_, (exact, found)| *found = exact.most(most));
                let mut all = Vec::new();
                for (exact, found) in parts {
                    all.extend(found.into_iter().map(|number| (exact, number)));
                }
                keep_first(&mut all, most, |&a, &b| Exact::order(a, b));
                let counted = |(exact, number): (&Exact, usize)| TextCount {
                    text: exact.text(number).to_vec(),
                    count: exact.counts[number].0,
                    error: 0,
                };
                TopTexts { texts: all.into_iter().map(counted).collect(), distinct, error: 0 }
            }
        }
    }
}

/// Sorts `list` and keeps the first `most`.
fn keep_first<T>(list: &mut Vec<T>, most: usize, order: impl Fn(&T, &T) -> Ordering) {
    if most < list.len() {
        list.select_nth_unstable_by(most, &order);
        list.truncate(most);
    }
    list.sort_unstable_by(order);
}

/// The counts of `classes` in a table of at most `limit` bytes, in which they have room.
fn bounded(mut classes: Classes<Exact>, limit: usize) -> SpaceSaving {
    let table = std::sync::Mutex::new(SpaceSaving::new(limit));
    // Each partition is freed as soon as it has moved.
    classes.take_by_number(|_, keys, exact| {
        let mut table = table.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (number, key) in keys.into_iter().enumerate() {
            let (count, first) = exact.counts[number];
            table.insert_exact(key, exact.text(number), count, first);
        }
    });
    table.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
