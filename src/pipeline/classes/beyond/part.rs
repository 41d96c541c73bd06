//! What was put aside with keys of the same bits, settled by itself.

use std::collections::BTreeMap;

use super::super::ladder::{Ladder, below};
use super::super::shelf::{Manner, Shelf};
use super::super::{Proof, Sorting};
use super::number::Head;
use super::row::Row;
use super::tape::{Placed, Tape};
use super::{Asked, GROUP_BITS, PART_BITS};
use crate::dedup::Numbering;
use crate::io::json;
use crate::key::Key;
use crate::pipeline::spill::Aside;
use crate::pipeline::{Equivalence, Error};

/// Rows whose keys have the same top bits, in the order of their positions, behind those that stand for several records.
#[derive(Debug)]
pub(super) struct Part {
    tape: Tape,
    rows: u64,
    /// Bytes of all texts.
    text_bytes: u64,
}

impl Part {
    pub(super) fn new(capacity: usize) -> Part {
        Part { tape: Tape::new(capacity), rows: 0, text_bytes: 0 }
    }

    #[inline]
    pub(super) fn push(
        &mut self,
        manner: Manner,
        row: &Row<'_>,
        file: &Aside,
    ) -> Result<(), Error> {
        self.rows += 1;
        self.text_bytes += row.text.len() as u64;
        row.write(manner, &mut self.tape, file)
    }

    /// In how many passes, a power of two, the part is settled so that each has room in `room` bytes.
    pub(super) fn passes(&self, manner: Manner, asked: Asked, room: usize) -> u64 {
        /// Bytes of memory without which a pass is not worth the while.
        const LEAST: u64 = 64 << 10;
        // Texts that were replaced take room for a while.
        let texts = if manner.keep == super::super::Keep::First { 1 } else { 2 };
        let rows = Numbering::bytes_for(self.rows as usize) as u64 + self.rows * row_bytes(asked);
        let needed = rows + texts * self.text_bytes;
        // Passes are not filled quite alike.
        needed.div_ceil((room as u64 / 8 * 7).max(LEAST)).max(1).next_power_of_two()
    }
}

/// Bytes of memory for a row at the most, beside its text and its number: what a [`Shelf`] holds of a class; for clusters a
/// member and the weight of the class; the keys that a set is asked for.
fn row_bytes(asked: Asked) -> u64 {
    let (members, keys) = (if asked.clusters { 32 } else { 0 }, if asked.past { 48 } else { 0 });
    32 + members + keys
}

/// What came of a pass over a part.
#[derive(Debug)]
pub(in crate::pipeline::classes) struct Settled {
    /// For each class that is written its line, where its survivor stands; where sources are read again, for
    /// each class the number of its records.
    pub(in crate::pipeline::classes) survivors: Placed,
    /// The lines of records that were left out, where these stand.
    pub(in crate::pipeline::classes) dupes: Placed,
    /// For each class that is written its object, where its survivor stands.
    pub(in crate::pipeline::classes) clusters: Placed,
    /// Classes that no earlier run has seen.
    pub(in crate::pipeline::classes) classes: u64,
    pub(in crate::pipeline::classes) written: u64,
    pub(in crate::pipeline::classes) withheld: u64,
}

/// How parts are settled.
pub(super) struct Settling<'s, 'e, 'p> {
    pub(super) sorting: &'s Sorting<'p>,
    pub(super) manner: Manner,
    pub(super) asked: Asked,
    pub(super) proof: Option<&'s Proof<'e>>,
    /// Where the parts are.
    pub(super) rows: &'s Aside,
    /// Where what comes of them goes.
    pub(super) to: &'s Aside,
    /// Bytes of memory for a pass.
    pub(super) room: usize,
    /// Bytes that each tape gathers.
    pub(super) capacity: usize,
}

/// Some of the keys of a part, by the bits behind those that they share.
#[derive(Clone, Copy, Debug)]
struct Pass {
    number: u64,
    of: u64,
}

