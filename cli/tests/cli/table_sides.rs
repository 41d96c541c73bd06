//! What `dedup` does with tables beside writing rows: the same as with a list of their URIs.

use crate::run::Place;

/// URIs of some classes, in several spellings, some of them invalid.
fn urls(count: u32) -> Vec<String> {
    (0..count)
        .map(|i| {
            let host = i * 7_919 % 499;
            match i % 5 {
                0 => format!("HTTPS://H{host}"),
                1 => format!("https://h{host}:443/"),
                2 => format!("http://h{host}/%7E"),
                3 => format!("http://h{host}:80/~"),
                _ => format!("no URI {}", host % 100),
            }
        })
        .collect()
}

/// A list and a table of the same URIs.
fn place() -> Place {
    let lines: String = urls(6_000).iter().map(|url| format!("{url}\n")).collect();
    Place::new(&[("list", &lines), ("in.csv", &format!("url\n{lines}"))])
}

/// What follows the header.
fn rows(text: &str) -> &str {
    text.split_once('\n').unwrap().1
}

const TABLE: [&str; 5] = ["dedup", "--column", "url", "in.csv", "--stats=json"];
const LIST: [&str; 3] = ["dedup", "list", "--stats=json"];

/// The counts of a run.
fn counts(stats: &str) -> Vec<Option<u64>> {
    let stats: serde_json::Value = serde_json::from_str(stats).unwrap();
    let names = ["records", "written", "withheld", "duplicates", "dropped", "blank", "set_keys"];
    names.map(|name| stats[name].as_u64()).to_vec()
}

/// `clusters` of the list as those of the table, where the header is on the first line.
fn of_table(clusters: &str) -> String {
    let mut parts = clusters.split("\"line\":");
    let first = parts.next().unwrap().to_owned();
    let part = |part: &str| {
        let (line, rest) = part.split_once(',').unwrap();
        format!("\"line\":{},{rest}", line.parse::<u64>().unwrap() + 1)
    };
    let all = first + &parts.map(part).collect::<String>();
    all.replace("\"source\":\"list\"", "\"source\":\"in.csv\"")
}

