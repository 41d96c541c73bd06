//! Tests that deduplication under a memory limit gives the same output and counts as without one.

mod classes;
mod lists;

use std::io::{Cursor, Read, Write};
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use uriscan::ErrorKind;
use uriscan::key::Hasher;
use uriscan::set::SetWriter;
use uriscan_bulk::io::{ReadError, Source};
use uriscan_bulk::pipeline::{
    DedupOptions, Emit, MemberOptions, OnInvalid, Report, Seen, Settings, Sinks, dedup,
    dedup_unseen, members,
};

use crate::pairs::{Combinations, by_pairs};
use lists::{ALL_SETS, SETS, files, limited, list, settings, streams, texts};

/// Results, rejects, and the report or the error.
type Answer = (Vec<u8>, Vec<u8>, Result<Report, String>);

fn run(sources: Vec<Source>, options: &DedupOptions, settings: &Settings) -> Answer {
    let (mut out, mut rejects) = (Vec::new(), Vec::new());
    let mut sinks = Sinks::new(&mut out).rejects(&mut rejects);
    let done = dedup(sources, options, settings, &mut sinks).map_err(|error| error.to_string());
    (out, rejects, done)
}

/// The report of the same run without a limit.
fn unspilled(mut report: Report) -> Report {
    report.spilled = 0;
    report
}

/// Checks that the results for `make`'s sources are the same under all limits as without one;
/// returns the bytes spilled under each.
#[track_caller]
fn same_under(
    sets: &[usize],
    make: &dyn Fn() -> Vec<Source>,
    options: &DedupOptions,
    settings: &Settings,
) -> Vec<u64> {
    let dir = tempfile::tempdir().unwrap();
    let (out, rejects, done) = run(make(), options, settings);
    sets.iter()
        .map(|&bytes| {
            let options = limited(options, bytes, dir.path());
            let found = run(make(), &options, settings);
            assert!(found.0 == out, "{bytes}: {} and {} bytes", found.0.len(), out.len());
            assert!(found.1 == rejects, "{bytes}");
            let spilled = found.2.as_ref().map_or(0, |report| report.spilled);
            let plain = found.2.map(unspilled);
            assert_eq!(plain, done, "{bytes}");
            assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0);
            spilled
        })
        .collect()
}

#[test]
fn files_and_streams_give_the_same_bytes() {
    same_from_files_and_streams(&[[0, 0], [1, 1], [2, 2]]);
}

fn same_from_files_and_streams(combinations: &[[usize; 2]]) {
    let dir = tempfile::tempdir().unwrap();
    let texts = texts();
    let options = DedupOptions::default();
    let plain = run(streams(&texts), &options, &settings(1, 4 << 10));
    let mixed = || {
        let mut mixed = files(&texts, dir.path());
        mixed[2] = Source::new("-", Cursor::new(texts[2].clone()));
        mixed
    };
    let makes: [&dyn Fn() -> Vec<Source>; 3] =
        [&|| files(&texts, dir.path()), &|| streams(&texts), &mixed];
    for &[how, make] in combinations {
        let (threads, chunk_bytes) = [(1, 4 << 10), (2, 4 << 10), (3, 500)][how];
        let settings = settings(threads, chunk_bytes);
        assert!(run(makes[make](), &options, &settings).0 == plain.0);
        let spilled = same_under(&ALL_SETS, makes[make], &options, &settings);
        assert_eq!(spilled[4], 0);
        assert!(spilled[0] > 0);
        if chunk_bytes == 4 << 10 {
            assert!(spilled.is_sorted_by(|a, b| a >= b), "{spilled:?}");
            let some = 1..spilled[0];
            assert!(some.contains(&spilled[1]), "some were in memory: {spilled:?}");
        }
    }
}

#[test]
fn every_treatment_of_invalid_records_and_every_output() {
    same_for_every_treatment(by_pairs);
}

