//! Classes beyond memory.
//!
//! As long as all has room in memory, nothing here takes part. When it has none, what is there goes to disk, and from
//! then on every record does: as a row ([`row`]) with its key, its position, what decides whether it is kept, and
//! its bytes where these cannot be read again or have to be compared; in parts by the bits of the keys ([`tape`]). When all is
//! read, each part is settled by itself ([`part`]), in several passes by further bits if it has no room. What comes of
//! it are tapes in the order of the input: of positions and counts, by which the survivors are written while the sources are
//! read again ([`super::again`]), or of what is to be written, which is brought together by position ([`merge`]).

mod merge;
mod number;
mod part;
mod row;
mod tape;

use std::sync::{Mutex, PoisonError};

use super::proof::Proof;
use super::shelf::{Manner, Shelf};
use super::{Found, Sorting};
use crate::dedup::{Classes, Numbering, Rows};
use crate::key::Key;
use crate::pipeline::Error;
use crate::pipeline::driver::Slot;
use crate::pipeline::spill::{Aside, Disk, Watch};
use crate::threads;
pub(super) use merge::Merge;
use part::{Part, Settled, Settling};
pub(super) use row::Row;
pub(super) use tape::Playing;

/// Bits of a key that tell the partition in memory, its top ones.
const GROUP_BITS: u32 = Rows::PARTITIONS.trailing_zeros();

/// Further bits that tell the part within a partition.
const PART_BITS: u32 = 2;

/// All parts: a group of them for each partition in memory, so that partitions fill theirs at the same time.
#[derive(Debug)]
pub(super) struct Beyond {
    disk: Disk,
    file: Aside,
    groups: Vec<Group>,
    manner: Manner,
}

/// The parts of one partition.
#[derive(Debug)]
struct Group {
    parts: [Part; 1 << PART_BITS],
    fault: Option<Error>,
}

impl Group {
    #[inline]
    fn push(&mut self, manner: Manner, row: &Row<'_>, file: &Aside) {
        let shift = 128 - GROUP_BITS - PART_BITS;
        let part = &mut self.parts[(row.key.0 >> shift) as usize % (1 << PART_BITS)];
        if let Err(error) = part.push(manner, row, file) {
            self.fault.get_or_insert(error);
        }
    }
}

/// What became of all parts.
#[derive(Debug)]
pub(super) struct Outcome {
    pub(super) settled: Vec<Settled>,
    /// Where their tapes are.
    pub(super) file: Aside,
    /// Bytes that were put aside on disk.
    pub(super) spilled: u64,
}

