//! Floor 1: bytes to class masks, per backend, streaming from memory.

use criterion::Criterion;
use uriscan::Padded;
use uriscan_core::simd::{BLOCK, Isa, Kernels, Sketch, Task, class};

use crate::corpus::{Corpus, STREAM_BYTES, read_memory, words_sum};

/// Counts the bytes of every class by [`Isa::classify`], which a closer look at a record uses.
struct Classify<'a>(Padded<'a>);

impl Task for Classify<'_> {
    type Output = [u64; class::COUNT];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let mut counts = [0; class::COUNT];
        for block in self.0.content().as_chunks::<BLOCK>().0 {
            for (count, mask) in counts.iter_mut().zip(isa.classify(block)) {
                *count += u64::from(mask.count_ones());
            }
        }
        counts
    }
}

/// Folds all results of [`Isa::sketch`], from which the index is built.
struct Sketches<'a>(Padded<'a>);

impl Task for Sketches<'_> {
    type Output = [u64; 6];

    #[inline(always)]
    fn run<I: Isa>(self, isa: I) -> Self::Output {
        let mut folded = [0; 6];
        for block in self.0.content().as_chunks::<BLOCK>().0 {
            let Sketch { summary, dot, record_end } = isa.sketch(block, b'\n');
            let words =
                [summary.look, summary.slash, summary.question, summary.head, dot, record_end];
            for (sum, word) in folded.iter_mut().zip(words) {
                *sum = u64::rotate_left(*sum, 1) ^ word;
            }
        }
        folded
    }
}

/// The counts of [`Classify`], byte by byte.
fn count_bytes(text: &[u8]) -> [u64; class::COUNT] {
    let whole = &text[..text.len() / BLOCK * BLOCK];
    let count = |is: fn(u8) -> bool| whole.iter().filter(|&&byte| is(byte)).count() as u64;
    let mut counts = [0; class::COUNT];
    counts[class::SLASH] = count(|byte| byte == b'/');
    counts[class::COLON_AT] = count(|byte| matches!(byte, b':' | b'@'));
    counts[class::QUESTION] = count(|byte| byte == b'?');
    counts[class::HASH] = count(|byte| byte == b'#');
    counts[class::PERCENT] = count(|byte| byte == b'%');
    counts[class::UPPER] = count(|byte| byte.is_ascii_uppercase());
    counts[class::DOT] = count(|byte| byte == b'.');
    counts[class::ODD] = count(|byte| !byte.is_ascii_graphic() || b"[]\"<>\\^`{|}".contains(&byte));
    counts
}

pub(crate) fn classify(criterion: &mut Criterion) {
    let corpus = Corpus::generate("mixed", STREAM_BYTES);
    let text = corpus.padded();
    let mut group = criterion.benchmark_group("classify");
    group.throughput(corpus.throughput());
    assert_eq!(read_memory(text), words_sum(text));
    group.bench_function("memory-read", |bencher| bencher.iter(|| read_memory(text)));

    let counts = count_bytes(corpus.bytes());
    let scalar = Kernels::with(uriscan::Backend::Scalar).expect("always there");
    let sketches = scalar.run(Sketches(text));
    for kernels in Kernels::available() {
        let name = kernels.backend().name();
        assert_eq!(kernels.run(Classify(text)), counts, "{name}");
        assert_eq!(kernels.run(Sketches(text)), sketches, "{name}");
        group.bench_function(format!("masks/{name}"), |bencher| {
            bencher.iter(|| kernels.run(Classify(text)));
        });
        group.bench_function(format!("sketch/{name}"), |bencher| {
            bencher.iter(|| kernels.run(Sketches(text)));
        });
    }
    group.finish();
}
