use std::collections::BTreeMap;

use super::*;

fn count_of(text: &str, options: &TopOptions, settings: &Settings) -> Top {
    let sources = vec![Source::new("list", std::io::Cursor::new(text.to_owned()))];
    top(sources, options, settings, &mut Sinks::new(&mut std::io::sink())).unwrap()
}

/// 40,000 records of which every fourth has one of five hosts, and the others have hosts of their own.
fn all_distinct() -> String {
    let host =
        |i: u64| if i.is_multiple_of(4) { format!("host{}", i % 5) } else { format!("h{i}") };
    (0..40_000).map(|i| format!("http://{}/{i}\n", host(i))).collect()
}

#[test]
fn hostile_hosts_stay_within_the_limit_and_frequent_ones_are_found() {
    let text = all_distinct();
    let exact = count_of(&text, &TopOptions::default().most(5), &Settings::default());
    assert_eq!((exact.tables[0].distinct, exact.tables[0].error), (Some(30_005), 0));
    let counts: Vec<u64> = exact.tables[0].rows.iter().map(|row| row.count).collect();
    assert_eq!(counts, [2_000; 5]);
    let limit = MemoryLimit::new(1 << 30, std::env::temp_dir()).set_bytes(1 << 20);
    let options = TopOptions::default().most(5).limit(limit);
    let mut results = Vec::new();
    for (threads, chunk) in [(1, 100), (2, 4_000), (3, 1 << 20)] {
        let settings = Settings::default().threads(threads).chunk_bytes(chunk);
        results.push(count_of(&text, &options, &settings));
    }
    let table = &results[0].tables[0];
    assert!(table.distinct.is_none() && table.error > 0 && table.error < 100, "{}", table.error);
    for row in &table.rows {
        assert!(row.value.as_deref().unwrap().starts_with(b"host"));
        assert!(row.count >= 2_000 && row.count - row.error <= 2_000);
    }
    assert!(results.iter().all(|found| *found == results[0]));
}

#[test]
fn distinct_counts_classes_and_totals_count_records() {
    let text = "http://h\nHTTP://h:80/\nhttp://h/x\nno uri\nno uri\n\nhttp://i\n";
    let options = TopOptions::default().distinct(true);
    let found = count_of(text, &options, &Settings::default());
    let rows: BTreeMap<_, _> =
        found.tables[0].rows.iter().map(|row| (row.value.clone().unwrap(), row.count)).collect();
    assert_eq!(rows, BTreeMap::from([(b"h".to_vec(), 2), (b"i".to_vec(), 1)]));
    assert_eq!(found.counted, 3);
    let Report { records, blank, duplicates, invalid, written, .. } = found.report;
    assert_eq!((records, blank, duplicates, invalid.total(), written), (6, 1, 2, 2, 0));
}

#[test]
fn an_invalid_record_ends_the_run_if_so_asked() {
    for distinct in [false, true] {
        let options = TopOptions::default().on_invalid(OnInvalid::Fail).distinct(distinct);
        let sources = vec![Source::new("list", &b"http://h\na b\n"[..])];
        let mut out = std::io::sink();
        let error = top(sources, &options, &Settings::default(), &mut Sinks::new(&mut out));
        assert_eq!(error.unwrap_err().line(), Some(2));
    }
}

#[test]
fn masked_values_are_those_of_records_with_their_secrets_masked() {
    let text = "http://h/?a=1\nhttp://h/?d='token':'a&SECRET'\nHTTP://h/?a&token=b\n";
    for distinct in [false, true] {
        let options = TopOptions::default().by(vec![By::Param]).masked(true).distinct(distinct);
        let found = count_of(text, &options, &Settings::default());
        let values = |table: &TopTable| -> Vec<(Vec<u8>, u64)> {
            table.rows.iter().map(|row| (row.value.clone().unwrap(), row.count)).collect()
        };
        let of = |texts: &[(&str, u64)]| -> Vec<(Vec<u8>, u64)> {
            texts.iter().map(|&(text, count)| (text.as_bytes().to_vec(), count)).collect()
        };
        let tables = [&found.tables[..], &found.masked].map(|tables| values(&tables[0]));
        assert_eq!(tables[0], of(&[("a", 2), ("SECRET'", 1), ("d", 1), ("token", 1)]));
        assert_eq!(tables[1], of(&[("a", 2), ("d", 1), ("token", 1)]));
        assert_eq!((found.tables.len(), found.masked.len(), found.counted), (1, 1, 3));
    }
}

#[test]
fn forms_of_many_megabytes_are_counted_as_short_ones() {
    let text: String =
        (0..4000).map(|i| format!("p{}\n{}", i % 3, "a b\n\n".repeat(i % 2))).collect();
    let of = |base: String| {
        let options = uriscan_core::resolve::Options::default();
        let base = uriscan_core::resolve::BaseUri::new(base.as_bytes()).unwrap();
        let context = uriscan_core::context::Context::Base { base, options };
        let equivalence = Equivalence::default().context(Some(context));
        let options =
            TopOptions::default().by(vec![By::Host, By::Path(1)]).equivalence(equivalence);
        let found = count_of(&text, &options, &Settings::default());
        (found.report.records, found.report.blank, found.report.invalid.total(), found.tables)
    };
    let (short, long) =
        (of("http://h/a/".to_owned()), of(format!("http://h/a/{}/", "b".repeat(3000))));
    assert_eq!(short, long);
    assert_eq!((short.0, short.1, short.2, short.3[0].rows[0].count), (6000, 2000, 2000, 4000));
}
