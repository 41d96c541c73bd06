//! The first records of each shape, however the list is cut, shared and spilled.

use core::num::NonZeroU32;
use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use tempfile::TempDir;
use uriscan::normalize as form;
use uriscan::profile::Profile;
use uriscan::row::{TextFormat, TextTable};
use uriscan::shape::shape;
use uriscan::{Error, ErrorKind};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    ByShape, DedupOptions, Emit, Equivalence, MemoryLimit, OnInvalid, Report, RowOptions, Settings,
    Sinks, dedup_by_shape,
};

const URIS: &[&str] = &[
    "http://h/1",
    "HTTP://h:80/1",
    "http://h/%31",
    "http://h/2",
    "http://h/3#a",
    "http://h/4?b=1&a=2",
    "http://h/4?a=3&b=4",
    "http://h/4?a=x",
    "http://h/a",
    "http://h/a/../5",
    "http://h/%7Bint%7D",
    "http://h/{int}",
    "no uri",
    "../1",
    "mailto:a@b.example",
    "mailto:c@d.example",
];

/// The first `most` lines of each shape that are not equivalent, as slowly as it can be said.
fn expected(lines: &[&str], most: u32, on_invalid: OnInvalid) -> Vec<String> {
    let (mut counts, mut seen, mut kept) = (HashMap::new(), HashSet::new(), Vec::new());
    for &line in lines {
        let (form, shape) = match form(line) {
            Ok(form) => (form.to_string(), shape(form.as_bytes()).unwrap()),
            Err(_) if on_invalid == OnInvalid::Drop => continue,
            Err(_) => (line.to_owned(), format!("invalid {line}").into_bytes()),
        };
        let count = counts.entry(shape).or_insert(0);
        if *count < most && seen.insert(form) {
            *count += 1;
            kept.push(line.to_owned());
        }
    }
    kept
}

fn sample(
    list: &str,
    by: ByShape,
    options: &DedupOptions,
    settings: &Settings,
) -> Result<(String, Report), Error> {
    let (source, mut out) =
        (Source::new("list", std::io::Cursor::new(list.to_owned())), Vec::new());
    let report =
        dedup_by_shape(vec![source], None, by, options, settings, &mut Sinks::new(&mut out))?;
    Ok((String::from_utf8(out).unwrap(), report))
}

