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

#[test]
fn the_limit_changes_no_byte() {
    let text = uris(400_000);
    let place = Place::new(&[("list", &text)]);
    fs::create_dir(place.path("aside")).unwrap();
    let plain = place.run(&["dedup", "list"], "").quiet();
    // Many threads have large buffers: little is left for keys.
    let limited = ["dedup", "-j", "8", "--max-memory", "64M", "--temp-dir", "aside"];
    let stats = ["--stats-format", "json"];
    for (more, input) in [(&["list"][..], ""), (&[], &*text)] {
        let ran = place.run(&[&limited, more, &stats[..]].concat(), input);
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(ran.text() == plain);
        let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert!(stats["spilled_bytes"].as_u64().unwrap() > 0, "{stats}");
        assert_eq!(stats["duplicates"], 133_333);
        assert_eq!(fs::read_dir(place.path("aside")).unwrap().count(), 0);
    }
    let ran = place.run(&[&limited, &["list", "-o", "list"][..]].concat(), "").quiet();
    assert!(ran.is_empty() && place.read("list") == plain, "in place");
    assert_eq!(place.names(), ["aside", "list"]);
}

#[test]
fn what_cannot_be_done_is_told() {
    let place = Place::new(&[("list", &uris(400_000))]);
    let run = |args: &[&str]| place.run(&[&["dedup", "-j8", "--max-memory"], args].concat(), "");
    let message = run(&["64M", "--temp-dir", "nowhere", "list", "-o", "out"]).refused();
    assert!(message.starts_with("uriscan: nowhere: cannot put aside"), "{message}");
    assert!(message.contains("--temp-dir"), "{message}");
    assert_eq!(place.names(), ["list"]);
    let message = run(&["64M", "-c", "list", "-o", "out"]).refused();
    assert!(message.contains("limit of 64 MiB") && message.contains("--max-memory"), "{message}");
    assert_eq!(place.names(), ["list"]);
    let ran = run(&["63M", "list"]);
    assert!(ran.code == 2 && ran.stderr.contains("64M or more"), "{}", ran.stderr);
}
