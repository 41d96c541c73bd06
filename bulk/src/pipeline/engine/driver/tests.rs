//! Runs of the driver.

use super::*;
use crate::pipeline::*;
use uriscan_core::context::Context;
use uriscan_core::extract::Filter;
use uriscan_core::key::PublicHash;
use uriscan_core::repair::Repairs;
use uriscan_core::resolve::BaseUri;
use uriscan_core::rfc2396::Legacy;

/// Records of all kinds, so that the output of a chunk is many times what a scan may write.
fn text() -> Vec<u8> {
    let record = |i: usize| match i % 9 {
        0 => "\n".to_owned(),
        1 => format!("HTTP://H{i}:80/%7e\r\n"),
        2 => format!("  a b{i}\n"),
        3 => "x:\n".to_owned(),
        4 => format!("http://0x7f.1/{i}?token=secret{i}\n"),
        5 => "//u:p@h/../a\n".to_owned(),
        _ => format!("http://h/{i}\n"),
    };
    (0..2000).map(record).collect::<String>().into_bytes()
}

type Run<'r> = &'r dyn Fn(Vec<Source>, &Settings, &mut Sinks<'_>) -> Result<Report, Error>;

#[test]
fn a_chunk_that_is_scanned_in_parts_has_the_same_results() {
    let base = BaseUri::new(format!("http://b/{}", "c".repeat(300)).as_bytes()).unwrap();
    let against = Against::Context(Context::from(base));
    let resolve_all = ResolveOptions::new(against);
    let explained = ExplainOptions::new(ExplainFormat::Jsonl);
    let audited = AuditOptions::default().format(AuditFormat::Jsonl);
    let (none, plain) = (Repairs::default(), Equivalence::default());
    let hash = PublicHash::Blake3;
    let forms = DedupOptions::default().emit(Emit::Normalized);
    let runs: [Run<'_>; 12] = [
        &|of, with, to| dedup(of, &forms, with, to),
        &|of, with, to| normalize(of, &plain, OnInvalid::Pass, with, to),
        &|of, with, to| normalize(of, &plain, OnInvalid::Divert, with, to),
        &|of, with, to| normalize(of, &plain, OnInvalid::Fail, with, to),
        &|of, with, to| keys(of, &plain, hash, OnInvalid::Drop, with, to),
        &|of, with, to| {
            surts(of, &plain, uriscan_core::surt::Form::Cdxj, OnInvalid::Pass, with, to)
        },
        &|of, with, to| resolve(of, &resolve_all, with, to),
        &|of, with, to| parse(of, &RowFormat::Jsonl, none, with, to),
        &|of, with, to| check(of, CheckFormat::Text, none, with, to),
        &|of, with, to| explain(of, &explained, with, to),
        &|of, with, to| audit(of, &audited, with, to).map(|(report, _)| report),
        &|of, with, to| {
            let differ = LegacyQuestion::Differ(CheckFormat::Jsonl);
            inspect_rfc2396(of, differ, Legacy::default(), with, to)
        },
    ];
    for (i, run) in runs.into_iter().enumerate() {
        for is_filtered in [false, true] {
            let done = |chunk_bytes, threads| {
                let settings = Settings::default().chunk_bytes(chunk_bytes).threads(threads);
                let mut source = Source::new("list", std::io::Cursor::new(text()));
                if is_filtered {
                    let filter = Filter::default();
                    source = records_of(source, &filter, &plain);
                }
                let (mut out, mut rejects) = (Vec::new(), Vec::new());
                let mut sinks = Sinks::new(&mut out).rejects(&mut rejects);
                let report = run(vec![source], &settings, &mut sinks);
                (report.map_err(|error| error.to_string()), out, rejects)
            };
            let (whole, one_by_one) = (done(1 << 20, 2), done(1, 1));
            assert_eq!(whole.0, one_by_one.0, "{i}");
            assert!(whole == one_by_one, "{i}");
        }
    }
}
