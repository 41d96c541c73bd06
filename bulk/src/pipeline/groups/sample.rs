//! The first records of each shape: which they are, where [`crate::pipeline::dedup_by_shape()`] keeps a few of each.
//!
//! For one record of each shape, the keys of records are those of their shapes, and all else is deduplication. For more than one,
//! a [`Sample`] counts the records of each shape that are kept, and has the keys of these, by which it knows records that are
//! equivalent to one of them. Its memory grows with what is kept, not with the input, and nothing of it spills.

use core::fmt;
use core::num::NonZeroU32;

use crate::pipeline::engine::scan::KeyedRecords;
use crate::pipeline::engine::work::{ChunkWork, Worker};
use crate::pipeline::{DedupOptions, Error, ErrorKind};
use crate::survivors::{Budget, MemoryLimit};
use uriscan_core::chunk::{Padded, Prefix, Span};
use uriscan_core::dedup::{Classes, Numbering, Rows};
use uriscan_core::index::{Index, Record};
use uriscan_core::key::{Hasher, Key};
use uriscan_core::normalize::{FormBuffer, common_form};
use uriscan_core::shape::Shaper;
use uriscan_core::simd::{Isa, Task};
use uriscan_core::uri::bulk::parse_record;

/// How many records of each [shape](uriscan_core::shape) are kept.
///
/// ```
/// use core::num::NonZeroU32;
/// use uriscan_bulk::pipeline::ByShape;
/// let by = ByShape::default().most(NonZeroU32::new(3).unwrap()).slugs(true);
/// assert_eq!((by.to_string(), ByShape::default().to_string()), ("shape:slugs".to_owned(), "shape".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct ByShape {
    /// At most so many that are not equivalent.
    pub most: NonZeroU32,
    /// Whether segments of words are typed ([`Shaper::slugs`]).
    pub slugs: bool,
}

impl Default for ByShape {
    fn default() -> ByShape {
        ByShape { most: NonZeroU32::MIN, slugs: false }
    }
}

setters! { ByShape { most: NonZeroU32, slugs: bool } }

impl fmt::Display for ByShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.slugs { "shape:slugs" } else { "shape" })
    }
}

#[derive(Default)]
struct Kept {
    /// The number of records that are kept of each shape.
    counts: Vec<u32>,
    /// The keys of these records, and for how many more of them there is room.
    keys: Numbering,
    room: usize,
}

impl Kept {
    /// Adds a record with this `key` to the kept ones; `false` if one of them has it.
    fn add(&mut self, key: Key) -> bool {
        if self.room == 0 {
            // As much again: the table takes no more than it is told, and each time all keys move.
            self.room = self.keys.len().max(LEAST_ROOM);
            self.keys.reserve(self.room);
        }
        let is_new = self.keys.number(key).1;
        self.room -= usize::from(is_new);
        is_new
    }
}

/// Sets the keys of rows to those of the shapes of their forms, and forgets the forms.
struct SetKeys<'a> {
    /// The records of the rows in their text, and the numbers of those that have a form.
    records: (Padded<'a>, &'a [Span], &'a mut Vec<u32>),
    forms: &'a mut Vec<u8>,
    form_index: &'a mut Index,
    slugs: bool,
    hasher: &'a Hasher,
    rows: &'a mut Rows,
}

impl Task for SetKeys<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let SetKeys { records, forms, form_index, slugs, hasher, rows } = self;
        let (text, spans, owners) = records;
        let len = forms.len();
        forms.resize(Padded::needed(len), 0);
        let made = Padded::new(forms, len).expect("there is padding");
        form_index.build_with(isa, made, FORM_END);
        let (mut shaper, mut shape) = (Shaper::default().slugs(slugs), Vec::new());
        for (span, row) in form_index.spans().zip(owners.drain(..)) {
            let row = row as usize;
            let form = Record::new(made, form_index, span);
            shape.clear();
            match parse_record(isa, form) {
                Ok(parts) => shaper.append(form.bytes(), &parts, &mut shape),
                Err(_) => push_shapeless(spans[row].of(text.content()), &mut shape),
            }
            rows.set_key(row, hasher.key(&shape));
        }
        forms.clear();
    }
}

/// Appends what `record`, which has no shape, is compared by: not the shape of anything, for it begins with a space.
fn push_shapeless(record: &[u8], out: &mut Vec<u8>) {
    out.push(b' ');
    out.extend_from_slice(record);
}

/// What each form ends with that is written for its shape: no URI holds it.
const FORM_END: u8 = b'\n';

/// Bytes of forms whose shapes are found before more are made.
const MOST_BYTES: usize = 1 << 20;

/// Keys for which room is made at first.
const LEAST_ROOM: usize = 64;

/// The records that are kept of each shape.
pub(crate) struct Sample {
    by: ByShape,
    shapes: Classes<Kept>,
    budget: Option<Budget>,
}

