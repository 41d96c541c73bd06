//! Rows of text tables as records: they pass as the bytes they were, in every build.

use std::fs;
use std::io::{BufRead, BufReader, Write};

use crate::run::{Place, run};

#[test]
fn rows_of_csv_keep_their_quotes_line_ends_and_mark() {
    let csv = "\u{FEFF}id,url\r\n1,http://h\r\n2,\"HTTP://H:80/\"\r\n3,\"http://h/x\"\r\n004,http://h/1e5\n5,http://h/y";
    let place = Place::new(&[("t.csv", csv)]);
    let kept = csv.replace("2,\"HTTP://H:80/\"\r\n", "") + "\n";
    let args = ["dedup", "--column", "url", "t.csv"];
    assert_eq!(place.run(&args, "").quiet(), kept);
    assert_eq!(place.run(&[&args[..], &["-o", "o.csv"]].concat(), "").quiet(), "");
    assert_eq!(place.read("o.csv"), kept);
    // In place, by number, and from a pipe.
    assert_eq!(place.run(&[&args[..], &["-o", "t.csv"]].concat(), "").quiet(), "");
    assert_eq!(place.read("t.csv"), kept);
    assert_eq!(run(["dedup", "--column", "2", "--from", "csv"], csv).quiet(), kept);
}

#[test]
fn lines_of_json_keep_what_no_parser_can_represent() {
    let lines = concat!(
        "{\"url\":\"http:\\/\\/h\\/\",\"n\":1e400,\"big\":123456789012345678901234567890.10}\n",
        "{\"n\":NaN,\"url\":\"HTTP://h\"}\n",
        "  {\"s\":\"\\ud800\",\"m\":-Infinity,\"url\":\"http://h/\\u0061\"}\r\n",
        "{\"url\":\"http://h/a\",\"s\":\"\\udfff\"}\n",
        "{\"raw\":\"tab\there\",\"url\":\"http://h/b\"}",
    );
    let expected: Vec<&str> = lines.split_inclusive('\n').collect();
    let expected = [expected[0], expected[2], expected[4], "\n"].concat();
    assert_eq!(run(["dedup", "--column", "url", "--from", "jsonl"], lines).quiet(), expected);
}

#[test]
fn members_of_members_and_fields_of_lines_are_columns() {
    let katana = "{\"request\":{\"endpoint\":\"http://h\"},\"n\":[{\"u\":\"x:1\"}]}\n{\"request\":{\"endpoint\":\"HTTP://h/\"},\"n\":[{\"u\":\"x:2\"}]}\n";
    let by = |column| run(["dedup", "--from", "jsonl", "--column", column], katana).quiet();
    assert_eq!(by("request.endpoint").lines().count(), 1);
    assert_eq!(by("n.1.u").lines().count(), 2);
    let log = "GET http://h 200\n\n  PUT\tHTTP://h/  404\r\nGET http://i\n";
    let args = ["dedup", "--from", "fields", "--column", "2"];
    assert_eq!(run(args, log).quiet(), "GET http://h 200\nGET http://i\n");
    let message = run(["dedup", "--from", "fields", "--column", "url"], log).refused();
    assert!(message.ends_with("columns of fields have numbers, from 1"), "{message}");
}

#[test]
fn a_row_that_does_not_fit_is_an_error_or_skipped_or_passed_on() {
    let csv = "id,url\n1,http://a\n2\n3,http://b,x\n4,http://A\n5,\"http://c\"x\n6,http://d\n";
    let jsonl = "{\"url\":\"http://a\"}\n{\"url\":\"http://b\"\n{\"url\":\"HTTP://a\"}\nhttp://c\n{\"url\":\"\\ud800\"}\n{\"url\":\"http://d\"}\n";
    for (from, text, bad, first) in [
        ("csv", csv, [2, 3, 5], "-:3: expected 2 fields, found 1"),
        ("jsonl", jsonl, [1, 3, 4], "-:2: not a JSON object: a comma or } is missing at column 18"),
    ] {
        let place = Place::new(&[]);
        let args = ["dedup", "--column", "url", "--from", from];
        let with = |more: &[&str]| place.run(&[&args[..], more].concat(), text);
        let message = format!(
            "uriscan: {first}; --on-bad-row skip omits such rows, and pass writes them as they are"
        );
        assert_eq!(with(&[]).refused(), message);
        assert_eq!(with(&["--on-bad-row", "error"]).refused(), message);
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let duplicate = if from == "csv" { 4 } else { 2 };
        let all_but = |out: &[usize]| {
            let kept =
                lines.iter().enumerate().filter(|(i, _)| !out.contains(i) && *i != duplicate);
            kept.map(|(_, line)| *line).collect::<String>()
        };
        let ran = with(&["--on-bad-row", "pass"]);
        assert_eq!((ran.code, ran.text()), (0, &*all_but(&[])));
        assert_eq!(ran.stderr, "uriscan: 3 rows that do not fit were written as they are\n");
        let ran = with(&["--on-bad-row", "skip", "--stats"]);
        assert_eq!((ran.code, ran.text()), (0, &*all_but(&bad)));
        assert!(ran.stderr.contains("bad rows                    3"), "{}", ran.stderr);
        assert!(ran.stderr.ends_with("uriscan: 3 rows that do not fit were skipped\n"));
        assert_eq!(with(&["--on-bad-row", "skip", "-q"]).quiet(), all_but(&bad));
        let ran = with(&["--on-bad-row", "skip", "--rejects", "r"]);
        assert_eq!((ran.code, ran.text()), (0, &*all_but(&bad)));
        assert!(ran.stderr.ends_with("were written to the rejects\n"), "{}", ran.stderr);
        let rejects = place.read("r");
        let rejects: Vec<serde_json::Value> =
            rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let at: Vec<(usize, &str)> = rejects
            .iter()
            .map(|it| (it["line"].as_u64().unwrap() as usize - 1, it["row"].as_str().unwrap()))
            .collect();
        assert_eq!(at, bad.map(|i| (i, lines[i].trim_end())));
        assert!(rejects.iter().all(|it| it["source"] == "-" && it["reason"].is_string()));
    }
}

