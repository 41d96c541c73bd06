//! Deduplication beyond memory.
//!
//! As long as the set of keys has room, nothing here takes part. When it has none, it is frozen: records that it
//! knows are duplicates and are done with; of all others the key and the position (bytes of the input before the
//! record, from here on) are put aside on disk, in parts by the bits of the keys ([`heap`]). At the end of the input
//! the set makes room, and each part is deduplicated by itself, which gives the positions of first records, in order
//! ([`numbers`]). Then the input is read again from where the set was frozen, and what stands at these positions
//! is written ([`again`]); of what can be read only once, a copy was kept ([`input`]).

mod again;
mod aside;
mod heap;
mod input;
mod numbers;
mod positions;
#[cfg(feature = "parquet")]
mod rows;
#[cfg(feature = "parquet")]
mod tape;

use std::path::PathBuf;

use super::dedup::Found;
use super::driver::Slot;
use super::members::{Seen, forget};
use super::{DedupOptions, Error, Settings, Sinks};
use crate::chunk::Span;
use crate::dedup::{Rows, Set};
use crate::io::{Chunk, Shape};
use crate::key::Hasher;
use crate::set::Loader;
use crate::threads;
pub(super) use again::Written;
pub(super) use aside::{Aside, Disk};
use heap::Heap;
use input::Input;
pub(super) use input::{Places, places_of};
#[cfg(feature = "parquet")]
pub(crate) use rows::{FirstRows, RowsAside};
#[cfg(feature = "parquet")]
pub(crate) use tape::Tape;

/// How much memory may be taken, and where that goes which has no room in it.
///
/// The limit holds for the whole process, if nothing else in it takes memory, within a tenth and from 128 MiB on;
/// records of many megabytes come on top. Files in `temp_dir` have no names, and vanish with the run, however
/// it ends. They take up to 20 bytes for each record, and the length of all that is read from pipes and compressed
/// files.
///
/// ```
/// use uriscan::{io::Source, pipeline::{DedupOptions, MemoryLimit, Settings, Sinks, dedup}};
/// let limit = MemoryLimit::new(100 << 20, std::env::temp_dir());
/// let options = DedupOptions { limit: Some(limit), ..DedupOptions::default() };
/// let list = Source::new("list", &b"http://h\nHTTP://H:80/\nhttp://h/x\n"[..]);
/// let mut out = Vec::new();
/// let report = dedup(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h\nhttp://h/x\n");
/// assert_eq!(report.spilled, 0, "there was no need to");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryLimit {
    /// Bytes of memory.
    pub bytes: usize,
    /// The directory for files.
    pub temp_dir: PathBuf,
    /// Bytes for keys alone, for tests and measurements; what is left of `bytes` if that is not said.
    pub set_bytes: Option<usize>,
}

impl MemoryLimit {
    /// A limit of `bytes`, with files in `temp_dir`.
    pub fn new(bytes: usize, temp_dir: impl Into<PathBuf>) -> MemoryLimit {
        MemoryLimit { bytes, temp_dir: temp_dir.into(), set_bytes: None }
    }

    /// Bytes for the buffers of what is put aside.
    pub(super) fn buffer_bytes(&self) -> usize {
        (self.bytes / 16).min(64 << 20)
    }

    /// Bytes for keys where nothing else counts: neither the program nor what is being read and written.
    #[cfg(feature = "parquet")]
    pub(crate) fn bytes_for_keys(&self) -> usize {
        self.set_bytes.unwrap_or_else(|| self.bytes - self.buffer_bytes() * 5 / 4)
    }
}

/// What the process takes at the least besides the set and the buffers of chunks: the program, its stacks, what
/// threads keep.
const BASE: usize = 10 << 20;

/// Batches of chunks that are there at the same time.
const BATCHES: usize = 2;

/// Sees to it that the limit is kept.
#[derive(Debug)]
pub(super) struct Watch {
    pub(super) limit: MemoryLimit,
    /// Bytes of the buffers of the largest batch so far.
    batch: usize,
    /// Bytes that all but the set takes.
    others: usize,
}

impl Watch {
    pub(super) fn new(limit: MemoryLimit) -> Watch {
        Watch { limit, batch: 0, others: BASE }
    }

