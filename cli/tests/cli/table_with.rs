//! Rows that are duplicates only if other columns are equal, too.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Arc;

use arrow_array::types::Int8Type;
use arrow_array::{
    ArrayRef, DictionaryArray, Float64Array, Int64Array, ListArray, NullArray, StringArray,
};

use crate::run::Place;
use crate::tables;

/// Texts which are easily taken for each other once they are put together.
const PARTS: [Option<&str>; 7] =
    [Some("a"), Some("ab"), Some("abc"), Some(""), None, Some("bc"), Some("\u{1}")];

/// A row: the class of its URI, two texts and its number.
type Row = (usize, Option<&'static str>, Option<&'static str>, usize);

/// Rows of all combinations, many times.
fn rows(count: usize) -> Vec<Row> {
    let part = |at: usize| PARTS[at % PARTS.len()];
    (0..count).map(|i| (i * 7 % 3, part(i * 31 / 5), part(i * 17 / 3), i)).collect()
}

fn url((class, _, _, i): &Row) -> String {
    match i % 3 {
        0 => format!("HTTP://H{class}:80"),
        1 => format!("http://h{class}"),
        _ => format!("http://h{class}/"),
    }
}

/// The numbers of the rows of each class, the slow way.
fn classes(rows: &[Row]) -> Vec<Vec<usize>> {
    let mut classes: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for &(class, one, other, i) in rows {
        classes.entry((class, one, other)).or_default().push(i);
    }
    classes.into_values().collect()
}

fn numbers(place: &Place, args: &[&str]) -> Vec<usize> {
    let base = ["dedup", "--column", "url", "--to", "jsonl", "--stats=json"];
    let ran = place.run(&[&base[..], args].concat(), "");
    assert_eq!(ran.code, 0, "{args:?}: {}", ran.stderr);
    let number = |line: &str| -> usize {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        row["n"].as_u64().or_else(|| row["n"].as_str()?.parse().ok()).unwrap() as usize
    };
    ran.text().lines().map(number).collect()
}

/// Files of some row groups, in which one column is a dictionary, or plain, or missing where it is null.
fn write(place: &Place, rows: &[Row]) -> Vec<String> {
    let mut names = Vec::new();
    for (at, rows) in rows.chunks(rows.len().div_ceil(3)).enumerate() {
        let urls: ArrayRef =
            Arc::new(rows.iter().map(|row| Some(url(row))).collect::<StringArray>());
        let n: ArrayRef =
            Arc::new(rows.iter().map(|row| Some(row.3 as i64)).collect::<Int64Array>());
        let one = rows.iter().map(|row| row.1);
        let one: ArrayRef = match at {
            1 => Arc::new(one.collect::<StringArray>()),
            _ => Arc::new(one.collect::<DictionaryArray<Int8Type>>()),
        };
        let other: ArrayRef = Arc::new(rows.iter().map(|row| row.2).collect::<StringArray>());
        let none: ArrayRef = Arc::new(NullArray::new(rows.len()));
        let mut columns = vec![("url", urls), ("a,1", one), ("b", other), ("n", n)];
        columns.extend((at != 2).then_some(("none", none)));
        let name = format!("{at}.parquet");
        tables::write(place, &name, columns);
        names.push(name);
    }
    names
}

#[test]
fn rows_are_duplicates_if_the_columns_are_equal_too() {
    let place = Place::new(&[]);
    let rows = rows(1_000);
    let names = write(&place, &rows);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let classes = classes(&rows);
    assert!(classes.len() > 100 && classes.iter().any(|class| class.len() > 1));
    let expected = |of: &dyn Fn(&[usize]) -> Option<usize>| {
        let mut rows: Vec<usize> = classes.iter().filter_map(|class| of(class)).collect();
        rows.sort_unstable();
        rows
    };
    let first = expected(&|class| class.first().copied());
    // The second column by its number, as its name has a comma.
    for with in ["2,b", "b,2", "none,2,b", "b,2,2,none"] {
        for more in [&[][..], &["-j", "1"], &["-c"], &["--keep", "min:n"], &["--max-memory", "64M"]]
        {
            let args = [&["--with", with][..], more, &names].concat();
            assert_eq!(numbers(&place, &args), first, "{args:?}");
        }
    }
    let of = |more: &[&str]| numbers(&place, &[&["--with", "2,b"][..], more, &names].concat());
    assert_eq!(of(&["--keep", "last"]), expected(&|class| class.last().copied()));
    assert_eq!(of(&["--keep", "max:n"]), expected(&|class| class.last().copied()));
    let some = |class: &[usize], is: bool| is.then(|| class[0]);
    assert_eq!(of(&["-d"]), expected(&|class| some(class, class.len() > 1)));
    assert_eq!(of(&["-u"]), expected(&|class| some(class, class.len() == 1)));
    of(&["-c", "--dupes", "dupes.csv", "--clusters", "clusters.jsonl"]);
    let dupes = place.read("dupes.csv").lines().count() - 1;
    assert_eq!(dupes, rows.len() - classes.len());
    let clusters = place.read("clusters.jsonl");
    let sizes: Vec<usize> = clusters
        .lines()
        .map(|line| {
            let cluster: serde_json::Value = serde_json::from_str(line).unwrap();
            cluster["members"].as_array().unwrap().len()
        })
        .collect();
    let mut by_first = classes.clone();
    by_first.sort();
    assert_eq!(sizes, by_first.iter().map(Vec::len).collect::<Vec<_>>());
    // Every row is of a class of its own, or the column decides nothing.
    assert_eq!(numbers(&place, &[&["--with", "n"][..], &names].concat()).len(), rows.len());
    assert_eq!(numbers(&place, &[&["--with", "none"][..], &names].concat()).len(), 3);
}

