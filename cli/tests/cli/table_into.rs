//! The names of added columns: their own, and those that `--into` gives them.

use std::fs::File;

use arrow_schema::DataType;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use crate::run::Place;

const TABLE: &str = "id,url\n1,http://h\n2,HTTP://h/\n3,http://i/\n";

/// The commands that add columns, and the columns that each adds as `NAME`.
const COMMANDS: [(&[&str], &[&str]); 8] = [
    (&["normalize"], &["NAME"]),
    (&["key"], &["NAME"]),
    (&["key", "--as", "surt"], &["NAME"]),
    (&["check"], &["NAME", "NAME_at"]),
    (&["audit"], &["NAME"]),
    (&["extract"], &["NAME"]),
    (&["dedup", "-c"], &["NAME"]),
    (&["dedup", "-cu", "--keep", "last"], &["NAME"]),
];

fn schema(place: &Place, name: &str) -> Vec<(String, DataType)> {
    let file = File::open(place.path(name)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
    let field = |field: &arrow_schema::FieldRef| (field.name().clone(), field.data_type().clone());
    reader.schema().fields().iter().map(field).collect()
}

#[test]
fn a_second_run_adds_to_what_the_first_one_wrote() {
    let place = Place::new(&[("in.csv", TABLE)]);
    for (command, added) in COMMANDS {
        let run = |more: &[&str]| place.run(&[command, &["--column", "url"], more].concat(), "");
        for to in ["parquet", "arrow", "jsonl"] {
            let [one, two, three] = [1, 2, 3].map(|number| format!("{number}.{to}"));
            run(&["in.csv", "-o", &one]).quiet();
            let refused = run(&[&one, "-o", &two]).refused();
            assert!(
                refused.ends_with("already exists; --into NAME gives the new one another name")
            );
            run(&[&one, "-o", &two, "--into", "x y"]).quiet();
            run(&[&two, "-o", &three, "--into", "z"]).quiet();
            let refused = run(&[&two, "-o", &three, "--into", "x y"]).refused();
            assert!(
                refused.contains(" x y") && refused.contains("already exists; --into NAME gives"),
                "{refused}"
            );
            if to == "parquet" {
                let [one, two, three] = [one, two, three].map(|name| schema(&place, &name));
                let [x, z] = ["x y", "z"].map(|name| {
                    added.iter().map(|added| added.replace("NAME", name)).collect::<Vec<_>>()
                });
                let names = |of: &[(String, DataType)]| -> Vec<String> {
                    of.iter().map(|(name, _)| name.clone()).collect()
                };
                assert_eq!(names(&two), [names(&one), x].concat(), "{command:?}");
                assert_eq!(names(&three), [names(&two), z].concat(), "{command:?}");
                assert_eq!(one.last().map(|last| &last.1), three.last().map(|last| &last.1));
            }
        }
    }
}

#[test]
fn the_names_of_components_begin_with_the_name() {
    let place = Place::new(&[("in.csv", "url\nhttp://h/p\n")]);
    let args = ["parse", "--column", "url", "in.csv", "--into", "of.it", "-o", "out.csv"];
    place.run(&args, "").quiet();
    let text = place.read("out.csv");
    let header = text.lines().next().unwrap();
    assert!(header.starts_with("url,of.it_scheme,of.it_authority,"), "{header}");
    assert!(header.split(',').skip(1).all(|name| name.starts_with("of.it_")), "{header}");
    let again = ["parse", "--column", "url", "out.csv", "--into", "of.it"];
    let message = place.run(&again, "").refused();
    assert!(message.contains("a column of.it_scheme already exists; --into"), "{message}");
}

#[test]
fn a_name_is_refused_where_no_column_is_added() {
    let place = Place::new(&[("in.csv", TABLE), ("in.jsonl", "{\"url\":\"http://h\"}\n")]);
    for table in ["in.csv", "in.jsonl"] {
        for more in [&[][..], &["-d"], &["--keep", "last"], &["--to", "arrow"]] {
            let args = [&["dedup", "--column", "url", "--into", "n", table][..], more].concat();
            let message = place.run(&args, "").refused();
            assert!(message.contains("--into: names the column that is added"), "{message}");
        }
    }
    assert!(place.run(&["normalize", "--into", "n", "in.csv"], "").code == 2);
    let empty = ["normalize", "--column", "url", "--into", "", "in.csv"];
    assert!(place.run(&empty, "").code == 2);
}

#[test]
fn counts_are_signed_whatever_the_format() {
    let place = Place::new(&[("in.csv", TABLE)]);
    let dupes = ["--dupes", "dupes.parquet", "--clusters", "clusters.parquet"];
    let args = ["dedup", "-c", "--column", "url", "in.csv", "-o", "out.parquet"];
    place.run(&[&args[..], &dupes].concat(), "").quiet();
    for (table, columns) in [
        ("out.parquet", &["uri_count"][..]),
        ("dupes.parquet", &["line"]),
        ("clusters.parquet", &["line", "bytes", "count"]),
    ] {
        let found = schema(&place, table);
        for column in columns {
            let found = found.iter().find(|(name, _)| name == column);
            assert_eq!(found.map(|(_, of)| of), Some(&DataType::Int64), "{table} {column}");
        }
    }
}

#[test]
fn keys_say_what_they_mean_under_any_name() {
    let place = Place::new(&[("in.csv", TABLE)]);
    for (out, level) in [("a.parquet", "scheme"), ("b.parquet", "syntax")] {
        let args = ["key", "--column", "url", "in.csv", "--into", "k", "-o", out, "--level", level];
        place.run(&args, "").quiet();
    }
    let message =
        place.run(&["dedup", "--column", "url", "a.parquet", "b.parquet", "-o", "c.arrow"], "");
    let message = message.refused();
    assert!(message.contains("the keys in column k have another meaning"), "{message}");
    // The column that was there keeps its own meaning.
    let args = ["key", "--column", "url", "a.parquet", "--level", "string", "-o", "d.parquet"];
    place.run(&args, "").quiet();
    let args = ["dedup", "--column", "url", "d.parquet", "b.parquet", "-o", "c.arrow"];
    let message = place.run(&args, "").refused();
    assert!(message.contains("the keys in column k have another meaning"), "{message}");
}
