//! A set that numbers classes of rows with equal keys, and keeps something for each partition.

use super::numbered::Numbered;
use super::rows::{KeysOf, LOOK_AHEAD, PARTITIONS, Rows};
use super::table::Table;
use crate::key::Key;
use crate::threads;

/// What [`Classes::insert`] reports of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probed {
    /// The row's chunk, as an index into the chunks that were given.
    pub chunk: usize,
    /// The row in it.
    pub row: usize,
    /// The number of the row's key among those of its partition, from 0 in the order in which
    /// they came.
    pub class: u32,
    /// Whether the row is the first with its key.
    pub is_first: bool,
}

/// Rows of one chunk in one partition, one after the other, that were inserted: what [`Classes::insert_runs`] reports.
#[derive(Clone, Copy, Debug)]
pub struct ProbedRun<'r> {
    /// The chunk, as an index into the chunks that were given.
    pub chunk: usize,
    /// The rows that are the first with their keys. Their classes have the next numbers of the partition, in this order.
    pub firsts: &'r [u32],
    /// The classes of all others, and their rows, in the order of the rows.
    pub further: &'r [(u32, u32)],
}

/// Classes of rows with equal keys, cut into partitions; each has a `P` beside it, whatever the
/// caller keeps of its classes.
///
/// A place for a key is 21 bytes, and a quarter to a half of the places stay free.
///
/// ```
/// use uriscan_core::dedup::{Classes, Rows};
/// use uriscan::key::Hasher;
/// let hasher = Hasher::random();
/// let mut rows = Rows::default();
/// for text in ["a", "b", "a"] {
///     rows.push(hasher.key(text.as_bytes()));
/// }
/// rows.partition();
/// let mut classes = Classes::<Vec<u32>>::new();
/// classes.insert(&[&rows], |counts, probed| match probed.is_first {
///     true => counts.push(1),
///     false => counts[probed.class as usize] += 1,
/// });
/// let mut counts: Vec<u32> = classes.partitions().flatten().copied().collect();
/// counts.sort();
/// assert_eq!(counts, [1, 2]);
/// ```
pub struct Classes<P> {
    partitions: Vec<Partition<P>>,
    expected: usize,
    /// Bytes that the table of a partition should not exceed.
    most: usize,
}

struct Partition<P> {
    table: Table<Numbered>,
    lists: Lists,
    beside: P,
}

/// Room for the lists of [`ProbedRun`].
struct Lists {
    firsts: [u32; LONGEST_RUN],
    further: [(u32, u32); LONGEST_RUN],
}

/// Maximum number of rows of a [`ProbedRun`]: those of a chunk of usual size in a partition are fewer.
const LONGEST_RUN: usize = 256;

impl Lists {
    const EMPTY: Lists = Lists { firsts: [0; LONGEST_RUN], further: [(0, 0); LONGEST_RUN] };
}

impl<P: Default + Send> Default for Classes<P> {
    fn default() -> Classes<P> {
        Classes::new()
    }
}

impl<P: Default + Send> Classes<P> {
    /// No classes.
    pub fn new() -> Classes<P> {
        let partition =
            || Partition { table: Table::new(), lists: Lists::EMPTY, beside: P::default() };
        let partitions = (0..PARTITIONS).map(|_| partition()).collect();
        Classes { partitions, expected: 0, most: usize::MAX }
    }

    /// As [`super::Set::limit_to`], for keys and numbers.
    pub fn limit_to(&mut self, bytes: usize) {
        self.most = bytes / PARTITIONS;
    }

