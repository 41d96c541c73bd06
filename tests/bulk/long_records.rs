//! Tests that a record over the limit is kept or rejected as a whole, and is never mixed with its
//! neighbours.

use std::io::Cursor;

use uriscan::audit::Rule;
use uriscan::key::{PublicHash, PublicHasher};
use uriscan_bulk::io::Source;

use uriscan::ErrorKind;
use uriscan::uri::UriErrorKind;
use uriscan_bulk::pipeline::{
    AuditOptions, ClassOptions, DedupOptions, Emit, Equivalence, Keep, OnInvalid, Report, Select,
    Settings, Sinks, audit, classes, dedup, keys, normalize, redact,
};

const LIMIT: usize = 256;

/// Texts with records over the limit first, in the middle, and last without a record end.
fn texts(long: &str) -> [String; 3] {
    [format!("{long}\na:1\n"), format!("a:2\n{long}\r\na:1\n{long}"), "a:3".to_owned()]
}

fn files(long: &str, folder: &std::path::Path) -> Vec<Source> {
    let file = |(i, text): (usize, String)| {
        let path = folder.join(i.to_string());
        std::fs::write(&path, text).unwrap();
        Source::file(path)
    };
    texts(long).into_iter().enumerate().map(file).collect()
}

fn sources(long: &str) -> Vec<Source> {
    texts(long)
        .into_iter()
        .enumerate()
        .map(|(i, text)| Source::new(i.to_string(), Cursor::new(text)))
        .collect()
}

fn each_size(test: impl Fn(&str, &Settings)) {
    for chunk_bytes in [64, 128, 256] {
        for len in [257, 300, 320, 321, 512, 5000] {
            // Beyond the last size that may fit the buffer, whatever its rounding.
            let long = format!("x:{}", "y".repeat(len + 64));
            test(&long, &Settings::default().chunk_bytes(chunk_bytes).max_record(LIMIT).threads(2));
        }
    }
}

fn deduplicated(
    long: &str,
    options: &DedupOptions,
    settings: &Settings,
) -> (String, String, Report) {
    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let mut sinks = Sinks::new(&mut out);
    sinks.rejects = Some(&mut rejects);
    let report = dedup(sources(long), options, settings, &mut sinks).unwrap();
    assert_eq!((report.records, report.invalid.of(UriErrorKind::TooLong)), (7, 3));
    (String::from_utf8(out).unwrap(), String::from_utf8(rejects).unwrap(), report)
}

#[test]
fn dedup_keeps_or_rejects_each() {
    let with = |on_invalid| DedupOptions::default().on_invalid(on_invalid);
    each_size(|long, settings| {
        let (out, _, report) = deduplicated(long, &with(OnInvalid::Pass), settings);
        assert_eq!(out, format!("{long}\na:1\na:2\n{long}\r\n{long}\na:3\n"));
        assert_eq!((report.written, report.duplicates), (6, 1));
        let (out, rejects, report) = deduplicated(long, &with(OnInvalid::Divert), settings);
        assert_eq!((&*out, rejects), ("a:1\na:2\na:3\n", format!("{long}\n{long}\r\n{long}\n")));
        assert_eq!((report.written, report.duplicates), (3, 1));
        let (out, rejects, _) = deduplicated(long, &with(OnInvalid::Drop), settings);
        assert_eq!((&*out, &*rejects), ("a:1\na:2\na:3\n", ""));
        let found = dedup(
            sources(long),
            &with(OnInvalid::Fail),
            settings,
            &mut Sinks::new(&mut Vec::new()),
        );
        let error = found.expect_err("it is too long");
        assert_eq!((error.line(), error.byte()), (Some(1), Some(0)), "{error:?}");
    });
}

