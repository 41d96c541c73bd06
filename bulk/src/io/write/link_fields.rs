//! The file, line, column and context of a link in rows about it.

use super::diagnostic::Position;
use super::row::push_decimal;
use uriscan_files::escape::escaped_bytes;

/// Puts the file, the column and the context before the rest of the JSON object that begins at `start` of `out` with
/// the number of the line, if the record is a link.
pub(crate) fn into_object(position: Position<'_>, start: usize, out: &mut Vec<u8>) {
    let Some((column, context)) = position.link() else { return };
    let rest = out.split_off(start);
    out.extend_from_slice(b"{\"file\":");
    // Serializing a string to a `Vec` does not fail.
    let _ = serde_json::to_writer(&mut *out, position.source);
    out.extend_from_slice(b",\"line\":");
    push_decimal(position.line, out);
    out.extend_from_slice(b",\"column\":");
    push_decimal(column, out);
    out.extend_from_slice(b",\"context\":\"");
    out.extend_from_slice(context.name().as_bytes());
    out.push(b'"');
    out.extend_from_slice(memchr::memchr(b',', &rest).map_or(b"}\n", |at| &rest[at..]));
}

/// Puts the names of the columns that [`into_row`] adds into a header that begins with `line`.
pub(crate) fn into_header(header: &mut Vec<u8>) {
    header.splice(..b"line".len(), *b"file\tline\tcolumn\tcontext");
}

/// The same for a row of tab-separated values.
pub(crate) fn into_row(position: Position<'_>, start: usize, out: &mut Vec<u8>) {
    let Some((column, context)) = position.link() else { return };
    let rest = out.split_off(start);
    out.extend_from_slice(escaped_bytes(position.source.as_bytes()).as_bytes());
    out.push(b'\t');
    push_decimal(position.line, out);
    out.push(b'\t');
    push_decimal(column, out);
    out.push(b'\t');
    out.extend_from_slice(context.name().as_bytes());
    out.extend_from_slice(memchr::memchr(b'\t', &rest).map_or(b"\n", |at| &rest[at..]));
}