impl Beyond {
    /// Begins with what is in `classes`, which is empty afterwards. About `more` bytes are still to come, if that is known.
    ///
    /// # Errors
    /// When there is no place on the disk.
    pub(super) fn begin(
        watch: &Watch,
        manner: Manner,
        classes: &mut Classes<Shelf>,
        more: Option<u64>,
    ) -> Result<Beyond, Error> {
        /// Bytes that are gathered of a part at the least.
        const LEAST: usize = 256;
        let disk = Disk::new(&watch.limit.temp_dir);
        let file = disk.file()?;
        // A guess, and on the low side.
        disk.need(more.unwrap_or(0) / if manner.has_texts { 1 } else { 8 })?;
        let capacity = (watch.limit.buffer_bytes() / (Rows::PARTITIONS << PART_BITS)).max(LEAST);
        let group = |_| Group { parts: [(); 4].map(|()| Part::new(capacity)), fault: None };
        let groups: Vec<Mutex<Group>> = (0..Rows::PARTITIONS).map(group).map(Mutex::new).collect();
        classes.by_number(|partition, keys, shelf| {
            // Each has its own.
            let mut group = groups[partition].lock().unwrap_or_else(PoisonError::into_inner);
            put_aside(manner, &keys, std::mem::take(shelf), |row| group.push(manner, row, &file));
        });
        *classes = Classes::new();
        let open = |group: Mutex<Group>| group.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Beyond { disk, file, groups: groups.into_iter().map(open).collect(), manner })
    }

    /// Puts aside the records of a batch.
    pub(super) fn take(&mut self, scanned: &[&Slot<Found>]) {
        let Beyond { groups, file, manner, .. } = self;
        let manner = *manner;
        threads::each(groups, |partition, group| {
            for Slot { chunk, rows: found, .. } in scanned {
                let content = chunk.text.padded().content();
                for (key, row) in found.keyed.rows.in_partition(partition) {
                    let position = found.position + u64::from(found.lines[row]);
                    let text = found.keyed.spans[row].of(content);
                    let (rank, text) = match manner.has_texts {
                        true => (0, text),
                        false => (manner.keep.rank(text), &[][..]),
                    };
                    group.push(manner, &Row { key, position, count: 1, rank, text }, file);
                }
            }
        });
    }

    /// What went wrong.
    pub(super) fn fault(&mut self) -> Option<Error> {
        self.groups.iter_mut().find_map(|group| group.fault.take())
    }

    /// Settles all parts; `asked` are the tapes that are wanted beside that of the survivors.
    pub(super) fn settle(
        self,
        sorting: &Sorting<'_>,
        asked: Asked,
        proof: Option<&Proof<'_>>,
        watch: &Watch,
    ) -> Result<Outcome, Error> {
        let Beyond { disk, file: rows, groups, manner } = self;
        let parts: Vec<Part> = groups.into_iter().flat_map(|group| group.parts).collect();
        let to = disk.file()?;
        let rest = watch.rest();
        // A part of it is for the tapes that come of it.
        let room = rest / 4 * 3 / rayon::current_num_threads();
        let passes = |part: &Part| part.passes(manner, asked, room);
        let tapes = parts.iter().map(|part| 3 * passes(part) as usize).sum::<usize>();
        let capacity = (rest / 8 / tapes.max(1)).clamp(64, 64 << 10);
        let settling =
            Settling { sorting, manner, asked, proof, rows: &rows, to: &to, room, capacity };
        // As many as there are threads.
        let tables: Mutex<Vec<Numbering>> = Mutex::default();
        let settled = threads::map(parts, |part| {
            let used = tables.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut table = used.unwrap_or_default();
            let settled = settling.settle(&part, passes(&part), &mut table);
            tables.lock().unwrap_or_else(PoisonError::into_inner).push(table);
            settled
        });
        let settled = settled.into_iter().collect::<Result<Vec<_>, Error>>()?;
        let settled = settled.into_iter().flatten().collect();
        Ok(Outcome { settled, file: to, spilled: disk.written() })
    }
}

/// What is to be told of classes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) dupes: bool,
    pub(super) clusters: bool,
    /// Whether a set on disk is asked for each class.
    pub(super) past: bool,
}

/// Hands all that is on a shelf to `push`: a row for each record where members are kept, for each class where not.
fn put_aside(manner: Manner, keys: &[Key], mut shelf: Shelf, mut push: impl FnMut(&Row<'_>)) {
    shelf.seal();
    let all = 0..u64::MAX;
    let mut members = shelf.members(all.clone()).iter().peekable();
    for (position, class) in shelf.survivors(all) {
        while let Some(member) = members.next_if(|member| member.position < position) {
            push_member(keys, &shelf, member, &mut push);
        }
        let text = if manner.has_texts { shelf.survivor(class).1 } else { &[] };
        let count = if manner.has_members { 1 } else { shelf.count(class) };
        push(&Row { key: keys[class as usize], position, count, rank: shelf.rank(class), text });
    }
    members.for_each(|member| push_member(keys, &shelf, member, &mut push));
}

fn push_member(
    keys: &[Key],
    shelf: &Shelf,
    member: &super::shelf::Member,
    push: &mut impl FnMut(&Row<'_>),
) {
    let (key, text) = (keys[member.class as usize], shelf.text(member));
    push(&Row { key, position: member.position, count: 1, rank: 0, text });
}
