//! `--iri`, `--repair` and `--level protocol` as options; what they do is tested with the library.

use std::fs;

use serde_json::Value;

use crate::run::run;

const MESSY: &str = "http://h/a b\nhttp://h/a%20b\n\"http://h/a b\"\nhttp://h/é\nhttp://h/%C3%A9\nhttp:\\\\h\\a b\nhttp://h/\u{1}\n";

#[test]
fn repairs_are_off_by_default_and_asked_for_by_name() {
    assert_eq!(run(["dedup", "-q"], MESSY).quiet(), MESSY);
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
    // An IRI's host, at a level that has no names of the DNS.
    let forms =
        run(["normalize", "--level", "syntax", "--iri"], "http://BÜCHER.example/\n").quiet();
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
    let hosts = run(["parse", "--iri", "-g", "{host}"], "http://bücher.example/\na b\n");
    let hosts = hosts.text();
    assert_eq!(hosts, "xn--bcher-kva.example\n");
    let stats = run(["parse", "--repair", "--stats=json"], MESSY);
    let stats: Value = serde_json::from_str(&stats.stderr).unwrap();
    assert_eq!((&stats["invalid"], &stats["written"]), (&2.into(), &7.into()));
}

/// The same two URLs, with character references between their parameters.
const COPIED: &str =
    "http://h/?a=1&#38;id=2\nhttp://h/?a=1&#38;id=3\nhttp://h/?a=1&id=2\nhttp://h/?a=1&amp;id=3\n";

#[test]
fn character_references_are_decoded_on_request_and_are_no_fragments() {
    let with = |args: &[&str]| run(args, COPIED).quiet();
    assert_eq!(with(&["dedup", "--preset", "crawl"]), COPIED);
    for preset in [&["--preset", "crawl"][..], &[], &["--level", "string"]] {
        for repair in ["--repair=entity", "--repair=all,entity", "--repair=space,entity"] {
            assert_eq!(
                with(&[&["dedup", repair][..], preset].concat()),
                "http://h/?a=1&#38;id=2\nhttp://h/?a=1&#38;id=3\n",
                "{preset:?} {repair}"
            );
        }
    }
    assert_eq!(with(&["normalize", "--repair"]), COPIED);
    let decoded = "http://h/?a=1&id=2\nhttp://h/?a=1&id=3\n".repeat(2);
    assert_eq!(with(&["normalize", "--repair=entity"]), decoded);
    assert_eq!(with(&["key", "--as", "url", "--repair=entity"]), decoded);
    let queries = with(&["parse", "--repair=entity", "-g", "{query}"]);
    assert_eq!(queries, "a=1&id=2\na=1&id=3\n".repeat(2));
    let resolved = ["resolve", "--base", "http://h/", "--repair=entity"];
    assert_eq!(
        run(resolved, "?a=1&#38;id=2\n?b&amp;amp;c\n").quiet(),
        "http://h/?a=1&id=2\nhttp://h/?b&amp;c\n"
    );
    let census = with(&["census", "--to", "json", "--repair=entity"]);
    let census: Value = serde_json::from_str(&census).unwrap();
    assert_eq!(
        (&census["levels"][0]["distinct"], &census["levels"][2]["distinct"]),
        (&2.into(), &2.into())
    );
    let explained = with(&["explain", "--repair=entity"]);
    assert!(explained.contains("#38;id=3\n  read as http://h/?a=1&id=3\n"), "{explained}");
    let filtered = with(&["dedup", "--repair=entity", "--match", "&id=2"]);
    assert_eq!(filtered, "http://h/?a=1&#38;id=2\n");
    let stats = run(["dedup", "--repair=entity", "--stats=json"], COPIED);
    let stats: Value = serde_json::from_str(&stats.stderr).unwrap();
    assert_eq!((&stats["repaired"], &stats["invalid"]), (&3.into(), &0.into()));
}

#[test]
fn links_of_pages_are_decoded_once_and_those_of_text_by_repair() {
    let page = "<!doctype html>\n<a href='http://h/?a&amp;b'>1</a> <a href='http://h/?c&amp;amp;d'>2</a>\n";
    let from_page = "http://h/?a&b\nhttp://h/?c&amp;d\n";
    let text = "see http://h/?a&amp;b and http://h/?c&amp;amp;d here\n";
    let json = "{\"u\":\"http://h/?a&amp;b\"}\n";
    for (input, from, repair, expected) in [
        (page, "html", None, from_page),
        (page, "html", Some("--repair"), from_page),
        (page, "html", Some("--repair=all,entity"), from_page),
        (text, "text", None, "http://h/?a&amp;b\nhttp://h/?c&amp;amp;d\n"),
        (text, "text", Some("--repair"), from_page),
        (text, "text", Some("--repair=entity"), from_page),
        (text, "text", Some("--repair=space"), "http://h/?a&amp;b\nhttp://h/?c&amp;amp;d\n"),
        (json, "json", Some("--repair"), "http://h/?a&amp;b\n"),
        (json, "json", Some("--repair=entity"), "http://h/?a&b\n"),
    ] {
        let args = [&["normalize", "--extract", "--from", from][..], repair.as_slice()].concat();
        assert_eq!(run(args, input).quiet(), expected, "{from} {repair:?}");
    }
}

