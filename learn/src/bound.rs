//! What a sample proves: the lower confidence bound of a share, by the exact method of Clopper and Pearson.

/// The lower bound of the share of right ones, at this one-sided `confidence`, of which `right` and `wrong` were seen.
///
/// With a smaller share than the bound, so many right ones or more would be seen in fewer than `1 - confidence` of all samples.
pub(super) fn lower_bound(right: u64, wrong: u64, confidence: f64) -> f64 {
    if right == 0 {
        return 0.0;
    }
    let tail = (1.0 - confidence).max(f64::MIN_POSITIVE);
    if wrong == 0 {
        return (tail.ln() / right as f64).exp();
    }
    let count = right + wrong;
    let choices = ln_choices(count, wrong);
    // The share of wrong ones for which so few would be seen with the probability of the tail.
    let (mut low, mut high) = (wrong as f64 / count as f64, 1.0);
    for _ in 0..60 {
        let middle = 0.5 * (low + high);
        if at_most(count, wrong, choices, middle) > tail {
            low = middle;
        } else {
            high = middle;
        }
    }
    1.0 - high
}

/// How many more right ones would raise the bound to `share`, if no other wrong one is seen.
pub(super) fn needed(right: u64, wrong: u64, share: f64, confidence: f64) -> u64 {
    let is_enough = |more: u64| lower_bound(right + more, wrong, confidence) >= share;
    let mut high = 1;
    while !is_enough(high) {
        high *= 2;
        if high > 1 << 40 {
            return high;
        }
    }
    least(0, high, is_enough)
}

/// The least number from `low` to `high` that is enough, by halves; `high` is.
pub(super) fn least(mut low: u64, mut high: u64, mut is_enough: impl FnMut(u64) -> bool) -> u64 {
    while low < high {
        let middle = low + (high - low) / 2;
        if is_enough(middle) {
            high = middle;
        } else {
            low = middle + 1;
        }
    }
    high
}

/// The logarithm of the number of ways to choose `some` of `count`.
fn ln_choices(count: u64, some: u64) -> f64 {
    (1..=some).map(|i| ((count - some + i) as f64 / i as f64).ln()).sum()
}

/// The probability of `some` or fewer of `count`, each of which has the probability `share`, a number between 0 and 1 that is
/// not less than theirs.
fn at_most(count: u64, some: u64, choices: f64, share: f64) -> f64 {
    let (n, k) = (count as f64, some as f64);
    let ln_last = choices + k * share.ln() + (n - k) * (-share).ln_1p();
    // From the last one down, each probability is smaller than the one before.
    let (mut sum, mut term) = (0.0, 1.0);
    for i in (0..=some).rev() {
        sum += term;
        term *= i as f64 / (count - i + 1) as f64 * (1.0 - share) / share;
        if term < sum * 1e-17 {
            break;
        }
    }
    ln_last.exp() * sum
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by its definition: sums of exact terms, and a search by small steps.
    fn by_definition(right: u64, wrong: u64, confidence: f64) -> f64 {
        let count = right + wrong;
        let choose = |k: u64| (1..=k).fold(1.0, |all, i| all * (count - k + i) as f64 / i as f64);
        let at_least = |share: f64| -> f64 {
            (right..=count)
                .map(|k| choose(k) * share.powi(k as i32) * (1.0 - share).powi((count - k) as i32))
                .sum()
        };
        let steps = 100_000;
        let low =
            (0..steps).find(|&i| at_least(f64::from(i) / f64::from(steps)) >= 1.0 - confidence);
        f64::from(low.unwrap_or(steps)) / f64::from(steps)
    }

    #[test]
    fn bounds_are_those_of_clopper_and_pearson() {
        for (right, wrong) in [(1, 0), (58, 0), (59, 0), (92, 1), (10, 3), (1, 9), (30, 30), (0, 5)]
        {
            for confidence in [0.9, 0.95, 0.999] {
                let (bound, exact) = (
                    lower_bound(right, wrong, confidence),
                    by_definition(right, wrong, confidence),
                );
                assert!(
                    (bound - exact).abs() < 2e-5,
                    "{right} {wrong} {confidence}: {bound} {exact}"
                );
            }
        }
    }

    #[test]
    fn the_pages_that_decide_are_those_of_the_documentation() {
        let pages = |share, wrong| wrong + needed(0, wrong, share, 0.95);
        assert_eq!([0, 1, 2, 3].map(|wrong| pages(0.95, wrong)), [59, 93, 124, 153]);
        assert_eq!([0, 1].map(|wrong| pages(0.99, wrong)), [299, 473]);
        assert_eq!(needed(59, 0, 0.95, 0.95), 0);
    }

    #[test]
    fn large_samples_have_bounds_near_their_shares() {
        for wrong in [1000, 100_000, 5_000_000] {
            let bound = lower_bound(99 * wrong, wrong, 0.95);
            assert!(bound < 0.99 && bound > 0.989, "{wrong}: {bound}");
        }
    }
}
