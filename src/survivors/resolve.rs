//! The classes of one partition of what has spilled.

use std::collections::BTreeMap;

use super::StoreError;
use super::file::SpillFile;
use super::keep::{ClassMode, Keep};
use super::partitions::{Partition, Pass};
use super::run::PositionedRun;
use super::seen::SeenClasses;
use super::store::ClassStore;
use super::writer::{ClassSession, ClassWriter, Wanted, push_cluster};
use crate::dedup::Numbering;
use crate::key::Key;

/// How many times its longest text a pass takes at most: as read, as held, in a line beside that of its survivor, in the forms
/// of both on each rung, and as JSON.
pub(super) const FOR_TEXT: usize = 16;

/// In how many passes, a power of two, `part` is resolved so that each has room in `room` bytes.
pub(super) fn passes(
    part: &Partition,
    mode: ClassMode,
    wanted: Wanted,
    has_seen: bool,
    room: usize,
) -> u64 {
    // Texts that were replaced take room for a while.
    let texts = if mode.keep == Keep::First { 1 } else { 2 };
    let keys = if has_seen { 48 } else { 0 };
    let rows =
        Numbering::bytes_for(part.rows as usize) as u64 + part.rows * (row_bytes(wanted) + keys);
    Partition::passes(rows + texts * part.text_bytes, room)
}

/// Bytes of memory for a row at most, beside its text and its number: what a [`ClassStore`] holds of a class; for clusters a
/// member and the weight of the class.
fn row_bytes(wanted: Wanted) -> u64 {
    32 + if wanted.clusters { 32 } else { 0 }
}

/// What came of a pass over a partition.
#[derive(Debug)]
pub(super) struct Resolved {
    /// For each class that is written its line, at the position of its survivor; for each class the number of its records if
    /// no lines are wanted.
    pub(super) survivors: PositionedRun,
    /// The lines of omitted records, at their positions.
    pub(super) dupes: PositionedRun,
    /// For each class that is written its object, at the position of its survivor.
    pub(super) clusters: PositionedRun,
    /// Classes that no earlier run has seen, and those that one has.
    pub(super) classes: u64,
    pub(super) seen: u64,
    pub(super) written: u64,
    pub(super) withheld: u64,
}

/// How partitions are resolved.
pub(super) struct Resolver<'r, 's> {
    pub(super) writer: &'r dyn ClassWriter,
    pub(super) mode: ClassMode,
    pub(super) wanted: Wanted,
    pub(super) seen: Option<&'r SeenClasses<'s>>,
    /// Where the partitions are.
    pub(super) rows: &'r SpillFile,
    /// Where runs are written.
    pub(super) to: &'r SpillFile,
    /// Bytes of memory for a pass.
    pub(super) room: usize,
    /// Bytes that each run gathers.
    pub(super) capacity: usize,
}

impl Resolver<'_, '_> {
    /// Resolves a pass over `part`.
    pub(super) fn resolve(
        &self,
        part: &Partition,
        pass: Pass,
        table: &mut Numbering,
    ) -> Result<Resolved, StoreError> {
        // Members come later, when the survivors are known.
        let mode = ClassMode { has_members: false, ..self.mode };
        let mut store = ClassStore::default();
        store.reserve(mode, (part.rows / pass.of) as usize);
        let mut weights: Vec<u64> = Vec::new();
        part.read_pass(pass, table, self.rows, |table, row| {
            let (class, is_first) = table.number(row.key);
            store.add_row(mode, class, is_first, row);
            if self.wanted.clusters {
                if is_first {
                    weights.push(0);
                }
                weights[class as usize] += row_bytes(self.wanted) + row.bytes.len() as u64;
            }
            Ok(())
        })?;
        store.seal();
        let seen = match self.seen {
            Some(seen) => seen.mark(&table.by_number(), &mut store)?,
            None => 0,
        };
        let run = || PositionedRun::new(self.capacity);
        let mut made = Resolved {
            survivors: run(),
            dupes: run(),
            clusters: run(),
            classes: table.len() as u64 - seen,
            seen,
            written: 0,
            withheld: 0,
        };
        let most = (self.room / 16).max(4 << 10) as u64;
        let mut giants = Giants { most, weights, keys: BTreeMap::new() };
        if self.wanted.dupes || self.wanted.clusters {
            self.write_dupes(part, pass, table, &mut store, &mut giants, &mut made)?;
        }
        self.write_classes(part, &store, &giants, &mut made)?;
        Ok(made)
    }

