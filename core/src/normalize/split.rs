//! The records of a chunk by what they need, found in one pass without a branch that depends on them.
//!
//! Nearly half of all records are `http` or `https` URIs that no step of the ladder changes, and most others need
//! little. To ask each record one question after the other costs mispredicted branches, more than the work itself. Here
//! all conditions are combined into one word, and the record is written to each list, of which one grows.

use super::common::{LONG, SplitRecord};
use crate::chunk::{PAD, Padded, Prefix, Span};
use crate::index::{Index, low_bits};
use crate::simd::{BLOCK, Isa, Summary, Task};

/// The records of a chunk in two lists, each in ascending order. Reusable.
#[derive(Clone, Debug, Default)]
pub struct Split {
    unchanged: List<u32>,
    others: List<SplitRecord>,
}

/// The first `count` items of a buffer, which only grows.
#[derive(Clone, Debug, Default)]
struct List<T> {
    items: Vec<T>,
    count: usize,
}

impl<T: Copy + Default> List<T> {
    /// Makes room for `count` items in all, and forgets those that it has.
    fn clear_for(&mut self, count: usize) {
        if self.items.len() < count {
            self.items.resize(count, T::default());
        }
        self.count = 0;
    }

    #[inline(always)]
    fn all(&self) -> &[T] {
        &self.items[..self.count]
    }
}

const LOWER: u64 = 0x2020_2020_2020_2020;
const HTTPS: u64 = u64::from_le_bytes(*b"https://");
const HTTP: u64 = u64::from_le_bytes(*b"\0http://");

impl Split {
    /// Splits the records of `text` at `spans`, which are those of `index`.
    /// Takes white space off none of them, except for a carriage return before a record end if it `trims`.
    #[inline(always)]
    pub fn split<I: Isa>(
        &mut self,
        isa: I,
        text: Padded<'_>,
        index: &Index,
        spans: &mut [Span],
        trims: bool,
    ) {
        isa.call(Find { split: self, text, index, spans, trims });
    }

    /// Puts all of `count` records among the others.
    pub fn none_unchanged(&mut self, count: usize) {
        self.unchanged.count = 0;
        self.others.clear_for(count);
        for (seen, number) in self.others.items.iter_mut().zip(0..count as u32) {
            *seen = SplitRecord { number, ..SplitRecord::default() };
        }
        self.others.count = count;
    }

    /// Puts those of the unchanged records among the others that `is_other` says.
    pub fn set_apart(&mut self, is_other: impl Fn(u32) -> bool) {
        let Split { unchanged, others } = self;
        others.items.truncate(others.count);
        let mut kept = 0;
        for at in 0..unchanged.count {
            let number = unchanged.items[at];
            if is_other(number) {
                others.items.push(SplitRecord { number, ..SplitRecord::default() });
            } else {
                unchanged.items[kept] = number;
                kept += 1;
            }
        }
        unchanged.count = kept;
        // Two runs, which are merged.
        others.items.sort_by_key(SplitRecord::number);
        others.count = others.items.len();
    }

    /// The records whose own bytes are their canonical form on every level. Each is shorter than 128 bytes.
    #[inline(always)]
    pub fn unchanged(&self) -> &[u32] {
        self.unchanged.all()
    }

    /// All other records, blank and invalid ones among them.
    #[inline(always)]
    pub fn others(&self) -> &[SplitRecord] {
        self.others.all()
    }
}

/// The host of an [unchanged](Split::unchanged) record, which begins at `start` of `text`; `index` is that of the text.
#[inline(always)]
pub fn host_of_unchanged<'t, I: Isa>(
    isa: I,
    text: Padded<'t>,
    index: &Index,
    start: usize,
) -> Prefix<'t> {
    let bytes = &text.padded()[start..];
    let host = 7 + usize::from(bytes[4] == b's');
    // A slash ends the authority, within the first window.
    let slashes = index.window(isa, start).slash & (!0 << host);
    Prefix::new(&bytes[host..], slashes.trailing_zeros() as usize - host)
}

struct Find<'a> {
    split: &'a mut Split,
    text: Padded<'a>,
    index: &'a Index,
    spans: &'a mut [Span],
    trims: bool,
}

