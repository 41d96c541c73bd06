//! Tests `classes` against a model on maps of whole strings: what is kept, what is dropped and why,
//! on small lists, the corpora and real lists.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::MultiGzDecoder;
use proptest::prelude::*;
use serde_json::{Value, json};
use uriscan::explain::{Comparison, compare};
use uriscan::key::PublicHash;
use uriscan::normalize::{Level, Options};
use uriscan::set::SetWriter;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    ClassOptions, DedupOptions, Keep, MemberOptions, MemoryLimit, OnInvalid, Report, Seen, Select,
    Settings, Sinks, classes, classes_unseen, collect, dedup,
};
use uriscan_core::normalize::normalize_exact;

use crate::pairs::{Combinations, by_pairs};

/// A named list.
type List = (&'static str, Vec<u8>);

/// The output: results, dupes, clusters.
type Answers = [Vec<u8>; 3];

fn options(level: Level, drop_fragment: bool, keep: Keep) -> ClassOptions {
    let equivalence = Options::new(level).drop_fragment(drop_fragment).into();
    let dedup = DedupOptions::default().equivalence(equivalence);
    ClassOptions::default().dedup(dedup).keep(keep)
}

fn sources(lists: &[List]) -> Vec<Source> {
    let source = |(name, text): &List| Source::new(*name, std::io::Cursor::new(text.clone()));
    lists.iter().map(source).collect()
}

fn run(lists: &[List], options: &ClassOptions, settings: &Settings) -> (Answers, Report) {
    let (mut out, mut dupes, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
    let mut sinks = Sinks::new(&mut out).dupes(&mut dupes).clusters(&mut clusters);
    let report = classes(sources(lists), options, settings, &mut sinks).unwrap();
    ([out, dupes, clusters], report)
}

/// The results alone, from sources that are read once or, if they are files, twice.
fn results(sources: Vec<Source>, options: &ClassOptions, settings: &Settings) -> (Vec<u8>, Report) {
    let mut out = Vec::new();
    let report = classes(sources, options, settings, &mut Sinks::new(&mut out)).unwrap();
    (out, report)
}

/// Files with these texts in `folder`.
fn files(lists: &[List], folder: &Path) -> Vec<Source> {
    let file = |(name, text): &List| {
        let path = folder.join(name);
        std::fs::write(&path, text).unwrap();
        Source::file(path)
    };
    lists.iter().map(file).collect()
}

/// A record and its position.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Record {
    source: &'static str,
    line: u64,
    text: Vec<u8>,
}

fn is_white(byte: u8) -> bool {
    matches!(byte, b' ' | 9..=13)
}

/// The records of `lists`, as the contract defines them.
fn records(lists: &[List]) -> Vec<Record> {
    let mut records = Vec::new();
    for (source, text) in lists {
        let text = text.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(text);
        for (i, line) in text.split(|&byte| byte == b'\n').enumerate() {
            let start = line.iter().position(|&byte| !is_white(byte)).unwrap_or(line.len());
            let end = line.iter().rposition(|&byte| !is_white(byte)).map_or(start, |at| at + 1);
            if start < end {
                let text = line[start..end].to_vec();
                records.push(Record { source, line: i as u64 + 1, text });
            }
        }
    }
    records
}

/// The form by which `text` is compared, and whether it is a URI.
fn form(text: &[u8], level: Level, drop_fragment: bool) -> (bool, Vec<u8>) {
    let mut form = Vec::new();
    match normalize_exact(text, level, drop_fragment, &mut form) {
        Ok(()) => (true, form),
        Err(_) => (false, text.to_vec()),
    }
}

fn lowest_level(a: &[u8], b: &[u8], options: Options) -> Level {
    let is_one = |level: &Level| {
        form(a, *level, options.drop_fragment) == form(b, *level, options.drop_fragment)
    };
    let lowest = Level::ALL.into_iter().find(is_one).expect("they are of one class");
    assert!(lowest <= options.level);
    // Equivalence at a level implies equivalence above it, so the level below is the last one
    // without.
    assert!(Level::ALL.iter().all(|level| (*level >= lowest) == is_one(level)));
    lowest
}

fn is_https(text: &[u8]) -> bool {
    text.len() >= 6 && text[..6].eq_ignore_ascii_case(b"https:")
}

fn survivor(members: &[Record], keep: Keep) -> usize {
    match keep {
        Keep::First => 0,
        Keep::Last => members.len() - 1,
        Keep::Shortest => {
            let shortest = members.iter().map(|member| member.text.len()).min();
            members.iter().position(|member| Some(member.text.len()) == shortest).unwrap()
        }
        Keep::Https => members.iter().position(|member| is_https(&member.text)).unwrap_or(0),
        Keep::Min | Keep::Max => {
            let texts = || members.iter().map(|member| &member.text);
            let best = if keep == Keep::Min { texts().min() } else { texts().max() };
            texts().position(|text| Some(text) == best).unwrap()
        }
    }
}

fn text_of(name: &str, hex_name: &str, text: &[u8], object: &mut Value) {
    match std::str::from_utf8(text) {
        Ok(text) => object[name] = json!(text),
        Err(_) => {
            object[name] = Value::Null;
            let hex: String = text.iter().map(|byte| format!("{byte:02x}")).collect();
            object[hex_name] = json!(hex);
        }
    }
}

/// The expected output of [`classes`], with the clusters as values.
fn model(lists: &[List], options: &ClassOptions) -> (Vec<u8>, Vec<u8>, Vec<Value>) {
    let rules = options.dedup.equivalence.normalize;
    let mut by_form: BTreeMap<(bool, Vec<u8>), Vec<Record>> = BTreeMap::new();
    let mut order = BTreeMap::new();
    for (i, record) in records(lists).into_iter().enumerate() {
        let form = form(&record.text, rules.level, rules.drop_fragment);
        if options.dedup.on_invalid == OnInvalid::Drop && !form.0 {
            continue;
        }
        order.insert((record.source, record.line), i);
        by_form.entry(form).or_default().push(record);
    }
    let place = |record: &Record| order[&(record.source, record.line)];
    let (mut kept, mut left_out) = (BTreeMap::new(), BTreeMap::new());
    for members in by_form.values() {
        let survivor = &members[survivor(members, options.keep)];
        let mut cluster = json!({});
        text_of("kept", "kept_hex", &survivor.text, &mut cluster);
        cluster["count"] = json!(members.len());
        let mut rows = Vec::new();
        for member in members {
            let kept = rules.drop_fragment(false);
            let is_by_level = member.text == survivor.text
                || form(&member.text, rules.level, false)
                    == form(&survivor.text, rules.level, false);
            let mut row = json!({});
            row["source"] = json!(member.source);
            row["line"] = json!(member.line);
            text_of("uri", "hex", &member.text, &mut row);
            let name = match is_by_level {
                true => lowest_level(&member.text, &survivor.text, kept).name(),
                false => "rules",
            };
            row["level"] = json!(name);
            let steps = match compare(&member.text, &survivor.text, rules) {
                Comparison::Equivalent { steps, .. } => steps,
                Comparison::Different { .. } => panic!("{member:?}"),
            };
            assert_eq!(steps.is_empty(), member.text == survivor.text);
            assert_eq!(steps.iter().all(|step| step.level.is_some()), is_by_level);
            row["rules"] = steps.iter().map(|step| step.name).collect();
            rows.push(row);
            if member != survivor {
                let why = if name == "rules" { "rules:fragment" } else { name };
                let line = [&member.text, &b"\t"[..], &survivor.text, b"\t", why.as_bytes()];
                left_out.insert(place(member), line.concat());
            }
        }
        cluster["members"] = json!(rows);
        let is_wanted = match options.select {
            Select::All => true,
            Select::Repeated => members.len() > 1,
            Select::Unique => members.len() == 1,
        };
        if is_wanted {
            let count = if options.count { format!("{:7} ", members.len()) } else { String::new() };
            let line = [count.as_bytes(), &survivor.text].concat();
            kept.insert(place(survivor), (line, cluster));
        }
    }
    let lines =
        |lines: Vec<Vec<u8>>| lines.into_iter().flat_map(|line| [line, b"\n".to_vec()].concat());
    let (kept, clusters): (Vec<_>, Vec<_>) = kept.into_values().unzip();
    (lines(kept).collect(), lines(left_out.into_values().collect()).collect(), clusters)
}

#[track_caller]
fn agrees(lists: &[List], options: &ClassOptions, settings: &Settings) {
    let (expected_out, expected_dupes, expected_clusters) = model(lists, options);
    let ([out, dupes, clusters], report) = run(lists, options, settings);
    let how = format!("{:?} {:?} {:?}", options.keep, options.select, options.dedup.equivalence);
    let shown = String::from_utf8_lossy;
    assert!(out == expected_out, "{how}: {}\n{}", shown(&out), shown(&expected_out));
    assert!(dupes == expected_dupes, "{how}: {}\n{}", shown(&dupes), shown(&expected_dupes));
    let lines = clusters.split_inclusive(|&byte| byte == b'\n');
    let values: Vec<Value> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
    assert!(values == expected_clusters, "{how}");
    assert_eq!(report.written as usize, values.len());
    let dropped =
        if options.dedup.on_invalid == OnInvalid::Drop { report.invalid.total() } else { 0 };
    assert_eq!(report.records, report.written + report.withheld + report.duplicates + dropped);
    let left_out = dupes.split_inclusive(|&byte| byte == b'\n').count();
    assert_eq!(report.duplicates as usize, left_out);
    // The same without side files: texts are held in memory, or the files are read again. And under
    // a limit, on disk.
    let folder = tempfile::tempdir().unwrap();
    let limit = MemoryLimit::new(1 << 20, folder.path()).set_bytes(0);
    let dedup = options.dedup.clone().limit(limit);
    let limited = options.clone().dedup(dedup);
    for options in [options, &limited] {
        for sources in [sources(lists), files(lists, folder.path())] {
            let (out, mut alone) = results(sources, options, settings);
            assert!(out == expected_out, "{how}: {}\n{}", shown(&out), shown(&expected_out));
            alone.spilled = 0;
            assert_eq!(alone, report);
        }
    }
    let ([out, dupes_aside, clusters_aside], _) = run(lists, &limited, settings);
    assert!(out == expected_out && dupes_aside == dupes, "{how}");
    assert!(clusters_aside == clusters, "{how}");
}

#[test]
fn a_file_that_changes_between_two_readings_is_reported() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("list");
    std::fs::write(&path, "a:1\na:1\na:2\n").unwrap();
    // It is changed when the second source is opened, after it has been read once.
    let changed = path.clone();
    let last = Source::file(&path).early(false).open(move || {
        std::fs::write(&changed, "a:1\na:1\n")?;
        Ok(std::io::empty())
    });
    let sources = vec![Source::file(path), last];
    let options = ClassOptions::default().count(true);
    let mut out = Vec::new();
    let reported = classes(sources, &options, &Settings::default(), &mut Sinks::new(&mut out));
    assert!(reported.unwrap_err().to_string().contains("changed while it was read twice"));
}