#[test]
fn text_tables_and_directories_have_columns_too() {
    let place = Place::new(&[
        (
            "a.csv",
            "url,lang,n\nhttp://h,de,1\nHTTP://h/,en,2\nhttp://h/,de,3\nhttp://h,,4\nHTTP://h,,5\n",
        ),
        ("a.tsv", "url\tn\nhttp://h\t1\nhttp://h\t2\n"),
        (
            "a.jsonl",
            "{\"url\":\"http://h\",\"k\":{\"l\":1},\"n\":1}\n{\"url\":\"http://h/\",\"n\":2}\n{\"url\":\"http://h\",\"k\":{\"l\":1},\"n\":3}\n",
        ),
    ]);
    let csv = |args: &[&str]| place.run(&[&["dedup", "--column", "url"][..], args].concat(), "");
    let expected = "url,lang,n\nhttp://h,de,1\nHTTP://h/,en,2\nhttp://h,,4\n";
    assert_eq!(csv(&["--with", "lang", "a.csv"]).quiet(), expected);
    let numbered = ["dedup", "--column", "1", "--with", "2", "--no-header", "a.csv"];
    assert_eq!(place.run(&numbered, "").quiet(), expected);
    assert_eq!(csv(&["--with", "n", "a.tsv"]).quiet(), place.read("a.tsv"));
    assert_eq!(numbers_of_jsonl(&place), [1, 2]);
    let lines = place.read("a.jsonl");
    let first = lines.lines().take(2).map(|line| line.to_owned() + "\n").collect::<String>();
    assert_eq!(csv(&["--with", "k", "a.jsonl"]).quiet(), first);
    for day in ["1", "2"] {
        fs::create_dir_all(place.path(&format!("t/dt={day}"))).unwrap();
        let table = "url,n\nhttp://h,1\nHTTP://h,2\n";
        fs::write(place.path(&format!("t/dt={day}/a.csv")), table).unwrap();
    }
    assert_eq!(csv(&["--with", "dt", "t"]).quiet(), "url,n,dt\nhttp://h,1,1\nhttp://h,1,2\n");
}

fn numbers_of_jsonl(place: &Place) -> Vec<usize> {
    let args = ["dedup", "--column", "url", "--with", "k.l", "a.jsonl", "-o", "k.parquet"];
    place.run(&args, "").quiet();
    numbers(place, &["--with", "k.l", "k.parquet"])
}

#[test]
fn numbers_are_compared_by_value() {
    let place = Place::new(&[]);
    let numbers_of = [0.0, -0.0, f64::NAN, -f64::NAN, 1.0];
    let urls = vec!["http://h"; numbers_of.len()];
    let n: ArrayRef = Arc::new(Int64Array::from_iter_values(0..numbers_of.len() as i64));
    let x: ArrayRef = Arc::new(Float64Array::from_iter_values(numbers_of));
    tables::write(
        &place,
        "x.parquet",
        vec![("url", Arc::new(StringArray::from(urls))), ("x", x), ("n", n)],
    );
    assert_eq!(numbers(&place, &["--with", "x", "x.parquet"]), [0, 2, 4]);
}

