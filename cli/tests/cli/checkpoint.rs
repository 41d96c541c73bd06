//! Long runs that are cut short and go on where they were.

use std::fs;
use std::process::{Child, Command};
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

/// Sends `signal` to `child` after `delay`, unless it comes to its end before; returns whether that ended it.
pub(crate) fn is_ended_after(mut child: Child, delay: Duration, signal: &str) -> bool {
    std::thread::sleep(delay);
    if signal == "KILL" {
        let _ = child.kill();
    } else {
        let kill = Command::new("kill").args(["-s", signal, &child.id().to_string()]).status();
        assert!(kill.unwrap().success() || child.try_wait().unwrap().is_some());
    }
    let status = child.wait().unwrap();
    let is_ended = status.code().is_none_or(|code| code > 128);
    assert!(status.success() || is_ended, "neither done nor ended: {status}");
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
            if !is_ended_after(child, Duration::from_secs_f64(0.002 + delay * 0.03 * share), "KILL")
            {
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

/// Writes `text` to a file that stays as old as it was, so that nobody can tell.
pub(crate) fn mend(place: &Place, name: &str, text: &str) {
    let modified = fs::metadata(place.path(name)).unwrap().modified().unwrap();
    fs::write(place.path(name), text).unwrap();
    let file = fs::File::options().write(true).open(place.path(name)).unwrap();
    file.set_modified(modified).unwrap();
}

/// The arguments of a run with these that fails in the eighth file, and goes on where it was once that is mended.
fn fails_and_goes_on(place: &Place, names: &[String], more: &[&str], meanwhile: impl FnOnce()) {
    for name in names {
        let text = place.read(name);
        let valid = text.lines().filter(|line| !line.starts_with("no uri"));
        let text: String = valid.map(|line| format!("{line}\n")).collect();
        fs::write(place.path(name), text).unwrap();
    }
    let text = place.read("in-7.txt");
    mend(place, "in-7.txt", &text.replace("http://host3.example/", "http://host3 example/"));
    let more = [&["--on-invalid", "error"], more].concat();
    let message = place.run(&args(&more, names), "").refused();
    assert!(message.contains("in-7.txt:"), "{message}");
    assert!(place.path("out.part").exists() && !place.path("out").exists());
    meanwhile();
    mend(place, "in-7.txt", &text);
    let ran = place.run(&args(&more, names), "");
    assert!(ran.code == 0 && ran.stderr.contains("of 12 files were done before"), "{}", ran.stderr);
    let names = names.iter().map(String::as_str);
    let plain: Vec<&str> = ["dedup"].into_iter().chain(more.iter().copied()).chain(names).collect();
    assert!(place.read("out") == place.run(&plain, "").quiet(), "{more:?}");
    assert!(!place.path("progress").exists() && !place.path("out.part").exists());
}

#[test]
fn a_run_goes_on_where_it_failed() {
    let (place, names) = place();
    fails_and_goes_on(&place, &names, &["--rung", "syntax"], || {
        // Other options or files are another run.
        for (more, names, difference) in [
            (&["--rung", "syntax"][..], &names[..], "--on-invalid was fail, and is pass now"),
            (&["--on-invalid", "error"], &names, "rung"),
            (
                &["--on-invalid", "error", "--rung", "syntax"],
                &names[1..],
                "another file in place of in-1.txt",
            ),
            (
                &["--on-invalid", "error", "--rung", "syntax"],
                &names[..9],
                "the number of its files was 12",
            ),
        ] {
            let message = place.run(&args(more, names), "").refused();
            assert!(message.contains("progress: ") && message.contains(difference), "{message}");
        }
    });
}

#[test]
fn aliases_are_keyed_as_they_were_before() {
    let (place, names) = place();
    // What stands for a record of the first files stands in the last ones only, and the other way round.
    let rows = (7000..7400).map(|i| {
        let other = i - 6900;
        format!("http://host{}.example/{i}\thttp://host{}.example/{other}\n", i % 70, other % 70)
    });
    fs::write(place.path("aliases.tsv"), rows.collect::<String>()).unwrap();
    let aliases = ["--rung", "protocol", "--aliases", "aliases.tsv"];
    fails_and_goes_on(&place, &names, &aliases, || ());
    let plain = [&["dedup"][..], &names.iter().map(String::as_str).collect::<Vec<_>>()].concat();
    assert!(place.read("out").len() < place.run(&plain, "").quiet().len(), "the aliases matter");
}

#[test]
fn what_a_checkpoint_cannot_do_is_refused() {
    let (place, names) = place();
    fs::write(place.path("out.part"), "mine").unwrap();
    let message = place.run(&args(&[], &names), "").refused();
    assert!(message.contains("out.part: already exists"), "{message}");
    fs::remove_file(place.path("out.part")).unwrap();
    for more in [&["-c"][..], &["--rejects", "bad"], &["-"]] {
        let message = place.run(&args(more, &names), "").refused();
        assert!(message.contains("--checkpoint: "), "{message}");
    }
    // Nobody's set is taken for a checkpoint and removed, be it empty.
    for text in ["", "http://h/\n"] {
        place.run(&["set", "create", "progress"], text).quiet();
        let message = place.run(&args(&[], &names), "").refused();
        assert!(message.contains("progress: is a set of keys, not a checkpoint"), "{message}");
        place.run(&["set", "verify", "progress"], "").quiet();
        fs::remove_dir_all(place.path("progress")).unwrap();
    }
}