/// Checks that, with the classes of `past` seen before, the results are those of the lists without
/// the lines of these classes, and that the output counts as seen afterwards.
#[track_caller]
fn agrees_on_the_unseen(past: &[u8], lists: &[List], options: &ClassOptions, settings: &Settings) {
    let Options { level, drop_fragment, .. } = options.dedup.equivalence.normalize;
    let form = |text: &[u8]| form(text, level, drop_fragment);
    let seen: BTreeSet<_> =
        records(&[("past", past.to_vec())]).iter().map(|record| form(&record.text)).collect();
    let is_seen = |line: &[u8]| seen.contains(&form(line.trim_ascii()));
    let blank = |(name, text): &List| {
        let lines = text.split(|&byte| byte == b'\n');
        let lines: Vec<&[u8]> = lines.map(|line| if is_seen(line) { b"" } else { line }).collect();
        (*name, lines.join(&b'\n'))
    };
    let unseen: Vec<List> = lists.iter().map(blank).collect();
    let (expected_out, expected_dupes, _) = model(&unseen, options);
    let ([_, _, expected_clusters], expected) = run(&unseen, options, settings);
    let gone: Vec<Vec<u8>> =
        records(lists).into_iter().map(|record| record.text).filter(|text| is_seen(text)).collect();

    let folder = tempfile::tempdir().unwrap();
    let hash = PublicHash::Blake3;
    let limit = MemoryLimit::new(1 << 20, folder.path()).set_bytes(0);
    for (i, limit) in [None, Some(limit)].into_iter().enumerate() {
        let dedup = options.dedup.clone().limit(limit).hash(hash);
        let options = options.clone().dedup(dedup);
        let equivalence = options.dedup.equivalence.clone();
        let place = folder.path().join(i.to_string());
        let mut set = SetWriter::create(&place, equivalence.meaning(hash)).unwrap();
        let mut keys = set.loader(1 << 20).unwrap();
        let members = MemberOptions::default()
            .equivalence(equivalence)
            .hash(hash)
            .on_invalid(OnInvalid::Pass);
        let list = Source::new("past", std::io::Cursor::new(past.to_vec()));
        collect(vec![list], &members, &mut keys, settings, &mut Sinks::new(&mut Vec::new()))
            .unwrap();
        set.add(keys).unwrap();

        let mut new_keys = set.loader(1 << 20).unwrap();
        let (mut out, mut dupes, mut clusters) = (Vec::new(), Vec::new(), Vec::new());
        let mut sinks = Sinks::new(&mut out).dupes(&mut dupes).clusters(&mut clusters);
        let past = Seen::new(set.set()).new_keys(&mut new_keys);
        let report = classes_unseen(sources(lists), &options, past, settings, &mut sinks).unwrap();
        assert!(out == expected_out && clusters == expected_clusters);
        assert_eq!(report.duplicates, expected.duplicates + gone.len() as u64);
        assert_eq!((report.written, report.withheld), (expected.written, expected.withheld));
        let lines = dupes.split_inclusive(|&byte| byte == b'\n');
        let (reported, others): (Vec<&[u8]>, _) =
            lines.partition(|line| line.ends_with(b"\t\tseen\n"));
        assert!(others.concat() == expected_dupes);
        let reported: Vec<&[u8]> = reported.iter().map(|line| &line[..line.len() - 7]).collect();
        assert!(reported == gone);

        assert_eq!(set.add(new_keys).unwrap(), report.written);
        let mut again = Vec::new();
        let past = Seen::new(set.set());
        let files = files(lists, folder.path());
        classes_unseen(files, &options, past, settings, &mut Sinks::new(&mut again)).unwrap();
        assert!(again.is_empty(), "{}", String::from_utf8_lossy(&again));
    }
}

