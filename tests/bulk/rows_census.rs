//! Tests the census against plain sets of canonical forms, against dedup, and against the counts of
//! generated corpora.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::{Value, json};
use uriscan::Kernels;
use uriscan::key::Hasher;
use uriscan::normalize::{Level, Options};
use uriscan::rules::RuleSet;
use uriscan::uri::parse;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    Census, CensusOptions, DedupOptions, Equivalence, Settings, Sinks, census, dedup,
};
use uriscan_core::normalize::normalize_exact;

fn source(text: &[u8]) -> Vec<Source> {
    vec![Source::new("text", std::io::Cursor::new(text.to_vec()))]
}

fn found(text: &[u8], drop_fragment: bool, settings: &Settings) -> Census {
    let hasher = Hasher::random();
    let options = CensusOptions::default().drop_fragment(drop_fragment).hasher(hasher);
    census(source(text), &options, settings, &mut Sinks::new(&mut std::io::sink())).unwrap()
}

/// `(records, blank, distinct per level, invalid by kind)` by sets of whole strings.
type Counts = (u64, u64, [u64; 3], BTreeMap<&'static str, u64>);

fn by_sets(text: &[u8], drop_fragment: bool) -> Counts {
    let mut sets: [BTreeSet<Vec<u8>>; 3] = Default::default();
    let (mut records, mut blank, mut invalid) = (0, 0, BTreeMap::new());
    let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
    for line in text.split_inclusive(|&byte| byte == b'\n') {
        let mut record = line.trim_ascii();
        // `trim_ascii` leaves vertical tabs.
        while let [b'\x0b', rest @ ..] | [rest @ .., b'\x0b'] = record {
            record = rest.trim_ascii();
        }
        if record.is_empty() {
            blank += 1;
            continue;
        }
        records += 1;
        let kind = match parse(record) {
            Ok(parts) if parts.is_uri() => None,
            Ok(_) => Some("relative"),
            Err(error) => Some(error.kind.name()),
        };
        if let Some(kind) = kind {
            *invalid.entry(kind).or_insert(0) += 1;
        }
        for (set, level) in sets.iter_mut().zip(Level::ALL) {
            let mut form = Vec::new();
            if normalize_exact(record, level, drop_fragment, &mut form).is_err() {
                form = record.to_vec();
            }
            set.insert(form);
        }
    }
    (records, blank, sets.map(|set| set.len() as u64), invalid)
}

fn counts(census: &Census) -> Counts {
    let invalid = census.invalid.iter().map(|(kind, count)| (kind.name(), count)).collect();
    (census.records, census.blank, census.levels.map(|level| level.distinct), invalid)
}

fn check(text: &[u8]) {
    for drop_fragment in [false, true] {
        let expected = by_sets(text, drop_fragment);
        for kernels in Kernels::available() {
            for (threads, chunk_bytes) in [(1, 1 << 20), (2, 1000)] {
                let settings =
                    Settings::default().kernels(kernels).threads(threads).chunk_bytes(chunk_bytes);
                let census = found(text, drop_fragment, &settings);
                assert_eq!(counts(&census), expected, "{:?}", text.escape_ascii().to_string());
                let mark = if text.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 };
                assert_eq!(census.bytes, text.len() as u64 - mark);
                let merged: u64 = census.levels.iter().map(|level| level.merges).sum();
                assert_eq!(census.records - merged, census.levels[2].distinct);
            }
        }
    }
}

fn corpora() -> Vec<PathBuf> {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("corpora");
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "txt"));
    files.sort();
    files
}

const TRAPS: &str = "\
http://h\nhttp://h/\nHTTP://H:80/\nhttp://h:/\nhttp://h/?\nhttp://h/#\nhttp://h/#a\nhttp://h/%7e\nhttp://h/~\n\
http://h/a/../b\nhttp://h/b\nhttp://@h/\nrelative\n/abs\n#f\nhttp://b\u{fc}cher.de/\nhttp://xn--bcher-kva.de/\n\
http://b%c3%bccher.de/#x\nhttp://B\u{fc}cher.de/#y\nno uri\nno uri\n\n \t\n\x0b\nmailto:a@EX.com\nmailto:a@ex.com\n\
urn:ISBN:1\nurn:isbn:1\nhttp://[::0]/\nhttp://[0::]/\na:/.//b\na:/.//b#c\n%\n";

#[test]
fn agrees_with_sets_of_canonical_forms() {
    check(TRAPS.as_bytes());
    check(b"");
    check(b"\xEF\xBB\xBFhttp://h\nhttp://h/");
    for file in corpora() {
        check(&std::fs::read(file).unwrap());
    }
}

#[test]
fn corpora_have_the_expected_counts() {
    for file in corpora() {
        let Ok(expected) = std::fs::read(file.with_extension("expect.json")) else { continue };
        let expected: Value = serde_json::from_slice(&expected).unwrap();
        let census = found(&std::fs::read(&file).unwrap(), false, &Settings::default());
        let [string, syntax, scheme] = census.levels.map(|level| level.distinct);
        let found = json!({
            "records": census.records, "bytes": census.bytes, "invalid": census.invalid.total(),
            "distinct": { "string": string, "syntax": syntax, "scheme": scheme },
        });
        for (name, found) in found.as_object().unwrap() {
            assert_eq!(found, &expected[name], "{name} of {}", file.display());
        }
    }
}

