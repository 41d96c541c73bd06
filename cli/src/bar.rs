//! Thin bars for tables on a terminal.

/// Cells of the longest bar.
const WIDTH: u64 = 20;

/// A bar for `part` of `whole`: two steps per cell, and at least one for what is not zero.
pub(crate) fn bar(part: u64, whole: u64) -> String {
    if part == 0 || whole == 0 {
        return String::new();
    }
    let steps = (u128::from(part) * u128::from(2 * WIDTH) / u128::from(whole)).max(1);
    let steps = steps.min(u128::from(2 * WIDTH)) as usize;
    "━".repeat(steps / 2) + if steps % 2 == 1 { "╸" } else { "" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_are_in_proportion() {
        assert_eq!((bar(0, 5), bar(1, 0)), (String::new(), String::new()));
        assert_eq!((bar(1, 1_000_000), bar(1, 40)), ("╸".to_owned(), "╸".to_owned()));
        assert_eq!((bar(1, 20), bar(3, 40)), ("━".to_owned(), "━╸".to_owned()));
        assert_eq!(bar(7, 7).chars().count(), WIDTH as usize);
        assert_eq!(bar(u64::MAX, u64::MAX), bar(9, 7));
    }
}