fn corpora() -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpora");
    let entries = std::fs::read_dir(folder).expect("the corpora come with the source");
    let paths = entries.map(|entry| entry.unwrap().path());
    let lists = paths.filter(|path| path.extension().is_some_and(|end| end == "txt"));
    lists.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

/// One line in `step` of the real lists beside the repository's checkouts, if there are any: each is put through all forms of
/// the model, which is slow.
fn real_lists(step: usize) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/data");
    let names = ["urls-citizenlab.txt.gz", "urls-node-files.txt.gz", "urls-userbait.txt.gz"];
    let unpack = |name: &str| {
        let list = std::fs::File::open(folder.join(name)).ok()?;
        let mut text = Vec::new();
        MultiGzDecoder::new(list).read_to_end(&mut text).expect("the list is whole");
        Some(text.split_inclusive(|&byte| byte == b'\n').step_by(step).flatten().copied().collect())
    };
    names.into_iter().filter_map(unpack).collect()
}

const KEEPS: [Keep; 6] =
    [Keep::First, Keep::Last, Keep::Shortest, Keep::Https, Keep::Min, Keep::Max];

#[test]
fn corpora_agree_with_the_model() {
    corpora_agree(by_pairs);
}

fn corpora_agree(combinations: Combinations<3>) {
    for (_, text) in corpora() {
        let middle = text.len() / 2;
        let lists = [
            ("one", text[..middle].to_vec()),
            ("none", Vec::new()),
            ("two", text[middle..].to_vec()),
        ];
        for [keep, level, how] in combinations([6, 4, 3]) {
            let (level, drop_fragment) = [
                (Level::String, false),
                (Level::Syntax, true),
                (Level::Scheme, false),
                (Level::Scheme, true),
            ][level];
            let mut options = options(level, drop_fragment, KEEPS[keep]);
            if how > 0 {
                options.select = [Select::Repeated, Select::Unique][how - 1];
                options.count = true;
                options.dedup.on_invalid = OnInvalid::Drop;
            }
            let settings = Settings::default();
            let settings = if how == 1 { settings.threads(3).chunk_bytes(500) } else { settings };
            agrees(&lists, &options, &settings);
        }
    }
}

