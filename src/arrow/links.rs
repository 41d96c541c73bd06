//! Links in columns of texts, pages and so on.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, ListArray};
use arrow_buffer::{OffsetBuffer, ScalarBuffer};
use arrow_schema::Field;

use super::column::Column;
use super::pieces::{Piece, Row, Work, each_piece};
use super::text::{Text, Validity, join};
use super::{ColumnError, Columns, text_to_other};
use crate::chunk::{Padded, PaddedBuf};
use crate::extract::{Extractor, Format, Links};
use crate::pipeline::Scratch;
use crate::simd::{Isa, Kernels};

impl Columns {
    /// The links in every value, which is a document of this format, in order: a list of text of the same type, null
    /// where the value is.
    ///
    /// Nothing is told of what cannot be a link after all: relative references without a base, and values beyond 1 GiB.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray};
    /// use uriscan::{arrow::Columns, extract::{Extractor, Format}};
    /// let texts = StringArray::from(vec!["see http://a/ and (http://b/).", "nothing"]);
    /// let links = Columns::default().extract(&texts, &Extractor::default(), Format::Text).unwrap();
    /// let links = links.as_list::<i32>();
    /// assert_eq!(links.value(0).as_string::<i32>(), &StringArray::from(vec!["http://a/", "http://b/"]));
    /// assert_eq!(links.value_length(1), 0);
    /// ```
    ///
    /// # Errors
    /// [`ColumnError::Type`], [`ColumnError::TooLarge`].
    pub fn extract(
        &self,
        values: &dyn Array,
        extractor: &Extractor,
        format: Format,
    ) -> Result<ArrayRef, ColumnError> {
        text_to_other(values, |values| {
            let column = Column::new(values)?;
            let work = Find { kernels: self.kernels, extractor, format };
            let mut pieces = each_piece(self.kernels, &column, &work);
            let nulls = Validity::join(pieces.iter_mut().map(|piece| &mut piece.validity));
            let (mut ends, mut texts, mut count) = (vec![0], Vec::new(), 0);
            for piece in pieces {
                for found in piece.counts {
                    count += found;
                    ends.push(i32::try_from(count).map_err(|_| ColumnError::TooLarge)?);
                }
                texts.push(piece.text);
            }
            let field = Field::new_list_field(column.text_type.data_type(), true);
            let offsets = OffsetBuffer::new(ScalarBuffer::from(ends));
            let texts = join(column.text_type, texts)?;
            Ok(Arc::new(ListArray::try_new(Arc::new(field), offsets, texts, nulls)?))
        })
    }
}

struct Find<'a> {
    kernels: Kernels,
    extractor: &'a Extractor,
    format: Format,
}

struct Found {
    text: Text,
    /// Links of each row.
    counts: Vec<usize>,
    validity: Validity,
}

/// Bytes of the longest value that is looked into.
const MAX_VALUE: usize = 1 << 30;

impl Work for Find<'_> {
    type Output = Found;

    #[inline(always)]
    fn run<I: Isa>(&self, _: I, piece: &Piece<'_>, _: &mut Scratch) -> Found {
        let rows = piece.rows.len();
        let mut found = Found {
            text: Text::with_capacity(rows, 0),
            counts: Vec::with_capacity(rows),
            validity: Validity::with_capacity(rows),
        };
        let mut links = Links::new();
        for value in piece.iter() {
            match value {
                Row::Value(record) => self.find(record.padded(), &mut links, &mut found.text),
                Row::TooLong(value) if value.len() <= MAX_VALUE => {
                    let text = PaddedBuf::from_content(value);
                    self.find(text.padded(), &mut links, &mut found.text);
                }
                Row::Null | Row::TooLong(_) => links.clear(),
            }
            found.counts.push(links.len());
            found.validity.push(!matches!(value, Row::Null));
        }
        found
    }
}

impl Find<'_> {
    fn find(&self, text: Padded<'_>, links: &mut Links, out: &mut Text) {
        links.clear();
        self.extractor.extract(self.kernels, self.format, text, links);
        for (_, uri) in links.iter(text.content()) {
            out.push(uri);
        }
    }
}
