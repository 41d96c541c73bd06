//! Filters by values and by files of them.

use std::fs;
use std::io::Write;

use crate::run::{Place, run};

const LIST: &str = "http://spam.example/\nhttp://x.SPAM.example:8/a\nhttp://notspam.example/\nhttp://[0:0::1]/\n\
http://10.0.1.1/\nmailto:a@spam.example\nhttp://b%C3%BCcher.example/no.png\n";

/// The lines of the list that are kept, by their numbers.
fn kept(args: &[&str]) -> Vec<usize> {
    let place = Place::new(&[("list", LIST)]);
    kept_in(&place, args)
}

fn kept_in(place: &Place, args: &[&str]) -> Vec<usize> {
    let out = place.run(&[&["dedup", "--on-invalid", "pass", "list"], args].concat(), "").quiet();
    let number = |line: &str| LIST.lines().position(|it| it == line).unwrap();
    out.lines().map(number).collect()
}

#[test]
fn a_value_selects_all_spellings_of_what_it_names() {
    for (args, expected) in [
        (&["--not-domain", "*.spam.example"][..], &[2, 3, 4, 5, 6][..]),
        (&["--not-domain", ".spam.example"], &[2, 3, 4, 5, 6]),
        (&["--domain", "SPAM.Example."], &[0, 1]),
        (&["--host", "spam.example"], &[0]),
        (&["--not-host", "[::1]"], &[0, 1, 2, 4, 5, 6]),
        (&["--host", "::1"], &[3]),
        (&["--host", "0000::0001"], &[3]),
        (&["--domain", "b\u{FC}cher.example"], &[6]),
        (&["--domain", "xn--bcher-kva.example,10.0.1.1"], &[4, 6]),
        (&["--scheme", "HTTP://"], &[0, 1, 2, 3, 4, 6]),
        (&["--not-scheme", "mailto:"], &[0, 1, 2, 3, 4, 6]),
        (&["--match", "png$", "--match", "^mailto"], &[5, 6]),
    ] {
        assert_eq!(kept(args), expected, "{args:?}");
    }
}

#[test]
fn lines_that_are_named_are_those_of_the_file_whatever_is_filtered() {
    let list = "http://b/1\n\nhttp://a/1\nhttp://b/2\n  http://a/%zz\nHTTP://a/1\n";
    let place = Place::new(&[("list", list)]);
    let run = |args: &[&str]| place.run(&[args, &["--not-host", "b", "list"]].concat(), "");
    for command in ["dedup", "normalize", "key"] {
        let error = run(&[command, "--on-invalid", "error"]).stderr;
        assert!(error.contains("list:5: percent at column 10 (byte 45)"), "{error}");
    }
    let check = String::from_utf8(run(&["check"]).stdout).unwrap();
    assert!(check.contains("list:5:12: percent"), "{check}");
    run(&["dedup", "--clusters", "sides.jsonl", "--temp-dir", "."]);
    let lines: Vec<String> = place.read("sides.jsonl").lines().map(str::to_owned).collect();
    assert!(lines[0].contains("\"line\":3,") && lines[0].contains("\"line\":6,"), "{lines:?}");
    run(&["dedup", "--report", "page.html"]);
    assert!(place.read("page.html").contains("list:5"));
}

#[test]
fn what_is_filtered_is_counted_by_every_command() {
    for command in ["dedup", "normalize", "key", "parse", "check", "audit", "census", "top"] {
        let ran = run([command, "--stats=json", "--not-host", "a"], "http://a/\nhttp://b/\n");
        assert!(ran.stderr.contains("\"filtered\":1,"), "{command}: {}", ran.stderr);
    }
}

#[test]
fn a_value_that_no_uri_has_is_refused_with_the_reason() {
    for (args, why) in [
        (["--not-domain", "http://spam.example/"], "this is a URL; write its host alone"),
        (["--domain", "spam.example/x"], "a host has no path"),
        (["--not-host", "10.0.0.0/8"], "10.0.0.0/8 are not supported"),
        (["--host", "h:80"], "without its port"),
        (["--host", "u@h"], "without the user"),
        (["--host", "*.a.example"], "all hosts of a.example are selected by domain"),
        (["--domain", "a.*.example"], "not a pattern"),
        (["--domain", ""], "the name is empty"),
        (["--domain", "0.1.1"], "ends in a number"),
        (["--domain", "a..example"], "a label of the name is empty"),
        (["--host", "fe80::1%lo0"], "with a zone"),
        (["--scheme", "ht tp"], "not a scheme"),
        (["--not-scheme", "*"], "not a scheme"),
    ] {
        let ran = run([&["dedup"][..], &args].concat(), "http://h/\n");
        assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}");
        let message = ran.stderr;
        assert!(message.contains(why) && message.contains(args[0]), "{args:?}: {message}");
    }
}

