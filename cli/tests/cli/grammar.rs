//! `--grammar`, `check --differ` and `uriscan rules grammar`.

use crate::run::run;

const LIST: &str = "http://a_b/\nmailto:a@b?c\nhttp://[::1]/\na:\nhttp://h:8x/\nhttp://256.1.1.1/\nhttp://h/;p\na b\n";

#[test]
fn check_judges_by_the_grammar_asked_for() {
    let ran = run(["check", "--grammar", "rfc2396", "--to", "jsonl"], LIST);
    assert_eq!(ran.code, 1);
    let lines: Vec<serde_json::Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let errors: Vec<_> = lines.iter().map(|line| line["error"]["kind"].as_str()).collect();
    let none = None;
    assert_eq!(
        errors,
        [none, none, Some("bracket"), Some("no-path"), none, none, none, Some("space")]
    );
    assert_eq!(lines[0]["kind"], "absolute-uri");
    let with_2732 = run(["check", "--grammar", "rfc2396+2732"], "http://[::1]/\n");
    assert_eq!(with_2732.quiet(), "");
}

#[test]
fn what_the_grammars_read_differently_is_listed_with_why() {
    let ran = run(["check", "--differ", "--to", "jsonl", "--stats=json"], LIST);
    assert_eq!(ran.code, 1);
    let lines: Vec<serde_json::Value> =
        ran.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let reasons: Vec<_> = lines.iter().map(|line| line["differ"].as_str()).collect();
    let expected =
        ["registry", "opaque-query", "only-rfc3986", "only-rfc3986", "only-rfc2396", "ipv4"];
    assert_eq!(reasons[..6], expected.map(Some));
    assert_eq!(reasons[6..], [None, None]);
    assert_eq!((&lines[0]["at"], &lines[7]["error"]["kind"]), (&7.into(), &"space".into()));
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&stats["differing"], &stats["invalid"]), (&6.into(), &1.into()));
    // What was not asked for is not told.
    let stats = run(["check", "--stats=json"], "http://h/\n");
    let stats: serde_json::Value = serde_json::from_str(&stats.stderr).unwrap();
    assert!(stats["differing"].is_null());
    let text = run(["check", "--differ"], "http://h/\nhttp://a_b/\n");
    assert_eq!((text.code, text.text().lines().count()), (1, 3));
    assert!(text.text().starts_with("-:2:8: registry: "), "{}", text.text());
    assert_eq!(run(["check", "--differ"], "http://h/a;b?c#d\nmailto:a@b\n").quiet(), "");
}

#[test]
fn parse_names_the_components_of_the_old_grammar() {
    let ran = run(["parse", "--grammar", "rfc2396"], "mailto:a@b?c\n//www.h.example/a;x;y/b\n");
    let text = ran.quiet();
    let rows: Vec<serde_json::Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(
        (&rows[0]["opaque_part"], &rows[0]["query"]),
        (&"a@b?c".into(), &serde_json::Value::Null)
    );
    assert_eq!(rows[1]["params"], serde_json::json!([["x", "y"], []]));
    assert_eq!(
        (&rows[1]["toplabel"], &rows[1]["server"]),
        (&"example".into(), &"www.h.example".into())
    );
    let tsv = run(["parse", "--grammar", "rfc2396", "--to", "tsv"], "a b\n").quiet();
    assert!(
        tsv.starts_with("line\tscheme\topaque_part\t") && tsv.ends_with("\tspace@1\n"),
        "{tsv}"
    );
}

