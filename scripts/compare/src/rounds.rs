//! Interleaved rounds, and the rows that `scripts/measure.py` reads: a JSON object for each time that was taken.

use std::error::Error;
use std::fs;
use std::time::Instant;

/// An error ends the comparison, whatever it is.
pub(crate) type Outcome<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// A peer: its name, and the function that runs it on the input. It returns what is counted.
pub(crate) type Peer<'a> = (&'static str, Box<dyn Fn() -> u64 + 'a>);

/// Seconds by the clock, and of all threads together.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    wall: f64,
    cpu: f64,
}

impl Taken {
    /// Prints a row. `more` holds further members, such as `,"records":10`; nothing needs escapes.
    pub(crate) fn print(self, group: &str, name: &str, answer: u64, more: &str) {
        let Taken { wall, cpu } = self;
        println!(
            r#"{{"group":"{group}","name":"{name}","wall":{wall:.7},"cpu":{cpu:.2},"answer":{answer}{more}}}"#
        );
    }
}

/// The result of `work`, and its time.
pub(crate) fn timed<T>(work: impl FnOnce() -> T) -> (T, Taken) {
    let (cpu, start) = (cpu_seconds(), Instant::now());
    let result = work();
    let wall = start.elapsed().as_secs_f64();
    (result, Taken { wall, cpu: cpu_seconds() - cpu })
}

/// Runs all of `peers` in each round, so that a slow moment of the machine affects all alike, and prints the times. A round
/// that is not counted comes first: it brings the input into the caches. `bytes` is the size of the input.
///
/// # Errors
///
/// If the result of a peer changes between rounds.
pub(crate) fn compare(bytes: usize, rounds: usize, peers: &[Peer<'_>]) -> Outcome<()> {
    let mut answers = vec![0; peers.len()];
    for round in 0..=rounds {
        for ((name, run), expected) in peers.iter().zip(&mut answers) {
            let (answer, taken) = timed(run);
            if round == 0 {
                *expected = answer;
                continue;
            }
            if answer != *expected {
                return Err(format!("{name}: {answer}, and {expected} before").into());
            }
            taken.print("", name, answer, &format!(r#","bytes":{bytes}"#));
        }
    }
    Ok(())
}

/// Seconds that this process has computed, in all its threads; 0 if the system does not report it.
fn cpu_seconds() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    // User and system time, in hundredths, are fields 14 and 15; the name before them may hold spaces.
    let fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    fields.skip(11).take(2).filter_map(|field| field.parse::<f64>().ok()).sum::<f64>() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    #[test]
    fn a_peer_must_repeat_its_answer() {
        let calls = Cell::new(0);
        let same = || 7;
        let other = || calls.replace(calls.get() + 1);
        assert!(compare(1, 2, &[("same", Box::new(same))]).is_ok());
        let failed = compare(1, 2, &[("same", Box::new(same)), ("other", Box::new(other))]);
        assert_eq!(failed.unwrap_err().to_string(), "other: 1, and 0 before");
    }
}
