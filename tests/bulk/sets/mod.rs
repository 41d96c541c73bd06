//! Tests sets that were changed and given correct checksums again. The fuzz target `sets` runs the
//! same code.

mod files;
mod mutation;
mod plain;

/// Number of sets to change: `URISCAN_CHANGED_SETS`, or a thousand.
fn cases() -> usize {
    let cases = std::env::var("URISCAN_CHANGED_SETS").ok().and_then(|cases| cases.parse().ok());
    cases.unwrap_or(1000)
}

/// Mutations by pseudo-random bytes, the same in every run.
#[test]
fn a_changed_set_gives_right_results_or_errors() {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 32) as u8
    };
    let mut seen = mutation::Outcomes::default();
    for case in 0..cases() {
        let len = 4 + usize::from(next()) % [8, 16, 32][case % 3];
        let data: Vec<u8> = (0..len).map(|_| next()).collect();
        seen += mutation::check(&data);
    }
    // Mutations affect more than what opening checks, and some produce another intact set.
    eprintln!("{seen:?}");
    let least = (cases() / 10) as u32;
    assert!(seen.refused > least && seen.damaged > least && seen.whole > least, "{seen:?}");
}

/// An unchanged set is intact.
#[test]
fn an_unchanged_set_is_right() {
    for template in 0..4 {
        let seen = mutation::check(&[template]);
        assert_eq!((seen.refused, seen.damaged, seen.whole), (0, 0, 1));
    }
}