fn same_for_every_treatment(combinations: Combinations<3>) {
    let dir = tempfile::tempdir().unwrap();
    let texts = [list(20_000, 3, '\n'), list(15_000, 3, '\n')];
    for [on_invalid, emit, redact] in combinations([3, 3, 2]) {
        let options = DedupOptions::default()
            .on_invalid([OnInvalid::Pass, OnInvalid::Drop, OnInvalid::Divert][on_invalid])
            .emit([Emit::Original, Emit::Normalized, Emit::Key][emit])
            .hasher(Hasher::random());
        let settings = settings(2, 4 << 10).redact(redact == 1);
        same_under(&SETS, &|| files(&texts, dir.path()), &options, &settings);
    }
}

/// All combinations.
mod full {
    use crate::pairs::every;

    #[test]
    fn files_and_streams_give_the_same_bytes() {
        super::same_from_files_and_streams(&every([3, 3]));
    }

    #[test]
    fn every_treatment_of_invalid_records_and_every_output() {
        super::same_for_every_treatment(every);
    }
}

#[test]
fn records_that_end_in_nul() {
    let texts = [list(30_000, 4, '\0').replace("no uri", "no\nuri")];
    let settings = settings(2, 4 << 10).record_end(0);
    same_under(&SETS, &|| streams(&texts), &DedupOptions::default(), &settings);
}

#[test]
fn a_run_that_stops_has_written_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let options = DedupOptions::default().on_invalid(OnInvalid::Fail);
    let valid = |lines: u32| -> String {
        (0..lines).map(|i| format!("http://h/{}\n", i * 2 / 3)).collect()
    };
    let long = "y".repeat(2000);
    for (i, fault) in
        ["a b\n", &*format!("x:{long}\n"), &*format!("x:{long}")].into_iter().enumerate()
    {
        let sub = dir.path().join(i.to_string());
        std::fs::create_dir(&sub).unwrap();
        let texts = [valid(40_000), valid(41_000) + fault + &valid(50_000), valid(100)];
        let settings = settings(2, 4 << 10);
        assert!(run(streams(&texts), &options, &settings).2.is_err());
        same_under(&SETS, &|| files(&texts, &sub), &options, &settings);
        same_under(&SETS, &|| streams(&texts), &options, &settings);
    }
}

#[test]
fn compressed_input_is_spilled() {
    let dir = tempfile::tempdir().unwrap();
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(list(40_000, 5, '\n').as_bytes()).unwrap();
    let packed = packed.finish().unwrap();
    let path = dir.path().join("list.gz");
    for len in [packed.len(), packed.len() * 3 / 4] {
        std::fs::write(&path, &packed[..len]).unwrap();
        let make =
            || vec![Source::file(&path), Source::new("-", Cursor::new(list(20_000, 6, '\n')))];
        let spilled = same_under(&SETS, &make, &DedupOptions::default(), &settings(2, 4 << 10));
        assert_eq!(spilled[0] > 0, len == packed.len(), "a run that fails tells nothing");
    }
}

#[test]
fn sources_that_fail_are_skipped_in_both_readings() {
    struct Broken;
    impl Read for Broken {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::other("disk on fire"))
        }
    }
    let dir = tempfile::tempdir().unwrap();
    let answer = |limit: Option<usize>| {
        let broken = Source::new("bad", Cursor::new(list(20_000, 7, '\n')).chain(Broken));
        let last = Source::new("last", Cursor::new(list(20_000, 8, '\n')));
        let options = DedupOptions::default();
        let options = limit.map_or(options.clone(), |bytes| limited(&options, bytes, dir.path()));
        let (mut out, mut faults) = (Vec::new(), Vec::new());
        let mut note = |error: &ReadError| faults.push(error.to_string());
        let mut sinks = Sinks::new(&mut out).unread(&mut note);
        dedup(vec![broken, last], &options, &settings(2, 4 << 10), &mut sinks).unwrap();
        (out, faults)
    };
    for bytes in SETS {
        assert!(answer(Some(bytes)) == answer(None), "{bytes}");
    }
}

#[test]
fn a_directory_that_cannot_be_used_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let missing = dir.path().join("missing");
    let options = DedupOptions::default();
    let text = [list(1000, 9, '\n')];
    let error = |limit: usize, dir: &Path| {
        let options = limited(&options, limit, dir);
        dedup(streams(&text), &options, &settings(2, 4 << 10), &mut Sinks::new(&mut Vec::new()))
    };
    let found = error(0, &missing).unwrap_err();
    assert!(found.to_string().starts_with(&*missing.display().to_string()), "{found}");
    assert_eq!(found.kind(), ErrorKind::Spill);
    assert!(error(1 << 30, &missing).is_ok(), "nobody needs it");
}

