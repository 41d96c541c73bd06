//! A list that is filtered has the results of one in which every record that is not kept is white space: lines, columns and offsets
//! are those of the list that was given.

use std::path::Path;

use proptest::prelude::*;
use uriscan::extract::{Filter, Filtered, Limit, Property};
use uriscan::key::PublicHash;
use uriscan::repair::Repairs;
use uriscan_bulk::error::Error;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    AuditFormat, AuditOptions, By, CensusOptions, CheckFormat, ClassOptions, DedupOptions,
    Equivalence, Keep, MemoryLimit, OnInvalid, Report, RowFormat, Settings, Sinks, Survey,
    SurveyOptions, TopOptions, audit, census, check, classes, dedup, keys, normalize, parse,
    records_of, top,
};
use uriscan_core::context::Context;
use uriscan_core::resolve::BaseUri;

use crate::row_lines::RowLines;

/// Records of more bytes are too long to be parsed.
const LONGEST: usize = 64;

fn filters() -> Vec<Filter> {
    let text = |text: &str| Property::pattern(text).unwrap();
    let host = |name: &str| Property::host(name).unwrap();
    vec![
        Filter::default().not(text("a")),
        Filter::default().not(text("/a")).not(text("x y")).not(text(" ")),
        Filter::default().only(text("b")),
        Filter::default().only(text("b")).only(text("http://h/a")),
        Filter::default().only(text("h")).not(text("a")),
        Filter::default().not(text("a$|^b")),
        Filter::default().not(text("a$")).not(text("b")),
        Filter::default().not(host("h")),
        Filter::default().only(Property::domain("example").unwrap()),
        Filter::default().only(Property::scheme("http").unwrap()).not(text("b")),
        Filter::default().not(text("b")).at_most(Limit::Length, 20),
        Filter::default(),
    ]
}

/// `text`, in which white space is in place of what `filter` does not keep, as `by` reads it; that is added to `filtered`.
fn blanked(text: &[u8], filter: &Filter, by: &Equivalence, filtered: &mut Filtered) -> Vec<u8> {
    let blank = |line: &[u8]| {
        let (record, end) = line.split_at(line.len() - usize::from(line.ends_with(b"\n")));
        if record.len() > LONGEST {
            let cause = filter.cause_of_overlong();
            cause.into_iter().for_each(|cause| filtered.add(cause));
            return if cause.is_some() { end.to_vec() } else { line.to_vec() };
        }
        let record = record.trim_ascii();
        let target = match &by.context {
            None => record.to_vec(),
            Some(context) => {
                let mut target = Vec::new();
                let is_target = context.append_target(record, &mut target).is_ok();
                if is_target { target } else { record.to_vec() }
            }
        };
        let cause = filter.cause(&target).filter(|_| !record.is_empty());
        cause.into_iter().for_each(|cause| filtered.add(cause));
        let is_kept = cause.is_none();
        if is_kept { line.to_vec() } else { [&b" ".repeat(line.len() - end.len()), end].concat() }
    };
    text.split_inclusive(|&byte| byte == b'\n').flat_map(blank).collect()
}

/// What a run gives: what it wrote, and its counters, without those that differ; and how many records were filtered.
type Answer = (Vec<Vec<u8>>, Result<Report, String>, Option<Filtered>);

fn answer(texts: Vec<Vec<u8>>, report: Result<Report, Error>) -> Answer {
    let report = report.map_err(|error| error.to_string());
    let alike = |report: Report| {
        let mut alike = report;
        (alike.blank, alike.bytes, alike.spilled, alike.filtered) = Default::default();
        alike
    };
    let filtered = report.as_ref().ok().map(|report| report.filtered);
    // Some jobs write a line for each, also for a blank one.
    let is_blank = |line: &&[u8]| line == b"\n";
    let full = |text: Vec<u8>| -> Vec<u8> {
        text.split_inclusive(|&byte| byte == b'\n')
            .filter(|line| !is_blank(line))
            .flatten()
            .copied()
            .collect()
    };
    let texts = texts.into_iter().map(full).collect();
    (texts, report.map(alike), filtered)
}

