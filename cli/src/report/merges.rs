//! What merged, and how often: the lines of `--dupes` and of `-c` counted as they are written, in bounded memory.

use std::collections::BTreeMap;
use std::io::{self, Write};

use uriscan::explain::step::Step;
use uriscan::explain::{Comparison, compare_with_rules};
use uriscan::pipeline::Equivalence;

use super::html::shown;

/// Examples of each kind.
pub(super) const EXAMPLES: usize = 3;
/// Pairs that are explained; a page does not get better by more.
pub(super) const EXPLAINED: u64 = 100_000;
/// Classes that are listed.
const CLASSES: usize = 10;
/// Bytes of a line that are kept; the rest of a longer one is dropped.
const LINE: usize = 64 << 10;

/// How often something merged, with examples.
#[derive(Debug, Default)]
pub(super) struct Merged {
    pub(super) count: u64,
    /// The number of steps that a pair needs, a record and its survivor. Pairs that need fewer show better what a step
    /// does.
    pub(super) examples: Vec<(usize, [String; 2])>,
}

impl Merged {
    fn add(&mut self, steps: usize, record: &[u8], survivor: &[u8]) {
        self.count += 1;
        // Of equally good ones the first remain.
        let at = self.examples.partition_point(|(other, _)| *other <= steps);
        if at >= EXAMPLES {
            return;
        }
        let pair = [shown(record), shown(survivor)];
        if self.examples.iter().all(|(_, other)| *other != pair) {
            self.examples.insert(at, (steps, pair));
            self.examples.truncate(EXAMPLES);
        }
    }
}

/// The duplicates, by what makes them so.
#[derive(Debug, Default)]
pub(super) struct Merges {
    /// Pairs with the same bytes.
    pub(super) same: u64,
    /// All other pairs.
    pub(super) others: u64,
    /// By step or rule, with what it does. A pair may need several.
    pub(super) by_step: BTreeMap<&'static str, (Merged, &'static Step)>,
}

/// Cuts what is written into lines, and passes each to a function.
pub(super) struct Lines<F> {
    end: u8,
    line: Vec<u8>,
    each: F,
}

impl<F: FnMut(&[u8])> Lines<F> {
    /// Lines that end in `end`.
    pub(super) fn new(end: u8, each: F) -> Lines<F> {
        Lines { end, line: Vec::new(), each }
    }
}

impl<F: FnMut(&[u8])> Write for Lines<F> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for piece in bytes.split_inclusive(|&byte| byte == self.end) {
            let (text, is_end) = match piece.strip_suffix(&[self.end]) {
                Some(text) => (text, true),
                None => (piece, false),
            };
            let room = LINE.saturating_sub(self.line.len());
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if is_end {
                (self.each)(&self.line);
                self.line.clear();
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Merges {
    /// Counts a line of `--dupes`.
    pub(super) fn add(&mut self, line: &[u8], equivalence: &Equivalence) {
        let mut cells = line.rsplitn(3, |&byte| byte == b'\t');
        let (Some(_), Some(survivor), Some(record)) = (cells.next(), cells.next(), cells.next())
        else {
            return;
        };
        if record == survivor {
            self.same += 1;
            return;
        }
        self.others += 1;
        if self.others > EXPLAINED || line.len() > uriscan::explain::LONGEST {
            return;
        }
        let rules = equivalence.rules.as_deref();
        let compared = compare_with_rules(record, survivor, equivalence.normalize, rules);
        if let Comparison::Equivalent { steps, .. } = compared {
            let count = steps.len();
            for step in steps {
                let (merged, _) =
                    self.by_step.entry(step.name).or_insert_with(|| (Merged::default(), step));
                merged.add(count, record, survivor);
            }
        }
    }
}

/// The largest classes, the largest first.
#[derive(Debug, Default)]
pub(super) struct Largest(pub(super) Vec<(u64, Vec<u8>)>);

impl Largest {
    /// Takes a line of `-c` into account: a count and the survivor.
    pub(super) fn add(&mut self, line: &[u8]) {
        let line = line.trim_ascii_start();
        let end = line.iter().position(|&byte| byte == b' ').unwrap_or(line.len());
        let count = str::from_utf8(&line[..end]).ok().and_then(|count| count.parse().ok());
        let Some(count) = count.filter(|&count: &u64| count > 1) else { return };
        // Of equal counts the first remains first.
        let at = self.0.partition_point(|(other, _)| *other >= count);
        if at < CLASSES {
            self.0.insert(at, (count, line[(end + 1).min(line.len())..].to_vec()));
            self.0.truncate(CLASSES);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_however_they_are_cut() {
        for size in 1..12 {
            let mut found = Vec::new();
            let mut lines = Lines::new(b'\n', |line: &[u8]| found.push(line.to_vec()));
            for piece in b"one\n\nthree\n".chunks(size) {
                lines.write_all(piece).unwrap();
            }
            assert_eq!(found, [&b"one"[..], b"", b"three"]);
        }
        let mut lens = Vec::new();
        let mut lines = Lines::new(b'\n', |line: &[u8]| lens.push(line.len()));
        lines.write_all(&[vec![b'x'; 3 * LINE], b"\ny\n".to_vec()].concat()).unwrap();
        assert_eq!(lens, [LINE, 1]);
    }

    #[test]
    fn merges_are_counted_by_step_with_examples() {
        let mut merges = Merges::default();
        let equivalence = Equivalence::default();
        for i in 0..5 {
            merges.add(format!("HTTP://h:80/{i}\thttp://h/{i}\tscheme").as_bytes(), &equivalence);
            merges.add(b"http://h:80/x\thttp://h/x\tscheme", &equivalence);
        }
        merges.add(b"http://h/\thttp://h/\tstring", &equivalence);
        merges.add(b"a record of an earlier run\t\tseen", &equivalence);
        assert_eq!((merges.same, merges.others), (1, 11));
        let names: Vec<(&str, u64, usize)> = merges
            .by_step
            .iter()
            .map(|(name, (merged, _))| (*name, merged.count, merged.examples.len()))
            .collect();
        assert_eq!(names, [("default-port", 10, 3), ("scheme-case", 5, 3)]);
        let first = &merges.by_step["default-port"].0.examples[0];
        assert_eq!(first, &(1, ["http://h:80/x", "http://h/x"].map(str::to_owned)));
    }

    #[test]
    fn the_largest_classes_remain() {
        let mut largest = Largest::default();
        for i in 0..50u64 {
            largest.add(format!("{:>7} http://h/{i} x", i % 25).as_bytes());
        }
        assert_eq!(largest.0.len(), CLASSES);
        assert_eq!(largest.0[0], (24, b"http://h/24 x".to_vec()));
        assert_eq!(largest.0[1], (24, b"http://h/49 x".to_vec()));
        assert_eq!(largest.0[9].0, 20);
    }
}
