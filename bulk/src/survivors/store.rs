//! What is kept of the classes of one partition until all is read: the position of the survivor of each, the number of its
//! records, its bytes if they are needed, and, if they are asked for, the omitted records.

use std::collections::BTreeMap;
use std::ops::Range;

use super::keep::{ClassMode, Keep, Record};
use super::limit::grown;
use super::partitions::Row;
use uriscan_core::dedup::{HeldTexts, Place, ProbedRun};
use uriscan_core::simd::prefetch;

/// Garbage below this is not worth a move.
const MIN_GARBAGE: u64 = 1 << 20;

/// How many records classes have, by the numbers of the classes.
#[derive(Debug, Default)]
struct Counts {
    /// The lower halves; the upper ones are in `carries`, where they are not zero.
    low: Vec<u32>,
    carries: BTreeMap<u32, u64>,
    /// Classes to be counted up, each when its place has had the time to be fetched: they come in no
    /// order, and waiting for memory at each of them took a quarter of the run.
    pending: Vec<u32>,
}

/// As many places are fetched at once.
const PENDING: usize = 16;

/// How many times as many classes as there are room is made for at once, if so many are expected.
const MOST_GROWTH: usize = 16;

/// Of so many classes the beginning of one's members is known.
const EACH: usize = 32;

/// Asks for the beginning of the bytes of a record: those of a partition are far apart.
#[inline(always)]
fn prefetch_bytes(bytes: &[u8]) {
    prefetch(bytes, 0);
    prefetch(bytes, 64);
}

/// A further record of a class: the class, and the chunk and the row of the record.
type Further = (u32, u32, u32);

impl Counts {
    #[inline(always)]
    fn begin(&mut self) {
        self.low.push(1);
    }

    #[inline(always)]
    fn add(&mut self, class: u32) {
        prefetch(&self.low, class as usize);
        self.pending.push(class);
        if self.pending.len() >= PENDING {
            self.flush();
        }
    }

    /// Counts the classes of `further` records up, each by one.
    #[inline(always)]
    fn add_all(&mut self, further: &[(u32, u32)]) {
        further.iter().for_each(|&(class, _)| prefetch(&self.low, class as usize));
        for &(class, _) in further {
            self.add_one(class);
        }
    }

    #[inline(always)]
    fn add_one(&mut self, class: u32) {
        let low = &mut self.low[class as usize];
        *low = low.wrapping_add(1);
        if *low == 0 {
            *self.carries.entry(class).or_default() += 1;
        }
    }

    fn add_many(&mut self, class: u32, more: u64) {
        let low = &mut self.low[class as usize];
        let sum = u64::from(*low) + more;
        *low = sum as u32;
        if sum > u64::from(u32::MAX) {
            *self.carries.entry(class).or_default() += sum >> 32;
        }
    }

    fn flush(&mut self) {
        let mut pending = std::mem::take(&mut self.pending);
        pending.drain(..).for_each(|class| self.add_one(class));
        self.pending = pending;
    }

    /// The number of records of `class`, once [`Counts::flush`] was called.
    fn get(&self, class: u32) -> u64 {
        let low = u64::from(self.low[class as usize]);
        if self.carries.is_empty() {
            return low;
        }
        low + (self.carries.get(&class).copied().unwrap_or(0) << 32)
    }
}

/// An omitted record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Member {
    pub(super) position: u64,
    place: Place,
    pub(super) class: u32,
}

/// The classes of one partition.
#[derive(Debug, Default)]
pub(super) struct ClassStore {
    /// For each class the position of its survivor.
    positions: Vec<u64>,
    /// For each class the rank of its survivor ([`Keep::rank`]), if ranks decide.
    ranks: Vec<u32>,
    counts: Counts,
    /// For each class where the text of its survivor stands, if texts are kept.
    places: Vec<Place>,
    members: Vec<Member>,
    /// Where the members of each [`EACH`]th class begin, once they are sorted by class.
    member_starts: Vec<usize>,
    /// Further records that are still to be compared with the survivor of their class, when its text has had the time to be
    /// fetched.
    further: Vec<Further>,
    texts: HeldTexts,
    /// Bytes of texts that are no longer referenced.
    garbage: u64,
    /// Classes by the position of their survivors; empty when they stand in that order.
    order: Vec<u32>,
}

