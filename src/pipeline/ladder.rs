//! The lowest rung at which two records are equivalent.

use super::Equivalence;
use super::equivalence::Canonicalizer;
use crate::normalize::{Options, Rung};
use crate::simd::Kernels;

/// The equivalences of the rungs below that of another, lowest first; all else is the same.
pub(super) fn below(top: &Equivalence) -> Vec<Equivalence> {
    let at = |rung| Equivalence { normalize: Options { rung, ..top.normalize }, ..top.clone() };
    Rung::ALL.into_iter().filter(|&rung| rung < top.normalize.rung).map(at).collect()
}

/// Finds the lowest rung at which two records that are equivalent at some rung are equivalent.
pub(super) struct Ladder<'e> {
    /// The rungs below the one in use, lowest first.
    below: Vec<(Rung, Canonicalizer<'e>)>,
    top: Rung,
    form: Vec<u8>,
}

impl<'e> Ladder<'e> {
    /// A ladder of the equivalences `below` the rung `top`.
    pub(super) fn new(below: &'e [Equivalence], top: Rung, kernels: Kernels) -> Ladder<'e> {
        let canonicalizer =
            |at: &'e Equivalence| (at.normalize.rung, Canonicalizer::new(at, kernels));
        Ladder { below: below.iter().map(canonicalizer).collect(), top, form: Vec::new() }
    }

    /// The lowest rung at which `a` and `b`, which are equivalent at the highest, are equivalent.
    pub(super) fn rung(&mut self, a: &[u8], b: &[u8]) -> Rung {
        if a == b {
            return Rung::String;
        }
        for (rung, canonicalizer) in &mut self.below {
            self.form.clear();
            self.form.extend_from_slice(canonicalizer.form(a));
            if self.form == canonicalizer.form(b) {
                return *rung;
            }
        }
        self.top
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lowest_rung_is_found() {
        let cases = [
            ("http://h/", "http://h/", Rung::String),
            ("no uri", "no uri", Rung::String),
            ("http://h/", "HTTP://h/", Rung::Syntax),
            ("http://h/%7e", "http://h/~", Rung::Syntax),
            ("http://h/", "http://h", Rung::Scheme),
            ("http://H/", "http://h", Rung::Scheme),
            ("http://bücher.example/", "http://xn--bcher-kva.example/", Rung::Scheme),
        ];
        let below = below(&Equivalence::default());
        let mut ladder = Ladder::new(&below, Rung::Scheme, Kernels::detect());
        for (a, b, rung) in cases {
            assert_eq!(ladder.rung(a.as_bytes(), b.as_bytes()), rung, "{a} {b}");
            assert_eq!(ladder.rung(b.as_bytes(), a.as_bytes()), rung, "{b} {a}");
        }
    }

    #[test]
    fn other_rules_hold_on_all_rungs() {
        let below = below(&Options { rung: Rung::Scheme, drop_fragment: true }.into());
        let mut ladder = Ladder::new(&below, Rung::Scheme, Kernels::detect());
        assert_eq!(ladder.rung(b"http://h/#a", b"http://h/#b"), Rung::String);
        assert_eq!(ladder.rung(b"http://h/#a", b"http://H/"), Rung::Syntax);
    }
}
