//! Files of results: the same rows for any limit and any number of threads.

use std::collections::BTreeMap;
use std::io::{self, Cursor, Write};
use std::sync::{Arc, Mutex};

use super::{Folder, Layout, PartFile};
use crate::{Input, Job, TableFormat, Task, run_to_files};
use uriscan_arrow::Columns;
use uriscan_bulk::error::Error;
use uriscan_bulk::pipeline::{MemoryLimit, Sinks};

/// The bytes of files by their path, and whether they are complete.
type Files = BTreeMap<String, (Vec<u8>, bool)>;

#[derive(Clone, Default)]
struct Memory(Arc<Mutex<Files>>, String);

impl Folder for Memory {
    fn create(&mut self, path: &str) -> io::Result<Box<dyn PartFile>> {
        let before = self.0.lock().unwrap().insert(path.to_owned(), Default::default());
        assert!(before.is_none(), "{path} was made twice");
        Ok(Box::new(Memory(self.0.clone(), path.to_owned())))
    }
}

impl Write for Memory {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().get_mut(&self.1).unwrap().0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl PartFile for Memory {
    fn finish(&mut self) -> io::Result<()> {
        self.0.lock().unwrap().get_mut(&self.1).unwrap().1 = true;
        Ok(())
    }
}

/// Rows in many partitions, more bytes than are held.
fn table() -> String {
    let mut text = "n,url,k\n".to_owned();
    for i in 0..9_000 {
        let host = i * 7_919 % 2_503;
        text.push_str(&format!("{i},http://www.h{}.com/{host},{}\n", host % 61, i % 5));
    }
    text
}

fn written(csv: &str, job: &Job, layout: &Layout) -> Result<BTreeMap<String, Vec<u8>>, Error> {
    let mut folder = Memory::default();
    let input = Input::stream("list", TableFormat::Csv, Cursor::new(csv.to_owned()));
    let mut none = io::sink();
    run_to_files(vec![input], job, None, Sinks::new(&mut none), layout, &mut folder)?;
    let files = std::mem::take(&mut *folder.0.lock().unwrap());
    let complete = |(path, (bytes, is_complete)): (String, (Vec<u8>, bool))| {
        assert!(is_complete, "{path}");
        (path, bytes)
    };
    Ok(files.into_iter().map(complete).collect())
}

fn dedup(to: TableFormat) -> Job {
    Job::new("url", Task::Dedup, Columns::default(), to)
}

/// The lines of a file of CSV, without the header.
fn lines(bytes: &[u8]) -> Vec<&str> {
    std::str::from_utf8(bytes).unwrap().lines().skip(1).collect()
}

#[test]
fn partitions_do_not_depend_on_the_limit_or_the_threads() {
    let dir = tempfile::tempdir().unwrap();
    let layout = Layout::default().partition_by(["k", "domain"].map(str::to_owned)).rows(7);
    for format in TableFormat::ALL {
        let mut job = dedup(format);
        let expected = written(&table(), &job, &layout).unwrap();
        assert!(expected.len() > 305, "{}", expected.len());
        let limit = MemoryLimit::new(1 << 20, dir.path());
        job.limit = Some(limit.set_bytes(0));
        assert!(written(&table(), &job, &layout).unwrap() == expected, "{format:?}");
        job.limit = None;
        let pool = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        let threaded = pool.install(|| written(&table(), &job, &layout).unwrap());
        assert!(threaded == expected, "{format:?}");
    }
}

#[test]
fn every_row_is_in_the_partition_of_its_values() {
    let layout = Layout::default().partition_by(["k", "domain"].map(str::to_owned));
    let files = written(&table(), &dedup(TableFormat::Csv), &layout).unwrap();
    assert_eq!(files.len(), 5 * 61);
    let mut rows = 0;
    for (path, bytes) in &files {
        let of_file = lines(bytes);
        rows += of_file.len();
        let numbers: Vec<u64> =
            of_file.iter().map(|line| line.split_once(',').unwrap().0.parse().unwrap()).collect();
        assert!(numbers.is_sorted(), "{path}");
        for line in of_file {
            let (number, url) = line.split_once(',').unwrap();
            let k = number.parse::<u64>().unwrap() % 5;
            let domain = url.strip_prefix("http://www.").unwrap().split('/').next().unwrap();
            assert_eq!(*path, format!("k={k}/domain={domain}/part-00000.csv"));
        }
    }
    assert_eq!(rows, 2_503);
}

#[test]
fn files_are_cut_by_rows_and_by_bytes() {
    let all = lines(
        &written(&table(), &dedup(TableFormat::Csv), &Layout::default()).unwrap()["part-00000.csv"],
    )
    .join("\n");
    for format in [TableFormat::Csv, TableFormat::Parquet] {
        let files = written(&table(), &dedup(format), &Layout::default().rows(1_000)).unwrap();
        let name = format.name();
        let names: Vec<String> = (0..3).map(|i| format!("part-0000{i}.{name}")).collect();
        assert!(files.keys().eq(&names));
        if format == TableFormat::Csv {
            let counts: Vec<usize> = files.values().map(|bytes| lines(bytes).len()).collect();
            assert_eq!(counts, [1_000, 1_000, 503]);
            let joined: Vec<&str> = files.values().flat_map(|bytes| lines(bytes)).collect();
            assert_eq!(joined.join("\n"), all);
        }
        let files = written(&table(), &dedup(format), &Layout::default().bytes(10_000)).unwrap();
        assert!(files.len() > 1, "{format:?}");
        let (_, last) = files.iter().next_back().unwrap();
        let others = files.values().filter(|bytes| !std::ptr::eq(*bytes, last));
        assert!(others.clone().all(|bytes| bytes.len() >= 10_000), "{format:?}");
        assert!(others.clone().all(|bytes| bytes.len() < 150_000), "{format:?}");
    }
}

#[test]
fn a_result_without_rows_is_a_file_without_rows() {
    let files = written("url\n", &dedup(TableFormat::Csv), &Layout::default()).unwrap();
    assert_eq!(
        files.into_iter().collect::<Vec<_>>(),
        [("part-00000.csv".to_owned(), b"url\n".to_vec())]
    );
}

#[test]
fn hostile_values_stay_inside_and_have_an_end() {
    let by = |name: &str| Layout::default().partition_by([name.to_owned()]);
    let long = "x".repeat(300);
    let csv = format!(
        "url,k\nhttp://a/1,..\nhttp://a/2,../../etc\nhttp://a/3,\"a\nb\0\"\nhttp://a/4,\nhttp://{long}.com/,__HIVE_DEFAULT_PARTITION__\n"
    );
    let files = written(&csv, &dedup(TableFormat::Csv), &by("k")).unwrap();
    let names: Vec<&String> = files.keys().collect();
    assert_eq!(
        names,
        [
            "k=%5F_HIVE_DEFAULT_PARTITION__/part-00000.csv",
            "k=..%2F..%2Fetc/part-00000.csv",
            "k=../part-00000.csv",
            "k=__HIVE_DEFAULT_PARTITION__/part-00000.csv",
            "k=a%0Ab%00/part-00000.csv",
        ]
    );
    // A host that is not a name of the DNS has no domain.
    let files = written(&csv, &dedup(TableFormat::Csv), &by("domain")).unwrap();
    assert_eq!(files.len(), 1, "{:?}", files.keys());
    let csv = format!("url,k\nhttp://a/1,{long}\n");
    let error = written(&csv, &dedup(TableFormat::Csv), &by("k")).unwrap_err().to_string();
    assert!(error.starts_with("column k has a value that is too long"), "{error}");
    let few = by("k").most_partitions(4);
    let error = written(&table(), &dedup(TableFormat::Csv), &few).unwrap_err().to_string();
    assert_eq!(error, "k: more than 4 partitions");
    let error = written("url\nhttp://a\n", &dedup(TableFormat::Csv), &by("url")).unwrap_err();
    assert!(error.to_string().contains("none is left"), "{error}");
    let error = written("url\nhttp://a\n", &dedup(TableFormat::Csv), &by("K")).unwrap_err();
    assert!(error.to_string().contains("there is no column K; there are: url"), "{error}");
}
