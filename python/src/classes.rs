//! Whole classes of a column: which row of each is kept, how many rows it has, and which.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use arrow_array::builder::StringBuilder;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, LargeListArray, StringArray, StructArray,
    UInt64Array, new_null_array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{DataType, Field, Fields};
use arrow_select::concat::concat;
use rayon::prelude::*;
use uriscan::Error;
use uriscan::normalize::Level;
use uriscan_arrow::{Columns, Keyed, gather};
use uriscan_bulk::pipeline::{Keep, Ladder, Select, levels};
use uriscan_core::dedup::{self, ProbedRun};
use uriscan_core::simd::prefetch;

use crate::texts;

/// The class of every row, and the kept row of every class. A class is known by its first row.
pub(crate) struct Classes {
    values: ArrayRef,
    /// The first row of the class of each row; [`NONE`] for null and blank values.
    firsts: Vec<u32>,
    /// Of each first row the row of its class that is kept; empty where it is the first one.
    kept: Vec<u32>,
    /// Of each first row the number of rows of its class.
    counts: Vec<u32>,
    select: Select,
}

/// The class of rows that belong to none.
const NONE: u32 = u32::MAX;

/// Ends the call if it is to end.
fn go_on(columns: &Columns) -> Result<(), Error> {
    match columns.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        true => Err(Error::stopped()),
        false => Ok(()),
    }
}

/// The first row of the class of each of `rows` rows, by `keyed`, and of each first row the number of rows of its class.
fn first_rows(keyed: &mut Keyed, rows: usize) -> (Vec<u32>, Vec<u32>) {
    let (positions, alone, _) = keyed.positions();
    let all = |value| (0..rows).map(|_| AtomicU32::new(value)).collect();
    let (firsts, counts): (Vec<AtomicU32>, Vec<AtomicU32>) = (all(NONE), all(0));
    // Beside each partition, which may be worked on by any thread, the first rows of its classes, and how many rows these have.
    let mut classes = dedup::Classes::<Vec<(u32, u32)>>::new();
    classes.insert_runs(&keyed.rows(), |beside, ProbedRun { chunk, firsts: new, further }| {
        let positions = &positions[chunk];
        further.iter().for_each(|&(class, _)| prefetch(beside, class as usize));
        for row in new.iter().map(|&row| positions[row as usize]) {
            beside.push((row as u32, 1));
            firsts[row].store(row as u32, Ordering::Relaxed);
        }
        for &(class, row) in further {
            let (first, count) = &mut beside[class as usize];
            *count += 1;
            firsts[positions[row as usize]].store(*first, Ordering::Relaxed);
        }
    });
    classes.partitions_mut().into_par_iter().for_each(|beside| {
        beside
            .iter()
            .for_each(|&(first, count)| counts[first as usize].store(count, Ordering::Relaxed));
    });
    for row in alone {
        firsts[row].store(row as u32, Ordering::Relaxed);
        counts[row].store(1, Ordering::Relaxed);
    }
    let values = |all: Vec<AtomicU32>| all.into_iter().map(AtomicU32::into_inner).collect();
    (values(firsts), values(counts))
}

impl Classes {
    /// The classes of `column`.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn new(
        columns: &Columns,
        column: &ArrayRef,
        keep: Keep,
        select: Select,
    ) -> Result<Classes, Error> {
        let values = texts::spelled_out(column)?;
        let hasher = columns.equivalence.run_hasher(&columns.hasher, None);
        let mut keyed = columns.keyed(&values, &hasher)?;
        let rows = values.len();
        let most = u32::try_from(rows).ok().filter(|&rows| rows < NONE);
        let rows = most.ok_or_else(|| {
            Error::unsupported("more than 4 billion rows at once; work in smaller batches")
        })?;
        let (firsts, counts) = first_rows(&mut keyed, rows as usize);
        drop(keyed);
        go_on(columns)?;
        let mut kept: Vec<u32> = Vec::new();
        if keep != Keep::First {
            kept.extend(0..rows);
            let record = |row: u32| texts::record(&values, row as usize).unwrap_or_default();
            for (row, &class) in (0..).zip(&firsts).filter(|&(_, &class)| class != NONE) {
                let kept = &mut kept[class as usize];
                if is_better(keep, record(row), record(*kept)) {
                    *kept = row;
                }
            }
        }
        Ok(Classes { values, firsts, kept, counts, select })
    }

    /// The class of each row that has one.
    fn of_rows(&self) -> impl Iterator<Item = Option<usize>> {
        self.firsts.iter().map(|&class| (class != NONE).then_some(class as usize))
    }

    /// The row of `class` that is kept.
    fn kept(&self, class: usize) -> usize {
        self.kept.get(class).map_or(class, |&row| row as usize)
    }

    fn is_selected(&self, class: usize) -> bool {
        match self.select {
            Select::Repeated => self.counts[class] > 1,
            Select::Unique => self.counts[class] == 1,
            _ => true,
        }
    }

    /// Whether each row is kept: null for those without a class.
    pub(crate) fn mask(&self) -> ArrayRef {
        let is_kept = |(row, class): (usize, Option<usize>)| {
            class.map(|class| self.kept(class) == row && self.is_selected(class))
        };
        Arc::new(self.of_rows().enumerate().map(is_kept).collect::<BooleanArray>())
    }

    /// The number of rows in the class of each row.
    pub(crate) fn counts(&self) -> ArrayRef {
        let counts = self.of_rows().map(|class| class.map(|class| i64::from(self.counts[class])));
        Arc::new(counts.collect::<Int64Array>())
    }

    /// The kept row of the class of each row.
    pub(crate) fn survivors(&self) -> ArrayRef {
        let kept = self.of_rows().map(|class| class.map(|class| self.kept(class) as u64));
        Arc::new(kept.collect::<UInt64Array>())
    }

    /// A row for each class, in the order of their kept rows: the survivor, the count, and the members with their rows,
    /// values and levels.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn clusters(&self, columns: &Columns) -> Result<ArrayRef, Error> {
        let is_kept = |&(row, class): &(usize, usize)| self.kept(class) == row;
        let rows = || self.of_rows().enumerate().filter_map(|(row, class)| Some((row, class?)));
        let order: Vec<usize> = rows()
            .filter(is_kept)
            .map(|(_, class)| class)
            .filter(|&it| self.is_selected(it))
            .collect();
        let lengths = order.iter().map(|&class| self.counts[class] as usize);
        let offsets = OffsetBuffer::<i64>::from_lengths(lengths);
        // Where the next member of each class belongs.
        let mut places = vec![NONE; self.firsts.len()];
        order.iter().zip(&offsets[..]).for_each(|(&class, &start)| places[class] = start as u32);
        let mut members = vec![0; offsets[order.len()] as usize];
        for (row, class) in rows() {
            let place = &mut places[class];
            if *place != NONE {
                members[*place as usize] = row as u64;
                *place += 1;
            }
        }
        drop(places);
        let kept: Vec<u64> = order.iter().map(|&class| self.kept(class) as u64).collect();
        go_on(columns)?;
        let uris = gather(&self.values, &members)?;
        let levels = level_names(
            columns,
            &Members { uris: &uris, rows: &members, offsets: &offsets, kept: &kept },
        )?;
        let rows = UInt64Array::from(members);
        let members: [(&str, ArrayRef); 3] =
            [("row", Arc::new(rows)), ("uri", uris), ("level", levels)];
        let members = structs(members);
        let item = Arc::new(Field::new_list_field(members.data_type().clone(), false));
        let counts = order.iter().map(|&class| i64::from(self.counts[class]));
        Ok(structs([
            ("kept", gather(&self.values, &kept)?),
            ("count", Arc::new(Int64Array::from_iter_values(counts))),
            ("members", Arc::new(LargeListArray::new(item, offsets, members, None))),
        ]))
    }
}

