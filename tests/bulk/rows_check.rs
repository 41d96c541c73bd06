//! Tests the output of a check: kinds and errors as JSON, diagnostics for people.

use serde_json::{Value, json};
use uriscan::repair::Repairs;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{CheckFormat, Report, Settings, Sinks, check};

fn run(sources: &[(&str, &[u8])], format: CheckFormat, settings: &Settings) -> (String, Report) {
    let sources = sources
        .iter()
        .map(|(name, text)| Source::new(*name, std::io::Cursor::new(text.to_vec())))
        .collect();
    let mut out = Vec::new();
    let report =
        check(sources, format, Repairs::default(), settings, &mut Sinks::new(&mut out)).unwrap();
    (String::from_utf8(out).unwrap(), report)
}

#[test]
fn json_rows_name_the_kind_or_the_error() {
    let text = b"http://h/\n\nhttp://h/#\n/a\n#f\na b\nhttp://[::1/\nx:\n";
    let (out, report) = run(&[("list", text)], CheckFormat::Jsonl, &Settings::default());
    let found: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ok = |line: u64, kind: &str| json!({"line": line, "kind": kind, "error": null});
    let bad = |line: u64, kind: &str, at: u64| json!({"line": line, "kind": null, "error": {"kind": kind, "at": at}});
    assert_eq!(
        found,
        [
            ok(1, "absolute-uri"),
            ok(3, "uri"),
            ok(4, "relative-ref"),
            ok(5, "relative-ref"),
            bad(6, "space", 1),
            bad(7, "ip-literal", 7),
            ok(8, "absolute-uri"),
        ]
    );
    assert!(out.starts_with("{\"line\":1,\"kind\":\"absolute-uri\",\"error\":null}\n"));
    assert_eq!((report.records, report.blank, report.invalid.total()), (7, 1, 2));
}

#[test]
fn diagnostics_name_source_line_and_column_of_the_line() {
    let sources: [(&str, &[u8]); 3] = [
        ("good.txt", b"http://h/\n//r\n"),
        ("one.txt", b"\n  http://h/%zz  \nok\nhttp://h:8x/\n"),
        ("two.txt", b"\xEF\xBB\xBFa\tb"),
    ];
    let (out, report) = run(&sources, CheckFormat::Text, &Settings::default());
    let expected = "\
one.txt:2:12: percent: '%' is not followed by two hexadecimal digits
  http://h/%zz
           ^
one.txt:4:11: port: a port holds decimal digits only
  http://h:8x/
            ^
two.txt:1:2: control: a URI may not hold control characters
  a\\tb
   ^
";
    assert_eq!(out, expected);
    assert_eq!((report.records, report.written, report.invalid.total()), (6, 3, 3));
}

#[test]
fn a_record_over_the_limit_is_shown_by_its_beginning() {
    let settings = Settings::default().chunk_bytes(64).max_record(256);
    let text = ["ok:\n", &"x".repeat(1000), "\na b\n"].concat();
    let (out, report) = run(&[("list", text.as_bytes())], CheckFormat::Text, &settings);
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "list:2:257: too-long: the record is longer than the limit");
    assert!(
        lines[1].starts_with("  …x") && lines[1].ends_with("x…") && lines[1].chars().count() < 105
    );
    assert_eq!(lines[3], "list:3:2: space: a URI may not hold spaces; write %20");
    assert_eq!(lines.len(), 6);
    assert_eq!((report.records, report.written, report.invalid.total()), (3, 2, 2));
    let (out, _) = run(&[("list", text.as_bytes())], CheckFormat::Jsonl, &settings);
    let second: Value = serde_json::from_str(out.lines().nth(1).unwrap()).unwrap();
    assert_eq!(second, json!({"line": 2, "kind": null, "error": {"kind": "too-long", "at": 256}}));
}

#[test]
fn controls_never_reach_the_terminal() {
    let mut text = Vec::new();
    for byte in 0..=255u8 {
        text.extend([b'a', b':', byte, b'b', 0xE2, 0x80, 0xAE, b'\n']);
    }
    let name = "na\x1bme";
    let (out, _) = run(&[(name, &text)], CheckFormat::Text, &Settings::default());
    assert!(out.chars().all(|c| c == '\n' || !c.is_control() && c != '\u{202e}'));
    assert!(out.starts_with("na\\x1bme:1:3: control"));
}
