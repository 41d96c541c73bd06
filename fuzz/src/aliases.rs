//! Files of aliases as anybody may write them: targets are their own targets, and the same pairs as TSV, CSV or JSON
//! lines, in any order, are the same aliases, those of a walk from pair to pair.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, Read};

use uriscan::key::Hasher;
use uriscan::normalize::{Normalizer, Options};
use uriscan_bulk::io::Source;
use uriscan_bulk::io::decompressed;
use uriscan_bulk::pipeline::{AliasFault, Aliases, Equivalence, Settings};

/// A file of aliases.
pub fn check(text: &[u8]) {
    if !is_as_it_is(text) {
        return;
    }
    let hasher = Hasher::with_secret([7; 32]);
    let aliases = read(text, &hasher);
    let mut normalizer = Normalizer::new(Options::default());
    for uri in text.split(|byte| b"\t\n\",".contains(byte)) {
        let Ok(form) = normalizer.normalize(uri) else { continue };
        let target = aliases.table().target(hasher.key(form));
        assert_eq!(aliases.table().target(target), target);
    }
    let pairs = pairs(text, &mut normalizer);
    if !pairs.is_empty() {
        check_pairs(&pairs, &hasher);
    }
}

/// Whether `text` is not taken for compressed data.
fn is_as_it_is(text: &[u8]) -> bool {
    let mut content = Vec::new();
    let read = decompressed(Box::new(Cursor::new(text.to_vec())));
    let read = read.and_then(|mut stream| stream.read_to_end(&mut content));
    read.is_ok() && content == text
}

fn read(text: &[u8], hasher: &Hasher) -> Aliases {
    let text = text.to_vec();
    let open = || Source::new("aliases", Cursor::new(text.clone()));
    let lines = text.split(|&byte| byte == b'\n').count() as u64;
    let mut on_fault = |_: AliasFault, line: u64| assert!((1..=lines).contains(&line));
    let (equivalence, settings) = (Equivalence::default(), Settings::default());
    Aliases::read(&open, &equivalence, hasher.clone(), false, &settings, &mut on_fault)
        .expect("a source that can be read")
}

/// The canonical forms of the two URIs of each line of `text` that has two and a tab between.
fn pairs(text: &[u8], normalizer: &mut Normalizer) -> Vec<[String; 2]> {
    let mut form = |uri: &[u8]| {
        let form = normalizer.normalize(uri).ok()?;
        Some(String::from_utf8(form.to_vec()).expect("a URI is ASCII"))
    };
    text.split(|&byte| byte == b'\n')
        .filter_map(|line| {
            let tab = line.iter().position(|&byte| byte == b'\t')?;
            Some([form(&line[..tab])?, form(&line[tab + 1..])?])
        })
        .collect()
}

fn check_pairs(pairs: &[[String; 2]], hasher: &Hasher) {
    let file = |write: fn(&[String; 2]) -> String| -> String { pairs.iter().map(write).collect() };
    let texts = [
        file(|[from, to]| format!("{from}\t{to}\n")),
        file(|[from, to]| format!("\"{from}\",\"{to}\"\n")),
        file(|[from, to]| format!("{{\"to\":\"{to}\",\"from\":\"{from}\"}}\n")),
        pairs.iter().rev().map(|[from, to]| format!("{from}\t{to}\n")).collect(),
    ];
    let files = texts.map(|text| read(text.as_bytes(), hasher));
    let key = |form: &String| hasher.key(form.as_bytes());
    for form in pairs.iter().flatten() {
        let target = key(walk(pairs, form));
        for aliases in &files {
            assert_eq!(aliases.table().target(key(form)), target, "{form} {pairs:?}");
            assert_eq!(aliases.digest(), files[0].digest());
        }
    }
}

/// The end of the way from `start`, one pair after the other; `start` if it leads into a circle. A form that is sent to
/// several others goes nowhere, and a pair of one form says nothing.
fn walk<'a>(pairs: &'a [[String; 2]], start: &'a String) -> &'a String {
    let mut next: BTreeMap<&String, BTreeSet<&String>> = BTreeMap::new();
    for [from, to] in pairs.iter().filter(|[from, to]| from != to) {
        next.entry(from).or_default().insert(to);
    }
    let (mut at, mut seen) = (start, BTreeSet::from([start]));
    while let Some(to) = next.get(at).filter(|to| to.len() == 1).and_then(BTreeSet::first) {
        if !seen.insert(to) {
            return start;
        }
        at = to;
    }
    at
}
