//! Settings and buffers under a memory limit.

use super::Settings;
use super::batches::full_slots;
use super::scan::Found;
use super::slot::Slot;
use crate::chunk::Span;
use crate::survivors::{BATCHES, MemoryLimit};

/// `settings` with chunks so small that their buffers take a quarter of `limit` at most, where that is possible.
pub(super) fn within(limit: &MemoryLimit, settings: &Settings) -> Settings {
    let threads = match settings.threads {
        0 => std::thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    // Chunk, output and rows are thrice the text, unless records are very short.
    let chunks = BATCHES * full_slots(threads) * 3;
    let most = (limit.bytes / 4 / chunks).max(4 << 10);
    Settings { chunk_bytes: settings.chunk_bytes.min(most), ..*settings }
}

/// Bytes of memory that the buffers of a batch take.
pub(super) fn batch_bytes(slots: &[Slot<Found>]) -> usize {
    let bytes = |slot: &Slot<Found>| {
        let Slot { chunk, rows, out, rejects, .. } = slot;
        let spans = rows.spans.capacity() * size_of::<Span>();
        let texts = chunk.text.capacity() + out.capacity() + rejects.capacity();
        texts + spans + rows.rows.memory_bytes()
    };
    slots.iter().map(bytes).sum()
}