#[test]
fn rejects_say_why_where_rows_that_do_not_fit_are_skipped() {
    let place = Place::new(&[("t.csv", "id,url\n1,no uri\n2\n3,http://h\n")]);
    let args = ["dedup", "--column", "url", "t.csv", "--rejects", "r"];
    let message = place.run(&args, "").refused();
    assert!(message.contains("t.csv:3: expected 2 fields, found 1"), "{message}");
    let ran = place.run(&[&args[..], &["--on-bad-row", "skip"]].concat(), "");
    assert_eq!((ran.code, ran.text()), (0, "id,url\n3,http://h\n"));
    assert_eq!(
        place.read("r"),
        concat!(
            "{\"source\":\"t.csv\",\"line\":2,\"reason\":\"space at column 5: a URI may not hold spaces; write %20\",\"row\":\"1,no uri\"}\n",
            "{\"source\":\"t.csv\",\"line\":3,\"reason\":\"expected 2 fields, found 1\",\"row\":\"2\"}\n",
        )
    );
    // Without that option they are rows of the table.
    fs::write(place.path("t.csv"), "id,url\n1,no uri\n3,http://h\n").unwrap();
    assert_eq!(place.run(&args, "").quiet(), "id,url\n3,http://h\n");
    assert_eq!(place.read("r"), "id,url\n1,no uri\n");
}

#[test]
fn a_table_that_breaks_off_loses_nothing_else() {
    let lines = "{\"url\":\"http://a\"}\n{\"url\":\"http://b\"}\n{\"url\":\"http://c";
    let args = ["dedup", "--column", "url", "--from", "jsonl", "--on-bad-row"];
    let ran = run([&args[..], &["pass"]].concat(), lines);
    assert_eq!((ran.code, ran.text()), (0, &*format!("{lines}\n")));
    let ran = run([&args[..], &["skip"]].concat(), lines);
    assert_eq!(ran.text(), "{\"url\":\"http://a\"}\n{\"url\":\"http://b\"}\n");
    // An open quote takes all that follows, which is passed on as it is.
    let csv = "n,url\n1,http://a\n2,\"http://b\n3,http://c\n";
    let args = ["dedup", "--column", "url", "--from", "csv", "--on-bad-row"];
    let ran = run([&args[..], &["pass"]].concat(), csv);
    assert_eq!((ran.code, ran.text()), (0, csv));
    let ran = run([&args[..], &["error"]].concat(), csv);
    assert!(ran.refused().contains("-:3: a quote in this row is never closed"));
}

