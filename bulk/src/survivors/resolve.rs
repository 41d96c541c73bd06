//! The classes of one partition of what has spilled.

use super::StoreError;
use super::clusters::Clusters;
use super::file::SpillFile;
use super::keep::{ClassMode, Keep};
use super::merge::joined;
use super::partitions::{LEAST_ROOM, Outcome, Partition, Resolve, Rest};
use super::run::PositionedRun;
use super::seen::SeenClasses;
use super::store::ClassStore;
use super::writer::{ClassWriter, Wanted};
use uriscan_core::dedup::Numbering;

/// How many times its longest text a partition takes at most: as read, as held, in a line beside that of its survivor, in the forms
/// of both on each level, and as JSON.
pub(super) const FOR_TEXT: usize = 16;

/// What came of a partition, or of several.
#[derive(Debug)]
pub(super) struct Resolved {
    pub(super) runs: Runs<PositionedRun>,
    pub(super) counts: Counts,
}

/// What is written.
#[derive(Debug, Default)]
pub(super) struct Runs<R> {
    /// For each class that is written its line, at the position of its survivor; for each class the number of its records if
    /// no lines are wanted.
    pub(super) survivors: R,
    /// The lines of omitted records, at their positions.
    pub(super) dupes: R,
    /// For each class that is written its object, at the position of its survivor.
    pub(super) clusters: R,
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counts {
    /// Classes that no earlier run has seen, and those that one has.
    pub(super) classes: u64,
    pub(super) seen: u64,
    pub(super) written: u64,
    pub(super) withheld: u64,
}

impl Resolved {
    pub(super) fn apart(all: Vec<Resolved>) -> (Runs<Vec<PositionedRun>>, Counts) {
        let (mut runs, mut counts) = (Runs::<Vec<_>>::default(), Counts::default());
        for Resolved { runs: Runs { survivors, dupes, clusters }, counts: more } in all {
            runs.survivors.push(survivors);
            runs.dupes.push(dupes);
            runs.clusters.push(clusters);
            counts.classes += more.classes;
            counts.seen += more.seen;
            counts.written += more.written;
            counts.withheld += more.withheld;
        }
        (runs, counts)
    }
}

pub(super) struct Resolver<'r, 's> {
    pub(super) writer: &'r dyn ClassWriter,
    pub(super) mode: ClassMode,
    /// Survivors before this position have been written.
    pub(super) start: u64,
    pub(super) wanted: Wanted,
    pub(super) seen: Option<&'r SeenClasses<'s>>,
    /// Where runs are written.
    pub(super) to: &'r SpillFile,
    /// Bytes of memory for a partition.
    pub(super) room: usize,
    /// Bytes that each run gathers.
    pub(super) capacity: usize,
}

impl Resolve for Resolver<'_, '_> {
    type Found = Resolved;

    fn room(&self) -> usize {
        self.room
    }

    fn most_keys(&self, part: &Partition) -> usize {
        part.keys_in(self.classes_room(), self.class_bytes(), self.text_bytes())
    }

    fn resolve(
        &self,
        part: &Partition,
        most: usize,
        table: &mut Numbering,
        rest: &mut Rest<'_>,
    ) -> Result<Outcome<Resolved>, StoreError> {
        let Some(mut store) = self.gather(part, most, table, rest)? else {
            return Ok(Outcome::TooMany);
        };
        let seen = match self.seen {
            Some(seen) => seen.mark(&table.by_number(), &mut store)?,
            None => 0,
        };
        let run = || PositionedRun::new(self.capacity);
        let classes = table.len() as u64 - seen;
        let mut made = Resolved {
            runs: Runs { survivors: run(), dupes: run(), clusters: run() },
            counts: Counts { classes, seen, ..Counts::default() },
        };
        if self.wanted.dupes || self.wanted.clusters {
            self.write_members(part, table, &store, rest.file(), &mut made)?;
        }
        self.write_classes(&store, &mut made)?;
        Ok(Outcome::Found(made))
    }

    fn join(&self, all: Vec<Resolved>) -> Result<Resolved, StoreError> {
        let (Runs { survivors, dupes, clusters }, counts) = Resolved::apart(all);
        let join = |runs| joined(runs, self.capacity, self.to);
        let runs =
            Runs { survivors: join(survivors)?, dupes: join(dupes)?, clusters: join(clusters)? };
        Ok(Resolved { runs, counts })
    }
}

impl Resolver<'_, '_> {
    /// Bytes of memory for classes; the rest is for members and for what is written.
    fn classes_room(&self) -> usize {
        if self.wanted.clusters { self.room / 4 * 3 } else { self.room / 8 * 7 }
    }