#[test]
fn long_records_are_classes_of_their_own_in_their_positions() {
    each_size(|long, settings| {
        let written = |options: &ClassOptions| {
            let (mut out, mut clusters, mut rejects) = (Vec::new(), Vec::new(), Vec::new());
            let mut sinks = Sinks::new(&mut out).clusters(&mut clusters);
            sinks.rejects = Some(&mut rejects);
            let report = classes(sources(long), options, settings, &mut sinks).unwrap();
            let texts = [out, clusters, rejects].map(|text| String::from_utf8(text).unwrap());
            let numbers = [report.written, report.withheld, report.duplicates];
            // Alone, from files that are read twice.
            let (mut out, mut rejects) = (Vec::new(), Vec::new());
            let mut sinks = Sinks::new(&mut out).rejects(&mut rejects);
            let folder = tempfile::tempdir().unwrap();
            let again = classes(files(long, folder.path()), options, settings, &mut sinks).unwrap();
            assert_eq!([&*out, &*rejects], [texts[0].as_bytes(), texts[2].as_bytes()]);
            assert_eq!([again.written, again.withheld, again.duplicates], numbers);
            (texts, numbers)
        };
        let options = ClassOptions::default().count(true);
        let ([out, clusters, _], numbers) = written(&options);
        let one = |text: &str| format!("      1 {text}\n");
        let (lone, long_cr) = (one(long), one(&format!("{long}\r")));
        let expected = [&*lone, "      2 a:1\n", &one("a:2"), &long_cr, &lone, &one("a:3")];
        assert_eq!((out, numbers), (expected.concat(), [6, 0, 1]));
        let rows: Vec<&str> = clusters.lines().collect();
        assert_eq!(rows.len(), 6);
        let row = |source, line, bytes: usize| {
            format!(
                "{{\"kept\":null,\"count\":1,\"members\":[{{\"source\":\"{source}\",\"line\":{line},\
                 \"uri\":null,\"bytes\":{bytes},\"level\":\"string\",\"rules\":[]}}]}}"
            )
        };
        let long_rows = [(0, 0, 1, 0), (3, 1, 2, 1), (4, 1, 4, 0)];
        for (at, source, line, more) in long_rows {
            assert_eq!(rows[at], row(source, line, long.len() + more));
        }
        assert!(rows[1].contains("\"source\":\"1\",\"line\":3,\"uri\":\"a:1\""), "{}", rows[1]);

        let repeated = ClassOptions::default().select(Select::Repeated);
        let ([out, ..], numbers) = written(&repeated);
        assert_eq!((&*out, numbers), ("a:1\n", [1, 5, 1]));
        let last = ClassOptions::default().keep(Keep::Last);
        assert_eq!(written(&last).0[0], format!("{long}\na:2\n{long}\r\na:1\n{long}\na:3\n"));
        let zeros = "0".repeat(32);
        let keys = DedupOptions::default().emit(Emit::Key);
        let ([out, ..], _) = written(&ClassOptions::default().dedup(keys));
        assert_eq!(out.lines().filter(|line| *line == zeros).count(), 3);
        let divert = DedupOptions::default().on_invalid(OnInvalid::Divert);
        let ([out, _, rejects], numbers) = written(&ClassOptions::default().dedup(divert));
        assert_eq!((&*out, rejects), ("a:1\na:2\na:3\n", format!("{long}\n{long}\r\n{long}\n")));
        assert_eq!(numbers, [3, 0, 1]);
    });
}

#[test]
fn keys_of_oversized_records_are_zeros() {
    let hasher = PublicHasher::new(PublicHash::Blake3);
    let key = |text: &str| format!("{}\n", hasher.key(text.as_bytes()));
    let zeros = "0".repeat(32) + "\n";
    each_size(|long, settings| {
        let options = DedupOptions::default().emit(Emit::Key);
        let (out, ..) = deduplicated(long, &options, settings);
        let expected = [&zeros, &key("a:1"), &key("a:2"), &zeros, &zeros, &key("a:3")];
        assert_eq!(out, expected.map(String::as_str).concat());
        let mut out = Vec::new();
        let (equivalence, policy) = (Equivalence::default(), OnInvalid::Pass);
        let mut sinks = Sinks::new(&mut out);
        keys(sources(long), &equivalence, PublicHash::Blake3, policy, settings, &mut sinks)
            .unwrap();
        let lines = [&zeros, &key("a:1"), &key("a:2"), &zeros, &key("a:1"), &zeros, &key("a:3")];
        assert_eq!(String::from_utf8(out).unwrap(), lines.map(String::as_str).concat());
    });
}

#[test]
fn normalized_lines_keep_their_number() {
    each_size(|long, settings| {
        let mut out = Vec::new();
        let sinks = &mut Sinks::new(&mut out);
        normalize(sources(long), &Equivalence::default(), OnInvalid::Pass, settings, sinks)
            .unwrap();
        let expected = format!("{long}\na:1\na:2\n{long}\r\na:1\n{long}\na:3\n");
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    });
}

