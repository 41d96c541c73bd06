//! Batches of chunks: how many chunks they have, how they are filled, and what memory they keep.

use super::work::ChunkWork;
use crate::io::read::reader::Next;
use crate::io::{ChunkReader, ReadError};
use crate::pipeline::{Settings, Sinks};

/// Full chunks in a batch: enough for every thread to find work, few enough to stay small.
pub(crate) fn full_chunks(threads: usize) -> usize {
    (4 * threads).max(16)
}

/// Chunks in a batch for each full one, if they are those of small sources.
pub(crate) const SMALL_FOR_FULL: usize = 4;

/// A batch that was filled.
#[derive(Default)]
pub(crate) struct Filled {
    /// How many of its chunks.
    pub(crate) len: usize,
    /// Why no more could be read, if so.
    pub(crate) failed: Option<ReadError>,
    /// The source has nothing more for now.
    pub(crate) has_paused: bool,
}

/// Fills a batch until it is full, in number or with the bytes of `full` chunks, or the source has nothing more
/// for now. Waits for the first chunk if it `may_wait`, and for no other.
pub(crate) fn fill<R>(
    reader: &mut ChunkReader,
    batch: &mut [ChunkWork<R>],
    (full, may_wait): (usize, bool),
    settings: &Settings,
    sinks: &mut Sinks<'_>,
) -> Filled {
    // Chunks are a little shorter than they could be, as they end with a record.
    let budget = (full - 1) * settings.chunk_bytes;
    let (mut len, mut bytes) = (0, 0);
    reader.begin_batch();
    while len < batch.len() && bytes <= budget {
        let next = reader.fill_next(&mut batch[len].chunk, may_wait && len == 0);
        match (next, &mut sinks.unread) {
            (Ok(Next::Chunk), _) => {
                bytes += batch[len].chunk.len();
                len += 1;
            }
            (Ok(Next::NotReady), _) => return Filled { len, failed: None, has_paused: true },
            (Ok(Next::End), _) => break,
            (Err(error), Some(unread)) => unread(&error),
            (Err(error), None) => return Filled { len, failed: Some(error), has_paused: false },
        }
    }
    Filled { len, failed: None, has_paused: false }
}

/// Bytes of a chunk above which it holds a record far longer than a chunk is meant to be.
pub(crate) fn oversize(settings: &Settings) -> usize {
    8 * settings.chunk_bytes.max(1 << 16)
}

/// Gives back the memory of the chunks of a batch beyond what that of `full` chunks may come to: it may be long until
/// they are filled again, and if every chunk kept what its longest record took, the memory of a run would be many times
/// that of the longest record. Every chunk may keep its share of that; of those that take more, the first ones keep half as
/// much of text in all, and of output what a batch may hold: fresh memory is dear.
pub(crate) fn release<R: Default>(batch: &mut [ChunkWork<R>], full: usize, settings: &Settings) {
    let most = full * oversize(settings);
    let share = most / (full * SMALL_FOR_FULL);
    let (mut texts, mut outputs) = (most / 2, most.max(MOST_HELD));
    for work in batch {
        let text = work.chunk.text.capacity();
        let output = work.out.capacity() + work.dupes.capacity() + work.rejects.capacity();
        if text + output <= share {
            continue;
        }
        if text > texts || output > outputs {
            *work = ChunkWork::default();
        } else {
            (texts, outputs) = (texts - text, outputs - output);
        }
    }
}

/// Bytes of output of a batch that are held at least until they are written, and as many times the bytes of a chunk.
const MOST_HELD: usize = if cfg!(test) { 4 << 10 } else { 24 << 20 };
const TIMES: usize = if cfg!(test) { 0 } else { 8 };

/// Bytes of output of a chunk that are held at most, unless it is long.
pub(crate) const PART_BYTES: usize = 4 << 20;

/// Bytes of output that each of `count` chunks may hold.
pub(crate) fn share(count: usize) -> usize {
    (MOST_HELD / count.max(1)).min(PART_BYTES)
}

/// Distributes the room for output among the chunks of a `batch`.
pub(crate) fn give_room<R>(batch: &mut [ChunkWork<R>], is_alone: bool) {
    let share = share(batch.len());
    for work in batch {
        work.room.most = share.max(TIMES * work.chunk.len());
        work.room.is_alone = is_alone;
    }
}

/// The size of the chunks that follow a batch of chunks of `bytes`, of which `written` bytes of output are held:
/// smaller ones after a scan left the rest of its chunk, since rests are scanned one after the other.
pub(crate) fn chunk_bytes(
    bytes: usize,
    is_cut: bool,
    written: usize,
    settings: &Settings,
) -> usize {
    const LEAST: usize = 4 << 10;
    if is_cut {
        bytes.min((bytes / 2).max(LEAST))
    } else if written < MOST_HELD / 8 {
        (2 * bytes).min(settings.chunk_bytes)
    } else {
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_batch_releases_the_memory_of_long_records() {
        let settings = Settings { chunk_bytes: 1 << 16, ..Settings::default() };
        let mut batch: Vec<ChunkWork<()>> = (0..40).map(|_| ChunkWork::default()).collect();
        for (len, kept) in [(1 << 14, 40), (1 << 18, 4), (1 << 19, 2), (1 << 20, 1), (1 << 21, 0)] {
            for work in &mut batch {
                work.chunk.text.set(&vec![b'x'; len]);
                work.out.resize(len, b'x');
            }
            release(&mut batch, 4, &settings);
            let holds =
                |work: &&ChunkWork<()>| work.chunk.text.capacity() + work.out.capacity() > 0;
            assert_eq!(batch.iter().filter(holds).count(), kept, "{len}");
        }
    }
}
