//! Kernel that reports which steps change a value.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, UInt64Array};

use super::canonical::too_long;
use super::column::Column;
use super::pieces::{Piece, Row, Work, each_piece};
use super::{Columns, Error, Faults, collect, text_to_other};
pub(crate) use uriscan_bulk::pipeline::Scratch;
use uriscan_core::explain::{STEPS, explain_with_rules, step};
use uriscan_core::rfc2396::Grammar;
use uriscan_core::rules::Rule;
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

/// The names of the steps that change values, in the order of the bits that [`Columns::changes`]
/// returns: bit 0 is the first one.
///
/// ```
/// let names = uriscan_arrow::step_names();
/// assert!(names.len() <= 64 && names.contains(&"host-case") && names.contains(&"sort-query"));
/// ```
pub fn step_names() -> Vec<&'static str> {
    let rules = Rule::ALL.into_iter().map(step::of_rule);
    let mut names: Vec<&str> = STEPS.iter().copied().chain(rules).map(|step| step.name).collect();
    // Both an option of the ladder and a rule drop the fragment: one name.
    let mut seen = std::collections::BTreeSet::new();
    names.retain(|name| seen.insert(*name));
    names
}

impl Columns {
    /// Returns which steps change a value on its way to its canonical form, as the bits of a
    /// `UInt64`, named by
    /// [`step_names`]: 0 for a value in canonical form, null for one without a canonical form.
    ///
    /// A value that the fast path finds canonical costs next to nothing; any other takes some
    /// microseconds.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray, types::UInt64Type};
    /// use uriscan_arrow::{Columns, step_names};
    /// let urls = StringArray::from(vec!["http://h/", "HTTP://h"]);
    /// let bits = Columns::default().changes(&urls).unwrap();
    /// let bits = bits.as_primitive::<UInt64Type>();
    /// let names: Vec<_> = (0..).zip(step_names()).filter(|(bit, _)| bits.value(1) >> bit & 1 == 1).map(|(_, name)| name).collect();
    /// assert_eq!((bits.value(0), &names[..]), (0, &["scheme-case", "empty-path"][..]));
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) under a base, repairs, aliases, a profile, or a grammar other
    /// than that of RFC 3986, none of which has steps; otherwise see [`Error`].
    pub fn changes(&self, values: &dyn Array) -> Result<ArrayRef, Error> {
        let equivalence = &self.equivalence;
        let has_steps = equivalence.context.is_none()
            && equivalence.repairs.is_empty()
            && equivalence.aliases.is_none()
            && equivalence.profile.is_none()
            && equivalence.grammar == Grammar::Rfc3986;
        if !has_steps {
            return Err(Error::unsupported(
                "changes are reported for the levels and rules of RFC 3986 only, not under a base, repairs, aliases or a profile",
            ));
        }
        text_to_other(values, |values| {
            let work = Changes { columns: self, names: step_names() };
            let pieces = each_piece(self, &Column::new(values)?, &work)?;
            let (faults, bits): (Vec<Faults>, Vec<Vec<Option<u64>>>) = pieces.into_iter().unzip();
            collect(self.on_invalid, faults.into_iter())?;
            Ok(Arc::new(bits.concat().into_iter().collect::<UInt64Array>()))
        })
    }
}

struct Changes<'a> {
    columns: &'a Columns,
    names: Vec<&'static str>,
}

impl Work for Changes<'_> {
    type Output = (Faults, Vec<Option<u64>>);

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, scratch: &mut Scratch) -> Self::Output {
        let mut faults = Faults::default();
        let mut bits = Vec::with_capacity(piece.rows.len());
        for (row, value) in piece.rows.clone().zip(piece.iter()) {
            let found = match value {
                Row::Null => Ok(None),
                Row::Value(record) => match self.columns.canonical(isa, record, scratch) {
                    Ok(form) if form.bytes() == record.bytes() => Ok(Some(0)),
                    Ok(_) => self.explained(record.bytes()).map(Some),
                    Err(error) => Err(error),
                },
                Row::TooLong(value) => Err(too_long(value)),
            };
            bits.push(found.unwrap_or_else(|error| {
                faults.add(row, error);
                None
            }));
        }
        (faults, bits)
    }
}

impl Changes<'_> {
    /// The bits of a value that is not in canonical form.
    fn explained(&self, value: &[u8]) -> Result<u64, UriError> {
        let equivalence = &self.columns.equivalence;
        let explanation =
            explain_with_rules(value, equivalence.normalize, equivalence.rules.as_deref())?;
        let bit = |name| self.names.iter().position(|known| *known == name).map_or(0, |at| 1 << at);
        Ok(explanation.changes.iter().fold(0, |bits, change| bits | bit(change.step.name)))
    }
}
