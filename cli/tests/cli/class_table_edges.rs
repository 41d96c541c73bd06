//! Tables of dropped records and of classes where there is little to write, where inputs differ, and where a run must be refused
//! or fails.

use std::fs;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::Int64Type;
use arrow_array::{Array, ArrayRef, Int64Array, LargeStringArray, StringArray};

use crate::run::Place;
use crate::tables;

const DUPES: &str = "source,line,uri,hex,kept,kept_hex,level,uri_key\n";
const CLUSTERS: &str = "source,line,uri,hex,bytes,kept,kept_hex,count,level,rules,uri_key\n";

/// The columns `source`, `line` and `uri` of the table of duplicates in CSV called `name`.
fn places(place: &Place, name: &str) -> Vec<String> {
    let text = place.read(name);
    let rows = text.strip_prefix(DUPES).unwrap().lines();
    rows.map(|row| row.split(',').take(3).collect::<Vec<_>>().join(" ")).collect()
}

#[test]
fn where_nothing_is_dropped_there_are_columns_and_no_rows() {
    let place = Place::new(&[
        ("empty", ""),
        ("blank", "\n \n\n"),
        ("one", "http://h\n"),
        ("empty.csv", "url\n"),
        ("blank.csv", "id,url\n1,\n2,\" \"\n"),
    ]);
    for input in [
        &["empty"][..],
        &["blank"],
        &["one"],
        &["empty", "one", "blank"],
        &["--column", "url", "empty.csv"],
        &["--column", "url", "blank.csv"],
    ] {
        for (end, empty) in [("csv", DUPES), ("jsonl", "")] {
            let name = format!("d.{end}");
            place.run(&[&["dedup", "-o", "out", "--dupes", &name], input].concat(), "").quiet();
            assert_eq!(place.read(&name), empty, "{input:?}");
        }
        for end in ["parquet", "arrow", "arrows"] {
            let (d, c) = (format!("d.{end}"), format!("c.{end}"));
            let args = ["dedup", "-o", "out", "--dupes", &d, "--clusters", &c];
            place.run(&[&args[..], input].concat(), "").quiet();
            for (name, columns) in [(&d, DUPES), (&c, CLUSTERS)] {
                let args = ["check", "--column", "uri", name, "-o", "back.parquet"];
                place.run(&args, "").quiet();
                let table = tables::read(&place, "back.parquet");
                let schema = table.schema();
                let names: Vec<&str> = schema.fields().iter().map(|it| &**it.name()).collect();
                let (names, added) = names.split_at(names.len() - 2);
                assert_eq!(names.join(","), columns.trim_end());
                assert_eq!(added, ["uri_error", "uri_error_at"]);
                // A class of one has a row.
                let is_one = input.contains(&"one") && name == &c;
                assert_eq!(table.num_rows(), usize::from(is_one), "{input:?} {name}");
            }
        }
    }
}

#[test]
fn rows_without_a_uri_are_no_duplicates_and_rejects_are_none_of_the_class() {
    let csv = "id,url\n1,http://h\n2,\n3,no uri\n4,HTTP://h/\n5,no uri\n6,\" \"\n7,no uri\n";
    let place = Place::new(&[("in.csv", csv)]);
    let args = ["dedup", "-q", "--column", "url", "in.csv", "-o", "out.csv", "--dupes", "d.csv"];
    place.run(&args, "").quiet();
    // The lines on which the rows are.
    let expected = ["in.csv 5 HTTP://h/", "in.csv 6 no uri", "in.csv 8 no uri"];
    assert_eq!(places(&place, "d.csv"), expected);
    place.run(&[&args[..], &["--no-uri", "keep"]].concat(), "").quiet();
    assert_eq!(places(&place, "d.csv"), expected);
    place.run(&[&args[..], &["--rejects", "bad.csv"]].concat(), "").quiet();
    assert_eq!(places(&place, "d.csv"), ["in.csv 5 HTTP://h/"]);
    assert_eq!(place.read("bad.csv"), "id,url\n3,no uri\n5,no uri\n7,no uri\n");
}