    /// `settings` with chunks so small that their buffers take a quarter of the limit at the most, where that is
    /// possible.
    pub(super) fn within(&self, settings: &Settings) -> Settings {
        let threads = match settings.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        };
        // Chunk, output and rows are thrice the text, unless records are very short.
        let chunks = BATCHES * super::driver::full_slots(threads) * 3;
        let most = (self.limit.bytes / 4 / chunks).max(4 << 10);
        Settings { chunk_bytes: settings.chunk_bytes.min(most), ..*settings }
    }

    /// Looks at what is taken beside the tables, which take `tables` bytes: the buffers of a batch, and when it gets tight
    /// all that the process has, which is more, as the allocator keeps what was freed and hands out whole pages.
    pub(super) fn see(&mut self, slots: &[Slot<Found>], tables: usize) {
        let bytes = |slot: &Slot<Found>| {
            let Slot { chunk, rows, out, rejects, .. } = slot;
            let spans = rows.spans.capacity() * size_of::<Span>();
            let texts = chunk.text.capacity() + out.capacity() + rejects.capacity();
            texts + spans + rows.rows.memory_bytes()
        };
        self.batch = self.batch.max(slots.iter().map(bytes).sum());
        self.others = BASE + BATCHES * self.batch;
        if self.is_tight(tables) {
            self.see_all(tables);
        }
    }

    /// Looks at all that the process has.
    pub(super) fn see_all(&mut self, tables: usize) {
        let all = resident_bytes().unwrap_or(0);
        self.others = self.others.max(all.saturating_sub(tables));
    }

    /// Whether so little is left beside `tables` bytes that all should be looked at.
    pub(super) fn is_tight(&self, tables: usize) -> bool {
        self.others + tables > self.limit.bytes / 3
    }

    /// Bytes for the set.
    pub(super) fn set_bytes(&self) -> usize {
        let rest = self.limit.bytes.saturating_sub(self.others + self.limit.buffer_bytes() * 5 / 4);
        self.limit.set_bytes.unwrap_or(rest)
    }

    /// Bytes for the keys of `classes` classes with their numbers, where `beside` bytes are held for these classes in
    /// other places.
    pub(super) fn keys_bytes(&self, beside: usize, classes: usize) -> usize {
        /// Bytes that a key takes in a table that has just grown.
        const KEY: usize = 32;
        if let Some(bytes) = self.limit.set_bytes {
            return bytes;
        }
        let room = self.set_bytes();
        let keys = classes.max(1) * KEY;
        let share = room as f64 * (keys as f64 / (keys + beside) as f64);
        room.saturating_sub(beside).min(share as usize)
    }

    /// Bytes for keys when the set is gone.
    pub(super) fn rest(&self) -> usize {
        let before = self.set_bytes();
        let free = resident_bytes().map_or(0, |all| self.limit.bytes.saturating_sub(all));
        self.limit.set_bytes.unwrap_or(before.max(free))
    }
}

/// Bytes of memory that the process has, if the system tells.
fn resident_bytes() -> Option<usize> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

/// All that was put aside since the set was frozen.
#[derive(Debug)]
pub(super) struct Spill {
    disk: Disk,
    heap: Heap,
    input: Input,
    /// Where in which source it begins.
    start: (usize, u64),
    /// Bytes of the input since then.
    taken: u64,
    /// Records too long to be judged since then.
    long: u64,
    fault: Option<Error>,
}

impl Spill {
    /// Begins with the first of `slots` that does not go on with a long record; `None` if there is none. About `more`
    /// records are still to come, if that is not 0.
    ///
    /// # Errors
    /// When there is no place on the disk.
    pub(super) fn begin(
        watch: &Watch,
        places: &Places,
        slots: &[Slot<Found>],
        more: u64,
    ) -> Result<Option<Spill>, Error> {
        let is_begin =
            |slot: &&Slot<Found>| matches!(slot.chunk.shape, Shape::Records | Shape::LongFirst);
        let Some(Slot { chunk, .. }) = slots.iter().find(is_begin) else { return Ok(None) };
        let disk = Disk::new(&watch.limit.temp_dir);
        let heap = Heap::new(&disk, watch.limit.buffer_bytes())?;
        // The number is a guess; half of it will hardly be too many.
        disk.need(more / 2 * 20)?;
        let input = Input::new(places.clone(), &disk);
        let start = (chunk.source, chunk.byte);
        Ok(Some(Spill { disk, heap, input, start, taken: 0, long: 0, fault: None }))
    }

