//! Kernels for components and validity.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, BooleanArray, StringArray, StructArray, UInt32Array};
use arrow_buffer::BooleanBuffer;
use arrow_schema::{DataType, Field, Fields};

use super::canonical::too_long;
use super::column::Column;
use super::pieces::{Piece, Row, Work, each_piece};
use super::text::{Text, Validity, join};
use super::{Columns, Error, Faults, collect, text_to_other};
pub(crate) use uriscan_bulk::io::{Selector, write::row};
pub(crate) use uriscan_bulk::pipeline::{Invalid, Scratch};
use uriscan_core::index::Record;
use uriscan_core::simd::Isa;
use uriscan_core::uri::bulk::parse_record;
use uriscan_core::uri::{Components, UriError, UriErrorKind, parse};

/// The columns that [`Columns::parse`] returns, in order.
pub const COMPONENTS: [&str; 12] = [
    "scheme",
    "authority",
    "userinfo",
    "host",
    "port",
    "path",
    "query",
    "fragment",
    "host_kind",
    "domain",
    "suffix",
    "params",
];

/// The part with this name: one of [`COMPONENTS`], a parameter or a segment.
fn part_of(name: &str) -> Option<Selector> {
    let part = Selector::new(name)?;
    (part.field().is_none() || COMPONENTS.contains(&name)).then_some(part)
}

/// Whether there is a part with this name for [`Columns::parse_some`].
///
/// ```
/// use uriscan_arrow::is_part;
/// assert!(is_part("host") && is_part("query:q") && !is_part("hots") && !is_part("line"));
/// ```
pub fn is_part(name: &str) -> bool {
    part_of(name).is_some()
}

impl Columns {
    /// Returns the components of every value (RFC 3986 section 3), as a struct of [`COMPONENTS`]:
    /// text of the same type, null where a component is undefined, and empty where it is empty.
    /// `domain` and `suffix` are those of the public suffix list, `params` the parameters of the query as JSON
    /// ([`uriscan_bulk::io::Field`]).
    /// Relative references are accepted. The struct is null for a value that is not a
    /// URI-reference.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray};
    /// let urls = StringArray::from(vec!["http://h:80/a?", "a b"]);
    /// let parts = uriscan_arrow::Columns::default().parse(&urls).unwrap();
    /// let parts = parts.as_struct();
    /// let part = |name| parts.column_by_name(name).unwrap().as_string::<i32>().clone();
    /// assert_eq!((part("host").value(0), part("port").value(0), part("query").value(0)), ("h", "80", ""));
    /// assert!(part("fragment").is_null(0) && parts.is_null(1));
    /// ```
    ///
    /// # Errors
    /// See [`Error`].
    pub fn parse(&self, values: &dyn Array) -> Result<ArrayRef, Error> {
        text_to_other(values, |values| Ok(Arc::new(self.parts(values)?.0)))
    }

    /// [`Columns::parse`] of some parts: a struct of those in `names`, in that order. Each costs time, `domain` and
    /// `suffix` most. Beside [`COMPONENTS`] there are `query:NAME`, `segment:N`, and `:decoded` after them
    /// ([`uriscan_bulk::io::Selector`]).
    ///
    /// ```
    /// use arrow_array::{StringArray, cast::AsArray};
    /// let urls = StringArray::from(vec!["http://www.bbc.co.uk/a"]);
    /// let parts = uriscan_arrow::Columns::default().parse_some(&urls, &["domain", "path"]).unwrap();
    /// let [domain, path] = parts.as_struct().columns() else { panic!("as many as names") };
    /// assert_eq!((domain.as_string::<i32>().value(0), path.as_string::<i32>().value(0)), ("bbc.co.uk", "/a"));
    /// let urls = StringArray::from(vec!["http://h/?q=a+b"]);
    /// let parts = uriscan_arrow::Columns::default().parse_some(&urls, &["query:q:decoded"]).unwrap();
    /// assert_eq!(parts.as_struct().column(0).as_string::<i32>().value(0), "a b");
    /// ```
    ///
    /// # Errors
    /// See [`Error`]; [`ErrorKind::Unsupported`](crate::ErrorKind::Unsupported) for a name that is none of these.
    pub fn parse_some(&self, values: &dyn Array, names: &[&str]) -> Result<ArrayRef, Error> {
        let wanted = names.iter().map(|&name| Some((name, part_of(name)?)));
        let wanted = wanted.collect::<Option<Vec<_>>>();
        let wanted = wanted.ok_or(Error::unsupported("there is no such part"))?;
        text_to_other(values, |values| Ok(Arc::new(self.some_parts(values, &wanted)?.0)))
    }

