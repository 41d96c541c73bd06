//! Rows with a base of their own: the two fields found, the base parsed unless it is the one before.

use std::borrow::Cow;

use crate::io::Fields;
use crate::io::write::fields::{Member, columns, members};
use uriscan_core::chunk::{Padded, PaddedBuf, Span};
use uriscan_core::index::{self, Index, Record, trim};
use uriscan_core::resolve::Base;
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

/// A row taken apart.
pub(super) struct Row<'a> {
    pub(super) base: Base<'a>,
    pub(super) reference: Record<'a>,
    /// Where the reference begins in the row, as far as that is known.
    pub(super) at: Option<u32>,
}

impl Row<'_> {
    /// `error`, found in the reference, counted from the start of the row.
    pub(super) fn placed(&self, error: UriError) -> UriError {
        placed(error, self.at)
    }
}

/// `error`, found in the field that begins at `at`, counted from the start of the row.
pub(super) fn placed(error: UriError, at: Option<u32>) -> UriError {
    UriError::new(error.kind, at.map_or(0, |at| at.saturating_add(error.at)) as usize)
}

#[derive(Default)]
pub(super) struct Columns<'a> {
    /// The base of the row before.
    last: Option<(&'a [u8], Base<'a>)>,
}

impl<'a> Columns<'a> {
    /// The row at `line` of `text`, with its base and its reference in the columns of these numbers.
    #[inline(always)]
    pub(super) fn row<I: Isa>(
        &mut self,
        isa: I,
        text: Padded<'a>,
        index: &'a Index,
        line: Span,
        (base, reference): (usize, usize),
    ) -> Result<Row<'a>, UriError> {
        let (base, reference) = columns(text.padded(), line, base, reference)?;
        let (base, reference) = (trim(text.padded(), base), trim(text.padded(), reference));
        let record = Record::new(text, index, base);
        let base = match self.last {
            Some((bytes, parsed)) if bytes == record.bytes() => parsed,
            _ => {
                let parsed = Base::of_record(isa, record)
                    .map_err(|error| placed(error, Some(base.start - line.start)))?;
                self.last = Some((record.bytes(), parsed));
                parsed
            }
        };
        let at = Some(reference.start - line.start);
        Ok(Row { base, reference: Record::new(text, index, reference), at })
    }
}

#[derive(Default)]
pub(super) struct Members {
    base: Field,
    reference: Field,
}

/// A field on its own, where it can be scanned.
#[derive(Default)]
struct Field {
    text: PaddedBuf,
    index: Index,
}

impl Field {
    #[inline(always)]
    fn set<I: Isa>(&mut self, isa: I, text: &[u8]) {
        self.text.set(text);
        self.index.build_with(isa, self.text.padded(), b'\n');
    }

    #[inline(always)]
    fn record(&self) -> Record<'_> {
        let text = self.text.padded();
        Record::new(text, &self.index, Span { start: 0, end: text.len() as u32 })
    }
}

impl Members {
    /// The row that is the object `line`, with its base and its reference in the members of these names.
    #[inline(always)]
    pub(super) fn row<I: Isa>(
        &mut self,
        isa: I,
        line: &[u8],
        (base, reference): (&str, &str),
    ) -> Result<Row<'_>, UriError> {
        let (base, reference) = members(line, base, reference)?;
        let (base, base_at) = trimmed(&base);
        let (reference, at) = trimmed(&reference);
        self.base.set(isa, base);
        self.reference.set(isa, reference);
        let base =
            Base::of_record(isa, self.base.record()).map_err(|error| placed(error, base_at))?;
        Ok(Row { base, reference: self.reference.record(), at })
    }
}

/// A field without white space around it, and where it begins in the row, as far as that is known.
pub(super) struct Text<'r> {
    pub(super) bytes: Cow<'r, [u8]>,
    pub(super) at: Option<u32>,
}

/// The base and the reference of `row`.
pub(super) fn fields_of<'r>(fields: &Fields, row: &'r [u8]) -> Result<[Text<'r>; 2], UriError> {
    match fields {
        Fields::Tsv { base, reference } => {
            let whole = Span { start: 0, end: row.len() as u32 };
            let (base, reference) = columns(row, whole, *base, *reference)?;
            Ok([base, reference].map(|span| {
                let bytes = index::trimmed(span.of(row));
                let at = bytes.as_ptr().addr() - row.as_ptr().addr();
                Text { bytes: Cow::Borrowed(bytes), at: Some(at as u32) }
            }))
        }
        Fields::Jsonl { base, reference } => {
            let (base, reference) = members(row, base, reference)?;
            Ok([base, reference].map(|member| {
                let at = trimmed(&member).1;
                let bytes = match member.text {
                    Cow::Borrowed(text) => Cow::Borrowed(text.as_bytes().trim_ascii()),
                    Cow::Owned(text) => Cow::Owned(text.as_bytes().trim_ascii().to_vec()),
                };
                Text { bytes, at }
            }))
        }
    }
}

/// A member without white space around it, and where it begins in the row.
fn trimmed<'m>(member: &'m Member<'_>) -> (&'m [u8], Option<u32>) {
    let bytes = member.text.as_bytes();
    let kept = bytes.trim_ascii();
    let cut = bytes.len() - bytes.trim_ascii_start().len();
    // A row is shorter than a chunk may be.
    (kept, member.at.map(|at| (at + cut) as u32))
}
