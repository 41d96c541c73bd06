//! Row groups of Parquet, read by all threads.

use std::collections::VecDeque;
use std::fmt;
use std::io::{Read, Seek};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use arrow_array::RecordBatch;
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader};
use parquet::arrow::parquet_to_arrow_field_levels;
use parquet::file::reader::ChunkReader;
use rayon::prelude::*;

use super::decoding::guarded;
use super::pages::Claims;
use super::stored::Ranges;
use crate::unit::{BATCH_ROWS, UNIT_BYTES, UNIT_ROWS, Unit};
use crate::{parquet::content, parquet::encrypted, parquet::pages};
use uriscan_bulk::error::Error;
use uriscan_files::{File, Stored};

/// Approximate size of a batch in bytes, as Parquet keeps them before compression.
const BATCH_BYTES: usize = 256 << 20;

/// Where a Parquet file is.
pub(crate) enum Place {
    File(PathBuf),
    /// Elsewhere, with what of it came with its footer.
    Stored(Arc<dyn Stored>, Option<Ranges>),
}

/// The row groups of a Parquet file that are still to be read.
pub(crate) struct Groups {
    place: Place,
    metadata: ArrowReaderMetadata,
    columns: ProjectionMask,
    units: VecDeque<Vec<usize>>,
    bytes: Arc<AtomicU64>,
}

impl Groups {
    /// What is wrong with pages of the table, whose footer is at the end of `file`: their columns may be encrypted.
    fn cause(&self, file: Option<&impl ChunkReader>, what: String) -> String {
        let schema = self.metadata.metadata().file_metadata().schema_descr();
        let encrypted = file.map(encrypted::columns).unwrap_or_default();
        let mut read = encrypted.into_iter().filter(|&leaf| self.columns.leaf_included(leaf));
        match read.next().filter(|&leaf| leaf < schema.num_columns()) {
            Some(leaf) => {
                let column = schema.column(leaf).path().string();
                format!("column {column} is encrypted, and {}", encrypted::ADVICE)
            }
            None => what,
        }
    }

    pub(crate) fn new(
        place: Place,
        metadata: ArrowReaderMetadata,
        bytes: Arc<AtomicU64>,
    ) -> Groups {
        let columns = ProjectionMask::all();
        let mut groups = Groups { place, metadata, columns, units: VecDeque::new(), bytes };
        let (mut unit, mut rows, mut bytes) = (Vec::new(), 0u64, 0u64);
        for group in 0..groups.metadata.metadata().num_row_groups() {
            unit.push(group);
            rows = rows.saturating_add(groups.rows(group));
            bytes = bytes.saturating_add(groups.encoded_bytes(group));
            if rows >= UNIT_ROWS as u64 || bytes >= UNIT_BYTES as u64 {
                groups.units.push_back(core::mem::take(&mut unit));
                (rows, bytes) = (0, 0);
            }
        }
        if !unit.is_empty() {
            groups.units.push_back(unit);
        }
        groups
    }

    /// From now on, only the column with this number is read.
    pub(crate) fn read_only(&mut self, column: usize) {
        let descr = self.metadata.metadata().file_metadata().schema_descr();
        self.columns = ProjectionMask::roots(descr, [column]);
    }

    /// Skips whole units of up to `rows` rows in all; returns how many rows are left to skip.
    pub(crate) fn skip(&mut self, mut rows: u64) -> u64 {
        while let Some(unit) = self.units.front() {
            let of_unit = unit.iter().map(|&group| self.rows(group)).fold(0, u64::saturating_add);
            let Some(rest) = rows.checked_sub(of_unit) else { break };
            rows = rest;
            self.units.pop_front();
        }
        rows
    }

    fn rows(&self, group: usize) -> u64 {
        u64::try_from(self.metadata.metadata().row_group(group).num_rows()).unwrap_or(0)
    }

    /// Bytes of a group before compression.
    fn encoded_bytes(&self, group: usize) -> u64 {
        u64::try_from(self.metadata.metadata().row_group(group).total_byte_size()).unwrap_or(0)
    }

    pub(crate) fn next_units(&mut self, count: usize, name: &str) -> Result<Vec<Unit>, Error> {
        let groups: Vec<Vec<usize>> = self.units.drain(..count.min(self.units.len())).collect();
        let units = groups.into_par_iter().map(|groups| self.read(&groups, None, name));
        units.collect::<Result<Vec<_>, _>>()
    }

    /// Up to so many of the first `rows`.
    pub(crate) fn sample(&mut self, rows: usize, name: &str) -> Result<Option<RecordBatch>, Error> {
        let groups = 0..self.metadata.metadata().num_row_groups();
        let first = groups.into_iter().find(|&group| self.rows(group) > 0);
        let unit = first.map(|group| self.read(&[group], Some(rows), name)).transpose()?;
        Ok(unit.and_then(|unit| unit.into_iter().next()))
    }

