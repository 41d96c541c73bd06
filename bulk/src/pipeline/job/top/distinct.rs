//! Distinct records as a source: deduplication on a thread of its own, read through a pipe in memory.

use std::io::{self, Read, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread;

use crate::error::Error;
use crate::io::Source;
use crate::pipeline::{DedupOptions, Report, Settings, Sinks, dedup};

/// Blocks that may wait in the pipe.
const WAITING: usize = 4;

/// Passes the first record of each class in `sources` to `work`, as a source; returns the totals of all records beside
/// its result.
pub(super) fn with_distinct<T>(
    sources: Vec<Source>,
    options: &DedupOptions,
    settings: &Settings,
    sinks: &mut Sinks<'_>,
    work: impl FnOnce(Source) -> Result<T, Error>,
) -> Result<(T, Report), Error> {
    let (sender, receiver) = sync_channel(WAITING);
    thread::scope(|scope| {
        let deduplication = scope.spawn(move || {
            let mut out = PipeWriter(sender);
            let mut sinks = Sinks {
                out: &mut out,
                rejects: sinks.rejects.as_mut().map(|sink| &mut **sink as _),
                dupes: None,
                clusters: None,
                undecided: None,
                progress: sinks.progress.as_mut().map(|sink| &mut **sink as _),
                unread: sinks.unread.as_mut().map(|sink| &mut **sink as _),
                survey: sinks.survey.as_deref_mut(),
            };
            dedup(sources, options, settings, &mut sinks)
        });
        let worked =
            work(Source::new("distinct", PipeReader { receiver, block: Vec::new(), at: 0 }));
        let report = match deduplication.join() {
            Ok(report) => report,
            Err(panic) => std::panic::resume_unwind(panic),
        };
        // If the work fails, the deduplication cannot write, and its error says less.
        let worked = worked?;
        Ok((worked, report?))
    })
}

struct PipeWriter(SyncSender<Vec<u8>>);

impl Write for PipeWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !bytes.is_empty() {
            self.0.send(bytes.to_vec()).map_err(|_| io::ErrorKind::BrokenPipe)?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct PipeReader {
    receiver: Receiver<Vec<u8>>,
    block: Vec<u8>,
    at: usize,
}

impl Read for PipeReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.at == self.block.len() {
            // The writer is gone when all is written.
            let Ok(block) = self.receiver.recv() else { return Ok(0) };
            (self.block, self.at) = (block, 0);
        }
        let count = (&self.block[self.at..]).read(buffer)?;
        self.at += count;
        Ok(count)
    }
}
