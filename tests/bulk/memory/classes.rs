//! Tests that classes under a memory limit have the same results, dupes, clusters and counts as
//! without one.

use std::io::{Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use uriscan::ErrorKind;
use uriscan::key::Hasher;
use uriscan::normalize::{Level, Options};
use uriscan::row::{OnBadRow, TextFormat, TextTable};
use uriscan::set::SetWriter;
use uriscan_bulk::io::{ReadError, Source};
use uriscan_bulk::pipeline::{
    ClassOptions, DedupOptions, Emit, Keep, OnInvalid, Report, RowOptions, Seen, Select, Settings,
    Sinks, class_rows, classes, classes_unseen,
};

use crate::pairs::{Combinations, by_pairs};
use crate::row_lines::RowLines;

use super::lists::{ALL_SETS, SETS, files, limited, list, settings, streams, texts};
use super::unspilled;

const KEEPS: [Keep; 6] =
    [Keep::First, Keep::Last, Keep::Shortest, Keep::Https, Keep::Min, Keep::Max];

/// Which of dupes and clusters are requested, and whether as rows.
type Side = [Option<bool>; 2];

const NO: Option<bool> = None;
const LINES: Option<bool> = Some(false);
const ROWS: Option<bool> = Some(true);

const SIDES: [Side; 5] = [[NO, NO], [LINES, NO], [NO, LINES], [LINES, LINES], [ROWS, ROWS]];

/// Results, rejects, dupes, clusters, and the report or the error.
type Answer = ([Vec<u8>; 4], Result<Report, String>);

fn run(sources: Vec<Source>, options: &ClassOptions, side: Side, settings: &Settings) -> Answer {
    let mut texts: [Vec<u8>; 4] = Default::default();
    let [out, rejects, dupes, clusters] = &mut texts;
    let [mut of_dupes, mut of_clusters] = [RowLines::default(), RowLines::default()];
    let mut sinks = Sinks::new(out).rejects(rejects);
    sinks.dupes = side[0].and_then(|has_rows| of_dupes.sink(has_rows));
    sinks.clusters = side[1].and_then(|has_rows| of_clusters.sink(has_rows));
    let done = classes(sources, options, settings, &mut sinks).map_err(|error| error.to_string());
    (*dupes, *clusters) = (of_dupes.0, of_clusters.0);
    (texts, done)
}

fn under(options: &ClassOptions, bytes: usize, dir: &Path) -> ClassOptions {
    options.clone().dedup(limited(&options.dedup, bytes, dir))
}

/// Checks that the results for `make`'s sources are the same under all limits as without one;
/// returns the bytes spilled under each.
#[track_caller]
fn same_under(
    sets: &[usize],
    make: &dyn Fn() -> Vec<Source>,
    options: &ClassOptions,
    side: Side,
    settings: &Settings,
) -> Vec<u64> {
    let dir = tempfile::tempdir().unwrap();
    let (texts, done) = run(make(), options, side, settings);
    sets.iter()
        .map(|&bytes| {
            let limited = under(options, bytes, dir.path());
            let (found, reported) = run(make(), &limited, side, settings);
            for (number, (found, text)) in found.iter().zip(&texts).enumerate() {
                let lens = (found.len(), text.len());
                assert!(found == text, "{options:?} {side:?} {bytes}: {number} {lens:?}");
            }
            let spilled = reported.as_ref().map_or(0, |report| report.spilled);
            let plain = reported.map(unspilled);
            assert_eq!(plain, done, "{options:?} {bytes}");
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
            spilled
        })
        .collect()
}

#[test]
fn every_survivor_choice_and_selection_from_files_and_streams() {
    same_for_every_survivor(by_pairs);
}

fn same_for_every_survivor(combinations: Combinations<4>) {
    let dir = tempfile::tempdir().unwrap();
    let texts = [list(9_000, 1, '\n'), String::new(), list(5_000, 1, '\n')];
    let texts = texts.map(|text| text.replace("http://h:80/~1", "HTTPS://h/~1"));
    let makes: [&dyn Fn() -> Vec<Source>; 2] = [&|| files(&texts, dir.path()), &|| streams(&texts)];
    for [keep, select, side, make] in combinations([6, 3, 5, 2]) {
        let select = [Select::All, Select::Repeated, Select::Unique][select];
        let options = ClassOptions::default().keep(KEEPS[keep]).select(select).count(true);
        let settings = settings(2, 4 << 10);
        let spilled = same_under(&SETS, makes[make], &options, SIDES[side], &settings);
        assert!(spilled[0] > 0 && *spilled.last().unwrap() == 0, "{spilled:?}");
    }
}

/// Without counts, omitted records are written at once, and those that come when memory is full, at the end. Clusters have to wait, so
/// that nothing is written at once with them.
#[test]
fn what_is_omitted_is_the_same_at_once_or_at_the_end_or_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts();
    let makes: [&dyn Fn() -> Vec<Source>; 2] = [&|| files(&texts, dir.path()), &|| streams(&texts)];
    for (number, (emit, on_invalid, rows)) in [
        (Emit::Original, OnInvalid::Pass, LINES),
        (Emit::Normalized, OnInvalid::Divert, ROWS),
        (Emit::Key, OnInvalid::Drop, LINES),
    ]
    .into_iter()
    .enumerate()
    {
        let dedup = DedupOptions::default().emit(emit).on_invalid(on_invalid);
        let options = ClassOptions::default().dedup(dedup);
        let settings = settings(1 + number, [4 << 10, 700][number % 2]);
        let make = makes[number % 2];
        let (held, _) = run(make(), &options, [rows, LINES], &settings);
        let (met, _) = run(make(), &options, [rows, NO], &settings);
        assert!(met[..3] == held[..3], "{options:?}");
        let spilled = same_under(&ALL_SETS, make, &options, [rows, NO], &settings);
        let [all, _, some, _, none] = spilled[..] else { panic!("{spilled:?}") };
        assert!(all > some && some > 0 && none == 0, "{spilled:?}");
    }
}

