//! Faults while what does not fit into memory is written to temporary files and read back.

use std::fs;
use std::path::Path;

use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    ClassOptions, DedupOptions, MemoryLimit, Report, Settings, Sinks, classes, dedup,
};

use crate::place::{content, directory};
use crate::{Struck, alone, with_each_fault};

/// So many lines: every fifth one is equivalent to one long before, some are not URIs, and some are too long.
fn list(lines: u32) -> String {
    let line = |i: u32| match i % 100 {
        3 => format!("no uri {}\n", i % 7),
        5 => format!("x:{}\n", "y".repeat(600 + i as usize % 100)),
        _ if i.is_multiple_of(5) => format!("HTTP://H:80/~{}\n", i / 2),
        _ => format!("http://h/%7e{i}\n"),
    };
    (0..lines).map(line).collect()
}

/// Results, dupes and clusters, and the report or the error.
type Answer = ([Vec<u8>; 3], Result<Report, String>);

/// Runs `run`, which is given the input and the sinks, with each fault; it spills to a directory.
fn whole_or_an_error(
    what: &str,
    lines: u32,
    run: impl Fn(Vec<Source>, MemoryLimit, &Settings, &mut Sinks<'_>) -> Result<Report, String>,
) {
    let _alone = alone();
    let place = directory();
    let (file, spilled) = (place.path().join("list"), place.path().join("spilled"));
    fs::write(&file, list(lines)).unwrap();
    fs::create_dir(&spilled).unwrap();
    let settings = Settings::default().threads(1).chunk_bytes(1 << 14).max_record(512);
    let limit = MemoryLimit::new(1 << 20, &spilled).set_bytes(0);
    for is_stream in [false, true] {
        let source = || match is_stream {
            false => Source::file(&file),
            true => Source::new("list", fs::File::open(&file).unwrap()),
        };
        let act = || -> Answer {
            let mut texts: [Vec<u8>; 3] = Default::default();
            let [out, dupes, clusters] = &mut texts;
            let mut sinks = Sinks::new(out).dupes(dupes).clusters(clusters);
            let done = run(vec![source()], limit.clone(), &settings, &mut sinks);
            (texts, done)
        };
        let expected = act();
        assert!(expected.1.as_ref().unwrap().spilled > 0, "{what}");
        let runs = with_each_fault(
            &[true],
            20,
            act,
            |Struck { kind, call, result: (texts, done) }, label| {
                let label = format!("{what} {is_stream}: {label}");
                match done {
                    Ok(mut report) => {
                        assert!(texts == expected.0, "{label}: other results");
                        let mut same = expected.1.clone().unwrap();
                        (report.spilled, same.spilled) = (0, 0);
                        assert_eq!(report, same, "{label}");
                    }
                    Err(error) => {
                        assert!(!kind.is_invisible() && call.is_some(), "{label}: {error}");
                        assert!(names(&error, &file, &spilled), "{label}: {error}");
                    }
                }
                assert!(content(&spilled).is_empty(), "{label}: something is left");
            },
        );
        eprintln!("{what}: {runs} runs");
    }
}

/// Whether `error` names the file or the directory that it is about.
fn names(error: &str, file: &Path, spilled: &Path) -> bool {
    [file, spilled].iter().any(|path| error.contains(path.to_str().unwrap()))
        || error.starts_with("list: ")
}

#[test]
fn duplicates_are_dropped_or_there_is_an_error() {
    whole_or_an_error("dedup", 3000, |sources, limit, settings, sinks| {
        (sinks.dupes, sinks.clusters) = (None, None);
        let options = DedupOptions::default().limit(limit);
        dedup(sources, &options, settings, sinks).map_err(|error| error.to_string())
    });
}

#[test]
fn classes_are_found_or_there_is_an_error() {
    whole_or_an_error("classes", 600, |sources, limit, settings, sinks| {
        let dedup = DedupOptions::default().limit(limit);
        let options = ClassOptions::default().dedup(dedup);
        classes(sources, &options, settings, sinks).map_err(|error| error.to_string())
    });
}
