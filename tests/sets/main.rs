//! Sets that somebody has changed, and made the checksums right again. The fuzz target `sets` runs the same body.

mod files;
mod mutation;
mod plain;

/// How many sets are changed: `URISCAN_CHANGED_SETS`, or some thousand.
fn cases() -> usize {
    let cases = std::env::var("URISCAN_CHANGED_SETS").ok().and_then(|cases| cases.parse().ok());
    cases.unwrap_or(3000)
}

/// Mutations by bytes that nobody chose, the same at every run.
#[test]
fn a_changed_set_gives_right_answers_or_errors() {
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
    // Mutations reach beyond what is seen on opening, and some give another set that is whole.
    eprintln!("{seen:?}");
    let least = (cases() / 10) as u32;
    assert!(seen.refused > least && seen.damaged > least && seen.whole > least, "{seen:?}");
}

/// What is not changed is whole.
#[test]
fn a_set_that_nobody_changed_is_right() {
    for template in 0..4 {
        let seen = mutation::check(&[template]);
        assert_eq!((seen.refused, seen.damaged, seen.whole), (0, 0, 1));
    }
}