#[test]
fn real_lists_agree_with_the_model() {
    real_lists_agree(12);
}

fn real_lists_agree(step: usize) {
    for text in real_lists(step) {
        for keep in [Keep::First, Keep::Shortest] {
            let lists = [("list", text.clone())];
            agrees(&lists, &options(Level::Scheme, true, keep), &Settings::default());
            // Alone nearly everything is distinct; here every record occurs a second time, in
            // another spelling.
            let twice = text.to_ascii_uppercase();
            let lists = [("list", text.clone()), ("again", twice), ("and again", text.clone())];
            agrees(&lists, &options(Level::Scheme, false, keep), &Settings::default());
        }
    }
}

#[test]
fn results_and_dupes_together_are_the_input() {
    for (path, text) in corpora() {
        for keep in KEEPS {
            let ([out, dupes, _], _) = run(
                &[("list", text.clone())],
                &options(Level::Scheme, false, keep),
                &Settings::default(),
            );
            let mut lines: Vec<Vec<u8>> = out
                .split(|&byte| byte == b'\n')
                .filter(|line| !line.is_empty())
                .map(<[u8]>::to_vec)
                .collect();
            for line in dupes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
                let level = line.iter().rposition(|&byte| byte == b'\t').unwrap();
                let both = &line[..level];
                // With a tab in it a record is not a URI, and the survivor is the same.
                let tab = match both.iter().filter(|&&byte| byte == b'\t').count() {
                    1 => both.iter().position(|&byte| byte == b'\t').unwrap(),
                    _ => both.len() / 2,
                };
                assert_eq!(both[tab], b'\t');
                lines.push(both[..tab].to_vec());
            }
            let mut input: Vec<Vec<u8>> =
                records(&[("list", text.clone())]).into_iter().map(|record| record.text).collect();
            lines.sort();
            input.sort();
            assert!(lines == input, "{} {keep:?}", path.display());
        }
    }
}