    /// Whether `chunk` belongs to what is put aside.
    pub(super) fn has(&self, chunk: &Chunk) -> bool {
        (chunk.source, chunk.byte) >= self.start
    }

    /// Puts aside what of a batch neither the frozen `set` nor the one on disk knows. No row is a first one here.
    pub(super) fn take(
        &mut self,
        set: &Set,
        seen: Option<(&Seen<'_>, &Hasher)>,
        slots: &[Slot<Found>],
    ) {
        let mut scanned: Vec<(u64, &Slot<Found>)> = Vec::with_capacity(slots.len());
        let slots: Vec<&Slot<Found>> = slots.iter().filter(|slot| self.has(&slot.chunk)).collect();
        for &slot in &slots {
            match slot.chunk.shape {
                Shape::Records => scanned.push((self.taken, slot)),
                Shape::LongFirst => self.long += 1,
                Shape::LongRest | Shape::LongLast => {}
            }
            self.taken += slot.chunk.text.padded().len() as u64;
        }
        let Spill { heap, input, .. } = self;
        let (copied, put) = threads::both(
            || slots.iter().try_for_each(|slot| input.take(&slot.chunk)),
            || match seen {
                None => {
                    put_missing(heap, set, &scanned);
                    Ok(())
                }
                Some((seen, hasher)) => put_unseen(heap, set, seen, hasher, &scanned),
            },
        );
        let fault = copied.and(put).err().or_else(|| heap.fault());
        self.fault = self.fault.take().or(fault);
    }

    /// What went wrong.
    pub(super) fn fault(&mut self) -> Option<Error> {
        self.fault.take()
    }

    /// Forgets all that stands at `chunk` and behind it, or only what stands behind it if it holds whole records.
    pub(super) fn cut(&mut self, chunk: &Chunk) {
        let len = match chunk.shape {
            Shape::Records => chunk.text.padded().len() as u64,
            Shape::LongFirst | Shape::LongRest | Shape::LongLast => 0,
        };
        self.input.cut(chunk.source, chunk.byte + len);
    }

    /// Writes the first records of what was put aside, and gives their keys to `new_keys`. The set is gone by now.
    pub(super) fn write(
        self,
        options: &DedupOptions,
        settings: &Settings,
        watch: &Watch,
        new_keys: Option<&mut Loader>,
        sinks: &mut Sinks<'_>,
    ) -> Result<Written, Error> {
        let Spill { disk, heap, input, long, .. } = self;
        let file = disk.file()?;
        let new_keys = new_keys.map(|loader| (loader, &options.hasher));
        let (positions, firsts) = heap.firsts(&file, watch.rest(), new_keys)?;
        let again = again::Again::new(options, settings, positions, &file);
        let written = again.write(input.sources(), sinks)?;
        Ok(Written { firsts, written, long, spilled: disk.written() })
    }
}

/// Puts aside the records of a batch, each chunk with the bytes before it, that `set` does not know.
fn put_missing(heap: &mut Heap, set: &Set, scanned: &[(u64, &Slot<Found>)]) {
    let rows: Vec<&Rows> = scanned.iter().map(|(_, slot)| &slot.rows.rows).collect();
    let Heap { file, groups } = heap;
    set.find(&rows, groups, |group, chunk, row, key| {
        let (base, slot) = scanned[chunk];
        group.push(key, base + u64::from(slot.rows.spans[row].start), file);
    });
}

/// The same, without what `seen` knows.
fn put_unseen(
    heap: &mut Heap,
    set: &Set,
    seen: &Seen<'_>,
    hasher: &Hasher,
    scanned: &[(u64, &Slot<Found>)],
) -> Result<(), Error> {
    let rows: Vec<&Rows> = scanned.iter().map(|(_, slot)| &slot.rows.rows).collect();
    rows.iter().for_each(|rows| forget(rows));
    set.find(&rows, &mut [(); Rows::PARTITIONS], |(), chunk, row, _| {
        rows[chunk].set_first(row, true);
    });
    seen.overrule(hasher, &rows)?;
    let Heap { file, groups } = heap;
    threads::each(groups, |partition, group| {
        for &(base, Slot { rows: Found { spans, rows }, .. }) in scanned {
            for (key, row) in rows.in_partition(partition).filter(|&(_, row)| rows.is_first(row)) {
                group.push(key, base + u64::from(spans[row].start), file);
            }
        }
    });
    Ok(())
}
