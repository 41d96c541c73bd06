//! The objects of classes with all their members, written in parts, so that no class has to be held in memory as a whole.

use super::StoreError;
use super::file::SpillFile;
use super::keep::ClassMode;
use super::merge::joined;
use super::partitions::Row;
use super::run::PositionedRun;
use super::store::ClassStore;
use super::writer::{ClassSession, ClassWriter};
use uriscan_core::dedup::{HeldTexts, Place};

/// Runs of one length that are joined to a longer one.
const JOINED: usize = 16;

/// Gathers the members of classes in the order of the input, and writes them in that of the classes.
pub(super) struct Clusters<'r> {
    session: Box<dyn ClassSession + 'r>,
    mode: ClassMode,
    to: &'r SpillFile,
    /// Bytes that each run gathers.
    capacity: usize,
    /// Bytes of memory for members.
    most: usize,
    /// For each class the number of members that are still to be written.
    left: Vec<u64>,
    members: Vec<Gathered>,
    /// Their texts, except those that are their survivors'.
    texts: HeldTexts,
    /// The last byte of the member that was written last.
    last: u8,
    /// What was written, in order: each run with the number of times that it was joined.
    runs: Vec<(u32, PositionedRun)>,
}

/// A member that is in memory.
#[derive(Clone, Copy)]
struct Gathered {
    class: u32,
    position: u64,
    /// Its text, if it is not that of the survivor.
    place: Option<Place>,
}

impl<'r> Clusters<'r> {
    /// No members yet of the classes in `store`, all of whose records are counted. `most` bytes of memory are for members.
    pub(super) fn new(
        (writer, mode): (&'r dyn ClassWriter, ClassMode),
        store: &ClassStore,
        (most, capacity): (usize, usize),
        to: &'r SpillFile,
    ) -> Clusters<'r> {
        let select = writer.select();
        let count = |class| store.count(class);
        let left = (0..store.len() as u32).map(count).map(|n| if select.has(n) { n } else { 0 });
        Clusters {
            session: writer.session(),
            left: left.collect(),
            members: Vec::new(),
            texts: HeldTexts::default(),
            last: 0,
            runs: Vec::new(),
            mode,
            to,
            capacity,
            most,
        }
    }

    /// Adds a record of a class, its survivor or another one, if the class is to be written. Positions rise.
    #[inline]
    pub(super) fn push(
        &mut self,
        store: &ClassStore,
        class: u32,
        row: &Row<'_>,
    ) -> Result<(), StoreError> {
        if self.left[class as usize] == 0 {
            return Ok(());
        }
        let is_same = row.bytes == store.bytes(class);
        let place = if is_same { None } else { Some(self.texts.push(row.bytes.into())) };
        self.members.push(Gathered { class, position: row.position, place });
        let held = size_of::<Gathered>() * self.members.capacity() + self.texts.bytes as usize;
        if held > self.most { self.write(store) } else { Ok(()) }
    }

    /// All that was written, in the order of the survivors.
    pub(super) fn finish(mut self, store: &ClassStore) -> Result<PositionedRun, StoreError> {
        self.write(store)?;
        let runs = self.runs.into_iter().map(|(_, run)| run).collect();
        joined(runs, self.capacity, self.to)
    }

    /// Writes the members in memory as a run.
    fn write(&mut self, store: &ClassStore) -> Result<(), StoreError> {
        let mut members = std::mem::take(&mut self.members);
        let texts = std::mem::take(&mut self.texts);
        let place = |class: u32| store.survivor(self.mode, class).0;
        // Members of a class are in their order.
        members.sort_by_key(|member| place(member.class));
        let mut run = PositionedRun::new(self.capacity);
        for members in members.chunk_by(|a, b| a.class == b.class) {
            self.write_class(store, members, &texts, &mut run)?;
        }
        run.finish(self.to)?;
        self.runs.push((0, run));
        while let Some(start) = self.runs.len().checked_sub(JOINED)
            && self.runs[start].0 == self.runs[self.runs.len() - 1].0
        {
            let times = self.runs[start].0 + 1;
            let runs = self.runs.drain(start..).map(|(_, run)| run).collect();
            self.runs.push((times, joined(runs, self.capacity, self.to)?));
        }
        Ok(())
    }

    /// Writes `members` of one class, with its beginning if they are the first, and its end if they are the last.
    fn write_class(
        &mut self,
        store: &ClassStore,
        members: &[Gathered],
        texts: &HeldTexts,
        run: &mut PositionedRun,
    ) -> Result<(), StoreError> {
        let class = members[0].class;
        let (position, survivor) = store.survivor(self.mode, class);
        let left = &mut self.left[class as usize];
        let is_first = *left == store.count(class);
        *left -= members.len() as u64;
        let is_last = *left == 0;
        let mut text = Vec::new();
        self.session.cluster_start(survivor, store.count(class), &mut text);
        // A member looks at the last byte before it, so that stays when it was written.
        let mut written = 0;
        if !is_first {
            text = vec![self.last];
            written = 1;
        }
        for member in members {
            let bytes =
                member.place.map_or_else(|| store.bytes(class), |place| texts.get(place).bytes());
            let bytes = self.mode.text(bytes);
            self.session.cluster_member(member.position, bytes, survivor, &mut text);
            self.last = text.last().copied().unwrap_or(0);
            if text.len() >= self.capacity {
                run.push(position, &text[written..], self.to)?;
                text.clear();
                text.push(self.last);
                written = 1;
            }
        }
        if is_last {
            self.session.cluster_end(&mut text);
        }
        run.push(position, &text[written..], self.to)
    }
}
