//! The proof that records with one key are one.

use std::sync::{Mutex, OnceLock, PoisonError};

use crate::pipeline::equivalence::Judge;
use crate::pipeline::{Equivalence, Settings};

/// Compares the canonical forms of records that have one key; one of them stands for all threads.
pub(super) struct Proof<'e> {
    /// For each thread.
    judges: Vec<Mutex<Judge<'e>>>,
    collision: OnceLock<(Vec<u8>, Vec<u8>)>,
}

impl<'e> Proof<'e> {
    /// For use on the current rayon pool.
    pub(super) fn new(equivalence: &'e Equivalence, settings: &Settings) -> Proof<'e> {
        let judge = |_| Mutex::new(Judge::new(equivalence, settings.kernels));
        let judges = (0..rayon::current_num_threads()).map(judge).collect();
        Proof { judges, collision: OnceLock::new() }
    }

    /// Takes down two records, which have one key, if they are not one.
    #[inline(never)]
    pub(super) fn see(&self, one: &[u8], other: &[u8]) {
        if one == other {
            return;
        }
        let thread = rayon::current_thread_index().unwrap_or(0);
        // Each thread has its own.
        let mut judge = self.judges[thread].lock().unwrap_or_else(PoisonError::into_inner);
        let form = judge.form(one).to_owned();
        if form != judge.form(other) {
            let _ = self.collision.set((one.to_owned(), other.to_owned()));
        }
    }

    /// Two records that have one key and are not one, if such were seen.
    pub(super) fn collision(self) -> Option<(Vec<u8>, Vec<u8>)> {
        self.collision.into_inner()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sees_what_is_not_one() {
        let equivalence = Equivalence::default();
        let proof = Proof::new(&equivalence, &Settings::default());
        proof.see(b"http://h/", b"http://h/");
        proof.see(b"http://h/", b"HTTP://H:80");
        proof.see(b"no uri", b"no uri");
        assert!(proof.collision.get().is_none());
        proof.see(b"http://h/a", b"http://h/b");
        assert_eq!(proof.collision(), Some((b"http://h/a".to_vec(), b"http://h/b".to_vec())));
    }
}
