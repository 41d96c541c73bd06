//! Settings and buffers under a memory limit.

use super::batches::full_chunks;
use super::scan::KeyedRecords;
use super::work::ChunkWork;
use crate::pipeline::Settings;
use crate::survivors::{BATCHES, MemoryLimit};
use uriscan_core::chunk::Span;

/// Bytes of memory that a byte of text takes at most in a chunk: a record of one byte and its end have a key, twice, a
/// span, the numbers of row and line, marks, and a place in the output, in buffers that have grown.
const PER_BYTE: usize = 32;

/// `settings` with chunks so small that their buffers take a quarter of `limit` at most, whatever the records are,
/// where that is possible. A record has so many keys.
pub(crate) fn within(limit: &MemoryLimit, settings: &Settings, keys: usize) -> Settings {
    let threads = match settings.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    let bytes = BATCHES * full_chunks(threads) * PER_BYTE * keys.max(1);
    let most = (limit.bytes / 4 / bytes).max(4 << 10);
    Settings { chunk_bytes: settings.chunk_bytes.min(most), ..*settings }
}

/// Bytes of memory that the buffers of a batch take.
pub(crate) fn batch_bytes(batch: &[ChunkWork<KeyedRecords>]) -> usize {
    let bytes = |work: &ChunkWork<KeyedRecords>| {
        let ChunkWork { chunk, rows, out, rejects, .. } = work;
        let spans = rows.spans.capacity() * size_of::<Span>();
        let texts = chunk.text.capacity() + out.capacity() + rejects.capacity();
        texts + spans + rows.rows.memory_bytes()
    };
    batch.iter().map(bytes).sum()
}
