//! Long runs on tables that are interrupted and resumed.

use std::fs;
use std::time::{Duration, Instant};

use crate::checkpoint::{is_ended_after, mend};
use crate::run::Place;

const FILES: u32 = 10;

/// A directory with tables of CSV and the same of JSON lines, which have URIs in common, and their names.
fn place() -> (Place, Vec<String>, Vec<String>) {
    let place = Place::new(&[]);
    let url = |n: u32| match n % 50 {
        0 => format!("not a uri {n}"),
        1 => String::new(),
        _ => format!("http://host{}.example/{n}", n % 70),
    };
    let names = |end: &str| (0..FILES).map(|i| format!("in-{i}.{end}")).collect::<Vec<_>>();
    let (csv, jsonl) = (names("csv"), names("jsonl"));
    for i in 0..FILES {
        let rows = i * 700..i * 700 + 1000;
        let rows = rows.map(|n| (n, url(n)));
        let text: String = rows.clone().map(|(n, url)| format!("{n},{url},t{i}\n")).collect();
        fs::write(place.path(&csv[i as usize]), format!("id,url,tag\n{text}")).unwrap();
        // The first files have no fractions.
        let point = if i > 5 { ".5" } else { "" };
        let text: String =
            rows.map(|(n, url)| format!("{{\"id\":{n}{point},\"url\":\"{url}\"}}\n")).collect();
        fs::write(place.path(&jsonl[i as usize]), text).unwrap();
    }
    (place, csv, jsonl)
}

fn args<'a>(more: &[&'a str], names: &'a [String]) -> Vec<&'a str> {
    let fixed =
        ["dedup", "--column", "url", "--checkpoint", "progress", "--checkpoint-size", "60K"];
    let names = names.iter().map(String::as_str);
    fixed.into_iter().chain(more.iter().copied()).chain(names).collect()
}

/// The rows of plain dedup, as CSV or JSON lines.
fn plain(place: &Place, more: &[&str], names: &[String]) -> String {
    let names = names.iter().map(String::as_str);
    let args = ["dedup", "--column", "url"].into_iter().chain(more.iter().copied()).chain(names);
    place.run(&args.collect::<Vec<_>>(), "").quiet()
}

/// The rows of the table `name` as CSV.
fn rows(place: &Place, name: &str) -> String {
    place.run(&["check", "--column", "url", "--to", "csv", name], "").text().to_owned()
}

#[test]
fn an_uninterrupted_run_has_the_rows_of_plain_dedup() {
    let (place, csv, jsonl) = place();
    for (names, to) in [(&csv, "csv"), (&csv, "tsv"), (&jsonl, "jsonl"), (&jsonl, "csv")] {
        let expected = plain(&place, &["--to", to], names);
        place.run(&args(&["-o", "out", "--to", to], names), "").quiet();
        assert!(place.read("out") == expected, "{to}");
    }
    for (names, to) in
        [(&csv, "parquet"), (&jsonl, "parquet"), (&csv, "arrow"), (&csv, "arrow-stream")]
    {
        let more = ["--to", to, "--no-uri", "keep", "-o"];
        plain(&place, &[&more[..], &["plain"]].concat(), names);
        place.run(&args(&[&more[..], &["out"]].concat(), names), "").quiet();
        assert!(rows(&place, "out") == rows(&place, "plain"), "{to}");
        assert!(rows(&place, "out").lines().count() > 5_000);
        assert!(!place.path("out.part").exists() && !place.path("progress").exists());
    }
}

