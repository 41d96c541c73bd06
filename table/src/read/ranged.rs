//! Opens tables that are kept elsewhere than in a file, by ranges where the format starts at its end.

use std::fmt;
use std::io::BufReader;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_schema::SchemaRef;

use super::counted::Counted;
use super::rows::{Rows, batches};
use crate::TableFormat;
use crate::ipc;
use crate::parquet::decoding::guarded;
use crate::parquet::footer::{self, Footer, Known};
use crate::parquet::groups::{Groups, Place};
use crate::parquet::stored::{Ranges, Seekable};
use crate::text::fitting::Omitted;
use crate::text::members::Members;
use crate::text::sequential::Text;
use crate::work::job::Job;
use uriscan_bulk::error::Error;
use uriscan_files::Stored;

/// The path in the name of what is stored elsewhere, whose query is not shown.
pub(crate) fn of_name(name: &str) -> &Path {
    Path::new(name.strip_suffix("?...").unwrap_or(name))
}

/// The format, the columns and the rows of a table that is `stored` elsewhere, with its `footer`; `known` are its format and
/// the members of JSON lines, if they are known, and the columns in the names of directories.
pub(crate) fn stored_rows(
    (stored, footer): (&Arc<dyn Stored>, &Footer),
    name: &str,
    known: (Option<TableFormat>, (Option<&Members>, &[String])),
    (job, omitted): (&Job, Option<Omitted>),
    bytes: &Arc<AtomicU64>,
) -> Result<(TableFormat, (SchemaRef, Rows)), Error> {
    if let Some(known) = footer.get() {
        return Ok((TableFormat::Parquet, group_rows(stored, known, bytes)));
    }
    let fault = |error: &dyn fmt::Display| Error::read(name, error);
    let by_name = known.0.or_else(|| TableFormat::of_path(of_name(name)));
    let has_ranges = stored.has_ranges();
    let by_name = match by_name {
        Some(TableFormat::Arrow) if has_ranges => {
            let end = stored.bytes().map_or(0, |bytes| bytes.min(8));
            Some(TableFormat::of_ipc(&stored.read(0..end).map_err(|error| fault(&error))?))
        }
        by_name => by_name,
    };
    if let Some(format) = by_name.filter(|format| format.needs_file() && has_ranges) {
        return Ok((format, ranged_rows(format, (stored, footer), name, bytes)?));
    }
    let stream = stored.stream().map_err(|error| fault(&error))?;
    let text = Text::open(Counted { inner: stream, bytes: bytes.clone() }, name)?;
    match by_name.or_else(|| TableFormat::of_head(&text.head)) {
        None => Err(fault(&"neither its name nor its first bytes identify its format")),
        Some(format) if format.needs_file() && has_ranges => {
            Ok((format, ranged_rows(format, (stored, footer), name, bytes)?))
        }
        Some(format) => {
            let (members, keys) = known.1;
            let members = members.map(|members| (members, true));
            Ok((format, text.rows(format, name, (job, omitted), (members, keys))?))
        }
    }
}

/// The columns and the rows of a file in Parquet or Arrow, of which only what is needed is read.
fn ranged_rows(
    format: TableFormat,
    (stored, footer): (&Arc<dyn Stored>, &Footer),
    name: &str,
    bytes: &Arc<AtomicU64>,
) -> Result<(SchemaRef, Rows), Error> {
    let fault = |error: &dyn fmt::Display| Error::read(name, error);
    if format == TableFormat::Arrow {
        let file = Seekable::new(stored.clone()).map_err(|error| fault(&error))?;
        let counted = BufReader::new(Counted { inner: file, bytes: bytes.clone() });
        let reader = guarded(name, || ipc::Batches::open(counted).map_err(|error| fault(&error)))?;
        return Ok((reader.schema(), batches(reader, name)));
    }
    let tail = Ranges::tail(stored).map_err(|error| fault(&error))?;
    let metadata = guarded(name, || footer::load(&tail).map_err(|error| fault(&error)))?;
    let known = Known { metadata, tail: Some(tail) };
    footer.keep(&known);
    Ok(group_rows(stored, known, bytes))
}

/// The columns and the rows of a file in Parquet of which the footer is `known`.
fn group_rows(stored: &Arc<dyn Stored>, known: Known, bytes: &Arc<AtomicU64>) -> (SchemaRef, Rows) {
    let Known { metadata, tail } = known;
    let (schema, place) = (metadata.schema().clone(), Place::Stored(stored.clone(), tail));
    (schema, Rows::Groups(Groups::new(place, metadata, bytes.clone())))
}
