//! Floor 3: strict validation and components, one reference at a time and in bulk.

use criterion::Criterion;
use uriscan::Kernels;
use uriscan::uri::{Parser, parse, split};

use crate::corpus::{Corpus, MIXES};

/// Size of the text in bytes: larger than a second-level cache.
const BYTES: usize = 16 << 20;

/// Numbers of valid references and of the bytes of their hosts, so that components are used.
type Answer = (u64, usize);

fn parse_lines(corpus: &Corpus) -> Answer {
    corpus.lines().fold((0, 0), |(valid, host_bytes), line| match parse(line) {
        Ok(parts) => (valid + 1, host_bytes + parts.host(line).map_or(0, <[u8]>::len)),
        Err(_) => (valid, host_bytes),
    })
}

fn parse_bulk(corpus: &Corpus, parser: &mut Parser) -> Answer {
    let mut answer = (0, 0);
    parser.parse_each(corpus.padded(), b'\n', |record| {
        if let Ok(parts) = record.result {
            answer.0 += 1;
            answer.1 += parts.host(record.bytes).map_or(0, <[u8]>::len);
        }
    });
    answer
}

/// The expected result for the valid lines by the reference path.
fn split_lines(corpus: &Corpus) -> Answer {
    corpus.lines().filter(|line| parse(line).is_ok()).fold((0, 0), |(valid, bytes), line| {
        let authority = split(line).authority.unwrap_or(b"");
        let after_user = authority.rsplit(|&byte| byte == b'@').next().unwrap_or(b"");
        let host = match after_user.iter().position(|&byte| byte == b']') {
            Some(bracket) => &after_user[..=bracket],
            None => after_user.split(|&byte| byte == b':').next().unwrap_or(b""),
        };
        (valid + 1, bytes + host.len())
    })
}

pub(crate) fn parse_all(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("parse");
    for mix in MIXES {
        let corpus = Corpus::generate(mix, BYTES);
        group.throughput(corpus.throughput());
        let answer = parse_lines(&corpus);
        assert_eq!(answer.0, corpus.counts.records - corpus.counts.invalid, "{mix}");
        assert_eq!(answer, split_lines(&corpus), "{mix}");
        group.bench_function(format!("strict/{mix}"), |bencher| {
            bencher.iter(|| parse_lines(&corpus));
        });
        for kernels in Kernels::available() {
            let name = kernels.backend().name();
            let mut parser = Parser::with_kernels(kernels);
            assert_eq!(parse_bulk(&corpus, &mut parser), answer, "{mix} {name}");
            // The other backends on one mix only: their relative speeds are similar on all.
            if mix == "mixed" || kernels == Kernels::detect() {
                group.bench_function(format!("bulk-{name}/{mix}"), |bencher| {
                    bencher.iter(|| parse_bulk(&corpus, &mut parser));
                });
            }
        }
    }
    group.finish();
}
