//! Deduplication under a memory limit.

use std::fs;

use serde_json::Value;

use crate::run::Place;

/// So many lines of URIs, a third of them spelled like one before.
fn uris(lines: u32) -> String {
    (0..lines)
        .map(|i| match i % 3 {
            0 => format!("http://host{i}.example/\n"),
            1 => format!("HTTP://Host{}.example:80\n", i - 1),
            _ => format!("http://host{i}.example/%7ea\n"),
        })
        .collect()
}

/// Lines that do not fit into the least limit on eight threads.
const LINES: u32 = 2_700_000;

#[test]
fn the_limit_changes_no_byte() {
    let text = uris(LINES);
    let place = Place::new(&[("list", &text)]);
    fs::create_dir(place.path("aside")).unwrap();
    let plain = place.run(&["dedup", "list"], "").quiet();
    // Many threads have large buffers: little is left for keys.
    let limited = ["dedup", "-j", "8", "--max-memory", "64M", "--temp-dir", "aside"];
    let stats = ["--stats=json"];
    for (more, input) in [(&["list"][..], ""), (&[], &*text)] {
        let ran = place.run(&[&limited, more, &stats[..]].concat(), input);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.text() == plain);
        let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert!(stats["spilled_bytes"].as_u64().unwrap() > 0, "{stats}");
        assert_eq!(stats["duplicates"], LINES / 3);
        assert_eq!(fs::read_dir(place.path("aside")).unwrap().count(), 0);
    }
    let ran = place.run(&[&limited, &["list", "-o", "list"][..]].concat(), "").quiet();
    assert!(ran.is_empty() && place.read("list") == plain, "in place");
    assert_eq!(place.names(), ["aside", "list"]);
}

#[test]
fn classes_are_the_same_under_a_limit() {
    let [text, more] = [750_000, LINES].map(uris);
    let place = Place::new(&[("list", &text), ("more", &more)]);
    let sides = ["--dupes", "dupes", "--clusters", "clusters"];
    let limited = ["-j8", "--max-memory", "64M", "--temp-dir", ".", "--stats=json"];
    for (how, side, input) in [
        (&["-c"][..], &[][..], "more"),
        (&["-dc", "--keep", "shortest"], &[], "-"),
        (&["-u", "--keep", "max"], &sides, "list"),
    ] {
        let mut answers = Vec::new();
        for limit in [&[][..], &limited[..]] {
            let args = [&["dedup"], how, side, limit, &[input]].concat();
            let ran = place.run(&args, if input == "-" { &text } else { "" });
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            if !limit.is_empty() {
                let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
                assert!(stats["spilled_bytes"].as_u64().unwrap() > 0, "{stats}");
            }
            let side_files = side.chunks(2).map(|option| place.read(option[1])).collect();
            answers.push((ran.stdout, side_files));
        }
        let [plain, limited]: [(Vec<u8>, Vec<String>); 2] = answers.try_into().unwrap();
        assert!(plain == limited, "{how:?} {side:?} {input}");
    }
}

/// The most memory that the program took, as far as the system tells, in bytes; it writes nothing to pipes.
#[cfg(target_os = "linux")]
fn peak(command: std::process::Command) -> u64 {
    let (peak, code) = peak_and_code(command);
    assert_eq!(code, Some(0));
    peak
}

/// Like [`peak`], with the exit code.
#[cfg(target_os = "linux")]
pub(crate) fn peak_and_code(mut command: std::process::Command) -> (u64, Option<i32>) {
    let mut child = command.spawn().unwrap();
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    while child.try_wait().unwrap().is_none() {
        let text = fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse().ok());
        peak = peak.max(kilobytes.unwrap_or(0) * 1024);
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    (peak, child.wait().unwrap().code())
}

/// A tree of Markdown takes many times the bytes of its text, so what is parsed is bounded.
#[cfg(target_os = "linux")]
#[test]
fn markdown_takes_bounded_memory_whatever_it_is() {
    markdown_is_bounded(&MARKDOWN[..2]);
}

/// Marks that are parsed.
#[cfg(target_os = "linux")]
const MARKS: usize = 1 << 20;

/// What is repeated how often, and whether it is parsed.
#[cfg(target_os = "linux")]
const MARKDOWN: [(&str, usize, bool); 6] = [
    ("[", 20 << 20, false),
    // As many marks as are parsed, of the units that take most.
    ("[a](b)", MARKS / 2, true),
    ("[a](", MARKS / 2, true),
    ("**a**", MARKS / 4, true),
    ("- a\n", MARKS / 2, true),
    ("[a](", 15 << 18, false),
];