#[test]
fn dupes_and_clusters_are_those_of_lines() {
    let place = place();
    let sides = ["--dupes", "dupes", "--clusters", "clusters"];
    for args in [
        &[][..],
        &["-d"],
        &["-u", "--on-invalid", "drop"],
        &["--keep", "last"],
        &["--keep", "shortest"],
        &["--keep", "max"],
    ] {
        let expected = place.run(&[&LIST[..], &sides, args].concat(), "");
        let [dupes, clusters] = ["dupes", "clusters"].map(|name| place.read(name));
        assert!(!dupes.is_empty());
        let ran = place.run(&[&TABLE[..], &sides, args].concat(), "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        assert!(rows(ran.text()) == expected.text(), "{args:?}");
        assert_eq!(counts(&ran.stderr), counts(&expected.stderr), "{args:?}");
        assert!(place.read("dupes") == dupes, "{args:?}");
        assert!(place.read("clusters") == of_table(&clusters), "{args:?}");
    }
}

#[test]
fn a_column_that_decides_is_in_no_side_file() {
    let table = "n,url\n1,http://h\n3,HTTP://h\n2,http://h/\n,http://h\n5,http://i\n";
    let place = Place::new(&[("in.csv", table)]);
    let sides = ["--dupes", "dupes", "--clusters", "clusters"];
    for (keep, kept, dupes) in [
        (
            "max:n",
            "3,HTTP://h\n",
            "http://h\tHTTP://h\tsyntax\nhttp://h/\tHTTP://h\tscheme\nhttp://h\tHTTP://h\tsyntax\n",
        ),
        (
            "min:n",
            "1,http://h\n",
            "HTTP://h\thttp://h\tsyntax\nhttp://h/\thttp://h\tscheme\nhttp://h\thttp://h\tstring\n",
        ),
    ] {
        let args = [&["dedup", "--column", "url", "in.csv", "--keep", keep], &sides[..]].concat();
        assert_eq!(rows(&place.run(&args, "").quiet()), format!("{kept}5,http://i\n"));
        assert_eq!(place.read("dupes"), dupes);
        let clusters = place.read("clusters");
        let lines = clusters.matches("\"line\":").count();
        assert_eq!((lines, clusters.lines().count()), (5, 2), "{clusters}");
    }
}

#[test]
fn what_was_seen_stays_seen() {
    let (place, other) = (place(), place());
    for how in [&[][..], &["-c"], &["--keep", "last", "--dupes", "dupes", "--clusters", "c"]] {
        let set = ["--seen", "set", "--update"];
        for name in ["set", "dupes", "c"] {
            let _ = std::fs::remove_dir_all(place.path(name));
            let _ = std::fs::remove_dir_all(other.path(name));
        }
        let half: String = urls(3_000).iter().map(|url| format!("{url}\n")).collect();
        std::fs::write(place.path("half.csv"), format!("url\n{half}")).unwrap();
        std::fs::write(other.path("half"), &half).unwrap();
        let table = ["dedup", "--column", "url", "half.csv", "--stats=json"];
        let list = ["dedup", "half", "--stats=json"];
        for (table, list) in [(&table[..], &list[..]), (&TABLE, &LIST), (&TABLE, &LIST)] {
            let ran = place.run(&[table, &set, how].concat(), "");
            let expected = other.run(&[list, &set, how].concat(), "");
            assert_eq!((ran.code, expected.code), (0, 0), "{} {}", ran.stderr, expected.stderr);
            assert_eq!(rows(ran.text()).lines().count(), expected.text().lines().count());
            assert_eq!(counts(&ran.stderr), counts(&expected.stderr), "{how:?}");
            if how.is_empty() {
                assert!(rows(ran.text()) == expected.text());
            }
        }
        if how.len() > 1 {
            assert!(place.read("dupes") == other.read("dupes"));
            assert!(place.read("dupes").contains("\t\tseen\n"));
        }
        let export = ["set", "export", "set"];
        assert!(place.run(&export, "").quiet() == other.run(&export, "").quiet());
    }
}

#[test]
fn rejects_are_tables_of_whole_rows() {
    let place = Place::new(&[
        ("in.csv", "n,url\n1,http://h\n2,a b\n3,\n4,HTTP://h/\n5,a b\n"),
        ("in.jsonl", "{\"u\":\"http://h\",\"x\":[1.0]}\n{ \"u\": \"a b\" }\n{\"u\":null}\n"),
    ]);
    let rejected = "n,url\n2,a b\n5,a b\n";
    for how in [&[][..], &["-c"], &["--keep", "last"]] {
        let args = ["dedup", "--column", "url", "in.csv", "--rejects", "bad"];
        let ran = place.run(&[&args[..], how].concat(), "");
        assert_eq!((ran.code, rows(ran.text()).lines().count()), (0, 1), "{}", ran.stderr);
        assert_eq!(place.read("bad"), rejected, "{how:?}");
    }
    let ran = place.run(&["normalize", "--column", "url", "in.csv", "--rejects", "bad"], "");
    assert_eq!(
        ran.quiet(),
        "n,url,uri_normalized\n1,http://h,http://h/\n3,,\n4,HTTP://h/,http://h/\n"
    );
    assert_eq!(place.read("bad"), rejected);
    let args = ["dedup", "--column", "u", "in.jsonl", "--rejects", "bad"];
    assert_eq!(place.run(&args, "").quiet(), "{\"u\":\"http://h\",\"x\":[1.0]}\n");
    assert_eq!(place.read("bad"), "{ \"u\": \"a b\" }\n");
}

#[test]
fn rows_without_a_uri_are_kept_or_dropped_and_counted() {
    let table = "n,url\n1,\n2,http://h\n3, \n4,HTTP://h/\n5,\n";
    let place = Place::new(&[("in.csv", table)]);
    let run = |command: &str, args: &[&str]| {
        let table = [command, "--column", "url", "in.csv", "--stats=json"];
        let ran = place.run(&[&table[..], args].concat(), "");
        assert_eq!(ran.code, 0, "{}", ran.stderr);
        let stats: serde_json::Value = serde_json::from_str(&ran.stderr).unwrap();
        let counts = ["records", "blank", "written"].map(|name| stats[name].as_u64().unwrap());
        (rows(ran.text()).to_owned(), counts)
    };
    for (policy, kept) in [("keep", true), ("drop", false)] {
        for (how, count, row) in [
            (&[][..], "", "2,http://h"),
            (&["-c"], ",", "2,http://h,2"),
            (&["--keep", "last"], "", "4,HTTP://h/"),
        ] {
            let (text, counts) = run("dedup", &[&["--no-uri", policy], how].concat());
            let blank = |n: &str, url: &str| match kept {
                true => format!("{n},{url}{count}\n"),
                false => String::new(),
            };
            let middle = match row.starts_with('2') {
                true => format!("{row}\n{}", blank("3", " ")),
                false => format!("{}{row}\n", blank("3", " ")),
            };
            assert_eq!(text, format!("{}{middle}{}", blank("1", ""), blank("5", "")), "{how:?}");
            assert_eq!(counts, [2, 3, 1], "{how:?}");
        }
        let (text, counts) = run("key", &["--no-uri", policy]);
        assert_eq!(text.lines().count(), if kept { 5 } else { 3 });
        assert_eq!(counts, [3, 2, 3]);
    }
    assert_eq!(run("dedup", &[]), run("dedup", &["--no-uri", "drop"]));
    assert_eq!(run("key", &[]), run("key", &["--no-uri", "keep"]));
}

#[test]
fn an_approximate_set_loses_little() {
    let place = place();
    let exact = place.run(&LIST, "").text().lines().count();
    let ran = place.run(&[&TABLE[..], &["--approx", "0.000001"]].concat(), "");
    assert!(rows(ran.text()).lines().count() >= exact - 1, "{}", ran.stderr);
    assert!(ran.stderr.contains("--approx 0.000001: up to about 1 of"), "{}", ran.stderr);
}

#[test]
fn side_files_are_one_each_and_the_rest_is_refused() {
    let place = place();
    for (args, what) in [
        (&["--dupes", "x", "--clusters", "./x"][..], "cannot take both"),
        (&["--emit", "normalized"], "works with lines"),
        (&["-c", "--emit", "normalized"], "works with lines"),
        (&["--redact"], "work with lines"),
    ] {
        let ran = place.run(&[&["dedup", "--column", "url", "in.csv"], args].concat(), "");
        assert!(ran.code == 2 && ran.stderr.contains(what), "{args:?}: {}", ran.stderr);
    }
    assert_eq!(place.names(), ["in.csv", "list"]);
}
