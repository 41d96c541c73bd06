//! The names of the parameters of a query.

use memchr::memchr;
use uriscan_core::chunk::Span;

/// Names that are compared with each other one by one; more are sorted.
const FEW: usize = 32;

/// Finds names of parameters. Reusable.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct ParamNames {
    /// With the first bytes of each.
    names: Vec<(u64, Span)>,
}

impl ParamNames {
    /// Calls `found` with the name of each parameter of `query`; once with one that the query repeats. Parameters without a byte
    /// have none.
    #[inline(always)]
    pub(in crate::pipeline) fn each(&mut self, query: &[u8], mut found: impl FnMut(&[u8])) {
        let names = &mut self.names;
        names.clear();
        let mut start = 0;
        while start < query.len() {
            let rest = &query[start..];
            let end = memchr(b'&', rest).unwrap_or(rest.len());
            let name = memchr(b'=', &rest[..end]).unwrap_or(end);
            if end > 0 {
                let span = Span { start: start as u32, end: (start + name) as u32 };
                names.push((first_bytes(rest, name), span));
            }
            start += end + 1;
        }
        let key = |&(first, span): &(u64, Span)| (first, span.of(query));
        let is_sorted = names.len() > FEW;
        if is_sorted {
            names.sort_unstable_by_key(key);
            names.dedup_by(|a, b| key(a) == key(b));
        }
        for (i, name) in names.iter().enumerate() {
            if is_sorted || names[..i].iter().all(|other| key(other) != key(name)) {
                found(name.1.of(query));
            }
        }
    }
}

/// The first eight of the first `len` bytes of `text`; zeros follow those of fewer.
#[inline(always)]
fn first_bytes(text: &[u8], len: usize) -> u64 {
    match text.first_chunk() {
        Some(_) if len == 0 => 0,
        Some(&first) => u64::from_le_bytes(first) & u64::MAX >> (64 - 8 * len.min(8)),
        None => text[..len].iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_found_once() {
        let many: Vec<String> = (0..80).map(|i| format!("k{}=1", i % 20)).collect();
        for (query, expected) in [
            ("", vec![]),
            ("&&", vec![]),
            ("a", vec!["a"]),
            ("b=1&a&b=2&&=c", vec!["b", "a", ""]),
            ("a=b=c&b", vec!["a", "b"]),
            (
                "abcdefgh1&abcdefgh2&abcdefgh1=x&abcdefgh",
                vec!["abcdefgh1", "abcdefgh2", "abcdefgh"],
            ),
            ("a&a\0&a%00&b=7777777&b=8", vec!["a", "a\0", "a%00", "b"]),
        ] {
            let mut names = Vec::new();
            let push = |name: &[u8]| names.push(String::from_utf8_lossy(name).into_owned());
            ParamNames::default().each(query.as_bytes(), push);
            assert_eq!(names, expected, "{query}");
        }
        let mut count = 0;
        ParamNames::default().each(many.join("&").as_bytes(), |_| count += 1);
        assert_eq!(count, 20);
    }
}