#[test]
fn filters_sets_and_rows_without_a_uri_are_as_for_lists() {
    let csv = "id,url\n1,http://a/x\n2,\n3,http://b/y\n4,http://a/x\n5, \n";
    let place = Place::new(&[("t.csv", csv)]);
    let kept = |more: &[&str]| {
        place.run(&[&["dedup", "--column", "url", "t.csv"][..], more].concat(), "").quiet()
    };
    assert_eq!(kept(&[]), "id,url\n1,http://a/x\n3,http://b/y\n");
    assert_eq!(kept(&["--no-uri", "keep"]), "id,url\n1,http://a/x\n2,\n3,http://b/y\n5, \n");
    assert_eq!(kept(&["--host", "b"]), "id,url\n3,http://b/y\n");
    assert_eq!(kept(&["--not-host", "b", "--no-uri", "keep"]), "id,url\n1,http://a/x\n");
    assert_eq!(kept(&["--seen", "s", "--update"]), "id,url\n1,http://a/x\n3,http://b/y\n");
    fs::write(place.path("t.csv"), "id,url\n1,HTTP://a/x\n7,http://c\n").unwrap();
    assert_eq!(kept(&["--seen", "s", "--update"]), "id,url\n7,http://c\n");
    let args = [
        "dedup",
        "--column",
        "2",
        "--no-header",
        "--delimiter",
        ";",
        "--quote",
        "'",
        "--from",
        "csv",
    ];
    assert_eq!(
        run(args, "a;'http://h'\nb;HTTP://h/\nc;'http://h/;'\n").quiet(),
        "a;'http://h'\nc;'http://h/;'\n"
    );
}

#[test]
fn rows_of_whole_classes_pass_as_they_were() {
    let csv = "\u{FEFF}id,url\r\n1,\"http://h\"\r\n2,HTTP://H:80/\r\n03,http://i\r\n4,\r\n5\r\n6,http://h/";
    let place = Place::new(&[("e.csv", ""), ("t.csv", csv)]);
    let args = ["dedup", "--column", "url", "--on-bad-row", "pass", "--no-uri", "keep", "-q"];
    for (more, without) in [
        (&["-d"][..], &["2,HTTP://H:80/\r\n", "03,http://i\r\n", "6,http://h/\n"][..]),
        (&["-u"], &["1,\"http://h\"\r\n", "2,HTTP://H:80/\r\n", "6,http://h/\n"]),
        (&["--keep", "last"], &["1,\"http://h\"\r\n", "2,HTTP://H:80/\r\n"]),
        (&["--keep", "min", "-d"], &["1,\"http://h\"\r\n", "03,http://i\r\n", "6,http://h/\n"]),
        (&["--keep", "shortest"], &["2,HTTP://H:80/\r\n", "6,http://h/\n"]),
    ] {
        let kept = without.iter().fold(format!("{csv}\n"), |all, row| all.replace(row, ""));
        let args = [&args[..], more].concat();
        let of_files = [&args[..], &["e.csv", "t.csv"]].concat();
        assert_eq!(place.run(&of_files, "").quiet(), kept, "{more:?}");
        let of_pipe = [&args[..], &["--from", "csv"]].concat();
        assert_eq!(place.run(&of_pipe, csv).quiet(), kept, "{more:?}");
    }
    // What is written is nothing where a row does not fit, and nothing is lost where the table is replaced.
    let message = place.run(&["dedup", "-d", "--column", "url", "t.csv"], "").refused();
    assert!(message.contains("t.csv:6: expected 2 fields, found 1; --on-bad-row"), "{message}");
    assert_eq!(place.run(&[&args[..], &["-u", "t.csv", "-o", "t.csv"]].concat(), "").quiet(), "");
    assert_eq!(place.read("t.csv"), "\u{FEFF}id,url\r\n03,http://i\r\n4,\r\n5\r\n");
}

