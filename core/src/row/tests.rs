//! The readers of rows against obvious ones, on every backend.

use proptest::prelude::*;

use super::csv::{self, Rows, Separators};
use super::json::{self, Value};
use super::{FoundRows, Layout, OnBadRow, TextFormat, TextTable};
use crate::chunk::{PaddedBuf, Span};
use crate::simd::{Isa, Kernels, Task};

const COMMA: Separators = Separators { delimiter: b',', quote: Some(b'"') };

/// A row: its fields, and what is wrong with it.
type Read = (Vec<Vec<u8>>, Option<String>);

/// The rows of `text` that are not blank, the same on every backend, and the end of the last whole row.
fn rows(text: &[u8], separators: Separators) -> (Vec<Read>, Option<usize>) {
    struct All<'a>(&'a [u8], Separators);
    impl Task for All<'_> {
        type Output = (Vec<Read>, Option<usize>);
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) -> Self::Output {
            let All(text, separators) = self;
            let (mut rows, mut read) = (Rows::new(isa, text, separators), Vec::new());
            loop {
                let mut fields = Vec::new();
                let row = rows.next_row(|_, raw| {
                    let mut field = Vec::new();
                    match (raw.is_escaped, separators.quote) {
                        (true, Some(quote)) => {
                            csv::unescape(raw.span.of(text), quote, &mut field);
                        }
                        _ => field.extend_from_slice(raw.span.of(text)),
                    }
                    fields.push(field);
                });
                let Some(row) = row else { break };
                assert_eq!(fields.len(), row.fields);
                if !row.is_blank(text) {
                    read.push((fields, row.fault.map(|fault| fault.what.into_owned())));
                }
            }
            (read, csv::last_end(isa, text, separators))
        }
    }
    let found: Vec<_> =
        Kernels::available().map(|kernels| kernels.run(All(text, separators))).collect();
    assert!(found.windows(2).all(|pair| pair[0] == pair[1]), "{}", text.escape_ascii());
    found.into_iter().next().unwrap()
}

fn texts(text: &str) -> Vec<Vec<String>> {
    let (rows, _) = rows(text.as_bytes(), COMMA);
    let field = |field: Vec<u8>| String::from_utf8(field).unwrap();
    rows.into_iter()
        .map(|(fields, fault)| {
            assert_eq!(fault, None, "{text:?}");
            fields.into_iter().map(field).collect()
        })
        .collect()
}

#[test]
fn fields_are_those_of_the_standard() {
    assert_eq!(texts("a,b\r\nc,\n"), [["a", "b"], ["c", ""]]);
    assert_eq!(texts("\"a,\nb\",\"c\"\"d\"\r\n\"\",e"), [["a,\nb", "c\"d"], ["", "e"]]);
    assert_eq!(texts("it\"s,5\" x 3\n"), [["it\"s", "5\" x 3"]]);
    assert_eq!(texts("\n\r\n\na\n\n"), [["a"]]);
    assert_eq!(texts("\"\"\n"), [[""]]);
    assert_eq!(texts("a\r"), [["a"]]);
    assert_eq!(texts("\"a\"\r\n\"b\"\r"), [["a"], ["b"]]);
    let long = "x".repeat(200);
    assert_eq!(texts(&format!("{long},\"{long}\"\"\"\n")), [[long.clone(), long + "\""]]);
}

#[test]
fn stray_quotes_and_carriage_returns_are_faults_of_their_row_alone() {
    for (text, what) in [
        ("\"a\"x,b\nc,d\n", "the closing quote"),
        ("\"a\" ,b\nc,d\n", "the closing quote"),
        ("a,\"b\"x\nc,d\n", "the closing quote"),
        ("a,\"b\"\t\r\nc,d\n", "the closing quote"),
        ("a\rb,c\nc,d\n", "a carriage return"),
        ("a,\"b\"\rx\nc,d\n", "a carriage return"),
    ] {
        let (rows, _) = rows(text.as_bytes(), COMMA);
        assert!(rows[0].1.as_ref().unwrap().starts_with(what), "{text:?} {rows:?}");
        assert_eq!(rows[1..], [(vec![b"c".to_vec(), b"d".to_vec()], None)], "{text:?}");
    }
    let (open, end) = rows(b"a,b\nc,\"d\ne,f\n", COMMA);
    assert_eq!((open.len(), end), (2, Some(4)));
    assert!(open[1].1.as_ref().unwrap().starts_with("a quote in this row is never closed"));
}

/// The rows of `text`, in which all quotes are closed, by `csv-core`.
fn by_csv_core(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let (mut reader, mut rows) = (csv_core::Reader::new(), Vec::new());
    // A last row without an end is given one.
    let text = [text, b"\n"].concat();
    let mut input = &text[..];
    let (mut fields, mut ends) = (vec![0; text.len()], vec![0; text.len() + 1]);
    while !input.is_empty() {
        let (result, taken, _, count) = reader.read_record(input, &mut fields, &mut ends);
        if result == csv_core::ReadRecordResult::Record {
            let mut start = 0;
            let mut field = |&end: &usize| fields[std::mem::replace(&mut start, end)..end].to_vec();
            rows.push(ends[..count].iter().map(&mut field).collect());
        }
        input = &input[taken..];
    }
    rows
}

