//! Formats the tables.

use std::fmt::Write;
use std::fs;

use crate::steps::{Round, Sizes, Step, Taken};

/// The CPU, its cores, and its load.
pub(crate) fn machine() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let load = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let cores = std::thread::available_parallelism().map_or(0, |cores| cores.get());
    format!(
        "{}, {cores} cores, load {} before",
        model.map_or("unknown CPU", |(_, name)| name),
        load.split(' ').next().unwrap_or("unknown"),
    )
}

/// Medians of the times of every step, followed by the bytes per key. Ratios are to the first of
/// `stores`.
pub(crate) fn tables(stores: &[&str], rounds: &[(&str, Round)], sizes: &Sizes) -> String {
    let mut out = String::from(
        "| step | store | median s | min | max | CPU s | M keys/s | ratio |\n\
         | --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |\n",
    );
    for step in Step::ALL {
        let mut base = None;
        for store in stores {
            let taken: Vec<&Taken> = of_store(rounds, store)
                .flat_map(|round| &round.taken)
                .filter(|taken| taken.step == step)
                .collect();
            let walls = sorted(taken.iter().map(|taken| taken.wall));
            let (wall, cpu) = (middle(&walls), middle(&sorted(taken.iter().map(|it| it.cpu))));
            let ratio = wall / *base.get_or_insert(wall);
            let speed = sizes.of(step) as f64 / wall / 1e6;
            let (min, max) = (walls[0], walls[walls.len() - 1]);
            let name = step.name();
            let _ = writeln!(
                out,
                "| {name} | {store} | {wall:.3} | {min:.3} | {max:.3} | {cpu:.2} | {speed:.2} | {ratio:.2} |"
            );
        }
    }
    out += "\n| store | bytes/key, loaded | bytes/key, added |\n| --- | ---: | ---: |\n";
    for store in stores {
        let loaded = sorted(of_store(rounds, store).map(|round| round.loaded_bytes));
        let added = sorted(of_store(rounds, store).map(|round| round.added_bytes));
        let _ = writeln!(out, "| {store} | {:.2} | {:.2} |", middle(&loaded), middle(&added));
    }
    out
}

fn of_store<'a>(rounds: &'a [(&str, Round)], store: &'a str) -> impl Iterator<Item = &'a Round> {
    rounds.iter().filter(move |(name, _)| *name == store).map(|(_, round)| round)
}

fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

/// The median of sorted values.
///
fn middle(values: &[f64]) -> f64 {
    let half = values.len() / 2;
    if values.len() % 2 == 1 { values[half] } else { f64::midpoint(values[half - 1], values[half]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_and_ratios_are_those_of_the_times() {
        let round = |wall: f64| {
            let taken = Step::ALL.map(|step| Taken { step, wall, cpu: 2.0 * wall });
            Round { taken: taken.into(), loaded_bytes: 16.0 * wall, added_bytes: 17.0 }
        };
        let rounds = [("a", round(1.0)), ("b", round(4.0)), ("a", round(3.0)), ("b", round(8.0))];
        let sizes = Sizes { keys: 4_000_000, asked: 1, add: 1 };
        let text = tables(&["a", "b"], &rounds, &sizes);
        assert!(
            text.contains("| load | a | 2.000 | 1.000 | 3.000 | 4.00 | 2.00 | 1.00 |\n"),
            "{text}"
        );
        assert!(
            text.contains("| load | b | 6.000 | 4.000 | 8.000 | 12.00 | 0.67 | 3.00 |\n"),
            "{text}"
        );
        assert!(text.ends_with("| a | 32.00 | 17.00 |\n| b | 96.00 | 17.00 |\n"), "{text}");
    }
}