/// Rows of CSV, some with values that have to be decoded, a header, rows without a URI, and some that do not fit.
fn csv(rows: u32) -> String {
    let row = |i: u32| match i % 9 {
        0 => format!("{i},\"http://h/{}\tx\"\n", i % 2000),
        1 => format!("{i},\"http://h/\r\n{}\"\n", i % 3000),
        2 => format!("\"a\nb\",HTTP://H/{}\n", i / 2),
        3 => format!("{i},\"\"\n"),
        4 => format!("{i},http://h/{i},too,many\n"),
        _ => format!("{i},http://h/{}\n", u64::from(i).pow(2) % 9_001),
    };
    let header = "\u{FEFF}n,url\n";
    header.to_owned() + &(0..rows).map(row).collect::<String>()
}

#[test]
fn omitted_rows_are_the_same_at_once_or_at_the_end_or_in_parts() {
    let dir = tempfile::tempdir().unwrap();
    let text = csv(300_000);
    let table = TextTable::new(TextFormat::Csv, "url").on_bad_row(OnBadRow::Pass);
    let rows = RowOptions::new(table);
    let run = |options: &ClassOptions, has_rows: bool, has_clusters: bool| {
        let (mut out, mut dupes, mut clusters) = (Vec::new(), RowLines::default(), Vec::new());
        let mut sinks = Sinks::new(&mut out);
        sinks.dupes = dupes.sink(has_rows);
        if has_clusters {
            sinks = sinks.clusters(&mut clusters);
        }
        let source = Source::new("rows", Cursor::new(text.clone()));
        let report = class_rows(vec![source], &rows, options, None, &settings(2, 3000), &mut sinks);
        let report = report.unwrap();
        (out, dupes.0, report.spilled, unspilled(report))
    };
    for has_rows in [false, true] {
        let options = ClassOptions::default();
        let (out, dupes, _, report) = run(&options, has_rows, true);
        // The least that tables take is enough for most rows.
        let spilled = [0, 720_000, 1 << 30].map(|bytes| {
            let limited = under(&options, bytes, dir.path());
            let (found, lines, spilled, reported) = run(&limited, has_rows, false);
            assert!(found == out, "{bytes}");
            assert!(lines == dupes, "{bytes}");
            assert_eq!(reported, report, "{bytes}");
            spilled
        });
        let [all, some, none] = spilled;
        assert!(all > some && some > 0 && none == 0, "{spilled:?}");
    }
}

#[test]
fn sources_with_various_ends_and_long_records() {
    same_for_various_ends(by_pairs);
}

fn same_for_various_ends(combinations: Combinations<3>) {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts();
    let mixed = || {
        let mut mixed = files(&texts, dir.path());
        mixed[2] = Source::new("-", Cursor::new(texts[2].clone()));
        mixed
    };
    let makes: [&dyn Fn() -> Vec<Source>; 2] = [&|| files(&texts, dir.path()), &mixed];
    for [how, make, side] in combinations([2, 2, 2]) {
        let (threads, chunk_bytes) = [(1, 4 << 10), (3, 500)][how];
        let (settings, side) = (settings(threads, chunk_bytes), [SIDES[0], SIDES[3]][side]);
        let options = ClassOptions::default().count(true);
        let spilled = same_under(&SETS, makes[make], &options, side, &settings);
        assert!(spilled[0] > 0 && *spilled.last().unwrap() == 0, "{spilled:?}");
    }
}

#[test]
fn every_treatment_of_invalid_records_and_every_output() {
    same_for_every_treatment(by_pairs);
}