/// The member of the object `line` that `name` leads to, as a parser reads it: the text, or `None` for null.
fn by_serde(line: &str, name: &str) -> Result<Option<Option<String>>, ()> {
    let object: serde_json::Map<String, serde_json::Value> =
        serde_json::from_str(line).map_err(drop)?;
    Ok(object.get(name).map(|value| match value {
        serde_json::Value::Null => None,
        serde_json::Value::String(text) => Some(text.clone()),
        other => Some(other.to_string()),
    }))
}

/// The same by the reader of rows; `Err` also if the member occurs twice, or is not Unicode.
fn by_rows(line: &str, path: &str) -> Result<Option<Option<String>>, String> {
    match json::value(line.as_bytes(), path).map_err(|fault| fault.what.into_owned())? {
        Value::Missing => Ok(None),
        Value::Null => Ok(Some(None)),
        Value::Other(raw) => {
            Ok(Some(Some(raw.span.of(line.as_bytes()).escape_ascii().to_string())))
        }
        Value::Text(value) => {
            let raw = value.span.of(line.as_bytes());
            let mut text = Vec::new();
            match value.is_escaped {
                false => text.extend_from_slice(raw),
                true => json::unescape(raw, &mut text).ok_or("not Unicode")?,
            }
            Ok(Some(Some(String::from_utf8(text).map_err(|_| "not UTF-8")?)))
        }
    }
}

#[test]
fn a_path_leads_through_objects_and_arrays() {
    let some = |text: &str| Ok(Some(Some(text.to_owned())));
    for (path, line, value) in [
        ("u", "{\"u\":\"a\"}", "a"),
        ("u", "{\"o\":{\"u\":1},\"\\u0075\":\"\\u0061\\/\"}", "a/"),
        ("u", "{\"u\":-1e3}", "-1e3"),
        (
            "u",
            "{\"n\":NaN,\"i\":[-Infinity, {}], \"s\":\"\\ud800\", \"u\" : \"\\ud83d\\ude00\" }",
            "\u{1F600}",
        ),
        ("p.u", "{\"p\":{\"u\":\"a\"}}", "a"),
        ("p.u", "{\"p\":{\"u\":\"a\"},\"p.u\":\"b\"}", "b"),
        ("p.q.u", "{\"p\":{\"q.u\":\"a\"},\"p.q\":{\"u\":\"b\"}}", "b"),
        ("p.q.u", "{\"p\":{\"q.u\":\"a\"}}", "a"),
        ("l.2", "{\"l\":[\"a\", \"b\"]}", "b"),
        ("l.1.u", "{\"l\":[{\"u\":\"a\"}]}", "a"),
    ] {
        assert_eq!(by_rows(line, path), some(value), "{path} {line}");
    }
    for (path, line) in [
        ("p.u", "{\"p\":{}}"),
        ("p.u", "{\"p\":null}"),
        ("p.u", "{\"p\":\"u\"}"),
        ("p.u", "{\"pu\":1,\"pp.u\":2}"),
        ("l.0", "{\"l\":[1]}"),
        ("l.2", "{\"l\":[1]}"),
        ("l.x", "{\"l\":[]}"),
    ] {
        assert_eq!(by_rows(line, path), Ok(None), "{path} {line}");
    }
    assert_eq!(by_rows("{\"p\":{\"u\":null}}", "p.u"), Ok(Some(None)));
}

#[test]
fn what_is_not_an_object_is_a_fault_that_says_where() {
    for (line, what) in [
        ("[]", "not a JSON object, which every line must be"),
        ("http://h", "not a JSON object, which"),
        ("{\"u\":\"a\"", "not a JSON object: a comma or } is missing at column 9"),
        ("{\"u\":\"a", "not a JSON object: a string is never closed at column 8"),
        ("{\"u\":\"a\"} x", "not a JSON object: trailing characters at column 11"),
        ("{\"u\":01}", "not a JSON object: a value is missing at column 6"),
        ("{\"u\":}", "not a JSON object: a value is missing at column 6"),
        ("{u:1}", "not a JSON object: a string is missing at column 2"),
        ("{\"u\" 1}", "not a JSON object: a colon is missing at column 6"),
        ("{\"u\":[1 2]}", "not a JSON object: a comma or ] is missing at column 9"),
        ("{\"u\":1,\"u\":2}", "the member u occurs twice"),
    ] {
        let error = by_rows(line, "u").unwrap_err();
        assert!(error.starts_with(what), "{line}: {error}");
    }
    for line in ["{\"p\":{\"u\":1,\"u\":2}}", "{\"p\":{\"u\":1},\"p\":{}}"] {
        assert!(by_rows(line, "p.u").unwrap_err().ends_with("p.u occurs twice"), "{line}");
    }
    assert_eq!(by_rows("{\"u\":\"\\ud800\"}", "u").unwrap_err(), "not Unicode");
    let deep = format!("{{\"u\":{}", "[".repeat(100_000));
    assert!(by_rows(&deep, "u").unwrap_err().contains("within each other"));
}

