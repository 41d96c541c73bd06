//! Keys with positions, put aside on disk in parts by the bits of the keys.

use std::sync::{Mutex, PoisonError};

use super::aside::{Aside, Disk};
use super::numbers::Numbers;
use crate::dedup::{Firsts, Rows};
use crate::key::{Hasher, Key};
use crate::pipeline::Error;
use crate::set::Loader;
use crate::threads;

/// Bits of a key that tell the partition of the set, its top ones.
const SET_BITS: u32 = Rows::PARTITIONS.trailing_zeros();

/// Further bits that tell the part within a partition.
const PART_BITS: u32 = 2;

/// Bytes of a row: a key, and its position as an offset from the first one of its piece.
const ROW: usize = size_of::<u128>() + size_of::<u32>();

/// The fewest rows that are written at once.
const MIN_ROWS: usize = 64;

/// All rows: a group of parts for each partition of the set, so that partitions fill theirs at the same time.
#[derive(Debug)]
pub(super) struct Heap {
    pub(super) file: Aside,
    pub(super) groups: Vec<Group>,
}

/// The parts of one partition of the set.
#[derive(Debug)]
pub(super) struct Group {
    parts: [Part; 1 << PART_BITS],
    /// Rows that are gathered before they are written.
    capacity: usize,
    pub(super) fault: Option<Error>,
}

/// Rows whose keys have the same top bits, in the order of their positions.
#[derive(Debug, Default)]
struct Part {
    pieces: Vec<Piece>,
    /// Rows in all.
    rows: u64,
    /// Rows that are not yet written, and the position of the first one.
    keys: Vec<u128>,
    offsets: Vec<u32>,
    base: u64,
}

/// Rows on disk: keys, and then offsets.
#[derive(Clone, Copy, Debug)]
struct Piece {
    at: u64,
    count: u32,
    base: u64,
}

impl Heap {
    /// An empty heap whose buffers take `bytes` of memory at the most, or a little when that is too few.
    pub(super) fn new(disk: &Disk, bytes: usize) -> Result<Heap, Error> {
        let capacity = (bytes / (Rows::PARTITIONS << PART_BITS) / ROW).max(MIN_ROWS);
        let group = || Group { parts: Default::default(), capacity, fault: None };
        let groups = (0..Rows::PARTITIONS).map(|_| group()).collect();
        Ok(Heap { file: disk.file()?, groups })
    }

    /// The first fault that a group met with.
    pub(super) fn fault(&mut self) -> Option<Error> {
        self.groups.iter_mut().find_map(|group| group.fault.take())
    }

    /// For each part the positions of the rows that are the first with their key, rising; each as its distance from the
    /// one before, the first from 0, written to `to`. And the number of all of them. Their public keys, by the
    /// hasher beside it, are given to `new_keys`, in no order. Takes about `bytes` of memory.
    pub(super) fn firsts(
        self,
        to: &Aside,
        bytes: usize,
        new_keys: Option<(&mut Loader, &Hasher)>,
    ) -> Result<(Vec<Numbers>, u64), Error> {
        let Heap { file, groups } = self;
        let bytes = bytes / rayon::current_num_threads();
        // As many as there are threads.
        let tables: Mutex<Vec<Firsts>> = Mutex::default();
        let parts: Vec<Part> = groups.into_iter().flat_map(|group| group.parts).collect();
        let new_keys = new_keys.map(|(loader, hasher)| (Mutex::new(loader), hasher));
        let found = threads::map(parts, |part: Part| {
            let used = tables.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let mut table = used.unwrap_or_default();
            let new_keys = new_keys.as_ref().map(|(loader, hasher)| (loader, *hasher));
            let mut found = Rising { new_keys, ..Rising::new(to) };
            let done = part.firsts(&file, &mut table, bytes, &mut found);
            let found = done.and_then(|()| found.finish());
            tables.lock().unwrap_or_else(PoisonError::into_inner).push(table);
            found
        });
        let found = found.into_iter().collect::<Result<Vec<_>, Error>>()?;
        let count = found.iter().map(|&(_, count)| count).sum();
        Ok((found.into_iter().map(|(numbers, _)| numbers).collect(), count))
    }
}