#[test]
fn uris_of_rows_are_counted_as_those_of_lists() {
    let csv = "\u{FEFF}id,url\r\n1,\"http://h/\"\"a\"\r\n2,HTTP://H:80/\r\n3,\"http://i\n\"\r\n4,\r\n5\r\n6,no uri";
    let other = "url\nhttp://h/%61\n";
    let jsonl = "{\"p\":{\"u\":\"http:\\/\\/h\\u002F\\u0022a\"}}\n{\"p\":{\"u\":\"HTTP://H:80/\"}}\n{\"p\":{\"u\":\"http://i\\n\"}}\n{\"p\":null}\n[]\n{\"p\":{\"u\":\"no uri\"}}";
    let list = "http://h/\"a\nHTTP://H:80/\nhttp://i\n\nno uri\n";
    let fields = "1 http://h/\"a\n2\tHTTP://H:80/ x\n3 http://i\n\n5\n6 no\n";
    let place = Place::new(&[
        ("t.csv", csv),
        ("o.csv", other),
        ("t.jsonl", jsonl),
        ("l", list),
        ("lo", "http://h/%61\n"),
        ("lf", &list.replace("no uri", "no")),
        ("f", fields),
    ]);
    for command in [&["top", "--by", "url", "--distinct"][..], &["census", "--to", "json"]] {
        let read = |args: &[&str], stdin| {
            let ran = place.run(&[command, args].concat(), stdin);
            assert_eq!(ran.code, 0, "{}", ran.stderr);
            // Bytes are those of the list.
            let (text, stderr) = (ran.text().to_owned(), ran.stderr.clone());
            (text.split_once(",\"records\"").map_or(text.clone(), |(_, it)| it.to_owned()), stderr)
        };
        let by_list = read(&["l"], "").0;
        let skip = ["--on-bad-row", "skip"];
        for (args, stdin) in [
            (&["--column", "url", "t.csv"][..], ""),
            (&["--column", "2", "--from", "csv"], csv),
            (&["--column", "p.u", "t.jsonl"], ""),
            (&["--column", "p.u", "--from", "jsonl"], jsonl),
        ] {
            let (text, stderr) = read(&[args, &skip].concat(), stdin);
            assert_eq!(text, by_list, "{command:?} {args:?}");
            assert!(stderr.ends_with("uriscan: 1 row that does not fit was skipped\n"), "{stderr}");
        }
        let (text, _) = read(&["--column", "url", "t.csv", "o.csv", "--on-bad-row", "skip"], "");
        assert_eq!(text, read(&["l", "lo"], "").0);
        let (text, _) =
            read(&["--column", "2", "--from", "fields", "f", "--on-bad-row", "skip"], "");
        assert_eq!(text, read(&["lf"], "").0);
        let (text, _) =
            read(&["--column", "url", "--host", "i", "t.csv", "--on-bad-row", "skip"], "");
        assert_eq!(text, read(&["--host", "i", "l"], "").0);
        let refused = |args: &[&str]| place.run(&[command, args].concat(), "").refused();
        let message = refused(&["--column", "url", "o.csv", "t.csv"]);
        assert_eq!(
            message,
            "uriscan: t.csv:7: expected 2 fields, found 1; --on-bad-row skip omits such rows"
        );
        let message = refused(&["--column", "p.v", "t.jsonl", "--on-bad-row", "skip"]);
        assert!(message.starts_with("uriscan: t.jsonl: no line has a member p.v"), "{message}");
        let message = refused(&["--column", "url", "t.csv", "--on-bad-row", "pass"]);
        assert!(message.contains("--on-bad-row pass: this command writes no rows"), "{message}");
        let message = refused(&["--column", "url", "--delimiter", ";", "."]);
        assert!(message.contains("--delimiter: works where rows of CSV"), "{message}");
        let message = refused(&["--column", "uri", "t.csv"]);
        assert!(
            message.ends_with("t.csv: there is no column uri; there are: id, url"),
            "{message}"
        );
    }
    let args =
        ["top", "--to", "tsv", "--column", "2", "--no-header", "--delimiter", ";", "--quote", "'"];
    let out =
        run([&args[..], &["--from", "csv"]].concat(), "a;'http://h/''x'\n;http://i\n").quiet();
    assert_eq!(out, "value\tcount\tshare\terror\nh\t1\t0.500000\t0\ni\t1\t0.500000\t0\n");
}

#[test]
fn columns_are_added_to_rows_that_pass_as_they_were() {
    let csv =
        "\u{FEFF}id,url\r\n1,\"http://h\"\r\n\"2\n\",  a b\r\n3, \r\n4,\r\n5\r\n06,\"http://i\n\"";
    let checked = "\u{FEFF}id,url,uri_error,uri_error_at\r\n1,\"http://h\",,\r\n\"2\n\",  a b,space,1\r\n3, ,,\r\n4,,,\r\n5\r\n06,\"http://i\n\",,\n";
    let place = Place::new(&[("e.csv", ""), ("t.csv", csv), ("same.csv", "url,uri_error\n")]);
    let check = ["check", "--column", "url", "-q"];
    let pass = [&check[..], &["--on-bad-row", "pass"]].concat();
    for (args, stdin) in [(&["e.csv", "t.csv"][..], ""), (&["--from", "csv"], csv)] {
        let ran = place.run(&[&pass[..], args].concat(), stdin);
        assert_eq!((ran.code, ran.text()), (1, checked), "{}", ran.stderr);
    }
    let ran = place
        .run(&[&check[..], &["--on-bad-row", "skip", "--no-uri", "drop", "t.csv"]].concat(), "");
    assert_eq!(ran.text(), checked.replace("5\r\n", "").replace("4,,,\r\n", ""));
    let message = place.run(&[&check[..], &["t.csv"]].concat(), "").refused();
    assert!(message.contains("t.csv:7: expected 2 fields, found 1; --on-bad-row"), "{message}");
    let message = place.run(&[&check[..], &["same.csv"]].concat(), "").refused();
    assert!(message.ends_with("same.csv: a column uri_error already exists; --into NAME gives the new one another name"), "{message}");
    // A delimiter may be in what is added.
    let args = ["check", "--column", "2", "--from", "csv", "--no-header", "--delimiter"];
    let ran = run([&args[..], &["s"]].concat(), "1sa b\n");
    assert_eq!(ran.text(), "1sa bs\"space\"s1\n");
    let ran = run([&args[..], &["1"]].concat(), "x1a b\n");
    assert_eq!(ran.text(), "x1a b1space1\"1\"\n");
    run([&args[..], &["s", "--quote", "none"]].concat(), "1sa b\n").refused();
    // In place.
    let ran = place.run(&[&pass[..], &["t.csv", "-o", "t.csv"]].concat(), "");
    assert_eq!((ran.code, &*place.read("t.csv")), (1, checked));
}

