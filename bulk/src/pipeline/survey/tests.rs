use std::collections::{BTreeMap, BTreeSet};
use std::io::{Cursor, sink};
use std::sync::Arc;

use super::*;
use crate::io::Source;
use crate::pipeline::{
    self, Aliases, AuditOptions, ClassOptions, DedupOptions, Keep, RowOptions, Settings, Sinks,
};
use uriscan_core::normalize::{Options, normalize_exact};
use uriscan_core::row::{TextFormat, TextTable};
use uriscan_core::rules::RuleSet;
use uriscan_core::uri::parse;

/// A job over some list.
type Run<'a> = &'a dyn Fn(&Settings, &mut Sinks<'_>);

/// A list with equivalent records, invalid ones, blank lines, and whatever URIs are made of.
fn list(count: u64) -> String {
    let mut state = 1u64;
    let mut next = |most: u64| {
        state =
            state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) % most
    };
    let schemes = ["http", "HTTP", "https", "ftp", "mailto", "urn"];
    let hosts =
        ["a.example", "A.example", "www.b.co.uk", "10.0.0.1", "[::1]", "c.example:80", "ü.example"];
    let paths = ["", "/", "/x", "/x/../y", "/%7eb/c/", "//d///e", "/a/b/c/d/e/f/g/h/i/j/k/l"];
    let queries = ["", "?a=1", "?a=1&b&a=2", "?utm_source=x&id=7", "?x='y&z'", "?", "?&&=&a"];
    let mut text = String::new();
    for _ in 0..count {
        let scheme = schemes[next(6) as usize];
        let (host, path) = (hosts[next(7) as usize], paths[next(7) as usize]);
        let query = queries[next(7) as usize];
        let number = next(40);
        text += &match next(12) {
            0 => "no uri\n".to_owned(),
            1 => "/relative\n".to_owned(),
            2 => " \r\n".to_owned(),
            3 => format!("http://h/%{number}g\n"),
            4 => format!("{scheme}:x{number}@h.example\n"),
            5 => format!("  {scheme}://{host}/{number} \r\n"),
            _ => format!("{scheme}://{host}{path}{query}\n"),
        };
    }
    text
}