#[test]
fn by_default_the_results_are_those_of_dedup() {
    for (path, text) in corpora() {
        let lists = [("list", text)];
        let options = options(Level::Scheme, false, Keep::First);
        let mut plain = Vec::new();
        let settings = Settings::default();
        let expected =
            dedup(sources(&lists), &options.dedup, &settings, &mut Sinks::new(&mut plain)).unwrap();
        let mut out = Vec::new();
        let report =
            classes(sources(&lists), &options, &settings, &mut Sinks::new(&mut out)).unwrap();
        assert!(out == plain, "{}", path.display());
        assert_eq!(report, expected);
    }
}

/// Few URIs in many spellings, and some texts that are not URIs.
fn record() -> impl Strategy<Value = String> {
    let scheme = prop::sample::select(vec!["http", "HTTP", "https", "urn"]);
    let host = prop::sample::select(vec![
        "h",
        "H",
        "%68",
        "h:",
        "h:80",
        "b\u{fc}cher.de",
        "xn--bcher-kva.de",
    ]);
    let path = prop::sample::select(vec!["", "/", "/.", "/a", "/%61", "/b/../a", "/%7e", "/~"]);
    let tail = prop::sample::select(vec!["", "#", "#f", "?", " ", "\r", "\tx"]);
    (scheme, host, path, tail)
        .prop_map(|(scheme, host, path, tail)| format!("{scheme}://{host}{path}{tail}"))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn small_lists_agree_with_the_model(how in choices(), list in lists()) {
        small_lists_agree(how, &list);
    }
}

