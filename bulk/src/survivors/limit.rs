//! The memory limit of a run, and what of it is left for keys.

use std::path::PathBuf;

use uriscan_core::dedup::{Classes, CountedKeys, Rows};
use uriscan_files::read_to_string;

/// How much memory a run may take, and where it spills what does not fit.
///
/// The limit is enforced for the whole process, if nothing else in it takes memory, within a tenth and from 64 MiB on, for
/// up to eight threads; records of many megabytes come on top. Files in `temp_dir` have no names and are gone when the run
/// ends, however it ends. They take up to 22 bytes for each record, as much again for each time that distinct records are
/// sixteen times as many as have room, and the length of all that is read from pipes and compressed files.
///
/// ```
/// use uriscan_bulk::{io::Source, pipeline::{DedupOptions, MemoryLimit, Settings, Sinks, dedup}};
/// let limit = MemoryLimit::new(100 << 20, std::env::temp_dir());
/// let options = DedupOptions::default().limit(limit);
/// let list = Source::new("list", &b"http://h\nHTTP://H:80/\nhttp://h/x\n"[..]);
/// let mut out = Vec::new();
/// let report = dedup(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut out)).unwrap();
/// assert_eq!(out, b"http://h\nhttp://h/x\n");
/// assert_eq!(report.spilled, 0, "everything fits");
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
#[non_exhaustive]
pub struct MemoryLimit {
    /// Bytes of memory.
    pub bytes: usize,
    /// The directory for temporary files.
    pub temp_dir: PathBuf,
    /// Bytes for keys alone, for tests and measurements; by default what is left of `bytes`.
    pub set_bytes: Option<usize>,
}

setters! { MemoryLimit into { set_bytes: Option<usize> } }

impl MemoryLimit {
    /// A limit of `bytes`, with files in `temp_dir`.
    pub fn new(bytes: usize, temp_dir: impl Into<PathBuf>) -> MemoryLimit {
        MemoryLimit { bytes, temp_dir: temp_dir.into(), set_bytes: None }
    }

    /// Bytes for the buffers of spill files.
    pub(super) fn buffer_bytes(&self) -> usize {
        (self.bytes / 16).min(64 << 20)
    }
}

/// The least that a process takes besides keys and the buffers of chunks: the program, its stacks, what threads keep.
const BASE: usize = 10 << 20;

/// Batches of chunks that are in memory at the same time.
pub const BATCHES: usize = 2;

/// Enforces a memory limit: says how much of it is left for keys.
#[derive(Debug)]
pub struct Budget {
    pub(super) limit: MemoryLimit,
    /// Whether the limit is for the whole process, or for keys alone.
    is_of_process: bool,
    /// Bytes of the buffers of the largest batch so far.
    batch: usize,
    /// Bytes that everything but keys takes.
    others: usize,
}

impl Budget {
    /// A budget for the whole process.
    pub(crate) fn of_process(limit: MemoryLimit) -> Budget {
        Budget { limit, is_of_process: true, batch: 0, others: BASE }
    }

    /// A budget for keys, where neither the program nor what is being read and written counts.
    pub fn of_keys(limit: MemoryLimit) -> Budget {
        Budget { limit, is_of_process: false, batch: 0, others: 0 }
    }

    /// Notes that the buffers of a batch take `bytes`, beside tables of `tables` bytes. When memory gets tight, all that the
    /// process has counts, which is more: the allocator keeps what was freed, and hands out whole pages.
    pub(crate) fn note_batch(&mut self, bytes: usize, tables: usize) {
        if self.is_of_process {
            self.batch = self.batch.max(bytes);
            self.others = BASE + BATCHES * self.batch;
            self.measure_if_tight(tables);
        }
    }

    /// Measures what the process takes if little is left beside `tables` bytes.
    fn measure_if_tight(&mut self, tables: usize) {
        if self.is_of_process && self.others + tables > self.limit.bytes / 3 {
            let all = resident_bytes().unwrap_or(0);
            self.others = self.others.max(all.saturating_sub(tables));
        }
    }

