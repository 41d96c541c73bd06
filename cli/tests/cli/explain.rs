//! `explain` as a command; what it finds is tested with the library.

use std::fs;

use serde_json::{Value, json};

use crate::run::{Place, finish, program, run};

#[test]
fn changes_are_reported_in_lines() {
    let explanation = run(["explain", "HTTP://Example.COM:80/a/../%7Ebob"], "").quiet();
    let expected = "\
HTTP://Example.COM:80/a/../%7Ebob
  syntax  scheme-case     0..4      HTTP -> http
  syntax  triplet-decode  27..30    %7E -> ~
  syntax  host-case       7..18     Example.COM -> example.com
  syntax  dot-segments    21..26    /a/.. -> \"\"
  scheme  default-port    18..21    :80 -> \"\"
  = http://example.com/~bob
";
    assert_eq!(explanation, expected);
    let explanation =
        run(["explain", "http://h/#f", "--drop-fragment", "--level", "string"], "").quiet();
    assert_eq!(
        explanation,
        "http://h/#f\n  rule    fragment        9..11     #f -> \"\"\n  = http://h/\n"
    );
    let three = run(["explain", "a:", "b:", "c:"], "").quiet();
    assert_eq!(three, "a:\n  = a:\nb:\n  = b:\nc:\n  = c:\n");
}

#[test]
fn two_uris_are_compared() {
    let explanation = run(["explain", "http://h", "HTTP://h:80/"], "").quiet();
    assert!(
        explanation
            .ends_with("equivalent at level scheme: scheme-case, default-port, empty-path\n"),
        "{explanation}"
    );
    assert!(
        run(["explain", "a:", "a:"], "")
            .quiet()
            .ends_with("equivalent at level string: the same bytes\n")
    );
    let explanation = run(["explain", "http://h/?a=1&b=2", "http://h/?b=2&a=1"], "");
    assert_eq!(explanation.code, 1);
    let explanation = explanation.text();
    let expected = "\
not equivalent by RFC 3986
  query-order: the order of a query is part of it
    http://h/?a=1&b=2
              ^
    http://h/?b=2&a=1
              ^
merged by --rule sort-query
merged by --preset log
";
    assert!(explanation.ends_with(expected), "{explanation}");
}

/// The lines that say what would merge the two, and the exit code.
fn mergers(arguments: &[&str]) -> (Vec<String>, i32) {
    let ran = run([&["explain"], arguments].concat(), "");
    let text = ran.text();
    let lines = text.lines().filter_map(|line| line.strip_prefix("merged by "));
    (lines.map(str::to_owned).collect(), ran.code)
}

#[test]
fn what_would_merge_them_is_found_by_applying_it() {
    for (a, b, expected) in [
        ("http://h/a/", "http://h/a", &["--rule trailing-slash", "--preset log"][..]),
        ("http://h/a", "https://h/a", &["--rule https", "--preset log"]),
        ("http://www.h.example/", "http://h.example/", &["--rule www", "--preset log"]),
        ("http://h/a//b", "http://h/a/b", &["--rule duplicate-slash", "--preset log"]),
        ("http://h/a?", "http://h/a", &["--rule empty-query", "--preset crawl", "--preset log"]),
        ("http://u@h/", "http://h/", &["--rule userinfo", "--preset log"]),
        ("http://h/?id=1", "http://h/?id=2", &["--rule drop-param=id"]),
        (
            "http://h/?utm_source=a",
            "http://h/",
            &["--rule drop-param=utm_source", "--rules tracking", "--preset crawl", "--preset log"],
        ),
        ("http://h/?a=1&x=1&y=2", "http://h/?a=1", &["--rule drop-param=x --rule drop-param=y"]),
        (
            "http://www.h.example/a/",
            "https://h.example/a",
            &["--rule https --rule www --rule trailing-slash", "--preset log"],
        ),
        ("http://h/a", "http://h/b", &[]),
        ("http://h/A", "http://h/a", &["--rule path-case"]),
        ("http://h/a%2Cb", "http://h/a,b", &["--rule path-decode"]),
        ("http://h/?a&", "http://h/?a", &["--rule empty-param", "--preset crawl", "--preset log"]),
        ("http://h/#/a", "http://h/#/b", &["--rule fragment"]),
        (
            "http://h/#a",
            "http://h/#b",
            &["--rule fragment", "--rule anchor", "--preset crawl", "--preset log"],
        ),
        ("http://a/", "http://b/", &[]),
    ] {
        let (found, code) = mergers(&[a, b]);
        assert_eq!(
            (found, code),
            (expected.iter().map(|&it| it.to_owned()).collect(), 1),
            "{a} {b}"
        );
        // What it says holds.
        for options in expected {
            let options: Vec<&str> = options.split(' ').collect();
            assert_eq!(mergers(&[&options[..], &[a, b]].concat()).1, 0, "{options:?} {a} {b}");
        }
    }
    assert_eq!(mergers(&["--level", "string", "http://h:80/", "http://h/"]).0, ["--level scheme"]);
    let explanation = run(["explain", "http://h/a", "http://h/b"], "");
    assert!(
        explanation.text().ends_with("no level, rule or preset merges them\n"),
        "{}",
        explanation.text()
    );
}