#[test]
fn files_of_values_select_as_their_values_do() {
    let place = Place::new(&[
        ("list", LIST),
        ("names", "\u{FEFF}# mine\r\n*.spam.example\r\n\r\n  ::1 # me\n"),
        (
            "hosts",
            "127.0.0.1 localhost\n0 local\nfe80::1%lo0 localhost\n::1 ip6-localhost ip6-loopback\n0.0.0.0 0.0.0.0\n##\n## Host Database\n0.0.0.0 ip6-tracker.example ## a note\n0.0.0.0 spam.example notspam.example # both\n",
        ),
        ("adblock", "[Adblock Plus 2.0]\n! Title: mine\n||spam.example^\n"),
        ("patterns", "# images\n\\.png$\n^mailto\n"),
    ]);
    let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    packed.write_all(b"spam.example\n").unwrap();
    fs::write(place.path("packed"), packed.finish().unwrap()).unwrap();
    for (args, expected) in [
        (&["--not-domain-file", "names"][..], &[2, 4, 5, 6][..]),
        (&["--domain-file", "names"], &[0, 1, 3]),
        (&["--not-host-file", "hosts"], &[1, 3, 4, 5, 6]),
        (&["--not-domain-file", "hosts"], &[3, 4, 5, 6]),
        (&["--not-domain-file", "adblock"], &[2, 3, 4, 5, 6]),
        (&["--match-file", "patterns"], &[5, 6]),
        (&["--not-match-file", "patterns", "--domain-file", "packed"], &[0, 1]),
        (&["--host-file", "packed"], &[0]),
        (&["--host-file", "packed", "--host", "notspam.example"], &[0, 2]),
    ] {
        assert_eq!(kept_in(&place, args), expected, "{args:?}");
    }
    let links = ["extract", "list", "--not-domain-file", "names", "--scheme", "http"];
    let expected = [2, 4, 6].map(|number| format!("{}\n", LIST.lines().nth(number).unwrap()));
    assert_eq!(place.run(&links, "").quiet(), expected.concat());
}

#[test]
fn a_file_of_values_is_read_whole_or_refused_with_the_place() {
    let long = "a".repeat(70_000);
    for (option, text, why) in [
        ("--domain-file", "a.example\nhttp://b.example/\n", "names:2: this is a URL"),
        ("--host-file", "||a.example^\n", "names:1: a line of such a list is a domain"),
        (
            "--domain-file",
            "\n||a.example^$third-party\n",
            "names:2: not a host: of the rules of ad blockers",
        ),
        ("--domain-file", "@@||a.example^\n", "names:1: not a host: of the rules of ad blockers"),
        ("--domain-file", "a.example##.ad\n", "names:1: not a host: of the rules of ad blockers"),
        ("--domain-file", "##.ad\n", "names:1: not a host: of the rules of ad blockers"),
        ("--host-file", "a b\n", "names:1: not of a known list"),
        ("--host-file", &long, "names:1: a line of more than 64 KiB"),
        ("--domain-file", "# nothing\n\n", "names: has no value"),
        ("--match-file", "a\n(\n", "names:2: unclosed group"),
        ("--match-file", "||ads.example^\n", "names:1: an empty alternative"),
        ("--domain-file", "1,ads.example\n", "names:1: a host cannot contain ','"),
        ("--domain-file", "DOMAIN-SUFFIX,ads.example\n", "names:1: a host cannot contain ','"),
        ("--domain-file", "10.0.0.0-10.0.0.9\n", "names:1: it ends in a number"),
        ("--not-match-file", "*\n", "names:1: "),
    ] {
        let place = Place::new(&[("names", text)]);
        let message = place.run(&["dedup", option, "names"], "http://h/\n").refused();
        assert!(message.contains(why), "{option} {text:.40?}: {message}");
    }
    let place = Place::new(&[("names", "# nothing\n"), ("list", "http://h/\n")]);
    place.run(&["dedup", "--not-domain-file", "names", "list"], "").quiet();
    let place = Place::new(&[("names", "a.example\n"), ("list", LIST)]);
    let message = place.run(&["dedup", "--host-file", "-", "list"], "").refused();
    assert!(message.contains("name a file of values"), "{message}");
    let message = place.run(&["dedup", "--host-file", "nowhere", "list"], "").refused();
    assert!(message.contains("nowhere: "), "{message}");
    let onto = ["dedup", "--not-domain-file", "names", "list", "-o", "names"];
    let message = place.run(&onto, "").refused();
    assert!(message.contains("names") && place.read("names") == "a.example\n", "{message}");
    fs::write(place.path("names"), b"\xFF\n").unwrap();
    let message = place.run(&["dedup", "--host-file", "names", "list"], "").refused();
    assert!(message.contains("names:1: not UTF-8"), "{message}");
}

