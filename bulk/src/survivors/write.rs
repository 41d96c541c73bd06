//! What came of all records, in the order of the input: survivors, omitted records, and classes with their members.
//!
//! Of classes in memory, positions are cut into segments. Within one, what the partitions hold is put in order by position, and
//! many segments are written to buffers at once, while those before are written out. Of those that spilled, all is in runs, which are
//! merged.

use std::io::Write;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use super::StoreError;
use super::file::SpillFile;
use super::keep::ClassMode;
use super::merge::Merge;
use super::positions::Positions;
use super::reread::Survivors;
use super::resolve::{Counts, Runs};
use super::run::PositionedRun;
use super::store::{ClassStore, Member};
use super::writer::{ClassWriter, Wanted, push_cluster};
use uriscan_core::dedup::Classes;
use uriscan_core::simd::prefetch;
use uriscan_core::threads;

/// Positions of a segment.
const SEGMENT: u64 = 1 << 13;

/// Omitted records between asking for the text of a survivor and reading it.
const LOOK_AHEAD: usize = 12;

/// What came of all records.
pub struct FoundClasses<'w> {
    from: From,
    mode: ClassMode,
    writer: &'w dyn ClassWriter,
    /// Records that were omitted.
    pub duplicates: u64,
    /// Classes that earlier runs have seen.
    pub seen: u64,
    /// Bytes that spilled to disk.
    pub spilled: u64,
    /// Classes that were written, and those that were withheld; complete when [`FoundClasses::write_classes`] has written all.
    pub(crate) written: u64,
    pub(crate) withheld: u64,
}

pub(super) enum From {
    /// In memory, with positions from `start` to `end` that are still to be written.
    Held { classes: Classes<ClassStore>, start: u64, end: u64, has_sorted_members: bool },
    /// In memory, the positions of survivors and nothing else.
    Counted(Vec<Positions>),
    Spilled {
        file: Arc<SpillFile>,
        lines: Merge,
        dupes: Merge,
        clusters: Merge,
        counts: Vec<PositionedRun>,
    },
}

impl From {
    pub(super) fn held(classes: Classes<ClassStore>, end: u64) -> From {
        From::Held { classes, start: 0, end, has_sorted_members: false }
    }

    pub(super) fn spilled(
        Runs { survivors, dupes, clusters }: Runs<Vec<PositionedRun>>,
        file: SpillFile,
        wanted: Wanted,
    ) -> Result<From, StoreError> {
        let (lines, counts) =
            if wanted.lines { (survivors, Vec::new()) } else { (Vec::new(), survivors) };
        let merge = |runs| Merge::new(runs, &file);
        let (lines, dupes, clusters) = (merge(lines)?, merge(dupes)?, merge(clusters)?);
        Ok(From::Spilled { file: Arc::new(file), lines, dupes, clusters, counts })
    }
}

impl<'w> FoundClasses<'w> {
    /// What came of so many `records`.
    pub(super) fn new(
        from: From,
        (mode, writer): (ClassMode, &'w dyn ClassWriter),
        records: u64,
        Counts { classes, seen, written, withheld }: Counts,
    ) -> FoundClasses<'w> {
        let duplicates = records - classes;
        FoundClasses { from, mode, writer, duplicates, seen, spilled: 0, written, withheld }
    }

    /// Writes the lines of omitted records.
    pub fn write_dupes(&mut self, sink: &mut (dyn Write + Send)) -> Result<(), StoreError> {
        let mut write = |lines: &[u8]| sink.write_all(lines).map_err(StoreError::Write);
        match &mut self.from {
            From::Counted(_) => Ok(()),
            From::Spilled { file, dupes, .. } => dupes.up_to(u64::MAX, file, write),
            From::Held { classes, end, .. } => {
                let segments = Segments::new(classes, self.mode, self.writer);
                let hand_on = |lines: Vec<u8>| {
                    write(&lines)?;
                    segments.give_back(lines);
                    Ok(())
                };
                in_segments(0..*end, |range| segments.dupes(range), hand_on)
            }
        }
    }

