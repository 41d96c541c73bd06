//! The names of the parameters of a query.

use memchr::memchr;
use uriscan_core::chunk::Span;

/// Names that are compared with each other one by one; more are sorted.
const FEW: usize = 16;

/// Finds names of parameters. Reusable.
#[derive(Debug, Default)]
pub(in crate::pipeline) struct ParamNames {
    names: Vec<Span>,
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
                names.push(Span { start: start as u32, end: (start + name) as u32 });
            }
            start += end + 1;
        }
        let is_sorted = names.len() > FEW;
        if is_sorted {
            names.sort_unstable_by_key(|name| name.of(query));
            names.dedup_by_key(|name| name.of(query));
        }
        for (i, name) in names.iter().enumerate() {
            let name = name.of(query);
            if is_sorted || names[..i].iter().all(|other| other.of(query) != name) {
                found(name);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_is_found_once() {
        let many: Vec<String> = (0..40).map(|i| format!("k{}=1", i % 20)).collect();
        for (query, expected) in [
            ("", vec![]),
            ("&&", vec![]),
            ("a", vec!["a"]),
            ("b=1&a&b=2&&=c", vec!["b", "a", ""]),
            ("a=b=c&b", vec!["a", "b"]),
        ] {
            let mut names = Vec::new();
            ParamNames::default().each(query.as_bytes(), |name| {
                names.push(String::from_utf8_lossy(name).into_owned())
            });
            assert_eq!(names, expected, "{query}");
        }
        let mut count = 0;
        ParamNames::default().each(many.join("&").as_bytes(), |_| count += 1);
        assert_eq!(count, 20);
    }
}
