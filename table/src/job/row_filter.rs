//! Omits the rows that a filter does not keep, as they are read.

use arrow_array::{BooleanArray, RecordBatch};
use arrow_select::filter::filter_record_batch;
use rayon::prelude::*;

use super::target::Target;
use crate::unit::Unit;
use uriscan_arrow::{each_value, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::Equivalence;
use uriscan_core::extract::{Cause, Filter, Filtered};
use uriscan_core::index::trimmed;

/// Which rows of a table are read.
pub(crate) struct RowFilter {
    filter: Filter,
    /// How URIs are read, unless as they are.
    equivalence: Option<Equivalence>,
    /// Rows with a URI so far that it does not keep.
    pub(crate) filtered: Filtered,
}

impl RowFilter {
    /// The rows whose URI, as `equivalence` reads it, `filter` keeps.
    pub(crate) fn new(filter: &Filter, equivalence: &Equivalence) -> RowFilter {
        let is_read = equivalence.context.is_some() || !equivalence.repairs.is_empty();
        let equivalence = is_read.then(|| equivalence.clone());
        RowFilter { filter: filter.clone(), equivalence, filtered: Filtered::default() }
    }

    /// Those rows of `units`, whose URIs are at `target`.
    pub(crate) fn of(&mut self, units: Vec<Unit>, target: &Target) -> Result<Vec<Unit>, Error> {
        let kept = units.into_par_iter().map(|unit| {
            let batches = unit.iter().map(|batch| self.of_batch(batch, target));
            batches.collect::<Result<Vec<_>, Error>>()
        });
        let kept = kept.collect::<Result<Vec<_>, Error>>()?;
        kept.iter().flatten().for_each(|(_, filtered)| self.filtered += filtered);
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
    ) -> Result<(RecordBatch, Filtered), Error> {
        let values = spelled_out(&target.values(batch)?)?;
        let mut filtered = Filtered::default();
        let kept = each_value(&values).map(|value| {
            let value = trimmed(value.unwrap_or_default());
            let cause = if value.is_empty() { None } else { self.cause(value) };
            cause.into_iter().for_each(|cause| filtered.add(cause));
            Some(!value.is_empty() && cause.is_none())
        });
        let kept: BooleanArray = kept.collect();
        Ok((filter_record_batch(batch, &kept)?, filtered))
    }

    fn cause(&self, value: &[u8]) -> Option<Cause> {
        match &self.equivalence {
            None => self.filter.cause(value),
            Some(equivalence) => self.filter.cause(&equivalence.target(value)),
        }
    }
}
