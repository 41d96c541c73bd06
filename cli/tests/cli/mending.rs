//! `--iri`, `--repair` and `--rung protocol` as options; what they do is tested with the library.

use std::fs;

use serde_json::Value;

use crate::run::run;

const MESSY: &str = "http://h/a b\nhttp://h/a%20b\n\"http://h/a b\"\nhttp://h/é\nhttp://h/%C3%A9\nhttp:\\\\h\\a b\nhttp://h/\u{1}\n";

#[test]
fn repairs_are_off_by_default_and_asked_for_by_name() {
    assert_eq!(run(["dedup"], MESSY).quiet(), MESSY);
    assert_eq!(
        run(["dedup", "--repair"], MESSY).quiet(),
        "http://h/a b\nhttp://h/é\nhttp://h/%C3%A9\nhttp://h/\u{1}\n"
    );
    assert_eq!(
        run(["dedup", "--repair", "--iri"], MESSY).quiet(),
        "http://h/a b\nhttp://h/é\nhttp://h/\u{1}\n"
    );
    assert_eq!(
        run(["normalize", "--repair=space,quotes", "--on-invalid", "drop"], MESSY).quiet(),
        "http://h/a%20b\nhttp://h/a%20b\nhttp://h/a%20b\nhttp://h/%C3%A9\n"
    );
    let keys = run(["key", "--iri", "--repair"], MESSY).quiet();
    let keys: Vec<&str> = keys.lines().collect();
    assert!(keys[0] == keys[1] && keys[1] == keys[2] && keys[2] == keys[5] && keys[3] == keys[4]);
    let ran = run(["dedup", "--repair=spaces"], MESSY);
    assert!(ran.code == 2 && ran.stderr.contains("line-break"), "{}", ran.stderr);
    // An IRI's host, at a rung that has no names of the DNS.
    let forms = run(["normalize", "--rung", "syntax", "--iri"], "http://BÜCHER.example/\n").quiet();
    assert_eq!(forms, "http://xn--bcher-kva.example/\n");
}

#[test]
fn rows_and_verdicts_are_those_of_what_is_repaired() {
    let rows = |args: &[&str]| {
        let text = run([args, &["--iri", "--repair"]].concat(), MESSY).text().to_owned();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect::<Vec<Value>>()
    };
    let parsed = rows(&["parse"]);
    let paths: Vec<_> = parsed.iter().map(|row| row["path"].as_str()).collect();
    let [one, other] = [Some("/a%20b"), Some("/%C3%A9")];
    assert_eq!(paths, [one, one, one, other, other, one, None]);
    assert_eq!(parsed[6]["error"], serde_json::json!({"kind": "control", "at": 9}));
    let checked = rows(&["check", "--to", "jsonl"]);
    let kinds: Vec<_> = checked.iter().map(|row| row["kind"].as_str()).collect();
    assert_eq!((&kinds[..6], kinds[6]), (&[Some("absolute-uri"); 6][..], None));
    assert_eq!(checked[6]["error"], parsed[6]["error"]);
    let text = run(["check", "--repair", "--iri"], MESSY);
    assert_eq!((text.code, text.text().lines().count()), (1, 3), "{}", text.text());
    assert_eq!(run(["check", "--repair=space"], "http://h/a b\n").quiet(), "");
    let hosts = run(["parse", "--iri", "-g", "{host}"], "http://bücher.example/\na b\n").quiet();
    assert_eq!(hosts, "xn--bcher-kva.example\n");
    let stats = run(["parse", "--repair", "--stats-format", "json"], MESSY);
    let stats: Value = serde_json::from_str(&stats.stderr).unwrap();
    assert_eq!((&stats["invalid"], &stats["written"]), (&2.into(), &7.into()));
}

#[test]
fn the_summary_counts_what_was_repaired() {
    for args in [
        &["parse"][..],
        &["check"],
        &["census"],
        &["normalize"],
        &["key"],
        &["dedup"],
        &["dedup", "--emit", "normalized"],
        &["dedup", "--emit", "normalized", "-c"],
        &["dedup", "--keep", "shortest"],
    ] {
        let repairs = ["--repair", "--iri", "--stats-format", "json"];
        let stats = run([args, &repairs].concat(), MESSY);
        let stats: Value = serde_json::from_str(&stats.stderr).unwrap();
        assert_eq!((&stats["repaired"], &stats["invalid"]), (&4.into(), &1.into()), "{args:?}");
    }
    let stats = run(["dedup", "--repair", "--stats"], MESSY);
    assert!(
        stats.stderr.contains("\n  repaired                    3  compared"),
        "{}",
        stats.stderr
    );
}

