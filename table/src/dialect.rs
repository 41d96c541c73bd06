//! The dialect of CSV and TSV.

use crate::TableFormat;
use uriscan_bulk::error::Error;

/// How tables of CSV and TSV are written down: those that are read and those that are written.
///
/// ```
/// use uriscan_arrow::Columns;
/// use uriscan_table::{Dialect, Input, Job, TableFormat, Task, run};
///
/// let mut job = Job::new("2", Task::Dedup, Columns::default(), TableFormat::Csv);
/// job.dialect = Dialect::default().delimiter(b';').quote(b'\'').has_header(false);
/// let table = Input::stream("list", TableFormat::Csv, &b"'a;b';http://h\nc;HTTP://h/\n"[..]);
/// let mut out = Vec::new();
/// run(vec![table], &job, &mut out, None).unwrap();
/// assert_eq!(out, b"'a;b';http://h\n");
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct Dialect {
    /// The ASCII character between two fields of CSV; in TSV, it is a tab.
    pub delimiter: u8,
    /// What is around fields in which delimiters, line ends and, doubled, itself may occur. Without quotes, fields hold
    /// anything else and none of these.
    pub quote: Quote,
    /// Whether the first row has the names of the columns. Without it, they are `column_1`, `column_2` and so on.
    pub has_header: bool,
}

/// The quote of a [`Dialect`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Quote {
    /// In CSV the double quote, in TSV none.
    #[default]
    Usual,
    /// None.
    None,
    /// This ASCII character.
    Byte(u8),
}

impl From<u8> for Quote {
    fn from(quote: u8) -> Quote {
        Quote::Byte(quote)
    }
}

impl Default for Dialect {
    /// RFC 4180: commas, double quotes, a header; TSV has no quotes.
    fn default() -> Dialect {
        Dialect { delimiter: b',', quote: Quote::Usual, has_header: true }
    }
}

setters! { Dialect { delimiter: u8, has_header: bool } into { quote: Quote } }

impl Dialect {
    /// The delimiter and the quote of `format`, if it has the former. Fails if they cannot separate fields.
    pub(crate) fn of(self, format: TableFormat) -> Result<Option<Separators>, Error> {
        let delimiter = match format {
            TableFormat::Csv => self.delimiter,
            TableFormat::Tsv if self.delimiter == Dialect::default().delimiter => b'\t',
            TableFormat::Tsv => {
                let what = "the delimiter of tsv is a tab; with another one, the format is csv";
                return Err(Error::unsupported(what));
            }
            _ => return Ok(None),
        };
        let quote = match self.quote {
            Quote::Byte(quote) => Some(quote),
            Quote::Usual if format != TableFormat::Tsv => Some(b'"'),
            _ => None,
        };
        let is_fit = |byte: u8| byte.is_ascii() && byte != b'\r' && byte != b'\n';
        let is_quote_fit = |quote| is_fit(quote) && quote != delimiter;
        if !is_fit(delimiter) || !quote.is_none_or(is_quote_fit) {
            let what = "delimiter and quote must be two ASCII characters, and no line ends";
            return Err(Error::unsupported(what));
        }
        Ok(Some((delimiter, quote)))
    }
}

/// The delimiter and the quote.
pub(crate) type Separators = (u8, Option<u8>);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_separate_fields_is_a_dialect() {
        let of = |dialect: Dialect, format| dialect.of(format).map_err(|error| error.to_string());
        let csv = Dialect::default();
        assert_eq!(of(csv, TableFormat::Csv), Ok(Some((b',', Some(b'"')))));
        assert_eq!(of(csv, TableFormat::Tsv), Ok(Some((b'\t', None))));
        assert_eq!(of(csv.quote(b'"'), TableFormat::Tsv), Ok(Some((b'\t', Some(b'"')))));
        assert_eq!(of(csv.delimiter(b'\n'), TableFormat::Parquet), Ok(None));
        assert_eq!(
            of(csv.delimiter(b'"').quote(b'\''), TableFormat::Csv),
            Ok(Some((b'"', Some(b'\''))))
        );
        assert_eq!(of(csv.quote(Quote::None), TableFormat::Csv), Ok(Some((b',', None))));
        for wrong in
            [csv.delimiter(b'"'), csv.delimiter(b'\n'), csv.quote(b'\r'), csv.delimiter(0xE9)]
        {
            assert!(of(wrong, TableFormat::Csv).unwrap_err().contains("two ASCII characters"));
        }
        assert!(of(csv.quote(b'\t'), TableFormat::Tsv).is_err());
        assert!(of(csv.delimiter(b';'), TableFormat::Tsv).unwrap_err().contains("is a tab"));
    }
}
