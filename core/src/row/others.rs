//! The values of other columns than that of the URIs: those that rows are compared by, too, and the one that decides
//! which row of a group is kept. Rows are read again for them, so that tables without such columns pay nothing.

use std::borrow::Cow;

use super::csv::{self, Rows};
use super::{Fault, FoundRows, Layout, RawValue, Separators, TextTable, decimal, json};
use crate::index::trimmed;
use crate::simd::{Isa, Task};

/// Where bytes begin and end. Those of a chunk may be more than its own: a column may be named twice.
type Part = (usize, usize);

/// What rows have in other columns.
#[derive(Debug, Default)]
pub struct OtherColumns {
    bytes: Vec<u8>,
    /// For each row with a URI the values that are compared, or nothing if none are.
    pub(super) compared: Vec<Part>,
    /// For each of them the value that decides which row is kept, as bytes that compare as values do; null is empty.
    pub(super) deciding: Vec<Part>,
    /// How many rows have been looked at, and how many of them lack each of [`TextTable::others`].
    pub looked_at: u64,
    pub missing: Vec<u64>,
    /// How many of those that decide may be meant to have [another order](decimal::has_other_order).
    pub as_text: u64,
}

impl OtherColumns {
    pub(super) fn clear(&mut self) {
        let OtherColumns { bytes, compared, deciding, missing, looked_at, as_text } = self;
        (*looked_at, *as_text) = (0, 0);
        bytes.clear();
        [compared, deciding].into_iter().for_each(Vec::clear);
        missing.clear();
    }

    /// The values of `row` that are compared.
    pub fn compared(&self, row: usize) -> &[u8] {
        self.part(self.compared[row])
    }

    /// The values of `row` that are compared, one by one; no value is empty.
    pub fn values(&self, row: usize) -> impl Iterator<Item = &[u8]> {
        let mut rest = self.compared(row);
        std::iter::from_fn(move || {
            let (_, after) = rest.split_first()?;
            let (len, after) = after.split_first_chunk()?;
            let (value, after) = after.split_at(u64::from_le_bytes(*len) as usize);
            rest = after;
            Some(value)
        })
    }

    /// The value of `row` that decides which one is kept.
    pub fn deciding(&self, row: usize) -> &[u8] {
        self.part(self.deciding[row])
    }

    /// The lists with an item for each row.
    pub fn of_rows(&mut self) -> [&mut Vec<Part>; 2] {
        [&mut self.compared, &mut self.deciding]
    }

    fn part(&self, (start, end): Part) -> &[u8] {
        &self.bytes[start..end]
    }

    fn since(&self, start: usize) -> Part {
        (start, self.bytes.len())
    }
}