impl Group {
    /// Adds a row behind all others of its part; what fails is kept as a fault.
    #[inline(always)]
    pub(super) fn push(&mut self, key: Key, position: u64, file: &Aside) {
        let number = (key.0 >> (128 - SET_BITS - PART_BITS)) as usize % self.parts.len();
        let part = &mut self.parts[number];
        let is_full =
            part.keys.len() >= self.capacity || position - part.base > u64::from(u32::MAX);
        if is_full && let Err(error) = part.write(file) {
            self.fault.get_or_insert(error);
        }
        if part.keys.is_empty() {
            part.begin(self.capacity, position);
        }
        part.keys.push(key.0);
        part.offsets.push((position - part.base) as u32);
        part.rows += 1;
    }
}

impl Part {
    #[cold]
    fn begin(&mut self, capacity: usize, position: u64) {
        self.base = position;
        self.keys.reserve_exact(capacity);
        self.offsets.reserve_exact(capacity);
    }

    #[cold]
    fn write(&mut self, file: &Aside) -> Result<(), Error> {
        let (keys, offsets) =
            (bytemuck::cast_slice(&self.keys), bytemuck::cast_slice(&self.offsets));
        let at = file.append(&[keys, offsets])?;
        self.pieces.push(Piece { at, count: self.keys.len() as u32, base: self.base });
        self.keys.clear();
        self.offsets.clear();
        Ok(())
    }

    /// Calls `each` for all pieces of rows in their order.
    fn read(
        &self,
        file: &Aside,
        mut each: impl FnMut(&[u128], u64, &[u32]) -> Result<(), Error>,
    ) -> Result<(), Error> {
        let (mut keys, mut offsets) = (Vec::new(), Vec::new());
        for piece in &self.pieces {
            let count = piece.count as usize;
            keys.resize(count, 0u128);
            offsets.resize(count, 0u32);
            file.read(bytemuck::cast_slice_mut(&mut keys), piece.at)?;
            let behind = piece.at + size_of_val(&keys[..]) as u64;
            file.read(bytemuck::cast_slice_mut(&mut offsets), behind)?;
            each(&keys, piece.base, &offsets)?;
        }
        each(&self.keys, self.base, &self.offsets)
    }

    /// Finds the first rows of each key ([`Heap::firsts`]).
    fn firsts(
        self,
        file: &Aside,
        table: &mut Firsts,
        bytes: usize,
        found: &mut Rising<'_, '_>,
    ) -> Result<(), Error> {
        let passes = self.passes(bytes);
        table.clear();
        table.reserve((self.rows / passes) as usize);
        if passes == 1 {
            return self.read(file, |keys, base, offsets| {
                let mut done = Ok(());
                table.take(
                    keys,
                    bytes,
                    |_| true,
                    |row| {
                        if done.is_ok() {
                            done = found.push(base + u64::from(offsets[row]), keys[row]);
                        }
                    },
                );
                done
            });
        }
        let marks = self.marks(file, table, bytes, passes)?;
        let mut row = 0;
        self.read(file, |keys, base, offsets| {
            for (&key, &offset) in keys.iter().zip(offsets) {
                if marks[row / 64] >> (row % 64) & 1 != 0 {
                    found.push(base + u64::from(offset), key)?;
                }
                row += 1;
            }
            Ok(())
        })
    }

    /// In how many passes, a power of two, the keys are worked on so that each fits `bytes`.
    fn passes(&self, bytes: usize) -> u64 {
        // Passes are not filled quite alike.
        let room = (Firsts::room(bytes) / 8 * 7).max(MIN_ROWS * 16) as u64;
        self.rows.div_ceil(room).max(1).next_power_of_two()
    }