#[test]
fn the_limit_is_exact_whatever_the_chunk() {
    for chunk_bytes in [1, 64, 100, 256, 1 << 20] {
        let settings = Settings::default().chunk_bytes(chunk_bytes).max_record(100);
        let line = |len: usize| format!("x:{}", "y".repeat(len - 2));
        let text = [line(99), line(100), line(101), line(100)].join("\n");
        let mut out = Vec::new();
        let source = Source::new("a", Cursor::new(text));
        let drop = DedupOptions::default().on_invalid(OnInvalid::Drop);
        let report = dedup(vec![source], &drop, &settings, &mut Sinks::new(&mut out)).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), format!("{}\n{}\n", line(99), line(100)));
        assert_eq!((report.duplicates, report.invalid.of(UriErrorKind::TooLong)), (1, 1));
    }
}

#[test]
fn limits_beyond_32_bits_are_lowered() {
    let settings = Settings::default().chunk_bytes(1 << 16).max_record(usize::MAX);
    let mut out = Vec::new();
    let source = Source::new("a", Cursor::new("http://h\n"));
    let options = Equivalence::default();
    let sinks = &mut Sinks::new(&mut out);
    normalize(vec![source], &options, OnInvalid::Pass, &settings, sinks).unwrap();
    assert_eq!(out, b"http://h/\n");
}

/// A source that fails after its text.
fn failing(text: &'static str) -> Source {
    struct Broken;
    impl std::io::Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk on fire"))
        }
    }
    Source::new("bad", std::io::Read::chain(text.as_bytes(), Broken))
}

#[test]
fn records_before_a_fault_are_written() {
    for chunk_bytes in [1, 64, 1 << 16] {
        let settings = Settings::default().chunk_bytes(chunk_bytes);
        let sources = vec![Source::new("good", &b"a:1\n"[..]), failing("a:2\na:1\na:3\nhal")];
        let mut out = Vec::new();
        let found = dedup(sources, &DedupOptions::default(), &settings, &mut Sinks::new(&mut out));
        assert_eq!(found.expect_err("it fails").kind(), ErrorKind::Read);
        assert_eq!(out, b"a:1\na:2\na:3\n");
    }
}

#[test]
fn an_invalid_record_before_a_fault_comes_first() {
    for chunk_bytes in [1, 64, 1 << 16] {
        let settings = Settings::default().chunk_bytes(chunk_bytes);
        let fail = DedupOptions::default().on_invalid(OnInvalid::Fail);
        let mut out = Vec::new();
        let sources = vec![failing("a:1\n<\na:2\n")];
        let found = dedup(sources, &fail, &settings, &mut Sinks::new(&mut out));
        assert_eq!(found.expect_err("`<` is invalid").line(), Some(2));
        assert_eq!(out, b"a:1\n");
    }
}

#[test]
fn records_that_cannot_be_searched_for_secrets_are_omitted() {
    let settings = Settings::default().chunk_bytes(64).max_record(256).redact(true);
    let text = ["http://u:p@h/\nhttp://h/?pwd=", &"x".repeat(1000), "\nhttp://h/\n"].concat();
    let source = || vec![Source::new("list", Cursor::new(text.clone().into_bytes()))];
    let mut outs = [Vec::new(), Vec::new(), Vec::new()];
    let [one, two, three] = &mut outs;
    let equivalence = Equivalence::default();
    let pass = OnInvalid::Pass;
    let reports = [
        redact(source(), &settings, &mut Sinks::new(one)).unwrap(),
        dedup(source(), &DedupOptions::default(), &settings, &mut Sinks::new(two)).unwrap(),
        normalize(source(), &equivalence, pass, &settings, &mut Sinks::new(three)).unwrap(),
    ];
    for (out, report) in outs.iter().zip(reports) {
        assert_eq!(std::str::from_utf8(out).unwrap(), "http://u:***@h/\nhttp://h/\n");
        assert_eq!((report.records, report.written, report.invalid.total()), (3, 2, 1));
    }
    let mut out = Vec::new();
    let options = AuditOptions::default();
    let (report, counts) = audit(source(), &options, &settings, &mut Sinks::new(&mut out)).unwrap();
    assert_eq!((report.records, counts.of(Rule::Invalid)), (3, 1));
    assert!(std::str::from_utf8(&out).unwrap().contains("list:2:257: warning: invalid (4.1)"));
}