    /// Writes the lines of omitted records, and adds these to the store if clusters are wanted, except members of giants.
    fn write_dupes(
        &self,
        part: &Partition,
        pass: Pass,
        table: &mut Numbering,
        store: &mut ClassStore,
        giants: &mut Giants,
        made: &mut Resolved,
    ) -> Result<(), StoreError> {
        let (mode, mut session) = (self.mode, self.writer.session());
        let mut line = Vec::new();
        part.read_pass(pass, table, self.rows, |table, row| {
            let (class, _) = table.number(row.key);
            let is_seen = store.count(class) == 0;
            if giants.has(class) && !is_seen {
                giants.keys.insert(class, row.key);
            }
            let (position, survivor) = store.survivor(mode, class);
            if position == row.position && !is_seen {
                return Ok(());
            }
            if self.wanted.dupes {
                line.clear();
                let survivor = (!is_seen).then_some(survivor);
                session.dupe(row.position, mode.text(row.bytes), survivor, &mut line);
                made.dupes.push(row.position, &line, self.to)?;
            }
            if self.wanted.clusters && !is_seen && !giants.has(class) {
                store.add_member(None, class, row.position, row.bytes);
            }
            Ok(())
        })?;
        store.sort_members();
        made.dupes.finish(self.to)
    }

    /// Writes the lines and objects of classes, or how many records each has.
    fn write_classes(
        &self,
        part: &Partition,
        store: &ClassStore,
        giants: &Giants,
        made: &mut Resolved,
    ) -> Result<(), StoreError> {
        let mut session = self.writer.session();
        let mut text = Vec::new();
        for (position, class) in store.survivors(0..u64::MAX) {
            let count = store.count(class);
            if count == 0 {
                continue;
            }
            if !self.wanted.lines {
                made.survivors.push_count(position, count, self.to)?;
            }
            if !self.writer.select().has(count) {
                made.withheld += 1;
                continue;
            }
            made.written += 1;
            if self.wanted.lines {
                text.clear();
                session.result(store.survivor(self.mode, class).1, count, &mut text);
                made.survivors.push(position, &text, self.to)?;
            }
            if !self.wanted.clusters {
                continue;
            }
            match giants.keys.get(&class) {
                Some(&key) => {
                    self.write_giant(part, key, (store, class), &mut *session, &mut made.clusters)?;
                }
                None => {
                    text.clear();
                    push_cluster(store, self.mode, class, &mut *session, &mut text);
                    made.clusters.push(position, &text, self.to)?;
                }
            }
        }
        made.survivors.finish(self.to)?;
        made.clusters.finish(self.to)
    }

    /// Writes the object of a class whose members exceed the memory limit.
    fn write_giant(
        &self,
        part: &Partition,
        key: Key,
        (store, class): (&ClassStore, u32),
        session: &mut dyn ClassSession,
        clusters: &mut PositionedRun,
    ) -> Result<(), StoreError> {
        let (position, survivor) = store.survivor(self.mode, class);
        let mut text = Vec::new();
        session.cluster_start(survivor, store.count(class), &mut text);
        self.push_most(position, &mut text, clusters)?;
        part.read(self.rows, |rows| {
            for row in rows.iter().filter(|row| row.key == key) {
                let member = self.mode.text(row.bytes);
                session.cluster_member(row.position, member, survivor, &mut text);
                self.push_most(position, &mut text, clusters)?;
            }
            Ok(())
        })?;
        session.cluster_end(&mut text);
        clusters.push(position, &text, self.to)
    }

    /// Moves `text` to `run` if it is long, except for its last byte, at which the next member looks.
    fn push_most(
        &self,
        position: u64,
        text: &mut Vec<u8>,
        run: &mut PositionedRun,
    ) -> Result<(), StoreError> {
        if text.len() < self.capacity {
            return Ok(());
        }
        let end = text.len() - 1;
        run.push(position, &text[..end], self.to)?;
        text.drain(..end);
        Ok(())
    }
}

/// Classes whose members are not held in memory at the same time.
struct Giants {
    /// Bytes of memory for the members of another class.
    most: u64,
    /// The bytes that each class would need; none if nobody asks for members.
    weights: Vec<u64>,
    keys: BTreeMap<u32, Key>,
}

impl Giants {
    #[inline]
    fn has(&self, class: u32) -> bool {
        self.weights.get(class as usize).is_some_and(|&weight| weight > self.most)
    }
}