impl ClassStore {
    /// Adds a further record once its place has had the time to be fetched.
    #[inline(always)]
    fn wait<'t>(
        &mut self,
        mode: ClassMode,
        further: Further,
        record: impl Fn(usize, usize) -> Record<'t>,
    ) {
        self.prefetch_row(mode, further.0);
        self.further.push(further);
        if self.further.len() >= PENDING {
            self.add_waiting(mode, record);
        }
    }

    /// Adds the records of rows of a chunk, of which `record` gives the rest. Some may wait until [`ClassStore::add_waiting`] is
    /// called.
    #[inline(always)]
    pub(super) fn add_run<'t>(
        &mut self,
        mode: ClassMode,
        ProbedRun { chunk, firsts, further }: ProbedRun<'_>,
        record: impl Fn(usize, usize) -> Record<'t>,
    ) {
        for (at, &row) in firsts.iter().enumerate() {
            if mode.reads_bytes()
                && let Some(&next) = firsts.get(at + PENDING)
            {
                prefetch_bytes(record(chunk, next as usize).1);
            }
            let (position, bytes) = record(chunk, row as usize);
            self.add_first(mode, position, mode.rank(bytes), bytes);
        }
        self.counts.add_all(further);
        if mode.is_counted_only() {
            return;
        }
        for &(class, row) in further {
            self.wait(mode, (class, chunk as u32, row), &record);
        }
    }

    /// Adds the records that wait: all that have come since the last call are in the chunks of `record`.
    #[inline(always)]
    pub(super) fn add_waiting<'t>(
        &mut self,
        mode: ClassMode,
        record: impl Fn(usize, usize) -> Record<'t>,
    ) {
        let mut further = std::mem::take(&mut self.further);
        if mode.reads_bytes() {
            for &(class, chunk, row) in &further {
                prefetch_bytes(record(chunk as usize, row as usize).1);
                if mode.has_texts {
                    self.prefetch_text(class);
                }
            }
        }
        for (class, chunk, row) in further.drain(..) {
            let (position, bytes) = record(chunk as usize, row as usize);
            self.add_further(mode, class, position, mode.rank(bytes), bytes);
        }
        self.further = further;
    }

    /// Prefetches what a further record of `class` is compared with.
    #[inline(always)]
    fn prefetch_row(&self, mode: ClassMode, class: u32) {
        prefetch(&self.places, class as usize);
        if mode.keep != Keep::First {
            prefetch(&self.ranks, class as usize);
            prefetch(&self.positions, class as usize);
        }
    }

    /// Asks for what [`ClassStore::prefetch_text`] and [`ClassStore::count`] read of `class`.
    #[inline(always)]
    pub(super) fn prefetch(&self, class: u32) {
        prefetch(&self.places, class as usize);
        prefetch(&self.counts.low, class as usize);
    }

    /// Asks for the beginning of the text of the survivor of `class`.
    #[inline(always)]
    pub(super) fn prefetch_text(&self, class: u32) {
        self.texts.prefetch(self.places[class as usize]);
    }

    /// Asks for the beginning of the text of `member`.
    #[inline(always)]
    pub(super) fn prefetch_member(&self, member: &Member) {
        self.texts.prefetch(member.place);
    }

    /// Adds a row that spilled; all rows of a class come in the order of their positions, except for the
    /// one that represents several, which comes before the others.
    #[inline]
    pub(super) fn add_row(&mut self, mode: ClassMode, class: u32, is_first: bool, row: &Row<'_>) {
        let &Row { position, count, rank, bytes, .. } = row;
        if is_first {
            self.add_first(mode, position, rank, bytes);
        } else {
            self.counts.add(class);
            if !mode.is_counted_only() {
                self.add_further(mode, class, position, rank, bytes);
            }
        }
        if count > 1 {
            self.counts.add_many(class, count - 1);
        }
    }

    #[inline(always)]
    fn add_first(&mut self, mode: ClassMode, position: u64, rank: u32, bytes: &[u8]) {
        if mode.has_texts {
            self.places.push(self.texts.push(bytes.into()));
        }
        self.positions.push(position);
        if mode.keep.has_ranks() {
            self.ranks.push(rank);
        }
        self.counts.begin();
    }

    #[inline(never)]
    fn add_further(&mut self, mode: ClassMode, class: u32, position: u64, rank: u32, bytes: &[u8]) {
        if mode.keep == Keep::First {
            return self.add_member(mode, None, class, position, bytes);
        }
        let before = self.positions[class as usize];
        let mut is_kept = match mode.keep {
            Keep::Min | Keep::Max => mode.prefers(bytes, self.bytes(class)),
            keep => keep == Keep::Last,
        };
        if mode.keep.has_ranks() {
            let lowest = &mut self.ranks[class as usize];
            is_kept = rank < *lowest;
            *lowest = rank.min(*lowest);
        }
        if is_kept {
            self.positions[class as usize] = position;
        }
        if mode.has_members {
            self.add_member(mode, is_kept.then_some(before), class, position, bytes);
        } else if is_kept && mode.has_texts {
            self.replace_text(class, bytes);
        }
    }

    /// Adds a further record to `class`, all of which are kept. If it is the survivor now, the one that was it
    /// had the position `before`.
    pub(super) fn add_member(
        &mut self,
        mode: ClassMode,
        before: Option<u64>,
        class: u32,
        position: u64,
        bytes: &[u8],
    ) {
        let survivor = &mut self.places[class as usize];
        let bytes = mode.omitted(bytes);
        // Most duplicates are the same bytes.
        let is_same = mode.omitted(self.texts.get(*survivor).bytes()) == bytes;
        let place = if is_same { *survivor } else { self.texts.push(bytes.into()) };
        let mut member = Member { position, place, class };
        if let Some(before) = before {
            member.position = before;
            member.place = std::mem::replace(survivor, place);
        }
        self.members.push(member);
    }

    /// Puts `text` in the place of the survivor of `class`.
    fn replace_text(&mut self, class: u32, text: &[u8]) {
        let place = &mut self.places[class as usize];
        if text.len() <= place.len as usize {
            self.garbage += u64::from(place.len) - text.len() as u64;
            *place = self.texts.replace(*place, text);
        } else {
            self.garbage += u64::from(place.len);
            *place = self.texts.push(text.into());
        }
        if self.garbage > MIN_GARBAGE && self.garbage > self.texts.bytes / 2 {
            self.collect_garbage();
        }
    }

    /// Moves all texts together.
    #[cold]
    fn collect_garbage(&mut self) {
        let old = std::mem::take(&mut self.texts);
        for place in &mut self.places {
            *place = self.texts.push(old.get(*place));
        }
        self.garbage = 0;
    }

    /// Makes room for `more` classes, and if they have none, for all of an estimated `expected`, 0 if unknown: to grow step by
    /// step copies what is there, and touches fresh memory for it each time.
    #[inline(always)]
    pub(super) fn expect(&mut self, mode: ClassMode, more: usize, expected: usize) {
        let len = self.positions.len();
        if len + more > self.positions.capacity() && len + more < expected {
            self.reserve(mode, expected.min(MOST_GROWTH * (len + more)) - len);
        }
    }

    /// Makes room for `classes` classes at once, which takes less memory than to grow.
    pub(super) fn reserve(&mut self, mode: ClassMode, classes: usize) {
        self.positions.reserve_exact(classes);
        self.counts.low.reserve_exact(classes);
        self.ranks.reserve_exact(if mode.keep.has_ranks() { classes } else { 0 });
        self.places.reserve_exact(if mode.has_texts { classes } else { 0 });
    }

    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    pub(super) fn text_bytes(&self) -> u64 {
        self.texts.bytes - self.garbage
    }

    /// Bytes of memory held, as they will be when `more` records have come, without their texts.
    pub(super) fn memory_bytes(&self, mode: ClassMode, more: usize) -> usize {
        let members = if mode.has_members { grown(&self.members, more) } else { 0 };
        let ranks = if mode.keep.has_ranks() { grown(&self.ranks, more) } else { 0 };
        let places = if mode.has_texts { grown(&self.places, more) } else { 0 };
        // The order is made at the end.
        let order = if mode.keep == Keep::First { 0 } else { size_of::<u32>() };
        grown(&self.positions, more)
            + grown(&self.counts.low, more)
            + (ranks + places + members)
            + self.texts.held
            + order * (self.positions.len() + more)
    }

    /// Makes [`ClassStore::survivors`] and [`ClassStore::members`] ready, once all records have come and none waits.
    /// The first only if their order `is_wanted`.
    pub(super) fn seal(&mut self, is_wanted: bool) {
        debug_assert!(self.further.is_empty());
        self.counts.flush();
        if is_wanted && !self.positions.is_sorted() {
            self.order = (0..self.positions.len() as u32).collect();
            self.order.sort_unstable_by_key(|&class| self.positions[class as usize]);
        }
        if !self.members.is_sorted_by_key(|member| member.position) {
            self.members.sort_unstable_by_key(|member| member.position);
        }
    }

    /// Makes [`ClassStore::members_of`] ready, and [`ClassStore::members`], which are sorted, useless.
    pub(super) fn sort_members(&mut self) {
        let mut ends = vec![0; self.positions.len() + 1];
        self.members.iter().for_each(|member| ends[member.class as usize + 1] += 1);
        for class in 1..ends.len() {
            ends[class] += ends[class - 1];
        }
        self.member_starts = ends.iter().copied().step_by(EACH).collect();
        // Members of a class stay in their order.
        let mut sorted = self.members.clone();
        for member in &self.members {
            let next = &mut ends[member.class as usize];
            sorted[*next] = *member;
            *next += 1;
        }
        self.members = sorted;
    }

    /// The survivor number `i` by position, and its class.
    fn ordered(&self, i: usize) -> (u64, u32) {
        let class = self.order.get(i).copied().unwrap_or(i as u32);
        (self.positions[class as usize], class)
    }

    /// The positions of the survivors of all classes by their numbers, and how many records these have.
    pub(super) fn found(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        (0..).zip(&self.positions).map(|(class, &position)| (position, self.count(class)))
    }

    /// The survivors in this range of positions, with their classes, those seen by earlier runs included.
    pub(super) fn survivors(&self, range: Range<u64>) -> impl Iterator<Item = (u64, u32)> + '_ {
        let is_before = |position: u64| position < range.start;
        let first = if self.order.is_empty() {
            self.positions.partition_point(|&position| is_before(position))
        } else {
            self.order.partition_point(|&class| is_before(self.positions[class as usize]))
        };
        let rest = (first..self.positions.len()).map(|i| self.ordered(i));
        rest.take_while(move |&(position, _)| position < range.end)
    }

    /// The omitted records in this range of positions.
    pub(super) fn members(&self, range: Range<u64>) -> &[Member] {
        let start = self.members.partition_point(|member| member.position < range.start);
        let members = &self.members[start..];
        &members[..members.partition_point(|member| member.position < range.end)]
    }

    /// The omitted records of `class`, in their order.
    pub(super) fn members_of(&self, class: u32) -> &[Member] {
        let near = class as usize / EACH;
        let end = self.member_starts.get(near + 1).copied().unwrap_or(self.members.len());
        let members = &self.members[self.member_starts[near]..end];
        let members = &members[members.partition_point(|member| member.class < class)..];
        &members[..members.partition_point(|member| member.class == class)]
    }

    /// Notes that `class` was seen by an earlier run, so that none of its records counts.
    pub(super) fn mark_seen(&mut self, class: u32) {
        self.counts.low[class as usize] = 0;
        self.counts.carries.remove(&class);
    }

    /// The number of records of `class`; 0 if it was seen by an earlier run.
    pub(super) fn count(&self, class: u32) -> u64 {
        self.counts.get(class)
    }

    /// The position of the survivor of `class`, and its text, which was kept.
    pub(super) fn survivor(&self, mode: ClassMode, class: u32) -> (u64, &[u8]) {
        (self.positions[class as usize], mode.text(self.bytes(class)))
    }

    /// The bytes of the survivor of `class`, which were kept.
    pub(super) fn bytes(&self, class: u32) -> &[u8] {
        self.texts.get(self.places[class as usize]).bytes()
    }

    /// The rank of the survivor of `class`, if ranks decide; 0 if not.
    pub(super) fn rank(&self, class: u32) -> u32 {
        self.ranks.get(class as usize).copied().unwrap_or(0)
    }

    pub(super) fn bytes_of(&self, member: &Member) -> &[u8] {
        self.texts.get(member.place).bytes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn add<'t>(
        store: &mut ClassStore,
        mode: ClassMode,
        class: u32,
        is_first: bool,
        row: usize,
        record: impl Fn(usize, usize) -> Record<'t>,
    ) {
        let (first, further) = (row as u32, (class, row as u32));
        let run = match is_first {
            true => ProbedRun { chunk: 0, firsts: &[first], further: &[] },
            false => ProbedRun { chunk: 0, firsts: &[], further: &[further] },
        };
        store.add_run(mode, run, record);
    }

    fn add_all(mode: ClassMode, records: &[(u32, &str)]) -> ClassStore {
        let mut store = ClassStore::default();
        let mut seen = 0;
        for (position, &(class, _)) in records.iter().enumerate() {
            let record = |_, row: usize| (row as u64, records[row].1.as_bytes());
            add(&mut store, mode, class, class == seen, position, record);
            seen = seen.max(class + 1);
        }
        store.add_waiting(mode, |_, row: usize| (row as u64, records[row].1.as_bytes()));
        store.seal(true);
        store
    }

    #[test]
    fn the_right_one_survives() {
        let records =
            [(0, "http:aa"), (1, "https:x"), (0, "HTTPS:aa"), (0, "https:a"), (0, "http:b")];
        for (keep, survivor, position) in [
            (Keep::First, "http:aa", 0),
            (Keep::Last, "http:b", 4),
            (Keep::Shortest, "http:b", 4),
            (Keep::Https, "HTTPS:aa", 2),
            (Keep::Min, "HTTPS:aa", 2),
            (Keep::Max, "https:a", 3),
        ] {
            let bare = ClassMode { keep, ..ClassMode::default() };
            if !keep.has_order() {
                let store = add_all(bare, &records);
                let all = store.survivors(0..9);
                assert_eq!(all.map(|(_, class)| store.count(class)).sum::<u64>(), 5);
                assert!(store.survivors(0..9).any(|found| found == (position, 0)), "{keep:?}");
            }
            for has_members in [false, true] {
                let store = add_all(ClassMode { has_members, has_texts: true, ..bare }, &records);
                assert_eq!(store.survivor(bare, 0), (position, survivor.as_bytes()), "{keep:?}");
                assert_eq!((store.count(0), store.count(1)), (4, 1));
                let expected =
                    if position == 0 { [(0, 0), (1, 1)] } else { [(1, 1), (position, 0)] };
                assert_eq!(store.survivors(0..9).collect::<Vec<_>>(), expected);
                assert_eq!(store.survivors(1..2).collect::<Vec<_>>(), [(1, 1)]);
                let all = store.members(0..9);
                let mut positions: Vec<u64> = all.iter().map(|member| member.position).collect();
                if has_members {
                    assert!(positions.is_sorted());
                    positions.push(position);
                    positions.sort();
                    assert_eq!(positions, [0, 2, 3, 4]);
                    let is_own =
                        |m: &Member| store.bytes_of(m) == records[m.position as usize].1.as_bytes();
                    assert!(all.iter().all(is_own));
                } else {
                    assert!(positions.is_empty());
                }
            }
        }
    }

    #[test]
    fn what_was_replaced_takes_no_memory_for_long() {
        let mut store = ClassStore::default();
        let mode = ClassMode { keep: Keep::Last, has_texts: true, ..ClassMode::default() };
        let text = |i: u64| vec![b'a' + (i % 26) as u8; 1000 + i as usize % 500];
        let texts: Vec<Vec<u8>> = (0..20_000).map(text).collect();
        let record = |_, row: usize| (row as u64, &texts[row][..]);
        for i in 0..20_000 {
            add(&mut store, mode, i as u32 % 10, i < 10, i, record);
        }
        store.add_waiting(mode, record);
        store.seal(true);
        let held = store.texts.held;
        assert!(held < 4 << 20, "{held}");
        for class in 0..10 {
            let last = 19_990 + u64::from(class);
            assert_eq!(store.survivor(mode, class), (last, &text(last)[..]));
            assert_eq!(store.count(class), 2000);
        }
    }

    #[test]
    fn counts_go_beyond_32_bits() {
        let mut store = ClassStore::default();
        let mode = ClassMode { keep: Keep::First, has_texts: true, ..ClassMode::default() };
        let record = |_, row: usize| (row as u64, &b"a"[..]);
        add(&mut store, mode, 0, true, 0, record);
        store.counts.low[0] = u32::MAX;
        add(&mut store, mode, 0, false, 1, record);
        add(&mut store, mode, 0, false, 2, record);
        store.seal(true);
        assert_eq!(store.count(0), (1 << 32) + 1);
    }
}