#[test]
fn inputs_of_several_files_kinds_and_partitions_have_rows_of_their_own() {
    let place = Place::new(&[("a.csv", "id,url\n1,http://h\n2,http://i\n"), ("none.csv", "url\n")]);
    fs::write(place.path("b.jsonl"), "{\"more\":[1],\"url\":\"HTTP://I\"}\n{\"url\":null}\n")
        .unwrap();
    let urls: ArrayRef = Arc::new(StringArray::from(vec!["http://new", "HTTP://H/", "http://h/"]));
    let size: ArrayRef = Arc::new(Int64Array::from(vec![7, 8, 9]));
    tables::write(&place, "c.parquet", vec![("size", size), ("url", urls)]);
    let inputs = ["none.csv", "a.csv", "none.csv", "b.jsonl", "c.parquet"];
    let args = ["dedup", "--column", "url", "--to", "parquet", "-o", "out", "--dupes", "d.csv"];
    place.run(&[&args[..], &inputs].concat(), "").quiet();
    let expected = ["b.jsonl 1 HTTP://I", "c.parquet 2 HTTP://H/", "c.parquet 3 http://h/"];
    assert_eq!(places(&place, "d.csv"), expected);
    for day in ["1", "2"] {
        fs::create_dir_all(place.path(&format!("crawl/dt={day}"))).unwrap();
        let csv = format!("url\nhttp://h/{day}\nHTTP://H\n");
        fs::write(place.path(&format!("crawl/dt={day}/x.csv")), csv).unwrap();
    }
    let args = ["dedup", "--column", "url", "crawl/", "-o", "out.csv", "--dupes", "d.csv", "-c"];
    place.run(&args, "").quiet();
    assert_eq!(places(&place, "d.csv"), ["crawl/dt=2/x.csv 2 HTTP://H"]);
    assert!(place.read("out.csv").starts_with("url,dt,uri_count\nhttp://h/1,"));
}

#[test]
fn columns_of_the_input_may_have_any_name() {
    let csv = "source,line,hex,kept,level,uri_key,uri\nmine,0,ff,s,r,k,http://h\nmine,0,ff,s,r,k,HTTP://H\n";
    let place = Place::new(&[("in.csv", csv)]);
    let run = |input: &str, output: &str, side: &str| {
        let args = ["dedup", "--column", "uri", input, "-o", output, "--dupes", side];
        place.run(&args, "").quiet();
    };
    run("in.csv", "out.csv", "d.csv");
    assert_eq!(place.read("out.csv"), csv.rsplit_once("mine").unwrap().0);
    assert_eq!(places(&place, "d.csv"), ["in.csv 3 HTTP://H"]);
    // Such a table is one like any other, also if it takes its own duplicates' place.
    let lines = "HTTP://h\nhttp://h\nhttp://h\nhttp://i\nhttp://i/\n";
    fs::write(place.path("list"), lines).unwrap();
    place.run(&["dedup", "list", "-o", "out", "--clusters", "c.parquet"], "").quiet();
    run("c.parquet", "first.parquet", "again.csv");
    let expected = ["c.parquet 2 http://h", "c.parquet 3 http://h", "c.parquet 5 http://i/"];
    assert_eq!(places(&place, "again.csv"), expected);
    let first = tables::read(&place, "first.parquet");
    assert_eq!((first.num_rows(), first.num_columns()), (2, CLUSTERS.split(',').count()));
}

#[test]
fn nul_ends_and_masks_do_not_reach_into_tables() {
    let place = Place::new(&[("list", "http://u:secret@h\0HTTP://u:secret@h/\0")]);
    let args = ["dedup", "-0", "--redact", "list", "-o", "out", "--dupes", "d.csv"];
    place.run(&[&args[..], &["--clusters", "c.tsv"]].concat(), "").quiet();
    assert_eq!(places(&place, "d.csv"), ["list 2 HTTP://u:***@h/"]);
    assert_eq!(place.read("c.tsv").lines().count(), 3);
    for name in ["d.csv", "c.tsv"] {
        let text = place.read(name);
        assert!(!text.contains("secret") && !text.contains('\0'), "{text}");
    }
}

#[test]
fn overlong_values_of_tables_have_a_length() {
    let long = format!("http://{}", "a".repeat(65 << 20));
    let bytes = long.len();
    let urls = LargeStringArray::from(vec!["http://h", &long, "HTTP://h", &long]);
    let place = Place::new(&[]);
    tables::write(&place, "in.parquet", vec![("url", Arc::new(urls))]);
    let args = ["dedup", "--column", "url", "in.parquet", "-o", "out.parquet", "--clusters"];
    place.run(&[&args[..], &["c.parquet"]].concat(), "").quiet();
    let table = tables::read(&place, "c.parquet");
    let found = table.column_by_name("bytes").unwrap().as_primitive::<Int64Type>();
    let lines = table.column_by_name("line").unwrap().as_primitive::<Int64Type>();
    assert_eq!(lines.values(), &[1, 3, 2, 4]);
    assert!(found.is_null(0) && found.is_null(1));
    assert_eq!((found.value(2), found.value(3)), (bytes as i64, bytes as i64));
    place.run(&[&args[..], &["c.jsonl"]].concat(), "").quiet();
    assert_eq!(place.read("c.jsonl").matches(&format!("\"bytes\":{bytes}")).count(), 2);
}