/// What all jobs make of `sources`, each called by its name.
fn answers(
    sources: &dyn Fn() -> Vec<Source>,
    by: &Equivalence,
    settings: &Settings,
    folder: &Path,
) -> Vec<(String, Answer)> {
    let mut found = Vec::new();
    let plain = || DedupOptions::default().equivalence(by.clone());
    let limit = MemoryLimit::new(1 << 20, folder).set_bytes(0);
    for on_invalid in [OnInvalid::Pass, OnInvalid::Drop, OnInvalid::Fail] {
        for limit in [None, Some(limit.clone())] {
            let name = format!("{on_invalid:?}, {}", limit.is_some());
            let options = plain().on_invalid(on_invalid).limit(limit);
            let mut out = Vec::new();
            let report = dedup(sources(), &options, settings, &mut Sinks::new(&mut out));
            found.push((format!("dedup {name}"), answer(vec![out], report)));
            let options = ClassOptions::default().dedup(options);
            for (keep, count) in [(Keep::First, true), (Keep::Last, false), (Keep::Min, false)] {
                let options = options.clone().keep(keep).count(count);
                let mut out = Vec::new();
                let report = classes(sources(), &options, settings, &mut Sinks::new(&mut out));
                found.push((format!("{keep:?} {name}"), answer(vec![out], report)));
                let (mut out, mut clusters) = (Vec::new(), Vec::new());
                let mut sinks = Sinks::new(&mut out).clusters(&mut clusters);
                let report = classes(sources(), &options, settings, &mut sinks);
                found.push((
                    format!("clusters {keep:?} {name}"),
                    answer(vec![out, clusters], report),
                ));
            }
            for has_rows in [false, true] {
                let (mut out, mut dupes) = (Vec::new(), RowLines::default());
                let mut sinks = Sinks::new(&mut out);
                sinks.dupes = dupes.sink(has_rows);
                let report = classes(sources(), &options, settings, &mut sinks);
                found
                    .push((format!("dupes {has_rows} {name}"), answer(vec![out, dupes.0], report)));
            }
        }
        let mut out = Vec::new();
        let report = normalize(sources(), by, on_invalid, settings, &mut Sinks::new(&mut out));
        found.push((format!("normalize {on_invalid:?}"), answer(vec![out], report)));
        let (mut out, hash) = (Vec::new(), PublicHash::Blake3);
        let report = keys(sources(), by, hash, on_invalid, settings, &mut Sinks::new(&mut out));
        found.push((format!("keys {on_invalid:?}"), answer(vec![out], report)));
    }
    found.extend(of_rows(sources, settings));
    found.extend(of_counts(sources, by, settings));
    found
}

/// What jobs make of `sources` that write a row for each record.
fn of_rows(sources: &dyn Fn() -> Vec<Source>, settings: &Settings) -> Vec<(String, Answer)> {
    let (mut found, none) = (Vec::new(), Repairs::default());
    for format in [CheckFormat::Text, CheckFormat::Jsonl] {
        let mut out = Vec::new();
        let report = check(sources(), format, none, settings, &mut Sinks::new(&mut out));
        found.push((format!("check {format:?}"), answer(vec![out], report)));
    }
    for format in [AuditFormat::Text, AuditFormat::Jsonl] {
        let (options, mut out) = (AuditOptions::default().format(format), Vec::new());
        let mut survey = Survey::new(SurveyOptions::default());
        let mut sinks = Sinks::new(&mut out).survey(&mut survey);
        let report = audit(sources(), &options, settings, &mut sinks).map(|(report, _)| report);
        let survey = format!("{:?}", survey.finish()).into_bytes();
        found.push((format!("audit {format:?}"), answer(vec![out, survey], report)));
    }
    let mut out = Vec::new();
    let report = parse(sources(), &RowFormat::Jsonl, none, settings, &mut Sinks::new(&mut out));
    found.push(("parse".to_owned(), answer(vec![out], report)));
    found
}

/// What jobs make of `sources` that count.
fn of_counts(
    sources: &dyn Fn() -> Vec<Source>,
    by: &Equivalence,
    settings: &Settings,
) -> Vec<(String, Answer)> {
    let (mut found, mut nowhere) = (Vec::new(), std::io::sink());
    let options = CensusOptions::default().context(by.context.clone());
    let all = census(sources(), &options, settings, &mut Sinks::new(&mut nowhere)).unwrap();
    let mut report = Report::default();
    (report.records, report.filtered) = (all.records, all.filtered);
    found.push(("census".to_owned(), answer(vec![format!("{:?}", all.levels).into()], Ok(report))));
    let options = TopOptions::default().by(vec![By::Host, By::WholePath]).equivalence(by.clone());
    let all = top(sources(), &options, settings, &mut Sinks::new(&mut nowhere)).unwrap();
    found
        .push(("top".to_owned(), answer(vec![format!("{:?}", all.tables).into()], Ok(all.report))));
    let mut survey = Survey::new(SurveyOptions::default().equivalence(by.clone()).merges(true));
    let options = DedupOptions::default().equivalence(by.clone());
    let mut sinks = Sinks::new(&mut nowhere).survey(&mut survey);
    let report = dedup(sources(), &options, settings, &mut sinks);
    found
        .push(("survey".to_owned(), answer(vec![format!("{:?}", survey.finish()).into()], report)));
    found
}