#[test]
fn members_are_added_to_objects_that_pass_as_they_were() {
    let lines = concat!(
        "{\"n\":1e400,\"u\":\"http:\\/\\/h\"}\r\n",
        "  {\"u\":\"a b\" , \"o\":{}} \n",
        "{}\n\n{ }\n{\"u\":\"\"}\n",
        "{\"u\":\"http://i\",\"uri_err\\u006fr\":1,\"uri_links\":2}\n",
        "{\"u\":\"see (http:\\/\\/h\\u002fé) or \\\"http://j\\\"\"}",
    );
    let checked = concat!(
        "{\"n\":1e400,\"u\":\"http:\\/\\/h\",\"uri_error\":null,\"uri_error_at\":null}\r\n",
        "  {\"u\":\"a b\" , \"o\":{},\"uri_error\":\"space\",\"uri_error_at\":1} \n",
        "{\"uri_error\":null,\"uri_error_at\":null}\n",
        "{ \"uri_error\":null,\"uri_error_at\":null}\n",
        "{\"u\":\"\",\"uri_error\":null,\"uri_error_at\":null}\n",
        "{\"u\":\"http://i\",\"uri_err\\u006fr\":1,\"uri_links\":2}\n",
        "{\"u\":\"see (http:\\/\\/h\\u002fé) or \\\"http://j\\\"\",\"uri_error\":\"space\",\"uri_error_at\":3}\n",
    );
    let args = ["--column", "u", "--from", "jsonl", "-q", "--on-bad-row", "pass"];
    let ran = run([&["check"][..], &args].concat(), lines);
    assert_eq!((ran.code, ran.text()), (1, checked));
    let out = run([&["extract"][..], &args].concat(), lines).quiet();
    let links: Vec<&str> =
        out.lines().map(|line| line.split("\"uri_links\":").last().unwrap().trim_end()).collect();
    let found = "[\"http://h/\",\"http://j\"]}";
    assert_eq!(links, ["[\"http://h\"]}", "[]}", "null}", "null}", "[]}", "2}", found]);
    let message = run(["check", "--column", "u", "--from", "jsonl"], lines).refused();
    assert!(
        message.ends_with(
            "-:7: a member uri_error already exists; --into NAME gives the new one another name"
        ),
        "{message}"
    );
    let ran = run(["check", "--column", "v", "--from", "jsonl"], "{\"u\":1}\n");
    assert_eq!((ran.code, &*ran.stderr), (2, "uriscan: -: no line has a member v\n"));
}

#[test]
fn several_files_are_one_table_with_one_header() {
    let place = Place::new(&[
        ("a.csv", "id,url\n1,http://a\n"),
        ("b.csv", "id,url\r\n2,HTTP://A/\n3,http://b\n"),
        ("c.csv", "url,id\nhttp://c,4\n"),
        ("a.jsonl", "{\"url\":\"http://a\"}\n"),
        ("b.jsonl", "{\"x\":{},\"url\":\"http://A\"}\n{\"url\":\"http://b\"}"),
    ]);
    let kept = |names: &[&str]| {
        place.run(&[&["dedup", "--column", "url"][..], names].concat(), "").quiet()
    };
    assert_eq!(kept(&["a.csv", "b.csv"]), "id,url\n1,http://a\n3,http://b\n");
    assert_eq!(kept(&["a.jsonl", "b.jsonl"]), "{\"url\":\"http://a\"}\n{\"url\":\"http://b\"}\n");
    fs::write(place.path("q.csv"), "\"id\",\"url\"\n\"5\",http://q\n").unwrap();
    assert_eq!(kept(&["a.csv", "q.csv"]), "id,url\n1,http://a\n\"5\",http://q\n");
    // Other columns are joined by name.
    assert_eq!(kept(&["a.csv", "c.csv"]), "id,url\n1,http://a\n4,http://c\n");
}

