//! Whole classes of a column: which row of each is kept, how many rows it has, and which.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow_array::builder::StringBuilder;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, LargeListArray, StructArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{Field, Fields};
use arrow_select::take::take;
use rayon::prelude::*;
use uriscan::Error;
use uriscan::normalize::{Level, Options};
use uriscan_arrow::{Columns, Keyed, OnInvalid};
use uriscan_bulk::pipeline::{Equivalence, Keep, Select};
use uriscan_core::dedup;

use crate::texts;

/// The class of every row, and the kept row of every class. A class is known by its first row.
pub(crate) struct Classes {
    values: ArrayRef,
    /// The first row of the class of each row; [`NONE`] for null and blank values.
    firsts: Vec<usize>,
    /// Of each first row the kept row and the number of rows of its class.
    kept: Vec<usize>,
    counts: Vec<usize>,
    select: Select,
}

/// The class of rows that belong to none.
const NONE: usize = usize::MAX;

/// Ends the call if it is to end.
fn go_on(columns: &Columns) -> Result<(), Error> {
    match columns.stop.as_ref().is_some_and(|stop| stop.load(Ordering::Relaxed)) {
        true => Err(Error::stopped()),
        false => Ok(()),
    }
}

/// The first row of the class of each of `rows` rows, by `keyed`.
fn first_rows(keyed: &mut Keyed, rows: usize) -> Vec<usize> {
    let (positions, alone, _) = keyed.positions();
    let firsts: Vec<AtomicUsize> = (0..rows).map(|_| AtomicUsize::new(NONE)).collect();
    // Beside each partition, which may be worked on by any thread, the first rows of its classes.
    let mut classes = dedup::Classes::<Vec<usize>>::new();
    classes.insert(&keyed.rows(), |beside, probed| {
        let row = positions[probed.chunk][probed.row];
        if probed.is_first {
            beside.push(row);
        }
        firsts[row].store(beside[probed.class as usize], Ordering::Relaxed);
    });
    let mut firsts: Vec<usize> = firsts.into_iter().map(AtomicUsize::into_inner).collect();
    alone.into_iter().for_each(|row| firsts[row] = row);
    firsts
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
        let firsts = first_rows(&mut keyed, rows);
        drop(keyed);
        go_on(columns)?;
        let (mut kept, mut counts) = ((0..rows).collect::<Vec<usize>>(), vec![0; rows]);
        for (row, &class) in firsts.iter().enumerate().filter(|&(_, &class)| class != NONE) {
            counts[class] += 1;
            let record = |row| texts::record(&values, row).unwrap_or_default();
            if keep != Keep::First && is_better(keep, record(row), record(kept[class])) {
                kept[class] = row;
            }
        }
        Ok(Classes { values, firsts, kept, counts, select })
    }

    /// The class of each row that has one.
    fn of_rows(&self) -> impl Iterator<Item = Option<usize>> {
        self.firsts.iter().map(|&class| (class != NONE).then_some(class))
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
            class.map(|class| self.kept[class] == row && self.is_selected(class))
        };
        Arc::new(self.of_rows().enumerate().map(is_kept).collect::<BooleanArray>())
    }

    /// The number of rows in the class of each row.
    pub(crate) fn counts(&self) -> ArrayRef {
        let counts = self.of_rows().map(|class| class.map(|class| self.counts[class] as i64));
        Arc::new(counts.collect::<Int64Array>())
    }

    /// The kept row of the class of each row.
    pub(crate) fn survivors(&self) -> ArrayRef {
        let kept = self.of_rows().map(|class| class.map(|class| self.kept[class] as u64));
        Arc::new(kept.collect::<UInt64Array>())
    }

    /// A row for each class, in the order of their kept rows: the survivor, the count, and the members with their rows,
    /// values and levels.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn clusters(&self, columns: &Columns) -> Result<ArrayRef, Error> {
        let is_kept = |&(row, class): &(usize, usize)| self.kept[class] == row;
        let rows = || self.of_rows().enumerate().filter_map(|(row, class)| Some((row, class?)));
        let order: Vec<usize> = rows()
            .filter(is_kept)
            .map(|(_, class)| class)
            .filter(|&it| self.is_selected(it))
            .collect();
        // Where the next member of each class belongs.
        let (mut places, mut count) = (vec![NONE; self.firsts.len()], 0);
        for &class in &order {
            places[class] = count;
            count += self.counts[class];
        }
        let (mut members, mut kept) = (vec![0; count], vec![0; count]);
        for (row, class) in rows() {
            let place = &mut places[class];
            if *place != NONE {
                members[*place] = row as u64;
                kept[*place] = self.kept[class] as u64;
                *place += 1;
            }
        }
        drop(places);
        go_on(columns)?;
        let rows = UInt64Array::from(members);
        let levels = levels(columns, &self.values, &rows, &UInt64Array::from(kept))?;
        let uris = take(&self.values, &rows, None)?;
        let lengths = order.iter().map(|&class| self.counts[class]);
        let offsets = OffsetBuffer::from_lengths(lengths);
        let members: [(&str, ArrayRef); 3] =
            [("row", Arc::new(rows)), ("uri", uris), ("level", levels)];
        let members = structs(members);
        let item = Arc::new(Field::new_list_field(members.data_type().clone(), false));
        let kept: UInt64Array = order.iter().map(|&class| Some(self.kept[class] as u64)).collect();
        let counts: Int64Array =
            order.iter().map(|&class| Some(self.counts[class] as i64)).collect();
        Ok(structs([
            ("kept", take(&self.values, &kept, None)?),
            ("count", Arc::new(counts)),
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

/// The name of the lowest level at which each of `rows` is equivalent to the one of `kept` beside it; null under a profile, which has
/// no levels. Only forms of pairs that differ on all levels below are made.
fn levels(
    columns: &Columns,
    values: &ArrayRef,
    rows: &UInt64Array,
    kept: &UInt64Array,
) -> Result<ArrayRef, Error> {
    let equivalence = &columns.equivalence;
    if equivalence.profile.is_some() {
        let mut none = StringBuilder::new();
        none.append_nulls(rows.len());
        return Ok(Arc::new(none.finish()));
    }
    let top = equivalence.normalize.level;
    let pairs = rows.values().par_iter().zip(kept.values().par_iter());
    let record = |row: u64| texts::record(values, row as usize);
    let is_same = |(&row, &kept): (&u64, &u64)| row == kept || record(row) == record(kept);
    let mut found: Vec<Option<Level>> =
        pairs.map(|pair| is_same(pair).then_some(Level::String)).collect();
    let mut open: Vec<usize> = (0..found.len()).filter(|&at| found[at].is_none()).collect();
    for level in Level::ALL.into_iter().filter(|&level| level < top) {
        go_on(columns)?;
        let options = Options::new(level).drop_fragment(equivalence.normalize.drop_fragment);
        let below: Equivalence = equivalence.clone().normalize(options);
        let below = columns.clone().equivalence(below).on_invalid(OnInvalid::Pass);
        let ours: Vec<u64> = open.iter().map(|&at| rows.value(at)).collect();
        // Members of a class follow each other: the form of what is kept is made once.
        let mut theirs: Vec<u64> = Vec::new();
        let place = |&at: &usize| {
            let row = kept.value(at);
            if theirs.last() != Some(&row) {
                theirs.push(row);
            }
            theirs.len() - 1
        };
        let places: Vec<usize> = open.iter().map(place).collect();
        let forms = |rows: Vec<u64>| -> Result<ArrayRef, Error> {
            below.normalize(&take(values, &UInt64Array::from(rows), None)?)
        };
        let (ours, theirs) = (forms(ours)?, forms(theirs)?);
        let is_same =
            |pair: usize| texts::value(&ours, pair) == texts::value(&theirs, places[pair]);
        let (same, others): (Vec<usize>, Vec<usize>) =
            (0..open.len()).partition(|&pair| is_same(pair));
        same.into_iter().for_each(|pair| found[open[pair]] = Some(level));
        open = others.into_iter().map(|pair| open[pair]).collect();
    }
    let names = found.iter().map(|level| Some(level.unwrap_or(top).name()));
    Ok(Arc::new(names.collect::<arrow_array::StringArray>()))
}
