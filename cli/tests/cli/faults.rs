//! Makes every call of the system fail, one in each run of the program: its files are the old ones or the new ones,
//! whole; nothing is left behind; the next run succeeds.

use std::fs;

use uriscan_files::faults::Kind;

use crate::changes::{CHANGES, Change, again, is_old_or_new, leftovers, outputs, place, put_back};
use crate::run::{Place, Ran, finish};

/// Lines of the list.
pub(crate) const LINES: u32 = 120;

/// Runs the program, with faults as `plan` says.
pub(crate) fn run(place: &Place, args: &[&str], plan: &str) -> Ran {
    let mut command = place.command(args);
    if !plan.is_empty() {
        command.env("URISCAN_FAULTS", plan);
    }
    finish(command, "")
}

/// Makes `change` with faults of these kinds, one at every `step`th call from `first` on; a kind begins one call after the
/// kind before it. Returns the number of runs.
fn old_or_new(change: &Change, kinds: &[Kind], more: &str, first: usize, step: usize) -> u32 {
    let Change { what, args, .. } = *change;
    let (place, before) = place(change, LINES);
    let directory = place.path("");
    let old = outputs(change, &directory);
    run(&place, args, "").quiet();
    let new = outputs(change, &directory);
    assert!(leftovers(change, &directory, &before).is_empty() && old != new, "{what}");
    let aside = Place::in_memory(&[]);
    let report = aside.path("report");
    let mut runs = 0;
    let kinds = Kind::ALL.into_iter().filter(|(kind, _)| kinds.contains(kind));
    for (first, (kind, name)) in (first..).zip(kinds) {
        for number in (first % step..).step_by(step) {
            put_back(&directory, &before);
            let _ = fs::remove_file(&report);
            let plan = format!("{name}:{number} report:{}{more}", report.display());
            let ran = run(&place, args, &plan);
            runs += 1;
            let call = fs::read_to_string(&report).ok();
            let label = format!("{what}: {name} {number} {call:?}{more}");
            let found = outputs(change, &directory);
            let is_new = found == new;
            match ran.code {
                0 => assert!(is_new, "{label}: not new"),
                2 => {
                    assert!(!kind.is_invisible() && call.is_some(), "{label}: {}", ran.stderr);
                    is_clear(&ran.stderr, change, &label);
                    assert!(is_old_or_new(&found, &old, &new), "{label}: neither old nor new");
                }
                code => panic!("{label}: exit code {code}: {}", ran.stderr),
            }
            let left = leftovers(change, &directory, &before);
            // What could not be listed or removed is there.
            let is_removal = call.as_ref();
            let is_removal =
                is_removal.is_some_and(|call| call.starts_with("Remove") || call == "List");
            assert!(is_removal || left.is_empty(), "{label}: {left:?}");
            if call.is_none() {
                break;
            }
            if ran.code == 2 {
                again(change, &place, &new, is_new, &label);
            }
        }
    }
    runs
}

/// Checks that a message says what is wrong with which file.
fn is_clear(message: &str, change: &Change, label: &str) {
    let known = ["Input/output error", "No space left on device", "there is room for"];
    let is_known = known.iter().any(|what| message.contains(what));
    // The directory of a new set is named by what it is in.
    let names = change.args.iter().chain(&["."]);
    let names = names.into_iter().any(|name| message.contains(&format!("uriscan: {name}")));
    assert!(message.starts_with("uriscan: ") && is_known, "{label}: {message}");
    assert!(names, "{label}: {message}");
}

/// The kinds of faults that a run meets, and what else it is told.
type Faults = (&'static [Kind], &'static str);

const ERRORS: Faults = (&[Kind::Io, Kind::NoSpace], "");
const ERRORS_OF_NAMED_FILES: Faults = (&[Kind::Io], " no-unnamed");
const LESS_THAN_ASKED: Faults = (&[Kind::Interrupted, Kind::ShortRead, Kind::ShortWrite], "");

/// Makes every change with a fault at every `step`th call; each change begins one call after the change before it, so that
/// calls which all have in common fail at least once.
fn all_changes((kinds, more): Faults, step: usize) {
    for (first, change) in CHANGES.iter().enumerate() {
        eprintln!("{}: {} runs", change.what, old_or_new(change, kinds, more, first, step));
    }
}

#[test]
fn files_are_old_or_new_whichever_call_fails() {
    all_changes(ERRORS, 6);
}

#[test]
fn files_are_old_or_new_where_files_need_names() {
    all_changes(ERRORS_OF_NAMED_FILES, 9);
}

#[test]
fn calls_that_do_less_than_asked_change_nothing() {
    all_changes(LESS_THAN_ASKED, 11);
}

#[test]
fn partitions_are_old_or_new_whichever_rename_open_or_sync_fails() {
    let only =
        " only:Open,Rename,Sync,SyncDirectory,CreateDirectory,SetPermissions,SetOwner,Look,List";
    for what in ["partitions", "partitions of an empty directory"] {
        let change = CHANGES.iter().find(|change| change.what == what).unwrap();
        let runs = old_or_new(change, &[Kind::Io], only, 0, 1);
        let named = old_or_new(change, &[Kind::Io], &format!("{only} no-unnamed"), 1, 7);
        assert!(runs > 15 && named > 2, "{what}: {runs} {named}");
    }
}

/// Every call.
mod full {
    use super::{ERRORS, ERRORS_OF_NAMED_FILES, LESS_THAN_ASKED, all_changes};

    #[test]
    fn files_are_old_or_new_whichever_call_fails() {
        all_changes(ERRORS, 1);
    }

    #[test]
    fn files_are_old_or_new_where_files_need_names() {
        all_changes(ERRORS_OF_NAMED_FILES, 1);
    }

    #[test]
    fn calls_that_do_less_than_asked_change_nothing() {
        all_changes(LESS_THAN_ASKED, 1);
    }
}
