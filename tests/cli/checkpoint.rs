//! Long runs that are cut short and go on where they were.

use std::fs;
use std::process::Child;
use std::time::{Duration, Instant};

use crate::run::{Place, Ran};

const FILES: u32 = 12;

/// A place with some files that have records in common.
fn place() -> (Place, Vec<String>) {
    let place = Place::new(&[]);
    let names: Vec<String> = (0..FILES).map(|i| format!("in-{i}.txt")).collect();
    for (i, name) in (0..).zip(&names) {
        let line = |n: u32| match n % 50 {
            0 => format!("no uri {n}\n"),
            1 => "\n".to_owned(),
            _ => format!("http://host{}.example/{n}\n", n % 70),
        };
        let text: String = (i * 700..i * 700 + 1000).map(line).collect();
        fs::write(place.path(name), text).unwrap();
    }
    (place, names)
}

fn args<'a>(more: &[&'a str], names: &'a [String]) -> Vec<&'a str> {
    let fixed = ["dedup", "--checkpoint", "progress", "-o", "out", "--checkpoint-size", "40K"];
    let names = names.iter().map(String::as_str);
    fixed.into_iter().chain(more.iter().copied()).chain(names).collect()
}

/// What plain dedup makes of all files: results and totals.
fn expected(place: &Place, names: &[String]) -> (String, Vec<u64>) {
    let names = names.iter().map(String::as_str);
    let plain: Vec<&str> = ["dedup", "--stats-format", "json"].into_iter().chain(names).collect();
    let ran = place.run(&plain, "");
    (ran.text().to_owned(), totals(&ran))
}

fn totals(ran: &Ran) -> Vec<u64> {
    let line = ran.stderr.lines().last().unwrap();
    let stats: serde_json::Value = serde_json::from_str(line).unwrap();
    let names = ["bytes", "records", "written", "duplicates", "invalid", "blank"];
    names.map(|name| stats[name].as_u64().unwrap()).to_vec()
}

/// Kills `child` after `delay`, unless it comes to its end before; gives whether it was killed.
fn is_killed_after(mut child: Child, delay: Duration) -> bool {
    std::thread::sleep(delay);
    let _ = child.kill();
    let status = child.wait().unwrap();
    assert!(status.success() || status.code().is_none(), "neither done nor killed: {status}");
    !status.success()
}

#[test]
fn a_run_that_is_killed_again_and_again_ends_with_the_same_bytes() {
    let (place, names) = place();
    let (results, counts) = expected(&place, &names);
    let mut kills = 0;
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let started = Instant::now();
    for round in 0..4 {
        let mut delay = 1.0;
        loop {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            let child = place.command(&args(&["--quiet"], &names)).spawn().unwrap();
            let share = (state >> 40) as f64 / (1 << 24) as f64;
            if !is_killed_after(child, Duration::from_secs_f64(0.002 + delay * 0.03 * share)) {
                break;
            }
            kills += 1;
            assert!(!place.path("out").exists() || place.read("out") == results);
            // A slow machine gets there, too.
            delay *= 1.05;
            assert!(started.elapsed() < Duration::from_secs(600), "round {round} has no end");
        }
        assert!(place.read("out") == results, "round {round}");
        assert_eq!(place.names().len(), names.len() + 1, "{:?}", place.names());
        fs::remove_file(place.path("out")).unwrap();
    }
    eprintln!("killed {kills} times");
    // The totals are those of all files, though some were done by a run that failed.
    fs::rename(place.path("in-9.txt"), place.path("away")).unwrap();
    fs::create_dir(place.path("in-9.txt")).unwrap();
    assert_eq!(place.run(&args(&[], &names), "").code, 2);
    fs::remove_dir(place.path("in-9.txt")).unwrap();
    fs::rename(place.path("away"), place.path("in-9.txt")).unwrap();
    let ran = place.run(&args(&["--stats-format", "json"], &names), "");
    assert_eq!((ran.code, totals(&ran)), (0, counts), "{}", ran.stderr);
}

#[test]
fn a_run_goes_on_where_it_failed() {
    let (place, mut names) = place();
    // A record that stops the run, in the eighth file.
    let stops: Vec<&str> = args(&["--on-invalid", "error", "--rung", "syntax"], &names);
    for name in &names {
        let text = place.read(name);
        let valid = text.lines().filter(|line| !line.starts_with("no uri"));
        fs::write(place.path(name), valid.map(|line| format!("{line}\n")).collect::<String>())
            .unwrap();
    }
    let bad = place.read("in-7.txt").replace("http://host3.example/", "http://host3 example/");
    let good = fs::metadata(place.path("in-7.txt")).unwrap().modified().unwrap();
    let text = place.read("in-7.txt");
    let message = {
        fs::write(place.path("in-7.txt"), &bad).unwrap();
        fs::File::options()
            .write(true)
            .open(place.path("in-7.txt"))
            .unwrap()
            .set_modified(good)
            .unwrap();
        place.run(&stops, "").refused()
    };
    assert!(message.contains("in-7.txt:"), "{message}");
    assert!(place.path("out.part").exists() && !place.path("out").exists());
    // Other options or files are another run.
    let refused = |args: &[&str]| {
        let message = place.run(args, "").refused();
        assert!(message.contains("progress: "), "{message}");
    };
    refused(&args(&["--rung", "syntax"], &names));
    refused(&args(&["--on-invalid", "error"], &names));
    refused(&args(&["--on-invalid", "error", "--rung", "syntax"], &names[1..]));
    // Mended, as large and as old as it was: nobody can tell.
    fs::write(place.path("in-7.txt"), &text).unwrap();
    fs::File::options()
        .write(true)
        .open(place.path("in-7.txt"))
        .unwrap()
        .set_modified(good)
        .unwrap();
    let ran = place.run(&args(&["--on-invalid", "error", "--rung", "syntax"], &names), "");
    assert!(ran.stderr.contains("of 12 files are done"), "{}", ran.stderr);
    names.insert(0, "syntax".to_owned());
    let plain: Vec<&str> =
        ["dedup", "--rung"].into_iter().chain(names.iter().map(String::as_str)).collect();
    assert!(place.read("out") == place.run(&plain, "").quiet());
}

#[test]
fn what_a_checkpoint_cannot_do_is_refused() {
    let (place, names) = place();
    fs::write(place.path("out.part"), "mine").unwrap();
    let message = place.run(&args(&[], &names), "").refused();
    assert!(message.contains("out.part: is in the way"), "{message}");
    fs::remove_file(place.path("out.part")).unwrap();
    for more in [&["-c"][..], &["--on-invalid", "bad"], &["-"]] {
        let message = place.run(&args(more, &names), "").refused();
        assert!(message.contains("--checkpoint: "), "{message}");
    }
    place.run(&["set", "create", "progress", "in-1.txt"], "").quiet();
    let message = place.run(&args(&["--rung", "scheme"], &names), "").refused();
    assert!(message.contains("progress: "), "{message}");
    place.run(&["set", "verify", "progress"], "").quiet();
}
