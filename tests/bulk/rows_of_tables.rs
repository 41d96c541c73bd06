//! Rows of text tables as records: the bytes of each row that is kept, however the table is cut, spilled and shared.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tempfile::TempDir;
use uriscan::Error;
use uriscan::normalize::{Normalizer, Options};
use uriscan::row::{OnBadRow, TextFormat, TextTable};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    ClassOptions, DedupOptions, Keep, MemoryLimit, OnInvalid, Report, RowOptions, Select, Settings,
    Sinks, class_rows, dedup_rows, normalize, values_of,
};

/// A row as it is written, and its URI; `None` for one that does not fit.
type Row = (String, Option<String>);

const URIS: [&str; 12] = [
    "http://h",
    "HTTP://H:80/",
    "http://h/a",
    "http://h/%61",
    "http://h/b?x=1,2",
    "no uri",
    "",
    " ",
    "http://i/\"q",
    "https://long.example/a/path/that/is/longer/than/a/block/of/sixty-four/bytes?and=more&and=more&and=more",
    "HTTPS://long.example/a/path/that/is/longer/than/a/block/of/sixty-four/bytes?and=more&and=more&and=more",
    "http://j/é",
];

fn csv_field(text: &str, is_quoted: bool) -> String {
    let needs = text.contains(['"', ',', '\n']);
    if needs || is_quoted { format!("\"{}\"", text.replace('"', "\"\"")) } else { text.to_owned() }
}

prop_compose! {
    fn csv_row()(uri in prop::sample::select(&URIS[..]), quoted in any::<bool>(), note in "[a, \n\"é]{0,9}", kind in 0..12) -> Row {
        match kind {
            0 => ("x".to_owned(), None),
            1 => ("1,2,3".to_owned(), None),
            2 => ("\"1\"x,http://bad".to_owned(), None),
            _ => {
                (format!("{},{}", csv_field(&note, quoted), csv_field(uri, quoted)), Some(uri.to_owned()))
            }
        }
    }
}

fn json_string(text: &str, how: usize) -> String {
    let plain = serde_json::to_string(text).unwrap();
    match how {
        0 => plain,
        1 => plain.replace('/', "\\/"),
        _ => plain.replace('h', "\\u0068"),
    }
}

prop_compose! {
    fn json_row()(uri in prop::sample::select(&URIS[..]), how in 0..3usize, note in "[a,\\\\\n\"é{}]{0,9}", kind in 0..12) -> Row {
        let (uri_text, note) = (json_string(uri, how), json_string(&note, 0));
        let uri = Some(uri.to_owned());
        match kind {
            0 => (format!("{{\"u\":{uri_text}"), None),
            1 => (format!("[{uri_text}]"), None),
            2 => ("{\"u\":null}".to_owned(), Some(String::new())),
            3 => (format!("  {{\"n\":NaN,\"deep\":[{{\"u\":{note}}}],\"u\":{uri_text}}} "), uri),
            4 => (format!("{{\"u\" : {uri_text},\"o\":{{\"u\":[1,{note}]}}}}\r"), uri),
            _ => (format!("{{\"n\":{note},\"u\":{uri_text}}}"), uri),
        }
    }
}

/// What is written of `rows`, as slowly as it can be said.
fn expected(
    header: Option<&str>,
    rows: &[Row],
    table: &TextTable,
    on_invalid: OnInvalid,
    (keep, select): (Keep, Select),
) -> String {
    let mut normalizer = Normalizer::new(Options::default());
    let (mut written, mut classes) = (vec![false; rows.len()], BTreeMap::new());
    for (i, (_, uri)) in rows.iter().enumerate() {
        let Some(uri) = uri.as_deref().map(|uri| uri.trim_ascii()) else {
            written[i] = table.on_bad_row == OnBadRow::Pass;
            continue;
        };
        if uri.is_empty() {
            written[i] = table.keeps_blank;
            continue;
        }
        let form = normalizer.normalize(uri.as_bytes()).map(|form| form.to_vec());
        if form.is_err() && on_invalid != OnInvalid::Pass {
            continue;
        }
        let form = form.unwrap_or(uri.as_bytes().to_vec());
        classes.entry(form).or_insert(Vec::new()).push((i, uri));
    }
    for class in classes.into_values() {
        let is_https = |uri: &str| uri.to_ascii_lowercase().starts_with("https:");
        // Of those that are as good, the first one.
        let kept = match keep {
            Keep::First => class.first(),
            Keep::Last => class.last(),
            Keep::Shortest => class.iter().min_by_key(|(_, uri)| uri.len()),
            Keep::Https => class.iter().min_by_key(|(_, uri)| !is_https(uri)),
            Keep::Min => class.iter().min_by_key(|(_, uri)| *uri),
            Keep::Max => class.iter().rev().max_by_key(|(_, uri)| *uri),
        };
        written[kept.unwrap().0] = match select {
            Select::All => true,
            Select::Repeated => class.len() > 1,
            Select::Unique => class.len() == 1,
        };
    }
    let rows =
        rows.iter().zip(written).filter_map(|((row, _), is_written)| is_written.then_some(&**row));
    header.into_iter().chain(rows).map(|row| format!("{row}\n")).collect()
}

