//! Integers of 128 bits, which Polars writes to Arrow IPC although the format does not have them: they are read as text.
//!
//! A column of them has the buffers of one of 16 bytes a value. So the type in the schema is changed to that, where it is, before
//! the schema is decoded.

use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{ArrayRef, RecordBatch, RecordBatchOptions, StringArray};
use arrow_ipc::convert::try_fb_to_schema;
use arrow_ipc::{
    Field as IpcField, FixedSizeBinary, Int, Schema as IpcSchema, Type, root_as_footer,
    root_as_message,
};
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// The columns of a table that are integers of 128 bits, by number, and whether they are signed.
pub(crate) struct WideIntegers {
    columns: Vec<(usize, bool)>,
    /// The columns of the table as they are read.
    pub(crate) schema: SchemaRef,
}

const BITS: i32 = 128;
const BYTES: i32 = BITS / 8;

/// Finds the schema in the bytes of a message or of a footer.
pub(crate) type Within = for<'b> fn(&'b [u8]) -> Option<IpcSchema<'b>>;

pub(crate) fn of_message(bytes: &[u8]) -> Option<IpcSchema<'_>> {
    root_as_message(bytes).ok()?.header_as_schema()
}

pub(crate) fn of_footer(bytes: &[u8]) -> Option<IpcSchema<'_>> {
    root_as_footer(bytes).ok()?.schema()
}

/// The columns of `schema` as they are decoded, and as they are read; `bytes` are those that it is in.
pub(crate) fn schema_of(
    schema: IpcSchema<'_>,
    (bytes, within): (&[u8], Within),
) -> Result<(SchemaRef, WideIntegers), ArrowError> {
    let fields: Vec<IpcField<'_>> = schema.fields().into_iter().flatten().collect();
    let signed = |field: &IpcField<'_>| wide(field).map(|int| int.is_signed());
    let numbered = fields.iter().enumerate();
    let columns: Vec<_> = numbered.filter_map(|(at, field)| Some((at, signed(field)?))).collect();
    let mut places = Vec::new();
    fields.iter().for_each(|field| find(field, &mut places));
    let decoded = match places.is_empty() {
        true => try_fb_to_schema(schema)?,
        false => {
            let mut bytes = bytes.to_vec();
            for (of_type, of_width) in places {
                if let Some(of_type) = bytes.get_mut(of_type) {
                    *of_type = Type::FixedSizeBinary.0;
                }
                if let Some(width) = bytes.get_mut(of_width..of_width + size_of::<i32>()) {
                    width.copy_from_slice(&BYTES.to_le_bytes());
                }
            }
            let what = || ArrowError::IpcError("the schema is corrupt".to_owned());
            try_fb_to_schema(within(&bytes).ok_or_else(what)?)?
        }
    };
    let decoded = Arc::new(decoded);
    let read = decoded.fields().iter().enumerate().map(|(at, field)| {
        match columns.iter().any(|(wide, _)| *wide == at) {
            true => Arc::new(Field::new(field.name(), DataType::Utf8, field.is_nullable())),
            false => field.clone(),
        }
    });
    let read = Schema::new_with_metadata(read.collect::<Vec<_>>(), decoded.metadata().clone());
    let schema = if columns.is_empty() { decoded.clone() } else { Arc::new(read) };
    Ok((decoded, WideIntegers { columns, schema }))
}

/// The type of `field`, if it is one of integers of 128 bits.
fn wide<'a>(field: &IpcField<'a>) -> Option<Int<'a>> {
    field.type_as_int().filter(|int| int.bitWidth() == BITS)
}

/// Adds where the types of `field` and of those within it are that are integers of 128 bits, and where their widths are.
fn find(field: &IpcField<'_>, places: &mut Vec<(usize, usize)>) {
    // The width is at the same place in both types.
    const _: () = assert!(Int::VT_BITWIDTH == FixedSizeBinary::VT_BYTEWIDTH);
    if let Some(int) = wide(field) {
        let of_type = field._tab.vtable().get(IpcField::VT_TYPE_TYPE);
        let of_width = int._tab.vtable().get(Int::VT_BITWIDTH);
        let places_of =
            (field._tab.loc() + usize::from(of_type), int._tab.loc() + usize::from(of_width));
        places.push(places_of);
    }
    field.children().into_iter().flatten().for_each(|child| find(&child, places));
}

impl WideIntegers {
    /// The rows of `batch` as they are read: the numbers as text.
    pub(crate) fn shown(&self, batch: RecordBatch) -> Result<RecordBatch, ArrowError> {
        if self.columns.is_empty() {
            return Ok(batch);
        }
        let mut columns = batch.columns().to_vec();
        for &(at, is_signed) in &self.columns {
            let text = |bytes: &[u8]| {
                let bytes = bytes.first_chunk().copied().unwrap_or_default();
                match is_signed {
                    true => i128::from_le_bytes(bytes).to_string(),
                    false => u128::from_le_bytes(bytes).to_string(),
                }
            };
            let values = columns[at].as_fixed_size_binary().iter();
            columns[at] =
                Arc::new(values.map(|it| it.map(text)).collect::<StringArray>()) as ArrayRef;
        }
        let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
        RecordBatch::try_new_with_options(self.schema.clone(), columns, &options)
    }
}
