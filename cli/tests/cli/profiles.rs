//! `--profile`: the answers of other systems.

use serde_json::{Value, json};

use crate::run::run;

const LIST: &str = "http://h/%7ea?b=2&a=1\nhttp://h/~a?a=1&b=2#f\nHTTP://H:80/%7ea?b=2&a=1\nno url\nhttp://h:99999/\n";

#[test]
fn each_system_has_its_own_classes() {
    let dedup = |profile: &str| run(["dedup", "--profile", profile], LIST).quiet();
    let bad = "no url\nhttp://h:99999/\n";
    assert_eq!(dedup("whatwg"), format!("http://h/%7ea?b=2&a=1\nhttp://h/~a?a=1&b=2#f\n{bad}"));
    let w3lib = format!("http://h/%7ea?b=2&a=1\nHTTP://H:80/%7ea?b=2&a=1\n{bad}");
    assert_eq!(dedup("w3lib"), w3lib);
    assert_eq!(dedup("crawler-commons"), format!("http://h/%7ea?b=2&a=1\n{bad}"));
    assert_eq!(dedup("surt"), format!("http://h/%7ea?b=2&a=1\n{bad}"));
}

#[test]
fn normalize_and_key_write_the_forms() {
    let normalized = run(["normalize", "--profile", "w3lib"], LIST).quiet();
    assert_eq!(normalized.lines().next(), Some("http://h/~a?a=1&b=2"));
    let url = run(["key", "--as", "url", "--profile", "w3lib"], LIST).quiet();
    assert_eq!(url, normalized);
    let surt = run(["normalize", "--profile", "surt"], LIST).quiet();
    let lines: Vec<&str> = surt.lines().collect();
    assert_eq!(lines, ["h)/~a?a=1&b=2", "h)/~a?a=1&b=2", "h)/~a?a=1&b=2", "no url", "h:99999)/"]);
}

#[test]
fn keys_under_different_profiles_never_meet() {
    // The form is the same to all of them.
    let key = |args: &[&str]| run([&["key"], args].concat(), "http://h/\n").quiet();
    let mut keys = vec![key(&[])];
    for profile in ["whatwg", "w3lib", "crawler-commons"] {
        keys.push(key(&["--profile", profile]));
    }
    keys.sort();
    keys.dedup();
    assert_eq!(keys.len(), 4);
}

#[test]
fn what_the_system_refuses_is_invalid() {
    let ran = run(["dedup", "--profile", "whatwg", "--on-invalid", "drop", "--stats=json"], LIST);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&stats["profile"], &stats["level"]), (&json!("whatwg"), &Value::Null));
    assert_eq!((&stats["invalid"], &stats["invalid_by_kind"]["profile"]), (&json!(2), &json!(2)));
    assert_eq!(ran.text().lines().count(), 2);
    let ran = run(["normalize", "--profile", "whatwg", "--on-invalid", "error"], LIST);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains(":4: profile at column 1"), "{}", ran.stderr);
    let ran = run(["dedup", "--profile", "w3lib", "--stats"], LIST);
    assert!(ran.stderr.contains("uriscan dedup: profile w3lib, backend"), "{}", ran.stderr);
}

#[test]
fn a_profile_stands_alone() {
    for args in [
        &["dedup", "--profile", "whatwg", "--level", "syntax"][..],
        &["dedup", "--profile", "whatwg", "--rule", "www"],
        &["dedup", "--profile", "whatwg", "--rules", "tracking"],
        &["dedup", "--profile", "whatwg", "--preset", "crawl"],
        &["normalize", "--profile", "whatwg", "--drop-fragment"],
        &["normalize", "--profile", "whatwg", "--base", "http://h/"],
        &["normalize", "--profile", "whatwg", "--grammar", "rfc2396"],
        &["key", "--profile", "whatwg", "--iri"],
        &["key", "--profile", "whatwg", "--repair"],
        &["key", "--profile", "surt", "--as", "ssurt"],
        &["dedup", "--profile", "whatwg", "--dupes", "x"],
        &["dedup", "--profile", "whatwg", "--clusters", "x"],
        &["dedup", "--profile", "chrome"],
    ] {
        let ran = run(args, "http://h/\n");
        assert_eq!((ran.code, ran.text()), (2, ""), "{args:?}");
        assert!(ran.stderr.contains("--profile"), "{args:?}: {}", ran.stderr);
    }
    let counted = run(["dedup", "-c", "--profile", "crawler-commons"], LIST).quiet();
    assert!(counted.starts_with("      3 http://h/%7ea?b=2&a=1\n"), "{counted}");
}
