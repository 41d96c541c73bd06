//! Lists to deduplicate, and the limits for that.

use std::io::Cursor;
use std::path::Path;

use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{DedupOptions, MemoryLimit, Settings};

/// Memory for keys in bytes, from none to more than needed; with those in between, some keys are in
/// memory.
pub(crate) const ALL_SETS: [usize; 5] = [0, 520_000, 1_200_000, 2_000_000, 1 << 30];

/// None, some, and more than needed.
pub(crate) const SETS: [usize; 3] = [0, 1_200_000, 1 << 30];

/// A list of `lines` lines, with near and distant duplicates, other spellings, blank lines, faults
/// and long records.
pub(crate) fn list(lines: u32, seed: u32, record_end: char) -> String {
    let mut state = seed;
    let mut next = |below: u32| {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) % below
    };
    let mut text = String::new();
    for i in 0..lines {
        let number = if next(3) == 0 { next(i + 1) } else { i };
        match next(40) {
            0 => text += "  \t",
            1 => text += &format!("no uri {}", number % 50),
            2 => text += &format!("HTTP://H/%7e{number}\r"),
            3 => text += &format!("  http://h:80/~{number}  "),
            4 if i % 64 == 0 => text += &format!("x:{}", "y".repeat(600 + number as usize % 3000)),
            _ => text += &format!("http://h/~{number}"),
        }
        text.push(record_end);
    }
    text
}

pub(crate) fn settings(threads: usize, chunk_bytes: usize) -> Settings {
    Settings::default().threads(threads).chunk_bytes(chunk_bytes).max_record(512)
}

pub(crate) fn streams(texts: &[String]) -> Vec<Source> {
    let stream = |text: &String| Source::new("-", Cursor::new(text.clone()));
    texts.iter().map(stream).collect()
}

pub(crate) fn files(texts: &[String], dir: &Path) -> Vec<Source> {
    let file = |(i, text): (usize, &String)| {
        let path = dir.join(i.to_string());
        if !path.exists() {
            std::fs::write(&path, text).unwrap();
        }
        Source::file(path)
    };
    texts.iter().enumerate().map(file).collect()
}

/// Several lists with various ends, which begin with byte order marks.
pub(crate) fn texts() -> Vec<String> {
    let long = format!("x:{}", "z".repeat(1000));
    vec![
        list(60_000, 1, '\n'),
        String::new(),
        format!("\u{FEFF}{}{long}", list(9_000, 2, '\n')),
        format!("{long}\n\u{FEFF}{}http://h/last", list(40_000, 1, '\n')),
    ]
}

pub(crate) fn limited(options: &DedupOptions, bytes: usize, dir: &Path) -> DedupOptions {
    // So little that hardly anything is buffered before it is spilled.
    let limit = MemoryLimit::new(1 << 20, dir).set_bytes(bytes);
    options.clone().limit(limit)
}
