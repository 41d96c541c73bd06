//! Tables whose URLs go into sets, and rows of tables that are in them.

use crate::run::Place;

const ROWS: &str = "id,url\r\n1,http://h/a\r\n2,\"HTTP://H/b\"\r\n3,\r\n4,http://h/%61\r\n";

#[test]
fn the_urls_of_a_column_go_into_a_set_and_out_of_it() {
    let lines = "{\"page\":{\"url\":\"HTTP://H/b\"}}\n{\"page\":{\"url\":\"http://h/c\"}}\n";
    let place = Place::new(&[
        ("t.csv", ROWS),
        ("t.jsonl", lines),
        ("list", "http://h/a\nhttp://h/b\nhttp://h/c\n"),
    ]);
    place.run(&["set", "create", "--column", "url", "s.set", "t.csv"], "").quiet();
    assert_eq!(place.run(&["set", "has", "s.set", "list"], "").quiet(), "http://h/a\nhttp://h/b\n");
    place.run(&["set", "add", "--column", "page.url", "s.set", "t.jsonl"], "").quiet();
    assert_eq!(place.run(&["set", "has", "s.set", "list"], "").quiet(), place.read("list"));
    let args = ["set", "remove", "--column", "2", "--from", "csv", "--no-header", "s.set"];
    place.run(&args, "x,HTTP://h/b\n").quiet();
    assert_eq!(place.run(&["set", "has", "s.set", "list"], "").quiet(), "http://h/a\nhttp://h/c\n");
    // A column that is not there adds nothing, and is told.
    let ran = place.run(&["set", "add", "--column", "link", "s.set", "t.csv"], "");
    assert_eq!(
        (ran.code, &*ran.stderr),
        (2, "uriscan: t.csv: there is no column link; there are: id, url\n")
    );
}

#[test]
fn rows_that_are_in_a_set_pass_as_they_were() {
    let place =
        Place::new(&[("t.csv", ROWS), ("bad.csv", "id,url\n1,http://h/a\nx\n2,http://h/z\n")]);
    place
        .run(&["set", "create", "--first-seen", "--at", "2026-03-01", "s.set"], "http://h/a\n")
        .quiet();
    let has = |args: &[&str], input: &str| {
        let ran = place.run(&[&["set", "has", "s.set", "--column", "url"], args].concat(), input);
        (ran.code, ran.text().to_owned())
    };
    let found = "id,url\r\n1,http://h/a\r\n4,http://h/%61\r\n";
    assert_eq!(has(&["t.csv"], ""), (0, found.to_owned()));
    assert_eq!(has(&["-v", "t.csv"], ""), (0, "id,url\r\n2,\"HTTP://H/b\"\r\n".to_owned()));
    let dated = "id,url,first_seen\r\n1,http://h/a,2026-03-01T00:00:00Z\r\n4,http://h/%61,2026-03-01T00:00:00Z\r\n";
    assert_eq!(has(&["--first-seen", "t.csv"], ""), (0, dated.to_owned()));
    let line = "{\"url\":\"HTTP://H/a\"}\n{\"url\":\"http://h/q\"}\n";
    let dated = "{\"url\":\"HTTP://H/a\",\"first_seen\":\"2026-03-01T00:00:00Z\"}\n";
    assert_eq!(has(&["--first-seen"], line), (0, dated.to_owned()));
    // Nothing found is exit code 1, with the header.
    assert_eq!(has(&["--from", "csv"], "url\nhttp://i\n"), (1, "url\n".to_owned()));
    assert_eq!(
        has(&["--on-bad-row", "skip", "bad.csv"], ""),
        (0, "id,url\n1,http://h/a\n".to_owned())
    );
    assert_eq!(has(&["bad.csv"], "").0, 2);
    for (args, input, what) in [
        (
            &["--first-seen"][..],
            "{\"url\":\"http://h/a\",\"first_seen\":1}\n",
            "-:1: a member first_seen already exists",
        ),
        (&["-0", "t.csv"], "", "-0 works with lines"),
    ] {
        let ran = place.run(&[&["set", "has", "s.set", "--column", "url"], args].concat(), input);
        assert_eq!(ran.code, 2, "{args:?}");
        assert!(ran.stderr.contains(what), "{}", ran.stderr);
    }
}

#[test]
fn times_are_not_written_where_they_would_be_several_fields() {
    let place = Place::new(&[("t.csv", "id:url\n1:/a\n")]);
    let base = ["--base", "http://h/"];
    place.run(&[&["set", "create", "--first-seen", "s.set"], &base[..]].concat(), "/a\n").quiet();
    let args = ["set", "has", "--first-seen", "s.set", "--column", "url", "--from", "csv", "t.csv"];
    let more = ["--delimiter", ":", "--quote", "none"];
    let ran = place.run(&[&args[..], &base, &more].concat(), "");
    assert_eq!((ran.code, ran.text()), (2, ""), "{}", ran.stderr);
    assert!(ran.stderr.contains("csv cannot hold such columns"), "{}", ran.stderr);
}
