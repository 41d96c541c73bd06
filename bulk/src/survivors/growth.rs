//! Whatever the records are, what spills is written and read a few times only, and the results are those in memory.

use super::classes::{Batch, ClassSet};
use super::firsts::FirstSet;
use super::keep::{ClassMode, Keep, Record, Select};
use super::limit::{Budget, MemoryLimit};
use super::writer::{ClassSession, ClassWriter, Wanted};
use uriscan_core::chunk::Prefix;
use uriscan_core::dedup::Rows;
use uriscan_core::key::Hasher;

/// Records of one kind: the class of each by its number, and its text.
struct Kind {
    name: &'static str,
    class: fn(u64) -> u64,
    text: fn(u64) -> String,
}

const KINDS: [Kind; 7] = [
    Kind { name: "equal", class: |_| 0, text: |_| "a:".to_owned() },
    Kind { name: "two spellings", class: |_| 0, text: |i| ["A:", "a:"][i as usize % 2].to_owned() },
    Kind { name: "distinct", class: |i| i, text: |i| format!("a:{i}") },
    Kind {
        name: "few classes",
        class: |i| i % 5,
        text: |i| format!("{:1$}", i % 5, (i % 11) as usize),
    },
    Kind { name: "in pairs", class: |i| i / 2, text: |i| format!("{}", i / 2) },
    Kind { name: "far apart", class: |i| i % 9_000, text: |i| format!("{}", i % 9_000) },
    Kind { name: "longer and longer", class: |i| i % 300, text: |i| "x".repeat(i as usize / 100) },
];

/// Some records, as one chunk.
struct Records {
    start: u64,
    rows: Rows,
    texts: Vec<String>,
}

impl Records {
    fn new(kind: &Kind, range: std::ops::Range<u64>, hasher: &Hasher) -> Records {
        let mut rows = Rows::default();
        range.clone().for_each(|i| rows.push(hasher.key(&(kind.class)(i).to_le_bytes())));
        rows.partition();
        Records { start: range.start, rows, texts: range.map(kind.text).collect() }
    }
}

impl Batch for Records {
    fn keys(&self) -> Vec<&Rows> {
        vec![&self.rows]
    }

    fn record(&self, _: usize, row: usize) -> Record<'_> {
        (self.start + row as u64, self.texts[row].as_bytes())
    }

    fn bytes(&self) -> usize {
        self.texts.iter().map(String::len).sum()
    }
}

/// Writes what it is given.
struct Plain(Select);

impl ClassWriter for Plain {
    fn select(&self) -> Select {
        self.0
    }

    fn session(&self) -> Box<dyn ClassSession + '_> {
        Box::new(Plain(self.0))
    }
}

fn shown(text: &[u8]) -> std::borrow::Cow<'_, str> {
    String::from_utf8_lossy(text)
}

impl ClassSession for Plain {
    fn result(&mut self, survivor: &[u8], count: u64, out: &mut Vec<u8>) {
        out.extend(format!("{count} {}\n", shown(survivor)).bytes());
    }

    fn dupe(
        &mut self,
        position: u64,
        record: Prefix<'_>,
        survivor: Option<Prefix<'_>>,
        out: &mut Vec<u8>,
    ) {
        let survivor = survivor.map(|survivor| shown(survivor.bytes()).into_owned());
        out.extend(format!("{position} {} {survivor:?}\n", shown(record.bytes())).bytes());
    }

    fn cluster_start(&mut self, survivor: &[u8], count: u64, out: &mut Vec<u8>) {
        out.extend(format!("{} {count} [", shown(survivor)).bytes());
    }

    fn cluster_member(&mut self, position: u64, member: &[u8], _: &[u8], out: &mut Vec<u8>) {
        let comma = if out.ends_with(b"}") { "," } else { "" };
        out.extend(format!("{comma}{{{position} {}}}", shown(member)).bytes());
    }

    fn cluster_end(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(b"]\n");
    }
}

/// Results, dupes and clusters.
type Answer = [Vec<u8>; 3];