/// The values of the rows of `text`, and how many are bad; the same on every backend.
fn found(table: &TextTable, text: &str) -> (Vec<String>, usize) {
    struct Find<'a>(&'a TextTable, &'a Layout, &'a mut PaddedBuf, &'a mut FoundRows);
    impl Task for Find<'_> {
        type Output = ();
        #[inline(always)]
        fn run<I: Isa>(self, isa: I) {
            self.0.find(isa, (self.1, true), self.2, &mut |_| true, self.3);
        }
    }
    let layout = Layout::of_head(table, text.as_bytes()).unwrap();
    let each = Kernels::available().map(|kernels| {
        let (mut buf, mut found) = (PaddedBuf::from_content(text.as_bytes()), FoundRows::default());
        kernels.run(Find(table, &layout, &mut buf, &mut found));
        let value =
            |span: &Span| String::from_utf8(span.of(buf.padded().content()).to_vec()).unwrap();
        (found.values.iter().map(value).collect::<Vec<_>>(), found.bad_rows as usize)
    });
    let each: Vec<_> = each.collect();
    assert!(each.windows(2).all(|pair| pair[0] == pair[1]));
    each.into_iter().next().unwrap()
}

#[test]
fn values_are_trimmed_and_decoded() {
    let csv = TextTable::new(TextFormat::Csv, "url");
    let (values, bad) = found(&csv, "id,url\n1, http://a \n2,\"http://b/\"\"\"\n3\n4,\" \"\n");
    assert_eq!((values, bad), (vec!["http://a".to_owned(), "http://b/\"".to_owned()], 1));
    let lines = TextTable::new(TextFormat::Jsonl, "u").on_bad_row(OnBadRow::Skip);
    let (values, bad) =
        found(&lines, "{\"u\":\" \\/a \"}\n\n{\"u\":\"b\"}\n{}\nx\n{\"u\":\"\\n\"}\n");
    assert_eq!((values, bad), (vec!["/a".to_owned(), "b".to_owned()], 1));
    let fields = TextTable::new(TextFormat::Fields, "2");
    let (values, bad) = found(&fields, " GET  http://h\t200\nGET\n\nx y\n");
    assert_eq!((values, bad), (vec!["http://h".to_owned(), "y".to_owned()], 1));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 4000, ..ProptestConfig::default() })]

    #[test]
    fn rows_without_faults_are_those_of_csv_core(text in "([a,\"\n]|\r\n|\"a\"|,\"\"){0,40}") {
        let (rows, end) = rows(text.as_bytes(), COMMA);
        if rows.iter().all(|(_, fault)| fault.is_none()) {
            let fields: Vec<_> = rows.into_iter().map(|(fields, _)| fields).collect();
            prop_assert_eq!(fields, by_csv_core(text.as_bytes()));
        }
        prop_assert!(end.is_none_or(|end| text.as_bytes()[end - 1] == b'\n'));
    }

    #[test]
    fn rows_are_the_same_wherever_a_table_is_cut(text in "([a,\"\r\n]|\"a\"|,\"\"){0,30}") {
        let text = text.as_bytes();
        let (whole, _) = rows(text, COMMA);
        for cut in 0..=text.len() {
            let (_, Some(end)) = rows(&text[..cut], COMMA) else { continue };
            let (mut parts, _) = rows(&text[..end], COMMA);
            parts.extend(rows(&text[end..], COMMA).0);
            prop_assert_eq!(&parts, &whole, "{} {}", cut, end);
        }
    }

    #[test]
    fn objects_are_those_of_a_parser(
        line in "\\{([\\{\\}\\[\\],: u1-]|\"u\"|\"u\":|\"a\\\\\\\\\"|\"\\\\u0061\"|:1|:true|:null|-1\\.5|,\"v\":){0,12}\\}",
    ) {
        match (by_rows(&line, "u"), by_serde(&line, "u")) {
            (Ok(rows), Ok(serde)) => {
                // A number may be written in other ways than a parser shows it, and what is within a value.
                let is_text = |text: &Option<Option<String>>| text.iter().flatten().all(|it| it == "u" || it == "a");
                if is_text(&serde) || is_text(&rows) {
                    prop_assert_eq!(rows, serde, "{}", line);
                } else {
                    prop_assert_eq!(rows.is_some(), serde.is_some(), "{}", line);
                }
            }
            (Err(error), serde) => prop_assert!(serde.is_err() || error.contains("twice"), "{line}: {error}"),
            (Ok(_), Err(())) => prop_assert!(false, "{line} is not JSON"),
        }
    }
}