#[test]
fn many_names_are_found_as_one_is() {
    let names: String = (0..200_000).map(|i| format!("h{}.d{i}.example\n", i % 9)).collect();
    let uris: String =
        (0..3_000).map(|i| format!("http://x.h{}.d{}.example/\n", i % 9, i * 100)).collect();
    let place = Place::new(&[("names", &names), ("list", &uris)]);
    let kept = place.run(&["dedup", "--domain-file", "names", "list"], "").quiet();
    let expected: String = (0..3_000)
        .filter(|i| i * 100 % 9 == i % 9 && i * 100 < 200_000)
        .map(|i| format!("http://x.h{}.d{}.example/\n", i % 9, i * 100))
        .collect();
    assert!(kept == expected && !kept.is_empty());
    let others = place.run(&["dedup", "--not-domain-file", "names", "list"], "").quiet();
    assert_eq!(others.lines().count() + kept.lines().count(), 3_000);
}

/// A list with traps.
const TRAPS: &str = "http://h/\nhttp://h/a/b/c/d\nhttp://h/a/b/a/b/a/b\nhttp://h/x/x/y\nhttp://h/?a&b=1&c\nhttp://h/?a&&b\nnot a uri/a/a/a\n";

#[test]
fn limits_drop_what_has_more() {
    let place = Place::new(&[("list", TRAPS)]);
    for (args, dropped) in [
        (&["--max-segments", "4"][..], &[2][..]),
        (&["--max-segments", "3"], &[1, 2, 6]),
        (&["--max-segments", "0"], &[1, 2, 3, 6]),
        (&["--max-repeats", "2"], &[2, 6]),
        (&["--max-repeats", "1"], &[2, 3, 6]),
        (&["--max-params", "2"], &[4]),
        (&["--max-params", "0"], &[4, 5]),
        (&["--max-length", "15"], &[1, 2, 4]),
        (&["--max-length", "2K"], &[]),
        (&["--max-repeats", "2", "--max-params", "2", "--host", "h"], &[2, 4, 6]),
        (&["--max-repeats", "2", "--not-match", "x"], &[2, 3, 6]),
    ] {
        let out = place.run(&[&["dedup", "list"], args].concat(), "").quiet();
        let expected: String = (TRAPS.lines().enumerate())
            .filter(|(number, _)| !dropped.contains(number))
            .map(|(_, line)| format!("{line}\n"))
            .collect();
        assert_eq!(out, expected, "{args:?}");
    }
    // As they are resolved and repaired.
    let base = ["normalize", "--base", "http://h/a/a/", "--max-repeats", "2"];
    assert_eq!(run(base, "b\na\n").quiet(), "http://h/a/a/b\n");
    let links = ["extract", "--max-repeats", "2"];
    assert_eq!(run(links, "see http://h/a/a/a and http://h/a/a.\n").quiet(), "http://h/a/a\n");
}

#[test]
fn limits_that_nothing_or_all_exceeds_are_refused() {
    for args in [
        ["--max-repeats", "0"],
        ["--max-length", "0"],
        ["--max-params", "1.5"],
        ["--max-length", "2Q"],
        ["--max-segments", "99999999999999999999"],
        ["--max-repeats", ""],
    ] {
        let ran = run([&["dedup"][..], &args].concat(), "http://h/\n");
        assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains(args[0]), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn the_summary_counts_what_is_dropped_by_cause() {
    let limits =
        ["--max-segments", "5", "--max-repeats", "1", "--max-params", "2", "--not-host", "i"];
    let list = format!("{TRAPS}http://i/\nhttp://i/x/x\n");
    let place = Place::new(&[("list", &list), ("list.csv", &format!("url\n{}", list))]);
    let text = "  filtered                    6  not selected\n    not-host                  2\n    max-segments              1\n    max-repeats               2\n    max-params                1\n";
    for args in [
        &["dedup", "list"][..],
        &["normalize", "list"],
        &["parse", "list"],
        &["dedup", "--column", "url", "list.csv"],
    ] {
        let stats = place.run(&[args, &limits, &["--stats"]].concat(), "").stderr;
        assert!(stats.contains(text), "{args:?}: {stats}");
    }
    for args in [&["extract", "list"][..], &["dedup", "--extract", "list"]] {
        let stats = place.run(&[args, &limits, &["--stats=json"]].concat(), "").stderr;
        let stats: serde_json::Value = serde_json::from_str(stats.lines().last().unwrap()).unwrap();
        let of = |name: &str| stats["filtered_by_cause"][name].as_u64();
        assert_eq!(
            (of("not-host"), of("max-repeats"), of("host")),
            (Some(2), Some(1), Some(0)),
            "{stats}"
        );
        assert_eq!(stats["filtered"], 5, "{stats}");
    }
}

#[test]
fn a_path_of_a_megabyte_is_searched_in_linear_time() {
    for segment in ["/a", "/", "/a/b"] {
        let long = format!("http://h{}\nhttp://h/b\n", segment.repeat((1 << 20) / segment.len()));
        let started = std::time::Instant::now();
        assert_eq!(run(["dedup", "--max-repeats", "100"], &long).quiet(), "http://h/b\n");
        assert!(run(["dedup", "--max-repeats", "1000000000"], &long).quiet() == long);
        assert!(started.elapsed().as_secs() < 60);
    }
}
