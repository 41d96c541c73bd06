//! Floor 7: counts how often each text occurs, exactly as long as there is room, then by Space-Saving.
//!
//! [`Frequent`] counts texts that come many at a time, in any order, for surveys. What follows is about [`Tally`], which takes them in
//! their order.
//!
//! It knows texts and their order, not what they are. Exact counts are kept in partitions, which take their texts in
//! parallel. When the next batch might exceed the limit, all counts move to a [`SpaceSaving`] table, which takes texts one
//! by one in their order. So the result depends on the texts, their order and the limit, and on nothing else.

mod frequent;
mod space_saving;

use crate::dedup::{Classes, Rows};
use crate::key::Hasher;
pub(crate) use frequent::{Counts, Frequent, MostFrequent, Recent};
use space_saving::{ENTRY, SpaceSaving};

/// The texts of a chunk, in order.
#[derive(Debug, Default)]
pub(crate) struct Texts {
    rows: Rows,
    text: Vec<u8>,
    /// Where each ends in `text`.
    ends: Vec<usize>,
}

impl Texts {
    pub(crate) fn clear(&mut self) {
        self.rows.clear();
        self.text.clear();
        self.ends.clear();
    }

    /// Appends `text`.
    #[inline]
    pub(crate) fn push(&mut self, hasher: &Hasher, text: &[u8]) {
        self.rows.push(hasher.key(text));
        self.text.extend_from_slice(text);
        self.ends.push(self.text.len());
    }

    /// To be called after the last text, and before [`Tally::add`].
    pub(crate) fn partition(&mut self) {
        self.rows.partition();
    }

    fn get(&self, row: usize) -> &[u8] {
        let start = if row == 0 { 0 } else { self.ends[row - 1] };
        &self.text[start..self.ends[row]]
    }
}

/// The counts of a partition, by the numbers of its texts.
#[derive(Debug, Default)]
struct Exact {
    counts: Vec<u64>,
    /// The position of the first occurrence of each text among all texts.
    firsts: Vec<u64>,
    text: Vec<u8>,
    ends: Vec<usize>,
}

impl Exact {
    fn text(&self, number: usize) -> &[u8] {
        let start = if number == 0 { 0 } else { self.ends[number - 1] };
        &self.text[start..self.ends[number]]
    }
}

/// A text and how often it occurs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Counted {
    pub(crate) text: Vec<u8>,
    /// Not less than the true count.
    pub(crate) count: u64,
    /// What `count` is too high by, at most.
    pub(crate) error: u64,
}

/// The most frequent texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Most {
    /// By count, the highest first, then by text.
    pub(crate) texts: Vec<Counted>,
    /// The number of different texts; `None` if there was no room to know it.
    pub(crate) distinct: Option<u64>,
    /// A text that is not known occurs this often at most; 0 if all are known.
    pub(crate) error: u64,
}

/// Counts texts.
pub(crate) struct Tally {
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

impl Tally {
    /// Counts within `limit` bytes of memory.
    pub(crate) fn new(limit: Option<usize>) -> Tally {
        let state = State::Exact { classes: Classes::new(), bytes: 0 };
        Tally { state, limit, seen: 0 }
    }

    /// Counts the texts of `chunks`, in order, on the current rayon pool.
    pub(crate) fn add(&mut self, chunks: &[&Texts]) {
        let more: usize =
            chunks.iter().map(|texts| texts.rows.len() * ENTRY + texts.text.len()).sum();
        let limit = self.limit.unwrap_or(usize::MAX);
        if let State::Exact { classes, bytes } = &mut self.state
            && bytes.saturating_add(more) > limit
        {
            self.state = State::Bounded(bounded(std::mem::take(classes), limit));
        }
        let mut starts = Vec::with_capacity(chunks.len());
        for texts in chunks {
            starts.push(self.seen);
            self.seen += texts.rows.len() as u64;
        }
        match &mut self.state {
            State::Exact { classes, bytes } => {
                let rows: Vec<&Rows> = chunks.iter().map(|texts| &texts.rows).collect();
                classes.insert(&rows, |exact, probed| {
                    let class = probed.class as usize;
                    if probed.is_first {
                        exact.counts.push(0);
                        exact.firsts.push(starts[probed.chunk] + probed.row as u64);
                        exact.text.extend_from_slice(chunks[probed.chunk].get(probed.row));
                        exact.ends.push(exact.text.len());
                    }
                    exact.counts[class] += 1;
                });
                let text: usize = classes.partitions().map(|exact| exact.text.len()).sum();
                *bytes = classes.len() * ENTRY + text;
            }
            State::Bounded(table) => {
                for (texts, start) in chunks.iter().zip(starts) {
                    for row in 0..texts.rows.len() {
                        table.add(texts.rows.key(row), texts.get(row), start + row as u64);
                    }
                }
            }
        }
    }

    /// The `most` texts that occur most often.
    pub(crate) fn most(self, most: usize) -> Most {
        match self.state {
            State::Bounded(table) => table.most(most),
            State::Exact { classes, .. } => {
                let parts: Vec<&Exact> = classes.partitions().collect();
                let numbers = |(at, exact): (usize, &&Exact)| {
                    (0..exact.counts.len()).map(move |number| (at, number))
                };
                let mut all: Vec<(usize, usize)> =
                    parts.iter().enumerate().flat_map(numbers).collect();
                let of = |&(at, number): &(usize, usize)| {
                    (std::cmp::Reverse(parts[at].counts[number]), parts[at].text(number))
                };
                let distinct = Some(all.len() as u64);
                keep_first(&mut all, most, |a, b| of(a).cmp(&of(b)));
                let counted = |(at, number): (usize, usize)| Counted {
                    text: parts[at].text(number).to_vec(),
                    count: parts[at].counts[number],
                    error: 0,
                };
                Most { texts: all.into_iter().map(counted).collect(), distinct, error: 0 }
            }
        }
    }
}

/// Sorts `list` and keeps the first `most`.
fn keep_first<T>(list: &mut Vec<T>, most: usize, order: impl Fn(&T, &T) -> std::cmp::Ordering) {
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
    classes.by_number(|_, keys, exact| {
        let exact = std::mem::take(exact);
        let mut table = table.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        for (number, key) in keys.into_iter().enumerate() {
            table.insert_exact(key, exact.text(number), exact.counts[number], exact.firsts[number]);
        }
    });
    table.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
