//! Tables that can be read more than once, files and what is kept elsewhere: by ranges where the format starts at its end.

use std::fmt;
use std::io::{self, BufReader, Read, Seek};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use arrow_schema::SchemaRef;
use parquet::arrow::arrow_reader::ArrowReaderMetadata;
use parquet::file::reader::ChunkReader;

use super::counted::Counted;
use super::rows::{Rows, batches};
use crate::TableFormat;
use crate::ipc;
use crate::parquet::decoding::guarded;
use crate::parquet::footer::{self, Footer, Known};
use crate::parquet::groups::{Groups, Place};
use crate::parquet::stored::{Ranges, Seekable};
use uriscan_bulk::error::Error;
use uriscan_bulk::io::read::part::RereadableFile;
use uriscan_files::{File, Stored};

/// Where a table is that can be read more than once.
#[derive(Clone)]
pub(crate) enum Rereadable {
    File(RereadableFile),
    Stored(Arc<dyn Stored>),
}

impl Rereadable {
    /// All of it, from front to back.
    pub(crate) fn stream(&self) -> io::Result<Box<dyn Read + Send>> {
        match self {
            Rereadable::File(file) => Ok(Box::new(File::open(file.path())?)),
            Rereadable::Stored(stored) => stored.stream(),
        }
    }

    /// Whether it can be read by ranges.
    pub(crate) fn has_ranges(&self) -> bool {
        match self {
            Rereadable::File(_) => true,
            Rereadable::Stored(stored) => stored.has_ranges(),
        }
    }

    /// What tells files of Arrow from streams: their first bytes.
    pub(crate) fn head(&self) -> io::Result<Vec<u8>> {
        const BYTES: u64 = 8;
        match self {
            Rereadable::File(file) => {
                let mut head = Vec::new();
                File::open(file.path())?.take(BYTES).read_to_end(&mut head)?;
                Ok(head)
            }
            Rereadable::Stored(stored) => {
                stored.read(0..stored.bytes().map_or(0, |bytes| bytes.min(BYTES)))
            }
        }
    }

    /// Fails if it has changed since it was first opened.
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self {
            Rereadable::File(file) => {
                file.check().map_err(|error| Error::read(&file.path().display().to_string(), error))
            }
            // Reading it fails, unless all of it was kept.
            Rereadable::Stored(_) => Ok(()),
        }
    }

    /// The columns and the rows of a table called `name` in Parquet or Arrow, of which only what is needed is read; its `footer` is
    /// kept if it is not in a file.
    pub(crate) fn rows(
        &self,
        format: TableFormat,
        footer: &Footer,
        name: &str,
        bytes: &Arc<AtomicU64>,
    ) -> Result<(SchemaRef, Rows), Error> {
        let fault = |error: io::Error| Error::read(name, error);
        match (self, format) {
            (Rereadable::File(file), TableFormat::Arrow) => {
                arrow_rows(File::open(file.path()).map_err(fault)?, name, bytes)
            }
            (Rereadable::Stored(stored), TableFormat::Arrow) => {
                arrow_rows(Seekable::new(stored.clone()).map_err(fault)?, name, bytes)
            }
            (Rereadable::File(file), _) => {
                let metadata = loaded(&File::open(file.path()).map_err(fault)?.into_plain(), name)?;
                Ok(group_rows(Place::File(file.path().to_owned()), metadata, bytes))
            }
            (Rereadable::Stored(stored), _) => {
                let Known { metadata, tail } = match footer.get() {
                    Some(known) => known,
                    None => {
                        let tail = Ranges::tail(stored).map_err(fault)?;
                        let known = Known { metadata: loaded(&tail, name)?, tail: Some(tail) };
                        footer.keep(&known);
                        known
                    }
                };
                Ok(group_rows(Place::Stored(stored.clone(), tail), metadata, bytes))
            }
        }
    }
}

/// The footer of `file`, one of Parquet.
fn loaded(file: &impl ChunkReader, name: &str) -> Result<ArrowReaderMetadata, Error> {
    guarded(name, || footer::load(file).map_err(|error| Error::read(name, error)))
}

fn group_rows(
    place: Place,
    metadata: ArrowReaderMetadata,
    bytes: &Arc<AtomicU64>,
) -> (SchemaRef, Rows) {
    let schema = metadata.schema().clone();
    (schema, Rows::Groups(Groups::new(place, metadata, bytes.clone())))
}

fn arrow_rows(
    file: impl Read + Seek + Send + 'static,
    name: &str,
    bytes: &Arc<AtomicU64>,
) -> Result<(SchemaRef, Rows), Error> {
    let fault = |error: &dyn fmt::Display| Error::read(name, error);
    let counted = BufReader::new(Counted { inner: file, bytes: bytes.clone() });
    let reader = guarded(name, || ipc::Batches::open(counted).map_err(|error| fault(&error)))?;
    Ok((reader.schema(), batches(reader, name)))
}
