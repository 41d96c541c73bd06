//! Chunks that cannot be read, and faults within chunks.

use std::io;

use super::work::ChunkWork;
use crate::io::{Chunk, ChunkReader, ReadError, Shape};
use crate::pipeline::{Error, Settings, Sinks};
use uriscan_core::extract::{Fault, Format};
use uriscan_files::escape::counted;

/// Chunks that could not be read when they were about to be scanned.
#[derive(Default)]
pub(crate) struct Faults {
    /// Whether the first one ends the run; otherwise it ends its source.
    is_last: bool,
    /// The sources that have one.
    sources: Vec<usize>,
    /// The sources and errors of those found in the last batch.
    pub(crate) new: Vec<(usize, io::Error)>,
}

impl Faults {
    /// No faults so far; with `is_last` the first one ends the run.
    pub(crate) fn new(is_last: bool) -> Faults {
        Faults { is_last, ..Faults::default() }
    }

    /// Empties the chunks of a scanned batch that follow a fault. That of the fault has the whole records before it.
    pub(crate) fn apply<R: Default>(&mut self, batch: &mut [ChunkWork<R>]) {
        if self.sources.is_empty() && batch.iter().all(|work| work.fault.is_none()) {
            return;
        }
        for work in batch {
            let source = work.chunk.source;
            let follows_fault = self.follows_fault(source);
            if let Some(error) = work.fault.take()
                && !follows_fault
            {
                self.sources.push(source);
                self.new.push((source, error));
            }
            if follows_fault {
                work.chunk.shape = Shape::Records;
                work.chunk.text.set_len(0);
                work.rows = R::default();
                work.clear();
                work.survey.iter_mut().for_each(|part| part.clear());
            }
        }
    }

    /// Whether a fault precedes further chunks of `source`.
    fn follows_fault(&self, source: usize) -> bool {
        self.sources.contains(&source) || self.is_last && !self.sources.is_empty()
    }
}

/// Describes the faults within chunks, the first of a run, to [`Sinks::unread`].
pub(crate) fn report_faults<R>(
    batch: &mut [ChunkWork<R>],
    reader: &ChunkReader,
    reported: &mut usize,
    sinks: &mut Sinks<'_>,
) {
    for work in batch {
        for what in work.faults.drain(..) {
            if let Some(unread) = &mut sinks.unread
                && *reported < Fault::MOST
            {
                *reported += 1;
                let source = reader.source_name(work.chunk.source).to_owned();
                unread(&ReadError { source, error: io::Error::other(what) });
            }
        }
    }
}

/// The error for the record at which the scan of a chunk stopped.
#[cold]
pub(crate) fn stopped<R>(reader: &ChunkReader, work: &ChunkWork<R>, settings: &Settings) -> Error {
    let (span, error) = work.stop.expect("the caller saw it");
    let before = &work.chunk.text.padded().content()[..span.start as usize];
    let lines = memchr::memchr_iter(settings.record_end, before).count() as u64;
    let place = match work.origins.get(lines as usize) {
        Some(origin) => (origin.line, origin.byte),
        None => (work.chunk.line + lines, work.chunk.byte + u64::from(span.start)),
    };
    Error::invalid(reader.source_name(work.chunk.source), place, error)
}

/// Describes the document or message that begins in `chunk` if it is longer than the limit. Lines of text are only
/// counted.
pub(crate) fn long_fault(chunk: &Chunk, settings: &Settings) -> Option<String> {
    let is_named = chunk.shape == Shape::LongFirst && chunk.kind.format != Format::Text;
    is_named.then(|| {
        let most = match settings.max_record {
            bytes if bytes % (1 << 20) == 0 => format!("{} MiB", bytes >> 20),
            bytes => counted(bytes as u64, "byte"),
        };
        format!("record at byte {}: has more than {most} and was skipped", chunk.byte)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    #[cfg(unix)]
    use crate::io::Source;
    #[cfg(unix)]
    use crate::pipeline::{self, DedupOptions, Equivalence, OnInvalid, Report};

    #[test]
    fn records_after_a_fault_are_not_counted() {
        let batch = || {
            let one = |(i, source)| {
                let mut work = ChunkWork::<Vec<u8>> { rows: b"x".to_vec(), ..ChunkWork::default() };
                work.chunk.source = source;
                work.out.push(i);
                work.report.written = 1;
                work.fault = (i == 1 || i == 2).then(|| io::Error::other("torn"));
                work
            };
            (0..).zip([7, 8, 8, 8, 9]).map(one).collect::<Vec<_>>()
        };
        for (is_last, first, later) in
            [(false, &[0, 1, 4][..], &[0u8, 4][..]), (true, &[0, 1], &[])]
        {
            let mut faults = Faults::new(is_last);
            for (expected, count) in [(first, 1), (later, 0)] {
                let mut batch = batch();
                if count == 0 {
                    batch.iter_mut().for_each(|work| work.fault = None);
                }
                faults.apply(&mut batch);
                let kept: Vec<u8> = batch.iter().flat_map(|work| work.out.clone()).collect();
                assert_eq!(kept, expected);
                let written: u64 = batch.iter().map(|work| work.report.written).sum();
                assert_eq!(written, kept.len() as u64);
                let new: Vec<usize> = faults.new.drain(..).map(|(source, _)| source).collect();
                assert_eq!(new, [8].repeat(count));
            }
        }
    }

    #[cfg(unix)]
    type Work<'w> = &'w dyn Fn(Vec<Source>, &mut Sinks<'_>) -> Result<Report, Error>;

    #[test]
    #[cfg(unix)]
    fn records_before_the_end_of_a_file_that_becomes_shorter_are_written() {
        let lines: Vec<String> = (0..8_000).map(|i| format!("http://h/{i}\n")).collect();
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list");
        // The end is in the second batch of chunks: 16 of them are a batch.
        let (chunk, left) = (4 << 10, 18 * (4 << 10) + 5);
        let settings = Settings::default().threads(1).chunk_bytes(chunk);
        let run = |job: Work<'_>| {
            std::fs::write(&path, lines.concat()).unwrap();
            let again = path.clone();
            // Opened when all chunks of the file have been found.
            let last = Source::new("last", io::empty()).open(move || {
                let file = std::fs::File::options().write(true).open(again)?;
                file.set_len(left as u64)?;
                Ok(&b"http://last/\n"[..])
            });
            let (mut out, mut unread) = (Vec::new(), Vec::new());
            let mut note = |error: &ReadError| unread.push(error.to_string());
            let sources = vec![Source::file(&path), last];
            job(sources, &mut Sinks::new(&mut out).unread(&mut note)).unwrap();
            assert_eq!(unread.len(), 1);
            assert!(unread[0].ends_with("list: the file became shorter while it was read"));
            String::from_utf8(out).unwrap()
        };
        let mut len = 0;
        let kept = lines.iter().take_while(|line| {
            len += line.len();
            len <= left
        });
        let expected = kept.map(String::as_str).collect::<String>() + "http://last/\n";
        let equivalence = Equivalence::default();
        let out = run(&|sources, sinks| {
            pipeline::normalize(sources, &equivalence, OnInvalid::Pass, &settings, sinks)
        });
        assert_eq!(out, expected);
        let options = DedupOptions::default();
        assert_eq!(
            run(&|sources, sinks| pipeline::dedup(sources, &options, &settings, sinks)),
            expected
        );
    }
}