    /// Writes the classes whose survivors are before the position `end`, and after those that were written: their lines to
    /// `out`, and their objects to `clusters`. Members have to be written before.
    pub fn write_classes(
        &mut self,
        end: u64,
        out: Option<&mut (dyn Write + Send)>,
        clusters: Option<&mut (dyn Write + Send)>,
    ) -> Result<(), StoreError> {
        let write = |sink: &mut Option<&mut (dyn Write + Send)>, bytes: &[u8]| match sink {
            Some(sink) => sink.write_all(bytes).map_err(StoreError::Write),
            None => Ok(()),
        };
        let (mut out, mut objects) = (out, clusters);
        match &mut self.from {
            From::Counted(_) => Ok(()),
            From::Spilled { file, lines, clusters, .. } => {
                lines.up_to(end, file, |lines| write(&mut out, lines))?;
                clusters.up_to(end, file, |lines| write(&mut objects, lines))
            }
            From::Held { classes, start, end: all, has_sorted_members } => {
                if objects.is_some() && !std::mem::replace(has_sorted_members, true) {
                    threads::each(&mut classes.partitions_mut(), |_, store| store.sort_members());
                }
                let range = *start..end.min(*all);
                *start = range.end;
                let (has_lines, has_clusters) = (out.is_some(), objects.is_some());
                let segments = Segments::new(classes, self.mode, self.writer);
                let (mut written, mut withheld) = (0, 0);
                in_segments(
                    range,
                    |range| segments.classes(range, has_lines, has_clusters),
                    |segment: Segment| {
                        written += segment.written;
                        withheld += segment.withheld;
                        write(&mut out, &segment.lines)?;
                        write(&mut objects, &segment.clusters)?;
                        segments.give_back(segment.lines);
                        segments.give_back(segment.clusters);
                        Ok(())
                    },
                )?;
                self.written += written;
                self.withheld += withheld;
                Ok(())
            }
        }
    }

    /// Where the survivors of all classes are, whether these are written or not, if no lines were wanted. Nothing else is left.
    pub fn survivors(&mut self) -> Result<Survivors, StoreError> {
        match &mut self.from {
            From::Counted(positions) => Ok(Survivors::held(std::mem::take(positions))),
            From::Held { classes, end, .. } => {
                let positions = threads::map(classes.partitions_mut(), |store| {
                    let store = std::mem::take(store);
                    Positions::new(*end, || store.found())
                });
                Ok(Survivors::held(positions))
            }
            From::Spilled { file, counts, .. } => {
                Survivors::spilled(std::mem::take(counts), Arc::clone(file))
            }
        }
    }
}

/// What a segment gives.
#[derive(Debug, Default)]
struct Segment {
    lines: Vec<u8>,
    clusters: Vec<u8>,
    written: u64,
    withheld: u64,
}

/// Classes in memory, written segment by segment.
struct Segments<'c> {
    classes: &'c Classes<ClassStore>,
    mode: ClassMode,
    writer: &'c dyn ClassWriter,
    /// Buffers whose bytes were written: to grow new ones copies them, and touches fresh memory.
    buffers: Mutex<Vec<Vec<u8>>>,
}

/// Bytes of a buffer that is kept for the next segment.
const KEPT: usize = 16 << 20;