#[test]
fn columns_that_are_not_there_or_have_no_equality_are_named() {
    let place = Place::new(&[("a.csv", "url,a,a\nhttp://h,1,2\n")]);
    let list =
        ListArray::from_iter_primitive::<arrow_array::types::Int32Type, _, _>([Some([Some(1)])]);
    let url: ArrayRef = Arc::new(StringArray::from(vec!["http://h"]));
    tables::write(&place, "l.parquet", vec![("url", url), ("l", Arc::new(list))]);
    let refused = |args: &[&str]| {
        place.run(&[&["dedup", "--column", "url"][..], args].concat(), "").refused()
    };
    let wrong = refused(&["--with", "l", "l.parquet", "--to", "jsonl"]);
    assert!(
        wrong.contains("column l is List")
            && wrong.ends_with("l.1 is the first value of each list"),
        "{wrong}"
    );
    assert_eq!(numbers_of_items(&place), "{\"url\":\"http://h\",\"l\":[1]}\n");
    let wrong = refused(&["--with", "b", "l.parquet", "--to", "jsonl"]);
    assert!(wrong.contains("there is no column b; there are: url, l"), "{wrong}");
    let wrong = refused(&["--with", "a", "a.csv", "--to", "jsonl"]);
    assert!(wrong.contains("columns 2 and 3 are both named a"), "{wrong}");
    // A column that is added later is not there yet.
    let wrong = refused(&["-c", "--with", "uri_count", "l.parquet", "--to", "jsonl"]);
    assert!(wrong.contains("there is no column uri_count"), "{wrong}");
    let wrong = refused(&["-c", "--keep", "max:uri_count", "l.parquet", "--to", "jsonl"]);
    assert!(wrong.contains("there is no column uri_count"), "{wrong}");
    let wrong = refused(&["--with", "a", "--report", "r.html", "a.csv"]);
    assert!(wrong.contains("--report: does not work with"), "{wrong}");
    for args in [
        &["--with", "a", "a.csv"][..],
        &["--column", "url", "--with", "n", "--seen", "s.set", "a.csv"],
    ] {
        assert_eq!(place.run(&[&["dedup"][..], args].concat(), "").code, 2, "{args:?}");
    }
}

fn numbers_of_items(place: &Place) -> String {
    let args = ["dedup", "--column", "url", "--with", "l.1", "l.parquet", "--to", "jsonl"];
    place.run(&args, "").quiet()
}

#[test]
fn members_of_json_lines_are_compared_as_they_are_decoded_and_lines_pass_unchanged() {
    let lines = [
        r#"{"u":"http://h","l":"de","n":1}"#,
        r#"{"l":"\u0064e","u":"HTTP://h/","n":1}"#,
        r#"{"u":"http://h/","l":"en","n":1}"#,
        r#"{"u":"http://h/","n":1}"#,
        r#"{"u":"http://h/", "l":null,"n":1}"#,
        r#"{"u":"http://h/","l":"null","n":1}"#,
        r#"{"u":"http://h/","l":{"x":"en"},"n":1}"#,
        r#"{"u":"http://h/","l":7,"n":1}"#,
        r#"{"u":"http://h/","l":"7","n":1}"#,
        r#"{"u":"http://h/","l":7,"n":2.0}"#,
    ];
    let text = lines.map(|line| line.to_owned() + "\n").concat();
    let place = Place::new(&[("in.jsonl", &text)]);
    let kept = |args: &[&str]| {
        let ran =
            place.run(&[&["dedup", "--column", "u", "in.jsonl", "--with"], args].concat(), "");
        ran.quiet().lines().map(str::to_owned).collect::<Vec<_>>()
    };
    let at = |numbers: &[usize]| numbers.iter().map(|&at| lines[at].to_owned()).collect::<Vec<_>>();
    assert_eq!(kept(&["l"]), at(&[0, 2, 3, 5, 6, 7, 8]));
    assert_eq!(kept(&["l,n"]), at(&[0, 2, 3, 5, 6, 7, 8, 9]));
    assert_eq!(kept(&["n"]), at(&[0, 9]));
    assert_eq!(kept(&["l.x"]), at(&[0, 6]));
    assert_eq!(kept(&["l", "-d"]), at(&[0, 3, 7]));
    assert_eq!(kept(&["l", "--keep", "last"]), at(&[1, 2, 4, 5, 6, 8, 9]));
    assert!(kept(&["l", "-c"])[0].ends_with(r#","n":1,"uri_count":2}"#));
    // A name that no line has would merge all.
    let missing = place.run(&["dedup", "--column", "u", "--with", "lang", "in.jsonl"], "");
    let message = "uriscan: in.jsonl: no line has a member lang; the first line has: l, n, u\n";
    assert_eq!((missing.code, &*missing.stderr), (2, message));
    let twice = "{\"u\":\"http://h/\",\"l\":1,\"l\":2}\n";
    let args = ["dedup", "--column", "u", "--with", "l", "--from", "jsonl"];
    let refused = place.run(&args, twice).refused();
    assert!(refused.contains("-:1: the member l occurs twice"), "{refused}");
}