impl Task for Find<'_> {
    type Output = ();
    #[inline(always)]
    fn run<I: Isa>(self, isa: I) {
        let Find { split: Split { unchanged, others }, text, index, spans, trims } = self;
        unchanged.clear_for(spans.len());
        others.clear_for(spans.len());
        // Slices and counts of its own, which the loop can keep in registers.
        let (to_unchanged, to_others) = (&mut unchanged.items[..], &mut others.items[..]);
        let (mut unchanged_count, mut others_count) = (0, 0);
        for (number, span) in (0..).zip(spans.iter_mut()) {
            let bytes = &text.padded()[span.start as usize..];
            // Before the end of an empty record stands another record's, which is not a carriage return.
            let last = text.padded()[(span.end as usize).saturating_sub(1)];
            span.end -= u32::from((last == b'\r') & trims);
            let windows = index.windows(isa, span.start as usize);
            let head = u64::from_le_bytes(*bytes.first_chunk().expect("8 bytes of padding"));
            let (seen, is_unchanged) = classify(&windows, head, span.len());
            to_unchanged[unchanged_count] = number;
            to_others[others_count] = SplitRecord { number, ..seen };
            unchanged_count += usize::from(is_unchanged);
            others_count += usize::from(!is_unchanged);
        }
        (unchanged.count, others.count) = (unchanged_count, others_count);
    }
}

impl SplitRecord {
    /// What the split sees of a record of `len` bytes that stands alone, at the start of `text`.
    #[inline(always)]
    pub(super) fn of_one<I: Isa>(isa: I, text: &[u8; PAD], len: usize) -> SplitRecord {
        let blocks = text.as_chunks::<BLOCK>().0;
        // Record ends do not matter.
        let (first, second) = (isa.sketch(&blocks[0], b'\n'), isa.sketch(&blocks[1], b'\n'));
        let dots = first.dot & first.summary.slash << 1;
        let low = Summary { look: first.summary.look | dots, ..first.summary };
        let dots = second.dot & (second.summary.slash << 1 | first.summary.slash >> 63);
        let high = Summary { look: second.summary.look | dots, ..second.summary };
        let head = u64::from_le_bytes(*text.first_chunk().expect("8 bytes of padding"));
        classify(&[low, high], head, len).0
    }
}