fn streams(tables: &[String]) -> Vec<Source> {
    let source = |(i, text): (usize, &String)| {
        Source::new(format!("t{i}"), std::io::Cursor::new(text.clone()))
    };
    tables.iter().enumerate().map(source).collect()
}

fn files(dir: &TempDir, tables: &[String]) -> Vec<Source> {
    let source = |(i, text): (usize, &String)| {
        let path = dir.path().join(format!("t{i}"));
        std::fs::write(&path, text).unwrap();
        Source::file(path)
    };
    tables.iter().enumerate().map(source).collect()
}

/// The report of a run over rows of `sources`, by classes if there are options for these, its results and its rejects.
fn run(
    sources: Vec<Source>,
    table: &TextTable,
    options: &DedupOptions,
    by_class: Option<ClassOptions>,
    settings: &Settings,
) -> (Result<Report, Error>, String, String) {
    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let mut sinks = Sinks::new(&mut out).rejects(&mut rejects);
    let rows = RowOptions::new(table.clone());
    let report = match by_class {
        None => dedup_rows(sources, &rows, options, None, settings, &mut sinks),
        Some(by) => {
            let by = by.dedup(options.clone());
            class_rows(sources, &rows, &by, None, settings, &mut sinks)
        }
    };
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (report, text(out), text(rejects))
}

/// Compares the canonical forms of the URIs of `texts`, which have these `rows`, with those that are to be expected.
fn values_are_those_of_a_list(
    texts: &[String],
    rows: &[Row],
    table: &TextTable,
    settings: &Settings,
) -> Result<(), TestCaseError> {
    let settings = settings.record_end(b'\0');
    let (by, skipped) = (RowOptions::new(table.clone()), Default::default());
    let list = |source| values_of(source, &by, &Default::default(), &settings, &skipped);
    let (lists, mut out) = (streams(texts).into_iter().map(list).collect(), Vec::new());
    let mut sinks = Sinks::new(&mut out);
    let report = normalize(lists, &Default::default(), OnInvalid::Pass, &settings, &mut sinks);
    let report = report.map_err(|error| TestCaseError::fail(error.to_string()))?;
    let mut normalizer = Normalizer::new(Options::default());
    let uris = rows.iter().filter_map(|(_, uri)| Some(uri.as_ref()?.trim_ascii()));
    let (blank, uris): (Vec<&str>, Vec<&str>) = uris.partition(|uri| uri.is_empty());
    let form = |uri: &&str| {
        let form = normalizer.normalize(uri.as_bytes());
        form.map_or(uri.as_bytes().to_vec(), |form| form.to_vec())
    };
    let expected: Vec<Vec<u8>> = uris.iter().map(form).collect();
    let out: Vec<&[u8]> = out.split(|byte| *byte == b'\0').filter(|it| !it.is_empty()).collect();
    prop_assert_eq!(out, expected);
    prop_assert_eq!((report.records, report.blank), (uris.len() as u64, blank.len() as u64));
    let bad = rows.iter().filter(|(_, uri)| uri.is_none()).count() as u64;
    prop_assert_eq!(skipped.lock().unwrap().report.bad_rows, bad);
    Ok(())
}

/// Compares what is written of `tables`, each some rows, with what is to be expected.
fn check(
    tables: &[Vec<Row>],
    (header, mark, last_end): (Option<&str>, bool, bool),
    table: &TextTable,
    (threads, chunk, limit): (usize, usize, Option<usize>),
    by: (Keep, Select),
) -> Result<(), TestCaseError> {
    let text = |(i, rows): (usize, &Vec<Row>)| {
        let rows = header.into_iter().chain(rows.iter().map(|(row, _)| &**row));
        let mut text = rows.map(|row| format!("{row}\n")).collect::<String>();
        if !last_end {
            text.pop();
        }
        if mark && i == 0 { format!("\u{FEFF}{text}") } else { text }
    };
    let texts: Vec<String> = tables.iter().enumerate().map(text).collect();
    let all = tables.concat();
    let bad = all.iter().filter(|(_, uri)| uri.is_none()).count() as u64;
    for on_invalid in [OnInvalid::Pass, OnInvalid::Drop, OnInvalid::Divert] {
        let limit = limit.map(|bytes| MemoryLimit::new(bytes, std::env::temp_dir()));
        let options = DedupOptions::default().on_invalid(on_invalid).limit(limit);
        let settings = Settings::default().threads(threads).chunk_bytes(chunk);
        values_are_those_of_a_list(&texts, &all, table, &settings)?;
        let dir = tempfile::tempdir().unwrap();
        let all_firsts = (Keep::First, Select::All);
        let by_class = |(keep, select)| Some(ClassOptions::default().keep(keep).select(select));
        for (sources, by, by_class) in [
            (streams(&texts), all_firsts, None),
            (streams(&texts), all_firsts, by_class(all_firsts)),
            (streams(&texts), by, by_class(by)),
            (files(&dir, &texts), by, by_class(by)),
        ] {
            let (report, out, rejects) = run(sources, table, &options, by_class, &settings);
            let report = report.map_err(|error| TestCaseError::fail(error.to_string()))?;
            let begin = if mark { "\u{FEFF}" } else { "" };
            let expected = expected(header, &all, table, on_invalid, by);
            prop_assert_eq!(out, begin.to_owned() + &expected);
            prop_assert_eq!(report.bad_rows, bad);
            let invalid = report.invalid.total();
            let dropped = if on_invalid == OnInvalid::Pass { 0 } else { invalid };
            let Report { records, written, duplicates, withheld, .. } = report;
            prop_assert_eq!(records, written + duplicates + withheld + dropped);
            if on_invalid == OnInvalid::Divert {
                prop_assert_eq!(rejects.lines().count() as u64, bad + invalid);
            }
        }
    }
    Ok(())
}

