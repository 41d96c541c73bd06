//! Aliases of keys, by external evidence (RFC 3986 section 6.2.4).
//!
//! A table of 128-bit keys: it knows nothing about URIs or the source of the evidence. Chains are
//! followed to their end once, when the table is built. A key with contradictory evidence, or whose
//! chain leads into a loop, is not replaced: nothing is merged on a guess.

use crate::key::Key;
use rayon::slice::ParallelSliceMut;

/// The target of one key by the evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lookup {
    /// There is no evidence, or it maps the key to itself.
    Itself,
    /// The key is an alias of this one, the end of its chain.
    Target(Key),
    /// Two rows map it to different keys. It is not replaced, and ends the chains that lead to it.
    Conflict,
    /// Its chain leads into a loop. It is not replaced.
    Loop,
}

/// Collects the rows of evidence for an [`AliasTable`].
#[derive(Clone, Debug, Default)]
pub struct AliasRows(Vec<Row>);

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Row {
    from: u128,
    to: u128,
}

impl AliasRows {
    /// No rows.
    pub fn new() -> AliasRows {
        AliasRows::default()
    }

    /// Adds that `from` is an alias of `to`. A row that maps a key to itself has no effect and is
    /// ignored.
    pub fn push(&mut self, from: Key, to: Key) {
        if from != to {
            self.0.push(Row { from: from.0, to: to.0 });
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Maps each key to the end of its chain. 36 to 40 bytes per distinct key on the left side of the
/// evidence.
///
/// ```
/// use uriscan_core::alias::{AliasRows, AliasTable, Lookup};
/// use uriscan::key::Hasher;
/// let hasher = Hasher::random();
/// let [a, b, c] = [&b"a"[..], b"b", b"c"].map(|text| hasher.key(text));
/// let mut rows = AliasRows::new();
/// rows.push(a, b);
/// rows.push(b, c);
/// let table = AliasTable::new(rows);
/// assert_eq!((table.target(a), table.target(c)), (c, c));
/// assert_eq!(table.lookup(a), Lookup::Target(c));
/// ```
#[derive(Clone, Debug, Default)]
pub struct AliasTable {
    /// Sorted by `from`, each once; `to` is the end of the chain, or a marker.
    rows: Vec<Row>,
    /// `starts[p]..starts[p + 1]` are the rows whose key has the top bits `p`.
    starts: Vec<u32>,
    /// The shift that reduces a key to its top bits.
    shift: u32,
    conflicts: u64,
    loops: u64,
}

/// No key has this value ([`Key::VACANT`]): the row is a conflict.
const CONFLICT: u128 = Key::VACANT;

impl AliasTable {
    /// Builds the table of `rows`, on the current rayon pool.
    ///
    /// # Panics
    /// If there are 2^32 rows or more.
    pub fn new(rows: AliasRows) -> AliasTable {
        let mut rows = rows.0;
        assert!(u32::try_from(rows.len()).is_ok(), "rows are counted in 32 bits");
        rows.par_sort_unstable();
        let mut conflicts = 0;
        // Rows of one key are adjacent; equal ones merge, different ones conflict.
        rows.dedup_by(|next, kept| {
            if next.from != kept.from {
                return false;
            }
            if next.to != kept.to && kept.to != CONFLICT {
                kept.to = CONFLICT;
                conflicts += 1;
            }
            true
        });
        rows.shrink_to_fit();
        let bits = rows.len().max(2).ilog2();
        let shift = 128 - bits;
        let mut starts = vec![0u32; (1 << bits) + 1];
        for row in &rows {
            starts[(row.from >> shift) as usize + 1] += 1;
        }
        for i in 1..starts.len() {
            starts[i] += starts[i - 1];
        }
        let mut table = AliasTable { rows, starts, shift, conflicts, loops: 0 };
        table.follow_chains();
        table
    }

    /// Sets every row to the end of its chain. A key in or before a loop is mapped to itself.
    fn follow_chains(&mut self) {
        #[derive(Clone, Copy, PartialEq, Eq)]
        enum State {
            New,
            OnPath,
            Done,
        }
        let mut states = vec![State::New; self.rows.len()];
        let mut path = Vec::new();
        for first in 0..self.rows.len() {
            let mut at = first;
            // The end of the chain, or `None` if it has none.
            let end = loop {
                let Row { from, to } = self.rows[at];
                match states[at] {
                    State::OnPath => break None,
                    // A finished row holds its end; a loop is mapped to itself, and so has none.
                    State::Done if to == from => break None,
                    State::Done if to == CONFLICT => break Some(from),
                    State::Done => break Some(to),
                    State::New if to == CONFLICT => {
                        states[at] = State::Done;
                        break Some(from);
                    }
                    State::New => {}
                }
                states[at] = State::OnPath;
                path.push(at);
                match self.place(to) {
                    Some(next) => at = next,
                    None => break Some(to),
                }
            };
            for row in path.drain(..) {
                states[row] = State::Done;
                let row = &mut self.rows[row];
                row.to = end.unwrap_or(row.from);
                self.loops += u64::from(end.is_none());
            }
        }
    }

    /// The index of `key` in the rows.
    #[inline]
    fn place(&self, key: u128) -> Option<usize> {
        if self.rows.is_empty() {
            return None;
        }
        let bucket = (key >> self.shift) as usize;
        let (start, end) = (self.starts[bucket] as usize, self.starts[bucket + 1] as usize);
        let found = self.rows[start..end].iter().position(|row| row.from == key)?;
        Some(start + found)
    }

    /// Returns the target of `key`: the end of its chain, or `key` itself.
    #[inline]
    pub fn target(&self, key: Key) -> Key {
        match self.lookup(key) {
            Lookup::Target(target) => target,
            _ => key,
        }
    }

    /// Returns the target of `key`, or why it has none.
    #[inline]
    pub fn lookup(&self, key: Key) -> Lookup {
        match self.place(key.0).map(|place| self.rows[place].to) {
            None => Lookup::Itself,
            Some(CONFLICT) => Lookup::Conflict,
            Some(to) if to == key.0 => Lookup::Loop,
            Some(to) => Lookup::Target(Key(to)),
        }
    }

    /// Number of distinct keys on the left side of the evidence.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is no evidence.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Number of keys with contradictory evidence.
    pub fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// Number of keys whose chains lead into a loop.
    pub fn loops(&self) -> u64 {
        self.loops
    }

    /// Size in memory, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.rows.capacity() * size_of::<Row>() + self.starts.capacity() * size_of::<u32>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::Hasher;
    use proptest::prelude::*;
    use std::collections::{BTreeMap, BTreeSet};

    fn key(name: u32) -> Key {
        Hasher::with_secret([7; 32]).key(&name.to_le_bytes())
    }

    fn table(rows: &[(u32, u32)]) -> AliasTable {
        let mut aliases = AliasRows::new();
        rows.iter().for_each(|&(from, to)| aliases.push(key(from), key(to)));
        AliasTable::new(aliases)
    }

    /// The oracle: follows one step at a time, with a list of visited keys.
    fn by_steps(rows: &[(u32, u32)], name: u32) -> Lookup {
        let mut map: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(from, to) in rows.iter().filter(|(from, to)| from != to) {
            map.entry(from).or_default().insert(to);
        }
        let Some(first) = map.get(&name) else { return Lookup::Itself };
        if first.len() > 1 {
            return Lookup::Conflict;
        }
        let (mut at, mut seen) = (name, BTreeSet::new());
        while seen.insert(at) {
            match map.get(&at) {
                Some(next) if next.len() == 1 => at = *next.first().unwrap(),
                _ => return Lookup::Target(key(at)),
            }
        }
        Lookup::Loop
    }

    #[test]
    fn chains_are_followed_and_loops_and_conflicts_reported() {
        let rows = [
            (1, 2),
            (2, 3),
            (4, 3),
            (5, 6),
            (6, 7),
            (7, 6),
            (8, 9),
            (8, 10),
            (11, 8),
            (12, 12),
            (13, 14),
            (13, 14),
        ];
        let table = table(&rows);
        for (name, expected) in [
            (1, Lookup::Target(key(3))),
            (2, Lookup::Target(key(3))),
            (3, Lookup::Itself),
            (4, Lookup::Target(key(3))),
            (5, Lookup::Loop),
            (6, Lookup::Loop),
            (7, Lookup::Loop),
            (8, Lookup::Conflict),
            (9, Lookup::Itself),
            (11, Lookup::Target(key(8))),
            (12, Lookup::Itself),
            (13, Lookup::Target(key(14))),
        ] {
            assert_eq!(table.lookup(key(name)), expected, "{name}");
            assert_eq!(by_steps(&rows, name), expected, "{name}");
        }
        assert_eq!((table.len(), table.conflicts(), table.loops()), (9, 1, 3));
        assert_eq!(AliasTable::default().lookup(key(1)), Lookup::Itself);
    }

    #[test]
    fn a_long_chain_is_followed_to_its_end() {
        let rows: Vec<(u32, u32)> = (0..20_000).map(|i| (i, i + 1)).collect();
        let table = table(&rows);
        assert!((0..20_000).all(|name| table.target(key(name)) == key(20_000)));
        assert!(table.memory_bytes() <= 41 * 20_000);
    }

    proptest! {
        #[test]
        fn lookups_agree_with_following_the_rows_one_by_one(rows in proptest::collection::vec((0u32..40, 0u32..40), 0..60)) {
            let table = table(&rows);
            let mut counts = (0, 0);
            for name in 0..40 {
                let lookup = table.lookup(key(name));
                prop_assert_eq!(lookup, by_steps(&rows, name), "{} in {:?}", name, rows);
                counts.0 += u64::from(lookup == Lookup::Conflict);
                counts.1 += u64::from(lookup == Lookup::Loop);
            }
            prop_assert_eq!(counts, (table.conflicts(), table.loops()));
        }
    }
}
