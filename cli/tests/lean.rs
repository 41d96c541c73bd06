//! The program without the feature `full`: it says what it lacks. The other tests of the program are for that of
//! `--all-features`, and `scripts/test` runs both.
#![cfg(not(feature = "full"))]

use std::process::Command;

use tempfile::TempDir;

const NO_TABLES: &str = "this program has no tables of columns: rows of CSV, TSV and JSON lines stay as they are, with `census`, `check`, `dedup`, `extract`, `learn`, `set` and `top`; Parquet, Arrow, other formats than that of the input, sorted rows and several files as output are in the one that `cargo install --path cli --features full` builds";

fn place() -> TempDir {
    let place = tempfile::tempdir().unwrap();
    std::fs::write(place.path().join("t.parquet"), "PAR1\x15\x04\x15PAR1").unwrap();
    std::fs::write(place.path().join("list"), "http://h\nHTTP://h\n").unwrap();
    place
}

/// The exit code, standard output and standard error of the program.
fn run(place: &TempDir, args: &[&str]) -> (i32, String, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_uriscan"));
    let output = command.args(args).current_dir(place.path()).output().unwrap();
    let [out, error] = [output.stdout, output.stderr].map(|it| String::from_utf8(it).unwrap());
    (output.status.code().expect("no signal"), out, error)
}

/// The message of a run that could not do its job.
#[track_caller]
fn refusal(place: &TempDir, args: &[&str]) -> String {
    let (code, out, error) = run(place, args);
    assert_eq!((code, &*out), (2, ""), "{args:?}: {error}");
    error.strip_prefix("uriscan: ").unwrap().trim_end().to_owned()
}

#[test]
fn stores_and_web_servers_are_reported() {
    let place = place();
    for command in ["dedup", "check", "parse"] {
        let message = refusal(&place, &[command, "http://h/list.txt"]);
        let what = "http://h/list.txt: is a URL, not a file";
        assert!(message.starts_with(what) && message.contains("curl"), "{message}");
    }
    for (url, what) in [("https://h/", "is a URL"), ("s3://b/k", "this program is built without")] {
        let (code, out, error) = run(&place, &["extract", url, "list"]);
        assert_eq!((code, &*out), (2, "http://h\nHTTP://h\n"));
        assert!(error.contains(&format!("{url}: {what}")), "{error}");
    }
    assert!(refusal(&place, &["dedup", "no/file"]).contains("No such file"));
    for args in [
        &["dedup", "s3://b/k"][..],
        &["dedup", "list", "-o", "gs://b/k"],
        &["dedup", "list", "--dupes", "az://b/k"],
        &["dedup", "list", "--report", "abfs://b/k"],
    ] {
        let message = refusal(&place, args);
        let what = "://b/k: this program is built without object stores";
        assert!(message.contains(what) && message.contains("--features full"), "{message}");
    }
}

#[test]
fn tables_are_reported() {
    let place = place();
    for command in ["dedup", "normalize", "key", "parse", "check", "audit", "extract", "top"] {
        let message = refusal(&place, &[command, "--column", "url", "t.parquet"]);
        assert_eq!(message, format!("--column: {NO_TABLES}"));
        let (_, help, _) = run(&place, &[command, "--help"]);
        let heading = "Tables (without `--features full` only CSV, TSV and JSON lines, by census,";
        assert!(help.contains(heading), "{help}");
    }
    for command in ["dedup", "normalize", "census", "check"] {
        let message = refusal(&place, &[command, "t.parquet"]);
        let what = format!("is a table in format Parquet, not text; {NO_TABLES}");
        assert_eq!(message, format!("t.parquet: {what}"));
    }
    assert!(refusal(&place, &["dedup", "--keep", "min:x", "list"]).contains("require --column"));
}

#[test]
fn what_needs_columns_is_named() {
    let place = place();
    std::fs::write(place.path().join("t.csv"), "url\nhttp://h\n").unwrap();
    for (args, named) in [
        (&["--to", "parquet"][..], "--to parquet"),
        (&["--to", "jsonl"], "--to jsonl"),
        (&["-o", "x.parquet"], "x.parquet"),
        (&["-o", "x.arrow"], "x.arrow"),
        (&["-o", "x.jsonl"], "x.jsonl"),
        (&["-o", "x.tsv"], "x.tsv"),
        (&["--sort-by", "surt", "-o", "x.csv"], "--sort-by"),
        (&["--partition-by", "url", "-o", "x/"], "--partition-by"),
        (&["--rows-per-file", "5", "-o", "x"], "--rows-per-file"),
    ] {
        let args = [&["dedup", "--column", "url", "t.csv"][..], args].concat();
        assert_eq!(refusal(&place, &args), format!("{named}: {NO_TABLES}"));
    }
    for (option, what) in [("-0", "-0 work with lines"), ("--extract", "--extract makes lists")] {
        let message = refusal(&place, &["dedup", "--column", "url", "t.csv", option]);
        assert!(message.contains(what), "{message}");
    }
    // A hint names what this program takes.
    std::fs::write(place.path().join("u.csv"), "id,url\n1,http://h\n2,http://i\n").unwrap();
    for (command, how) in [("key", "--extract --link-column url"), ("dedup", "--column url")] {
        let (_, _, hint) = run(&place, &[command, "u.csv"]);
        assert!(hint.contains(&format!("`uriscan {command} {how} u.csv`")), "{hint}");
    }
    for topic in ["tables", "recipes"] {
        let (_, page, _) = run(&place, &["help", topic]);
        assert!(page.ends_with("--features full`.\n"), "{page}");
    }
}