/// Lists, cut in two.
fn lists() -> impl Strategy<Value = (Vec<String>, usize)> {
    (prop::collection::vec(record(), 0..120), 0..120usize)
}

/// What is asked for: level, survivor and selection by their numbers, and whether fragments are dropped and members counted;
/// and the bytes of a chunk.
fn choices() -> impl Strategy<Value = ([usize; 3], [bool; 2], usize)> {
    let chunk_bytes = prop::sample::select(vec![64usize, 1000, 100_000]);
    (
        (0..Level::ALL.len(), 0..KEEPS.len(), 0..3usize).prop_map(<[usize; 3]>::from),
        any::<[bool; 2]>(),
        chunk_bytes,
    )
}

fn small_lists_agree(
    ([level, keep, select], [drop_fragment, count], chunk_bytes): ([usize; 3], [bool; 2], usize),
    (lines, cut): &(Vec<String>, usize),
) {
    let (one, two) = lines.split_at((*cut).min(lines.len()));
    // The first list has no record end after its last line.
    let lists =
        [("one", one.join("\n").into_bytes()), ("two", (two.join("\n") + "\n").into_bytes())];
    let settings = Settings::default().threads(2).chunk_bytes(chunk_bytes);
    let select = [Select::All, Select::Repeated, Select::Unique][select];
    let options =
        options(Level::ALL[level], drop_fragment, KEEPS[keep]).select(select).count(count);
    agrees(&lists, &options, &settings);
}

/// All combinations, and more cases.
mod full {
    use super::*;
    use crate::pairs::every;

    #[test]
    fn corpora_agree_with_the_model() {
        corpora_agree(every);
    }

    #[test]
    fn real_lists_agree_with_the_model() {
        real_lists_agree(3);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4000))]

        #[test]
        fn small_lists_agree_with_the_model(how in choices(), list in lists()) {
            small_lists_agree(how, &list);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(5))]

    #[test]
    fn partly_seen_lists_agree_with_the_model(
        past in prop::collection::vec(record(), 0..40),
        lines in prop::collection::vec(record(), 0..120),
        drop_fragment in any::<bool>(),
    ) {
        let lists = [("one", lines.join("\n").into_bytes())];
        let settings = Settings::default().threads(2).chunk_bytes(500);
        for keep in [Keep::First, Keep::Shortest] {
            for select in [Select::All, Select::Repeated, Select::Unique] {
                let options = options(Level::Scheme, drop_fragment, keep).select(select);
                agrees_on_the_unseen(past.join("\n").as_bytes(), &lists, &options, &settings);
            }
        }
    }
}

#[test]
fn groups_are_asked_of_the_job_that_writes_them() {
    let (mut out, mut side) = (Vec::new(), Vec::new());
    for is_clusters in [false, true] {
        let sources = vec![Source::new("list", &b"http://h\nhttp://h/\n"[..])];
        let sinks = Sinks::new(&mut out);
        let mut sinks =
            if is_clusters { sinks.clusters(&mut side) } else { sinks.dupes(&mut side) };
        let done = dedup(sources, &DedupOptions::default(), &Settings::default(), &mut sinks);
        assert_eq!(done.unwrap_err().kind(), uriscan_bulk::ErrorKind::Unsupported);
    }
    assert!(out.is_empty() && side.is_empty());
}