#[test]
fn census_counts_what_repairs_merge() {
    let distinct = |args: &[&str]| {
        let answer = run([&["census", "--to", "json"], args].concat(), MESSY).quiet();
        let census: Value = serde_json::from_str(&answer).unwrap();
        let rungs = census["rungs"].as_array().unwrap();
        rungs.iter().map(|rung| rung["distinct"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(distinct(&[]), [7, 7, 7]);
    assert_eq!(distinct(&["--repair"]), [4, 4, 4]);
    assert_eq!(distinct(&["--repair", "--iri"]), [3, 3, 3]);
    for rung in ["string", "syntax", "scheme"] {
        let kept = run(["dedup", "--repair", "--iri", "--rung", rung], MESSY).quiet();
        assert_eq!(kept.lines().count(), 3, "{rung}");
    }
}

#[test]
fn what_is_repaired_is_resolved_too() {
    let list = "http://h/d/a%20b\na b\n./a%20b\n\"/d/a b\"\n";
    let args = ["--base", "http://h/d/", "--repair"];
    let with = |command: &str| run([&[command][..], &args].concat(), list).quiet();
    assert_eq!(with("dedup"), "http://h/d/a%20b\n");
    assert_eq!(with("normalize"), "http://h/d/a%20b\n".repeat(4));
    let census = run([&["census", "--to", "json"][..], &args].concat(), list).quiet();
    let census: Value = serde_json::from_str(&census).unwrap();
    assert_eq!(census["rungs"][2]["distinct"], 1);
    let told = run([&["explain"][..], &args].concat(), "a b\n").quiet();
    assert_eq!(told, "http://h/d/a%20b\n  = http://h/d/a%20b\n");
    let suffixes = "www.h.example/a b\nhttp://www.h.example/a%20b\n";
    let forms = run(["normalize", "--suffix-scheme", "http", "--repair"], suffixes).quiet();
    assert_eq!(forms, "http://www.h.example/a%20b\n".repeat(2));
}

#[test]
fn aliases_are_followed_and_their_faults_told() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("aliases.csv");
    let file = path.to_str().unwrap();
    let list = "http://a/\nHTTP://b:80\nhttp://c/\nhttp://x/\nhttp://y/\nno uri\n";
    fs::write(&path, "from,to\nhttp://a,http://b\nhttp://b/,http://c/\n").unwrap();
    let with =
        |args: &[&str]| run([args, &["--rung", "protocol", "--aliases", file]].concat(), list);
    assert_eq!(with(&["dedup"]).quiet(), "http://a/\nhttp://x/\nhttp://y/\nno uri\n");
    let forms = "http://c/\nhttp://x/\nhttp://y/\nno uri\n";
    assert_eq!(with(&["dedup", "--emit", "normalized"]).quiet(), forms);
    let all = with(&["normalize"]).quiet();
    assert_eq!(all, format!("http://c/\nhttp://c/\n{forms}"));
    let keys = with(&["key"]).quiet();
    assert_eq!(keys, run(["key"], all).quiet());
    let ran = with(&["dedup", "--stats-format", "json"]);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(stats["rung"], "protocol");

    fs::write(
        &path,
        "http://a/,http://b/\nhttp://b/,http://a/\nhttp://x/,http://y/\nhttp://x/,http://c/\nx\n",
    )
    .unwrap();
    let ran = with(&["dedup"]);
    assert_eq!((ran.code, ran.text()), (0, list));
    let told: Vec<&str> = ran.stderr.lines().map(|line| line.split(": ").nth(2).unwrap()).collect();
    assert_eq!(told, ["malformed", "loop", "loop", "conflict", "conflict"], "{}", ran.stderr);
    assert!(ran.stderr.contains("aliases.csv:5: malformed: "), "{}", ran.stderr);
    fs::write(&path, "http://l/\thttp://m/\nhttp://m/\thttp://l/\n".repeat(30)).unwrap();
    let ran = with(&["dedup"]);
    assert_eq!(ran.stderr.lines().count(), 21, "{}", ran.stderr);
    assert!(ran.stderr.contains("loop: 60 rows in total"));
}

#[test]
fn the_rung_and_its_evidence_go_together() {
    for (args, why) in [
        (&["dedup", "--rung", "protocol"][..], "requires --aliases FILE"),
        (&["dedup", "--aliases", "x"], "requires --rung protocol"),
        (&["dedup", "--rung", "protocol", "--aliases", "-"], "the file is read twice"),
        (&["dedup", "--rung", "protocol", "--aliases", "/dev/stdin"], "a pipe does not work"),
        (&["dedup", "--rung", "protocol", "--aliases", "/no/such/file"], "/no/such/file: "),
    ] {
        let ran = run(args, "a:\n");
        assert!(ran.code == 2 && ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    }
}
