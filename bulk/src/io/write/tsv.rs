//! Rows as tab-separated values.
//!
//! The first line is a header: the names of the [`Field`]s and `error`. An undefined component is
//! `\N`, as for missing values in PostgreSQL and ClickHouse; an empty one is empty. No value holds
//! a tab, a line end or a backslash, so nothing is escaped and `\N` is never a value. The column
//! `error` is `\N`, or the kind of fault and its offset in bytes, `space@17`; every other column
//! except `line` is then `\N`.

use super::row::{Field, Row, push_decimal};
use uriscan_core::uri::UriError;

const UNDEFINED: &[u8] = b"\\N";

/// Appends the header line.
pub(crate) fn header(out: &mut Vec<u8>) {
    for field in Field::OF_ROW {
        out.extend_from_slice(field.name().as_bytes());
        out.push(b'\t');
    }
    out.extend_from_slice(b"error\n");
}

/// Appends the row of a valid reference.
#[inline]
pub(crate) fn row(row: &Row<'_>, out: &mut Vec<u8>) {
    push_decimal(row.line, out);
    for field in &Field::OF_ROW[1..] {
        out.push(b'\t');
        if !row.push(*field, out) {
            out.extend_from_slice(UNDEFINED);
        }
    }
    out.extend_from_slice(b"\t\\N\n");
}

/// Appends the row of a record that is not a URI-reference.
pub(crate) fn error_row(line: u64, error: UriError, out: &mut Vec<u8>) {
    push_decimal(line, out);
    for _ in &Field::OF_ROW[1..] {
        out.push(b'\t');
        out.extend_from_slice(UNDEFINED);
    }
    out.push(b'\t');
    out.extend_from_slice(error.kind.name().as_bytes());
    out.push(b'@');
    push_decimal(error.at.into(), out);
    out.push(b'\n');
}
