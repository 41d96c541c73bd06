//! Floor 6: which key stands for which other one, by evidence from outside (RFC 3986 section 6.2.4).
//!
//! A table of 128-bit keys: it knows nothing of URIs or of where the evidence came from. Chains are
//! followed to their end once, when the table is made. A key about which the evidence
//! contradicts itself, or that leads into a circle, stands for itself: nothing is merged on a guess.

use crate::key::Key;
use rayon::slice::ParallelSliceMut;

/// What the evidence says of one key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// There is none, or it says that the key stands for itself.
    Itself,
    /// The key stands for this one, the end of its chain.
    Target(Key),
    /// Two rows send it to different keys. It stands for itself, and ends the chains that lead to it.
    Conflict,
    /// Its chain leads into a circle. It stands for itself.
    Loop,
}

/// Rows of evidence on their way into an [`AliasTable`].
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

    /// Adds that `from` stands for `to`. A row that sends a key to itself says nothing and is left out.
    pub fn push(&mut self, from: Key, to: Key) {
        if from != to {
            self.0.push(Row { from: from.0, to: to.0 });
        }
    }

    /// Number of rows.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// For each key the end of its chain. 36 to 40 bytes per distinct key on the left side of the evidence.
///
/// ```
/// use uriscan::alias::{AliasRows, AliasTable, Verdict};
/// use uriscan::key::Hasher;
/// let hasher = Hasher::random();
/// let [a, b, c] = [&b"a"[..], b"b", b"c"].map(|text| hasher.key(text));
/// let mut rows = AliasRows::new();
/// rows.push(a, b);
/// rows.push(b, c);
/// let table = AliasTable::new(rows);
/// assert_eq!((table.target(a), table.target(c)), (c, c));
/// assert_eq!(table.verdict(a), Verdict::Target(c));
/// ```
#[derive(Clone, Debug, Default)]
pub struct AliasTable {
    /// Sorted by `from`, each once; `to` is the end of the chain, or one of the marks.
    rows: Vec<Row>,
    /// `starts[p]..starts[p + 1]` are the rows whose key has the top bits `p`.
    starts: Vec<u32>,
    /// How far a key is shifted to give its top bits.
    shift: u32,
    conflicts: u64,
    loops: u64,
}

/// No key has this value ([`Key::VACANT`]): the row is a conflict.
const CONFLICT: u128 = Key::VACANT;

impl AliasTable {
    /// The table of `rows`, on the current rayon pool.
    ///
    /// # Panics
    /// When there are 2^32 rows or more.
    pub fn new(rows: AliasRows) -> AliasTable {
        let mut rows = rows.0;
        assert!(u32::try_from(rows.len()).is_ok(), "rows are counted in 32 bits");
        rows.par_sort_unstable();
        let mut conflicts = 0;
        // Rows of one key stand together; equal ones are one, different ones a conflict.
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

    /// Puts the end of its chain into every row. A key in or before a circle is sent to itself.
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
            // The end of the chain, or `None` when it has none.
            let end = loop {
                let Row { from, to } = self.rows[at];
                match states[at] {
                    State::OnPath => break None,
                    // A row that is done holds its end; a loop is sent to itself, and so has none.
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

    /// Where `key` stands among the rows.
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

    /// The key that stands for `key`: the end of its chain, or itself.
    #[inline]
    pub fn target(&self, key: Key) -> Key {
        match self.verdict(key) {
            Verdict::Target(target) => target,
            _ => key,
        }
    }

    /// What the evidence says of `key`.
    #[inline]
    pub fn verdict(&self, key: Key) -> Verdict {
        match self.place(key.0).map(|place| self.rows[place].to) {
            None => Verdict::Itself,
            Some(CONFLICT) => Verdict::Conflict,
            Some(to) if to == key.0 => Verdict::Loop,
            Some(to) => Verdict::Target(Key(to)),
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

    /// Number of keys about which the evidence contradicts itself.
    pub fn conflicts(&self) -> u64 {
        self.conflicts
    }

    /// Number of keys whose chains lead into a circle.
    pub fn loops(&self) -> u64 {
        self.loops
    }

    /// Bytes of memory held.
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

    /// The plain oracle: one step after the other, with a list of what was seen.
    fn by_steps(rows: &[(u32, u32)], name: u32) -> Verdict {
        let mut map: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for &(from, to) in rows.iter().filter(|(from, to)| from != to) {
            map.entry(from).or_default().insert(to);
        }
        let Some(first) = map.get(&name) else { return Verdict::Itself };
        if first.len() > 1 {
            return Verdict::Conflict;
        }
        let (mut at, mut seen) = (name, BTreeSet::new());
        while seen.insert(at) {
            match map.get(&at) {
                Some(next) if next.len() == 1 => at = *next.first().unwrap(),
                _ => return Verdict::Target(key(at)),
            }
        }
        Verdict::Loop
    }

    #[test]
    fn chains_loops_and_conflicts() {
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
            (1, Verdict::Target(key(3))),
            (2, Verdict::Target(key(3))),
            (3, Verdict::Itself),
            (4, Verdict::Target(key(3))),
            (5, Verdict::Loop),
            (6, Verdict::Loop),
            (7, Verdict::Loop),
            (8, Verdict::Conflict),
            (9, Verdict::Itself),
            (11, Verdict::Target(key(8))),
            (12, Verdict::Itself),
            (13, Verdict::Target(key(14))),
        ] {
            assert_eq!(table.verdict(key(name)), expected, "{name}");
            assert_eq!(by_steps(&rows, name), expected, "{name}");
        }
        assert_eq!((table.len(), table.conflicts(), table.loops()), (9, 1, 3));
        assert_eq!(AliasTable::default().verdict(key(1)), Verdict::Itself);
    }

    #[test]
    fn a_long_chain_is_followed_to_its_end() {
        let rows: Vec<(u32, u32)> = (0..100_000).map(|i| (i, i + 1)).collect();
        let table = table(&rows);
        assert!((0..100_000).all(|name| table.target(key(name)) == key(100_000)));
        assert!(table.memory_bytes() <= 41 * 100_000);
    }

    proptest! {
        #[test]
        fn agrees_with_steps(rows in proptest::collection::vec((0u32..40, 0u32..40), 0..60)) {
            let table = table(&rows);
            let mut counts = (0, 0);
            for name in 0..40 {
                let verdict = table.verdict(key(name));
                prop_assert_eq!(verdict, by_steps(&rows, name), "{} in {:?}", name, rows);
                counts.0 += u64::from(verdict == Verdict::Conflict);
                counts.1 += u64::from(verdict == Verdict::Loop);
            }
            prop_assert_eq!(counts, (table.conflicts(), table.loops()));
        }
    }
}
