//! Tables of pairs: a record and its survivor in each row, as [`crate::ClassTable`] writes them.

use std::borrow::Cow;

use arrow_array::{Array, ArrayRef, RecordBatch};
use arrow_cast::{can_cast_types, cast};
use arrow_schema::{DataType, Schema};

use crate::TableFormat;
use crate::job::target::names_of;
use crate::job::{Job, Task};
use crate::read::input::Input;
use crate::read::reader::{self, Reader};
use uriscan_arrow::{Columns, each_value, is_text, spelled_out};
use uriscan_bulk::error::Error;
use uriscan_core::index::trimmed;

/// The column of records.
pub(crate) const RECORD: &str = "uri";

/// The column of their survivors.
const SURVIVOR: &str = "kept";

/// The columns of a table of pairs: of records, and of their survivors.
pub(crate) struct Pairs([Texts; 2]);

/// A column of text, and the one that has the values that are not UTF-8, in hexadecimal; by number.
struct Texts {
    plain: usize,
    hex: Option<usize>,
}

/// Opens `input`, a table whose URIs are in `column`.
pub(crate) fn open_columns(input: Input, column: &str) -> Result<Reader, Error> {
    // In a format that makes columns of all members of JSON lines.
    let job = Job::new(column, Task::Copy, Columns::default(), TableFormat::Parquet);
    let mut inputs = [input];
    reader::learn(&mut inputs, &job)?;
    let [input] = inputs;
    Reader::open(input, &job)
}

/// Opens `input`, a table of pairs.
pub(crate) fn open(input: Input) -> Result<(Reader, Pairs), Error> {
    let reader = open_columns(input, RECORD)?;
    let schema = reader.schema();
    let texts = |plain: &str, hex: &str| {
        let find = |name: &str| column_of_text(&schema, name);
        let plain =
            find(plain).ok_or_else(|| Error::no_column(reader.name(), plain, names_of(&schema)))?;
        Ok::<_, Error>(Texts { plain, hex: find(hex) })
    };
    let pairs = Pairs([texts(RECORD, "hex")?, texts(SURVIVOR, "kept_hex")?]);
    Ok((reader, pairs))
}

/// The numbers of the columns called `names` in the table that `reader` reads.
pub(crate) fn fields(
    reader: &Reader,
    names: &[Option<String>],
) -> Result<Vec<Option<usize>>, Error> {
    let schema = reader.schema();
    let find = |name: &String| {
        let column = schema.index_of(name);
        let column =
            column.map_err(|_| Error::no_column(reader.name(), name, names_of(&schema)))?;
        let found = schema.field(column).data_type();
        if !is_text(found) && !can_cast_types(found, &DataType::Utf8) {
            let what = format!("column {name} is {found}; text, numbers or dates expected");
            return Err(Error::columns_of(reader.name(), what));
        }
        Ok(column)
    };
    names.iter().map(|name| name.as_ref().map(find).transpose()).collect()
}

/// The values of `array`, spelled as text if they are numbers or dates.
pub(crate) fn as_text(array: &dyn Array) -> Result<ArrayRef, Error> {
    if is_text(array.data_type()) { spelled_out(array) } else { Ok(cast(array, &DataType::Utf8)?) }
}

fn column_of_text(schema: &Schema, name: &str) -> Option<usize> {
    let column = schema.index_of(name).ok()?;
    is_text(schema.field(column).data_type()).then_some(column)
}

impl Pairs {
    /// Passes the values of each row of `batch` to `push`, each with the byte that is to end it.
    pub(crate) fn each(
        &self,
        batch: &RecordBatch,
        record_end: u8,
        mut push: impl FnMut(&[u8], u8),
    ) -> Result<(), Error> {
        let [records, survivors] = &self.0;
        let [records, survivors] = [records.of(batch)?, survivors.of(batch)?];
        for (record, survivor) in records.each().zip(survivors.each()) {
            push(trimmed(&record), b'\t');
            push(trimmed(&survivor), record_end);
        }
        Ok(())
    }
}

impl Texts {
    fn of(&self, batch: &RecordBatch) -> Result<Values, Error> {
        let hex = self.hex.map(|hex| spelled_out(batch.column(hex))).transpose()?;
        Ok(Values { plain: spelled_out(batch.column(self.plain))?, hex })
    }
}

struct Values {
    plain: ArrayRef,
    hex: Option<ArrayRef>,
}

impl Values {
    /// Each value; nothing for null.
    fn each(&self) -> impl Iterator<Item = Cow<'_, [u8]>> {
        let mut digits = self.hex.as_ref().map(|hex| each_value(hex));
        each_value(&self.plain).map(move |plain| {
            let digits = digits.as_mut().and_then(|digits| digits.next().flatten());
            match (plain, digits) {
                (Some(plain), _) => Cow::Borrowed(plain),
                (None, digits) => Cow::Owned(bytes_of(digits.unwrap_or_default())),
            }
        })
    }
}

/// The bytes that `digits` spell in hexadecimal, up to where they do not.
fn bytes_of(digits: &[u8]) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|value| value as u8);
    let bytes =
        digits.chunks_exact(2).map_while(|pair| Some(digit(&pair[0])? << 4 | digit(&pair[1])?));
    bytes.collect()
}