    /// As [`super::Set::fits`].
    pub fn fits(&self, chunks: &[&Rows]) -> bool {
        self.partitions.iter().enumerate().all(|(i, partition)| {
            let more = chunks.iter().map(|rows| rows.run(i).len()).sum();
            partition.table.fits(more, self.most)
        })
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        self.partitions.iter().map(|partition| partition.table.len()).sum()
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Bytes of memory held for keys and numbers.
    pub fn memory_bytes(&self) -> usize {
        self.partitions.iter().map(|partition| partition.table.memory_bytes()).sum()
    }

    /// Sets the estimated final number of classes; 0 if unknown. A
    /// wrong guess costs some time or some memory, nothing else.
    pub fn expect(&mut self, classes: u64) {
        self.expected = usize::try_from(classes).unwrap_or(0);
    }

    /// What is kept beside the partitions, in their order.
    pub fn partitions(&self) -> impl ExactSizeIterator<Item = &P> {
        self.partitions.iter().map(|partition| &partition.beside)
    }

    /// The same, to be changed; in parallel if the caller likes.
    pub fn partitions_mut(&mut self) -> Vec<&mut P> {
        self.partitions.iter_mut().map(|partition| &mut partition.beside).collect()
    }

    /// Calls `each` for all partitions, on the current rayon pool: with its place among them, the keys of its classes
    /// by their numbers, and what is kept beside it.
    pub fn by_number(&mut self, each: impl Fn(usize, Vec<Key>, &mut P) + Sync) {
        threads::each(&mut self.partitions, |i, partition| {
            each(i, partition.table.by_number(), &mut partition.beside);
        });
    }

    /// [`Classes::by_number`], with all that is kept: no classes are left, and the table of each partition is freed before `each` is
    /// called.
    pub fn take_by_number(&mut self, each: impl Fn(usize, Vec<Key>, P) + Sync) {
        threads::each(&mut self.partitions, |i, Partition { table, beside, .. }| {
            let keys = core::mem::replace(table, Table::new()).by_number();
            each(i, keys, core::mem::take(beside));
        });
    }

    /// Keeps some classes of each partition, on the current rayon pool, and the memory of its table: `keep` gets what
    /// is kept beside the partition and the keys of its classes by their numbers, and leaves the keys of those that are
    /// kept, which are numbered anew in this order.
    pub fn retain(&mut self, keep: impl Fn(&mut P, &mut Vec<Key>) + Sync) {
        threads::each(&mut self.partitions, |_, Partition { table, beside, .. }| {
            let mut keys = table.by_number();
            keep(beside, &mut keys);
            table.clear();
            for key in keys {
                table.insert(key.0);
            }
        });
    }

    /// Inserts the rows of all `chunks`, on the current rayon pool, and calls `each` for each with what
    /// is kept beside its partition.
    ///
    /// Rows of one partition come in their order, one after the other; partitions are worked on at
    /// the same time. Every chunk must have been through [`Rows::partition`] since its last row came.
    pub fn insert(&mut self, chunks: &[&Rows], each: impl Fn(&mut P, Probed) + Sync) {
        self.each_run(chunks, |Partition { table, beside, .. }, chunk, (keys, rows), ahead| {
            table.insert_all(keys.iter().copied(), ahead, |at, class, is_first| {
                each(beside, Probed { chunk, row: rows[at] as usize, class, is_first });
            });
        });
    }

    /// [`Classes::insert`], but calls `each` for many rows of a chunk in a partition at a time.
    ///
    /// Whether a row is the first with its key cannot be foreseen, so it is written to both lists, of which one grows.
    pub fn insert_runs(&mut self, chunks: &[&Rows], each: impl Fn(&mut P, ProbedRun<'_>) + Sync) {
        self.each_run(
            chunks,
            |Partition { table, lists, beside, .. }, chunk, (keys, rows), ahead| {
                for (keys, rows) in keys.chunks(LONGEST_RUN).zip(rows.chunks(LONGEST_RUN)) {
                    let Lists { firsts, further } = lists;
                    let (mut first_count, mut further_count) = (0, 0);
                    table.insert_all(keys.iter().copied(), ahead, |at, class, is_first| {
                        firsts[first_count] = rows[at];
                        further[further_count] = (class, rows[at]);
                        first_count += usize::from(is_first);
                        further_count += usize::from(!is_first);
                    });
                    let (firsts, further) = (&firsts[..first_count], &further[..further_count]);
                    each(beside, ProbedRun { chunk, firsts, further });
                }
            },
        );
    }

    /// Calls `insert` for each partition and each of `chunks`, in their order, with the keys of the chunk in the
    /// partition and their rows, for which there is room, and with the keys that follow, some way ahead, so that memory
    /// is asked for in time.
    #[inline(always)]
    fn each_run<'c>(
        &mut self,
        chunks: &'c [&'c Rows],
        insert: impl Fn(&mut Partition<P>, usize, (&'c [u128], &'c [u32]), &mut KeysOf<'c>) + Sync,
    ) {
        // A little more than its share for each, as partitions are not filled alike.
        let (expected, most) = (self.expected / PARTITIONS * 33 / 32, self.most);
        for (i, Partition { table, .. }) in self.partitions.iter_mut().enumerate() {
            let more = chunks.iter().map(|rows| rows.run(i).len()).sum();
            table.map_ahead(more, expected, most);
        }
        threads::each(&mut self.partitions, |i, partition| {
            let mut ahead = KeysOf::new(chunks, i);
            for &key in ahead.by_ref().take(LOOK_AHEAD) {
                partition.table.prefetch(key);
            }
            for (chunk, rows) in chunks.iter().enumerate() {
                let run = rows.run(i);
                partition.table.reserve(run.len(), expected, most);
                let keys = (&rows.sorted_keys[run.clone()], &rows.sorted_rows[run]);
                insert(partition, chunk, keys, &mut ahead);
            }
        });
    }
}

impl<P: Default + Send> core::fmt::Debug for Classes<P> {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Classes").field("len", &self.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Hasher;
    use std::collections::BTreeMap;

