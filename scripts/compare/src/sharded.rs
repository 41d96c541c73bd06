//! The fast implementation with crates: a parser that normalizes, XXH3-128 of the normalized text, and a set of hashes in
//! 256 shards, on a rayon pool.
//!
//! **Output order is not preserved** between chunks, and "first seen" is the first to arrive: a peer is allowed the easier
//! job. The set of classes, and so the count, depends on neither.
//!
//! To save time, each worker claims chunks from a counter and reads them with `pread` into one buffer that it reuses (no
//! copy of the file in memory, no page touched for the first time); hashes are collected per shard and inserted under one
//! lock per chunk, while the shard's table is in the cache; hashes are stored, not strings; tables are hashbrown's, without
//! a second hash.

use crate::lines::spans;
use fluent_uri::Uri;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry;
use memchr::memchr;
use std::fs::File;
use std::io::{self, Write};
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use xxhash_rust::xxh3::xxh3_128;

/// Bytes a worker claims at once: some 50,000 lines, hence about 200 for each shard's lock.
pub(crate) const CHUNK_BYTES: u64 = 4 << 20;

const SHARDS: usize = 256;

/// Number of bytes that are read at a time to find the end of a line that extends beyond its chunk.
const TAIL_BYTES: u64 = 4 << 10;

/// By `fluent-uri`: the hash of the normalized form, or of the bytes if RFC 3986 rejects them. Two lines are equivalent by
/// RFC 3986 section 6.2.2, plus default ports, empty ports and RFC 5952 addresses.
pub(crate) fn by_fluent_uri(record: &[u8], utf8: Option<&str>) -> u128 {
    match utf8.and_then(|text| Uri::parse(text).ok()) {
        Some(uri) => xxh3_128(uri.normalize().as_str().as_bytes()),
        // No confusion: a text that RFC 3986 rejects is not a normalized URI.
        None => xxh3_128(record),
    }
}

/// By `ada-url`: the hash of the serialization under the WHATWG URL Standard, or of the bytes if it is rejected.
#[cfg(feature = "ada")]
pub(crate) fn by_ada(record: &[u8], utf8: Option<&str>) -> u128 {
    match utf8.and_then(|text| ada_url::Url::parse(text, None).ok()) {
        Some(url) => xxh3_128(url.href().as_bytes()),
        None => xxh3_128(record),
    }
}

/// The shard comes from the high half, the table's position from the low one: with the same bits
/// for both, each shard would use a 256th of its slots.
fn shard_of(key: u128) -> usize {
    (key >> 120) as usize
}

fn table_hash(key: &u128) -> u64 {
    *key as u64
}

/// The state that workers share.
struct Shared<'f, K, W> {
    key: K,
    file: &'f File,
    file_bytes: u64,
    chunk_bytes: u64,
    next_chunk: AtomicU64,
    shards: Vec<Mutex<HashTable<u128>>>,
    out: Mutex<W>,
}

/// Writes one line of each class to `out` and returns the number of classes. `key` gets a record, also as text if it is
/// UTF-8.
///
/// # Errors
///
/// Those of opening or reading `path` or writing to `out`; `Other` if no pool can be started.
pub(crate) fn dedup<W: Write + Send>(
    path: &Path,
    key: impl Fn(&[u8], Option<&str>) -> u128 + Sync,
    threads: usize,
    chunk_bytes: u64,
    out: W,
) -> io::Result<usize> {
    let file = File::open(path)?;
    let shared = Shared {
        key,
        file: &file,
        file_bytes: file.metadata()?.len(),
        chunk_bytes,
        next_chunk: AtomicU64::new(0),
        shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
        out: Mutex::new(out),
    };
    let pool =
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().map_err(io::Error::other)?;
    pool.broadcast(|context| {
        // Workers start at distant shards, so that they seldom contend for a lock.
        let first_shard = context.index() * SHARDS / context.num_threads();
        work(&shared, first_shard)
    })
    .into_iter()
    .collect::<io::Result<()>>()?;
    shared.out.into_inner().expect(POISONED).flush()?;
    let shards = shared.shards.into_iter();
    Ok(shards.map(|s| s.into_inner().expect(POISONED).len()).sum())
}

const POISONED: &str = "a worker panicked";

/// A record waiting for its shard's lock.
struct Waiting {
    key: u128,
    /// Its number in the chunk.
    record: usize,
}

