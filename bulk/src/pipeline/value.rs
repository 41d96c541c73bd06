//! Values as records of a list.

/// What represents a record end within a value: a byte that no URI holds either.
const NO_END: u8 = 0x01;

/// Appends `value` and the byte that ends it; neither this nor the end of records is within the value then.
pub fn push_value(value: &[u8], record_end: u8, ended_by: u8, list: &mut Vec<u8>) {
    let start = list.len();
    list.extend_from_slice(value);
    if memchr::memchr2(record_end, ended_by, value).is_some() {
        let is_end = |byte: &&mut u8| **byte == record_end || **byte == ended_by;
        list[start..].iter_mut().filter(is_end).for_each(|byte| *byte = NO_END);
    }
    list.push(ended_by);
}

/// Appends `value` and a tab, or the end of a line: no two values become one. URIs stay as they are.
pub fn push_field(value: &[u8], ended_by: u8, line: &mut Vec<u8>) {
    for &byte in value {
        match byte {
            NO_END => line.extend_from_slice(&[NO_END, NO_END]),
            b'\t' => line.extend_from_slice(&[NO_END, b't']),
            b'\n' => line.extend_from_slice(&[NO_END, b'n']),
            _ => line.push(byte),
        }
    }
    line.push(ended_by);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_values_become_different_fields() {
        let values: [&[u8]; 8] =
            [b"a", b"a\tb", b"a\nb", b"a\x01b", b"a\x01nb", b"a\x01tb", b"a\rb", b"a\0b"];
        let field = |value: &[u8]| {
            let mut field = Vec::new();
            push_field(value, b'\t', &mut field);
            assert!(!field[..field.len() - 1].iter().any(|byte| b"\t\n".contains(byte)));
            field
        };
        let fields: std::collections::HashSet<Vec<u8>> = values.map(field).into();
        assert_eq!(fields.len(), values.len());
    }
}