prop_compose! {
    fn by()(keep in prop::sample::select(vec![Keep::First, Keep::Last, Keep::Shortest, Keep::Https, Keep::Min, Keep::Max]), select in prop::sample::select(vec![Select::All, Select::Repeated, Select::Unique])) -> (Keep, Select) {
        (keep, select)
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, ..ProptestConfig::default() })]

    #[test]
    fn rows_of_csv_are_kept_as_they_were(
        tables in prop::collection::vec(prop::collection::vec(csv_row(), 0..40), 1..4),
        (mark, last_end, keeps_blank) in any::<(bool, bool, bool)>(),
        passes in any::<bool>(),
        threads in 1..4usize,
        chunk in prop::sample::select(vec![1usize, 64, 500, 100_000]),
        limit in prop::sample::select(vec![None, Some(1usize)]),
        by in by(),
    ) {
        let on_bad = if passes { OnBadRow::Pass } else { OnBadRow::Skip };
        let table = TextTable::new(TextFormat::Csv, "url").keeps_blank(keeps_blank).on_bad_row(on_bad);
        check(&tables, (Some("note,url"), mark, last_end), &table, (threads, chunk, limit), by)?;
    }

    #[test]
    fn lines_of_json_are_kept_as_they_were(
        tables in prop::collection::vec(prop::collection::vec(json_row(), 0..40), 1..4),
        (mark, last_end, keeps_blank) in any::<(bool, bool, bool)>(),
        passes in any::<bool>(),
        threads in 1..4usize,
        chunk in prop::sample::select(vec![1usize, 64, 500, 100_000]),
        limit in prop::sample::select(vec![None, Some(1usize)]),
        by in by(),
    ) {
        let on_bad = if passes { OnBadRow::Pass } else { OnBadRow::Skip };
        let table = TextTable::new(TextFormat::Jsonl, "u").keeps_blank(keeps_blank).on_bad_row(on_bad);
        // A first table that begins with an array is refused.
        let mut tables = tables;
        for rows in &mut tables {
            rows.insert(0, ("{\"u\":\"http://first\"}".to_owned(), Some("http://first".to_owned())));
        }
        check(&tables, (None, mark, last_end), &table, (threads, chunk, limit), by)?;
    }
}

#[test]
fn the_first_row_that_does_not_fit_ends_the_run_with_its_line() {
    let lines = |rows: &[&str]| rows.iter().map(|row| format!("{row}\n")).collect::<String>();
    let good: Vec<String> = (0..5_000).map(|i| format!("\"a\n{i}\",http://h/{i}")).collect();
    let csv = lines(&["n,url"]) + &lines(&good.iter().map(|row| &**row).collect::<Vec<_>>());
    let table = TextTable::new(TextFormat::Csv, "url");
    for (chunk, threads) in [(100, 1), (1 << 17, 3)] {
        let settings = Settings::default().chunk_bytes(chunk).threads(threads);
        let texts = [csv.clone(), csv.clone() + "1,2,3\n1\n"];
        let (report, ..) = run(streams(&texts), &table, &DedupOptions::default(), None, &settings);
        assert_eq!(report.unwrap_err().to_string(), "t1:10002: expected 2 fields, found 3");
        let texts = [csv.clone(), "url,n\n".to_owned()];
        let (report, ..) = run(streams(&texts), &table, &DedupOptions::default(), None, &settings);
        assert!(report.unwrap_err().to_string().starts_with("t1: its columns are not those of"));
    }
    let invalid = csv + "x,no uri\n";
    let fail = DedupOptions::default().on_invalid(OnInvalid::Fail);
    for by_class in [None, Some(ClassOptions::default())] {
        let sources = streams(std::slice::from_ref(&invalid));
        let (report, ..) = run(sources, &table, &fail, by_class, &Settings::default());
        let error = report.unwrap_err().to_string();
        assert!(error.starts_with("t0:10002: space at column 5"), "{error}");
    }
}
