//! Classes of which the first record survives, whose other records are reported as they are read: the texts of the first ones are all
//! that is held, and of these only what is not the canonical form of its class, which the other records have as well.

use super::limit::{Budget, grown};
use super::ranked::Ranked;
use uriscan_core::chunk::Prefix;
use uriscan_core::dedup::{Classes, HeldTexts, Place, ProbedRun, Rows};
use uriscan_core::key::Key;
use uriscan_core::simd::prefetch;
use uriscan_core::threads;

/// Classes with the texts of their first records.
pub(crate) struct StreamedClasses {
    classes: Classes<FirstTexts>,
    budget: Option<Budget>,
}

/// The texts of a partition, by the numbers of their classes.
#[derive(Debug, Default)]
pub(super) struct FirstTexts {
    /// The classes whose texts are held.
    held: Ranked,
    places: Vec<Place>,
    texts: HeldTexts,
    /// Records of the batch that is being added whose texts are to be held: their chunks, and their rows.
    waiting: Vec<(u32, u32)>,
}

/// Bytes left free for each class: tables that grow are in memory with those that they replace, which the allocator keeps for a while.
const GROWTH: usize = 24;

/// Records between asking for a text and copying it.
const LOOK_AHEAD: usize = 8;

/// Some records, chunk by chunk.
pub(crate) trait StreamedBatch: Sync {
    /// Whether the record of `row` in `chunk` is the canonical form of its class.
    fn is_canonical(&self, chunk: usize, row: usize) -> bool;

    /// Its text.
    fn text(&self, chunk: usize, row: usize) -> Prefix<'_>;

    /// Asks for what [`StreamedBatch::prefetch_text`] reads.
    fn prefetch(&self, chunk: usize, row: usize);

    /// Asks for the beginning of its text.
    fn prefetch_text(&self, chunk: usize, row: usize);

    /// Notes the number of its class in its partition, and whether it is the first one of that.
    fn note(&self, chunk: usize, row: usize, class: u32, is_first: bool);
}

/// The text of each class; for many threads.
pub(crate) struct Firsts<'c>(Vec<&'c FirstTexts>);

impl StreamedClasses {
    /// No classes, which are to be held within `budget`.
    pub(crate) fn new(budget: Option<Budget>) -> StreamedClasses {
        StreamedClasses { classes: Classes::new(), budget }
    }

    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Whether a batch with these `keys`, whose texts take `texts` bytes, has room in memory.
    pub(crate) fn fits(&mut self, keys: &[&Rows], texts: usize) -> bool {
        let StreamedClasses { classes, budget } = self;
        let has_room = |budget: &mut Budget| {
            budget.has_room(classes, keys, texts, |held, more| held.memory_bytes(more))
        };
        budget.as_mut().is_none_or(has_room)
    }

    /// The budget, which is that of what follows.
    pub(crate) fn take_budget(&mut self) -> Option<Budget> {
        self.budget.take()
    }

    /// Adds the records of `batch`, which have these `keys`; about `expected` classes will come in all, 0 if unknown.
    pub(crate) fn insert(&mut self, keys: &[&Rows], expected: u64, batch: &impl StreamedBatch) {
        self.classes.expect(expected);
        self.classes.insert_runs(keys, |FirstTexts { held, waiting, .. }, run| {
            let ProbedRun { chunk, firsts, further } = run;
            for (class, &row) in (held.len() as u32..).zip(firsts) {
                batch.note(chunk, row as usize, class, true);
            }
            for &row in firsts {
                // Whether its text is held cannot be foreseen.
                let is_held = !batch.is_canonical(chunk, row as usize);
                held.push(is_held);
                waiting.push((chunk as u32, row));
                waiting.truncate(waiting.len() - usize::from(!is_held));
            }
            for &(class, row) in further {
                batch.note(chunk, row as usize, class, false);
            }
        });
        threads::each(&mut self.classes.partitions_mut(), |_, texts| texts.add_waiting(batch));
    }

