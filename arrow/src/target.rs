//! Kernels for reference resolution (RFC 3986 section 5).

use arrow_array::{Array, ArrayRef};

use super::canonical::too_long;
use super::column::Column;
use super::pieces::{Companion, Piece, Row, Work, each_piece};
use super::text::{Text, join};
use super::{Columns, Error, Faults, OnInvalid, collect, spelled_out, text_to_text};
pub(crate) use uriscan_bulk::pipeline::Scratch;
use uriscan_core::resolve::{Base, BaseUri, Options, append_target};
use uriscan_core::simd::Isa;
use uriscan_core::uri::UriError;

impl Columns {
    /// Returns the target of every reference against one base, as text of the same type. An empty
    /// value refers to the base itself (4.4).
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray};
    /// use uriscan_arrow::Columns;
    /// use uriscan::resolve::{BaseUri, Options};
    /// let base = BaseUri::new(b"http://a/b/c/d;p?q").unwrap();
    /// let references = StringArray::from(vec![Some("../g"), Some(""), None]);
    /// let targets = Columns::default().resolve(&references, &base, Options::default()).unwrap();
    /// let expected = StringArray::from(vec![Some("http://a/b/g"), Some("http://a/b/c/d;p?q"), None]);
    /// assert_eq!(targets.as_string::<i32>(), &expected);
    /// ```
    ///
    /// # Errors
    /// See [`Error`].
    pub fn resolve(
        &self,
        references: &dyn Array,
        base: &BaseUri,
        options: Options,
    ) -> Result<ArrayRef, Error> {
        let bases = Bases::One(base);
        text_to_text(references, |references| self.targets(references, &bases, options))
    }

    /// Returns the target of every reference against the base in the same row, as text of the type
    /// of `references`; null where either is null. A base that is not a URI makes its row invalid;
    /// the position in the error then counts from the start of the base.
    ///
    /// # Errors
    /// See [`Error`]; [`ErrorKind::Lengths`](crate::ErrorKind::Lengths) when the numbers of bases and references
    /// differ.
    pub fn resolve_each(
        &self,
        references: &dyn Array,
        bases: &dyn Array,
        options: Options,
    ) -> Result<ArrayRef, Error> {
        if references.len() != bases.len() {
            return Err(Error::lengths(references.len(), bases.len()));
        }
        let (references, bases) = (spelled_out(references)?, spelled_out(bases)?);
        self.targets(&references, &Bases::Each(Column::new(&bases)?), options)
    }

    fn targets(
        &self,
        references: &dyn Array,
        bases: &Bases<'_>,
        options: Options,
    ) -> Result<ArrayRef, Error> {
        let column = Column::new(references)?;
        let work = Targets { bases, options, on_invalid: self.on_invalid };
        let (faults, texts): (Vec<Faults>, Vec<Text>) =
            each_piece(self, &column, &work)?.into_iter().unzip();
        collect(self.on_invalid, faults.into_iter())?;
        join(column.text_type, texts)
    }
}

enum Bases<'a> {
    One(&'a BaseUri),
    Each(Column<'a>),
}

struct Targets<'a> {
    bases: &'a Bases<'a>,
    options: Options,
    on_invalid: OnInvalid,
}

impl Work for Targets<'_> {
    type Output = (Faults, Text);

    fn beside(&self) -> Option<&Column<'_>> {
        match self.bases {
            Bases::One(_) => None,
            Bases::Each(bases) => Some(bases),
        }
    }

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, _: &mut Scratch) -> (Faults, Text) {
        match self.bases {
            Bases::One(base) => self.against_one(isa, piece, base),
            Bases::Each(bases) => self.against_each(isa, piece, bases),
        }
    }
}

impl Targets<'_> {
    #[inline(always)]
    fn against_one<I: Isa>(&self, isa: I, piece: &Piece<'_>, base: &BaseUri) -> (Faults, Text) {
        let mut text = Text::with_capacity(piece.rows.len(), 2 * piece.bytes());
        let mut faults = Faults::default();
        let base = base.view();
        for (row, value) in piece.rows.clone().zip(piece.iter()) {
            self.push(isa, Ok(&base), (row, value), &mut text, &mut faults);
        }
        (faults, text)
    }

    /// Consecutive bases are often equal: a base that equals that of the row before is not parsed
    /// again.
    #[inline(always)]
    fn against_each<I: Isa>(
        &self,
        isa: I,
        piece: &Piece<'_>,
        bases: &Column<'_>,
    ) -> (Faults, Text) {
        let mut text = Text::with_capacity(piece.rows.len(), 2 * piece.bytes());
        let mut faults = Faults::default();
        let mut beside = Companion::default();
        let bases = beside.piece(isa, bases, piece.rows.clone());
        let mut last: Option<(&[u8], Base<'_>)> = None;
        for ((row, value), base) in piece.rows.clone().zip(piece.iter()).zip(bases.iter()) {
            let base = match (base, &last) {
                (Row::Null, _) => {
                    text.push_null();
                    continue;
                }
                (Row::TooLong(base), _) => Err(too_long(base)),
                (Row::Value(record), Some((bytes, base))) if *bytes == record.bytes() => Ok(*base),
                (Row::Value(record), _) => {
                    let base = Base::of_record(isa, record);
                    last = base.ok().map(|base| (record.bytes(), base));
                    base
                }
            };
            self.push(
                isa,
                base.as_ref().map_err(|error| *error),
                (row, value),
                &mut text,
                &mut faults,
            );
        }
        (faults, text)
    }

    /// Adds the target of a row, or the result for a row without one; adds a fault to `faults`.
    #[inline(always)]
    fn push<I: Isa>(
        &self,
        isa: I,
        base: Result<&Base<'_>, UriError>,
        (row, value): (usize, Row<'_>),
        text: &mut Text,
        faults: &mut Faults,
    ) {
        let start = text.bytes.len();
        let (bytes, error) = match value {
            Row::Null => return text.push_null(),
            Row::TooLong(value) => (value, too_long(value)),
            Row::Value(record) => {
                let target = base.and_then(|base| {
                    append_target(isa, base, self.options, record, &mut text.bytes)
                });
                match target {
                    Ok(()) => return text.end_value(),
                    Err(error) => (record.bytes(), error),
                }
            }
        };
        text.bytes.truncate(start);
        faults.add(row, error);
        text.push_option((self.on_invalid == OnInvalid::Pass).then_some(bytes));
    }
}