#[test]
fn what_is_not_there_is_an_error() {
    let place = Place::new(&[
        ("t.csv", "id,url\n1,http://a\n"),
        ("t.jsonl", "{\"id\":1}\n{}\n"),
        ("e.csv", "\n"),
        ("s.csv", "a;b\n"),
        ("d.csv", "a,b,b\n"),
        ("l", "x\n"),
    ]);
    let refused = |args: &[&str]| place.run(&[&["dedup"][..], args].concat(), "").refused();
    for (args, what) in [
        (&["--column", "uri", "t.csv"][..], "t.csv: there is no column uri; there are: id, url"),
        (&["--column", "a", "s.csv"], "there are: a;b; --delimiter ';' parts them"),
        (&["--column", "b", "d.csv"], "columns 2 and 3 are both named b; give its number"),
        (&["--column", "url", "--on-bad-row", "skip", "l"], "the format of the table is unknown"),
        (&["--column", "3", "t.csv"], "t.csv: there is no column 3; there are: id, url"),
        (
            &["--column", "url", "t.jsonl"],
            "t.jsonl: no line has a member url; the first line has: id",
        ),
        (
            &["--column", "url", "e.csv"],
            "e.csv: the header, the row with the names of columns, is missing",
        ),
        (&["--column", "url", "none.csv"], "none.csv: No such file"),
        (
            &["--sort-by", "surt", "--on-bad-row", "pass", "--column", "url", "t.csv"],
            "--on-bad-row pass: works where rows of CSV",
        ),
        (
            &["-c", "--from", "fields", "--column", "1", "t.csv"],
            "--from fields: works where rows of CSV",
        ),
        (&["--into", "n", "--column", "url", "t.csv"], "`dedup` adds one only with -c"),
        (&["--with", "x", "--column", "url", "t.csv"], "there is no column x; there are: id, url"),
    ] {
        assert!(refused(args).contains(what), "{args:?}: {}", refused(args));
    }
}

#[test]
fn lines_of_json_are_known_by_their_first_byte() {
    let lines = "{\"url\":\"http://a\"}\n{\"url\":\"HTTP://a\"}\n";
    let place = Place::new(&[("t", lines)]);
    for args in [&["dedup", "--column", "url"][..], &["dedup", "--column", "url", "t"]] {
        assert_eq!(place.run(args, lines).quiet(), &lines[..19]);
    }
}

#[test]
fn a_header_that_has_come_in_part_is_waited_for() {
    for (parts, column, kept) in [
        (["\nid,url", "_of\n1,http://a\n2,http://a\n"], "url", None),
        (["\"a\nb\",url", "_of\n1,http://a\n"], "url", None),
        (["\n", "id,url\n1,http://a\n2,http://a\n"], "url", Some("id,url\n1,http://a\n")),
        (["\nid,u", "rl,x\n1,http://a,3\n"], "id", Some("id,url,x\n1,http://a,3\n")),
    ] {
        let args = ["dedup", "--column", column, "--from", "csv"];
        let mut child =
            crate::run::program(args).stdin(std::process::Stdio::piped()).spawn().unwrap();
        let mut to = child.stdin.take().unwrap();
        to.write_all(parts[0].as_bytes()).unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        to.write_all(parts[1].as_bytes()).unwrap();
        drop(to);
        let out = child.wait_with_output().unwrap();
        match kept {
            Some(kept) => assert_eq!(String::from_utf8_lossy(&out.stdout), kept),
            None => assert_eq!((out.status.code(), &*out.stdout), (Some(2), &b""[..]), "{parts:?}"),
        }
    }
    let place = Place::new(&[]);
    let long = format!("\u{FEFF}{},url_of\nx,http://a\n", "p".repeat((256 << 10) - 8));
    fs::write(place.path("t.csv"), long).unwrap();
    let message = place.run(&["dedup", "--column", "url", "t.csv"], "").refused();
    assert!(message.ends_with("its first row has more than 256 KiB"), "{message}");
}

#[test]
fn a_table_of_which_nothing_is_left_is_not_without_its_member() {
    let lines = "{\"url\":\"not valid\"}\n{}\n";
    let args = ["dedup", "--from", "jsonl", "--column", "url", "--on-invalid", "drop"];
    assert_eq!(run(args, lines).quiet(), "");
    let args = ["dedup", "--from", "jsonl", "--column", "url", "--not-host", "h"];
    assert_eq!(run(args, "{\"url\":\"http://h\"}\n{}\n").quiet(), "");
    let args = ["dedup", "-q", "--from", "csv", "--no-header", "--column", "3"];
    assert_eq!(run(args, "3,a,3\n4,b,3\n5,c,6\n").quiet(), "3,a,3\n5,c,6\n");
    let place = Place::new(&[("a.csv", "1,http://a\n3\n"), ("b.csv", "9,HTTP://a\n8,http://b\n")]);
    let args =
        ["dedup", "--no-header", "--column", "2", "--on-bad-row", "skip", "-q", "a.csv", "b.csv"];
    assert_eq!(place.run(&args, "").quiet(), "1,http://a\n8,http://b\n");
}