impl<'c> Segments<'c> {
    fn new(
        classes: &'c Classes<ClassStore>,
        mode: ClassMode,
        writer: &'c dyn ClassWriter,
    ) -> Segments<'c> {
        Segments { classes, mode, writer, buffers: Mutex::default() }
    }

    /// An empty buffer.
    fn buffer(&self) -> Vec<u8> {
        self.buffers.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    /// Takes a buffer for segments to come.
    fn give_back(&self, mut buffer: Vec<u8>) {
        if (1..=KEPT).contains(&buffer.capacity()) {
            buffer.clear();
            self.buffers.lock().unwrap_or_else(PoisonError::into_inner).push(buffer);
        }
    }

    /// The lines for the omitted records in `range`.
    fn dupes(&self, range: Range<u64>) -> Vec<u8> {
        let (mode, mut session) = (self.mode, self.writer.session());
        let mut lines = self.buffer();
        let stores: Vec<&ClassStore> = self.classes.partitions().collect();
        let members: Vec<&[Member]> =
            stores.iter().map(|store| store.members(range.clone())).collect();
        let mut order = Order::new(range.clone());
        for (number, (store, members)) in stores.iter().zip(&members).enumerate() {
            (0..).zip(*members).for_each(|(i, member)| order.put(member.position, number, i));
            // Not even the survivors of seen classes survive; their numbers follow those of the members.
            let after = members.len() as u32;
            for (position, class) in store.survivors(range.clone()) {
                if store.count(class) == 0 {
                    order.put(position, number, after + class);
                }
            }
        }
        let places: Vec<(usize, u32)> = order.places().collect();
        let class_of = |&(number, i): &(usize, u32)| {
            let members = members[number];
            let class = members.get(i as usize).map(|member| member.class);
            (stores[number], class.unwrap_or_else(|| i - members.len() as u32))
        };
        for (at, place) in places.iter().enumerate() {
            // Survivors come in no order, and so is what is kept of them.
            if let Some(&(number, i)) = places.get(at + 3 * LOOK_AHEAD) {
                prefetch(members[number], i as usize);
            }
            if let Some((store, class)) = places.get(at + 2 * LOOK_AHEAD).map(class_of) {
                store.prefetch(class);
            }
            if let Some(next) = places.get(at + LOOK_AHEAD) {
                let (store, class) = class_of(next);
                store.prefetch_text(class);
                if let Some(member) = members[next.0].get(next.1 as usize) {
                    store.prefetch_member(member);
                }
            }
            let (store, class) = class_of(place);
            let (position, record) = match members[place.0].get(place.1 as usize) {
                Some(member) => (member.position, mode.text(store.bytes_of(member))),
                None => store.survivor(mode, class),
            };
            let survivor = (store.count(class) > 0).then(|| store.survivor(mode, class).1.into());
            session.dupe(position, record.into(), survivor, &mut lines);
        }
        lines
    }

    /// The classes whose survivors are in `range`.
    fn classes(&self, range: Range<u64>, has_lines: bool, has_clusters: bool) -> Segment {
        let mut session = self.writer.session();
        let buffer = |is_wanted| if is_wanted { self.buffer() } else { Vec::new() };
        let (lines, clusters) = (buffer(has_lines), buffer(has_clusters));
        let mut made = Segment { lines, clusters, ..Segment::default() };
        let stores: Vec<&ClassStore> = self.classes.partitions().collect();
        let mut order = Order::new(range.clone());
        for (number, store) in stores.iter().enumerate() {
            let survivors = store.survivors(range.clone());
            survivors.for_each(|(position, class)| order.put(position, number, class));
        }
        let places: Vec<(usize, u32)> = order.places().collect();
        for (at, &(number, class)) in places.iter().enumerate() {
            // As above.
            if let Some(&(number, class)) = places.get(at + 2 * LOOK_AHEAD) {
                stores[number].prefetch(class);
            }
            if let Some(&(number, class)) = places.get(at + LOOK_AHEAD)
                && has_lines
            {
                stores[number].prefetch_text(class);
            }
            let store = stores[number];
            let count = store.count(class);
            if count == 0 {
                continue;
            }
            if !self.writer.select().has(count) {
                made.withheld += 1;
                continue;
            }
            made.written += 1;
            if has_lines {
                session.result(store.survivor(self.mode, class).1, count, &mut made.lines);
            }
            if has_clusters {
                push_cluster(store, self.mode, class, &mut *session, &mut made.clusters);
            }
        }
        made
    }
}

/// Brings what the partitions hold in a range of positions into the order of these.
struct Order {
    start: u64,
    /// For each position, the number of a partition and of something in it.
    places: Vec<(u32, u32)>,
}

/// There is nothing at a position.
const NOTHING: (u32, u32) = (u32::MAX, 0);

impl Order {
    fn new(range: Range<u64>) -> Order {
        Order { start: range.start, places: vec![NOTHING; (range.end - range.start) as usize] }
    }

    /// Puts number `i` of a partition at `position`, which is in the range and not taken.
    fn put(&mut self, position: u64, partition: usize, i: u32) {
        self.places[(position - self.start) as usize] = (partition as u32, i);
    }

    /// The partitions and numbers, in order.
    fn places(&self) -> impl Iterator<Item = (usize, u32)> {
        let taken = self.places.iter().filter(|place| **place != NOTHING);
        taken.map(|&(partition, i)| (partition as usize, i))
    }
}

/// Cuts `range` into segments, makes something of each, many at once, and hands it on in order.
fn in_segments<T: Send>(
    range: Range<u64>,
    make: impl Fn(Range<u64>) -> T + Sync,
    mut hand_on: impl FnMut(T) -> Result<(), StoreError> + Send,
) -> Result<(), StoreError> {
    let at_once = 2 * rayon::current_num_threads() as u64;
    let mut made: Vec<T> = Vec::new();
    let mut start = range.start;
    while start < range.end || !made.is_empty() {
        let end = range.end.min(start + at_once * SEGMENT);
        let segments = (end - start).div_ceil(SEGMENT);
        let (handed_on, next) = threads::both(
            || made.into_iter().try_for_each(&mut hand_on),
            || -> Vec<T> {
                let segment = |i| start + i * SEGMENT;
                threads::map(0..segments, |i| make(segment(i)..segment(i + 1).min(end)))
            },
        );
        handed_on?;
        (made, start) = (next, end);
    }
    Ok(())
}