#[test]
fn rows_of_text_tables_are_records() {
    let place = place();
    let write = |name: &str, text: &str| std::fs::write(place.path().join(name), text).unwrap();
    write("t.csv", "id,url\r\n1,http://h\r\n2,HTTP://H/\r\n3,\"http://i\"\r\n4\r\n");
    write("u.csv", "url,id\nhttp://h,1\n");
    write("t.jsonl", "{\"p\":{\"u\":\"x:1\"},\"n\":NaN}\n{\"p\":{\"u\":\"X:1\"}}\n");
    write("a.json", "[{\"u\":\"x:1\"}]");
    let kept = |args: &[&str]| run(&place, &[&["dedup", "-q"][..], args].concat());
    let (code, out, error) = kept(&["--column", "url", "t.csv", "--on-bad-row", "skip"]);
    assert_eq!((code, &*error), (0, ""));
    assert_eq!(out, "id,url\r\n1,http://h\r\n3,\"http://i\"\r\n");
    let (_, out, _) = kept(&["--column", "url", "t.csv", "-u", "--on-bad-row", "skip"]);
    assert_eq!(out, "id,url\r\n3,\"http://i\"\r\n");
    let (_, out, _) = kept(&["--column", "url", "t.csv", "-c", "--on-bad-row", "skip"]);
    assert_eq!(out, "id,url,uri_count\r\n1,http://h,2\r\n3,\"http://i\",1\r\n");
    let (_, out, _) = kept(&["--column", "p.u", "t.jsonl"]);
    assert_eq!(out, "{\"p\":{\"u\":\"x:1\"},\"n\":NaN}\n");
    let (_, out, _) = kept(&["--column", "1", "--from", "fields", "list"]);
    assert_eq!(out, "http://h\n");
    let read = |args: &[&str]| run(&place, &[args, &["-q", "--on-bad-row", "skip"]].concat());
    let (code, out, error) = read(&["top", "--to", "tsv", "--column", "url", "t.csv", "u.csv"]);
    assert_eq!((code, &*error), (0, ""));
    assert_eq!(out, "value\tcount\tshare\terror\nh\t3\t0.750000\t0\ni\t1\t0.250000\t0\n");
    let (_, out, _) = read(&["census", "--to", "json", "--column", "p.u", "t.jsonl"]);
    assert!(out.contains("\"records\":2") && out.contains("\"distinct\":1"), "{out}");
    let (code, out, _) =
        run(&place, &["check", "--column", "url", "t.csv", "--on-bad-row", "pass"]);
    let rows = [
        "id,url,uri_error,uri_error_at",
        "1,http://h,,",
        "2,HTTP://H/,,",
        "3,\"http://i\",,",
        "4",
        "",
    ];
    assert_eq!((code, out), (0, rows.join("\r\n")));
    let (_, out, _) = run(&place, &["extract", "--column", "p.u", "t.jsonl"]);
    assert!(out.ends_with("{\"p\":{\"u\":\"X:1\"},\"uri_links\":[]}\n"), "{out}");
    let (_, out, _) = run(&place, &["extract", "--column", "url", "--on-bad-row", "skip", "t.csv"]);
    assert!(out.contains("\r\n2,HTTP://H/,\"[\"\"HTTP://H/\"\"]\"\r\n"), "{out}");
    for (args, what) in [
        (&["--column", "url", "t.csv"][..], "t.csv:5: expected 2 fields, found 1"),
        (&["--column", "url", "u.csv", "t.csv"], "t.csv: its columns are not those of the first"),
        (&["--column", "u", "a.json"], "a.json: is an array of JSON"),
        (&["--column", "1", "list"], "--column: the format of the table is unknown; --from csv"),
        (&["--sort-by", "surt", "--column", "url", "t.csv"], NO_TABLES),
        (&["--to", "parquet", "--column", "url", "t.csv"], NO_TABLES),
    ] {
        let (code, _, message) = kept(args);
        assert!(code == 2 && message.contains(what), "{message}");
    }
}

#[test]
fn names_of_tables_are_refused_for_side_files() {
    let place = place();
    let refuses = |name: &str| {
        ["--dupes", "--clusters"].map(|option| run(&place, &["dedup", option, name, "list"]).0 == 2)
    };
    for (option, ending) in [("--dupes", "end it in .txt or .tsv"), ("--clusters", "in .jsonl")] {
        let message = refusal(&place, &["dedup", option, "d.csv", "list"]);
        assert!(message.contains(ending) && message.contains("--features full"), "{message}");
    }
    for name in ["d.parquet", "d.CSV", "d.arrow.gz", "d.csv.zst"] {
        assert_eq!(refuses(name), [true, true], "{name}");
    }
    for name in ["d.jsonl", "d.json"] {
        assert_eq!(refuses(name), [true, false], "{name}");
    }
    for name in ["d.tsv", "d.tab"] {
        assert_eq!(refuses(name), [false, true], "{name}");
    }
    for name in ["d", "d.txt", "csv"] {
        assert_eq!(refuses(name), [false, false], "{name}");
    }
}
