//! Classes of which the first record survives, whose other records are reported as they are read: the text of the first one is all
//! that is held.

use super::classes::Batch;
use super::texts::{Place, Texts};
use crate::dedup::{Classes, ProbedRun};
use crate::simd::prefetch;

/// Classes with the texts of their first records.
#[derive(Default)]
pub(crate) struct StreamedClasses {
    classes: Classes<FirstTexts>,
}

/// The texts of a partition, by the numbers of their classes.
#[derive(Default)]
struct FirstTexts {
    places: Vec<Place>,
    texts: Texts,
}

/// The text of each class; for many threads.
pub(crate) struct Firsts<'c>(Vec<&'c FirstTexts>);

impl StreamedClasses {
    /// The number of classes.
    pub(crate) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Adds the records of a batch; about `expected` classes will come in all, 0 if unknown. Calls `probed` for each with its chunk,
    /// its row there, the number of its class in its partition, and whether it is the first one of that.
    pub(crate) fn insert(
        &mut self,
        batch: &impl Batch,
        expected: u64,
        probed: impl Fn(usize, usize, u32, bool) + Sync,
    ) {
        self.classes.expect(expected);
        self.classes.insert_runs(&batch.keys(), |FirstTexts { places, texts }, run| {
            let ProbedRun { chunk, firsts, further } = run;
            for (class, &row) in (places.len() as u32..).zip(firsts) {
                probed(chunk, row as usize, class, true);
            }
            for &row in firsts {
                places.push(texts.push(batch.record(chunk, row as usize).1));
            }
            for &(class, row) in further {
                probed(chunk, row as usize, class, false);
            }
        });
    }

    /// The texts of all classes so far.
    pub(crate) fn firsts(&self) -> Firsts<'_> {
        Firsts(self.classes.partitions().collect())
    }
}

impl Firsts<'_> {
    /// The text of a class, by its partition and its number in it.
    #[inline]
    pub(crate) fn text(&self, partition: usize, class: u32) -> &[u8] {
        let FirstTexts { places, texts } = self.0[partition];
        texts.get(places[class as usize])
    }

    /// Asks for what [`Firsts::prefetch_text`] reads.
    #[inline]
    pub(crate) fn prefetch_place(&self, partition: usize, class: u32) {
        prefetch(&self.0[partition].places, class as usize);
    }

    /// Asks for the beginning of what [`Firsts::text`] reads.
    #[inline]
    pub(crate) fn prefetch_text(&self, partition: usize, class: u32) {
        let FirstTexts { places, texts } = self.0[partition];
        texts.prefetch(places[class as usize]);
    }
}
