//! Makes every call of the system fail, one in each run: nothing is lost, nothing is left behind, and the next run
//! succeeds.

mod place;
mod sets;
mod spills;

use std::sync::{Mutex, MutexGuard, PoisonError};

use uriscan_files::faults::{Kind, Plan, during};

/// A plan holds for the whole process, so tests come one after the other.
fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// How a run went.
struct Struck<T> {
    kind: Kind,
    /// The name of the call that failed; `None` if the run had fewer calls.
    call: Option<String>,
    result: T,
}

/// Runs `run` again and again, each time with the next call failing, until a run comes to its end before that call; for
/// every kind of fault, and with or without unnamed files, as `unnamed` says. After `all` calls, which repeat each
/// other, more and more are passed over. `look` judges each run. Returns the number of runs.
fn with_each_fault<T>(
    unnamed: &[bool],
    all: u64,
    mut run: impl FnMut() -> T,
    mut look: impl FnMut(Struck<T>, &str),
) -> u64 {
    let mut runs = 0;
    for has_unnamed in unnamed {
        for (kind, name) in Kind::ALL {
            let mut number = 0;
            loop {
                let fault = Some((kind, number));
                let is_without_unnamed = !has_unnamed;
                let plan = Plan { fault, is_without_unnamed, ..Plan::default() };
                let (result, call) = during(plan, &mut run);
                let is_last = call.is_none();
                let label = format!("{name} {number} {call:?}, unnamed {has_unnamed}");
                look(Struck { kind, call, result }, &label);
                runs += 1;
                if is_last {
                    break;
                }
                number += 1 + number / all;
            }
        }
    }
    runs
}