#[test]
fn forms_keys_and_targets_are_those_of_the_grammar() {
    let old = ["--grammar", "rfc2396"];
    let with = |args: &[&'static str], text: &str| run([args, &old].concat(), text).quiet();
    assert_eq!(with(&["normalize"], "HTTP://H:80/%21/../../a\n"), "http://h/../a\n");
    assert_eq!(with(&["normalize", "--base", "http://h/a/b"], "../../x%21\n"), "http://h/../x!\n");
    let targets = with(&["resolve", "--base", "http://a/b/c?q"], "?y\n#s\n/./g\n../../g\n");
    assert_eq!(targets, "http://a/b/?y\nhttp://a/b/c?q#s\nhttp://a/./g\nhttp://a/../g\n");
    let rows = "http://a/b/c\t../../g\nhttp://a/b/c\t#s\nmailto:a\tg\nhttp://a b\tg\nno columns\n";
    let ran = run(["resolve", "--base-column", "1", "--stats=json"].iter().chain(&old), rows);
    let expected = "http://a/../g\nhttp://a/b/c#s\nmailto:a\tg\nhttp://a b\tg\nno columns\n";
    assert_eq!((ran.code, ran.text()), (0, expected));
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((&stats["invalid"], &stats["same_document"]), (&3.into(), &1.into()));
    let stop = ["resolve", "--base-column", "2", "--on-invalid", "error"];
    let ran = run(stop.iter().chain(&old), "../g\thttp://a/b/c\nx\thttp://a b\n");
    assert_eq!((ran.code, ran.text()), (2, "http://a/g\n"));
    assert!(ran.stderr.contains("-:2: space at column 11 "), "{}", ran.stderr);
    let rows = "{\"base\":\"http://a/b/c\",\"reference\":\"?y\"}\n";
    let members = ["resolve", "--base-column", "base", "--from", "jsonl"];
    assert_eq!(run(members.iter().chain(&old), rows).quiet(), "http://a/b/?y\n");
    let dropped = ["resolve", "--base", "http://a/b/c?q", "--same-document", "drop"];
    assert_eq!(with(&dropped, "#s\nc?q\n"), "http://a/b/c?q\n");
    let keys = with(&["key"], "http://h/%21\nhttp://H/!\n");
    let keys: Vec<&str> = keys.lines().collect();
    assert_eq!(keys[0], keys[1]);
    let new = run(["key"], "http://h/!\n").quiet();
    assert_ne!(keys[0], new.trim_end(), "keys of two grammars never meet");
}

#[test]
fn the_table_of_d_2_is_printed() {
    let table = run(["rules", "grammar", "--compare"], "").quiet();
    assert_eq!(table.lines().count(), 20);
    assert!(table.contains("\nhostport       host [ \":\" port ]\n"), "{table}");
    let rows = run(["rules", "grammar", "--compare", "--to", "jsonl"], "").quiet();
    let first: serde_json::Value = serde_json::from_str(rows.lines().next().unwrap()).unwrap();
    assert_eq!(first["obsolete"], "absoluteURI");
    assert!(run(["rules", "grammar"], "").quiet().contains("rfc2396+2732"));
    // The one place; options of `rules` have no effect on it, so they are refused.
    assert_eq!(run(["grammar"], "").code, 2);
    assert_eq!(run(["rules", "--rule", "www", "grammar"], "").code, 2);
}

#[test]
fn what_is_for_rfc_3986_only_is_refused() {
    for args in [
        &["normalize", "--grammar", "rfc2396", "--rule", "www"][..],
        &["normalize", "--grammar", "rfc2396", "--repair"],
        &["key", "--grammar", "rfc2396", "--iri"],
        &["key", "--grammar", "rfc2396", "--as", "cdxj"],
        &["key", "--grammar", "rfc2396", "--level", "protocol", "--aliases", "x"],
        &["parse", "--grammar", "rfc2396", "-g", "{host}"],
        &["parse", "--grammar", "rfc2396", "--iri"],
        &["check", "--grammar", "rfc2396", "--repair"],
        &["check", "--differ", "--repair"],
        &["resolve", "--grammar", "rfc2396", "--suffix-scheme", "http"],
        &["resolve", "--grammar", "rfc2396", "--base", "a:"],
        &["check", "--grammar", "rfc1738"],
    ] {
        assert_eq!(run(args, "").code, 2, "{args:?}");
    }
}