#[cfg(target_os = "linux")]
fn markdown_is_bounded(inputs: &[(&str, usize, bool)]) {
    for &(unit, count, is_parsed) in inputs {
        let place = Place::new(&[("a.md", &unit.repeat(count))]);
        let (peak, code) = peak_and_code(place.command(&["extract", "a.md", "-o", "out", "-q"]));
        assert_eq!(code, Some(if is_parsed { 0 } else { 2 }), "{unit:?}");
        assert!(peak < 460 << 20, "{unit:?}: {} MiB", peak >> 20);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_process_keeps_to_the_limit() {
    keeps_to_the_limit(&SIDES, 600_000, 64);
}

#[cfg(target_os = "linux")]
const SIDES: [&str; 4] = ["--dupes", "dupes", "--clusters", "clusters"];

#[cfg(target_os = "linux")]
fn keeps_to_the_limit(how: &[&str], lines: u32, mebibytes: u64) {
    let place = Place::new(&[("list", &uris(lines))]);
    let limit = format!("{mebibytes}M");
    let limit = ["-j2", "--max-memory", &limit, "--temp-dir", "."];
    let peak = |limit: &[&str]| {
        let args = [&["dedup", "list", "-o", "out"], how, limit].concat();
        (peak(place.command(&args)), place.read("out"))
    };
    let ((plain, expected), (limited, found)) = (peak(&[]), peak(&limit));
    let most = mebibytes << 20;
    assert!(found == expected);
    assert!(limited < most / 10 * 11, "{how:?}: {limited}, {plain} without a limit");
    assert!(how.len() == 1 || plain > most / 4 * 5, "{plain}: the list is too short");
}

/// Short records have the most memory for keys and numbers beside a byte of text.
#[cfg(target_os = "linux")]
#[test]
fn short_records_keep_to_the_limit() {
    short_records(6);
}

/// Tries one pair of `step` of a list and a way.
#[cfg(target_os = "linux")]
fn short_records(step: usize) {
    const LIMIT: u64 = 64 << 20;
    let numbers = || (0..900_000).map(|i| format!("{i:x}\n")).collect::<String>();
    for (number, (name, text)) in [
        ("blank", "\n".repeat(6 << 20)),
        ("two bytes", "a\n".repeat(3 << 20)),
        ("equal", "http://h/\n".repeat(1 << 20)),
        ("two spellings", "http://h/\nHTTP://h/\n".repeat(1 << 19)),
        ("distinct", numbers() + &numbers()),
    ]
    .into_iter()
    .enumerate()
    {
        let place = Place::new(&[("list", &text)]);
        for (how, source) in [
            (&[][..], "list"),
            (&[], "-"),
            (&["-c"], "list"),
            (&["--keep", "max"], "list"),
            (&["--dupes", "d"], "-"),
            (&["--dupes", "d"], "list"),
            (&["--clusters", "c"], "list"),
        ]
        .into_iter()
        .skip(number % step)
        .step_by(step)
        {
            let limit = ["-j2", "--max-memory", "64M", "--temp-dir", ".", "-o", "out"];
            let mut command = place.command(&[&["dedup", source], how, &limit].concat());
            command.stdin(fs::File::open(place.path("list")).unwrap());
            let peak = peak(command);
            assert!(peak <= LIMIT / 10 * 11, "{name} {how:?} {source}: {} MiB", peak >> 20);
        }
    }
}

/// What is held while omitted records are written at once is what is really there, not what the first lines make expect.
#[cfg(target_os = "linux")]
#[test]
fn omitted_records_keep_to_the_limit_when_lines_get_short() {
    const LIMIT: u64 = 64 << 20;
    // None of them is canonical, so that their texts are held.
    let long = (0..20_000).map(|i| format!("HTTP://h/{}{i}\n", "long/".repeat(200)));
    let short = (0..1_000_000).map(|i| format!("{:x}\n", i % 800_000));
    let text = long.chain(short).collect::<String>();
    let place = Place::new(&[("list", &text)]);
    let args = ["dedup", "list", "-j2", "-q", "--dupes", "expected dupes", "-o", "expected"];
    assert_eq!(place.run(&args, "").code, 0);
    for source in ["list", "-"] {
        let limit = ["--max-memory", "64M", "--temp-dir", ".", "--dupes", "dupes", "-o", "out"];
        let mut command = place.command(&[&["dedup", source, "-j2"][..], &limit].concat());
        command.stdin(fs::File::open(place.path("list")).unwrap());
        let peak = peak(command);
        assert!(peak <= LIMIT / 10 * 11, "{source}: {} MiB", peak >> 20);
        assert!(place.read("out") == place.read("expected"), "{source}");
        assert!(place.read("dupes") == place.read("expected dupes"), "{source}");
    }
}

/// What long records take beyond the limit is what the help says.
#[cfg(target_os = "linux")]
#[test]
fn long_records_exceed_the_limit_by_a_stated_amount() {
    long_records_exceed_the_limit(&[(&[], "-j2", 10)]);
}

#[cfg(target_os = "linux")]
fn long_records_exceed_the_limit(ways: &[(&[&str], &str, u64)]) {
    const LONGEST: u64 = 16 << 20;
    let record = |i: usize| format!("HTTP://H/{}{i}\n", "%7e".repeat(LONGEST as usize / 3));
    let place = Place::new(&[("list", &(0..8).map(record).collect::<String>())]);
    for &(how, threads, times) in ways {
        let limit = [threads, "--max-memory", "128M", "--temp-dir", "."];
        let peak = peak(place.command(&[&["dedup", "list", "-o", "out"], how, &limit].concat()));
        let most = (128 << 20) / 10 * 11 + times * LONGEST;
        assert!(peak < most, "{how:?} {threads}: {} MiB", peak >> 20);
    }
}

#[test]
fn rows_of_tables_are_the_same_under_a_limit() {
    const DISTINCT: u64 = 4_000_000;
    let urls = (0..DISTINCT + 100_000).map(|i| format!("{i},u:{}\n", i % DISTINCT));
    let text = format!("n,url\n{}", urls.collect::<String>());
    let place = Place::new(&[("in.csv", &text)]);
    let (distinct, _) = text.split_at(text.find("\n4000000,").unwrap() + 1);
    let args = ["dedup", "--column", "url", "--from", "csv", "--to", "csv", "--max-memory", "64M"];
    let stats = ["--temp-dir", ".", "--stats=json"];
    let ran = place.run(&[&args[..], &stats, &["-"]].concat(), &text);
    assert_eq!(ran.code, 0, "{}", ran.stderr);
    assert!(ran.text() == distinct);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert!(stats["spilled_bytes"].as_u64().unwrap() > 0, "{stats}");
    assert_eq!((&stats["duplicates"], &stats["written"]), (&100_000.into(), &DISTINCT.into()));
    assert_eq!(place.names(), ["in.csv"]);
    #[cfg(target_os = "linux")]
    {
        let more = ["-j2", "--temp-dir", ".", "-o", "out.csv", "in.csv"];
        let peak = peak(place.command(&[&args[..], &more].concat()));
        assert!(peak < (64 + 2 * 40 + 30) << 20, "{} MiB", peak >> 20);
        assert!(place.read("out.csv") == distinct);
        fs::remove_file(place.path("out.csv")).unwrap();
    }
    let message = place.run(&[&args[..], &["--temp-dir", "nowhere", "in.csv"]].concat(), "");
    assert!(message.stderr.contains("nowhere: cannot spill to disk"), "{}", message.stderr);
    assert!(message.code == 2 && message.stderr.contains("--temp-dir"), "{}", message.stderr);
}

#[test]
fn what_cannot_be_done_is_reported() {
    let place = Place::new(&[("list", &uris(LINES))]);
    let run = |args: &[&str]| place.run(&[&["dedup", "-j8", "--max-memory"], args].concat(), "");
    let message = run(&["64M", "--temp-dir", "nowhere", "list", "-o", "out"]).refused();
    assert!(message.starts_with("uriscan: nowhere: cannot spill to disk"), "{message}");
    assert!(message.contains("--temp-dir"), "{message}");
    assert_eq!(place.names(), ["list"]);
    let message = run(&["64M", "--temp-dir", "nowhere", "-c", "list", "-o", "out"]).refused();
    assert!(message.starts_with("uriscan: nowhere: cannot spill to disk"), "{message}");
    assert_eq!(place.names(), ["list"]);
    let ran = run(&["63M", "list"]);
    assert!(ran.code == 2 && ran.stderr.contains("64M or more"), "{}", ran.stderr);
}

#[cfg(target_os = "linux")]
#[test]
fn forms_that_are_much_longer_than_their_records_are_not_all_held_at_once() {
    let place = Place::new(&[("list", &"x\n".repeat(100_000))]);
    // Half a gigabyte of forms.
    let base = format!("http://h.example/{}/", "a".repeat(5000));
    let args = ["top", "-j1", "--by", "host", "--base", &base, "list", "-o", "counts"];
    let (peak, code) = peak_and_code(place.command(&args));
    assert_eq!(code, Some(0));
    assert!(place.read("counts").contains("100,000"), "{}", place.read("counts"));
    assert!(peak < 64 << 20, "{peak} bytes");
}

/// Longer lists, and every way.
mod full {
    #[cfg(target_os = "linux")]
    #[test]
    fn markdown_takes_bounded_memory_whatever_it_is() {
        super::markdown_is_bounded(&super::MARKDOWN[2..]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn short_records_keep_to_the_limit() {
        super::short_records(1);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn the_process_keeps_to_the_limit() {
        super::keeps_to_the_limit(&["-c"], 1_500_000, 128);
        super::keeps_to_the_limit(&super::SIDES, 1_500_000, 128);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn long_records_exceed_the_limit_by_a_stated_amount() {
        let sides = &super::SIDES;
        super::long_records_exceed_the_limit(&[
            (&["-c"], "-j2", 20),
            (&["--keep", "max"], "-j2", 20),
            (sides, "-j2", 20),
            (sides, "-j8", 20),
        ]);
    }
}
