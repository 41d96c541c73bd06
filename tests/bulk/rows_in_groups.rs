//! Rows of text tables in groups: counts, other columns that are compared or decide, and reports, against a slow twin that knows the
//! values of each row.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::Value;
use uriscan::normalize::{Normalizer, Options};
use uriscan::row::{OnBadRow, TextFormat, TextTable};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    ClassOptions, DedupOptions, Keep, MemoryLimit, RowOptions, Select, Settings, Sinks, class_rows,
};

/// A value that decides: null, a number, a text.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Number {
    Null,
    Is(f64, &'static str),
    Text(&'static str),
}

/// A row as it is written, with what it has; none for one that does not fit.
#[derive(Clone, Debug)]
struct Row {
    text: String,
    has: Option<Has>,
}

#[derive(Clone, Debug)]
struct Has {
    uri: &'static str,
    /// What is compared, too, and how it is written where that makes a difference.
    lang: &'static str,
    number: Number,
}

const URIS: [&str; 8] = [
    "http://h",
    "HTTP://H:80/",
    "http://h/",
    "no uri",
    "",
    "http://h/b?x=1,2",
    "http://h/%62?x=1,2",
    "http://i/\"q",
];
const LANGS: [&str; 6] = ["", "de", "en", "a,b", "a\nb", "\"é"];
const NUMBERS: [Number; 8] = [
    Number::Null,
    Number::Is(9.0, "9"),
    Number::Is(10.0, "10"),
    Number::Is(10.0, "1e1"),
    Number::Is(-3.5, "-3.50"),
    Number::Is(0.0, "0"),
    Number::Text("n/a"),
    Number::Text("2026-03-01"),
];

fn field(text: &str, is_quoted: bool) -> String {
    let needs = text.contains(['"', ',', '\n']);
    if needs || is_quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

prop_compose! {
    fn has()(uri in prop::sample::select(&URIS[..]), lang in prop::sample::select(&LANGS[..]), number in prop::sample::select(&NUMBERS[..])) -> Has {
        Has { uri, lang, number }
    }
}

prop_compose! {
    fn csv_row()(has in has(), quoted in any::<[bool; 3]>(), kind in 0..14, cr in any::<bool>()) -> Row {
        let bad = |text: &str| Row { text: text.to_owned(), has: None };
        match kind {
            0 => bad("x"),
            1 => bad("1,2,3,4"),
            _ => {
                let number = match has.number {
                    Number::Null => "",
                    Number::Is(_, text) | Number::Text(text) => text,
                };
                let [uri, lang] = [(has.uri, quoted[0]), (has.lang, quoted[1])].map(|(text, is)| field(text, is));
                let end = if cr { "\r" } else { "" };
                Row { text: format!("{lang},{uri},{}{end}", field(number, quoted[2])), has: Some(has) }
            }
        }
    }
}

prop_compose! {
    fn json_row()(has in has(), escapes in any::<[bool; 2]>(), kind in 0..14) -> Row {
        let string = |text: &str, escapes: bool| {
            let plain = serde_json::to_string(text).unwrap();
            if escapes { plain.replace('h', "\\u0068").replace('e', "\\u0065") } else { plain }
        };
        let number = match has.number {
            Number::Null => "null".to_owned(),
            Number::Is(_, text) if kind % 2 == 0 => text.to_owned(),
            Number::Is(_, text) | Number::Text(text) => format!("\"{text}\""),
        };
        let (uri, lang) = (string(has.uri, escapes[0]), string(has.lang, escapes[1]));
        let text = match kind {
            0 => return Row { text: "{\"u\":".to_owned(), has: None },
            1 => return Row { text: "{\"u\":\"http://h\",\"u\":1}".to_owned(), has: None },
            2 => return Row { text: "{\"u\":\"http://h\",\"uri_count\":1}".to_owned(), has: None },
            3 if has.lang.is_empty() && has.number == Number::Null => format!("{{\"u\":{uri},\"lang\":null}}"),
            4 => format!(" {{\"o\":{{\"n\":{number}}},\"lang\":{lang},\"u\":{uri}, \"x\":[{{\"lang\":1}}] }}\r"),
            _ => format!("{{\"u\":{uri},\"lang\":{lang},\"o\":{{\"n\":{number}}}}}"),
        };
        // A text without a character is a text, and no value is none; the twin has one word for both.
        let is_none = text.contains("\"lang\":null");
        Row { text, has: Some(Has { lang: if is_none { "(none)" } else { has.lang }, ..has }) }
    }
}

/// The order of values, of which null is as good as the worst.
fn better(one: Number, other: Number, is_least: bool) -> bool {
    let order = match (one, other) {
        (Number::Null, _) => return false,
        (_, Number::Null) => return true,
        (Number::Is(one, _), Number::Is(other, _)) => one.partial_cmp(&other).unwrap(),
        (Number::Is(..), Number::Text(_)) => Ordering::Less,
        (Number::Text(_), Number::Is(..)) => Ordering::Greater,
        (Number::Text(one), Number::Text(other)) => one.cmp(other),
    };
    order == if is_least { Ordering::Less } else { Ordering::Greater }
}

/// What a run is asked for.
#[derive(Clone, Copy, Debug)]
struct Asked {
    with: bool,
    keep: Keep,
    by_number: bool,
    count: bool,
    select: Select,
    keeps_blank: bool,
    skips_bad: bool,
    dupes: bool,
    clusters: bool,
}

prop_compose! {
    fn asked()(
        keep in prop::sample::select(vec![Keep::First, Keep::Last, Keep::Shortest, Keep::Min, Keep::Max]),
        select in prop::sample::select(vec![Select::All, Select::All, Select::Repeated, Select::Unique]),
        (with, by_number, count, keeps_blank, skips_bad) in any::<(bool, bool, bool, bool, bool)>(),
        (dupes, clusters) in any::<(bool, bool)>(),
    ) -> Asked {
        let by_number = by_number && matches!(keep, Keep::Min | Keep::Max);
        Asked { with, keep, by_number, count, select, keeps_blank, skips_bad, dupes, clusters }
    }
}

/// A group: the numbers of its rows, and which one is kept.
struct Group {
    rows: Vec<usize>,
    kept: usize,
}

fn groups(rows: &[Row], asked: Asked) -> Vec<Group> {
    let mut normalizer = Normalizer::new(Options::default());
    let mut by_key: BTreeMap<(Vec<u8>, &str), Vec<usize>> = BTreeMap::new();
    for (i, row) in rows.iter().enumerate() {
        let Some(has) = row.has.as_ref().filter(|has| !has.uri.is_empty()) else { continue };
        let form = normalizer.normalize(has.uri.as_bytes()).map(|form| form.to_vec());
        let form = form.unwrap_or_else(|_| has.uri.as_bytes().to_vec());
        by_key.entry((form, if asked.with { has.lang } else { "" })).or_default().push(i);
    }
    let has = |i: usize| rows[i].has.as_ref().unwrap();
    let group = |members: Vec<usize>| {
        let mut kept = members[0];
        for &i in &members[1..] {
            let is_better = match asked.keep {
                Keep::First => false,
                Keep::Last => true,
                Keep::Shortest => has(i).uri.len() < has(kept).uri.len(),
                keep if asked.by_number => {
                    better(has(i).number, has(kept).number, keep == Keep::Min)
                }
                Keep::Min => has(i).uri < has(kept).uri,
                _ => has(i).uri > has(kept).uri,
            };
            if is_better {
                kept = i;
            }
        }
        Group { rows: members, kept }
    };
    by_key.into_values().map(group).collect()
}

/// `row` with one more field.
fn with_field(row: &str, field: &str, format: TextFormat) -> String {
    if format == TextFormat::Csv {
        let (row, end) = row.strip_suffix('\r').map_or((row, ""), |row| (row, "\r"));
        return format!("{row},{field}{end}");
    }
    let at = row.rfind('}').unwrap();
    let field = if field.is_empty() { "null" } else { field };
    format!("{},\"uri_count\":{field}{}", &row[..at], &row[at..])
}

fn written(
    rows: &[Row],
    header: Option<&str>,
    groups: &[Group],
    asked: Asked,
    format: TextFormat,
) -> String {
    let count_of: BTreeMap<usize, usize> =
        groups.iter().map(|group| (group.kept, group.rows.len())).collect();
    let line = |(i, row): (usize, &Row)| {
        let has = match &row.has {
            None if !asked.count && row.text.contains("uri_count") => return None,
            None => return (!asked.skips_bad).then(|| row.text.clone()),
            Some(has) => has,
        };
        if has.uri.is_empty() {
            let blank = asked.count.then(|| with_field(&row.text, "", format));
            return asked.keeps_blank.then(|| blank.unwrap_or_else(|| row.text.clone()));
        }
        let count = *count_of.get(&i)?;
        let is_selected = match asked.select {
            Select::All => true,
            Select::Repeated => count > 1,
            Select::Unique => count == 1,
        };
        let counted = asked.count.then(|| with_field(&row.text, &count.to_string(), format));
        is_selected.then(|| counted.unwrap_or_else(|| row.text.clone()))
    };
    let header = header.map(|header| match asked.count {
        true => format!("{header},uri_count"),
        false => header.to_owned(),
    });
    let rows = rows.iter().enumerate().filter_map(line);
    header.into_iter().chain(rows).map(|row| row + "\n").collect()
}

/// Compares all that a run over `tables` writes with what the twin says.
fn check(
    tables: &[Vec<Row>],
    (header, format): (Option<&str>, TextFormat),
    asked: Asked,
    (threads, chunk, limit): (usize, usize, Option<usize>),
    are_files: bool,
) -> Result<(), TestCaseError> {
    let [url, number] = match format {
        TextFormat::Csv => ["url", "n"],
        _ => ["u", "o.n"],
    };
    let table = TextTable::new(format, url)
        .keeps_blank(asked.keeps_blank)
        .on_bad_row(if asked.skips_bad { OnBadRow::Skip } else { OnBadRow::Pass })
        .with(if asked.with { vec!["lang".to_owned()] } else { Vec::new() })
        .keep_by(asked.by_number.then(|| number.to_owned()));
    let text = |rows: &Vec<Row>| {
        let rows = header.into_iter().chain(rows.iter().map(|row| &*row.text));
        rows.map(|row| format!("{row}\n")).collect::<String>()
    };
    let texts: Vec<String> = tables.iter().map(text).collect();
    let dir = tempfile::tempdir().unwrap();
    let source = |(i, text): (usize, &String)| match are_files {
        true => {
            let path = dir.path().join(format!("t{i}"));
            std::fs::write(&path, text).unwrap();
            Source::file(path)
        }
        false => Source::new(format!("t{i}"), std::io::Cursor::new(text.clone())),
    };
    let sources = texts.iter().enumerate().map(source).collect();
    let limit = limit.map(|bytes| MemoryLimit::new(bytes, std::env::temp_dir()));
    let options = ClassOptions::default()
        .dedup(DedupOptions::default().limit(limit))
        .keep(asked.keep)
        .select(asked.select)
        .count(asked.count);
    let (mut out, mut dupes, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
    let mut sinks = Sinks::new(&mut out);
    if asked.dupes {
        sinks = sinks.dupes(&mut dupes);
    }
    if asked.clusters {
        sinks = sinks.clusters(&mut clusters);
    }
    let settings = Settings::default().threads(threads).chunk_bytes(chunk);
    let by = RowOptions::new(table);
    let report = class_rows(sources, &by, &options, None, &settings, &mut sinks);
    let report = report.map_err(|error| TestCaseError::fail(error.to_string()))?;

    let rows = tables.concat();
    // Without counts there is room for such a member, and the row is one of the others.
    let has_room = |row: &Row| !asked.count && row.text.contains("uri_count");
    let read: Vec<Row> = rows
        .iter()
        .map(|row| match has_room(row) {
            true => Row {
                text: row.text.clone(),
                has: Some(Has { uri: "http://h", lang: "(none)", number: Number::Null }),
            },
            false => row.clone(),
        })
        .collect();
    let groups = groups(&read, asked);
    prop_assert_eq!(
        String::from_utf8(out).unwrap(),
        written(&read, header, &groups, asked, format)
    );
    let omitted: usize = groups.iter().map(|group| group.rows.len() - 1).sum();
    prop_assert_eq!(report.duplicates, omitted as u64);

    let uri = |i: usize| read[i].has.as_ref().unwrap().uri;
    let kept_of: BTreeMap<usize, usize> =
        groups.iter().flat_map(|group| group.rows.iter().map(|&i| (i, group.kept))).collect();
    if asked.dupes {
        let dropped = kept_of.iter().filter(|(i, kept)| i != kept);
        let expected: Vec<(&str, &str)> = dropped.map(|(&i, &kept)| (uri(i), uri(kept))).collect();
        let dupes = String::from_utf8(dupes).unwrap();
        let found = dupes.lines().map(|line| {
            let mut cells = line.split('\t');
            (cells.next().unwrap(), cells.next().unwrap())
        });
        prop_assert_eq!(found.collect::<Vec<_>>(), expected);
    }
    if asked.clusters {
        // The lines on which rows begin, counted from 1 in each table.
        let mut places = Vec::new();
        for (number, rows) in tables.iter().enumerate() {
            let mut line = 1 + header.iter().count();
            for row in rows {
                let name = match are_files {
                    true => dir.path().join(format!("t{number}")).display().to_string(),
                    false => format!("t{number}"),
                };
                places.push((name, line as u64));
                line += 1 + row.text.matches('\n').count();
            }
        }
        let is_written = |group: &&Group| match asked.select {
            Select::All => true,
            Select::Repeated => group.rows.len() > 1,
            Select::Unique => group.rows.len() == 1,
        };
        let mut selected: Vec<&Group> = groups.iter().filter(is_written).collect();
        selected.sort_by_key(|group| group.kept);
        let clusters = String::from_utf8(clusters).unwrap();
        let found: Vec<Value> =
            clusters.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        prop_assert_eq!(found.len(), selected.len());
        for (found, group) in found.iter().zip(selected) {
            prop_assert_eq!(found["kept"].as_str(), Some(uri(group.kept)));
            let members = found["members"].as_array().unwrap().iter().map(|member| {
                let text = |name: &str| member[name].as_str().unwrap().to_owned();
                (text("source"), member["line"].as_u64().unwrap(), text("uri"))
            });
            let expected = group.rows.iter().map(|&i| {
                let (source, line) = places[i].clone();
                (source, line, uri(i).to_owned())
            });
            prop_assert_eq!(members.collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn groups_of_rows_of_csv_are_those_of_the_twin(
        tables in prop::collection::vec(prop::collection::vec(csv_row(), 0..30), 1..3),
        asked in asked(),
        threads in 1..4usize,
        chunk in prop::sample::select(vec![1usize, 64, 500, 100_000]),
        limit in prop::sample::select(vec![None, Some(1usize)]),
        are_files in any::<bool>(),
    ) {
        check(&tables, (Some("lang,url,n"), TextFormat::Csv), asked, (threads, chunk, limit), are_files)?;
    }

    #[test]
    fn groups_of_json_lines_are_those_of_the_twin(
        tables in prop::collection::vec(prop::collection::vec(json_row(), 0..30), 1..3),
        asked in asked(),
        threads in 1..4usize,
        chunk in prop::sample::select(vec![1usize, 64, 500, 100_000]),
        limit in prop::sample::select(vec![None, Some(1usize)]),
        are_files in any::<bool>(),
    ) {
        // There is such a member.
        let first = Row {
            text: "{\"u\":\"http://first\",\"lang\":\"x\",\"o\":{\"n\":7}}".to_owned(),
            has: Some(Has { uri: "http://first", lang: "x", number: Number::Is(7.0, "7") }),
        };
        let mut tables = tables;
        tables[0].insert(0, first);
        check(&tables, (None, TextFormat::Jsonl), asked, (threads, chunk, limit), are_files)?;
    }
}

#[test]
fn values_of_other_columns_are_kept_apart() {
    let run = |text: &str, with: &[&str]| {
        let table = TextTable::new(TextFormat::Jsonl, "u")
            .with(with.iter().map(|&name| name.to_owned()).collect());
        let mut out = Vec::new();
        let source = vec![Source::new("t", std::io::Cursor::new(text.to_owned()))];
        let options = ClassOptions::default();
        let settings = Settings::default();
        let mut sinks = Sinks::new(&mut out);
        class_rows(source, &RowOptions::new(table), &options, None, &settings, &mut sinks)
            .map(|report| report.duplicates)
    };
    for (one, other, are_equal) in [
        (r#""a":1"#, r#""a":1"#, true),
        (r#""a":1"#, r#""a":1.0"#, false),
        (r#""a":1"#, r#""a":"1""#, false),
        (r#""a":null"#, r#""b":null"#, true),
        (r#""a":"""#, r#""a":null"#, false),
        (r#""a":"\u0061""#, r#""a":"a""#, true),
        (r#""a":"\ud800""#, r#""a":"\ud800""#, true),
        (r#""a":"\ud800""#, r#""a":"\uD800""#, false),
        (r#""a":"x","b":"""#, r#""a":"","b":"x""#, false),
        (r#""a":"x","b":"yz""#, r#""a":"xy","b":"z""#, false),
    ] {
        let text = format!(
            "{{\"u\":\"http://h\",{one}}}\n{{\"u\":\"HTTP://h/\",{other}}}\n{{\"u\":\"x:y\",\"a\":2,\"b\":2}}\n"
        );
        assert_eq!(run(&text, &["a", "b"]).unwrap(), u64::from(are_equal), "{one} {other}");
    }
    let missing = run("{\"u\":\"http://h\"}\n", &["lang"]).unwrap_err().to_string();
    assert!(missing.contains("lang"), "{missing}");
    let twice = run("{\"u\":\"http://h\",\"a\":1,\"a\":2}\n", &["a"]).unwrap_err().to_string();
    assert_eq!(twice, "t:1: the member a occurs twice");
}