/// The answer for so many records of `kind`, and the bytes that were written to disk and read.
fn classes(kind: &Kind, count: u64, mode: ClassMode, budget: Option<Budget>) -> (Answer, u64, u64) {
    let hasher = Hasher::with_secret([3; 32]);
    let mut set = ClassSet::new(mode, budget);
    for start in (0..count).step_by(1_000) {
        let batch = Records::new(kind, start..count.min(start + 1_000), &hasher);
        set.insert(&batch, 0, None).unwrap();
    }
    let dir = set.spill_dir().cloned();
    let (dupes, clusters) = (mode.has_members, mode.has_members);
    let wanted = Wanted { lines: mode.has_texts, dupes, clusters };
    let writer = Plain(if mode.has_members { Select::Repeated } else { Select::All });
    let mut found = set.finish(count, wanted, &writer).unwrap();
    let mut answer = Answer::default();
    let [out, dupes, clusters] = &mut answer;
    found.write_dupes(dupes).unwrap();
    if mode.has_texts {
        let clusters = mode.has_members.then_some(clusters as _);
        found.write_classes(u64::MAX, Some(out), clusters).unwrap();
    } else {
        let (mut survivors, mut window) = (found.survivors().unwrap(), Default::default());
        survivors.advance(count, &mut window).unwrap();
        out.extend(format!("{:?}", survivors.find(&mut window)).bytes());
    }
    let (written, read) = dir.map_or((0, 0), |dir| (dir.written(), dir.read()));
    (answer, written, read)
}

/// A budget of `bytes` for keys.
fn budget(bytes: usize, dir: &tempfile::TempDir) -> Option<Budget> {
    let limit = MemoryLimit::new(1 << 20, dir.path()).set_bytes(bytes);
    Some(Budget::of_process(limit))
}

#[test]
fn classes_are_those_in_memory_and_take_linear_work() {
    let dir = tempfile::tempdir().unwrap();
    let modes = [
        (Keep::First, false, false),
        (Keep::Last, false, false),
        (Keep::Shortest, false, false),
        (Keep::Max, true, false),
        (Keep::Last, true, false),
        (Keep::First, true, true),
        (Keep::Max, true, true),
    ];
    for (keep, has_texts, has_members) in modes {
        let mode = ClassMode { keep, has_texts, has_members, ..ClassMode::default() };
        for kind in &KINDS {
            for bytes in [1, 300_000] {
                let [(once, once_moved), (twice, twice_moved)] = [20_000, 40_000].map(|count| {
                    let expected = classes(kind, count, mode, None).0;
                    let (found, written, read) = classes(kind, count, mode, budget(bytes, &dir));
                    assert!(found == expected, "{} {mode:?} {bytes} {count}", kind.name);
                    let texts: u64 = (0..count).map(|i| (kind.text)(i).len() as u64).sum();
                    (40 * count + texts, written + read)
                });
                let what = format!("{} {mode:?} {bytes}: {once_moved}, {twice_moved}", kind.name);
                // Written, read for classes, and for members; these are written and read, and joined.
                assert!(once_moved < 14 * once && twice_moved < 14 * twice, "{what}");
            }
        }
    }
}

#[test]
fn first_records_take_linear_work() {
    let dir = tempfile::tempdir().unwrap();
    let hasher = Hasher::with_secret([3; 32]);
    for kind in &KINDS {
        for (count, bytes) in [(20_000, 1), (80_000, 1), (80_000, 300_000)] {
            let mut set = FirstSet::new(hasher.clone(), None, budget(bytes, &dir));
            let mut expected = std::collections::BTreeSet::new();
            let (mut firsts, mut spilled) = (0, 0);
            for start in (0..count).step_by(1_000) {
                let batch = Records::new(kind, start..start + 1_000, &hasher);
                let rows = [&batch.rows];
                if !set.has_spilled() && !set.fits(&rows, 0) {
                    set.begin_spill(0).unwrap();
                    firsts = expected.len();
                }
                match set.has_spilled() {
                    true => set.spill(&rows, |_, row| start + row as u64).unwrap(),
                    false => set.insert(&rows).unwrap(),
                }
                spilled += if set.has_spilled() { 1_000 } else { 0 };
                expected.extend((start..start + 1_000).map(kind.class));
            }
            let dir = set.spill_dir().cloned();
            let Some((_, found)) = set.resolve().unwrap() else { continue };
            assert_eq!(found as usize, expected.len() - firsts, "{}", kind.name);
            let moved = dir.map_or(0, |dir| dir.written() + dir.read());
            assert!(moved <= 100 * spilled, "{} {count} {bytes}: {moved}", kind.name);
        }
    }
}
