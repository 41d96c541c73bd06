//! Classes whose records wait until everything is read.
//!
//! [`ClassSet`] gathers the classes; the position of a record is the number of lines before it, in all sources.
//! Survivors are written from memory, or, if their texts are not needed before, from a second reading of the sources
//! ([`super::reread`]).

use std::io::Write;
use std::sync::Mutex;

use super::forecast::Forecast;
use super::invalid;
use super::long::{Bytes, LongRecord, Records, Spool};
use super::numbered::{KeptRows, Numbered};
use super::reread::{Reread, Unit};
use super::scan;
use super::work::ChunkWork;
use super::writer::RecordWriter;
use crate::io::{Shape, Source};
use crate::pipeline::engine::rows::{RowRun, forget_decoded};
use crate::pipeline::{ClassOptions, Emit, Error, OnInvalid, Report, Select, Settings, Sinks};
use crate::survivors::{Batch, ClassSet, FoundClasses, Record, Wanted};
use uriscan_core::dedup::Rows;
use uriscan_core::index::Index;

/// The classes of lines or of rows so far.
pub(crate) struct Gathered<'s> {
    pub(crate) options: ClassOptions,
    pub(crate) settings: Settings,
    pub(crate) writer: RecordWriter,
    /// Lines so far, in all sources.
    lines: u64,
    /// What is kept of rows, if the records are rows of tables.
    kept: KeptRows,
    /// `None` once everything is read.
    classes: Option<ClassSet<'s>>,
    forecast: Forecast,
    results: Results,
    /// Overlong records that count as written, and are not yet.
    long: u64,
}

/// Where the results come from once everything is read.
pub(crate) enum Results {
    /// From memory or spill files; with the overlong records.
    Held(Spool),
    /// From the sources, which are read once more; with the number of overlong records that are to be written.
    Reread { sources: Mutex<Vec<Source>>, long: u64 },
}

/// The chunks of a batch that hold whole records.
struct Scanned<'b, R>(Vec<&'b ChunkWork<R>>);

impl<R: AsRef<Numbered> + Sync> Batch for Scanned<'_, R> {
    fn keys(&self) -> Vec<&Rows> {
        self.0.iter().map(|work| &work.rows.as_ref().keyed.rows).collect()
    }

    #[inline(always)]
    fn record(&self, chunk: usize, row: usize) -> Record<'_> {
        let ChunkWork { chunk, rows, .. } = self.0[chunk];
        let rows = rows.as_ref();
        (rows.position_of(row), rows.text(row, chunk.text.padded().content()))
    }

    #[inline(always)]
    fn position(&self, chunk: usize, row: usize) -> u64 {
        self.0[chunk].rows.as_ref().position_of(row)
    }

    fn bytes(&self) -> usize {
        let of =
            |work: &ChunkWork<R>| work.rows.as_ref().kept_bytes(work.chunk.text.padded().len());
        self.0.iter().map(|work| of(work)).sum()
    }
}

