//! What tables of omitted records and of classes hold, whatever the limit.

use super::*;
use crate::{ByClass, Input, KeepRow, run_with};
use uriscan_bulk::error::ErrorKind;
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{
    ClassOptions, ClassSink, DedupOptions, Keep, MemoryLimit, Settings, Sinks, classes,
};

/// Records of many small classes and of one large one.
fn lines() -> String {
    let line = |i: u32| match i % 4 {
        0 => "HTTP://large:80\n".to_owned(),
        1 => format!("http://h{}\n", i % 1_003),
        _ => format!("HTTP://H{}/\n", i % 1_003),
    };
    (0..20_000).map(line).collect()
}

/// The tables of duplicates and of classes that `work` writes to its sinks.
fn tables(format: TableFormat, work: impl FnOnce(Sinks<'_>)) -> [Vec<u8>; 2] {
    let options = ClassOptions::default().dedup;
    let meaning = options.equivalence.meaning(options.hash);
    let (mut out, [mut dupes, mut clusters]) = (Vec::new(), [const { Vec::new() }; 2]);
    let mut of_dupes = ClassTable::of_dupes(&mut dupes, format, &meaning).unwrap();
    let mut of_clusters = ClassTable::of_clusters(&mut clusters, format, &meaning).unwrap();
    let mut sinks = Sinks::new(&mut out);
    sinks.dupes = Some(ClassSink::rows(&mut of_dupes));
    sinks.clusters = Some(ClassSink::rows(&mut of_clusters));
    work(sinks);
    of_dupes.finish().unwrap();
    of_clusters.finish().unwrap();
    [dupes, clusters]
}

#[test]
fn tables_do_not_depend_on_the_memory_limit_and_have_bounded_groups() {
    let temp = tempfile::tempdir().unwrap();
    let of_list = |limit: Option<MemoryLimit>| {
        tables(TableFormat::Parquet, |mut sinks| {
            let options = ClassOptions::default().keep(Keep::Last);
            let options = options.dedup(DedupOptions::default().limit(limit));
            let list = vec![Source::new("list", std::io::Cursor::new(lines()))];
            let report = classes(list, &options, &Settings::default(), &mut sinks).unwrap();
            assert_eq!(report.spilled > 0, options.dedup.limit.is_some());
        })
    };
    let of_table = |limit: Option<MemoryLimit>| {
        tables(TableFormat::Parquet, |sinks| {
            let by = ByClass::new(KeepRow::Uri(Keep::Last), temp.path());
            let task = Task::Classes(by);
            let job = Job::new("url", task, Columns::default(), TableFormat::Csv).limit(limit);
            let csv = std::io::Cursor::new(format!("url\n{}", lines()));
            let input = Input::stream("list", TableFormat::Csv, csv);
            run_with(vec![input], &job, None, sinks).unwrap();
        })
    };
    let whole = of_list(None);
    assert!(of_list(Some(MemoryLimit::new(1 << 20, temp.path()))) == whole);
    assert!(of_table(None) == whole);
    assert!(of_table(Some(MemoryLimit::new(1 << 16, temp.path()))) == whole);
    for table in whole {
        let reader =
            parquet::file::serialized_reader::SerializedFileReader::new(bytes::Bytes::from(table));
        use parquet::file::reader::FileReader;
        let metadata = reader.unwrap().metadata().clone();
        assert!(metadata.num_row_groups() > 2, "{}", metadata.num_row_groups());
    }
}

#[test]
fn the_error_of_the_output_is_kept() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let options = ClassOptions::default().dedup;
    let meaning = options.equivalence.meaning(options.hash);
    for format in TableFormat::ALL {
        let done = ClassTable::of_dupes(&mut Full, format, &meaning).map(|mut table| {
            let row = ClassRow::default();
            table.take(&row).map_err(Error::write).and_then(|()| table.finish())
        });
        match done.and_then(|done| done) {
            Err(error) if error.kind() == ErrorKind::Write => {
                assert_eq!(error.into_io().kind(), io::ErrorKind::StorageFull, "{format:?}");
            }
            other => panic!("{format:?}: {other:?}"),
        }
    }
}

#[test]
fn names_say_what_is_a_table() {
    let of = |format: fn(&Path) -> Result<Option<TableFormat>, Error>, name: &str| {
        format(Path::new(name)).map_err(|error| error.to_string())
    };
    let (dupes, clusters) = (ClassTable::format_of_dupes, ClassTable::format_of_clusters);
    for (name, format) in [
        ("a/b.parquet", TableFormat::Parquet),
        ("b.csv.PQ", TableFormat::Parquet),
        (".feather", TableFormat::Arrow),
        ("b.arrows", TableFormat::ArrowStream),
        ("b.Csv", TableFormat::Csv),
    ] {
        assert_eq!(of(dupes, name), Ok(Some(format)), "{name}");
        assert_eq!(of(clusters, name), Ok(Some(format)), "{name}");
    }
    for (name, of_dupes, of_clusters) in [
        ("b.tsv", None, Some(TableFormat::Tsv)),
        ("b.tab", None, Some(TableFormat::Tsv)),
        ("b.jsonl", Some(TableFormat::Jsonl), None),
        ("b.json", Some(TableFormat::Jsonl), None),
        ("b", None, None),
        ("b.gz", None, None),
        ("b.parquet/c", None, None),
    ] {
        assert_eq!(of(dupes, name), Ok(of_dupes), "{name}");
        assert_eq!(of(clusters, name), Ok(of_clusters), "{name}");
    }
    for name in ["b.csv.gz", "b.parquet.ZST", "b.arrow.xz"] {
        assert_eq!(of(dupes, name), Err(NOT_COMPRESSED.to_owned()), "{name}");
        assert_eq!(of(clusters, name), Err(NOT_COMPRESSED.to_owned()), "{name}");
    }
    // As lines, which have any name.
    assert_eq!(of(dupes, "b.tsv.gz"), Ok(None));
    assert_eq!(of(clusters, "b.jsonl.gz"), Ok(None));
    assert!(of(dupes, "b.jsonl.gz").is_err() && of(clusters, "b.tsv.gz").is_err());
}