#[test]
fn a_file_that_changes_between_the_readings_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("list");
    std::fs::write(&path, list(20_000, 10, '\n')).unwrap();
    let grown = path.clone();
    // When the second source is opened, the first one has been read.
    let open = move || {
        let mut file = std::fs::OpenOptions::new().append(true).open(grown)?;
        file.write_all(b"http://h/new\n")?;
        Ok(&b"http://h/b\n"[..])
    };
    let second = Source::new("second", std::io::empty()).open(open);
    let options = limited(&DedupOptions::default(), 0, dir.path());
    let sources = vec![Source::file(&path), second];
    let found = dedup(sources, &options, &settings(1, 4 << 10), &mut Sinks::new(&mut Vec::new()));
    assert!(found.unwrap_err().to_string().contains("changed"));
}

/// The output of a run with a set of seen keys, the keys of the set afterwards, and how many classes of each text were
/// seen.
fn unseen(texts: &[String], limit: Option<usize>, dir: &Path) -> (Vec<u8>, Vec<String>, Vec<u64>) {
    let place = tempfile::tempdir().unwrap();
    let options = DedupOptions::default().hasher(Hasher::random());
    let meaning = options.equivalence.meaning(options.hash);
    let mut set = SetWriter::create(&place.path().join("set"), meaning).unwrap();
    let options = limit.map_or(options.clone(), |bytes| limited(&options, bytes, dir));
    let (mut out, mut counts) = (Vec::new(), Vec::new());
    for text in texts {
        let mut new_keys = set.loader(1 << 20).unwrap();
        let seen = Seen::new(set.set()).new_keys(&mut new_keys);
        let sources = streams(std::slice::from_ref(text));
        let (settings, mut sinks) = (settings(2, 4 << 10), Sinks::new(&mut out));
        let report = dedup_unseen(sources, &options, seen, &settings, &mut sinks).unwrap();
        set.add(new_keys).unwrap();
        let sources = streams(std::slice::from_ref(text));
        let mut nowhere = std::io::sink();
        let all = dedup(sources, &options, &settings, &mut Sinks::new(&mut nowhere)).unwrap();
        assert_eq!(report.written + report.seen, all.written);
        counts.push(report.seen);
    }
    let mut held = Vec::new();
    for text in texts {
        let options = MemberOptions::default()
            .equivalence(options.equivalence.clone())
            .hash(options.hash)
            .on_invalid(OnInvalid::Pass);
        let mut sinks = Sinks::new(&mut held);
        members(
            streams(std::slice::from_ref(text)),
            &options,
            set.set(),
            true,
            &settings(2, 4 << 10),
            &mut sinks,
        )
        .unwrap();
    }
    let mut held: Vec<String> =
        String::from_utf8(held).unwrap().lines().map(str::to_owned).collect();
    held.sort();
    held.dedup();
    (out, held, counts)
}

#[test]
fn previously_seen_keys_stay_seen() {
    let dir = tempfile::tempdir().unwrap();
    let texts = [list(20_000, 13, '\n'), list(30_000, 13, '\n'), list(10_000, 14, '\n')];
    let expected = unseen(&texts, None, dir.path());
    assert!(
        expected.2[0] == 0 && expected.2[1..].iter().all(|&seen| seen > 1_000),
        "{:?}",
        expected.2
    );
    for bytes in SETS {
        assert!(unseen(&texts, Some(bytes), dir.path()) == expected, "{bytes}");
    }
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
    let options = limited(&DedupOptions::default(), 0, dir.path());
    let mut found = Vec::new();
    for sources in [files, |texts: &[String], _: &Path| streams(texts)] {
        let place = tempfile::tempdir().unwrap();
        let sources = sources(&[list(100_000, 11, '\n')], place.path());
        found.push(dedup(
            sources,
            &options,
            &settings(2, 4 << 10),
            &mut Sinks::new(&mut Vec::new()),
        ));
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