/// What a survey of a run of `job` finds.
fn survey_of(
    options: &SurveyOptions,
    settings: &Settings,
    job: &dyn Fn(&Settings, &mut Sinks<'_>),
) -> Overview {
    let mut survey = Survey::new(options.clone());
    let mut out = sink();
    job(settings, &mut Sinks::new(&mut out).survey(&mut survey));
    survey.finish()
}

/// Settings of several numbers of threads and sizes of chunks.
fn all_settings() -> Vec<Settings> {
    let settings = |(threads, chunk)| Settings::default().threads(threads).chunk_bytes(chunk);
    [(1, 1 << 20), (1, 100), (2, 777), (3, 4_000), (2, 1 << 14)].map(settings).into()
}

fn sources(text: &str) -> Vec<Source> {
    let cut = text.len() / 3;
    let cut = text[cut..].find('\n').map_or(text.len(), |at| cut + at + 1);
    let (one, other) = text.split_at(cut);
    let source = |name: &str, text: &str| Source::new(name, Cursor::new(text.to_owned()));
    vec![source("one", one), source("other", other)]
}

/// The slow twin: everything from the list, record by record.
fn slow(text: &str, options: &SurveyOptions) -> Overview {
    let mut found = Overview::default();
    let mut parts: [BTreeMap<Vec<u8>, u64>; 4] = Default::default();
    let mut groups: BTreeMap<Vec<u8>, Vec<&[u8]>> = BTreeMap::new();
    let mut order: Vec<Vec<u8>> = Vec::new();
    let cut = sources_cut(text);
    for (i, line) in text.split_terminator('\n').enumerate() {
        let record = line.trim_ascii().as_bytes();
        if record.is_empty() {
            continue;
        }
        found.lengths.add(record.len());
        let mut form = Vec::new();
        let Options { level, drop_fragment, .. } = options.equivalence.normalize;
        let done = normalize_exact(record, level, drop_fragment, &mut form);
        if let Some(rules) = &options.equivalence.rules {
            form = rules.apply(&form, &mut Default::default()).0.to_vec();
        }
        if let Err(error) = done {
            found.invalid.add(error.kind);
            if Fault::is_wanted(&found.faults, error.kind) {
                let (source, line) = if i < cut { ("one", i + 1) } else { ("other", i - cut + 1) };
                let (source, record) = (source.to_owned(), record.to_vec());
                found.faults.push(Fault { error, source, line: line as u64, record });
            }
            form = record.to_vec();
        } else {
            found.counted += 1;
            let of = parse(&form).unwrap();
            let mut count = |part: usize, text: &[u8]| {
                *parts[part].entry(text.to_vec()).or_default() += 1;
            };
            count(0, of.scheme(&form).unwrap());
            match of.host(&form).filter(|host| !host.is_empty()) {
                None => found.absent_hosts += 1,
                Some(host) => {
                    count(1, host);
                    match ends(host).domain {
                        Some(domain) => count(2, domain),
                        None => found.absent_domains += 1,
                    }
                }
            }
            let mut masked = Vec::new();
            uriscan_core::audit::redact_into(&form, &mut masked);
            let query = parse(&masked).unwrap().query(&masked).unwrap_or_default().to_vec();
            let names: BTreeSet<&[u8]> = query
                .split(|&byte| byte == b'&')
                .filter(|param| !param.is_empty())
                .map(|param| param.split(|&byte| byte == b'=').next().unwrap())
                .collect();
            names.into_iter().for_each(|name| count(3, name));
            let path = of.path(&form);
            if path.first().is_none_or(|&byte| byte == b'/') {
                let depth = path.split(|&byte| byte == b'/').filter(|it| !it.is_empty()).count();
                if !path.is_empty() || of.authority_start > 0 {
                    found.depths[depth.min(Overview::DEPTHS - 1)] += 1;
                    let is_deep = depth >= Overview::DEPTHS - 1;
                    found.repeating +=
                        u64::from(is_deep && uriscan_core::shape::is_repeating(path));
                }
            }
        }
        if !groups.contains_key(&form) {
            order.push(form.clone());
        }
        groups.entry(form).or_default().push(record);
    }
    let frequency = |map: &BTreeMap<Vec<u8>, u64>| {
        let mut rows: Vec<(Vec<u8>, u64)> = map.clone().into_iter().collect();
        rows.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        rows.truncate(options.most);
        Frequency { rows, distinct: Some(map.len() as u64), missed: 0 }
    };
    [found.schemes, found.hosts, found.domains, found.params] = parts.each_ref().map(frequency);
    if options.merges {
        let records: u64 = groups.values().map(|group| group.len() as u64).sum();
        let kept_of = |group: &Vec<&[u8]>| -> Vec<u8> {
            let replaces = |kept, record| match options.keep.replaces(record, kept) {
                true => record,
                false => kept,
            };
            group.iter().copied().reduce(replaces).unwrap().to_vec()
        };
        let same = groups.values().map(|group| {
            let kept = kept_of(group);
            group.iter().filter(|record| **record == kept).count() as u64 - 1
        });
        let mut largest: Vec<(Vec<u8>, u64)> = groups
            .values()
            .filter(|group| group.len() > 1)
            .map(|group| (kept_of(group), group.len() as u64))
            .collect();
        largest.sort_by(|a, b| (b.1, &a.0).cmp(&(a.1, &b.0)));
        largest.truncate(options.most);
        found.groups = Some(Groups {
            keep: options.keep,
            is_all: true,
            groups: groups.len() as u64,
            records,
            duplicates: records - groups.len() as u64,
            same: same.sum(),
            largest,
            ..Groups::default()
        });
    }
    found
}

/// Lines of the first source.
fn sources_cut(text: &str) -> usize {
    let cut = text.len() / 3;
    text[..cut + text[cut..].find('\n').unwrap()].matches('\n').count() + 1
}

/// `found` without what says why records are equivalent, which the slow twin does not know.
fn without_reasons(mut found: Overview) -> Overview {
    if let Some(groups) = &mut found.groups {
        groups.levels.clear();
        groups.steps.clear();
        groups.unexplained = 0;
    }
    found
}

/// Compares field by field, so that a failure shows one of them.
#[track_caller]
fn assert_same(found: &Overview, expected: &Overview) {
    assert_eq!(found.faults, expected.faults);
    assert_eq!((&found.lengths, found.depths), (&expected.lengths, expected.depths));
    assert_eq!(found.repeating, expected.repeating);
    assert_eq!((&found.schemes, &found.hosts), (&expected.schemes, &expected.hosts));
    assert_eq!((&found.domains, &found.params), (&expected.domains, &expected.params));
    assert_eq!(found.groups, expected.groups);
    assert_eq!(found, expected);
}

#[test]
fn a_survey_agrees_with_the_reference_however_the_input_is_cut() {
    let text = list(3_000);
    let mut rules = RuleSet::builder();
    rules.rule("drop-param=utm_*").unwrap();
    let rules = Equivalence::default().rules(Some(Arc::new(rules.build().unwrap())));
    for equivalence in [Equivalence::default(), rules] {
        let options = SurveyOptions::default().equivalence(equivalence.clone()).merges(true);
        let expected = slow(&text, &options);
        assert!(expected.counted > 1_000 && expected.invalid.total() > 200);
        let dedup = DedupOptions::default().equivalence(equivalence.clone());
        let classes = ClassOptions::default().dedup(dedup.clone()).count(true).keep(Keep::Last);
        let jobs: [Run<'_>; 3] = [
            &|settings, sinks| {
                pipeline::dedup(sources(&text), &dedup, settings, sinks).unwrap();
            },
            &|settings, sinks| {
                pipeline::classes(sources(&text), &classes, settings, sinks).unwrap();
            },
            &|settings, sinks| {
                pipeline::check(
                    sources(&text),
                    Default::default(),
                    Default::default(),
                    settings,
                    sinks,
                )
                .unwrap();
            },
        ];
        for job in jobs {
            let mut first = None;
            for settings in all_settings() {
                let found = survey_of(&options, &settings, job);
                assert_same(&without_reasons(found.clone()), &expected);
                assert_eq!(*first.get_or_insert(found.clone()), found);
            }
        }
    }
}

#[test]
fn duplicates_are_compared_with_the_record_that_is_kept() {
    let text = list(3_000);
    for keep in [Keep::First, Keep::Last, Keep::Shortest, Keep::Https, Keep::Min, Keep::Max] {
        let options = SurveyOptions::default().merges(true).keep(keep);
        let expected = slow(&text, &options);
        let classes = ClassOptions::default().keep(keep);
        let mut written = Vec::new();
        for settings in all_settings() {
            let mut survey = Survey::new(options.clone());
            written.clear();
            let mut sinks = Sinks::new(&mut written).survey(&mut survey);
            pipeline::classes(sources(&text), &classes, &settings, &mut sinks).unwrap();
            let found = survey.finish();
            assert_same(&without_reasons(found.clone()), &expected);
            let groups = found.groups.unwrap();
            let kept: BTreeSet<&[u8]> =
                written.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii).collect();
            for [duplicate, shown] in groups.steps.iter().flat_map(|step| &step.examples) {
                assert!(kept.contains(&**shown) && duplicate != shown, "{keep:?}");
            }
        }
    }
}

