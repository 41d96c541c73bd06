//! Kernel for links in columns of texts or pages.

use arrow_array::{Array, ArrayRef};

use super::column::Column;
use super::lists::{List, join};
use super::pieces::{Piece, Row, Work, each_piece};
use super::{Columns, Error, text_to_other};
pub(crate) use uriscan_bulk::pipeline::Scratch;
use uriscan_core::chunk::{Padded, PaddedBuf};
use uriscan_core::extract::{Extractor, Format, Links};
use uriscan_core::simd::{Isa, Kernels};

impl Columns {
    /// Returns the links of every value, which is a document of this format, in order: a list of
    /// text of the same type, null where the value is.
    ///
    /// Omits what turns out not to be a link (relative references without a base) and the links of
    /// values over 1 GiB.
    ///
    /// ```
    /// use arrow_array::{Array, StringArray, cast::AsArray};
    /// use uriscan_arrow::Columns;
    /// use uriscan::extract::{Extractor, Format};
    /// let texts = StringArray::from(vec!["see http://a/ and (http://b/).", "nothing"]);
    /// let links = Columns::default().extract(&texts, &Extractor::default(), Format::Text).unwrap();
    /// let links = links.as_list::<i32>();
    /// assert_eq!(links.value(0).as_string::<i32>(), &StringArray::from(vec!["http://a/", "http://b/"]));
    /// assert_eq!(links.value_length(1), 0);
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::ColumnType`](crate::ErrorKind::ColumnType),
    /// [`ErrorKind::TooLarge`](crate::ErrorKind::TooLarge).
    pub fn extract(
        &self,
        values: &dyn Array,
        extractor: &Extractor,
        format: Format,
    ) -> Result<ArrayRef, Error> {
        text_to_other(values, |values| {
            let column = Column::new(values)?;
            let work = Find { kernels: self.kernels, extractor, format };
            join(column.text_type, each_piece(self, &column, &work)?)
        })
    }
}

struct Find<'a> {
    kernels: Kernels,
    extractor: &'a Extractor,
    format: Format,
}

/// Length in bytes of the longest value that is searched.
const MAX_VALUE: usize = 1 << 30;

impl Work for Find<'_> {
    type Output = List;

    #[inline(always)]
    fn run<I: Isa>(&self, _: I, piece: &Piece<'_>, _: &mut Scratch) -> List {
        let mut list = List::with_capacity(piece.rows.len());
        let mut links = Links::new();
        for value in piece.iter() {
            match value {
                Row::Null => list.push_null(),
                Row::Value(record) => self.find(record.padded(), &mut links, &mut list),
                Row::TooLong(value) if value.len() <= MAX_VALUE => {
                    self.find(PaddedBuf::from_content(value).padded(), &mut links, &mut list);
                }
                Row::TooLong(_) => list.push([].into_iter()),
            }
        }
        list
    }
}

impl Find<'_> {
    fn find(&self, text: Padded<'_>, links: &mut Links, list: &mut List) {
        links.clear();
        self.extractor.extract(self.kernels, self.format, text, links);
        list.push(links.iter(text.content()).map(|(_, uri)| uri));
    }
}