#[test]
fn what_cannot_be_seen_around_a_record_is_removed() {
    let list = "http://h/a\u{A0}\n\u{FEFF}\u{FEFF}http://h/a\n\u{3000}http://h/a\u{200B}\n\u{202A}http://h/a\u{202C}\u{2060}\nhttp://h/a\u{A0}b\n";
    let expected = "http://h/a\n".repeat(4) + "http://h/a\u{A0}b\n";
    for repair in ["--repair", "--repair=padding"] {
        assert_eq!(run(["normalize", repair], list).quiet(), expected, "{repair}");
    }
    let mapped = run(["normalize", "--repair", "--iri"], list).quiet();
    assert_eq!(mapped, "http://h/a\n".repeat(4) + "http://h/a%C2%A0b\n");
    assert_eq!(run(["dedup", "--repair"], list).quiet().lines().count(), 2);
}

#[test]
fn references_are_resolved_as_repaired() {
    for (args, input, expected) in [
        (
            &["--base", "http://h/c.php", "--repair"][..],
            "pdf/A B.pdf\n",
            "http://h/pdf/A%20B.pdf\n",
        ),
        (
            &["--base", "http://h/c.php", "--repair=space"],
            "pdf/A B.pdf\na|b\n",
            "http://h/pdf/A%20B.pdf\na|b\n",
        ),
        (&["--base", "http://h/c.php", "--iri"], "é\n", "http://h/%C3%A9\n"),
        (&["--base", "http://h/A B/c", "--repair"], "x\n", "http://h/A%20B/x\n"),
        (
            &["--base", "http://h/d/", "--repair"],
            "\"../a\\b\"\n\u{A0}x\u{A0}\n",
            "http://h/a%5Cb\nhttp://h/d/x\n",
        ),
        (&["--base-column", "1", "--repair"], "http://h/a b/c\td e\n", "http://h/a%20b/d%20e\n"),
        (
            &["--base-column", "b", "--from", "jsonl", "--repair", "--iri"],
            "{\"b\":\"http://h/\",\"reference\":\"\\u00e9 x\"}\n",
            "http://h/%C3%A9%20x\n",
        ),
        (
            &["--suffix-scheme", "http", "--repair"],
            "www.h.example/a b\n",
            "http://www.h.example/a%20b\n",
        ),
    ] {
        let args = [&["resolve"], args].concat();
        assert_eq!(run(args.clone(), input).quiet(), expected, "{args:?}");
    }
    let forms = run(["normalize", "--base", "http://h/c.php", "--repair"], "pdf/A B.pdf\n").quiet();
    assert_eq!(forms, "http://h/pdf/A%20B.pdf\n");
    let dropped = ["resolve", "--base", "http://h/a", "--repair", "--same-document", "drop"];
    assert_eq!(run(dropped, "# b\n\"#\"\nx\n").quiet(), "http://h/x\n");
    let stats =
        run(["resolve", "--base", "http://h/", "--repair", "--stats=json"], "a b\nc\n#\u{1}\n");
    let stats: Value = serde_json::from_str(&stats.stderr).unwrap();
    assert_eq!((&stats["repaired"], &stats["invalid"]), (&1.into(), &1.into()));
    run(["resolve", "--base", "http://h/", "--repair", "--grammar", "rfc2396"], "a b\n").refused();
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
        let repairs = ["--repair", "--iri", "--stats=json"];
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
        let levels = census["levels"].as_array().unwrap();
        levels.iter().map(|level| level["distinct"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(distinct(&[]), [7, 7, 7]);
    assert_eq!(distinct(&["--repair"]), [4, 4, 4]);
    assert_eq!(distinct(&["--repair", "--iri"]), [3, 3, 3]);
    for level in ["string", "syntax", "scheme"] {
        let kept = run(["dedup", "--repair", "--iri", "--level", level], MESSY).quiet();
        assert_eq!(kept.lines().count(), 3, "{level}");
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
    assert_eq!(census["levels"][2]["distinct"], 1);
    let reported = run([&["explain"][..], &args].concat(), "a b\n").quiet();
    assert_eq!(reported, "a b\n  read as http://h/d/a%20b\n  = http://h/d/a%20b\n");
    let suffixes = "www.h.example/a b\nhttp://www.h.example/a%20b\n";
    let forms = run(["normalize", "--suffix-scheme", "http", "--repair"], suffixes).quiet();
    assert_eq!(forms, "http://www.h.example/a%20b\n".repeat(2));
}

#[test]
fn aliases_are_followed_and_their_faults_reported() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("aliases.csv");
    let file = path.to_str().unwrap();
    let list = "http://a/\nHTTP://b:80\nhttp://c/\nhttp://x/\nhttp://y/\nno uri\n";
    fs::write(&path, "from,to\nhttp://a,http://b\nhttp://b/,http://c/\n").unwrap();
    let with =
        |args: &[&str]| run([args, &["--level", "protocol", "--aliases", file]].concat(), list);
    assert_eq!(with(&["dedup"]).quiet(), "http://a/\nhttp://x/\nhttp://y/\nno uri\n");
    let forms = "http://c/\nhttp://x/\nhttp://y/\nno uri\n";
    assert_eq!(with(&["dedup", "--emit", "normalized"]).quiet(), forms);
    let all = with(&["normalize"]).quiet();
    assert_eq!(all, format!("http://c/\nhttp://c/\n{forms}"));
    let keys = with(&["key"]).quiet();
    assert_eq!(keys, run(["key"], all).quiet());
    let ran = with(&["dedup", "--stats=json"]);
    let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!(stats["level"], "protocol");

    fs::write(
        &path,
        "http://a/,http://b/\nhttp://b/,http://a/\nhttp://x/,http://y/\nhttp://x/,http://c/\nx\n",
    )
    .unwrap();
    let ran = with(&["dedup"]);
    assert_eq!((ran.code, ran.text()), (0, list));
    let reported = ran.reported();
    let reported: Vec<&str> =
        reported.lines().map(|line| line.split(": ").nth(2).unwrap()).collect();
    assert_eq!(reported, ["malformed", "loop", "loop", "conflict", "conflict"], "{}", ran.stderr);
    assert!(ran.stderr.contains("aliases.csv:5: malformed: "), "{}", ran.stderr);
    fs::write(&path, "http://l/\thttp://m/\nhttp://m/\thttp://l/\n".repeat(30)).unwrap();
    let ran = with(&["dedup"]);
    assert_eq!(ran.reported().lines().count(), 21, "{}", ran.stderr);
    assert!(ran.stderr.contains("loop: 60 rows in total"));
}

#[test]
fn the_level_and_its_evidence_go_together() {
    for (args, why) in [
        (&["dedup", "--level", "protocol"][..], "requires --aliases FILE"),
        (&["dedup", "--aliases", "x"], "requires --level protocol"),
        (&["dedup", "--level", "protocol", "--aliases", "-"], "the file is read twice"),
        (&["dedup", "--level", "protocol", "--aliases", "/dev/stdin"], "a pipe does not work"),
        (&["dedup", "--level", "protocol", "--aliases", "/no/such/file"], "/no/such/file: "),
    ] {
        let ran = run(args, "a:\n");
        assert!(ran.code == 2 && ran.stderr.contains(why), "{args:?}: {}", ran.stderr);
    }
}

#[test]
fn the_fault_that_repairs_leave_is_the_one_that_is_reported() {
    let text = "http://h/ü b\n";
    let checked = run(["check", "--iri"], text);
    assert!(checked.text().starts_with("-:1:12: space: "), "{}", checked.text());
    let parsed = run(["parse", "--iri"], text);
    assert!(parsed.text().contains(r#""error":{"kind":"space","at":11}"#), "{}", parsed.text());
    let checked = run(["check", "--repair"], text);
    assert!(checked.text().starts_with("-:1:10: non-ascii: "), "{}", checked.text());
    for command in [
        &["normalize"][..],
        &["dedup"],
        &["key"],
        &["resolve", "--base", "http://h/"],
        &["resolve", "--suffix-scheme", "http"],
    ] {
        let refused = run([command, &["--iri", "--on-invalid", "error"]].concat(), text).refused();
        assert!(refused.contains("-:1: space at column 12 (byte 11)"), "{command:?}: {refused}");
    }
    let rows = run(
        ["resolve", "--iri", "--base-column", "1", "--on-invalid", "error"],
        "http://ü/\tü b\n",
    );
    let refused = rows.refused();
    assert!(refused.contains("-:1: space at column 14 (byte 13)"), "{refused}");
    let base = run(["dedup", "--iri", "--base", "http://ü/ b"], "").refused();
    assert!(base.contains("space at byte 10"), "{base}");
    for command in ["census", "top", "normalize", "check"] {
        let ran = run([command, "--iri", "--stats=json"], text);
        let stats: Value = serde_json::from_str(&ran.stderr).unwrap();
        assert_eq!(stats["invalid_by_kind"]["space"], 1, "{command}");
    }
}
