//! `ada-url` and hash sets of serialized URLs, on a rayon pool.
//!
//! ```text
//! peer-ada [-j THREADS] FILE
//! ```
//!
//! Two lines are equivalent if their serializations under the WHATWG URL Standard by ada-url are
//! equal. Lines that it rejects are kept by their bytes. The first line of each class to arrive is
//! printed to standard output, **not in input order**, and `distinct N` to standard error. Usage
//! errors and I/O errors exit with 2.

#[allow(dead_code, reason = "shared with the other peers")]
#[path = "../../src/lines.rs"]
mod lines;

use ada_url::Url;
use rayon::prelude::*;
use std::collections::HashSet;
use std::collections::hash_map::RandomState;
use std::hash::BuildHasher;
use std::io::{self, Write};
use std::process::ExitCode;
use std::sync::Mutex;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Sets with a lock each, so that workers seldom contend.
const SHARDS: usize = 256;

/// Number of bytes that a worker takes at once.
const CHUNK_BYTES: usize = 4 << 20;

/// The classes seen so far.
struct Seen {
    shards: Vec<Mutex<HashSet<Box<[u8]>>>>,
    hasher: RandomState,
}

impl Seen {
    fn new() -> Seen {
        let shards = (0..SHARDS).map(|_| Mutex::default()).collect();
        Seen { shards, hasher: RandomState::new() }
    }

    /// Whether the class of `record` is a new one.
    fn is_first(&self, record: &[u8]) -> bool {
        let url = str::from_utf8(record).ok().and_then(|text| Url::parse(text, None).ok());
        // A rejected line is never a serialization.
        let key = url.as_ref().map_or(record, |url| url.href().as_bytes());
        let shard = self.hasher.hash_one(key) as usize % SHARDS;
        self.shards[shard].lock().expect("no worker panics").insert(key.into())
    }

    fn len(&self) -> usize {
        self.shards.iter().map(|shard| shard.lock().expect("no worker panics").len()).sum()
    }
}

/// `text` in chunks of whole lines.
fn chunks(mut text: &[u8]) -> Vec<&[u8]> {
    let mut chunks = Vec::new();
    while text.len() > CHUNK_BYTES {
        let end = memchr::memchr(b'\n', &text[CHUNK_BYTES..]);
        let (chunk, rest) = text.split_at(end.map_or(text.len(), |end| CHUNK_BYTES + end + 1));
        chunks.push(chunk);
        text = rest;
    }
    chunks.push(text);
    chunks
}

/// Writes one line of each class of `text` to `out`; returns their number.
fn dedup(text: &[u8], threads: usize, out: impl Write + Send) -> io::Result<usize> {
    let (seen, out) = (Seen::new(), Mutex::new(out));
    let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
    pool.map_err(io::Error::other)?.install(|| {
        chunks(text).into_par_iter().try_for_each(|chunk| {
            let mut kept = Vec::new();
            for record in lines::spans(chunk).map(|span| &chunk[span]) {
                if seen.is_first(record) {
                    kept.extend_from_slice(record);
                    kept.push(b'\n');
                }
            }
            out.lock().expect("no worker panics").write_all(&kept)
        })
    })?;
    Ok(seen.len())
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (threads, file) = match &words[..] {
        [option, threads, file] if option == "-j" => (threads.parse().unwrap_or(0), file),
        [file] if !file.starts_with('-') => (2, file),
        _ => (0, &String::new()),
    };
    if threads == 0 {
        eprintln!("usage: peer-ada [-j THREADS] FILE");
        return ExitCode::from(2);
    }
    match std::fs::read(file).and_then(|text| dedup(&text, threads, io::stdout())) {
        Ok(count) => {
            eprintln!("distinct {count}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("peer-ada: {file}: {error}");
            ExitCode::from(2)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_of_each_class_for_any_thread_count() {
        let text =
            b"HTTP://A/\nno url\nhttp://a\r\n\xff\n\nhttp://a:80/./\nno url\n\xff\nhttp://b/";
        for threads in [1, 2] {
            let mut out = Vec::new();
            assert_eq!(dedup(text, threads, &mut out).unwrap(), 4);
            assert_eq!(out.iter().filter(|&&byte| byte == b'\n').count(), 4);
        }
    }

    #[test]
    fn chunks_are_whole_lines() {
        let text = b"http://h/0123456789\n".repeat(CHUNK_BYTES / 8);
        let chunks = chunks(&text);
        assert!(chunks.len() > 1 && chunks.iter().all(|chunk| chunk.ends_with(b"\n")));
        assert_eq!(chunks.concat(), text);
    }
}