#[test]
fn what_aliases_merge_is_named_and_not_unexplained() {
    let text = "http://old.example/a\nhttp://h/\nHTTP://OLD.example/a\nhttp://new.example/a\nhttp://older.example/\nHTTP://h\n";
    let rows = "from\tto\nhttp://old.example/a\thttp://new.example/a\nhttp://older.example/\thttp://old.example/a\n";
    let hasher = uriscan_core::key::Hasher::random();
    for keeps in [true, false] {
        let settings = Settings::default();
        let open = || Source::new("aliases", Cursor::new(rows));
        let of_rfc = Equivalence::default();
        let read = Aliases::read(&open, &of_rfc, hasher.clone(), keeps, &settings, &mut |_, _| ());
        let equivalence = Equivalence::default().aliases(Some(Arc::new(read.unwrap())));
        let options = SurveyOptions::default().equivalence(equivalence.clone()).merges(true);
        let dedup = DedupOptions::default().equivalence(equivalence);
        for settings in all_settings() {
            let found = survey_of(&options, &settings, &|settings, sinks| {
                pipeline::dedup(sources(text), &dedup, settings, sinks).unwrap();
            });
            // Parts are those of the records themselves.
            let host = (b"old.example".to_vec(), 2);
            assert_eq!((found.counted, &found.hosts.rows[1]), (6, &host));
            let Some(groups) = found.groups.filter(|_| keeps) else { continue };
            assert_eq!((groups.groups, groups.duplicates, groups.same), (2, 4, 0));
            assert_eq!((groups.aliased, groups.unexplained), (2, 0));
            let by_alias = groups.steps.iter().find(|step| step.step.name == "alias").unwrap();
            assert_eq!((by_alias.count, by_alias.alone), (2, 2));
            let first = b"http://old.example/a".to_vec();
            assert_eq!(by_alias.examples[0], [b"http://new.example/a".to_vec(), first]);
        }
    }
}