/// What is seen of the record of `len` bytes with these `windows`, which begins with the bytes of `head`; and whether
/// it is canonical on every level for reasons that can be seen at once: it is [common](SplitRecord::path), nothing in
/// its authority needs work, its path is not empty, and none of its bytes needs a closer look.
#[inline(always)]
fn classify(windows: &[Summary; 2], head: u64, len: usize) -> (SplitRecord, bool) {
    let [first, second] = windows;
    // The few bytes other than letters in upper case that this maps to those of a scheme need a closer look.
    let head = head | LOWER;
    let is_https = head == HTTPS;
    let is_http = head << 8 == HTTP | LOWER << 8;
    let head_end = 7 + u32::from(is_https);
    let inside = low_bits(len);
    // The end stops an authority too, if it is in the first window.
    let stops = (first.slash | first.question | inside.wrapping_add(1)) & (!0 << head_end);
    let path = stops & stops.wrapping_neg();
    let before_path = path.wrapping_sub(1);
    let look = [first.look & inside, second.look & low_bits(len.saturating_sub(BLOCK))];
    let is_common = (is_http | is_https)
        & (stops & (inside << 1 | 1) != 0)
        & (len < LONG)
        & (look[0] & before_path == 0);
    let head = first.head & before_path & !(1 << (head_end - 3));
    let is_unchanged =
        is_common & (first.slash & inside & path != 0) & (head | look[0] | look[1] == 0);
    let path = stops.trailing_zeros() as u8 * u8::from(is_common);
    (SplitRecord { look, head, number: 0, path, is_https }, is_unchanged)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::trim;
    use crate::normalize::{Level, normalize_exact};
    use crate::simd::Kernels;
    use crate::uri::parse;

    /// Splits `text` on every backend; gives the spans and, for each record, whether it is unchanged. Checks the hosts
    /// of those that are.
    fn split(text: &[u8], record_end: u8, after: u8) -> Vec<(Span, bool)> {
        let mut bytes = text.to_vec();
        bytes.resize(Padded::needed(text.len()), after);
        let padded = Padded::new(&bytes, text.len()).unwrap();
        let mut found: Option<Vec<(Span, bool)>> = None;
        for kernels in Kernels::available() {
            struct Run<'a>(Padded<'a>, &'a Index, &'a mut [Span], &'a mut Split);
            impl Task for Run<'_> {
                type Output = ();
                #[inline(always)]
                fn run<I: Isa>(self, isa: I) {
                    self.3.split(isa, self.0, self.1, self.2, true);
                    for &number in self.3.unchanged() {
                        let span = self.2[number as usize];
                        let record = span.of(self.0.content());
                        let host = host_of_unchanged(isa, self.0, self.1, span.start as usize);
                        assert_eq!(parse(record).unwrap().host(record), Some(host.bytes()));
                    }
                }
            }
            let mut index = Index::new();
            index.build(kernels, padded, record_end);
            let mut spans: Vec<Span> = index.spans().collect();
            let mut split = Split::default();
            kernels.run(Run(padded, &index, &mut spans, &mut split));
            let count = split.unchanged().len() + split.others().len();
            assert_eq!(count, spans.len());
            assert!(
                split.unchanged().is_sorted()
                    && split.others().is_sorted_by_key(SplitRecord::number)
            );
            let of_backend =
                (0..).zip(&spans).map(|(i, &span)| (span, split.unchanged().contains(&i)));
            let of_backend: Vec<_> = of_backend.collect();
            assert_eq!(found.get_or_insert_with(|| of_backend.clone()), &of_backend, "{kernels:?}");
        }
        found.unwrap_or_default()
    }

    /// Checks that what is unchanged is canonical on each level by the reference path, and is trimmed.
    fn check(text: &[u8], after: u8) -> usize {
        let mut count = 0;
        for record_end in [b'\n', 0] {
            for (span, is_unchanged) in split(text, record_end, after) {
                if !is_unchanged {
                    continue;
                }
                count += 1;
                assert_eq!(trim(text, span), span);
                for level in Level::ALL {
                    let mut form = Vec::new();
                    normalize_exact(span.of(text), level, true, &mut form).unwrap();
                    assert_eq!(
                        form.escape_ascii().to_string(),
                        span.of(text).escape_ascii().to_string()
                    );
                }
            }
        }
        count
    }

    #[test]
    fn only_canonical_records_are_unchanged() {
        for (record, expected) in [
            ("http://h/", true),
            ("https://h.example/a/b?c=d&e", true),
            ("http:///", true),
            ("http://h/a:b@C", true),
            ("http://h/\r", true),
            ("http://h/?a?b/../c", false),
            ("http://h", false),
            ("http://h?", false),
            ("http://", false),
            ("https:/", false),
            ("Http://h/", false),
            ("xttp://h/", false),
            ("ftp://h/", false),
            ("http://H/", false),
            ("http://u@h/", false),
            ("http://h:80/", false),
            ("http://h:/", false),
            ("http://h/%20", false),
            ("http://h/#", false),
            ("http://h/./", false),
            ("http://h/ ", false),
            (" http://h/", false),
            ("http://[::1]/", false),
            ("http://h/\u{e9}", false),
            ("\r", false),
            ("", false),
        ] {
            for shift in [0, 1, 40, 60, 63, 64] {
                for after in *b"/?h%\r\n" {
                    let text = format!("{}\n{record}\n", "x".repeat(shift));
                    check(text.as_bytes(), after);
                    assert_eq!(split(text.as_bytes(), b'\n', after)[1].1, expected, "{record:?}");
                }
            }
        }
    }

    #[test]
    fn length_is_limited_and_the_authority_ends_in_the_first_window() {
        for (host, path) in
            [(1, 1), (56, 1), (57, 1), (1, 118), (1, 119), (1, 120), (50, 69), (50, 70)]
        {
            let record = format!("http://{}/{}", "h".repeat(host), "p".repeat(path - 1));
            let expected = record.len() < LONG && 7 + host < BLOCK;
            assert_eq!(check(record.as_bytes(), b'/') > 0, expected, "{}", record.len());
        }
    }

    proptest! {
        #[test]
        fn what_is_unchanged_is_canonical(
            text in "((http|https|Http|ftp)(://|:/)[a-zA-Z0-9.:@%]{0,3}[a-z.]{0,70}[/a-z.?#%0-9 \u{e9}\\x00]{0,80}[\r]?\n?){0,5}",
            after in any::<u8>(),
        ) {
            check(text.as_bytes(), after);
        }
    }
}
