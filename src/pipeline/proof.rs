//! Proof that records with the same key are equivalent.

use std::sync::{Mutex, PoisonError};

use super::Equivalence;
use super::equivalence::Canonicalizer;
use crate::simd::Kernels;
use crate::survivors::AreSame;

/// Compares the canonical forms of records that share a key.
pub(crate) struct Proof<'e> {
    /// One for each thread.
    forms: Vec<Mutex<Canonicalizer<'e>>>,
    equivalence: &'e Equivalence,
}

impl<'e> Proof<'e> {
    /// For use on the current rayon pool. Aliases of `equivalence` have been read with their targets.
    pub(crate) fn new(equivalence: &'e Equivalence, kernels: Kernels) -> Proof<'e> {
        let of_thread = |_| Mutex::new(Canonicalizer::new(equivalence, kernels));
        Proof { forms: (0..rayon::current_num_threads()).map(of_thread).collect(), equivalence }
    }

    /// The proof as a function.
    pub(crate) fn as_fn(&self) -> Box<AreSame<'_>> {
        Box::new(|one, other| self.are_same(one, other))
    }

    /// Whether two records that share a key have the same canonical form.
    #[inline(never)]
    fn are_same(&self, one: &[u8], other: &[u8]) -> bool {
        if one == other {
            return true;
        }
        let thread = rayon::current_thread_index().unwrap_or(0);
        // Each thread uses its own.
        let mut of_thread = self.forms[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let form = self.equivalence.shown(of_thread.form(one)).to_owned();
        form == self.equivalence.shown(of_thread.form(other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::Source;
    use crate::key::Hasher;
    use crate::pipeline::{ClassOptions, DedupOptions, MemoryLimit, Settings, Sinks, classes};

    #[test]
    fn only_equal_forms_are_the_same() {
        let equivalence = Equivalence::default();
        let proof = Proof::new(&equivalence, Kernels::detect());
        assert!(proof.are_same(b"http://h/", b"http://h/"));
        assert!(proof.are_same(b"http://h/", b"HTTP://H:80"));
        assert!(proof.are_same(b"not a uri", b"not a uri"));
        assert!(!proof.are_same(b"http://h/a", b"http://h/b"));
    }

    /// What `classes` writes of forms that share a key in pairs, under a limit or none: results, dupes, clusters.
    fn written(verify: bool, limit: Option<usize>) -> [String; 3] {
        let form = |end: &str| format!("http://example.com/{:x<45}{end:.<16}", "");
        let list: String = ["a", "b", "a", "c", "b", "c", "a"].map(|end| form(end) + "\n").concat();
        let folder = tempfile::tempdir().unwrap();
        let limit = limit.map(|bytes| MemoryLimit {
            set_bytes: Some(bytes),
            ..MemoryLimit::new(1 << 20, folder.path())
        });
        let hasher = Hasher::colliding(*b"http://example.c");
        let dedup = DedupOptions { hasher, limit, ..DedupOptions::default() };
        let options = ClassOptions { dedup, verify, count: true, ..ClassOptions::default() };
        let mut made: [Vec<u8>; 3] = Default::default();
        let [out, dupes, clusters] = &mut made;
        let mut sinks = Sinks { dupes: Some(dupes), clusters: Some(clusters), ..Sinks::new(out) };
        let source = Source::new("list", std::io::Cursor::new(list.into_bytes()));
        // Lines of a batch of their own each, so that some are met before there is no room, and some after.
        let settings = Settings { chunk_bytes: 1, ..Settings::default() };
        let report = classes(vec![source], &options, &settings, &mut sinks).unwrap();
        assert_eq!(report.records, 7);
        made.map(|bytes| String::from_utf8(bytes).unwrap().replace(&form("")[..64], "_"))
    }

    #[test]
    fn what_shares_a_key_is_kept_and_counted_apart() {
        for limit in [None, Some(0), Some(40_000)] {
            let [out, ..] = written(false, limit);
            assert_eq!(out, "      7 _a...............\n", "the keys are the same");
            let [out, dupes, clusters] = written(true, limit);
            let lines = ["      3 _a", "      2 _b", "      2 _c"];
            assert_eq!(out, lines.map(|line| format!("{line}...............\n")).concat());
            let dupe =
                |end: &str| format!("_{end}...............\t_{end}...............\tstring\n");
            assert_eq!(dupes, ["a", "b", "c", "a"].map(dupe).concat());
            let counts: Vec<&str> = clusters.lines().map(|line| &line[..42]).collect();
            assert_eq!(clusters.lines().count(), 3, "{counts:?}");
            assert!(
                clusters.lines().all(|line| line.matches("\"uri\"").count() >= 2),
                "{clusters}"
            );
        }
    }
}
