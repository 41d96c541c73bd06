//! Which records of a chunk are canonical as they stand, found in one pass without a branch that depends on them.
//!
//! Nearly half of all records are `http` or `https` URIs that no step of the ladder changes. To ask each record one
//! question after the other costs mispredicted branches, more than the work itself. Here all conditions are combined
//! into one word, and the number of the record is written to both lists, of which one grows. What is in the list of
//! others may still be canonical: it has to be looked at more closely.

use crate::chunk::{Padded, Span};
use crate::index::{Index, low_bits};
use crate::simd::{BLOCK, Isa, Summary, Task};

/// The records of a chunk in two lists, each in ascending order. Reusable.
#[derive(Clone, Debug, Default)]
pub(crate) struct Split {
    unchanged: Vec<u32>,
    others: Vec<u32>,
}

/// The length from which a record is not looked at here: two windows, and room for a mark in its hash.
const LONG: usize = 2 * BLOCK;

const HTTPS: u64 = u64::from_le_bytes(*b"https://");
const HTTP: u64 = u64::from_le_bytes(*b"\0http://");

impl Split {
    /// Splits the records of `text` at `spans`, which are those of `index`. Takes white space off none of them, except for a
    /// carriage return before a record end if it `trims`.
    #[inline(always)]
    pub(crate) fn split<I: Isa>(
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
    pub(crate) fn none_unchanged(&mut self, count: usize) {
        self.unchanged.clear();
        self.others.clear();
        self.others.extend(0..count as u32);
    }

    /// The records whose own bytes are their canonical form on every rung. Each is shorter than 128 bytes.
    #[inline(always)]
    pub(crate) fn unchanged(&self) -> &[u32] {
        &self.unchanged
    }

    /// All other records, blank and invalid ones among them.
    #[inline(always)]
    pub(crate) fn others(&self) -> &[u32] {
        &self.others
    }
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
        unchanged.resize(spans.len(), 0);
        others.resize(spans.len(), 0);
        let (mut unchanged_count, mut others_count) = (0, 0);
        for (number, span) in spans.iter_mut().enumerate() {
            let bytes = &text.padded()[span.start as usize..];
            // Before the end of an empty record stands another record's, which is no carriage return.
            let last = text.padded()[(span.end as usize).saturating_sub(1)];
            span.end -= u32::from((last == b'\r') & trims);
            let windows = index.windows(isa, span.start as usize);
            let head = u64::from_le_bytes(*bytes.first_chunk().expect("8 bytes of padding"));
            let is_unchanged = is_unchanged(&windows, head, span.len());
            unchanged[unchanged_count] = number as u32;
            others[others_count] = number as u32;
            unchanged_count += usize::from(is_unchanged);
            others_count += usize::from(!is_unchanged);
        }
        unchanged.truncate(unchanged_count);
        others.truncate(others_count);
    }
}

/// Whether the record of `len` bytes with these `windows`, which begins with the bytes of `head`, is canonical on every
/// rung for reasons that can be seen at once: its scheme is `http` or `https`, its authority has no user information, no port and no
/// upper case, its path is not empty, and none of its bytes needs a closer look.
#[inline(always)]
fn is_unchanged(windows: &[Summary; 2], head: u64, len: usize) -> bool {
    let [first, second] = windows;
    let is_https = head == HTTPS;
    let is_http = head << 8 == HTTP;
    let head_end = 7 + u32::from(is_https);
    let inside = low_bits(len);
    let stops = (first.slash | first.question) & inside & (!0 << head_end);
    let path = stops & stops.wrapping_neg();
    let looks = (first.look & inside) | (second.look & low_bits(len.saturating_sub(BLOCK)));
    // Of the scheme, only the colon is in `head`.
    let odd_authority = (first.head & path.wrapping_sub(1)) >> head_end;
    let has_path = first.slash & path != 0;
    (is_http | is_https) & has_path & (looks | odd_authority == 0) & (len < LONG)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::index::trim;
    use crate::normalize::{Rung, normalize_exact};
    use crate::simd::Kernels;

    /// Splits `text` on every backend; gives the spans and, for each record, whether it is unchanged.
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
                }
            }
            let mut index = Index::new();
            index.build(kernels, padded, record_end);
            let mut spans: Vec<Span> = index.spans().collect();
            let mut split = Split::default();
            kernels.run(Run(padded, &index, &mut spans, &mut split));
            let count = split.unchanged().len() + split.others().len();
            assert_eq!(count, spans.len());
            assert!(split.unchanged().is_sorted() && split.others().is_sorted());
            let of_backend =
                (0..).zip(&spans).map(|(i, &span)| (span, split.unchanged().contains(&i)));
            let of_backend: Vec<_> = of_backend.collect();
            assert_eq!(found.get_or_insert_with(|| of_backend.clone()), &of_backend, "{kernels:?}");
        }
        found.unwrap_or_default()
    }

    /// Checks that what is unchanged is canonical on each rung by the reference path, and is trimmed.
    fn check(text: &[u8], after: u8) -> usize {
        let mut count = 0;
        for record_end in [b'\n', 0] {
            for (span, is_unchanged) in split(text, record_end, after) {
                if !is_unchanged {
                    continue;
                }
                count += 1;
                assert_eq!(trim(text, span), span);
                for rung in Rung::ALL {
                    let mut form = Vec::new();
                    normalize_exact(span.of(text), rung, true, &mut form).unwrap();
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