    #[test]
    fn classes_respect_their_memory_limit() {
        let hasher = Hasher::random();
        let mut classes = Classes::<()>::new();
        classes.limit_to(1 << 20);
        let mut count = 0u32;
        loop {
            let mut rows = Rows::default();
            (count..count + 500).for_each(|i| rows.push(hasher.key(&i.to_le_bytes())));
            rows.partition();
            if !classes.fits(&[&rows]) {
                break;
            }
            classes.insert(&[&rows], |(), _| ());
            count += 500;
        }
        let bytes = classes.memory_bytes();
        assert!(count > 25_000 && (1 << 19..=1 << 20).contains(&bytes), "{count} {bytes}");
    }

    #[test]
    fn retained_classes_are_numbered_anew() {
        let hasher = Hasher::random();
        let key = |i: u32| hasher.key(&i.to_le_bytes());
        let rows_of = |range: core::ops::Range<u32>| {
            let mut rows = Rows::default();
            range.for_each(|i| rows.push(key(i)));
            rows.partition();
            rows
        };
        let mut classes = Classes::<Vec<u32>>::new();
        let rows = rows_of(0..40_000);
        classes.insert(&[&rows], |found, probed| found.push(probed.row as u32));
        classes.retain(|found, keys| {
            found.retain(|i| i.is_multiple_of(3));
            *keys = found.iter().map(|&i| key(i)).collect();
        });
        assert_eq!(classes.len(), 13_334);
        let rows = rows_of(0..50_000);
        classes.insert(&[&rows], |found, probed| {
            let i = probed.row as u32;
            assert_eq!(probed.is_first, i >= 40_000 || !i.is_multiple_of(3), "{i}");
            match probed.is_first {
                true => found.push(i),
                false => assert_eq!(found[probed.class as usize], i),
            }
        });
        assert_eq!(classes.len(), 50_000);
    }