    /// Bytes for keys.
    pub(crate) fn key_bytes(&self) -> usize {
        let rest = self.limit.bytes.saturating_sub(self.others + self.limit.buffer_bytes() * 5 / 4);
        self.limit.set_bytes.unwrap_or(rest)
    }

    /// Whether a batch with these `keys`, whose texts take `texts` bytes, has room in memory beside `classes`; `held` gives the bytes
    /// of what is kept of a partition once so many more classes have come.
    pub(super) fn has_room<P: Default + Send>(
        &mut self,
        classes: &mut Classes<P>,
        keys: &[&Rows],
        texts: usize,
        held: impl Fn(&P, usize) -> usize,
    ) -> bool {
        let count: usize = keys.iter().map(|rows| rows.len()).sum();
        let tables = classes.memory_bytes();
        let all = |more: usize| -> usize {
            classes.partitions().map(|kept| held(kept, more / Rows::PARTITIONS + 1)).sum()
        };
        self.measure_if_tight(tables + all(0));
        // Tables are not to take what will be needed for the same classes elsewhere.
        let most = self.numbered_key_bytes(all(count) + texts, classes.len() + count);
        classes.limit_to(most);
        tables <= most && classes.fits(keys)
    }

    /// Whether more rows have room in memory.
    pub(super) fn has_room_for_rows(&mut self, counted: &mut CountedKeys, keys: &[&Rows]) -> bool {
        self.measure_if_tight(counted.memory_bytes(&[]));
        let most = self.key_bytes();
        // Those that wait may be of few keys; but to see that is a pass over all.
        if counted.memory_bytes(keys) > most && counted.waiting() > counted.len() / 8 {
            counted.settle();
        }
        counted.memory_bytes(keys) <= most
    }

    /// Bytes for the keys of `classes` numbered classes, where `beside` bytes are held for these classes elsewhere.
    fn numbered_key_bytes(&self, beside: usize, classes: usize) -> usize {
        /// Bytes that a key takes in a table that has just grown.
        const KEY: usize = 32;
        if let Some(bytes) = self.limit.set_bytes {
            return bytes;
        }
        let room = self.key_bytes();
        let keys = classes.max(1) * KEY;
        let share = room as f64 * (keys as f64 / (keys + beside) as f64);
        room.saturating_sub(beside).min(share as usize)
    }

    /// Bytes for keys when those in memory have been dropped.
    pub(super) fn rest(&self) -> usize {
        let before = self.key_bytes();
        let free = resident_bytes().map_or(0, |all| self.limit.bytes.saturating_sub(all));
        self.limit.set_bytes.unwrap_or(if self.is_of_process { before.max(free) } else { before })
    }
}

/// Bytes of memory that `items` take while `more` come.
pub(super) fn grown<T>(items: &Vec<T>, more: usize) -> usize {
    let (needed, held) = (items.len() + more, items.capacity());
    size_of::<T>() * if needed > held { held + needed.max(2 * held) } else { held }
}

/// Bytes of memory that the process has, if the system reports it.
fn resident_bytes() -> Option<usize> {
    let status = read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: usize = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kilobytes.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use uriscan_core::key::Hasher;

    #[test]
    fn counted_keys_are_passed_over_only_if_many_rows_wait() {
        let hasher = Hasher::random();
        let rows_of = |count: u32| {
            let mut rows = Rows::default();
            (0..count).for_each(|i| rows.push(hasher.key(&i.to_le_bytes())));
            rows.partition();
            rows
        };
        let limit = MemoryLimit::new(1 << 20, "").set_bytes(1 << 20);
        let mut budget = Budget::of_keys(limit);
        let mut counted = CountedKeys::new();
        counted.insert(&[&rows_of(100_000)], |_, row| row as u64);
        counted.settle();
        for (count, waiting) in [(1_000, 1_000), (20_000, 0)] {
            counted.insert(&[&rows_of(count)], |_, row| 100_000 + row as u64);
            assert!(!budget.has_room_for_rows(&mut counted, &[&rows_of(1)]));
            assert_eq!(counted.waiting(), waiting, "of {count} rows");
        }
    }
}
