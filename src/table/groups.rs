//! Row groups of Parquet, read by all threads.

use std::collections::VecDeque;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{ArrowReaderMetadata, ParquetRecordBatchReader};
use parquet::arrow::parquet_to_arrow_field_levels;
use rayon::prelude::*;

use super::TableError;
use super::decoding::guarded;
use super::error::unread;
use super::unit::{BATCH_ROWS, UNIT_BYTES, UNIT_ROWS, Unit};
use super::{content, pages};
use crate::files::File;

/// Approximate size of a batch in bytes, as Parquet keeps them before compression.
const BATCH_BYTES: usize = 256 << 20;

/// The row groups of a Parquet file that are still to be read.
pub(super) struct Groups {
    path: PathBuf,
    metadata: ArrowReaderMetadata,
    /// The groups of each unit, by number.
    units: VecDeque<Vec<usize>>,
    bytes: Arc<AtomicU64>,
}

impl Groups {
    pub(super) fn new(
        path: PathBuf,
        metadata: ArrowReaderMetadata,
        bytes: Arc<AtomicU64>,
    ) -> Groups {
        let mut groups = Groups { path, metadata, units: VecDeque::new(), bytes };
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

    /// Skips whole units of up to `rows` rows in all; returns how many rows are left to skip.
    pub(super) fn skip(&mut self, mut rows: u64) -> u64 {
        while let Some(unit) = self.units.front() {
            let of_unit = unit.iter().map(|&group| self.rows(group)).fold(0, u64::saturating_add);
            let Some(rest) = rows.checked_sub(of_unit) else { break };
            rows = rest;
            self.units.pop_front();
        }
        rows
    }

    /// Rows of a group.
    fn rows(&self, group: usize) -> u64 {
        u64::try_from(self.metadata.metadata().row_group(group).num_rows()).unwrap_or(0)
    }

    /// Bytes of a group before compression.
    fn encoded_bytes(&self, group: usize) -> u64 {
        u64::try_from(self.metadata.metadata().row_group(group).total_byte_size()).unwrap_or(0)
    }

    pub(super) fn next_wave(&mut self, count: usize, name: &str) -> Result<Vec<Unit>, TableError> {
        let wave: Vec<Vec<usize>> = self.units.drain(..count.min(self.units.len())).collect();
        let units = wave.into_par_iter().map(|groups| self.read(groups, name));
        units.collect::<Result<Vec<_>, _>>()
    }

    fn read(&self, groups: Vec<usize>, name: &str) -> Result<Unit, TableError> {
        let fault = |error: &dyn fmt::Display| unread(name, error);
        let bytes = |&group: &usize| {
            u64::try_from(self.metadata.metadata().row_group(group).compressed_size()).unwrap_or(0)
        };
        self.bytes.fetch_add(groups.iter().map(bytes).sum(), Ordering::Relaxed);
        let rows = groups.iter().map(|&group| self.rows(group)).fold(0, u64::saturating_add);
        let batch_rows = self.batch_rows(&groups, rows);
        // Opened again: threads that share a file handle share its position.
        let file = File::open(&self.path).map_err(|error| fault(&error))?;
        let file_bytes = file.metadata().map_err(|error| fault(&error))?.len();
        let metadata = self.metadata.metadata();
        let unit = guarded(name, || {
            let mut claims = Vec::with_capacity(groups.len());
            for &group in &groups {
                let checked = pages::check(&file, file_bytes, metadata.row_group(group));
                claims.push(checked.map_err(|what| fault(&what))?);
            }
            let types = self.metadata.schema().fields().iter().map(|field| field.data_type());
            content::check_types(types, rows).map_err(|what| fault(&what))?;
            let groups = groups.into_iter().zip(claims).collect();
            let content = content::Content::new(file.into_plain(), &self.metadata, groups);
            let levels = parquet_to_arrow_field_levels(
                metadata.file_metadata().schema_descr(),
                ProjectionMask::all(),
                Some(self.metadata.schema().fields()),
            );
            let reader = levels.and_then(|levels| {
                ParquetRecordBatchReader::try_new_with_row_groups(
                    &levels, &content, batch_rows, None,
                )
            });
            let reader = reader.map_err(|error| fault(&error))?;
            reader.map(|batch| batch.map_err(|error| fault(&error))).collect::<Result<Unit, _>>()
        })?;
        let found = unit.iter().map(|batch| batch.num_rows() as u64).sum::<u64>();
        if found != rows {
            return Err(fault(&format_args!(
                "the file is corrupt: {found} rows instead of {rows}"
            )));
        }
        Ok(unit)
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
