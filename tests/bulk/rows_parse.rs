//! Rows of components: exact JSON, TSV and templates, line numbers, faults.

use serde_json::{Value, json};
use uriscan::Kernels;
use uriscan::repair::Repairs;
use uriscan::uri::{Split, UriErrorKind, split};
use uriscan_bulk::io::{Field, Source, Template};
use uriscan_bulk::pipeline::{Report, RowFormat, Settings, Sinks, parse};

fn rows_of(texts: &[&[u8]], format: &RowFormat, settings: &Settings) -> (Vec<u8>, Report) {
    let sources = texts
        .iter()
        .enumerate()
        .map(|(i, text)| Source::new(i.to_string(), std::io::Cursor::new(text.to_vec())))
        .collect();
    let mut out = Vec::new();
    let report =
        parse(sources, format, Repairs::default(), settings, &mut Sinks::new(&mut out)).unwrap();
    (out, report)
}

fn rows(text: &[u8], format: &RowFormat) -> String {
    String::from_utf8(rows_of(&[text], format, &Settings::default()).0).unwrap()
}

fn template(text: &str) -> RowFormat {
    RowFormat::Template(Template::new(text).unwrap())
}

/// `reference`, followed by
/// `[scheme, authority, userinfo, host, port, path, query, fragment, host_kind]`.
type Case<'a> = (&'a str, [Option<&'a str>; 9]);

const REG: Option<&str> = Some("reg-name");
#[rustfmt::skip]
const CASES: &[Case<'_>] = &[
    // 3: the two examples of the section on components.
    ("foo://example.com:8042/over/there?name=ferret#nose",
        [Some("foo"), Some("example.com:8042"), None, Some("example.com"), Some("8042"), Some("/over/there"), Some("name=ferret"), Some("nose"), REG]),
    ("urn:example:animal:ferret:nose",
        [Some("urn"), None, None, None, None, Some("example:animal:ferret:nose"), None, None, None]),
    // 1.1.2
    ("ftp://ftp.is.co.za/rfc/rfc1808.txt",
        [Some("ftp"), Some("ftp.is.co.za"), None, Some("ftp.is.co.za"), None, Some("/rfc/rfc1808.txt"), None, None, REG]),
    ("ldap://[2001:db8::7]/c=GB?objectClass?one",
        [Some("ldap"), Some("[2001:db8::7]"), None, Some("[2001:db8::7]"), None, Some("/c=GB"), Some("objectClass?one"), None, Some("ipv6")]),
    ("mailto:John.Doe@example.com",
        [Some("mailto"), None, None, None, None, Some("John.Doe@example.com"), None, None, None]),
    ("news:comp.infosystems.www.servers.unix",
        [Some("news"), None, None, None, None, Some("comp.infosystems.www.servers.unix"), None, None, None]),
    ("tel:+1-816-555-1212", [Some("tel"), None, None, None, None, Some("+1-816-555-1212"), None, None, None]),
    ("telnet://192.0.2.16:80/",
        [Some("telnet"), Some("192.0.2.16:80"), None, Some("192.0.2.16"), Some("80"), Some("/"), None, None, Some("ipv4")]),
    // Undefined and empty.
    ("http://@h:/?#", [Some("http"), Some("@h:"), Some(""), Some("h"), Some(""), Some("/"), Some(""), Some(""), REG]),
    ("http://u:p@[v1.x]:00", [Some("http"), Some("u:p@[v1.x]:00"), Some("u:p"), Some("[v1.x]"), Some("00"), Some(""), None, None, Some("ipvfuture")]),
    ("file:///etc", [Some("file"), Some(""), None, Some(""), None, Some("/etc"), None, None, REG]),
    // Relative references.
    ("//g?y/./x", [None, Some("g"), None, Some("g"), None, Some(""), Some("y/./x"), None, REG]),
    ("../g;x=1/y", [None, None, None, None, None, Some("../g;x=1/y"), None, None, None]),
    ("?", [None, None, None, None, None, Some(""), Some(""), None, None]),
    ("#s", [None, None, None, None, None, Some(""), None, Some("s"), None]),
    ("http://1.2.3.256/", [Some("http"), Some("1.2.3.256"), None, Some("1.2.3.256"), None, Some("/"), None, None, REG]),
];

/// `[domain, suffix, params]` of a case.
fn of_lists(reference: &str) -> [Option<&'static str>; 3] {
    let (domain, suffix) = match reference {
        "foo://example.com:8042/over/there?name=ferret#nose" => (Some("example.com"), Some("com")),
        "ftp://ftp.is.co.za/rfc/rfc1808.txt" => (Some("is.co.za"), Some("co.za")),
        "http://@h:/?#" => (None, Some("h")),
        "//g?y/./x" => (None, Some("g")),
        _ => (None, None),
    };
    let params = match reference {
        "foo://example.com:8042/over/there?name=ferret#nose" => Some(r#"[["name","ferret"]]"#),
        "ldap://[2001:db8::7]/c=GB?objectClass?one" => Some(r#"[["objectClass?one",null]]"#),
        "http://@h:/?#" | "?" => Some("[]"),
        "//g?y/./x" => Some(r#"[["y/./x",null]]"#),
        _ => None,
    };
    [domain, suffix, params]
}

#[test]
fn json_rows_have_exactly_the_fields_with_null_and_empty_apart() {
    let text = CASES.iter().map(|case| format!("{}\n", case.0)).collect::<String>();
    let found = rows(text.as_bytes(), &RowFormat::Jsonl);
    assert_eq!(found.lines().count(), CASES.len());
    for (i, (line, (reference, values))) in found.lines().zip(CASES).enumerate() {
        let mut expected = serde_json::Map::new();
        expected.insert("line".into(), json!(i + 1));
        for (field, value) in Field::OF_ROW[1..].iter().zip(values) {
            expected.insert(field.name().into(), json!(value));
        }
        let [domain, suffix, params] = of_lists(reference);
        let params = params.map(|params| serde_json::from_str::<Value>(params).unwrap());
        expected.insert("domain".into(), json!(domain));
        expected.insert("suffix".into(), json!(suffix));
        expected.insert("params".into(), json!(params));
        let row: Value = serde_json::from_str(line).unwrap();
        assert_eq!(row, Value::Object(expected), "{reference}");
        // The order of the members, which a map does not preserve.
        let places: Vec<_> = Field::OF_ROW
            .iter()
            .map(|f| line.find(&format!("\"{}\":", f.name())).unwrap())
            .collect();
        assert!(places.is_sorted(), "{line}");
    }
}

#[test]
fn the_components_of_a_row_recompose_its_record() {
    let text = CASES.iter().map(|case| format!("{}\n", case.0)).collect::<String>();
    for (line, (reference, _)) in rows(text.as_bytes(), &RowFormat::Jsonl).lines().zip(CASES) {
        let row: Value = serde_json::from_str(line).unwrap();
        let text = |name: &str| row[name].as_str().map(str::as_bytes);
        let parts = Split {
            scheme: text("scheme"),
            authority: text("authority"),
            path: text("path").unwrap(),
            query: text("query"),
            fragment: text("fragment"),
        };
        assert_eq!(parts, split(reference.as_bytes()));
        assert_eq!(parts.recompose(), reference.as_bytes());
    }
}

#[test]
fn tsv_rows_distinguish_undefined_and_empty() {
    let text = CASES.iter().map(|case| format!("{}\n", case.0)).collect::<String>() + "a b\n";
    let found = rows(text.as_bytes(), &RowFormat::Tsv);
    let mut lines = found.lines();
    let header = "line\tscheme\tauthority\tuserinfo\thost\tport\tpath\tquery\tfragment\thost_kind\tdomain\tsuffix\tparams\terror";
    assert_eq!(lines.next(), Some(header));
    for (i, (reference, values)) in CASES.iter().enumerate() {
        let values = values.iter().copied().chain(of_lists(reference));
        let values: Vec<&str> = values.map(|value| value.unwrap_or("\\N")).collect();
        let values = values.join("\t");
        assert_eq!(lines.next().unwrap(), format!("{}\t{values}\t\\N", i + 1));
    }
    let undefined = ["\\N"; 12].join("\t");
    assert_eq!(lines.next().unwrap(), format!("{}\t{undefined}\tspace@1", CASES.len() + 1));
    assert_eq!(lines.next(), None);
    // Even without records, so that the output is a table.
    assert_eq!(rows(b"", &RowFormat::Tsv), format!("{header}\n"));
}

#[test]
fn lines_are_counted_per_source_and_blank_ones_count() {
    let text: &[&[u8]] = &[b"\xEF\xBB\xBFa\r\n\n \t\n  b c \n", b"\n\nd"];
    let (out, report) = rows_of(text, &RowFormat::Jsonl, &Settings::default());
    let lines: Vec<Value> = out
        .split(|&byte| byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    assert_eq!(lines[0]["path"], "a");
    assert_eq!(lines[1], json!({"line": 4, "error": {"kind": "space", "at": 1}}));
    assert_eq!((&lines[2]["line"], &lines[2]["path"]), (&json!(3), &json!("d")));
    assert_eq!(lines.len(), 3);
    assert_eq!((report.records, report.blank, report.written), (3, 4, 3));
    assert_eq!(report.invalid.iter().collect::<Vec<_>>(), [(UriErrorKind::Space, 1)]);
}

#[test]
fn templates_omit_invalid_records_and_count_them() {
    let text: &[&[u8]] = &[b"http://h:1/p\nno uri\n#f\n"];
    let format = template(r"{line}\t{host}\t{port}");
    let (out, report) = rows_of(text, &format, &Settings::default());
    assert_eq!(String::from_utf8(out).unwrap(), "1\th\t1\n3\t\t\n");
    assert_eq!((report.records, report.written, report.invalid.total()), (3, 2, 1));
}

#[test]
fn nul_ends_records_and_templates_but_not_other_rows() {
    let settings = Settings::default().record_end(0);
    let text: &[&[u8]] = &[b"a:b\0\nc\0d\ne\0"];
    assert_eq!(rows_of(text, &template("{path}"), &settings).0, b"b\0c\0");
    let (jsonl, report) = rows_of(text, &RowFormat::Jsonl, &settings);
    assert_eq!(jsonl.iter().filter(|&&byte| byte == b'\n').count(), 3);
    assert!(!jsonl.contains(&0));
    assert_eq!(report.invalid.of(UriErrorKind::Control), 1);
    assert!(!rows_of(text, &RowFormat::Tsv, &settings).0.contains(&0));
}

#[test]
fn a_record_over_the_limit_is_a_row_with_an_error() {
    let settings = Settings::default().chunk_bytes(64).max_record(256);
    let mut text = b"a:b\n".to_vec();
    text.extend(vec![b'x'; 1000]);
    text.extend(b"\nc:d\n");
    let (out, report) = rows_of(&[&text], &RowFormat::Jsonl, &settings);
    let out = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[1], r#"{"line":2,"error":{"kind":"too-long","at":256}}"#);
    assert!(lines[2].starts_with(r#"{"line":3,"scheme":"c","#) && lines.len() == 3);
    assert_eq!((report.records, report.written, report.invalid.total()), (3, 3, 1));
    let (out, report) = rows_of(&[&text], &RowFormat::Tsv, &settings);
    assert!(String::from_utf8(out).unwrap().contains("\n2\t\\N\t"));
    assert_eq!(report.written, 3);
    let (out, report) = rows_of(&[&text], &template("{path}"), &settings);
    assert_eq!(out, b"b\nd\n");
    assert_eq!((report.records, report.written, report.invalid.total()), (3, 2, 1));
}

#[test]
fn rows_do_not_depend_on_threads_backend_or_chunks() {
    let mut text = String::new();
    for i in 0..2000 {
        let (reference, _) = CASES[i % CASES.len()];
        text += &format!("{}{reference}{}\n", " ".repeat(i % 3), ["", "x", " y", "\r"][i % 4]);
    }
    for format in [RowFormat::Jsonl, RowFormat::Tsv, template("{line} {authority}{path}")] {
        let expected = rows_of(&[text.as_bytes()], &format, &Settings::default());
        for kernels in Kernels::available() {
            for (threads, chunk_bytes) in [(1, 100), (2, 4096), (8, 1 << 20)] {
                let settings =
                    Settings::default().kernels(kernels).threads(threads).chunk_bytes(chunk_bytes);
                assert!(rows_of(&[text.as_bytes()], &format, &settings) == expected);
            }
        }
    }
}
