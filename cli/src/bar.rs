//! Thin bars for tables on a terminal.

use crate::args;
use crate::environment::Environment;
use crate::output::Destination;

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

/// How a table is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<F> {
    pub(crate) format: F,
    /// It is written to a terminal, where bars help.
    pub(crate) has_bars: bool,
}

impl<F> View<F> {
    /// A table in this format for the results of a command with these options.
    pub(crate) fn new(format: F, common: &args::Common, environment: &Environment) -> View<F> {
        let output = Destination::of_option(common.destination.output.clone());
        let has_bars = environment.stdout_is_terminal && output == Destination::Stdout;
        View { format, has_bars }
    }
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