impl Pass {
    #[inline]
    fn has(self, key: Key) -> bool {
        let shift = 128 - GROUP_BITS - PART_BITS - self.of.trailing_zeros();
        (key.0 >> shift) as u64 % self.of == self.number
    }
}

/// Rows whose numbers are looked for at the same time.
const AHEAD: usize = 64;

impl Settling<'_, '_, '_> {
    /// Settles `part` in `of` passes.
    pub(super) fn settle(
        &self,
        part: &Part,
        of: u64,
        table: &mut Numbering,
    ) -> Result<Vec<Settled>, Error> {
        (0..of).map(|number| self.pass(part, Pass { number, of }, table)).collect()
    }

    fn pass(&self, part: &Part, pass: Pass, table: &mut Numbering) -> Result<Settled, Error> {
        let rows = (part.rows / pass.of) as usize;
        table.clear(rows);
        table.reserve(rows);
        // Members come later, when it is known who survives.
        let manner = Manner { has_members: false, ..self.manner };
        let mut shelf = Shelf::default();
        shelf.reserve(manner, rows);
        let mut weights: Vec<u64> = Vec::new();
        self.each_row(part, pass, table, &mut shelf, |shelf, row, class, is_first| {
            shelf.meet_row(manner, class, is_first, row);
            if self.asked.clusters {
                if is_first {
                    weights.push(0);
                }
                weights[class as usize] += row_bytes(self.asked) + row.text.len() as u64;
            }
            Ok(())
        })?;
        shelf.seal();
        let seen = match &self.sorting.past {
            Some(past) => past.see(&table.by_number(), &mut shelf)?,
            None => 0,
        };
        let tape = || Placed::new(self.capacity);
        let mut made = Settled {
            survivors: tape(),
            dupes: tape(),
            clusters: tape(),
            classes: table.len() as u64 - seen,
            written: 0,
            withheld: 0,
        };
        if !self.manner.has_texts {
            self.write_counts(&shelf, &mut made)?;
            return Ok(made);
        }
        let below = below(&self.sorting.options.dedup.equivalence);
        let mut giants =
            Giants { most: (self.room / 16).max(4 << 10) as u64, weights, keys: BTreeMap::new() };
        if self.asked.dupes || self.asked.clusters {
            self.tell_members(part, pass, table, &mut shelf, &mut giants, &below, &mut made)?;
        }
        self.write_survivors(part, &shelf, &giants, &below, &mut made)?;
        Ok(made)
    }

    /// Whether two records with one key are in one class.
    #[inline]
    fn is_same(&self, one: &[u8], other: &[u8]) -> bool {
        self.proof.is_none_or(|proof| proof.are_same(one, other))
    }

    /// Calls `each` for the rows of a pass, with the shelf of their classes, the numbers of these and whether they are new.
    fn each_row(
        &self,
        part: &Part,
        pass: Pass,
        table: &mut Numbering,
        shelf: &mut Shelf,
        mut each: impl FnMut(&mut Shelf, &Row<'_>, u32, bool) -> Result<(), Error>,
    ) -> Result<(), Error> {
        part.tape.read(self.rows, |piece| {
            let mut ahead: Vec<Row<'_>> = Vec::with_capacity(AHEAD);
            let mut at = 0;
            while at < piece.len() {
                ahead.clear();
                while at < piece.len() && ahead.len() < AHEAD {
                    let row = Row::read(self.manner, piece, &mut at);
                    if pass.has(row.key) {
                        table.prefetch(row.key);
                        ahead.push(row);
                    }
                }
                table.reserve(ahead.len());
                for row in &ahead {
                    let (class, is_first) = table.number_if(row.key, |class| {
                        // Without a proof there may be no texts.
                        self.proof.is_none() || self.is_same(row.text, shelf.survivor(class).1)
                    });
                    each(shelf, row, class, is_first)?;
                }
            }
            Ok(())
        })
    }

    /// Notes the number of records of all classes.
    fn write_counts(&self, shelf: &Shelf, made: &mut Settled) -> Result<(), Error> {
        for (position, class) in shelf.survivors(0..u64::MAX) {
            let mut count = Head::new();
            // 0 is as good as no survivor.
            count.push(shelf.count(class));
            made.survivors.push(position, count.bytes(), self.to)?;
        }
        made.survivors.finish(self.to)
    }

    /// Writes the lines of records that were left out, and puts these on the shelf if clusters are asked for, but for the
    /// members of giants.
    #[expect(clippy::too_many_arguments, reason = "all that a pass knows")]
    fn tell_members(
        &self,
        part: &Part,
        pass: Pass,
        table: &mut Numbering,
        shelf: &mut Shelf,
        giants: &mut Giants,
        below: &[Equivalence],
        made: &mut Settled,
    ) -> Result<(), Error> {
        let mut ladder = self.sorting.ladder(below);
        let mut line = Vec::new();
        self.each_row(part, pass, table, shelf, |shelf, row, class, _| {
            if shelf.count(class) == 0 {
                if self.asked.dupes {
                    line.clear();
                    self.sorting.push_seen(row.text, &mut line);
                    made.dupes.push(row.position, &line, self.to)?;
                }
                return Ok(());
            }
            if giants.has(class) {
                giants.keys.insert(class, row.key);
            }
            let (position, survivor) = shelf.survivor(class);
            if position == row.position {
                return Ok(());
            }
            if self.asked.dupes {
                line.clear();
                self.sorting.push_dupe(row.text, survivor, &mut ladder, &mut line);
                made.dupes.push(row.position, &line, self.to)?;
            }
            if self.asked.clusters && !giants.has(class) {
                shelf.meet_member(None, class, row.position, row.text);
            }
            Ok(())
        })?;
        shelf.sort_members();
        made.dupes.finish(self.to)
    }

    /// Writes the lines and objects of classes.
    fn write_survivors(
        &self,
        part: &Part,
        shelf: &Shelf,
        giants: &Giants,
        below: &[Equivalence],
        made: &mut Settled,
    ) -> Result<(), Error> {
        let mut judge = self.sorting.judge();
        let mut ladder = self.sorting.ladder(below);
        let mut text = Vec::new();
        for (position, class) in shelf.survivors(0..u64::MAX) {
            let (count, survivor) = (shelf.count(class), shelf.survivor(class).1);
            if count == 0 {
                continue;
            }
            if !self.sorting.options.select.has(count) {
                made.withheld += 1;
                continue;
            }
            made.written += 1;
            text.clear();
            self.sorting.push_result(survivor, count, &mut judge, &mut text);
            made.survivors.push(position, &text, self.to)?;
            if self.asked.clusters {
                match giants.keys.get(&class) {
                    Some(&key) => {
                        let head = (position, survivor, count);
                        self.write_giant(part, key, head, &mut ladder, &mut made.clusters)?;
                    }
                    None => {
                        text.clear();
                        self.sorting.push_cluster(shelf, class, &mut ladder, &mut text);
                        made.clusters.push(position, &text, self.to)?;
                    }
                }
            }
        }
        made.survivors.finish(self.to)?;
        made.clusters.finish(self.to)
    }

    /// Writes the object of a class whose members have no room in memory.
    fn write_giant(
        &self,
        part: &Part,
        key: Key,
        (position, survivor, count): (u64, &[u8], u64),
        ladder: &mut Ladder<'_>,
        clusters: &mut Placed,
    ) -> Result<(), Error> {
        let mut text = Vec::new();
        json::cluster_start(&self.sorting.masked(survivor), count, &mut text);
        part.tape.read(self.rows, |piece| {
            let mut at = 0;
            while at < piece.len() {
                let row = Row::read(self.manner, piece, &mut at);
                if row.key != key || !self.is_same(row.text, survivor) {
                    continue;
                }
                self.sorting.push_member(row.position, row.text, survivor, ladder, &mut text);
                if text.len() >= self.capacity {
                    // The next member looks at the last byte.
                    let end = text.len() - 1;
                    clusters.push(position, &text[..end], self.to)?;
                    text.drain(..end);
                }
            }
            Ok(())
        })?;
        json::cluster_end(&mut text);
        clusters.push(position, &text, self.to)
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