#[test]
fn what_only_rules_merge_is_not_called_the_same_bytes() {
    let pair = ["http://h/a/", "http://h/a"];
    let explanation = run([&["explain", "--preset", "log"], &pair[..]].concat(), "").quiet();
    assert!(explanation.ends_with("\nequivalent by rules: trailing-slash\n"), "{explanation}");
    let explanation =
        run([&["explain", "--preset", "log", "--to", "jsonl"], &pair[..]].concat(), "").quiet();
    assert!(explanation.contains(r#""level":"rules","rules":["trailing-slash"]"#), "{explanation}");
    let list = "http://h/a/\nhttp://h/a\nhttp://h/a#x\nHTTP://h/a\nhttp://h/a/\n";
    let place = crate::run::Place::new(&[]);
    let args = ["dedup", "--preset", "log", "--dupes", "d.tsv", "--clusters", "c.jsonl", "-q"];
    assert_eq!(place.run(&args, list).quiet(), "http://h/a/\n");
    let dupes = place.read("d.tsv");
    let levels: Vec<&str> =
        dupes.lines().map(|line| line.split('\t').next_back().unwrap()).collect();
    assert_eq!(
        levels,
        ["rules:trailing-slash", "rules:anchor+trailing-slash", "rules:trailing-slash", "string"]
    );
    let clusters = place.read("c.jsonl");
    assert!(clusters.contains(r#""level":"rules","rules":["trailing-slash"]"#), "{clusters}");
    let dropped =
        place.run(&["dedup", "--drop-fragment", "--dupes", "-"], "http://h/\nhttp://h/#\n");
    assert!(dropped.text().ends_with("rules\n") || dropped.code == 2, "{}", dropped.text());
}

#[test]
fn rules_are_named_where_a_level_is_needed_too() {
    let pair = ["HTTP://www.H.example:80/a/?utm_source=x", "http://h.example/a"];
    let explanation = run([&["explain", "--preset", "log"], &pair[..]].concat(), "").quiet();
    let end = "\nequivalent by rules: www, trailing-slash, drop-param, at level scheme: scheme-case, host-case, default-port\n";
    assert!(explanation.ends_with(end), "{explanation}");
    let explanation =
        run([&["explain", "--preset", "log", "--to", "jsonl"], &pair[..]].concat(), "");
    let rules = r#""level":"rules","rules":["scheme-case","host-case","default-port","www","trailing-slash","drop-param"]"#;
    assert!(explanation.text().contains(rules), "{}", explanation.text());
    let list = format!("{}\n{}\nhttp://H.example/a\n", pair[1], pair[0]);
    let place = Place::new(&[]);
    for options in [
        &["--preset", "log"][..],
        &["--preset", "crawl", "--rule", "www", "--rule", "trailing-slash"],
    ] {
        let sides = ["--dupes", "d.tsv", "--clusters", "c.jsonl", "-q"];
        place.run(&[&["dedup"], options, &sides[..]].concat(), &list).quiet();
        let labels = "rules:www+trailing-slash+drop-param\n";
        let dupes = place.read("d.tsv");
        assert!(dupes.contains(labels) && dupes.ends_with("\tsyntax\n"), "{dupes}");
        assert!(place.read("c.jsonl").contains(rules), "{}", place.read("c.jsonl"));
        let sides = ["--dupes", "d.csv", "--clusters", "c.csv", "-q"];
        place.run(&[&["dedup"], options, &sides[..]].concat(), &list).quiet();
        assert!(place.read("d.csv").contains(",rules:www+trailing-slash+drop-param,"));
        let rows = place.read("c.csv");
        let row = ",rules,scheme-case host-case default-port www trailing-slash drop-param,";
        assert!(rows.contains(row) && rows.contains(",syntax,host-case,"), "{rows}");
    }
    let list = "http://h/#a\nhttp://H/#b\n";
    place.run(&["dedup", "--drop-fragment", "--dupes", "d.tsv", "-q"], list).quiet();
    assert!(place.read("d.tsv").ends_with("\trules:fragment\n"), "{}", place.read("d.tsv"));
}

#[test]
fn rules_that_can_be_spared_are_not_named() {
    let place = Place::new(&[]);
    for (a, b, label) in [
        ("http://h.de/a/index.html", "http://h.de/a/index.html/", "rules:trailing-slash"),
        ("http://h.de/a/index.html", "http://h.de/a/", "rules:index-page"),
        ("http://h.de/a/index.html", "http://h.de/a", "rules:index-page+trailing-slash"),
        ("http://www.h.de/a/", "http://WWW.h.de/a/", "syntax"),
        ("http://www.h.de/?b&a", "http://www.h.de/?a&b", "rules:sort-query"),
    ] {
        for list in [format!("{a}\n{b}\n"), format!("{b}\n{a}\n")] {
            place.run(&["dedup", "--preset", "log", "--dupes", "d.tsv", "-q"], &list).quiet();
            let dupes = place.read("d.tsv");
            assert_eq!(dupes.trim_end().rsplit('\t').next(), Some(label), "{dupes}");
        }
    }
}

#[test]
fn a_page_is_an_index_page_by_an_extension_or_a_usual_name() {
    for page in ["login", "foo", "2024", "contact-us", "index1", "photo.jpg", "v1.2", "john.doe"] {
        let (found, code) = mergers(&["http://h/a/", &format!("http://h/a/{page}")]);
        assert_eq!((found.as_slice(), code), (&[][..], 1), "{page}");
    }
    for page in ["i.php", "home", "Welcome", "start", "main.aspx"] {
        let (found, _) = mergers(&["http://h/a/", &format!("http://h/a/{page}")]);
        assert_eq!(found, [format!("--rule index-page={page}")]);
    }
}

#[test]
fn repairs_a_scheme_and_parts_of_the_paths_are_tried() {
    for (a, b, expected) in [
        ("http://h/en/a", "http://h/a", "--rule path-prefix=/en"),
        ("http://h/a/b", "http://h/x/y/a/b", "--rule path-prefix=/x/y"),
        ("http://h/en/", "http://h/", "--rule path-prefix=/en"),
        ("http://h/en/a/", "http://h/a", "--rule trailing-slash --rule path-prefix=/en"),
        ("http://h/en/A", "http://h/a", "--rule path-case --rule path-prefix=/en"),
        ("http://h/en//a", "http://h/a", "--rule duplicate-slash --rule path-prefix=/en"),
        ("http://h/en/a%2Cb", "http://h/a,b", "--rule path-decode --rule path-prefix=/en"),
        ("http://h//a", "http://h/a", "--rule duplicate-slash"),
        ("http://h/a/home.html", "http://h/a/", "--rule index-page=home.html"),
        ("http://h/a/home.html", "http://h/a", "--rule trailing-slash --rule index-page=home.html"),
        ("http://www.h.de/en/a", "http://h.de/a", "--rule www --rule path-prefix=/en"),
        ("http://h/a b", "http://h/a%20b", "--repair=space"),
        ("<http://h/a b>", "http://h/a%20b", "--repair=quotes,space"),
        ("http://h/é", "http://h/%C3%A9", "--iri"),
        ("http://h/é b", "http://h/%C3%A9%20b", "--iri --repair=space"),
        ("http://h/?a&amp;b", "http://h/?a&b", "--repair=entity"),
        ("http://h/a b?x&amp;y", "http://h/a%20b?x&y", "--repair=entity,space"),
        ("h.example/a", "http://h.example/a", "--suffix-scheme http"),
        ("h.example/a", "ftp://h.example/a", "--suffix-scheme ftp"),
        ("h.example/a", "H.example:443/a", "--suffix-scheme https"),
        ("h.example/a b", "http://h.example/a%20b", "--suffix-scheme http --repair=space"),
        ("http://h/a b/", "http://h/a%20b", "--repair=space --rule trailing-slash"),
        ("www.h.example/a", "http://h.example/a", "--suffix-scheme http --rule www"),
        ("/a", "http://h/a", "--base http://h/"),
        ("../b", "http://h:8080/b", "--base http://h:8080/"),
        ("b?x", "http://h/a/b?x", "--base http://h/a/"),
        ("?x", "http://h/a?x", "--base http://h/a"),
        ("/a b", "http://h/a%20b", "--base http://h/ --repair=space"),
        ("/a/", "http://h/a", "--base http://h/ --rule trailing-slash"),
    ] {
        for pair in [[a, b], [b, a]] {
            let (found, code) = mergers(&pair);
            assert_eq!(
                (found.first().map(String::as_str), code),
                (Some(expected), 1),
                "{pair:?}: {found:?}"
            );
            let options: Vec<&str> = expected.split(' ').collect();
            assert_eq!(mergers(&[&options[..], &pair].concat()).1, 0, "{expected} {pair:?}");
        }
    }
    for (a, b, expected) in [
        ("/a", "/a/", "--base URL --rule trailing-slash"),
        ("/a/../b", "/b", "--base URL"),
        ("#f", "http://h/a/b?q#f", "--base 'http://h/a/b?q'"),
        ("b", "http://h/$(id);a/b", "--base 'http://h/$(id);a/'"),
    ] {
        let (found, code) = mergers(&[a, b]);
        assert_eq!((found.first().map(String::as_str), code), (Some(expected), 1), "{a} {b}");
    }
    for pair in [
        ["http://h/a b", "http://h/a%20c"],
        ["http://h/en/a", "http://h/en/b"],
        ["http://h/a\u{1}", "http://h/a"],
        ["no uri", "http://h/"],
        ["a", "b"],
        ["a", "/a"],
        ["/a", "/b"],
    ] {
        assert_eq!(mergers(&pair), (Vec::new(), 1), "{pair:?}");
    }
    let found = mergers(&["--level", "string", "http://h/a/", "http://H/a"]).0;
    assert_eq!(found[0], "--level syntax --rule trailing-slash");
    // What is on already is not repeated.
    let found = mergers(&["--repair=space", "<http://h/a b>", "http://h/a%20b"]).0;
    assert_eq!(found, ["--repair=quotes"]);
}

#[test]
fn scripts_can_ask_whether_two_are_one() {
    for (arguments, code) in [
        (&["http://h", "HTTP://h:80/"][..], 0),
        (&["a:", "a:"], 0),
        (&["http://h/a", "http://h/b"], 1),
        (&["-e", "http://h/a", "-e", "http://h/b"], 1),
        (&["--to", "jsonl", "http://h/a", "http://h/b"], 1),
        (&["http://h/a b", "http://h/a%20b"], 1),
        (&["http://h/a b", "http://h/a b"], 0),
        // Not a question.
        (&["http://h/a"], 0),
        (&["http://h/a", "http://h/b", "http://h/c"], 0),
    ] {
        assert_eq!(run([&["explain"], arguments].concat(), "").code, code, "{arguments:?}");
    }
}

#[test]
fn machines_read_json() {
    let row = |args: &[&str]| -> Value {
        let ran = run([&["explain", "--to", "jsonl"], args].concat(), "");
        assert_eq!((ran.text().lines().count(), ran.stderr.as_str()), (1, ""));
        serde_json::from_str(ran.text()).unwrap()
    };
    let change = |level: &str,
                  rule: &str,
                  component: &str,
                  start: u32,
                  end: u32,
                  before: &str,
                  after: &str| {
        json!({ "level": level, "rule": rule, "component": component, "start": start, "end": end,
            "before": before, "after": after })
    };
    let explanation = json!({ "uri": "http://H:80/", "canonical": "http://h/", "changes": [
        change("syntax", "host-case", "host", 7, 8, "H", "h"),
        change("scheme", "default-port", "port", 8, 11, ":80", ""),
    ]});
    assert_eq!(row(&["http://H:80/"]), explanation);
    let plain = json!({ "uri": "http://h/", "canonical": "http://h/", "changes": [] });
    assert_eq!(
        row(&["http://H:80/", "http://h/"]),
        json!({ "a": explanation, "b": plain, "level": "scheme", "rules": ["host-case", "default-port"], "partings": [] })
    );
    let parting = json!({ "component": "path", "reason": "trailing-slash", "a": 10, "b": 10,
        "message": "the trailing slash is part of the path" });
    let found = row(&["http://h/a", "http://h/a/"]);
    assert_eq!((&found["level"], &found["partings"]), (&Value::Null, &json!([parting])));
    assert_eq!(found["merged_by"], json!(["--rule trailing-slash", "--preset log"]));
    let invalid = json!({ "uri": "a b", "error": { "kind": "space", "at": 1 } });
    assert_eq!(row(&["a b"]), invalid);
}

#[test]
fn records_come_from_files_and_standard_input() {
    let place = tempfile::tempdir().unwrap();
    fs::write(place.path().join("list"), "\n A:%41 \na b\n").unwrap();
    let mut command = program(["explain", "-f", "list", "-f", "-", "--to", "jsonl"]);
    command.current_dir(place.path());
    let rows: Vec<Value> = finish(command, "b:\n")
        .quiet()
        .lines()
        .map(|row| serde_json::from_str(row).unwrap())
        .collect();
    assert_eq!(rows.len(), 3);
    assert_eq!((&rows[0]["line"], &rows[0]["canonical"]), (&json!(2), &json!("a:A")));
    assert_eq!((&rows[1]["line"], &rows[1]["error"]["kind"]), (&json!(3), &json!("space")));
    assert_eq!((&rows[2]["line"], &rows[2]["uri"]), (&json!(1), &json!("b:")));
    assert_eq!(run(["explain", "-0"], "A:\0B:\n\0").quiet().lines().count(), 6);
    let strict = run(["explain", "--strict", "a b"], "");
    assert_eq!((strict.code, strict.stderr.as_str()), (1, ""));
    assert!(
        strict.text().contains("  invalid: space: ") && strict.text().ends_with("  a b\n   ^\n")
    );
    assert_eq!(run(["explain", "--strict"], "a b\n").code, 1);
    assert_eq!(run(["explain", "a:", "-f", "list"], "").code, 2);
}

#[test]
fn pairs_are_what_dupes_writes() {
    let place = tempfile::tempdir().unwrap();
    let mut command = program(["dedup", "--dupes", "dupes"]);
    command.current_dir(place.path());
    finish(command, "http://h\nHTTP://h/%7e\nhttp://h:80/\nhttp://h/~\nbad\nbad\n").quiet();
    let mut command = program(["explain", "--pairs", "-f", "dupes", "--to", "jsonl"]);
    command.current_dir(place.path());
    let rows: Vec<Value> =
        finish(command, "").quiet().lines().map(|row| serde_json::from_str(row).unwrap()).collect();
    let explanation: Vec<_> = rows.iter().map(|row| (&row["level"], &row["rules"])).collect();
    assert_eq!(
        explanation,
        [
            (&json!("scheme"), &json!(["default-port", "empty-path"])),
            (&json!("syntax"), &json!(["scheme-case", "triplet-decode"])),
            (&json!("string"), &json!([])),
        ]
    );
    let dupes = fs::read_to_string(place.path().join("dupes")).unwrap();
    for (line, row) in dupes.lines().zip(&rows) {
        assert!(line.ends_with(row["level"].as_str().unwrap()), "{line}");
    }
    assert_eq!(run(["explain", "--pairs"], "a:\n").quiet(), "a:\n  = a:\n");
}

#[test]
fn what_a_record_is_read_as_is_shown_beside_it() {
    for (option, record, read) in [
        ("--repair", "\"http://h/a\"", "http://h/a"),
        ("--iri", "http://h/é", "http://h/%C3%A9"),
        ("--suffix-scheme=http", "www.h.example/", "http://www.h.example/"),
        ("--base=http://h/", "/a", "http://h/a"),
    ] {
        let text = run(["explain", option, record], "").quiet();
        assert_eq!(text, format!("{record}\n  read as {read}\n  = {read}\n"));
        let pair = run(["explain", option, record, read], "").quiet();
        let end = format!(
            "{read}\n  = {read}\nequivalent at level string: the same bytes as they are read\n"
        );
        assert!(pair.ends_with(&end), "{pair}");
        let row = run(["explain", option, "--to", "jsonl", record], "").quiet();
        let row: Value = serde_json::from_str(&row).unwrap();
        assert_eq!((&row["record"], &row["uri"]), (&json!(record), &json!(read)));
    }
    // Of a record that is read as it is written there is nothing to show.
    assert_eq!(
        run(["explain", "--repair", "http://h/a"], "").quiet(),
        "http://h/a\n  = http://h/a\n"
    );
}

#[test]
fn an_invalid_record_with_tabs_is_one_uri_of_a_pair() {
    let explained = |pairs: &str| -> Vec<Value> {
        let lines = run(["explain", "--pairs", "--to", "jsonl"], pairs);
        lines.text().lines().map(|row| serde_json::from_str(row).unwrap()).collect()
    };
    for bad in ["b\tc", "a:\tb:", "x\t\ty", "a:\ta:", "a:\t\tseen"] {
        let place = Place::new(&[]);
        place.run(&["dedup", "-q", "--dupes", "dupes"], &format!("{bad} .\n{bad} .\n")).quiet();
        let row = &explained(&place.read("dupes"))[0];
        let uri = json!(format!("{bad} ."));
        assert_eq!((&row["a"]["uri"], &row["b"]["uri"]), (&uri, &uri), "{bad}");
        let row = &explained(&format!("{bad} .\t\tseen\n"))[0];
        assert_eq!(row["uri"], uri, "{bad}");
    }
    // Further fields are ignored as before.
    for pair in ["a:\tb:\tnote", "a:\tb:\ta:\tb", "a:\tb:\ta:\t", "a:\tb:\t\tseen"] {
        let row = &explained(&format!("{pair}\n"))[0];
        assert_eq!((&row["a"]["uri"], &row["b"]["uri"]), (&json!("a:"), &json!("b:")), "{pair}");
    }
}

#[test]
fn colours_are_for_those_who_see_them() {
    let args = ["explain", "A:"];
    let plain = run(args, "").quiet();
    assert!(!plain.contains('\x1b'), "no terminal here");
    let coloured = run([&args[..], &["--color", "always"]].concat(), "").quiet();
    assert!(coloured.contains("\x1b[33mscheme-case\x1b[0m"), "{coloured}");
    let bare: String = {
        let mut parts = coloured.split('\x1b');
        let first = parts.next().unwrap().to_owned();
        first + &parts.map(|part| part.split_once('m').unwrap().1).collect::<String>()
    };
    assert_eq!(bare, plain);
    let mut command = program([&args[..], &["--color", "always"]].concat());
    command.env("NO_COLOR", "1");
    assert_eq!(finish(command, "").quiet(), coloured, "what is typed counts more");
}

#[test]
fn what_is_not_text_is_reported_all_the_same() {
    let row: Value =
        serde_json::from_slice(&run(["explain", "--to", "jsonl"], b"\xFF\x1b\n").stdout).unwrap();
    assert_eq!(
        row,
        json!({ "line": 1, "uri": null, "hex": "ff1b", "error": { "kind": "non-ascii", "at": 0 } })
    );
    let explanation = run(["explain"], b"\xFF\x1b\n").quiet();
    assert!(explanation.starts_with("\\xff\\x1b\n  invalid: non-ascii: "), "{explanation}");
}

#[test]
fn a_line_is_explained_up_to_a_limit() {
    for (bytes, is_explained) in [(2 * (8 << 10) + 1, true), (2 * (8 << 10) + 2, false)] {
        let line = "http://h/".to_owned() + &"a".repeat(bytes - 9);
        let place = Place::new(&[("list", &line)]);
        let ran = place.run(&["explain", "--file", "list"], "");
        assert_eq!(ran.text().contains("too-long"), !is_explained, "{bytes}");
    }
}

#[test]
fn white_space_around_a_uri_is_not_part_of_it_as_in_lists() {
    let place = Place::new(&[("pairs", " http://h/x\t http://h/%78 \n")]);
    for args in [
        &["explain", "http://h/x ", "\thttp://h/x"][..],
        &["explain", "--pairs", "--file", "pairs"],
        &["explain", "--pairs", "--file", "pairs", "--to", "jsonl"],
    ] {
        let ran = place.run(args, "");
        assert_eq!(ran.code, 0, "{args:?}: {}", ran.text());
    }
    let ran = place.run(&["explain", "--repair", " http://h/ x "], "");
    assert!(ran.text().contains("= http://h/%20x\n"), "{}", ran.text());
}

#[test]
fn a_file_that_is_given_as_a_uri_is_reported_how_its_lines_are_explained() {
    let place = Place::new(&[("list.txt", "http://h\n")]);
    let ran = place.run(&["explain", "list.txt"], "");
    let hint = "uriscan: list.txt is a file; it is explained as a reference, and its lines by -f list.txt\n";
    assert_eq!((ran.code, &*ran.stderr), (0, hint));
    assert_eq!(place.run(&["explain", "-q", "list.txt"], "").stderr, "");
    assert_eq!(place.run(&["explain", "-f", "list.txt"], "").stderr, "");
}
