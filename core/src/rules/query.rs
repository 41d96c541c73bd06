//! The parameters of a query.

use core::cmp::Ordering;

use crate::grammar::equal_bytes;

/// Whether `is_it` returns true for a parameter of `query`, given its start, the end of its name
/// and its end. Stops at the first such parameter.
#[inline(always)]
pub(super) fn any_param(query: &[u8], mut is_it: impl FnMut(usize, usize, usize) -> bool) -> bool {
    let (mut start, mut name_end) = (0, None);
    let (words, rest) = query.as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    for (i, word) in words.iter().chain([&last]).enumerate() {
        let word = u64::from_le_bytes(*word);
        let mut delimiters = equal_bytes(word, b'&') | equal_bytes(word, b'=');
        while delimiters != 0 {
            let at = 8 * i + delimiters.trailing_zeros() as usize / 8;
            if query[at] == b'&' {
                if is_it(start, name_end.unwrap_or(at), at) {
                    return true;
                }
                (start, name_end) = (at + 1, None);
            } else {
                name_end = name_end.or(Some(at));
            }
            delimiters &= delimiters - 1;
        }
    }
    is_it(start, name_end.unwrap_or(query.len()), query.len())
}

/// Compares names of parameters by their bytes. Most differ in the first one, which needs no call.
#[inline(always)]
pub(super) fn order(a: &[u8], b: &[u8]) -> Ordering {
    a.first().cmp(&b.first()).then_with(|| a.cmp(b))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn names_are_ordered_by_their_bytes(a in "[ab\u{e9}]{0,3}", b in "[ab\u{e9}]{0,3}") {
            prop_assert_eq!(order(a.as_bytes(), b.as_bytes()), a.as_bytes().cmp(b.as_bytes()));
        }

        #[test]
        fn parameters_are_separated_by_ampersands(query in "[a&=\u{e9}]{0,40}") {
            let query = query.as_bytes();
            let mut found = Vec::new();
            any_param(query, |start, name_end, end| {
                found.push((&query[start..name_end], &query[start..end]));
                false
            });
            let expected: Vec<(&[u8], &[u8])> = query
                .split(|&byte| byte == b'&')
                .map(|param| (param.split(|&byte| byte == b'=').next().unwrap(), param))
                .collect();
            prop_assert_eq!(&found, &expected);
            // Iteration stops at the first match.
            let mut asked = 0;
            let stop = expected.len() / 2;
            let is_any = any_param(query, |_, _, _| { asked += 1; asked > stop });
            prop_assert!(is_any && asked == stop + 1);
        }
    }
}
