//! Datasets: directories and patterns of tables.

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{ArrayRef, Float32Array, Int16Array, Int64Array, StringArray, StringViewArray};

use crate::run::Place;
use crate::tables::{read, texts, write};

/// A place with these tables, below directories.
fn place(files: &[(&str, &str)]) -> Place {
    let place = Place::new(&[]);
    for (name, text) in files {
        let path = place.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    place
}

fn crawl() -> Place {
    place(&[
        ("crawl/dt=2/a.csv", "url\nhttp://c\n"),
        ("crawl/dt=1/b.csv", "url\nhttp://b\n"),
        ("crawl/dt=1/a.csv", "url\nhttp://a\n"),
        ("crawl/dt=1/notes.txt", "nothing\n"),
        ("crawl/_SUCCESS", ""),
        ("crawl/_temporary/0.json", "{}"),
        ("crawl/.part.csv.crc", "x"),
    ])
}

/// The arguments of a run over `input` that writes the column of URIs only.
fn dedup<'a>(input: &'a str, more: &[&'a str]) -> Vec<&'a str> {
    [&["dedup", "--column", "url", "--no-hive", input], more].concat()
}

#[test]
fn directories_and_patterns_stand_for_their_tables() {
    let place = crawl();
    for input in ["crawl", "crawl/", "crawl/dt=*/", "crawl/**/*.csv", "c*/*/?.csv", "**"] {
        let written = place.run(&dedup(input, &[]), "").quiet();
        assert_eq!(written, "url\nhttp://a\nhttp://b\nhttp://c\n", "{input}");
    }
    assert_eq!(place.run(&dedup("crawl/dt=[2-9]", &[]), "").quiet(), "url\nhttp://c\n");
    let top = ["top", "--by", "host", "--column", "url", "crawl/dt=1", "--to", "tsv"];
    assert_eq!(place.run(&top, "").quiet().lines().count(), 3, "a header and two hosts");
}

#[test]
fn the_summary_counts_what_was_left_out() {
    let place = crawl();
    let ran = place.run(&dedup("crawl", &["--stats=json"]), "");
    let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
    assert_eq!((stats["files"].as_u64(), stats["files_skipped"].as_u64()), (Some(3), Some(4)));
    let ran = place.run(&dedup("crawl", &["--stats"]), "");
    let line = ran.stderr.lines().find(|line| line.contains("files")).unwrap();
    assert!(line.ends_with("3  found; 4 left out, hidden or not a table by name"), "{line}");
    // Named files are not counted.
    let ran = place.run(&dedup("crawl/dt=2/a.csv", &["--stats"]), "");
    assert!(!ran.stderr.contains("files"), "{}", ran.stderr);
}

#[test]
fn a_dataset_without_tables_is_an_error_that_names_it() {
    let place = crawl();
    fs::create_dir(place.path("empty")).unwrap();
    for (input, what) in [
        ("empty", "no table was found"),
        ("crawl/*.parquet", "no table was found"),
        ("none/*.csv", "no table was found"),
        ("crawl/*", "no table was found; 3 left out: names with . or _ at the start and files"),
    ] {
        for dt in ["dt=1", "dt=2"].iter().filter(|_| input == "crawl/*") {
            fs::remove_dir_all(place.path(&format!("crawl/{dt}"))).unwrap();
        }
        let message = place.run(&dedup(input, &[]), "").refused();
        assert!(message.starts_with(&format!("uriscan: {input}: {what}")), "{message}");
    }
}

#[test]
fn a_format_reads_files_of_any_name() {
    let place = place(&[("t/000000_0", "url\nhttp://a\n"), ("t/_x", "url\nhttp://b\n")]);
    let message = place.run(&dedup("t", &[]), "").refused();
    assert!(message.contains("--from FORMAT"), "{message}");
    let written = place.run(&dedup("t", &["--from", "csv"]), "").quiet();
    assert_eq!(written, "url\nhttp://a\n");
}

#[test]
fn a_file_that_is_called_like_a_pattern_is_a_file() {
    let place = place(&[("a[1].csv", "url\nhttp://a\n"), ("a1.csv", "url\nhttp://b\n")]);
    assert_eq!(place.run(&dedup("a[1].csv", &[]), "").quiet(), "url\nhttp://a\n");
    assert_eq!(place.run(&dedup("a[1-9].csv", &[]), "").quiet(), "url\nhttp://b\n");
    let url = place.run(&dedup("http://127.0.0.1:1/?a=*", &["--to", "csv"]), "").refused();
    assert!(url.contains("cannot connect"), "{url}");
}

#[test]
fn results_are_not_found_as_input() {
    let place = crawl();
    let args = dedup("crawl", &["-o", "crawl/dt=1/a.csv"]);
    let message = place.run(&args, "").refused();
    assert!(message.contains("is the input"), "{message}");
    assert_eq!(place.read("crawl/dt=1/a.csv"), "url\nhttp://a\n");
    // A new file is not there yet when the directory is read.
    assert_eq!(place.run(&dedup("crawl", &["-o", "crawl/new.csv"]), "").quiet(), "");
    assert_eq!(place.read("crawl/new.csv"), "url\nhttp://a\nhttp://b\nhttp://c\n");
}

#[test]
fn directories_are_columns() {
    let place = place(&[
        ("crawl/dt=1/lang=de/a.csv", "url,n\nhttp://a,1\n"),
        ("crawl/dt=2/lang=__HIVE_DEFAULT_PARTITION__/b.csv", "url,n\nhttp://b,2\n"),
        ("crawl/dt=a%2Fb/c.csv", "url,n\nhttp://c,3\n"),
    ]);
    let run = |more: &[&str]| place.run(&[&["dedup", "--column", "url"], more].concat(), "");
    let all = "url,n,dt,lang\nhttp://a,1,1,de\nhttp://b,2,2,\nhttp://c,3,a/b,\n";
    for input in ["crawl", "crawl/dt=*/", "crawl/**/*.csv"] {
        assert_eq!(run(&[input]).quiet(), all, "{input}");
    }
    // What precedes the first special character is not a column.
    assert_eq!(run(&["crawl/dt=1/*"]).quiet(), "url,n,lang\nhttp://a,1,de\n");
    assert_eq!(run(&["crawl/dt=1/lang=de/a.csv"]).quiet(), "url,n\nhttp://a,1\n");
    assert_eq!(run(&["crawl", "--no-hive"]).quiet(), "url,n\nhttp://a,1\nhttp://b,2\nhttp://c,3\n");
    // The columns are like others, also when tables are read twice or spill.
    let last = "url,n,dt,lang\nhttp://a,1,1,de\n";
    fs::write(place.path("crawl/dt=2/x.csv"), "url,n\nHTTP://A/,0\n").unwrap();
    let least = ["--keep", "min:dt", "-d", "crawl", "--max-memory", "64M"];
    assert_eq!(run(&least).quiet(), last);
    let sorted = run(&["crawl", "--sort-by", "surt", "--to", "jsonl"]).quiet();
    assert!(
        sorted.starts_with("{\"url\":\"http://a\",\"n\":\"1\",\"dt\":\"1\",\"lang\":\"de\"}\n"),
        "{sorted}"
    );
}

#[test]
fn directories_add_members_to_lines_of_json() {
    let place = place(&[
        ("t/dt=1/a.jsonl", "{\"url\": \"http://a\", \"x\":1.50}\n"),
        ("t/b.jsonl", "{\"url\":\"http://b\"}\n"),
    ]);
    let args = ["normalize", "--column", "url", "t"];
    let expected = "{\"url\":\"http://b\",\"dt\":null,\"uri_normalized\":\"http://b/\"}\n{\"url\": \"http://a\", \"x\":1.50,\"dt\":\"1\",\"uri_normalized\":\"http://a/\"}\n";
    assert_eq!(place.run(&args, "").quiet(), expected);
    fs::write(place.path("t/c.jsonl"), "{\"url\":\"http://c\",\"dt\":0}\n").unwrap();
    let message = place.run(&[&args[..], &["-o", "x.jsonl"]].concat(), "").refused();
    assert!(message.contains("t/c.jsonl:1: a member dt already exists"), "{message}");
}

#[test]
fn a_column_of_a_file_and_of_its_directory_is_an_error() {
    let place = place(&[("t/dt=1/a.csv", "url,dt\nhttp://a,2\n")]);
    let run = |more: &[&str]| place.run(&[&["dedup", "--column", "url", "t"], more].concat(), "");
    assert_eq!(
        run(&["-o", "x.csv"]).refused(),
        "uriscan: t/dt=1/a.csv: column dt is in the file and in the directory dt=1; --no-hive takes that of the file"
    );
    assert_eq!(run(&["--no-hive"]).quiet(), "url,dt\nhttp://a,2\n");
    fs::create_dir(place.path("t/dt=1/dt=2")).unwrap();
    fs::write(place.path("t/dt=1/dt=2/a.csv"), "url\nhttp://a\n").unwrap();
    let message = run(&["-o", "x.csv"]).refused();
    assert!(
        message.contains("the directory dt=2 names a column for the second time; --no-hive"),
        "{message}"
    );
}

#[test]
fn columns_are_unified_by_name() {
    let place = place(&[
        ("a.csv", "id,url,tag\n1,http://a,x\n"),
        ("b.csv", "more,url,id\n7,http://b,2\n"),
        ("c.csv", "URL,url\n,http://c\n"),
    ]);
    let run = |more: &[&str]| place.run(&[&["normalize", "--column"], more].concat(), "");
    let expected = "id,url,tag,more,URL,uri_normalized\n1,http://a,x,,,http://a/\n2,http://b,,7,,http://b/\n,http://c,,,,http://c/\n";
    assert_eq!(run(&["url", "a.csv", "b.csv", "c.csv"]).quiet(), expected);
    // The number is that of the first table.
    assert_eq!(run(&["2", "a.csv", "b.csv", "c.csv"]).quiet(), expected);
    fs::write(place.path("d.csv"), "link,id\nhttp://d,1\n").unwrap();
    let message = run(&["url", "a.csv", "d.csv", "-o", "x.csv"]).refused();
    assert_eq!(message, "uriscan: d.csv: there is no column url; there are: link, id");
    let message = run(&["2", "a.csv", "d.csv", "-o", "x.csv"]).refused();
    assert_eq!(message, "uriscan: d.csv: there is no column url; there are: link, id");
    fs::write(place.path("e.csv"), "url,id,id\nhttp://d,1,2\n").unwrap();
    let message = run(&["url", "a.csv", "e.csv", "-o", "x.csv"]).refused();
    assert!(message.contains("e.csv: has two columns id"), "{message}");
    // Columns that have no names are not unified.
    let message = run(&["2", "--no-header", "a.csv", "c.csv", "-o", "x.csv"]).refused();
    assert!(message.contains("c.csv: 2 columns, a.csv has 3"), "{message}");
}

#[test]
fn a_pipe_is_unified_with_files() {
    let place = place(&[("a.csv", "id,url\n1,http://a\n"), ("b.csv", "n,url\n9,http://b\n")]);
    let run = |inputs: &[&str], text: &str| {
        let args = [&["dedup", "--column", "url", "--from", "csv"], inputs].concat();
        place.run(&args, text)
    };
    assert_eq!(
        run(&["a.csv", "-", "b.csv"], "url,n\nhttp://c,3\n").quiet(),
        "id,url,n\n1,http://a,\n,http://c,3\n,http://b,9\n"
    );
    assert_eq!(
        run(&["-", "b.csv"], "url,x\nhttp://c,3\n").quiet(),
        "url,x,n\nhttp://c,3,\nhttp://b,,9\n"
    );
    let ran = run(&["a.csv", "-"], "url,x\nhttp://c,3\n");
    assert_eq!(ran.code, 2);
    assert!(
        ran.stderr.contains("-: column x is not among those of the tables before it"),
        "{}",
        ran.stderr
    );
}

#[test]
fn types_are_widened_where_nothing_is_lost() {
    let place = Place::new(&[]);
    let column = |name: &'static str, of: ArrayRef| (name, of);
    write(
        &place,
        "a.parquet",
        vec![
            column("url", Arc::new(StringArray::from(vec!["http://a", "http://b"]))),
            column("n", Arc::new(Int16Array::from(vec![1, 2]))),
            column("x", Arc::new(Float32Array::from(vec![0.5, 0.1]))),
        ],
    );
    write(
        &place,
        "b.parquet",
        vec![
            column("x", Arc::new(arrow_array::Int32Array::from(vec![i32::MAX]))),
            column("url", Arc::new(StringViewArray::from(vec!["HTTP://C/"]))),
            column("n", Arc::new(Int64Array::from(vec![i64::MAX]))),
        ],
    );
    let inputs = ["--column", "url", "a.parquet", "b.parquet"];
    for more in
        [&["dedup"][..], &["dedup", "--keep", "last"], &["dedup", "--max-memory", "64M"], &["key"]]
    {
        let args = [more, &inputs, &["-o", "out.parquet"]].concat();
        assert_eq!(place.run(&args, "").quiet(), "");
        let rows = read(&place, "out.parquet");
        assert_eq!(
            texts(&rows, "url").into_iter().flatten().collect::<Vec<_>>(),
            ["http://a", "http://b", "HTTP://C/"]
        );
        assert_eq!(
            rows.column_by_name("n").unwrap().as_primitive::<Int64Type>().values(),
            &[1, 2, i64::MAX]
        );
        let x = rows.column_by_name("x").unwrap().as_primitive::<Float64Type>().values().clone();
        assert_eq!(x[..], [0.5, f64::from(0.1f32), f64::from(i32::MAX)]);
    }
    write(
        &place,
        "c.parquet",
        vec![
            column("url", Arc::new(StringArray::from(vec!["http://a"]))),
            column("n", Arc::new(StringArray::from(vec!["1"]))),
        ],
    );
    let args = [&["dedup"], &inputs[..], &["c.parquet", "-o", "none.parquet"]].concat();
    assert_eq!(
        place.run(&args, "").refused(),
        "uriscan: c.parquet: column n is Utf8, and Int64 in b.parquet; no type holds both without loss"
    );
    assert!(!place.names().contains(&"none.parquet".to_owned()));
}

#[test]
fn runs_over_one_day_after_the_other_equal_one_over_all() {
    let day = |shift: usize| -> String {
        let row = |i: usize| {
            let host = (i * 7_919 + shift) % 499;
            let url = match i % 4 {
                0 => format!("HTTP://H{host}.com:80"),
                1 => format!("http://h{host}.com/"),
                2 => format!("no uri {host}"),
                _ => format!("http://h{host}.com/%7Ea"),
            };
            format!("{url},{}\n", (i * 31) % 1_000)
        };
        (0..2_000).fold("url,n\n".to_owned(), |text, i| text + &row(i))
    };
    let place = place(&[
        ("crawl/dt=1/a.csv", &day(0)),
        ("crawl/dt=1/b.csv", &day(100)),
        ("crawl/dt=2/a.csv", &day(0)),
        ("crawl/dt=2/b.csv", &day(300)),
    ]);
    let lines = |day: &str| -> String {
        let texts = ["a", "b"].map(|name| place.read(&format!("crawl/dt={day}/{name}.csv")));
        let urls = texts.iter().flat_map(|text| text.lines().skip(1));
        urls.map(|line| format!("{}\n", line.split_once(',').unwrap().0)).collect()
    };
    for day in ["1", "2"] {
        fs::write(place.path(&format!("list-{day}")), lines(day)).unwrap();
    }
    let sides = ["--clusters", "clusters", "--dupes", "dupes", "--update", "--max-memory", "64M"];
    for keep in ["first", "last", "shortest", "max:n"] {
        let mut written = String::new();
        for day in ["1", "2"] {
            let pattern = format!("crawl/dt={day}*/");
            let args =
                ["dedup", "-c", "--column", "url", "--seen", "set", "--keep", keep, &pattern];
            let out = place.run(&[&args[..], &sides].concat(), "").quiet();
            let rows: Vec<Vec<&str>> = out.lines().map(|line| line.split(',').collect()).collect();
            assert_eq!(rows[0], ["url", "n", "dt", "uri_count"]);
            assert!(rows[1..].iter().all(|row| row[2] == day));
            let dupes = place.read("dupes");
            // The same of a list, but for the column that only tables have.
            if keep != "max:n" {
                let list = format!("list-{day}");
                let args = ["dedup", "-c", "--seen", "of-lists", "--keep", keep, &list];
                let of_list = place.run(&[&args[..], &sides].concat(), "").quiet();
                let of_table = rows[1..].iter().map(|row| format!("{:>7} {}\n", row[3], row[0]));
                assert_eq!(of_table.collect::<String>(), of_list, "{keep} {day}");
                assert!(dupes == place.read("dupes"), "{keep} {day}");
            }
            written.extend(
                out.lines().skip(1).map(|line| format!("{}\n", line.split_once(',').unwrap().0)),
            );
        }
        // Each class once, as in one run over all days.
        let all = place.run(&["dedup", "--column", "url", "crawl"], "").quiet();
        fs::write(place.path("written"), &written).unwrap();
        let classes = place.run(&["dedup", "written"], "").quiet();
        assert_eq!(classes.lines().count(), written.lines().count(), "{keep}");
        assert_eq!(classes.lines().count(), all.lines().count() - 1, "{keep}");
        for set in ["set", "of-lists"] {
            let _ = fs::remove_dir_all(place.path(set));
        }
    }
}

#[cfg(unix)]
#[test]
fn what_is_not_there_is_an_error() {
    use std::os::unix::fs::symlink;
    let place = place(&[("t/k=1/a.csv", "url\nhttp://a\n"), ("t/k=2/a.csv", "url\nhttp://b\n")]);
    for (target, what) in [
        ("nowhere.csv", "t/k=1/b.csv: is a link to nothing"),
        ("b.csv", "t/k=1/b.csv: "),
        ("/dev/zero", "t/k=1/b.csv: is neither a file nor a directory"),
    ] {
        symlink(target, place.path("t/k=1/b.csv")).unwrap();
        for input in ["t", "t/k=*/", "t/**/*.csv", "t/k=1/b*"] {
            for command in ["dedup", "normalize", "top"] {
                let message = place.run(&[command, "--column", "url", input], "").refused();
                assert!(message.contains(what), "{command} {input}: {message}");
            }
        }
        fs::remove_file(place.path("t/k=1/b.csv")).unwrap();
    }
    // No process writes to it.
    let made = std::process::Command::new("mkfifo").arg(place.path("t/k=1/c.csv")).status();
    assert!(made.unwrap().success());
    let message = place.run(&dedup("t", &[]), "").refused();
    assert!(message.contains("t/k=1/c.csv: is neither a file nor a directory"), "{message}");
    fs::remove_file(place.path("t/k=1/c.csv")).unwrap();
    symlink("nowhere", place.path("t/k=3")).unwrap();
    let message = place.run(&dedup("t/k=*/*.csv", &[]), "").refused();
    assert!(message.contains("t/k=3: is a link to nothing"), "{message}");
    // What would not be read if it were there.
    assert_eq!(place.run(&dedup("t", &[]), "").quiet(), "url\nhttp://a\nhttp://b\n");
}
