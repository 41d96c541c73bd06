//! Floor 9: the kernels for columns of Arrow arrays, compared with the jobs for lines.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::{StringArray, StringViewArray};
use criterion::Criterion;
use uriscan::key::PublicHash;
use uriscan_arrow::{Columns, Firsts};
use uriscan_bulk::io::Source;
use uriscan_bulk::pipeline::{Equivalence, OnInvalid, Settings, Sinks, keys};

use crate::corpus::{Corpus, STREAM_BYTES};

pub(crate) fn columns(criterion: &mut Criterion) {
    let corpus = Corpus::generate("mixed", STREAM_BYTES);
    let texts = || corpus.lines().map(|line| std::str::from_utf8(line).expect("generated as text"));
    let array = StringArray::from_iter_values(texts());
    let views = StringViewArray::from_iter_values(texts());
    let kernels = Columns::default();

    let made = kernels.key(&array).expect("a column of text");
    let found: HashSet<&[u8]> = made.as_fixed_size_binary().iter().flatten().collect();
    assert_eq!(found.len() as u64, corpus.counts.scheme);
    assert_eq!(&kernels.key(&views).expect("a column of text"), &made);
    let marks = Firsts::new(kernels.clone()).mark(&array).expect("a column of text");
    assert_eq!(marks.true_count() as u64, corpus.counts.scheme);
    let forms = kernels.normalize(&array).expect("a column of text");
    let forms: HashSet<&str> = forms.as_string::<i32>().iter().flatten().collect();
    assert_eq!(forms.len() as u64, corpus.counts.scheme);
    let valid = kernels.is_valid(&array, false).expect("a column of text");
    assert_eq!(valid.as_boolean().false_count() as u64, corpus.counts.invalid);

    let mut group = criterion.benchmark_group("columns");
    group.throughput(corpus.throughput());
    group.bench_function("key", |bencher| bencher.iter(|| kernels.key(&array)));
    group.bench_function("key-of-views", |bencher| bencher.iter(|| kernels.key(&views)));
    group.bench_function("normalize", |bencher| bencher.iter(|| kernels.normalize(&array)));
    group.bench_function("parse", |bencher| bencher.iter(|| kernels.parse(&array)));
    group.bench_function("is-valid", |bencher| bencher.iter(|| kernels.is_valid(&array, false)));
    group.bench_function("firsts", |bencher| {
        bencher.iter(|| Firsts::new(kernels.clone()).mark(&array));
    });
    // The job for lines writes its keys as text.
    let text: Arc<[u8]> = corpus.bytes().into();
    group.bench_function("key-of-lines", |bencher| {
        bencher.iter(|| {
            let source = Source::new("corpus", io::Cursor::new(Arc::clone(&text)));
            let (equivalence, hash) = (Equivalence::default(), PublicHash::default());
            let (settings, mut out) = (Settings::default(), io::sink());
            let mut sinks = Sinks::new(&mut out);
            keys(vec![source], &equivalence, hash, OnInvalid::Pass, &settings, &mut sinks)
        });
    });
    group.finish();
}