    /// Hands over the number of each partition, the keys of its classes, and their texts, which are dropped then.
    pub(super) fn take_each(&mut self, each: impl Fn(usize, Vec<Key>, FirstTexts) + Sync) {
        self.classes.take_by_number(each);
    }

    /// The texts of all classes so far.
    pub(crate) fn firsts(&self) -> Firsts<'_> {
        Firsts(self.classes.partitions().collect())
    }
}

impl FirstTexts {
    /// Adds the texts that wait: all of them are of records of `batch`.
    fn add_waiting(&mut self, batch: &impl StreamedBatch) {
        let FirstTexts { waiting, places, texts, .. } = self;
        let ahead = |at: usize| waiting.get(at).map(|&(chunk, row)| (chunk as usize, row as usize));
        (0..2 * LOOK_AHEAD).filter_map(ahead).for_each(|(chunk, row)| batch.prefetch(chunk, row));
        (0..LOOK_AHEAD).filter_map(ahead).for_each(|(chunk, row)| batch.prefetch_text(chunk, row));
        for (at, &(chunk, row)) in waiting.iter().enumerate() {
            if let Some((chunk, row)) = ahead(at + 2 * LOOK_AHEAD) {
                batch.prefetch(chunk, row);
            }
            if let Some((chunk, row)) = ahead(at + LOOK_AHEAD) {
                batch.prefetch_text(chunk, row);
            }
            places.push(texts.push(batch.text(chunk as usize, row as usize)));
        }
        waiting.clear();
    }

    /// The text of a class, if it is held.
    #[inline]
    pub(super) fn get(&self, class: u32) -> Option<Prefix<'_>> {
        self.held.rank(class as usize).map(|number| self.texts.get(self.places[number]))
    }

    /// Bytes of memory held, as they will be when `more` classes have come, without their texts.
    fn memory_bytes(&self, more: usize) -> usize {
        let growth = GROWTH * (self.held.len() + more);
        self.held.memory_bytes(more) + grown(&self.places, more) + self.texts.held + growth
    }
}

/// Where the text of a class is held, if it is: the number of its partition, and its number among the texts of that.
#[derive(Clone, Copy, Debug)]
pub(crate) struct HeldText {
    partition: u32,
    number: u32,
}

impl HeldText {
    /// Not held: the text is the canonical form of the class.
    const NONE: u32 = u32::MAX;
}

impl Firsts<'_> {
    /// Asks for what [`Firsts::find`] reads.
    #[inline(always)]
    pub(crate) fn prefetch(&self, partition: usize, class: u32) {
        self.0[partition].held.prefetch(class as usize);
    }

    /// Finds where the text of a class is held, by its partition and its number in it, and asks for what [`Firsts::prefetch_text`]
    /// reads.
    #[inline(always)]
    pub(crate) fn find(&self, partition: usize, class: u32) -> HeldText {
        let FirstTexts { held, places, .. } = self.0[partition];
        let number = held.rank(class as usize).map_or(HeldText::NONE, |number| number as u32);
        // Of what is not held, nothing is there.
        prefetch(places, number as usize);
        HeldText { partition: partition as u32, number }
    }

    /// Asks for the beginning of what [`Firsts::text`] reads.
    #[inline(always)]
    pub(crate) fn prefetch_text(&self, HeldText { partition, number }: HeldText) {
        let FirstTexts { places, texts, .. } = self.0[partition as usize];
        if let Some(&place) = places.get(number as usize) {
            texts.prefetch(place);
        }
    }

    /// The text; `None` if it is the canonical form of its class.
    #[inline(always)]
    pub(crate) fn text(&self, HeldText { partition, number }: HeldText) -> Option<Prefix<'_>> {
        let FirstTexts { places, texts, .. } = self.0[partition as usize];
        places.get(number as usize).map(|&place| texts.get(place))
    }
}