impl<'s> Gathered<'s> {
    /// No records; `classes` are those of what is `kept` of them.
    pub(crate) fn new(
        (options, settings): (ClassOptions, Settings),
        kept: KeptRows,
        writer: RecordWriter,
        classes: ClassSet<'s>,
        results: Results,
        forecast: Forecast,
    ) -> Gathered<'s> {
        let classes = Some(classes);
        Gathered { options, settings, writer, lines: 0, kept, classes, forecast, results, long: 0 }
    }

    /// Whether the sources are read once more.
    pub(crate) fn is_reread(&self) -> bool {
        matches!(self.results, Results::Reread { .. })
    }

    /// The same after so many lines, whose records have been written.
    pub(crate) fn after(self, lines: u64) -> Gathered<'s> {
        Gathered { lines, ..self }
    }

    /// Numbers the records that were found in the chunk of `work`, which has this `index`, or a text of `len` bytes if
    /// they are rows.
    #[inline(always)]
    pub(crate) fn number<R: AsMut<Numbered> + AsMut<scan::KeyedRecords>>(
        &self,
        index: &Index,
        work: &mut ChunkWork<R>,
        len: Option<usize>,
    ) {
        let ChunkWork { chunk, rows, origins, lines_before, .. } = &mut *work;
        let numbered: &mut Numbered = rows.as_mut();
        match len {
            None => {
                numbered.number(index);
                if let (Results::Held(_), Some(before)) = (&self.results, *lines_before) {
                    numbered.number_by(origins, before);
                }
            }
            Some(len) => numbered.number_rows((chunk.text.padded().content(), len), self.kept),
        }
        forget_decoded(work, len);
    }

    /// Adds the records of the chunks of `batch` to their classes.
    pub(crate) fn gather<R: AsMut<Numbered> + AsRef<Numbered> + Sync>(
        &mut self,
        batch: &mut [ChunkWork<R>],
    ) -> Result<(), Error> {
        batch.iter_mut().for_each(|work| self.number_lines(work));
        let scanned = batch.iter().filter(|work| work.chunk.shape == Shape::Records);
        self.insert(&Scanned(scanned.collect()))?;
        self.forecast.add(batch.iter().map(|work| work.report.bytes).sum());
        Ok(())
    }

    /// Adds the records of a batch to their classes.
    fn insert(&mut self, scanned: &impl Batch) -> Result<(), Error> {
        let Some(mut classes) = self.classes.take() else { return Ok(()) };
        let expected = self.forecast.expected(classes.len());
        let rest = self.forecast.rest();
        let done = classes.insert(scanned, expected, rest);
        self.classes = Some(classes);
        Ok(done?)
    }

    /// Numbers the lines of the chunk of `work`, and keeps a piece of an overlong record.
    fn number_lines<R: AsMut<Numbered>>(&mut self, work: &mut ChunkWork<R>) {
        self.writer.origins.note(self.lines, work.chunk.source);
        let rows = work.rows.as_mut();
        if work.chunk.shape == Shape::Records {
            if let Results::Held(spool) = &mut self.results {
                // They are written with the others, as long ones are.
                let text = work.chunk.text.padded().content();
                let table = &rows.keyed.table;
                let places = rows.passed(text, self.kept);
                for (&passed, place) in table.passed.iter().zip(places) {
                    let mut row = Vec::new();
                    self.writer.push_passed((passed, table.header), text, &mut row);
                    spool.begin(self.lines + place);
                    spool.add(row.strip_suffix(b"\n").unwrap_or(&row));
                }
            }
            rows.position = self.lines;
            self.lines += rows.line_count;
            return;
        }
        let is_first = work.chunk.shape == Shape::LongFirst;
        // As the driver has it: a secret in such a record could not be found.
        let is_writable = !self.settings.redact || self.options.dedup.emit == Emit::Key;
        let is_passed = self.options.dedup.on_invalid == OnInvalid::Pass;
        self.long += u64::from(is_first && is_passed);
        if is_passed && is_writable {
            match &mut self.results {
                Results::Reread { long, .. } => *long += u64::from(is_first),
                Results::Held(spool) => {
                    if is_first {
                        spool.begin(self.lines);
                    }
                    let piece = work.chunk.text.padded().content();
                    let end = [self.settings.record_end];
                    spool.add(match work.chunk.shape {
                        Shape::LongLast => piece.strip_suffix(&end).unwrap_or(piece),
                        _ => piece,
                    });
                }
            }
        }
        self.lines += u64::from(is_first);
    }

    /// Writes what has been gathered, once everything is read; the sources are tables of `rows`, if they are tables and
    /// are read again.
    pub(crate) fn write(
        &mut self,
        rows: Option<&RowRun>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        let Some(classes) = self.classes.take() else { return Ok(()) };
        let wanted = Wanted {
            lines: matches!(self.results, Results::Held(_)),
            dupes: sinks.dupes.is_some(),
            clusters: sinks.clusters.is_some(),
        };
        let mut found = classes.finish(self.lines, wanted, &self.writer)?;
        report.duplicates += found.duplicates;
        report.seen = found.seen;
        report.spilled = found.spilled;
        let on_invalid = self.options.dedup.on_invalid;
        let (writer, settings) = (&self.writer, self.settings);
        match &mut self.results {
            Results::Held(spool) => {
                let (long, bytes) = spool.finish()?;
                let is_passed = writer.is_of_table();
                let long = LongRecords { writer, settings, records: long, bytes, is_passed };
                report.written -= self.long;
                long.write_with(&mut found, report, sinks)
            }
            Results::Reread { sources, long } => {
                let mut sources =
                    std::mem::take(sources.get_mut().unwrap_or_else(|e| e.into_inner()));
                // Those before the first row are empty.
                sources.drain(..rows.map_or(0, |rows| rows.start().0));
                let rows = rows.map(|rows| rows.of_part(rows.start()));
                let unit = if rows.is_some() { Unit::Bytes } else { Unit::Lines };
                let survivors = found.survivors()?;
                let reread = Reread { writer, on_invalid, unit, survivors, settings, rows };
                let written = reread.write(sources, sinks)?;
                report.written = written.written;
                report.withheld = written.withheld;
                if writer.select() == Select::Repeated {
                    report.withheld += *long;
                }
                Ok(())
            }
        }
    }
}

