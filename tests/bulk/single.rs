//! URIs one by one agree with lists of them.

use std::collections::HashSet;
use std::io::Write;
use std::sync::Arc;

use uriscan::key::{Hasher, PublicHash};
use uriscan::normalize::{Level, Options};
use uriscan::profile::Profile;
use uriscan::repair::{Repair, Repairs};
use uriscan::resolve::{BaseUri, Context};
use uriscan::rules::RuleSet;
use uriscan::{Deduplicator, Equivalence};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{self, DedupOptions, Settings, Sinks};

const MESSY: &str = include_str!("../../corpora/messy.txt");

/// Equivalences of all kinds.
fn equivalences() -> Vec<Equivalence> {
    let mut rules = RuleSet::builder();
    for rule in ["www", "trailing-slash", "sort-query"] {
        rules.rule(rule).unwrap();
    }
    let rules = Some(Arc::new(rules.build().unwrap()));
    let base = BaseUri::new(b"http://base/a/b").unwrap();
    let context = Some(Context::Base { base, options: uriscan::resolve::Options::default() });
    let mut all = vec![
        Equivalence::default().rules(rules),
        Equivalence::default().context(context),
        Equivalence::default()
            .repairs(Repair::ALL.into_iter().fold(Repairs::default(), Repairs::with)),
        Equivalence::default().normalize(Options::default().drop_fragment(true)),
    ];
    all.extend(Level::ALL.map(|level| Equivalence::from(Options::new(level))));
    all.extend(Profile::ALL.map(|profile| Equivalence::default().profile(Some(profile))));
    all
}

#[test]
fn a_deduplicator_keeps_what_dedup_writes() {
    for equivalence in equivalences() {
        let options = DedupOptions::default().equivalence(equivalence.clone());
        let mut written = Vec::new();
        let list = Source::new("messy", MESSY.as_bytes());
        pipeline::dedup(vec![list], &options, &Settings::default(), &mut Sinks::new(&mut written))
            .unwrap();

        let mut seen = Deduplicator::new(equivalence.clone());
        let (mut kept, mut forms) = (Vec::new(), HashSet::new());
        for record in MESSY.lines().map(str::trim_ascii).filter(|line| !line.is_empty()) {
            let is_new = forms.insert(form(&equivalence, record));
            assert_eq!(seen.contains(record), !is_new, "{record}");
            assert_eq!(seen.insert(record), is_new, "{record}");
            if is_new {
                writeln!(kept, "{record}").unwrap();
            }
        }
        assert!(kept == written, "{equivalence:?}");
        // White space around a record is not part of it.
        assert!(
            MESSY
                .split_inclusive('\n')
                .all(|line| line.trim_ascii().is_empty() || seen.contains(line))
        );
        assert_eq!(seen.len(), forms.len());
    }
}

fn form(equivalence: &Equivalence, record: &str) -> Vec<u8> {
    equivalence.canonical(record).map_or(record.into(), |form| form.into_owned())
}

#[test]
fn forms_keys_and_equality_agree() {
    let uris = [
        "http://h",
        "HTTP://H:80/",
        "http://www.h/",
        "http://h/a/",
        "urn:a:%7eb",
        "urn:a:~b",
        "a b",
        "/a",
        "x:y z",
    ];
    let secret = Hasher::random();
    for equivalence in equivalences() {
        let public = equivalence.public_hasher(PublicHash::Blake3);
        for a in uris {
            for b in uris {
                let forms = [a, b].map(|uri| equivalence.canonical(uri));
                let [Ok(x), Ok(y)] = &forms else {
                    assert!(
                        equivalence.is_equal(a, b).is_err() && equivalence.explain(a, b).is_err()
                            || equivalence.profile.is_some()
                    );
                    continue;
                };
                assert_eq!(equivalence.is_equal(a, b), Ok(x == y));
                assert_eq!(equivalence.key(a), Ok(public.key(x)));
                assert_eq!(secret.key(x) == secret.key(y), x == y);
            }
        }
    }
}

#[test]
fn a_reader_is_deduplicated_as_by_the_program() {
    let mut out = Vec::new();
    let report = uriscan::dedup(MESSY.as_bytes(), &mut out).unwrap();
    assert_eq!((report.records, report.written), (1_500, 891));
    assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 891);
}