#[test]
fn pairs_of_classes_in_tsv_are_read_as_a_table() {
    let place =
        Place::new(&[("list", "http://h\nHTTP://h\n"), ("d.tsv", "HTTP://h\thttp://h\tx\n")]);
    let explain = |name: &str| {
        let args = ["explain", "--pairs", "--to", "jsonl", "-f", name];
        let text = place.run(&args, "").quiet();
        // Without their numbers.
        text.lines().map(|line| line.split_once(',').unwrap().1.to_owned()).collect::<Vec<_>>()
    };
    for name in ["c.tsv", "c.tab", "c.csv"] {
        place.run(&["dedup", "list", "-o", "out", "--clusters", name], "").quiet();
        assert_eq!(explain(name)[1..], explain("d.tsv"), "{name}");
    }
}

#[test]
fn tables_replace_no_input_and_no_other_output() {
    let place = Place::new(&[("in.csv", "url\nhttp://h\nHTTP://h\n"), ("other.csv", "url\n")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("in.csv", place.path("link.csv")).unwrap();
    fs::hard_link(place.path("in.csv"), place.path("hard.csv")).unwrap();
    let before = place.names();
    let names = ["in.csv", "./in.csv", "hard.csv", if cfg!(unix) { "link.csv" } else { "in.csv" }];
    for (option, name) in ["--dupes", "--clusters", "--rejects"]
        .into_iter()
        .flat_map(|it| names.map(|name| (it, name)))
    {
        let args = ["dedup", "--column", "url", "other.csv", "in.csv", option, name];
        let refused = place.run(&args, "").refused();
        assert!(refused.contains("cannot take"), "{refused}");
    }
    for sides in [
        ["-o", "x.csv", "--dupes", "x.csv"],
        ["-o", "x.csv", "--clusters", "./x.csv"],
        ["--rejects", "x.csv", "--dupes", "x.csv"],
    ] {
        let args = [&["dedup", "--column", "url", "in.csv"][..], &sides].concat();
        let refused = place.run(&args, "").refused();
        assert!(refused.contains("cannot take both"), "{refused}");
    }
    assert_eq!(place.names(), before);
    assert_eq!(place.read("in.csv"), "url\nhttp://h\nHTTP://h\n");
}

#[test]
fn a_run_that_fails_midway_leaves_the_old_tables() {
    let rows: String = (0..5_000).map(|i| format!("http://h{}\n", i % 50)).collect();
    let place = Place::new(&[
        ("in.csv", &format!("url\n{rows}")),
        ("bad.csv", &format!("url\n{rows}a,b,c\n")),
        ("d.parquet", "old"),
    ]);
    let before = place.names();
    for more in [&[][..], &["-c", "--keep", "last"], &["--rows-per-file", "10"]] {
        let output = if more.contains(&"--rows-per-file") { "parts/" } else { "out.csv" };
        let args = ["dedup", "--column", "url", "in.csv", "bad.csv", "-o", output];
        let sides = ["--dupes", "d.parquet", "--clusters", "c.arrow", "--temp-dir", "."];
        let refused = place.run(&[&args[..], &sides, more].concat(), "").refused();
        assert!(refused.contains("bad.csv:5002"), "{refused}");
        assert_eq!(place.names(), before, "{more:?}");
        assert_eq!(place.read("d.parquet"), "old");
    }
    // There is no room for the beginning of a table, nor for its end.
    #[cfg(target_os = "linux")]
    for name in ["full.parquet", "full.csv"] {
        std::os::unix::fs::symlink("/dev/full", place.path(name)).unwrap();
        let args = ["dedup", "--column", "url", "in.csv", "-o", "out.csv", "--dupes", name];
        let refused = place.run(&args, "").refused();
        assert!(refused.contains(name), "{refused}");
        fs::remove_file(place.path(name)).unwrap();
        assert_eq!(place.names(), before, "{name}");
    }
}
