//! The input of the benches: text that is the same on every machine, with the expected results.

#[allow(dead_code, reason = "the generator's program and tests use more of it")]
#[path = "../examples/gen-corpus/generator/mod.rs"]
mod generator;

use criterion::Throughput;
pub(crate) use generator::Counts;
use generator::{Shares, Stream};
use uriscan::{Padded, PaddedBuf};
use uriscan_core::simd::{BLOCK, Isa, Kernels, Task};

/// The seed of every corpus here.
const SEED: u64 = 1;

/// Size in bytes of a corpus that exceeds the caches of any machine.
pub(crate) const STREAM_BYTES: usize = 64 << 20;

/// Size of a corpus in bytes if nothing is timed.
const TEST_BYTES: usize = 1 << 20;

/// Whether this run measures (`cargo bench`) or only checks the results (`cargo test`,
/// `cargo bench -- --test`).
pub(crate) fn is_timed() -> bool {
    let has = |flag: &str| std::env::args().any(|arg| arg == flag);
    has("--bench") && !has("--test")
}

/// The mixes: none, 40 % and 85 % of the lines need a rewrite at level `scheme`.
pub(crate) const MIXES: [&str; 3] = ["canonical", "mixed", "messy"];

/// Generated text, one URI per line, and the counts of the generator.
pub(crate) struct Corpus {
    text: PaddedBuf,
    pub(crate) counts: Counts,
}

impl Corpus {
    /// At least `bytes` of one of [`MIXES`]; fewer if nothing is timed.
    pub(crate) fn generate(mix: &str, bytes: usize) -> Corpus {
        let crawl = Shares::of_mix("crawl").expect("a mix of the generator");
        let shares = match mix {
            "canonical" => Shares::of_mix("clean").expect("a mix of the generator"),
            "mixed" => crawl,
            "messy" => Shares { rewrite: 0.85, ..crawl },
            _ => panic!("no mix is called {mix}"),
        };
        assert_eq!(shares.fault(), None);
        let bytes = if is_timed() { bytes } else { bytes.min(TEST_BYTES) };
        let mut stream = Stream::new(SEED, shares);
        let mut text = Vec::with_capacity(bytes + 4096);
        while text.len() < bytes {
            stream.write_line(&mut text);
        }
        Corpus { text: PaddedBuf::from_content(&text), counts: stream.counts() }
    }

    /// The whole text with its padding.
    pub(crate) fn padded(&self) -> Padded<'_> {
        self.text.padded()
    }

    /// The text.
    pub(crate) fn bytes(&self) -> &[u8] {
        self.text.padded().content()
    }

    /// The lines without their ends; the generator writes no blank ones.
    pub(crate) fn lines(&self) -> impl Iterator<Item = &[u8]> {
        let ends = memchr::memchr_iter(b'\n', self.bytes());
        ends.scan(0, |start, end| {
            let line = &self.bytes()[*start..end];
            *start = end + 1;
            Some(line)
        })
    }

    /// The text in chunks of whole lines of about `bytes` bytes each, as in the pipeline.
    pub(crate) fn chunks(&self, bytes: usize) -> Vec<PaddedBuf> {
        let (whole, mut start, mut chunks) = (self.bytes(), 0, Vec::new());
        while start < whole.len() {
            let limit = whole.len().min(start + bytes);
            let end = memchr::memrchr(b'\n', &whole[start..limit]).expect("lines are short");
            let mut chunk = PaddedBuf::default();
            chunk.set(&whole[start..=start + end]);
            chunks.push(chunk);
            start += end + 1;
        }
        chunks
    }

    /// Numbers of bytes and records of one pass.
    pub(crate) fn throughput(&self) -> Throughput {
        let Counts { records, bytes, .. } = self.counts;
        assert_eq!(bytes as usize, self.bytes().len());
        Throughput::ElementsAndBytes { elements: records, bytes }
    }
}

/// Reads `text` and does next to nothing with it: the upper bound for any scanner.
pub(crate) fn read_memory(text: Padded<'_>) -> u64 {
    struct Read<'a>(&'a [u8]);
    impl Task for Read<'_> {
        type Output = u64;
        #[inline(always)]
        fn run<I: Isa>(self, _: I) -> u64 {
            let mut sums = [0u64; BLOCK / 8];
            for block in self.0.as_chunks::<BLOCK>().0 {
                for (sum, word) in sums.iter_mut().zip(block.as_chunks::<8>().0) {
                    *sum = sum.wrapping_add(u64::from_le_bytes(*word));
                }
            }
            sums.into_iter().fold(0, u64::wrapping_add)
        }
    }
    Kernels::detect().run(Read(text.content()))
}

/// The expected result of [`read_memory`], word by word.
pub(crate) fn words_sum(text: Padded<'_>) -> u64 {
    let whole = text.len() / BLOCK * BLOCK;
    text.content()[..whole].chunks_exact(8).fold(0, |sum: u64, word| {
        sum.wrapping_add(u64::from_le_bytes(word.try_into().expect("8 bytes")))
    })
}