#[test]
fn each_level_has_as_many_classes_as_dedup_writes() {
    let mut text = TRAPS.repeat(3).into_bytes();
    text.extend(vec![b'x'; 3000]);
    text.extend(b"\nhttp://h\n");
    text.extend(vec![b'x'; 3000]);
    let settings = Settings::default().chunk_bytes(512).max_record(2048);
    for drop_fragment in [false, true] {
        let census = found(&text, drop_fragment, &settings);
        for level in census.levels {
            let normalize = Options::new(level.level).drop_fragment(drop_fragment);
            let options = DedupOptions::default().equivalence(normalize.into());
            let mut out = Vec::new();
            let mut sinks = Sinks::new(&mut out);
            let report = dedup(source(&text), &options, &settings, &mut sinks).unwrap();
            assert_eq!((report.records, report.written), (census.records, level.distinct));
        }
    }
}

#[test]
fn the_outcome_is_json_of_a_fixed_shape() {
    let text = b"http://h/\nHTTP://h\nhttp://h/\n\na b\nc d\nrelative\n";
    let census = found(text, false, &Settings::default());
    assert_eq!(
        serde_json::to_string(&census).unwrap(),
        concat!(
            r#"{"bytes":47,"records":6,"blank":1,"levels":[{"level":"string","distinct":5,"merges":1},"#,
            r#"{"level":"syntax","distinct":5,"merges":0},{"level":"scheme","distinct":4,"merges":1}],"#,
            r#""invalid":{"space":2,"relative":1}}"#
        )
    );
}

#[test]
fn progress_reports_all_bytes_in_the_end() {
    let mut last = 0;
    let mut reported = |bytes| last = bytes;
    census(
        source(TRAPS.as_bytes()),
        &CensusOptions::default(),
        &Settings::default(),
        &mut Sinks::new(&mut std::io::sink()).progress(&mut reported),
    )
    .unwrap();
    assert_eq!(last, TRAPS.len() as u64);
}

fn form(text: &[u8], level: Level, drop_fragment: bool) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    normalize_exact(text, level, drop_fragment, &mut out).ok().map(|()| out)
}

proptest! {
    /// The property that lets the census hash most records once: a form of the highest level is
    /// unchanged by every level below.
    #[test]
    fn canonical_at_scheme_is_canonical_below(
        text in "(http|HTTPS|file|mailto|urn|sip|a)(:|://)([a-zA-Z0-9.%\u{e4}-]{0,8}|\\[[0-9a-fA-F:]{2,9}\\])(:0?80)?(/|/\\.|\\.\\.|%2[eE]|%7e|:|@|[A-Za-z?#]){0,8}",
        drop_fragment in any::<bool>(),
    ) {
        if let Some(scheme) = form(text.as_bytes(), Level::Scheme, drop_fragment) {
            for level in Level::ALL {
                prop_assert_eq!(form(&scheme, level, drop_fragment), Some(scheme.clone()));
            }
        }
        check(text.as_bytes());
    }

    /// Spellings of few URIs, so that a form represents one record by its bytes and others on a higher level, whichever
    /// comes first.
    #[test]
    fn lists_of_equivalent_records_agree_with_sets(
        lines in proptest::collection::vec(
            "(http|HTTP|https)://(h|H|h:|h:80|h:443|h:080|u@h|h%41|%c3%bc|\u{fc}|\\[::1\\]|\\[0::1\\])(/|/%7e|/~|/a/\\.\\./~|\\?x|#f|/#F|/\\?%7E| )?",
            0..60,
        ),
    ) {
        check(lines.join("\n").as_bytes());
    }

    /// A census under rules counts what dedup writes under them.
    #[test]
    fn rules_count_what_dedup_writes(
        lines in proptest::collection::vec(
            "(http|HTTP|https)://(www\\.)?(h|H|h:80)/?(\\?b=1&a=2|\\?a=2&b=1|\\?utm_source=x|\\?)?",
            0..60,
        ),
    ) {
        let mut rules = RuleSet::builder();
        for rule in ["www", "https", "sort-query", "empty-query"] {
            rules.rule(rule).unwrap();
        }
        let rules = Arc::new(rules.build().unwrap());
        let (text, settings) = (lines.join("\n"), Settings::default());
        let counting = CensusOptions::default().rules(rules.clone());
        let counted = census(source(text.as_bytes()), &counting, &settings, &mut Sinks::new(&mut std::io::sink())).unwrap();
        let options = DedupOptions::default().equivalence(Equivalence::default().rules(rules));
        let mut out = Vec::new();
        let written = dedup(source(text.as_bytes()), &options, &settings, &mut Sinks::new(&mut out));
        prop_assert_eq!(counted.rules.unwrap().distinct, written.unwrap().written);
        prop_assert_eq!(counts(&counted), by_sets(text.as_bytes(), false));
    }
}
