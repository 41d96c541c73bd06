//! Omits the rows that a filter does not keep, as they are read.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;

use super::TableError;
use super::target::Target;
use super::unit::Unit;
use super::values::trimmed;
use crate::arrow::{each_value, spelled_out};
use crate::extract::Filter;
use crate::pipeline::Equivalence;

/// Which rows of a table are read.
pub(super) struct Kept {
    filter: Filter,
    /// How URIs are read, unless as they are.
    equivalence: Option<Equivalence>,
    /// Rows with a URI so far that it does not keep.
    pub(super) filtered: u64,
}

impl Kept {
    /// The rows whose URI, as `equivalence` reads it, `filter` keeps.
    pub(super) fn new(filter: &Filter, equivalence: &Equivalence) -> Kept {
        let is_read = equivalence.context.is_some() || !equivalence.repairs.is_empty();
        let equivalence = is_read.then(|| equivalence.clone());
        Kept { filter: filter.clone(), equivalence, filtered: 0 }
    }

    /// Those rows of `units`, whose URIs are at `target`.
    pub(super) fn of(
        &mut self,
        units: Vec<Unit>,
        target: &Target,
    ) -> Result<Vec<Unit>, TableError> {
        let kept = units.into_par_iter().map(|unit| {
            let batches = unit.iter().map(|batch| self.of_batch(batch, target));
            batches.collect::<Result<Vec<_>, TableError>>()
        });
        let kept = kept.collect::<Result<Vec<_>, TableError>>()?;
        self.filtered += kept.iter().flatten().map(|(_, filtered)| filtered).sum::<u64>();
        Ok(kept
            .into_iter()
            .map(|unit| unit.into_iter().map(|(batch, _)| batch).collect())
            .collect())
    }

    /// The rows of `batch`, and the number of omitted ones that have a URI.
    fn of_batch(
        &self,
        batch: &RecordBatch,
        target: &Target,
    ) -> Result<(RecordBatch, u64), TableError> {
        let values = spelled_out(&target.values(batch)?)?;
        let mut filtered = 0;
        let kept = each_value(&values).map(|value| {
            let value = trimmed(value.unwrap_or_default());
            let is_kept = !value.is_empty() && self.keeps(value);
            filtered += u64::from(!value.is_empty() && !is_kept);
            Some(is_kept)
        });
        let kept: BooleanArray = kept.collect();
        Ok((filter_record_batch(batch, &kept)?, filtered))
    }

    fn keeps(&self, value: &[u8]) -> bool {
        match &self.equivalence {
            None => self.filter.keeps(value),
            Some(equivalence) => self.filter.keeps(&equivalence.target(value)),
        }
    }
}