    /// [`Columns::parse`] of a column that is not a dictionary, and the number of invalid values.
    pub fn parts(&self, values: &dyn Array) -> Result<(StructArray, Invalid), Error> {
        // The first field is the line.
        let wanted: [_; COMPONENTS.len()] =
            core::array::from_fn(|i| (COMPONENTS[i], row::Field::OF_ROW[1 + i].into()));
        self.some_parts(values, &wanted)
    }

    /// [`Columns::parts`] of the parts `wanted`, which have these names.
    fn some_parts(
        &self,
        values: &dyn Array,
        wanted: &[(&str, Selector)],
    ) -> Result<(StructArray, Invalid), Error> {
        let column = Column::new(values)?;
        let mut pieces = each_piece(self, &column, &Parse { wanted })?;
        let invalid = collect(self.on_invalid, pieces.iter().map(|piece| piece.faults))?;
        let nulls = Validity::join(pieces.iter_mut().map(|piece| &mut piece.validity));
        let mut columns: Vec<Vec<Text>> = wanted.iter().map(|_| Vec::new()).collect();
        for piece in pieces {
            for (column, text) in columns.iter_mut().zip(piece.texts) {
                column.push(text);
            }
        }
        let arrays = columns.into_iter().map(|texts| join(column.text_type, texts));
        let arrays = arrays.collect::<Result<Vec<_>, _>>()?;
        let field = |name: &str| Field::new(name, column.text_type.clone(), true);
        let fields = wanted.iter().map(|(name, _)| field(name)).collect::<Fields>();
        let parts = StructArray::try_new_with_length(fields, arrays, nulls, column.len())?;
        Ok((parts, invalid))
    }

    /// Returns the fault of every value, as a struct of its `kind` ([`UriErrorKind::name`]) and the
    /// byte `at`, counted from the first byte that is not white space; null for valid values. With
    /// `relative`, relative references are valid.
    ///
    /// # Errors
    /// [`ErrorKind::ColumnType`](crate::ErrorKind::ColumnType).
    pub fn check(&self, values: &dyn Array, relative: bool) -> Result<ArrayRef, Error> {
        text_to_other(values, |values| {
            let column = Column::new(values)?;
            let results = each_piece(self, &column, &Check { relative })?.concat();
            let kind = |result: &Checked| Some(result.error()?.kind.name());
            let kinds = results.iter().map(kind).collect::<StringArray>();
            let at = |result: &Checked| Some(result.error()?.at);
            let places = results.iter().map(at).collect::<UInt32Array>();
            let nulls = places.nulls().cloned();
            let fields = Fields::from(vec![
                Field::new("kind", DataType::Utf8, true),
                Field::new("at", DataType::UInt32, true),
            ]);
            let arrays: Vec<ArrayRef> = vec![Arc::new(kinds), Arc::new(places)];
            Ok(Arc::new(StructArray::try_new(fields, arrays, nulls)?))
        })
    }