fn same_for_every_treatment(combinations: Combinations<4>) {
    let dir = tempfile::tempdir().unwrap();
    let texts = [list(9_000, 3, '\n'), list(7_000, 3, '\n')];
    for [on_invalid, emit, redact, side] in combinations([3, 3, 2, 2]) {
        let dedup = DedupOptions::default()
            .on_invalid([OnInvalid::Pass, OnInvalid::Drop, OnInvalid::Divert][on_invalid])
            .emit([Emit::Original, Emit::Normalized, Emit::Key][emit])
            .hasher(Hasher::random());
        let (redact, side) = (redact == 1, [SIDES[0], SIDES[3]][side]);
        let options = ClassOptions::default().dedup(dedup).keep(Keep::Shortest);
        let settings = settings(2, 4 << 10).redact(redact);
        same_under(&SETS, &|| files(&texts, dir.path()), &options, side, &settings);
    }
}

/// All combinations.
mod full {
    use crate::pairs::every;

    #[test]
    fn every_survivor_choice_and_selection_from_files_and_streams() {
        super::same_for_every_survivor(every);
    }

    #[test]
    fn sources_with_various_ends_and_long_records() {
        super::same_for_various_ends(every);
    }

    #[test]
    fn every_treatment_of_invalid_records_and_every_output() {
        super::same_for_every_treatment(every);
    }
}

#[test]
fn at_all_levels_and_with_records_that_end_in_nul() {
    let texts = [list(8_000, 4, '\0').replace("no uri", "no\nuri")];
    let settings = settings(2, 4 << 10).record_end(0);
    for level in Level::ALL {
        for drop_fragment in [false, true] {
            let equivalence = Options::new(level).drop_fragment(drop_fragment).into();
            let dedup = DedupOptions::default().equivalence(equivalence);
            let options = ClassOptions::default().dedup(dedup);
            same_under(&SETS, &|| streams(&texts), &options, SIDES[3], &settings);
        }
    }
}

#[test]
fn classes_with_more_members_than_memory() {
    // Half of all records belong to two classes.
    let mut text = String::new();
    for (i, line) in list(20_000, 5, '\n').lines().enumerate() {
        let more = ["http://h/%61\n", "", "HTTP://h/a\n", "no uri at all\n"][i % 4];
        text += &format!("{line}\n{more}");
    }
    let texts = [text];
    for keep in [Keep::First, Keep::Last, Keep::Min] {
        let options = ClassOptions::default().keep(keep);
        same_under(&SETS, &|| streams(&texts), &options, SIDES[3], &settings(2, 4 << 10));
    }
}

#[test]
fn previously_seen_keys_stay_seen() {
    let dir = tempfile::tempdir().unwrap();
    let texts = [list(10_000, 13, '\n'), list(15_000, 13, '\n'), list(5_000, 14, '\n')];
    let answers = |limit: Option<usize>, options: &ClassOptions, is_reported: bool| {
        let place = tempfile::tempdir().unwrap();
        let options = limit.map_or(options.clone(), |bytes| under(options, bytes, dir.path()));
        let meaning = options.dedup.equivalence.meaning(options.dedup.hash);
        let mut set = SetWriter::create(&place.path().join("set"), meaning).unwrap();
        let mut all = Vec::new();
        for text in texts.chunks(1) {
            let mut new_keys = set.loader(1 << 20).unwrap();
            let seen = Seen::new(set.set()).new_keys(&mut new_keys);
            let (mut out, mut dupes, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
            let mut sinks = Sinks::new(&mut out);
            if is_reported {
                sinks = sinks.dupes(&mut dupes).clusters(&mut clusters);
            }
            let sources = if is_reported { streams(text) } else { files(text, place.path()) };
            let settings = settings(2, 4 << 10);
            let report = classes_unseen(sources, &options, seen, &settings, &mut sinks).unwrap();
            let added = set.add(new_keys).unwrap();
            if !is_reported {
                std::fs::remove_file(place.path().join("0")).unwrap();
            }
            all.push((out, dupes, clusters, unspilled(report), added));
        }
        all
    };
    for (keep, select) in [
        (Keep::First, Select::All),
        (Keep::Last, Select::Unique),
        (Keep::Shortest, Select::Repeated),
    ] {
        let options = ClassOptions::default().keep(keep).select(select).count(true);
        for is_reported in [false, true] {
            let expected = answers(None, &options, is_reported);
            for bytes in SETS {
                let found = answers(Some(bytes), &options, is_reported);
                assert!(found == expected, "{keep:?} {bytes} {is_reported}");
            }
        }
    }
}

#[test]
fn a_run_that_stops_writes_nothing_but_rejects() {
    let text = [list(40_000, 6, '\n').replace("no uri ", "n:") + "a b\n" + &list(9, 7, '\n')];
    let dedup = DedupOptions::default().on_invalid(OnInvalid::Fail);
    let options = ClassOptions::default().dedup(dedup);
    let settings = settings(2, 4 << 10).max_record(1 << 20);
    let (texts, done) = run(streams(&text), &options, SIDES[3], &settings);
    assert!(texts.iter().all(Vec::is_empty) && done.is_err());
    same_under(&SETS, &|| streams(&text), &options, SIDES[3], &settings);
}

#[test]
fn compressed_input_and_sources_that_fail() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk on fire"))
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(list(30_000, 5, '\n').as_bytes()).unwrap();
    let path = dir.path().join("list.gz");
    std::fs::write(&path, packed.finish().unwrap()).unwrap();
    let last = list(10_000, 6, '\n');
    let stream = || Source::new("-", Cursor::new(last.clone()));
    let options = ClassOptions::default().count(true);
    for side in SIDES {
        let make = || vec![Source::file(&path), stream()];
        same_under(&SETS, &make, &options, side, &settings(2, 4 << 10));
        let make = || vec![Source::new("bad", Cursor::new(last.clone()).chain(Broken)), stream()];
        same_under(&SETS, &make, &options, side, &settings(2, 4 << 10));
        let answer = |options: &ClassOptions| {
            let (mut out, mut faults) = (Vec::new(), Vec::new());
            let mut note = |error: &ReadError| faults.push(error.to_string());
            let mut sinks = Sinks::new(&mut out).unread(&mut note);
            classes(make(), options, &settings(2, 4 << 10), &mut sinks).unwrap();
            (out, faults)
        };
        assert!(answer(&options) == answer(&under(&options, 0, dir.path())));
    }
}