#[test]
fn a_run_that_is_interrupted_again_and_again_ends_with_the_same_bytes() {
    let (place, csv, jsonl) = place();
    let mut state = 0x9E37_79B9_7F4A_7C15_u64;
    let (mut ended, started) = (0, Instant::now());
    for (names, to) in [(&csv, "csv"), (&csv, "parquet"), (&jsonl, "jsonl"), (&jsonl, "arrow")] {
        let more = ["--quiet", "-o", "out", "--to", to];
        place.run(&args(&more, names), "").quiet();
        let expected = fs::read(place.path("out")).unwrap();
        fs::remove_file(place.path("out")).unwrap();
        let mut delay = 1.0;
        loop {
            state = state.wrapping_mul(0x5851_F42D_4C95_7F2D).wrapping_add(0x1405_7B7E_F767_814F);
            let child = place.command(&args(&more, names)).spawn().unwrap();
            let share = (state >> 40) as f64 / (1 << 24) as f64;
            let signal = if state >> 63 == 0 { "KILL" } else { "INT" };
            let delay_now = Duration::from_secs_f64(0.002 + delay * 0.06 * share);
            if !is_ended_after(child, delay_now, signal) {
                break;
            }
            ended += 1;
            assert!(
                !place.path("out").exists() || fs::read(place.path("out")).unwrap() == expected
            );
            // A slow machine gets there, too.
            delay *= 1.05;
            assert!(started.elapsed() < Duration::from_secs(600), "{to} has no end");
        }
        assert!(fs::read(place.path("out")).unwrap() == expected, "{to}");
        assert_eq!(place.names().len(), 2 * FILES as usize + 1, "{:?}", place.names());
        fs::remove_file(place.path("out")).unwrap();
    }
    eprintln!("interrupted {ended} times");
}

/// Starts a run that fails in the sixth of `names`, and returns what that file should be.
fn interrupted(place: &Place, names: &[String], more: &[&str]) -> String {
    for name in names {
        let text = place.read(name);
        let valid = text.lines().filter(|line| !line.contains("not a uri"));
        fs::write(place.path(name), valid.map(|line| format!("{line}\n")).collect::<String>())
            .unwrap();
    }
    let text = place.read(&names[5]);
    mend(place, &names[5], &text.replace("http://host3.example/", "http://host3 example/"));
    let message = place.run(&args(more, names), "").refused();
    assert!(message.contains("in-5.") && message.contains("row"), "{message}");
    assert!(place.path("out.part").exists() && !place.path("out").exists());
    text
}

#[test]
fn a_run_continues_where_it_failed() {
    for to in ["csv", "parquet"] {
        let (place, names, _) = place();
        let more = ["--on-invalid", "error", "--to", to, "-o", "out"];
        let text = interrupted(&place, &names, &more);
        mend(&place, &names[5], &text);
        let ran = place.run(&args(&more, &names), "");
        assert!(
            ran.code == 0 && ran.stderr.contains("of 10 files were done before"),
            "{}",
            ran.stderr
        );
        let out = fs::read(place.path("out")).unwrap();
        place.run(&args(&more, &names), "").quiet();
        assert!(fs::read(place.path("out")).unwrap() == out, "{to}");
        plain(&place, &["--to", to, "-o", "plain"], &names);
        assert!(rows(&place, "out") == rows(&place, "plain"), "{to}");
    }
}

