//! Floor 5: the audit of text in memory, compared with the check: it may take three times as long.

use std::io::{self, Write};
use std::sync::Arc;

use criterion::Criterion;
use uriscan::audit::{RuleSet, audit, redact_into};
use uriscan::repair::Repairs;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{self, AuditOptions, CheckFormat, FindingCounts, Settings, Sinks};

use crate::corpus::Corpus;

const BYTES: usize = 16 << 20;

fn source(text: &Arc<[u8]>) -> Vec<Source> {
    vec![Source::new("corpus", io::Cursor::new(Arc::clone(text)))]
}

fn settings() -> Settings {
    Settings::default().threads(1)
}

fn run_audit(text: &Arc<[u8]>, out: &mut (dyn Write + Send)) -> FindingCounts {
    let found =
        pipeline::audit(source(text), &AuditOptions::default(), &settings(), &mut Sinks::new(out));
    found.expect("nothing here can fail").1
}

fn run_check(text: &Arc<[u8]>, out: &mut (dyn Write + Send)) -> u64 {
    let report = pipeline::check(
        source(text),
        CheckFormat::Text,
        Repairs::default(),
        &settings(),
        &mut Sinks::new(out),
    );
    report.expect("nothing here can fail").invalid.total()
}

fn run_redact(text: &Arc<[u8]>, out: &mut (dyn Write + Send)) -> u64 {
    let report = pipeline::redact(source(text), &settings(), &mut Sinks::new(out));
    report.expect("nothing here can fail").written
}

pub(crate) fn audits(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("audit");
    for mix in ["canonical", "mixed"] {
        let corpus = Corpus::generate(mix, BYTES);
        group.throughput(corpus.throughput());
        let text: Arc<[u8]> = corpus.bytes().into();
        // The expected result by the reference path, line by line.
        let (mut findings, mut total, mut masked) = (Vec::new(), 0, Vec::new());
        for line in corpus.lines() {
            audit(line, RuleSet::all(), &mut findings);
            total += findings.len() as u64;
            redact_into(line, &mut masked);
            masked.push(b'\n');
        }
        let mut out = Vec::new();
        assert_eq!(run_audit(&text, &mut out).total(), total, "{mix}");
        assert_eq!(memchr::memchr_iter(b'\n', &out).count() as u64, total);
        assert_eq!(run_check(&text, &mut io::sink()), corpus.counts.invalid);
        out.clear();
        assert_eq!(run_redact(&text, &mut out), corpus.counts.records);
        assert!(out == masked);
        group.bench_function(format!("check/{mix}"), |bencher| {
            bencher.iter(|| run_check(&text, &mut io::sink()));
        });
        group.bench_function(format!("audit/{mix}"), |bencher| {
            bencher.iter(|| run_audit(&text, &mut io::sink()));
        });
        group.bench_function(format!("redact/{mix}"), |bencher| {
            bencher.iter(|| run_redact(&text, &mut io::sink()));
        });
    }
    group.finish();
}
