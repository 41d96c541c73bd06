//! What a run that was killed leaves is removed by the next one that writes the same output, and nothing else is.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Child;
use std::thread::sleep;
use std::time::Duration;

use crate::run::Place;

fn place() -> Place {
    Place::in_memory(&[("in", "a:1\na:1\n"), ("out", "old"), ("t.csv", "url,n\na:1,1\na:2,2\n")])
}

const FILE: &[&str] = &["dedup", "in", "-o", "out"];
const PARTS: &[&str] = &["dedup", "--column", "url", "t.csv", "--partition-by", "n", "-o", "parts"];

/// The run of `args` when it is about to give its results their name.
fn stalled(place: &Place, args: &[&str]) -> Child {
    let mut command = place.command(args);
    let stall = place.path("stall");
    // Files have names from the beginning, as on many file systems.
    command.env("URISCAN_FAULTS", format!("no-unnamed stall:{}", stall.display()));
    let child = command.spawn().unwrap();
    while !stall.exists() {
        sleep(Duration::from_millis(5));
    }
    child
}

fn hidden(place: &Place) -> Vec<String> {
    place.names().into_iter().filter(|name| name.starts_with(".uriscan-")).collect()
}

#[test]
fn the_next_run_removes_what_a_killed_one_has_left() {
    for args in [FILE, PARTS] {
        let place = place();
        for _ in 0..2 {
            let mut child = stalled(&place, args);
            assert_eq!(hidden(&place).len(), 1, "not one for each kill");
            child.kill().unwrap();
            child.wait().unwrap();
            assert_eq!(hidden(&place).len(), 1);
            fs::remove_file(place.path("stall")).unwrap();
        }
        // Other outputs have other names.
        place.run(&["dedup", "in", "-o", "new"], "").quiet();
        assert_eq!(hidden(&place).len(), 1);
        place.run(args, "").quiet();
        assert_eq!(hidden(&place), [""; 0], "{args:?}");
    }
}

#[test]
fn a_run_that_is_still_writing_is_left_alone() {
    for args in [FILE, PARTS] {
        let place = place();
        let mut child = stalled(&place, args);
        let during = hidden(&place);
        assert_eq!(during.len(), 1);
        let second = place.run(args, "");
        assert_eq!(second.code, 0, "{}", second.stderr);
        assert_eq!(hidden(&place), during, "{args:?}");
        fs::remove_file(place.path("stall")).unwrap();
        let status = child.wait().unwrap();
        // A directory is not replaced if there is something in it.
        assert_eq!(status.success(), args == FILE, "{args:?}");
        assert_eq!(hidden(&place), [""; 0], "{args:?}");
        assert!(place.path("parts/n=1").is_dir() || args == FILE);
    }
}

#[test]
fn what_others_have_put_at_such_a_name_is_not_followed() {
    for args in [FILE, PARTS] {
        let place = place();
        let mut child = stalled(&place, args);
        let name = hidden(&place).remove(0);
        child.kill().unwrap();
        child.wait().unwrap();
        fs::remove_file(place.path("stall")).unwrap();
        let path = place.path(&name);
        if path.is_dir() { fs::remove_dir_all(&path) } else { fs::remove_file(&path) }.unwrap();
        fs::create_dir(place.path("mine")).unwrap();
        fs::write(place.path("mine/file"), "mine").unwrap();
        for target in ["mine", "mine/file", "nowhere"] {
            let _ = fs::remove_file(&path);
            symlink(target, &path).unwrap();
            for plan in ["", "no-unnamed"] {
                let mut command = place.command(args);
                if !plan.is_empty() {
                    command.env("URISCAN_FAULTS", plan);
                }
                assert!(command.output().unwrap().status.success(), "{args:?} {target} {plan}");
                assert_eq!(place.read("mine/file"), "mine");
                assert!(!place.path("nowhere").exists());
                let _ = fs::remove_dir_all(place.path("parts"));
            }
        }
    }
}