fn structs<const N: usize>(columns: [(&str, ArrayRef); N]) -> ArrayRef {
    let fields = columns
        .iter()
        .map(|(name, column)| Field::new(*name, column.data_type().clone(), *name == "level"));
    let fields: Fields = fields.collect();
    Arc::new(StructArray::new(fields, columns.map(|(_, column)| column).to_vec(), None))
}

/// Whether the record `new` is kept instead of the earlier `old`.
fn is_better(keep: Keep, new: &[u8], old: &[u8]) -> bool {
    let is_https = |record: &[u8]| {
        record.get(..6).is_some_and(|scheme| scheme.eq_ignore_ascii_case(b"https:"))
    };
    match keep {
        Keep::First => false,
        Keep::Last => true,
        Keep::Shortest => new.len() < old.len(),
        Keep::Https => is_https(new) && !is_https(old),
        Keep::Min => new < old,
        Keep::Max => new > old,
    }
}

/// The members of classes, class after class.
struct Members<'a> {
    uris: &'a ArrayRef,
    rows: &'a [u64],
    /// Where each class begins, and where the last one ends.
    offsets: &'a [i64],
    /// The row of each class that is kept.
    kept: &'a [u64],
}

impl Members<'_> {
    /// Calls `each` with every member of `range` and the one that is kept of its class.
    fn each_pair(&self, range: Range<usize>, mut each: impl FnMut(&[u8], &[u8])) {
        let record = |at| texts::record(self.uris, at).unwrap_or_default();
        let mut class = self.offsets.partition_point(|&start| start as usize <= range.start);
        let mut at = range.start;
        while at < range.end {
            // No class is empty.
            let of_class = self.offsets[class - 1] as usize..self.offsets[class] as usize;
            let before =
                self.rows[of_class.clone()].partition_point(|&row| row < self.kept[class - 1]);
            let kept = record(of_class.start + before);
            let end = of_class.end.min(range.end);
            (at..end).for_each(|at| each(record(at), kept));
            (at, class) = (end, class + 1);
        }
    }
}

/// The name of the lowest level at which each of `members` is equivalent to the one that is kept, or `rules` where only rules make
/// them so; null under a profile, which has no levels.
fn level_names(columns: &Columns, members: &Members<'_>) -> Result<ArrayRef, Error> {
    /// Members that a thread compares at a time.
    const MEMBERS: usize = 16 << 10;
    let (equivalence, count) = (&columns.equivalence, members.rows.len());
    if equivalence.profile.is_some() || count == 0 {
        return Ok(new_null_array(&DataType::Utf8, count));
    }
    let levels = levels(equivalence);
    let has_rules = equivalence.rules.is_some() || equivalence.normalize.drop_fragment;
    let pieces = (0..count.div_ceil(MEMBERS)).into_par_iter().map(|piece| {
        go_on(columns)?;
        let range = piece * MEMBERS..((piece + 1) * MEMBERS).min(count);
        let mut ladder = Ladder::new(&levels, has_rules, columns.kernels);
        let mut names = StringBuilder::with_capacity(range.len(), 6 * range.len());
        members.each_pair(range, |record, kept| {
            let level = ladder.level(record.into(), kept.into());
            names.append_value(level.map_or("rules", Level::name));
        });
        Ok(names.finish())
    });
    let pieces: Vec<StringArray> = pieces.collect::<Result<_, Error>>()?;
    Ok(concat(&pieces.iter().map(|piece| piece as &dyn Array).collect::<Vec<_>>())?)
}