#[test]
fn duplicates_are_counted_by_what_they_need() {
    let text =
        "http://h/x\nhttp://h/x\nHTTP://h:80/x\nhttp://H/x\nhttp://i/?utm_source=1\nhttp://i/\n";
    let mut rules = RuleSet::builder();
    rules.rule("drop-param=utm_*").unwrap();
    let equivalence = Equivalence::default().rules(Some(Arc::new(rules.build().unwrap())));
    let options = SurveyOptions::default().equivalence(equivalence.clone()).merges(true);
    let dedup = DedupOptions::default().equivalence(equivalence);
    let found = survey_of(&options, &Settings::default(), &|settings, sinks| {
        pipeline::dedup(sources(text), &dedup, settings, sinks).unwrap();
    });
    let groups = found.groups.unwrap();
    assert_eq!((groups.groups, groups.duplicates, groups.same, groups.unexplained), (2, 4, 1, 0));
    let levels: Vec<_> =
        groups.levels.iter().map(|it| (it.level.map(|it| it.name()), it.count)).collect();
    assert_eq!(levels, [(Some("syntax"), 1), (Some("scheme"), 1), (None, 1)]);
    let steps: Vec<_> = groups.steps.iter().map(|it| (it.step.name, it.count, it.alone)).collect();
    assert_eq!(
        steps,
        [("default-port", 1, 0), ("drop-param", 1, 1), ("host-case", 1, 1), ("scheme-case", 1, 0)]
    );
    let examples = &groups.steps[1].examples;
    assert_eq!(examples, &[[b"http://i/".to_vec(), b"http://i/?utm_source=1".to_vec()]]);
}

#[test]
fn a_sample_does_not_depend_on_how_the_input_is_cut() {
    let text: String = (0..30_000u64)
        .map(|i| {
            format!(
                "{}://h{}.example/{}\n",
                ["http", "HTTP"][(i % 2) as usize],
                i * i % 4_999,
                i % 7_001 / 3
            )
        })
        .collect();
    let text = text + &"http://often.example/\n".repeat(9_000);
    let options = SurveyOptions::default().merges(true).bytes(256 << 10);
    let dedup = DedupOptions::default();
    let job = |settings: &Settings, sinks: &mut Sinks<'_>| {
        pipeline::dedup(sources(&text), &dedup, settings, sinks).unwrap();
    };
    let all: Vec<Overview> =
        all_settings().iter().map(|settings| survey_of(&options, settings, &job)).collect();
    assert!(all.iter().all(|found| *found == all[0]));
    let exact = slow(&text, &options);
    let (found, of_all) = (all[0].clone(), exact.groups.unwrap());
    let groups = found.groups.unwrap();
    assert!(!groups.is_all && groups.groups < of_all.groups && groups.groups > 100);
    let share = |groups: &Groups| groups.duplicates as f64 / groups.records as f64;
    // One group has a quarter of all records, and may be in the sample or not.
    assert!((0.0..1.0).contains(&share(&groups)));
    assert!(found.hosts.missed > 0 && found.hosts.distinct.is_none());
    let (name, count) = &found.hosts.rows[0];
    assert_eq!(name, b"often.example");
    assert!(*count <= 9_000 && count + found.hosts.missed >= 9_000, "{count}");
    let (name, count) = &groups.largest[0];
    assert_eq!(name, b"http://often.example/");
    assert_eq!(groups.largest_of, LargestOf::Estimated);
    assert!((6_000..12_000).contains(count), "{count}");
    // Without large groups, those of the sample are exact.
    let text: String = (0..40_000u64).map(|i| format!("http://h{}.example/\n", i / 3)).collect();
    let found = survey_of(&options, &Settings::default(), &|settings, sinks| {
        pipeline::dedup(sources(&text), &dedup, settings, sinks).unwrap();
    });
    let groups = found.groups.unwrap();
    assert!(!groups.is_all && groups.largest.len() == 15);
    assert_eq!((groups.largest_of, groups.largest[0].1), (LargestOf::Sample, 3));
}

