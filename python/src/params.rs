//! The parameters of queries.

use std::sync::Arc;

use arrow_array::builder::LargeBinaryBuilder;
use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, LargeListArray, LargeStringArray, StructArray};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use arrow_schema::{DataType, Field, Fields};
use uriscan::Error;
use uriscan_arrow::{COMPONENTS, Columns};

use crate::texts;

/// The names and values of the query of every value: a list of structs, null where there is no query.
pub(crate) fn of(columns: &Columns, chunk: &dyn Array) -> Result<ArrayRef, Error> {
    let parts = columns.parse(chunk)?;
    let at = COMPONENTS.iter().position(|&name| name == "query").unwrap_or_default();
    let queries = parts.as_struct().column(at);
    let (mut names, mut values) = (LargeBinaryBuilder::new(), LargeBinaryBuilder::new());
    let (mut lengths, mut nulls) = (Vec::with_capacity(chunk.len()), Vec::new());
    for row in 0..queries.len() {
        let query = texts::value(queries, row);
        nulls.push(query.is_some());
        let mut count = 0;
        for param in query.filter(|query| !query.is_empty()).into_iter().flat_map(split) {
            let mut halves = param.splitn(2, |&byte| byte == b'=');
            names.append_option(halves.next());
            values.append_option(halves.next());
            count += 1;
        }
        lengths.push(count);
    }
    let is_binary = texts::is_binary(chunk.data_type());
    let made = [names, values].map(|mut made| text(made.finish(), is_binary));
    let data_type = made[0].data_type().clone();
    let member = |name: &str, is_nullable| Field::new(name, data_type.clone(), is_nullable);
    let members = Fields::from(vec![member("name", false), member("value", true)]);
    let params = StructArray::new(members.clone(), made.to_vec(), None);
    let item = Arc::new(Field::new_list_field(DataType::Struct(members), false));
    let offsets = OffsetBuffer::from_lengths(lengths);
    Ok(Arc::new(LargeListArray::new(
        item,
        offsets,
        Arc::new(params),
        Some(NullBuffer::from(nulls)),
    )))
}

fn split(query: &[u8]) -> impl Iterator<Item = &[u8]> {
    query.split(|&byte| byte == b'&')
}

/// `values` as text, unless they come from bytes.
fn text(values: arrow_array::LargeBinaryArray, is_binary: bool) -> ArrayRef {
    if is_binary {
        return Arc::new(values);
    }
    // A query that follows the grammar is ASCII; of text that does not, it is UTF-8 all the same.
    match LargeStringArray::try_from_binary(values.clone()) {
        Ok(values) => Arc::new(values),
        Err(_) => Arc::new(values),
    }
}