/// A value.
enum OtherValue<'t> {
    Null,
    /// A text as it is decoded.
    Text(Cow<'t, [u8]>),
    /// What is not a text, as it is written.
    Written(&'t [u8]),
}

impl TextTable {
    /// The columns whose values are looked at beside the URIs: those that are compared, and the one that decides.
    pub fn others(&self) -> impl Iterator<Item = &String> {
        self.with.iter().chain(&self.keep_by)
    }

    /// Finds the values of other columns of the rows that were `found` in `text`; rows whose values cannot be compared
    /// do not fit.
    #[inline(always)]
    pub fn find_others<I: Isa>(&self, isa: I, layout: &Layout, text: &[u8], found: &mut FoundRows) {
        let count = self.others().count();
        if count == 0 {
            return;
        }
        found.others.missing.resize(count, 0);
        let mut read = Vec::new();
        self.refuse_where(text, found, |row, found| {
            found.others.looked_at += 1;
            match self.separators() {
                Some(separators) => isa.call(Fields(row.of(text), separators, layout, &mut read)),
                None => read = self.of_line(row.of(text), layout, &mut found.others.missing)?,
            }
            self.take_others(&read, &mut found.others)
        });
    }

    /// The values in a line of JSON or of fields.
    fn of_line<'t>(
        &self,
        row: &'t [u8],
        layout: &Layout,
        missing: &mut [u64],
    ) -> Result<Vec<OtherValue<'t>>, Fault> {
        let line = trimmed(row);
        if self.format == super::TextFormat::Fields {
            let field = |&column: &usize| {
                layout.field_at(line, column).map(|span| OtherValue::Text(span.of(line).into()))
            };
            return layout.others.iter().map(field).collect();
        }
        let member = |(name, missing): (&String, &mut u64)| {
            Ok(match json::value(line, name)? {
                json::Value::Missing => {
                    *missing += 1;
                    OtherValue::Null
                }
                json::Value::Null => OtherValue::Null,
                json::Value::Other(raw) => OtherValue::Written(raw.span.of(line)),
                json::Value::Text(RawValue { span, is_escaped: false }) => {
                    OtherValue::Text(span.of(line).into())
                }
                json::Value::Text(RawValue { span, .. }) => {
                    let mut text = Vec::new();
                    match json::unescape(span.of(line), &mut text) {
                        Some(()) => OtherValue::Text(text.into()),
                        // With an unpaired surrogate, which equals no other spelling of it; with its quotes.
                        None => {
                            OtherValue::Written(&line[span.start as usize - 1..=span.end as usize])
                        }
                    }
                }
            })
        };
        self.others().zip(missing).map(member).collect()
    }

    /// Appends what is looked at of the values that a row has in other columns.
    fn take_others(&self, read: &[OtherValue<'_>], others: &mut OtherColumns) -> Result<(), Fault> {
        let (compared, deciding) = read.split_at(self.with.len());
        let text = match deciding.first() {
            None | Some(OtherValue::Null) => None,
            Some(OtherValue::Text(text)) => Some(&**text),
            Some(OtherValue::Written(text)) => self.ensure_order(text).map(|()| Some(*text))?,
        };
        let start = others.bytes.len();
        for value in compared {
            let (kind, text) = match value {
                OtherValue::Null => (0, &b""[..]),
                OtherValue::Text(text) => (1, &**text),
                OtherValue::Written(text) => (2, *text),
            };
            others.bytes.push(kind);
            others.bytes.extend_from_slice(&(text.len() as u64).to_le_bytes());
            others.bytes.extend_from_slice(text);
        }
        others.compared.push(others.since(start));
        let start = others.bytes.len();
        if let Some(text) = text {
            decimal::push_key(text, &mut others.bytes);
            others.as_text += u64::from(decimal::has_other_order(&others.bytes[start..], text));
        }
        others.deciding.push(others.since(start));
        Ok(())
    }

    /// Ensures that a member that is written as `text` has an order.
    fn ensure_order(&self, text: &[u8]) -> Result<(), Fault> {
        let (what, path, part) = match text.first() {
            Some(b'{') => ("an object", "a.b", "member"),
            Some(b'[') => ("an array", "a.1", "value"),
            _ => return Ok(()),
        };
        let name = self.keep_by.as_deref().unwrap_or_default();
        Err(Fault::from(format!(
            "the member {name} is {what}, which has no order to keep by; a path such as {path} leads to a {part} of it"
        )))
    }
}

/// Replaces the values that were read last with those of the other columns of a row of CSV or TSV.
struct Fields<'a, 't>(&'t [u8], Separators, &'a Layout, &'a mut Vec<OtherValue<'t>>);

impl Task for Fields<'_, '_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Fields(row, separators, layout, read) = self;
        read.clear();
        read.extend(layout.others.iter().map(|_| OtherValue::Null));
        let row = row.strip_suffix(b"\r").unwrap_or(row);
        let _ = Rows::new(isa, row, separators).next_row(|number, raw| {
            let wanted =
                layout.others.iter().zip(&mut *read).filter(|(column, _)| **column == number);
            for (_, value) in wanted {
                let text = raw.span.of(row);
                *value = match (raw.is_escaped, separators.quote) {
                    // An empty field is null.
                    _ if text.is_empty() => OtherValue::Null,
                    (true, Some(quote)) => {
                        let mut decoded = Vec::new();
                        csv::unescape(text, quote, &mut decoded);
                        OtherValue::Text(decoded.into())
                    }
                    _ => OtherValue::Text(text.into()),
                };
            }
        });
    }
}