    /// Bytes of memory for a class beside its text and its number: what a [`ClassStore`] holds of it, its key for looking it up in
    /// a set, and the number of its members.
    fn class_bytes(&self) -> usize {
        32 + if self.seen.is_some() { 48 } else { 0 } + if self.wanted.clusters { 8 } else { 0 }
    }

    /// Bytes of memory for a byte of text: texts that were replaced take room for a while.
    fn text_bytes(&self) -> usize {
        if self.mode.keep == Keep::First { 1 } else { 2 }
    }

    /// The classes of the first keys of `part`, `most` at most and as long as their texts have room; all other rows go to
    /// `rest`. `None` if texts that replace others are far longer.
    fn gather(
        &self,
        part: &Partition,
        most: usize,
        table: &mut Numbering,
        rest: &mut Rest<'_>,
    ) -> Result<Option<ClassStore>, StoreError> {
        // Members come later, when the survivors are known.
        let mode = ClassMode { has_members: false, ..self.mode };
        let mut store = ClassStore::default();
        store.reserve(mode, most);
        let room = self.classes_room().max(LEAST_ROOM) as u64;
        let key = (Numbering::BYTES_PER_KEY + self.class_bytes()) as u64;
        let text = self.text_bytes() as u64;
        let (mut is_open, mut has_room) = (true, true);
        part.read_ahead(table, rest.file(), |table, row| {
            if !has_room {
                return Ok(());
            }
            let found = if is_open {
                Some(table.number(row.key))
            } else {
                table.find(row.key).map(|class| (class, false))
            };
            let Some((class, is_first)) = found else { return rest.push(row) };
            store.add_row(mode, class, is_first, row);
            let classes = table.len();
            if is_first {
                let held = key * classes as u64 + text * store.text_bytes();
                is_open = classes < most && held < room;
            }
            let texts = store.text_bytes().saturating_sub(part.longest as u64);
            has_room = texts <= room || classes == 1 || !part.is_divisible();
            Ok(())
        })?;
        store.seal(true);
        Ok(has_room.then_some(store))
    }

    /// Writes the lines of omitted records, and the objects of classes.
    fn write_members(
        &self,
        part: &Partition,
        table: &mut Numbering,
        store: &ClassStore,
        rows: &SpillFile,
        made: &mut Resolved,
    ) -> Result<(), StoreError> {
        let (mode, writer) = (self.mode, self.writer);
        let (mut session, mut line) = (writer.session(), Vec::new());
        let most = (self.room / 8).max(4 << 10);
        let clusters = || Clusters::new((writer, mode), store, (most, self.capacity), self.to);
        let mut clusters = self.wanted.clusters.then(clusters);
        part.read_ahead(table, rows, |table, row| {
            let Some(class) = table.find(row.key) else { return Ok(()) };
            let is_seen = store.count(class) == 0;
            if let Some(clusters) = &mut clusters {
                clusters.push(store, class, row)?;
            }
            let (position, survivor) = store.survivor(mode, class);
            if !self.wanted.dupes || position == row.position && !is_seen {
                return Ok(());
            }
            line.clear();
            let survivor = (!is_seen).then(|| survivor.into());
            session.dupe(row.position, mode.text(row.bytes).into(), survivor, &mut line);
            made.runs.dupes.push(row.position, &line, self.to)
        })?;
        if let Some(clusters) = clusters {
            made.runs.clusters = clusters.finish(store)?;
        }
        made.runs.dupes.finish(self.to)
    }

    /// Writes the lines of classes, or how many records each has.
    fn write_classes(&self, store: &ClassStore, made: &mut Resolved) -> Result<(), StoreError> {
        let Resolved { runs: Runs { survivors, .. }, counts } = made;
        let mut session = self.writer.session();
        let mut text = Vec::new();
        for (position, class) in store.survivors(0..u64::MAX) {
            let count = store.count(class);
            if count == 0 || position < self.start {
                continue;
            }
            if !self.wanted.lines {
                survivors.push_count(position, count, self.to)?;
            }
            if !self.writer.select().has(count) {
                counts.withheld += 1;
                continue;
            }
            counts.written += 1;
            if self.wanted.lines {
                text.clear();
                session.result(store.survivor(self.mode, class).1, count, &mut text);
                survivors.push(position, &text, self.to)?;
            }
        }
        survivors.finish(self.to)
    }
}
