//! Omitted records that are written as they are met, against those that are written at the end of the input.

use proptest::prelude::*;
use uriscan::normalize::{Level, Options};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    ClassOptions, DedupOptions, Emit, OnInvalid, Report, Settings, Sinks, classes,
};

use crate::row_lines::RowLines;

/// Results, dupes and rejects.
type Answers = [Vec<u8>; 3];

/// What comes of `lists`; all at the end if it `waits`, which clusters have to.
fn run(
    lists: &[Vec<u8>],
    options: &ClassOptions,
    settings: &Settings,
    (has_rows, waits): (bool, bool),
) -> (Answers, Report) {
    let sources: Vec<Source> = (0..)
        .zip(lists)
        .map(|(i, text)| Source::new(format!("list {i}"), std::io::Cursor::new(text.clone())))
        .collect();
    let (mut out, mut dupes, mut rejects, mut clusters) =
        (Vec::new(), RowLines::default(), Vec::new(), Vec::new());
    let mut sinks = Sinks::new(&mut out).rejects(&mut rejects);
    sinks.dupes = dupes.sink(has_rows);
    if waits {
        sinks = sinks.clusters(&mut clusters);
    }
    let report = classes(sources, options, settings, &mut sinks).unwrap();
    ([out, dupes.0, rejects], report)
}

/// Compares both; gives the lines of omitted records, or the rows.
fn agrees(
    lists: &[Vec<u8>],
    options: &ClassOptions,
    settings: &Settings,
    has_rows: bool,
) -> Vec<u8> {
    let (met, met_report) = run(lists, options, settings, (has_rows, false));
    let (held, held_report) = run(lists, options, settings, (has_rows, true));
    let name = |i: usize| ["results", "dupes", "rejects"][i];
    for (i, (met, held)) in met.iter().zip(&held).enumerate() {
        let [met, held] = [met, held].map(|text| String::from_utf8_lossy(text));
        assert!(met == held, "{} of {options:?} by {settings:?}:\n{met}\n{held}", name(i));
    }
    assert_eq!(met_report, held_report, "{options:?} by {settings:?}");
    let [_, dupes, _] = met;
    dupes
}

/// Few URIs in many spellings, texts that are not URIs, and some that are too long to be judged.
fn record() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["http", "HTTP", "https", "urn", "no uri"]);
    let host = prop::sample::select(vec!["h", "H", "%68", "h:80", "u:secret@h", "b\u{fc}cher.de"]);
    let path = prop::sample::select(vec!["", "/", "/.", "/a", "/%61", "/b/../a", "/%7e", "/~"]);
    let tail = prop::sample::select(vec!["", "", "", "#f", " ", "\r", "\n", "\tx", LONG]);
    (scheme, host, path, tail)
        .prop_map(|(scheme, host, path, tail)| format!("{scheme}://{host}{path}{tail}"))
}

/// Longer than the longest record in the tests.
const LONG: &str = concat!("?", "0123456789012345678901234567890123456789012345678901234567890123");

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn what_is_met_is_what_is_held(
        lines in prop::collection::vec(record(), 0..120),
        cut in 0..120usize,
        chunk_bytes in prop::sample::select(vec![64usize, 1000, 100_000]),
        threads in 1..3usize,
        drop_fragment in any::<bool>(),
        redact in any::<bool>(),
    ) {
        let (one, two) = lines.split_at(cut.min(lines.len()));
        // The first list has no record end after its last line.
        let lists = [one.join("\n").into_bytes(), (two.join("\n") + "\n").into_bytes()];
        let settings =
            Settings::default().threads(threads).chunk_bytes(chunk_bytes).max_record(64).redact(redact);
        for level in Level::ALL {
            for emit in [Emit::Original, Emit::Normalized, Emit::Key] {
                for on_invalid in [OnInvalid::Pass, OnInvalid::Drop, OnInvalid::Divert] {
                    let equivalence = Options::new(level).drop_fragment(drop_fragment).into();
                    let dedup = DedupOptions::default().equivalence(equivalence);
                    let dedup = dedup.emit(emit).on_invalid(on_invalid);
                    let options = ClassOptions::default().dedup(dedup);
                    agrees(&lists, &options, &settings, false);
                    agrees(&lists, &options, &settings, true);
                }
            }
        }
    }
}

#[test]
fn lines_that_have_no_room_in_memory_come_in_their_order() {
    // Between them come results, and others whose lines are short; and other chunks.
    let long = format!("http://h/{}", "./".repeat(20_000));
    let mut list = long.clone().into_bytes();
    for i in 0..600 {
        let end = if i % 7 == 0 { format!("\nhttp://h/{i}\nHTTP://h/{i}") } else { String::new() };
        list.extend_from_slice(format!("\nhttp://h/{end}").as_bytes());
    }
    list.push(b'\n');
    for chunk_bytes in [100, 64 << 10] {
        let settings = Settings::default().threads(2).chunk_bytes(chunk_bytes);
        let lists = [list.clone(), list.clone()];
        let dupes = agrees(&lists, &ClassOptions::default(), &settings, false);
        assert!(dupes.len() > 1_200 * long.len());
    }
}