impl Sample {
    /// No records, within `limit` where more than one of each shape is kept.
    pub(crate) fn new(by: ByShape, limit: Option<MemoryLimit>) -> Sample {
        Sample { by, shapes: Classes::new(), budget: limit.map(Budget::of_process) }
    }

    /// Whether the first record of each shape is kept, and no other.
    pub(crate) fn is_of_firsts(&self) -> bool {
        self.by.most == NonZeroU32::MIN
    }

    /// The number of shapes, unless only the first record of each is kept.
    pub(crate) fn len(&self) -> usize {
        self.shapes.len()
    }

    /// Replaces the keys of the records of the chunk in `work`, which has been scanned by `options`, by those of their shapes.
    #[inline(always)]
    pub(crate) fn scan<I: Isa>(
        &self,
        isa: I,
        options: &DedupOptions,
        worker: &mut Worker,
        work: &mut ChunkWork<KeyedRecords>,
    ) {
        let ChunkWork { chunk, rows: KeyedRecords { spans, rows, keys, .. }, .. } = work;
        let Worker { index, scratch, forms, form_index, others: owners, .. } = worker;
        let DedupOptions { equivalence, hasher, .. } = options;
        keys.clear();
        if !self.is_of_firsts() {
            keys.extend((0..rows.len()).map(|row| rows.key(row)));
        }
        let (text, repaired) = (chunk.text.padded(), scratch.repaired);
        let is_usual = equivalence.has_usual_forms_only();
        let slugs = self.by.slugs;
        forms.clear();
        owners.clear();
        let (mut room, mut shapeless): (FormBuffer, _) = ([0; _], Vec::new());
        for (row, &span) in spans.iter().enumerate() {
            let bytes = Prefix::new(&text.padded()[span.start as usize..], span.len());
            let usual = if is_usual { common_form(isa, bytes, &mut room) } else { None };
            let record = Record::new(text, index, span);
            let form = match usual {
                Some(form) => Ok(form),
                None => equivalence.canonical_by(isa, record, scratch),
            };
            match form {
                Ok(form) => {
                    form.append_to(forms);
                    forms.push(FORM_END);
                    owners.push(row as u32);
                }
                Err(_) => {
                    shapeless.clear();
                    push_shapeless(record.bytes(), &mut shapeless);
                    rows.set_key(row, hasher.key(&shapeless));
                }
            }
            if forms.len() > MOST_BYTES {
                let records = (text, &spans[..], &mut *owners);
                isa.call(SetKeys { records, forms, form_index, slugs, hasher, rows });
            }
        }
        let records = (text, &spans[..], owners);
        isa.call(SetKeys { records, forms, form_index, slugs, hasher, rows });
        // Each record has been counted before.
        scratch.repaired = repaired;
        rows.partition();
    }

    /// Decides which rows of the `chunks` of a batch, whose buffers take so many bytes, are kept: [`Rows::is_first`] says so.
    pub(crate) fn insert(&mut self, chunks: &[&KeyedRecords], buffers: usize) -> Result<(), Error> {
        let rows: Vec<&Rows> = chunks.iter().map(|found| &found.rows).collect();
        self.require_room(rows.iter().map(|rows| rows.len()).sum(), buffers)?;
        let most = self.by.most.get();
        self.shapes.insert(&rows, |kept, probed| {
            if probed.is_first {
                kept.counts.push(0);
            }
            let shape = probed.class as usize;
            let is_kept =
                kept.counts[shape] < most && kept.add(chunks[probed.chunk].keys[probed.row]);
            kept.counts[shape] += u32::from(is_kept);
            rows[probed.chunk].set_first(probed.row, is_kept);
        });
        Ok(())
    }

    /// Fails when `more` records may not have room.
    fn require_room(&mut self, more: usize, buffers: usize) -> Result<(), Error> {
        /// Bytes of a record that is kept, and of its shape.
        const RECORD: usize = 64;
        let bytes = self.memory_bytes();
        let Some(budget) = &mut self.budget else { return Ok(()) };
        budget.note_batch(buffers, bytes);
        // Tables double when they grow.
        if 2 * bytes + RECORD * more <= budget.key_bytes() {
            return Ok(());
        }
        let kept: u64 = self.shapes.partitions().map(|kept| kept.keys.len() as u64).sum();
        let shapes = self.shapes.len();
        let what = format!(
            "{kept} records of {shapes} shapes are kept so far, and the keys of more exceed the memory limit; raise it, or keep fewer of each shape"
        );
        Err(Error::text(ErrorKind::Memory, what))
    }

    fn memory_bytes(&self) -> usize {
        let of = |kept: &Kept| kept.keys.memory_bytes() + kept.counts.capacity() * size_of::<u32>();
        self.shapes.memory_bytes() + self.shapes.partitions().map(of).sum::<usize>()
    }
}