/// Compares what all jobs make of `lists` that are filtered with what they make of those that are blanked, from memory and from files.
fn check_lists(lists: &[Vec<u8>], filter: &Filter, by: &Equivalence, settings: &Settings) {
    let folder = tempfile::tempdir().unwrap();
    let mut filtered = Filtered::default();
    let blank: Vec<Vec<u8>> =
        lists.iter().map(|text| blanked(text, filter, by, &mut filtered)).collect();
    let stream =
        |i: usize, text: &[u8]| Source::new(format!("{i}"), std::io::Cursor::new(text.to_vec()));
    let expected = answers(
        &|| blank.iter().enumerate().map(|(i, text)| stream(i, text)).collect(),
        by,
        settings,
        folder.path(),
    );
    let path = |i: usize| folder.path().join(format!("{i}"));
    lists.iter().enumerate().for_each(|(i, text)| std::fs::write(path(i), text).unwrap());
    let file = |i: usize| Source::file(path(i)).name(format!("{i}"));
    for is_file in [false, true] {
        let source = |(i, text): (usize, &Vec<u8>)| {
            records_of(if is_file { file(i) } else { stream(i, text) }, filter, by)
        };
        let found = answers(
            &|| lists.iter().enumerate().map(source).collect(),
            by,
            settings,
            folder.path(),
        );
        for ((name, found), (_, expected)) in found.iter().zip(&expected) {
            let shown = |(texts, report, _): &Answer| {
                let texts: Vec<_> =
                    texts.iter().map(|text| String::from_utf8_lossy(text)).collect();
                format!("{report:?}\n{}", texts.join("\n--\n"))
            };
            let lists: Vec<_> = lists.iter().map(|text| String::from_utf8_lossy(text)).collect();
            let how = format!("{name}, file {is_file}, of {lists:?}");
            assert!(found.2.is_none_or(|counted| counted == filtered), "{how}: {:?}", found.2);
            let is_same = (&found.0, &found.1) == (&expected.0, &expected.1);
            assert!(is_same, "{how}:\n{}\n==\n{}", shown(found), shown(expected));
        }
    }
}

fn equivalences() -> [Equivalence; 2] {
    let base = Context::from(BaseUri::new(b"http://h/a/b").unwrap());
    [Equivalence::default(), Equivalence::default().context(base)]
}

/// Settings with chunks of a record and of many.
fn all_settings() -> impl Iterator<Item = Settings> {
    let of = |(bytes, threads)| {
        Settings::default().chunk_bytes(bytes).threads(threads).max_record(LONGEST)
    };
    [(1, 1), (40, 2)].into_iter().map(of)
}

#[test]
fn a_list_that_is_filtered_twice_has_what_both_keep() {
    let text = |text: &str| Filter::default().not(Property::pattern(text).unwrap());
    let base = Context::from(BaseUri::new(b"http://h/a").unwrap());
    let base = Equivalence::default().context(base);
    for (first, second) in [(&base, &Equivalence::default()), (&Equivalence::default(), &base)] {
        let list = Source::new("list", &b"http://h/c\nx\nhttp://i/b\n//h/d\nhttp://i/a\nd\n"[..]);
        let list =
            records_of(records_of(list, &text("/[ab]$"), first), &text("http://h/c"), second);
        let (mut out, settings) = (Vec::new(), Settings::default().max_record(LONGEST));
        let sinks = &mut Sinks::new(&mut out);
        let report = dedup(vec![list], &DedupOptions::default(), &settings, sinks).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "x\n//h/d\nd\n");
        assert_eq!(report.filtered.total(), 3);
    }
}

#[test]
fn all_filters_on_records_of_all_kinds() {
    let first = "http://h/a\n  http://i/b \r\n\nHTTP://h:80/a\nb\na\n \t\nx:b\nhttp://a.example/b%zz\nhttp://h/%7e?x y\nhttp://h\n";
    let second = "http://i/b\nhttp://I/b\nhttp://h/#a\nftp://b.example/../a\nhttp://u:b@h/?token=a\nhttp://i/b";
    let long = format!("http://h/{}\nhttp://i/b\n{}b\nhttp://I/b", "a".repeat(70), "x".repeat(300));
    for (i, filter) in filters().into_iter().enumerate() {
        for by in equivalences().into_iter().take(if i.is_multiple_of(4) { 2 } else { 1 }) {
            for settings in all_settings() {
                let lists = [first, second, &long].map(|text| text.as_bytes().to_vec());
                // Offsets differ after a long record that is left out, and an error names one.
                check_lists(&lists[..2], &filter, &by, &settings);
                check_lists(&lists[2..], &filter, &by, &settings);
                check_lists(&[b"".to_vec(), b"\n\n".to_vec()], &filter, &by, &settings);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    #[test]
    fn lists_of_all_shapes(
        lists in prop::collection::vec(
            "((|  |\t)(http://|HTTP://|ftp://|x:|//|)(h|H|i|a\\.example|u@b)?(:80)?(/a|/b|/%7e|/%zz|\\?a=b|#b|/\\.\\./| ){0,4}(|\r| \t)\n){0,12}(http://h/b)?",
            1..3,
        ),
        filter in 0..filters().len(),
        by in 0..2_usize,
    ) {
        let lists: Vec<Vec<u8>> = lists.into_iter().map(String::into_bytes).collect();
        for settings in all_settings() {
            check_lists(&lists, &filters()[filter], &equivalences()[by], &settings);
        }
    }
}
