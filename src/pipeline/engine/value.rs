//! Values as records of a list.

/// What represents a record end within a value: a byte that no URI holds either.
const NO_END: u8 = 0x01;

/// Appends `value` and the byte that ends it; neither this nor the end of records is within the value then.
pub(crate) fn push_value(value: &[u8], record_end: u8, ended_by: u8, list: &mut Vec<u8>) {
    let start = list.len();
    list.extend_from_slice(value);
    if memchr::memchr2(record_end, ended_by, value).is_some() {
        let is_end = |byte: &&mut u8| **byte == record_end || **byte == ended_by;
        list[start..].iter_mut().filter(is_end).for_each(|byte| *byte = NO_END);
    }
    list.push(ended_by);
}