    #[test]
    fn a_chunk_without_rows_adds_nothing() {
        let mut classes = Classes::<u32>::new();
        let mut rows = Rows::default();
        rows.push(Hasher::random().key(b"http://h"));
        rows.partition();
        // The rows of a chunk that could not be read were never partitioned.
        let chunks = [&Rows::default(), &rows, &Rows::default()];
        classes.insert_runs(&chunks, |count, run| *count += run.firsts.len() as u32);
        classes.insert(&chunks, |count, probed| *count += u32::from(probed.is_first));
        assert_eq!((classes.len(), classes.partitions().sum::<u32>()), (1, 1));
    }

    #[test]
    fn runs_report_what_row_by_row_insertion_does() {
        let hasher = Hasher::random();
        let (mut by_row, mut by_run) =
            (Classes::<Vec<Probed>>::new(), Classes::<Vec<Probed>>::new());
        for batch in 0..4u32 {
            let chunks: Vec<Rows> = [0, 1, 700, 30_000]
                .map(|count| {
                    let mut rows = Rows::default();
                    let keys = (0..count).map(|i| (batch * 900 + i * i % 1_009).to_le_bytes());
                    keys.for_each(|bytes| rows.push(hasher.key(&bytes)));
                    rows.partition();
                    rows
                })
                .into();
            let chunks: Vec<&Rows> = chunks.iter().collect();
            by_row.insert(&chunks, |all, probed| all.push(probed));
            by_run.insert_runs(&chunks, |all, ProbedRun { chunk, firsts, further }| {
                let known = all.iter().filter(|probed| probed.is_first).count() as u32;
                let probed = |class, row, is_first| Probed { chunk, row, class, is_first };
                let firsts =
                    (known..).zip(firsts).map(|(class, &row)| probed(class, row as usize, true));
                let further =
                    further.iter().map(|&(class, row)| probed(class, row as usize, false));
                let mut run: Vec<Probed> = firsts.chain(further).collect();
                run.sort_by_key(|probed| probed.row);
                all.extend(run);
            });
        }
        assert_eq!(by_run.len(), by_row.len());
        assert!(by_run.len() > 1_009 && by_row.partitions().eq(by_run.partitions()));
    }

    #[test]
    fn classes_agree_with_a_tree_map_however_rows_are_cut() {
        let hasher = Hasher::random();
        let keys: Vec<Key> =
            (0..20_000u32).map(|i| hasher.key(&(i * i % 7_011).to_le_bytes())).collect();
        let mut members: BTreeMap<Key, Vec<usize>> = BTreeMap::new();
        for (i, &key) in keys.iter().enumerate() {
            members.entry(key).or_default().push(i);
        }
        let mut expected: Vec<Vec<usize>> = members.into_values().collect();
        expected.sort();
        for chunk_rows in [1usize, 7, 1000, 20_000] {
            let mut classes = Classes::<Vec<Vec<usize>>>::new();
            for (batch, batch_keys) in keys.chunks(chunk_rows * 5).enumerate() {
                let chunks: Vec<Rows> = batch_keys
                    .chunks(chunk_rows)
                    .map(|keys| {
                        let mut rows = Rows::default();
                        keys.iter().for_each(|&key| rows.push(key));
                        rows.partition();
                        rows
                    })
                    .collect();
                classes.insert(&chunks.iter().collect::<Vec<_>>(), |found, probed| {
                    assert_eq!(probed.is_first, found.len() == probed.class as usize);
                    if probed.is_first {
                        found.push(Vec::new());
                    }
                    found[probed.class as usize]
                        .push((batch * 5 + probed.chunk) * chunk_rows + probed.row);
                });
            }
            let mut found: Vec<Vec<usize>> = classes.partitions().flatten().cloned().collect();
            assert!(found.iter().all(|rows| rows.is_sorted()));
            classes.by_number(|_, class_keys, rows| {
                assert_eq!(class_keys.len(), rows.len());
                assert!(class_keys.iter().zip(rows).all(|(&key, rows)| key == keys[rows[0]]));
            });
            found.sort();
            assert!(found == expected, "{chunk_rows} rows a chunk");
            assert_eq!(classes.len(), expected.len());
        }
    }
}