    /// The rows of `groups`, or only the first batch of up to `most` of them.
    fn read(&self, groups: &[usize], most: Option<usize>, name: &str) -> Result<Unit, Error> {
        let fault = |error: &dyn fmt::Display| Error::read(name, error);
        let bytes = |&group: &usize| {
            u64::try_from(self.metadata.metadata().row_group(group).compressed_size()).unwrap_or(0)
        };
        self.bytes.fetch_add(groups.iter().map(bytes).sum(), Ordering::Relaxed);
        let rows = groups.iter().map(|&group| self.rows(group)).fold(0, u64::saturating_add);
        let unit = guarded(name, || match &self.place {
            Place::File(path) => {
                // Opened again: threads that share a file handle share its position.
                let file = File::open(path).map_err(|error| fault(&error))?;
                let bytes = file.metadata().map_err(|error| fault(&error))?.len();
                let again = || File::open(path).map(File::into_plain).ok();
                let checked = self.checked(groups, (|| &file, bytes), again, name)?;
                self.decode(file.into_plain(), checked, (rows, most), name)
            }
            Place::Stored(stored, tail) => {
                let metadata = self.metadata.metadata();
                let of_unit = groups.iter().map(|&group| metadata.row_group(group));
                let ranges = Ranges::of_groups((stored, tail.as_ref()), of_unit, &self.columns);
                let ranges = ranges.map_err(|error| fault(&error))?;
                let (start, tail) = (|| ranges.at(0), || Ranges::tail(stored).ok());
                let checked = self.checked(groups, (start, ranges.bytes()), tail, name)?;
                self.decode(ranges, checked, (rows, most), name)
            }
        })?;
        let found = unit.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
        if found != rows && most.is_none() {
            return Err(fault(&format_args!(
                "the file is corrupt: {found} rows instead of {rows}"
            )));
        }
        Ok(unit)
    }

    /// `groups` with what their pages claim, once these have been checked, of a table of so many bytes, at the end of which is the footer.
    fn checked<R: Read + Seek, F: ChunkReader>(
        &self,
        groups: &[usize],
        (open, bytes): (impl Fn() -> R, u64),
        end: impl Fn() -> Option<F>,
        name: &str,
    ) -> Result<Vec<(usize, Claims)>, Error> {
        let check = |&group: &usize| {
            let of_group = self.metadata.metadata().row_group(group);
            let claims = pages::check(open(), bytes, of_group, &self.columns);
            let claims =
                claims.map_err(|what| Error::read(name, self.cause(end().as_ref(), what)))?;
            Ok((group, claims))
        };
        groups.iter().map(check).collect()
    }

    /// The rows of `groups`, whose pages have been checked and claim what is said, read from `file`.
    fn decode<F: ChunkReader + 'static>(
        &self,
        file: F,
        groups: Vec<(usize, Claims)>,
        (rows, most): (u64, Option<usize>),
        name: &str,
    ) -> Result<Unit, Error> {
        let fault = |error: &dyn fmt::Display| Error::read(name, error);
        let numbers: Vec<usize> = groups.iter().map(|(group, _)| *group).collect();
        let batch_rows = self.batch_rows(&numbers, rows).min(most.unwrap_or(usize::MAX));
        let types = self.metadata.schema().fields().iter().map(|field| field.data_type());
        content::check_types(types, rows).map_err(|what| fault(&what))?;
        let content = content::Content::new(file, &self.metadata, groups);
        let levels = parquet_to_arrow_field_levels(
            self.metadata.metadata().file_metadata().schema_descr(),
            self.columns.clone(),
            Some(self.metadata.schema().fields()),
        );
        let reader = levels.and_then(|levels| {
            ParquetRecordBatchReader::try_new_with_row_groups(&levels, &content, batch_rows, None)
        });
        let reader = reader.map_err(|error| fault(&error))?;
        let batches = reader.take(most.map_or(usize::MAX, |_| 1));
        batches.map(|batch| batch.map_err(|error| fault(&error))).collect::<Result<Unit, _>>()
    }

    /// Rows in a batch of `groups`, which have `rows` rows in all: fewer where rows are long, because no column of a batch may
    /// hold more than 2 GiB of text.
    fn batch_rows(&self, groups: &[usize], rows: u64) -> usize {
        let bytes = groups.iter().map(|&group| self.encoded_bytes(group));
        let bytes = bytes.fold(0, u64::saturating_add).max(1);
        let fit = u128::from(rows) * BATCH_BYTES as u128 / u128::from(bytes);
        let fit = usize::try_from(fit).map_or(BATCH_ROWS, |fit| fit.clamp(1 << 8, BATCH_ROWS));
        usize::try_from(rows).map_or(fit, |rows| fit.min(rows.max(1)))
    }
}