    /// A bit for each row, set where it is the first of its key; found by `passes` over the rows, each for the keys that
    /// have the same bits behind those of the part.
    fn marks(
        &self,
        file: &Aside,
        table: &mut Firsts,
        bytes: usize,
        passes: u64,
    ) -> Result<Vec<u64>, Error> {
        let mut marks = vec![0u64; self.rows.div_ceil(64) as usize];
        let shift = 128 - SET_BITS - PART_BITS - passes.trailing_zeros();
        for pass in 0..passes {
            table.clear();
            let mut start = 0;
            let is_wanted = |key: u128| (key >> shift) as u64 % passes == pass;
            self.read(file, |keys, _, _| {
                table.take(keys, bytes, is_wanted, |i| {
                    let row = start + i;
                    marks[row / 64] |= 1 << (row % 64);
                });
                start += keys.len();
                Ok(())
            })?;
        }
        Ok(marks)
    }
}

/// Keys that are handed on at once.
const KEYS: usize = 1 << 12;

/// Rising positions, written as distances, and the keys that stand there.
struct Rising<'f, 'l> {
    file: &'f Aside,
    numbers: Numbers,
    last: u64,
    count: u64,
    /// Takes the public keys, if anybody does, and what makes them.
    new_keys: Option<(&'f Mutex<&'l mut Loader>, &'f Hasher)>,
    keys: Vec<Key>,
}

impl Rising<'_, '_> {
    fn new(file: &Aside) -> Rising<'_, '_> {
        let (numbers, keys) = (Numbers::default(), Vec::new());
        Rising { file, numbers, last: 0, count: 0, new_keys: None, keys }
    }

    #[inline]
    fn push(&mut self, position: u64, key: u128) -> Result<(), Error> {
        self.count += 1;
        let before = std::mem::replace(&mut self.last, position);
        self.numbers.push(position - before, self.file)?;
        if self.new_keys.is_some() {
            self.keys.push(Key(key));
            if self.keys.len() >= KEYS {
                self.hand_on()?;
            }
        }
        Ok(())
    }

    #[cold]
    fn hand_on(&mut self) -> Result<(), Error> {
        if let Some((loader, hasher)) = self.new_keys {
            let mut loader = loader.lock().unwrap_or_else(PoisonError::into_inner);
            loader.push_alone(self.keys.drain(..).map(|key| hasher.public(key)))?;
        }
        Ok(())
    }

    /// The positions and their number.
    fn finish(mut self) -> Result<(Numbers, u64), Error> {
        self.hand_on()?;
        Ok((self.numbers, self.count))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn agrees_with_a_tree_set_in_any_memory() {
        let dir = tempfile::tempdir().unwrap();
        let disk = Disk::new(dir.path());
        let hasher = Hasher::random();
        // Positions with gaps, one of them beyond 32 bits.
        let rows: Vec<(Key, u64)> = (0..300_000u64)
            .map(|i| {
                (hasher.key(&(i * i % 200_003).to_le_bytes()), i * 3 + (i / 100_000) * (5 << 32))
            })
            .collect();
        let mut seen = BTreeSet::new();
        let expected: Vec<u64> = rows
            .iter()
            .filter(|(key, _)| seen.insert(*key))
            .map(|&(_, position)| position)
            .collect();
        for (buffers, bytes) in [(0, 0), (1 << 20, 1 << 16), (64 << 20, 64 << 20)] {
            let mut heap = Heap::new(&disk, buffers).unwrap();
            for &(key, position) in &rows {
                let group = (key.0 >> (128 - SET_BITS)) as usize;
                heap.groups[group].push(key, position, &heap.file);
            }
            assert!(heap.fault().is_none());
            let to = disk.file().unwrap();
            let (streams, count) = heap.firsts(&to, bytes, None).unwrap();
            let mut found = Vec::new();
            for stream in streams {
                let (mut reading, mut position) = (stream.read(), 0);
                while let Some(distance) = reading.next(&to).unwrap() {
                    position += distance;
                    found.push(position);
                }
            }
            found.sort();
            assert!(found == expected, "{bytes}");
            assert_eq!(count, expected.len() as u64);
        }
    }
}
