//! Checks arrays that other libraries hand over: their types trust that offsets and keys lead to values.

use arrow_array::cast::AsArray;
use arrow_array::{Array, downcast_integer_array};
use arrow_buffer::{ArrowNativeType, Buffer};
use arrow_schema::DataType;

const OFFSETS: &str = "its offsets lead out of it";
const KEYS: &str = "a key of its dictionary leads out of it";

/// Fails if values of `array` are not within it. Text is not looked at.
///
/// # Errors
/// What is damaged.
pub(crate) fn check(array: &dyn Array) -> Result<(), &'static str> {
    match array.data_type() {
        DataType::Utf8 => {
            let array = array.as_string::<i32>();
            offsets(array.value_offsets(), array.value_data().len())
        }
        DataType::LargeUtf8 => {
            let array = array.as_string::<i64>();
            offsets(array.value_offsets(), array.value_data().len())
        }
        DataType::Binary => {
            let array = array.as_binary::<i32>();
            offsets(array.value_offsets(), array.value_data().len())
        }
        DataType::LargeBinary => {
            let array = array.as_binary::<i64>();
            offsets(array.value_offsets(), array.value_data().len())
        }
        DataType::Utf8View => {
            let array = array.as_string_view();
            views(array, array.views(), array.data_buffers())
        }
        DataType::BinaryView => {
            let array = array.as_binary_view();
            views(array, array.views(), array.data_buffers())
        }
        DataType::Struct(_) => array.as_struct().columns().iter().try_for_each(|it| check(it)),
        DataType::List(_) => {
            let array = array.as_list::<i32>();
            offsets(array.value_offsets(), array.values().len())?;
            check(array.values())
        }
        DataType::LargeList(_) => {
            let array = array.as_list::<i64>();
            offsets(array.value_offsets(), array.values().len())?;
            check(array.values())
        }
        DataType::Dictionary(..) => {
            let dictionary = array.as_any_dictionary();
            let (keys, values) = (dictionary.keys(), dictionary.values());
            check(values)?;
            let is_within = downcast_integer_array!(
                keys => keys.iter().flatten().all(|key| key.to_usize().is_some_and(|key| key < values.len())),
                _ => true
            );
            if is_within { Ok(()) } else { Err(KEYS) }
        }
        _ => Ok(()),
    }
}

fn offsets<O: ArrowNativeType + PartialOrd>(offsets: &[O], end: usize) -> Result<(), &'static str> {
    let is_first = offsets.first().is_none_or(|first| first.to_usize().is_some());
    let is_last = offsets.last().is_none_or(|last| last.to_usize().is_some_and(|last| last <= end));
    let are_in_order = offsets.windows(2).all(|pair| pair[0] <= pair[1]);
    if is_first && is_last && are_in_order { Ok(()) } else { Err(OFFSETS) }
}

/// A view is the length of its value, and the value, or its first bytes, the number of a buffer and an offset in it.
fn views(array: &dyn Array, views: &[u128], buffers: &[Buffer]) -> Result<(), &'static str> {
    const INLINE: u32 = 12;
    let is_within = |view: u128| {
        let (length, buffer, offset) = (view as u32, (view >> 64) as u32, (view >> 96) as u32);
        let buffer = buffers.get(buffer as usize).map_or(0, |buffer| buffer.len() as u64);
        length <= INLINE || u64::from(offset) + u64::from(length) <= buffer
    };
    let mut rows = views.iter().enumerate().filter(|(row, _)| array.is_valid(*row));
    if rows.all(|(_, view)| is_within(*view)) { Ok(()) } else { Err(OFFSETS) }
}