#[test]
fn a_checkpoint_of_another_run_is_refused_with_the_difference() {
    let (place, names, _) = place();
    let more = ["--on-invalid", "error", "--to", "csv", "-o", "out"];
    interrupted(&place, &names, &more);
    let part = fs::read(place.path("out.part")).unwrap();
    let refused = |more: &[&str], names: &[String], difference: &str| {
        let message = place.run(&args(more, names), "").refused();
        let expected = format!("uriscan: progress: belongs to another run: {difference}");
        assert!(message.starts_with(&expected), "{message}");
        assert!(fs::read(place.path("out.part")).unwrap() == part, "{difference}");
    };
    let with = |other: [&'static str; 2]| [&more[..], &other].concat();
    refused(&with(["--no-uri", "keep"]), &names, "--no-uri was drop, and is keep now");
    refused(&["--to", "csv", "-o", "out"], &names, "--on-invalid was fail, and is pass now");
    let tsv = ["--on-invalid", "error", "--to", "tsv", "-o", "out"];
    refused(&tsv, &names, "--to was csv, and is tsv now");
    refused(&more, &names[1..], "it had another file in place of in-1.csv");
    refused(&more, &names[..9], "the number of its files was 10, and is 9 now");
    // Another meaning of keys.
    let message = place.run(&args(&with(["--rung", "syntax"]), &names), "").refused();
    assert!(message.contains("progress: ") && message.contains("rung"), "{message}");
    let text = place.read("in-3.csv");
    mend(&place, "in-3.csv", &format!("{text}9,http://h/,t\n"));
    refused(&more, &names, "in-3.csv has changed since");
    // The names of the columns of all tables change.
    for name in &names {
        let text = place.read(name);
        mend(&place, name, &text.replacen("id,url,tag", "no,url,tag", 1));
    }
    let columns = "the list of columns was id Utf8, url Utf8, tag Utf8, and is no Utf8, url Utf8, tag Utf8 now";
    refused(&more, &names, columns);
    // Those of one: its new column follows the others.
    mend(&place, "in-8.csv", &place.read("in-8.csv").replacen("no,url,tag", "id,url,tag", 1));
    let message = place.run(&args(&more, &names), "").refused();
    assert!(message.contains("and is no Utf8, url Utf8, tag Utf8, id Utf8 now"), "{message}");
}

#[test]
fn a_damaged_checkpoint_is_refused() {
    let (place, names, _) = place();
    let more = ["--on-invalid", "error", "--to", "csv", "-o", "out"];
    let text = interrupted(&place, &names, &more);
    mend(&place, "in-5.csv", &text);
    let manifest = place.path("progress").join("set");
    let old = fs::read(&manifest).unwrap();
    let at = old.windows(7).position(|window| window == b"\"done\":").unwrap() + 7;
    for damage in [&[&old[..at], b"7", &old[at + 1..]].concat()[..], &old[..at], b""] {
        fs::write(&manifest, damage).unwrap();
        let message = place.run(&args(&more, &names), "").refused();
        assert!(message.contains("progress"), "{message}");
    }
    fs::write(&manifest, &old).unwrap();
    let part = fs::read(place.path("out.part")).unwrap();
    fs::write(place.path("out.part"), &part[..100]).unwrap();
    let ran = place.run(&args(&more, &names), "");
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("out.part: is shorter than it was"), "{}", ran.stderr);
    fs::write(place.path("out.part"), part).unwrap();
    assert_eq!(place.run(&args(&more, &names), "").code, 0);
}

#[test]
fn what_a_checkpoint_of_tables_cannot_do_is_refused() {
    let (place, names, _) = place();
    let before = place.names();
    for more in [&["--sort-by", "surt"][..], &["-c"], &["--rejects", "bad"], &["-"]] {
        let message = place.run(&args(&[&["-o", "out"], more].concat(), &names), "").refused();
        assert!(message.contains("--checkpoint: "), "{message}");
    }
    assert_eq!(place.names(), before);
}

#[test]
fn a_member_that_no_line_has_is_told_as_without_a_checkpoint() {
    let place = Place::new(&[
        ("a.jsonl", "{\"url\":\"http://h\"}\n"),
        ("b.jsonl", "{\"uri\":\"http://i\"}\n{}\n"),
        ("c.jsonl", "{}\n"),
        ("null.jsonl", "{\"url\":null}\n{}\n"),
        ("empty.jsonl", "\n"),
    ]);
    // A group for each file.
    let fixed = ["dedup", "--column", "url", "-q", "-o", "out"];
    let more = ["--checkpoint", "progress", "--checkpoint-size", "1"];
    for files in [&["b.jsonl"][..], &["b.jsonl", "c.jsonl"], &["c.jsonl", "c.jsonl", "b.jsonl"]] {
        let message = place.run(&[&fixed[..], files].concat(), "").refused();
        assert!(message.ends_with("no line has a member url"), "{message}");
        let args = [&fixed[..], &more, files].concat();
        assert_eq!(place.run(&args, "").refused(), message, "{files:?}");
        // Now all groups but the last are done.
        assert_eq!(place.run(&args, "").refused(), message, "{files:?}");
        fs::remove_dir_all(place.path("progress")).unwrap();
        fs::remove_file(place.path("out.part")).unwrap();
    }
    for files in [
        &["a.jsonl", "b.jsonl"][..],
        &["b.jsonl", "a.jsonl", "c.jsonl"],
        &["b.jsonl", "c.jsonl", "null.jsonl"],
        &["b.jsonl", "empty.jsonl", "c.jsonl"],
    ] {
        place.run(&[&fixed[..], files].concat(), "").quiet();
        place.run(&[&fixed[..], &more, files].concat(), "").quiet();
    }
}