#[test]
fn hostile_records_take_no_more_memory_and_secrets_are_not_counted_as_names() {
    let params: String = (0..50_000).map(|i| format!("&p{}=1", i % 20_000)).collect();
    let long = format!("http://{}.example/{}", "h".repeat(60), "y".repeat(1 << 20));
    let text = format!(
        "http://h/?{params}\n{long}\n{long}\nhttp://h/?d='token':'a&SECRET'\nhttp://h/?u=http://u:a&SECRET@i/\n\
         http://h/?http%3A%2F%2Fu%3Aa&SECRET%40i\nhttp://h/?http%253A%252F%252Fu%253Aa&SECRET%2540i\n"
    );
    let options = SurveyOptions::default().merges(true);
    for settings in [Settings::default(), Settings::default().max_record(1 << 19)] {
        let found = survey_of(&options, &settings, &|settings, sinks| {
            pipeline::dedup(sources(&text), &DedupOptions::default(), settings, sinks).unwrap();
        });
        assert!(found.params.rows.iter().all(|(name, _)| !name.starts_with(b"SECRET")));
        let too_long = found.invalid.of(UriErrorKind::TooLong);
        let groups = found.groups.unwrap();
        match settings.max_record < 1 << 20 {
            true => assert_eq!((too_long, found.faults[0].line, groups.duplicates), (2, 2, 0)),
            false => {
                assert_eq!(found.counted, 7);
                assert_eq!((too_long, groups.duplicates, groups.unexplained), (0, 1, 1));
            }
        }
    }
}

proptest::proptest! {
    #[test]
    fn names_of_parameters_are_those_of_masked_records(
        pieces in proptest::collection::vec(proptest::sample::select(QUERY_PIECES), 1..12),
    ) {
        let record = format!("http://h/?{}", pieces.concat());
        let form = uriscan_core::normalize::Normalizer::new(Options::default());
        let Ok(form) = { form }.normalize(record.as_bytes()).map(<[u8]>::to_vec) else { return Ok(()) };
        let mut masked = Vec::new();
        uriscan_core::audit::redact_into(&form, &mut masked);
        let names: BTreeSet<&[u8]> = masked["http://h/?".len()..]
            .split(|&byte| byte == b'&')
            .map(|param| param.split(|&byte| byte == b'=').next().unwrap())
            .collect();
        let found = survey_of(&SurveyOptions::default(), &Settings::default(), &|settings, sinks| {
            let list = vec![Source::new("list", Cursor::new(record.clone()))];
            pipeline::dedup(list, &DedupOptions::default(), settings, sinks).unwrap();
        });
        for (name, _) in &found.params.rows {
            let name: &[u8] = name;
            proptest::prop_assert!(names.contains(name), "{} {}", record, name.escape_ascii());
        }
    }
}

/// What queries with secrets are made of.
const QUERY_PIECES: &[&str] = &[
    "token",
    "password",
    "sid",
    "code",
    "state",
    "S3CR3TZZ9",
    "u:",
    "//",
    "http:",
    "=",
    "%3D",
    "%3d",
    "%253D",
    "&",
    "%26",
    "?",
    "%3F",
    "%22",
    "'",
    "@",
    "%40",
    "/",
    ":",
    "%3A",
    "%2F",
    "x",
    "1",
    "%25",
    "+",
];

#[test]
fn rows_of_tables_are_surveyed_by_their_uris() {
    let rows = "id,url\n1,http://h\n2,\"HTTP://H:80/\"\n3,\n4,\"a\nb\"\n5,\"http://h/\"\"\"\n";
    let table = RowOptions::new(TextTable::new(TextFormat::Csv, "url"));
    for settings in all_settings() {
        let options = SurveyOptions::default().merges(true);
        let found = survey_of(&options, &settings, &|settings, sinks| {
            let rows = vec![Source::new("rows", Cursor::new(rows.to_owned()))];
            let options = DedupOptions::default();
            pipeline::dedup_rows(rows, &table, &options, None, settings, sinks).unwrap();
        });
        assert_eq!((found.counted, found.invalid.total()), (2, 2));
        assert_eq!(found.groups.unwrap().duplicates, 1);
        let lines: Vec<u64> = found.faults.iter().map(|fault| fault.line).collect();
        assert_eq!(lines, [5, 7]);
    }
}

#[test]
fn findings_have_examples_with_their_lines() {
    let text = "http://h/\nhttp://u:p@h/\n\nhttp://0x7f.1/\n".repeat(5);
    for settings in all_settings() {
        let options = SurveyOptions::default();
        let found = survey_of(&options, &settings, &|settings, sinks| {
            let list = vec![Source::new("list", Cursor::new(text.clone()))];
            pipeline::audit(list, &AuditOptions::default(), settings, sinks).unwrap();
        });
        let of = |rule| -> Vec<u64> {
            let of_rule = found.findings.iter().filter(|found| found.rule == rule);
            of_rule.map(|found| found.line).collect()
        };
        assert_eq!(of(uriscan_core::audit::Rule::RareIpv4), [4, 8, 12]);
    }
}
