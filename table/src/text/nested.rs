//! Lists and objects as text of JSON, in formats that have only text.

use std::sync::Arc;

use arrow_array::{Array, ArrayRef, RecordBatch, StringArray};
use arrow_json::WriterBuilder;
use arrow_schema::{ArrowError, DataType, Field, Schema, SchemaRef};

/// What a line is before and after its value: that of a member without a name.
const AROUND: (&[u8], &[u8]) = (b"{\"\":", b"}");

/// `batch` with text of JSON where a column has lists or objects.
pub(crate) fn as_json(batch: &RecordBatch) -> Result<RecordBatch, ArrowError> {
    let schema = schema_as_json(&batch.schema());
    let column = |column: &ArrayRef| match column.data_type().is_nested() {
        true => json(column).map(|json| Arc::new(json) as ArrayRef),
        false => Ok(column.clone()),
    };
    let columns = batch.columns().iter().map(column).collect::<Result<Vec<_>, _>>()?;
    RecordBatch::try_new(schema, columns)
}

fn schema_as_json(schema: &SchemaRef) -> SchemaRef {
    let field = |field: &Arc<Field>| match field.data_type().is_nested() {
        true => Arc::new(field.as_ref().clone().with_data_type(DataType::Utf8)),
        false => field.clone(),
    };
    let fields: Vec<_> = schema.fields().iter().map(field).collect();
    Arc::new(Schema::new_with_metadata(fields, schema.metadata().clone()))
}

pub(crate) fn json(column: &ArrayRef) -> Result<StringArray, ArrowError> {
    let field = Field::new("", column.data_type().clone(), true);
    let batch = RecordBatch::try_new(Arc::new(Schema::new(vec![field])), vec![column.clone()])?;
    let mut writer = WriterBuilder::new().with_explicit_nulls(true).build(Vec::new());
    let writer: &mut arrow_json::LineDelimitedWriter<Vec<u8>> = &mut writer;
    writer.write(&batch)?;
    let lines = std::mem::take(writer.get_mut());
    let (before, after) = AROUND;
    let values = lines.split(|byte| *byte == b'\n').zip(0..column.len()).map(|(line, row)| {
        let value = line.strip_prefix(before)?.strip_suffix(after)?;
        str::from_utf8(value).ok().filter(|_| column.is_valid(row))
    });
    Ok(values.collect())
}

#[cfg(test)]
mod tests {
    use arrow_array::builder::{ListBuilder, StringBuilder};
    use arrow_array::cast::AsArray;

    use super::*;

    #[test]
    fn lists_are_json_and_null_is_nothing() {
        let mut lists = ListBuilder::new(StringBuilder::new());
        lists.append_value([Some("a\n\""), None]);
        lists.append_null();
        lists.append_value([Some("é"); 0]);
        let column: ArrayRef = Arc::new(lists.finish());
        let batch = RecordBatch::try_from_iter_with_nullable([("l", column, true)]).unwrap();
        let written = as_json(&batch).unwrap();
        let values: Vec<_> = written.column(0).as_string::<i32>().iter().collect();
        assert_eq!(values, [Some(r#"["a\n\"",null]"#), None, Some("[]")]);
        let none = as_json(&batch.slice(0, 0)).unwrap();
        assert_eq!((none.num_rows(), none.schema()), (0, written.schema()));
    }
}