/// One worker: chunk after chunk until none is left.
fn work<W: Write>(
    shared: &Shared<'_, impl Fn(&[u8], Option<&str>) -> u128, W>,
    first_shard: usize,
) -> io::Result<()> {
    let mut text = Vec::new();
    let mut waiting: Vec<Vec<Waiting>> = (0..SHARDS).map(|_| Vec::new()).collect();
    let mut records: Vec<Range<usize>> = Vec::new();
    let mut fresh: Vec<bool> = Vec::new();
    let mut kept: Vec<u8> = Vec::new();
    loop {
        let start = shared.next_chunk.fetch_add(1, Ordering::Relaxed) * shared.chunk_bytes;
        if start >= shared.file_bytes {
            return Ok(());
        }
        let lines = read_chunk(shared, start, &mut text)?;
        records.clear();
        records.extend(spans(lines));
        // Validating all lines at once costs a tenth of validating each line, on the usual chunk
        // that is all UTF-8.
        let all_utf8 = str::from_utf8(lines).ok();
        for (record, span) in records.iter().enumerate() {
            let bytes = &lines[span.clone()];
            let utf8 = match all_utf8 {
                Some(text) => Some(&text[span.clone()]),
                None => str::from_utf8(bytes).ok(),
            };
            let key = (shared.key)(bytes, utf8);
            waiting[shard_of(key)].push(Waiting { key, record });
        }
        fresh.clear();
        fresh.resize(records.len(), false);
        for i in 0..SHARDS {
            let i = (first_shard + i) % SHARDS;
            let mut shard = shared.shards[i].lock().expect(POISONED);
            for Waiting { key, record } in waiting[i].drain(..) {
                let entry = shard.entry(table_hash(&key), |seen| *seen == key, table_hash);
                if let Entry::Vacant(place) = entry {
                    place.insert(key);
                    fresh[record] = true;
                }
            }
        }
        kept.clear();
        for (span, _) in records.iter().zip(&fresh).filter(|(_, fresh)| **fresh) {
            kept.extend_from_slice(&lines[span.clone()]);
            kept.push(b'\n');
        }
        shared.out.lock().expect(POISONED).write_all(&kept)?;
    }
}

/// The lines that begin in the chunk at `start`, wherever the last of them ends.
fn read_chunk<'t, K, W>(
    shared: &Shared<'_, K, W>,
    start: u64,
    text: &'t mut Vec<u8>,
) -> io::Result<&'t [u8]> {
    // One byte earlier: an LF there means that a line begins at `start` itself.
    let from = start.saturating_sub(1);
    let end = (start + shared.chunk_bytes).min(shared.file_bytes);
    let bytes = (end - from) as usize;
    text.resize(bytes, 0);
    shared.file.read_exact_at(text, from)?;
    let first = match start {
        0 => 0,
        _ => match memchr(b'\n', text) {
            Some(at) if at + 1 < bytes => at + 1,
            // No line begins here.
            _ => return Ok(&[]),
        },
    };
    // The last line extends to its LF, or to the end of the file.
    while text.last() != Some(&b'\n') {
        let have = text.len();
        let left = shared.file_bytes - from - have as u64;
        if left == 0 {
            break;
        }
        text.resize(have + left.min(TAIL_BYTES) as usize, 0);
        let tail = &mut text[have..];
        shared.file.read_exact_at(tail, from + have as u64)?;
        if let Some(at) = memchr(b'\n', tail) {
            text.truncate(have + at + 1);
        }
    }
    Ok(&text[first..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// The classes of this peer, computed one line at a time.
    fn classes(text: &[u8]) -> BTreeSet<Vec<u8>> {
        let normal = |line: &[u8]| match str::from_utf8(line).map(Uri::parse) {
            Ok(Ok(uri)) => uri.normalize().into_string().into_bytes(),
            _ => line.to_vec(),
        };
        text.split(|&byte| byte == b'\n')
            .map(<[u8]>::trim_ascii)
            .filter(|line| !line.is_empty())
            .map(normal)
            .collect()
    }

    #[test]
    fn one_line_of_each_class_for_any_chunk_and_thread_count() {
        let mut text = b"\nHTTP://A/%7e\n http://a:80/~\r\n\xff\n\nno uri\nno uri\n".to_vec();
        for i in 0..300 {
            let case = ["http://h", "HTTP://h", "http://H:80"][i % 3];
            text.extend(format!("{case}/{}/{}\n", "x".repeat(i % 90), i % 50).bytes());
        }
        text.extend(b"\xff\nhttp://last/");
        let expected = classes(&text);
        assert!(expected.len() > 100);
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.txt");
        std::fs::write(&path, &text).unwrap();
        for chunk_bytes in [1, 7, 64, 4096, CHUNK_BYTES] {
            for threads in [1, 2, 3] {
                let mut out = Vec::new();
                let count = dedup(&path, by_fluent_uri, threads, chunk_bytes, &mut out).unwrap();
                let lines = out.iter().filter(|&&byte| byte == b'\n').count();
                assert_eq!(classes(&out), expected, "{chunk_bytes} bytes, {threads} threads");
                assert_eq!((count, lines), (expected.len(), expected.len()));
            }
        }
    }

    #[cfg(feature = "ada")]
    #[test]
    fn ada_keeps_one_line_of_each_class() {
        let text =
            b"HTTP://A/\nno url\nhttp://a\r\n\xff\n\nhttp://a:80/./\nno url\n\xff\nhttp://b/";
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("list.txt");
        std::fs::write(&path, text).unwrap();
        for chunk_bytes in [7, CHUNK_BYTES] {
            let mut out = Vec::new();
            assert_eq!(dedup(&path, by_ada, 2, chunk_bytes, &mut out).unwrap(), 4);
            assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 4);
        }
    }

    #[test]
    fn an_empty_file_has_no_class() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let mut out = Vec::new();
        assert_eq!(dedup(file.path(), by_fluent_uri, 2, CHUNK_BYTES, &mut out).unwrap(), 0);
        assert!(out.is_empty());
    }
}