fn by(most: u32) -> ByShape {
    ByShape::default().most(NonZeroU32::new(most).unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn the_first_of_each_shape_are_kept(
        picks in prop::collection::vec(0..URIS.len(), 0..60),
        most in 1..5_u32,
        threads in 1..4_usize,
        chunk in prop::sample::select(&[16_usize, 100, 1 << 20][..]),
        drops: bool,
    ) {
        let lines: Vec<&str> = picks.iter().map(|&pick| URIS[pick]).collect();
        let on_invalid = if drops { OnInvalid::Drop } else { OnInvalid::Pass };
        let options = DedupOptions::default().on_invalid(on_invalid);
        let settings = Settings::default().threads(threads).chunk_bytes(chunk);
        let list: String = lines.iter().map(|line| format!("{line}\n")).collect();
        let (out, report) = sample(&list, by(most), &options, &settings).unwrap();
        let expected = expected(&lines, most, on_invalid);
        prop_assert_eq!(out.lines().collect::<Vec<_>>(), expected);
        let invalid = if drops { report.invalid.total() } else { 0 };
        prop_assert_eq!(report.records, report.written + report.of_full_shapes + invalid);
        prop_assert_eq!((report.duplicates, report.written), (0, out.lines().count() as u64));
        prop_assert!(report.shapes <= report.written);
    }
}

/// 60,000 URLs of 30,000 shapes.
fn many() -> String {
    (0..60_000_u64).map(|i| format!("http://h/p{}/{i}?a={i}\n", i % 30_000)).collect()
}

#[test]
fn one_of_each_shape_is_the_same_in_any_memory() {
    let (list, dir) = (many(), TempDir::new().unwrap());
    let settings = Settings::default().threads(2).chunk_bytes(20_000);
    let (all, report) = sample(&list, by(1), &DedupOptions::default(), &settings).unwrap();
    assert_eq!(all.lines().count() as u64, report.shapes);
    let limit = MemoryLimit::new(64 << 20, dir.path()).set_bytes(50_000);
    let options = DedupOptions::default().limit(limit);
    let (limited, spilled) = sample(&list, by(1), &options, &settings).unwrap();
    assert!(spilled.spilled > 0);
    assert_eq!(limited, all);
    assert_eq!((spilled.written, spilled.shapes), (report.written, report.shapes));
    assert_eq!(spilled.of_full_shapes, report.of_full_shapes);
}

#[test]
fn more_of_each_shape_than_have_room_are_an_error() {
    let (list, dir) = (many(), TempDir::new().unwrap());
    let limit = |bytes| MemoryLimit::new(64 << 20, dir.path()).set_bytes(bytes);
    let settings = Settings::default().threads(2).chunk_bytes(2_000);
    let options = DedupOptions::default().limit(limit(4_000_000));
    let error = sample(&list, by(2), &options, &settings).map(|(_, report)| report).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Memory, "{error}");
    let text = error.to_string();
    let numbers: Vec<u64> = text.split(' ').filter_map(|word| word.parse().ok()).collect();
    let [kept, shapes] = numbers[..] else { panic!("{text}") };
    assert!(kept >= shapes && shapes > 10_000 && kept < 60_000, "{kept} {shapes}");
    let options = DedupOptions::default().limit(limit(32 << 20));
    let (out, _) = sample(&list, by(2), &options, &settings).unwrap();
    assert_eq!(out, sample(&list, by(2), &DedupOptions::default(), &settings).unwrap().0);
}

#[test]
fn canonical_forms_are_written_on_request_and_rows_as_they_are() {
    let normalized = DedupOptions::default().emit(Emit::Normalized);
    let (out, _) =
        sample("HTTP://h:80/1\nhttp://h/2\n", by(1), &normalized, &Settings::default()).unwrap();
    assert_eq!(out, "http://h/1\n");
    let csv = "id,url\n1,\"http://h/1\"\n2,http://h/2\nx,\"http://h/a,1\"\n3,http://h/3\n";
    let rows = RowOptions::new(TextTable::new(TextFormat::Csv, "url"));
    for (most, expected) in [
        (1, "id,url\n1,\"http://h/1\"\nx,\"http://h/a,1\"\n"),
        (2, "id,url\n1,\"http://h/1\"\n2,http://h/2\nx,\"http://h/a,1\"\n"),
    ] {
        let mut out = Vec::new();
        let (source, options) = (Source::new("rows", csv.as_bytes()), DedupOptions::default());
        let (settings, mut sinks) = (Settings::default(), Sinks::new(&mut out));
        dedup_by_shape(vec![source], Some(&rows), by(most), &options, &settings, &mut sinks)
            .unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}

#[test]
fn forms_of_other_systems_that_are_not_uris_have_no_shape() {
    let by_scrapy =
        DedupOptions::default().equivalence(Equivalence::default().profile(Some(Profile::W3lib)));
    let list = "http://h/a|1\nhttp://h/a|1\nhttp://h/a|2\nhttp://h/3\nhttp://h/4\n";
    let (out, _) = sample(list, by(1), &by_scrapy, &Settings::default()).unwrap();
    assert_eq!(out, "http://h/a|1\nhttp://h/a|2\nhttp://h/3\n");
}

#[test]
fn many_of_one_shape_take_linear_time() {
    let list: String = (0..300_000).map(|i| format!("http://h/{i}\n")).collect();
    let started = Instant::now();
    let (out, report) =
        sample(&list, by(u32::MAX), &DedupOptions::default(), &Settings::default()).unwrap();
    assert!(out == list, "all are kept");
    assert_eq!((report.written, report.shapes), (300_000, 1));
    assert!(started.elapsed() < Duration::from_secs(60));
}