#[test]
fn rows_leave_as_they_come() {
    let added = ",\"uri_error\":null,\"uri_error_at\":null}";
    let extended = ["a", "b"].map(|host| format!("{{\"url\":\"http://{host}\"{added}\n"));
    for (command, from, head, rows, written) in [
        ("dedup", "csv", "id,url\n", ["1,http://a\n", "2,http://b\n"], None),
        ("dedup", "jsonl", "", ["{\"url\":\"http://a\"}\n", "{\"url\":\"http://b\"}\n"], None),
        (
            "check",
            "jsonl",
            "",
            ["{\"url\":\"http://a\"}\n", "{\"url\":\"http://b\"}\n"],
            Some(extended.each_ref().map(|it| &**it)),
        ),
    ] {
        let written = written.unwrap_or(rows);
        let mut command = crate::run::program([command, "--column", "url", "--from", from]);
        let mut child = command.stdin(std::process::Stdio::piped()).spawn().unwrap();
        let (mut to, from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        let mut from = BufReader::new(from);
        let mut expect = |line: &str| {
            let mut read = String::new();
            from.read_line(&mut read).unwrap();
            assert_eq!(read, line);
        };
        to.write_all((head.to_owned() + rows[0]).as_bytes()).unwrap();
        if !head.is_empty() {
            expect(head);
        }
        expect(written[0]);
        to.write_all(rows[1].as_bytes()).unwrap();
        expect(written[1]);
        drop(to);
        assert!(child.wait().unwrap().success());
    }
}

#[test]
fn errors_of_tables_say_what_reads_them() {
    let place = Place::new(&[
        ("s.csv", "u;n\nhttp://h;1\n"),
        ("tab.csv", "u\tn\nhttp://h\t1\n"),
        ("p.csv", "u|n\nhttp://h|1\n"),
        ("one.csv", "url\nhttp://h\n"),
        ("lat.csv", ""),
    ]);
    std::fs::write(place.path("lat.csv"), b"u,t\nhttp://h,\xE9\n").unwrap();
    let commands =
        ["dedup", "dedup -c", "normalize", "key", "parse", "check", "audit", "census", "top"];
    for command in commands {
        let words: Vec<&str> = command.split(' ').collect();
        let refused =
            |file: &str| place.run(&[&words[..], &["--column", "u", file]].concat(), "").refused();
        for (file, delimiter) in [("s.csv", "';'"), ("tab.csv", "tab"), ("p.csv", "'|'")] {
            if command == "audit" {
                continue;
            }
            let hint = format!("--delimiter {delimiter} parts them");
            assert!(refused(file).ends_with(&hint), "{command}: {}", refused(file));
        }
        assert!(!refused("one.csv").contains("--delimiter"), "{command}");
    }
    for command in ["normalize", "key", "parse"] {
        let ran = place.run(&[command, "--column", "u", "lat.csv"], "");
        let message = ran.stderr;
        assert_eq!(ran.code, 2, "{command}");
        assert!(message.contains("lat.csv:2: invalid UTF-8 in field 2; `iconv"), "{message}");
    }
    // Rows that pass as they were need no encoding.
    assert_eq!(
        place.run(&["dedup", "--column", "u", "lat.csv"], "").stdout,
        b"u,t\nhttp://h,\xE9\n"
    );
}

#[test]
fn a_line_ends_with_its_object_and_the_white_space_of_json() {
    for end in ["\u{C}", "\u{B}", "\u{A0}", "\u{1}"] {
        let place = Place::new(&[(
            "t.jsonl",
            &format!("{{\"u\":\"http://h\"}} \t\r\n{{\"u\":\"http://i\"}}{end}\n"),
        )]);
        for args in [
            &["dedup"][..],
            &["dedup", "-d"],
            &["dedup", "-c"],
            &["dedup", "--to", "csv"],
            &["normalize"],
            &["check"],
            &["census"],
            &["top"],
        ] {
            let message = place.run(&[args, &["--column", "u", "t.jsonl"]].concat(), "").refused();
            assert!(message.contains("t.jsonl:2: not a JSON object"), "{args:?} {message}");
        }
    }
}

#[test]
fn a_member_may_be_in_any_of_several_files() {
    let place = Place::new(&[
        ("a.jsonl", "{\"u\":\"http://h\"}\n"),
        ("m.jsonl", "{\"x\":\"http://i\"}\n"),
        ("n.jsonl", "{}\n"),
    ]);
    for command in ["dedup", "dedup -c", "normalize", "check", "census", "top"] {
        let words: Vec<&str> = command.split(' ').collect();
        let run = |files: &[&str]| place.run(&[&words[..], &["--column", "u"], files].concat(), "");
        for files in [&["a.jsonl", "m.jsonl"][..], &["m.jsonl", "n.jsonl", "a.jsonl"]] {
            let ran = run(files);
            assert_eq!(ran.code, 0, "{command} {files:?}: {}", ran.stderr);
        }
        let ran = run(&["m.jsonl", "n.jsonl"]);
        let message = ran.stderr;
        assert_eq!(ran.code, 2, "{command}");
        assert!(message.contains("no line has a member u"), "{command}: {message}");
    }
}

#[test]
fn a_column_without_urls_is_reported_with_the_one_that_has_them() {
    let place = Place::new(&[("t.csv", "name,link\nfoo,http://h\nbar,http://i\n")]);
    for command in ["dedup", "normalize", "top"] {
        let ran = place.run(&[command, "--column", "name", "t.csv"], "");
        assert!(
            ran.stderr.contains("column link has URLs. Try --column link"),
            "{command}: {}",
            ran.stderr
        );
    }
}

#[test]
fn a_member_that_is_there_is_reported_also_of_rows_without_a_url() {
    let lines = "{\"url\":\"http://h/\"}\n{\"url\":null,\"uri_count\":5}\n{\"uri_count\":7}\n";
    let args = ["dedup", "-c", "--column", "url", "--no-uri", "keep", "--from", "jsonl"];
    let ran = run(args, lines);
    assert_eq!(ran.code, 2);
    assert!(ran.stderr.contains("-:2: a member uri_count already exists"), "{}", ran.stderr);
    let ran = run([&args[..], &["--on-bad-row", "pass"]].concat(), lines);
    let expected = lines.replacen("/\"}", "/\",\"uri_count\":1}", 1);
    assert_eq!((ran.code, ran.text()), (0, &*expected));
    // A name with a dot is a name here, and no path.
    let line = "{\"url\":\"http://h/a.b\",\"a\":{\"b\":1}}\n";
    let ran = run(["dedup", "-c", "--into", "a.b", "--column", "url"], line);
    assert_eq!(ran.text(), "{\"url\":\"http://h/a.b\",\"a\":{\"b\":1},\"a.b\":1}\n");
}

#[test]
fn a_line_of_dupes_is_one_line_whatever_the_value_is() {
    let value = "\"x\ty\nhttp://evil/\thttp://good/\tstring\"";
    let place = Place::new(&[("t.csv", &format!("id,url\n1,{value}\n2,{value}\n"))]);
    place.run(&["dedup", "-q", "--column", "url", "--dupes", "d", "t.csv"], "").quiet();
    let one = "x%09y%0Ahttp://evil/%09http://good/%09string";
    assert_eq!(place.read("d"), format!("{one}\t{one}\tstring\n"));
}

#[test]
fn what_is_left_out_is_reported() {
    let place = Place::new(&[
        ("open.csv", &format!("id,url\n1,http://h\n2,\"http://i\n{}", "3,http://j\n".repeat(1200))),
        ("none.jsonl", "{\"link\":\"http://h\"}\n{\"link\":null}\n{\"link\":\" \"}\n"),
        ("wide.json", "{\n  \"url\": \"http://h\"\n}\n"),
    ]);
    let reported = |args: &[&str]| place.run(&[&["dedup", "--column"], args].concat(), "").stderr;
    let message = "uriscan: 1 row that does not fit was skipped, on 1,201 lines\n";
    assert_eq!(reported(&["url", "--on-bad-row", "skip", "open.csv"]), message);
    let message = "uriscan: 2 rows without a URI were left out; --no-uri keep writes them\n";
    assert_eq!(reported(&["link", "none.jsonl"]), message);
    assert_eq!(reported(&["link", "none.jsonl", "--no-uri", "drop"]), "");
    assert_eq!(reported(&["link", "none.jsonl", "-q"]), "");
    let message =
        "uriscan: wide.json: has objects over several lines; `jq -c .` makes a line of each\n";
    assert_eq!(reported(&["url", "--on-bad-row", "skip", "wide.json"]), message);
    place.run(&["set", "create", "s.set"], "http://other/\n").quiet();
    let has = |options: &[&str]| {
        place.run(
            &[&["set", "has", "s.set", "--column", "link", "none.jsonl"], options].concat(),
            "",
        )
    };
    let message = "uriscan: 2 rows without a URI were left out\n";
    assert_eq!(has(&["-v"]).stderr, message);
    assert_eq!(has(&["-v", "-q"]).stderr, "");
    assert_eq!(has(&[]).stderr, "");
}