#[test]
fn unusable_directories_and_changed_files_are_named() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let text = [list(5000, 9, '\n')];
    let options = ClassOptions::default();
    let error = |bytes: usize, dir: &Path| {
        let options = under(&options, bytes, dir);
        // Oversized records would need it.
        let settings = settings(2, 4 << 10).max_record(1 << 20);
        classes(streams(&text), &options, &settings, &mut Sinks::new(&mut Vec::new()))
    };
    let found = error(0, &missing).unwrap_err();
    let place = found.source_name().map(Path::new);
    assert_eq!((found.kind(), place), (ErrorKind::Spill, Some(&*missing)));
    assert!(error(1 << 30, &missing).is_ok(), "nobody needs it");

    let path = dir.path().join("list");
    std::fs::write(&path, &text[0]).unwrap();
    let (grown, small) = (path.clone(), dir.path().join("small"));
    std::fs::write(&small, "http://h/\n").unwrap();
    // When the second source is opened, all chunks of the first one have been found. A large one would be read by its path.
    let open = move || {
        let mut file = std::fs::OpenOptions::new().append(true).open(grown)?;
        file.write_all(b"http://h/new\n")?;
        Ok(std::io::empty())
    };
    let second = Source::file(&small).open(open).early(false);
    let options = under(&options, 0, dir.path());
    let sources = vec![Source::file(&path), second];
    let found = classes(sources, &options, &settings(1, 4 << 10), &mut Sinks::new(&mut Vec::new()));
    assert!(found.unwrap_err().to_string().contains("changed"));
}

#[test]
fn a_full_disk_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let mount = |program: &str, args: &[&str]| {
        let done = std::process::Command::new(program).args(args).arg(dir.path()).output();
        done.is_ok_and(|done| done.status.success())
    };
    if !mount("mount", &["-t", "tmpfs", "-o", "size=300k", "tmpfs"]) {
        eprintln!("skipped: a small file system cannot be mounted here");
        return;
    }
    let options = under(&ClassOptions::default(), 0, dir.path());
    let mut found = Vec::new();
    for (sources, side) in [(true, SIDES[0]), (false, SIDES[0]), (false, SIDES[3])] {
        let place = tempfile::tempdir().unwrap();
        let text = [list(60_000, 11, '\n')];
        let sources = if sources { files(&text, place.path()) } else { streams(&text) };
        let (mut dupes, mut clusters, mut out) = (Vec::new(), Vec::new(), Vec::new());
        let mut sinks = Sinks::new(&mut out);
        if side[0].is_some() {
            sinks = sinks.dupes(&mut dupes).clusters(&mut clusters);
        }
        found.push(classes(sources, &options, &settings(2, 4 << 10), &mut sinks));
    }
    let left = std::fs::read_dir(dir.path()).unwrap().count();
    assert!(mount("umount", &[]));
    for found in found {
        let message = found.as_ref().unwrap_err().to_string();
        assert!(message.starts_with(&*dir.path().display().to_string()), "{message}");
        let error = found.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Spill, "{message}");
        assert_eq!(error.into_io().kind(), std::io::ErrorKind::StorageFull);
    }
    assert_eq!(left, 0);
}