    /// Returns whether every value is a URI (with `relative`, a URI-reference) of RFC 3986.
    ///
    /// ```
    /// use arrow_array::{BooleanArray, StringArray, cast::AsArray};
    /// let urls = StringArray::from(vec![Some("http://h/"), Some("/path"), Some("a b"), None]);
    /// let valid = uriscan_arrow::Columns::default().is_valid(&urls, true).unwrap();
    /// assert_eq!(valid.as_boolean(), &BooleanArray::from(vec![Some(true), Some(true), Some(false), None]));
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ColumnType`](crate::ErrorKind::ColumnType).
    pub fn is_valid(&self, values: &dyn Array, relative: bool) -> Result<ArrayRef, Error> {
        text_to_other(values, |values| {
            let column = Column::new(values)?;
            let results = each_piece(self, &column, &Check { relative })?.concat();
            let is_valid = |result: &Checked| *result == Checked::Valid;
            let bits = results.iter().map(is_valid).collect::<BooleanBuffer>();
            Ok(Arc::new(BooleanArray::new(bits, values.nulls().cloned())))
        })
    }
}

struct Parse<'w> {
    wanted: &'w [(&'w str, Selector)],
}

struct Parsed {
    /// One for each part that is wanted.
    texts: Vec<Text>,
    validity: Validity,
    faults: Faults,
    /// Room for what is not a part of a value.
    made: Vec<u8>,
}

impl Work for Parse<'_> {
    type Output = Parsed;

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, _: &mut Scratch) -> Parsed {
        let rows = piece.rows.len();
        let texts = self.wanted.iter().map(|_| Text::with_capacity(rows, 0));
        let mut parsed = Parsed {
            texts: texts.collect(),
            validity: Validity::with_capacity(rows),
            faults: Faults::default(),
            made: Vec::new(),
        };
        for (row, value) in piece.rows.clone().zip(piece.iter()) {
            match value {
                Row::Null => {}
                Row::Value(record) => match parse_value(isa, record) {
                    Ok(parts) => {
                        parsed.push(self.wanted, &parts, record.bytes());
                        continue;
                    }
                    Err(error) => parsed.faults.add(row, error),
                },
                Row::TooLong(value) => parsed.faults.add(row, too_long(value)),
            }
            parsed.validity.push(false);
            parsed.texts.iter_mut().for_each(Text::push_null);
        }
        parsed
    }
}

impl Parsed {
    #[inline(always)]
    fn push(&mut self, wanted: &[(&str, Selector)], parts: &Components, text: &[u8]) {
        self.validity.push(true);
        let row = row::Row::new(0, text, *parts);
        for (column, (_, part)) in self.texts.iter_mut().zip(wanted) {
            match part.field() {
                Some(field) if field != row::Field::Params => column.push_option(row.value(field)),
                _ => {
                    self.made.clear();
                    let is_defined = part.push(&row, &mut self.made);
                    column.push_option(is_defined.then_some(&self.made[..]));
                }
            }
        }
    }
}

/// [`uriscan_core::uri::parse`] of a record that may be empty, which is a path without segments.
#[inline(always)]
fn parse_value<I: Isa>(isa: I, record: Record<'_>) -> Result<Components, UriError> {
    if record.is_empty() { parse(b"") } else { parse_record(isa, record) }
}

struct Check {
    relative: bool,
}

/// The result for one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Checked {
    Null,
    Valid,
    Invalid(UriError),
}

impl Checked {
    fn error(self) -> Option<UriError> {
        match self {
            Checked::Invalid(error) => Some(error),
            Checked::Null | Checked::Valid => None,
        }
    }
}

impl Work for Check {
    type Output = Vec<Checked>;

    #[inline(always)]
    fn run<I: Isa>(&self, isa: I, piece: &Piece<'_>, _: &mut Scratch) -> Vec<Checked> {
        let mut results = Vec::with_capacity(piece.rows.len());
        for value in piece.iter() {
            results.push(match value {
                Row::Null => Checked::Null,
                Row::TooLong(value) => Checked::Invalid(too_long(value)),
                Row::Value(record) => match parse_value(isa, record) {
                    Ok(parts) if self.relative || parts.is_uri() => Checked::Valid,
                    Ok(_) => Checked::Invalid(UriError::new(UriErrorKind::Relative, 0)),
                    Err(error) => Checked::Invalid(error),
                },
            });
        }
        results
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn components_are_fields_of_rows() {
        for (at, name) in COMPONENTS.into_iter().enumerate() {
            assert_eq!(row::Field::OF_ROW[1 + at].name(), name);
            assert_eq!(part_of(name), Some(row::Field::OF_ROW[1 + at].into()));
        }
        assert_eq!(row::Field::OF_ROW.len(), 1 + COMPONENTS.len());
        assert!(part_of("line").is_none() && part_of("segment:2").is_some());
    }
}
