//! Whole classes of a column: which row of each is kept, how many rows it has, and which.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use arrow_array::builder::{StringBuilder, UInt64Builder};
use arrow_array::cast::AsArray;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Int64Array, LargeListArray, StructArray, UInt64Array,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{Field, Fields};
use arrow_select::take::take;
use rayon::prelude::*;
use uriscan::Error;
use uriscan::normalize::{Level, Options};
use uriscan_arrow::{Columns, Firsts, OnInvalid};
use uriscan_bulk::pipeline::{Equivalence, Keep, Select};

use crate::texts;

/// The class of every row, and the kept row of every class.
pub(crate) struct Classes {
    values: ArrayRef,
    /// The number of the class of each row, in the order of their first rows; `None` for null and blank values.
    of_rows: Vec<Option<usize>>,
    kept: Vec<usize>,
    counts: Vec<i64>,
    select: Select,
}

/// Rows after which it is seen whether the call is to end.
const ROWS: usize = 1 << 14;

/// The key of a value that is too long to be compared with others.
const NO_KEY: [u8; 16] = [0; 16];

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
        // Null where a row has no class; the first invalid value ends it where that is asked for.
        let has_class = Firsts::new(columns.clone()).mark(column)?;
        let keys = columns.clone().on_invalid(OnInvalid::Pass).key(column)?;
        let keys = keys.as_fixed_size_binary();
        let values = texts::spelled_out(column)?;
        let (mut numbers, mut kept, mut counts) = (HashMap::new(), Vec::new(), Vec::new());
        let mut of_rows = Vec::with_capacity(column.len());
        for row in 0..column.len() {
            let stop = columns.stop.as_ref().filter(|_| row % ROWS == 0);
            if stop.is_some_and(|stop| stop.load(Ordering::Relaxed)) {
                return Err(Error::stopped());
            }
            if has_class.is_null(row) {
                of_rows.push(None);
                continue;
            }
            let mut begin = || {
                kept.push(row);
                counts.push(0);
                kept.len() - 1
            };
            let class = match keys.value(row) {
                key if key == NO_KEY => begin(),
                key => match numbers.entry(key) {
                    Entry::Occupied(class) => *class.get(),
                    Entry::Vacant(vacant) => *vacant.insert(begin()),
                },
            };
            counts[class] += 1;
            let record = |row| texts::record(&values, row).unwrap_or_default();
            if is_better(keep, record(row), record(kept[class])) {
                kept[class] = row;
            }
            of_rows.push(Some(class));
        }
        Ok(Classes { values, of_rows, kept, counts, select })
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
        let rows = self.of_rows.iter().enumerate();
        let is_kept = |(row, class): (usize, &Option<usize>)| {
            class.map(|class| self.kept[class] == row && self.is_selected(class))
        };
        Arc::new(rows.map(is_kept).collect::<BooleanArray>())
    }

    /// The number of rows in the class of each row.
    pub(crate) fn counts(&self) -> ArrayRef {
        let counts = self.of_rows.iter().map(|class| class.map(|class| self.counts[class]));
        Arc::new(counts.collect::<Int64Array>())
    }

    /// The kept row of the class of each row.
    pub(crate) fn survivors(&self) -> ArrayRef {
        let kept = self.of_rows.iter().map(|class| class.map(|class| self.kept[class] as u64));
        Arc::new(kept.collect::<UInt64Array>())
    }

    /// A row for each class, in the order of their kept rows: the survivor, the count, and the members with their rows,
    /// values and levels.
    ///
    /// # Errors
    /// See [`Error`].
    pub(crate) fn clusters(&self, columns: &Columns) -> Result<ArrayRef, Error> {
        let mut members: Vec<Vec<usize>> = vec![Vec::new(); self.kept.len()];
        for (row, class) in self.of_rows.iter().enumerate() {
            class.iter().for_each(|&class| members[class].push(row));
        }
        let mut order: Vec<usize> =
            (0..self.kept.len()).filter(|&class| self.is_selected(class)).collect();
        order.sort_unstable_by_key(|&class| self.kept[class]);
        let ladder = Ladder::new(columns, &self.values)?;
        let (mut rows, mut levels) = (UInt64Builder::new(), StringBuilder::new());
        for &class in &order {
            for &row in &members[class] {
                rows.append_value(row as u64);
                levels.append_option(ladder.level(&self.values, row, self.kept[class]));
            }
        }
        let rows = rows.finish();
        let uris = take(&self.values, &rows, None)?;
        let lengths = order.iter().map(|&class| members[class].len());
        let offsets = OffsetBuffer::from_lengths(lengths);
        let members: [(&str, ArrayRef); 3] =
            [("row", Arc::new(rows)), ("uri", uris), ("level", Arc::new(levels.finish()))];
        let members = structs(members);
        let item = Arc::new(Field::new_list_field(members.data_type().clone(), false));
        let kept: UInt64Array = order.iter().map(|&class| Some(self.kept[class] as u64)).collect();
        let counts: Int64Array = order.iter().map(|&class| Some(self.counts[class])).collect();
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

/// The forms of all values on the levels below that of the columns, lowest first.
struct Ladder {
    below: Vec<(Level, ArrayRef)>,
    top: Level,
    /// Under a profile there are no levels.
    has_levels: bool,
}

impl Ladder {
    fn new(columns: &Columns, values: &ArrayRef) -> Result<Ladder, Error> {
        let equivalence = &columns.equivalence;
        let top = equivalence.normalize.level;
        let at = |level| -> Result<(Level, ArrayRef), Error> {
            let options = Options::new(level).drop_fragment(equivalence.normalize.drop_fragment);
            let equivalence: Equivalence = equivalence.clone().normalize(options);
            let columns = columns.clone().equivalence(equivalence).on_invalid(OnInvalid::Pass);
            Ok((level, columns.normalize(values)?))
        };
        let has_levels = equivalence.profile.is_none();
        let levels: Vec<Level> =
            Level::ALL.into_iter().filter(|&level| has_levels && level < top).collect();
        let below = levels.into_par_iter().map(at).collect::<Result<_, _>>()?;
        Ok(Ladder { below, top, has_levels })
    }

    /// The lowest level at which two rows of a class are equivalent.
    fn level(&self, values: &ArrayRef, row: usize, other: usize) -> Option<&'static str> {
        if !self.has_levels {
            return None;
        }
        if texts::record(values, row) == texts::record(values, other) {
            return Some(Level::String.name());
        }
        let are_same = |forms: &ArrayRef| texts::value(forms, row) == texts::value(forms, other);
        let found = self.below.iter().find(|(_, forms)| are_same(forms));
        Some(found.map_or(self.top, |(level, _)| *level).name())
    }
}