/// Overlong records, or rows that are in no class, which are written with the others.
struct LongRecords<'w> {
    writer: &'w RecordWriter,
    settings: Settings,
    records: Records,
    bytes: Bytes,
    /// Whether all of them are passed on, and count as nothing.
    is_passed: bool,
}

impl LongRecords<'_> {
    /// Writes everything.
    fn write_with(
        mut self,
        found: &mut FoundClasses<'_>,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        if let Some(sink) = &mut sinks.dupes {
            found.write_dupes(sink)?;
        }
        while let Some(record) = self.records.next()? {
            write_classes(found, record.position, sinks)?;
            self.write(record, report, sinks)?;
        }
        write_classes(found, u64::MAX, sinks)?;
        report.written += found.written;
        report.withheld += found.withheld;
        Ok(())
    }

    /// Writes the next record. It is equivalent to no other.
    fn write(
        &mut self,
        record: LongRecord,
        report: &mut Report,
        sinks: &mut Sinks<'_>,
    ) -> Result<(), Error> {
        if self.writer.select() == Select::Repeated && !self.is_passed {
            report.withheld += 1;
            return self.bytes.skip(record.len);
        }
        report.written += u64::from(!self.is_passed);
        match self.writer.long_record() {
            invalid::LongRecord::Row(row) => {
                self.bytes.skip(record.len)?;
                sinks.out.write_all(&row).map_err(Error::write)?;
            }
            invalid::LongRecord::Filtered(_) => self.bytes.skip(record.len)?,
            invalid::LongRecord::AsIs { head } => {
                sinks.out.write_all(&head).map_err(Error::write)?;
                self.bytes.copy(record.len, &mut *sinks.out)?;
                sinks.out.write_all(&[self.settings.record_end]).map_err(Error::write)?;
            }
        }
        if let Some(clusters) = sinks.clusters.as_mut().filter(|_| !self.is_passed) {
            let mut row = Vec::new();
            self.writer.push_long_cluster(record.position, record.len, &mut row);
            clusters.write_all(&row).map_err(Error::write)?;
        }
        Ok(())
    }
}

/// Writes the classes whose survivors are before the position `end`.
fn write_classes(
    found: &mut FoundClasses<'_>,
    end: u64,
    sinks: &mut Sinks<'_>,
) -> Result<(), Error> {
    let clusters = sinks.clusters.as_mut();
    Ok(found.write_classes(end, Some(&mut *sinks.out), clusters.map(|sink| sink as _))?)
}
