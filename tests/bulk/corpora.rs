//! Tests the corpus generator: its claims are checked independently of its own counts, and the
//! samples in `corpora/` are its output.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

#[allow(dead_code, reason = "the generator's program uses what is not looked at here")]
#[path = "../../examples/gen-corpus/generator/mod.rs"]
mod generator;

use generator::{Counts, Shares, Stream};

/// The content of a `*.expect.json`.
#[derive(Debug, Deserialize)]
struct Expected {
    seed: u64,
    records: u64,
    bytes: u64,
    invalid: u64,
    rewrites: u64,
    distinct: Distinct,
}

/// Distinct records per level; invalid ones count by their bytes.
#[derive(Debug, Deserialize)]
struct Distinct {
    string: u64,
    syntax: u64,
    scheme: u64,
}

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora")
}

/// Reads the expected counts of the sample `name`.
fn expected(name: &str) -> Expected {
    let json = fs::read(corpora().join(format!("{name}.expect.json"))).unwrap();
    serde_json::from_slice(&json).unwrap()
}

/// The first `lines` lines of a mix, and the counts of the generator.
fn generate(seed: u64, shares: Shares, lines: u64) -> (Vec<u8>, Counts) {
    assert_eq!(shares.fault(), None);
    let mut stream = Stream::new(seed, shares);
    let mut out = Vec::new();
    for _ in 0..lines {
        stream.write_line(&mut out);
    }
    (out, stream.counts())
}

fn mix(name: &str) -> Shares {
    Shares::of_mix(name).unwrap()
}

fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.strip_suffix(b"\n").unwrap().split(|&byte| byte == b'\n')
}

#[test]
fn counts_agree_with_the_lines() {
    for (name, seed) in [("crawl", 1), ("crawl", 99), ("easy", 2), ("clean", 3)] {
        let (text, counts) = generate(seed, mix(name), 40_000);
        let distinct: HashSet<&[u8]> = lines(&text).collect();
        assert_eq!(counts.string, distinct.len() as u64, "{name} {seed}");
        assert_eq!(counts.records, lines(&text).count() as u64);
        assert_eq!(counts.bytes, text.len() as u64);
        assert!(counts.scheme <= counts.syntax && counts.syntax <= counts.string);
    }
}

#[test]
fn shares_are_as_requested() {
    for (name, seed) in [("crawl", 5), ("easy", 6), ("clean", 7)] {
        let asked = mix(name);
        let (_, counts) = generate(seed, asked, 60_000);
        let near = |what: &str, count: u64, share: f64, within: f64| {
            let got = count as f64 / counts.records as f64;
            assert!((got - share).abs() < within, "{name}: {what} {got}, asked {share}");
        };
        near("byte duplicates", counts.records - counts.string, asked.duplicates, 0.005);
        near("equivalents", counts.string - counts.scheme, asked.equivalents, 0.005);
        near("rewrites", counts.rewrites, asked.rewrite, 0.01);
        near("invalid", counts.invalid, asked.invalid, 0.002);
    }
}

#[test]
fn lines_have_the_length_of_crawled_ones() {
    for seed in 1..=8 {
        let (_, counts) = generate(seed, mix("crawl"), 30_000);
        let average = counts.bytes as f64 / counts.records as f64;
        assert!((70.0..78.0).contains(&average), "seed {seed}: {average}");
    }
}

#[test]
fn the_seed_decides_every_byte() {
    let (first, counts) = generate(11, mix("crawl"), 5_000);
    let (again, counts_again) = generate(11, mix("crawl"), 5_000);
    assert!((&first, counts) == (&again, counts_again));
    assert_ne!(first, generate(12, mix("crawl"), 5_000).0);
    // A longer run begins with the shorter one.
    assert!(generate(11, mix("crawl"), 6_000).0.starts_with(&first));
}

#[test]
fn every_canonical_uri_holds_one_token() {
    let mut seen = HashSet::new();
    for id in (0..60_000).chain(u32::MAX - 2_000..=u32::MAX) {
        let uri = generator::canonical_uri(4, id);
        assert_eq!(generator::tokens_in(&uri), 1, "{}", String::from_utf8_lossy(&uri));
        assert!(seen.insert(uri), "id {id} repeats a URI");
    }
}

#[test]
fn internationalized_labels_agree_with_idna() {
    for &(label, triplets) in generator::IDN {
        let mut utf8 = Vec::new();
        let mut rest = triplets.as_bytes();
        while let [byte, after @ ..] = rest {
            if *byte == b'%' {
                let digits = std::str::from_utf8(&after[..2]).unwrap();
                utf8.push(u8::from_str_radix(digits, 16).unwrap());
                rest = &after[2..];
            } else {
                utf8.push(*byte);
                rest = after;
            }
        }
        let utf8 = String::from_utf8(utf8).unwrap();
        assert_eq!(idna::domain_to_ascii(&utf8).unwrap(), label);
    }
}

#[test]
fn impossible_shares_are_rejected() {
    let crawl = mix("crawl");
    assert!(Shares { rewrite: 0.1, ..crawl }.fault().is_some());
    assert!(Shares { duplicates: 0.9, ..crawl }.fault().is_some());
    assert!(Shares { invalid: f64::NAN, ..crawl }.fault().is_some());
    assert!(Shares { equivalents: -0.1, ..crawl }.fault().is_some());
}

#[test]
fn samples_are_the_output_of_their_recipes() {
    for (name, mix_name) in [("plain", "clean"), ("messy", "crawl")] {
        let said = expected(name);
        let (text, counts) = generate(said.seed, mix(mix_name), said.records);
        assert!(
            fs::read(corpora().join(format!("{name}.txt"))).unwrap() == text,
            "{name}.txt is not as made"
        );
        let reported = Counts {
            records: said.records,
            bytes: said.bytes,
            invalid: said.invalid,
            rewrites: said.rewrites,
            string: said.distinct.string,
            syntax: said.distinct.syntax,
            scheme: said.distinct.scheme,
        };
        assert_eq!(reported, counts, "{name}.expect.json");
    }
}

#[test]
fn the_hostile_sample_is_hostile() {
    let text = fs::read(corpora().join("hostile.txt")).unwrap();
    assert!(text == generator::hostile::text(), "hostile.txt is not as made");
    assert!(text.len() < 64 << 10);
    assert!(text.starts_with(b"\xef\xbb\xbf") && !text.ends_with(b"\n"));
    assert!(std::str::from_utf8(&text).is_err());
    let holds = |part: &[u8]| text.windows(part.len()).any(|window| window == part);
    assert!(
        holds(b"\0") && holds(b"\r\n") && holds(b"\n\n") && holds(b"/../../") && holds(b"%%%%")
    );
    assert!(text.windows(2).any(|pair| pair[0] == b'\r' && pair[1] != b'\n'));
}
